//! Lines that follow a strategy.

use hoffman_prove::ProvenStrategy;
use hoffman_reader::Move;
use hoffman_reader::shakmaty::{self, Chess, Position as _};

/// The next move of the line in which the winner follows its strategy, and the other side plays
/// what lasts longest against that.
pub(crate) fn next(strategy: &ProvenStrategy<'_>, place: &Chess) -> Option<shakmaty::Move> {
    if place.turn() == strategy.side() {
        return strategy.best_moves(place).into_iter().next();
    }
    place.legal_moves().into_iter().max_by_key(|m| strategy.moves_left(&after(place, *m)))
}

/// That line from a position on, to mate; empty if the side only holds.
pub(crate) fn longest_line(strategy: &ProvenStrategy<'_>, position: &Chess) -> Vec<Move> {
    let Some(most) = strategy.moves_left(position).map(usize::from) else { return Vec::new() };
    let mut place = position.clone();
    let mut line = Vec::new();
    // With each of its moves the winner comes nearer to mate.
    while line.len() <= 2 * most {
        let Some(m) = next(strategy, &place) else { break };
        let Ok(told) = Move::try_from(m) else { break };
        line.push(told);
        place.play_unchecked(m);
    }
    line
}

/// The position behind a move.
pub(crate) fn after(place: &Chess, m: shakmaty::Move) -> Chess {
    let mut next = place.clone();
    next.play_unchecked(m);
    next
}
