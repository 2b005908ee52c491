//! Index types: the number of an entry and the placement it stands for, both ways.
//!
//! An [`IndexSpace`] is made from the piece list and the declarations of one table and then maps
//! placements to numbers ([`IndexSpace::encode`]) and numbers to placements ([`IndexSpace::decode`]).
//! What all types share (colour turn, board symmetry, groups of interchangeable men, rejections) is in
//! `men`; each type has a module for its arithmetic alone. Knows nothing of values or files.
//! The method is that of the original program, sections 6 to 8 of the format's description.

mod binomial;
mod combinadic;
mod compact;
mod kings;
mod men;
mod naive;
mod pawns;
mod simple;

use arrayvec::ArrayVec;
use hoffman_board::pieces::slot_images;
use hoffman_board::{Color, PieceList, PieceSlot, Placement, Role, Square, Symmetry, Variant};

use combinadic::Combinadic;
use compact::Compact;
use men::{Men, Position};
use naive::{Naive, Naive2};
use pawns::PawnIndex;
pub use pawns::{PawnStructure, PawnStructures};
use simple::Simple;

/// Stands for "no man" or "no square" in the internal arrays.
const NONE: u8 = 255;

/// The largest number of indices a space may have; everything below fits signed and bit arithmetic.
const MAX_SIZE: u64 = 1 << 60;

pub use hoffman_control::IndexType;

/// Why a table has no index space, or one that must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Not 1, 2, 4 or 8.
    #[error("symmetry {0} is not 1, 2, 4 or 8")]
    Symmetry(u8),
    /// A symmetry that the index type, the men or the variant do not allow.
    #[error("symmetry {symmetry} is not possible {reason}; use {allowed}")]
    SymmetryNotAllowed {
        /// The symmetry asked for.
        symmetry: u8,
        /// What forbids it.
        reason: &'static str,
        /// The largest possible one.
        allowed: u8,
    },
    /// An index type that cannot hold the table.
    #[error("index type {} cannot hold a table {reason}", .index_type.name())]
    TypeNotAllowed {
        /// The type.
        index_type: IndexType,
        /// What it cannot hold.
        reason: &'static str,
    },
    /// Normal chess needs exactly one king a side.
    #[error("a table needs exactly one white and one black king")]
    Kings,
    /// Restrictions that overlap without being equal, in a type that cannot have them.
    #[error(
        "index type {} needs like men to have equal or disjoint squares, which piece number {} has not",
        .index_type.name(), .slot + 1
    )]
    Overlap {
        /// The type.
        index_type: IndexType,
        /// The man.
        slot: PieceSlot,
    },
    /// Three or more interchangeable men in a type for at most two.
    #[error("index type {} takes at most two like men", .index_type.name())]
    GroupTooLarge {
        /// The type.
        index_type: IndexType,
    },
    /// Interchangeable men that are not neighbours in the list.
    #[error(
        "index type {} needs like men next to each other in the list: piece number {} is not beside number {}",
        .index_type.name(), .slot + 1, .partner + 1
    )]
    NotAdjacent {
        /// The type.
        index_type: IndexType,
        /// The later man.
        slot: PieceSlot,
        /// The man it belongs to.
        partner: PieceSlot,
    },
    /// Links of a piece list that do not make chains.
    #[error("the groups of the piece list are inconsistent at piece number {}", .slot + 1)]
    Groups {
        /// The man.
        slot: PieceSlot,
    },
    /// A pawn-structure table that contradicts the piece list or itself.
    #[error("pawn structures: {0}")]
    PawnStructures(&'static str),
    /// More indices than can be numbered.
    #[error("the table has too many indices; use a combinadic index type or fewer men")]
    TooLarge,
    /// Refused for writing: naive types beyond 31 bits (the original counts them in 32-bit arithmetic).
    #[error("index type {} needs {bits} bits, more than 31; use combinadic5", .index_type.name())]
    TooManyBits {
        /// The type.
        index_type: IndexType,
        /// Bits of an index without the side to move.
        bits: u32,
    },
    /// Refused for writing: naive2 loses en passant positions of two like pawns.
    #[error("index type naive2 loses en passant positions of two like pawns; use combinadic5")]
    Naive2LikePawns,
    /// Refused for writing: opposing plus pawns whose codes clash.
    #[error(
        "pawns number {} and {} share the files of plus pawns that face each other, and either has squares \
         that the other lacks: some legal positions would have no index; use simple or compact",
        .white + 1, .black + 1
    )]
    OpposedPawns {
        /// The white pawn.
        white: PieceSlot,
        /// The black pawn.
        black: PieceSlot,
    },
    /// Refused for writing: some legal placements have no index.
    #[error(
        "the squares of pieces number {} and {} overlap through a third piece only: some legal positions \
         would have no index; give them equal or disjoint squares",
        .first + 1, .second + 1
    )]
    NoIndexForSome {
        /// A man.
        first: PieceSlot,
        /// Another man of its kind.
        second: PieceSlot,
    },
    /// Refused for writing: which of like men stands where cannot be told where a pawn may not pass one.
    #[error(
        "the pawn number {} cannot pass piece number {}, and like men beside them hide which is which: some \
         legal positions would have no index; list like pawns from rank 2 to rank 7, or give them disjoint \
         squares",
        .pawn + 1, .blocker + 1
    )]
    Misdealt {
        /// The pawn.
        pawn: PieceSlot,
        /// What stands in its way.
        blocker: PieceSlot,
    },
}

