//! The solver's geometry: which positions stand in which row.
//!
//! Owns slices (one pawn structure each), the layout of the men that move inside a slice (king
//! pairs, dimensions, the lane), the normal form of pawn structures under mirroring and exchange
//! of colours, and the containers that hold one value a position in that order. Knows nothing of
//! files, index types, futurebases or threads. The method is our own, see ARCHITECTURE.md.
#![forbid(unsafe_code)]
#![allow(clippy::inline_always)]

pub mod code;
mod edge;
mod few;
pub mod kings;
pub mod layout;
mod outcomes;
mod overlaps;
pub mod slice;
pub mod values;

pub use code::Code;
pub use edge::{EdgeCodes, EdgeMover, EdgeShape};
pub use few::FewCodes;
pub use kings::{KingPairs, king_pairs};
pub use layout::{KingPlacement, Layout, Mover};
pub use outcomes::{
    PackedOutcomes, change_outcomes, outcome_number, pack_outcomes, unpack_outcomes,
};
pub use overlaps::{MixedGroup, Twins};
pub use slice::{Orientation, PawnSquares};
pub use values::{
    CodeStore, Codes, Counts, EnPassantValues, NormalForm, PackedCodes, SliceCounts, SliceValues,
    StoredCodes, TableValues, side,
};
