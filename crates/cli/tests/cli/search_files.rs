//! `hoffman solve --resume`: searches that go on from a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::common::{Run, run_with};

/// White wins; the slices that show it take more than a megabyte.
const CHAIN: &str = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";

/// What is said where it may take only one.
const FULL: &str = "the next step does not fit into its 1 MB; with more memory it goes further";

fn solve(folder: &Path, position: &str, more: &str) -> Run {
    let more: Vec<&str> = more.split_whitespace().collect();
    run_with(folder, &[&["solve", position, "--resume", "search"], &more[..]].concat(), "")
}

fn slices(folder: &Path) -> Vec<Json> {
    let file: Json = serde_json::from_slice(&fs::read(folder.join("search")).unwrap()).unwrap();
    file["slices"].as_array().unwrap().clone()
}

#[test]
fn the_same_command_goes_on_where_it_was() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let ended = solve(folder, CHAIN, "--json --memory 1M");
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert_ne!(ended.json()["category"], "win");
    assert!(ended.err.contains(FULL), "{}", ended.err);
    assert_eq!(ended.json()["hoffman"]["unfinished"], "memory");
    let before = slices(folder);
    assert!(!before.is_empty());

    let decided = solve(folder, CHAIN, "--json");
    assert_eq!(decided.code, 0, "{}", decided.err);
    assert_eq!(decided.json()["category"], "win");
    assert!(!decided.err.contains("memory"), "{}", decided.err);
    assert_eq!(decided.json()["hoffman"]["unfinished"], Json::Null);
    let after = slices(folder);
    assert!(before.iter().all(|slice| after.contains(slice)), "{before:?}");
    assert!(before.len() < after.len());

    // What did not fit is not forgotten; and everything is there at once.
    assert_eq!(solve(folder, CHAIN, "--json --memory 1M").code, 1);
    assert!(after.iter().all(|slice| slices(folder).contains(slice)));
    let again = solve(folder, CHAIN, "--json").json();
    assert_eq!(again["category"], "win");
    let positions = |answer: &Json| answer["hoffman"]["positions"].as_u64().unwrap();
    assert!(positions(&again) < positions(&decided.json()), "{again}");
}

/// Who set the time knows why.
#[test]
fn a_search_that_time_ends_says_nothing_of_memory() {
    let folder = TempDir::new().unwrap();
    let endgame = "8/8/p6p/1p3kp1/1P6/P4PKP/5P2/8 w - - 0 1";
    let over = solve(folder.path(), endgame, "--json --time 0.3");
    assert_eq!(over.code, 1, "{}", over.err);
    let answer = over.json();
    assert_eq!(
        (&answer["category"], &answer["hoffman"]["unfinished"]),
        (&"unknown".into(), &"time".into())
    );
    assert!(!over.err.contains("memory"), "{}", over.err);
}

#[test]
fn files_of_other_searches_are_refused_and_kept() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let short = "8/8/8/1k6/8/1P6/1P6/K7 b - - 0 1";
    assert_eq!(solve(folder, short, "").code, 0);
    let good = fs::read_to_string(folder.join("search")).unwrap();
    let one = slices(folder)[0].as_str().unwrap().to_owned();
    let wrong = [
        (good.replace(&one, "8/8/8/8/8/8/PPP5/8 Kk"), "no slice behind"),
        (good.replace(&format!("\"{one}\""), "7"), "no slice"),
        (good.replace("\"version\": 1", "\"version\": 2"), "another version"),
        (good.replace("8/8/8/1k6", "8/8/8/2k5"), "is of the search of"),
        ("my notes".to_owned(), "is no file of a search"),
    ];
    for (text, said) in wrong {
        assert_ne!(text, good);
        fs::write(folder.join("search"), &text).unwrap();
        solve(folder, short, "").refused(1, &["search", said]);
        assert_eq!(fs::read_to_string(folder.join("search")).unwrap(), text);
    }
    fs::write(folder.join("search"), &good).unwrap();
    assert_eq!(solve(folder, short, "").code, 0);
    let left: Vec<_> = fs::read_dir(folder).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Begins the search of the chain and kills it once it has kept so much. Whether it was still at
/// work.
fn kill_when_kept(folder: &Path) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hoffman"))
        .args(["solve", CHAIN, "--resume", "search"])
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder.join("home"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !folder.join("search").exists() && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_mins(5), "nothing is kept");
        thread::sleep(Duration::from_millis(1));
    }
    // That is SIGKILL.
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

#[test]
fn a_search_that_is_killed_goes_on() {
    let whole = TempDir::new().unwrap();
    let whole = solve(whole.path(), CHAIN, "--json").json();
    let killed = TempDir::new().unwrap();
    let killed = killed.path();
    assert!(kill_when_kept(killed), "it came to its end before it was killed");
    let kept = slices(killed);
    assert!(!kept.is_empty());

    let again = solve(killed, CHAIN, "--json");
    assert_eq!(again.code, 0, "{}", again.err);
    let results = |answer: &Json| {
        let moves = answer["moves"].as_array().unwrap().iter();
        let mut moves: Vec<_> =
            moves.map(|m| (m["uci"].to_string(), m["category"].to_string())).collect();
        moves.sort();
        (answer["category"].to_string(), moves)
    };
    assert_eq!(results(&again.json()), results(&whole));
    assert!(kept.iter().all(|slice| slices(killed).contains(slice)));
}

/// Pieces on squares that are excluded have slices of their own, which are kept like all others.
#[test]
fn searches_under_assumptions_go_on_to_the_same_certificate() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let position = "8/8/8/1k6/8/1P6/1P6/K7 w - - 0 1";
    let asked = "--json --exclude-from c2 --certificate proof";
    let first = solve(folder, position, asked);
    assert_eq!(first.code, 0, "{}", first.err);
    let kept = slices(folder);
    assert!(kept.iter().any(|slice| slice.as_str().unwrap().ends_with(" on Kc2")), "{kept:?}");
    let proof = fs::read(folder.join("proof")).unwrap();

    let again = solve(folder, position, asked);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(first.json()["category"], again.json()["category"]);
    assert_eq!(again.json()["hoffman"]["slices"], kept.len());
    assert_eq!(slices(folder).len(), kept.len());
    assert!(!proof.is_empty() && !fs::read(folder.join("proof")).unwrap().is_empty());
    let checked = run_with(folder, &["check", "proof"], "");
    assert_eq!(checked.code, 0, "{}", checked.err);

    // Without them, or with others, these slices are of no use, and do no harm.
    for other in ["--json", "--json --exclude-from c3"] {
        let other = solve(folder, position, other);
        assert_eq!(other.code, 0, "{}", other.err);
    }
}
