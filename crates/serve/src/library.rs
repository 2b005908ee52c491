//! Which tables there are, and which of them answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hoffman::process::cores;
use hoffman::{
    Cancel, Category, Error, ListOptions, ListQuery, Material, OpenOptions, Position, ProbeError,
    ReadOptions, Report, Table, TableFile, TableInfo, TableLists, TableStats, Tablebase, Value,
    Variant,
};
use hyper::StatusCode;
use serde::Serialize;

use crate::limits::ServerLimits;
use crate::positions::positions;
use crate::response::{Refusal, to_json};
use crate::route::ChessRules;

/// For so long it is not looked again which files there are.
const FRESH: Duration = Duration::from_secs(2);

/// The bytes that an entry of the block format takes at most while a table is counted: the values
/// of both sides, the entries, and what the table leans on.
const BLOCKS_ROOM: u64 = 5;

/// The seconds that a thread takes for it, about.
const BLOCKS_TIME: f64 = 1.6e-7;

/// The bytes that an entry that is stored by itself takes at most.
const PACKED_ROOM: u64 = 2;

/// The seconds that a thread takes for an entry that is stored by itself, about.
const PACKED_TIME: f64 = 1.5e-8;

/// The bytes that counting takes besides.
const COUNTER: u64 = 64 << 20;

/// The tables of some folders. No file outside of them is opened, whatever is asked.
#[derive(Debug)]
pub(crate) struct Library {
    folders: Vec<PathBuf>,
    /// The folders of Syzygy tables.
    syzygy: Vec<PathBuf>,
    /// What is found by the names of endings.
    tables: Tablebase,
    /// How tables with other names are opened.
    options: OpenOptions,
    found: Mutex<Arc<FolderFiles>>,
    /// The table that was listed last. Whoever looks at one goes on looking at it.
    listed: Mutex<Option<HeldTable>>,
}

/// A table whose entries are in memory once something was asked of it.
#[derive(Debug)]
pub(crate) struct HeldTable {
    file: TableFile,
    pub(crate) lists: TableLists,
    /// What ends its reading. Once that was asked for, nothing more can be asked of it.
    pub(crate) cancel: Cancel,
}

/// What it takes to count a table, or to list positions of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct CountCost {
    /// The memory, in bytes, at most.
    pub(crate) bytes: u64,
    /// Seconds on the threads that do it, about.
    pub(crate) seconds: f64,
}

/// The files of the folders at some time.
#[derive(Debug)]
struct FolderFiles {
    at: Instant,
    entries: Vec<Arc<FolderFile>>,
    /// Tables whose names are no endings. They are asked where no other has the position.
    named: Option<Tablebase>,
    /// All tables of suicide chess.
    suicide: Option<Tablebase>,
}

/// A file.
#[derive(Debug)]
pub(crate) struct FolderFile {
    file: TableFile,
    info: Result<TableInfo, String>,
    /// What it contains, once that was counted.
    stats: OnceLock<Bytes>,
}

/// What is said of a file.
#[derive(Debug, Serialize)]
struct TableSummary<'e> {
    name: &'e str,
    bytes: u64,
    ending: Option<String>,
    men: Option<usize>,
    variant: Option<&'static str>,
    metric: Option<&'static str>,
    indices: Option<u64>,
    partial: Option<bool>,
    certain: &'e [&'static str],
    assumes: &'e [String],
    /// Whether its positions are counted and listed while the client waits.
    countable: bool,
    /// What that takes otherwise, as work with its progress; none if the owner of the server does
    /// not let that be done.
    counting: Option<CountCost>,
    error: Option<&'e str>,
}

