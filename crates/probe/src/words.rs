//! Results in the words of chess: what is known, and what a table says beyond that by its own
//! rules.

use hoffman_board::{Color, Outcome, OutcomeBounds, Value};
use hoffman_control::{Assumption, Claims};
use hoffman_table::EntryValue;

use crate::lines::{GameEnd, Known};
use crate::position::color_name;

/// A number of things: `1 move`, `2 moves`.
pub(crate) fn count(number: i32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What is known of a position, `made` plies after where distances are counted from; and, where
/// that is less than what the table says by its own rules, this in brackets.
pub fn known_in_words(known: &Known, made: i32) -> String {
    if let Some(end) = known.end
        && let Some(text) = end_in_words(end, known.turn, made)
    {
        return text;
    }
    let proved = match known.proved.known() {
        Some(outcome) if outcome.winner().is_some() => win_in_words(known, outcome, made),
        Some(_) => "Draw".to_owned(),
        None => bounds_in_words(known.proved).to_owned(),
    };
    let said = known.outcomes().filter(|said| *said != known.proved);
    match said {
        Some(said) if !known.is_exact => {
            format!("{proved} (by the rules of the table: {})", said_in_words(known, said, made))
        }
        _ => proved,
    }
}

/// The end of a game; none where the count of moves to it is told instead.
fn end_in_words(end: GameEnd, turn: Color, made: i32) -> Option<String> {
    match end {
        GameEnd::Stalemate => Some("Draw by stalemate".to_owned()),
        GameEnd::Checkmate | GameEnd::VariantLoss | GameEnd::VariantWin if made > 0 => None,
        GameEnd::Checkmate => Some(format!("Checkmate: {} has won", color_name(turn.other()))),
        GameEnd::VariantLoss => Some(format!("{} has won", color_name(turn.other()))),
        GameEnd::VariantWin => Some(format!("{} has won", color_name(turn))),
    }
}

/// What bounds mean if they are not one outcome.
fn bounds_in_words(bounds: OutcomeBounds) -> &'static str {
    let holds = |color| bounds.is_held_by(color);
    match (holds(Color::White), holds(Color::Black)) {
        (true, true) => "Draw",
        (true, false) => "White at least draws",
        (false, true) => "Black at least draws",
        (false, false) => "Unknown",
    }
}

/// A win that is certain, with its distance if the table has one: exact, or the most that it
/// takes.
fn win_in_words(known: &Known, outcome: Outcome, made: i32) -> String {
    let winner = outcome.winner().map_or("neither side", color_name);
    let agrees = known.outcomes() == Some(OutcomeBounds::exactly(outcome));
    let distance = known.distance().filter(|_| agrees);
    let most = if known.is_exact { "" } else { "at most " };
    match distance.and_then(Value::plies) {
        None => format!("{winner} wins"),
        Some(_) if known.counts_conversions() => {
            let moves = count(conversion_moves(distance, made), "move", "moves");
            format!("{winner} wins, conversion in {most}{moves}")
        }
        Some(plies) => {
            let plies = plies.abs() + made;
            let moves = count((plies + 1) / 2, "move", "moves");
            let end = if is_suicide(known) { "game over" } else { "mate" };
            format!("{winner} wins, {end} in {most}{moves} ({})", count(plies, "ply", "plies"))
        }
    }
}

/// What a table says that proves less.
fn said_in_words(known: &Known, said: OutcomeBounds, made: i32) -> String {
    let Some(winner) = said.known().and_then(Outcome::winner) else {
        return match said.known() {
            Some(_) => "draw".to_owned(),
            None => bounds_in_words(said).to_owned(),
        };
    };
    let winner = color_name(winner);
    match known.distance().and_then(Value::plies) {
        None => format!("{winner} wins"),
        Some(_) if known.counts_conversions() => {
            let moves = count(conversion_moves(known.distance(), made), "move", "moves");
            format!("{winner} converts in {moves}")
        }
        Some(plies) => {
            let moves = count((plies.abs() + made + 1) / 2, "move", "moves");
            format!("{winner} wins in {moves}")
        }
    }
}

/// Moves of the winner to a conversion; the move just made is the winner's if the loser is to
/// move.
fn conversion_moves(distance: Option<Value>, made: i32) -> i32 {
    match distance {
        Some(Value::Win(moves)) => i32::from(moves),
        Some(Value::Loss(moves)) => i32::from(moves) + made,
        _ => 0,
    }
}

fn is_suicide(known: &Known) -> bool {
    let table = known.hit.as_ref().map(|hit| hit.table().variant());
    table == Some(hoffman_board::Variant::Suicide)
        || matches!(known.end, Some(GameEnd::VariantLoss | GameEnd::VariantWin))
}

/// What is certain in chess by the values of a table:
/// `White's wins; that White at least draws where the table says draw`.
pub fn claims_in_words(claims: Claims) -> String {
    let (white, black) = (claims.of(Color::White), claims.of(Color::Black));
    let mut parts = Vec::new();
    for (color, side) in [("White", white), ("Black", black)] {
        if side.wins {
            parts.push(format!("{color}'s wins"));
        } else if side.holds {
            parts.push(format!("that {color} at least draws where the table says {color} wins"));
        }
    }
    let held = |color: &str| format!("that {color} at least draws where the table says draw");
    match (white.holds, black.holds) {
        (true, true) => parts.push("draws".to_owned()),
        (true, false) => parts.push(held("White")),
        (false, true) => parts.push(held("Black")),
        (false, false) => {}
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

/// Assumptions in one line.
pub fn assumptions_in_words(assumptions: &[Assumption]) -> String {
    assumptions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What is said of a position in one word, for the side to move.
pub(crate) fn said_word(said: EntryValue) -> Option<&'static str> {
    Some(match said {
        EntryValue::Exact(Value::Win(_)) | EntryValue::Win => "win",
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => "draw",
        EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => "loss",
        EntryValue::WinOrDraw => "win-or-draw",
        EntryValue::DrawOrLoss => "draw-or-loss",
        EntryValue::Exact(Value::Illegal) | EntryValue::Illegal | EntryValue::Unknown => {
            return None;
        }
    })
}
