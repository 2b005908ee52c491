//! Building complete endings and parts of endings in a folder.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hoffman_board::{Color, Material};
use hoffman_control::{ControlFile, Mode, control_for_material, control_for_part};
use hoffman_plan::ending::{PROMOTIONS, exits};
use hoffman_plan::{Job, dependencies, estimate};
use hoffman_solve::{SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::{Entries, IndexCounts, Taking, Wanted, decode};
use hoffman_table::{Table, TableError};
use rayon::prelude::*;

use crate::error::RunError;
use crate::memory::available_memory;
use crate::numbering::Numbering;
use crate::progress::Progress;
use crate::unwritten;
use crate::write::{Making, write_table};

/// From how many bytes of values on a table is solved alone, with all threads.
const LARGE: u64 = 64 << 20;

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
}

/// Solves the jobs (each after what it needs) and writes them, keeping what is there and intact.
///
/// # Errors
///
/// Unreadable or unwritable files, too little memory.
pub fn build(jobs: &[Job], options: &BuildOptions<'_>) -> Result<BuildReport, RunError> {
    let mut report = BuildReport::default();
    let present = find_present(jobs, options, &mut report);
    let todo: Vec<&Job> = jobs.iter().filter(|j| !present.contains_key(&j.material)).collect();
    check_memory(&todo, options.write)?;
    if options.write && !todo.is_empty() {
        std::fs::create_dir_all(&options.dir).map_err(|source| RunError::Io {
            action: "create the folder",
            path: options.dir.clone(),
            source,
        })?;
        probe_writable(&options.dir)?;
    }
    options.progress.begin(todo.iter().map(|j| j.slices().len() as u64).sum());
    let needed = todo.iter().flat_map(|j| dependencies(&j.material)).map(|key| key.0).collect();
    let tables = Tables::new();
    let mut work =
        Work { options, present, tables, needed, loaded: HashMap::new(), written: HashMap::new() };
    // An answer comes first, files later, if everything can be kept until then.
    let total: u64 = todo.iter().map(|j| estimate(j).values).sum();
    let first_answer = options.solved.is_some()
        && options.write
        && available_memory().is_none_or(|free| total < free / 4);
    let mut solved: Vec<Solved<'_>> = Vec::new();
    let mut at = 0;
    while at < todo.len() {
        let end = tier_end(&todo, at);
        let tier = &todo[at..end];
        work.load_needed(tier)?;
        let built: Vec<Solved<'_>> = tier
            .par_iter()
            .map(|job| {
                let solved = work.solve(job)?;
                if first_answer { Ok(solved) } else { work.write(solved) }
            })
            .collect::<Result<_, RunError>>()?;
        for solved in &built {
            if let Some(path) = &solved.table.path {
                work.written.insert(solved.job.material, path.clone());
            }
            work.tables.insert(solved.job.material, solved.values.clone());
        }
        if first_answer {
            solved.extend(built);
        } else {
            report.built.extend(built.into_iter().map(|s| s.table));
        }
        at = end;
        work.forget_unneeded(&todo[at..]);
    }
    if let Some(hook) = options.solved {
        hook(work.all_tables(jobs, &solved)?);
    }
    for solved in solved {
        report.built.push(work.write(solved)?.table);
    }
    Ok(report)
}

/// A job that is solved, and written if its table has a path.
struct Solved<'j> {
    job: &'j Job,
    values: Arc<TableValues>,
    began: SystemTime,
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

/// The files of the folder that answer for jobs, whole endings before parts.
fn find_present(
    jobs: &[Job],
    options: &BuildOptions<'_>,
    report: &mut BuildReport,
) -> HashMap<Material, PathBuf> {
    let checked: Vec<Option<(Material, PathBuf)>> = jobs
        .par_iter()
        .map(|job| {
            let whole = Job { material: job.material, part: None }.file_name();
            [whole, job.file_name()].into_iter().find_map(|name| {
                let path = options.dir.join(name);
                if !path.is_file() {
                    return None;
                }
                match is_intact(&path, job) {
                    Ok(()) => Some((job.material, path)),
                    Err(why) => {
                        options.progress.notice(&format!("{why}; building it anew"));
                        None
                    }
                }
            })
        })
        .collect();
    let mut present = HashMap::new();
    for (material, path) in checked.into_iter().flatten() {
        report.kept.push(path.clone());
        present.insert(material, path);
    }
    present
}

/// Whether a file is complete, undamaged and holds what the job asks for.
fn is_intact(path: &Path, job: &Job) -> Result<(), String> {
    let mut table = Table::open(path, SourceOptions::default()).map_err(|e| e.to_string())?;
    table.check_length().map_err(|e: TableError| e.to_string())?;
    table.source().check().map_err(|e| format!("{}: {e}", path.display()))?;
    let men = table.pieces().iter().map(|p| (p.color, p.role));
    let material = Material::from_men(men).normalized().0;
    if material != job.material {
        return Err(format!("{}: holds {material}, not {}", path.display(), job.material));
    }
    if job.part.is_none() && table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted) {
        return Err(format!("{}: holds a part of {material} only", path.display()));
    }
    let plain = table.variant() == hoffman_board::Variant::Normal
        && matches!(table.codec().format(), hoffman_board::Format::Dtm(_))
        && table.control().prune_enables.is_empty();
    if !plain {
        return Err(format!("{}: is no plain table of distances to mate", path.display()));
    }
    Ok(())
}

