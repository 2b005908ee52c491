//! Long lists in chunks of the size of pages.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Elements of a chunk, see [`Chunked`].
const CHUNK_LEN: usize = 1 << 15;

/// A long list in chunks of the size of pages. They find room where pages were before; all of it
/// in one would not, and the system would have to give more.
pub(super) struct Chunked<T>(Vec<Vec<T>>);

impl<T: Copy> Chunked<T> {
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / CHUNK_LEN)?.get(at % CHUNK_LEN)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.0.get_mut(at / CHUNK_LEN)?.get_mut(at % CHUNK_LEN)
    }

    /// The 64 elements from a multiple of 64 on.
    #[inline(always)]
    pub(super) fn row(&self, at: usize) -> Option<&[T; 64]> {
        self.0.get(at / CHUNK_LEN)?.get(at % CHUNK_LEN..)?.first_chunk()
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, at: usize) -> Option<&mut [T; 64]> {
        self.0.get_mut(at / CHUNK_LEN)?.get_mut(at % CHUNK_LEN..)?.first_chunk_mut()
    }

    /// The elements of a range, chunk by chunk.
    pub(super) fn parts(&mut self, range: Range<usize>) -> impl Iterator<Item = &mut [T]> {
        let first = range.start / CHUNK_LEN;
        self.0.iter_mut().enumerate().skip(first).map_while(move |(n, chunk)| {
            let (start, end) = (n * CHUNK_LEN, n * CHUNK_LEN + chunk.len());
            let part = range.start.max(start)..range.end.min(end);
            (part.start < part.end).then(|| &mut chunk[part.start - start..part.end - start])
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

/// Chunks that were used before, for the list that needs some next: giving them back and asking
/// for others costs time and leaves gaps.
pub(super) struct FreeList<T>(Mutex<Vec<Vec<T>>>);

impl<T: Copy> FreeList<T> {
    pub(super) fn new() -> FreeList<T> {
        FreeList(Mutex::default())
    }

    pub(super) fn take(&self, element: T, len: usize) -> Chunked<T> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = spare.len().saturating_sub(len.div_ceil(CHUNK_LEN));
        let mut chunks = spare.split_off(from);
        drop(spare);
        chunks.resize_with(len.div_ceil(CHUNK_LEN), Vec::new);
        for (number, chunk) in chunks.iter_mut().enumerate() {
            chunk.clear();
            chunk.resize(CHUNK_LEN.min(len - number * CHUNK_LEN), element);
        }
        Chunked(chunks)
    }

    pub(super) fn give_back(&self, chunks: Chunked<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(chunks.0);
    }
}
