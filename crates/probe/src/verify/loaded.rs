//! Tables whose entries are asked for often, unpacked as far as there is room.

use hoffman_board::{Color, Placement};
use hoffman_table::rows::{Distances, RowsError, Taking, Wanted, encode};
use hoffman_table::{EntryValue, RawEntry, Stop, Table, TableError};

use super::men::SlotMove;

/// The entries of a table, unpacked if there is room.
#[derive(Debug)]
enum LoadedEntries {
    Small(Vec<i8>),
    Wide(Vec<i16>),
    OnDisk,
}

impl LoadedEntries {
    /// The memory that they take.
    fn bytes(&self) -> u64 {
        match self {
            LoadedEntries::Small(numbers) => numbers.len() as u64,
            LoadedEntries::Wide(numbers) => numbers.len() as u64 * 2,
            LoadedEntries::OnDisk => 0,
        }
    }
}

/// A table with its entries.
#[derive(Debug)]
pub(super) struct LoadedTable<'a> {
    table: &'a Table,
    entries: LoadedEntries,
}

impl<'a> LoadedTable<'a> {
    /// Unpacks the entries if they fit into what is left of the memory.
    pub(super) fn new(table: &'a Table, memory: &mut u64) -> Result<LoadedTable<'a>, TableError> {
        let size = table.space().size();
        if let Some(entries) = LoadedTable::foreign_entries(table, *memory)? {
            *memory -= entries.bytes();
            return Ok(LoadedTable { table, entries });
        }
        let entries = match table.codec().bits() {
            1..=8 if size <= *memory => {
                *memory -= size;
                let mut numbers = vec![0; size as usize];
                table.read_entries(0, &mut numbers)?;
                LoadedEntries::Small(numbers)
            }
            9..=16 if size.saturating_mul(2) <= *memory => {
                *memory -= size * 2;
                let mut numbers = vec![0; size as usize];
                table.read_entries(0, &mut numbers)?;
                LoadedEntries::Wide(numbers)
            }
            _ => LoadedEntries::OnDisk,
        };
        Ok(LoadedTable { table, entries })
    }

    /// The entries of a table of another program, which gives them by rows many times faster than
    /// one by one. None of a table of ours, or where there is no room.
    fn foreign_entries(table: &Table, memory: u64) -> Result<Option<LoadedEntries>, TableError> {
        // Values and entries are there side by side, both of two bytes at most.
        if table.foreign().is_none() || table.space().size().saturating_mul(4) > memory {
            return Ok(None);
        }
        let values =
            table.foreign_values(&Wanted::all(), Taking::Exactly, None, None, &Stop::default())?;
        let Some(values) = values else { return Ok(None) };
        let fail = |e: RowsError| TableError { path: table.path().to_owned(), problem: e.into() };
        let (numbers, _) = encode(table.space(), &values, table.codec().format(), &Stop::default())
            .map_err(fail)?;
        Ok(Some(match numbers {
            Distances::Narrow(numbers) => LoadedEntries::Small(numbers),
            Distances::Wide(numbers) => LoadedEntries::Wide(numbers),
        }))
    }

    /// Whether the entries are held in memory.
    #[cfg(test)]
    pub(super) fn is_held(&self) -> bool {
        !matches!(self.entries, LoadedEntries::OnDisk)
    }

    pub(super) fn table(&self) -> &'a Table {
        self.table
    }

    /// The entries, if they are held and a byte each.
    pub(super) fn numbers(&self) -> Option<&[i8]> {
        match &self.entries {
            LoadedEntries::Small(numbers) => Some(numbers),
            LoadedEntries::Wide(_) | LoadedEntries::OnDisk => None,
        }
    }

    pub(super) fn entry(&self, index: u64) -> Result<RawEntry, TableError> {
        let held = match &self.entries {
            LoadedEntries::Small(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            LoadedEntries::Wide(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            LoadedEntries::OnDisk => None,
        };
        match held {
            // Unsigned eight-bit entries do not exist: only distances are that wide.
            Some(n) => Ok(RawEntry(n)),
            None => self.table.entry(index),
        }
    }

    /// The value of a placement of this table; none if it has no such index.
    pub(super) fn value(&self, placement: &Placement) -> Result<Option<EntryValue>, TableError> {
        let Some(index) = self.table.index(placement) else { return Ok(None) };
        self.value_at(index, placement.turn).map(Some)
    }

    pub(super) fn value_at(&self, index: u64, turn: Color) -> Result<EntryValue, TableError> {
        let raw = self.entry(index)?;
        Ok(self.table.codec().value(raw, turn).unwrap_or(EntryValue::Illegal))
    }

    /// The value behind a move that takes nothing and promotes nobody. The placement is as it was
    /// afterwards.
    pub(super) fn value_behind(
        &self,
        placement: &mut Placement,
        step: &SlotMove,
    ) -> Result<Option<EntryValue>, TableError> {
        let (from, en_passant) = (placement.squares[step.slot], placement.en_passant);
        placement.squares[step.slot] = step.to;
        placement.turn = placement.turn.other();
        placement.en_passant = step.jumped;
        let value = self.value(placement);
        placement.squares[step.slot] = from;
        placement.turn = placement.turn.other();
        placement.en_passant = en_passant;
        value
    }
}
