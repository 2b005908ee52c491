//! The piece list of a table: which men there are, where each may stand, which are
//! interchangeable.
//!
//! The list is made from a control file in one place (the room `control`, where the rules for plus
//! pawns, frozen pieces and overlapping restrictions are) and is only read everywhere else.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Color, Role};

use crate::{MAX_PIECES, PAWN_SQUARES, Symmetry};

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

    /// Whether it is of the same kind and colour, on the same squares and in the same way.
    fn is_like(&self, other: &ListedPiece) -> bool {
        (self.color, self.role, self.plus, self.legal)
            == (other.color, other.role, other.plus, other.legal)
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

/// The slot that each man takes when the board is transformed: one of its colour and kind that may
/// stand on the images of its squares, its own if that is one.
///
/// # Errors
///
/// The list is not symmetric in this way, so that some of its placements have images that are not
/// among its placements: the first man for which there is no slot.
pub fn slot_images(
    pieces: &[ListedPiece],
    symmetry: Symmetry,
) -> Result<Vec<PieceSlot>, PieceSlot> {
    let mut taken = [false; MAX_PIECES];
    let mut images = Vec::with_capacity(pieces.len());
    for (slot, piece) in pieces.iter().enumerate() {
        let image = ListedPiece { legal: symmetry.apply_bitboard(piece.legal), ..*piece };
        let fits = |other: &PieceSlot| pieces.get(*other).is_some_and(|p| image.is_like(p));
        let free = |other: &PieceSlot| taken.get(*other) == Some(&false) && fits(other);
        let image = Some(slot).filter(free).or_else(|| (0..pieces.len()).find(free));
        let image = image.ok_or(slot)?;
        *taken.get_mut(image).ok_or(slot)? = true;
        images.push(image);
    }

    // Where a plus pawn must stay behind a man, its image must stay behind that man's.
    let keeps_order = |(piece, &image): (&ListedPiece, &PieceSlot)| {
        let blocker = piece.blocker.and_then(|blocker| images.get(blocker).copied());
        pieces.get(image).is_some_and(|other| other.blocker == blocker)
    };
    match pieces.iter().zip(&images).position(|man| !keeps_order(man)) {
        Some(slot) => Err(slot),
        None => Ok(images),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_the_board_change_places() {
        let left = Bitboard(0x0f0f_0f0f_0f0f_0f0f);
        let mut pieces = vec![ListedPiece::unrestricted(Color::White, Role::Knight); 3];
        pieces[1].legal = left;
        pieces[2].legal = !left;
        assert_eq!(slot_images(&pieces, Symmetry::H), Ok(vec![0, 2, 1]));
        assert_eq!(slot_images(&pieces, Symmetry::V), Ok(vec![0, 1, 2]));
        assert_eq!(slot_images(&pieces, Symmetry::D), Err(1));
        pieces[2].color = Color::Black;
        assert_eq!(slot_images(&pieces, Symmetry::H), Err(1));
    }

    #[test]
    fn squares_decide_the_symmetry() {
        let ways = |role, squares: u64| {
            let piece = ListedPiece::unrestricted(Color::White, role);
            let pieces = [ListedPiece { legal: Bitboard(squares), ..piece }];
            let generators = [Symmetry::H, Symmetry::V, Symmetry::D];
            let kept = |symmetry: &Symmetry| slot_images(&pieces, *symmetry).is_ok();
            1 << generators.iter().take_while(|symmetry| kept(symmetry)).count()
        };
        let (center, corners) = (0x0000_0018_1800_0000, 0x8100_0000_0000_0081);
        assert_eq!(ways(Role::King, u64::MAX), 8);
        assert_eq!(ways(Role::King, center | corners), 8);
        // The first and the last rank; the first alone; the first file.
        assert_eq!(ways(Role::Rook, 0xff00_0000_0000_00ff), 4);
        assert_eq!(ways(Role::Rook, 0xff), 2);
        assert_eq!(ways(Role::Rook, 0x0101_0101_0101_0101), 1);
        assert_eq!(ways(Role::Pawn, PAWN_SQUARES.0), 4);
    }
}
