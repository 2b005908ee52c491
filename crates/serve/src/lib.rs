//! Chess endgame tables over HTTP, and a page to look at them.
//!
//! From above downwards: `server` takes connections and ends, `answer` turns a request into a
//! response, by way of `route` (what is asked for), `library` (which tables answer), `shown`,
//! `lichess`, `heat` and `positions` (answers in their shapes), `batch` (many at once), `build`
//! (tables that are missing), `prove` (positions that tables do not have) and `count` (large
//! tables), which do `long_work`; `proofs` keeps what came of it. `limits` and `rate` say how
//! much of it; `metrics` counts. The page is in `assets`, its files in the folder of that name.
#![forbid(unsafe_code)]

mod answer;
mod assets;
mod batch;
mod build;
mod count;
mod heat;
mod library;
mod lichess;
mod limits;
mod long_work;
mod metrics;
mod positions;
mod proofs;
mod prove;
mod rate;
mod response;
mod route;
mod server;
mod shown;
mod stream;

pub use limits::ServerLimits;
pub use server::{Config, ServeError, Server};
