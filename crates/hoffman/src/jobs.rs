//! The graph of jobs, for programs that run them apart: each makes one table from the files of
//! others.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hoffman_board::Variant;
pub use hoffman_plan::Input as JobInput;
use hoffman_plan::{EndingJob, Graph, Node};
use hoffman_reader::AsPosition;
use hoffman_run::{
    ControlJob, EndingShare, JobCost, Silent, costs_of_jobs, costs_of_shares, jobs_of_controls,
};

use crate::build::Target;
use crate::error::Error;
use crate::options::Options;
use crate::plan::{graph_in_parts, graph_of_position, graph_of_targets};

/// The jobs of a plan, each after those that it needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JobGraph {
    /// The jobs.
    pub jobs: Vec<PlannedJob>,
}

/// A table to be made alone, see [`crate::OneTable`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedJob {
    /// The file.
    pub output: PathBuf,
    /// What it is made by.
    pub made_by: MadeBy,
    /// The files that it is made from.
    pub inputs: Vec<JobInput>,
    /// What it takes, whether or not it is there already.
    pub cost: JobCost,
}

/// What a table is made by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// A complete ending, by its name.
    Ending(String),
    /// A part of an ending, by its name.
    PartOfEnding {
        /// The ending.
        ending: String,
        /// The squares of its pawns, as the name of its file has them.
        part: String,
    },
    /// The pairs of kings of one of several processes that solve an ending at the same time; the
    /// jobs of all of them have to run at once.
    PartOfKings {
        /// The ending.
        ending: String,
        /// Which process, counted from 1.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// All parts of an ending, by its name.
    Joining(String),
    /// What a position needs of an ending.
    Part {
        /// The ending.
        ending: String,
        /// The position, in FEN.
        fen: String,
    },
    /// A control file.
    Control {
        /// The file, which may stand for several tables.
        file: PathBuf,
        /// The text that this table is made from.
        text: String,
    },
    /// The parts of a control file's table.
    JoiningControl {
        /// The file.
        file: PathBuf,
        /// The text that it holds.
        text: String,
        /// The tables of the parts.
        parts: Vec<PathBuf>,
    },
}

impl JobGraph {
    /// The file of an input.
    pub fn file<'g>(&'g self, input: &'g JobInput) -> &'g Path {
        match input {
            JobInput::Made(number) => &self.jobs[*number].output,
            JobInput::Given(path) => path,
        }
    }
}

impl PlannedJob {
    /// Seconds by the clock: not everything can be shared between threads.
    pub fn elapsed_seconds(&self) -> f64 {
        let alone = self.cost.threads == 1;
        self.cost.seconds / self.cost.threads as f64 * if alone { 1.0 } else { 1.2 }
    }

    /// The numbers of the jobs that it needs.
    pub fn needed(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().filter_map(|input| match input {
            JobInput::Made(number) => Some(*number),
            JobInput::Given(_) => None,
        })
    }
}

/// The jobs that make endings with all that they depend on, or the tables of control files. What
/// is there already is among them.
///
/// # Errors
/// Those of [`crate::plan()`].
pub fn jobs(targets: &[Target], options: &Options) -> Result<JobGraph, Error> {
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if files.is_empty() {
        let made_by = |job: &EndingJob| MadeBy::Ending(job.material.to_string());
        return of_endings(graph_of_targets(targets, options)?, made_by, options);
    }
    if files.len() < targets.len() {
        return Err(Error::MixedTargets);
    }
    of_controls(&files, None, options)
}

/// The jobs of control files, in so many parts.
fn of_controls(
    files: &[&Path],
    parts: Option<NonZeroUsize>,
    options: &Options,
) -> Result<JobGraph, Error> {
    let (run, folder) = (options.run(&Silent), options.given_folder());
    let graph = options.install(|| Ok(jobs_of_controls(files, folder, parts, &run)?))?;
    let made_by = |node: &Node<ControlJob>| {
        let ControlJob { file, text, .. } = node.source.clone();
        if !node.source.is_joined {
            return MadeBy::Control { file, text };
        }
        let parts = node.needed().map(|part| graph.nodes[part].output.clone()).collect();
        MadeBy::JoiningControl { file, text, parts }
    };
    let jobs = graph.nodes.iter().map(|node| PlannedJob {
        output: node.output.clone(),
        made_by: made_by(node),
        inputs: node.inputs.clone(),
        cost: node.source.cost,
    });
    Ok(JobGraph { jobs: jobs.collect() })
}

