//! Rows and indices where neither the values nor the entries need fit into memory.
//!
//! The kings are the most significant digit of a row and mostly the least significant one of an index, so
//! going from one to the other reorders everything. Where it can be done by columns, it is; otherwise in
//! windows: for each stretch of indices that fits, all values are gone through once, a pair of kings at a
//! time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

use hoffman_board::{Color, Format};
use hoffman_pages::{Page, PageFile, PagedCodes, Pages};
use hoffman_space::{
    Code, CodeStore as _, Codes, EnPassantValues, Orientation, PawnStructure, SliceValues,
    StoredCodes, TableValues,
};
use rayon::prelude::*;

use super::columns::{Columns, Number};
use super::decode::{Taking, Wanted, Ways, can_capture, decode_with};
use super::encode::{HISTOGRAMS, Histogram, Shared, code_value, moves, raw_codec};
use super::stock::{SharedCode, Stock, UNSOUND, word_at};
use super::walk::{Job, Rows, Run, en_passant_squares};
use super::{IndexCounts, NUMBERS, Part, RowsError, codes_of};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;
use crate::stop::Stop;

/// The stored distances of a table in pages, one number an index.
#[derive(Debug)]
pub struct StoredDistances {
    pub(super) file: PageFile,
    /// The pages in order, each with the number of entries in it.
    pub(super) pages: Vec<(Page, usize)>,
    pub(super) wide: bool,
}

impl StoredDistances {
    /// Gives all numbers to `f`, in order, in portions of a multiple of eight (but for the last one).
    ///
    /// # Errors
    ///
    /// Those of `f`.
    pub fn for_each<E>(&self, mut f: impl FnMut(&[i16]) -> Result<(), E>) -> Result<(), E> {
        let mut numbers = Vec::new();
        for &(page, len) in &self.pages {
            let words = self.file.read(page);
            numbers.clear();
            if self.wide {
                let wide: &[i16] = bytemuck::cast_slice(&words);
                numbers.extend_from_slice(&wide[..len]);
            } else {
                let narrow: &[i8] = bytemuck::cast_slice(&words);
                numbers.extend(narrow[..len].iter().map(|&n| i16::from(n)));
            }
            f(&numbers)?;
        }
        Ok(())
    }
}

/// How many entries a page, and a piece of a window, has. Small pieces find room where pages were before;
/// a large one would not, and the system would have to give more.
pub(super) const PIECE: usize = 1 << 16;

/// Neighbouring entries, in pieces.
struct Window<'a, E> {
    start: usize,
    pieces: &'a [Vec<E>],
}

impl<E> Clone for Window<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Window<'_, E> {}

/// Which positions of a run have an index in a range.
#[inline(always)]
fn inside(run: &Run<'_>, indices: &Range<u64>) -> Range<usize> {
    let len = run.len();
    if run.step == 0 {
        return if indices.contains(&run.index) { 0..len } else { 0..0 };
    }
    let before = |bound: u64| bound.saturating_sub(run.index).div_ceil(run.step) as usize;
    let end = before(indices.end).min(len);
    before(indices.start).min(end)..end
}

impl<'a, E> Window<'a, E> {
    fn range(&self) -> Range<u64> {
        let len: usize = self.pieces.iter().map(Vec::len).sum();
        self.start as u64..(self.start + len) as u64
    }

    /// The entry of an index, if it is here.
    #[inline(always)]
    fn get(&self, index: usize) -> Option<&'a E> {
        let at = index.wrapping_sub(self.start);
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }
}

/// Like [`super::encode()`], with the values and the numbers in `pages` and a window of half their budget
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
    let rows = Rows::new(space, values)?.watching(stop);
    let structures = rows.structures();
    let deepest = rows.max_moves(values)?;
    let codec = raw_codec(space, format)?;
    let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
    let work = Work { space, rows: &rows, values, codec, pages, shared };
    let (distances, mut counts) = if deepest < 127 {
        work.write_all::<u8, AtomicU8, i8>()?
    } else {
        work.write_all::<u16, AtomicU16, i16>()?
    };
    rows.finished()?;
    counts.indices = space.size();
    counts.moves = match &rows {
        Rows::Free(rows) => moves(rows, values, &structures),
        Rows::Restricted(rows) => rows.moves(values, &structures),
    };
    Ok((distances, counts))
}

