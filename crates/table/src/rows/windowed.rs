//! Rows and indices where neither the values nor the entries need fit into memory.
//!
//! The kings are the most significant digit of a row and mostly the least significant one of an index, so
//! going from one to the other reorders everything. It is done in windows: for each stretch of indices
//! that fits, all values are gone through once, a pair of kings at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

use hoffman_board::{Color, Format};
use hoffman_pages::{Page, PageFile, Pages};
use hoffman_space::{Code, Codes, Orientation, StoredCodes, TableValues};
use rayon::prelude::*;

use super::{
    Entries, HISTOGRAMS, Histogram, IndexCounts, Job, Part, Rows, RowsError, Shared, code_value,
    codes_of, moves, raw_codec, write_job,
};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;

/// The stored distances of a table in pages, one number an index.
#[derive(Debug)]
pub struct StoredDistances {
    file: PageFile,
    /// The pages in order, each with the number of entries in it.
    pages: Vec<(Page, usize)>,
    wide: bool,
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
const PIECE: usize = 1 << 16;

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

impl<E> Entries<E> for Window<'_, E> {
    #[inline(always)]
    fn get(&self, index: usize) -> Option<&E> {
        let at = index.wrapping_sub(self.start);
        self.pieces.get(at / PIECE)?.get(at % PIECE)
    }
}

/// Like [`super::encode`], with the values and the numbers in `pages` and a window of half their budget
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
) -> Result<(StoredDistances, IndexCounts), RowsError> {
    let rows = Rows::new(space, values)?;
    let structures = rows.structures();
    let mut deepest = 0;
    for &structure in &structures {
        let (slice, _) =
            rows.orient(values, structure).ok_or(RowsError::Incomplete(values.material))?;
        deepest = deepest.max(slice.max_moves);
    }
    let codec = raw_codec(space, format)?;
    let jobs: Vec<Job> = structures.iter().flat_map(|&s| rows.parts(s)).collect();
    let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
    let work = Work { space, rows: &rows, values, jobs: &jobs, codec, pages, shared };
    let (distances, mut counts) = if deepest < 127 {
        work.all_windows::<u8, AtomicU8>()?
    } else {
        work.all_windows::<u16, AtomicU16>()?
    };
    counts.indices = space.size();
    counts.moves = match &rows {
        Rows::Free(rows) => moves(rows, values, &structures),
        Rows::Restricted(rows) => rows.moves(values, &structures),
    };
    Ok((distances, counts))
}

struct Work<'a> {
    space: &'a IndexSpace,
    rows: &'a Rows<'a>,
    values: &'a TableValues,
    jobs: &'a [Job],
    codec: EntryCodec,
    pages: &'a Arc<Pages>,
    /// Several placements may share an index.
    shared: bool,
}

