//! Tables in the block format: made, converted, and read by every command, in folders that have
//! both formats.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{
    KQK, SharedFolder, copy_into, copy_of, kpkp, names, run, run_with, succeeds, unpacked,
};

/// The endings of the folders: an en passant capture leads from one of them into a smaller one.
const ENDINGS: &str = "KPvKP KRvKN";

/// Positions of them, both sides to move, with colours exchanged, with a right to take en passant,
/// drawn, stalemate, mated.
const POSITIONS: [&str; 12] = [
    "8/8/8/8/8/2k5/8/K6q w - - 0 1",
    "8/8/8/8/8/2k5/7q/K7 b - - 0 1",
    "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
    "4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1",
    "8/8/8/8/2pP4/1k6/8/1K6 b - d3 0 1",
    "8/2k5/8/8/8/8/4P2p/4K3 w - - 0 1",
    "8/8/4k3/8/2R5/8/3n4/1K6 w - - 0 1",
    "8/8/4K3/8/2r5/3N4/8/1k6 w - - 0 1",
    "8/8/4k3/8/2R5/3n4/8/1K6 b - - 0 1",
    "k7/P7/K7/8/8/8/8/8 b - - 0 1",
    "1k1R4/8/1K6/8/8/8/8/8 b - - 0 1",
    "7k/5K2/6R1/8/8/8/8/5n2 b - - 0 1",
];

/// The folder that others are copies of: all tables as `.htb`.
fn packed() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.filled(|folder| {
        copy_into(folder, kpkp());
        run(folder, &format!("build --format htb {ENDINGS} --dir .")).good();
    })
}

/// The same tables, every other one in the block format.
fn mixed() -> &'static Path {
    static MADE: SharedFolder = SharedFolder::new();
    MADE.filled(|folder| {
        for (number, name) in names(packed()).iter().enumerate() {
            let stem = name.strip_suffix(".htb").unwrap();
            let from = packed().join(name).display().to_string();
            // The largest ones and their sub-tables are in different formats.
            if number % 2 == 0 || stem == "kpkp" || stem == "krkn" {
                run(folder, &format!("convert {from} -o {stem}.hbf")).good();
            } else {
                fs::copy(from, folder.join(name)).unwrap();
            }
        }
    })
}

/// An answer without what names files.
fn told(text: &str) -> String {
    text.replace(".hbf", ".htb")
        .replace(&mixed().display().to_string(), &packed().display().to_string())
}

#[test]
fn both_formats_are_in_the_folder() {
    let all = names(mixed());
    let has = |name: &String, suffix| Path::new(name).extension().is_some_and(|end| end == suffix);
    let packed = all.iter().filter(|name| has(name, "htb")).count();
    let blocks = all.iter().filter(|name| has(name, "hbf")).count();
    assert_eq!(packed + blocks, all.len());
    assert_eq!(all.len(), names(self::packed()).len());
    assert!(packed >= 3 && blocks >= 4, "{all:?}");
}

#[test]
fn probe_answers_the_same() {
    for fen in POSITIONS {
        for more in [&["--json"][..], &[]] {
            let ask = |folder: &Path| {
                let mut arguments = vec!["probe"];
                arguments.extend(more);
                arguments.push(fen);
                let folder = folder.display().to_string();
                let arguments = [&["probe", "--dir", &folder], &arguments[1..]].concat();
                let answer = run_with(Path::new("/"), &arguments, "");
                assert_eq!(answer.code, 0, "{fen}: {}", answer.err);
                told(&answer.out)
            };
            assert_eq!(ask(mixed()), ask(packed()), "{fen}");
        }
    }
    // Many on standard input, and from a file that is named.
    let input = POSITIONS.join("\n");
    let ask = |folder: &Path| {
        let answer = run_with(folder, &["probe", "--dir", "."], &input);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""));
        told(&answer.out)
    };
    assert_eq!(ask(mixed()), ask(packed()));
    let named = run(mixed(), "probe krkn.hbf 8/8/4k3/8/2R5/8/3n4/1K6 w - - 0 1 --json");
    named.good();
    assert!(named.json().to_string().contains("krkn.hbf"), "{}", named.out);
}

