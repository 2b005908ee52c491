//! What is known of single positions.

use std::sync::Arc;

use hoffman_board::shakmaty::zobrist::Zobrist128;
use hoffman_board::shakmaty::{Chess, EnPassantMode, Move, MoveList, Position as _};
use hoffman_board::{Color, Outcome, OutcomeBounds, Role, Square, Value};
use hoffman_solve::Tables;
use hoffman_space::{Layout, Orientation, SliceValues, TableValues, side};

use crate::guess;
use crate::key::{Key, Placed, SliceFamily, Squares, key_of, squares_of};
use crate::slices::{GAMES, SliceGame, Slices};

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownSlice {
    pub(crate) least: Outcome,
    pub(crate) most: Outcome,
    pub(crate) guess: Outcome,
    /// In how many moves the guess comes true.
    pub(crate) moves: u16,
    /// Whether the slice is open.
    pub(crate) open: bool,
}

impl KnownSlice {
    /// What is certain.
    pub(crate) fn bounds(self) -> OutcomeBounds {
        OutcomeBounds { least: self.least, most: self.most }
    }

    /// Of a legal position of an open slice with `turn` to move, from its values in all games.
    fn open([least, most, guess]: [Value; 3], turn: Color) -> KnownSlice {
        let [least, most, likely] = [least, most, guess].map(|value| outcome(value, turn));
        KnownSlice { least, most, guess: likely, moves: moves(guess), open: true }
    }
}

impl Slices {
    /// What is known of a position.
    pub(crate) fn known_of(&self, position: &Chess) -> KnownSlice {
        let (key, placed) = key_of(position, &self.assumptions);
        let turn = position.turn();
        if let Some(value) = self.value_of_whole(&key, &placed, (turn, right(position))) {
            return KnownSlice::open([value; 3], turn);
        }
        let known_in = |key: &Key| {
            let values = values(self.tables(key)?, key, &placed, position)?;
            // Of a piece that has just landed only that is told which taking it gives.
            let [least, most, guess] = GAMES.map(|game| match values[game as usize] {
                Value::Illegal => self.unknown(game, key),
                value => outcome(value, turn),
            });
            let open = key.family.landed.is_none();
            Some(KnownSlice {
                least,
                most,
                guess,
                moves: moves(values[SliceGame::Guess as usize]),
                open,
            })
        };
        let known = known_in(&key).or_else(|| {
            // What each of them is certain of is.
            landed_slices(&key, &placed).filter_map(|key| known_in(&key)).reduce(|one, other| {
                let (least, most) = (one.least.max(other.least), one.most.min(other.most));
                KnownSlice { least, most, ..one }
            })
        });

        known.unwrap_or_else(|| {
            let [least, most, guess] = GAMES.map(|game| self.unknown(game, &key));
            let races = self.races(&key.family.material);
            let race = races.and_then(|table| value(table, &key, &placed, position));
            let race = race.filter(|&value| value != Value::Illegal);
            let (guess, moves) = match race {
                Some(value) => (outcome(value, turn), 0),
                None => (guess, guess::moves(&key)),
            };
            KnownSlice { least, most, guess, moves, open: false }
        })
    }

    /// What is known of the positions behind moves.
    pub(crate) fn known_behind(&self, position: &Chess, moves: &MoveList) -> Vec<KnownSlice> {
        let neighbours = Neighbours::of(self, position);
        let known = |m: &Move| {
            let within = neighbours.as_ref().and_then(|neighbours| neighbours.after(*m));
            within.unwrap_or_else(|| self.known_of(&after(position, *m)))
        };
        moves.iter().map(known).collect()
    }

    /// Whether it is looked at what follows while a piece stays where it has just landed.
    pub(crate) fn looks_at_landed(&self, position: &Chess, square: Square) -> bool {
        let (key, placed) = key_of(position, &self.assumptions);
        let mut slices = landed_slices(&key, &placed).filter(|key| self.is_open(key));
        slices.any(|key| key.family.landed.is_some_and(|(_, _, at)| at == square))
    }

    /// The value of a position of an ending that is there as a whole, with a side to move and the
    /// square behind a pawn that it can take en passant.
    pub(crate) fn value_of_whole(
        &self,
        key: &Key,
        placed: &[Placed],
        (turn, right): (Color, Option<u8>),
    ) -> Option<Value> {
        self.value_in_whole(&self.whole, key, placed, (turn, right))
    }

    /// The same with the values of these endings.
    pub(crate) fn value_in_whole(
        &self,
        whole: &Tables,
        key: &Key,
        placed: &[Placed],
        (turn, right): (Color, Option<u8>),
    ) -> Option<Value> {
        let (normal, swapped) = key.family.material.normalized();
        let table = whole.get(&normal).filter(|_| self.is_whole(&key.family.material))?;
        let seen = |color: Color| if swapped { color.other() } else { color };
        let placed: Vec<Placed> = placed
            .iter()
            .map(|&(color, role, square)| {
                (seen(color), role, if swapped { square ^ 56 } else { square })
            })
            .collect();
        let right = right.map(|square| if swapped { square ^ 56 } else { square });
        let pawns = key.pawns.oriented(Orientation { swap: swapped, mirror: false });
        table.value(&squares_of(&table.layout, &placed)?, pawns, seen(turn), right)
    }
}

