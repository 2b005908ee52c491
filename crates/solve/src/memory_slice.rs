//! A slice being solved in memory: one plane a side, block after block.

use std::io;
use std::ops::RangeInclusive;

use hoffman_board::Color;
use hoffman_space::{Code, Codes, EnPassantValues, PackedOutcomes, SliceCounts, SliceValues};
use rayon::prelude::*;

use crate::context::{Context, side};
use crate::counting::{BlockParts, Blocks, count};
use crate::dispatch;
use crate::exits::{Exit, ExitRoom, Right};
use crate::log::{ExitEvents, Log, PositionSet};
use crate::monitor::{Decided, Monitor, TakeDecided};
use crate::options::{SolveError, SolveOptions};
use crate::pass_loop::{Passes, RunResult, begin, decide, run};
use crate::passes::{
    BlockTask, Frontiers, LossSources, MatePlanes, Planes, WinSources, dense_threshold,
};
use crate::problem::{Problem, deepest_capture};
use crate::recycled::Recycled;
use crate::slice_solver::finished;
use crate::threads::{PARALLEL_ROWS, share, with_exit_room, with_scratch};
use crate::valuation::{ExitPlanes, WithoutRight, spared_block};

/// From how many frontier rows on a pass is worth being shared.
const PARALLEL_FRONTIER: usize = 4_096;

/// A slice in memory.
struct MemorySlice<'a> {
    context: &'a Context<'a>,
    open: [Vec<u64>; 2],
    held: [Vec<u64>; 2],
    exit_events: [Vec<ExitEvents>; 2],
    wins: [Vec<Log>; 2],
    losses: [Vec<Log>; 2],
    /// Empty where nobody asks for them.
    stalemates: [Vec<u64>; 2],
    /// The positions in which something must be taken. Empty in normal chess.
    must_capture: [Vec<u64>; 2],
    /// The positions in which nothing can be played but discarded moves that spare them mate and
    /// stalemate. Empty where there are no such moves.
    spared: [Vec<u64>; 2],
}

/// A block's part of a plane that may be left out.
fn part(plane: &[u64], block: usize, rows: usize) -> &[u64] {
    plane.get(block * rows..(block + 1) * rows).unwrap_or_default()
}

/// The blocks of a plane; as many empty ones if the plane is left out.
fn blocks_of(plane: &mut [u64], rows: usize, blocks: usize) -> Vec<&mut [u64]> {
    if plane.is_empty() {
        return (0..blocks).map(|_| &mut [][..]).collect();
    }
    plane.chunks_exact_mut(rows).collect()
}

/// Solves a slice with codes `C` for the values behind the exits.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub(crate) fn solve<C: Code>(
    problem: &Problem<'_>,
    options: &SolveOptions,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = &problem.context;
    let has_rights = problem.rights.iter().any(|r| r.is_usable(context));
    let keep_stalemates =
        problem.count || problem.stalemates.is_some() || context.suicide() || has_rights;
    let mut counts = None;
    let mut reached = begin(context, monitor, || {
        let mut slice = MemorySlice::start::<C>(context, &problem.exits, keep_stalemates, recycled);
        counts = problem.count.then(|| count::<C>(problem, &slice));
        if let Some(winner) = problem.stalemates {
            slice.concede_stalemates(winner);
        }
        if context.suicide() {
            slice.win_stalemates();
        }
        slice
    });
    let moves = run(context, &mut reached, monitor)?;

    let mut slice = reached.slice;
    slice.exit_events = Default::default();
    recycled.keep(std::mem::take(&mut slice.held), []);
    let narrow = moves <= u8::MAX_MOVES && deepest_capture(problem) < u8::MAX_MOVES;
    let values = if options.outcomes && options.pages.is_none() && !has_rights {
        // What captures en passant start from would be needed as codes.
        let codes = Color::ALL.map(|color| slice.outcomes(color));
        SliceValues { codes, en_passant: Vec::new(), counts, max_moves: 1 }
    } else if narrow {
        slice.values::<u8>(problem, recycled, moves, counts)
    } else {
        slice.values::<u16>(problem, recycled, moves, counts)
    };
    recycled.keep(slice.open, slice.wins.into_iter().chain(slice.losses));
    finished(context, values)
}

