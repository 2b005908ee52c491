//! Making a table file from solved values.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hoffman_board::value::FlagType;
use hoffman_board::{Format, Material};
use hoffman_control::{
    ControlFile, GenerationStatistics, HeaderEdits, PassStatistics, Strictness, decode_text,
    prefix_length, render_header,
};
use hoffman_pages::Pages;
use hoffman_solve::SolveError;
use hoffman_space::{Counts, TableValues};
use hoffman_table::blocks::{CellFile, CellStreams, Profile, expect_beside, has_cells, has_suffix};
use hoffman_table::entries::{EntryCodec, EntryError, width};
use hoffman_table::rows::{
    Distances, IndexCounts, RowsError, StoredDistances, Stretches, encode, encode_in,
};
use hoffman_table::{IndexSpace, Stop, TableContents};

use crate::error::RunError;
use crate::numbering::Numbering;
use crate::options::RunContext;
use crate::progress::Progress;
use crate::workplace::Workplace;

/// The memory for compressing where memory is bounded.
const COMPRESSING: u64 = 2 << 20;

/// The entries of a table.
enum Numbers<'a> {
    Memory(Distances),
    Pages(StoredDistances),
    Stretches(Stretches<'a>),
}

/// Who made a table and at what cost.
pub(crate) struct Making {
    /// Whether the header names the program only.
    pub(crate) reproducible: bool,
    pub(crate) args: String,
    pub(crate) began: SystemTime,
    /// The processing instruction of the header, if it has one.
    pub(crate) instruction: String,
    /// See [`Learned::passes`](crate::checkpoint::Learned::passes).
    pub(crate) passes: BTreeMap<(u16, bool), (u64, Duration)>,
    /// What was counted of other tables of the same positions: how many are legal, and their moves.
    pub(crate) counted: Option<(u64, Counts)>,
    /// The tables behind captures and promotions, if the file may lean on them.
    pub(crate) behind: Option<Vec<Arc<TableValues>>>,
}

/// Encodes a table and writes it under its final name once it is complete.
pub(crate) fn write_table(
    (control, numbering): (&ControlFile, &Numbering),
    values: &TableValues,
    path: &Path,
    making: &Making,
    run: RunContext<'_>,
) -> Result<IndexCounts, RunError> {
    let RunContext { workplace, pages, progress } = run;
    let space = &numbering.space;
    // A file of cells is made from the values, and all that is wanted of its entries are numbers.
    let only_counted = has_suffix(path)
        && making.behind.is_some()
        && has_cells(control, space, control.entry_format());
    let entries = WantedEntries { space, values, format: control.entry_format(), only_counted };
    let (numbers, mut counts) = entries
        .encoded(pages, &workplace.stop)
        .map_err(|source| RunError::of_rows(&control.origin, source))?;
    if let Some(pages) = pages {
        pages.check().map_err(SolveError::Pages)?;
    }
    let counted = making.counted.filter(|&(legal, _)| legal == counts.legal);
    counts.moves = counts.moves.or(counted.map(|(_, moves)| moves));

    let entry = |source| RunError::Entry { place: control.origin.clone(), source };
    let (format, bits) = fitting_format(control, &counts, progress).map_err(entry)?;
    let codec = EntryCodec::new(format, bits, control.variant).map_err(entry)?;
    let header = render_header(control, &header_edits(numbering, making, format, &counts))?;
    if has_suffix(path) {
        let text = header.bytes.get(..prefix_length(&header.bytes).unwrap_or(0));
        let text = decode_text(text.unwrap_or_default(), &path.display().to_string())?;
        let refused = cells_refused((&text, codec), numbering, making, path, workplace)?;
        let Some(why) = refused else {
            drop(numbers);
            write_cells(
                (&text, format, values),
                making.behind.as_deref(),
                path,
                (workplace, pages),
            )?;
            return Ok(counts);
        };
        if !why.is_empty() || workplace.wants_cells && space.pieces().len() > 2 {
            let why = if why.is_empty() { NO_ENDING } else { &why };
            progress.notice(&format!("{}: stored by index, {why}", path.display()));
        }
    }

    let file = TableContents {
        storage: Arc::clone(&workplace.storage),
        path,
        header: &header.bytes,
        structures: numbering.structures.as_ref(),
        codec,
        entries: space.size(),
        compression: workplace.compression,
        memory: pages.map(|_| COMPRESSING),
        stop: workplace.stop.clone(),
    };
    file.write(|writer| {
        match &numbers {
            Numbers::Memory(Distances::Narrow(numbers)) => writer.push(numbers)?,
            Numbers::Memory(Distances::Wide(numbers)) => writer.push(numbers)?,
            Numbers::Pages(numbers) => numbers.for_each(|chunk| writer.push(chunk))?,
            Numbers::Stretches(numbers) => numbers.for_each(|chunk| writer.push(chunk))?,
        }
        // What could not be read back from there was taken for zeros.
        pages.map_or(Ok(()), |pages| pages.check()).map_err(SolveError::Pages)?;
        Ok::<_, RunError>(())
    })?;
    Ok(counts)
}

