//! Packed entries, and the way from an entry to a code.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};

use hoffman_board::{Color, Value};
use hoffman_space::{Code, Orientation};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::decode::{Taking, value_of};
use super::walk::{Job, Rows};
use super::{NUMBERS, RowsError, as_shared, zeros};
use crate::entries::{EntryCodec, RawEntry};

/// The widest entry that is read with all its bits; of wider ones those above are left out.
const MAX_KEY_BITS: u32 = 16;

/// The entries of a table, and the codes of what can stand in them.
pub(super) struct Stock<'a> {
    /// As they are packed.
    entries: &'a [u8],
    pub(super) codec: EntryCodec,
    /// The bits of an entry that tell its code.
    pub(super) mask: u64,
    /// White to move and Black to move: for every key, `mask + 1` of them, the code in the lower half and the
    /// distance in moves in the upper.
    pub(super) tables: [Box<[u32; NUMBERS]>; 2],
    /// Whether the distances count.
    pub(super) exact: bool,
}

/// No code: the distance does not fit.
pub(super) const UNSOUND: u32 = u32::MAX;

impl<'a> Stock<'a> {
    pub(super) fn new<C: Code>(entries: &'a [u8], codec: EntryCodec, taking: Taking) -> Stock<'a> {
        let bits = u32::from(codec.bits()).min(MAX_KEY_BITS);
        let code = |key: u32, turn: Color| {
            let unused = u32::BITS - bits;
            let signed = codec.format().has_distance() && codec.bits() > 1;
            let number = if signed { ((key << unused) as i32) >> unused } else { key as i32 };
            // Numbers that mean nothing stand where there is no position.
            let value = codec.value(RawEntry(number), turn).map(|entry| value_of(entry, taking));
            let value = value.unwrap_or(Value::Illegal);
            let moves = match value {
                Value::Win(moves) | Value::Loss(moves) => moves,
                Value::Illegal | Value::Draw => 0,
            };
            let code = C::from_value(value).number() as u32;
            if moves > C::MAX_MOVES { UNSOUND } else { code | u32::from(moves) << 16 }
        };
        let tables = [Color::White, Color::Black].map(|turn| {
            let mut codes = zeros();
            for (key, place) in (0..1 << bits).zip(codes.iter_mut()) {
                *place = code(key, turn);
            }
            codes
        });
        let exact = codec.format().has_distance() && taking == Taking::Exactly;
        Stock { entries, codec, mask: (1 << bits) - 1, tables, exact }
    }

    /// Refuses an area that is too short.
    pub(super) fn check(&self, entries: u64) -> Result<(), RowsError> {
        let enough = self.entries.len() as u64 >= self.codec.area_bytes(entries);
        if enough { Ok(()) } else { Err(RowsError::Entry) }
    }

    /// Reads the positions of a job, and returns the longest distance in moves.
    pub(super) fn read<C: SharedCode>(
        &self,
        rows: &Rows<'_>,
        job: &Job,
        orientation: Orientation,
        edge: u32,
        target: &Target<'_, C>,
    ) -> Result<u16, RowsError> {
        let table = &*self.tables[job.turn as usize ^ 1];
        let bits = u64::from(self.codec.bits());
        let mut sound = true;
        // The distance stands above the code.
        let mut most = 0;
        let longest = |most: u32| {
            if most == UNSOUND { Err(RowsError::Entry) } else { Ok((most >> 16) as u16) }
        };
        let area = self.entries;
        let codes = match target {
            Target::Rows(words) => {
                let codes = [C::ILLEGAL; 64];
                let mut row = OpenRow { words, place: usize::MAX, codes };
                rows.walk(job, orientation, false, edge, |run| {
                    let codes = row.at(run.row);
                    // What the loop needs must not be reached through what it writes to.
                    let (table, mask, step) = (table, self.mask, run.step * bits);
                    let (mut bit, mut longest) = (run.index * bits, most);
                    for square in run.squares() {
                        let key = word_at(area, bit) & mask;
                        let code = table[key as usize & (NUMBERS - 1)];
                        longest = longest.max(code);
                        codes[square & 63] = C::truncate(code);
                        bit += step;
                    }
                    most = longest;
                });
                row.close();
                return longest(most);
            }
            Target::Places(codes) => *codes,
        };
        rows.walk(job, orientation, false, edge, |run| {
            let row = codes.get(run.row..).unwrap_or_default();
            let mut note = |place: &C::Shared, key: u64| {
                let code = table[(key & self.mask) as usize & (NUMBERS - 1)];
                most = most.max(code);
                C::note(place, code as u16);
            };
            match row.first_chunk::<64>().filter(|_| run.in_row) {
                Some(row) => {
                    let mut bit = run.index * bits;
                    for square in run.squares() {
                        note(&row[square & 63], word_at(area, bit));
                        bit += run.step * bits;
                    }
                }
                // Bare kings may go from row to row.
                None => {
                    for (index, square) in (0..).zip(run.squares()) {
                        let bit = (run.index + index * run.step) * bits;
                        match row.get(square) {
                            Some(place) => note(place, word_at(area, bit)),
                            None => sound = false,
                        }
                    }
                }
            }
        });
        if sound { longest(most) } else { Err(RowsError::Entry) }
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

/// A code that many threads may write to.
pub(super) trait SharedCode: Code + FromBytes + IntoBytes + Immutable + KnownLayout {
    /// What they write to.
    type Shared: Sync + FromBytes + IntoBytes + KnownLayout;
    fn note(place: &Self::Shared, code: u16);
    /// The lowest bits of a number.
    fn truncate(code: u32) -> Self;
}

impl SharedCode for u8 {
    type Shared = AtomicU8;

    #[inline(always)]
    fn note(place: &AtomicU8, code: u16) {
        place.store(code as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    fn truncate(code: u32) -> u8 {
        code as u8
    }
}

impl SharedCode for u16 {
    type Shared = AtomicU16;

    #[inline(always)]
    fn note(place: &AtomicU16, code: u16) {
        place.store(code, Ordering::Relaxed);
    }

    #[inline(always)]
    fn truncate(code: u32) -> u16 {
        code as u16
    }
}

/// Where codes are written to, by many threads at once.
pub(super) enum Target<'a, C: SharedCode> {
    /// By rows of 64 codes, each as a whole by one thread at a time: a few wide stores.
    Rows(&'a [AtomicU64]),
    /// Code by code.
    Places(&'a [C::Shared]),
}

impl<'a, C: SharedCode> Target<'a, C> {
    pub(super) fn new(codes: &'a mut [C], whole: bool) -> Target<'a, C> {
        // Allocations of this size are aligned; if one is not, it is written code by code.
        let aligned = codes.as_ptr().addr().is_multiple_of(8) && codes.len().is_multiple_of(64);
        if whole && aligned {
            Target::Rows(as_shared(codes))
        } else {
            Target::Places(as_shared(codes))
        }
    }
}

/// A row of codes that is being put together.
struct OpenRow<'a, C> {
    words: &'a [AtomicU64],
    /// Where it begins; [`usize::MAX`] before the first.
    place: usize,
    codes: [C; 64],
}

impl<C: SharedCode> OpenRow<'_, C> {
    /// Goes on to the row at a place.
    #[inline(always)]
    fn at(&mut self, place: usize) -> &mut [C; 64] {
        if place != self.place {
            self.close();
            self.place = place;
        }
        &mut self.codes
    }

    /// Writes what there is of the row, the rest illegal.
    fn close(&mut self) {
        if self.place == usize::MAX {
            return;
        }
        let bytes = self.codes.as_bytes();
        let (words, _) = bytes.as_chunks::<8>();
        let first = self.place * size_of::<C>() / 8;
        for (word, place) in words.iter().zip(self.words.get(first..).unwrap_or_default()) {
            place.store(bytemuck::cast(*word), Ordering::Relaxed);
        }
        self.codes = [C::ILLEGAL; 64];
    }
}
