//! Rows from a table that is asked position by position.

use std::collections::BTreeSet;
use std::sync::Arc;

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Material, Piece, Role, Square, Value, Variant};
use hoffman_hbf::turn_over;
use hoffman_pages::Pages;
use hoffman_space::{
    Code, Codes, EnPassantValues, KingPlacement, Layout, Mover, Orientation, PawnSquares,
    SliceValues, StoredCodes, TableValues, king_pairs, side,
};
use rayon::prelude::*;

use super::decode::room_in;
use super::squares::{empty_squares, last_rank, promotion_squares, usable_rights};
use super::wanted::{Taking, Wanted, value_of};
use super::{RowsError, structures_of};
use crate::entries::EntryValue;
use crate::foreign::Row;
use crate::index::IndexSpace;

/// Codes that a thread takes at a time, whole rows.
const PART: usize = 64 * 64;

/// A table that is asked row by row.
pub trait AskedTable: Sync {
    /// Why there is no answer.
    type Error: From<RowsError> + Send;

    /// What its entries say of a row of legal positions, by the square of the man that walks: every
    /// man on a square of its own, kings apart, the player not to move not in check.
    ///
    /// # Errors
    /// Damage; the caller asked to stop.
    fn values(&self, row: &mut Row<'_>, values: &mut [EntryValue; 64]) -> Result<(), Self::Error>;

    /// The codes of a row, legal or not, as far as they are at hand: exactly what the entries tell,
    /// 0 where there is no legal position. Returns the squares for which they are not.
    fn codes(&self, row: &Row<'_>, codes: &mut [u8; 64]) -> Bitboard {
        let _ = codes;
        row.squares
    }
}

impl<F, E: From<RowsError> + Send> AskedTable for F
where
    F: Fn(&mut Row<'_>, &mut [EntryValue; 64]) -> Result<(), E> + Sync,
{
    type Error = E;

    fn values(&self, row: &mut Row<'_>, values: &mut [EntryValue; 64]) -> Result<(), E> {
        self(row, values)
    }
}

/// The values of an ending, asked for row by row as far as they are wanted; in pages, if there are
/// any. The space is that of its table, whose men may stand everywhere.
///
/// If only promotions lead there and only their outcomes count, the values behind the same
/// promotions to `another` man may be known. A position that is lost there is not asked for and
/// called lost: whatever it is worth, a promotion is never better than that to the other piece.
///
/// # Errors
/// Those of `ask`; distances that do not fit.
pub fn ask_all<W: Code, A: AskedTable>(
    space: &IndexSpace,
    wanted: &Wanted,
    taking: Taking,
    pages: Option<&Arc<Pages>>,
    another: Option<&TableValues>,
    ask: &A,
) -> Result<TableValues, A::Error> {
    let men = space.pieces().iter().map(|p| (p.color, p.role));
    let (material, swapped) = Material::from_men(men).normalized();
    let is_wanted = |s: &PawnSquares| wanted.structures.as_ref().is_none_or(|w| w.contains(s));
    let to_values = Orientation { swap: swapped, mirror: false };
    let normal = |s: PawnSquares| s.oriented(to_values).normalized(material.is_symmetric()).0;
    let structures = structures_of(space).into_iter().filter(is_wanted);
    let slices = structures.map(normal).collect::<BTreeSet<_>>();
    let mut values = TableValues::new(material, slices);
    if let Some(layout) = layout_of_edge(&material, wanted) {
        values.layout = layout;
    }
    let layout = &values.layout;
    let another = another.filter(|other| taking == Taking::ByOutcome && are_alike(layout, other));
    for (&structure, slot) in &values.slices {
        let slice = AskedSlice { layout, structure, swapped, wanted, taking, pages, another };
        // Each slice is made once.
        let _ = slot.set(Arc::new(slice.values::<W, A>(ask)?));
    }
    Ok(values)
}

/// Whether values of other men have the same places, but for a promoted man of another role on the
/// last rank.
fn are_alike(layout: &Layout, other: &TableValues) -> bool {
    let mut men = layout.movers().iter().zip(other.layout.movers());
    let alike = |(own, other): (&Mover, &Mover)| {
        let promoted = own.squares == last_rank(own.color);
        (own.color, own.squares) == (other.color, other.squares)
            && (promoted || own.role == other.role)
    };
    // With places for the last rank only.
    let by_promotion = !layout.is_complete();
    layout.len() == other.layout.len() && men.all(alike) && by_promotion
}

/// A layout in which a promoted piece has places on its last rank only, if no other one is wanted
/// there and none can be mistaken for it.
fn layout_of_edge(material: &Material, wanted: &Wanted) -> Option<Layout> {
    let &[(color, role)] = wanted.on_edge.as_slice() else { return None };
    if !material.has_pawns() || *material.count.get(color).get(role) != 1 {
        return None;
    }
    let mut movers = Layout::new(material).movers().to_vec();
    for mover in &mut movers {
        if (mover.color, mover.role) == (color, role) {
            mover.squares = last_rank(color);
        }
    }
    Some(Layout::restricted(&movers, true, Variant::Normal))
}

/// A slice whose values are asked for.
#[derive(Clone, Copy)]
struct AskedSlice<'a> {
    layout: &'a Layout,
    structure: PawnSquares,
    /// Whether the table's colours are exchanged against those of the layout.
    swapped: bool,
    wanted: &'a Wanted,
    taking: Taking,
    pages: Option<&'a Arc<Pages>>,
    /// The same ending with another promoted man: what is lost there is lost here.
    another: Option<&'a TableValues>,
}

impl<'a> AskedSlice<'a> {
    /// All its values.
    fn values<W: Code, A: AskedTable>(&self, ask: &A) -> Result<SliceValues, A::Error> {
        let mut longest = 0;
        let mut read = |turn: Color, en_passant: Option<Square>| -> Result<Codes, A::Error> {
            let (codes, most) = self.rows(turn, en_passant).all::<W, A>(self.pages, ask)?;
            longest = longest.max(most);
            Ok(codes)
        };
        let codes = [read(Color::White, None)?, read(Color::Black, None)?];
        let mut en_passant = Vec::new();
        for (turn, square) in usable_rights(self.structure) {
            en_passant
                .push(EnPassantValues { square: square.into(), codes: read(turn, Some(square))? });
        }
        let max_moves = if self.taking == Taking::Exactly { longest } else { 1 };
        Ok(SliceValues { codes, en_passant, counts: None, max_moves })
    }

