//! Values unlike those of all neighbours: how their distances are guessed. See docs/hbf.md, 8.

use crate::code::Value;
use crate::code::{Code, LONGEST, class, code_of, distance};
use crate::rows::{Before, Candidates, LEFT, ModelFrame, TileRows};

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
    let seen = candidates.iter().fold(0, |set, code| {
        set | match class(code) {
            0 => 0b010,
            1 => 0b001,
            _ => 0b100,
        }
    });
    seen | usize::from(check) << 3
}

/// Cells before: by lane squares, and how much they weigh. Those of the row itself, and those of N
/// and of U.
const OWN: [(i8, u32); 6] = [(-1, 2), (-8, 2), (-2, 1), (-16, 1), (-9, 1), (-7, 1)];
const NEAR: [(i8, u32); 5] = [(0, 2), (1, 1), (-1, 1), (8, 1), (-8, 1)];

/// Distances nearby, of one class.
struct Nearby {
    wanted: usize,
    sum: u32,
    count: u32,
    least: u16,
    most: u16,
}

impl Nearby {
    /// Adds cells of a row, without a branch for each: whether they count is hard to foresee.
    #[inline]
    fn add<const N: usize>(
        &mut self,
        rows: &TileRows,
        row: usize,
        lane: usize,
        cells: &[(i8, u32); N],
    ) {
        // Bit 16 is the lane square itself; beyond the board there is no cell.
        let legal = (u128::from(rows.legal[row]) << 16 >> lane) as u64;
        let around = rows.around(row, lane);
        for &(by, weight) in cells {
            let code = around[(LEFT as i8 + by) as usize % around.len()];
            let counts = legal >> (16 + by) & u64::from(class(code) == self.wanted);
            let all = (counts as u16).wrapping_neg();
            let moves = if self.wanted == 1 { code.wrapping_sub(1) } else { code.wrapping_neg() };
            let weight = weight & u32::from(all);
            self.sum += weight * u32::from(moves);
            self.count += weight;
            self.least = self.least.min(moves | !all);
            self.most = self.most.max(moves & all);
        }
    }
}

/// Guesses the distance of a cell of a class; returns the tests of misses, too.
pub(crate) fn guess(
    rows: &TileRows,
    frame: &ModelFrame,
    (before, lane): (Before, usize),
    candidates: &Candidates,
    (wanted, last): (usize, u16),
) -> (Guess, u64) {
    let mut near = Nearby { wanted, sum: 0, count: 0, least: u16::MAX, most: 0 };
    near.add(rows, before.row, lane, &OWN);
    near.add(rows, before.n, lane, &NEAR);
    near.add(rows, before.u, lane, &NEAR);
    let Nearby { sum, count, least, most, .. } = near;
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
    word |= u64::from(class(candidates.get(0)) == wanted) << 17;
    let mut guess = Guess { base, excluded: [0; 4], excluded_count: 0 };

    for code in candidates.iter() {
        if class(code) == wanted {
            guess.excluded[guess.excluded_count & 3] = distance(code);
            guess.excluded_count += 1;
        }
    }

    guess.excluded[..guess.excluded_count].sort_unstable();
    (guess, word)
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
