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
use hoffman_pages::{Page, PageFile, PagedCodes, Pages, Words};
use hoffman_space::{Code, CodeStore as _, EnPassantValues, SliceCounts, SliceValues};
use rayon::prelude::*;

use crate::context::{Block, Context, side};
use crate::dispatch;
use crate::exits;
use crate::log::{Events, Log, PositionSet};
use crate::passes::{Frontiers, Planes, dense_threshold};
use crate::proptable_slice::PropTableSlice;
use crate::slice_solver::{
    BlockParts, Passes, Problem, RunResult, begin, count, decide, deepest_capture, finished, run,
    with_exit_room, with_scratch,
};
use crate::table_solver::{Decided, Method, Monitor, SolveError, TakeDecided};

/// Bit planes of one side, a page a block.
pub(crate) struct Plane {
    file: PageFile,
    pages: Vec<Page>,
}

impl Plane {
    fn new(pages: &Arc<Pages>, rows: usize, blocks: usize) -> Plane {
        let file = pages.file();
        let pages = (0..blocks).map(|_| file.reserve(rows)).collect();
        Plane { file, pages }
    }

    pub(crate) fn read(&self, n: usize) -> Words {
        self.file.read(self.pages[n])
    }

    fn write(&self, n: usize, words: Vec<u64>) {
        self.file.write(self.pages[n], words);
    }

    /// Lets `f` change a block's part; `f` says whether it did.
    pub(crate) fn change(&self, n: usize, f: impl FnOnce(&mut [u64]) -> bool) {
        self.file.change(self.pages[n], f);
    }
}

/// Packs rows and masks into the words of a page.
pub(crate) fn pack(positions: PositionSet<'_>) -> Vec<u64> {
    let len = positions.len();
    let mut words = vec![0; 1 + len + len.div_ceil(2)];
    words[0] = len as u64;
    words[1..=len].copy_from_slice(positions.masks());
    let rows: &mut [u32] = bytemuck::cast_slice_mut(&mut words[1 + len..]);
    rows[..len].copy_from_slice(positions.rows());
    words
}

/// The rows and masks in a page.
pub(crate) fn unpack(words: &[u64]) -> PositionSet<'_> {
    let Some((&len, rest)) = words.split_first() else { return PositionSet::default() };
    // A page that could not be read is zeros.
    let (masks, rows) = rest.split_at((len as usize).min(rest.len()));
    let rows: &[u32] = bytemuck::cast_slice(rows);
    PositionSet::new(&rows[..masks.len().min(rows.len())], masks, None)
}

/// What the passes decided, by blocks.
pub(crate) struct PagedLog {
    lists: PageFile,
    pub(crate) planes: PageFile,
    /// Number of moves and page of every segment of a block.
    segments: Vec<Vec<(u16, Page)>>,
    pub(crate) newest: Vec<Option<Segment>>,
}

/// The newest segment of a block.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    list: Page,
    /// The same as a plane, if it is long.
    plane: Option<Page>,
    rows: usize,
    positions: u64,
}

impl PagedLog {
    fn new(pages: &Arc<Pages>, blocks: usize) -> PagedLog {
        PagedLog {
            lists: pages.file(),
            planes: pages.file(),
            segments: vec![Vec::new(); blocks],
            newest: vec![None; blocks],
        }
    }

    /// Puts down what a pass decided in a block.
    pub(crate) fn put(&self, log: &Log) -> Option<Segment> {
        let frontier = log.frontier();
        (frontier.len() > 0).then(|| Segment {
            list: self.lists.append(pack(frontier)),
            plane: frontier.plane().map(|plane| self.planes.append(plane.to_vec())),
            rows: frontier.len(),
            positions: frontier.positions(),
        })
    }

    /// Closes a pass.
    pub(crate) fn accept(&mut self, moves: u16, newest: Vec<Option<Segment>>) {
        for (segments, newest) in self.segments.iter_mut().zip(&newest) {
            segments.extend(newest.map(|newest| (moves, newest.list)));
        }
        self.newest = newest;
    }

    /// The number of rows that the newest pass decided.
    fn waiting(&self) -> usize {
        self.newest.iter().flatten().map(|newest| newest.rows).sum()
    }

    /// The number of positions that it decided.
    fn decided(&self) -> u64 {
        self.newest.iter().flatten().map(|newest| newest.positions).sum()
    }

    /// Whether it decided anything in a block or where this side's men can go from there.
    fn reaches(&self, block: &Block, n: usize, own: usize) -> bool {
        let mut around =
            std::iter::once(n).chain(block.neighbours[own].iter().map(|n| n.block as usize));
        around.any(|n| self.newest[n].is_some())
    }

    pub(crate) fn list(&self, n: usize) -> Option<Words> {
        self.newest[n].map(|newest| self.lists.read(newest.list))
    }

