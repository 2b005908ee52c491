//! The files of processes that solve an ending together: what a pass decided in the blocks of one
//! of them, or the values of these blocks.
//!
//! Sections one behind another, as in a checkpoint: what the file is, a section for each side of a
//! block, and the end, with some numbers and where the sections are. The layout is told in
//! docs/file-formats.md. A file has its name when it is complete.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::Color;
use hoffman_store::{FileWriter, Storage, StoredFile, fill};
use hoffman_table::htb::AtomicFile;

use crate::checkpoint::{HEAD, Tag, checksum, section};
use crate::error::{RunError, write_error};

/// The first bytes of the file: a name and the version.
const MAGIC: [u8; 12] = *b"HOFFPART\x01\0\0\0";
/// What the file is.
const MANIFEST: Tag = *b"MANI";
/// One side of a block.
const BLOCK: Tag = *b"BLCK";
/// The end.
const END: Tag = *b"ENDS";
/// The longest section that is read: the values of a block of six men, two bytes each.
const MAX_SECTION: u64 = 1 << 26;
/// Bytes of the place of the end, which is the last thing in the file.
const TAIL: u64 = 8;
/// Bytes of an entry of the list of sections: block, side, place, length.
const ENTRY: usize = 4 + 1 + 8 + 8;
/// The most numbers that a file ends with.
const MOST_NUMBERS: usize = 64;

/// Where the section of a side of a block is.
#[derive(Clone, Copy, Debug)]
struct SectionPlace {
    block: u32,
    turn: Color,
    at: u64,
    len: u64,
}

/// Writes a file; `fill` adds its sections and returns what it takes down besides, and the numbers
/// that the file ends with. How many bytes it has.
pub(super) fn write<R>(
    storage: &Arc<dyn Storage>,
    path: &Path,
    manifest: &str,
    fill: impl FnOnce(&mut Sections<'_>) -> Result<(R, Vec<u64>), RunError>,
) -> Result<(R, u64), RunError> {
    let failed = |source| RunError::Io { action: "write", path: path.to_owned(), source };
    let file = AtomicFile::create_in(Arc::clone(storage), path);
    let file = file.map_err(|error| write_error(path, &error))?;
    let out = BufWriter::with_capacity(1 << 18, file.writer());
    let mut sections = Sections { out, at: 0, places: Vec::new() };
    sections.put(&MAGIC).map_err(failed)?;
    sections.put(&section(MANIFEST, manifest.as_bytes())).map_err(failed)?;
    let (result, numbers) = fill(&mut sections)?;
    let len = sections.end(&numbers).map_err(failed)?;
    file.commit().map_err(|error| write_error(path, &error))?;
    Ok((result, len))
}

/// A file being written.
pub(super) struct Sections<'f> {
    out: BufWriter<FileWriter<'f>>,
    at: u64,
    places: Vec<SectionPlace>,
}

impl Sections<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Adds what there is to say of a side of a block.
    pub(super) fn add(&mut self, block: u32, turn: Color, contents: &[u8]) -> io::Result<()> {
        let packed = lz4_flex::block::compress_prepend_size(contents);
        let len = packed.len() as u64;
        if len > MAX_SECTION || contents.len() as u64 > MAX_SECTION {
            return Err(io::Error::other("a block is too large for the file of a part"));
        }
        self.places.push(SectionPlace { block, turn, at: self.at, len });
        self.put(&section(BLOCK, &packed))
    }

    fn end(mut self, numbers: &[u64]) -> io::Result<u64> {
        let mut bytes = (numbers.len() as u32).to_le_bytes().to_vec();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        for place in &self.places {
            bytes.extend(place.block.to_le_bytes());
            bytes.push(u8::from(place.turn == Color::Black));
            bytes.extend(place.at.to_le_bytes());
            bytes.extend(place.len.to_le_bytes());
        }
        let at = self.at;
        self.put(&section(END, &bytes))?;
        self.put(&at.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.at)
    }
}

/// Why a file is of no use.
#[derive(Debug)]
pub(super) enum UnfitFile {
    Unreadable(io::Error),
    /// In words behind its name.
    Refused(String),
}

impl From<io::Error> for UnfitFile {
    fn from(error: io::Error) -> UnfitFile {
        UnfitFile::Unreadable(error)
    }
}

impl UnfitFile {
    fn damaged() -> UnfitFile {
        UnfitFile::Refused("is damaged".to_owned())
    }

    /// The error of making `table` from it.
    pub(super) fn of(self, path: &Path, table: &Path) -> RunError {
        match self {
            UnfitFile::Unreadable(source) => {
                RunError::Io { action: "read", path: path.to_owned(), source }
            }
            UnfitFile::Refused(why) => RunError::Input {
                table: table.to_owned(),
                why: format!("{}: {why}; remove it, and its part makes it anew", path.display()),
            },
        }
    }
}

