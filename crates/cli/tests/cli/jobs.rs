//! Graphs of jobs: written for other engines and run by them, run by the program itself, disturbed.
#![cfg(unix)]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{names, run, run_with, succeeds};

const HOFFMAN: &str = env!("CARGO_BIN_EXE_hoffman");

/// A job for the table of KPvK, as a plan words it.
const ONE: &str = "build --only KPvK --dir t --format htb --threads 1 --reproducible --receipt t/receipts/kpk.htb.json";

/// The tables of a folder with their bytes, by name.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let is_table = |name: &String| Path::new(name).extension() == Some("htb".as_ref());
    let read = |name: String| (name.clone(), fs::read(folder.join(name)).unwrap());
    names(folder).into_iter().filter(is_table).map(read).collect()
}

/// The tables of a folder with the times at which they were written.
fn times(folder: &Path) -> BTreeMap<String, SystemTime> {
    let time = |name: &String| fs::metadata(folder.join(name)).unwrap().modified().unwrap();
    tables(folder).into_keys().map(|name| (name.clone(), time(&name))).collect()
}

/// Fails unless a folder has the tables that one `hoffman build` makes, byte by byte.
#[track_caller]
fn assert_as_built(folder: &Path, what: &str) {
    let reference = TempDir::new().unwrap();
    succeeds(reference.path(), &format!("build --format htb {what} --dir t --reproducible"));
    let (made, built) = (tables(folder), tables(&reference.path().join("t")));
    assert_eq!(made.keys().collect::<Vec<_>>(), built.keys().collect::<Vec<_>>());
    for (name, bytes) in &built {
        assert!(made[name] == *bytes, "{name} differs");
    }
}

/// A program that is installed; none, and a loud remark, if it is not.
fn installed(name: &str) -> Option<&str> {
    let found = Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("NOT TESTED: there is no {name}");
    }
    found.then_some(name)
}

/// Has a program do something in a folder.
#[track_caller]
fn call(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("HOME", folder).env("HOFFMAN", HOFFMAN);
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    assert!(output.status.success(), "{program}: {out}{err}");
    output
}

/// Writes what a plan prints to a file.
fn write_plan(folder: &Path, line: &str, file: &str) {
    fs::write(folder.join(file), succeeds(folder, line).out).unwrap();
}

/// Replaces the table of KRvK by one that holds the same and is another file.
fn replace_an_input(folder: &Path) {
    succeeds(folder, "build --format htb KRvK --dir other --compress fast --reproducible");
    let (new, old) = (folder.join("other/krk.htb"), folder.join("t/krk.htb"));
    assert!(fs::read(&new).unwrap() != fs::read(&old).unwrap());
    fs::copy(new, old).unwrap();
    fs::remove_file(folder.join("t/receipts/krk.htb.json")).unwrap();
}

/// What changed between two looks at the times of tables.
fn changed(
    before: &BTreeMap<String, SystemTime>,
    after: &BTreeMap<String, SystemTime>,
) -> Vec<String> {
    let is_new = |(name, time): &(&String, &SystemTime)| before.get(*name) != Some(time);
    after.iter().filter(is_new).map(|(name, _)| name.clone()).collect()
}

// ---------------------------------------------------------------------------------------- graphs

#[track_caller]
fn jobs_of(folder: &Path, line: &str) -> Vec<Value> {
    let plan = succeeds(folder, line).json();
    for key in ["tables", "memory", "least_memory", "seconds", "elapsed_seconds"] {
        assert!(!plan[key].is_null(), "{key} is missing");
    }
    plan["jobs"].as_array().unwrap().clone()
}

