//! From a request to a response.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hoffman::{MEN_OF_TABLES, Variant};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::assets;
use crate::batch::batch;
use crate::build::{Builds, WantedTables, build};
use crate::count::{TableQuestion, count};
use crate::heat::heat;
use crate::library::{FolderFile, Library, is_complete};
use crate::lichess::{is_chess, main_line, unanswered};
use crate::limits::ServerLimits;
use crate::long_work::LongWork;
use crate::metrics::Metrics;
use crate::positions::query_of;
use crate::proofs::KeptProofs;
use crate::prove::prove;
use crate::rate::Rate;
use crate::response::{Refusal, Reply, bytes, finish, json_bytes, json_text, text, to_json};
use crate::route::{ChessRules, Endpoint, parameter, position_of, wanted};
use crate::shown::Shown;

/// The answers that are remembered, in bytes.
const REMEMBERED: u64 = 32 << 20;

/// How much of what an address may ask a man on all squares is.
const HEAT_COST: u32 = 8;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) tables: Library,
    pub(crate) limits: ServerLimits,
    pub(crate) rate: Rate,
    pub(crate) metrics: Metrics,
    pub(crate) builds: Builds,
    /// How long a position may be proved; none if that is not done.
    pub(crate) prove: Option<Duration>,
    pub(crate) proofs: KeptProofs,
    pub(crate) long_work: LongWork,
    /// Who else may read the answers.
    pub(crate) origin: Option<HeaderValue>,
    /// Answers to whole positions, which tables that come later do not change.
    remembered: Cache<(ChessRules, String), Bytes, Weight>,
    /// So much is worked out at a time.
    work: Arc<Semaphore>,
    /// One table is counted at a time.
    counting: Arc<Semaphore>,
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<(ChessRules, String), Bytes> for Weight {
    fn weight(&self, key: &(ChessRules, String), value: &Bytes) -> u64 {
        (key.1.len() + value.len()) as u64 + 128
    }
}

impl ServerState {
    pub(crate) fn new(
        tables: Library,
        limits: ServerLimits,
        (builds, prove): (Builds, Option<Duration>),
        origin: Option<HeaderValue>,
        threads: usize,
    ) -> ServerState {
        ServerState {
            tables,
            rate: Rate::new(limits.rate),
            limits,
            metrics: Metrics::default(),
            builds,
            prove,
            proofs: KeptProofs::default(),
            long_work: LongWork::default(),
            origin,
            remembered: Cache::with_weighter(1 << 14, REMEMBERED, Weight),
            work: Arc::new(Semaphore::new(threads)),
            counting: Arc::new(Semaphore::new(1)),
        }
    }

    /// The answer to a position in the shape of the Lichess tablebase server.
    pub(crate) fn position_json(
        &self,
        rules: ChessRules,
        position: &str,
    ) -> Result<Bytes, Refusal> {
        if let Some(answer) = self.remembered(rules, position) {
            return Ok(answer);
        }
        let report = match self.tables.report(rules, position) {
            Ok(report) => report,
            Err(why) if why.status == StatusCode::BAD_REQUEST && rules == ChessRules::Chess => {
                let answer = unanswered(&self.tables, position, &why).ok_or(why)?;
                return to_json(&answer);
            }
            Err(why) => return Err(why),
        };
        let answer = to_json(&report)?;
        if is_complete(&report) {
            self.remembered.insert((rules, position.to_owned()), answer.clone());
        }
        Ok(answer)
    }

    fn remembered(&self, rules: ChessRules, position: &str) -> Option<Bytes> {
        let answer = self.remembered.get(&(rules, position.to_owned()))?;
        self.metrics.remembered.fetch_add(1, Relaxed);
        Some(answer)
    }
}

/// Answers a request, whatever it is.
pub(crate) async fn answer(
    state: Arc<ServerState>,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Reply {
    let start = Instant::now();
    let route = Endpoint::of(request.uri().path());
    let answered = timeout(state.limits.answer(), respond(&state, peer, route, request)).await;
    let late = || {
        let text = "the answer took too long";
        Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "time", text))
    };
    let plain = route.is_of_lichess();
    let mut reply = answered.unwrap_or_else(|_| late()).unwrap_or_else(|no| no.reply(plain));

    let again = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
    if again.contains(&reply.status()) {
        reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    finish(&mut reply, state.origin.as_ref());
    state.metrics.count(route, reply.status(), start.elapsed());
    reply
}

