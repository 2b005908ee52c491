//! The page and its files, which are part of the program.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderValue};

use crate::response::{Refusal, Reply, bytes};

/// What can be asked for, for programs that make clients.
pub(crate) const DESCRIPTION: &[u8] = include_bytes!("../assets/openapi.json");

/// A file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    packed: OnceLock<PackedAsset>,
}

/// A file as it is sent.
struct PackedAsset {
    gzip: Bytes,
    tag: HeaderValue,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the folder `assets`.
macro_rules! asset {
    ($path:literal, $kind:expr, $file:literal) => {
        Asset {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../assets/", $file)),
            packed: OnceLock::new(),
        }
    };
}

static ASSETS: [Asset; 13] = [
    asset!("/", HTML, "page.html"),
    asset!("/assets/page.css", CSS, "page.css"),
    asset!("/assets/board.css", CSS, "board.css"),
    asset!("/assets/page.js", SCRIPT, "page.js"),
    asset!("/assets/board.js", SCRIPT, "board.js"),
    asset!("/assets/build.js", SCRIPT, "build.js"),
    asset!("/assets/charts.js", SCRIPT, "charts.js"),
    asset!("/assets/game.js", SCRIPT, "game.js"),
    asset!("/assets/panels.js", SCRIPT, "panels.js"),
    asset!("/assets/tables.js", SCRIPT, "tables.js"),
    asset!("/assets/words.js", SCRIPT, "words.js"),
    asset!("/assets/chessground.js", SCRIPT, "chessground.js"),
    asset!("/assets/icon.svg", "image/svg+xml", "icon.svg"),
];

impl Asset {
    fn packed(&self) -> &PackedAsset {
        self.packed.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.bytes.hash(&mut hasher);
            let tag = format!("\"{:016x}\"", hasher.finish());
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            // Nothing can fail in memory; what did would be sent as it is.
            let gzip = encoder.write_all(self.bytes).and_then(|()| encoder.finish());
            PackedAsset {
                gzip: gzip.map(Bytes::from).unwrap_or_default(),
                tag: HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\"")),
            }
        })
    }
}

/// A file of the page, by the path under which it is asked for.
pub(crate) fn file(path: &str, headers: &HeaderMap) -> Result<Reply, Refusal> {
    let asset = ASSETS.iter().find(|asset| asset.path == path);
    let asset = asset.ok_or_else(|| Refusal::not_found("there is nothing of that name"))?;
    let PackedAsset { gzip, tag } = asset.packed();

    let known = headers.get(header::IF_NONE_MATCH) == Some(tag);
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_packed = accepted.is_some_and(accepts_gzip) && !gzip.is_empty();
    let mut reply = match (known, is_packed) {
        (true, _) => bytes(asset.kind, Bytes::new()),
        (_, true) => bytes(asset.kind, gzip.clone()),
        (_, false) => bytes(asset.kind, Bytes::from_static(asset.bytes)),
    };
    if known {
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
    } else if is_packed {
        let gzip = HeaderValue::from_static("gzip");
        reply.headers_mut().insert(header::CONTENT_ENCODING, gzip);
    }
    reply.headers_mut().insert(header::ETAG, tag.clone());
    reply.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Ok(reply)
}

/// Whether a client takes what is packed. One that sets a weight of 0 does not.
fn accepts_gzip(accepted: &str) -> bool {
    accepted.split(',').map(str::trim).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}
