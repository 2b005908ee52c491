//! Reading many entries of a table at once, with all threads.

use std::sync::Arc;

use hoffman_board::{Bitboard, Color, Role};
use hoffman_pages::Pages;
use hoffman_space::TableValues;
use rayon::prelude::*;

use crate::entries::{EntryValue, Number};
use crate::foreign::{ForeignError, ForeignTable, Row, setup_of};
use crate::htb::HtbError;
use crate::reader::{Table, TableError, TableProblem};
use crate::rows::{AskedTable, RowsError, Taking, Wanted, ask_all, decode};
use crate::source::{Entries, Shape, ZugzwangEntries};
use crate::stop::Stop;

/// The bytes of packed entries that are read before they are unpacked.
const WINDOW: u64 = 64 << 20;

/// Entries that a thread unpacks at a time.
const UNPACKED: usize = 1 << 17;

impl Table {
    /// Unpacks the entries from `first` (a multiple of eight) on.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early.
    pub fn read_entries<T: Number>(&self, first: u64, out: &mut [T]) -> Result<(), TableError> {
        debug_assert_eq!(first % 8, 0);
        let codec = self.shape.codec;
        let bits = u64::from(codec.bits());
        // A window of at least a block a thread keeps all threads busy and the scratch space
        // small.
        let block = self.entries.together(&self.shape).saturating_mul(bits) / 8;
        let threads = rayon::current_num_threads() as u64;
        let window = (block.saturating_mul(threads).max(WINDOW) / bits * 8) as usize;
        let mut bytes = Vec::new();
        for (first, numbers) in (first..).step_by(window).zip(out.chunks_mut(window)) {
            bytes.clear();
            bytes.resize((numbers.len() as u64 * bits).div_ceil(8) as usize, 0);
            self.entries.pack(&self.shape, first, &mut bytes).map_err(|e| self.error(e))?;
            numbers
                .par_chunks_mut(UNPACKED)
                .zip(bytes.par_chunks(UNPACKED / 8 * bits as usize))
                .try_for_each(|(numbers, bytes)| codec.unpack(bytes, numbers))
                .map_err(|e| self.error(e.into()))?;
        }
        Ok(())
    }

    /// Whether values follow from those of the tables behind, so that reading them takes long.
    pub fn leans(&self) -> bool {
        self.entries.leans()
    }

    /// Whether all entries are unpacked many times faster than one by one: not where they follow
    /// from those of the tables behind and are too many to be decoded as a whole.
    pub fn is_unpacked_quickly(&self) -> bool {
        !self.leans() || self.entries.memory_of_rows(&Wanted::all()) > 0
    }

    /// How many entries are best asked for at once where all are wanted.
    pub fn together(&self) -> u64 {
        self.entries.together(&self.shape)
    }

    /// Compares the checksums of the file, without unpacking it. Of a table of another program
    /// nothing is compared.
    ///
    /// # Errors
    ///
    /// Damage.
    pub fn check(&self) -> Result<(), TableError> {
        self.entries.check().map_err(|problem| self.error(problem))
    }

    /// Unpacks the file, comparing every checksum and the length. A remark, if the entries do not
    /// begin where the header says.
    ///
    /// # Errors
    ///
    /// Damage; files of another program that are missing.
    pub fn verify_file(&self) -> Result<Option<String>, TableError> {
        let verified = self.entries.verify(&self.shape, self.control());
        verified.map_err(|problem| self.error(problem))
    }

    /// All entries as they are packed in the file, [`EntryCodec::area_bytes`] of them, in place of
    /// what is in `area`.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early, or does not fit into memory.
    pub fn read_packed(&self, area: &mut Vec<u8>) -> Result<(), TableError> {
        self.read_packed_part(0, self.space().size(), area)
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
        let len = usize::try_from(self.shape.codec.area_bytes(len));
        let too_long = HtbError::TooLong { limit: usize::MAX as u64 };
        // All of it is overwritten: only what is new has to be cleared.
        let more = |len: &usize| area.try_reserve_exact(len.saturating_sub(area.len())).is_ok();
        let len = len.ok().filter(more).ok_or_else(|| self.error(too_long.into()))?;
        area.resize(len, 0);
        self.entries.pack(&self.shape, first, area).map_err(|problem| self.error(problem))
    }

    /// All positions without rights to take en passant in which the result is worse for whoever is
    /// to move, if the table has a quicker way to them than through all its entries: each at least
    /// once, up to the symmetries of the board.
    ///
    /// # Errors
    ///
    /// Damage; a table behind is missing; the caller asked to stop.
    pub fn mutual_zugzwangs(&self) -> Result<Option<Vec<ZugzwangEntries>>, TableError> {
        self.entries.mutual_zugzwangs(&self.shape).map_err(|problem| self.error(problem))
    }

    /// The men whose rows hold codes in memory, if the table is one that has such rows and fits
    /// there: it is read as a whole.
    pub(crate) fn walker(&self) -> Result<Option<(Color, Role)>, TableError> {
        self.entries.walker(&self.shape).map_err(|problem| self.error(problem))
    }

    /// See [`Entries::row_codes`], of a table with a [`Table::walker`].
    pub(crate) fn row_codes(&self, row: &Row<'_>, codes: &mut [u8; 64]) -> Bitboard {
        self.entries.row_codes(&self.shape, row, codes)
    }

