//! Positions behind moves, looked up by rows in a table that has them.

use hoffman_board::{
    Bitboard, ByColor, Color, ListedPiece, MAX_PIECES, PieceSlot, Role, Square, Symmetry, Value,
    Variant,
};
use hoffman_table::rows::by_symmetry;
use hoffman_table::{EntryValue, IndexSpace, RawEntry, Table};

use super::super::loaded::LoadedTable;
use super::super::outcomes::Worth;
use crate::value_rows::{NONE, ValueRows};

/// What moves are worth, a greater number being better. No move at all is less than any.
pub(super) const NO_MOVE: u8 = 0;
pub(super) const DRAW: u8 = 128;
/// A value that rows cannot judge, which no other may hide.
pub(super) const UNCLEAR: u8 = u8::MAX;

/// The number of a value; [`UNCLEAR`] if it has none.
pub(super) fn score(value: Value) -> u8 {
    match value {
        Value::Draw => DRAW,
        Value::Loss(moves) if moves < 127 => 1 + moves as u8,
        Value::Win(moves @ 1..=126) => u8::MAX - moves as u8,
        Value::Illegal | Value::Loss(_) | Value::Win(_) => UNCLEAR,
    }
}

/// A number for every entry of a table, as an unsigned byte, by the player to move.
pub(super) fn scores(
    table: &Table,
    of: impl Fn(EntryValue) -> Option<Value>,
) -> ByColor<[u8; 256]> {
    ByColor::new_with(|turn| {
        std::array::from_fn(|byte| {
            let value = table.codec().value(RawEntry(i32::from(byte as u8 as i8)), turn);
            value.and_then(&of).map_or(UNCLEAR, score)
        })
    })
}

/// What a move is worth to a position with a code among values by rows: the number behind all of
/// them is no move, and no legal position is without a value.
#[inline]
pub(super) const fn worth_of_move(code: u8) -> u8 {
    match code {
        NONE => NO_MOVE,
        // A win of one move more has no number.
        127 => UNCLEAR,
        ..127 => !code,
        128.. => code.wrapping_neg(),
    }
}

/// The images of every square by symmetry.
pub(super) fn images() -> [[u8; 64]; 8] {
    std::array::from_fn(|n| {
        let symmetry = Symmetry::all().nth(n).unwrap_or_default();
        std::array::from_fn(|square| symmetry.apply_index(square as u8))
    })
}

/// The kings' slots.
pub(super) fn kings_of(table: &Table) -> Option<ByColor<PieceSlot>> {
    let pieces = table.pieces();
    let is_king = |piece: &ListedPiece, color| piece.role == Role::King && piece.color == color;
    let king = |color| pieces.iter().position(|piece| is_king(piece, color));
    Some(ByColor { white: king(Color::White)?, black: king(Color::Black)? })
}

/// Whether a position is in a table if every man stands where one of its kind may: the squares of
/// like men are the same, and who of them stands where does not matter, or they have none in
/// common.
pub(super) fn is_plain(space: &IndexSpace) -> bool {
    let pieces = space.pieces();
    let structured = space.pawn_structures().is_some();
    let plain = |(slot, piece): (usize, &ListedPiece)| {
        let is_alike =
            |other: &&ListedPiece| (other.color, other.role) == (piece.color, piece.role);
        let all = || pieces.iter().filter(is_alike);
        let alike: Vec<PieceSlot> = (0..pieces.len())
            .filter(|&s| is_alike(&&pieces[s]) && pieces[s].legal == piece.legal)
            .collect();
        let apart = all().all(|p| p.legal == piece.legal || (p.legal & piece.legal).is_empty());
        let pawns = structured && piece.role == Role::Pawn;
        debug_assert!(alike.contains(&slot));
        piece.blocker.is_none()
            && (pawns || apart && piece.legal == piece.semilegal && space.is_free_of_order(&alike))
    };
    space.variant() == Variant::Normal
        && space.check_writable().is_ok()
        && pieces.iter().enumerate().all(plain)
}

