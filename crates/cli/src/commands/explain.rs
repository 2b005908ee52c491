//! Why a position has its result, in JSON and as a picture; in words it is told by `hoffman-pgn`.

mod picture;

use hoffman::{
    Claimed, Color, Explanation, KingZugzwangs, Move, Position, Square, proved_in_words,
};
use serde_json::json;

pub(super) use picture::draw;

/// What is told of an explanation.
pub(super) struct ShownExplanation<'e> {
    pub(super) position: &'e Position,
    pub(super) explanation: &'e Explanation,
}

impl ShownExplanation<'_> {
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
                "king": names(&lines.king),
                "king_alone": lines.king_alone,
                "safe": lines.is_safe,
            })
        });
        json!({
            "passed": passed.map(|passed| proved_in_words(passed, self.position.turn.other())),
            "lines": lines.collect::<Vec<_>>(),
            "corresponding": kings.as_ref().map(corresponding),
            "key_squares": kings.as_ref().map(|kings| {
                let [white, black] = kings.key_squares.each_ref().map(|squares| names(squares));
                json!({"white": white, "black": black})
            }),
        })
    }
}

fn corresponding(kings: &KingZugzwangs) -> serde_json::Value {
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

fn names(squares: &[Square]) -> Vec<String> {
    squares.iter().map(ToString::to_string).collect()
}

fn side(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}
