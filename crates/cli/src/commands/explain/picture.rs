//! The squares of an explanation on the board.

use hoffman::{Color, Explanation, Position, Square};

use crate::diagram::{Diagram, SIDE};

/// What is written on a square for a side: the numbers of the groups that it belongs to.
type Marks = Vec<(Square, Color, String)>;

/// The picture: squares of the kings that correspond to each other by their numbers, and key
/// squares, or else those on which a king holds.
pub(in crate::commands) fn draw(position: &Position, explanation: &Explanation) -> String {
    let (title, marks, lines) = deciding(explanation).unwrap_or_else(|| holding(explanation));
    let words =
        if marks.is_empty() { "There are no such squares.".to_owned() } else { all(&marks) };
    let mut diagram = Diagram::new(position, title, &words, lines.len());
    for square in Square::ALL {
        let (x, y) = Diagram::corner(square);
        let class = if square.is_light() { "none" } else { "draw" };
        diagram.svg.rect(class, [x, y, SIDE, SIDE], "");
        let halves = [(Color::White, y + SIDE / 2.0), (Color::Black, y)];
        for (color, y) in halves {
            let text = marks.iter().find(|mark| (mark.0, mark.1) == (square, color));
            let Some((.., text)) = text else { continue };
            let class = color.fold_wb("white", "black");
            let words = in_words(square, color, text);
            diagram.svg.rect(class, [x, y, SIDE, SIDE / 2.0], &words);
            // Beside the man that may stand there.
            diagram.svg.text("ink", x + 4.0, y + SIDE / 4.0 + 5.0, text);
        }
        diagram.man(position, square);
    }
    diagram.finish(&lines)
}

fn in_words(square: Square, color: Color, text: &str) -> String {
    format!("{}'s king on {square}: {text}", color.fold_wb("White", "Black"))
}

/// All marks in words.
fn all(marks: &Marks) -> String {
    let words = marks.iter().map(|(square, color, text)| in_words(*square, *color, text));
    words.collect::<Vec<_>>().join("; ")
}

/// The squares that correspond, and the key squares; none if there are not any.
fn deciding(explanation: &Explanation) -> Option<(&'static str, Marks, Vec<&'static str>)> {
    let kings = explanation.kings.as_ref()?;
    let groups = kings.correspondences();
    let mut marks = Marks::new();
    for (number, group) in (1..).zip(&groups) {
        for (color, squares) in [(Color::White, &group.white), (Color::Black, &group.black)] {
            for &square in squares {
                mark(&mut marks, square, color, &number.to_string());
            }
        }
    }
    for (color, squares) in Color::ALL.into_iter().zip(&kings.key_squares) {
        for &square in squares {
            mark(&mut marks, square, color, KEY);
        }
    }

    let mut lines = vec!["Lower halves: squares of White's king; upper halves: of Black's king."];
    if !groups.is_empty() {
        lines.push("With both kings on one number, neither side wants to be the one to move.");
    }
    let has_keys = kings.key_squares.iter().any(|squares| !squares.is_empty());
    if has_keys {
        lines.push("\u{2605}: with the king there this side wins, whoever is to move.");
    }
    match (groups.is_empty(), has_keys) {
        (true, false) => None,
        (true, true) => Some(("Key squares", marks, lines)),
        (false, _) => Some(("Corresponding squares", marks, lines)),
    }
}

/// Marks a key square.
const KEY: &str = "\u{2605}";

/// The squares on which kings hold a draw while nothing else moves.
fn holding(explanation: &Explanation) -> (&'static str, Marks, Vec<&'static str>) {
    let mut marks = Marks::new();
    for lines in &explanation.lines {
        for &square in &lines.king {
            mark(&mut marks, square, lines.side, "\u{2713}");
        }
    }
    let lines = vec![
        "Lower halves: squares of White's king; upper halves: of Black's king.",
        "On these a king stands while the pawns do, by the proof.",
    ];
    ("Where the kings stand", marks, lines)
}

fn mark(marks: &mut Marks, square: Square, color: Color, text: &str) {
    match marks.iter_mut().find(|mark| (mark.0, mark.1) == (square, color)) {
        Some((.., texts)) => {
            texts.push(' ');
            texts.push_str(text);
        }
        None => marks.push((square, color, text.to_owned())),
    }
}
