//! Many positions at once, answered in order as they are worked out.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::json;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, sleep, timeout_at};

use crate::answer::{ServerState, on_thread};
use crate::response::{Refusal, Reply, with_body};
use crate::route::{ChessRules, position_text};
use crate::stream::MadeBody;

/// Lines that are answered together.
const GROUP: usize = 16;

/// Groups of answers that may wait for a slow reader.
const AHEAD: usize = 4;

/// Answers a FEN a line, or an array of them in JSON, with a line of JSON each. Blank lines are
/// passed over.
pub(crate) fn batch(
    state: &Arc<ServerState>,
    peer: IpAddr,
    kind: Option<&HeaderValue>,
    body: &[u8],
) -> Result<Reply, Refusal> {
    let wrong = |text: &str| Refusal::new(StatusCode::BAD_REQUEST, "bad-text", text);
    let lines: Vec<String> = if is_json(kind) {
        let told = "the body is not an array of FENs in JSON";
        serde_json::from_slice(body).map_err(|_| wrong(told))?
    } else {
        let text = std::str::from_utf8(body).map_err(|_| wrong("the body is not UTF-8"))?;
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let (sender, receiver) = channel(AHEAD);
    tokio::spawn(answer_lines(Arc::clone(state), peer, lines, sender));
    Ok(with_body("application/x-ndjson", MadeBody(receiver).boxed()))
}

/// Whether the type of a body is that of JSON, whatever parameters stand behind it.
fn is_json(kind: Option<&HeaderValue>) -> bool {
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// Sends answers until all are sent, nobody takes them any more, or time is up.
async fn answer_lines(
    state: Arc<ServerState>,
    peer: IpAddr,
    lines: Vec<String>,
    to: Sender<Bytes>,
) {
    let end = Instant::now() + state.limits.batch();
    for group in lines.chunks(GROUP) {
        let answers = answer_group(&state, peer, group.to_vec());
        let Ok(answers) = timeout_at(end, answers).await else {
            let late = Refusal::new(StatusCode::OK, "time", "the batch took too long");
            let _ = to.send(line_of(&late)).await;
            return;
        };
        if to.send(answers).await.is_err() {
            return;
        }
    }
}

/// A batch is not refused for its length; it waits for its turn.
async fn answer_group(state: &Arc<ServerState>, peer: IpAddr, group: Vec<String>) -> Bytes {
    let count = group.len() as u32;
    while let Err(wait) = state.rate.take(peer, count) {
        sleep(wait.max(Duration::from_millis(1))).await;
    }
    state.metrics.lines.fetch_add(u64::from(count), Relaxed);
    let shared = Arc::clone(state);
    let work = move || {
        let mut out = Vec::new();
        for line in group {
            let answer = position_text(&line)
                .and_then(|position| shared.position_json(ChessRules::Chess, &position));
            match answer {
                Ok(json) => out.extend_from_slice(&json),
                Err(refusal) => out.extend_from_slice(line_of(&refusal).trim_ascii_end()),
            }
            out.push(b'\n');
        }
        Bytes::from(out)
    };
    on_thread(state, work).await.unwrap_or_else(|refusal| line_of(&refusal))
}

fn line_of(refusal: &Refusal) -> Bytes {
    let json = json!({ "code": refusal.code, "error": refusal.text });
    Bytes::from(format!("{json}\n"))
}
