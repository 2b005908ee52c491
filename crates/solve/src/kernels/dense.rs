//! Dense kernels: move every position of a block.
//!
//! Lines of the board are walked once each, carrying the running union of what can slide along.
//! Eight rows are carried side by side, which is one vector operation a step on a machine with
//! wide registers.

use hoffman_board::{Role, Symmetry};

use super::tables::{Tables, squares};

/// Eight words that are worked on together.
pub(crate) type Eight = [u64; 8];

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;

#[inline(always)]
fn or(a: &mut Eight, b: &Eight) {
    for k in 0..8 {
        a[k] |= b[k];
    }
}

#[inline(always)]
fn zip(a: &Eight, b: &Eight, f: impl Fn(u64, u64) -> u64) -> Eight {
    let mut out = [0; 8];
    for k in 0..8 {
        out[k] = f(a[k], b[k]);
    }
    out
}

#[inline(always)]
pub(super) fn east(x: &Eight, by: usize) -> Eight {
    match by {
        1 => [0, x[0], x[1], x[2], x[3], x[4], x[5], x[6]],
        _ => [0, 0, x[0], x[1], x[2], x[3], x[4], x[5]],
    }
}

#[inline(always)]
pub(super) fn west(x: &Eight, by: usize) -> Eight {
    match by {
        1 => [x[1], x[2], x[3], x[4], x[5], x[6], x[7], 0],
        _ => [x[2], x[3], x[4], x[5], x[6], x[7], 0, 0],
    }
}

#[inline(always)]
pub(super) fn transpose(x: &[Eight; 8]) -> [Eight; 8] {
    // Three rounds of exchanging halves, pairs and neighbours; every round is whole-vector
    // shuffles.
    let mut a = *x;
    for i in 0..4 {
        let (p, q) = (a[i], a[i + 4]);
        a[i] = [p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3]];
        a[i + 4] = [p[4], p[5], p[6], p[7], q[4], q[5], q[6], q[7]];
    }
    for i in [0, 1, 4, 5] {
        let (p, q) = (a[i], a[i + 2]);
        a[i] = [p[0], p[1], q[0], q[1], p[4], p[5], q[4], q[5]];
        a[i + 2] = [p[2], p[3], q[2], q[3], p[6], p[7], q[6], q[7]];
    }
    for i in [0, 2, 4, 6] {
        let (p, q) = (a[i], a[i + 1]);
        a[i] = [p[0], q[0], p[2], q[2], p[4], q[4], p[6], q[6]];
        a[i + 1] = [p[1], q[1], p[3], q[3], p[5], q[5], p[7], q[7]];
    }
    a
}

/// Along the ranks' index, upwards and downwards, drifting `drift` files a step.
#[inline(always)]
fn walk(s: &[Eight; 8], pass: &[Eight; 8], out: &mut [Eight; 8], drift: i8) {
    let shifted = |x: &Eight| match drift {
        1 => east(x, 1),
        -1 => west(x, 1),
        _ => *x,
    };
    let mut carry = [0; 8];
    for r in 1..8 {
        or(&mut carry, &s[r - 1]);
        carry = zip(&shifted(&carry), &pass[r], |c, p| c & p);
        or(&mut out[r], &carry);
    }
    carry = [0; 8];
    for r in (0..7).rev() {
        or(&mut carry, &s[r + 1]);
        carry = zip(&shifted(&carry), &pass[r], |c, p| c & p);
        or(&mut out[r], &carry);
    }
}

/// Moves the man of the last dimension through one group. `pass[rank][file]` is what may stand
/// with the man on that square, `s[rank][file]` the rows.
#[inline(always)]
fn group_moves(role: Role, s: &[Eight; 8], pass: &[Eight; 8], out: &mut [Eight; 8]) {
    if matches!(role, Role::Rook | Role::Queen) {
        walk(s, pass, out, 0);
        let mut sideways = [[0; 8]; 8];
        walk(&transpose(s), &transpose(pass), &mut sideways, 0);
        let back = transpose(&sideways);
        for r in 0..8 {
            or(&mut out[r], &back[r]);
        }
    }

    if matches!(role, Role::Bishop | Role::Queen) {
        walk(s, pass, out, 1);
        walk(s, pass, out, -1);
    }

    if role == Role::Knight {
        for r in 0..8 {
            let near = zip(&east(&s[r], 1), &west(&s[r], 1), |a, b| a | b);
            let far = zip(&east(&s[r], 2), &west(&s[r], 2), |a, b| a | b);
            if r + 2 < 8 {
                or(&mut out[r + 2], &near);
            }
            if r >= 2 {
                or(&mut out[r - 2], &near);
            }
            if r + 1 < 8 {
                or(&mut out[r + 1], &far);
            }
            if r >= 1 {
                or(&mut out[r - 1], &far);
            }
        }
    }

    if role == Role::King {
        for r in 0..8 {
            let near = zip(&east(&s[r], 1), &west(&s[r], 1), |a, b| a | b);
            let all = zip(&near, &s[r], |a, b| a | b);
            or(&mut out[r], &near);
            if r + 1 < 8 {
                or(&mut out[r + 1], &all);
            }
            if r >= 1 {
                or(&mut out[r - 1], &all);
            }
        }
    }
}

