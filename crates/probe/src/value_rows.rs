//! Values of complete endings, looked up by rows of 64 positions that lie side by side in memory.

use std::sync::Arc;

use hoffman_board::{
    Bitboard, Color, Format, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Square, Symmetry,
};
use hoffman_space::{
    Codes, KingPlacement, Orientation, PawnSquares, SliceValues, TableValues, side,
};
use hoffman_table::rows::{RowPlace, has_rows};
use hoffman_table::{Table, TableError};

/// No code, in the place of one of a move that is none: more than any other.
pub(crate) const NONE: u8 = u8::MAX;

/// The values of an ending, one byte each.
pub(crate) struct ValueRows<'a> {
    values: &'a TableValues,
    /// Whether the colours of the table are exchanged against those of the values.
    swapped: bool,
    /// The men of the values.
    movers: Vec<(Color, Role)>,
}

/// Where the values of a row lie.
#[derive(Clone, Copy)]
pub(crate) struct CodeRow<'a> {
    codes: &'a [u8],
    /// Where they begin, the square of the walking man left out.
    base: usize,
    stride: usize,
    /// What its squares become.
    symmetry: Symmetry,
}

/// A row of the table whose values these are, seen from it.
#[derive(Clone, Copy)]
pub(crate) struct OwnRow<'a> {
    /// The values of the player to move, and those of his opponent.
    pub(crate) here: CodeRow<'a>,
    pub(crate) there: CodeRow<'a>,
    orientation: Orientation,
}

impl<'a> CodeRow<'a> {
    /// The code of a position by the square of its walking man.
    #[inline]
    pub(crate) fn code(&self, square: u8) -> u8 {
        let place = self.base + self.stride * usize::from(self.symmetry.apply_index(square));
        self.codes.get(place).copied().unwrap_or(0)
    }

    /// All codes by square, if they lie side by side.
    #[inline]
    pub(crate) fn all(&self) -> Option<[u8; 64]> {
        let row = self.in_place()?;
        Some(if self.symmetry.is_identity() { *row } else { turned_back(row, self.symmetry) })
    }

    /// The codes as they lie, if they lie side by side.
    #[inline]
    fn in_place(&self) -> Option<&'a [u8; 64]> {
        self.codes.get(self.base..)?.first_chunk::<64>().filter(|_| self.stride == 1)
    }

    /// Hands the codes by square to `take`, if they lie side by side.
    #[inline]
    pub(crate) fn with_all(&self, take: impl FnOnce(&[u8; 64])) -> Option<()> {
        let row = self.in_place()?;
        if self.symmetry.is_identity() {
            take(row);
        } else {
            take(&turned_back(row, self.symmetry));
        }
        Some(())
    }

    /// The row after a man has gone to another square; he is `stride` apart with each.
    #[inline]
    fn moved(&self, stride: usize, from: Square, to: Square) -> CodeRow<'a> {
        let [from, to] =
            [from, to].map(|square| usize::from(self.symmetry.apply_index(square as u8)));
        CodeRow { base: self.base + stride * to - stride * from, ..*self }
    }
}

/// The codes of a row by the squares that a symmetry leads to those where they are.
fn turned_back(row: &[u8; 64], symmetry: Symmetry) -> [u8; 64] {
    let mut ranks = words_of(row);
    if symmetry.transposes() {
        transpose(&mut ranks);
    }
    if symmetry.flips_ranks() {
        ranks.reverse();
    }
    if symmetry.flips_files() {
        ranks = ranks.map(u64::swap_bytes);
    }
    bytes_of(&ranks)
}

