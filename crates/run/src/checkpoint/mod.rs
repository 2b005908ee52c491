//! What is solved of a table that is not finished, in a file beside it.
//!
//! `NAME.htb.checkpoint` holds the slices solved so far and says for what table. It is written when enough
//! work would be lost without it, used by the next run that makes the same table, and removed when the
//! table is there. Whoever touches it holds the table's lock.

mod container;
mod slices;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hoffman_solve::Monitor;
use hoffman_space::{PawnStructure, SliceValues, TableValues};
use sha2::{Digest as _, Sha256};

use self::container::{Container, Tag, Unfit};
use crate::error::RunError;
use crate::progress::Progress;
use crate::workplace::Workplace;

/// What the checkpoint is of; the first section.
const MANIFEST: Tag = *b"MANI";
/// A solved slice.
const SLICE: Tag = *b"SLIC";

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
    /// A digest of everything that decides the values but files: the control file, the order of positions.
    pub(crate) task: String,
    /// A digest of the contents of the futurebases.
    pub(crate) futurebases: String,
}

impl Identity {
    /// Lines of text.
    fn manifest(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!("hoffman {version}\ntask {}\nfuturebases {}\n", self.task, self.futurebases)
    }

    /// Why a manifest is another one.
    fn compare(&self, theirs: &[u8]) -> Result<(), Unfit> {
        let ours = self.manifest();
        if theirs == ours.as_bytes() {
            return Ok(());
        }
        let theirs = String::from_utf8_lossy(theirs);
        let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
        let mut same = || ours.next() == theirs.next();
        Err(Unfit::Other(if !same() {
            "was made by another version of the program"
        } else if !same() {
            "was made for another table"
        } else {
            "was made from other futurebases"
        }))
    }
}

/// A digest in hexadecimal digits.
pub(crate) fn digest(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// The checkpoint of a table that is being solved; takes what the solver says.
pub(crate) struct Checkpoint<'a> {
    workplace: &'a Workplace,
    progress: &'a dyn Progress,
    /// None: no file is written.
    path: Option<PathBuf>,
    identity: Box<dyn Fn() -> Result<Identity, RunError> + Sync + 'a>,
    /// The positions of a slice, for the progress.
    positions: u64,
    /// The longest win or loss in the slices that were read, in moves.
    pub(crate) longest: u16,
    /// Solved slices that are in no file.
    waiting: Mutex<Vec<(PawnStructure, Arc<SliceValues>)>>,
    /// Whoever writes holds it. It is never waited for: a thread that holds it may be given other work.
    writing: Mutex<Writing>,
}

struct Writing {
    container: Option<Container>,
    /// When the last section was written, or work began.
    last: Instant,
    /// How long that took.
    cost: Duration,
    /// It could not be written once and is not tried again.
    failed: bool,
}

