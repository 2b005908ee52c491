//! From rows to indices and back where neither fits into memory, and the kings are the lowest
//! digit of an index: everything is read and written once.
//!
//! The entries of such a table are a matrix, with a column for every pair of kings and side to
//! move, and a row for all that the other pieces can do. The values of a pair of kings lie side by
//! side.
//!
//! ```text
//!                    pairs of kings
//!                 0   1   2 |  3   4   5 | ...
//! others    0     .   .   . |  .   .   . |        a strip of columns has the values
//!           1     .   .   . |  .   .   . |        of its kings only, and is worked
//!           2     .   .   . |  .   .   . |        on in memory
//! ```
//!
//! So the matrix is cut into strips; each goes together with the values of its kings, and what is
//! left is to put strips side by side, which needs no chess.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use hoffman_board::ByColor;
use hoffman_pages::{Page, PageFile, Pages};
use hoffman_space::{Code, Codes, Orientation, TableValues};
use rayon::prelude::*;

use super::chunks::{Chunked, FreeList};
use super::counts::Histogram;
use super::decode::{DecodeError, PortionReader, ReadEntries, SliceReading, StoreOfCodes};
use super::distances::{PIECE, StoredDistances};
use super::free::{Free, KINGS};
use super::key_codes::{KeyCodes, word_at};
use super::walk::{PairSpan, Portion, Rows, Visits};
use super::{NUMBERS, RowsError, codes_of};
use crate::index::IndexSpace;

/// The shape of a table's matrix.
pub(super) struct KingMatrix<'a> {
    rows: &'a Free<'a>,
    /// How many pairs of kings there are.
    pairs: usize,
    /// How many sides to move an index tells apart.
    sides: usize,
    /// The rows of the matrix.
    height: usize,
    /// The values of a pair of kings.
    stride: usize,
}

/// Where the values of a strip's pairs of kings are: among those of the slice, and in a list of
/// their own.
struct StripPlaces {
    stride: usize,
    /// Where each pair's values begin in the slice.
    starts: Vec<usize>,
    /// The number in the list of the pair whose values are there, by pairs of the slice.
    numbers: Vec<u32>,
}

impl StripPlaces {
    /// Where the row at a place begins in the list; behind the end if it is not there.
    #[inline(always)]
    fn of(&self, row: usize) -> usize {
        let (pair, rest) = (row / self.stride, row % self.stride);
        self.numbers.get(pair).map_or(usize::MAX, |&n| n as usize * self.stride + rest)
    }

    /// How long the list is.
    fn len(&self) -> usize {
        self.starts.len() * self.stride
    }

    /// The places of each pair in the list, with where they are in the slice.
    fn pairs(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let ranges = (0..self.starts.len()).map(|n| n * self.stride..(n + 1) * self.stride);
        ranges.zip(self.starts.iter().copied())
    }
}

