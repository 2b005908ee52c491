//! The classic prompt: what is typed, and what is answered, without any input or output.
//!
//! The texts are those of the original program to the letter. Beyond it: moves that are not legal are
//! refused, and `undo` goes back.

use std::fmt::Write as _;

use hoffman_board::{Color, Format, Role, Square, Value, Variant};
use hoffman_control::PruneEffect;
use hoffman_table::foreign::nalimov::NalimovFolders;
use hoffman_table::{EntryValue, TableError};

use crate::collection::{Collection, CollectionError, Hit};
use crate::moves::{Move, Position, color_name};

/// The answer to everything that cannot be understood or is not allowed.
const BAD_INPUT: &str = "Bad input\n\n";

/// A session at the prompt.
#[derive(Debug)]
pub struct Session {
    collection: Collection,
    current: Option<Position>,
    earlier: Vec<Option<Position>>,
    history: Vec<String>,
    errors: Vec<CollectionError>,
    escapes: bool,
    nalimov: Option<NalimovFolders>,
}

impl Session {
    /// A session without a position.
    pub fn new(collection: Collection) -> Session {
        Session {
            collection,
            current: None,
            earlier: Vec::new(),
            history: Vec::new(),
            errors: Vec::new(),
            escapes: true,
            nalimov: None,
        }
    }

    /// Whether boards are printed with escape sequences (black men in reverse video), as the original does
    /// wherever its output goes. On from the start.
    pub fn set_escapes(&mut self, escapes: bool) {
        self.escapes = escapes;
    }

    /// Shows what Nalimov tables say of the position on the board, below the score.
    pub fn set_nalimov(&mut self, tables: NalimovFolders) {
        self.nalimov = Some(tables);
    }

    /// The tables.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// The position on the board.
    pub fn position(&self) -> Option<&Position> {
        self.current.as_ref()
    }

    /// The prompt for the next line.
    pub fn prompt(&self) -> &'static str {
        if self.current.is_some() { "Index, FEN or move? " } else { "Index or FEN? " }
    }

    /// The lines entered so far that are not empty, as typed.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Takes what went wrong while reading tables since the last call. Where a table could not be read
    /// the answer is as if it were not there.
    pub fn take_errors(&mut self) -> Vec<CollectionError> {
        std::mem::take(&mut self.errors)
    }

    /// Answers a line: a move, a FEN, an index of the first table, or `undo`. The answer goes to standard
    /// output as it is.
    pub fn enter(&mut self, line: &str) -> String {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return String::new();
        }
        self.history.push(line.to_owned());
        if line.trim() == "undo" {
            return self.undo();
        }
        if let Some(typed) = TypedMove::parse(line)
            && let Some(position) = &self.current
        {
            let legal = position.legal_moves(self.collection.variant());
            let Some(m) = legal.iter().find(|m| typed.means(**m, position.turn)) else {
                return BAD_INPUT.to_owned();
            };
            let next = position.after(m);
            return self.go_to(next);
        }
        if let Some(position) = Position::from_fen(line) {
            return self.go_to(position);
        }
        self.enter_index(line.trim())
    }

    /// Goes back to the position before the last one that was entered.
    fn undo(&mut self) -> String {
        let Some(earlier) = self.earlier.pop() else {
            return "Nothing to undo\n\n".to_owned();
        };
        self.current = earlier;
        self.answer()
    }

    fn go_to(&mut self, position: Position) -> String {
        self.earlier.push(self.current.replace(position));
        self.answer()
    }

    fn enter_index(&mut self, text: &str) -> String {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return BAD_INPUT.to_owned();
        }
        let Some(table) = self.collection.tables().next() else {
            return BAD_INPUT.to_owned();
        };
        let space = table.space();
        let Some(index) = text.parse().ok().filter(|i| *i < space.size()) else {
            let max = space.size().saturating_sub(1);
            return format!("Index out of range ({max} max)\n{BAD_INPUT}");
        };
        let Some(placement) = space.decode(index) else {
            self.earlier.push(self.current.take());
            return "Illegal position\n\n".to_owned();
        };
        let men = placement.squares.iter().zip(space.pieces()).map(|(&s, p)| (s, p.color, p.role));
        self.go_to(Position::from_men(men, placement.turn, placement.en_passant))
    }

    /// What can be typed next that begins so: legal moves in their order, and `undo`.
    pub fn completions(&self, prefix: &str) -> Vec<String> {
        let variant = self.collection.variant();
        let moves = self.current.iter().flat_map(|position| {
            let turn = position.turn;
            position.legal_moves(variant).into_iter().map(move |m| m.typed(turn))
        });
        let undo = (!self.earlier.is_empty()).then(|| "undo".to_owned());
        moves.chain(undo).filter(|text| text.starts_with(prefix)).collect()
    }

    /// The whole answer for the current position.
    fn answer(&mut self) -> String {
        let Some(position) = &self.current else { return String::new() };
        let mut out = String::new();
        let mut errors = Vec::new();
        match self.collection.lookup(position) {
            Ok(Some(hit)) => {
                let path = hit.table.path().display();
                let score = score(&hit, position.turn);
                let _ = writeln!(out, "Index {} ({path})\n{score}", hit.index);
                if let Some(nalimov) = &self.nalimov
                    && position.check_possible(self.collection.variant()).is_ok()
                {
                    let said = nalimov.value(&position.setup()).map_err(|problem| {
                        let path = hit.table.path().to_owned();
                        TableError { path, problem: problem.into() }
                    });
                    match said {
                        Ok(said) => out.push_str(&nalimov_line(said, position.turn)),
                        Err(error) => errors.push(error.into()),
                    }
                }
                list_moves(&self.collection, position, &hit, &mut out, &mut errors);
            }
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
        draw_board(position, self.escapes, &mut out);
        let _ = writeln!(out, "FEN {}", position.short_fen());
        self.errors.append(&mut errors);
        out
    }
}

