//! Rows from a table that is asked position by position.

use std::collections::BTreeSet;
use std::sync::Arc;

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Material, Piece, Role, Square, Value, Variant};
use hoffman_pages::{PagedCodes, Pages};
use hoffman_space::{
    Code, CodeStore as _, Codes, EnPassantValues, KingPlacement, Layout, Mover, Orientation,
    PawnStructure, SliceValues, TableValues, king_pairs,
};
use rayon::prelude::*;

use super::decode::{Taking, Wanted, can_capture, value_of};
use super::walk::{EDGE, empty_squares, en_passant_squares, last_rank};
use super::{RowsError, structures_of};
use crate::entries::EntryValue;
use crate::foreign::Row;
use crate::index::IndexSpace;

/// Codes that a thread takes at a time, whole rows.
const PART: usize = 64 * 64;

/// The values of an ending, asked for row by row as far as they are wanted; in pages, if there are any. The
/// space is that of its table, whose men may stand everywhere. `ask` is asked for legal positions only: every
/// man on a square of his own, kings apart, the player not to move not in check.
///
/// If only promotions lead there and only their outcomes count, the values behind the same promotions to
/// `another` man may be known. A position that is lost there is not asked for and called lost: whatever it
/// is worth, nobody who promotes a pawn can do better than with the other man.
///
/// # Errors
/// Those of `ask`; distances that do not fit.
pub fn ask_all<W: Code, E: From<RowsError> + Send>(
    space: &IndexSpace,
    wanted: &Wanted,
    taking: Taking,
    pages: Option<&Arc<Pages>>,
    another: Option<&TableValues>,
    ask: impl Fn(&mut Row<'_>, &mut [EntryValue; 64]) -> Result<(), E> + Sync,
) -> Result<TableValues, E> {
    let men = space.pieces().iter().map(|p| (p.color, p.role));
    let (material, swapped) = Material::from_men(men).normalized();
    let is_wanted = |s: &PawnStructure| wanted.structures.as_ref().is_none_or(|w| w.contains(s));
    let to_values = Orientation { swap: swapped, mirror: false };
    let normal = |s: PawnStructure| s.oriented(to_values).normalized(material.is_symmetric()).0;
    let structures = structures_of(space).into_iter().filter(is_wanted);
    let slices = structures.map(normal).collect::<BTreeSet<_>>();
    let mut values = TableValues::new(material, slices);
    if let Some(layout) = layout_of_edge(&material, wanted) {
        values.layout = layout;
    }
    let layout = &values.layout;
    let another = another.filter(|other| {
        let mut men = layout.movers().iter().zip(other.layout.movers());
        let alike = |(own, other): (&Mover, &Mover)| {
            let promoted = own.squares == last_rank(own.color);
            (own.color, own.squares) == (other.color, other.squares)
                && (promoted || own.role == other.role)
        };
        let same = layout.len() == other.layout.len() && men.all(alike);
        // With places for the last rank only.
        let by_promotion = !layout.is_complete();
        same && by_promotion && taking == Taking::ByOutcome
    });
    for (&structure, slot) in &values.slices {
        let slice = |turn: Color, en_passant: Option<u8>| -> Result<(Codes, u16), E> {
            let side = turn as usize ^ 1;
            let len = if wanted.sides[side] { layout.len() } else { 0 };
            let another = another.filter(|_| en_passant.is_none()).and_then(|other| {
                match &other.slices.get(&structure)?.get()?.codes[side] {
                    Codes::Narrow(codes) if codes.len() == len => Some(codes.as_slice()),
                    _ => None,
                }
            });
            let rows =
                Rows { layout, structure, turn, en_passant, swapped, wanted, taking, another };
            let most = |a: u16, b: u16| Ok(a.max(b));
            let Some(pages) = pages else {
                let mut codes = vec![W::ILLEGAL; len];
                let parts = codes.par_chunks_mut(PART).enumerate();
                let longest = parts.map(|(part, codes)| rows.fill(part * PART, codes, &ask));
                let longest = longest.try_reduce(|| 0, most)?;
                return Ok((W::into_codes(codes), longest));
            };
            let store = PagedCodes::new::<W>(pages, len);
            let parts = (0..len.div_ceil(PART)).into_par_iter();
            let longest = parts.map(|part| {
                let place = part * PART;
                let mut codes = [W::ILLEGAL; PART];
                let codes = &mut codes[..PART.min(len - place)];
                let longest = rows.fill(place, codes, &ask)?;
                store.write(place * size_of::<W>(), W::as_bytes_of(codes));
                Ok(longest)
            });
            let longest = longest.try_reduce(|| 0, most)?;
            Ok((store.into_codes::<W>(len), longest))
        };
        let mut longest = 0;
        let mut plain = Vec::new();
        let mut en_passant = Vec::new();
        for turn in [Color::White, Color::Black] {
            let (codes, most) = slice(turn, None)?;
            plain.push(codes);
            longest = longest.max(most);
            for square in en_passant_squares(structure, turn) {
                if can_capture(structure, square, turn) {
                    let (codes, most) = slice(turn, Some(square))?;
                    en_passant.push(EnPassantValues { square, codes });
                    longest = longest.max(most);
                }
            }
        }
        let Ok(codes) = plain.try_into() else { continue };
        let max_moves = if taking == Taking::Exactly { longest } else { 1 };
        // Each slice is made once.
        let _ = slot.set(Arc::new(SliceValues { codes, en_passant, counts: None, max_moves }));
    }
    Ok(values)
}

/// A layout in which a promoted man has places on his last rank only, if no other man is wanted there and
/// nobody can be mistaken for him.
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

/// The rows of a slice with one side to move and one en passant right.
struct Rows<'a> {
    layout: &'a Layout,
    structure: PawnStructure,
    turn: Color,
    en_passant: Option<u8>,
    /// Whether the table's colours are exchanged against those of the layout.
    swapped: bool,
    wanted: &'a Wanted,
    taking: Taking,
    /// The codes of the same rows behind promotions to another man: what is lost there is lost here.
    another: Option<&'a [u8]>,
}