#[inline(always)]
fn walk_column(
    s: &[Eight; 64],
    pass: &[Eight; 64],
    out: &mut [Eight; 64],
    starts: impl Iterator<Item = (usize, usize)>,
    step: isize,
) {
    for (start, len) in starts {
        let mut carry = [0; 8];
        let mut at = start;
        for _ in 1..len {
            or(&mut carry, &s[at & 63]);
            at = at.wrapping_add_signed(step);
            carry = zip(&carry, &pass[at & 63], |c, p| c & p);
            or(&mut out[at & 63], &carry);
        }
    }
}

/// Moves the man of an outer dimension, eight neighbouring rows at a time, `s[square]` the rows.
#[inline(always)]
fn column_moves(
    tables: &Tables,
    role: Role,
    s: &[Eight; 64],
    pass: &[Eight; 64],
    out: &mut [Eight; 64],
) {
    if matches!(role, Role::Rook | Role::Queen) {
        walk_column(s, pass, out, (0..8).map(|f| (f, 8)), 8);
        walk_column(s, pass, out, (0..8).map(|f| (56 + f, 8)), -8);
        walk_column(s, pass, out, (0..8).map(|r| (8 * r, 8)), 1);
        walk_column(s, pass, out, (0..8).map(|r| (8 * r + 7, 8)), -1);
    }

    if matches!(role, Role::Bishop | Role::Queen) {
        // Diagonals begin on the first rank or on a side file.
        let up_right = (0..7).map(|f| (f, 8 - f)).chain((1..7).map(|r| (8 * r, 8 - r)));
        let up_left = (1..8).map(|f| (f, f + 1)).chain((1..7).map(|r| (8 * r + 7, 8 - r)));
        walk_column(s, pass, out, up_right.clone(), 9);
        walk_column(s, pass, out, up_right.map(|(at, len)| (at + 9 * (len - 1), len)), -9);
        walk_column(s, pass, out, up_left.clone(), 7);
        walk_column(s, pass, out, up_left.map(|(at, len)| (at + 7 * (len - 1), len)), -7);
    }

    if matches!(role, Role::Knight | Role::King) {
        let reach = &tables.reach[super::tables::role_index(role)];
        for to in 0..64 {
            let mut sum = [0; 8];
            for from in squares(reach[to]) {
                or(&mut sum, &s[from as usize & 63]);
            }
            or(&mut out[to], &sum);
        }
    }
}

/// Moves the lane man in eight rows with the given blockers.
#[inline(always)]
pub(crate) fn lane_moves(role: Role, x: &Eight, blockers: &Eight) -> Eight {
    let mut out = [0; 8];
    for k in 0..8 {
        out[k] = lane_move(role, x[k], blockers[k]);
    }
    out
}

#[inline(always)]
fn fill(x: u64, empty: u64, shift: i32) -> u64 {
    let by = |x: u64, n: i32| if n > 0 { x << n } else { x >> -n };
    let mut g = x;
    let mut p = empty;
    g |= p & by(g, shift);
    p &= by(p, shift);
    g |= p & by(g, 2 * shift);
    p &= by(p, 2 * shift);
    g |= p & by(g, 4 * shift);
    by(g, shift) & empty
}

