//! Between rows and indices: the entries of a table from the values of its slices, and back.
//!
//! The index types are encodings at the edge. Here every position of a table's index space is
//! visited once, by slices, king pairs and rows, so that neither side is walked at random; along a
//! row the index mostly grows by a constant step.
//!
//! `walk` says what is visited, `free` and `restricted` do it, of tables with free pieces and of
//! all others. `encode` and `decode` go both ways, in memory and where it is bounded; `transpose`
//! does the same for tables of which neither values nor entries fit, but the kings lead. `wanted`
//! and `routes` say which values come from where, `key_codes` which code a packed entry has.
//! `foreign` asks tables of other programs; `scan` shows positions by rows, `held` has
//! their entries.

mod chunks;
mod colors;
mod counts;
mod decode;
mod distances;
mod encode;
mod foreign;
mod free;
mod held;
mod key_codes;
mod places;
mod restricted;
mod routes;
mod scan;
mod squares;
#[cfg(test)]
mod tests;
mod transpose;
mod walk;
mod wanted;

use std::collections::BTreeSet;

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, ListedPiece, Material, Role, Variant};
use hoffman_space::{Codes, Layout, Mover, Orientation, PawnSquares, SliceValues, side};

use self::squares::pawn_placements;
use self::walk::Portion;
use crate::index::IndexSpace;

pub use counts::{IndexCounts, RANK_BYTES};
pub use decode::{DecodeError, ReadEntries, decode, decode_in};
pub use distances::{Distances, StoredDistances};
pub use encode::{Stretches, encode, encode_in};
pub use foreign::{AskedTable, ask_all};
pub use held::{HeldEntries, RowKeys};
pub use scan::{
    EntryRow, ExchangedSlots, RowPlace, by_symmetry, has_rows, scan, scan_by_values,
    scan_restricted,
};
pub use wanted::{Taking, Wanted};

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
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The number of positions does not fit this machine.
    #[error("a table of {0} entries does not fit into memory")]
    TooLarge(u64),
}

/// Whether all pieces but pawns may stand everywhere, under the rules of normal chess, and the
/// pawns are no structures of their own.
pub fn has_free_pieces(space: &IndexSpace) -> bool {
    let pieces = space.pieces();
    let closed = frozen_squares(space);
    // The square of a man that cannot move is closed to all others, which restricts none of them.
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
    // The squares of men that cannot move are occupied anyway; leaving them in keeps free pieces
    // free.
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
pub fn structures_of(space: &IndexSpace) -> Vec<PawnSquares> {
    match space.pawn_structures() {
        Some(list) => {
            let plain = list.iter().map(|s| PawnSquares { white: s.white.0, black: s.black.0 });
            let all: BTreeSet<PawnSquares> = plain.collect();
            all.into_iter().collect()
        }
        None => pawn_placements(space).into_keys().collect(),
    }
}

/// The codes of a portion's positions.
fn codes_of<'v>(portion: &Portion, slice: &'v SliceValues, orientation: Orientation) -> &'v Codes {
    let plain = &slice.codes[side(orientation.color(portion.turn))];
    let Some(square) = portion.en_passant else { return plain };
    let there = u8::from(orientation.symmetry().apply(square));
    slice.en_passant.iter().find(|e| e.square == there).map_or(plain, |e| &e.codes)
}

/// A number for every code, all 0.
#[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
fn zeros<T: Copy + Default>() -> Box<[T; NUMBERS]> {
    let zeros = vec![T::default(); NUMBERS].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("it has this length"))
}

/// Room for the numbers of all codes of two bytes.
const NUMBERS: usize = 1 << 16;