impl Rows<'_> {
    /// A man of the layout, as the table sees him.
    fn man(&self, square: u8, man: Piece) -> (Square, Piece) {
        let square = Square::new(u32::from(square));
        if self.swapped {
            (square.flip_vertical(), man.role.of(man.color.other()))
        } else {
            (square, man)
        }
    }

    /// Fills neighbouring rows, the first of which begins at a place, and returns the longest distance in
    /// moves.
    fn fill<W: Code, E: From<RowsError>>(
        &self,
        place: usize,
        codes: &mut [W],
        ask: &impl Fn(&mut Row<'_>, &mut [EntryValue; 64]) -> Result<(), E>,
    ) -> Result<u16, E> {
        let movers = self.layout.movers();
        let lane = movers.len() - 1;
        // The men as the table sees them, the movers first.
        let mut men: Vec<(Square, Piece)> =
            movers.iter().map(|m| self.man(0, m.role.of(m.color))).collect();
        for color in Color::ALL {
            let pawns = Bitboard(self.structure.of(color)).into_iter();
            men.extend(pawns.map(|square| self.man(square as u8, Role::Pawn.of(color))));
        }
        let mut closed = self.structure.occupied();
        if let Some(square) = self.en_passant {
            closed |= empty_squares(square, self.turn);
        }
        let turn = if self.swapped { self.turn.other() } else { self.turn };
        let other_king = men.iter().position(|&(_, man)| man == turn.other().king());
        let en_passant = self.en_passant.map(|square| self.man(square, Role::Pawn.of(turn)).0);
        let edge = |m: usize| self.wanted.on_edge.contains(&(movers[m].color, movers[m].role));
        let everywhere = !(0..movers.len()).any(edge);
        let goal = |m: usize| match (edge(m), self.structure.occupied(), movers[m].color) {
            (false, ..) => 0,
            (true, 0, _) => EDGE,
            (true, _, color) => last_rank(color),
        };
        let mut longest = 0;
        let mut values = [EntryValue::Unknown; 64];
        for (row, codes) in codes.chunks_mut(64).enumerate() {
            let at = place + 64 * row;
            let mut occupied = closed;
            let mut possible = true;
            let mut on_edge = everywhere;
            let mut kings = [None; 2];
            for (m, mover) in movers[..lane].iter().enumerate() {
                let square = match self.layout.kings() {
                    KingPlacement::Pairs if m < 2 => {
                        let (white, black) = king_pairs().pairs[at >> (6 * (movers.len() - 2))];
                        if m == 0 { white as u8 } else { black as u8 }
                    }
                    _ => self.layout.square(m, at),
                };
                possible &= occupied >> square & 1 == 0;
                occupied |= 1 << square;
                on_edge |= goal(m) >> square & 1 != 0;
                men[m] = self.man(square, mover.role.of(mover.color));
                if mover.role == Role::King {
                    kings[mover.color as usize] = Some(Square::new(u32::from(square)));
                }
            }
            let mut lanes = !occupied;
            if !on_edge {
                lanes &= goal(lane);
            }
            match kings {
                [Some(one), Some(other)] => possible &= one.distance(other) > 1,
                // The other king is the lane.
                [Some(king), None] | [None, Some(king)] => lanes &= !attacks::king_attacks(king).0,
                [None, None] => {}
            }
            if !possible {
                continue;
            }
            if let Some(known) = self.another.and_then(|known| known.get(at..at + codes.len())) {
                let loss = u8::from_value(Value::Loss(0));
                for (square, (code, &known)) in codes.iter_mut().zip(known).enumerate() {
                    lanes &= !(u64::from(known == loss) << square);
                    *code = W::convert(known).mask(known == loss);
                }
                if lanes == 0 {
                    continue;
                }
            }
            let walks = self.man(0, movers[lane].role.of(movers[lane].color)).1;
            let on_table = |lanes: u64| if self.swapped { lanes.swap_bytes() } else { lanes };
            let mut squares = Bitboard(on_table(lanes));
            if let Some(king) = other_king {
                squares &= spares_king(&men, lane, walks, turn, king);
            }
            if squares.is_empty() {
                continue;
            }
            let mut row = Row { men: &mut men, walks: lane, squares, turn, en_passant };
            ask(&mut row, &mut values)?;
            for square in Bitboard(on_table(squares.0)) {
                let there = if self.swapped { square.flip_vertical() } else { square };
                let value = value_of(values[there as usize], self.taking);
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
}

/// The squares of one man for which the player to move does not attack the other king, who is the man of a
/// number.
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
            // Nobody but the walking man can stand in between.
            free &= attacks::between(from, at);
        }
    }
    free
}