/// The squares that the lane man reaches from any square of `x` past `blockers`.
#[inline(always)]
pub(crate) fn lane_move(role: Role, x: u64, blockers: u64) -> u64 {
    let empty = !blockers;
    let (no_a, no_h) = (empty & !FILE_A, empty & !FILE_H);
    let mut out = 0;
    if matches!(role, Role::Rook | Role::Queen) {
        out |= fill(x, empty, 8) | fill(x, empty, -8);
        out |= fill(x, no_a, 1) | fill(x, no_h, -1);
    }
    if matches!(role, Role::Bishop | Role::Queen) {
        out |= fill(x, no_a, 9) | fill(x, no_h, 7);
        out |= fill(x, no_a, -7) | fill(x, no_h, -9);
    }
    if role == Role::Knight {
        let (e1, w1) = (x << 1 & !FILE_A, x >> 1 & !FILE_H);
        let (e2, w2) = (e1 << 1 & !FILE_A, w1 >> 1 & !FILE_H);
        let (near, far) = (e1 | w1, e2 | w2);
        out |= (near << 16 | near >> 16 | far << 8 | far >> 8) & empty;
    }
    if role == Role::King {
        let near = (x << 1 & !FILE_A) | (x >> 1 & !FILE_H);
        let all = near | x;
        out |= (near | all << 8 | all >> 8) & empty;
    }
    out
}

/// What stands still in a block, and how many dimensions it has.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// Pawns and outer kings.
    pub(crate) fixed: u64,
    /// The number of dimensions; the block has `64^dims` rows.
    pub(crate) dims: usize,
}

impl Frame {
    #[inline(always)]
    pub(crate) fn rows(self) -> usize {
        1 << (6 * self.dims)
    }

    /// The squares of the dimensions of a row as a set, without dimension `but` (or all).
    #[inline(always)]
    pub(crate) fn others(self, row: usize, but: usize) -> u64 {
        let mut set = self.fixed;
        for i in 0..self.dims {
            if i != but {
                set |= 1 << self.square(row, i);
            }
        }
        set
    }

    /// The square of dimension `i` in a row.
    #[inline(always)]
    pub(crate) fn square(self, row: usize, i: usize) -> u8 {
        (row >> (6 * (self.dims - 1 - i)) & 63) as u8
    }

    /// The distance between rows whose dimension `i` differs by one square.
    #[inline(always)]
    pub(crate) fn stride(self, i: usize) -> usize {
        1 << (6 * (self.dims - 1 - i))
    }
}

const OPEN_BOARD: [Eight; 64] = {
    let mut pass = [[0; 8]; 64];
    let mut s = 0;
    while s < 64 {
        pass[s] = [!(1 << s); 8];
        s += 1;
    }
    pass
};

/// Adds to `out` what the man of dimension `i` reaches from `from`.
#[inline(always)]
pub(crate) fn dimension(
    tables: &Tables,
    frame: Frame,
    role: Role,
    i: usize,
    from: &[u64],
    out: &mut [u64],
) {
    if i + 1 == frame.dims {
        let (groups, _) = from.as_chunks::<64>();
        let (out_groups, _) = out.as_chunks_mut::<64>();
        for (g, (group, out_group)) in groups.iter().zip(out_groups).enumerate() {
            if group.iter().fold(0, |a, &b| a | b) == 0 {
                continue;
            }
            let (s, _) = group.as_chunks::<8>();
            let (o, _) = out_group.as_chunks_mut::<8>();
            let (Ok(s), Ok(o)) = (s.try_into(), o.try_into()) else { continue };
            group_moves(role, s, &pass_for_group(frame, g), o);
        }
        return;
    }

    let stride = frame.stride(i);
    for chunk in 0..frame.rows() / 512 {
        let (base, s) = load_column(frame, i, chunk, from);
        if s.iter().flatten().fold(0, |a, &b| a | b) == 0 {
            continue;
        }
        let pass = pass_for_chunk(frame, i, base);
        let mut o = [[0; 8]; 64];
        column_moves(tables, role, &s, &pass, &mut o);
        for t in 0..64 {
            let row = base + t * stride;
            for k in 0..8 {
                out[row + k] |= o[t][k];
            }
        }
    }
}

/// The rows of a chunk: eight neighbouring rows for each square of dimension `i` (not the last
/// one), and the number of the first row.
#[inline(always)]
pub(crate) fn load_column(
    frame: Frame,
    i: usize,
    chunk: usize,
    plane: &[u64],
) -> (usize, [Eight; 64]) {
    let stride = frame.stride(i);
    // The chunk's rows with square 0 in dimension i: the number with that digit squeezed in.
    let base = (chunk * 8 / stride) * stride * 64 + chunk * 8 % stride;
    let mut rows = [[0; 8]; 64];
    for t in 0..64 {
        let row = base + t * stride;
        rows[t].copy_from_slice(&plane[row..row + 8]);
    }
    (base, rows)
}

