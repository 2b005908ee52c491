//! What is known of a position, with the units of all distances.

use std::fmt;
use std::path::Path;

use hoffman_board::{self as board, Color, Outcome, OutcomeBounds, Variant};
use hoffman_control::{Assumption, PruneEffect};
use hoffman_probe::lines::{Bound, GameEnd, Known};
use hoffman_probe::lookup::Hit;
use hoffman_probe::moves::Move;
use hoffman_probe::position::Position;

use crate::error::Error;

/// A number of plies: moves of either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plies(pub u32);

/// A number of moves of one side, as version 1.7 of the program counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moves(pub u32);

impl Plies {
    /// The moves of the winner among them: mate in so many moves.
    pub fn moves(self) -> Moves {
        Moves(self.0.div_ceil(2))
    }
}

impl fmt::Display for Plies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Moves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is proved of a position under the rules of chess (or of suicide chess, if the tables are
/// about that), for the side to move. The fifty-move rule and castling are not regarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Value {
    /// The side to move wins.
    Win {
        /// Plies to mate: the fewest if the answer is [`Bound::Exact`], else at most so many. None
        /// if the table does not count them.
        plies: Option<Plies>,
    },
    /// Neither side can force a win.
    Draw,
    /// The side to move loses; it is mated already if the distance is 0.
    Loss {
        /// Plies to mate, as above, if both sides play as well as they can.
        plies: Option<Plies>,
    },
    /// The side to move does not lose; whether it wins is not known.
    AtLeastDraw,
    /// The side to move does not win; whether it loses is not known.
    AtMostDraw,
    /// The table that has the position proves nothing of it.
    Unknown,
}

impl Value {
    /// Whether the side to move wins for certain.
    pub const fn is_win(self) -> bool {
        matches!(self, Value::Win { .. })
    }

    /// Whether it is drawn, for certain.
    pub const fn is_draw(self) -> bool {
        matches!(self, Value::Draw)
    }

    /// Whether the side to move loses for certain.
    pub const fn is_loss(self) -> bool {
        matches!(self, Value::Loss { .. })
    }

    /// The result; none if it is not proved.
    pub const fn wdl(self) -> Option<Wdl> {
        match self {
            Value::Win { .. } => Some(Wdl::Win),
            Value::Draw => Some(Wdl::Draw),
            Value::Loss { .. } => Some(Wdl::Loss),
            Value::AtLeastDraw | Value::AtMostDraw | Value::Unknown => None,
        }
    }

    /// The same for the other side.
    #[must_use]
    pub const fn negate(self) -> Value {
        match self {
            Value::Win { plies } => Value::Loss { plies },
            Value::Loss { plies } => Value::Win { plies },
            Value::AtLeastDraw => Value::AtMostDraw,
            Value::AtMostDraw => Value::AtLeastDraw,
            Value::Draw | Value::Unknown => self,
        }
    }

    /// What bounds of an outcome are to the side to move, with the plies to mate if they are known.
    #[doc(hidden)]
    pub fn of_bounds(proved: OutcomeBounds, turn: Color, plies: Option<Plies>) -> Value {
        match proved.known().map(Outcome::winner) {
            Some(Some(winner)) if winner == turn => Value::Win { plies },
            Some(Some(_)) => Value::Loss { plies },
            Some(None) => Value::Draw,
            None if proved.is_held_by(turn) => Value::AtLeastDraw,
            None if proved.is_held_by(turn.other()) => Value::AtMostDraw,
            None => Value::Unknown,
        }
    }

    fn new(known: &Known) -> Value {
        Value::of_bounds(known.proved, known.turn, mate(known))
    }
}

/// Plies to mate, if a table has them and means the outcome that is proved.
fn mate(known: &Known) -> Option<Plies> {
    let agrees = known.outcomes() == Some(known.proved);
    let distance = known.distance().filter(|_| agrees && !known.counts_conversions());
    distance.and_then(board::Value::plies).map(|plies| Plies(plies.unsigned_abs()))
}

/// A result for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wdl {
    /// It loses.
    Loss,
    /// Neither side can force a win.
    Draw,
    /// It wins.
    Win,
}

impl Wdl {
    /// The same for the other side.
    #[must_use]
    pub const fn negate(self) -> Wdl {
        match self {
            Wdl::Loss => Wdl::Win,
            Wdl::Draw => Wdl::Draw,
            Wdl::Win => Wdl::Loss,
        }
    }
}

