//! What is claimed.

use std::collections::BTreeMap;
use std::fmt;

use shakmaty::Color;

/// What a side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It mates, with its move of this number at the latest.
    Wins(u16),
    /// It does not lose.
    Holds,
}

/// A claim, and the strategy that proves it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The side that follows the strategy.
    pub side: Color,
    /// What it is to achieve.
    pub claimed: Claimed,
    /// The positions that the strategy leads to with this side to move, as EPD of four fields, and
    /// what is played in each.
    pub choices: BTreeMap<String, Choice>,
}

/// What is played in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move as in UCI; none in a position of stalemate, which only a side that holds meets.
    pub m: Option<String>,
    /// The number of the move that mates at the latest, the move that is played being number 1; 0
    /// if the side only holds.
    pub moves: u16,
}

impl fmt::Display for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claimed::Wins(moves) => write!(f, "wins {moves}"),
            Claimed::Holds => write!(f, "holds"),
        }
    }
}
