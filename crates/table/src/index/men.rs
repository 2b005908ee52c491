//! What all index types share: the men in internal order, groups, orientation and rejections.

use std::ops::Range;

use arrayvec::ArrayVec;
use hoffman_board::pieces::slot_images;
use hoffman_board::{
    Bitboard, Color, ListedPiece, MAX_PIECES, PieceSlot, Placement, Role, Square, Symmetry, Variant,
};

use super::kings::KING_ZONE;
use super::{IndexError, IndexParams, IndexType, NONE};

/// The set of one square.
pub(super) const fn bit(square: u8) -> u64 {
    1 << square
}

/// The square of a number below 64.
pub(super) fn square(s: u8) -> Square {
    Square::new(u32::from(s))
}

static IMAGES: [[u8; 64]; 8] = images();

const fn images() -> [[u8; 64]; 8] {
    let mut images = [[0; 64]; 8];
    let mut s = 0;
    while s < 8 {
        let symmetry = Symmetry::new(s & 1 != 0, s & 2 != 0, s & 4 != 0);
        let mut square = 0;
        while square < 64 {
            images[s][square] = symmetry.apply_index(square as u8);
            square += 1;
        }
        s += 1;
    }
    images
}

/// A square number for every man, in internal order.
pub(super) type Squares = [u8; MAX_PIECES];

/// A placement in internal order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) squares: Squares,
    /// The en passant square, or [`NONE`].
    pub(super) en_passant: u8,
    /// Whether Black is to move.
    pub(super) black: bool,
}

impl Position {
    pub(super) const fn empty(black: bool) -> Position {
        Position { squares: [0; MAX_PIECES], en_passant: NONE, black }
    }

    pub(super) const fn turn(&self) -> Color {
        if self.black { Color::Black } else { Color::White }
    }

    /// The square of a pawn whose code is 0 to 7, the double step noted; none if there was one already or
    /// the pawn belongs to the player to move.
    pub(super) fn double_step(&mut self, color: Color, column: u8) -> Option<u8> {
        if self.en_passant != NONE || color == self.turn() {
            return None;
        }
        let (jumped, square) = double_step_squares(color, column);
        self.en_passant = jumped;
        Some(square)
    }
}

/// The square jumped over and the square reached by a double step.
pub(super) fn double_step_squares(color: Color, column: u8) -> (u8, u8) {
    color.fold_wb((column + 16, column + 24), (column + 40, column + 32))
}

/// The fourth rank of a colour's pawns, as a set.
pub(super) fn double_step_rank(color: Color) -> u64 {
    color.fold_wb(0xff << 24, 0xff << 32)
}

/// How many ways to place men are tried to see whether all are found again.
const MAX_DEALS: u64 = 300_000;

/// Interchangeable men (6.3).
#[derive(Clone, Debug)]
struct Group {
    members: ArrayVec<u8, MAX_PIECES>,
    /// Whether all members may stand on the same squares.
    uniform: bool,
}

/// The men of a table in internal order: that of the list, but for combinadic3 and 4, which exchange the
/// white king and the first man.
#[derive(Clone, Debug)]
pub(super) struct Men {
    pub(super) count: usize,
    pub(super) symmetry: u8,
    pub(super) color: [Color; MAX_PIECES],
    pub(super) role: [Role; MAX_PIECES],
    pub(super) legal: [u64; MAX_PIECES],
    pub(super) semilegal: [u64; MAX_PIECES],
    pub(super) prev: [u8; MAX_PIECES],
    pub(super) next: [u8; MAX_PIECES],
    pub(super) blocker: [u8; MAX_PIECES],
    pub(super) plus: [bool; MAX_PIECES],
    /// Men whose squares come from the pawn structures.
    pub(super) structured: [bool; MAX_PIECES],
    /// [`NONE`] where kings are ordinary men.
    pub(super) white_king: u8,
    pub(super) black_king: u8,
    /// The slot that is exchanged with slot 0; 0 for none.
    exchanged: usize,
    groups: Vec<Group>,
    /// `(pawn, blocker)`: neither may pass the other.
    blocked: Vec<(u8, u8)>,
    pairs: Option<[u8; MAX_PIECES]>,
    /// `images[symmetry][man]`: the man that takes his place on the transformed board. None if everybody
    /// keeps his own.
    images: Option<Box<[Squares; 8]>>,
}

