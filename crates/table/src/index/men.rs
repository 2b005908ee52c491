//! What all index types share: the men in internal order, groups, orientation and rejections.

use std::ops::Range;

use arrayvec::ArrayVec;
use hoffman_board::pieces::slot_images;
use hoffman_board::{
    Bitboard, Color, ListedPiece, MAX_PIECES, PieceSlot, Placement, Role, Square, Symmetry, Variant,
};

use super::groups::Group;
use super::kings::KING_ZONE;
use super::position::{OrderedPlacement, Squares, bit, double_step_squares, square};
use super::{IndexError, IndexParams, IndexType, NONE};

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

/// A number, 0 and another one exchanged.
fn exchange(number: usize, other: usize) -> usize {
    if number == 0 {
        other
    } else if number == other {
        0
    } else {
        number
    }
}

/// The men of a table in internal order: that of the list, but for combinadic3 and 4, which
/// exchange the white king and the first man.
#[derive(Clone, Debug)]
pub(super) struct TableMen {
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
    pub(super) groups: Vec<Group>,
    /// `(pawn, blocker)`: neither may pass the other.
    pub(super) blocked: Vec<(u8, u8)>,
    pairs: Option<[u8; MAX_PIECES]>,
    /// `images[symmetry][man]`: the man that takes its place on the transformed board. None if
    /// each keeps its own.
    images: Option<Box<[Squares; 8]>>,
}

