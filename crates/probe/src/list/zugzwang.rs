//! When having to move is a disadvantage: the same men with the other side to move are better for
//! the side that moves.
//!
//! Where the results differ, the zugzwang is mutual by itself: if Black does worse with Black to
//! move than with White to move, then White does worse with White to move. Where they are the
//! same, distances decide, and a pass counts as a move: a side that would mate in 5 moves after a
//! pass does so 11 plies from now, sooner than by itself in 7 moves, which are 13 plies.

use hoffman_board::{Color, Outcome, OutcomeBounds, Value};
use hoffman_table::{EntryValue, Table};
use serde::Serialize;

use crate::lines::Known;
use crate::open_table::outcomes_of;

use super::ZugzwangOf;

/// What a side loses by having to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZugzwangKind {
    /// White to move draws, Black to move loses.
    DrawLoss,
    /// White to move loses, Black to move draws.
    LossDraw,
    /// Whoever is to move loses: a full point.
    LossLoss,
    /// The result is worse, but the table does not tell both results.
    Untold,
    /// The result is the same, the win takes longer or the loss comes sooner.
    Tempo,
}

impl ZugzwangKind {
    /// The name that programs read: `draw-loss`, `loss-draw`, `loss-loss`, `untold`, `tempo`.
    pub const fn name(self) -> &'static str {
        match self {
            ZugzwangKind::DrawLoss => "draw-loss",
            ZugzwangKind::LossDraw => "loss-draw",
            ZugzwangKind::LossLoss => "loss-loss",
            ZugzwangKind::Untold => "untold",
            ZugzwangKind::Tempo => "tempo",
        }
    }

    /// The same in words.
    pub const fn words(self) -> &'static str {
        match self {
            ZugzwangKind::DrawLoss => "White to move draws, Black to move loses",
            ZugzwangKind::LossDraw => "White to move loses, Black to move draws",
            ZugzwangKind::LossLoss => "whoever is to move loses",
            ZugzwangKind::Untold => "the result is worse for whoever is to move",
            ZugzwangKind::Tempo => "a pass would win sooner, or lose later",
        }
    }
}

/// A zugzwang of a position, beside what is known of it.
#[derive(Clone, Debug)]
pub struct Zugzwang {
    /// What having to move costs.
    pub kind: ZugzwangKind,
    /// What is known with the other side to move.
    pub other: Known,
}

/// Worse than any result, or better.
pub(super) const NEVER: i32 = 4 << 20;

/// More than the plies of any win.
const WIN: i32 = 1 << 20;

/// What it is worth to the side to move to have an entry, if it must move: the most that is
/// possible.
pub(super) fn moved(of: ZugzwangOf, value: Option<EntryValue>) -> i32 {
    match value.and_then(|value| worth(of, value, 0)) {
        Some((_, most)) => most,
        None => NEVER,
    }
}

/// What the entry of the same men with the other side to move is worth to this side, if it may
/// pass: the least that is possible.
pub(super) fn passed(of: ZugzwangOf, value: Option<EntryValue>) -> i32 {
    match value.and_then(|value| worth(of, value, 1)) {
        Some((_, most)) => -most,
        None => -NEVER,
    }
}

/// The least and the most that an entry is worth to the side to move, `late` plies from now.
fn worth(of: ZugzwangOf, value: EntryValue, late: i32) -> Option<(i32, i32)> {
    let exactly = |worth| Some((worth, worth));
    match value {
        EntryValue::Exact(value) if of != ZugzwangOf::Mutual => match value.plies() {
            Some(plies) if matches!(value, Value::Win(_)) => exactly(WIN - plies - late),
            Some(plies) => exactly(-WIN - plies + late),
            None => (value == Value::Draw).then_some((0, 0)),
        },
        EntryValue::Exact(Value::Win(_)) | EntryValue::Win => exactly(WIN),
        EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => exactly(-WIN),
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => exactly(0),
        EntryValue::WinOrDraw => Some((0, WIN)),
        EntryValue::DrawOrLoss => Some((-WIN, 0)),
        EntryValue::Exact(Value::Illegal) | EntryValue::Illegal | EntryValue::Unknown => None,
    }
}

