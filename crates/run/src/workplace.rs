//! Where a run works, and how it is told to stop.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hoffman_board::Format;
use hoffman_solve::Method;
use hoffman_store::{
    Lock, Storage, check_place, files, files_like, folder_of, is_file, lock_name, tidy,
};
use hoffman_table::blocks::{CellStreams, has_suffix, is_hidden, names_of, of_name, twin};
use hoffman_table::htb::{Compression, SourceOptions};
use hoffman_table::{SharedValues, Stop};

use crate::error::RunError;
use crate::memory::{available_memory, usual_margin};
use crate::progress::Progress;
use crate::threads::Threads;

/// The most bytes of a control file.
const LONGEST_CONTROL_FILE: u64 = 4 << 20;

/// The most bytes of values that are held of tables on which futurebases lean: of four men with a
/// pawn four, one side to move, or a dozen without.
const LEANED_ON: u64 = 24 << 20;

/// How often a run that waits for a lock looks again.
const LOOK: Duration = Duration::from_millis(50);

/// The storage of a run and what holds for all of its tables.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// Where files are.
    pub storage: Arc<dyn Storage>,
    /// Asked at every safe point.
    pub stop: Stop,
    /// How much work on a table may be lost: after so long what is solved of it is put into a
    /// checkpoint, unless that would take more than a thirtieth of the time.
    pub checkpoint_every: Duration,
    /// The memory that the process may take; none: what is there.
    pub memory: Option<Memory>,
    /// How slices are solved that do not fit into memory.
    pub method: Method,
    /// Work in so many bytes of pages, whatever the rest takes: for tests of working from the disk.
    pub pages: Option<usize>,
    /// How small the files are to be.
    pub compression: Compression,
    /// Which values tables of complete endings have, and what their files in the block format.
    pub streams: CellStreams,
    /// Whether it is told where a file cannot have that.
    pub wants_cells: bool,
    /// How many bytes of the disk are left to others by working files and checkpoints, and by
    /// finished files as far as can be foreseen; none: a twentieth of the disk, and not more than
    /// two gigabytes.
    pub keep_free: Option<u64>,
    /// Whether a checkpoint that is there is removed instead of used.
    pub discard: bool,
    /// Whether headers leave out what differs from run to run: the machine, the command line,
    /// times.
    pub reproducible: bool,
    /// A folder in which futurebases are looked for first, by their file names alone, unless their
    /// names begin at the root.
    pub tables: Option<PathBuf>,
    /// The threads for the tables of control files that are worth them; none: those of the caller's
    /// pool.
    pub threads: Option<Threads>,
    /// Values of small tables that several futurebases lean on: each is decoded once.
    pub leaned_on: Arc<SharedValues>,
}

impl Default for Workplace {
    /// The disk, checkpoints every 30 seconds, never stopped.
    fn default() -> Workplace {
        Workplace {
            storage: files(),
            stop: Stop::default(),
            checkpoint_every: Duration::from_secs(30),
            memory: None,
            method: Method::Sweep,
            pages: None,
            compression: Compression::default(),
            streams: CellStreams::default(),
            wants_cells: false,
            keep_free: None,
            discard: false,
            reproducible: false,
            tables: None,
            threads: None,
            leaned_on: Arc::new(SharedValues::new(LEANED_ON)),
        }
    }
}

/// A bound of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In bytes, everything that the process takes.
    pub bytes: u64,
    /// Whether a bound below what is needed at least is raised, as version 1.7 does. It is an error
    /// otherwise.
    pub raise: bool,
}

/// Bytes for which there is room under every bound: what a table of four men and those behind it
/// take.
const FOUR_MEN: u64 = 16 << 20;

impl Workplace {
    /// An error if the run was asked to stop.
    pub(crate) fn check_stop(&self) -> Result<(), RunError> {
        if self.stop.is_requested() {
            return Err(RunError::Interrupted { checkpoint: None });
        }
        Ok(())
    }

    /// The format of the tables of complete endings.
    pub(crate) fn format(&self) -> Format {
        self.streams.content.format()
    }

    /// Whether the file of a complete ending leans on the tables behind it.
    pub(crate) fn leans(&self, output: &Path) -> bool {
        self.streams.profile.leans() && has_suffix(output)
    }

    /// How many bytes of a folder's disk are left to others.
    pub(crate) fn margin(&self, folder: &Path) -> u64 {
        self.keep_free.unwrap_or_else(|| usual_margin(folder))
    }