impl<'a> MemorySlice<'a> {
    /// Legal positions, exits, mates and stalemates.
    fn start<C: Code>(
        context: &'a Context<'a>,
        exits: &[Vec<Exit<'_>>; 2],
        keep_stalemates: bool,
        recycled: &Recycled,
    ) -> MemorySlice<'a> {
        let blocks = context.blocks.len();
        let total = context.rows() * blocks;
        let plane_if = |needed: bool| [(); 2].map(|()| vec![0; if needed { total } else { 0 }]);
        let mut slice = MemorySlice {
            context,
            open: [(); 2].map(|()| recycled.plane(total)),
            held: [(); 2].map(|()| recycled.plane(total)),
            exit_events: Default::default(),
            losses: [(); 2].map(|()| recycled.logs(blocks)),
            wins: [(); 2].map(|()| recycled.logs(blocks)),
            stalemates: plane_if(keep_stalemates),
            must_capture: plane_if(context.suicide()),
            spared: Default::default(),
        };
        for color in Color::ALL {
            slice.find_legal(color);
        }
        for color in Color::ALL {
            slice.evaluate_exits::<C>(color, &exits[side(color)]);
        }
        for color in Color::ALL {
            slice.spared[side(color)] = slice.find_spared::<C>(color, &exits[side(color)]);
        }
        for color in Color::ALL {
            slice.find_mates(color);
        }
        slice
    }

    /// How many blocks a thread takes at once where every block is worked on.
    fn share_of_all(&self) -> usize {
        let (rows, blocks) = (self.context.rows(), self.context.blocks.len());
        share(rows * blocks >= PARALLEL_ROWS, blocks)
    }

    /// How many blocks a thread takes at once in a pass that starts from so many rows.
    fn share(&self, waiting: usize, due: bool) -> usize {
        let (rows, blocks) = (self.context.rows(), self.context.blocks.len());
        let large = rows * blocks >= PARALLEL_ROWS && blocks > 1;
        share(large && (waiting >= PARALLEL_FRONTIER || due), blocks)
    }

