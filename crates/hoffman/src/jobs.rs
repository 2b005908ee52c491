//! The graph of jobs, for programs that run them apart: each makes one table from the files of
//! others.

use std::path::{Path, PathBuf};

use hoffman_board::Variant;
pub use hoffman_plan::Input as JobInput;
use hoffman_plan::{EndingJob, Graph};
use hoffman_reader::AsPosition;
use hoffman_run::{JobCost, Silent, costs_of_jobs, jobs_of_controls};

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
    /// The tables of all parts of an ending, by its name.
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
    let run = options.run(&Silent);
    let graph = options.install(|| Ok(jobs_of_controls(&files, options.given_folder(), &run)?))?;
    let jobs = graph.nodes.into_iter().map(|node| PlannedJob {
        output: node.output,
        made_by: MadeBy::Control { file: node.source.file, text: node.source.text },
        inputs: node.inputs,
        cost: node.source.cost,
    });
    Ok(JobGraph { jobs: jobs.collect() })
}

/// The same for endings, those with pawns and as many men as the largest that is named in parts: a
/// job for every part, by the files of the pawns, and one that joins them. Parts do not need each
/// other.
///
/// # Errors
/// Those of [`crate::plan()`]; control files have no such parts ([`Error::MixedTargets`]).
pub fn jobs_in_parts(targets: &[Target], options: &Options) -> Result<JobGraph, Error> {
    if targets.iter().any(|target| target.control_file().is_some()) {
        return Err(Error::MixedTargets);
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
    of_endings(graph, made_by, options)
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
