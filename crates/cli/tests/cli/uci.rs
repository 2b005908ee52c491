//! The program as a chess engine: spoken to by python-chess and by PolyGlot, and playing against
//! another engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{python, run, run_with};
use tempfile::TempDir;

/// A program of the system's games, if it is installed.
fn installed(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/games", "/usr/bin", "/usr/local/bin"];
    folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// Plays games through python-chess from random positions of endings whose tables are in a folder:
/// against Stockfish where that is installed, and with more options for the client.
fn play(python: &Path, tables: &Path, games: u32, endings: &[&str], options: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/uci_games.py");
    let mut command = Command::new(python);
    command.arg(script).arg(env!("CARGO_BIN_EXE_hoffman")).arg(tables);
    command.arg(games.to_string()).args(endings).args(options);
    match installed("stockfish") {
        Some(stockfish) => {
            command.arg("--opponent").arg(stockfish);
        }
        None => eprintln!("Stockfish is not installed: the opponent moves by chance"),
    }
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{out}{err}");
    eprint!("{out}");
}

#[test]
fn games_of_four_men_end_as_announced() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let built = run(folder.path(), "build --format htb KQvKR KBNvK KPvKP --dir .");
    assert_eq!(built.code, 0, "{}", built.err);
    let endings = ["KQvKR", "KBNvK", "KPvKP", "KQvKP"];
    play(&python, folder.path(), 12, &endings, &[]);

    // Also as an engine of XBoard.
    match installed("polyglot") {
        Some(polyglot) => {
            let options = ["--polyglot", polyglot.to_str().unwrap()];
            play(&python, folder.path(), 6, &endings, &options);
        }
        None => eprintln!("NOT TESTED: games through PolyGlot, which is not installed"),
    }
}

#[test]
#[ignore = "slow: two hundred games of five men"]
fn games_of_five_men_end_as_announced() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let endings = ["KQRvKR", "KRRvKR", "KBNvKN", "KNNvKB", "KRBvKR"];
    let built = run(folder.path(), &format!("build --format htb {} --dir .", endings.join(" ")));
    assert_eq!(built.code, 0, "{}", built.err);
    play(&python, folder.path(), 200, &endings, &[]);
}

/// Small tables of all endings of five men take longer to make than to play with: a folder of them
/// is named by `HOFFMAN_MEN_5`.
#[test]
#[ignore = "slow: two hundred games of five men from small tables"]
fn games_of_five_men_with_pawns_end_as_announced_from_small_tables() {
    let Some(python) = python() else { return };
    let Some(folder) = std::env::var_os("HOFFMAN_MEN_5").map(PathBuf::from) else {
        eprintln!(
            "NOT TESTED: games from small tables of five men, since HOFFMAN_MEN_5 names no folder \
             of what 'hoffman build --men 5' makes"
        );
        return;
    };
    let endings = [
        "KQPvKQ", "KRPvKR", "KBPvKN", "KPPvKP", "KNPvKP", "KRPvKP", "KPPPvK", "KQRvKR", "KBNvKN",
        "KRBvKR", "KNNvKP", "KBBvKN",
    ];
    for ending in endings {
        let name = format!("{}.hbf", ending.to_lowercase().replace('v', ""));
        assert!(folder.join(&name).is_file(), "{name} is not in {}", folder.display());
    }
    play(&python, &folder, 200, &endings, &[]);
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "uci --dir nowhere").refused(1, &["nowhere", "no such folder"]);
}

#[test]
fn lines_of_any_bytes_are_survived() {
    let folder = TempDir::new().unwrap();
    let lines = "\u{0}\u{ff}\n\nposition\ngo\nposition fen 8/8/8/8/8/8/8/8 w - -\ngo movetime\nsetoption name\n\
        position startpos moves e2e4 e7e5 e1e2 zzzz\ngo ponder\nponderhit\nuci\nisready\nquit\n";
    let talked = run_with(folder.path(), &["uci"], lines);
    assert_eq!(talked.code, 0, "{}", talked.err);
    assert_eq!(talked.out.matches("bestmove ").count(), 3, "{}", talked.out);
    assert!(talked.out.ends_with("uciok\nreadyok\n"), "{}", talked.out);
    assert_eq!(talked.err, "");
}
