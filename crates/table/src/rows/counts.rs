//! What is counted of a table: the numbers of its header.

use hoffman_board::{Color, Value};
use hoffman_space::{Code, Counts, Layout};
use rayon::prelude::*;

use super::squares::{is_canonical, touch};

/// The numbers of a table's header, counted over indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// The size of the index space.
    pub indices: u64,
    /// Indices with a placement in which the player not to move is in check.
    pub pntm_mated: u64,
    /// All other indices with a placement.
    pub legal: u64,
    /// Positions won by White (without a side-to-move bit: by the player to move).
    pub white_wins: u64,
    /// Positions won by Black.
    pub black_wins: u64,
    /// The largest stored distance above 1, or 0.
    pub max_stored: i32,
    /// The smallest stored distance, or 0.
    pub min_stored: i32,
    /// Moves and stalemates, if the slices were counted.
    pub moves: Option<Counts>,
}

impl IndexCounts {
    /// Counts `n` indices with a value.
    pub(super) fn add(&mut self, value: Value, turn: Color, n: u64) {
        // In suicide chess the count of illegal positions is that of those won for want of a move.
        if matches!(value, Value::Illegal | Value::Win(0)) {
            self.pntm_mated += n;
            return;
        }
        self.legal += n;
        match value.winner(turn) {
            Some(Color::White) => self.white_wins += n,
            Some(Color::Black) => self.black_wins += n,
            None => return,
        }
        self.max_stored = self.max_stored.max(value.to_stored());
        self.min_stored = self.min_stored.min(value.to_stored());
    }
}

/// Neighbouring positions often have the same value; counting them in turns in several histograms
/// keeps one increment from waiting for the other.
const HISTOGRAMS: usize = 4;

/// How often each code was met, some counts of all of them one behind the other; and what was
/// counted of whole rows.
pub(super) struct Histogram {
    codes: Vec<u64>,
    rows: RowTally,
}

impl Histogram {
    /// No code of the width `W` was met.
    pub(super) fn new<W: Code>() -> Histogram {
        Histogram { codes: vec![0; HISTOGRAMS * W::KINDS], rows: RowTally::new() }
    }

    /// What nothing is counted in.
    pub(super) fn none() -> Histogram {
        Histogram { codes: Vec::new(), rows: RowTally::new() }
    }

    /// Counts the `i`th code of a run.
    #[inline(always)]
    pub(super) fn count<W: Code>(&mut self, code: usize, i: usize) {
        self.codes[code + i % HISTOGRAMS * W::KINDS] += 1;
    }

    /// Counts the codes of some squares of a row, of a byte each.
    #[inline(always)]
    pub(super) fn count_row(&mut self, row: &[u8; 64], squares: u64) {
        self.rows.count(row, squares);
    }

    /// Both together.
    pub(super) fn with(mut self, other: &Histogram) -> Histogram {
        self.add(other);
        self
    }

    /// Takes over what another one has.
    pub(super) fn add(&mut self, other: &Histogram) {
        self.codes.iter_mut().zip(&other.codes).for_each(|(a, b)| *a += b);
        self.rows.add(&other.rows);
    }

    /// Adds what was met to the numbers of a header.
    pub(super) fn add_to<W: Code>(&self, turn: Color, counts: &mut IndexCounts) {
        for (place, &n) in self.codes.iter().enumerate().filter(|&(_, &n)| n > 0) {
            counts.add(W::truncate((place % W::KINDS) as u32).value(), turn, n);
        }
        self.rows.add_to(turn, counts);
    }
}

/// What is counted of rows of codes of a byte: by square of the row, until a count of a byte is
/// full, and all in all. Which distances there are is not asked for, but for the longest ones.
struct RowTally {
    /// Wins, losses, and positions with the player not to move in check.
    by_square: [[u8; 64]; 3],
    /// How many rows are in that.
    rows: u8,
    sums: [u64; 3],
    all: u64,
    /// The least code of a win, and the largest one of a loss: of the longest ones.
    longest: [[u8; 64]; 2],
}

/// The code of a draw, and that of a win in no moves.
const DRAWN: u8 = <u8 as Code>::DRAW;
const WON: u8 = u8::MAX;

impl RowTally {
    fn new() -> RowTally {
        let longest = [[WON; 64], [0; 64]];
        RowTally { by_square: [[0; 64]; 3], rows: 0, sums: [0; 3], all: 0, longest }
    }

