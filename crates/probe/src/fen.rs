//! Positions as text: FEN, and moves played from there.
//!
//! There is one strict reader, [`read_position`], for everything but the classic prompt, which
//! skips what it does not know as the original does ([`read_loosely`]).

use hoffman_board::shakmaty::Board;
use hoffman_board::{Color, File, Piece, Rank, Square, Variant};

use crate::position::{Impossible, Position};

/// Why a text is not taken for a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// A text that is no FEN.
    #[error("'{fen}' is not a FEN: {problem}")]
    Fen {
        /// The text.
        fen: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A position that cannot be.
    #[error("'{fen}' is not a possible position: {reason}")]
    Impossible {
        /// The text.
        fen: String,
        /// What is wrong.
        reason: Impossible,
    },
    /// Castling rights, which tables do not know.
    #[error("'{fen}' has castling rights that could still be used, which tables do not know")]
    Castling {
        /// The text.
        fen: String,
    },
    /// A move behind the position that cannot be played.
    #[error("the move {played} cannot be played in '{fen}': {reason}")]
    Move {
        /// The position before the move.
        fen: String,
        /// The move, as it was written.
        played: String,
        /// Why not.
        reason: String,
    },
}

/// The fields of a FEN.
struct FenFields<'t> {
    position: Position,
    castling: &'t str,
    /// What stands behind the word `moves`.
    moves: Vec<&'t str>,
}

/// Reads a position: a FEN of two to six fields, and moves played from there behind the word
/// `moves`, as `7k/R7/8/8/8/8/8/1R5K w - - 0 1 moves b1b8`. Underscores may stand for blanks.
///
/// The position must be possible under the rules of the variant, castling rights must be void, and
/// moves legal. An en passant square that no pawn can use is dropped.
///
/// # Errors
/// What is wrong, and where.
pub fn read_position(text: &str, variant: Variant) -> Result<Position, FenError> {
    let text = text.trim().replace('_', " ");
    let fields = fields(&text).map_err(|problem| FenError::Fen { fen: text.clone(), problem })?;
    let fen = || fields.position.fen();
    if let Err(reason) = fields.position.check_possible(variant) {
        return Err(FenError::Impossible { fen: fen(), reason });
    }
    let usable = |right: char| could_castle(&fields.position, right);
    if variant == Variant::Normal && fields.castling.chars().any(usable) {
        return Err(FenError::Castling { fen: text.clone() });
    }
    let position = fields.position.clone().without_useless_en_passant();
    play(position, &fields.moves, variant)
}

/// Reads a position as the classic prompt does: eight ranks, a blank, the side to move; then
/// castling letters, which are skipped, and an en passant square, taken as it stands, both
/// optional. Counters and moves behind them are taken if they are there; anything else is ignored.
///
/// # Errors
/// A move that cannot be played.
pub fn read_loosely(text: &str, variant: Variant) -> Result<Option<Position>, FenError> {
    if let Ok(fields) = fields(text) {
        return play(fields.position, &fields.moves, variant).map(Some);
    }
    Ok(read_two_fields(text.trim_start()))
}

/// The first two fields and, if it can be made out, the en passant square.
fn read_two_fields(text: &str) -> Option<Position> {
    let (placement, rest) = text.split_once([' ', '\t'])?;
    let board = read_board(placement).ok()?;
    let mut chars = rest.trim_start().chars();
    let turn = Color::from_char(chars.next()?)?;
    let rest = chars.as_str().trim_start_matches(|c: char| {
        c.is_ascii_whitespace() || matches!(c, 'K' | 'Q' | 'k' | 'q' | '-')
    });
    let en_passant = rest.as_bytes().get(..2).and_then(|s| Square::from_ascii(s).ok());
    Some(Position { board, turn, en_passant, halfmoves: 0, fullmoves: 1 })
}

