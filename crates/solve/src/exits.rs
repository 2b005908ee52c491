//! Exits: moves that leave the slice, and what is behind them.

use hoffman_board::{Bitboard, Color, FuturemoveKind, Square};

use crate::context::Context;
use crate::steps::{Way, empty_squares};
use crate::target::ExitTarget;

/// A kind of exit of one side, with what is behind it.
pub(crate) struct Exit<'a> {
    pub(crate) way: Way,
    pub(crate) kind: FuturemoveKind,
    pub(crate) target: ExitTarget<'a>,
    pub(crate) counted: Counted,
}

/// What an exit is in the statistics of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A move inside the table: most pawn steps are.
    Inside,
    /// A futuremove.
    Leaving,
    /// A futuremove that decides the position at once; no move of such a position is counted.
    Deciding,
    /// A discarded move: a futuremove, but no move.
    Discarded,
}

impl Exit<'_> {
    /// Whether something is taken.
    pub(crate) fn is_capture(&self) -> bool {
        self.kind.is_capture()
    }
}

/// A right to take en passant in the slice itself, and what its captures lead to.
pub(crate) struct Right<'a> {
    /// The square jumped over.
    pub(crate) square: Square,
    /// The side that may take.
    pub(crate) taker: Color,
    /// What the captures lead to, discarded ones last; none if no pawn can take.
    pub(crate) captures: Vec<ExitTarget<'a>>,
    /// How many of the captures are not discarded.
    pub(crate) moves: usize,
    /// Whether a capture decides a position at once.
    pub(crate) deciding: bool,
}

impl<'a> Right<'a> {
    /// Whether the value of a position may be another because of the right.
    pub(crate) fn is_usable(&self, context: &Context<'_>) -> bool {
        self.moves > 0 || context.suicide() && !self.captures.is_empty()
    }

    /// The captures that are moves, and the discarded ones.
    pub(crate) fn counted(&self) -> [&[ExitTarget<'a>]; 2] {
        self.captures.split_at_checked(self.moves).map_or([&self.captures, &[]], |(a, b)| [a, b])
    }

    /// The square jumped over and the one that the pawn came from: both must be empty.
    pub(crate) fn empty_squares(&self) -> Bitboard {
        empty_squares(self.square, self.taker)
    }
}
