//! Runs that are stopped, killed, or have company. Signals are those of Unix.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;
use tempfile::TempDir;

/// A dozen tables, two of them with 24 slices.
const DOZEN: [&str; 12] = [
    "kbk.htb", "kk.htb", "knk.htb", "kpk.htb", "kqbk.htb", "kqk.htb", "kqrk.htb", "krbk.htb",
    "krk.htb", "krnk.htb", "krpk.htb", "krrk.htb",
];

type Tables = BTreeMap<String, Vec<i16>>;

/// The program, with a checkpoint after so many seconds.
fn program(folder: &Path, line: &str, checkpoint_seconds: u32) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hoffman"));
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("HOFFMAN_TABLES", folder.join("home"))
        .env("HOFFMAN_CHECKPOINT_SECONDS", checkpoint_seconds.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn finish(child: Child) -> (i32, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

fn run(folder: &Path, line: &str, checkpoint_seconds: u32) -> (i32, String, String) {
    finish(program(folder, line, checkpoint_seconds).spawn().unwrap())
}

fn is_table(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "htb")
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut all: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

/// The entries of all tables of a folder.
fn tables(folder: &Path) -> Tables {
    let names = names(folder).into_iter().filter(|name| is_table(name));
    let read = |name: String| {
        let mut table = Table::open(folder.join(&name), SourceOptions::default()).unwrap();
        table.check_length().unwrap();
        let mut numbers = vec![0; table.space().size() as usize];
        table.read_entries(0, &mut numbers).unwrap();
        (name, numbers)
    };
    names.map(read).collect()
}

/// What a clean build leaves, and how long it took.
fn clean() -> &'static (Tables, Duration) {
    static MADE: OnceLock<(Tables, Duration)> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let began = Instant::now();
        let (code, _, err) = run(folder.path(), "build --format htb KRPvK KQBvK --dir t", 30);
        let took = began.elapsed();
        assert_eq!((code, err.as_str()), (0, ""));
        let dir = folder.path().join("t");
        assert_eq!(names(&dir), DOZEN);
        (tables(&dir), took)
    })
}

/// What is there is right, and there is nothing else but perhaps a checkpoint.
fn check_left(dir: &Path) {
    for (name, entries) in tables(dir) {
        assert!(entries == clean().0[&name], "{name}");
    }
    let more: Vec<String> = names(dir).into_iter().filter(|n| !is_table(n)).collect();
    assert!(more.iter().all(|name| name.ends_with(".htb.checkpoint")), "{more:?}");
}

/// All is there and right, and nothing else.
fn check_done(dir: &Path) {
    assert_eq!(names(dir), DOZEN);
    assert!(tables(dir) == clean().0);
}

#[test]
fn the_first_signal_stops_at_a_safe_point() {
    for name in ["-INT", "-TERM"] {
        let folder = TempDir::new().unwrap();
        let dir = folder.path().join("t");
        let mut stopped = false;
        for part in 2..40 {
            let child = program(folder.path(), "build --format htb KRPvK KQBvK --dir t -t 1", 0)
                .spawn()
                .unwrap();
            sleep(clean().1 / part);
            signal(&child, name);
            let (code, out, err) = finish(child);
            if code == 0 {
                // It was done before.
                fs::remove_dir_all(&dir).unwrap();
                continue;
            }
            if code == -1 {
                // The signal came before the program could watch for it.
                continue;
            }
            assert_eq!((code, out.as_str()), (1, ""), "{err}");
            assert!(err.contains("stopping at the next safe point"), "{err}");
            assert!(err.contains("interrupted; the same command goes on"), "{err}");
            check_left(&dir);
            stopped = true;
            break;
        }
        assert!(stopped);
        let (code, _, err) = run(folder.path(), "build --format htb KRPvK KQBvK --dir t", 30);
        assert_eq!(code, 0, "{err}");
        check_done(&dir);
    }
}

#[test]
fn the_second_signal_ends_the_program() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("t");
    for part in 2..20 {
        let child =
            program(folder.path(), "build --format htb KRPvK KQBvK --dir t", 30).spawn().unwrap();
        sleep(clean().1 / part);
        signal(&child, "-INT");
        signal(&child, "-INT");
        let (code, _, err) = finish(child);
        assert!((-1..=1).contains(&code), "{code}: {err}");
        check_left(&dir);
        if code == 0 {
            fs::remove_dir_all(&dir).unwrap();
        }
    }
    assert_eq!(run(folder.path(), "build --format htb KRPvK KQBvK --dir t", 30).0, 0);
    check_done(&dir);
}

