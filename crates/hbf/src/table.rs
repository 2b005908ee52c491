//! An open file.

use std::sync::OnceLock;

use crate::board::{Color, Position};
use crate::cells::{CellInTile, Space};
use crate::code::Code;
use crate::container::{
    Bytes, CTRL, DATA, DIRECTORY_ROW, DIRY, Directory, HbfError, INFO, MODL, PAWN, STRM, TABL,
    TILES, bad_section, number_at, tile_of_block, word_at,
};
use crate::entries::{self, EntryModel};
use crate::header::{Mode, StreamHeader, StreamKind, TableInfo};
use crate::model::{MAX_MODEL, Model};
use crate::rows::TileRows;
use crate::tile::{self, MAX_CELLS, Stream, TilePart};

/// The longest block that is read: 64 tiles of 4096 cells or 65536 entries never need more.
const MAX_BLOCK: u64 = 64 << 20;

/// What the tiles of a stream are decoded with.
#[derive(Debug)]
enum Decoding {
    Cells(Box<Model>),
    Entries(EntryModel),
}

/// What of a stream is read when it is asked for first.
#[derive(Debug)]
struct LoadedStream {
    decoding: Decoding,
    directory: Vec<u8>,
}

/// A stream of a file.
#[derive(Debug)]
pub(crate) struct OpenStream {
    number: u32,
    header: StreamHeader,
    data: (u64, u64),
    loaded: OnceLock<LoadedStream>,
}

/// Where a position stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// There.
    Cell(CellPlace),
    /// Only its other side to move is stored.
    OtherSide,
    /// It is of another ending, or has no such values.
    Nothing,
}

/// A cell of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlace {
    /// The number of the stream in the file.
    pub stream: u8,
    /// The tile.
    pub tile: u64,
    /// The cell in the tile.
    pub at: u16,
    /// Whether the code of the position may be larger than that of the cell, by a capture or a
    /// promotion.
    pub exits: bool,
}

/// A stream of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellStream {
    /// Its number in the file.
    pub number: u8,
    /// The side to move.
    pub turn: Color,
    /// See [`CellPlace::exits`].
    pub exits: bool,
    /// Whether it has outcomes only.
    pub outcomes: bool,
    /// How many blocks it has, of 64 tiles each; the last one may have fewer.
    pub blocks: u64,
    /// How many cells a tile has.
    pub tile_cells: usize,
}

thread_local! {
    /// Where this thread decodes.
    static ROWS: std::cell::RefCell<TileRows> = std::cell::RefCell::new(TileRows::new());
}

/// An open file. Answers about single tiles and entries; [`crate::Tablebase`] answers about
/// positions.
pub struct HbfFile {
    bytes: Box<dyn Bytes>,
    directory: Directory,
    info: TableInfo,
    streams: Vec<OpenStream>,
}

impl std::fmt::Debug for HbfFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HbfFile").field("info", &self.info).finish_non_exhaustive()
    }
}

impl HbfFile {
    /// Opens a file; only its headers are read.
    ///
    /// # Errors
    /// It is no such file, or its headers are damaged.
    pub fn open(bytes: Box<dyn Bytes>) -> Result<HbfFile, HbfError> {
        let directory = Directory::read(&*bytes)?;
        let table = directory.load(&*bytes, (TABL, 0), 1 << 16)?;
        let info = TableInfo::parse(&table).ok_or_else(|| bad_section(TABL))?;
        let mut streams: Vec<OpenStream> = Vec::new();
        for number in directory.streams() {
            let header = directory.load(&*bytes, (STRM, number), 1 << 16)?;
            let header = StreamHeader::parse(&header, &info).ok_or_else(|| bad_section(STRM))?;
            let data = directory.find(DATA, number).ok_or_else(|| bad_section(DATA))?;
            for name in [MODL, DIRY] {
                directory.find(name, number).ok_or_else(|| bad_section(name))?;
            }
            let is_new = streams.iter().all(|stream| stream.number != number);
            if number > 15 || !is_new {
                return Err(bad_section(STRM));
            }
            let data = (data.offset, data.length);
            streams.push(OpenStream { number, header, data, loaded: OnceLock::new() });
        }
        Ok(HbfFile { bytes, directory, info, streams })
    }

