//! How far long work is: a bar on a terminal, a line a minute elsewhere, a file for scripts.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hoffman::process::{resident_memory, write_loosely};
use hoffman::shakmaty::Bitboard;
use hoffman::{Event, PassReport};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use serde_json::json;

use crate::output::{note, say};

/// How often the file for scripts is written.
const STATUS: Duration = Duration::from_secs(1);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_mins(1);

/// A bar without numbers.
const SHARE: &str = "{wide_msg} [{bar:30}] {percent_precise} %, {eta} left";

/// The bar that is shown, where none is at hand.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes a message in the name of the program, beside the bar if there is one.
pub(crate) fn announce(text: &str) {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(|| note(text)),
        None => note(text),
    }
}

/// Shows progress on standard error; the bar disappears when this is dropped.
pub(crate) struct Bar {
    shared: Arc<BarShared>,
    /// Writes lines and the file.
    ticker: Option<JoinHandle<()>>,
}

struct BarShared {
    bar: ProgressBar,
    status: Option<PathBuf>,
    /// Whether lines are written: where the bar cannot be seen.
    lines: bool,
    /// Whether passes are listed.
    passes: bool,
    /// Whether the bar counts positions, which tell a user nothing.
    is_run: bool,
    state: Mutex<WorkState>,
    over: Condvar,
}

/// What is known of the work.
struct WorkState {
    began: Instant,
    phase: &'static str,
    table: String,
    pass: u16,
    done: u64,
    /// The part of `done` that took no time, as it was done before.
    skipped: u64,
    total: u64,
    finished: u64,
    error: Option<String>,
    over: bool,
}

impl WorkState {
    fn fraction(&self) -> f64 {
        if self.total == 0 { 0.0 } else { (self.done as f64 / self.total as f64).min(1.0) }
    }

    /// How long the rest will take, if something can be said.
    fn left(&self) -> Option<Duration> {
        let worked = self.done.checked_sub(self.skipped).filter(|&n| n > 0)?;
        let rest = self.total.checked_sub(self.done)?;
        let seconds = self.began.elapsed().as_secs_f64() * rest as f64 / worked as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// What is being done, in words.
    fn words(&self) -> String {
        match (self.phase, self.pass) {
            ("solving", pass) if pass > 0 => format!("{}, pass {pass}", self.table),
            ("solving" | "", _) => self.table.clone(),
            ("waiting", pass) => format!("{}, pass {pass}, waiting for others", self.table),
            (phase, _) => format!("{phase} {}", self.table),
        }
    }

    fn json(&self) -> String {
        let round = |seconds: f64| (seconds * 10.0).round() / 10.0;
        let percent = (self.fraction() * 1000.0).round() / 10.0;
        let mut text = json!({
            "phase": self.phase,
            "table": self.table,
            "pass": self.pass,
            "percent": percent,
            "done": self.done,
            "total": self.total,
            "finished_tables": self.finished,
            "elapsed_seconds": round(self.began.elapsed().as_secs_f64()),
            "eta_seconds": self.left().map(|left| round(left.as_secs_f64())),
            "memory_bytes": resident_memory(),
            "process": std::process::id(),
            "error": self.error,
        })
        .to_string();
        text.push('\n');
        text
    }
}

impl BarShared {
    /// No code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_status(&self) -> anyhow::Result<()> {
        let Some(path) = &self.status else { return Ok(()) };
        let text = self.state().json();
        Ok(write_loosely(path, text.as_bytes())?)
    }

    fn show(&self) {
        let words = self.state().words();
        self.bar.set_message(words);
    }

    /// Writes lines and the file until the work is over.
    fn tick(&self) {
        let mut line = LINE;
        let mut state = self.state();
        while !state.over {
            let pause = if self.status.is_some() { STATUS } else { LINE };
            let waited = self.over.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.over {
                break;
            }
            if self.lines && state.began.elapsed() >= line {
                line = state.began.elapsed() + LINE;
                let elapsed = HumanDuration(state.began.elapsed());
                let left = state.left().map_or_else(
                    || "time left not known yet".to_owned(),
                    |left| format!("about {} left", HumanDuration(left)),
                );
                let percent = state.fraction() * 100.0;
                note(&format!("{percent:.1} % after {elapsed}, {left}: {}", state.words()));
            }
            drop(state);
            // Nothing depends on it, and the next one may succeed.
            let _ = self.write_status();
            state = self.state();
        }
    }
}

/// What a pass did, in a line: `kpk.htb, pawns a2: won in 5, 312 positions, 0.01 s`.
fn pass_line(table: &str, report: &PassReport) -> String {
    let squares = |set: u64| {
        let set = Bitboard(set);
        set.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
    };
    let PassReport { pawns, won, moves, positions, time } = report;
    let pawns = match (pawns.white, pawns.black) {
        (0, 0) => String::new(),
        (white, 0) => format!(", pawns {}", squares(white)),
        (white, black) => format!(", pawns {} - {}", squares(white), squares(black)),
    };
    let result = if *won { "won" } else { "lost" };
    let seconds = time.as_secs_f64();
    format!("{table}{pawns}: {result} in {moves}, {positions} positions, {seconds:.2} s")
}

