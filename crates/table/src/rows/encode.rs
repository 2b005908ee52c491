//! The entries of a table from the values of its slices, in memory.

use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

use hoffman_board::{Color, Format, Value};
use hoffman_space::{
    Code, Codes, Counts, KingPlacement, Layout, Orientation, PawnStructure, StoredCodes,
    TableValues,
};
use rayon::prelude::*;

use super::walk::{Free, Job, Rows, Run, en_passant_squares, is_canonical, touch};
use super::{Distances, IndexCounts, NUMBERS, RowsError, as_shared, codes_of, zeros};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;
use crate::stop::Stop;

/// The stored numbers of all indices of a table in a format, and what is counted on the way.
///
/// # Errors
///
/// The table is for other men, or needs slices that are not solved; somebody asked to stop.
pub fn encode(
    space: &IndexSpace,
    values: &TableValues,
    format: Format,
    stop: &Stop,
) -> Result<(Distances, IndexCounts), RowsError> {
    let rows = Rows::new(space, values)?.watching(stop);
    let size = usize::try_from(space.size()).map_err(|_| RowsError::TooLarge(space.size()))?;
    let structures = rows.structures();
    let deepest = rows.max_moves(values)?;
    let codec = raw_codec(space, format)?;
    let empty = codec.undecodable().0;
    let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
    // Distances can be counted where they are stored; a histogram of values costs a step each.
    let stored = format.has_distance() || shared;
    let (distances, mut counts) = if deepest < 127 {
        let mut narrow = vec![empty as i8; size];
        let entries = as_shared::<_, AtomicU8>(&mut narrow);
        let counts = fill::<u8, _>(&rows, values, &structures, (0, entries), codec, stored);
        (Distances::Narrow(narrow), counts)
    } else {
        let mut wide = vec![empty as i16; size];
        let entries = as_shared::<_, AtomicU16>(&mut wide);
        let counts = fill::<u16, _>(&rows, values, &structures, (0, entries), codec, stored);
        (Distances::Wide(wide), counts)
    };
    rows.finished()?;
    if stored && !shared {
        match &distances {
            Distances::Narrow(d) => count_stored(d, space.has_side_bit(), &mut counts),
            Distances::Wide(d) => count_stored(d, space.has_side_bit(), &mut counts),
        }
    }
    if shared {
        counts = recount(&rows, values, &distances, codec)?;
    }
    counts.indices = space.size();
    counts.moves = match &rows {
        Rows::Free(rows) => moves(rows, values, &structures),
        Rows::Restricted(rows) => rows.moves(values, &structures),
    };
    Ok((distances, counts))
}

/// The entries of a table without distances, made a stretch at a time: they take a fraction of a byte each, and
/// so much memory is there for them.
pub struct Stretches<'a> {
    rows: Rows<'a>,
    values: &'a TableValues,
    structures: Vec<PawnStructure>,
    codec: EntryCodec,
    size: usize,
}

