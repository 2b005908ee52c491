//! Questions about a position, and slices opened until they are answered.

use std::collections::HashMap;

use hoffman_board::shakmaty::{Chess, Move, Position as _};
use hoffman_board::{Color, OutcomeBounds};
use hoffman_solve::{Monitor, SolveError};

use crate::slices::{Key, Slices, key_of};
use crate::walk::{Met, Moves, Question, walk};

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The values of open slices take no more than so many bytes.
    pub memory: usize,
}

/// How far a proof is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is certain.
    pub bounds: OutcomeBounds,
    /// Slices that are open, and known.
    pub open: usize,
    /// See `open`.
    pub known: usize,
    /// Positions evaluated.
    pub positions: u64,
    /// What the values take, in bytes.
    pub bytes: usize,
}

/// What was proven.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What is certain of the position.
    pub bounds: OutcomeBounds,
    /// What is certain of its moves.
    pub moves: Vec<(Move, OutcomeBounds)>,
    /// How far it went.
    pub progress: Progress,
}

/// Whether the first slice of a position fits into so much memory, without which nothing is proven.
#[must_use]
pub fn fits(position: &Chess, limits: Limits) -> bool {
    key_of(position).0.needs() <= limits.memory
}

/// Proves the outcome of a position, or as much of it as the limits allow. `tell` says whether to
/// go on.
///
/// What is known by then is told where `monitor` stops the work.
pub fn prove(
    position: &Chess,
    limits: Limits,
    monitor: &dyn Monitor,
    tell: &mut dyn FnMut(&Progress) -> bool,
) -> Proof {
    let mut slices = Slices::default();
    let mut stopped = false;
    let mut next = if fits(position, limits) { vec![key_of(position).0] } else { Vec::new() };
    loop {
        // What was finished before work was stopped is as true as ever.
        if let Err(error) = slices.open(&next, monitor) {
            debug_assert!(matches!(error, SolveError::Stopped), "{error}");
            stopped = true;
        }
        let progress = progress_of(&slices, position);
        let goes_on = tell(&progress) && progress.bytes < limits.memory && !stopped;
        let OutcomeBounds { least, most } = progress.bounds;
        next = if goes_on && least != most {
            let left = limits.memory - progress.bytes;
            wanted(&slices, position, &|key| key.needs() <= left)
        } else {
            Vec::new()
        };
        if next.is_empty() {
            let moves = moves_of(&slices, position);
            return Proof { bounds: progress.bounds, moves, progress };
        }
    }
}

fn progress_of(slices: &Slices, position: &Chess) -> Progress {
    let known = slices.known_of(position);
    let bounds = OutcomeBounds { least: known.least, most: known.most };
    let (open, known) = (slices.count(), slices.known());
    Progress { bounds, open, known, positions: slices.work, bytes: slices.bytes() }
}

fn moves_of(slices: &Slices, position: &Chess) -> Vec<(Move, OutcomeBounds)> {
    let moves = position.legal_moves().into_iter().map(|m| {
        let mut next = position.clone();
        next.play_unchecked(m);
        let known = slices.known_of(&next);
        (m, OutcomeBounds { least: known.least, most: known.most })
    });
    moves.collect()
}

/// The slices to be opened next; none if all that matters is open.
fn wanted(slices: &Slices, position: &Chess, fits: &dyn Fn(&Key) -> bool) -> Vec<Key> {
    let choice = |moves: Moves| {
        let mut met = met(slices, position, moves);
        met.retain(|key, _| fits(key));
        choose(slices, met)
    };
    let chosen = choice(Moves::OfAStrategy);
    if chosen.is_empty() { choice(Moves::All) } else { chosen }
}

/// The slices that matter for what is not known of a position.
fn met(slices: &Slices, position: &Chess, moves: Moves) -> HashMap<Key, Met> {
    let known = slices.known_of(position);
    let questions = Color::ALL.map(|winner| Question { winner });
    let mut met: HashMap<Key, Met> = HashMap::new();
    for question in questions.into_iter().filter(|q| q.answer(known).is_none()) {
        for (key, more) in walk(slices, position, question, moves) {
            let met = met.entry(key).or_insert(more);
            met.hits = met.hits.max(more.hits);
            met.depth = met.depth.min(more.depth);
        }
    }
    met
}

/// Of the slices met, those without pieces first: they are small.
fn choose(slices: &Slices, met: HashMap<Key, Met>) -> Vec<Key> {
    let budget = (slices.count() / 3).max(60);
    let mut all: Vec<(Key, Met)> = met.into_iter().collect();
    // By their names in the end, so that the work is the same every time.
    let name = |key: &Key| (key.pawns, key.family.material.stem());
    all.sort_by_cached_key(|(key, met)| {
        (key.pieces().min(2), met.depth, u32::MAX - met.hits, name(key))
    });
    let small: Vec<Key> =
        all.iter().filter(|(key, _)| key.pieces() == 0).map(|(key, _)| *key).collect();
    let mut chosen: Vec<Key> = small.iter().take(budget).copied().collect();
    if small.len() < budget / 4 {
        let mut one: Vec<&(Key, Met)> = all.iter().filter(|(key, _)| key.pieces() == 1).collect();
        one.sort_by_key(|(_, met)| (u32::MAX - met.hits, met.depth));
        chosen.extend(one.iter().take((one.len() / 3).max(32)).map(|(key, _)| *key));
    }
    if chosen.is_empty() {
        chosen.extend(all.iter().take(2).map(|(key, _)| *key));
    }
    chosen
}
