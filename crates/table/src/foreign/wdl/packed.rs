//! How values are packed in a Syzygy file: symbols of a Huffman code, each for a string of values,
//! in blocks.

use super::SpareValues;
use crate::stop::Stop;

/// The longest code of a symbol, in bits.
const MAX_BITS: u8 = 32;

/// The most values that a symbol stands for.
const MAX_STRING: usize = 256;

/// The deepest pair of pairs of symbols.
const MAX_DEPTH: u32 = 16;

/// How values are packed.
#[derive(Debug)]
pub(super) enum Packed {
    /// All are the same.
    Single(u8),
    /// Symbols, each for a string of values, in blocks.
    Blocks(Box<PackedBlocks>),
}

#[derive(Debug)]
pub(super) struct PackedBlocks {
    pub(super) block_size: usize,
    pub(super) count: usize,
    /// How many entries the sparse index has, which is not needed, and the table of lengths.
    pub(super) sparse: usize,
    pub(super) lengths: usize,
    /// The fewest bits of a symbol.
    pub(super) least_bits: u32,
    /// For each number of bits from there on: the first symbol, and the least word that begins
    /// with it or a later one.
    pub(super) codes: Vec<(u16, u64)>,
    /// For each symbol where its string begins and ends.
    pub(super) symbols: Vec<(u32, u32)>,
    pub(super) strings: Vec<u8>,
    /// Where in the file lengths and blocks are.
    pub(super) lengths_at: usize,
    pub(super) data_at: usize,
}

/// Bytes from front to back; none behind the end.
pub(super) struct ByteReader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl ByteReader<'_> {
    pub(super) fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.u8()?, self.u8()?]))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from(self.u16()?) | u32::from(self.u16()?) << 16)
    }

    pub(super) fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }
}

impl Packed {
    /// Reads how the values of one side are packed.
    pub(super) fn read(reader: &mut ByteReader<'_>, size: u64) -> Option<Packed> {
        let flags = reader.u8()?;
        if flags & 128 != 0 {
            return Some(Packed::Single(reader.u8()?));
        }
        let block_size = 1_usize.checked_shl(u32::from(reader.u8()?))?;
        let span = 1_u64.checked_shl(u32::from(reader.u8()?))?;
        let padding = usize::from(reader.u8()?);
        let count = usize::try_from(reader.u32()?).ok()?;
        let (most, least) = (reader.u8()?, reader.u8()?);
        if least > most || most > MAX_BITS || least == 0 {
            return None;
        }

        let firsts: Vec<u16> = (least..=most).map(|_| reader.u16()).collect::<Option<_>>()?;

        // The words of shorter symbols stand above those of longer ones.
        let mut codes = vec![(0, 0_u64); firsts.len()];
        let mut word = 0_u64;

        for (i, &first) in firsts.iter().enumerate().rev() {
            if let Some(&longer) = firsts.get(i + 1) {
                word = (word + u64::from(first)).checked_sub(u64::from(longer))? / 2;
            }
            let shift = 64 - (u32::from(least) + i as u32);
            codes[i] = (first, word.checked_mul(1_u64.checked_shl(shift)?)?);
        }

        let symbols = usize::from(reader.u16()?);
        let pairs = reader.bytes.get(reader.at..)?.get(..3 * symbols)?;
        reader.at += 3 * symbols + symbols % 2;
        let pairs: Vec<[u8; 3]> = pairs.as_chunks::<3>().0.to_vec();
        let mut strings = Strings { pairs, places: vec![None; symbols], bytes: Vec::new() };

        for symbol in 0..symbols {
            strings.spell(symbol, 0)?;
        }
        Some(Packed::Blocks(Box::new(PackedBlocks {
            block_size,
            count,
            sparse: usize::try_from(size.div_ceil(span)).ok()?,
            lengths: count.checked_add(padding)?,
            least_bits: u32::from(least),
            codes,
            symbols: strings.places.into_iter().collect::<Option<_>>()?,
            strings: strings.bytes,
            lengths_at: 0,
            data_at: 0,
        })))
    }
}

/// The strings of values that symbols stand for.
pub(super) struct Strings {
    /// Two symbols, or a value, of twelve bits each.
    pub(super) pairs: Vec<[u8; 3]>,
    pub(super) places: Vec<Option<(u32, u32)>>,
    pub(super) bytes: Vec<u8>,
}

impl Strings {
    /// Puts together the string of a symbol.
    pub(super) fn spell(&mut self, symbol: usize, depth: u32) -> Option<(u32, u32)> {
        if let Some(place) = *self.places.get(symbol)? {
            return Some(place);
        }
        let [low, middle, high] = *self.pairs.get(symbol)?;
        let left = usize::from(low) | usize::from(middle & 15) << 8;
        let right = usize::from(middle >> 4) | usize::from(high) << 4;
        let parts = if right == 0xfff {
            None
        } else if depth < MAX_DEPTH {
            Some([self.spell(left, depth + 1)?, self.spell(right, depth + 1)?])
        } else {
            return None;
        };

        let start = self.bytes.len();
        match parts {
            None => self.bytes.push(u8::try_from(left).unwrap_or(u8::MAX)),
            Some(parts) => {
                for (from, to) in parts {
                    self.bytes.extend_from_within(from as usize..to as usize);
                }
            }
        }

        let end = self.bytes.len();
        if end - start > MAX_STRING {
            return None;
        }
        let place = (start as u32, end as u32);
        self.places[symbol] = Some(place);
        Some(place)
    }
}

impl PackedBlocks {
    /// All values, one byte each; none if they are damaged, or if that was to stop.
    pub(super) fn unpack(
        &self,
        bytes: &[u8],
        size: u64,
        spare: &SpareValues,
        stop: &Stop,
    ) -> Option<Vec<u8>> {
        let size = usize::try_from(size).ok()?;
        let lengths = bytes.get(self.lengths_at..)?.get(..2 * self.count)?;
        let blocks = bytes.get(self.data_at..)?.get(..self.count.checked_mul(self.block_size)?)?;
        let mut values = spare.take(size);
        let lengths = lengths.as_chunks::<2>().0;

        for (length, block) in lengths.iter().zip(blocks.chunks(self.block_size)) {
            let end = values.len() + usize::from(u16::from_le_bytes(*length)) + 1;
            if end > size || stop.is_requested() {
                spare.give_back(values);
                return None;
            }
            let mut bit = 0;
            while values.len() < end {
                let word = word_at(block, bit)?;
                let longer = self.codes.iter().position(|&(_, least)| word >= least)?;
                let (first, least) = self.codes[longer];
                let bits = self.least_bits + longer as u32;
                let symbol = usize::from(first) + ((word - least) >> (64 - bits)) as usize;
                let &(from, to) = self.symbols.get(symbol)?;
                values.extend_from_slice(self.strings.get(from as usize..to as usize)?);
                bit += bits as usize;
            }
            // The last symbol may stand for more than is left of the block.
            values.truncate(end);
        }
        (values.len() == size).then_some(values)
    }
}

/// The bits from one on, the first one highest; zeros behind the last. None behind the end.
#[inline(always)]
pub(super) fn word_at(block: &[u8], bit: usize) -> Option<u64> {
    let rest = block.get(bit / 8..)?;
    let word = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes).swap_bytes(),
        None if rest.is_empty() => return None,
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes).swap_bytes()
        }
    };
    Some(word << (bit % 8))
}
