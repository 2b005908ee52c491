//! A slice being solved: its start, its passes, and what they are told of earlier ones.

use std::io;
use std::ops::RangeInclusive;

use hoffman_board::{ByColor, Color};
use hoffman_space::{Code, SliceCounts};

use crate::context::Context;
use crate::counting::{BlockParts, Blocks, count};
use crate::dispatch;
use crate::exit_values::{ExitRoom, spared_block};
use crate::exits::Exit;
use crate::monitor::{Decided, TakeDecided};
use crate::pass_loop::{Passes, RunResult};
use crate::passes::{BlockTask, LossSources, MatePlanes, WinSources};
use crate::problem::Problem;
use crate::sets::{Log, PositionSet, PositionSets, marked};
use crate::share::Round;
use crate::store::{EventStore, LogStore, Pass, PlaneStore, Store};
use crate::threads::{PARALLEL_ROWS, share, with_exit_room, with_scratch};
use crate::valuation::ExitPlanes;

/// From how many frontier rows on a pass is worth being shared.
const PARALLEL_FRONTIER: usize = 4_096;

/// A slice whose planes and logs lie in a store.
pub(crate) struct Slice<'a, S: Store> {
    pub(crate) store: S,
    pub(crate) context: &'a Context<'a>,
    pub(crate) open: ByColor<S::Plane>,
    pub(crate) held: ByColor<S::Plane>,
    /// Left out where nothing depends on them.
    pub(crate) stalemates: ByColor<S::Plane>,
    /// The positions in which something must be taken. Left out in normal chess.
    pub(crate) must_capture: ByColor<S::Plane>,
    /// The positions in which nothing can be played but discarded moves that spare them mate and
    /// stalemate. Left out where there are no such moves.
    pub(crate) spared: ByColor<S::Plane>,
    pub(crate) exit_wins: ByColor<S::Events>,
    pub(crate) exit_losses: ByColor<S::Events>,
    pub(crate) wins: ByColor<S::Logs>,
    pub(crate) losses: ByColor<S::Logs>,
    /// If they are asked for.
    pub(crate) counts: Option<SliceCounts>,
    /// Whether nobody will ask in how many moves a position is won or lost.
    pub(crate) outcomes_only: bool,
}

impl<'a, S: Store> Slice<'a, S> {
    /// A slice whose exits, mates and stalemates are known, and counted if that is asked for.
    pub(crate) fn start<C: Code>(store: S, problem: &'a Problem<'a>) -> Slice<'a, S> {
        let context = &problem.context;
        let may_spare = |color| problem.exits[color].iter().any(|exit| exit.target.may_spare());
        let mut slice = Slice {
            context,
            open: ByColor::new_with(|_| store.work_plane()),
            held: ByColor::new_with(|_| store.work_plane()),
            stalemates: ByColor::new_with(|_| store.plane_if(problem.needs_stalemates())),
            must_capture: ByColor::new_with(|_| store.plane_if(context.suicide())),
            spared: ByColor::new_with(|color| store.plane_if(may_spare(color))),
            exit_wins: ByColor::new_with(|_| store.events()),
            exit_losses: ByColor::new_with(|_| store.events()),
            wins: ByColor::new_with(|_| store.logs()),
            losses: ByColor::new_with(|_| store.logs()),
            counts: None,
            outcomes_only: false,
            store,
        };

        for color in Color::ALL {
            slice.evaluate_exits::<C>(color, &problem.exits[color]);
        }
        slice.find_mates::<C>(&problem.exits);
        slice.counts = problem.count.then(|| count::<C>(problem, &slice));

