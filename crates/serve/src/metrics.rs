//! What the server has done, as Prometheus reads it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use hyper::StatusCode;

use crate::route::{Endpoint, ROUTES};

/// Upper ends of the ranges of times, in microseconds.
const TIMES: [u64; 9] = [100, 250, 1_000, 2_500, 10_000, 50_000, 250_000, 1_000_000, 10_000_000];

/// The first digits of states that are counted.
const CLASSES: [u16; 4] = [2, 3, 4, 5];

/// Counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// By what was asked for and the first digit of the state.
    requests: [[AtomicU64; CLASSES.len()]; ROUTES.len()],
    /// How many answers were made in these times, and how many in longer ones.
    times: [AtomicU64; TIMES.len() + 1],
    microseconds: AtomicU64,
    /// Positions that were answered in batches.
    pub(crate) lines: AtomicU64,
    /// Answers that were there already.
    pub(crate) remembered: AtomicU64,
    /// Connections that were refused, since there were too many.
    pub(crate) refused: AtomicU64,
    /// Open connections.
    pub(crate) connections: AtomicU64,
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn count(&self, route: Endpoint, status: StatusCode, time: Duration) {
        let class = CLASSES.iter().position(|&class| status.as_u16() / 100 == class);
        let counters = ROUTES.iter().position(|&other| other == route).map(|at| &self.requests[at]);
        if let (Some(counters), Some(class)) = (counters, class) {
            counters[class].fetch_add(1, Relaxed);
        }
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let range = TIMES.iter().position(|&end| micros <= end).unwrap_or(TIMES.len());
        self.times[range].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(micros, Relaxed);
    }

    /// All of them as text.
    pub(crate) fn to_text(&self, tables: usize) -> String {
        let mut out = String::new();
        let name = "hoffman_http_requests_total";
        let _ =
            writeln!(out, "# HELP {name} Answers by what was asked for.\n# TYPE {name} counter");

        for (route, counters) in ROUTES.iter().zip(&self.requests) {
            for (class, counter) in CLASSES.iter().zip(counters) {
                let (route, count) = (route.name(), counter.load(Relaxed));
                let _ = writeln!(out, "{name}{{route=\"{route}\",code=\"{class}xx\"}} {count}");
            }
        }

        let name = "hoffman_http_request_duration_seconds";
        let help = "Time from the head of a request to that of its answer.";
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut sum = 0;

        for (at, counter) in self.times.iter().enumerate() {
            sum += counter.load(Relaxed);
            let end =
                TIMES.get(at).map_or("+Inf".to_owned(), |&end| (end as f64 / 1e6).to_string());
            let _ = writeln!(out, "{name}_bucket{{le=\"{end}\"}} {sum}");
        }

        let seconds = self.microseconds.load(Relaxed) as f64 / 1e6;
        let _ = writeln!(out, "{name}_sum {seconds}\n{name}_count {sum}");

        let others = [
            ("batch_lines_total", "counter", "Positions of batches.", &self.lines),
            ("remembered_answers_total", "counter", "Answers made before.", &self.remembered),
            ("refused_connections_total", "counter", "Connections too many.", &self.refused),
            ("connections", "gauge", "Open connections.", &self.connections),
        ];

        for (name, kind, help, counter) in others {
            let count = counter.load(Relaxed);
            let _ = writeln!(out, "# HELP hoffman_{name} {help}\n# TYPE hoffman_{name} {kind}");
            let _ = writeln!(out, "hoffman_{name} {count}");
        }

        let _ = writeln!(out, "# HELP hoffman_tables Tables.\n# TYPE hoffman_tables gauge");
        let _ = writeln!(out, "hoffman_tables {tables}");
        out
    }
}
