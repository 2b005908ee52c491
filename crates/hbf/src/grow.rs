//! Decision trees grown from samples.

use std::sync::LazyLock;

use crate::range::fit;

/// Samples: the tests of each as bits of some words, and its symbol.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    stride: usize,
    words: Vec<u64>,
    symbols: Vec<u8>,
}

impl Samples {
    pub(crate) fn new(stride: usize) -> Samples {
        Samples { stride, words: Vec::new(), symbols: Vec::new() }
    }

    pub(crate) fn push(&mut self, words: impl Iterator<Item = u64>, symbol: usize) {
        self.words.extend(words);
        self.symbols.push(symbol as u8);
    }

    pub(crate) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Puts samples with a bit of 0 before those with 1; returns where these begin. `spare` is for those.
    fn part(
        &mut self,
        (begin, end): (usize, usize),
        (word, bit): (usize, u8),
        spare: &mut Samples,
    ) -> usize {
        let stride = self.stride;
        let length = end - begin;
        if spare.symbols.len() < length {
            spare.symbols.resize(length, 0);
            spare.words.resize(length * stride, 0);
        }
        // Each sample goes to both places, and one of them is written again: which one is hard to foresee.
        let (mut low, mut high) = (begin, 0);
        for sample in begin..end {
            let from = sample * stride;
            let is_one = (self.words[from + word] >> bit & 1) as usize;
            spare.words[high * stride..][..stride].copy_from_slice(&self.words[from..][..stride]);
            self.words.copy_within(from..from + stride, low * stride);
            spare.symbols[high] = self.symbols[sample];
            self.symbols[low] = self.symbols[sample];
            high += is_one;
            low += 1 - is_one;
        }
        self.words[low * stride..end * stride].copy_from_slice(&spare.words[..high * stride]);
        self.symbols[low..end].copy_from_slice(&spare.symbols[..high]);
        low
    }
}

/// When a tree is not grown any further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Cells of the whole table for each sample.
    pub(crate) scale: f64,
    /// What a leaf more costs in the file, in bits.
    pub(crate) leaf_bits: f64,
    /// What a test must gain in the sample: the best of many gains something by chance.
    pub(crate) chance_bits: f64,
    /// A side must have so many samples.
    pub(crate) least: u32,
    pub(crate) depth: usize,
}

/// So many samples are enough to choose a test.
const ENOUGH: usize = 1 << 12;

/// A symbol belongs to one of so many groups at most.
const MAX_GROUPS: usize = 9;

/// A tree as bytes.
#[derive(Debug, Default)]
pub(crate) struct Grown {
    pub(crate) bytes: Vec<u8>,
    pub(crate) leaves: usize,
}

/// Where the tests of samples are: by number of the test, word and bit.
pub(crate) type Bits = Vec<(u16, u8)>;

/// Grows a tree for symbols below `N`, whose `groups` are told apart when tests are chosen.
pub(crate) fn grow<const N: usize>(
    samples: &mut Samples,
    tests: &Bits,
    groups: &[u8; N],
    limits: Limits,
) -> Grown {
    let mut usual = [0.0; N];
    for &symbol in &samples.symbols {
        usual[usize::from(symbol)] += 1.0 / samples.symbols.len() as f64;
    }
    let spare = Samples::new(samples.stride);
    let counts = Counts::new(samples.stride);
    let mut grower = Grower { samples, spare, tests, groups, limits, usual, counts };
    let mut grown = Grown::default();
    let end = grower.samples.len();
    grower.node((0, end), 0, &mut grown);
    grown
}

struct Grower<'a, const N: usize> {
    samples: &'a mut Samples,
    spare: Samples,
    tests: &'a Bits,
    groups: &'a [u8; N],
    limits: Limits,
    /// How often each symbol occurs.
    usual: [f64; N],
    counts: Counts,
}

/// `n log2 n`.
static WEIGHTS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let weight = |n: usize| if n > 0 { n as f64 * (n as f64).log2() } else { 0.0 };
    (0..=ENOUGH).map(weight).collect()
});

fn weight(n: u32) -> f64 {
    WEIGHTS.get(n as usize).copied().unwrap_or_default()
}