impl Men {
    pub(super) fn new(params: &IndexParams, structured: Range<usize>) -> Result<Men, IndexError> {
        let pieces = &params.pieces;
        let king = |color| {
            let found = pieces.iter().position(|p| p.role == Role::King && p.color == color);
            found.filter(|_| params.variant == Variant::Normal)
        };
        let exchanged = match params.index_type {
            IndexType::Combinadic3 | IndexType::Combinadic4 => king(Color::White).unwrap_or(0),
            _ => 0,
        };
        let internal = |slot: PieceSlot| {
            if slot == 0 {
                exchanged as u8
            } else if slot == exchanged {
                0
            } else {
                slot as u8
            }
        };
        let mut men = Men {
            count: pieces.len(),
            symmetry: params.symmetry,
            color: [Color::White; MAX_PIECES],
            role: [Role::King; MAX_PIECES],
            legal: [0; MAX_PIECES],
            semilegal: [0; MAX_PIECES],
            prev: [NONE; MAX_PIECES],
            next: [NONE; MAX_PIECES],
            blocker: [NONE; MAX_PIECES],
            plus: [false; MAX_PIECES],
            structured: [false; MAX_PIECES],
            white_king: king(Color::White).map_or(NONE, internal),
            black_king: king(Color::Black).map_or(NONE, internal),
            exchanged,
            groups: Vec::new(),
            blocked: Vec::new(),
            pairs: None,
            images: None,
        };
        for (slot, piece) in pieces.iter().enumerate() {
            let i = usize::from(internal(slot));
            men.color[i] = piece.color;
            men.role[i] = piece.role;
            men.legal[i] = piece.legal.0;
            men.semilegal[i] = piece.semilegal.0;
            men.plus[i] = piece.plus;
            men.structured[i] = structured.contains(&slot);
            if let Some(blocker) = piece.blocker.filter(|&b| b < pieces.len()) {
                men.blocker[i] = internal(blocker);
                if piece.role == Role::Pawn {
                    men.blocked.push((i as u8, internal(blocker)));
                }
            }
        }
        men.link(params, internal)?;
        men.pairs = men.find_pairs();
        if pieces.iter().any(ListedPiece::is_restricted) {
            men.images = slot_images_by_symmetry(params, internal)?;
        }
        Ok(men)
    }

    /// Reads the groups of the list and links their members anew in internal order.
    fn link(
        &mut self,
        params: &IndexParams,
        internal: impl Fn(PieceSlot) -> u8,
    ) -> Result<(), IndexError> {
        let pieces = &params.pieces;
        for (head, piece) in pieces.iter().enumerate() {
            if piece.prev.is_some() {
                continue;
            }
            let mut members: ArrayVec<u8, MAX_PIECES> = ArrayVec::new();
            let mut slot = Some(head);
            while let Some(s) = slot {
                let groups = || IndexError::Groups { slot: head };
                let member = pieces.get(s).ok_or_else(groups)?;
                if (member.color, member.role) != (piece.color, piece.role) {
                    return Err(groups());
                }
                members.try_push(internal(s)).map_err(|_| groups())?;
                slot = member.next;
            }
            members.sort_unstable();
            for pair in members.windows(2) {
                self.next[usize::from(pair[0])] = pair[1];
                self.prev[usize::from(pair[1])] = pair[0];
            }
            if members.len() > 1 {
                let first = self.legal[usize::from(members[0])];
                let uniform = members.iter().all(|&m| self.legal[usize::from(m)] == first);
                self.groups.push(Group { members, uniform });
            }
        }
        // A man whose predecessor names another successor belongs to no chain found above.
        for (slot, piece) in pieces.iter().enumerate() {
            let linked = self.prev[usize::from(internal(slot))] != NONE
                || self.next[usize::from(internal(slot))] != NONE;
            if piece.prev.is_some() && !linked {
                return Err(IndexError::Groups { slot });
            }
        }
        Ok(())
    }

