//! Drives the program as a user does, in folders of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::common::{KQK, SharedFolder, copy_of, names, run, run_with};

/// A folder of its own with all tables that KPvK needs.
fn with_tables() -> TempDir {
    static MADE: SharedFolder = SharedFolder::new();
    copy_of(MADE.made_by("build --format htb KPvK --dir ."))
}

const KK: &str = "<?xml version=\"1.0\"?>\n<!-- bare -->\n<tablebase>
   <piece color=\"white\" type=\"king\"/>
   <piece color=\"black\" type=\"king\"/>
   <output filename=\"kk.htb\"/>
</tablebase>\n";

// ------------------------------------------------------------------------ modern commands

/// A file that has the name of an ending is not taken for its table if it is that of another one.
#[test]
fn a_table_under_the_name_of_another_ending_is_refused() {
    let folder = with_tables();
    fs::copy(folder.path().join("krk.htb"), folder.path().join("kqk.htb")).unwrap();
    for line in [
        "list KQvK --count",
        "stats KQvK",
        "verify KQvK",
        "plot KQvK -o x.svg",
        "convert KQvK -o x.htb",
    ] {
        let words = ["kqk.htb is a table of KRvK, not of KQvK"];
        run(folder.path(), line).refused(1, &words);
    }
    assert_eq!(run(folder.path(), "stats ./kqk.htb").code, 0);
}

#[test]
fn build_leaves_tables_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let first = run(folder.path(), "build KQvK krk --dir tables --threads 2 --format htb");
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    assert_eq!(names(&folder.path().join("tables")), ["kk.htb", "kqk.htb", "krk.htb"]);
    assert!(first.out.contains("tables/kqk.htb: written, longest win with White to move 10 moves, with Black to move none\n"));
    let again = run(folder.path(), "build --format htb --men 3 --dir tables");
    assert!(again.out.contains("tables/kqk.htb: kept\n"), "{}", again.out);
    let expected = ["kbk.htb", "kk.htb", "knk.htb", "kpk.htb", "kqk.htb", "krk.htb"];
    assert_eq!(names(&folder.path().join("tables")), expected);
}

#[test]
fn build_can_write_nothing() {
    let folder = TempDir::new().unwrap();
    let solved = run(folder.path(), "build --format htb KQvK --no-write");
    assert_eq!(solved.code, 0, "{}", solved.err);
    assert_eq!(
        solved.out,
        "kk.htb: solved, longest win with White to move none, with Black to move none\n\
         kqk.htb: solved, longest win with White to move 10 moves, with Black to move none\n"
    );
    assert!(names(folder.path()).is_empty());
    // White wins in four moves; a queen that must be lost is a loss of Black's in ten.
    let solved = run(folder.path(), "build --format htb KQQvK --no-write");
    let found =
        "kqqk.htb: solved, longest win with White to move 4 moves, with Black to move none\n";
    assert!(solved.out.ends_with(found), "{}", solved.out);
}

#[test]
fn passes_are_listed_on_request_and_kept_in_the_header() {
    let folder = TempDir::new().unwrap();
    let built = run(folder.path(), "build --format htb KQvK --dir . --passes");
    assert_eq!(built.code, 0, "{}", built.err);
    let lines = || built.err.lines().filter(|line| line.starts_with("kqk.htb: "));
    let passes: Vec<&str> = lines().map(|l| l.split(", ").next().unwrap()).collect();
    assert_eq!(passes[..3], ["kqk.htb: won in 1", "kqk.htb: lost in 1", "kqk.htb: won in 2"]);
    assert!(passes.contains(&"kqk.htb: lost in 10"), "{}", built.err);
    // Every pass stands in the header, with as many positions.
    let header = run(folder.path(), "-i ./kqk.htb").out;
    let element = |line: &str, sign: i32| {
        let words: Vec<&str> = line.split(' ').collect();
        let moves: i32 = words[3].trim_end_matches(',').parse().unwrap();
        format!("dtm=\"{}\" positions-finalized=\"{}\"", sign * (moves + 1), words[4])
    };
    for line in lines() {
        let element = element(line, if line.contains(" won in ") { 1 } else { -1 });
        assert!(header.contains(&element), "{element} is not in {header}");
    }
    let quiet = run(folder.path(), "build --format htb KRvK --dir .");
    assert_eq!(quiet.err, "");
}

#[test]
fn damaged_tables_are_built_anew() {
    let folder = with_tables();
    let path = folder.path().join("kqk.htb");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let again = run(folder.path(), "build --format htb KQvK --dir .");
    assert_eq!(again.code, 0);
    assert!(again.err.contains("kqk.htb"), "{}", again.err);
    assert!(again.out.contains("kqk.htb: written"), "{}", again.out);
    assert_eq!(run(folder.path(), "verify kqk.htb").code, 0);
}

#[test]
fn tables_of_the_user_are_not_replaced() {
    let folder = with_tables();
    let own = folder.path().join("krk.htb");
    let rook = KQK.replace("queen\"/>", "rook\" location=\"a1 a2 a3\"/>").replace("kqk", "krk");
    let pruned = "<prune-enable color=\"white\" type=\"discard\"/>
        <prune color=\"white\" move=\"R*\" type=\"discard\"/></tablebase>";
    fs::write(folder.path().join("mine.xml"), rook.replace("</tablebase>", pruned)).unwrap();
    assert_eq!(run(folder.path(), "-g mine.xml").code, 0);
    let bytes = fs::read(&own).unwrap();
    let words =
        ["krk.htb: holds a part of KRvK only; it is not overwritten", "move ./krk.htb away"];
    run(folder.path(), "build --format htb KRvK --dir .").refused(1, &words);
    run(folder.path(), "build --format htb --men 3 --dir .").refused(1, &words);
    assert_eq!(fs::read(&own).unwrap(), bytes);
    fs::write(&own, "my notes").unwrap();
    run(folder.path(), "build --format htb KRvK --dir .")
        .refused(1, &["krk.htb", "it is not overwritten"]);
    assert_eq!(fs::read(&own).unwrap(), b"my notes");
    // Without writing nothing is in the way.
    assert_eq!(run(folder.path(), "build --format htb KRvK --dir . --no-write").code, 0);
}

#[test]
fn solve_builds_what_is_missing() {
    let folder = TempDir::new().unwrap();
    let position = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1";
    let text = run_with(folder.path(), &["solve", position, "--dir", "d"], "");
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    for part in [
        "8 | . . . . . . . .\n",
        "White to move: White wins, mate in 11 moves (21 plies)\n",
        "\nMoves\n  e5 ",
        "\nMain line\n  1. e5 ",
    ] {
        assert!(text.out.contains(part), "{part}: {}", text.out);
    }
    // Several words are one position; the tables are there now.
    let json = run(folder.path(), &format!("solve {position} --json --dir d")).json();
    assert_eq!(json["category"], "win");
    assert_eq!(json["dtm"], 21);
    assert_eq!(json["moves"].as_array().unwrap().len(), 6);
    assert_eq!(json["moves"][0]["uci"], "e4e5");
    assert_eq!(json["moves"][0]["san"], "e5");
    assert_eq!(json["moves"][0]["category"], "loss");
    assert_eq!(json["hoffman"]["fen"], position);
    assert_eq!(json["hoffman"]["pv"].as_array().unwrap().len(), 21);
    assert!(json["hoffman"]["table"].as_str().unwrap().starts_with("d/kpk-"));
    let is_table = |name: &String| Path::new(name).extension().is_some_and(|e| e == "htb");
    assert!(names(&folder.path().join("d")).iter().all(is_table));
    let verified = run(&folder.path().join("d"), "verify kpk-e4+.htb kqk.htb");
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
}

#[test]
fn solve_answers_finished_games_and_en_passant() {
    let folder = TempDir::new().unwrap();
    for (fen, result) in [
        ("7k/7Q/7K/8/8/8/8/8 b - - 0 1", "Black to move: Checkmate: White has won"),
        ("7k/8/6QK/8/8/8/8/8 b - - 0 1", "Black to move: Draw by stalemate"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "White to move: Draw"),
        ("8/8/8/8/3pP3/8/8/k1K5 b - e3 0 1", "\n  dxe3  Draw"),
        ("8/8/K6k/8/4q3/8/8/8 b - - 0 1", "Black to move: Black wins"),
    ] {
        let answer = run_with(folder.path(), &["solve", fen, "--dir", "d"], "");
        assert_eq!(answer.code, 0, "{fen}: {}", answer.err);
        assert!(answer.out.contains(result), "{fen}: {}", answer.out);
    }
}

