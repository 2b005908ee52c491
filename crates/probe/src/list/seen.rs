//! Which positions are of a line in which the winner never has a choice, as far as it is known, so
//! that each is looked at once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hoffman_board::Bitboard;

use super::candidates::Scan;
use super::successors::Answered;

/// What is known of the positions of a table, two bits an index.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<AtomicU8>);

impl Seen {
    /// Room for the positions of a table of so many indices.
    pub(super) fn of_size(indices: u64) -> Seen {
        Seen((0..indices.div_ceil(4)).map(|_| AtomicU8::new(0)).collect())
    }

    fn has_room(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the position is of such a line.
    pub(super) fn get(&self, index: u64) -> Option<bool> {
        let bits = self.bits(index);
        (bits & 1 != 0).then_some(bits & 2 != 0)
    }

    /// Makes known whether it is.
    pub(super) fn set(&self, index: u64, found: bool) {
        if let Some(bits) = self.0.get((index / 4) as usize) {
            bits.fetch_or((1 | u8::from(found) << 1) << (index % 4 * 2), Relaxed);
        }
    }

    /// Makes it unknown again of a position that was said to be of none.
    pub(super) fn forget_if_none(&self, index: u64) {
        let shift = index % 4 * 2;
        if let Some(bits) = self.0.get((index / 4) as usize) {
            bits.update(Relaxed, Relaxed, |bits| match bits >> shift & 3 {
                1 => bits & !(1 << shift),
                _ => bits,
            });
        }
    }

    /// The squares of positions that are of such a line, and of those that are not, given with
    /// their indices.
    pub(super) fn known(&self, positions: impl Iterator<Item = (u8, u64)>) -> [Bitboard; 2] {
        let mut known = [Bitboard::EMPTY; 2];
        for (square, index) in positions {
            self.add_known(&mut known, square, index);
        }
        known
    }

    /// Adds one to them.
    pub(super) fn add_known(&self, known: &mut [Bitboard; 2], square: u8, index: u64) {
        let bits = self.bits(index);
        known[0] |= Bitboard(u64::from(bits == 3) << square);
        known[1] |= Bitboard(u64::from(bits == 1) << square);
    }

    #[inline]
    fn bits(&self, index: u64) -> u8 {
        let bits = self.0.get((index / 4) as usize).map_or(0, |bits| bits.load(Relaxed));
        bits >> (index % 4 * 2) & 3
    }
}

/// The same of positions by name.
#[derive(Debug, Default)]
pub(super) struct SeenNames([Mutex<HashMap<String, bool>>; SHARDS]);

/// Pieces of what is known by name, each with a lock.
const SHARDS: usize = 16;

impl SeenNames {
    fn shard(&self, name: &str) -> MutexGuard<'_, HashMap<String, bool>> {
        let sum: usize = name.bytes().map(usize::from).sum();
        // No code panics while it holds the lock.
        self.0[sum % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it stands what is known of a position.
pub(super) enum SeenPlace<'s> {
    Held(&'s Seen, u64),
    Named(&'s SeenNames, String),
}

impl<'s> SeenPlace<'s> {
    pub(super) fn new(scan: &'s Scan<'_>, (position, known): Answered<'_>) -> SeenPlace<'s> {
        // Two tables with prunes may answer differently.
        let member = known.hit.as_ref().map(|hit| &hit.member).filter(|member| !member.is_plain());
        let held = match (scan.held_index(position), &scan.kept) {
            (Some((index, _)), Some(kept)) => Some((&kept.seen, index)),
            (Some(_), None) => None,
            (None, _) if member.is_some() => None,
            (None, _) => scan.exits.seen(position),
        };
        if let Some((seen, index)) = held.filter(|(seen, _)| seen.has_room()) {
            return SeenPlace::Held(seen, index);
        }
        let table = member.map_or(Path::new(""), |member| member.table().path());
        SeenPlace::Named(&scan.named, format!("{} {}", position.short_fen(), table.display()))
    }

    pub(super) fn get(&self) -> Option<bool> {
        match self {
            SeenPlace::Held(seen, index) => seen.get(*index),
            SeenPlace::Named(names, name) => names.shard(name).get(name).copied(),
        }
    }

    pub(super) fn set(self, found: bool) {
        match self {
            SeenPlace::Held(seen, index) => seen.set(index, found),
            SeenPlace::Named(names, name) => {
                names.shard(&name).insert(name, found);
            }
        }
    }
}