        if let Some(winner) = problem.stalemates {
            slice.concede_stalemates(winner);
        }
        if context.suicide() {
            slice.win_stalemates();
        }
        slice
    }

    /// How many blocks a thread takes at once where every block is worked on.
    pub(crate) fn share_of_all(&self) -> usize {
        let (rows, blocks) = (self.context.rows(), self.context.blocks.len());
        share(rows * blocks >= PARALLEL_ROWS, blocks)
    }

    /// How many blocks a thread takes at once in a pass that starts from so many rows.
    fn share(&self, waiting: usize, due: bool) -> usize {
        let (rows, blocks) = (self.context.rows(), self.context.blocks.len());
        let large = rows * blocks >= PARALLEL_ROWS && blocks > 1;
        share(large && (waiting >= PARALLEL_FRONTIER || due), blocks)
    }

    /// The legal positions of a side, and what its exits decide.
    fn evaluate_exits<C: Code>(&mut self, color: Color, exits: &[Exit<'_>]) {
        let share = self.share_of_all();
        let Slice { store, context, open, held, must_capture, exit_wins, exit_losses, .. } = self;
        let context = *context;
        let (wins, losses) = (&mut exit_wins[color], &mut exit_losses[color]);
        let planes = [&mut open[color], &mut held[color], &mut must_capture[color]];
        let events = store.write(share, planes, |number, [open, held, must_capture]| {
            if !context.is_seen(number) {
                return (wins.keep(PositionSets::default()), losses.keep(PositionSets::default()));
            }
            dispatch::legal_block(context, &context.blocks[number], color, open);
            let task = BlockTask { context, number, color, must_capture: &[] };
            let planes = ExitPlanes { held, must_capture };
            let events = with_exit_room(|room: &mut ExitRoom<C>| {
                // What is left out for good is forgotten in the end.
                let is_wanted = context.is_own(number) && !context.is_stopped();
                let exits = if is_wanted { exits } else { &[] };
                dispatch::exit_block::<C>(task, exits, open, planes, room)
            });
            (wins.keep(events.wins), losses.keep(events.losses))
        });
        let (of_wins, of_losses) = events.into_iter().unzip();
        wins.fill(of_wins);
        losses.fill(of_losses);
    }

    fn find_mates<C: Code>(&mut self, exits: &ByColor<Vec<Exit<'_>>>) {
        let share = self.share_of_all();
        let Slice { store, context, open, held, stalemates, must_capture, spared, losses, .. } =
            self;
        let pass = MatePass::<S> { context, exits, open, must_capture };
        let planes = held.as_mut().zip(stalemates.as_mut()).zip(spared.as_mut());
        store.pass(
            Pass { moves: 0, share },
            planes.map(|((held, stalemates), spared)| [held, stalemates, spared]),
            losses,
            |_, n| context.is_own(n) && !context.blocks[n].empty && !context.is_stopped(),
            |color, n, [held, stalemates, spared], log| {
                pass.decide::<C>(color, n, MatePlanes { held, spared, stalemates }, log)
            },
        );
    }

    /// Gives stalemates to `winner`: won after one move with that side to move, else lost after
    /// one.
    fn concede_stalemates(&mut self, winner: Color) {
        for color in Color::ALL {
            let events = if color == winner { &mut self.exit_wins } else { &mut self.exit_losses };
            for n in 0..self.context.blocks.len() {
                events[color].add(n, &self.stalemates[color].block(n));
            }
        }
    }

    /// In suicide chess the side that cannot move has won.
    fn win_stalemates(&mut self) {
        let share = self.share_of_all();
        let Slice { store, context, open, stalemates, wins, .. } = self;
        let rows = context.rows();
        store.pass(
            Pass { moves: 0, share },
            open.as_mut().map(|open| [open]),
            wins,
            |color, n| stalemates[color].block(n).iter().any(|&mask| mask != 0),
            |color, n, [open], wins| {
                wins.begin();
                for (row, mask) in marked(&stalemates[color].block(n)) {
                    open[row] &= !mask;
                    wins.push(row, mask);
                }
                wins.finish(0, rows);
                true
            },
        );
    }

    /// Lets the losses of the newest pass leave the open positions, as the next win pass does in
    /// the blocks that it works on.
    pub(crate) fn let_losses_leave(&mut self) {
        for color in Color::ALL {
            let losses = &self.losses[color];
            for n in (0..self.context.blocks.len()).filter(|&n| losses.is_waiting(n)) {
                self.open[color].change(n, |open| {
                    losses.newest(n).get().leave(open);
                    true
                });
            }
        }
    }

    /// Shows what the newest pass decided in the blocks that this process decides.
    pub(crate) fn show_newest(&self, round: Round, take: &mut TakeDecided<'_>) -> io::Result<()> {
        let Round { won, moves } = round;
        let result = if won { RunResult::Wins } else { RunResult::Losses };
        for turn in [Color::White, Color::Black] {
            let logs = &self.logs(result)[turn];
            for (block, n) in (0..).zip(0..self.context.blocks.len()) {
                if !self.context.is_own(n) || !logs.is_waiting(n) {
                    continue;
                }
                let newest = logs.newest(n);
                let (rows, masks) = (newest.get().rows(), newest.get().masks());
                take(Decided { turn, won, moves, block, rows, masks })?;
            }
        }
        Ok(())
    }

    /// Takes over what the newest pass decided in a block; earlier passes are remembered of blocks
    /// that this process decides. False if no pass can have decided that.
    pub(crate) fn take_newest(&mut self, decided: &Decided<'_>, is_own: bool) -> bool {
        let &Decided { turn, won, moves, rows, masks, .. } = decided;
        let n = decided.block as usize;
        let logs = if won { &mut self.wins } else { &mut self.losses };
        if !logs[turn].can_take(n, moves) {
            return false;
        }
        let mut fits = false;
        self.open[turn].change(n, |open| {
            fits = decided.fits(open);
            // Losses leave in the next win pass.
            let leave = fits && won;
            if leave {
                PositionSet::new(rows, masks, None).leave(open);
            }
            leave
        });
        if fits {
            if !is_own {
                logs[turn].forget(n);
            }
            logs[turn].take(n, moves, PositionSet::new(rows, masks, None), true);
        }
        fits
    }

    fn logs(&self, result: RunResult) -> &ByColor<S::Logs> {
        match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        }
    }
}