impl Work<'_> {
    fn all_windows<W: Code, E: Shared + Entry>(
        &self,
    ) -> Result<(StoredDistances, IndexCounts), RowsError> {
        let kinds = 1_usize << (8 * size_of::<W>());
        let mut sums = [(); 2].map(|()| vec![0_u64; HISTOGRAMS * kinds]);
        let file = self.pages.file();
        let mut numbers = StoredDistances { file, pages: Vec::new(), wide: size_of::<E>() == 2 };
        let mut counts = IndexCounts::default();
        let mut differ = false;
        let size = self.space.size() as usize;
        let budget = self.pages.budget() / 2;
        let window = (budget / size_of::<E>()).next_multiple_of(PIECE).max(PIECE).min(size.max(1));
        for start in (0..size).step_by(window) {
            let len = window.min(size - start);
            self.pages.lend(len * size_of::<E>(), || {
                let empty = self.codec.undecodable().0 as i16;
                let piece = |at: usize| {
                    (at..len.min(at + PIECE)).map(|_| E::new(empty)).collect::<Vec<E>>()
                };
                let entries: Vec<Vec<E>> = (0..len).step_by(PIECE).map(piece).collect();
                let entries = Window { start, pieces: &entries };
                for turn in [Color::White, Color::Black] {
                    let sum = self.one_window::<W, E>(turn, entries);
                    let sums = &mut sums[turn as usize ^ 1];
                    sums.iter_mut().zip(sum).for_each(|(a, b)| *a += b);
                }
                if self.shared {
                    differ |= self.recount(len, entries, &mut counts);
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
        for (turn, sum) in [Color::White, Color::Black].into_iter().zip(sums) {
            for (place, n) in sum.into_iter().enumerate().filter(|&(_, n)| n > 0) {
                counts.add(code_value::<W>(place % kinds), turn, n);
            }
        }
        Ok((numbers, counts))
    }

    /// Counts the positions of a window in which several may share an index; whether some of those have
    /// different values.
    fn recount<E: Entry>(
        &self,
        len: usize,
        entries: Window<'_, E>,
        counts: &mut IndexCounts,
    ) -> bool {
        let mut seen = vec![false; len];
        let mut differ = false;
        for job in self.jobs {
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
    fn one_window<W: Code, E: Shared>(&self, turn: Color, entries: Window<'_, E>) -> Histogram {
        let kinds = 1_usize << (8 * size_of::<W>());
        let histogram = || vec![0_u64; HISTOGRAMS * kinds];
        let number = |n| self.codec.store(code_value::<W>(n), turn).0 as i16;
        let stored: Vec<i16> = (0..kinds).map(number).collect();
        let jobs: Vec<&Job> = self.jobs.iter().filter(|job| job.turn == turn).collect();
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
                match codes_of(job, slice, orientation) {
                    Codes::Narrow(codes) => {
                        let codes = Part::whole(codes);
                        self.part::<W, u8, E>(
                            job,
                            orientation,
                            codes,
                            entries,
                            &stored,
                            &mut histogram,
                        );
                    }
                    Codes::Wide(codes) => {
                        let codes = Part::whole(codes);
                        self.part::<W, u16, E>(
                            job,
                            orientation,
                            codes,
                            entries,
                            &stored,
                            &mut histogram,
                        );
                    }
                    Codes::Stored(codes) if codes.wide => {
                        let elements = &read::<u16>(codes, at, len);
                        let codes = Part { start: at, elements };
                        self.part::<W, u16, E>(
                            job,
                            orientation,
                            codes,
                            entries,
                            &stored,
                            &mut histogram,
                        );
                    }
                    Codes::Stored(codes) => {
                        let elements = &read::<u8>(codes, at, len);
                        let codes = Part { start: at, elements };
                        self.part::<W, u8, E>(
                            job,
                            orientation,
                            codes,
                            entries,
                            &stored,
                            &mut histogram,
                        );
                    }
                }
                histogram
            })
            .reduce(histogram, add)
    }

    /// Writes what one part of a slice has for the window.
    fn part<W: Code, C: Code, E: Shared>(
        &self,
        job: &Job,
        orientation: Orientation,
        codes: Part<'_, C>,
        entries: Window<'_, E>,
        stored: &[i16],
        histogram: &mut Histogram,
    ) {
        if self.rows.has_first(job) {
            for first in 0..64 {
                let job = Job { first: Some(first), ..*job };
                write_job::<W, C, E>(
                    self.rows,
                    &job,
                    orientation,
                    codes,
                    entries,
                    stored,
                    histogram,
                );
            }
        } else {
            write_job::<W, C, E>(self.rows, job, orientation, codes, entries, stored, histogram);
        }
    }
}

fn read<C: Code>(codes: &StoredCodes, at: usize, len: usize) -> Vec<C> {
    let mut part = vec![C::ILLEGAL; len];
    codes.read(at, &mut part);
    part
}

impl Rows<'_> {
    /// The jobs of a structure, cut so that each needs the values of one pair of kings only, where the
    /// kings lead.
    fn parts(&self, structure: super::PawnStructure) -> Vec<Job> {
        let Rows::Free(rows) = self else { return self.jobs(structure) };
        if rows.layout.movers().len() == 2 {
            return self.jobs(structure);
        }
        let mut sides: Vec<Job> = Vec::new();
        for job in self.jobs(structure) {
            let side = Job { first: None, ..job };
            let same = |other: &Job| (other.turn, other.en_passant) == (side.turn, side.en_passant);
            if !sides.iter().any(same) {
                sides.push(side);
            }
        }
        let kings = |side: Job| rows.canonical.iter().map(move |&k| Job { kings: Some(k), ..side });
        sides.into_iter().flat_map(kings).collect()
    }

    /// Whether a part has to be walked once for every square of its first man.
    fn has_first(&self, job: &Job) -> bool {
        job.kings.is_some() && self.layout().movers().len() > 3
    }

    /// Where the values of a part begin, and how many there are; none if it has none.
    fn place_of(&self, job: &Job, orientation: Orientation) -> Option<(usize, usize)> {
        let layout = self.layout();
        match self {
            Rows::Free(rows) => {
                let Some((white, black)) = job.kings else { return Some((0, layout.len())) };
                let symmetry = orientation.symmetry();
                let [white, black] = [white, black].map(|s| symmetry.apply_index(s));
                let kings = if orientation.swap { [black, white] } else { [white, black] };
                let (base, _) = layout.king_base(kings[0], kings[1])?;
                Some((base, 1 << (6 * (rows.layout.movers().len() - 2))))
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
