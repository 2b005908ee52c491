//! Compressing a unit so that another one can follow it.
//!
//! libdeflate is several times faster than zlib at the same size, but every stream it makes is
//! closed: its last block says that it is the last. Here that mark is taken away and the stream
//! filled up to a whole byte, as zlib does for a full flush. Where the last block begins is known
//! only by reading the stream's codes from the front; they are stepped over without being carried
//! out.

use std::{fmt, io};

use libdeflater::{CompressionLvl, Compressor};

/// How much time goes into making files small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// The fastest: files a tenth larger.
    Fast,
    /// About as small as the files of the original program.
    #[default]
    Normal,
    /// The smallest: six per cent less, at twenty times the time.
    Best,
}

impl Compression {
    /// The level of libdeflate.
    const fn level(self) -> i32 {
        match self {
            Compression::Fast => 1,
            Compression::Normal => 6,
            Compression::Best => 12,
        }
    }

    /// The level for units of which little is left, where it is another one.
    ///
    /// There libdeflate's level 6 loses up to a twentieth against zlib's. The next one makes up
    /// for it, but takes longer.
    const fn sparse_level(self) -> Option<i32> {
        match self {
            Compression::Normal => Some(7),
            Compression::Fast | Compression::Best => None,
        }
    }
}

/// A sample of a unit: so many bytes at the beginning of each stretch.
const SAMPLE: usize = 1 << 12;
const STRETCH: usize = 1 << 16;
/// A unit is sparse if less than this part of its sample is left at the fastest level, in
/// hundredths.
const SPARSE_BELOW: usize = 38;

/// Finds the units of which little will be left, from a sixteenth of their bytes.
struct Sparse {
    quick: Compressor,
    sample: Vec<u8>,
    compressor: Compressor,
}

impl Sparse {
    fn new(level: i32) -> Sparse {
        let quick = compressor(Compression::Fast.level());
        Sparse { quick, sample: Vec::new(), compressor: compressor(level) }
    }

    /// The compressor for a unit if it is sparse. It depends on nothing but the unit, so that
    /// files do not depend on the number of threads.
    fn compressor_for(
        &mut self,
        unit: &[u8],
        out: &mut [u8],
    ) -> io::Result<Option<&mut Compressor>> {
        self.sample.clear();
        for stretch in unit.chunks(STRETCH) {
            self.sample.extend_from_slice(&stretch[..stretch.len().min(SAMPLE)]);
        }
        let left = self.quick.deflate_compress(&self.sample, out).map_err(io::Error::other)?;
        let is_sparse = left * 100 < self.sample.len() * SPARSE_BELOW;
        Ok(is_sparse.then_some(&mut self.compressor))
    }
}

fn compressor(level: i32) -> Compressor {
    Compressor::new(CompressionLvl::new(level).unwrap_or_default())
}

/// Compresses unit after unit.
pub(super) struct Deflater {
    compressor: Compressor,
    sparse: Option<Sparse>,
    out: Vec<u8>,
    steps: Steps,
}

impl Deflater {
    pub(super) fn new(compression: Compression) -> Deflater {
        Deflater {
            compressor: compressor(compression.level()),
            sparse: compression.sparse_level().map(Sparse::new),
            out: Vec::new(),
            steps: Steps::default(),
        }
    }

    /// The deflate blocks of a unit, none of which is the last, up to a whole byte.
    pub(super) fn unit(&mut self, unit: &[u8]) -> io::Result<Vec<u8>> {
        let bound = self.compressor.deflate_compress_bound(unit.len());
        self.out.resize(bound + Steps::READ_AHEAD, 0);
        let sparse = match &mut self.sparse {
            Some(sparse) => sparse.compressor_for(unit, &mut self.out)?,
            None => None,
        };
        let compressor = sparse.unwrap_or(&mut self.compressor);
        let len = compressor.deflate_compress(unit, &mut self.out).map_err(io::Error::other)?;
        self.out[len..][..Steps::READ_AHEAD].fill(0);
        let last = self.steps.last_block(&self.out[..len + Steps::READ_AHEAD]);
        let last = last.ok_or_else(|| io::Error::other("the compressor made no deflate stream"))?;
        self.out[last.begin / 8] &= !(1 << (last.begin % 8));
        // The head of an empty stored block is three bits of zero, which end in a whole byte. So
        // is what follows the end in the last byte.
        let mut stream = self.out[..(last.end + 3).div_ceil(8)].to_vec();
        stream.extend_from_slice(&[0, 0, 0xff, 0xff]);
        Ok(stream)
    }
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater").finish_non_exhaustive()
    }
}

