//! How far the search for a proof is, in a file from which the same search goes on.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hoffman_prove::Prover;
use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::{Chess, EnPassantMode};
use hoffman_store::{files, is_file};
use serde_json::{Value, json};

use crate::error::Error;
use crate::process::create;

/// What stands in every such file, and the version of what stands beside it.
const FORMAT: &str = "hoffman-search";
const VERSION: u64 = 1;

/// The longest file that is read, in bytes: a million slices have fifty megabytes.
const LONGEST: u64 = 1 << 28;

/// While a search works its file is written when so much time has gone by, or a tenth more slices
/// are open, but not at once again, and so seldom that writing takes little of the time.
const WRITTEN_EVERY: Duration = Duration::from_secs(30);
const NOT_WITHIN: Duration = Duration::from_millis(200);
const WRITING_IS_ONE_IN: u32 = 20;

/// The slices that a search of a position has open, in a file.
pub(crate) struct SearchFile {
    path: PathBuf,
    position: String,
    /// What the file named before.
    slices: Vec<String>,
    /// When it was written, or tried to be, how many slices were open then, and how long that took.
    written: (Instant, usize, Duration),
}

impl SearchFile {
    /// Reads what is there of the search of a position, and makes sure that more can be written.
    pub(crate) fn of(path: &Path, position: &Chess) -> Result<SearchFile, Error> {
        let position = Epd::from_position(position, EnPassantMode::Legal).to_string();
        let slices = if is_file(&*files(), path) { read(path, &position)? } else { Vec::new() };
        drop(create(path).map_err(|error| failed(path, &error))?);
        let written = (Instant::now(), 0, Duration::ZERO);
        Ok(SearchFile { path: path.to_owned(), position, slices, written })
    }

    /// The slices that were open, in the words of [`hoffman_prove::Prover::opened`].
    pub(crate) fn slices(&self) -> &[String] {
        &self.slices
    }

    /// Slices that the file names are none of the position.
    pub(crate) fn is_wrong_about(&self, slice: &str) -> Error {
        failed(&self.path, &format!("'{slice}' is no slice behind {}", self.position))
    }

    /// Writes which slices a search that goes on has open, if it is time to.
    pub(crate) fn keep(&mut self, prover: &Prover) {
        let (at, open, took) = self.written;
        let (since, more) = (at.elapsed(), prover.open_slices().saturating_sub(open));
        let is_time = more > 0 && since >= WRITTEN_EVERY || more * 10 > open;
        if is_time && since >= NOT_WITHIN.max(took * WRITING_IS_ONE_IN) {
            let began = Instant::now();
            // What cannot be written now may be the next time; at the end it is told.
            let _ = self.write(&prover.opened());
            self.written = (Instant::now(), prover.open_slices(), began.elapsed());
        }
    }

    /// Writes which slices are open now. Those that there was no time or no room to open again are
    /// kept.
    pub(crate) fn write(&self, opened: &[String]) -> Result<(), Error> {
        let known: BTreeSet<&String> = opened.iter().collect();
        let left = self.slices.iter().filter(|slice| !known.contains(slice));
        let slices: Vec<&String> = opened.iter().chain(left).collect();
        let value = json!({
            "format": FORMAT,
            "version": VERSION,
            "position": self.position,
            "slices": slices,
        });
        let text = format!("{value:#}\n");
        let file = create(&self.path).map_err(|error| failed(&self.path, &error))?;
        let written = file.writer().write_all(text.as_bytes());
        written.map_err(|error| failed(&self.path, &error))?;
        file.commit().map_err(|error| failed(&self.path, &error))
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
