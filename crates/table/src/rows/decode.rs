//! The values of slices from the entries of a table: in memory, or with a window of entries at a
//! time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hoffman_board::{Color, Square};
use hoffman_pages::{PagedCodes, PagedOutcomes, Pages};
use hoffman_space::{
    Code, CodeStore, Codes, EnPassantValues, Orientation, PawnSquares, SliceValues, StoredCodes,
    TableValues, side,
};
use rayon::prelude::*;

use super::colors::fill_black;
use super::key_codes::{EntryReader, KeyCodes, OwnBlock, WholeRows};
use super::routes::{Route, Routes, wanted_slices};
use super::squares::usable_rights;
use super::transpose::KingMatrix;
use super::walk::{Portion, Rows};
use super::wanted::{Taking, Wanted};
use super::{RowsError, has_free_pieces};
use crate::entries::EntryCodec;
use crate::index::IndexSpace;
use crate::stop::Stop;

/// The values of a table's slices, from its entries as they are packed in a file, as far as they
/// are wanted: others are not looked at. Restricted pawns leave out slices. Tables with free
/// pieces come with their stronger side White, others in their own colours.
///
/// # Errors
///
/// The table holds numbers that are no values, or too few entries.
pub fn decode(
    space: &IndexSpace,
    codec: EntryCodec,
    entries: &[u8],
    wanted: &Wanted,
    taking: Taking,
    stop: &Stop,
) -> Result<TableValues, RowsError> {
    let table = PackedTable { space, codec, wanted, taking, stop };
    if codec.bits() <= 8 { table.decode::<u8>(entries) } else { table.decode::<u16>(entries) }
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

/// Brings packed entries: given the first index, a multiple of eight, and how many there shall be,
/// it puts them in the place of what is in the vector.
pub type ReadEntries<'a, E> = &'a mut dyn FnMut(u64, u64, &mut Vec<u8>) -> Result<(), E>;

/// Like [`decode()`], with the values in `pages` and the entries, which `read` brings, in memory a
/// window at a time. Tables without a side to move must have free pieces ([`has_free_pieces`]).
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
    let table = PackedTable { space, codec, wanted, taking, stop };
    if codec.bits() <= 8 {
        table.decode_in::<u8, E>(pages, read)
    } else {
        table.decode_in::<u16, E>(pages, read)
    }
}

/// A table whose entries are to be decoded.
struct PackedTable<'a> {
    space: &'a IndexSpace,
    codec: EntryCodec,
    wanted: &'a Wanted,
    taking: Taking,
    stop: &'a Stop,
}

