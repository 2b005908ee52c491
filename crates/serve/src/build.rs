//! Making tables that are missing, where the owner of the server lets that be done: what it would
//! take, and the work with its progress as server-sent events. Who stops listening stops the work.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hoffman::process::cores;
use hoffman::{Cancel, Error, Event, Options, Plan, Target};
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use hyper::http::uri::Authority;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};

use crate::answer::State;
use crate::response::{Refusal, Reply, with_body};
use crate::stream::Made;

/// How often progress is told.
const OFTEN: Duration = Duration::from_millis(200);

/// Events that may wait for who listens.
const AHEAD: usize = 64;

/// Where tables may be made, and how large.
#[derive(Debug)]
pub(crate) struct Builds {
    folder: Option<PathBuf>,
    /// The most bytes of new tables at a time; none if nothing is made.
    limit: Option<u64>,
    /// What stops the work that is being done.
    running: Mutex<Option<Cancel>>,
}

/// What is to be made.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// An ending with all that it leads to.
    Ending(String),
    /// What a position needs.
    Position(String),
}

/// What that would take.
#[derive(Debug, Serialize)]
pub(crate) struct Cost {
    /// The files that would be made.
    tables: Vec<String>,
    /// Their size, at most.
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
        Builds { folder, limit, running: Mutex::default() }
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

    /// How tables are made: half of the cores are left to those who ask.
    fn options(&self, cancel: &Cancel) -> Result<Options, Refusal> {
        let (folder, _) = self.allowed()?;
        let options = Options::new(folder).threads((cores() / 2).max(1)).program("hoffman serve");
        Ok(options.cancel(cancel.clone()))
    }

    /// What it would take to make something.
    pub(crate) fn cost(&self, wanted: &Wanted) -> Result<Cost, Refusal> {
        let (_, limit) = self.allowed()?;
        let options = self.options(&Cancel::new())?;
        let plan = match wanted {
            Wanted::Ending(name) => hoffman::plan(&[ending(name)?], &options),
            Wanted::Position(position) => hoffman::plan_position(position, &options),
        };
        Ok(Cost::new(&plan.map_err(|error| self.refusal(&error))?, limit))
    }

    /// Takes the one place for work.
    fn begin(&self) -> Result<Cancel, Refusal> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            let text = "other tables are being made; try again when they are there";
            return Err(Refusal::new(StatusCode::CONFLICT, "busy", text));
        }
        Ok(running.insert(Cancel::new()).clone())
    }

    fn end(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Stops the work that is being done, if there is some.
    pub(crate) fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cancel) = running.as_ref() {
            cancel.cancel();
        }
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

    /// Makes something, and tells `to` how far it is.
    fn work(&self, wanted: &Wanted, cancel: &Cancel, to: &Sender<Bytes>) -> Result<(), Refusal> {
        let options = self.options(cancel)?;
        let mut progress = Progress::new(cancel, to);
        let mut tell = |event| progress.tell(event);
        let made = match wanted {
            Wanted::Ending(name) => {
                hoffman::build(&[ending(name)?], &options, &mut tell).map(|_| ())
            }
            Wanted::Position(position) => hoffman::solve(position, &options, &mut tell).map(|_| ()),
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

impl Cost {
    fn new(plan: &Plan, limit: u64) -> Cost {
        let new: Vec<_> = plan.tables.iter().filter(|table| !table.kept).collect();
        let bytes = new.iter().map(|table| table.bytes_at_most).sum();
        Cost {
            tables: new.iter().map(|table| table.table.clone()).collect(),
            bytes,
            seconds: new.iter().map(|table| table.seconds).sum(),
            limit,
            allowed: bytes <= limit,
        }
    }
}

/// Whether a request comes from this page and no other. Browsers say where requests come from; a
/// name that leads to this server may be anybody's, an address is its own.
fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let named = text(header::HOST).and_then(|host| host.parse::<Authority>().ok());
    let is_address = |host: &str| {
        let bare = host.trim_matches(['[', ']']);
        bare.parse::<IpAddr>().is_ok() || host == concat!("local", "host")
    };
    if !named.is_some_and(|named| is_address(named.host())) {
        return false;
    }
    let Some(origin) = text(header::ORIGIN) else { return true };
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some() && host == text(header::HOST)
}

/// Makes something that is within the limit, and sends events: `progress`, and at the end `done` or
/// `failed`.
pub(crate) async fn build(
    state: &Arc<State>,
    wanted: Wanted,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    if !is_from_here(headers) {
        let text = "only the page of this server may have tables made";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "origin", text));
    }
    let (shared, asked) = (Arc::clone(state), wanted.clone());
    let cost = crate::answer::on_thread(state, move || shared.builds.cost(&asked)).await??;
    if !cost.allowed {
        let text = format!(
            "that takes up to {} MB, more than the {} MB that this server may make at a time",
            cost.bytes >> 20,
            cost.limit >> 20
        );
        return Err(Refusal::new(StatusCode::FORBIDDEN, "too-large", text));
    }

    let cancel = state.builds.begin()?;
    let (sender, receiver) = channel(AHEAD);
    let shared = Arc::clone(state);
    tokio::task::spawn_blocking(move || {
        let worked = shared.builds.work(&wanted, &cancel, &sender);
        shared.builds.end();
        let last = match worked {
            Ok(()) => event("done", &json!({})),
            Err(why) => event("failed", &json!({ "code": why.code, "error": why.text })),
        };
        // Who has stopped listening does not care.
        let _ = sender.blocking_send(last);
    });
    Ok(with_body("text/event-stream", Made(receiver).boxed()))
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// How far the work is.
struct Progress<'b> {
    cancel: &'b Cancel,
    to: &'b Sender<Bytes>,
    began: Instant,
    told: Option<Instant>,
    table: String,
    work: u64,
    done: u64,
    skipped: u64,
    finished: usize,
}