#[track_caller]
fn assert_is_graph(jobs: &[Value], given: &[&str]) {
    let mut there: HashSet<String> = given.iter().map(|&name| name.to_owned()).collect();
    for job in jobs {
        for input in job["inputs"].as_array().unwrap() {
            assert!(there.contains(input.as_str().unwrap()), "{input} before it is there");
        }
        assert!(there.insert(job["output"].as_str().unwrap().to_owned()), "{job} is there twice");
        for figure in ["memory_bytes", "threads", "disk_bytes"] {
            assert!(job[figure].as_u64().unwrap() > 0, "{job}");
        }
        assert!(job["seconds"].as_f64().unwrap() > 0.0, "{job}");
        let command: Vec<&str> =
            job["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(command[..2], ["hoffman", "build"]);
        assert!(command.contains(&"--only") && command.contains(&"--receipt"), "{command:?}");
    }
}

#[test]
fn a_graph_has_each_table_once_after_its_inputs() {
    let folder = TempDir::new().unwrap();
    let jobs = jobs_of(folder.path(), "plan --format htb KPvKP --json --dir t");
    assert_is_graph(&jobs, &[]);
    let last = jobs.last().unwrap();
    assert_eq!((&last["output"], &last["material"]), (&"t/kpkp.htb".into(), &"KPvKP".into()));
    let all = jobs_of(folder.path(), "plan --format htb --men 4 --json --dir t");
    assert_is_graph(&all, &[]);
    assert_eq!(all.len(), 36);
}

/// 510, and two bare kings.
#[test]
fn the_graph_of_up_to_six_men_is_written_for_every_engine() {
    let folder = TempDir::new().unwrap();
    let jobs = jobs_of(folder.path(), "plan --format htb --men 6 --json --dir t");
    assert_is_graph(&jobs, &[]);
    assert_eq!(jobs.len(), 511);
    let snakefile = succeeds(folder.path(), "plan --format htb --men 6 --snakefile --dir t").out;
    assert_eq!(snakefile.matches("\nrule make_").count(), 511);
    let makefile = succeeds(folder.path(), "plan --format htb --men 6 --makefile --dir t").out;
    assert_eq!(makefile.matches("$(HOFFMAN) build --only ").count(), 511);
    let slurm = succeeds(folder.path(), "plan --format htb --men 6 --slurm --dir t").out;
    assert_eq!(slurm.matches("; set -- build --only ").count(), 511);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn graphs_of_positions_control_files_and_families_are_run() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for name in ["kqk.xml", "races/two-pawns-queen.xml"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        fs::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
    }
    let fen = "8/1P6/8/8/8/2k5/8/K7 w - - 0 1";
    let plan = run_with(folder, &["plan", fen, "--json", "--dir", "t"], "").json();
    let jobs = plan["jobs"].as_array().unwrap();
    assert_is_graph(jobs, &[]);
    let last = jobs.last().unwrap();
    assert_eq!((&last["output"], &last["position"]), (&"t/kpk-b7.htb".into(), &fen.into()));
    let made = run_with(folder, &["plan", fen, "--run", "-j", "2", "--dir", "t"], "");
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(folder.join("t/kpk-b7.htb").is_file());

    succeeds(folder, "build --format htb KQvKP KQPvK --dir .");
    let family = jobs_of(folder, "plan two-pawns-queen.xml --json");
    assert_is_graph(&family, &["two-pawns-queen.xml", "kqkp.htb", "kqpk.htb"]);
    assert_eq!(family[0]["control"], "two-pawns-queen.xml");
    assert!(family[0]["text"].as_str().unwrap().contains("<pawngen"));
    let made = succeeds(folder, "plan two-pawns-queen.xml --run");
    assert_eq!(made.out, "two-pawns-queen-1-1.htb: written, 994728 legal positions\n");
    let kept = succeeds(folder, "plan two-pawns-queen.xml --run");
    assert_eq!(kept.out, "two-pawns-queen-1-1.htb: kept\n");
}

// --------------------------------------------------------------------------------------- engines

#[test]
fn make_makes_what_build_makes_and_only_what_has_to_be_made_again() {
    let Some(make) = installed("make") else { return };
    let folder = TempDir::new().unwrap();
    let (folder, program) = (folder.path(), format!("HOFFMAN={HOFFMAN}"));
    let made = || call(folder, make, &["-j2", &program]);
    write_plan(folder, "plan --format htb KPvK --makefile --dir t", "Makefile");
    made();
    assert_as_built(&folder.join("t"), "KPvK");
    let first = times(&folder.join("t"));
    assert!(String::from_utf8_lossy(&made().stdout).contains("Nothing to be done"));

    fs::remove_file(folder.join("t/krk.htb")).unwrap();
    made();
    let second = times(&folder.join("t"));
    assert_eq!(changed(&first, &second), ["kpk.htb", "krk.htb"]);
    // What was made again is the same file, so nothing that needs it had to be.
    assert_eq!(fs::read_to_string(folder.join("t/logs/kpk.htb.log")).unwrap(), "t/kpk.htb: kept\n");
    assert_as_built(&folder.join("t"), "KPvK");

    replace_an_input(folder);
    made();
    let log = fs::read_to_string(folder.join("t/logs/kpk.htb.log")).unwrap();
    assert!(log.contains("t/kpk.htb: was made from another t/krk.htb; building it anew"), "{log}");
    assert_eq!(changed(&second, &times(&folder.join("t"))), ["kpk.htb", "krk.htb"]);
    assert!(String::from_utf8_lossy(&made().stdout).contains("Nothing to be done"));
}

#[test]
fn make_names_the_table_the_command_and_the_log() {
    let Some(make) = installed("make") else { return };
    let folder = TempDir::new().unwrap();
    write_plan(folder.path(), "plan --format htb KQvK --makefile --dir t", "Makefile");
    fs::create_dir(folder.path().join("t")).unwrap();
    fs::write(folder.path().join("t/kqk.htb"), "mine").unwrap();
    let output = Command::new(make)
        .arg(format!("HOFFMAN={HOFFMAN}"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    assert!(!output.status.success(), "{out}{err}");
    assert!(out.contains("build --only KQvK --dir t"), "{out}");
    assert!(
        err.contains("t/kqk.htb was not made: exit code 1, its log is t/logs/kqk.htb.log"),
        "{err}"
    );
    let log = fs::read_to_string(folder.path().join("t/logs/kqk.htb.log")).unwrap();
    assert!(log.contains("t/kqk.htb") && log.contains("not overwritten"), "{log}");
    assert_eq!(fs::read(folder.path().join("t/kqk.htb")).unwrap(), b"mine");
}

/// Slurm itself is tried by hand (docs/cluster.md); a stand-in runs what is submitted.
#[test]
fn arrays_for_slurm_make_what_build_makes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let stand_in = "#!/bin/sh\nset -eu\necho \"$*\" >> submitted\ncat > job.sh\n\
        last=$(echo \"$*\" | sed 's/.*--array=0-\\([0-9]*\\).*/\\1/')\n\
        for n in $(seq 0 \"$last\"); do SLURM_ARRAY_TASK_ID=$n sh job.sh; done\n\
        echo \"$(wc -l < submitted);name\"\n";
    fs::write(folder.join("sbatch"), stand_in).unwrap();
    call(folder, "chmod", &["+x", "sbatch"]);
    write_plan(folder, "plan --format htb KPvK --slurm --dir t", "submit.sh");
    call(folder, "sh", &["-c", "PATH=$PWD:$PATH sh submit.sh"]);
    assert_as_built(&folder.join("t"), "KPvK");
    let submitted = fs::read_to_string(folder.join("submitted")).unwrap();
    let lines: Vec<&str> = submitted.lines().collect();
    let [kings, three, pawn] = lines[..] else { panic!("{submitted}") };
    assert!(kings.contains("--array=0-0") && !kings.contains("--dependency"), "{submitted}");
    assert!(three.contains("--dependency=afterok:1 ") && three.contains("--array=0-3"));
    assert!(pawn.contains("--dependency=afterok:2 ") && pawn.contains("--mem="), "{submitted}");
}

/// A folder with the Snakefile of a plan; none where Snakemake is not installed.
fn with_snakefile(plan: &str) -> Option<TempDir> {
    installed("snakemake")?;
    let folder = TempDir::new().unwrap();
    write_plan(folder.path(), plan, "Snakefile");
    Some(folder)
}

/// Snakemake in a folder, with a Snakefile that is there.
fn snakemake(folder: &Path, arguments: &[&str]) -> Output {
    let program = format!("hoffman={HOFFMAN}");
    let mut all = vec!["--snakefile", "Snakefile", "-j", "2", "--config", &program];
    all.extend(arguments);
    call(folder, "snakemake", &all)
}

#[test]
fn snakemake_makes_what_build_makes_and_only_what_has_to_be_made_again() {
    let Some(folder) = with_snakefile("plan --format htb KPvK --snakefile --dir t") else { return };
    let folder = folder.path();
    snakemake(folder, &[]);
    assert_as_built(&folder.join("t"), "KPvK");
    assert!(folder.join("t/logs/kpk.htb.tsv").is_file());
    let first = times(&folder.join("t"));

    fs::remove_file(folder.join("t/krk.htb")).unwrap();
    snakemake(folder, &[]);
    let second = times(&folder.join("t"));
    assert_eq!(changed(&first, &second), ["kpk.htb", "krk.htb"]);
    assert_as_built(&folder.join("t"), "KPvK");

    replace_an_input(folder);
    snakemake(folder, &[]);
    assert_eq!(changed(&second, &times(&folder.join("t"))), ["kpk.htb", "krk.htb"]);
    let receipt = fs::read_to_string(folder.join("t/receipts/kpk.htb.json")).unwrap();
    let krk = serde_json::from_str::<Value>(&receipt).unwrap()["inputs"][4].clone();
    assert_eq!(krk["file"], "t/krk.htb");
    assert_eq!(krk["bytes"], fs::metadata(folder.join("t/krk.htb")).unwrap().len());
}

#[test]
fn snakemake_accepts_the_graph_of_up_to_six_men() {
    let Some(folder) = with_snakefile("plan --format htb --men 6 --snakefile --dir t") else {
        return;
    };
    let output = snakemake(folder.path(), &["--dry-run", "--quiet", "rules"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("512"), "511 tables and their list: {said}");
}

/// Those of executors that are not installed are left out, with a loud remark.
#[test]
fn snakemake_accepts_the_profiles() {
    let Some(folder) = with_snakefile("plan --format htb KPvK --snakefile --dir t") else { return };
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster");
    for name in ["laptop", "slurm", "slurm-generic"] {
        let output = Command::new("snakemake")
            .args(["--snakefile", "Snakefile", "--dry-run", "--profile"])
            .arg(profiles.join(name))
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
        if err.contains("invalid choice") {
            eprintln!("NOT TESTED: the profile {name}, for want of the plugin that it names");
            continue;
        }
        assert!(output.status.success(), "{name}: {out}{err}");
        assert!(format!("{out}{err}").contains("make_kpk"), "{name}: {out}{err}");
    }
}

/// A job that says how much it needs gets it in the next attempt.
#[test]
fn snakemake_gives_a_job_the_memory_that_it_asks_for() {
    let Some(folder) = with_snakefile("plan --format htb KRPvK --snakefile --dir t --memory 48M")
    else {
        return;
    };
    let folder = folder.path();
    let stand_in = format!(
        "#!/bin/sh\necho \"$*\" >> calls\n\
         case \"$*\" in\n*KRPvK*--memory\\ 2000M*|*KRPvK*--memory\\ 2???M*) ;;\n\
         *KRPvK*) echo 'needs-memory-bytes: 2097152000' >&2; exit 4 ;;\nesac\nexec {HOFFMAN} \"$@\"\n"
    );
    fs::write(folder.join("stand-in"), stand_in).unwrap();
    call(folder, "chmod", &["+x", "stand-in"]);
    let program = format!("hoffman={}", folder.join("stand-in").display());
    let arguments = ["--snakefile", "Snakefile", "-j", "2", "--config", &program];
    call(folder, "snakemake", &arguments);
    let calls = fs::read_to_string(folder.join("calls")).unwrap();
    let of_krpk: Vec<&str> = calls.lines().filter(|line| line.contains("--only KRPvK ")).collect();
    assert_eq!(of_krpk.len(), 2, "{calls}");
    assert!(of_krpk[1].contains("--memory 2000M"), "{calls}");
}

// ------------------------------------------------------------------------------------ this machine

#[test]
fn a_plan_is_run_by_the_program_itself() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let line = "plan --format htb KPvKP --run -j 2 --memory 1G --dir t";
    let made = succeeds(folder, line);
    assert!(
        made.out.contains("t/kpkp.htb: written, longest win with White to move 33 moves"),
        "{}",
        made.out
    );
    assert_as_built(&folder.join("t"), "KPvKP");
    let first = times(&folder.join("t"));
    let kept = succeeds(folder, line);
    assert!(kept.out.lines().all(|line| line.ends_with(": kept")), "{}", kept.out);
    assert_eq!(changed(&first, &times(&folder.join("t"))), [""; 0]);

    // A damaged table is made again before others are made from it.
    let damaged = folder.join("t/krkp.htb");
    let mut bytes = fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    let again = succeeds(folder, line);
    let written: Vec<&str> = again.out.lines().filter(|line| !line.ends_with("kept")).collect();
    assert!(written.len() == 1 && written[0].starts_with("t/krkp.htb: written"), "{}", again.out);
    let log = fs::read_to_string(folder.join("t/logs/krkp.htb.log")).unwrap();
    assert!(log.contains("t/krkp.htb: is not the file of its receipt"), "{log}");
    assert_as_built(&folder.join("t"), "KPvKP");
}

#[test]
fn a_failed_job_is_named_and_others_are_run_all_the_same() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("t")).unwrap();
    fs::write(folder.join("t/kqk.htb"), "mine").unwrap();
    let failed = run(folder, "plan --format htb KPvK --run -j 2 --dir t");
    assert_eq!(failed.code, 1, "{}", failed.err);
    let words = [
        "t/kqk.htb was not made by 'hoffman build --only KQvK --dir t",
        "see t/logs/kqk.htb.log: exit code 1",
        "not overwritten",
        "1 jobs failed, and 1 that need them were not begun",
    ];
    for word in words {
        assert!(failed.err.contains(word), "'{word}' is not in: {}", failed.err);
    }
    assert!(folder.join("t/krk.htb").is_file() && !folder.join("t/kpk.htb").exists());
    run(folder, "plan --format htb KPvK --run --memory 1M --dir s")
        .refused(1, &["s/", "MB of memory"]);
}