/// An open file.
pub(super) struct ShareFile {
    pub(super) path: PathBuf,
    file: Box<dyn StoredFile>,
    /// The numbers that it ends with.
    pub(super) numbers: Vec<u64>,
    places: Vec<SectionPlace>,
    /// How many bytes of it were read.
    pub(super) read: u64,
}

impl ShareFile {
    /// Opens a file, which must be what `manifest` says.
    pub(super) fn open(
        storage: &dyn Storage,
        path: &Path,
        manifest: &str,
    ) -> Result<ShareFile, UnfitFile> {
        let file = storage.open(path)?;
        let len = file.byte_len()?;
        let mut opened =
            ShareFile { path: path.to_owned(), file, numbers: Vec::new(), places: vec![], read: 0 };
        let mut magic = [0; MAGIC.len()];
        if !fill(&*opened.file, &mut magic, 0)? || magic[..8] != MAGIC[..8] {
            return Err(UnfitFile::damaged());
        }
        if magic != MAGIC {
            return Err(UnfitFile::Refused(OTHER_VERSION.to_owned()));
        }
        let start = MAGIC.len() as u64;
        compare(manifest, &opened.section(MANIFEST, start, None)?)?;

        let mut tail = [0; TAIL as usize];
        let at = len.checked_sub(TAIL).ok_or_else(UnfitFile::damaged)?;
        if !fill(&*opened.file, &mut tail, at)? {
            return Err(UnfitFile::damaged());
        }
        let end = opened.section(END, u64::from_le_bytes(tail), None)?;
        (opened.numbers, opened.places) = parse_end(&end).ok_or_else(UnfitFile::damaged)?;
        Ok(opened)
    }

    /// The contents of a section at a place, of that length if it is known.
    fn section(&mut self, tag: Tag, at: u64, len: Option<u64>) -> Result<Vec<u8>, UnfitFile> {
        let mut head = [0; HEAD];
        let behind = at.checked_add(HEAD as u64);
        let room = behind.and_then(|behind| self.file.byte_len().ok()?.checked_sub(behind));
        let room = room.ok_or_else(UnfitFile::damaged)?;
        if !fill(&*self.file, &mut head, at)? {
            return Err(UnfitFile::damaged());
        }
        let [t0, t1, t2, t3, size @ .., c0, c1, c2, c3] = head;
        let size = u64::from_le_bytes(size);
        let is_expected = [t0, t1, t2, t3] == tag && len.is_none_or(|len| len == size);
        if !is_expected || size > MAX_SECTION.min(room) {
            return Err(UnfitFile::damaged());
        }
        let mut payload = vec![0; size as usize];
        let is_whole = fill(&*self.file, &mut payload, at + HEAD as u64)?;
        if !is_whole || checksum(tag, &payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(UnfitFile::damaged());
        }
        self.read += HEAD as u64 + size;
        Ok(payload)
    }

    /// The blocks and sides that it has something to say of.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u32, Color)> {
        self.places.iter().map(|place| (place.block, place.turn))
    }

    /// What it says of the side of a block that is number `at` of them.
    pub(super) fn contents(&mut self, at: usize) -> Result<Vec<u8>, UnfitFile> {
        let SectionPlace { at, len, .. } = self.places[at];
        let packed = self.section(BLOCK, at, Some(len))?;
        unpack(&packed).ok_or_else(UnfitFile::damaged)
    }
}

const OTHER_VERSION: &str = "was made by another version of the program";

/// Compares what a file is to be with what it says that it is.
fn compare(ours: &str, theirs: &[u8]) -> Result<(), UnfitFile> {
    if theirs == ours.as_bytes() {
        return Ok(());
    }
    let theirs = String::from_utf8_lossy(theirs);
    let mut lines = ours.lines().zip(theirs.lines());
    if lines.next().is_none_or(|(ours, theirs)| ours != theirs) {
        return Err(UnfitFile::Refused(OTHER_VERSION.to_owned()));
    }
    let differing = lines.find(|(ours, theirs)| ours != theirs);
    let (ours, theirs) = differing.unwrap_or((ours, &theirs));
    Err(UnfitFile::Refused(format!("says '{theirs}', not '{ours}'")))
}

/// The numbers at the end of a file, and where its sections are.
fn parse_end(bytes: &[u8]) -> Option<(Vec<u64>, Vec<SectionPlace>)> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    if count > MOST_NUMBERS || rest.len() < 8 * count {
        return None;
    }
    let (numbers, entries) = rest.split_at(8 * count);
    let numbers = numbers.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let (entries, left) = entries.as_chunks::<ENTRY>();
    let place = |entry: &[u8; ENTRY]| {
        let (block, rest) = entry.split_first_chunk::<4>()?;
        let (turn, rest) = rest.split_first()?;
        let (at, len) = rest.split_first_chunk::<8>()?;
        Some(SectionPlace {
            block: u32::from_le_bytes(*block),
            turn: if *turn == 0 { Color::White } else { Color::Black },
            at: u64::from_le_bytes(*at),
            len: u64::from_le_bytes(len.try_into().ok()?),
        })
    };
    let places: Vec<SectionPlace> = entries.iter().map(place).collect::<Option<_>>()?;
    left.is_empty().then_some((numbers, places))
}

