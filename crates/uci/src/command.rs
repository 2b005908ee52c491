//! What a user interface says, a line at a time.

use std::str::SplitWhitespace;
use std::time::Duration;

/// A line of a user interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UciCommand {
    /// Say who you are and what can be set.
    Uci,
    /// Say when you are ready.
    IsReady,
    /// The next position is of another game.
    NewGame,
    /// Set an option. A button has no value, and an empty one is none.
    SetOption { name: String, value: Option<String> },
    /// The position to think about: none for that of the beginning, and moves as `e2e4`.
    Position { fen: Option<String>, moves: Vec<String> },
    /// Answer.
    Go(Go),
    /// Say what is best now.
    Stop,
    /// The move that was pondered on has been played.
    PonderHit,
    /// Explain what you do.
    Debug(bool),
    /// Good bye.
    Quit,
}

/// How to answer. Limits of depth and nodes mean nothing to tables; time bounds how much is said
/// beside the move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Go {
    /// The time for this move, in milliseconds.
    move_time: Option<i64>,
    /// What is on the clocks, White's first, what a move adds, and after how many moves they are
    /// set anew.
    clocks: [Option<i64>; 2],
    increments: [i64; 2],
    moves_left: Option<i64>,
    /// The only moves to regard; all if there are none.
    pub(crate) moves: Vec<String>,
    /// Whether the best move is withheld until it is asked for.
    pub(crate) waits: bool,
}

impl Go {
    /// How long the answer may take, with White to move or Black; none if it does not matter.
    pub(crate) fn time(&self, is_white: bool) -> Option<Duration> {
        let side = usize::from(!is_white);
        let of_clock = |clock: i64| {
            let moves = self.moves_left.unwrap_or(40).clamp(2, 40);
            (clock / moves).saturating_add(self.increments[side] / 2).min(clock / 2)
        };
        let millis = self.move_time.or_else(|| self.clocks[side].map(of_clock))?;
        Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
    }

    fn set(&mut self, word: &str, number: i64) {
        match word {
            "movetime" => self.move_time = Some(number),
            "wtime" => self.clocks[0] = Some(number),
            "btime" => self.clocks[1] = Some(number),
            "winc" => self.increments[0] = number,
            "binc" => self.increments[1] = number,
            "movestogo" => self.moves_left = Some(number),
            _ => {}
        }
    }
}

/// The words of `go` that have a number behind them.
const NUMBERED: [&str; 9] =
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"];

impl UciCommand {
    /// Reads a line. Words before the first command are passed over, as the protocol wants it; none
    /// if there is no command.
    pub(crate) fn read(line: &str) -> Option<UciCommand> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            return Some(match word {
                "uci" => UciCommand::Uci,
                "isready" => UciCommand::IsReady,
                "ucinewgame" => UciCommand::NewGame,
                "setoption" => read_option(words),
                "position" => read_position(words),
                "go" => UciCommand::Go(read_go(words)),
                "stop" => UciCommand::Stop,
                "ponderhit" => UciCommand::PonderHit,
                "debug" => UciCommand::Debug(words.next() == Some("on")),
                "quit" => UciCommand::Quit,
                _ => continue,
            });
        }
        None
    }
}

/// `name NAME [value VALUE]`, both of any number of words.
fn read_option(words: SplitWhitespace<'_>) -> UciCommand {
    let words: Vec<&str> = words.skip_while(|&word| word == "name").collect();
    let split = words.iter().position(|&word| word == "value").unwrap_or(words.len());
    let name = words[..split].join(" ");
    let value = words.get(split + 1..).map(|value| value.join(" "));
    let value = value.filter(|value| !value.is_empty() && value != "<empty>");
    UciCommand::SetOption { name, value }
}

/// `startpos` or `fen FEN`, and moves behind the word `moves`. The word `fen` may be missing.
fn read_position(words: SplitWhitespace<'_>) -> UciCommand {
    let words: Vec<&str> = words.collect();
    let split = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let fen = match &words[..split] {
        ["startpos", ..] => None,
        ["fen", fen @ ..] | fen => Some(fen.join(" ")),
    };
    let moves = words.iter().skip(split + 1).map(|&word| word.to_owned()).collect();
    UciCommand::Position { fen, moves }
}

