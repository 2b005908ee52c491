//! The classic prompt: what is typed, and what is answered, without any input or output.
//!
//! The texts are those of the original program to the letter. Beyond it: what a score proves where
//! it is not that of chess; what is missing where no table answers; why a move is refused; and
//! `undo` goes back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hoffman_board::{Color, Format, Square, Value, Variant};
use hoffman_control::PruneEffect;
use hoffman_table::foreign::nalimov::NalimovFolders;
use hoffman_table::{EntryValue, TableError};

use crate::collection::{Collection, CollectionError, table_name};
use crate::fen::read_loosely;
use crate::lines::{Known, assess_move};
use crate::lookup::Hit;
use crate::position::{Position, color_name};
use crate::typed::read_move;
use crate::words::{assumptions_in_words, claims_in_words, known_in_words};

/// The answer to everything that cannot be understood or is not allowed.
const BAD_INPUT: &str = "Bad input\n\n";

/// A position on the board.
#[derive(Clone, Debug)]
struct Current {
    position: Position,
    /// The table that answers, by itself or by the rules of the one before the last move.
    hit: Option<Hit>,
}

/// A session at the prompt.
#[derive(Debug)]
pub struct Session {
    collection: Collection,
    current: Option<Current>,
    earlier: Vec<Option<Current>>,
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
            errors: Vec::new(),
            escapes: false,
            nalimov: None,
        }
    }

    /// Whether boards are printed with escape sequences (black men in reverse video), for a
    /// terminal. Off from the start.
    pub fn set_escapes(&mut self, escapes: bool) {
        self.escapes = escapes;
    }

    /// Shows what Nalimov tables say of the position on the board, below the score.
    pub fn set_nalimov(&mut self, tables: NalimovFolders) {
        self.nalimov = Some(tables);
    }

    /// The most men that the Nalimov tables at hand have; 0 without any.
    pub fn nalimov_men(&self) -> usize {
        self.nalimov.as_ref().map_or(0, NalimovFolders::most_men)
    }

    /// The tables.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// The position on the board.
    pub fn position(&self) -> Option<&Position> {
        self.current.as_ref().map(|current| &current.position)
    }

    /// The prompt for the next line.
    pub fn prompt(&self) -> &'static str {
        if self.current.is_some() { "Index, FEN or move? " } else { "Index or FEN? " }
    }

    /// Takes what went wrong while reading tables since the last call. Where a table could not be
    /// read the answer is as if it were not there.
    pub fn take_errors(&mut self) -> Vec<CollectionError> {
        std::mem::take(&mut self.errors)
    }

    /// Answers a line: a move, a FEN, an index of the first table, or `undo`. The answer goes to
    /// standard output as it is.
    pub fn enter(&mut self, line: &str) -> String {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return String::new();
        }
        if line.trim() == "undo" {
            return self.undo();
        }

        let variant = self.collection.variant();
        let typed = self.current.as_ref().and_then(|current| {
            Some((current.clone(), read_move(line, &current.position, variant)?))
        });
        match typed {
            Some((current, Ok(m))) => {
                let next = self.after(&current, m);
                return self.go_to(next);
            }
            Some((_, Err(why))) => return format!("{why}\n{BAD_INPUT}"),
            None => {}
        }

        match read_loosely(line, variant) {
            Ok(Some(position)) => {
                let hit = self.collection.lookup(&position);
                let hit = self.noted(hit).flatten();
                self.go_to(Current { position, hit })
            }
            Ok(None) => self.enter_index(line.trim()),
            Err(why) => format!("{why}\n{BAD_INPUT}"),
        }
    }

    /// The position after a move. The table that answers it is found by the rules of the one
    /// before it, or by itself if that has none for it.
    fn after(&mut self, current: &Current, m: crate::moves::Move) -> Current {
        let root = Known::of(&current.position, self.collection.variant(), current.hit.clone());
        let option = assess_move(&self.collection, &root, &current.position, m);
        self.errors.extend(option.failure);
        let behind = option.known.hit.filter(|_| option.pruned.is_none());
        let position = current.position.after(&m);
        let hit = behind.or_else(|| {
            let found = self.collection.lookup(&position);
            self.noted(found).flatten()
        });
        Current { position, hit }
    }

    /// What was found, or nothing; the failure is told later.
    fn noted<T>(&mut self, found: Result<T, CollectionError>) -> Option<T> {
        found.map_err(|error| self.errors.push(error)).ok()
    }

    /// Goes back to the position before the last one that was entered.
    fn undo(&mut self) -> String {
        let Some(earlier) = self.earlier.pop() else {
            return "Nothing to undo\n\n".to_owned();
        };
        self.current = earlier;
        self.answer()
    }

    fn go_to(&mut self, current: Current) -> String {
        self.earlier.push(self.current.replace(current));
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
        let position = Position::from_men(men, placement.turn, placement.en_passant);
        let hit = self.collection.lookup(&position);
        let hit = self.noted(hit).flatten();
        self.go_to(Current { position, hit })
    }

    /// What can be typed next that begins so: legal moves in their order, and `undo`.
    pub fn completions(&self, prefix: &str) -> Vec<String> {
        let variant = self.collection.variant();
        let moves = self.position().into_iter().flat_map(|position| {
            let turn = position.turn;
            position.legal_moves(variant).into_iter().map(move |m| m.typed(turn))
        });
        let undo = (!self.earlier.is_empty()).then(|| "undo".to_owned());
        moves.chain(undo).filter(|text| text.starts_with(prefix)).collect()
    }

    /// The whole answer for the current position.
    fn answer(&mut self) -> String {
        let Some(current) = self.current.clone() else { return String::new() };
        let Current { position, hit } = &current;
        let mut out = match hit {
            Some(hit) => self.score_of(position, hit),
            None => self.without_score(position),
        };
        draw_board(position, self.escapes, &mut out);
        let _ = writeln!(out, "FEN {}", position.short_fen());
        out
    }

    /// Index, score, what the score proves if it is not that of chess, and the moves.
    fn score_of(&mut self, position: &Position, hit: &Hit) -> String {
        let mut out = String::new();
        let path = hit.table().path().display();
        let _ = writeln!(out, "Index {} ({path})\n{}", hit.index, score(hit));
        if !hit.claims.is_exact() && hit.said().is_some() {
            out.push_str(&self.proof_of(position, hit));
        }
        out.push_str(&self.nalimov_score(position, hit));
        self.list_moves(position, Some(hit), &mut out);
        out
    }

    /// What a score proves, and what the table assumes.
    fn proof_of(&self, position: &Position, hit: &Hit) -> String {
        let known = Known::of(position, self.collection.variant(), Some(hit.clone()));
        let assumed = assumptions_in_words(hit.assumptions());
        let proves = claims_in_words(hit.claims);
        let known = known_in_words(&known, 0);
        format!("In chess: {known}\nThe table assumes: {assumed}\nCertain in chess: {proves}\n")
    }

    fn nalimov_score(&mut self, position: &Position, hit: &Hit) -> String {
        let Some(nalimov) = &self.nalimov else { return String::new() };
        if position.check_possible(self.collection.variant()).is_err() {
            return String::new();
        }
        match nalimov.value(&position.setup()) {
            Ok(said) => nalimov_line(said, position.turn),
            Err(problem) => {
                let path = hit.table().path().to_owned();
                self.errors.push(TableError { path, problem: problem.into() }.into());
                String::new()
            }
        }
    }

    /// What is said of a position that no table answers, and its moves.
    fn without_score(&mut self, position: &Position) -> String {
        if let Err(why) = position.check_possible(self.collection.variant()) {
            return format!("No table has this position: {why}\n");
        }
        let known = Known::of(position, self.collection.variant(), None);
        let mut out = match known.said {
            Some(_) => format!("No table has this position. {}\n", known_in_words(&known, 0)),
            None => "No table has this position\n".to_owned(),
        };
        let mut missing = self.list_moves(position, None, &mut out);
        missing.extend(known.said.is_none().then(|| table_name(&position.material())));
        if !missing.is_empty() {
            let missing: Vec<String> = missing.into_iter().collect();
            let _ = writeln!(out, "Missing tables: {}", missing.join(", "));
        }
        out
    }

    /// The moves of a position with what they lead to: index and score; the winner in suicide
    /// chess if a side has no men left; `conceded` or `discarded` by the rules of the table that
    /// answers the position itself; else `NO DATA`. Returns the files that are missing, in order
    /// of the alphabet.
    fn list_moves(
        &mut self,
        position: &Position,
        hit: Option<&Hit>,
        out: &mut String,
    ) -> BTreeSet<String> {
        let variant = self.collection.variant();
        let root = Known::of(position, variant, hit.cloned());
        let mut missing = BTreeSet::new();
        for m in position.legal_moves(variant) {
            let _ = write!(out, "   {:<8} ", m.classic());
            let next = position.after(&m);
            if variant == Variant::Suicide && next.board.by_color(next.turn).is_empty() {
                let _ = writeln!(out, "{} WINS", next.turn.fold_wb("WHITE", "BLACK"));
                continue;
            }
            let option = assess_move(&self.collection, &root, position, m);
            self.errors.extend(option.failure);
            missing.extend(option.missing);
            let _ = match (option.pruned, option.known.hit) {
                (Some(effect), _) => writeln!(out, "{}", pruned_word(effect)),
                (None, Some(hit)) => writeln!(out, "({}) {}", hit.index, score_after_move(&hit)),
                (None, None) => writeln!(out, "NO DATA"),
            };
        }
        missing
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

/// `conceded` or `discarded`.
pub(crate) fn pruned_word(effect: PruneEffect) -> &'static str {
    match effect {
        PruneEffect::Concede => "conceded",
        PruneEffect::Discard => "discarded",
    }
}

/// The score of a position in the words of the classic prompt.
pub fn score(hit: &Hit) -> String {
    score_text(hit, 0)
}

/// The score of the position after a move, counted from the position before it.
pub fn score_after_move(hit: &Hit) -> String {
    score_text(hit, 1)
}

fn score_text(hit: &Hit, made: u16) -> String {
    let (ptm, pntm) = (color_name(hit.turn), color_name(hit.turn.other()));
    let format = hit.table().codec().format();
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
