//! Between rows and indices: the entries of a table from the values of its slices, and back.
//!
//! The index types are encodings at the edge. Here every position of a table's index space is visited
//! once, by slices, king pairs and rows, so that neither side is walked at random; along a row the index
//! mostly grows by a constant step.
//!
//! `walk` and `restricted` visit the positions, of tables with free pieces and of all others; `encode` and
//! `decode` go both ways in memory, with the codes of packed entries from `stock`; `windowed` and `columns` do
//! the same where memory is bounded; `asked` asks tables of other programs; `scan` shows the entries by rows.

mod asked;
mod columns;
mod decode;
mod encode;
mod pieces;
mod restricted;
mod scan;
mod stock;
mod walk;
mod windowed;

use std::collections::BTreeSet;

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, ListedPiece, Material, Role, Value, Variant};
use hoffman_space::{Codes, Counts, Layout, Mover, Orientation, PawnStructure, SliceValues};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use self::walk::{Job, pawn_placements};
use crate::index::IndexSpace;

pub use asked::ask_all;
pub use decode::{Taking, Wanted, decode};
pub use encode::{Stretches, encode};
pub use scan::{EntryRow, PackedEntries, has_rows, scan};
pub use windowed::{DecodeError, ReadEntries, StoredDistances, decode_in, encode_in};

/// Why values and an index space do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// The men of the table are not those of the values.
    #[error("the table is for {table}, the values are those of {values}")]
    Material {
        /// The men of the index space.
        table: Material,
        /// The ending of the values.
        values: Material,
    },
    /// A slice that the table needs is not there.
    #[error("the values of {0} are incomplete")]
    Incomplete(Material),
    /// A symmetry that the values do not have, because of prunes or futurebases that have not.
    #[error(
        "positions that share an entry have different values; use symmetry 1, or give prunes and futurebases \
         the same symmetry"
    )]
    Asymmetric,
    /// An entry that is no value of its position, or a position without a value.
    #[error("an entry of the table is not the value of any position")]
    Entry,
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
    /// The number of positions does not fit this machine.
    #[error("a table of {0} entries does not fit into memory")]
    TooLarge(u64),
}

/// The numbers of a table's header, counted over indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// The size of the index space.
    pub indices: u64,
    /// Indices with a placement in which the player not to move is in check.
    pub pntm_mated: u64,
    /// All other indices with a placement.
    pub legal: u64,
    /// Positions won by White (without a side-to-move bit: by the player to move).
    pub white_wins: u64,
    /// Positions won by Black.
    pub black_wins: u64,
    /// The largest stored distance above 1, or 0.
    pub max_stored: i32,
    /// The smallest stored distance, or 0.
    pub min_stored: i32,
    /// Moves and stalemates, if the slices were counted.
    pub moves: Option<Counts>,
}

impl IndexCounts {
    /// Counts `n` indices with a value.
    fn add(&mut self, value: Value, turn: Color, n: u64) {
        // In suicide chess the count of illegal positions is that of those won for want of a move.
        if matches!(value, Value::Illegal | Value::Win(0)) {
            self.pntm_mated += n;
            return;
        }
        self.legal += n;
        match value.winner(turn) {
            Some(Color::White) => self.white_wins += n,
            Some(Color::Black) => self.black_wins += n,
            None => return,
        }
        self.max_stored = self.max_stored.max(value.to_stored());
        self.min_stored = self.min_stored.min(value.to_stored());
    }
}

/// The stored distances of a table, one number an index.
#[derive(Debug)]
pub enum Distances {
    /// All between -128 and 127.
    Narrow(Vec<i8>),
    /// Wider ones.
    Wide(Vec<i16>),
}

impl Distances {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Distances::Narrow(d) => d.len(),
            Distances::Wide(d) => d.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Neighbouring elements of something longer: those from `start` on.
struct Part<'a, T> {
    start: usize,
    elements: &'a [T],
}

