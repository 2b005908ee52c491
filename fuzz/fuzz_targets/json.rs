//! Any bytes as JSON that others write: the body of a batch, the file of a search that goes on, and
//! the report of a verification.
//!
//! A batch is refused or answered, a line of JSON for each of its positions; a file that is none of
//! ours is refused by its name and stays as it is; a report that does not hold is made anew.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hoffman::{
    Options, ProveOptions, ReadOptions, Value as Proven, Verified, VerifyOptions, prove,
    verify_once,
};
use hoffman_fuzz::{SERVER, TABLES};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// A folder of one process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("hoffman-fuzz-json-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    batch(bytes);
    search(bytes);
    report(bytes);
});

/// As the body of `POST /batch`.
fn batch(bytes: &[u8]) {
    let length = bytes.len();
    let head = format!(
        "POST /batch HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let received = SERVER.exchange(&[head.as_bytes(), bytes].concat());
    let received = String::from_utf8(received).expect("text");
    let positions: Result<Vec<String>, _> = serde_json::from_slice(bytes);
    let Ok(positions) = positions else {
        assert!(received.starts_with("HTTP/1.1 400 "), "{received}");
        return;
    };
    assert!(received.starts_with("HTTP/1.1 200 "), "{received}");
    // The body comes in chunks, whose lengths stand alone in their lines.
    let (_, body) = received.split_once("\r\n\r\n").expect("a head");
    let answers = body.lines().filter(|line| line.starts_with('{')).count();
    assert_eq!(answers, positions.len(), "{received}");
}

/// As the file of a search, of a position that is decided at once.
fn search(bytes: &[u8]) {
    let file = FOLDER.join("search.json");
    fs::write(&file, bytes).expect("a file");
    let asked = ProveOptions::new().resume(&file);
    let fen = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1";
    match prove(fen, &Options::without_folder(), &asked, &mut |_| {}) {
        Ok(proved) => assert_eq!(proved.value, Proven::Draw),
        Err(error) => {
            assert!(error.to_string().contains("search.json"), "{error}");
            assert_eq!(fs::read(&file).expect("the file"), bytes, "{error}");
        }
    }
}

/// As the report of a verification.
fn report(bytes: &[u8]) {
    let (table, report) = (TABLES.join("kqk.htb"), FOLDER.join("report.json"));
    fs::write(&report, bytes).expect("a report");
    let options = VerifyOptions::new().sample(1);
    let verify = || verify_once(&table, &report, (ReadOptions::new(), &options), &mut |_| {});
    match verify().expect("a table") {
        Verified::Found(found) => assert!(found.ok, "{found}"),
        Verified::Kept => assert!(serde_json::from_slice::<Value>(bytes).is_ok()),
    }
    assert!(matches!(verify().expect("a table"), Verified::Kept), "the new report does not hold");
}
