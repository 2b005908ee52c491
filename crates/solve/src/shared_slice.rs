//! A slice of which this process decides some blocks and others the rest: after every pass each
//! tells what it decided, and waits for what the others did.

use std::io;
use std::ops::RangeInclusive;

use hoffman_board::Color;
use hoffman_space::{Code, SliceCounts};

use crate::monitor::{Decided, TakeDecided};
use crate::options::SolveError;
use crate::pass_loop::{Passes, RunResult};
use crate::share::{BlockValues, Partners, Round, RoundSum, TakeValues};
use crate::slice::Slice;
use crate::store::Store;
use crate::written_values::Coding;

/// A slice whose planes and logs have the blocks that this process decides, and those around them.
pub(crate) struct SharedSlice<'a, S: Store> {
    slice: Slice<'a, S>,
    partners: &'a dyn Partners,
    /// What the newest passes came to in all blocks.
    wins: RoundSum,
    losses: RoundSum,
    /// The largest number of moves for which exits decide something, in all blocks.
    ahead: u16,
}

impl<'a, S: Store> SharedSlice<'a, S> {
    /// From a slice whose mates are known in the own blocks; waits for those of the others.
    pub(crate) fn start(slice: Slice<'a, S>, partners: &'a dyn Partners) -> SharedSlice<'a, S> {
        let none = RoundSum::default();
        let mut shared = SharedSlice { slice, partners, wins: none, losses: none, ahead: 0 };
        shared.settle(Round::MATES, |shared| {
            if !shared.partners.has_done(Round::MATES)? {
                shared.publish(Round::MATES)?;
            }
            Ok(())
        });
        shared.ahead = shared.losses.ahead;
        shared
    }

    /// Does a pass in the own blocks, or takes over what an earlier run of this process did in it.
    fn round(&mut self, round: Round, work: impl FnOnce(&mut Slice<'a, S>)) {
        self.settle(round, |shared| {
            if !shared.partners.has_done(round)? {
                work(&mut shared.slice);
                return shared.publish(round);
            }
            let passes = round.moves..=round.moves;
            shared.slice.skip(&passes);
            let SharedSlice { slice, partners, .. } = shared;
            partners.recall(round, &mut |decided| take(slice, round, &decided, true))
        });
    }

    /// Does `own` work and takes over what the others decided. After a failure nothing is done any
    /// more, and nothing told.
    fn settle(&mut self, round: Round, own: impl FnOnce(&mut Self) -> Result<(), SolveError>) {
        if self.slice.context.is_incomplete() {
            return;
        }
        let sum = own(self).and_then(|()| {
            let SharedSlice { slice, partners, .. } = self;
            partners.collect(round, &mut |decided| take(slice, round, &decided, false))
        });
        match sum {
            Ok(sum) if round.won => self.wins = sum,
            Ok(sum) => self.losses = sum,
            Err(_) => self.slice.context.give_up(),
        }
    }

    /// Tells the others what a pass decided in the own blocks.
    fn publish(&self, round: Round) -> Result<(), SolveError> {
        let slice = &self.slice;
        if slice.context.is_incomplete() {
            return Err(SolveError::Stopped);
        }
        let result = if round.won { RunResult::Wins } else { RunResult::Losses };
        let own = RoundSum {
            rows: slice.waiting(result) as u64,
            positions: slice.decided(result),
            ahead: slice.ahead(),
        };
        self.partners.publish(round, own, &|take| slice.show_newest(round, take))
    }

    /// Shows `take` the values of the own blocks.
    pub(crate) fn show_values<C: Code>(&self, take: &mut TakeValues<'_>) -> Result<(), SolveError> {
        let context = self.slice.context;
        for n in (0..context.blocks.len()).filter(|&n| context.is_own(n)) {
            for turn in [Color::White, Color::Black] {
                if context.is_stopped() {
                    return Err(SolveError::Stopped);
                }
                let mut codes = vec![C::ILLEGAL; context.rows() * 64];
                self.slice.decode(n, turn, Coding::exact(), &mut codes);
                take(BlockValues { block: n as u32, turn, codes: C::into_codes(codes) })?;
            }
        }
        Ok(())
    }

    /// What was counted in the own blocks.
    pub(crate) fn counts(&self) -> Option<SliceCounts> {
        self.slice.counts.clone()
    }
}

/// Takes over what was decided in a block that this process decides, or in one of another that it
/// has to know of.
fn take<S: Store>(
    slice: &mut Slice<'_, S>,
    round: Round,
    decided: &Decided<'_>,
    is_own: bool,
) -> io::Result<()> {
    let (context, n) = (slice.context, decided.block as usize);
    let is_meant = context.is_seen(n) && context.is_own(n) == is_own;
    let is_of_round = (decided.won, decided.moves) == (round.won, round.moves);
    if is_meant && is_of_round && slice.take_newest(decided, is_own) {
        return Ok(());
    }
    Err(io::ErrorKind::InvalidData.into())
}

impl<S: Store> Passes for SharedSlice<'_, S> {
    fn ahead(&self) -> u16 {
        self.ahead
    }

    fn waiting(&self, result: RunResult) -> usize {
        usize::try_from(self.sum(result).rows).unwrap_or(usize::MAX)
    }

    fn decided(&self, result: RunResult) -> u64 {
        self.sum(result).positions
    }

    fn win(&mut self, moves: u16, due: bool) {
        self.round(Round { won: true, moves }, |slice| {
            slice.let_losses_leave();
            slice.win(moves, due);
        });
    }

    fn lose(&mut self, moves: u16, due: bool) {
        self.round(Round { won: false, moves }, |slice| slice.lose(moves, due));
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

impl<S: Store> SharedSlice<'_, S> {
    fn sum(&self, result: RunResult) -> &RoundSum {
        match result {
            RunResult::Wins => &self.wins,
            RunResult::Losses => &self.losses,
        }
    }
}
