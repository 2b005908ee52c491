//! `hoffman bench`: one number that changes when a result changes.

use std::time::Instant;

use crate::RunEnd;
use crate::output::{print_line, say};

/// Solves, counts, and prints the number; the time goes to standard error.
pub(crate) fn run() -> anyhow::Result<RunEnd> {
    let began = Instant::now();
    print_line(&hoffman::signature()?.to_string())?;
    say(&format!("{:.3} s", began.elapsed().as_secs_f64()));
    Ok(RunEnd::Done)
}
