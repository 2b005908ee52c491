//! The way from packed entries to codes.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use hoffman_board::{ByColor, Color, Value};
use hoffman_space::{Code, Orientation};

use super::walk::{Portion, Rows, Run, Visits};
use super::wanted::{Taking, value_of};
use super::{NUMBERS, RowsError, zeros};
use crate::entries::{EntryCodec, RawEntry};

/// The widest entry that is read with all its bits; of wider ones those above are left out.
const MAX_KEY_BITS: u32 = 16;

/// The codes of what can stand in the entries of a table.
pub(super) struct KeyCodes {
    pub(super) codec: EntryCodec,
    /// The bits of an entry that tell its code: its key.
    pub(super) mask: u64,
    /// White to move and Black to move: for every key, `mask + 1` of them, the code in the lower
    /// half and the distance in moves in the upper.
    tables: ByColor<Box<[u32; NUMBERS]>>,
    /// Whether the distances count.
    exact: bool,
}

/// No code: the distance does not fit.
const UNSOUND: u32 = u32::MAX;

impl KeyCodes {
    pub(super) fn new<C: Code>(codec: EntryCodec, taking: Taking) -> KeyCodes {
        let bits = u32::from(codec.bits()).min(MAX_KEY_BITS);
        let tables = ByColor::new_with(|turn| {
            let mut codes = zeros();
            for (key, place) in (0..1 << bits).zip(codes.iter_mut()) {
                *place = code_of::<C>(codec, taking, turn, key);
            }
            codes
        });
        let exact = codec.format().has_distance() && taking == Taking::Exactly;
        KeyCodes { codec, mask: (1 << bits) - 1, tables, exact }
    }

    /// The codes of all keys with a side to move, each with its distance above it.
    pub(super) fn of(&self, turn: Color) -> &[u32; NUMBERS] {
        self.tables.get(turn)
    }

    /// The distance in moves of the largest of the numbers met.
    ///
    /// # Errors
    ///
    /// One of them did not fit.
    pub(super) fn longest(most: u32) -> Result<u16, RowsError> {
        if most == UNSOUND { Err(RowsError::Entry) } else { Ok((most >> 16) as u16) }
    }

    /// The longest distance of a table, if that of its entries is `longest`.
    pub(super) fn max_moves(&self, longest: u16) -> u16 {
        if self.exact { longest } else { 1 }
    }

    /// Refuses an area that is too short for so many entries.
    pub(super) fn check(&self, area: &[u8], entries: u64) -> Result<(), RowsError> {
        let enough = area.len() as u64 >= self.codec.area_bytes(entries);
        if enough { Ok(()) } else { Err(RowsError::Entry) }
    }
}

/// The code of a key, and its distance above it.
fn code_of<C: Code>(codec: EntryCodec, taking: Taking, turn: Color, key: u32) -> u32 {
    let unused = u32::BITS - u32::from(codec.bits()).min(MAX_KEY_BITS);
    let signed = codec.format().has_distance() && codec.bits() > 1;
    let number = if signed { ((key << unused) as i32) >> unused } else { key as i32 };
    // Numbers that mean nothing stand where there is no position.
    let value = codec.value(RawEntry(number), turn).map(|entry| value_of(entry, taking));
    let value = value.unwrap_or(Value::Illegal);
    let moves = match value {
        Value::Win(moves) | Value::Loss(moves) => moves,
        Value::Illegal | Value::Draw => 0,
    };
    if moves > C::MAX_MOVES {
        return UNSOUND;
    }
    C::from_value(value).number() as u32 | u32::from(moves) << 16
}

/// Packed entries in memory, those of all indices or of some, and the way of their positions to
/// rows.
pub(super) struct EntryReader<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) keys: &'a KeyCodes,
    /// As they are packed.
    pub(super) area: &'a [u8],
    /// Whose entries they are.
    pub(super) indices: Range<u64>,
    /// See [`Visits`].
    pub(super) promoted: u32,
}

