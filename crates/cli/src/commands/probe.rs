//! `hoffman probe`: positions in tables that are there.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman_probe::collection::Collection;
use hoffman_probe::lines::Category;
use hoffman_probe::report::{ErrorReport, report};
use hoffman_table::foreign::{ForeignOptions, Kind};

use crate::Outcome;
use crate::args::ProbeArgs;
use crate::commands::tables;
use crate::output::{complain, note, print, print_line};
use crate::work::Reading;

/// Answers one position, or those on standard input.
pub(crate) fn run(args: &ProbeArgs) -> anyhow::Result<Outcome> {
    let folder = args.folder.existing()?;
    let Reading { source, foreign, whole } = args.reading.reading(args.foreign.options())?;
    // Without a bound a cache of the usual size.
    let mut collection = match whole {
        Some(_) => Collection::with_options(source),
        None => Collection::default(),
    };
    let (named, fen) = split_tables(&args.fen);
    let mut good = true;
    for named in args.tables.iter().chain(&named) {
        // The others may answer.
        if let Err(error) = add(&mut collection, named, folder.as_deref(), &foreign) {
            complain(&error);
            good = false;
        }
    }
    if !good && collection.tables().len() == 0 {
        return Ok(Outcome::Failed);
    }
    collection.add_folders_beside(None, folder.as_deref())?;
    for syzygy in &args.foreign.syzygy {
        collection.add_syzygy_folder(syzygy, &foreign)?;
    }
    if fen.is_empty() {
        return Ok(answer_lines(&collection)?.and(good));
    }
    let report = report(&collection, &fen.join(" "))?;
    if args.json {
        print_line(&serde_json::to_string(&report)?)?;
    } else {
        print(&report.to_text())?;
    }
    for failure in &report.failures {
        complain(&failure.clone().into());
        good = false;
    }
    if report.verdict.category != Category::Unknown {
        return Ok(Outcome::of(good));
    }
    let missing = report.hoffman.missing.join(", ");
    note(&format!("no table answers '{}'; missing: {missing}", report.hoffman.fen));
    Ok(Outcome::Failed)
}

/// Opens a table and the folder that it lies in.
fn add(
    collection: &mut Collection,
    named: &Path,
    folder: Option<&Path>,
    foreign: &ForeignOptions,
) -> anyhow::Result<()> {
    let path = tables::find(named, folder)?;
    let table = tables::open(&path, collection.options().clone(), foreign)?;
    collection.adopt(table)?;
    Ok(collection.add_folders_beside(Some(&path), None)?)
}

/// The names of table files in front, and the words of the position behind them. No part of a FEN ends
/// like a file name.
fn split_tables(words: &[String]) -> (Vec<PathBuf>, &[String]) {
    let is_table = |word: &String| {
        let path = Path::new(word);
        path.extension().is_some_and(|e| e == "htb") || Kind::of(path).is_some()
    };
    let (tables, fen) = words.split_at(words.iter().take_while(|w| is_table(w)).count());
    (tables.iter().map(PathBuf::from).collect(), fen)
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
