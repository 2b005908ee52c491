//! Endings with pawns made in parts and joined: the same tables as those made at once, and what is
//! refused.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{falsify, names, run, succeeds};

const HOFFMAN: &str = env!("CARGO_BIN_EXE_hoffman");

/// The files of a folder whose names end like this, with their bytes.
fn files(folder: &Path, ending: &str) -> BTreeMap<String, Vec<u8>> {
    let all = names(folder).into_iter().filter(|name| name.ends_with(ending));
    all.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

/// Fails unless the tables of whole endings in a folder are those that one `hoffman build` makes,
/// byte by byte.
#[track_caller]
fn assert_as_built(folder: &Path, what: &str) {
    let reference = TempDir::new().unwrap();
    succeeds(reference.path(), &format!("build --format htb {what} --dir t --reproducible"));
    let mut made = files(&folder.join("t"), ".htb");
    made.retain(|name, _| !name.contains('-'));
    let built = files(&reference.path().join("t"), ".htb");
    assert_eq!(made.keys().collect::<Vec<_>>(), built.keys().collect::<Vec<_>>());
    for (name, bytes) in &built {
        assert!(made[name] == *bytes, "{name} differs");
    }
}

/// A folder with what KPvK is made from, and its four parts.
fn parts_of_kpk() -> TempDir {
    let folder = TempDir::new().unwrap();
    succeeds(folder.path(), "build --format htb KQvK KRvK KBvK KNvK --dir t");
    for part in ["a2+", "b2+", "c2+", "d2+"] {
        succeeds(
            folder.path(),
            &format!("build --format htb --only KPvK-{part} --dir t --reproducible"),
        );
    }
    folder
}

/// Changes a byte in the middle of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

// ------------------------------------------------------------------------------------------ plans

#[test]
fn an_ending_made_in_parts_by_processes_is_the_same_file() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let line = "plan --format htb KPvK --parts --run -j 2 --dir t";
    let made = succeeds(folder, line);
    let joined =
        "t/kpk.htb: written, longest win with White to move 28 moves, with Black to move none";
    assert_eq!(made.out.lines().last(), Some(joined));
    assert!(made.out.contains("t/kpk-d2+.htb: written"), "{}", made.out);
    assert_as_built(folder, "KPvK");

    let receipt = fs::read(folder.join("t/receipts/kpk.htb.json")).unwrap();
    let receipt: Value = serde_json::from_slice(&receipt).unwrap();
    let inputs: Vec<&str> = receipt["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["file"].as_str().unwrap())
        .collect();
    assert_eq!(inputs, ["t/kpk-a2+.htb", "t/kpk-b2+.htb", "t/kpk-c2+.htb", "t/kpk-d2+.htb"]);

    let kept = succeeds(folder, line);
    assert!(kept.out.lines().all(|line| line.ends_with(": kept")), "{}", kept.out);

    // A part that is gone is made again, and as it is the same file the table is kept.
    fs::remove_file(folder.join("t/kpk-b2+.htb")).unwrap();
    let again = succeeds(folder, line);
    let written: Vec<&str> = again.out.lines().filter(|line| !line.ends_with("kept")).collect();
    assert!(
        written.len() == 1 && written[0].starts_with("t/kpk-b2+.htb: written"),
        "{}",
        again.out
    );
}

/// Makes an ending in parts, behind which everything is made at once, two parts at a time.
#[track_caller]
fn assert_is_joined_as_built(ending: &str, parts: usize) {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, &format!("build --format htb {ending} --dir t --reproducible"));
    let name = format!("{}.htb", ending.to_lowercase().replace('v', ""));
    fs::rename(folder.join("t").join(&name), folder.join("whole.htb")).unwrap();

    let plan =
        succeeds(folder, &format!("plan --format htb {ending} --parts --json --dir t")).json();
    let jobs = plan["jobs"].as_array().unwrap().iter();
    let own = jobs.filter(|job| job["material"] == ending);
    let lines: Vec<String> = own
        .map(|job| {
            let words = job["command"].as_array().unwrap().iter().skip(1);
            words.map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let (join, builds) = lines.split_last().unwrap();
    assert_eq!(builds.len(), parts);
    std::thread::scope(|threads| {
        for half in builds.chunks(parts.div_ceil(2)) {
            threads.spawn(move || half.iter().for_each(|line| drop(succeeds(folder, line))));
        }
    });
    succeeds(folder, join);
    let joined = fs::read(folder.join("t").join(&name)).unwrap();
    assert!(joined == fs::read(folder.join("whole.htb")).unwrap(), "{name} differs");
}

/// Its slices stand for images with colours exchanged, and have en passant rights.
#[test]
fn an_ending_with_a_pawn_of_each_colour_made_in_parts_is_the_same_file() {
    assert_is_joined_as_built("KPvKP", 20);
}

/// Pawns of one colour share files, and parts that are their own images have positions twice.
#[test]
#[ignore = "slow"]
fn an_ending_with_two_pawns_of_a_colour_made_in_parts_is_the_same_file() {
    assert_is_joined_as_built("KPPvK", 20);
}

/// Nine endings of five men in parts, and what is behind them, by eight processes at a time.
#[test]
#[ignore = "slow: some minutes"]
fn an_ending_of_five_men_made_in_parts_by_eight_processes_is_the_same_file() {
    let folder = TempDir::new().unwrap();
    succeeds(folder.path(), "plan --format htb KBPvKP --parts --run -j 8 --dir t");
    assert_as_built(folder.path(), "KBPvKP");
}

#[test]
fn a_graph_has_parts_of_the_largest_endings_and_joins_them() {
    let folder = TempDir::new().unwrap();
    let plan = succeeds(folder.path(), "plan --format htb KPPvKP --parts --json --dir t").json();
    let jobs = plan["jobs"].as_array().unwrap();
    let of = |ending: &str| jobs.iter().filter(|job| job["material"] == ending).count();
    assert_eq!((of("KPPvKP"), of("KQPvKP"), of("KPPvK"), of("KQQvKQ")), (145, 33, 1, 1));
    let last = jobs.last().unwrap();
    assert_eq!((&last["output"], &last["joined"]), (&"t/kppkp.htb".into(), &true.into()));
    assert_eq!(last["inputs"].as_array().unwrap().len(), 144);
    assert_eq!(last["command"][1], "join");
    let part = jobs.iter().find(|job| job["part"] == "a2+-b2+-a7+").unwrap();
    assert_eq!(part["output"], "t/kppkp-a2+-b2+-a7+.htb");
    assert_eq!(part["command"][3], "KPPvKP-a2+-b2+-a7+");
    assert!(part["inputs"].as_array().unwrap().contains(&"t/kqpkp.htb".into()));

    for form in ["makefile", "slurm", "snakefile"] {
        let text =
            succeeds(folder.path(), &format!("plan --format htb KPvK --parts --{form} --dir t"))
                .out
                .replace("{params.folder}", "t");
        for words in
            ["build --only KPvK-c2+ --dir t --format htb", "join KPvK --dir t --format htb"]
        {
            assert!(text.contains(words), "{form}: {text}");
        }
    }
    run(folder.path(), "plan --format htb KPvK --parts").refused(2, &["--parts", "--json"]);
    run(folder.path(), "plan 8/8/8/8/8/1k6/1p6/1K6 w - - 0 1 --parts --json")
        .refused(2, &["--parts", "endings"]);
    run(folder.path(), "plan race.xml --parts --json").refused(2, &["--parts=N"]);
}

#[test]
fn snakemake_accepts_the_graph_of_parts() {
    let found = Command::new("snakemake").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT TESTED: there is no snakemake");
        return;
    }
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let snakefile = succeeds(folder, "plan --format htb KPvKP --parts --snakefile --dir t").out;
    fs::write(folder.join("Snakefile"), snakefile).unwrap();
    let output = Command::new("snakemake")
        .args(["--snakefile", "Snakefile", "-j", "2", "--dry-run", "--quiet", "rules"])
        .args(["--config", &format!("hoffman={HOFFMAN}")])
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
    assert!(output.status.success(), "{out}{err}");
}

// ------------------------------------------------------------------------------------------ parts

#[test]
fn parts_that_are_named_may_overlap_and_lie_anywhere() {
    let folder = parts_of_kpk();
    let folder = folder.path();
    succeeds(folder, "build --format htb KPvK --dir whole --reproducible");
    // On the sixth rank the pawn of d2+ stands, too; the name says where its way begins.
    for part in ["c2+d2+", "a6+d6+"] {
        succeeds(folder, &format!("build --format htb --only kpk-{part}.htb --dir t"));
    }
    fs::create_dir(folder.join("other")).unwrap();
    fs::rename(folder.join("t/kpk-a2+.htb"), folder.join("other/first.htb")).unwrap();
    let parts = "other/first.htb t/kpk-b2+.htb t/kpk-c2+d2+.htb";
    succeeds(folder, &format!("join {parts} -o new/a.htb --reproducible"));
    let whole = fs::read(folder.join("whole/kpk.htb")).unwrap();
    assert!(fs::read(folder.join("new/a.htb")).unwrap() == whole);

    // The ending alone says where its parts are.
    fs::copy(folder.join("other/first.htb"), folder.join("t/kpk-a2+.htb")).unwrap();
    for (named, dir) in [("new/c.htb", "--dir t"), ("t/any.htb", "")] {
        succeeds(folder, &format!("join KPvK {dir} -o {named} --reproducible"));
        assert!(fs::read(folder.join(named)).unwrap() == whole, "{named}");
    }
    fs::remove_file(folder.join("t/kpk-a2+.htb")).unwrap();

    let overlapping = format!("join t/kpk-a6+d6+.htb {parts} -o new/b.htb --reproducible");
    succeeds(folder, &overlapping);
    assert_eq!(succeeds(folder, &overlapping).out, "new/b.htb: kept\n");
    // The moves of overlapping parts cannot be told from their headers; all entries are the same.
    let moved = succeeds(folder, "convert new/b.htb -o b.hbf").out;
    assert!(moved.contains("b.hbf"), "{moved}");
    let report = succeeds(folder, "verify new/b.htb --dir t").out;
    assert!(report.contains(": ok, "), "{report}");

    // In the block format, and from parts in it.
    succeeds(folder, "build --only KPvK-a2+ --dir t --format hbf --profile fast");
    succeeds(folder, "join KPvK --dir t --format hbf --profile fast --reproducible --memory 64M");
    succeeds(folder, "build KPvK --dir blocks --format hbf --profile fast --reproducible");
    let blocks = fs::read(folder.join("blocks/kpk.hbf")).unwrap();
    assert!(fs::read(folder.join("t/kpk.hbf")).unwrap() == blocks);
}

#[test]
fn what_is_not_the_whole_ending_is_refused() {
    let folder = parts_of_kpk();
    let folder = folder.path();
    let parts = "t/kpk-a2+.htb t/kpk-b2+.htb t/kpk-c2+.htb";
    let words =
        ["new.htb cannot be made", "6 of its 24 pawn structures", "kpk-d2+.htb", "white pawn on d"];
    run(folder, &format!("join {parts} -o new.htb")).refused(1, &words);
    run(folder, &format!("join {parts} t/krk.htb -o new.htb"))
        .refused(1, &["t/krk.htb: holds KRvK, not KPvK"]);
    run(folder, "join t/krk.htb -o new.htb").refused(1, &["KRvK has no pawns"]);
    run(folder, "join --format htb KRvK --dir t").refused(3, &["t/krk.parts is not there"]);
    run(folder, &format!("join {parts} t/kpk-e2+.htb -o new.htb"))
        .refused(3, &["new.htb cannot be made: t/kpk-e2+.htb is not there"]);
    run(folder, &format!("join {parts}")).refused(2, &["-o"]);

    fs::remove_file(folder.join("t/kpk-d2+.htb")).unwrap();
    run(folder, "join --format htb KPvK --dir t")
        .refused(3, &["t/kpk.htb cannot be made: t/kpk-d2+.htb is not there"]);
    assert!(!folder.join("new.htb").exists() && !folder.join("t/kpk.htb").exists());
}

#[test]
fn parts_that_are_no_plain_tables_are_refused() {
    let folder = parts_of_kpk();
    let folder = folder.path();
    let rest = "t/kpk-b2+.htb t/kpk-c2+.htb t/kpk-d2+.htb -o new.htb";
    succeeds(folder, "convert t/kpk-a2+.htb -o basic.htb --format basic");
    run(folder, &format!("join basic.htb {rest}"))
        .refused(1, &["basic.htb: is no plain table of distances to mate"]);

    let behind = ["kk", "kqk", "krk", "kbk", "knk"];
    let behind = behind.map(|name| format!("<futurebase filename=\"t/{name}.htb\"/>")).concat();
    let family = "<piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>\
        <pawngen white-pawn-locations=\"a2\" black-pawn-locations=\"\" white-pawns-required=\"1\" \
        black-pawns-required=\"0\"/>";
    generate(folder, "family", &format!("{family}{behind}"));
    run(folder, &format!("join {} family.htb", rest.replace("-o new.htb", "-o other.htb")))
        .refused(1, &["family.htb: is one of a family of pawn structures (pawngen)"]);
    run(folder, &format!("join family.htb {rest}"))
        .refused(1, &["t/kpk-b2+.htb: is not made of the pawn structures of a <pawngen>"]);

    // Where its king goes off its squares, another table of the same men goes on.
    succeeds(folder, "join --format htb KPvK --dir t");
    let some = "<piece color=\"white\" type=\"king\" location=\"a1-h6\"/>\
        <piece color=\"black\" type=\"king\"/><piece color=\"white\" type=\"pawn\" location=\"a2+\"/>\
        <futurebase filename=\"t/kpk.htb\"/>";
    let squares: Vec<String> =
        (1..=6).flat_map(|rank| ('a'..='h').map(move |file| format!("{file}{rank}"))).collect();
    let some = some.replace("a1-h6", &squares.join(" "));
    generate(folder, "some", &format!("{some}{behind}"));
    run(folder, &format!("join some.htb {rest}"))
        .refused(1, &["some.htb: holds other men than pawns on some squares only"]);
}

/// Makes the table of a control file with these elements.
#[track_caller]
fn generate(folder: &Path, name: &str, elements: &str) {
    let text = format!("<tablebase><dtm/>{elements}<output filename=\"{name}.htb\"/></tablebase>");
    fs::write(folder.join(format!("{name}.xml")), text).unwrap();
    succeeds(folder, &format!("build {name}.xml"));
}

/// One of two tables with the same positions has other entries, and is whole.
#[test]
fn parts_that_disagree_are_refused() {
    let folder = parts_of_kpk();
    let folder = folder.path();
    succeeds(folder, "build --format htb --only KPvK-a6+ --dir t");
    falsify(&folder.join("t/kpk-a6+.htb"));
    let words = ["t/kpk-a6+.htb: has another value than t/kpk-a2+.htb for ", " w - -"];
    let parts = "t/kpk-a2+.htb t/kpk-b2+.htb t/kpk-c2+.htb t/kpk-d2+.htb t/kpk-a6+.htb";
    run(folder, &format!("join {parts} -o new.htb")).refused(1, &words);
    assert!(!folder.join("new.htb").exists());
}

#[test]
fn damaged_parts_and_files_of_others_are_refused() {
    let folder = parts_of_kpk();
    let folder = folder.path();
    fs::write(folder.join("t/kpk.htb"), "mine").unwrap();
    run(folder, "join --format htb KPvK --dir t").refused(1, &["t/kpk.htb", "not overwritten"]);
    assert_eq!(fs::read(folder.join("t/kpk.htb")).unwrap(), b"mine");
    // Nor does a part become the table.
    run(folder, "join KPvK --dir t -o t/kpk-a2+.htb")
        .refused(1, &["t/kpk-a2+.htb", "not overwritten"]);
    fs::remove_file(folder.join("t/kpk.htb")).unwrap();

    damage(&folder.join("t/kpk-b2+.htb"));
    run(folder, "join --format htb KPvK --dir t").refused(1, &["t/kpk-b2+.htb", "damaged"]);
    assert!(!folder.join("t/kpk.htb").exists());

    // A damaged table of ours is made again.
    succeeds(folder, "build --format htb --only KPvK-b2+ --dir t --reproducible");
    succeeds(folder, "join --format htb KPvK --dir t --reproducible");
    let whole = fs::read(folder.join("t/kpk.htb")).unwrap();
    damage(&folder.join("t/kpk.htb"));
    let again = succeeds(folder, "join --format htb KPvK --dir t --reproducible");
    assert!(again.out.starts_with("t/kpk.htb: written"), "{}", again.out);
    assert!(fs::read(folder.join("t/kpk.htb")).unwrap() == whole);
}
