//! What tables say of the moves of a game.

use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::san::SanPlus;
use hoffman::shakmaty::{CastlingMode, Chess, Position as _};
use hoffman::{Change, Judged, Move, ProbeError, Tablebase, Value};

use crate::movetext::{Movetext, brief, tag};
use crate::reader::{Game, Item, Word};

/// A bad move, a result worse by half a point.
const MISTAKE: u8 = 2;
/// A result worse by a full point.
const BLUNDER: u8 = 4;
/// The only move.
const ONLY: u8 = 7;

/// Why a game is not annotated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotateError {
    /// The game: one sentence, with the line and the move.
    #[error("{0}")]
    Game(String),
    /// The tables.
    #[error(transparent)]
    Tables(#[from] ProbeError),
}

/// A game with what tables say of every move, as PGN: who wins after it and when, `$2` and `$4`
/// with what would have been better, `$7` for the only move. Comments, signs and variations stay.
///
/// # Errors
/// The game has a word that is none of PGN, a move that cannot be played, or a variation that does
/// not end; a table cannot be read.
pub fn annotate(tables: &Tablebase, game: &Game) -> Result<String, AnnotateError> {
    let mut annotated = Annotated::begin(tables, &game.tags)?;
    for Item { line, word } in &game.items {
        annotated.add(word, *line)?;
    }
    annotated.finish(&game.tags)
}

/// A game as it is annotated.
struct Annotated<'t> {
    tables: &'t Tablebase,
    position: Chess,
    text: Movetext,
    /// A comment of the tables that comes behind the signs of its move.
    said: Option<String>,
    result: Option<&'static str>,
    moves: usize,
}

fn wrong<T>(what: impl Into<String>) -> Result<T, AnnotateError> {
    Err(AnnotateError::Game(what.into()))
}

impl<'t> Annotated<'t> {
    fn begin(
        tables: &'t Tablebase,
        tags: &[(String, String)],
    ) -> Result<Annotated<'t>, AnnotateError> {
        let named = |name: &str| {
            let mut tags = tags.iter();
            tags.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let usual = ["", "standard", "chess", "normal", "from position"];
        if let Some(variant) = named("Variant")
            && !usual.contains(&variant.to_lowercase().as_str())
        {
            return wrong(format!("it is a game of {variant}, not of chess"));
        }
        let (position, number) = match named("FEN") {
            Some(fen) => beginning(fen).map_err(AnnotateError::Game)?,
            None => (Chess::default(), 1),
        };
        let text = Movetext::starting(position.turn(), number);
        Ok(Annotated { tables, position, text, said: None, result: None, moves: 0 })
    }

    fn add(&mut self, word: &Word, line: u64) -> Result<(), AnnotateError> {
        match word {
            Word::Move(san) => return self.play(*san),
            Word::Sign(sign) => self.text.nag(*sign),
            Word::Comment(text) => {
                self.say();
                self.text.comment(text);
            }
            Word::Open => {
                self.say();
                self.text.open();
            }
            Word::Close => {
                if !self.text.close() {
                    return wrong(format!("line {line}: a variation ends that did not begin"));
                }
            }
            // Of a variation it says nothing of the game.
            Word::Result(_) if self.text.is_inside() => {}
            Word::Result(result) => {
                if let Some(before) = self.result.replace(result) {
                    return wrong(format!(
                        "line {line}: the result {before} is followed by {result}"
                    ));
                }
            }
            Word::Unknown(text) => {
                let place = self.text.next_number();
                return wrong(format!("line {line}, at {place}: '{text}' is no word of PGN"));
            }
        }
        Ok(())
    }

    /// Plays a move; those of variations are taken over as they are.
    fn play(&mut self, san: SanPlus) -> Result<(), AnnotateError> {
        self.say();
        if self.text.is_inside() {
            self.text.play(&san.to_string());
            return Ok(());
        }
        let place = self.text.next_number();
        let played = match san.san.to_move(&self.position) {
            Ok(played) => played,
            Err(error) => return wrong(format!("{place} {san} cannot be played: {error}")),
        };
        // Tables know no castling; a right to it is refused before.
        let m = Move::try_from(played).ok();
        let judged = Judged::of(self.tables, &self.position)?;
        self.text.play(&san.to_string());
        self.moves += 1;
        if let (Some(judged), Some(m)) = (judged, m) {
            self.judge(&judged, m);
        }
        self.position.play_unchecked(played);
        Ok(())
    }