/// The processes that a process has begun.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let list = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    list.split_whitespace().map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_is_begun_again() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut runner = Command::new(HOFFMAN)
        .args("plan --format htb KRPvK --run -j 1 --dir t".split(' '))
        .current_dir(folder)
        .spawn()
        .unwrap();
    let mut killed = 0;
    while runner.try_wait().unwrap().is_none() {
        // Each is caught while it makes its table.
        let is_under_way = || folder.join("t/.krpk.htb.lock").exists();
        let caught = children(runner.id()).into_iter().next();
        if let Some(child) = caught.filter(|_| killed < 2 && is_under_way()) {
            let kill = Command::new("kill").args(["-KILL", &child]).status().unwrap();
            killed += i32::from(kill.success());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(runner.wait().unwrap().success());
    assert!(killed > 0);
    assert_as_built(&folder.join("t"), "KRPvK");
}

// ------------------------------------------------------------------------------------------ trust

/// A folder with the tables behind KPvK and their receipts.
fn folder_of_inputs() -> TempDir {
    let folder = TempDir::new().unwrap();
    succeeds(folder.path(), "plan --format htb KQvK KRvK KBvK KNvK --run --dir t");
    folder
}

#[test]
fn a_job_makes_one_table_and_says_from_what() {
    let folder = folder_of_inputs();
    let folder = folder.path();
    let made = succeeds(folder, ONE);
    assert_eq!(made.out.lines().count(), 1);
    let receipt = fs::read_to_string(folder.join("t/receipts/kpk.htb.json")).unwrap();
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["program"], concat!("hoffman ", env!("CARGO_PKG_VERSION")));
    assert_eq!(receipt["command"], format!("hoffman {ONE}"));
    let files: Vec<&Value> =
        receipt["inputs"].as_array().unwrap().iter().chain([&receipt["output"]]).collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let name = file["file"].as_str().unwrap();
        assert_eq!(file["bytes"], fs::metadata(folder.join(name)).unwrap().len());
        let sum = call(folder, "sha256sum", &[name]);
        let sum = String::from_utf8(sum.stdout).unwrap();
        assert_eq!(sum.split(' ').next(), file["sha256"].as_str(), "{name}");
    }
    let before = times(&folder.join("t"));
    assert_eq!(succeeds(folder, ONE).out, "t/kpk.htb: kept\n");
    assert_eq!(changed(&before, &times(&folder.join("t"))), [""; 0]);
    assert_as_built(&folder.join("t"), "KPvK");
}

