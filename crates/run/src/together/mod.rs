//! An ending without pawns that several processes solve together, each some of the king pairs.
//!
//! Each does every pass in its own pairs, writes what it decided there to a file, and takes over
//! what the others decided in the pairs around its own (`exchange`). So none needs the planes of
//! all pairs, and what is computed is what one process would compute. In the end each writes the
//! values of its pairs, and [`crate::Joining`] makes a table of them (`joined`).

mod exchange;
mod file;
mod joined;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hoffman_board::Material;
use hoffman_plan::{EndingJob, Graph};
use hoffman_solve::{
    BlockShare, BlockValues, Round, SolveError, SolveOptions, SolvedShare, Tables, solve_share,
};
use hoffman_space::{Codes, Counts, KingPlacement, Layout, SliceCounts, TableValues};
use hoffman_store::Storage;

use self::exchange::FileExchange;
pub use self::exchange::Traffic;
use self::file::{Sections, ShareFile};
use crate::cost::memory_of_share;
use crate::endings::values_behind;
use crate::error::RunError;
use crate::memory::use_huge_pages;
use crate::options::{RunContext, RunOptions};
use crate::progress::Phase;
use crate::room;
use crate::workplace::Workplace;

pub(crate) use self::joined::{files_of, read_shares, remove_passes, shares_of};

/// The most processes: a king pair each.
const MOST: usize = 462;

/// What follows the name of a table in the name of the folder of its parts.
const FOLDER: &str = "parts";

/// The king pairs of one of several processes that solve an ending together.
#[derive(Clone, Debug)]
pub struct EndingShare {
    /// The ending, stronger side White.
    material: Material,
    /// Which process, counted from 1, and of how many.
    number: usize,
    of: usize,
    /// Where the files are that the processes exchange.
    folder: PathBuf,
}

/// What a process did of an ending.
#[derive(Clone, Debug)]
pub struct ShareReport {
    /// The file of the values.
    pub path: PathBuf,
    /// What the work took; none if the file was there.
    pub traffic: Option<Traffic>,
    /// How many king pairs are its own, and how many it had to know of, its own among them.
    pub pairs: [usize; 2],
}

impl EndingShare {
    /// The share of process `number` of so many, with its files beside the table.
    ///
    /// # Errors
    ///
    /// The ending has pawns, or nothing but kings; there is no such process.
    pub fn new(
        material: &Material,
        (number, of): (usize, usize),
        table: &Path,
    ) -> Result<EndingShare, RunError> {
        let material = material.normalized().0;
        let folder = table.with_extension(FOLDER);
        let refusal = |why: String| Err(RunError::Input { table: table.to_owned(), why });
        if material.has_pawns() {
            return refusal(format!(
                "{material} has pawns, and so parts by their files: hoffman build --only"
            ));
        }
        if Layout::new(&material).kings() != KingPlacement::Pairs {
            return refusal(format!("{material} has no men besides the kings, and so no parts"));
        }
        if of > MOST || !(1..=of).contains(&number) {
            return refusal(format!("there is no part {number} of {of}; there are {MOST} at most"));
        }
        Ok(EndingShare { material, number, of, folder })
    }

    /// The file of the own values.
    pub fn output(&self) -> PathBuf {
        self.values_file(self.number)
    }

