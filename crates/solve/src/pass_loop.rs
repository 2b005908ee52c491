//! The passes of a slice, one after the other until nothing is left to decide.

use std::io;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::monitor::{Decided, Monitor, PassReport, TakeDecided};
use crate::options::SolveError;

/// What a pass decides.
#[derive(Clone, Copy)]
pub(crate) enum RunResult {
    Wins,
    Losses,
}

/// A slice whose mates are known, being solved pass by pass.
pub(crate) trait Passes {
    /// The largest number of moves for which exits decide something.
    fn ahead(&self) -> u16;
    /// The number of rows in which the newest pass has decided something.
    fn waiting(&self, result: RunResult) -> usize;
    /// The number of positions that the newest pass has decided.
    fn decided(&self, result: RunResult) -> u64;
    /// The win pass of a number of moves; `due` if exits may decide something for it.
    fn win(&mut self, moves: u16, due: bool);
    /// The loss pass, likewise.
    fn lose(&mut self, moves: u16, due: bool);
    /// Shows what passes decided; nothing that was decided before or after them.
    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()>;
    /// Tells it that no pass of fewer than so many moves will be shown any more.
    fn saved_before(&mut self, unsaved: u16);
    /// Does what passes do besides deciding, for a slice whose mates are known and nothing else.
    fn skip(&mut self, passes: &RangeInclusive<u16>);
    /// Takes over what a pass decided, after [`Passes::skip`]. False if no pass can have decided
    /// that.
    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool;
}

/// A slice before a pass, and how far it is.
struct PassStart<S> {
    slice: S,
    /// The number of moves of the next pass.
    next: u16,
    /// The longest win or loss so far, in moves.
    longest: u16,
}

/// Only suicide chess knows wins without a move, and so losses that need no move of the winner.
fn first_pass(context: &Context<'_>) -> u16 {
    u16::from(!context.suicide())
}

/// Starts a slice and runs its passes; the slice, and its longest win or loss in moves.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub(crate) fn decide<S: Passes>(
    context: &Context<'_>,
    monitor: &dyn Monitor,
    start: impl FnMut() -> S,
) -> Result<(S, u16), SolveError> {
    let mut reached = begin(context, monitor, start);
    let moves = run(context, &mut reached, monitor)?;
    Ok((reached.slice, moves))
}

/// Starts a slice, and goes through the passes that an earlier run saved. If they are not what
/// passes of this slice decide it is started once more.
fn begin<S: Passes>(
    context: &Context<'_>,
    monitor: &dyn Monitor,
    mut start: impl FnMut() -> S,
) -> PassStart<S> {
    let first = first_pass(context);
    let mut slice = start();
    // A start that was stopped half-way fits no passes.
    let saved = monitor.saved_passes(context.pawns).filter(|_| !context.is_incomplete());
    if let Some(last) = saved.filter(|last| (first..u16::MAX).contains(last)) {
        let passes = first..=last;
        slice.skip(&passes);
        let mut longest = 0;
        let mut take = |decided: Decided<'_>| {
            longest = longest.max(decided.moves);
            let fits = passes.contains(&decided.moves) && slice.take(&decided, &passes);
            if fits { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
        };
        if monitor.restore_passes(context.pawns, context.rows(), &mut take) {
            return PassStart { slice, next: last + 1, longest };
        }
        // Both at once may be too much.
        drop(slice);
        slice = start();
    }
    PassStart { slice, next: first, longest: 0 }
}

/// Runs the passes; returns the longest win or loss, in moves.
fn run(
    context: &Context<'_>,
    reached: &mut PassStart<impl Passes>,
    monitor: &dyn Monitor,
) -> Result<u16, SolveError> {
    let PassStart { slice, next, longest } = reached;
    let mut longest = *longest;
    let ahead = slice.ahead();
    let mut unsaved = *next;
    // Read between passes only: of small slices there are many.
    let mut now = Instant::now();
    let mut since = now;

    for moves in *next..u16::MAX {
        // Asked before it is saved: what stops later is asked about again.
        let stopped = monitor.is_stopped() || context.is_incomplete();
        if save(slice, context, monitor, unsaved..moves, now - since) {
            unsaved = moves;
            now = Instant::now();
            since = now;
        }
        if stopped {
            return Err(SolveError::Stopped);
        }
        slice.saved_before(unsaved);
        monitor.pass(moves);
        let due = moves <= ahead;
        let mut report = |slice: &_, won: bool| {
            let result = if won { RunResult::Wins } else { RunResult::Losses };
            let positions = Passes::decided(slice, result);
            let (pawns, began) = (context.pawns, now);
            now = Instant::now();
            monitor.passed(&PassReport { pawns, won, moves, positions, time: now - began });
        };
        if moves > 0 {
            if slice.waiting(RunResult::Losses) == 0 && !due {
                break;
            }
            slice.win(moves, due);
            report(slice, true);
        }
        if slice.waiting(RunResult::Wins) > 0 {
            longest = moves;
        }
        slice.lose(moves, due);
        report(slice, false);
        if context.is_incomplete() {
            save(slice, context, monitor, unsaved..moves, now - since);
            return Err(SolveError::Stopped);
        }
        if slice.waiting(RunResult::Losses) > 0 {
            longest = moves;
        }
    }
    Ok(longest)
}

/// Saves passes that are not saved yet, where that is worth it; whether it was done.
fn save(
    slice: &impl Passes,
    context: &Context<'_>,
    monitor: &dyn Monitor,
    passes: Range<u16>,
    taken: Duration,
) -> bool {
    if passes.is_empty() || !monitor.saves_passes(taken) {
        return false;
    }
    let passes = passes.start..=passes.end - 1;
    let show = |take: &mut TakeDecided<'_>| slice.show(passes.clone(), take);
    monitor.save_passes(context.pawns, passes.clone(), &show)
}
