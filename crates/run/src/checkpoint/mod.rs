//! What is solved of a table that is not finished, in a file beside it.
//!
//! `NAME.htb.checkpoint` holds the slices solved so far, what the passes of others decided, and
//! says for what table. It is written when enough work would be lost without it, used by the next
//! run that makes the same table, and removed when the table is there. Only the holder of the
//! table's lock touches it.

mod container;
mod passes;
mod slices;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hoffman_control::ControlFile;
use hoffman_pages::Pages;
use hoffman_solve::{Monitor, PassReport, SolveError, TakeDecided, outcomes_in_pages};
use hoffman_space::{PawnSquares, SliceValues, TableValues};
use hoffman_store::StoredFile;
use hoffman_table::htb::HtbError;
use sha2::{Digest as _, Sha256};

use self::container::{CheckpointFile, CheckpointReader, Unusable};
pub(crate) use self::container::{HEAD, Tag, checksum, section};
use self::passes::Saved;
use crate::digest::digits;
use crate::error::RunError;
use crate::memory::free_disk;
use crate::options::RunContext;
use crate::workplace::Workplace;

/// What the checkpoint is of; the first section.
const MANIFEST: Tag = *b"MANI";

/// How much work is worth a checkpoint when a run is interrupted.
const WORTH: Duration = Duration::from_secs(10);
/// Writing takes at most this part of the time.
const SHARE: u32 = 30;

/// The checkpoint of a table.
pub(crate) fn checkpoint_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(target.file_name().unwrap_or_default());
    name.push(".checkpoint");
    target.with_file_name(name)
}

/// What is being solved: what has the same identity has the same values.
#[derive(Debug)]
pub(crate) struct Identity {
    /// A digest of everything that decides the values but files: the control file, the order of
    /// positions.
    pub(crate) task: String,
    /// A digest of the contents of the futurebases.
    pub(crate) futurebases: String,
}

impl Identity {
    /// That of a table with a control file, of what else says which values it has, and of its
    /// futurebases' fingerprints.
    pub(crate) fn new(control: &ControlFile, more: &[u8], files: &[Vec<u8>]) -> Identity {
        let mut task = Sha256::new();
        task.update(control.text());
        task.update(more);
        let mut futurebases = Sha256::new();
        for file in files {
            futurebases.update(file);
        }
        Identity { task: digits(task), futurebases: digits(futurebases) }
    }

    /// Lines of text.
    fn manifest(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!("hoffman {version}\ntask {}\nfuturebases {}\n", self.task, self.futurebases)
    }

    /// Why a manifest is another one.
    fn compare(&self, theirs: &[u8]) -> Result<(), Unusable> {
        let ours = self.manifest();
        if theirs == ours.as_bytes() {
            return Ok(());
        }
        let theirs = String::from_utf8_lossy(theirs);
        let differing = std::iter::zip(ours.lines(), theirs.lines()).position(|(a, b)| a != b);
        Err(Unusable::Other(match differing {
            Some(0) => "was made by another version of the program",
            Some(1) => "was made for another table",
            _ => "was made from other futurebases",
        }))
    }
}

/// The checkpoint of a table that is being solved; takes what the solver says.
pub(crate) struct Checkpoint<'a> {
    run: RunContext<'a>,
    /// None: no file is written.
    path: Option<PathBuf>,
    identity: Box<dyn Fn() -> Result<Identity, RunError> + Sync + 'a>,
    /// The positions of a slice, for the progress.
    positions: u64,
    /// If there is one slice only: the positions that count as solved after the passes that are
    /// done, once one began.
    partly: Option<Mutex<Option<u64>>>,
    /// The longest win or loss in the slices that were read, in moves.
    pub(crate) longest: u16,
    learned: Mutex<Learned>,
    /// What an earlier run saved of the passes of slices that are not solved, and the file it is
    /// in.
    passes: HashMap<PawnSquares, Saved>,
    file: Option<Arc<dyn StoredFile>>,
    /// Solved slices that are in no file.
    waiting: Mutex<Vec<(PawnSquares, Arc<SliceValues>)>>,
    /// Held while something is written. It is never waited for: a thread that holds it may be given
    /// other work.
    writing: Mutex<Writing>,
}

