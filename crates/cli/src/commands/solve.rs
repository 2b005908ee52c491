//! `hoffman solve`: one position, from whatever tables are there or have to be built.

use std::sync::{Mutex, PoisonError};

use hoffman_board::Variant;
use hoffman_plan::reachable;
use hoffman_probe::collection::Collection;
use hoffman_probe::fen::read_position;
use hoffman_probe::position::Position;
use hoffman_probe::report::report_position;
use hoffman_run::{BuildOptions, build};
use hoffman_table::Table;

use crate::Outcome;
use crate::args::SolveArgs;
use crate::commands::plan::{Whole, pawns_of};
use crate::output::{command_line, print, print_line};

/// Builds what is missing and answers.
pub(crate) fn run(args: &SolveArgs) -> anyhow::Result<Outcome> {
    let position = read_position(&args.fen.join(" "), Variant::Normal)?;
    let whole = Whole::behind(&position);
    anyhow::ensure!(!whole.is_too_large(), "{}", whole.refusal());
    let jobs = reachable(&position.material(), &pawns_of(&position));
    let bar = args.work.bar(false)?;
    let answer = Mutex::new(None);
    let solved = |tables: Vec<Table>| {
        bar.suspend(|| {
            let outcome = report(tables, &position, args);
            *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        });
    };
    let options = BuildOptions {
        dir: args.folder.path()?,
        write: true,
        args: command_line(),
        progress: &bar,
        solved: Some(&solved),
        workplace: args.work.workplace()?,
    };
    let built = bar.end(build(&jobs, &options));
    // An answer that could not be given counts more than a file that could not be written.
    if let Some(outcome) = answer.into_inner().unwrap_or_else(PoisonError::into_inner) {
        outcome?;
    }
    built?;
    Ok(Outcome::Done)
}

/// Answers from exactly the tables of the plan: others of the folder were not checked.
fn report(tables: Vec<Table>, position: &Position, args: &SolveArgs) -> anyhow::Result<()> {
    let cache = args.work.bytes().map_or(u64::MAX, |memory| memory / 8).min(64 << 20);
    let mut collection = Collection::with_cache(cache as usize);
    for table in tables {
        collection.adopt(table)?;
    }
    let report = report_position(&collection, position)?;
    if args.json { print_line(&serde_json::to_string(&report)?) } else { print(&report.to_text()) }
}
