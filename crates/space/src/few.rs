//! Codes of few kinds in each block, in as few bits as tell them apart there.

use crate::values::CodeStore;

/// How many codes there are in a block, but in the last one.
const BLOCK: usize = 128;

/// How many kinds of codes four bits tell apart. Blocks of more kinds are left as they are.
const KINDS: usize = 16;

/// Codes that lie in a group of whole bytes, however many bits each takes.
const GROUP: usize = 8;

/// Codes of one byte. They are not changed.
///
/// A block has the bits of a code, the kinds of codes in it, and a number for each code, which
/// tells the kind; the numbers of a group of eight take as many bytes as a code has bits, the first
/// one lowest. With eight bits a code is its own number, and there are no kinds.
#[derive(Debug)]
pub(crate) struct FewCodes {
    /// Where the blocks start.
    starts: Vec<u32>,
    bytes: Vec<u8>,
}

impl FewCodes {
    /// The same codes; none if they are too many.
    pub(crate) fn of(codes: &[u8]) -> Option<FewCodes> {
        let mut few =
            FewCodes { starts: Vec::with_capacity(codes.len().div_ceil(BLOCK)), bytes: Vec::new() };
        for block in codes.chunks(BLOCK) {
            few.starts.push(u32::try_from(few.bytes.len()).ok()?);
            few.add(block);
        }
        few.bytes.shrink_to_fit();
        Some(few)
    }

    /// Adds a block.
    fn add(&mut self, codes: &[u8]) {
        let Some(kinds) = BlockKinds::of(codes) else {
            self.bytes.push(u8::BITS as u8);
            self.bytes.extend_from_slice(codes);
            return;
        };
        self.bytes.push(kinds.bits);
        self.bytes.extend_from_slice(&kinds.codes[..1 << kinds.bits]);
        match kinds.bits {
            0 => {}
            1 => kinds.pack::<1>(codes, &mut self.bytes),
            2 => kinds.pack::<2>(codes, &mut self.bytes),
            3 => kinds.pack::<3>(codes, &mut self.bytes),
            _ => kinds.pack::<4>(codes, &mut self.bytes),
        }
    }

    /// Fills `out` with the codes of a block from a place in it on.
    fn read_block(&self, block: usize, at: usize, out: &mut [u8]) {
        let start = self.starts.get(block).map_or(self.bytes.len(), |&start| start as usize);
        let Some((&bits, bytes)) = self.bytes.get(start..).and_then(<[u8]>::split_first) else {
            return;
        };
        if u32::from(bits) == u8::BITS {
            out.iter_mut().zip(&bytes[at..]).for_each(|(out, code)| *out = *code);
            return;
        }
        let (kinds, numbers) = bytes.split_at(1 << bits);
        match bits {
            0 => out.fill(kinds[0]),
            1 => expand::<1>(kinds, numbers, at, out),
            2 => expand::<2>(kinds, numbers, at, out),
            3 => expand::<3>(kinds, numbers, at, out),
            _ => expand::<4>(kinds, numbers, at, out),
        }
    }
}

/// The kinds of codes in a block, and their numbers.
struct BlockKinds {
    bits: u8,
    /// The kinds, and after them the first one.
    codes: [u8; KINDS],
    numbers: [u8; 256],
}

impl BlockKinds {
    /// None if there are too many.
    fn of(codes: &[u8]) -> Option<BlockKinds> {
        let first = codes.first().copied().unwrap_or_default();
        let mut kinds = BlockKinds { bits: 0, codes: [first; KINDS], numbers: [0; 256] };
        // Without a way out, so that many are compared at once.
        if codes.iter().fold(0, |differ, code| differ | (code ^ first)) == 0 {
            return Some(kinds);
        }

        let mut occurs = [0; 256];
        for &code in codes {
            occurs[usize::from(code)] = 1;
        }
        let mut count = 0;
        for (at, eight) in (0..).step_by(8).zip(occurs.as_chunks().0) {
            let mut left = u64::from_le_bytes(*eight);
            while left != 0 {
                let code = at + left.trailing_zeros() / 8;
                *kinds.codes.get_mut(usize::from(count))? = code as u8;
                kinds.numbers[code as usize] = count;
                (left, count) = (left & (left - 1), count + 1);
            }
        }
        kinds.bits = (count - 1).ilog2() as u8 + 1;
        Some(kinds)
    }

