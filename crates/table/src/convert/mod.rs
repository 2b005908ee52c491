//! A table rewritten with another index type, symmetry or entry format.
//!
//! The new file is made in the order of its own indices: each index is decoded, and the entry of
//! that position is looked up in the old table. What the header says about indices and entries is
//! counted anew; who made the table, its prunes and its futurebases stay as they are, since the
//! values do.

mod by_rows;
mod contained;
mod entries;
mod error;
mod formats;
mod header;
mod moves;
mod tally;

use std::path::Path;

use hoffman_board::{Format, ListedPiece, PieceList};
use hoffman_control::{
    ControlFile, IndexDeclaration, IndexType, PawnMasks, decode_text, prefix_length,
    resolve_pieces_with,
};
use hoffman_store::files;

use crate::blocks::{CellFile, CellStreams, Content, has_cells, has_suffix};
use crate::entries::{EntryCodec, EntryError, Number};
use crate::htb::Compression;
use crate::index::{IndexParams, IndexSpace};
use crate::reader::Table;
use crate::rows::{Distances, Wanted};
use crate::writer::{TableContents, TableWriter};

use by_rows::by_rows;
use entries::{EntryConversion, OldEntries, images};
pub use error::ConvertError;
use formats::{check_formats, final_codec, widest_codec};
use header::header;
use tally::{IndexTally, Recount};

/// Indices worked on at once: a multiple of eight.
const CHUNK: u64 = 1 << 20;

/// What a table is to become. What is left out stays as it is.
pub struct ConvertTarget<'a> {
    /// The index type.
    pub index: Option<IndexType>,
    /// The symmetry: 1, 2, 4 or 8. Left out: that of the table, or 4 if the index type has no 8.
    pub symmetry: Option<u8>,
    /// The entry format, and the width of distances if it is to be more than needed.
    pub format: Option<Format>,
    /// Whether restricted men may be given a symmetry above 1, if their squares have it. The
    /// original program does not read such tables.
    pub restricted_symmetry: bool,
    /// How many bytes of packed entries of the old table may be held in memory. If there are more,
    /// blocks of the file are inflated as they are needed, which takes much longer.
    pub memory: u64,
    /// How small the file is to be.
    pub compression: Compression,
    /// What a file of a complete ending in the block format has; a small one leans on the tables
    /// behind it, which are looked for beside the table, and are needed beside the target. With the
    /// format [`Format::Basic`] it has outcomes alone.
    pub streams: CellStreams,
    /// Told how many indices are done, of how many; each index counts twice.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl Default for ConvertTarget<'_> {
    /// Nothing changes; 4 GiB of memory.
    fn default() -> Self {
        ConvertTarget {
            index: None,
            symmetry: None,
            format: None,
            restricted_symmetry: false,
            memory: 4 << 30,
            compression: Compression::default(),
            streams: CellStreams::default(),
            progress: None,
        }
    }
}

/// A table that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Its index type.
    pub index_type: IndexType,
    /// Its symmetry.
    pub symmetry: u8,
    /// Its format, with the width of distances.
    pub format: Format,
    /// How many indices it has.
    pub indices: u64,
    /// How many positions: indices that decode, check or no check.
    pub positions: u64,
    /// How many bytes its file has.
    pub bytes: u64,
    /// What its users should know.
    pub notices: Vec<String>,
}

/// Writes a table anew to `target`, which gets its name when it is complete. A target whose name
/// ends in `.hbf` is written in the block format. If nothing else is to change than the container,
/// header and entries stay as they are.
///
/// # Errors
/// The new index or format cannot hold what the table says, the table is damaged or lacks
/// positions, the file cannot be written.
pub fn convert(
    table: &Table,
    target: &Path,
    options: &ConvertTarget<'_>,
) -> Result<Converted, ConvertError> {
    let path = || table.path().to_owned();
    let wanted = options.format.unwrap_or_else(|| table.codec().format());
    if options.streams.content == Content::Both && !wanted.has_distance() {
        let why = "it is to have no distances".to_owned();
        return Err(ConvertError::NoCells { path: path(), why });
    }
    if contained::is_wanted(table, target, options) {
        return contained::convert(table, target, options);
    }
    check_formats(table.codec().format(), wanted)
        .map_err(|reason| ConvertError::Format { path: path(), reason })?;
    let space = index_space(table, wanted, options)?;
    let mut conversion = Conversion { table, target, options, space, wanted, is_of_cells: false };
    let remark = conversion.look_for_cells()?;
    let (codec, tally) = match by_rows(table, &conversion.space, wanted, options.memory)? {
        Some((numbers, tally)) => conversion.write_rows(&numbers, tally)?,
        None => conversion.write_entries()?,
    };
    Ok(Converted {
        index_type: conversion.space.index_type(),
        symmetry: conversion.space.symmetry(),
        format: codec.format(),
        indices: conversion.space.size(),
        positions: tally.positions,
        bytes: files().info(target).map_or(0, |file| file.len),
        notices: notices(&conversion.space).into_iter().chain(remark).collect(),
    })
}

