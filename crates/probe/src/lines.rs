//! What is known of a position and of its moves, which move is best, and how play goes on.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hoffman_board::{Color, Format, Outcome, OutcomeBounds, Role, Value, Variant};
use hoffman_control::PruneEffect;
use hoffman_table::EntryValue;
use serde::Serialize;

use crate::collection::{Collection, CollectionError, is_bare_kings, table_name};
use crate::lookup::{Hit, Reply};
use crate::moves::Move;
use crate::open_table::outcomes_of;
use crate::position::Position;

/// The most plies of a main line.
pub const MAX_PLIES: usize = 600;

/// The result of a position for the side to move, in the words of the Lichess tablebase server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The side to move loses.
    Loss,
    /// A loss by the rules of a table with prunes, which does not prove one.
    MaybeLoss,
    /// Nothing is known, or no more than that one side does not lose.
    Unknown,
    /// Neither side can force a win.
    Draw,
    /// A win by the rules of a table with prunes, which does not prove one.
    MaybeWin,
    /// The side to move wins.
    Win,
}

impl Category {
    /// The same seen by the other side.
    pub const fn negate(self) -> Category {
        match self {
            Category::Loss => Category::Win,
            Category::MaybeLoss => Category::MaybeWin,
            Category::MaybeWin => Category::MaybeLoss,
            Category::Win => Category::Loss,
            same => same,
        }
    }

    /// Whether the side to move wins, as far as is known.
    pub const fn is_win(self) -> bool {
        matches!(self, Category::Win | Category::MaybeWin)
    }

    /// Whether the side to move loses, as far as is known.
    pub const fn is_loss(self) -> bool {
        matches!(self, Category::Loss | Category::MaybeLoss)
    }
}

/// What an answer is of the truth, seen from White.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// It is the truth.
    Exact,
    /// White does at least as well.
    WhiteAtLeast,
    /// White does at most as well.
    WhiteAtMost,
    /// It proves nothing.
    None,
}

/// How a game ends in a position, by the rules alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameEnd {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Suicide chess: the side to move has won.
    VariantWin,
    /// Suicide chess: the side to move has lost.
    VariantLoss,
}

/// What is known of a position.
#[derive(Clone, Debug)]
pub struct Known {
    /// The side to move.
    pub turn: Color,
    /// What the table says, if one has the position.
    pub hit: Option<Hit>,
    /// What is known of the outcome under the rules of chess.
    pub proved: OutcomeBounds,
    /// What the table says, under its own rules, or the rules of chess do; none if nothing is
    /// said.
    pub said: Option<EntryValue>,
    /// Whether what is said is what the rules of chess say, distances included.
    pub is_exact: bool,
    /// How the game has ended, if it has.
    pub end: Option<GameEnd>,
    /// Neither side can mate.
    pub insufficient_material: bool,
}

/// A legal move with what is known of the position behind it.
#[derive(Clone, Debug)]
pub struct MoveOption {
    /// The move.
    pub m: Move,
    /// The position after it.
    pub after: Position,
    /// What is known of that position, for the side then to move; in chess, if the move is pruned.
    pub known: Known,
    /// What a prune makes of the move, by the rules of the table that answers for the position
    /// before it.
    pub pruned: Option<PruneEffect>,
    /// The table that would be needed to know more.
    pub missing: Option<String>,
    /// Why the table that has the position behind the move could not be asked. The move counts as
    /// one of which nothing is known.
    pub failure: Option<CollectionError>,
}

impl Known {
    /// The ending whose table is missing, if the table that has the position leans on one.
    fn leans_on(&self) -> Option<String> {
        let hit =
            self.hit.as_ref().filter(|_| self.said.is_none_or(|said| said == EntryValue::Unknown));
        hit.and_then(Hit::leans_on).as_ref().map(table_name)
    }

