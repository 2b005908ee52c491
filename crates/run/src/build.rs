//! Building complete endings and parts of endings in a folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hoffman_board::{Color, Material};
use hoffman_control::{ControlFile, Mode, control_for_material, control_for_part};
use hoffman_pages::Pages;
use hoffman_plan::ending::{PROMOTIONS, exits};
use hoffman_plan::{Job, dependencies, estimate};
use hoffman_solve::{SolveError, SolveOptions, Tables, clear_illegal, in_pages, solve_table};
use hoffman_space::{Layout, NormalForm, TableValues};
use hoffman_store::{FileInfo, Lock, tidy};
use hoffman_table::entries::EntryCodec;
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::{
    DecodeError, IndexCounts, RowsError, Taking, Wanted, decode, decode_in, has_free_pieces,
};
use hoffman_table::{Stop, Table};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::build_control::is_made_from;
use crate::checkpoint::{self, Checkpoint, Identity, Learned, digest};
use crate::error::RunError;
use crate::memory::available_memory;
use crate::numbering::Numbering;
use crate::plan::check_disk;
use crate::progress::{Phase, Progress};
use crate::room;
use crate::unwritten;
use crate::workplace::Workplace;
use crate::write::{Making, write_table};

/// From how many bytes of values on a table is solved alone, with all threads.
const LARGE: u64 = 64 << 20;

/// Up to how many bytes of values an answer comes before files are written. More takes so long that what is
/// finished shall not be lost.
const ANSWER_FIRST: u64 = 2 << 30;

/// From how many bytes of values on it is worth looking whether the disk has room for all files.
pub(crate) const LASTING: u64 = 1 << 30;

/// Where and how tables are built.
pub struct BuildOptions<'a> {
    /// The folder that holds the tables. Created if it is missing and something is written.
    pub dir: PathBuf,
    /// Whether files are written.
    pub write: bool,
    /// The command line, for the headers.
    pub args: String,
    /// Told of what happens.
    pub progress: &'a dyn Progress,
    /// Given all tables of the jobs, in order, once they are solved; before files are written if they
    /// fit into memory together.
    pub solved: Option<&'a SolvedHook<'a>>,
    /// Where it is done.
    pub workplace: Workplace,
}

/// See [`BuildOptions::solved`].
pub type SolvedHook<'a> = dyn Fn(Vec<Table>) + Sync + 'a;

/// What a build did.
#[derive(Debug, Default)]
pub struct BuildReport {
    /// Tables solved, in order.
    pub built: Vec<BuiltTable>,
    /// Files that were there already.
    pub kept: Vec<PathBuf>,
}

/// One solved table.
#[derive(Debug)]
pub struct BuiltTable {
    /// The file name without folder.
    pub name: String,
    /// The file, if it was written.
    pub path: Option<PathBuf>,
    /// What is counted over its indices, if it was written.
    pub counts: Option<IndexCounts>,
    /// The longest win or loss in moves.
    pub longest: u16,
    /// The longest win with White and with Black to move, in moves; none of a side that never wins.
    pub longest_wins: [Option<u16>; 2],
}

