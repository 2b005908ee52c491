//! What only the moves of a position tell: whether one of them alone keeps the result, and whether
//! the winner never has a choice.

use hoffman_board::{Color, Outcome, OutcomeBounds, Value};
use hoffman_control::PruneEffect;
use hoffman_table::{EntryValue, Table};

use super::candidates::Scan;
use super::seen::SeenPlace;
use super::{ListError, UniqueLine};
use crate::collection::table_name;
use crate::lines::{Known, assess_move};
use crate::moves::Move;
use crate::open_table::outcomes_of;
use crate::position::Position;

/// A move and what it leads to.
struct LineStep {
    m: Move,
    after: Position,
    /// The outcome by the rules of the table; none if nothing is said of it.
    outcomes: Option<OutcomeBounds>,
    /// The value of the position before the move, if it is played.
    value: Option<Value>,
    /// Who answers for the position behind the move, by the rules of a table with prunes.
    known: Option<Known>,
}

impl LineStep {
    /// Whether it keeps an outcome that is known.
    fn keeps(&self, outcome: Outcome) -> bool {
        self.outcomes.and_then(OutcomeBounds::known) == Some(outcome)
    }
}

impl Scan<'_> {
    /// The only move that keeps the result; none if there are others, or no other at all.
    pub(super) fn only_move(
        &self,
        position: &Position,
        known: &Known,
    ) -> Result<Option<Move>, ListError> {
        let Some(outcome) = known.outcomes().and_then(OutcomeBounds::known) else {
            return Ok(None);
        };
        let moves = position.legal_moves(self.variant());
        if moves.len() < 2 {
            return Ok(None);
        }
        let mut only = None;
        for m in moves {
            let Some(step) = self.step(position, known, m)? else { continue };
            if step.keeps(outcome) && only.replace(m).is_some() {
                return Ok(None);
            }
        }
        Ok(only)
    }

    /// A line of best play in which the winner never has a choice; none if there is none. The
    /// loser has all moves that lose last, of which one that leads to such a line is enough. The
    /// line is empty unless it is `shown`.
    pub(super) fn unique_line(
        &self,
        position: &Position,
        known: &Known,
        (how, shown): (UniqueLine, bool),
    ) -> Result<Option<Vec<Move>>, ListError> {
        let Some(value) = known.distance() else { return Ok(None) };
        let Some(winner) = value.winner(known.turn) else { return Ok(None) };
        let search = LineSearch { scan: self, winner, how };
        if !search.is_unique((position, known), value)? {
            return Ok(None);
        }
        if shown { search.line((position, known), value).map(Some) } else { Ok(Some(Vec::new())) }
    }

    /// What a move leads to; none if the rules of the table know no such move.
    fn step(
        &self,
        position: &Position,
        known: &Known,
        m: Move,
    ) -> Result<Option<LineStep>, ListError> {
        let plain = known.hit.as_ref().is_some_and(|hit| hit.member.is_plain());
        if !plain {
            return self.step_of_rules(position, known, m);
        }
        let after = position.after(&m);
        let value = self.value_of(&after)?;
        let outcomes = outcomes_of(value, after.turn);
        let value = Table::exact(value).and_then(Value::negate);
        Ok(Some(LineStep { m, after, outcomes, value, known: None }))
    }

    /// The same by the rules of a table with prunes.
    fn step_of_rules(
        &self,
        position: &Position,
        known: &Known,
        m: Move,
    ) -> Result<Option<LineStep>, ListError> {
        let option = assess_move(self.collection(), known, position, m);
        if let Some(failure) = option.failure {
            return Err(failure.into());
        }
        let (outcomes, value) = match option.pruned {
            Some(PruneEffect::Discard) => return Ok(None),
            Some(PruneEffect::Concede) => {
                let won = OutcomeBounds::exactly(Outcome::won_by(position.turn));
                (Some(won), Some(Value::Win(1)))
            }
            None => (option.known.outcomes(), option.known.distance().and_then(Value::negate)),
        };
        if let Some(table) = option.missing {
            return Err(ListError::Missing { table });
        }
        let known = Some(option.known);
        Ok(Some(LineStep { m, after: option.after, outcomes, value, known }))
    }

    /// What a table of chess says of a position behind a move: this one, from memory, or another;
    /// or what the rules say.
    fn value_of(&self, position: &Position) -> Result<EntryValue, ListError> {
        if let Some(value) = self.held_value(position) {
            return Ok(value);
        }
        let hit = self.collection().lookup_plain(position)?;
        let known = Known::of(position, self.variant(), hit);
        known.said.ok_or_else(|| ListError::Missing { table: table_name(&position.material()) })
    }
}