impl PackedTable<'_> {
    /// The values, in memory, from all entries.
    fn decode<C: Code>(&self, entries: &[u8]) -> Result<TableValues, RowsError> {
        let PackedTable { space, wanted, .. } = *self;
        let keys = KeyCodes::new::<C>(self.codec, self.taking);
        keys.check(entries, space.size())?;
        // Black's moves follow from White's.
        let half = !has_free_pieces(space) && !space.has_side_bit();
        let packed = self.taking == Taking::ByOutcome && !half;
        let mut values = wanted_slices(space, wanted, self.stop, |rows, values, routes| {
            let promoted = wanted.promoted_movers(rows.layout());
            let (keys, indices) = (&keys, 0..space.size());
            let reader = EntryReader { rows, keys, area: entries, indices, promoted };
            values.slices.par_iter().try_for_each(|(normal, slot)| {
                let routes = routes.get(normal).map(Vec::as_slice).unwrap_or_default();
                let slice = read_slice::<C>(&reader, *normal, routes, wanted)?;
                // Each slice is made once.
                let _ = slot.set(Arc::new(if packed { slice.outcomes() } else { slice }));
                Ok::<(), RowsError>(())
            })
        })?;
        if half {
            fill_black::<C>(&mut values);
        }
        Ok(values)
    }

    /// The values, in pages.
    fn decode_in<C: Code, E>(
        &self,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<TableValues, DecodeError<E>> {
        wanted_slices(self.space, self.wanted, self.stop, |rows, values, routes| {
            let slices = self.slices_in::<C>(rows, values, routes, pages);
            let keys = KeyCodes::new::<C>(self.codec, self.taking);
            let longest = self.read_slices::<C, E>(rows, &slices, &keys, pages, read)?;

            for slice in slices {
                let Some(slot) = values.slices.get(&slice.normal) else { continue };
                // Each slice is made once.
                let _ = slot.set(Arc::new(slice.stored::<C>(keys.max_moves(longest))));
            }
            Ok::<(), DecodeError<E>>(())
        })
    }

    /// All slices, with room for their codes in pages.
    fn slices_in<C: Code>(
        &self,
        rows: &Rows<'_>,
        values: &TableValues,
        routes: &Routes,
        pages: &Arc<Pages>,
    ) -> Vec<SliceReading<StoreOfCodes>> {
        let room = |len: usize| room_in::<C>(pages, self.taking, len);
        let normals = values.slices.keys();
        let slices = normals.map(|&normal| {
            let routes = routes.get(&normal).map(Vec::as_slice).unwrap_or_default();
            SliceReading::new(rows, normal, routes, self.wanted, room)
        });
        slices.collect()
    }

    /// Fills the slices with the codes of the entries, whichever way the kings lie in an index.
    /// The longest of their distances.
    fn read_slices<C: Code, E>(
        &self,
        rows: &Rows<'_>,
        slices: &[SliceReading<StoreOfCodes>],
        keys: &KeyCodes,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        let promoted = self.wanted.promoted_movers(rows.layout());
        match KingMatrix::of(self.space, rows) {
            Some(matrix) if matrix.is_disjoint(slices) => {
                matrix.decode::<C, E>(slices, keys, promoted, pages, read)
            }
            _ => {
                let windows = Windows { space: self.space, rows, slices, promoted };
                windows.read::<C, E>(keys, pages, read)
            }
        }
    }
}

/// A container of codes in pages.
pub(super) type StoreOfCodes = Arc<dyn CodeStore>;

/// Room for codes of the width `C` in pages, all illegal: for their outcomes where these are all
/// that is taken.
pub(super) fn room_in<C: Code>(pages: &Arc<Pages>, taking: Taking, len: usize) -> StoreOfCodes {
    if taking == Taking::ByOutcome && !C::WIDE {
        Arc::new(PagedOutcomes::new(pages, len))
    } else {
        Arc::new(PagedCodes::new::<C>(pages, len))
    }
}

/// The codes of a slice being read, in containers of a kind.
pub(super) struct SliceReading<T> {
    normal: PawnSquares,
    /// How many codes each side to move has.
    pub(super) len: usize,
    /// White to move, Black to move, then every right; none of those that are not wanted.
    pub(super) targets: Vec<Option<T>>,
    /// The squares of the rights.
    rights: Vec<Square>,
    /// What is read, structure by structure.
    pub(super) sides: Vec<PortionReader>,
}

/// A portion that reads codes.
pub(super) struct PortionReader {
    /// Which route to the slice it is on.
    route: usize,
    /// Which of the slice's codes it reads.
    pub(super) target: usize,
    pub(super) portion: Portion,
    pub(super) orientation: Orientation,
}

impl SliceReading<StoreOfCodes> {
    /// The values of the slice, which stay in the pages.
    fn stored<C: Code>(self, max_moves: u16) -> SliceValues {
        self.finish(max_moves, |store, len| match store {
            Some(store) => Codes::Stored(StoredCodes { store, len, wide: C::WIDE }),
            None => C::into_codes(Vec::new()),
        })
    }
}

