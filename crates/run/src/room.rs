//! How much memory a run takes, and what it works in when that is bounded.

use std::path::Path;
use std::sync::Arc;

use hoffman_pages::Pages;
use hoffman_space::Layout;

use crate::error::RunError;
use crate::progress::Progress;
use crate::workplace::Workplace;

/// What the program takes in any case: itself, its tables of moves, the writer's buffers.
const OWN: u64 = 24 << 20;

/// What a bound must leave for pages.
const PAGES: u64 = 16 << 20;

/// The least memory in bytes that a slice of a layout can be solved in, by so many threads.
///
/// Each works on one block at a time: values of two sorts for its positions, twice as wide where distances
/// are long, and planes of the block and of what lies around it.
pub fn least_memory(layout: &Layout, threads: usize) -> u64 {
    let movers = layout.movers().len();
    let rows = 1_u64 << (6 * (movers - 1 - layout.outer()));
    let around = 2 + 2 * 9;
    OWN + PAGES + threads as u64 * rows * (2 * 2 * 64 + 8 * around)
}

/// Memory for the layouts of a run, if it is bounded: as much as was asked for, or, where nothing was, what
/// there is if that is not enough for `needed` bytes.
///
/// # Errors
///
/// The bound is too small.
pub(crate) fn pages<'l>(
    workplace: &Workplace,
    layouts: impl Iterator<Item = &'l Layout>,
    needed: u64,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Option<Arc<Pages>>, RunError> {
    let available = crate::memory::available_memory();
    let bound = match (workplace.memory, available) {
        (Some(bound), _) => bound,
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
    let threads = rayon::current_num_threads();
    let least = layouts.map(|layout| least_memory(layout, threads)).max().unwrap_or(OWN + PAGES);
    if bound < least {
        return Err(RunError::LittleMemory { bound: bound >> 20, least: least.div_ceil(1 << 20) });
    }
    // Pages come and go in all sizes, which leaves gaps between them: measured, a quarter of their size.
    let pages = (bound - (least - PAGES)) / 4 * 3;
    tracing::info!(bound, pages, "memory is bounded");
    Ok(Some(Pages::new(folder, pages as usize)))
}
