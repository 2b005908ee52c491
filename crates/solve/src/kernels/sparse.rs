//! Sparse kernels: move the positions of single rows.

use std::ops::Range;

use hoffman_board::Role;

use super::dense::{Frame, lane_move};
use super::tables::{Tables, directions, squares};

/// What moves reach in a block, row by row, and which groups of 64 rows they reach.
pub(crate) struct MovedRows<'a> {
    rows: &'a mut [u64],
    /// A bit a group.
    groups: &'a mut [u64],
}

impl<'a> MovedRows<'a> {
    /// Nothing yet: all words are 0. There is a bit for each group of 64 rows.
    pub(crate) fn new(rows: &'a mut [u64], groups: &'a mut [u64]) -> MovedRows<'a> {
        MovedRows { rows, groups }
    }

    /// Adds positions of a row.
    #[inline(always)]
    pub(crate) fn add(&mut self, row: usize, mask: u64) {
        self.rows[row] |= mask;
        self.groups[row >> 12] |= 1 << (row >> 6 & 63);
    }

    /// All rows, to be changed at will: every group counts as reached.
    pub(crate) fn all(&mut self) -> &mut [u64] {
        let groups = self.rows.len().div_ceil(64);
        for (i, word) in self.groups.iter_mut().enumerate() {
            let left = groups - 64 * i;
            *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        }
        self.rows
    }

    /// Takes away those positions that have a bit in `but`, which may end before the rows do.
    #[inline(always)]
    pub(crate) fn remove(&mut self, but: &[u64]) {
        for (row, &but) in self.rows.iter_mut().zip(but) {
            *row &= !but;
        }
    }

    /// The rows, and the ranges of those that were reached. Whatever goes through them has to
    /// leave every word 0.
    #[inline(always)]
    pub(crate) fn finish(self) -> (&'a mut [u64], impl Iterator<Item = Range<usize>> + 'a) {
        let MovedRows { rows, groups } = self;
        let len = rows.len();
        let ranges = groups.iter_mut().enumerate().flat_map(move |(word, groups)| {
            squares(std::mem::take(groups)).map(move |group| {
                let start = (word * 64 + group as usize) * 64;
                start..(start + 64).min(len)
            })
        });
        (rows, ranges)
    }
}

/// Adds what one row's positions reach by a move of the man of dimension `i`.
#[inline(always)]
pub(crate) fn push_dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    (row, mask): (usize, u64),
    out: &mut MovedRows<'_>,
) {
    let square = frame.square(row, i);
    let stride = frame.stride(i);
    let empty_row = row - square as usize * stride;
    let others = frame.others(row, i);
    let mut put = |to: u8, mask: u64| out.add(empty_row + to as usize * stride, mask);

    if matches!(role, Role::Knight | Role::King) {
        for to in squares(tables.reach(role, square) & !others) {
            let left = mask & !(1 << to);
            if left != 0 {
                put(to, left);
            }
        }
        return;
    }

    for d in directions(role) {
        let mut left = mask;
        for &to in tables.rays[square as usize & 63][d & 7].squares() {
            if others >> to & 1 != 0 {
                break;
            }
            left &= !(1 << to);
            if left == 0 {
                break;
            }
            put(to, left);
        }
    }
}

/// Adds what one row's positions reach by a move of the lane man.
#[inline(always)]
pub(crate) fn push_lane(
    frame: Frame,
    role: Role,
    (row, mask): (usize, u64),
    out: &mut MovedRows<'_>,
) {
    let reached = lane_move(role, mask, frame.others(row, usize::MAX));
    if reached != 0 {
        out.add(row, reached);
    }
}

/// The positions of one row, among `wanted`, from which the man of dimension `i` can move to a
/// position of `goal`. May return early once all are found.
#[inline(always)]
pub(crate) fn reach_dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    (row, wanted): (usize, u64),
    goal: &[u64],
) -> u64 {
    let square = frame.square(row, i);
    let stride = frame.stride(i);
    let empty_row = row - square as usize * stride;
    let others = frame.others(row, i);
    let mut found = 0;

    if matches!(role, Role::Knight | Role::King) {
        for to in squares(tables.reach(role, square) & !others) {
            found |= goal[empty_row + to as usize * stride];
            if wanted & !found == 0 {
                break;
            }
        }
        return found;
    }

    for d in directions(role) {
        let mut free = wanted;
        for &to in tables.rays[square as usize & 63][d & 7].squares() {
            if others >> to & 1 != 0 {
                break;
            }
            free &= !(1 << to);
            found |= goal[empty_row + to as usize * stride] & free;
        }
        if wanted & !found == 0 {
            break;
        }
    }
    found
}
