//! Moves as they are typed at the prompt, and why one is refused.
//!
//! What the original takes comes first: origin, perhaps `x`, destination, perhaps `=` and a
//! letter. Beyond it: the notation of the prompt's own lists (`Pb2b4`, `Pb7b8=Q`), SAN, and
//! captures without `x`.

use hoffman_board::shakmaty::san::San;
use hoffman_board::{Color, Role, Square, Variant, role_name};

use crate::moves::Move;
use crate::position::{Position, color_name};

/// A move as it is typed: origin, perhaps `x`, destination, perhaps `=` and a letter.
#[derive(Debug)]
struct TypedSquares {
    from: Square,
    to: Square,
    capture: bool,
    /// The letter behind the move, and whether `=` stands before it.
    letter: Option<(char, bool)>,
}

/// The legal move that a line means: its first word. None if the line does not look like a move.
///
/// # Errors
/// Why the move cannot be made, in one sentence.
pub(crate) fn read_move(
    line: &str,
    position: &Position,
    variant: Variant,
) -> Option<Result<Move, String>> {
    let word = line.split_ascii_whitespace().next()?;
    let legal = position.legal_moves(variant);
    if let Some((role, squares)) = TypedSquares::of_word(word) {
        let found = squares.find(role, &legal, position, variant);
        return Some(found.map_err(|why| format!("{word} cannot be played: {why}")));
    }
    San::from_ascii(word.trim_end_matches(['!', '?']).as_bytes()).ok()?;
    let found = find_san(word, &legal, position, variant);
    Some(found.map_err(|why| format!("{word} cannot be played: {why}")))
}

/// The legal move of that name. Signs for check, captures and promotions may be left out.
fn find_san(
    word: &str,
    legal: &[Move],
    position: &Position,
    variant: Variant,
) -> Result<Move, String> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '+' | '#' | '!' | '?' | 'x' | '=')).collect()
    };
    let named = |m: &&Move| position.san(m, variant).is_some_and(|san| plain(&san) == plain(word));
    if let Some(m) = legal.iter().find(named) {
        return Ok(*m);
    }
    // A name without the square or file that tells two like men apart, or of no legal move.
    let Ok(San::Normal { role, to, .. }) = San::from_ascii(plain(word).as_bytes()) else {
        return Err("there is no such move".to_owned());
    };
    let alike = legal.iter().filter(|m| (m.role, m.to) == (role, to));
    let names: Vec<String> = alike.filter_map(|m| position.san(m, variant)).collect();
    if names.is_empty() {
        return Err(format!("no legal move of {} leads to {to}", of_kind(role, position.turn)));
    }
    Err(format!("it may be {}", names.join(" or ")))
}

/// `a white rook`.
fn of_kind(role: Role, color: Color) -> String {
    let color = color.fold_wb("white", "black");
    format!("a {color} {}", role_name(role))
}

impl TypedSquares {
    /// The letter of a piece, if the word begins with one, and the squares.
    fn of_word(word: &str) -> Option<(Option<Role>, TypedSquares)> {
        if let Some(squares) = TypedSquares::parse(word) {
            return Some((None, squares));
        }
        let mut letters = word.chars();
        let first = letters.next().filter(char::is_ascii_uppercase)?;
        Some((Some(Role::from_char(first)?), TypedSquares::parse(letters.as_str())?))
    }

    /// Reads a word as the original does. Text behind the move is ignored.
    fn parse(word: &str) -> Option<TypedSquares> {
        let square = |text: &str| {
            let square = Square::from_ascii(text.as_bytes().get(..2)?).ok()?;
            Some((square, text.get(2..)?.to_owned()))
        };
        let (from, rest) = square(word)?;
        let (capture, rest) = match rest.strip_prefix('x') {
            Some(rest) => (true, rest),
            None => (false, rest.as_str()),
        };
        let (to, rest) = square(rest)?;
        let letter = match rest.strip_prefix('=') {
            Some(rest) => Some((rest.chars().next().unwrap_or(' '), true)),
            None => rest.chars().next().map(|c| (c, false)),
        };
        Some(TypedSquares { from, to, capture, letter })
    }

    /// The legal move that is meant.
    fn find(
        &self,
        role: Option<Role>,
        legal: &[Move],
        position: &Position,
        variant: Variant,
    ) -> Result<Move, String> {
        let TypedSquares { from, to, .. } = *self;
        let turn = position.turn;
        let piece = position.board.piece_at(from).filter(|piece| piece.color == turn);
        let Some(piece) = piece else {
            return Err(format!("there is no {} piece on {from}", color_name(turn).to_lowercase()));
        };
        if let Some(role) = role.filter(|&role| role != piece.role) {
            return Err(format!("there is not {} on {from}", of_kind(role, turn)));
        }
        let between: Vec<&Move> = legal.iter().filter(|m| (m.from, m.to) == (from, to)).collect();
        let Some(first) = between.first() else {
            return Err(self.why_illegal(legal, position, variant));
        };
        if self.capture && first.capture.is_none() {
            return Err(format!("there is nothing to capture on {to}"));
        }
        let meant = between.iter().find(|m| self.promotes_to(m.promotion, turn));
        meant.map(|m| **m).ok_or_else(|| self.why_not_promoted(first.promotion.is_some(), turn))
    }

    /// Whether this is what was typed for a promotion. The letter is upper case for White and
    /// lower case for Black, as on the board; without `=` (`d2d1q`) the case does not matter.
    fn promotes_to(&self, promotion: Option<Role>, turn: Color) -> bool {
        match (promotion, self.letter) {
            (None, Some((_, equals))) => !equals,
            (None, None) => true,
            (Some(role), Some((letter, true))) => letter == role.of(turn).char(),
            (Some(role), Some((letter, false))) => Role::from_char(letter) == Some(role),
            (Some(_), None) => false,
        }
    }

    fn why_not_promoted(&self, promotes: bool, turn: Color) -> String {
        let TypedSquares { from, to, .. } = self;
        if !promotes {
            return "it is no promotion".to_owned();
        }
        let letters = turn.fold_wb("Q, R, B or N", "q, r, b or n");
        let queen = turn.fold_wb('Q', 'q');
        format!("say what the pawn becomes by one of {letters}, as in {from}{to}={queen}")
    }

    fn why_illegal(&self, legal: &[Move], position: &Position, variant: Variant) -> String {
        let TypedSquares { from, to, .. } = self;
        if variant == Variant::Suicide && legal.iter().any(|m| m.capture.is_some()) {
            return "something has to be captured, or the piece cannot go there".to_owned();
        }
        if position.is_opponent_in_check() {
            return "the king of the other side could be captured".to_owned();
        }
        if position.can_reach(*from, *to) {
            return "the king would be in check".to_owned();
        }
        format!("the piece on {from} cannot go to {to}")
    }
}