/// A table to be written anew.
struct Conversion<'a> {
    table: &'a Table,
    target: &'a Path,
    options: &'a ConvertTarget<'a>,
    /// That of the new table.
    space: IndexSpace,
    wanted: Format,
    /// Whether who wins is stored in the cells of a file in the block format.
    is_of_cells: bool,
}

impl Conversion<'_> {
    /// Reading the old entries is half of the work, writing the new ones the other half.
    fn progress(&self, done: u64) {
        if let Some(report) = self.options.progress {
            report(done, self.space.size().saturating_mul(2));
        }
    }

    fn width(&self, source: EntryError) -> ConvertError {
        ConvertError::Width { path: self.table.path().to_owned(), source }
    }

    fn codec(&self, tally: &IndexTally) -> Result<EntryCodec, ConvertError> {
        let asked = self.options.format.is_some();
        final_codec(self.table, self.wanted, asked, tally).map_err(|source| self.width(source))
    }

    /// From numbers that are all in memory.
    fn write_rows(
        &self,
        numbers: &Distances,
        tally: IndexTally,
    ) -> Result<(EntryCodec, IndexTally), ConvertError> {
        let codec = self.codec(&tally)?;
        self.progress(self.space.size());
        let recount = Recount::new(self.table, &self.space);
        self.write(codec, recount, &tally, &|writer, progress| {
            push_distances(writer, numbers, progress)
        })?;
        Ok((codec, tally))
    }

    /// Entry by entry: once to count, and once more to write.
    fn write_entries(&self) -> Result<(EntryCodec, IndexTally), ConvertError> {
        let (table, space) = (self.table, &self.space);
        let source = OldEntries::of(table, self.options.memory)?;
        let recount = Recount::new(table, space);
        let codec = widest_codec(self.wanted, table.variant()).map_err(|e| self.width(e))?;
        let images = images(table.space(), space);
        let work = EntryConversion { table, source: &source, space, codec, recount, images };
        let chunks = || {
            let firsts = (0..space.size()).step_by(CHUNK as usize);
            firsts.map(|first| first..(first + CHUNK).min(space.size()))
        };

        let mut tally = IndexTally::default();
        for chunk in chunks() {
            table.check_stop()?;
            tally = tally.with(&work.count(chunk.clone())?);
            self.progress(chunk.end);
        }
        let codec = self.codec(&tally)?;
        self.write(codec, recount, &tally, &|writer, progress| {
            for chunk in chunks() {
                table.check_stop()?;
                writer.push(&work.numbers(chunk.clone())?)?;
                progress(chunk.end);
            }
            Ok(())
        })?;
        Ok((codec, tally))
    }

    fn write(
        &self,
        codec: EntryCodec,
        recount: Recount,
        tally: &IndexTally,
        fill: &Fill<'_>,
    ) -> Result<(), ConvertError> {
        let header = header(self.table, &self.space, codec, recount, tally)?;
        if self.is_of_cells {
            return self.write_cells(&header);
        }
        let file = TableContents {
            storage: files(),
            path: self.target,
            header: &header,
            structures: self.table.pawn_structures(),
            codec,
            entries: self.space.size(),
            compression: self.options.compression,
            memory: Some(self.options.memory),
            stop: self.table.stop().clone(),
        };
        let size = self.space.size();
        file.write(|writer| fill(writer, &|done| self.progress(size + done)))
    }
}

