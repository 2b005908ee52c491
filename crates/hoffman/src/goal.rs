//! What a side plays for, if that is not to win as ever.

use std::fmt;
use std::str::FromStr;

use hoffman_board::{FuturemoveKind, OutcomeBounds};
use hoffman_reader::shakmaty::Color;

use crate::exclusion::letters;
use crate::what_if::{MovesOfSide, WhatIf, WhatIfError};

/// What a side is to reach, whatever the other one plays. Half of what is asked of a position
/// without a goal is enough to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The side that is to reach it.
    pub side: Color,
    /// What it is to reach.
    pub aim: Aim,
}

/// What may be reached. Mate always counts as well, but a draw in [`Aim::Draw`] only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aim {
    /// To win.
    Mate,
    /// Not to lose.
    Draw,
    /// To promote a pawn.
    Queen,
    /// That a side has no move and is not in check.
    Stalemate,
    /// To take a piece of these letters, as in `QR`.
    Piece(String),
}

impl FromStr for Aim {
    type Err = WhatIfError;

    fn from_str(text: &str) -> Result<Aim, WhatIfError> {
        Ok(match text {
            "mate" => Aim::Mate,
            "draw" => Aim::Draw,
            "queen" => Aim::Queen,
            "stalemate" => Aim::Stalemate,
            "win-of-piece" => Aim::Piece("QRBN".to_owned()),
            _ => match text.strip_prefix("win-of-piece=") {
                Some(pieces) => Aim::Piece(letters(pieces, "QRBNP")?),
                None => return Err(WhatIfError::Aim(text.to_owned())),
            },
        })
    }
}

impl Goal {
    /// The moves by which the goal is reached: they win.
    #[must_use]
    pub fn assumes(&self) -> Vec<WhatIf> {
        let patterns = match &self.aim {
            Aim::Mate | Aim::Draw => Vec::new(),
            Aim::Stalemate => return vec![WhatIf::Stalemates(self.side)],
            Aim::Queen => vec!["P*=?".to_owned()],
            Aim::Piece(pieces) => vec![format!("?x[{pieces}]*")],
        };
        let moves = patterns.iter().filter_map(|text| MovesOfSide::of(self.side, text).ok());
        moves.map(WhatIf::Won).collect()
    }

    /// The kinds of moves by which it is reached.
    pub(crate) fn kinds(&self) -> Vec<FuturemoveKind> {
        let of = |what: &WhatIf| match what {
            WhatIf::Won(moves) => moves.kinds().collect(),
            _ => Vec::new(),
        };
        self.assumes().iter().flat_map(of).collect()
    }

    /// The side of which it is asked whether it wins.
    pub(crate) fn asks_of(&self) -> Color {
        if self.aim == Aim::Draw { self.side.other() } else { self.side }
    }

    /// Whether it is reached, as far as that is certain.
    pub(crate) fn is_reached(&self, bounds: OutcomeBounds) -> Option<bool> {
        let (side, other) = (self.side, self.side.other());
        if self.aim == Aim::Draw {
            let lost = bounds.known().and_then(hoffman_board::Outcome::winner) == Some(other);
            return if bounds.is_held_by(side) { Some(true) } else { lost.then_some(false) };
        }
        let won = bounds.known().and_then(hoffman_board::Outcome::winner) == Some(side);
        if won { Some(true) } else { bounds.is_held_by(other).then_some(false) }
    }
}

impl fmt::Display for Goal {
    /// `White promotes or mates`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = self.side.fold_wb("White", "Black");
        match &self.aim {
            Aim::Mate => write!(f, "{side} wins"),
            Aim::Draw => write!(f, "{side} does not lose"),
            Aim::Queen => write!(f, "{side} promotes or mates"),
            Aim::Stalemate => write!(f, "{side} comes to stalemate or mates"),
            Aim::Piece(pieces) => write!(f, "{side} takes one of {pieces} or mates"),
        }
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Outcome;

    use super::*;

    #[test]
    fn goals_are_reached_as_far_as_bounds_tell() {
        let goal = |aim: &str| Goal { side: Color::Black, aim: aim.parse().unwrap() };
        let bounds = |least, most| OutcomeBounds { least, most };
        let (black, draw, white) = (Outcome::BlackWins, Outcome::Draw, Outcome::WhiteWins);
        for (least, most, wins, holds) in [
            (black, black, Some(true), Some(true)),
            (black, draw, None, Some(true)),
            (draw, draw, Some(false), Some(true)),
            (draw, white, Some(false), None),
            (white, white, Some(false), Some(false)),
            (black, white, None, None),
        ] {
            assert_eq!(goal("mate").is_reached(bounds(least, most)), wins);
            assert_eq!(goal("queen").is_reached(bounds(least, most)), wins);
            assert_eq!(goal("draw").is_reached(bounds(least, most)), holds);
        }
    }

    #[test]
    fn goals_are_read_and_told_in_words() {
        let told = |aim: &str| Goal { side: Color::White, aim: aim.parse().unwrap() }.to_string();
        assert_eq!(told("win-of-piece"), "White takes one of QRBN or mates");
        assert_eq!(told("win-of-piece=rp"), "White takes one of RP or mates");
        assert_eq!(told("stalemate"), "White comes to stalemate or mates");
        for wrong in ["", "win", "win-of-piece=", "win-of-piece=K"] {
            assert!(wrong.parse::<Aim>().is_err(), "{wrong}");
        }
    }
}
