//! The range coder. See docs/hbf.md, 5.

/// The sum of the frequencies of a distribution, as a power of two.
pub(crate) const TOTAL_BITS: u32 = 15;
pub(crate) const TOTAL: u32 = 1 << TOTAL_BITS;

/// Smallest width of the range before a byte is taken in.
const LEAST: u32 = 1 << 24;

/// Of an adaptive bit.
const ADAPTIVE_BITS: u32 = 12;
const ADAPTIVE_SHIFT: u32 = 4;
pub(crate) const EVEN: u16 = 1 << (ADAPTIVE_BITS - 1);

/// Reads symbols from the bytes of a tile.
#[derive(Clone, Debug)]
pub(crate) struct Decoder<'a> {
    range: u32,
    code: u32,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        let mut decoder = Decoder { range: u32::MAX, code: 0, rest: bytes };
        for _ in 0..4 {
            decoder.code = decoder.code << 8 | decoder.byte();
        }
        decoder
    }

    pub(crate) fn hot(&self) -> HotDecoder {
        HotDecoder { range: self.range, code: self.code }
    }

    pub(crate) fn set_hot(&mut self, HotDecoder { range, code }: HotDecoder) {
        (self.range, self.code) = (range, code);
    }

    #[inline]
    fn byte(&mut self) -> u32 {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                u32::from(byte)
            }
            None => 0,
        }
    }

    #[inline]
    fn normalize(&mut self) {
        while self.range < LEAST {
            self.code = self.code << 8 | self.byte();
            self.range <<= 8;
        }
    }

    /// A symbol of a distribution. The frequencies are at least 1, so the range is never 0.
    #[inline]
    pub(crate) fn symbol(&mut self, frequencies: &[u16]) -> usize {
        self.normalize();
        let unit = self.range >> TOTAL_BITS;
        let last = frequencies.len() - 1;
        let (mut symbol, mut below) = (0, 0_u32);
        loop {
            let width = unit * u32::from(frequencies[symbol]);
            if symbol == last || self.code < below + width {
                self.code = self.code.wrapping_sub(below);
                self.range = width;
                return symbol;
            }
            below += width;
            symbol += 1;
        }
    }

    /// A number of so many bits, at most 15.
    pub(crate) fn bits(&mut self, bits: u32) -> u32 {
        self.normalize();
        let unit = self.range >> bits;
        let number = (self.code / unit).min((1 << bits) - 1);
        self.code = self.code.wrapping_sub(unit * number);
        self.range = unit;
        number
    }

    #[inline]
    pub(crate) fn adaptive(&mut self, probability: &mut u16) -> bool {
        self.normalize();
        let bound = (self.range >> ADAPTIVE_BITS) * u32::from(*probability);
        if self.code < bound {
            self.range = bound;
            *probability += ((1 << ADAPTIVE_BITS) - *probability) >> ADAPTIVE_SHIFT;
            false
        } else {
            self.code = self.code.wrapping_sub(bound);
            self.range = self.range.wrapping_sub(bound);
            *probability -= *probability >> ADAPTIVE_SHIFT;
            true
        }
    }
}

/// What changes of a decoder with a symbol that takes no byte in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HotDecoder {
    range: u32,
    code: u32,
}

impl HotDecoder {
    /// Takes the first symbol of a distribution, if it comes next and no byte has to be taken in
    /// before.
    #[inline]
    pub(crate) fn takes_first(&mut self, frequency: u16) -> bool {
        let width = (self.range >> TOTAL_BITS) * u32::from(frequency);
        let takes = self.range >= LEAST && self.code < width;
        if takes {
            self.range = width;
        }
        takes
    }
}

/// Puts the first symbol of a distribution, if no byte has to be written before: only the range
/// changes.
#[inline]
pub(crate) fn put_first(range: &mut u32, frequency: u16) -> bool {
    let puts = *range >= LEAST;
    if puts {
        *range = (*range >> TOTAL_BITS) * u32::from(frequency);
    }
    puts
}

/// A part of the range: a symbol or some bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangePart {
    below: u16,
    width: u16,
    /// The log of what the whole range is divided into.
    shift: u8,
}

