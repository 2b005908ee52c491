//! One man of a position on all squares: who wins there, and when.

use hoffman::{Color, Position, ProbeError, Role, Square, Value, Variant};
use hyper::StatusCode;
use serde::Serialize;

use crate::library::Library;
use crate::response::Refusal;
use crate::shown::Outcome;

/// What there is to say of a square.
#[derive(Debug, Serialize)]
pub(crate) struct Heat {
    /// The man that is put there, as `white king`.
    man: String,
    from: String,
    squares: Vec<SquareHeat>,
}

#[derive(Debug, Serialize)]
struct SquareHeat {
    square: String,
    #[serde(flatten)]
    outcome: Outcome,
    words: String,
}

/// Puts the man of a square on all others.
pub(crate) fn heat(library: &Library, position: &Position, from: &str) -> Result<Heat, Refusal> {
    let wrong = |text: String| Refusal::new(StatusCode::BAD_REQUEST, "bad-square", text);
    let square: Square = from.parse().map_err(|_| wrong(format!("'{from}' is no square")))?;
    let men: Vec<(Square, Color, Role)> = position.men().collect();
    let Some(at) = men.iter().position(|man| man.0 == square) else {
        return Err(wrong(format!("no man stands on {from}")));
    };
    let (_, color, role) = men[at];
    let free = |to: &Square| men.iter().all(|man| man.0 != *to || *to == square);
    let put = |to: Square| {
        let moved = men.iter().map(|&man| if man.0 == square { (to, color, role) } else { man });
        let moved = Position { halfmoves: 0, ..Position::from_men(moved, position.turn, None) };
        square_heat(library, &moved, to)
    };
    let squares = Square::ALL.into_iter().filter(free).map(put).collect();
    let (color, role) = (color.fold_wb("white", "black"), role_name(role));
    Ok(Heat { man: format!("{color} {role}"), from: from.to_owned(), squares })
}

fn square_heat(library: &Library, position: &Position, square: Square) -> SquareHeat {
    let said = |result, plies, words: String| SquareHeat {
        square: square.to_string(),
        outcome: Outcome { result, plies },
        words,
    };
    if let Err(reason) = position.check_possible(Variant::Normal) {
        return said("impossible", None, reason.to_string());
    }
    let turn = position.turn;
    let won = |winner: Color, plies: Option<hoffman::Plies>| {
        let (name, result) = winner.fold_wb(("White", "white"), ("Black", "black"));
        let words = match plies {
            Some(plies) if plies.0 == 0 => format!("{name} has won"),
            Some(plies) => format!("{name} wins in {}", plies.moves()),
            None => format!("{name} wins"),
        };
        said(result, plies.map(|plies| plies.0), words)
    };
    let holds = |color: Color| {
        said("unknown", None, format!("{} at least draws", color.fold_wb("White", "Black")))
    };
    match library.value(position) {
        Ok(Value::Win { plies }) => won(turn, plies),
        Ok(Value::Loss { plies }) => won(turn.other(), plies),
        Ok(Value::Draw) => said("draw", None, "Draw".to_owned()),
        Ok(Value::AtLeastDraw) => holds(turn),
        Ok(Value::AtMostDraw) => holds(turn.other()),
        Ok(_) => said("unknown", None, "Not known".to_owned()),
        Err(ProbeError::NoTable { .. }) => said("unknown", None, "No table".to_owned()),
        Err(error) => said("unknown", None, library.refusal(error).text),
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
