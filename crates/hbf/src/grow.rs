//! Decision trees grown from samples.

use std::sync::LazyLock;

use crate::range::fit;
use crate::workers::{Workers, map_all};

/// A sample: its tests as bits of some words, and its symbol in the highest byte of the last one.
pub(crate) type Sample<const S: usize> = [u64; S];

const SYMBOL_AT: u32 = 56;

/// The last word of a sample with a symbol and further tests, at most 56.
pub(crate) const fn last_word(symbol: usize, tests: u64) -> u64 {
    (symbol as u64) << SYMBOL_AT | tests
}

#[inline]
fn symbol_of<const S: usize>(sample: &Sample<S>) -> usize {
    (sample[S - 1] >> SYMBOL_AT) as usize
}

/// Samples that are looked at before some are exchanged.
const BATCH: usize = 128;

/// Puts samples with a bit of 0 before those with 1; returns where these begin.
///
/// Whether a sample has the bit is hard to foresee, so those that stand on the wrong side are
/// listed first, some of the beginning and some of the end, and then exchanged.
fn part<const S: usize>(samples: &mut [Sample<S>], (word, bit): (usize, u8)) -> usize {
    let (mut begin, mut end) = (0, samples.len());
    let (mut ones, mut zeros) = ([0_u8; BATCH], [0_u8; BATCH]);

    // Which ones of the lists are left.
    let (mut of_begin, mut of_end) = (0..0, 0..0);
    let is_one = |sample: &Sample<S>| (sample[word] >> bit & 1) as usize;

    while end - begin >= 2 * BATCH {
        if of_begin.is_empty() {
            of_begin = 0..0;
            for (at, sample) in samples[begin..begin + BATCH].iter().enumerate() {
                ones[of_begin.end % BATCH] = at as u8;
                of_begin.end += is_one(sample);
            }
        }
        if of_end.is_empty() {
            of_end = 0..0;
            for (at, sample) in samples[end - BATCH..end].iter().rev().enumerate() {
                zeros[of_end.end % BATCH] = at as u8;
                of_end.end += 1 - is_one(sample);
            }
        }
        for _ in 0..of_begin.len().min(of_end.len()) {
            let one = begin + usize::from(ones[of_begin.start]);
            let zero = end - 1 - usize::from(zeros[of_end.start]);
            (samples[one], samples[zero]) = (samples[zero], samples[one]);
            of_begin.start += 1;
            of_end.start += 1;
        }
        begin += if of_begin.is_empty() { BATCH } else { 0 };
        end -= if of_end.is_empty() { BATCH } else { 0 };
    }

    while begin < end {
        if is_one(&samples[begin]) == 0 {
            begin += 1;
        } else {
            end -= 1;
            (samples[begin], samples[end]) = (samples[end], samples[begin]);
        }
    }
    begin
}

/// When a tree is not grown any further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrowthLimits {
    /// Cells of the whole table for each sample.
    pub(crate) scale: f64,
    /// What a leaf more costs in the file, in bits.
    pub(crate) leaf_bits: f64,
    /// What a test must gain in the sample: the best of many gains something by chance.
    pub(crate) chance_bits: f64,
    /// A side must have so many samples.
    pub(crate) least: u32,
    pub(crate) depth: usize,
    /// A tree may have so many leaves.
    pub(crate) most_leaves: usize,
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

/// The tests of samples: the number, and where it is, word and bit.
pub(crate) type Bits = Vec<(u16, (u16, u8))>;

/// Portions for each thread that the samples of a tree are parted into before each is grown by one.
const PORTIONS: usize = 8;

/// Grows a tree for symbols below `N`, whose `groups` are told apart when tests are chosen. It is
/// the same with any number of threads. From so many samples that it would have too many leaves, it
/// is grown again of tests that gain more.
pub(crate) fn grow<const S: usize, const N: usize>(
    samples: &mut [Sample<S>],
    (tests, groups): (&Bits, &[u8; N]),
    mut limits: GrowthLimits,
    workers: &dyn Workers,
) -> Grown {
    loop {
        let grown = grow_freely(samples, (tests, groups), limits, workers);
        if grown.leaves <= limits.most_leaves {
            return grown;
        }
        limits.chance_bits *= 2.0;
    }
}