/// Positions of many men, by Fine (70), with pawns that block each other, and with a bishop.
#[test]
fn solve_proves_positions_of_many_men() {
    let folder = TempDir::new().unwrap();
    let blocked = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1";
    let refused = run(folder.path(), &format!("solve {blocked} --dir d"));
    refused.refused(1, &["d: there is no such folder"]);
    fs::create_dir(folder.path().join("d")).unwrap();
    for (fen, result) in [
        ("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1", "White wins, proven"),
        (blocked, "draw, proven"),
        ("8/3k4/8/p1p1p1p1/P1P1P1P1/8/3K4/5B2 w - - 0 1", "draw, proven"),
        ("4k3/1b6/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/3B4/4K3 w - - 0 1", "draw, proven"),
    ] {
        let answer = run_with(folder.path(), &["solve", fen, "--dir", "d"], "");
        assert_eq!(answer.code, 0, "{fen}: {}", answer.err);
        assert!(answer.out.contains(result), "{fen}: {}", answer.out);
    }
    let json = run(folder.path(), &format!("solve {blocked} --json --dir d")).json();
    assert_eq!(json["category"], "draw");
    assert_eq!(json["hoffman"]["bound"], "exact");
    assert_eq!(json["moves"].as_array().unwrap().len(), 5);
    // Nothing is written for a proof.
    assert!(names(&folder.path().join("d")).is_empty());

    // Five men are answered without tables, too, and what time allows is told.
    let reti = "7K/8/k1P5/7p/8/8/8/8 w - - 0 1";
    let proven = run_with(folder.path(), &["solve", reti, "--outcome"], "");
    assert!(proven.code == 0 && proven.out.contains("draw, proven"), "{}", proven.out);
    let large = "k7/pppp4/8/8/8/8/4PPPP/7K w - - 0 1";
    // A game that is over is said to be.
    for (over, said, end) in [
        ("7k/6Q1/5K2/8/8/8/8/8 b - - 0 1", "checkmate: White wins", "checkmate"),
        ("7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", "stalemate: draw", "stalemate"),
    ] {
        let solved = run_with(folder.path(), &["solve", over, "--outcome", "--explain"], "");
        assert!(solved.code == 0 && solved.out.contains(said), "{}", solved.out);
        assert!(solved.err.contains("the game is over"), "{}", solved.err);
        let json = run_with(folder.path(), &["solve", over, "--outcome", "--json"], "").json();
        assert_eq!((&json[end], json["moves"].as_array().map(Vec::len)), (&true.into(), Some(0)));
    }

    for seconds in ["0", "0.05"] {
        let stopped = run_with(folder.path(), &["solve", large, "--time", seconds], "");
        assert!(stopped.code == 1 && stopped.out.contains("is proven"), "{}", stopped.out);
    }
}

/// All moves, distances, and the proof in a file that is checked by who knows the rules only.
#[test]
fn solve_writes_certificates() {
    let folder = TempDir::new().unwrap();
    let fine25 = "6k1/7p/5P1K/8/8/8/7P/8 w - - 0 1";
    let args = ["solve", fine25, "--outcome", "--moves", "--distance", "--certificate", "won"];
    let answer = run_with(folder.path(), &args, "");
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("White wins in at "), "{}", answer.out);
    assert!(!answer.out.contains("not known"), "{}", answer.out);
    let drawn = "7k/8/8/p1p1p1p1/P1P1P1P1/8/8/7K w - - 0 1";
    let answer = run_with(folder.path(), &["solve", drawn, "--certificate", "drawn"], "");
    assert_eq!(answer.code, 0, "{}", answer.err);

    let checked = run(folder.path(), "check won drawn");
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert!(checked.out.starts_with("won: 6k1/7p/5P1K/8/8/8/7P/8 w - -: White wins in at most "));
    assert!(checked.out.contains("White at least draws, "), "{}", checked.out);
    assert!(checked.out.contains("; Black at least draws, "), "{}", checked.out);
    let json = run(folder.path(), "check --json won").json();
    assert_eq!(
        (&json["claims"][0]["side"], &json["claims"][0]["wins"]),
        (&"white".into(), &true.into())
    );
    check_with_python(folder.path(), &["won", "drawn"], 0);

    // What is cut off, or no certificate, is refused by name.
    let whole = fs::read(folder.path().join("won")).unwrap();
    fs::write(folder.path().join("cut"), &whole[..whole.len() - 9]).unwrap();
    fs::write(folder.path().join("text"), "hoffman-certificate 1\n").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let none = "this is no certificate";
    for (name, said) in [("cut", "cut"), ("text", none), ("empty", none), ("missing", "missing")] {
        run(folder.path(), &format!("check {name}")).refused(1, &[name, said]);
        check_with_python(folder.path(), &[name], 1);
    }
    // A proof may be larger than the memory, and its file is not there then.
    let narrow = ["solve", drawn, "--certificate", "narrow", "--memory", "36K"];
    let answer = run_with(folder.path(), &narrow, "");
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(
        answer.err.contains("narrow: not written, as the proof has more than"),
        "{}",
        answer.err
    );
    assert!(!folder.path().join("narrow").exists());
    let nowhere = ["solve", drawn, "--certificate", "no/where"];
    run_with(folder.path(), &nowhere, "").refused(1, &["no/where"]);
}

/// What is assumed, and what follows of chess.
#[test]
fn solve_answers_what_if() {
    let folder = TempDir::new().unwrap();
    let solve = |position: &str, more: &[&str]| {
        run_with(folder.path(), &[&["solve", position], more].concat(), "")
    };
    let fine70 = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";
    let drawn = solve(fine70, &["--no-capture", "W:KxP"]);
    let told = "draw, proven if\n  White loses by KxP\nin chess: White at least draws\n";
    assert!(drawn.code == 0 && drawn.out.contains(told), "{}", drawn.out);
    let kept = solve(fine70, &["--confine", "bK=a8-c6", "--json"]).json();
    assert_eq!(
        (&kept["category"], &kept["hoffman"]["bound"]),
        (&"maybe-win".into(), &"none".into())
    );
    assert_eq!(kept["hoffman"]["assumed"], "win");
    let assumes = "Black loses by moving a king to another square than a8-c6";
    assert_eq!(kept["hoffman"]["assumes"][0], assumes);

    // Black promotes first; nobody else can, and a promotion wins.
    let race = "8/8/8/8/k7/4p3/1P6/K7 b - - 0 1";
    let won = solve(race, &["--promotion-wins", "B", "--distance"]);
    assert!(
        won.out.contains("Black wins in at least 2 and at most 3 moves, proven if"),
        "{}",
        won.out
    );
    assert!(won.out.contains("in chess: nothing follows"), "{}", won.out);
    let frozen = solve(race, &["--promotion-wins", "B", "--freeze", "P@e3"]);
    assert!(!frozen.out.contains("Black wins, proven"), "{}", frozen.out);

    // What is to the winner's disadvantage only is proven of chess, as its certificate shows.
    let fine25 = "6k1/7p/5P1K/8/8/8/7P/8 w - - 0 1";
    let harder = ["--forbid-move", "W:P=R", "--promotion-wins", "B", "--certificate", "harder"];
    let won = solve(fine25, &harder);
    assert!(won.out.contains("White loses by P=R\n"), "{}", won.out);
    assert!(won.out.contains("in chess: White wins\n"), "{}", won.out);
    assert_eq!(run(folder.path(), "check harder").code, 0);
    let easier = solve(fine25, &["--freeze", "h7", "--certificate", "easier"]);
    assert!(easier.out.contains("White wins, proven if"), "{}", easier.out);
    assert!(easier.err.contains("easier: not written"), "{}", easier.err);
    assert!(!folder.path().join("easier").exists());

    for (wrong, named) in [
        (["--confine", "wK=a8"], "the white king on a1 stands outside"),
        (["--freeze", "e1"], "no man stands on e1"),
        (["--freeze", "P@e9"], "'P@e9' names no man"),
        (["--forbid-move", "W:Ke4"], "no move is a 'Ke4'"),
        (["--forbid-move", "W:Pe8"], "no move is a 'Pe8'"),
        (["--forbid-move", "B:Pe7"], "no move is a 'Pe7'"),
        (["--no-capture", "RxP"], "'RxP' names no moves of a side"),
        (["--only-promote", "K"], "'K' names no choice of pieces"),
        (["--only-promote", "QRBN"], "'QRBN' names no choice of pieces"),
        (["--freeze", "Q@a1"], "the man on a1 is a king"),
        (["--promotion-wins", "x"], "'x' is no side: W or B"),
        (["--time", "soon"], "no number of seconds"),
        (["--time", "1e30"], "no number of seconds"),
        (["--confine", "bP=a1"], "'bP=a1' keeps no piece on squares"),
    ] {
        let answer = solve(fine70, &wrong);
        assert!(answer.code > 0 && answer.err.contains(named), "{wrong:?}: {}", answer.err);
        assert_eq!(answer.out, "", "{wrong:?}");
    }
}