/// The answer to a position.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What is proved of it.
    pub value: Value,
    /// What the answer is of the truth, seen from White.
    pub bound: Bound,
    /// The table that answers; none where the rules of chess alone do.
    pub table: Option<TableAnswer>,
    /// How the game has ended, if it has.
    pub end: Option<GameEnd>,
}

/// What a table says, by its own rules.
#[derive(Clone, Debug)]
pub struct TableAnswer {
    hit: Hit,
    conversion: Option<Moves>,
}

/// What a table says of a position for the side to move, by its own rules. Where these are not
/// those of chess, it proves less; see [`Answer::value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Said {
    /// The side to move wins: in so many plies, if the table counts them.
    Win(Option<Plies>),
    /// A draw.
    Draw,
    /// The side to move loses.
    Loss(Option<Plies>),
    /// A bitbase does not tell a win from a draw.
    WinOrDraw,
    /// A bitbase does not tell a draw from a loss.
    DrawOrLoss,
}

impl Said {
    /// What bounds of an outcome are to the side to move, with the plies to mate if they are known.
    #[doc(hidden)]
    pub fn of_bounds(said: OutcomeBounds, turn: Color, plies: Option<Plies>) -> Said {
        match said.known().map(Outcome::winner) {
            Some(Some(winner)) if winner == turn => Said::Win(plies),
            Some(Some(_)) => Said::Loss(plies),
            Some(None) => Said::Draw,
            None if said.is_held_by(turn) => Said::WinOrDraw,
            None => Said::DrawOrLoss,
        }
    }
}

impl Answer {
    pub(crate) fn new(known: Known) -> Answer {
        let (value, bound, end) = (Value::new(&known), known.bound(), known.end);
        let conversion = known.counts_conversions().then(|| moves_of(known.distance())).flatten();
        let table = known.hit.map(|hit| TableAnswer { hit, conversion });
        Answer { value, bound, table, end }
    }

    /// The moves to a capture, promotion or mate, of the side that wins; none where the table does
    /// not count them.
    pub fn conversion(&self) -> Option<Moves> {
        self.table.as_ref()?.conversion
    }
}

fn moves_of(value: Option<board::Value>) -> Option<Moves> {
    match value? {
        board::Value::Win(moves) | board::Value::Loss(moves) => Some(Moves(moves.into())),
        board::Value::Draw | board::Value::Illegal => None,
    }
}

impl TableAnswer {
    /// The file.
    pub fn path(&self) -> &Path {
        self.hit.table().path()
    }

    /// The index of the position in it.
    pub fn index(&self) -> u64 {
        self.hit.index
    }

    /// In what the game of the table is not chess; empty if it is.
    pub fn assumes(&self) -> &[Assumption] {
        if self.hit.claims.is_exact() { &[] } else { self.hit.assumptions() }
    }

    /// What it says; none if the entry is no result.
    pub fn said(&self) -> Option<Said> {
        let said = self.hit.said()?;
        let plies = match self.hit.value {
            _ if self.conversion.is_some() => None,
            hoffman_table::EntryValue::Exact(value) => {
                value.plies().map(|plies| Plies(plies.unsigned_abs()))
            }
            _ => None,
        };
        Some(Said::of_bounds(said, self.hit.turn, plies))
    }

    /// The rules it is about.
    pub fn variant(&self) -> Variant {
        self.hit.table().variant()
    }
}

/// A legal move and what it leads to.
#[derive(Debug)]
#[non_exhaustive]
pub struct MoveAnswer {
    /// The move.
    pub m: Move,
    /// Its name, as `Kd3` or `e8=Q+`.
    pub san: String,
    /// The position after it.
    pub after: Position,
    /// What is known of that position, for the side then to move. A table that is missing or
    /// damaged spoils its move only.
    pub answer: Result<Answer, Error>,
    /// What the table that answers for the position before the move makes of it, if that table
    /// prunes it.
    pub pruned: Option<PruneEffect>,
}

impl MoveAnswer {
    /// What the move is worth to the side that makes it, distances counted from before the move,
    /// so that the value of the best move is that of the position; none if the result is not
    /// proved.
    pub fn worth(&self) -> Option<Value> {
        let later = |plies: Option<Plies>| plies.map(|plies| Plies(plies.0 + 1));
        match self.answer.as_ref().ok()?.value.negate() {
            Value::Win { plies } => Some(Value::Win { plies: later(plies) }),
            Value::Loss { plies } => Some(Value::Loss { plies: later(plies) }),
            Value::Draw => Some(Value::Draw),
            Value::AtLeastDraw | Value::AtMostDraw | Value::Unknown => None,
        }
    }
}
