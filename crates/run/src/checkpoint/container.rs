//! The file of a checkpoint: sections one behind another, each with a name and a checksum.
//!
//! The layout is told in docs/file-formats.md. Sections are only ever added at the end, so a
//! process that dies leaves whole sections and at most one torn one. A program skips sections it
//! does not know.

use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hoffman_store::{FileWriter, Storage, StoredFile, fill};
use hoffman_table::htb::AtomicFile;

use super::NoCheckpoint;

/// The first bytes of the file: a name and the version.
const MAGIC: [u8; 12] = *b"HOFFCKPT\x03\0\0\0";
/// Name, length and checksum of a section.
pub(crate) const HEAD: usize = 16;
/// The longest section that is read, in bytes.
const MAX_SECTION: u64 = 16 << 20;

/// What a section is.
pub(crate) type Tag = [u8; 4];

/// Why a checkpoint is of no use.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It says something else than it was made to say.
    Damaged,
    /// Another program made it, or for something else.
    Other(&'static str),
    /// It cannot be read.
    Unreadable(io::Error),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Unusable {
        Unusable::Unreadable(error)
    }
}

/// An open checkpoint.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    file: Arc<dyn StoredFile>,
    /// Where the next section goes.
    end: u64,
}

impl CheckpointFile {
    /// Makes a file with a first section, replacing what has its name.
    pub(crate) fn create(
        storage: &Arc<dyn Storage>,
        path: &Path,
        tag: Tag,
        first: &[u8],
    ) -> Result<CheckpointFile, NoCheckpoint> {
        let file = AtomicFile::create_in(Arc::clone(storage), path)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(section(tag, first));
        file.writer().write_all(&bytes)?;
        file.commit()?;
        let file = storage.open_to_write(path)?;
        Ok(CheckpointFile { file: Arc::from(file), end: bytes.len() as u64 })
    }

    /// Adds a section, which is durable after [`CheckpointFile::sync`]. If that fails the file is
    /// as it was.
    pub(crate) fn append(&mut self, tag: Tag, payload: &[u8]) -> io::Result<()> {
        let bytes = section(tag, payload);
        let written = FileWriter::new(&*self.file, self.end).write_all(&bytes);
        match written {
            Ok(()) => self.end += bytes.len() as u64,
            // A reader would find a torn section.
            Err(_) => drop(self.file.set_len(self.end)),
        }
        written
    }

    /// Waits until all sections are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// The file, for [`CheckpointReader::within`].
    pub(crate) fn file(&self) -> Arc<dyn StoredFile> {
        Arc::clone(&self.file)
    }

    /// Where the next section goes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Gives up all sections from a place on.
    pub(crate) fn cut(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.end = end;
        Ok(())
    }
}

/// Reads a checkpoint from its beginning.
#[derive(Debug)]
pub(crate) struct CheckpointReader {
    file: Arc<dyn StoredFile>,
    len: u64,
    /// Behind the last section that was read.
    at: u64,
    damaged: bool,
}

impl CheckpointReader {
    /// Opens a file.
    pub(crate) fn open(storage: &dyn Storage, path: &Path) -> Result<CheckpointReader, Unusable> {
        let file: Arc<dyn StoredFile> = Arc::from(storage.open_to_write(path)?);
        let len = file.byte_len()?;
        let mut magic = [0; MAGIC.len()];
        if !fill(&*file, &mut magic, 0)? || magic[..8] != MAGIC[..8] {
            return Err(Unusable::Damaged);
        }
        if magic != MAGIC {
            return Err(Unusable::Other("was made by another version of the program"));
        }
        Ok(CheckpointReader { file, len, at: MAGIC.len() as u64, damaged: false })
    }

    /// Reads sections at a place that was read before.
    pub(crate) fn within(file: Arc<dyn StoredFile>, place: Range<u64>) -> CheckpointReader {
        CheckpointReader { file, len: place.end, at: place.start, damaged: false }
    }

    /// Goes back to where a section begins.
    pub(crate) fn go_back(&mut self, position: u64) {
        self.at = position;
    }

