//! The answer to a position as JSON, in the shape of the Lichess tablebase server, and as text.

use std::fmt::Write as _;

use hoffman_board::{Color, Value, Variant};
use hoffman_control::PruneEffect;
use serde::Serialize;

use crate::collection::{Collection, CollectionError};
use crate::fen::{FenError, read_position};
use crate::lines::{
    Bound, Category, GameEnd, Known, MoveOption, assess, main_line, missing_tables, ranked_moves,
};
use crate::lookup::Hit;
use crate::moves::Move;
use crate::position::{Position, color_name};
use crate::session::{draw_board, pruned_word};
use crate::words::{claims_in_words, known_in_words, said_word};

/// Half moves without a capture or a move of a pawn after which a draw can be claimed.
const CLAIMABLE: i32 = 100;

/// Why a position is not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The text is no position that can be answered.
    #[error(transparent)]
    Position(#[from] FenError),
    /// The tables.
    #[error(transparent)]
    Tables(#[from] CollectionError),
}

/// What is said of a position, for the side to move. The keys are those of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PositionVerdict {
    /// The side to move is mated.
    pub checkmate: bool,
    /// The side to move has no move and is not in check.
    pub stalemate: bool,
    /// Suicide chess: the side to move has won.
    pub variant_win: bool,
    /// Suicide chess: the side to move has lost.
    pub variant_loss: bool,
    /// Neither side can mate.
    pub insufficient_material: bool,
    /// Plies to a zeroing move: never known here.
    pub dtz: Option<i32>,
    /// The same without rounding: never known here.
    pub precise_dtz: Option<i32>,
    /// Plies to mate, positive if the side to move wins; 0 for a draw; none if mated, or if the
    /// distance is not known to be that of chess.
    pub dtm: Option<i32>,
    /// Suicide chess: plies to the win.
    pub dtw: Option<i32>,
    /// Moves to conversion, positive if the side to move wins.
    pub dtc: Option<i32>,
    /// The result.
    pub category: Category,
}

/// A move and the position after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveReport {
    /// The move as `e7e8q`.
    pub uci: String,
    /// The move as `e8=Q+`.
    pub san: String,
    /// Whether it captures or moves a pawn.
    pub zeroing: bool,
    /// Whether it captures or promotes.
    pub conversion: bool,
    /// Additions.
    pub hoffman: MoveExtra,
    /// What is said of the position after the move, for the side then to move.
    #[serde(flatten)]
    pub verdict: PositionVerdict,
    /// The same in words.
    #[serde(skip)]
    pub words: String,
}

/// What a table says of a position for the side to move, by its own rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SaidReport {
    /// `win`, `draw` or `loss`; in tables of one bit `win-or-draw` or `draw-or-loss`.
    pub result: &'static str,
    /// Plies to the end of its game, positive if the side to move wins.
    pub plies: Option<i32>,
    /// Moves to a conversion, positive if the side to move wins.
    pub conversion: Option<i32>,
}

/// What the server does not say of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveExtra {
    /// `conceded` or `discarded` if the table that answers for the position before the move prunes
    /// it, and no futurebase of it answers.
    pub pruned: Option<&'static str>,
    /// What the answer is of the truth.
    pub bound: Bound,
    /// What the table says, where that is not the truth for certain.
    pub said: Option<SaidReport>,
    /// Why the table behind the move could not be asked.
    pub error: Option<String>,
}

/// What the server does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extra {
    /// The position, in six fields, without an en passant square that no pawn can use.
    pub fen: String,
    /// The file that answers.
    pub table: Option<String>,
    /// The index of the position there.
    pub index: Option<u64>,
    /// What the answer is of the truth.
    pub bound: Bound,
    /// What the table assumes that is not so in chess.
    pub assumes: Vec<String>,
    /// What the table says, where that is not the truth for certain.
    pub said: Option<SaidReport>,
    /// Best play to the end by what the tables say, as UCI moves.
    pub pv: Vec<String>,
    /// The tables that would be needed for what is not known of the position and its moves.
    pub missing: Vec<String>,
    /// Half moves without a capture or a move of a pawn, as the position says.
    pub clock: u16,
    /// Whether the fifty-move rule, which is not regarded here, may take the win away: the mate
    /// comes later than the clock allows without a capture or a move of a pawn.
    pub fifty_move: bool,
    /// Whether the line shown obeys that rule to its end: captures and moves of pawns come in
    /// time. None if there is no line to the end. It says nothing of other defences.
    pub line_in_time: Option<bool>,
}

