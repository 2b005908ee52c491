//! Strategies: a move for every position that can arise, against any defence.

use std::collections::{BTreeMap, HashSet};

use hoffman_board::shakmaty::fen::Epd;
use hoffman_board::shakmaty::zobrist::Zobrist128;
use hoffman_board::shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _};
use hoffman_board::{Color, Outcome, Value};
use hoffman_certificate::{Choice, Claim, Claimed, can_mate};
use hoffman_solve::Monitor;

use crate::distances::DistanceSearch;
use crate::known::after;
use crate::slices::Slices;

/// What is known of the positions of a strategy.
pub(crate) enum Grounds<'s> {
    /// How far the win is, at most.
    Win(&'s DistanceSearch<'s>),
    /// That the side does not lose.
    Hold(&'s Slices),
}

impl Grounds<'_> {
    fn slices(&self) -> &Slices {
        match self {
            Grounds::Win(distances) => distances.slices,
            Grounds::Hold(slices) => slices,
        }
    }
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

impl Grounds<'_> {
    /// The claim of a side, proved by its best moves and all replies to them.
    pub(crate) fn claim(
        &self,
        position: &Chess,
        side: Color,
        room: &StrategyRoom<'_>,
    ) -> Result<Claim, NoStrategy> {
        let grounds = self;
        let claimed = match grounds {
            Grounds::Win(distances) => match distances.value_of(position) {
                Some(Value::Win(moves) | Value::Loss(moves)) => Claimed::Wins(moves),
                _ => return Err(NoStrategy::Unknown),
            },
            Grounds::Hold(_) => Claimed::Holds,
        };
        let mut walk = StrategyWalk { side, grounds, met: HashSet::new(), waiting: Vec::new() };
        if position.turn() == side {
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
        Ok(Claim { side, claimed, choices })
    }
}

struct StrategyWalk<'w> {
    side: Color,
    grounds: &'w Grounds<'w>,
    met: HashSet<u128>,
    waiting: Vec<Chess>,
}

impl StrategyWalk<'_> {
    /// Notes a position in which a move has to be chosen, unless that is done, or nothing can be
    /// lost in it.
    fn meet(&mut self, position: Chess) {
        if !self.is_settled(&position) && self.met.insert(hash(&position)) {
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
        let moves = self.grounds.slices().moves(position).into_iter();
        moves.map(|m| after(position, m)).collect()
    }

    /// Whether a side that only holds has nothing to fear any more.
    fn is_settled(&self, position: &Chess) -> bool {
        matches!(self.grounds, Grounds::Hold(_)) && !can_mate(position.board(), self.side.other())
    }

    /// The move that wins first and the number of the mating move, or the move that keeps what is
    /// held, none in stalemate; of several the one that leads to the fewest new positions.
    fn choose(&self, position: &Chess) -> Option<(Option<Move>, u16)> {
        let moves = self.grounds.slices().moves(position);
        match self.grounds {
            Grounds::Win(distances) => {
                let left = |m: &Move| match distances.value_of(&after(position, *m))? {
                    Value::Loss(moves) => Some((moves, *m)),
                    _ => None,
                };
                let winning: Vec<(u16, Move)> = moves.iter().filter_map(left).collect();
                let first = winning.iter().map(|&(moves, _)| moves).min()?;
                let best = winning.into_iter().filter(|&(moves, _)| moves == first);
                let m = self.cheapest(position, best.map(|(_, m)| m))?;
                Some((Some(m), first + 1))
            }
            Grounds::Hold(_) if moves.is_empty() && !position.is_check() => Some((None, 0)),
            Grounds::Hold(slices) => {
                let holds = |m: &Move| slices.holds(&after(position, *m), self.side);
                let m = self.cheapest(position, moves.into_iter().filter(holds))?;
                Some((Some(m), 0))
            }
        }
    }

    /// The move that leads to the fewest new positions.
    fn cheapest(&self, position: &Chess, moves: impl Iterator<Item = Move>) -> Option<Move> {
        let mut best = None;
        for m in moves {
            let is_new = |next: &Chess| !self.is_settled(next) && !self.met.contains(&hash(next));
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

impl Slices {
    /// Whether a side certainly does not lose.
    fn holds(&self, position: &Chess, side: Color) -> bool {
        let known = self.known_of(position);
        let worst = side.fold_wb(known.least, known.most);
        worst != Outcome::won_by(side.other())
    }
}

fn hash(position: &Chess) -> u128 {
    position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0
}

fn epd(position: &Chess) -> String {
    Epd::from_position(position, EnPassantMode::Legal).to_string()
}
