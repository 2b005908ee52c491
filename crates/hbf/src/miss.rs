//! Values unlike those of all neighbours: how their distances are guessed. See docs/hbf.md, 8.

use crate::code::Value;
use crate::code::{Code, LONGEST, NO_DISTANCE, RANK_MASKS, code_of, distances_of};
use crate::rows::{Before, Candidates, LEFT, ModelFrame, TileRows};

/// What is guessed of the distance of a miss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) base: u16,
    /// Distances of candidates of the class, ascending; they are not meant. Where there are fewer
    /// the rest is [`NO_DISTANCE`].
    excluded: [u16; 4],
}

/// The sign and the first and the number of magnitudes of symbols, by half their numbers.
const STARTS: [u16; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 37, 101];
const BITS: [u32; 13] = [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 15];

const LAST_HALF: u8 = STARTS.len() as u8 - 1;

/// Half the number of the symbol of a magnitude; of all that are not here it is the last one.
const HALVES: [u8; STARTS[LAST_HALF as usize] as usize] = {
    let mut halves = [0; STARTS[LAST_HALF as usize] as usize];
    let mut magnitude = 0;
    while magnitude < halves.len() {
        let half = if magnitude > 0 { halves[magnitude - 1] } else { 0 };
        halves[magnitude] = half + (STARTS[half as usize + 1] as usize == magnitude) as u8;
        magnitude += 1;
    }
    halves
};

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
        let below = self.excluded.map(|excluded| i32::from(excluded < moves));
        i32::from(moves) - below.iter().sum::<i32>()
    }

    /// The distance of a symbol and its bits.
    pub(crate) fn distance(&self, coded: Coded) -> u16 {
        let half = coded.symbol.div_ceil(2).min(12);
        let magnitude = i32::from(STARTS[half]) + coded.rest as i32;
        let delta = if coded.symbol % 2 == 1 { magnitude } else { -magnitude };
        let mut moves = (self.without(self.base) + delta).max(0);
        for excluded in self.excluded {
            moves += i32::from(i32::from(excluded) <= moves);
        }
        moves.min(i32::from(LONGEST)) as u16
    }

    /// How a distance is coded that no candidate has.
    pub(crate) fn coded(&self, moves: u16) -> Coded {
        let delta = self.without(moves) - self.without(self.base);
        let magnitude = delta.unsigned_abs() as u16;
        let half = usize::from(*HALVES.get(usize::from(magnitude)).unwrap_or(&LAST_HALF));
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
    candidates.classes() | usize::from(check) << 3
}

/// Cells before, by lane squares: those of the row itself, and those of N and of U; and how much
/// they weigh. What is missing of eight is the lane square, and weighs nothing.
const OWN: [i8; 8] = [-16, -9, -8, -7, -2, -1, 0, 0];
const OWN_WEIGHTS: [i16; 8] = [1, 1, 2, 1, 1, 2, 0, 0];
const NEAR: [i8; 8] = [-8, -1, 0, 1, 8, 0, 0, 0];
const NEAR_WEIGHTS: [i16; 8] = [1, 1, 2, 1, 1, 0, 0, 0];

/// Cells before of one row.
struct CellsBefore {
    codes: [Code; 8],
    /// Those that are legal cells, a bit each.
    legal: u8,
    weights: [i16; 8],
}

impl CellsBefore {
    /// Those of the row itself, of N, and of U.
    #[inline]
    fn all(rows: &TileRows, before: Before, lane: usize) -> [CellsBefore; 3] {
        // Bit 16 is the lane square itself.
        let legal = |row: usize| (u128::from(rows.legal[row]) << 16 >> lane) as u64;
        let own = legal(before.row);
        let near = |row: usize| {
            let set = legal(row);
            let bits = set >> 8 & 1 | (set >> 15 & 7) << 1 | (set >> 24 & 1) << 4;
            CellsBefore::of(rows, (row, lane), NEAR, (bits as u8, NEAR_WEIGHTS))
        };
        let bits = own & 1 | (own >> 7 & 7) << 1 | (own >> 14 & 3) << 4;
        [
            CellsBefore::of(rows, (before.row, lane), OWN, (bits as u8, OWN_WEIGHTS)),
            near(before.n),
            near(before.u),
        ]
    }

    #[inline]
    fn of(
        rows: &TileRows,
        (row, lane): (usize, usize),
        cells: [i8; 8],
        (legal, weights): (u8, [i16; 8]),
    ) -> CellsBefore {
        let around = rows.around(row, lane);
        let codes = cells.map(|by| around[(LEFT as i8 + by) as usize % around.len()]);
        CellsBefore { codes, legal, weights }
    }
}

/// Distances nearby, of one class.
struct Nearby {
    sum: u32,
    count: u32,
    least: u16,
    most: u16,
}

impl Nearby {
    /// All cells at once, without a branch for each: whether they count is hard to foresee.
    #[inline]
    fn of(cells: &[CellsBefore; 3], wanted: usize) -> Nearby {
        let (mut sums, mut counts) = ([0_i32; 8], [0_i16; 8]);
        let (mut least, mut most) = ([u16::MAX; 8], [0_u16; 8]);
        for CellsBefore { codes, legal, weights } in cells {
            let legal = &RANK_MASKS[usize::from(*legal)];
            let moves = distances_of(codes, wanted);
            for at in 0..8 {
                let moves = moves[at] | !legal[at];
                let counted = u16::from(moves == NO_DISTANCE).wrapping_sub(1);
                // No distance has the highest bit.
                sums[at] += i32::from((moves & counted) as i16) * i32::from(weights[at]);
                counts[at] += weights[at] & counted as i16;
                least[at] = least[at].min(moves);
                most[at] = most[at].max(moves & counted);
            }
        }
        Nearby {
            sum: sums.iter().sum::<i32>() as u32,
            count: counts.iter().sum::<i16>() as u32,
            least: least.into_iter().fold(u16::MAX, u16::min),
            most: most.into_iter().fold(0, u16::max),
        }
    }
}