/// The answer to a position.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What is said of the position.
    #[serde(flatten)]
    pub verdict: PositionVerdict,
    /// The legal moves, best first.
    pub moves: Vec<MoveReport>,
    /// Additions.
    pub hoffman: Extra,
    /// The position.
    #[serde(skip)]
    pub position: Position,
    /// The result in words: `White wins, mate in 20 moves (39 plies)`.
    #[serde(skip)]
    pub result: String,
    /// The main line in SAN.
    #[serde(skip)]
    pub line: Vec<String>,
    /// What is certain by the values of the table; none if they are those of chess.
    #[serde(skip)]
    pub certain: Option<String>,
    /// Why tables behind moves could not be asked.
    #[serde(skip)]
    pub failures: Vec<CollectionError>,
}

impl PositionVerdict {
    /// What is said of a position; `doubted` tells that the fifty-move rule may change it.
    pub(crate) fn new(known: &Known, variant: Variant, doubted: bool) -> PositionVerdict {
        let end = |end: GameEnd| known.end == Some(end);
        let exact = known.distance().filter(|_| known.is_exact);
        let drawn = known.category() == Category::Draw;
        let over = known.is_over() && !end(GameEnd::Stalemate);
        let counted = exact.filter(|_| !over && !known.counts_conversions());
        let plies = if drawn { Some(0) } else { counted.and_then(Value::plies) };
        let (dtm, dtw) = match variant {
            Variant::Normal => (plies, None),
            Variant::Suicide => (None, plies),
        };
        let conversion = exact.filter(|_| known.counts_conversions());
        PositionVerdict {
            checkmate: end(GameEnd::Checkmate),
            stalemate: end(GameEnd::Stalemate),
            variant_win: end(GameEnd::VariantWin),
            variant_loss: end(GameEnd::VariantLoss),
            insufficient_material: known.insufficient_material,
            dtz: None,
            precise_dtz: None,
            dtm,
            dtw,
            dtc: conversion.and_then(signed_moves),
            category: match known.category() {
                Category::Win if doubted => Category::MaybeWin,
                Category::Loss if doubted => Category::MaybeLoss,
                category => category,
            },
        }
    }

    /// Whether the game is over in this position.
    pub fn is_over(&self) -> bool {
        self.checkmate || self.stalemate || self.variant_win || self.variant_loss
    }
}

/// Moves, negative if they are the opponent's.
fn signed_moves(value: Value) -> Option<i32> {
    match value {
        Value::Win(moves) => Some(i32::from(moves)),
        Value::Loss(moves) => Some(-i32::from(moves)),
        Value::Draw => Some(0),
        Value::Illegal => None,
    }
}

impl SaidReport {
    /// What a table says, if it is not the truth for certain.
    pub(crate) fn new(known: &Known) -> Option<SaidReport> {
        let said = known.said.filter(|_| !known.is_exact)?;
        let distance = known.distance();
        let converts = known.counts_conversions();
        Some(SaidReport {
            result: said_word(said)?,
            plies: distance.filter(|_| !converts).and_then(Value::plies),
            conversion: distance.filter(|_| converts).and_then(signed_moves),
        })
    }
}

/// Whether the end that is said to be so far away may come too late by the fifty-move rule: later
/// than the clock allows if nothing is captured and no pawn moves.
fn is_late(known: &Known, position: &Position) -> bool {
    let mate = known.distance().filter(|_| !known.is_over() && !known.counts_conversions());
    let plies = mate.and_then(Value::plies).map_or(0, i32::abs);
    plies > 0 && i32::from(position.halfmoves) + plies > CLAIMABLE
}

/// Whether a line obeys the fifty-move rule until its last move, which ends the game.
fn is_in_time(line: &[(Position, Move)]) -> bool {
    let before_last = line.split_last().map_or(line, |(_, rest)| rest);
    before_last.iter().all(|(before, m)| i32::from(before.after(m).halfmoves) < CLAIMABLE)
}

/// The answer to a FEN, and moves behind it; see [`read_position`].
///
/// # Errors
/// The FEN is none, or of an impossible position, or has castling rights; a table cannot be read.
pub fn report(collection: &Collection, fen: &str) -> Result<Report, ProbeError> {
    let position = read_position(fen, collection.variant())?;
    Ok(report_position(collection, &position)?)
}

