//! The updates of a propagation table that are in memory.
//!
//! Rows that are told something lie close together, so buckets of neighbouring rows would overflow
//! while others are empty, and long searches are needed long before the table is full. Therefore
//! the place of a row comes from its inverse modulo a prime, which spreads rows evenly.

use crate::proptable::Update;

/// The part of its places that a table fills, in tenths. Putting a row into a table that is so
/// full looks at six places on average; the bound of a search would be met the sooner the larger
/// the table is.
const FILLED: usize = 7;

/// Updates that one thread gathers before they go to a table.
pub(crate) const BATCH: usize = 128;

/// Inversion modulo a prime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    prime: u64,
}

impl Spread {
    /// For rows below `rows`. Row numbers are counted from one here, since zero has no inverse.
    pub(crate) fn new(rows: u64) -> Spread {
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
    pub(crate) fn inverses(self, updates: &[Update], out: &mut Vec<u64>) {
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
pub(crate) struct Buckets {
    pub(crate) slots: Vec<Update>,
    /// How many places are taken.
    taken: usize,
    /// How many places there may be.
    most: usize,
    /// The number of places divided by the prime, in units of 2^-64.
    factor: u128,
}

impl Buckets {
    /// Places for updates, and how many there may be.
    pub(crate) fn new(spread: Spread, places: usize, most: usize) -> Buckets {
        let slots = vec![Update::default(); places];
        let factor = ((places as u128) << 64) / u128::from(spread.prime);
        Buckets { slots, taken: 0, most, factor }
    }

    fn place(&self, inverse: u64) -> usize {
        ((u128::from(inverse) * self.factor) >> 64) as usize
    }

    /// Brings the places of rows into the processor's caches: all at once, while the search for
    /// one of them waits for that of the one before.
    pub(crate) fn touch(&self, inverses: &[u64]) {
        let first = inverses.iter().map(|&inverse| self.slots[self.place(inverse)].mask);
        std::hint::black_box(first.fold(0, |all, mask| all ^ mask));
    }

    /// Whether as many places are taken as may be.
    pub(crate) fn is_full(&self) -> bool {
        10 * self.taken >= FILLED * self.slots.len()
    }

    /// Adds an update to that of the same row, or puts it into the next empty place; there must be
    /// one.
    pub(crate) fn insert(&mut self, inverse: u64, update: Update) {
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
    pub(crate) fn grow(&mut self, spread: Spread) -> bool {
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
    pub(crate) fn sorted(&mut self) -> &[Update] {
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

    /// Empties all places.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Update::default());
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Whatever the size, most places are taken before a table is written out, and rows are found
    /// soon.
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
}
