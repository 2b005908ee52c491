//! Responses, with the headers that all of them have.

use std::convert::Infallible;

use bytes::Bytes;
use hoffman::ProbeError;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

/// A response.
pub(crate) type Reply = Response<BoxBody<Bytes, Infallible>>;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// A word that programs can rely on.
    pub(crate) code: &'static str,
    /// One sentence.
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Refusal {
        Refusal { status, code, text: text.into() }
    }

    /// There is nothing of that name.
    pub(crate) fn not_found(text: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "not-found", text)
    }

    /// As plain text or as JSON.
    pub(crate) fn reply(&self, plain: bool) -> Reply {
        let mut reply = if plain {
            text(&self.text)
        } else {
            json_text(json!({ "code": self.code, "error": self.text }).to_string())
        };
        *reply.status_mut() = self.status;
        reply
    }
}

impl From<ProbeError> for Refusal {
    fn from(error: ProbeError) -> Refusal {
        let status = match &error {
            ProbeError::NoTable { .. } => StatusCode::NOT_FOUND,
            ProbeError::Fen(_) | ProbeError::Impossible(_) | ProbeError::Castling => {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal::new(status, error.code(), error.to_string())
    }
}

/// What the page may do: show and run what comes from here, and nothing else. The men of the board
/// are pictures inside its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A response of that type, in bytes.
pub(crate) fn bytes(kind: &'static str, body: Bytes) -> Reply {
    with_body(kind, Full::new(body).boxed())
}

/// The same with a body that may come in pieces.
pub(crate) fn with_body(kind: &'static str, body: BoxBody<Bytes, Infallible>) -> Reply {
    let mut reply = Response::new(body);
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// Plain text.
pub(crate) fn text(text: &str) -> Reply {
    bytes("text/plain; charset=utf-8", Bytes::from(format!("{text}\n")))
}

/// JSON.
pub(crate) fn json_text(text: String) -> Reply {
    json_bytes(Bytes::from(text))
}

/// JSON in bytes.
pub(crate) fn json_bytes(body: Bytes) -> Reply {
    bytes("application/json", body)
}

/// A value as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Result<Bytes, Refusal> {
    let failed = |error: serde_json::Error| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", error.to_string())
    };
    serde_json::to_vec(value).map(Bytes::from).map_err(failed)
}

/// Adds what every response has; `origin` is who else may read it.
pub(crate) fn finish(reply: &mut Reply, origin: Option<&HeaderValue>) {
    let headers = reply.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let shared = if origin.is_some() { "cross-origin" } else { "same-origin" };
    let policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, HeaderValue::from_static(shared));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
}