/// The answer to a position that is possible and whose en passant square can be used; see
/// [`read_position`].
///
/// # Errors
/// The table that has the position cannot be read. One behind a move spoils the move only.
pub fn report_position(
    collection: &Collection,
    position: &Position,
) -> Result<Report, CollectionError> {
    let known = assess(collection, position)?;
    Ok(report_known(collection, position, &known))
}

/// The answer to a position of which something is known.
pub fn report_known(collection: &Collection, position: &Position, known: &Known) -> Report {
    let variant = collection.variant();
    let options = ranked_moves(collection, position, known);
    let line = main_line(collection, position, known);

    // The clock counts only where it is set.
    let is_set = variant == Variant::Normal && position.halfmoves > 0;
    let fifty_move = variant == Variant::Normal && is_late(known, position);
    let plies = known.distance().and_then(Value::plies).map_or(0, i32::unsigned_abs);
    let to_the_end = variant == Variant::Normal && plies > 0 && line.len() == plies as usize;

    let moves = options.iter().map(|option| {
        let doubted = is_set && is_late(&option.known, &option.after);
        MoveReport::new(position, option, variant, doubted)
    });
    let pruned = known.hit.as_ref().filter(|_| !known.is_exact);
    let hoffman = Extra {
        fen: position.fen(),
        table: known.hit.as_ref().map(|hit| hit.table().path().display().to_string()),
        index: known.hit.as_ref().map(|hit| hit.index),
        bound: known.bound(),
        assumes: pruned.map(assumptions_of).unwrap_or_default(),
        said: SaidReport::new(known),
        pv: line.iter().map(|(_, m)| m.uci()).collect(),
        missing: missing_tables(position, known, &options),
        clock: position.halfmoves,
        fifty_move,
        line_in_time: to_the_end.then(|| is_in_time(&line)),
    };

    Report {
        verdict: PositionVerdict::new(known, variant, is_set && fifty_move),
        moves: moves.collect(),
        hoffman,
        position: position.clone(),
        result: with_doubt(known_in_words(known, 0), is_set && fifty_move),
        line: line.iter().map(|(before, m)| name_of(*m, before, variant)).collect(),
        certain: pruned.map(|hit| claims_in_words(hit.claims)),
        failures: options.into_iter().filter_map(|option| option.failure).collect(),
    }
}

impl MoveReport {
    /// `doubted`: the fifty-move rule may come in between.
    fn new(
        position: &Position,
        option: &MoveOption,
        variant: Variant,
        doubted: bool,
    ) -> MoveReport {
        MoveReport {
            uci: option.m.uci(),
            san: name_of(option.m, position, variant),
            zeroing: option.m.is_zeroing(),
            conversion: option.m.is_conversion(),
            hoffman: MoveExtra {
                pruned: option.pruned.map(pruned_word),
                bound: option.known.bound(),
                said: SaidReport::new(&option.known),
                error: option.failure.as_ref().map(ToString::to_string),
            },
            verdict: verdict_on(option, variant, doubted),
            words: words_on(option, doubted),
        }
    }
}

/// A move in SAN; of a position that is none of chess as the classic prompt lists it.
fn name_of(m: Move, position: &Position, variant: Variant) -> String {
    position.san(&m, variant).unwrap_or_else(|| m.classic())
}

/// In what the game of the table that answers is not chess.
fn assumptions_of(hit: &Hit) -> Vec<String> {
    hit.assumptions().iter().map(ToString::to_string).collect()
}

/// What is said of the position behind a move. A conceded move may win, as far as is known.
fn verdict_on(option: &MoveOption, variant: Variant, doubted: bool) -> PositionVerdict {
    let mut verdict = PositionVerdict::new(&option.known, variant, doubted);
    let open = verdict.category == Category::Unknown;
    if open && option.pruned == Some(PruneEffect::Concede) {
        verdict.category = Category::MaybeLoss;
    }
    verdict
}

/// The same in words.
fn words_on(option: &MoveOption, doubted: bool) -> String {
    let words = || with_doubt(known_in_words(&option.known, 1), doubted);
    match option.pruned {
        Some(effect) if option.known.said.is_some() => {
            format!("{}; in chess: {}", pruned_word(effect), words())
        }
        Some(effect) => pruned_word(effect).to_owned(),
        None => words(),
    }
}

fn with_doubt(words: String, doubted: bool) -> String {
    if doubted { words + ", if the fifty-move rule allows" } else { words }
}

