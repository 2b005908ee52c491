//! `hoffman probe`: positions in tables that are there.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};

use anyhow::Context as _;
use hoffman_probe::collection::Collection;
use hoffman_probe::lines::Category;
use hoffman_probe::report::{ErrorReport, report};

use crate::Outcome;
use crate::args::ProbeArgs;
use crate::commands::tables;
use crate::output::{note, print, print_line};

/// Answers one position, or those on standard input.
pub(crate) fn run(args: &ProbeArgs) -> anyhow::Result<Outcome> {
    let folder = args.folder.existing()?;
    let mut collection = Collection::default();
    for named in &args.tables {
        let path = tables::find(named, folder.as_deref())?;
        let table = tables::open(&path, collection.options().clone())?;
        collection.adopt(table)?;
        collection.add_folders_beside(Some(&path), None)?;
    }
    collection.add_folders_beside(None, folder.as_deref())?;
    if args.fen.is_empty() {
        return answer_lines(&collection);
    }
    let report = report(&collection, &args.fen.join(" "))?;
    if args.json {
        print_line(&serde_json::to_string(&report)?)?;
    } else {
        print(&report.to_text())?;
    }
    if report.verdict.category != Category::Unknown {
        return Ok(Outcome::Done);
    }
    let missing = report.hoffman.missing.join(", ");
    note(&format!("no table answers '{}'; missing: {missing}", report.hoffman.fen));
    Ok(Outcome::Failed)
}

/// Reads a FEN a line and writes a line of JSON for each. Blank lines are passed over.
fn answer_lines(collection: &Collection) -> anyhow::Result<Outcome> {
    let mut input = BufReader::new(io::stdin());
    let mut out = BufWriter::new(io::stdout());
    let mut good = true;
    let mut bytes = Vec::new();
    let broken = "cannot write to standard output";
    loop {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes).context("cannot read standard input")?;
        if read == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&bytes);
        let fen = line.trim();
        if !fen.is_empty() {
            let json = match report(collection, fen) {
                Ok(report) => serde_json::to_string(&report)?,
                Err(error) => {
                    good = false;
                    serde_json::to_string(&ErrorReport::from(&error))?
                }
            };
            writeln!(out, "{json}").context(broken)?;
        }
        // Whoever waits for an answer before the next question gets it.
        if input.buffer().is_empty() {
            out.flush().context(broken)?;
        }
    }
    out.flush().context(broken)?;
    Ok(Outcome::of(good))
}
