//! Codes in pages.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use hoffman_space::{Code, CodeStore, Codes, StoredCodes};

use crate::{Page, PageFile, Pages, Words};

/// Bytes of a page of codes.
pub(crate) const PAGE: usize = 1 << 16;

/// The codes of one side of a slice, in pages.
#[derive(Debug)]
pub struct PagedCodes {
    /// No other container has it.
    number: u64,
    file: PageFile,
    pages: Vec<Page>,
    /// A page is out of the file while a part of it is changed, so it must not be read then. One
    /// lock for every so many pages.
    changing: [RwLock<()>; LOCKS],
    /// How many changes were made: what was read before the last one may be out of date.
    changes: AtomicU64,
}

/// How many locks there are.
const LOCKS: usize = 16;

/// A page that a thread has read and may read again soon: rows are read one by one, and finding the
/// page takes many times as long as what is then read of it. It is held no longer than others hold
/// it.
#[derive(Debug, Default)]
struct RecentPage {
    codes: u64,
    page: usize,
    changes: u64,
    /// How often it was read since it was found.
    reads: u32,
    words: Weak<Vec<u64>>,
}

/// The number of the next container.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// How many a thread remembers.
const RECENT: usize = 64;

/// After so many reads a page is found anew, so that it counts as used.
const READS: u32 = 256;

thread_local! {
    static RECENT_PAGES: RefCell<[RecentPage; RECENT]> =
        RefCell::new(std::array::from_fn(|_| RecentPage::default()));
}

impl PagedCodes {
    /// Room for `len` codes of the width `C`, all illegal.
    pub fn new<C: Code>(pages: &Arc<Pages>, len: usize) -> PagedCodes {
        let file = pages.file();
        let bytes = len * size_of::<C>();
        let pages = (0..bytes.div_ceil(PAGE))
            .map(|n| file.reserve((bytes - n * PAGE).min(PAGE).div_ceil(8)))
            .collect();
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        PagedCodes { number, file, pages, changing: Default::default(), changes: AtomicU64::new(1) }
    }

    /// The container of codes of the width `C`.
    pub fn into_codes<C: Code>(self, len: usize) -> Codes {
        Codes::Stored(StoredCodes { store: Arc::new(self), len, wide: size_of::<C>() == 2 })
    }

    /// Lets `change` change the bytes of each page in a range: given how many bytes of it come
    /// before, and the bytes.
    pub(crate) fn change(&self, at: usize, len: usize, change: impl Fn(usize, &mut [u8])) {
        for (n, start, end) in PagedCodes::parts(at, len) {
            let _held = self.changing[n % LOCKS].write().unwrap_or_else(PoisonError::into_inner);
            self.file.change(self.pages[n], |words| {
                let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(words)[start..end];
                change(n * PAGE + start - at, bytes);
                true
            });
            self.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// A page, whole.
    fn page(&self, n: usize) -> Words {
        // What is found from here on has at least the changes that are counted.
        let changes = self.changes.load(Ordering::Acquire);
        RECENT_PAGES.with_borrow_mut(|pages| {
            let recent = &mut pages[n.wrapping_add(5 * self.number as usize) % RECENT];
            let same = recent.codes == self.number && recent.page == n && recent.changes == changes;
            if same
                && recent.reads < READS
                && let Some(words) = recent.words.upgrade()
            {
                recent.reads += 1;
                return words;
            }
            let _held = self.changing[n % LOCKS].read().unwrap_or_else(PoisonError::into_inner);
            let words = self.file.read(self.pages[n]);
            let held = Arc::downgrade(&words);
            *recent = RecentPage { codes: self.number, page: n, changes, reads: 0, words: held };
            words
        })
    }

    /// The parts of pages that hold `len` bytes from `at` on: page, start and end in it.
    fn parts(at: usize, len: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let end = at + len;
        (at / PAGE..end.div_ceil(PAGE))
            .map(move |n| (n, at.max(n * PAGE) - n * PAGE, end.min((n + 1) * PAGE) - n * PAGE))
    }
}

impl CodeStore for PagedCodes {
    fn read(&self, at: usize, mut out: &mut [u8]) {
        for (n, start, end) in PagedCodes::parts(at, out.len()) {
            let words = self.page(n);
            let bytes: &[u8] = bytemuck::cast_slice(&words);
            let (now, later) = out.split_at_mut(end - start);
            now.copy_from_slice(&bytes[start..end]);
            out = later;
        }
    }

    fn write(&self, at: usize, mut bytes: &[u8]) {
        for (n, start, end) in PagedCodes::parts(at, bytes.len()) {
            let page = self.pages[n];
            let (now, later) = bytes.split_at(end - start);
            if end - start == 8 * page.len() {
                let mut words = vec![0; page.len()];
                bytemuck::cast_slice_mut::<u64, u8>(&mut words).copy_from_slice(now);
                self.file.write(page, words);
                self.changes.fetch_add(1, Ordering::Release);
            } else {
                self.change(n * PAGE + start, now.len(), |_, bytes| bytes.copy_from_slice(now));
            }
            bytes = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        for budget in [0, 100_000, 1 << 22] {
            let pages = Pages::new(folder.path(), budget);
            let len = 3 * PAGE + 1000;
            let all: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let store = PagedCodes::new::<u8>(&pages, len);
            for start in (0..len).step_by(40_000) {
                store.write(start, &all[start..(start + 40_000).min(len)]);
            }
            let codes = store.into_codes::<u8>(len);
            let Codes::Stored(stored) = &codes else { panic!("codes are in pages") };
            for start in [0, 1, 65_500, 131_000, len - 700] {
                let mut narrow = [0_u8; 700];
                stored.read(start, &mut narrow);
                assert_eq!(narrow, all[start..start + 700]);
                let mut wide = [0_u16; 700];
                stored.read(start, &mut wide);
                assert!(wide.iter().zip(narrow).all(|(&w, n)| w == u16::convert(n)));
                assert_eq!(codes.value(start), all[start].value());
            }
            pages.check().unwrap();
        }
    }

    /// Each read finds what the last write left, in this container and not in others.
    #[test]
    fn pages_that_were_read_before_are_read_as_they_are_now() {
        let folder = tempfile::tempdir().unwrap();
        for budget in [0, 1 << 22] {
            let new = || PagedCodes::new::<u8>(&Pages::new(folder.path(), budget), 2 * PAGE);
            let stores = [new(), new()];
            let mut found = [0; 100];
            for round in 1..200_u8 {
                for (which, store) in stores.iter().enumerate() {
                    let value = round.wrapping_mul(3).wrapping_add(which as u8);
                    let all = vec![value; if round % 2 == 0 { 100 } else { PAGE }];
                    store.write(0, &all);
                    for _ in 0..3 {
                        store.read(0, &mut found);
                        assert!(found == [value; 100], "round {round}, container {which}");
                    }
                }
            }
        }
    }

    /// Threads that read and write parts of one page that are not the same.
    #[test]
    fn neighbours_in_a_page_keep_what_they_wrote() {
        const PARTS: usize = 8;
        const LEN: usize = 1000;
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 0);
        let store = PagedCodes::new::<u8>(&pages, PARTS * LEN);
        std::thread::scope(|scope| {
            for part in 0..PARTS {
                let store = &store;
                scope.spawn(move || {
                    let mut found = [0; LEN];
                    for round in 1..=200 {
                        store.write(part * LEN, &[round; LEN]);
                        store.read(part * LEN, &mut found);
                        assert!(found == [round; LEN], "part {part}, round {round}");
                    }
                });
            }
        });
        pages.check().unwrap();
    }
}
