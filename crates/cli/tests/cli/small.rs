//! Tables that lean on those behind captures and promotions: one side to move in the profiles small
//! and smallest, both in the profile paired.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{SharedFolder, copy_of, names, run, run_with, unpacked};

/// Both sides to move of the ending, with colours exchanged, drawn and mated; and of smaller ones.
const POSITIONS: [&str; 8] = [
    "8/8/4k3/8/2R5/8/3n4/1K6 w - - 0 1",
    "8/8/4K3/8/2r5/3N4/8/1k6 w - - 0 1",
    "8/8/4k3/8/2R5/3n4/8/1K6 b - - 0 1",
    "8/8/8/8/8/1K6/7R/k2n4 b - - 0 1",
    "7k/5K2/6R1/8/8/8/8/5n2 b - - 0 1",
    "1k1R4/8/1K6/8/8/8/8/8 b - - 0 1",
    "8/2k5/8/8/8/8/4P3/4K3 w - - 0 1",
    "k7/P7/K7/8/8/8/8/8 b - - 0 1",
];

const ENDINGS: &str = "KRvKN KPvK";

/// The profiles whose files lean on others.
const LEANING: [&str; 3] = ["small", "smallest", "paired"];

/// The folders of the same tables, as `.htb` and in these profiles.
fn made(profile: &'static str) -> &'static Path {
    static MADE: [SharedFolder; 4] = [const { SharedFolder::new() }; 4];
    let (made, format) = match profile {
        "small" => (&MADE[0], "--format hbf --profile small"),
        "smallest" => (&MADE[1], "--format hbf --profile smallest"),
        "paired" => (&MADE[2], "--format hbf --profile paired"),
        _ => (&MADE[3], "--format htb"),
    };
    made.made_by(&format!("build {ENDINGS} --dir . --reproducible {format}"))
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn every_answer_is_that_of_the_whole_table() {
    for fen in POSITIONS {
        for more in ["--json", "--"] {
            let ask = |folder: &Path| {
                let folder = folder.display().to_string();
                let answer = run_with(Path::new("/"), &["probe", "--dir", &folder, more, fen], "");
                assert_eq!(answer.code, 0, "{fen}: {}", answer.err);
                answer.out.replace(".hbf", ".htb").replace(&folder, "")
            };
            for profile in LEANING {
                assert_eq!(ask(made(profile)), ask(made("whole")), "{profile} {fen}");
            }
        }
    }
}

/// Every entry: what is converted back is the table that was built at once.
#[test]
fn converted_back_it_is_the_same_table() {
    let back = TempDir::new().unwrap();
    let leaning = LEANING
        .into_iter()
        .flat_map(|profile| names(made(profile)).into_iter().map(move |name| (profile, name)));
    let mut compared = 0;
    for (profile, name) in leaning {
        let stem = name.strip_suffix(".hbf").unwrap();
        let from = made(profile).join(&name).display().to_string();
        run(back.path(), &format!("convert {from} -o {profile}-{stem}.htb")).good();
        let files = [
            back.path().join(format!("{profile}-{stem}.htb")),
            made("whole").join(format!("{stem}.htb")),
        ];
        let [back, whole] = files.map(|file| unpacked(&file));
        assert!(back == whole, "{profile} {name}");
        compared += 1;
    }
    assert_eq!(compared, LEANING.len() * names(made("whole")).len());
}

#[test]
fn converted_from_whole_tables_it_is_as_small() {
    let inside = copy_of(made("whole"));
    let inside = inside.path();
    for name in names(made("small")) {
        let stem = name.strip_suffix(".hbf").unwrap();
        let converted = run(inside, &format!("convert {stem}.htb -o {name} --profile small"));
        if stem == "kk" {
            converted.refused(1, &["kk.htb: it cannot be stored small or with outcomes apart"]);
            continue;
        }
        converted.good();
        assert!(bytes(inside, &name) == bytes(made("small"), &name), "{name}");
    }
    run(inside, "convert krkn.htb -o fast.hbf").good();
    run(inside, "convert krkn.htb -o paired.hbf --profile paired").good();
    assert!(bytes(inside, "paired.hbf") == bytes(made("paired"), "krkn.hbf"));
    let sizes = ["krkn.hbf", "paired.hbf", "fast.hbf"].map(|name| bytes(inside, name).len());
    let [small, paired, fast] = sizes;
    assert!(small < paired && paired < fast && 2 * small < fast, "{sizes:?}");
    let smallest = bytes(made("smallest"), "krkn.hbf").len();
    assert!(smallest < small, "{smallest} {small}");
}

#[test]
fn commands_for_whole_tables_say_the_same() {
    for command in ["stats", "verify", "list --longest 3"] {
        let ask = |folder: &Path| {
            let told = run(folder, &format!("{command} KRvKN --dir . --json"));
            assert_eq!(told.code, 0, "{command}: {}", told.err);
            let lines = told.out.lines().map(|line| {
                let mut json: serde_json::Value = serde_json::from_str(line).unwrap();
                if let Some(object) = json.as_object_mut() {
                    let of_file = ["seconds", "bytes", "file_bytes"];
                    object.retain(|key, _| !of_file.contains(&key.as_str()));
                }
                json.to_string().replace(".hbf", ".htb")
            });
            lines.collect::<Vec<_>>()
        };
        assert_eq!(ask(made("small")), ask(made("whole")), "{command}");
    }
}

/// A table is made from small ones, in one run and by jobs, and is the same file.
#[test]
fn small_tables_are_futurebases_too() {
    let folder = copy_of(made("small"));
    let inside = folder.path();
    fs::remove_file(inside.join("krkn.hbf")).unwrap();
    let options = "--dir . --reproducible --format hbf --profile small";
    run(inside, &format!("build KRvKN {options} --only krkn.hbf")).good();
    assert!(bytes(inside, "krkn.hbf") == bytes(made("small"), "krkn.hbf"));

    let plan = run(inside, "plan KRvKN --dir jobs --format hbf --profile small --json");
    plan.good();
    assert!(plan.out.contains("small"), "{}", plan.out);
    let jobs = run(inside, "plan KRvKN --dir jobs --format hbf --profile small --run -j 2");
    assert_eq!(jobs.code, 0, "{}", jobs.err);
    let [jobs, made] = [inside.join("jobs"), made("small").to_owned()]
        .map(|folder| bytes(&folder, "krkn.hbf").len());
    // The headers name their command lines.
    assert!(jobs.abs_diff(made) < 200, "{jobs} {made}");
}

#[test]
fn the_plan_tells_what_files_take() {
    let folder = TempDir::new().unwrap();
    let plan = |options: &str| {
        let plan = run(folder.path(), &format!("plan {ENDINGS} --dir . --json {options}"));
        plan.good();
        plan.json()
    };
    let small = plan("--format hbf --profile small");
    let mut compared = 0;
    for table in small["tables"].as_array().unwrap() {
        let name = table["table"].as_str().unwrap();
        let bytes = fs::metadata(made("small").join(name)).unwrap().len();
        assert!(table["bytes_at_most"].as_u64().unwrap() >= bytes, "{table}");
        compared += 1;
    }
    assert_eq!(compared, names(made("small")).len());
    let typically = |plan: &serde_json::Value| plan["bytes_typically"].as_u64().unwrap();
    let [fast, whole] = ["--profile fast", "--format htb"].map(|options| typically(&plan(options)));
    assert!(2 * typically(&small) < fast && 2 * fast < whole);
    assert!(typically(&plan("--profile fast --outcomes")) > fast);
}

#[test]
fn a_table_behind_that_is_missing_or_damaged_is_named() {
    let folder = copy_of(made("small"));
    let inside = folder.path();
    let mut damaged = bytes(inside, "krk.hbf");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(inside.join("krk.hbf"), damaged).unwrap();
    for command in ["stats krkn.hbf", "verify krkn.hbf", "convert krkn.hbf -o back.htb"] {
        run(inside, command)
            .refused(1, &["krkn.hbf: some of its positions need", "krk.hbf: block "]);
    }
    fs::remove_file(inside.join("krk.hbf")).unwrap();
    for command in ["stats krkn.hbf", "convert krkn.hbf -o back.htb"] {
        run(inside, command).refused(1, &["need the table of KRvK"]);
    }
    assert!(!inside.join("back.htb").exists());
    fs::rename(inside.join("krkn.hbf"), inside.join("other.hbf")).unwrap();
    fs::copy(made("whole").join("krkn.htb"), inside.join("krkn.htb")).unwrap();
    let alone = run(inside, "convert krkn.htb -o krkn.hbf --profile small");
    alone.refused(1, &["need the table of KRvK"]);
    assert!(!inside.join("krkn.hbf").exists());
}

#[test]
fn a_profile_is_for_files_that_have_one() {
    let folder = copy_of(made("whole"));
    let inside = folder.path();
    let misused = |line: &str, words: &str| run(inside, line).refused(2, &[words]);
    for command in ["build KRvK --dir .", "plan KRvK --dir .", "join KPvK --dir ."] {
        let words = "--profile and --outcomes=too are for the block format, not for --format htb";
        misused(&format!("{command} --format htb --profile fast"), words);
        misused(&format!("{command} --format htb --outcomes"), words);
        let words = "--compress is for the files of the original program: --format htb";
        misused(&format!("{command} --compress best"), words);
    }
    let words = "what is joined of parts is written in the profile fast";
    misused("plan KPvK --parts --json --dir . --profile small", words);
    misused("join KPvK --dir . --profile paired", "hoffman convert --profile paired rewrites it");
    misused("join KPvK --dir . --profile small", words);
    for options in ["--format htb", "--profile small", "--outcomes=only"] {
        let words = "the format of a control file's table follows from the name of its output";
        misused(&format!("build kqk.xml {options}"), words);
        misused(&format!("plan kqk.xml {options}"), words);
        let words = "the tables of a position have distances and are .htb files";
        misused(&format!("plan 8/8/8/8/8/2k5/8/K6q w - - {options}"), words);
        misused(&format!("build 8/8/8/8/8/2k5/8/K6q w - - --only kqk {options}"), words);
    }
    let refused = run(inside, "convert krk.htb -o other.htb --profile small");
    refused.refused(2, &["--profile and --outcomes=too are for the block format"]);
    run(inside, "convert krk.htb -o flat.htb --index naive --symmetry 1 --format white-wins")
        .good();
    let refused = run(inside, "convert flat.htb -o flat.hbf --profile small");
    refused.refused(
        1,
        &["flat.htb: it cannot be stored small or with outcomes apart: in the block format only"],
    );
}

/// What a small table cannot tell without another one is named.
#[test]
fn a_table_that_is_leant_on_and_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let inside = folder.path();
    fs::copy(made("small").join("krkn.hbf"), inside.join("krkn.hbf")).unwrap();
    for turn in ["w", "b"] {
        let fen = format!("8/8/8/4k3/8/8/2KR2n1/8 {turn} - - 0 1");
        let answer = run_with(inside, &["probe", "--dir", ".", "--json", &fen], "");
        let missing = answer.json()["hoffman"]["missing"].clone();
        assert!(missing.as_array().unwrap().contains(&"krk.htb".into()), "{fen}: {missing}");
    }
}

/// Who wins is stored apart if that is asked for, and answers and entries are the same.
#[test]
fn outcomes_are_stored_apart() {
    let folder = TempDir::new().unwrap();
    let inside = folder.path();
    for profile in ["fast", "small"] {
        let options = format!("--format hbf --profile {profile} --reproducible");
        run(inside, &format!("build KRvK --dir {profile} {options}")).good();
        run(inside, &format!("build KRvK --dir {profile}-apart {options} --outcomes")).good();
        let apart = inside.join(format!("{profile}-apart"));
        let [without, with] =
            [&inside.join(profile), &apart].map(|folder| bytes(folder, "krk.hbf").len());
        assert!(without < with && with < 2 * without, "{profile}: {without} {with}");
        run(&apart, "convert krk.hbf -o krk.htb").good();
        let whole = unpacked(&made("whole").join("krk.htb"));
        assert!(unpacked(&apart.join("krk.htb")) == whole, "{profile}");
        run(&apart, "convert krk.htb -o again.hbf --outcomes").good();
        if profile == "fast" {
            assert!(bytes(&apart, "again.hbf") == bytes(&apart, "krk.hbf"));
        }
    }
    run(inside, "build KPvK --dir parts --format hbf --reproducible").good();
    let part = run(inside, "build --only KPvK-a2+ --dir parts --format hbf --outcomes");
    assert_eq!(part.code, 0, "{}", part.err);
    assert!(part.err.contains("stored by index"), "{}", part.err);
}

/// En passant leads from one side's table into another: all endings of pawn against pawn, which
/// takes a minute.
#[test]
#[ignore = "slow"]
fn pawn_against_pawn_is_the_same_table() {
    let folder = TempDir::new().unwrap();
    let inside = folder.path();
    run(inside, "build KPvKP --dir small --format hbf --profile small --reproducible").good();
    run(inside, "build --format htb KPvKP --dir whole --reproducible").good();
    for name in names(&inside.join("whole")) {
        let stem = name.strip_suffix(".htb").unwrap();
        run(inside, &format!("convert small/{stem}.hbf -o {name}")).good();
        let [back, whole] = [inside.join(&name), inside.join("whole").join(&name)];
        assert!(unpacked(&back) == unpacked(&whole), "{name}");
    }
}

/// What a missing table needs of five men is solved again, as its file would take longer to read;
/// nothing else is written.
#[test]
#[ignore = "slow: endings of five men"]
fn tables_behind_a_missing_one_are_solved_again() {
    let folder = TempDir::new().unwrap();
    let inside = folder.path();
    let build = || {
        let mut program = Command::new(env!("CARGO_BIN_EXE_hoffman"));
        program.args(["build", "KQQPvK", "--dir", ".", "--reproducible"]).env("RUST_LOG", "info");
        let made = program.current_dir(inside).output().unwrap();
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success(), "{said}");
        said
    };
    assert!(!build().contains("solved instead of read"));
    let state = || -> Vec<_> {
        let of = |name: &String| fs::metadata(inside.join(name)).unwrap().modified().unwrap();
        names(inside).iter().map(|name| (name.clone(), bytes(inside, name), of(name))).collect()
    };
    let before = state();
    let missing = ["kqqpk.hbf", "kqqqk.hbf"];
    for name in missing {
        fs::remove_file(inside.join(name)).unwrap();
    }

    let said = build();
    assert!(said.contains("is solved instead of read material=KQQRvK"), "{said}");
    assert!(!said.contains("reading table=./kq"), "{said}");
    for ((name, bytes, modified), now) in before.iter().zip(state()) {
        assert!((name, bytes) == (&now.0, &now.1), "{name}");
        assert_eq!(*modified == now.2, !missing.contains(&name.as_str()), "{name}");
    }

    // Alone it is made from the files that it needs.
    fs::remove_file(inside.join(missing[1])).unwrap();
    run(inside, "build --only KQQQvK --dir . --reproducible").good();
    fs::remove_file(inside.join(missing[0])).unwrap();
    run(inside, "build --only KQQPvK --dir . --reproducible").good();
    for (name, bytes, _) in &before {
        assert!(*bytes == self::bytes(inside, name), "{name}");
    }
}
