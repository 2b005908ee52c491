//! What the strategies of a proof amount to, in lines.

use std::collections::{BTreeSet, HashSet, VecDeque};

use hoffman_board::{Color, Outcome, Role, Square, Variant};
use hoffman_certificate::Claimed;
use hoffman_probe::position::Position;
use hoffman_prove::ProvenStrategy;
use hoffman_reader::Move;
use hoffman_reader::shakmaty::zobrist::Zobrist128;
use hoffman_reader::shakmaty::{self, Chess, EnPassantMode, Position as _};

use super::inquiry::{Inquiry, passed};
use crate::strategy::{after, next};

/// So many positions of one structure are looked at: all there are with kings alone.
const LOOKED_AT: usize = 20_000;

/// How a side achieves what is proven, by one strategy against all that the other side plays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyLines {
    /// The side.
    pub side: Color,
    /// What it achieves.
    pub claimed: Claimed,
    /// Of a win the line in which the other side lasts longest, to the promotion that decides it,
    /// or to mate. Empty if the side only holds.
    pub line: Vec<KeyMove>,
    /// Other ways in which the pawns or men change, each to the move that does it; one of each move
    /// for every structure that `line` comes through, on the shortest way.
    pub others: Vec<OtherLine>,
    /// Whether the other side has nothing to mate with, so that there is nothing to be held.
    pub is_safe: bool,
    /// Where the side's king stands while the men and pawns stay as they are; nowhere if the side
    /// is safe, or there is more than could be looked at, so that `others` may lack some, too.
    pub king: Vec<Square>,
    /// Whether the side moves its king alone until then.
    pub king_alone: bool,
}

/// A move of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyMove {
    /// The move.
    pub m: Move,
    /// Whether it is proven that no other move of the winner wins.
    pub is_only: bool,
    /// Whether it puts the other side into zugzwang: with the winner to move it would not be won.
    pub is_zugzwang: bool,
}

/// A line that leaves the longest one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherLine {
    /// Behind how many of its moves.
    pub at: usize,
    /// The moves, from there on.
    pub moves: Vec<Move>,
}

/// A move that changes the men or pawns, whatever square it comes from.
type ManChange = (Color, Role, Square, Option<Role>, bool);