impl<'a> Stretches<'a> {
    /// What is counted of all entries, and the way to them. None where positions may share an index, which
    /// [`encode()`] has to compare with each other.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn new(
        space: &'a IndexSpace,
        values: &'a TableValues,
        format: Format,
        stop: &Stop,
    ) -> Result<Option<(Stretches<'a>, IndexCounts)>, RowsError> {
        let rows = Rows::new(space, values)?.watching(stop);
        let size = usize::try_from(space.size()).map_err(|_| RowsError::TooLarge(space.size()))?;
        let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
        if shared || rows.max_moves(values)? >= 127 {
            return Ok(None);
        }
        let (structures, codec) = (rows.structures(), raw_codec(space, format)?);
        let nowhere: &[AtomicU8] = &[];
        let mut counts = fill::<u8, _>(&rows, values, &structures, (0, nowhere), codec, false);
        rows.finished()?;
        counts.indices = space.size();
        counts.moves = match &rows {
            Rows::Free(rows) => moves(rows, values, &structures),
            Rows::Restricted(rows) => rows.moves(values, &structures),
        };
        Ok(Some((Stretches { rows, values, structures, codec, size }, counts)))
    }

    /// Gives all numbers to `f`, in order, in portions of a multiple of eight (but for the last one).
    ///
    /// # Errors
    ///
    /// Those of `f`. From the moment in which somebody asks to stop the numbers mean nothing.
    pub fn for_each<E>(&self, mut f: impl FnMut(&[i8]) -> Result<(), E>) -> Result<(), E> {
        // The table is walked through once for every stretch.
        let stretch = (self.size / 4).next_multiple_of(8).max(1 << 16);
        let empty = self.codec.undecodable().0 as i8;
        let mut numbers = vec![empty; stretch.min(self.size)];
        for start in (0..self.size).step_by(stretch) {
            numbers.truncate(self.size - start);
            numbers.fill(empty);
            let entries = as_shared::<_, AtomicU8>(&mut numbers);
            let (rows, structures) = (&self.rows, &self.structures);
            fill::<u8, _>(rows, self.values, structures, (start, entries), self.codec, true);
            f(&numbers)?;
        }
        Ok(())
    }
}

/// The codec that stores every distance of a format as it is.
pub(super) fn raw_codec(space: &IndexSpace, format: Format) -> Result<EntryCodec, RowsError> {
    let bits = match format {
        Format::Basic => 2,
        Format::Flag(_) => 1,
        Format::Dtm(_) | Format::Dtc(_) => 32,
    };
    EntryCodec::new(format, bits, space.variant()).map_err(|_| RowsError::Entry)
}

/// Counts a table in which several placements share an index, and checks that they have the same value.
pub(super) fn recount(
    rows: &Rows<'_>,
    values: &TableValues,
    distances: &Distances,
    codec: EntryCodec,
) -> Result<IndexCounts, RowsError> {
    let entry = |index: usize| match distances {
        Distances::Narrow(d) => d.get(index).map(|&n| i32::from(n)),
        Distances::Wide(d) => d.get(index).map(|&n| i32::from(n)),
    };
    let mut counts = IndexCounts::default();
    let mut seen = vec![false; distances.len()];
    let mut differ = false;
    for structure in rows.structures() {
        let (slice, orientation) =
            rows.orient(values, structure).ok_or(RowsError::Incomplete(values.material))?;
        for job in rows.jobs(structure) {
            let codes = codes_of(&job, slice, orientation);
            rows.walk(&job, orientation, true, 0, |run| {
                for (index, offset) in run.positions() {
                    let value = codes.value(offset);
                    differ |= entry(index) != Some(codec.store(value, job.turn).0);
                    if !std::mem::replace(&mut seen[index], true) {
                        counts.add(value, job.turn, 1);
                    }
                }
            });
        }
    }
    rows.finished()?;
    if differ { Err(RowsError::Asymmetric) } else { Ok(counts) }
}

/// A number that many threads may write to.
pub(super) trait Shared: Sync + Send {
    fn put(&self, number: i16);
}

impl Shared for AtomicU8 {
    #[inline(always)]
    fn put(&self, number: i16) {
        self.store(number as u8, Ordering::Relaxed);
    }
}

impl Shared for AtomicU16 {
    #[inline(always)]
    fn put(&self, number: i16) {
        self.store(number as u16, Ordering::Relaxed);
    }
}

/// Neighbouring positions often have the same value; counting them in turns in several histograms keeps
/// one increment from waiting for the other.
pub(super) const HISTOGRAMS: usize = 4;

/// Histograms of codes, one behind the other.
pub(super) type Histogram = Vec<u64>;