impl<T> SliceReading<T> {
    /// With a symmetric index only part of a slice has indices of its own; the rest is read
    /// through the mirror image of its pawns, so that there may be several routes.
    fn new(
        rows: &Rows<'_>,
        normal: PawnSquares,
        routes: &[Route],
        wanted: &Wanted,
        room: impl Fn(usize) -> T,
    ) -> SliceReading<T> {
        let len = rows.layout().len();
        let (turns, rights): (Vec<Color>, Vec<Square>) = usable_rights(normal).unzip();
        let turns = [Color::White, Color::Black].into_iter().chain(turns);
        let room = |turn: Color| wanted.sides[side(turn)].then(|| room(len));
        let targets = turns.map(room).collect();
        let mut slice = SliceReading { normal, len, targets, rights, sides: Vec::new() };
        for (number, route) in routes.iter().enumerate() {
            for portion in rows.sides(route.structure) {
                let portion = Portion { flip: route.flip, ..portion };
                slice.read_side(number, portion, route.orientation);
            }
        }
        slice
    }

    /// Reads a portion, if its codes are wanted.
    fn read_side(&mut self, route: usize, portion: Portion, orientation: Orientation) {
        let target = match portion.en_passant {
            None => Some(side(orientation.color(portion.turn))),
            Some(square) => {
                let there = orientation.symmetry().apply(square);
                self.rights.iter().position(|&s| s == there).map(|number| number + 2)
            }
        };
        if let Some(target) = target.filter(|&t| self.targets[t].is_some()) {
            self.sides.push(PortionReader { route, target, portion, orientation });
        }
    }

    /// The values of the slice, the longest of which takes that many moves.
    fn finish(self, max_moves: u16, codes: impl Fn(Option<T>, usize) -> Codes) -> SliceValues {
        let mut targets = self.targets.into_iter().map(|target| codes(target, self.len));
        let mut next = || targets.next().unwrap_or(Codes::Narrow(Vec::new()));
        let plain = [next(), next()];
        let rights = self.rights.into_iter().zip(targets);
        let right =
            |(square, codes): (Square, Codes)| EnPassantValues { square: square.into(), codes };
        let en_passant = rights.map(right).collect();
        SliceValues { codes: plain, en_passant, counts: None, max_moves }
    }
}

/// Where codes in memory are written to, by many threads at once.
enum SharedCodes<'a, C: Code> {
    /// By rows of 64 codes, each as a whole by one thread at a time.
    Rows(&'a [AtomicU64]),
    /// Code by code.
    Codes(&'a [C::Shared]),
}

impl<'a, C: Code> SharedCodes<'a, C> {
    /// By rows if a row comes as a `whole`.
    fn new(codes: &'a mut [C], whole: bool) -> SharedCodes<'a, C> {
        // Allocations of this size are aligned; if one is not, it is written code by code.
        let aligned = codes.as_ptr().addr().is_multiple_of(8) && codes.len().is_multiple_of(64);
        if whole && aligned {
            SharedCodes::Rows(C::share_words(codes).unwrap_or_default())
        } else {
            SharedCodes::Codes(C::share(codes))
        }
    }

    /// Reads a portion, and returns the longest distance in moves.
    fn read(
        &self,
        reader: &EntryReader<'_>,
        portion: &Portion,
        orientation: Orientation,
    ) -> Result<u16, RowsError> {
        match *self {
            SharedCodes::Rows(words) => {
                let mut rows = WholeRows::<C>::new(words);
                let longest = reader.read(portion, orientation, &mut rows);
                rows.close();
                longest
            }
            SharedCodes::Codes(mut codes) => reader.read::<C>(portion, orientation, &mut codes),
        }
    }
}

/// Reads one slice in normal form, in memory.
fn read_slice<C: Code>(
    reader: &EntryReader<'_>,
    normal: PawnSquares,
    routes: &[Route],
    wanted: &Wanted,
) -> Result<SliceValues, RowsError> {
    let rows = reader.rows;
    let room = |len: usize| vec![C::ILLEGAL; len];
    let mut slice = SliceReading::new(rows, normal, routes, wanted, room);

    // Read by one route, a row comes as a whole from one row of the table.
    let whole = routes.len() == 1 && rows.is_by_rows();
    let targets = slice
        .targets
        .iter_mut()
        .map(|codes| codes.as_mut().map(|codes| SharedCodes::new(codes.as_mut_slice(), whole)));
    let targets: Vec<Option<SharedCodes<'_, C>>> = targets.collect();
    let mut longest = 0;

    for route in 0..routes.len() {
        let sides = slice.sides.iter().filter(|side| side.route == route);
        let portions: Vec<(Portion, &PortionReader)> = sides
            .flat_map(|side| {
                rows.shares(side.portion).into_iter().map(move |portion| (portion, side))
            })
            .collect();
        let read = portions.par_iter().map(|(portion, side)| match &targets[side.target] {
            Some(target) => target.read(reader, portion, side.orientation),
            None => Ok(0),
        });
        longest = longest.max(read.try_reduce(|| 0, |a, b| Ok(a.max(b)))?);
    }

    drop(targets);

    Ok(slice.finish(reader.keys.max_moves(longest), |codes, _| {
        C::into_codes(codes.unwrap_or_default())
    }))
}

/// Slices in pages that are read with a window of entries at a time.
struct Windows<'a> {
    space: &'a IndexSpace,
    rows: &'a Rows<'a>,
    slices: &'a [SliceReading<StoreOfCodes>],
    promoted: u32,
}

/// The part of some codes that several portions write to.
struct StoredBlock<'a> {
    store: &'a StoreOfCodes,
    start: usize,
    len: usize,
    portions: Vec<(Portion, Orientation)>,
}

