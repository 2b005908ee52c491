//! The numbers of king pairs, and what kings may not do.

use super::men::TableMen;
use super::position::bit;

/// The squares a king on a square attacks, and that square.
pub(super) static KING_ZONE: [u64; 64] = king_zones();

const fn king_zones() -> [u64; 64] {
    let mut zones = [0; 64];
    let mut a = 0;
    while a < 64 {
        let mut b = 0;
        while b < 64 {
            let (ranks, files) = ((a / 8_i32 - b / 8).abs(), (a % 8 - b % 8).abs());
            if ranks <= 1 && files <= 1 {
                zones[a as usize] |= 1 << b;
            }
            b += 1;
        }
        a += 1;
    }
    zones
}

/// Whether a white king on this square is canonical in a table of that symmetry, wherever the
/// black one stands.
pub(super) const fn is_canonical(symmetry: u8, white: u8) -> bool {
    let (rank, file) = (white >> 3, white & 7);
    !(symmetry >= 2 && file > 3 || symmetry >= 4 && rank > 3 || symmetry == 8 && rank > file)
}

/// The pairs of squares that the kings of a table may stand on, canonical under its symmetry and
/// apart.
pub(super) fn canonical_pairs(men: &TableMen) -> impl Iterator<Item = (u8, u8)> {
    let (white, black) = (usize::from(men.white_king), usize::from(men.black_king));
    let (white, black) = (men.legal[white], men.legal[black]);
    let symmetry = men.symmetry;
    (0..64).filter(move |&w| white & bit(w) != 0 && is_canonical(symmetry, w)).flat_map(move |w| {
        let on_diagonal = symmetry == 8 && w >> 3 == w & 7;
        (0..64)
            .filter(move |&b| {
                black & bit(b) != 0
                    && !(on_diagonal && b >> 3 > b & 7)
                    && KING_ZONE[usize::from(w)] & bit(b) == 0
            })
            .map(move |b| (w, b))
    })
}

/// The canonical pairs of king squares and their numbers.
#[derive(Clone, Debug)]
pub(super) struct PairNumbers {
    pairs: Vec<(u8, u8)>,
    /// Pairs with the same white square and neighbouring black ones: the first number, the white
    /// square and the black squares.
    runs: Vec<(u16, u8, u64)>,
    /// `numbers[white << 6 | black]`; `u16::MAX` for no pair.
    numbers: Vec<u16>,
}

impl PairNumbers {
    /// Enumerates white squares ascending and, inside, black squares ascending.
    pub(super) fn new(men: &TableMen) -> PairNumbers {
        let mut pairs = Vec::new();
        let mut runs: Vec<(u16, u8, u64)> = Vec::new();
        let mut numbers = vec![u16::MAX; 64 * 64];
        for (w, b) in canonical_pairs(men) {
            numbers[usize::from(w) << 6 | usize::from(b)] = pairs.len() as u16;
            match runs.last_mut().filter(|(_, white, set)| *white == w && set >> (b - 1) & 1 != 0) {
                Some((_, _, set)) => *set |= bit(b),
                None => runs.push((pairs.len() as u16, w, bit(b))),
            }
            pairs.push((w, b));
        }
        PairNumbers { pairs, runs, numbers }
    }

    /// Pairs with neighbouring black squares and numbers, as many as possible together: the first
    /// number, the white square and the set of black squares.
    pub(super) fn runs(&self) -> &[(u16, u8, u64)] {
        &self.runs
    }

    /// The pairs in the order of their numbers.
    pub(super) fn list(&self) -> &[(u8, u8)] {
        &self.pairs
    }

    pub(super) fn count(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// The number of a pair.
    pub(super) fn number(&self, white: u8, black: u8) -> Option<u64> {
        match self.numbers[usize::from(white) << 6 | usize::from(black)] {
            u16::MAX => None,
            n => Some(u64::from(n)),
        }
    }

    /// The squares (white, black) of a number.
    pub(super) fn squares(&self, number: u64) -> Option<(u8, u8)> {
        self.pairs.get(usize::try_from(number).ok()?).copied()
    }
}