/// Counts wins, losses and positions with the player not to move in check in the stored distances, of which
/// `counts.legal` are positions.
fn count_stored<N: Copy + Ord + From<i8> + Into<i32> + Sync>(
    numbers: &[N],
    has_side_bit: bool,
    counts: &mut IndexCounts,
) {
    /// Numbers side by side, even and odd indices apart, each with counts of a byte.
    const LANES: usize = 64;
    let add = |mut a: Stored, b: Stored| {
        a.sides
            .as_flattened_mut()
            .iter_mut()
            .zip(b.sides.as_flattened())
            .for_each(|(a, b)| *a += b);
        Stored { sides: a.sides, least: a.least.min(b.least), most: a.most.max(b.most) }
    };
    let piece = |numbers: &[N]| {
        let (zero, one) = (N::from(0), N::from(1));
        let (mut least, mut most) = ([zero; LANES], [zero; LANES]);
        let mut sides = [[0; 3]; 2];
        // A count of a byte holds 255 steps.
        for numbers in numbers.chunks(LANES * 255) {
            let (mut wins, mut losses, mut illegal) = ([0_u8; LANES], [0_u8; LANES], [0_u8; LANES]);
            let mut step = |lane: usize, n: N| {
                wins[lane] += u8::from(n > one);
                losses[lane] += u8::from(n < zero);
                illegal[lane] += u8::from(n == one);
                least[lane] = least[lane].min(n);
                most[lane] = most[lane].max(n);
            };
            let (rows, rest) = numbers.as_chunks::<LANES>();
            for row in rows {
                (0..LANES).for_each(|lane| step(lane, row[lane]));
            }
            rest.iter().enumerate().for_each(|(lane, &n)| step(lane, n));
            for lane in 0..LANES {
                let side: &mut [u64; 3] = &mut sides[lane % 2];
                side[0] += u64::from(wins[lane]);
                side[1] += u64::from(losses[lane]);
                side[2] += u64::from(illegal[lane]);
            }
        }
        let least = least.into_iter().min().map_or(0, Into::into);
        Stored { sides, least, most: most.into_iter().max().map_or(0, Into::into) }
    };
    let Stored { sides, least, most } =
        numbers.par_chunks(1 << 20).map(piece).reduce(Stored::default, add);
    for (number, [wins, losses, illegal]) in sides.into_iter().enumerate() {
        let (white, black) =
            if has_side_bit && number == 1 { (losses, wins) } else { (wins, losses) };
        counts.white_wins += white;
        counts.black_wins += black;
        counts.pntm_mated += illegal;
        counts.legal -= illegal;
    }
    counts.min_stored = least;
    counts.max_stored = if most > 1 { most } else { 0 };
}

/// What is counted of stored distances: at even and at odd indices wins, losses and positions with the player
/// not to move in check; the smallest and the largest.
#[derive(Default)]
pub(super) struct Stored {
    sides: [[u64; 3]; 2],
    least: i32,
    most: i32,
}

/// Writes the entries from an index on, as far as there is room; `W` is a width of code that holds every value.
/// What all of them are is counted unless they are counted where they are `stored`, then only how many they are.
pub(super) fn fill<W: Code, E: Shared>(
    rows: &Rows<'_>,
    values: &TableValues,
    structures: &[PawnStructure],
    (start, entries): (usize, &[E]),
    codec: EntryCodec,
    stored: bool,
) -> IndexCounts {
    let mut counts = IndexCounts::default();
    let jobs: Vec<Job> = structures.iter().flat_map(|&s| rows.jobs(s)).collect();
    for turn in [Color::White, Color::Black] {
        let kinds = 1_usize << (8 * std::mem::size_of::<W>());
        let mut numbers = zeros();
        for (n, number) in numbers.iter_mut().enumerate().take(kinds) {
            *number = codec.store(code_value::<W>(n), turn).0 as i16;
        }
        let write = Write { rows, values, start, entries, kinds, numbers };
        let jobs: Vec<&Job> = jobs.iter().filter(|j| j.turn == turn).collect();
        if stored {
            let written = jobs.par_iter().map(|job| write.job::<W, false>(job, &mut Vec::new()));
            counts.legal += written.sum::<u64>();
            continue;
        }
        let histogram = || vec![0_u64; HISTOGRAMS * kinds];
        let histogram = jobs
            .par_iter()
            .fold(histogram, |mut histogram, job| {
                write.job::<W, true>(job, &mut histogram);
                histogram
            })
            .reduce(histogram, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            });
        for (place, n) in histogram.into_iter().enumerate().filter(|&(_, n)| n > 0) {
            counts.add(code_value::<W>(place % kinds), turn, n);
        }
    }
    counts
}

