//! Tables of entries in the block format, `.hbf`: between them and ours nothing is lost.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hoffman_control::{ControlFile, Mode};
use hoffman_hbf::{Bytes, HbfError, HbfFile};

use crate::entries::{EntryError, RawEntry};
use crate::htb::HtbError;
use crate::index::PawnStructure;
use crate::reader::{Table, TableError, TableProblem};
use crate::source::{Entries, Shape};

/// Entries of a file of the block format.
#[derive(Debug)]
struct BlockEntries {
    file: HbfFile,
    tile_entries: u64,
    /// The tile that was asked for last, and its first entry.
    last: Mutex<Option<(u64, Vec<u16>)>>,
}

/// Opens a table of entries in the block format; `path` is what messages call it.
///
/// # Errors
///
/// It is none, or contradicts itself.
pub fn open(path: &Path, bytes: Box<dyn Bytes>) -> Result<Table, TableError> {
    let fail = |problem| TableError { path: path.to_owned(), problem };
    let file = HbfFile::open(bytes).map_err(|e| fail(problem(e, 0)))?;
    of_file(path, file).map_err(fail)
}

fn of_file(path: &Path, file: HbfFile) -> Result<Table, TableProblem> {
    let origin = path.display().to_string();
    let text = file.control().map_err(|e| problem(e, 0))?.ok_or(TableProblem::NoHeader)?;
    let control = ControlFile::parse(&text, &origin, Mode::Header)?;
    let pawns = file.pawn_table().map_err(|e| problem(e, 0))?;
    let structures = pawns.map(|bytes| {
        let (rows, rest) = bytes.as_chunks::<{ PawnStructure::BYTES }>();
        let list = rows.iter().map(PawnStructure::from_bytes).collect::<Option<Vec<_>>>();
        list.filter(|_| rest.is_empty()).ok_or(TableProblem::PawnTable)
    });
    let tile_entries = file.tile_entries().map_err(|e| problem(e, 0))?;
    let mode = file.info().mode.clone();
    let entries = BlockEntries { file, tile_entries, last: Mutex::default() };
    let boxed = |_: &ControlFile, _: &Shape| -> Box<dyn Entries> { Box::new(entries) };
    let table = Table::with_entries(path, control, structures.transpose()?, boxed)?;
    let (expected, bits) = (table.space().size(), table.codec().bits());
    match mode {
        hoffman_hbf::Mode::Generic { entries, bits: found_bits } if bits == found_bits => {
            let fits = entries == expected;
            fits.then_some(table).ok_or(TableProblem::Length { found: entries, expected })
        }
        _ => Err(TableProblem::NoBits),
    }
}

/// Damage near an entry.
fn problem(error: HbfError, index: u64) -> TableProblem {
    TableProblem::Container(match error {
        HbfError::Io(source) => HtbError::Io { action: "reading the table", source },
        _ => HtbError::Corrupt { what: "a block or a header", offset: index },
    })
}

impl BlockEntries {
    fn tile(&self, first: u64) -> Result<Vec<u16>, TableProblem> {
        self.file.entry_tile(first).map_err(|e| problem(e, first))
    }

    /// The number of an entry from its bits.
    fn extended(shape: &Shape, bits: u16) -> Result<RawEntry, TableProblem> {
        let bytes = u64::from(bits).to_le_bytes();
        let entries = 1;
        let short = EntryError::Short { bytes: bytes.len(), entries, bits: shape.codec.bits() };
        Ok(shape.codec.get(&bytes, 0).ok_or(short)?)
    }
}

impl Entries for BlockEntries {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let first = index - index % self.tile_entries;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_none_or(|(begin, _)| *begin != first) {
            *last = Some((first, self.tile(first)?));
        }
        let tile = last.as_ref().map(|(_, tile)| tile);
        let bits = tile.and_then(|tile| tile.get((index - first) as usize));
        let past = || problem(HbfError::Magic, index);
        Self::extended(shape, *bits.ok_or_else(past)?)
    }

    #[cfg(feature = "bulk")]
    fn pack(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        let bits = usize::from(shape.codec.bits());
        let end = shape.space.size().min(first + (area.len() / bits * 8) as u64);
        let (mut at, mut packed) = (first, Vec::new());
        while at < end {
            let begin = at - at % self.tile_entries;
            let tile = self.tile(begin)?;
            let wanted = &tile[(at - begin) as usize..tile.len().min((end - begin) as usize)];
            let numbers = wanted.iter().map(|&bits| Ok(Self::extended(shape, bits)?.0));
            let numbers = numbers.collect::<Result<Vec<i32>, TableProblem>>()?;
            shape.codec.pack(&numbers, &mut packed)?;
            at += wanted.len() as u64;
        }
        area.fill(0);
        area[..packed.len()].copy_from_slice(&packed);
        Ok(())
    }

    #[cfg(feature = "bulk")]
    fn check(&self) -> Result<(), TableProblem> {
        self.file.check().map_err(|e| problem(e, 0))
    }
}

