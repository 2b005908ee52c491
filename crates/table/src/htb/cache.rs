//! A cache of inflated blocks, least recently used out first, for many tables and threads at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of a source, and of a block in it.
type Key = (u64, u64);

/// Inflated blocks up to a number of bytes. Share one among all tables that are open.
#[derive(Debug)]
pub struct BlockCache {
    capacity: usize,
    next_source: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    blocks: HashMap<Key, (Arc<[u8]>, u64)>,
    bytes: usize,
    clock: u64,
}

impl BlockCache {
    /// A cache of that many bytes. The block used last is kept even if it is larger.
    pub fn new(capacity: usize) -> Arc<BlockCache> {
        Arc::new(BlockCache {
            capacity,
            next_source: AtomicU64::new(0),
            state: Mutex::new(State::default()),
        })
    }

    /// Bytes held now.
    pub fn bytes(&self) -> usize {
        self.state().bytes
    }

    pub(super) fn new_source(&self) -> u64 {
        self.next_source.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn get(&self, source: u64, block: u64) -> Option<Arc<[u8]>> {
        let mut state = self.state();
        state.clock += 1;
        let now = state.clock;
        let (data, used) = state.blocks.get_mut(&(source, block))?;
        *used = now;
        Some(Arc::clone(data))
    }

    pub(super) fn insert(&self, source: u64, block: u64, data: Arc<[u8]>) {
        let mut state = self.state();
        state.clock += 1;
        let now = state.clock;
        state.bytes += data.len();
        if let Some((old, _)) = state.blocks.insert((source, block), (data, now)) {
            state.bytes -= old.len();
        }
        while state.bytes > self.capacity && state.blocks.len() > 1 {
            let oldest = state.blocks.iter().min_by_key(|(_, (_, used))| *used).map(|(&k, _)| k);
            let Some((old, _)) = oldest.and_then(|key| state.blocks.remove(&key)) else { break };
            state.bytes -= old.len();
        }
    }

    /// Drops the blocks of a source that is closed.
    pub(super) fn remove_source(&self, source: u64) {
        let mut state = self.state();
        let mut freed = 0;
        state.blocks.retain(|&(s, _), (data, _)| {
            freed += if s == source { data.len() } else { 0 };
            s != source
        });
        state.bytes -= freed;
    }

    /// No code panics while it holds the lock, so the state is sound even if the lock says otherwise.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