/// Reads all fields of a FEN; the first two are needed.
fn fields(text: &str) -> Result<FenFields<'_>, String> {
    let mut words = text.split_ascii_whitespace().peekable();
    let board = read_board(words.next().unwrap_or_default())?;
    let turn = match words.next() {
        Some("w") => Color::White,
        Some("b") => Color::Black,
        Some(word) => return Err(format!("the side to move is w or b, not '{word}'")),
        None => return Err("eight ranks and the side to move are needed".to_owned()),
    };

    // Where a field is left out, all behind it are but the moves.
    let mut field = || words.next_if(|&word| word != "moves");
    let castling = field().unwrap_or("-");
    if castling != "-"
        && !castling.chars().all(|c| matches!(c.to_ascii_lowercase(), 'k' | 'q' | 'a'..='h'))
    {
        return Err(format!("castling rights are letters or -, not '{castling}'"));
    }

    let en_passant = match field() {
        None | Some("-") => None,
        Some(word) => Some(
            word.parse::<Square>()
                .map_err(|_| format!("the en passant square is a square or -, not '{word}'"))?,
        ),
    };
    let halfmoves = number(field(), "the count of half moves since a capture or pawn move", 0)?;
    let fullmoves = number(field(), "the number of the move", 1)?;

    let moves = match words.next() {
        None => Vec::new(),
        Some("moves") => words.collect(),
        Some(word) => {
            return Err(format!(
                "nothing but the word moves can follow the counters, not '{word}'"
            ));
        }
    };

    let position = Position { board, turn, en_passant, halfmoves, fullmoves };
    Ok(FenFields { position, castling, moves })
}

/// The number of a field, if it is there.
fn number(field: Option<&str>, name: &str, otherwise: u16) -> Result<u16, String> {
    let Some(word) = field else { return Ok(otherwise) };
    word.parse().map_err(|_| format!("{name} is a number, not '{word}'"))
}

/// Plays moves as `e2e4`, `e7e8q`.
fn play(mut position: Position, moves: &[&str], variant: Variant) -> Result<Position, FenError> {
    for &played in moves {
        let legal = position.legal_moves(variant);
        let Some(m) = legal.iter().find(|m| m.uci().eq_ignore_ascii_case(played)) else {
            let reason = "it is no legal move; moves are written as e2e4 or e7e8q".to_owned();
            return Err(FenError::Move { fen: position.fen(), played: played.to_owned(), reason });
        };
        position = position.after(m);
    }
    Ok(position)
}

/// Whether the men stand so that a castling right could still be used: `K`, `Q` for rooks in the
/// corners, files (`A` to `H`) for rooks elsewhere, lower case for Black.
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

