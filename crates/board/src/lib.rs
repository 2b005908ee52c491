//! The vocabulary every other room speaks: squares, pieces, placements, board symmetries,
//! materials and values.
//!
//! Owns the words, and re-exports the part of `shakmaty` that the project uses: vocabulary, FEN,
//! SAN, UCI moves and forward move generation. No other crate names `shakmaty` (but `certificate`,
//! which knows nothing of ours), and the solver's
//! kernels use none of its attacks or moves, so that the two can check each other. Knows nothing
//! of indices, files or XML, and does no I/O.
#![forbid(unsafe_code)]

mod futuremove;
pub mod material;
pub mod outcome;
pub mod pieces;
pub mod placement;
pub mod symmetry;
pub mod value;

pub use shakmaty;
pub use shakmaty::{Bitboard, ByColor, ByRole, Color, File, Piece, Rank, Role, Square};

pub use futuremove::{FuturemoveKind, FuturemoveKindError};
pub use material::{Material, MaterialError};
pub use outcome::{Outcome, OutcomeBounds};
pub use pieces::{ListedPiece, PieceList, PieceSlot};
pub use placement::Placement;
pub use symmetry::Symmetry;
pub use value::{Format, Value, Variant};

/// The largest number of men a table may have.
pub const MAX_PIECES: usize = 32;

/// The squares a pawn can stand on: ranks 2 to 7.
pub const PAWN_SQUARES: Bitboard = Bitboard(0x00FF_FFFF_FFFF_FF00);

/// The word for a kind of man, in control files as elsewhere.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
