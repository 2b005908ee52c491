//! Why a table has no index space.

use hoffman_board::PieceSlot;

use super::IndexType;

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
    /// Refused for writing: naive types beyond 31 bits (the original counts them in 32-bit
    /// arithmetic).
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
    /// Refused for writing: which of like men stands where cannot be told where a pawn may not
    /// pass one.
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