async fn respond(
    state: &Arc<ServerState>,
    peer: IpAddr,
    route: Endpoint,
    request: Request<Incoming>,
) -> Result<Reply, Refusal> {
    let cost = if route == Endpoint::Heat { HEAT_COST } else { 1 };
    if state.rate.take(peer, cost).is_err() {
        let text = "too many requests from one address";
        return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate", text));
    }

    if route == Endpoint::Nothing {
        return Err(Refusal::not_found("there is nothing of that name"));
    }
    let method = request.method();
    if !route.takes(method) {
        let mut reply = refused_method(route);
        reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(route.allowed()));
        return Ok(reply);
    }

    if method == Method::OPTIONS {
        return Ok(options(route, state.origin.is_some()));
    }
    if route == Endpoint::Batch {
        let kind = request.headers().get(header::CONTENT_TYPE).cloned();
        let body = body_of(state, request).await?;
        return batch(state, peer, kind.as_ref(), &body);
    }

    if !request.body().is_end_stream() {
        let text = "such a request has no body";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "body", text));
    }

    if route == Endpoint::Prove {
        return prove(state, request.uri().query(), request.headers());
    }
    if route == Endpoint::Build {
        return build(state, wanted_by(request.uri().query())?, request.headers()).await;
    }
    if method == Method::POST {
        return post_count(state, route, &request).await;
    }
    get(state, route, &request).await
}

/// What large tables contain, and lists of them.
async fn post_count(
    state: &Arc<ServerState>,
    route: Endpoint,
    request: &Request<Incoming>,
) -> Result<Reply, Refusal> {
    let query = request.uri().query();
    let asked = match route {
        Endpoint::List => TableQuestion::Positions(Box::new(query_of(query)?)),
        _ => TableQuestion::Contents,
    };
    count(state, wanted(query, "table")?, asked, request.headers()).await
}

fn refused_method(route: Endpoint) -> Reply {
    let text = format!("use {}", route.allowed());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", text).reply(route.is_of_lichess())
}

/// What may be asked, also for pages of others if they are let in.
fn options(route: Endpoint, is_shared: bool) -> Reply {
    let mut reply = bytes("text/plain", Bytes::new());
    *reply.status_mut() = StatusCode::NO_CONTENT;
    let allowed = HeaderValue::from_static(route.allowed());
    reply.headers_mut().insert(header::ALLOW, allowed.clone());
    if is_shared {
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_METHODS, allowed);
        let any = HeaderValue::from_static("content-type");
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, any);
    }
    reply
}

/// The body of a request, if it comes in time and is not too large.
async fn body_of(state: &ServerState, request: Request<Incoming>) -> Result<Bytes, Refusal> {
    let body = Limited::new(request.into_body(), state.limits.body).collect();
    match timeout(state.limits.patience, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            let text = format!("the body is larger than {} bytes", state.limits.body);
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body", text))
        }
        Ok(Err(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "body", "the body cannot be read")),
        Err(_) => {
            let text = "the body took too long";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "time", text))
        }
    }
}

async fn get(
    state: &Arc<ServerState>,
    route: Endpoint,
    request: &Request<Incoming>,
) -> Result<Reply, Refusal> {
    let query = request.uri().query();
    match route {
        Endpoint::Page => assets::file(request.uri().path(), request.headers()),
        Endpoint::Position(rules) => {
            let position = position_of(query)?;
            // What is there already needs no thread.
            if let Some(answer) = state.remembered(rules, &position) {
                return Ok(json_bytes(answer));
            }
            json(state, move |state| state.position_json(rules, &position)).await
        }
        Endpoint::Mainline(rules) => {
            let position = position_of(query)?;
            json(state, move |state| main_line_json(state, rules, &position)).await
        }
        Endpoint::Shown => {
            let position = position_of(query)?;
            json(state, move |state| shown_json(state, &position)).await
        }
        Endpoint::Heat => {
            let (position, square) = (position_of(query)?, wanted(query, "square")?);
            json(state, move |state| {
                let report = state.tables.report(ChessRules::Chess, &position)?;
                to_json(&heat(&state.tables, &report.position, &square)?)
            })
            .await
        }
        Endpoint::Tables => json(state, |state| state.tables.list(&state.limits)).await,
        Endpoint::Plan => plan(state, query).await,
        Endpoint::Stats => {
            let count = |_: &Library, entry: &FolderFile, most| entry.stats(most);
            counted(state, wanted(query, "table")?, count).await
        }
        Endpoint::List => {
            let (table, asked) = (wanted(query, "table")?, query_of(query)?);
            let list = move |tables: &Library, entry: &FolderFile, most| {
                tables.positions(entry, &asked, most)
            };
            counted(state, table, list).await
        }
        Endpoint::Health => Ok(text("ok")),
        Endpoint::Metrics => {
            let shared = Arc::clone(state);
            let count = on_thread(state, move || shared.tables.count()).await?;
            let body = Bytes::from(state.metrics.to_text(count));
            Ok(bytes("text/plain; version=0.0.4; charset=utf-8", body))
        }
        Endpoint::Description => Ok(json_bytes(Bytes::from_static(assets::DESCRIPTION))),
        Endpoint::Batch | Endpoint::Build | Endpoint::Prove | Endpoint::Nothing => {
            Err(Refusal::not_found("there is nothing of that name"))
        }
    }
}