#[test]
fn inputs_that_are_not_what_they_should_be_are_named() {
    let folder = folder_of_inputs();
    let folder = folder.path();
    let [table, receipt] = ["t/kqk.htb", "t/receipts/kqk.htb.json"].map(|name| folder.join(name));
    let (bytes, text) = (fs::read(&table).unwrap(), fs::read_to_string(&receipt).unwrap());
    let refused = |words: &[&str]| {
        run(folder, ONE).refused(1, words);
        assert!(!folder.join("t/kpk.htb").exists());
        fs::write(&table, &bytes).unwrap();
        fs::write(&receipt, &text).unwrap();
    };

    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    fs::write(&table, &flipped).unwrap();
    refused(&["t/kpk.htb cannot be made: t/kqk.htb", "damaged"]);

    // Another file with the same entries.
    succeeds(folder, "build --format htb KQvK --dir other");
    fs::copy(folder.join("other/kqk.htb"), &table).unwrap();
    refused(&[
        "t/kqk.htb: is not the file of its receipt t/receipts/kqk.htb.json",
        "make it again",
    ]);

    let mut lie: Value = serde_json::from_str(&text).unwrap();
    lie["output"]["sha256"] = "0".repeat(64).into();
    fs::write(&receipt, lie.to_string()).unwrap();
    refused(&["t/kqk.htb: is not the file of its receipt"]);
    fs::write(&receipt, "{}").unwrap();
    refused(&["t/receipts/kqk.htb.json: is no receipt"]);

    fs::write(
        &receipt,
        text.replace(concat!("hoffman ", env!("CARGO_PKG_VERSION")), "hoffman 1.9.0"),
    )
    .unwrap();
    refused(&["t/kqk.htb: was made by hoffman 1.9.0"]);

    fs::copy(folder.join("t/krk.htb"), &table).unwrap();
    refused(&["t/kpk.htb cannot be made: t/kqk.htb: holds KRvK, not KQvK"]);

    // Without receipts every block is looked at.
    fs::write(&table, &flipped).unwrap();
    run(folder, "build --format htb --only KPvK --dir t")
        .refused(1, &["t/kpk.htb cannot be made: t/kqk.htb", "damaged"]);
}