    /// The next section; none at the end, and where there is none that is whole.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Tag, Vec<u8>)>> {
        let mut head = [0; HEAD];
        if self.damaged || !fill(&*self.file, &mut head, self.at)? {
            return Ok(None);
        }
        let [t0, t1, t2, t3, size @ .., c0, c1, c2, c3] = head;
        let (tag, crc) = ([t0, t1, t2, t3], u32::from_le_bytes([c0, c1, c2, c3]));
        let size = u64::from_le_bytes(size);
        let start = self.at + HEAD as u64;
        // The length is worth nothing before the checksum.
        if size > MAX_SECTION {
            self.damaged = true;
            return Ok(None);
        }
        if start + size > self.len {
            return Ok(None);
        }
        let mut payload = vec![0; size as usize];
        if !fill(&*self.file, &mut payload, start)? {
            return Ok(None);
        }
        if checksum(tag, &payload) != crc {
            self.damaged = start + size < self.len;
            return Ok(None);
        }
        self.at = start + size;
        Ok(Some((tag, payload)))
    }

    /// Behind the last section that was read.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Whether there is more wrong than a last section whose writer died.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Goes on writing from a place on; what is behind it is cut off.
    pub(crate) fn into_container(self, end: u64) -> io::Result<CheckpointFile> {
        if end < self.len {
            self.file.set_len(end)?;
        }
        Ok(CheckpointFile { file: self.file, end })
    }
}

/// A section as bytes.
pub(crate) fn section(tag: Tag, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend_from_slice(&tag);
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(tag, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The CRC-32 of name, length and contents.
pub(crate) fn checksum(tag: Tag, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&tag);
    crc.update(&(payload.len() as u64).to_le_bytes());
    crc.update(payload);
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use hoffman_store::Simulated;

    use super::*;

    type Sections = Vec<(Tag, Vec<u8>)>;

    fn read(storage: &Simulated, path: &Path) -> Result<(Sections, bool), Unusable> {
        let mut reader = CheckpointReader::open(storage, path)?;
        let mut all = Vec::new();
        while let Some(section) = reader.next()? {
            all.push(section);
        }
        let (end, damaged) = (reader.position(), reader.is_damaged());
        reader.into_container(end)?;
        Ok((all, damaged))
    }

    fn made() -> (Simulated, Sections) {
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let mut container =
            CheckpointFile::create(&storage, Path::new("c"), *b"MANI", b"what it is").unwrap();
        container.append(*b"SLIC", &[7; 300]).unwrap();
        container.append(*b"XXXX", &[]).unwrap();
        let all = vec![
            (*b"MANI", b"what it is".to_vec()),
            (*b"SLIC", vec![7; 300]),
            (*b"XXXX", Vec::new()),
        ];
        (simulated, all)
    }

    #[test]
    fn sections_come_back_and_can_be_added_to() {
        let (storage, mut all) = made();
        assert_eq!(read(&storage, Path::new("c")).unwrap(), (all.clone(), false));
        let reader = CheckpointReader::open(&storage, Path::new("c")).unwrap();
        let end = storage.contents(Path::new("c")).unwrap().len() as u64;
        let mut container = reader.into_container(end).unwrap();
        container.append(*b"SLIC", &[1]).unwrap();
        all.push((*b"SLIC", vec![1]));
        assert_eq!(read(&storage, Path::new("c")).unwrap(), (all, false));
    }

    #[test]
    fn a_torn_end_is_cut_off() {
        let (storage, all) = made();
        let whole = storage.contents(Path::new("c")).unwrap();
        for len in 0..whole.len() {
            storage.put(Path::new("d"), &whole[..len]);
            let Ok((sections, damaged)) = read(&storage, Path::new("d")) else {
                assert!(len < MAGIC.len());
                continue;
            };
            assert!(sections.len() < all.len() && !damaged, "{len}");
            assert_eq!(sections, all[..sections.len()]);
            // What is left is whole.
            assert_eq!(read(&storage, Path::new("d")).unwrap().0, sections);
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let (storage, all) = made();
        let whole = storage.contents(Path::new("c")).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            storage.put(Path::new("d"), &bytes);
            if let Ok((sections, _)) = read(&storage, Path::new("d")) {
                assert!(sections.len() < all.len(), "bit {bit}");
                assert_eq!(sections, all[..sections.len()], "bit {bit}");
            }
        }
    }
}