/// Solves the jobs (each after what it needs) and writes them, keeping what is there and intact.
///
/// # Errors
///
/// Unreadable or unwritable files, too little memory, a request to stop.
pub fn build(jobs: &[Job], options: &BuildOptions<'_>) -> Result<BuildReport, RunError> {
    let mut report = BuildReport::default();
    tidy_folder(options);

    options.progress.phase(Phase::Checking);
    let found = find_present(jobs, options)?;
    keep_present(jobs, &found, options, &mut report)?;

    let todo: Vec<&Job> = jobs.iter().filter(|job| !found.has(job)).collect();
    let total: u64 = todo.iter().map(|job| estimate(job).values).sum();
    let pages = make_room(jobs, &todo, &found, options)?;
    options.progress.begin(total);
    let bounded = pages.is_some();
    // An answer comes first, files later, if everything can be kept until then.
    let first_answer = options.solved.is_some()
        && options.write
        && !bounded
        && total <= ANSWER_FIRST
        && available_memory().is_none_or(|free| total < free / 4);

    let mut work = Work::new(options, found, &todo, pages);
    let mut solved: Vec<Solved<'_>> = Vec::new();
    let mut at = 0;
    while at < todo.len() {
        let end = if bounded { at + 1 } else { tier_end(&todo, at) };
        let tier = &todo[at..end];
        options.progress.phase(Phase::Reading);
        work.load_needed(tier)?;
        options.progress.phase(Phase::Solving);
        if first_answer {
            solved.extend(work.solve_tier(tier)?);
        } else if options.write {
            work.solve_and_write_tier(tier, &mut report)?;
        } else {
            let tables = work.solve_tier(tier)?.into_iter().map(|solved| solved.table);
            report.built.extend(tables);
        }
        at = end;
        work.forget_unneeded(&todo[at..]);
    }

    if let Some(hook) = options.solved {
        hook(work.all_tables(jobs, &solved)?);
    }
    for solved in solved {
        let path = options.dir.join(&solved.table.name);
        let _lock = options.workplace.lock(&path, options.progress)?;
        if !work.is_there_now(solved.job, &mut report)? {
            report.built.push(work.write(solved)?.table);
        }
    }
    Ok(report)
}

/// Removes what dead processes left of other tables; a folder that is only read need not be writable.
fn tidy_folder(options: &BuildOptions<'_>) {
    let storage = &*options.workplace.storage;
    let exists = storage.info(&options.dir).is_ok_and(|info| !info.is_file);
    if options.write
        && exists
        && let Err(error) = tidy(storage, &options.dir, None)
    {
        tracing::warn!(folder = %options.dir.display(), %error, "not tidied up");
    }
}

/// Reports the tables that are there.
fn keep_present(
    jobs: &[Job],
    found: &Found,
    options: &BuildOptions<'_>,
    report: &mut BuildReport,
) -> Result<(), RunError> {
    for path in jobs.iter().filter_map(|job| found.present.get(&job.material)) {
        tracing::info!(table = %path.display(), "kept");
        report.kept.push(path.clone());
        if options.write {
            checkpoint::remove_left(&options.workplace, path)?;
        }
    }
    Ok(())
}

/// Sees to it that memory and disk suffice; pages if memory is bounded.
fn make_room(
    jobs: &[Job],
    todo: &[&Job],
    found: &Found,
    options: &BuildOptions<'_>,
) -> Result<Option<Arc<Pages>>, RunError> {
    let workplace = &options.workplace;
    let needed = needed_memory(todo, options.write);
    let temporary = std::env::temp_dir();
    let folder = if options.write { &options.dir } else { &temporary };
    let layouts: Vec<Layout> = todo.iter().map(|job| Layout::new(&job.material)).collect();
    let pages = room::pages(workplace, layouts.iter(), needed, folder, options.progress)?;
    if options.write && !todo.is_empty() {
        workplace.create_folder(&options.dir)?;
        workplace.probe(&options.dir)?;
    }
    let total: u64 = todo.iter().map(|job| estimate(job).values).sum();
    if options.write && (pages.is_some() || total >= LASTING) {
        check_disk(jobs, &|job| found.has(job), &options.dir, workplace)?;
    }
    Ok(pages)
}

/// A job that is solved, and written if its table has a path.
struct Solved<'j> {
    job: &'j Job,
    values: Arc<TableValues>,
    began: SystemTime,
    /// See [`Learned::passes`].
    passes: BTreeMap<(u16, bool), (u64, Duration)>,
    table: BuiltTable,
}

