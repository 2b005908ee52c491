//! Walks along a strategy: what still has to be known before a question is answered.

use std::collections::VecDeque;

use hoffman_board::shakmaty::{Chess, EnPassantMode, Move, Position as _, zobrist::Zobrist64};
use hoffman_board::{Color, FuturemoveKind, Outcome, OutcomeBounds};
use hoffman_solve::{Leaving, Monitor};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::key::{Key, key_of};
use crate::known::{KnownSlice, after};
use crate::slices::Slices;

/// So many positions are looked at side by side.
const TOGETHER: usize = 1024;

/// Of so many positions in a slice that is not open another walk may go on.
const STARTS: usize = 64;

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
    pub(crate) fn answer(self, known: OutcomeBounds) -> Option<bool> {
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
    fn guess(self, known: KnownSlice) -> bool {
        known.guess == Outcome::won_by(self.winner)
    }
}

/// Which moves a walk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkMoves {
    /// One strategy of the side that the guess favours, against all replies.
    OfAStrategy,
    /// All moves. More is known of some positions than the slices before them were told; if
    /// nothing else is left, the slices that would tell are met here.
    All,
}

/// A position that a walk begins at.
#[derive(Clone, Debug)]
pub(crate) struct WalkStart {
    position: Chess,
    /// Plies from the position that is asked about.
    depth: u32,
    pub(crate) question: Question,
    /// The answer that is to be proven.
    win: bool,
}

impl WalkStart {
    /// The position that is asked about.
    pub(crate) fn at_root(slices: &Slices, root: &Chess, question: Question) -> WalkStart {
        let win = question.guess(slices.known_of(root));
        WalkStart { position: root.clone(), depth: 0, question, win }
    }
}

/// What a walk came by.
#[derive(Default)]
pub(crate) struct Walked {
    /// The slices that are met and not open.
    pub(crate) met: FxHashMap<Key, Met>,
    /// Positions in them.
    pub(crate) starts: FxHashMap<Key, Vec<WalkStart>>,
    /// Whether there were more positions than it was to look at.
    pub(crate) cut: bool,
}

/// How walks go.
#[derive(Clone, Copy)]
pub(crate) struct Walks<'m> {
    pub(crate) moves: WalkMoves,
    /// How many positions are looked at.
    pub(crate) most: usize,
    /// Tells when to stop.
    pub(crate) monitor: &'m dyn Monitor,
}

/// Looks at positions, those first that are near. All starts have the same question.
pub(crate) fn walk(
    slices: &Slices,
    starts: Vec<WalkStart>,
    Walks { moves, most, monitor }: Walks<'_>,
) -> Walked {
    let Some(&WalkStart { question, win, .. }) = starts.first() else { return Walked::default() };
    let (seen, walked) = (FxHashSet::default(), Walked::default());
    let mut walk = Walk { slices, question, win, moves, seen, walked };
    let mut waiting = VecDeque::new();
    for WalkStart { position, depth, .. } in starts {
        if walk.seen.insert(hash(&position)) {
            let known = slices.known_of(&position);
            waiting.push_back((position, known, depth));
        }
    }
    while !waiting.is_empty() && !monitor.is_stopped() {
        // What a position leads to depends on nothing that the walk has come by.
        let some: Vec<_> = waiting.drain(..waiting.len().min(TOGETHER)).collect();
        let look = |(position, known, _): &(Chess, KnownSlice, u32)| walk.look(position, *known);
        let looked: Vec<Looked> = some.par_iter().with_min_len(8).map(look).collect();
        for ((position, _, depth), looked) in some.into_iter().zip(looked) {
            for next in walk.visit(&position, looked, depth) {
                if walk.seen.contains(&next.hash) {
                    continue;
                }
                walk.walked.cut |= walk.seen.len() >= most;
                if !walk.walked.cut {
                    walk.seen.insert(next.hash);
                    waiting.push_back((next.position, next.known, depth + 1));
                }
            }
        }
    }
    walk.walked
}

fn hash(position: &Chess) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

struct Walk<'s> {
    slices: &'s Slices,
    question: Question,
    /// The answer that is to be proven.
    win: bool,
    moves: WalkMoves,
    seen: FxHashSet<u64>,
    walked: Walked,
}

/// A position that a walk may go on to.
struct WalkStep {
    position: Chess,
    known: KnownSlice,
    hash: u64,
}

/// What a walk finds at a position.
#[derive(Default)]
struct Looked {
    /// Whether the slice of the position is not open, and matters.
    meets: bool,
    /// Whether slices behind moves that lose by what is assumed matter.
    meets_ruled: bool,
    /// Where the walk may go on, as far as it has not been there.
    next: Vec<WalkStep>,
    /// Whether it goes on to one of them only.
    one: bool,
}

