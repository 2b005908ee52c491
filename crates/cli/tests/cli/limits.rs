//! What the machine or the system does not allow is refused with a message, at once or when it is
//! met.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the program in a shell that was limited before.
fn limited(folder: &Path, limit: &str, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_hoffman");
    Command::new("sh")
        .args(["-c", &format!("{limit}; exec {program} {arguments}")])
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder)
        .output()
        .unwrap()
}

fn run(folder: &Path, arguments: &str) -> Output {
    limited(folder, ":", arguments)
}

/// The message of a run that must fail.
fn refused(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    text
}

/// A control file of White's king and so many queens, every capture conceded.
fn queens(count: usize) -> String {
    let king = "<piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>";
    let queens = "<piece color=\"white\" type=\"queen\"/>".repeat(count);
    format!(
        "<tablebase><prune-enable color=\"black\" type=\"concede\"/><dtm/>{king}{queens}\
         <prune color=\"black\" move=\"KxQ\" type=\"concede\"/><output filename=\"queens.htb\"/></tablebase>"
    )
}

#[test]
fn work_that_cannot_end_is_not_begun() {
    let folder = TempDir::new().unwrap();
    for (count, expected) in [(12, "have more positions than can be solved"), (5, " MB ")] {
        std::fs::write(folder.path().join("queens.xml"), queens(count)).unwrap();
        for line in ["-g -P 500 queens.xml", "-g queens.xml", "build queens.xml"] {
            let said = refused(&run(folder.path(), line));
            assert!(said.contains(expected), "{line}: {said}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_part_of_the_disk_is_left_to_others() {
    let folder = TempDir::new().unwrap();
    let control = run(folder.path(), "control kk krk");
    assert!(control.status.success());
    assert!(run(folder.path(), "-g -q kk.xml").status.success());
    for line in [
        "build --format htb KRvK --dir t --memory 64M --keep-free 9000000G",
        "-g -P 64 --keep-free 9000000G krk.xml",
        "build KRvK --dir t --keep-free 9000000G",
        "-g --keep-free 9000000G krk.xml",
    ] {
        let said = refused(&run(folder.path(), line));
        assert!(said.contains("are kept free for others (--keep-free)"), "{line}: {said}");
    }
    let misused = run(folder.path(), "-g --keep-free much krk.xml");
    assert_eq!(misused.status.code(), Some(2));
    assert!(run(folder.path(), "-g -P 64 --keep-free 1K krk.xml").status.success());
}

#[test]
fn a_limit_on_the_size_of_files_is_a_message() {
    let folder = TempDir::new().unwrap();
    let said = refused(&limited(folder.path(), "ulimit -f 8", "build --format htb KQvKR --dir t"));
    assert!(said.contains("File too large"), "{said}");
    let left = std::fs::read_dir(folder.path().join("t")).unwrap();
    let names: Vec<_> = left.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("tmp")), "{names:?}");
}

#[test]
fn a_process_that_is_too_small_is_a_message() {
    let folder = TempDir::new().unwrap();
    // The program of a test takes 28 MB before it begins, and its allocator 32.
    for (limit, word) in [("ulimit -v 80000", "address space"), ("ulimit -s 128", "stack")] {
        for line in ["build --format htb KQvK --dir t", "-h", "stats KQvK"] {
            let said = refused(&limited(folder.path(), limit, line));
            assert!(said.contains(word), "{said}");
        }
    }
    let enough = limited(folder.path(), "ulimit -s 2048", "build --format htb KQvK --dir t");
    assert!(enough.status.success());
}

#[test]
fn the_environment_does_not_choose_the_threads() {
    let folder = TempDir::new().unwrap();
    let threads = |variable: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_hoffman"))
            .args(["plan", "--format", "htb", "KQvKR", "--json"])
            .current_dir(folder.path())
            .envs(variable.split_once('='))
            .output()
            .unwrap();
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let seconds = |name: &str| plan[name].as_f64().unwrap();
        // So many threads, times something that is the same for both.
        (10.0 * seconds("seconds") / seconds("elapsed_seconds")).round() as u64
    };
    assert_eq!(threads("RAYON_NUM_THREADS=7"), threads("NOTHING=7"));
}