    /// Pairs each man with one of the other colour, if all can be (6.6).
    fn find_pairs(&self) -> Option<[u8; MAX_PIECES]> {
        let mut pairs = [NONE; MAX_PIECES];
        for i in 0..self.count {
            if pairs[i] != NONE {
                continue;
            }
            if self.legal[i] != u64::MAX && self.legal[i] != hoffman_board::PAWN_SQUARES.0 {
                return None;
            }
            let partner = (0..self.count).find(|&j| {
                pairs[j] == NONE
                    && self.color[j] != self.color[i]
                    && self.role[j] == self.role[i]
                    && self.legal[j] == self.legal[i]
            })?;
            pairs[i] = partner as u8;
            pairs[partner] = i as u8;
        }
        Some(pairs)
    }

    /// The man that each man becomes when the colours are exchanged, if the men allow it.
    pub(super) fn pairs(&self) -> Option<&[u8; MAX_PIECES]> {
        self.pairs.as_ref()
    }

    pub(super) fn is_pawn(&self, man: usize) -> bool {
        self.role[man] == Role::Pawn
    }

    /// Whether a man has a digit of its own: not the kings where they share one, not structured pawns.
    pub(super) fn is_king(&self, man: usize) -> bool {
        man == usize::from(self.white_king) || man == usize::from(self.black_king)
    }

    pub(super) fn largest_group(&self) -> usize {
        self.groups
            .iter()
            .filter(|g| !self.structured[usize::from(g.members[0])])
            .map(|g| g.members.len())
            .max()
            .unwrap_or(1)
    }

    /// Whether men are linked with each other and numbered by the same squares.
    pub(super) fn are_one_group(&self, men: &[usize]) -> bool {
        let Some((&first, others)) = men.split_first() else { return true };
        let group = self.groups.iter().find(|g| g.members.contains(&(first as u8)));
        others.iter().all(|&man| {
            group.is_some_and(|g| g.members.contains(&(man as u8)))
                && self.semilegal[man] == self.semilegal[first]
        })
    }

    pub(super) fn has_like_listed_pawns(&self) -> bool {
        self.groups.iter().any(|g| {
            let head = usize::from(g.members[0]);
            self.is_pawn(head) && !self.structured[head]
        })
    }

    /// Two men of one kind and different groups whose squares overlap (D16).
    pub(super) fn intransitive_pair(&self) -> Option<(PieceSlot, PieceSlot)> {
        let group_of =
            |man: usize| self.groups.iter().position(|g| g.members.contains(&(man as u8)));
        for i in 0..self.count {
            for j in i + 1..self.count {
                if (self.color[i], self.role[i]) == (self.color[j], self.role[j])
                    && self.semilegal[i] & self.semilegal[j] != 0
                    && (group_of(i).is_none() || group_of(i) != group_of(j))
                {
                    return Some((self.slot(i), self.slot(j)));
                }
            }
        }
        None
    }

    /// A pawn and what it cannot pass, if dealing the squares of like men to them can break that order
    /// where another way to deal would keep it: such a position has no index.
    pub(super) fn misdealt_pair(&self) -> Option<(PieceSlot, PieceSlot)> {
        let groups_of = |men: &[u8]| {
            self.groups.iter().filter(|g| g.members.iter().any(|m| men.contains(m))).collect()
        };
        for &(pawn, blocker) in &self.blocked {
            // All men that the two have to do with, over groups and over others in the way.
            let mut men: Vec<u8> = vec![pawn, blocker];
            // A plus pawn with squares of its own ahead is its own blocker.
            men.dedup();
            loop {
                let groups: Vec<&Group> = groups_of(&men);
                let alike = groups.iter().flat_map(|g| g.members.iter().copied());
                let in_the_way = self.blocked.iter().flat_map(|&(p, b)| {
                    if men.contains(&p) || men.contains(&b) { vec![p, b] } else { Vec::new() }
                });
                let mut more: Vec<u8> =
                    alike.chain(in_the_way).chain(men.iter().copied()).collect();
                more.sort_unstable();
                more.dedup();
                if more.len() == men.len() {
                    break;
                }
                men = more;
            }
            let groups: Vec<&Group> = groups_of(&men);
            if groups.is_empty() {
                continue;
            }
            let pair = Some((self.slot(usize::from(pawn)), self.slot(usize::from(blocker))));
            let ways = men.iter().fold(1_u64, |ways, &m| {
                ways.saturating_mul(u64::from(self.legal[usize::from(m)].count_ones()))
            });
            if ways > MAX_DEALS {
                // Plus pawns alone are in board order, and so are the squares dealt to them.
                if men.iter().any(|&m| !self.plus[usize::from(m)]) {
                    return pair;
                }
                continue;
            }
            let mut squares: Squares = [NONE; MAX_PIECES];
            if self.is_misdealt(&men, &groups, 0, 0, &mut squares) {
                return pair;
            }
        }
        None
    }