/// What histograms of codes, White to move and Black to move, tell.
fn count<W: Code>(sums: [Histogram; 2]) -> IndexCounts {
    let mut counts = IndexCounts::default();
    let kinds = 1_usize << (8 * size_of::<W>());
    for (turn, sum) in [Color::White, Color::Black].into_iter().zip(sums) {
        for (place, n) in sum.into_iter().enumerate().filter(|&(_, n)| n > 0) {
            counts.add(code_value::<W>(place % kinds), turn, n);
        }
    }
    counts
}

struct Work<'a> {
    space: &'a IndexSpace,
    rows: &'a Rows<'a>,
    values: &'a TableValues,
    codec: EntryCodec,
    pages: &'a Arc<Pages>,
    /// Several placements may share an index.
    shared: bool,
}

impl Work<'_> {
    /// Everything in strips, if the table allows it; in windows otherwise.
    fn write_all<W: Code, E: Shared + Entry, N: Number>(
        &self,
    ) -> Result<(StoredDistances, IndexCounts), RowsError> {
        let Some(columns) = Columns::of(self.space, self.rows) else {
            return self.all_windows::<W, E>();
        };
        let empty = self.codec.undecodable().0 as i16;
        let stored = [Color::White, Color::Black].map(|turn| self.stored::<W>(turn));
        let (numbers, sums) = columns.encode::<W, N>(self.values, empty, &stored, self.pages)?;
        Ok((numbers, count::<W>(sums)))
    }

    /// The number to store for every code.
    fn stored<W: Code>(&self, turn: Color) -> Vec<i16> {
        let kinds = 1_usize << (8 * size_of::<W>());
        (0..kinds).map(|n| self.codec.store(code_value::<W>(n), turn).0 as i16).collect()
    }

    fn all_windows<W: Code, E: Shared + Entry>(
        &self,
    ) -> Result<(StoredDistances, IndexCounts), RowsError> {
        let kinds = 1_usize << (8 * size_of::<W>());
        let mut sums = [(); 2].map(|()| vec![0_u64; HISTOGRAMS * kinds]);
        let file = self.pages.file();
        let mut numbers = StoredDistances { file, pages: Vec::new(), wide: size_of::<E>() == 2 };
        let mut counts = IndexCounts::default();
        let mut differ = false;
        let rows = self.rows;
        let sides = rows.structures().into_iter().flat_map(|structure| rows.sides(structure));
        let jobs: Vec<Job> = sides.flat_map(|side| rows.parts(side)).collect();
        let size = self.space.size() as usize;
        let budget = self.pages.budget() / 2;
        let window = (budget / size_of::<E>()).next_multiple_of(PIECE).max(PIECE).min(size.max(1));
        for start in (0..size).step_by(window) {
            rows.finished()?;
            let len = window.min(size - start);
            self.pages.lend(len * size_of::<E>(), || {
                let empty = self.codec.undecodable().0 as i16;
                let piece = |at: usize| {
                    (at..len.min(at + PIECE)).map(|_| E::new(empty)).collect::<Vec<E>>()
                };
                let entries: Vec<Vec<E>> = (0..len).step_by(PIECE).map(piece).collect();
                let entries = Window { start, pieces: &entries };
                for turn in [Color::White, Color::Black] {
                    let sum = self.one_window::<W, E>(&jobs, turn, entries);
                    let sums = &mut sums[turn as usize ^ 1];
                    sums.iter_mut().zip(sum).for_each(|(a, b)| *a += b);
                }
                if self.shared {
                    differ |= self.recount(&jobs, len, entries, &mut counts);
                }
                for piece in entries.pieces {
                    let mut words = vec![0_u64; (piece.len() * size_of::<E>()).div_ceil(8)];
                    E::copy(piece, &mut words);
                    numbers.pages.push((numbers.file.append(words), piece.len()));
                }
            });
        }
        if differ {
            return Err(RowsError::Asymmetric);
        }
        if self.shared {
            return Ok((numbers, counts));
        }
        Ok((numbers, count::<W>(sums)))
    }

    /// Counts the positions of a window in which several may share an index; whether some of those have
    /// different values.
    fn recount<E: Entry>(
        &self,
        jobs: &[Job],
        len: usize,
        entries: Window<'_, E>,
        counts: &mut IndexCounts,
    ) -> bool {
        let mut seen = vec![false; len];
        let mut differ = false;
        for job in jobs {
            let Some((slice, orientation)) = self.rows.orient(self.values, job.structure) else {
                continue;
            };
            let codes = codes_of(job, slice, orientation);
            self.rows.walk(job, orientation, true, 0, |run| {
                for (index, offset) in run.positions() {
                    let Some(entry) = entries.get(index) else { continue };
                    let at = index - entries.start;
                    let value = codes.value(offset);
                    differ |= entry.number() != self.codec.store(value, job.turn).0 as i16;
                    if !std::mem::replace(&mut seen[at], true) {
                        counts.add(value, job.turn, 1);
                    }
                }
            });
        }
        differ
    }

    /// Fills a window of entries with the positions of one side to move.
    fn one_window<W: Code, E: Shared>(
        &self,
        jobs: &[Job],
        turn: Color,
        entries: Window<'_, E>,
    ) -> Histogram {
        let kinds = 1_usize << (8 * size_of::<W>());
        let histogram = || vec![0_u64; HISTOGRAMS * kinds];
        let stored = self.stored::<W>(turn);
        let jobs: Vec<&Job> = jobs.iter().filter(|job| job.turn == turn).collect();
        let add = |mut a: Histogram, b: Histogram| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        jobs.par_iter()
            .fold(histogram, |mut histogram, job| {
                let Some((slice, orientation)) = self.rows.orient(self.values, job.structure)
                else {
                    return histogram;
                };
                let Some((at, len)) = self.rows.place_of(job, orientation) else {
                    return histogram;
                };
                let (rows, stored) = (self.rows, stored.as_slice());
                let writing = JobWriting { rows, job, orientation, entries, stored };
                let found = &mut histogram;
                match codes_of(job, slice, orientation) {
                    Codes::Narrow(codes) => {
                        writing.write::<W, u8>(Part::whole(codes), found);
                    }
                    Codes::Wide(codes) => {
                        writing.write::<W, u16>(Part::whole(codes), found);
                    }
                    Codes::Stored(codes) if codes.wide => {
                        let elements = &read_codes::<u16>(codes, at, len);
                        writing.write::<W, u16>(Part { start: at, elements }, found);
                    }
                    Codes::Stored(codes) => {
                        let elements = &read_codes::<u8>(codes, at, len);
                        writing.write::<W, u8>(Part { start: at, elements }, found);
                    }
                }
                histogram
            })
            .reduce(histogram, add)
    }
}

