//! What the tables make of the moves of a position, as scores and lines of the protocol.

use std::collections::HashSet;
use std::fmt;
use std::time::Instant;

use hoffman::shakmaty::uci::UciMove;
use hoffman::shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use hoffman::{Answer, Bound, MoveAnswer, ProbeError, Tablebase, Value};

use crate::progress::{ProgressSearch, freedom};

/// A won position whose distance no table counts, in hundredths of a pawn, as other engines have
/// it.
const WON: i32 = 20_000;

/// What a move is worth, for the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Score {
    worth: MoveWorth,
    /// What the worth is of the truth.
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoveWorth {
    /// Mate in so many moves; negative if the side to move is mated.
    Mate(i32),
    /// Hundredths of a pawn.
    Points(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Exact,
    AtLeast,
    AtMost,
}

impl Score {
    /// The score of a move from the answer to the position behind it; none if nothing is proved of
    /// that.
    fn of_reply(reply: &Answer) -> Option<Score> {
        let is_exact = reply.bound == Bound::Exact;
        let limit = |otherwise| if is_exact { Limit::Exact } else { otherwise };
        Some(match reply.value {
            // An even number of plies, and the move itself.
            Value::Loss { plies: Some(plies) } => {
                let moves = plies.moves().0 as i32 + 1;
                Score { worth: MoveWorth::Mate(moves), limit: limit(Limit::AtLeast) }
            }
            Value::Win { plies: Some(plies) } => {
                let moves = plies.moves().0 as i32;
                Score { worth: MoveWorth::Mate(-moves), limit: limit(Limit::AtMost) }
            }
            Value::Loss { plies: None } => Score::points(WON, Limit::Exact),
            Value::Win { plies: None } => Score::points(-WON, Limit::Exact),
            Value::Draw => Score::points(0, Limit::Exact),
            Value::AtLeastDraw => Score::points(0, Limit::AtMost),
            Value::AtMostDraw => Score::points(0, Limit::AtLeast),
            _ => return None,
        })
    }

    fn points(points: i32, limit: Limit) -> Score {
        Score { worth: MoveWorth::Points(points), limit }
    }

    /// Larger for what is better. A score of which nothing is known lies between a draw and a loss.
    fn rank(score: Option<Score>) -> i32 {
        const NEAR: i32 = 1 << 20;
        match score.map(|score| score.worth) {
            Some(MoveWorth::Mate(moves)) if moves > 0 => NEAR - moves,
            Some(MoveWorth::Mate(moves)) => -NEAR - moves,
            Some(MoveWorth::Points(points)) => points,
            None => -1,
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worth {
            MoveWorth::Mate(moves) => write!(f, "score mate {moves}")?,
            MoveWorth::Points(points) => write!(f, "score cp {points}")?,
        }
        f.write_str(match self.limit {
            Limit::Exact => "",
            Limit::AtLeast => " lowerbound",
            Limit::AtMost => " upperbound",
        })
    }
}

/// A move with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct JudgedMove {
    /// The move, as `e7e8q`.
    pub(crate) uci: String,
    /// What it is worth; none if no table says.
    pub(crate) score: Option<Score>,
    /// Why no table says.
    pub(crate) problem: Option<String>,
    /// Best play behind it, as far as the tables count.
    pub(crate) line: Vec<String>,
}

/// The legal moves of a position, best first.
///
/// `seen` are positions of the game so far, as [`key`] has them: where no table counts the way to a
/// win, moves that lead back there come last. First come captures and moves of pawns, then what
/// forces one soonest, then what leaves the other king the least freedom. What takes time ends at
/// `until`.
pub(crate) fn judge(
    tables: &Tablebase,
    position: &Chess,
    seen: &HashSet<String>,
    until: Option<Instant>,
) -> Vec<JudgedMove> {
    let answers = match tables.moves(position) {
        Ok(answers) => answers,
        // One of castling rights, as a rule: moves may end them.
        Err(error) => return judge_singly(tables, position, &error),
    };
    let mut moves: Vec<(MoveAnswer, JudgedMove)> = answers
        .into_iter()
        .map(|answer| {
            let judged = judged(answer.m.uci(), answer.answer.as_ref());
            (answer, judged)
        })
        .collect();

    // Tables made under assumptions rank moves by their own rules; here it counts what is proved of
    // chess.
    moves.sort_by_key(|(_, judged)| -Score::rank(judged.score));

    // What counts no moves does not know which of its wins is nearer.
    let uncounted = Some(Score::points(WON, Limit::Exact));
    let first = moves.iter().position(|(_, judged)| judged.score == uncounted);
    if let Some(first) = first {
        let group = moves[first..].iter().take_while(|(_, j)| j.score == uncounted).count();
        put_in_order(tables, position, &mut moves[first..first + group], (seen, until));
    }
    moves.into_iter().map(|(_, judged)| judged).collect()
}

/// Puts moves that win, of which no table says how soon, in the order in which they make progress.
fn put_in_order(
    tables: &Tablebase,
    position: &Chess,
    moves: &mut [(MoveAnswer, JudgedMove)],
    (seen, until): (&HashSet<String>, Option<Instant>),
) {
    moves.sort_by_cached_key(|(answer, judged)| {
        let after = behind(position, &judged.uci);
        let freedom = after.as_ref().map_or(u32::MAX, freedom);
        (seen.contains(&answer.after.short_fen()), !answer.m.is_zeroing(), freedom)
    });
    let is_quiet = |(answer, _): &&(MoveAnswer, JudgedMove)| {
        !answer.m.is_zeroing() && !seen.contains(&answer.after.short_fen())
    };
    if moves.first().is_none_or(|first| !is_quiet(&first)) {
        return;
    }
    let quiet = moves.iter().take_while(is_quiet).map(|(_, judged)| &judged.uci);
    let positions: Vec<Chess> = quiet.map_while(|uci| behind(position, uci)).collect();
    let positions: Vec<&Chess> = positions.iter().collect();
    if let Some(best) = ProgressSearch::new(tables, until).shortest(&positions) {
        moves[..=best].rotate_right(1);
    }
}

/// The position behind a move.
fn behind(position: &Chess, uci: &str) -> Option<Chess> {
    let m = uci.parse::<UciMove>().ok()?.to_move(position).ok()?;
    position.clone().play(m).ok()
}

/// What identifies a position in the course of a game.
pub(crate) fn key(position: &Chess) -> String {
    let setup = position.to_setup(EnPassantMode::Legal);
    hoffman::Position::from(&setup).short_fen()
}

/// Adds best play behind a move, as much of it as there is time for. Nothing where the tables do
/// not count it.
pub(crate) fn add_line(
    tables: &Tablebase,
    position: &Chess,
    judged: &mut JudgedMove,
    until: Option<Instant>,
) {
    let Some(mut after) = behind(position, &judged.uci) else { return };
    let Some(until) = until else {
        let line = tables.line(&after).unwrap_or_default();
        judged.line = line.iter().map(hoffman::Move::uci).collect();
        return;
    };
    while judged.line.len() < MOST_PLIES && Instant::now() < until {
        let best = tables.moves(&after).ok().and_then(|moves| moves.into_iter().next());
        let counted = |best: &MoveAnswer| best.answer.as_ref().is_ok_and(counts);
        let Some(best) = best.filter(counted).map(|best| best.m.uci()) else { return };
        let Some(next) = behind(&after, &best) else { return };
        judged.line.push(best);
        after = next;
    }
}

/// No line is shown further.
const MOST_PLIES: usize = 2_000;

/// Whether an answer says how far it is to mate.
fn counts(answer: &Answer) -> bool {
    matches!(answer.value, Value::Win { plies: Some(_) } | Value::Loss { plies: Some(_) })
}

fn judged(uci: String, answer: Result<&Answer, &ProbeError>) -> JudgedMove {
    let score = answer.ok().and_then(Score::of_reply);
    let problem = answer.err().map(ToString::to_string);
    JudgedMove { uci, score, problem, line: Vec::new() }
}

/// The same with a question for each position behind a move, since that of all moves has no answer.
fn judge_singly(tables: &Tablebase, position: &Chess, error: &ProbeError) -> Vec<JudgedMove> {
    let mode = position.castles().mode();
    let judge_move = |m: hoffman::shakmaty::Move| {
        let uci = m.to_uci(mode).to_string();
        let Ok(after) = position.clone().play(m) else { return judged(uci, Err(error)) };
        judged(uci, tables.probe(&after).as_ref())
    };
    let mut moves: Vec<JudgedMove> = position.legal_moves().into_iter().map(judge_move).collect();
    moves.sort_by_key(|judged| -Score::rank(judged.score));
    moves
}

/// The rules by which castling is written where a position may come of Fischer's random chess.
pub(crate) fn castling_mode(setup: &hoffman::shakmaty::Setup) -> CastlingMode {
    CastlingMode::detect(setup)
}