impl<'a> KingMatrix<'a> {
    /// None if the table is not of this kind.
    pub(super) fn of(space: &IndexSpace, rows: &'a Rows<'a>) -> Option<KingMatrix<'a>> {
        let Rows::Free(rows) = rows else { return None };
        let pairs = space.king_columns()?;
        if rows.layout.movers().len() < 3 || pairs != rows.canonical {
            return None;
        }
        let sides = 1 + usize::from(space.has_side_bit());
        let height = usize::try_from(space.size()).ok()? / (pairs.len() * sides);
        Some(KingMatrix { rows, pairs: pairs.len(), sides, height, stride: rows.pair_len() })
    }

    /// How many entries a row of the matrix has.
    fn width(&self) -> usize {
        self.pairs * self.sides
    }

    /// How many entries a row of a strip has.
    fn columns(&self, strip: PairSpan) -> usize {
        strip.len * self.sides
    }

    /// Strips of which each thread can work on one in the given number of bytes, if a pair of
    /// kings takes `bytes`; how many bytes all threads take.
    fn strips(&self, pages: &Pages, bytes: usize) -> (Vec<PairSpan>, usize) {
        let threads = rayon::current_num_threads();
        let len = (pages.budget() / 2 / threads / bytes.max(1)).clamp(1, KINGS.min(self.pairs));
        (PairSpan::all(self.pairs, len), len * bytes * threads)
    }

    /// How many rows of the matrix are turned at a time, for entries of so many bits: a multiple
    /// of eight.
    fn window(&self, pages: &Pages, bits: usize) -> usize {
        let rows = pages.budget() / 4 * 8 / bits / self.width().max(1);
        (rows / 8 * 8).max(8)
    }

    /// An index, and the step to the next, in a strip.
    #[inline(always)]
    fn in_strip(&self, strip: PairSpan, index: u64, step: u64) -> (usize, usize) {
        let (index, step, width) = (index as usize, step as usize, self.width());
        let own = self.columns(strip);
        (index / width * own + index % width - strip.start * self.sides, step / width * own)
    }

    /// The places of a strip's values, for positions of a portion turned that way.
    fn places(&self, portion: &Portion, orientation: Orientation) -> StripPlaces {
        let pairs = portion.kings.map_or(0..0, PairSpan::pairs);
        let starts: Vec<usize> =
            pairs.filter_map(|pair| self.rows.pair_place(pair, portion, orientation)).collect();
        let mut numbers = vec![u32::MAX; self.rows.layout.len() / self.stride];
        for (number, start) in starts.iter().enumerate() {
            numbers[start / self.stride] = number as u32;
        }
        StripPlaces { stride: self.stride, starts, numbers }
    }

    /// Whether each part of the values comes from one pair of kings only, so that strips never
    /// meet.
    pub(super) fn is_disjoint<T>(&self, slices: &[SliceReading<T>]) -> bool {
        slices.iter().all(|slice| {
            let mut seen: HashMap<usize, Vec<bool>> = HashMap::new();
            slice.sides.iter().all(|side| {
                let new = || vec![false; slice.len / self.stride];
                let seen = seen.entry(side.target).or_insert_with(new);
                let place = |pair| self.rows.pair_place(pair, &side.portion, side.orientation);
                let mut blocks = (0..self.pairs).filter_map(place).map(|at| at / self.stride);
                blocks.all(|block| !std::mem::replace(&mut seen[block], true))
            })
        })
    }

    /// Reads all entries, of which keys of the width `C` tell the codes; returns the longest
    /// distance. Only positions in which one of the movers `promoted` stands where promoted pieces
    /// do, if there are any.
    pub(super) fn decode<C: Code, E>(
        &self,
        slices: &[SliceReading<StoreOfCodes>],
        keys: &KeyCodes,
        promoted: u32,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        let bytes = self.height * self.sides * size_of::<C>() + self.stride * size_of::<C>();
        let (strips, taken) = self.strips(pages, bytes);
        let file = pages.file();
        let parts = self.cut_keys::<C, E>(keys, &strips, &file, pages, read)?;
        let window = self.window(pages, usize::from(keys.codec.bits()));
        let decoding = StripDecoding { matrix: self, keys, promoted, codes: FreeList::<C>::new() };
        let spare_keys = FreeList::new();
        let strip = |(&strip, parts): (&PairSpan, &Vec<Page>)| {
            let mut own = spare_keys.take(C::ILLEGAL, self.height * self.columns(strip));
            self.put_together(strip, parts, &file, window, &mut own);
            let found = decoding.read(slices, strip, &own);
            spare_keys.give_back(own);
            found
        };
        let longest = pages.lend(taken, || {
            let strips = strips.par_iter().zip(&parts).with_max_len(1);
            strips.map(strip).try_reduce(|| 0, |a, b| Ok(a.max(b)))
        });
        Ok(longest?)
    }

    /// Takes the parts of a strip out of their pages, so many rows of the matrix each.
    fn put_together<C: Code>(
        &self,
        strip: PairSpan,
        parts: &[Page],
        file: &PageFile,
        window: usize,
        own: &mut Chunked<C>,
    ) {
        let columns = self.columns(strip);
        for (number, &part) in parts.iter().enumerate() {
            let words = file.take(part);
            let height = window.min(self.height - number * window);
            let part = &bytemuck::cast_slice::<_, C>(&words)[..height * columns];
            own.put(number * window * columns, part);
        }
    }

    /// Reads all entries and puts the keys of each strip into pages of its own.
    fn cut_keys<C: Code, E>(
        &self,
        keys: &KeyCodes,
        strips: &[PairSpan],
        file: &PageFile,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<Vec<Vec<Page>>, DecodeError<E>> {
        let mut parts: Vec<Vec<Page>> = vec![Vec::new(); strips.len()];
        let window = self.window(pages, usize::from(keys.codec.bits()));
        for start in (0..self.height).step_by(window) {
            let height = window.min(self.height - start);
            let entries = (height * self.width()) as u64;
            pages.lend(keys.codec.area_bytes(entries) as usize, || {
                let mut area = Vec::new();
                read((start * self.width()) as u64, entries, &mut area)
                    .map_err(DecodeError::Read)?;
                keys.check(&area, entries)?;
                let cut = strips
                    .par_iter()
                    .map(|&strip| file.append(self.keys_of::<C>(keys, &area, height, strip)));
                let cut: Vec<Page> = cut.collect();
                parts.iter_mut().zip(cut).for_each(|(part, page)| part.push(page));
                Ok::<(), DecodeError<E>>(())
            })?;
        }
        Ok(parts)
    }

    /// The keys of a strip in an area of that many rows of the matrix, as words.
    fn keys_of<C: Code>(
        &self,
        keys: &KeyCodes,
        area: &[u8],
        height: usize,
        strip: PairSpan,
    ) -> Vec<u64> {
        let (columns, bits) = (self.columns(strip), usize::from(keys.codec.bits()));
        let len = height * columns;
        let mut words = vec![0_u64; (len * size_of::<C>()).div_ceil(8)];
        let own: &mut [C] = bytemuck::cast_slice_mut(&mut words);
        for (row, own) in own[..len].chunks_exact_mut(columns).enumerate() {
            let first = row * self.width() + strip.start * self.sides;
            for (i, key) in own.iter_mut().enumerate() {
                let entry = word_at(area, ((first + i) * bits) as u64) & keys.mask;
                *key = C::truncate(entry as u32);
            }
        }
        words
    }

    /// The numbers of all indices, and for each side to move how often every code was met;
    /// `stored` has the number of every code for each side, `empty` stands where there is no
    /// position.
    pub(super) fn encode<W: Code>(
        &self,
        values: &TableValues,
        empty: W,
        stored: &ByColor<Box<[W; NUMBERS]>>,
        pages: &Arc<Pages>,
    ) -> Result<(StoredDistances, ByColor<Histogram>), RowsError> {
        let bytes = self.height * self.sides * size_of::<W>() + self.stride * size_of::<W>();
        let (strips, taken) = self.strips(pages, bytes);
        let window = self.window(pages, 8 * size_of::<W>());
        let encoding = StripEncoding {
            matrix: self,
            values,
            empty,
            stored,
            met: Mutex::new(ByColor::new_with(|_| Histogram::new::<W>())),
            numbers: FreeList::new(),
            codes: FreeList::new(),
        };

        let file = pages.file();
        let strip = |&strip: &PairSpan| -> Result<Vec<Page>, RowsError> {
            self.rows.finished()?;
            let mut numbers = encoding.numbers(strip);
            let parts = self.take_apart(strip, &mut numbers, &file, window);
            encoding.numbers.give_back(numbers);
            Ok(parts)
        };

        let all = || strips.par_iter().with_max_len(1).map(strip).collect();
        let parts: Result<Vec<Vec<Page>>, RowsError> = pages.lend(taken, all);
        let parts = parts?;
        let met = encoding.met.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((self.join::<W>(&strips, &parts, &file, window, pages)?, met))
    }

    /// Puts the numbers of a strip into pages, so many rows of the matrix each.
    fn take_apart<W: Code>(
        &self,
        strip: PairSpan,
        numbers: &mut Chunked<W>,
        file: &PageFile,
        window: usize,
    ) -> Vec<Page> {
        let columns = self.columns(strip);
        let mut pages = Vec::new();
        for start in (0..self.height).step_by(window) {
            let len = window.min(self.height - start) * columns;
            let mut words = vec![0_u64; (len * size_of::<W>()).div_ceil(8)];
            let part: &mut [W] = bytemuck::cast_slice_mut(&mut words);
            numbers.take(start * columns, &mut part[..len]);
            pages.push(file.append(words));
        }
        pages
    }

    /// Puts strips side by side.
    fn join<W: Code>(
        &self,
        strips: &[PairSpan],
        parts: &[Vec<Page>],
        file: &PageFile,
        window: usize,
        pages: &Arc<Pages>,
    ) -> Result<StoredDistances, RowsError> {
        let mut distances = StoredDistances::new::<W>(pages.file());
        for (number, start) in (0..self.height).step_by(window).enumerate() {
            self.rows.finished()?;
            let height = window.min(self.height - start);
            pages.lend(height * self.width() * size_of::<W>(), || {
                let mut joined = vec![W::ILLEGAL; height * self.width()];
                for (&strip, parts) in strips.iter().zip(parts) {
                    let words = file.take(parts[number]);
                    let own: &[W] = bytemuck::cast_slice(&words);
                    let columns = self.columns(strip);
                    let first = strip.start * self.sides;
                    let rows = joined.par_chunks_exact_mut(self.width());
                    let rows = rows.zip(own.par_chunks_exact(columns)).with_min_len(64);
                    rows.for_each(|(row, own)| row[first..first + columns].copy_from_slice(own));
                }
                joined.chunks(PIECE).for_each(|piece| distances.push(piece));
            });
        }
        Ok(distances)
    }
}

