//! Values unlike those of all neighbours: how their distances are guessed. See docs/hbf.md, 8.

use crate::code::Value;
use crate::code::{Code, LONGEST, class, code_of, distance};
use crate::rows::{Before, Candidates, Frame, Rows, Tests};

/// What is guessed of the distance of a miss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) base: u16,
    /// Distances of candidates of the class, ascending; they are not meant.
    excluded: [u16; 4],
    excluded_count: usize,
}

/// The sign and the first and the number of magnitudes of symbols, by half their numbers.
const STARTS: [u16; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 37, 101];
const BITS: [u32; 13] = [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 15];

/// A distance as it is coded: a symbol, and a number of further bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coded {
    pub(crate) symbol: usize,
    pub(crate) rest: u32,
}

/// How many bits follow a symbol.
pub(crate) fn rest_bits(symbol: usize) -> u32 {
    BITS[symbol.div_ceil(2).min(12)]
}

impl Guess {
    fn without(&self, moves: u16) -> i32 {
        let below = self.excluded[..self.excluded_count].iter().filter(|&&e| e < moves).count();
        i32::from(moves) - below as i32
    }

    /// The distance of a symbol and its bits.
    pub(crate) fn distance(&self, coded: Coded) -> u16 {
        let half = coded.symbol.div_ceil(2).min(12);
        let magnitude = i32::from(STARTS[half]) + coded.rest as i32;
        let delta = if coded.symbol % 2 == 1 { magnitude } else { -magnitude };
        let mut moves = (self.without(self.base) + delta).max(0);
        for &excluded in &self.excluded[..self.excluded_count] {
            moves += i32::from(i32::from(excluded) <= moves);
        }
        moves.min(i32::from(LONGEST)) as u16
    }

    /// How a distance is coded that no candidate has.
    pub(crate) fn coded(&self, moves: u16) -> Coded {
        let delta = self.without(moves) - self.without(self.base);
        let magnitude = delta.unsigned_abs() as u16;
        let half = STARTS.iter().rposition(|&start| start <= magnitude).unwrap_or(0);
        let symbol = if half == 0 { 0 } else { 2 * half - usize::from(delta > 0) };
        Coded { symbol, rest: u32::from(magnitude - STARTS[half]) }
    }
}

/// The code of a distance and a class, 1 a loss, 2 a win.
pub(crate) fn code_of_class(wanted: usize, moves: u16) -> Code {
    if wanted == 1 { code_of(Value::Loss(moves)) } else { code_of(Value::Win(moves.max(1))) }
}

/// The context of the class of a miss.
pub(crate) fn class_context(candidates: &Candidates, check: bool) -> usize {
    let seen = candidates.as_slice().iter().fold(0, |set, &code| {
        set | match class(code) {
            0 => 0b010,
            1 => 0b001,
            _ => 0b100,
        }
    });
    seen | usize::from(check) << 3
}

/// Cells before: whether of the row itself, of N, of U; by lane squares; and how much they weigh.
const NEAR: [(usize, i8, u32); 16] = [
    (0, -1, 2),
    (0, -8, 2),
    (0, -2, 1),
    (0, -16, 1),
    (0, -9, 1),
    (0, -7, 1),
    (1, 0, 2),
    (1, 1, 1),
    (1, -1, 1),
    (1, 8, 1),
    (1, -8, 1),
    (2, 0, 2),
    (2, 1, 1),
    (2, -1, 1),
    (2, 8, 1),
    (2, -8, 1),
];

/// Guesses the distance of a cell of a class, and writes the tests of misses.
pub(crate) fn guess(
    rows: &mut Rows,
    (tests, frame): (Tests, &Frame),
    (before, lane): (Before, usize),
    candidates: &Candidates,
    (wanted, last): (usize, u16),
) -> Guess {
    let (mut sum, mut count, mut least, mut most) = (0_u32, 0_u32, u16::MAX, 0_u16);
    for (of, delta, weight) in NEAR {
        let row = [before.row, before.n, before.u][of];
        let near = lane as i8 + delta;
        if !(0..64).contains(&near) || rows.legal[row] >> near & 1 == 0 {
            continue;
        }
        let code = rows.value(row, near as usize);
        if class(code) == wanted {
            let moves = distance(code);
            sum += weight * u32::from(moves);
            count += weight;
            (least, most) = (least.min(moves), most.max(moves));
        }
    }
    let (base, spread) = match count {
        0 => (last, 0),
        _ => (((2 * sum + count) / (2 * count)) as u16, most - least),
    };
    let mut word = u64::from(wanted == 2);
    for (k, bound) in [1, 3, 6].into_iter().enumerate() {
        word |= u64::from(count >= bound) << (1 + k);
    }
    for (k, bound) in [1, 2, 4, 8].into_iter().enumerate() {
        word |= u64::from(spread >= bound) << (4 + k);
    }
    for (k, &bound) in frame.thresholds.iter().enumerate() {
        word |= u64::from(base >= bound) << (8 + k);
    }
    word |= u64::from(class(candidates.codes[0]) == wanted) << 17;
    rows.words[tests.miss_word()] = word;
    let mut guess = Guess { base, excluded: [0; 4], excluded_count: 0 };
    for &code in candidates.as_slice() {
        if class(code) == wanted {
            guess.excluded[guess.excluded_count & 3] = distance(code);
            guess.excluded_count += 1;
        }
    }
    guess.excluded[..guess.excluded_count].sort_unstable();
    guess
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_that_is_meant_is_coded() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..50_000 {
            let longest = [20, 300, LONGEST][random.usize(0..3)];
            let mut excluded = [0; 4];
            let excluded_count = random.usize(0..5);
            excluded[..excluded_count].fill_with(|| random.u16(0..longest));
            excluded[..excluded_count].sort_unstable();
            let distinct = excluded[..excluded_count].windows(2).all(|pair| pair[0] < pair[1]);
            let moves = random.u16(0..=longest);
            if !distinct || excluded[..excluded_count].contains(&moves) {
                continue;
            }
            let guess = Guess { base: random.u16(0..=longest), excluded, excluded_count };
            let coded = guess.coded(moves);
            assert!(coded.symbol < 25 && coded.rest < 1 << rest_bits(coded.symbol));
            assert_eq!(guess.distance(coded), moves, "{guess:?}");
        }
    }
}