    fn rows(&self, turn: Color, en_passant: Option<Square>) -> SideRows<'a> {
        let number = side(turn);
        let len = if self.wanted.sides[number] { self.layout.len() } else { 0 };
        let another = self.another.filter(|_| en_passant.is_none());
        let another = another
            .and_then(|other| Some(&other.slices.get(&self.structure)?.get()?.codes[number]))
            .filter(|codes| codes.len() == len);
        SideRows { slice: *self, len, turn, en_passant, another }
    }
}

/// The rows of a slice with one side to move and one en passant right.
struct SideRows<'a> {
    slice: AskedSlice<'a>,
    /// How many places there are; none if this side is not asked for.
    len: usize,
    turn: Color,
    en_passant: Option<Square>,
    /// The codes of the same rows behind promotions to another man.
    another: Option<&'a Codes>,
}

/// The men of a row as the table sees them, the movers first, with what is known of them
/// beforehand.
struct RowMen {
    men: Vec<(Square, Piece)>,
    /// Squares on which no man may stand.
    closed: u64,
    /// The side to move there.
    turn: Color,
    /// The king that must not be attacked, by its number.
    other_king: Option<usize>,
    en_passant: Option<Square>,
}

impl SideRows<'_> {
    /// All rows, and the longest distance in moves.
    fn all<W: Code, A: AskedTable>(
        &self,
        pages: Option<&Arc<Pages>>,
        ask: &A,
    ) -> Result<(Codes, u16), A::Error> {
        let len = self.len;
        let most = |a: u16, b: u16| Ok(a.max(b));
        let Some(pages) = pages else {
            let mut codes = vec![W::ILLEGAL; len];
            let parts = codes.par_chunks_mut(PART).enumerate();
            let longest = parts.map(|(part, codes)| self.fill(part * PART, codes, ask));
            let longest = longest.try_reduce(|| 0, most)?;
            return Ok((W::into_codes(codes), longest));
        };
        let store = room_in::<W>(pages, self.slice.taking, len);
        let parts = (0..len.div_ceil(PART)).into_par_iter();
        let longest = parts.map(|part| {
            let place = part * PART;
            let mut codes = [W::ILLEGAL; PART];
            let codes = &mut codes[..PART.min(len - place)];
            let longest = self.fill(place, codes, ask)?;
            store.write(place * size_of::<W>(), W::as_bytes_of(codes));
            Ok(longest)
        });
        let longest = longest.try_reduce(|| 0, most)?;
        Ok((Codes::Stored(StoredCodes { store, len, wide: W::WIDE }), longest))
    }

    /// A man of the layout, as the table sees it.
    fn man(&self, square: u8, man: Piece) -> (Square, Piece) {
        let square = Square::new(u32::from(square));
        if self.slice.swapped {
            (square.flip_vertical(), man.role.of(man.color.other()))
        } else {
            (square, man)
        }
    }

    /// A set of squares of the layout, as the table sees it, and back.
    fn on_table(&self, squares: u64) -> u64 {
        if self.slice.swapped { squares.swap_bytes() } else { squares }
    }

    /// Fills neighbouring rows, the first of which begins at a place, and returns the longest
    /// distance in moves.
    fn fill<W: Code, A: AskedTable>(
        &self,
        place: usize,
        codes: &mut [W],
        ask: &A,
    ) -> Result<u16, A::Error> {
        let movers = self.slice.layout.movers();
        let lane = movers.len() - 1;
        let walking = self.man(0, movers[lane].role.of(movers[lane].color)).1;
        let mut men = self.row_men();
        let mut longest = 0;
        let mut values = [EntryValue::Unknown; 64];

        for (row, codes) in codes.chunks_mut(64).enumerate() {
            let at = place + 64 * row;
            let mut lanes = self.lanes(at, &mut men);
            if lanes != 0 {
                lanes &= !self.take_known(at, codes);
            }
            if lanes == 0 {
                continue;
            }
            let (turn, en_passant) = (men.turn, men.en_passant);
            let squares = Bitboard(self.on_table(lanes));
            let mut row = Row { men: &mut men.men, walks: lane, squares, turn, en_passant };
            if let Ok(codes) = codes.try_into() {
                longest = longest.max(self.take_at_hand(ask, &mut row, codes));
            }
            if let Some(king) = men.other_king.filter(|_| !row.squares.is_empty()) {
                row.squares &= spares_king(row.men, lane, walking, turn, king);
            }
            if row.squares.is_empty() {
                continue;
            }

            ask.values(&mut row, &mut values)?;
            for square in Bitboard(self.on_table(row.squares.0)) {
                let there = if self.slice.swapped { square.flip_vertical() } else { square };
                let value = value_of(values[there as usize], self.slice.taking);
                if let Value::Win(moves) | Value::Loss(moves) = value {
                    if moves > W::MAX_MOVES {
                        return Err(RowsError::Entry.into());
                    }
                    longest = longest.max(moves);
                }
                codes[square as usize] = W::from_value(value);
            }
        }
        Ok(longest)
    }

    /// Takes the codes of a row that are at hand; the squares of the others are left in the row.
    /// Returns the longest distance in moves.
    fn take_at_hand<W: Code>(
        &self,
        ask: &impl AskedTable,
        row: &mut Row<'_>,
        codes: &mut [W; 64],
    ) -> u16 {
        let mut known = [u8::ILLEGAL; 64];
        let rest = ask.codes(row, &mut known);
        let taken = self.on_table((row.squares & !rest).0);
        row.squares &= rest;
        if taken == 0 {
            return 0;
        }
        if self.slice.swapped {
            turn_over(&mut known);
        }
        let (mut loss, mut win) = (u8::ILLEGAL, u8::MAX);
        for (square, (code, known)) in codes.iter_mut().zip(known).enumerate() {
            let known = self.told(known).mask(taken >> square & 1 != 0);
            *code = (*code).max(W::convert(known));
            loss = loss.max(known.mask(known < u8::DRAW));
            win = win.min(if known > u8::DRAW { known } else { u8::MAX });
        }
        loss.saturating_sub(u8::loss(0)).max(u8::win(0) - win).into()
    }

    /// A code as far as it is wanted.
    #[inline]
    fn told(&self, code: u8) -> u8 {
        match code {
            _ if self.slice.taking == Taking::Exactly => code,
            u8::ILLEGAL | u8::DRAW => code,
            ..u8::DRAW => u8::loss(0),
            _ => u8::win(1),
        }
    }

    fn row_men(&self) -> RowMen {
        let AskedSlice { layout, structure, swapped, .. } = self.slice;
        let mut men: Vec<(Square, Piece)> =
            layout.movers().iter().map(|m| self.man(0, m.role.of(m.color))).collect();
        for color in Color::ALL {
            let pawns = Bitboard(structure.of(color)).into_iter();
            men.extend(pawns.map(|square| self.man(square as u8, Role::Pawn.of(color))));
        }
        let mut closed = structure.occupied();
        if let Some(square) = self.en_passant {
            closed |= empty_squares(square, self.turn);
        }
        let turn = if swapped { self.turn.other() } else { self.turn };
        let other_king = men.iter().position(|&(_, man)| man == turn.other().king());
        let en_passant =
            self.en_passant.map(|square| self.man(square.into(), Role::Pawn.of(turn)).0);
        RowMen { men, closed, turn, other_king, en_passant }
    }

    /// Puts the men where a row has them; the squares that are left for the lane man.
    fn lanes(&self, at: usize, row: &mut RowMen) -> u64 {
        let layout = self.slice.layout;
        let movers = layout.movers();
        let lane = movers.len() - 1;
        let mut occupied = row.closed;
        let mut possible = true;
        let mut on_edge = (0..movers.len()).all(|m| self.goal(m) == 0);
        let mut kings = [None; 2];

        for (m, mover) in movers[..lane].iter().enumerate() {
            let square = match layout.kings() {
                KingPlacement::Pairs if m < 2 => {
                    let (white, black) = king_pairs().pairs[at >> (6 * (movers.len() - 2))];
                    if m == 0 { white as u8 } else { black as u8 }
                }
                _ => layout.square(m, at),
            };
            possible &= occupied >> square & 1 == 0;
            occupied |= 1 << square;
            on_edge |= self.goal(m) >> square & 1 != 0;
            row.men[m] = self.man(square, mover.role.of(mover.color));
            if mover.role == Role::King {
                kings[mover.color as usize] = Some(Square::new(u32::from(square)));
            }
        }

        let mut lanes = if possible { !occupied } else { 0 };
        if !on_edge {
            lanes &= self.goal(lane);
        }
        match kings {
            [Some(one), Some(other)] if one.distance(other) <= 1 => 0,
            // The other king is the lane.
            [Some(king), None] | [None, Some(king)] => lanes & !attacks::king_attacks(king).0,
            _ => lanes,
        }
    }

    /// Where a man must stand for its position to be wanted, if only such positions are; 0 if none
    /// is.
    fn goal(&self, m: usize) -> u64 {
        let mover = &self.slice.layout.movers()[m];
        if !self.slice.wanted.on_edge.contains(&(mover.color, mover.role)) {
            return 0;
        }
        promotion_squares(self.slice.structure, mover.color)
    }

    /// Takes over what is lost behind promotions to another man, and returns where that is.
    fn take_known<W: Code>(&self, at: usize, codes: &mut [W]) -> u64 {
        let Some(known) = self.another else { return 0 };
        let mut row = [u8::ILLEGAL; 64];
        let row = &mut row[..codes.len()];
        known.read(at, row);
        let loss = u8::from_value(Value::Loss(0));
        let mut lost = 0;
        for (square, (code, &known)) in codes.iter_mut().zip(&*row).enumerate() {
            lost |= u64::from(known == loss) << square;
            *code = W::convert(known).mask(known == loss);
        }
        lost
    }
}

/// The squares of one man for which the player to move does not attack the other king, which is
/// the man of a number.
fn spares_king(
    men: &[(Square, Piece)],
    walks: usize,
    walking: Piece,
    turn: Color,
    king: usize,
) -> Bitboard {
    let others = || men.iter().enumerate().filter(|&(i, _)| i != walks).map(|(_, &man)| man);
    let occupied: Bitboard = others().map(|(square, _)| square).collect();
    let own = others().filter(|(_, man)| man.color == turn);
    if king == walks {
        return own.fold(!Bitboard::EMPTY, |free, (from, man)| {
            free & !attacks::attacks(from, man, occupied)
        });
    }
    let at = men[king].0;
    let mut free = !Bitboard::EMPTY;
    if walking.color == turn {
        // Pieces attack each way alike; pawns do not walk.
        free &= !attacks::attacks(at, walking, occupied);
    }
    for (from, man) in own {
        if attacks::attacks(from, man, occupied).contains(at) {
            // Only the walking piece can stand in between.
            free &= attacks::between(from, at);
        }
    }
    free
}