    /// Whether some way to place the men from number `next` on cannot be found again by
    /// [`Men::arrange`].
    fn is_misdealt(
        &self,
        men: &[u8],
        groups: &[&Group],
        next: usize,
        taken: u64,
        squares: &mut Squares,
    ) -> bool {
        let in_order = |squares: &Squares| {
            self.blocked
                .iter()
                .filter(|(p, _)| men.contains(p))
                .all(|&pair| self.keeps(pair, squares))
        };
        let Some(&man) = men.get(next) else {
            if !in_order(squares) {
                return false;
            }
            let mut dealt = *squares;
            let found = groups.iter().all(|g| self.arrange_group(g, &mut dealt).is_some());
            return !found || !in_order(&dealt);
        };
        let mut free = self.legal[usize::from(man)] & !taken;
        while free != 0 {
            squares[usize::from(man)] = free.trailing_zeros() as u8;
            let taken = taken | (free & free.wrapping_neg());
            if self.is_misdealt(men, groups, next + 1, taken, squares) {
                return true;
            }
            free &= free - 1;
        }
        false
    }

    /// Whether a pawn has not passed what it cannot pass.
    fn keeps(&self, (pawn, blocker): (u8, u8), squares: &Squares) -> bool {
        let (own, other) = (squares[usize::from(pawn)], squares[usize::from(blocker)]);
        self.color[usize::from(pawn)].fold_wb(own <= other, own >= other)
    }

    /// The slot of a man in the list; its own inverse.
    pub(super) fn slot(&self, man: usize) -> PieceSlot {
        if man == 0 {
            self.exchanged
        } else if man == self.exchanged {
            0
        } else {
            man
        }
    }

    /// A placement in internal order.
    pub(super) fn load_squares(&self, squares: &Squares, black: bool, en_passant: u8) -> Position {
        let mut p = Position { squares: *squares, en_passant, black };
        p.squares.swap(0, self.exchanged);
        p
    }

    /// The rules.
    pub(super) fn variant(&self) -> Variant {
        if self.white_king == NONE { Variant::Suicide } else { Variant::Normal }
    }

    /// The man of a slot.
    pub(super) fn man(&self, slot: PieceSlot) -> usize {
        self.slot(slot)
    }

    pub(super) fn load(&self, placement: &Placement) -> Option<Position> {
        if placement.squares.len() != self.count {
            return None;
        }
        let mut p = Position::empty(placement.turn == Color::Black);
        for (to, &from) in p.squares.iter_mut().zip(&placement.squares) {
            *to = from as u8;
        }
        p.squares.swap(0, self.exchanged);
        p.en_passant = placement.en_passant.map_or(NONE, |s| s as u8);
        Some(p)
    }

    /// A position in list order.
    pub(super) fn store(&self, p: &Position) -> Placement {
        let mut squares = p.squares;
        squares.swap(0, self.exchanged);
        Placement {
            squares: squares[..self.count].iter().map(|&s| square(s)).collect(),
            turn: p.turn(),
            en_passant: (p.en_passant != NONE).then(|| square(p.en_passant)),
        }
    }

    /// The board turned by 180 degrees with colours exchanged, White to move.
    pub(super) fn turned(&self, p: &Position) -> Option<Position> {
        let pairs = self.pairs.as_ref()?;
        let mut turned = Position::empty(!p.black);
        for i in 0..self.count {
            turned.squares[i] = 63 - p.squares[usize::from(pairs[i])];
        }
        if p.en_passant != NONE {
            turned.en_passant = 63 - p.en_passant;
        }
        Some(turned)
    }

    /// The symmetry that makes a position canonical.
    pub(super) fn canonical_symmetry(&self, p: &Position) -> Symmetry {
        if self.symmetry == 1 {
            return Symmetry::IDENTITY;
        }
        let king = |man: u8| square(p.squares[usize::from(man)]);
        Symmetry::canonical(self.symmetry, king(self.white_king), king(self.black_king))
    }

