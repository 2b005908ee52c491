//! Where the entries of a table come from: one trait, whether a file of ours holds them, a table
//! of another program answers for them, or they were solved and are not written yet.

use std::fmt;

use hoffman_board::Color;
#[cfg(feature = "bulk")]
use hoffman_board::{Bitboard, ByColor, Placement, Role};
use hoffman_control::{Claims, ControlFile};
use hoffman_hbf::Code;
#[cfg(feature = "bulk")]
use rayon::prelude::*;

use crate::entries::{EntryCodec, EntryValue, RawEntry};
#[cfg(feature = "bulk")]
use crate::entries::{EntryError, Number};
use crate::foreign::ForeignTable;
use crate::index::IndexSpace;
use crate::reader::TableProblem;
#[cfg(feature = "bulk")]
use crate::rows::RowsError;
#[cfg(feature = "bulk")]
use crate::stop::Stop;

/// How the positions of a table are numbered, and what its entries are like.
#[derive(Debug)]
pub struct Shape {
    /// The numbering of its positions.
    pub space: IndexSpace,
    /// How a value is kept in an entry.
    pub codec: EntryCodec,
}

impl Shape {
    /// How many bytes all entries have when they are packed.
    pub fn area_bytes(&self) -> u64 {
        self.space.size().div_ceil(8).saturating_mul(u64::from(self.codec.bits()))
    }

    /// What the values of a table with this header prove of chess.
    pub(crate) fn claims(&self, header: &ControlFile) -> Claims {
        let claims = Claims::of_header(header);
        // White's prunes stand for Black's where one side to move is stored.
        if self.space.has_side_bit() { claims } else { claims.and(claims.swapped()) }
    }

    /// The meaning of a number. One that the format does not know only occurs at indices without a
    /// position.
    pub fn value(&self, raw: RawEntry, turn: Color) -> EntryValue {
        self.codec.value(raw, turn).unwrap_or(EntryValue::Draw)
    }
}

/// Entries by their indices. A [`crate::Table`] has one source and hands it its shape with every
/// question.
pub trait Entries: fmt::Debug + Send + Sync {
    /// The number at an index.
    ///
    /// # Errors
    /// Damage, or no answer for want of other files.
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem>;

    /// What the entry of a position says, [`EntryValue::Unknown`] for want of other files.
    ///
    /// # Errors
    /// Damage.
    fn value(&self, shape: &Shape, index: u64, turn: Color) -> Result<EntryValue, TableProblem> {
        Ok(shape.value(self.number(shape, index)?, turn))
    }

    /// [`Entries::value`], or if its code is `enough` or more, any value whose code lies between:
    /// that may be much quicker to find out.
    ///
    /// # Errors
    /// As [`Entries::value`].
    fn value_up_to(
        &self,
        shape: &Shape,
        index: u64,
        turn: Color,
        enough: Code,
    ) -> Result<EntryValue, TableProblem> {
        let _ = enough;
        self.value(shape, index, turn)
    }

    /// [`Entries::value`] as far as memory tells.
    fn cached_value(&self, shape: &Shape, index: u64, turn: Color) -> Option<EntryValue> {
        let _ = (shape, index, turn);
        None
    }

    /// The entries from `first` on, a multiple of eight, as a file of ours would pack them: as
    /// many as there is room for in `area`.
    ///
    /// # Errors
    /// As [`Entries::number`].
    #[cfg(feature = "bulk")]
    fn pack(&self, shape: &Shape, first: u64, area: &mut [u8]) -> Result<(), TableProblem> {
        pack_one_by_one(self, shape, (first, &Stop::default()), area)
    }

    /// All mutual zugzwangs of the table, see [`crate::Table::mutual_zugzwangs`], if there is a
    /// quicker way to them than through all entries.
    ///
    /// # Errors
    /// As [`Entries::number`].
    #[cfg(feature = "bulk")]
    fn mutual_zugzwangs(
        &self,
        shape: &Shape,
    ) -> Result<Option<Vec<ZugzwangEntries>>, TableProblem> {
        let _ = shape;
        Ok(None)
    }

    /// Whether there is a quicker way to values that are wanted than by their indices, for complete
    /// endings: [`Entries::row`]. Prepares for it.
    ///
    /// # Errors
    /// As [`Entries::number`].
    #[cfg(feature = "bulk")]
    fn has_rows(&self, shape: &Shape, wanted: &crate::rows::Wanted) -> Result<bool, TableProblem> {
        let _ = (shape, wanted);
        Ok(false)
    }

    /// The bytes of memory that [`Entries::has_rows`] takes, some of which are held from then on.
    #[cfg(feature = "bulk")]
    fn memory_of_rows(&self, wanted: &crate::rows::Wanted) -> u64 {
        let _ = wanted;
        0
    }

    /// What the entries of positions say that differ in the square of one man, each of them legal,
    /// by that square.
    ///
    /// # Errors
    /// As [`Entries::number`]; there are no rows.
    #[cfg(feature = "bulk")]
    fn row(
        &self,
        shape: &Shape,
        row: &crate::foreign::Row<'_>,
        values: &mut [EntryValue; 64],
    ) -> Result<(), TableProblem> {
        let _ = (shape, row, values);
        Err(crate::rows::RowsError::Entry.into())
    }

