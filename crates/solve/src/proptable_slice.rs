//! Solving a slice that is larger than its memory through propagation tables.
//!
//! Only the outer men leave a block. So a pass needs one block in memory at a time, where a
//! [`PagedStore`] needs those around it as well; what crosses from block to block is an
//! [`Update`], a row and a mask, and all updates of a pass are sorted by a [`PropTable`] before
//! they are read. Every step sweeps once over the blocks in order:
//!
//! - *win pass*: what was just lost sends its predecessors to their blocks; there they are won if
//!   they are open, together with the predecessors within the block.
//! - *loss pass*: what was just won sends its predecessors likewise. Those that cannot escape
//!   within their block ask the neighbours whether they can escape there: the positions behind
//!   their outer men's moves are sent as questions, those of them that are open send their
//!   predecessors back as answers, and those that get none are lost.
//!
//! The start, the logs and the values are those of any [`Slice`], and the kernels are the same:
//! they are told of blocks that no man leaves.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hoffman_board::{ByColor, Color};
use hoffman_pages::{Page, PageFile, Pages, PropTable, Sender, Update, Updates};
use rayon::prelude::*;

use crate::context::Context;
use crate::dispatch;
use crate::monitor::{Decided, TakeDecided};
use crate::nearby::{Frontiers, LoadedSet, Planes, pack};
use crate::paged_store::{Newest, PagedLogs, PagedStore};
use crate::pass_loop::{Passes, RunResult};
use crate::passes::{BlockTask, LossSources, WinSources};
use crate::sets::{Log, PositionSet};
use crate::slice::Slice;
use crate::store::{EventStore as _, LogStore as _, PlaneStore as _};
use crate::threads::with_scratch;

/// Updates of how many blocks are in memory for a thread.
const BLOCKS: usize = 4;

/// Bytes of memory for the updates that a row can cause.
const ROOM: usize = 1024;

/// A slice being solved through propagation tables.
pub(crate) struct PropTableSlice<'a> {
    slice: Slice<'a, PagedStore<'a>>,
    pages: Arc<Pages>,
    compress: bool,
    /// The slice as the kernels are to see it.
    isolated: Context<'a>,
    /// `arrivals[color][n]`: the blocks from which this side's outer men come to a block, and as
    /// which of their neighbours.
    arrivals: ByColor<Vec<Vec<(u32, u32)>>>,
    /// The rows of a loss pass that ask their neighbours.
    asking: PageFile,
}