/// The ranks of a board of bytes, the a-file lowest.
pub(crate) fn words_of(row: &[u8; 64]) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(row.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// The board of these ranks.
pub(crate) fn bytes_of(ranks: &[u64; 8]) -> [u8; 64] {
    let mut row = [0; 64];
    for (bytes, word) in row.as_chunks_mut().0.iter_mut().zip(ranks) {
        *bytes = word.to_le_bytes();
    }
    row
}

/// Exchanges ranks and files: halves of the board, of these, and of those.
pub(crate) fn transpose(ranks: &mut [u64; 8]) {
    for (half, mask) in
        [(4, 0x0000_0000_ffff_ffff_u64), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)]
    {
        for low in (0..8).filter(|rank| rank & half == 0) {
            let (a, b) = (ranks[low], ranks[low + half]);
            ranks[low] = a & mask | (b & mask) << (8 * half);
            ranks[low + half] = a >> (8 * half) & mask | b & !mask;
        }
    }
}

impl<'a> ValueRows<'a> {
    /// The values of a table with these men; none if they do not lie in memory with a byte each, or
    /// have no such rows.
    pub(crate) fn new(pieces: &[ListedPiece], values: &'a TableValues) -> Option<ValueRows<'a>> {
        let own = Material::from_men(pieces.iter().map(|piece| (piece.color, piece.role)));
        let swapped = own != values.material;
        let slices = || values.slices.values().map(std::sync::OnceLock::get);
        let is_narrow = |codes: &Codes| matches!(codes, Codes::Narrow(_));
        let known = values.layout.is_complete()
            && (!swapped || own.swapped() == values.material)
            && slices().all(|slice| slice.is_some_and(|slice| slice.codes.iter().all(is_narrow)));
        let movers = values.layout.movers().iter().map(|mover| (mover.color, mover.role));
        known.then(|| ValueRows { values, swapped, movers: movers.collect() })
    }

    /// Whether rows of pieces lie side by side, in pieces that the kings lead.
    pub(crate) fn has_rows(&self) -> bool {
        self.movers.len() > 2
    }

    /// The men of the table whose rows lie side by side.
    pub(crate) fn walker(&self) -> Option<(Color, Role)> {
        let &(color, role) = self.movers.last().filter(|_| self.has_rows())?;
        Some((if self.swapped { color.other() } else { color }, role))
    }

    /// The values with these pawns, and the way to them.
    fn slice(&self, structure: PawnSquares) -> Option<(&'a SliceValues, Orientation)> {
        let first = Orientation { swap: self.swapped, mirror: false };
        let (slice, second) = self.values.find(structure.oriented(first))?;
        Some((slice, first.then(second)))
    }

    /// The row of positions with these men, given by their colour, kind and square, and one more.
    pub(crate) fn row(
        &self,
        men: impl Iterator<Item = (Square, Color, Role)> + Clone,
        lane: (Color, Role),
        turn: Color,
    ) -> Option<CodeRow<'a>> {
        let (slice, orientation) = self.slice(pawns_of(men.clone()))?;
        self.place(men, lane, (codes_of(slice, orientation, turn)?, orientation))
    }

    /// The row with these men among codes, which are turned like that.
    fn place(
        &self,
        men: impl Iterator<Item = (Square, Color, Role)>,
        lane: (Color, Role),
        (codes, orientation): (&'a [u8], Orientation),
    ) -> Option<CodeRow<'a>> {
        let first = orientation.symmetry();
        let mut squares = [0; MAX_PIECES];
        let mut dealt = 0_u32;
        let mut deal = |color: Color, role: Role| {
            let man = (orientation.color(color), role);
            let is_left = |&at: &usize| dealt >> at & 1 == 0 && self.movers[at] == man;
            let at = (0..self.movers.len()).find(is_left)?;
            dealt |= 1 << at;
            Some(at)
        };
        for (square, color, role) in men.filter(|&(_, _, role)| role != Role::Pawn) {
            squares[deal(color, role)?] = first.apply_index(square as u8);
        }
        let walks = deal(lane.0, lane.1)?;
        if dealt.count_ones() as usize != self.movers.len() {
            return None;
        }
        let layout = &self.values.layout;
        if walks < 2 && layout.kings() == KingPlacement::Pairs {
            return None;
        }

        let (mut base, second) = layout.king_base(squares[0], squares[1])?;
        for (mover, &square) in squares.iter().enumerate().take(self.movers.len()).skip(2) {
            if mover != walks {
                base += layout.stride(mover) * usize::from(second.apply_index(square));
            }
        }
        if walks < 2 {
            base -= layout.stride(walks) * usize::from(squares[walks]);
        }
        let (stride, symmetry) = (layout.stride(walks), first.then(second));
        Some(CodeRow { codes, base, stride, symmetry })
    }

