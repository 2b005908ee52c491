//! Codes of few kinds in each block, in as few bits as tell them apart there.

use crate::code::Code as _;
use crate::values::{CodeStore, PackedCodes};

/// How many codes there are in a block, but in the last one.
const BLOCK: usize = 128;

/// How many kinds of codes four bits tell apart. Blocks of more kinds are left as they are.
const KINDS: usize = 16;

/// No number of a kind.
const NONE: u8 = u8::MAX;

/// Codes that lie in a group of whole bytes, however many bits each takes.
const GROUP: usize = 8;

/// Codes of one byte. They are not changed.
///
/// A block has the bits of a code, the kinds of codes in it, and a number for each code, which
/// tells the kind; the numbers of a group of eight take as many bytes as a code has bits, the first
/// one lowest. With eight bits a code is its own number, and there are no kinds.
#[derive(Debug)]
pub struct FewCodes {
    /// Where the blocks start.
    starts: Vec<u32>,
    bytes: Vec<u8>,
}

impl FewCodes {
    /// The same codes; none if they are too many.
    pub(crate) fn of(codes: &[u8]) -> Option<FewCodes> {
        // Room for most, so that it hardly ever has to grow.
        let room = codes.len() / 2;
        let starts = Vec::with_capacity(codes.len().div_ceil(BLOCK));
        let mut few = FewCodes { starts, bytes: Vec::with_capacity(room) };
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
            1 => kinds.pack::<1>(codes.len(), &mut self.bytes),
            2 => kinds.pack::<2>(codes.len(), &mut self.bytes),
            3 => kinds.pack::<3>(codes.len(), &mut self.bytes),
            _ => kinds.pack::<4>(codes.len(), &mut self.bytes),
        }
    }

    /// Fills `out` with the codes from `at` on, with the instructions of the caller.
    #[inline(always)]
    pub(crate) fn read_inlined(&self, mut at: usize, mut out: &mut [u8]) {
        while !out.is_empty() {
            let len = out.len().min(BLOCK - at % BLOCK);
            let (part, rest) = out.split_at_mut(len);
            self.read_block(at / BLOCK, at % BLOCK, part);
            (at, out) = (at + len, rest);
        }
    }

    /// The code at a place: illegal where there is none.
    pub(crate) fn code(&self, at: usize) -> u8 {
        let (block, at) = (at / BLOCK, at % BLOCK);
        let Some((bits, bytes)) = self.block(block) else {
            return u8::ILLEGAL;
        };
        let bits = usize::from(bits);
        if bits == u8::BITS as usize {
            return bytes.get(at).copied().unwrap_or(u8::ILLEGAL);
        }
        // The bits of a number lie in one byte or in two.
        let (kinds, numbers) = bytes.split_at(1 << bits);
        let byte = |n: usize| numbers.get(n).map_or(0, |&byte| usize::from(byte));
        let first = bits * at;
        let number = (byte(first / 8) | byte(first / 8 + 1) << 8) >> (first % 8);
        kinds[number & ((1 << bits) - 1)]
    }

    /// Whether the same codes are kept in the same way.
    pub fn is_same(&self, other: &FewCodes) -> bool {
        self.bytes == other.bytes
    }

    /// The bits of a code in a block, and the bytes from its kinds on; none if there is none.
    #[inline(always)]
    fn block(&self, block: usize) -> Option<(u8, &[u8])> {
        let start = *self.starts.get(block)? as usize;
        let (&bits, bytes) = self.bytes.get(start..)?.split_first()?;
        Some((bits, bytes))
    }

    /// Fills `out` with the codes of a block from a place in it on.
    #[inline(always)]
    fn read_block(&self, block: usize, at: usize, out: &mut [u8]) {
        let Some((bits, bytes)) = self.block(block) else {
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
    /// Those of the codes of a block, and of more like the first one if it is a short one.
    numbers: [u8; BLOCK],
}

impl BlockKinds {
    /// None if there are too many.
    fn of(codes: &[u8]) -> Option<BlockKinds> {
        let first = codes.first().copied().unwrap_or_default();
        let mut block = [first; BLOCK];
        block[..codes.len()].copy_from_slice(codes);

        let mut kinds = BlockKinds { bits: 0, codes: [first; KINDS], numbers: [NONE; BLOCK] };
        let (mut count, mut at) = (0, 0);
        while let Some(next) = kinds.without_number(at) {
            at = next;
            let kind = block[at];
            *kinds.codes.get_mut(usize::from(count))? = kind;
            // Of all codes, so that many are compared at once.
            for (number, &code) in kinds.numbers.iter_mut().zip(&block) {
                *number = if code == kind { count } else { *number };
            }
            count += 1;
        }
        kinds.bits = (count - 1).checked_ilog2().map_or(0, |bits| bits as u8 + 1);
        Some(kinds)
    }

    /// The first place in the group of a place, or behind it, that has no number yet.
    #[inline(always)]
    fn without_number(&self, from: usize) -> Option<usize> {
        let (groups, _) = self.numbers.as_chunks::<GROUP>();
        for (n, group) in groups.iter().enumerate().skip(from / GROUP) {
            // Numbers do not have the highest bit.
            let without = u64::from_le_bytes(*group) & (ONES << 7);
            if without != 0 {
                return Some(n * GROUP + without.trailing_zeros() as usize / 8);
            }
        }
        None
    }

    /// Adds the numbers of so many codes, `BITS` bits each.
    fn pack<const BITS: usize>(&self, codes: usize, bytes: &mut Vec<u8>) {
        let (groups, _) = self.numbers.as_chunks::<GROUP>();
        for group in &groups[..codes.div_ceil(GROUP)] {
            let packed = gathered::<BITS>(u64::from_le_bytes(*group)).to_le_bytes();
            bytes.extend_from_slice(&packed[..BITS]);
        }
    }
}

/// Fills `out` with the codes from a place on, given their kinds and their numbers, which have
/// `BITS` bits.
#[inline(always)]
fn expand<const BITS: usize>(kinds: &[u8], numbers: &[u8], at: usize, out: &mut [u8]) {
    let kinds = SpreadKinds::<BITS>::new(kinds);

    // The last ones of a group, whole groups, and the first ones of a group.
    let (groups, _) = numbers.as_chunks();
    let (head, rest) = out.split_at_mut((at.next_multiple_of(GROUP) - at).min(out.len()));
    let heads = usize::from(!at.is_multiple_of(GROUP));
    let (head_group, groups) = groups[at / GROUP..].split_at(heads);
    for group in head_group {
        let [codes] = kinds.codes(&[*group]);
        head.copy_from_slice(&codes[at % GROUP..][..head.len()]);
    }
    let (whole, tail) = rest.as_chunks_mut();
    let tail_group = groups.get(whole.len());
    let (rows, others) = whole.as_chunks_mut::<GROUP>();
    let (group_rows, other_groups) = groups[..rows.len() * GROUP].as_chunks::<GROUP>();
    debug_assert!(other_groups.is_empty());
    // Closures would be compiled for any processor, not for the caller's.
    let left = &groups[rows.len() * GROUP..];
    for (out, groups) in rows.iter_mut().zip(group_rows) {
        *out = kinds.codes(groups);
    }
    for (out, group) in others.iter_mut().zip(left) {
        [*out] = kinds.codes(&[*group]);
    }
    if let Some(group) = tail_group {
        let [codes] = kinds.codes(&[*group]);
        tail.copy_from_slice(&codes[..tail.len()]);
    }
}

/// Kinds that numbers of `BITS` bits tell apart, each in all bytes of a word, so that the codes of
/// a group are found without looking them up one by one.
struct SpreadKinds<const BITS: usize> {
    /// Those with even numbers, and in which bits those after them differ.
    pairs: [(u64, u64); KINDS / 2],
}

impl<const BITS: usize> SpreadKinds<BITS> {
    #[inline(always)]
    fn new(kinds: &[u8]) -> SpreadKinds<BITS> {
        let mut pairs = [(0, 0); KINDS / 2];
        for (pair, kinds) in pairs.iter_mut().zip(kinds.as_chunks::<2>().0) {
            let [even, odd] = kinds.map(|kind| u64::from(kind) * ONES);
            *pair = (even, even ^ odd);
        }
        SpreadKinds { pairs }
    }

    /// The codes of some groups. All go through each step together, so that the processor does it
    /// with many at once.
    #[inline(always)]
    fn codes<const N: usize>(&self, groups: &[[u8; BITS]; N]) -> [[u8; GROUP]; N] {
        let mut having = [[0; N]; BITS];
        for (n, group) in groups.iter().enumerate() {
            let numbers = spread::<BITS>(group);
            for (bit, having) in having.iter_mut().enumerate() {
                // All bits of the bytes whose number has the bit.
                let ones = numbers >> bit & ONES;
                having[n] = (ones << 8).wrapping_sub(ones);
            }
        }

        let mut left = [[0; N]; KINDS / 2];
        for (left, (even, differ)) in left.iter_mut().zip(&self.pairs[..1 << (BITS - 1)]) {
            for n in 0..N {
                left[n] = even ^ (differ & having[0][n]);
            }
        }
        for bit in 1..BITS {
            for pair in 0..1 << (BITS - 1 - bit) {
                for n in 0..N {
                    let (zero, one) = (left[2 * pair][n], left[2 * pair + 1][n]);
                    left[pair][n] = zero ^ ((zero ^ one) & having[bit][n]);
                }
            }
        }
        let mut codes = [[0; GROUP]; N];
        for (codes, word) in codes.iter_mut().zip(left[0]) {
            *codes = word.to_le_bytes();
        }
        codes
    }
}

/// A 1 in each byte.
const ONES: u64 = u64::MAX / 255;

/// Ones in the lowest bits of each part of a word.
const fn lanes(bits: usize, apart: usize) -> u64 {
    u64::MAX / ((1 << apart) - 1) * ((1 << bits) - 1)
}

/// The numbers of a group, which have `BITS` bits, one a byte.
#[inline(always)]
fn spread<const BITS: usize>(group: &[u8; BITS]) -> u64 {
    let mut word = [0; 8];
    word[..BITS].copy_from_slice(group);
    let group = u64::from_le_bytes(word);
    let halves = (group | group << (32 - 4 * BITS)) & lanes(4 * BITS, 32);
    let quarters = (halves | halves << (16 - 2 * BITS)) & lanes(2 * BITS, 16);
    (quarters | quarters << (8 - BITS)) & lanes(BITS, 8)
}

/// Eight numbers of `BITS` bits, one a byte, side by side.
#[inline(always)]
fn gathered<const BITS: usize>(numbers: u64) -> u64 {
    let quarters = (numbers | numbers >> (8 - BITS)) & lanes(2 * BITS, 16);
    let halves = (quarters | quarters >> (16 - 2 * BITS)) & lanes(4 * BITS, 32);
    (halves | halves >> (32 - 4 * BITS)) & ((1 << (8 * BITS)) - 1)
}

impl CodeStore for FewCodes {
    fn read(&self, at: usize, out: &mut [u8]) {
        self.read_inlined(at, out);
    }

    fn write(&self, _at: usize, _codes: &[u8]) {
        debug_assert!(false, "codes of few kinds are not changed");
    }

    fn packed(&self) -> Option<PackedCodes<'_>> {
        Some(PackedCodes::Few(self))
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
            assert_eq!(few.code(at), codes[at], "{at}");
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
        let none = FewCodes::of(&[]).unwrap();
        assert_eq!((none.bytes(), none.code(0)), (0, u8::ILLEGAL));
    }
}
