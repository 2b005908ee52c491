//! What happens when the program is to end: Ctrl-C, or a request to terminate.

#[cfg(unix)]
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
#[cfg(unix)]
use std::time::Duration;

use hoffman::Cancel;

/// Set once a command runs that can stop at a safe point.
static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// The exit code of a job that may do its work later.
pub(crate) const TRY_AGAIN: u8 = 3;

/// The exit code of a process that is ended at once.
static ENDS_WITH: AtomicU8 = AtomicU8::new(1);

/// How long a safe point is waited for.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(10);

/// The request to stop that the first signal makes. The second ends the program at once, as the
/// first does after ten seconds, or if no work watches; unfinished files are removed in any
/// case.
pub(crate) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// From now on a process that is ended at once says that its work may be done later.
pub(crate) fn end_with_try_again() {
    ENDS_WITH.store(TRY_AGAIN, Ordering::Relaxed);
}

/// Watches for signals from now on.
#[cfg(unix)]
pub(crate) fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    // Where the size of files is limited writing fails instead, which is reported as for a full
    // disk.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    // A hang-up is left alone: a run that is to go on without a terminal ignores it.
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        signals.forever().for_each(obey);
    })?;
    Ok(())
}

/// The first signal stops the work at a safe point, the second one at once.
#[cfg(unix)]
fn obey(signal: i32) {
    match CANCEL.get() {
        Some(cancel) if !cancel.is_cancelled() => {
            cancel.cancel();
            crate::progress::announce(
                "stopping at the next safe point; interrupt once more to stop at once",
            );
            end_later(signal);
        }
        graceful => end(signal, graceful.is_some()),
    }
}

/// Ends the process if it goes on for too long.
#[cfg(unix)]
fn end_later(signal: i32) {
    let thread = std::thread::Builder::new().name("patience".to_owned());
    // Without the thread a second signal has to do it.
    let _ = thread.spawn(move || lose_patience(signal));
}

#[cfg(unix)]
fn lose_patience(signal: i32) {
    std::thread::sleep(PATIENCE);
    let seconds = PATIENCE.as_secs();
    crate::progress::announce(&format!("no safe point in {seconds} seconds; stopping at once"));
    end(signal, true);
}

/// Ends the process.
#[cfg(unix)]
fn end(signal: i32, was_asked: bool) {
    hoffman::process::abandon_files();
    if !was_asked {
        // As without a watch, so that a shell sees why.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    #[expect(clippy::exit, reason = "the other threads are busy and are not to be waited for")]
    std::process::exit(i32::from(ENDS_WITH.load(Ordering::Relaxed)));
}

/// Elsewhere the system ends the program; the next run removes what it left.
#[cfg(not(unix))]
pub(crate) fn install() -> std::io::Result<()> {
    Ok(())
}
