//! What a run would cost, before it is begun.
//!
//! The figures are estimates from what other tables have cost per position and per index; the constants
//! say where they come from.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hoffman_board::Material;
use hoffman_control::{ControlFile, Mode};
use hoffman_plan::{Job, complete, dependencies, estimate};
use hoffman_solve::{Method, SolveOptions, Tables, solve_table};
use hoffman_space::{Layout, TableValues};
use hoffman_store::{folder_of, is_file, is_like};
use hoffman_table::foreign::ForeignOptions;
use serde::Serialize;

use crate::build::{LASTING, control_for_job, find_intact, needed_memory};
use crate::build_control::{ControlBuildOptions, is_current};
use crate::error::RunError;
use crate::expand::{Expanded, expand, is_input, read_input};
use crate::futurebases::{self, OpenFuturebase};
use crate::generate::{bounded, keeps_outcomes, read_control, table_values};
use crate::memory::free_disk;
use crate::numbering::Numbering;
use crate::order::{in_order_of_need, output_of};
use crate::progress::Silent;
use crate::room::{OWN, bounded_budget, least_memory};
use crate::workplace::Workplace;

/// Nanoseconds to solve a position, on the machine that solves [`MEASURE`] in [`MEASURED`] seconds. Measured
/// over five-man endings (`docs/performance.md`).
const SOLVING: f64 = 6.0;
/// Nanoseconds to number, pack and compress an entry, on the same machine.
const WRITING: f64 = 9.0;
/// How much longer it takes from the disk. Measured: 2.3 for KRPvKR in 64 MB, 3.0 for six men and a slice in 1 GB.
const FROM_DISK: f64 = 2.5;
/// The same with propagation tables. Measured: 14 for KRRvKR, five times as long as by sweeps for
/// KQQvKQQ in 1 GB.
const WITH_PROPTABLES: f64 = 18.0;
/// The ending whose solving tells how fast a machine is.
const MEASURE: &str = "KQvKR";
/// Seconds that one thread takes for it and what it needs, with moves counted.
const MEASURED: f64 = 0.050;

/// The share of the memory needed that endings without pawns take, typically: little where almost all is drawn.
/// Measured over five-man endings: from 0.5 to 1, with pawns about 1.
const USED: f64 = 0.72;

/// Bytes of a compressed file per entry, typically. Measured over five-man endings: from 0.1 to 0.6.
const TYPICAL: f64 = 0.45;

/// What one table would cost.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedTable {
    /// The file.
    pub table: String,
    /// Whether it is there already.
    pub kept: bool,
    /// The size of its index space.
    pub indices: u64,
    /// The slices that are solved for it.
    pub slices: u64,
    /// The files that it is made from.
    pub needs: Vec<String>,
    /// Processor seconds.
    pub seconds: f64,
    /// The file's size in bytes, at most.
    pub bytes_at_most: u64,
    /// The file's size in bytes, typically.
    pub bytes_typically: u64,
}

/// What a run would cost.
#[derive(Clone, Debug, Serialize)]
pub struct RunPlan {
    /// The tables in the order of work.
    pub tables: Vec<PlannedTable>,
    /// The memory that it takes if nothing goes to the disk, in bytes.
    pub memory: u64,
    /// The least memory that it can be done in, in bytes.
    pub least_memory: u64,
    /// The memory that it would take here, typically, in bytes.
    pub used_memory: u64,
    /// Whether it would work from the disk.
    pub from_disk: bool,
    /// Bytes of working files at most at one time.
    pub working_disk: u64,
    /// Bytes of the largest checkpoint, at most; 0 if no table takes so long.
    pub checkpoint: u64,
    /// What the disk has free, in bytes, if the system says so.
    pub free_disk: Option<u64>,
    /// All files together, at most.
    pub bytes_at_most: u64,
    /// All files together, typically.
    pub bytes_typically: u64,
    /// Processor seconds.
    pub seconds: f64,
    /// Seconds by the clock with the threads there are.
    pub elapsed_seconds: f64,
}

