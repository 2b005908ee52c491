//! Solving one slice: exits, then passes until nothing is left to decide.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Instant;

use hoffman_board::Color;
use hoffman_pages::{PagedCodes, Pages};
use hoffman_space::{Code, CodeStore as _, Codes, EnPassantValues, SliceValues};

use crate::context::Context;
use crate::exits::{Exit, Right};
use crate::memory_slice;
use crate::paged_slice;
use crate::passes::Scratch;
use crate::recycled::Recycled;
use crate::table_solver::{Decided, Monitor, PassReport, SolveError, SolveOptions, TakeDecided};
use crate::target::Target;
use crate::valuation::ExitRoom;

/// From how many rows on a slice is worth being shared between threads.
pub(crate) const PARALLEL_ROWS: usize = 16_384;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's scratch room.
pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}

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
    /// The win pass of a number of moves; `due` if exits may sort_exits something for it.
    fn win(&mut self, moves: u16, due: bool);
    /// The loss pass, likewise.
    fn lose(&mut self, moves: u16, due: bool);
    /// Shows what passes decided; nothing that was decided before or after them.
    fn show(&self, passes: RangeInclusive<u16>, take: &mut TakeDecided<'_>) -> io::Result<()>;
    /// Does what passes do besides deciding, for a slice whose mates are known and nothing else.
    fn skip(&mut self, passes: &RangeInclusive<u16>);
    /// Takes over what a pass decided, after [`Passes::skip`]. False if no pass can have decided that.
    fn take(&mut self, decided: &Decided<'_>, passes: &RangeInclusive<u16>) -> bool;
}

/// A slice before a pass, and how far it is.
pub(crate) struct Reached<S> {
    pub(crate) slice: S,
    /// The number of moves of the next pass.
    next: u16,
    /// The longest win or loss so far, in moves.
    longest: u16,
}

/// Only suicide chess knows wins without a move, and so losses that need no move of the winner.
fn first_pass(context: &Context<'_>) -> u16 {
    u16::from(!context.suicide())
}

/// Starts a slice, and goes through the passes that an earlier run saved. If they are not what passes
/// of this slice decide it is started once more.
pub(crate) fn begin<S: Passes>(
    context: &Context<'_>,
    monitor: &dyn Monitor,
    mut start: impl FnMut() -> S,
) -> Reached<S> {
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
            return Reached { slice, next: last + 1, longest };
        }
        // Both at once may be too much.
        drop(slice);
        slice = start();
    }
    Reached { slice, next: first, longest: 0 }
}

/// Checks that positions of a block can have been decided, and lets them leave `open`.
pub(crate) fn decide(open: &mut [u64], decided: &Decided<'_>, leave: bool) -> bool {
    let (rows, masks) = (decided.rows, decided.masks);
    let ascending = rows.is_sorted_by(|a, b| a < b);
    let fits = |(&row, &mask): (&u32, &u64)| match open.get_mut(row as usize) {
        Some(open) if mask != 0 && mask & !*open == 0 => {
            *open &= !if leave { mask } else { 0 };
            true
        }
        _ => false,
    };
    ascending && rows.len() == masks.len() && rows.iter().zip(masks).all(fits)
}

/// What has to be solved.
pub(crate) struct Problem<'a> {
    pub(crate) context: Context<'a>,
    /// White's exits, Black's exits. What they lead to is solved.
    pub(crate) exits: [Vec<Exit<'a>>; 2],
    /// Discarded moves, to be counted only.
    pub(crate) discarded: [Vec<Exit<'a>>; 2],
    /// The en passant rights that the pawns allow.
    pub(crate) rights: Vec<Right<'a>>,
    /// Whether moves are to be counted.
    pub(crate) count: bool,
    /// Who wins stalemates, if they are conceded.
    pub(crate) stalemates: Option<Color>,
}

/// The longest distance behind a capture en passant, in moves.
pub(crate) fn deepest_capture(problem: &Problem<'_>) -> u16 {
    problem.rights.iter().flat_map(|r| &r.captures).map(Target::max_moves).max().unwrap_or(0)
}

/// Solves a slice; in pages if there are any, and block by block if it does not fit there.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &SolveOptions,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let exits = problem.exits.iter().flatten().map(|exit| &exit.target);
    let captures = problem.rights.iter().flat_map(|r| &r.captures);
    let deepest = exits.chain(captures).map(Target::max_moves).max().unwrap_or(0);
    let narrow = deepest < u8::MAX_MOVES;
    let in_memory = || {
        if narrow {
            memory_slice::solve::<u8>(problem, options, recycled, monitor)
        } else {
            memory_slice::solve::<u16>(problem, options, recycled, monitor)
        }
    };
    let Some(pages) = &options.pages else {
        let slice = in_memory()?;
        if !options.outcomes || matches!(slice.codes, [Codes::Stored(_), Codes::Stored(_)]) {
            return Ok(slice);
        }
        let outcomes = slice.outcomes();
        recycled.keep_codes(slice, rayon::current_num_threads());
        return Ok(outcomes);
    };
    let needed = working_bytes(&problem.context);
    if needed <= pages.budget() / 2 {
        return Ok(stored(pages.lend(needed, in_memory)?, pages));
    }
    if narrow {
        paged_slice::solve::<u8>(problem, pages, options.method, monitor)
    } else {
        paged_slice::solve::<u16>(problem, pages, options.method, monitor)
    }
}