    /// The file of the values of a process.
    fn values_file(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number}-of-{}.values", self.of))
    }

    /// The file of what a process decided in a round.
    fn pass_file(&self, number: usize, round: Round) -> PathBuf {
        let result = if round.won { "won" } else { "lost" };
        self.folder.join(format!("{number}-of-{}.{result}-{}", self.of, round.moves))
    }

    /// What a file is, in lines.
    fn manifest(&self, number: usize, what: &str) -> String {
        let (version, material) = (env!("CARGO_PKG_VERSION"), self.material);
        format!("hoffman {version}\n{material}\npart {number} of {}\n{what}\n", self.of)
    }

    /// The values of a process.
    fn open_values(
        &self,
        number: usize,
        table: &Path,
        storage: &dyn Storage,
    ) -> Result<ShareFile, RunError> {
        let path = self.values_file(number);
        let file = ShareFile::open(storage, &path, &self.manifest(number, VALUES));
        file.map_err(|unfit| unfit.of(&path, table))
    }

    /// Whether the own values are there, and whole.
    fn is_there(&self, workplace: &Workplace) -> Result<bool, RunError> {
        let path = self.values_file(self.number);
        if !hoffman_store::is_file(&*workplace.storage, &path) {
            return Ok(false);
        }
        let mut file = self.open_values(self.number, &path, &*workplace.storage)?;
        for at in 0..file.blocks().count() {
            workplace.check_stop()?;
            file.contents(at).map_err(|unfit| unfit.of(&path, &path))?;
        }
        Ok(true)
    }

    /// Refuses files of another number of parts.
    fn expect_alone(&self, storage: &dyn Storage) -> Result<(), RunError> {
        let names = storage.list(&self.folder).unwrap_or_default();
        let other = names.iter().find(|name| part_of(name).is_some_and(|(_, of)| of != self.of));
        let Some(other) = other else { return Ok(()) };
        let path = self.folder.join(other);
        let why = format!("{} is of another number of parts; remove it first", path.display());
        Err(RunError::Input { table: self.values_file(self.number), why })
    }

    /// Removes unfinished files of an earlier run of this process, whose lock the caller holds.
    fn tidy(&self, storage: &dyn Storage) {
        let begins = format!(".{}-of-{}.", self.number, self.of);
        for name in storage.list(&self.folder).unwrap_or_default() {
            let is_left = |name: &str| name.starts_with(&begins) && name.contains(".tmp-");
            if name.to_str().is_some_and(is_left) {
                // It does no harm.
                let _ = storage.remove(&self.folder.join(name));
            }
        }
    }
}

/// The number of a part and of how many it is, from the name of a file of it.
fn part_of(name: &OsString) -> Option<(usize, usize)> {
    let (part, _) = name.to_str()?.split_once('.')?;
    let (number, of) = part.split_once("-of-")?;
    Some((number.parse().ok()?, of.parse().ok()?))
}

/// What a file of values says that it holds.
const VALUES: &str = "values";

/// Solves the king pairs of a process, while others solve theirs. `graph` has the ending as its
/// last node, and `inputs` the files of the nodes that it needs, by their numbers. Another process
/// is waited for as long as `patience` allows, every time.
///
/// # Errors
///
/// A file in the folder is damaged or of something else; another process has told nothing for too
/// long; those of [`crate::build_ending`].
pub fn solve_part(
    ending: &EndingShare,
    graph: &Graph<EndingJob>,
    inputs: BTreeMap<usize, PathBuf>,
    patience: Duration,
    options: &RunOptions<'_>,
) -> Result<ShareReport, RunError> {
    let RunOptions { workplace, progress, .. } = options;
    progress.phase(Phase::Checking);
    let share = BlockShare::new(ending.number - 1, ending.of);
    let path = ending.values_file(ending.number);
    let pairs = [share.own_count(), share.seen_count()];
    let kept = ShareReport { path: path.clone(), traffic: None, pairs };
    if ending.is_there(workplace)? {
        return Ok(kept);
    }
    workplace.create_folder(&ending.folder)?;
    workplace.probe(&ending.folder)?;
    ending.expect_alone(&*workplace.storage)?;
    let _lock = workplace.lock(&path, *progress)?;
    if ending.is_there(workplace)? {
        return Ok(kept);
    }
    ending.tidy(&*workplace.storage);

    let layout = Layout::new(&ending.material);
    let needed = memory_of_share(graph, graph.nodes.len() - 1, &share);
    let layouts = std::iter::once((&layout, 0));
    let pages = room::pages(workplace, layouts, needed, &ending.folder, *progress)?;
    // Own blocks lie among others that take no memory as long as nothing is written there.
    use_huge_pages(false);
    let positions = 2 * layout.len() as u64 / share.all() as u64 * share.own_count() as u64;
    progress.begin(positions);
    progress.phase(Phase::Reading);
    let tables = values_behind(graph, inputs, options, pages.clone())?;

    let run = RunContext { workplace, pages: pages.as_ref(), progress: *progress };
    let exchange = FileExchange {
        ending,
        share,
        rows: layout.len() / 64 / MOST,
        run,
        patience,
        positions,
        over: Mutex::default(),
        traffic: Mutex::default(),
        failure: Mutex::default(),
    };
    let job = EndingJob { material: ending.material, part: None };
    let values = TableValues::new(ending.material, job.slices());
    progress.table(&format!("part {} of {} of {}", ending.number, ending.of, ending.material));
    progress.phase(Phase::Solving);
    let manifest = ending.manifest(ending.number, VALUES);
    file::write(&workplace.storage, &path, &manifest, |sections| {
        let solved = solve(&exchange, &values, &tables, sections)?;
        progress.phase(Phase::Writing);
        Ok(((), numbers_of(&solved)))
    })?;
    tracing::info!(part = %path.display(), traffic = ?exchange.traffic(), "written");
    Ok(ShareReport { traffic: Some(exchange.traffic()), ..kept })
}

