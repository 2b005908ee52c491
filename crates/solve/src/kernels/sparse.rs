//! Sparse kernels: move the positions of single rows.

use hoffman_board::Role;

use super::dense::{Frame, lane_move};
use super::tables::{Tables, directions, role_index, squares};

/// Adds to `out` what one row's positions reach by a move of the man of dimension `i`, and notes the
/// groups touched.
#[inline(always)]
pub(crate) fn push_dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    row: usize,
    mask: u64,
    out: &mut [u64],
    touched: &mut [u64],
) {
    let square = frame.square(row, i);
    let stride = frame.stride(i);
    let empty_row = row - square as usize * stride;
    let others = frame.others(row, i);
    let mut put = |to: u8, m: u64| {
        let target = empty_row + to as usize * stride;
        out[target] |= m;
        touched[target >> 12] |= 1 << (target >> 6 & 63);
    };
    if matches!(role, Role::Knight | Role::King) {
        for to in squares(tables.reach[role_index(role)][square as usize & 63] & !others) {
            let m = mask & !(1 << to);
            if m != 0 {
                put(to, m);
            }
        }
        return;
    }
    for d in directions(role) {
        let mut m = mask;
        for &to in tables.rays[square as usize & 63][d & 7].squares() {
            if others >> to & 1 != 0 {
                break;
            }
            m &= !(1 << to);
            if m == 0 {
                break;
            }
            put(to, m);
        }
    }
}

/// Adds to `out` what one row's positions reach by a move of the lane man.
#[inline(always)]
pub(crate) fn push_lane(
    frame: Frame,
    role: Role,
    row: usize,
    mask: u64,
    out: &mut [u64],
    touched: &mut [u64],
) {
    let reached = lane_move(role, mask, frame.others(row, usize::MAX));
    if reached != 0 {
        out[row] |= reached;
        touched[row >> 12] |= 1 << (row >> 6 & 63);
    }
}

/// The positions of one row, among `wanted`, from which the man of dimension `i` can move to a position
/// of `goal`. May return early once all are found.
#[inline(always)]
pub(crate) fn reach_dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    row: usize,
    wanted: u64,
    goal: &[u64],
) -> u64 {
    let square = frame.square(row, i);
    let stride = frame.stride(i);
    let empty_row = row - square as usize * stride;
    let others = frame.others(row, i);
    let mut found = 0;
    if matches!(role, Role::Knight | Role::King) {
        for to in squares(tables.reach[role_index(role)][square as usize & 63] & !others) {
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
