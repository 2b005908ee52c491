//! Where and how work is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hoffman_board::Format;
use hoffman_reader::ReadOptions;
use hoffman_run::{Memory, Method, Progress, RunOptions, Threads, Workplace, cores};
use hoffman_table::blocks::{CellStreams, Content, Profile};
use hoffman_table::htb::Compression;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;
use crate::event::Cancel;

/// The stack of a thread, in bytes.
pub const STACK: usize = 8 << 20;

/// Where and how tables are made.
#[derive(Clone, Debug)]
pub struct Options {
    dir: Option<PathBuf>,
    write: bool,
    memory: Option<Memory>,
    threads: WorkedOn,
    large: Option<Threads>,
    cancel: Cancel,
    reading: ReadOptions,
    program: String,
    compression: Compression,
    blocks: bool,
    profile: Option<Profile>,
    content: Content,
    keep_free: Option<u64>,
    method: Method,
    discard: bool,
    reproducible: bool,
    checkpoint_every: Option<Duration>,
}

/// The threads that work is done on.
#[derive(Clone, Debug)]
enum WorkedOn {
    /// So many, or one a core if 0, for as long as the work takes.
    Count(usize),
    /// Those of the caller.
    Pool(Arc<ThreadPool>),
    /// Those of the pool that the call is made in.
    Here,
}

impl Options {
    /// Tables in this folder; all memory, one thread a core.
    pub fn new(dir: impl AsRef<Path>) -> Options {
        Options { dir: Some(dir.as_ref().to_owned()), ..Options::without_folder() }
    }

    /// Tables of control files where these say, or beside them; others in the current folder.
    pub fn without_folder() -> Options {
        Options {
            dir: None,
            write: true,
            memory: None,
            threads: WorkedOn::default(),
            large: None,
            cancel: Cancel::new(),
            reading: ReadOptions::new(),
            program: String::new(),
            compression: Compression::default(),
            blocks: true,
            profile: None,
            content: Content::Distances,
            keep_free: None,
            method: Method::Sweep,
            discard: false,
            reproducible: false,
            checkpoint_every: None,
        }
    }

    /// Whether files of complete endings are written; else what is solved is there for the answer
    /// only.
    #[must_use]
    pub fn write(self, write: bool) -> Options {
        Options { write, ..self }
    }