    /// What is known by the rules of chess alone, and by the answer of a table if there is one.
    pub fn of(position: &Position, variant: Variant, hit: Option<Hit>) -> Known {
        let end = position.end(variant);
        let normal = variant == Variant::Normal;
        let insufficient = normal && position.is_insufficient_material();
        let drawn =
            end == Some(GameEnd::Stalemate) || insufficient || normal && is_bare_kings(position);
        let by_rule = match end {
            Some(GameEnd::Checkmate | GameEnd::VariantLoss) => {
                Some(EntryValue::Exact(Value::Loss(0)))
            }
            // As tables count: to take the last man costs a move more than to leave no move.
            Some(GameEnd::VariantWin) => {
                let has_no_men = position.board.by_color(position.turn).is_empty();
                Some(EntryValue::Exact(Value::Win(u16::from(has_no_men))))
            }
            Some(GameEnd::Stalemate) | None => drawn.then_some(EntryValue::Draw),
        };

        let turn = position.turn;
        let over = matches!(end, Some(end) if end != GameEnd::Stalemate);
        let table = hit.as_ref().filter(|_| !over);
        let said = table.map(|hit| hit.value).or(by_rule);
        let proved = match by_rule.and_then(|value| outcomes_of(value, turn)) {
            Some(outcome) => outcome,
            None => hit.as_ref().map_or(OutcomeBounds::UNKNOWN, Hit::proved),
        };
        let is_exact = match table {
            Some(hit) => hit.claims.is_exact(),
            None => said.is_some(),
        };
        Known { turn, hit, proved, said, is_exact, end, insufficient_material: insufficient }
    }

    /// The outcome that is said, seen from White.
    pub fn outcomes(&self) -> Option<OutcomeBounds> {
        outcomes_of(self.said?, self.turn)
    }

    /// What is said, with its distance: a draw, or a mate, or, in tables that count them, a
    /// conversion.
    pub fn distance(&self) -> Option<Value> {
        match self.said? {
            EntryValue::Draw => Some(Value::Draw),
            EntryValue::Exact(value) if value != Value::Illegal => Some(value),
            _ => None,
        }
    }

    /// Whether distances are those to conversion.
    pub fn counts_conversions(&self) -> bool {
        let format = self.hit.as_ref().map(|hit| hit.table().codec().format());
        self.end.is_none() && matches!(format, Some(Format::Dtc(_)))
    }

    /// Whether the game is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The result for the side to move.
    pub fn category(&self) -> Category {
        let said = self.outcomes().and_then(OutcomeBounds::known).and_then(Outcome::winner);
        match (self.proved.known().map(Outcome::winner), said) {
            (Some(Some(winner)), _) if winner == self.turn => Category::Win,
            (Some(Some(_)), _) => Category::Loss,
            (Some(None), _) => Category::Draw,
            (None, Some(winner)) if winner == self.turn => Category::MaybeWin,
            (None, Some(_)) => Category::MaybeLoss,
            (None, None) => Category::Unknown,
        }
    }

    /// What the answer is of the truth.
    pub fn bound(&self) -> Bound {
        let won = self.proved.known().and_then(Outcome::winner);
        let known = self.proved.known().is_some();
        match (self.said, won) {
            (None, _) => Bound::None,
            (Some(_), None) if known => Bound::Exact,
            (Some(_), Some(_)) if self.is_exact => Bound::Exact,
            // A side that is sure to win may win sooner.
            (Some(_), Some(Color::White)) => Bound::WhiteAtLeast,
            (Some(_), Some(Color::Black)) => Bound::WhiteAtMost,
            (Some(_), None) if self.proved.is_held_by(Color::White) => Bound::WhiteAtLeast,
            (Some(_), None) if self.proved.is_held_by(Color::Black) => Bound::WhiteAtMost,
            (Some(_), None) => Bound::None,
        }
    }
}

impl Position {
    /// How the game has ended, by the rules alone; none if it goes on.
    pub fn end(&self, variant: Variant) -> Option<GameEnd> {
        let stuck = !self.has_legal_move(variant);
        match variant {
            Variant::Normal if stuck && self.is_check() => Some(GameEnd::Checkmate),
            Variant::Normal => stuck.then_some(GameEnd::Stalemate),
            Variant::Suicide if self.board.by_color(self.turn.other()).is_empty() => {
                Some(GameEnd::VariantLoss)
            }
            Variant::Suicide => stuck.then_some(GameEnd::VariantWin),
        }
    }
}

