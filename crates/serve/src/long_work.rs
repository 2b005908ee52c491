//! Work that takes long, one at a time for all: its progress as server-sent events. Who stops
//! listening stops the work.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hoffman::Cancel;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use hyper::http::uri::Authority;
use serde_json::{Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};

use crate::answer::ServerState;
use crate::response::{Refusal, Reply, with_body};
use crate::stream::MadeBody;

/// How often progress is told.
const OFTEN: Duration = Duration::from_millis(200);

/// Events that may wait for who listens.
const AHEAD: usize = 64;

/// The one place for such work.
#[derive(Debug, Default)]
pub(crate) struct LongWork {
    /// What stops the work that is being done.
    running: Mutex<Option<Cancel>>,
}

impl LongWork {
    /// Takes the place for work that this stops.
    fn begin(&self, cancel: &Cancel) -> Result<(), Refusal> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            let text = "this server is at work for somebody else; try again when that is done";
            return Err(Refusal::new(StatusCode::CONFLICT, "busy", text));
        }
        *running = Some(cancel.clone());
        Ok(())
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
}

/// Who waits for the work.
pub(crate) struct Listener<'l> {
    cancel: &'l Cancel,
    to: &'l Sender<Bytes>,
    told: Option<Instant>,
}

impl Listener<'_> {
    /// What stops the work.
    pub(crate) fn cancel(&self) -> &Cancel {
        self.cancel
    }

    /// Tells how far the work is, unless that was told just now.
    pub(crate) fn tell(&mut self, progress: impl FnOnce() -> Value) {
        if self.told.is_some_and(|told| told.elapsed() < OFTEN) {
            return;
        }
        self.told = Some(Instant::now());
        match self.to.try_send(event("progress", &progress())) {
            // There is nobody who waits for it.
            Err(TrySendError::Closed(_)) => self.cancel.cancel(),
            Ok(()) | Err(TrySendError::Full(_)) => {}
        }
    }
}

/// Works until it is stopped by `cancel`, and sends events: `progress`, and at the end `done` with
/// what came of it, or `failed`.
pub(crate) fn stream(
    state: &Arc<ServerState>,
    cancel: Cancel,
    work: impl FnOnce(&ServerState, &mut Listener<'_>) -> Result<Value, Refusal> + Send + 'static,
) -> Result<Reply, Refusal> {
    state.long_work.begin(&cancel)?;
    let (sender, receiver) = channel(AHEAD);
    let shared = Arc::clone(state);
    tokio::task::spawn_blocking(move || {
        let mut listener = Listener { cancel: &cancel, to: &sender, told: None };
        let worked = work(&shared, &mut listener);
        shared.long_work.end();
        let last = match worked {
            Ok(found) => event("done", &found),
            Err(why) => event("failed", &json!({ "code": why.code, "error": why.text })),
        };
        // Who has stopped listening does not care.
        let _ = sender.blocking_send(last);
    });
    Ok(with_body("text/event-stream", MadeBody(receiver).boxed()))
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Refuses requests that come from elsewhere than the page of this server.
pub(crate) fn only_from_here(headers: &HeaderMap) -> Result<(), Refusal> {
    if is_from_here(headers) {
        return Ok(());
    }
    let text = "only the page of this server may ask for work";
    Err(Refusal::new(StatusCode::FORBIDDEN, "origin", text))
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
}