/// What the header of a file says besides its control file.
fn header_edits(
    numbering: &Numbering,
    making: &Making,
    format: Format,
    counts: &IndexCounts,
) -> HeaderEdits {
    HeaderEdits {
        index: Some(numbering.space.index_type()),
        symmetry: numbering.symmetry,
        format: Some(format),
        tablebase_statistics: statistics(format, counts),
        generation_statistics: Some(generation(making, format)),
        pawngen: numbering.pawngen_edits(),
        instruction: (!making.instruction.is_empty()).then(|| making.instruction.clone()),
        ..HeaderEdits::default()
    }
}

/// Why a table is stored by index whatever profile is asked for.
const NO_ENDING: &str = "as what is no complete ending, whatever profile is asked for";

/// Why a table is not stored in cells, with nothing more to say of what is no complete ending; none
/// if it is.
fn cells_refused(
    (header, codec): (&str, EntryCodec),
    numbering: &Numbering,
    making: &Making,
    path: &Path,
    workplace: &Workplace,
) -> Result<Option<String>, RunError> {
    // What its values prove stands in the header.
    let header = ControlFile::parse(header, &path.display().to_string(), Strictness::Header)?;
    if !has_cells(&header, &numbering.space, codec.format()) {
        return Ok(Some(String::new()));
    }
    if making.behind.is_some() {
        return Ok(None);
    }
    let men = numbering.pieces().iter().map(|piece| (piece.color, piece.role));
    let outcomes = !codec.format().has_distance();
    let kind = (Profile::Fast, outcomes);
    let beside = expect_beside(path, &Material::from_men(men), kind, workplace.source_options());
    Ok(beside.err().map(|problem| format!("since {problem}")))
}

/// Writes the cells of a complete ending, which the encoder compares with the values.
fn write_cells(
    (header, format, values): (&str, Format, &TableValues),
    behind: Option<&[Arc<TableValues>]>,
    path: &Path,
    (workplace, pages): (&Workplace, Option<&Arc<Pages>>),
) -> Result<(), RunError> {
    let CellStreams { profile, content } = workplace.streams;
    // Nothing is known of the tables behind what was made by a control file, or joined.
    let profile = if behind.is_some() { profile } else { Profile::Fast };
    let file = CellFile {
        storage: Arc::clone(&workplace.storage),
        path,
        header,
        values,
        behind: behind.into_iter().flatten().map(|table| &**table).collect(),
        streams: CellStreams { profile, content: content.within(format) },
        stop: workplace.stop.clone(),
    };
    let sound = || pages.map_or(Ok(()), |pages| pages.check()).map_err(SolveError::Pages);
    let written = file.write(|_| {
        sound()?;
        Ok::<_, RunError>(true)
    });
    // What could not be read back from there was taken for zeros, which the encoder wonders at.
    sound()?;
    written.map(drop)
}

/// The format of a table, its width written out. Where the width that is asked for is too small the
/// table gets a wider one and that is said: what is solved is not thrown away for the width of a
/// field.
fn fitting_format(
    control: &ControlFile,
    counts: &IndexCounts,
    progress: &dyn Progress,
) -> Result<(Format, u8), EntryError> {
    let fitting = |requested| {
        let of = |requested| width(requested, counts.max_stored, counts.min_stored);
        match of(requested) {
            Err(EntryError::TooNarrow { requested, needed }) => {
                progress.notice(&format!(
                    "{}: distances need {needed} bits, and {requested} are asked for; the table has {needed}",
                    control.origin
                ));
                of(None)
            }
            fitting => fitting,
        }
    };

    Ok(match control.entry_format() {
        Format::Dtm(requested) => {
            let bits = fitting(requested)?;
            (Format::Dtm(Some(bits)), bits)
        }
        Format::Dtc(requested) => {
            let bits = fitting(requested)?;
            (Format::Dtc(Some(bits)), bits)
        }
        Format::Basic => (Format::Basic, 2),
        flag @ Format::Flag(_) => (flag, 1),
    })
}

/// The entries of a table that are to be made.
struct WantedEntries<'a> {
    space: &'a IndexSpace,
    values: &'a TableValues,
    format: Format,
    /// Whether they are not written, as far as is known.
    only_counted: bool,
}

