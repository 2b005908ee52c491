//! Races of pawns from one control file to the answer: expansion, tables, the scores that were
//! published.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{Run, SharedFolder, copy_into, copy_of, kpkp, run_with};

#[track_caller]
fn run(folder: &Path, line: &str) -> Run {
    let run = crate::common::run(folder, line);
    assert_eq!(run.code, 0, "{line}: {}", run.err);
    run
}

#[track_caller]
fn refused(folder: &Path, line: &str, code: i32, words: &[&str]) {
    crate::common::run(folder, line).refused(code, words);
}

/// A folder of its own with some of the examples and some complete endings, in the block format
/// unless told otherwise.
fn folder(examples: &[&str], endings: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    copy_examples(examples, folder.path());
    run(folder.path(), &format!("build {endings} --dir ."));
    folder
}

/// The same with the complete endings that a race of two pawns may become, as `.htb`.
fn two_pawns(examples: &[&str]) -> TempDir {
    static MADE: SharedFolder = SharedFolder::new();
    let made = MADE.filled(|folder| {
        copy_into(folder, kpkp());
        run(folder, "build KPvKP KPPvK KQvKP KQPvK --format htb --dir .");
    });
    let folder = copy_of(made);
    copy_examples(examples, folder.path());
    folder
}

fn copy_examples(examples: &[&str], folder: &Path) {
    for name in examples {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/races").join(name);
        fs::copy(from, folder.join(name)).unwrap();
    }
}

/// The score of a position and the scores of its moves, as the prompt prints them.
fn scores(folder: &Path, tables: &str, fen: &str) -> Vec<(String, String)> {
    let arguments: Vec<&str> = ["-p"].into_iter().chain(tables.split(' ')).collect();
    let answer = run_with(folder, &arguments, &format!("{fen}\n")).out;
    let mut found = Vec::new();
    for line in answer.lines() {
        if let Some((position, score)) = line.trim().split_once(") ") {
            let word = position.split_whitespace().next().unwrap();
            found.push((word.to_owned(), score.to_owned()));
        }
    }
    found
}

#[track_caller]
fn check_scores(found: &[(String, String)], expected: &[(&str, &str)]) {
    for (word, score) in expected {
        let scores: Vec<&str> =
            found.iter().filter(|(w, _)| w == word).map(|(_, s)| s.as_str()).collect();
        assert_eq!(scores, [*score], "{word} in {found:?}");
    }
}

#[test]
fn a_race_is_expanded_and_solved_in_two_stages() {
    let folder = two_pawns(&["two-pawns-queen.xml", "two-pawns.xml"]);
    let folder = folder.path();
    let queen = run(folder, "pawngen two-pawns-queen.xml");
    assert_eq!(queen.out, "KQ0K1 -> kqkp.htb\nKQ1K0 -> kqpk.htb\n");
    assert!(queen.err.contains("1 control file; "), "{}", queen.err);
    let rules = fs::read_to_string(folder.join("two-pawns-queen.mk")).unwrap();
    let rule = "two-pawns-queen-1-1.htb: two-pawns-queen-1-1.xml kqkp.htb kqpk.htb\n\
                \t$(HOFFMAN) -g two-pawns-queen-1-1.xml\n";
    assert!(rules.ends_with(rule), "{rules}");
    run(folder, "-g two-pawns-queen-1-1.xml");
    // What -g made from the same control file is as good.
    let kept = run(folder, "build two-pawns-queen.xml");
    assert_eq!(kept.out, "two-pawns-queen-1-1.htb: kept\n");
    let built = run(folder, "build two-pawns.xml");
    assert_eq!(built.out, "two-pawns-2-1.htb: written, 75454 legal positions\n");
    assert_eq!(run(folder, "build two-pawns.xml").out, "two-pawns-2-1.htb: kept\n");
    for (table, figures) in [
        ("two-pawns-queen-1-1.htb", [1_343_664, 226_632, 994_728, 1684, 918_915, 74_094, 12, -12]),
        ("two-pawns-2-1.htb", [86_688, 3362, 75_454, 6, 63_699, 2099, 33, -33]),
    ] {
        let header = run(folder, &format!("-i {table}")).out;
        let names = [
            "indices",
            "PNTM-mated-positions",
            "legal-positions",
            "stalemate-positions",
            "white-wins-positions",
            "black-wins-positions",
            "max-dtm",
            "min-dtm",
        ];
        for (name, figure) in names.into_iter().zip(figures) {
            assert!(header.contains(&format!("<{name}>{figure}</{name}>")), "{table}: {name}");
        }
    }
    let moves =
        scores(folder, "two-pawns-2-1.htb two-pawns-queen-1-1.htb", "8/8/3p2k1/8/2PP4/8/6K1/8 w");
    let wins = [("Kg2f3", 27), ("Kg2f2", 28), ("Kg2g3", 28), ("Pd4d5", 30)];
    for (word, moves_to_mate) in wins {
        check_scores(&moves, &[(word, &format!("White wins in {moves_to_mate}"))]);
    }
    check_scores(
        &moves,
        &["Kg2h2", "Kg2g1", "Kg2h3", "Kg2f1", "Kg2h1", "Pc4c5"].map(|m| (m, "Draw")),
    );
}

