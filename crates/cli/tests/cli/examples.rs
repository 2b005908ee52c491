//! All examples of the repository in one folder with the complete endings that they need, built and
//! verified.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use tempfile::TempDir;

use crate::common::run;

/// Examples that rest on complete endings of five men; one that takes longer than all others
/// together, and what rests on it.
const LARGE: [&str; 5] =
    ["konobeev-black", "konobeev-both", "konobeev-white", "fine67-queen", "fine67-full"];

/// Families that are built after the others of their folder.
const LATE: [&str; 2] = ["fine67-full", "konobeev-both"];

/// The examples, and those of races, by name without extension; the late ones last.
fn examples(wanted: impl Fn(&str) -> bool) -> Vec<(String, std::path::PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    for folder in [root.clone(), root.join("races")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|e| e == "xml") && wanted(&name) {
                found.push((name, path));
            }
        }
    }
    found.sort_by_key(|(name, _)| (LATE.contains(&name.as_str()), name.clone()));
    found
}

/// The tables in a folder.
fn tables(folder: &Path) -> Vec<String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = paths.filter(|path| path.extension().is_some_and(|e| e == "htb"));
    let names = tables.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Builds the examples on top of complete endings and verifies what came out, with all tables in
/// one folder.
fn build_and_verify(endings: &[&str], wanted: impl Fn(&str) -> bool, options: &str) {
    let folder = TempDir::new().unwrap();
    for endings in endings {
        let built = run(folder.path(), &format!("build --format htb {endings} --dir ."));
        assert_eq!(built.code, 0, "{}", built.err);
    }
    let complete = tables(folder.path());

    // One at a time, those that are needed first: some have the name of an ending.
    let mut left = examples(wanted);
    while !left.is_empty() {
        let before = left.len();
        left.retain(|(name, path)| {
            fs::copy(path, folder.path().join(format!("{name}.xml"))).unwrap();
            let own = complete.contains(&format!("{name}.htb"));
            !own && run(folder.path(), &format!("build {name}.xml --dir .")).code != 0
        });
        assert!(left.len() < before, "cannot be built: {left:?}");
    }

    let made = tables(folder.path());
    let made: Vec<&String> = made.iter().filter(|name| !complete.contains(name)).collect();
    assert!(made.len() > 20, "{made:?}");
    // Most are small: two at a time.
    let left = Mutex::new(made.into_iter());
    let verify = || {
        loop {
            let Some(name) = left.lock().unwrap().next() else { return };
            let verified = run(folder.path(), &format!("verify ./{name} --dir . {options}"));
            assert_eq!(verified.code, 0, "{name}: {}{}", verified.out, verified.err);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(verify);
        verify();
    });
}

#[test]
fn examples_are_right() {
    let wanted = |name: &str| !LARGE.contains(&name) && !name.contains("2006");
    // So few entries are fetched one by one.
    build_and_verify(&["--men 4"], wanted, "--sample 256");
}

#[test]
#[ignore = "slow: every entry of every example"]
fn every_entry_of_the_examples_is_right() {
    build_and_verify(&["--men 4", "KPPvKP KRPvKP KRPvKR"], |_| true, "");
}
