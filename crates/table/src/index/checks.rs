//! Which combinations of index type, symmetry, rules and pieces a table can have.

use hoffman_board::pieces::slot_images;
use hoffman_board::{Color, ListedPiece, PieceList, Role, Symmetry, Variant};

use super::men::TableMen;
use super::{IndexError, IndexParams, IndexType};

pub(super) fn check_symmetry(params: &IndexParams) -> Result<(), IndexError> {
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
    if params.pieces.iter().any(ListedPiece::is_restricted) {
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

pub(super) fn check_type(params: &IndexParams) -> Result<(), IndexError> {
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

pub(super) fn check_groups(
    index_type: IndexType,
    pieces: &PieceList,
    men: &TableMen,
) -> Result<(), IndexError> {
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
