//! Working memory that may lie on the disk.
//!
//! What a run makes on its way to a table (planes, logs, values by rows) can be larger than the
//! memory it may take. [`Pages`] keeps as much of it in memory as a budget allows and the rest in
//! a file without a name, which vanishes with the process. A page is written and read as a whole;
//! a reader holds it for as long as it needs it.
//!
//! Errors are kept, not passed along: after the first one every page reads as zeros, and
//! [`Pages::check`] tells. Callers ask before they rely on what they have computed.
#![forbid(unsafe_code)]

mod buckets;
mod cache;
mod codes;
mod outcomes;
mod page_file;
mod proptable;
mod room;
mod runs;
mod stretch;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use hoffman_store::{Storage, StoredFile, disk};
use rayon::prelude::*;

use cache::{Cache, TRIES};
use room::FileRoom;

pub use codes::PagedCodes;
pub use outcomes::PagedOutcomes;
pub use page_file::{Lifted, Page, PageFile};
pub use proptable::{PropTable, Sender, Update, Updates};

/// A page in memory: 64-bit words.
pub type Words = Arc<Vec<u64>>;

/// Bytes of management a page in memory costs besides its words.
const OVERHEAD: usize = 160;

/// How many pages come between two looks at the memory of the process.
const LOOK: u64 = 128;

/// What the budget is not lowered below because of that, in bytes.
const LEAST: usize = 4 << 20;

/// By how many bytes files grow between two looks at what the disk has left.
const STEP: u64 = 64 << 20;

/// Memory for pages, with a bound in bytes, and the folder for what does not fit.
#[derive(Debug)]
pub struct Pages {
    storage: Arc<dyn Storage>,
    folder: PathBuf,
    budget: AtomicUsize,
    cache: Mutex<Cache>,
    /// Told when a page has left that is awaited.
    left: Condvar,
    on_disk: [Mutex<OnDisk>; FILES],
    written: AtomicU64,
    read: AtomicU64,
    watch: OnceLock<MemoryWatch>,
    margin: OnceLock<Margin>,
    /// Whether a file met an error.
    failed: AtomicBool,
}

/// What is left of the disk to others.
#[derive(Debug)]
struct Margin {
    bytes: u64,
    /// What a folder has room for.
    measure: fn(&Path) -> Option<u64>,
    /// By how much the files have grown.
    grown: AtomicU64,
}

/// What the whole process may take, and how much it does.
#[derive(Debug)]
struct MemoryWatch {
    /// The bound, or what was taken when the budget was lowered last: memory that is free again
    /// may stay with the process.
    bound: AtomicU64,
    measure: fn() -> Option<u64>,
    pages: AtomicU64,
}

/// Where the pages of a file that were written lie on the disk, in bytes, with their length in
/// words.
type Places = Mutex<HashMap<u64, (u64, u32)>>;

/// How many files on the disk hold the pages of all: one thread at a time writes to a file, and
/// systems allow few open files.
const FILES: usize = 8;

/// A working file.
#[derive(Debug, Default)]
struct OnDisk {
    file: Option<Arc<dyn StoredFile>>,
    room: FileRoom,
}

impl Pages {
    /// Pages that take up to `budget` bytes of memory; files are made in `folder`, when the first
    /// page has to make room.
    pub fn new(folder: &Path, budget: usize) -> Arc<Pages> {
        Pages::new_in(disk(), folder, budget)
    }

    /// The same in any storage.
    pub fn new_in(storage: Arc<dyn Storage>, folder: &Path, budget: usize) -> Arc<Pages> {
        Arc::new(Pages {
            storage,
            folder: folder.to_owned(),
            budget: AtomicUsize::new(budget),
            cache: Mutex::default(),
            left: Condvar::new(),
            on_disk: Default::default(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            watch: OnceLock::new(),
            margin: OnceLock::new(),
            failed: AtomicBool::new(false),
        })
    }

    /// Lowers the budget whenever the process takes more than `bound` bytes, and more than ever
    /// before, as `measure` finds: pages of all sizes come and go, and it is not known before how
    /// much of the memory between them can be used again.
    pub fn watch(&self, bound: u64, measure: fn() -> Option<u64>) {
        // An earlier watch goes on.
        let _ = self.watch.set(MemoryWatch { bound: bound.into(), measure, pages: 0.into() });
    }

    /// Leaves so many bytes of the disk free, as `measure` finds: files that would grow beyond
    /// that fail.
    pub fn keep_free(&self, bytes: u64, measure: fn(&Path) -> Option<u64>) {
        // The first margin stays.
        let _ = self.margin.set(Margin { bytes, measure, grown: 0.into() });
    }

    /// Lets a file grow by so many bytes, unless that would leave too little to others. The disk
    /// is asked once in a while.
    fn grow(&self, bytes: u64) -> io::Result<()> {
        let Some(margin) = self.margin.get() else { return Ok(()) };
        let before = margin.grown.fetch_add(bytes, Ordering::Relaxed);
        if before != 0 && before / STEP == (before + bytes) / STEP {
            return Ok(());
        }
        match (margin.measure)(&self.folder) {
            Some(free) if free < margin.bytes.saturating_add(STEP) => {
                let (free, kept) = (free >> 20, margin.bytes >> 20);
                let text = format!(
                    "the disk has {free} MB left, of which {kept} MB are kept free for others"
                );
                Err(io::Error::new(io::ErrorKind::StorageFull, text))
            }
            _ => Ok(()),
        }
    }

    /// Whether a file has met an error; [`Pages::check`] tells which.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn fail(&self, cache: &mut Cache, error: &io::Error) {
        cache.failure.get_or_insert_with(|| (error.kind(), error.to_string()));
        self.failed.store(true, Ordering::Relaxed);
    }