/// What an index space is made from.
#[derive(Clone, Debug)]
pub struct IndexParams {
    /// The type declared.
    pub index_type: IndexType,
    /// How many board images share an index: 1, 2, 4 or 8.
    pub symmetry: u8,
    /// The rules.
    pub variant: Variant,
    /// Whether entries are one-bit flags, which always need a side-to-move bit.
    pub format_is_flag: bool,
    /// The men, in the order of the control file.
    pub pieces: PieceList,
    /// The pawn structures of a pawngen table.
    pub pawn_structures: Option<PawnStructures>,
}

/// The map between placements and the numbers of one table.
///
/// For every `i < size()`: either `decode(i)` is a placement `p` with `encode(p) == i`, or there is no
/// placement with that index. (One exception by design of naive2, see [`IndexSpace::check_writable`].)
#[derive(Clone, Debug)]
pub struct IndexSpace {
    index_type: IndexType,
    pieces: PieceList,
    men: Men,
    kind: Kind,
    pawns: Option<PawnIndex>,
    side_bit: bool,
    /// Indices of one side to move and one pawn structure.
    slice: u64,
    size: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Naive(Box<Naive>),
    Naive2(Box<Naive2>),
    Simple(Box<Simple>),
    Compact(Box<Compact>),
    Combinadic(Box<Combinadic>),
}

impl IndexSpace {
    /// Builds the tables of the map.
    ///
    /// # Errors
    /// The combinations of type, symmetry, variant and men that no table can have.
    pub fn new(params: IndexParams) -> Result<IndexSpace, IndexError> {
        check_symmetry(&params)?;
        check_type(&params)?;
        let IndexParams { index_type, pieces, pawn_structures, .. } = &params;
        let slots = pawn_structures.as_ref().map_or(0..0, |p| p.slots.clone());
        let men = Men::new(&params, slots)?;
        let pawns = pawn_structures.as_ref().map(|p| PawnIndex::new(p, &men)).transpose()?;
        let side_bit = *index_type == IndexType::Combinadic3
            || !index_type.is_combinadic()
            || params.format_is_flag
            || men.pairs().is_none();
        check_groups(*index_type, pieces, &men)?;
        let (kind, slice) = match index_type {
            IndexType::Naive => {
                let naive = Naive::new(&men)?;
                let size = naive.size();
                (Kind::Naive(Box::new(naive)), size)
            }
            IndexType::Naive2 => {
                let naive2 = Naive2::new(&men)?;
                let size = naive2.size();
                (Kind::Naive2(Box::new(naive2)), size)
            }
            IndexType::Simple => {
                let simple = Simple::new(&men)?;
                let size = simple.size();
                (Kind::Simple(Box::new(simple)), size)
            }
            IndexType::Compact => {
                let compact = Compact::new(&men)?;
                let size = compact.size();
                (Kind::Compact(Box::new(compact)), size)
            }
            _ => {
                let combinadic = Combinadic::new(*index_type, &men)?;
                let size = combinadic.size();
                (Kind::Combinadic(Box::new(combinadic)), size)
            }
        };
        let structures = pawns.as_ref().map_or(1, PawnIndex::count);
        let size = times(times(slice, structures)?, if side_bit { 2 } else { 1 })?;
        let (index_type, pieces) = (*index_type, params.pieces);
        Ok(IndexSpace { index_type, pieces, men, kind, pawns, side_bit, slice, size })
    }

