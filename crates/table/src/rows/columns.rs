//! From rows to indices and back where neither fits into memory, and the kings are the lowest digit of an
//! index: everything is read and written once.
//!
//! The entries of such a table are a matrix, with a column for every pair of kings and side to move, and a
//! row for all that the other men can do. The values of a pair of kings lie side by side. So the matrix is
//! cut into strips of columns; each strip goes together with the values of its kings, and what is left
//! is to put strips side by side, which needs no chess.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use hoffman_pages::{Page, PageFile, Pages};
use hoffman_space::{Code, CodeStore as _, Codes, Orientation, TableValues};
use rayon::prelude::*;

use super::decode::Taking;
use super::encode::{HISTOGRAMS, Histogram};
use super::pieces::{Pieces, Spare};
use super::stock::{SharedCode, Stock, UNSOUND, word_at};
use super::walk::{Free, Job, KINGS, Rows};
use super::windowed::{DecodeError, Decoding, PIECE, ReadEntries, StoredDistances};
use super::{NUMBERS, RowsError, codes_of};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;

/// The shape of a table's matrix.
pub(super) struct Columns<'a> {
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

/// Neighbouring pairs of kings: the first, and how many.
#[derive(Clone, Copy)]
struct Strip {
    start: usize,
    pairs: usize,
}

/// A number that is stored for a position.
pub(super) trait Number: Pod + Send + Sync {
    fn new(number: i16) -> Self;
}

impl Number for i8 {
    fn new(number: i16) -> i8 {
        number as i8
    }
}

impl Number for i16 {
    fn new(number: i16) -> i16 {
        number
    }
}

/// The way from the rows of some pairs of kings to a buffer that holds theirs only.
struct Buffer {
    stride: usize,
    slots: Vec<u32>,
}

impl Buffer {
    fn new(stride: usize, len: usize, places: &[usize]) -> Buffer {
        let mut slots = vec![u32::MAX; len / stride];
        for (slot, place) in places.iter().enumerate() {
            slots[place / stride] = slot as u32;
        }
        Buffer { stride, slots }
    }

    /// Where the row at a place begins; behind the end if it is not there.
    #[inline(always)]
    fn place(&self, row: usize) -> usize {
        let (pair, rest) = (row / self.stride, row % self.stride);
        self.slots.get(pair).map_or(usize::MAX, |&slot| slot as usize * self.stride + rest)
    }
}

