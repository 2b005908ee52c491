//! Where and how work is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_run::{ControlBuildOptions, Memory, Progress, Workplace};
use hoffman_table::foreign::ForeignOptions;
use hoffman_table::htb::Compression;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;
use crate::event::Cancel;

/// Where and how tables are made.
#[derive(Clone, Debug)]
pub struct Options {
    dir: PathBuf,
    write: bool,
    memory: Option<u64>,
    threads: Threads,
    cancel: Cancel,
    syzygy: Vec<PathBuf>,
    program: String,
    compression: Compression,
    keep_free: Option<u64>,
}

/// The threads that work is done on.
#[derive(Clone, Debug)]
enum Threads {
    /// So many, or one a core if 0, for as long as the work takes.
    Count(usize),
    /// Those of the caller.
    Pool(Arc<ThreadPool>),
}

impl Options {
    /// Tables in this folder; all memory, one thread a core.
    pub fn new(dir: impl AsRef<Path>) -> Options {
        Options {
            dir: dir.as_ref().to_owned(),
            write: true,
            memory: None,
            threads: Threads::Count(0),
            cancel: Cancel::new(),
            syzygy: Vec::new(),
            program: String::new(),
            compression: Compression::default(),
            keep_free: None,
        }
    }

    /// Whether files are written; else what is solved is there for the answer only.
    #[must_use]
    pub fn write(self, write: bool) -> Options {
        Options { write, ..self }
    }

    /// The most memory that the process may take, in bytes; what does not fit goes to files without a name in the
    /// folder.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Options {
        Options { memory: Some(bytes), ..self }
    }

    /// Work on so many threads, which live as long as a call; 0 for one a core.
    #[must_use]
    pub fn threads(self, count: usize) -> Options {
        Options { threads: Threads::Count(count), ..self }
    }

    /// Work on the threads of this pool.
    #[must_use]
    pub fn pool(self, pool: Arc<ThreadPool>) -> Options {
        Options { threads: Threads::Pool(pool), ..self }
    }

    /// How much time goes into making files small.
    #[must_use]
    pub fn compression(self, compression: Compression) -> Options {
        Options { compression, ..self }
    }

    /// How many bytes of the folder's disk are left to others; a twentieth of it, but not more than two gigabytes, if
    /// nobody says.
    #[must_use]
    pub fn keep_free(self, bytes: u64) -> Options {
        Options { keep_free: Some(bytes), ..self }
    }

    /// What stops the work.
    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> Options {
        Options { cancel, ..self }
    }

    /// Another folder in which Syzygy tables are looked for, for control files that name some.
    #[must_use]
    pub fn syzygy(mut self, folder: impl AsRef<Path>) -> Options {
        self.syzygy.push(folder.as_ref().to_owned());
        self
    }

    /// What the headers of the tables say they were made by, as a command line.
    #[must_use]
    pub fn program(self, program: impl Into<String>) -> Options {
        Options { program: program.into(), ..self }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn writes(&self) -> bool {
        self.write
    }

    pub(crate) fn args(&self) -> String {
        self.program.clone()
    }

    fn foreign(&self) -> ForeignOptions {
        ForeignOptions { syzygy: self.syzygy.clone(), ..ForeignOptions::default() }
    }

    /// How the tables of a control file are built.
    pub(crate) fn control_build<'p>(&self, progress: &'p dyn Progress) -> ControlBuildOptions<'p> {
        ControlBuildOptions {
            dir: Some(self.dir.clone()),
            args: self.args(),
            foreign: self.foreign(),
            progress,
            workplace: self.workplace(),
        }
    }

    pub(crate) fn workplace(&self) -> Workplace {
        let memory = self.memory.map(|bytes| Memory { bytes, raise: false });
        Workplace {
            stop: self.cancel.0.clone(),
            memory,
            compression: self.compression,
            keep_free: self.keep_free,
            ..Workplace::default()
        }
    }

    /// Does work on the threads.
    pub(crate) fn install<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        self.threads.install(work)
    }
}

impl Threads {
    fn install<R: Send>(&self, work: impl FnOnce() -> Result<R, Error> + Send) -> Result<R, Error> {
        match self {
            Threads::Pool(pool) => pool.install(work),
            Threads::Count(count) => {
                let cores = || std::thread::available_parallelism().map_or(1, usize::from);
                let count = if *count == 0 { cores() } else { *count };
                let pool = ThreadPoolBuilder::new().num_threads(count).build();
                pool.map_err(|error| Error::Threads(error.to_string()))?.install(work)
            }
        }
    }
}

/// How a table is checked.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) syzygy: Vec<PathBuf>,
    pub(crate) sample: Option<u64>,
    pub(crate) threads: Option<Arc<ThreadPool>>,
}

impl VerifyOptions {
    /// Every entry, with the futurebases beside the table.
    pub fn new() -> VerifyOptions {
        VerifyOptions::default()
    }

    /// Another folder in which the tables behind captures and promotions are looked for.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> VerifyOptions {
        self.folders.push(folder.as_ref().to_owned());
        self
    }

    /// A folder of Syzygy tables to compare with.
    #[must_use]
    pub fn syzygy(mut self, folder: impl AsRef<Path>) -> VerifyOptions {
        self.syzygy.push(folder.as_ref().to_owned());
        self
    }

    /// Only so many entries, spread evenly.
    #[must_use]
    pub fn sample(self, entries: u64) -> VerifyOptions {
        VerifyOptions { sample: Some(entries), ..self }
    }

    /// Work on the threads of this pool; else one a core.
    #[must_use]
    pub fn pool(self, pool: Arc<ThreadPool>) -> VerifyOptions {
        VerifyOptions { threads: Some(pool), ..self }
    }

    pub(crate) fn install<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        self.threads.clone().map_or(Threads::Count(0), Threads::Pool).install(work)
    }
}
