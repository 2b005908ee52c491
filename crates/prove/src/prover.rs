//! Questions about a position, and slices opened until they are answered.

use std::sync::Arc;

use hoffman_board::shakmaty::{Chess, Move, Position as _};
use hoffman_board::{Color, Outcome, OutcomeBounds, Value};
use hoffman_certificate::Claim;
use hoffman_solve::{Monitor, SolveError};
use rustc_hash::FxHashSet;

use crate::assumptions::Assumptions;
use crate::distances::DistanceSearch;
use crate::endings::{Endings, LookedUp};
use crate::graph::{self, PositionGraph};
use crate::key::{Key, key_of};
use crate::known::after;
use crate::slices::{SliceGame, Slices};
use crate::strategy::{Grounds, NoStrategy, ProvenStrategy, StrategyRoom};
use crate::walk::{Met, Question, WalkMoves, WalkStart, Walked, Walks, walk};

/// Positions looked at in the first walks.
const FIRST_REACH: usize = 60_000;

/// How often slices behind those that were just opened are looked for from there, and how many
/// positions are looked at then, before all is brought up to date and looked at from the beginning.
const ROUNDS_AHEAD: u32 = 2;
const REACH_AHEAD: usize = 5_000;

/// Positions evaluated when a slice with one piece is opened, or with two: both sides in each game.
const ONE_PIECE: u64 = 3 * 2 * 64 * 64 * 64;
const TWO_PIECES: u64 = 64 * ONE_PIECE;

/// Positions looked at one by one between two looks at the limits, and how many are known before
/// what is certain is worked out the first time, if they are not all; then always of twice as many.
const POSITIONS_TOGETHER: usize = 1 << 14;
const FEW_POSITIONS: usize = 1 << 20;

/// How many positions might be evaluated in the time in which one is looked at.
const LOOK: u64 = 100;

/// What a position of a walk takes at most, in bytes, with what is kept of it to go on from.
const WALKED: usize = 512;

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The values of open slices take no more than so many bytes.
    pub memory: usize,
}

/// How far a proof is.
#[derive(Clone, Copy, Debug)]
pub struct ProofProgress {
    /// What is certain.
    pub bounds: OutcomeBounds,
    /// How many legal moves there are whose outcome is certain, of how many.
    pub decided: (usize, usize),
    /// Whether positions are looked at one by one.
    pub one_by_one: bool,
    /// Slices that are open, and known; or positions that were looked at, and known.
    pub open: usize,
    /// See `open`.
    pub known: usize,
    /// Positions evaluated.
    pub positions: u64,
    /// What the values take, in bytes.
    pub bytes: usize,
}

/// Whether the pieces of a position alone stand in so few ways that its slice fits into memory,
/// without which nothing is proven.
#[must_use]
pub fn fits(position: &Chess, assumptions: &Assumptions, limits: Limits) -> bool {
    key_of(position, assumptions).0.needs(assumptions) <= limits.memory
}

/// Proves the outcome of a position, or as much of it as the limits allow.
///
/// Whenever the work is stopped, what is known by then is certain.
pub struct Prover {
    position: Chess,
    limits: Limits,
    /// The side of which it is asked whether it wins; none if that is asked of both.
    winner: Option<Color>,
    slices: Slices,
    /// The positions, if they are looked at one by one; then no slices are opened.
    graph: Option<PositionGraph>,
    /// What somebody else knew of the position, and of those behind its legal moves, in their
    /// order.
    looked_up: Option<LookedUp>,
    replies: Vec<Option<LookedUp>>,
    /// How many positions a walk looks at. What is near is opened before more is looked at.
    reach: usize,
    /// How many positions were evaluated when all was last brought up to date.
    update: u64,
    stopped: bool,
}

impl Prover {
    /// Knows the rules, and nothing of the position yet.
    #[must_use]
    pub fn new(position: Chess, limits: Limits) -> Prover {
        let slices = Slices::with_room(limits.memory);
        Prover {
            position,
            limits,
            winner: None,
            slices,
            graph: None,
            looked_up: None,
            replies: Vec::new(),
            reach: FIRST_REACH,
            update: 0,
            stopped: false,
        }
    }

