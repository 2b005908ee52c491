//! Checking a certificate.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

use shakmaty::fen::Epd;
use shakmaty::{Board, Chess, Color, EnPassantMode, Move, Position as _};

use crate::FIRST_LINE;
use crate::claim::Claimed;
use crate::parse::{self, Error, Lines};

/// What a certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The position, as EPD of four fields.
    pub position: String,
    /// What each side does, and how many positions its strategy has.
    pub claims: Vec<(Color, Claimed, usize)>,
}

/// A strategy: what is played, after how many moves it has won, and the line that says so.
type Strategy = HashMap<Chess, (Option<Move>, u16, u64)>;

/// Checks every claim of a certificate by the rules of chess alone.
///
/// # Errors
///
/// The first thing that is wrong, with its line.
pub fn check(input: impl Read) -> Result<Checked, Error> {
    let mut lines = Lines::new(input);
    if lines.next()? != Some(FIRST_LINE) {
        return Err(lines.wrong(format!("it is not '{FIRST_LINE}'")));
    }
    let second = lines.next()?.and_then(|line| line.strip_prefix("position "));
    let position = second
        .ok_or("it is not 'position' and a position")
        .and_then(|epd| parse::position(epd).map_err(|_| "it has no legal position"));
    let position = position.map_err(|what| lines.wrong(what))?;
    let mut claims = Vec::new();
    while let Some(line) = lines.next()? {
        let claim = parse::claim(line);
        let (side, claimed) = claim.ok_or_else(|| lines.wrong("it begins no claim"))?;
        let begins = lines.number;
        let strategy = read_strategy(&mut lines, side, claimed)?;
        let at = |line: u64| move |what: String| Error::Line { line, what };
        let checker = Checker { side, claimed, strategy };
        checker.check_root(&position).map_err(at(begins))?;
        let faults = checker.strategy.iter().filter_map(|(place, &(m, moves, line))| {
            checker.check_choice(place, m, moves).err().map(|what| (line, what))
        });
        if let Some((line, what)) = faults.min_by_key(|(line, _)| *line) {
            return Err(at(line)(what));
        }
        claims.push((side, claimed, checker.strategy.len()));
    }
    Ok(Checked { position: epd(&position), claims })
}

/// Reads the lines up to the end of a claim.
fn read_strategy(
    lines: &mut Lines<impl Read>,
    side: Color,
    claimed: Claimed,
) -> Result<Strategy, Error> {
    let mut strategy = Strategy::new();
    loop {
        let line = lines.next()?.map(str::to_owned);
        let line = line.ok_or_else(|| lines.wrong("the claim has no end"))?;
        if line.starts_with("end ") {
            if line != format!("end {}", strategy.len()) {
                return Err(lines.wrong(format!("there are {} positions", strategy.len())));
            }
            return Ok(strategy);
        }
        let (position, m, moves) = parse::choice(&line).map_err(|what| lines.wrong(what))?;
        let problem = match claimed {
            _ if position.turn() != side => "the other side is to move",
            Claimed::Wins(_) if moves == 0 => "a win takes a move at least",
            Claimed::Holds if moves != 0 => "moves are not counted where nobody wins",
            _ => "",
        };
        if !problem.is_empty() {
            return Err(lines.wrong(problem));
        }
        match strategy.entry(position) {
            Entry::Vacant(place) => place.insert((m, moves, lines.number)),
            Entry::Occupied(_) => return Err(lines.wrong("the position was there before")),
        };
    }
}

struct Checker {
    side: Color,
    claimed: Claimed,
    strategy: Strategy,
}

impl Checker {
    /// Whether the strategy answers the position that it is about.
    fn check_root(&self, position: &Chess) -> Result<(), String> {
        let allowed = match self.claimed {
            Claimed::Wins(moves) => moves,
            Claimed::Holds => 0,
        };
        if position.turn() == self.side {
            self.check_met(position, allowed)
        } else {
            self.check_replies(position, allowed)
        }
    }

    /// Whether a move of the strategy leads to nothing but what the strategy knows.
    fn check_choice(&self, position: &Chess, m: Option<Move>, moves: u16) -> Result<(), String> {
        match m {
            Some(m) => {
                let mut next = position.clone();
                next.play_unchecked(m);
                self.check_replies(&next, moves.saturating_sub(1))
            }
            None if self.claimed == Claimed::Holds && position.is_stalemate() => Ok(()),
            None => Err("a move is missing".to_owned()),
        }
    }

    /// Whether the strategy goes on after every move of the other side, in at most so many moves.
    fn check_replies(&self, position: &Chess, allowed: u16) -> Result<(), String> {
        let replies = position.legal_moves();
        if replies.is_empty() && self.claimed != Claimed::Holds && !position.is_check() {
            return Err(format!("stalemate: '{}'", epd(position)));
        }
        replies.into_iter().try_for_each(|m| {
            let mut next = position.clone();
            next.play_unchecked(m);
            self.check_met(&next, allowed)
        })
    }

    /// Whether the strategy has a position, with at most so many moves to go.
    fn check_met(&self, position: &Chess, allowed: u16) -> Result<(), String> {
        match (self.strategy.get(position), self.claimed) {
            (Some(_), Claimed::Holds) => Ok(()),
            (None, Claimed::Holds) if !can_mate(position.board(), self.side.other()) => Ok(()),
            (Some(&(_, moves, _)), Claimed::Wins(_)) if moves <= allowed => Ok(()),
            (Some(&(_, moves, _)), Claimed::Wins(_)) => {
                Err(format!("'{}' takes {moves} moves, not {allowed}", epd(position)))
            }
            (None, _) => Err(format!("'{}' has no move", epd(position))),
        }
    }
}

/// Whether a side can mate at all: not with a bare king, nor with a single bishop or knight against
/// one.
pub fn can_mate(board: &Board, side: Color) -> bool {
    let (own, enemies) = (board.by_color(side), board.by_color(side.other()));
    let minor = (board.bishops() | board.knights()) & own;
    match own.count() {
        1 => false,
        2 => minor.is_empty() || enemies.count() > 1,
        _ => true,
    }
}

fn epd(position: &Chess) -> String {
    Epd::from_position(position, EnPassantMode::Legal).to_string()
}