    fn task(&self, number: usize, color: Color) -> BlockTask<'_> {
        let must_capture = part(&self.must_capture[side(color)], number, self.context.rows());
        BlockTask { context: self.context, number, color, must_capture }
    }

    fn find_legal(&mut self, color: Color) {
        let (context, share) = (self.context, self.share_of_all());
        let open = self.open[side(color)].par_chunks_exact_mut(context.rows());
        open.with_min_len(share).enumerate().for_each(|(n, open)| {
            dispatch::legal_block(context, &context.blocks[n], color, open);
        });
    }

    fn evaluate_exits<C: Code>(&mut self, color: Color, exits: &[Exit<'_>]) {
        let (context, own, share) = (self.context, side(color), self.share_of_all());
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let open = &self.open[own];
        self.exit_events[own].resize_with(blocks, ExitEvents::default);
        self.held[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut self.exit_events[own])
            .zip(blocks_of(&mut self.must_capture[own], rows, blocks))
            .with_min_len(share)
            .enumerate()
            .for_each(|(number, ((held, events), must_capture))| {
                if context.is_stopped() {
                    return;
                }
                let task = BlockTask { context, number, color, must_capture: &[] };
                let open = part(open, number, rows);
                let planes = ExitPlanes { held, must_capture };
                *events = with_exit_room(|room: &mut ExitRoom<C>| {
                    dispatch::exit_block::<C>(task, exits, open, planes, room)
                });
            });
    }

    /// The positions of a side with discarded moves that spare them mate and stalemate; empty if there are
    /// no such moves.
    fn find_spared<C: Code>(&self, color: Color, exits: &[Exit<'_>]) -> Vec<u64> {
        if !exits.iter().any(|exit| exit.target.may_spare()) {
            return Vec::new();
        }
        let (context, rows) = (self.context, self.context.rows());
        let blocks = context.blocks.par_iter().enumerate().filter(|(_, block)| !block.empty);
        let found: Vec<(usize, Vec<u64>)> = blocks
            .filter(|_| !context.is_stopped())
            .map(|(n, _)| {
                let task = self.task(n, color);
                let found = |room: &mut ExitRoom<C>| spared_block(task, exits, room);
                (n, with_exit_room(found))
            })
            .collect();
        let mut spared = vec![0; rows * context.blocks.len()];
        for (n, found) in found {
            spared[n * rows..(n + 1) * rows].copy_from_slice(&found);
        }
        spared
    }

    fn find_mates(&mut self, color: Color) {
        let (context, own, share) = (self.context, side(color), self.share_of_all());
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let (open, must_capture) = (&self.open, &self.must_capture[own]);
        self.held[own]
            .par_chunks_exact_mut(rows)
            .zip(&mut self.losses[own])
            .zip(blocks_of(&mut self.stalemates[own], rows, blocks))
            .zip(blocks_of(&mut self.spared[own], rows, blocks))
            .with_min_len(share)
            .enumerate()
            .for_each(|(number, (((held, log), stalemates), spared))| {
                if context.is_stopped() {
                    return;
                }
                let must_capture = part(must_capture, number, rows);
                let task = BlockTask { context, number, color, must_capture };
                let planes = MatePlanes { held, spared, stalemates };
                let (open, goal) = (part(&open[own], number, rows), Planes::All(&open[1 - own]));
                with_scratch(|scratch| {
                    dispatch::mate_block(task, open, goal, planes, log, scratch);
                });
            });
    }

    /// Gives stalemates to `winner`: won after one move if he is to move, else lost after one.
    fn concede_stalemates(&mut self, winner: Color) {
        let rows = self.context.rows();
        for color in Color::ALL {
            let own = side(color);
            for (n, events) in self.exit_events[own].iter_mut().enumerate() {
                events.add(color == winner, part(&self.stalemates[own], n, rows));
            }
        }
    }

    /// In suicide chess whoever cannot move has won.
    fn win_stalemates(&mut self) {
        let rows = self.context.rows();
        for own in 0..2 {
            for (n, wins) in self.wins[own].iter_mut().enumerate() {
                wins.begin();
                for (row, &mask) in part(&self.stalemates[own], n, rows).iter().enumerate() {
                    if mask != 0 {
                        self.open[own][n * rows + row] &= !mask;
                        wins.push(row, mask);
                    }
                }
                wins.finish(0, rows, dense_threshold(rows));
            }
        }
    }

    /// What was decided in a block, with the codes to write.
    fn decided_in<C: Code>(
        &self,
        own: usize,
        n: usize,
        win: fn(u16) -> C,
        loss: fn(u16) -> C,
    ) -> Vec<(C, PositionSet<'_>)> {
        let wins = self.wins[own][n].replay().map(|(moves, positions)| (win(moves), positions));
        let losses = self.losses[own][n].replay();
        wins.chain(losses.map(|(moves, positions)| (loss(moves), positions))).collect()
    }

    /// The codes of one side, block by block from the logs.
    fn codes<C: Code>(&self, color: Color, recycled: &Recycled) -> Vec<C> {
        let (context, own) = (self.context, side(color));
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let (mut codes, fresh) = recycled.codes::<C>(rows * blocks * 64);
        let chunks = codes.par_chunks_exact_mut(rows * 64).with_min_len(self.share_of_all());
        chunks.enumerate().for_each(|(n, codes)| {
            if context.is_stopped() {
                return;
            }
            if !fresh {
                codes.fill(C::ILLEGAL);
            }
            let decided = self.decided_in(own, n, C::win, C::loss);
            dispatch::write_block::<C>(part(&self.open[own], n, rows), &decided, codes);
        });
        codes
    }

    /// The same for those who ask for outcomes only.
    fn outcomes(&self, color: Color) -> Codes {
        let (context, own) = (self.context, side(color));
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let len = rows * 64;
        let outcomes = PackedOutcomes::new(len * blocks);
        let block = |codes: &mut Vec<u8>, n: usize| {
            if context.is_stopped() {
                return;
            }
            codes.fill(u8::ILLEGAL);
            let decided = self.decided_in(own, n, |_| u8::win(1), |_| u8::loss(0));
            dispatch::write_block::<u8>(part(&self.open[own], n, rows), &decided, codes);
            outcomes.put(n * len, codes);
        };
        let new = || vec![u8::ILLEGAL; len];
        let share = self.share_of_all();
        (0..blocks).into_par_iter().with_min_len(share).for_each_init(new, block);
        Codes::packed(outcomes, len * blocks)
    }

    /// All values in the width `C`.
    fn values<C: Code>(
        &self,
        problem: &Problem<'_>,
        recycled: &Recycled,
        moves: u16,
        counts: Option<SliceCounts>,
    ) -> SliceValues {
        let codes = Color::ALL.map(|color| self.codes::<C>(color, recycled));
        let usable = || problem.rights.iter().filter(|right| right.is_usable(self.context));
        let en_passant = usable().map(|right| EnPassantValues {
            square: right.square,
            codes: C::into_codes(self.codes_with(right, &codes[side(right.taker)])),
        });
        let en_passant = en_passant.collect();
        // A capture can hold out longer, or win later, than anything in the slice.
        let deepest = usable().flat_map(|right| &right.captures).map(|t| t.max_moves() + 1);
        let max_moves = deepest.fold(moves, u16::max);
        SliceValues { codes: codes.map(C::into_codes), en_passant, counts, max_moves }
    }

    /// The codes with an en passant right, from those without.
    fn codes_with<C: Code>(&self, right: &Right<'_>, plain: &[C]) -> Vec<C> {
        let (context, own, rows) = (self.context, side(right.taker), self.context.rows());
        let mut with = vec![C::ILLEGAL; plain.len()];
        let chunks = with.par_chunks_exact_mut(rows * 64).with_min_len(self.share_of_all());
        chunks.enumerate().for_each(|(n, with)| {
            if context.is_stopped() {
                return;
            }
            let mut stuck = part(&self.stalemates[own], n, rows).to_vec();
            let spared = part(&self.spared[own], n, rows);
            stuck.iter_mut().zip(spared).for_each(|(stuck, spared)| *stuck |= spared);
            let plain = &plain[n * rows * 64..(n + 1) * rows * 64];
            let without = WithoutRight { plain, stuck: &stuck };
            with_exit_room(|room: &mut ExitRoom<C>| {
                dispatch::right_block(self.task(n, right.taker), right, &without, with, room);
            });
        });
        with
    }

    fn logs(&self, result: RunResult) -> &[Vec<Log>; 2] {
        match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        }
    }
}

