//! How far the search for a proof is, in a file from which the same search goes on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::{Chess, EnPassantMode};
use hoffman_store::{files, is_file};
use hoffman_table::htb::AtomicFile;
use serde_json::{Value, json};

use crate::error::Error;

/// What stands in every such file, and the version of what stands beside it.
const FORMAT: &str = "hoffman-search";
const VERSION: u64 = 1;

/// The longest file that is read, in bytes: a million slices have fifty megabytes.
const LONGEST: u64 = 1 << 28;

/// The slices that a search of a position has open, in a file.
pub(crate) struct SearchFile {
    path: PathBuf,
    position: String,
    /// What the file named before.
    slices: Vec<String>,
    file: AtomicFile,
}

impl SearchFile {
    /// Reads what is there of the search of a position, and makes sure that more can be written.
    pub(crate) fn of(path: &Path, position: &Chess) -> Result<SearchFile, Error> {
        let position = Epd::from_position(position, EnPassantMode::Legal).to_string();
        let slices = if is_file(&*files(), path) { read(path, &position)? } else { Vec::new() };
        let file = AtomicFile::create(path).map_err(|error| failed(path, &error))?;
        Ok(SearchFile { path: path.to_owned(), position, slices, file })
    }

    /// The slices that were open, in the words of [`hoffman_prove::Prover::opened`].
    pub(crate) fn slices(&self) -> &[String] {
        &self.slices
    }

    /// Slices that the file names are none of the position.
    pub(crate) fn is_wrong_about(&self, slice: &str) -> Error {
        failed(&self.path, &format!("'{slice}' is no slice behind {}", self.position))
    }

    /// Writes which slices are open now. Those that there was no time or no room to open again are
    /// kept.
    pub(crate) fn write(self, opened: &[String]) -> Result<(), Error> {
        let known: BTreeSet<&String> = opened.iter().collect();
        let left = self.slices.iter().filter(|slice| !known.contains(slice));
        let slices: Vec<&String> = opened.iter().chain(left).collect();
        let value = json!({
            "format": FORMAT,
            "version": VERSION,
            "position": self.position,
            "slices": slices,
        });
        serde_json::to_writer_pretty(self.file.writer(), &value)
            .map_err(|error| failed(&self.path, &error))?;
        self.file.commit().map_err(|error| failed(&self.path, &error))
    }
}

/// The slices that a file names.
fn read(path: &Path, position: &str) -> Result<Vec<String>, Error> {
    let bytes = hoffman_store::read_stream(&*files(), path, LONGEST)
        .map_err(|error| failed(path, &error))?;
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if value["format"] != FORMAT {
        return Err(failed(path, &"is no file of a search; it is not overwritten"));
    }
    if value["version"] != VERSION {
        return Err(failed(path, &"is the file of a search by another version; remove it"));
    }
    if value["position"] != position {
        return Err(failed(path, &format!("is of the search of {}", value["position"])));
    }
    let slices = value["slices"].as_array().map_or(&[][..], Vec::as_slice);
    let words = slices.iter().map(|slice| slice.as_str().map(str::to_owned));
    words.collect::<Option<_>>().ok_or_else(|| failed(path, &"names something that is no slice"))
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Search(format!("{}: {why}", path.display()))
}