/// What the pass that finds mates and stalemates reads.
struct MatePass<'s, 'p, S: Store> {
    context: &'s Context<'s>,
    exits: &'s ByColor<Vec<Exit<'p>>>,
    open: &'s ByColor<S::Plane>,
    must_capture: &'s ByColor<S::Plane>,
}

impl<S: Store> MatePass<'_, '_, S> {
    /// Puts the mates of a block into its log, and finds its stalemates.
    fn decide<C: Code>(
        &self,
        color: Color,
        number: usize,
        planes: MatePlanes<'_>,
        log: &mut Log,
    ) -> bool {
        let &MatePass { context, exits, open, .. } = self;
        let must_capture = self.must_capture[color].block(number);
        let task = BlockTask { context, number, color, must_capture: &must_capture };

        if !planes.spared.is_empty() {
            with_exit_room(|room: &mut ExitRoom<C>| {
                planes.spared.copy_from_slice(&spared_block(task, &exits[color], room));
            });
        }
        let goal = open[color.other()].around(number, task.block(), color);
        let open = open[color].block(number);
        with_scratch(|scratch| dispatch::mate_block(task, &open, &goal, planes, log, scratch))
    }
}

/// What a pass that finds wins reads.
struct WinPass<'s, S: Store> {
    context: &'s Context<'s>,
    moves: u16,
    losses: &'s ByColor<S::Logs>,
    exit_wins: &'s ByColor<S::Events>,
    must_capture: &'s ByColor<S::Plane>,
}

impl<S: Store> WinPass<'_, S> {
    /// Whether something can be won in a block.
    fn is_due(&self, color: Color, n: usize) -> bool {
        let WinPass { context, losses, .. } = self;
        let reached = losses[color].is_waiting(n)
            || losses[color.other()].reaches(n, &context.blocks[n], color);
        let is_due = reached || self.exit_wins[color].has(n, self.moves);
        is_due && context.is_own(n) && !context.is_stopped()
    }

    /// Moves what is won from the open positions of a block to its log; whether any are open no
    /// longer.
    fn decide(&self, color: Color, number: usize, open: &mut [u64], wins: &mut Log) -> bool {
        let &WinPass { context, moves, losses, .. } = self;
        let must_capture = self.must_capture[color].block(number);
        let task = BlockTask { context, number, color, must_capture: &must_capture };

        let lost = losses[color].newest(number);
        let exit_wins = self.exit_wins[color].of(number, moves);
        let from = WinSources {
            lost: lost.get(),
            losses: losses[color.other()].around(number, task.block(), color),
            exit_wins: exit_wins.get(),
        };
        with_scratch(|scratch| dispatch::win_block(task, moves, &from, open, wins, scratch));
        lost.get().len() > 0 || wins.frontier().len() > 0
    }
}

/// What a pass that finds losses reads.
struct LossPass<'s, S: Store> {
    context: &'s Context<'s>,
    moves: u16,
    wins: &'s ByColor<S::Logs>,
    exit_losses: &'s ByColor<S::Events>,
    open: &'s ByColor<S::Plane>,
    must_capture: &'s ByColor<S::Plane>,
}

impl<S: Store> LossPass<'_, S> {
    /// Whether something can be lost in a block.
    fn is_due(&self, color: Color, n: usize) -> bool {
        let LossPass { context, wins, .. } = self;
        let reached = wins[color.other()].reaches(n, &context.blocks[n], color);
        let is_due = reached || self.exit_losses[color].has(n, self.moves);
        is_due && context.is_own(n) && !context.is_stopped()
    }

    /// Puts what is lost into the log of a block; whether an exit has made anything losable that
    /// was held.
    fn decide(&self, color: Color, number: usize, held: &mut [u64], losses: &mut Log) -> bool {
        let &LossPass { context, moves, wins, open, .. } = self;
        let must_capture = self.must_capture[color].block(number);
        let task = BlockTask { context, number, color, must_capture: &must_capture };

        let exit_losses = self.exit_losses[color].of(number, moves);
        let from = LossSources {
            wins: wins[color.other()].around(number, task.block(), color),
            exit_losses: exit_losses.get(),
            open: &open[color].block(number),
            goal: open[color.other()].around(number, task.block(), color),
        };
        with_scratch(|scratch| dispatch::loss_block(task, moves, &from, held, losses, scratch));
        exit_losses.get().len() > 0
    }
}