impl<'a> PropTableSlice<'a> {
    /// A slice whose mates are known.
    pub(crate) fn new(
        slice: Slice<'a, PagedStore<'a>>,
        pages: &Arc<Pages>,
        compress: bool,
    ) -> PropTableSlice<'a> {
        let context = slice.context;
        let arrivals = ByColor::new_with(|color| {
            let mut arrivals = vec![Vec::new(); context.blocks.len()];
            for (n, block) in context.blocks.iter().enumerate() {
                for (i, neighbour) in block.neighbours[color].iter().enumerate() {
                    arrivals[neighbour.block as usize].push((n as u32, i as u32));
                }
            }
            arrivals
        });
        let isolated = context.isolated();
        PropTableSlice {
            slice,
            pages: pages.clone(),
            compress,
            isolated,
            arrivals,
            asking: pages.file(),
        }
    }

    pub(crate) fn into_slice(self) -> Slice<'a, PagedStore<'a>> {
        self.slice
    }

    /// The number of the first row of a block's side among all rows, as they follow each other in
    /// a sweep.
    fn first_row(&self, n: usize, color: Color) -> u64 {
        (2 * n + color.fold_wb(0, 1)) as u64 * self.slice.context.rows() as u64
    }

    /// The work on a block that no man leaves.
    fn task<'t>(&'t self, number: usize, color: Color, must_capture: &'t [u64]) -> BlockTask<'t> {
        BlockTask { context: &self.isolated, number, color, must_capture }
    }

    /// A propagation table of its share of `memory` bytes: two of them are in use at a time, what
    /// is gathered and what is read, and pages of their runs.
    fn table(&self, memory: usize) -> PropTable {
        let rows = self.first_row(self.slice.context.blocks.len(), Color::White);
        PropTable::new(&self.pages, rows, memory / 3, self.compress)
    }

    /// Runs `pass` with memory for propagation tables after a pass that decided so many rows.
    fn with_memory<R>(&self, waiting: usize, pass: impl FnOnce(usize) -> R) -> R {
        let memory = (self.pages.budget() / 2).min(waiting.saturating_mul(ROOM));
        self.pages.lend(memory, || pass(memory))
    }

    /// What `f` finds in every block for both sides, given the updates of its rows, which are
    /// numbered within the block.
    fn sweep<R: Send>(
        &self,
        mut updates: Option<Updates>,
        f: impl Fn(usize, Color, &[Update]) -> R + Sync,
    ) -> (Vec<R>, Vec<R>) {
        let blocks = self.slice.context.blocks.len();
        let rows = self.slice.context.rows() as u64;
        let at_once = BLOCKS * rayon::current_num_threads();
        let mut found = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
        let mut window = Vec::new();

        for first in (0..blocks).step_by(at_once) {
            let last = (first + at_once).min(blocks);
            window.clear();
            if let Some(updates) = &mut updates {
                updates.take_below(self.first_row(last, Color::White), &mut window);
            }
            let own_rows = |n: usize, color: Color| {
                let start = self.first_row(n, color);
                let end = start + rows;
                let part = window.partition_point(|update| update.row < start)
                    ..window.partition_point(|update| update.row < end);
                let local = |update: &Update| Update { row: update.row - start, ..*update };
                window[part].iter().map(local).collect::<Vec<Update>>()
            };
            if self.slice.context.is_stopped() {
                break;
            }
            let work = (first..last).into_par_iter().map(|n| {
                let white = f(n, Color::White, &own_rows(n, Color::White));
                (white, f(n, Color::Black, &own_rows(n, Color::Black)))
            });
            let (white, black): (Vec<R>, Vec<R>) = work.unzip();
            found.0.extend(white);
            found.1.extend(black);
        }
        found
    }

    /// Sends the positions of block `n` that `color` can have moved from to the positions of a
    /// frontier.
    fn send_back(
        &self,
        n: usize,
        color: Color,
        frontier: PositionSet<'_>,
        wanted: impl Fn(usize) -> bool,
        sender: &mut Sender<'_>,
    ) {
        let context = self.slice.context;
        for &(from, i) in &self.arrivals[color][n] {
            let from = from as usize;
            if !wanted(from) {
                continue;
            }
            let (tables, block) = (context.tables, &context.blocks[from]);
            let neighbour = &block.neighbours[color][i as usize];
            let first = self.first_row(from, color);
            for (row, mask) in frontier.iter() {
                let (row, mask) = neighbour.back(tables, block.frame, row, mask);
                sender.send(first + row as u64, mask);
            }
        }
    }

    /// The predecessors in other blocks of what the newest pass decided.
    fn predecessors(&self, decided: &ByColor<PagedLogs>, memory: usize) -> Updates {
        let table = self.table(memory);
        self.sweep(None, |n, color, _| {
            if decided[color].is_waiting(n) {
                let list = decided[color].newest(n);
                self.send_back(n, color.other(), list.get(), |_| true, &mut table.sender());
            }
        });
        table.finish()
    }

    fn win_block(&self, n: usize, color: Color, moves: u16, updates: &[Update]) -> Option<Newest> {
        let slice = &self.slice;
        let (mine, theirs) = (&slice.losses[color], &slice.losses[color.other()]);
        let due = slice.exit_wins[color].has(n, moves);
        if !mine.is_waiting(n) && !theirs.is_waiting(n) && updates.is_empty() && !due {
            return None;
        }
        let must_capture = slice.must_capture[color].block(n);
        let task = self.task(n, color, &must_capture);
        let (lost, exit_wins) = (mine.newest(n), slice.exit_wins[color].of(n, moves));
        // For the kernel what other blocks say is the same as what exits say.
        let told = updates.iter().map(|update| within(update, |row| task.quiet(row)));
        let (rows, masks) = split(exit_wins.get().iter().chain(told));
        let from = WinSources {
            lost: lost.get(),
            losses: Frontiers::Near { here: theirs.frontier(n), neighbours: Vec::new() },
            exit_wins: PositionSet::new(&rows, &masks, None),
        };

        let mut log = Log::default();
        slice.open[color].change_shared(n, |open| {
            with_scratch(|scratch| {
                dispatch::win_block(task, moves, &from, open, &mut log, scratch);
            });
            from.lost.len() > 0 || log.frontier().len() > 0
        });
        slice.wins[color].put(&log)
    }

    /// The losses of a pass, in three steps: who is lost unless they escape asks other blocks,
    /// these answer, and who got no answer is lost.
    fn find_losses(&self, moves: u16, memory: usize) -> (Vec<Option<Newest>>, Vec<Option<Newest>>) {
        let told = self.predecessors(&self.slice.wins, memory);
        let questions = self.table(memory);
        let (white, black) = self.sweep(Some(told), |n, color, told| {
            self.candidates(n, color, moves, told, &mut questions.sender())
        });

        let asking = ByColor { white, black };
        let answers = self.table(memory);
        self.sweep(Some(questions.finish()), |n, color, questions| {
            self.answer(n, color, questions, &asking, &mut answers.sender());
        });

        self.sweep(Some(answers.finish()), |n, color, answers| {
            self.loss_block(n, color, moves, asking[color][n], answers)
        })
    }

    /// The positions of a block that are lost if they cannot escape to another block.
    fn candidates(
        &self,
        n: usize,
        color: Color,
        moves: u16,
        updates: &[Update],
        sender: &mut Sender<'_>,
    ) -> Option<Page> {
        let slice = &self.slice;
        let theirs = &slice.wins[color.other()];
        let due = slice.exit_losses[color].has(n, moves);
        if !theirs.is_waiting(n) && updates.is_empty() && !due {
            return None;
        }
        let must_capture = slice.must_capture[color].block(n);
        let task = self.task(n, color, &must_capture);
        let exit_losses = slice.exit_losses[color].of(n, moves);
        let open = slice.open[color].block(n);

        // As a list: of a plane the kernel would take everything that is open for a candidate.
        let wins = Frontiers::Near { here: theirs.newest(n), neighbours: Vec::new() };
        let here = slice.open[color.other()].block(n);
        let goal = Planes::Near { here, neighbours: Vec::new() };

        let mut log = Log::default();
        slice.held[color].change_shared(n, |held| {
            // For the kernel what other blocks say is the same as what falls due, but it does not
            // make anything losable.
            let told = updates.iter().map(|update| within(update, |row| !held[row]));
            let (rows, masks) = split(exit_losses.get().iter().chain(told));
            let exit_losses = PositionSet::new(&rows, &masks, None);
            let from = LossSources { wins, exit_losses, open: &open, goal };
            with_scratch(|scratch| {
                dispatch::loss_block(task, moves, &from, held, &mut log, scratch);
            });
            due
        });

        let stuck = log.frontier();
        let (tables, block) = (slice.context.tables, &slice.context.blocks[n]);
        for neighbour in &block.neighbours[color] {
            let first = self.first_row(neighbour.block as usize, color.other());
            for (row, mask) in stuck.iter() {
                let (row, mask) = neighbour.forth(tables, block.frame, row, mask & task.quiet(row));
                sender.send(first + row as u64, mask);
            }
        }
        (stuck.len() > 0).then(|| self.asking.append(pack(stuck)))
    }

    /// Of the positions that were asked for, those that `color` has still open answer.
    fn answer(
        &self,
        n: usize,
        color: Color,
        questions: &[Update],
        asking: &ByColor<Vec<Option<Page>>>,
        sender: &mut Sender<'_>,
    ) {
        if questions.is_empty() {
            return;
        }
        let asker = color.other();
        let open = self.slice.open[color].block(n);
        let (rows, masks) =
            split(questions.iter().map(|question| within(question, |row| open[row])));
        self.send_back(
            n,
            asker,
            PositionSet::new(&rows, &masks, None),
            |n| asking[asker][n].is_some(),
            sender,
        );
    }

    /// What has asked in a block and got no answer.
    fn loss_block(
        &self,
        n: usize,
        color: Color,
        moves: u16,
        asking: Option<Page>,
        answers: &[Update],
    ) -> Option<Newest> {
        let slice = &self.slice;
        let asking = LoadedSet::List(self.asking.read(asking?));
        let must_capture = slice.must_capture[color].block(n);
        let task = self.task(n, color, &must_capture);
        let mut log = Log::default();
        log.begin();
        let mut answers = answers.iter().peekable();
        for (row, mask) in asking.get().iter() {
            while answers.next_if(|answer| answer.row < row as u64).is_some() {}
            let answer = answers.next_if(|answer| answer.row == row as u64);
            let escaped = answer.map_or(0, |answer| answer.mask) & task.quiet(row);
            if mask & !escaped != 0 {
                log.push(row, mask & !escaped);
            }
        }
        log.finish(moves, slice.context.rows());
        slice.losses[color].put(&log)
    }
}

