//! Counting the moves and stalemates of a slice, for the statistics of a table.

use hoffman_board::Color;
use hoffman_space::{Code, Counts, KingPlacement, SliceCounts};
use rayon::prelude::*;

use crate::blocks::Block;
use crate::dispatch;
use crate::exit_values::{self, ExitRoom};
use crate::exits::{Counted, Right};
use crate::move_counts::CountedPositions;
use crate::nearby::Planes;
use crate::passes::BlockTask;
use crate::problem::Problem;
use crate::sets::PositionSet;
use crate::target::{ExitTarget, Reading};
use crate::threads::{PARALLEL_ROWS, share, with_exit_room, with_scratch};

/// Access to the blocks of a slice whose mates are known.
pub(crate) trait Blocks: Sync {
    /// Shows `f` one side's part of a block.
    fn with(&self, n: usize, color: Color, f: &mut dyn FnMut(&BlockParts<'_>));
}

/// One side's part of a block: legal positions, stalemates, mates, the other side's legal
/// positions in and around the block, and in suicide chess the positions in which something must
/// be taken.
pub(crate) struct BlockParts<'a> {
    pub(crate) open: &'a [u64],
    pub(crate) stalemates: &'a [u64],
    pub(crate) lost: PositionSet<'a>,
    pub(crate) goal: &'a Planes<'a>,
    pub(crate) must_capture: &'a [u64],
}

/// Counts moves and stalemates.
pub(crate) fn count<C: Code>(problem: &Problem<'_>, slice: &impl Blocks) -> SliceCounts {
    let mut counts = SliceCounts::default();
    for (own, color) in [Color::White, Color::Black].into_iter().enumerate() {
        let counting = SideCount { problem, color, right: None };
        [counts.plain[own], counts.diagonal[own]] = counting.slice::<C>(slice);
    }
    let with_right = |right: &Right<'_>| {
        let counting = SideCount { problem, color: right.taker, right: Some(right) };
        (u8::from(right.square), counting.slice::<C>(slice)[0])
    };
    counts.en_passant = problem.rights.iter().map(with_right).collect();
    counts
}

/// What is counted: the positions of one side, with an en passant right or without.
struct SideCount<'p> {
    problem: &'p Problem<'p>,
    color: Color,
    right: Option<&'p Right<'p>>,
}

/// The en passant captures that are possible in the positions of a block.
struct CaptureMarks {
    /// One that counts is legal.
    counted: Vec<u64>,
    /// The position is not stalemate because of one.
    saving: Vec<u64>,
    /// In suicide chess: a discarded one is legal.
    discarded: Vec<u64>,
}

