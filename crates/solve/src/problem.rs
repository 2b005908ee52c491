//! What has to be solved: a slice, and what is behind its exits.

use hoffman_board::{ByColor, Color};

use crate::context::Context;
use crate::exits::{Exit, Right};
use crate::target::ExitTarget;

/// What has to be solved.
pub(crate) struct Problem<'a> {
    pub(crate) context: Context<'a>,
    /// The exits of a side. What they lead to is solved.
    pub(crate) exits: ByColor<Vec<Exit<'a>>>,
    /// Discarded moves, to be counted only.
    pub(crate) discarded: ByColor<Vec<Exit<'a>>>,
    /// The en passant rights that the pawns allow.
    pub(crate) rights: Vec<Right<'a>>,
    /// Whether moves are to be counted.
    pub(crate) count: bool,
    /// The side that wins stalemates, if they are conceded.
    pub(crate) stalemates: Option<Color>,
}

impl Problem<'_> {
    /// Whether there are en passant rights that can be used.
    pub(crate) fn has_rights(&self) -> bool {
        self.rights.iter().any(|right| right.is_usable(&self.context))
    }

    /// Whether anything depends on which positions are stalemates.
    pub(crate) fn needs_stalemates(&self) -> bool {
        self.count || self.stalemates.is_some() || self.context.suicide() || self.has_rights()
    }

    /// The longest distance behind an exit or a capture en passant, in moves.
    pub(crate) fn deepest(&self) -> u16 {
        let exits = self.exits.iter().flatten().map(|exit| exit.target.max_moves());
        exits.max().unwrap_or(0).max(self.deepest_capture())
    }

    /// The longest distance behind a capture en passant, in moves.
    pub(crate) fn deepest_capture(&self) -> u16 {
        let captures = self.rights.iter().flat_map(|right| &right.captures);
        captures.map(ExitTarget::max_moves).max().unwrap_or(0)
    }
}