/// Decompresses a section.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (len, packed) = lz4_flex::block::uncompressed_size(packed).ok()?;
    if len as u64 > MAX_SECTION {
        return None;
    }
    let mut contents = vec![0; len];
    let got = lz4_flex::block::decompress_into(packed, &mut contents).ok()?;
    (got == len).then_some(contents)
}

/// The rows and masks of a set of positions as bytes: steps from row to row, then of every mask
/// which of its bytes are not 0, and these.
pub(super) fn pack_set(rows: &[u32], masks: &[u64]) -> Vec<u8> {
    let mut bytes = (rows.len() as u32).to_le_bytes().to_vec();
    let mut next = 0_u32;
    for &row in rows {
        put_number(&mut bytes, row.wrapping_sub(next));
        next = row.wrapping_add(1);
    }
    for mask in masks {
        let own = mask.to_le_bytes();
        let present = (0..8).filter(|&i| own[i] != 0).fold(0_u8, |set, i| set | 1 << i);
        bytes.push(present);
        bytes.extend(own.iter().filter(|&&byte| byte != 0));
    }
    bytes
}

/// A number, seven bits a byte.
fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The rows and masks again, ascending and below `rows`; none if that is nothing of the kind.
pub(super) fn unpack_set(bytes: &[u8], rows: usize) -> Option<(Vec<u32>, Vec<u64>)> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len) as usize;
    if len > rows {
        return None;
    }
    let mut rest = rest.iter().copied();
    let mut next = 0_u32;
    let mut numbers = Vec::with_capacity(len);
    for _ in 0..len {
        let row = next.checked_add(take_number(&mut rest)?)?;
        if row as usize >= rows {
            return None;
        }
        numbers.push(row);
        next = row + 1;
    }
    let mut masks = Vec::with_capacity(len);
    for _ in 0..len {
        let present = rest.next()?;
        let mut mask = [0; 8];
        for (i, byte) in mask.iter_mut().enumerate() {
            if present >> i & 1 != 0 {
                *byte = rest.next()?;
            }
        }
        masks.push(u64::from_le_bytes(mask));
    }
    rest.next().is_none().then_some((numbers, masks))
}

fn take_number(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hoffman_store::Simulated;

    use super::*;

    const MANIFEST: &str = "hoffman 2\nKRvKN\npart 1 of 3\nwon in 4\n";

    fn made() -> Simulated {
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let ((), len) = write(&storage, Path::new("a"), MANIFEST, |sections| {
            sections
                .add(7, Color::Black, &pack_set(&[0, 5, 900], &[1, u64::MAX, 1 << 60]))
                .unwrap();
            sections.add(9, Color::White, &[]).unwrap();
            Ok(((), vec![12, u64::MAX]))
        })
        .unwrap();
        assert_eq!(len, simulated.contents(Path::new("a")).unwrap().len() as u64);
        simulated
    }

    fn read(storage: &Simulated, path: &str) -> Result<Vec<Vec<u8>>, UnfitFile> {
        let mut file = ShareFile::open(storage, Path::new(path), MANIFEST)?;
        assert_eq!(file.numbers, [12, u64::MAX]);
        let blocks: Vec<_> = file.blocks().collect();
        assert_eq!(blocks, [(7, Color::Black), (9, Color::White)]);
        (0..2).map(|at| file.contents(at)).collect()
    }

    #[test]
    fn what_is_written_comes_back() {
        let found = read(&made(), "a").unwrap();
        let set = unpack_set(&found[0], 4096);
        assert_eq!(set, Some((vec![0, 5, 900], vec![1, u64::MAX, 1 << 60])));
        assert_eq!(unpack_set(&found[0], 900), None);
        assert_eq!(found[1], []);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let storage = made();
        let whole = storage.contents(Path::new("a")).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            storage.put(Path::new("b"), &bytes);
            assert!(matches!(read(&storage, "b"), Err(UnfitFile::Refused(_))), "bit {bit}");
        }
        for len in 0..whole.len() {
            storage.put(Path::new("b"), &whole[..len]);
            assert!(matches!(read(&storage, "b"), Err(UnfitFile::Refused(_))), "{len} bytes");
        }
    }

    #[test]
    fn a_file_of_something_else_says_of_what() {
        let storage = made();
        for (other, why) in [
            ("hoffman 3\nKRvKN\npart 1 of 3\nwon in 4\n", OTHER_VERSION),
            ("hoffman 2\nKRvKB\npart 1 of 3\nwon in 4\n", "says 'KRvKN', not 'KRvKB'"),
            ("hoffman 2\nKRvKN\npart 1 of 4\nwon in 4\n", "says 'part 1 of 3', not 'part 1 of 4'"),
        ] {
            let Err(UnfitFile::Refused(said)) = ShareFile::open(&storage, Path::new("a"), other)
            else {
                panic!("{other}");
            };
            assert_eq!(said, why);
        }
    }
}