/// What strips are decoded with.
struct StripDecoding<'a, C> {
    matrix: &'a KingMatrix<'a>,
    keys: &'a KeyCodes,
    promoted: u32,
    codes: FreeList<C>,
}

impl<C: Code> StripDecoding<'_, C> {
    /// Reads all that a strip has, with the keys of its entries; returns the longest distance in
    /// moves.
    fn read(
        &self,
        slices: &[SliceReading<StoreOfCodes>],
        strip: PairSpan,
        keys: &Chunked<C>,
    ) -> Result<u16, RowsError> {
        let mut most = 0;
        for slice in slices {
            for side in &slice.sides {
                let Some(store) = &slice.targets[side.target] else { continue };
                most = most.max(self.read_side(side, strip, keys, store));
            }
        }
        KeyCodes::longest(most)
    }

    /// Reads one side of a slice; returns the largest of the codes with their distances.
    fn read_side(
        &self,
        side: &PortionReader,
        strip: PairSpan,
        keys: &Chunked<C>,
        store: &StoreOfCodes,
    ) -> u32 {
        let matrix = self.matrix;
        let portion = Portion { kings: Some(strip), ..side.portion };
        let places = matrix.places(&portion, side.orientation);
        let mut own = self.codes.take(C::ILLEGAL, places.len());
        let codes = self.keys.of(portion.turn);
        let mut most = 0;
        let orientation = side.orientation;
        let visits = Visits { orientation, once: false, promoted: self.promoted };
        matrix.rows.walk(&portion, visits, |run| {
            let Some(row) = own.row_mut(places.of(run.row)) else { return };
            let (mut at, step) = matrix.in_strip(strip, run.index, run.step);
            let mut longest = most;
            for square in run.squares() {
                let key = keys.get(at).map_or(0, |key| key.number());
                let code = codes[key & (NUMBERS - 1)];
                longest = longest.max(code);
                row[square & 63] = C::truncate(code);
                at += step;
            }
            most = longest;
        });

        for (range, start) in places.pairs() {
            let mut at = start * size_of::<C>();
            for part in own.parts(range) {
                store.write(at, C::as_bytes_of(part));
                at += size_of_val(part);
            }
        }

        self.codes.give_back(own);
        most
    }
}

