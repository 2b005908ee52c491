//! Tables of complete endings that have who wins and no distances.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{SharedFolder, copy_of, names, run, run_with, unpacked};

const ENDINGS: &str = "KRvKN KPvK";

const KINDS: [(&str, &str); 5] = [
    ("distances", "--format htb"),
    ("htb", "--outcomes=only --format htb"),
    ("fast", "--outcomes=only --profile fast"),
    ("small", "--outcomes=only"),
    ("paired", "--outcomes=only --profile paired"),
];

/// The folder of the tables of a kind.
fn made(kind: &'static str) -> &'static Path {
    static MADE: [SharedFolder; KINDS.len()] = [const { SharedFolder::new() }; KINDS.len()];
    let number = KINDS.iter().position(|&(name, _)| name == kind).unwrap();
    let options = KINDS[number].1;
    MADE[number].made_by(&format!("build {ENDINGS} --dir . --reproducible {options}"))
}

fn without_distances() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|&(name, _)| name).skip(1)
}

fn probed(folder: &Path, fen: &str) -> Value {
    let folder = folder.display().to_string();
    let answer = run_with(Path::new("/"), &["probe", "--dir", &folder, "--json", fen], "");
    assert_eq!(answer.code, 0, "{fen}: {}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

/// White mates in 15.
const WON: &str = "8/8/8/4k3/8/8/2KR2n1/8 w - - 0 1";

/// Both sides to move, colours exchanged, promotions, mate and stalemate.
const POSITIONS: [&str; 8] = [
    WON,
    "8/8/4k3/8/2R5/8/3n4/1K6 w - - 0 1",
    "8/8/4K3/8/2r5/3N4/8/1k6 w - - 0 1",
    "8/8/4k3/8/2R5/3n4/8/1K6 b - - 0 1",
    "7k/5K2/6R1/8/8/8/8/5n2 b - - 0 1",
    "1k1R4/8/1K6/8/8/8/8/8 b - - 0 1",
    "k7/P7/K7/8/8/8/8/8 b - - 0 1",
    "8/8/8/8/8/k7/5p2/1K6 w - - 0 1",
];

#[test]
fn zugzwangs_are_those_of_tables_with_distances() {
    let counted = |kind| {
        let listed = run(made(kind), "list KRvKN --zugzwang mutual --count --json");
        assert_eq!(listed.code, 0, "{kind}: {}", listed.err);
        let counts = listed.json();
        [counts["positions"].clone(), counts["kinds"].clone()]
    };
    let distances = counted("distances");
    assert_eq!(distances[0], 18);
    for kind in without_distances() {
        assert_eq!(counted(kind), distances, "{kind}");
    }
}

#[test]
fn answers_say_who_wins_and_no_distance() {
    for fen in POSITIONS {
        let distances = probed(made("distances"), fen);
        for kind in without_distances() {
            let outcomes = probed(made(kind), fen);
            assert_eq!(outcomes["category"], distances["category"], "{kind} {fen}");
            // That of a draw or of mate on the board is 0.
            let told = outcomes["dtm"].is_null() || distances["dtm"] == 0;
            assert!(told, "{kind} {fen}: {}", outcomes["dtm"]);
            let sorted = |answer: &Value| {
                let moves = answer["moves"].as_array().unwrap().iter();
                let mut moves: Vec<_> =
                    moves.map(|m| format!("{} {}", m["uci"], m["category"])).collect();
                moves.sort();
                moves
            };
            assert_eq!(sorted(&outcomes), sorted(&distances), "{kind} {fen}");
        }
    }
}

/// Every entry, against the distances, whose outcomes are written by another way.
#[test]
fn every_entry_is_the_outcome_of_the_distance() {
    let distances = copy_of(made("distances"));
    for name in names(made("distances")) {
        let stem = name.strip_suffix(".htb").unwrap();
        run(distances.path(), &format!("convert {name} -o {stem}-basic.htb --format basic")).good();
        let expected = unpacked(&distances.path().join(format!("{stem}-basic.htb"))).1;
        for kind in without_distances() {
            let inside = copy_of(made(kind));
            let table =
                names(inside.path()).into_iter().find(|n| n.starts_with(&format!("{stem}.")));
            let table = table.unwrap();
            run(inside.path(), &format!("convert {table} -o back.htb")).good();
            let (header, entries) = unpacked(&inside.path().join("back.htb"));
            assert!(header.contains("<basic/>"), "{kind} {name}: {header}");
            assert!(entries == expected, "{kind} {name}");
        }
    }
}

#[test]
fn they_are_right_by_their_successors_and_counted_alike() {
    for name in ["KRvKN", "KPvK"] {
        let stats = |kind| run(made(kind), &format!("stats {name} --dir . --json")).json();
        let distances = stats("distances");
        for kind in without_distances() {
            run(made(kind), &format!("verify {name} --dir .")).good();
            let outcomes = stats(kind);
            for side in ["white_to_move", "black_to_move"] {
                for count in ["legal", "won", "drawn", "lost"] {
                    assert_eq!(outcomes[side][count], distances[side][count], "{kind} {name}");
                }
            }
        }
    }
}

#[test]
fn each_is_smaller_than_what_says_more() {
    let size = |kind| {
        let files = names(made(kind)).into_iter();
        files.map(|name| fs::metadata(made(kind).join(name)).unwrap().len()).sum::<u64>()
    };
    let sizes = ["small", "paired", "fast", "htb", "distances"].map(size);
    assert!(sizes.is_sorted(), "{sizes:?}");
}

/// Converted they are the files that are built; and other formats cannot be had.
#[test]
fn they_are_made_of_distances_too() {
    let folder = copy_of(made("distances"));
    let inside = folder.path();
    for name in ["krk", "knk", "kpk"] {
        let built = names(made("fast")).contains(&format!("{name}.hbf"));
        assert!(built, "{name}");
        run(inside, &format!("convert {name}.htb -o {name}.hbf --outcomes=only")).good();
        let [own, built] =
            [inside, made("fast")].map(|f| fs::metadata(f.join(format!("{name}.hbf"))));
        // Their headers tell where they come from.
        let [own, built] = [own, built].map(|file| file.unwrap().len());
        assert!(own.abs_diff(built) < 400, "{name}: {own} {built}");
    }
    run(inside, "verify krk.hbf").good();
    let refused = run(inside, "convert krk.htb -o other.hbf --outcomes=only --format dtm");
    refused.refused(2, &["--outcomes=only is the format basic"]);
    let refused = run(inside, "convert krkn.htb -o other.htb --outcomes=only --bits 9");
    refused.refused(2, &["--outcomes=only is the format basic, and --bits is for distances"]);
    let outcomes = copy_of(made("fast"));
    run(outcomes.path(), "convert krk.hbf -o distances.htb --format dtm")
        .refused(1, &["holds no distances"]);
}

/// Who asks for distances is not served with outcomes; who asks for outcomes is with distances.
#[test]
fn what_says_less_does_not_stand_for_more() {
    let folder = copy_of(made("fast"));
    let inside = folder.path();
    let refused = run(inside, "build KRvKN --dir . --format hbf");
    refused.refused(1, &["is no plain table of distances to mate"]);
    let kept = run(inside, "build KRvKN --dir . --outcomes=only");
    assert!(kept.out.lines().all(|line| line.ends_with(": kept")), "{}", kept.out);

    // A position's own answer has a distance.
    let solved = run_with(inside, &["solve", "--dir", ".", WON, "--json"], "");
    assert_eq!(solved.code, 0, "{}", solved.err);
    assert_eq!(solved.json()["dtm"], 29);

    let distances = copy_of(made("distances"));
    let kept = run(distances.path(), "build --format htb KRvKN --dir . --outcomes=only");
    assert!(kept.out.lines().all(|line| line.ends_with(": kept")), "{}", kept.out);
}

/// A game without moves says why it has none.
#[test]
fn a_line_that_no_table_counts_says_so() {
    let line = run_with(made("fast"), &["line", "--dir", ".", WON], "");
    assert_eq!(line.code, 0, "{}", line.err);
    assert!(line.out.contains("White wins"), "{}", line.out);
    assert!(line.err.contains("the line ends where no table tells the best move"), "{}", line.err);
    let counted = run_with(made("distances"), &["line", "--dir", ".", WON], "");
    assert_eq!((counted.code, counted.err.as_str()), (0, ""));
}

/// The jobs of a plan make the same.
#[test]
fn jobs_make_them_too() {
    let folder = tempfile::TempDir::new().unwrap();
    let inside = folder.path();
    let options = "--format hbf --profile small --outcomes=only";
    let jobs = run(inside, &format!("plan KRvKN --dir . {options} --run -j 2"));
    assert_eq!(jobs.code, 0, "{}", jobs.err);
    let [jobs, built] =
        [inside, made("small")].map(|f| fs::metadata(f.join("krkn.hbf")).unwrap().len());
    // The headers name their command lines.
    assert!(jobs.abs_diff(built) < 300, "{jobs} {built}");
    let kept = run(inside, &format!("build KRvKN --dir . {options}"));
    assert!(kept.out.lines().all(|line| line.ends_with(": kept")), "{}", kept.out);
}

/// Parts of an ending, and the one table that they become.
#[test]
fn parts_become_one_table() {
    let folder = tempfile::TempDir::new().unwrap();
    let inside = folder.path();
    for options in ["--outcomes=only --format htb", "--outcomes=only"] {
        let jobs = run(inside, &format!("plan KPvK --dir . --parts {options} --run -j 2"));
        assert_eq!(jobs.code, 0, "{options}: {}", jobs.err);
    }
    let entries = |table: &str| {
        run(inside, &format!("convert {table} -o back.htb")).good();
        unpacked(&inside.join("back.htb")).1
    };
    let whole = unpacked(&made("htb").join("kpk.htb")).1;
    assert!(entries("kpk.htb") == whole && entries("kpk.hbf") == whole);
}

/// A file is not made beside which nothing is that it leans on.
#[test]
fn what_is_leant_on_has_to_be_there() {
    let folder = copy_of(made("distances"));
    let inside = folder.path();
    fs::create_dir(inside.join("apart")).unwrap();
    let convert = "convert krkn.htb -o apart/krkn.hbf --outcomes=only";
    let refused = run(inside, &format!("{convert} --profile small"));
    refused.refused(1, &["need the table of"]);
    assert!(names(&inside.join("apart")).is_empty());
    run(inside, convert).good();
    for options in ["--format basic", "--outcomes"] {
        let table = format!("convert apart/krkn.hbf -o apart/other.hbf --outcomes {options}");
        let table = table.replace("--outcomes --outcomes", "--outcomes");
        run(inside, &table).refused(1, &["it is to have no distances"]);
    }
}

/// One that claims less than all, of a control file, is stored by index; so is one whose tables
/// behind captures en passant lie elsewhere.
#[test]
fn control_files_of_outcomes_say_no_more_than_they_know() {
    let folder = copy_of(made("htb"));
    let inside = folder.path();
    let control = |name: &str, more: &str| {
        let text = format!(
            r#"<tablebase><piece color="white" type="king"/><piece color="black" type="king"/>
            <piece color="white" type="pawn"/>{more}<basic/><output filename="{name}"/></tablebase>"#
        );
        fs::write(inside.join("control.xml"), text).unwrap();
        run(inside, "build control.xml --dir .")
    };
    let behind = ["kqk", "krk", "kbk", "knk", "kk"]
        .map(|table| format!(r#"<futurebase filename="{table}.htb"/>"#));
    let made = control("cells.hbf", &behind.concat());
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(!made.err.contains("stored by index"), "{}", made.err);
    let fewer = fs::metadata(inside.join("cells.hbf")).unwrap().len();
    let pruned = r#"<prune-enable color="white" type="concede"/>
        <prune color="white" move="P=Q" type="concede"/>"#;
    let made = control("entries.hbf", &format!("{}{pruned}", behind[1..].concat()));
    assert_eq!(made.code, 0, "{}", made.err);
    let stats = run(inside, "verify entries.hbf --dir .");
    assert_eq!(stats.code, 0, "{}", stats.err);
    assert!(fs::metadata(inside.join("entries.hbf")).unwrap().len() > fewer);
}

/// Whichever folder comes first: the tables with distances answer where both have the position.
#[test]
fn distances_are_asked_before_outcomes() {
    let [distances, outcomes] = ["distances", "small"].map(|kind| made(kind).display().to_string());
    let analysed = |path: &str| {
        let position = format!("position fen {WON}");
        let input = format!(
            "setoption name HoffmanPath value {path}\n{position}\ngo depth 1\nisready\nquit\n"
        );
        let told = run_with(Path::new("/"), &["uci"], &input);
        assert_eq!(told.code, 0, "{}", told.err);
        let line = told.out.lines().find(|line| line.contains("score")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", told.out))
    };
    let expected = analysed(&distances);
    assert!(expected.contains("score mate"), "{expected}");
    assert!(!analysed(&outcomes).contains("score mate"));
    for path in [format!("{outcomes};{distances}"), format!("{distances};{outcomes}")] {
        assert_eq!(analysed(&path), expected, "{path}");
    }
}
