//! What moves have to keep.

use std::sync::{Arc, OnceLock};

use hoffman_board::{
    Bitboard, ByColor, Color, ListedPiece, Outcome, OutcomeBounds, PieceSlot, Role, Square, Value,
};
use hoffman_space::{Code as _, TableValues};
use hoffman_table::rows::{EntryRow, HeldEntries, RowKeys, RowPlace, Wanted};
use hoffman_table::{EntryValue, SharedValues, Stop, Table, TableError};

use super::UniqueLine;
use super::kept_row::{
    AskedMoves, DRAWN, KeptRow, LOSSES, NEVER, NOTHING, NumberRange, number, number_of_code,
};
use super::seen::Seen;
use crate::open_table::outcomes_of;
use crate::orbits::Orbits;
use crate::value_rows::{CodeRow, OwnRow, ValueRows, others_than, read_values};

/// What a move has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The outcome, of positions that the side to move does not lose.
    Outcome,
    /// In lines without a choice of the winner: what there is to win, and how far away a loss is.
    Line(UniqueLine),
}

impl Kept {
    /// What a position asks of its moves.
    fn asks(self, value: Option<EntryValue>, turn: Color) -> AskedMoves {
        let end = value.and_then(Table::exact).and_then(Value::plies);
        let plies = end.map_or(NEVER, |plies| plies.unsigned_abs() as u16);
        let outcome = value.and_then(|value| outcome_to(turn, value));
        let (least, most) = match (self, outcome, value.and_then(Table::exact)) {
            (Kept::Outcome, Some(Value::Win(_)), _)
            | (Kept::Line(UniqueLine::Winning), _, Some(Value::Win(_))) => LOSSES,
            (Kept::Outcome, Some(Value::Draw), _) => (DRAWN, DRAWN),
            // The line is at its end.
            (Kept::Outcome, ..) | (Kept::Line(_), _, Some(Value::Loss(0))) => (NOTHING, NOTHING),
            (Kept::Line(_), _, value) => {
                let behind = match value {
                    Some(Value::Win(moves)) => Some(Value::Loss(moves.saturating_sub(1))),
                    Some(Value::Loss(moves)) => Some(Value::Win(moves)),
                    _ => None,
                };
                let behind = behind.map_or(NOTHING, number);
                (behind, behind)
            }
        };
        AskedMoves { behind: NumberRange { least, more: most - least }, plies }
    }

    /// The number of a position behind a move, with this side to move.
    fn behind(self, value: EntryValue, turn: Color) -> u16 {
        let value = match self {
            Kept::Outcome => outcome_to(turn, value),
            Kept::Line(_) => Table::exact(value),
        };
        value.map_or(NOTHING, number)
    }
}

/// What is known of an outcome, as a value without its distance, to a side to move.
fn outcome_to(turn: Color, value: EntryValue) -> Option<Value> {
    let outcome = outcomes_of(value, turn).and_then(OutcomeBounds::known)?;
    Some(match outcome {
        Outcome::Draw => Value::Draw,
        _ if outcome == Outcome::won_by(turn) => Value::Win(1),
        _ => Value::Loss(0),
    })
}

/// What an entry says by its key.
fn value_of(table: &Table, key: usize, turn: Color) -> Option<EntryValue> {
    let codec = table.codec();
    HeldEntries::number(codec, key).and_then(|number| codec.value(number, turn))
}

/// The values of a table, once they are read.
#[derive(Debug, Default)]
pub(super) struct ReadValues(OnceLock<Option<Arc<TableValues>>>);

impl ReadValues {
    /// Reads them, if they fit into so many bytes and have rows.
    pub(super) fn rows(
        &self,
        table: &Table,
        (room, shared): (u64, Option<&SharedValues>),
    ) -> Option<ValueRows<'_>> {
        let read = || match shared {
            Some(shared) => shared.of((table, &Wanted::all()), &Stop::default()),
            None => table.exact_values(&Wanted::all(), &Stop::default()).map(Arc::new),
        };
        // What is wrong with a table is told of its entries.
        let fits = |values: &Arc<TableValues>| values.bytes() as u64 <= room;
        let values = self.0.get_or_init(|| read_values(table, (2, room), read)?.ok().filter(fits));
        let values = values.as_ref()?;
        ValueRows::new(table.pieces(), values)
    }

    /// The bytes that they take.
    pub(super) fn bytes(&self) -> u64 {
        self.0.get().and_then(Option::as_ref).map_or(0, |values| values.bytes() as u64)
    }
}