    /// Does the work of a table with so many positions on the threads that it is worth.
    pub(crate) fn install<R: Send>(&self, positions: u64, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            Some(threads) => threads.install_if_worth(positions, work),
            None => work(),
        }
    }

    /// How tables are opened here.
    pub(crate) fn source_options(&self) -> SourceOptions {
        let (storage, stop) = (Arc::clone(&self.storage), self.stop.clone());
        let behind = self.tables.iter().cloned().collect();
        let usual = SourceOptions { storage, stop, behind, ..SourceOptions::default() };
        // A third of what is free, since what is read of it takes as much again, or half of a
        // bound, which the pages lend meanwhile.
        let whole_limit = match self.memory {
            Some(memory) => (memory.bytes / 2).max(FOUR_MEN),
            None => usual.whole_limit.max(available_memory().unwrap_or(0) / 3),
        };
        let values = self.memory.is_none().then(|| Arc::clone(&self.leaned_on));
        SourceOptions { whole_limit, values, ..usual }
    }

    /// The lock of a table; none if another run has it.
    pub(crate) fn try_lock(&self, target: &Path) -> Result<Option<Box<dyn Lock>>, RunError> {
        let storage = &*self.storage;
        check_place(storage, target)
            .and_then(|()| storage.try_lock(&lock_name(target)))
            .map_err(|source| RunError::Io { action: "write", path: target.to_owned(), source })
    }

    /// Whether another run is making a table, as far as can be told.
    pub(crate) fn is_being_made(&self, target: &Path) -> bool {
        let lock = lock_name(target);
        is_file(&*self.storage, &lock) && matches!(self.storage.try_lock(&lock), Ok(None))
    }

    /// Waits for the lock of a table, and removes what a dead process left of it. A run must not
    /// wait for a lock while it holds one.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or the run was stopped while it waited.
    pub fn lock(&self, target: &Path, progress: &dyn Progress) -> Result<Box<dyn Lock>, RunError> {
        let mut waiting = false;
        loop {
            self.check_stop()?;
            if let Some(lock) = self.try_lock(target)? {
                let folder = folder_of(target);
                tidy(&*self.storage, folder, target.file_name()).map_err(|source| {
                    RunError::Io { action: "tidy up", path: folder.to_owned(), source }
                })?;
                return Ok(lock);
            }
            if !waiting {
                waiting = true;
                let name = target.display();
                tracing::info!(table = %name, "another run makes this table; waiting for it");
                progress.notice(&format!("{name}: another run makes this table; waiting for it"));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The names under which a futurebase is looked for, in this order: each in both containers.
    pub(crate) fn names_of(&self, name: &str) -> Vec<PathBuf> {
        self.places_of(name).iter().flat_map(|place| names_of(place)).collect()
    }

    /// The same as the name has it.
    fn places_of(&self, name: &str) -> Vec<PathBuf> {
        let path = Path::new(name);
        let folder = self.tables.as_deref().filter(|_| path.is_relative());
        let inside = folder.zip(path.file_name()).map(|(folder, file)| folder.join(file));
        inside.into_iter().chain([path.to_owned()]).collect()
    }

    /// The file that a futurebase without wildcards is read from: the first that is there.
    pub(crate) fn locate(&self, name: &str) -> PathBuf {
        let is_there = |path: &Path| is_file(&*self.storage, path);
        let options = self.source_options();
        let mut places = self.places_of(name).into_iter();
        let there = places.find_map(|place| of_name(&place, &options, is_there));
        there.unwrap_or_else(|| PathBuf::from(name))
    }

    /// The files that a futurebase with wildcards stands for. A file hides others of its name in
    /// later places, and that of a table in one container the one in the other.
    pub(crate) fn files_like(&self, name: &str) -> io::Result<Vec<PathBuf>> {
        let mut found: Vec<PathBuf> = Vec::new();
        for place in self.places_of(name) {
            let mut here = Vec::new();
            for pattern in names_of(&place).filter_map(|name| name.to_str().map(str::to_owned)) {
                here.extend(files_like(&*self.storage, &pattern)?);
            }
            let is_here = |path: &Path| here.iter().any(|listed| listed == path);
            let options = self.source_options();
            for path in here.iter().filter(|path| !is_hidden(path, &options, is_here)) {
                let twin = twin(path);
                let names = [path.file_name(), twin.as_deref().and_then(Path::file_name)];
                if !found.iter().any(|known| names.contains(&known.file_name())) {
                    found.push(path.clone());
                }
            }
        }
        Ok(found)
    }

    /// Makes a folder.
    pub(crate) fn create_folder(&self, folder: &Path) -> Result<(), RunError> {
        self.storage.create_folder(folder).map_err(|source| RunError::Io {
            action: "create the folder",
            path: folder.to_owned(),
            source,
        })
    }

    /// Finds out before the work whether files can be made in a folder.
    pub(crate) fn probe(&self, folder: &Path) -> Result<(), RunError> {
        hoffman_store::probe(&*self.storage, folder).map_err(|source| RunError::Io {
            action: "write to",
            path: folder.to_owned(),
            source,
        })
    }

    /// The bytes of a control file, which may be a pipe.
    pub(crate) fn read_control(&self, path: &Path) -> Result<Vec<u8>, RunError> {
        hoffman_store::read_stream(&*self.storage, path, LONGEST_CONTROL_FILE).map_err(|source| {
            RunError::Io { action: "read the control file", path: path.to_owned(), source }
        })
    }
}
