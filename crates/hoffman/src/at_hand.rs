//! Complete tables at hand, as the leaves of proofs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hoffman_board::{Color, Material, Outcome, Role, Square, Value};
use hoffman_probe::collection::Collection;
use hoffman_probe::open_table::OpenTable;
use hoffman_prove::{Endings, LookedUp, ReadingCost};
use hoffman_reader::shakmaty::{Chess, EnPassantMode, Position as _};
use hoffman_run::values_of_table;
use hoffman_space::TableValues;
use hoffman_table::foreign::{ForeignKind, ForeignOptions};
use hoffman_table::htb::SourceOptions;
use hoffman_table::{EntryValue, Stop, TableError, rows};

use crate::error::Error;
use crate::options::Options;
use crate::watch::Watch;

/// How many entries of a table are read in the time in which a position is evaluated, and how many
/// positions are evaluated in the time in which a Syzygy file is asked for one.
const READ: u64 = 4;
const ASKED: u64 = 2;

/// The tables of a folder and of folders of Syzygy files that have every position of their men,
/// with the values of chess.
pub(crate) struct AtHand {
    tables: Collection,
    with_distances: bool,
    watch: Watch,
    /// Requested when the search is to end.
    stop: Stop,
    found: Mutex<FoundTables>,
}

/// What was found so far.
#[derive(Default)]
struct FoundTables {
    endings: HashMap<Material, Option<Arc<OpenTable>>>,
    read: Vec<PathBuf>,
    /// Why some are not used.
    refused: Vec<String>,
}

impl AtHand {
    /// Those that the options name; no files are opened yet. `with_distances`: only tables that
    /// have them. `watch`: when the search is to end. `memory`: what a table may take while it is
    /// read, in bytes.
    ///
    /// # Errors
    /// A folder that was named cannot be listed.
    pub(crate) fn of(
        options: &Options,
        with_distances: bool,
        watch: Watch,
        memory: usize,
    ) -> Result<AtHand, Error> {
        let stop = Stop::default();
        // The fifty-move rule is not regarded.
        let reading = options.reading().clone().cursed_wins(true);
        let (memory_limit, whole_limit) = (memory as u64, memory as u64);
        let source = SourceOptions {
            stop: stop.clone(),
            memory_limit,
            whole_limit,
            ..SourceOptions::default()
        };
        let mut tables = Collection::with_options(source);
        let listed = |error| Error::Probe(hoffman_reader::Error::from(error));
        let folder = options.given_folder().filter(|folder| hoffman_store::is_folder(folder));
        if let Some(folder) = folder {
            tables.add_folder(folder).map_err(listed)?;
        }
        let foreign = ForeignOptions { stop: stop.clone(), ..reading.foreign() };
        for folder in reading.syzygy_folders() {
            tables.add_syzygy_folder(folder, &foreign).map_err(listed)?;
        }
        Ok(AtHand { tables, with_distances, watch, stop, found: Mutex::default() })
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
        let look = || self.tables.complete(ending, self.with_distances);
        let (table, failed) = self.watch.over(&self.stop, look);
        // What was stopped is not damaged.
        if !self.stop.is_requested() {
            found.refused.extend(failed.iter().map(|error| format!("{error}; it is not used")));
        }
        found.endings.insert(*ending, table.clone());
        table
    }

    /// Why the table of an ending is not used after all, unless reading it was stopped.
    fn refuse(&self, ending: &Material, why: &str) {
        let mut found = self.found();
        if !self.stop.is_requested() {
            found.refused.push(format!("{why}; it is not used"));
        }
        found.endings.insert(*ending, None);
    }

    /// The table of an ending was read, or a part of it.
    fn tell_read(&self, member: &OpenTable) {
        let (mut found, path) = (self.found(), member.table().path());
        if !found.read.iter().any(|read| read == path) {
            found.read.push(path.to_owned());
        }
    }

    /// No code panics while it holds the lock.
    fn found(&self) -> MutexGuard<'_, FoundTables> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Endings for AtHand {
    fn reading(&self, ending: &Material) -> Option<ReadingCost> {
        let member = self.table(ending)?;
        let (table, space) = (member.table(), member.table().space());
        let slices = rows::structures_of(space).len() as u64;
        let codes = slices.saturating_mul(2 * rows::layout_of(space).len() as u64);
        // Outcomes are packed, and distances of many moves are two bytes.
        let values = if self.with_distances { codes.saturating_mul(2) } else { codes };
        let packed = table.codec().area_bytes(space.size());
        let positions = match ForeignKind::of(table.path()) {
            Some(_) => codes.saturating_mul(ASKED),
            None => codes / READ,
        };
        let bytes = usize::try_from(values.saturating_add(packed)).unwrap_or(usize::MAX);
        Some(ReadingCost { bytes, positions })
    }

    fn values(&self, ending: &Material) -> Option<Arc<TableValues>> {
        let member = self.table(ending)?;
        let read = || values_of_table(member.table(), self.with_distances, &self.stop);
        match self.watch.over(&self.stop, read) {
            Ok(values) if values.material == *ending => {
                self.tell_read(&member);
                return Some(Arc::new(values));
            }
            Ok(_) => {
                let path = member.table().path().display();
                self.refuse(ending, &format!("{path}: holds other men"));
            }
            Err(error) => self.refuse(ending, &error.to_string()),
        }
        None
    }

    fn look_up(&self, position: &Chess) -> Option<LookedUp> {
        let ending = material_of(position).normalized().0;
        let member = self.table(&ending)?;
        match self.watch.over(&self.stop, || value_in(&member, position)) {
            Ok(value) => {
                let known = looked_up(value?, position.turn())?;
                self.tell_read(&member);
                Some(known)
            }
            Err(error) => {
                self.refuse(&ending, &error.to_string());
                None
            }
        }
    }
}

fn material_of(position: &Chess) -> Material {
    let men = position.board().clone().into_iter().map(|(_, man)| man);
    Material::from_men(men.map(|man| (man.color, man.role)))
}

/// What a table of chess says of a position, for the side to move; none if it does not hold it.
fn value_in(member: &OpenTable, position: &Chess) -> Result<Option<EntryValue>, TableError> {
    let table = member.table();
    let own = Material::from_men(table.pieces().iter().map(|man| (man.color, man.role)));
    let swapped = own != material_of(position);
    let square = |at: Square| if swapped { at.flip_vertical() } else { at };
    let color = |of: Color| if swapped { of.other() } else { of };

    let men = position.board().clone().into_iter();
    let men = men.map(|(at, man)| (square(at), color(man.color), man.role));
    let men: Vec<(Square, Color, Role)> = men.collect();
    let turn = color(position.turn());
    let en_passant = position.ep_square(EnPassantMode::Legal).map(square);
    let placement = table.place(men, turn, en_passant);
    let Some(index) = placement.and_then(|placement| table.index(&placement)) else {
        return Ok(None);
    };
    if !table.has_known_length() {
        // One checksum for the whole.
        table.check()?;
    }
    table.value(index, turn).map(Some)
}

/// What a value says for the side to move; none if that is no result.
fn looked_up(value: EntryValue, turn: Color) -> Option<LookedUp> {
    let (own, other) = (Outcome::won_by(turn), Outcome::won_by(turn.other()));
    let (outcome, moves) = match value {
        EntryValue::Exact(Value::Win(moves)) => (own, Some(moves)),
        EntryValue::Exact(Value::Loss(moves)) => (other, Some(moves)),
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => (Outcome::Draw, None),
        EntryValue::Win => (own, None),
        EntryValue::Loss => (other, None),
        _ => return None,
    };
    Some(LookedUp { outcome, moves })
}
