//! One man of a position on all squares: who wins there, and when.

use hoffman::{Color, HeatMap, Position, ProbeError, Square, SquareHeat, Value, role_name};
use hyper::StatusCode;
use serde::Serialize;

use crate::library::Library;
use crate::response::Refusal;
use crate::shown::ShownOutcome;

/// What there is to say of a square.
#[derive(Debug, Serialize)]
pub(crate) struct Heat {
    /// The man that is put there, as `white king`.
    man: String,
    from: String,
    squares: Vec<SquareHeatJson>,
}

#[derive(Debug, Serialize)]
struct SquareHeatJson {
    square: String,
    #[serde(flatten)]
    outcome: ShownOutcome,
    words: String,
}

/// Puts the man of a square on all others.
pub(crate) fn heat(library: &Library, position: &Position, from: &str) -> Result<Heat, Refusal> {
    let wrong = |text: String| Refusal::new(StatusCode::BAD_REQUEST, "bad-square", text);
    let square: Square = from.parse().map_err(|_| wrong(format!("'{from}' is no square")))?;
    let map = HeatMap::of(position, square, |position| library.value(position));
    let map = map.ok_or_else(|| wrong(format!("no man stands on {from}")))?;
    let heat = |(square, heat): &(Square, _)| square_heat(library, map.turn, *square, heat);
    let squares = map.squares.iter().map(heat).collect();
    let (color, role) = (map.color.fold_wb("white", "black"), role_name(map.role));
    Ok(Heat { man: format!("{color} {role}"), from: from.to_owned(), squares })
}

fn square_heat(
    library: &Library,
    turn: Color,
    square: Square,
    heat: &SquareHeat,
) -> SquareHeatJson {
    let said = |result, plies, words: String| SquareHeatJson {
        square: square.to_string(),
        outcome: ShownOutcome { result, plies },
        words,
    };
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
    match heat {
        SquareHeat::Impossible(reason) => said("impossible", None, reason.to_string()),
        SquareHeat::Value(Value::Win { plies }) => won(turn, *plies),
        SquareHeat::Value(Value::Loss { plies }) => won(turn.other(), *plies),
        SquareHeat::Value(Value::Draw) => said("draw", None, "Draw".to_owned()),
        SquareHeat::Value(Value::AtLeastDraw) => holds(turn),
        SquareHeat::Value(Value::AtMostDraw) => holds(turn.other()),
        SquareHeat::Unanswered(ProbeError::NoTable { .. }) => {
            said("unknown", None, "No table".to_owned())
        }
        SquareHeat::Unanswered(error) => said("unknown", None, library.refusal(error.clone()).text),
        _ => said("unknown", None, "Not known".to_owned()),
    }
}