/// Positions that differ in the square of one man.
pub(super) struct BehindLine<'m> {
    /// The others.
    pub(super) men: &'m [(Square, Color, Role)],
    pub(super) lane: (Color, Role),
    pub(super) lanes: Bitboard,
    pub(super) turn: Color,
}

/// A table that is looked up by rows.
pub(super) enum RowTable<'a> {
    /// By its values.
    Values(Box<ValueRows<'a>>),
    /// By its entries.
    Entries(Box<IndexedEntries<'a>>),
}

/// A table whose entries are found by their indices.
pub(super) struct IndexedEntries<'a> {
    table: &'a Table,
    numbers: &'a [i8],
    /// What a move is worth to a position whose entry for the player named, as an unsigned
    /// byte, is this.
    scores: ByColor<[u8; 256]>,
    images: [[u8; 64]; 8],
}

/// The way from positions to those that a table has an index for.
struct Turning {
    /// The colours are exchanged.
    swaps: bool,
    /// What is added, bit by bit, to the number of a square.
    mask: u8,
    turn: Color,
}

impl Turning {
    fn set(&self, squares: Bitboard) -> u64 {
        match self.mask {
            0 => squares.0,
            56 => squares.0.swap_bytes(),
            63 => squares.0.reverse_bits(),
            _ => squares.0.swap_bytes().reverse_bits(),
        }
    }

    fn color(&self, color: Color) -> Color {
        if self.swaps { color.other() } else { color }
    }
}

impl<'a> RowTable<'a> {
    /// None if the rules, the men or the entries are not of the plain sort that rows know.
    pub(super) fn new(loaded: &'a LoadedTable<'_>) -> Option<RowTable<'a>> {
        let table = loaded.table();
        if !is_plain(table.space()) {
            return None;
        }
        let values = loaded.values().and_then(|values| ValueRows::new(table.pieces(), values));
        if let Some(values) = values {
            return Some(RowTable::Values(Box::new(values)));
        }
        let scores = scores(table, |value| Worth::before(value).exact);
        let numbers = loaded.numbers()?;
        Some(RowTable::Entries(Box::new(IndexedEntries {
            table,
            numbers,
            scores,
            images: images(),
        })))
    }

    /// Calls `take` with every square with which the table has the position, perhaps with the
    /// colours exchanged, and what a move to it is worth. Returns these squares.
    pub(super) fn look_up(
        &self,
        swapped: bool,
        behind: &BehindLine<'_>,
        mut take: impl FnMut(usize, u8),
    ) -> Bitboard {
        match self {
            RowTable::Entries(table) => table.look_up(swapped, behind, take),
            RowTable::Values(values) => values.look_up(swapped, behind, |square, code| {
                take(square, worth_of_move(code));
            }),
        }
    }
}

impl ValueRows<'_> {
    /// Calls `take` with every square of a line with which the values have a position, perhaps
    /// with the colours exchanged, and its code.
    pub(super) fn look_up(
        &self,
        swapped: bool,
        behind: &BehindLine<'_>,
        mut take: impl FnMut(usize, u8),
    ) -> Bitboard {
        let color = |color: Color| if swapped { color.other() } else { color };
        let turn = |square: Square| if swapped { square.flip_vertical() } else { square };
        let turned = |set: Bitboard| if swapped { set.flip_vertical() } else { set };
        let men = behind.men.iter().map(|&(square, c, role)| (turn(square), color(c), role));
        let lane = (color(behind.lane.0), behind.lane.1);
        let to_move = color(behind.turn);

        if let Some(row) = self.row(men.clone(), lane, to_move) {
            for square in behind.lanes {
                take(square as usize, row.code(turn(square) as u8));
            }
            return behind.lanes;
        }
        let take = |square, code| take(turn(square) as usize, code);
        turned(self.one_by_one(&men, (lane, turned(behind.lanes)), to_move, take))
    }
}