/// The value of the code with a number.
pub(super) fn code_value<W: Code>(number: usize) -> Value {
    if W::MAX_MOVES == u8::MAX_MOVES { (number as u8).value() } else { (number as u16).value() }
}

/// The way of values to entries, for one side to move.
struct Write<'a, E> {
    rows: &'a Rows<'a>,
    values: &'a TableValues,
    /// The index of the first entry.
    start: usize,
    entries: &'a [E],
    /// How many codes there are.
    kinds: usize,
    /// The number to store for every code.
    numbers: Box<[i16; NUMBERS]>,
}

impl<E: Shared> Write<'_, E> {
    /// Writes the entries of a job, and returns how many.
    fn job<W: Code, const COUNT: bool>(&self, job: &Job, histogram: &mut Histogram) -> u64 {
        let Some((slice, orientation)) = self.rows.orient(self.values, job.structure) else {
            return 0;
        };
        match codes_of(job, slice, orientation) {
            Codes::Narrow(codes) => self.rows_of::<W, _, COUNT>(job, orientation, codes, histogram),
            Codes::Wide(codes) => self.rows_of::<W, _, COUNT>(job, orientation, codes, histogram),
            Codes::Stored(codes) if codes.wide => {
                self.rows_elsewhere::<W, u16, COUNT>(job, orientation, codes, histogram)
            }
            Codes::Stored(codes) => {
                self.rows_elsewhere::<W, u8, COUNT>(job, orientation, codes, histogram)
            }
        }
    }

    fn rows_of<W: Code, C: Code, const COUNT: bool>(
        &self,
        job: &Job,
        orientation: Orientation,
        codes: &[C],
        histogram: &mut Histogram,
    ) -> u64 {
        let mut written = 0;
        self.rows.walk(job, orientation, true, 0, |run| {
            written += run.len() as u64;
            let row = codes.get(run.row..).unwrap_or_default();
            self.run::<W, C, COUNT>(run, row, histogram);
        });
        written
    }

    /// The same with codes that have to be fetched.
    fn rows_elsewhere<W: Code, C: Code, const COUNT: bool>(
        &self,
        job: &Job,
        orientation: Orientation,
        codes: &StoredCodes,
        histogram: &mut Histogram,
    ) -> u64 {
        let mut written = 0;
        let mut row: Vec<C> = Vec::new();
        let here = self.start as u64..(self.start + self.entries.len()) as u64;
        self.rows.walk(job, orientation, true, 0, |run| {
            written += run.len() as u64;
            let last = run.index + run.step * (run.len() as u64).saturating_sub(1);
            if !COUNT && (last < here.start || run.index >= here.end) {
                return;
            }
            // The rows of bare kings, who may go from row to row, are few.
            let len = codes.len.saturating_sub(run.row);
            row.resize(if run.in_row { len.min(64) } else { len }, C::ILLEGAL);
            codes.read(run.row, &mut row);
            self.run::<W, C, COUNT>(run, &row, histogram);
        });
        written
    }

    /// Writes the entries of a run, whose codes are in `row`.
    #[inline(always)]
    fn run<W: Code, C: Code, const COUNT: bool>(
        &self,
        run: &Run<'_>,
        row: &[C],
        histogram: &mut Histogram,
    ) {
        // What is read in the loop must not be reached through what is written to.
        let (numbers, kinds) = (&*self.numbers, self.kinds);
        let (entries, step) = (self.entries, run.step as usize);
        let mut write = |code: C, index: usize, i: usize| {
            let number = W::convert(code).number() & (NUMBERS - 1);
            if COUNT {
                histogram[number + i % HISTOGRAMS * kinds] += 1;
            }
            if let Some(entry) = entries.get(index) {
                entry.put(numbers[number]);
            }
        };
        let mut index = (run.index as usize).wrapping_sub(self.start);
        if run.in_row
            && let Some(row) = row.first_chunk::<64>()
        {
            for (i, square) in run.squares().enumerate() {
                write(row[square & 63], index, i);
                index = index.wrapping_add(step);
            }
            return;
        }
        // Bare kings may go from row to row.
        for (i, square) in run.squares().enumerate() {
            if let Some(&code) = row.get(square) {
                write(code, index, i);
            }
            index = index.wrapping_add(step);
        }
    }
}