    /// The number of indices.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The type it was made from.
    pub fn index_type(&self) -> IndexType {
        self.index_type
    }

    /// The men, in the order of placements.
    pub fn pieces(&self) -> &PieceList {
        &self.pieces
    }

    /// How many board images share an index.
    pub fn symmetry(&self) -> u8 {
        self.men.symmetry
    }

    /// The rules.
    pub fn variant(&self) -> Variant {
        self.men.variant()
    }

    /// The pawn structures of a pawngen table, as far as they belong to it.
    pub fn pawn_structures(&self) -> Option<&[PawnStructure]> {
        self.pawns.as_ref().map(PawnIndex::list)
    }

    /// The index of a placement given as square numbers by slot; none if the table does not contain it.
    pub fn encode_squares(
        &self,
        squares: &[u8; hoffman_board::MAX_PIECES],
        turn: Color,
        en_passant: Option<u8>,
    ) -> Option<u64> {
        let p = self.men.load_squares(squares, turn == Color::Black, en_passant.unwrap_or(NONE));
        self.encode_position(p)
    }

    /// Whether the lowest bit of an index says who is to move. If not, the colours are exchangeable and
    /// only positions with White to move have indices of their own.
    pub fn has_side_bit(&self) -> bool {
        self.side_bit
    }

    /// The slot whose place a man takes when the colours are exchanged and the board is turned by 180 degrees;
    /// none if the men do not allow it.
    pub fn partner(&self, slot: PieceSlot) -> Option<PieceSlot> {
        let pairs = self.men.pairs()?;
        Some(self.men.slot(usize::from(pairs[self.men.man(slot)])))
    }

    /// Whether [`Cursor::visit_lane`] takes like men in any order: the men of these slots may exchange
    /// their squares without a change of the index, even if one then stands where he may not.
    pub fn is_free_of_order(&self, slots: &[PieceSlot]) -> bool {
        let Kind::Combinadic(_) = &self.kind else { return true };
        let men: Vec<usize> = slots.iter().map(|&slot| self.men.man(slot)).collect();
        self.men.are_one_group(&men)
    }

    /// Whether a table with this space may be written: it refuses what is read for the sake of old files
    /// only.
    ///
    /// # Errors
    /// Naive types beyond 31 bits, naive2 with two like pawns, groups that leave legal positions without
    /// an index.
    pub fn check_writable(&self) -> Result<(), IndexError> {
        if self.index_type.is_naive() && self.slice > 1 << 31 {
            let bits = self.slice.ilog2();
            return Err(IndexError::TooManyBits { index_type: self.index_type, bits });
        }
        if self.index_type == IndexType::Naive2 && self.men.has_like_listed_pawns() {
            return Err(IndexError::Naive2LikePawns);
        }
        if let Kind::Combinadic(combinadic) = &self.kind
            && let Some((white, black)) = combinadic.clashing_pair(&self.men)
        {
            return Err(IndexError::OpposedPawns { white, black });
        }
        if let Some((first, second)) = self.men.intransitive_pair() {
            return Err(IndexError::NoIndexForSome { first, second });
        }
        match self.men.misdealt_pair() {
            Some((pawn, blocker)) => Err(IndexError::Misdealt { pawn, blocker }),
            None => Ok(()),
        }
    }

    /// The index of a placement in any orientation, its squares in the order of the piece list; none if
    /// the table does not contain it.
    pub fn encode(&self, placement: &Placement) -> Option<u64> {
        self.encode_position(self.men.load(placement)?)
    }

    fn encode_position(&self, mut p: Position) -> Option<u64> {
        let men = &self.men;
        if !self.side_bit && p.black {
            p = men.turned(&p)?;
        }
        men.canonicalize(&mut p);
        men.arrange(&mut p.squares)?;
        if !men.accepts(&p) {
            return None;
        }
        // The codes of men are their squares, but for a pawn that can be taken en passant: its column.
        let mut codes = p.squares;
        let mut en_passant_man = NONE;
        if p.en_passant != NONE {
            en_passant_man = men.en_passant_man(&p)?;
            codes[usize::from(en_passant_man)] = p.en_passant & 7;
        }
        let mut index = match &self.kind {
            Kind::Naive(n) => n.encode(men, &codes),
            Kind::Naive2(n) => n.encode(men, &codes),
            Kind::Simple(s) => s.encode(men, &codes),
            Kind::Compact(c) => c.encode(men, &p.squares, &codes)?,
            Kind::Combinadic(c) => c.encode(men, &p.squares, &codes, en_passant_man)?,
        };
        if let Some(pawns) = &self.pawns {
            index += self.slice * pawns.number(men, &p)?;
        }
        let index = if self.side_bit { 2 * index + u64::from(p.black) } else { index };
        (index < self.size).then_some(index)
    }