/// What is found out about a table while it is solved.
#[derive(Clone)]
pub(crate) struct Learned {
    /// The longest wins with White and with Black to move, in moves; none of a side that never
    /// wins.
    pub(crate) longest_wins: [Option<u16>; 2],
    /// What the passes of this run did: how many positions they decided, and how long that took in
    /// all slices together. The keys are the number of moves and whether losses were looked for.
    pub(crate) passes: BTreeMap<(u16, bool), (u64, Duration)>,
}

struct Writing {
    container: Option<CheckpointFile>,
    /// When the last section was written, or work began.
    last: Instant,
    /// How long that took.
    cost: Duration,
    /// It could not be written once and is not tried again.
    failed: bool,
}

/// Why a checkpoint is not written.
#[derive(Debug, thiserror::Error)]
enum NoCheckpoint {
    #[error("the disk has {free} MB left, of which {kept} MB are kept free for others")]
    Full { free: u64, kept: u64 },
    #[error(transparent)]
    Identity(#[from] Box<RunError>),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file could not be made; with the cause.
    #[error("{0}{cause}", cause = std::error::Error::source(.0).map_or_else(String::new, |c| format!(": {c}")))]
    Create(HtbError),
}

impl From<HtbError> for NoCheckpoint {
    fn from(error: HtbError) -> NoCheckpoint {
        NoCheckpoint::Create(error)
    }
}

/// What a checkpoint has of unfinished slices.
type SavedPasses = HashMap<PawnSquares, Saved>;

/// Fills the slices of a table from a checkpoint, if it is there and fits; else it is removed.
fn resume(
    run: RunContext<'_>,
    path: &Path,
    (values, outcomes): (&mut TableValues, bool),
    identity: &dyn Fn() -> Result<Identity, RunError>,
) -> Result<(Option<CheckpointFile>, SavedPasses), RunError> {
    let RunContext { workplace, pages, progress } = run;
    let nothing = (None, HashMap::new());
    if !hoffman_store::is_file(&*workplace.storage, path) {
        return Ok(nothing);
    }
    if workplace.discard {
        remove(workplace, path)?;
        return Ok(nothing);
    }

    let name = path.display();
    let why = match read(workplace, path, (values, outcomes), &identity()?, pages) {
        Ok((container, passes, damaged)) => {
            let solved = values.slices.values().filter(|slice| slice.get().is_some());
            let (count, all) = (solved.count(), values.slices.len());
            let beyond = if damaged { "; the rest of it is damaged" } else { "" };
            let more = match passes.values().map(|saved| saved.last).max() {
                Some(moves) => format!(", and the passes of {} up to {moves} moves", passes.len()),
                None => String::new(),
            };
            tracing::info!(file = %name, count, all, damaged, "resumed");
            progress
                .notice(&format!("{name}: going on with {count} of {all} slices{more}{beyond}"));
            return Ok((Some(container), passes));
        }
        Err(Unusable::Unreadable(source)) => {
            return Err(RunError::Io { action: "read", path: path.to_owned(), source });
        }
        Err(Unusable::Other(why)) => why,
        Err(_) => "is damaged",
    };

    tracing::info!(file = %name, why, "not resumed");
    progress.notice(&format!("{name}: {why}; solving the table anew"));
    for slice in values.slices.values_mut() {
        slice.take();
    }
    remove(workplace, path)?;
    Ok(nothing)
}

impl<'a> Checkpoint<'a> {
    /// Fills the slices of a table from the checkpoint, if there is a fitting one, with their
    /// `outcomes` if these are enough. Without a path there is none, and none will be written.
    /// `identity` is asked for when it is needed.
    pub(crate) fn open(
        run: RunContext<'a>,
        target: Option<&Path>,
        (values, outcomes): (&mut TableValues, bool),
        identity: impl Fn() -> Result<Identity, RunError> + Sync + 'a,
    ) -> Result<Checkpoint<'a>, RunError> {
        let path = target.map(checkpoint_name);
        let (container, passes) = match &path {
            Some(path) => resume(run, path, (values, outcomes), &identity)?,
            None => (None, HashMap::new()),
        };
        let solved = values.slices.values().filter_map(|slice| slice.get());
        let longest = solved.map(|slice| slice.max_moves).max().unwrap_or(0);
        let last = Instant::now();
        let writing = Writing { container, last, cost: Duration::ZERO, failed: false };
        let mut longest_wins = [None; 2];