    /// Says what the tables say of a move.
    fn judge(&mut self, judged: &Judged, m: Move) {
        let change = judged.change(m);
        let Some(worth) = judged.worth(m) else { return };
        match change {
            Change::HalfPoint => self.text.nag(MISTAKE),
            Change::FullPoint => self.text.nag(BLUNDER),
            Change::Best | Change::Slower => {
                let chosen = judged.moves.len() > 1 && judged.keeping_result() == 1;
                if chosen && !judged.value.is_loss() {
                    self.text.nag(ONLY);
                }
            }
            Change::Unknown => {}
        }
        let now = brief(worth, judged.turn);
        self.said = Some(match change {
            Change::HalfPoint | Change::FullPoint => format!("{now}, instead of {}", best(judged)),
            Change::Slower => format!("{now}; {}", best(judged)),
            Change::Best | Change::Unknown => now,
        });
    }

    /// Puts down what is still to be said of the last move.
    fn say(&mut self) {
        if let Some(said) = self.said.take() {
            self.text.comment(&said);
        }
    }

    /// The whole game.
    fn finish(mut self, tags: &[(String, String)]) -> Result<String, AnnotateError> {
        self.say();
        if self.text.is_inside() {
            return wrong("a variation does not end");
        }
        if tags.is_empty() && self.moves == 0 && self.result.is_none() {
            return wrong("there is no game in PGN");
        }
        let gap = if tags.is_empty() { "" } else { "\n" };
        let tags: String = tags.iter().map(|(name, value)| tag(name, value)).collect();
        Ok(format!("{tags}{gap}{}", self.text.finish(self.result.unwrap_or("*"))))
    }
}

/// The position of the tag FEN, and the number of its next move.
fn beginning(fen: &str) -> Result<(Chess, u32), String> {
    let parsed: Fen = fen.parse().map_err(|error| format!("the tag FEN has '{fen}': {error}"))?;
    let number = parsed.as_setup().fullmoves.get();
    let position = parsed.into_position(CastlingMode::Standard);
    let position = position.map_err(|error| format!("the tag FEN has '{fen}': {error}"))?;
    Ok((position, number))
}

/// The best moves and their value: `Kb3 or Kc3: White mates in 23`.
fn best(judged: &Judged) -> String {
    let value: Value = judged.value;
    let names: Vec<&str> = judged.keeping().map(|answer| answer.san.as_str()).collect();
    format!("{}: {}", names.join(" or "), brief(value, judged.turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    /// What becomes of the only game of a text, without tables.
    fn annotated(text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let tables = Tablebase::open(folder.path()).expect("a folder without tables");
        let game = Reader::new(text.as_bytes()).next_game().expect("it can be read");
        annotate(&tables, &game.expect("a game")).map_err(|error| error.to_string())
    }

    #[test]
    fn everything_stays() {
        let text = "[Event \"a \\\"b\\\"\"]\n\n{first} 1. e4 ! (1. d4 d5 {why} (1... c5) *) 1... e5 ; last\n1-0";
        assert_eq!(
            annotated(text).expect("a game"),
            "[Event \"a \\\"b\\\"\"]\n\n{first} 1. e4 $1 (1. d4 d5 {why} (1... c5)) 1... e5 {last} 1-0\n"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, problem) in [
            ("1. e4 e5\n2. Nf3 +- *", "line 2, at 2...: '+-' is no word of PGN"),
            ("[Event]\n\n1. e4 *", "line 1, at 1.: '[Event]' is no word of PGN"),
            ("1. e4 * *", "line 1: the result * is followed by *"),
            ("1. e4 ) *", "line 1: a variation ends that did not begin"),
            ("1. e4 (1. d4 *", "a variation does not end"),
            ("{nothing}", "there is no game in PGN"),
        ] {
            assert_eq!(annotated(text).expect_err("refused"), problem);
        }
        assert!(annotated("1. e4 Ke3").expect_err("refused").starts_with("1... Ke3 cannot be"));
    }
}
