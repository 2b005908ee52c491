//! Tables whose entries are asked for often, unpacked as far as there is room.

use std::sync::Arc;

use hoffman_board::{Color, MAX_PIECES, Placement, Role, Value};
use hoffman_space::{PawnSquares, TableValues};
use hoffman_table::rows::{Distances, RowsError, Taking, Wanted, encode};
use hoffman_table::{EntryValue, RawEntry, SharedValues, Stop, Table, TableError};

use super::men::SlotMove;
use crate::value_rows::read_values;

/// The entries of a table, unpacked if there is room.
#[derive(Debug)]
enum LoadedEntries {
    Small(Vec<i8>),
    Wide(Vec<i16>),
    /// They follow from the values.
    ByValue,
    /// If they lean on others, a value that is better than some limit is quicker to find out than
    /// exactly.
    OnDisk {
        leans: bool,
    },
}

impl LoadedEntries {
    /// The memory that they take.
    fn bytes(&self) -> u64 {
        match self {
            LoadedEntries::Small(numbers) => numbers.len() as u64,
            LoadedEntries::Wide(numbers) => numbers.len() as u64 * 2,
            LoadedEntries::ByValue | LoadedEntries::OnDisk { .. } => 0,
        }
    }

    fn of(numbers: Distances) -> LoadedEntries {
        match numbers {
            Distances::Narrow(numbers) => LoadedEntries::Small(numbers),
            Distances::Wide(numbers) => LoadedEntries::Wide(numbers),
        }
    }
}

/// A table with its entries.
#[derive(Debug)]
pub(super) struct LoadedTable<'a> {
    table: &'a Table,
    entries: LoadedEntries,
    /// The values by rows, of a complete ending.
    values: Option<Arc<TableValues>>,
}

impl<'a> LoadedTable<'a> {
    /// Unpacks the entries if they fit into what is left of the memory.
    pub(super) fn new(table: &'a Table, memory: &mut u64) -> Result<LoadedTable<'a>, TableError> {
        let size = table.space().size();
        if let Some(entries) = LoadedTable::foreign_entries(table, *memory)? {
            *memory -= entries.bytes();
            return Ok(LoadedTable { table, entries, values: None });
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
            _ => LoadedEntries::OnDisk { leans: table.leans() },
        };
        Ok(LoadedTable { table, entries, values: None })
    }

    /// The same of a table under test: with its values by rows, if it is a complete ending and
    /// there is room for both.
    pub(super) fn under_test(
        table: &'a Table,
        memory: &mut u64,
        shared: &SharedValues,
    ) -> Result<LoadedTable<'a>, TableError> {
        let size = table.space().size();
        let bytes = if table.codec().bits() > 8 { 2 * size } else { size };
        let left = memory.checked_sub(bytes);
        let values = left.and_then(|left| values_of((table, &Wanted::all()), left, shared));
        let Some(values) = values else { return LoadedTable::new(table, memory) };

        // Positions with rights to take en passant, and moves that give them, are found by entries;
        // so is all where the kings stand alone with pawns.
        let has_pawns =
            |color| table.pieces().iter().any(|p| p.role == Role::Pawn && p.color == color);
        let by_entries = Color::ALL.into_iter().all(has_pawns) || values.layout.movers().len() < 3;
        let mut loaded = if !table.is_of_blocks() {
            LoadedTable::new(table, memory)?
        } else if !by_entries {
            LoadedTable { table, entries: LoadedEntries::ByValue, values: None }
        } else {
            let (format, stop) = (table.codec().format(), Stop::default());
            match encode(table.space(), &values, format, &stop) {
                Ok((numbers, _)) => {
                    *memory -= bytes;
                    LoadedTable { table, entries: LoadedEntries::of(numbers), values: None }
                }
                Err(_) => return LoadedTable::new(table, memory),
            }
        };
        *memory = memory.saturating_sub(values.bytes() as u64);
        loaded.values = Some(values);
        Ok(loaded)
    }

    /// The same of a table behind moves: its values alone, as far as they are wanted, if it is a
    /// complete ending.
    pub(super) fn behind(
        (table, wanted): (&'a Table, &Wanted),
        memory: &mut u64,
        shared: &SharedValues,
    ) -> Result<LoadedTable<'a>, TableError> {
        let Some(values) = values_of((table, wanted), *memory, shared) else {
            return LoadedTable::new(table, memory);
        };
        *memory = memory.saturating_sub(values.bytes() as u64);
        Ok(LoadedTable { table, entries: LoadedEntries::ByValue, values: Some(values) })
    }

    /// The values by rows, of a complete ending.
    pub(super) fn values(&self) -> Option<&TableValues> {
        self.values.as_deref()
    }

    /// The entry of a placement, or of an index that has none, of a table of which there are
    /// values.
    fn entry_of(&self, values: &TableValues, placement: Option<&Placement>) -> RawEntry {
        let codec = self.table.codec();
        let Some(placement) = placement else { return codec.undecodable() };
        let value = value_in(self.table, values, placement).unwrap_or(Value::Illegal);
        codec.store(value, placement.turn)
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
        Ok(Some(LoadedEntries::of(numbers)))
    }

