//! Stretches of working files: what is written and read from beginning to end, as runs of updates
//! are.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};

use hoffman_store::StoredFile;

use crate::{FILES, OnDisk, Pages, bytes_of, read_at, write_at};

/// A part of a working file, given up when it is dropped.
#[derive(Debug)]
struct Stretch {
    pages: Arc<Pages>,
    /// The number of the file, and the file.
    number: usize,
    file: Arc<dyn StoredFile>,
    /// Where it begins, in bytes.
    at: u64,
    /// Its length, and how much of it is written or read, in words.
    len: u32,
    used: u32,
}

impl Stretch {
    fn new(pages: &Arc<Pages>, len: u32) -> io::Result<Stretch> {
        // Any file will do; one thread at a time looks for a place in each.
        let number = fastrand::usize(..FILES);
        let mut on_disk = locked(pages, number);
        let file = pages.opened(&mut on_disk)?;
        let at = pages.place(&mut on_disk, len)?;
        drop(on_disk);
        Ok(Stretch { pages: pages.clone(), number, file, at, len, used: 0 })
    }

    fn has_room(&self, words: usize) -> bool {
        (self.len - self.used) as usize >= words
    }

    /// Where the next words are.
    fn next(&self) -> u64 {
        self.at + 8 * u64::from(self.used)
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        locked(&self.pages, self.number).room.give_up(self.at, bytes_of(self.len));
    }
}

fn locked(pages: &Pages, number: usize) -> MutexGuard<'_, OnDisk> {
    pages.on_disk[number].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pages one behind another in stretches of their own. Errors are kept by [`Pages`]: what could
/// not be written is missing, what cannot be read is zeros.
#[derive(Debug)]
pub(crate) struct PageSequence {
    pages: Arc<Pages>,
    /// The words of a stretch; a page that is longer has one to itself.
    len: u32,
    stretches: VecDeque<Stretch>,
    /// The lengths of the pages that are not read yet, in words.
    lengths: VecDeque<u32>,
}

impl PageSequence {
    /// An empty one, whose stretches have so many words.
    pub(crate) fn new(pages: &Arc<Pages>, len: usize) -> PageSequence {
        let (stretches, lengths) = (VecDeque::new(), VecDeque::new());
        PageSequence { pages: pages.clone(), len: len as u32, stretches, lengths }
    }

    /// Writes a page behind the others.
    pub(crate) fn append(&mut self, words: &[u64]) {
        if let Err(error) = self.try_append(words) {
            self.pages.fail(&mut self.pages.lock(), &error);
        }
    }

    fn try_append(&mut self, words: &[u64]) -> io::Result<()> {
        if !self.stretches.back().is_some_and(|last| last.has_room(words.len())) {
            let len = self.len.max(words.len() as u32);
            self.stretches.push_back(Stretch::new(&self.pages, len)?);
        }
        let Some(last) = self.stretches.back_mut() else { return Ok(()) };
        let bytes: &[u8] = bytemuck::cast_slice(words);
        write_at(&*last.file, bytes, last.next())?;
        self.pages.count_written(bytes.len());
        last.used += words.len() as u32;
        self.lengths.push_back(words.len() as u32);
        Ok(())
    }

    /// From now on pages are read, from the first one on.
    pub(crate) fn rewind(&mut self) {
        self.stretches.iter_mut().for_each(|stretch| stretch.used = 0);
    }

    /// The next page, for the last time: stretches that are read are given up.
    pub(crate) fn take(&mut self) -> Option<Vec<u64>> {
        let len = self.lengths.pop_front()?;
        // The writer went on to another stretch where a page had no room, and so does the reader.
        while self.stretches.front().is_some_and(|first| !first.has_room(len as usize)) {
            self.stretches.pop_front();
        }
        let first = self.stretches.front_mut()?;
        let mut words = vec![0; len as usize];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        self.pages.count_read(bytes.len());
        let read = read_at(&*first.file, bytes, first.next());
        first.used += len;
        if let Err(error) = read {
            self.pages.fail(&mut self.pages.lock(), &error);
            words.fill(0);
        }
        Some(words)
    }

    /// How many pages there are, and in how many stretches.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.lengths.len(), self.stretches.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_in_order_from_stretches_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 0);
        let page = |n: u64, which: u64| vec![2 * n + which; 10 + n as usize % 30];
        for round in 0..4 {
            let mut both = [(); 2].map(|()| PageSequence::new(&pages, 1000));
            // Written in turns, as merges and senders do.
            for n in 0..500 {
                for (which, sequence) in (0..).zip(&mut both) {
                    sequence.append(&page(n, which));
                }
            }
            both[0].append(&vec![7; 3000]);
            for (which, sequence) in (0..).zip(&mut both) {
                let (written, stretches) = sequence.lengths();
                assert!(stretches * 30 < written, "{stretches} stretches, {written} pages");
                sequence.rewind();
                for n in 0..500 {
                    assert_eq!(sequence.take().unwrap(), page(n, which), "round {round}");
                }
            }
            // Longer than a stretch.
            assert_eq!(both[0].take().unwrap(), vec![7; 3000]);
            assert!(both.iter_mut().all(|sequence| sequence.take().is_none()));
        }
        // What was given up is used again, though not always in the same file.
        let ends = pages.on_disk.iter().map(|on_disk| on_disk.lock().unwrap().room.end());
        assert!(ends.sum::<u64>() < 3 * 8 * 2 * 18_000);
        pages.check().unwrap();
    }
}