/// What may stand in the lane while the man of the last dimension stands on a square:
/// `[rank][file]` for the 64 rows of a group.
#[inline(always)]
pub(crate) fn pass_for_group(frame: Frame, group: usize) -> [Eight; 8] {
    let mut pass: [Eight; 8] = [[0; 8]; 8];
    for r in 0..8 {
        for f in 0..8 {
            pass[r][f] = !(1 << (8 * r + f));
        }
    }
    for square in squares(frame.others(group * 64, frame.dims - 1)) {
        pass[square as usize >> 3 & 7][square as usize & 7] = 0;
    }
    pass
}

/// What may stand in the lane while the man of dimension `i` stands on a square: `[square][row]`
/// for the chunk that begins at row `base`.
#[inline(always)]
pub(crate) fn pass_for_chunk(frame: Frame, i: usize, base: usize) -> [Eight; 64] {
    let mut pass = OPEN_BOARD;
    for square in squares(frame.fixed) {
        pass[square as usize & 63] = [0; 8];
    }
    for j in 0..frame.dims - 1 {
        if j != i {
            pass[frame.square(base, j) as usize & 63] = [0; 8];
        }
    }
    for k in 0..8 {
        pass[(base + k) & 63][k] = 0;
    }
    pass
}

/// The men that stand in the lane man's way in eight rows.
#[inline(always)]
pub(crate) fn lane_blockers(frame: Frame, chunk: usize) -> Eight {
    let mut blockers = [frame.others(chunk * 8, frame.dims - 1); 8];
    for (k, b) in blockers.iter_mut().enumerate() {
        *b |= 1 << ((chunk * 8 + k) & 63);
    }
    blockers
}

/// Adds to `out` what the lane man reaches from `from`.
#[inline(always)]
pub(crate) fn lane(frame: Frame, role: Role, from: &[u64], out: &mut [u64]) {
    if frame.dims == 0 {
        out[0] |= lane_move(role, from[0], frame.fixed);
        return;
    }
    let (s, _) = from.as_chunks::<8>();
    let (o, _) = out.as_chunks_mut::<8>();
    for (chunk, (s, o)) in s.iter().zip(o).enumerate() {
        if s.iter().fold(0, |a, &b| a | b) != 0 {
            or(o, &lane_moves(role, s, &lane_blockers(frame, chunk)));
        }
    }
}

/// Adds to `out` the rows of another block seen through the inverse of `symmetry`: what a king
/// that crosses over to that block leaves behind.
#[inline(always)]
pub(crate) fn pull(
    tables: &Tables,
    frame: Frame,
    symmetry: Symmetry,
    from: &[u64],
    out: &mut [u64],
) {
    if symmetry.is_identity() {
        for (o, s) in out.iter_mut().zip(from) {
            *o |= s;
        }
        return;
    }

    let inverse = symmetry.inverse();
    let image = &tables.image[symmetry.index()];
    if frame.dims == 0 {
        out[0] |= inverse.apply_set(from[0]);
        return;
    }

    let (groups, _) = from.as_chunks::<64>();
    let (out_groups, _) = out.as_chunks_mut::<64>();
    for (g, o) in out_groups.iter_mut().enumerate() {
        let source = map_row(image, g, frame.dims - 1);
        let Some(s) = groups.get(source) else { continue };
        if s.iter().fold(0, |a, &b| a | b) == 0 {
            continue;
        }
        let mut turned = [0; 64];
        for k in 0..64 {
            turned[k] = inverse.apply_set(s[k]);
        }
        for k in 0..64 {
            o[k] |= turned[image[k] as usize & 63];
        }
    }
}

/// The number of a row with every dimension's square replaced by its image.
#[inline(always)]
pub(crate) fn map_row(image: &[u8; 64], row: usize, dims: usize) -> usize {
    let mut out = 0;
    for i in 0..dims {
        out |= (image[row >> (6 * i) & 63] as usize) << (6 * i);
    }
    out
}

/// All quiet moves of a list of men of the block's dimensions, and of the lane man.
#[inline(always)]
pub(crate) fn all_moves(
    tables: &Tables,
    frame: Frame,
    men: &[(usize, Role)],
    lane_man: Option<Role>,
    from: &[u64],
    out: &mut [u64],
) {
    for &(i, role) in men {
        for_role!(role, ROLE => dimension(tables, frame, ROLE, i, from, out));
    }
    if let Some(role) = lane_man {
        for_role!(role, ROLE => lane(frame, ROLE, from, out));
    }
}