#[cfg(feature = "bulk")]
pub use writing::write;

#[cfg(feature = "bulk")]
mod writing {
    use hoffman_board::{Color, Format, Variant};
    use hoffman_hbf::{Claims, EncodeError, EntryTable, Metric, Mode, TableInfo, encode_entries};

    use crate::reader::Table;

    /// The log of how many entries a tile has.
    const TILE: u8 = 14;

    /// A table in the block format, by its entries, in memory.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn write(table: &Table, threads: usize) -> Result<Vec<u8>, EncodeError> {
        let metric = match table.codec().format() {
            Format::Dtm(_) => Metric::Mate,
            Format::Dtc(_) => Metric::Conversion,
            Format::Basic => Metric::Outcome,
            Format::Flag(hoffman_board::value::FlagType::WhiteWins) => Metric::WhiteWins,
            Format::Flag(hoffman_board::value::FlagType::WhiteDraws) => Metric::WhiteDraws,
        };
        let claims = [Color::White, Color::Black].map(|color| table.claims().of(color));
        let bits = table.codec().bits();
        let info = TableInfo {
            mode: Mode::Generic { entries: table.space().size(), bits },
            suicide: table.variant() == Variant::Suicide,
            metric,
            claims: Claims::new(claims.map(|side| side.wins), claims.map(|side| side.holds)),
            longest_wins: [None; 2],
            longest_losses: [None; 2],
        };
        let structures = table.pawn_structures().map(|structures| {
            structures.list.iter().flat_map(|structure| structure.to_bytes()).collect::<Vec<u8>>()
        });
        let control = table.control().text();
        let pawns = structures.as_deref();
        let entries = EntryTable { info, control, pawns, description: None, log: TILE };
        let mask = u16::MAX >> (16 - bits);
        let read = |first: u64, buffer: &mut [u16]| {
            let mut numbers = vec![0_i32; buffer.len()];
            let failed = |error: crate::TableError| EncodeError::Read(error.to_string());
            table.read_entries(first, &mut numbers).map_err(failed)?;
            buffer.iter_mut().zip(numbers).for_each(|(to, number)| *to = number as u16 & mask);
            Ok(())
        };
        encode_entries(&entries, read, threads)
    }
}

#[cfg(all(test, feature = "bulk"))]
mod tests {
    use super::*;

    /// Entries that follow from their indices.
    #[derive(Debug)]
    struct MadeUp;

    impl Entries for MadeUp {
        fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
            let bits = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
            let mask = u16::MAX >> (16 - shape.codec.bits());
            BlockEntries::extended(shape, (bits as u16).wrapping_sub(5) & mask)
        }
    }

    #[test]
    fn tables_come_back_with_their_headers_and_entries() {
        for format in [
            "<dtm bits=\"7\"/>",
            "<dtm bits=\"11\"/>",
            "<dtc bits=\"16\"/>",
            "<basic bits=\"2\"/>",
            "<flag type=\"white-wins\" bits=\"1\"/>",
        ] {
            let text = format!(
                "<?xml version=\"1.0\"?>\n<tablebase offset=\"1024\"><index type=\"combinadic5\" symmetry=\"8\"/>\
                 <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>\
                 <piece color=\"white\" type=\"rook\"/>{format}</tablebase>\n"
            );
            let path = Path::new("made-up");
            let header = ControlFile::parse(&text, "made-up", Mode::Header).expect("a header");
            let table = Table::of_entries(path, header, Box::new(MadeUp)).expect("a table");
            let bytes = write(&table, 2).expect("a file");
            let back = open(path, Box::new(bytes.clone())).expect("a table");
            assert_eq!(back.control().text(), table.control().text());
            assert_eq!((back.space().size(), back.codec()), (table.space().size(), table.codec()));
            for index in (0..table.space().size()).step_by(7) {
                let numbers = [&table, &back].map(|table| table.entry(index).expect("an entry"));
                assert_eq!(numbers[0], numbers[1], "{format} {index}");
            }
            let (mut one, mut other) = (Vec::new(), Vec::new());
            table.read_packed(&mut one).expect("entries");
            back.read_packed(&mut other).expect("entries");
            assert_eq!(one, other, "{format}");
            back.check().expect("an intact file");
            let mut damaged = bytes.clone();
            let middle = damaged.len() - 100;
            damaged[middle] ^= 1;
            let damaged = open(path, Box::new(damaged)).expect("its headers are intact");
            assert!(damaged.check().is_err());
        }
    }
}