    /// A placement, given as square numbers by slot, whose men are then moved one at a time;
    /// `en_passant` as in a placement.
    #[inline]
    pub fn cursor(
        &self,
        squares: &[u8; hoffman_board::MAX_PIECES],
        turn: Color,
        en_passant: Option<u8>,
    ) -> Cursor<'_> {
        let p = self.men.load_squares(squares, turn == Color::Black, en_passant.unwrap_or(NONE));
        Cursor { space: self, p }
    }

    /// The rule for the indices as one man walks, if there is one.
    #[inline(always)]
    fn line<'a>(&'a self, p: &'a Position, man: usize) -> Option<combinadic::Line<'a>> {
        let Kind::Combinadic(combinadic) = &self.kind else { return None };
        let mut pawn_away;
        let mut codes = &p.squares;
        let mut en_passant_man = NONE;
        if p.en_passant != NONE {
            en_passant_man = self.men.en_passant_man(p)?;
            pawn_away = p.squares;
            pawn_away[usize::from(en_passant_man)] = p.en_passant & 7;
            codes = &pawn_away;
        }
        let mut line = combinadic.line(&self.men, &p.squares, codes, en_passant_man, man)?;
        if let Some(pawns) = &self.pawns {
            line.add(self.slice * pawns.number(&self.men, p)?);
        }
        Some(line)
    }

    /// The indices of the placements that differ only in the squares of the kings, run by run: calls
    /// `visit(white king, black king, len, index, step)` so that every canonical pair off the squares of
    /// `occupied` is in one run; the placement with the black king on square `black king + i` has the index
    /// `index + i * step`.
    ///
    /// `squares[slot]` are square numbers; those of the kings are ignored.
    pub fn visit_kings(
        &self,
        squares: &[u8; hoffman_board::MAX_PIECES],
        turn: Color,
        en_passant: Option<u8>,
        occupied: u64,
        mut visit: impl FnMut(u8, u8, u8, u64, u64),
    ) {
        let men = &self.men;
        let mut p = men.load_squares(squares, turn == Color::Black, en_passant.unwrap_or(NONE));
        let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
        let clear = |w: u8, b: u8| occupied & (men::bit(w) | men::bit(b)) == 0;
        let Some((weight, kings)) = self.free_kings() else {
            // The white king and the rule for the black one while he stands there.
            let mut line = (NONE, None);
            for (w, b) in kings::canonical_pairs(men).filter(|&(w, b)| clear(w, b)) {
                p.squares[white] = w;
                p.squares[black] = b;
                if line.0 != w {
                    line = (w, self.field_line(&p, black));
                }
                let index = match &line.1 {
                    Some(line) => {
                        Some(self.sided(line.index(b)) + u64::from(self.side_bit && p.black))
                    }
                    None => self.encode_position(p),
                };
                if let Some(index) = index {
                    visit(w, b, 1, index, 0);
                }
            }
            return;
        };
        let pairs = kings.list();
        // What the index is but for the kings, from the first pair that has one.
        let base = pairs.iter().enumerate().filter(|&(_, &(w, b))| clear(w, b)).find_map(
            |(n, &(w, b))| {
                p.squares[white] = w;
                p.squares[black] = b;
                let index = self.encode_position(p)?;
                Some(index - self.sided(weight * n as u64))
            },
        );
        let Some(base) = base else { return };
        let step = self.sided(weight);
        for &(number, w, blacks) in kings.runs() {
            if occupied & men::bit(w) != 0 {
                continue;
            }
            // The number of the pair with the black king on a1, if it were of the run.
            let number = u64::from(number).wrapping_sub(u64::from(blacks.trailing_zeros()));
            let mut rest = blacks & !occupied;
            while rest != 0 {
                let start = rest.trailing_zeros();
                let len = (rest >> start).trailing_ones();
                rest &= u64::MAX.checked_shl(start + len).unwrap_or(0);
                let index = base + step * number.wrapping_add(u64::from(start));
                visit(w, start as u8, len as u8, index, step);
            }
        }
    }

    /// The pairs of king squares in the order of their numbers, if these numbers are the lowest digit of an
    /// index but for the side to move: the pair with number `n` has the indices that leave `n` when the
    /// side is taken off and what remains is divided by the number of pairs.
    pub(crate) fn king_columns(&self) -> Option<&[(u8, u8)]> {
        match &self.kind {
            Kind::Combinadic(combinadic) => combinadic.low_kings().map(kings::KingPairs::list),
            _ => None,
        }
    }

    /// What a part of an index weighs beside a side to move.
    fn sided(&self, index: u64) -> u64 {
        if self.side_bit { 2 * index } else { index }
    }

    /// The same for the types with a digit or a field of bits for every man.
    fn field_line(&self, p: &Position, man: usize) -> Option<naive::FieldLine<'_>> {
        let men = &self.men;
        if !self.side_bit && p.black {
            return None;
        }
        let mut codes = p.squares;
        let mut pair = (man, man);
        if matches!(self.kind, Kind::Naive(_) | Kind::Simple(_)) {
            pair = men.arrange_others(&mut codes, man)?;
        }
        if p.en_passant != NONE {
            let pawn = men.en_passant_man(&Position { squares: codes, ..*p })?;
            codes[usize::from(pawn)] = p.en_passant & 7;
        }
        let mut line = match &self.kind {
            Kind::Naive(n) => n.line(&codes, man, pair)?,
            Kind::Naive2(n) => n.line(&codes, man)?,
            Kind::Simple(s) => s.line(&codes, man, pair),
            Kind::Compact(c) => c.line(men, &p.squares, &codes, man)?,
            Kind::Combinadic(_) => return None,
        };
        if let Some(pawns) = &self.pawns {
            line.add(self.slice * pawns.number(men, p)?);
        }
        Some(line)
    }

    /// The placements that differ in the square of one king, where the rest of an index does not depend on the
    /// kings. Returns whether it is so.
    fn visit_king(
        &self,
        p: &Position,
        man: usize,
        lanes: u64,
        visit: &mut impl FnMut(u64, u64, u64),
    ) -> bool {
        let (men, mut p) = (&self.men, *p);
        let Some((weight, kings)) = self.free_kings().filter(|_| men.is_king(man)) else {
            return false;
        };
        let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
        let mut place = |lane: u8| {
            p.squares[man] = lane;
            let number = kings.number(p.squares[white], p.squares[black])?;
            Some((self.sided(weight * number), p))
        };
        let mut base = None;
        for lane in bits_of(lanes) {
            let Some((digit, p)) = place(lane) else { continue };
            if base.is_none() {
                base = self.encode_position(p).map(|index| index - digit);
            }
            if let Some(base) = base {
                visit(1 << lane, base + digit, 0);
            }
        }
        true
    }

    /// The weight of the kings' digit and their pairs, if the rest of an index does not depend on them.
    fn free_kings(&self) -> Option<(u64, &kings::KingPairs)> {
        match &self.kind {
            Kind::Combinadic(combinadic) => combinadic.free_kings(&self.men),
            Kind::Compact(compact) => compact.free_kings(&self.men),
            _ => None,
        }
    }

    /// The slow way: every placement by itself.
    fn visit_each(
        &self,
        p: &Position,
        man: usize,
        lanes: u64,
        visit: &mut impl FnMut(u64, u64, u64),
    ) {
        let mut p = *p;
        for lane in bits_of(lanes) {
            p.squares[man] = lane;
            if let Some(index) = self.encode_position(p) {
                visit(1 << lane, index, 0);
            }
        }
    }

    /// The canonical placement of an index, its squares in the order of the piece list; none if the index
    /// stands for no placement.
    pub fn decode(&self, index: u64) -> Option<Placement> {
        if index >= self.size {
            return None;
        }
        let (mut rest, black) =
            if self.side_bit { (index >> 1, index & 1 != 0) } else { (index, false) };
        let men = &self.men;
        let mut p = Position::empty(black);
        if let Some(pawns) = &self.pawns {
            pawns.place(men, rest / self.slice, &mut p)?;
            rest %= self.slice;
        }
        match &self.kind {
            Kind::Naive(n) => n.decode(men, rest, &mut p)?,
            Kind::Naive2(n) => n.decode(men, rest, &mut p)?,
            Kind::Simple(s) => s.decode(men, rest, &mut p)?,
            Kind::Compact(c) => c.decode(men, rest, &mut p)?,
            Kind::Combinadic(c) => c.decode(men, rest, &mut p)?,
        }
        (men.accepts(&p) && !men.is_above_diagonal(&p)).then(|| men.store(&p))
    }

    /// Deals the men of a board to the slots of the piece list; none if they are not the men of this
    /// table. Their squares may still be such that the placement has no index.
    pub fn place(
        &self,
        men: impl IntoIterator<Item = (Square, Color, Role)>,
        turn: Color,
        en_passant: Option<Square>,
    ) -> Option<Placement> {
        let mut board: ArrayVec<(Square, Color, Role), { hoffman_board::MAX_PIECES }> =
            ArrayVec::new();
        for man in men {
            board.try_push(man).ok()?;
        }
        board.sort_unstable_by_key(|&(square, ..)| square);
        self.men.deal(&board, turn, en_passant)
    }

    /// How many positions, up to left-right and up-down reflection, share the placement's index: 2 under
    /// 8-way symmetry unless both kings stand on the long diagonal, else 1.
    pub fn multiplicity(&self, placement: &Placement) -> u8 {
        match self.men.load(placement) {
            Some(mut p) if self.men.symmetry == 8 => {
                self.men.canonicalize(&mut p);
                self.men.multiplicity(&p)
            }
            _ => 1,
        }
    }

    /// The canonical orientation of a placement: the board symmetry that encoding applies to it (after
    /// the colour turn, if there is one).
    pub fn canonical_symmetry(&self, placement: &Placement) -> Option<Symmetry> {
        let mut p = self.men.load(placement)?;
        if !self.side_bit && p.black {
            p = self.men.turned(&p)?;
        }
        Some(self.men.canonical_symmetry(&p))
    }
}

