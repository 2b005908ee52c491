//! `hoffman control` as its users see it.

use std::fs;

use tempfile::TempDir;

use crate::common::{names, run};

#[test]
fn the_files_of_an_ending_are_written() {
    let folder = TempDir::new().unwrap();
    let made = run(folder.path(), "control kqk.xml");
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    assert_eq!(made.out, "Writing kqk.xml\nWriting kk.xml\n");
    assert_eq!(names(folder.path()), ["kk.xml", "kqk.xml"]);
    let text = fs::read_to_string(folder.path().join("kqk.xml")).unwrap();
    assert!(text.contains("<futurebase filename=\"kk.htb\"/>"), "{text}");
}

#[test]
fn existing_files_are_kept() {
    let folder = TempDir::new().unwrap();
    for name in ["kk.xml", "kqk.xml"] {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    let made = run(folder.path(), "control kqk.xml krk");
    assert_eq!(made.code, 0);
    assert_eq!(made.out, "Writing krk.xml\n");
    // Only what was asked for is worth a word.
    assert_eq!(made.err, "hoffman: kqk.xml exists, skipping\n");
    assert_eq!(fs::read_to_string(folder.path().join("kqk.xml")).unwrap(), "mine");
    let again = run(folder.path(), "control --json kqk krk");
    let json: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(json, serde_json::json!({"written": [], "kept": ["kqk.xml", "kk.xml", "krk.xml"]}));
}

#[test]
fn another_folder_can_be_named() {
    let folder = TempDir::new().unwrap();
    let made = run(folder.path(), "control kvk-basic --dir new/files");
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(made.out, "Writing new/files/kvk-basic.xml\n");
    assert_eq!(names(&folder.path().join("new/files")), ["kvk-basic.xml"]);
    let wrong = run(folder.path(), "control kk --dir new/files/kvk-basic.xml");
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("new/files/kvk-basic.xml"), "{}", wrong.err);
}

#[test]
fn bad_names_are_refused_before_anything_is_written() {
    let folder = TempDir::new().unwrap();
    for (line, words) in [
        ("control kk kkq.xml", "Improper control filename kkq.xml"),
        ("control kk foo.xml", "Invalid control filename foo.xml"),
        ("control kk kqk-fast", "Invalid control filename kqk-fast"),
        ("control kk kqqqk-naive2", "kqqqk-naive2.xml cannot be written: kqqqk-naive2.xml, line "),
    ] {
        let refused = run(folder.path(), line);
        assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{line}");
        assert!(refused.err.starts_with(&format!("hoffman: {words}")), "{}", refused.err);
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    }
    assert_eq!(names(folder.path()), [""; 0]);
    assert_eq!(run(folder.path(), "control").code, 2);
}

/// The files describe tables that can be made, one after the other from the last to the first.
#[test]
fn tables_can_be_generated_from_the_files() {
    let folder = TempDir::new().unwrap();
    let made = run(folder.path(), "control kqkr");
    let files: Vec<&str> = made.out.lines().map(|l| l.strip_prefix("Writing ").unwrap()).collect();
    assert_eq!(files, ["kqkr.xml", "krk.xml", "kk.xml", "kqk.xml"]);
    for file in ["kk.xml", "kqk.xml", "krk.xml", "kqkr.xml"] {
        let built = run(folder.path(), &format!("-g {file}"));
        assert_eq!(built.code, 0, "{}", built.err);
    }
}
