//! The file of a checkpoint: sections one behind another, each with a name and a checksum.
//!
//! The layout is told in docs/file-formats.md. Sections are only ever added at the end, so a process that
//! dies leaves whole sections and at most one torn one. A program skips sections it does not know.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use hoffman_store::{FileWriter, Storage, StoredFile};
use hoffman_table::htb::AtomicFile;

/// The first bytes of the file: a name and the version.
const MAGIC: [u8; 12] = *b"HOFFCKPT\x01\0\0\0";
/// Name, length and checksum of a section.
const HEAD: usize = 16;

/// What a section is.
pub(crate) type Tag = [u8; 4];

/// Why a checkpoint is of no use.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It says something else than it was made to say.
    Damaged,
    /// Another program made it, or for something else.
    Other(&'static str),
    /// It cannot be read.
    Unreadable(io::Error),
}

impl From<io::Error> for Unfit {
    fn from(error: io::Error) -> Unfit {
        Unfit::Unreadable(error)
    }
}

/// An open checkpoint.
#[derive(Debug)]
pub(crate) struct Container {
    file: Box<dyn StoredFile>,
    /// Where the next section goes.
    end: u64,
}

impl Container {
    /// Makes a file with a first section, replacing what has its name.
    pub(crate) fn create(
        storage: &Arc<dyn Storage>,
        path: &Path,
        tag: Tag,
        first: &[u8],
    ) -> Result<Container, String> {
        let cause = |e: hoffman_table::htb::HtbError| match std::error::Error::source(&e) {
            Some(source) => format!("{e}: {source}"),
            None => e.to_string(),
        };
        let file = AtomicFile::create_in(Arc::clone(storage), path).map_err(cause)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(section(tag, first));
        file.writer().write_all(&bytes).map_err(|e| e.to_string())?;
        file.commit().map_err(cause)?;
        let file = storage.open_to_write(path).map_err(|e| e.to_string())?;
        Ok(Container { file, end: bytes.len() as u64 })
    }

    /// Opens a file and gives all whole sections to `read`, in order. What is behind the last whole one is
    /// cut off; the flag says whether that is more than a section whose writer died.
    pub(crate) fn open(
        storage: &dyn Storage,
        path: &Path,
        mut read: impl FnMut(Tag, &[u8]) -> Result<(), Unfit>,
    ) -> Result<(Container, bool), Unfit> {
        let file = storage.open_to_write(path)?;
        let len = file.byte_len()?;
        let mut magic = [0; MAGIC.len()];
        if !fill(&*file, &mut magic, 0)? || magic[..8] != MAGIC[..8] {
            return Err(Unfit::Damaged);
        }
        if magic != MAGIC {
            return Err(Unfit::Other("was made by another version of the program"));
        }
        let mut end = MAGIC.len() as u64;
        let mut damaged = false;
        let mut payload = Vec::new();
        while end < len {
            let mut head = [0; HEAD];
            if !fill(&*file, &mut head, end)? {
                break;
            }
            let (tag, rest) = head.split_first_chunk::<4>().ok_or(Unfit::Damaged)?;
            let (size, crc) = rest.split_first_chunk::<8>().ok_or(Unfit::Damaged)?;
            let size = u64::from_le_bytes(*size);
            let behind = end.saturating_add(HEAD as u64).saturating_add(size);
            // The length is worth nothing before the checksum, but the file bounds it.
            let Some(size) = usize::try_from(size).ok().filter(|_| behind <= len) else { break };
            payload.clear();
            payload.resize(size, 0);
            if !fill(&*file, &mut payload, end + HEAD as u64)? {
                break;
            }
            if checksum(*tag, &payload).to_le_bytes() != crc {
                damaged = behind < len;
                break;
            }
            read(*tag, &payload)?;
            end = behind;
        }
        if end < len {
            file.set_len(end)?;
        }
        Ok((Container { file, end }, damaged))
    }

    /// Adds a section and waits until it is on the disk. If that fails the file is as it was.
    pub(crate) fn append(&mut self, tag: Tag, payload: &[u8]) -> io::Result<()> {
        let bytes = section(tag, payload);
        let written = FileWriter::new(&*self.file, self.end)
            .write_all(&bytes)
            .and_then(|()| self.file.sync());
        match written {
            Ok(()) => self.end += bytes.len() as u64,
            // Whoever reads it would find a torn section.
            Err(_) => drop(self.file.set_len(self.end)),
        }
        written
    }
}

fn section(tag: Tag, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend_from_slice(&tag);
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(tag, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The CRC-32 of name, length and contents.
fn checksum(tag: Tag, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&tag);
    crc.update(&(payload.len() as u64).to_le_bytes());
    crc.update(payload);
    crc.finalize()
}

/// Fills a buffer; false if the file ends before.
fn fill(file: &dyn StoredFile, buf: &mut [u8], offset: u64) -> io::Result<bool> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64) {
            Ok(0) => return Ok(false),
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use hoffman_store::Simulated;

    use super::*;

    type Sections = Vec<(Tag, Vec<u8>)>;

    fn read(storage: &Simulated, path: &Path) -> Result<(Sections, bool), Unfit> {
        let mut all = Vec::new();
        let (_, damaged) = Container::open(storage, path, |tag, payload| {
            all.push((tag, payload.to_vec()));
            Ok(())
        })?;
        Ok((all, damaged))
    }

    fn made() -> (Simulated, Sections) {
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let mut container =
            Container::create(&storage, Path::new("c"), *b"MANI", b"what it is").unwrap();
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
        let (mut container, _) = Container::open(&storage, Path::new("c"), |_, _| Ok(())).unwrap();
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
