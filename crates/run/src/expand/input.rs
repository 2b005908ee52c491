//! What an expansion begins with: the start of the pawns, and futurebases with their men.

use std::path::Path;
use std::sync::Arc;

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, Format, MAX_PIECES, Material, Role};
use hoffman_control::{
    ControlError, ControlFile, PawnMasks, PawngenElement, PawngenSide, Place, check_declarations,
    check_pieces, resolve_pieces_with,
};
use hoffman_store::{Storage, is_file};
use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;

use super::fail;
use crate::error::RunError;
use crate::futurebases::material_of;
use crate::futuremoves::color_name;
use crate::problem::{FuturebaseProblem, Misfit};

/// The start that the pawns of an old file stand in.
pub(super) fn structure_of_pieces(control: &ControlFile) -> Result<PawngenElement, RunError> {
    let mut sides = [PawngenSide::default(), PawngenSide::default()];
    let mut first = None;
    let mut taken = Bitboard::EMPTY;

    for (position, pawn) in control.pieces.iter().enumerate().filter(|(_, p)| p.role == Role::Pawn)
    {
        let fail = |problem: &str| fail(control, pawn.place, "piece", problem.to_owned());
        let Some(square) = pawn.plus else {
            return Err(fail(
                "a pawn that is to be expanded needs one square and a plus sign, as location=\"c2+\"",
            ));
        };
        if taken.contains(square) {
            return Err(fail("another pawn begins on the same square"));
        }
        taken.add(square);
        sides[usize::from(pawn.color.is_black())].start.add(square);
        first.get_or_insert((position, pawn.place));
    }

    let Some((position, place)) = first else {
        return Err(fail(
            control,
            control.root,
            "tablebase",
            "there is nothing to expand: a <pawngen> element is needed, or pawns with plus signs"
                .into(),
        ));
    };

    let [white, black] = sides;
    Ok(PawngenElement { white, black, start: 0, count: 0, offset: 0, position, place })
}

/// Refuses what no expansion can begin with.
pub(super) fn check_input(control: &ControlFile, element: &PawngenElement) -> Result<(), RunError> {
    let refuse = |place: Place, name: &str, problem: &str| {
        Err(fail(control, place, name, problem.to_owned()))
    };
    if let Some(output) = &control.output {
        return refuse(
            output.place,
            "output",
            "the input of an expansion names no output; each table gets its own",
        );
    }

    let restricted = |p: &&hoffman_control::PieceElement| {
        p.role != Role::Pawn && p.squares.is_some_and(|squares| squares != default_squares(p.role))
    };
    if let Some(piece) = control.pieces.iter().find(restricted) {
        return refuse(
            piece.place,
            "piece",
            "only pawns can be restricted where files are expanded",
        );
    }

    if control.pawngen.is_none() {
        if let Some(extra) = control.pieces.get(MAX_PIECES) {
            let (site, count) = (control.site(extra.place, "piece"), control.pieces.len());
            return Err(ControlError::TooManyPieces { site, count }.into());
        }
        return Ok(check_declarations(control)?);
    }

    check_numbers(control, element)?;

    // The rest is checked as for a table, so that messages name the lines of this file.
    let mut table = control.clone();
    let pawns =
        |side: &PawngenSide| (side.start.count() as u64).saturating_sub(side.queens_required);
    if let Some(own) = &mut table.pawngen {
        own.white.pawns_required = Some(pawns(&element.white));
        own.black.pawns_required = Some(pawns(&element.black));
    }

    check_declarations(&table)?;
    let all = default_squares(Role::Pawn);
    let masks = PawnMasks { white: all, black: all };
    check_pieces(&table, &resolve_pieces_with(&table, Some(masks))?)?;
    Ok(())
}

/// The numbers of an element with which an expansion can begin.
fn check_numbers(control: &ControlFile, element: &PawngenElement) -> Result<(), RunError> {
    let refuse = |problem: &str| Err(fail(control, element.place, "pawngen", problem.to_owned()));
    if element.white.pawns_required.is_some() || element.black.pawns_required.is_some() {
        return refuse("the number of pawns is given already, so there is nothing to expand");
    }
    if element.start != 0 || element.count != 0 {
        return refuse(
            "start and count number the positions of one table, and an expansion makes many; expand first, then split a table",
        );
    }
    for color in Color::ALL {
        let side = element.side(color);
        if side.queens_required > side.start.count() as u64 {
            let color = color_name(color).to_lowercase();
            return refuse(&format!("{color} has fewer pawns than must promote"));
        }
    }
    Ok(())
}

/// The men of a futurebase: from its header, or from the name of a table of another program.
pub(super) fn men_of_futurebase(
    path: &Path,
    inverted: bool,
    control: &ControlFile,
    storage: &Arc<dyn Storage>,
) -> Result<Material, FuturebaseProblem> {
    let name = path.display().to_string();
    let file = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().unwrap_or_default();
    if ["rtbw", "rtbz", "emd", "nbw", "nbb"].into_iter().any(|e| extension.eq_ignore_ascii_case(e))
    {
        let stem = file.split('.').next().unwrap_or_default();
        return stem.parse().map_err(|source| FuturebaseProblem::Name { name, source });
    }
    if !is_file(&**storage, path) {
        return Err(FuturebaseProblem::Missing(name));
    }
    let options = SourceOptions { storage: Arc::clone(storage), ..SourceOptions::default() };
    let table = Table::open(path, options)?;
    match misfit(&table, inverted, control) {
        Some(misfit) => Err(FuturebaseProblem::Misfit { path: path.to_owned(), misfit }),
        None => Ok(material_of(&table)),
    }
}

/// Why the tables of an expansion cannot lead to a table.
fn misfit(table: &Table, inverted: bool, control: &ControlFile) -> Option<Misfit> {
    if table.pieces().iter().any(|p| p.role != Role::Pawn && p.is_restricted()) {
        return Some(Misfit::Restricted);
    }
    for enabled in &table.control().prune_enables {
        let color = if inverted { enabled.color.other() } else { enabled.color };
        if !control.enables(color, enabled.effect) {
            return Some(Misfit::NotEnabled { color, effect: enabled.effect });
        }
    }
    let is_dtm = |format| matches!(format, Format::Dtm(_));
    (is_dtm(control.entry_format()) && !is_dtm(table.codec().format()))
        .then_some(Misfit::NoDistances)
}
