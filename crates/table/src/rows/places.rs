//! Where the entries that a walk writes lie: side by side, in a window of pieces, or nowhere.

use std::ops::Range;

use hoffman_space::Code;

use super::distances::PIECE;

/// Places of entries, which many threads write to.
pub(super) trait EntryPlaces<W: Code>: Copy + Sync {
    /// Whether there are places at all.
    const STORES: bool = true;

    /// The indices of what is to be written, or at least counted.
    fn indices(&self) -> Range<u64>;

    /// The place of the entry that has a number among them; none if there is no room for it.
    fn get(&self, number: usize) -> Option<&W::Shared>;
}

/// Entries side by side.
pub(super) struct EntrySlice<'a, S> {
    pub(super) start: usize,
    pub(super) places: &'a [S],
}

/// Entries in pieces of [`PIECE`].
pub(super) struct Window<'a, S> {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) pieces: &'a [&'a [S]],
}

/// No entries: all values are counted.
#[derive(Clone, Copy)]
pub(super) struct CountedOnly;

impl<S> Clone for EntrySlice<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for EntrySlice<'_, S> {}

impl<S> Clone for Window<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Window<'_, S> {}

impl<W: Code> EntryPlaces<W> for EntrySlice<'_, W::Shared> {
    fn indices(&self) -> Range<u64> {
        self.start as u64..(self.start + self.places.len()) as u64
    }

    #[inline(always)]
    fn get(&self, number: usize) -> Option<&W::Shared> {
        self.places.get(number)
    }
}

impl<W: Code> EntryPlaces<W> for Window<'_, W::Shared> {
    fn indices(&self) -> Range<u64> {
        self.start as u64..(self.start + self.len) as u64
    }

    #[inline(always)]
    fn get(&self, number: usize) -> Option<&W::Shared> {
        self.pieces.get(number / PIECE)?.get(number % PIECE)
    }
}

impl<W: Code> EntryPlaces<W> for CountedOnly {
    const STORES: bool = false;

    fn indices(&self) -> Range<u64> {
        0..u64::MAX
    }

    #[inline(always)]
    fn get(&self, _: usize) -> Option<&W::Shared> {
        None
    }
}
