//! One man of a position on all squares.

use hoffman::{Color, HeatMap, Plies, Position, Square, SquareHeat, Value, role_name};

use crate::diagram::{Diagram, SIDE};

/// The picture: who wins with the man on each square, and in how many moves.
pub(super) fn draw(position: &Position, map: &HeatMap) -> String {
    let side = |color: Color| color.fold_wb("White", "Black");
    let man = format!("{} {}", map.color.fold_wb("white", "black"), role_name(map.role));
    let title = format!("The {man} on every square, {} to move", side(map.turn));
    let count = |winner: Option<Color>| {
        map.squares.iter().filter(|(_, heat)| has_result(heat, map.turn, winner)).count()
    };
    let words = format!(
        "White wins on {} squares, Black on {}, {} are drawn. {}",
        count(Some(Color::White)),
        count(Some(Color::Black)),
        count(None),
        position.fen()
    );

    let mut diagram = Diagram::new(position, &title, &words, 2);
    for square in Square::ALL {
        let (x, y) = Diagram::corner(square);
        let heat = map.squares.iter().find(|(at, _)| *at == square).map(|(_, heat)| heat);
        let (class, text, words) = heat.map_or(("none", String::new(), String::new()), |heat| {
            let (class, text, words) = shown(heat, map.turn);
            (class, text, format!("{square}: {words}"))
        });
        diagram.svg.rect(class, [x, y, SIDE, SIDE], &words);
        diagram.svg.text("ink middle", x + SIDE / 2.0, y + SIDE / 2.0 + 5.0, &text);
        if heat.is_none() {
            diagram.man(position, square);
        }
    }

    diagram.finish(&[
        "+ White wins, \u{2212} Black wins, in so many moves; = draw",
        "\u{b7} no such position; ? not known",
    ])
}

/// Whether a square is known to have this result: a winner, or none in a draw.
fn has_result(heat: &SquareHeat, turn: Color, winner: Option<Color>) -> bool {
    match heat {
        SquareHeat::Value(Value::Win { .. }) => winner == Some(turn),
        SquareHeat::Value(Value::Loss { .. }) => winner == Some(turn.other()),
        SquareHeat::Value(Value::Draw) => winner.is_none(),
        _ => false,
    }
}

/// The class of a square, its text, and the same in words.
fn shown(heat: &SquareHeat, turn: Color) -> (&'static str, String, String) {
    let won = |winner: Color, plies: Option<Plies>| {
        let (name, class, sign) =
            winner.fold_wb(("White", "white", "+"), ("Black", "black", "\u{2212}"));
        match plies {
            Some(plies) if plies.0 == 0 => (class, format!("{sign}#"), format!("{name} has won")),
            Some(plies) => (
                class,
                format!("{sign}{}", plies.moves()),
                format!("{name} wins in {}", plies.moves()),
            ),
            None => (class, sign.to_owned(), format!("{name} wins")),
        }
    };
    match heat {
        SquareHeat::Value(Value::Win { plies }) => won(turn, *plies),
        SquareHeat::Value(Value::Loss { plies }) => won(turn.other(), *plies),
        SquareHeat::Value(Value::Draw) => ("draw", "=".to_owned(), "draw".to_owned()),
        SquareHeat::Impossible(reason) => ("none", "\u{b7}".to_owned(), reason.to_string()),
        SquareHeat::Unanswered(error) => ("none", "?".to_owned(), error.to_string()),
        _ => ("none", "?".to_owned(), "not known".to_owned()),
    }
}