impl EntryReader<'_> {
    /// Reads the positions of a portion as far as their entries are here, and returns the longest
    /// distance in moves.
    pub(super) fn read<C: Code>(
        &self,
        portion: &Portion,
        orientation: Orientation,
        places: &mut impl Places<C>,
    ) -> Result<u16, RowsError> {
        // What the loop needs must not be reached through what it writes to.
        let (area, mask, codes) = (self.area, self.keys.mask, self.keys.of(portion.turn));
        let bits = u64::from(self.keys.codec.bits());
        let visits = Visits { orientation, once: false, promoted: self.promoted };
        let mut sound = true;
        // The distance stands above the code.
        let mut most = 0;
        self.rows.walk(portion, visits, |run| {
            let Some(run) = run.within(&self.indices) else { return };
            let (mut bit, step) = ((run.index - self.indices.start) * bits, run.step * bits);
            let mut longest = most;
            sound &= places.put(&run, || {
                let key = word_at(area, bit) & mask;
                let code = codes[key as usize & (NUMBERS - 1)];
                longest = longest.max(code);
                bit += step;
                C::truncate(code)
            });
            most = longest;
        });
        if sound { KeyCodes::longest(most) } else { Err(RowsError::Entry) }
    }
}

/// The bits of an area from one on; zeros behind its end.
#[inline(always)]
pub(super) fn word_at(area: &[u8], bit: u64) -> u64 {
    let at = (bit >> 3) as usize;
    let word = match area.get(at..at.saturating_add(8)) {
        Some(bytes) => bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        None => last_word(area, at),
    };
    word >> (bit & 7)
}

/// The last bytes of an area from one on, the lowest first.
#[cold]
fn last_word(area: &[u8], at: usize) -> u64 {
    let rest = area.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Where the codes of runs are put.
pub(super) trait Places<C: Code> {
    /// Puts down the codes of a run in the order of its squares; false if one has no place.
    fn put(&mut self, run: &Run<'_>, next: impl FnMut() -> C) -> bool;
}

/// Codes that one thread writes: neighbouring ones, of which the first has a place.
pub(super) struct OwnBlock<'a, C> {
    pub(super) start: usize,
    pub(super) codes: &'a mut [C],
}

impl<C: Code> Places<C> for OwnBlock<'_, C> {
    #[inline(always)]
    fn put(&mut self, run: &Run<'_>, mut next: impl FnMut() -> C) -> bool {
        let row = self.codes.get_mut(run.row.wrapping_sub(self.start)..).unwrap_or_default();
        let mut sound = true;
        for square in run.squares() {
            let code = next();
            match row.get_mut(square) {
                Some(place) => *place = code,
                None => sound = false,
            }
        }
        sound
    }
}

/// All codes of a slice, which many threads write code by code.
impl<C: Code> Places<C> for &[C::Shared] {
    #[inline(always)]
    fn put(&mut self, run: &Run<'_>, mut next: impl FnMut() -> C) -> bool {
        let row = self.get(run.row..).unwrap_or_default();
        if let Some(row) = row.first_chunk::<64>().filter(|_| run.in_row) {
            for square in run.squares() {
                C::put(&row[square & 63], next());
            }
            return true;
        }
        // Bare kings may go from row to row.
        let mut sound = true;
        for square in run.squares() {
            let code = next();
            match row.get(square) {
                Some(place) => C::put(place, code),
                None => sound = false,
            }
        }
        sound
    }
}

/// All codes of a slice, which many threads write row by row: a few wide stores.
pub(super) struct WholeRows<'a, C> {
    words: &'a [AtomicU64],
    /// Where the row begins that is being put together; [`usize::MAX`] before the first.
    place: usize,
    codes: [C; 64],
}

impl<'a, C: Code> WholeRows<'a, C> {
    pub(super) fn new(words: &'a [AtomicU64]) -> WholeRows<'a, C> {
        WholeRows { words, place: usize::MAX, codes: [C::ILLEGAL; 64] }
    }

    /// Writes what there is of the row, the rest illegal.
    pub(super) fn close(&mut self) {
        if self.place == usize::MAX {
            return;
        }
        let (words, _) = C::as_bytes_of(&self.codes).as_chunks::<8>();
        let first = self.place * size_of::<C>() / 8;
        for (word, place) in words.iter().zip(self.words.get(first..).unwrap_or_default()) {
            place.store(bytemuck::cast(*word), Ordering::Relaxed);
        }
        self.codes = [C::ILLEGAL; 64];
    }
}

impl<C: Code> Places<C> for WholeRows<'_, C> {
    #[inline(always)]
    fn put(&mut self, run: &Run<'_>, mut next: impl FnMut() -> C) -> bool {
        if run.row != self.place {
            self.close();
            self.place = run.row;
        }
        for square in run.squares() {
            self.codes[square & 63] = next();
        }
        true
    }
}