impl<'a> WantedEntries<'a> {
    /// The entries, and what is counted of them.
    fn encoded(
        self,
        pages: Option<&Arc<Pages>>,
        stop: &Stop,
    ) -> Result<(Numbers<'a>, IndexCounts), RowsError> {
        let WantedEntries { space, values, format, only_counted } = self;
        let in_memory = pages.is_none();
        if (only_counted || in_memory && !format.has_distance())
            && let Some((stretches, counts)) =
                Stretches::new(space, values, format, (!in_memory, stop))?
        {
            return Ok((Numbers::Stretches(stretches), counts));
        }
        if let Some(pages) = pages {
            let (distances, counts) = encode_in(space, values, format, pages, stop)?;
            return Ok((Numbers::Pages(distances), counts));
        }
        let (distances, counts) = encode(space, values, format, stop)?;
        Ok((Numbers::Memory(distances), counts))
    }
}

/// The statistics elements of a format, in the original's order.
fn statistics(format: Format, counts: &IndexCounts) -> Vec<(String, i64)> {
    let mut all = vec![
        ("indices", counts.indices as i64),
        ("PNTM-mated-positions", counts.pntm_mated as i64),
        ("legal-positions", counts.legal as i64),
    ];
    if let Some(moves) = counts.moves {
        all.push(("stalemate-positions", moves.stalemates as i64));
    }
    match format {
        Format::Dtm(_) | Format::Basic => {
            all.push(("white-wins-positions", counts.white_wins as i64));
            all.push(("black-wins-positions", counts.black_wins as i64));
        }
        Format::Dtc(_) => {}
        Format::Flag(FlagType::WhiteWins) => {
            all.push(("white-wins-positions", counts.white_wins as i64));
        }
        Format::Flag(FlagType::WhiteDraws) => {
            // The original has an element of its own here, which its document type does not know.
            all.push(("black-wins-positions", counts.black_wins as i64));
        }
    }

    if let Some(moves) = counts.moves {
        all.push(("forward-moves", moves.moves as i64));
        all.push(("futuremoves", moves.futuremoves as i64));
    }

    if matches!(format, Format::Dtm(_)) {
        all.push(("max-dtm", i64::from(counts.max_stored)));
        all.push(("min-dtm", i64::from(counts.min_stored)));
    }
    all.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
}

/// Who made the table; the numbers that passes settle are those of the format.
fn generation(making: &Making, format: Format) -> GenerationStatistics {
    let program = format!("Hoffman {} (Rust)", env!("CARGO_PKG_VERSION"));
    if making.reproducible {
        // The elements are there all the same: version 1.7 wants each of them.
        return GenerationStatistics { program, ..GenerationStatistics::default() };
    }

    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let usage = usage();
    let pass = |(&(moves, lost), &(positions, real_time)): (&(u16, bool), &(u64, Duration))| {
        let number = i32::from(moves) + 1;
        PassStatistics {
            pass_type: "intratable".to_owned(),
            real_time,
            dtm: format.has_distance().then_some(if lost { -number } else { number }),
            positions_finalized: Some(positions),
            ..PassStatistics::default()
        }
    };

    let passes = making.passes.iter().map(pass).collect();
    GenerationStatistics {
        host: host.trim().to_owned(),
        program,
        args: making.args.chars().take(255).collect(),
        start_time: timestamp(making.began),
        completion_time: timestamp(SystemTime::now()),
        user_time: usage.user,
        system_time: usage.system,
        real_time: making.began.elapsed().unwrap_or_default(),
        page_faults: usage.major_faults,
        page_reclaims: usage.minor_faults,
        passes,
    }
}

#[derive(Default)]
struct Usage {
    user: Duration,
    system: Duration,
    minor_faults: u64,
    major_faults: u64,
}

/// What the process has used so far; zeros where the system does not say.
fn usage() -> Usage {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return Usage::default() };
    // The fields behind the name, which is in brackets and may hold anything.
    let Some((_, rest)) = stat.rsplit_once(')') else { return Usage::default() };
    let fields: Vec<u64> =
        rest.split_whitespace().skip(1).map(|f| f.parse().unwrap_or(0)).collect();
    let field = |n: usize| fields.get(n).copied().unwrap_or(0);
    // Ticks are hundredths of a second on Linux.
    let ticks = |n: u64| Duration::from_millis(n * 10);
    Usage {
        minor_faults: field(6),
        major_faults: field(8),
        user: ticks(field(10)),
        system: ticks(field(11)),
    }
}

/// `Sat Nov 21 21:48:03 2026 UTC`.
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let days = (seconds / 86400) as i64;
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    // Civil date from day number, after Howard Hinnant's "chrono-compatible low-level date
    // algorithms".
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z - era * 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = months[(month - 1) as usize];
    let (h, m, s) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{weekday} {name} {day:2} {h:02}:{m:02}:{s:02} {year} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        let at = |s| timestamp(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "Thu Jan  1 00:00:00 1970 UTC");
        assert_eq!(at(1_795_297_683), "Sat Nov 21 21:48:03 2026 UTC");
        assert_eq!(at(951_782_400), "Tue Feb 29 00:00:00 2000 UTC");
    }
}