/// The moves of a position with what they lead to: index and score; who has won in suicide chess if a side
/// has no men left; where no table has the position behind a move, `conceded` or `discarded` if a prune
/// of the table that answers for the position itself names the move, else `NO DATA`.
fn list_moves(
    collection: &Collection,
    position: &Position,
    root: &Hit<'_>,
    out: &mut String,
    errors: &mut Vec<CollectionError>,
) {
    for m in position.legal_moves(collection.variant()) {
        let next = position.after(&m);
        let _ = write!(out, "   {:<8} ", m.classic());
        if collection.variant() == Variant::Suicide && next.board.by_color(next.turn).is_empty() {
            let _ = writeln!(out, "{} WINS", next.turn.fold_wb("WHITE", "BLACK"));
            continue;
        }
        let hit = collection.lookup(&next).unwrap_or_else(|error| {
            errors.push(error);
            None
        });
        let _ = match hit {
            Some(hit) => writeln!(out, "({}) {}", hit.index, score_after_move(&hit, next.turn)),
            None => writeln!(out, "{}", without_data(root.prune(position.turn, &m))),
        };
    }
}

/// What Nalimov tables say, in moves and half moves; nothing if they say nothing.
fn nalimov_line(said: Option<EntryValue>, turn: Color) -> String {
    let Some(EntryValue::Exact(value)) = said else { return String::new() };
    let winner = value.winner(turn).map(color_name);
    match (winner, value.plies()) {
        (Some(winner), Some(plies)) => {
            let half = if plies % 2 == 0 { "" } else { ".5" };
            format!("Nalimov score: {winner} wins in {}{half}\n", plies.abs() / 2)
        }
        _ => "Nalimov score: DRAW\n".to_owned(),
    }
}

/// What is said of a move into no table.
fn without_data(prune: Option<PruneEffect>) -> &'static str {
    prune.map_or("NO DATA", pruned_word)
}

/// `conceded` or `discarded`.
pub(crate) fn pruned_word(effect: PruneEffect) -> &'static str {
    match effect {
        PruneEffect::Concede => "conceded",
        PruneEffect::Discard => "discarded",
    }
}

/// The score of a position in the words of the classic prompt. `turn` is the side to move as the position
/// was entered.
pub fn score(hit: &Hit<'_>, turn: Color) -> String {
    score_text(hit, turn, 0)
}

/// The score of the position after a move, counted from the position before it. `turn` is the side to move
/// after it.
pub fn score_after_move(hit: &Hit<'_>, turn: Color) -> String {
    score_text(hit, turn, 1)
}

