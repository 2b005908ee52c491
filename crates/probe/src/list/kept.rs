//! What moves have to keep.

use hoffman_board::{Bitboard, ByColor, Color, OutcomeBounds, Value};
use hoffman_table::rows::{EntryRow, HeldEntries, RowKeys, RowPlace};
use hoffman_table::{EntryValue, Table};

use super::UniqueLine;
use super::seen::Seen;
use crate::open_table::outcomes_of;
use crate::orbits::Orbits;

/// What a position is worth in which no move has to keep anything.
pub(super) const NOTHING: u16 = 0;

/// Added to the moves of a loss.
pub(super) const LOSS: u16 = 1 << 14;

/// What a move has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The outcome, of positions that the side to move does not lose.
    Outcome,
    /// In lines without a choice of the winner: what there is to win, and how far away a loss is.
    Line(UniqueLine),
}

impl Kept {
    /// What a move to a draw is worth.
    pub(super) fn draw(self) -> u16 {
        match self {
            Kept::Outcome => number_of_outcome(EntryValue::Draw, Color::White),
            Kept::Line(_) => NOTHING,
        }
    }

    /// What a position is worth to the side to move that is not [`NOTHING`].
    fn before(self, value: Option<EntryValue>, turn: Color) -> u16 {
        let Some(value) = value else { return NOTHING };
        let lost = matches!(value, EntryValue::Loss | EntryValue::Exact(Value::Loss(_)));
        match (self, Table::exact(value)) {
            (Kept::Outcome, _) if lost => NOTHING,
            (Kept::Outcome, _) => number_of_outcome(value, turn),
            // The line is at its end.
            (Kept::Line(_), Some(Value::Loss(0))) => NOTHING,
            (Kept::Line(how), Some(value)) => number_in_line(how, value),
            (Kept::Line(_), None) => NOTHING,
        }
    }

    /// That of the positions before moves, by the keys of a table for those behind them, perhaps
    /// with the colours exchanged: with so many keys, and this side to move.
    pub(super) fn behind_all(
        self,
        table: &Table,
        kinds: usize,
        turn: Color,
        swaps: bool,
    ) -> Vec<u16> {
        let in_table = if swaps { turn.other() } else { turn };
        let before = |value| match self {
            Kept::Outcome => number_of_outcome(value, turn),
            Kept::Line(how) => {
                let before = Table::exact(value).and_then(Value::negate);
                before.map_or(NOTHING, |before| number_in_line(how, before))
            }
        };
        let value = |key| value_of(table, key, in_table).map_or(NOTHING, before);
        (0..kinds).map(value).collect()
    }
}

/// What of a value is kept in a line.
fn number_in_line(how: UniqueLine, value: Value) -> u16 {
    match (value, how) {
        (Value::Win(_), UniqueLine::Winning) => 1,
        (Value::Win(moves), UniqueLine::Fastest) => moves,
        (Value::Loss(moves), _) => LOSS | moves,
        (Value::Draw | Value::Illegal, _) => NOTHING,
    }
}

/// What an entry says by its key.
fn value_of(table: &Table, key: usize, turn: Color) -> Option<EntryValue> {
    let codec = table.codec();
    HeldEntries::number(codec, key).and_then(|number| codec.value(number, turn))
}

/// A number for an outcome that is known.
fn number_of_outcome(value: EntryValue, turn: Color) -> u16 {
    let outcome = outcomes_of(value, turn).and_then(OutcomeBounds::known);
    outcome.map_or(NOTHING, |outcome| 1 + outcome as u16)
}

/// What the positions of a table are worth where moves have to keep something.
pub(super) struct KeptValues<'a> {
    pub(super) orbits: Orbits<'a>,
    /// By the key of an entry, to the side to move.
    before: ByColor<Vec<u16>>,
    /// To the position before the move: as the table is and with the colours exchanged, by who is
    /// to move in the position.
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
        let before = |turn| {
            let value = |key| keeps.before(value_of(table, key, turn), turn);
            (0..kinds).map(value).collect()
        };
        let behind = |swaps| ByColor::new_with(|turn| keeps.behind_all(table, kinds, turn, swaps));
        let seen = if has_lines { Seen::of_size(table.space().size()) } else { Seen::default() };
        KeptValues {
            orbits: Orbits::new(table),
            before: ByColor::new_with(before),
            behind: [behind(false), behind(true)],
            seen,
            keeps,
        }
    }

    /// What moves to positions are worth by their keys, perhaps with the colours exchanged; who is
    /// to move there.
    pub(super) fn behind(&self, turn: Color, swaps: bool) -> &[u16] {
        self.behind[usize::from(swaps)].get(turn)
    }

    /// Whether moves have to keep what lines without a choice of the winner need.
    pub(super) fn is_of_lines(&self) -> bool {
        self.keeps != Kept::Outcome
    }

    /// See [`Orbits::legal`].
    pub(super) fn legal(&self, row: &RowPlace<'_>) -> Bitboard {
        self.orbits.legal(row)
    }

    /// What there is to keep in the positions of a row whose entries are asked for, and on which
    /// squares there is something.
    pub(super) fn to_keep(
        &self,
        (row, keys, lanes): (&EntryRow<'_>, &RowKeys<'_>, Bitboard),
        is_asked: impl Fn(usize) -> bool,
    ) -> ([u16; 64], Bitboard) {
        let before = self.before.get(row.turn).as_slice();
        let mut own = [NOTHING; 64];
        let mut kept = Bitboard::EMPTY;
        for (square, index) in row.positions().filter(|&(s, _)| lanes.0 >> s & 1 != 0) {
            let key = keys.at(square, index);
            if is_asked(key) {
                let own = &mut own[usize::from(square & 63)];
                *own = before.get(key).copied().unwrap_or(NOTHING);
                kept |= Bitboard(u64::from(*own != NOTHING) << square);
            }
        }
        (own, kept)
    }
}

/// What an entry is worth.
pub(super) fn worth_of(worth: &[u16], key: u16) -> u16 {
    worth.get(usize::from(key)).copied().unwrap_or(NOTHING)
}