impl KeyLines {
    /// Those of strategies from one position on; none if there is no strategy.
    pub(crate) fn of_all(
        strategies: &[ProvenStrategy<'_>],
        position: &Chess,
    ) -> Option<Vec<KeyLines>> {
        let lines = strategies.iter().map(|strategy| KeyLines::of(strategy, position)).collect();
        Some(lines).filter(|lines: &Vec<KeyLines>| !lines.is_empty())
    }

    fn of(strategy: &ProvenStrategy<'_>, position: &Chess) -> KeyLines {
        let is_safe = strategy.is_settled(position);
        let first = if is_safe { WaysOut::default() } else { WaysOut::of(strategy, position) };
        let mut lines = KeyLines {
            side: strategy.side(),
            claimed: strategy.claimed(),
            line: Vec::new(),
            others: Vec::new(),
            is_safe,
            king: first.king.iter().copied().collect(),
            king_alone: !first.is_active && !first.king.is_empty(),
        };
        match strategy.claimed() {
            Claimed::Wins(_) => lines.follow(strategy, position, first),
            Claimed::Holds => lines.add_others(first, 0),
        }
        lines
    }

    /// Follows the line in which the other side lasts longest.
    fn follow(&mut self, strategy: &ProvenStrategy<'_>, position: &Chess, first: WaysOut) {
        let mut place = position.clone();
        let mut next_ways = Some(first);
        while let Some(ways_out) = next_ways.take() {
            let begun = self.line.len();
            let mut changed = false;
            while !changed
                && let Some(m) = next(strategy, &place)
                && let Ok(told) = Move::try_from(m)
            {
                changed = m.is_zeroing();
                self.line.push(KeyMove { m: told, is_only: false, is_zugzwang: false });
                place.play_unchecked(m);
            }
            self.add_others(ways_out, begun);
            if changed && !self.is_decided(strategy, &place) {
                next_ways = Some(WaysOut::of(strategy, &place));
            }
        }
    }

    /// Finds out which moves of the winner are the only ones, and which put the other side into
    /// zugzwang.
    pub(super) fn mark(&mut self, position: &Chess, inquiry: &mut Inquiry<'_>) {
        let mut place = position.clone();
        let win = Outcome::won_by(self.side);
        for key in &mut self.line {
            let m: shakmaty::Move = key.m.into();
            let next = after(&place, m);
            if place.turn() == self.side {
                let mut fails =
                    |place: &Chess| inquiry.outcome(place).is_some_and(|outcome| outcome != win);
                let moves = place.legal_moves();
                key.is_zugzwang = passed(&next).is_some_and(|passed| fails(&passed));
                key.is_only = moves.len() > 1
                    && moves.into_iter().all(|other| other == m || fails(&after(&place, other)));
            }
            place = next;
        }
    }

    /// Whether the last move has promoted a pawn that cannot be taken by what lasts longest.
    fn is_decided(&self, strategy: &ProvenStrategy<'_>, place: &Chess) -> bool {
        let promotes = self.line.last().is_some_and(|last| last.m.promotion.is_some());
        let is_taken = |m: shakmaty::Move| m.is_capture();
        promotes && place.turn() != self.side && !next(strategy, place).is_some_and(is_taken)
    }

    /// Adds the ways out of a structure, but that of the line itself, which came to it behind so
    /// many moves.
    fn add_others(&mut self, ways_out: WaysOut, begun: usize) {
        let main: Vec<Move> = self.line[begun..].iter().map(|played| played.m).collect();
        for way in ways_out.ways {
            let common = main.iter().zip(&way).take_while(|(a, b)| a == b).count();
            // What the line does itself is no other way.
            if !is_alike(&main, &way) {
                self.others.push(OtherLine { at: begun + common, moves: way[common..].to_vec() });
            }
        }
    }

    /// The captures, exchanges and promotions of the line from a position on, and its end, told in
    /// words.
    pub fn words(&self, position: &Position) -> Vec<String> {
        let mut words = Vec::new();
        let mut place = position.clone();
        let mut is_retaken = false;
        for (at, KeyMove { m, .. }) in self.line.iter().enumerate() {
            let retaking = self.line.get(at + 1).map(|next| next.m);
            let retaking = retaking.filter(|next| next.capture.is_some() && next.to == m.to);
            if !is_retaken {
                words.extend(in_words(&place, *m, retaking.is_some()));
            }
            is_retaken = m.capture.is_some() && retaking.is_some();
            place = place.after(m);
        }

        if let Claimed::Wins(most @ 1..) = self.claimed {
            let waits = position.turn == Color::Black && self.side == Color::White;
            let first = u32::from(position.fullmoves.max(1)) + u32::from(waits);
            let last = first + u32::from(most) - 1;
            words.push(format!("mate with move {last} at the latest"));
        }
        words
    }
}

/// What a move takes or promotes, if it does, and whether the man is taken back.
fn in_words(place: &Position, m: Move, is_retaken: bool) -> Option<String> {
    let side = place.turn.fold_wb("White", "Black");
    let (number, san) = (place.fullmoves.max(1), place.san(&m, Variant::Normal)?);
    let exchanged = if is_retaken { " and is retaken" } else { "" };
    match (m.promotion, m.capture) {
        (Some(_), _) => Some(format!("{side} promotes with move {number} ({san}){exchanged}")),
        (None, Some(taken)) => {
            let taken = hoffman_board::role_name(taken);
            Some(format!(
                "{side} takes the {taken} on {} with move {number} ({san}){exchanged}",
                m.to
            ))
        }
        (None, None) => None,
    }
}

/// What a strategy leads to while the men and pawns stay as they are.
#[derive(Default)]
struct WaysOut {
    /// The shortest way to each change, those first that are near.
    ways: Vec<Vec<Move>>,
    /// Where the side's king stands; nowhere if there is more than could be looked at.
    king: BTreeSet<Square>,
    /// Whether the side itself changes something, or moves another man than the king.
    is_active: bool,
}

impl WaysOut {
    fn of(strategy: &ProvenStrategy<'_>, start: &Chess) -> WaysOut {
        let mut ways_out = WaysOut::default();
        let mut changes = HashSet::new();
        let mut met = HashSet::from([hash(start)]);
        let mut waiting = VecDeque::from([(start.clone(), Vec::new())]);
        while let Some((place, way)) = waiting.pop_front() {
            ways_out.king.extend(place.board().king_of(strategy.side()));
            let is_own = place.turn() == strategy.side();
            let moves = if is_own {
                chosen(strategy, &place, &met).into_iter().collect()
            } else {
                place.legal_moves()
            };
            for m in moves {
                let Ok(told) = Move::try_from(m) else { continue };
                let way: Vec<Move> = way.iter().copied().chain([told]).collect();
                let next = after(&place, m);
                ways_out.is_active |= is_own && (m.is_zeroing() || m.role() != Role::King);
                if m.is_zeroing() {
                    if changes.insert(change(place.turn(), told)) {
                        ways_out.ways.push(way);
                    }
                } else if !strategy.is_settled(&next) && met.insert(hash(&next)) {
                    waiting.push_back((next, way));
                }
            }
            if met.len() > LOOKED_AT {
                ways_out.king.clear();
                break;
            }
        }
        ways_out
    }
}

/// The move of a winner's line; of the moves that hold one that changes nothing if there is one,
/// and leads to the fewest positions that were not met.
fn chosen(
    strategy: &ProvenStrategy<'_>,
    place: &Chess,
    met: &HashSet<u128>,
) -> Option<shakmaty::Move> {
    if strategy.claimed() != Claimed::Holds {
        return next(strategy, place);
    }
    let cost = |m: &shakmaty::Move| {
        let next = after(place, *m);
        let replies = next.legal_moves();
        let changes = m.is_zeroing() || replies.iter().any(|reply| reply.is_zeroing());
        let is_new = |reply: &&shakmaty::Move| !met.contains(&hash(&after(&next, **reply)));
        (changes, replies.iter().filter(is_new).count())
    };
    strategy.best_moves(place).into_iter().min_by_key(cost)
}

fn hash(place: &Chess) -> u128 {
    place.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0
}

fn change(turn: Color, m: Move) -> ManChange {
    (turn, m.role, m.to, m.promotion, m.capture.is_some())
}

/// Whether two lines from one position end with the same change by the same side.
fn is_alike(a: &[Move], b: &[Move]) -> bool {
    let change_of = |m: &Move| change(Color::White, *m);
    a.len() % 2 == b.len() % 2 && a.last().map(change_of) == b.last().map(change_of)
}
