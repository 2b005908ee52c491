//! The container: sections with checksums. See docs/hbf.md, 2 to 4.

use std::io;

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'H', b'B', b'F', 0x0d, 0x0a, 0x1a, 0x0a];

/// Whether a file that begins with these bytes is one of this format; eight are enough.
pub fn is_hbf(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

pub(crate) const VERSION: u16 = 1;
pub(crate) const HEAD: u64 = 32;
pub(crate) const ROW: u64 = 32;
const TAIL: u64 = 8;
const MAX_SECTIONS: u32 = 256;

/// A flag of a section: who does not know its name must refuse the file.
pub(crate) const REQUIRED: u32 = 1;

/// Names of sections.
pub(crate) const TABL: [u8; 4] = *b"TABL";
pub(crate) const INFO: [u8; 4] = *b"INFO";
pub(crate) const CTRL: [u8; 4] = *b"CTRL";
pub(crate) const PAWN: [u8; 4] = *b"PAWN";
pub(crate) const STRM: [u8; 4] = *b"STRM";
pub(crate) const MODL: [u8; 4] = *b"MODL";
pub(crate) const DIRY: [u8; 4] = *b"DIRY";
pub(crate) const DATA: [u8; 4] = *b"DATA";

const KNOWN: [[u8; 4]; 8] = [TABL, INFO, CTRL, PAWN, STRM, MODL, DIRY, DATA];

/// The largest section but `DATA` that is read as a whole.
const MAX_SECTION: u64 = 1 << 30;

/// Bytes that can be read at any place, a file or memory.
pub trait Bytes: Send + Sync {
    /// How many there are.
    ///
    /// # Errors
    /// Those of the system.
    fn length(&self) -> io::Result<u64>;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Those of the system; `UnexpectedEof` if there are too few.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl Bytes for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let found = start.and_then(|start| self.get(start..)?.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Bytes for std::fs::File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                got => {
                    offset += got as u64;
                    buffer = &mut buffer[got..];
                }
            }
        }
        Ok(())
    }
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HbfError {
    /// The system.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It begins otherwise.
    #[error("this is no .hbf table")]
    Magic,
    /// Of a later program.
    #[error("it has version {0} of the format, this program knows version 1")]
    Version(u16),
    /// A section that must be understood and is not.
    #[error("it has a section {0:?} that this program does not know")]
    Unknown(String),
    /// Lengths, offsets or numbers that contradict each other, or a checksum that is wrong.
    #[error("its section {0:?} is damaged or missing")]
    Section(String),
    /// The checksum of a block is wrong.
    #[error("block {block} of stream {stream} is damaged")]
    Block {
        /// The stream.
        stream: u8,
        /// The block, from 0.
        block: u64,
    },
    /// The checksum of all bytes is wrong.
    #[error("its checksum is wrong")]
    Checksum,
}

/// A section of a file that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    name: [u8; 4],
    stream: u32,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    crc: u32,
}

/// The sections of a file.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    entries: Vec<Entry>,
    length: u64,
}

pub(crate) fn number_at(bytes: &[u8], at: usize) -> u64 {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field.map_or(0, |field| u64::from_le_bytes(*field))
}

pub(crate) fn word_at(bytes: &[u8], at: usize) -> u32 {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field.map_or(0, |field| u32::from_le_bytes(*field))
}

/// A section is damaged or missing.
pub(crate) fn bad_section(name: [u8; 4]) -> HbfError {
    HbfError::Section(String::from_utf8_lossy(&name).into_owned())
}

