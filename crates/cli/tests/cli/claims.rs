//! What commands say of tables that are not of chess, with all tables in one folder: no more than
//! is proved.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Run, run, run_with};

/// A folder with complete endings and the tables of control files, by name.
fn folder(endings: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let built = run(folder.path(), &format!("build --format htb {endings} --dir ."));
    assert_eq!(built.code, 0, "{}", built.err);
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
        let built = run(folder.path(), &format!("build {name} --dir ."));
        assert_eq!(built.code, 0, "{}", built.err);
    }
    folder
}

fn probe(folder: &TempDir, tables: &[&str], fen: &str) -> Run {
    let mut arguments = vec!["probe"];
    arguments.extend(tables.iter().flat_map(|table| ["--table", table]));
    arguments.extend(["--dir", ".", fen]);
    run_with(folder.path(), &arguments, "")
}

fn json(folder: &TempDir, tables: &[&str], fen: &str) -> Value {
    let mut arguments = vec!["probe", "--json"];
    arguments.extend(tables.iter().flat_map(|table| ["--table", table]));
    arguments.extend(["--dir", ".", fen]);
    run_with(folder.path(), &arguments, "").json()
}

fn the_move<'j>(json: &'j Value, san: &str) -> &'j Value {
    json["moves"].as_array().unwrap().iter().find(|m| m["san"] == san).unwrap()
}

/// White's rook keeps to the third rank.
const THIRD_RANK: &str = r#"<tablebase>
   <prune-enable color="white" type="discard"/>
   <dtm/>
   <piece color="white" type="king"/>
   <piece color="black" type="king"/>
   <piece color="white" type="rook" location="a3 b3 c3 d3 e3 f3 g3 h3"/>
   <piece color="black" type="rook"/>
   <futurebase filename="krk.htb"/>
   <futurebase filename="krk.htb" colors="invert"/>
   <prune color="white" move="R[a-h][1-8]" type="discard"/>
   <output filename="third.htb"/>
</tablebase>"#;

#[test]
fn a_discarded_move_is_not_answered_by_the_image_of_the_table() {
    let folder = folder("KRvK", &[("third.xml", THIRD_RANK)]);
    let fen = "8/8/5rk1/8/8/R7/3K4/8 w - - 0 1";
    // Nothing but tables of rook against rook, as it is and with the colours exchanged.
    let alone = json(&folder, &["third.htb"], fen);
    let away = the_move(&alone, "Ra2");
    assert_eq!(away["hoffman"]["pruned"], "discarded");
    assert_eq!(away["category"], "unknown");
    let session = run_with(folder.path(), &["-p", "third.htb", "krk.htb"], &format!("{fen}\n"));
    assert!(session.out.contains("   Ra3a2    discarded\n"), "{}", session.out);

    // With the complete ending beside it, the worth of the move in chess is told as well.
    assert_eq!(run(folder.path(), "build --format htb KRvKR --dir .").code, 0);
    let both = json(&folder, &["third.htb"], fen);
    let away = the_move(&both, "Ra2");
    assert_eq!(away["hoffman"]["pruned"], "discarded");
    assert_eq!((&away["category"], &away["dtm"]), (&"win".into(), &31.into()), "{away}");
}

#[test]
fn a_draw_of_a_table_with_prunes_is_no_draw_of_chess() {
    let kpk_queen = r#"<tablebase>
       <prune-enable color="white" type="discard"/>
       <dtm/>
       <piece color="white" type="king"/>
       <piece color="black" type="king"/>
       <piece color="white" type="pawn"/>
       <futurebase filename="kk.htb"/>
       <futurebase filename="kqk.htb"/>
       <prune color="white" move="P=[RBN]" type="discard"/>
       <output filename="kpk-queen.htb"/>
    </tablebase>"#;
    let folder = folder("KQvK", &[("kpk-queen.xml", kpk_queen)]);
    let fen = "8/k1P5/8/K7/8/8/8/8 w - - 0 1";
    let found = json(&folder, &["kpk-queen.htb"], fen);
    assert_eq!(found["category"], "unknown");
    let extra = &found["hoffman"];
    assert_eq!(extra["bound"], "white-at-least");
    assert_eq!(extra["assumes"][0], "White's moves P=[RBN] are discarded");
    assert_eq!(extra["said"]["result"], "draw");
    let text = probe(&folder, &["kpk-queen.htb"], fen).out;
    assert!(text.contains("White at least draws"), "{text}");
    assert!(text.contains("Certain in chess: White's wins; that White at least draws"), "{text}");

    // The prompt keeps the score line and adds what it proves.
    let session =
        run_with(folder.path(), &["-p", "kpk-queen.htb", "kqk.htb"], &format!("{fen}\n")).out;
    let lines = "\nDraw\nIn chess: White at least draws (by the rules of the table: draw)\n\
                 The table assumes: White's moves P=[RBN] are discarded\n";
    assert!(session.contains(lines), "{session}");
    let stats = run(folder.path(), "stats ./kpk-queen.htb").out;
    assert!(stats.contains("Certain in chess: White's wins"), "{stats}");

    // A win of White is one.
    let won = json(&folder, &["kpk-queen.htb"], "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1");
    assert_eq!(
        (&won["category"], &won["hoffman"]["bound"]),
        (&"win".into(), &"white-at-least".into())
    );
    assert!(won["dtm"].is_null(), "it may be quicker in chess: {won}");
}

