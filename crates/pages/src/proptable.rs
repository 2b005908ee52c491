//! Propagation tables: what one pass has to tell many rows, sorted without random access to the disk.
//!
//! An [`Update`] is a row and a mask. Updates come in any order, from any thread, and leave in the order
//! of their rows, each row once with the union of its masks. They are gathered in memory by buckets; when
//! seven tenths of the places are taken, everything gathered is sorted and written out as a **run**.
//! At the end all runs are merged by a tournament. Runs are written and read in whole pages, in order, from
//! stretches of their own.
//!
//! Rows that are told something lie close together, so buckets of neighbouring rows would overflow while
//! others are empty, and long searches are needed long before the table is full. Therefore the place of a row comes from its inverse modulo a prime, which spreads
//! rows evenly. (Version 1.7 does the same, but numbers its tables by inverses, so its propagation tables
//! are sorted as they are. Here the rows of a block must stay together, so a run is sorted when it is
//! written.)

use std::sync::{Arc, Mutex, PoisonError};

use crate::Pages;
use crate::stretch::Sequence;

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

/// The part of its places that a table fills, in tenths. Who puts a row into a table that is so full looks at six
/// places on average; the bound of a search would be met the sooner the larger the table is.
const FILLED: usize = 7;

/// How many places a table has at first.
const FIRST: usize = 512;

/// How many pages a stretch of a run has, about.
const STRETCH: usize = 64;

/// How many runs are merged at once, and so how many pages are in memory for that.
const FAN: usize = 16;

/// Updates that one thread gathers before they go to a table.
const BATCH: usize = 128;

/// The most bytes that an update takes in a page.
const LARGEST: usize = 10 + 8;

/// Gathers updates.
#[derive(Debug)]
pub struct PropTable {
    spread: Spread,
    /// A part of the memory for each thread; rows go to parts by their remainder.
    parts: Vec<Mutex<Buckets>>,
    runs: Mutex<Vec<Run>>,
    form: Form,
}

/// How and where runs are written.
#[derive(Clone, Debug)]
struct Form {
    pages: Arc<Pages>,
    /// Bytes of updates in a page.
    page: usize,
    compress: bool,
}

impl PropTable {
    /// A table for updates of rows below `rows`, in up to `memory` bytes (a few kilobytes at least) for
    /// each of these: what is gathered, what is left of it when it is read, and the pages of runs.
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

