//! Verification as jobs: each checks a table, and its file says that this was done.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{falsify, names, run, succeeds};

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn every_table_of_a_plan_is_verified_once() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let line = "plan --format htb KPvK --verify 500 --run -j 2 --dir t";
    let first = succeeds(folder, line).out;
    // Two bare kings have fewer.
    assert_eq!(first.matches(": ok, 500 of ").count(), 5, "{first}");
    let mut reports = names(&folder.join("t/verified"));
    reports.sort();
    let tables = ["kbk", "kk", "knk", "kpk", "kqk", "krk"];
    assert_eq!(reports, tables.map(|name| format!("{name}.htb.json")));
    let report = json(&folder.join("t/verified/kpk.htb.json"));
    assert_eq!((&report["sample"], &report["found"]["different"]), (&500.into(), &0.into()));
    assert_eq!(
        report["table"]["sha256"],
        json(&folder.join("t/receipts/kpk.htb.json"))["output"]["sha256"]
    );

    let second = succeeds(folder, line).out;
    assert_eq!(second.matches(": verified before").count(), 6, "{second}");
    // More entries than before are something new, fewer are not.
    let verify = |entries: &str| {
        let line = format!("verify t/krk.htb {entries} --report t/verified/krk.htb.json");
        succeeds(folder, &line).out
    };
    assert!(verify("--sample 499").contains("verified before"));
    assert!(verify("--sample 501").contains(": ok, 501 of "));
    assert!(verify("").contains(": ok, "));
    assert!(verify("").contains("verified before"));
    assert!(verify("--sample 100000").contains("verified before"));
}

#[test]
fn jobs_that_verify_are_planned_for_every_engine() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let plan = succeeds(folder, "plan --format htb KQvK --verify 9 --json --dir t").json();
    let jobs = plan["jobs"].as_array().unwrap();
    let outputs: Vec<_> = jobs.iter().map(|job| job["output"].as_str().unwrap()).collect();
    let expected = ["t/kk.htb", "t/kqk.htb", "t/verified/kk.htb.json", "t/verified/kqk.htb.json"];
    assert_eq!(outputs, expected);
    let last = &jobs[3];
    assert_eq!((&last["verifies"], &last["sample"]), (&"t/kqk.htb".into(), &9.into()));
    assert_eq!(last["inputs"], serde_json::json!(["t/kqk.htb", "t/kk.htb"]));
    assert_eq!(last["log"], "t/logs/kqk.htb.verified.log");

    let written = |how: &str| {
        succeeds(folder, &format!("plan --format htb KQvK --verify 9 {how} --dir t")).out
    };
    let command = "verify t/kqk.htb --sample 9 --report t/verified/kqk.htb.json --dir t";
    for how in ["--makefile", "--slurm"] {
        assert!(written(how).contains(command), "{how}: {}", written(how));
    }
    let command = "verify {input[0]} --sample 9 --report {output} --dir {params.folder}";
    assert!(written("--snakefile").contains(command), "{}", written("--snakefile"));
    assert!(
        written("--snakefile").contains("\nrule verify_kqk:\n    input:\n        \"t/kqk.htb\",\n")
    );
    assert!(written("--makefile").contains("\nt/verified/kqk.htb.json: t/kqk.htb t/kk.htb\n"));
}

#[test]
fn make_and_snakemake_verify() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (engine, how, file, arguments) in [
        (
            "make",
            "--makefile",
            "Makefile",
            vec!["-j2".to_owned(), format!("HOFFMAN={}", env!("CARGO_BIN_EXE_hoffman"))],
        ),
        (
            "snakemake",
            "--snakefile",
            "Snakefile",
            vec![
                "-j2".to_owned(),
                "--config".to_owned(),
                format!("hoffman={}", env!("CARGO_BIN_EXE_hoffman")),
            ],
        ),
    ] {
        if Command::new(engine).arg("--version").output().is_err() {
            eprintln!("NOT TESTED: there is no {engine}");
            continue;
        }
        let tables = folder.join(engine);
        fs::create_dir(&tables).unwrap();
        fs::write(
            tables.join(file),
            succeeds(folder, &format!("plan --format htb KQvK --verify 9 {how} --dir t")).out,
        )
        .unwrap();
        let output = Command::new(engine)
            .args(&arguments)
            .current_dir(&tables)
            .env("HOME", folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(json(&tables.join("t/verified/kqk.htb.json"))["found"]["checked"], 9);
    }
}

#[test]
fn wrong_tables_get_no_report() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "plan --format htb KRvK --verify 1000 --run --dir t");
    let (table, report) = (folder.join("t/krk.htb"), folder.join("t/verified/krk.htb.json"));
    falsify(&table);

    // Another file than that of the receipt is no table to begin with.
    let line = "verify t/krk.htb --report t/verified/krk.htb.json";
    run(folder, line).refused(1, &["t/krk.htb", "is not the file of its receipt"]);
    // Somebody who writes wrong entries writes no receipt that tells.
    fs::remove_file(folder.join("t/receipts/krk.htb.json")).unwrap();
    let found = run(folder, line);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(found.out.contains("NOT ok"), "{}", found.out);
    assert!(!report.exists(), "a report of a wrong table");
}

/// Another comparison, or other tables behind this one, are not what the report is of.
#[test]
fn a_report_tells_against_what_it_was_made() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "build --format htb KRvK --dir t");
    fs::create_dir(folder.join("syzygy")).unwrap();
    let line = |how: &str| format!("verify KRvK --dir t --report r.json {how}");
    let verify = |how: &str| succeeds(folder, &line(how));
    assert!(verify("").out.contains(": ok, "));
    assert_eq!(verify("").out, "t/krk.htb: verified before\n");
    assert_eq!(verify("--json").json(), json(&folder.join("r.json"))["found"]);

    assert!(!run(folder, &line("-S syzygy")).out.contains("before"));
    assert!(verify("").out.contains("before"));
    falsify(&folder.join("t/kk.htb"));
    let found = run(folder, &line(""));
    assert!(!found.out.contains("before"), "{}", found.out);
}

#[test]
fn what_cannot_be_verified_is_told() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let early = run(folder, "verify t/krk.htb --report krk.json");
    assert_eq!((early.code, early.out.as_str()), (3, ""), "{}", early.err);
    assert!(early.err.contains("t/krk.htb cannot be verified: it is not there"), "{}", early.err);
    for tables in ["a.htb b.htb", "."] {
        let several = run(folder, &format!("verify {tables} --report krk.json"));
        assert_eq!((several.code, several.out.as_str()), (2, ""), "{}", several.err);
    }
    // What is no report says nothing, and is replaced.
    succeeds(folder, "build --format htb KRvK --dir .");
    fs::write(folder.join("krk.json"), "{\"sample\": null}").unwrap();
    assert!(succeeds(folder, "verify ./krk.htb --report krk.json").out.contains(": ok, "));
    assert_eq!(json(&folder.join("krk.json"))["found"]["ok"], true);
}
