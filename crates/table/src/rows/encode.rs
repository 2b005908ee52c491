//! The entries of a table from the values of its slices.
//!
//! There is one way: all portions of the table are walked, and what falls into a range of indices
//! is written. In memory the range is the whole table. Where memory is bounded it is a window of
//! entries, and the table is walked once for each; there the values, which lie in pages, are
//! fetched a pair of kings at a time. Tables whose kings are the lowest digit of an index have a
//! better way then, see `transpose`.

use std::sync::Arc;

use hoffman_board::{ByColor, Color, Format};
use hoffman_pages::Pages;
use hoffman_space::{Code, Codes, Orientation, StoredCodes, TableValues};
use rayon::prelude::*;

use super::counts::{Histogram, IndexCounts, StoredCounts};
use super::distances::{Distances, PIECE, StoredDistances};
use super::places::{CountedOnly, EntryPlaces, EntrySlice, Window};
use super::transpose::KingMatrix;
use super::walk::{Portion, Rows, Run, Visits};
use super::{NUMBERS, RowsError, codes_of, zeros};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;
use crate::stop::Stop;

/// The stored numbers of all indices of a table in a format, and what is counted on the way.
///
/// # Errors
///
/// The table is for other pieces, or needs slices that are not solved; the caller asked to stop.
pub fn encode(
    space: &IndexSpace,
    values: &TableValues,
    format: Format,
    stop: &Stop,
) -> Result<(Distances, IndexCounts), RowsError> {
    let encoding = Encoding::new(space, values, format, stop)?;
    if encoding.wide {
        let (numbers, counts) = encoding.in_memory::<u16>()?;
        Ok((Distances::Wide(numbers), counts))
    } else {
        let (numbers, counts) = encoding.in_memory::<u8>()?;
        Ok((Distances::Narrow(numbers), counts))
    }
}

/// Like [`encode()`], with the values and the numbers in `pages` and a window of half their budget
/// in memory.
///
/// # Errors
///
/// As there.
pub fn encode_in(
    space: &IndexSpace,
    values: &TableValues,
    format: Format,
    pages: &Arc<Pages>,
    stop: &Stop,
) -> Result<(StoredDistances, IndexCounts), RowsError> {
    let encoding = Encoding { by_blocks: true, ..Encoding::new(space, values, format, stop)? };
    if encoding.wide { encoding.in_pages::<u16>(pages) } else { encoding.in_pages::<u8>(pages) }
}

/// The entries of a table, made a stretch at a time: where they take a fraction of a byte each and
/// so much memory is there for them, or if they are only counted.
pub struct Stretches<'a> {
    encoding: Encoding<'a>,
    portions: Vec<Portion>,
}

impl<'a> Stretches<'a> {
    /// What is counted of all entries, and the way to them. None where positions may share an
    /// index, which [`encode()`] has to compare with each other. If the values lie `in_pages`, they
    /// are fetched a pair of kings at a time.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn new(
        space: &'a IndexSpace,
        values: &'a TableValues,
        format: Format,
        (in_pages, stop): (bool, &Stop),
    ) -> Result<Option<(Stretches<'a>, IndexCounts)>, RowsError> {
        let encoding =
            Encoding { by_blocks: in_pages, ..Encoding::new(space, values, format, stop)? };
        if encoding.shared || encoding.wide {
            return Ok(None);
        }
        let portions = encoding.portions();
        let mut tally = RunningCounts::default();
        encoding.fill::<u8>(&portions, CountedOnly, Counting::Values, &mut tally.counts);
        let counts = encoding.finish(&tally)?;
        Ok(Some((Stretches { encoding, portions }, counts)))
    }

    /// Gives all numbers to `f`, in order, in pieces of a multiple of eight (but for the last
    /// one).
    ///
    /// # Errors
    ///
    /// Those of `f`. From the moment in which the caller asks to stop the numbers mean nothing.
    pub fn for_each<E>(&self, mut f: impl FnMut(&[i8]) -> Result<(), E>) -> Result<(), E> {
        // The table is walked through once for every stretch.
        let size = self.encoding.size;
        let stretch = (size / 4).next_multiple_of(8).max(1 << 16);
        let mut numbers = vec![0; stretch.min(size)];
        for start in (0..size).step_by(stretch) {
            numbers.truncate(size - start);
            numbers.fill(self.encoding.empty::<u8>());
            let places = u8::share(bytemuck::cast_slice_mut(&mut numbers));
            let mut uncounted = IndexCounts::default();
            let entries = EntrySlice { start, places };
            self.encoding.fill::<u8>(&self.portions, entries, Counting::Positions, &mut uncounted);
            f(&numbers)?;
        }
        Ok(())
    }
}