impl SideCount<'_> {
    /// The counts of all blocks, and of those with both kings on the diagonal.
    fn slice<C: Code>(&self, slice: &impl Blocks) -> [Counts; 2] {
        let context = &self.problem.context;
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let paired = context.layout.kings() == KingPlacement::Pairs;
        let is_diagonal =
            |n: usize| paired && context.blocks[n].outer.iter().all(|king| king >> 3 == king & 7);
        let count = |n: usize| {
            let mut counts = Counts::default();
            if context.is_own(n) && !context.is_stopped() {
                slice.with(n, self.color, &mut |parts| counts = self.block::<C>(n, parts));
            }
            [counts, if is_diagonal(n) { counts } else { Counts::default() }]
        };
        let add = |mut sum: [Counts; 2], more: [Counts; 2]| {
            sum[0] += more[0];
            sum[1] += more[1];
            sum
        };
        (0..blocks)
            .into_par_iter()
            .with_min_len(share(rows * blocks >= PARALLEL_ROWS, blocks))
            .map(count)
            .reduce(<[Counts; 2]>::default, add)
    }

    fn block<C: Code>(&self, number: usize, parts: &BlockParts<'_>) -> Counts {
        let context = &self.problem.context;
        let must_capture = parts.must_capture;
        let task = BlockTask { context, number, color: self.color, must_capture };
        let [mut positions, stuck] = self.positions_once(task.block(), parts);
        let marks = self.capture_marks::<C>(task, &positions);

        let stalemates = stuck.iter().zip(&marks.saving).map(|(stuck, saving)| stuck & !saving);
        let stalemates = stalemates.map(|w| u64::from(w.count_ones())).sum();

        self.leave_out_decided(task, &marks, &mut positions);
        // Where there is no move no discarded one counts.
        let stuck = parts.stalemates.iter().copied().enumerate();

        for (row, mask) in stuck.chain(parts.lost.iter()) {
            positions[row] &= !(mask & !marks.saving[row]);
        }
        let mut bound = positions.clone();

        for (row, &must_capture) in must_capture.iter().enumerate() {
            // Of what must be taken everything may be discarded.
            let (counted, discarded) = (marks.counted[row], marks.discarded[row]);
            bound[row] &= !(discarded & !counted & !must_capture);
            positions[row] &= !(must_capture | counted | discarded);
            bound[row] &= must_capture | counted;
        }

        let [captures, more] = self.right_captures().map(|captures| {
            with_exit_room(|room: &mut ExitRoom<C>| {
                dispatch::count_captures(task, captures, &bound, room)
            })
        });
        let counted = CountedPositions { positions: &positions, bound: &bound, goal: parts.goal };
        let Problem { exits, discarded, .. } = self.problem;
        let exits = [&exits[self.color][..], &discarded[self.color]];
        let [moves, futuremoves] = with_exit_room(|room: &mut ExitRoom<C>| {
            with_scratch(|scratch| dispatch::count_block(task, exits, &counted, room, scratch))
        });

        Counts {
            stalemates: if self.problem.stalemates.is_some() { 0 } else { stalemates },
            moves: moves + captures,
            futuremoves: futuremoves + captures + more,
        }
    }

    /// The captures by the right that are moves, and those that are discarded.
    fn right_captures(&self) -> [&[ExitTarget<'_>]; 2] {
        self.right.map_or([&[]; 2], Right::counted)
    }

    /// The legal positions and the stalemates, each position once.
    fn positions_once(&self, block: &Block, parts: &BlockParts<'_>) -> [Vec<u64>; 2] {
        let once = self.problem.context.lanes_once(block);
        [parts.open, parts.stalemates].map(|plane| {
            let plane: Vec<u64> = plane.iter().map(|positions| positions & once).collect();
            let Some(right) = self.right else { return plane };
            let mut clear = vec![0; plane.len()];
            clear_of(block, right.empty_squares().0, &plane, &mut clear);
            clear
        })
    }

    fn capture_marks<C: Code>(&self, task: BlockTask<'_>, positions: &[u64]) -> CaptureMarks {
        let [counted, discarded] = self.right_captures();
        let marks = |captures: &[ExitTarget<'_>], reading: Reading| {
            with_exit_room(|room: &mut ExitRoom<C>| {
                dispatch::capture_block(task, captures, reading, positions, room)
            })
        };
        let legal = marks(counted, Reading::Legality);
        if task.context.suicide() {
            let discarded = marks(discarded, Reading::Legality);
            return CaptureMarks { saving: legal.clone(), counted: legal, discarded };
        }
        let saving = marks(counted, Reading::Played);
        CaptureMarks { counted: legal, saving, discarded: vec![0; positions.len()] }
    }

    /// Takes positions away that a move decides at once: no move of them is counted.
    fn leave_out_decided(&self, task: BlockTask<'_>, marks: &CaptureMarks, positions: &mut [u64]) {
        let exits = &self.problem.exits[self.color];
        if exits.iter().any(|exit| exit.counted == Counted::Deciding) {
            let decided = with_exit_room(|room: &mut ExitRoom<u8>| {
                exit_values::decided(task, exits, &mut room.buffer)
            });
            positions.iter_mut().zip(decided).for_each(|(p, decided)| *p &= !decided);
        }
        if self.right.is_some_and(|right| right.deciding) {
            positions.iter_mut().zip(&marks.counted).for_each(|(p, counted)| *p &= !counted);
        }
    }
}

/// The positions of a plane where none of the `empty` squares is taken by a mover.
#[inline(always)]
fn clear_of(block: &Block, empty: u64, plane: &[u64], out: &mut [u64]) {
    let frame = block.frame;
    for (row, (out, &positions)) in out.iter_mut().zip(plane).enumerate() {
        let taken = frame.others(row, usize::MAX) & empty != 0;
        *out = if taken { 0 } else { positions & !empty };
    }
}
