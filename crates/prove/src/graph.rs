//! Positions looked at one by one: all that can arise from one, where they are few.
//!
//! A slice has the pieces on all squares. Where most of them cannot move, or may not, far fewer
//! positions arise than that, however many pieces there are. And what is assumed of a move may
//! depend here on where all other men stand.

use std::collections::VecDeque;

use hoffman_board::shakmaty::{Chess, Position as _};
use hoffman_board::{Color, OutcomeBounds, Value};
use hoffman_space::Code as _;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::assumptions::{AssumedResult, Assumptions};
use crate::known::{after, hash, outcome};
use crate::slices::SliceGame;

/// What a position takes at most, in bytes, with the moves from it and to it.
pub(crate) const POSITION: usize = 400;

/// What a position is by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// There are moves, or nobody has looked yet.
    No,
    Mated,
    Stalemated,
    /// A move wins by what is assumed.
    Wins,
    /// All moves lose by what is assumed.
    Loses,
}

/// The positions that arise from one.
pub(crate) struct PositionGraph {
    numbers: FxHashMap<u128, u32>,
    turns: Vec<Color>,
    /// Of those that were looked at, which are the first ones.
    ends: Vec<Ends>,
    /// Where the positions behind the moves of each of them begin, and where the last ones end.
    starts: Vec<usize>,
    behind: Vec<u32>,
    /// The others, in order.
    waiting: VecDeque<Chess>,
    /// Codes: what is not known is settled against White in the first ones, for White in the
    /// others. None before anything was settled.
    bounds: [Vec<u16>; 2],
    /// How many positions had been looked at then.
    settled: usize,
}

/// What is found at a position.
struct FoundMoves {
    ends: Ends,
    next: Vec<(u128, Chess)>,
}

impl PositionGraph {
    /// Only the first position is there yet.
    pub(crate) fn new(position: &Chess) -> PositionGraph {
        let mut graph = PositionGraph {
            numbers: FxHashMap::default(),
            turns: Vec::new(),
            ends: Vec::new(),
            starts: vec![0],
            behind: Vec::new(),
            waiting: VecDeque::new(),
            bounds: Default::default(),
            settled: 0,
        };
        graph.number(hash(position), || position.clone());
        graph
    }

    /// Looks at so many more positions, those first that are near.
    pub(crate) fn look(&mut self, positions: usize, assumptions: &Assumptions) {
        let some: Vec<Chess> = self.waiting.drain(..positions.min(self.waiting.len())).collect();
        let seen: Vec<FoundMoves> =
            some.par_iter().with_min_len(16).map(|position| see(position, assumptions)).collect();
        for FoundMoves { ends, next } in seen {
            self.ends.push(ends);
            for (hash, position) in next {
                let number = self.number(hash, || position);
                self.behind.push(number);
            }
            self.starts.push(self.behind.len());
        }
    }

    /// The number of a position.
    fn number(&mut self, hash: u128, position: impl FnOnce() -> Chess) -> u32 {
        let next = self.turns.len() as u32;
        *self.numbers.entry(hash).or_insert_with(|| {
            let position = position();
            self.turns.push(position.turn());
            self.waiting.push_back(position);
            next
        })
    }

    /// How many positions were looked at.
    pub(crate) fn looked(&self) -> usize {
        self.ends.len()
    }

    /// How many positions are known.
    pub(crate) fn known(&self) -> usize {
        self.turns.len()
    }

    /// Whether all positions were looked at.
    pub(crate) fn is_whole(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether it is worked out what is certain by all that was looked at.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled == self.looked()
    }

