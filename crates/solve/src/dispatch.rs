//! The work on a block, compiled for what the processor has: chosen once a block.
//!
//! Every function here is the function of the same name elsewhere.

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::Code;

use crate::blocks::Block;
use crate::context::Context;
use crate::exit_events::ExitEvents;
use crate::exit_values::{self, ExitRoom};
use crate::exits::{Exit, Right};
use crate::kernels::dense::{Frame, all_moves, pull};
use crate::kernels::tables::tables;
use crate::move_counts::{self, CountedPositions};
use crate::nearby::Planes;
use crate::passes::{self, BlockTask, LossSources, MatePlanes, Scratch, WinSources};
use crate::processor::for_processor;
use crate::sets::{Log, PositionSet};
use crate::target::{ExitTarget, Reading};
use crate::valuation::{self, ExitPlanes, WithoutRight};

for_processor! {
    /// See [`valuation::legal_block`].
    fn legal_block(context: &Context<'_>, block: &Block, turn: Color, open: &mut [u64]),
    I => valuation::legal_block(context, block, turn, open)
}

for_processor! {
    /// See [`valuation::exit_block`].
    fn exit_block<C: Code>(
        task: BlockTask<'_>,
        exits: &[Exit<'_>],
        open: &[u64],
        planes: ExitPlanes<'_>,
        room: &mut ExitRoom<C>,
    ) -> ExitEvents,
    I => valuation::exit_block::<I, C>(task, exits, open, planes, room)
}

for_processor! {
    /// See [`passes::win_block`].
    fn win_block(
        task: BlockTask<'_>,
        moves: u16,
        from: &WinSources<'_>,
        open: &mut [u64],
        wins: &mut Log,
        scratch: &mut Scratch,
    ),
    I => passes::win_block(task, moves, from, open, wins, scratch)
}

for_processor! {
    /// See [`passes::loss_block`].
    fn loss_block(
        task: BlockTask<'_>,
        moves: u16,
        from: &LossSources<'_>,
        held: &mut [u64],
        losses: &mut Log,
        scratch: &mut Scratch,
    ),
    I => passes::loss_block(task, moves, from, held, losses, scratch)
}

for_processor! {
    /// See [`passes::mate_block`].
    fn mate_block(
        task: BlockTask<'_>,
        open: &[u64],
        goal: &Planes<'_>,
        planes: MatePlanes<'_>,
        losses: &mut Log,
        scratch: &mut Scratch,
    ) -> bool,
    I => passes::mate_block(task, open, goal, planes, losses, scratch)
}

for_processor! {
    /// See [`valuation::write_block`].
    fn write_block<C: Code>(open: &[u64], decided: Option<(C, PositionSet<'_>)>, codes: &mut [C]),
    I => valuation::write_block::<I, C>(open, decided, codes)
}

for_processor! {
    /// See [`move_counts::count_block`].
    fn count_block<C: Code>(
        task: BlockTask<'_>,
        exits: [&[Exit<'_>]; 2],
        counted: &CountedPositions<'_>,
        room: &mut ExitRoom<C>,
        scratch: &mut Scratch,
    ) -> [u64; 2],
    I => move_counts::count_block::<I, C>(task, exits, counted, room, scratch)
}

for_processor! {
    /// See [`exit_values::count_captures`].
    fn count_captures<C: Code>(
        task: BlockTask<'_>,
        captures: &[ExitTarget<'_>],
        positions: &[u64],
        room: &mut ExitRoom<C>,
    ) -> u64,
    I => exit_values::count_captures::<I, C>(task, captures, positions, room)
}

for_processor! {
    /// See [`valuation::right_block`].
    fn right_block<C: Code>(
        task: BlockTask<'_>,
        right: &Right<'_>,
        without: &WithoutRight<'_, C>,
        codes: &mut [C],
        room: &mut ExitRoom<C>,
    ),
    I => valuation::right_block::<I, C>(task, right, without, codes, room)
}

for_processor! {
    /// See [`valuation::capture_block`].
    fn capture_block<C: Code>(
        task: BlockTask<'_>,
        captures: &[ExitTarget<'_>],
        reading: Reading,
        positions: &[u64],
        room: &mut ExitRoom<C>,
    ) -> Vec<u64>,
    I => valuation::capture_block::<I, C>(task, captures, reading, positions, room)
}

for_processor! {
    /// See [`all_moves`].
    fn move_block(
        frame: Frame,
        men: &[(usize, Role)],
        lane: Option<Role>,
        from: &[u64],
        out: &mut [u64],
    ),
    I => all_moves(tables(), frame, men, lane, from, out)
}

for_processor! {
    /// See [`pull`].
    fn pull_block(frame: Frame, symmetry: Symmetry, from: &[u64], out: &mut [u64]),
    I => pull(tables(), frame, symmetry, from, out)
}