impl TableMen {
    pub(super) fn new(
        params: &IndexParams,
        structured: Range<usize>,
    ) -> Result<TableMen, IndexError> {
        let pieces = &params.pieces;
        let king = |color| {
            let found = pieces.iter().position(|p| p.role == Role::King && p.color == color);
            found.filter(|_| params.variant == Variant::Normal)
        };
        let exchanged = match params.index_type {
            IndexType::Combinadic3 | IndexType::Combinadic4 => king(Color::White).unwrap_or(0),
            _ => 0,
        };

        let internal = |slot: PieceSlot| exchange(slot, exchanged) as u8;
        let mut men = TableMen {
            white_king: king(Color::White).map_or(NONE, internal),
            black_king: king(Color::Black).map_or(NONE, internal),
            ..TableMen::unknown(pieces.len(), params.symmetry, exchanged)
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

    /// So many men of which nothing is known yet.
    fn unknown(count: usize, symmetry: u8, exchanged: PieceSlot) -> TableMen {
        TableMen {
            count,
            symmetry,
            color: [Color::White; MAX_PIECES],
            role: [Role::King; MAX_PIECES],
            legal: [0; MAX_PIECES],
            semilegal: [0; MAX_PIECES],
            prev: [NONE; MAX_PIECES],
            next: [NONE; MAX_PIECES],
            blocker: [NONE; MAX_PIECES],
            plus: [false; MAX_PIECES],
            structured: [false; MAX_PIECES],
            white_king: NONE,
            black_king: NONE,
            exchanged,
            groups: Vec::new(),
            blocked: Vec::new(),
            pairs: None,
            images: None,
        }
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

    /// Whether a man is one of the kings, where these are no ordinary men.
    pub(super) fn is_king(&self, man: usize) -> bool {
        man == usize::from(self.white_king) || man == usize::from(self.black_king)
    }

    /// The slot of a man in the list; its own inverse.
    pub(super) fn slot(&self, man: usize) -> PieceSlot {
        exchange(man, self.exchanged)
    }

    /// A placement in internal order.
    pub(super) fn load_squares(
        &self,
        squares: &Squares,
        turn: Color,
        en_passant: Option<Square>,
    ) -> OrderedPlacement {
        let en_passant = en_passant.map_or(NONE, u8::from);
        let mut p = OrderedPlacement { squares: *squares, en_passant, black: turn.is_black() };
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

    pub(super) fn load(&self, placement: &Placement) -> Option<OrderedPlacement> {
        if placement.squares.len() != self.count {
            return None;
        }
        let mut p = OrderedPlacement::empty(placement.turn == Color::Black);
        for (to, &from) in p.squares.iter_mut().zip(&placement.squares) {
            *to = from as u8;
        }
        p.squares.swap(0, self.exchanged);
        p.en_passant = placement.en_passant.map_or(NONE, u8::from);
        Some(p)
    }

    /// A position in list order.
    pub(super) fn store(&self, p: &OrderedPlacement) -> Placement {
        let mut squares = p.squares;
        squares.swap(0, self.exchanged);
        Placement {
            squares: squares[..self.count].iter().map(|&s| square(s)).collect(),
            turn: p.turn(),
            en_passant: (p.en_passant != NONE).then(|| square(p.en_passant)),
        }
    }

    /// The board turned by 180 degrees with colours exchanged, White to move.
    pub(super) fn turned(&self, p: &OrderedPlacement) -> Option<OrderedPlacement> {
        let pairs = self.pairs.as_ref()?;
        let mut turned = OrderedPlacement::empty(!p.black);
        for i in 0..self.count {
            turned.squares[i] = 63 - p.squares[usize::from(pairs[i])];
        }
        if p.en_passant != NONE {
            turned.en_passant = 63 - p.en_passant;
        }
        Some(turned)
    }

    /// The symmetry that makes a position canonical.
    pub(super) fn canonical_symmetry(&self, p: &OrderedPlacement) -> Symmetry {
        if self.symmetry == 1 {
            return Symmetry::IDENTITY;
        }
        let king = |man: u8| square(p.squares[usize::from(man)]);
        Symmetry::canonical(self.symmetry, king(self.white_king), king(self.black_king))
    }

    /// Moves a position into its canonical orientation.
    pub(super) fn canonicalize(&self, p: &mut OrderedPlacement) {
        let symmetry = self.canonical_symmetry(p);
        if symmetry.is_identity() {
            return;
        }
        self.transform(symmetry, p);
    }

    /// Transforms the board. Men whose squares change places with those of others take their
    /// slots.
    pub(super) fn transform(&self, symmetry: Symmetry, p: &mut OrderedPlacement) {
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

    /// The tests of 6.7: kings apart, plus pawns in order, every man on a legal square of its own,
    /// the squares of a double step empty.
    pub(super) fn accepts(&self, p: &OrderedPlacement) -> bool {
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
    pub(super) fn en_passant_man(&self, p: &OrderedPlacement) -> Option<u8> {
        let color = p.turn().other();
        let (_, reached) = double_step_squares(color, p.en_passant & 7);
        (0..self.count)
            .find(|&i| self.is_pawn(i) && self.color[i] == color && p.squares[i] == reached)
            .map(|i| i as u8)
    }

    /// Whether a decoded position under 8-way symmetry is the mirror image of a canonical one.
    pub(super) fn is_above_diagonal(&self, p: &OrderedPlacement) -> bool {
        if self.symmetry != 8 {
            return false;
        }
        let (w, b) =
            (p.squares[usize::from(self.white_king)], p.squares[usize::from(self.black_king)]);
        w >> 3 == w & 7 && b >> 3 > b & 7
    }

    /// See [`super::IndexSpace::multiplicity`].
    pub(super) fn multiplicity(&self, p: &OrderedPlacement) -> u8 {
        let off_diagonal = |man: u8| {
            let s = p.squares[usize::from(man)];
            s >> 3 != s & 7
        };
        if off_diagonal(self.white_king) || off_diagonal(self.black_king) { 2 } else { 1 }
    }

    /// Deals men to slots: each to the first free member of the group of the first listed man of
    /// its kind that may stand there. The men come in ascending order of squares.
    pub(super) fn deal(
        &self,
        board: &[(Square, Color, Role)],
        turn: Color,
        en_passant: Option<Square>,
    ) -> Option<Placement> {
        if board.len() != self.count {
            return None;
        }
        let mut p = OrderedPlacement::empty(turn == Color::Black);
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

/// The slot images of all symmetries that the table identifies, in internal order; none if all men
/// keep their slots.
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