impl<T> Clone for Part<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Part<'_, T> {}

impl<'a, T> Part<'a, T> {
    fn whole(elements: &'a [T]) -> Part<'a, T> {
        Part { start: 0, elements }
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Option<&'a T> {
        self.elements.get(at.wrapping_sub(self.start))
    }
}

/// Whether all pieces but pawns may stand everywhere, under the rules of normal chess, and the pawns are
/// no structures of their own.
pub fn has_free_pieces(space: &IndexSpace) -> bool {
    let pieces = space.pieces();
    let closed = frozen_squares(space);
    // The square of a man that cannot move is closed to all others, which restricts nobody.
    let free = |p: &ListedPiece| p.legal | closed == default_squares(p.role);
    space.variant() == Variant::Normal
        && space.pawn_structures().is_none()
        && pieces.iter().all(|p| p.role == Role::Pawn || free(p))
}

/// The squares of men that cannot move.
fn frozen_squares(space: &IndexSpace) -> Bitboard {
    let legal = space.pieces().iter().map(|p| p.legal);
    legal.filter(|legal| legal.count() == 1).fold(Bitboard::EMPTY, |all, legal| all | legal)
}

/// The arrangement in rows of the values that a table has indices for, in the table's own colours.
pub fn layout_of(space: &IndexSpace) -> Layout {
    let pieces = space.pieces().iter().filter(|p| p.role != Role::Pawn);
    // The squares of men that cannot move are occupied anyway; leaving them in keeps free pieces free.
    let closed = |p: &ListedPiece| {
        let others = space.pieces().iter().filter(|o| (o.color, o.role) != (p.color, p.role));
        let frozen = others.filter(|o| o.legal.count() == 1);
        frozen.fold(0, |all, o| all | o.legal.0)
    };
    let movers = pieces.map(|p| Mover {
        color: p.color,
        role: p.role,
        squares: if p.legal.0 | closed(p) == u64::MAX { u64::MAX } else { p.legal.0 },
    });
    let movers: Vec<Mover> = movers.collect();
    let pawns = space.pieces().iter().any(|p| p.role == Role::Pawn);
    Layout::restricted(&movers, pawns, space.variant())
}

/// The pawn structures of a table, in its own colours.
pub fn structures_of(space: &IndexSpace) -> Vec<PawnStructure> {
    match space.pawn_structures() {
        Some(list) => {
            let plain = list.iter().map(|s| PawnStructure { white: s.white.0, black: s.black.0 });
            let all: BTreeSet<PawnStructure> = plain.collect();
            all.into_iter().collect()
        }
        None => pawn_placements(space).into_keys().collect(),
    }
}

/// The codes of a job's positions.
fn codes_of<'v>(job: &Job, slice: &'v SliceValues, orientation: Orientation) -> &'v Codes {
    let plain = &slice.codes[orientation.color(job.turn) as usize ^ 1];
    let Some(square) = job.en_passant else { return plain };
    let there = orientation.symmetry().apply_index(square);
    slice.en_passant.iter().find(|e| e.square == there).map_or(plain, |e| &e.codes)
}

/// Numbers that many threads may write to, in place of numbers of the same width. Memory that is zero is
/// not touched.
fn as_shared<N, S>(numbers: &mut [N]) -> &[S]
where
    N: FromBytes + IntoBytes + Immutable,
    S: FromBytes + IntoBytes + KnownLayout,
{
    // Widths are the same, so that this cannot fail.
    <[S]>::mut_from_bytes(numbers.as_mut_bytes()).unwrap_or_default()
}

/// A number for every code, all 0.
#[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
fn zeros<T: Copy + Default>() -> Box<[T; NUMBERS]> {
    let zeros = vec![T::default(); NUMBERS].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("it has this length"))
}

/// Room for the numbers of all codes of two bytes.
const NUMBERS: usize = 1 << 16;
