//! Long lists in pieces of the size of pages.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Elements of a piece, see [`Pieces`].
const PIECE_LEN: usize = 1 << 15;

/// A long list in pieces of the size of pages. They find room where pages were before; all of it in one would
/// not, and the system would have to give more.
pub(super) struct Pieces<T>(Vec<Vec<T>>);

impl<T: Copy> Pieces<T> {
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / PIECE_LEN)?.get(at % PIECE_LEN)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at / PIECE_LEN)?.get_mut(at % PIECE_LEN)
    }

    /// The 64 elements from a multiple of 64 on.
    #[inline(always)]
    pub(super) fn row(&self, at: usize) -> Option<&[T; 64]> {
        self.0.get(at / PIECE_LEN)?.get(at % PIECE_LEN..)?.first_chunk()
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, at: usize) -> Option<&mut [T; 64]> {
        self.0.get_mut(at / PIECE_LEN)?.get_mut(at % PIECE_LEN..)?.first_chunk_mut()
    }

    /// The elements of a range, piece by piece.
    pub(super) fn parts(&mut self, range: Range<usize>) -> impl Iterator<Item = &mut [T]> {
        let first = range.start / PIECE_LEN;
        self.0.iter_mut().enumerate().skip(first).map_while(move |(n, piece)| {
            let (start, end) = (n * PIECE_LEN, n * PIECE_LEN + piece.len());
            let part = range.start.max(start)..range.end.min(end);
            (part.start < part.end).then(|| &mut piece[part.start - start..part.end - start])
        })
    }

    /// Copies elements to a place.
    pub(super) fn put(&mut self, at: usize, mut elements: &[T]) {
        for part in self.parts(at..at + elements.len()) {
            let (now, later) = elements.split_at(part.len());
            part.copy_from_slice(now);
            elements = later;
        }
    }

    /// Copies elements from a place on.
    pub(super) fn take(&mut self, at: usize, mut out: &mut [T]) {
        for part in self.parts(at..at + out.len()) {
            let (now, later) = out.split_at_mut(part.len());
            now.copy_from_slice(part);
            out = later;
        }
    }
}

/// Pieces that were used before, for who needs some next: giving them back and asking for others costs time and
/// leaves gaps.
pub(super) struct Spare<T>(Mutex<Vec<Vec<T>>>);

impl<T: Copy> Spare<T> {
    pub(super) fn new() -> Spare<T> {
        Spare(Mutex::default())
    }

    pub(super) fn take(&self, element: T, len: usize) -> Pieces<T> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = spare.len().saturating_sub(len.div_ceil(PIECE_LEN));
        let mut pieces = spare.split_off(from);
        drop(spare);
        pieces.resize_with(len.div_ceil(PIECE_LEN), Vec::new);
        for (number, piece) in pieces.iter_mut().enumerate() {
            piece.clear();
            piece.resize(PIECE_LEN.min(len - number * PIECE_LEN), element);
        }
        Pieces(pieces)
    }

    pub(super) fn give_back(&self, pieces: Pieces<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(pieces.0);
    }
}