impl<S: Store> Passes for Slice<'_, S> {
    fn ahead(&self) -> u16 {
        self.exit_wins.iter().chain(self.exit_losses.iter()).map(S::Events::last).max().unwrap_or(0)
    }

    fn waiting(&self, result: RunResult) -> usize {
        self.logs(result).iter().map(S::Logs::waiting).sum()
    }

    fn decided(&self, result: RunResult) -> u64 {
        self.logs(result).iter().map(S::Logs::decided).sum()
    }

    fn win(&mut self, moves: u16, due: bool) {
        let share = self.share(self.waiting(RunResult::Losses), due);
        let Slice { store, context, open, exit_wins, wins, losses, must_capture, .. } = self;
        let pass = WinPass::<S> { context, moves, losses, exit_wins, must_capture };
        store.pass(
            Pass { moves, share },
            open.as_mut().map(|open| [open]),
            wins,
            |color, n| pass.is_due(color, n),
            |color, n, [open], wins| pass.decide(color, n, open, wins),
        );
    }

    fn lose(&mut self, moves: u16, due: bool) {
        let share = self.share(self.waiting(RunResult::Wins), due);
        let Slice { store, context, open, held, exit_losses, wins, losses, must_capture, .. } =
            self;
        let pass = LossPass::<S> { context, moves, wins, exit_losses, open, must_capture };
        store.pass(
            Pass { moves, share },
            held.as_mut().map(|held| [held]),
            losses,
            |color, n| pass.is_due(color, n),
            |color, n, [held], losses| pass.decide(color, n, held, losses),
        );
    }

    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()> {
        for turn in [Color::White, Color::Black] {
            for (logs, won) in [(&self.wins[turn], true), (&self.losses[turn], false)] {
                // Wins without a move are there from the start.
                let passes = (*passes.start()).max(u16::from(won))..=*passes.end();
                for (block, n) in (0..).zip(0..self.context.blocks.len()) {
                    logs.replay(n, &passes, |moves, set| {
                        let (rows, masks) = (set.rows(), set.masks());
                        take(Decided { turn, won, moves, block, rows, masks })
                    })?;
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, passes: &RangeInclusive<u16>) {
        self.let_losses_leave();
        for color in Color::ALL {
            let (losses, events) = (&mut self.losses[color], &self.exit_losses[color]);
            for n in 0..self.context.blocks.len() {
                let due = passes.clone().take_while(|&moves| moves <= events.last());
                for moves in due.filter(|&moves| events.has(n, moves)) {
                    self.held[color].change(n, |held| {
                        events.of(n, moves).get().leave(held);
                        true
                    });
                }
            }
            losses.begin();
            self.wins[color].begin();
        }
    }

    fn saved_before(&mut self, unsaved: u16) {
        if self.outcomes_only {
            let logs = self.wins.iter_mut().chain(self.losses.iter_mut());
            logs.for_each(|logs| logs.join_passes(unsaved));
        }
    }

    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool {
        let &Decided { turn, won, moves, rows, masks, .. } = decided;
        let n = decided.block as usize;
        let logs = if won { &mut self.wins } else { &mut self.losses };
        if !logs[turn].can_take(n, moves) {
            return false;
        }
        // The next win pass starts from the last losses and lets them leave.
        let newest = !won && moves == *passes.end();
        let mut fits = false;
        self.open[turn].change(n, |open| {
            fits = decided.fits(open);
            let leave = fits && !newest;
            if leave {
                PositionSet::new(rows, masks, None).leave(open);
            }
            leave
        });
        if fits {
            logs[turn].take(n, moves, PositionSet::new(rows, masks, None), newest);
        }
        fits
    }
}

impl<S: Store> Blocks for Slice<'_, S> {
    fn with(&self, n: usize, color: Color, f: &mut dyn FnMut(&BlockParts<'_>)) {
        f(&BlockParts {
            open: &self.open[color].block(n),
            stalemates: &self.stalemates[color].block(n),
            lost: self.losses[color].newest(n).get(),
            goal: &self.open[color.other()].around(n, &self.context.blocks[n], color),
            must_capture: &self.must_capture[color].block(n),
        });
    }
}