/// Every position of a table, by its entries.
#[test]
fn converted_back_every_entry_is_the_same() {
    let folder = copy_of(mixed());
    let inside = folder.path();
    fs::create_dir_all(inside.join("back")).unwrap();
    for name in names(inside) {
        let Some(stem) = name.strip_suffix(".hbf") else { continue };
        let back = format!("back/{stem}.htb");
        run(inside, &format!("convert {name} -o {back} --json")).good();
        let original = packed().join(format!("{stem}.htb"));
        assert!(unpacked(&inside.join(back)) == unpacked(&original), "{name}");
    }
}

#[test]
fn stats_and_verify_say_the_same() {
    for ending in ["KPvKP", "KRvKN", "KPvK"] {
        for command in ["stats", "verify"] {
            let ask = |folder: &Path| {
                let told_of = run(folder, &format!("{command} {ending} --dir . --json"));
                assert_eq!(told_of.code, 0, "{command} {ending}: {}", told_of.err);
                let mut json = told_of.json();
                let object = json.as_object_mut().unwrap();
                object.retain(|key, _| !matches!(key.as_str(), "seconds" | "bytes" | "file_bytes"));
                told(&json.to_string())
            };
            assert_eq!(ask(mixed()), ask(packed()), "{command} {ending}");
        }
    }
}

#[test]
fn the_prompt_answers_the_same() {
    let input = format!("{}\nq\n", POSITIONS.join("\n"));
    let ask = |folder: &Path| {
        let tables: Vec<String> = names(folder);
        let mut arguments = vec!["-p"];
        arguments.extend(tables.iter().map(String::as_str));
        let answer = run_with(folder, &arguments, &input);
        assert_eq!(answer.code, 0, "{}", answer.err);
        told(&answer.out)
    };
    assert_eq!(ask(mixed()), ask(packed()));
}

#[test]
fn the_engine_plays_the_same() {
    for fen in POSITIONS {
        let ask = |folder: &Path| {
            let folder = folder.display();
            let input = format!("uci\nisready\nposition fen {fen}\ngo depth 1\nquit\n");
            let answer = run_with(Path::new("/"), &["uci", "--dir", &folder.to_string()], &input);
            assert_eq!(answer.code, 0, "{}", answer.err);
            let moves = answer.out.lines().filter(|line| line.starts_with("bestmove"));
            moves.map(str::to_owned).collect::<Vec<_>>()
        };
        let (one, other) = (ask(mixed()), ask(packed()));
        assert_eq!(one, other, "{fen}");
        assert_eq!(one.len(), 1, "{fen}");
    }
}

#[test]
fn build_uses_what_is_there_and_writes_the_format_asked_for() {
    let folder = copy_of(mixed());
    let inside = folder.path();
    let before = names(inside);
    fs::remove_file(inside.join("kpkp.hbf")).unwrap();
    let build = run(inside, "build KPvKP --dir . --format hbf --profile fast");
    build.good();
    assert!(
        build.out.contains("kpkp.hbf: written, longest win with White to move 33 moves"),
        "{}",
        build.out
    );
    assert_eq!(names(inside), before, "nothing is built a second time in the other format");
    assert_eq!(build.out.matches(": kept").count(), build.out.lines().count() - 1, "{}", build.out);
    // It is what was converted, values and all.
    let verify = run(inside, "verify KPvKP --dir .");
    assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);

    // A table built on one in the block format is the one that is built on the other.
    let other = copy_of(packed());
    fs::remove_file(inside.join("kpkp.hbf")).unwrap();
    fs::remove_file(other.path().join("kpkp.htb")).unwrap();
    for place in [inside, other.path()] {
        run(place, "build --format htb KPvKP --dir .").good();
    }
    let entries = |place: &Path| {
        let flat = run(place, "convert kpkp.htb -o flat.hbf");
        flat.good();
        let stats = run(place, "stats flat.hbf --json");
        stats.good();
        let mut json = stats.json();
        json.as_object_mut().unwrap().remove("file");
        json
    };
    assert_eq!(entries(inside), entries(other.path()));
}