/// Finds out what is known of a position. It must be possible, see [`Position::check_possible`],
/// and its en passant square usable.
///
/// # Errors
/// A table cannot be read.
pub fn assess(collection: &Collection, position: &Position) -> Result<Known, CollectionError> {
    let hit = collection.lookup(position)?;
    Ok(Known::of(position, collection.variant(), hit))
}

/// Finds out what is known of the position behind a move, by the rules of the table that answers
/// for the one before it. A table that cannot be read spoils this move only.
pub fn assess_move(
    collection: &Collection,
    root: &Known,
    position: &Position,
    m: Move,
) -> MoveOption {
    assess_move_within(collection, root, (position, m), None)
}

/// The same; with a limit any value will do that is better than that for the side then to move.
fn assess_move_within(
    collection: &Collection,
    root: &Known,
    (position, m): (&Position, Move),
    limit: Option<Value>,
) -> MoveOption {
    let after = position.after(&m);
    let reply = match &root.hit {
        None => collection.lookup(&after).map(|hit| (hit, None, None)),
        Some(asker) => match collection.reply(asker, (&m, &after), limit) {
            Ok(Reply::Hit(hit)) => Ok((Some(hit), None, None)),
            // What the move is worth in chess can be told beside it.
            Ok(Reply::Pruned(effect)) => {
                collection.lookup_plain(&after).map(|hit| (hit, Some(effect), None))
            }
            Ok(Reply::Missing(name)) => Ok((None, None, Some(name))),
            Err(error) => Err(error),
        },
    };

    let (failure, (hit, pruned, mut missing)) = match reply {
        Ok(reply) => (None, reply),
        Err(error) => (Some(error), (None, None, None)),
    };

    let known = Known::of(&after, collection.variant(), hit);
    let leans_on = known.leans_on();
    let variant_over = matches!(known.end, Some(GameEnd::VariantWin | GameEnd::VariantLoss));
    let pruned = pruned.filter(|_| !variant_over);
    if known.said.is_some() {
        missing = leans_on;
    } else if pruned.is_none() && missing.is_none() && failure.is_none() {
        missing = Some(table_name(&after.material()));
    }

    let failure = failure.filter(|_| known.said.is_none());
    MoveOption { m, after, known, pruned, missing, failure }
}

/// The legal moves with what they lead to, best first by what the tables say.
///
/// The order is that of the Lichess server: by the result, then mates, then quicker wins and
/// slower losses, then stalemates, then captures of stronger men and promotions to stronger men,
/// then the order of the walk. `root` is what is known of the position itself.
pub fn ranked_moves(collection: &Collection, position: &Position, root: &Known) -> Vec<MoveOption> {
    let legal = position.legal_moves(collection.variant()).into_iter();
    let moves = legal.map(|m| assess_move(collection, root, position, m));
    let mut moves: Vec<_> = moves.collect();
    let counts_conversions = root.counts_conversions();
    moves.sort_by_key(|option| rank(option, counts_conversions));
    moves
}

/// A key by which the better move is the smaller.
fn rank(option: &MoveOption, counts_conversions: bool) -> impl Ord + use<> {
    let MoveOption { m, known, pruned, .. } = option;
    let won = known.outcomes().map(|said| {
        let is = |color| said.is_won_by(color);
        i32::from(is(known.turn)) - i32::from(is(known.turn.other()))
    });
    let result = match (pruned, won) {
        // A conceded move wins at once, by the rules of the table that concedes it.
        (Some(PruneEffect::Concede), _) => Category::MaybeLoss,
        (Some(PruneEffect::Discard), _) | (None, None) => Category::Unknown,
        (None, Some(1)) => Category::Win.min(known.category()),
        (None, Some(-1)) => Category::Loss.max(known.category()),
        (None, Some(_)) => Category::Draw,
    };

    let plies = match pruned {
        Some(PruneEffect::Concede) => Some(0),
        Some(PruneEffect::Discard) => None,
        // A conversion ends the count at once, whatever table answers behind it.
        None if counts_conversions && m.is_conversion() => Some(0),
        None => known.distance().and_then(Value::plies).map(i32::abs),
    };

    let distance = match (result, plies) {
        (Category::Loss | Category::MaybeLoss, Some(plies)) => plies,
        (Category::Win | Category::MaybeWin, Some(plies)) => -plies,
        (_, Some(_)) => 0,
        (_, None) if result == Category::Draw => 0,
        (_, None) => i32::MAX,
    };

    let mates = matches!(known.end, Some(GameEnd::Checkmate | GameEnd::VariantLoss));
    let stalemates = known.end == Some(GameEnd::Stalemate);
    (result, !mates, distance, !stalemates, strength(*m))
}

