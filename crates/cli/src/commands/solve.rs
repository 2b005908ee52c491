//! `hoffman solve`: one position, from whatever tables are there or have to be built.

use hoffman_board::{Role, Variant};
use hoffman_plan::reachable;
use hoffman_probe::collection::Collection;
use hoffman_probe::report::{parse_position, report_position};
use hoffman_run::{BuildOptions, build};

use crate::Outcome;
use crate::args::SolveArgs;
use crate::commands::build::check_men;
use crate::output::{command_line, print, print_line};
use crate::progress::Bar;

/// Builds what is missing and answers.
pub(crate) fn run(args: &SolveArgs) -> anyhow::Result<Outcome> {
    let position = parse_position(&args.fen.join(" "), Variant::Normal)?;
    let material = position.material();
    check_men(&material)?;
    let pawns: Vec<_> = position
        .men()
        .filter(|&(_, _, role)| role == Role::Pawn)
        .map(|(square, color, _)| (color, 1_u64 << square as u32))
        .collect();
    let bar = Bar::new("slices");
    let options = BuildOptions {
        dir: args.folder.path()?,
        write: true,
        args: command_line(),
        progress: &bar,
    };
    let built = build(&reachable(&material, &pawns), &options)?;
    drop(bar);
    // Exactly the tables of the plan: others of the folder were not checked.
    let written = built.built.iter().filter_map(|table| table.path.as_ref());
    let tables = Collection::open(built.kept.iter().chain(written))?;
    let report = report_position(&tables, &position)?;
    if args.json {
        print_line(&serde_json::to_string(&report)?)?;
    } else {
        print(&report.to_text())?;
    }
    Ok(Outcome::Done)
}