/// Kills a build once its checkpoint holds something; false if it was done before.
fn kill_with_checkpoint(folder: &Path) -> bool {
    let checkpoint = folder.join("t/krpk.htb.checkpoint");
    let mut child = program(folder, "build --format htb KRPvK KQBvK --dir t", 0).spawn().unwrap();
    loop {
        if fs::metadata(&checkpoint).is_ok_and(|data| data.len() > 50_000) {
            child.kill().unwrap();
            child.wait().unwrap();
            return checkpoint.is_file();
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_killed_run_goes_on_from_its_checkpoint() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("t");
    let checkpoint = dir.join("krpk.htb.checkpoint");
    let caught = (0..50).any(|_| {
        let caught = kill_with_checkpoint(folder.path());
        if !caught {
            fs::remove_dir_all(&dir).unwrap();
        }
        caught
    });
    assert!(caught);
    let saved = fs::read(&checkpoint).unwrap();
    let again = |bytes: &[u8], line: &str| {
        let _ = fs::remove_file(dir.join("krpk.htb"));
        fs::write(&checkpoint, bytes).unwrap();
        let (code, _, err) = run(folder.path(), line, 30);
        assert_eq!(code, 0, "{err}");
        check_done(&dir);
        err
    };
    let line = "build --format htb KRPvK KQBvK --dir t";
    let err = again(&saved, line);
    assert!(err.contains("krpk.htb.checkpoint: going on with "), "{err}");
    assert!(err.contains(" of 24 slices"), "{err}");
    assert_eq!(again(&saved, "build --format htb KRPvK KQBvK --dir t --discard"), "");
    // The end of it was not written, or a bit was flipped.
    let err = again(&saved[..saved.len() - 1], line);
    assert!(err.contains("going on with ") && !err.contains("damaged"), "{err}");
    for at in [0, 9, 20, 40, saved.len() / 2] {
        let mut flipped = saved.clone();
        flipped[at] ^= 4;
        let err = again(&flipped, line);
        let said = ["damaged", "another version", "going on with 0"];
        assert!(said.iter().any(|words| err.contains(words)), "{at}: {err}");
    }
    // One of another table.
    fs::remove_file(dir.join("kpk.htb")).unwrap();
    fs::write(dir.join("kpk.htb.checkpoint"), &saved).unwrap();
    let (code, _, err) = run(folder.path(), "build --format htb KPvK --dir t", 0);
    assert_eq!(code, 0);
    assert!(err.contains("was made for another table; solving the table anew"), "{err}");
    check_done(&dir);
}

#[test]
fn two_runs_in_one_folder_do_not_disturb_each_other() {
    for _ in 0..3 {
        let folder = TempDir::new().unwrap();
        let start =
            || program(folder.path(), "build --format htb KRPvK KQBvK --dir t", 0).spawn().unwrap();
        let runs = [start(), start(), start()];
        let mut written = 0;
        for child in runs {
            let (code, out, err) = finish(child);
            assert_eq!(code, 0, "{err}");
            assert_eq!(out.lines().count(), DOZEN.len(), "{out}");
            written += out.lines().filter(|line| line.contains(": written")).count();
        }
        // Each table was made once.
        assert_eq!(written, DOZEN.len());
        check_done(&folder.path().join("t"));
    }
}

#[test]
fn the_answer_is_right_when_another_run_writes_the_tables() {
    let folder = TempDir::new().unwrap();
    let line = "solve 8/8/8/8/8/1k6/3P4/1K5R w - - --dir t";
    let runs = [(); 2].map(|()| program(folder.path(), line, 30).spawn().unwrap());
    let answers = runs.map(|child| {
        let (code, out, err) = finish(child);
        assert_eq!(code, 0, "{err}");
        out
    });
    assert_eq!(answers[0], answers[1]);
    assert!(names(&folder.path().join("t")).iter().all(|name| is_table(name)));
}

#[test]
fn the_status_file_and_the_trace_tell_what_is_done() {
    let folder = TempDir::new().unwrap();
    let mut command =
        program(folder.path(), "build --format htb KRPvK KQBvK --dir t --status s.json", 0);
    let (code, _, err) = finish(command.env("RUST_LOG", "info").spawn().unwrap());
    assert_eq!(code, 0, "{err}");
    for words in ["solving table=\"krpk.htb\" slices=24", "checkpoint file=", "written table="] {
        assert!(err.contains(words), "{words}: {err}");
    }
    let status: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    assert_eq!(status["phase"], "done");
    assert_eq!(status["percent"], 100.0);
    assert_eq!(status["finished_tables"], DOZEN.len());
    assert!(status["error"].is_null() && status["memory_bytes"].as_u64() > Some(0));
    assert_eq!(names(folder.path()), ["s.json", "t"]);
    // A run that fails says why; a file that cannot be written is refused.
    let (code, _, err) = run(folder.path(), "-g none.xml --status=s.json", 30);
    assert_eq!(code, 1, "{err}");
    let (code, _, err) =
        run(folder.path(), "build --format htb KQvK --dir t --status none/s.json", 30);
    assert_eq!(code, 1);
    assert!(err.contains("cannot write none/s.json"), "{err}");
}

/// Kills builds at random instants until so many were killed, each going on with what the one
/// before left.
fn kill_storm(kills: usize) {
    let (reference, took) = clean();
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut state = seed.as_nanos() as u64 | 1;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("t");
    let began = Instant::now();
    let (mut killed, mut done, mut left, mut resumed) = (0, 0, 0, 0);
    while killed < kills {
        let every = [0, 0, 30][random(3) as usize];
        let mut child = program(folder.path(), "build --format htb KRPvK KQBvK --dir t", every)
            .spawn()
            .unwrap();
        sleep(Duration::from_micros(random(took.as_micros() as u64 * 2 / 3)));
        if child.try_wait().unwrap().is_some() {
            let (code, _, err) = finish(child);
            assert_eq!(code, 0, "{err}");
            check_done(&dir);
            fs::remove_dir_all(&dir).unwrap();
            done += 1;
            continue;
        }
        child.kill().unwrap();
        let (_, _, err) = finish(child);
        resumed += usize::from(err.contains("going on with"));
        assert!(!err.contains("anew"), "{err}");
        killed += 1;
        for (name, entries) in tables(&dir) {
            assert!(entries == reference[&name], "{name}");
        }
        left += names(&dir).iter().filter(|name| !is_table(name)).count();
    }
    let (code, _, err) = run(folder.path(), "build --format htb KRPvK KQBvK --dir t", 30);
    assert_eq!(code, 0, "{err}");
    check_done(&dir);
    println!(
        "{killed} kills in {:.0} s: {} builds came to their end, each as if it had not been disturbed; \
         {resumed} runs went on from a checkpoint, {left} unfinished files and locks were left and are gone",
        began.elapsed().as_secs_f64(),
        done + 1
    );
}

#[test]
fn a_few_kills_do_no_harm() {
    kill_storm(5);
}

/// See `scripts/kill-storm`.
#[test]
#[ignore = "takes minutes"]
fn many_kills_do_no_harm() {
    let kills = std::env::var("HOFFMAN_KILLS").map_or(100, |n| n.parse().unwrap());
    kill_storm(kills);
}

#[test]
fn a_search_for_pawn_structures_stops_within_five_seconds() {
    let folder = TempDir::new().unwrap();
    // All ways of three pawns a side: more than fit, found out after seconds of search.
    let element = "<pawngen white-pawn-locations=\"b2 c2 d2\" black-pawn-locations=\"b7 c7 d7\" \
                   white-captures-allowed=\"3\" black-captures-allowed=\"3\"";
    let numbers = " white-pawns-required=\"2\" black-pawns-required=\"2\"";
    let kings = "<piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>";
    for (name, numbers, line) in
        [("family", "", "pawngen family.xml"), ("one", numbers, "-g one.xml -o one.htb")]
    {
        let text = format!("<tablebase><dtm/>{kings}{element}{numbers}/></tablebase>");
        fs::write(folder.path().join(name).with_extension("xml"), text).unwrap();
        let mut child = program(folder.path(), line, 30).spawn().unwrap();
        sleep(Duration::from_millis(400));
        assert!(child.try_wait().unwrap().is_none(), "{line} takes no time");
        let told = Instant::now();
        signal(&child, "-INT");
        let (code, _, err) = finish(child);
        assert!(told.elapsed() < Duration::from_secs(5), "{line}: {:?}", told.elapsed());
        assert!(code == 1 && err.contains("interrupted"), "{line}: {code} {err}");
        assert_eq!(names(folder.path()), [format!("{name}.xml")]);
        fs::remove_file(folder.path().join(name).with_extension("xml")).unwrap();
    }
}
