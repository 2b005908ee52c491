//! Numbers that look random and follow from a seed.

use hoffman_board::{Bitboard, Color, Square};

/// Numbers that look random: the generator known as SplitMix64.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number in a range, both ends included.
    pub(super) fn range(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to + 1 - from)
    }

    /// Whether something with this chance in a hundred happens.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(super) fn color(&mut self) -> Color {
        self.pick(&Color::ALL)
    }

    /// Each square of a set with some chance.
    pub(super) fn some_of(&mut self, set: Bitboard, percent: usize) -> Bitboard {
        set.into_iter().filter(|_| self.chance(percent)).collect()
    }

    pub(super) fn square_of(&mut self, set: Bitboard) -> Square {
        let all: Vec<Square> = set.into_iter().collect();
        self.pick(&all)
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}