/// Refuses early what cannot fit. Without files everything that a later job needs stays in memory.
fn check_memory(todo: &[&Job], write: bool) -> Result<(), RunError> {
    let Some(available) = available_memory() else { return Ok(()) };
    let mut worst: Option<(u64, Material)> = None;
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
        if worst.is_none_or(|(most, _)| needed > most) {
            worst = Some((needed, job.material));
        }
    }
    match worst {
        Some((needed, ending)) if needed > available => {
            Err(RunError::Memory { ending, needed: needed >> 20, available: available >> 20 })
        }
        _ => Ok(()),
    }
}

/// Finds out before the work whether files can be made in a folder.
pub(crate) fn probe_writable(dir: &Path) -> Result<(), RunError> {
    let path = dir.join(format!(".hoffman-{}", std::process::id()));
    let result = std::fs::File::create(&path).and_then(|_| std::fs::remove_file(&path));
    result.map_err(|source| RunError::Io { action: "write to", path: dir.to_owned(), source })
}

/// A build under way.
struct Work<'a> {
    options: &'a BuildOptions<'a>,
    present: HashMap<Material, PathBuf>,
    tables: Tables,
    /// The endings that a later job needs.
    needed: HashSet<Material>,
    /// What is in memory of tables read from files.
    loaded: HashMap<Material, Wanted>,
    written: HashMap<Material, PathBuf>,
}

impl Work<'_> {
    /// Brings into memory what a tier needs and is not there: of every table the sides to move that its
    /// moves lead to.
    fn load_needed(&mut self, tier: &[&Job]) -> Result<(), RunError> {
        let mut needed: HashMap<Material, Wanted> = HashMap::new();
        for job in tier {
            for (material, wanted) in wanted_values(&job.material) {
                needed.entry(material).or_default().extend(&wanted);
            }
        }
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
                self.tables.insert(material, Arc::new(load_table(path, &wanted)?));
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

    fn solve<'j>(&self, job: &'j Job) -> Result<Solved<'j>, RunError> {
        let began = SystemTime::now();
        let name = job.file_name();
        let progress = self.options.progress;
        progress.table(&name);
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions {
            count: self.options.write,
            keep: self.options.write || self.needed.contains(&job.material),
        };
        let longest = solve_table(&mut values, &self.tables, options, &|| progress.slice())?;
        let table = BuiltTable { name, path: None, counts: None, longest };
        Ok(Solved { job, values: Arc::new(values), began, table })
    }

    /// Writes a solved table, if tables are to be written.
    fn write<'j>(&self, mut solved: Solved<'j>) -> Result<Solved<'j>, RunError> {
        if self.options.write {
            let path = self.options.dir.join(&solved.table.name);
            let control = control_for_job(solved.job)?;
            let making = Making {
                args: self.options.args.clone(),
                began: solved.began,
                futurebases: String::new(),
            };
            let numbering = Numbering::of(&control)?;
            let counts = write_table(&control, &numbering, &solved.values, &path, &making)?;
            solved.table.counts = Some(counts);
            solved.table.path = Some(path);
        }
        self.options.progress.finished(&solved.table.name);
        Ok(solved)
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
                let mut table = Table::open(path, SourceOptions::default())?;
                table.check_length()?;
                tables.push(table);
            }
        }
        Ok(tables)
    }
}

/// The control file that stands in the header of a job's table.
fn control_for_job(job: &Job) -> Result<ControlFile, RunError> {
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
fn load_table(path: &Path, wanted: &Wanted) -> Result<TableValues, RunError> {
    let mut table = Table::open(path, SourceOptions::default())?;
    table.check_length()?;
    values_of(&table, wanted)
}

/// The values of an open table.
pub(crate) fn values_of(table: &Table, wanted: &Wanted) -> Result<TableValues, RunError> {
    let restricted = |p: &hoffman_board::ListedPiece| p.is_restricted();
    if table.pieces().len() == 2 && !table.pieces().iter().any(restricted) {
        // Bare kings are quicker solved than read, and their layout has no symmetry to read through.
        let job = Job { material: Material::bare_kings(), part: None };
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: false, keep: true };
        solve_table(&mut values, &Tables::new(), options, &|| {})?;
        return Ok(values);
    }
    decode_table(table, wanted, Taking::Exactly)
}

/// The values of an open table, taken in a certain way.
pub(crate) fn decode_table(
    table: &Table,
    wanted: &Wanted,
    taking: Taking,
) -> Result<TableValues, RunError> {
    let rows_error = |source| RunError::Rows { place: table.path().display().to_string(), source };
    let (space, codec) = (table.space(), table.codec());
    if table.foreign().is_none() {
        let mut area = Vec::new();
        table.read_packed(&mut area)?;
        return decode(space, codec, Entries::Packed(&area), wanted, taking).map_err(rows_error);
    }
    // Each entry of a table of another program costs so much that only those wanted are asked for.
    let failure: Mutex<Option<TableError>> = Mutex::new(None);
    let ask = |index: u64| match table.entry(index) {
        Ok(entry) => Some(entry),
        Err(error) => {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            None
        }
    };
    let values = decode(space, codec, Entries::Asked(&ask), wanted, taking);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error.into()),
        None => values.map_err(rows_error),
    }
}