    /// Adds the numbers of codes, `BITS` bits each.
    fn pack<const BITS: usize>(&self, codes: &[u8], bytes: &mut Vec<u8>) {
        let packed = |codes: &[u8; GROUP]| -> [u8; BITS] {
            let numbers = codes.map(|code| u32::from(self.numbers[usize::from(code)]));
            let all = (0..).zip(numbers).fold(0, |all, (n, number)| all | number << (BITS * n));
            std::array::from_fn(|byte| (all >> (8 * byte)) as u8)
        };
        let (groups, rest) = codes.as_chunks();
        for group in groups {
            bytes.extend_from_slice(&packed(group));
        }
        if !rest.is_empty() {
            let mut group = [self.codes[0]; GROUP];
            group[..rest.len()].copy_from_slice(rest);
            bytes.extend_from_slice(&packed(&group));
        }
    }
}

/// Fills `out` with the codes from a place on, given their kinds and their numbers, which have
/// `BITS` bits.
fn expand<const BITS: usize>(kinds: &[u8], numbers: &[u8], at: usize, out: &mut [u8]) {
    let mut all = [0; KINDS];
    all[..kinds.len()].copy_from_slice(kinds);
    let codes = |group: &[u8; BITS]| -> [u8; GROUP] {
        let group = group.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte));
        std::array::from_fn(|n| all[(group >> (BITS * n)) as usize % (1 << BITS)])
    };

    // The last ones of a group, whole groups, and the first ones of a group.
    let (groups, _) = numbers.as_chunks();
    let (head, rest) = out.split_at_mut((at.next_multiple_of(GROUP) - at).min(out.len()));
    let heads = usize::from(!at.is_multiple_of(GROUP));
    let (head_group, groups) = groups[at / GROUP..].split_at(heads);
    for group in head_group {
        head.copy_from_slice(&codes(group)[at % GROUP..][..head.len()]);
    }
    let (whole, tail) = rest.as_chunks_mut();
    let tail_group = groups.get(whole.len());
    whole.iter_mut().zip(groups).for_each(|(out, group)| *out = codes(group));
    if let Some(group) = tail_group {
        tail.copy_from_slice(&codes(group)[..tail.len()]);
    }
}

impl CodeStore for FewCodes {
    fn read(&self, mut at: usize, mut out: &mut [u8]) {
        while !out.is_empty() {
            let len = out.len().min(BLOCK - at % BLOCK);
            let (part, rest) = out.split_at_mut(len);
            self.read_block(at / BLOCK, at % BLOCK, part);
            (at, out) = (at + len, rest);
        }
    }

    fn write(&self, _at: usize, _codes: &[u8]) {
        debug_assert!(false, "codes of few kinds are not changed");
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity() + size_of_val(&*self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of one kind up to twenty, and a part of one.
    fn codes() -> Vec<u8> {
        let code = |n: usize| (n * n % 97 % (n / BLOCK + 1) * 37) as u8;
        (0..20 * BLOCK + 43).map(code).collect()
    }

    #[test]
    fn codes_are_read_as_they_were() {
        let codes = codes();
        let few = FewCodes::of(&codes).unwrap();
        for at in 0..codes.len() {
            for len in [0, 1, 2, 7, 8, 9, 64, 200, codes.len()] {
                let len = len.min(codes.len() - at);
                let mut read = vec![7; len];
                few.read(at, &mut read);
                assert_eq!(read, codes[at..at + len], "{at}, {len}");
            }
        }
    }

    #[test]
    fn a_block_takes_the_bits_that_its_kinds_need() {
        let bytes = |kinds: usize| {
            let codes: Vec<u8> = (0..BLOCK).map(|n| (n % kinds) as u8).collect();
            FewCodes::of(&codes).unwrap().bytes.len()
        };
        let expected = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (16, 4)];
        for (kinds, bits) in expected {
            assert_eq!(bytes(kinds), 1 + (1 << bits) + BLOCK / 8 * bits, "{kinds} kinds");
        }
        assert_eq!(bytes(17), 1 + BLOCK);
        assert_eq!(FewCodes::of(&[]).unwrap().bytes(), 0);
    }
}
