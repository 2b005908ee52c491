//! The answer to a position as JSON, in the shape of the Lichess tablebase server, and as text.

use std::fmt::Write as _;

use hoffman_board::{Color, File, Rank, Square, Value, Variant};
use serde::Serialize;

use crate::collection::{Collection, CollectionError};
use crate::lines::{Category, Known, assess, main_line, missing_tables, ranked_moves};
use crate::moves::{Impossible, Move, Position, color_name};
use crate::session::{draw_board, pruned_word};

/// Why a position is not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// A text that is no FEN.
    #[error("'{0}' is not a FEN: eight ranks and the side to move are needed")]
    Fen(String),
    /// A position that cannot be.
    #[error("'{fen}' is not a possible position: {reason}")]
    Impossible {
        /// The text.
        fen: String,
        /// What is wrong.
        reason: Impossible,
    },
    /// Castling rights, which tables do not know.
    #[error("'{0}' has castling rights that could still be used, which tables do not know")]
    Castling(String),
    /// The tables.
    #[error(transparent)]
    Tables(#[from] CollectionError),
}

/// What is said of a position, for the side to move. The keys are those of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
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
    /// Plies to mate, positive if the side to move wins; 0 for a draw, none if mated or unknown.
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
    pub verdict: Verdict,
}

/// What the server does not say of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveExtra {
    /// `conceded` or `discarded` if no table has the position after the move, and the table that answers
    /// for the position itself prunes the move.
    pub pruned: Option<&'static str>,
}

/// What the server does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extra {
    /// The position, in six fields, without an en passant square that nobody can use.
    pub fen: String,
    /// The file that answers.
    pub table: Option<String>,
    /// The index of the position there.
    pub index: Option<u64>,
    /// Best play to the mate, as UCI moves.
    pub pv: Vec<String>,
    /// The tables that would be needed for what is not known of the position and its moves.
    pub missing: Vec<String>,
    /// Whether the mate is further away than the fifty-move rule may allow, which is not regarded here.
    pub fifty_move: bool,
}

/// The answer to a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What is said of the position.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The legal moves, best first.
    pub moves: Vec<MoveReport>,
    /// Additions.
    pub hoffman: Extra,
    /// The position.
    #[serde(skip)]
    pub position: Position,
    /// The main line in SAN.
    #[serde(skip)]
    pub line: Vec<String>,
}

/// The answer to a line that is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorReport {
    /// One sentence.
    pub error: String,
}

impl From<&ProbeError> for ErrorReport {
    fn from(error: &ProbeError) -> ErrorReport {
        ErrorReport { error: error.to_string() }
    }
}

impl Verdict {
    fn new(known: &Known<'_>, variant: Variant) -> Verdict {
        let over = known.checkmate || known.variant_win || known.variant_loss;
        let plies = match known.dtm {
            Some(Value::Draw) => Some(0),
            Some(value) if !over => value.plies(),
            _ => None,
        };
        let (dtm, dtw) = match variant {
            Variant::Normal => (plies, None),
            Variant::Suicide => (None, plies),
        };
        let dtc = match known.dtc {
            Some(Value::Win(moves)) => Some(i32::from(moves)),
            Some(Value::Loss(moves)) => Some(-i32::from(moves)),
            Some(Value::Draw) => Some(0),
            Some(Value::Illegal) | None => None,
        };
        Verdict {
            checkmate: known.checkmate,
            stalemate: known.stalemate,
            variant_win: known.variant_win,
            variant_loss: known.variant_loss,
            insufficient_material: known.insufficient_material,
            dtz: None,
            precise_dtz: None,
            dtm,
            dtw,
            dtc,
            category: known.category,
        }
    }

    /// Whether the game is over in this position.
    pub fn is_over(&self) -> bool {
        self.checkmate || self.stalemate || self.variant_win || self.variant_loss
    }
}

/// Reads a FEN for an answer: underscores may stand for blanks, castling rights must be void, and the
/// position must be possible. An en passant square that nobody can use is dropped.
///
/// # Errors
/// All of [`ProbeError`] but those of tables.
pub fn parse_position(fen: &str, variant: Variant) -> Result<Position, ProbeError> {
    let text = fen.trim().replace('_', " ");
    let position = Position::from_fen(&text).ok_or_else(|| ProbeError::Fen(text.clone()))?;
    if let Err(reason) = position.check_possible(variant) {
        return Err(ProbeError::Impossible { fen: text, reason });
    }
    let rights = text.split_ascii_whitespace().nth(2).unwrap_or("-");
    if variant == Variant::Normal && rights.chars().any(|c| could_castle(&position, c)) {
        return Err(ProbeError::Castling(text));
    }
    Ok(position.without_useless_en_passant())
}