/// The positions of an open slice in which only one man stands elsewhere and the other side is to
/// move: quiet moves of kings and pieces lead there, most of all moves.
struct Neighbours<'s> {
    layout: &'s Layout,
    slices: [&'s Arc<SliceValues>; 3],
    squares: Squares,
    turn: Color,
}

impl<'s> Neighbours<'s> {
    /// None where pieces may be of one kind, or may not stand everywhere: moves are told by the
    /// square that they start from.
    fn of(slices: &'s Slices, position: &Chess) -> Option<Neighbours<'s>> {
        let (key, placed) = key_of(position, &slices.assumptions);
        if key.pieces() > 1
            || !slices.assumptions.is_empty()
            || slices.has_whole(&key.family.material)
        {
            return None;
        }
        let [least, most, guess] = slices.tables(&key)?.each_ref();
        let layout = &least.layout;
        let found = |table: &'s TableValues| table.find(key.pawns).map(|(slice, _)| slice);
        Some(Neighbours {
            layout,
            slices: [found(least)?, found(most)?, found(guess)?],
            squares: squares_of(layout, &placed)?,
            turn: position.turn().other(),
        })
    }

    /// What is known after a move; none if it leads elsewhere.
    fn after(&self, m: Move) -> Option<KnownSlice> {
        let Move::Normal { role, from, capture: None, to, promotion: None } = m else {
            return None;
        };
        if role == Role::Pawn {
            return None;
        }
        let mut squares = self.squares.clone();
        *squares.iter_mut().find(|square| **square == u8::from(from))? = u8::from(to);
        let offset = self.layout.offset(&squares)?;
        let [least, most, guess] =
            self.slices.map(|slice| slice.codes[side(self.turn)].value(offset));
        Some(KnownSlice::open([least, most, guess], self.turn))
    }
}

/// The position behind a move.
pub(crate) fn after(position: &Chess, m: Move) -> Chess {
    let mut next = position.clone();
    next.play_unchecked(m);
    next
}

/// A number by which positions are told apart.
pub(crate) fn hash(position: &Chess) -> u128 {
    position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0
}

/// The slices of a position in which one of its pieces has just landed.
pub(crate) fn landed_slices(key: &Key, placed: &[Placed]) -> impl Iterator<Item = Key> {
    let pieces = placed.iter().filter(|(_, role, _)| *role != Role::King);
    pieces.map(|&(color, role, square)| {
        let landed = Some((color, role, Square::new(u32::from(square))));
        Key { family: SliceFamily { landed, ..key.family }, ..*key }
    })
}

/// The values of a position in all games, if its slice is open.
fn values(
    tables: &[TableValues; 3],
    key: &Key,
    placed: &[Placed],
    position: &Chess,
) -> Option<[Value; 3]> {
    let [least, most, guess] =
        tables.each_ref().map(|table| table.find(key.pawns).map(|(slice, _)| slice));
    let (least, most, guess) = (least?, most?, guess?);
    let layout = &tables[0].layout;
    let Some(offset) = layout.offset(&squares_of(layout, placed)?) else {
        return Some([Value::Illegal; 3]);
    };
    let right = right(position);
    let value = |slice: &SliceValues| {
        let with_right = right.and_then(|at| slice.en_passant.iter().find(|e| e.square == at));
        let codes = with_right.map_or(&slice.codes[side(position.turn())], |e| &e.codes);
        codes.value(offset)
    };
    Some([value(least), value(most), value(guess)])
}

/// The value of a position in a table that may have its slice.
pub(crate) fn value(
    table: &TableValues,
    key: &Key,
    placed: &[Placed],
    position: &Chess,
) -> Option<Value> {
    let squares = squares_of(&table.layout, placed)?;
    table.value(&squares, key.pawns, position.turn(), right(position))
}

/// The square behind a pawn that can be taken en passant.
pub(crate) fn right(position: &Chess) -> Option<u8> {
    position.ep_square(EnPassantMode::Legal).map(u8::from)
}

/// The outcome of a legal position.
pub(crate) fn outcome(value: Value, turn: Color) -> Outcome {
    match value {
        Value::Win(_) => Outcome::won_by(turn),
        Value::Loss(_) => Outcome::won_by(turn.other()),
        Value::Draw | Value::Illegal => Outcome::Draw,
    }
}

fn moves(value: Value) -> u16 {
    match value {
        Value::Win(moves) | Value::Loss(moves) => moves,
        Value::Draw | Value::Illegal => 0,
    }
}
