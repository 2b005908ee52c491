//! Moves out of a table by their kinds, and what its prunes say of them.

use hoffman_board::{Color, FuturemoveKind, Material, Role, Variant};
use hoffman_control::{ControlFile, FuturebaseKind, Prune, PruneEffect};

/// A move that changes the men.
pub(crate) struct Futuremove {
    pub(crate) mover: Color,
    pub(crate) kind: FuturemoveKind,
    pub(crate) relation: FuturebaseKind,
    /// The men behind it, in the table's colours.
    pub(crate) behind: Material,
}

/// All kinds of captures and promotions.
pub(crate) fn futuremoves(material: &Material, variant: Variant) -> Vec<Futuremove> {
    let mut all = Vec::new();
    let has = |color: Color, role: Role| *material.count.get(color).get(role) > 0;
    let pieces = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];

    // Only in suicide chess can a king be taken, or a pawn become one.
    let pieces = if variant == Variant::Suicide { &pieces[..] } else { &pieces[..4] };
    for mover in [Color::White, Color::Black] {
        let enemy = mover.other();
        for &victim in pieces.iter().chain(&[Role::Pawn]) {
            let Some(behind) = material.without(enemy, victim) else { continue };
            for taker in
                [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn]
            {
                if has(mover, taker) {
                    let kind = FuturemoveKind::Capture { by: taker, of: victim, promotion: None };
                    all.push(Futuremove { mover, kind, relation: FuturebaseKind::Capture, behind });
                }
            }
        }
        let Some(pawnless) = material.without(mover, Role::Pawn) else { continue };
        for &promoted in pieces {
            let behind = pawnless.with(mover, promoted);
            let kind = FuturemoveKind::Promotion(promoted);
            all.push(Futuremove { mover, kind, relation: FuturebaseKind::Promotion, behind });
            for &victim in pieces {
                if let Some(behind) = behind.without(enemy, victim) {
                    let (by, promotion) = (Role::Pawn, Some(promoted));
                    let kind = FuturemoveKind::Capture { by, of: victim, promotion };
                    let relation = FuturebaseKind::CapturePromotion;
                    all.push(Futuremove { mover, kind, relation, behind });
                }
            }
        }
    }
    all
}

pub(crate) const fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "WHITE",
        Color::Black => "BLACK",
    }
}

/// The prunes of a colour's moves that match a kind.
pub(crate) fn matching(
    control: &ControlFile,
    color: Color,
    kind: FuturemoveKind,
) -> impl Iterator<Item = &Prune> {
    // The parts of a pawn structure's table belong together: no prune stands in for a part left
    // out.
    let prunable = !kind.is_pawn_step() || control.pawngen.is_none();
    control.prunes.iter().filter(move |p| prunable && p.color == color && p.matches(kind))
}

/// What the first prune of a colour's moves that matches a kind does.
pub(crate) fn prune_of(
    control: &ControlFile,
    color: Color,
    kind: FuturemoveKind,
) -> Option<PruneEffect> {
    matching(control, color, kind).next().map(|prune| prune.effect)
}