impl<'a> Checkpoint<'a> {
    /// Fills the slices of a table from the checkpoint, if there is a fitting one. Without a path there is
    /// none, and none will be written. `identity` is asked for when it is needed.
    pub(crate) fn open(
        workplace: &'a Workplace,
        progress: &'a dyn Progress,
        target: Option<&Path>,
        values: &mut TableValues,
        identity: impl Fn() -> Result<Identity, RunError> + Sync + 'a,
    ) -> Result<Checkpoint<'a>, RunError> {
        let path = target.map(checkpoint_name);
        let last = Instant::now();
        let mut writing = Writing { container: None, last, cost: Duration::ZERO, failed: false };
        let mut longest = 0;
        if let Some(path) = path.as_ref().filter(|p| hoffman_store::is_file(&*workplace.storage, p))
        {
            if workplace.discard {
                remove(workplace, path)?;
            } else {
                match read(workplace, path, values, &identity()?) {
                    Ok((container, damaged)) => {
                        let solved = values.slices.values().filter(|s| s.get().is_some());
                        let solved = solved.inspect(|s| {
                            longest = s.get().map_or(0, |s| s.max_moves).max(longest);
                        });
                        let (count, all) = (solved.count(), values.slices.len());
                        let beyond = if damaged { "; the rest of it is damaged" } else { "" };
                        let name = path.display();
                        tracing::info!(file = %name, count, all, damaged, "resumed");
                        progress.notice(&format!(
                            "{name}: going on with {count} of {all} slices{beyond}"
                        ));
                        writing.container = Some(container);
                    }
                    Err(Unfit::Unreadable(source)) => {
                        let path = path.clone();
                        return Err(RunError::Io { action: "read", path, source });
                    }
                    Err(unfit) => {
                        let why = match unfit {
                            Unfit::Other(why) => why,
                            _ => "is damaged",
                        };
                        let name = path.display();
                        tracing::info!(file = %name, why, "not resumed");
                        progress.notice(&format!("{name}: {why}; solving the table anew"));
                        for slice in values.slices.values_mut() {
                            slice.take();
                        }
                        remove(workplace, path)?;
                    }
                }
            }
        }
        let positions = 2 * values.layout.len() as u64;
        for _ in values.slices.values().filter(|s| s.get().is_some()) {
            progress.skip(positions);
        }
        Ok(Checkpoint {
            workplace,
            progress,
            path,
            identity: Box::new(identity),
            positions,
            longest,
            waiting: Mutex::default(),
            writing: Mutex::new(writing),
        })
    }

    /// What a run that was stopped says; work that is worth it is saved before.
    pub(crate) fn interrupted(&self) -> RunError {
        let mut checkpoint = None;
        if let Some(path) = &self.path {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let worth = WORTH.min(self.workplace.checkpoint_every);
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
        let (Some(path), false, false) = (&self.path, slices.is_empty(), writing.failed) else {
            return;
        };
        let began = Instant::now();
        let count = slices.len();
        if let Err(why) = self.append(path, writing, slices) {
            writing.failed = true;
            let name = path.display();
            tracing::warn!(file = %name, why, "no checkpoint");
            self.progress.notice(&format!("cannot write {name}: {why}; going on without"));
        } else {
            let seconds = began.elapsed().as_secs_f64();
            tracing::info!(file = %path.display(), slices = count, seconds, "checkpoint");
        }
        writing.cost = began.elapsed();
        writing.last = Instant::now();
    }

    fn append(
        &self,
        path: &Path,
        writing: &mut Writing,
        slices: Vec<(PawnStructure, Arc<SliceValues>)>,
    ) -> Result<(), String> {
        if writing.container.is_none() {
            let manifest = (self.identity)().map_err(|e| e.to_string())?.manifest();
            let storage = &self.workplace.storage;
            let made = Container::create(storage, path, MANIFEST, manifest.as_bytes())?;
            writing.container = Some(made);
        }
        let Some(container) = &mut writing.container else { return Ok(()) };
        for (pawns, values) in slices {
            let bytes = slices::encode(pawns, &values).map_err(|e| e.to_string())?;
            container.append(SLICE, &bytes).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(PawnStructure, Arc<SliceValues>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Monitor for Checkpoint<'_> {
    fn slice(&self, pawns: PawnStructure, values: &Arc<SliceValues>) {
        self.progress.slice(self.positions);
        if self.path.is_none() {
            return;
        }
        self.waiting().push((pawns, Arc::clone(values)));
        // Somebody else may be at it; then this slice waits for the next time.
        let Ok(mut writing) = self.writing.try_lock() else { return };
        let pause = self.workplace.checkpoint_every.max(writing.cost * SHARE);
        let at_once = self.workplace.checkpoint_every.is_zero();
        if at_once || writing.last.elapsed() >= pause {
            self.write(&mut writing);
        }
    }

    fn pass(&self, moves: u16) {
        self.progress.pass(moves);
    }

    fn is_stopped(&self) -> bool {
        self.workplace.stop.is_requested()
    }
}

/// Removes the checkpoint of a finished table, if there is one.
pub(crate) fn remove_of(workplace: &Workplace, target: &Path) -> Result<(), RunError> {
    remove(workplace, &checkpoint_name(target))
}

fn remove(workplace: &Workplace, path: &Path) -> Result<(), RunError> {
    match workplace.storage.remove(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(RunError::Io { action: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Fills slices from a checkpoint.
fn read(
    workplace: &Workplace,
    path: &Path,
    values: &mut TableValues,
    identity: &Identity,
) -> Result<(Container, bool), Unfit> {
    let len = values.layout.len();
    let mut known = false;
    let opened = Container::open(&*workplace.storage, path, |tag, payload| {
        match tag {
            MANIFEST if !known => {
                identity.compare(payload)?;
                known = true;
            }
            _ if !known => return Err(Unfit::Damaged),
            SLICE => {
                let (pawns, slice) = slices::decode(payload, len)?;
                let slot = values.slices.get(&pawns);
                let slot = slot.ok_or(Unfit::Other("does not hold slices of this table"))?;
                // The same slice twice is no harm.
                let _ = slot.set(Arc::new(slice));
            }
            _ => {}
        }
        Ok(())
    })?;
    if known { Ok(opened) } else { Err(Unfit::Damaged) }
}
