//! The header of the new table.

use hoffman_board::value::FlagType;
use hoffman_board::{Format, Variant};
use hoffman_control::{Claims, HeaderEdits, PawngenEdits, render_header};

use super::tally::{IndexTally, Recount};
use super::{ConvertError, masks};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;
use crate::reader::Table;

/// The header of the new table and the zero bytes behind it.
pub(super) fn header(
    table: &Table,
    space: &IndexSpace,
    codec: EntryCodec,
    recount: Recount,
    tally: &IndexTally,
) -> Result<Vec<u8>, ConvertError> {
    let control = table.control();
    let pawngen = table.pawn_structures().zip(masks(control)).map(|(structures, masks)| {
        PawngenEdits { masks, structures: structures.list.len() as u64 }
    });
    // The end mark of a processing instruction cannot stand inside one.
    let name = table.path().file_name().unwrap_or_default().to_string_lossy().replace("?>", "? >");
    let origin = format!("converted from {name}");
    let edits = HeaderEdits {
        index: Some(space.index_type()),
        symmetry: space.symmetry(),
        format: Some(codec.format()),
        tablebase_statistics: statistics(table, space, codec.format(), recount, tally),
        keep_generation: true,
        pawngen,
        instruction: Some(instruction(table, &origin)),
        ..HeaderEdits::default()
    };
    Ok(render_header(control, &edits)?.bytes)
}

/// The processing instruction: what the values prove, which the new header may not tell, what
/// stood there before, and where they come from.
pub(super) fn instruction(table: &Table, origin: &str) -> String {
    let control = table.control();
    let claims = table.claims();
    let unsaid = !claims.is_exact() && Claims::recorded(control).is_none();
    let claims = unsaid.then(|| claims.instruction());
    let parts = claims.into_iter().chain(control.instruction.clone());
    parts.chain([origin.to_owned()]).collect::<Vec<_>>().join("; ")
}

/// The statistics elements in the original's order.
pub(super) fn statistics(
    table: &Table,
    space: &IndexSpace,
    format: Format,
    recount: Recount,
    tally: &IndexTally,
) -> Vec<(String, i64)> {
    let carried = |name: &str| {
        let Recount::Scale(times, divided) = recount else { return None };
        table.control().statistics.get(name).map(|n| n.saturating_mul(times) / divided)
    };
    let counted = |name: &str, n: u64| match recount {
        Recount::Moves => Some(n as i64),
        _ => carried(name),
    };
    let old = table.codec().format();
    let (mated, legal) = ("PNTM-mated-positions", "legal-positions");

    // Only distances tell a suicide game that has ended from one that is won.
    let (mated_count, legal_count) = if table.variant() == Variant::Suicide && !old.has_distance() {
        (carried(mated), carried(legal))
    } else {
        (Some(tally.mated as i64), Some((tally.positions - tally.mated) as i64))
    };

    let tells = |flag| match format {
        Format::Flag(own) => own == flag,
        _ => true,
    };
    let white = tells(FlagType::WhiteWins).then_some(tally.white_wins as i64);
    let black = (!matches!(format, Format::Flag(_))).then_some(tally.black_wins as i64);
    let distance = |n: i32| matches!(format, Format::Dtm(_)).then_some(i64::from(n));

    [
        ("indices", Some(space.size() as i64)),
        (mated, mated_count),
        (legal, legal_count),
        ("stalemate-positions", counted("stalemate-positions", tally.stalemates)),
        ("white-wins-positions", white),
        ("black-wins-positions", black),
        ("forward-moves", counted("forward-moves", tally.moves)),
        ("futuremoves", counted("futuremoves", tally.futuremoves)),
        ("max-dtm", distance(tally.max)),
        ("min-dtm", distance(tally.min)),
    ]
    .into_iter()
    .filter_map(|(name, n)| Some((name.to_owned(), n?)))
    .collect()
}