/// The placement field of a FEN.
fn read_board(text: &str) -> Result<Board, String> {
    let mut board = Board::empty();
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != 8 {
        return Err("eight ranks and the side to move are needed".to_owned());
    }
    for (rank, y) in ranks.into_iter().zip((0..8).rev()) {
        let mut x = 0;
        for letter in rank.chars() {
            if let Some(empty @ 1..=8) = letter.to_digit(10) {
                x += empty;
                continue;
            }
            let piece = Piece::from_char(letter)
                .ok_or_else(|| format!("'{letter}' is neither a piece nor a number of squares"))?;
            if x < 8 {
                board.set_piece_at(Square::new(y * 8 + x), piece);
            }
            x += 1;
        }
        if x != 8 {
            return Err(format!("rank {} has {x} squares instead of 8", y + 1));
        }
    }
    Ok(board)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read_position(text, Variant::Normal).unwrap_err().to_string()
    }

    #[test]
    fn impossible_positions_are_named() {
        for (fen, why) in [
            ("8/8/K6k/7Q/8/8/8/8 w - - 0 1", "White to move could capture the king"),
            ("8/8/8/8/8/8/8/Kk6 w - - 0 1", "the kings stand side by side"),
            ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings instead of one"),
            ("8/8/8/8/8/8/8/K1k4P w - - 0 1", "a pawn stands on h1"),
            (
                "k7/qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqqqqqq/8/8/K7 w - - 0 1",
                "there are 34 men, more than 32",
            ),
        ] {
            assert_eq!(refused(fen), format!("'{fen}' is not a possible position: {why}"));
        }
    }

    #[test]
    fn what_is_no_fen_is_said() {
        let kings = "8/8/8/8/8/8/8/K1k5";
        for (text, problem) in [
            ("nonsense", "eight ranks and the side to move are needed"),
            (kings, "eight ranks and the side to move are needed"),
            ("8/8/8/8/8/8/8/K1k6 w", "rank 1 has 9 squares instead of 8"),
            ("8/8/8/8/8/8/8/K1k4x w", "'x' is neither a piece nor a number of squares"),
            (&format!("{kings} x"), "the side to move is w or b, not 'x'"),
            (&format!("{kings} w rubbish"), "castling rights are letters or -, not 'rubbish'"),
            (&format!("{kings} w - i9"), "the en passant square is a square or -, not 'i9'"),
            (
                &format!("{kings} w - - x"),
                "the count of half moves since a capture or pawn move is a number, not 'x'",
            ),
            (&format!("{kings} w - - 0 -1"), "the number of the move is a number, not '-1'"),
            (
                &format!("{kings} w - - 0 1 more"),
                "nothing but the word moves can follow the counters, not 'more'",
            ),
        ] {
            assert_eq!(refused(text), format!("'{text}' is not a FEN: {problem}"));
        }
    }

    #[test]
    fn usable_castling_rights_are_refused() {
        assert!(refused("4k3/8/8/8/8/8/8/4K2R w K - 0 1").contains("castling"));
        assert!(refused("r3k3/8/8/8/8/8/8/4K3 b q - 0 1").contains("castling"));
        assert!(refused("r3k3/8/8/8/8/8/8/4K3 b a - 0 1").contains("castling"));
        for fen in ["4k3/8/8/8/8/8/8/4K1R1 w KQkq - 0 1", "4k3/8/8/8/8/8/8/R7_w_K_-_0_1"] {
            let void = fen.replace("8/R7", "8/R3K3");
            let expected = !fen.contains("R7");
            assert_eq!(
                read_position(&void, Variant::Normal).is_ok(),
                expected || void.contains("_K_")
            );
        }
    }

    #[test]
    fn useless_en_passant_squares_are_dropped() {
        let fen = |text| read_position(text, Variant::Normal).unwrap().fen();
        assert_eq!(fen("8/8/8/8/4P3/8/8/k1K5 b - e3 0 1"), "8/8/8/8/4P3/8/8/k1K5 b - - 0 1");
        let used = "8/8/8/8/3pP3/8/8/k1K5 b - e3 0 1";
        assert_eq!(fen(used), used);
    }

    #[test]
    fn moves_are_played_and_counted() {
        let fen = |text: &str| read_position(text, Variant::Normal).map(|position| position.fen());
        let start = "7k/R7/8/8/8/8/4P3/1R5K w - - 99 60";
        assert_eq!(fen(start).unwrap(), start);
        assert_eq!(
            fen(&format!("{start} moves b1b6 h8g8")).unwrap(),
            "6k1/R7/1R6/8/8/8/4P3/7K w - - 101 61"
        );
        assert_eq!(
            fen(&format!("{start} moves e2e4")).unwrap(),
            "7k/R7/8/8/4P3/8/8/1R5K b - - 0 60"
        );
        assert_eq!(
            fen("8/P6k/8/8/8/8/8/K7_w_moves_a7a8q").unwrap(),
            "Q7/7k/8/8/8/8/8/K7 b - - 0 1"
        );
        let refused = refused("7k/8/8/8/8/8/8/K7 w moves a1a2 h8h6");
        assert!(
            refused
                .starts_with("the move h8h6 cannot be played in '7k/8/8/8/8/8/K7/8 b - - 1 1': "),
            "{refused}"
        );
    }

    #[test]
    fn the_prompt_reads_what_the_original_reads() {
        let read = |text| read_loosely(text, Variant::Normal).unwrap().map(|p| p.fen());
        let plain = "8/8/8/8/4P3/8/1k6/4K3 w - a6 0 1";
        assert_eq!(read("  8/8/8/8/4P3/8/1k6/4K3 w - a6").as_deref(), Some(plain));
        let rubbish = "8/8/8/8/4P3/8/1k6/4K3 w KQkq a6 x and so on";
        assert_eq!(read(rubbish).as_deref(), Some(plain));
        let counted = "8/8/8/8/4P3/8/1k6/4K3 w - - 3 17";
        assert_eq!(read(counted).as_deref(), Some(counted));
        assert_eq!(read("8/8/8/8/4P3/8/1k6/4K3"), None);
        assert!(read_loosely("8/8/8/8/4P3/8/1k6/4K3 w moves e4e6", Variant::Normal).is_err());
    }
}