    fn look(&self) {
        let Some(watch) = self.watch.get() else { return };
        if !watch.pages.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK) {
            return;
        }
        let Some(taken) = (watch.measure)() else { return };
        if watch.bound.fetch_max(taken, Ordering::Relaxed) < taken {
            let budget = self.budget();
            self.budget.store((budget - budget / 8).max(LEAST.min(budget)), Ordering::Relaxed);
        }
    }

    /// The bound in bytes.
    pub fn budget(&self) -> usize {
        self.budget.load(Ordering::Relaxed)
    }

    /// Sets another bound; what is too much goes to the disk at once.
    pub fn set_budget(&self, budget: usize) {
        self.budget.store(budget, Ordering::Relaxed);
        drop(self.make_room(self.lock(), 0));
    }

    /// Runs `f` with so many bytes of the budget.
    pub fn lend<R>(&self, bytes: usize, f: impl FnOnce() -> R) -> R {
        let lent = bytes.min(self.budget());
        self.set_budget(self.budget().saturating_sub(lent));
        let result = f();
        self.budget.fetch_add(lent, Ordering::Relaxed);
        result
    }

    /// A new, empty file.
    pub fn file(self: &Arc<Self>) -> PageFile {
        let mut cache = self.lock();
        let id = cache.next_file;
        cache.next_file += 1;
        let places = Arc::<Places>::default();
        cache.files.insert(id, places.clone());
        PageFile { pages: self.clone(), id, end: AtomicU64::new(0), places }
    }

    /// The first error that a file met.
    ///
    /// # Errors
    ///
    /// That error.
    pub fn check(&self) -> io::Result<()> {
        match &self.lock().failure {
            Some((kind, text)) => {
                let folder = self.folder.display();
                Err(io::Error::new(*kind, format!("working files in {folder}: {text}")))
            }
            None => Ok(()),
        }
    }

    /// Bytes written to and read from the disk so far.
    pub fn traffic(&self) -> (u64, u64) {
        (self.written.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed))
    }

    fn count_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn count_read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up pages until `more` bytes fit. Pages that are held stay. Others may use the cache
    /// while pages are written to the disk.
    fn make_room<'a>(
        &'a self,
        mut cache: MutexGuard<'a, Cache>,
        more: usize,
    ) -> MutexGuard<'a, Cache> {
        self.look();
        let budget = self.budget();
        let mut held = 0;

        while cache.bytes + more > budget && held < cache.keys.len() {
            let Some(key) = cache.choose() else {
                held += TRIES;
                continue;
            };
            let Some(page) = cache.remove(key) else { break };
            let Some(places) = cache.files.get(&key.0).filter(|_| page.dirty).cloned() else {
                continue;
            };
            let taken = page.words.capacity() * 8 + OVERHEAD;
            cache.bytes += taken;
            cache.leaving.insert(key, page.words.clone());
            drop(cache);
            let written = self.put(&places, key.1, &page.words);
            cache = self.lock();
            cache.leaving.remove(&key);
            cache.bytes -= taken;
            if let Err(error) = written {
                self.fail(&mut cache, &error);
            }
            if cache.awaited > 0 {
                self.left.notify_all();
            }
        }
        cache
    }

    /// The file on the disk for a page.
    fn on_disk(&self, start: u64, len: u32) -> MutexGuard<'_, OnDisk> {
        let number = start / u64::from(len.max(1)) % FILES as u64;
        self.on_disk[number as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, places: &Places, start: u64, words: &[u64]) -> io::Result<()> {
        let len = words.len() as u32;
        let (file, at) = {
            let mut on_disk = self.on_disk(start, len);
            let file = self.opened(&mut on_disk)?;
            let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
            let at = if let Some(&(at, _)) = places.get(&start) {
                at
            } else {
                let at = self.place(&mut on_disk, len)?;
                places.insert(start, (at, len));
                at
            };
            (file, at)
        };
        let bytes: &[u8] = bytemuck::cast_slice(words);
        self.count_written(bytes.len());
        write_at(&*file, bytes, at)
    }

    /// The file, which is made if there is none.
    fn opened(&self, on_disk: &mut OnDisk) -> io::Result<Arc<dyn StoredFile>> {
        if let Some(open) = &on_disk.file {
            return Ok(open.clone());
        }
        Ok(on_disk.file.insert(self.storage.scratch(&self.folder)?.into()).clone())
    }

    /// A place for so many words: one that was given up, or at the end.
    fn place(&self, on_disk: &mut OnDisk, len: u32) -> io::Result<u64> {
        let bytes = bytes_of(len);
        if let Some(at) = on_disk.room.take(bytes) {
            return Ok(at);
        }
        self.grow(on_disk.room.growth(bytes))?;
        Ok(on_disk.room.append(bytes))
    }

    fn get(&self, places: &Places, start: u64, words: &mut [u64]) -> io::Result<()> {
        let place = places.lock().unwrap_or_else(PoisonError::into_inner).get(&start).copied();
        let file = self.on_disk(start, words.len() as u32).file.clone();
        // What was never written is zero.
        let (Some((at, _)), Some(file)) = (place, file) else { return Ok(()) };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        self.count_read(bytes.len());
        read_at(&*file, bytes, at)
    }

    /// Lets others have the places of a file.
    fn give_up(&self, places: &Places) {
        let places = std::mem::take(&mut *places.lock().unwrap_or_else(PoisonError::into_inner));
        for (start, (at, len)) in places {
            self.on_disk(start, len).room.give_up(at, bytes_of(len));
        }
    }
}