impl FolderFile {
    /// The name of its file, by which it is asked for.
    pub(crate) fn name(&self) -> &str {
        let name = self.file.path.file_name();
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn open(file: TableFile) -> FolderFile {
        let table = Table::open(&file.path, ReadOptions::new());
        let alone = |error: Error| without_folder(&error.to_string(), &file.path);
        let info = table.map(|table| table.info()).map_err(alone);
        FolderFile { file, info, stats: OnceLock::new() }
    }

    fn is_of(&self, variant: Variant) -> bool {
        self.info.as_ref().is_ok_and(|info| info.variant == variant)
    }

    /// Whether it is found by its name, as `krpkr.htb` and `krpkr-b7.htb` are.
    fn is_named_as_ending(&self) -> bool {
        let stem = self.name().split(['-', '.']).next().unwrap_or_default();
        stem.parse::<Material>().is_ok()
    }

    /// Whether all of its values are those of chess.
    fn is_certain(&self) -> bool {
        self.info.as_ref().is_ok_and(|info| info.certain.len() == 4)
    }

    fn listed(&self, limits: &ServerLimits) -> TableSummary<'_> {
        let info = self.info.as_ref().ok();
        let is_too_large = self.is_too_large(limits.counted);
        TableSummary {
            name: self.name(),
            bytes: self.file.bytes,
            ending: info.map(|info| info.ending.to_string()),
            men: info.map(|info| info.ending.men()),
            variant: info.map(|info| match info.variant {
                Variant::Normal => "standard",
                Variant::Suicide => "suicide",
            }),
            metric: info.map(|info| info.format.name()),
            indices: info.map(|info| info.indices),
            partial: info.map(|info| info.is_partial),
            certain: info.map_or(&[], |info| &info.certain),
            assumes: info.map_or(&[], |info| &info.assumes),
            countable: info.is_some() && !is_too_large,
            counting: self.cost().filter(|cost| is_too_large && cost.bytes <= limits.counting),
            error: self.info.as_ref().err().map(String::as_str),
        }
    }

    /// Counts what it contains, if that was not done before and it is not too large.
    pub(crate) fn stats(&self, most: u64) -> Result<Bytes, Refusal> {
        if let Some(stats) = self.stats.get() {
            return Ok(stats.clone());
        }
        self.refuse_too_large(most)?;
        let counted = self.open_table(&Cancel::new())?.stats();
        self.keep_stats(&counted.map_err(|error| self.failed(&error))?)
    }

    /// What it contains, if that was counted.
    pub(crate) fn known_stats(&self) -> Option<Bytes> {
        self.stats.get().cloned()
    }

    /// Keeps what it contains.
    pub(crate) fn keep_stats(&self, counted: &TableStats) -> Result<Bytes, Refusal> {
        let stats = to_json(counted)?;
        Ok(self.stats.get_or_init(|| stats).clone())
    }

    /// What it takes to count it; none of a table that cannot be read.
    pub(crate) fn cost(&self) -> Option<CountCost> {
        let info = self.info.as_ref().ok()?;
        let (room, time) = if self.is_of_blocks() {
            (BLOCKS_ROOM, BLOCKS_TIME)
        } else {
            (PACKED_ROOM, PACKED_TIME)
        };
        let threads = threads_of_work() as f64;
        let bytes = info.indices.saturating_mul(room).saturating_add(COUNTER);
        Some(CountCost { bytes, seconds: info.indices as f64 * time / threads })
    }

    fn is_of_blocks(&self) -> bool {
        self.file.path.extension().is_some_and(|suffix| suffix == "hbf")
    }

    /// Whether it takes too long to be counted while somebody waits. Values of the block format
    /// take less room and more time: of five men a minute.
    pub(crate) fn is_too_large(&self, most: u64) -> bool {
        let entries = self.info.as_ref().map_or(0, |info| info.indices);
        self.file.bytes > most || self.is_of_blocks() && entries > most / 2
    }

    fn refuse_too_large(&self, most: u64) -> Result<(), Refusal> {
        if !self.is_too_large(most) {
            return Ok(());
        }
        let name = self.name();
        let text = format!("{name} is too large to be counted while you wait; POST counts it");
        Err(Refusal::new(StatusCode::FORBIDDEN, "too-large", text))
    }

    fn open_table(&self, cancel: &Cancel) -> Result<Table, Refusal> {
        let table = Table::open(&self.file.path, cancel.reading(ReadOptions::new()));
        table.map_err(|error| self.failed(&error))
    }

    /// The table, to be asked several times.
    pub(crate) fn hold(&self, cancel: Cancel) -> Result<HeldTable, Refusal> {
        let options = ListOptions { cancel: cancel.clone(), ..ListOptions::default() };
        let lists = self.open_table(&cancel)?.lists(&options);
        let lists = lists.map_err(|error| self.failed(&error))?;
        Ok(HeldTable { file: self.file.clone(), lists, cancel })
    }