/// Solves the own king pairs, and writes their values.
fn solve(
    exchange: &FileExchange<'_>,
    values: &TableValues,
    tables: &Tables,
    sections: &mut Sections<'_>,
) -> Result<SolvedShare, RunError> {
    let pages = exchange.run.pages;
    let options = SolveOptions { count: true, pages: pages.cloned(), ..SolveOptions::default() };
    let mut put = |values: BlockValues| {
        // What was read of them may have come from a disk that failed meanwhile.
        pages.map_or(Ok(()), |pages| pages.check())?;
        Ok(sections.add(values.block, values.turn, &bytes_of(&values.codes))?)
    };
    let solved = solve_share(values, tables, &options, (exchange, exchange), &mut put);
    solved.map_err(|error| {
        let mut failure = exchange.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().unwrap_or_else(|| match error {
            SolveError::Stopped => RunError::Interrupted { checkpoint: None },
            other => other.into(),
        })
    })
}

/// Codes as bytes, wide ones with their lower byte first.
fn bytes_of(codes: &Codes) -> Vec<u8> {
    match codes {
        Codes::Narrow(codes) => codes.clone(),
        Codes::Wide(codes) => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
        // Blocks are in memory.
        Codes::Stored(_) => Vec::new(),
    }
}

/// The numbers that a file of values ends with: the longest win or loss, then of each side and of
/// each side's pairs on the diagonal stalemates, moves and captures.
fn numbers_of(solved: &SolvedShare) -> Vec<u64> {
    let counts = solved.counts.clone().unwrap_or_default();
    let all = counts.plain.into_iter().chain(counts.diagonal);
    let counts = all.flat_map(|counts| [counts.stalemates, counts.moves, counts.futuremoves]);
    std::iter::once(u64::from(solved.max_moves)).chain(counts).collect()
}