/// The place of a block in a stream, in bits.
struct BlockSpan {
    begin: usize,
    /// Behind its last bit.
    end: usize,
}

/// Steps over the codes of a stream.
#[derive(Default)]
struct Steps {
    literals: PrefixCode,
    distances: PrefixCode,
    lengths: PrefixCode,
}

/// A code in a table, by the bits that follow in the stream: how many bits it takes with its extra
/// bits, and what comes then. 0 is no code.
type Step = u16;
/// The bits of a step that are a number of bits.
const BITS: Step = 31;
/// A distance follows.
const LENGTH: Step = 32;
/// The block ends.
const END: Step = 64;
/// Where the symbol begins in a step of the code of code lengths.
const SYMBOL: u32 = 5;

/// The order in which the lengths of the code of code lengths are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

impl Steps {
    /// Bytes of zero that have to follow a stream.
    const READ_AHEAD: usize = 8;

    /// The last block of a stream.
    fn last_block(&mut self, stream: &[u8]) -> Option<BlockSpan> {
        let mut at = 0;
        loop {
            let begin = at;
            let head = bits_at(stream, at)?;
            at += 3;
            match head >> 1 & 3 {
                0 => {
                    let start = at.div_ceil(8);
                    let len = u16::from_le_bytes(*stream.get(start..)?.first_chunk()?);
                    at = (start + 4 + usize::from(len)) * 8;
                }
                1 => {
                    self.fixed_codes()?;
                    at = self.block(stream, at)?;
                }
                2 => {
                    at = self.dynamic_codes(stream, at)?;
                    at = self.block(stream, at)?;
                }
                _ => return None,
            }
            if head & 1 == 1 {
                return Some(BlockSpan { begin, end: at });
            }
        }
    }

    /// Steps over the symbols of a block and returns where it ends.
    fn block(&self, stream: &[u8], mut at: usize) -> Option<usize> {
        loop {
            // A length and a distance take 48 bits at most, and 57 are there.
            let bits = bits_at(stream, at)?;
            let step = self.literals.step(bits)?;
            let taken = step & BITS;
            at += usize::from(taken);
            if step & LENGTH != 0 {
                at += usize::from(self.distances.step(bits >> taken)? & BITS);
            } else if step & END != 0 {
                return Some(at);
            }
        }
    }

    fn fixed_codes(&mut self) -> Option<()> {
        let mut lengths = [8; 288];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.literals.set(&lengths, literal_step)?;
        self.distances.set(&[5; 30], distance_step)
    }

    /// Reads the codes of a block and returns where its symbols begin.
    fn dynamic_codes(&mut self, stream: &[u8], mut at: usize) -> Option<usize> {
        let mut take = |count: usize| {
            let bits = bits_at(stream, at)? as usize & ((1 << count) - 1);
            at += count;
            Some(bits)
        };

        let (literals, distances) = (take(5)? + 257, take(5)? + 1);
        let mut code = [0; 19];
        for &symbol in &ORDER[..take(4)? + 4] {
            code[symbol] = take(3)? as u8;
        }
        self.lengths.set(&code, |symbol, len| (symbol as Step) << SYMBOL | Step::from(len))?;
        let mut lengths = [0; 320];
        let mut known = 0;

        while known < literals + distances {
            let bits = bits_at(stream, at)?;
            let step = self.lengths.step(bits)?;
            let taken = step & BITS;
            let more = (bits >> taken) as usize;
            let (len, times, extra) = match step >> SYMBOL {
                16 => (*lengths.get(known.checked_sub(1)?)?, 3 + (more & 3), 2),
                17 => (0, 3 + (more & 7), 3),
                18 => (0, 11 + (more & 127), 7),
                len => (len as u8, 1, 0),
            };
            lengths.get_mut(known..known + times)?.fill(len);
            known += times;
            at += usize::from(taken) + extra;
        }

        self.literals.set(lengths.get(..literals)?, literal_step)?;
        self.distances.set(lengths.get(literals..literals + distances)?, distance_step)?;
        Some(at)
    }
}

