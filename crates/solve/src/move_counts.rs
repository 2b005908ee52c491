//! Counting the moves from positions of a block.

use hoffman_space::Code;

use crate::exit_values::{self, ExitRoom};
use crate::exits::{Counted, Exit};
use crate::kernels::isa::Isa;
use crate::kernels::{count, for_role};
use crate::nearby::Planes;
use crate::passes::{BlockTask, Scratch};

/// The positions of a block whose moves are counted.
pub(crate) struct CountedPositions<'a> {
    /// Those whose quiet moves count.
    pub(crate) positions: &'a [u64],
    /// Those whose captures count, which in suicide chess are others.
    pub(crate) bound: &'a [u64],
    /// The legal positions of the other side, in the block and around it.
    pub(crate) goal: &'a Planes<'a>,
}

/// Counts the legal moves of positions of a block: all, and those that leave the ending.
#[inline(always)]
pub(crate) fn count_block<I: Isa, C: Code>(
    task: BlockTask<'_>,
    exits: [&[Exit<'_>]; 2],
    counted: &CountedPositions<'_>,
    room: &mut ExitRoom<C>,
    scratch: &mut Scratch,
) -> [u64; 2] {
    if task.block().empty {
        return [0; 2];
    }
    let mut moves = [quiet_moves(task, counted.positions, counted.goal, scratch), 0];
    for exit in exits.into_iter().flatten() {
        let positions = if exit.is_capture() { counted.bound } else { counted.positions };
        let n = exit_values::count::<I, C>(task, exit, positions, &mut room.buffer);
        if exit.counted != Counted::Discarded {
            moves[0] += n;
        }
        if exit.counted != Counted::Inside {
            moves[1] += n;
        }
    }
    moves
}

/// The number of quiet moves from `positions` to `goal`.
#[inline(always)]
fn quiet_moves(
    task: BlockTask<'_>,
    positions: &[u64],
    goal: &Planes<'_>,
    scratch: &mut Scratch,
) -> u64 {
    let rows = positions.len();
    let (tables, frame, men) = (task.context.tables, task.block().frame, task.men());
    let here = goal.here(task.number, rows);
    let mut quiet = 0;

    for &(i, role) in &men.dims {
        quiet += for_role!(role, ROLE => {
            count::dimension(tables, frame, ROLE, i, positions, here)
        });
    }

    if let Some(role) = men.lane {
        quiet += for_role!(role, ROLE => count::lane(frame, ROLE, positions, here));
    }

    for (i, neighbour) in task.neighbours().iter().enumerate() {
        let there = goal.neighbour(i, neighbour, rows);
        if let Some(exchange) = &neighbour.exchange {
            let from = positions.iter().zip(there).enumerate();
            for (row, (_, &there)) in from.filter(|(_, (p, _))| **p >> exchange.to & 1 != 0) {
                quiet += u64::from(exchange.back(tables, frame, row, there).1);
            }
            continue;
        }
        let moved = scratch.plane(rows);
        task.pull_from(neighbour, there, moved);
        for (moved, &position) in moved.iter_mut().zip(positions) {
            quiet += u64::from((std::mem::take(moved) & position).count_ones());
        }
    }
    quiet
}
