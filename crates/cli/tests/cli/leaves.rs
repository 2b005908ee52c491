//! `hoffman solve` with tables at hand: they answer for their endings, and only if they are of
//! chess.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::common::{Run, SharedFolder, copy_into, kpkp, run, run_with};

/// By Fine, five men: White wins.
const FINE_25: &str = "6k1/7p/5P1K/8/8/8/7P/8 w - - 0 1";
/// King and two pawns against king; only promotions to the right pieces matter.
const PAWNS: &str = "8/8/8/1k6/8/1P6/1P6/K7 b - - 0 1";

/// A folder with all tables that four men of pawns lead to in `t`, and without any in `none`.
fn tables() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.filled(|folder| {
        fs::create_dir(folder.join("t")).unwrap();
        copy_into(&folder.join("t"), kpkp());
        run(folder, "build --format htb KPvKP KPPvK --dir t").good();
        fs::create_dir(folder.join("none")).unwrap();
    })
}

/// A folder with copies of some of them in `t`, and without any in `none`.
fn some(names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("none")).unwrap();
    fs::create_dir(folder.path().join("t")).unwrap();
    for name in names {
        fs::copy(tables().join("t").join(name), folder.path().join("t").join(name)).unwrap();
    }
    folder
}

fn solve(folder: &Path, position: &str, more: &str) -> Run {
    let more: Vec<&str> = more.split_whitespace().collect();
    let answer = run_with(folder, &[&["solve", position, "--outcome"], &more[..]].concat(), "");
    assert_eq!(answer.code, 0, "{more:?}: {}", answer.err);
    answer
}

/// The names of the tables that an answer rests on.
fn used(answer: &Json) -> Vec<String> {
    let name = |path: &Json| PathBuf::from(path.as_str().unwrap()).file_name().unwrap().to_owned();
    let tables = answer["hoffman"]["tables"].as_array().unwrap();
    tables.iter().map(|path| name(path).into_string().unwrap()).collect()
}

/// What is told of the position and its moves, without the order of moves of the same worth.
fn results(answer: &Json) -> (String, Vec<(String, String)>) {
    let told = |of: &Json, name: &str| of[name].as_str().unwrap().to_owned();
    let moves = answer["moves"].as_array().unwrap().iter();
    let mut moves: Vec<_> = moves.map(|m| (told(m, "uci"), told(m, "category"))).collect();
    moves.sort();
    (told(answer, "category"), moves)
}

#[test]
fn tables_at_hand_answer_for_their_endings() {
    for position in [FINE_25, "8/8/8/1k6/1p6/8/1P6/K7 w - - 0 1", PAWNS] {
        let without = solve(tables(), position, "--moves --json --dir none").json();
        let with = solve(tables(), position, "--moves --json --dir t").json();
        assert_eq!(results(&with), results(&without), "{position}");
        assert_eq!(used(&without), [""; 0]);
        assert!(!used(&with).is_empty(), "{position}");
        let slices = |answer: &Json| answer["hoffman"]["slices"].as_u64().unwrap();
        assert!(slices(&with) < slices(&without), "{position}: {with}");
    }
    let text = solve(tables(), PAWNS, "--dir t").out;
    assert!(text.contains("\n(1 table at hand used: kppk.htb)\n"), "{text}");
    // Distances come from tables that have them.
    let [with, without] = ["t", "none"]
        .map(|dir| solve(tables(), FINE_25, &format!("--distance --json --dir {dir}")));
    let [with, without] = [with.json(), without.json()];
    assert!(!used(&with).is_empty());
    let bound = |answer: &Json, name: &str| answer["hoffman"][name].as_u64().unwrap();
    let [least, most] = ["moves_at_least", "moves_at_most"];
    assert!(bound(&with, least) <= bound(&without, most), "{with} {without}");
    assert!(bound(&without, least) <= bound(&with, most), "{with} {without}");
}

/// Where there is no room to open a slice, nor to read a table.
#[test]
fn positions_of_tables_are_looked_up() {
    let endgames = [PAWNS, "8/8/8/1k6/1p6/8/1P6/K7 w - - 0 1", "8/8/8/8/pP6/8/8/k1K5 b - b3 0 1"];
    for position in endgames {
        let without = solve(tables(), position, "--moves --json --dir none").json();
        let with = solve(tables(), position, "--moves --json --dir t --memory 1K").json();
        assert_eq!(results(&with), results(&without), "{position}");
        assert_eq!(with["hoffman"]["slices"], 0);
        assert!(!used(&with).is_empty());
        let when = solve(tables(), position, "--distance --json --dir t --memory 1K").json();
        let exact = probed_moves(position);
        assert_eq!(when["hoffman"]["moves_at_most"], exact, "{when}");
        assert_eq!(when["hoffman"]["moves_at_least"], exact);
        if let Some(folder) = syzygy_folder() {
            let asked = format!("--moves --json -S {} --memory 1K", folder.display());
            let with = solve(tables(), position, &format!("{asked} --dir none")).json();
            assert_eq!(results(&with), results(&without), "{position}");
            assert!(used(&with).iter().all(|name| is_syzygy(Path::new(name))), "{with}");
            assert!(!used(&with).is_empty());
        }
    }
}

/// In how many moves the tables of all endings say that a position is won.
fn probed_moves(position: &str) -> Json {
    let probed = run_with(tables(), &["probe", position, "--dir", "t", "--json"], "").json();
    let plies = probed["dtm"].as_i64().filter(|plies| *plies != 0);
    plies.map_or(Json::Null, |plies| Json::from((plies.abs() + 1) / 2))
}