/// What is counted while entries are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// How many positions there are; what they are worth is counted where it is stored. A
    /// histogram of values costs a step each.
    Positions,
    /// What they are worth.
    Values,
}

/// What is counted so far.
#[derive(Default)]
struct RunningCounts {
    counts: IndexCounts,
    stored: Option<StoredCounts>,
    /// Whether positions that share an index have different values.
    differ: bool,
}

/// The way from values to the entries of a table.
struct Encoding<'a> {
    space: &'a IndexSpace,
    rows: Rows<'a>,
    values: &'a TableValues,
    codec: EntryCodec,
    /// How many entries there are.
    size: usize,
    /// Whether distances need two bytes.
    wide: bool,
    /// Whether several placements may share an index.
    shared: bool,
    /// Whether portions are cut by pairs of kings, so that codes that lie elsewhere are fetched at
    /// once.
    by_blocks: bool,
}

impl<'a> Encoding<'a> {
    fn new(
        space: &'a IndexSpace,
        values: &'a TableValues,
        format: Format,
        stop: &Stop,
    ) -> Result<Encoding<'a>, RowsError> {
        let rows = Rows::new(space, values)?.watching(stop);
        let size = usize::try_from(space.size()).map_err(|_| RowsError::TooLarge(space.size()))?;
        let wide = rows.max_moves(values)? > u8::MAX_MOVES;
        let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
        let codec = raw_codec(space, format)?;
        Ok(Encoding { space, rows, values, codec, size, wide, shared, by_blocks: false })
    }

    /// What has to be walked, in parts for all threads.
    fn portions(&self) -> Vec<Portion> {
        let structures = self.rows.structures().into_iter();
        let sides = structures.flat_map(|structure| self.rows.sides(structure));
        if self.by_blocks {
            sides.flat_map(|side| self.rows.by_pairs(side)).collect()
        } else {
            sides.flat_map(|side| self.rows.shares(side)).collect()
        }
    }

    /// The number of an index that has no position.
    fn empty<W: Code>(&self) -> W::Signed {
        bytemuck::cast(W::truncate(self.codec.undecodable().0 as u32))
    }

    /// The number to store for every code.
    #[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
    fn numbers<W: Code>(&self, turn: Color) -> Box<[W; NUMBERS]> {
        let mut numbers = zeros();
        for (code, number) in (0..W::KINDS as u32).zip(numbers.iter_mut()) {
            let value = W::truncate(code).value();
            *number = W::truncate(self.codec.store(value, turn).0 as u32);
        }
        numbers
    }

    /// All entries at once.
    fn in_memory<W: Code>(&self) -> Result<(Vec<W::Signed>, IndexCounts), RowsError> {
        let mut numbers = vec![self.empty::<W>(); self.size];
        let mut tally = RunningCounts::default();
        let places = W::share(bytemuck::cast_slice_mut(&mut numbers));
        self.write::<W>(&self.portions(), EntrySlice { start: 0, places }, &mut tally);
        // What was begun means nothing if the caller asked to stop.
        self.rows.finished()?;
        self.count_stored::<W>(&numbers, &mut tally);
        Ok((numbers, self.finish(&tally)?))
    }

    /// All entries in pages.
    fn in_pages<W: Code>(
        &self,
        pages: &Arc<Pages>,
    ) -> Result<(StoredDistances, IndexCounts), RowsError> {
        let Some(matrix) = KingMatrix::of(self.space, &self.rows) else {
            return self.in_windows::<W>(pages);
        };
        let numbers = ByColor::new_with(|turn| self.numbers::<W>(turn));
        let empty = bytemuck::cast(self.empty::<W>());
        let (distances, met) = matrix.encode::<W>(self.values, empty, &numbers, pages)?;
        let mut tally = RunningCounts::default();
        met.zip_color().for_each(|(turn, met)| met.add_to::<W>(turn, &mut tally.counts));
        let moves = self.rows.moves(self.values);
        self.rows.finished()?;
        Ok((distances, IndexCounts { indices: self.space.size(), moves, ..tally.counts }))
    }

    /// The same, a window at a time.
    fn in_windows<W: Code>(
        &self,
        pages: &Arc<Pages>,
    ) -> Result<(StoredDistances, IndexCounts), RowsError> {
        let mut distances = StoredDistances::new::<W>(pages.file());
        let mut tally = RunningCounts::default();
        let portions = self.portions();
        let room = pages.budget() / 2 / size_of::<W>();
        let window = room.next_multiple_of(PIECE).max(PIECE).min(self.size.max(1));
        for start in (0..self.size).step_by(window) {
            self.rows.finished()?;
            let len = window.min(self.size - start);
            pages.lend(len * size_of::<W>(), || {
                let piece = |at: usize| vec![self.empty::<W>(); PIECE.min(len - at)];
                let mut pieces: Vec<_> = (0..len).step_by(PIECE).map(piece).collect();
                let shared = pieces.iter_mut().map(|p| W::share(bytemuck::cast_slice_mut(p)));
                let shared: Vec<_> = shared.collect();
                self.write::<W>(&portions, Window { start, len, pieces: &shared }, &mut tally);

                for piece in &pieces {
                    self.count_stored::<W>(piece, &mut tally);
                    distances.push(piece);
                }
            });
        }
        Ok((distances, self.finish(&tally)?))
    }

    /// Writes the entries of some indices, and counts what is not counted where it is stored.
    fn write<W: Code>(
        &self,
        portions: &[Portion],
        entries: impl EntryPlaces<W>,
        tally: &mut RunningCounts,
    ) {
        if self.shared {
            self.fill::<W>(portions, entries, Counting::Positions, &mut IndexCounts::default());
            self.count_shared::<W>(portions, entries, tally);
        } else if self.codec.format().has_distance() {
            self.fill::<W>(portions, entries, Counting::Positions, &mut tally.counts);
        } else {
            self.fill::<W>(portions, entries, Counting::Values, &mut tally.counts);
        }
    }

    /// Counts stored numbers, if that is how the table is counted.
    fn count_stored<W: Code>(&self, numbers: &[W::Signed], tally: &mut RunningCounts) {
        if self.codec.format().has_distance() && !self.shared {
            let counts = StoredCounts::of(numbers);
            tally.stored = Some(tally.stored.unwrap_or_default().with(counts));
        }
    }

    /// What was counted of all entries.
    fn finish(&self, tally: &RunningCounts) -> Result<IndexCounts, RowsError> {
        self.rows.finished()?;
        if tally.differ {
            return Err(RowsError::Asymmetric);
        }
        let mut counts = tally.counts;
        if let Some(stored) = tally.stored {
            stored.add_to(self.space.has_side_bit(), &mut counts);
        }
        let moves = self.rows.moves(self.values);
        Ok(IndexCounts { indices: self.space.size(), moves, ..counts })
    }

    /// Writes the entries that there is room for.
    fn fill<W: Code>(
        &self,
        portions: &[Portion],
        entries: impl EntryPlaces<W>,
        counting: Counting,
        counts: &mut IndexCounts,
    ) {
        for turn in [Color::White, Color::Black] {
            let writer = Writer { encoding: self, entries, numbers: self.numbers::<W>(turn) };
            let portions: Vec<&Portion> =
                portions.iter().filter(|portion| portion.turn == turn).collect();
            if counting == Counting::Positions {
                let none = Histogram::none;
                let written = portions
                    .par_iter()
                    .map(|portion| writer.portion::<false>(portion, &mut none()));
                counts.legal += written.sum::<u64>();
                continue;
            }
            let met = portions.par_iter().fold(Histogram::new::<W>, |mut met, portion| {
                writer.portion::<true>(portion, &mut met);
                met
            });
            let met = met.reduce(Histogram::new::<W>, |a, b| a.with(&b));
            met.add_to::<W>(turn, counts);
        }
    }

    /// Counts positions of which several may share an index, and whether those have the same
    /// value.
    fn count_shared<W: Code>(
        &self,
        portions: &[Portion],
        entries: impl EntryPlaces<W>,
        tally: &mut RunningCounts,
    ) {
        let indices = entries.indices();
        let mut seen = vec![false; (indices.end - indices.start) as usize];
        for portion in portions {
            // All slices are there, or their deepest values were not known.
            let Some((slice, orientation)) = self.rows.orient(self.values, portion.structure)
            else {
                continue;
            };
            let codes = codes_of(portion, slice, orientation);
            let visits = Visits { orientation, once: true, promoted: 0 };
            self.rows.walk(portion, visits, |run| {
                let Some(run) = run.within(&indices) else { return };
                for (index, offset) in run.positions() {
                    let number = index - indices.start as usize;
                    let value = codes.value(offset);
                    let stored = W::truncate(self.codec.store(value, portion.turn).0 as u32);
                    tally.differ |= entries.get(number).map(W::get) != Some(stored);
                    if !std::mem::replace(&mut seen[number], true) {
                        tally.counts.add(value, portion.turn, 1);
                    }
                }
            });
        }
    }
}