/// Moves in SAN with their numbers, from 1: `1. Kd2 Kb3 2. Ke3`, `1... Kb3 2. Ke3`.
pub fn numbered(line: &[String], turn: Color) -> String {
    let mut out = String::new();
    let offset = usize::from(turn == Color::Black);
    for (ply, san) in line.iter().enumerate() {
        let half_moves = ply + offset;
        let (number, black) = (half_moves / 2 + 1, half_moves % 2 == 1);
        if ply > 0 {
            out.push(' ');
        }
        if !black {
            let _ = write!(out, "{number}. ");
        } else if ply == 0 {
            let _ = write!(out, "{number}... ");
        }
        out.push_str(san);
    }
    out
}

impl Report {
    /// The answer as a page of text: board, result, what it rests on, moves best first, main line.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let turn = self.position.turn;
        draw_board(&self.position, false, &mut out);
        let _ = writeln!(out, "{}", self.hoffman.fen);
        let _ = writeln!(out, "\n{} to move: {}", color_name(turn), self.result);
        out.push_str(&self.fifty_moves_in_words());
        if let (Some(table), Some(index)) = (&self.hoffman.table, self.hoffman.index) {
            let _ = writeln!(out, "From {table}, index {index}");
        }
        if !self.hoffman.assumes.is_empty() {
            let _ = writeln!(out, "The table assumes: {}", self.hoffman.assumes.join("; "));
        }
        if let Some(certain) = &self.certain {
            let _ = writeln!(out, "Certain in chess: {certain}");
        }
        out.push_str(&self.moves_in_words());
        if !self.line.is_empty() {
            let rules =
                if self.hoffman.assumes.is_empty() { "" } else { " by the rules of the table" };
            let _ = writeln!(out, "\nMain line{rules}\n  {}", numbered(&self.line, turn));
        }
        if !self.hoffman.missing.is_empty() {
            let _ = writeln!(out, "\nMissing tables: {}", self.hoffman.missing.join(", "));
        }
        out
    }

    /// A paragraph with the moves, best first; empty if there are none.
    pub(crate) fn moves_in_words(&self) -> String {
        let mut out = String::new();
        if !self.moves.is_empty() {
            out.push_str("\nMoves\n");
        }
        let width = self.moves.iter().map(|m| m.san.chars().count()).max().unwrap_or(0);
        for m in &self.moves {
            let _ = writeln!(out, "  {:<width$}  {}", m.san, m.words);
        }
        out
    }

    /// What can be said of the fifty-move rule, if it may matter.
    fn fifty_moves_in_words(&self) -> String {
        if !self.hoffman.fifty_move {
            return String::new();
        }
        let clock = match self.hoffman.clock {
            0 => String::new(),
            clock => format!(", with the clock at {clock}"),
        };
        let line = match self.hoffman.line_in_time {
            Some(true) => {
                "in the line shown, captures and moves of pawns come in time; \
                 other defences were not looked at"
            }
            Some(false) => "in the line shown, no capture or move of a pawn comes in time",
            None => "captures and moves of pawns on the way were not looked at",
        };
        format!("The fifty-move rule may matter{clock}: {line}.\n")
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Role;

    use super::*;

    #[test]
    fn lines_are_numbered() {
        let line = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(numbered(&line, Color::White), "1. a b 2. c");
        assert_eq!(numbered(&line, Color::Black), "1... a 2. b c");
    }

    #[test]
    fn roles_are_ordered_by_strength() {
        assert!(Role::Queen > Role::Rook && Role::Bishop > Role::Knight);
    }

    #[test]
    fn the_clock_runs_out() {
        let line = |fen: &str, moves: &[&str]| {
            let mut position = read_position(fen, Variant::Normal).unwrap();
            let mut line = Vec::new();
            for played in moves {
                let legal = position.legal_moves(Variant::Normal);
                let m = *legal.iter().find(|m| m.uci() == *played).unwrap();
                let next = position.after(&m);
                line.push((position, m));
                position = next;
            }
            is_in_time(&line)
        };
        let mates = ["b1b6", "h8g8", "b6b8"];
        // The last move ends the game, whatever the clock says.
        assert!(line("7k/R7/8/8/8/8/4P3/1R5K w - - 97 60", &mates));
        assert!(!line("7k/R7/8/8/8/8/4P3/1R5K w - - 98 60", &mates[..]));
        assert!(line("7k/R7/8/8/8/8/4P3/1R5K w - - 98 60", &["e2e4", "h8g8", "b1b8"]));
    }
}
