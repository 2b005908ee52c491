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

/// How often each code was met, some counts of all of them one behind the other.
pub(super) struct Histogram(Vec<u64>);

impl Histogram {
    /// No code of the width `W` was met.
    pub(super) fn new<W: Code>() -> Histogram {
        Histogram(vec![0; HISTOGRAMS * W::KINDS])
    }

    /// What nothing is counted in.
    pub(super) fn none() -> Histogram {
        Histogram(Vec::new())
    }

    /// Counts the `i`th code of a run.
    #[inline(always)]
    pub(super) fn count<W: Code>(&mut self, code: usize, i: usize) {
        self.0[code + i % HISTOGRAMS * W::KINDS] += 1;
    }

    /// Counts the codes of all squares of a row but some.
    #[inline(always)]
    pub(super) fn count_all_but<W: Code>(
        &mut self,
        code: impl Fn(usize) -> usize,
        others: impl Iterator<Item = usize>,
    ) {
        let mut parts = self.0.chunks_exact_mut(W::KINDS);
        let mut next = || parts.next().unwrap_or_default();
        let parts: [&mut [u64]; HISTOGRAMS] = [next(), next(), next(), next()];
        for first in (0..64).step_by(HISTOGRAMS) {
            for (at, part) in (first..).zip([0, 1, 2, 3]) {
                if let Some(count) = parts[part].get_mut(code(at)) {
                    *count += 1;
                }
            }
        }
        for square in others {
            if let Some(count) = parts[square % HISTOGRAMS].get_mut(code(square)) {
                *count -= 1;
            }
        }
    }

    /// Both together.
    pub(super) fn with(mut self, other: &Histogram) -> Histogram {
        self.add(other);
        self
    }

    /// Takes over what another one has.
    pub(super) fn add(&mut self, other: &Histogram) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// Adds what was met to the numbers of a header.
    pub(super) fn add_to<W: Code>(&self, turn: Color, counts: &mut IndexCounts) {
        for (place, &n) in self.0.iter().enumerate().filter(|&(_, &n)| n > 0) {
            counts.add(W::truncate((place % W::KINDS) as u32).value(), turn, n);
        }
    }
}

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
