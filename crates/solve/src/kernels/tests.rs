//! The kernels against moves made one at a time on random sets of positions.

#![allow(clippy::single_match_else)]

use hoffman_board::{Role, Symmetry};

use super::dense::{Frame, all_moves, map_row, pull};
use super::tables::tables;
use super::{count, sparse};

const ROLES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// A small generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A set with about one bit in `2^thinness`.
    fn set(&mut self, thinness: u32) -> u64 {
        (0..thinness).fold(u64::MAX, |set, _| set & self.next())
    }
}

/// The squares that a man reaches on a board with these men on it, by walking, no tables.
fn walk(role: Role, from: u8, occupied: u64) -> Vec<u8> {
    let straight: &[(i8, i8)] = &[(0, 1), (0, -1), (1, 0), (-1, 0)];
    let diagonal: &[(i8, i8)] = &[(1, 1), (1, -1), (-1, 1), (-1, -1)];
    let jumps: &[(i8, i8)] =
        &[(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
    let (steps, far) = match role {
        Role::King => ([straight, diagonal].concat(), 1),
        Role::Queen => ([straight, diagonal].concat(), 7),
        Role::Rook => (straight.to_vec(), 7),
        Role::Bishop => (diagonal.to_vec(), 7),
        _ => (jumps.to_vec(), 1),
    };
    let mut reached = Vec::new();
    for (file_step, rank_step) in steps {
        let (mut file, mut rank) = ((from & 7) as i8, (from >> 3) as i8);
        for _ in 0..far {
            file += file_step;
            rank += rank_step;
            if !(0..8).contains(&file) || !(0..8).contains(&rank) {
                break;
            }
            let to = (rank * 8 + file) as u8;
            if occupied >> to & 1 != 0 {
                break;
            }
            reached.push(to);
        }
    }
    reached
}

/// A random plane of placements without overlaps.
fn plane(random: &mut Random, frame: Frame, thinness: u32) -> Vec<u64> {
    (0..frame.rows())
        .map(|row| {
            let mut taken = frame.fixed;
            for i in 0..frame.dims {
                let bit = 1 << frame.square(row, i);
                if taken & bit != 0 {
                    return 0;
                }
                taken |= bit;
            }
            random.set(thinness) & !taken
        })
        .collect()
}

/// Where the positions of `from` get to when one man moves: the man of a dimension, or of the
/// lane.
fn expected(frame: Frame, role: Role, man: Option<usize>, from: &[u64]) -> Vec<u64> {
    let mut out = vec![0; from.len()];
    for (row, &positions) in from.iter().enumerate() {
        for lane in (0..64_u8).filter(|lane| positions >> lane & 1 != 0) {
            match man {
                Some(i) => {
                    let square = frame.square(row, i);
                    let occupied = frame.others(row, i) | 1 << lane;
                    for to in walk(role, square, occupied) {
                        let stride = frame.stride(i);
                        let moved = row - square as usize * stride + to as usize * stride;
                        out[moved] |= 1 << lane;
                    }
                }
                None => {
                    for to in walk(role, lane, frame.others(row, usize::MAX)) {
                        out[row] |= 1 << to;
                    }
                }
            }
        }
    }
    out
}

/// What may stand in a row at all; kernels may mark impossible placements besides, which `open`
/// clears.
fn possible(frame: Frame, moved: &mut [u64]) {
    for (row, moved) in moved.iter_mut().enumerate() {
        let mut taken = frame.fixed;
        for i in 0..frame.dims {
            let bit = 1 << frame.square(row, i);
            if taken & bit != 0 {
                *moved = 0;
            }
            taken |= bit;
        }
        *moved &= !taken;
    }
}

fn frames(random: &mut Random) -> Vec<Frame> {
    (0..=2)
        .flat_map(|dims| (0..3).map(move |_| dims))
        .map(|dims| Frame { fixed: random.set(4), dims })
        .collect()
}

#[test]
fn dense_kernels_move_like_a_walk() {
    let mut random = Random(1);
    let mut positions = 0_u64;
    for frame in frames(&mut random) {
        for thinness in [0, 3] {
            let from = plane(&mut random, frame, thinness);
            positions += from.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
            for role in ROLES {
                for man in (0..frame.dims).map(Some).chain([None]) {
                    let mut moved = vec![0; from.len()];
                    let men: Vec<_> = man.iter().map(|&i| (i, role)).collect();
                    let lane = man.is_none().then_some(role);
                    all_moves(tables(), frame, &men, lane, &from, &mut moved);
                    possible(frame, &mut moved);
                    let mut wanted = expected(frame, role, man, &from);
                    possible(frame, &mut wanted);
                    assert_eq!(moved, wanted, "{role:?} {man:?} of {}", frame.dims);
                }
            }
        }
    }
    assert!(positions > 100_000);
}

#[test]
fn three_dimensions_move_like_a_walk() {
    let mut random = Random(2);
    let frame = Frame { fixed: random.set(5), dims: 3 };
    let from = plane(&mut random, frame, 5);
    for (role, i) in [(Role::Queen, 0), (Role::Rook, 1), (Role::Bishop, 2), (Role::Knight, 1)] {
        let mut moved = vec![0; from.len()];
        all_moves(tables(), frame, &[(i, role)], None, &from, &mut moved);
        possible(frame, &mut moved);
        let mut wanted = expected(frame, role, Some(i), &from);
        possible(frame, &mut wanted);
        assert_eq!(moved, wanted, "{role:?} {i}");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "every kernel on the same positions")]
fn sparse_kernels_and_counts_agree_with_the_dense_ones() {
    let mut random = Random(3);
    for frame in frames(&mut random) {
        let from = plane(&mut random, frame, 4);
        let goal = plane(&mut random, frame, 1);
        for role in ROLES {
            for man in (0..frame.dims).map(Some).chain([None]) {
                let wanted = {
                    let mut wanted = expected(frame, role, man, &from);
                    possible(frame, &mut wanted);
                    wanted
                };
                let mut moved = vec![0; from.len()];
                let mut groups = vec![0; from.len().div_ceil(64 * 64)];
                let mut out = sparse::MovedRows::new(&mut moved, &mut groups);
                let mut pairs = 0;
                for (row, &mask) in from.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                    match man {
                        Some(i) => {
                            let t = tables();
                            sparse::push_dimension(t, frame, role, i, (row, mask), &mut out);
                            let found =
                                sparse::reach_dimension(t, frame, role, i, (row, mask), &goal);
                            for lane in (0..64_u8).filter(|l| mask >> l & 1 != 0) {
                                let square = frame.square(row, i);
                                let occupied = frame.others(row, i) | 1 << lane;
                                let hits = walk(role, square, occupied)
                                    .into_iter()
                                    .filter(|&to| {
                                        let stride = frame.stride(i);
                                        let moved =
                                            row - square as usize * stride + to as usize * stride;
                                        goal[moved] >> lane & 1 != 0
                                    })
                                    .count();
                                pairs += hits as u64;
                                // The search may stop early, but only once all are found.
                                if mask & !found != 0 {
                                    assert_eq!(found >> lane & 1 != 0, hits > 0);
                                }
                            }
                        }
                        None => {
                            sparse::push_lane(frame, role, (row, mask), &mut out);
                            for lane in (0..64_u8).filter(|l| mask >> l & 1 != 0) {
                                let others = frame.others(row, usize::MAX);
                                let to = walk(role, lane, others).into_iter();
                                pairs += to.filter(|&to| goal[row] >> to & 1 != 0).count() as u64;
                            }
                        }
                    }
                }
                possible(frame, &mut moved);
                assert_eq!(moved, wanted, "{role:?} {man:?}");
                for (row, &w) in moved.iter().enumerate() {
                    let marked = groups[row >> 12] >> (row >> 6 & 63) & 1 != 0;
                    assert!(w == 0 || marked, "a touched group is not marked");
                }
                let counted = match man {
                    Some(i) => count::dimension(tables(), frame, role, i, &from, &goal),
                    None => count::lane(frame, role, &from, &goal),
                };
                assert_eq!(counted, pairs, "{role:?} {man:?}");
            }
        }
    }
}

#[test]
fn pulling_turns_rows_back() {
    let mut random = Random(4);
    for frame in frames(&mut random) {
        let from = plane(&mut random, frame, 2);
        for symmetry in Symmetry::all() {
            let image = &tables().image[symmetry.index()];
            let mut moved = vec![0; from.len()];
            pull(tables(), frame, symmetry, &from, &mut moved);
            for (row, &got) in moved.iter().enumerate() {
                let there = from[map_row(image, row, frame.dims)];
                assert_eq!(symmetry.apply_set(got), there);
            }
        }
    }
}