#[test]
fn a_table_is_built_anew_when_its_sources_change() {
    let folder = two_pawns(&["two-pawns-queen.xml"]);
    let folder = folder.path();
    let input = folder.join("two-pawns-queen.xml");
    let text = fs::read_to_string(&input).unwrap();
    let line = "build two-pawns-queen.xml --dir made/here";
    let written = "made/here/two-pawns-queen-1-1.htb: written, 994728 legal positions\n";
    assert_eq!(run(folder, line).out, written);
    assert_eq!(run(folder, line).out, "made/here/two-pawns-queen-1-1.htb: kept\n");
    // Comments do not matter, prunes do.
    fs::write(&input, text.replace("One queen", "A queen")).unwrap();
    assert_eq!(run(folder, line).out, "made/here/two-pawns-queen-1-1.htb: kept\n");
    fs::write(&input, text.replace("?xQ", "[KP]xQ")).unwrap();
    assert_eq!(run(folder, line).out, written);
    run(folder, "build --format htb KQvKP --dir other");
    let table = fs::read(folder.join("other/kqkp.htb")).unwrap();
    fs::write(folder.join("kqkp.htb"), table).unwrap();
    let again = run(folder, line);
    assert_eq!(again.out, written);
    assert!(again.err.contains("is older than kqkp.htb"), "{}", again.err);
    // So does damage.
    let table = folder.join("made/here/two-pawns-queen-1-1.htb");
    let mut bytes = fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&table, bytes).unwrap();
    assert_eq!(run(folder, line).out, written);
}

#[test]
fn a_table_that_is_no_part_of_the_race_is_not_replaced() {
    let folder = two_pawns(&["two-pawns-queen.xml"]);
    let folder = folder.path();
    let own = folder.join("two-pawns-queen-1-1.htb");
    run(folder, "build KQvK --format htb --dir other");
    let bytes = fs::read(folder.join("other/kqk.htb")).unwrap();
    fs::write(&own, &bytes).unwrap();
    let words = ["two-pawns-queen-1-1.htb: was not made as this table", "not overwritten"];
    refused(folder, "build two-pawns-queen.xml", 1, &words);
    assert_eq!(fs::read(&own).unwrap(), bytes);
}

#[test]
fn a_race_down_to_bare_kings_needs_no_table_of_them() {
    let folder = TempDir::new().unwrap();
    let text = "<tablebase><dtm/>
        <prune-enable color=\"white\" type=\"discard\"/>
        <prune-enable color=\"black\" type=\"concede\"/>
        <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>
        <pawngen white-pawn-locations=\"b3\" black-pawn-locations=\"b6\"/>
        <prune color=\"white\" move=\"P=?\" type=\"discard\"/>
        <prune color=\"black\" move=\"P=?\" type=\"concede\"/></tablebase>";
    fs::write(folder.path().join("bare.xml"), text).unwrap();
    let built = run(folder.path(), "build bare.xml");
    assert_eq!(built.out.lines().count(), 4, "{}", built.out);
}

