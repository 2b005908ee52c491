//! Index types: the number of an entry and the placement it stands for, both ways.
//!
//! An [`IndexSpace`] is made from the piece list and the declarations of one table and then maps
//! placements to numbers ([`IndexSpace::encode`]) and numbers to placements
//! ([`IndexSpace::decode`]). What all types share (colour turn, board symmetry, groups of
//! interchangeable men, rejections) is in `men`; each type has a module for its arithmetic alone.
//! Knows nothing of values or files. The method is that of the original program, sections 6 to 8
//! of the format's description.

mod binomial;
mod checks;
mod combinadic;
mod compact;
mod error;
mod groups;
mod kings;
mod lanes;
mod men;
mod naive;
mod pawns;
mod position;
mod simple;

use arrayvec::ArrayVec;
use hoffman_board::{Color, PieceList, PieceSlot, Placement, Role, Square, Symmetry, Variant};

use checks::{check_groups, check_symmetry, check_type};
use combinadic::Combinadic;
use compact::Compact;
pub use error::IndexError;
pub use lanes::Cursor;
#[cfg(feature = "bulk")]
pub(crate) use lanes::bits_of;
use men::TableMen;
use naive::{Naive, Naive2};
use pawns::PawnIndex;
pub use pawns::{PawnStructure, PawnStructures};
use position::OrderedPlacement;
use simple::Simple;

/// Stands for "no man" or "no square" in the internal arrays.
const NONE: u8 = 255;

/// The largest number of indices a space may have; everything below fits signed and bit
/// arithmetic.
const MAX_SIZE: u64 = 1 << 60;

pub use hoffman_control::IndexType;

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
/// For every `i < size()`: either `decode(i)` is a placement `p` with `encode(p) == i`, or there
/// is no placement with that index. (One exception by design of naive2, see
/// [`IndexSpace::check_writable`].)
#[derive(Clone, Debug)]
pub struct IndexSpace {
    index_type: IndexType,
    pieces: PieceList,
    men: TableMen,
    scheme: IndexScheme,
    pawns: Option<PawnIndex>,
    side_bit: bool,
    /// Indices of one side to move and one pawn structure.
    slice: u64,
    size: u64,
}

/// How indices are made of the squares of the men.
#[derive(Clone, Debug)]
enum IndexScheme {
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
        let men = TableMen::new(&params, slots)?;
        let pawns = pawn_structures.as_ref().map(|p| PawnIndex::new(p, &men)).transpose()?;
        let side_bit = *index_type == IndexType::Combinadic3
            || !index_type.is_combinadic()
            || params.format_is_flag
            || men.pairs().is_none();
        check_groups(*index_type, pieces, &men)?;
        let (scheme, slice) = match index_type {
            IndexType::Naive => {
                let naive = Naive::new(&men)?;
                let size = naive.size();
                (IndexScheme::Naive(Box::new(naive)), size)
            }
            IndexType::Naive2 => {
                let naive2 = Naive2::new(&men)?;
                let size = naive2.size();
                (IndexScheme::Naive2(Box::new(naive2)), size)
            }
            IndexType::Simple => {
                let simple = Simple::new(&men)?;
                let size = simple.size();
                (IndexScheme::Simple(Box::new(simple)), size)
            }
            IndexType::Compact => {
                let compact = Compact::new(&men)?;
                let size = compact.size();
                (IndexScheme::Compact(Box::new(compact)), size)
            }
            _ => {
                let combinadic = Combinadic::new(*index_type, &men)?;
                let size = combinadic.size();
                (IndexScheme::Combinadic(Box::new(combinadic)), size)
            }
        };

        let structures = pawns.as_ref().map_or(1, PawnIndex::count);
        let size = times(times(slice, structures)?, if side_bit { 2 } else { 1 })?;
        let (index_type, pieces) = (*index_type, params.pieces);
        Ok(IndexSpace { index_type, pieces, men, scheme, pawns, side_bit, slice, size })
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

    /// The index of a placement given as square numbers by slot; none if the table does not
    /// contain it.
    pub fn encode_squares(
        &self,
        squares: &[u8; hoffman_board::MAX_PIECES],
        turn: Color,
        en_passant: Option<Square>,
    ) -> Option<u64> {
        let p = self.men.load_squares(squares, turn, en_passant);
        self.encode_position(p)
    }

    /// Whether the lowest bit of an index says who is to move. If not, the colours are
    /// exchangeable and only positions with White to move have indices of their own.
    pub fn has_side_bit(&self) -> bool {
        self.side_bit
    }

    /// The slot whose place a man takes when the colours are exchanged and the board is turned by
    /// 180 degrees; none if the men do not allow it.
    pub fn partner(&self, slot: PieceSlot) -> Option<PieceSlot> {
        let pairs = self.men.pairs()?;
        Some(self.men.slot(usize::from(pairs[self.men.man(slot)])))
    }