    /// Whether the entries are held in memory.
    #[cfg(test)]
    pub(super) fn is_held(&self) -> bool {
        !matches!(self.entries, LoadedEntries::OnDisk { .. })
    }

    pub(super) fn table(&self) -> &'a Table {
        self.table
    }

    /// The entries, if they are held and a byte each.
    pub(super) fn numbers(&self) -> Option<&[i8]> {
        match &self.entries {
            LoadedEntries::Small(numbers) => Some(numbers),
            LoadedEntries::Wide(_) | LoadedEntries::ByValue | LoadedEntries::OnDisk { .. } => None,
        }
    }

    /// The entry at an index.
    pub(super) fn entry(&self, index: u64) -> Result<RawEntry, TableError> {
        let by_value = matches!(self.entries, LoadedEntries::ByValue);
        let placement = by_value.then(|| self.table.space().decode(index)).flatten();
        self.entry_at(index, placement.as_ref())
    }

    /// The entry at an index whose placement is known, if it has one.
    pub(super) fn entry_at(
        &self,
        index: u64,
        placement: Option<&Placement>,
    ) -> Result<RawEntry, TableError> {
        let held = match &self.entries {
            LoadedEntries::Small(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            LoadedEntries::Wide(numbers) => numbers.get(index as usize).map(|&n| i32::from(n)),
            LoadedEntries::ByValue => {
                self.values.as_ref().map(|values| self.entry_of(values, placement).0)
            }
            LoadedEntries::OnDisk { .. } => None,
        };
        match held {
            // Unsigned eight-bit entries do not exist: only distances are that wide.
            Some(n) => Ok(RawEntry(n)),
            None => self.table.entry(index),
        }
    }

    /// The value of a placement of this table, see [`LoadedTable::value_at`]; none if it has no
    /// such index.
    pub(super) fn value(
        &self,
        placement: &Placement,
        limit: Option<Value>,
    ) -> Result<Option<EntryValue>, TableError> {
        if let (LoadedEntries::ByValue, Some(values)) = (&self.entries, &self.values) {
            return Ok(value_in(self.table, values, placement).map(EntryValue::Exact));
        }
        let Some(index) = self.table.index(placement) else { return Ok(None) };
        self.value_at(index, placement.turn, limit).map(Some)
    }

    /// The value at an index; if it is better than `limit` for the side to move, perhaps another
    /// one that is.
    pub(super) fn value_at(
        &self,
        index: u64,
        turn: Color,
        limit: Option<Value>,
    ) -> Result<EntryValue, TableError> {
        if let (LoadedEntries::OnDisk { leans: true }, Some(limit)) = (&self.entries, limit) {
            let value = self.table.value_unless_better(index, turn, limit)?;
            if value != EntryValue::Unknown {
                return Ok(value);
            }
        }
        let raw = self.entry(index)?;
        Ok(self.table.codec().value(raw, turn).unwrap_or(EntryValue::Illegal))
    }

    /// The value behind a move that takes nothing and promotes nobody. The placement is as it was
    /// afterwards.
    pub(super) fn value_behind(
        &self,
        placement: &mut Placement,
        step: &SlotMove,
        limit: Option<Value>,
    ) -> Result<Option<EntryValue>, TableError> {
        let (from, en_passant) = (placement.squares[step.slot], placement.en_passant);
        placement.squares[step.slot] = step.to;
        placement.turn = placement.turn.other();
        placement.en_passant = step.jumped;
        let value = self.value(placement, limit);
        placement.squares[step.slot] = from;
        placement.turn = placement.turn.other();
        placement.en_passant = en_passant;
        value
    }
}

/// The value of a placement of a table among its values.
fn value_in(table: &Table, values: &TableValues, placement: &Placement) -> Option<Value> {
    let own = hoffman_board::Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let swapped = own != values.material;
    let square = |square: hoffman_board::Square| {
        if swapped { square.flip_vertical() } else { square }
    };
    let color = |color: Color| if swapped { color.other() } else { color };
    let mut pawns = PawnSquares::default();
    let movers = values.layout.movers();
    let mut squares = [0; MAX_PIECES];
    let mut dealt = 0_u32;

    for (piece, &at) in table.pieces().iter().zip(&placement.squares) {
        let at = square(at) as u8;
        if piece.role == Role::Pawn {
            *pawns.of_mut(color(piece.color)) |= 1 << at;
            continue;
        }
        let man = (color(piece.color), piece.role);
        let is_left = |&mover: &usize| {
            dealt >> mover & 1 == 0 && (movers[mover].color, movers[mover].role) == man
        };
        let mover = (0..movers.len()).find(is_left)?;
        dealt |= 1 << mover;
        squares[mover] = at;
    }

    let en_passant = placement.en_passant.map(|jumped| square(jumped) as u8);
    values.value(squares.get(..movers.len())?, pawns, color(placement.turn), en_passant)
}

/// The values by rows, as far as they are wanted, if there is room for them. Where something is
/// wrong with a table, that is told of its entries.
fn values_of(
    (table, wanted): (&Table, &Wanted),
    room: u64,
    shared: &SharedValues,
) -> Option<Arc<TableValues>> {
    let sides = wanted.sides.iter().filter(|&&side| side).count();
    let read = || shared.of((table, wanted), &Stop::default());
    read_values(table, (sides, room), read)?.ok()
}
