//! Why a position has its result, in words and lines.

use std::fmt::Write as _;

use hoffman::{
    Claimed, Color, Correspondence, Explanation, KeyLines, KingZugzwangs, Move, Position, Square,
    Value, Variant, proved_in_words,
};

use crate::movetext::{Movetext, result};

/// Why a position has this value: how it is won or held, with the moves that alone do and those
/// that lead elsewhere, and the squares of the kings that decide. Paragraphs of
/// lines; each begins with an empty one.
pub fn explained(position: &Position, value: Value, explanation: &Explanation) -> String {
    Explained { position, value, explanation }.to_text()
}

struct Explained<'e> {
    position: &'e Position,
    value: Value,
    explanation: &'e Explanation,
}

impl Explained<'_> {
    fn to_text(&self) -> String {
        let turn = self.position.turn.other();
        let mut text = String::new();
        if let Some(passed) = self.explanation.passed {
            let result = proved_in_words(passed, turn);
            let _ = writeln!(text, "\nWith {} to move: {result}", side(turn));
        }
        for lines in &self.explanation.lines {
            text.push_str(&self.key_lines(lines));
        }
        if let Some(kings) = &self.explanation.kings {
            text.push_str(&zugzwangs(kings));
            text.push_str(&key_squares(kings));
        }
        text
    }

    /// How a side wins or holds.
    fn key_lines(&self, lines: &KeyLines) -> String {
        let name = side(lines.side);
        match lines.claimed {
            Claimed::Wins(_) => {
                let words = lines.words(self.position).join(";\n  ");
                format!("\nHow {name} wins\n  {words}\n\n{}", self.movetext(lines))
            }
            Claimed::Holds => format!("\nHow {name} holds\n{}", self.holding(lines)),
        }
    }

    /// The longest line with the others behind the moves that they take the place of.
    fn movetext(&self, lines: &KeyLines) -> String {
        let mut text = self.beginning();
        let mut place = self.position.clone();
        for (at, key) in lines.line.iter().enumerate() {
            let sign = if key.is_only { "!" } else { "" };
            text.play(&format!("{}{sign}", san(&place, key.m)));
            if key.is_zugzwang {
                text.comment("zugzwang");
            }
            for other in lines.others.iter().filter(|other| other.at == at) {
                text.open();
                play(&mut text, &place, &other.moves);
                text.close();
            }
            place = place.after(&key.m);
        }
        text.finish(result(self.value, self.position.turn))
    }

    /// Where the king stays, and what the other side may try.
    fn holding(&self, lines: &KeyLines) -> String {
        if lines.is_safe {
            return format!("  {} has nothing to mate with\n", side(lines.side.other()));
        }
        let mut text = String::new();
        if !lines.king.is_empty() {
            let alone = if lines.king_alone { " and nothing else moves" } else { "" };
            let squares = names(&lines.king);
            let _ = writeln!(
                text,
                "  its king on {squares}{alone}, until something is taken or a pawn moves"
            );
        }
        for other in &lines.others {
            let mut line = self.beginning();
            play(&mut line, self.position, &other.moves);
            let line = line.finish("");
            let _ = writeln!(text, "  {}", line.trim_end().replace('\n', "\n    "));
        }
        match (lines.king.is_empty(), lines.others.is_empty()) {
            (true, _) => text.push_str("  in more positions than could be looked at\n"),
            (false, true) => text.push_str("  nothing is ever taken, and no pawn moves\n"),
            (false, false) => {}
        }
        text
    }

    fn beginning(&self) -> Movetext {
        Movetext::starting(self.position.turn, self.position.fullmoves.into())
    }
}

/// The groups of corresponding squares.
fn zugzwangs(kings: &KingZugzwangs) -> String {
    let undecided = match kings.undecided {
        0 => String::new(),
        count => format!(", {count} of which were not decided"),
    };
    let looked_at = format!("{} placements of the kings{undecided}", kings.placements);
    if kings.found.is_empty() {
        return format!(
            "\nNo corresponding squares: no zugzwang of both sides among {looked_at}\n"
        );
    }
    let mut text = format!("\nCorresponding squares, among {looked_at}\n");
    let mut last = None;
    for Correspondence { white, black, winners } in kings.correspondences() {
        if last.replace(winners) != Some(winners) {
            let _ = writeln!(text, "  {}", if_to_move(winners));
        }
        let _ = writeln!(text, "    White {}, Black {}", names(&white), names(&black));
    }
    text
}

/// The squares from which a king always wins.
fn key_squares(kings: &KingZugzwangs) -> String {
    let mut text = String::new();
    for (color, squares) in Color::ALL.into_iter().zip(&kings.key_squares) {
        if !squares.is_empty() {
            let (name, other) = (side(color), side(color.other()));
            let _ = writeln!(
                text,
                "\nKey squares of {name}'s king, from which {name} wins, whoever is to move, \
                 unless {other}'s king can take something at once\n  {}",
                names(squares)
            );
        }
    }
    text
}

/// What results with White and with Black to move.
fn if_to_move([white, black]: [Option<Color>; 2]) -> String {
    let result = |winner: Option<Color>| {
        winner.map_or("draw".to_owned(), |winner| format!("{} wins", side(winner)))
    };
    format!("White to move: {}; Black to move: {}", result(white), result(black))
}

fn play(text: &mut Movetext, from: &Position, moves: &[Move]) {
    let mut place = from.clone();
    for m in moves {
        text.play(&san(&place, *m));
        place = place.after(m);
    }
}

fn san(place: &Position, m: Move) -> String {
    place.san(&m, Variant::Normal).unwrap_or_else(|| m.uci())
}

fn side(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// Squares in a row.
fn names(squares: &[Square]) -> String {
    squares.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
