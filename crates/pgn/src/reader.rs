//! Reading games, a line at a time. What is no word of PGN is kept as such: whoever takes a game
//! decides, and nothing is passed over but move numbers, which say nothing new, and lines that
//! begin with `%`, which PGN leaves to programs.

use std::io::{self, BufRead, Read as _};

use hoffman::shakmaty::san::SanPlus;

/// The longest game, in bytes.
const LONGEST: u64 = 16 << 20;

/// How much of an unknown word is kept, in characters.
const SHOWN: usize = 40;

/// Why no more games can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file ends in a comment.
    #[error("the comment that begins in line {line} does not end")]
    Comment {
        /// The line in which the comment begins, from 1.
        line: u64,
    },
    /// A game does not end.
    #[error("the game that goes on in line {line} is longer than {LONGEST} bytes")]
    Long {
        /// The line that is too much, from 1.
        line: u64,
    },
}

/// A game as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Game {
    /// Names and values, in their order.
    pub tags: Vec<(String, String)>,
    /// Everything else.
    pub items: Vec<Item>,
}

/// A word of a game, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The line of the file, from 1.
    pub line: u64,
    /// The word.
    pub word: Word,
}

/// A word of the moves of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A move.
    Move(SanPlus),
    /// A sign behind a move, as `!` or `$1`, by its number.
    Sign(u8),
    /// A comment.
    Comment(String),
    /// A variation begins.
    Open,
    /// A variation ends.
    Close,
    /// How the game ended: `1-0`, `0-1`, `1/2-1/2` or `*`.
    Result(&'static str),
    /// None of these, or a tag that is none; the beginning of it, if it is long.
    Unknown(String),
}