/// The checker in Python, where python-chess is there.
fn check_with_python(folder: &Path, names: &[&str], code: i32) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = |args: &[&str]| {
        std::process::Command::new("python3").args(args).current_dir(folder).output()
    };
    if !python(&["-c", "import chess"]).is_ok_and(|done| done.status.success()) {
        eprintln!("NOT TESTED: checkers/check-certificate.py, for want of python3 with chess");
        return;
    }
    let checker = root.join("checkers/check-certificate.py");
    let mut args = vec![checker.to_str().unwrap()];
    args.extend(names);
    let done = python(&args).unwrap();
    assert_eq!(done.status.code(), Some(code), "{names:?}: {done:?}");
    assert!(code == 0 || String::from_utf8_lossy(&done.stderr).starts_with(names[0]), "{done:?}");
}

#[test]
fn bad_positions_are_refused() {
    let folder = TempDir::new().unwrap();
    for (fen, why) in [
        ("rubbish", "is not a FEN"),
        ("8/8/K6k/8/4Q3/8/8/8", "is not a FEN"),
        ("8/8/K6k/7Q/8/8/8/8 w - - 0 1", "could capture the king"),
        ("8/8/8/8/8/8/8/Kk6 w - - 0 1", "side by side"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "kings"),
        ("8/8/8/8/8/8/8/K1k4P w - - 0 1", "h1"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling"),
        ("k7/qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqqqqqq/8/8/K7 w - - 0 1", "34 men"),
    ] {
        for command in ["solve", "probe"] {
            run_with(folder.path(), &[command, fen], "").refused(1, &[fen, why]);
        }
    }
    let large = "k7/pppp4/8/8/8/8/4PPPP/7K w - - 0 1";
    let distance = ["solve", large, "--tables"];
    run_with(folder.path(), &distance, "").refused(1, &[large, "memory", "hoffman plan"]);
    // Planned, it is told how large it is, and what makes it smaller.
    for fen in [large, "8/2p5/3k4/1p1p1K2/8/1P1P4/2P5/8 w - - 0 1"] {
        let plan = run_with(folder.path(), &["plan", fen], "");
        assert!(plan.code == 0 && plan.out.contains("without promotions: "), "{}", plan.out);
        let plan = run_with(folder.path(), &["plan", "--json", fen], "").json();
        assert_eq!(plan["too_large"], true);
        let positions = |key: &str| plan[key]["positions"].as_f64().unwrap();
        assert!(positions("without_promotions") < positions("all"), "{plan}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn probe_answers_lines_with_json() {
    let folder = with_tables();
    let lines = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1\nrubbish\n\n8/8/8/8/8/8/1k6/4K2R w K -\n8/8/8/8/4q3/8/1k6/4K3_w_-_-\n";
    let answer = run_with(folder.path(), &["probe", "--dir", "."], lines);
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    let answers: Vec<Json> =
        answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["dtm"], 21);
    assert!(answers[1]["error"].as_str().unwrap().contains("rubbish"));
    assert!(answers[2]["error"].as_str().unwrap().contains("castling"));
    assert_eq!(answers[3]["category"], "loss");
    let good = run_with(folder.path(), &["probe"], "8/8/8/8/4P3/8/1k6/4K3 w\n");
    assert_eq!(good.code, 0);
}

#[test]
fn probe_tells_values_from_several_folders() {
    let folder = with_tables();
    let outer = TempDir::new().unwrap();
    for (place, table) in [("one", "kpk.htb"), ("two", "kqk.htb")] {
        fs::create_dir(outer.path().join(place)).unwrap();
        fs::copy(folder.path().join(table), outer.path().join(place).join(table)).unwrap();
    }
    let pawn = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1";
    let ask = |more: &[&str], input: &str| {
        let line = [&["probe", "--dir", "one", "--dir", "two"], more].concat();
        run_with(outer.path(), &line, input)
    };
    let lines = format!(
        "{pawn}\n8/8/8/8/8/8/1k6/4KR2 w - -\n\n8/8/8/8/8/1k6/1q6/K7_w_-_-\nrubbish\n\
         7k/8/8/8/8/8/8/K6Q b - -\n7k/8/8/8/8/8/7Q/K7 b - - 99 80\n8/8/8/8/8/8/8/K1k5 w - -\n"
    );
    let values = ask(&["--value"], &lines);
    assert_eq!(values.code, 1, "{}", values.err);
    let told: Vec<&str> = values.out.lines().collect();
    assert_eq!(told[..4], ["win 21", "unknown", "loss 0", "error bad-fen"]);
    assert!(told[4].starts_with("loss ") && told[5].starts_with("loss "), "{}", values.out);
    assert_eq!(told[6..], ["draw"]);
    assert!(values.err.contains("rubbish"), "{}", values.err);
    assert_eq!(ask(&["--value"], &format!("{pawn}\n")).code, 0);

    let one = ask(&["--value", pawn], "");
    assert_eq!((one.code, one.out.as_str(), one.err.as_str()), (0, "win 21\n", ""));
    // A table is found by its name in whichever folder.
    assert_eq!(ask(&["--value", "--table", "KQvK", pawn], "").out, "win 21\n");
    let unknown = ask(&["--value", "8/8/8/8/8/8/1k6/4KR2 w - -"], "");
    assert_eq!((unknown.code, unknown.out.as_str()), (1, "unknown\n"));
    assert!(unknown.err.contains("krk.htb"), "{}", unknown.err);
    ask(&["--value", "rubbish"], "").refused(1, &["rubbish"]);
    let both = ask(&["--value", "--json", pawn], "");
    assert_eq!((both.code, both.out.as_str()), (2, ""));
    ask(&["--dir", "three", pawn], "").refused(1, &["three", "no such folder"]);
}

#[test]
fn probe_answers_one_position() {
    let folder = with_tables();
    let fen = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1";
    let text = run_with(folder.path(), &["probe", fen], "");
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(text.out.contains("White wins, mate in 11 moves"), "{}", text.out);
    // Beside the table that is named, wherever that is.
    let elsewhere = TempDir::new().unwrap();
    let table = folder.path().join("kpk.htb");
    let json = run_with(
        elsewhere.path(),
        &["probe", "--json", "--table", table.to_str().unwrap(), fen],
        "",
    );
    assert_eq!(json.json()["hoffman"]["index"], 97892);
    assert_eq!(json.json()["hoffman"]["missing"].as_array().unwrap().len(), 0);
    let unknown = run_with(elsewhere.path(), &["probe", fen], "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("kpk"), "{}", unknown.err);
    run_with(folder.path(), &["probe", "--dir", "nowhere", fen], "").refused(1, &["nowhere"]);
}

#[test]
fn stats_counts() {
    let folder = with_tables();
    let text = run(folder.path(), "stats kqk.htb");
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    assert!(text.out.contains("18081 won"), "{}", text.out);
    let one = run(folder.path(), "stats KQvK --dir . --json").json();
    assert_eq!((&one["table"], &one["metric"]), (&"KQvK".into(), &"dtm".into()));
    assert_eq!(one["white_to_move"]["longest_win_moves"], 10);
    let several = run(folder.path(), "stats kqk.htb nix krk.htb --json");
    assert_eq!(several.code, 1);
    assert!(several.err.contains("'nix'"), "{}", several.err);
    assert_eq!(several.json().as_array().unwrap().len(), 2);
}

#[test]
fn verify_finds_what_is_wrong() {
    let folder = with_tables();
    let good = run(folder.path(), "verify kpk.htb kqk krk.htb --json --dir .");
    assert_eq!(good.code, 0, "{}", good.err);
    assert!(good.json().as_array().unwrap().iter().all(|report| report["ok"] == true));
    let sample = run(folder.path(), "verify kpk.htb --sample 100 --json").json();
    assert_eq!((&sample["ok"], &sample["checked"]), (&true.into(), &100.into()));
    // Without smaller tables it cannot be known.
    let alone = TempDir::new().unwrap();
    fs::copy(folder.path().join("kpk.htb"), alone.path().join("kpk.htb")).unwrap();
    let unknown = run(alone.path(), "verify kpk.htb");
    assert_eq!(unknown.code, 1);
    let said = "KPvK: nothing wrong was found, but not all could be checked";
    assert!(unknown.out.contains(said) && unknown.out.contains("kqk"), "{}", unknown.out);
    let twice = run(folder.path(), "verify kpk.htb krk.htb --syzygy nowhere");
    twice.refused(1, &["nowhere: there is no such folder"]);
}

/// All tables, those first that others need; one that is damaged does not end it.
#[test]
fn verify_takes_a_folder() {
    let folder = with_tables();
    let all = run(folder.path(), "verify .");
    assert_eq!(all.code, 0, "{}", all.err);
    let endings: Vec<&str> = all.out.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(endings.last(), Some(&"KPvK"), "{}", all.out);
    assert!(endings.contains(&"KQvK") && all.out.lines().all(|line| line.contains(": ok, ")));

    fs::write(folder.path().join("kbk.htb"), "text").unwrap();
    let some = run(folder.path(), "verify .");
    assert!(some.code == 1 && some.err.contains("kbk.htb"), "{}", some.err);
    assert!(some.out.contains("KQvK: ok, "), "{}", some.out);
    let empty = TempDir::new().unwrap();
    run(empty.path(), "verify .").refused(1, &["there are no tables in it"]);
}

#[test]
fn damaged_tables_are_refused() {
    let folder = with_tables();
    let path = folder.path().join("kqk.htb");
    let whole = fs::read(&path).unwrap();
    let mut altered = whole.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    for bytes in [&whole[..whole.len() - 300], &whole[..100], &altered, b"text", b""] {
        fs::write(&path, bytes).unwrap();
        for command in ["verify", "stats"] {
            run(folder.path(), &format!("{command} kqk.htb")).refused(1, &["kqk.htb"]);
        }
        let probe = ["probe", "--table", "kqk.htb", "8/8/8/8/4Q3/8/1k6/4K3 w - -"];
        run_with(folder.path(), &probe, "").refused(1, &["kqk.htb"]);
    }
    run(folder.path(), "verify nix.htb").refused(1, &["nix.htb", "No such file"]);
    fs::write(folder.path().join("KQvK.rtbw"), "").unwrap();
    run(folder.path(), "stats KQvK.rtbw").refused(1, &["KQvK.rtbw", "Syzygy"]);
}

#[test]
fn folders_that_cannot_be_written_are_named() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    run(folder.path(), "build --format htb KQvK --dir file/tables").refused(1, &["file/tables"]);
    let fen = "8/8/8/8/4Q3/8/1k6/4K3 w - -";
    run_with(folder.path(), &["solve", fen, "--dir", "file/x"], "").refused(1, &["file/x"]);
    fs::write(folder.path().join("kqk.xml"), KQK).unwrap();
    run(folder.path(), "-q -g kqk.xml -o file/kqk.htb").refused(1, &["file"]);
    assert_eq!(names(folder.path()), ["file", "kqk.xml"]);
}

/// With `-o /dev/null` a table would stand where every program of the system expects the device.
#[cfg(unix)]
#[test]
fn no_file_takes_the_place_of_a_device_or_folder() {
    use std::os::unix::fs::FileTypeExt;

    let folder = with_tables();
    let at = |name: &str| folder.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("kqk.xml"), KQK).unwrap();
    let before = names(folder.path());
    for place in ["pipe", "folder"] {
        for line in
            ["convert kqk.htb -o", "-g kqk.xml -o", "-g kqk.xml --status", "build kqk.xml --dir"]
        {
            let taken = run(folder.path(), &format!("{line} {place}"));
            if line.starts_with("build") && place == "folder" {
                continue;
            }
            assert_eq!(taken.code, 1, "{line} {place}: {}", taken.err);
            assert!(taken.err.contains(place), "{line} {place}: {}", taken.err);
        }
    }
    assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
    fs::remove_dir_all(at("folder")).unwrap();
    assert_eq!(names(folder.path()).len(), before.len() - 1);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_half_table() {
    let folder = TempDir::new().unwrap();
    // A limit on the size of files fails in the same place as a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; '{}' build --format htb KQvK --dir t",
        env!("CARGO_BIN_EXE_hoffman")
    );
    let output =
        Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("hoffman: ") && err.contains("t/kqk.htb"), "{err}");
    assert_eq!(names(&folder.path().join("t")), ["kk.htb"]);
}