impl<'b> Progress<'b> {
    fn new(cancel: &'b Cancel, to: &'b Sender<Bytes>) -> Progress<'b> {
        Progress {
            cancel,
            to,
            began: Instant::now(),
            told: None,
            table: String::new(),
            work: 0,
            done: 0,
            skipped: 0,
            finished: 0,
        }
    }

    fn tell(&mut self, event: Event) {
        match event {
            Event::Begin { work } => self.work += work,
            Event::Table { name } => self.table = name,
            Event::Done { work } => self.done += work,
            Event::Skipped { work } => self.skipped += work,
            Event::Finished { .. } => self.finished += 1,
            _ => {}
        }
        if self.work == 0 || self.told.is_some_and(|told| told.elapsed() < OFTEN) {
            return;
        }
        self.told = Some(Instant::now());
        match self.to.try_send(crate::build::event("progress", &self.to_json())) {
            // There is nobody who waits for it.
            Err(TrySendError::Closed(_)) => self.cancel.cancel(),
            Ok(()) | Err(TrySendError::Full(_)) => {}
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

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let parse = |&(name, value): &(&'static str, &'static str)| {
            let name = header::HeaderName::from_static(name);
            (name, header::HeaderValue::from_static(value))
        };
        lines.iter().map(parse).collect()
    }

    #[test]
    fn pages_of_others_make_nothing() {
        let host = ("host", "127.0.0.1:8080");
        assert!(is_from_here(&headers(&[host])));
        assert!(is_from_here(&headers(&[host, ("origin", "http://127.0.0.1:8080")])));
        for origin in ["http://127.0.0.1:8081", "https://example.org", "null", ""] {
            assert!(!is_from_here(&headers(&[host, ("origin", origin)])), "{origin}");
        }
        // A name of theirs may lead here.
        let theirs = [("host", "example.org:8080"), ("origin", "http://example.org:8080")];
        assert!(!is_from_here(&headers(&theirs)));
        assert!(is_from_here(&headers(&[("host", "[::1]:8080"), ("origin", "http://[::1]:8080")])));
        assert!(!is_from_here(&headers(&[])));
    }

    #[test]
    fn only_endings_are_made_by_name() {
        assert!(ending("KQvK").is_ok());
        for name in ["", "x.xml", "../x", "KQ", "/etc/passwd"] {
            assert_eq!(ending(name).expect_err("none").code, "bad-ending", "{name}");
        }
    }
}
