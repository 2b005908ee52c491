//! Solving one slice, or a share of one: in memory if it fits there, else in pages.

use std::sync::Arc;

use hoffman_pages::{PagedCodes, PagedOutcomes, Pages};
use hoffman_space::{Code, CodeStore as _, Codes, EnPassantValues, SliceValues};

use crate::context::Context;
use crate::memory_store::MemoryStore;
use crate::monitor::Monitor;
use crate::options::{Method, SolveError, SolveOptions};
use crate::paged_store::PagedStore;
use crate::pass_loop;
use crate::problem::Problem;
use crate::proptable_slice::PropTableSlice;
use crate::recycled::Recycled;
use crate::share::{Partners, SolvedShare, TakeValues};
use crate::shared_slice::SharedSlice;
use crate::slice::Slice;
use crate::store::Store;
use crate::written_values::{CodesInPages, Coding, MemoryCodes, OutcomesInMemory, OutcomesInPages};

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
    if problem.deepest() < u8::MAX_MOVES {
        solve_with::<u8>(problem, options, recycled, monitor)
    } else {
        solve_with::<u16>(problem, options, recycled, monitor)
    }
}

/// The same with codes `C` for the values behind the exits.
fn solve_with<C: Code>(
    problem: &Problem<'_>,
    options: &SolveOptions,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let Some(pages) = &options.pages else {
        let slice = in_memory::<C>(problem, options.outcomes, recycled, monitor)?;
        if !options.outcomes || matches!(slice.codes, [Codes::Stored(_), Codes::Stored(_)]) {
            return Ok(slice);
        }
        let outcomes = slice.outcomes();
        recycled.keep_codes(slice, rayon::current_num_threads());
        return Ok(outcomes);
    };
    let needed = working_bytes(&problem.context);
    if needed <= pages.budget() / 2 {
        let outcomes = options.outcomes;
        let slice = pages.lend(needed, || in_memory::<C>(problem, outcomes, recycled, monitor))?;
        let slice = if outcomes { outcomes_in_pages(slice, pages) } else { stored(slice, pages) };
        return Ok(slice);
    }
    in_pages::<C>(problem, pages, options, monitor)
}

/// Solves a slice in memory. Where outcomes are all that is asked for they are written at once, if
/// that is possible.
fn in_memory<C: Code>(
    problem: &Problem<'_>,
    outcomes: bool,
    recycled: &Recycled,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = &problem.context;
    let (rows, blocks) = (context.rows(), context.blocks.len());
    // What captures en passant start from would be needed as codes.
    let outcomes_only = outcomes && !problem.has_rights();
    let start = || Slice {
        outcomes_only,
        ..Slice::start::<C>(MemoryStore { recycled, rows, blocks }, problem)
    };
    let (slice, moves) = pass_loop::decide(context, monitor, start)?;

    let len = rows * blocks * 64;
    let values = if outcomes_only {
        let values =
            slice.into_values(problem, moves, Coding::OUTCOMES, || OutcomesInMemory::new(len));
        SliceValues { max_moves: 1, ..values }
    } else if is_narrow(problem, moves) {
        let new = || MemoryCodes::<u8>::new(recycled, len);
        slice.into_values(problem, moves, Coding::exact(), new)
    } else {
        let new = || MemoryCodes::<u16>::new(recycled, len);
        slice.into_values(problem, moves, Coding::exact(), new)
    };
    finished(context, values)
}

/// Solves a slice in pages.
fn in_pages<C: Code>(
    problem: &Problem<'_>,
    pages: &Arc<Pages>,
    options: &SolveOptions,
    monitor: &dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = &problem.context;
    let (rows, blocks) = (context.rows(), context.blocks.len());
    let start = || Slice::start::<C>(PagedStore { pages, rows, blocks }, problem);
    let (slice, moves) = match options.method {
        Method::Sweep => pass_loop::decide(context, monitor, start)?,
        Method::PropTables { compress } => {
            let start = || PropTableSlice::new(start(), pages, compress);
            let (slice, moves) = pass_loop::decide(context, monitor, start)?;
            (slice.into_slice(), moves)
        }
    };

    let len = rows * blocks * 64;
    // As in memory.
    let outcomes_only = options.outcomes && !problem.has_rights();
    let values = if outcomes_only {
        let new = || OutcomesInPages::new(pages, len);
        let values = slice.into_values(problem, moves, Coding::OUTCOMES, new);
        SliceValues { max_moves: 1, ..values }
    } else if is_narrow(problem, moves) {
        let new = || CodesInPages::new::<u8>(pages, len);
        slice.into_values::<u8, _>(problem, moves, Coding::exact(), new)
    } else {
        let new = || CodesInPages::new::<u16>(pages, len);
        slice.into_values::<u16, _>(problem, moves, Coding::exact(), new)
    };
    let values = finished(context, values)?;
    let whole = options.outcomes && !outcomes_only;
    Ok(if whole { outcomes_in_pages(values, pages) } else { values })
}

