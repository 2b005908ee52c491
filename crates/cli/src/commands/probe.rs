//! `hoffman probe`: positions in tables that are there.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman::{
    Answer, Bound, Category, MEN_OF_TABLES, OpenOptions, Opened, Plies, ProbeError, Table,
    Tablebase, Value,
};
use serde_json::json;

use crate::RunEnd;
use crate::args::{ProbeArgs, folders_or_usual};
use crate::output::{complain, note, print, print_line};

/// The word for a position of which no result is known.
const UNKNOWN: &str = "unknown";

/// Answers one position, or those on standard input.
pub(crate) fn run(args: &ProbeArgs) -> anyhow::Result<RunEnd> {
    let folders = folders_or_usual(&args.folders)?;
    let (named, fen) = split_tables(&args.fen);
    let mut options = OpenOptions::new().beside(true);
    options = options.reading(args.reading()?);
    options = args.foreign.syzygy.iter().fold(options, OpenOptions::syzygy);
    options = folders.iter().fold(options, OpenOptions::folder);

    let mut good = true;
    for named in args.tables.iter().chain(&named) {
        // The others may answer.
        match find(named, &folders) {
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
        let end = if args.value {
            answer_lines(|fen| Ok(value_line(&tables, fen)))
        } else {
            answer_lines(|fen| json_line(&tables, fen))
        };
        return Ok(end?.and(good));
    }

    let fen = fen.join(" ");
    let end = if args.value { tell_value(&tables, &fen) } else { answer(&tables, &fen, args.json) };
    Ok(end?.and(good))
}

/// The file of a table that is named: in the folders, else wherever that is.
fn find(named: &Path, folders: &[PathBuf]) -> Result<PathBuf, hoffman::Error> {
    let found_in = |folder: &PathBuf| {
        Table::find(named, Some(folder)).ok().filter(|path| path.starts_with(folder))
    };
    let found = folders.iter().find_map(found_in);
    found.map_or_else(|| Table::find(named, folders.last().map(PathBuf::as_path)), Ok)
}

/// Tells the value of one position; fails where it is not known.
fn tell_value(tables: &Tablebase, fen: &str) -> anyhow::Result<RunEnd> {
    let words = match tables.probe(fen) {
        Err(why @ ProbeError::NoTable { .. }) => {
            note(&why.to_string());
            UNKNOWN.to_owned()
        }
        answer => {
            let words = value_words(&answer?);
            if words == UNKNOWN {
                note("the table proves no result of the position");
            }
            words
        }
    };
    print_line(&words)?;
    Ok(RunEnd::of(words != UNKNOWN))
}

/// What is proved for the side to move, and the plies to mate behind it where they are exact.
fn value_words(answer: &Answer) -> String {
    let counted = |word: &str, plies: Option<Plies>| {
        let exact = plies.filter(|_| answer.bound == Bound::Exact);
        exact.map_or_else(|| word.to_owned(), |plies| format!("{word} {plies}"))
    };
    match answer.value {
        Value::Win { plies } => counted("win", plies),
        Value::Draw => "draw".to_owned(),
        Value::Loss { plies } => counted("loss", plies),
        _ => UNKNOWN.to_owned(),
    }
}

/// A line with the value of a position, and whether it could be looked up at all.
fn value_line(tables: &Tablebase, fen: &str) -> (String, bool) {
    match tables.probe(fen) {
        Ok(answer) => (value_words(&answer), true),
        Err(ProbeError::NoTable { .. }) => (UNKNOWN.to_owned(), true),
        Err(why) => {
            let line = format!("error {}", why.code());
            complain(&why.into());
            (line, false)
        }
    }
}

/// A line of JSON with all that is known of a position, and whether it could be looked up at all.
fn json_line(tables: &Tablebase, fen: &str) -> anyhow::Result<(String, bool)> {
    Ok(match tables.report(fen) {
        Ok(report) => (serde_json::to_string(&report)?, true),
        Err(why) => (json!({ "code": why.code(), "error": why.to_string() }).to_string(), false),
    })
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

/// Reads a FEN a line and writes a line for each. Blank lines are passed over.
fn answer_lines(
    line_of: impl Fn(&str) -> anyhow::Result<(String, bool)>,
) -> anyhow::Result<RunEnd> {
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
            let (line, is_answered) = line_of(fen)?;
            good &= is_answered;
            writeln!(out, "{line}").context(broken)?;
        }
        // A program may wait for the answer before it asks on.
        if input.buffer().is_empty() {
            out.flush().context(broken)?;
        }
    }

    out.flush().context(broken)?;
    Ok(RunEnd::of(good))
}
