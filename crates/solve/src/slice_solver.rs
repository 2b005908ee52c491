//! Solving one slice: in memory if it fits there, else in pages.

use std::sync::Arc;

use hoffman_pages::{PagedCodes, Pages};
use hoffman_space::{Code, CodeStore as _, Codes, EnPassantValues, SliceValues};

use crate::context::Context;
use crate::memory_slice;
use crate::monitor::Monitor;
use crate::options::{SolveError, SolveOptions};
use crate::paged_slice;
use crate::problem::Problem;
use crate::recycled::Recycled;
use crate::target::Target;

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
