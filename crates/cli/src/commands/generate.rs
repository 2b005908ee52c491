//! `hoffman -g`: the table of a control file.

use std::path::{Path, PathBuf};

use hoffman_run::{
    GenerateOptions, Threads, Workplace, generate_read, in_order_of_need, read_control, summary,
};
use hoffman_table::foreign::ForeignOptions;

use crate::output::{command_line, say};
use crate::work::WorkArgs;

/// How a control file is carried out.
pub(crate) struct Options {
    /// The output file, if not the one named in the control file.
    pub(crate) output: Option<PathBuf>,
    /// Where tables of other programs are looked for.
    pub(crate) foreign: ForeignOptions,
    /// Whether informational lines are left out.
    pub(crate) quiet: bool,
    /// What holds for all long work.
    pub(crate) work: WorkArgs,
}

/// Control files in the order in which they need each other. Where there are several, each is read before
/// the first table is made.
pub(crate) fn in_order(controls: &[PathBuf]) -> anyhow::Result<Vec<&Path>> {
    let controls: Vec<&Path> = controls.iter().map(PathBuf::as_path).collect();
    if controls.len() < 2 {
        // Its output may be named on the command line.
        return Ok(controls);
    }
    let workplace = Workplace::default();
    let ordered = in_order_of_need(&controls, None, &workplace)?;
    for control in &ordered {
        summary(&read_control(control, &workplace)?)?;
    }
    Ok(ordered)
}

/// Generates a table and returns its file.
pub(crate) fn run(control: &Path, options: &Options, threads: &Threads) -> anyhow::Result<PathBuf> {
    let quiet = options.quiet;
    let inform = |text: &str| {
        if !quiet {
            say(text);
        }
    };
    let mut workplace = options.work.workplace()?;
    workplace.threads = Some(threads.clone());
    let control = read_control(control, &workplace)?;
    let summary = summary(&control)?;
    inform(&format!("Total indices: {}", summary.indices));
    if let Some(structures) = summary.structures {
        inform(&format!("{structures} pawngen positions"));
    }
    let bar = options.work.bar(quiet)?;
    let output = options.output.clone();
    let foreign = options.foreign.clone();
    let args = command_line();
    let options = GenerateOptions { output, args, foreign, progress: &bar, workplace };
    let made = bar.end(generate_read(&control, &options))?;
    drop(bar);
    inform(&format!("Total legal positions: {}", made.counts.legal));
    if let Some(counts) = made.counts.moves {
        inform(&format!("Total moves: {}", counts.moves));
    }
    inform(&format!("Wrote '{}'", made.path.display()));
    Ok(made.path)
}
