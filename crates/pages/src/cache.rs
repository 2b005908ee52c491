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
    pub(crate) pages: HashMap<Key, CachedPage>,
    /// The keys of all pages, to choose from at random.
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
pub(crate) struct CachedPage {
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
        let page = CachedPage { words, dirty, touched: self.clock, at: self.keys.len() };
        self.keys.push(key);
        self.pages.insert(key, page);
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<CachedPage> {
        let page = self.pages.remove(&key)?;
        self.keys.swap_remove(page.at);
        if let Some(&moved) = self.keys.get(page.at)
            && let Some(other) = self.pages.get_mut(&moved)
        {
            other.at = page.at;
        }
        self.bytes -= page.words.capacity() * 8 + OVERHEAD;
        Some(page)
    }

    /// A page that is not held. Sweeps come back to every page in turn, so the one that was not
    /// used for the longest time is the next to be needed: chance does better.
    pub(crate) fn choose(&self) -> Option<Key> {
        let mut second = None;
        for _ in 0..TRIES {
            let key = self.keys[fastrand::usize(..self.keys.len())];
            let Some(page) = self.pages.get(&key) else { continue };
            if Arc::strong_count(&page.words) > 1 || self.leaving.contains_key(&key) {
                continue;
            }
            if page.touched + RECENT <= self.clock {
                return Some(key);
            }
            second = Some(key);
        }
        second
    }
}
