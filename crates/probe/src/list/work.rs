//! How far a list is, and whether it is to end.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{ListError, ListPlan};

/// The work on a list, in looks at an entry of a table.
pub(super) struct ListWork<'o> {
    stop: &'o (dyn Fn() -> bool + Sync),
    progress: Option<&'o (dyn Fn(u64, u64) + Sync)>,
    total: AtomicU64,
    done: AtomicU64,
}

/// In how many looks at an entry a position is looked at with its moves, about.
pub(super) const WITH_MOVES: u64 = 8;

/// Looks of a share of the work that are added at once: shares are small.
const TOGETHER: u64 = 1 << 12;

/// The log of the looks between two reports.
const REPORTED: u32 = 20;

impl<'o> ListWork<'o> {
    pub(super) fn new(plan: &ListPlan<'o>) -> ListWork<'o> {
        let ListPlan { stop, progress, .. } = *plan;
        ListWork { stop, progress, total: AtomicU64::new(0), done: AtomicU64::new(0) }
    }

    /// So much more lies ahead.
    pub(super) fn expect(&self, looks: u64) {
        self.total.fetch_add(looks, Relaxed);
    }

    /// Adds looks that a share of the work has had, once there are some: `fresh` of them.
    pub(super) fn add(&self, fresh: &mut u64, looks: u64) {
        *fresh += looks;
        if *fresh >= TOGETHER {
            let before = self.done.fetch_add(*fresh, Relaxed);
            let done = before + *fresh;
            *fresh = 0;
            let is_due = before >> REPORTED != done >> REPORTED;
            if let Some(progress) = self.progress.filter(|_| is_due) {
                let total = self.total.load(Relaxed);
                progress(done.min(total), total);
            }
        }
    }

    /// Whether the caller asked to stop.
    pub(super) fn is_stopped(&self) -> bool {
        (self.stop)()
    }

    /// An error if the caller asked to stop.
    pub(super) fn go_on(&self) -> Result<ControlFlow<()>, ListError> {
        if self.is_stopped() { Err(ListError::Stopped) } else { Ok(ControlFlow::Continue(())) }
    }
}