    pub(crate) fn loaded(&self, n: usize) -> LoadedSet {
        match self.newest[n] {
            Some(Segment { plane: Some(plane), .. }) => LoadedSet::Plane(self.planes.read(plane)),
            Some(Segment { list, .. }) => LoadedSet::List(self.lists.read(list)),
            None => LoadedSet::Nothing,
        }
    }

    /// The frontiers in a block and around it.
    fn around(&self, block: &Block, n: usize, own: usize) -> (LoadedSet, Vec<LoadedSet>) {
        let around = block.neighbours[own].iter().map(|n| self.loaded(n.block as usize));
        (self.loaded(n), around.collect())
    }
}

/// A frontier in memory.
pub(crate) enum LoadedSet {
    Nothing,
    List(Words),
    Plane(Words),
}

impl LoadedSet {
    pub(crate) fn frontier(&self) -> PositionSet<'_> {
        match self {
            LoadedSet::Nothing => PositionSet::default(),
            LoadedSet::List(words) => unpack(words),
            LoadedSet::Plane(words) => PositionSet::new(&[], &[], Some(words)),
        }
    }
}

/// Pages by the number of moves after which they fall due.
type EventPages = Vec<(u16, Page)>;

/// What the exits sort_exits, by blocks.
pub(crate) struct PagedEvents {
    file: PageFile,
    pages: Vec<EventPages>,
}

impl PagedEvents {
    fn new(pages: &Arc<Pages>) -> PagedEvents {
        PagedEvents { file: pages.file(), pages: Vec::new() }
    }

    fn put(&self, events: &Events) -> EventPages {
        (0..=events.last())
            .filter(|&moves| events.has(moves))
            .map(|moves| (moves, self.file.append(pack(events.of(moves)))))
            .collect()
    }

    pub(crate) fn has(&self, n: usize, moves: u16) -> bool {
        self.pages[n].iter().any(|&(m, _)| m == moves)
    }

    pub(crate) fn of(&self, n: usize, moves: u16) -> Option<Words> {
        let page = self.pages[n].iter().find(|&&(m, _)| m == moves);
        page.map(|&(_, page)| self.file.read(page))
    }

    fn last(&self) -> u16 {
        self.pages.iter().flatten().map(|&(m, _)| m).max().unwrap_or(0)
    }