/// The number of rows in the newest segments.
fn frontier(logs: &[Vec<Log>; 2]) -> usize {
    logs.iter().flatten().map(|log| log.frontier().len()).sum()
}

/// Whether a block of this side has anything to do after the frontiers of `logs` of the other side.
fn is_reached(context: &Context<'_>, n: usize, own: usize, logs: &[Vec<Log>; 2]) -> bool {
    let theirs = &logs[1 - own];
    theirs[n].frontier().len() > 0
        || context.blocks[n].neighbours[own]
            .iter()
            .any(|neighbour| theirs[neighbour.block as usize].frontier().len() > 0)
}

/// Does the work of a pass on all blocks, `share` of them at once: `block` is given a side, a number, its plane
/// and its log.
fn for_all_blocks(
    rows: usize,
    share: usize,
    planes: &mut [Vec<u64>; 2],
    logs: &mut [Vec<Log>; 2],
    block: impl Fn(Color, usize, &mut [u64], &mut Log) + Sync,
) {
    let parallel = share < logs[0].len();
    let one_side = |color: Color, plane: &mut Vec<u64>, logs: &mut Vec<Log>| {
        let blocks = plane.par_chunks_exact_mut(rows).zip(logs).with_min_len(share).enumerate();
        blocks.for_each(|(n, (plane, log))| block(color, n, plane, log));
    };
    let [white, black] = planes;
    let [white_logs, black_logs] = logs;
    if parallel {
        rayon::join(
            || one_side(Color::White, white, white_logs),
            || one_side(Color::Black, black, black_logs),
        );
    } else {
        one_side(Color::White, white, white_logs);
        one_side(Color::Black, black, black_logs);
    }
}