impl Walk<'_> {
    /// Looks at a position.
    fn look(&self, position: &Chess, known: KnownSlice) -> Looked {
        let answered = self.question.answer(known.bounds()).is_some();
        if answered {
            let meets = !known.open && self.moves == WalkMoves::All;
            return Looked { meets, ..Looked::default() };
        }
        // The side with the strategy needs one move, the other one is given all.
        let chooses = (position.turn() == self.question.winner) == self.win;
        let one = chooses && self.moves == WalkMoves::OfAStrategy;
        if !known.open {
            let takes = if one { self.takes_landed(position) } else { Vec::new() };
            let meets = takes.is_empty();
            return Looked {
                meets,
                next: self.unseen(position, takes, one),
                one,
                ..Looked::default()
            };
        }
        let meets_ruled = self.moves == WalkMoves::All && !self.slices.assumptions.is_empty();

        let moves = self.slices.assumptions.moves(position);
        let known = self.slices.known_behind(position, &moves);
        let behind = moves.into_iter().zip(known);

        let behind: Vec<(Move, KnownSlice)> = match self.moves {
            WalkMoves::All => behind.collect(),
            WalkMoves::OfAStrategy if chooses => self.best(behind),
            WalkMoves::OfAStrategy => {
                behind.filter(|(_, known)| self.question.answer(known.bounds()).is_none()).collect()
            }
        };
        Looked { meets: false, meets_ruled, next: self.unseen(position, behind, one), one }
    }

    /// The captures of a piece that has just landed that may keep the answer. What is behind one
    /// has a man less than the slice with the piece, which need not be opened then.
    fn takes_landed(&self, position: &Chess) -> Vec<(Move, KnownSlice)> {
        let (board, turn) = (position.board(), position.turn());
        let pieces = board.by_color(turn.other()) & !board.kings() & !board.pawns();
        if pieces.is_empty() {
            return Vec::new();
        }
        let mut moves = self.slices.assumptions.moves(position);
        moves.retain(|m| pieces.contains(m.to()) && self.slices.looks_at_landed(position, m.to()));
        let known = self.slices.known_behind(position, &moves);
        self.best(moves.into_iter().zip(known))
    }

    /// The positions behind moves in which the walk has not been. Nothing is left to be looked at
    /// where one of them is to be chosen and it has been in another.
    fn unseen(&self, position: &Chess, moves: Vec<(Move, KnownSlice)>, one: bool) -> Vec<WalkStep> {
        let mut next = Vec::with_capacity(moves.len());
        for (m, known) in moves {
            let position = after(position, m);
            let hash = hash(&position);
            if !self.seen.contains(&hash) {
                next.push(WalkStep { position, known, hash });
            } else if one {
                return Vec::new();
            }
        }
        next
    }

    /// Notes what was found at a position; the positions after it that have to be looked at.
    fn visit(&mut self, position: &Chess, looked: Looked, depth: u32) -> Vec<WalkStep> {
        let Looked { meets, meets_ruled, next, one } = looked;
        if meets {
            self.meet(position, depth);
        }
        if meets_ruled {
            self.meet_ruled(position, depth);
        }
        if !one {
            return next;
        }
        let is_new = |next: &WalkStep| !self.seen.contains(&next.hash);
        let one = next.into_iter().min_by_key(|next| (is_new(next), !next.known.open));
        one.into_iter().collect()
    }

    /// Of the moves that may keep the answer those that cost the side with the strategy least.
    fn best(&self, behind: impl Iterator<Item = (Move, KnownSlice)>) -> Vec<(Move, KnownSlice)> {
        let keeps = |known: KnownSlice| match self.question.answer(known.bounds()) {
            Some(answer) => answer == self.win,
            None => self.question.guess(known) == self.win,
        };
        let cost = |known: KnownSlice| {
            let undecided = self.question.answer(known.bounds()).is_none();
            (undecided, if self.win { known.moves } else { 0 })
        };
        let kept: Vec<(Move, KnownSlice)> = behind.filter(|(_, known)| keeps(*known)).collect();
        let least = kept.iter().map(|(_, known)| cost(*known)).min();
        kept.into_iter().filter(|(_, known)| Some(cost(*known)) == least).collect()
    }

    /// Meets the slices behind moves that lose by what is assumed. Of captures that end where the
    /// piece may not stand that is known only when the slice is open.
    fn meet_ruled(&mut self, position: &Chess, depth: u32) {
        let assumptions = &self.slices.assumptions;
        let (from, _) = key_of(position, assumptions);
        for m in position.legal_moves() {
            if assumptions.of_move(position, &m).is_none() {
                continue;
            }
            let Key { family, pawns } = key_of(&after(position, m), assumptions).0;
            let color = position.turn();
            let leaving = Leaving {
                color,
                kind: FuturemoveKind::of_move(m.role(), m.to(), m.capture(), m.promotion()),
                material: family.material,
                pawns,
                promoted: m.promotion().map(|role| (color, role, m.to())),
            };
            for key in self.slices.targets(&from, &leaving) {
                if !self.slices.is_open(&key) {
                    self.meet_slice(key, depth + 1);
                }
            }
        }
    }

    /// Notes that a slice is not open.
    fn meet(&mut self, position: &Chess, depth: u32) {
        let (key, _) = key_of(position, &self.slices.assumptions);
        let starts = self.walked.starts.entry(key).or_default();
        if starts.len() < STARTS {
            let (question, win) = (self.question, self.win);
            starts.push(WalkStart { position: position.clone(), depth, question, win });
        }
        self.meet_slice(key, depth);
    }

    fn meet_slice(&mut self, key: Key, depth: u32) {
        let met = self.walked.met.entry(key).or_insert(Met { hits: 0, depth });
        met.hits += 1;
        met.depth = met.depth.min(depth);
    }
}