    /// Adds positions of a block that fall due after one move.
    fn add(&mut self, n: usize, positions: &[u64]) {
        let old = self.of(n, 1);
        let known = old.iter().flat_map(|words| unpack(words).iter());
        let marked = positions.iter().copied().enumerate().filter(|&(_, mask)| mask != 0);
        let (rows, masks): (Vec<u32>, Vec<u64>) =
            known.chain(marked).map(|(row, mask)| (row as u32, mask)).unzip();
        if !rows.is_empty() {
            let page = self.file.append(pack(PositionSet::new(&rows, &masks, None)));
            self.pages[n].retain(|&(m, _)| m != 1);
            self.pages[n].push((1, page));
        }
    }
}

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
        let exits = &problem.exits[own];
        let exit_events = with_exit_room(|best: &mut Vec<C>, buffer, sorting| {
            dispatch::exit_block::<C>(
                context,
                block,
                color,
                exits,
                &open,
                &mut held,
                &mut must_capture,
                best,
                buffer,
                sorting,
            )
        });
        self.open[own].write(n, open);
        self.held[own].write(n, held);
        if let Some(planes) = &self.must_capture {
            planes[own].write(n, must_capture);
        }
        (
            self.exit_wins[own].put(&exit_events.exit_wins),
            self.exit_losses[own].put(&exit_events.exit_losses),
        )
    }

    /// The mates of a block.
    fn mate<C: Code>(&self, problem: &Problem<'_>, n: usize, color: Color) -> Option<Segment> {
        let (context, own) = (self.context, side(color));
        let rows = context.rows();
        if context.blocks[n].empty || context.is_stopped() {
            return None;
        }
        let mine = self.open[own].read(n);
        let must_capture = self.must_capture_in(own, n);
        let around = self.goal(n, own);
        let must_capture = must_capture.as_deref().map_or(&[][..], Vec::as_slice);
        let mut spared = Vec::new();
        if self.spared.is_some() {
            spared = with_exit_room(|best: &mut Vec<C>, buffer, _| {
                let (block, exits) = (&context.blocks[n], &problem.exits[own]);
                exits::spared(context, block, color, exits, must_capture, best, buffer)
            });
        }
        let mut log = Log::default();
        let mut stalemates = vec![0; rows];
        self.held[own].change(n, |held| {
            with_scratch(|scratch| {
                dispatch::mate_block(
                    context,
                    n,
                    color,
                    &mine,
                    around.planes(&around.refs()),
                    held,
                    must_capture,
                    &mut spared,
                    &mut stalemates,
                    &mut log,
                    scratch,
                );
            });
            stalemates.iter().chain(&spared).any(|&w| w != 0)
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
        let lost = lost.as_deref().map_or_else(PositionSet::default, |words| unpack(words));
        let exit_wins = self.exit_wins[own].of(n, moves);
        let exit_wins =
            exit_wins.as_deref().map_or_else(PositionSet::default, |words| unpack(words));
        let must_capture = self.must_capture_in(own, n);
        let (here, neighbours) = theirs.around(block, n, own);
        let neighbours: Vec<PositionSet<'_>> = neighbours.iter().map(LoadedSet::frontier).collect();
        let theirs = Frontiers::Near { here: here.frontier(), neighbours: &neighbours };
        let mut log = Log::default();
        self.open[own].change(n, |open| {
            with_scratch(|scratch| {
                dispatch::win_block(
                    context,
                    n,
                    color,
                    moves,
                    lost,
                    theirs,
                    exit_wins,
                    must_capture.as_deref().map_or(&[], Vec::as_slice),
                    open,
                    &mut log,
                    scratch,
                );
            });
            lost.len() > 0 || log.frontier().len() > 0
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
        let exit_losses = self.exit_losses[own].of(n, moves);
        let exit_losses =
            exit_losses.as_deref().map_or_else(PositionSet::default, |words| unpack(words));
        let must_capture = self.must_capture_in(own, n);
        let (here, neighbours) = theirs.around(block, n, own);
        let neighbours: Vec<PositionSet<'_>> = neighbours.iter().map(LoadedSet::frontier).collect();
        let theirs = Frontiers::Near { here: here.frontier(), neighbours: &neighbours };
        let mine = self.open[own].read(n);
        let around = self.goal(n, own);
        let mut log = Log::default();
        self.held[own].change(n, |held| {
            with_scratch(|scratch| {
                dispatch::loss_block(
                    context,
                    n,
                    color,
                    moves,
                    theirs,
                    exit_losses,
                    must_capture.as_deref().map_or(&[], Vec::as_slice),
                    &mine,
                    around.planes(&around.refs()),
                    held,
                    &mut log,
                    scratch,
                );
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

impl crate::slice_solver::Blocks for PagedSlice<'_> {
    fn with(&self, n: usize, own: usize, f: &mut dyn FnMut(&BlockParts<'_>)) {
        let around = self.goal(n, own);
        let lost = self.losses[own].list(n);
        let must_capture = self.must_capture_in(own, n);
        f(&BlockParts {
            open: &self.open[own].read(n),
            stalemates: &self.stalemates[own].read(n),
            lost: lost.as_deref().map_or_else(PositionSet::default, |words| unpack(words)),
            goal: around.planes(&around.refs()),
            must_capture: must_capture.as_deref().map_or(&[], Vec::as_slice),
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
        let codes = [(); 2].map(|()| PagedCodes::new::<C>(pages, len));
        let usable: Vec<_> = problem.rights.iter().filter(|r| r.is_usable(context)).collect();
        let rights: Vec<PagedCodes> =
            usable.iter().map(|_| PagedCodes::new::<C>(pages, len)).collect();
        (0..blocks).into_par_iter().filter(|_| !context.is_stopped()).for_each(|n| {
            let put = |store: &PagedCodes, block: &mut [C]| {
                store.write(n * rows * 64 * size_of::<C>(), C::as_bytes_of(block));
            };
            for color in [Color::White, Color::Black] {
                let own = side(color);
                let mut plain = vec![C::ILLEGAL; rows * 64];
                self.write_block(n, own, &mut plain);
                put(&codes[own], &mut plain);
                for (right, store) in usable.iter().zip(&rights) {
                    if right.taker != color {
                        continue;
                    }
                    let mut stuck = self.stalemates[own].read(n).to_vec();
                    if let Some(planes) = &self.spared {
                        let spared = planes[own].read(n);
                        stuck.iter_mut().zip(spared.iter()).for_each(|(stuck, s)| *stuck |= s);
                    }
                    let must_capture = self.must_capture.as_ref().map(|planes| planes[own].read(n));
                    let mut with = vec![C::ILLEGAL; rows * 64];
                    with_exit_room(|_: &mut Vec<C>, buffer, _| {
                        dispatch::right_block(
                            context,
                            n,
                            right,
                            &plain,
                            &stuck,
                            must_capture.as_deref().map_or(&[], Vec::as_slice),
                            &mut with,
                            buffer,
                        );
                    });
                    put(store, &mut with);
                }
            }
        });
        let en_passant = usable
            .iter()
            .zip(rights)
            .map(|(right, codes)| EnPassantValues {
                square: right.square,
                codes: codes.into_codes::<C>(len),
            })
            .collect();
        let targets = usable.iter().flat_map(|right| &right.captures).map(|t| t.max_moves() + 1);
        SliceValues {
            codes: codes.map(|codes| codes.into_codes::<C>(len)),
            en_passant,
            counts,
            max_moves: targets.fold(moves, u16::max),
        }
    }

    fn write_block<C: Code>(&self, n: usize, own: usize, codes: &mut [C]) {
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