/// The row of an update, and those of its positions that are in the row's set.
fn within(update: &Update, set: impl Fn(usize) -> u64) -> (usize, u64) {
    let row = update.row as usize;
    (row, update.mask & set(row))
}

/// Rows and masks, as frontiers have them.
fn split(positions: impl Iterator<Item = (usize, u64)>) -> (Vec<u32>, Vec<u64>) {
    positions.filter(|&(_, mask)| mask != 0).map(|(row, mask)| (row as u32, mask)).unzip()
}

impl Passes for PropTableSlice<'_> {
    fn ahead(&self) -> u16 {
        self.slice.ahead()
    }

    fn waiting(&self, result: RunResult) -> usize {
        self.slice.waiting(result)
    }

    fn decided(&self, result: RunResult) -> u64 {
        self.slice.decided(result)
    }

    fn win(&mut self, moves: u16, _due: bool) {
        self.slice.wins.iter().for_each(PagedLogs::forget_planes);
        let won = self.with_memory(self.waiting(RunResult::Losses), |memory| {
            let told = self.predecessors(&self.slice.losses, memory);
            self.sweep(Some(told), |n, color, told| self.win_block(n, color, moves, told))
        });
        self.slice.wins.white.accept(moves, won.0);
        self.slice.wins.black.accept(moves, won.1);
    }

    fn lose(&mut self, moves: u16, _due: bool) {
        self.slice.losses.iter().for_each(PagedLogs::forget_planes);
        let waiting = self.waiting(RunResult::Wins);
        let lost = self.with_memory(waiting, |memory| self.find_losses(moves, memory));
        self.asking.clear();
        self.slice.losses.white.accept(moves, lost.0);
        self.slice.losses.black.accept(moves, lost.1);
    }

    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()> {
        self.slice.show(passes, take)
    }

    fn saved_before(&mut self, unsaved: u16) {
        self.slice.saved_before(unsaved);
    }

    fn skip(&mut self, passes: &RangeInclusive<u16>) {
        self.slice.skip(passes);
    }

    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool {
        self.slice.take(decided, passes)
    }
}
