//! What a user interface says, a line at a time.

use std::str::SplitWhitespace;

/// A line of a user interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
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

/// How to answer. Limits of time, depth and nodes mean nothing to tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Go {
    /// The only moves to regard; all if there are none.
    pub(crate) moves: Vec<String>,
    /// Whether the best move is withheld until it is asked for.
    pub(crate) waits: bool,
}

/// The words of `go` that have a number behind them.
const NUMBERED: [&str; 9] =
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"];

impl Command {
    /// Reads a line. Words before the first command are passed over, as the protocol wants it; none if there is no
    /// command.
    pub(crate) fn read(line: &str) -> Option<Command> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            return Some(match word {
                "uci" => Command::Uci,
                "isready" => Command::IsReady,
                "ucinewgame" => Command::NewGame,
                "setoption" => read_option(words),
                "position" => read_position(words),
                "go" => Command::Go(read_go(words)),
                "stop" => Command::Stop,
                "ponderhit" => Command::PonderHit,
                "debug" => Command::Debug(words.next() == Some("on")),
                "quit" => Command::Quit,
                _ => continue,
            });
        }
        None
    }
}

/// `name NAME [value VALUE]`, both of any number of words.
fn read_option(words: SplitWhitespace<'_>) -> Command {
    let words: Vec<&str> = words.skip_while(|&word| word == "name").collect();
    let split = words.iter().position(|&word| word == "value").unwrap_or(words.len());
    let name = words[..split].join(" ");
    let value = words.get(split + 1..).map(|value| value.join(" "));
    let value = value.filter(|value| !value.is_empty() && value != "<empty>");
    Command::SetOption { name, value }
}

/// `startpos` or `fen FEN`, and moves behind the word `moves`. The word `fen` may be missing.
fn read_position(words: SplitWhitespace<'_>) -> Command {
    let words: Vec<&str> = words.collect();
    let split = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let fen = match &words[..split] {
        ["startpos", ..] => None,
        ["fen", fen @ ..] | fen => Some(fen.join(" ")),
    };
    let moves = words.iter().skip(split + 1).map(|&word| word.to_owned()).collect();
    Command::Position { fen, moves }
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
                words.next_if(|word| word.parse::<i64>().is_ok());
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

    fn option(name: &str, value: Option<&str>) -> Command {
        Command::SetOption { name: name.to_owned(), value: value.map(str::to_owned) }
    }

    #[test]
    fn words_before_a_command_are_passed_over() {
        assert_eq!(Command::read("  joho debug on"), Some(Command::Debug(true)));
        assert_eq!(Command::read("stop"), Some(Command::Stop));
        assert_eq!(Command::read("nothing of this"), None);
        assert_eq!(Command::read(""), None);
    }

    #[test]
    fn options_have_names_and_values_of_several_words() {
        let path = Command::read("setoption name HoffmanPath value C:\\my tables;D:\\more");
        assert_eq!(path, Some(option("HoffmanPath", Some("C:\\my tables;D:\\more"))));
        assert_eq!(Command::read("setoption name Clear Hash"), Some(option("Clear Hash", None)));
        assert_eq!(Command::read("setoption name Path value <empty>"), Some(option("Path", None)));
        assert_eq!(Command::read("setoption name Path value"), Some(option("Path", None)));
        assert_eq!(Command::read("setoption"), Some(option("", None)));
    }

    #[test]
    fn positions_have_a_beginning_and_moves() {
        let beginning = Command::Position { fen: None, moves: vec!["e2e4".to_owned()] };
        assert_eq!(Command::read("position startpos moves e2e4"), Some(beginning));
        let fen = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1";
        let given = Command::Position { fen: Some(fen.to_owned()), moves: Vec::new() };
        assert_eq!(Command::read(&format!("position fen {fen}")), Some(given.clone()));
        assert_eq!(Command::read(&format!("position {fen} moves")), Some(given));
    }

    #[test]
    fn limits_do_not_become_moves() {
        let go = |text: &str| match Command::read(text) {
            Some(Command::Go(go)) => (go.moves.join(" "), go.waits),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(go("go wtime 1000 btime -5 movestogo 3"), (String::new(), false));
        assert_eq!(go("go searchmoves e2e4 d2d4 depth 3"), ("e2e4 d2d4".to_owned(), false));
        assert_eq!(go("go infinite searchmoves e2e4"), ("e2e4".to_owned(), true));
        assert_eq!(go("go depth"), (String::new(), false));
        assert_eq!(go("go ponder wtime x"), (String::new(), true));
    }
}