    /// Moves a position into its canonical orientation.
    pub(super) fn canonicalize(&self, p: &mut Position) {
        let symmetry = self.canonical_symmetry(p);
        if symmetry.is_identity() {
            return;
        }
        self.transform(symmetry, p);
    }

    /// Transforms the board. Men whose squares change places with those of others take their slots.
    pub(super) fn transform(&self, symmetry: Symmetry, p: &mut Position) {
        let images = &IMAGES[symmetry.index()];
        for s in &mut p.squares[..self.count] {
            *s = images[usize::from(*s)];
        }
        if let Some(men) = &self.images {
            let squares = p.squares;
            for (&man, &s) in men[symmetry.index()].iter().zip(&squares[..self.count]) {
                p.squares[usize::from(man)] = s;
            }
        }
        if p.en_passant != NONE {
            p.en_passant = images[usize::from(p.en_passant)];
        }
    }

    /// Deals the squares of each group to its members: ascending if that is legal, else in some legal
    /// way; none if there is none.
    pub(super) fn arrange(&self, squares: &mut Squares) -> Option<()> {
        for group in &self.groups {
            self.arrange_group(group, squares)?;
        }
        Some(())
    }

    /// The same for all groups but that of one man. Returns the slots of the two like men of that group, or his
    /// own twice; none if there are more, or they may not stand on the same squares.
    pub(super) fn arrange_others(
        &self,
        squares: &mut Squares,
        man: usize,
    ) -> Option<(usize, usize)> {
        let mut pair = (man, man);
        for group in &self.groups {
            if !group.members.iter().any(|&m| usize::from(m) == man) {
                self.arrange_group(group, squares)?;
                continue;
            }
            match *group.members {
                [_] => {}
                [a, b] if group.uniform => pair = (usize::from(a), usize::from(b)),
                _ => return None,
            }
        }
        Some(pair)
    }

    fn arrange_group(&self, group: &Group, squares: &mut Squares) -> Option<()> {
        let members = &group.members;
        for k in 1..members.len() {
            let mut j = k;
            while j > 0 && squares[usize::from(members[j - 1])] > squares[usize::from(members[j])] {
                squares.swap(usize::from(members[j - 1]), usize::from(members[j]));
                j -= 1;
            }
        }
        let stands = |m: &u8| self.legal[usize::from(*m)] & bit(squares[usize::from(*m)]) != 0;
        if group.uniform || members.iter().all(stands) {
            return Some(());
        }
        self.match_group(members, squares)
    }

    /// A perfect matching of members and squares by augmenting paths.
    fn match_group(&self, members: &[u8], squares: &mut Squares) -> Option<()> {
        let mut free: Squares = [0; MAX_PIECES];
        for (k, &m) in members.iter().enumerate() {
            free[k] = squares[usize::from(m)];
        }
        let free = &free[..members.len()];
        let legal: ArrayVec<u64, MAX_PIECES> =
            members.iter().map(|&m| self.legal[usize::from(m)]).collect();
        let mut owner = [NONE; MAX_PIECES];
        for member in 0..members.len() {
            if !augment(member, &legal, free, &mut owner, &mut 0) {
                return None;
            }
        }
        for (k, &s) in free.iter().enumerate() {
            squares[usize::from(members[usize::from(owner[k])])] = s;
        }
        Some(())
    }

    /// The tests of 6.7: kings apart, plus pawns in order, every man on a legal square of its own, the
    /// squares of a double step empty.
    pub(super) fn accepts(&self, p: &Position) -> bool {
        let at = |man: u8| p.squares[usize::from(man)];
        if !self.blocked.iter().all(|&pair| self.keeps(pair, &p.squares)) {
            return false;
        }
        if self.white_king != NONE
            && KING_ZONE[usize::from(at(self.white_king))] & bit(at(self.black_king)) != 0
        {
            return false;
        }
        let mut taken = 0;
        for (&s, &legal) in p.squares[..self.count].iter().zip(&self.legal) {
            if legal & bit(s) & !taken == 0 {
                return false;
            }
            taken |= bit(s);
        }
        if p.en_passant != NONE {
            let s = p.en_passant;
            // Black's double step ends on its fifth rank: the jumped square is on the sixth.
            if s >> 3 != if p.black { 2 } else { 5 } {
                return false;
            }
            let start = if p.black { s - 8 } else { s + 8 };
            return taken & (bit(s) | bit(start)) == 0;
        }
        true
    }

