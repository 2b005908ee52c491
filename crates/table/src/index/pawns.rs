//! Pawn structures: the most significant part of the index of a pawngen table, and their table in
//! the file.

use std::collections::HashMap;
use std::ops::Range;

use hoffman_board::{Bitboard, Color, Rank, Square};

use super::men::TableMen;
use super::position::{OrderedPlacement, bit};
use super::{IndexError, NONE};

/// Where all pawns stand, and the en passant square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PawnStructure {
    /// White's pawns.
    pub white: Bitboard,
    /// Black's pawns.
    pub black: Bitboard,
    /// The square jumped over by a pawn that has just made a double step.
    pub en_passant: Option<Square>,
}

impl PawnStructure {
    /// Bytes of a structure in a file.
    pub const BYTES: usize = 20;

    /// Reads a structure: white mask, black mask, en passant square (255: none), little-endian.
    /// None if it is not one.
    pub fn from_bytes(bytes: &[u8; PawnStructure::BYTES]) -> Option<PawnStructure> {
        let (white, rest) = bytes.split_first_chunk::<8>()?;
        let (black, rest) = rest.split_first_chunk::<8>()?;
        let en_passant = match u32::from_le_bytes(*rest.first_chunk::<4>()?) {
            255 => None,
            s => Some(Square::try_from(s).ok()?),
        };
        let (white, black) = (u64::from_le_bytes(*white), u64::from_le_bytes(*black));
        let structure =
            PawnStructure { white: Bitboard(white), black: Bitboard(black), en_passant };
        structure.is_valid().then_some(structure)
    }

    /// The bytes of a structure in a file.
    pub fn to_bytes(self) -> [u8; PawnStructure::BYTES] {
        let mut bytes = [0; PawnStructure::BYTES];
        let en_passant = self.en_passant.map_or(255, u32::from);
        bytes[..8].copy_from_slice(&self.white.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.black.0.to_le_bytes());
        bytes[16..].copy_from_slice(&en_passant.to_le_bytes());
        bytes
    }

    /// Pawns on ranks 2 to 7 and not on each other, an en passant square jumped over by one of
    /// them.
    fn is_valid(&self) -> bool {
        let all = self.white | self.black;
        (self.white & self.black).is_empty()
            && (all & !hoffman_board::PAWN_SQUARES).is_empty()
            && self.en_passant.is_none_or(|s| self.has_made_step(s))
    }

    /// Whether a pawn stands where a double step over the square ends, the square and its start
    /// empty.
    fn has_made_step(&self, jumped: Square) -> bool {
        let (own, from, to) = match jumped.rank() {
            Rank::Third => (self.white, -8, 8),
            Rank::Sixth => (self.black, 8, -8),
            _ => return false,
        };
        let all = self.white | self.black;
        let is_free = |square: Option<Square>| square.is_some_and(|s| !all.contains(s));
        jumped.offset(to).is_some_and(|s| own.contains(s))
            && is_free(Some(jumped))
            && is_free(jumped.offset(from))
    }
}

/// The pawn structures of a table and the men that stand on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PawnStructures {
    /// The slots of the piece list that the pawngen element inserted.
    pub slots: Range<usize>,
    /// All structures, in the order of the file.
    pub list: Vec<PawnStructure>,
    /// The number of the first structure of this table.
    pub start: usize,
    /// How many structures this table has; 0 for all from `start`.
    pub count: usize,
}

/// The numbers of pawn structures.
#[derive(Clone, Debug)]
pub(super) struct PawnIndex {
    structures: Vec<PawnStructure>,
    numbers: HashMap<(u64, u64, u8), u32>,
}

impl PawnIndex {
    pub(super) fn new(params: &PawnStructures, men: &TableMen) -> Result<PawnIndex, IndexError> {
        let refuse = |reason| Err(IndexError::PawnStructures(reason));
        if params.slots.end > men.count {
            return refuse("the piece list has no such slots");
        }
        if params.slots.clone().any(|slot| !men.is_pawn(men.slot(slot)))
            || (0..men.count).any(|m| men.is_pawn(m) && !men.structured[m])
        {
            return refuse("the pawns of the piece list must be those of the pawngen element");
        }

        let end = match params.count {
            0 => Some(params.list.len()),
            n => params.start.checked_add(n),
        };
        let range = end.and_then(|end| params.list.get(params.start..end));
        let Some(structures) = range.filter(|_| params.list.len() < u32::MAX as usize) else {
            return refuse("start and count exceed the table");
        };
        let pawns =
            |color| (0..men.count).filter(|&m| men.structured[m] && men.color[m] == color).count();
        let (white, black) = (pawns(Color::White), pawns(Color::Black));
        if structures.iter().any(|s| s.white.count() != white || s.black.count() != black) {
            return refuse("a structure has another number of pawns than the piece list");
        }
        if !structures.iter().all(PawnStructure::is_valid) {
            return refuse("a structure has pawns where none can stand");
        }

        let key =
            |s: &PawnStructure| (s.white.0, s.black.0, s.en_passant.map_or(NONE, |e| e as u8));
        let numbers: HashMap<_, _> =
            structures.iter().enumerate().map(|(k, s)| (key(s), k as u32)).collect();
        if numbers.len() != structures.len() {
            return refuse("a structure is there twice");
        }
        Ok(PawnIndex { structures: structures.to_vec(), numbers })
    }

    pub(super) fn count(&self) -> u64 {
        self.structures.len() as u64
    }

    pub(super) fn list(&self) -> &[PawnStructure] {
        &self.structures
    }

    /// The number of the structure of a position, from the first of this table.
    pub(super) fn number(&self, men: &TableMen, p: &OrderedPlacement) -> Option<u64> {
        let (mut white, mut black) = (0, 0);
        for man in (0..men.count).filter(|&m| men.structured[m]) {
            match men.color[man] {
                Color::White => white |= bit(p.squares[man]),
                Color::Black => black |= bit(p.squares[man]),
            }
        }
        self.numbers.get(&(white, black, p.en_passant)).map(|&n| u64::from(n))
    }

    /// Puts the pawns of a structure on the board; none if its double step is the player to move's
    /// own.
    pub(super) fn place(
        &self,
        men: &TableMen,
        number: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let structure = self.structures.get(usize::try_from(number).ok()?)?;
        let (mut white, mut black) = (structure.white, structure.black);
        for man in (0..men.count).filter(|&m| men.structured[m]) {
            let pawns = men.color[man].fold_wb(&mut white, &mut black);
            p.squares[man] = pawns.pop_front()? as u8;
        }
        if let Some(s) = structure.en_passant {
            p.en_passant = s as u8;
        }
        Some(())
    }
}