/// What solving a slice in memory takes at most: five bytes for every four positions of a side besides
/// the values, as `hoffman_plan::estimate` says, and twice the values, which may be wide.
fn working_bytes(context: &Context<'_>) -> usize {
    let positions = 2 * context.rows() * context.blocks.len() * 64;
    positions * 5 / 4 + positions * 2
}

/// The same values in pages.
pub(crate) fn stored(slice: SliceValues, pages: &Arc<Pages>) -> SliceValues {
    fn put<C: Code>(codes: &[C], pages: &Arc<Pages>) -> Codes {
        let store = PagedCodes::new::<C>(pages, codes.len());
        store.write(0, C::as_bytes_of(codes));
        store.into_codes::<C>(codes.len())
    }
    let put = |codes: Codes| match codes {
        Codes::Narrow(codes) => put(&codes, pages),
        Codes::Wide(codes) => put(&codes, pages),
        Codes::Stored(_) => codes,
    };
    let en_passant = slice.en_passant.into_iter();
    SliceValues {
        codes: slice.codes.map(put),
        en_passant: en_passant.map(|e| EnPassantValues { codes: put(e.codes), ..e }).collect(),
        ..slice
    }
}

/// The values of a slice, unless blocks were left out because the work was to stop.
pub(crate) fn finished(
    context: &Context<'_>,
    values: SliceValues,
) -> Result<SliceValues, SolveError> {
    if context.is_incomplete() { Err(SolveError::Stopped) } else { Ok(values) }
}

/// How many blocks a thread takes at once: all of them where sharing does not pay.
pub(crate) fn share(parallel: bool, blocks: usize) -> usize {
    if parallel { (blocks / 256).max(1) } else { blocks.max(1) }
}

/// Runs the passes; returns the longest win or loss, in moves.
pub(crate) fn run(
    context: &Context<'_>,
    reached: &mut Reached<impl Passes>,
    monitor: &dyn Monitor,
) -> Result<u16, SolveError> {
    let Reached { slice, next, longest } = reached;
    let mut longest = *longest;
    let ahead = slice.ahead();
    let mut unsaved = *next;
    let mut since = Instant::now();
    for moves in *next..u16::MAX {
        // Asked before it is saved: whoever stops later asks again.
        let stopped = monitor.is_stopped() || context.is_incomplete();
        if save(slice, context, monitor, unsaved..moves, since) {
            unsaved = moves;
            since = Instant::now();
        }
        if stopped {
            return Err(SolveError::Stopped);
        }
        monitor.pass(moves);
        let due = moves <= ahead;
        let report = |slice: &_, won: bool, began: Instant| {
            let result = if won { RunResult::Wins } else { RunResult::Losses };
            let positions = Passes::decided(slice, result);
            let (pawns, time) = (context.pawns, began.elapsed());
            monitor.passed(&PassReport { pawns, won, moves, positions, time });
        };
        if moves > 0 {
            if slice.waiting(RunResult::Losses) == 0 && !due {
                break;
            }
            let began = Instant::now();
            slice.win(moves, due);
            report(slice, true, began);
        }
        if slice.waiting(RunResult::Wins) > 0 {
            longest = moves;
        }
        let began = Instant::now();
        slice.lose(moves, due);
        report(slice, false, began);
        if context.is_incomplete() {
            save(slice, context, monitor, unsaved..moves, since);
            return Err(SolveError::Stopped);
        }
        if slice.waiting(RunResult::Losses) > 0 {
            longest = moves;
        }
    }
    Ok(longest)
}

/// Saves passes that nobody has saved, where that is worth it; whether it was done.
fn save(
    slice: &impl Passes,
    context: &Context<'_>,
    monitor: &dyn Monitor,
    passes: Range<u16>,
    since: Instant,
) -> bool {
    if passes.is_empty() || !monitor.saves_passes(since.elapsed()) {
        return false;
    }
    let passes = passes.start..=passes.end - 1;
    let show = |take: &mut TakeDecided<'_>| slice.show(passes.clone(), take);
    monitor.save_passes(context.pawns, passes.clone(), &show)
}

/// Runs `f` with this thread's room for evaluating exits with codes `C`.
pub(crate) fn with_exit_room<C: Code, R>(f: impl FnOnce(&mut ExitRoom<C>) -> R) -> R {
    thread_local! {
        static ROOMS: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
    }
    ROOMS.with_borrow_mut(|rooms| {
        let new = || Box::new(ExitRoom::<C>::new()) as Box<dyn Any>;
        let room = rooms.entry(TypeId::of::<C>()).or_insert_with(new);
        f(room.downcast_mut::<ExitRoom<C>>().expect("the room of this width"))
    })
}
