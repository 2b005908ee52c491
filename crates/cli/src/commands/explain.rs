//! Why a position has its result: in words, in JSON, and as a picture.

mod picture;

use std::fmt::Write as _;

use hoffman::{
    Claimed, Color, Correspondence, Explanation, KeyLines, KingZugzwangs, Move, Position, Square,
    Value, Variant, proved_in_words,
};
use hoffman_pgn::Movetext;
use serde_json::json;

pub(super) use picture::draw;

/// What is told of an explanation.
pub(super) struct ShownExplanation<'e> {
    pub(super) position: &'e Position,
    pub(super) value: Value,
    pub(super) explanation: &'e Explanation,
}

impl ShownExplanation<'_> {
    pub(super) fn to_text(&self) -> String {
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
        text.finish(hoffman_pgn::result(self.value, self.position.turn))
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

    pub(super) fn to_json(&self) -> serde_json::Value {
        let Explanation { passed, lines, kings, .. } = self.explanation;
        let lines = lines.iter().map(|lines| {
            let moves = lines.line.iter().map(
                |key| json!({"uci": key.m.uci(), "only": key.is_only, "zugzwang": key.is_zugzwang}),
            );
            let others = lines.others.iter().map(|other| {
                let moves = other.moves.iter().map(Move::uci);
                json!({"at": other.at, "uci": moves.collect::<Vec<_>>()})
            });
            json!({
                "side": side(lines.side).to_lowercase(),
                "wins": matches!(lines.claimed, Claimed::Wins(_)),
                "words": lines.words(self.position),
                "line": moves.collect::<Vec<_>>(),
                "others": others.collect::<Vec<_>>(),
                "king": lines.king.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "king_alone": lines.king_alone,
                "safe": lines.is_safe,
            })
        });
        json!({
            "passed": passed.map(|passed| proved_in_words(passed, self.position.turn.other())),
            "lines": lines.collect::<Vec<_>>(),
            "corresponding": kings.as_ref().map(corresponding),
        })
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

/// What results with White and with Black to move.
fn if_to_move([white, black]: [Option<Color>; 2]) -> String {
    let result = |winner: Option<Color>| {
        winner.map_or("draw".to_owned(), |winner| format!("{} wins", side(winner)))
    };
    format!("White to move: {}; Black to move: {}", result(white), result(black))
}

fn corresponding(kings: &KingZugzwangs) -> serde_json::Value {
    let names = |squares: &[Square]| squares.iter().map(ToString::to_string).collect::<Vec<_>>();
    let winner = |winner: Option<Color>| winner.map(|winner| side(winner).to_lowercase());
    let groups = kings.correspondences().into_iter().map(|group| {
        json!({
            "white": names(&group.white),
            "black": names(&group.black),
            "winner_if_white_moves": winner(group.winners[0]),
            "winner_if_black_moves": winner(group.winners[1]),
        })
    });
    json!({
        "squares": groups.collect::<Vec<_>>(),
        "placements": kings.placements,
        "undecided": kings.undecided,
    })
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