fn read_codes<C: Code>(codes: &StoredCodes, at: usize, len: usize) -> Vec<C> {
    let mut part = vec![C::ILLEGAL; len];
    codes.read(at, &mut part);
    part
}

/// A part of a slice that goes into a window of entries.
struct JobWriting<'w, E> {
    rows: &'w Rows<'w>,
    job: &'w Job,
    orientation: Orientation,
    entries: Window<'w, E>,
    /// The entry of each value, by its number.
    stored: &'w [i16],
}

impl<E: Shared> JobWriting<'_, E> {
    /// Writes what there is for the window, and counts it.
    fn write<W: Code, C: Code>(&self, codes: Part<'_, C>, histogram: &mut Histogram) {
        let JobWriting { rows, job, orientation, entries, stored } = *self;
        let window = entries.range();
        rows.walk(job, orientation, true, 0, |run| {
            let inside = inside(run, &window);
            let first = inside.start;
            for (i, (index, offset)) in run.positions().enumerate().take(inside.end).skip(first) {
                if let (Some(&code), Some(entry)) = (codes.get(offset), entries.get(index)) {
                    let number = W::convert(code).number();
                    histogram[number + i % HISTOGRAMS * stored.len()] += 1;
                    entry.put(stored[number]);
                }
            }
        });
    }
}