#[test]
fn bench_does_not_depend_on_threads() {
    let folder = TempDir::new().unwrap();
    let one = run(folder.path(), "bench --threads 1");
    let many = run(folder.path(), "bench --threads 3");
    assert_eq!((one.code, many.code), (0, 0));
    assert_eq!(one.out, many.out);
    assert!(one.out.trim_end().parse::<u64>().is_ok(), "{}", one.out);
    assert!(one.err.ends_with(" s\n"), "{}", one.err);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn modern_misuse_is_told_apart() {
    let folder = TempDir::new().unwrap();
    for line in [
        "solve",
        "solve --zip x",
        "build",
        "build --format htb KQvK --men 3",
        "build --format htb --men 1",
        "build --format htb KQvK --threads 0",
        "build KQvK --format zip",
        "stats",
        "verify",
        "verify x --sample 0",
        "bench x",
    ] {
        let misuse = run(folder.path(), line);
        assert_eq!((misuse.code, misuse.out.as_str()), (2, ""), "{line}");
        assert!(misuse.err.starts_with("error: "), "{line}: {}", misuse.err);
    }
    run(folder.path(), "build foo").refused(1, &["'foo'"]);
    run(folder.path(), "build --format htb KQvK KQ").refused(1, &["KQ"]);
    run(folder.path(), "build --format htb KQQQQQQvKQQQQQQ").refused(1, &["memory"]);
    run(folder.path(), "build --format htb --men 12").refused(1, &["memory"]);
}

#[test]
fn help_shows_both_command_lines() {
    let folder = TempDir::new().unwrap();
    for line in ["", "-h", "--help", "help"] {
        let help = run(folder.path(), line);
        assert_eq!(help.code, 0, "{line}");
        assert!(help.out.contains("solve") && help.out.contains("hoffman -g"), "{line}");
    }
    assert_eq!(run(folder.path(), "--version").out, "Hoffman 2.0.0 (Rust)\n");
}

// ------------------------------------------------------------------------ classic options

#[test]
fn generates_from_control_files() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    fs::write(folder.path().join("kqk.xml"), KQK).unwrap();
    let missing = run(folder.path(), "-g kqk.xml");
    assert_eq!(missing.code, 1);
    for word in ["kqk.xml, line 7, <futurebase>", "kk.htb"] {
        assert!(missing.err.contains(word), "{}", missing.err);
    }
    let kk = run(folder.path(), "-g kk.xml");
    assert_eq!((kk.code, kk.out.as_str()), (0, ""), "{}", kk.err);
    assert!(kk.err.starts_with("Hoffman 2.0.0 (Rust)\nTotal indices: 462\n"), "{}", kk.err);
    let kqk = run(folder.path(), "-gvt2 -U 0 -o other.htb kqk.xml --compress-files");
    assert_eq!((kqk.code, kqk.out.as_str()), (0, ""), "{}", kqk.err);
    assert!(kqk.err.contains("ignored") && kqk.err.contains("KQvK: ok"), "{}", kqk.err);
    let quiet = run(folder.path(), "-qg kqk.xml");
    assert_eq!((quiet.code, quiet.err.as_str()), (0, "Hoffman 2.0.0 (Rust)\n"));
    assert_eq!(run(folder.path(), "-v kqk.htb").code, 0);
    assert_eq!(names(folder.path()), ["kk.htb", "kk.xml", "kqk.htb", "kqk.xml", "other.htb"]);
}

#[test]
fn control_files_are_built_in_the_order_of_need() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    fs::write(folder.path().join("kqk.xml"), KQK).unwrap();
    fs::write(folder.path().join("again.xml"), KQK.replace("kk.htb", "./k[k].htb")).unwrap();
    let first = run(folder.path(), "build kqk.xml kk.xml");
    let said = "kk.htb: written, 462 legal positions\nkqk.htb: written, 47136 legal positions\n";
    assert_eq!((first.code, first.out.as_str()), (0, said), "{}", first.err);
    let again = run(folder.path(), "build again.xml kk.xml --dir .");
    assert!(again.out.starts_with("./kk.htb: kept\n"), "{} {}", again.out, again.err);
    // A wrong file is reported before anything is done.
    fs::write(folder.path().join("wrong.xml"), "<tablebase>").unwrap();
    fs::remove_file(folder.path().join("kk.htb")).unwrap();
    run(folder.path(), "build kk.xml wrong.xml").refused(1, &["wrong.xml"]);
    assert!(!folder.path().join("kk.htb").exists());
}

