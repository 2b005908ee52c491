//! What has to be solved: a slice, and what is behind its exits.

use hoffman_board::Color;

use crate::context::Context;
use crate::exits::{Exit, Right};
use crate::target::Target;

/// What has to be solved.
pub(crate) struct Problem<'a> {
    pub(crate) context: Context<'a>,
    /// White's exits, Black's exits. What they lead to is solved.
    pub(crate) exits: [Vec<Exit<'a>>; 2],
    /// Discarded moves, to be counted only.
    pub(crate) discarded: [Vec<Exit<'a>>; 2],
    /// The en passant rights that the pawns allow.
    pub(crate) rights: Vec<Right<'a>>,
    /// Whether moves are to be counted.
    pub(crate) count: bool,
    /// Who wins stalemates, if they are conceded.
    pub(crate) stalemates: Option<Color>,
}

/// The longest distance behind a capture en passant, in moves.
pub(crate) fn deepest_capture(problem: &Problem<'_>) -> u16 {
    problem.rights.iter().flat_map(|r| &r.captures).map(Target::max_moves).max().unwrap_or(0)
}