fn grow_freely<const S: usize, const N: usize>(
    samples: &mut [Sample<S>],
    (tests, groups): (&Bits, &[u8; N]),
    limits: GrowthLimits,
    workers: &dyn Workers,
) -> Grown {
    let usual = symbols_of::<S, N>(samples).map(|n| f64::from(n) / samples.len().max(1) as f64);
    let grower = Grower { tests, groups, limits, usual };

    // Level by level, until no part of the tree is large.
    let large = match workers.threads() {
        1 => usize::MAX,
        threads => samples.len() / (PORTIONS * threads),
    };
    let mut twigs = vec![Twig::Open(samples, 0)];
    while twigs.iter().any(|twig| matches!(twig, Twig::Open(samples, _) if samples.len() > large)) {
        let parted = map_all(workers, twigs, |twig| match twig {
            Twig::Open(samples, depth) if samples.len() > large => {
                grower.fork(samples, depth, &mut TestCounts::new())
            }
            twig => vec![twig],
        });
        twigs = parted.into_iter().flatten().collect();
    }

    let grown = map_all(workers, twigs, |twig| grower.grown(twig, &mut TestCounts::new()));
    let leaves = grown.iter().map(|part| part.leaves).sum();
    Grown { bytes: grown.into_iter().flat_map(|part| part.bytes).collect(), leaves }
}

/// A part of a tree: those of a node stand one behind another as in a file.
enum Twig<'a, const S: usize> {
    Grown(Grown),
    /// The samples that come here, and the depth.
    Open(&'a mut [Sample<S>], usize),
}

fn symbols_of<const S: usize, const N: usize>(samples: &[Sample<S>]) -> [u32; N] {
    let mut counts = [0; N];
    for sample in samples {
        counts[symbol_of(sample) % N] += 1;
    }
    counts
}

struct Grower<'a, const S: usize, const N: usize> {
    tests: &'a Bits,
    groups: &'a [u8; N],
    limits: GrowthLimits,
    /// How often each symbol occurs.
    usual: [f64; N],
}

/// `n log2 n`.
static WEIGHTS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let weight = |n: usize| if n > 0 { n as f64 * (n as f64).log2() } else { 0.0 };
    (0..=ENOUGH).map(weight).collect()
});

fn weight(n: u32) -> f64 {
    WEIGHTS.get(n as usize).copied().unwrap_or_default()
}