/// Where a run of jobs ends that do not need each other and may be solved side by side.
fn tier_end(todo: &[&Job], start: usize) -> usize {
    let key = |j: &Job| {
        let pawns = j.material.count.white.pawn + j.material.count.black.pawn;
        (j.material.men(), pawns)
    };
    let first = key(todo[start]);
    if estimate(todo[start]).values >= LARGE {
        return start + 1;
    }
    let same = |j: &&&Job| key(j) == first && estimate(j).values < LARGE;
    start + todo[start..].iter().take_while(same).count()
}

/// What is in the folder.
struct Found {
    /// The files that answer for jobs.
    present: HashMap<Material, PathBuf>,
    /// Files that have the name of a job's table and are no use.
    refused: HashMap<Material, FileInfo>,
}

impl Found {
    fn has(&self, job: &Job) -> bool {
        self.present.contains_key(&job.material)
    }
}

/// The file of a folder that answers for a job, if there is one.
pub(crate) fn find_intact(
    job: &Job,
    dir: &Path,
    workplace: &Workplace,
) -> Result<Option<PathBuf>, RunError> {
    let whole = Job { material: job.material, part: None }.file_name();
    for name in [whole, job.file_name()] {
        let path = dir.join(name);
        let is_file = workplace.storage.info(&path).is_ok_and(|info| info.is_file);
        if is_file && is_intact(&path, job, workplace)?.is_ok() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The files of the folder that answer for jobs, whole endings before parts.
fn find_present(jobs: &[Job], options: &BuildOptions<'_>) -> Result<Found, RunError> {
    let storage = &*options.workplace.storage;
    let checked: Vec<(Material, Option<PathBuf>, Option<FileInfo>)> = jobs
        .par_iter()
        .map(|job| {
            options.workplace.check_stop()?;
            let whole = Job { material: job.material, part: None }.file_name();
            let mut refused = None;
            for name in [whole, job.file_name()] {
                let path = options.dir.join(name);
                let Some(info) = storage.info(&path).ok().filter(|info| info.is_file) else {
                    continue;
                };
                let unfit = match is_intact(&path, job, &options.workplace)? {
                    Ok(()) => return Ok((job.material, Some(path), None)),
                    Err(unfit) => unfit,
                };
                if refused == Some(info) {
                    continue;
                }
                tracing::info!(table = %path.display(), why = unfit.why, "not used");
                let is_target = options.write && path == options.dir.join(job.file_name());
                if is_target {
                    unfit.expect_own(&path)?;
                    refused = Some(info);
                }
                let then = if is_target { "building it anew" } else { "not used" };
                options.progress.notice(&format!("{}; {then}", unfit.why));
            }
            Ok((job.material, None, refused))
        })
        .collect::<Result<_, RunError>>()?;
    let mut found = Found { present: HashMap::new(), refused: HashMap::new() };
    for (material, path, refused) in checked {
        found.present.extend(path.map(|path| (material, path)));
        found.refused.extend(refused.map(|info| (material, info)));
    }
    Ok(found)
}

/// A file that has the name of a job's table and does not answer for it.
struct Unfit {
    why: String,
    /// Whether its header is that of the job's table: then it is one that was damaged.
    own: bool,
}

impl Unfit {
    /// Refuses to replace a file that was not made as the job's table.
    fn expect_own(&self, path: &Path) -> Result<(), RunError> {
        if self.own {
            return Ok(());
        }
        Err(RunError::InTheWay { path: path.to_owned(), why: self.why.clone() })
    }
}

/// Whether a file is complete, undamaged and holds what the job asks for; if not, why.
///
/// # Errors
///
/// The file cannot be read, which says nothing about it; somebody asked to stop.
fn is_intact(path: &Path, job: &Job, workplace: &Workplace) -> Result<Result<(), Unfit>, RunError> {
    let opened = match Table::open(path, workplace.source_options()) {
        Err(error) if error.is_unreadable() || error.is_stopped() => return Err(error.into()),
        opened => opened,
    };
    let name = path.display();
    let other = |why: String| Ok(Err(Unfit { why, own: false }));
    let mut table = match opened {
        Ok(table) => table,
        Err(error) => {
            let header = Table::salvage_header(path, &*workplace.storage);
            let wanted = control_for_job(job)?;
            let own = header.is_some_and(|header| is_made_from(&header, &wanted, &workplace.stop));
            return Ok(Err(Unfit { why: error.to_string(), own }));
        }
    };
    let men = table.pieces().iter().map(|p| (p.color, p.role));
    let material = Material::from_men(men).normalized().0;
    if material != job.material {
        return other(format!("{name}: holds {material}, not {}", job.material));
    }
    if job.part.is_none() && table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted) {
        return other(format!("{name}: holds a part of {material} only"));
    }
    let plain = table.variant() == hoffman_board::Variant::Normal
        && matches!(table.codec().format(), hoffman_board::Format::Dtm(_))
        && table.control().prune_enables.is_empty();
    if !plain {
        return other(format!("{name}: is no plain table of distances to mate"));
    }
    let own = is_made_from(table.control(), &control_for_job(job)?, &workplace.stop);
    match table.check_length().and_then(|()| table.check()) {
        Ok(()) => Ok(Ok(())),
        Err(error) if error.is_unreadable() || error.is_stopped() => Err(error.into()),
        Err(error) => Ok(Err(Unfit { why: error.to_string(), own })),
    }
}

/// The memory that is needed if nothing goes to the disk, in bytes. Without files everything that a later
/// job needs stays in memory. Endings of five men took 0.57 to 1.36 times the sum of these things; a fifth is
/// added, since what does not fit ends badly.
pub(crate) fn needed_memory(todo: &[&Job], write: bool) -> u64 {
    let mut worst = 0;
    for (at, job) in todo.iter().enumerate() {
        let own = estimate(job);
        // The file's entries are made beside the values.
        let entries = if write { own.values / 2 } else { 0 };
        let later: HashSet<Material> = if write {
            dependencies(&job.material).into_iter().map(|key| key.0).collect()
        } else {
            todo[at..].iter().flat_map(|j| dependencies(&j.material)).map(|key| key.0).collect()
        };
        let kept = todo[..at].iter().filter(|j| later.contains(&j.material));
        let kept: u64 = kept.map(|j| estimate(j).values).sum();
        let needed = own.values + entries + own.working + kept;
        worst = worst.max(needed);
    }
    worst / 5 * 6
}

/// A job with the lock of its table.
type Claimed<'j> = (&'j Job, Box<dyn Lock>);