/// A placement whose men are moved one at a time. It stays in one place in memory: copying squares that have
/// just been written one by one costs more than all else that a row of indices takes.
pub struct Cursor<'a> {
    space: &'a IndexSpace,
    p: Position,
}

impl Cursor<'_> {
    /// Puts the man of a slot on a square.
    #[inline(always)]
    pub fn put(&mut self, slot: PieceSlot, square: u8) {
        self.p.squares[self.space.men.man(slot)] = square;
    }

    /// The indices of the placements that differ only in the square of one man, run by run: calls
    /// `visit(squares, index, step)` so that every square of `lanes` is in one run; the placement
    /// with the man on the `i`th of these squares has the index `index + i * step`. The placement must be
    /// canonical and exist with the man on any of the squares.
    #[inline(always)]
    pub fn visit_lane(&self, lane: PieceSlot, lanes: u64, mut visit: impl FnMut(u64, u64, u64)) {
        let Cursor { space, p } = self;
        let men = &space.men;
        let man = men.man(lane);
        let occupied =
            (0..men.count).filter(|&m| m != man).fold(0, |set, m| set | men::bit(p.squares[m]));
        let lanes = lanes & !occupied;
        let (shift, side) = (u32::from(space.side_bit), u64::from(space.side_bit && p.black));
        let Some(line) = space.line(p, man) else {
            let Some(line) = space.field_line(p, man) else {
                if !space.visit_king(p, man, lanes, &mut visit) {
                    space.visit_each(p, man, lanes, &mut visit);
                }
                return;
            };
            for square in bits_of(lanes) {
                visit(1 << square, (line.index(square) << shift) + side, 0);
            }
            return;
        };
        // His numbering goes on behind men whose squares it leaves out.
        let breaks = !(lanes | line.left_out());
        let mut rest = lanes;
        while rest != 0 {
            let start = rest.trailing_zeros();
            let end = (breaks & u64::MAX << start).trailing_zeros();
            let run = if end == 64 { rest } else { rest & ((1 << end) - 1) };
            rest &= !run;
            match line.start(start as u8) {
                (index, Some(step), _, _) => visit(run, (index << shift) + side, step << shift),
                (rest, None, value, place) => {
                    for (i, square) in bits_of(run).enumerate() {
                        let index = rest + line.term(value + i, place);
                        visit(1 << square, (index << shift) + side, 0);
                    }
                }
            }
        }
    }
}