    /// Someone who hands in updates; each thread has its own.
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
            let equal: Vec<Run> = {
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                runs.push(new);
                let level = runs.last().map_or(0, |run| run.level);
                if runs.iter().filter(|run| run.level == level).count() < FAN {
                    return;
                }
                runs.extract_if(.., |run| run.level == level).collect()
            };
            let level = equal.first().map_or(0, |run| run.level) + 1;
            let inputs = equal.into_iter().map(|run| self.form.read(run)).collect();
            new = self.form.write(Tournament::new(inputs), level);
        }
    }

    /// Everything that was handed in, by rows. No sender may be left.
    pub fn finish(self) -> Updates {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut inputs: Vec<Input> = runs.into_iter().map(|run| self.form.read(run)).collect();
        for part in self.parts {
            let mut buckets = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            let len = buckets.sorted().len();
            buckets.slots.truncate(len);
            buckets.slots.shrink_to_fit();
            inputs.push(Input::Memory(buckets.slots.into_iter()));
        }
        let mut updates = Tournament::new(inputs);
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

/// Inversion modulo a prime.
#[derive(Clone, Copy, Debug)]
struct Spread {
    prime: u64,
}

impl Spread {
    /// For rows below `rows`. Row numbers are counted from one here, since zero has no inverse.
    fn new(rows: u64) -> Spread {
        let is_prime = |n: &u64| (2..=n.isqrt()).all(|d| !n.is_multiple_of(d));
        // There always is one up to twice a number (Bertrand).
        let rows = rows.max(1);
        Spread { prime: (rows + 1..=2 * rows).find(is_prime).unwrap_or(2) }
    }

    fn times(self, a: u64, b: u64) -> u64 {
        if self.prime <= 1 << 32 {
            a * b % self.prime
        } else {
            (u128::from(a) * u128::from(b) % u128::from(self.prime)) as u64
        }
    }

    /// The inverse of a number that is not a multiple of the prime, by the algorithm of Euclid.
    fn inverse(self, number: u64) -> u64 {
        let (mut rest, mut next) = (self.prime, number);
        let (mut factor, mut next_factor) = (0_i128, 1_i128);
        while next != 0 {
            let quotient = rest / next;
            (rest, next) = (next, rest - quotient * next);
            (factor, next_factor) = (next_factor, factor - i128::from(quotient) * next_factor);
        }
        factor.rem_euclid(i128::from(self.prime)) as u64
    }

    /// The inverses of many rows: one inversion and three products for each (Montgomery).
    fn inverses(self, updates: &[Update], out: &mut Vec<u64>) {
        out.clear();
        let mut product = 1;
        for update in updates {
            out.push(product);
            product = self.times(product, update.row + 1);
        }
        let mut inverse = self.inverse(product);
        for (update, out) in updates.iter().zip(out).rev() {
            *out = self.times(*out, inverse);
            inverse = self.times(inverse, update.row + 1);
        }
    }
}

/// A table of places; a place without positions is empty.
#[derive(Debug)]
struct Buckets {
    slots: Vec<Update>,
    /// How many places are taken.
    taken: usize,
    /// How many places there may be.
    most: usize,
    /// The number of places divided by the prime, in units of 2^-64.
    factor: u128,
}

impl Buckets {
    fn new(spread: Spread, places: usize, most: usize) -> Buckets {
        let slots = vec![Update::default(); places];
        let factor = ((places as u128) << 64) / u128::from(spread.prime);
        Buckets { slots, taken: 0, most, factor }
    }

    fn place(&self, inverse: u64) -> usize {
        ((u128::from(inverse) * self.factor) >> 64) as usize
    }

    /// Brings the places of rows into the processor's caches: all at once, while the search for one of them
    /// waits for that of the one before.
    fn touch(&self, inverses: &[u64]) {
        let first = inverses.iter().map(|&inverse| self.slots[self.place(inverse)].mask);
        std::hint::black_box(first.fold(0, |all, mask| all ^ mask));
    }

    /// Whether as many places are taken as may be.
    fn is_full(&self) -> bool {
        10 * self.taken >= FILLED * self.slots.len()
    }

    /// Adds an update to that of the same row, or puts it into the next empty place; there must be one.
    fn insert(&mut self, inverse: u64, update: Update) {
        let place = self.place(inverse);
        let (before, from) = self.slots.split_at_mut(place);
        for slot in from.iter_mut().chain(before) {
            if slot.mask == 0 {
                *slot = update;
                self.taken += 1;
                return;
            }
            if slot.row == update.row {
                slot.mask |= update.mask;
                return;
            }
        }
    }

    /// Takes more memory. False if that is all.
    fn grow(&mut self, spread: Spread) -> bool {
        let places = self.slots.len();
        if places >= self.most {
            return false;
        }
        let mut larger = Buckets::new(spread, (places * 4).min(self.most), self.most);
        let mut inverses = Vec::with_capacity(BATCH);
        let mut batch = Vec::with_capacity(BATCH);
        for slots in self.slots.chunks(BATCH) {
            batch.clear();
            batch.extend(slots.iter().filter(|slot| slot.mask != 0));
            spread.inverses(&batch, &mut inverses);
            larger.touch(&inverses);
            for (&update, &inverse) in batch.iter().zip(&inverses) {
                larger.insert(inverse, update);
            }
        }
        *self = larger;
        true
    }

    /// Everything in the table by rows. After that it must be cleared.
    fn sorted(&mut self) -> &[Update] {
        let mut len = 0;
        for n in 0..self.slots.len() {
            if self.slots[n].mask != 0 {
                self.slots.swap(len, n);
                len += 1;
            }
        }
        let used = &mut self.slots[..len];
        used.sort_unstable_by_key(|update| update.row);
        used
    }

    fn clear(&mut self) {
        self.slots.fill(Update::default());
        self.taken = 0;
    }
}

/// Sorted updates on the disk.
#[derive(Debug)]
struct Run {
    pages: Sequence,
    /// How often its updates were merged.
    level: u32,
}

impl Form {
    /// Writes updates, which come by rows.
    fn write(&self, updates: impl Iterator<Item = Update>, level: u32) -> Run {
        let stretch = STRETCH * self.page.div_ceil(8);
        let mut run = Run { pages: Sequence::new(&self.pages, stretch), level };
        let mut bytes = Vec::with_capacity(self.page + LARGEST);
        let mut last = 0;
        for update in updates {
            put_number(update.row - last, &mut bytes);
            bytes.extend_from_slice(&update.mask.to_le_bytes());
            last = update.row;
            if bytes.len() >= self.page {
                run.pages.append(&self.pack(&bytes));
                bytes.clear();
                last = 0;
            }
        }
        if !bytes.is_empty() {
            run.pages.append(&self.pack(&bytes));
        }
        run.pages.rewind();
        run
    }

    /// A page: its length in bytes, and the bytes.
    fn pack(&self, bytes: &[u8]) -> Vec<u64> {
        let packed = self.compress.then(|| lz4_flex::block::compress(bytes));
        let bytes = packed.as_deref().unwrap_or(bytes);
        let mut words = vec![0_u64; 1 + bytes.len().div_ceil(8)];
        words[0] = bytes.len() as u64;
        bytemuck::cast_slice_mut::<u64, u8>(&mut words[1..])[..bytes.len()].copy_from_slice(bytes);
        words
    }

    fn read(&self, run: Run) -> Input {
        Input::Run(RunReader {
            form: self.clone(),
            pages: run.pages,
            bytes: Vec::new(),
            at: 0,
            last: 0,
        })
    }
}

/// Seven bits a byte, the lowest first.
fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Reads a run.
#[derive(Debug)]
struct RunReader {
    form: Form,
    pages: Sequence,
    bytes: Vec<u8>,
    at: usize,
    last: u64,
}

impl RunReader {
    /// The bytes of the next page; none if it could not be read, which the file keeps in mind.
    fn load(&mut self, words: &[u64]) {
        (self.at, self.last) = (0, 0);
        let bytes: &[u8] = words.get(1..).map_or(&[], bytemuck::cast_slice);
        let len = words.first().map_or(0, |&len| len as usize);
        let bytes = bytes.get(..len).unwrap_or_default();
        self.bytes.clear();
        if !self.form.compress {
            self.bytes.extend_from_slice(bytes);
        } else if let Ok(plain) = lz4_flex::block::decompress(bytes, self.form.page + LARGEST) {
            self.bytes = plain;
        } else {
            let error = std::io::Error::from(std::io::ErrorKind::InvalidData);
            let pages = &self.form.pages;
            pages.fail(&mut pages.lock(), &error);
        }
    }

    fn next(&mut self) -> Option<Update> {
        while self.at >= self.bytes.len() {
            let words = self.pages.take()?;
            self.load(&words);
        }
        let mut rest = &self.bytes[self.at..];
        let row = self.last.checked_add(take_number(&mut rest)?)?;
        let (mask, rest) = rest.split_first_chunk()?;
        self.at = self.bytes.len() - rest.len();
        self.last = row;
        Some(Update { row, mask: u64::from_le_bytes(*mask) })
    }
}

/// Updates by rows.
#[derive(Debug)]
enum Input {
    Memory(std::vec::IntoIter<Update>),
    Run(RunReader),
}

/// Merges inputs: the heads of all play against each other in a tree, in which every node keeps who lost
/// there (Knuth, volume 3, 5.4.1). After the first one is taken only his own matches are played again.
#[derive(Debug)]
struct Tournament {
    inputs: Vec<Input>,
    /// The next update of each input; behind the last one a row that no row reaches.
    heads: Vec<Update>,
    /// The losers of all matches, in place 0 the winner.
    losers: Vec<usize>,
}

const END: Update = Update { row: u64::MAX, mask: 0 };

impl Tournament {
    fn new(inputs: Vec<Input>) -> Tournament {
        let players = inputs.len();
        let mut tree = Tournament { inputs, heads: vec![END; players], losers: vec![0; players] };
        for player in 0..players {
            tree.advance(player);
        }
        // Player `p` begins at node `players + p`; the winner of node `n` goes on to `n / 2`.
        let mut winners: Vec<usize> = (0..2 * players).map(|n| n.wrapping_sub(players)).collect();
        for node in (1..players).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            let first = tree.heads[a].row <= tree.heads[b].row;
            (winners[node], tree.losers[node]) = if first { (a, b) } else { (b, a) };
        }
        if players > 0 {
            tree.losers[0] = winners[1];
        }
        tree
    }

    fn advance(&mut self, player: usize) {
        let next = match &mut self.inputs[player] {
            Input::Memory(updates) => updates.next(),
            Input::Run(run) => run.next(),
        };
        self.heads[player] = next.unwrap_or(END);
    }

    fn take_first(&mut self) -> Option<Update> {
        let mut player = *self.losers.first()?;
        let first = self.heads[player];
        if first == END {
            return None;
        }
        self.advance(player);
        let mut node = self.losers.len() + player;
        while node > 1 {
            node /= 2;
            if self.heads[self.losers[node]].row < self.heads[player].row {
                std::mem::swap(&mut self.losers[node], &mut player);
            }
        }
        self.losers[0] = player;
        Some(first)
    }
}

