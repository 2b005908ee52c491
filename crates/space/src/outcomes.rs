//! Outcomes in two bits each: what a bitbase needs of solved values.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::code::Code;
use crate::values::{CodeStore, PackedCodes};

/// The codes of illegal, lost, drawn and won positions. A move into a lost one wins in one move,
/// as outcomes are taken.
const CODES: [u8; 4] = [u8::ILLEGAL, 1, u8::DRAW, 254];

/// How many outcomes a word holds.
const IN_WORD: usize = 32;

/// Outcomes in memory, two bits each, the first one lowest. Read, they are codes of one byte.
#[derive(Debug)]
pub struct PackedOutcomes {
    words: Vec<AtomicU64>,
}

impl PackedOutcomes {
    /// Room for so many outcomes, all illegal.
    pub fn new(len: usize) -> PackedOutcomes {
        PackedOutcomes { words: (0..len.div_ceil(IN_WORD)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Puts down the outcomes of the codes from `at` on, a multiple of 32, up to the end or
    /// another one.
    pub fn put<C: Code>(&self, at: usize, codes: &[C]) {
        debug_assert_eq!(at % IN_WORD, 0);
        let words = self.words.get(at / IN_WORD..).unwrap_or_default();
        for (word, codes) in words.iter().zip(codes.chunks(IN_WORD)) {
            word.store(packed(codes), Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn word(&self, n: usize) -> u64 {
        self.words.get(n).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Fills `out` with the codes from `at` on, with the instructions of the caller.
    #[inline(always)]
    pub(crate) fn read_inlined(&self, at: usize, out: &mut [u8]) {
        unpack(|n| self.word(n), at, out);
    }

    /// The code at a place: illegal where there is none.
    #[inline]
    pub fn code(&self, at: usize) -> u8 {
        code_in(self.word(at / IN_WORD), at)
    }

    /// Whether the outcomes are those of another one with as much room.
    pub fn is_same(&self, other: &PackedOutcomes) -> bool {
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let mut pairs = self.words.iter().zip(&other.words);
        self.words.len() == other.words.len() && pairs.all(|(own, other)| word(own) == word(other))
    }

    /// The outcomes of some codes.
    pub fn of<C: Code>(codes: &[C]) -> PackedOutcomes {
        PackedOutcomes { words: codes.chunks(IN_WORD).map(|c| AtomicU64::new(packed(c))).collect() }
    }
}

/// Packs the outcomes of some codes, four to a byte, as many as there are bytes for.
pub fn pack_outcomes<C: Code>(codes: &[C], bytes: &mut [u8]) {
    for (bytes, codes) in bytes.chunks_mut(IN_WORD / 4).zip(codes.chunks(IN_WORD)) {
        let len = bytes.len().min(codes.len().div_ceil(4));
        bytes[..len].copy_from_slice(&packed(codes).to_le_bytes()[..len]);
    }
}

/// The codes of packed outcomes, without the first `skip` of them.
pub fn unpack_outcomes(bytes: &[u8], skip: usize, out: &mut [u8]) {
    let word = |n: usize| {
        let part = bytes.get(n * (IN_WORD / 4)..).unwrap_or_default();
        part.first_chunk().map_or_else(
            || part.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
            |word| u64::from_le_bytes(*word),
        )
    };
    unpack(word, skip, out);
}

/// The codes of words from a place on.
#[inline(always)]
fn unpack(word: impl Fn(usize) -> u64, at: usize, out: &mut [u8]) {
    // Up to the first whole word, whole words, and the rest.
    let head = out.len().min(at.next_multiple_of(IN_WORD) - at);
    let (head, rest) = out.split_at_mut(head);
    if !head.is_empty() {
        unpack_word(word(at / IN_WORD), at % IN_WORD, head);
    }
    for (n, out) in ((at + head.len()) / IN_WORD..).zip(rest.chunks_mut(IN_WORD)) {
        unpack_word(word(n), 0, out);
    }
}

/// The codes of some outcomes of a word.
#[inline(always)]
fn unpack_word(word: u64, at: usize, out: &mut [u8]) {
    let mut codes = [0; IN_WORD];
    let (eights, _) = codes.as_chunks_mut();
    let word = word >> (2 * at);
    for (n, eight) in eights.iter_mut().enumerate() {
        *eight = expanded(word >> (16 * n) & 0xffff).to_le_bytes();
    }
    match out.as_mut_array() {
        Some(out) => *out = codes,
        None => out.iter_mut().zip(codes).for_each(|(out, code)| *out = code),
    }
}

/// The codes of eight outcomes, one a byte.
#[inline(always)]
fn expanded(outcomes: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let bytes = (outcomes | outcomes << 24) & 0x0000_00ff_0000_00ff;
    let fours = (bytes | bytes << 12) & 0x000f_000f_000f_000f;
    let numbers = (fours | fours << 6) & (3 * ONES);
    // 1 and 2 are one bit of their code each; 3 has both, and is 254.
    let (low, high) = (numbers & ONES, numbers >> 1 & ONES);
    let both = low & high;
    (low | high << 7) ^ ((both << 7) - both)
}

/// Changes packed outcomes to those of some codes, without the first `skip` of them.
pub fn change_outcomes(bytes: &mut [u8], skip: usize, codes: &[u8]) {
    for (at, &code) in (skip..).zip(codes) {
        let Some(byte) = bytes.get_mut(at / 4) else { return };
        let shift = 2 * (at % 4);
        *byte = *byte & !(3 << shift) | outcome_number(code) << shift;
    }
}

/// The code of one of the outcomes of a word.
#[inline(always)]
fn code_in(word: u64, at: usize) -> u8 {
    CODES[(word >> (2 * (at % IN_WORD))) as usize & 3]
}

/// Up to 32 outcomes in a word.
#[inline(always)]
fn packed<C: Code>(codes: &[C]) -> u64 {
    let mut numbers = [0; IN_WORD];
    numbers.iter_mut().zip(codes).for_each(|(number_of, &code)| *number_of = outcome_number(code));
    let (eights, _) = numbers.as_chunks();
    eights.iter().rev().fold(0, |word, eight| word << 16 | gathered(u64::from_le_bytes(*eight)))
}

/// Eight numbers of two bits, one a byte, side by side.
#[inline(always)]
fn gathered(numbers: u64) -> u64 {
    let fours = (numbers | numbers >> 6) & 0x000f_000f_000f_000f;
    let bytes = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
    (bytes | bytes >> 24) & 0xffff
}

/// The outcome of a code: 0 illegal, 1 lost, 2 drawn, 3 won.
#[inline(always)]
pub fn outcome_number<C: Code>(code: C) -> u8 {
    u8::from(code > C::ILLEGAL) + u8::from(code >= C::DRAW) + u8::from(code > C::DRAW)
}

impl CodeStore for PackedOutcomes {
    fn read(&self, at: usize, out: &mut [u8]) {
        self.read_inlined(at, out);
    }

    fn write(&self, at: usize, codes: &[u8]) {
        for (at, &code) in (at..).zip(codes) {
            let Some(word) = self.words.get(at / IN_WORD) else { return };
            let shift = 2 * (at % IN_WORD);
            // Neighbours may be written by another thread.
            let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                Some(word & !(3 << shift) | u64::from(outcome_number(code)) << shift)
            });
        }
    }

    fn packed(&self) -> Option<PackedCodes<'_>> {
        Some(PackedCodes::Outcomes(self))
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_as_they_were_written() {
        let codes: Vec<u8> =
            (0..1003_usize).map(|n| [0, 1, 7, 127, 128, 129, 200, 255][n * n % 8]).collect();
        let outcomes = |codes: &[u8]| -> Vec<u8> {
            codes.iter().map(|&code| CODES[usize::from(outcome_number(code))]).collect()
        };
        let packed = PackedOutcomes::of(&codes);
        let mut bytes = vec![7; codes.len().div_ceil(4)];
        pack_outcomes(&codes, &mut bytes);
        for (at, len) in [(0, 1003), (1, 64), (2, 1), (3, 2), (64, 64), (999, 4), (5, 0), (7, 9)] {
            let mut read = vec![7; len];
            packed.read(at, &mut read);
            assert_eq!(read, outcomes(&codes[at..at + len]), "{at}, {len}");
            let one_by_one: Vec<u8> = (at..at + len).map(|at| packed.code(at)).collect();
            assert_eq!(read, one_by_one, "{at}, {len}");
            unpack_outcomes(&bytes, at, &mut read);
            assert_eq!(read, one_by_one, "bytes, {at}, {len}");
        }
        let wide: Vec<u16> = codes.iter().map(|&code| u16::convert(code)).collect();
        let mut read = vec![7; 1003];
        PackedOutcomes::of(&wide).read(0, &mut read);
        assert_eq!(read, outcomes(&codes));

        let mut expected = outcomes(&codes);
        packed.write(62, &[0, 254, 128, 1, 0]);
        expected[62..67].copy_from_slice(&[0, 254, 128, 1, 0]);
        packed.read(0, &mut read);
        assert_eq!(read, expected);
    }
}