/// A key by which captures of stronger men, and promotions to stronger men, come first.
fn strength(m: Move) -> impl Ord + use<> {
    let of = |role: Option<Role>| Reverse(role.map_or(0, |r| r as u8));
    (of(m.capture), of(m.promotion))
}

/// Best play from a position until it ends, by the values of the tables: in each position the
/// first of the ranked moves that keeps the value, a proven one before all others. Empty if the
/// position is not known to be won or lost with its distance to mate; cut off where tables lack,
/// cannot be read or contradict each other, and after [`MAX_PLIES`].
pub fn main_line(
    collection: &Collection,
    position: &Position,
    root: &Known,
) -> Vec<(Position, Move)> {
    let mut line = Vec::new();
    let mut position = position.clone();
    let mut known = root.clone();
    while line.len() < MAX_PLIES && !known.counts_conversions() {
        let Some(best) = keeping_move(collection, &position, &known) else { break };
        line.push((position, best.m));
        position = best.after;
        known = best.known;
    }
    line
}

/// The move of the main line. Looks no further than to the first move that nothing can surpass: in
/// a large table, each look may inflate another block.
fn keeping_move(collection: &Collection, position: &Position, root: &Known) -> Option<MoveOption> {
    let value = root.distance().filter(|value| matches!(value, Value::Win(_) | Value::Loss(_)))?;
    let keeps = |option: &MoveOption| match option.pruned {
        None => option.known.distance().and_then(Value::negate) == Some(value),
        Some(effect) => value == Value::Win(1) && effect == PruneEffect::Concede,
    };
    // Only mates and concessions, which end the game, differ in more than their strength.
    let is_best = |option: &MoveOption| {
        let proven = matches!(option.known.category(), Category::Win | Category::Loss);
        proven && option.pruned.is_none() && value != Value::Win(1)
    };

    let mut moves = position.legal_moves(collection.variant());
    moves.sort_by_key(|&m| strength(m));
    let mut kept = Vec::new();
    for m in moves {
        // Of moves that do not keep the value it does not matter how bad they are.
        let option = assess_move_within(collection, root, (position, m), Some(kept_behind(value)));
        if !keeps(&option) {
            continue;
        }
        if is_best(&option) {
            return Some(option);
        }
        kept.push(option);
    }
    kept.into_iter().min_by_key(|option| rank(option, false))
}

/// The value of a position behind a move that keeps that one, which is not a draw.
fn kept_behind(value: Value) -> Value {
    match value {
        Value::Win(moves) => Value::Loss(moves.saturating_sub(1)),
        Value::Loss(moves) => Value::Win(moves),
        other => other,
    }
}

/// The names of the tables that would be needed to know all of a position and its moves, in order
/// of the alphabet.
pub fn missing_tables(position: &Position, root: &Known, moves: &[MoveOption]) -> Vec<String> {
    let own = root.said.is_none().then(|| table_name(&position.material()));
    let own = root.leans_on().or(own);
    let behind = moves.iter().filter_map(|option| option.missing.clone());
    let missing: BTreeSet<String> = own.into_iter().chain(behind).collect();
    missing.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_kept_value_is_worth_it() {
        for value in (1..200).flat_map(|moves| [Value::Win(moves), Value::Loss(moves)]) {
            assert_eq!(kept_behind(value).negate(), Some(value));
        }
    }
}