impl<const S: usize, const N: usize> Grower<'_, S, N> {
    /// A twig, grown to its end.
    fn grown(&self, twig: Twig<'_, S>, counts: &mut TestCounts<S>) -> Grown {
        let (samples, depth) = match twig {
            Twig::Grown(grown) => return grown,
            Twig::Open(samples, depth) => (samples, depth),
        };
        let mut whole = Grown::default();
        for twig in self.fork(samples, depth, counts) {
            let part = self.grown(twig, counts);
            whole.bytes.extend(part.bytes);
            whole.leaves += part.leaves;
        }
        whole
    }

    /// An inner node, and the two twigs behind it; or a leaf.
    fn fork<'a>(
        &self,
        samples: &'a mut [Sample<S>],
        depth: usize,
        counts: &mut TestCounts<S>,
    ) -> Vec<Twig<'a, S>> {
        let test = self.best_test(samples, counts).filter(|_| depth < self.limits.depth);
        let Some(test) = test else {
            let mut bytes = u16::MAX.to_le_bytes().to_vec();
            bytes.extend(fit(&symbols_of::<S, N>(samples), &self.usual));
            return vec![Twig::Grown(Grown { bytes, leaves: 1 })];
        };
        let (number, (word, bit)) = self.tests[test];
        let middle = part(samples, (usize::from(word), bit));
        let (zeros, ones) = samples.split_at_mut(middle);
        let inner = Grown { bytes: number.to_le_bytes().to_vec(), leaves: 0 };
        vec![Twig::Grown(inner), Twig::Open(zeros, depth + 1), Twig::Open(ones, depth + 1)]
    }

    /// The test that tells most about the symbols; none if no test is worth its place.
    fn best_test(&self, samples: &[Sample<S>], counts: &mut TestCounts<S>) -> Option<usize> {
        let all = samples.len();
        if all < 2 * self.limits.least as usize {
            return None;
        }
        let of_group = self.count(samples, all.div_ceil(ENOUGH), counts);
        let looked_at: u32 = of_group.iter().map(|&(_, count)| count).sum();
        let inner: f64 = of_group.iter().map(|&(_, count)| weight(count)).sum();
        let before = weight(looked_at) - inner;
        if before < 1.0 {
            return None;
        }

        let least = self.limits.least;
        let mut best = (0.0, 0);
        for (test, &(_, (word, bit))) in self.tests.iter().enumerate() {
            let with_test = &counts.ones[usize::from(word) * 64 + usize::from(bit)];
            let ones: u32 = with_test.iter().map(|&count| u32::from(count)).sum();
            if ones < least || looked_at - ones < least {
                continue;
            }
            let mut after = weight(ones) + weight(looked_at - ones);
            for &(group, all) in &of_group {
                let ones = u32::from(with_test[group]);
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

    /// Counts samples, and those with each test, by group; every `step`-th sample is looked at.
    /// Returns the groups that there are, and their samples.
    fn count(
        &self,
        samples: &[Sample<S>],
        step: usize,
        counts: &mut TestCounts<S>,
    ) -> Vec<(usize, u32)> {
        let chosen = &mut counts.chosen;
        chosen.iter_mut().for_each(Vec::clear);
        for sample in samples.iter().step_by(step) {
            chosen[usize::from(self.groups[symbol_of(sample) % N])].push(*sample);
        }
        counts.count()
    }
}

/// How many samples have a test.
struct TestCounts<const S: usize> {
    /// The samples that are looked at, by group.
    chosen: [Vec<Sample<S>>; MAX_GROUPS],
    /// Of these the ones with a test of 1, by word and bit of the test and group.
    ones: Vec<[u16; MAX_GROUPS]>,
}

/// Bit `i` of word `p` is bit `p` of the `i`-th of 64 numbers.
type Planes = [u64; 16];

impl<const S: usize> TestCounts<S> {
    fn new() -> TestCounts<S> {
        TestCounts {
            chosen: [const { Vec::new() }; MAX_GROUPS],
            ones: vec![[0; MAX_GROUPS]; S * 64],
        }
    }

    fn count(&mut self) -> Vec<(usize, u32)> {
        let mut groups = Vec::new();
        self.ones.fill([0; MAX_GROUPS]);
        for (group, chosen) in self.chosen.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
            let mut planes = [[0; 16]; S];
            let (eights, rest) = chosen.as_chunks::<8>();
            for eight in eights {
                for (word, planes) in planes.iter_mut().enumerate() {
                    let mut words = [0; 8];
                    words.iter_mut().zip(eight).for_each(|(to, sample)| *to = sample[word]);
                    add(planes, words);
                }
            }
            for sample in rest {
                planes.iter_mut().zip(sample).for_each(|(planes, &word)| carry(planes, 0, word));
            }
            for (planes, ones) in planes.iter().zip(self.ones.as_chunks_mut::<64>().0) {
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
            transposed(
                bytes.fold(0, |all, (p, plane)| all | (plane >> (8 * eight) & 0xff) << (8 * p)),
            )
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
    use crate::workers::WorkerThreads;

    const LIMITS: GrowthLimits = GrowthLimits {
        scale: 1.0,
        leaf_bits: 64.0,
        chance_bits: 20.0,
        least: 40,
        depth: 20,
        most_leaves: 1000,
    };

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
    fn numbers_are_counted_bit_by_bit() {
        let mut random = fastrand::Rng::with_seed(6);
        for count in [1, 7, 8, 300, 4096] {
            let words: Vec<u64> = (0..count).map(|_| random.u64(..) | random.u64(..)).collect();
            let mut planes = [0; 16];
            let (eights, rest) = words.as_chunks::<8>();
            for eight in eights {
                add(&mut planes, *eight);
            }
            for &word in rest {
                carry(&mut planes, 0, word);
            }
            let mut found = [0; 64];
            numbers(&planes, |bit, number| found[bit] = number);
            for (bit, &number) in found.iter().enumerate() {
                let expected = words.iter().filter(|&word| word >> bit & 1 != 0).count();
                assert_eq!(usize::from(number), expected, "{count} words, bit {bit}");
            }
        }
    }

    #[test]
    fn samples_are_parted_and_none_is_lost() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in [0, 1, 2, 255, 256, 257, 1000, 5000] {
            for share in [0, 1, 5, 9, 10] {
                let mut sample = |at: u64| [at << 1 | u64::from(random.u8(0..10) < share), at];
                let mut samples: Vec<[u64; 2]> = (0..count).map(&mut sample).collect();
                let before = samples.clone();
                let middle = part(&mut samples, (0, 0));
                let is_one = |sample: &[u64; 2]| sample[0] & 1 != 0;
                assert!(!samples[..middle].iter().any(is_one), "{count} {share}");
                assert!(samples[middle..].iter().all(is_one), "{count} {share}");
                samples.sort_unstable_by_key(|sample| sample[1]);
                assert_eq!(samples, before);
            }
        }
    }

    #[test]
    fn a_tree_finds_what_decides() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut samples = Vec::new();
        for _ in 0..20_000 {
            let words = [random.u64(..), random.u64(..)];
            let symbol = if words[0] >> 5 & 1 == 0 { 0 } else { 1 + (words[1] >> 60 & 1) as usize };
            samples.push([words[0], words[1], last_word(symbol, 0)]);
        }
        let tests: Bits = (0..128).map(|test| (test, (test / 64, (test % 64) as u8))).collect();
        let grown = grow(&mut samples, (&tests, &[0, 1, 2]), LIMITS, &WorkerThreads(1));
        assert_eq!(grown.leaves, 3);
        assert_eq!(grown.bytes[..2], 5_u16.to_le_bytes());
    }

    /// Samples whose symbols several bits say something of, the tests, and limits.
    fn usual_samples() -> (Vec<Sample<3>>, Bits, GrowthLimits) {
        let mut random = fastrand::Rng::with_seed(8);
        let mut samples = Vec::new();
        for _ in 0..60_000 {
            let words = [random.u64(..) & random.u64(..), random.u64(..)];
            // The further a bit is from the first one, the less it says.
            let likely = (0..20).find(|bit| words[0] >> bit & 1 != 0).unwrap_or(20);
            let symbol = if random.u8(0..10) < 7 { likely % 5 } else { random.usize(0..5) };
            samples.push([words[0], words[1] & 0xff, last_word(symbol, 0)]);
        }
        let tests: Bits = (0..128).map(|test| (test, (test / 64, (test % 64) as u8))).collect();
        (samples, tests, GrowthLimits { leaf_bits: 24.0, chance_bits: 10.0, ..LIMITS })
    }

    #[test]
    fn a_tree_has_no_more_leaves_than_it_may() {
        let (samples, tests, limits) = usual_samples();
        let with = |most_leaves: usize| {
            let limits = GrowthLimits { most_leaves, ..limits };
            grow(&mut samples.clone(), (&tests, &[0, 1, 2, 3, 4]), limits, &WorkerThreads(2))
        };
        let free = with(1000).leaves;
        assert!(free > 10, "{free}");
        assert_eq!(with(free).leaves, free);
        assert!((2..free).contains(&with(free - 1).leaves));
    }

    #[test]
    fn a_tree_is_the_same_with_any_number_of_threads() {
        let (samples, tests, limits) = usual_samples();
        let by = |threads: usize| {
            let workers = WorkerThreads(threads);
            grow(&mut samples.clone(), (&tests, &[0, 1, 2, 3, 4]), limits, &workers)
        };
        let alone = by(1);
        assert!(alone.leaves > 10, "{}", alone.leaves);
        for threads in [2, 3, 16] {
            let grown = by(threads);
            assert_eq!(
                (grown.leaves, grown.bytes),
                (alone.leaves, alone.bytes.clone()),
                "{threads}"
            );
        }
    }
}
