//! One man of a position on all squares.

use hoffman::{Color, HeatMap, Plies, Position, Role, Square, SquareHeat, Value, role_name};

use crate::svg::Svg;

/// The side of a square.
const SIDE: f64 = 62.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 66.0;

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

    let board = 8.0 * SIDE;
    let (width, height) = ((LEFT * 2.0 + board) as u32, (TOP + board + 86.0) as u32);
    let mut svg = Svg::new(width, height, &title, &words);
    svg.text("title ink", LEFT, 28.0, &title);
    svg.text("faint", LEFT, 50.0, &position.fen());

    for square in Square::ALL {
        let (x, y) = corner(square);
        let heat = map.squares.iter().find(|(at, _)| *at == square).map(|(_, heat)| heat);
        let (class, text, words) = heat.map_or(("none", String::new(), String::new()), |heat| {
            let (class, text, words) = shown(heat, map.turn);
            (class, text, format!("{square}: {words}"))
        });
        svg.rect(class, [x, y, SIDE, SIDE], &words);
        svg.text("ink middle", x + SIDE / 2.0, y + SIDE / 2.0 + 5.0, &text);
        if heat.is_none()
            && let Some(piece) = position.board.piece_at(square)
        {
            svg.text(
                "man ink middle",
                x + SIDE / 2.0,
                y + SIDE / 2.0 + 12.0,
                sign(piece.color, piece.role),
            );
        }
    }

    frame(&mut svg, board);
    let legend = [
        "+ White wins, \u{2212} Black wins, in so many moves; = draw",
        "\u{b7} no such position; ? not known",
    ];

    for (text, y) in legend.into_iter().zip([50.0, 70.0]) {
        svg.text("faint", LEFT, TOP + board + y, text);
    }
    svg.finish()
}

fn corner(square: Square) -> (f64, f64) {
    let (file, rank) = (f64::from(u32::from(square.file())), f64::from(u32::from(square.rank())));
    (LEFT + SIDE * file, TOP + SIDE * (7.0 - rank))
}

/// The edge of the board, with the names of files and ranks.
fn frame(svg: &mut Svg, board: f64) {
    svg.rect("frame", [LEFT, TOP, board, board], "");
    for (at, (file, rank)) in "abcdefgh".chars().zip("87654321".chars()).enumerate() {
        let middle = SIDE * (at as f64 + 0.5);
        svg.text("faint middle", LEFT + middle, TOP + board + 22.0, &file.to_string());
        svg.text("faint end", LEFT - 10.0, TOP + middle + 5.0, &rank.to_string());
    }
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

/// The sign of a man. Black ones are filled, as on paper.
fn sign(color: Color, role: Role) -> &'static str {
    let (white, black) = match role {
        Role::King => ("\u{2654}", "\u{265a}"),
        Role::Queen => ("\u{2655}", "\u{265b}"),
        Role::Rook => ("\u{2656}", "\u{265c}"),
        Role::Bishop => ("\u{2657}", "\u{265d}"),
        Role::Knight => ("\u{2658}", "\u{265e}"),
        Role::Pawn => ("\u{2659}", "\u{265f}"),
    };
    color.fold_wb(white, black)
}