/// The codec that stores every distance of a format as it is.
fn raw_codec(space: &IndexSpace, format: Format) -> Result<EntryCodec, RowsError> {
    let bits = match format {
        Format::Basic => 2,
        Format::Flag(_) => 1,
        Format::Dtm(_) | Format::Dtc(_) => 32,
    };
    EntryCodec::new(format, bits, space.variant()).map_err(|_| RowsError::Entry)
}

/// Where the codes of rows are read.
trait CodeRows<C> {
    /// The codes from the first one of a row on: 64, or all behind it if positions go from row to
    /// row.
    fn of(&mut self, row: usize, in_row: bool) -> &[C];
}

impl<C: Code> CodeRows<C> for &[C] {
    fn of(&mut self, row: usize, _: bool) -> &[C] {
        self.get(row..).unwrap_or_default()
    }
}

/// Codes that lie elsewhere and are fetched row by row.
struct FetchedRows<'a, C> {
    codes: &'a StoredCodes,
    row: Vec<C>,
}

impl<C: Code> CodeRows<C> for FetchedRows<'_, C> {
    fn of(&mut self, row: usize, in_row: bool) -> &[C] {
        // The rows of bare kings, which may go from row to row, are few.
        let len = self.codes.len.saturating_sub(row);
        self.row.resize(if in_row { len.min(64) } else { len }, C::ILLEGAL);
        self.codes.read(row, &mut self.row);
        &self.row
    }
}

