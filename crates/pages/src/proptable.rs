//! Propagation tables: what one pass has to tell many rows, sorted without random access to the
//! disk.
//!
//! An [`Update`] is a row and a mask. Updates come in any order, from any thread, and leave in the
//! order of their rows, each row once with the union of its masks. They are gathered in memory by
//! buckets; when seven tenths of the places are taken, everything gathered is sorted and written
//! out as a **run**. At the end all runs are merged by a tournament. Runs are written and read in
//! whole pages, in order, from stretches of their own.
//!
//! Version 1.7 numbers its tables by inverses modulo a prime, so its propagation tables are sorted
//! as they are. Here the rows of a block must stay together, so inverses give only the places in
//! memory (`buckets.rs`), and a run is sorted when it is written (`runs.rs`).

use std::sync::{Arc, Mutex, PoisonError};

use crate::Pages;
use crate::buckets::{BATCH, Buckets, Spread};
use crate::runs::{Form, SortedRun, Tournament, UpdateSource};

/// A row, and the positions in it that something is to be said of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The number of the row, below the number that the table was made for.
    pub row: u64,
    /// The positions.
    pub mask: u64,
}

/// Bytes of an update in memory.
const BYTES: usize = size_of::<Update>();

/// How many places a table has at first.
const FIRST: usize = 512;

/// How many runs are merged at once, and so how many pages are in memory for that.
const FAN: usize = 16;

/// Gathers updates.
#[derive(Debug)]
pub struct PropTable {
    spread: Spread,
    /// A part of the memory for each thread; rows go to parts by their remainder.
    parts: Vec<Mutex<Buckets>>,
    runs: Mutex<Vec<SortedRun>>,
    form: Form,
}

impl PropTable {
    /// A table for updates of rows below `rows`, in up to `memory` bytes (a few kilobytes at
    /// least) for each of these: what is gathered, what is left of it when it is read, and the
    /// pages of runs.
    pub fn new(pages: &Arc<Pages>, rows: u64, memory: usize, compress: bool) -> PropTable {
        let parts = rayon::current_num_threads().max(1);
        let most = (memory / BYTES / parts).max(FIRST);
        let spread = Spread::new(rows);
        PropTable {
            spread,
            parts: (0..parts).map(|_| Mutex::new(Buckets::new(spread, FIRST, most))).collect(),
            runs: Mutex::default(),
            form: Form {
                pages: pages.clone(),
                page: (memory / FAN / 2).clamp(512, 1 << 16),
                compress,
            },
        }
    }

    /// What hands in updates; each thread has its own.
    pub fn sender(&self) -> Sender<'_> {
        Sender { table: self, batches: self.parts.iter().map(|_| Vec::new()).collect() }
    }

    fn add(&self, part: usize, batch: &mut Vec<Update>) {
        let mut inverses = Vec::with_capacity(BATCH);
        self.spread.inverses(batch, &mut inverses);
        let mut buckets = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        buckets.touch(&inverses);
        for (&update, &inverse) in batch.iter().zip(&inverses) {
            if buckets.is_full() && !buckets.grow(self.spread) {
                self.write(buckets.sorted());
                buckets.clear();
            }
            buckets.insert(inverse, update);
        }
        batch.clear();
    }

    /// Writes a run, and merges runs of a kind when there are many of them.
    fn write(&self, updates: &[Update]) {
        let mut new = self.form.write(updates.iter().copied(), 0);
        loop {
            let equal: Vec<SortedRun> = {
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                runs.push(new);
                let level = runs.last().map_or(0, |run| run.level);
                if runs.iter().filter(|run| run.level == level).count() < FAN {
                    return;
                }
                runs.extract_if(.., |run| run.level == level).collect()
            };
            let level = equal.first().map_or(0, |run| run.level) + 1;
            let sources = equal.into_iter().map(|run| self.form.read(run)).collect();
            new = self.form.write(Tournament::new(sources), level);
        }
    }

    /// Everything that was handed in, by rows. No sender may be left.
    pub fn finish(self) -> Updates {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut sources: Vec<UpdateSource> =
            runs.into_iter().map(|run| self.form.read(run)).collect();
        for part in self.parts {
            let mut buckets = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            let len = buckets.sorted().len();
            buckets.slots.truncate(len);
            buckets.slots.shrink_to_fit();
            sources.push(UpdateSource::Memory(buckets.slots.into_iter()));
        }
        let mut updates = Tournament::new(sources);
        let next = updates.next();
        Updates { updates, next }
    }
}

/// Hands updates to a table, many at a time; what it still has when it is dropped as well.
#[derive(Debug)]
pub struct Sender<'t> {
    table: &'t PropTable,
    batches: Vec<Vec<Update>>,
}

impl Sender<'_> {
    /// Hands in an update. An empty mask says nothing.
    pub fn send(&mut self, row: u64, mask: u64) {
        if mask == 0 {
            return;
        }
        let part = (row % self.batches.len() as u64) as usize;
        let batch = &mut self.batches[part];
        batch.push(Update { row, mask });
        if batch.len() >= BATCH {
            self.table.add(part, batch);
        }
    }
}

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        for (part, batch) in self.batches.iter_mut().enumerate() {
            if !batch.is_empty() {
                self.table.add(part, batch);
            }
        }
    }
}

/// The updates of a table in the order of their rows, each row once.
#[derive(Debug)]
pub struct Updates {
    updates: Tournament,
    next: Option<Update>,
}

