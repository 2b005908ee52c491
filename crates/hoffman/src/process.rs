//! What a program wants to know of its process, and files that it writes beside tables.

use std::io::{self, Write as _};
use std::path::Path;

use hoffman_store::Disk;
use hoffman_table::blocks::is_table;
use hoffman_table::foreign::ForeignKind;
use hoffman_table::htb::{AtomicFile, HtbError};

pub use hoffman_run::{
    SystemLimits, available_memory, cores, limits, resident_memory, use_huge_pages,
};

/// Removes the files that are not finished, for a process that ends at once.
pub fn abandon_files() {
    Disk::shared().abandon();
}

/// Whether tables can be looked for there: a folder, or an address, which is not asked.
pub fn is_folder(path: impl AsRef<Path>) -> bool {
    hoffman_store::is_folder(path.as_ref())
}

/// Whether a name is an address: of a web server (`https://`) or in a bucket (`s3://`).
pub fn is_address(path: impl AsRef<Path>) -> bool {
    hoffman_store::is_address(path.as_ref())
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub fn read_whole(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    hoffman_store::read(&*hoffman_store::files(), path.as_ref())
}

/// Writes a file that appears complete or not at all.
///
/// # Errors
/// It cannot be written, or has the name of a table.
pub fn write_whole(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let file = create(path.as_ref())?;
    file.writer().write_all(bytes)?;
    file.commit().map_err(cause)
}

/// The same without waiting for the disk: at power-off it may be lost.
///
/// # Errors
/// It cannot be written, or has the name of a table.
pub fn write_loosely(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let file = create(path.as_ref())?;
    file.writer().write_all(bytes)?;
    file.commit_loosely().map_err(cause)
}

/// Begins a file that is none of a table, and so has not the name of one, which it might replace.
pub(crate) fn create(path: &Path) -> io::Result<AtomicFile> {
    if is_table(path) || ForeignKind::of(path).is_some() {
        let text = "this is the name of a table, and what is written is none";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    AtomicFile::create(path).map_err(cause)
}

/// With what was being done, as far as the system says why.
fn cause(error: HtbError) -> io::Error {
    match error {
        HtbError::Io { action, source } => {
            io::Error::new(source.kind(), format!("{action}: {source}"))
        }
        other => io::Error::other(other),
    }
}