    /// The same under assumptions, all pieces being where they may stand. What is proven then is
    /// true of the game in which they hold.
    #[must_use]
    pub fn assuming(mut self, assumptions: Assumptions) -> Prover {
        debug_assert_eq!(assumptions.misplaced(&self.position), None);
        let one_by_one = assumptions.depend_on_attacks();
        self.slices.assumptions = assumptions;
        if one_by_one { self.one_by_one() } else { self }
    }

    /// Takes the values of endings from somebody who knows them, instead of opening their slices,
    /// and those of the position and its moves instead of proving them; not under assumptions, as
    /// what is known is chess. There are no strategies then.
    #[must_use]
    pub fn knowing(mut self, endings: Arc<dyn Endings>) -> Prover {
        self.slices.know(endings);
        self
    }

    /// Asks only whether one side wins, or the other one holds: half of what is asked else.
    #[must_use]
    pub fn asking(self, winner: Color) -> Prover {
        Prover { winner: Some(winner), ..self }
    }

    /// Looks at positions one by one instead of opening slices: at all that can arise, or as many
    /// as there is memory for. That is for positions most of whose men cannot move, or may not,
    /// and may have any pieces. Assumptions about attacked squares are known only so.
    #[must_use]
    pub fn one_by_one(mut self) -> Prover {
        self.graph = Some(PositionGraph::new(&self.position));
        self
    }

    /// Whether what is asked is certain.
    fn is_answered(&self, known: OutcomeBounds) -> bool {
        questions(self.winner).all(|question| question.answer(known).is_some())
    }

    fn is_decided(&self, position: &Chess) -> bool {
        self.is_answered(self.bounds_of(position))
    }

    /// Decides the position. `tell` says whether to go on.
    pub fn prove(&mut self, monitor: &dyn Monitor, tell: &mut dyn FnMut(&Prover) -> bool) {
        self.looked_up = self.slices.look_up(&self.position);
        if self.looked_up.is_some() {
            return;
        }
        if self.graph.is_some() {
            let is_enough = |prover: &Prover| prover.is_decided(&prover.position);
            self.look_one_by_one(u64::MAX, is_enough, monitor, tell);
        } else {
            self.decide(&self.position.clone(), u64::MAX, monitor, tell);
        }
    }

    /// Looks at positions until all are known or enough is, or about so many positions might have
    /// been evaluated in all, or a limit is met.
    fn look_one_by_one(
        &mut self,
        positions: u64,
        is_enough: fn(&Prover) -> bool,
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) {
        let most = self.limits.memory / graph::POSITION;
        let settled = self.graph.as_ref().filter(|graph| graph.is_settled());
        let mut settled = settled.map_or(0, PositionGraph::known);
        while !is_enough(self) && !self.stopped {
            let ends = self.positions() > positions || monitor.is_stopped();
            let Some(graph) = &mut self.graph else { return };
            if ends || graph.is_whole() || graph.known() > most {
                break;
            }
            // Each of them may lead to many more.
            let room = (most - graph.known()) / 32;
            graph.look(room.clamp(1, POSITIONS_TOGETHER), &self.slices.assumptions);
            if graph.known() >= FEW_POSITIONS.max(2 * settled) {
                graph.settle(&self.slices.assumptions);
                settled = graph.known();
            }
            self.stopped |= !tell(self);
        }
        // What was found since then counts, however the work ended.
        if let Some(graph) = self.graph.as_mut().filter(|graph| !graph.is_settled()) {
            graph.settle(&self.slices.assumptions);
        }
    }

    fn are_moves_decided(&self) -> bool {
        self.moves().iter().all(|(_, bounds)| self.is_answered(*bounds))
    }

    /// Decides the legal moves one after another, until about so many positions have been
    /// evaluated in all.
    pub fn prove_moves(
        &mut self,
        positions: u64,
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) {
        let position = &self.position;
        let replies = position.legal_moves().into_iter().map(|m| after(position, m));
        self.replies = replies.map(|reply| self.slices.look_up(&reply)).collect();
        if self.graph.is_some() {
            self.look_one_by_one(positions, Prover::are_moves_decided, monitor, tell);
            return;
        }
        for (m, bounds) in self.moves() {
            if !self.is_answered(bounds) {
                self.decide(&after(&self.position, m), positions, monitor, tell);
            }
        }
    }

