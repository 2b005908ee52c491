//! The piece list of a table: which men there are, where each may stand, which are interchangeable.
//!
//! The list is made from a control file in one place (the room `control`, where the rules for plus
//! pawns, frozen pieces and overlapping restrictions are) and is only read everywhere else.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Color, Role};

use crate::{MAX_PIECES, PAWN_SQUARES};

/// The position of a man in the piece list of a control file, from 0.
pub type PieceSlot = usize;

/// One man of a piece list, with everything that the control file says or implies about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPiece {
    /// Whose man it is.
    pub color: Color,
    /// What it is.
    pub role: Role,
    /// The squares it may stand on.
    pub legal: Bitboard,
    /// The squares that the interchangeable men of its group may stand on.
    pub semilegal: Bitboard,
    /// The previous man of its group of interchangeable men.
    pub prev: Option<PieceSlot>,
    /// The next man of its group.
    pub next: Option<PieceSlot>,
    /// Whether it was given as a plus pawn.
    pub plus: bool,
    /// The man that a plus pawn cannot pass.
    pub blocker: Option<PieceSlot>,
}

impl ListedPiece {
    /// A man that may stand everywhere (a pawn: on ranks 2 to 7), in a group of its own.
    pub fn unrestricted(color: Color, role: Role) -> ListedPiece {
        let legal = default_squares(role);
        ListedPiece {
            color,
            role,
            legal,
            semilegal: legal,
            prev: None,
            next: None,
            plus: false,
            blocker: None,
        }
    }

    /// Whether its squares are fewer than the rules of chess allow.
    pub fn is_restricted(&self) -> bool {
        self.legal != default_squares(self.role)
    }
}

/// All squares a man of this role may stand on under the rules of chess.
pub const fn default_squares(role: Role) -> Bitboard {
    match role {
        Role::Pawn => PAWN_SQUARES,
        _ => Bitboard::FULL,
    }
}

/// The men of a table in the order of its control file.
pub type PieceList = ArrayVec<ListedPiece, MAX_PIECES>;
