//! Decision trees grown from samples.

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

    fn row(&self, sample: usize) -> &[u64] {
        &self.words[sample * self.stride..][..self.stride]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.symbols.swap(a, b);
        for k in 0..self.stride {
            self.words.swap(a * self.stride + k, b * self.stride + k);
        }
    }

    /// Puts samples with a bit of 0 before those with 1; returns where these begin.
    fn part(&mut self, (begin, end): (usize, usize), (word, bit): (usize, u8)) -> usize {
        let (mut low, mut high) = (begin, end);
        while low < high {
            if self.row(low)[word] >> bit & 1 == 0 {
                low += 1;
            } else {
                high -= 1;
                self.swap(low, high);
            }
        }
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
const ENOUGH: usize = 1 << 15;

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
    let counts = vec![[0; MAX_GROUPS]; samples.stride * 64];
    let mut grower = Grower { samples, tests, groups, limits, usual, counts };
    let mut grown = Grown::default();
    let end = grower.samples.len();
    grower.node((0, end), 0, &mut grown);
    grown
}

struct Grower<'a, const N: usize> {
    samples: &'a mut Samples,
    tests: &'a Bits,
    groups: &'a [u8; N],
    limits: Limits,
    /// How often each symbol occurs.
    usual: [f64; N],
    /// Samples with a test of 1, by word and bit of the test and group.
    counts: Vec<[u32; MAX_GROUPS]>,
}

/// `n log2 n`, summed, less that of the sum: the bits of an ideal code.
fn entropy(counts: &[u32]) -> f64 {
    let weigh = |count: u32| {
        let count = f64::from(count);
        if count > 0.0 { count * count.log2() } else { 0.0 }
    };
    weigh(counts.iter().sum()) - counts.iter().map(|&count| weigh(count)).sum::<f64>()
}

impl<const N: usize> Grower<'_, N> {
    fn node(&mut self, range: (usize, usize), depth: usize, grown: &mut Grown) {
        if let Some(test) = self.best_test(range).filter(|_| depth < self.limits.depth) {
            let (word, bit) = self.tests[test];
            let middle = self.samples.part(range, (usize::from(word), bit));
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
        let step = all.div_ceil(ENOUGH);
        let totals = self.count((begin, end), step);
        let looked_at: u32 = totals.iter().sum();
        let before = entropy(&totals);
        if before < 1.0 {
            return None;
        }
        let least = self.limits.least;
        let mut best = (0.0, 0);
        for (test, &(word, bit)) in self.tests.iter().enumerate() {
            let ones = &self.counts[usize::from(word) * 64 + usize::from(bit)];
            let sum: u32 = ones.iter().sum();
            if sum < least || looked_at - sum < least {
                continue;
            }
            let mut zeros = totals;
            zeros.iter_mut().zip(ones).for_each(|(zeros, ones)| *zeros -= ones);
            let gain = before - entropy(ones) - entropy(&zeros);
            if gain > best.0 {
                best = (gain, test);
            }
        }
        let gain = best.0 * all as f64 / f64::from(looked_at);
        let worth =
            gain > self.limits.chance_bits && gain * self.limits.scale > self.limits.leaf_bits;
        worth.then_some(best.1)
    }

    /// Counts groups, of all samples and of those with each test; every `step`-th sample is looked at.
    fn count(&mut self, (begin, end): (usize, usize), step: usize) -> [u32; MAX_GROUPS] {
        self.counts.fill([0; MAX_GROUPS]);
        let mut totals = [0; MAX_GROUPS];
        let mut chosen = (begin..end).step_by(step).peekable();
        while chosen.peek().is_some() {
            let mut of_group = [0_u64; MAX_GROUPS];
            let mut columns = [0_usize; 64];
            let mut found = 0;
            for sample in chosen.by_ref().take(64) {
                let group = self.groups[usize::from(self.samples.symbols[sample])];
                of_group[usize::from(group)] |= 1 << found;
                columns[found] = sample;
                found += 1;
            }
            for word in 0..self.samples.stride {
                let mut square = [0_u64; 64];
                for (row, &sample) in square.iter_mut().zip(&columns[..found]) {
                    *row = self.samples.words[sample * self.samples.stride + word];
                }
                transpose(&mut square);
                for (group, &members) in of_group.iter().enumerate().filter(|(_, m)| **m != 0) {
                    for (bit, &column) in square.iter().enumerate() {
                        self.counts[word * 64 + bit][group] += (column & members).count_ones();
                    }
                }
            }
            totals.iter_mut().zip(of_group).for_each(|(t, members)| *t += members.count_ones());
        }
        totals
    }
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