    #[inline(always)]
    fn count(&mut self, row: &[u8; 64], squares: u64) {
        let mut codes = [0; 64];
        let ranks = codes.as_chunks_mut::<8>().0.iter_mut().zip(row.as_chunks::<8>().0);
        for ((codes, row), set) in ranks.zip(squares.to_le_bytes()) {
            // What is left out looks like a draw, which is counted by what is not.
            let mask = u64::from_le_bytes(RANK_BYTES[usize::from(set)]);
            let rest = !mask & u64::from_le_bytes([DRAWN; 8]);
            *codes = (u64::from_le_bytes(*row) & mask | rest).to_le_bytes();
        }

        let ([wins, losses, illegal], [longest_win, longest_loss]) =
            (&mut self.by_square, &mut self.longest);
        for square in 0..64 {
            let code = codes[square];
            wins[square] += u8::from(code > DRAWN && code < WON);
            losses[square] += u8::from(code > 0 && code < DRAWN);
            illegal[square] += u8::from(code == 0 || code == WON);
            let win = if code > DRAWN { code } else { WON };
            longest_win[square] = longest_win[square].min(win);
            let loss = if code < DRAWN { code } else { 0 };
            longest_loss[square] = longest_loss[square].max(loss);
        }

        self.all += u64::from(squares.count_ones());
        self.rows += 1;
        if self.rows == u8::MAX {
            self.empty();
        }
    }

    /// Adds the counts by square to all.
    fn empty(&mut self) {
        self.sums = self.counted();
        (self.by_square, self.rows) = ([[0; 64]; 3], 0);
    }

    fn counted(&self) -> [u64; 3] {
        let of = |kind: usize| {
            self.sums[kind] + self.by_square[kind].iter().map(|&n| u64::from(n)).sum::<u64>()
        };
        [of(0), of(1), of(2)]
    }

    fn add(&mut self, other: &RowTally) {
        self.sums.iter_mut().zip(other.counted()).for_each(|(sum, n)| *sum += n);
        self.all += other.all;
        let [wins, losses] = &mut self.longest;
        wins.iter_mut().zip(&other.longest[0]).for_each(|(own, &code)| *own = code.min(*own));
        losses.iter_mut().zip(&other.longest[1]).for_each(|(own, &code)| *own = code.max(*own));
    }

    fn add_to(&self, turn: Color, counts: &mut IndexCounts) {
        let [wins, losses, illegal] = self.counted();
        let longest_win = self.longest[0].iter().min().copied().unwrap_or(WON);
        let longest_loss = self.longest[1].iter().max().copied().unwrap_or(0);
        let draws = self.all - wins - losses - illegal;
        for (code, n) in [(0, illegal), (DRAWN, draws), (longest_win, wins), (longest_loss, losses)]
        {
            if n > 0 {
                counts.add(code.value(), turn, n);
            }
        }
    }
}

/// For every set of squares of a rank all bits on these, byte by byte.
pub static RANK_BYTES: [[u8; 8]; 256] = {
    let mut masks = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let mut square = 0;
        while square < 8 {
            masks[set][square] = if set >> square & 1 != 0 { u8::MAX } else { 0 };
            square += 1;
        }
        set += 1;
    }
    masks
};

/// What is counted of stored distances: of even and of odd indices wins, losses and positions with
/// the player not to move in check; the smallest and the largest.
#[derive(Clone, Copy, Default)]
pub(super) struct StoredCounts {
    sides: [[u64; 3]; 2],
    least: i32,
    most: i32,
}

impl StoredCounts {
    /// Counts neighbouring numbers, the first of which has an even index.
    pub(super) fn of<N: Copy + Ord + From<i8> + Into<i32> + Sync>(numbers: &[N]) -> StoredCounts {
        numbers
            .par_chunks(1 << 20)
            .map(count_piece)
            .reduce(StoredCounts::default, StoredCounts::with)
    }