    /// The pawn that has just made the double step over the en passant square.
    pub(super) fn en_passant_man(&self, p: &Position) -> Option<u8> {
        let color = p.turn().other();
        let (_, reached) = double_step_squares(color, p.en_passant & 7);
        (0..self.count)
            .find(|&i| self.is_pawn(i) && self.color[i] == color && p.squares[i] == reached)
            .map(|i| i as u8)
    }

    /// Whether a decoded position under 8-way symmetry is the mirror image of a canonical one.
    pub(super) fn is_above_diagonal(&self, p: &Position) -> bool {
        if self.symmetry != 8 {
            return false;
        }
        let (w, b) =
            (p.squares[usize::from(self.white_king)], p.squares[usize::from(self.black_king)]);
        w >> 3 == w & 7 && b >> 3 > b & 7
    }

    /// See [`super::IndexSpace::multiplicity`].
    pub(super) fn multiplicity(&self, p: &Position) -> u8 {
        let off_diagonal = |man: u8| {
            let s = p.squares[usize::from(man)];
            s >> 3 != s & 7
        };
        if off_diagonal(self.white_king) || off_diagonal(self.black_king) { 2 } else { 1 }
    }

    /// Deals men to slots: each to the first free member of the group of the first listed man of its kind
    /// that may stand there. The men come in ascending order of squares.
    pub(super) fn deal(
        &self,
        board: &[(Square, Color, Role)],
        turn: Color,
        en_passant: Option<Square>,
    ) -> Option<Placement> {
        if board.len() != self.count {
            return None;
        }
        let mut p = Position::empty(turn == Color::Black);
        p.en_passant = en_passant.map_or(NONE, |s| s as u8);
        let mut dealt = 0_u32;
        for &(square, color, role) in board {
            let first = (0..self.count).map(|slot| self.slot(slot)).find(|&i| {
                (self.color[i], self.role[i]) == (color, role)
                    && Bitboard(self.semilegal[i]).contains(square)
            })?;
            // The first listed man need not be the head of its chain as linked here.
            let mut man = first;
            while self.prev[man] != NONE {
                man = usize::from(self.prev[man]);
            }
            while dealt & 1 << man != 0 {
                if self.next[man] == NONE {
                    return None;
                }
                man = usize::from(self.next[man]);
            }
            dealt |= 1 << man;
            p.squares[man] = square as u8;
        }
        Some(self.store(&p))
    }
}

/// The slot images of all symmetries that the table identifies, in internal order; none if all men keep
/// their slots.
fn slot_images_by_symmetry(
    params: &IndexParams,
    internal: impl Fn(PieceSlot) -> u8,
) -> Result<Option<Box<[Squares; 8]>>, IndexError> {
    let mut images = Box::new([std::array::from_fn(|man| man as u8); 8]);
    let mut moved = false;
    for symmetry in Symmetry::all().take(usize::from(params.symmetry)) {
        let slots =
            slot_images(&params.pieces, symmetry).map_err(|_| IndexError::SymmetryNotAllowed {
                symmetry: params.symmetry,
                reason: "with pieces restricted to squares that are not symmetric",
                allowed: 1,
            })?;
        for (from, &to) in slots.iter().enumerate() {
            moved |= from != to;
            images[symmetry.index()][usize::from(internal(from))] = internal(to);
        }
    }
    Ok(moved.then_some(images))
}

/// Finds a square for a member, moving earlier members where needed.
fn augment(
    member: usize,
    legal: &[u64],
    squares: &[u8],
    owner: &mut Squares,
    visited: &mut u32,
) -> bool {
    for (k, &s) in squares.iter().enumerate() {
        if *visited & 1 << k != 0 || legal[member] & bit(s) == 0 {
            continue;
        }
        *visited |= 1 << k;
        if owner[k] == NONE || augment(usize::from(owner[k]), legal, squares, owner, visited) {
            owner[k] = member as u8;
            return true;
        }
    }
    false
}
