//! Whether a table is right: every entry recomputed from the entries of its successors.
//!
//! Reads entries through [`Table`] only and never solves. Moves are made here, with the attack sets
//! of `shakmaty`, so that neither the solver's kernels nor its retrograde moves are trusted. What
//! is looked at besides: the checksums and the length of the container, the statistics in the
//! header, and the published Syzygy tables, where cursed wins are wins.
//!
//! The recurrence is that of section 5 of the format's description. A table with distances that
//! obeys it everywhere is right, for distances cannot support each other in a circle; one without
//! distances could be wrong in a whole circle of positions, which [`VerifyReport::remarks`] then
//! says.

pub mod foreign;
mod loaded;
mod men;
mod outcomes;
mod report;
mod rows;
mod smaller;
mod syzygy;
mod tally;
mod tested;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hoffman_table::rows::{EntryRow, has_rows, scan, scan_by_values, scan_restricted};
use hoffman_table::{ForeignError, IndexSpace, SharedValues, Table, TableError};
use rayon::prelude::*;

use men::SlotMove;
pub(crate) use men::{Men, fen, men_of};
pub use report::{Difference, HeaderDifference, SHOWN, SyzygyReport, Verdict, VerifyReport};
use report::{remarks_on, report};
use rows::TestedRows;
pub use smaller::{Smaller, endings_after, search_folders};
use tally::Tally;
use tested::TestedTable;

/// Indices that a thread takes at a time, at most.
const BLOCK: u64 = 2048;

/// How many entries of a table are unpacked in the time in which those behind the moves of one
/// sampled index are fetched one by one.
const UNPACKED: u64 = 4096;

/// How many entries behind the moves of a sampled position are looked up, about.
const LOOKED_UP: u64 = 8;

/// Why a table could not be verified to the end. Differences are no error; see [`VerifyReport`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A table cannot be read: damage, a wrong checksum, a wrong length.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A folder of Syzygy tables cannot be read.
    #[error(transparent)]
    Syzygy(ForeignError),
    /// Syzygy tables are about orthodox chess.
    #[error("{}: Syzygy tables cannot judge a table of suicide chess", .0.display())]
    SyzygyVariant(PathBuf),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// How much is verified.
#[derive(Clone)]
pub struct VerifyExtent<'a> {
    /// Only that many indices, spread evenly; all if none.
    pub sample: Option<u64>,
    /// Folders with Syzygy tables to compare with.
    pub syzygy: Vec<PathBuf>,
    /// Bytes that unpacked entries may take. Tables beyond it are read through their block cache.
    pub memory: u64,
    /// Where the values of complete endings are kept for other tables that lean on them, or lead to
    /// them.
    pub shared: Option<Arc<SharedValues>>,
    /// Is told how many indices of how many are done, by any thread, a few times a second or
    /// oftener.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Is asked as often whether to stop.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Default for VerifyExtent<'_> {
    /// Everything, without Syzygy, in 4 GiB.
    fn default() -> Self {
        let (progress, stop) = (None, None);
        let (syzygy, shared) = (Vec::new(), None);
        VerifyExtent { sample: None, syzygy, memory: 4 << 30, shared, progress, stop }
    }
}