impl RangePart {
    /// A symbol of a distribution.
    #[inline]
    pub(crate) fn symbol<const N: usize>(frequencies: &[u16; N], symbol: usize) -> RangePart {
        // All are looked at, as that is faster than a loop whose end is hard to foresee.
        let of = |(at, &width): (usize, &u16)| if at < symbol { width } else { 0 };
        let below = frequencies.iter().enumerate().map(of).sum();
        RangePart { below, width: frequencies[symbol], shift: TOTAL_BITS as u8 }
    }

    /// A symbol with this frequency, those of the symbols before having this sum.
    #[inline]
    pub(crate) fn between(below: u16, width: u16) -> RangePart {
        RangePart { below, width, shift: TOTAL_BITS as u8 }
    }

    /// A number of so many bits, from 1 to 15.
    pub(crate) fn bits(bits: u32, number: u32) -> RangePart {
        RangePart { below: number as u16, width: 1, shift: bits as u8 }
    }
}

/// Writes what [`Decoder`] reads.
#[derive(Debug)]
pub(crate) struct Encoder {
    low: u64,
    range: u32,
    /// Bytes that a carry may still change: `cache`, then `pending` less one bytes of 255.
    cache: u8,
    pending: u64,
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder { low: 0, range: u32::MAX, cache: 0, pending: 1, bytes: Vec::with_capacity(256) }
    }

    pub(crate) fn range(&self) -> u32 {
        self.range
    }

    pub(crate) fn set_range(&mut self, range: u32) {
        self.range = range;
    }

    fn shift(&mut self) {
        if self.low < 0xff00_0000 || self.low > u64::from(u32::MAX) {
            let carry = (self.low >> 32) as u8;
            let mut byte = self.cache;
            for _ in 0..self.pending {
                self.bytes.push(byte.wrapping_add(carry));
                byte = 0xff;
            }
            self.pending = 0;
            self.cache = (self.low >> 24) as u8;
        }
        self.pending += 1;
        self.low = self.low << 8 & 0xffff_ffff;
    }

    #[inline]
    fn normalize(&mut self) {
        while self.range < LEAST {
            self.range <<= 8;
            self.shift();
        }
    }

    #[inline]
    pub(crate) fn put(&mut self, part: RangePart) {
        self.normalize();
        let unit = self.range >> part.shift;
        self.low += u64::from(unit * u32::from(part.below));
        self.range = unit * u32::from(part.width);
    }

    pub(crate) fn adaptive(&mut self, probability: &mut u16, bit: bool) {
        self.normalize();
        let bound = (self.range >> ADAPTIVE_BITS) * u32::from(*probability);
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
            *probability -= *probability >> ADAPTIVE_SHIFT;
        } else {
            self.range = bound;
            *probability += ((1 << ADAPTIVE_BITS) - *probability) >> ADAPTIVE_SHIFT;
        }
    }

    /// The bytes: of all numbers in the last interval the one that ends in most zeros, which are
    /// left out.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let end = self.low + u64::from(self.range);
        let rounded = |zeros: u32| (self.low + ((1 << zeros) - 1)) >> zeros << zeros;
        let best = (0..=32).rev().map(rounded).find(|&number| number < end);
        self.low = best.unwrap_or(self.low);
        for _ in 0..5 {
            self.shift();
        }
        // The first byte is always 0 and nobody reads it.
        let mut bytes = self.bytes.split_off(1);
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(used);
        bytes
    }
}

/// The frequency that a byte of a distribution stands for.
pub(crate) const fn frequency(byte: u8) -> u32 {
    ((16 + (byte & 15) as u32) << (byte >> 4)) >> 4
}

/// Frequencies from the bytes of all symbols but the first. None if nothing is left for that one.
pub(crate) fn distribution<const N: usize>(bytes: &[u8]) -> Option<[u16; N]> {
    let mut frequencies = [0; N];
    let mut rest = TOTAL;
    for (frequency_of, &byte) in frequencies[1..].iter_mut().zip(bytes) {
        let width = frequency(byte);
        rest = rest.checked_sub(width)?;
        *frequency_of = width as u16;
    }
    frequencies[0] = rest as u16;
    (rest > 0 && bytes.len() == N - 1).then_some(frequencies)
}