/// What a zugzwang costs, of entries with `turn` to move and with the other side to move.
pub(super) fn kind_of(own: EntryValue, other: EntryValue, turn: Color) -> ZugzwangKind {
    let own_outcome = outcomes_of(own, turn).and_then(OutcomeBounds::known);
    let other_outcome = outcomes_of(other, turn.other()).and_then(OutcomeBounds::known);
    let (Some(own_outcome), Some(other_outcome)) = (own_outcome, other_outcome) else {
        return ZugzwangKind::Untold;
    };
    let (white, black) =
        if turn.is_white() { (own_outcome, other_outcome) } else { (other_outcome, own_outcome) };
    match (white, black) {
        (Outcome::Draw, Outcome::WhiteWins) => ZugzwangKind::DrawLoss,
        (Outcome::BlackWins, Outcome::Draw) => ZugzwangKind::LossDraw,
        (Outcome::BlackWins, Outcome::WhiteWins) => ZugzwangKind::LossLoss,
        _ if Table::exact(own).is_some() => ZugzwangKind::Tempo,
        _ => ZugzwangKind::Untold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(of: ZugzwangOf, own: EntryValue, other: EntryValue) -> bool {
        moved(of, Some(own)) < passed(of, Some(other))
    }

    #[test]
    fn results_are_worse_for_both_or_for_neither() {
        let values = [Value::Win(3), Value::Draw, Value::Loss(3)].map(EntryValue::Exact);
        for own in values {
            for other in values {
                let mutual = is(ZugzwangOf::Mutual, own, other);
                assert_eq!(mutual, is(ZugzwangOf::Mutual, other, own));
            }
        }
        let [_, draw, loss] = values;
        assert!(is(ZugzwangOf::Mutual, draw, loss) && is(ZugzwangOf::Mutual, loss, loss));
        assert_eq!(kind_of(draw, loss, Color::White), ZugzwangKind::DrawLoss);
        assert_eq!(kind_of(draw, loss, Color::Black), ZugzwangKind::LossDraw);
        assert_eq!(kind_of(loss, loss, Color::Black), ZugzwangKind::LossLoss);
    }

    #[test]
    fn a_pass_is_a_move() {
        let of = ZugzwangOf::Side(Color::White);
        let [win, loss] = [Value::Win as fn(u16) -> Value, Value::Loss];
        let exact = EntryValue::Exact;
        // A mate in 7, 13 plies, against a pass and a mate in 5, 11 plies; one in 6 takes 13.
        assert!(is(of, exact(win(7)), exact(loss(5))));
        assert!(!is(of, exact(win(7)), exact(loss(6))));
        // A loss in 4, 8 plies, against a pass and a loss in 5, 10 plies; one in 4 takes 8.
        assert!(is(of, exact(loss(4)), exact(win(5))));
        assert!(!is(of, exact(loss(4)), exact(win(4))));
        assert!(is(of, exact(loss(9)), exact(Value::Draw)));
        assert_eq!(kind_of(exact(win(7)), exact(loss(5)), Color::White), ZugzwangKind::Tempo);
    }

    #[test]
    fn entries_of_one_bit_tell_as_much_as_they_know() {
        let (white, black) = (EntryValue::DrawOrLoss, EntryValue::Loss);
        assert!(is(ZugzwangOf::Mutual, white, black));
        assert!(!is(ZugzwangOf::Mutual, white, EntryValue::WinOrDraw));
        assert_eq!(kind_of(white, black, Color::White), ZugzwangKind::Untold);
        assert!(!is(ZugzwangOf::Mutual, EntryValue::Illegal, black));
    }
}
