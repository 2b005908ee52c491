//! What long work tells, and how it is stopped.

use std::path::PathBuf;

use pyo3::prelude::*;

/// A request to stop long work, from whatever thread.
#[pyclass(frozen, module = "hoffman")]
pub(crate) struct Cancel(pub(crate) hoffman::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(hoffman::Cancel::new())
    }

    /// Asks to stop.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether that was asked.
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Something that happened in long work.
#[pyclass(frozen, get_all, module = "hoffman")]
pub(crate) struct Event {
    /// What: `begin`, `table`, `phase`, `pass`, `done`, `solved`, `finished`, `kept`, `made` or
    /// `notice`.
    kind: &'static str,
    /// Of a phase its name, of a notice the sentence.
    text: Option<String>,
    /// The table that is worked on, or that the event is about.
    table: Option<String>,
    /// The file of a table that is kept or was made.
    path: Option<PathBuf>,
    /// Positions that are done so far.
    done: u64,
    /// Positions to be done, as far as is known.
    total: u64,
}

#[pymethods]
impl Event {
    /// How much of the work is done, from 0 to 1.
    #[getter]
    #[allow(clippy::cast_precision_loss)]
    fn fraction(&self) -> f64 {
        self.done.min(self.total) as f64 / self.total.max(1) as f64
    }

    fn __repr__(&self) -> String {
        let words = [Some(self.kind), self.table.as_deref(), self.text.as_deref()];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        format!("<Event {}, {:.0} %>", words.join(" "), 100.0 * self.fraction())
    }
}

/// Adds up what work tells.
#[derive(Default)]
pub(crate) struct Tally {
    table: Option<String>,
    done: u64,
    total: u64,
    /// The remarks.
    pub(crate) notices: Vec<String>,
}

impl Tally {
    /// What is told of an event.
    pub(crate) fn add(&mut self, event: hoffman::Event) -> Event {
        let (mut text, mut path) = (None, None);
        let mut about = None;
        let kind = match event {
            hoffman::Event::Begin { work } => {
                self.total += work;
                "begin"
            }
            hoffman::Event::Table { name } => {
                self.table = Some(name);
                "table"
            }
            hoffman::Event::Phase(phase) => {
                text = Some(phase.name().to_owned());
                "phase"
            }
            hoffman::Event::Done { work } | hoffman::Event::Skipped { work } => {
                self.done += work;
                "done"
            }
            hoffman::Event::Entries { done, total } => {
                (self.done, self.total) = (done, total);
                "done"
            }
            hoffman::Event::Solved(_) => "solved",
            hoffman::Event::Finished { name } => {
                about = Some(name);
                "finished"
            }
            hoffman::Event::Kept { path: kept } => {
                path = Some(kept);
                "kept"
            }
            hoffman::Event::Made(made) => {
                (about, path) = (Some(made.name), made.path);
                "made"
            }
            hoffman::Event::Notice { text: notice } => {
                self.notices.push(notice.clone());
                text = Some(notice);
                "notice"
            }
            // Passes, and what there may be to come.
            _ => "pass",
        };
        let table = about.or_else(|| self.table.clone());
        Event { kind, text, table, path, done: self.done, total: self.total }
    }
}