/// What the positions of a table are worth where moves have to keep something.
pub(super) struct KeptValues<'a> {
    pub(super) orbits: Orbits<'a>,
    /// Its values, if they are in memory beside its entries: they are found in less time.
    rows: Option<ValueRows<'a>>,
    /// What positions ask of their moves: by the key of an entry, by who is to move, and by code.
    asked: ByColor<Vec<AskedMoves>>,
    asked_codes: Box<[AskedMoves; 256]>,
    /// The numbers of positions behind moves by key: as the table is and with the colours
    /// exchanged, by who is to move there.
    behind: [ByColor<Vec<u16>>; 2],
    /// What is known of lines, if they are asked for.
    pub(super) seen: Seen,
    keeps: Kept,
}

impl<'a> KeptValues<'a> {
    /// For a table of chess with so many keys, and for lines through its positions.
    pub(super) fn new(
        table: &'a Table,
        kinds: usize,
        (keeps, has_lines): (Kept, bool),
    ) -> KeptValues<'a> {
        let asked = |turn| {
            let asks = |key| keeps.asks(value_of(table, key, turn), turn);
            (0..kinds).map(asks).collect()
        };
        // What a side to move can win or draw does not depend on who it is.
        let of_code = |code| EntryValue::Exact((code as u8).value());
        let asked_codes = std::array::from_fn(|code| keeps.asks(Some(of_code(code)), Color::White));
        let behind = |swaps: bool| {
            ByColor::new_with(|turn: Color| {
                let in_table = if swaps { turn.other() } else { turn };
                let number = |value| keeps.behind(value, turn);
                let numbers =
                    (0..kinds).map(|key| value_of(table, key, in_table).map_or(NOTHING, number));
                numbers.collect()
            })
        };
        let seen = if has_lines { Seen::of_size(table.space().size()) } else { Seen::default() };
        KeptValues {
            orbits: Orbits::new(table),
            rows: None,
            asked: ByColor::new_with(asked),
            asked_codes: Box::new(asked_codes),
            behind: [behind(false), behind(true)],
            seen,
            keeps,
        }
    }

    /// Takes the values of the table, if there are any.
    pub(super) fn take_rows(&mut self, rows: Option<ValueRows<'a>>) {
        self.rows = rows;
    }

    /// Whose rows lie side by side in memory.
    pub(super) fn walker(&self) -> Option<(Color, Role)> {
        self.rows.as_ref()?.walker()
    }

    /// The row of values of positions with these men, if values are in memory.
    pub(super) fn own_row(&self, place: &RowPlace<'_>) -> Option<OwnRow<'a>> {
        let pieces = self.orbits.table().pieces();
        self.rows.as_ref()?.own_row(pieces, (place.squares, place.lane), place.turn)
    }

    /// The numbers behind the move of a man who stands on the same square in the whole row, if
    /// values are in memory.
    pub(super) fn behind_move(
        &self,
        (row, own): (&RowPlace<'_>, &OwnRow<'a>),
        (slot, to, lanes): (PieceSlot, Square, Bitboard),
    ) -> Option<[u16; 64]> {
        let (rows, pieces) = (self.rows.as_ref()?, self.orbits.table().pieces());
        let piece = &pieces[slot];
        let is_like = |&(s, p): &(PieceSlot, &ListedPiece)| {
            s != row.lane && (p.color, p.role) == (piece.color, piece.role)
        };
        let number = pieces.iter().enumerate().take(slot).filter(is_like).count();
        let behind = rows.behind_move(pieces, (row, own), (slot, number, to))?;
        Some(numbers_of(&behind, lanes))
    }

    /// The numbers of positions of a row of the table on these squares, perhaps with the colours
    /// exchanged.
    pub(super) fn behind_at(
        &self,
        entries: &HeldEntries<'_>,
        (place, lanes): (&RowPlace<'_>, Bitboard),
        swaps: bool,
    ) -> Result<[u16; 64], TableError> {
        if let Some(numbers) = self.behind_in_rows(place, lanes) {
            return Ok(numbers);
        }
        let turn = if swaps { place.turn.other() } else { place.turn };
        let behind = self.behind[usize::from(swaps)].get(turn);
        let keys = entries.keys_at(place, lanes)?;
        let mut numbers = [NOTHING; 64];
        for square in lanes {
            let key = usize::from(keys[square as usize & 63]);
            numbers[square as usize & 63] = behind.get(key).copied().unwrap_or(NOTHING);
        }
        Ok(numbers)
    }

    /// The same by values, if they are in memory.
    fn behind_in_rows(&self, place: &RowPlace<'_>, lanes: Bitboard) -> Option<[u16; 64]> {
        let (rows, pieces) = (self.rows.as_ref()?, self.orbits.table().pieces());
        if let Some(row) = rows.row_of_table(pieces, (place.squares, place.lane), place.turn) {
            return Some(numbers_of(&row, lanes));
        }
        let (men, walks) = (others_than(place.lane, pieces, place.squares), &pieces[place.lane]);
        let mut numbers = [NOTHING; 64];
        let lane = ((walks.color, walks.role), lanes);
        let found = rows.one_by_one(&men, lane, place.turn, |square, code| {
            numbers[square as usize & 63] = number_of_code(code);
        });
        (found == lanes).then_some(numbers)
    }

    /// Whether moves have to keep what lines without a choice of the winner need.
    pub(super) fn is_of_lines(&self) -> bool {
        self.keeps != Kept::Outcome
    }

    /// See [`Orbits::legal`].
    pub(super) fn legal(&self, row: &RowPlace<'_>) -> Bitboard {
        self.orbits.legal(row)
    }

    /// What positions of a row ask of their moves on these squares, where their keys are asked
    /// for.
    pub(super) fn to_keep(
        &self,
        (row, keys, lanes): (&EntryRow<'_>, &RowKeys<'_>, Bitboard),
        is_asked: impl Fn(usize) -> bool,
    ) -> KeptRow {
        let asked = self.asked.get(row.turn).as_slice();
        let mut kept = KeptRow::new();
        for (square, index) in row.positions().filter(|&(s, _)| lanes.0 >> s & 1 != 0) {
            let key = keys.at(square, index);
            if let Some(&asks) = asked.get(key) {
                kept.add(usize::from(square & 63), asks, is_asked(key));
            }
        }
        kept
    }

    /// The same for lines, where the side to move wins, or where it loses.
    pub(super) fn to_keep_in_lines(
        &self,
        (row, own, lanes): (&EntryRow<'_>, Option<&OwnRow<'_>>, Bitboard),
        won: bool,
        entries: &HeldEntries<'_>,
    ) -> Result<KeptRow, TableError> {
        // Who wins makes the last move.
        let is_asked = |asked: &AskedMoves| asked.plies != NEVER && (asked.plies % 2 == 1) == won;
        let Some(codes) = own.and_then(|own| own.here.all()) else {
            let keys = entries.row(row)?;
            let asked = self.asked.get(row.turn).as_slice();
            let is_asked = |key: usize| asked.get(key).is_some_and(is_asked);
            return Ok(self.to_keep((row, &keys, lanes), is_asked));
        };
        let mut kept = KeptRow::new();
        for (square, &code) in codes.iter().enumerate() {
            let asked = self.asked_codes[usize::from(code)];
            kept.add(square, asked, is_asked(&asked));
        }
        kept.asked &= lanes;
        kept.winning &= lanes;
        kept.ended &= lanes;
        Ok(kept)
    }
}

/// The numbers of a row of values, at least those on these squares.
#[inline]
fn numbers_of(row: &CodeRow<'_>, lanes: Bitboard) -> [u16; 64] {
    let mut numbers = [NOTHING; 64];
    let all = row.with_all(|codes| {
        for (number, &code) in numbers.iter_mut().zip(codes) {
            *number = number_of_code(code);
        }
    });
    if all.is_none() {
        for square in lanes {
            numbers[square as usize & 63] = number_of_code(row.code(square as u8));
        }
    }
    numbers
}