    /// What they take in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<(u128, u32)>() + 2 + size_of::<usize>() + 2 * size_of::<u16>();
        let waiting = self.waiting.len() * size_of::<Chess>();
        self.known() * each + self.behind.len() * size_of::<u32>() + waiting
    }

    /// Works out what is certain of all positions.
    pub(crate) fn settle(&mut self, assumptions: &Assumptions) {
        let before = self.moves_back();
        let stalemates = assumptions.stalemates_won_by();
        let least = self.settled(&before, stalemates, Color::Black);
        let most = if self.is_whole() {
            least.clone()
        } else {
            self.settled(&before, stalemates, Color::White)
        };
        self.bounds = [least, most];
        self.settled = self.looked();
    }

    /// The positions before each: where they begin, and they.
    fn moves_back(&self) -> (Vec<usize>, Vec<u32>) {
        let mut starts = vec![0; self.known() + 1];
        for &behind in &self.behind {
            starts[behind as usize + 1] += 1;
        }
        for number in 0..self.known() {
            starts[number + 1] += starts[number];
        }
        let mut next = starts.clone();
        let mut before = vec![0; self.behind.len()];
        for number in 0..self.looked() {
            for &behind in &self.behind[self.starts[number]..self.starts[number + 1]] {
                before[next[behind as usize]] = number as u32;
                next[behind as usize] += 1;
            }
        }
        (starts, before)
    }

    /// The codes of all positions, if those that nobody has looked at are won by a side.
    fn settled(
        &self,
        (starts, before): &(Vec<usize>, Vec<u32>),
        stalemates: Option<Color>,
        unknown: Color,
    ) -> Vec<u16> {
        let mut wave = Wave { codes: vec![u16::ILLEGAL; self.known()], won: vec![], lost: vec![] };
        for (number, &turn) in (0..).zip(&self.turns) {
            let wins = |winner: Color| {
                if winner == turn { Some(Value::Win(1)) } else { Some(Value::Loss(0)) }
            };
            let value = match self.ends.get(number as usize) {
                None => wins(unknown),
                Some(Ends::No) => None,
                Some(Ends::Mated) => Some(Value::Loss(0)),
                Some(Ends::Stalemated) => stalemates.and_then(wins),
                Some(Ends::Wins) => Some(Value::Win(1)),
                Some(Ends::Loses) => Some(Value::Loss(1)),
            };
            if let Some(value) = value {
                wave.settle(number, value);
            }
        }

        // How many moves of a position do not lose yet.
        let moves = self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as u16);
        let mut left: Vec<u16> = moves.collect();
        let before = |number: u32| &before[starts[number as usize]..starts[number as usize + 1]];
        for moves in 0.. {
            let at = usize::from(moves);
            if at >= wave.won.len().max(wave.lost.len()) {
                break;
            }
            for number in take(&mut wave.won, at) {
                for &before in before(number) {
                    let left = &mut left[before as usize];
                    *left -= 1;
                    if *left == 0 {
                        wave.settle(before, Value::Loss(moves));
                    }
                }
            }
            for number in take(&mut wave.lost, at) {
                for &before in before(number) {
                    wave.settle(before, Value::Win(moves + 1));
                }
            }
        }
        for code in &mut wave.codes {
            if *code == u16::ILLEGAL {
                *code = u16::DRAW;
            }
        }
        wave.codes
    }

    /// What is certain of a position; nothing of one that is not there.
    pub(crate) fn bounds_of(&self, position: &Chess) -> OutcomeBounds {
        let known = |game| Some(outcome(self.value_of(game, position)?, position.turn()));
        let bounds = known(SliceGame::Least).zip(known(SliceGame::Most));
        bounds.map_or(OutcomeBounds::UNKNOWN, |(least, most)| OutcomeBounds { least, most })
    }

    /// The value of a position in one of the bounds.
    pub(crate) fn value_of(&self, game: SliceGame, position: &Chess) -> Option<Value> {
        let [least, most] = &self.bounds;
        let codes = if game == SliceGame::Most { most } else { least };
        let number = *self.numbers.get(&hash(position))?;
        codes.get(number as usize).map(|code| code.value())
    }
}

/// Positions that were settled, by the moves of their values.
struct Wave {
    codes: Vec<u16>,
    won: Vec<Vec<u32>>,
    lost: Vec<Vec<u32>>,
}

impl Wave {
    /// Settles a position, if it is not settled yet.
    fn settle(&mut self, number: u32, value: Value) {
        let code = &mut self.codes[number as usize];
        if *code != u16::ILLEGAL {
            return;
        }
        *code = u16::from_value(value);
        let (list, moves) = match value {
            Value::Win(moves) => (&mut self.won, usize::from(moves)),
            Value::Loss(moves) => (&mut self.lost, usize::from(moves)),
            Value::Draw | Value::Illegal => return,
        };
        if list.len() <= moves {
            list.resize_with(moves + 1, Vec::new);
        }
        list[moves].push(number);
    }
}

/// Takes the positions of so many moves out of a list.
fn take(list: &mut [Vec<u32>], moves: usize) -> Vec<u32> {
    list.get_mut(moves).map(std::mem::take).unwrap_or_default()
}

/// Looks at a position.
fn see(position: &Chess, assumptions: &Assumptions) -> FoundMoves {
    let (mut next, mut wins, mut loses) = (Vec::new(), false, false);
    for m in position.legal_moves() {
        match assumptions.of_move(position, &m) {
            None => {
                let position = after(position, m);
                next.push((hash(&position), position));
            }
            Some(AssumedResult::Loses) => loses = true,
            Some(AssumedResult::Wins) => wins = true,
        }
    }
    let ends = match (wins, next.is_empty(), loses) {
        (true, ..) => Ends::Wins,
        (false, false, _) => Ends::No,
        (false, true, true) => Ends::Loses,
        (false, true, false) if position.is_check() => Ends::Mated,
        (false, true, false) => Ends::Stalemated,
    };
    FoundMoves { ends, next }
}
