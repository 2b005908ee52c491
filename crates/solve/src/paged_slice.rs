//! Solving a slice that is larger than the memory it may take.
//!
//! The work on a block needs its planes, those of its neighbours and what the pass before decided
//! there, and nothing else. So everything lies in pages, one a block, and a pass sweeps over the blocks
//! in order: kings that stand near each other have numbers near each other, and what one block reads
//! the next ones find in memory. Logs are only ever added to; the values are written block by block at
//! the end. The kernels are those of a slice in memory.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hoffman_board::Color;
use hoffman_pages::{PagedCodes, Pages, Words};
use hoffman_space::{Code, CodeStore as _, EnPassantValues, SliceCounts, SliceValues};
use rayon::prelude::*;

use crate::context::{Context, side};
use crate::counting::{BlockParts, Blocks, count};
use crate::dispatch;
use crate::exits::{ExitRoom, Right};
use crate::log::{Log, PositionSet};
use crate::monitor::{Decided, Monitor, TakeDecided};
use crate::options::{Method, SolveError};
use crate::paged_sets::{
    EventPages, LoadedSet, PagedEvents, PagedLog, Plane, Segment, unpack, unpack_list, words_of,
};
use crate::pass_loop::{Passes, RunResult, begin, decide, run};
use crate::passes::{
    BlockTask, Frontiers, LossSources, MatePlanes, Planes, WinSources, dense_threshold,
};
use crate::problem::{Problem, deepest_capture};
use crate::proptable_slice::PropTableSlice;
use crate::slice_solver::finished;
use crate::threads::{with_exit_room, with_scratch};
use crate::valuation::{ExitPlanes, WithoutRight, spared_block};

/// A slice being solved in pages.
pub(crate) struct PagedSlice<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) open: [Plane; 2],
    pub(crate) held: [Plane; 2],
    stalemates: [Plane; 2],
    /// The positions in which something must be taken, in suicide chess.
    must_capture: Option<[Plane; 2]>,
    /// The positions in which nothing can be played but discarded moves that spare them mate and
    /// stalemate, if there are such moves.
    spared: Option<[Plane; 2]>,
    pub(crate) exit_wins: [PagedEvents; 2],
    pub(crate) exit_losses: [PagedEvents; 2],
    pub(crate) wins: [PagedLog; 2],
    pub(crate) losses: [PagedLog; 2],
}

/// Solves a slice with codes `C` for the values behind the exits.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub(crate) fn solve<C: Code>(
    problem: &Problem<'_>,
    pages: &Arc<Pages>,
    method: Method,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = &problem.context;
    let mut counts = None;
    let mut start = || {
        let mut slice = PagedSlice::start::<C>(problem, pages);
        counts = problem.count.then(|| count::<C>(problem, &slice));
        if let Some(winner) = problem.stalemates {
            slice.concede_stalemates(winner);
        }
        if context.suicide() {
            slice.win_stalemates();
        }
        slice
    };
    let (slice, moves) = match method {
        Method::Sweep => {
            let mut reached = begin(context, monitor, start);
            let moves = run(context, &mut reached, monitor)?;
            (reached.slice, moves)
        }
        Method::PropTables { compress } => {
            let start = || PropTableSlice::new(start(), pages, compress);
            let mut reached = begin(context, monitor, start);
            let moves = run(context, &mut reached, monitor)?;
            (reached.slice.into_slice(), moves)
        }
    };
    let PagedSlice { open, stalemates, must_capture, spared, wins, losses, .. } = slice;
    let result = FinishedSlice { open, stalemates, must_capture, spared, wins, losses };
    let narrow = moves <= u8::MAX_MOVES && deepest_capture(problem) < u8::MAX_MOVES;
    let values = if narrow {
        result.write::<u8>(problem, pages, moves, counts)
    } else {
        result.write::<u16>(problem, pages, moves, counts)
    };
    finished(context, values)
}

