//! What a run would cost, before it is begun.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hoffman_board::{ListedPiece, Material};
use hoffman_control::{ControlFile, check_declarations};
use hoffman_plan::{EndingJob, Graph, Input, Node, complete};
use hoffman_solve::{BlockShare, SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;
use hoffman_store::{folder_of, is_file, is_like};

use crate::analysis::{bounded, table_values};
use crate::cost::{
    Cost, JobCost, RunPlan, cost_of_analysis, cost_of_ending, memory_of_job, memory_of_joining,
    memory_of_share, plan_of_endings, sum, writing_of_ending,
};
use crate::cut::parts_of;
use crate::error::RunError;
use crate::futurebases::{OpenFuturebase, differ_by_color, open_all};
use crate::numbering::Numbering;
use crate::options::RunOptions;
use crate::order::{graph_of_controls, tables_of};
use crate::presence::{expect_current, find_intact};
use crate::progress::Silent;
use crate::room::{OWN, least_memory};
use crate::workplace::Workplace;

/// The ending whose solving tells how fast a machine is.
const MEASURE: &str = "KQvKR";
/// Seconds that one thread takes for it and what it needs, with moves counted.
const MEASURED: f64 = 0.050;

/// How many times slower than the machine of the constants this one is.
fn slowness() -> f64 {
    let Ok(material) = MEASURE.parse::<Material>() else { return 1.0 };
    let jobs = complete([material]);
    let once = || {
        let began = Instant::now();
        let mut tables = Tables::default();
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

/// Plans a build of complete endings or parts of them, as [`crate::build_endings`] would do it.
///
/// # Errors
///
/// The folder cannot be read, or too little memory is allowed.
pub fn plan_endings(
    graph: &Graph<EndingJob>,
    dir: &Path,
    workplace: &Workplace,
) -> Result<RunPlan, RunError> {
    let (mut todo, mut there) = (Vec::new(), HashMap::new());
    for (at, node) in graph.nodes.iter().enumerate() {
        match find_intact(node, workplace)? {
            Some(path) => drop(there.insert(node.output.display().to_string(), path)),
            None => todo.push(at),
        }
    }
    let mut plan = plan_of_endings(graph, &todo, (workplace, dir), slowness())?;
    // What is there may be in the other container.
    for planned in plan.tables.iter_mut().filter(|planned| planned.kept) {
        if let Some(path) = there.get(&planned.table) {
            planned.table = path.display().to_string();
        }
    }
    Ok(plan)
}

/// What each node takes if it is made alone, whatever is there already.
///
/// # Errors
///
/// The run was asked to stop.
pub fn costs_of_jobs(
    graph: &Graph<EndingJob>,
    workplace: &Workplace,
) -> Result<Vec<JobCost>, RunError> {
    let slowness = slowness();
    let mut costs = Vec::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        let Some(cost) = cost_of_ending(graph, at, workplace)? else { continue };
        if graph.is_joined(node) {
            costs.push(cost_of_joining(graph, node, cost, (workplace, slowness)));
            continue;
        }
        let needed = memory_of_job(graph, at, workplace);
        costs.push(JobCost::new(&cost, needed, workplace, slowness));
    }
    Ok(costs)
}

/// What one of so many processes takes that solve the ending of a node together, and what joining
/// their parts takes, of which it is known what making it at once takes.
pub fn costs_of_shares(
    graph: &Graph<EndingJob>,
    at: usize,
    of: usize,
    whole: &JobCost,
    workplace: &Workplace,
) -> [JobCost; 2] {
    let node = &graph.nodes[at];
    let bounded = |needed: u64, least: u64, threads: usize, cost: JobCost| {
        let bound = workplace.memory.map(|memory| memory.bytes.max(least));
        let bound = bound.filter(|&bound| bound < needed);
        let memory = bound.unwrap_or(needed).div_ceil(1 << 20) << 20;
        JobCost { memory, from_disk: bound.is_some(), threads, ..cost }
    };
    let shares = (0..of).map(|number| memory_of_share(graph, at, &BlockShare::new(number, of)));
    let needed = shares.max().unwrap_or(0) + OWN;
    let threads = whole.threads.div_ceil(of.max(1));
    let layout = node.resources.as_ref().map(|resources| &resources.layout);
    let least = layout.map_or(0, |layout| least_memory(layout, threads));
    // Its values, and half a byte a position of what it tells.
    let disk = node.positions() / 2 * 3 / of.max(1) as u64;
    let part = JobCost { seconds: whole.seconds / of.max(1) as f64, disk, ..*whole };
    let joining = memory_of_joining(node.positions(), 0) + OWN;
    let least_joining = least + writing_of_ending(graph, at, workplace);
    [bounded(needed, least, threads, part), bounded(joining, least_joining, whole.threads, *whole)]
}

/// What it takes to join the table of a node from those of its parts.
fn cost_of_joining(
    graph: &Graph<EndingJob>,
    node: &Node<EndingJob>,
    mut cost: Cost,
    (workplace, slowness): (&Workplace, f64),
) -> JobCost {
    let parts = node.needed().map(|needed| graph.nodes[needed].positions());
    let needed = memory_of_joining(node.positions(), parts.max().unwrap_or(0)) + OWN;
    cost.leave_out_solving();
    JobCost::new(&cost, needed, workplace, slowness)
}

/// A table of a control file, as a job.
#[derive(Clone, Debug)]
pub struct ControlJob {
    /// The control file, which may stand for others.
    pub file: PathBuf,
    /// The text that the table is made from.
    pub text: String,
    /// Whether it is joined from tables of parts, which are all that it needs besides the control
    /// file.
    pub is_joined: bool,
    /// What it takes.
    pub cost: JobCost,
}

/// The graph of the tables of control files, with what each takes if it is made alone, whatever is
/// there already. If a number of `parts` is given, a table of pawn structures is made in so many,
/// as far as they are solved apart, and joined from these.
///
/// # Errors
///
/// Those of [`plan_controls`].
pub fn jobs_of_controls(
    paths: &[&Path],
    dir: Option<&Path>,
    parts: Option<NonZeroUsize>,
    options: &RunOptions<'_>,
) -> Result<Graph<ControlJob>, RunError> {
    let (workplace, planned) = plan_each(paths, dir, parts, options)?;
    let slowness = slowness();
    let node = |planned: Planned| {
        let cost = JobCost::new(&planned.cost, planned.cost.needed + OWN, &workplace, slowness);
        let given = std::iter::once(planned.file.clone()).chain(planned.given).map(Input::Given);
        Node {
            output: planned.output,
            inputs: planned.behind.into_iter().map(Input::Made).chain(given).collect(),
            resources: Some(planned.cost.resources),
            source: ControlJob {
                file: planned.file,
                text: planned.text,
                is_joined: planned.is_joined,
                cost,
            },
        }
    };
    Ok(Graph { nodes: planned.into_iter().map(node).collect() })
}

/// Plans the tables of control files, as [`crate::build_control`] would make them. Futurebases that
/// are among them need not be there.
///
/// # Errors
///
/// Those of [`crate::build_control`] before the futurebases are read.
pub fn plan_controls(
    paths: &[&Path],
    dir: Option<&Path>,
    options: &RunOptions<'_>,
) -> Result<RunPlan, RunError> {
    let (workplace, planned) = plan_each(paths, dir, None, options)?;
    let folder = planned.first().map(|first| folder_of(&first.output).to_owned());
    let folder = folder.unwrap_or_default();
    let cost = |one: Planned| if one.kept { one.cost.kept() } else { one.cost };
    let costs: Vec<Cost> = planned.into_iter().map(cost).collect();
    let made = costs.iter().filter(|cost| !cost.table.kept);
    let needed = made.map(|cost| cost.needed).max().unwrap_or(0) + OWN;
    sum(costs, [needed; 2], (&workplace, &folder), slowness())
}

/// Plans the tables of control files one after the other, in so many parts if that is asked for,
/// and where they would be made.
fn plan_each(
    paths: &[&Path],
    dir: Option<&Path>,
    parts: Option<NonZeroUsize>,
    options: &RunOptions<'_>,
) -> Result<(Workplace, Vec<Planned>), RunError> {
    let workplace = Workplace { tables: dir.map(Path::to_owned), ..options.workplace.clone() };
    let mut controls = Vec::new();
    for file in graph_of_controls(paths, dir, &workplace)?.nodes {
        let nodes = tables_of(file.source, dir, &workplace)?.graph.nodes;
        let name = file.source;
        controls.extend(nodes.into_iter().map(|node| (name, node.source, node.output)));
    }
    let workplace = match controls.as_slice() {
        [(_, control, _)] => bounded(control, &workplace, &Silent),
        _ => workplace,
    };
    let mut planned: Vec<Planned> = Vec::new();
    for (file, control, output) in controls {
        check_declarations(&control)?;
        let apart = parts.map(|parts| parts_of(&control, &output, parts, &workplace.stop));
        let first = planned.len();
        for part in apart.transpose()?.unwrap_or_default() {
            let table = plan_table(part.control, part.output, &planned, options, &workplace)?;
            planned.push(Planned { file: file.to_owned(), ..table });
        }
        let made = first..planned.len();
        let mut table = plan_table(control, output, &planned, options, &workplace)?;
        file.clone_into(&mut table.file);
        if !made.is_empty() {
            table.join(made, &planned);
        }
        planned.push(table);
    }
    Ok((workplace, planned))
}

/// A planned table of a control file.
struct Planned {
    output: PathBuf,
    /// The control file, which may stand for others.
    file: PathBuf,
    /// The text that it is made from.
    text: String,
    /// As if it were to be made.
    cost: Cost,
    /// Whether it is there, and current.
    kept: bool,
    /// The numbers of the tables that it needs of those planned before it.
    behind: Vec<usize>,
    /// Other files that it needs.
    given: Vec<PathBuf>,
    /// Whether it may answer a position and its mirror image differently.
    apart: bool,
    /// Whether it is joined from tables of parts, which are then all that is behind it.
    is_joined: bool,
}

impl Planned {
    /// Joins it from those with these numbers instead of solving it.
    fn join(&mut self, parts: Range<usize>, planned: &[Planned]) {
        let largest = parts.clone().map(|at| planned[at].cost.table.indices).max();
        let values = self.cost.resources.values();
        self.cost.needed = memory_of_joining(values, largest.unwrap_or(0));
        self.cost.leave_out_solving();
        self.behind = parts.collect();
        self.given.clear();
        self.is_joined = true;
    }

    /// Whether a futurebase means this table.
    fn is_meant_by(&self, name: &str, workplace: &Workplace) -> bool {
        let mut names = workplace.names_of(name).into_iter();
        names.any(|path| path.to_str().is_some_and(|path| is_like(&self.output, path)))
    }
}

/// Plans a table after those in `planned`.
fn plan_table(
    mut control: ControlFile,
    output: PathBuf,
    planned: &[Planned],
    options: &RunOptions<'_>,
    workplace: &Workplace,
) -> Result<Planned, RunError> {
    let mut numbering = Numbering::of(&control, &workplace.stop)?;
    let to_be_made = planned.iter().filter(|planned| !planned.kept);
    let rebuilt: HashSet<PathBuf> = to_be_made.map(|planned| planned.output.clone()).collect();
    let kept = is_file(&*workplace.storage, &output)
        && expect_current(&control, &output, workplace, &rebuilt).is_ok();

    // What is to be made cannot be opened.
    let is_meant = |planned: &&Planned| {
        control.futurebases.iter().any(|f| planned.is_meant_by(&f.filename, workplace))
    };
    let behind: Vec<usize> = (0..planned.len()).filter(|&at| is_meant(&&planned[at])).collect();
    control.futurebases.retain(|f| !planned.iter().any(|p| p.is_meant_by(&f.filename, workplace)));
    let place = (workplace, output.as_path());
    let open =
        |numbering: &Numbering| open_all(&control, numbering, &options.foreign, place, &Silent);
    let mut opened = open(&numbering)?;
    if !numbering.space.has_side_bit() && differ_by_color(&control, &opened) {
        numbering = Numbering::with_side_to_move(&control, &workplace.stop)?;
        opened = open(&numbering)?;
    }

    let symmetric = !opened.iter().any(OpenFuturebase::tells_images_apart)
        && !behind.iter().any(|&at| planned[at].apart);
    let values = table_values(&control, &numbering, symmetric)?;
    let mut cost = cost_of_analysis(&control, &numbering, &opened, &values, &output);
    let given = opened.iter().map(|open| open.path().to_owned()).collect();
    drop(opened);
    let later = behind.iter().map(|&at| planned[at].cost.resources.values());
    let later = later.fold(0, u64::saturating_add);
    let packed = if control.asks_outcomes() { later / 4 } else { later };
    let names = behind.iter().map(|&at| planned[at].output.display().to_string());
    cost.table.needs.extend(names);
    cost.behind = cost.behind.saturating_add(later);
    cost.needed = cost.needed.saturating_add(packed);
    let restricted = numbering.pieces().iter().any(ListedPiece::is_restricted);
    let apart = restricted || !control.prune_enables.is_empty();
    let (file, text) = (PathBuf::new(), control.text().to_owned());
    let is_joined = false;
    Ok(Planned { output, file, text, cost, kept, behind, given, apart, is_joined })
}