#[test]
fn all_files_that_are_named_are_worked_on() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("kk.xml", KK);
    write("kqk.xml", KQK);
    let sizes = run(folder.path(), "-s kqk.xml kk.xml");
    let said = "kqk.xml: Total indices: 57288\nkk.xml: Total indices: 462\n";
    assert_eq!((sizes.code, sizes.out.as_str()), (0, said));
    run(folder.path(), "-g -v kk.xml missing.xml").refused(1, &["missing.xml"]);
    run(folder.path(), "-g kk.xml kqk.xml -o x.htb").refused(2, &["-o names the output of one"]);
    run(folder.path(), "-g kk.xml -i").refused(2, &["-i and -s go without -g"]);
    write("too.xml", KK);
    let twice = ["too.xml and kk.xml both make kk.htb"];
    run(folder.path(), "-g kk.xml too.xml").refused(1, &twice);
    run(folder.path(), "build kk.xml too.xml").refused(1, &twice);
    write("one.xml", &KQK.replace("kqk.htb", "one.htb").replace("kk.htb", "two.htb"));
    write("two.xml", &KQK.replace("kqk.htb", "two.htb").replace("kk.htb", "./one.htb"));
    let ring = ["two.xml needs './one.htb' of one.xml, which needs the table of two.xml"];
    run(folder.path(), "-g one.xml two.xml").refused(1, &ring);
    assert!(!names(folder.path()).iter().any(|name| name.contains(".htb")));
    let both = run(folder.path(), "-g -v kqk.xml kk.xml");
    assert_eq!(both.code, 0, "{}", both.err);
    let at = |text: &str| both.err.find(text).unwrap_or_else(|| panic!("{text}: {}", both.err));
    assert!(at("Wrote 'kk.htb'") < at("Wrote 'kqk.htb'"));
    assert!(at("Verifying 'kk.htb'") < at("Verifying 'kqk.htb'"));
}

#[test]
fn a_table_never_replaces_what_it_is_made_from() {
    let folder = with_tables();
    let at = |name: &str| folder.path().join(name);
    let before = fs::read(at("kk.htb")).unwrap();
    let replaces = ["own.xml, line 7, <futurebase>", "the output file"];
    for output in ["kk.htb", "./kk.htb", "../here/kk.htb", "linked/kk.htb", "link.htb", "hard.htb"]
    {
        let up = folder.path().file_name().unwrap().to_str().unwrap();
        let output = output.replace("here", up);
        #[cfg(unix)]
        if output == "link.htb" {
            std::os::unix::fs::symlink("kk.htb", at("link.htb")).unwrap();
            std::os::unix::fs::symlink(".", at("linked")).unwrap();
        }
        if output == "hard.htb" {
            fs::hard_link(at("kk.htb"), at("hard.htb")).unwrap();
        }
        if !at(&output).exists() {
            continue;
        }
        fs::write(at("own.xml"), KQK.replace("kqk.htb", &output)).unwrap();
        run(folder.path(), "-g own.xml").refused(1, &replaces);
        run(folder.path(), "plan own.xml").refused(1, &replaces);
        assert_eq!(fs::read(at("kk.htb")).unwrap(), before, "{output}");
    }
    fs::write(at("own.xml"), KQK).unwrap();
    run(folder.path(), "-g own.xml -o ./own.xml").refused(1, &["replace the control file"]);
    assert_eq!(fs::read_to_string(at("own.xml")).unwrap(), KQK);
    // A pattern does not mean the table itself.
    let bare = KQK.replace("\"kk.htb", "\"kk*.htb").replace("kqk.htb", "kkq.htb");
    fs::remove_file(at("hard.htb")).unwrap();
    fs::write(at("own.xml"), bare).unwrap();
    for _ in 0..2 {
        let made = run(folder.path(), "-g own.xml");
        assert_eq!(made.code, 0, "{}", made.err);
    }
}

#[test]
fn plans_take_what_builds_take() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    fs::write(folder.path().join("kqk.xml"), KQK).unwrap();
    let race = KK
        .replace(
            "<output filename=\"kk.htb\"/>",
            "<pawngen white-pawn-locations=\"b3\" \
            black-pawn-locations=\"b6\"/><prune color=\"white\" move=\"P=?\" type=\"discard\"/> \
            <prune color=\"black\" move=\"P=?\" type=\"discard\"/>",
        )
        .replace(
            "<piece color=\"white\"",
            "<prune-enable color=\"white\" type=\"discard\"/> \
            <prune-enable color=\"black\" type=\"discard\"/><piece color=\"white\"",
        );
    fs::write(folder.path().join("race.xml"), race).unwrap();
    let plan = run(folder.path(), "plan kqk.xml kk.xml race.xml --json");
    assert_eq!(plan.code, 0, "{}", plan.err);
    let plan = plan.json();
    let tables = plan["tables"].as_array().unwrap();
    let planned: Vec<&str> = tables.iter().map(|table| table["table"].as_str().unwrap()).collect();
    let family = ["race-0-0.htb", "race-0-1.htb", "race-1-0.htb", "race-1-1.htb"];
    assert_eq!(planned[..2], ["kk.htb", "kqk.htb"]);
    assert_eq!(planned[2..], family);
    assert_eq!(tables[1]["needs"][0], "kk.htb");
    assert_eq!(tables[5]["needs"].as_array().unwrap().len(), 2);
    assert!(
        run(folder.path(), "plan --format htb --men 3 --dir .")
            .out
            .contains("kqk.htb: 57288 indices")
    );
    run(folder.path(), "plan kk.xml KQvK").refused(2, &["planned alone"]);
}

#[test]
fn plans_keep_finished_tables_of_control_files() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    fs::write(folder.path().join("kqk.xml"), KQK).unwrap();
    let kept = || {
        let plan = run(folder.path(), "plan kqk.xml kk.xml --json");
        assert_eq!(plan.code, 0, "{}", plan.err);
        let plan = plan.json();
        [0, 1].map(|at| plan["tables"][at]["kept"].as_bool().unwrap())
    };
    assert_eq!(kept(), [false, false]);
    assert_eq!(run(folder.path(), "-g kk.xml").code, 0);
    assert_eq!(kept(), [true, false]);
    assert_eq!(run(folder.path(), "-g kqk.xml").code, 0);
    assert_eq!(kept(), [true, true]);
    let nothing_to_do = run(folder.path(), "plan kqk.xml kk.xml").out;
    assert!(nothing_to_do.contains("time: about 0.0 s, 0.0 s of"), "{nothing_to_do}");
    // What has to be made again leads to all that needs it.
    fs::remove_file(folder.path().join("kk.htb")).unwrap();
    assert_eq!(kept(), [false, false]);
    // A table of another file is none of this one.
    assert_eq!(run(folder.path(), "-g kk.xml").code, 0);
    fs::write(folder.path().join("kqk.xml"), KQK.replace("<dtm/>", "<basic/>")).unwrap();
    assert_eq!(kept(), [true, false]);
}

#[test]
fn futurebases_are_looked_for_in_both_places() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("kk.xml", KK);
    write("kqk.xml", KQK);
    let both = run(folder.path(), "build kqk.xml kk.xml --dir out");
    assert_eq!(both.code, 0, "{}", both.err);
    assert_eq!(names(&folder.path().join("out")), ["kk.htb", "kqk.htb"]);
    let again = run(folder.path(), "build kqk.xml kk.xml --dir out");
    assert_eq!(again.out, "out/kk.htb: kept\nout/kqk.htb: kept\n", "{}", again.err);
    // The current folder serves where the other one has no such file.
    fs::rename(folder.path().join("out/kk.htb"), folder.path().join("kk.htb")).unwrap();
    let here = run(folder.path(), "build kqk.xml --dir new");
    assert_eq!(here.code, 0, "{}", here.err);
    write("any.xml", &KQK.replace("\"kk.htb", "\"k[k].htb"));
    assert_eq!(run(folder.path(), "build any.xml --dir newer").code, 0);
}

#[test]
fn a_width_that_is_too_small_costs_nothing() {
    let folder = with_tables();
    let narrow = KQK.replace("<dtm/>", "<dtm bits=\"3\"/>");
    fs::write(folder.path().join("narrow.xml"), narrow).unwrap();
    let made = run(folder.path(), "-g narrow.xml -o narrow.htb");
    assert_eq!(made.code, 0, "{}", made.err);
    for part in [
        "narrow.xml: distances need 5 bits, and 3 are asked for; the table has 5",
        "narrow.xml, line 8, <output>: the output narrow.htb given to the program overrides this",
    ] {
        assert!(made.err.contains(part), "{part}: {}", made.err);
    }
    assert!(run(folder.path(), "-i narrow.htb").out.contains("<dtm bits=\"5\"/>"));
    assert!(run(folder.path(), "build narrow.xml").out.contains("kqk.htb: kept"));
}