/// All codes that a portion needs, fetched at once.
struct FetchedBlock<C> {
    /// Where they begin.
    start: usize,
    codes: Vec<C>,
}

impl<C: Code> FetchedBlock<C> {
    fn new(codes: &StoredCodes, start: usize, len: usize) -> FetchedBlock<C> {
        let mut block = vec![C::ILLEGAL; len];
        codes.read(start, &mut block);
        FetchedBlock { start, codes: block }
    }
}

impl<C: Code> CodeRows<C> for FetchedBlock<C> {
    fn of(&mut self, row: usize, _: bool) -> &[C] {
        self.codes.get(row.wrapping_sub(self.start)..).unwrap_or_default()
    }
}

/// The way of values to entries, for one side to move.
struct Writer<'e, 'a, W, E> {
    encoding: &'e Encoding<'a>,
    entries: E,
    /// The number to store for every code.
    numbers: Box<[W; NUMBERS]>,
}

impl<W: Code, E: EntryPlaces<W>> Writer<'_, '_, W, E> {
    /// Writes the entries of a portion, and returns how many.
    fn portion<const COUNT: bool>(&self, portion: &Portion, met: &mut Histogram) -> u64 {
        let Encoding { rows, values, .. } = self.encoding;
        // All slices are there, or their deepest values were not known.
        let Some((slice, orientation)) = rows.orient(values, portion.structure) else { return 0 };
        match codes_of(portion, slice, orientation) {
            Codes::Narrow(codes) => {
                self.rows_of::<u8, COUNT>(portion, orientation, &mut codes.as_slice(), met)
            }
            Codes::Wide(codes) => {
                self.rows_of::<u16, COUNT>(portion, orientation, &mut codes.as_slice(), met)
            }
            Codes::Stored(codes) if codes.wide => {
                self.fetched::<u16, COUNT>(portion, orientation, codes, met)
            }
            Codes::Stored(codes) => self.fetched::<u8, COUNT>(portion, orientation, codes, met),
        }
    }

