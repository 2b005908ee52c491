//! `hoffman -g`: the table of a control file.

use std::path::{Path, PathBuf};

use hoffman::control::Control;
use hoffman::{ReadOptions, Threads};

use crate::interrupt;
use crate::output::say;
use crate::work::WorkArgs;

/// How a control file is carried out.
pub(crate) struct GenerateRequest<'a> {
    /// The output file, if not the one named in the control file.
    pub(crate) output: Option<PathBuf>,
    /// Where tables of other programs are looked for.
    pub(crate) reading: ReadOptions,
    /// Whether informational lines are left out.
    pub(crate) quiet: bool,
    /// What holds for all long work.
    pub(crate) work: &'a WorkArgs,
}

/// Generates a table and returns its file.
pub(crate) fn run(
    control: &Path,
    request: &GenerateRequest<'_>,
    threads: &Threads,
) -> anyhow::Result<PathBuf> {
    let inform = |text: &str| {
        if !request.quiet {
            say(text);
        }
    };
    let options = request.work.options(None)?;
    let options = options.large_tables_on(threads.clone()).read_with(request.reading.clone());
    let control = Control::read(control)?;
    let summary = control.summary(&interrupt::cancel())?;
    inform(&format!("Total indices: {}", summary.indices));
    if let Some(structures) = summary.structures {
        inform(&format!("{structures} pawngen positions"));
    }

    let bar = request.work.bar(request.quiet)?;
    let made = control.generate(request.output.as_deref(), &options, &mut |event| bar.tell(event));
    let made = bar.end(made)?;
    drop(bar);
    inform(&format!("Total legal positions: {}", made.legal.unwrap_or_default()));
    if let Some(moves) = made.moves {
        inform(&format!("Total moves: {moves}"));
    }
    let path = made.path.unwrap_or_default();
    inform(&format!("Wrote '{}'", path.display()));
    Ok(path)
}
