//! What a pass does to one block.
//!
//! Two planes a side are all there is: `open`, the legal positions not yet decided, and `held`,
//! those that cannot be lost now because an exit holds them (or because they are stalemate). The
//! escape set of a side is the other side's `open`: positions already lost for the opponent need
//! not be in it, since a side that can go there has won. For that to hold, losses leave `open`
//! only in the win pass that follows them.

use hoffman_board::Color;

use crate::blocks::{Block, Neighbour};
use crate::context::{Context, SideMen};
use crate::kernels::dense::{all_moves, lane_move, pull};
use crate::kernels::for_role;
use crate::kernels::sparse::{MovedRows, push_dimension, push_lane, reach_dimension};
use crate::kernels::tables::squares;
use crate::nearby::{Frontiers, Planes};
use crate::sets::{Log, PositionSet};

/// Room for one block, one a thread. All words are 0 between uses.
#[derive(Default)]
pub(crate) struct Scratch {
    rows: Vec<u64>,
    groups: Vec<u64>,
}

impl Scratch {
    fn prepare(&mut self, rows: usize) -> MovedRows<'_> {
        let groups = rows.div_ceil(64).div_ceil(64);
        if self.groups.len() < groups {
            self.groups.resize(groups, 0);
        }
        if self.rows.len() < rows {
            self.rows.resize(rows, 0);
        }
        MovedRows::new(&mut self.rows[..rows], &mut self.groups[..groups])
    }

    /// A plane of zeros.
    pub(crate) fn plane(&mut self, rows: usize) -> &mut [u64] {
        if self.rows.len() < rows {
            self.rows.resize(rows, 0);
        }
        &mut self.rows[..rows]
    }
}

/// One side's moves in one block, which is what all work is cut into.
#[derive(Clone, Copy)]
pub(crate) struct BlockTask<'a> {
    pub(crate) context: &'a Context<'a>,
    /// The number of the block.
    pub(crate) number: usize,
    /// The side to move.
    pub(crate) color: Color,
    /// The positions in which that side must capture, a set a row; empty in normal chess.
    pub(crate) must_capture: &'a [u64],
}

