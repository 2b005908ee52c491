//! The conditions for using a table as futurebase.

use hoffman_board::{Color, Format, Material, PieceList, Role};
use hoffman_control::{ControlFile, FuturebaseElement, FuturebaseKind, Prune, PruneEnable};
use hoffman_table::Table;

use super::{material_of, tells_images_apart};
use crate::futuremoves::futuremoves;
use crate::numbering::Numbering;
use crate::problem::Misfit;

/// Refuses a table that cannot be used.
pub(super) fn check(
    control: &ControlFile,
    table: &Table,
    element: &FuturebaseElement,
    numbering: &Numbering,
    material: &Material,
) -> Result<(), Misfit> {
    if table.variant() != control.variant {
        return Err(Misfit::Variant);
    }

    // Of a file with other men nothing else matters.
    let plain = material_of(table);
    let behind = if element.inverted { plain.swapped() } else { plain };
    let relation = if behind == *material {
        if !element.inverted && holds_the_same(table, numbering) {
            return Err(Misfit::SameMen);
        }
        FuturebaseKind::Normal
    } else {
        let moves = futuremoves(material, control.variant);
        let relation = moves.iter().find(|m| m.behind == behind).map(|m| m.relation);
        relation.ok_or_else(|| unrelated(material, &behind))?
    };
    check_formats(control, table, element.inverted)?;
    check_enabled(control, table, element.inverted)?;

    let (theirs, ours) = (table.space().symmetry(), numbering.symmetry);
    if theirs < ours && tells_images_apart(table) {
        return Err(Misfit::Symmetry { theirs, ours, index: numbering.space.index_type() });
    }
    match element.kind.filter(|&kind| kind != relation) {
        Some(given) => Err(Misfit::Relation { given, found: relation }),
        None => Ok(()),
    }
}

/// The values of a futurebase must hold what those of the table are made from.
fn check_formats(control: &ControlFile, table: &Table, inverted: bool) -> Result<(), Misfit> {
    match (control.entry_format(), table.codec().format()) {
        (Format::Dtm(_), Format::Dtm(_)) => Ok(()),
        (Format::Dtm(_), _) => Err(Misfit::NoDistances),
        (Format::Flag(ours), Format::Flag(theirs)) if (ours == theirs) == inverted => {
            Err(Misfit::Flag)
        }
        (Format::Flag(_), _) => Ok(()),
        (_, Format::Flag(_)) => Err(Misfit::OneBit),
        _ => Ok(()),
    }
}

/// What was pruned in a futurebase has to be enabled in the table.
fn check_enabled(control: &ControlFile, table: &Table, inverted: bool) -> Result<(), Misfit> {
    for enabled in &table.control().prune_enables {
        let effect = enabled.effect;
        let color = if inverted { enabled.color.other() } else { enabled.color };
        if !control.enables(color, effect) {
            return Err(Misfit::NotEnabled { color, effect });
        }
        if !control.enables(color.other(), effect) && stands_for_both(table, enabled) {
            return Err(Misfit::NotEnabled { color: color.other(), effect });
        }
    }
    Ok(())
}

/// Whether moves of both sides may be pruned as a table says of one: White's moves stand for
/// Black's where the side to move is not stored, unless nothing in the table is pruned in that way.
fn stands_for_both(table: &Table, enabled: &PruneEnable) -> bool {
    if table.space().has_side_bit() {
        return false;
    }
    let control = table.control();
    let moves = futuremoves(&material_of(table), table.variant());
    let prunes = |prune: &Prune| {
        prune.effect == enabled.effect
            && (prune.is_stalemate() || moves.iter().any(|m| prune.matches(m.kind)))
    };
    !control.futurebases.is_empty() || control.prunes.iter().any(prunes)
}

/// Whether a table has exactly the positions of the table to be made.
fn holds_the_same(table: &Table, numbering: &Numbering) -> bool {
    let sets = |pieces: &PieceList| {
        let mut sets: Vec<(bool, char, u64)> =
            pieces.iter().map(|p| (p.color == Color::White, p.role.char(), p.legal.0)).collect();
        sets.sort_unstable();
        sets
    };
    sets(table.pieces()) == sets(numbering.pieces())
        && table.space().pawn_structures() == numbering.space.pawn_structures()
}

/// Why a table cannot be reached in one move.
fn unrelated(material: &Material, behind: &Material) -> Misfit {
    let mut missing = 0;
    let mut extra = Vec::new();
    for color in Color::ALL {
        for role in Role::ALL {
            let (ours, theirs) =
                (*material.count.get(color).get(role), *behind.count.get(color).get(role));
            missing += ours.saturating_sub(theirs);
            extra.extend((ours..theirs).map(|_| role));
        }
    }
    match extra.as_slice() {
        [] => Misfit::Missing(missing),
        [Role::Pawn, ..] => Misfit::Pawn,
        _ => Misfit::Unrelated { from: *material, to: *behind },
    }
}
