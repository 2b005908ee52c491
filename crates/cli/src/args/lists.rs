//! The options of lists, lines, games, pictures, completions and manual pages.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hoffman::{Pattern, Square};

use super::AtHandArgs;

/// Whose zugzwang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ZugzwangName {
    /// The result is worse for whoever is to move.
    Mutual,
    /// White to move would win sooner, draw, or lose later if it could pass.
    White,
    /// Black to move would.
    Black,
}

/// How a line has no second solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UniqueName {
    /// Each move of the winner is the only one that wins.
    Winning,
    /// Each is the only one that wins soonest.
    Fastest,
}

/// A result for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultName {
    /// It wins.
    Win,
    /// Nobody wins.
    Draw,
    /// It loses.
    Loss,
}

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideName {
    /// White.
    White,
    /// Black.
    Black,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Files, or endings whose tables are in the folder.
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// Positions in which having to move is a disadvantage. One-sided ones: a pass, which counts
    /// as a move, would give a better result, or the same with a sooner win or a later loss.
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub(crate) zugzwang: Option<ZugzwangName>,
    /// Exactly one move keeps the win or the draw, and there is another move.
    #[arg(long)]
    pub(crate) only_move: bool,
    /// Against a defence that lasts longest the winner never has a choice [default: winning].
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "winning")]
    pub(crate) unique_line: Option<UniqueName>,
    /// The N positions in which the end is farthest away, longest first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) longest: Option<u32>,
    /// The result for the side to move.
    #[arg(long, value_enum, value_name = "RESULT")]
    pub(crate) result: Option<ResultName>,
    /// The side to move.
    #[arg(long, value_enum, value_name = "SIDE")]
    pub(crate) to_move: Option<SideName>,
    /// Moves of the winner to the end: 12, 10..20, 30.. or ..5, both ends included.
    #[arg(long, value_name = "A..B", value_parser = distance)]
    pub(crate) distance: Option<RangeInclusive<u16>>,
    /// Men on squares, in quotes: "wK:e1-h4 bP:a7,b". Behind the colour, the letter of the man and
    /// a colon stand squares (a7), corners of a part of the board (e1-h4), files (b) and ranks (7).
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pattern: Option<Pattern>,
    /// Say only how many there are.
    #[arg(long)]
    pub(crate) count: bool,
    /// A line of JSON a position, instead of EPD.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
}

/// A range of moves, both ends included.
fn distance(text: &str) -> Result<RangeInclusive<u16>, String> {
    let wrong = || "a distance is a number of moves or a range such as 10..20".to_owned();
    let number = |text: &str| text.parse::<u16>().map_err(|_| wrong());
    let Some((from, to)) = text.split_once("..") else {
        let moves = number(text)?;
        return Ok(moves..=moves);
    };
    let from = if from.is_empty() { 0 } else { number(from)? };
    let to = if to.is_empty() { u16::MAX } else { number(to)? };
    if from <= to { Ok(from..=to) } else { Err(format!("no number is in {text}")) }
}

#[derive(Args, Debug)]
pub(crate) struct LineArgs {
    /// The position, as one word or several.
    #[arg(required = true, value_name = "FEN")]
    pub(crate) fen: Vec<String>,
    /// Show the other moves that are as good, as variations, and say where only one move wins.
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Where no table tells the result, prove it for so many seconds at most, and show how the
    /// winner wins.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) prove: Option<u64>,
    /// A table to ask first: a file, or an ending. May be repeated.
    #[arg(long = "table", value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
}

#[derive(Args, Debug)]
pub(crate) struct AnnotateArgs {
    /// Files with games; - is standard input.
    #[arg(required = true, value_name = "GAME.pgn")]
    pub(crate) files: Vec<PathBuf>,
    /// A table to ask first: a file, or an ending. May be repeated.
    #[arg(long = "table", value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// A table, as a file or an ending, for its distances; or a position, as one word or several.
    #[arg(required = true, value_name = "TABLE|FEN")]
    pub(crate) what: Vec<String>,
    /// The square of the man that is put on all squares, of a position.
    #[arg(long, value_name = "SQUARE")]
    pub(crate) piece: Option<Square>,
    /// The file; - is standard output.
    #[arg(short, long, value_name = "FILE.svg")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The folder, which is made if it is not there. Without it the page of the program itself
    /// goes to standard output.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