#[test]
fn a_table_that_another_version_made_is_made_again() {
    let folder = folder_of_inputs();
    let folder = folder.path();
    let receipt = folder.join("t/receipts/kqk.htb.json");
    let text = fs::read_to_string(&receipt).unwrap();
    let old = text.replace(concat!("hoffman ", env!("CARGO_PKG_VERSION")), "hoffman 1.9.0");
    fs::write(&receipt, old).unwrap();
    let made = succeeds(folder, "plan --format htb KPvK --run --dir t");
    let written: Vec<&str> = made.out.lines().filter(|line| line.contains("written")).collect();
    assert_eq!(written.len(), 2, "{}", made.out);
    assert!(written[0].starts_with("t/kqk.htb") && written[1].starts_with("t/kpk.htb"));
    // But for the command they are the same.
    assert_as_built(&folder.join("t"), "KPvK");
}

// -------------------------------------------------------------------------------------- exit codes

#[test]
fn a_job_whose_inputs_are_not_there_may_be_tried_again() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, ONE)
        .refused(3, &["t/kpk.htb cannot be made: t/kk.htb, t/kbk.htb", "t/krk.htb are not there"]);
    assert!(!folder.join("t/kpk.htb").exists());
    succeeds(folder, "build --format htb KQvK KRvK KBvK --dir t");
    run(folder, ONE).refused(3, &["t/kpk.htb cannot be made: t/knk.htb is not there"]);
    let lock = hoffman_store::lock_name(&folder.join("t/knk.htb"));
    let held = hoffman_store::disk().try_lock(&lock).unwrap().unwrap();
    run(folder, ONE).refused(3, &["t/kpk.htb cannot be made: t/knk.htb is being made"]);
    drop(held);
    succeeds(folder, "build --format htb --only KNvK --dir t");
    succeeds(folder, ONE);
    run(folder, "build --format htb --only KZvK --dir t").refused(1, &["KZvK"]);
    run(folder, "build --format htb KPvK --only kqkq.htb --dir t")
        .refused(1, &["kqkq.htb", "t/kpk.htb"]);
    assert_eq!(run(folder, "build --format htb --only KPvK --men 3").code, 2);
    assert_eq!(run(folder, "build --format htb KPvK --receipt x").code, 2);
}