impl<const N: usize> Grower<'_, N> {
    fn node(&mut self, range: (usize, usize), depth: usize, grown: &mut Grown) {
        if let Some(test) = self.best_test(range).filter(|_| depth < self.limits.depth) {
            let (word, bit) = self.tests[test];
            let middle = self.samples.part(range, (usize::from(word), bit), &mut self.spare);
            grown.bytes.extend((test as u16).to_le_bytes());
            self.node((range.0, middle), depth + 1, grown);
            self.node((middle, range.1), depth + 1, grown);
            return;
        }
        let mut counts = [0_u32; N];
        for &symbol in &self.samples.symbols[range.0..range.1] {
            counts[usize::from(symbol)] += 1;
        }
        grown.leaves += 1;
        grown.bytes.extend(u16::MAX.to_le_bytes());
        grown.bytes.extend(fit(&counts, &self.usual));
    }

    /// The test that tells most about the symbols; none if no test is worth its place.
    fn best_test(&mut self, (begin, end): (usize, usize)) -> Option<usize> {
        let all = end - begin;
        if all < 2 * self.limits.least as usize {
            return None;
        }
        let of_group = self.count((begin, end), all.div_ceil(ENOUGH));
        let looked_at: u32 = of_group.iter().map(|&(_, count)| count).sum();
        let inner: f64 = of_group.iter().map(|&(_, count)| weight(count)).sum();
        let before = weight(looked_at) - inner;
        if before < 1.0 {
            return None;
        }
        let least = self.limits.least;
        let mut best = (0.0, 0);
        for (test, &(word, bit)) in self.tests.iter().enumerate() {
            let counts = &self.counts.ones[usize::from(word) * 64 + usize::from(bit)];
            let ones: u32 = counts.iter().map(|&count| u32::from(count)).sum();
            if ones < least || looked_at - ones < least {
                continue;
            }
            let mut after = weight(ones) + weight(looked_at - ones);
            for &(group, all) in &of_group {
                let ones = u32::from(counts[group]);
                after -= weight(ones) + weight(all - ones);
            }
            let gain = before - after;
            if gain > best.0 {
                best = (gain, test);
            }
        }
        let gain = best.0 * all as f64 / f64::from(looked_at);
        let worth =
            gain > self.limits.chance_bits && gain * self.limits.scale > self.limits.leaf_bits;
        worth.then_some(best.1)
    }

    /// Counts samples, and those with each test, by group; every `step`-th sample is looked at. Returns the groups
    /// that there are, and their samples.
    fn count(&mut self, (begin, end): (usize, usize), step: usize) -> Vec<(usize, u32)> {
        let chosen = &mut self.counts.chosen;
        chosen.iter_mut().for_each(Vec::clear);
        for sample in (begin..end).step_by(step) {
            let group = self.groups[usize::from(self.samples.symbols[sample])];
            chosen[usize::from(group)].push(sample as u32);
        }
        self.counts.count(self.samples)
    }
}

/// How many samples have a test.
struct Counts {
    /// The samples that are looked at, by group.
    chosen: [Vec<u32>; MAX_GROUPS],
    /// Of these the ones with a test of 1, by word and bit of the test and group.
    ones: Vec<[u16; MAX_GROUPS]>,
    /// Bits of 64 numbers for each word.
    planes: Vec<Planes>,
}

/// Bit `i` of word `p` is bit `p` of the `i`-th of 64 numbers.
type Planes = [u64; 16];

impl Counts {
    fn new(stride: usize) -> Counts {
        let ones = vec![[0; MAX_GROUPS]; stride * 64];
        Counts { chosen: Default::default(), ones, planes: vec![[0; 16]; stride] }
    }

    fn count(&mut self, samples: &Samples) -> Vec<(usize, u32)> {
        let mut groups = Vec::new();
        self.ones.fill([0; MAX_GROUPS]);
        for (group, chosen) in self.chosen.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
            self.planes.fill([0; 16]);
            let (eights, rest) = chosen.as_chunks::<8>();
            for eight in eights {
                let starts = eight.map(|sample| sample as usize * samples.stride);
                for (word, planes) in self.planes.iter_mut().enumerate() {
                    add(planes, starts.map(|start| samples.words[start + word]));
                }
            }
            for &sample in rest {
                let words = &samples.words[sample as usize * samples.stride..];
                self.planes.iter_mut().zip(words).for_each(|(planes, &word)| carry(planes, 0, word));
            }
            for (planes, ones) in self.planes.iter().zip(self.ones.as_chunks_mut::<64>().0) {
                numbers(planes, |bit, number| ones[bit][group] = number);
            }
            groups.push((group, chosen.len() as u32));
        }
        groups
    }
}

