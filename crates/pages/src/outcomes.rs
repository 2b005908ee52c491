//! Outcomes in pages.

use std::sync::Arc;

use hoffman_space::{
    Code, CodeStore, Codes, StoredCodes, change_outcomes, pack_outcomes, unpack_outcomes,
};
use rayon::prelude::*;

use crate::codes::PAGE;
use crate::{PagedCodes, Pages};

/// Codes that are packed or unpacked at a time: as many as a page holds.
const PART: usize = 4 * PAGE;

/// The outcomes of one side of a slice in pages, four to a byte. Read, they are codes of one byte.
#[derive(Debug)]
pub struct PagedOutcomes {
    bytes: PagedCodes,
}

impl PagedOutcomes {
    /// Room for `len` outcomes, all illegal.
    pub fn new(pages: &Arc<Pages>, len: usize) -> PagedOutcomes {
        PagedOutcomes { bytes: PagedCodes::new::<u8>(pages, len.div_ceil(4)) }
    }

    /// The outcomes of codes.
    pub fn of(pages: &Arc<Pages>, codes: &Codes) -> PagedOutcomes {
        let outcomes = PagedOutcomes::new(pages, codes.len());
        (0..codes.len().div_ceil(PART)).into_par_iter().for_each(|n| {
            let at = n * PART;
            let mut all = vec![u16::ILLEGAL; PART.min(codes.len() - at)];
            codes.read(at, &mut all);
            outcomes.put(at, &all);
        });
        outcomes
    }

    /// Puts down the outcomes of the codes from `at` on, a multiple of four, up to the end or
    /// another one.
    pub fn put<C: Code>(&self, at: usize, codes: &[C]) {
        let mut bytes = vec![0; codes.len().div_ceil(4)];
        pack_outcomes(codes, &mut bytes);
        self.bytes.write(at / 4, &bytes);
    }

    /// Reads as [`CodeStore::read`], with room for the bytes of all that is read.
    fn read_through(&self, room: &mut [u8], at: usize, out: &mut [u8]) {
        let skip = at % 4;
        let packed = &mut room[..(skip + out.len()).div_ceil(4)];
        self.bytes.read(at / 4, packed);
        unpack_outcomes(packed, skip, out);
    }

    /// The container of `len` codes.
    pub fn into_codes(self, len: usize) -> Codes {
        Codes::Stored(StoredCodes { store: Arc::new(self), len, wide: false })
    }
}

impl CodeStore for PagedOutcomes {
    fn read(&self, at: usize, out: &mut [u8]) {
        // Mostly a row, or a part of one: clearing more room would take longer than reading.
        if out.len() <= 64 {
            self.read_through(&mut [0; 17], at, out);
            return;
        }
        let mut room = vec![0; out.len().min(PART) / 4 + 2];
        for (at, out) in (at..).step_by(PART).zip(out.chunks_mut(PART)) {
            self.read_through(&mut room, at, out);
        }
    }

    fn write(&self, at: usize, codes: &[u8]) {
        let (first, skip) = (at / 4, at % 4);
        if skip == 0 && codes.len().is_multiple_of(4) {
            self.put(at, codes);
            return;
        }
        // The outcomes beside them in a byte may be written by another thread.
        let bytes = (skip + codes.len()).div_ceil(4);
        self.bytes.change(first, bytes, |before, bytes| {
            let done = (4 * before).saturating_sub(skip);
            let codes = codes.get(done..).unwrap_or_default();
            change_outcomes(bytes, if before == 0 { skip } else { 0 }, codes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As they come out of memory, whichever parts are written and read.
    #[test]
    fn outcomes_are_those_that_memory_has() {
        const LEN: usize = 4 * PAGE * 2 + 1234;
        let folder = tempfile::tempdir().unwrap();
        let mut random = fastrand::Rng::with_seed(4);
        let codes: Vec<u8> = (0..LEN).map(|_| random.u8(..)).collect();
        for budget in [0, 1 << 22] {
            let pages = Pages::new(folder.path(), budget);
            let own = PagedOutcomes::of(&pages, &Codes::Narrow(codes.clone()));
            let memory = Codes::Narrow(codes.clone()).outcomes();
            let memory = memory.as_outcomes().unwrap();
            for step in 0..400 {
                let at = random.usize(..LEN);
                let len = random.usize(..=(LEN - at).min(if step % 9 == 0 { LEN } else { 300 }));
                if step % 3 == 0 {
                    let codes: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
                    own.write(at, &codes);
                    memory.write(at, &codes);
                }
                let mut read = [vec![7; len], vec![8; len]];
                own.read(at, &mut read[0]);
                memory.read(at, &mut read[1]);
                assert!(read[0] == read[1], "{at}, {len}");
            }
            let mut read = [vec![7; LEN], vec![8; LEN]];
            own.into_codes(LEN).read(0, &mut read[0]);
            memory.read(0, &mut read[1]);
            assert!(read[0] == read[1]);
            pages.check().unwrap();
        }
    }

    /// Threads that write neighbours in one byte.
    #[test]
    fn neighbours_in_a_byte_keep_what_they_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 0);
        let own = PagedOutcomes::new(&pages, 4);
        std::thread::scope(|scope| {
            for at in 0..4 {
                let own = &own;
                scope.spawn(move || {
                    let mut found = [0];
                    for code in [1, 254, u8::DRAW].into_iter().cycle().take(300) {
                        own.write(at, &[code]);
                        own.read(at, &mut found);
                        assert_eq!(found, [code], "{at}");
                    }
                });
            }
        });
        pages.check().unwrap();
    }
}