#[test]
fn messages_say_what_would_help() {
    let folder = with_tables();
    let write = |text: &str| fs::write(folder.path().join("x.xml"), text).unwrap();
    write(&KQK.replace("   <futurebase filename=\"kk.htb\"/>\n", ""));
    let line = "write <futurebase filename=\"kk.htb\"/> or <prune color=\"black\" move=\"KxQ\" \
                type=\"discard\"/> with <prune-enable color=\"black\" type=\"discard\"/>";
    let missing = run(folder.path(), "-g x.xml");
    assert!(missing.err.contains(line), "{}", missing.err);
    let enable = "<prune-enable color=\"white\" type=\"discard\"/>";
    let rook = KQK.replace("queen\"/>", "rook\" location=\"a1 a2 a3\"/>");
    write(&rook.replace("<dtm/>", &format!("<dtm/>{enable}")));
    let many = run(folder.path(), "-g x.xml");
    assert!(many.err.contains("write <prune color=\"white\" move=\"Ra4\""), "{}", many.err);
    assert!(many.err.lines().any(|l| l.ends_with(" more")), "{}", many.err);
    let prune = "<prune color=\"white\" move=\"Q.*\" type=\"discard\"/>";
    write(&KQK.replace("<dtm/>", &format!("<dtm/>{enable}{prune}")));
    let hinted = run(folder.path(), "-g x.xml");
    assert!(hinted.err.contains("patterns are those of a shell"), "{}", hinted.err);
    // A file of other men says so, whatever else is wrong with it.
    let pruned = KQK.replace("<dtm/>", &format!("<dtm/>{enable}")).replace("kqk.htb", "pruned.htb");
    write(&pruned);
    assert_eq!(run(folder.path(), "-g x.xml").code, 0);
    write(&KQK.replace("queen", "rook").replace("\"kk.htb", "\"pruned.htb"));
    run(folder.path(), "-g x.xml").refused(1, &["line 7, <futurebase>", "no single move leads"]);
    write(&KQK.replace("kqk.htb", "nowhere/kqk.htb"));
    let words = ["x.xml, line 8, <output>", "cannot write to nowhere"];
    run(folder.path(), "-g x.xml").refused(1, &words);
    run(folder.path(), "build x.xml").refused(1, &words);
}

#[test]
fn prunes_of_a_capture_that_cannot_happen_may_contradict_each_other() {
    let folder = TempDir::new().unwrap();
    let text = |knight: &str| {
        let man = |color: &str, role: &str, at: &str| {
            format!("<piece color=\"{color}\" type=\"{role}\" location=\"{at}\"/>\n")
        };
        let prune = |color: &str, kind: &str, effect: &str| {
            format!(
                "<prune-enable color=\"{color}\" type=\"{effect}\"/>
                 <prune color=\"{color}\" move=\"{kind}\" type=\"{effect}\"/>"
            )
        };
        let inside = [
            "<dtm/>".to_owned(),
            man("white", "knight", knight),
            man("black", "queen", "d4"),
            man("black", "queen", "b5"),
            prune("white", "N*", "concede"),
            prune("white", "?xQ", "discard"),
            prune("black", "*", "discard"),
        ];
        KK.replace("<output", &format!("{}<output", inside.concat()))
    };
    fs::write(folder.path().join("far.xml"), text("f8")).unwrap();
    let far = run(folder.path(), "-g far.xml");
    assert_eq!(far.code, 0, "{}", far.err);
    fs::write(folder.path().join("near.xml"), text("f3")).unwrap();
    let near = run(folder.path(), "-g near.xml");
    assert!(near.code == 1 && near.err.contains("conflicting WHITE pruning"), "{}", near.err);
}

#[test]
fn tables_that_nothing_can_hold_are_refused() {
    let folder = TempDir::new().unwrap();
    let queens = "<piece color=\"white\" type=\"queen\"/>".repeat(14);
    let text = KK.replace("<output", &format!("<dtm/>{queens}<output"));
    fs::write(folder.path().join("many.xml"), text).unwrap();
    let words = ["many.xml, line 3, <tablebase>", "16 pieces that move freely"];
    run(folder.path(), "-g many.xml").refused(1, &words);
    run(folder.path(), "plan many.xml").refused(1, &words);
}

#[test]
fn many_elements_take_no_time_and_few_words() {
    let folder = with_tables();
    let write = |name: &str, inside: &str| {
        let text = KQK.replace("</tablebase>", &format!("{inside}</tablebase>"));
        fs::write(folder.path().join(name), text).unwrap();
    };
    let lines = |count: usize, line: &dyn Fn(usize) -> String| {
        (0..count).map(|n| line(n) + "\n").collect::<String>()
    };
    write("men.xml", &lines(90_000, &|_| "<piece color=\"white\" type=\"rook\"/>".to_owned()));
    run(folder.path(), "-s men.xml").refused(1, &["men.xml, line", "90003, at most 32"]);
    let prune =
        |n| format!("<prune color=\"white\" move=\"{}{n}\" type=\"discard\"/>", "*a".repeat(90));
    let enable = "<prune-enable color=\"white\" type=\"discard\"/>";
    write("prunes.xml", &(enable.to_owned() + &lines(10_000, &prune)));
    let pruned = run(folder.path(), "-g prunes.xml");
    assert_eq!(pruned.code, 0, "{}", pruned.err);
    assert!(pruned.err.contains("and 9980 more remarks") && pruned.err.lines().count() < 40);
    write("said.xml", &lines(3000, &|_| "<tablebase-statistics/>".to_owned()));
    let said = run(folder.path(), "-g said.xml");
    assert!(said.err.contains("ignored here (and 2999 times more)"), "{}", said.err);
    assert!(said.err.lines().count() < 10, "{}", said.err);
    // Headers of tables are read in the same way.
    let header = lines(50_000, &|n| format!("<futurebase filename=\"f{n}.htb\"/><wizard/>"));
    let text =
        KQK.replace("<dtm/>", "<dtm bits=\"8\"/>").replace("<output", &format!("{header}<output"));
    fs::write(folder.path().join("header.htb"), text).unwrap();
    assert_eq!(run(folder.path(), "stats header.htb").code, 1);
}

#[test]
fn bad_control_files_are_refused() {
    let folder = TempDir::new().unwrap();
    for (text, words) in [
        ("rubbish", vec!["bad.xml"]),
        ("<tablebase><dtm/><output filename='x'/></tablebase>", vec!["bad.xml"]),
        (&KQK.replace("   <futurebase filename=\"kk.htb\"/>\n", ""), vec!["bad.xml", "KxQ"]),
        (&KQK.replace("queen", "quene"), vec!["bad.xml, line 6, <piece>", "quene"]),
        (&KQK.replace("   <output filename=\"kqk.htb\"/>\n", ""), vec!["bad.xml", "output"]),
    ] {
        fs::write(folder.path().join("bad.xml"), text).unwrap();
        run(folder.path(), "-q -g bad.xml").refused(1, &words);
        assert_eq!(names(folder.path()), ["bad.xml"]);
    }
    run(folder.path(), "-g nix.xml").refused(1, &["nix.xml"]);
}

/// A control file may come through a pipe, and is not read for ever.
#[cfg(unix)]
#[test]
fn control_files_may_be_pipes_that_end() {
    let folder = TempDir::new().unwrap();
    let stdin = |line: &str| {
        let arguments: Vec<_> = line.split(' ').collect();
        run_with(folder.path(), &arguments, KK)
    };
    let size = stdin("-s /dev/stdin");
    assert_eq!((size.code, size.out.as_str()), (0, "Total indices: 462\n"), "{}", size.err);
    let made = stdin("-g -q -o kk.htb /dev/stdin");
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(names(folder.path()), ["kk.htb"]);
    for line in ["-s /dev/zero", "-g -q -o zero.htb /dev/zero"] {
        run(folder.path(), line).refused(1, &["/dev/zero", "larger than 4194304 bytes"]);
    }
    run(folder.path(), "-i /dev/zero").refused(1, &["/dev/zero", "not an ordinary file"]);
}

