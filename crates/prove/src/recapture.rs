//! Pieces that have just promoted and may be taken at once.
//!
//! Most slices behind a promotion never have to be opened: what the other side gets by taking the
//! piece is a bound of what the promotion is worth, whatever else it may do. Where there is no
//! other piece only its king can take. What that leads to is the same for all pieces that the pawn
//! may become, as none of them guards its own square.

use hoffman_board::shakmaty::attacks::king_attacks;
use hoffman_board::{Color, Outcome, Role, Square, Value};
use hoffman_space::{Code as _, Codes, PawnSquares, SliceValues, side};

use crate::guess;
use crate::key::{Key, Pieces, Placed, SliceFamily, squares_of};
use crate::known::outcome;
use crate::slices::{SliceGame, Slices};

/// The side, its piece, the square of promotion.
pub(crate) type Promoted = (Color, Role, Square);

impl Slices {
    /// The only piece of a slice, if it stands where it has just promoted and all that is looked at
    /// is taking it.
    pub(crate) fn recapture(&self, key: &Key) -> Option<Promoted> {
        let alone = key.pieces() == 1 && self.assumptions.is_empty();
        key.family.landed.filter(|_| alone)
    }

    /// The slice behind taking the only piece of a slice.
    pub(crate) fn after_recapture(key: &Key, (color, role, _): Promoted) -> Key {
        let mut material = key.family.material;
        *material.count.get_mut(color).get_mut(role) = 0;
        Key { family: SliceFamily { material, landed: None, ..key.family }, ..*key }
    }

    /// What it is worth to take the only piece of a slice, where a side gets more by that than by
    /// all that is not known; of other positions nothing is said.
    pub(crate) fn recaptures(&self, game: SliceGame, key: &Key, promoted: Promoted) -> SliceValues {
        let (color, role, square) = promoted;
        let taker = color.other();
        let behind = Slices::after_recapture(key, promoted);
        let gain = |outcome: Outcome| taker.fold_wb(outcome, outcome.swapped());
        let unknown = gain(self.unknown(game, key));

        let layout = self.layout(key);
        let mut codes = [Color::White, Color::Black].map(|_| vec![u8::ILLEGAL; layout.len()]);

        // Most often nothing is known yet.
        let known = self.is_open(&behind) || self.has_whole(&behind.family.material);
        let squares = Square::ALL.into_iter().filter(|_| known);

        for own in squares.filter(|&own| own != square) {
            let kings = |other: Square| [(color, Role::King, own), (taker, Role::King, other)];
            let worth = self.outcome_of(game, &behind, &placed(&kings(square)), color);
            let Some(worth) = worth.filter(|&worth| gain(worth) > unknown) else { continue };
            let code = match worth.winner() {
                None => u8::DRAW,
                Some(winner) if winner == taker => u8::from_value(Value::Win(1)),
                Some(_) => u8::from_value(Value::Loss(0)),
            };
            for from in takers(key.pawns, promoted, own) {
                let [own, other] = kings(from);
                let squares = squares_of(layout, &placed(&[own, other, (color, role, square)]));
                if let Some(place) = squares.and_then(|squares| layout.offset(&squares)) {
                    codes[side(taker)][place] = code;
                }
            }
        }

        let codes = codes.map(|codes| Codes::Narrow(codes).outcomes());
        SliceValues { codes, en_passant: Vec::new(), counts: None, max_moves: 1 }
    }

    /// The outcome of a position in a game, if its slice is open or solved as a whole.
    fn outcome_of(
        &self,
        game: SliceGame,
        key: &Key,
        placed: &[Placed],
        turn: Color,
    ) -> Option<Outcome> {
        let value = self.value_of_whole(key, placed, (turn, None)).or_else(|| {
            let table = &self.tables(key)?[game as usize];
            table.value(&squares_of(&table.layout, placed)?, key.pawns, turn, None)
        });
        value.filter(|&value| value != Value::Illegal).map(|value| outcome(value, turn))
    }
}

/// The squares of a king that may take and is to move, with the promoting side's on `own`.
fn takers(
    pawns: PawnSquares,
    (color, _, square): Promoted,
    own: Square,
) -> impl Iterator<Item = Square> {
    king_attacks(square).into_iter().filter(move |&from| {
        let kings = color.fold_wb([own, from], [from, own]);
        guess::is_legal(pawns, color.other(), kings)
    })
}

fn placed(men: &[(Color, Role, Square)]) -> Pieces {
    men.iter().map(|&(color, role, square)| (color, role, u8::from(square))).collect()
}
