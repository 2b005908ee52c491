//! Certificates of what was proved.

use std::path::{Path, PathBuf};

use hoffman_certificate::{Checked, Choice, Claim, Claimed};
use hoffman_prove::Strategy;
use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::{CastlingMode, Chess, EnPassantMode};
use hoffman_store::files;
use hoffman_table::htb::AtomicFile;

use crate::error::Error;

/// A file that appears whole or not at all.
pub(crate) struct Certificate {
    path: PathBuf,
    file: AtomicFile,
}

impl Certificate {
    /// Makes sure that it can be written.
    pub(crate) fn create(path: &Path) -> Result<Certificate, Error> {
        let file = AtomicFile::create(path).map_err(|error| failed(path, &error))?;
        Ok(Certificate { path: path.to_owned(), file })
    }

    /// Writes what the strategies prove of a position.
    pub(crate) fn write(self, position: &Chess, strategies: Vec<Strategy>) -> Result<(), Error> {
        let epd = Epd::from_position(position, EnPassantMode::Legal).to_string();
        let claims: Vec<Claim> = strategies.into_iter().map(claim).collect();
        hoffman_certificate::write(self.file.writer(), &epd, &claims)
            .map_err(|error| failed(&self.path, &error))?;
        self.file.commit().map_err(|error| failed(&self.path, &error))
    }
}

/// A strategy as a certificate claims it.
fn claim(strategy: Strategy) -> Claim {
    let Strategy { side, most, choices } = strategy;
    let claimed = most.map_or(Claimed::Holds, Claimed::Wins);
    let choices = choices.into_iter().map(|(epd, choice)| {
        let m = choice.m.map(|m| m.to_uci(CastlingMode::Standard).to_string());
        (epd, Choice { m, moves: choice.moves })
    });
    Claim { side, claimed, choices: choices.collect() }
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