/// What strips are encoded with.
struct StripEncoding<'a, W> {
    matrix: &'a KingMatrix<'a>,
    values: &'a TableValues,
    empty: W,
    stored: &'a ByColor<Box<[W; NUMBERS]>>,
    /// Of all strips together; each with its own would take more than the numbers.
    met: Mutex<ByColor<Histogram>>,
    numbers: FreeList<W>,
    codes: FreeList<W>,
}

impl<W: Code> StripEncoding<'_, W> {
    /// The numbers of a strip.
    fn numbers(&self, strip: PairSpan) -> Chunked<W> {
        let rows = self.matrix.rows;
        let len = self.matrix.height * self.matrix.columns(strip);
        let mut numbers = self.numbers.take(self.empty, len);
        let mut met = ByColor::new_with(|_| Histogram::new::<W>());
        for structure in rows.structures() {
            // All slices are there, or their deepest values were not known.
            let Some((slice, orientation)) = rows.orient(self.values, structure) else { continue };
            for side in rows.sides(structure) {
                let portion = Portion { kings: Some(strip), ..side };
                let met = met.get_mut(portion.turn);
                let codes = codes_of(&portion, slice, orientation);
                self.write_side((&portion, strip), orientation, codes, &mut numbers, met);
            }
        }
        let mut all = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        all.as_mut().zip(met.as_ref()).for_each(|(all, met)| all.add(met));
        numbers
    }

    /// Writes the numbers of one side of a structure.
    fn write_side(
        &self,
        (portion, strip): (&Portion, PairSpan),
        orientation: Orientation,
        codes: &Codes,
        numbers: &mut Chunked<W>,
        met: &mut Histogram,
    ) {
        let matrix = self.matrix;
        let stored = &**self.stored.get(portion.turn);
        let places = matrix.places(portion, orientation);
        let mut own = self.codes.take(W::ILLEGAL, places.len());

        for (range, start) in places.pairs() {
            let mut at = start;
            for part in own.parts(range) {
                codes.read(at, part);
                at += part.len();
            }
        }

        let visits = Visits { orientation, once: true, promoted: 0 };
        matrix.rows.walk(portion, visits, |run| {
            let Some(row) = own.row(places.of(run.row)) else { return };
            let (mut at, step) = matrix.in_strip(strip, run.index, run.step);
            for (i, square) in run.squares().enumerate() {
                let code = row[square & 63].number() & (NUMBERS - 1);
                met.count::<W>(code, i);
                if let Some(number) = numbers.get_mut(at) {
                    *number = stored[code];
                }
                at += step;
            }
        });

        self.codes.give_back(own);
    }
}