impl Directory {
    pub(crate) fn read(bytes: &dyn Bytes) -> Result<Directory, HbfError> {
        let mut head = [0; HEAD as usize];
        let length = bytes.length()?;
        if length < HEAD + TAIL {
            return Err(HbfError::Magic);
        }
        bytes.read_at(0, &mut head)?;
        let version = u16::from_le_bytes([head[8], head[9]]);
        let count = word_at(&head, 12);
        if head[..8] != MAGIC {
            return Err(HbfError::Magic);
        }
        if version != VERSION {
            return Err(HbfError::Version(version));
        }

        let table_end = HEAD + ROW * u64::from(count);
        let is_sound = word_at(&head, 28) == crc32fast::hash(&head[..28])
            && number_at(&head, 16) == length
            && count <= MAX_SECTIONS
            && table_end + TAIL <= length;
        if !is_sound {
            return Err(bad_section(*b"head"));
        }
        let mut table = vec![0; (table_end - HEAD) as usize];
        bytes.read_at(HEAD, &mut table)?;
        if crc32fast::hash(&table) != word_at(&head, 24) {
            return Err(bad_section(*b"head"));
        }

        let mut entries = Vec::new();
        for row in table.as_chunks::<{ ROW as usize }>().0 {
            let name = [row[0], row[1], row[2], row[3]];
            let entry = Entry {
                name,
                stream: word_at(row, 4),
                offset: number_at(row, 8),
                length: number_at(row, 16),
                crc: word_at(row, 24),
            };
            let end = entry.offset.checked_add(entry.length);
            if entry.offset < table_end || end.is_none_or(|end| end > length - TAIL) {
                return Err(bad_section(name));
            }
            if word_at(row, 28) & REQUIRED != 0 && !KNOWN.contains(&name) {
                return Err(HbfError::Unknown(String::from_utf8_lossy(&name).into_owned()));
            }
            entries.push(entry);
        }
        Ok(Directory { entries, length })
    }

    /// The numbers of the streams.
    pub(crate) fn streams(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().filter(|entry| entry.name == STRM).map(|entry| entry.stream)
    }

    pub(crate) fn find(&self, name: [u8; 4], stream: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name && entry.stream == stream)
    }

    /// The content of a section, compared with its checksum.
    pub(crate) fn load(
        &self,
        bytes: &dyn Bytes,
        (name, stream): ([u8; 4], u32),
        longest: u64,
    ) -> Result<Vec<u8>, HbfError> {
        let entry = self.find(name, stream).ok_or_else(|| bad_section(name))?;
        if entry.length > longest.min(MAX_SECTION) {
            return Err(bad_section(name));
        }
        let mut content = vec![0; entry.length as usize];
        bytes.read_at(entry.offset, &mut content)?;
        if crc32fast::hash(&content) == entry.crc { Ok(content) } else { Err(bad_section(name)) }
    }

    /// The length, and the checksum of all bytes.
    pub(crate) fn fingerprint(&self, bytes: &dyn Bytes) -> Result<Vec<u8>, HbfError> {
        let mut found = self.length.to_le_bytes().to_vec();
        let mut sum = [0; TAIL as usize];
        bytes.read_at(self.length - TAIL, &mut sum)?;
        found.extend(sum);
        Ok(found)
    }

    /// Reads all of a file and compares its checksum.
    pub(crate) fn check(&self, bytes: &dyn Bytes) -> Result<(), HbfError> {
        let end = self.length - TAIL;
        let mut buffer = vec![0; 1 << 16];
        let (mut at, mut sum) = (0, 0);
        while at < end {
            let part = buffer.len().min((end - at) as usize);
            bytes.read_at(at, &mut buffer[..part])?;
            sum = crc64(sum, &buffer[..part]);
            at += part as u64;
        }
        let mut stored = [0; TAIL as usize];
        bytes.read_at(end, &mut stored)?;
        if u64::from_le_bytes(stored) == sum { Ok(()) } else { Err(HbfError::Checksum) }
    }
}

