//! Complete tables at hand, as the leaves of proofs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hoffman_board::Material;
use hoffman_probe::collection::Collection;
use hoffman_probe::open_table::OpenTable;
use hoffman_prove::{Endings, Reading};
use hoffman_run::values_of_table;
use hoffman_space::TableValues;
use hoffman_table::foreign::Kind;
use hoffman_table::htb::SourceOptions;
use hoffman_table::{Stop, rows};

use crate::error::Error;
use crate::options::Options;

/// How many entries of a table are read in the time in which a position is evaluated, and how many
/// positions are evaluated in the time in which a Syzygy file is asked for one.
const READ: u64 = 4;
const ASKED: u64 = 2;

/// The tables of a folder and of folders of Syzygy files that have every position of their men,
/// with the values of chess.
pub(crate) struct AtHand {
    tables: Collection,
    with_distances: bool,
    stop: Stop,
    found: Mutex<Found>,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    endings: HashMap<Material, Option<Arc<OpenTable>>>,
    read: Vec<PathBuf>,
    /// Why some are not used.
    refused: Vec<String>,
}

impl AtHand {
    /// Those that the options name; no files are opened yet. `with_distances`: only tables that
    /// have them.
    ///
    /// # Errors
    /// A folder that was named cannot be listed.
    pub(crate) fn of(options: &Options, with_distances: bool) -> Result<AtHand, Error> {
        let stop = options.cancel_request().0;
        // The fifty-move rule is not regarded.
        let reading = options.reading().clone().cursed_wins(true);
        let source = SourceOptions { stop: stop.clone(), ..SourceOptions::default() };
        let mut tables = Collection::with_options(source);
        let listed = |error| Error::Probe(hoffman_reader::Error::from(error));
        let folder = options.given_folder().filter(|folder| hoffman_store::is_folder(folder));
        if let Some(folder) = folder {
            tables.add_folder(folder).map_err(listed)?;
        }
        for folder in reading.syzygy_folders() {
            tables.add_syzygy_folder(folder, &reading.foreign()).map_err(listed)?;
        }
        Ok(AtHand { tables, with_distances, stop, found: Mutex::default() })
    }

    /// The files that were read, and why others were not, each in a sentence.
    pub(crate) fn told(&self) -> (Vec<PathBuf>, Vec<String>) {
        let found = self.found();
        (found.read.clone(), found.refused.clone())
    }

    /// The table of an ending; none if it is not at hand, or cannot be used.
    fn table(&self, ending: &Material) -> Option<Arc<OpenTable>> {
        // Bare kings have no moves that matter, and no symmetry to read through.
        if ending.men() <= 2 {
            return None;
        }
        let mut found = self.found();
        if let Some(known) = found.endings.get(ending) {
            return known.clone();
        }
        let (table, failed) = self.tables.complete(ending, self.with_distances);
        found.refused.extend(failed.iter().map(|error| format!("{error}; it is not used")));
        found.endings.insert(*ending, table.clone());
        table
    }

    /// No code panics while it holds the lock.
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Endings for AtHand {
    fn reading(&self, ending: &Material) -> Option<Reading> {
        let member = self.table(ending)?;
        let (table, space) = (member.table(), member.table().space());
        let slices = rows::structures_of(space).len() as u64;
        let codes = slices.saturating_mul(2 * rows::layout_of(space).len() as u64);
        // Outcomes are packed, and distances of many moves are two bytes.
        let values = if self.with_distances { codes.saturating_mul(2) } else { codes };
        let packed = table.codec().area_bytes(space.size());
        let positions = match Kind::of(table.path()) {
            Some(_) => codes.saturating_mul(ASKED),
            None => codes / READ,
        };
        let bytes = usize::try_from(values.saturating_add(packed)).unwrap_or(usize::MAX);
        Some(Reading { bytes, positions })
    }

    fn values(&self, ending: &Material) -> Option<Arc<TableValues>> {
        let member = self.table(ending)?;
        let values = values_of_table(member.table(), self.with_distances, &self.stop);
        let mut found = self.found();
        match values {
            Ok(values) if values.material == *ending => {
                found.read.push(member.table().path().to_owned());
                return Some(Arc::new(values));
            }
            // What was stopped is not damaged.
            Err(_) if self.stop.is_requested() => {}
            Ok(_) => {
                let path = member.table().path().display();
                found.refused.push(format!("{path}: holds other men; it is not used"));
            }
            Err(error) => found.refused.push(format!("{error}; it is not used")),
        }
        found.endings.insert(*ending, None);
        None
    }
}
