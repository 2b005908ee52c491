//! Entry points for the kernel benchmark (`cargo bench -p hoffman-solve`), not part of the
//! interface.

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::Layout;

use crate::context::Context;
use crate::dispatch;
use crate::kernels::dense::Frame;

/// The kernels that can be timed.
pub const KERNELS: [&str; 10] = [
    "inner queen",
    "inner rook",
    "inner bishop",
    "inner knight",
    "outer queen",
    "outer rook",
    "lane queen",
    "lane rook",
    "lane knight",
    "king through a symmetry",
];

/// A plane with about half of its bits set, the same every time.
pub fn plane() -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..4096)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect()
}

/// Runs a kernel once over a block of 4096 rows.
pub fn run(kernel: usize, from: &[u64], out: &mut [u64]) {
    let frame = Frame { fixed: 1 << 12 | 1 << 50, dims: 2 };
    let (men, lane): (&[(usize, Role)], Option<Role>) = match kernel {
        0 => (&[(1, Role::Queen)], None),
        1 => (&[(1, Role::Rook)], None),
        2 => (&[(1, Role::Bishop)], None),
        3 => (&[(1, Role::Knight)], None),
        4 => (&[(0, Role::Queen)], None),
        5 => (&[(0, Role::Rook)], None),
        6 => (&[], Some(Role::Queen)),
        7 => (&[], Some(Role::Rook)),
        8 => (&[], Some(Role::Knight)),
        _ => {
            dispatch::pull_block(frame, Symmetry::new(true, false, true), from, out);
            return;
        }
    };
    dispatch::move_block(frame, men, lane, from, out);
}

/// Computes the legal positions of an ending's layout once; returns their number.
pub fn legal(layout: &Layout) -> u64 {
    let context = Context::new(layout, hoffman_space::PawnSquares::default());
    let mut open = vec![0; context.rows()];
    let mut sum = 0;
    for block in &context.blocks {
        dispatch::legal_block(&context, block, Color::White, &mut open);
        sum += open.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
    }
    sum
}
