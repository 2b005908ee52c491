//! Files that appear complete or not at all.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_store::{
    FileWriter, Storage, StoredFile, check_place, files, folder_of, temporary_name,
};

use super::{HtbError, during};

/// A file written under a temporary name beside its target and renamed when it is complete.
/// Dropped before that, it is removed and the target stays as it was.
#[derive(Debug)]
pub struct AtomicFile {
    storage: Arc<dyn Storage>,
    file: Box<dyn StoredFile>,
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Creates the temporary file `.NAME.tmp-PID` in the target's directory, on the disk.
    ///
    /// # Errors
    /// The directory cannot be written, the target has no name, or a folder or device has it.
    pub fn create(target: impl AsRef<Path>) -> Result<AtomicFile, HtbError> {
        AtomicFile::create_in(files(), target)
    }

    /// As [`AtomicFile::create`], in any storage.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`].
    pub fn create_in(
        storage: Arc<dyn Storage>,
        target: impl AsRef<Path>,
    ) -> Result<AtomicFile, HtbError> {
        let target = target.as_ref().to_owned();
        let create = during("cannot create a temporary file beside the output file");
        check_place(&*storage, &target).map_err(during("cannot write the output file"))?;
        // A number is added if a process of the same id left a file, or another thread writes
        // here.
        for attempt in 0..100_u32 {
            let temporary = temporary_name(&target, attempt);
            match storage.create(&temporary) {
                Ok(file) => {
                    return Ok(AtomicFile { storage, file, temporary, target, committed: false });
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(create(e)),
            }
        }
        Err(create(io::Error::from(ErrorKind::AlreadyExists)))
    }

    /// Writes to the file from its beginning.
    pub fn writer(&self) -> FileWriter<'_> {
        FileWriter::new(&*self.file, 0)
    }

    /// Where the data is until [`AtomicFile::commit`].
    pub fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Makes the data durable and gives the file its name, replacing what was there.
    ///
    /// # Errors
    /// The data cannot be made durable or the file not renamed; then it is removed. Or the name
    /// cannot be made durable; then the file is there, and may be gone if the power fails.
    pub fn commit(mut self) -> Result<(), HtbError> {
        self.file.sync().map_err(during("cannot flush the output file to disk"))?;
        self.give_name()?;
        self.storage
            .sync_folder(folder_of(&self.target))
            .map_err(during("cannot flush the folder of the output file to disk"))
    }

    /// Gives the file its name without waiting for the disk: at power-off it may be lost or cut
    /// short. For what is of use only while the program runs.
    ///
    /// # Errors
    /// The file cannot be renamed; then it is removed.
    pub fn commit_loosely(mut self) -> Result<(), HtbError> {
        self.give_name()
    }

    fn give_name(&mut self) -> Result<(), HtbError> {
        self.storage
            .rename(&self.temporary, &self.target)
            .map_err(during("cannot give the output file its name"))?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = self.storage.remove(&self.temporary);
        }
    }
}