    /// The row of the table itself with men on these squares.
    pub(crate) fn own_row(
        &self,
        pieces: &[ListedPiece],
        (squares, lane): (&[u8; MAX_PIECES], PieceSlot),
        turn: Color,
    ) -> Option<OwnRow<'a>> {
        let men = others_than(lane, pieces, squares);
        let walks = (pieces[lane].color, pieces[lane].role);
        let (slice, orientation) = self.slice(pawns_of(men.clone()))?;
        let codes = |turn| codes_of(slice, orientation, turn);
        let here = self.place(men, walks, (codes(turn)?, orientation))?;
        let there = CodeRow { codes: codes(turn.other())?, ..here };
        Some(OwnRow { here, there, orientation })
    }

    /// A row with men of the table on these squares, the square of one left out.
    pub(crate) fn row_of_table(
        &self,
        pieces: &[ListedPiece],
        (squares, lane): (&[u8; MAX_PIECES], PieceSlot),
        turn: Color,
    ) -> Option<CodeRow<'a>> {
        let walks = (pieces[lane].color, pieces[lane].role);
        self.row(others_than(lane, pieces, squares), walks, turn)
    }

    /// The opponent's row behind a move within the table of a man who stands on the same square in
    /// the whole row; he is the man of a number among those like him.
    #[inline]
    pub(crate) fn behind_move(
        &self,
        pieces: &[ListedPiece],
        (row, own): (&RowPlace<'_>, &OwnRow<'a>),
        (slot, number, to): (PieceSlot, usize, Square),
    ) -> Option<CodeRow<'a>> {
        let piece = &pieces[slot];
        if piece.role != Role::Pawn {
            let from = Square::new(u32::from(row.squares[slot] & 63));
            let behind = self.behind(own, (piece.color, piece.role, number), (from, to));
            if behind.is_some() {
                return behind;
            }
        }
        let mut squares = *row.squares;
        squares[slot] = to as u8;
        self.row_of_table(pieces, (&squares, row.lane), row.turn.other())
    }

    /// Calls `take` with every square of a king who turns the board as he walks, with which there
    /// is a position with these men, and its code: each by itself, as one of a row of another man.
    /// Returns these squares.
    pub(crate) fn one_by_one(
        &self,
        men: &(impl Iterator<Item = (Square, Color, Role)> + Clone),
        (king, squares): ((Color, Role), Bitboard),
        turn: Color,
        mut take: impl FnMut(Square, u8),
    ) -> Bitboard {
        let mut found = Bitboard::EMPTY;
        let is_piece = |role| !matches!(role, Role::King | Role::Pawn);
        let Some(other) = men.clone().position(|(_, _, role)| is_piece(role)) else { return found };
        let Some((at, color, role)) = men.clone().nth(other) else { return found };
        for square in squares {
            let rest = men.clone().enumerate().filter(|&(number, _)| number != other);
            let men = rest.map(|(_, man)| man).chain([(square, king.0, king.1)]);
            let Some(row) = self.row(men, (color, role), turn) else { continue };
            take(square, row.code(at as u8));
            found.add(square);
        }
        found
    }

    /// The opponent's row behind a move of a piece, which is neither the one that walks nor a king
    /// whose square turns the board, nor a pawn. It is the man of a number among those like it.
    #[inline]
    fn behind(
        &self,
        row: &OwnRow<'a>,
        (color, role, number): (Color, Role, usize),
        (from, to): (Square, Square),
    ) -> Option<CodeRow<'a>> {
        let layout = &self.values.layout;
        if role == Role::King && layout.kings() == KingPlacement::Pairs {
            return None;
        }
        let man = (row.orientation.color(color), role);
        let at = self.movers.iter().position(|&mover| mover == man)? + number;
        Some(row.there.moved(layout.stride(at), from, to))
    }
}