    /// Whether [`Cursor::visit_lane`] takes like men in any order: the men of these slots may
    /// exchange their squares without a change of the index, even if one then stands where it may
    /// not.
    pub fn is_free_of_order(&self, slots: &[PieceSlot]) -> bool {
        let IndexScheme::Combinadic(_) = &self.scheme else { return true };
        let men: Vec<usize> = slots.iter().map(|&slot| self.men.man(slot)).collect();
        self.men.are_one_group(&men)
    }

    /// Whether a table with this space may be written: it refuses what is read for the sake of old
    /// files only.
    ///
    /// # Errors
    /// Naive types beyond 31 bits, naive2 with two like pawns, groups that leave legal positions
    /// without an index.
    pub fn check_writable(&self) -> Result<(), IndexError> {
        if self.index_type.is_naive() && self.slice > 1 << 31 {
            let bits = self.slice.ilog2();
            return Err(IndexError::TooManyBits { index_type: self.index_type, bits });
        }
        if self.index_type == IndexType::Naive2 && self.men.has_like_listed_pawns() {
            return Err(IndexError::Naive2LikePawns);
        }
        if let IndexScheme::Combinadic(combinadic) = &self.scheme
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

    /// The index of a placement in any orientation, its squares in the order of the piece list;
    /// none if the table does not contain it.
    pub fn encode(&self, placement: &Placement) -> Option<u64> {
        self.encode_position(self.men.load(placement)?)
    }

    fn encode_position(&self, mut p: OrderedPlacement) -> Option<u64> {
        let men = &self.men;
        if !self.side_bit && p.black {
            p = men.turned(&p)?;
        }
        men.canonicalize(&mut p);
        men.arrange(&mut p.squares)?;
        if !men.accepts(&p) {
            return None;
        }

        // The codes of men are their squares, but for a pawn that can be taken en passant: its
        // column.
        let mut codes = p.squares;
        let mut en_passant_man = NONE;
        if p.en_passant != NONE {
            en_passant_man = men.en_passant_man(&p)?;
            codes[usize::from(en_passant_man)] = p.en_passant & 7;
        }

        let mut index = match &self.scheme {
            IndexScheme::Naive(n) => n.encode(men, &codes),
            IndexScheme::Naive2(n) => n.encode(men, &codes),
            IndexScheme::Simple(s) => s.encode(men, &codes),
            IndexScheme::Compact(c) => c.encode(men, &p.squares, &codes)?,
            IndexScheme::Combinadic(c) => c.encode(men, &p.squares, &codes, en_passant_man)?,
        };

        if let Some(pawns) = &self.pawns {
            index += self.slice * pawns.number(men, &p)?;
        }
        let index = if self.side_bit { 2 * index + u64::from(p.black) } else { index };
        (index < self.size).then_some(index)
    }

    /// The canonical placement of an index, its squares in the order of the piece list; none if
    /// the index stands for no placement.
    pub fn decode(&self, index: u64) -> Option<Placement> {
        if index >= self.size {
            return None;
        }
        let (mut rest, black) =
            if self.side_bit { (index >> 1, index & 1 != 0) } else { (index, false) };
        let men = &self.men;
        let mut p = OrderedPlacement::empty(black);
        if let Some(pawns) = &self.pawns {
            pawns.place(men, rest / self.slice, &mut p)?;
            rest %= self.slice;
        }
        match &self.scheme {
            IndexScheme::Naive(n) => n.decode(men, rest, &mut p)?,
            IndexScheme::Naive2(n) => n.decode(men, rest, &mut p)?,
            IndexScheme::Simple(s) => s.decode(men, rest, &mut p)?,
            IndexScheme::Compact(c) => c.decode(men, rest, &mut p)?,
            IndexScheme::Combinadic(c) => c.decode(men, rest, &mut p)?,
        }
        (men.accepts(&p) && !men.is_above_diagonal(&p)).then(|| men.store(&p))
    }

    /// Deals the men of a board to the slots of the piece list; none if they are not the men of
    /// this table. Their squares may still be such that the placement has no index.
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

    /// How many positions, up to left-right and up-down reflection, share the placement's index: 2
    /// under 8-way symmetry unless both kings stand on the long diagonal, else 1.
    pub fn multiplicity(&self, placement: &Placement) -> u8 {
        match self.men.load(placement) {
            Some(mut p) if self.men.symmetry == 8 => {
                self.men.canonicalize(&mut p);
                self.men.multiplicity(&p)
            }
            _ => 1,
        }
    }

    /// The canonical orientation of a placement: the board symmetry that encoding applies to it
    /// (after the colour turn, if there is one).
    pub fn canonical_symmetry(&self, placement: &Placement) -> Option<Symmetry> {
        let mut p = self.men.load(placement)?;
        if !self.side_bit && p.black {
            p = self.men.turned(&p)?;
        }
        Some(self.men.canonical_symmetry(&p))
    }
}

/// Images of placements, for what compares the positions that share an index.
impl IndexSpace {
    /// The placement on the transformed board, its men in the slots that hold them there. The
    /// table must have the symmetry.
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

/// A pseudo-square 0 to 7 of a pawn's code means: double step on that column.
const fn is_en_passant_code(code: u8) -> bool {
    code < 8
}

#[cfg(test)]
mod tests;
