//! Everything that is written and read of tables goes through [`Storage`]: files, names, locks.
//!
//! [`Disk`] is the file system; [`files`] are those of the disk and, by their addresses, those
//! elsewhere. With the feature `simulated` there is a storage in memory, too, which fails when it
//! is told to and loses at power-off what was not synced. Knows nothing of what files hold. How
//! much memory there is for them is said here, too.
#![forbid(unsafe_code)]

mod disk;
mod lock;
mod memory;
mod pattern;
mod places;
#[cfg(feature = "simulated")]
mod simulated;
mod writer;

use std::ffi::OsString;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub use disk::Disk;
pub use lock::{lock_name, probe, temporary_name, tidy};
pub use memory::{SystemLimits, available_memory, limits};
pub use pattern::{files_like, has_wildcards, is_like};
pub use places::{files, is_address, is_folder, may_be_file, named_in, reach_addresses_by};
#[cfg(feature = "simulated")]
pub use simulated::{Fault, Op, Simulated};
use writer::FileReader;
pub use writer::FileWriter;

/// A place for files.
pub trait Storage: Debug + Send + Sync {
    /// Makes a new file to write and read.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and those of the system.
    fn create(&self, path: &Path) -> io::Result<Box<dyn StoredFile>>;

    /// Makes a new file without a name to write and read, which goes when it is dropped.
    ///
    /// # Errors
    /// Those of the system.
    fn scratch(&self, folder: &Path) -> io::Result<Box<dyn StoredFile>>;

    /// Opens a file to read at any place.
    ///
    /// # Errors
    /// Those of the system, and what is no ordinary file.
    fn open(&self, path: &Path) -> io::Result<Box<dyn StoredFile>>;

    /// Opens a file to read once from its beginning. It may be a pipe, which is waited for.
    ///
    /// # Errors
    /// Those of the system.
    fn open_stream(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(FileReader::new(self.open(path)?)))
    }

    /// Opens a file to write and read, its contents left as they are.
    ///
    /// # Errors
    /// Those of the system.
    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn StoredFile>>;

    /// Gives a file another name, at once and replacing what has it.
    ///
    /// # Errors
    /// Those of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// Those of the system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes a folder and those it lies in, unless it is there.
    ///
    /// # Errors
    /// Those of the system.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// The names of what is in a folder.
    ///
    /// # Errors
    /// Those of the system.
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// What is known of a file without opening it.
    ///
    /// # Errors
    /// Those of the system.
    fn info(&self, path: &Path) -> io::Result<FileInfo>;

    /// Takes the lock of that name; none if it is held. A lock is a file that only its holder
    /// removes: it goes when the guard is dropped, and what a dead process left can be taken
    /// again.
    ///
    /// # Errors
    /// Those of the system.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;

    /// The folder of the disk that holds the working files of a folder: itself, if it is one.
    fn on_disk(&self, folder: &Path) -> PathBuf {
        folder.to_owned()
    }
}

/// An open file.
pub trait StoredFile: Debug + Send + Sync {
    /// Reads at most `buf.len()` bytes at `offset`; 0 at the end.
    ///
    /// # Errors
    /// Those of the system.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some of the bytes at `offset` and returns how many.
    ///
    /// # Errors
    /// Those of the system.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// The number of bytes.
    ///
    /// # Errors
    /// Those of the system.
    fn byte_len(&self) -> io::Result<u64>;

    /// Cuts the file off, or fills it up with zeros.
    ///
    /// # Errors
    /// Those of the system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes the contents durable.
    ///
    /// # Errors
    /// Those of the system.
    fn sync(&self) -> io::Result<()>;
}

/// Holds a lock until it is dropped.
pub trait Lock: Debug + Send + Sync {}

/// See [`Storage::info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Whether it is a file, not a folder or a device.
    pub is_file: bool,
    /// The number of bytes.
    pub len: u64,
    /// When it was last written to, if the system says so.
    pub modified: Option<SystemTime>,
    /// Two numbers that no other file has, if the system knows such: two names with the same ones
    /// are names of one file.
    pub id: Option<(u64, u64)>,
}

/// Whether two names are those of one file, by links or otherwise. A file that is not there is no
/// other.
pub fn is_same_file(storage: &dyn Storage, one: &Path, other: &Path) -> bool {
    let id = |path: &Path| storage.info(path).ok().and_then(|info| info.id);
    one.components().eq(other.components()) || id(one).is_some_and(|one| id(other) == Some(one))
}

/// The disk, one for the whole process.
pub fn disk() -> Arc<dyn Storage> {
    Disk::shared()
}

/// The whole of a file.
///
/// # Errors
/// Those of the system.
pub fn read(storage: &dyn Storage, path: &Path) -> io::Result<Vec<u8>> {
    let file = storage.open(path)?;
    let mut bytes = Vec::new();
    loop {
        let done = bytes.len();
        // A length that the system tells may be anything, so it is not relied upon.
        bytes.resize(done + (done / 2).max(1 << 16), 0);
        let got = match file.read_at(&mut bytes[done..], done as u64) {
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
            Err(e) => return Err(e),
        };
        bytes.truncate(done + got);
        if got == 0 && file.byte_len()? <= done as u64 {
            return Ok(bytes);
        }
    }
}

/// The whole of a file or of a pipe, if it has at most `limit` bytes.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if it has more, and those of the system.
pub fn read_stream(storage: &dyn Storage, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    storage.open_stream(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let text = format!("it is larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Fills a buffer with what a file has at `offset`; false if the file ends before.
///
/// # Errors
/// Those of the system.
pub fn fill(file: &dyn StoredFile, buf: &mut [u8], offset: u64) -> io::Result<bool> {
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

/// Whether there is a file of that name.
pub fn is_file(storage: &dyn Storage, path: &Path) -> bool {
    storage.info(path).is_ok_and(|info| info.is_file)
}

/// Refuses a place that a new file must not take: that of a folder, of a device or of a pipe.
/// Giving a file such a name would fail in the end, or put the file in the device's place for
/// every program.
///
/// # Errors
/// What is there is no ordinary file, or the path has no file name.
pub fn check_place(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    let invalid = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if path.file_name().is_none() {
        return invalid("the path has no file name");
    }
    match storage.info(path) {
        Ok(info) if !info.is_file => invalid("what is there is not an ordinary file"),
        _ => Ok(()),
    }
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
