//! The least code that a piece reaches from each square of a row, for all squares at once: a rank
//! is eight bytes of a word.
//!
//! The block format does the like when it follows the side that a small table does not store. The
//! two share nothing: what is wrong there must not be found right here.

use hoffman_board::{Bitboard, Role};
use hoffman_table::rows::RANK_BYTES;

use crate::value_rows::{bytes_of, transpose, words_of};

/// A board of bytes: a word for each rank, the a-file lowest.
type Ranks = [u64; 8];

/// A rank on which there is nothing: no code eight times.
const NOTHING: u64 = u64::MAX;

/// The least of the codes on the squares that a piece reaches on its lines, which end before the
/// men of a set. Their own squares must have no code.
pub(super) fn least_reached(role: Role, codes: &[u8; 64], occupied: Bitboard) -> [u8; 64] {
    let ranks = words_of(codes);
    let mut least = [NOTHING; 8];
    match role {
        Role::Knight => steps(&ranks, &mut least, &[(1, 2), (1, -2), (2, 1), (2, -1)]),
        Role::Bishop | Role::Rook | Role::Queen => {
            let men = occupied.0.to_le_bytes();
            let men = men.map(|rank| u64::from_le_bytes(RANK_BYTES[usize::from(rank)]));
            if role != Role::Bishop {
                lines::<0>(&ranks, &men, &mut least);
                let (mut turned, mut men, mut across) = (ranks, men, [NOTHING; 8]);
                transpose(&mut turned);
                transpose(&mut men);
                lines::<0>(&turned, &men, &mut across);
                transpose(&mut across);
                for (least, across) in least.iter_mut().zip(across) {
                    *least = lesser(*least, across);
                }
            }
            if role != Role::Rook {
                lines::<1>(&ranks, &men, &mut least);
                lines::<-1>(&ranks, &men, &mut least);
            }
        }
        Role::King => {
            steps(&ranks, &mut least, &[(0, 1), (0, -1), (1, 0), (1, 1), (1, -1)]);
        }
        Role::Pawn => {}
    }
    bytes_of(&least)
}

/// The lesser of two bytes, eight times.
#[inline]
fn lesser(a: u64, b: u64) -> u64 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let mut lesser = [0; 8];
    for file in 0..8 {
        lesser[file] = a[file].min(b[file]);
    }
    u64::from_le_bytes(lesser)
}

/// What stands so many files further, to be seen from each square of a rank.
#[inline]
fn from_beside(rank: u64, by: i32) -> u64 {
    match by {
        0 => rank,
        1.. => rank >> (8 * by) | u64::MAX << (64 - 8 * by),
        _ => rank << (-8 * by) | u64::MAX >> (64 + 8 * by),
    }
}

/// Both ways along the lines that go so many files aside with every rank upwards.
#[inline]
fn lines<const ASIDE: i32>(codes: &Ranks, men: &Ranks, least: &mut Ranks) {
    let mut reached = NOTHING;
    for rank in (0..7).rev() {
        reached = from_beside(lesser(codes[rank + 1], reached | men[rank + 1]), ASIDE);
        least[rank] = lesser(least[rank], reached);
    }
    reached = NOTHING;
    for rank in 1..8 {
        reached = from_beside(lesser(codes[rank - 1], reached | men[rank - 1]), -ASIDE);
        least[rank] = lesser(least[rank], reached);
    }
}

/// Steps of so many ranks and files, and those downwards.
#[inline]
fn steps(codes: &Ranks, least: &mut Ranks, steps: &[(usize, i32)]) {
    for &(up, aside) in steps {
        for rank in 0..8 - up {
            least[rank] = lesser(least[rank], from_beside(codes[rank + up], aside));
            least[rank + up] = lesser(least[rank + up], from_beside(codes[rank], aside));
        }
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::shakmaty::attacks;
    use hoffman_board::{Color, Square};

    use super::*;
    use crate::value_rows::NONE;

    #[test]
    fn the_least_codes_are_those_of_the_squares_attacked() {
        let mut random = 1_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for _ in 0..2000 {
            let occupied = Bitboard(next() & next() & next());
            let safe = Bitboard(next()) & !occupied;
            let mut codes: [u8; 64] = std::array::from_fn(|_| next() as u8);
            for square in !safe {
                codes[square as usize] = NONE;
            }
            for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King] {
                let least = least_reached(role, &codes, occupied);
                for square in 0..64 {
                    let from = Square::new(square);
                    let reached = attacks::attacks(from, role.of(Color::White), occupied);
                    let codes = reached.into_iter().map(|to| codes[to as usize]);
                    let expected = codes.min().unwrap_or(NONE);
                    assert_eq!(least[square as usize], expected, "{role:?} {from} {occupied:?}");
                }
            }
        }
    }
}