impl<'a> IndexedEntries<'a> {
    /// Calls `take` with every square with which the table has the position, perhaps with the
    /// colours exchanged, and what a move to it is worth. Returns these squares.
    pub(super) fn look_up(
        &self,
        swapped: bool,
        behind: &BehindLine<'_>,
        mut take: impl FnMut(usize, u8),
    ) -> Bitboard {
        let space = self.table.space();
        let turn = if swapped { behind.turn.other() } else { behind.turn };
        let scores = self.scores.get(turn);
        let turned = !space.has_side_bit() && turn == Color::Black;
        let mask = if swapped { 56 } else { 0 } ^ if turned { 63 } else { 0 };
        let turn = if turned { Color::White } else { turn };
        let turning = Turning { swaps: swapped != turned, mask, turn };

        let walks = behind.lane.1 == Role::King;
        let king = |color| {
            let mut men = behind.men.iter();
            let found = men.find(|&&(_, c, role)| role == Role::King && turning.color(c) == color);
            found.map(|&(square, ..)| Square::new(u32::from(square) ^ u32::from(mask)))
        };
        let (white, black) = (king(Color::White), king(Color::Black));
        let canonical = |lane: Square| {
            let (white, black) = (white.unwrap_or(lane), black.unwrap_or(lane));
            Symmetry::canonical(space.symmetry(), white, black)
        };

        let mut found = Bitboard::EMPTY;
        let lanes = Bitboard(turning.set(behind.lanes));
        by_symmetry(space, lanes, walks, canonical, |symmetry, lanes| {
            self.look_up_turned(behind, &turning, (symmetry, lanes), |square, number| {
                let square = square ^ mask;
                found.add(Square::new(u32::from(square)));
                let score = number.map_or(UNCLEAR, |&n| scores[usize::from(n as u8)]);
                take(usize::from(square), score);
            });
        });
        found
    }

    /// The same for squares for which one symmetry leads to the index; squares as they are before
    /// it.
    fn look_up_turned(
        &self,
        behind: &BehindLine<'_>,
        turning: &Turning,
        (symmetry, lanes): (Symmetry, Bitboard),
        mut take: impl FnMut(u8, Option<&'a i8>),
    ) {
        let (space, pieces) = (self.table.space(), self.table.pieces());
        let image = &self.images[symmetry.index()];
        let mut squares = [0; MAX_PIECES];
        let mut dealt = 0_u32;

        for &(square, color, role) in behind.men {
            let square = image[usize::from(square as u8 ^ turning.mask)];
            let color = turning.color(color);
            let fits = |(slot, piece): (usize, &ListedPiece)| {
                dealt >> slot & 1 == 0
                    && (piece.color, piece.role) == (color, role)
                    && piece.legal.0 >> square & 1 != 0
            };
            let Some(slot) = pieces.iter().enumerate().position(fits) else { return };
            dealt |= 1 << slot;
            squares[slot] = square;
        }

        let (color, role) = (turning.color(behind.lane.0), behind.lane.1);
        let is_left = |(slot, piece): (usize, &ListedPiece)| {
            dealt >> slot & 1 == 0 && (piece.color, piece.role) == (color, role)
        };
        let Some(lane) = pieces.iter().enumerate().position(is_left) else { return };
        let lanes = symmetry.apply_set(lanes.0) & pieces[lane].legal.0;
        let back = &self.images[symmetry.inverse().index()];
        let cursor = space.cursor(&squares, turning.turn, None);

        cursor.visit_lane(lane, lanes, |run, index, step| {
            for (i, square) in (0..).zip(Bitboard(run)) {
                take(back[square as usize], self.numbers.get((index + i * step) as usize));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use hoffman_space::Code as _;

    use super::*;

    #[test]
    fn moves_are_worth_what_the_values_behind_them_say() {
        for code in 1..NONE {
            let worth = Worth::before(EntryValue::Exact(code.value())).exact;
            assert_eq!(worth_of_move(code), worth.map_or(UNCLEAR, score), "{code}");
            assert_eq!(score(code.value()), code);
        }
        assert_eq!([0, NONE].map(worth_of_move), [UNCLEAR, NO_MOVE]);
    }
}
