//! A line out of what was proved.

use hoffman_prove::Strategy;
use hoffman_reader::Move;
use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::{self, Chess, EnPassantMode, Position as _};

/// The line in which the winner follows its strategy, and the other side plays what lasts longest
/// against that.
pub(crate) fn longest_line(position: &Chess, strategies: &[Strategy]) -> Vec<Move> {
    let won = strategies.iter().find_map(|strategy| Some((strategy, strategy.most?)));
    let Some((strategy, most)) = won else { return Vec::new() };
    let mut place = position.clone();
    let mut line = Vec::new();
    // With each of its moves the winner comes nearer to mate.
    while line.len() <= 2 * usize::from(most) {
        let m = if place.turn() == strategy.side {
            strategy.choices.get(&name(&place)).and_then(|choice| choice.m)
        } else {
            longest_reply(&place, strategy)
        };
        let Some(m) = m else { break };
        let Ok(told) = Move::try_from(m) else { break };
        line.push(told);
        place.play_unchecked(m);
    }
    line
}

/// The move after which the winner needs most moves.
fn longest_reply(place: &Chess, strategy: &Strategy) -> Option<shakmaty::Move> {
    place.legal_moves().into_iter().max_by_key(|m| {
        let mut after = place.clone();
        after.play_unchecked(*m);
        strategy.choices.get(&name(&after)).map_or(0, |choice| choice.moves)
    })
}

/// As strategies name their positions.
fn name(position: &Chess) -> String {
    Epd::from_position(position, EnPassantMode::Legal).to_string()
}