    /// What the table is.
    pub fn info(&self) -> &TableInfo {
        &self.info
    }

    /// The text for people, if there is one.
    ///
    /// # Errors
    /// Damage.
    pub fn description(&self) -> Result<Option<String>, HbfError> {
        self.text(INFO)
    }

    /// The header of a `.htb`, if there is one.
    ///
    /// # Errors
    /// Damage.
    pub fn control(&self) -> Result<Option<String>, HbfError> {
        self.text(CTRL)
    }

    fn text(&self, name: [u8; 4]) -> Result<Option<String>, HbfError> {
        let Some(content) = self.section(name)? else { return Ok(None) };
        String::from_utf8(content).map(Some).map_err(|_| bad_section(name))
    }

    /// The pawn table of a `.htb`, if there is one.
    ///
    /// # Errors
    /// Damage.
    pub fn pawn_table(&self) -> Result<Option<Vec<u8>>, HbfError> {
        self.section(PAWN)
    }

    fn section(&self, name: [u8; 4]) -> Result<Option<Vec<u8>>, HbfError> {
        match self.directory.find(name, 0) {
            None => Ok(None),
            Some(_) => self.directory.load(&*self.bytes, (name, 0), u64::MAX).map(Some),
        }
    }

    /// Compares every checksum.
    ///
    /// # Errors
    /// The first damage that is found; damaged blocks are named.
    pub fn check(&self) -> Result<(), HbfError> {
        for name in [INFO, CTRL, PAWN] {
            self.section(name)?;
        }
        for stream in &self.streams {
            for block in 0..stream.header.tiles.div_ceil(TILES) {
                self.block(stream, block)?;
            }
        }
        self.directory.check(&*self.bytes)
    }

