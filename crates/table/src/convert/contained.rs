//! The same table in the other container: between `.htb` and `.hbf` nothing but that changes.

use std::path::Path;
use std::sync::Arc;

use hoffman_board::Material;
use hoffman_control::decode_text;
use hoffman_space::TableValues;
use hoffman_store::files;
use rayon::prelude::*;

use super::by_rows::BYTES;
use super::{CHUNK, ConvertError, ConvertTarget, Converted, push_distances};
use crate::blocks::{CellFile, CellStreams, expect_beside, has_cells, has_suffix, values_behind};
use crate::entries::Number;
use crate::htb::{HtbError, SourceOptions};
use crate::reader::{Table, TableError, TableProblem};
use crate::rows::{Distances, Wanted, encode};
use crate::writer::{TableContents, WriteError, WriteProblem};

/// Whether nothing but the container is to change.
pub(super) fn is_wanted(table: &Table, target: &Path, options: &ConvertTarget<'_>) -> bool {
    let stays = options.index.is_none() && options.symmetry.is_none() && options.format.is_none();
    stays && (has_suffix(target) || table.is_of_blocks())
}

/// Writes a table with the same header and the same entries.
pub(super) fn convert(
    table: &Table,
    target: &Path,
    options: &ConvertTarget<'_>,
) -> Result<Converted, ConvertError> {
    let mut notices = Vec::new();
    let eligible =
        has_suffix(target) && has_cells(table.control(), table.space(), table.codec().format());
    let written = eligible && {
        let refused = as_cells(table, target, options)?;
        refused.clone().map_or(Ok(()), |why| cells_only(table, options, why))?;
        notices.extend(refused.map(|why| format!("the entries are stored by index: {why}")));
        notices.is_empty()
    };
    if !written {
        cells_only(table, options, NO_CELLS.to_owned())?;
        by_entries(table, target, options)?;
    }
    Ok(Converted {
        index_type: table.space().index_type(),
        symmetry: table.space().symmetry(),
        format: table.codec().format(),
        indices: table.space().size(),
        positions: positions(table),
        bytes: files().info(target).map_or(0, |file| file.len),
        notices,
    })
}

/// Why most tables have no cells.
pub(super) const NO_CELLS: &str =
    "in the block format only complete endings with distances to mate, or who wins, can be";

/// Refuses what is not to be had if streams are asked for that only files of cells have.
pub(super) fn cells_only(
    table: &Table,
    options: &ConvertTarget<'_>,
    why: String,
) -> Result<(), ConvertError> {
    if !options.streams.needs_cells() {
        return Ok(());
    }
    Err(ConvertError::NoCells { path: table.path().to_owned(), why })
}