    pub(crate) fn failed(&self, error: &Error) -> Refusal {
        let text = without_folder(&error.to_string(), &self.file.path);
        // A table without distances is no fault of the server.
        let status = match error {
            Error::List(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal::new(status, error.code(), text)
    }
}

/// A missing table by its ending: the file may be made in one container or the other. Tables with
/// other names are called by these.
fn named_by_ending(name: &str) -> String {
    let stem = name.strip_suffix(".htb").or_else(|| name.strip_suffix(".hbf"));
    let ending = stem.and_then(|stem| stem.parse::<Material>().ok());
    ending.map_or_else(|| name.to_owned(), |ending| ending.to_string())
}

/// On how many threads work that takes long is done: half of the cores are left to those who ask.
pub(crate) fn threads_of_work() -> usize {
    (cores() / 2).max(1)
}

/// A message with file names instead of paths: where the folder lies is nobody's business.
fn without_folder(text: &str, file: &Path) -> String {
    let folder = file.parent().map(|folder| format!("{}/", folder.display()));
    folder.map_or_else(|| text.to_owned(), |folder| text.replace(&folder, ""))
}

impl Library {
    /// The tables of these folders, and the Syzygy tables of those.
    pub(crate) fn open(folders: &[PathBuf], syzygy: &[PathBuf]) -> Result<Library, ProbeError> {
        let named = folders.iter().fold(OpenOptions::new(), OpenOptions::folder);
        let all = syzygy.iter().fold(named.clone(), OpenOptions::syzygy);
        let found =
            FolderFiles { at: Instant::now(), entries: Vec::new(), named: None, suicide: None };
        let library = Library {
            folders: folders.to_vec(),
            syzygy: syzygy.to_vec(),
            tables: all.open()?,
            options: named,
            found: Mutex::new(Arc::new(found)),
            listed: Mutex::new(None),
        };
        let found = library.look(&[]).map_err(|error| match error {
            Error::Probe(error) => error,
            other => ProbeError::Folder(other.to_string()),
        })?;
        *library.found.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(found);
        Ok(library)
    }

    /// What there is, as it was two seconds ago or later.
    fn found(&self) -> Arc<FolderFiles> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.at.elapsed() >= FRESH {
            // A folder that has gone is one of which nothing new is known.
            let seen = self.look(&found.entries).unwrap_or_else(|_| FolderFiles {
                at: Instant::now(),
                entries: found.entries.clone(),
                named: found.named.clone(),
                suicide: found.suicide.clone(),
            });
            *found = Arc::new(seen);
        }
        Arc::clone(&found)
    }

    /// TableLists the folders. What has not changed is not opened again.
    fn look(&self, known: &[Arc<FolderFile>]) -> Result<FolderFiles, Error> {
        let mut entries: Vec<Arc<FolderFile>> = Vec::new();
        for folder in &self.folders {
            for file in hoffman::tables_in(folder)? {
                let same = known.iter().find(|entry| entry.file == file).cloned();
                let entry = same.unwrap_or_else(|| Arc::new(FolderFile::open(file)));
                // Of files with one name the first answers.
                if entries.iter().all(|other| other.name() != entry.name()) {
                    entries.push(entry);
                }
            }
        }
        entries.sort_by(|one, other| one.name().cmp(other.name()));
        let named =
            |entry: &FolderFile| entry.is_of(Variant::Normal) && !entry.is_named_as_ending();
        Ok(FolderFiles {
            at: Instant::now(),
            named: self.tables_of(&entries, named)?,
            suicide: self.tables_of(&entries, |entry| entry.is_of(Variant::Suicide))?,
            entries,
        })
    }

    /// The files that pass a test as one oracle; none if there are none.
    fn tables_of(
        &self,
        entries: &[Arc<FolderFile>],
        test: impl Fn(&FolderFile) -> bool,
    ) -> Result<Option<Tablebase>, Error> {
        let mut files: Vec<_> = entries.iter().filter(|entry| test(entry)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        files.sort_by_key(|entry| !entry.is_certain());
        let add = |options: OpenOptions, entry: &&Arc<FolderFile>| options.file(&entry.file.path);
        let options = files.iter().fold(self.options.clone(), add);
        Ok(Some(options.open_some()?.tables))
    }

    /// How many tables there are.
    pub(crate) fn count(&self) -> usize {
        self.found().entries.len()
    }

    /// A file by its name.
    pub(crate) fn entry(&self, name: &str) -> Option<Arc<FolderFile>> {
        self.found().entries.iter().find(|entry| entry.name() == name).cloned()
    }

    /// The first positions of a list of a table, if that is not too large.
    pub(crate) fn positions(
        &self,
        entry: &FolderFile,
        query: &ListQuery,
        most: u64,
    ) -> Result<Bytes, Refusal> {
        entry.refuse_too_large(most)?;
        let held = self.take_held(entry).map_or_else(|| entry.hold(Cancel::new()), Ok)?;
        // After an error it is opened again: what was missing may be there then.
        let found = positions(&held.lists, query).map_err(|error| entry.failed(&error))?;
        self.keep_held(held);
        Ok(found)
    }

    /// The table that is held, if it is this one; any other one is given up.
    pub(crate) fn take_held(&self, entry: &FolderFile) -> Option<HeldTable> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.take().filter(|held| held.file == entry.file && !held.cancel.is_cancelled())
    }

    /// What may end the reading of a table, if it is held.
    pub(crate) fn held_cancel(&self, entry: &FolderFile) -> Option<Cancel> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let held = listed.as_ref().filter(|held| held.file == entry.file);
        held.map(|held| held.cancel.clone()).filter(|cancel| !cancel.is_cancelled())
    }