impl Rows<'_> {
    /// The jobs of a structure that are cut no further than by sides to move and en passant squares, if the
    /// kings lead.
    fn sides(&self, structure: PawnStructure) -> Vec<Job> {
        match self {
            Rows::Free(rows) => rows.sides(structure),
            Rows::Restricted(rows) => rows.jobs(structure),
        }
    }

    /// Such a job, cut so that each part needs the values of one pair of kings only, where the kings lead.
    fn parts(&self, side: Job) -> Vec<Job> {
        match self {
            Rows::Free(rows) => rows.cut(side, 1),
            Rows::Restricted(_) => vec![side],
        }
    }

    /// Where the values of a part begin, and how many there are; none if it has none.
    fn place_of(&self, job: &Job, orientation: Orientation) -> Option<(usize, usize)> {
        let layout = self.layout();
        match self {
            Rows::Free(rows) => {
                let Some((pair, _)) = job.kings else { return Some((0, layout.len())) };
                Some((
                    rows.pair_place(pair, job, orientation)?,
                    1 << (6 * (layout.movers().len() - 2)),
                ))
            }
            Rows::Restricted(_) => {
                let Some(first) = job.first else { return Some((0, layout.len())) };
                Some((layout.place(0, first)?, layout.stride(0)))
            }
        }
    }
}

/// An entry of a window.
trait Entry: Sized {
    fn new(number: i16) -> Self;
    fn number(&self) -> i16;
    /// Copies entries into words, one behind the other.
    fn copy(entries: &[Self], words: &mut [u64]);
}

impl Entry for AtomicU8 {
    fn new(number: i16) -> AtomicU8 {
        AtomicU8::new(number as u8)
    }

    fn number(&self) -> i16 {
        i16::from(self.load(Ordering::Relaxed) as i8)
    }

    fn copy(entries: &[AtomicU8], words: &mut [u64]) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let load = |entry: &AtomicU8| entry.load(Ordering::Relaxed);
        bytes.iter_mut().zip(entries).for_each(|(byte, entry)| *byte = load(entry));
    }
}

impl Entry for AtomicU16 {
    fn new(number: i16) -> AtomicU16 {
        AtomicU16::new(number as u16)
    }

    fn number(&self) -> i16 {
        self.load(Ordering::Relaxed) as i16
    }

    fn copy(entries: &[AtomicU16], words: &mut [u64]) {
        let wide: &mut [u16] = bytemuck::cast_slice_mut(words);
        let load = |entry: &AtomicU16| entry.load(Ordering::Relaxed);
        wide.iter_mut().zip(entries).for_each(|(word, entry)| *word = load(entry));
    }
}

/// Why a table cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError<E> {
    /// What is read makes no sense.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// It cannot be read.
    #[error("{0}")]
    Read(E),
}

/// Brings packed entries: given the first index, a multiple of eight, and how many there shall be, it puts
/// them in the place of what is in the vector.
pub type ReadEntries<'a, E> = &'a mut dyn FnMut(u64, u64, &mut Vec<u8>) -> Result<(), E>;

/// Like [`super::decode()`], with the values in `pages` and the entries, which `read` brings, in memory a
/// window at a time. Tables without a side to move must have free pieces ([`super::has_free_pieces`]).
///
/// # Errors
///
/// As there, and those of `read`.
pub fn decode_in<E>(
    space: &IndexSpace,
    codec: EntryCodec,
    wanted: &Wanted,
    taking: Taking,
    (pages, stop): (&Arc<Pages>, &Stop),
    read: ReadEntries<'_, E>,
) -> Result<TableValues, DecodeError<E>> {
    let mut deepest = 1;
    let mut values = decode_with(space, wanted, stop, |rows, values, ways| {
        if codec.bits() <= 8 {
            let decoding = Decoding::<u8>::new(rows, values, ways, wanted, pages);
            deepest = decoding.read_all(space, codec, taking, pages, read)?;
            decoding.finish(values);
        } else {
            let decoding = Decoding::<u16>::new(rows, values, ways, wanted, pages);
            deepest = decoding.read_all(space, codec, taking, pages, read)?;
            decoding.finish(values);
        }
        Ok::<(), DecodeError<E>>(())
    })?;
    for slot in values.slices.values_mut() {
        if let Some(slice) = slot.get_mut().and_then(Arc::get_mut) {
            slice.max_moves = deepest;
        }
    }
    Ok(values)
}