/// Whether the men stand so that a castling right could still be used: `K`, `Q` for rooks in the corners,
/// files (`A` to `H`) for rooks elsewhere, lower case for Black.
fn could_castle(position: &Position, right: char) -> bool {
    let color = if right.is_ascii_uppercase() { Color::White } else { Color::Black };
    let (king, rook) = match right.to_ascii_lowercase() {
        'k' => (Some(File::E), File::H),
        'q' => (Some(File::E), File::A),
        file => match File::from_char(file) {
            Some(file) => (None, file),
            None => return false,
        },
    };
    let back = color.fold_wb(Rank::First, Rank::Eighth);
    let rook_there = position.board.piece_at(Square::from_coords(rook, back)) == Some(color.rook());
    let king_there = position
        .board
        .king_of(color)
        .is_some_and(|k| k.rank() == back && king.is_none_or(|file| k.file() == file));
    rook_there && king_there
}

/// The answer to a FEN.
///
/// # Errors
/// The FEN is none, or of an impossible position, or has castling rights; a table cannot be read.
pub fn report(collection: &Collection, fen: &str) -> Result<Report, ProbeError> {
    let position = parse_position(fen, collection.variant())?;
    Ok(report_position(collection, &position)?)
}

/// The answer to a position that is possible and whose en passant square can be used; see
/// [`parse_position`].
///
/// # Errors
/// A table cannot be read.
pub fn report_position(
    collection: &Collection,
    position: &Position,
) -> Result<Report, CollectionError> {
    let variant = collection.variant();
    let known = assess(collection, position)?;
    let options = ranked_moves(collection, position, &known)?;
    let line = main_line(collection, position)?;
    let named =
        |position: &Position, m: &Move| position.san(m, variant).unwrap_or_else(|| m.classic());
    let behind = options.iter().filter(|o| o.pruned.is_none()).map(|o| (&o.after, &o.known));
    let missing = missing_tables(std::iter::once((position, &known)).chain(behind));
    let moves = options
        .iter()
        .map(|o| MoveReport {
            uci: o.m.uci(),
            san: named(position, &o.m),
            zeroing: o.m.is_zeroing(),
            conversion: o.m.is_conversion(),
            hoffman: MoveExtra { pruned: o.pruned.map(pruned_word) },
            verdict: Verdict::new(&o.known, variant),
        })
        .collect();
    let verdict = Verdict::new(&known, variant);
    let hoffman = Extra {
        fen: position.fen(),
        table: known.hit.map(|hit| hit.table.path().display().to_string()),
        index: known.hit.map(|hit| hit.index),
        pv: line.iter().map(|(_, m)| m.uci()).collect(),
        missing,
        fifty_move: verdict.dtm.is_some_and(|plies| plies.abs() > 100),
    };
    let line = line.iter().map(|(before, m)| named(before, m)).collect();
    Ok(Report { verdict, moves, hoffman, position: position.clone(), line })
}

