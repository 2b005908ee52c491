//! Certificates of what was proved.

use std::path::{Path, PathBuf};

use hoffman_certificate::{Checked, Claim};
use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::{Chess, EnPassantMode};
use hoffman_store::files;
use hoffman_table::htb::AtomicFile;

use crate::error::Error;
use crate::process::create;

/// A file that appears whole or not at all.
pub(crate) struct Certificate {
    path: PathBuf,
    file: AtomicFile,
}

impl Certificate {
    /// Makes sure that it can be written.
    pub(crate) fn create(path: &Path) -> Result<Certificate, Error> {
        let file = create(path).map_err(|error| failed(path, &error))?;
        Ok(Certificate { path: path.to_owned(), file })
    }

    /// Writes what is claimed of a position.
    pub(crate) fn write(self, position: &Chess, claims: &[Claim]) -> Result<(), Error> {
        let epd = Epd::from_position(position, EnPassantMode::Legal).to_string();
        hoffman_certificate::write(self.file.writer(), &epd, claims)
            .map_err(|error| failed(&self.path, &error))?;
        self.file.commit().map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Certificate(format!("{}: {why}", path.display()))
}

/// Checks every claim of a certificate by the rules of chess alone.
///
/// # Errors
/// [`Error::Certificate`]: the file cannot be read, or a line of it is wrong; the first one is
/// named.
pub fn check_certificate(file: impl AsRef<Path>) -> Result<Checked, Error> {
    let path = file.as_ref();
    let input = files().open_stream(path).map_err(|error| failed(path, &error))?;
    hoffman_certificate::check(input).map_err(|error| failed(path, &error))
}