    /// What is certain of another position, as one that has the men elsewhere.
    #[must_use]
    pub fn bounds_of(&self, position: &Chess) -> OutcomeBounds {
        match &self.graph {
            Some(graph) => graph.bounds_of(position),
            None => self.slices.known_of(position).bounds(),
        }
    }

    /// Decides another position that has no more men than the one asked for, until about so many
    /// positions have been evaluated in all.
    pub fn prove_other(
        &mut self,
        position: &Chess,
        positions: u64,
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) {
        self.decide(position, positions, monitor, tell);
    }

    /// Opens slices until a position is decided or a limit is met.
    fn decide(
        &mut self,
        position: &Chess,
        positions: u64,
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) {
        let fits = || fits(position, &self.slices.assumptions, self.limits);
        let looks = self.graph.is_none() && fits();
        if self.is_decided(position) || !looks {
            return;
        }
        let key = key_of(position, &self.slices.assumptions).0;
        let mut next = if self.slices.is_open(&key) { Vec::new() } else { vec![key] };
        if self.slices.work > positions {
            return;
        }
        // Whatever was opened ahead is brought up to date before the work ends.
        while !self.stopped {
            self.open(&next, monitor, tell);
            let left = self.limits.memory.saturating_sub(self.slices.bytes());
            let enough = left == 0 || self.slices.work > positions;
            if self.stopped || enough || self.is_decided(position) {
                return;
            }
            let next_slices = self.wanted(position, left, monitor);
            if next_slices.keys.is_empty() {
                return;
            }
            next = self.open_ahead(next_slices, positions, monitor, tell);
        }
    }

    /// Opens slices, and some without pieces that are met behind them, without bringing all up to
    /// date each time: that takes most of the work. Returns those that are to be opened then; none
    /// if more positions than so many were evaluated.
    fn open_ahead(
        &mut self,
        NextSlices { mut keys, mut starts }: NextSlices,
        positions: u64,
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) -> Vec<Key> {
        for _ in 0..ROUNDS_AHEAD {
            // Nothing is told as long as the position may be worth more than is known of it.
            if let Err(error) = self.slices.open_ahead(&keys, monitor) {
                self.tell(Err(error), tell);
                return Vec::new();
            }
            if self.slices.work > positions {
                return Vec::new();
            }
            let left = self.limits.memory.saturating_sub(self.slices.bytes());
            self.slices.room = left;
            let (moves, most) = (WalkMoves::OfAStrategy, REACH_AHEAD);
            let mut walked = met(&self.slices, starts, Walks { moves, most, monitor });
            walked
                .met
                .retain(|key, _| key.pieces() == 0 && key.needs(&self.slices.assumptions) <= left);
            NextSlices { keys, starts } = choose(&self.slices, walked, self.update);
            if keys.is_empty() {
                break;
            }
        }
        keys
    }

    /// Opens slices, brings all up to date, and tells how far the work is.
    fn open(&mut self, keys: &[Key], monitor: &dyn Monitor, tell: &mut dyn FnMut(&Prover) -> bool) {
        let before = self.slices.work;
        let opened = self.slices.open(keys, monitor);
        self.update = self.slices.work - before;
        self.tell(opened, tell);
    }

    /// Tells how far the work is after slices were opened.
    fn tell(&mut self, opened: Result<(), SolveError>, tell: &mut dyn FnMut(&Prover) -> bool) {
        // What was finished before work was stopped is as true as ever.
        if let Err(error) = opened {
            debug_assert!(matches!(error, SolveError::Stopped), "{error}");
            self.stopped = true;
        }
        self.stopped |= !tell(self);
    }

    /// Opens slices if there is room for values. Whether to go on.
    pub(crate) fn open_in_room(
        &mut self,
        keys: &[Key],
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) -> bool {
        self.slices.room = self.limits.memory.saturating_sub(self.slices.bytes());
        if self.stopped || self.slices.room == 0 {
            return false;
        }
        self.open(keys, monitor, tell);
        !self.stopped
    }

