//! An ending without pawns, solved by several processes at the same time: the same table as one
//! process makes, also if some are killed, and what is refused.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{names, run, succeeds};

const HOFFMAN: &str = env!("CARGO_BIN_EXE_hoffman");

/// A folder `t` with what an ending is made from, and the table that one process makes.
fn ready(ending: &str) -> (TempDir, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    succeeds(folder.path(), &format!("build {ending} --dir t --profile fast --reproducible"));
    let table = folder.path().join(table_of(ending));
    let whole = fs::read(&table).unwrap();
    fs::remove_file(table).unwrap();
    (folder, whole)
}

fn table_of(ending: &str) -> String {
    format!("t/{}.hbf", ending.to_lowercase().replace('v', ""))
}

/// The process of a part, begun.
fn begin(folder: &Path, ending: &str, part: &str) -> Child {
    Command::new(HOFFMAN)
        .args(["solve-part", ending, "--part", part, "--dir", "t", "--threads", "1"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a process said that was to succeed.
#[track_caller]
fn end(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Waits until a file is there.
#[track_caller]
fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_mins(1), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Solves an ending by processes that are begun together.
#[track_caller]
fn solve(folder: &Path, ending: &str, parts: usize) -> Vec<String> {
    let begun: Vec<Child> =
        (1..=parts).map(|part| begin(folder, ending, &format!("{part}/{parts}"))).collect();
    begun.into_iter().map(end).collect()
}

#[track_caller]
fn assert_joins_to(folder: &Path, ending: &str, whole: &[u8]) {
    succeeds(folder, &format!("join {ending} --dir t --reproducible"));
    assert!(fs::read(folder.join(table_of(ending))).unwrap() == whole, "{ending} differs");
}

#[test]
fn an_ending_solved_by_three_processes_is_the_same_file() {
    let (folder, whole) = ready("KRvKN");
    let folder = folder.path();
    let said = solve(folder, "KRvKN", 3);
    let begins = "t/krkn.parts/2-of-3.values: written, 154 king pairs with 193 around them; ";
    assert!(said[1].starts_with(begins), "{}", said[1]);
    assert_joins_to(folder, "KRvKN", &whole);
    // What was told of passes is gone.
    let left: Vec<String> =
        names(&folder.join("t/krkn.parts")).into_iter().filter(|n| !n.starts_with('.')).collect();
    assert_eq!(left, ["1-of-3.values", "2-of-3.values", "3-of-3.values"]);

    let kept = succeeds(folder, "solve-part KRvKN --part 2/3 --dir t").out;
    assert_eq!(kept, "t/krkn.parts/2-of-3.values: kept\n");
    assert_eq!(succeeds(folder, "join KRvKN --dir t").out, "t/krkn.hbf: kept\n");

    // Under another name, elsewhere and in the folder.
    for (named, dir) in [("else/any.hbf", "--dir t"), ("t/any.hbf", "")] {
        succeeds(folder, &format!("join KRvKN {dir} -o {named} --reproducible"));
        assert!(fs::read(folder.join(named)).unwrap() == whole, "{named}");
    }

    // In the other container, and in little memory.
    let line = "join KRvKN --dir t --format htb --reproducible --memory 64M";
    succeeds(folder, line);
    succeeds(folder, "build KRvKN --dir other --format htb --reproducible");
    let [joined, built] = ["t", "other"].map(|dir| fs::read(folder.join(dir).join("krkn.htb")));
    assert!(joined.unwrap() == built.unwrap());
}

/// One waits for the others in the first pass, another one is killed on its way.
#[test]
fn processes_that_were_killed_go_on() {
    let (folder, whole) = ready("KRvKN");
    let folder = folder.path();
    let mut first = begin(folder, "KRvKN", "1/3");
    let mut second = begin(folder, "KRvKN", "2/3");
    let told = folder.join("t/krkn.parts");
    wait_for(&told.join("1-of-3.lost-0"));
    first.kill().unwrap();
    first.wait().unwrap();

    let third = begin(folder, "KRvKN", "3/3");
    let first = begin(folder, "KRvKN", "1/3");
    wait_for(&told.join("2-of-3.won-3"));
    second.kill().unwrap();
    second.wait().unwrap();
    let second = end(begin(folder, "KRvKN", "2/3"));
    assert!(second.contains(" of them before, ") || second.ends_with(": kept\n"), "{second}");
    end(first);
    end(third);
    assert_joins_to(folder, "KRvKN", &whole);
}

/// From any pass on: the files of later passes are computed again, and are the same.
#[test]
fn a_process_that_lost_files_makes_the_same_again() {
    let (folder, whole) = ready("KQvK");
    let folder = folder.path();
    solve(folder, "KQvK", 2);
    let told = folder.join("t/kqk.parts");
    let all: Vec<String> = names(&told).into_iter().filter(|n| n.starts_with("1-of-2.")).collect();
    let before: Vec<Vec<u8>> = all.iter().map(|name| fs::read(told.join(name)).unwrap()).collect();
    for lost in [0, 3, 10] {
        for name in &all {
            let moves = name.rsplit_once('-').and_then(|(_, moves)| moves.parse::<u32>().ok());
            if moves.is_none_or(|moves| moves >= lost) {
                fs::remove_file(told.join(name)).unwrap_or_default();
            }
        }
        // Slowly, from the disk.
        let memory = if lost == 3 { "--memory 64M" } else { "" };
        let said = succeeds(folder, &format!("solve-part KQvK --part 1/2 --dir t {memory}")).out;
        assert_eq!(said.contains(" of them before"), lost > 0, "{said}");
        for (name, before) in all.iter().zip(&before).filter(|(name, _)| !name.starts_with('.')) {
            assert!(fs::read(told.join(name)).unwrap() == *before, "{name} differs");
        }
    }
    assert_joins_to(folder, "KQvK", &whole);
}

#[test]
fn files_of_others_and_damaged_ones_are_named() {
    let (folder, whole) = ready("KQvK");
    let folder = folder.path();
    solve(folder, "KQvK", 2);
    let told = folder.join("t/kqk.parts");
    let again = "solve-part KQvK --part 1/2 --dir t";

    // Another number of parts.
    run(folder, "solve-part KQvK --part 1/3 --dir t")
        .refused(1, &["t/kqk.parts/", "-of-2.", "is of another number of parts"]);
    fs::copy(told.join("1-of-2.values"), told.join("1-of-3.values")).unwrap();
    run(folder, "join KQvK --dir t").refused(1, &["t/kqk.parts has parts of 2 and of 3"]);
    fs::rename(told.join("1-of-3.values"), told.join("1-of-2.values")).unwrap();

    // Of a pass, of another part, or of another pass.
    let pass = told.join("2-of-2.won-5");
    let right = fs::read(&pass).unwrap();
    let mut wrong = right.clone();
    wrong[right.len() / 2] ^= 1;
    let other = fs::read(told.join("1-of-2.won-5")).unwrap();
    let earlier = fs::read(told.join("2-of-2.won-4")).unwrap();
    for (bytes, why) in [
        (&wrong, "2-of-2.won-5: is damaged"),
        (&other, "2-of-2.won-5: says 'part 1 of 2', not 'part 2 of 2'"),
        (&earlier, "2-of-2.won-5: says 'won in 4', not 'won in 5'"),
    ] {
        fs::remove_file(told.join("1-of-2.values")).unwrap_or_default();
        fs::write(&pass, bytes).unwrap();
        run(folder, again).refused(1, &["t/kqk.parts/1-of-2.values cannot be made", why]);
    }
    fs::write(&pass, right).unwrap();
    succeeds(folder, again);

    // The values of a part.
    let values = told.join("2-of-2.values");
    let right = fs::read(&values).unwrap();
    let mut wrong = right.clone();
    wrong[right.len() / 2] ^= 1;
    let why = "t/kqk.parts/2-of-2.values: is damaged";
    // What is last in a file that was cut is no place that a file can have.
    let cut = (right.len() / 2..right.len()).find(|&cut| right[cut - 1] > 127).unwrap();
    for bytes in [&wrong, &right[..cut]] {
        fs::write(&values, bytes).unwrap();
        run(folder, "join KQvK --dir t").refused(1, &["t/kqk.hbf cannot be made", why]);
        run(folder, "solve-part KQvK --part 2/2 --dir t").refused(1, &[why]);
    }
    fs::remove_file(&values).unwrap();
    run(folder, "join KQvK --dir t").refused(3, &["t/kqk.parts/2-of-2.values is not there"]);
    fs::write(&values, right).unwrap();
    assert_joins_to(folder, "KQvK", &whole);
}

#[test]
fn what_cannot_be_solved_in_parts_is_said() {
    let (folder, _) = ready("KQvK");
    let folder = folder.path();
    assert_eq!(run(folder, "solve-part KQvK --part 3/2 --dir t").code, 2);
    run(folder, "solve-part KPvK --part 1/2 --dir t").refused(1, &["KPvK has pawns"]);
    run(folder, "solve-part KK --part 1/2 --dir t").refused(1, &["no men besides the kings"]);
    run(folder, "solve-part KQvK --part 1/500 --dir t").refused(1, &["462 at most"]);
    run(folder, "solve-part KQvKQ --part 1/2 --dir t")
        .refused(3, &["t/kqkq.hbf cannot be made: t/kqk.hbf is not there"]);
    run(folder, "join KQvK --dir t").refused(3, &["t/kqk.parts is not there"]);

    // Nobody comes.
    let alone = run(folder, "solve-part KQvK --part 1/2 --dir t --patience 0");
    let why = "t/kqk.parts/2-of-2.lost-0 is not there after 0 seconds";
    alone.refused(3, &["t/kqk.parts/1-of-2.values cannot be made", why]);

    // Whoever waits can be interrupted.
    let waits = begin(folder, "KQvK", "1/2");
    let id = i32::try_from(waits.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(waits.wait_with_output().unwrap().status.code(), Some(3));
}

#[test]
fn a_plan_runs_the_processes_of_an_ending_at_the_same_time() {
    let (folder, whole) = ready("KQvK");
    let folder = folder.path();
    let plan = "plan KQvK --parts=2 --dir t";
    let jobs = succeeds(folder, &format!("{plan} --json")).json()["jobs"].clone();
    let jobs = jobs.as_array().unwrap();
    let parts: Vec<_> = jobs.iter().filter(|job| job["at_once"] == 2).collect();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[1]["output"], "t/kqk.parts/2-of-2.values");
    let last = jobs.last().unwrap();
    assert_eq!((&last["joined"], &last["inputs"][1]), (&true.into(), &parts[1]["output"]));
    let slurm = succeeds(folder, &format!("{plan} --slurm")).out;
    assert!(slurm.contains("solve-part KQvK --part 2/2 --dir t"), "{slurm}");
    for engine in ["makefile", "snakefile"] {
        run(folder, &format!("{plan} --{engine}")).refused(1, &["KQvK", "at the same time"]);
    }
    run(folder, &format!("{plan} --run -j 1")).refused(1, &["2 processes", "2 threads (-j)"]);

    // One that fails for good ends the other, too.
    fs::create_dir(folder.join("t/kqk.parts")).unwrap();
    fs::write(folder.join("t/kqk.parts/1-of-2.lost-0"), "no file of ours").unwrap();
    let failed = run(folder, &format!("{plan} --run -j 2"));
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(failed.err.contains("t/kqk.parts/1-of-2.lost-0: is damaged"), "{}", failed.err);
    fs::remove_file(folder.join("t/kqk.parts/1-of-2.lost-0")).unwrap();

    let made = succeeds(folder, &format!("{plan} --run -j 2")).out;
    assert!(made.contains("t/kqk.parts/1-of-2.values: written"), "{made}");
    assert!(fs::read(folder.join("t/kqk.hbf")).unwrap() == whole);
    let kept = succeeds(folder, &format!("{plan} --run -j 2")).out;
    assert!(kept.lines().all(|line| line.ends_with(": kept")), "{kept}");
}