/// The size of slices and indices of a table.
#[derive(Clone)]
struct Sizes {
    /// Positions of a slice, both sides to move.
    slice: u64,
    slices: u64,
    indices: u64,
    layout: Layout,
}

impl Sizes {
    fn positions(&self) -> u64 {
        self.slice.saturating_mul(self.slices)
    }

    /// Bytes of working files beyond what `pages` bytes of memory hold: for the slice being solved planes
    /// (three a side, an eighth of a byte each), events and logs (three and four bits, see
    /// [`hoffman_plan::estimate`]); the values of all slices, and the numbers of all entries,
    /// twice while they are turned. A fifth more is lost between pages, measured for KQQvKQQ in 1 GB.
    fn working_disk(&self, pages: u64) -> u64 {
        let solving = self.slice / 8 * (3 + 3 + 4);
        let all = solving.saturating_add(self.positions()).saturating_add(2 * self.indices);
        (all / 5).saturating_mul(6).saturating_sub(pages)
    }

    /// Bytes of a checkpoint, at most: the values of the slices that are solved, and the logs of another one.
    fn checkpoint(&self) -> u64 {
        self.slice.saturating_mul(self.slices.saturating_sub(1)).saturating_add(self.slice / 2)
    }

    fn seconds(&self, writes: bool) -> f64 {
        let writing = if writes { self.indices as f64 * WRITING } else { 0.0 };
        (self.positions() as f64 * SOLVING + writing) / 1e9
    }

    /// The bytes of a file: entries of the widest kind that tables of so many men have needed, as deflate
    /// stores what it cannot compress, the index of blocks, and the header.
    fn bytes_at_most(&self, men: usize) -> u64 {
        let bits = match men {
            0..=4 => 8,
            5 => 9,
            6 => 11,
            _ => 16,
        };
        let entries = self.indices.div_ceil(8) * bits;
        entries + entries / 1000 + 64 * (entries >> 18) + (64 << 10)
    }
}

