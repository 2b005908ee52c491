//! `hoffman probe`: positions in tables that are there.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman::{Category, MEN_OF_TABLES, OpenOptions, Opened, Table, Tablebase};
use serde_json::json;

use crate::RunEnd;
use crate::args::ProbeArgs;
use crate::output::{complain, note, print, print_line};

/// Answers one position, or those on standard input.
pub(crate) fn run(args: &ProbeArgs) -> anyhow::Result<RunEnd> {
    let folder = args.at_hand.folder()?;
    let (named, fen) = split_tables(&args.fen);
    let mut options = OpenOptions::new().beside(true);
    options = options.reading(args.at_hand.reading()?);
    options = args.at_hand.foreign.syzygy.iter().fold(options, OpenOptions::syzygy);
    if let Some(folder) = &folder {
        options = options.folder(folder);
    }

    let mut good = true;
    for named in args.tables.iter().chain(&named) {
        // The others may answer.
        match Table::find(named, folder.as_deref()) {
            Ok(path) => options = options.file(path),
            Err(error) => {
                complain(&error.into());
                good = false;
            }
        }
    }

    // What cannot be opened is said; the rest answers.
    let Opened { tables, failed, notices, .. } = options.open_some()?;
    for (path, notice) in notices {
        note(&format!("{}: {notice}", path.display()));
    }

    for (_, error) in failed {
        complain(&error.into());
        good = false;
    }

    if !good && tables.named_tables() == 0 {
        return Ok(RunEnd::Failed);
    }

    if fen.is_empty() {
        return Ok(answer_lines(&tables)?.and(good));
    }

    Ok(answer(&tables, &fen.join(" "), args.json)?.and(good))
}

/// Answers one position; fails where nothing is known of it.
fn answer(tables: &Tablebase, fen: &str, json: bool) -> anyhow::Result<RunEnd> {
    let report = tables.report(fen)?;
    if json {
        print_line(&serde_json::to_string(&report)?)?;
    } else {
        print(&report.to_text())?;
    }
    for failure in &report.failures {
        complain(&failure.clone().into());
    }

    if report.verdict.category != Category::Unknown {
        return Ok(RunEnd::of(report.failures.is_empty()));
    }

    let missing = match report.hoffman.missing.join(", ") {
        none if none.is_empty() => none,
        some => format!("; missing: {some}"),
    };
    let answer = match &report.hoffman.table {
        Some(table) => format!("{table} does not decide"),
        None => "no table answers".to_owned(),
    };
    let is_large = report.position.men().count() > MEN_OF_TABLES;
    let way = if is_large && report.hoffman.table.is_none() {
        "; 'hoffman solve' may prove it"
    } else {
        ""
    };
    note(&format!("{answer} '{}'{missing}{way}", report.hoffman.fen));
    Ok(RunEnd::Failed)
}

/// The names of table files in front, and the words of the position behind them. No part of a FEN
/// ends like a file name.
fn split_tables(words: &[String]) -> (Vec<PathBuf>, &[String]) {
    let is_table = |word: &String| {
        let path = Path::new(word);
        Table::is_named(path) || Table::is_of_others(path)
    };
    let (tables, fen) = words.split_at(words.iter().take_while(|w| is_table(w)).count());
    (tables.iter().map(PathBuf::from).collect(), fen)
}

/// Reads a FEN a line and writes a line of JSON for each. Blank lines are passed over.
fn answer_lines(tables: &Tablebase) -> anyhow::Result<RunEnd> {
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
            let json = match tables.report(fen) {
                Ok(report) => serde_json::to_string(&report)?,
                Err(error) => {
                    good = false;
                    json!({ "code": error.code(), "error": error.to_string() }).to_string()
                }
            };
            writeln!(out, "{json}").context(broken)?;
        }
        // A program may wait for the answer before it asks on.
        if input.buffer().is_empty() {
            out.flush().context(broken)?;
        }
    }

    out.flush().context(broken)?;
    Ok(RunEnd::of(good))
}
