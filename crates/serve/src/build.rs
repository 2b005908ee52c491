//! Making tables that are missing, where the owner of the server lets that be done: what it would
//! take, and the work with its progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hoffman::{Cancel, Error, Event, Options, Plan, Target};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::ServerState;
use crate::library::threads_of_work;
use crate::long_work::{Listener, only_from_here, stream};
use crate::response::{Refusal, Reply};

/// Where tables may be made, and how large.
#[derive(Debug)]
pub(crate) struct Builds {
    folder: Option<PathBuf>,
    /// The most bytes of new tables at a time; none if nothing is made.
    limit: Option<u64>,
}

/// What is to be made.
#[derive(Clone, Debug)]
pub(crate) enum WantedTables {
    /// An ending with all that it leads to.
    Ending(String),
    /// What a position needs.
    Position(String),
}

/// What that would take.
#[derive(Debug, Serialize)]
pub(crate) struct BuildCost {
    /// The files that would be made.
    tables: Vec<String>,
    /// The memory that making them takes, or the size of the files, whichever is more, at most.
    bytes: u64,
    /// Processor seconds.
    seconds: f64,
    /// What the owner of the server lets be made at a time.
    limit: u64,
    /// Whether it is within the limit.
    allowed: bool,
}

impl Builds {
    pub(crate) fn new(folder: Option<PathBuf>, limit: Option<u64>) -> Builds {
        Builds { folder, limit }
    }

    /// What may be made, in bytes; none if nothing.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit.filter(|_| self.folder.is_some())
    }

    /// The folder and the limit.
    fn allowed(&self) -> Result<(&PathBuf, u64), Refusal> {
        self.folder.as_ref().zip(self.limit).ok_or_else(|| {
            let text = "this server makes no tables; its owner may let it with --build";
            Refusal::new(StatusCode::FORBIDDEN, "no-builds", text)
        })
    }

    /// How tables are made.
    fn options(&self, cancel: &Cancel) -> Result<Options, Refusal> {
        let (folder, _) = self.allowed()?;
        let options = Options::new(folder).threads(threads_of_work()).program("hoffman serve");
        Ok(options.cancel(cancel.clone()))
    }

    /// What it would take to make something.
    pub(crate) fn cost(&self, wanted: &WantedTables) -> Result<BuildCost, Refusal> {
        let (_, limit) = self.allowed()?;
        let options = self.options(&Cancel::new())?;
        let plan = match wanted {
            WantedTables::Ending(name) => hoffman::plan(&[ending(name)?], &options),
            WantedTables::Position(position) => hoffman::plan_position(position, &options),
        };
        Ok(BuildCost::new(&plan.map_err(|error| self.refusal(&error))?, limit))
    }

    /// Why something was not made, without the name of the folder.
    fn refusal(&self, error: &Error) -> Refusal {
        let status = match error {
            Error::Probe(_) | Error::Ending(_) => StatusCode::BAD_REQUEST,
            Error::Vast(_) | Error::Resources(_) => StatusCode::FORBIDDEN,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let folder = self.folder.as_ref().map(|folder| format!("{}/", folder.display()));
        let text = error.to_string();
        let text = folder.map_or_else(|| text.clone(), |folder| text.replace(&folder, ""));
        Refusal::new(status, error.code(), text)
    }

    /// Makes something, and tells who listens how far it is.
    fn work(&self, wanted: &WantedTables, listener: &mut Listener<'_>) -> Result<(), Refusal> {
        let options = self.options(listener.cancel())?;
        let mut progress = BuildProgress::new();
        let mut tell = |event| {
            progress.take(event);
            if progress.work > 0 {
                listener.tell(|| progress.to_json());
            }
        };
        let made = match wanted {
            WantedTables::Ending(name) => {
                hoffman::build(&[ending(name)?], &options, &mut tell).map(|_| ())
            }
            WantedTables::Position(position) => {
                hoffman::solve(position, &options, &mut tell).map(|_| ())
            }
        };
        made.map_err(|error| self.refusal(&error))
    }
}

/// An ending by its name. Files are none.
fn ending(name: &str) -> Result<Target, Refusal> {
    let ending = name.parse::<hoffman::Material>();
    let wrong = |error: &dyn std::fmt::Display| {
        Refusal::new(StatusCode::BAD_REQUEST, "bad-ending", error.to_string())
    };
    ending.map(Target::Ending).map_err(|error| wrong(&error))
}

impl BuildCost {
    fn new(plan: &Plan, limit: u64) -> BuildCost {
        let new: Vec<_> = plan.tables.iter().filter(|table| !table.kept).collect();
        let files = new.iter().map(|table| table.bytes_at_most).sum();
        // Small files may need much to be made.
        let bytes = if new.is_empty() { 0 } else { plan.memory.max(files) };
        BuildCost {
            tables: new.iter().map(|table| table.table.clone()).collect(),
            bytes,
            seconds: new.iter().map(|table| table.seconds).sum(),
            limit,
            allowed: bytes <= limit,
        }
    }
}

/// Makes something that is within the limit, and sends events: `progress`, and at the end `done` or
/// `failed`.
pub(crate) async fn build(
    state: &Arc<ServerState>,
    wanted: WantedTables,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    only_from_here(headers)?;
    let (shared, asked) = (Arc::clone(state), wanted.clone());
    let cost = crate::answer::on_thread(state, move || shared.builds.cost(&asked)).await??;
    if !cost.allowed {
        let text = format!(
            "that takes up to {} MB of memory or of the disk, more than the {} MB that this server \
             may take at a time",
            cost.bytes >> 20,
            cost.limit >> 20
        );
        return Err(Refusal::new(StatusCode::FORBIDDEN, "too-large", text));
    }

    stream(state, Cancel::new(), move |state, listener| {
        state.builds.work(&wanted, listener)?;
        Ok(json!({}))
    })
}

/// How far the work is.
struct BuildProgress {
    began: Instant,
    table: String,
    work: u64,
    done: u64,
    skipped: u64,
    finished: usize,
}

impl BuildProgress {
    fn new() -> BuildProgress {
        let began = Instant::now();
        BuildProgress { began, table: String::new(), work: 0, done: 0, skipped: 0, finished: 0 }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Begin { work } => self.work += work,
            Event::Table { name } => self.table = name,
            Event::Done { work } => self.done += work,
            Event::Skipped { work } => self.skipped += work,
            Event::Finished { .. } => self.finished += 1,
            _ => {}
        }
    }

    fn to_json(&self) -> Value {
        let done = (self.done + self.skipped).min(self.work);
        let left = self.work.saturating_sub(done);
        // What was there already says nothing about how fast it goes.
        let seconds = (self.done > 0)
            .then(|| self.began.elapsed().as_secs_f64() * left as f64 / self.done as f64);
        json!({
            "table": self.table,
            "finished": self.finished,
            "done": done,
            "work": self.work,
            "seconds_left": seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_endings_are_made_by_name() {
        assert!(ending("KQvK").is_ok());
        for name in ["", "x.xml", "../x", "KQ", "/etc/passwd"] {
            assert_eq!(ending(name).expect_err("none").code, "bad-ending", "{name}");
        }
    }
}
