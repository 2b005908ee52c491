//! Outcomes in two bits each: what a bitbase needs of solved values.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::code::Code;
use crate::values::CodeStore;

/// The codes of illegal, lost, drawn and won positions. A move into a lost one wins in one move,
/// as outcomes are taken.
const CODES: [u8; 4] = [u8::ILLEGAL, 1, u8::DRAW, 254];

/// The four codes of every byte.
const EXPANDED: [[u8; 4]; 256] = {
    let mut all = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut at = 0;
        while at < 4 {
            all[byte][at] = CODES[byte >> (2 * at) & 3];
            at += 1;
        }
        byte += 1;
    }
    all
};

/// Outcomes in memory, four to a byte. Read, they are codes of one byte.
#[derive(Debug)]
pub struct PackedOutcomes {
    bytes: Vec<AtomicU8>,
}

impl PackedOutcomes {
    /// Room for so many outcomes, all illegal.
    pub fn new(len: usize) -> PackedOutcomes {
        PackedOutcomes { bytes: (0..len.div_ceil(4)).map(|_| AtomicU8::new(0)).collect() }
    }

    /// Puts down the outcomes of the codes from `at` on, a multiple of four, up to the end or
    /// another one.
    pub fn put<C: Code>(&self, at: usize, codes: &[C]) {
        let bytes = self.bytes.get(at / 4..).unwrap_or_default();
        for (byte, four) in bytes.iter().zip(codes.chunks(4)) {
            byte.store(packed(four), Ordering::Relaxed);
        }
    }

    /// The code at a place: illegal where there is none.
    #[inline]
    pub fn code(&self, at: usize) -> u8 {
        let byte = self.bytes.get(at / 4).map_or(0, |byte| byte.load(Ordering::Relaxed));
        EXPANDED[usize::from(byte)][at % 4]
    }

    /// Whether the outcomes are those of another one with as much room.
    pub fn is_same(&self, other: &PackedOutcomes) -> bool {
        let mut pairs = self.bytes.chunks(64).zip(other.bytes.chunks(64));
        // Without a way out of a chunk, so that many are compared at once.
        self.bytes.len() == other.bytes.len()
            && pairs.all(|(own, other)| {
                let byte = |byte: &AtomicU8| byte.load(Ordering::Relaxed);
                let differ = own.iter().zip(other).map(|(own, other)| byte(own) ^ byte(other));
                differ.fold(0, |differ, byte| differ | byte) == 0
            })
    }

    /// The outcomes of some codes.
    pub fn of<C: Code>(codes: &[C]) -> PackedOutcomes {
        let packed = PackedOutcomes::new(codes.len());
        packed.put(0, codes);
        packed
    }
}

/// Packs the outcomes of some codes, four to a byte, as many as there are bytes for.
pub fn pack_outcomes<C: Code>(codes: &[C], bytes: &mut [u8]) {
    for (byte, four) in bytes.iter_mut().zip(codes.chunks(4)) {
        *byte = packed(four);
    }
}

/// The codes of packed outcomes, without the first `skip` of them.
pub fn unpack_outcomes(bytes: &[u8], skip: usize, out: &mut [u8]) {
    unpack(bytes, |&byte| byte, skip, out);
}

/// The same of bytes in containers, which `get` looks into.
fn unpack<B>(bytes: &[B], get: impl Fn(&B) -> u8, skip: usize, out: &mut [u8]) {
    let codes = |byte: &B| EXPANDED[usize::from(get(byte))];
    let code = |at: usize| bytes.get(at / 4).map_or(u8::ILLEGAL, |byte| codes(byte)[at % 4]);
    let head = out.len().min(skip.next_multiple_of(4) - skip);
    let (head, rest) = out.split_at_mut(head);
    head.iter_mut().zip(skip..).for_each(|(out, at)| *out = code(at));

    let at = skip + head.len();
    let (fours, tail) = rest.as_chunks_mut::<4>();
    let whole = bytes.get(at / 4..).unwrap_or_default();
    fours.iter_mut().zip(whole).for_each(|(four, byte)| *four = codes(byte));
    let at = at + 4 * fours.len();
    tail.iter_mut().zip(at..).for_each(|(out, at)| *out = code(at));
}

/// Changes packed outcomes to those of some codes, without the first `skip` of them.
pub fn change_outcomes(bytes: &mut [u8], skip: usize, codes: &[u8]) {
    for (at, &code) in (skip..).zip(codes) {
        let Some(byte) = bytes.get_mut(at / 4) else { return };
        *byte = replaced(*byte, at, code);
    }
}

/// A byte with another outcome at a place.
fn replaced(byte: u8, at: usize, code: u8) -> u8 {
    let shift = 2 * (at % 4);
    byte & !(3 << shift) | number(code) << shift
}

/// Up to four outcomes in a byte.
#[inline(always)]
fn packed<C: Code>(four: &[C]) -> u8 {
    let bits = four.iter().enumerate().map(|(at, &code)| number(code) << (2 * at));
    bits.fold(0, |byte, bits| byte | bits)
}

/// The place of an outcome in [`CODES`].
#[inline(always)]
fn number<C: Code>(code: C) -> u8 {
    u8::from(code > C::ILLEGAL) + u8::from(code >= C::DRAW) + u8::from(code > C::DRAW)
}

impl CodeStore for PackedOutcomes {
    fn read(&self, at: usize, out: &mut [u8]) {
        unpack(&self.bytes, |byte| byte.load(Ordering::Relaxed), at, out);
    }

    fn write(&self, at: usize, codes: &[u8]) {
        for (at, &code) in (at..).zip(codes) {
            let Some(byte) = self.bytes.get(at / 4) else { return };
            // Neighbours may be written by another thread.
            let _ = byte.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |byte| {
                Some(replaced(byte, at, code))
            });
        }
    }

    fn outcomes(&self) -> Option<&PackedOutcomes> {
        Some(self)
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
            codes.iter().map(|&code| CODES[usize::from(number(code))]).collect()
        };
        let packed = PackedOutcomes::of(&codes);
        for (at, len) in [(0, 1003), (1, 64), (2, 1), (3, 2), (64, 64), (999, 4), (5, 0)] {
            let mut read = vec![7; len];
            packed.read(at, &mut read);
            assert_eq!(read, outcomes(&codes[at..at + len]), "{at}, {len}");
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