impl Iterator for Tournament {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        let mut first = self.take_first()?;
        while self.heads[self.losers[0]].row == first.row {
            let Some(same) = self.take_first() else { break };
            first.mask |= same.mask;
        }
        Some(first)
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

    /// Runs are read and written in order, also where others are written and merged at the same time.
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
    fn inverses_are_inverses() {
        for rows in [1, 5, 59_136, 3_784_704, (1 << 32) - 1, 1 << 40] {
            let spread = Spread::new(rows);
            assert!(spread.prime > rows);
            let step = (rows / 1000).max(1);
            let updates: Vec<Update> =
                (0..rows.min(1000)).map(|n| Update { row: n * step, mask: 1 }).collect();
            let mut inverses = Vec::new();
            spread.inverses(&updates, &mut inverses);
            for (update, &inverse) in updates.iter().zip(&inverses) {
                assert_eq!(spread.times(update.row + 1, inverse), 1 % spread.prime);
                assert_eq!(spread.inverse(update.row + 1), inverse);
            }
        }
    }

    /// Whatever the size, most places are taken before a table is written out, and rows are found soon.
    #[test]
    fn neighbouring_rows_fill_tables_of_every_size() {
        let rows = 40_000_000;
        let spread = Spread::new(rows);
        for places in [512, 10_000, 100_000, 4_000_000] {
            let mut buckets = Buckets::new(spread, places, places);
            // As passes send them: heaps of neighbours.
            let start = 3_000_000;
            let mut sent = (start..rows).filter(|row| row / 64 % 3 != 0);
            while !buckets.is_full() {
                let batch: Vec<Update> = sent
                    .by_ref()
                    .take(BATCH.min(places / 64))
                    .map(|row| Update { row, mask: 1 })
                    .collect();
                let mut inverses = Vec::new();
                spread.inverses(&batch, &mut inverses);
                for (&update, &inverse) in batch.iter().zip(&inverses) {
                    buckets.insert(inverse, update);
                }
            }
            let taken = buckets.slots.iter().filter(|slot| slot.mask != 0).count();
            assert_eq!(taken, buckets.taken);
            assert!(10 * taken >= 6 * places, "{taken} of {places} places");
            // How far rows are from where they belong.
            let far = |(at, slot): (usize, &Update)| {
                let place = buckets.place(spread.inverse(slot.row + 1));
                (at + places - place) % places
            };
            let used = buckets.slots.iter().enumerate().filter(|(_, slot)| slot.mask != 0);
            let sum: usize = used.map(far).sum();
            let average = sum as f64 / taken as f64;
            println!("{places} places: {taken} taken, {average:.1} from where they belong");
            assert!(average < 4.0, "{average} at {places} places");
        }
    }

    #[test]
    fn colliding_rows_stay_apart() {
        let spread = Spread::new(100);
        let mut buckets = Buckets::new(spread, 40, 40);
        let mut row = 0;
        while !buckets.is_full() {
            buckets.insert(spread.inverse(row + 1), Update { row, mask: 1 });
            row += 1;
        }
        assert_eq!(row, 28);
        buckets.insert(spread.inverse(4), Update { row: 3, mask: 4 });
        assert!(!buckets.grow(spread));
        let sorted = buckets.sorted();
        assert_eq!(sorted.len(), 28);
        assert_eq!(sorted[3], Update { row: 3, mask: 5 });
        assert!(sorted.is_sorted_by_key(|update| update.row));
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
