//! What positions and moves are worth when it is only partly known.

use hoffman_board::{Color, Outcome, OutcomeBounds, Value};
use hoffman_control::Claims;
use hoffman_table::EntryValue;

/// A set of outcomes for the player to move: what a position may be worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcomes(pub(super) u8);

impl Outcomes {
    pub(super) const NONE: Outcomes = Outcomes(0);
    pub(super) const LOSS: Outcomes = Outcomes(1);
    pub(super) const DRAW: Outcomes = Outcomes(2);
    pub(super) const WIN: Outcomes = Outcomes(4);
    pub(super) const ANY: Outcomes = Outcomes(7);

    pub(super) fn of(value: EntryValue) -> Outcomes {
        match value {
            EntryValue::Exact(Value::Win(_)) | EntryValue::Win => Outcomes::WIN,
            EntryValue::Exact(Value::Draw) | EntryValue::Draw => Outcomes::DRAW,
            EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => Outcomes::LOSS,
            EntryValue::Exact(Value::Illegal) | EntryValue::Illegal => Outcomes::NONE,
            EntryValue::WinOrDraw => Outcomes(6),
            EntryValue::DrawOrLoss => Outcomes(3),
            EntryValue::Unknown => Outcomes::ANY,
        }
    }

    pub(super) const fn meets(self, other: Outcomes) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_within(self, other: Outcomes) -> bool {
        self.0 & !other.0 == 0
    }

    /// The same seen by the opponent.
    pub(super) const fn turned(self) -> Outcomes {
        Outcomes(self.0 >> 2 | self.0 & 2 | (self.0 & 1) << 2)
    }

    /// What the better of two moves may be worth.
    pub(super) fn or_better(self, other: Outcomes) -> Outcomes {
        // An outcome is possible if one move may have it and the other one need not have a better
        // one.
        let upward = |set: u8| {
            let lowest = set & set.wrapping_neg();
            !(lowest.wrapping_sub(1)) & 7
        };
        match (self.0, other.0) {
            (0, _) => other,
            (_, 0) => self,
            (a, b) => Outcomes((a | b) & upward(a) & upward(b)),
        }
    }

    /// What these prove of chess, for the player to move, by the claims of a table.
    pub(super) fn proved(self, claims: Claims, turn: Color) -> Outcomes {
        let all = [Outcome::won_by(turn.other()), Outcome::Draw, Outcome::won_by(turn)];
        let mut proved = 0;
        let said = all.into_iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 != 0);
        for (_, outcome) in said {
            let bounds = claims.prove(OutcomeBounds::exactly(outcome));
            for (other, possible) in all.into_iter().enumerate() {
                let within = bounds.least <= possible && possible <= bounds.most;
                proved |= u8::from(within) << other;
            }
        }
        Outcomes(proved)
    }

    pub(super) const fn words(self) -> &'static str {
        match self.0 {
            1 => "loss",
            2 => "draw",
            3 => "draw or loss",
            4 => "win",
            6 => "win or draw",
            0 => "illegal",
            _ => "unknown",
        }
    }
}

pub(super) fn words_of(value: EntryValue) -> String {
    match value {
        EntryValue::Exact(value) => words_of_exact(value),
        other => Outcomes::of(other).words().to_owned(),
    }
}

pub(super) fn words_of_exact(value: Value) -> String {
    match value {
        Value::Illegal => "illegal".to_owned(),
        Value::Draw => "draw".to_owned(),
        Value::Win(moves) => format!("win in {moves}"),
        Value::Loss(moves) => format!("loss in {moves}"),
    }
}

/// What a move is worth to the player who makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    pub(super) outcomes: Outcomes,
    /// Known to the move, or not at all.
    pub(super) exact: Option<Value>,
}

impl Worth {
    /// Of a move into a position that is worth `value` to the opponent.
    pub(super) fn before(value: EntryValue) -> Worth {
        match value {
            EntryValue::Exact(value) => match value.negate() {
                Some(value) => Worth::exactly(value),
                None => Worth::UNKNOWN,
            },
            EntryValue::Draw => Worth::exactly(Value::Draw),
            EntryValue::Illegal | EntryValue::Unknown => Worth::UNKNOWN,
            other => Worth { outcomes: Outcomes::of(other).turned(), exact: None },
        }
    }

    pub(super) const UNKNOWN: Worth = Worth { outcomes: Outcomes::ANY, exact: None };

    pub(super) fn exactly(value: Value) -> Worth {
        Worth { outcomes: Outcomes::of(EntryValue::Exact(value)), exact: Some(value) }
    }

    /// With the distance to a conversion that is made at once.
    pub(super) fn converting(self) -> Worth {
        match self.outcomes {
            Outcomes::WIN => Worth::exactly(Value::Win(1)),
            Outcomes::LOSS => Worth::exactly(Value::Loss(1)),
            Outcomes::DRAW => Worth::exactly(Value::Draw),
            outcomes => Worth { outcomes, exact: None },
        }
    }
}

/// The best of the moves seen so far.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) outcomes: Outcomes,
    pub(super) win: Option<u16>,
    pub(super) loss: u16,
    /// The outcomes of moves whose distance is not known.
    pub(super) inexact: Outcomes,
    pub(super) moves: u32,
}

impl Best {
    pub(super) fn new() -> Best {
        let none = Outcomes::NONE;
        Best { outcomes: none, win: None, loss: 0, inexact: none, moves: 0 }
    }

    pub(super) fn take(&mut self, worth: Worth) {
        self.moves += 1;
        self.outcomes = self.outcomes.or_better(worth.outcomes);
        match worth.exact {
            Some(Value::Win(moves)) => self.win = Some(self.win.map_or(moves, |w| w.min(moves))),
            Some(Value::Loss(moves)) => self.loss = self.loss.max(moves),
            Some(_) => {}
            None => self.inexact = Outcomes(self.inexact.0 | worth.outcomes.0),
        }
    }

    /// Whether no move is better than those seen, in a table with distances or without.
    pub(super) fn is_settled(&self, has_distance: bool) -> bool {
        self.outcomes == Outcomes::WIN
            && (!has_distance || self.worth().exact == Some(Value::Win(1)))
    }

    /// What is behind a move that is as good as the best one, for the opponent. Where he has more,
    /// the move is no better.
    pub(super) fn as_good_behind(&self) -> Option<Value> {
        if self.moves == 0 {
            return None;
        }
        match self.worth().exact? {
            Value::Win(moves) => Some(Value::Loss(moves.checked_sub(1)?)),
            Value::Draw => Some(Value::Draw),
            Value::Loss(moves) => Some(Value::Win(moves)),
            Value::Illegal => None,
        }
    }

    pub(super) fn worth(&self) -> Worth {
        let sure = |outcome| !self.inexact.meets(outcome);
        let exact = match self.outcomes {
            Outcomes::WIN if sure(Outcomes::WIN) => self.win.map(Value::Win),
            Outcomes::DRAW => Some(Value::Draw),
            Outcomes::LOSS if sure(Outcomes::LOSS) => Some(Value::Loss(self.loss)),
            _ => None,
        };
        Worth { outcomes: self.outcomes, exact }
    }
}