    pub(crate) fn slices(&self) -> &Slices {
        &self.slices
    }

    pub(crate) fn position(&self) -> &Chess {
        &self.position
    }

    /// The slices to be opened next that need no more than so many bytes; none if all that matters
    /// is open.
    fn wanted(&mut self, position: &Chess, left: usize, monitor: &dyn Monitor) -> NextSlices {
        self.slices.room = left;
        let (first, others) = self.in_turn(position);
        for asked in [first, others] {
            for moves in [WalkMoves::OfAStrategy, WalkMoves::All] {
                let walked = self.walk_on(position, &asked, moves, monitor);
                if !walked.met.is_empty() {
                    return choose(&self.slices, walked, self.update);
                }
            }
        }
        NextSlices::default()
    }

    /// The slices met that there is room for. Where there are none near the position, it is looked
    /// farther away before anything else is asked.
    fn walk_on(
        &mut self,
        position: &Chess,
        asked: &[Question],
        moves: WalkMoves,
        monitor: &dyn Monitor,
    ) -> Walked {
        let left = self.slices.room;
        loop {
            let at_root = |&question| WalkStart::at_root(&self.slices, position, question);
            let starts = asked.iter().map(at_root).collect();
            let mut walked = met(&self.slices, starts, Walks { moves, most: self.reach, monitor });
            let fits = |key: &Key| key.needs(&self.slices.assumptions) <= left;
            walked.met.retain(|key, _| fits(key) || self.slices.is_leaf(key));
            let farther = self.reach.saturating_mul(2 * WALKED) <= left && walked.cut;
            if !walked.met.is_empty() || !farther || monitor.is_stopped() {
                return walked;
            }
            self.reach *= 2;
        }
    }

    /// The open questions about a position: those that are asked first, and the others. If a side
    /// is thought to win it is asked first whether it does, since that answers all else. What the
    /// other side can reach is asked if nothing more is to be found out about the win.
    fn in_turn(&self, position: &Chess) -> (Vec<Question>, Vec<Question>) {
        let known = self.slices.known_of(position);
        let winner = known.guess.winner();
        questions(self.winner)
            .filter(|question| question.answer(known.bounds()).is_none())
            .partition(|question| winner.is_none_or(|winner| winner == question.winner))
    }