#[test]
fn families_of_one_race_are_right_with_all_tables_in_one_folder() {
    let race = r#"<tablebase>
       <prune-enable color="white" type="discard"/>
       <prune-enable color="black" type="concede"/>
       <dtm/>
       <piece color="white" type="king"/>
       <piece color="black" type="king"/>
       <pawngen white-pawn-locations="b3 c3" black-pawn-locations="b6 c6"/>
       <futurebase filename="kk.htb"/>
       <prune color="white" move="P=?" type="discard"/>
       <prune color="black" move="P=?" type="concede"/>
    </tablebase>"#;
    let folder = folder("KPvKP", &[("race.xml", race)]);
    for table in ["race-1-1", "race-1-0", "race-0-1", "race-2-1", "race-1-2"] {
        let path = format!("{table}.htb");
        if folder.path().join(&path).exists() {
            let verified = run(folder.path(), &format!("verify ./{path} --dir ."));
            assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
        }
    }
    let made = fs::read_dir(folder.path()).unwrap();
    let made = made.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "htb"));
    assert!(made.count() > 5);

    // White promotes and is said to have made no move; in chess it wins.
    let fen = "8/1P6/8/8/8/8/1p6/K6k w - - 0 1";
    let found = json(&folder, &["race-1-1.htb"], fen);
    assert_ne!(found["category"], "loss", "{found}");
}

#[test]
fn the_clock_counts() {
    let folder = folder("KRvK", &[]);
    let fen = "8/8/8/4k3/8/8/2KR4/8 w - - 90 60";
    let found = json(&folder, &["krk.htb"], fen);
    assert_eq!((&found["category"], &found["dtm"]), (&"maybe-win".into(), &25.into()));
    assert_eq!(found["hoffman"]["fen"], fen);
    assert_eq!(found["hoffman"]["clock"], 90);
    assert_eq!(found["hoffman"]["fifty_move"], true);
    assert_eq!(found["hoffman"]["line_in_time"], false);
    let early = json(&folder, &["krk.htb"], "8/8/8/4k3/8/8/2KR4/8 w - - 60 60");
    assert_eq!(early["category"], "win");
    // Moves are played wherever a position is read.
    let played = json(&folder, &["krk.htb"], "8/8/8/4k3/8/8/2KR4/8 w - - 0 1 moves c2d3 e5f5");
    assert_eq!(played["hoffman"]["fen"], "8/8/8/5k2/8/3K4/3R4/8 w - - 2 2");
}

#[test]
fn a_damaged_table_spoils_its_moves_only() {
    let folder = folder("KPvK", &[]);
    let path = folder.path().join("kqk.htb");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&path, bytes).unwrap();
    let fen = "8/4P3/4K3/8/8/8/8/k7 w - - 0 1";
    let run = run_with(folder.path(), &["probe", "--json", "--dir", ".", fen], "");
    let found = run.json();
    assert_eq!(found["category"], "win", "{found}");
    let spoilt = the_move(&found, "e8=Q");
    assert_eq!(spoilt["category"], "unknown");
    assert!(spoilt["hoffman"]["error"].as_str().unwrap().contains("kqk.htb"), "{spoilt}");
    assert!(the_move(&found, "e8=R")["hoffman"]["error"].is_null());
    assert!(run.code == 1 && run.err.contains("kqk.htb"), "{}", run.err);
}