/// Distances in ascending order.
fn sorted(mut of: [u16; 4]) -> [u16; 4] {
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (of[a], of[b]) = (of[a].min(of[b]), of[a].max(of[b]));
    }
    of
}

/// Guesses the distance of a cell of a class; returns the tests of misses, too.
pub(crate) fn guess(
    rows: &TileRows,
    frame: &ModelFrame,
    (before, lane): (Before, usize),
    candidates: &Candidates,
    (wanted, last): (usize, u16),
) -> (Guess, u64) {
    let cells = CellsBefore::all(rows, before, lane);
    let Nearby { sum, count, least, most } = Nearby::of(&cells, wanted);
    let (base, spread) = match count {
        0 => (last, 0),
        _ => (((2 * sum + count) / (2 * count)) as u16, most - least),
    };

    let reaches = |bounds: [u32; 4], number: u32| {
        let bits = bounds.iter().enumerate();
        bits.fold(0, |set, (k, &bound)| set | u64::from(number >= bound) << k)
    };
    let excluded = candidates.distances_of(wanted);
    let mut word = u64::from(wanted == 2) | reaches([1, 3, 6, u32::MAX], count) << 1;
    word |= reaches([1, 2, 4, 8], u32::from(spread)) << 4 | u64::from(frame.reached(base)) << 8;
    word |= u64::from(excluded[0] != NO_DISTANCE) << 17;
    (Guess { base, excluded: sorted(excluded) }, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{DRAW, class, distance};

    /// The cells that count in a row and how much, one by one.
    fn counted(
        rows: &TileRows,
        (row, lane): (usize, usize),
        cells: &[(isize, u32)],
    ) -> Vec<(Code, u32)> {
        let squares = cells.iter().filter_map(|&(by, weight)| {
            let square = lane.checked_add_signed(by).filter(|square| *square < 64)?;
            (rows.legal[row] >> square & 1 != 0).then(|| (rows.value(row, square), weight))
        });
        squares.collect()
    }

    #[test]
    fn cells_before_count_as_they_do_one_by_one() {
        let own = [(-1, 2), (-8, 2), (-2, 1), (-16, 1), (-9, 1), (-7, 1)];
        let near = [(0, 2), (1, 1), (-1, 1), (8, 1), (-8, 1)];
        let mut random = fastrand::Rng::with_seed(9);
        let mut rows = TileRows::new();
        let mut seen = [0; 21];
        for number in 0..20_000 {
            for row in 0..3 {
                let longest = [9, LONGEST][number % 2];
                let kinds = [0..3, 1..2, 1..3][number % 3].clone();
                let mut code = || match random.u8(kinds.clone()) {
                    0 => DRAW,
                    1 => code_of(Value::Loss(random.u16(0..=longest))),
                    _ => code_of(Value::Win(random.u16(1..=longest))),
                };
                rows.set_codes(row, &std::array::from_fn(|_| code()));
                rows.legal[row] = random.u64(..) | random.u64(..) | random.u64(..);
            }
            let before = Before { row: 2, n: 1, u: 0, nn: 0, uu: 0 };
            let (lane, wanted) = (random.usize(0..64), random.usize(1..3));
            let cells = CellsBefore::all(&rows, before, lane);
            let found = Nearby::of(&cells, wanted);

            let mut all = counted(&rows, (2, lane), &own);
            all.extend(counted(&rows, (1, lane), &near));
            all.extend(counted(&rows, (0, lane), &near));
            all.retain(|&(code, _)| class(code) == wanted);
            let moves = all.iter().map(|&(code, weight)| (u32::from(distance(code)), weight));
            let sum = moves.clone().map(|(moves, weight)| moves * weight).sum();
            let count = moves.clone().map(|(_, weight)| weight).sum();
            assert_eq!((found.sum, found.count), (sum, count), "{lane} {wanted}");
            let bounds = [moves.clone().min(), moves.max()].map(|of| of.map(|(moves, _)| moves));
            if let [Some(least), Some(most)] = bounds {
                assert_eq!([found.least, found.most].map(u32::from), [least, most]);
            }
            seen[count as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }

    #[test]
    fn every_distance_that_is_meant_is_coded() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..50_000 {
            let longest = [20, 300, LONGEST][random.usize(0..3)];
            let mut excluded = [NO_DISTANCE; 4];
            let excluded_count = random.usize(0..5);
            excluded[..excluded_count].fill_with(|| random.u16(0..longest));
            let excluded = sorted(excluded);
            assert!(excluded.is_sorted());
            let distinct = excluded[..excluded_count].windows(2).all(|pair| pair[0] < pair[1]);
            let moves = random.u16(0..=longest);
            if !distinct || excluded[..excluded_count].contains(&moves) {
                continue;
            }
            let guess = Guess { base: random.u16(0..=longest), excluded };
            let coded = guess.coded(moves);
            assert!(coded.symbol < 25 && coded.rest < 1 << rest_bits(coded.symbol));
            assert_eq!(guess.distance(coded), moves, "{guess:?}");
        }
    }
}