    /// Bytes that differ where values do.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn fingerprint(&self) -> Result<Vec<u8>, HbfError> {
        self.directory.fingerprint(&*self.bytes)
    }

    pub(crate) fn streams(&self) -> &[OpenStream] {
        &self.streams
    }

    fn load<'a>(&self, stream: &'a OpenStream) -> Result<&'a LoadedStream, HbfError> {
        if let Some(loaded) = stream.loaded.get() {
            return Ok(loaded);
        }
        let section =
            |name, longest| self.directory.load(&*self.bytes, (name, stream.number), longest);
        let rows = stream.header.tiles.div_ceil(TILES) + 1;
        let expected = rows.saturating_mul(DIRECTORY_ROW as u64);
        let model = section(MODL, MAX_MODEL)?;
        let decoding = match &stream.header.kind {
            StreamKind::Cells { space, .. } => {
                let model = Model::parse(&model, space).ok_or_else(|| bad_section(MODL))?;
                Decoding::Cells(Box::new(model))
            }
            StreamKind::Entries { .. } => {
                Decoding::Entries(EntryModel::parse(&model).ok_or_else(|| bad_section(MODL))?)
            }
        };
        let directory = section(DIRY, expected)?;
        let last = directory.len().saturating_sub(DIRECTORY_ROW);
        if directory.len() as u64 != expected || number_at(&directory, last) != stream.data.1 {
            return Err(bad_section(DIRY));
        }
        Ok(stream.loaded.get_or_init(|| LoadedStream { decoding, directory }))
    }

    /// A block, compared with its checksum.
    fn block(&self, stream: &OpenStream, block: u64) -> Result<Vec<u8>, HbfError> {
        let loaded = self.load(stream)?;
        let at = block as usize * DIRECTORY_ROW;
        let row = loaded.directory.get(at..at + DIRECTORY_ROW + 8);
        let row = row.ok_or_else(|| bad_section(DIRY))?;
        let (start, end) = (number_at(row, 0), number_at(row, DIRECTORY_ROW));
        let (offset, length) = stream.data;
        if start > end || end > length || end - start > MAX_BLOCK {
            return Err(bad_section(DIRY));
        }
        let mut content = vec![0; (end - start) as usize];
        self.bytes.read_at(offset + start, &mut content)?;
        if crc32fast::hash(&content) == word_at(row, 8) {
            return Ok(content);
        }
        Err(HbfError::Block { stream: stream.number as u8, block })
    }

    /// Calls `with` with the bytes of a tile.
    fn with_tile<T>(
        &self,
        stream: &OpenStream,
        tile: u64,
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, HbfError> {
        let number = tile / TILES;
        let block = self.block(stream, number)?;
        let count = (stream.header.tiles - number * TILES).min(TILES) as usize;
        let bytes = tile_of_block(&block, count, (tile % TILES) as usize);
        let damaged = HbfError::Block { stream: stream.number as u8, block: number };
        Ok(with(bytes.ok_or(damaged)?))
    }

    /// Where a position without rights to take en passant stands: among the outcomes, if these are
    /// enough and stored apart, else among the distances.
    pub fn find(&self, position: &Position, outcomes: bool) -> EntryPlace {
        let mut found = EntryPlace::Nothing;
        for of_outcomes in [outcomes, false] {
            for (number, stream) in self.streams.iter().enumerate() {
                let Some((space, turn, exits, kind)) = stream.cells() else { continue };
                if kind != of_outcomes {
                    continue;
                }
                let Some((place, side)) = space.locate(position) else { continue };
                if side != turn {
                    found = EntryPlace::OtherSide;
                    continue;
                }
                let (stream, tile) = (number as u8, place.tile);
                let at = u16::from(place.row) * 64 + u16::from(place.lane);
                return EntryPlace::Cell(CellPlace { stream, tile, at, exits });
            }
        }
        found
    }

    /// Calls `with` with the codes of the cells of a tile, up to the row of a cell, or all. What
    /// stands at cells that are not legal means nothing.
    ///
    /// # Errors
    /// Damage.
    pub fn with_cells<T>(
        &self,
        cell: CellPlace,
        all: bool,
        with: impl FnOnce(&[Code]) -> T,
    ) -> Result<T, HbfError> {
        let stream = self.streams.get(usize::from(cell.stream)).ok_or_else(|| bad_section(STRM))?;
        let last = stream.cells().map_or(0, |(space, ..)| space.rows() - 1);
        let row = if all { last } else { (cell.at / 64) as u8 };
        let place = CellInTile { tile: cell.tile, row, lane: 63 };
        ROWS.with_borrow_mut(|rows| {
            stream.decode(self, place, rows)?;
            let mut codes = [0; MAX_CELLS];
            let mut count = 0;
            for row in 0..=usize::from(place.row) {
                codes[count..count + 64].copy_from_slice(rows.row(row));
                count += 64;
            }
            Ok(with(&codes[..count]))
        })
    }

    /// The streams of cells.
    pub fn cell_streams(&self) -> Vec<CellStream> {
        let of = |(number, stream): (usize, &OpenStream)| {
            let (space, turn, exits, outcomes) = stream.cells()?;
            let blocks = stream.header.tiles.div_ceil(TILES);
            let (number, tile_cells) = (number as u8, usize::from(space.rows()) * 64);
            Some(CellStream { number, turn, exits, outcomes, blocks, tile_cells })
        };
        self.streams.iter().enumerate().filter_map(of).collect()
    }

    /// Decodes the tiles of a block of a stream of cells that are wanted, by their numbers; calls
    /// `with` with the place of each in the block, its legal cells, row by row, and its codes.
    pub(crate) fn decode_block(
        &self,
        stream: &CellStream,
        block: u64,
        is_wanted: impl Fn(u64) -> bool,
        mut with: impl FnMut(usize, &[u64], &[Code]),
    ) -> Result<(), HbfError> {
        let number = stream.number;
        let open = self.streams.get(usize::from(number)).ok_or_else(|| bad_section(STRM))?;
        let wrong = || bad_section(MODL);
        let (space, turn, _, outcomes) = open.cells().ok_or_else(wrong)?;
        let first = block * TILES;
        let count = open.header.tiles.saturating_sub(first).min(TILES);
        let tiles: Vec<u64> = (0..count).filter(|tile| is_wanted(first + tile)).collect();
        if tiles.is_empty() {
            return Ok(());
        }
        let Decoding::Cells(model) = &self.load(open)?.decoding else { return Err(wrong()) };
        model.prepare(open.header.tiles);
        let content = self.block(open, block)?;
        let of = Stream { space, turn, outcomes };
        let mut codes = vec![0; stream.tile_cells];
        ROWS.with_borrow_mut(|rows| {
            for tile in tiles {
                let bytes = tile_of_block(&content, count as usize, tile as usize);
                let bytes = bytes.ok_or(HbfError::Block { stream: open.number as u8, block })?;
                tile::decode(of, model, bytes, (first + tile, TilePart::Whole), rows);
                for (row, codes) in codes.chunks_mut(64).enumerate() {
                    codes.copy_from_slice(rows.row(row));
                }
                with(tile as usize, &rows.legal[..stream.tile_cells / 64], &codes);
            }
            Ok(())
        })
    }

    /// The stream of entries.
    fn entries(&self) -> Result<(&OpenStream, u8, u64, u8), HbfError> {
        for stream in &self.streams {
            if let (StreamKind::Entries { log }, Mode::Generic { entries, bits }) =
                (&stream.header.kind, &self.info.mode)
            {
                return Ok((stream, *log, *entries, *bits));
            }
        }
        Err(bad_section(STRM))
    }

    /// How many entries a tile has, in a file of entries.
    ///
    /// # Errors
    /// It is a file of cells.
    pub fn tile_entries(&self) -> Result<u64, HbfError> {
        self.entries().map(|(_, log, _, _)| 1 << log)
    }

    /// The entries of the tile that begins with entry `first`, in a file of entries.
    ///
    /// # Errors
    /// Damage, or it is a file of cells, or no tile begins there.
    pub fn entry_tile(&self, first: u64) -> Result<Vec<u16>, HbfError> {
        let (stream, log, all, bits) = self.entries()?;
        let size = 1_u64 << log;
        if !first.is_multiple_of(size) || first >= all {
            return Err(bad_section(DATA));
        }
        let mut entries = vec![0; size.min(all - first) as usize];
        let Decoding::Entries(model) = &self.load(stream)?.decoding else {
            return Err(bad_section(MODL));
        };
        self.with_tile(stream, first >> log, |bytes| {
            entries::decode(model, bits, bytes, &mut entries);
        })?;
        Ok(entries)
    }
}