impl Passes for MemorySlice<'_> {
    fn ahead(&self) -> u16 {
        let last = |events: &ExitEvents| events.exit_wins.last().max(events.exit_losses.last());
        self.exit_events.iter().flatten().map(last).max().unwrap_or(0)
    }

    fn waiting(&self, result: RunResult) -> usize {
        frontier(self.logs(result))
    }

    fn decided(&self, result: RunResult) -> u64 {
        self.logs(result).iter().flatten().map(Log::positions).sum()
    }

    fn win(&mut self, moves: u16, due: bool) {
        let share = self.share(frontier(&self.losses), due);
        let MemorySlice { context, open, exit_events, wins, losses, must_capture, .. } = self;
        let (context, rows) = (*context, context.rows());
        for_all_blocks(rows, share, open, wins, |color, number, open, wins| {
            let own = side(color);
            let lost = losses[own][number].frontier();
            let events = &exit_events[own][number].exit_wins;
            let reached = is_reached(context, number, own, losses) || lost.len() > 0;
            if !reached && !events.has(moves) || context.is_stopped() {
                wins.begin();
                return;
            }
            let must_capture = part(&must_capture[own], number, rows);
            let task = BlockTask { context, number, color, must_capture };
            let losses = Frontiers::All(&losses[1 - own]);
            let from = WinSources { lost, losses, exit_wins: events.of(moves) };
            with_scratch(|scratch| dispatch::win_block(task, moves, &from, open, wins, scratch));
        });
    }

    fn lose(&mut self, moves: u16, due: bool) {
        let share = self.share(frontier(&self.wins), due);
        let MemorySlice { context, open, held, exit_events, wins, losses, must_capture, .. } = self;
        let (context, rows) = (*context, context.rows());
        for_all_blocks(rows, share, held, losses, |color, number, held, losses| {
            let own = side(color);
            let events = &exit_events[own][number].exit_losses;
            let reached = is_reached(context, number, own, wins) || events.has(moves);
            if !reached || context.is_stopped() {
                losses.begin();
                return;
            }
            let must_capture = part(&must_capture[own], number, rows);
            let task = BlockTask { context, number, color, must_capture };
            let from = LossSources {
                wins: Frontiers::All(&wins[1 - own]),
                exit_losses: events.of(moves),
                open: part(&open[own], number, rows),
                goal: Planes::All(&open[1 - own]),
            };
            with_scratch(|scratch| dispatch::loss_block(task, moves, &from, held, losses, scratch));
        });
    }

    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()> {
        for turn in [Color::White, Color::Black] {
            let own = side(turn);
            for (logs, won) in [(&self.wins[own], true), (&self.losses[own], false)] {
                // Wins without a move are there from the start.
                let passes = (*passes.start()).max(u16::from(won))..=*passes.end();
                for (block, log) in (0..).zip(logs) {
                    for (moves, positions) in
                        log.replay().filter(|(moves, _)| passes.contains(moves))
                    {
                        let (rows, masks) = (positions.rows(), positions.masks());
                        take(Decided { turn, won, moves, block, rows, masks })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, passes: &RangeInclusive<u16>) {
        let rows = self.context.rows();
        for own in 0..2 {
            for (open, log) in self.open[own].chunks_exact_mut(rows).zip(&mut self.losses[own]) {
                log.frontier().iter().for_each(|(row, mask)| open[row] &= !mask);
                log.begin();
            }
            self.wins[own].iter_mut().for_each(Log::begin);
            let planes = self.held[own].chunks_exact_mut(rows);
            for (held, exit_events) in planes.zip(&self.exit_events[own]) {
                for moves in *passes.start()..=exit_events.exit_losses.last().min(*passes.end()) {
                    let exit_losses = exit_events.exit_losses.of(moves);
                    exit_losses.iter().for_each(|(row, mask)| held[row] &= !mask);
                }
            }
        }
    }

    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool {
        let (rows, own) = (self.context.rows(), side(decided.turn));
        let logs = if decided.won { &mut self.wins } else { &mut self.losses };
        let n = decided.block as usize;
        let Some(log) = logs[own].get_mut(n).filter(|log| log.ends_before(decided.moves)) else {
            return false;
        };
        // The next win pass starts from the last losses and lets them leave.
        let newest = !decided.won && decided.moves == *passes.end();
        if !decide(&mut self.open[own][n * rows..(n + 1) * rows], decided, !newest) {
            return false;
        }
        log.begin();
        log.extend(decided.rows, decided.masks);
        if newest {
            log.finish(decided.moves, rows, dense_threshold(rows));
        } else {
            log.finish(decided.moves, rows, usize::MAX);
            log.begin();
        }
        true
    }
}

impl Blocks for MemorySlice<'_> {
    fn with(&self, n: usize, own: usize, f: &mut dyn FnMut(&BlockParts<'_>)) {
        let rows = self.context.rows();
        f(&BlockParts {
            open: &self.open[own][n * rows..(n + 1) * rows],
            stalemates: part(&self.stalemates[own], n, rows),
            lost: self.losses[own][n].frontier(),
            goal: Planes::All(&self.open[1 - own]),
            must_capture: part(&self.must_capture[own], n, rows),
        });
    }
}