impl Windows<'_> {
    /// Reads all entries; returns the longest distance.
    fn read<C: Code, E>(
        &self,
        keys: &KeyCodes,
        pages: &Arc<Pages>,
        read: ReadEntries<'_, E>,
    ) -> Result<u16, DecodeError<E>> {
        let size = self.space.size();
        let bytes = pages.budget() as u64 / 2;
        let window = (bytes * 8 / u64::from(keys.codec.bits()) / 64 * 64).max(1 << 16);
        let blocks = self.blocks();
        let mut longest = 0;
        for start in (0..size).step_by(window as usize) {
            let len = window.min(size - start);
            let found = pages.lend(keys.codec.area_bytes(len) as usize, || {
                let mut area = Vec::new();
                read(start, len, &mut area).map_err(DecodeError::Read)?;
                keys.check(&area, len)?;
                let (rows, promoted, indices) = (self.rows, self.promoted, start..start + len);
                let reader = EntryReader { rows, keys, area: &area, indices, promoted };
                let found = blocks.par_iter().map(|block| block.read::<C>(&reader));
                Ok::<u16, DecodeError<E>>(found.try_reduce(|| 0, |a, b| Ok(a.max(b)))?)
            });
            longest = longest.max(found?);
        }
        Ok(longest)
    }

    /// The parts of the codes that can be read side by side.
    fn blocks(&self) -> Vec<StoredBlock<'_>> {
        let mut blocks: BTreeMap<(usize, usize, usize), StoredBlock<'_>> = BTreeMap::new();
        for (number, slice) in self.slices.iter().enumerate() {
            for side in &slice.sides {
                let Some(store) = &slice.targets[side.target] else { continue };
                for portion in self.rows.by_pairs(side.portion) {
                    // Kings that touch after they were turned have no values.
                    let Some((start, len)) = self.rows.block_of(&portion, side.orientation) else {
                        continue;
                    };
                    let portions = Vec::new();
                    let block = blocks.entry((number, side.target, start)).or_insert(StoredBlock {
                        store,
                        start,
                        len,
                        portions,
                    });
                    block.portions.push((portion, side.orientation));
                }
            }
        }
        blocks.into_values().collect()
    }
}

impl StoredBlock<'_> {
    /// Reads what a window has for the block, and returns the longest distance in moves.
    fn read<C: Code>(&self, reader: &EntryReader<'_>) -> Result<u16, RowsError> {
        let mut codes = vec![C::ILLEGAL; self.len];
        let bytes = self.start * size_of::<C>();
        self.store.read(bytes, bytemuck::cast_slice_mut(&mut codes));
        let mut longest = 0;
        for (portion, orientation) in &self.portions {
            let mut block = OwnBlock { start: self.start, codes: &mut codes };
            longest = longest.max(reader.read(portion, *orientation, &mut block)?);
        }
        self.store.write(bytes, C::as_bytes_of(&codes));
        Ok(longest)
    }
}
