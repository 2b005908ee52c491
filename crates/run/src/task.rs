//! One table, from what is asked to the file in place.
//!
//! A complete ending is an analysis whose futurebases are the tables behind its captures and
//! promotions, and about whose moves nothing else need be said. Both are a [`Task`], and this is
//! the one way to do it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hoffman_control::ControlFile;
use hoffman_solve::{Monitor, SolveError, SolveOptions};
use hoffman_space::{NormalForm, TableValues};

use crate::checkpoint::{self, Checkpoint, Identity, Learned};
use crate::error::RunError;
use crate::numbering::Numbering;
use crate::options::{MadeTable, RunContext};
use crate::progress::Phase;
use crate::write::{Making, write_table};

/// A table that is asked for.
pub(crate) trait Task: Sync {
    /// The table, as progress and messages call it.
    fn name(&self) -> String;

    /// What decides the values.
    fn identity(&self) -> Result<Identity, RunError>;

    /// What is wanted besides the values.
    fn wanted(&self) -> SolveOptions;

    /// Solves the slices that are not solved yet; returns their longest win or loss in moves.
    fn solve(
        &self,
        values: &mut TableValues,
        options: &SolveOptions,
        monitor: &dyn Monitor,
    ) -> Result<u16, SolveError>;

    /// The control file that stands in the header, and the numbering of its positions.
    fn header(&self) -> Result<(&ControlFile, &Numbering), RunError>;

    /// The processing instruction of the header; empty if it has none.
    fn instruction(&self) -> String;

    /// The tables behind captures and promotions, if a file may lean on them.
    fn behind(&self) -> Option<Vec<Arc<TableValues>>> {
        None
    }
}

/// A table whose values are known.
pub(crate) struct SolvedTable {
    pub(crate) values: Arc<TableValues>,
    began: SystemTime,
    /// See [`Learned::passes`].
    passes: BTreeMap<(u16, bool), (u64, Duration)>,
    pub(crate) table: MadeTable,
}

/// When and where a table is made.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) began: SystemTime,
    /// The file whose checkpoint is used and written; none: there is no checkpoint.
    pub(crate) lasting: Option<&'a Path>,
    pub(crate) run: RunContext<'a>,
}

/// Solves a table, or what its checkpoint leaves of it.
pub(crate) fn solve<'c>(
    task: &'c dyn Task,
    mut values: TableValues,
    order: Order<'c>,
) -> Result<(SolvedTable, Checkpoint<'c>), RunError> {
    let Order { began, lasting, run } = order;
    let name = task.name();
    run.progress.table(&name);
    let (pages, method) = (run.pages.cloned(), run.workplace.method);
    let options = SolveOptions { pages, method, ..task.wanted() };
    let restored = (&mut values, options.outcomes);
    let checkpoint = Checkpoint::open(run, lasting, restored, || task.identity())?;

    run.progress.phase(Phase::Solving);
    tracing::info!(table = name, slices = values.slices.len(), "solving");
    let longest = task.solve(&mut values, &options, &checkpoint).map_err(|error| match error {
        SolveError::Stopped => checkpoint.interrupted(),
        other => other.into(),
    })?;

    let longest = longest.max(checkpoint.longest);
    let Learned { mut longest_wins, passes } = checkpoint.learned();
    if values.form == NormalForm::MirroredAndSwapped {
        // A slice stands for its image with exchanged colours.
        longest_wins = [longest_wins.into_iter().max().flatten(); 2];
    }

    let longest_wins = (!options.outcomes).then_some(longest_wins);
    let (path, counts, notices) = (None, None, Vec::new());
    let table = MadeTable { name, path, counts, longest, longest_wins, notices };
    Ok((SolvedTable { values: Arc::new(values), began, passes, table }, checkpoint))
}

/// Writes a solved table.
pub(crate) fn write(
    task: &dyn Task,
    solved: &mut SolvedTable,
    output: PathBuf,
    args: &str,
    run: RunContext<'_>,
) -> Result<(), RunError> {
    run.progress.phase(Phase::Writing);
    let making = Making {
        reproducible: run.workplace.reproducible,
        args: args.to_owned(),
        began: solved.began,
        instruction: task.instruction(),
        passes: std::mem::take(&mut solved.passes),
        counted: None,
        behind: task.behind().filter(|_| run.workplace.leans(&output)),
    };
    let counts = write_table(task.header()?, &solved.values, &output, &making, run)?;
    checkpoint::remove_of(run.workplace, &output)?;
    tracing::info!(table = %output.display(), "written");
    run.progress.finished(&solved.table.name);
    solved.table.counts = Some(counts);
    solved.table.path = Some(output);
    Ok(())
}

/// Solves a table and writes it; what is solved is saved if the writing is stopped.
pub(crate) fn carry_out(
    task: &dyn Task,
    values: TableValues,
    output: &Path,
    args: &str,
    order: Order<'_>,
) -> Result<SolvedTable, RunError> {
    let (mut solved, checkpoint) = solve(task, values, order)?;
    match write(task, &mut solved, output.to_owned(), args, order.run) {
        Ok(()) => Ok(solved),
        Err(error) => Err(checkpoint.settle(error)),
    }
}