/// The same for endings, those with pawns and as many men as the largest that is named in parts: a
/// job for every part, by the files of the pawns, and one that joins them. Parts do not need each
/// other. With a number of `processes` those of as many men without pawns are in parts, too: so
/// many jobs that have to run at the same time ([`crate::solve_part`]), and one that joins them.
///
/// Of control files the tables of pawn structures are in about so many parts, each after those that
/// its pawns step into, and joined from these; without a number they are whole.
///
/// # Errors
/// Those of [`crate::plan()`]; there are more processes than an ending has pairs of kings.
pub fn jobs_in_parts(
    targets: &[Target],
    processes: Option<NonZeroUsize>,
    options: &Options,
) -> Result<JobGraph, Error> {
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if !files.is_empty() {
        if files.len() < targets.len() {
            return Err(Error::MixedTargets);
        }
        return of_controls(&files, processes, options);
    }
    let graph = graph_in_parts(targets, options)?;
    let joined = graph.nodes.iter().filter(|node| graph.is_joined(node));
    let joined: Vec<EndingJob> = joined.map(|node| node.source.clone()).collect();
    let made_by = |job: &EndingJob| {
        let ending = job.material.to_string();
        match &job.part {
            Some(part) => MadeBy::PartOfEnding { ending, part: part.to_string() },
            None if joined.contains(job) => MadeBy::Joining(ending),
            None => MadeBy::Ending(ending),
        }
    };
    let Some(processes) = processes else { return of_endings(graph, made_by, options) };
    let largest = graph.nodes.iter().map(|node| node.source.material.men()).max().unwrap_or(0);
    let is_shared = |job: &EndingJob| {
        let EndingJob { material, part } = job;
        part.is_none() && !material.has_pawns() && material.men() == largest && largest > 2
    };
    let nodes = graph.nodes.iter().enumerate();
    let shared: Vec<usize> =
        nodes.filter(|(_, node)| is_shared(&node.source)).map(|(at, _)| at).collect();
    let whole = of_endings(graph.clone(), made_by, options)?;
    solved_together(whole, &graph, (&shared, processes.get()), options)
}

/// The same jobs but for some endings, each of which is solved by so many processes.
fn solved_together(
    whole: JobGraph,
    graph: &Graph<EndingJob>,
    (shared, of): (&[usize], usize),
    options: &Options,
) -> Result<JobGraph, Error> {
    let mut jobs: Vec<PlannedJob> = Vec::new();
    // The new number of every job.
    let mut numbers: Vec<usize> = Vec::new();
    for (at, mut job) in whole.jobs.into_iter().enumerate() {
        for input in &mut job.inputs {
            if let JobInput::Made(number) = input {
                *number = numbers[*number];
            }
        }
        if shared.contains(&at) {
            let material = graph.nodes[at].source.material;
            let [part, joining] = costs_of_shares(graph, at, of, &job.cost, &options.workplace());
            let first = jobs.len();
            for number in 1..=of {
                let share = EndingShare::new(&material, (number, of), &job.output)?;
                jobs.push(PlannedJob {
                    output: share.output(),
                    made_by: MadeBy::PartOfKings { ending: material.to_string(), number, of },
                    inputs: job.inputs.clone(),
                    cost: part,
                });
            }
            job.inputs = (first..first + of).map(JobInput::Made).collect();
            job.made_by = MadeBy::Joining(material.to_string());
            job.cost = joining;
        }
        numbers.push(jobs.len());
        jobs.push(job);
    }
    Ok(JobGraph { jobs })
}

/// The same for all that a position needs.
///
/// # Errors
/// Those of [`crate::plan_position`].
pub fn jobs_of_position(position: impl AsPosition, options: &Options) -> Result<JobGraph, Error> {
    let position = position.as_position(Variant::Normal)?;
    let fen = position.fen();
    let made_by = |job: &EndingJob| {
        let ending = job.material.to_string();
        match job.part {
            None => MadeBy::Ending(ending),
            Some(_) => MadeBy::Part { ending, fen: fen.clone() },
        }
    };
    of_endings(graph_of_position(&position, options)?, made_by, options)
}

fn of_endings(
    graph: Graph<EndingJob>,
    made_by: impl Fn(&EndingJob) -> MadeBy,
    options: &Options,
) -> Result<JobGraph, Error> {
    let costs = options.install(|| Ok(costs_of_jobs(&graph, &options.workplace())?))?;
    let jobs = graph.nodes.into_iter().zip(costs).map(|(node, cost)| PlannedJob {
        output: node.output,
        made_by: made_by(&node.source),
        inputs: node.inputs,
        cost,
    });
    Ok(JobGraph { jobs: jobs.collect() })
}
