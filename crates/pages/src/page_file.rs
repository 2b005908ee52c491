//! Pages that belong together: how they are read, written and changed.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::cache::{Cache, Key};
use crate::{OVERHEAD, Pages, Places, Words};

/// Where a page lies in its file, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    start: u64,
    len: u32,
}

impl Page {
    /// The number of words.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it holds nothing.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The words of a page that is being changed.
#[derive(Debug)]
pub struct Lifted {
    words: Vec<u64>,
    /// Whether the disk does not have them as they were.
    dirty: bool,
}

impl Deref for Lifted {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.words
    }
}

impl DerefMut for Lifted {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// A row of pages that belong together; given up as a whole when it is dropped.
#[derive(Debug)]
pub struct PageFile {
    pub(crate) pages: Arc<Pages>,
    pub(crate) id: u32,
    pub(crate) end: AtomicU64,
    pub(crate) places: Arc<Places>,
}

impl PageFile {
    /// A place for a page of `len` words, all zero until they are written.
    pub fn reserve(&self, len: usize) -> Page {
        let start = self.end.fetch_add(len as u64, Ordering::Relaxed);
        Page { start, len: len as u32 }
    }

    /// A new page at the end.
    pub fn append(&self, words: Vec<u64>) -> Page {
        let page = self.reserve(words.len());
        self.write(page, words);
        page
    }

    /// Replaces the contents of a page. Must not happen while another thread reads it from this
    /// file.
    pub fn write(&self, page: Page, words: Vec<u64>) {
        debug_assert_eq!(words.len(), page.len());
        let mut cache = self.pages.lock();
        let key = (self.id, page.start);
        cache.remove(key);
        cache = self.pages.make_room(cache, words.capacity() * 8 + OVERHEAD);
        cache.insert(key, Arc::new(words), true);
    }

    /// The contents of a page.
    pub fn read(&self, page: Page) -> Words {
        let key = (self.id, page.start);
        {
            let mut cache = self.pages.lock();
            cache.clock += 1;
            let clock = cache.clock;
            if let Some(page) = cache.pages.get_mut(&key) {
                page.touched = clock;
                return page.words.clone();
            }
            if let Some(words) = cache.leaving.get(&key) {
                return words.clone();
            }
        }
        let words = self.load(page);
        let cache = self.pages.lock();
        let mut cache = self.pages.make_room(cache, words.len() * 8 + OVERHEAD);
        if let Some(page) = cache.pages.get(&key) {
            // Another thread was quicker.
            return page.words.clone();
        }
        let words = Arc::new(words);
        cache.insert(key, words.clone(), false);
        words
    }

    /// A page in memory, and whether the disk does not have it as it is.
    fn remove(&self, page: Page) -> Option<(Words, bool)> {
        let key = (self.id, page.start);
        let mut cache = self.pages.lock();
        match cache.remove(key) {
            Some(page) => Some((page.words, page.dirty)),
            // The disk will have it.
            None => cache.leaving.get(&key).map(|words| (words.clone(), false)),
        }
    }

    /// Lets `f` change a page; `f` says whether it did. No other thread may read it in the
    /// meantime.
    pub fn change(&self, page: Page, f: impl FnOnce(&mut [u64]) -> bool) {
        let mut words = self.lift(page);
        let changed = f(&mut words);
        self.put_back(page, words, changed);
    }

    /// A page to be changed and then put back; without a copy where it is in memory. No other
    /// thread may read it from this file in the meantime, which need not have it.
    pub fn lift(&self, page: Page) -> Lifted {
        match self.remove(page) {
            Some((words, dirty)) => {
                Lifted { words: Arc::try_unwrap(words).unwrap_or_else(|held| held.to_vec()), dirty }
            }
            None => Lifted { words: self.load(page), dirty: false },
        }
    }

    /// A page to be changed and written back, or not to be read again.
    pub fn take(&self, page: Page) -> Vec<u64> {
        self.lift(page).words
    }

    /// Puts a page back where it was, changed or not.
    pub fn put_back(&self, page: Page, lifted: Lifted, changed: bool) {
        let Lifted { words, dirty } = lifted;
        let cache = self.pages.lock();
        let mut cache = self.pages.make_room(cache, words.capacity() * 8 + OVERHEAD);
        cache.insert((self.id, page.start), Arc::new(words), dirty || changed);
    }

    fn load(&self, page: Page) -> Vec<u64> {
        let mut words = vec![0; page.len()];
        if let Err(error) = self.pages.get(&self.places, page.start, &mut words) {
            self.pages.fail(&mut self.pages.lock(), &error);
            words.fill(0);
        }
        words
    }

    /// Forgets all pages and begins anew.
    pub fn clear(&self) {
        self.end.store(0, Ordering::Relaxed);
        drop(self.forget());
        self.pages.give_up(&self.places);
    }

    /// Drops all pages, once none of them is on its way to the disk any more: their places will be
    /// others'.
    fn forget(&self) -> MutexGuard<'_, Cache> {
        let mut cache = self.pages.lock();
        let own: Vec<Key> = cache.keys.iter().filter(|k| k.0 == self.id).copied().collect();
        for key in own {
            cache.remove(key);
        }
        while cache.leaving.keys().any(|key| key.0 == self.id) {
            cache.awaited += 1;
            cache = self.pages.left.wait(cache).unwrap_or_else(PoisonError::into_inner);
            cache.awaited -= 1;
        }
        cache
    }
}

impl Drop for PageFile {
    fn drop(&mut self) {
        let mut cache = self.forget();
        cache.files.remove(&self.id);
        drop(cache);
        self.pages.give_up(&self.places);
    }
}