/// 57 bits or more from a place on.
fn bits_at(stream: &[u8], at: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*stream.get(at / 8..)?.first_chunk()?);
    Some(word >> (at % 8))
}

fn literal_step(symbol: usize, len: u8) -> Step {
    let extra = match symbol {
        0..256 => return Step::from(len),
        256 => return Step::from(len) | END,
        257..265 | 285.. => 0,
        _ => (symbol - 261) / 4,
    };
    (Step::from(len) + extra as Step) | LENGTH
}

fn distance_step(symbol: usize, len: u8) -> Step {
    Step::from(len) + (symbol / 2).saturating_sub(1) as Step
}

/// A prefix code as a table by the next bits.
#[derive(Default)]
struct PrefixCode {
    steps: Vec<Step>,
    mask: u64,
}

impl PrefixCode {
    /// Takes the code with these lengths, `step` telling what to do for a symbol and a length.
    fn set(&mut self, lengths: &[u8], step: impl Fn(usize, u8) -> Step) -> Option<()> {
        let longest = lengths.iter().copied().max().filter(|&len| len <= 15)?;
        let size = 1_usize << longest;
        self.mask = size as u64 - 1;
        self.steps.clear();
        self.steps.resize(size, 0);
        // Codes are given out in the order of their lengths, then of their symbols, and stored
        // from their first bit on.
        let mut code = 0_usize;
        for len in 1..=longest {
            for (symbol, _) in lengths.iter().enumerate().filter(|&(_, &l)| l == len) {
                let first = code.reverse_bits() >> (usize::BITS - u32::from(len));
                let step = step(symbol, len);
                for place in self.steps.get_mut(first..)?.iter_mut().step_by(1 << len) {
                    *place = step;
                }
                code += 1;
            }
            code <<= 1;
        }
        Some(())
    }

    fn step(&self, bits: u64) -> Option<Step> {
        self.steps.get((bits & self.mask) as usize).copied().filter(|&step| step != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes with matches near and far, literals of many kinds, and parts that do not deflate.
    fn mixed(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut out: Vec<u8> = Vec::with_capacity(len + 300);
        while out.len() < len {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (kind, n) = (state >> 62, (state >> 40) as usize);
            match kind {
                0 => out.extend((0..n % 200).map(|k| (state >> (k % 57)) as u8)),
                1 => out.extend(std::iter::repeat_n((n % 3) as u8, n % 300)),
                _ if out.is_empty() => out.push(1),
                _ => {
                    let from = out.len() - 1 - n % out.len().min(32_000);
                    let end = out.len().min(from + n % 258);
                    out.extend_from_within(from..end);
                }
            }
        }
        out.truncate(len);
        out
    }

    /// Entries that are nearly all the same, as in KBvKN, take no more than with zlib at its level
    /// 6.
    #[test]
    fn sparse_units_are_compressed_harder() {
        let mut state = 7_u64;
        let mut unit = vec![0; 1 << 19];
        for byte in &mut unit {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if state >> 58 == 0 {
                *byte = 1 << (state >> 40 & 7);
            }
        }
        let ours = Deflater::new(Compression::Normal).unit(&unit).unwrap();
        let level_6 = compressor(6).deflate_compress(&unit, &mut vec![0; 1 << 20]).unwrap();
        assert!(ours.len() < level_6, "{} bytes, {level_6} before", ours.len());
    }

    #[test]
    fn units_follow_each_other() {
        for compression in [Compression::Fast, Compression::Normal, Compression::Best] {
            let mut deflater = Deflater::new(compression);
            let mut noise = mixed(1 << 18);
            for (k, byte) in noise.iter_mut().enumerate() {
                *byte ^= ((k * k) >> 7) as u8 ^ ((k * 167) >> 3) as u8;
            }
            let units =
                [mixed(1 << 19), Vec::new(), vec![5], vec![0; 70_000], noise, mixed(999), mixed(3)];
            let mut stream = Vec::new();
            for unit in &units {
                stream.extend(deflater.unit(unit).unwrap());
            }
            stream.extend_from_slice(&super::super::LAST_BLOCK);
            let mut back = Vec::new();
            let mut decoder = flate2::read::DeflateDecoder::new(&stream[..]);
            io::Read::read_to_end(&mut decoder, &mut back).unwrap();
            assert!(back == units.concat(), "{compression:?}");
        }
    }
}
