//! What the tables make of the moves of a position, as scores and lines of the protocol.

use std::collections::HashSet;
use std::fmt;

use hoffman::shakmaty::uci::UciMove;
use hoffman::shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use hoffman::{Answer, Bound, MoveAnswer, ProbeError, Tablebase, Value};

/// A won position whose distance no table counts, in hundredths of a pawn, as other engines have it.
const WON: i32 = 20_000;

/// What a move is worth, for the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Score {
    worth: Worth,
    /// What the worth is of the truth.
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
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
    /// The score of a move from the answer to the position behind it; none if nothing is proved of that.
    fn of_reply(reply: &Answer) -> Option<Score> {
        let is_exact = reply.bound == Bound::Exact;
        let limit = |otherwise| if is_exact { Limit::Exact } else { otherwise };
        Some(match reply.value {
            // An even number of plies, and the move itself.
            Value::Loss { plies: Some(plies) } => {
                let moves = plies.moves().0 as i32 + 1;
                Score { worth: Worth::Mate(moves), limit: limit(Limit::AtLeast) }
            }
            Value::Win { plies: Some(plies) } => {
                let moves = plies.moves().0 as i32;
                Score { worth: Worth::Mate(-moves), limit: limit(Limit::AtMost) }
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
        Score { worth: Worth::Points(points), limit }
    }

    /// Larger for what is better. A score of which nothing is known lies between a draw and a loss.
    fn rank(score: Option<Score>) -> i32 {
        const NEAR: i32 = 1 << 20;
        match score.map(|score| score.worth) {
            Some(Worth::Mate(moves)) if moves > 0 => NEAR - moves,
            Some(Worth::Mate(moves)) => -NEAR - moves,
            Some(Worth::Points(points)) => points,
            None => -1,
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worth {
            Worth::Mate(moves) => write!(f, "score mate {moves}")?,
            Worth::Points(points) => write!(f, "score cp {points}")?,
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
pub(crate) struct Judged {
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
/// `seen` are positions of the game so far, as [`key`] has them: where no table counts the way to a win, moves that
/// lead back there come last, and captures and moves of pawns first.
pub(crate) fn judge(tables: &Tablebase, position: &Chess, seen: &HashSet<String>) -> Vec<Judged> {
    let answers = match tables.moves(position) {
        Ok(answers) => answers,
        // One of castling rights, as a rule: moves may end them.
        Err(error) => return judge_singly(tables, position, &error),
    };
    let mut moves: Vec<(MoveAnswer, Judged)> = answers
        .into_iter()
        .map(|answer| {
            let judged = judged(answer.m.uci(), answer.answer.as_ref());
            (answer, judged)
        })
        .collect();

    // Tables made under assumptions rank moves by their own rules; here it counts what is proved of chess.
    moves.sort_by_key(|(_, judged)| -Score::rank(judged.score));

    // What counts no moves does not know which of its wins is nearer.
    let uncounted = Some(Score::points(WON, Limit::Exact));
    let first = moves.iter().position(|(_, judged)| judged.score == uncounted);
    if let Some(first) = first {
        let group = moves[first..].iter().take_while(|(_, j)| j.score == uncounted).count();
        moves[first..first + group].sort_by_key(|(answer, _)| {
            (seen.contains(&answer.after.short_fen()), !answer.m.is_zeroing())
        });
    }
    moves.into_iter().map(|(_, judged)| judged).collect()
}

/// What identifies a position in the course of a game.
pub(crate) fn key(position: &Chess) -> String {
    let setup = position.to_setup(EnPassantMode::Legal);
    hoffman::Position::from(&setup).short_fen()
}

/// Adds best play behind a move. Nothing where the tables do not count it.
pub(crate) fn add_line(tables: &Tablebase, position: &Chess, judged: &mut Judged) {
    let Ok(Ok(m)) = judged.uci.parse().map(|uci: UciMove| uci.to_move(position)) else { return };
    let Ok(after) = position.clone().play(m) else { return };
    let line = tables.line(&after).unwrap_or_default();
    judged.line = line.iter().map(hoffman::Move::uci).collect();
}

fn judged(uci: String, answer: Result<&Answer, &ProbeError>) -> Judged {
    let score = answer.ok().and_then(Score::of_reply);
    let problem = answer.err().map(ToString::to_string);
    Judged { uci, score, problem, line: Vec::new() }
}

/// The same with a question for each position behind a move, since that of all moves has no answer.
fn judge_singly(tables: &Tablebase, position: &Chess, error: &ProbeError) -> Vec<Judged> {
    let mode = position.castles().mode();
    let judge_move = |m: hoffman::shakmaty::Move| {
        let uci = m.to_uci(mode).to_string();
        let Ok(after) = position.clone().play(m) else { return judged(uci, Err(error)) };
        judged(uci, tables.probe(&after).as_ref())
    };
    let mut moves: Vec<Judged> = position.legal_moves().into_iter().map(judge_move).collect();
    moves.sort_by_key(|judged| -Score::rank(judged.score));
    moves
}

/// The rules by which castling is written where a position may come of Fischer's random chess.
pub(crate) fn castling_mode(setup: &hoffman::shakmaty::Setup) -> CastlingMode {
    CastlingMode::detect(setup)
}