/// One line of JSON for a FEN: the answer, or an object with the key `error`.
pub fn json_line(collection: &Collection, fen: &str) -> String {
    let json = match report(collection, fen) {
        Ok(report) => serde_json::to_string(&report),
        Err(error) => serde_json::to_string(&ErrorReport::from(&error)),
    };
    // Neither holds anything that JSON cannot say.
    json.unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn count(number: i32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A result in words. `turn` is the side to move in the position judged, `made` the plies played from where
/// the count begins.
fn in_words(verdict: &Verdict, turn: Color, made: i32) -> String {
    let winner = match verdict.category {
        Category::Win | Category::MaybeWin => turn,
        Category::Loss | Category::MaybeLoss => turn.other(),
        Category::Draw if verdict.stalemate => return "Draw by stalemate".to_owned(),
        Category::Draw => return "Draw".to_owned(),
        Category::Unknown => return "Unknown".to_owned(),
    };
    let winner = color_name(winner);
    let doubt = if matches!(verdict.category, Category::MaybeWin | Category::MaybeLoss) {
        ", if what the table concedes is right"
    } else {
        ""
    };
    if verdict.is_over() && made == 0 {
        let how = if verdict.checkmate { "Checkmate: " } else { "" };
        return format!("{how}{winner} has won");
    }
    let end = if verdict.dtw.is_some() || verdict.variant_win || verdict.variant_loss {
        "wins, game over in"
    } else {
        "wins, mate in"
    };
    let plies = verdict.dtm.or(verdict.dtw).or(if verdict.is_over() { Some(0) } else { None });
    match (plies, verdict.dtc) {
        (Some(plies), _) => {
            let plies = plies.abs() + made;
            let moves = count((plies + 1) / 2, "move", "moves");
            format!("{winner} {end} {moves} ({}){doubt}", count(plies, "ply", "plies"))
        }
        (None, Some(dtc)) => {
            // The move just made is one of the winner's if the loser is to move.
            let moves = dtc.abs() + if dtc < 0 { made } else { 0 };
            format!("{winner} wins, conversion in {}{doubt}", count(moves, "move", "moves"))
        }
        (None, None) => format!("{winner} wins{doubt}"),
    }
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
    /// The result in words: `White wins, mate in 20 moves (39 plies)`.
    pub fn result(&self) -> String {
        in_words(&self.verdict, self.position.turn, 0)
    }

    /// The answer as a page of text: board, result, moves best first, main line.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let turn = self.position.turn;
        draw_board(&self.position, false, &mut out);
        let _ = writeln!(out, "{}", self.hoffman.fen);
        let _ = writeln!(out, "\n{} to move: {}", color_name(turn), self.result());
        if self.hoffman.fifty_move {
            out.push_str("This may take longer than the fifty-move rule allows.\n");
        }
        if let (Some(table), Some(index)) = (&self.hoffman.table, self.hoffman.index) {
            let _ = writeln!(out, "From {table}, index {index}");
        }
        if !self.moves.is_empty() {
            out.push_str("\nMoves\n");
            let width = self.moves.iter().map(|m| m.san.chars().count()).max().unwrap_or(0);
            for m in &self.moves {
                let words = match m.hoffman.pruned {
                    Some(word) => word.to_owned(),
                    None => in_words(&m.verdict, turn.other(), 1),
                };
                let _ = writeln!(out, "  {:<width$}  {words}", m.san);
            }
        }
        if !self.line.is_empty() {
            let _ = writeln!(out, "\nMain line\n  {}", numbered(&self.line, turn));
        }
        if !self.hoffman.missing.is_empty() {
            let _ = writeln!(out, "\nMissing tables: {}", self.hoffman.missing.join(", "));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Role;

    use super::*;

    #[test]
    fn impossible_positions_are_named() {
        let refused = |fen: &str| parse_position(fen, Variant::Normal).unwrap_err().to_string();
        for (fen, why) in [
            ("8/8/K6k/7Q/8/8/8/8 w - - 0 1", "White to move could capture the king"),
            ("8/8/8/8/8/8/8/Kk6 w - - 0 1", "the kings stand side by side"),
            ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings instead of one"),
            ("8/8/8/8/8/8/8/K1k4P w - - 0 1", "a pawn stands on h1"),
            ("k7/qqqqqqqq/qqqqqqqq/8/8/8/8/K7 w - -", "there are 18 men, more than 16"),
        ] {
            let message = refused(fen);
            assert_eq!(message, format!("'{fen}' is not a possible position: {why}"));
        }
        assert!(refused("rubbish").starts_with("'rubbish' is not a FEN"));
        assert!(refused("4k3/8/8/8/8/8/8/4K2R w K - 0 1").contains("castling"));
        assert!(refused("r3k3/8/8/8/8/8/8/4K3 b q - 0 1").contains("castling"));
        assert!(refused("r3k3/8/8/8/8/8/8/4K3 b a - 0 1").contains("castling"));
    }

    #[test]
    fn void_castling_rights_are_ignored() {
        for fen in ["4k3/8/8/8/8/8/8/4K1R1 w KQkq - 0 1", "4k3/8/8/8/8/8/8/R3K3_w_K_-_0_1"] {
            assert!(parse_position(fen, Variant::Normal).is_ok(), "{fen}");
        }
    }

    #[test]
    fn useless_en_passant_squares_are_dropped() {
        let fen = |text| parse_position(text, Variant::Normal).unwrap().fen();
        assert_eq!(fen("8/8/8/8/4P3/8/8/k1K5 b - e3 0 1"), "8/8/8/8/4P3/8/8/k1K5 b - - 0 1");
        let used = "8/8/8/8/3pP3/8/8/k1K5 b - e3 0 1";
        assert_eq!(fen(used), used);
    }

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
}
