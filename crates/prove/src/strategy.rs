//! Strategies: a move for every position that can arise, against any defence.

use std::collections::{BTreeMap, HashSet};

use hoffman_board::shakmaty::fen::Epd;
use hoffman_board::shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _};
use hoffman_board::{Color, Value};
use hoffman_certificate::{Choice, Claim, Claimed, can_mate};
use hoffman_solve::Monitor;

use crate::assumptions::Assumptions;
use crate::distances::DistanceSearch;
use crate::graph::PositionGraph;
use crate::known::{after, hash};
use crate::prover::against_winner;
use crate::slices::Slices;

/// How a side achieves what is proven of it: in every position that it comes to some of its moves
/// are good enough, whatever the other side plays.
pub struct ProvenStrategy<'p> {
    side: Color,
    claimed: Claimed,
    assumptions: &'p Assumptions,
    grounds: Grounds<'p>,
}

/// What is known of the positions of a strategy.
pub(crate) enum Grounds<'p> {
    /// Of slices: how far the win is, at most.
    Win(DistanceSearch<'p>),
    /// Of slices: that the side does not lose.
    Hold(&'p Slices),
    /// Both, of positions looked at one by one.
    Positions(&'p PositionGraph),
}

/// Why there is no strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStrategy {
    /// It is not known how, or the work was stopped.
    Unknown,
    /// It has more than so many positions, for which there is no room.
    TooLarge(usize),
}

/// What a position of a strategy takes, in bytes, while it is made and written.
const POSITION: usize = 512;

/// How far a strategy may be followed.
pub(crate) struct StrategyRoom<'m> {
    /// Bytes.
    pub(crate) memory: usize,
    /// Tells when to stop.
    pub(crate) monitor: &'m dyn Monitor,
}

impl<'p> ProvenStrategy<'p> {
    /// That of a side that wins from a position on.
    pub(crate) fn of_win(
        grounds: Grounds<'p>,
        side: Color,
        position: &Chess,
        assumptions: &'p Assumptions,
    ) -> Result<ProvenStrategy<'p>, NoStrategy> {
        let claimed = Claimed::Holds;
        let strategy = ProvenStrategy { side, claimed, assumptions, grounds };
        let moves = strategy.moves_left(position).ok_or(NoStrategy::Unknown)?;
        Ok(ProvenStrategy { claimed: Claimed::Wins(moves), ..strategy })
    }

    /// That of a side that does not lose.
    pub(crate) fn of_hold(
        grounds: Grounds<'p>,
        side: Color,
        assumptions: &'p Assumptions,
    ) -> ProvenStrategy<'p> {
        ProvenStrategy { side, claimed: Claimed::Holds, assumptions, grounds }
    }

    /// The side that follows it.
    #[must_use]
    pub fn side(&self) -> Color {
        self.side
    }

    /// What the side achieves.
    #[must_use]
    pub fn claimed(&self) -> Claimed {
        self.claimed
    }

    /// The moves of the side that are as good as any: those that win first, or that hold. None in
    /// stalemate, and where the side is not sure of anything.
    #[must_use]
    pub fn best_moves(&self, position: &Chess) -> Vec<Move> {
        let moves = self.assumptions.moves(position).into_iter();
        if self.claimed == Claimed::Holds {
            return moves.filter(|&m| self.holds(&after(position, m))).collect();
        }
        let left = |m: Move| Some((self.moves_left(&after(position, m))?, m));
        let winning: Vec<(u16, Move)> = moves.filter_map(left).collect();
        let first = winning.iter().map(|&(moves, _)| moves).min();
        let best = winning.into_iter().filter(|&(moves, _)| Some(moves) == first);
        best.map(|(_, m)| m).collect()
    }

    /// How many moves the winner still needs, at most; none if it is not sure to win.
    #[must_use]
    pub fn moves_left(&self, position: &Chess) -> Option<u16> {
        let value = match &self.grounds {
            Grounds::Win(distances) => distances.value_of(position),
            Grounds::Positions(graph) => graph.value_of(against_winner(self.side), position),
            Grounds::Hold(_) => None,
        };
        match (value?, position.turn() == self.side) {
            (Value::Win(moves), true) | (Value::Loss(moves), false) => Some(moves),
            _ => None,
        }
    }

    /// Whether the side certainly does not lose.
    fn holds(&self, position: &Chess) -> bool {
        let bounds = match &self.grounds {
            Grounds::Win(distances) => distances.slices.known_of(position).bounds(),
            Grounds::Hold(slices) => slices.known_of(position).bounds(),
            Grounds::Positions(graph) => graph.bounds_of(position),
        };
        bounds.is_held_by(self.side)
    }

    /// Whether a side that only holds has nothing to fear any more.
    #[must_use]
    pub fn is_settled(&self, position: &Chess) -> bool {
        self.claimed == Claimed::Holds && !can_mate(position.board(), self.side.other())
    }

    /// The claim of the side, proved by its best moves and all replies to them.
    pub(crate) fn claim(
        &self,
        position: &Chess,
        room: &StrategyRoom<'_>,
    ) -> Result<Claim, NoStrategy> {
        let mut walk = StrategyWalk { strategy: self, met: HashSet::new(), waiting: Vec::new() };
        if position.turn() == self.side {
            walk.meet(position.clone());
        } else {
            walk.meet_replies(position);
        }

        let positions = room.memory / POSITION;
        let mut choices = BTreeMap::new();
        while let Some(position) = walk.waiting.pop() {
            if room.monitor.is_stopped() {
                return Err(NoStrategy::Unknown);
            }
            if walk.met.len() > positions {
                return Err(NoStrategy::TooLarge(positions));
            }
            let (m, moves) = walk.choose(&position).ok_or(NoStrategy::Unknown)?;
            if let Some(m) = m {
                walk.meet_replies(&after(&position, m));
            }
            let m = m.map(|m| m.to_uci(CastlingMode::Standard).to_string());
            choices.insert(epd(&position), Choice { m, moves });
        }
        Ok(Claim { side: self.side, claimed: self.claimed, choices })
    }
}