        for slice in values.slices.values().filter_map(|slot| slot.get()) {
            raise(&mut longest_wins, slice.longest_wins());
        }
        let file = writing.container.as_ref().map(CheckpointFile::file);
        let positions = 2 * values.layout.len() as u64;

        for _ in values.slices.values().filter(|s| s.get().is_some()) {
            run.progress.skip(positions);
        }
        Ok(Checkpoint {
            run,
            path,
            identity: Box::new(identity),
            positions,
            partly: (values.slices.len() == 1).then(Mutex::default),
            longest,
            learned: Mutex::new(Learned { longest_wins, passes: BTreeMap::new() }),
            passes,
            file,
            waiting: Mutex::default(),
            writing: Mutex::new(writing),
        })
    }

    /// What is known of the slices that were read and of those that were solved.
    pub(crate) fn learned(&self) -> Learned {
        self.learning().clone()
    }

    /// The error of work on the solved table: if that was stopped, what is solved is saved first.
    pub(crate) fn settle(&self, error: RunError) -> RunError {
        match error {
            RunError::Interrupted { .. } => self.interrupted(),
            other => other,
        }
    }

    fn learning(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a run that was stopped says; work that is worth it is saved before.
    pub(crate) fn interrupted(&self) -> RunError {
        if let Err(error) = self.sound() {
            return SolveError::Pages(error).into();
        }
        let mut checkpoint = None;
        if let Some(path) = &self.path {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let worth = WORTH.min(self.run.workplace.checkpoint_every);
            if writing.container.is_some() || writing.last.elapsed() >= worth {
                self.write(&mut writing);
            }
            checkpoint = writing.container.is_some().then(|| path.clone());
        }
        RunError::Interrupted { checkpoint }
    }

    /// Writes what is waiting, if there is anything.
    fn write(&self, writing: &mut Writing) {
        let slices = std::mem::take(&mut *self.waiting());
        if slices.is_empty() {
            return;
        }
        let what = format!("{} slices", slices.len());
        self.append(writing, &what, |container| {
            slices.iter().try_for_each(|(pawns, values)| {
                slices::append(container, *pawns, values, || self.sound())
            })
        });
    }

    /// Lets `add` add something; whether that succeeded.
    fn append(
        &self,
        writing: &mut Writing,
        what: &str,
        add: impl FnOnce(&mut CheckpointFile) -> io::Result<()>,
    ) -> bool {
        let (Some(path), false) = (&self.path, writing.failed) else { return false };
        let began = Instant::now();
        let container =
            self.leaves_margin(path).and_then(|()| self.container(path, &mut writing.container));
        let done = container.and_then(|container| add(container).map_err(NoCheckpoint::from));
        let name = path.display();
        if let Err(why) = &done {
            writing.failed = true;
            tracing::warn!(file = %name, %why, "no checkpoint");
            self.run.progress.notice(&format!("cannot write {name}: {why}; going on without"));
        } else {
            let seconds = began.elapsed().as_secs_f64();
            tracing::info!(file = %name, what, seconds, "checkpoint");
        }
        writing.cost = began.elapsed();
        writing.last = Instant::now();
        done.is_ok()
    }

    /// An error if the disk has less left than is kept for others.
    fn leaves_margin(&self, path: &Path) -> Result<(), NoCheckpoint> {
        let folder = hoffman_store::folder_of(path);
        let kept = self.run.workplace.margin(folder);
        match free_disk(folder).filter(|&free| free < kept) {
            Some(free) => Err(NoCheckpoint::Full { free: free >> 20, kept: kept >> 20 }),
            None => Ok(()),
        }
    }

    /// The file, which is made if there is none.
    fn container<'w>(
        &self,
        path: &Path,
        container: &'w mut Option<CheckpointFile>,
    ) -> Result<&'w mut CheckpointFile, NoCheckpoint> {
        let made = if let Some(made) = container.take() {
            made
        } else {
            let manifest = (self.identity)().map_err(Box::new)?.manifest();
            CheckpointFile::create(
                &self.run.workplace.storage,
                path,
                MANIFEST,
                manifest.as_bytes(),
            )?
        };
        Ok(container.insert(made))
    }

    /// Whether what was read of values is what was written.
    fn sound(&self) -> io::Result<()> {
        self.run.pages.map_or(Ok(()), |pages| pages.check())
    }

    fn partly(&self) -> Option<MutexGuard<'_, Option<u64>>> {
        let partly = self.partly.as_ref()?;
        Some(partly.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(PawnSquares, Arc<SliceValues>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of a slice is done before the pass of so many moves. It is not known how many passes
/// are to come. Those of few moves decide most: of KQQvKQQ, which has 50, 36, 70 and 95 hundredths
/// of the time were over after 5, 10 and 23.
pub(crate) fn part_over(moves: u16) -> f64 {
    1.0 - (-f64::from(moves.saturating_sub(1)) / 9.0).exp()
}

/// Raises the longest wins of both sides to others.
fn raise(longest: &mut [Option<u16>; 2], wins: [Option<u16>; 2]) {
    longest.iter_mut().zip(wins).for_each(|(longest, win)| *longest = win.max(*longest));
}

impl Monitor for Checkpoint<'_> {
    fn slice(&self, pawns: PawnSquares, values: &Arc<SliceValues>) {
        // Read before the lock is taken, as others wait for it.
        let wins = values.longest_wins();
        raise(&mut self.learning().longest_wins, wins);
        self.run
            .progress
            .slice(self.positions - self.partly().and_then(|partly| *partly).unwrap_or(0));
        if self.path.is_none() {
            return;
        }
        self.waiting().push((pawns, Arc::clone(values)));
        // Another thread may be at it; then this slice waits for the next time.
        let Ok(mut writing) = self.writing.try_lock() else { return };
        let pause = self.run.workplace.checkpoint_every.max(writing.cost * SHARE);
        let at_once = self.run.workplace.checkpoint_every.is_zero();
        if at_once || writing.last.elapsed() >= pause {
            self.write(&mut writing);
        }
    }

    fn pass(&self, moves: u16) {
        self.run.progress.pass(moves);
        let Some(mut partly) = self.partly() else { return };
        let done = (self.positions as f64 * part_over(moves)) as u64;
        if let Some(partly) = &mut *partly {
            let more = done.saturating_sub(*partly);
            self.run.progress.slice(more);
            *partly += more;
        } else {
            // What a checkpoint had.
            self.run.progress.skip(done);
            *partly = Some(done);
        }
    }

    fn passed(&self, report: &PassReport) {
        let mut learned = self.learning();
        let (positions, time) = learned.passes.entry((report.moves, !report.won)).or_default();
        *positions += report.positions;
        *time += report.time;
        drop(learned);
        self.run.progress.passed(report);
    }

    fn is_stopped(&self) -> bool {
        // What is found after an error of working files is of no use.
        self.run.workplace.stop.is_requested()
            || self.run.pages.is_some_and(|pages| pages.has_failed())
    }

    fn saves_passes(&self, work: Duration) -> bool {
        // As with slices, a thread that writes is not waited for.
        let (Some(_), Ok(writing)) = (&self.path, self.writing.try_lock()) else { return false };
        let every = self.run.workplace.checkpoint_every;
        let pause = every.max(writing.cost * SHARE);
        let due = if self.is_stopped() {
            work >= WORTH.min(every)
        } else {
            work >= pause && writing.last.elapsed() >= pause
        };
        !writing.failed && (every.is_zero() || due)
    }

    fn save_passes(
        &self,
        pawns: PawnSquares,
        moves: RangeInclusive<u16>,
        show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    ) -> bool {
        let Ok(mut writing) = self.writing.try_lock() else { return false };
        let what = format!("passes for {} to {} moves", moves.start(), moves.end());
        self.append(&mut writing, &what, |container| {
            passes::append(container, pawns, moves, show, || self.sound())
        })
    }

    fn saved_passes(&self, pawns: PawnSquares) -> Option<u16> {
        self.passes.get(&pawns).map(|saved| saved.last)
    }

    fn restore_passes(&self, pawns: PawnSquares, rows: usize, take: &mut TakeDecided<'_>) -> bool {
        let (Some(saved), Some(file)) = (self.passes.get(&pawns), &self.file) else { return false };
        let restored = passes::restore(file, saved, rows, take);
        if let (Err(error), Some(path)) = (&restored, &self.path) {
            let name = path.display();
            tracing::warn!(file = %name, %error, "passes not restored");
            self.run.progress.notice(&format!("{name}: passes are damaged; doing them anew"));
        }
        restored.is_ok()
    }
}

/// Removes the checkpoint of a finished table, if there is one.
pub(crate) fn remove_of(workplace: &Workplace, target: &Path) -> Result<(), RunError> {
    remove(workplace, &checkpoint_name(target))
}

/// Removes the checkpoint of a table that is there: its run died in between.
pub(crate) fn remove_left(workplace: &Workplace, target: &Path) -> Result<(), RunError> {
    if hoffman_store::is_file(&*workplace.storage, &checkpoint_name(target))
        && let Some(_lock) = workplace.try_lock(target)?
    {
        remove_of(workplace, target)?;
    }
    Ok(())
}

fn remove(workplace: &Workplace, path: &Path) -> Result<(), RunError> {
    match workplace.storage.remove(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(RunError::Io { action: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// The outcomes of a slice that was read, where it was read to.
fn outcomes_of(slice: SliceValues, pages: Option<&Arc<Pages>>) -> SliceValues {
    match pages {
        Some(pages) => outcomes_in_pages(slice, pages),
        None => slice.outcomes(),
    }
}

/// Fills slices from a checkpoint and finds passes in it; the flag tells whether it is damaged
/// behind them.
fn read(
    workplace: &Workplace,
    path: &Path,
    (values, outcomes): (&mut TableValues, bool),
    identity: &Identity,
    pages: Option<&Arc<Pages>>,
) -> Result<(CheckpointFile, HashMap<PawnSquares, Saved>, bool), Unusable> {
    let len = values.layout.len();
    let mut reader = CheckpointReader::open(&*workplace.storage, path)?;
    match reader.next()? {
        Some((MANIFEST, manifest)) => identity.compare(&manifest)?,
        _ => return Err(Unusable::Damaged),
    }

    let mut end = reader.position();
    let other = Unusable::Other("does not hold slices of this table");
    let mut passes = HashMap::new();

    // Where the passes begin whose end is not read yet.
    let mut begun = None;
    loop {
        let start = reader.position();
        match reader.next()? {
            Some((passes::PIECE, _)) => {
                begun.get_or_insert(start);
                continue;
            }
            Some((passes::PASSES, contents)) => {
                let place = begun.take().unwrap_or(start)..start;
                let pawns = passes::note(&mut passes, &contents, place);
                if !pawns.is_some_and(|pawns| values.slices.contains_key(&pawns)) {
                    return Err(other);
                }
            }
            Some(_) => {
                begun = None;
                reader.go_back(start);
                let Some((pawns, slice)) = slices::next(&mut reader, len, pages)? else { break };
                let Some(slot) = values.slices.get(&pawns) else { return Err(other) };
                // The same slice twice is no harm.
                let _ =
                    slot.set(Arc::new(if outcomes { outcomes_of(slice, pages) } else { slice }));
                passes.remove(&pawns);
            }
            None => break,
        }
        end = reader.position();
    }

    if let Some(pages) = pages {
        pages.check()?;
    }
    let damaged = reader.is_damaged();
    Ok((reader.into_container(end)?, passes, damaged))
}
