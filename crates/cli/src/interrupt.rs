//! What happens when somebody wants the program to end: Ctrl-C, or a request to terminate.

use std::sync::OnceLock;

use hoffman_run::Stop;

/// Set once a command runs that can stop at a safe point.
static STOP: OnceLock<Stop> = OnceLock::new();

/// The request to stop that the first signal makes. The second ends the program at once, and so does the
/// first if nobody asked for this; unfinished files are removed in any case.
pub(crate) fn stop() -> Stop {
    STOP.get_or_init(Stop::default).clone()
}

/// Watches for signals from now on.
#[cfg(unix)]
pub(crate) fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // A hang-up is left alone: whoever wants to go on without a terminal ignores it.
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            match STOP.get() {
                Some(stop) if !stop.is_requested() => {
                    stop.request();
                    crate::output::note(
                        "stopping at the next safe point; interrupt once more to stop at once",
                    );
                }
                graceful => end(signal, graceful.is_some()),
            }
        }
    })?;
    Ok(())
}

/// Ends the process.
#[cfg(unix)]
fn end(signal: i32, was_asked: bool) {
    hoffman_store::Disk::shared().abandon();
    if !was_asked {
        // As if nobody had watched, so that a shell sees why.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    #[expect(clippy::exit, reason = "the other threads are busy and are not to be waited for")]
    std::process::exit(1);
}

/// Elsewhere the system ends the program; the next run removes what it left.
#[cfg(not(unix))]
pub(crate) fn install() -> std::io::Result<()> {
    Ok(())
}