impl Conversion<'_> {
    /// Finds out whether the new table is one of cells; a remark if it might be and is not.
    fn look_for_cells(&mut self) -> Result<Option<String>, ConvertError> {
        let (table, options) = (self.table, self.options);
        let codec = widest_codec(self.wanted, table.variant()).map_err(|e| self.width(e))?;
        let is_eligible = self.wanted == Format::Basic
            && has_suffix(self.target)
            && has_cells(table.control(), &self.space, codec.format());
        if !is_eligible {
            contained::cells_only(table, options, contained::NO_CELLS.to_owned())?;
            return Ok(None);
        }
        let refused = contained::refusal(table, self.target, options, true);
        self.is_of_cells = refused.is_none();
        refused.clone().map_or(Ok(()), |why| contained::cells_only(table, options, why))?;
        Ok(refused.map(|why| format!("the entries are stored by index: {why}")))
    }

    /// Writes them, which the encoder compares with the values of the old table.
    fn write_cells(&self, header: &[u8]) -> Result<(), ConvertError> {
        let stop = self.table.stop().clone();
        let text = header.get(..prefix_length(header).unwrap_or(0)).unwrap_or_default();
        let text = decode_text(text, &self.target.display().to_string())?;
        let values = self.table.exact_values(&Wanted::all(), &stop)?;
        let behind = contained::behind_if_it_leans(self.table, self.options, true)?;
        let file = CellFile {
            storage: files(),
            path: self.target,
            header: &text,
            values: &values,
            behind: behind.iter().map(|table| &**table).collect(),
            streams: CellStreams { content: Content::Outcomes, ..self.options.streams },
            stop,
        };
        file.write(|_| Ok::<_, ConvertError>(true))?;
        Ok(())
    }
}

/// Hands all numbers of a table to a writer, and tells how many it has handed over.
type Fill<'f> = dyn Fn(&mut TableWriter<'_>, &dyn Fn(u64)) -> Result<(), ConvertError> + 'f;

fn push_distances(
    writer: &mut TableWriter<'_>,
    numbers: &Distances,
    progress: &dyn Fn(u64),
) -> Result<(), ConvertError> {
    match numbers {
        Distances::Narrow(numbers) => push_all(writer, numbers, progress),
        Distances::Wide(numbers) => push_all(writer, numbers, progress),
    }
}

fn push_all<N: Number>(
    writer: &mut TableWriter<'_>,
    numbers: &[N],
    progress: &dyn Fn(u64),
) -> Result<(), ConvertError> {
    let mut done = 0;
    for numbers in numbers.chunks(CHUNK as usize) {
        writer.push(numbers)?;
        done += numbers.len() as u64;
        progress(done);
    }
    Ok(())
}

fn is_restricted(pieces: &PieceList) -> bool {
    pieces.iter().any(ListedPiece::is_restricted)
}

/// The index of the new table.
fn index_space(
    table: &Table,
    format: Format,
    options: &ConvertTarget<'_>,
) -> Result<IndexSpace, ConvertError> {
    let old = table.space();
    let index_type = options.index.unwrap_or(old.index_type());
    let usual = if index_type.is_naive() { old.symmetry().min(4) } else { old.symmetry() };
    let symmetry = options.symmetry.unwrap_or(usual);

    // Frozen men and groups are found in the order in which the index type numbers the men.
    let mut control = table.control().clone();
    control.index = Some(IndexDeclaration {
        index_type,
        written: index_type.name().to_owned(),
        symmetry: Some(symmetry),
        on_root: false,
        place: control.root,
    });

    let pieces = resolve_pieces_with(&control, masks(&control))?;
    let restricted = is_restricted(&pieces);
    let new = IndexSpace::new(IndexParams {
        index_type,
        symmetry,
        variant: table.variant(),
        format_is_flag: matches!(format, Format::Flag(_)),
        pieces,
        pawn_structures: table.pawn_structures().cloned(),
    });

    let new = new.and_then(|space| space.check_writable().map(|()| space));
    let new =
        new.map_err(|source| ConvertError::Index { path: table.path().to_owned(), source })?;
    if restricted && symmetry > 1 && !options.restricted_symmetry {
        return Err(ConvertError::RestrictedSymmetry { path: table.path().to_owned(), symmetry });
    }
    Ok(new)
}

/// The squares of the pawns of a pawngen element, from the header.
fn masks(control: &ControlFile) -> Option<PawnMasks> {
    let pawngen = control.pawngen.as_ref()?;
    Some(PawnMasks { white: pawngen.white.legal?, black: pawngen.black.legal? })
}

fn notices(space: &IndexSpace) -> Vec<String> {
    let mut notices = Vec::new();
    if is_restricted(space.pieces()) && space.symmetry() > 1 {
        notices.push(format!(
            "the pieces are restricted and the symmetry is {}: the original program cannot read this table",
            space.symmetry()
        ));
    }
    notices
}

#[cfg(test)]
mod tests;
