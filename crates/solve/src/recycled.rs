//! Memory of solved slices, used again for the next ones: the system takes longer to hand out
//! fresh memory, page by page, than a slice takes to fill it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hoffman_space::{Code, Codes, SliceValues};

use crate::sets::Log;

/// What the slices of one table have left behind.
pub(crate) struct Recycled {
    left: Mutex<Left>,
    keeps: bool,
}

#[derive(Default)]
struct Left {
    planes: Vec<Vec<u64>>,
    logs: Vec<Vec<Log>>,
    codes: Vec<Codes>,
}

impl Recycled {
    /// Room that keeps what it is given, or nothing at all.
    pub(crate) fn new(keeps: bool) -> Recycled {
        Recycled { left: Mutex::default(), keeps }
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plane of so many words; whatever stands in it has to be overwritten.
    pub(crate) fn plane(&self, words: usize) -> Vec<u64> {
        let found = self.left().planes.pop();
        found.filter(|plane| plane.len() == words).unwrap_or_else(|| vec![0; words])
    }

    /// An empty log for every block.
    pub(crate) fn logs(&self, blocks: usize) -> Vec<Log> {
        let mut logs = self.left().logs.pop().unwrap_or_default();
        logs.iter_mut().for_each(Log::clear);
        logs.resize_with(blocks, Log::default);
        logs
    }

    /// So many codes, and whether they are fresh, which is to say illegal. If not they have to be
    /// overwritten.
    pub(crate) fn codes<C: Code>(&self, len: usize) -> (Vec<C>, bool) {
        let found = self.left().codes.pop().and_then(C::from_codes);
        match found.filter(|codes| codes.len() == len) {
            Some(codes) => (codes, false),
            None => (vec![C::ILLEGAL; len], true),
        }
    }

    /// Takes what solving a slice needed.
    pub(crate) fn keep(
        &self,
        planes: impl IntoIterator<Item = Vec<u64>>,
        logs: impl IntoIterator<Item = Vec<Log>>,
    ) {
        if self.keeps {
            let mut left = self.left();
            left.planes.extend(planes);
            left.logs.extend(logs);
        }
    }

    /// Takes the values of a slice that nothing needs any more, if so many slices have use for
    /// them.
    pub(crate) fn keep_codes(&self, slice: SliceValues, slices: usize) {
        let mut left = self.left();
        if self.keeps && left.codes.len() < 2 * slices {
            left.codes.extend(slice.codes);
        }
    }
}
