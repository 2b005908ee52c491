//! Reading many entries of a table at once, with all threads.

use std::sync::Arc;

use hoffman_pages::Pages;
use hoffman_space::TableValues;
use rayon::prelude::*;

use crate::entries::{EntryValue, Number};
use crate::foreign::{ForeignError, Row, setup_of};
use crate::htb::HtbError;
use crate::reader::{Table, TableError, TableProblem};
use crate::rows::{Taking, Wanted, ask_all};

/// Entries of a foreign table that a thread takes at a time.
const CHUNK: usize = 1024;

impl Table {
    /// Unpacks the entries from `first` (a multiple of eight) on.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early.
    pub fn read_entries<T: Number>(&self, first: u64, out: &mut [T]) -> Result<(), TableError> {
        if let Some(foreign) = &self.foreign {
            let fill = |(index, number): (u64, &mut T)| {
                *number = T::from_entry(self.foreign_entry(foreign.as_ref(), index)?.0);
                Ok(())
            };
            // Entries cost so much each that small pieces are worth while.
            return out
                .par_chunks_mut(CHUNK)
                .enumerate()
                .try_for_each(|(number, chunk)| {
                    let first = first.saturating_add((number * CHUNK) as u64);
                    (first..).zip(chunk).try_for_each(fill)
                })
                .map_err(|e: ForeignError| TableError {
                    path: self.path.clone(),
                    problem: e.into(),
                });
        }
        self.source
            .read_entries(&self.codec, self.start, first, out)
            .map_err(|e| TableError { path: self.path.clone(), problem: e.into() })
    }

    /// All entries as they are packed in the file, [`EntryCodec::area_bytes`] of them, in place of what is
    /// in `area`.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early, or does not fit into memory.
    pub fn read_packed(&self, area: &mut Vec<u8>) -> Result<(), TableError> {
        self.read_packed_part(0, self.space.size(), area)
    }

    /// The same for `len` entries from `first` on, which is a multiple of eight.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn read_packed_part(
        &self,
        first: u64,
        len: u64,
        area: &mut Vec<u8>,
    ) -> Result<(), TableError> {
        let fail = |problem| TableError { path: self.path.clone(), problem };
        let end = first + len;
        let start = self.start + first / 8 * u64::from(self.codec.bits());
        let len = usize::try_from(self.codec.area_bytes(len));
        let too_long = HtbError::TooLong { limit: usize::MAX as u64 };
        // All of it is overwritten: only what is new has to be cleared.
        let more = |len: &usize| area.try_reserve_exact(len.saturating_sub(area.len())).is_ok();
        let len = len.ok().filter(more).ok_or_else(|| fail(too_long.into()))?;
        area.resize(len, 0);
        let Some(foreign) = &self.foreign else {
            return self.source.read_parallel(start, area).map_err(|e| fail(e.into()));
        };
        let bytes = CHUNK / 8 * usize::from(self.codec.bits());
        area.par_chunks_mut(bytes)
            .enumerate()
            .try_for_each_init(Vec::new, |packed, (number, bytes)| {
                let first = first + (number * CHUNK) as u64;
                let entries = (first..end.min(first + CHUNK as u64))
                    .map(|index| Ok(self.foreign_entry(foreign.as_ref(), index)?.0));
                let entries: Vec<i32> = entries.collect::<Result<_, ForeignError>>()?;
                packed.clear();
                self.codec.pack(&entries, packed)?;
                bytes.copy_from_slice(packed);
                Ok(())
            })
            .map_err(|problem: TableProblem| fail(problem))
    }

    /// The values of a table of another program by rows, as far as they are wanted; none of a table of ours.
    /// Where it is not read as a whole, each position is asked for by itself, which takes up to microseconds a
    /// position and thread.
    /// `another` as in [`ask_all`].
    ///
    /// # Errors
    ///
    /// Damage; positions without an answer, see [`Table::check_complete`].
    pub fn foreign_values(
        &self,
        wanted: &Wanted,
        taking: Taking,
        pages: Option<&Arc<Pages>>,
        another: Option<&TableValues>,
    ) -> Result<Option<TableValues>, TableError> {
        let Some(foreign) = &self.foreign else { return Ok(None) };
        let room = pages.map_or(u64::MAX, |pages| pages.budget() as u64 / 2);
        let fast = foreign.values(room);
        let ask = |row: &mut Row<'_>, values: &mut [EntryValue; 64]| -> Result<(), TableProblem> {
            match &fast {
                Some(fast) => fast.row(row, values)?,
                None => {
                    for square in row.squares {
                        row.men[row.walks].0 = square;
                        let men = row.men.iter().copied();
                        let value = foreign.value(&setup_of(men, row.turn, row.en_passant))?;
                        values[square as usize] = value.unwrap_or(EntryValue::Unknown);
                    }
                }
            }
            if row.squares.into_iter().any(|s| values[s as usize] == EntryValue::Unknown) {
                return Err(ForeignError::Incomplete { missing: foreign.missing() }.into());
            }
            Ok(())
        };
        let ask_all = || {
            if self.codec.bits() <= 8 {
                ask_all::<u8, _>(&self.space, wanted, taking, pages, another, ask)
            } else {
                ask_all::<u16, _>(&self.space, wanted, taking, pages, another, ask)
            }
        };
        let held = fast.as_ref().map_or(0, |values| values.bytes()) as usize;
        let values = match pages {
            Some(pages) => pages.lend(held, ask_all),
            None => ask_all(),
        };
        values.map(Some).map_err(|problem| TableError { path: self.path.clone(), problem })
    }
}