/// The codes of a slice being read: both sides, then every right.
pub(super) struct Reading {
    normal: PawnStructure,
    pub(super) len: usize,
    pub(super) targets: Vec<Option<Arc<PagedCodes>>>,
    rights: Vec<u8>,
}

/// A job that reads codes.
pub(super) struct Side {
    pub(super) slice: usize,
    pub(super) target: usize,
    pub(super) job: Job,
    pub(super) orientation: Orientation,
}

/// The part of some codes that several jobs write to.
struct Chunk {
    slice: usize,
    target: usize,
    at: usize,
    len: usize,
    jobs: Vec<(Job, Orientation)>,
}

/// Values that are being read, and the way to them.
pub(super) struct Decoding<'a, C> {
    rows: &'a Rows<'a>,
    pub(super) edge: u32,
    pub(super) slices: Vec<Reading>,
    pub(super) sides: Vec<Side>,
    width: std::marker::PhantomData<C>,
}

impl<'a, C: SharedCode> Decoding<'a, C> {
    fn new(
        rows: &'a Rows<'a>,
        values: &TableValues,
        ways: &Ways,
        wanted: &Wanted,
        pages: &Arc<Pages>,
    ) -> Decoding<'a, C> {
        let len = rows.layout().len();
        let room = |len: usize| Arc::new(PagedCodes::new::<C>(pages, len));
        let mut slices = Vec::new();
        let mut sides = Vec::new();
        for &normal in values.slices.keys() {
            let mut targets = wanted.sides.map(|wanted| wanted.then(|| room(len))).to_vec();
            let mut rights = Vec::new();
            for color in [Color::White, Color::Black] {
                for square in en_passant_squares(normal, color) {
                    if can_capture(normal, square, color) {
                        rights.push(square);
                        let wanted = wanted.sides[color as usize ^ 1];
                        targets.push(wanted.then(|| room(len)));
                    }
                }
            }
            let slice = slices.len();
            for &(structure, orientation, flip) in ways.get(&normal).into_iter().flatten() {
                for job in rows.sides(structure) {
                    let job = Job { flip, ..job };
                    let target = match job.en_passant {
                        None => Some(orientation.color(job.turn) as usize ^ 1),
                        Some(square) => {
                            let there = orientation.symmetry().apply_index(square);
                            rights.iter().position(|&s| s == there).map(|n| n + 2)
                        }
                    };
                    if let Some(target) = target.filter(|&t| targets[t].is_some()) {
                        sides.push(Side { slice, target, job, orientation });
                    }
                }
            }
            slices.push(Reading { normal, len, targets, rights });
        }
        let movers = rows.layout().movers().iter().enumerate();
        let edge = movers
            .filter(|(_, m)| wanted.on_edge.contains(&(m.color, m.role)))
            .fold(0, |set, (i, _)| set | 1_u32 << i);
        Decoding { rows, edge, slices, sides, width: std::marker::PhantomData }
    }

    /// The parts of the codes that can be read side by side.
    fn chunks(&self) -> Vec<Chunk> {
        let mut chunks: BTreeMap<(usize, usize, usize), Chunk> = BTreeMap::new();
        for &Side { slice, target, job, orientation } in &self.sides {
            for job in self.rows.parts(job) {
                let Some((at, len)) = self.rows.place_of(&job, orientation) else { continue };
                let new = || Chunk { slice, target, at, len, jobs: Vec::with_capacity(1) };
                let chunk = chunks.entry((slice, target, at)).or_insert_with(new);
                chunk.jobs.push((job, orientation));
            }
        }
        chunks.into_values().collect()
    }

    /// Reads all entries; returns the longest distance.
    fn read_all<E>(
        &self,
        space: &IndexSpace,
        codec: EntryCodec,
        taking: Taking,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        match Columns::of(space, self.rows) {
            Some(columns) if columns.are_apart(self) => {
                columns.decode(self, codec, taking, pages, read)
            }
            _ => self.all_windows(space, codec, taking, pages, read),
        }
    }

    /// The same, by windows.
    fn all_windows<E>(
        &self,
        space: &IndexSpace,
        codec: EntryCodec,
        taking: Taking,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        let size = space.size();
        let bytes = pages.budget() as u64 / 2;
        let window = (bytes * 8 / u64::from(codec.bits()) / 64 * 64).max(1 << 16);
        let chunks = self.chunks();
        let deepest = AtomicU16::new(0);
        let mut exact = false;
        for start in (0..size).step_by(window as usize) {
            let len = window.min(size - start);
            pages.lend(codec.area_bytes(len) as usize, || {
                let mut area = Vec::new();
                read(start, len, &mut area).map_err(DecodeError::Read)?;
                let stock = Stock::new::<C>(&area, codec, taking);
                stock.check(len)?;
                exact = stock.exact;
                chunks.par_iter().try_for_each(|chunk| {
                    let longest = self.chunk(&stock, &area, &(start..start + len), chunk)?;
                    deepest.fetch_max(longest, Ordering::Relaxed);
                    Ok::<(), RowsError>(())
                })?;
                Ok::<(), DecodeError<E>>(())
            })?;
        }
        Ok(if exact { deepest.into_inner() } else { 1 })
    }

    /// Reads what the window has for a chunk, and returns the longest distance in moves.
    fn chunk(
        &self,
        stock: &Stock<'_>,
        area: &[u8],
        entries: &Range<u64>,
        chunk: &Chunk,
    ) -> Result<u16, RowsError> {
        let Some(store) = &self.slices[chunk.slice].targets[chunk.target] else { return Ok(0) };
        let (len, wide) = (self.slices[chunk.slice].len, size_of::<C>() == 2);
        let stored = StoredCodes { store: store.clone(), len, wide };
        let mut codes = vec![C::ILLEGAL; chunk.len];
        stored.read(chunk.at, &mut codes);
        let bits = u64::from(stock.codec.bits());
        let mut most = 0;
        for (job, orientation) in &chunk.jobs {
            let table = &*stock.tables[job.turn as usize ^ 1];
            self.rows.walk(job, *orientation, false, self.edge, |run| {
                let Some(row) = codes.get_mut(run.row.wrapping_sub(chunk.at)..) else { return };
                let inside = inside(run, entries);
                let squares = run.squares().enumerate().take(inside.end).skip(inside.start);
                for (i, square) in squares {
                    let index = run.index + i as u64 * run.step;
                    let Some(place) = row.get_mut(square) else { continue };
                    let key = word_at(area, (index - entries.start) * bits) & stock.mask;
                    let code = table[key as usize & (NUMBERS - 1)];
                    most = most.max(code);
                    *place = C::truncate(code);
                }
            });
        }
        if most == UNSOUND {
            return Err(RowsError::Entry);
        }
        store.write(chunk.at * size_of::<C>(), C::as_bytes_of(&codes));
        Ok((most >> 16) as u16)
    }

    /// Puts the slices in their places.
    fn finish(self, values: &TableValues) {
        for slice in self.slices {
            let len = slice.len;
            let codes = |store: Option<Arc<PagedCodes>>| match store {
                Some(store) => Codes::Stored(StoredCodes { store, len, wide: size_of::<C>() == 2 }),
                None => C::into_codes(Vec::new()),
            };
            let mut targets = slice.targets.into_iter().map(codes);
            let (Some(white), Some(black)) = (targets.next(), targets.next()) else { continue };
            let en_passant = slice.rights.into_iter().zip(targets);
            let en_passant = en_passant.map(|(square, codes)| EnPassantValues { square, codes });
            let solved = SliceValues {
                codes: [white, black],
                en_passant: en_passant.collect(),
                counts: None,
                max_moves: 0,
            };
            if let Some(slot) = values.slices.get(&slice.normal) {
                // Each slice is made once.
                let _ = slot.set(Arc::new(solved));
            }
        }
    }
}