/// The squares of a set, ascending.
#[inline(always)]
pub(crate) fn bits_of(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let square = set.trailing_zeros() as u8;
        let there = set != 0;
        set &= set.wrapping_sub(1);
        there.then_some(square)
    })
}

/// Images of placements, for what compares the positions that share an index.
impl IndexSpace {
    /// The placement on the transformed board, its men in the slots that hold them there. The table must
    /// have the symmetry.
    pub(crate) fn image(&self, placement: &Placement, symmetry: Symmetry) -> Option<Placement> {
        let mut p = self.men.load(placement)?;
        self.men.transform(symmetry, &mut p);
        Some(self.men.store(&p))
    }

    /// The placement with colours exchanged and the board turned; none if the men do not allow it.
    pub(crate) fn turned(&self, placement: &Placement) -> Option<Placement> {
        Some(self.men.store(&self.men.turned(&self.men.load(placement)?)?))
    }
}

/// A product, if it stays in range.
fn times(a: u64, b: u64) -> Result<u64, IndexError> {
    a.checked_mul(b).filter(|&n| n <= MAX_SIZE).ok_or(IndexError::TooLarge)
}

fn check_symmetry(params: &IndexParams) -> Result<(), IndexError> {
    let symmetry = params.symmetry;
    if !matches!(symmetry, 1 | 2 | 4 | 8) {
        return Err(IndexError::Symmetry(symmetry));
    }
    let refuse = |allowed: u8, reason| {
        if symmetry > allowed {
            Err(IndexError::SymmetryNotAllowed { symmetry, reason, allowed })
        } else {
            Ok(())
        }
    };
    if params.variant == Variant::Suicide {
        refuse(1, "in suicide chess")?;
    }
    if params.pawn_structures.is_some() {
        refuse(1, "with pawn structures")?;
    }
    if params.pieces.iter().any(hoffman_board::ListedPiece::is_restricted) {
        // Which symmetries a table has follows from one generator for each doubling.
        let is_kept = |generator| slot_images(&params.pieces, generator).is_ok();
        let generators = [Symmetry::H, Symmetry::V, Symmetry::D];
        let kept = generators.into_iter().take_while(|&generator| is_kept(generator)).count();
        refuse(1 << kept, "with pieces restricted to squares that are not symmetric")?;
    }
    if params.pieces.iter().any(|p| p.role == Role::Pawn) {
        refuse(2, "with pawns")?;
    }
    if params.index_type.is_naive() {
        refuse(4, "with a naive index type")?;
    }
    Ok(())
}