impl Updates {
    /// Moves the updates of all rows below `end` to `out`.
    pub fn take_below(&mut self, end: u64, out: &mut Vec<Update>) {
        while let Some(update) = self.next.filter(|update| update.row < end) {
            out.push(update);
            self.next = self.updates.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn collected(table: PropTable, rows: u64) -> Vec<Update> {
        let mut updates = table.finish();
        let mut all = Vec::new();
        // In steps, as sweeps do.
        for end in (0..rows).step_by(1 + rows as usize / 7).chain([rows]) {
            let before = all.len();
            updates.take_below(end, &mut all);
            assert!(all[before..].iter().all(|update| update.row < end));
        }
        all
    }

    fn expected(sent: &[Update]) -> Vec<Update> {
        let mut all = BTreeMap::new();
        for update in sent.iter().filter(|update| update.mask != 0) {
            *all.entry(update.row).or_insert(0) |= update.mask;
        }
        all.into_iter().map(|(row, mask)| Update { row, mask }).collect()
    }

    /// Updates as passes make them: in heaps of neighbouring rows, many of them more than once.
    fn random_updates(rng: &mut fastrand::Rng, rows: u64, count: usize) -> Vec<Update> {
        let mut row = 0;
        let mut next = || {
            if rng.u8(..) < 8 {
                row = rng.u64(..rows);
            }
            row = (row + rng.u64(..5)) % rows;
            Update { row, mask: 1 << rng.u32(..64) & rng.u64(..) }
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn updates_leave_by_rows_whatever_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = fastrand::Rng::with_seed(4);
        let mut spilled = 0;
        for (rows, count) in [(1, 3), (2, 50), (1000, 5000), (60_000, 200_000), (1 << 36, 50_000)] {
            let sent = random_updates(&mut rng, rows, count);
            let expected = expected(&sent);
            for (memory, compress) in [(0, false), (0, true), (100_000, true), (1 << 24, false)] {
                let pages = Pages::new(folder.path(), 0);
                let table = PropTable::new(&pages, rows, memory, compress);
                let mut sender = table.sender();
                for update in &sent {
                    sender.send(update.row, update.mask);
                }
                drop(sender);
                let all = collected(table, rows);
                pages.check().unwrap();
                assert!(all == expected, "{rows} rows, {memory} bytes, compressed: {compress}");
                spilled += u32::from(pages.traffic().0 > 0);
            }
        }
        assert!(spilled >= 6, "{spilled}");
    }

    #[test]
    fn threads_may_send_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let mut rng = fastrand::Rng::with_seed(5);
        let sent = random_updates(&mut rng, 50_000, 100_000);
        let pages = Pages::new(folder.path(), 0);
        let all = pool.install(|| {
            let table = PropTable::new(&pages, 50_000, 30_000, false);
            std::thread::scope(|scope| {
                for part in sent.chunks(20_000) {
                    let table = &table;
                    scope.spawn(move || {
                        let mut sender = table.sender();
                        for update in part {
                            sender.send(update.row, update.mask);
                        }
                    });
                }
            });
            collected(table, 50_000)
        });
        assert!(all == expected(&sent));
    }

    #[test]
    fn many_runs_are_merged_and_a_row_in_all_of_them_comes_once() {
        let folder = tempfile::tempdir().unwrap();
        for compress in [false, true] {
            let pages = Pages::new(folder.path(), 0);
            let table = PropTable::new(&pages, 1 << 20, 0, compress);
            let runs = FAN * FAN + 5;
            for n in 0..runs as u64 {
                let own = Update { row: 10 + n, mask: n + 1 };
                let shared = Update { row: 7, mask: 1 << (n % 64) };
                table.write(&[shared, own, Update { row: 1 << 19, mask: 1 }]);
            }
            assert!(table.runs.lock().unwrap().len() < 2 * FAN);
            let all = collected(table, 1 << 20);
            assert_eq!(all.len(), runs + 2);
            assert_eq!(all[0], Update { row: 7, mask: u64::MAX });
            assert_eq!(all[1], Update { row: 10, mask: 1 });
            assert_eq!(all[runs + 1], Update { row: 1 << 19, mask: 1 });
        }
    }

    /// Runs are read and written in order, also where others are written and merged at the same
    /// time.
    #[test]
    fn pages_of_runs_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = fastrand::Rng::with_seed(6);
        let pages = Pages::new(folder.path(), 0);
        let table = PropTable::new(&pages, 1 << 30, 200_000, false);
        let mut sender = table.sender();
        for update in random_updates(&mut rng, 1 << 30, 400_000) {
            sender.send(update.row, update.mask);
        }
        drop(sender);
        let runs = table.runs.lock().unwrap();
        let lengths = runs.iter().map(|run| run.pages.lengths());
        let (written, stretches) = lengths.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        assert!(written > 200 && written - stretches > written / 10 * 9, "{written}, {stretches}");
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for compress in [false, true] {
            let pages = Pages::new(&folder.path().join("missing"), 0);
            let table = PropTable::new(&pages, 1 << 20, 0, compress);
            let mut sender = table.sender();
            for row in 0..10_000 {
                sender.send(row * 7, 1);
            }
            drop(sender);
            let mut all = Vec::new();
            table.finish().take_below(1 << 20, &mut all);
            assert!(all.len() < 10_000 && pages.check().is_err());
        }
    }
}