fn score_text(hit: &Hit<'_>, turn: Color, made: u16) -> String {
    let (ptm, pntm) = (color_name(turn), color_name(turn.other()));
    let format = hit.table.codec().format();
    let verb = if matches!(format, Format::Dtc(_)) { "converts" } else { "wins" };
    match hit.value {
        EntryValue::Exact(Value::Win(n)) => format!("{ptm} {verb} in {n}"),
        EntryValue::Exact(Value::Loss(n)) => format!("{pntm} {verb} in {}", n.saturating_add(made)),
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => "Draw".to_owned(),
        EntryValue::Illegal if format == Format::Basic => "Illegal".to_owned(),
        EntryValue::Exact(Value::Illegal) | EntryValue::Illegal => {
            format!("Illegal position ({pntm} mated)")
        }
        EntryValue::Win => format!("{ptm} wins"),
        EntryValue::Loss => format!("{pntm} wins"),
        EntryValue::WinOrDraw => format!("{ptm} wins or draws"),
        EntryValue::DrawOrLoss => format!("{pntm} wins or draws"),
        EntryValue::Unknown => "NO SCORE AVAILABLE".to_owned(),
    }
}

/// The board with ranks and files. With escape sequences black men are in reverse video.
pub(crate) fn draw_board(position: &Position, escapes: bool, out: &mut String) {
    for rank in (0..8).rev() {
        let _ = write!(out, "{} |", rank + 1);
        for file in 0..8 {
            let piece = position.board.piece_at(Square::new(rank * 8 + file));
            out.push(' ');
            if escapes && piece.is_some_and(|p| p.color == Color::Black) {
                out.push_str("\x1b[7m");
            }
            out.push(piece.map_or('.', hoffman_board::Piece::char));
            if escapes {
                out.push_str("\x1b[0m");
            }
        }
        out.push('\n');
    }
    out.push_str("  +----------------\n    a b c d e f g h\n");
}

/// A move as it is typed: origin, perhaps `x`, destination, perhaps `=` and a letter.
#[derive(Debug)]
struct TypedMove {
    from: Square,
    to: Square,
    capture: bool,
    /// The letter behind the move, and whether `=` stands before it.
    letter: Option<(char, bool)>,
}

impl TypedMove {
    /// Reads a move at the start of a line. Text behind it is ignored.
    fn parse(line: &str) -> Option<TypedMove> {
        let square = |text: &str| {
            let square = Square::from_ascii(text.as_bytes().get(..2)?).ok()?;
            Some((square, text.get(2..)?.to_owned()))
        };
        let (from, rest) = square(line.trim_start())?;
        let (capture, rest) = match rest.strip_prefix('x') {
            Some(rest) => (true, rest),
            None => (false, rest.as_str()),
        };
        let (to, rest) = square(rest)?;
        let letter = match rest.strip_prefix('=') {
            Some(rest) => Some((rest.chars().next().unwrap_or(' '), true)),
            None => rest.chars().next().map(|c| (c, false)),
        };
        Some(TypedMove { from, to, capture, letter })
    }

    /// Whether this is what was typed for a legal move of `turn`. The letter of a promotion is upper case for
    /// White and lower case for Black, as on the board; without `=` (`d2d1q`) the case does not matter.
    fn means(&self, m: Move, turn: Color) -> bool {
        let promotes = match (m.promotion, self.letter) {
            (None, Some((_, equals))) => !equals,
            (None, None) => true,
            (Some(role), Some((letter, true))) => letter == role.of(turn).char(),
            (Some(role), Some((letter, false))) => Role::from_char(letter) == Some(role),
            (Some(_), None) => false,
        };
        (self.from, self.to, self.capture) == (m.from, m.to, m.capture.is_some()) && promotes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nalimov_scores_are_in_moves_and_half_moves() {
        let line = |value, turn| nalimov_line(Some(EntryValue::Exact(value)), turn);
        let white_wins = line(Value::Win(8), Color::White);
        assert_eq!(white_wins, "Nalimov score: White wins in 7.5\n");
        let black_wins = line(Value::Loss(7), Color::White);
        assert_eq!(black_wins, "Nalimov score: Black wins in 7\n");
        assert_eq!(line(Value::Draw, Color::Black), "Nalimov score: DRAW\n");
        assert_eq!(nalimov_line(None, Color::White), "");
    }
}