    /// The values of a table of another program, or of one of the block format, by rows, as far as
    /// they are wanted; none of a table whose entries are quicker read by their indices. Where it
    /// is not read as a whole, each position is asked for by itself, which takes up to microseconds
    /// a position and thread. `another` as in [`ask_all`].
    ///
    /// # Errors
    ///
    /// Damage; positions without an answer, see [`Table::check_complete`]; the caller asked to
    /// stop.
    pub fn foreign_values(
        &self,
        wanted: &Wanted,
        taking: Taking,
        pages: Option<&Arc<Pages>>,
        another: Option<&TableValues>,
        stop: &Stop,
    ) -> Result<Option<TableValues>, TableError> {
        let Some(foreign) = self.foreign() else {
            return self.own_values(wanted, taking, pages, another, stop);
        };
        let room = pages.map_or(u64::MAX, |pages| pages.budget() as u64 / 2);
        let fast = foreign.values(room);
        let ask = |row: &mut Row<'_>, values: &mut [EntryValue; 64]| -> Result<(), TableProblem> {
            if stop.is_requested() {
                return Err(RowsError::Stopped.into());
            }
            match &fast {
                Some(fast) => fast.row(row, values)?,
                None => ask_one_by_one(foreign, row, values)?,
            }
            if row.squares.into_iter().any(|s| values[s as usize] == EntryValue::Unknown) {
                return Err(ForeignError::Incomplete { missing: foreign.missing() }.into());
            }
            Ok(())
        };

        let ask_all = || {
            if self.codec().bits() <= 8 {
                ask_all::<u8, _>(self.space(), wanted, taking, pages, another, &ask)
            } else {
                ask_all::<u16, _>(self.space(), wanted, taking, pages, another, &ask)
            }
        };

        let held = fast.as_ref().map_or(0, |values| values.bytes()) as usize;
        let values = match pages {
            Some(pages) => pages.lend(held, ask_all),
            None => ask_all(),
        };
        values.map(Some).map_err(|problem| self.error(problem))
    }
}

impl Table {
    /// The values of a table with their distances, as far as they are wanted.
    ///
    /// # Errors
    ///
    /// Damage; too little memory; entries that are no values of positions; the caller asked to
    /// stop.
    pub fn exact_values(&self, wanted: &Wanted, stop: &Stop) -> Result<TableValues, TableError> {
        let taking = Taking::Exactly;
        if let Some(values) = self.foreign_values(wanted, taking, None, None, stop)? {
            return Ok(values);
        }
        let mut area = Vec::new();
        self.read_packed(&mut area)?;
        let values = decode(self.space(), self.codec(), &area, wanted, taking, stop);
        values.map_err(|problem| self.error(problem.into()))
    }

    /// The values of a table of ours by rows, if that is the quicker way to them.
    fn own_values(
        &self,
        wanted: &Wanted,
        taking: Taking,
        pages: Option<&Arc<Pages>>,
        another: Option<&TableValues>,
        stop: &Stop,
    ) -> Result<Option<TableValues>, TableError> {
        let by_rows = || {
            if !self.entries.has_rows(&self.shape, wanted)? {
                return Ok(None);
            }
            let what = (wanted, taking);
            values_by_rows(&*self.entries, &self.shape, what, (pages, another), stop).map(Some)
        };
        let values = match pages {
            Some(pages) => {
                let bytes = self.entries.memory_of_rows(wanted);
                pages.lend(usize::try_from(bytes).unwrap_or(usize::MAX), by_rows)
            }
            None => by_rows(),
        };
        values.map_err(|problem| self.error(problem))
    }
}

/// The values of entries that have rows. `another` as in [`ask_all`].
pub(crate) fn values_by_rows(
    entries: &dyn Entries,
    shape: &Shape,
    (wanted, taking): (&Wanted, Taking),
    (pages, another): (Option<&Arc<Pages>>, Option<&TableValues>),
    stop: &Stop,
) -> Result<TableValues, TableProblem> {
    let ask = EntryRows { entries, shape, stop };
    if shape.codec.bits() <= 8 {
        ask_all::<u8, _>(&shape.space, wanted, taking, pages, another, &ask)
    } else {
        ask_all::<u16, _>(&shape.space, wanted, taking, pages, another, &ask)
    }
}

/// The rows of entries.
struct EntryRows<'a> {
    entries: &'a dyn Entries,
    shape: &'a Shape,
    stop: &'a Stop,
}

impl AskedTable for EntryRows<'_> {
    type Error = TableProblem;

    fn values(&self, row: &mut Row<'_>, values: &mut [EntryValue; 64]) -> Result<(), TableProblem> {
        if self.stop.is_requested() {
            return Err(RowsError::Stopped.into());
        }
        self.entries.row(self.shape, row, values)
    }

    fn codes(&self, row: &Row<'_>, codes: &mut [u8; 64]) -> Bitboard {
        if self.stop.is_requested() {
            // Who is asked for the values says so.
            return row.squares;
        }
        self.entries.row_codes(self.shape, row, codes)
    }
}

/// Asks a table of another program for the positions of a row.
fn ask_one_by_one(
    table: &dyn ForeignTable,
    row: &mut Row<'_>,
    values: &mut [EntryValue; 64],
) -> Result<(), ForeignError> {
    for square in row.squares {
        row.men[row.walks].0 = square;
        let men = row.men.iter().copied();
        let value = table.value(&setup_of(men, row.turn, row.en_passant))?;
        values[square as usize] = value.unwrap_or(EntryValue::Unknown);
    }
    Ok(())
}
