//! Tables on a web server: the same answers as from a folder, few bytes, and clear words when the
//! server misbehaves.
#![cfg(feature = "remote")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::web::{Manner, WebServer};
use crate::common::{Run, run, run_with};

/// Won in 35 moves by the rules of the ending, the longest there is.
const FEN: &str = "8/8/8/8/8/2k5/8/K2Q3r w - - 0 1";

/// Runs a command in an empty folder with an environment.
fn run_in(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_hoffman"))
        .args(arguments)
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder.join("home"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Tables of an ending in a folder, which a server has, and an empty folder to work in.
fn served(build: &str) -> (tempfile::TempDir, WebServer, tempfile::TempDir) {
    let tables = tempfile::tempdir().unwrap();
    let built = run(tables.path(), &format!("build {build} --dir tables"));
    assert_eq!(built.code, 0, "{}", built.err);
    let server = WebServer::of(tables.path());
    (tables, server, tempfile::tempdir().unwrap())
}

/// What a probe says of a position, with the server or folder left out.
fn without(said: &str, place: &str) -> String {
    said.replace(place, "TABLES")
}

#[test]
fn answers_are_those_of_the_folder_and_take_few_bytes() {
    for (format, most) in [("hbf", 160 << 10), ("htb", 3 << 20)] {
        let (tables, server, empty) = served(&format!("KQvKR --format {format}"));
        let folder = tables.path().join("tables").display().to_string();
        let url = server.url("tables");
        for json in [false, true] {
            let probe = |place: &str| {
                let mut line = vec!["probe", "--dir", place, FEN];
                line.extend(json.then_some("--json"));
                run_with(empty.path(), &line, "")
            };
            let (near, far) = (probe(&folder), probe(&url));
            assert_eq!((near.code, far.code), (0, 0), "{}{}", near.err, far.err);
            assert_eq!(without(&near.out, &folder), without(&far.out, &url));
            let (requests, bytes) = server.taken();
            let size = fs::metadata(tables.path().join(format!("tables/kqkr.{format}"))).unwrap();
            println!(
                "{format}: a position with all its moves takes {} requests and {bytes} bytes; the \
                 table of the ending has {}",
                requests.len(),
                size.len()
            );
            println!("{requests:#?}");
            assert!(bytes <= most, "{bytes} bytes: {requests:?}");
        }
    }
}

#[test]
fn whole_tables_are_read_in_few_requests() {
    let (tables, server, empty) = served("KQvKR --format htb");
    let folder = tables.path().join("tables").display().to_string();
    let url = server.url("tables");
    for command in ["stats KQvKR", "verify KQvKR", "list KRvK --longest 3"] {
        let at = |place: &str| run(empty.path(), &format!("{command} --dir {place}"));
        let (near, far) = (at(&folder), at(&url));
        assert_eq!((near.code, far.code), (0, 0), "{}{}", near.err, far.err);
        assert_eq!(without(&near.out, &folder), without(&far.out, &url));
        let (requests, bytes) = server.taken();
        let all: u64 = fs::read_dir(tables.path().join("tables"))
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        println!("{command}: {} requests, {bytes} bytes of {all}", requests.len());
        assert!(bytes < all + all / 4 && requests.len() < 60, "{bytes}: {requests:?}");
    }
}

#[test]
fn what_goes_wrong_is_said_in_one_sentence() {
    let (tables, server, empty) = served("KRvK --format htb");
    let file = server.url("tables/krk.htb");
    let folder = server.url("tables");
    let fen = "8/8/8/8/8/2k5/8/K2R4 w - - 0 1";
    let patience = [("HOFFMAN_PATIENCE", "1")];
    for (manner, words) in [
        (Manner::WholeFiles, "the server sends whole files only, and range requests are needed"),
        (Manner::BreaksOff, "breaks off"),
        (Manner::Fails, "the server answers 500 Internal Server Error"),
        (Manner::Refuses, "the server refuses access"),
        (Manner::Changes, "the file was changed while it was read"),
        (Manner::IsSlow, "the server takes too long to answer"),
        (Manner::RedirectsOn, "redirect"),
    ] {
        server.behave(manner);
        let named = run_in(empty.path(), &patience, &["stats", &file]);
        named.refused(1, &[&file, words]);
        // By its name in the folder: not as if it were not there.
        let found = run_in(empty.path(), &patience, &["stats", "KRvK", "--dir", &folder]);
        found.refused(1, &[&file, words]);
        let found = run_in(empty.path(), &patience, &["probe", "--dir", &folder, fen]);
        assert_eq!(found.code, 1, "{manner:?}: {}", found.out);
        assert!(found.err.contains(words) && found.err.contains(&file), "{}", found.err);
        assert!(!found.err.contains("panicked"), "{}", found.err);
    }
    server.behave(Manner::Well);
    let absent = server.url("tables/kqk.htb");
    run(empty.path(), &format!("stats {absent}")).refused(1, &[&absent, "there is no such file"]);
    run(empty.path(), "stats http://127.0.0.1:1/krk.htb")
        .refused(1, &["http://127.0.0.1:1/krk.htb", "the server cannot be reached"]);
    let unlike = run_with(empty.path(), &["probe", "--dir", &folder, FEN], "");
    assert_eq!(unlike.code, 1, "{}", unlike.out);
    assert!(unlike.err.contains("no table answers") && unlike.err.contains("kqkr.htb"));
    let written = run(empty.path(), &format!("build --format htb KBvK --dir {folder}"));
    assert_eq!(written.code, 1, "{}", written.out);
    assert!(written.err.contains("files on a web server cannot be written"), "{}", written.err);
    drop(tables);
}

#[test]
fn what_passes_is_tried_again_and_other_servers_are_understood() {
    let (_tables, server, empty) = served("KRvK --format htb");
    let file = server.url("tables/krk.htb");
    let usual = run(empty.path(), &format!("stats {file}"));
    assert_eq!(usual.code, 0, "{}", usual.err);
    for manner in [
        Manner::BreaksOffOnce,
        Manner::FailsTwice,
        Manner::Redirects,
        Manner::MarksWeakly,
        Manner::MarksNothing,
    ] {
        server.taken();
        server.behave(manner);
        let said = run(empty.path(), &format!("stats {file}"));
        assert_eq!((said.code, &said.out), (0, &usual.out), "{manner:?}: {}", said.err);
    }
}

#[test]
fn what_was_not_there_is_asked_for_once() {
    let (_tables, server, empty) = served("KRvK --format htb");
    let lines = "8/8/8/8/8/2k5/8/K2Q4 w - - 0 1\n".repeat(5);
    let url = server.url("tables");
    let said = run_with(empty.path(), &["probe", "--dir", &url], &lines);
    assert_eq!(said.code, 0, "{}", said.err);
    let (requests, _) = server.taken();
    let asked = requests.iter().filter(|request| request.contains("kqk")).count();
    assert_eq!(asked, 2, "{requests:?}");
}

#[test]
fn what_was_read_is_kept_on_the_disk_as_long_as_it_is_the_same() {
    let (tables, server, empty) = served("KRvK KQvK --format htb");
    let (file, other) = (server.url("tables/krk.htb"), tables.path().join("tables/kqk.htb"));
    let kept = empty.path().join("kept");
    let kept = [("HOFFMAN_CACHE", kept.to_str().unwrap()), ("HOFFMAN_CACHE_SIZE", "1M")];
    let stats = || run_in(empty.path(), &kept, &["stats", &file]);
    let first = stats();
    assert_eq!(first.code, 0, "{}", first.err);
    let (_, all) = server.taken();
    let second = stats();
    assert_eq!(second.out, first.out);
    let (requests, bytes) = server.taken();
    println!("{all} bytes at first, then {bytes}");
    assert!(bytes < 500 && all > 10 * bytes && requests.len() == 1, "{requests:?}");

    // Another table of that name is another one.
    fs::copy(other, tables.path().join("tables/krk.htb")).unwrap();
    let third = stats();
    assert_eq!(third.code, 0, "{}", third.err);
    assert_ne!(third.out, first.out);

    let wrong = [("HOFFMAN_CACHE_SIZE", "much")];
    run_in(empty.path(), &wrong, &["stats", &file]).refused(1, &["HOFFMAN_CACHE_SIZE"]);
}