/// What a page of so many words takes on the disk; an empty one has a place, too.
fn bytes_of(len: u32) -> u64 {
    8 * u64::from(len.max(1))
}

/// Systems take their time to forget what large files held, a file at a time.
impl Drop for Pages {
    fn drop(&mut self) {
        self.on_disk.par_iter_mut().for_each(|on_disk| {
            *on_disk.get_mut().unwrap_or_else(PoisonError::into_inner) = OnDisk::default();
        });
    }
}

fn write_at(file: &dyn StoredFile, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                at += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read_at(file: &dyn StoredFile, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.read_at(bytes, at) {
            // Behind the end nothing was written yet: zeros.
            Ok(0) => return Ok(()),
            Ok(n) => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        for budget in [0, 4000, 1 << 20] {
            let pages = Pages::new(folder.path(), budget);
            let (a, b) = (pages.file(), pages.file());
            let mut places = Vec::new();
            for n in 0..100_u64 {
                places.push((a.append(vec![n; 64]), b.append(vec![n + 1000; 16])));
            }
            for n in (0..100_u64).rev() {
                let mut words = a.lift(places[n as usize].0);
                words[1] = n + 5;
                a.put_back(places[n as usize].0, words, true);
            }
            for (n, place) in places.iter().enumerate() {
                let words = a.read(place.0);
                assert_eq!((words[0], words[1], words[63]), (n as u64, n as u64 + 5, n as u64));
                assert_eq!(*b.read(place.1), vec![n as u64 + 1000; 16]);
            }
            // What is held counts too, and stays.
            assert!(pages.lock().bytes <= budget.max(2 * (64 * 8 + OVERHEAD)));
            assert_eq!(pages.traffic().0 > 0, budget < 1 << 20);
            a.clear();
            assert_eq!(*a.read(a.reserve(8)), vec![0; 8]);
            pages.check().unwrap();
            // No file has a name.
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_was_never_written_is_zero() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 0);
        let file = pages.file();
        let (first, second) = (file.reserve(10), file.reserve(10));
        assert_eq!(*file.read(second), vec![0; 10]);
        file.write(first, vec![7; 10]);
        assert_eq!(*file.read(second), vec![0; 10]);
        assert_eq!(*file.read(first), vec![7; 10]);
    }

    #[test]
    fn a_margin_of_the_disk_is_left_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 0);
        // As much as two steps, and then nothing more.
        pages.keep_free(100 << 20, |_| {
            static FREE: AtomicU64 = AtomicU64::new(300 << 20);
            Some(FREE.fetch_sub(STEP, Ordering::Relaxed))
        });
        let file = pages.file();
        let mut written = 0;
        while !pages.has_failed() && written < 1 << 30 {
            file.append(vec![1; 1 << 17]);
            written += 1_u64 << 20;
        }
        let error = pages.check().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().ends_with("of which 100 MB are kept free for others"), "{error}");
        assert!((STEP..=4 * STEP).contains(&written), "{written}");
    }

    #[test]
    fn an_error_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(&folder.path().join("missing"), 0);
        let file = pages.file();
        let page = file.append(vec![1; 8]);
        file.append(vec![1; 8]);
        let _ = file.read(page);
        assert!(pages.check().is_err());
    }
}