impl VerifyExtent<'_> {
    /// An error if somebody wants to stop.
    fn check_stop(&self) -> Result<(), VerifyError> {
        match self.stop {
            Some(stop) if stop() => Err(VerifyError::Cancelled),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for VerifyExtent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("sample", &self.sample)
            .field("syzygy", &self.syzygy)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// The `k`th of `n` indices spread over a table: one out of each of `n` equal stretches.
fn sampled(k: u64, n: u64, size: u64) -> u64 {
    let start = |k: u64| (u128::from(k) * u128::from(size) / u128::from(n)) as u64;
    let (first, end) = (start(k), start(k + 1));
    // SplitMix64, so that the sample follows no pattern of the index and is the same every time.
    let mut x = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    first + (x ^ x >> 31) % (end - first).max(1)
}

/// Verifies a table against the entries of its successors, its own header and, if folders are
/// given, Syzygy. Call [`Table::check_length`] first for files of the original.
///
/// # Errors
/// Damage to a file, which ends the work. Wrong entries are reported instead.
pub fn verify(
    table: &Table,
    smaller: &Smaller,
    options: &VerifyExtent<'_>,
) -> Result<VerifyReport, VerifyError> {
    let mut remarks = Vec::from_iter(table.verify_file()?);
    remarks.extend_from_slice(&smaller.remarks);
    let size = table.space().size();
    let sample = options.sample.filter(|&n| n < size);
    let count = sample.unwrap_or(size);
    if let Some(progress) = options.progress {
        // The smaller tables are read first, which takes a while.
        progress(0, count);
    }
    let tested = TestedTable::new(table, smaller, options)?;
    let by_rows = sample.is_none().then(|| TestedRows::new(&tested)).flatten();
    let tally = match by_rows {
        Some(mut rows) => check_rows(&tested, &mut rows, options)?,
        None => check_each(&tested, options, sample, |_| true)?,
    };
    remarks.extend(remarks_on(&tested, &tally, sample.is_some()));
    Ok(report(&tested, tally, remarks, sample.is_some()))
}

/// Looks at the indices, or the sampled ones, one by one, of those that `wanted` names.
fn check_each(
    tested: &TestedTable<'_>,
    options: &VerifyExtent<'_>,
    sample: Option<u64>,
    wanted: impl Fn(u64) -> bool + Sync,
) -> Result<Tally, VerifyError> {
    let size = tested.table().space().size();
    let count = sample.unwrap_or(size);
    let done = AtomicU64::new(0);
    // Of a sample, too, every thread takes several.
    let block_len = (count / (16 * rayon::current_num_threads() as u64)).clamp(1, BLOCK);
    let check_block = |(mut tally, mut steps): (Tally, Vec<SlotMove>), block: u64| {
        options.check_stop()?;
        let (first, end) = (block * block_len, (block * block_len + block_len).min(count));
        for k in first..end {
            let index = sample.map_or(k, |n| sampled(k, n, size));
            if wanted(index) {
                tested.check(index, &mut tally, &mut steps)?;
            }
        }
        let done = done.fetch_add(end - first, Ordering::Relaxed) + (end - first);
        if let Some(progress) = options.progress {
            progress(done, count);
        }
        Ok::<_, VerifyError>((tally, steps))
    };
    (0..count.div_ceil(block_len))
        .into_par_iter()
        .try_fold(|| (Tally::default(), Vec::new()), check_block)
        .map(|result| result.map(|(tally, _)| tally))
        .try_reduce(Tally::default, |a, b| Ok(a.with(b)))
}

/// What one share of the rows has found, until something went wrong.
struct PartialTally {
    tally: Tally,
    steps: Vec<SlotMove>,
    /// Positions that were looked at since the last report of progress.
    fresh: u64,
    /// See [`EntryRow::sums`].
    sums: [u64; 3],
    error: Option<VerifyError>,
}

impl PartialTally {
    fn new() -> PartialTally {
        let (tally, steps) = (Tally::default(), Vec::new());
        PartialTally { tally, steps, fresh: 0, sums: [0; 3], error: None }
    }
}

/// A look at the rows of a table, by many threads.
struct RowsCheck<'a> {
    rows: &'a TestedRows<'a>,
    options: &'a VerifyExtent<'a>,
    /// How many indices there are.
    size: u64,
    done: AtomicU64,
}

impl RowsCheck<'_> {
    /// Looks at a row unless something went wrong before.
    fn look(&self, share: &mut PartialTally, row: &EntryRow<'_>) {
        if share.error.is_none() {
            share.error = self.check(share, row).err();
        }
    }

    fn check(&self, share: &mut PartialTally, row: &EntryRow<'_>) -> Result<(), VerifyError> {
        if share.fresh == 0 {
            self.options.check_stop()?;
        }
        self.rows.check(row, &mut share.tally, &mut share.steps)?;
        let sums = row.sums();
        share.fresh += sums[0];
        share.sums = added(share.sums, sums);

        if share.fresh >= BLOCK {
            let done = self.done.fetch_add(share.fresh, Ordering::Relaxed) + share.fresh;
            share.fresh = 0;
            if let Some(progress) = self.options.progress {
                progress(done, self.size);
            }
        }
        Ok(())
    }
}