/// A build under way.
struct Work<'a> {
    options: &'a BuildOptions<'a>,
    present: HashMap<Material, PathBuf>,
    refused: HashMap<Material, FileInfo>,
    tables: Tables,
    /// The endings that a later job needs.
    needed: HashSet<Material>,
    /// What is in memory of tables read from files.
    loaded: HashMap<Material, Wanted>,
    written: HashMap<Material, PathBuf>,
    /// Where values lie if memory is bounded.
    pages: Option<Arc<Pages>>,
}

impl<'a> Work<'a> {
    fn new(
        options: &'a BuildOptions<'a>,
        found: Found,
        todo: &[&Job],
        pages: Option<Arc<Pages>>,
    ) -> Work<'a> {
        let needed = todo.iter().flat_map(|j| dependencies(&j.material)).map(|key| key.0).collect();
        Work {
            options,
            present: found.present,
            refused: found.refused,
            tables: Tables::new(),
            needed,
            loaded: HashMap::new(),
            written: HashMap::new(),
            pages,
        }
    }

    /// Solves a tier, side by side.
    fn solve_tier<'j>(&mut self, tier: &[&'j Job]) -> Result<Vec<Solved<'j>>, RunError> {
        let solve = |job: &&'j Job| Ok(self.solve(job, false)?.0);
        let built = tier.par_iter().map(solve).collect::<Result<Vec<_>, RunError>>()?;
        self.adopt(&built);
        Ok(built)
    }

    /// Solves and writes a tier, side by side.
    ///
    /// Locks are taken beforehand, as threads that work for each other must not wait for them. What
    /// another run is making comes last: then nothing is held here while this run waits.
    fn solve_and_write_tier(
        &mut self,
        tier: &[&Job],
        report: &mut BuildReport,
    ) -> Result<(), RunError> {
        let (ours, theirs) = self.claim(tier, report)?;
        let alone = tier.len() == 1;
        let solve = |(job, lock)| {
            let written = self.solve_and_write(job, alone);
            drop(lock);
            written
        };
        let built = ours.into_par_iter().map(solve).collect::<Result<Vec<_>, RunError>>()?;
        self.adopt(&built);
        report.built.extend(built.into_iter().map(|s| s.table));

        let BuildOptions { dir, workplace, progress, .. } = self.options;
        for job in theirs {
            let lock = workplace.lock(&dir.join(job.file_name()), *progress)?;
            if self.is_there_now(job, report)? {
                continue;
            }
            let built = [self.solve_and_write(job, alone)?];
            drop(lock);
            self.adopt(&built);
            report.built.extend(built.into_iter().map(|s| s.table));
        }
        Ok(())
    }

    /// Brings into memory what a tier needs and is not there: of every table the sides to move that its
    /// moves lead to.
    fn load_needed(&mut self, tier: &[&Job]) -> Result<(), RunError> {
        let mut needed: HashMap<Material, Wanted> = HashMap::new();
        for job in tier {
            for (material, wanted) in wanted_values(&job.material) {
                needed.entry(material).or_default().extend(&wanted);
            }
        }
        // One room for all: the first touch of a page of memory costs as much as what is done there.
        let mut area = Vec::new();
        for (material, wanted) in needed {
            if let Some(loaded) = self.loaded.get(&material) {
                if loaded.covers(&wanted) {
                    continue;
                }
            } else if self.tables.contains_key(&material) {
                continue;
            }
            let path = self.present.get(&material).or_else(|| self.written.get(&material));
            if let Some(path) = path {
                tracing::info!(table = %path.display(), "reading");
                self.tables.insert(
                    material,
                    Arc::new(load_table(
                        path,
                        &wanted,
                        &self.options.workplace,
                        self.pages.as_ref(),
                        &mut area,
                    )?),
                );
                self.loaded.insert(material, wanted);
            }
        }
        Ok(())
    }

    /// Drops what no later job needs.
    fn forget_unneeded(&mut self, later: &[&Job]) {
        let needed: HashSet<Material> =
            later.iter().flat_map(|j| dependencies(&j.material)).map(|key| key.0).collect();
        self.tables.retain(|material, _| needed.contains(material));
        self.loaded.retain(|material, _| needed.contains(material));
        if !self.options.write {
            return;
        }
        // Under pressure drop the largest ones too; they are read back from their files.
        let limit = available_memory().unwrap_or(u64::MAX) / 2;
        let mut sizes: Vec<(usize, Material)> =
            self.tables.iter().map(|(m, t)| (t.bytes(), *m)).collect();
        sizes.sort_unstable_by_key(|&(bytes, _)| bytes);
        let mut total: u64 = sizes.iter().map(|&(b, _)| b as u64).sum();
        while let Some((bytes, material)) = sizes.pop().filter(|_| total > limit) {
            total -= bytes as u64;
            self.tables.remove(&material);
            self.loaded.remove(&material);
        }
    }

    /// Takes the locks of a tier's tables, as far as no other run has them; leaves out those that another
    /// run has finished by now. The second list has those that another run is making.
    fn claim<'j>(
        &mut self,
        tier: &[&'j Job],
        report: &mut BuildReport,
    ) -> Result<(Vec<Claimed<'j>>, Vec<&'j Job>), RunError> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for &job in tier {
            self.options.workplace.check_stop()?;
            let path = self.options.dir.join(job.file_name());
            match self.options.workplace.try_lock(&path)? {
                None => theirs.push(job),
                Some(lock) => {
                    if !self.is_there_now(job, report)? {
                        ours.push((job, lock));
                    }
                }
            }
        }
        Ok((ours, theirs))
    }

    /// Whether another run has made a table since this one looked. The caller holds its lock, so that
    /// nobody is making it.
    fn is_there_now(&mut self, job: &Job, report: &mut BuildReport) -> Result<bool, RunError> {
        let workplace = &self.options.workplace;
        let path = self.options.dir.join(job.file_name());
        let Some(info) = workplace.storage.info(&path).ok().filter(|info| info.is_file) else {
            return Ok(false);
        };
        if self.refused.get(&job.material) == Some(&info) {
            return Ok(false);
        }
        if let Err(unfit) = is_intact(&path, job, workplace)? {
            unfit.expect_own(&path)?;
            return Ok(false);
        }
        tracing::info!(table = %path.display(), "another run has made it");
        checkpoint::remove_of(workplace, &path)?;
        self.options.progress.skip(estimate(job).values);
        report.kept.push(path.clone());
        self.present.insert(job.material, path);
        Ok(true)
    }

    /// Makes the values of solved tables available to later ones.
    fn adopt(&mut self, built: &[Solved<'_>]) {
        for solved in built {
            if let Some(path) = &solved.table.path {
                self.written.insert(solved.job.material, path.clone());
            }
            self.tables.insert(solved.job.material, solved.values.clone());
        }
    }

    /// Solves a table. A table that is solved `alone` is large, or would wait for nobody: it can have a
    /// checkpoint.
    fn solve<'j, 's>(
        &'s self,
        job: &'j Job,
        alone: bool,
    ) -> Result<(Solved<'j>, Checkpoint<'s>), RunError>
    where
        'j: 's,
    {
        let began = SystemTime::now();
        let name = job.file_name();
        let (progress, workplace) = (self.options.progress, &self.options.workplace);
        workplace.check_stop()?;
        progress.table(&name);
        let mut values = TableValues::new(job.material, job.slices());
        tracing::info!(table = name, slices = values.slices.len(), "solving");
        let options = SolveOptions {
            count: self.options.write,
            keep: self.options.write || self.needed.contains(&job.material),
            pages: self.pages.clone(),
            method: workplace.method,
            outcomes: false,
        };
        let target = self.options.dir.join(&name);
        // Small tables cost less than a checkpoint; in tests they have one all the same.
        let lasting = alone || workplace.checkpoint_every.is_zero();
        let target = Some(&*target).filter(|_| self.options.write && lasting);
        let identity = move || identity(job);
        let checkpoint = Checkpoint::open(self.place(), progress, target, &mut values, identity)?;
        let longest = solve_table(&mut values, &self.tables, &options, &checkpoint)
            .map_err(|error| match error {
                SolveError::Stopped => checkpoint.interrupted(),
                other => other.into(),
            })?
            .max(checkpoint.longest);
        let Learned { mut longest_wins, passes } = checkpoint.learned();
        if values.form == NormalForm::MirroredAndSwapped {
            // A slice stands for its image with exchanged colours.
            longest_wins = [longest_wins.into_iter().max().flatten(); 2];
        }
        let table = BuiltTable { name, path: None, counts: None, longest, longest_wins };
        Ok((Solved { job, values: Arc::new(values), began, passes, table }, checkpoint))
    }

    /// Both; what is solved is saved if the writing is stopped.
    fn solve_and_write<'j>(&self, job: &'j Job, alone: bool) -> Result<Solved<'j>, RunError> {
        let (solved, checkpoint) = self.solve(job, alone)?;
        self.write(solved).map_err(|error| checkpoint.settle(error))
    }

    /// Writes a solved table, if tables are to be written.
    fn write<'j>(&self, mut solved: Solved<'j>) -> Result<Solved<'j>, RunError> {
        if self.options.write {
            let workplace = &self.options.workplace;
            self.options.progress.phase(Phase::Writing);
            let path = self.options.dir.join(&solved.table.name);
            let control = control_for_job(solved.job)?;
            let making = Making {
                args: self.options.args.clone(),
                began: solved.began,
                instruction: String::new(),
                passes: std::mem::take(&mut solved.passes),
            };
            let numbering = Numbering::of(&control, &workplace.stop)?;
            let counts = {
                let (values, progress) = (&solved.values, self.options.progress);
                write_table((&control, &numbering), values, &path, &making, progress, self.place())?
            };
            checkpoint::remove_of(workplace, &path)?;
            tracing::info!(table = %path.display(), "written");
            solved.table.counts = Some(counts);
            solved.table.path = Some(path);
        }
        self.options.progress.finished(&solved.table.name);
        Ok(solved)
    }

    /// Where tables are written.
    fn place(&self) -> (&Workplace, Option<&Arc<Pages>>) {
        (&self.options.workplace, self.pages.as_ref())
    }

    /// The tables of all jobs, those that are not written yet among them.
    fn all_tables(&self, jobs: &[Job], solved: &[Solved<'_>]) -> Result<Vec<Table>, RunError> {
        let mut tables = Vec::new();
        for job in jobs {
            if let Some(s) = solved.iter().find(|s| s.job == job) {
                let path = self.options.dir.join(&s.table.name);
                let control = control_for_job(job)?;
                tables.push(unwritten::open(&control, &s.values, s.table.longest, &path)?);
                continue;
            }
            let path = self.present.get(&job.material).or_else(|| self.written.get(&job.material));
            if let Some(path) = path {
                // They go on answering when the run is over.
                let options = self.options.workplace.source_options();
                let options = SourceOptions { stop: Stop::default(), ..options };
                let mut table = Table::open(path, options)?;
                table.check_length()?;
                tables.push(table);
            }
        }
        Ok(tables)
    }
}