/// Adds 1 to the numbers whose bits are set, from a plane on.
#[inline]
fn carry(planes: &mut Planes, from: usize, mut bits: u64) {
    for plane in &mut planes[from..] {
        if bits == 0 {
            return;
        }
        let both = *plane & bits;
        *plane ^= bits;
        bits = both;
    }
}

/// Adds eight words to 64 numbers: their bits are summed up before they come to the higher planes.
#[inline]
fn add(planes: &mut Planes, words: [u64; 8]) {
    let sum = |a: u64, b: u64, c: u64| {
        let half = a ^ b;
        (half ^ c, a & b | half & c)
    };
    let [a, b, c, d, e, f, g, h] = words;
    let (ones, two_a) = sum(planes[0], a, b);
    let (ones, two_b) = sum(ones, c, d);
    let (ones, two_c) = sum(ones, e, f);
    let (ones, two_d) = sum(ones, g, h);
    let (twos, four_a) = sum(planes[1], two_a, two_b);
    let (twos, four_b) = sum(twos, two_c, two_d);
    let (fours, eights) = sum(planes[2], four_a, four_b);
    planes[..3].copy_from_slice(&[ones, twos, fours]);
    carry(planes, 3, eights);
}

/// Calls `visit` with 64 numbers.
fn numbers(planes: &Planes, mut visit: impl FnMut(usize, u16)) {
    let is_large = planes[8..].iter().any(|&plane| plane != 0);
    for eight in 0..8 {
        let part = |planes: &[u64]| {
            let bytes = planes.iter().enumerate();
            transposed(bytes.fold(0, |all, (p, plane)| all | (plane >> (8 * eight) & 0xff) << (8 * p)))
        };
        let low = part(&planes[..8]);
        let high = if is_large { part(&planes[8..]) } else { 0 };
        for bit in 0..8 {
            let byte = |part: u64| (part >> (8 * bit) & 0xff) as u16;
            visit(8 * eight + bit, byte(low) | byte(high) << 8);
        }
    }
}

/// Exchanges rows and columns of eight bytes.
const fn transposed(mut square: u64) -> u64 {
    let mut moved = (square ^ square >> 7) & 0x00aa_00aa_00aa_00aa;
    square ^= moved ^ moved << 7;
    moved = (square ^ square >> 14) & 0x0000_cccc_0000_cccc;
    square ^= moved ^ moved << 14;
    moved = (square ^ square >> 28) & 0x0000_0000_f0f0_f0f0;
    square ^ moved ^ moved << 28
}

/// Exchanges rows and columns: bit `j` of word `i` becomes bit `i` of word `j`.
pub(crate) fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while width != 0 {
        let mut row = 0;
        while row < 64 {
            let moved = (square[row] >> width ^ square[row + width]) & mask;
            square[row] ^= moved << width;
            square[row + width] ^= moved;
            row = (row + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_exchanges_rows_and_columns() {
        let mut random = fastrand::Rng::with_seed(4);
        let original: [u64; 64] = std::array::from_fn(|_| random.u64(..));
        let mut square = original;
        transpose(&mut square);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(square[i] >> j & 1, original[j] >> i & 1);
            }
        }
    }

    #[test]
    fn a_tree_finds_what_decides() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut samples = Samples::new(2);
        for _ in 0..20_000 {
            let words = [random.u64(..), random.u64(..)];
            let symbol = if words[0] >> 5 & 1 == 0 { 0 } else { 1 + (words[1] >> 60 & 1) as usize };
            samples.push(words.into_iter(), symbol);
        }
        let tests: Bits = (0..128).map(|test| (test / 64, (test % 64) as u8)).collect();
        let limits =
            Limits { scale: 1.0, leaf_bits: 64.0, chance_bits: 20.0, least: 40, depth: 20 };
        let grown = grow::<3>(&mut samples, &tests, &[0, 1, 2], limits);
        assert_eq!(grown.leaves, 3);
        assert_eq!(grown.bytes[..2], 5_u16.to_le_bytes());
    }
}
