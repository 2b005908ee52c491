//! Walks along a strategy: what still has to be known before a question is answered.

use std::collections::{HashMap, HashSet, VecDeque};

use hoffman_board::shakmaty::{Chess, EnPassantMode, Position as _, zobrist::Zobrist64};
use hoffman_board::{Color, Outcome};

use crate::key::{Key, key_of};
use crate::slices::{Known, Slices};

/// Positions looked at in one walk.
const MOST: usize = 60_000;

/// How often a walk met a slice that is not open, and after how many plies first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) hits: u32,
    pub(crate) depth: u32,
}

/// Whether a side wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) winner: Color,
}

impl Question {
    /// The answer, if it is certain.
    pub(crate) fn answer(self, known: Known) -> Option<bool> {
        let win = Outcome::won_by(self.winner);
        match self.winner {
            Color::White if known.least == win => Some(true),
            Color::White if known.most != win => Some(false),
            Color::Black if known.most == win => Some(true),
            Color::Black if known.least != win => Some(false),
            _ => None,
        }
    }

    /// The answer that is thought likely.
    fn guess(self, known: Known) -> bool {
        known.guess == Outcome::won_by(self.winner)
    }
}

/// Which moves a walk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// One strategy of the side that the guess favours, against all replies.
    OfAStrategy,
    /// All moves. More is known of some positions than the slices before them were told; if
    /// nothing else is left, the slices that would tell are met here.
    All,
}

/// The slices that are met and not open.
pub(crate) fn walk(
    slices: &Slices,
    root: &Chess,
    question: Question,
    moves: Moves,
) -> HashMap<Key, Met> {
    let win = question.guess(slices.known_of(root));
    let (seen, met) = (HashSet::new(), HashMap::new());
    let mut walk = Walk { slices, question, win, moves, seen, met };
    let mut waiting = VecDeque::from([(root.clone(), 0)]);
    walk.seen.insert(hash(root));
    while let Some((position, depth)) = waiting.pop_front() {
        for next in walk.visit(&position, depth) {
            if walk.seen.len() < MOST && walk.seen.insert(hash(&next)) {
                waiting.push_back((next, depth + 1));
            }
        }
    }
    walk.met
}

fn hash(position: &Chess) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

struct Walk<'s> {
    slices: &'s Slices,
    question: Question,
    /// The answer that is to be proven.
    win: bool,
    moves: Moves,
    seen: HashSet<u64>,
    met: HashMap<Key, Met>,
}

impl Walk<'_> {
    /// The positions after a position that have to be looked at.
    fn visit(&mut self, position: &Chess, depth: u32) -> Vec<Chess> {
        let known = self.slices.known_of(position);
        let answered = self.question.answer(known).is_some();
        if !known.open && (!answered || self.moves == Moves::All) {
            self.meet(position, depth);
        }
        if answered || !known.open {
            return Vec::new();
        }
        if self.moves == Moves::All && !self.slices.assumptions.is_empty() {
            self.meet_ruled(position, depth);
        }
        let moves = self.slices.moves(position).into_iter();
        let after = moves.map(|m| {
            let mut next = position.clone();
            next.play_unchecked(m);
            let known = self.slices.known_of(&next);
            (next, known)
        });
        if self.moves == Moves::All {
            return after.map(|(next, _)| next).collect();
        }
        // The side with the strategy needs one move, the other one is given all.
        let chooses = (position.turn() == self.question.winner) == self.win;
        if chooses {
            let kept = after.filter(|(_, known)| {
                self.question.answer(*known) == Some(self.win)
                    || self.question.answer(*known).is_none()
                        && self.question.guess(*known) == self.win
            });
            let best = kept.min_by_key(|(next, known)| self.cost(next, *known));
            best.map(|(next, _)| next).into_iter().collect()
        } else {
            let open = |known: Known| self.question.answer(known).is_none();
            after.filter(|(_, known)| open(*known)).map(|(next, _)| next).collect()
        }
    }

    /// What a move costs the side that has one to choose.
    fn cost(&self, next: &Chess, known: Known) -> (bool, u16, bool, bool) {
        let undecided = self.question.answer(known) != Some(self.win);
        let moves = if self.win { known.moves } else { 0 };
        (undecided, moves, !self.seen.contains(&hash(next)), !known.open)
    }

    /// Meets the slices behind moves that lose by what is assumed. Of captures that end where the
    /// piece may not stand that is known only when the slice is open.
    fn meet_ruled(&mut self, position: &Chess, depth: u32) {
        for m in position.legal_moves() {
            if self.slices.assumptions.of_move(position, &m).is_some() {
                let mut next = position.clone();
                next.play_unchecked(m);
                if !self.slices.is_open(&key_of(&next).0) {
                    self.meet(&next, depth + 1);
                }
            }
        }
    }

    /// Notes that a slice is not open.
    fn meet(&mut self, position: &Chess, depth: u32) {
        let (key, _) = key_of(position);
        let met = self.met.entry(key).or_insert(Met { hits: 0, depth });
        met.hits += 1;
        met.depth = met.depth.min(depth);
    }
}