    /// The codes of such a row, legal or not, as far as they are at hand: exactly what the entries
    /// tell, 0 where there is no legal position. Returns the squares for which they are not. Only
    /// rows are asked for that [`Entries::has_rows`] said yes of, or [`Entries::walker`].
    #[cfg(feature = "bulk")]
    fn row_codes(
        &self,
        shape: &Shape,
        row: &crate::foreign::Row<'_>,
        codes: &mut [u8; 64],
    ) -> Bitboard {
        let _ = (shape, codes);
        row.squares
    }

    /// The men whose rows [`Entries::row_codes`] has at hand soonest, both sides to move: none if
    /// there are no such rows, or no memory for them. Prepares for it.
    ///
    /// # Errors
    /// As [`Entries::number`].
    #[cfg(feature = "bulk")]
    fn walker(&self, shape: &Shape) -> Result<Option<(Color, Role)>, TableProblem> {
        let _ = shape;
        Ok(None)
    }

    /// Whether values follow from those of the tables behind, so that reading them takes long.
    #[cfg(feature = "bulk")]
    fn leans(&self) -> bool {
        false
    }

    /// How many entries are unpacked together, where it is about that many; a caller that asks for
    /// all takes several times as many at once.
    fn together(&self, shape: &Shape) -> u64 {
        let _ = shape;
        1 << 20
    }

    /// Compares the length with the one that the header implies, and settles where the entries
    /// begin. A remark, if that was not where the header says.
    ///
    /// # Errors
    /// [`TableProblem::Length`], damage.
    fn settle(
        &mut self,
        shape: &Shape,
        header: &ControlFile,
    ) -> Result<Option<String>, TableProblem> {
        let _ = (shape, header);
        Ok(None)
    }

    /// Whether [`Entries::settle`] takes no time.
    fn is_soon_settled(&self) -> bool {
        true
    }

    /// Compares all checksums.
    ///
    /// # Errors
    /// Damage.
    #[cfg(feature = "bulk")]
    fn check(&self) -> Result<(), TableProblem> {
        Ok(())
    }

    /// Reads everything, compares every checksum and the length. A remark, as for
    /// [`Entries::settle`].
    ///
    /// # Errors
    /// Damage, [`TableProblem::Length`], files that are missing.
    #[cfg(feature = "bulk")]
    fn verify(&self, shape: &Shape, header: &ControlFile) -> Result<Option<String>, TableProblem> {
        let _ = (shape, header);
        Ok(None)
    }

    /// Bytes that differ where entries do, if they are known without reading everything.
    fn fingerprint(&self) -> Option<Vec<u8>> {
        None
    }

    /// Whether they are those of a file of the block format.
    fn is_of_blocks(&self) -> bool {
        false
    }

    /// Whether what is stored are the values of positions, and every entry follows from them.
    fn is_of_cells(&self) -> bool {
        false
    }

    /// The reader behind them, if they are those of another program.
    fn foreign(&self) -> Option<&dyn ForeignTable> {
        None
    }
}

/// Men with which either side would rather not be to move.
#[cfg(feature = "bulk")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZugzwangEntries {
    /// The men, with White to move.
    pub placement: Placement,
    /// What the table has of them with each side to move.
    pub entries: ByColor<RawEntry>,
}

/// Entries that a thread asks for at a time, where each is asked for by itself.
#[cfg(feature = "bulk")]
const CHUNK: usize = 1024;

/// [`Entries::pack`] by [`Entries::number`].
#[cfg(feature = "bulk")]
pub(crate) fn pack_one_by_one<E: Entries + ?Sized>(
    entries: &E,
    shape: &Shape,
    (first, stop): (u64, &Stop),
    area: &mut [u8],
) -> Result<(), TableProblem> {
    // Entries that are asked for one by one cost so much each that small pieces are worth while.
    area.par_chunks_mut(CHUNK / 8 * usize::from(shape.codec.bits())).enumerate().try_for_each_init(
        Vec::new,
        |packed, (number, area)| {
            if stop.is_requested() {
                return Err(RowsError::Stopped.into());
            }
            let first = first + (number * CHUNK) as u64;
            let end = shape.space.size().min(first + CHUNK as u64);
            let numbers = (first..end).map(|index| Ok(entries.number(shape, index)?.0));
            let numbers: Vec<i32> = numbers.collect::<Result<_, TableProblem>>()?;
            pack_into(shape, &numbers, packed, area)
        },
    )
}

/// Packs the numbers of all entries of a table.
///
/// # Errors
/// A number that the entries are too narrow for.
#[cfg(feature = "bulk")]
pub(crate) fn pack_numbers<T: Number>(
    shape: &Shape,
    numbers: &[T],
    area: &mut [u8],
) -> Result<(), TableProblem> {
    let areas = area.par_chunks_mut(CHUNK / 8 * usize::from(shape.codec.bits()));
    let pieces = areas.zip(numbers.par_chunks(CHUNK));
    pieces.try_for_each_init(Vec::new, |packed, (area, numbers)| {
        let numbers: Vec<i32> = numbers.iter().map(|number| number.to_entry()).collect();
        pack_into(shape, &numbers, packed, area)
    })
}

/// Packs numbers into an area, as much as it has room for; `packed` is scratch space.
#[cfg(feature = "bulk")]
fn pack_into(
    shape: &Shape,
    numbers: &[i32],
    packed: &mut Vec<u8>,
    area: &mut [u8],
) -> Result<(), TableProblem> {
    packed.clear();
    shape.codec.pack(numbers, packed)?;
    let (bytes, entries, bits) = (packed.len(), numbers.len(), shape.codec.bits());
    let short = EntryError::Short { bytes, entries, bits };
    area.copy_from_slice(packed.get(..area.len()).ok_or(short)?);
    Ok(())
}