/// Writes the cells of a complete ending. If not every entry follows from them, nothing is written
/// and the reason returned.
fn as_cells(
    table: &Table,
    target: &Path,
    options: &ConvertTarget<'_>,
) -> Result<Option<String>, ConvertError> {
    let outcomes = !table.codec().format().has_distance();
    if let Some(why) = refusal(table, target, options, outcomes) {
        return Ok(Some(why));
    }
    let stop = table.stop().clone();
    let values = match table.exact_values(&Wanted::all(), &stop) {
        Ok(values) => values,
        Err(TableError { problem: TableProblem::Rows(problem), .. }) => {
            table.check_stop()?;
            return Ok(Some(problem.to_string()));
        }
        Err(error) => return Err(error.into()),
    };

    let behind = behind_if_it_leans(table, options, outcomes)?;
    let content = options.streams.content.within(table.codec().format());
    let header = table.control().text();
    let file = CellFile {
        storage: files(),
        path: target,
        header,
        values: &values,
        behind: behind.iter().map(|table| &**table).collect(),
        streams: CellStreams { content, ..options.streams },
        stop: stop.clone(),
    };

    let mut unlike = None;
    let written = file.write(|written| {
        unlike = difference((table, &values), written, options)?;
        Ok::<_, ConvertError>(unlike.is_none())
    });

    match written {
        Ok(_) => Ok(unlike),
        Err(ConvertError::Write(WriteError { problem: WriteProblem::Blocks(problem), .. })) => {
            Ok(Some(problem.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// Why the values of a complete ending, or its outcomes alone, cannot be put into cells.
pub(super) fn refusal(
    table: &Table,
    target: &Path,
    options: &ConvertTarget<'_>,
    outcomes: bool,
) -> Option<String> {
    // The entries, the values, and what they are compared with.
    if table.codec().area_bytes(table.space().size()).saturating_mul(4) > options.memory {
        return Some("there is too little memory for the values of all positions".to_owned());
    }
    let men = table.pieces().iter().map(|piece| (piece.color, piece.role));
    let kind = (options.streams.profile, outcomes);
    let beside = expect_beside(target, &Material::from_men(men), kind, SourceOptions::default());
    beside.err().map(|problem| problem.to_string())
}

/// The values of the tables that the new file leans on, none if it answers alone.
pub(super) fn behind_if_it_leans(
    table: &Table,
    options: &ConvertTarget<'_>,
    outcomes: bool,
) -> Result<Vec<Arc<TableValues>>, ConvertError> {
    if !options.streams.profile.leans() {
        return Ok(Vec::new());
    }
    let behind = values_behind(table, outcomes, options.memory);
    Ok(behind.map_err(|problem| table.error(problem))?)
}

/// Why the new file does not have the entries of the table, if it does not. The encoder has
/// compared its cells with the values; here all entries are compared with what follows from the
/// values, and some with those of the file.
fn difference(
    (table, values): (&Table, &TableValues),
    written: &Table,
    options: &ConvertTarget<'_>,
) -> Result<Option<String>, ConvertError> {
    let (space, codec) = (table.space(), table.codec());
    // One bit does not tell positions that are not legal from draws, so what the entries say
    // follows from no values.
    let all = codec.bits() == 1;
    let same = all
        || table.is_of_cells()
        || match encode(space, values, codec.format(), table.stop()) {
            Ok((Distances::Narrow(numbers), _)) => has_entries(table, &numbers, options)?,
            Ok((Distances::Wide(numbers), _)) => has_entries(table, &numbers, options)?,
            Err(problem) => {
                table.check_stop()?;
                return Ok(Some(problem.to_string()));
            }
        };
    let read = || {
        spots(space.size(), all).try_fold(true, |same, index| {
            Ok::<_, TableError>(same && written.entry(index)? == table.entry(index)?)
        })
    };
    match if same { read() } else { Ok(false) } {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some("not every entry is the value of its position".to_owned())),
        Err(error) if matches!(error.problem, TableProblem::Behind { .. }) => {
            Ok(Some(error.problem.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a table has these entries.
fn has_entries<T: Number>(
    table: &Table,
    computed: &[T],
    options: &ConvertTarget<'_>,
) -> Result<bool, ConvertError> {
    let (codec, size) = (table.codec(), computed.len() as u64);
    let bits = |entry: i32, at: usize| codec.bits_of(entry, at).ok();
    let mut own = vec![0_i32; COMPARED.min(computed.len())];
    for (computed, first) in computed.chunks(COMPARED).zip((0..size).step_by(COMPARED)) {
        let own = &mut own[..computed.len()];
        table.read_entries(first, own)?;
        let both = own.par_iter().zip(computed.par_iter()).enumerate();
        let same = both
            .map(|(at, (own, computed))| bits(own.to_entry(), at) == bits(computed.to_entry(), at));
        if !same.reduce(|| true, |one, other| one && other) {
            return Ok(false);
        }
        if let Some(report) = options.progress {
            report(first + computed.len() as u64, size);
        }
    }
    Ok(true)
}

/// Entries that are compared at a time.
const COMPARED: usize = 1 << 22;

/// All indices of so many, or some, spread evenly and side by side.
fn spots(size: u64, all: bool) -> impl Iterator<Item = u64> {
    const PLACES: u64 = 64;
    const EACH: u64 = 256;
    let step = if all { EACH } else { (size / PLACES).max(EACH) };
    (0..size).step_by(step as usize).flat_map(move |first| first..size.min(first + EACH))
}

/// Writes entry by entry.
fn by_entries(
    table: &Table,
    target: &Path,
    options: &ConvertTarget<'_>,
) -> Result<(), ConvertError> {
    let header = header_bytes(table)?;
    let entries = table.space().size();
    let progress = |done| options.progress.iter().for_each(|report| report(done, entries));
    let numbers = numbers_of_cells(table, options)?;
    let file = TableContents {
        storage: files(),
        path: target,
        header: &header,
        structures: table.pawn_structures(),
        codec: table.codec(),
        entries,
        compression: options.compression,
        memory: None,
        stop: table.stop().clone(),
    };

    file.write(|writer| {
        if let Some(numbers) = &numbers {
            return push_distances(writer, numbers, &progress);
        }

        // Several blocks at once keep all threads at work.
        let part = table.together().saturating_mul(4).max(CHUNK) / CHUNK * CHUNK;
        let mut numbers = vec![0_i32; part.min(entries) as usize];
        for first in (0..entries).step_by(part as usize) {
            table.check_stop()?;
            let count = part.min(entries - first);
            let numbers = &mut numbers[..count as usize];
            table.read_entries(first, numbers)?;
            writer.push(numbers)?;
            progress(first + count);
        }
        Ok(())
    })
}

/// The numbers of all entries of a table of cells, which are found by their indices many times
/// slower. None where there is too little memory, or the table is of another kind.
fn numbers_of_cells(
    table: &Table,
    options: &ConvertTarget<'_>,
) -> Result<Option<Distances>, ConvertError> {
    let bytes = table.space().size().saturating_mul(BYTES);
    if !table.is_of_cells() || bytes > options.memory {
        return Ok(None);
    }
    let stop = table.stop().clone();
    let values = match table.exact_values(&Wanted::all(), &stop) {
        Ok(values) => values,
        Err(TableError { problem: TableProblem::Rows(_), .. }) => {
            table.check_stop()?;
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let encoded = encode(table.space(), &values, table.codec().format(), &stop);
    table.check_stop()?;
    Ok(encoded.ok().map(|(numbers, _)| numbers))
}

/// The header as it stood before the entries, in its own encoding, with the zero bytes behind it.
fn header_bytes(table: &Table) -> Result<Vec<u8>, ConvertError> {
    let control = table.control();
    let text = control.text();
    let is_itself = |bytes: &[u8]| decode_text(bytes, "").is_ok_and(|decoded| decoded == text);
    let mut bytes = text.as_bytes().to_vec();
    if !is_itself(&bytes) {
        // Every letter of a header in Latin-1 is one.
        bytes = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect();
    }
    let end = control.pawngen.as_ref().map_or(control.offset, |pawngen| pawngen.offset);
    let end = usize::try_from(end).unwrap_or(usize::MAX);
    // Versions of the original count letters instead of bytes.
    let extra = text.len() - text.chars().count();
    let end = if bytes.len() > end { end.saturating_add(extra) } else { end };
    if bytes.len() > end || end > LONGEST || text.is_empty() {
        let problem = TableProblem::Container(HtbError::TooLong { limit: end as u64 });
        return Err(table.error(problem).into());
    }
    bytes.resize(end, 0);
    Ok(bytes)
}

/// No header is that long.
const LONGEST: usize = 1 << 26;

/// How many indices are positions.
fn positions(table: &Table) -> u64 {
    let said = |name: &str| {
        let number = table.control().statistics.get(name).copied();
        number.and_then(|number| u64::try_from(number).ok())
    };
    if let (Some(legal), Some(mated)) = (said("legal-positions"), said("PNTM-mated-positions")) {
        return legal.saturating_add(mated);
    }
    let indices = (0..table.space().size()).into_par_iter();
    indices.filter(|&index| table.space().decode(index).is_some()).count() as u64
}