/// Small ones if nothing is said, and either format does for the other one.
#[test]
fn all_three_men_are_built_in_the_block_format() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "build --men 3 --dir tables").good();
    let tables = folder.path().join("tables");
    let expected = ["kbk.hbf", "kk.hbf", "knk.hbf", "kpk.hbf", "kqk.hbf", "krk.hbf"];
    assert_eq!(names(&tables), expected);
    for ending in ["KPvK", "KQvK", "KRvK", "KBvK"] {
        let verify = run(&tables, &format!("verify {ending} --dir ."));
        assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);
    }

    let sizes =
        [("small", "--profile small"), ("fast", "--profile fast")].map(|(name, options)| {
            run(folder.path(), &format!("build --men 3 --dir {name} {options}")).good();
            fs::metadata(folder.path().join(name).join("kpk.hbf")).unwrap().len()
        });
    let usual = fs::metadata(tables.join("kpk.hbf")).unwrap().len();
    // The headers name their command lines.
    assert!(usual.abs_diff(sizes[0]) < 100 && usual < sizes[1], "{usual} {sizes:?}");

    for options in ["--format htb", "--profile fast", ""] {
        let again = run(folder.path(), &format!("build --men 3 --dir tables {options}"));
        again.good();
        assert_eq!(again.out.matches("hbf: kept").count(), 6, "{}", again.out);
        assert_eq!(names(&tables), expected);
    }
    run(folder.path(), "build --men 3 --dir other --format htb").good();
    let kept = run(folder.path(), "build --men 3 --dir other");
    assert_eq!(kept.out.matches("htb: kept").count(), 6, "{}", kept.out);
}

#[test]
fn control_files_write_the_block_format_and_read_it() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), "build --men 2 --dir . --format hbf --profile fast").good();
    assert_eq!(names(folder.path()), ["kk.hbf"]);
    let control = KQK.replace("kqk.htb", "kqk.hbf");
    fs::write(folder.path().join("kqk.xml"), control).unwrap();
    let made = run(folder.path(), "-g kqk.xml");
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(names(folder.path()), ["kk.hbf", "kqk.hbf", "kqk.xml"]);
    let verify = run(folder.path(), "verify kqk.hbf");
    assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);
    let kept = run(folder.path(), "build kqk.xml");
    kept.good();
    assert!(kept.out.contains("kqk.hbf: kept"), "{}", kept.out);

    // A part of the board is stored by index.
    let part = KQK
        .replace("type=\"king\"/>\n   <piece color=\"white\" type=\"queen\"/>", "type=\"king\"/>\n   <piece color=\"white\" type=\"queen\" location=\"a1 b1 c1\"/>")
        .replace("kqk.htb", "part.hbf")
        .replace("   <output", "   <prune-enable color=\"white\" type=\"discard\"/><prune color=\"white\" move=\"Q*\" type=\"discard\"/><output");
    fs::write(folder.path().join("part.xml"), part).unwrap();
    let made = run(folder.path(), "-g part.xml");
    assert_eq!(made.code, 0, "{}", made.err);
    let verify = run(folder.path(), "verify part.hbf");
    assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);
    let refused = run(folder.path(), "build kqk.xml --format hbf --profile fast");
    refused.refused(2, &["follows from the name of its output"]);
}

#[test]
fn of_both_formats_the_htb_counts() {
    let folder = copy_of(packed());
    let inside = folder.path();
    run(inside, "convert krkn.htb -o krkn.hbf").good();
    let answer = |inside: &Path| {
        let probe = run_with(inside, &["probe", "--dir", ".", "--json", POSITIONS[6]], "");
        probe.good();
        probe.json().to_string()
    };
    assert!(answer(inside).contains("krkn.htb"));
    fs::remove_file(inside.join("krkn.htb")).unwrap();
    assert!(answer(inside).contains("krkn.hbf"));
}