/// Of eight bytes at a time.
static CRC64: [[u64; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 != 0 { CRC64_POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 255) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
};

/// CRC-64 of more bytes, of which `sum` is that of those before.
pub(crate) fn crc64(sum: u64, bytes: &[u8]) -> u64 {
    let mut crc = !sum;
    let (words, rest) = bytes.as_chunks::<8>();
    for &word in words {
        crc ^= u64::from_le_bytes(word);
        let parts = crc.to_le_bytes();
        crc = (0..8).fold(0, |crc, k| crc ^ CRC64[7 - k][usize::from(parts[k])]);
    }
    for &byte in rest {
        crc = crc >> 8 ^ CRC64[0][usize::from(crc as u8 ^ byte)];
    }
    !crc
}

/// The polynomial of CRC-64, the highest power in the lowest bit.
const CRC64_POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// The product of two polynomials modulo that one.
fn multiplied(one: u64, mut other: u64) -> u64 {
    (0..64).rev().fold(0, |product, bit| {
        let part = if one >> bit & 1 != 0 { other } else { 0 };
        other = other >> 1 ^ if other & 1 != 0 { CRC64_POLYNOMIAL } else { 0 };
        product ^ part
    })
}

/// CRC-64 of two pieces one behind the other, from those of both and the length of the second.
pub(crate) fn crc64_of_both(first: u64, second: u64, mut length: u64) -> u64 {
    // The power of x by which the first one is moved: eight a byte.
    let (mut power, mut square) = (1 << 63, 1 << (63 - 8));
    while length != 0 {
        if length & 1 != 0 {
            power = multiplied(power, square);
        }
        square = multiplied(square, square);
        length >>= 1;
    }
    multiplied(power, first) ^ second
}

/// How many tiles a block has.
pub(crate) const TILES: u64 = 64;

/// Bytes of a row of `DIRY`.
pub(crate) const DIRECTORY_ROW: usize = 12;

/// A block of tiles.
pub(crate) fn pack_block(tiles: &[Vec<u8>]) -> Vec<u8> {
    let longest = tiles.iter().map(Vec::len).max().unwrap_or(0);
    if longest == 0 {
        return Vec::new();
    }
    let width = (usize::BITS - longest.leading_zeros()) as usize;
    let mut block = vec![0; 1 + (width * tiles.len()).div_ceil(8)];
    block[0] = width as u8;
    for (i, tile) in tiles.iter().enumerate() {
        for bit in 0..width {
            let at = i * width + bit;
            block[1 + at / 8] |= ((tile.len() >> bit & 1) as u8) << (at % 8);
        }
    }
    block.extend(tiles.concat());
    block
}

/// The bytes of tile `wanted` of a block of `count` tiles. None if the block is damaged.
pub(crate) fn tile_of_block(block: &[u8], count: usize, wanted: usize) -> Option<&[u8]> {
    let Some((&width, lengths)) = block.split_first() else { return Some(&[]) };
    let width = usize::from(width);
    let (lengths, tiles) = lengths.split_at_checked((width * count).div_ceil(8))?;
    if width > 24 || wanted >= count {
        return None;
    }
    let length = |tile: usize| {
        let at = tile * width;
        let mut field = [0; 4];
        let from = &lengths[at / 8..];
        field.iter_mut().zip(from).for_each(|(field, byte)| *field = *byte);
        u32::from_le_bytes(field) >> (at % 8) & ((1 << width) - 1)
    };
    // 31 bits are in the four bytes, whatever the first one begins with.
    let start: usize = (0..wanted).map(|tile| length(tile) as usize).sum();
    tiles.get(start..)?.get(..length(wanted) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn checksums_are_the_known_ones() {
        assert_eq!(crc64(0, b"123456789"), 0x995d_c9bb_df19_39fa);
        assert_eq!(crc64(crc64(0, b"12345"), b"6789"), 0x995d_c9bb_df19_39fa);
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        let text = b"123456789";
        for at in 0..=text.len() {
            let (first, second) = text.split_at(at);
            let sums = (crc64(0, first), crc64(0, second));
            let both = crc64_of_both(sums.0, sums.1, second.len() as u64);
            assert_eq!(both, 0x995d_c9bb_df19_39fa, "{at}");
        }
    }

    proptest! {
        #[test]
        fn tiles_are_found_in_their_block(
            lengths in proptest::collection::vec(0_usize..700, 1..65)
        ) {
            let tiles: Vec<Vec<u8>> =
                lengths.iter().enumerate().map(|(i, &n)| vec![i as u8; n]).collect();
            let block = pack_block(&tiles);
            for (i, tile) in tiles.iter().enumerate() {
                prop_assert_eq!(tile_of_block(&block, tiles.len(), i), Some(&tile[..]));
            }
        }

        #[test]
        fn any_bytes_are_a_block_or_none(
            block in proptest::collection::vec(any::<u8>(), 0..200), wanted in 0_usize..70
        ) {
            let _ = tile_of_block(&block, 64, wanted);
        }
    }
}
