//! The numbers of placements in a Syzygy file.

use std::sync::LazyLock;

use crate::foreign::syzygy::MAX_MEN;

/// Turns the board so that the leading pawn is on the left, puts the pawns in their order and
/// numbers them.
pub(super) fn lead_pawns_number(squares: &mut [u8], lead: usize) -> u64 {
    for i in 1..lead {
        if pawn_rank(squares[i]) > pawn_rank(squares[0]) {
            squares.swap(0, i);
        }
    }
    if squares[0] & 7 > 3 {
        flip(squares, 7);
    }
    squares[1..lead].sort_unstable_by_key(|&s| pawn_rank(s));
    let mut number = first_pawn(lead, squares[0]);
    for (i, &s) in squares[1..lead].iter().enumerate() {
        number += choose(pawn_rank(s), i + 1);
    }
    number
}

/// The same for leading pieces, the first of which comes to the triangle a1-d1-d4.
pub(super) fn lead_number(squares: &mut [u8], lead: usize) -> u64 {
    if squares[0] & 7 > 3 {
        flip(squares, 7);
    }
    if squares[0] >> 3 > 3 {
        flip(squares, 56);
    }
    // The first man off the long diagonal stands below it.
    let off = (0..lead).find(|&i| squares[i] >> 3 != squares[i] & 7);
    if let Some(off) = off
        && squares[off] >> 3 > squares[off] & 7
    {
        for s in &mut squares[off..] {
            *s = *s >> 3 | (*s & 7) << 3;
        }
    }
    match lead {
        3 => three_men(squares[0], squares[1], squares[2]),
        _ => u64::from(king_pairs()[usize::from(squares[0])][usize::from(squares[1])]),
    }
}

/// Turns squares left to right (7) or top to bottom (56).
pub(super) fn flip(squares: &mut [u8], by: u8) {
    for square in squares {
        *square ^= by;
    }
}

/// How many ways there are to place three men, the first in the triangle a1-d1-d4.
pub(super) const THREE_MEN: u64 = 31_332;

/// How many ways there are to place two kings.
pub(super) const TWO_KINGS: u64 = 462;

/// The number of a square of the triangle b1-d1-d3, row by row.
pub(super) fn triangle(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    // The rows before have 3, 2, 1 squares.
    rank * 3 - rank * rank.wrapping_sub(1) / 2 + file - rank - 1
}

/// The number of three men.
pub(super) fn three_men(a: u8, b: u8, c: u8) -> u64 {
    let off = |s: u8| s >> 3 != s & 7;
    let number = u64::from;
    let rank = |s: u8| u64::from(s >> 3);
    let below_b = number(b) - number(u8::from(b > a));
    let less = number(u8::from(c > a) + u8::from(c > b));
    if off(a) {
        (triangle(a) * 63 + below_b) * 62 + number(c) - less
    } else if off(b) {
        6 * 63 * 62 + (rank(a) * 28 + lower(b)) * 62 + number(c) - less
    } else if off(c) {
        let rank_b = rank(b) - number(u8::from(b > a));
        6 * 63 * 62 + 4 * 28 * 62 + (rank(a) * 7 + rank_b) * 28 + lower(c)
    } else {
        let rank_b = rank(b) - number(u8::from(b > a));
        let start = 6 * 63 * 62 + 4 * 28 * 62 + 4 * 7 * 28;
        start + (rank(a) * 7 + rank_b) * 6 + rank(c) - less
    }
}

/// The number of a square of the triangle b1-h1-h7, row by row.
pub(super) fn lower(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    // The rows before have 7, 6, … squares.
    rank * 7 - rank * rank.wrapping_sub(1) / 2 + file - rank - 1
}

/// The numbers of two kings apart: the first in the triangle a1-d1-d4, the other not above the
/// long diagonal if the first stands there.
pub(super) fn king_pairs() -> &'static [[u16; 64]; 64] {
    static PAIRS: LazyLock<Box<[[u16; 64]; 64]>> = LazyLock::new(|| {
        let mut numbers = Box::new([[0; 64]; 64]);
        let square = |s: u32| (s & 7, s >> 3);
        let triangle = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27];
        let pairs = || triangle.into_iter().flat_map(|a| (0..64).map(move |b| (a, b)));
        let apart = pairs().filter(|&(a, b)| {
            let ((file, rank), (other_file, other_rank)) = (square(a), square(b));
            let touch = file.abs_diff(other_file) <= 1 && rank.abs_diff(other_rank) <= 1;
            !touch && (file != rank || other_file >= other_rank)
        });
        let diagonal = |&(a, b): &(u32, u32)| a % 9 == 0 && b % 9 == 0;
        let (last, first): (Vec<_>, Vec<_>) = apart.partition(diagonal);
        for (number, (a, b)) in first.into_iter().chain(last).enumerate() {
            numbers[a as usize][b as usize] = number as u16;
        }
        numbers
    });
    &PAIRS
}

/// How far a pawn is from leading: 47 leads, which is a2, then h2, a3, h3 to a7, h7, then the b
/// and g files.
#[inline(always)]
pub(super) fn pawn_rank(square: u8) -> usize {
    usize::from(PAWN_RANKS[usize::from(square & 63)])
}

/// See [`pawn_rank`].
pub(super) const PAWN_RANKS: [u8; 64] = {
    let mut ranks = [0; 64];
    let mut square = 8;
    while square < 56 {
        let (file, rank) = (square % 8, square / 8);
        let (column, right) = if file < 4 { (file, 0) } else { (7 - file, 1) };
        ranks[square] = 47 - (2 * (6 * column + rank - 1) + right) as u8;
        square += 1;
    }
    ranks
};

/// In how many ways pawns can be placed if the leading one is on the squares of a file before
/// `rank`.
pub(super) fn led_before(pawns: usize, file: u8, rank: u8) -> u64 {
    if pawns == 1 {
        return u64::from(rank).saturating_sub(1);
    }
    (1..rank).map(|r| choose(pawn_rank(r << 3 | file), pawns - 1)).sum()
}

/// In how many ways pawns can be placed if the leading one is on a file.
pub(super) fn lead_pawns(pawns: usize, file: usize) -> u64 {
    led_before(pawns, file as u8, 7)
}

/// The number of the first placement with the leading pawn on a square.
pub(super) fn first_pawn(pawns: usize, square: u8) -> u64 {
    led_before(pawns, square & 7, square >> 3)
}

/// `CHOOSE[k][n]`: in how many ways `k` of `n` squares can be chosen.
pub(super) const CHOOSE: [[u64; 65]; MAX_MEN + 1] = {
    let mut choose = [[0; 65]; MAX_MEN + 1];
    let mut n = 0;
    while n <= 64 {
        choose[0][n] = 1;
        let mut k = 1;
        while k <= MAX_MEN && n > 0 {
            choose[k][n] = choose[k - 1][n - 1] + choose[k][n - 1];
            k += 1;
        }
        n += 1;
    }
    choose
};

/// See [`CHOOSE`]; 0 if there are too few squares.
#[inline(always)]
pub(super) fn choose(n: usize, k: usize) -> u64 {
    CHOOSE.get(k).and_then(|ways| ways.get(n)).copied().unwrap_or(0)
}