/// The bytes of a distribution that suits these counts, if they are not alone: `usual` are those of
/// the whole.
pub(crate) fn fit<const N: usize>(counts: &[u32; N], usual: &[f64; N]) -> Vec<u8> {
    let shares = usual.map(|share| share + 0.001);
    let whole: f64 = shares.iter().sum();
    let counts: [f64; N] =
        std::array::from_fn(|k| f64::from(counts[k]) + PRIOR * shares[k] / whole);
    let sum: f64 = counts.iter().sum();
    let mut bytes: Vec<u8> =
        counts[1..].iter().map(|&count| nearest(count / sum * f64::from(TOTAL))).collect();
    // Rounding up may take more than there is.
    while bytes.iter().map(|&byte| frequency(byte)).sum::<u32>() >= TOTAL {
        if let Some(largest) = bytes.iter_mut().max() {
            *largest -= 1;
        }
    }
    bytes
}

/// How much the usual frequencies weigh against counts.
const PRIOR: f64 = 2.0;

/// The byte whose frequency is the nearest.
fn nearest(ideal: f64) -> u8 {
    // Below 16 several bytes stand for one frequency.
    let (mut best, mut least) = (0, f64::INFINITY);
    for byte in 0..=255 {
        let width = frequency(byte);
        if width >= TOTAL {
            break;
        }
        let error = (f64::from(width) - ideal).abs();
        if error < least {
            (best, least) = (byte, error);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distributions_leave_something_for_every_symbol() {
        for counts in [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 9, 9, 9, 9], [0, 1_000_000, 0, 0, 1]] {
            let bytes = fit(&counts, &[0.0; 5]);
            let found = distribution::<5>(&bytes).expect("a distribution");
            assert_eq!(found.iter().map(|&f| u32::from(f)).sum::<u32>(), TOTAL);
            assert!(found.iter().all(|&f| f > 0), "{counts:?}: {found:?}");
        }
        assert_eq!(distribution::<3>(&[255, 255]), None);
        assert_eq!(distribution::<3>(&[1]), None);
    }

    #[test]
    fn the_likeliest_costs_nothing() {
        let sure = distribution::<5>(&[0, 0, 0, 0]).expect("a distribution");
        let mut encoder = Encoder::new();
        (0..5000).for_each(|_| encoder.put(RangePart::symbol(&sure, 0)));
        assert_eq!(encoder.finish(), Vec::<u8>::new());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            seed in any::<u64>(), length in 0_usize..3000, counts in any::<[u16; 7]>(), kinds in 2_u8..4
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            let found = distribution::<7>(&fit(&counts.map(u32::from), &[0.0; 7])).expect("a distribution");
            let choice: Vec<(u8, u32)> =
                (0..length).map(|_| (random.u8(0..kinds), random.u32(..))).collect();
            let bits = |number: u32| {
                RangePart::bits(1 + number % 15, number & ((1 << (1 + number % 15)) - 1))
            };
            let (mut encoder, mut probability) = (Encoder::new(), EVEN);
            for &(kind, number) in &choice {
                match kind {
                    0 => encoder.put(RangePart::symbol(&found, number as usize % 7)),
                    1 => encoder.put(bits(number)),
                    _ => encoder.adaptive(&mut probability, number % 5 == 0),
                }
            }
            let bytes = encoder.finish();
            let (mut decoder, mut probability) = (Decoder::new(&bytes), EVEN);
            for &(kind, number) in &choice {
                match kind {
                    0 => prop_assert_eq!(decoder.symbol(&found), number as usize % 7),
                    1 => prop_assert_eq!(
                        decoder.bits(1 + number % 15), number & ((1 << (1 + number % 15)) - 1)
                    ),
                    _ => prop_assert_eq!(decoder.adaptive(&mut probability), number % 5 == 0),
                }
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let found = distribution::<5>(&[200, 100, 50, 0]).expect("a distribution");
            let (mut decoder, mut probability) = (Decoder::new(&bytes), EVEN);
            for _ in 0..200 {
                prop_assert!(decoder.symbol(&found) < 5);
                prop_assert!(decoder.bits(15) < 1 << 15);
                decoder.adaptive(&mut probability);
            }
        }
    }
}
