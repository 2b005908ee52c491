//! Counting and listing tables that take longer than a client waits: work with its progress, where
//! the owner of the server gives the memory for it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hoffman::process::available_memory;
use hoffman::{ListQuery, STACK, Threads};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde_json::{Value, json};

use crate::answer::{ServerState, on_thread};
use crate::library::{CountCost, FolderFile, HeldTable, threads_of_work};
use crate::long_work::{Listener, only_from_here, stream};
use crate::positions::positions;
use crate::response::{Refusal, Reply};

/// How often it is looked whether the work is done.
const GLANCE: Duration = Duration::from_millis(50);

/// What is asked of a table.
#[derive(Clone, Debug)]
pub(crate) enum TableQuestion {
    /// What it contains.
    Contents,
    /// The first positions of a list.
    Positions(Box<ListQuery>),
}

/// Answers a question about a table, and sends events: `progress`, and at the end `done` with the
/// answer or `failed`.
pub(crate) async fn count(
    state: &Arc<ServerState>,
    name: String,
    asked: TableQuestion,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    only_from_here(headers)?;
    let shared = Arc::clone(state);
    let entry = on_thread(state, move || shared.tables.entry(&name)).await?;
    let entry = entry.ok_or_else(|| Refusal::not_found("there is no such table"))?;
    let cost = entry.cost().filter(|cost| cost.bytes <= state.limits.counting);
    let cost = cost.filter(|_| state.limits.counting > 0).ok_or_else(|| not_here(&entry))?;

    // A table that is held goes on being read under what may end its reading.
    let cancel = state.tables.held_cancel(&entry);
    if cancel.is_none() && available_memory().is_some_and(|free| free < cost.bytes) {
        let text = format!("{} takes more memory than is free", entry.name());
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "memory", text));
    }
    let cancel = cancel.unwrap_or_default();
    stream(state, cancel.clone(), move |state, listener| {
        let held = state.tables.take_held(&entry);
        let work = || {
            let held = held.map_or_else(|| entry.hold(cancel), Ok)?;
            let answer = answer(&entry, &held, &asked)?;
            Ok((held, answer))
        };
        let (held, answer) = with_progress(&entry, cost, listener, work)?;
        state.tables.keep_held(held);
        answer_as_json(&answer)
    })
}

fn not_here(entry: &FolderFile) -> Refusal {
    let text = format!(
        "{} takes more memory to be counted than this server may use for that; its owner may let \
         it with --count, and 'hoffman stats' counts it",
        entry.name()
    );
    Refusal::new(StatusCode::FORBIDDEN, "too-large", text)
}

fn answer(entry: &FolderFile, held: &HeldTable, asked: &TableQuestion) -> Result<Bytes, Refusal> {
    match asked {
        TableQuestion::Contents => {
            if let Some(stats) = entry.known_stats() {
                return Ok(stats);
            }
            let stats = held.lists.stats().map_err(|error| entry.failed(&error))?;
            entry.keep_stats(&stats)
        }
        TableQuestion::Positions(query) => {
            positions(&held.lists, query).map_err(|error| entry.failed(&error))
        }
    }
}

fn answer_as_json(answer: &Bytes) -> Result<Value, Refusal> {
    serde_json::from_slice(answer).map_err(|error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", error.to_string())
    })
}

/// Works on the threads for such work, and tells meanwhile how long that has taken and may take.
fn with_progress<R: Send>(
    entry: &FolderFile,
    cost: CountCost,
    listener: &mut Listener<'_>,
    work: impl FnOnce() -> Result<R, Refusal> + Send,
) -> Result<R, Refusal> {
    let began = Instant::now();
    thread::scope(|scope| {
        let working = scope.spawn(|| Threads::new(threads_of_work(), STACK).install(work));
        while !working.is_finished() {
            listener.tell(|| {
                json!({
                    "table": entry.name(),
                    "seconds": began.elapsed().as_secs_f64(),
                    "seconds_expected": cost.seconds,
                })
            });
            thread::sleep(GLANCE);
        }
        working.join().unwrap_or_else(|_| {
            let text = "the table could not be counted";
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", text))
        })
    })
}