/// Solves the blocks of a slice that this process decides, and shows their values.
///
/// # Errors
///
/// [`SolveError::Stopped`], also where the partners keep another reason.
pub(crate) fn solve_share(
    problem: &Problem<'_>,
    options: &SolveOptions,
    together: (&dyn Partners, &dyn Monitor),
    take: &mut TakeValues<'_>,
) -> Result<SolvedShare, SolveError> {
    if problem.deepest() < u8::MAX_MOVES {
        share_with::<u8>(problem, options, together, take)
    } else {
        share_with::<u16>(problem, options, together, take)
    }
}

/// The same with codes `C` for the values behind the exits.
fn share_with<C: Code>(
    problem: &Problem<'_>,
    options: &SolveOptions,
    together: (&dyn Partners, &dyn Monitor),
    take: &mut TakeValues<'_>,
) -> Result<SolvedShare, SolveError> {
    let (rows, blocks) = (problem.context.rows(), problem.context.blocks.len());
    if let Some(pages) = &options.pages {
        let store = || PagedStore { pages, rows, blocks };
        return share_in::<C, _>(store, problem, together, take);
    }
    let recycled = &Recycled::new(false);
    share_in::<C, _>(|| MemoryStore { recycled, rows, blocks }, problem, together, take)
}

/// The same in a store.
fn share_in<C: Code, S: Store>(
    store: impl Fn() -> S,
    problem: &Problem<'_>,
    (partners, monitor): (&dyn Partners, &dyn Monitor),
    take: &mut TakeValues<'_>,
) -> Result<SolvedShare, SolveError> {
    let start = || SharedSlice::start(Slice::start::<C>(store(), problem), partners);
    let (slice, moves) = pass_loop::decide(&problem.context, monitor, start)?;
    if is_narrow(problem, moves) {
        slice.show_values::<u8>(take)?;
    } else {
        slice.show_values::<u16>(take)?;
    }
    Ok(SolvedShare { counts: slice.counts(), max_moves: moves })
}

/// Whether the values of a slice fit into bytes, whose longest win or loss is known.
fn is_narrow(problem: &Problem<'_>, moves: u16) -> bool {
    moves <= u8::MAX_MOVES && problem.deepest_capture() < u8::MAX_MOVES
}

/// What solving a slice in memory takes at most: five bytes for every four positions of a side
/// besides the values, as `hoffman_plan::estimate` says, and twice the values, which may be wide.
fn working_bytes(context: &Context<'_>) -> usize {
    let positions = 2 * context.rows() * context.blocks.len() * 64;
    positions * 5 / 4 + positions * 2
}

/// The outcomes of a slice in pages, wherever its values are.
pub fn outcomes_in_pages(slice: SliceValues, pages: &Arc<Pages>) -> SliceValues {
    let put = |codes: Codes| PagedOutcomes::of(pages, &codes).into_codes(codes.len());
    SliceValues { max_moves: 1, ..with_codes(slice, put) }
}

/// The same values in pages.
pub(crate) fn stored(slice: SliceValues, pages: &Arc<Pages>) -> SliceValues {
    fn put<C: Code>(codes: &[C], pages: &Arc<Pages>) -> Codes {
        let store = PagedCodes::new::<C>(pages, codes.len());
        store.write(0, C::as_bytes_of(codes));
        store.into_codes::<C>(codes.len())
    }
    with_codes(slice, |codes| match codes {
        Codes::Narrow(codes) => put(&codes, pages),
        Codes::Wide(codes) => put(&codes, pages),
        Codes::Stored(_) => codes,
    })
}

/// A slice whose codes are put elsewhere.
fn with_codes(slice: SliceValues, put: impl Fn(Codes) -> Codes) -> SliceValues {
    let en_passant = slice.en_passant.into_iter();
    let en_passant = en_passant.map(|right| EnPassantValues { codes: put(right.codes), ..right });
    SliceValues { en_passant: en_passant.collect(), codes: slice.codes.map(put), ..slice }
}

/// The values of a slice, unless blocks were left out because the work was to stop.
fn finished(context: &Context<'_>, values: SliceValues) -> Result<SliceValues, SolveError> {
    if context.is_incomplete() { Err(SolveError::Stopped) } else { Ok(values) }
}
