//! `hoffman list`: the positions of tables that are asked for.

use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use hoffman::{
    Color, Event, ListCounts, ListOptions, ListProgress, ListQuery, ListedPosition, ReadOptions,
    UniqueLine, WantedResult, ZugzwangOf,
};
use serde_json::json;

use crate::RunEnd;
use crate::args::{ListArgs, ResultName, SideName, UniqueName, ZugzwangName};
use crate::commands::tables;
use crate::interrupt;
use crate::output::{complain, is_broken_pipe, note, print_line};
use crate::progress::Bar;

/// Lists the tables one by one.
pub(crate) fn run(args: &ListArgs) -> anyhow::Result<RunEnd> {
    let folder = args.at_hand.folder()?;
    let reading = args.at_hand.reading()?;
    let query = query(args);
    let mut good = true;
    for named in &args.tables {
        let listed = list(args, &query, named, folder.as_deref(), &reading);
        match listed {
            Ok(()) => {}
            Err(error) if is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                complain(&error);
                good = false;
            }
        }
        if interrupt::cancel().is_cancelled() {
            break;
        }
    }
    Ok(RunEnd::of(good))
}

fn query(args: &ListArgs) -> ListQuery {
    let color = |side| match side {
        SideName::White => Color::White,
        SideName::Black => Color::Black,
    };
    ListQuery {
        zugzwang: args.zugzwang.map(|whose| match whose {
            ZugzwangName::Mutual => ZugzwangOf::Mutual,
            ZugzwangName::White => ZugzwangOf::Side(Color::White),
            ZugzwangName::Black => ZugzwangOf::Side(Color::Black),
        }),
        only_move: args.only_move,
        unique_line: args.unique_line.map(|how| match how {
            UniqueName::Winning => UniqueLine::Winning,
            UniqueName::Fastest => UniqueLine::Fastest,
        }),
        result: args.result.map(|result| match result {
            ResultName::Win => WantedResult::Win,
            ResultName::Draw => WantedResult::Draw,
            ResultName::Loss => WantedResult::Loss,
        }),
        to_move: args.to_move.map(color),
        distance: args.distance.clone(),
        pattern: args.pattern.clone(),
        longest: args.longest.map(|most| most as usize),
    }
}

/// Lists or counts one table.
fn list(
    args: &ListArgs,
    query: &ListQuery,
    named: &Path,
    folder: Option<&Path>,
    reading: &ReadOptions,
) -> anyhow::Result<()> {
    let table = tables::open(named, folder, reading)?;
    if query.zugzwang.is_some() && !table.format().has_distance() {
        note(&format!(
            "{}: it tells outcomes alone, so zugzwangs in which a pass would only win sooner or lose \
             later are not among these",
            table.path().display()
        ));
    }
    let folders = folder.into_iter().map(Path::to_owned).collect();
    let bar = ListBar::new(table.path().display().to_string());
    let told = bar.clone();
    let progress = ListProgress::new(move |event| told.tell(event));
    let options = ListOptions { folders, progress, cancel: interrupt::cancel() };
    if args.count {
        let counts = table.list(query, &options, None);
        bar.end();
        let counts = counts?;
        let name = table.path().display().to_string();
        return print_line(&counts_in_words(&name, &counts, args.json));
    }

    let mut out = BufWriter::new(io::stdout());
    let mut written = Ok(());
    let on_terminal = io::stdout().is_terminal();
    let mut each = |listed: ListedPosition| {
        if on_terminal {
            // The lines show how far the work is.
            bar.end();
        }
        let line = if args.json { serde_json::to_string(&listed) } else { Ok(listed.epd()) };
        written = line.map_err(io::Error::from).and_then(|line| writeln!(out, "{line}"));
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let listed = table.list(query, &options, Some(&mut each));
    bar.end();
    // What was found before an error counts too.
    written.and_then(|()| out.flush()).context("cannot write to standard output")?;
    listed?;
    Ok(())
}

/// The progress of a list, as long as it is shown.
#[derive(Clone)]
struct ListBar(Arc<Mutex<Option<Bar>>>);

impl ListBar {
    fn new(table: String) -> ListBar {
        let bar = Bar::of_share();
        bar.name(table);
        ListBar(Arc::new(Mutex::new(Some(bar))))
    }

    /// No code panics while it holds the lock.
    fn shown(&self) -> MutexGuard<'_, Option<Bar>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        if let Some(bar) = self.shown().as_ref() {
            bar.tell(event);
        }
    }

    fn end(&self) {
        self.shown().take();
    }
}

/// How many there are, and of which kinds.
fn counts_in_words(table: &str, counts: &ListCounts, json: bool) -> String {
    if json {
        let kinds = counts.kinds.iter().map(|(kind, &n)| (kind.name().to_owned(), n.into()));
        let kinds: serde_json::Map<String, serde_json::Value> = kinds.collect();
        return json!({ "table": table, "positions": counts.positions, "kinds": kinds })
            .to_string();
    }
    let kinds = counts.kinds.iter();
    let kinds = kinds.map(|(kind, number)| format!("\n  {}: {number}", kind.words()));
    format!("{table}: {}{}", counts.positions, kinds.collect::<String>())
}