impl<'a> PagedSlice<'a> {
    /// Legal positions, exits, mates and stalemates.
    fn start<C: Code>(problem: &'a Problem<'a>, pages: &Arc<Pages>) -> PagedSlice<'a> {
        let context = &problem.context;
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let both = |f: &dyn Fn() -> Plane| [f(), f()];
        let plane = || Plane::new(pages, rows, blocks);
        let chronicles = || [PagedLog::new(pages, blocks), PagedLog::new(pages, blocks)];
        let calendars = || [PagedEvents::new(pages), PagedEvents::new(pages)];
        let mut slice = PagedSlice {
            context,
            open: both(&plane),
            held: both(&plane),
            stalemates: both(&plane),
            must_capture: context.suicide().then(|| both(&plane)),
            spared: problem
                .exits
                .iter()
                .flatten()
                .any(|exit| exit.target.may_spare())
                .then(|| both(&plane)),
            exit_wins: calendars(),
            exit_losses: calendars(),
            wins: chronicles(),
            losses: chronicles(),
        };
        for color in [Color::White, Color::Black] {
            let own = side(color);
            let events: Vec<_> = (0..blocks)
                .into_par_iter()
                .with_max_len(1)
                .map(|n| slice.leave::<C>(problem, n, color))
                .collect();
            (slice.exit_wins[own].pages, slice.exit_losses[own].pages) = events.into_iter().unzip();
        }
        for color in [Color::White, Color::Black] {
            let mates =
                (0..blocks).into_par_iter().map(|n| slice.mate::<C>(problem, n, color)).collect();
            slice.losses[side(color)].accept(0, mates);
        }
        slice
    }

    /// The legal positions of a block and what its exits decide: exit wins and exit losses.
    fn leave<C: Code>(
        &self,
        problem: &Problem<'_>,
        n: usize,
        color: Color,
    ) -> (EventPages, EventPages) {
        let (context, own) = (self.context, side(color));
        let (block, rows) = (&context.blocks[n], context.rows());
        if context.is_stopped() {
            return Default::default();
        }
        let mut open = vec![0; rows];
        dispatch::legal_block(context, block, color, &mut open);
        let mut held = vec![0; rows];
        let mut must_capture = vec![0; if self.must_capture.is_some() { rows } else { 0 }];
        let task = BlockTask { context, number: n, color, must_capture: &[] };
        let planes = ExitPlanes { held: &mut held, must_capture: &mut must_capture };
        let events = with_exit_room(|room: &mut ExitRoom<C>| {
            dispatch::exit_block::<C>(task, &problem.exits[own], &open, planes, room)
        });
        self.open[own].write(n, open);
        self.held[own].write(n, held);
        if let Some(planes) = &self.must_capture {
            planes[own].write(n, must_capture);
        }
        (self.exit_wins[own].put(&events.exit_wins), self.exit_losses[own].put(&events.exit_losses))
    }

    /// The mates of a block.
    fn mate<C: Code>(&self, problem: &Problem<'_>, n: usize, color: Color) -> Option<Segment> {
        let (context, own) = (self.context, side(color));
        let rows = context.rows();
        if context.blocks[n].empty || context.is_stopped() {
            return None;
        }
        let must_capture = self.must_capture_in(own, n);
        let must_capture = words_of(must_capture.as_ref());
        let task = BlockTask { context, number: n, color, must_capture };
        let mut spared = Vec::new();
        if self.spared.is_some() {
            let exits = &problem.exits[own];
            spared = with_exit_room(|room: &mut ExitRoom<C>| spared_block(task, exits, room));
        }

        let (mine, around) = (self.open[own].read(n), self.goal(n, own));
        let mut log = Log::default();
        let mut stalemates = vec![0; rows];
        self.held[own].change(n, |held| {
            let (spared, stalemates) = (&mut spared[..], &mut stalemates[..]);
            let planes = MatePlanes { held, spared, stalemates };
            let refs = around.refs();
            with_scratch(|scratch| {
                let goal = around.planes(&refs);
                dispatch::mate_block(task, &mine, goal, planes, &mut log, scratch);
            });
            stalemates.iter().chain(&*spared).any(|&w| w != 0)
        });

        if let Some(planes) = &self.spared {
            planes[own].write(n, spared);
        }
        if stalemates.iter().any(|&w| w != 0) {
            self.stalemates[own].write(n, stalemates);
        }
        self.losses[own].put(&log)
    }

    pub(crate) fn must_capture_in(&self, own: usize, n: usize) -> Option<Words> {
        self.must_capture.as_ref().map(|planes| planes[own].read(n))
    }

    /// The other side's open positions in a block and where this side's men can go from there.
    fn goal(&self, n: usize, own: usize) -> Around {
        let goal = &self.open[1 - own];
        let neighbours = self.context.blocks[n].neighbours[own].iter();
        Around {
            here: goal.read(n),
            neighbours: neighbours.map(|n| goal.read(n.block as usize)).collect(),
        }
    }

    /// Gives stalemates to `winner`.
    fn concede_stalemates(&mut self, winner: Color) {
        for color in [Color::White, Color::Black] {
            let own = side(color);
            let calendar =
                if color == winner { &mut self.exit_wins } else { &mut self.exit_losses };
            for n in 0..self.context.blocks.len() {
                calendar[own].add(n, &self.stalemates[own].read(n));
            }
        }
    }

    /// In suicide chess whoever cannot move has won.
    fn win_stalemates(&mut self) {
        let rows = self.context.rows();
        for own in 0..2 {
            let win = |n: usize| {
                let stalemates = self.stalemates[own].read(n);
                let mut log = Log::default();
                log.begin();
                for (row, &mask) in stalemates.iter().enumerate().filter(|&(_, &mask)| mask != 0) {
                    log.push(row, mask);
                }
                log.finish(0, rows, dense_threshold(rows));
                let won = self.wins[own].put(&log);
                if won.is_some() {
                    self.open[own].change(n, |open| {
                        open.iter_mut().zip(stalemates.iter()).for_each(|(o, s)| *o &= !s);
                        true
                    });
                }
                won
            };
            let won = (0..self.context.blocks.len()).map(win).collect();
            self.wins[own].accept(0, won);
        }
    }

    fn win_block(&self, n: usize, color: Color, moves: u16) -> Option<Segment> {
        let (context, own) = (self.context, side(color));
        let block = &context.blocks[n];
        let (lost, theirs) = (self.losses[own].list(n), &self.losses[1 - own]);
        let reached = lost.is_some() || theirs.reaches(block, n, own);
        if !reached && !self.exit_wins[own].has(n, moves) || context.is_stopped() {
            return None;
        }

        let must_capture = self.must_capture_in(own, n);
        let must_capture = words_of(must_capture.as_ref());
        let task = BlockTask { context, number: n, color, must_capture };
        let exit_wins = self.exit_wins[own].of(n, moves);
        let (here, neighbours) = theirs.around(block, n, own);
        let neighbours: Vec<PositionSet<'_>> = neighbours.iter().map(LoadedSet::frontier).collect();
        let from = WinSources {
            lost: unpack_list(lost.as_ref()),
            losses: Frontiers::Near { here: here.frontier(), neighbours: &neighbours },
            exit_wins: unpack_list(exit_wins.as_ref()),
        };

        let mut log = Log::default();
        self.open[own].change(n, |open| {
            with_scratch(|scratch| {
                dispatch::win_block(task, moves, &from, open, &mut log, scratch);
            });
            from.lost.len() > 0 || log.frontier().len() > 0
        });
        self.wins[own].put(&log)
    }

    fn loss_block(&self, n: usize, color: Color, moves: u16) -> Option<Segment> {
        let (context, own) = (self.context, side(color));
        let block = &context.blocks[n];
        let theirs = &self.wins[1 - own];
        let due = self.exit_losses[own].has(n, moves);
        if !theirs.reaches(block, n, own) && !due || context.is_stopped() {
            return None;
        }

        let must_capture = self.must_capture_in(own, n);
        let must_capture = words_of(must_capture.as_ref());
        let task = BlockTask { context, number: n, color, must_capture };
        let exit_losses = self.exit_losses[own].of(n, moves);
        let (here, neighbours) = theirs.around(block, n, own);
        let neighbours: Vec<PositionSet<'_>> = neighbours.iter().map(LoadedSet::frontier).collect();
        let (mine, around) = (self.open[own].read(n), self.goal(n, own));
        let refs = around.refs();
        let from = LossSources {
            wins: Frontiers::Near { here: here.frontier(), neighbours: &neighbours },
            exit_losses: unpack_list(exit_losses.as_ref()),
            open: &mine,
            goal: around.planes(&refs),
        };

        let mut log = Log::default();
        self.held[own].change(n, |held| {
            with_scratch(|scratch| {
                dispatch::loss_block(task, moves, &from, held, &mut log, scratch);
            });
            due
        });
        self.losses[own].put(&log)
    }

    /// What `f` finds in every block, both sides of a block one after the other.
    fn sweep(
        &self,
        f: impl Fn(usize, Color) -> Option<Segment> + Sync,
    ) -> (Vec<Option<Segment>>, Vec<Option<Segment>>) {
        (0..self.context.blocks.len())
            .into_par_iter()
            .map(|n| (f(n, Color::White), f(n, Color::Black)))
            .unzip()
    }
}

