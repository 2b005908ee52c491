//! How the processes that solve an ending together tell each other what passes decided: by files
//! in a folder that all of them see.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hoffman_solve::{
    BlockShare, Decided, Monitor, Partners, PassReport, Round, RoundSum, SolveError, TakeDecided,
};
use hoffman_space::{PawnSquares, SliceValues};
use hoffman_store::is_file;

use super::EndingShare;
use super::file::{self, ShareFile, UnfitFile, pack_set, unpack_set};
use crate::checkpoint::part_over;
use crate::error::RunError;
use crate::options::RunContext;
use crate::progress::Phase;

/// How long is waited before the folder is looked at again: at first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(200);

/// After how long it is said who is waited for, and how often.
const SAY: Duration = Duration::from_secs(10);
const SAY_AGAIN: Duration = Duration::from_mins(5);

/// What the exchange took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Bytes of the files of passes that this process wrote.
    pub written: u64,
    /// Bytes that it read of files of passes, its own among them if it was begun again.
    pub read: u64,
    /// How many passes there were.
    pub passes: u64,
    /// How many of them an earlier run of this process had done.
    pub recalled: u64,
    /// How long it waited for others.
    pub waited: Duration,
}

/// One process as it meets the others.
pub(super) struct FileExchange<'a> {
    pub(super) ending: &'a EndingShare,
    pub(super) share: BlockShare,
    /// The number of rows of a block.
    pub(super) rows: usize,
    pub(super) run: RunContext<'a>,
    /// How long the file of another process is waited for.
    pub(super) patience: Duration,
    /// The positions of the own blocks, and how many of them count as solved.
    pub(super) positions: u64,
    pub(super) over: Mutex<u64>,
    pub(super) traffic: Mutex<Traffic>,
    /// Why it went no further.
    pub(super) failure: Mutex<Option<RunError>>,
}

