//! All positions of a table with their values, for statistics and for learning.

use std::ops::Range;

use hoffman_board::{self as board, Color, Format, Placement, Role};
use hoffman_probe::entries::{PlacedEntry, placed_entries};
use hoffman_reader::{Moves, Plies, Said, Value};
use hoffman_table::EntryValue;

use crate::error::Error;
use crate::table::Table;

/// A legal position of a table, and what its entry says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableEntry {
    /// The index of the entry.
    pub index: u64,
    /// The position: a square for each of [`Table::men`], the side to move, and the square that a
    /// pawn has jumped over, if it can be taken there.
    pub placement: Placement,
    /// What the entry proves, for the side to move.
    pub value: Value,
    /// What it says by the rules of the table; none if it says nothing.
    pub said: Option<Said>,
    /// The moves of the winner to a conversion, where the table counts those.
    pub conversion: Option<Moves>,
}

impl Table {
    /// Its men, in the order in which positions have their squares.
    pub fn men(&self) -> Vec<(Color, Role)> {
        self.inner().pieces().iter().map(|piece| (piece.color, piece.role)).collect()
    }

    /// The legal positions of a range of indices, in their order, one of those that are the same
    /// under the symmetries of the board. Over all indices ([`TableInfo::indices`]) they are the
    /// positions that [`Table::stats`] counts, those with an en passant capture among them; a table
    /// of one side to move has that side's only. Works on the threads of the pool that it is
    /// called in.
    ///
    /// [`TableInfo::indices`]: crate::TableInfo::indices
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn entries(&self, indices: Range<u64>) -> Result<Vec<TableEntry>, Error> {
        let table = self.inner();
        let converts = matches!(table.codec().format(), Format::Dtc(_));
        let placed = placed_entries(table, indices)?;
        Ok(placed.into_iter().map(|entry| TableEntry::new(entry, converts)).collect())
    }
}

impl TableEntry {
    fn new(entry: PlacedEntry, converts: bool) -> TableEntry {
        let PlacedEntry { index, placement, value, said, proved } = entry;
        let turn = placement.turn;
        let exact = match value {
            Some(EntryValue::Exact(value)) => Some(value),
            _ => None,
        };
        let plies = exact.filter(|_| !converts).and_then(board::Value::plies);
        let plies = plies.map(|plies| Plies(plies.unsigned_abs()));
        let conversion = match exact.filter(|_| converts) {
            Some(board::Value::Win(moves) | board::Value::Loss(moves)) => Some(Moves(moves.into())),
            _ => None,
        };

        let agrees = said == Some(proved);
        let value = Value::of_bounds(proved, turn, plies.filter(|_| agrees));
        let said = said.map(|said| Said::of_bounds(said, turn, plies));
        TableEntry { index, placement, value, said, conversion }
    }
}