/// The games of a file, one after the other.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// The line that is being read, how much of it has been, in bytes, and its number.
    line: String,
    at: usize,
    number: u64,
    /// The bytes of the game so far.
    taken: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads from an input. It is asked for a line at a time.
    pub fn new(input: R) -> Reader<R> {
        Reader { input, line: String::new(), at: 0, number: 0, taken: 0 }
    }

    /// The next game; none at the end. A game ends at an empty line behind its moves, where tags
    /// follow, or where moves follow its result.
    ///
    /// # Errors
    /// The input; a comment or a game does not end. Where the next game begins is not known then.
    pub fn next_game(&mut self) -> Result<Option<Game>, ReadError> {
        self.taken = 0;
        if !self.skip_blanks()? {
            return Ok(None);
        }
        let mut game = Game::default();
        while self.rest().starts_with('[') {
            self.read_tag(&mut game);
            if !self.skip_blanks()? {
                return Ok(Some(game));
            }
        }
        self.read_moves(&mut game)?;
        Ok(Some(game))
    }

    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    /// Goes on to the next line, whatever it is; whether there is one. What is no UTF-8 is Latin-1,
    /// as PGN has it.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        let mut bytes = Vec::new();
        let left = LONGEST.saturating_sub(self.taken);
        self.input.by_ref().take(left + 1).read_until(b'\n', &mut bytes)?;
        self.number += u64::from(!bytes.is_empty());
        self.taken += bytes.len() as u64;
        if self.taken > LONGEST {
            return Err(ReadError::Long { line: self.number });
        }
        let is_there = !bytes.is_empty();
        let latin = |bytes: Vec<u8>| bytes.into_iter().map(char::from).collect();
        let line = String::from_utf8(bytes).unwrap_or_else(|error| latin(error.into_bytes()));
        let line = if self.number == 1 { line.trim_start_matches('\u{feff}') } else { &line };
        line.trim_end_matches(['\n', '\r']).clone_into(&mut self.line);
        self.at = 0;
        Ok(is_there)
    }

    /// Goes on to the next line that does not begin with `%`.
    fn next_plain_line(&mut self) -> Result<bool, ReadError> {
        while self.next_line()? {
            if !self.line.starts_with('%') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Passes over blanks in this line.
    fn skip_blanks_here(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Passes over blanks and empty lines; whether there is anything else.
    fn skip_blanks(&mut self) -> Result<bool, ReadError> {
        loop {
            self.skip_blanks_here();
            if !self.rest().is_empty() {
                return Ok(true);
            }
            if !self.next_plain_line()? {
                return Ok(false);
            }
        }
    }

    fn push(&mut self, game: &mut Game, word: Word, bytes: usize) {
        game.items.push(Item { line: self.number, word });
        self.at += bytes;
    }

    /// Reads a tag, or takes the rest of the line as none.
    fn read_tag(&mut self, game: &mut Game) {
        let rest = self.rest();
        if let Some((name, value, behind)) = tag_of(rest) {
            let bytes = rest.len() - behind;
            game.tags.push((name, value));
            self.at += bytes;
        } else {
            let (word, bytes) = (unknown(rest), rest.len());
            self.push(game, word, bytes);
        }
    }

    /// Reads words to the end of the game.
    fn read_moves(&mut self, game: &mut Game) -> Result<(), ReadError> {
        let mut depth = 0_usize;
        let mut is_over = false;
        loop {
            self.skip_blanks_here();
            let Some(first) = self.rest().chars().next() else {
                if !self.next_plain_line()?
                    || self.line.trim().is_empty()
                    || self.line.starts_with('[')
                {
                    return Ok(());
                }
                continue;
            };
            match first {
                '{' => self.read_comment(game)?,
                ';' => {
                    let text = self.rest()[1..].to_owned();
                    let bytes = text.len() + 1;
                    self.push(game, Word::Comment(text), bytes);
                }
                '.' => self.at += 1,
                '$' | '!' | '?' => self.read_sign(game),
                _ => {
                    let (word, bytes) = self.word();
                    match &word {
                        Some(Word::Result(_)) => is_over |= depth == 0,
                        Some(Word::Unknown(text)) if text == "}" => {}
                        // The next game begins.
                        _ if is_over => return Ok(()),
                        Some(Word::Open) => depth += 1,
                        Some(Word::Close) => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    match word {
                        Some(word) => self.push(game, word, bytes),
                        None => self.at += bytes,
                    }
                }
            }
        }
    }

    /// Reads a comment in braces, which may have several lines.
    fn read_comment(&mut self, game: &mut Game) -> Result<(), ReadError> {
        let line = self.number;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            if let Some(end) = rest.find('}') {
                text.push_str(&rest[..end]);
                self.at += end + 1;
                game.items.push(Item { line, word: Word::Comment(text) });
                return Ok(());
            }
            text.push_str(rest);
            text.push('\n');
            if !self.next_line()? {
                return Err(ReadError::Comment { line });
            }
        }
    }

    /// Reads `$` and a number, or marks such as `!?`.
    fn read_sign(&mut self, game: &mut Game) {
        let rest = self.rest();
        let bytes = match rest.strip_prefix('$') {
            Some(behind) => 1 + behind.find(is_end).unwrap_or(behind.len()),
            None => rest.find(|c| c != '!' && c != '?').unwrap_or(rest.len()),
        };
        let text = &rest[..bytes];
        let marks = ["!", "?", "!!", "??", "!?", "?!"];
        let number = match text.strip_prefix('$') {
            Some(number) => number.parse().ok(),
            None => marks.iter().zip(1..).find(|(mark, _)| **mark == text).map(|(_, sign)| sign),
        };
        let word = number.map_or_else(|| unknown(text), Word::Sign);
        self.push(game, word, bytes);
    }

    /// The word that comes next, and how many bytes it has; none for a number of a move.
    fn word(&self) -> (Option<Word>, usize) {
        let rest = self.rest();
        // As it is written behind a capture.
        if rest.starts_with("e.p.") {
            return (None, 4);
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let bytes = rest.find(is_end).unwrap_or(rest.len()).max(first);
        let text = &rest[..bytes];
        let word = match text {
            "(" => Some(Word::Open),
            ")" => Some(Word::Close),
            "*" => Some(Word::Result("*")),
            number if number.chars().all(|c| c.is_ascii_digit()) => None,
            text => Some(plain_word(text)),
        };
        (word, bytes)
    }
}

/// What ends a word.
fn is_end(c: char) -> bool {
    c.is_whitespace() || "{}()!?$;.*".contains(c)
}

/// A move, a result, or neither. Dashes may be long, and castling written with zeros.
fn plain_word(text: &str) -> Word {
    let plain = text.replace(['–', '—'], "-").replace('½', "1/2");
    for result in ["1-0", "0-1", "1/2-1/2"] {
        if plain == result {
            return Word::Result(result);
        }
    }
    let castling = if plain.starts_with("0-0") { plain.replace('0', "O") } else { plain };
    SanPlus::from_ascii(castling.as_bytes()).map_or_else(|_| unknown(text), Word::Move)
}

fn unknown(text: &str) -> Word {
    Word::Unknown(text.chars().take(SHOWN).collect())
}

/// The name and the value of a tag that a text begins with, and how many bytes stand behind it.
fn tag_of(text: &str) -> Option<(String, String, usize)> {
    let (name, quoted) = text.strip_prefix('[')?.split_once('"')?;
    let name = name.trim();
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ']') {
        return None;
    }
    let mut value = String::new();
    let mut letters = quoted.chars();
    loop {
        match letters.next()? {
            '"' => break,
            '\\' if letters.as_str().starts_with(['"', '\\']) => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
    let behind = letters.as_str().trim_start().strip_prefix(']')?;
    Some((name.to_owned(), value, behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(text: impl AsRef<[u8]>) -> Vec<Game> {
        let mut reader = Reader::new(text.as_ref());
        let mut games = Vec::new();
        while let Some(game) = reader.next_game().expect("games") {
            games.push(game);
        }
        games
    }

    /// The words of the only game of a text, in short.
    fn words(text: &str) -> Vec<String> {
        let [game] = &games(text)[..] else { panic!("{:?}", games(text)) };
        game.items.iter().map(|item| shown(&item.word)).collect()
    }

    fn shown(word: &Word) -> String {
        match word {
            Word::Move(san) => san.to_string(),
            Word::Sign(sign) => format!("${sign}"),
            Word::Comment(text) => format!("{{{text}}}"),
            Word::Open => "(".to_owned(),
            Word::Close => ")".to_owned(),
            Word::Result(result) => (*result).to_owned(),
            Word::Unknown(text) => format!("<{text}>"),
        }
    }

    #[test]
    fn words_are_read_with_blanks_and_without() {
        assert_eq!(
            words("1.f3! e5$71 2. g4 ?? (2.-- {}) 0-0 O-O-O#!?1/2-1/2"),
            [
                "f3", "$1", "e5", "$71", "g4", "$4", "(", "--", "{}", ")", "O-O", "O-O-O#", "$5",
                "1/2-1/2"
            ]
        );
        assert_eq!(words("12... exd6 e.p. 13. e8=Q+ ½–½"), ["exd6", "e8=Q+", "1/2-1/2"]);
        assert_eq!(words("1. ... e5 ; the rest\n2. d4 *"), ["e5", "{ the rest}", "d4", "*"]);
        assert_eq!(words("e4 {one\n\n% [two]\n} 1–0"), ["e4", "{one\n\n% [two]\n}", "1-0"]);
        assert_eq!(words("\u{feff}e4\r\n%all of it\r\ne5 *\r\n\r\n"), ["e4", "e5", "*"]);
    }

    #[test]
    fn what_is_no_word_is_kept() {
        let long = "x".repeat(100);
        assert_eq!(words("e4 +- 1/2"), ["e4", "<+->", "<1/2>"]);
        assert_eq!(words("e4 $300 !!! $ } e5]"), ["e4", "<$300>", "<!!!>", "<$>", "<}>", "<e5]>"]);
        assert_eq!(words("[Event]\n\ne4 *"), ["<[Event]>", "e4", "*"]);
        assert_eq!(words("[Event \"a] *"), ["<[Event \"a] *>"]);
        assert_eq!(words(&long), [format!("<{}>", "x".repeat(SHOWN))]);
        assert_eq!(words("e4 é5 12e4"), ["e4", "<é5>", "<12e4>"]);
    }

    #[test]
    fn a_game_ends_where_another_begins() {
        let count = |text: &str| games(text).len();
        assert_eq!(count("[A \"1\"] [B \"2\"]\n\n\n[C \"3\"]\ne4 *\n\n[A \"1\"]\n"), 2);
        assert_eq!(count("e4\n[A \"1\"]\n\ne4\n\ne4"), 3);
        assert_eq!(count("1. e4 1-0\n1. d4 0-1\n(1. c4) *"), 3);
        assert_eq!(count("1. e4 (1. d4 1-0 d5) 1-0 {a word} $1"), 1);
        assert_eq!(count(" \n\t\r\n%\n"), 0);
    }

    #[test]
    fn lines_are_numbered_and_tags_unescaped() {
        let text = "[A \"b \\\"c\\\" \\\\ \\d\"]\n\ne4\n e5 *";
        let [game] = &games(text)[..] else { panic!("{:?}", games(text)) };
        assert_eq!(game.tags, [("A".to_owned(), "b \"c\" \\ \\d".to_owned())]);
        assert_eq!(game.items.iter().map(|item| item.line).collect::<Vec<_>>(), [3, 4, 4]);
        // Latin-1.
        let latin = games(b"[White \"M\xfcller\"]\n*");
        assert_eq!(latin[0].tags[0].1, "Müller");
    }

    #[test]
    fn what_does_not_end_is_said() {
        let error =
            |text: &str| Reader::new(text.as_bytes()).next_game().expect_err("none").to_string();
        assert_eq!(error("e4\ne5 {a\nb"), "the comment that begins in line 2 does not end");
        let long = format!("e4 {{{}", "a".repeat(LONGEST as usize));
        assert!(error(&long).contains("is longer than 16777216 bytes"));
    }
}