#[test]
fn shows_headers_and_sizes() {
    let folder = with_tables();
    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    let table = run(folder.path(), "-i kqk.htb");
    assert_eq!(table.code, 0);
    assert!(table.out.starts_with("<?xml version=\"1.0\""), "{}", table.out);
    assert!(table.out.ends_with("</tablebase>\n") && table.out.contains("<generation-statistics>"));
    assert_eq!(table.err, "Hoffman 2.0.0 (Rust)\nLoading 'kqk.htb'\n57288 total indices\n");
    let control = run(folder.path(), "-i kk.xml");
    assert_eq!(control.code, 0, "{}", control.err);
    for part in ["<!-- bare -->", "<dtm/>", "<index type=\"combinadic5\" symmetry=\"8\"/>"] {
        assert!(control.out.contains(part), "{part}: {}", control.out);
    }
    assert!(!control.out.contains("offset"), "{}", control.out);
    let size = run(folder.path(), "-s kk.xml");
    assert_eq!((size.code, size.out.as_str()), (0, "Total indices: 462\n"));
    run(folder.path(), "-i nix.htb").refused(1, &["nix.htb"]);
    fs::write(folder.path().join("KQvK.rtbw"), [0x71, 0xe8, 0x23, 0x5d]).unwrap();
    run(folder.path(), "-i KQvK.rtbw").refused(1, &["KQvK.rtbw"]);
    assert_eq!(run(folder.path(), "-i").code, 0);
}

#[test]
fn classic_misuse_is_told_apart() {
    let folder = TempDir::new().unwrap();
    for line in [
        "-z",
        "-g",
        "-g -p x",
        "-g x -t 0",
        "-g x -t two",
        "-p x -o y",
        "-g x -o",
        "-g x -d 0",
        "--zip",
        "-q",
        "-s",
    ] {
        let misuse = run(folder.path(), line);
        misuse.refused(2, &["Classic options:"]);
    }
    run(folder.path(), "-p").refused(1, &["No valid tablebases to probe!"]);
    for line in ["x", "srve --dir ."] {
        let word = line.split(' ').next().unwrap();
        run(folder.path(), line).refused(2, &[&format!("there is no command '{word}'")]);
    }
}

/// The transcript of the description, without its escape sequences: these go to terminals only.
const SESSION: &str = include_str!("../data/session.txt");

#[test]
fn the_prompt_answers_as_the_original() {
    let folder = with_tables();
    let lines = [
        "8/8/8/8/4P3/8/1k6/4K3 w",
        "zzz",
        "e4e5",
        "b2c3",
        "12",
        "99999999",
        "8/4P3/4K3/8/8/8/8/k7 w",
        "e7e8=Q",
    ];
    let session =
        run_with(folder.path(), &["-p", "kpk.htb", "kqk.htb"], &(lines.join("\n") + "\n"));
    assert_eq!(session.code, 0);
    assert_eq!(session.err, "Hoffman 2.0.0 (Rust)\nLoading 'kpk.htb'\nLoading 'kqk.htb'\n");
    assert_eq!(session.out.trim_end(), SESSION.trim_end());
    assert!(session.out.ends_with("move? \n"));
}

#[test]
fn the_prompt_takes_moves_back() {
    let folder = with_tables();
    let lines = "8/8/8/8/4P3/8/1k6/4K3 w\n\ne1e3\ne4e5\r\nundo\n8/8/8/8/8/8/8/8 w";
    let session = run_with(folder.path(), &["-p", "kpk.htb"], lines);
    assert_eq!(session.code, 0, "{}", session.err);
    let out = session.out;
    assert!(
        out.contains(
            "move? e1e3\ne1e3 cannot be played: the piece on e1 cannot go to e3\nBad input\n\n\
             Index, FEN or move? e4e5\nIndex 126789 "
        ),
        "{out}"
    );
    assert!(out.contains("move? undo\nIndex 97892 (kpk.htb)\nWhite wins in 11\n"), "{out}");
    assert!(out.ends_with("FEN 8/8/8/8/8/8/8/8 w - -\nIndex, FEN or move? \n"), "{out}");
    let history = folder.path().join(".hoffman_history");
    assert!(!history.exists(), "only lines typed on a terminal are remembered");
}

#[test]
fn the_prompt_uses_the_tables_that_load() {
    let folder = with_tables();
    fs::write(folder.path().join("bad.htb"), "text").unwrap();
    let session = run_with(folder.path(), &["-p", "bad.htb", "kpk.htb"], "97892\n");
    assert_eq!(session.code, 1);
    assert!(session.out.contains("Index 97892 (kpk.htb)\n"), "{}", session.out);
    assert!(session.err.contains("Error loading tablebase 'bad.htb'"), "{}", session.err);
}

/// The folder with published Syzygy tables; none, loudly, if it is not there.
fn syzygy() -> Option<std::path::PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, Into::into);
    let folder = shared.join("data/syzygy");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {} is missing; set HOFFMAN_SHARED", folder.display());
    None
}

#[test]
fn syzygy_tables_are_used_like_others() {
    let Some(syzygy) = syzygy() else { return };
    let folder = with_tables();
    let there = syzygy.to_str().unwrap();
    fs::copy(syzygy.join("KPvKP.rtbw"), folder.path().join("KPvKP.rtbw")).unwrap();
    let fen = "8/8/8/8/pP6/5k2/8/2K5 b - b3";
    let prompt = |arguments: &[&str]| run_with(folder.path(), arguments, &format!("{fen}\n"));
    let session = prompt(&["-p", "-S", there, "./KPvKP.rtbw", "KPvK.rtbw", "KQvKP.rtbw"]);
    assert_eq!(session.code, 0, "{}", session.err);
    assert!(session.out.contains(" (./KPvKP.rtbw)\nDraw\n"), "{}", session.out);
    assert!(!session.err.contains("without"), "{}", session.err);
    // Alone it does not know what a capture leads to, and says so.
    let alone = prompt(&["-p", "KPvKP.rtbw"]);
    assert_eq!(alone.code, 0, "{}", alone.err);
    assert!(alone.out.contains(" (KPvKP.rtbw)\nNO SCORE AVAILABLE\n"), "{}", alone.out);
    assert!(alone.err.contains("some positions have no score without KPvK.rtbw"), "{}", alone.err);
    let alone = run(folder.path(), "verify KPvKP.rtbw");
    assert_eq!((alone.code, alone.out.as_str()), (1, ""));
    assert!(alone.err.contains("without the files KPvK.rtbw"), "{}", alone.err);
    // On the command line of today.
    let json = run_with(folder.path(), &["probe", "--json", "-S", there, "KPvKP.rtbw", fen], "");
    assert_eq!((json.code, &json.json()["category"]), (0, &"draw".into()), "{}", json.err);
    let lines = run_with(folder.path(), &["probe", "-S", there, "KPvKP.rtbw"], &format!("{fen}\n"));
    assert_eq!((lines.code, &lines.json()["category"]), (0, &"draw".into()));
    let verified =
        run_with(folder.path(), &["verify", "KPvKP.rtbw", "-S", there, "--sample", "200"], "");
    assert_eq!(verified.code, 0, "{} {}", verified.out, verified.err);
    let stats = run_with(folder.path(), &["stats", "KQvK.rtbw", "-S", there, "--json"], "");
    assert_eq!(stats.json()["white_to_move"]["win"], 18081, "{}", stats.out);
    let classic = run_with(folder.path(), &["-v", "-S", there, "kqk.htb"], "");
    assert_eq!(classic.code, 0);
    assert!(classic.err.contains("Syzygy: 47136 compared, 0 different"), "{}", classic.err);
    let control = "<tablebase><prune-enable color=\"white\" type=\"discard\"/><basic/>\
                   <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>\
                   <piece color=\"white\" type=\"pawn\" location=\"a6 a7\"/>\
                   <futurebase filename=\"KQvK.rtbw\"/><futurebase filename=\"kk.htb\"/>\
                   <prune color=\"white\" move=\"P=[RBN]\" type=\"discard\"/>\
                   <output filename=\"promoted.htb\"/></tablebase>";
    fs::write(folder.path().join("promoted.xml"), control).unwrap();
    let _ = fs::remove_file(folder.path().join("KQvK.rtbw"));
    run(folder.path(), "build promoted.xml").refused(1, &["KQvK.rtbw"]);
    run(folder.path(), &format!("build --format htb KPvK -S {there}"))
        .refused(2, &["control files only"]);
    let built = run(folder.path(), &format!("build promoted.xml --syzygy {there}"));
    assert_eq!((built.code, names(folder.path()).contains(&"promoted.htb".to_owned())), (0, true));
}