/// What decides the values of a job's table. The tables behind it are those of chess, whatever their files.
fn identity(job: &Job) -> Result<Identity, RunError> {
    let mut task = Sha256::new();
    let control = control_for_job(job)?;
    task.update(control.text());
    let mut slices: Vec<_> = job.slices().into_iter().collect();
    slices.sort_unstable();
    for slice in slices {
        task.update(slice.white.to_le_bytes());
        task.update(slice.black.to_le_bytes());
    }
    Ok(Identity { task: digest(task), futurebases: digest(Sha256::new()) })
}

/// The control file that stands in the header of a job's table.
pub(crate) fn control_for_job(job: &Job) -> Result<ControlFile, RunError> {
    let text = match &job.part {
        None => control_for_material(&job.material),
        Some(part) => {
            let pawns: Vec<_> = part
                .pawns
                .iter()
                .map(|&(c, set)| (c, hoffman_board::Role::Pawn, hoffman_board::Bitboard(set)))
                .collect();
            control_for_part(&job.material, &pawns)
        }
    };
    Ok(ControlFile::parse(&text, &job.file_name(), Mode::Control)?)
}

/// The endings that moves lead to, with the part of their values that is needed.
pub(crate) fn wanted_values(material: &Material) -> HashMap<Material, Wanted> {
    let mut needed: HashMap<Material, Wanted> = HashMap::new();
    for (mover, behind) in exits(material) {
        let (normal, swapped) = behind.normalized();
        let turn = if swapped { mover } else { mover.other() };
        let mut wanted = Wanted::default();
        wanted.sides[usize::from(turn == Color::Black)] = true;
        if normal.is_symmetric() && normal.has_pawns() {
            // A slice may stand for its image with colours exchanged.
            wanted.sides = [true; 2];
        }
        if behind.men() == material.men() {
            // A promotion without capture: the new man stands on the last rank.
            let count = |m: &Material, role| *m.count.get(mover).get(role);
            let promoted = PROMOTIONS.into_iter().find(|&r| count(&behind, r) > count(material, r));
            let color = turn.other();
            wanted.on_edge.extend(promoted.map(|role| (color, role)));
            if normal.is_symmetric() && normal.has_pawns() {
                wanted.on_edge.extend(promoted.map(|role| (color.other(), role)));
            }
        }
        needed.entry(normal).or_default().extend(&wanted);
    }
    needed
}

