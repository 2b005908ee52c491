//! Building complete endings and parts of endings: in groups that do not need each other, with the
//! values that later ones need kept in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Format, Material};
use hoffman_pages::Pages;
use hoffman_plan::{EndingJob, Graph, Node};
use hoffman_solve::{SolveOptions, Tables};
use hoffman_store::{FileInfo, Lock, folder_of, tidy};
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::Wanted;
use hoffman_table::{Stop, Table};
use rayon::prelude::*;

use crate::again::{solved_again, with};
use crate::aside::CompressedValues;
use crate::checkpoint;
use crate::cost::{
    LASTING, bounded_if_needed, memory_of_endings, plan_of_endings, writing_of_ending,
};
use crate::ending::{EndingTask, control_of_job};
use crate::error::RunError;
use crate::memory::available_memory;
use crate::options::{RunContext, RunOptions, RunReport};
use crate::presence::{Depth, files_of_job, names_of_job, unfit_for_job};
use crate::progress::{Partly, Phase};
use crate::room;
use crate::sequence::{LARGE, sparing};
use crate::task::{self, Order, SolvedTable};
use crate::unwritten;
use crate::values::{load_table, wanted_by};
use crate::workplace::Workplace;

mod hold;

/// Up to how many bytes of values an answer comes before files are written. More takes so long that
/// what is finished shall not be lost.
const ANSWER_FIRST: u64 = 2 << 30;

/// Solves the jobs of a graph and writes their tables, keeping what is there and intact.
///
/// # Errors
///
/// Unreadable or unwritable files, too little memory, a request to stop.
pub fn build_endings(
    graph: &Graph<EndingJob>,
    options: &RunOptions<'_>,
) -> Result<RunReport, RunError> {
    tidy_folder(folder_of_graph(graph), options);

    options.progress.phase(Phase::Checking);
    let found = find_present(graph, options)?;
    let mut report = RunReport::default();
    keep_present(graph, &found, options, &mut report)?;
    let again = solved_again(graph, &found.missing(graph), &found.present, options)?;
    build_missing(graph, (found, again), report, options)
}

