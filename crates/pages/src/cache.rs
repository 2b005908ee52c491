//! The pages that are in memory.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use crate::{OVERHEAD, Places, Words};

/// How many pages touched last are not given up for others, as far as the budget allows.
const RECENT: u64 = 64;

/// How many pages are looked at to find one that may be given up.
pub(crate) const TRIES: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(crate) slots: HashMap<Key, Slot>,
    /// The keys of all slots, to choose from at random.
    pub(crate) keys: Vec<Key>,
    /// Pages on their way to the disk. They are found here; it cannot leave a second time before
    /// it is there.
    pub(crate) leaving: HashMap<Key, Words>,
    /// How many wait for one to have left.
    pub(crate) awaited: usize,
    /// What all of these take.
    pub(crate) bytes: usize,
    pub(crate) clock: u64,
    pub(crate) files: HashMap<u32, Arc<Places>>,
    pub(crate) next_file: u32,
    pub(crate) failure: Option<(io::ErrorKind, String)>,
}

/// File and place of a page.
pub(crate) type Key = (u32, u64);

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) words: Words,
    pub(crate) dirty: bool,
    pub(crate) touched: u64,
    /// Where the key stands in `keys`.
    pub(crate) at: usize,
}

impl Cache {
    pub(crate) fn insert(&mut self, key: Key, words: Words, dirty: bool) {
        self.clock += 1;
        self.remove(key);
        self.bytes += words.capacity() * 8 + OVERHEAD;
        let slot = Slot { words, dirty, touched: self.clock, at: self.keys.len() };
        self.keys.push(key);
        self.slots.insert(key, slot);
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<Slot> {
        let slot = self.slots.remove(&key)?;
        self.keys.swap_remove(slot.at);
        if let Some(&moved) = self.keys.get(slot.at)
            && let Some(other) = self.slots.get_mut(&moved)
        {
            other.at = slot.at;
        }
        self.bytes -= slot.words.capacity() * 8 + OVERHEAD;
        Some(slot)
    }

    /// A page that is not held. Sweeps come back to every page in turn, so the one that was not
    /// used for the longest time is the next to be needed: chance does better.
    pub(crate) fn choose(&self) -> Option<Key> {
        let mut second = None;
        for _ in 0..TRIES {
            let key = self.keys[fastrand::usize(..self.keys.len())];
            let Some(slot) = self.slots.get(&key) else { continue };
            if Arc::strong_count(&slot.words) > 1 || self.leaving.contains_key(&key) {
                continue;
            }
            if slot.touched + RECENT <= self.clock {
                return Some(key);
            }
            second = Some(key);
        }
        second
    }
}