impl FileExchange<'_> {
    pub(super) fn traffic(&self) -> Traffic {
        *self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut Traffic)) {
        change(&mut self.traffic.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Keeps the reason of a failure.
    pub(super) fn fail(&self, error: RunError) -> SolveError {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        SolveError::Stopped
    }

    fn file(&self, number: usize, round: Round) -> PathBuf {
        self.ending.pass_file(number, round)
    }

    /// Opens what a process told of a round.
    fn open(&self, number: usize, round: Round) -> Result<ShareFile, RunError> {
        let path = self.file(number, round);
        let manifest = self.ending.manifest(number, &in_words(round));
        let file = ShareFile::open(&*self.run.workplace.storage, &path, &manifest);
        file.map_err(|unfit| self.refusal(unfit, &path))
    }

    fn refusal(&self, unfit: UnfitFile, path: &Path) -> RunError {
        unfit.of(path, &self.ending.values_file(self.ending.number))
    }

    /// Waits until a file is there.
    fn wait(&self, path: &Path) -> Result<(), RunError> {
        let RunContext { workplace, progress, .. } = self.run;
        let began = Instant::now();
        let (mut pause, mut say) = (FIRST_LOOK, SAY);
        while !is_file(&*workplace.storage, path) {
            workplace.check_stop()?;
            let waited = began.elapsed();
            if waited >= self.patience {
                let table = self.ending.values_file(self.ending.number);
                let (file, seconds) = (path.to_owned(), self.patience.as_secs());
                return Err(RunError::Partner { table, file, seconds });
            }
            if waited >= say {
                say = waited + SAY_AGAIN;
                progress.notice(&format!("waiting for {}", path.display()));
            }
            if pause == LAST_LOOK {
                progress.phase(Phase::Waiting);
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(LAST_LOOK);
        }
        progress.phase(Phase::Solving);
        self.count(|traffic| traffic.waited += began.elapsed());
        Ok(())
    }

    /// Shows `take` what a file says of blocks that are `wanted`.
    fn show(
        &self,
        file: &mut ShareFile,
        round: Round,
        wanted: impl Fn(usize) -> bool,
        take: &mut TakeDecided<'_>,
    ) -> Result<(), RunError> {
        let blocks: Vec<_> = file.blocks().collect();
        for (at, (block, turn)) in blocks.into_iter().enumerate() {
            if !wanted(block as usize) {
                continue;
            }
            let contents = file.contents(at).map_err(|unfit| self.refusal(unfit, &file.path))?;
            let Round { won, moves } = round;
            let set = unpack_set(&contents, self.rows);
            let taken = set.is_some_and(|(rows, masks)| {
                take(Decided { turn, won, moves, block, rows: &rows, masks: &masks }).is_ok()
            });
            if !taken {
                let unfit = UnfitFile::Refused("says what no pass can have decided".to_owned());
                return Err(self.refusal(unfit, &file.path));
            }
        }
        Ok(())
    }

    /// See [`Partners::collect`].
    fn collect_all(&self, round: Round, take: &mut TakeDecided<'_>) -> Result<RoundSum, RunError> {
        let mut sum = RoundSum::default();
        let is_near = |block: usize| self.share.is_seen(block) && !self.share.is_own(block);
        for number in 1..=self.ending.of {
            self.wait(&self.file(number, round))?;
            let mut file = self.open(number, round)?;
            self.show(&mut file, round, is_near, take)?;
            let &[rows, positions, ahead] = &file.numbers[..] else {
                let unfit = UnfitFile::Refused("ends with other numbers".to_owned());
                return Err(self.refusal(unfit, &file.path));
            };
            let ahead = u16::try_from(ahead).unwrap_or(u16::MAX);
            sum = sum.with(RoundSum { rows, positions, ahead });
            self.count(|traffic| traffic.read += file.read);
        }
        self.count(|traffic| traffic.passes += 1);
        Ok(sum)
    }
}

/// A round, as its files say it.
fn in_words(round: Round) -> String {
    format!("{} in {}", if round.won { "won" } else { "lost" }, round.moves)
}

impl Partners for FileExchange<'_> {
    fn share(&self) -> &BlockShare {
        &self.share
    }

    fn has_done(&self, round: Round) -> Result<bool, SolveError> {
        Ok(is_file(&*self.run.workplace.storage, &self.file(self.ending.number, round)))
    }

    fn recall(&self, round: Round, take: &mut TakeDecided<'_>) -> Result<(), SolveError> {
        let recalled = self.open(self.ending.number, round).and_then(|mut file| {
            self.show(&mut file, round, |block| self.share.is_own(block), take)?;
            self.count(|traffic| {
                traffic.read += file.read;
                traffic.recalled += 1;
            });
            Ok(())
        });
        recalled.map_err(|error| self.fail(error))
    }

    fn publish(
        &self,
        round: Round,
        own: RoundSum,
        show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    ) -> Result<(), SolveError> {
        if let Some(Err(error)) = self.run.pages.map(|pages| pages.check()) {
            return Err(error.into());
        }
        let path = self.file(self.ending.number, round);
        let manifest = self.ending.manifest(self.ending.number, &in_words(round));
        let failed = |source| RunError::Io { action: "write", path: path.clone(), source };
        let written = file::write(&self.run.workplace.storage, &path, &manifest, |sections| {
            show(&mut |decided| {
                sections.add(decided.block, decided.turn, &pack_set(decided.rows, decided.masks))
            })
            .map_err(failed)?;
            Ok(((), vec![own.rows, own.positions, u64::from(own.ahead)]))
        });
        let ((), bytes) = written.map_err(|error| self.fail(error))?;
        self.count(|traffic| traffic.written += bytes);
        Ok(())
    }

    fn collect(&self, round: Round, take: &mut TakeDecided<'_>) -> Result<RoundSum, SolveError> {
        self.collect_all(round, take).map_err(|error| self.fail(error))
    }
}

impl Monitor for FileExchange<'_> {
    fn slice(&self, _pawns: PawnSquares, _values: &std::sync::Arc<SliceValues>) {}

    fn pass(&self, moves: u16) {
        self.run.progress.pass(moves);
        let now = (self.positions as f64 * part_over(moves)) as u64;
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        self.run.progress.slice(now.saturating_sub(*over));
        *over = now.max(*over);
    }

    fn passed(&self, report: &PassReport) {
        self.run.progress.passed(report);
    }

    fn is_stopped(&self) -> bool {
        self.run.workplace.stop.is_requested()
            || self.run.pages.is_some_and(|pages| pages.has_failed())
    }
}