#[test]
fn a_race_of_2006_has_the_scores_of_its_tutorial() {
    let folder = folder(&["fine67-2006.xml"], "KPvK");
    let folder = folder.path();
    let built = run(folder, "build fine67-2006.xml");
    assert_eq!(built.out.lines().count(), 13, "{}", built.out);
    let tables: Vec<&str> = built.out.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(tables.last(), Some(&"fine67-2006-3-3.htb"));
    let tables = tables.join(" ");
    let moves = scores(folder, &tables, "8/2p5/3k4/1p1p1K2/8/1P1P4/2P5/8 w");
    let expected = [
        ("Pc2c3", "Black wins in 16"),
        ("Pc2c4", "Black wins in 19"),
        ("Pb3b4", "White wins in 21"),
        ("Pd3d4", "Draw"),
        ("Kf5g5", "Black wins in 13"),
        ("Kf5f6", "Draw"),
        ("Kf5f4", "Draw"),
        ("Kf5g6", "Black wins in 13"),
        ("Kf5g4", "Black wins in 23"),
    ];
    check_scores(&moves, &expected);
    let moves = scores(folder, &tables, "8/2p5/3k4/1p1p1K2/3P4/1P6/2P5/8 b");
    let expected = [
        ("Pb5b4", "Draw"),
        ("Kd6c6", "White wins in 21"),
        ("Kd6d7", "White wins in 36"),
        ("Kd6e7", "White wins in 20"),
        ("Pc7c6", "White wins in 20"),
        ("Pc7c5", "White wins in 20"),
    ];
    check_scores(&moves, &expected);
}

#[test]
fn what_is_no_single_table_is_not_generated() {
    let folder = folder(&["fine67.xml", "fine67a-2006.xml"], "KPvK");
    let folder = folder.path();
    refused(folder, "-g -o x.htb fine67.xml", 1, &["fine67.xml, line 11", "hoffman pawngen"]);
    refused(
        folder,
        "-g -o x.htb fine67a-2006.xml",
        1,
        &["fine67a-2006.xml, line", "hoffman pawngen"],
    );
    // The queen's tables are missing.
    let words = ["fine67a-2006.xml, line 21, <futurebase>", "kqkp.htb", "no such file"];
    refused(folder, "pawngen fine67a-2006.xml", 1, &words);
    refused(folder, "build fine67a-2006.xml", 1, &words);
    refused(folder, "build KPvK fine67.xml", 2, &["control files are built alone"]);
    refused(folder, "build fine67.xml --no-write", 2, &["control files are built alone"]);
    refused(folder, "build nothing.xml", 1, &["nothing.xml"]);
    let missing = crate::common::run(folder, "pawngen");
    assert!(missing.code == 2 && missing.err.contains("NAME.xml"), "{}", missing.err);
    let left = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let made: Vec<String> = left.filter(|n| n.starts_with("fine67") || n == "x.htb").collect();
    assert_eq!(made.len(), 2, "{made:?}");
}

#[test]
fn a_control_file_of_one_table_is_built() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let text = "<tablebase><dtm/><piece color=\"white\" type=\"king\"/>\
        <piece color=\"black\" type=\"king\"/><output filename=\"bare.htb\"/></tablebase>";
    fs::write(folder.join("kk.xml"), text).unwrap();
    assert!(run(folder, "build kk.xml").out.starts_with("bare.htb: written, "));
    assert_eq!(run(folder, "build kk.xml").out, "bare.htb: kept\n");
    assert!(run(folder, "build kk.xml --dir new").out.starts_with("new/bare.htb: written, "));
    fs::write(folder.join("kk.xml"), text.replace("dtm", "basic")).unwrap();
    let anew = run(folder, "build kk.xml");
    assert!(anew.out.starts_with("bare.htb: written, "), "{}", anew.out);
    assert!(anew.err.contains("another control file"), "{}", anew.err);
}
