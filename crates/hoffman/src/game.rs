//! What tables say of moves that are played: whether they changed the result, and what was best.

use hoffman_board::Color;
use hoffman_probe::moves::Move;
use hoffman_reader::{AsPosition, Error as ProbeError, MoveAnswer, Tablebase, Value, Wdl};

/// A position with all of its moves.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The side to move.
    pub turn: Color,
    /// What is proved of the position, for the side to move.
    pub value: Value,
    /// The legal moves, best first.
    pub moves: Vec<MoveAnswer>,
}

/// What a move did to the result, for the side that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing, and no move does better: as soon a win, as late a loss.
    Best,
    /// The result is the same, but the win takes longer, or the loss comes sooner.
    Slower,
    /// A half point: a win became a draw, or a draw a loss.
    HalfPoint,
    /// A win became a loss.
    FullPoint,
    /// The tables do not tell.
    Unknown,
}

impl Judged {
    /// Asks the tables about a position; none if no table has it, as one with castling rights, or
    /// if nothing is proved of its result.
    ///
    /// # Errors
    /// A table is damaged.
    pub fn of(tables: &Tablebase, position: impl AsPosition) -> Result<Option<Judged>, ProbeError> {
        let position = match position.as_position(tables.variant()) {
            Ok(position) => position.into_owned(),
            Err(_) => return Ok(None),
        };
        let value = match tables.probe(&position) {
            Ok(answer) => answer.value,
            Err(ProbeError::NoTable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if value.wdl().is_none() {
            return Ok(None);
        }
        let moves = tables.moves(&position)?;
        Ok(Some(Judged { turn: position.turn, value, moves }))
    }

    /// What a move is worth to the side to move, distances counted from before the move; none if
    /// that is not proved, or the move is none.
    pub fn worth(&self, m: Move) -> Option<Value> {
        self.moves.iter().find(|answer| answer.m == m)?.worth()
    }

    /// The moves that keep the value: the result, and the distance if there is one.
    pub fn keeping(&self) -> impl Iterator<Item = &MoveAnswer> {
        self.moves.iter().filter(|answer| answer.worth() == Some(self.value))
    }

    /// How many moves keep the result.
    pub fn keeping_result(&self) -> usize {
        let result = |value: Value| value.wdl();
        let kept = self.moves.iter().filter_map(MoveAnswer::worth).map(result);
        kept.filter(|kept| *kept == self.value.wdl()).count()
    }

    /// What a move does to the result.
    pub fn change(&self, m: Move) -> Change {
        let (Some(before), Some(worth)) = (self.value.wdl(), self.worth(m)) else {
            return Change::Unknown;
        };
        match (before, worth.wdl()) {
            (Wdl::Win, Some(Wdl::Loss)) => Change::FullPoint,
            (before, Some(after)) if after < before => Change::HalfPoint,
            (_, Some(_)) if worth == self.value => Change::Best,
            (_, Some(_)) => Change::Slower,
            (_, None) => Change::Unknown,
        }
    }
}
