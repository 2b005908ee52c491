//! `hoffman solve`: one position, from whatever tables are there or have to be built.

use hoffman::{Event, Tablebase};

use crate::Outcome;
use crate::args::SolveArgs;
use crate::output::{print, print_line};

/// Builds what is missing and answers.
pub(crate) fn run(args: &SolveArgs) -> anyhow::Result<Outcome> {
    let fen = args.fen.join(" ");
    let options = args.work.options(Some(args.folder.path()?))?;
    let bar = args.work.bar(false)?;
    let mut answered = Ok(());
    let solved = hoffman::solve(&fen, &options, &mut |event| match event {
        // The answer comes first, files later.
        Event::Solved(tables) => bar.suspend(|| answered = answer(&tables, &fen, args.json)),
        event => bar.tell(event),
    });
    let solved = bar.end(solved);
    // An answer that could not be given counts more than a file that could not be written.
    answered?;
    solved?;
    Ok(Outcome::Done)
}

fn answer(tables: &Tablebase, fen: &str, json: bool) -> anyhow::Result<()> {
    let report = tables.report(fen)?;
    if json { print_line(&serde_json::to_string(&report)?) } else { print(&report.to_text()) }
}
