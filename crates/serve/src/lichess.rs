//! Answers in the shape of the Lichess tablebase server.

use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::san::SanPlus;
use hoffman::shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup as _, Move, Position as _, PositionError,
};
use hoffman::{Category, Color, PositionVerdict, Report};
use hyper::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::library::Library;
use crate::response::Refusal;
use crate::route::ChessRules;

/// The most half moves of a main line, as that server has it.
const LONGEST: usize = 100;

/// A position that no table can have: one with castling rights, or too many men.
#[derive(Debug, Serialize)]
pub(crate) struct Unanswered {
    #[serde(flatten)]
    verdict: PositionVerdict,
    moves: Vec<Next>,
    hoffman: Value,
}

/// One of its moves.
#[derive(Debug, Serialize)]
struct Next {
    uci: String,
    san: String,
    zeroing: bool,
    conversion: bool,
    #[serde(flatten)]
    verdict: PositionVerdict,
}

/// A position that tables refuse, and what is known behind its moves; none if it is no position of
/// chess. Nothing known is no error to clients of that server.
pub(crate) fn unanswered(library: &Library, fen: &str, why: &Refusal) -> Option<Unanswered> {
    let (position, mode) = chess_position(fen)?;
    let legal = position.legal_moves();
    let mut moves: Vec<Next> =
        legal.iter().map(|&m| next(library, position.clone(), m, mode)).collect();
    moves.sort_by_key(|next| next.verdict.category);
    Some(Unanswered {
        verdict: unknown(&position),
        moves,
        hoffman: json!({ "fen": fen, "bound": "none", "code": why.code, "error": why.text }),
    })
}

/// A position of chess, with castling rights and any number of men.
fn chess_position(fen: &str) -> Option<(Chess, CastlingMode)> {
    let setup = fen.parse::<Fen>().ok()?.into_setup();
    let mode = CastlingMode::detect(&setup);
    let position = Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()?;
    Some((position, mode))
}

/// Whether a position that tables refuse is one of chess all the same.
pub(crate) fn is_chess(fen: &str) -> bool {
    chess_position(fen).is_some()
}

fn next(library: &Library, mut position: Chess, m: Move, mode: CastlingMode) -> Next {
    let (uci, san) = (m.to_uci(mode).to_string(), SanPlus::from_move(position.clone(), m));
    position.play_unchecked(m);
    let after = Fen::from_position(&position, EnPassantMode::PseudoLegal).to_string();
    let report = library.report(ChessRules::Chess, &after);
    Next {
        uci,
        san: san.to_string(),
        zeroing: m.is_zeroing(),
        conversion: m.is_capture() || m.is_promotion(),
        verdict: report.map_or_else(|_| unknown(&position), |report| report.verdict),
    }
}

/// What the rules alone say of a position.
fn unknown(position: &Chess) -> PositionVerdict {
    let (checkmate, stalemate) = (position.is_checkmate(), position.is_stalemate());
    let insufficient_material = position.is_insufficient_material();
    let drawn = stalemate || insufficient_material;
    PositionVerdict {
        checkmate,
        stalemate,
        variant_win: false,
        variant_loss: false,
        insufficient_material,
        dtz: None,
        precise_dtz: None,
        dtm: drawn.then_some(0),
        dtw: None,
        dtc: None,
        category: if checkmate {
            Category::Loss
        } else if drawn {
            Category::Draw
        } else {
            Category::Unknown
        },
    }
}

/// The main line of a position. Distances to a zeroing move are not known.
pub(crate) fn main_line(report: &Report) -> Result<Value, Refusal> {
    let verdict = &report.verdict;
    let is_open = verdict.category == Category::Unknown;
    if is_open && let Some(missing) = report.hoffman.missing.first() {
        let text = format!("no table has the position; {missing} would");
        return Err(Refusal::new(StatusCode::NOT_FOUND, "no-table", text));
    }
    let steps = report.hoffman.pv.iter().zip(&report.line).take(LONGEST);
    let step = |(uci, san): (&String, &String)| json!({ "uci": uci, "san": san, "dtz": null, "precise_dtz": null });
    let turn = report.position.turn;
    let winner = match verdict.category {
        Category::Win => Some(turn),
        Category::Loss => Some(turn.other()),
        _ => None,
    };
    Ok(json!({
        "mainline": steps.map(step).collect::<Vec<_>>(),
        "winner": winner.map(Color::char),
        "dtz": null,
        "precise_dtz": null,
        "hoffman": {
            "category": verdict.category,
            "dtm": verdict.dtm,
            "dtw": verdict.dtw,
            "bound": report.hoffman.bound,
            "assumes": report.hoffman.assumes,
        },
    }))
}