/// Reads values of so many sides to move of a complete ending with distances of a byte; none if it
/// is no such table, or they do not fit into so many bytes.
pub(crate) fn read_values(
    table: &Table,
    (sides, room): (usize, u64),
    read: impl FnOnce() -> Result<Arc<TableValues>, TableError>,
) -> Option<Result<Arc<TableValues>, TableError>> {
    let codec = table.codec();
    let is_whole = table.foreign().is_none()
        && matches!(codec.format(), Format::Dtm(_))
        && (2..=8).contains(&codec.bits())
        && has_rows(table.space())
        && !table.pieces().iter().any(ListedPiece::is_restricted);
    (is_whole && expected_bytes(table).saturating_mul(sides as u64) <= room).then(read)
}

/// The memory that the values of a side to move of a complete ending take, but for those of
/// positions with rights to take en passant, which are few.
fn expected_bytes(table: &Table) -> u64 {
    let pieces = table.pieces();
    let pawns = Color::ALL.map(|color| {
        pieces.iter().filter(|p| p.role == Role::Pawn && p.color == color).count() as u64
    });
    let pawn_count = pawns.iter().sum::<u64>();
    // Like men have both orders, kings on the diagonal a place for each of them, and pairs of
    // squares are left in on which two stand.
    let places = 64_u64.saturating_pow((pieces.len() as u64 - pawn_count) as u32);
    if pawn_count == 0 {
        return places / 64 / 64 * 462;
    }
    // Of two that are mirrored left and right there is one; some are their own image.
    let ways = |squares, of: [u64; 2]| of.map(|n| choices(squares, n)).into_iter().product::<u64>();
    let are_even = pawns.iter().all(|n| n % 2 == 0);
    let own_image = if are_even { ways(24, pawns.map(|n| n / 2)) } else { 0 };
    let structures = ways(48, pawns) + own_image;
    places.saturating_mul(structures / 2)
}

/// In how many ways some of these squares can be chosen.
fn choices(squares: u64, some: u64) -> u64 {
    (0..some).fold(1, |ways, taken| ways * (squares - taken) / (taken + 1))
}

/// The codes of a side to move of positions that are turned like that.
fn codes_of(slice: &SliceValues, orientation: Orientation, turn: Color) -> Option<&[u8]> {
    match &slice.codes[side(orientation.color(turn))] {
        Codes::Narrow(codes) => Some(codes),
        Codes::Wide(_) | Codes::Stored(_) => None,
    }
}

/// The men of a table on their squares, one left out.
pub(crate) fn others_than(
    lane: PieceSlot,
    pieces: &[ListedPiece],
    squares: &[u8; MAX_PIECES],
) -> impl Iterator<Item = (Square, Color, Role)> + Clone {
    let men = pieces.iter().zip(squares).enumerate().filter(move |&(slot, _)| slot != lane);
    men.map(|(_, (p, &square))| (Square::new(square.into()), p.color, p.role))
}

/// The squares of the pawns among men.
fn pawns_of(men: impl Iterator<Item = (Square, Color, Role)>) -> PawnSquares {
    let mut pawns = PawnSquares::default();
    for (square, color, _) in men.filter(|&(_, _, role)| role == Role::Pawn) {
        *pawns.of_mut(color) |= 1 << square as u32;
    }
    pawns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_turned_back_square_by_square() {
        let row: [u8; 64] = std::array::from_fn(|square| square as u8);
        for symmetry in Symmetry::all() {
            let turned = turned_back(&row, symmetry);
            for square in 0..64_u8 {
                assert_eq!(turned[usize::from(square)], symmetry.apply_index(square));
            }
        }
    }
}