/// The files of the nodes that the last one needs, by their numbers.
///
/// # Errors
///
/// One is not there, or is another table; with [`Depth::Whole`], one is damaged.
pub fn ending_inputs(
    graph: &Graph<EndingJob>,
    depth: Depth,
    workplace: &Workplace,
) -> Result<BTreeMap<usize, PathBuf>, RunError> {
    let Some(last) = graph.nodes.last() else { return Ok(BTreeMap::new()) };
    let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
    for at in last.needed() {
        let node = &graph.nodes[at];
        let files = files_of_job(&names_of_job(node), node, depth, workplace)?;
        if let Some(path) = files.answering {
            found.insert(at, path);
        } else if let Some((_, _, unfit)) = files.others.into_iter().next() {
            return Err(RunError::Input { table: last.output.clone(), why: unfit.why });
        } else {
            missing.push((node.output.clone(), workplace.is_being_made(&node.output)));
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    Err(RunError::NotThere { table: last.output.clone(), missing })
}

/// Makes the table of the last node alone, from the files of the others, which are given by their
/// numbers. A file that is there under its name and intact is kept, unless it is to be made `anew`.
///
/// # Errors
///
/// Those of [`build_endings`].
pub fn build_ending(
    graph: &Graph<EndingJob>,
    inputs: BTreeMap<usize, PathBuf>,
    anew: bool,
    options: &RunOptions<'_>,
) -> Result<RunReport, RunError> {
    options.progress.phase(Phase::Checking);
    let mut report = RunReport::default();
    let mut found = FoundNodes { present: inputs.into_iter().collect(), refused: HashMap::new() };
    if let Some((last, node)) = graph.nodes.iter().enumerate().next_back() {
        let (present, refused) = find_among(std::slice::from_ref(&node.output), node, options)?;
        if let Some(path) = present.filter(|_| !anew) {
            checkpoint::remove_left(&options.workplace, &path)?;
            report.kept.push(path);
            return Ok(report);
        }
        let outdated = options.workplace.storage.info(&node.output).ok().filter(|_| anew);
        found.refused.extend(refused.or(outdated).map(|info| (last, info)));
    }
    // What the others need is not in the graph.
    build_missing(graph, (found, BTreeSet::new()), report, options)
}

/// The values that the last node needs, from the files of the others, which are given by their
/// numbers; in pages, if there are any.
pub(crate) fn values_behind(
    graph: &Graph<EndingJob>,
    inputs: BTreeMap<usize, PathBuf>,
    options: &RunOptions<'_>,
    pages: Option<Arc<Pages>>,
) -> Result<Tables, RunError> {
    let found = FoundNodes { present: inputs.into_iter().collect(), refused: HashMap::new() };
    let last: Vec<usize> = (0..graph.nodes.len()).next_back().into_iter().collect();
    let mut build = Build::new(graph, options, found, (&last, BTreeSet::new()), pages);
    build.load_needed(&last)?;
    Ok(build.tables)
}

/// The folder of the tables.
fn folder_of_graph(graph: &Graph<EndingJob>) -> &Path {
    graph.nodes.first().map_or(Path::new(""), |node| folder_of(&node.output))
}

/// Makes the tables that were not found; solves some `again` that were.
fn build_missing(
    graph: &Graph<EndingJob>,
    (found, again): (FoundNodes, BTreeSet<usize>),
    mut report: RunReport,
    options: &RunOptions<'_>,
) -> Result<RunReport, RunError> {
    let folder = folder_of_graph(graph);
    let todo = found.missing(graph);
    let pages = make_room(graph, &sparing(graph, &todo), folder, options)?;
    let all = sparing(graph, &with(&todo, &again));
    let positions = |some: &[usize]| some.iter().map(|&at| graph.nodes[at].positions()).sum();
    options.progress.begin(positions(&todo));

    let mut build = Build::new(graph, options, found, (&all, again), pages);
    let solved = build.work_off(&all, build.answers_first(positions(&all)), &mut report)?;
    if let Some(hook) = options.solved {
        hook(build.all_tables(&solved)?);
    }
    let leans = |&(at, _): &(usize, _)| options.workplace.leans(&graph.nodes[at].output);
    if options.write && solved.iter().any(leans) {
        // Files lean on what may have been dropped when it had been solved with.
        build.adopt(&solved);
    }

    for (at, solved) in solved {
        if build.again.contains(&at) {
            continue;
        }
        if options.write {
            build.write_later(at, solved, &mut report)?;
        } else {
            report.made.push(solved.table);
        }
    }
    Ok(report)
}

/// Removes what dead processes left of other tables; a folder that is only read need not be
/// writable.
fn tidy_folder(folder: &Path, options: &RunOptions<'_>) {
    let storage = &*options.workplace.storage;
    let exists = storage.info(folder).is_ok_and(|info| !info.is_file);
    if options.write
        && exists
        && let Err(error) = tidy(storage, folder, None)
    {
        tracing::warn!(folder = %folder.display(), %error, "not tidied up");
    }
}

/// What is in the folder, by the numbers of the nodes.
#[derive(Default)]
struct FoundNodes {
    /// The files that answer for jobs.
    present: HashMap<usize, PathBuf>,
    /// Files that have the name of a job's table and are no use.
    refused: HashMap<usize, FileInfo>,
}

impl FoundNodes {
    /// The nodes whose tables are to be made.
    fn missing(&self, graph: &Graph<EndingJob>) -> Vec<usize> {
        (0..graph.nodes.len()).filter(|at| !self.present.contains_key(at)).collect()
    }
}

/// The files of the folder that answer for jobs, whole endings before parts.
fn find_present(
    graph: &Graph<EndingJob>,
    options: &RunOptions<'_>,
) -> Result<FoundNodes, RunError> {
    let find = |node: &Node<EndingJob>| find_among(&names_of_job(node), node, options);
    let files = graph.nodes.par_iter().map(find);
    let files: Vec<_> = files.collect::<Result<_, RunError>>()?;
    let mut found = FoundNodes::default();
    for (at, (present, refused)) in files.into_iter().enumerate() {
        found.present.extend(present.map(|path| (at, path)));
        found.refused.extend(refused.map(|info| (at, info)));
    }
    Ok(found)
}

/// Of some files the one that answers for a job, or else one of no use that is in its place.
fn find_among(
    paths: &[PathBuf],
    node: &Node<EndingJob>,
    options: &RunOptions<'_>,
) -> Result<(Option<PathBuf>, Option<FileInfo>), RunError> {
    options.workplace.check_stop()?;
    let files = files_of_job(paths, node, Depth::Whole, &options.workplace)?;
    if files.answering.is_some() {
        return Ok((files.answering, None));
    }
    let mut refused = None;
    for (path, info, unfit) in files.others {
        if refused == Some(info) {
            continue;
        }
        tracing::info!(table = %path.display(), why = unfit.why, "not used");
        let is_target = options.write && path == node.output;
        if is_target {
            unfit.expect_own(&path)?;
            refused = Some(info);
        }
        let then = if is_target { "building it anew" } else { "not used" };
        options.progress.notice(&format!("{}; {then}", unfit.why));
    }
    Ok((None, refused))
}

/// Reports the tables that are there.
fn keep_present(
    graph: &Graph<EndingJob>,
    found: &FoundNodes,
    options: &RunOptions<'_>,
    report: &mut RunReport,
) -> Result<(), RunError> {
    for path in (0..graph.nodes.len()).filter_map(|at| found.present.get(&at)) {
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
    graph: &Graph<EndingJob>,
    todo: &[usize],
    folder: &Path,
    options: &RunOptions<'_>,
) -> Result<Option<Arc<Pages>>, RunError> {
    let workplace = &options.workplace;
    let needed = memory_of_endings(graph, todo, (options.write, workplace.format()));
    let temporary = std::env::temp_dir();
    let working = if options.write { folder } else { &temporary };
    let layouts = todo.iter().filter_map(|&at| {
        let resources = graph.nodes[at].resources.as_ref()?;
        let writing = if options.write { writing_of_ending(graph, at, workplace) } else { 0 };
        Some((&resources.layout, writing))
    });
    let bounded = bounded_if_needed(graph, todo, options.write, workplace);
    let pages = room::pages(&bounded, layouts, needed, working, options.progress)?;
    if options.write && !todo.is_empty() {
        workplace.create_folder(folder)?;
        workplace.probe(folder)?;
    }
    let total: u64 = todo.iter().map(|&at| graph.nodes[at].positions()).sum();
    let is_checked = pages.is_some() || total >= LASTING || workplace.keep_free.is_some();
    if options.write && is_checked {
        let plan = plan_of_endings(graph, todo, (workplace, folder), 1.0)?;
        plan.check_disk(folder, workplace)?;
    }
    Ok(pages)
}

/// Where a run of nodes ends that do not need each other and may be solved side by side.
fn group_end(graph: &Graph<EndingJob>, todo: &[usize], start: usize) -> usize {
    let node = |at: usize| &graph.nodes[todo[at]];
    let size = |at: usize| {
        let material = &node(at).source.material;
        (material.men(), material.count.white.pawn + material.count.black.pawn)
    };
    if node(start).positions() >= LARGE {
        return start + 1;
    }
    let alike = |&at: &usize| size(at) == size(start) && node(at).positions() < LARGE;
    start + (start..todo.len()).take_while(alike).count()
}

/// A node with the lock of its table.
type Claimed = (usize, Box<dyn Lock>);

/// A build under way.
struct Build<'a> {
    graph: &'a Graph<EndingJob>,
    options: &'a RunOptions<'a>,
    found: FoundNodes,
    /// The nodes whose tables are there and are solved again.
    again: BTreeSet<usize>,
    /// What they take is little, as they are not written.
    uncounted: Partly<'a>,
    tables: Tables,
    /// Those of `tables` that there is no room for until they are needed.
    aside: HashMap<Material, CompressedValues>,
    /// The nodes that a later one needs.
    needed: HashSet<usize>,
    /// What is in memory of tables read from files.
    loaded: HashMap<Material, Wanted>,
    written: HashMap<usize, PathBuf>,
    /// Where values lie if memory is bounded.
    pages: Option<Arc<Pages>>,
}

impl<'a> Build<'a> {
    fn new(
        graph: &'a Graph<EndingJob>,
        options: &'a RunOptions<'a>,
        found: FoundNodes,
        (all, again): (&[usize], BTreeSet<usize>),
        pages: Option<Arc<Pages>>,
    ) -> Build<'a> {
        Build {
            graph,
            options,
            found,
            again,
            uncounted: Partly::uncounted(options.progress),
            tables: Tables::default(),
            aside: HashMap::new(),
            needed: graph.needed_by(all),
            loaded: HashMap::new(),
            written: HashMap::new(),
            pages,
        }
    }

    /// Whether everything is kept until an answer has been given: files come later, or never.
    fn answers_first(&self, total: u64) -> bool {
        let fits =
            || total <= ANSWER_FIRST && available_memory().is_none_or(|free| total < free / 4);
        self.options.solved.is_some() && self.pages.is_none() && (!self.options.write || fits())
    }

    /// Works off the nodes group by group; returns the solved tables if they are kept. Of those
    /// that are solved again nothing is written or reported.
    fn work_off(
        &mut self,
        todo: &[usize],
        keep: bool,
        report: &mut RunReport,
    ) -> Result<Vec<(usize, SolvedTable)>, RunError> {
        let mut solved = Vec::new();
        let mut at = 0;
        while at < todo.len() {
            let end = if self.pages.is_some() { at + 1 } else { group_end(self.graph, todo, at) };
            let group = &todo[at..end];
            self.options.progress.phase(Phase::Reading);
            self.load_needed(group)?;
            let (again, new): (Vec<usize>, Vec<usize>) =
                group.iter().copied().partition(|at| self.again.contains(at));
            let tables = self.solve_group(&again)?;
            solved.extend(tables.into_iter().filter(|_| keep));
            if self.options.write && !keep {
                self.solve_and_write(&new, report)?;
            } else {
                let tables = self.solve_group(&new)?;
                if keep {
                    solved.extend(tables);
                } else {
                    report.made.extend(tables.into_iter().map(|(_, solved)| solved.table));
                }
            }
            at = end;
            if !keep {
                self.keep_wanted(&todo[at..]);
            }
            self.forget_unneeded(&todo[at..]);
        }
        Ok(solved)
    }

    /// Solves a group, side by side.
    fn solve_group(&mut self, group: &[usize]) -> Result<Vec<(usize, SolvedTable)>, RunError> {
        let solve = |&at: &usize| {
            let task = self.task(at)?;
            let order = self.order(at, false);
            Ok((at, task::solve(&task, task.values(), order)?.0))
        };
        let solved = group.par_iter().map(solve).collect::<Result<Vec<_>, RunError>>()?;
        self.adopt(&solved);
        Ok(solved)
    }

    /// Solves and writes a group, side by side.
    ///
    /// Locks are taken beforehand, as threads that work for each other must not wait for them. What
    /// another run is making comes last: then nothing is held here while this run waits.
    fn solve_and_write(&mut self, group: &[usize], report: &mut RunReport) -> Result<(), RunError> {
        let (ours, theirs) = self.claim(group, report)?;
        let alone = group.len() == 1;
        let made = ours.into_par_iter().map(|(at, lock)| {
            let made = self.carry_out(at, alone);
            drop(lock);
            made
        });
        let made = made.collect::<Result<Vec<_>, RunError>>()?;
        self.adopt(&made);
        report.made.extend(made.into_iter().map(|(_, solved)| solved.table));

        for at in theirs {
            let lock =
                self.options.workplace.lock(&self.graph.nodes[at].output, self.options.progress)?;
            if self.is_there_now(at, report)? {
                continue;
            }
            let made = [self.carry_out(at, alone)?];
            drop(lock);
            self.adopt(&made);
            report.made.extend(made.into_iter().map(|(_, solved)| solved.table));
        }
        Ok(())
    }

    fn carry_out(&self, at: usize, alone: bool) -> Result<(usize, SolvedTable), RunError> {
        let (task, output) = (self.task(at)?, &self.graph.nodes[at].output);
        let args = &self.options.args;
        let solved = task::carry_out(&task, task.values(), output, args, self.order(at, alone))?;
        Ok((at, solved))
    }

    /// What a node asks for, unless the run was asked to stop.
    fn task(&self, at: usize) -> Result<EndingTask<'_>, RunError> {
        self.options.workplace.check_stop()?;
        let count = self.options.write && !self.again.contains(&at);
        let asked = self.options.write || self.options.solved.is_some();
        let keep = asked || self.needed.contains(&at);
        let outcomes = !self.options.workplace.format().has_distance();
        let wanted = SolveOptions { count, keep, outcomes, ..SolveOptions::default() };
        Ok(EndingTask::new(&self.graph.nodes[at], &self.tables, wanted))
    }

    /// A table that is solved `alone` is large, or would wait for no other: it can have a
    /// checkpoint. Small tables cost less than that; in tests they have one all the same.
    fn order(&self, at: usize, alone: bool) -> Order<'_> {
        let lasts = alone || self.options.workplace.checkpoint_every.is_zero();
        let output = &*self.graph.nodes[at].output;
        let lasting = Some(output).filter(|_| self.options.write && lasts);
        let mut run = self.context();
        if self.again.contains(&at) {
            run.progress = &self.uncounted;
        }
        Order { began: SystemTime::now(), lasting, run }
    }

    fn context(&self) -> RunContext<'_> {
        let RunOptions { workplace, progress, .. } = self.options;
        RunContext { workplace, pages: self.pages.as_ref(), progress: *progress }
    }

    /// Writes a table after the answer, unless another run has made it meanwhile.
    fn write_later(
        &mut self,
        at: usize,
        mut solved: SolvedTable,
        report: &mut RunReport,
    ) -> Result<(), RunError> {
        let output = &self.graph.nodes[at].output;
        let _lock = self.options.workplace.lock(output, self.options.progress)?;
        if !self.is_there_now(at, report)? {
            if self.options.workplace.leans(output) {
                self.load_needed(&[at])?;
            }
            let task = self.task(at)?;
            task::write(&task, &mut solved, output.clone(), &self.options.args, self.context())?;
            report.made.push(solved.table);
        }
        Ok(())
    }

    /// Brings into memory what a group needs and is not there: of every table the sides to move
    /// that its moves lead to.
    fn load_needed(&mut self, group: &[usize]) -> Result<(), RunError> {
        let mut needed = wanted_by(self.graph, group);
        let behind: HashSet<usize> = self.graph.needed_by(group);
        // One room for all: the first touch of a page of memory costs as much as what is done
        // there.
        let mut area = Vec::new();
        let mut small = Tables::default();
        for number in behind {
            let material = self.graph.nodes[number].source.material;
            let Some(wanted) = needed.remove(&material) else { continue };
            if let Some(values) = self.aside.remove(&material).and_then(CompressedValues::restored)
            {
                self.tables.insert(material, Arc::new(values));
            }
            let loaded = self.loaded.get(&material);
            let is_there = self.tables.contains_key(&material)
                && loaded.is_none_or(|loaded| loaded.covers(&wanted));
            let path = self.found.present.get(&number).or_else(|| self.written.get(&number));
            let Some(path) = path.filter(|_| !is_there) else { continue };
            let (values, loaded) = load_table(
                (path, material),
                wanted.clone(),
                &mut small,
                self.context(),
                &mut area,
            )?;
            self.tables.insert(material, values);
            self.loaded.insert(material, loaded);
            self.keep_part(material, &wanted);
        }
        Ok(())
    }

    /// Takes the locks of a group's tables, as far as no other run has them; leaves out those that
    /// another run has finished by now. The second list has those that another run is making.
    fn claim(
        &mut self,
        group: &[usize],
        report: &mut RunReport,
    ) -> Result<(Vec<Claimed>, Vec<usize>), RunError> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for &at in group {
            self.options.workplace.check_stop()?;
            match self.options.workplace.try_lock(&self.graph.nodes[at].output)? {
                None => theirs.push(at),
                Some(lock) => {
                    if !self.is_there_now(at, report)? {
                        ours.push((at, lock));
                    }
                }
            }
        }
        Ok((ours, theirs))
    }

    /// Whether another run has made a table since this one looked. The caller holds its lock, so
    /// that no other run is making it.
    fn is_there_now(&mut self, at: usize, report: &mut RunReport) -> Result<bool, RunError> {
        let workplace = &self.options.workplace;
        let node = &self.graph.nodes[at];
        let path = &node.output;
        let Some(info) = workplace.storage.info(path).ok().filter(|info| info.is_file) else {
            return Ok(false);
        };
        if self.found.refused.get(&at) == Some(&info) {
            return Ok(false);
        }
        if let Some(unfit) = unfit_for_job(path, &node.source, workplace)? {
            unfit.expect_own(path)?;
            return Ok(false);
        }
        tracing::info!(table = %path.display(), "another run has made it");
        checkpoint::remove_of(workplace, path)?;
        self.options.progress.skip(node.positions());
        report.kept.push(path.clone());
        self.found.present.insert(at, path.clone());
        Ok(true)
    }

    /// Makes the values of solved tables available to later ones.
    fn adopt(&mut self, solved: &[(usize, SolvedTable)]) {
        for (at, solved) in solved {
            if let Some(path) = &solved.table.path {
                self.written.insert(*at, path.clone());
            }
            let material = self.graph.nodes[*at].source.material;
            self.tables.insert(material, solved.values.clone());
        }
    }

    /// The tables of all nodes, those that are not written yet among them.
    fn all_tables(&self, solved: &[(usize, SolvedTable)]) -> Result<Vec<Table>, RunError> {
        let mut tables = Vec::new();
        for (at, node) in self.graph.nodes.iter().enumerate() {
            let path = self.found.present.get(&at).or_else(|| self.written.get(&at));
            if let Some(path) = path {
                // They go on answering when the run is over.
                let options = self.options.workplace.source_options();
                let options = SourceOptions { stop: Stop::default(), ..options };
                let mut table = Table::open(path, options)?;
                table.check_length()?;
                tables.push(table);
            } else if let Some((_, s)) = solved.iter().find(|(number, _)| *number == at) {
                let control = control_of_job(&node.source, Format::Dtm(None))?;
                tables.push(unwritten::open(&control, &s.values, s.table.longest, &node.output)?);
            }
        }
        Ok(tables)
    }
}
