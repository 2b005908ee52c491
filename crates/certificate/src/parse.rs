//! Reading a certificate, line by line.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use shakmaty::fen::{Epd, Fen};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move};

use crate::claim::Claimed;

/// Why a certificate proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read, or its compression is damaged.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A line does not say what it should.
    #[error("line {line}: {what}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
}

/// The longest line, in bytes.
const LONGEST: u64 = 200;

/// The lines of a certificate.
pub(crate) struct Lines<R: Read> {
    input: BufReader<MultiGzDecoder<BufReader<R>>>,
    text: String,
    pub(crate) number: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        let input = BufReader::new(MultiGzDecoder::new(BufReader::new(input)));
        Lines { input, text: String::new(), number: 0 }
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, Error> {
        self.text.clear();
        self.number += 1;
        if let Err(error) = (&mut self.input).take(LONGEST).read_line(&mut self.text) {
            let damaged =
                [ErrorKind::InvalidInput, ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
            if self.number == 1 && damaged.contains(&error.kind()) {
                return Err(
                    self.wrong("it is not compressed as by gzip, so this is no certificate")
                );
            }
            return Err(error.into());
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        if !self.text.ends_with('\n') {
            return Err(self.wrong("it is longer than any line is, or the file ends in it"));
        }
        self.text.pop();
        Ok(Some(&self.text))
    }

    pub(crate) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::Line { line: self.number, what: what.into() }
    }
}

/// A position as EPD of four fields.
pub(crate) fn position(epd: &str) -> Result<Chess, String> {
    if epd.split(' ').count() != 4 {
        return Err(format!("'{epd}' has not four fields"));
    }
    let setup: Epd = epd.parse().map_err(|e| format!("'{epd}': {e}"))?;
    let position: Result<Chess, _> = Fen::from(setup).into_position(CastlingMode::Standard);
    position.map_err(|e| format!("'{epd}': {e}"))
}

/// A line of a strategy: a position, the move, and the number of moves that are left.
pub(crate) fn choice(line: &str) -> Result<(Chess, Option<Move>, u16), String> {
    let words: Vec<&str> = line.split(' ').collect();
    if !(5..=6).contains(&words.len()) {
        return Err("it is not a position of four fields, a move, and a number".to_owned());
    }
    let position = position(&words[..4].join(" "))?;
    let m = match words[4] {
        "-" => None,
        uci => {
            let parsed: UciMove = uci.parse().map_err(|e| format!("'{uci}': {e}"))?;
            Some(parsed.to_move(&position).map_err(|e| format!("'{uci}': {e}"))?)
        }
    };
    let moves = match words.get(5) {
        None => 0,
        Some(moves) => number(moves).ok_or_else(|| format!("'{moves}' is no number of moves"))?,
    };
    Ok((position, m, moves))
}

/// A number of moves, in digits.
fn number(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A line that begins a claim.
pub(crate) fn claim(line: &str) -> Option<(Color, Claimed)> {
    let words: Vec<&str> = line.split(' ').collect();
    let side = match *words.get(1)? {
        "white" => Color::White,
        "black" => Color::Black,
        _ => return None,
    };
    match words[..] {
        ["claim", _, "wins", moves] => Some((side, Claimed::Wins(number(moves)?))),
        ["claim", _, "holds"] => Some((side, Claimed::Holds)),
        _ => None,
    }
}