    /// How many positions have been evaluated so far, or might have been in the time.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let looked = self.graph.as_ref().map_or(0, PositionGraph::looked);
        self.slices.work + looked as u64 * LOOK
    }

    /// How far the work is.
    #[must_use]
    pub fn progress(&self) -> ProofProgress {
        let moves = self.moves();
        let decided = moves.iter().filter(|(_, bounds)| self.is_answered(*bounds)).count();
        let (bounds, decided) = (self.bounds(), (decided, moves.len()));
        if let Some(graph) = &self.graph {
            let (open, known, bytes) = (graph.looked(), graph.known(), graph.bytes());
            let positions = open as u64;
            return ProofProgress {
                bounds,
                decided,
                one_by_one: true,
                open,
                known,
                positions,
                bytes,
            };
        }
        ProofProgress {
            bounds,
            decided,
            one_by_one: false,
            open: self.slices.count(),
            known: self.slices.known(),
            positions: self.slices.work,
            bytes: self.slices.bytes(),
        }
    }

    /// What is certain of the position.
    fn bounds(&self) -> OutcomeBounds {
        let bounds = match self.looked_up {
            Some(known) => OutcomeBounds::exactly(known.outcome),
            None => self.bounds_of(&self.position),
        };
        // Slices before endings that are known are told of them, single positions are not.
        if self.graph.is_none() || !self.knows_replies() {
            return bounds;
        }
        let behind = || self.moves().into_iter().map(|(_, bounds)| bounds);
        let (least, most) = (behind().map(|of| of.least), behind().map(|of| of.most));
        let (least, most) = match self.position.turn() {
            Color::White => (least.max(), most.max()),
            Color::Black => (least.min(), most.min()),
        };
        OutcomeBounds {
            least: least.map_or(bounds.least, |least| least.max(bounds.least)),
            most: most.map_or(bounds.most, |most| most.min(bounds.most)),
        }
    }

    /// Whether somebody knew positions behind the moves.
    fn knows_replies(&self) -> bool {
        self.replies.iter().any(Option::is_some)
    }

    /// The legal moves, and what is certain of the positions behind them, or assumed.
    #[must_use]
    pub fn moves(&self) -> Vec<(Move, OutcomeBounds)> {
        let position = &self.position;
        let certain = |(at, m): (usize, Move)| {
            let outcome = match self.slices.assumptions.of_move(position, &m) {
                Some(ruling) => Some(ruling.outcome(position.turn())),
                None => self.replies.get(at).copied().flatten().map(|known| known.outcome),
            };
            let proven = || self.bounds_of(&after(position, m));
            (m, outcome.map_or_else(proven, OutcomeBounds::exactly))
        };
        position.legal_moves().into_iter().enumerate().map(certain).collect()
    }

    /// After how many moves of the winner he has won, at least and at most; none if no win is
    /// proven.
    ///
    /// # Errors
    ///
    /// [`SolveError::Stopped`].
    pub fn distance(&self, monitor: &dyn Monitor) -> Result<Option<(u16, u16)>, SolveError> {
        let Some(winner) = self.winner() else { return Ok(None) };
        if let Some(known) = self.looked_up {
            return Ok(known.moves.map(|moves| (moves, moves)));
        }
        let moves = |game| -> Result<Option<u16>, SolveError> {
            let value = match &self.graph {
                Some(graph) => graph.value_of(game, &self.position),
                None => DistanceSearch::new(&self.slices, game, monitor)?.value_of(&self.position),
            };
            Ok(match value {
                Some(Value::Win(moves) | Value::Loss(moves)) => Some(moves),
                _ => None,
            })
        };
        let (least, most) = (moves(for_winner(winner))?, moves(against_winner(winner))?);
        Ok(least.zip(most))
    }

    /// The strategies that prove what is certain of the sides, a win or not to lose; none if
    /// nothing is.
    ///
    /// # Errors
    ///
    /// The work was stopped; values were read, of which nobody knows how they come about.
    pub fn strategies(&self, monitor: &dyn Monitor) -> Result<Vec<ProvenStrategy<'_>>, NoStrategy> {
        let is_known = self.looked_up.is_some() || self.graph.is_some() && self.knows_replies();
        if self.slices.has_read() || is_known {
            return Err(NoStrategy::Unknown);
        }
        let assumptions = &self.slices.assumptions;
        if let Some(winner) = self.winner() {
            let grounds = if let Some(graph) = &self.graph {
                Grounds::Positions(graph)
            } else {
                let distances = DistanceSearch::new(&self.slices, against_winner(winner), monitor);
                Grounds::Win(distances.map_err(|_| NoStrategy::Unknown)?)
            };
            return Ok(vec![ProvenStrategy::of_win(grounds, winner, &self.position, assumptions)?]);
        }
        let bounds = self.bounds();
        let holding = Color::ALL.into_iter().filter(|&side| bounds.is_held_by(side));
        let grounds =
            || self.graph.as_ref().map_or(Grounds::Hold(&self.slices), Grounds::Positions);
        Ok(holding.map(|side| ProvenStrategy::of_hold(grounds(), side, assumptions)).collect())
    }

    /// What some of the strategies prove, with all of their moves. They answer all legal moves, but
    /// those that the assumptions take from the other side.
    ///
    /// # Errors
    ///
    /// The work was stopped; there is no room beside the values of the slices.
    pub fn claims(
        &self,
        strategies: &[ProvenStrategy<'_>],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Claim>, NoStrategy> {
        let memory = self.limits.memory.saturating_sub(self.progress().bytes);
        let room = StrategyRoom { memory, monitor };
        strategies.iter().map(|strategy| strategy.claim(&self.position, &room)).collect()
    }

    fn winner(&self) -> Option<Color> {
        self.bounds().known().and_then(Outcome::winner)
    }
}

/// The game in which all that is not known is settled against a side.
pub(crate) fn against_winner(winner: Color) -> SliceGame {
    winner.fold_wb(SliceGame::Least, SliceGame::Most)
}