impl<'a> BlockTask<'a> {
    #[inline(always)]
    pub(crate) fn block(self) -> &'a Block {
        &self.context.blocks[self.number]
    }

    #[inline(always)]
    pub(crate) fn men(self) -> &'a SideMen {
        &self.context.men[self.color]
    }

    /// The blocks that this side's outer men can move to.
    #[inline(always)]
    pub(crate) fn neighbours(self) -> &'a [Neighbour] {
        &self.block().neighbours[self.color]
    }

    /// The positions of a row in which quiet moves may be played.
    #[inline(always)]
    pub(crate) fn quiet(self, row: usize) -> u64 {
        self.must_capture.get(row).map_or(u64::MAX, |must_capture| !must_capture)
    }

    /// Adds this side's moves to or from the frontiers, into this block.
    #[inline(always)]
    fn spread(self, frontiers: &Frontiers<'_>, moved: &mut MovedRows<'_>) {
        let (tables, frame, men) = (self.context.tables, self.block().frame, self.men());

        let here = frontiers.here(self.number);
        if let Some(plane) = here.plane() {
            all_moves(tables, frame, &men.dims, men.lane, plane, moved.all());
        } else {
            for &(i, role) in &men.dims {
                for_role!(role, ROLE => for positions in here.iter() {
                    push_dimension(tables, frame, ROLE, i, positions, moved);
                });
            }
            if let Some(role) = men.lane {
                for positions in here.iter() {
                    push_lane(frame, role, positions, moved);
                }
            }
        }

        for (i, neighbour) in self.neighbours().iter().enumerate() {
            let there = frontiers.neighbour(i, neighbour);
            if let Some(plane) = there.plane() {
                self.pull_from(neighbour, plane, moved.all());
                continue;
            }
            for (row, mask) in there.iter() {
                let (row, mask) = neighbour.back(tables, frame, row, mask);
                if mask != 0 {
                    moved.add(row, mask);
                }
            }
        }
    }

    /// Adds what an outer man that crosses over to a neighbour block leaves behind.
    #[inline(always)]
    pub(crate) fn pull_from(self, neighbour: &Neighbour, from: &[u64], out: &mut [u64]) {
        let (tables, frame) = (self.context.tables, self.block().frame);
        if neighbour.is_plain() {
            pull(tables, frame, neighbour.symmetry, from, out);
            return;
        }
        for (row, (out, &from)) in out.iter_mut().zip(from).enumerate() {
            if from != 0 {
                *out |= neighbour.back(tables, frame, row, from).1;
            }
        }
    }

    /// The positions of this side that can escape by a quiet move, over the whole block.
    #[inline(always)]
    fn escapes(self, goal: &Planes<'_>, out: &mut [u64]) {
        let (men, rows) = (self.men(), out.len());
        let here = goal.here(self.number, rows);
        all_moves(self.context.tables, self.block().frame, &men.dims, men.lane, here, out);
        for (i, neighbour) in self.neighbours().iter().enumerate() {
            self.pull_from(neighbour, goal.neighbour(i, neighbour, rows), out);
        }
    }

    /// The positions of one row, among `wanted`, that can escape. Cheap moves first: it ends when
    /// all are found.
    #[inline(always)]
    fn row_escapes(self, row: usize, wanted: u64, goal: &Planes<'_>, rows: usize) -> u64 {
        let (tables, frame, men) = (self.context.tables, self.block().frame, self.men());
        let here = goal.here(self.number, rows);
        let mut found = 0;

        if let Some(role) = men.lane {
            // Quiet moves are their own inverse: from the goal back to where the lane man stands
            // now.
            found |= lane_move(role, here[row], frame.others(row, usize::MAX));
            if wanted & !found == 0 {
                return found;
            }
        }

        for (i, neighbour) in self.neighbours().iter().enumerate() {
            let plane = goal.neighbour(i, neighbour, rows);
            found |= neighbour.pull_row(tables, frame, row, plane);
            if wanted & !found == 0 {
                return found;
            }
        }

        for &(i, role) in &men.dims {
            let left = wanted & !found;
            found |= for_role!(role, ROLE => {
                reach_dimension(tables, frame, ROLE, i, (row, left), here)
            });
            if wanted & !found == 0 {
                return found;
            }
        }
        found
    }
}

/// What a win pass starts from: what the side to move has just lost in the block, what the other
/// side has just lost around it, and what exits win in this pass.
pub(crate) struct WinSources<'a> {
    pub(crate) lost: PositionSet<'a>,
    pub(crate) losses: Frontiers<'a>,
    pub(crate) exit_wins: PositionSet<'a>,
}

/// The win pass of `moves` for one block: everything open that can move to a position just lost
/// for the other side, or that an exit wins now. What this side has just lost is not open any
/// more.
#[inline(always)]
pub(crate) fn win_block(
    task: BlockTask<'_>,
    moves: u16,
    from: &WinSources<'_>,
    open: &mut [u64],
    wins: &mut Log,
    scratch: &mut Scratch,
) {
    from.lost.leave(open);

    let rows = open.len();
    let mut moved = scratch.prepare(rows);
    task.spread(&from.losses, &mut moved);
    moved.remove(task.must_capture);

    for (row, mask) in from.exit_wins.iter() {
        moved.add(row, mask);
    }

    wins.begin();
    let (moved, groups) = moved.finish();
    for group in groups {
        let left = sift(&mut moved[group.clone()], open[group.clone()].iter().copied());
        for at in squares(left) {
            let row = group.start + at as usize;
            let new = std::mem::take(&mut moved[row]);
            open[row] &= !new;
            wins.push(row, new);
        }
    }
    wins.finish(moves, rows);
}

/// Keeps of the rows of a group what `kept` has, and returns which of them are not empty then.
/// Most are empty, and are found to be without a branch each.
#[inline(always)]
fn sift(group: &mut [u64], kept: impl Iterator<Item = u64>) -> u64 {
    let mut left = 0;
    for (at, (row, kept)) in group.iter_mut().zip(kept).enumerate() {
        *row &= kept;
        left |= u64::from(*row != 0) << at;
    }
    left
}

