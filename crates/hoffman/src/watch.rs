//! When a search is to end, also in the midst of reading a table.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use hoffman_solve::Monitor;
use hoffman_space::{PawnSquares, SliceValues};
use hoffman_table::Stop;

use crate::event::Cancel;

/// How often it is looked whether work that knows a stop alone is to be given up.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Asks whether the work is to end.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) cancel: Cancel,
    pub(crate) end: Option<Instant>,
}

impl Watch {
    /// Does work that is given up by its stop, which is requested when the search is to end.
    pub(crate) fn over<R>(&self, stop: &Stop, work: impl FnOnce() -> R) -> R {
        if self.is_stopped() {
            stop.request();
        }
        thread::scope(|scope| {
            let (working, ended) = mpsc::channel();
            // Without a thread to spare the work is done to its end.
            let _ = thread::Builder::new().spawn_scoped(scope, move || self.look(stop, &ended));
            let done = work();
            drop(working);
            done
        })
    }

    /// Requests the stop when the search is to end, unless the work has ended before.
    fn look(&self, stop: &Stop, ended: &Receiver<()>) {
        while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if self.is_stopped() {
                return stop.request();
            }
        }
    }
}

impl Monitor for Watch {
    fn slice(&self, _pawns: PawnSquares, _values: &Arc<SliceValues>) {}

    fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works until it is told to stop, and longer than a test may take otherwise.
    fn work_until(stop: &Stop) -> bool {
        let began = Instant::now();
        while !stop.is_requested() && began.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(1));
        }
        stop.is_requested()
    }

    #[test]
    fn work_is_given_up_in_its_midst() {
        let soon = Instant::now() + Duration::from_millis(50);
        let timed = Watch { cancel: Cancel::new(), end: Some(soon) };
        let stop = Stop::default();
        assert!(timed.over(&stop, || work_until(&stop)));
        assert!(Instant::now() >= soon);

        let cancelled = Watch { cancel: Cancel::new(), end: None };
        let stop = Stop::default();
        let cancel = cancelled.cancel.clone();
        assert!(cancelled.over(&stop, || {
            cancel.cancel();
            work_until(&stop)
        }));
    }

    #[test]
    fn work_that_ends_in_time_is_not_stopped() {
        let watch = Watch { cancel: Cancel::new(), end: None };
        let stop = Stop::default();
        assert_eq!(watch.over(&stop, || 7), 7);
        assert!(!stop.is_requested());
    }
}