/// Adds up what the slices counted, by the way in which the table's indices represent their positions.
pub(super) fn moves(
    rows: &Free<'_>,
    values: &TableValues,
    structures: &[PawnStructure],
) -> Option<Counts> {
    let both = rows.space.has_side_bit();
    if rows.layout.movers().len() == 2 && !values.material.has_pawns() {
        return Some(bare_king_moves(rows.space.symmetry(), both));
    }
    let mut sum = Counts::default();
    for &structure in structures {
        let (slice, orientation) = rows.orient(values, structure)?;
        let counts = slice.counts.as_ref()?;
        for turn in [Color::White, Color::Black] {
            if turn == Color::Black && !both {
                continue;
            }
            let side = orientation.color(turn) as usize ^ 1;
            let mut times = |counts: Counts, n: u64| {
                sum.stalemates += counts.stalemates * n;
                sum.moves += counts.moves * n;
                sum.futuremoves += counts.futuremoves * n;
            };
            if rows.layout.kings() == KingPlacement::Pairs {
                let ways = u64::from(rows.space.symmetry());
                // Two diagonal kings leave each position and its mirror image in the same block.
                times(counts.plain[side], 8 / ways);
                if ways < 8 {
                    let half = counts.diagonal[side];
                    sum.stalemates -= half.stalemates * (4 / ways);
                    sum.moves -= half.moves * (4 / ways);
                    sum.futuremoves -= half.futuremoves * (4 / ways);
                }
                continue;
            }
            times(counts.plain[side], 1);
            for square in en_passant_squares(structure, turn) {
                let there = orientation.symmetry().apply_index(square);
                let (_, counts) = counts.en_passant.iter().find(|(s, _)| *s == there)?;
                times(*counts, 1);
            }
        }
    }
    let mut divisor = like_orders(&values.layout);
    if rows.layout.kings() == KingPlacement::Axes {
        divisor *= u64::from(rows.space.symmetry());
    }
    sum.stalemates /= divisor;
    sum.moves /= divisor;
    sum.futuremoves /= divisor;
    Some(sum)
}

/// The moves of two bare kings, whose layout knows no symmetry while their table does.
fn bare_king_moves(ways: u8, both_sides: bool) -> Counts {
    let mut counts = Counts::default();
    for white in 0..64 {
        for black in 0..64 {
            if touch(white, black) || !is_canonical(ways, white, black) {
                continue;
            }
            let moves = |from: u8, other: u8| {
                (0..64).filter(|&to| to != from && touch(from, to) && !touch(to, other)).count()
                    as u64
            };
            counts.moves += moves(white, black);
            if both_sides {
                counts.moves += moves(black, white);
            }
        }
    }
    counts
}

/// In how many orders the like men of a layout can stand on the same squares.
pub(super) fn like_orders(layout: &Layout) -> u64 {
    let mut orders = 1;
    let movers = layout.movers();
    for (m, mover) in movers.iter().enumerate() {
        orders *= movers[..=m].iter().filter(|o| *o == mover).count() as u64;
    }
    orders
}