#[test]
fn a_job_that_is_interrupted_may_be_tried_again() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "build --format htb KPvK KRRvK KRBvK KRNvK KQRvK --dir t");
    // It may end before the signal comes.
    for _ in 0..50 {
        let mut child = Command::new(HOFFMAN)
            .args("build --format htb --only KRPvK --dir t".split(' '))
            .current_dir(folder)
            .spawn()
            .unwrap();
        while !folder.join("t/.krpk.htb.lock").exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).output().unwrap();
        match child.wait().unwrap().code() {
            Some(3) => return,
            Some(0) => fs::remove_file(folder.join("t/krpk.htb")).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    panic!("no signal came while the table was made");
}

#[test]
fn a_job_that_lacks_memory_says_how_much_it_needs() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "build --format htb KK --dir t");
    let refused = run(folder, "build --format htb --only KRvK --dir t --memory 1M");
    refused.refused(4, &["1 MB of memory are too little"]);
    let needed = refused.err.lines().find_map(|line| line.strip_prefix("needs-memory-bytes: "));
    let needed: u64 = needed.unwrap().parse().unwrap();
    assert!((40 << 20..200 << 20).contains(&needed), "{needed}");
    succeeds(folder, &format!("build --format htb --only KRvK --dir t --memory {}M", needed >> 20));
    // Other commands end as they always did.
    run(folder, "build --format htb KQvK --dir t --memory 1M")
        .refused(1, &["1 MB of memory are too little"]);
}