struct StrategyWalk<'w> {
    strategy: &'w ProvenStrategy<'w>,
    met: HashSet<u128>,
    waiting: Vec<Chess>,
}

impl StrategyWalk<'_> {
    /// Notes a position in which a move has to be chosen, unless that is done, or nothing can be
    /// lost in it.
    fn meet(&mut self, position: Chess) {
        if !self.strategy.is_settled(&position) && self.met.insert(hash(&position)) {
            self.waiting.push(position);
        }
    }

    fn meet_replies(&mut self, position: &Chess) {
        for next in self.replies(position) {
            self.meet(next);
        }
    }

    /// The positions behind the moves of the other side.
    fn replies(&self, position: &Chess) -> Vec<Chess> {
        let moves = self.strategy.assumptions.moves(position).into_iter();
        moves.map(|m| after(position, m)).collect()
    }

    /// The move that wins first and the number of the mating move, or the move that keeps what is
    /// held, none in stalemate; of several the one that leads to the fewest new positions.
    fn choose(&self, position: &Chess) -> Option<(Option<Move>, u16)> {
        let holds = self.strategy.claimed == Claimed::Holds;
        let is_without_moves = self.strategy.assumptions.moves(position).is_empty();
        if holds && is_without_moves && !position.is_check() {
            return Some((None, 0));
        }
        let m = self.cheapest(position, self.strategy.best_moves(position))?;
        let moves = if holds { 0 } else { self.strategy.moves_left(&after(position, m))? + 1 };
        Some((Some(m), moves))
    }

    /// The move that leads to the fewest new positions.
    fn cheapest(&self, position: &Chess, moves: Vec<Move>) -> Option<Move> {
        let mut best = None;
        for m in moves {
            let is_new =
                |next: &Chess| !self.strategy.is_settled(next) && !self.met.contains(&hash(next));
            let replies = self.replies(&after(position, m));
            let new = replies.iter().filter(|next| is_new(next)).count();
            if best.is_none_or(|(least, _)| new < least) {
                best = Some((new, m));
            }
            if new == 0 {
                break;
            }
        }
        best.map(|(_, m)| m)
    }
}

fn epd(position: &Chess) -> String {
    Epd::from_position(position, EnPassantMode::Legal).to_string()
}