/// The search for a line without a choice of the winner.
struct LineSearch<'s> {
    scan: &'s Scan<'s>,
    winner: Color,
    how: UniqueLine,
}

/// A position, and who answers for it.
pub(super) type Answered<'a> = (&'a Position, &'a Known);

impl LineSearch<'_> {
    /// Whether there is a line from a position of that value on.
    fn is_unique(&self, answered: Answered<'_>, value: Value) -> Result<bool, ListError> {
        if is_end(answered.0, value) {
            return Ok(true);
        }
        let place = SeenPlace::new(self.scan, answered);
        if let Some(found) = place.get() {
            return Ok(found);
        }
        let found = self.next(answered, value)?.is_some();
        place.set(found);
        Ok(found)
    }

    /// The first step of such a line, and the value behind it; none if there is none.
    fn next(
        &self,
        answered: Answered<'_>,
        value: Value,
    ) -> Result<Option<(LineStep, Value)>, ListError> {
        let (position, known) = answered;
        if position.turn == self.winner {
            let Some(step) = self.only_win(answered, value)? else { return Ok(None) };
            let after = Value::Loss(moves_of(value).saturating_sub(1));
            return Ok(self.goes_on(&step, known, after)?.then_some((step, after)));
        }
        let after = Value::Win(moves_of(value));
        for m in position.legal_moves(self.scan.variant()) {
            let step = self.scan.step(position, known, m)?;
            let Some(step) = step.filter(|step| step.value == Some(value)) else { continue };
            if self.goes_on(&step, known, after)? {
                return Ok(Some((step, after)));
            }
        }
        Ok(None)
    }

    /// Whether there is a line behind a step from a position that `known` answers for; a table of
    /// chess goes on answering.
    fn goes_on(&self, step: &LineStep, known: &Known, value: Value) -> Result<bool, ListError> {
        self.is_unique((&step.after, step.known.as_ref().unwrap_or(known)), value)
    }

    /// The line from a position that has one.
    fn line(&self, from: Answered<'_>, value: Value) -> Result<Vec<Move>, ListError> {
        let mut line = Vec::new();
        let (mut position, mut known, mut value) = (from.0.clone(), None, value);
        while !is_end(&position, value) {
            let answered = (&position, known.as_ref().unwrap_or(from.1));
            let Some((step, after)) = self.next(answered, value)? else { break };
            line.push(step.m);
            (position, known, value) = (step.after, step.known.or(known), after);
        }
        Ok(line)
    }

    /// The only move that wins, or wins soonest.
    fn only_win(
        &self,
        (position, known): Answered<'_>,
        value: Value,
    ) -> Result<Option<LineStep>, ListError> {
        let outcome = Outcome::won_by(self.winner);
        let mut only: Option<LineStep> = None;
        for m in position.legal_moves(self.scan.variant()) {
            let Some(step) = self.scan.step(position, known, m)? else { continue };
            let counts = match self.how {
                UniqueLine::Winning => step.keeps(outcome),
                UniqueLine::Fastest => step.value == Some(value),
            };
            if counts && only.replace(step).is_some() {
                return Ok(None);
            }
        }
        Ok(only.filter(|step| step.value == Some(value)))
    }
}

/// Whether the game is over in a position of that value; in suicide chess a side without men has
/// won, though tables count a move more.
fn is_end(position: &Position, value: Value) -> bool {
    matches!(value, Value::Loss(0) | Value::Win(0))
        || position.board.by_color(position.turn).is_empty()
}

/// The moves of the winner to the end.
fn moves_of(value: Value) -> u16 {
    match value {
        Value::Win(moves) | Value::Loss(moves) => moves,
        Value::Draw | Value::Illegal => 0,
    }
}