    /// Holds a table for the next question.
    pub(crate) fn keep_held(&self, held: HeldTable) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    /// All tables, as JSON.
    pub(crate) fn list(&self, limits: &ServerLimits) -> Result<Bytes, Refusal> {
        let found = self.found();
        to_json(&found.entries.iter().map(|entry| entry.listed(limits)).collect::<Vec<_>>())
    }

    /// The answer to a position.
    pub(crate) fn report(&self, rules: ChessRules, position: &str) -> Result<Report, Refusal> {
        let report = match rules {
            ChessRules::Chess => self.report_chess(position),
            ChessRules::Suicide => match &self.found().suicide {
                Some(tables) => tables.report(position),
                None => return Err(Refusal::not_found("there are no tables of suicide chess")),
            },
        };
        report.map(|report| self.tidy(report)).map_err(|error| self.refusal(error))
    }

    fn report_chess(&self, position: &str) -> Result<Report, ProbeError> {
        let report = self.tables.report(position)?;
        let is_open = |report: &Report| report.verdict.category == Category::Unknown;
        if !is_open(&report) || report.hoffman.table.is_some() {
            return Ok(report);
        }
        let Some(named) = self.found().named.clone() else { return Ok(report) };
        let other = named.report(position)?;
        Ok(if other.hoffman.table.is_some() { other } else { report })
    }

    /// What is proved of a position, without its moves.
    pub(crate) fn value(&self, position: &Position) -> Result<Value, ProbeError> {
        match self.tables.value(position) {
            Err(ProbeError::NoTable { table }) => match &self.found().named {
                Some(named) => named.value(position),
                None => Err(ProbeError::NoTable { table }),
            },
            answered => answered,
        }
    }

    /// Why there is no answer, without the names of folders.
    pub(crate) fn refusal(&self, mut error: ProbeError) -> Refusal {
        if let ProbeError::NoTable { table } = &mut error {
            *table = named_by_ending(table);
        }
        let mut refusal = Refusal::from(error);
        refusal.text = self.without_folders(&refusal.text);
        refusal
    }

    /// An answer without the names of folders, in which missing tables are called by their endings.
    fn tidy(&self, mut report: Report) -> Report {
        let short = |text: &String| self.without_folders(text);
        report.hoffman.table = report.hoffman.table.as_ref().map(short);
        for missing in &mut report.hoffman.missing {
            *missing = named_by_ending(missing);
        }
        for m in &mut report.moves {
            m.hoffman.error = m.hoffman.error.as_ref().map(short);
        }
        report
    }

    fn without_folders(&self, text: &str) -> String {
        let shorten = |text: String, folder: &PathBuf| without_folder(&text, &folder.join("x"));
        self.folders.iter().chain(&self.syzygy).fold(text.to_owned(), shorten)
    }
}

/// Whether an answer says everything, so that no table that comes later changes it.
pub(crate) fn is_complete(report: &Report) -> bool {
    report.verdict.category != Category::Unknown
        && report.hoffman.missing.is_empty()
        && report.moves.iter().all(|m| m.hoffman.error.is_none())
}

#[cfg(test)]
mod tests {
    use super::named_by_ending;

    #[test]
    fn missing_tables_are_called_by_their_endings() {
        for (name, called) in [
            ("kbnk.htb", "KBNvK"),
            ("krpkr.hbf", "KRPvKR"),
            ("fine-70.htb", "fine-70.htb"),
            ("krpkr-b7.htb", "krpkr-b7.htb"),
            ("kbnk", "kbnk"),
        ] {
            assert_eq!(named_by_ending(name), called);
        }
    }
}
