//! A placement as index types see it: square numbers in the internal order of the men.

use hoffman_board::{Color, MAX_PIECES, Square};

use super::NONE;

/// The set of one square.
pub(super) const fn bit(square: u8) -> u64 {
    1 << square
}

/// The square of a number below 64.
pub(super) fn square(s: u8) -> Square {
    Square::new(u32::from(s))
}

/// A square number for every man, in internal order.
pub(super) type Squares = [u8; MAX_PIECES];

/// A placement in internal order.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderedPlacement {
    pub(super) squares: Squares,
    /// The en passant square, or [`NONE`].
    pub(super) en_passant: u8,
    /// Whether Black is to move.
    pub(super) black: bool,
}

impl OrderedPlacement {
    pub(super) const fn empty(black: bool) -> OrderedPlacement {
        OrderedPlacement { squares: [0; MAX_PIECES], en_passant: NONE, black }
    }

    pub(super) const fn turn(&self) -> Color {
        if self.black { Color::Black } else { Color::White }
    }

    /// The square of a pawn whose code is 0 to 7, the double step noted; none if there was one
    /// already or the pawn belongs to the player to move.
    pub(super) fn double_step(&mut self, color: Color, column: u8) -> Option<u8> {
        if self.en_passant != NONE || color == self.turn() {
            return None;
        }
        let (jumped, square) = double_step_squares(color, column);
        self.en_passant = jumped;
        Some(square)
    }
}

/// The square jumped over and the square reached by a double step.
pub(super) fn double_step_squares(color: Color, column: u8) -> (u8, u8) {
    color.fold_wb((column + 16, column + 24), (column + 40, column + 32))
}

/// The fourth rank of a colour's pawns, as a set.
pub(super) fn double_step_rank(color: Color) -> u64 {
    color.fold_wb(0xff << 24, 0xff << 32)
}