fn main_line_json(
    state: &ServerState,
    rules: ChessRules,
    position: &str,
) -> Result<Bytes, Refusal> {
    let report = match state.tables.report(rules, position) {
        // No table can have it, which is no mistake of the question.
        Err(why)
            if why.status == StatusCode::BAD_REQUEST
                && rules == ChessRules::Chess
                && is_chess(position) =>
        {
            return Err(Refusal { status: StatusCode::NOT_FOUND, ..why });
        }
        report => report?,
    };
    to_json(&main_line(&report)?)
}

fn shown_json(state: &ServerState, position: &str) -> Result<Bytes, Refusal> {
    let report = state.tables.report(ChessRules::Chess, position)?;
    to_json(&Shown::new(&report, Variant::Normal, &state.proofs))
}

/// What is to be made: an ending, or what a position needs.
fn wanted_by(query: Option<&str>) -> Result<WantedTables, Refusal> {
    match parameter(query, "ending") {
        Some(ending) => Ok(WantedTables::Ending(ending)),
        None => Ok(WantedTables::Position(position_of(query)?)),
    }
}

/// What making tables would take; without a question, what may be made and proved at all.
async fn plan(state: &Arc<ServerState>, query: Option<&str>) -> Result<Reply, Refusal> {
    if query.is_none_or(str::is_empty) {
        let seconds = state.prove.map(|time| time.as_secs());
        let may = json!({ "limit": state.builds.limit(), "prove": seconds, "men": MEN_OF_TABLES });
        return Ok(json_text(may.to_string()));
    }
    let wanted = wanted_by(query)?;
    json(state, move |state| to_json(&state.builds.cost(&wanted)?)).await
}

/// What is counted of a table. Others do not wait for that.
async fn counted(
    state: &Arc<ServerState>,
    name: String,
    count: impl FnOnce(&Library, &FolderFile, u64) -> Result<Bytes, Refusal> + Send + 'static,
) -> Result<Reply, Refusal> {
    let turn = Arc::clone(&state.counting).acquire_owned().await.map_err(ended)?;
    let shared = Arc::clone(state);
    let counted = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let entry = shared.tables.entry(&name);
        let entry = entry.ok_or_else(|| Refusal::not_found("there is no such table"))?;
        count(&shared.tables, &entry, shared.limits.counted)
    });
    Ok(json_bytes(counted.await.map_err(ended)??))
}

/// Works an answer out and sends it as JSON.
async fn json(
    state: &Arc<ServerState>,
    work: impl FnOnce(&ServerState) -> Result<Bytes, Refusal> + Send + 'static,
) -> Result<Reply, Refusal> {
    let shared = Arc::clone(state);
    Ok(json_bytes(on_thread(state, move || work(&shared)).await??))
}

/// Works something out beside the threads that serve connections.
pub(crate) async fn on_thread<R: Send + 'static>(
    state: &ServerState,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Refusal> {
    let turn = Arc::clone(&state.work).acquire_owned().await.map_err(ended)?;
    let working = tokio::task::spawn_blocking(move || {
        // Work goes on when nobody waits for it any more, and takes its turn for as long.
        let _turn = turn;
        work()
    });
    working.await.map_err(ended)
}

/// Something ended that should not have.
fn ended<E>(_: E) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "the answer could not be made")
}

/// How long a stop is waited for.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
