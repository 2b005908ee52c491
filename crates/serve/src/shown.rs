//! A position as the page shows it: who wins instead of what the side to move does, and positions
//! behind moves, so that the page has to know no chess.

use std::collections::HashMap;

use hoffman::{Bound, Category, Color, Move, Position, PositionVerdict, Report, Variant};
use serde::Serialize;
use serde_json::Value;

use crate::proofs::{CorrespondingSquares, KeptProofs};

/// A position.
#[derive(Debug, Serialize)]
pub(crate) struct Shown<'r> {
    fen: &'r str,
    turn: &'static str,
    check: bool,
    /// How the game has ended.
    over: Option<&'static str>,
    #[serde(flatten)]
    outcome: ShownOutcome,
    words: String,
    /// What is certain where the table is not of chess.
    certain: Option<&'r str>,
    /// What a proof took from which the result comes; nothing if it was made of the position
    /// before.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Value>,
    /// Why a proof has its result, if that was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The squares of the kings that correspond to each other, of a proof.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    corresponding: Vec<CorrespondingSquares>,
    moves: Vec<ShownMove<'r>>,
    /// Best play.
    line: Vec<LineMove<'r>>,
    hoffman: Value,
}

/// Who wins, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ShownOutcome {
    /// `white`, `black`, `draw`, `maybe-white`, `maybe-black` or `unknown`.
    pub(crate) result: &'static str,
    /// Plies to the mate, if they are known to be those of chess.
    pub(crate) plies: Option<u32>,
}

/// A legal move.
#[derive(Debug, Serialize)]
struct ShownMove<'r> {
    uci: &'r str,
    san: &'r str,
    /// The position after it.
    fen: String,
    #[serde(flatten)]
    outcome: ShownOutcome,
    /// Whether the game is over after it.
    over: bool,
    words: String,
    zeroing: bool,
    pruned: Option<&'static str>,
    bound: Bound,
    error: Option<&'r str>,
}

/// A move of a line.
#[derive(Debug, Serialize)]
struct LineMove<'r> {
    uci: &'r str,
    san: &'r str,
    fen: String,
}

impl ShownOutcome {
    /// Of a position with that side to move.
    fn new(verdict: &PositionVerdict, turn: Color) -> ShownOutcome {
        let wins = |color: Color| color.fold_wb("white", "black");
        let maybe = |color: Color| color.fold_wb("maybe-white", "maybe-black");
        let result = match verdict.category {
            Category::Win => wins(turn),
            Category::Loss => wins(turn.other()),
            Category::Draw => "draw",
            Category::MaybeWin => maybe(turn),
            Category::MaybeLoss => maybe(turn.other()),
            Category::Unknown => "unknown",
        };
        let distance = verdict.dtm.or(verdict.dtw).map(i32::unsigned_abs);
        let ended = verdict.is_over().then_some(0);
        ShownOutcome { result, plies: distance.or(ended).filter(|_| result != "draw") }
    }
}

/// Where a result stands among those of all moves: less is better for the side to move.
fn rank(result: &str, turn: Color) -> usize {
    const FOR_WHITE: [&str; 9] = [
        "white",
        "maybe-white",
        "white-holds",
        "draw",
        "unknown",
        "black-holds",
        "maybe-black",
        "black",
        "impossible",
    ];
    let known = FOR_WHITE.iter().position(|name| *name == result);
    let at = known.unwrap_or(FOR_WHITE.len());
    turn.fold_wb(at, FOR_WHITE.len() - at)
}

/// How the game has ended, if it has.
fn ending(verdict: &PositionVerdict) -> Option<&'static str> {
    let ways = [
        (verdict.checkmate, "checkmate"),
        (verdict.stalemate, "stalemate"),
        (verdict.variant_win || verdict.variant_loss, "over"),
    ];
    ways.into_iter().find(|(is_so, _)| *is_so).map(|(_, name)| name)
}

impl<'r> Shown<'r> {
    /// What no table says is taken from proofs, if there are some.
    pub(crate) fn new(report: &'r Report, variant: Variant, proofs: &KeptProofs) -> Shown<'r> {
        let mut shown = Shown::of_tables(report, variant);
        if variant == Variant::Normal && shown.outcome.result == "unknown" {
            shown.add_proofs(&report.position, proofs);
        }
        shown
    }

    /// Takes the results of the position and of its moves from proofs, where those say more.
    fn add_proofs(&mut self, position: &Position, proofs: &KeptProofs) {
        if let Some(proof) = proofs.of(position).filter(|proof| proof.result != "unknown") {
            self.outcome = ShownOutcome { result: proof.result, plies: None };
            self.words = proof.words;
            self.proof = Some(proof.took);
            self.why = proof.why;
            self.corresponding = proof.corresponding;
        }
        let legal = position.legal_moves(Variant::Normal);
        for shown in self.moves.iter_mut().filter(|shown| shown.outcome.result == "unknown") {
            let after = legal.iter().find(|m| m.uci() == shown.uci).map(|m| position.after(m));
            if let Some(proof) = after.and_then(|after| proofs.of(&after)) {
                shown.outcome = ShownOutcome { result: proof.result, plies: None };
                shown.words = proof.words;
            }
        }
        self.moves.sort_by_key(|shown| rank(shown.outcome.result, position.turn));
    }

    fn of_tables(report: &'r Report, variant: Variant) -> Shown<'r> {
        let (position, verdict) = (&report.position, &report.verdict);
        let turn = position.turn;
        let moves: HashMap<String, Move> =
            position.legal_moves(variant).into_iter().map(|m| (m.uci(), m)).collect();
        let shown = report.moves.iter().filter_map(|shown| {
            let after = fen_after(position, *moves.get(&shown.uci)?);
            Some(ShownMove {
                uci: &shown.uci,
                san: &shown.san,
                fen: after,
                outcome: ShownOutcome::new(&shown.verdict, turn.other()),
                over: shown.verdict.is_over(),
                words: shown.words.clone(),
                zeroing: shown.zeroing,
                pruned: shown.hoffman.pruned,
                bound: shown.hoffman.bound,
                error: shown.hoffman.error.as_deref(),
            })
        });

        Shown {
            fen: &report.hoffman.fen,
            turn: turn.fold_wb("white", "black"),
            check: position.is_check(),
            over: ending(verdict),
            outcome: ShownOutcome::new(verdict, turn),
            words: report.result.clone(),
            certain: report.certain.as_deref(),
            proof: None,
            why: None,
            corresponding: Vec::new(),
            moves: shown.collect(),
            line: steps(report, variant),
            hoffman: serde_json::to_value(&report.hoffman).unwrap_or_default(),
        }
    }
}

/// The line with the positions that it goes through.
fn steps(report: &Report, variant: Variant) -> Vec<LineMove<'_>> {
    let mut position = report.position.clone();
    let mut steps = Vec::new();
    for (uci, san) in report.hoffman.pv.iter().zip(&report.line) {
        let legal = position.legal_moves(variant);
        let Some(m) = legal.iter().find(|m| m.uci() == *uci) else { break };
        position = position.after(m).without_useless_en_passant();
        steps.push(LineMove { uci, san, fen: position.fen() });
    }
    steps
}

fn fen_after(position: &Position, m: Move) -> String {
    position.after(&m).without_useless_en_passant().fen()
}
