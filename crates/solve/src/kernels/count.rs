//! Counting quiet moves: how many pairs of a position of one set and a position of another are one move
//! of a man apart. Unlike the other kernels these cannot merge what slides along a line, so every start
//! is walked on its own.

use hoffman_board::Role;

use super::dense::{Eight, Frame, lane_blockers, load_column, pass_for_chunk};
use super::tables::{Tables, directions, role_index, squares};

#[inline(always)]
fn and(a: &Eight, b: &Eight) -> Eight {
    let mut out = [0; 8];
    for k in 0..8 {
        out[k] = a[k] & b[k];
    }
    out
}

#[inline(always)]
fn add_ones(sum: &mut Eight, a: &Eight) {
    for k in 0..8 {
        sum[k] += u64::from(a[k].count_ones());
    }
}

/// Moves of the man of dimension `i` from positions of `from` to positions of `to`.
#[inline(always)]
pub(crate) fn dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    from: &[u64],
    to: &[u64],
) -> u64 {
    if frame.rows() < 512 || i + 1 == frame.dims {
        return single_rows(tables, frame, role, i, from, to);
    }
    let mut sum = [0; 8];
    for chunk in 0..frame.rows() / 512 {
        let (base, a) = load_column(frame, i, chunk, from);
        if a.iter().flatten().fold(0, |x, &y| x | y) == 0 {
            continue;
        }
        let (_, b) = load_column(frame, i, chunk, to);
        let pass = pass_for_chunk(frame, i, base);
        for s in 0..64 {
            if matches!(role, Role::Knight | Role::King) {
                for t in squares(tables.reach[role_index(role)][s]) {
                    add_ones(&mut sum, &and(&a[s], &b[t as usize & 63]));
                }
                continue;
            }
            for d in directions(role) {
                let mut sliding = a[s];
                for &t in tables.rays[s][d & 7].squares() {
                    sliding = and(&sliding, &pass[t as usize & 63]);
                    add_ones(&mut sum, &and(&sliding, &b[t as usize & 63]));
                }
            }
        }
    }
    sum.iter().sum()
}

/// The same, row by row: for the last dimension and for small blocks.
#[inline(always)]
fn single_rows(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    from: &[u64],
    to: &[u64],
) -> u64 {
    let stride = frame.stride(i);
    let mut sum = 0;
    for (row, &positions) in from.iter().enumerate() {
        if positions == 0 {
            continue;
        }
        let square = frame.square(row, i);
        let empty_row = row - square as usize * stride;
        let others = frame.others(row, i);
        if matches!(role, Role::Knight | Role::King) {
            for t in squares(tables.reach[role_index(role)][square as usize & 63] & !others) {
                sum += (positions & to[empty_row + t as usize * stride]).count_ones();
            }
            continue;
        }
        for d in directions(role) {
            let mut sliding = positions;
            for &t in tables.rays[square as usize & 63][d & 7].squares() {
                if others >> t & 1 != 0 {
                    break;
                }
                sliding &= !(1 << t);
                sum += (sliding & to[empty_row + t as usize * stride]).count_ones();
            }
        }
    }
    u64::from(sum)
}

/// Moves of the lane man.
#[inline(always)]
pub(crate) fn lane(frame: Frame, role: Role, from: &[u64], to: &[u64]) -> u64 {
    if frame.dims == 0 {
        let [count, ..] = lane_eight(role, &[from[0]; 8], &[to[0]; 8], &[frame.fixed; 8]);
        return count;
    }
    let (a, _) = from.as_chunks::<8>();
    let (b, _) = to.as_chunks::<8>();
    let mut sum = [0; 8];
    for (chunk, (a, b)) in a.iter().zip(b).enumerate() {
        if a.iter().fold(0, |x, &y| x | y) != 0 {
            let counts = lane_eight(role, a, b, &lane_blockers(frame, chunk));
            for k in 0..8 {
                sum[k] += counts[k];
            }
        }
    }
    sum.iter().sum()
}

/// The counts of eight rows.
#[inline(always)]
fn lane_eight(role: Role, from: &Eight, to: &Eight, blockers: &Eight) -> Eight {
    const FILE_A: u64 = 0x0101_0101_0101_0101;
    const FILE_H: u64 = FILE_A << 7;
    const NORTH_SOUTH_EAST_WEST: [(i32, u64); 4] = [(8, !0), (-8, !0), (1, !FILE_A), (-1, !FILE_H)];
    const DIAGONALS: [(i32, u64); 4] = [(9, !FILE_A), (7, !FILE_H), (-7, !FILE_A), (-9, !FILE_H)];
    const AB: u64 = FILE_A | FILE_A << 1;
    const GH: u64 = FILE_H | FILE_H >> 1;
    const JUMPS: [(i32, u64); 8] = [
        (17, !FILE_A),
        (15, !FILE_H),
        (10, !AB),
        (6, !GH),
        (-17, !FILE_H),
        (-15, !FILE_A),
        (-10, !GH),
        (-6, !AB),
    ];
    let mut sum = [0; 8];
    let mut slide = |steps: &[(i32, u64)], reach: usize| {
        for &(shift, keep) in steps {
            let mut at = *from;
            for _ in 0..reach {
                for k in 0..8 {
                    let moved = if shift > 0 { at[k] << shift } else { at[k] >> -shift };
                    at[k] = moved & keep & !blockers[k];
                    sum[k] += u64::from((at[k] & to[k]).count_ones());
                }
            }
        }
    };
    match role {
        Role::Rook => slide(&NORTH_SOUTH_EAST_WEST, 7),
        Role::Bishop => slide(&DIAGONALS, 7),
        Role::Queen => {
            slide(&NORTH_SOUTH_EAST_WEST, 7);
            slide(&DIAGONALS, 7);
        }
        Role::Knight => slide(&JUMPS, 1),
        _ => {
            slide(&NORTH_SOUTH_EAST_WEST, 1);
            slide(&DIAGONALS, 1);
        }
    }
    sum
}