/// Reads a table file into memory, as values by rows.
fn load_table(
    path: &Path,
    wanted: &Wanted,
    workplace: &Workplace,
    pages: Option<&Arc<Pages>>,
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let mut table = Table::open(path, workplace.source_options())?;
    table.check_length()?;
    values_of(&table, wanted, (pages, &workplace.stop), area)
}

/// The values of an open table, whose entries are read into `area` on the way; in pages, if there are any, and
/// until somebody asks to stop.
pub(crate) fn values_of(
    table: &Table,
    wanted: &Wanted,
    place: (Option<&Arc<Pages>>, &Stop),
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let restricted = |p: &hoffman_board::ListedPiece| p.is_restricted();
    if table.pieces().len() == 2 && !table.pieces().iter().any(restricted) {
        // Bare kings are quicker solved than read, and their layout has no symmetry to read through.
        let job = Job { material: Material::bare_kings(), part: None };
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: false, keep: true, ..SolveOptions::default() };
        solve_table(&mut values, &Tables::new(), &options, &|| {})?;
        return Ok(values);
    }
    decode_table(table, wanted, Taking::Exactly, place, None, area)
}

/// Values in pages, if there are any.
fn placed(values: TableValues, pages: Option<&Arc<Pages>>) -> TableValues {
    match pages {
        Some(pages) => in_pages(values, pages),
        None => values,
    }
}