/// See [`EntryRow::sums`], of all indices below one.
fn sums_up_to(size: u64) -> [u64; 3] {
    let n = u128::from(size);
    let sum = n * n.saturating_sub(1) / 2;
    let odd = (2 * n).saturating_sub(1);
    let [sum_part, odd_part] = if sum % 3 == 0 { [sum / 3, odd] } else { [sum, odd / 3] };
    let squares = sum_part.wrapping_mul(odd_part);
    [size, sum as u64, squares as u64]
}

fn added(one: [u64; 3], other: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|i| one[i].wrapping_add(other[i]))
}

/// Shows the rows of a table, as it has them, see [`scan`].
fn show_rows<T: Send>(
    space: &IndexSpace,
    has_values: bool,
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Vec<T> {
    let shares = if has_values {
        scan_by_values(space, new, look)
    } else if has_rows(space) {
        scan(space, new, look)
    } else {
        scan_restricted(space, new, look)
    };
    shares.unwrap_or_default()
}

/// The indices that are in no row, a bit each.
fn left_out(space: &IndexSpace, has_values: bool) -> Vec<AtomicU64> {
    let all = (0..space.size().div_ceil(64)).map(|_| AtomicU64::new(u64::MAX)).collect();
    let left: Vec<AtomicU64> = all;
    show_rows(
        space,
        has_values,
        || (),
        |(), row| {
            for (_, index) in row.positions() {
                if let Some(word) = left.get((index / 64) as usize) {
                    word.fetch_and(!(1 << (index % 64)), Ordering::Relaxed);
                }
            }
        },
    );
    left
}

/// Looks at all positions by rows, and one by one at the indices that are in none.
fn check_rows(
    tested: &TestedTable<'_>,
    rows: &mut TestedRows<'_>,
    options: &VerifyExtent<'_>,
) -> Result<Tally, VerifyError> {
    let tally = look_at_rows(tested, rows, options)?;
    if !rows.distrusts_values() {
        return Ok(tally);
    }
    // What is looked up has to be the entries, and nothing else.
    rows.forget_values();
    look_at_rows(tested, rows, options)
}

fn look_at_rows(
    tested: &TestedTable<'_>,
    rows: &TestedRows<'_>,
    options: &VerifyExtent<'_>,
) -> Result<Tally, VerifyError> {
    let space = tested.table().space();
    let size = space.size();
    let has_values = rows.has_values();
    let rows = RowsCheck { rows, options, size, done: AtomicU64::new(0) };
    let look = |share: &mut PartialTally, row: &EntryRow<'_>| rows.look(share, row);
    let (mut total, mut sums) = (Tally::default(), [0; 3]);
    for share in show_rows(space, has_values, PartialTally::new, look) {
        match share.error {
            Some(error) => return Err(error),
            None => total = total.with(share.tally.counted()),
        }
        sums = added(sums, share.sums);
    }

    // Mostly each index was in one row, and no bits have to be kept of which.
    if sums != sums_up_to(size) {
        // Progress has been told already.
        let quiet = VerifyExtent { progress: None, ..options.clone() };
        let left = left_out(space, has_values);
        let is_left = |index: u64| {
            let word = left.get((index / 64) as usize);
            word.is_none_or(|word| word.load(Ordering::Relaxed) >> (index % 64) & 1 != 0)
        };
        total = total.with(check_each(tested, &quiet, None, is_left)?);
    }
    if let Some(progress) = options.progress {
        progress(size, size);
    }
    Ok(total)
}