impl OpenStream {
    /// The cells of the stream, whose move it is, whether exits settle cells, and whether it has
    /// outcomes only.
    pub(crate) fn cells(&self) -> Option<(&Space, Color, bool, bool)> {
        match &self.header.kind {
            StreamKind::Cells { space, turn, exits, outcomes } => {
                Some((space, *turn, *exits, *outcomes))
            }
            StreamKind::Entries { .. } => None,
        }
    }

    /// Decodes the tile of a place up to there; its values are in `rows` then.
    pub(crate) fn decode(
        &self,
        file: &HbfFile,
        place: CellInTile,
        rows: &mut TileRows,
    ) -> Result<(), HbfError> {
        let wrong = || bad_section(MODL);
        let (space, turn, _, outcomes) = self.cells().ok_or_else(wrong)?;
        let Decoding::Cells(model) = &file.load(self)?.decoding else { return Err(wrong()) };
        let stream = Stream { space, turn, outcomes };
        // The row is finished: its neighbours are asked for next.
        let until = TilePart::Until(place.row);
        file.with_tile(self, place.tile, |bytes| {
            tile::decode(stream, model, bytes, (place.tile, until), rows);
        })
    }
}

/// The code that a stream holds at a position, without the exits; for tests and comparisons. None
/// if it is of another side to move or another ending.
#[doc(hidden)]
pub fn stored_code(
    file: &HbfFile,
    position: &Position,
    outcomes: bool,
) -> Result<Option<Code>, HbfError> {
    for stream in file.streams() {
        let Some((space, turn, _, of_outcomes)) = stream.cells() else { continue };
        if let Some((place, side)) = space.locate(position)
            && side == turn
            && outcomes == of_outcomes
        {
            let mut rows = TileRows::new();
            stream.decode(file, place, &mut rows)?;
            return Ok(Some(rows.value(usize::from(place.row), usize::from(place.lane))));
        }
    }
    Ok(None)
}
