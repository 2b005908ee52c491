//! What the tables make of the moves of a position, as scores and lines of the protocol.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::time::Instant;

use hoffman::shakmaty::uci::UciMove;
use hoffman::shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use hoffman::{Answer, Bound, MoveAnswer, ProbeError, Tablebase, Value};

use crate::progress::{ProgressSearch, freedom};

/// A won position whose distance no table counts, in hundredths of a pawn, as other engines have
/// it.
const WON: i32 = 20_000;

/// The ranks of moves that win in more moves than the position needs.
const SLOW: Range<i32> = WON / 4..WON / 2;

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

    /// The score of a position from its own answer, if that is exact.
    fn of_position(answer: &Answer) -> Option<Score> {
        if answer.bound != Bound::Exact {
            return None;
        }
        match answer.value {
            Value::Win { plies: Some(plies) } => Some(Score::mate(plies.moves().0 as i32)),
            Value::Loss { plies: Some(plies) } => Some(Score::mate(-(plies.moves().0 as i32))),
            Value::Win { plies: None } => Some(Score::points(WON, Limit::Exact)),
            Value::Loss { plies: None } => Some(Score::points(-WON, Limit::Exact)),
            Value::Draw => Some(Score::points(0, Limit::Exact)),
            _ => None,
        }
    }

    fn mate(moves: i32) -> Score {
        Score { worth: MoveWorth::Mate(moves), limit: Limit::Exact }
    }

    fn points(points: i32, limit: Limit) -> Score {
        Score { worth: MoveWorth::Points(points), limit }
    }

    /// Whether the side to move wins at least.
    fn wins(self) -> bool {
        let wins = match self.worth {
            MoveWorth::Mate(moves) => moves > 0,
            MoveWorth::Points(points) => points > 0,
        };
        wins && self.limit != Limit::AtMost
    }

    /// Larger for what is better, `own` being the score of the position before the move.
    ///
    /// Of a won position whose distance is known, a move that is slower than that is not best: a
    /// win that no table counts is faster, and who plays slow ones may do so for ever. In a lost
    /// position it is the other way round. A score of which nothing is known lies between a draw
    /// and a loss, or between a win and a draw if the position is won.
    fn rank(score: Option<Score>, own: Option<Score>) -> i32 {
        const NEAR: i32 = 1 << 20;
        let own_mate = match own.map(|own| own.worth) {
            Some(MoveWorth::Mate(moves)) => Some(moves),
            _ => None,
        };
        match score.map(|score| score.worth) {
            Some(MoveWorth::Mate(moves)) if moves > 0 => match own_mate {
                Some(own) if own > 0 && own < moves => SLOW.end - moves.min(WON / 4),
                _ => NEAR - moves,
            },
            Some(MoveWorth::Mate(moves)) if own_mate == Some(moves) => 1 - WON,
            Some(MoveWorth::Mate(moves)) => -NEAR - moves,
            Some(MoveWorth::Points(points)) => points,
            None if own.is_some_and(Score::wins) => 1,
            None => -1,
        }
    }

    /// What is left of the score of the best move as one of the position, if another move may be
    /// better.
    fn unless_beaten(self) -> Option<Score> {
        match self.limit {
            Limit::Exact | Limit::AtLeast => Some(Score { limit: Limit::AtLeast, ..self }),
            Limit::AtMost => None,
        }
    }

    /// Whether a move with this score may be better than one with another one, which stands before
    /// it.
    fn may_beat(self, first: Score) -> bool {
        match (self.worth, first.worth) {
            // A win that is not counted may be the faster one.
            (MoveWorth::Points(points), MoveWorth::Mate(moves)) if moves > 0 => points == WON,
            _ => self.limit == Limit::AtLeast,
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

/// What the tables say of a position and its moves.
pub(crate) struct Judgement {
    /// The legal moves, best first. The score of the first one is that of the position, a bound
    /// where another one may be better.
    pub(crate) moves: Vec<JudgedMove>,
    /// What the position itself is worth, if a table knows.
    pub(crate) own: Option<Score>,
}

impl Judgement {
    /// The moves in their order, with the score of the first one as that of the position.
    fn new(mut moves: Vec<JudgedMove>, own: Option<Score>) -> Judgement {
        if let Some((first, others)) = moves.split_first_mut()
            && let Some(score) = first.score
            && own != Some(score)
            && others.iter().any(|other| other.score.is_none_or(|other| other.may_beat(score)))
        {
            first.score = score.unless_beaten();
        }
        Judgement { moves, own }
    }
}

/// Judges the legal moves of a position.
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
) -> Judgement {
    let answers = match tables.moves(position) {
        Ok(answers) => answers,
        // One of castling rights, as a rule: moves may end them.
        Err(error) => return Judgement::new(judge_singly(tables, position, &error), None),
    };
    let own = tables.probe(position).ok().as_ref().and_then(Score::of_position);
    let mut moves: Vec<(MoveAnswer, JudgedMove)> = answers
        .into_iter()
        .map(|answer| {
            let judged = judged(answer.m.uci(), answer.answer.as_ref());
            (answer, judged)
        })
        .collect();

    // Tables made under assumptions rank moves by their own rules; here it counts what is proved of
    // chess.
    moves.sort_by_cached_key(|(answer, judged)| {
        let rank = Score::rank(judged.score, own);
        // Where moves that are too slow are all there is, those that lead back come after others.
        let leads_back = SLOW.contains(&rank) && seen.contains(&answer.after.short_fen());
        -(if leads_back { rank - WON / 4 } else { rank })
    });

    // What counts no moves does not know which of its wins is nearer.
    let uncounted = Some(Score::points(WON, Limit::Exact));
    let first = moves.iter().position(|(_, judged)| judged.score == uncounted);
    if let Some(first) = first {
        let group = moves[first..].iter().take_while(|(_, j)| j.score == uncounted).count();
        put_in_order(tables, position, &mut moves[first..first + group], (seen, until));
    }
    Judgement::new(moves.into_iter().map(|(_, judged)| judged).collect(), own)
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
    let mut left = tables.probe(&after).ok().as_ref().and_then(plies_of);
    while Instant::now() < until {
        let best = tables.moves(&after).ok().and_then(|moves| moves.into_iter().next());
        let Some(best) = best else { return };
        // A move that does not come a ply nearer is not the best one, which no table counts.
        let plies = best.answer.as_ref().ok().and_then(plies_of);
        if plies.is_none() || plies.map(|plies| plies + 1) != left {
            return;
        }
        let uci = best.m.uci();
        let Some(next) = behind(&after, &uci) else { return };
        judged.line.push(uci);
        (after, left) = (next, plies);
    }
}

/// How far an answer says that it is to mate.
fn plies_of(answer: &Answer) -> Option<u32> {
    match answer.value {
        Value::Win { plies } | Value::Loss { plies } => plies.map(|plies| plies.0),
        _ => None,
    }
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
    moves.sort_by_key(|judged| -Score::rank(judged.score, None));
    moves
}

/// The rules by which castling is written where a position may come of Fischer's random chess.
pub(crate) fn castling_mode(setup: &hoffman::shakmaty::Setup) -> CastlingMode {
    CastlingMode::detect(setup)
}