/// The game in which it is settled for a side.
fn for_winner(winner: Color) -> SliceGame {
    winner.fold_wb(SliceGame::Most, SliceGame::Least)
}

/// What is asked: whether a side wins, or either of them.
fn questions(winner: Option<Color>) -> impl Iterator<Item = Question> {
    let asked = move |color: &Color| winner.is_none_or(|winner| winner == *color);
    Color::ALL.into_iter().filter(asked).map(|winner| Question { winner })
}

/// Takes the slices of endings that are read out of those met: the nearest one of each ending.
fn one_of_each_ending(slices: &Slices, met: &mut Vec<(Key, Met)>) -> Vec<Key> {
    let mut leaves: Vec<Key> = Vec::new();
    let mut endings = FxHashSet::default();
    met.retain(|(key, _)| {
        let is_leaf = slices.is_leaf(key);
        if is_leaf && endings.insert(key.family.material.normalized().0) {
            leaves.push(*key);
        }
        !is_leaf
    });
    leaves
}

/// The slices that matter for the questions that positions are looked at with.
fn met(slices: &Slices, starts: Vec<WalkStart>, walks: Walks<'_>) -> Walked {
    let is_white = |start: &WalkStart| start.question.winner == Color::White;
    let (white, black) = starts.into_iter().partition(is_white);
    let walked = |starts: Vec<WalkStart>| walk(slices, starts, walks);
    let (mut walked, other) = rayon::join(|| walked(white), || walked(black));
    walked.cut |= other.cut;
    for (key, more) in other.met {
        let met = walked.met.entry(key).or_insert(more);
        met.hits = met.hits.max(more.hits);
        met.depth = met.depth.min(more.depth);
    }
    for (key, more) in other.starts {
        walked.starts.entry(key).or_default().extend(more);
    }
    walked
}

/// The slices that are opened next, and positions in them.
#[derive(Default)]
struct NextSlices {
    keys: Vec<Key>,
    starts: Vec<WalkStart>,
}

/// The slices to be opened of those met, after so many positions were evaluated to bring all up to
/// date.
fn choose(slices: &Slices, walked: Walked, update: u64) -> NextSlices {
    let mut starts = walked.starts;
    let keys = chosen(slices, walked.met.into_iter().collect(), update);
    let starts = keys.iter().filter_map(|key| starts.remove(key)).flatten().collect();
    NextSlices { keys, starts }
}

/// Those of endings that are read, and those without pieces: they are small. Others as many as take
/// a quarter of the work of the last update, in which what was opened for it is part.
fn chosen(slices: &Slices, mut all: Vec<(Key, Met)>, update: u64) -> Vec<Key> {
    let most = |of_each: u64, least: usize| least.max((update / 4 / of_each) as usize);
    let budget = (slices.count() / 4).max(60);
    // By their names in the end, so that the work is the same every time.
    let name = |key: &Key| (key.pawns, key.family.material.stem());
    let leaves = one_of_each_ending(slices, &mut all);
    if !leaves.is_empty() {
        return leaves;
    }
    all.sort_by_cached_key(|(key, met)| {
        (key.pieces().min(2), met.depth, u32::MAX - met.hits, name(key))
    });
    let small: Vec<Key> =
        all.iter().filter(|(key, _)| key.pieces() == 0).map(|(key, _)| *key).collect();
    let mut chosen: Vec<Key> = small.iter().take(budget).copied().collect();
    if small.len() < budget / 4 {
        let mut one: Vec<&(Key, Met)> = all.iter().filter(|(key, _)| key.pieces() == 1).collect();
        one.sort_by_key(|(_, met)| (u32::MAX - met.hits, met.depth));
        chosen.extend(one.iter().take(most(ONE_PIECE, 12).max(one.len() / 8)).map(|(key, _)| *key));
    }
    if chosen.is_empty() {
        chosen.extend(all.iter().take(most(TWO_PIECES, 2)).map(|(key, _)| *key));
    }

    // There is room for each of them, and has to be for all.
    let mut left = slices.room;
    chosen.retain(|key| {
        let needs = key.needs(&slices.assumptions);
        let fits = needs <= left;
        left = left.saturating_sub(needs);
        fits
    });
    chosen
}
