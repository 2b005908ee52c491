//! A chess board in a picture.

use hoffman::{Color, Position, Role, Square};

use crate::svg::Svg;

/// The side of a square.
pub(crate) const SIDE: f64 = 62.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 66.0;
const BOARD: f64 = 8.0 * SIDE;

/// A board with a title above and lines of text below.
pub(crate) struct Diagram {
    pub(crate) svg: Svg,
}

impl Diagram {
    /// Without squares yet. `words` describe it for those who do not see it.
    pub(crate) fn new(position: &Position, title: &str, words: &str, lines: usize) -> Diagram {
        let height = TOP + BOARD + 46.0 + 20.0 * lines as f64;
        let mut svg = Svg::new((LEFT * 2.0 + BOARD) as u32, height as u32, title, words);
        svg.text("title ink", LEFT, 28.0, title);
        svg.text("faint", LEFT, 50.0, &position.fen());
        Diagram { svg }
    }

    /// The left and upper end of a square.
    pub(crate) fn corner(square: Square) -> (f64, f64) {
        let file = f64::from(u32::from(square.file()));
        let rank = f64::from(u32::from(square.rank()));
        (LEFT + SIDE * file, TOP + SIDE * (7.0 - rank))
    }

    /// The man on a square, if one stands there.
    pub(crate) fn man(&mut self, position: &Position, square: Square) {
        let (x, y) = Diagram::corner(square);
        if let Some(piece) = position.board.piece_at(square) {
            let sign = sign(piece.color, piece.role);
            self.svg.text("man ink middle", x + SIDE / 2.0, y + SIDE / 2.0 + 12.0, sign);
        }
    }

    /// The picture, with the edge of the board, the names of files and ranks, and lines of text.
    pub(crate) fn finish(mut self, lines: &[&str]) -> String {
        self.svg.rect("frame", [LEFT, TOP, BOARD, BOARD], "");
        for (at, (file, rank)) in "abcdefgh".chars().zip("87654321".chars()).enumerate() {
            let middle = SIDE * (at as f64 + 0.5);
            self.svg.text("faint middle", LEFT + middle, TOP + BOARD + 22.0, &file.to_string());
            self.svg.text("faint end", LEFT - 10.0, TOP + middle + 5.0, &rank.to_string());
        }
        for (at, line) in lines.iter().enumerate() {
            self.svg.text("faint", LEFT, TOP + BOARD + 50.0 + 20.0 * at as f64, line);
        }
        self.svg.finish()
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
