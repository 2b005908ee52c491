//! What a position is worth, with its unit and sign, and the forms tables store it in.
//!
//! Distances in this project are counted in *moves* of the winning side unless a name says plies.
//! The file format stores `moves + 1`, see [`Value::from_stored`].

use shakmaty::Color;

/// The rules a table is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Orthodox chess without castling, the fifty-move rule and repetition.
    #[default]
    Normal,
    /// Suicide chess: captures are forced, kings are ordinary pieces, a side that cannot move has
    /// won.
    Suicide,
}

/// The value of a position for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The player not to move is in check: no game reaches the position. Never a result of suicide
    /// chess.
    Illegal,
    /// Neither side can force the end.
    Draw,
    /// The player to move wins with its move number `.0`, counted from 1. In suicide chess 0: it
    /// cannot move and has won.
    Win(u16),
    /// The player to move loses to the opponent's move number `.0`; 0 is checkmate on the board.
    Loss(u16),
}

impl Value {
    /// The value behind a stored `dtm` or `dtc` number: 0 draw, 1 illegal (suicide: won already),
    /// `n >= 2` win in `n - 1` moves, `-n` loss in `n - 1` moves.
    pub const fn from_stored(stored: i32, variant: Variant) -> Value {
        match (stored, variant) {
            (0, _) => Value::Draw,
            (1, Variant::Normal) => Value::Illegal,
            (n, _) if n > 0 => Value::Win((n - 1) as u16),
            (n, _) => Value::Loss((-(n + 1)) as u16),
        }
    }

    /// The number stored for the value in a `dtm` or `dtc` table.
    pub const fn to_stored(self) -> i32 {
        match self {
            Value::Illegal => 1,
            Value::Draw => 0,
            Value::Win(moves) => moves as i32 + 1,
            Value::Loss(moves) => -(moves as i32) - 1,
        }
    }

    /// Distance to the end in plies, positive if the player to move wins, negative or zero if it
    /// loses; none for a draw or an illegal position.
    pub const fn plies(self) -> Option<i32> {
        match self {
            Value::Illegal | Value::Draw => None,
            Value::Win(moves) => Some(2 * moves as i32 - 1),
            Value::Loss(moves) => Some(-2 * moves as i32),
        }
    }

    /// What the value is worth to the player who moves into the position; none if the move is
    /// illegal.
    pub const fn negate(self) -> Option<Value> {
        match self {
            Value::Illegal => None,
            Value::Draw => Some(Value::Draw),
            Value::Win(moves) => Some(Value::Loss(moves)),
            Value::Loss(moves) => Some(Value::Win(moves + 1)),
        }
    }

    /// A key by which larger is better for the player to move: quick wins, slow wins, draws, slow
    /// losses, quick losses; illegal positions last.
    pub const fn preference(self) -> i32 {
        match self {
            Value::Illegal => i32::MIN,
            Value::Draw => 0,
            Value::Win(moves) => 100_000 - moves as i32,
            Value::Loss(moves) => -100_000 + moves as i32,
        }
    }

    /// The winner, given the side to move.
    pub const fn winner(self, to_move: Color) -> Option<Color> {
        match self {
            Value::Illegal | Value::Draw => None,
            Value::Win(_) => Some(to_move),
            Value::Loss(_) => Some(to_move.other()),
        }
    }
}

/// Which side a one-bit table speaks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlagType {
    /// The bit says whether White wins.
    WhiteWins,
    /// The bit says whether White wins or draws.
    WhiteDraws,
}

/// What an entry of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Distance to mate in moves, plus one, signed; the field width in bits if it was asked for.
    Dtm(Option<u8>),
    /// Distance to conversion, coded the same way.
    Dtc(Option<u8>),
    /// Win, draw, loss or illegal, two bits.
    Basic,
    /// One bit.
    Flag(FlagType),
}

impl Format {
    /// Whether entries carry distances.
    pub const fn has_distance(self) -> bool {
        matches!(self, Format::Dtm(_) | Format::Dtc(_))
    }

    /// The word the format goes by: `dtm`, `dtc`, `basic` or `flag`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Dtm(_) => "dtm",
            Format::Dtc(_) => "dtc",
            Format::Basic => "basic",
            Format::Flag(_) => "flag",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_numbers_round_trip() {
        for stored in -300..300 {
            assert_eq!(Value::from_stored(stored, Variant::Normal).to_stored(), stored);
        }
        assert_eq!(Value::from_stored(-1, Variant::Normal), Value::Loss(0));
        assert_eq!(Value::from_stored(11, Variant::Normal).plies(), Some(19));
        assert_eq!(Value::from_stored(-11, Variant::Normal).plies(), Some(-20));
        assert_eq!(Value::from_stored(1, Variant::Suicide), Value::Win(0));
    }
}
