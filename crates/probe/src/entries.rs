//! The legal positions of a table with what their entries say, a stretch of indices at a time.
//!
//! Positions stand for their orbits, see [`crate::orbits`], so that each is there once and all of
//! them are those that [`crate::stats`] counts.

use std::ops::Range;

use hoffman_board::{OutcomeBounds, Placement};
use hoffman_table::{EntryValue, RawEntry, Table, TableError};
use rayon::prelude::*;

use crate::open_table::outcomes_of;
use crate::orbits::Orbits;

/// Entries that a thread takes at a time.
const BLOCK: usize = 1 << 12;

/// A legal position, and its entry.
#[derive(Clone, Debug)]
pub struct PlacedEntry {
    /// Where the entry is.
    pub index: u64,
    /// The position, in the slots of the table.
    pub placement: Placement,
    /// What the entry says; none if it means nothing.
    pub value: Option<EntryValue>,
    /// The outcome that it gives by the rules of the table; none if it gives none.
    pub said: Option<OutcomeBounds>,
    /// What that proves of chess.
    pub proved: OutcomeBounds,
}

/// The legal positions that stand for their orbits among these indices, in their order, on the
/// threads of the current pool. Indices that the table does not have are none.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn placed_entries(table: &Table, indices: Range<u64>) -> Result<Vec<PlacedEntry>, TableError> {
    let end = indices.end.min(table.space().size());
    // Entries are unpacked from a whole byte on.
    let first = indices.start & !7;
    if indices.start >= end {
        return Ok(Vec::new());
    }
    let mut numbers = vec![0_i32; (end - first) as usize];
    table.read_entries(first, &mut numbers)?;

    let reader = SingleEntries { orbits: Orbits::new(table), table };
    let blocks = numbers.par_chunks(BLOCK).enumerate();
    let placed = blocks.flat_map_iter(|(block, numbers)| {
        let (reader, start) = (&reader, indices.start);
        let numbered = (first + (block * BLOCK) as u64..).zip(numbers);
        let wanted = numbered.filter(move |(index, _)| *index >= start);
        wanted.filter_map(move |(index, &number)| reader.placed(index, RawEntry(number)))
    });
    Ok(placed.collect())
}

/// Reads single entries of a table.
struct SingleEntries<'t> {
    orbits: Orbits<'t>,
    table: &'t Table,
}

impl SingleEntries<'_> {
    fn placed(&self, index: u64, raw: RawEntry) -> Option<PlacedEntry> {
        let placement = self.table.space().decode(index)?;
        self.orbits.representative(&placement)?;

        let value = self.table.codec().value(raw, placement.turn);
        let said = value.and_then(|value| outcomes_of(value, placement.turn));
        let prove = |said| self.table.claims().prove(said);
        let proved = said.map_or(OutcomeBounds::UNKNOWN, prove);
        Some(PlacedEntry { index, placement, value, said, proved })
    }
}