    /// The same with codes that have to be fetched.
    fn fetched<C: Code, const COUNT: bool>(
        &self,
        portion: &Portion,
        orientation: Orientation,
        codes: &StoredCodes,
        met: &mut Histogram,
    ) -> u64 {
        if !self.encoding.by_blocks {
            let mut rows = FetchedRows::<C> { codes, row: Vec::new() };
            return self.rows_of::<C, COUNT>(portion, orientation, &mut rows, met);
        }
        // Kings that touch after they were turned have no values.
        let Some((start, len)) = self.encoding.rows.block_of(portion, orientation) else {
            return 0;
        };
        let mut block = FetchedBlock::<C>::new(codes, start, len);
        self.rows_of::<C, COUNT>(portion, orientation, &mut block, met)
    }

    fn rows_of<C: Code, const COUNT: bool>(
        &self,
        portion: &Portion,
        orientation: Orientation,
        codes: &mut dyn CodeRows<C>,
        met: &mut Histogram,
    ) -> u64 {
        let mut written = 0;
        let indices = self.entries.indices();
        let visits = Visits { orientation, once: true, promoted: 0 };
        if COUNT && !E::STORES && self.count_rows(portion, visits, codes, met) {
            return 0;
        }
        self.encoding.rows.walk(portion, visits, |run| {
            let Some(run) = run.within(&indices) else { return };
            written += run.len() as u64;
            let first = run.index.wrapping_sub(indices.start) as usize;
            self.run::<C, COUNT>(&run, first, codes.of(run.row, run.in_row), met);
        });
        written
    }

    /// Counts the codes of a portion row by row as they lie, which indices do not; false if that is
    /// not possible.
    fn count_rows<C: Code>(
        &self,
        portion: &Portion,
        visits: Visits,
        codes: &mut dyn CodeRows<C>,
        met: &mut Histogram,
    ) -> bool {
        if C::WIDE {
            return false;
        }
        self.encoding.rows.walk_rows(portion, visits, |row, places| {
            let bytes = bytemuck::cast_slice::<C, u8>(codes.of(row, true));
            if let Some(bytes) = bytes.first_chunk() {
                met.count_row(bytes, places);
            }
        })
    }

    /// Writes the entries of a run, from a number on; its codes are in `row`.
    #[inline(always)]
    fn run<C: Code, const COUNT: bool>(
        &self,
        run: &Run<'_>,
        first: usize,
        row: &[C],
        met: &mut Histogram,
    ) {
        // What is read in the loop must not be reached through what is written to.
        let (numbers, entries, step) = (&*self.numbers, self.entries, run.step as usize);
        let mut write = |code: C, at: usize, i: usize| {
            let code = W::convert(code).number() & (NUMBERS - 1);
            if COUNT {
                met.count::<W>(code, i);
            }
            if let Some(entry) = entries.get(at) {
                W::put(entry, numbers[code]);
            }
        };

        let mut at = first;
        if run.in_row
            && let Some(row) = row.first_chunk::<64>()
        {
            for (i, square) in run.squares().enumerate() {
                write(row[square & 63], at, i);
                at = at.wrapping_add(step);
            }
            return;
        }

        // Bare kings may go from row to row.
        for (i, square) in run.squares().enumerate() {
            if let Some(&code) = row.get(square) {
                write(code, at, i);
            }
            at = at.wrapping_add(step);
        }
    }
}
