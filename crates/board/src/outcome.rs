//! The outcome of a position, and what is known of it.

use shakmaty::Color;

/// How a position ends with best play of both sides, worse for White first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Black wins.
    BlackWins,
    /// Neither side wins.
    Draw,
    /// White wins.
    WhiteWins,
}

impl Outcome {
    /// The outcome in which a side wins.
    pub const fn won_by(color: Color) -> Outcome {
        match color {
            Color::White => Outcome::WhiteWins,
            Color::Black => Outcome::BlackWins,
        }
    }

    /// The winner, if there is one.
    pub const fn winner(self) -> Option<Color> {
        match self {
            Outcome::BlackWins => Some(Color::Black),
            Outcome::Draw => None,
            Outcome::WhiteWins => Some(Color::White),
        }
    }

    /// The same with the colours exchanged.
    #[must_use]
    pub const fn swapped(self) -> Outcome {
        match self {
            Outcome::BlackWins => Outcome::WhiteWins,
            Outcome::Draw => Outcome::Draw,
            Outcome::WhiteWins => Outcome::BlackWins,
        }
    }
}

/// What is known of an outcome: it lies between two, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutcomeBounds {
    /// The worst for White that is possible.
    pub least: Outcome,
    /// The best for White that is possible.
    pub most: Outcome,
}

impl OutcomeBounds {
    /// Nothing is known.
    pub const UNKNOWN: OutcomeBounds =
        OutcomeBounds { least: Outcome::BlackWins, most: Outcome::WhiteWins };

    /// The outcome is known.
    pub const fn exactly(outcome: Outcome) -> OutcomeBounds {
        OutcomeBounds { least: outcome, most: outcome }
    }

    /// The outcome, if it is known.
    pub fn known(self) -> Option<Outcome> {
        (self.least == self.most).then_some(self.least)
    }

    /// Whether a side is known to win.
    pub fn is_won_by(self, color: Color) -> bool {
        self == OutcomeBounds::exactly(Outcome::won_by(color))
    }

    /// Whether a side is known not to lose.
    pub fn is_held_by(self, color: Color) -> bool {
        match color {
            Color::White => self.least >= Outcome::Draw,
            Color::Black => self.most <= Outcome::Draw,
        }
    }

    /// The same with the colours exchanged.
    #[must_use]
    pub const fn swapped(self) -> OutcomeBounds {
        OutcomeBounds { least: self.most.swapped(), most: self.least.swapped() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_colours_exchanges_the_bounds() {
        let white_holds = OutcomeBounds { least: Outcome::Draw, most: Outcome::WhiteWins };
        let black_holds = OutcomeBounds { least: Outcome::BlackWins, most: Outcome::Draw };
        assert_eq!(white_holds.swapped(), black_holds);
        assert!(white_holds.is_held_by(Color::White) && !white_holds.is_held_by(Color::Black));
        assert!(black_holds.is_held_by(Color::Black) && black_holds.known().is_none());
        let won = OutcomeBounds::exactly(Outcome::WhiteWins);
        assert!(won.is_won_by(Color::White) && won.swapped().is_won_by(Color::Black));
        assert_eq!(OutcomeBounds::UNKNOWN.swapped(), OutcomeBounds::UNKNOWN);
    }
}