/// Planes of a block and its neighbours.
struct Around {
    here: Words,
    neighbours: Vec<Words>,
}

impl Around {
    fn refs(&self) -> Vec<&[u64]> {
        self.neighbours.iter().map(|words| words.as_slice()).collect()
    }

    fn planes<'s>(&'s self, neighbours: &'s [&'s [u64]]) -> Planes<'s> {
        Planes::Near { here: &self.here, neighbours }
    }
}

impl Passes for PagedSlice<'_> {
    fn ahead(&self) -> u16 {
        self.exit_wins.iter().chain(&self.exit_losses).map(PagedEvents::last).max().unwrap_or(0)
    }

    fn waiting(&self, result: RunResult) -> usize {
        let logs = match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        };
        logs.iter().map(PagedLog::waiting).sum()
    }

    fn decided(&self, result: RunResult) -> u64 {
        let logs = match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        };
        logs.iter().map(PagedLog::decided).sum()
    }

    fn win(&mut self, moves: u16, _due: bool) {
        self.wins.iter().for_each(|log| log.planes.clear());
        let (white, black) = self.sweep(|n, color| self.win_block(n, color, moves));
        self.wins[0].accept(moves, white);
        self.wins[1].accept(moves, black);
    }

    fn lose(&mut self, moves: u16, _due: bool) {
        self.losses.iter().for_each(|log| log.planes.clear());
        let (white, black) = self.sweep(|n, color| self.loss_block(n, color, moves));
        self.losses[0].accept(moves, white);
        self.losses[1].accept(moves, black);
    }

    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()> {
        for turn in [Color::White, Color::Black] {
            let own = side(turn);
            for (log, won) in [(&self.wins[own], true), (&self.losses[own], false)] {
                // Wins without a move are there from the start.
                let passes = (*passes.start()).max(u16::from(won))..=*passes.end();
                for (block, segments) in (0..).zip(&log.segments) {
                    for &(moves, page) in
                        segments.iter().filter(|(moves, _)| passes.contains(moves))
                    {
                        let words = log.lists.read(page);
                        let positions = unpack(&words);
                        let (rows, masks) = (positions.rows(), positions.masks());
                        take(Decided { turn, won, moves, block, rows, masks })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, passes: &RangeInclusive<u16>) {
        for own in 0..2 {
            for n in 0..self.context.blocks.len() {
                if let Some(mates) = self.losses[own].list(n) {
                    self.open[own].change(n, |open| {
                        unpack(&mates).iter().for_each(|(row, mask)| open[row] &= !mask);
                        true
                    });
                }
                for &(moves, page) in &self.exit_losses[own].pages[n] {
                    if passes.contains(&moves) {
                        let exit_losses = self.exit_losses[own].file.read(page);
                        self.held[own].change(n, |held| {
                            unpack(&exit_losses).iter().for_each(|(row, mask)| held[row] &= !mask);
                            true
                        });
                    }
                }
            }
            self.wins[own].newest.fill(None);
            self.losses[own].newest.fill(None);
        }
    }

    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool {
        let (rows, own, n) = (self.context.rows(), side(decided.turn), decided.block as usize);
        let chronicles = if decided.won { &mut self.wins } else { &mut self.losses };
        let chronicle = &mut chronicles[own];
        let moves = decided.moves;
        let segments = chronicle.segments.get(n);
        if segments.is_none_or(|s| s.last().is_some_and(|&(last, _)| last >= moves)) {
            return false;
        }
        // The next win pass starts from the last losses and lets them leave.
        let newest = !decided.won && moves == *passes.end();
        let mut fits = false;
        self.open[own].change(n, |open| {
            fits = decide(open, decided, !newest);
            fits && !newest
        });
        if !fits {
            return false;
        }
        let mut log = Log::default();
        log.extend(decided.rows, decided.masks);
        log.finish(moves, rows, if newest { dense_threshold(rows) } else { usize::MAX });
        let put = chronicle.put(&log);
        chronicle.segments[n].extend(put.map(|put| (moves, put.list)));
        if newest {
            chronicle.newest[n] = put;
        }
        true
    }
}

impl Blocks for PagedSlice<'_> {
    fn with(&self, n: usize, own: usize, f: &mut dyn FnMut(&BlockParts<'_>)) {
        let around = self.goal(n, own);
        let lost = self.losses[own].list(n);
        let must_capture = self.must_capture_in(own, n);
        f(&BlockParts {
            open: &self.open[own].read(n),
            stalemates: &self.stalemates[own].read(n),
            lost: unpack_list(lost.as_ref()),
            goal: around.planes(&around.refs()),
            must_capture: words_of(must_capture.as_ref()),
        });
    }
}

/// What is needed to write the values down.
struct FinishedSlice {
    open: [Plane; 2],
    stalemates: [Plane; 2],
    must_capture: Option<[Plane; 2]>,
    spared: Option<[Plane; 2]>,
    wins: [PagedLog; 2],
    losses: [PagedLog; 2],
}

impl FinishedSlice {
    fn write<C: Code>(
        &self,
        problem: &Problem<'_>,
        pages: &Arc<Pages>,
        moves: u16,
        counts: Option<SliceCounts>,
    ) -> SliceValues {
        let context = &problem.context;
        let (rows, blocks) = (context.rows(), context.blocks.len());
        let len = rows * 64 * blocks;
        let store = || PagedCodes::new::<C>(pages, len);
        let usable = problem.rights.iter().filter(|right| right.is_usable(context));
        let rights: Vec<_> = usable.map(|right| (right, store())).collect();
        let codes = [store(), store()];
        (0..blocks).into_par_iter().filter(|_| !context.is_stopped()).for_each(|n| {
            for color in Color::ALL {
                let rights = rights.iter().filter(|(right, _)| right.taker == color);
                self.write_block::<C>(context, (n, color), &codes[side(color)], rights);
            }
        });

        // A capture can hold out longer, or win later, than anything in the slice.
        let deepest = rights.iter().flat_map(|(right, _)| &right.captures);
        let max_moves = deepest.map(|target| target.max_moves() + 1).fold(moves, u16::max);
        let en_passant = rights.into_iter().map(|(right, codes)| EnPassantValues {
            square: right.square,
            codes: codes.into_codes::<C>(len),
        });
        SliceValues {
            en_passant: en_passant.collect(),
            codes: codes.map(|codes| codes.into_codes::<C>(len)),
            counts,
            max_moves,
        }
    }

    /// Writes one side's codes of a block, without and with each en passant right.
    fn write_block<'r, 'p: 'r, C: Code>(
        &self,
        context: &Context<'_>,
        (number, color): (usize, Color),
        codes: &PagedCodes,
        rights: impl Iterator<Item = &'r (&'r Right<'p>, PagedCodes)>,
    ) {
        let (own, len) = (side(color), context.rows() * 64);
        let put = |store: &PagedCodes, block: &mut [C]| {
            store.write(number * len * size_of::<C>(), C::as_bytes_of(block));
        };
        let mut plain = vec![C::ILLEGAL; len];
        self.decode_block(number, own, &mut plain);
        put(codes, &mut plain);

        for (right, store) in rights {
            let mut stuck = self.stalemates[own].read(number).to_vec();
            if let Some(planes) = &self.spared {
                let spared = planes[own].read(number);
                stuck.iter_mut().zip(spared.iter()).for_each(|(stuck, s)| *stuck |= s);
            }
            let must_capture = self.must_capture.as_ref().map(|planes| planes[own].read(number));
            let must_capture = words_of(must_capture.as_ref());
            let task = BlockTask { context, number, color, must_capture };
            let without = WithoutRight { plain: &plain, stuck: &stuck };
            let mut with = vec![C::ILLEGAL; len];
            with_exit_room(|room: &mut ExitRoom<C>| {
                dispatch::right_block(task, right, &without, &mut with, room);
            });
            put(store, &mut with);
        }
    }

    /// One side's codes of a block, from what the passes decided.
    fn decode_block<C: Code>(&self, n: usize, own: usize, codes: &mut [C]) {
        dispatch::write_block::<C>(&self.open[own].read(n), &[], codes);
        let mut put = |log: &PagedLog, code: fn(u16) -> C| {
            for &(moves, page) in &log.segments[n] {
                let words = log.lists.read(page);
                dispatch::write_block::<C>(&[], &[(code(moves), unpack(&words))], codes);
            }
        };
        put(&self.wins[own], C::win);
        put(&self.losses[own], C::loss);
    }
}
