//! `hoffman solve-part`: the king pairs of one of several processes that solve an ending together.

use std::time::Duration;

use hoffman::process::is_address;
use hoffman::{Exchanged, Method, PartOfKings, SolvedPart};

use crate::RunEnd;
use crate::args::SolvePartArgs;
use crate::commands::build::judge;
use crate::interrupt;
use crate::output::{Misuse, print_line};

/// Solves a part, and says what that took.
pub(crate) fn run(args: &SolvePartArgs) -> anyhow::Result<RunEnd> {
    if args.work.solving_method() != Method::Sweep {
        let text = "parts are solved by sweeps, whatever does not fit into memory";
        return Err(Misuse(text.to_owned()).into());
    }
    if args.work.compress.is_some() {
        let text = "--compress is for tables, and a part is none yet";
        return Err(Misuse(text.to_owned()).into());
    }
    interrupt::end_with_try_again();
    judge(solve(args))
}

fn solve(args: &SolvePartArgs) -> anyhow::Result<()> {
    let folder = args.folder.path()?;
    if is_address(&folder) {
        let folder = folder.display();
        anyhow::bail!("{folder}: parts are solved in a folder of the disk that all processes see");
    }
    let options = args.work.options(Some(folder))?.blocks(true);
    let (number, of) = args.part;
    let part = PartOfKings::new(args.ending.parse().map_err(hoffman::Error::from)?, number, of);
    let part = part.patience(Duration::from_secs(args.patience));
    let bar = args.work.bar(false)?;
    let solved = hoffman::solve_part(part, &options, &mut |event| bar.tell(event));
    let solved = bar.end(solved)?;
    drop(bar);
    print_line(&line(&solved))
}

/// What is said of a part.
fn line(solved: &SolvedPart) -> String {
    let file = solved.path.display();
    let Some(exchange) = solved.exchange else { return format!("{file}: kept") };
    let Exchanged { passes, recalled, written, read, waited, .. } = exchange;
    let recalled = match recalled {
        0 => String::new(),
        passes => format!(", {passes} of them before"),
    };
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    format!(
        "{file}: written, {} king pairs with {} around them; {passes} passes{recalled}, {:.1} MB written, \
         {:.1} MB read, {:.1} s waited",
        solved.pairs,
        solved.around,
        megabytes(written),
        megabytes(read),
        waited.as_secs_f64()
    )
}
