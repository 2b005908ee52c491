//! Counting quiet moves: how many pairs of a position of one set and a position of another are one
//! move of a man apart. Unlike the other kernels these cannot merge what slides along a line, so
//! every start is walked on its own.

use hoffman_board::Role;

use super::dense::{
    Eight, Frame, east, lane_blockers, load_column, pass_for_chunk, pass_for_group, transpose, west,
};
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
    if i + 1 == frame.dims {
        return groups(frame, role, from, to);
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

/// The same for the man of the last dimension, whose 64 rows of a group are eight ranks.
#[inline(always)]
fn groups(frame: Frame, role: Role, from: &[u64], to: &[u64]) -> u64 {
    let mut sum = [0; 8];
    let (from, _) = from.as_chunks::<64>();
    let (to, _) = to.as_chunks::<64>();

    for (g, (a, b)) in from.iter().zip(to).enumerate() {
        if a.iter().fold(0, |x, &y| x | y) == 0 {
            continue;
        }
        let ((a, _), (b, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) else { continue };
        match role {
            Role::Knight => {
                for (ranks, files) in [(2, 1), (1, 2)] {
                    jumps(a, b, ranks, files, &mut sum);
                    jumps(a, b, ranks, -files, &mut sum);
                }
            }
            Role::King => {
                for files in [-1, 0, 1] {
                    jumps(a, b, 1, files, &mut sum);
                }
                jumps_along_rank(a, b, &mut sum);
            }
            _ => {
                let pass = pass_for_group(frame, g);
                if matches!(role, Role::Rook | Role::Queen) {
                    slides(a, b, &pass, 0, &mut sum);
                    slides(&transpose(a), &transpose(b), &transpose(&pass), 0, &mut sum);
                }
                if matches!(role, Role::Bishop | Role::Queen) {
                    slides(a, b, &pass, 1, &mut sum);
                    slides(a, b, &pass, -1, &mut sum);
                }
            }
        }
    }
    sum.iter().sum()
}

/// Eight neighbouring rows, each moved so many files to the east.
#[inline(always)]
fn shifted(x: &Eight, files: i8) -> Eight {
    match files {
        1 => east(x, 1),
        2 => east(x, 2),
        -1 => west(x, 1),
        -2 => west(x, 2),
        _ => *x,
    }
}

/// Slides up and down the ranks, drifting so many files a step.
#[inline(always)]
fn slides(a: &[Eight; 8], b: &[Eight; 8], pass: &[Eight; 8], drift: i8, sum: &mut Eight) {
    for r in 0..7 {
        let mut sliding = a[r];
        for t in r + 1..8 {
            sliding = and(&shifted(&sliding, drift), &pass[t]);
            add_ones(sum, &and(&sliding, &b[t]));
        }
    }
    for r in 1..8 {
        let mut sliding = a[r];
        for t in (0..r).rev() {
            sliding = and(&shifted(&sliding, drift), &pass[t]);
            add_ones(sum, &and(&sliding, &b[t]));
        }
    }
}

/// Jumps so many ranks up or down and so many files to the east.
#[inline(always)]
fn jumps(a: &[Eight; 8], b: &[Eight; 8], ranks: usize, files: i8, sum: &mut Eight) {
    for r in ranks..8 {
        add_ones(sum, &and(&shifted(&a[r - ranks], files), &b[r]));
        add_ones(sum, &and(&shifted(&a[r], files), &b[r - ranks]));
    }
}

/// A king's moves to the east and west.
#[inline(always)]
fn jumps_along_rank(a: &[Eight; 8], b: &[Eight; 8], sum: &mut Eight) {
    for r in 0..8 {
        add_ones(sum, &and(&shifted(&a[r], 1), &b[r]));
        add_ones(sum, &and(&shifted(&a[r], -1), &b[r]));
    }
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
    if matches!(role, Role::Rook | Role::Queen) {
        walk_lanes::<7>(NORTH_SOUTH_EAST_WEST, from, to, blockers, &mut sum);
    }
    if matches!(role, Role::Bishop | Role::Queen) {
        walk_lanes::<7>(DIAGONALS, from, to, blockers, &mut sum);
    }
    if role == Role::Knight {
        let [a, b, c, d, e, f, g, h] = JUMPS;
        walk_lanes::<1>([a, b, c, d], from, to, blockers, &mut sum);
        walk_lanes::<1>([e, f, g, h], from, to, blockers, &mut sum);
    }

    if role == Role::King {
        walk_lanes::<1>(NORTH_SOUTH_EAST_WEST, from, to, blockers, &mut sum);
        walk_lanes::<1>(DIAGONALS, from, to, blockers, &mut sum);
    }
    sum
}

/// Up to `REACH` steps in four directions: by how much squares are shifted, and which can be
/// reached so.
#[inline(always)]
fn walk_lanes<const REACH: usize>(
    steps: [(i32, u64); 4],
    from: &Eight,
    to: &Eight,
    blockers: &Eight,
    sum: &mut Eight,
) {
    for (shift, keep) in steps {
        let mut open = *blockers;
        for k in 0..8 {
            open[k] = keep & !open[k];
        }
        let mut at = *from;
        for _ in 0..REACH {
            for k in 0..8 {
                at[k] = if shift > 0 { at[k] << shift } else { at[k] >> -shift } & open[k];
            }
            add_ones(sum, &and(&at, to));
        }
    }
}
