//! A line out of what was proved.

use hoffman_certificate::{Claim, Claimed};
use hoffman_reader::Move;
use hoffman_reader::shakmaty::fen::Epd;
use hoffman_reader::shakmaty::uci::UciMove;
use hoffman_reader::shakmaty::{self, Chess, EnPassantMode, Position as _};

/// The line in which the winner follows its strategy, and the other side plays what lasts longest
/// against that.
pub(crate) fn longest_line(position: &Chess, proofs: &[Claim]) -> Vec<Move> {
    let won = proofs.iter().find_map(|proof| match proof.claimed {
        Claimed::Wins(most) => Some((proof, most)),
        Claimed::Holds => None,
    });
    let Some((proof, most)) = won else { return Vec::new() };
    let mut place = position.clone();
    let mut line = Vec::new();
    // With each of its moves the winner comes nearer to mate.
    while line.len() <= 2 * usize::from(most) {
        let m = if place.turn() == proof.side {
            chosen(&place, proof)
        } else {
            longest_reply(&place, proof)
        };
        let Some(m) = m else { break };
        let Ok(told) = Move::try_from(m) else { break };
        line.push(told);
        place.play_unchecked(m);
    }
    line
}

/// The move of the strategy.
fn chosen(place: &Chess, proof: &Claim) -> Option<shakmaty::Move> {
    let m: UciMove = proof.choices.get(&name(place))?.m.as_ref()?.parse().ok()?;
    m.to_move(place).ok()
}

/// The move after which the winner needs most moves.
fn longest_reply(place: &Chess, proof: &Claim) -> Option<shakmaty::Move> {
    place.legal_moves().into_iter().max_by_key(|m| {
        let mut after = place.clone();
        after.play_unchecked(*m);
        proof.choices.get(&name(&after)).map_or(0, |choice| choice.moves)
    })
}

/// As strategies name their positions.
fn name(position: &Chess) -> String {
    Epd::from_position(position, EnPassantMode::Legal).to_string()
}