/// The longest win or loss and the counts again.
fn from_numbers(numbers: &[u64]) -> Option<(u16, SliceCounts)> {
    let &[longest, ref counts @ ..] = numbers else { return None };
    let counts: &[u64; 12] = counts.try_into().ok()?;
    let of = |at: usize| Counts {
        stalemates: counts[at],
        moves: counts[at + 1],
        futuremoves: counts[at + 2],
    };
    let counts =
        SliceCounts { plain: [of(0), of(3)], diagonal: [of(6), of(9)], en_passant: vec![] };
    Some((u16::try_from(longest).ok()?, counts))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hoffman_plan::complete;
    use hoffman_store::Simulated;

    use super::*;
    use crate::checkpoint::{HEAD, checksum};
    use crate::endings::{build_endings, ending_inputs};
    use crate::presence::Depth;
    use crate::progress::Silent;

    const TABLE: &str = "t/krk.htb";

    fn graph() -> Graph<EndingJob> {
        let jobs = complete(["KRvK".parse().expect("an ending")]);
        Graph::of_endings(&jobs, Path::new("t"))
    }

    fn part(storage: &Simulated, number: usize, patience: u64) -> Result<ShareReport, RunError> {
        let storage = Arc::new(storage.clone());
        let workplace = Workplace { storage, ..Workplace::default() };
        let options = RunOptions::new(&Silent, workplace);
        let graph = graph();
        let inputs = ending_inputs(&graph, Depth::Whole, &options.workplace)?;
        let material = "KRvK".parse().expect("an ending");
        let share = EndingShare::new(&material, (number, 2), Path::new(TABLE))?;
        solve_part(&share, &graph, inputs, Duration::from_secs(patience), &options)
    }

    /// Both parts, solved, and the files of the passes.
    fn solved() -> Simulated {
        let storage = Simulated::default();
        let workplace = Workplace { storage: Arc::new(storage.clone()), ..Workplace::default() };
        let kings = Graph { nodes: graph().nodes.into_iter().take(1).collect() };
        build_endings(&kings, &RunOptions::new(&Silent, workplace)).expect("bare kings");
        std::thread::scope(|threads| {
            let other = threads.spawn(|| part(&storage, 2, 60));
            part(&storage, 1, 60).expect("the first part");
            other.join().expect("a thread").expect("the second part");
        });
        storage
    }

    /// The contents of the sections of a file: where they are.
    fn sections(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
        let (mut found, mut at) = (Vec::new(), 12);
        while let Some(head) = bytes.get(at..at + HEAD) {
            let len = u64::from_le_bytes(head[4..12].try_into().expect("eight bytes")) as usize;
            found.push(at + HEAD..at + HEAD + len);
            at += HEAD + len;
        }
        found
    }

    /// A file of another part says something else, and its checksums are right.
    #[test]
    fn what_a_file_says_is_taken_or_refused_by_name() {
        let storage = solved();
        let values = Path::new("t/krk.parts/1-of-2.values");
        let right_values = storage.contents(values).expect("values");
        let path = Path::new("t/krk.parts/2-of-2.won-7");
        let right = storage.contents(path).expect("a pass");
        let mut refused = 0;
        let all = sections(&right);
        // What it is, something of a block, and the end.
        for place in [&all[0], &all[all.len() / 2], &all[all.len() - 1]] {
            let tag: [u8; 4] = right[place.start - HEAD..][..4].try_into().expect("four bytes");
            let last = place.len().saturating_sub(1);
            for at in [0, 1, 2, 4, 5, 7, 12, last / 2, last] {
                for change in [1, 0xff] {
                    let mut wrong = right.clone();
                    wrong[place.start + at.min(last)] ^= change;
                    let crc = checksum(tag, &wrong[place.clone()]);
                    wrong[place.start - 4..place.start].copy_from_slice(&crc.to_le_bytes());
                    storage.put(path, &wrong);
                    storage.remove(values).unwrap_or_default();
                    match part(&storage, 1, 0) {
                        // It may tell of more passes than there are.
                        Ok(_) | Err(RunError::Partner { .. }) => {}
                        Err(RunError::Input { why, .. }) if why.contains("2-of-2.won-") => {
                            refused += 1;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
        assert!(refused > 25, "{refused}");
        storage.put(path, &right);
        storage.remove(values).unwrap_or_default();
        let report = part(&storage, 1, 0).expect("the first part");
        assert!(report.traffic.is_some_and(|traffic| traffic.recalled > 20));
        assert!(storage.contents(values) == Some(right_values));
    }
}