fn check_type(params: &IndexParams) -> Result<(), IndexError> {
    let IndexParams { index_type, pieces, .. } = params;
    let index_type = *index_type;
    let refuse = |reason| Err(IndexError::TypeNotAllowed { index_type, reason });
    if params.pawn_structures.is_some()
        && matches!(index_type, IndexType::Simple | IndexType::Compact)
    {
        return refuse("with pawn structures");
    }
    if params.variant == Variant::Suicide {
        let allowed =
            matches!(index_type, IndexType::Naive | IndexType::Simple | IndexType::Combinadic5);
        return if allowed { Ok(()) } else { refuse("of suicide chess") };
    }
    for color in Color::ALL {
        let kings = pieces.iter().filter(|p| p.color == color && p.role == Role::King).count();
        if kings != 1 {
            return Err(IndexError::Kings);
        }
    }
    let black_king_first =
        pieces.first().is_some_and(|p| p.color == Color::Black && p.role == Role::King);
    if black_king_first && matches!(index_type, IndexType::Combinadic3 | IndexType::Combinadic4) {
        return refuse("that lists the black king first");
    }
    Ok(())
}

fn check_groups(index_type: IndexType, pieces: &PieceList, men: &Men) -> Result<(), IndexError> {
    if matches!(index_type, IndexType::Naive | IndexType::Naive2 | IndexType::Simple)
        && let Some(slot) = pieces.iter().position(|p| p.legal != p.semilegal)
    {
        return Err(IndexError::Overlap { index_type, slot });
    }
    if matches!(index_type, IndexType::Naive2 | IndexType::Compact) && men.largest_group() > 2 {
        return Err(IndexError::GroupTooLarge { index_type });
    }
    Ok(())
}

/// A pseudo-square 0 to 7 of a pawn's code means: double step on that column.
const fn is_en_passant_code(code: u8) -> bool {
    code < 8
}

#[cfg(test)]
mod tests;
