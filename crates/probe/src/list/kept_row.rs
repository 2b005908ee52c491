//! What the positions of a row ask of their moves, in numbers that many squares are compared by at
//! once.

use hoffman_board::{Bitboard, Square, Value};

/// The number of no value that can be kept.
pub(super) const NOTHING: u16 = 0;

/// That of a draw.
pub(super) const DRAWN: u16 = u16::MAX - 127;

/// Plies to the end where there is none.
pub(super) const NEVER: u16 = u16::MAX;

/// The numbers of losses, from the first to the last.
pub(super) const LOSSES: (u16, u16) = (1, 0x7fff);

/// A number for a value, to the side to move: that of its code among values of a byte each, with
/// the highest bit of that repeated.
pub(super) fn number(value: Value) -> u16 {
    match value {
        Value::Illegal => NOTHING,
        Value::Loss(moves) => LOSSES.0 + moves,
        Value::Draw => DRAWN,
        Value::Win(moves @ ..=126) => u16::MAX - moves,
        Value::Win(moves) => u16::MAX - 1 - moves,
    }
}

/// The same of such a code.
#[inline]
pub(super) fn number_of_code(code: u8) -> u16 {
    code as i8 as u16
}

/// The least of some numbers, and how many more there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberRange {
    pub(super) least: u16,
    pub(super) more: u16,
}

/// What a position asks of its moves: the numbers behind those that keep what there is to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedMoves {
    pub(super) behind: NumberRange,
    /// Plies to its end.
    pub(super) plies: u16,
}

/// What the positions of a row ask of their moves, by square of the row's man.
#[derive(Clone, Debug)]
pub(super) struct KeptRow {
    /// Where there is something to keep.
    pub(super) asked: Bitboard,
    /// Where the side to move does not lose: several moves that keep that are enough.
    pub(super) winning: Bitboard,
    /// Where the line is at its end.
    pub(super) ended: Bitboard,
    /// Plies to the end, where something is asked.
    pub(super) plies: [u16; 64],
    least: [u16; 64],
    more: [u16; 64],
}

impl KeptRow {
    pub(super) fn new() -> KeptRow {
        KeptRow {
            asked: Bitboard::EMPTY,
            winning: Bitboard::EMPTY,
            ended: Bitboard::EMPTY,
            plies: [NEVER; 64],
            least: [NOTHING; 64],
            more: [0; 64],
        }
    }

    /// Takes what the position with the man on a square asks, if it `is_asked`.
    #[inline]
    pub(super) fn add(&mut self, square: usize, asked: AskedMoves, is_asked: bool) {
        let NumberRange { least, more } = asked.behind;
        let asks = is_asked && least != NOTHING;
        // Who wins moves into losses, and who draws into draws.
        let wins = least <= LOSSES.1 || least == DRAWN;
        self.asked.0 |= u64::from(asks) << square;
        self.winning.0 |= u64::from(asks && wins) << square;
        self.ended.0 |= u64::from(asked.plies == 0) << square;
        self.plies[square] = asked.plies;
        self.least[square] = least;
        self.more[square] = more;
    }

    /// The squares with which a move to such positions keeps what there is to keep.
    #[inline]
    pub(super) fn keeping(&self, behind: &[u16; 64]) -> Bitboard {
        within(behind, &self.least, &self.more) & self.asked
    }

    /// The numbers behind moves that keep what there is to keep with the man on a square.
    pub(super) fn range(&self, square: Square) -> NumberRange {
        let at = square as usize & 63;
        NumberRange { least: self.least[at], more: self.more[at] }
    }
}

impl NumberRange {
    /// The squares with such numbers.
    pub(super) fn find(self, numbers: &[u16; 64]) -> Bitboard {
        within(numbers, &[self.least; 64], &[self.more; 64])
    }
}

/// The squares whose number is at least so much, and more by so much at most.
#[inline]
fn within(numbers: &[u16; 64], least: &[u16; 64], more: &[u16; 64]) -> Bitboard {
    // In this form the compiler sees many of them at a time.
    let mut is_within = [0; 64];
    for (square, is_within) in is_within.iter_mut().enumerate() {
        *is_within = u8::from(numbers[square].wrapping_sub(least[square]) <= more[square]);
    }
    let ranks = is_within.as_chunks().0.iter().map(|rank| {
        // The bytes' lowest bits side by side.
        u64::from_le_bytes(*rank).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    Bitboard((0..).zip(ranks).fold(0, |all, (rank, bits)| all | bits << (8 * rank)))
}

/// Numbers by square with the board turned upside down.
pub(super) fn upside_down(numbers: &[u16; 64]) -> [u16; 64] {
    let mut turned = [NOTHING; 64];
    let (ranks, from) = (turned.as_chunks_mut::<8>().0, numbers.as_chunks::<8>().0);
    for (rank, from) in ranks.iter_mut().zip(from.iter().rev()) {
        *rank = *from;
    }
    turned
}

#[cfg(test)]
mod tests {
    use hoffman_space::Code as _;

    use super::*;

    #[test]
    fn numbers_are_those_of_codes_and_all_different() {
        for code in 0..=254 {
            assert_eq!(number_of_code(code), number(code.value()), "{code}");
        }
        let values = |moves| [Value::Loss(moves), Value::Win(moves)];
        let all = (1..400).flat_map(values).chain([Value::Draw, Value::Loss(0)]);
        let mut numbers: Vec<u16> = all.map(number).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