/// The values of an open table, taken in a certain way; `area` as in [`values_of`], `another` as in
/// [`Table::foreign_values`].
pub(crate) fn decode_table(
    table: &Table,
    wanted: &Wanted,
    taking: Taking,
    place: (Option<&Arc<Pages>>, &Stop),
    another: Option<&TableValues>,
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let (pages, stop) = place;
    let rows_error = |source| RunError::of_rows(&table.path().display().to_string(), source);
    let (space, codec) = (table.space(), table.codec());
    // A file may claim anything.
    let packed = space.size().div_ceil(8).saturating_mul(u64::from(codec.bits()));
    if pages.is_none() && available_memory().is_some_and(|free| packed > free) {
        return Err(rows_error(RowsError::TooLarge(space.size())));
    }
    if let Some(values) = table.foreign_values(wanted, taking, pages, another, stop)? {
        return Ok(values);
    }
    let mut values = decode_entries(table, wanted, taking, place, area)?;
    if !tells_illegal(codec) {
        clear_illegal(&mut values);
    }
    Ok(values)
}

/// The same, with whatever stands for positions that are not legal.
fn decode_entries(
    table: &Table,
    wanted: &Wanted,
    taking: Taking,
    (pages, stop): (Option<&Arc<Pages>>, &Stop),
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let rows_error = |source| RunError::of_rows(&table.path().display().to_string(), source);
    let (space, codec) = (table.space(), table.codec());
    match pages {
        Some(pages) if space.has_side_bit() || has_free_pieces(space) => {
            let mut read =
                |first: u64, len: u64, area: &mut Vec<u8>| table.read_packed_part(first, len, area);
            let values = decode_in(space, codec, wanted, taking, (pages, stop), &mut read);
            values.map_err(|error| match error {
                DecodeError::Rows(source) => rows_error(source),
                DecodeError::Read(error) => error.into(),
            })
        }
        _ => {
            table.read_packed(area)?;
            let values = decode(space, codec, area, wanted, taking, stop);
            Ok(placed(values.map_err(rows_error)?, pages))
        }
    }
}

/// Whether entries tell positions that are not legal from draws. One bit is too few for that: tables in which
/// everything is drawn have distances of one bit.
pub(crate) fn tells_illegal(codec: EntryCodec) -> bool {
    codec.format().has_distance() && codec.bits() > 1
}