fn read_go(words: SplitWhitespace<'_>) -> Go {
    let mut go = Go::default();
    let mut lists_moves = false;
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        match word {
            "searchmoves" => lists_moves = true,
            "infinite" | "ponder" => go.waits = true,
            numbered if NUMBERED.contains(&numbered) => {
                lists_moves = false;
                let number = words.next_if(|word| word.parse::<i64>().is_ok());
                if let Some(number) = number.and_then(|number| number.parse().ok()) {
                    go.set(numbered, number);
                }
            }
            text if lists_moves => go.moves.push(text.to_owned()),
            _ => {}
        }
    }
    go
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, value: Option<&str>) -> UciCommand {
        UciCommand::SetOption { name: name.to_owned(), value: value.map(str::to_owned) }
    }

    #[test]
    fn words_before_a_command_are_passed_over() {
        assert_eq!(UciCommand::read("  joho debug on"), Some(UciCommand::Debug(true)));
        assert_eq!(UciCommand::read("stop"), Some(UciCommand::Stop));
        assert_eq!(UciCommand::read("nothing of this"), None);
        assert_eq!(UciCommand::read(""), None);
    }

    #[test]
    fn options_have_names_and_values_of_several_words() {
        let path = UciCommand::read("setoption name HoffmanPath value C:\\my tables;D:\\more");
        assert_eq!(path, Some(option("HoffmanPath", Some("C:\\my tables;D:\\more"))));
        assert_eq!(UciCommand::read("setoption name Clear Hash"), Some(option("Clear Hash", None)));
        assert_eq!(
            UciCommand::read("setoption name Path value <empty>"),
            Some(option("Path", None))
        );
        assert_eq!(UciCommand::read("setoption name Path value"), Some(option("Path", None)));
        assert_eq!(UciCommand::read("setoption"), Some(option("", None)));
    }

    #[test]
    fn positions_have_a_beginning_and_moves() {
        let beginning = UciCommand::Position { fen: None, moves: vec!["e2e4".to_owned()] };
        assert_eq!(UciCommand::read("position startpos moves e2e4"), Some(beginning));
        let fen = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1";
        let given = UciCommand::Position { fen: Some(fen.to_owned()), moves: Vec::new() };
        assert_eq!(UciCommand::read(&format!("position fen {fen}")), Some(given.clone()));
        assert_eq!(UciCommand::read(&format!("position {fen} moves")), Some(given));
    }

    #[test]
    fn clocks_become_a_time() {
        let time = |text: &str, is_white| match UciCommand::read(text) {
            Some(UciCommand::Go(go)) => go.time(is_white).map(|time| time.as_millis()),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(time("go", true), None);
        assert_eq!(time("go movetime 70 wtime 5", true), Some(70));
        assert_eq!(time("go wtime 40000 btime 4000 winc 100", true), Some(1050));
        assert_eq!(time("go wtime 40000 btime 4000 winc 100", false), Some(100));
        assert_eq!(time("go wtime 40000 movestogo 1", true), Some(20000));
        assert_eq!(time("go btime -300 binc 5000", false), Some(0));
        assert!(time("go wtime 9223372036854775807 winc 9223372036854775807", true).is_some());
        assert_eq!(time("go btime", false), None);
    }

    #[test]
    fn limits_do_not_become_moves() {
        let go = |text: &str| match UciCommand::read(text) {
            Some(UciCommand::Go(go)) => (go.moves.join(" "), go.waits),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(go("go wtime 1000 btime -5 movestogo 3"), (String::new(), false));
        assert_eq!(go("go searchmoves e2e4 d2d4 depth 3"), ("e2e4 d2d4".to_owned(), false));
        assert_eq!(go("go infinite searchmoves e2e4"), ("e2e4".to_owned(), true));
        assert_eq!(go("go depth"), (String::new(), false));
        assert_eq!(go("go ponder wtime x"), (String::new(), true));
    }
}
