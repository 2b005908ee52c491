//! Files that appear complete or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{HtbError, during};

/// A file written under a temporary name beside its target and renamed when it is complete. Dropped
/// before that, it is removed and the target stays as it was.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Creates the temporary file `.NAME.tmp-PID` in the target's directory.
    ///
    /// # Errors
    /// The directory cannot be written, or the target has no name.
    pub fn create(target: impl AsRef<Path>) -> Result<AtomicFile, HtbError> {
        let target = target.as_ref().to_owned();
        let create = during("cannot create a temporary file beside the output file");
        let Some(name) = target.file_name() else {
            return Err(create(io::Error::new(
                ErrorKind::InvalidInput,
                "the path has no file name",
            )));
        };
        // A number is added if a process of the same id left a file, or another thread writes here.
        for attempt in 0..100_u32 {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".tmp-{}", std::process::id()));
            if attempt > 0 {
                temporary.push(format!("-{attempt}"));
            }
            let temporary = target.with_file_name(temporary);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
                Ok(file) => return Ok(AtomicFile { file, temporary, target, committed: false }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(create(e)),
            }
        }
        Err(create(io::Error::from(ErrorKind::AlreadyExists)))
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where the data is until [`AtomicFile::commit`].
    pub fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Makes the data durable and gives the file its name, replacing what was there.
    ///
    /// # Errors
    /// The data cannot be made durable or the file not renamed; then it is removed.
    pub fn commit(mut self) -> Result<(), HtbError> {
        self.file.sync_all().map_err(during("cannot flush the output file to disk"))?;
        fs::rename(&self.temporary, &self.target)
            .map_err(during("cannot give the output file its name"))?;
        self.committed = true;
        // The name is durable once the directory is; where directories cannot be opened there is nothing
        // to be done about it.
        if let Some(directory) = self.target.parent() {
            let directory =
                if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            if let Ok(directory) = File::open(directory) {
                let _ = directory.sync_all();
            }
        }
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