    /// Both together.
    pub(super) fn with(mut self, other: StoredCounts) -> StoredCounts {
        let own = self.sides.as_flattened_mut().iter_mut();
        own.zip(other.sides.as_flattened()).for_each(|(a, b)| *a += b);
        StoredCounts {
            sides: self.sides,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// Adds what was counted to the numbers of a header, whose `legal` are all placements so far.
    pub(super) fn add_to(self, has_side_bit: bool, counts: &mut IndexCounts) {
        for (number, [wins, losses, illegal]) in self.sides.into_iter().enumerate() {
            let (white, black) =
                if has_side_bit && number == 1 { (losses, wins) } else { (wins, losses) };
            counts.white_wins += white;
            counts.black_wins += black;
            counts.pntm_mated += illegal;
            counts.legal -= illegal;
        }
        counts.min_stored = self.least;
        counts.max_stored = if self.most > 1 { self.most } else { 0 };
    }
}

/// Numbers side by side, even and odd indices apart, each with counts of a byte.
const LANES: usize = 64;

/// Counts a piece of the numbers.
fn count_piece<N: Copy + Ord + From<i8> + Into<i32>>(numbers: &[N]) -> StoredCounts {
    let (zero, one) = (N::from(0), N::from(1));
    let (mut least, mut most) = ([zero; LANES], [zero; LANES]);
    let mut sides = [[0; 3]; 2];
    // A count of a byte holds 255 steps.
    for numbers in numbers.chunks(LANES * 255) {
        let (mut wins, mut losses, mut illegal) = ([0_u8; LANES], [0_u8; LANES], [0_u8; LANES]);
        let mut step = |lane: usize, n: N| {
            wins[lane] += u8::from(n > one);
            losses[lane] += u8::from(n < zero);
            illegal[lane] += u8::from(n == one);
            least[lane] = least[lane].min(n);
            most[lane] = most[lane].max(n);
        };
        let (rows, rest) = numbers.as_chunks::<LANES>();
        for row in rows {
            (0..LANES).for_each(|lane| step(lane, row[lane]));
        }
        rest.iter().enumerate().for_each(|(lane, &n)| step(lane, n));

        for lane in 0..LANES {
            let side: &mut [u64; 3] = &mut sides[lane % 2];
            side[0] += u64::from(wins[lane]);
            side[1] += u64::from(losses[lane]);
            side[2] += u64::from(illegal[lane]);
        }
    }
    let least = least.into_iter().min().map_or(0, Into::into);
    StoredCounts { sides, least, most: most.into_iter().max().map_or(0, Into::into) }
}

/// The moves of two bare kings, whose layout knows no symmetry while their table does.
pub(super) fn bare_king_moves(ways: u8, both_sides: bool) -> Counts {
    let mut counts = Counts::default();
    for white in 0..64 {
        for black in 0..64 {
            if touch(white, black) || !is_canonical(ways, white, black) {
                continue;
            }
            let moves = |from: u8, other: u8| {
                (0..64).filter(|&to| to != from && touch(from, to) && !touch(to, other)).count()
                    as u64
            };
            counts.moves += moves(white, black);
            if both_sides {
                counts.moves += moves(black, white);
            }
        }
    }
    counts
}

/// In how many orders the like men of a layout can stand on the same squares.
pub(super) fn like_orders(layout: &Layout) -> u64 {
    let mut orders = 1;
    let movers = layout.movers();
    for (m, mover) in movers.iter().enumerate() {
        orders *= movers[..=m].iter().filter(|o| *o == mover).count() as u64;
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole rows, and code by code.
    #[test]
    fn rows_are_counted_as_codes_one_by_one() {
        let mut random = fastrand::Rng::with_seed(12);
        for kinds in [3_u8, 40, u8::MAX] {
            let [mut first, mut second] = [Histogram::new::<u8>(), Histogram::new::<u8>()];
            let mut one_by_one = Histogram::new::<u8>();
            // More rows than a count of a byte holds.
            for number in 0..1000 {
                let row: [u8; 64] =
                    std::array::from_fn(|_| random.u8(..kinds).wrapping_mul(77).wrapping_add(128));
                let squares = random.u64(..) | random.u64(..);
                let rows = if number % 3 == 0 { &mut first } else { &mut second };
                rows.count_row(&row, squares);
                for square in (0..64).filter(|square| squares >> square & 1 != 0) {
                    one_by_one.count::<u8>(usize::from(row[square]), square);
                }
            }
            let rows = first.with(&second);
            for turn in [Color::White, Color::Black] {
                let [mut found, mut expected] = [IndexCounts::default(); 2];
                rows.add_to::<u8>(turn, &mut found);
                one_by_one.add_to::<u8>(turn, &mut expected);
                assert_eq!(found, expected);
                assert!(expected.legal > 10_000 && expected.white_wins > 1000);
            }
        }
    }
}