impl<'a> Columns<'a> {
    /// None if the table is not of this kind.
    pub(super) fn of(space: &IndexSpace, rows: &'a Rows<'a>) -> Option<Columns<'a>> {
        let Rows::Free(rows) = rows else { return None };
        let movers = rows.layout.movers().len();
        let pairs = space.king_columns()?;
        if movers < 3 || pairs != rows.canonical {
            return None;
        }
        let sides = 1 + usize::from(space.has_side_bit());
        let height = usize::try_from(space.size()).ok()? / (pairs.len() * sides);
        Some(Columns { rows, pairs: pairs.len(), sides, height, stride: 1 << (6 * (movers - 2)) })
    }

    /// How many entries a row of the matrix has.
    fn width(&self) -> usize {
        self.pairs * self.sides
    }

    /// Strips of which each thread can work on one in the given number of bytes, if a pair of kings takes `bytes`.
    fn strips(&self, pages: &Pages, bytes: usize) -> (Vec<Strip>, usize) {
        let threads = rayon::current_num_threads();
        let pairs = (pages.budget() / 2 / threads / bytes.max(1)).clamp(1, KINGS.min(self.pairs));
        let starts = (0..self.pairs).step_by(pairs);
        let strips = starts.map(|start| Strip { start, pairs: pairs.min(self.pairs - start) });
        (strips.collect(), pairs * bytes * threads)
    }

    /// How many rows of the matrix are turned at a time, for entries of so many bits: a multiple of eight.
    fn window(&self, pages: &Pages, bits: usize) -> usize {
        let rows = pages.budget() / 4 * 8 / bits / self.width().max(1);
        (rows / 8 * 8).max(8)
    }

    /// An index, and the step to the next, in a strip.
    #[inline(always)]
    fn in_strip(&self, strip: Strip, index: u64, step: u64) -> (usize, usize) {
        let (index, step, width) = (index as usize, step as usize, self.width());
        let own = strip.pairs * self.sides;
        (index / width * own + index % width - strip.start * self.sides, step / width * own)
    }

    /// Whether each part of the values comes from one pair of kings only, so that strips never meet.
    pub(super) fn are_apart<C>(&self, decoding: &Decoding<'_, C>) -> bool {
        let mut seen: HashMap<(usize, usize), Vec<bool>> = HashMap::new();
        decoding.sides.iter().all(|side| {
            let blocks = decoding.slices[side.slice].len / self.stride;
            let new = || vec![false; blocks];
            let seen = seen.entry((side.slice, side.target)).or_insert_with(new);
            let place = |pair| self.rows.pair_place(pair, &side.job, side.orientation);
            let mut blocks = (0..self.pairs).filter_map(|pair| Some(place(pair)? / self.stride));
            blocks.all(|block| !std::mem::replace(&mut seen[block], true))
        })
    }

    /// Reads all entries; returns the longest distance.
    pub(super) fn decode<C: SharedCode, E>(
        &self,
        decoding: &Decoding<'_, C>,
        codec: EntryCodec,
        taking: Taking,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        if codec.bits() <= 8 {
            self.decode_keys::<C, u8, E>(decoding, codec, taking, pages, read)
        } else {
            self.decode_keys::<C, u16, E>(decoding, codec, taking, pages, read)
        }
    }

    fn decode_keys<C: SharedCode, K: Key, E>(
        &self,
        decoding: &Decoding<'_, C>,
        codec: EntryCodec,
        taking: Taking,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        let stock = Stock::new::<C>(&[], codec, taking);
        let bytes = self.height * self.sides * size_of::<K>() + self.stride * size_of::<C>();
        let (strips, taken) = self.strips(pages, bytes);
        let file = pages.file();
        let mut parts: Vec<Vec<Page>> = vec![Vec::new(); strips.len()];
        let bits = usize::from(codec.bits());
        let window = self.window(pages, bits);
        for start in (0..self.height).step_by(window) {
            let height = window.min(self.height - start);
            let entries = (height * self.width()) as u64;
            pages.lend(codec.area_bytes(entries) as usize, || {
                let mut area = Vec::new();
                read((start * self.width()) as u64, entries, &mut area)
                    .map_err(DecodeError::Read)?;
                if (area.len() as u64) < codec.area_bytes(entries) {
                    return Err(DecodeError::Rows(RowsError::Entry));
                }
                let cut = |&strip: &Strip| {
                    let len = height * strip.pairs * self.sides;
                    let mut words = vec![0_u64; (len * size_of::<K>()).div_ceil(8)];
                    let keys: &mut [K] = bytemuck::cast_slice_mut(&mut words);
                    let columns = strip.pairs * self.sides;
                    let rows = keys[..len].chunks_exact_mut(columns).enumerate();
                    for (row, keys) in rows {
                        let first = row * self.width() + strip.start * self.sides;
                        for (i, key) in keys.iter_mut().enumerate() {
                            let entry = word_at(&area, ((first + i) * bits) as u64) & stock.mask;
                            *key = K::new(entry);
                        }
                    }
                    file.append(words)
                };
                let cut: Vec<Page> = strips.par_iter().map(cut).collect();
                parts.iter_mut().zip(cut).for_each(|(part, page)| part.push(page));
                Ok(())
            })?;
        }
        let longest = AtomicU16::new(0);
        let (spare_keys, spare_codes) = (Spare::new(), Spare::new());
        pages
            .lend(taken, || {
                strips.par_iter().zip(&parts).with_max_len(1).try_for_each(|(&strip, parts)| {
                    let columns = strip.pairs * self.sides;
                    let mut keys = spare_keys.take(K::new(0), self.height * columns);
                    for (number, &part) in parts.iter().enumerate() {
                        let words = file.take(part);
                        let height = window.min(self.height - number * window);
                        let part = &bytemuck::cast_slice::<_, K>(&words)[..height * columns];
                        keys.put(number * window * columns, part);
                    }
                    let found = self.read_strip(decoding, &stock, strip, &keys, &spare_codes)?;
                    spare_keys.give_back(keys);
                    longest.fetch_max(found, Ordering::Relaxed);
                    Ok(())
                })
            })
            .map_err(DecodeError::Rows)?;
        Ok(if stock.exact { longest.into_inner() } else { 1 })
    }

    /// Reads all that a strip has.
    fn read_strip<C: SharedCode, K: Key>(
        &self,
        decoding: &Decoding<'_, C>,
        stock: &Stock<'_>,
        strip: Strip,
        keys: &Pieces<K>,
        spare: &Spare<C>,
    ) -> Result<u16, RowsError> {
        let mut most = 0;
        let pairs = strip.start..strip.start + strip.pairs;
        for side in &decoding.sides {
            let reading = &decoding.slices[side.slice];
            let Some(store) = &reading.targets[side.target] else { continue };
            let job = Job { kings: Some((pairs.start, pairs.end)), ..side.job };
            let places = pairs.clone();
            let places = places.filter_map(|p| self.rows.pair_place(p, &job, side.orientation));
            let places: Vec<usize> = places.collect();
            let buffer = Buffer::new(self.stride, reading.len, &places);
            let mut codes = spare.take(C::ILLEGAL, places.len() * self.stride);
            let table = &*stock.tables[job.turn as usize ^ 1];
            self.rows.walk(&job, side.orientation, false, decoding.edge, |run| {
                let Some(row) = codes.row_mut(buffer.place(run.row)) else { return };
                let (mut at, step) = self.in_strip(strip, run.index, run.step);
                let mut longest = most;
                for square in run.squares() {
                    let key = keys.get(at).map_or(0, |key| key.number());
                    let code = table[key & (NUMBERS - 1)];
                    longest = longest.max(code);
                    row[square & 63] = C::truncate(code);
                    at += step;
                }
                most = longest;
            });
            for (number, &place) in places.iter().enumerate() {
                let mut place = place * size_of::<C>();
                for part in codes.parts(number * self.stride..(number + 1) * self.stride) {
                    store.write(place, C::as_bytes_of(part));
                    place += size_of_val(part);
                }
            }
            spare.give_back(codes);
        }
        if most == UNSOUND { Err(RowsError::Entry) } else { Ok((most >> 16) as u16) }
    }

    /// The numbers of all indices, and for each side to move how often every code was met, in histograms
    /// one behind the other; `stored` has the number of every code for each side.
    pub(super) fn encode<W: Code, N: Number>(
        &self,
        values: &TableValues,
        empty: i16,
        stored: &[Vec<i16>; 2],
        pages: &Arc<Pages>,
    ) -> Result<(StoredDistances, [Histogram; 2]), RowsError> {
        let kinds = stored[0].len();
        let histograms = || [(); 2].map(|()| vec![0_u64; HISTOGRAMS * kinds]);
        let bytes = self.height * self.sides * size_of::<N>() + self.stride * size_of::<W>();
        let (strips, taken) = self.strips(pages, bytes);
        let file = pages.file();
        let window = self.window(pages, 8 * size_of::<N>());
        let totals = Mutex::new(histograms());
        let (spare_numbers, spare_codes) = (Spare::new(), Spare::new());
        let strip = |strip: Strip| {
            self.rows.finished()?;
            let columns = strip.pairs * self.sides;
            let mut numbers = spare_numbers.take(N::new(empty), self.height * columns);
            let mut sums = histograms();
            for structure in self.rows.structures() {
                let Some((slice, orientation)) = self.rows.orient(values, structure) else {
                    continue;
                };
                for side in self.rows.sides(structure) {
                    let job = Job { kings: Some((strip.start, strip.start + strip.pairs)), ..side };
                    let number = job.turn as usize ^ 1;
                    let (stored, sums) = (&stored[number], &mut sums[number]);
                    let codes = codes_of(&job, slice, orientation);
                    let (buffer, own) =
                        self.codes_in::<W>(strip, &job, orientation, codes, &spare_codes);
                    self.rows.walk(&job, orientation, true, 0, |run| {
                        let Some(row) = own.row(buffer.place(run.row)) else { return };
                        let (mut at, step) = self.in_strip(strip, run.index, run.step);
                        for (i, square) in run.squares().enumerate() {
                            let code = row[square & 63].number();
                            sums[code + i % HISTOGRAMS * kinds] += 1;
                            if let Some(number) = numbers.get_mut(at) {
                                *number = N::new(stored[code]);
                            }
                            at += step;
                        }
                    });
                    spare_codes.give_back(own);
                }
            }
            let parts = (0..self.height).step_by(window).map(|start| {
                let len = window.min(self.height - start) * columns;
                let mut words = vec![0_u64; (len * size_of::<N>()).div_ceil(8)];
                let part: &mut [N] = bytemuck::cast_slice_mut(&mut words);
                numbers.take(start * columns, &mut part[..len]);
                file.append(words)
            });
            let parts: Vec<Page> = parts.collect();
            spare_numbers.give_back(numbers);
            // Those of all strips together would take more than the numbers.
            let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
            for (total, sum) in totals.iter_mut().flatten().zip(sums.iter().flatten()) {
                *total += sum;
            }
            Ok(parts)
        };
        let strip = |&s: &Strip| strip(s);
        let strips_of = || strips.par_iter().with_max_len(1).map(strip).collect();
        let parts: Result<Vec<Vec<Page>>, RowsError> = pages.lend(taken, strips_of);
        let parts = parts?;
        let sums = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((self.join::<N>(&strips, &parts, &file, window, pages)?, sums))
    }

    /// The codes of a strip's pairs of kings, and the way to them.
    fn codes_in<W: Code>(
        &self,
        strip: Strip,
        job: &Job,
        orientation: Orientation,
        codes: &Codes,
        spare: &Spare<W>,
    ) -> (Buffer, Pieces<W>) {
        let pairs = strip.start..strip.start + strip.pairs;
        let places: Vec<usize> =
            pairs.filter_map(|pair| self.rows.pair_place(pair, job, orientation)).collect();
        let mut own = spare.take(W::ILLEGAL, places.len() * self.stride);
        for (number, &place) in places.iter().enumerate() {
            let mut at = place;
            for part in own.parts(number * self.stride..(number + 1) * self.stride) {
                let len = part.len();
                match codes {
                    Codes::Narrow(codes) => convert(&codes[at..at + len], part),
                    Codes::Wide(codes) => convert(&codes[at..at + len], part),
                    Codes::Stored(codes) => codes.read(at, part),
                }
                at += len;
            }
        }
        (Buffer::new(self.stride, self.rows.layout.len(), &places), own)
    }

    /// Puts strips side by side.
    fn join<N: Number>(
        &self,
        strips: &[Strip],
        parts: &[Vec<Page>],
        file: &PageFile,
        window: usize,
        pages: &Arc<Pages>,
    ) -> Result<StoredDistances, RowsError> {
        let mut numbers =
            StoredDistances { file: pages.file(), pages: Vec::new(), wide: size_of::<N>() == 2 };
        for (number, start) in (0..self.height).step_by(window).enumerate() {
            self.rows.finished()?;
            let height = window.min(self.height - start);
            pages.lend(height * self.width() * size_of::<N>(), || {
                let mut joined = vec![N::new(0); height * self.width()];
                for (strip, parts) in strips.iter().zip(parts) {
                    let words = file.take(parts[number]);
                    let own: &[N] = bytemuck::cast_slice(&words);
                    let columns = strip.pairs * self.sides;
                    let first = strip.start * self.sides;
                    let rows = joined.par_chunks_exact_mut(self.width());
                    let rows = rows.zip(own.par_chunks_exact(columns)).with_min_len(64);
                    rows.for_each(|(row, own)| row[first..first + columns].copy_from_slice(own));
                }
                for piece in joined.chunks(PIECE) {
                    let mut words = vec![0_u64; size_of_val(piece).div_ceil(8)];
                    bytemuck::cast_slice_mut(&mut words)[..piece.len()].copy_from_slice(piece);
                    numbers.pages.push((numbers.file.append(words), piece.len()));
                }
            });
        }
        Ok(numbers)
    }
}

/// Copies codes to a place of another width.
fn convert<C: Code, W: Code>(codes: &[C], out: &mut [W]) {
    out.iter_mut().zip(codes).for_each(|(out, &code)| *out = W::convert(code));
}

/// An entry as it is stored, taken for a number without a sign.
trait Key: Pod + Send + Sync {
    fn new(entry: u64) -> Self;
    fn number(self) -> usize;
}

impl Key for u8 {
    fn new(entry: u64) -> u8 {
        entry as u8
    }

    #[inline(always)]
    fn number(self) -> usize {
        usize::from(self)
    }
}

impl Key for u16 {
    fn new(entry: u64) -> u16 {
        entry as u16
    }

    #[inline(always)]
    fn number(self) -> usize {
        usize::from(self)
    }
}