    /// The most memory that the process may take, in bytes; what does not fit goes to files
    /// without a name in the folder.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Options {
        Options { memory: Some(Memory { bytes, raise: false }), ..self }
    }

    /// The same, but a bound that is too little is raised instead of refused.
    #[must_use]
    pub fn memory_if_possible(self, bytes: u64) -> Options {
        Options { memory: Some(Memory { bytes, raise: true }), ..self }
    }

    /// How what is larger than memory is solved.
    #[must_use]
    pub fn method(self, method: Method) -> Options {
        Options { method, ..self }
    }

    /// Work on so many threads, which live as long as a call; 0 for one a core.
    #[must_use]
    pub fn threads(self, count: usize) -> Options {
        Options { threads: WorkedOn::Count(count), ..self }
    }

    /// Work on the threads of this pool.
    #[must_use]
    pub fn pool(self, pool: Arc<ThreadPool>) -> Options {
        Options { threads: WorkedOn::Pool(pool), ..self }
    }

    /// Work on the threads of the `rayon` pool that the call is made in.
    #[must_use]
    pub fn threads_of_caller(self) -> Options {
        Options { threads: WorkedOn::Here, ..self }
    }

    /// Make those tables of control files that are worth them on these threads, which start when
    /// they are needed.
    #[must_use]
    pub fn large_tables_on(self, threads: Threads) -> Options {
        Options { large: Some(threads), ..self }
    }

    /// How much time goes into making files small.
    #[must_use]
    pub fn compression(self, compression: Compression) -> Options {
        Options { compression, ..self }
    }

    /// Whether the tables of endings are written in the block format (`.hbf`), as they are if
    /// nothing is said, or in that of the original program (`.htb`), which is sooner written and
    /// many times larger. The table of a control file is if its output is named so.
    #[must_use]
    pub fn blocks(self, blocks: bool) -> Options {
        Options { blocks, ..self }
    }

    /// What such files have: both sides to move, or one, with which they are much smaller, and
    /// whether they lean on the tables behind captures and promotions, which lie in the same
    /// folder. Small ones, which do, are written if nothing is said. What is joined of parts has
    /// both sides, whatever is said.
    #[must_use]
    pub fn profile(self, profile: Profile) -> Options {
        Options { profile: Some(profile), ..self }
    }

    /// Which values tables of endings have: distances to mate, or who wins alone. Files of the
    /// block format may have both apart.
    #[must_use]
    pub fn content(self, content: Content) -> Options {
        Options { content, ..self }
    }

    /// The same, but with distances: an answer has one.
    pub(crate) fn with_distances(&self) -> Options {
        let content = self.content.within(Format::Dtm(None));
        self.clone().content(content)
    }

    /// How many bytes of the folder's disk are left to others; a twentieth of it, but not more
    /// than two gigabytes, if nothing is said.
    #[must_use]
    pub fn keep_free(self, bytes: u64) -> Options {
        Options { keep_free: Some(bytes), ..self }
    }

    /// Whether what a cancelled run left of a table is removed instead of used.
    #[must_use]
    pub fn discard_checkpoints(self, discard: bool) -> Options {
        Options { discard, ..self }
    }

    /// Whether headers leave out what differs from run to run: the machine, the command line,
    /// times. Then the same table is the same file, whoever makes it.
    #[must_use]
    pub fn reproducible(self, reproducible: bool) -> Options {
        Options { reproducible, ..self }
    }

    /// How much work on a table may be lost when the process ends; half a minute if nothing is
    /// said.
    #[must_use]
    pub fn checkpoint_every(self, time: Duration) -> Options {
        Options { checkpoint_every: Some(time), ..self }
    }

    /// What stops the work.
    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> Options {
        Options { cancel, ..self }
    }

    /// How tables of other programs are read, for control files that name some.
    #[must_use]
    pub fn read_with(self, reading: ReadOptions) -> Options {
        Options { reading, ..self }
    }

    /// Another folder in which Syzygy tables are looked for, for control files that name some.
    #[must_use]
    pub fn syzygy(self, folder: impl AsRef<Path>) -> Options {
        Options { reading: self.reading.syzygy(folder), ..self }
    }

    /// What the headers of the tables say they were made by, as a command line.
    #[must_use]
    pub fn program(self, program: impl Into<String>) -> Options {
        Options { program: program.into(), ..self }
    }

    /// The folder of the tables.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.as_deref().unwrap_or(Path::new(""))
    }

    /// The command line.
    pub(crate) fn made_by(&self) -> &str {
        &self.program
    }

    /// The folder, if one was named.
    pub(crate) fn given_folder(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// How tables of other programs are read.
    pub(crate) fn reading(&self) -> &ReadOptions {
        &self.reading
    }

    /// What stops the work.
    pub(crate) fn cancel_request(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The name of the table of an ending, in its container.
    pub(crate) fn named(&self, output: &mut PathBuf) {
        if self.blocks {
            output.set_extension(hoffman_table::blocks::SUFFIX);
        }
    }

    /// The bound of memory in bytes.
    pub(crate) fn bound(&self) -> Option<u64> {
        self.memory.map(|memory| memory.bytes)
    }

    /// How tables are made.
    pub(crate) fn run<'p>(&self, progress: &'p dyn Progress) -> RunOptions<'p> {
        RunOptions {
            write: self.write,
            args: self.program.clone(),
            foreign: self.reading.foreign(),
            ..RunOptions::new(progress, self.workplace())
        }
    }

    pub(crate) fn workplace(&self) -> Workplace {
        let usual = Workplace::default();
        let content = self.content;
        Workplace {
            stop: self.cancel.0.clone(),
            memory: self.memory,
            method: self.method,
            compression: self.compression,
            streams: CellStreams { profile: self.profile.unwrap_or(Profile::Small), content },
            wants_cells: matches!(self.profile, Some(Profile::Small | Profile::Smallest))
                || content == Content::Both,
            keep_free: self.keep_free,
            discard: self.discard,
            reproducible: self.reproducible,
            checkpoint_every: self.checkpoint_every.unwrap_or(usual.checkpoint_every),
            threads: self.large.clone(),
            ..usual
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

impl Default for WorkedOn {
    /// One thread a core.
    fn default() -> WorkedOn {
        WorkedOn::Count(0)
    }
}

impl WorkedOn {
    fn install<R: Send>(&self, work: impl FnOnce() -> Result<R, Error> + Send) -> Result<R, Error> {
        match self {
            WorkedOn::Here => work(),
            WorkedOn::Pool(pool) => pool.install(work),
            WorkedOn::Count(count) => {
                let count = if *count == 0 { cores() } else { *count };
                let pool = ThreadPoolBuilder::new().num_threads(count).stack_size(STACK).build();
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
    threads: WorkedOn,
    pub(crate) cancel: Cancel,
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
        VerifyOptions { threads: WorkedOn::Pool(pool), ..self }
    }

    /// Work on the threads of the `rayon` pool that the call is made in.
    #[must_use]
    pub fn threads_of_caller(self) -> VerifyOptions {
        VerifyOptions { threads: WorkedOn::Here, ..self }
    }

    /// What stops the work.
    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> VerifyOptions {
        VerifyOptions { cancel, ..self }
    }

    pub(crate) fn install<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        self.threads.install(work)
    }
}
