//! Which parts of a working file are taken.

use std::collections::{BTreeMap, BTreeSet};

/// The parts of a file that are free. What was given up side by side is one part again, so that
/// places of any length can be taken from it: pages of all lengths come and go.
#[derive(Debug, Default)]
pub(crate) struct FileRoom {
    /// Where the file ends, in bytes.
    end: u64,
    /// The free parts by their places, with their lengths in bytes; no two of them touch.
    by_place: BTreeMap<u64, u64>,
    /// The same by their lengths.
    by_length: BTreeSet<(u64, u64)>,
}

impl FileRoom {
    /// Where the file ends.
    #[cfg(test)]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// A place for so many bytes, if a part that is free has room: the shortest that has.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        let &(length, at) = self.by_length.range((bytes, 0)..).next()?;
        self.remove(at, length);
        if length > bytes {
            self.insert(at + bytes, length - bytes);
        }
        Some(at)
    }

    /// By how much the file grows if so many bytes are appended.
    pub(crate) fn growth(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.tail())
    }

    /// A place for so many bytes at the end, where less than that is free.
    pub(crate) fn append(&mut self, bytes: u64) -> u64 {
        let tail = self.tail();
        let at = self.end - tail;
        if tail > 0 {
            self.remove(at, tail);
        }
        self.end = at + bytes;
        at
    }

    /// How much is free at the end.
    fn tail(&self) -> u64 {
        let last = self.by_place.last_key_value();
        last.filter(|&(&at, &length)| at + length == self.end).map_or(0, |(_, &length)| length)
    }

    /// Gives up a place.
    pub(crate) fn give_up(&mut self, mut at: u64, mut bytes: u64) {
        if let Some((&before, &length)) = self.by_place.range(..at).next_back()
            && before + length == at
        {
            self.remove(before, length);
            at = before;
            bytes += length;
        }
        if let Some(&length) = self.by_place.get(&(at + bytes)) {
            self.remove(at + bytes, length);
            bytes += length;
        }
        self.insert(at, bytes);
    }

    fn insert(&mut self, at: u64, length: u64) {
        self.by_place.insert(at, length);
        self.by_length.insert((length, at));
    }

    fn remove(&mut self, at: u64, length: u64) {
        self.by_place.remove(&at);
        self.by_length.remove(&(length, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken does not overlap, and all is one again when it is given up.
    #[test]
    fn places_are_apart_and_what_is_given_up_is_taken_again() {
        let (mut room, mut random) = (FileRoom::default(), fastrand::Rng::with_seed(1));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut most = 0;
        for step in 0..20_000 {
            if random.usize(..100) < 50 + usize::from(step < 2000) * 40 {
                let bytes = 8 * random.u64(1..200);
                let at = room.take(bytes).unwrap_or_else(|| room.append(bytes));
                let apart =
                    |&(other, length): &(u64, u64)| other + length <= at || at + bytes <= other;
                assert!(taken.iter().all(apart) && at + bytes <= room.end());
                taken.push((at, bytes));
            } else if !taken.is_empty() {
                let (at, bytes) = taken.swap_remove(random.usize(..taken.len()));
                room.give_up(at, bytes);
            }
            most = most.max(taken.iter().map(|&(_, bytes)| bytes).sum());
            let free: u64 = room.by_place.values().sum();
            assert_eq!(free + taken.iter().map(|&(_, bytes)| bytes).sum::<u64>(), room.end());
            assert_eq!(room.by_length.len(), room.by_place.len());
        }
        assert!(most > 100_000 && room.end() < 2 * most, "{} of {most}", room.end());
        taken.drain(..).for_each(|(at, bytes)| room.give_up(at, bytes));
        assert_eq!(room.take(room.end()), Some(0));
    }
}