#[test]
fn folders_that_are_not_there_are_named() {
    for folder in
        ["--dir nowhere", "-S nowhere", "--dir t -S nowhere", "--certificate c -S nowhere"]
    {
        let folder: Vec<&str> = folder.split_whitespace().collect();
        let asked = [&["solve", PAWNS, "--outcome"], &folder[..]].concat();
        run_with(tables(), &asked, "").refused(1, &["nowhere", "there is no such folder"]);
    }
    let six = "6k1/7p/5P1K/8/8/7P/7P/8 w - - 0 1";
    let refused = run_with(tables(), &["solve", six, "--dir", "nowhere"], "");
    refused.refused(1, &["nowhere", "there is no such folder"]);
}

/// A table that there is no time to read is neither used nor blamed.
#[test]
fn tables_are_not_read_when_time_is_over() {
    for position in [FINE_25, PAWNS] {
        let asked = ["solve", position, "--outcome", "--json", "--dir", "t", "--time", "0"];
        let ended = run_with(tables(), &asked, "");
        assert_eq!((ended.code, ended.err.as_str()), (1, ""));
        assert_eq!(used(&ended.json()), [""; 0]);
    }
}

#[test]
fn outcomes_are_enough_in_either_format() {
    let folder = some(&["kpk.htb"]);
    let place = folder.path();
    let position = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let won = results(&solve(place, position, "--json --dir none").json());
    for to in ["kpk.hbf", "basic.htb --format basic"] {
        let written = run(&place.join("t"), &format!("convert kpk.htb -o {to}"));
        assert_eq!(written.code, 0, "{}", written.err);
    }
    fs::rename(place.join("t/basic.htb"), place.join("t/kpk.htb")).unwrap();
    fs::create_dir(place.join("packed")).unwrap();
    fs::rename(place.join("t/kpk.hbf"), place.join("packed/kpk.hbf")).unwrap();
    for (dir, name) in [("t", "kpk.htb"), ("packed", "kpk.hbf")] {
        let answer = solve(place, position, &format!("--json --dir {dir}")).json();
        assert_eq!(results(&answer), won, "{name}");
        assert_eq!(used(&answer), [name]);
    }
    // Without distances the table does not tell when.
    let answer = solve(place, position, "--json --distance --dir t").json();
    assert_eq!(used(&answer), [""; 0]);
    assert!(answer["hoffman"]["moves_at_most"].is_u64(), "{answer}");
}

#[test]
fn only_chess_is_taken_from_tables() {
    let used_with = |more: &str| used(&solve(tables(), PAWNS, more).json());
    assert_eq!(used_with("--json --dir t"), ["kppk.htb"]);
    assert_eq!(used_with("--json --dir t --forbid-move W:P=N"), [""; 0]);
    // A certificate shows everything.
    assert_eq!(used_with("--json --dir t --certificate proof"), [""; 0]);
    assert_eq!(run(tables(), "check proof").code, 0);

    // A table with prunes of the same men and name is another game.
    let folder = some(&["kk.htb", "kqk.htb"]);
    let place = folder.path().join("t");
    let control = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kpk-queen.xml");
    let built = run_with(&place, &["build", control, "--dir", "."], "");
    assert_eq!(built.code, 0, "{}", built.err);
    fs::rename(place.join("kpk-queen.htb"), place.join("kpk.htb")).unwrap();
    let answer = solve(folder.path(), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "--json --dir t").json();
    assert!(!used(&answer).contains(&"kpk.htb".to_owned()), "{answer}");
}

#[test]
fn damaged_tables_are_named_and_not_used() {
    let folder = some(&["kpk.htb", "kqk.htb"]);
    let file = folder.path().join("t/kpk.htb");
    let whole = fs::read(&file).unwrap();
    let position = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let won = results(&solve(folder.path(), position, "--json --dir none").json());
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 4;
    for bytes in [&changed[..], &whole[..whole.len() - 99], b"", b"no table"] {
        fs::write(&file, bytes).unwrap();
        let answer = solve(folder.path(), position, "--json --dir t");
        assert!(answer.err.contains("kpk.htb"), "{}", answer.err);
        assert!(answer.err.contains("it is not used"), "{}", answer.err);
        assert!(!used(&answer.json()).contains(&"kpk.htb".to_owned()), "{}", answer.out);
        assert_eq!(results(&answer.json()), won);
    }
}

/// The folder of Syzygy tables, if it is there.
fn syzygy_folder() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let beside = here.ancestors().map(|folder| folder.join("shared/data/syzygy"));
    let named = std::env::var_os("HOFFMAN_SYZYGY").map(PathBuf::from);
    named.into_iter().chain(beside).find(|folder| folder.join("KPvK.rtbw").is_file())
}

fn is_syzygy(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rtbw")
}

#[test]
fn syzygy_tables_answer_as_well() {
    let Some(folder) = syzygy_folder() else {
        eprintln!("SKIPPED: no Syzygy tables (set HOFFMAN_SYZYGY)");
        return;
    };
    let place = TempDir::new().unwrap();
    let folder = folder.display().to_string();
    for position in [FINE_25, PAWNS] {
        let without = solve(place.path(), position, "--moves --json").json();
        let with = solve(place.path(), position, &format!("--moves --json -S {folder}")).json();
        assert_eq!(results(&with), results(&without), "{position}");
        assert!(used(&with).iter().all(|name| is_syzygy(Path::new(name))), "{with}");
        assert!(!used(&with).is_empty());
    }
    // They have no distances.
    let answer = solve(place.path(), PAWNS, &format!("--distance --json -S {folder}")).json();
    assert_eq!(used(&answer), [""; 0]);
}