#[test]
fn syzygy_tables_answer_where_no_other_does() {
    let Some(syzygy) = syzygy() else { return };
    let (folder, empty) = (with_tables(), TempDir::new().unwrap());
    let there = syzygy.to_str().unwrap();
    let probe = |folder: &Path, fen: &str| {
        let arguments = ["probe", "--json", "--dir", ".", "-S", there, fen];
        run_with(folder, &arguments, "")
    };
    let fen = "8/8/8/8/4Q3/8/1k6/4K3 w - - 0 1";
    let answer = probe(empty.path(), fen);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let json = answer.json();
    assert_eq!((&json["category"], json["dtm"].is_null()), (&"win".into(), true), "{json}");
    assert_eq!(json["moves"][0]["category"], "loss", "{json}");
    // A table of ours comes first.
    let json = probe(folder.path(), fen).json();
    assert_eq!((&json["category"], json["dtm"].is_number()), (&"win".into(), true), "{json}");
    let json = probe(empty.path(), "8/8/8/8/8/1k6/1p6/1K6 w - - 0 1").json();
    assert_eq!(json["category"], "draw", "{json}");
}

#[test]
fn tables_of_other_programs_are_refused_politely() {
    let folder = with_tables();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("KQvK.rtbz", &[0xd7, 0x66, 0x0c, 0xa5]);
    write("KQvK.rtbw", &[0x71, 0xe8, 0x23, 0x5d]);
    for (line, words) in [
        ("stats KQvK.rtbz", &["KQvK.rtbz", "unsupported (use rtbw instead)"][..]),
        ("stats KQvK.rtbw", &["KQvK.rtbw", "length is impossible"]),
        ("stats KRvK.rtbw", &["KRvK.rtbw", "there is no KRvK.rtbw in ."]),
        ("stats kqqqqk.nbw.emd", &["Illegally named Nalimov tablebase", "five men against one"]),
        ("stats kqk.nbw.emd", &["there is no kqk.nbw.emd in ."]),
        ("-i KQvK.rtbw", &["Error loading tablebase 'KQvK.rtbw'", "has no XML header"]),
        ("-i kqk.nbw.emd", &["Error loading tablebase 'kqk.nbw.emd'", "has no XML header"]),
    ] {
        run(folder.path(), line).refused(1, words);
    }
    let title = b"Compressed by DATACOMP v 1.0 (c) 1991--1998 Andrew Kadatch\r\n";
    let mut half = title.to_vec();
    half.resize(120, 0);
    (half[67], half[70], half[75]) = (100, 13, 2);
    write("kqk.nbw.emd", &half);
    run(folder.path(), "stats kqk.nbb.emd").refused(1, &["there is no kqk.nbb.emd in ."]);
    write("kqk.nbb.emd", &half);
    let reader = if cfg!(feature = "nalimov") { "is no Nalimov table" } else { "built without" };
    run(folder.path(), "stats kqk.nbw.emd --nalimov .").refused(1, &["kqk.nbw.emd", reader]);
    // At the prompt the other tables go on.
    let lines = "8/8/8/8/4P3/8/1k6/4K3 w\n";
    let session = run_with(folder.path(), &["-p", "kqk.nbw.emd", "kpk.htb"], lines);
    assert_eq!(session.code, 1);
    assert!(session.err.contains("Error loading tablebase 'kqk.nbw.emd'"), "{}", session.err);
    assert!(session.err.contains("3 piece Nalimov tablebases found"), "{}", session.err);
    assert!(session.out.contains("\nWhite wins in 11\n"), "{}", session.out);
    // What cannot be compared is no agreement.
    for line in ["-v -n . kpk.htb", "verify kpk.htb --nalimov ."] {
        let verified = run(folder.path(), line);
        assert_eq!(verified.code, 1, "{}", verified.err);
        assert!(verified.err.contains("Verifying tablebase against Nalimov\n"), "{}", verified.err);
        assert!(verified.err.contains("kpk.htb: Can't find Nalimov tablebase"), "{}", verified.err);
    }
    run(folder.path(), "verify kpk.htb --nalimov . --report r.json").refused(2, &["--nalimov"]);
    run(folder.path(), "-v -n nowhere kpk.htb").refused(1, &["nowhere: there is no such folder"]);
}

#[test]
fn probe_goes_on_without_tables_that_do_not_load() {
    let folder = with_tables();
    fs::write(folder.path().join("bad.htb"), "text").unwrap();
    let fen = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1";
    let answer = run_with(folder.path(), &["probe", "--json", "bad.htb", "kpk.htb", fen], "");
    assert_eq!((answer.code, &answer.json()["dtm"]), (1, &21.into()));
    assert!(answer.err.contains("bad.htb"), "{}", answer.err);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let folder = with_tables();
    let program = env!("CARGO_BIN_EXE_hoffman");
    let script = format!("('{program}' -i kqk.htb; echo $? >&2) | true");
    let output =
        Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.ends_with("0\n") && !err.contains("hoffman: "), "{err}");
}

/// Tables are made as small as is asked for, and say the same.
#[test]
fn tables_are_compressed_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    let [fast, normal, best] = ["fast", "normal", "best"].map(|how| {
        let made =
            run(folder.path(), &format!("build --format htb KBNvK --compress {how} --dir {how}"));
        assert_eq!(made.code, 0, "{}", made.err);
        size(&format!("{how}/kbnk.htb"))
    });
    // Version 1.7 makes it with 1629192 bytes.
    assert!(fast > normal && normal > best && normal <= 1_629_192, "{fast} {normal} {best}");
    let usual = run(folder.path(), "build --format htb KBNvK --dir usual");
    assert_eq!((usual.code, size("usual/kbnk.htb").abs_diff(normal) < 100), (0, true));
    let smaller = run(folder.path(), "convert fast/kbnk.htb -o best.htb --compress best");
    assert_eq!(smaller.code, 0, "{}", smaller.err);
    assert!(size("best.htb").abs_diff(best) < 200, "{}", size("best.htb"));
    assert_eq!(run(folder.path(), "verify best.htb --dir fast").code, 0);

    fs::write(folder.path().join("kk.xml"), KK).unwrap();
    assert_eq!(run(folder.path(), "-g -q --compress=best kk.xml").code, 0);
    run(folder.path(), "-g -q --compress nix kk.xml").refused(2, &["fast, normal or best"]);
}

/// A table becomes another and back, and both answer alike.
#[test]
fn tables_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let built = run(folder.path(), "build --format htb KQvK");
    assert_eq!(built.code, 0, "{}", built.err);
    let line = "convert KQvK -o naive.htb --index naive --symmetry 1 --json";
    let json = run(folder.path(), line).json();
    assert_eq!(json["index"], "naive");
    assert_eq!(json["indices"], 524_288);
    assert_eq!(json["bits"], 5);
    let back = run(folder.path(), "convert naive.htb -o back.htb --index combinadic5 --symmetry 8");
    assert_eq!(back.code, 0, "{}", back.err);
    assert!(back.out.starts_with("back.htb: combinadic5, symmetry 8, dtm of 5 bits, 57288 "));
    for (file, index) in [("naive.htb", "235473"), ("back.htb", "32627")] {
        let probe = run_with(folder.path(), &["-p", file], "8/8/K6k/8/4Q3/8/8/8 b - -\n");
        assert!(probe.out.contains(&format!("Index {index} ({file})\n")), "{}", probe.out);
        assert!(probe.out.contains("White wins in 8\n"), "{}", probe.out);
    }
    let verified = run(folder.path(), "verify naive.htb");
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    let refusals: [(&str, i32, &[&str]); 7] = [
        ("convert naive.htb -o x.htb --format dtc", 1, &["naive.htb: ", "conversion"]),
        ("convert naive.htb -o x.htb --symmetry 8", 1, &["symmetry 8", "naive", "use 4"]),
        ("convert naive.htb -o x.htb --bits 4", 1, &["5 bits", "4"]),
        ("convert naive.htb -o x.htb --format basic --bits 4", 1, &["--bits"]),
        ("convert none.htb -o x.htb", 1, &["none.htb"]),
        ("convert naive.htb -o none/x.htb", 1, &["cannot write none/x.htb"]),
        ("convert naive.htb -o . --index simple", 1, &["cannot write ."]),
    ];
    for (line, code, words) in refusals {
        run(folder.path(), line).refused(code, words);
        assert!(!folder.path().join("x.htb").exists());
    }
    let old = run(folder.path(), "convert naive.htb -o x.htb --index combinadic2");
    assert_eq!(old.code, 2);
    assert!(old.err.contains("not supported any more; use combinadic5"), "{}", old.err);
}
