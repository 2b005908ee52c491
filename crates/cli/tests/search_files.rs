//! `hoffman solve --resume`: searches that go on from a file.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

mod common;

use common::{Run, run_with};

/// White wins; the slices that show it take more than a megabyte.
const CHAIN: &str = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";

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
    let before = slices(folder);
    assert!(!before.is_empty());

    let decided = solve(folder, CHAIN, "--json");
    assert_eq!(decided.code, 0, "{}", decided.err);
    assert_eq!(decided.json()["category"], "win");
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