/// What a loss pass starts from: what the other side has just won around the block, what exits do
/// not hold from now on, what is open for the side to move in the block, and what for the other
/// side around it.
pub(crate) struct LossSources<'a> {
    pub(crate) wins: Frontiers<'a>,
    pub(crate) exit_losses: PositionSet<'a>,
    pub(crate) open: &'a [u64],
    pub(crate) goal: Planes<'a>,
}

/// The loss pass of `moves` for one block: everything open that nothing holds and from which no
/// move escapes.
#[inline(always)]
pub(crate) fn loss_block(
    task: BlockTask<'_>,
    moves: u16,
    from: &LossSources<'_>,
    held: &mut [u64],
    losses: &mut Log,
    scratch: &mut Scratch,
) {
    let rows = held.len();
    from.exit_losses.leave(held);
    losses.begin();

    if from.wins.here(task.number).plane().is_some() {
        // So much was won that nearly every row is a candidate.
        let escaped = scratch.plane(rows);
        task.escapes(&from.goal, escaped);
        for row in 0..rows {
            let escaped = std::mem::take(&mut escaped[row]) & task.quiet(row);
            let new = from.open[row] & !held[row] & !escaped;
            if new != 0 {
                losses.push(row, new);
            }
        }
        losses.finish(moves, rows);
        return;
    }

    let mut moved = scratch.prepare(rows);
    task.spread(&from.wins, &mut moved);
    for (row, mask) in from.exit_losses.iter() {
        moved.add(row, mask);
    }
    let (moved, groups) = moved.finish();

    for group in groups {
        let losable = from.open[group.clone()].iter().zip(&held[group.clone()]);
        let left = sift(&mut moved[group.clone()], losable.map(|(open, held)| open & !held));
        for at in squares(left) {
            let row = group.start + at as usize;
            let candidates = std::mem::take(&mut moved[row]);
            let escaped = task.row_escapes(row, candidates, &from.goal, rows);
            let new = candidates & !(escaped & task.quiet(row));
            if new != 0 {
                losses.push(row, new);
            }
        }
    }
    losses.finish(moves, rows);
}

/// The planes of a block that finding mates changes.
pub(crate) struct MatePlanes<'a> {
    /// Stalemates and spared positions become held.
    pub(crate) held: &'a mut [u64],
    /// The positions with a discarded move that would spare them; those without another move are
    /// left. May be empty.
    pub(crate) spared: &'a mut [u64],
    /// Where stalemates are put, or empty.
    pub(crate) stalemates: &'a mut [u64],
}

/// Finds the mates and stalemates of a block among its `open` positions: mates go to the log.
/// Whether a plane changed.
#[inline(always)]
pub(crate) fn mate_block(
    task: BlockTask<'_>,
    open: &[u64],
    goal: &Planes<'_>,
    planes: MatePlanes<'_>,
    losses: &mut Log,
    scratch: &mut Scratch,
) -> bool {
    let MatePlanes { held, spared, stalemates } = planes;
    let rows = held.len();
    let theirs = goal.here(task.number, rows);
    let mut changed = 0;
    losses.begin();

    let escaped = scratch.plane(rows);
    task.escapes(goal, escaped);
    for row in 0..rows {
        let escaped = std::mem::take(&mut escaped[row]) & task.quiet(row);
        let mut stuck = open[row] & !held[row] & !escaped;
        if let Some(spared) = spared.get_mut(row) {
            changed |= *spared;
            *spared &= stuck;
            stuck &= !*spared;
            held[row] |= *spared;
        }
        // With the other side to move the position is illegal exactly if this king is in check.
        // (In suicide chess, which knows no check, it never is.)
        let mates = stuck & !theirs[row];
        let stalemate = stuck & theirs[row];
        changed |= stalemate;
        held[row] |= stalemate;
        if let Some(out) = stalemates.get_mut(row) {
            *out = stalemate;
        }
        if mates != 0 {
            losses.push(row, mates);
        }
    }

    losses.finish(0, rows);
    changed != 0
}