impl Bar {
    /// A bar that counts what `unit` names.
    pub(crate) fn new(unit: &str) -> Bar {
        let template = format!("{{wide_msg}} [{{bar:30}}] {{pos}}/{{len}} {unit}, {{eta}} left");
        Bar::with(&template, None, [true, false, false])
    }

    /// A bar that counts what tells a user nothing: only the share is shown.
    pub(crate) fn of_share() -> Bar {
        Bar::with(SHARE, None, [true, false, false])
    }

    /// The progress of a run that makes tables. The file for scripts must be writable.
    pub(crate) fn of_run(
        status: Option<PathBuf>,
        quiet: bool,
        passes: bool,
    ) -> anyhow::Result<Bar> {
        let shown = status.as_ref().map(|path| path.display().to_string());
        let bar = Bar::with(SHARE, status, [!quiet, passes, true]);
        bar.shared
            .write_status()
            .with_context(|| format!("cannot write {}", shown.unwrap_or_default()))?;
        Ok(bar)
    }

    fn with(template: &str, status: Option<PathBuf>, [lines, passes, is_run]: [bool; 3]) -> Bar {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let hidden = bar.is_hidden();
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        if !hidden {
            bar.enable_steady_tick(Duration::from_millis(200));
        }

        let state = WorkState {
            began: Instant::now(),
            phase: "",
            table: String::new(),
            pass: 0,
            done: 0,
            skipped: 0,
            total: 0,
            finished: 0,
            error: None,
            over: false,
        };

        let shared = Arc::new(BarShared {
            bar,
            status,
            lines: lines && hidden,
            passes,
            is_run,
            state: Mutex::new(state),
            over: Condvar::new(),
        });

        let needed = shared.status.is_some() || shared.lines;
        let ticking = Arc::clone(&shared);

        // Without the thread there are no lines, which is no reason not to work.
        let ticker = needed
            .then(|| std::thread::Builder::new().spawn(move || ticking.tick()))
            .and_then(Result::ok);
        Bar { shared, ticker }
    }

    /// Names what is being worked on.
    pub(crate) fn name(&self, name: String) {
        self.shared.state().table = name;
        self.shared.show();
    }

    /// Hides the bar while `f` writes to the terminal.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.shared.bar.suspend(f)
    }

    /// Of the entries of a table that many are done, and so many of the tables before it, of all.
    pub(crate) fn entries(&self, done: u64, before: u64, total: u64) {
        let mut state = self.shared.state();
        (state.done, state.total) = (before + done, total);
        // What a table leads to is read before its first entry is looked at.
        let phase = if done == 0 { "reading the tables behind" } else { "" };
        let is_new = std::mem::replace(&mut state.phase, phase) != phase;
        drop(state);
        if is_new {
            self.shared.show();
        }
        self.shared.bar.set_length(total);
        self.shared.bar.set_position(before + done);
    }

    /// Takes down how a run ended, and passes that on.
    pub(crate) fn end<T, E: Display>(&self, result: Result<T, E>) -> Result<T, E> {
        let mut state = self.shared.state();
        match &result {
            Ok(_) => state.done = state.total,
            Err(error) => state.error = Some(error.to_string()),
        }
        state.phase = if result.is_ok() { "done" } else { "failed" };
        result
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.state().over = true;
        self.shared.over.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        if self.shared.is_run {
            let _ = self.shared.write_status();
        }
        self.shared.bar.finish_and_clear();
    }
}

impl Bar {
    /// Shows what happened.
    pub(crate) fn tell(&self, event: Event) {
        match event {
            Event::Begin { work } => self.begin(work),
            Event::Table { name } => {
                let mut state = self.shared.state();
                state.pass = 0;
                state.table = name;
                drop(state);
                self.shared.show();
            }
            Event::Phase(phase) => {
                self.shared.state().phase = phase.name();
                self.shared.show();
            }
            Event::Pass { moves } => {
                self.shared.state().pass = moves;
                // Small slices have thousands of passes, too many to read.
                if !self.shared.bar.is_hidden() {
                    self.shared.show();
                }
            }
            Event::Passed(report) if self.shared.passes => {
                let table = self.shared.state().table.clone();
                self.suspend(|| say(&pass_line(&table, &report)));
            }
            Event::Done { work } => {
                self.shared.state().done += work;
                self.shared.bar.inc(work);
            }
            Event::Skipped { work } => self.skip(work),
            Event::Finished { .. } => self.shared.state().finished += 1,
            Event::Entries { done, total } => self.entries(done, 0, total),
            Event::Notice { text } => self.suspend(|| note(&text)),
            _ => {}
        }
    }

    fn begin(&self, work: u64) {
        let mut state = self.shared.state();
        (state.done, state.skipped, state.total) = (0, 0, work);
        state.began = Instant::now();
        drop(state);
        self.shared.bar.set_length(work);
        self.shared.bar.set_position(0);
        self.shared.bar.reset_eta();
    }

    fn skip(&self, work: u64) {
        let mut state = self.shared.state();
        state.done += work;
        state.skipped += work;
        drop(state);
        self.shared.bar.inc(work);
        self.shared.bar.reset_eta();
    }
}