#[test]
fn damage_names_the_file_and_the_block() {
    let folder = copy_of(mixed());
    let inside = folder.path();
    let mut bytes = fs::read(inside.join("krkn.hbf")).unwrap();
    let middle = bytes.len() / 4;
    bytes[middle] ^= 1;
    fs::write(inside.join("krkn.hbf"), bytes).unwrap();
    for command in ["verify krkn.hbf", "convert krkn.hbf -o back.htb", "stats krkn.hbf"] {
        run(inside, command).refused(1, &["krkn.hbf: block ", " of stream 0 is damaged"]);
        assert!(!inside.join("back.htb").exists());
    }
    // It is built anew, since it was made as this table.
    let built = run(inside, "build KRvKN --dir . --format hbf --profile fast");
    assert_eq!(built.code, 0, "{}", built.err);
    assert!(built.out.contains("krkn.hbf: written"), "{}", built.out);
    assert!(
        built.err.contains("krkn.hbf: block ") && built.err.contains("building it anew"),
        "{}",
        built.err
    );
}

#[test]
fn a_capture_en_passant_that_leads_nowhere_is_said() {
    let folder = TempDir::new().unwrap();
    let from = mixed().join("kpkp.hbf");
    fs::copy(from, folder.path().join("kpkp.hbf")).unwrap();
    let refused = run(folder.path(), "convert kpkp.hbf -o kpkp.htb");
    refused.refused(
        1,
        &["kpkp.hbf: ", "need the table of KPvK, and there is none beside it that tells as much"],
    );
    // By its entries it needs no other table.
    let alone = packed().join("kpkp.htb").display().to_string();
    let written = run(folder.path(), &format!("convert {alone} -o alone.hbf"));
    assert_eq!(written.code, 0);
    assert!(written.err.contains("alone.hbf: the entries are stored by index: some of its positions need the table of KPvK"), "{}", written.err);
    run(folder.path(), "convert alone.hbf -o kpkp.htb").good();
}

/// Of two files of one name the one that has what is asked for is taken.
#[test]
fn outcomes_alone_do_not_hide_distances() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "build KRvKN --dir .");
    fs::remove_file(folder.join("krkn.hbf")).unwrap();
    succeeds(folder, "convert krk.hbf --format basic -o krk.htb");
    for is_damaged in [false, true] {
        if is_damaged {
            let bytes = fs::read(folder.join("krk.htb")).unwrap();
            fs::write(folder.join("krk.htb"), &bytes[..bytes.len() / 2]).unwrap();
        }
        let counted = succeeds(folder, "stats KRvK --dir .").out;
        assert!(counted.contains("16 moves"), "{counted}");
        for line in ["plot KRvK -o krk.svg", "list KRvK --longest 1", "verify KRvK"] {
            succeeds(folder, &format!("{line} --dir ."));
        }
        let position = "8/8/8/8/8/2k5/8/K6R w - - 0 1";
        let solved = run_with(folder, &["solve", position, "--dir", "."], "");
        assert_eq!(solved.code, 0, "{}", solved.err);
        succeeds(folder, "build --only KRvKN --dir . --format hbf");
        fs::remove_file(folder.join("krkn.hbf")).unwrap();
        succeeds(folder, "build KRvKN --dir .");
        fs::remove_file(folder.join("krkn.hbf")).unwrap();
    }
}

/// A file leans on tables that lie in the folder of tables, not beside it.
#[test]
fn tables_behind_may_be_in_the_folder() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    succeeds(folder, "build KRvKN --dir b");
    fs::create_dir(folder.join("a")).unwrap();
    fs::rename(folder.join("b/krkn.hbf"), folder.join("a/krkn.hbf")).unwrap();
    let position = "8/8/4k3/8/2R5/8/3n4/1K6 w - - 0 1";
    for named in [&["--table", "a/krkn.hbf", "--dir", "b"][..], &["--dir", "a", "--dir", "b"]] {
        let answer = run_with(folder, &[&["probe", position], named].concat(), "");
        answer.good();
        assert!(!answer.out.contains("Missing") && answer.out.contains("Draw"), "{}", answer.out);
    }
    for line in ["verify", "stats", "list --longest 3"] {
        succeeds(folder, &format!("{line} a/krkn.hbf --dir b"));
    }
}
