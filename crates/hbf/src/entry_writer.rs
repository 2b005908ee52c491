//! Whole files of entries, written.

use std::io::{Cursor, Seek, Write};

use crate::container::{DIRY, MODL, STRM, TABL, TILES, pack_block};
use crate::encode::{BlockRows, EncodeError, STREAM_SECTIONS, Texts};
use crate::entries::{self, EntryModel};
use crate::header::{Mode, StreamHeader, StreamKind, TableInfo};
use crate::output::OutputFile;
use crate::workers::{Crew, in_order};

/// What a table of entries holds.
#[derive(Debug)]
pub struct EntryTable<'a> {
    /// What it is; its mode is generic.
    pub info: TableInfo,
    /// The header of the `.htb`, its pawn table, and a text.
    pub texts: Texts<'a>,
    /// A tile has `2^log` entries.
    pub log: u8,
}

/// Blocks that are collected for each thread before all get to work.
const BATCH: usize = 2;

/// Every so many-th tile of the first block is one that the model is chosen from: those are the
/// same for any number of threads.
const SAMPLED: usize = 8;

/// Takes the entries of a table in order, and writes them as a file. Each tile is decoded again and
/// compared before it is written. [`EntryWriter::finish`] has to be called, else the file is of no
/// use.
#[derive(Debug)]
pub struct EntryWriter<'a, W> {
    log: u8,
    crew: Crew<'a>,
    /// Blocks that are encoded together.
    batch: usize,
    entries: u64,
    bits: u8,
    output: OutputFile<W>,
    /// Chosen when the first entries are encoded.
    model: Option<EntryModel>,
    pending: Vec<u16>,
    directory: BlockRows,
    taken: u64,
}

/// A tile, encoded, decoded again and compared.
fn encode_tile(
    model: &EntryModel,
    bits: u8,
    number: u64,
    tile: &[u16],
) -> Result<Vec<u8>, EncodeError> {
    let bytes = entries::encode(model, bits, tile);
    let mut back = vec![0; tile.len()];
    entries::decode(model, bits, &bytes, &mut back);
    if back == tile { Ok(bytes) } else { Err(EncodeError::Disagrees(number)) }
}

impl<'a, W: Write + Seek> EntryWriter<'a, W> {
    /// Begins a file where `out` is.
    ///
    /// # Errors
    /// The table is none of entries, or the output cannot be written.
    pub fn new(
        table: &EntryTable<'_>,
        crew: Crew<'a>,
        out: W,
    ) -> Result<EntryWriter<'a, W>, EncodeError> {
        let Mode::Generic { entries, bits } = table.info.mode else {
            return Err(EncodeError::Entries("a table of cells is none of entries"));
        };
        if !(6..=16).contains(&table.log) || !(1..=16).contains(&bits) {
            return Err(EncodeError::Entries("tiles have 2^6 to 2^16 entries of 1 to 16 bits"));
        }
        let sections = 1 + table.texts.count() + STREAM_SECTIONS;
        let mut output = OutputFile::new(out, sections)?;
        output.section(TABL, 0, &table.info.to_bytes())?;
        table.texts.write(&mut output)?;
        Ok(EntryWriter {
            log: table.log,
            crew,
            batch: BATCH * crew.workers.threads(),
            entries,
            bits,
            output,
            model: None,
            pending: Vec::new(),
            directory: BlockRows::default(),
            taken: 0,
        })
    }

    /// Collects so many blocks before the threads get to work: fewer need less memory.
    pub fn set_batch(&mut self, blocks: usize) {
        self.batch = blocks.max(1);
    }

    /// Takes the next entries, as many as there are.
    ///
    /// # Errors
    /// They have too many bits, the output cannot be written, or the caller asked to stop.
    pub fn push(&mut self, mut entries: &[u16]) -> Result<(), EncodeError> {
        if entries.iter().any(|&entry| u32::from(entry) >= 1 << self.bits) {
            return Err(EncodeError::Entries("an entry has more bits than the table says"));
        }
        let batch = ((TILES << self.log) as usize).saturating_mul(self.batch);
        while !entries.is_empty() {
            let (now, later) = entries.split_at(entries.len().min(batch - self.pending.len()));
            self.pending.extend_from_slice(now);
            entries = later;
            if self.pending.len() == batch {
                self.encode()?;
            }
        }
        Ok(())
    }

    /// Encodes what was collected: whole blocks, but for the last one.
    fn encode(&mut self) -> Result<(), EncodeError> {
        let pending = std::mem::take(&mut self.pending);
        let size = 1 << self.log;
        let tiles: Vec<&[u16]> = pending.chunks(size).collect();
        let model = self.model.get_or_insert_with(|| {
            let first = tiles.iter().take(TILES as usize).step_by(SAMPLED);
            let sample: Vec<u16> = first.copied().flatten().copied().collect();
            EntryModel::choose(&sample)
        });

        let (bits, first) = (self.bits, self.taken / size as u64);
        let blocks: Vec<&[&[u16]]> = tiles.chunks(TILES as usize).collect();
        let make = |block: u64| {
            let tiles = (first + block * TILES..).zip(blocks[block as usize]);
            let tiles = tiles.map(|(number, tile)| encode_tile(model, bits, number, tile));
            Ok::<_, EncodeError>(pack_block(&tiles.collect::<Result<Vec<_>, _>>()?))
        };
        let (directory, output) = (&mut self.directory, &mut self.output);
        in_order(self.crew, blocks.len() as u64, make, |block| {
            directory.add(&block);
            Ok(output.bytes(&block)?)
        })?;

        self.taken += pending.len() as u64;
        self.crew.watch.done(self.taken, self.entries);
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    /// Writes what is left; returns the output, its position behind the file.
    ///
    /// # Errors
    /// There were more or fewer entries than the table has, or the output cannot be written.
    pub fn finish(mut self) -> Result<W, EncodeError> {
        if !self.pending.is_empty() {
            self.encode()?;
        }
        if self.taken != self.entries {
            return Err(EncodeError::Entries("not as many entries as the table has"));
        }
        self.output.end_data(0);
        let log = self.log;
        let header =
            StreamHeader::new(StreamKind::Entries { log }, self.entries.div_ceil(1 << log), &[]);
        self.output.section(STRM, 0, &header.to_bytes())?;
        let model = self.model.unwrap_or_else(|| EntryModel::choose(&[]));
        self.output.section(MODL, 0, &model.to_bytes())?;
        self.output.section(DIRY, 0, &self.directory.finish().0)?;
        Ok(self.output.finish()?)
    }
}

/// Writes a table of entries into memory. `read` fills a buffer with the entries from one on.
///
/// # Errors
/// Those of `read` and of [`EntryWriter`].
pub fn encode_entries(
    table: &EntryTable<'_>,
    read: impl Fn(u64, &mut [u16]) -> Result<(), EncodeError>,
    crew: Crew<'_>,
) -> Result<Vec<u8>, EncodeError> {
    let mut writer = EntryWriter::new(table, crew, Cursor::new(Vec::new()))?;
    let mut buffer = vec![0; 1 << 20];
    for first in (0..writer.entries).step_by(1 << 20) {
        let part = buffer.len().min((writer.entries - first) as usize);
        read(first, &mut buffer[..part])?;
        writer.push(&buffer[..part])?;
    }
    Ok(writer.finish()?.into_inner())
}