/// How many times slower than the machine of the constants this one is.
fn slowness() -> f64 {
    let Ok(material) = MEASURE.parse::<Material>() else { return 1.0 };
    let jobs = complete([material]);
    let once = || {
        let began = Instant::now();
        let mut tables = Tables::new();
        for job in &jobs {
            let mut values = TableValues::new(job.material, job.slices());
            let options = SolveOptions { count: true, keep: true, ..SolveOptions::default() };
            if solve_table(&mut values, &tables, &options, &|| {}).is_ok() {
                tables.insert(job.material, values.into());
            }
        }
        began.elapsed().as_secs_f64()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    // The first run fills caches and tables of moves.
    let best = |run: &dyn Fn() -> f64| (0..3).map(|_| run()).fold(f64::INFINITY, f64::min);
    pool.map_or(1.0, |pool| pool.install(|| best(&once) / MEASURED))
}

/// Plans a build of complete endings or parts of them in a folder, as [`crate::build`] would do it.
///
/// # Errors
///
/// The folder cannot be read, or too little memory is allowed.
pub fn plan_build(jobs: &[Job], dir: &Path, workplace: &Workplace) -> Result<RunPlan, RunError> {
    let kept = |job: &Job| Ok(find_intact(job, dir, workplace)?.is_some());
    plan_jobs(jobs, &kept, dir, workplace, slowness())
}

/// Refuses a build for which the disk has no room.
pub(crate) fn check_disk(
    jobs: &[Job],
    kept: &dyn Fn(&Job) -> bool,
    dir: &Path,
    workplace: &Workplace,
) -> Result<(), RunError> {
    plan_jobs(jobs, &|job| Ok(kept(job)), dir, workplace, 1.0)?.check_disk(dir, workplace)
}

fn plan_jobs(
    jobs: &[Job],
    is_kept: &dyn Fn(&Job) -> Result<bool, RunError>,
    dir: &Path,
    workplace: &Workplace,
    slow: f64,
) -> Result<RunPlan, RunError> {
    let mut sizes = Vec::new();
    let mut todo: Vec<&Job> = Vec::new();
    let mut tables = Vec::new();
    let names: HashSet<Material> = jobs.iter().map(|job| job.material).collect();
    for job in jobs {
        let control = control_for_job(job)?;
        let layout = Layout::new(&job.material);
        let own = Sizes {
            slice: 2 * layout.len() as u64,
            slices: job.slices().len() as u64,
            indices: Numbering::of(&control, &workplace.stop)?.space.size(),
            layout,
        };
        let kept = is_kept(job)?;
        let needs = dependencies(&job.material).into_iter().map(|key| key.0);
        let named = |m: Material| {
            jobs.iter().find(|j| j.material == m).map_or_else(|| m.to_string(), Job::file_name)
        };
        tables.push(PlannedTable {
            table: job.file_name(),
            kept,
            indices: own.indices,
            slices: own.slices,
            needs: needs.filter(|m| names.contains(m)).map(named).collect(),
            seconds: if kept { 0.0 } else { own.seconds(true) },
            bytes_at_most: own.bytes_at_most(job.material.men()),
            bytes_typically: (own.indices as f64 * TYPICAL) as u64 + (1 << 10),
        });
        if !kept {
            todo.push(job);
            sizes.push(own);
        }
    }
    let held = |at: usize| {
        // Values of other tables of the run that are needed here lie in working files, too.
        let needed: HashSet<Material> =
            dependencies(&todo[at].material).into_iter().map(|key| key.0).collect();
        let others = jobs.iter().filter(|job| needed.contains(&job.material));
        others.map(|job| estimate(job).values).sum::<u64>()
    };
    let held: Vec<u64> = (0..todo.len()).map(held).collect();
    let needed = needed_memory(&todo, true) + OWN;
    let with_pawns = todo.iter().any(|job| job.material.has_pawns());
    let typical = if with_pawns { needed } else { (needed as f64 * USED) as u64 };
    finish(tables, &sizes, &held, [needed, typical], (workplace, dir), slow)
}

/// Plans the tables of control files, as [`crate::build_control`] would make them. Futurebases that are among
/// them need not be there.
///
/// # Errors
///
/// Those of [`crate::build_control`] before the futurebases are read.
pub fn plan_controls(
    paths: &[&Path],
    options: &ControlBuildOptions<'_>,
) -> Result<RunPlan, RunError> {
    let dir = options.dir.as_deref();
    let workplace = Workplace { tables: options.dir.clone(), ..options.workplace.clone() };
    let mut controls = Vec::new();
    for path in in_order_of_need(paths, dir, &workplace)? {
        controls.extend(tables_of(path, dir, &workplace)?);
    }
    let workplace = match controls.as_slice() {
        [(control, _)] => bounded(control, &workplace, &Silent),
        _ => workplace,
    };
    let mut made: Vec<Made> = Vec::new();
    for (control, output) in controls {
        let table = plan_table(control, output, &made, &options.foreign, &workplace)?;
        made.push(table);
    }
    let folder = made.first().map(|made| folder_of(&made.output).to_owned()).unwrap_or_default();
    let todo = || made.iter().filter(|made| !made.table.kept);
    let needed = todo().map(|made| made.needed).max().unwrap_or(0) + OWN;
    let held: Vec<u64> = todo().map(|made| made.behind).collect();
    let sizes: Vec<Sizes> = todo().map(|made| made.sizes.clone()).collect();
    let tables = made.into_iter().map(|made| made.table).collect();
    finish(tables, &sizes, &held, [needed; 2], (&workplace, &folder), slowness())
}

/// The control files that a file stands for, with their outputs, each after those that it needs.
fn tables_of(
    path: &Path,
    dir: Option<&Path>,
    workplace: &Workplace,
) -> Result<Vec<(ControlFile, PathBuf)>, RunError> {
    if !is_input(&read_input(path, workplace)?) {
        let control = read_control(path, workplace)?;
        let output = output_of(&control, dir)?;
        return Ok(vec![(control, output)]);
    }
    let parsed = |table: Expanded| {
        let name = table.name.display().to_string();
        Ok((ControlFile::parse(&table.control, &name, Mode::Control)?, table.output))
    };
    expand(path, dir, workplace)?.tables.into_iter().map(parsed).collect()
}

/// A planned table of a control file.
struct Made {
    output: PathBuf,
    table: PlannedTable,
    sizes: Sizes,
    /// Bytes of the values behind its moves.
    behind: u64,
    /// Bytes of memory if nothing goes to the disk.
    needed: u64,
    /// Whether it may answer a position and its mirror image differently.
    apart: bool,
}

/// Plans a table after those in `made`.
fn plan_table(
    mut control: ControlFile,
    output: PathBuf,
    made: &[Made],
    foreign: &ForeignOptions,
    workplace: &Workplace,
) -> Result<Made, RunError> {
    hoffman_control::check_declarations(&control)?;
    let mut numbering = Numbering::of(&control, &workplace.stop)?;
    let to_be_made = made.iter().filter(|made| !made.table.kept);
    let rebuilt: HashSet<PathBuf> = to_be_made.map(|made| made.output.clone()).collect();
    let kept = is_file(&*workplace.storage, &output)
        && is_current(&control, &output, workplace, &rebuilt).is_ok();
    // What is to be made cannot be opened.
    let is_made = |made: &Made, name: &str| {
        workplace
            .names_of(name)
            .iter()
            .any(|path| path.to_str().is_some_and(|p| is_like(&made.output, p)))
    };
    let named = |made: &&Made| control.futurebases.iter().any(|f| is_made(made, &f.filename));
    let planned: Vec<&Made> = made.iter().filter(named).collect();
    control.futurebases.retain(|f| !made.iter().any(|made| is_made(made, &f.filename)));
    let place = (workplace, output.as_path());
    let open_all =
        |numbering: &Numbering| futurebases::open_all(&control, numbering, foreign, place, &Silent);
    let mut open = open_all(&numbering)?;
    if !numbering.space.has_side_bit() && futurebases::differ_by_color(&control, &open) {
        numbering = Numbering::with_side_to_move(&control, &workplace.stop)?;
        open = open_all(&numbering)?;
    }
    let symmetric = !open.iter().any(OpenFuturebase::tells_images_apart)
        && !planned.iter().any(|made| made.apart);
    let values = table_values(&control, &numbering, symmetric)?;
    let outcomes = keeps_outcomes(&control);
    let SizedUp { mut table, sizes, behind, needed } =
        size_up(&numbering, &open, &values, &output, outcomes);
    let later = planned.iter().map(|made| made.sizes.positions()).fold(0, u64::saturating_add);
    table.needs.extend(planned.iter().map(|made| made.output.display().to_string()));
    let restricted = numbering.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
    let apart = restricted || !control.prune_enables.is_empty();
    let packed = if outcomes { later / 4 } else { later };
    let (behind, needed) = (behind.saturating_add(later), needed.saturating_add(packed));
    drop(open);
    if kept {
        (table.kept, table.seconds) = (true, 0.0);
    }
    Ok(Made { output, table, sizes, behind, needed, apart })
}

/// Refuses a table of a control file for which memory or the disk has no room. Small ones are not looked at.
pub(crate) fn check_table(
    numbering: &Numbering,
    open: &[OpenFuturebase<'_>],
    values: &TableValues,
    output: &Path,
    outcomes: bool,
    workplace: &Workplace,
) -> Result<(), RunError> {
    let bytes = 2 * values.layout.len() as u128 * values.slices.len() as u128;
    if bytes < u128::from(LASTING) && workplace.memory.is_none() {
        return Ok(());
    }
    let SizedUp { table, sizes, behind, needed } =
        size_up(numbering, open, values, output, outcomes);
    let (needed, folder) = (needed.saturating_add(OWN), folder_of(output));
    let plan = finish(vec![table], &[sizes], &[behind], [needed; 2], (workplace, folder), 1.0)?;
    plan.check_disk(folder, workplace)
}

/// A table with what it takes.
struct SizedUp {
    table: PlannedTable,
    sizes: Sizes,
    /// Bytes of the values behind its moves.
    behind: u64,
    /// Bytes of memory if nothing goes to the disk.
    needed: u64,
}

/// What a table takes whose futurebases are open and of which perhaps only `outcomes` are kept.
fn size_up(
    numbering: &Numbering,
    open: &[OpenFuturebase<'_>],
    values: &TableValues,
    output: &Path,
    outcomes: bool,
) -> SizedUp {
    let sizes = Sizes {
        slice: 2 * values.layout.len() as u64,
        slices: values.slices.len() as u64,
        indices: numbering.space.size(),
        layout: values.layout.clone(),
    };
    let behind = open.iter().map(OpenFuturebase::bytes).fold(0, u64::saturating_add);
    let table = PlannedTable {
        table: output.display().to_string(),
        kept: false,
        indices: sizes.indices,
        slices: sizes.slices,
        needs: open.iter().map(|open| open.path().display().to_string()).collect(),
        seconds: sizes.seconds(true),
        bytes_at_most: sizes.bytes_at_most(numbering.pieces().len()),
        bytes_typically: (sizes.indices as f64 * TYPICAL) as u64 + (1 << 10),
    };
    let needed = crate::generate::needed_memory(values, open, sizes.indices, outcomes);
    SizedUp { table, sizes, behind, needed }
}

impl RunPlan {
    /// Refuses what the disk has no room for.
    ///
    /// # Errors
    ///
    /// [`RunError::Disk`].
    pub(crate) fn check_disk(&self, folder: &Path, workplace: &Workplace) -> Result<(), RunError> {
        let kept = workplace.margin(folder);
        let needed = self.working_disk.saturating_add(self.bytes_typically);
        match self.free_disk {
            Some(free) if needed.saturating_add(kept) > free => Err(RunError::Disk {
                folder: folder.to_owned(),
                free: free >> 20,
                kept: kept >> 20,
                working: self.working_disk >> 20,
                files: self.bytes_typically >> 20,
            }),
            _ => Ok(()),
        }
    }
}

/// Adds everything up. `held` are the values behind the moves of each table that is made, in bytes.
fn finish(
    mut tables: Vec<PlannedTable>,
    sizes: &[Sizes],
    held: &[u64],
    [memory, typical]: [u64; 2],
    (workplace, folder): (&Workplace, &Path),
    slow: f64,
) -> Result<RunPlan, RunError> {
    let threads = rayon::current_num_threads();
    let least = |s: &Sizes| least_memory(&s.layout, threads);
    let least_memory = sizes.iter().map(least).max().unwrap_or(OWN);
    let budget = bounded_budget(workplace, least_memory, memory, &Silent)?;
    let from_disk = budget.is_some();
    let slow = slow
        * match workplace.method {
            _ if !from_disk => 1.0,
            Method::Sweep => FROM_DISK,
            Method::PropTables { .. } => WITH_PROPTABLES,
        };
    for table in &mut tables {
        table.seconds *= slow;
    }
    let working_disk = match budget {
        None => 0,
        Some((pages, _)) => {
            let working = |s: &Sizes, held: u64| s.working_disk(pages).saturating_add(held);
            let disk = sizes.iter().zip(held).map(|(s, &held)| working(s, held));
            disk.max().unwrap_or(0)
        }
    };
    let long = |table: &PlannedTable| {
        table.seconds / threads as f64 > workplace.checkpoint_every.as_secs_f64()
    };
    let todo = tables.iter().filter(|table| !table.kept);
    let checkpoints = todo.zip(sizes).filter(|(table, _)| long(table));
    let checkpoint = checkpoints.map(|(_, sizes)| sizes.checkpoint()).max().unwrap_or(0);
    let made = || tables.iter().filter(|table| !table.kept);
    let seconds = made().map(|table| table.seconds).sum::<f64>();
    Ok(RunPlan {
        memory,
        least_memory,
        used_memory: budget.map_or(typical, |(_, bound)| bound.min(memory)),
        from_disk,
        working_disk,
        checkpoint,
        free_disk: free_disk(folder),
        bytes_at_most: made().map(|table| table.bytes_at_most).sum(),
        bytes_typically: made().map(|table| table.bytes_typically).sum(),
        seconds,
        // Not everything can be shared.
        elapsed_seconds: seconds / threads as f64 * 1.2,
        tables,
    })
}
