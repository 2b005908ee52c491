//! What a user interface can set.

use std::path::PathBuf;

use hoffman::OpenOptions;
use hoffman::process::is_folder;

/// The most lines that are shown side by side: a position has at most 218 moves.
const MOST_LINES: usize = 256;

/// The largest cache that can be asked for, in megabytes.
const MOST_CACHE: usize = 1 << 20;

/// What can be set, with what is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineOptions {
    /// Folders of tables.
    pub(crate) folders: Vec<PathBuf>,
    /// Folders of Syzygy tables, which are asked where no other table answers.
    pub(crate) syzygy: Vec<PathBuf>,
    /// Unpacked blocks that are held, in megabytes.
    pub(crate) cache: usize,
    /// How many lines are shown, one for each of the best moves.
    pub(crate) lines: usize,
    /// Whether it is said where the fifty-move rule may take a win away.
    pub(crate) fifty_moves: bool,
}

/// What setting an option did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OptionChange {
    /// Nothing that needs more.
    Done,
    /// The tables have to be opened anew.
    Tables,
    /// Nothing, for this reason.
    Refused(String),
}

impl EngineOptions {
    pub(crate) fn new(folders: Vec<PathBuf>, syzygy: Vec<PathBuf>) -> EngineOptions {
        EngineOptions { folders, syzygy, cache: 64, lines: 1, fifty_moves: true }
    }

    /// The lines that describe all options, as `uci` asks for.
    pub(crate) fn describe(&self) -> Vec<String> {
        let path = |folders: &[PathBuf]| match std::env::join_paths(folders) {
            Ok(path) if !path.is_empty() => path.to_string_lossy().into_owned(),
            _ => "<empty>".to_owned(),
        };
        vec![
            format!("option name HoffmanPath type string default {}", path(&self.folders)),
            format!("option name SyzygyPath type string default {}", path(&self.syzygy)),
            format!(
                "option name HoffmanCache type spin default {} min 1 max {MOST_CACHE}",
                self.cache
            ),
            "option name Hoffman50MoveRule type check default true".to_owned(),
            format!("option name MultiPV type spin default 1 min 1 max {MOST_LINES}"),
            // Asked for by most user interfaces; tables have no use for them.
            "option name Hash type spin default 1 min 1 max 1048576".to_owned(),
            "option name Threads type spin default 1 min 1 max 1024".to_owned(),
            "option name Ponder type check default false".to_owned(),
            "option name UCI_AnalyseMode type check default false".to_owned(),
        ]
    }

    /// Sets an option by its name, in capitals or not.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> OptionChange {
        let text = value.unwrap_or_default();
        let known = name.to_ascii_lowercase();
        let result = match known.as_str() {
            "hoffmanpath" => return set_path(&mut self.folders, text),
            "syzygypath" => return set_path(&mut self.syzygy, text),
            "hoffmancache" => {
                let read = number(text, MOST_CACHE).map(|cache| self.cache = cache);
                match read {
                    Ok(()) => return OptionChange::Tables,
                    Err(problem) => Err(problem),
                }
            }
            "multipv" => number(text, MOST_LINES).map(|lines| self.lines = lines),
            "hoffman50moverule" => truth(text).map(|value| self.fifty_moves = value),
            "hash" | "threads" | "ponder" | "uci_analysemode" => Ok(()),
            _ => Err("there is no such option".to_owned()),
        };
        match result {
            Ok(()) => OptionChange::Done,
            Err(problem) => OptionChange::Refused(format!("{name}: {problem}")),
        }
    }

    /// How the tables are opened. A folder that is not there has no tables; that is no failure.
    pub(crate) fn opening(&self) -> OpenOptions {
        let mut options = OpenOptions::new().cache(self.cache << 20);
        options =
            self.folders.iter().filter(|path| is_folder(path)).fold(options, OpenOptions::folder);
        self.syzygy.iter().filter(|path| is_folder(path)).fold(options, OpenOptions::syzygy)
    }
}

/// Sets folders, separated as in the variable PATH; on every system a semicolon will do.
fn set_path(folders: &mut Vec<PathBuf>, text: &str) -> OptionChange {
    let pieces = text.split(';').flat_map(|piece| std::env::split_paths(piece).collect::<Vec<_>>());
    *folders = pieces.filter(|piece| !piece.as_os_str().is_empty()).collect();
    OptionChange::Tables
}

fn number(text: &str, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {most} is wanted, not '{text}'"))
}

fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("true or false is wanted, not '{text}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_change_nothing() {
        let mut options = EngineOptions::new(Vec::new(), Vec::new());
        let before = options.clone();
        for (name, value) in [
            ("MultiPV", Some("0")),
            ("MultiPV", Some("many")),
            ("HoffmanCache", None),
            ("HoffmanCache", Some("99999999999999999999")),
            ("Hoffman50MoveRule", Some("yes")),
            ("Contempt", Some("1")),
        ] {
            let change = options.set(name, value);
            assert!(matches!(change, OptionChange::Refused(_)), "{name} {value:?}: {change:?}");
        }
        assert_eq!(options, before);
    }

    #[test]
    fn paths_are_several_folders() {
        let mut options = EngineOptions::new(vec!["old".into()], Vec::new());
        assert_eq!(options.set("hoffmanpath", Some("one;two")), OptionChange::Tables);
        assert_eq!(options.folders, [PathBuf::from("one"), PathBuf::from("two")]);
        assert_eq!(options.set("HoffmanPath", None), OptionChange::Tables);
        assert!(options.folders.is_empty());
    }
}
