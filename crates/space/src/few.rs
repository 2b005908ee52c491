//! Codes of few kinds, four bits each.

use crate::code::Code as _;
use crate::values::CodeStore;

/// How many kinds of codes four bits tell apart.
const KINDS: usize = 16;

/// Codes of one byte, of which there are no more than sixteen kinds, two to a byte, the first one
/// lowest. They are not changed.
#[derive(Debug)]
pub(crate) struct FewCodes {
    /// The two codes of every byte.
    pairs: Box<[[u8; 2]; 256]>,
    bytes: Vec<u8>,
}

impl FewCodes {
    /// The same codes; none if there are more kinds.
    pub(crate) fn of(codes: &[u8]) -> Option<FewCodes> {
        let mut occurs = [false; 256];
        for &code in codes {
            occurs[usize::from(code)] = true;
        }
        let kinds = (0..=u8::MAX).filter(|&code| occurs[usize::from(code)]);
        let (mut numbers, mut kind_of) = ([0; 256], [u8::ILLEGAL; KINDS]);
        for (number, code) in kinds.enumerate() {
            *kind_of.get_mut(number)? = code;
            numbers[usize::from(code)] = number as u8;
        }
        let number = |code: u8| numbers[usize::from(code)];
        let pair = |pair: &[u8]| number(pair[0]) | pair.get(1).map_or(0, |&code| number(code) << 4);
        let pairs = |byte: usize| [byte % KINDS, byte / KINDS].map(|number| kind_of[number]);
        Some(FewCodes {
            pairs: Box::new(std::array::from_fn(pairs)),
            bytes: codes.chunks(2).map(pair).collect(),
        })
    }
}

impl CodeStore for FewCodes {
    fn read(&self, at: usize, out: &mut [u8]) {
        let pair = |byte: &u8| self.pairs[usize::from(*byte)];
        let bytes = self.bytes.get(at / 2..).unwrap_or_default();
        // The second one of a pair, whole pairs, and the first one of a pair.
        let (head, rest) = out.split_at_mut((at % 2).min(out.len()));
        let (head_bytes, bytes) = bytes.split_at((at % 2).min(bytes.len()));
        head.iter_mut().zip(head_bytes).for_each(|(out, byte)| *out = pair(byte)[1]);
        let (whole, tail) = rest.as_chunks_mut();
        let tail_byte = bytes.get(whole.len());
        whole.iter_mut().zip(bytes).for_each(|(out, byte)| *out = pair(byte));
        tail.iter_mut().zip(tail_byte).for_each(|(out, byte)| *out = pair(byte)[0]);
    }

    fn write(&self, _at: usize, _codes: &[u8]) {
        debug_assert!(false, "codes of few kinds are not changed");
    }

    fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_were() {
        let kinds: Vec<u8> = (0..16).map(|n| n * 16 + n).collect();
        let codes: Vec<u8> = (0..1003_usize).map(|n| kinds[(n * n % 16) ^ (n % 7)]).collect();
        let few = FewCodes::of(&codes).unwrap();
        for (at, len) in [(0, 1003), (1, 64), (2, 1), (3, 2), (64, 64), (999, 4), (5, 0), (1002, 1)]
        {
            let mut read = vec![7; len];
            few.read(at, &mut read);
            assert_eq!(read, codes[at..at + len], "{at}, {len}");
        }
    }

    #[test]
    fn more_than_sixteen_kinds_are_too_many() {
        let codes: Vec<u8> = (0..17).collect();
        assert!(FewCodes::of(&codes).is_none());
        assert!(FewCodes::of(&codes[1..]).is_some());
        assert!(FewCodes::of(&[]).is_some());
    }
}
