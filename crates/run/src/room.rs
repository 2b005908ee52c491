//! How much memory a run takes, and what it works in when that is bounded.

use std::path::Path;
use std::sync::Arc;

use hoffman_pages::Pages;
use hoffman_space::Layout;

use crate::error::RunError;
use crate::memory::{free_disk, resident_memory, use_huge_pages};
use crate::progress::Progress;
use crate::workplace::Workplace;

/// What the program takes in any case: itself, its tables of moves, the writer's buffers.
pub(crate) const OWN: u64 = 24 << 20;

/// What a bound must leave for pages.
const PAGES: u64 = 16 << 20;

/// What is lost between pages, however few they are.
const GAPS: u64 = 6 << 20;

/// The bytes for which huge pages pay.
const WORTH_HUGE_PAGES: std::ops::Range<u64> = 4 << 20..256 << 20;

/// What a block takes besides the planes of its positions, in bytes: where its outer men can go,
/// and the pages of what passes decide there.
const BLOCK: u64 = 2 << 10;

/// The least memory in bytes that a slice of a layout can be solved in, by so many threads.
///
/// Each works on one block at a time: values of two sorts for its positions, twice as wide where
/// distances are long, planes of the block and of what lies around it, and a dozen events a row.
/// All blocks are listed.
pub fn least_memory(layout: &Layout, threads: usize) -> u64 {
    let movers = layout.movers().len();
    let rows = 1_u64.checked_shl(6 * (movers - 1 - layout.outer()) as u32).unwrap_or(u64::MAX);
    let blocks = (layout.len() as u64 / 64).div_ceil(rows);
    // Twins exchange their parts with every square of the narrow one.
    let exchanges = layout.twins().map_or(0, |twins| u64::from(twins.squares.count_ones()));
    let around = 2 + 2 * 9 + 4 * exchanges;
    let events = 16 * 12;
    let working = rows.saturating_mul(threads as u64 * (2 * 2 * 64 + 8 * around + events));
    working.saturating_add(blocks.saturating_mul(BLOCK)).saturating_add(OWN + PAGES)
}

/// The bytes of pages and the bound of the process, if memory is bounded: as much as was asked for,
/// or, where nothing was, what there is if that is not enough for `needed` bytes.
///
/// # Errors
///
/// The bound is smaller than `least`.
pub(crate) fn bounded_budget(
    workplace: &Workplace,
    least: u64,
    needed: u64,
    progress: &dyn Progress,
) -> Result<Option<(u64, u64)>, RunError> {
    let available = crate::memory::available_memory();
    let mut bound = match (workplace.memory, available) {
        (Some(memory), _) => memory.bytes,
        (None, Some(available)) if needed > available => {
            progress.notice(&format!(
                "{} MB of memory would be needed at once and {} MB are free; working from the disk",
                needed >> 20,
                available >> 20
            ));
            available / 10 * 9
        }
        _ => return Ok(None),
    };
    if bound < least {
        let fits = available.is_none_or(|available| least <= available);
        if !fits || workplace.memory.is_none_or(|memory| !memory.raise) {
            let least = least.div_ceil(1 << 20);
            return Err(RunError::LittleMemory { bound: bound >> 20, least });
        }
        progress.notice(&format!(
            "{} MB of memory are too little; using {} MB",
            bound >> 20,
            least.div_ceil(1 << 20)
        ));
        bound = least;
    }

    // Pages come and go in all sizes, which leaves gaps between them: measured, up to half of their
    // size and some megabytes.
    let pages = (bound - (least - PAGES)) / 3 * 2;
    Ok(Some((pages.saturating_sub(GAPS).max(PAGES / 4), bound)))
}

/// Memory for the layouts of a run, each with what writing takes beside it, if it is bounded, see
/// [`bounded_budget`].
///
/// # Errors
///
/// The bound is too small.
pub(crate) fn pages<'l>(
    workplace: &Workplace,
    layouts: impl Iterator<Item = (&'l Layout, u64)>,
    needed: u64,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Option<Arc<Pages>>, RunError> {
    if let Some(budget) = workplace.pages {
        return Ok(Some(Pages::new_in(workplace.storage.clone(), folder, budget)));
    }
    let threads = rayon::current_num_threads();
    let least = layouts.map(|(layout, writing)| least_memory(layout, threads) + writing);
    let least = least.max().unwrap_or(OWN + PAGES);
    let budget = bounded_budget(workplace, least, needed, progress)?;
    use_huge_pages(budget.is_none() && WORTH_HUGE_PAGES.contains(&needed));
    Ok(budget.map(|(pages, bound)| {
        tracing::info!(bound, pages, method = %workplace.method, "memory is bounded");
        let pages = Pages::new_in(workplace.storage.clone(), folder, pages as usize);
        // Some of what is free then can be used again only in part.
        pages.watch(bound / 16 * 13, resident_memory);
        pages.keep_free(workplace.margin(folder), free_disk);
        pages
    }))
}
