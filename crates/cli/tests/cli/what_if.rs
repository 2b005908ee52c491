//! `hoffman solve` under assumptions: exclusions, goals, and the same as control files.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::common::{Run, run, run_with};

const FINE_25: &str = "6k1/7p/5P1K/8/8/8/7P/8 w - - 0 1";
const FINE_70: &str = "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1";
const RACE: &str = "8/8/8/8/k7/4p3/1P6/K7 b - - 0 1";

fn solve(folder: &Path, position: &str, more: &[&str]) -> Run {
    run_with(folder, &[&["solve", position], more].concat(), "")
}

#[track_caller]
fn told(position: &str, more: &[&str], lines: &str) {
    let folder = TempDir::new().unwrap();
    let answer = solve(folder.path(), position, more);
    assert!(answer.out.contains(lines), "{more:?}: {}{}", answer.out, answer.err);
    assert_eq!(answer.code, 0, "{}", answer.err);
}

#[test]
fn the_attacker_does_without_moves() {
    // A king and a rook that stays do not mate.
    let rook = "8/8/8/8/8/2k5/8/R3K3 w - - 0 1";
    let lines = "draw, proven if\n  White loses by moving a man from a1\n\
                 in chess: White at least draws\n";
    told(rook, &["--exclude-from", "a1"], lines);
    told(rook, &["--exclude-from", "h8"], "White wins, proven if\n  White loses by moving");
    // The other side is not restricted.
    let lines = "White wins, proven if\n  Black loses by moving a man to a2 h1\n\
                 in chess: nothing follows\n";
    told(rook, &["--exclude-to", "a2 h1", "--attacker", "B"], lines);
    let lines = "White wins, proven if\n  White loses by P*=[QB]\nin chess: White wins\n";
    told(FINE_25, &["--exclude-promotion-to", "qb"], lines);
    told(FINE_70, &["--exclude-captures"], "draw, proven if\n  White loses by ?x*\n");
    let lines = "draw, proven if\n  White loses by ?x[P]*\n";
    told(FINE_70, &["--exclude-captures-of", "P"], lines);
}

/// Black's rooks and bishops stand in each other's way and can stand in far too many ways for
/// slices; 40,252 positions arise, as is published, and a mate in 36 moves.
#[test]
fn few_positions_are_looked_at_one_by_one() {
    let folder = TempDir::new().unwrap();
    let problem = "8/8/8/1p6/6k1/1p2Q3/p1p1p3/rbrbK3 w - - 0 1";
    let exclusions = ["--exclude-from", "e1", "--exclude-to", "a1 c1", "--exclude-to-attacked"];
    let asked = [&exclusions[..], &["--distance", "--certificate", "mate.cert"]].concat();
    let answer = solve(folder.path(), problem, &asked);
    assert_eq!(answer.code, 0, "{}", answer.err);
    for lines in [
        "White wins in 36 moves, proven if\n",
        "  White loses by moving a man to a square that Black attacks\nin chess: White wins\n",
        "(all 40252 positions that can arise looked at one by one, ",
    ] {
        assert!(answer.out.contains(lines), "{lines}: {}", answer.out);
    }
    let checked = run(folder.path(), "check mate.cert");
    assert!(
        checked.out.contains("White wins in at most 36 moves"),
        "{}{}",
        checked.out,
        checked.err
    );

    // A rook has no need of attacked squares.
    let rook = "8/8/8/8/8/2k5/8/R3K3 w - - 0 1";
    let asked = ["--exclude-to-attacked", "--distance", "--json"];
    let json = solve(folder.path(), rook, &asked).json();
    assert_eq!(json["category"], "win");
    let told_of = &json["hoffman"];
    assert_eq!((&told_of["one_by_one"], &told_of["slices"]), (&true.into(), &Json::Null));
    assert_eq!(told_of["positions"], told_of["known"]);

    // Both ways come to the same.
    let endgame = "8/8/8/8/p1k5/P7/K7/8 w - - 0 1";
    let all = solve(folder.path(), endgame, &["--one-by-one", "--json"]).json();
    assert_eq!(all["hoffman"]["one_by_one"], true);
    let slices = solve(folder.path(), endgame, &["--outcome", "--moves", "--json"]).json();
    assert_eq!(all["moves"], slices["moves"]);
}

/// Far too many positions arise, but it is soon mate.
#[test]
fn pieces_of_chess_are_looked_at_one_by_one_for_a_while() {
    let mate = "6k1/5ppp/1b6/2n5/8/8/1QB2PPP/RN4K1 w - - 0 1";
    told(mate, &["--distance"], "White wins in ");
    told(mate, &[], " looked at one by one, ");
    let folder = TempDir::new().unwrap();
    let long = solve(folder.path(), "1n2k3/1b3ppp/8/2n5/8/8/1QB2PPP/RN4K1 w - - 0 1", &[]);
    assert_eq!(long.code, 1, "{}", long.err);
    assert!(long.out.contains("nothing is proven\n("), "{}", long.out);
    assert!(long.err.contains("the pieces stand in too many ways for this memory"), "{}", long.err);
}

/// Men that are kept where nothing may come, and that have not moved.
#[test]
fn kept_men_may_have_no_square_to_come_to() {
    let closed = "8/2K5/1P6/8/8/5k2/1b6/8 b - - 0 1";
    let kept = ["--confine", "bK=f3", "--exclude-to", "f3", "--confine", "wK=b6-d7"];
    let asked = [&["--outcome", "--attacker", "B"], &kept[..]].concat();
    told(closed, &asked, "draw, proven if\n");
    let frozen = "8/4p3/k7/8/8/2P5/8/2K5 w - - 0 1";
    let asked =
        ["--outcome", "--freeze", "c1", "--confine", "bK=b5-b7,a6,a7", "--exclude-to", "c1"];
    told(frozen, &asked, "White wins, proven if\n");
}

/// A man that does not move keeps no other one of its kind from moving, or from arising.
#[test]
fn frozen_men_are_single_men() {
    let promoted = "8/6P1/8/8/3k4/8/8/R6K w - - 0 1";
    let asked = ["--outcome", "--freeze", "R@a1", "--only-promote", "R"];
    told(promoted, &asked, "  the man on a1, or one like it that comes there, loses by moving\n");
    told(promoted, &asked, "White wins, proven if\n");
    told(promoted, &asked, "  g8=R  White wins\n");
    let queen = "8/6P1/8/8/8/1k6/8/Q6K w - - 0 1";
    told(queen, &["--outcome", "--freeze", "a1"], "  g8=Q+  White wins\n");
    let rooks = "8/8/8/8/3k4/8/7R/R6K w - - 0 1";
    told(rooks, &["--outcome", "--freeze", "a1"], "White wins, proven if\n");
    told("8/8/8/8/3k4/8/8/R6K w - - 0 1", &["--outcome", "--freeze", "a1"], "draw, proven if\n");
}

#[test]
fn goals_are_reached_or_not() {
    let queen = "Black promotes or mates: yes, proven\n";
    told(RACE, &["--goal", "queen"], queen);
    told("5k2/5P2/8/5K2/8/8/8/8 w - - 0 1", &["--goal", "stalemate"], "to stalemate or mates: yes");
    let knight = "8/8/8/8/3n4/2K5/8/7k w - - 0 1";
    told(knight, &["--goal", "win-of-piece"], "White takes one of QRBN or mates: yes, proven");
    told(knight, &["--goal", "win-of-piece=Q"], "White takes one of Q or mates: no, proven");
    told(FINE_70, &["--goal", "mate"], "White wins: yes, proven\n");
    told(FINE_70, &["--may-not-lose", "B"], "Black does not lose: no, proven\n");
    let held = "in chess: White at least draws\nWhite does not lose: yes, proven\n";
    told(FINE_70, &["--goal", "draw", "--exclude-captures"], held);
    let eased = ["--goal", "mate", "--confine", "bK=a8-c6"];
    told(FINE_70, &eased, "White wins: yes if so, not known in chess\n");

    let folder = TempDir::new().unwrap();
    let goal = solve(folder.path(), RACE, &["--goal", "queen", "--json"]).json();
    let goal = &goal["hoffman"]["goal"];
    assert_eq!(goal["is"], "Black promotes or mates");
    assert_eq!((&goal["assumed"], &goal["reached"]), (&true.into(), &true.into()));
    let none = solve(folder.path(), RACE, &["--promotion-wins", "B", "--json"]).json();
    assert!(none["hoffman"]["goal"].is_null(), "{none}");
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let refused = |position: &str, more: &str, named: &str| {
        let more: Vec<&str> = more.split(' ').collect();
        let answer = solve(folder.path(), position, &more);
        assert!(answer.code > 0 && answer.err.contains(named), "{more:?}: {}", answer.err);
        assert_eq!(answer.out, "", "{more:?}");
    };
    refused(FINE_70, "--exclude-from e9", "'e9' names no squares");
    refused(FINE_70, "--exclude-captures-of K", "'K' names no pieces: letters of QRBNP");
    refused(FINE_70, "--exclude-promotion-to P", "'P' names no pieces: letters of QRBN");
    refused(FINE_70, "--goal win", "'win' is no goal: mate, queen");
    refused(FINE_70, "--may-not-lose x", "'x' is no side: W or B");
    refused(FINE_70, "--attacker W", "--attacker names the side of --exclude-... and --goal");
    refused(FINE_70, "--goal draw --distance", "the goal is a draw");
    refused(FINE_70, "--goal mate --may-not-lose B", "cannot be used with");
    let never = "White loses by every move that would reach it";
    refused(FINE_70, "--goal win-of-piece --exclude-captures", never);
    refused(FINE_70, "--goal queen --exclude-promotion-to QRBN", never);

    let control = |more: &str, named: &str| {
        refused(FINE_70, &format!("--write-control set {more}"), named);
        assert!(!folder.path().join("set").exists(), "{more}");
    };
    let wins = "--promotion-wins W --promotion-wins B";
    let pawns = "8/8/8/8/k7/3p4/2P5/K7 w - - 0 1";
    let unlike = format!("--write-control set {wins} --no-capture W:KxP");
    refused(pawns, &unlike, "KxP unlike PxP, as both lead to");
    control(&format!("{wins} --freeze d5"), "a pawn that does not move (--freeze)");
    let rooks = "8/P7/8/8/3k4/8/7R/R6K w - - 0 1";
    let others = "a piece that does not move, among others of its kind, or pawns that may become";
    refused(rooks, "--outcome --write-control set --promotion-wins W --freeze a1", others);
    let rook = "8/P7/8/8/3k4/8/8/R6K w - - 0 1";
    refused(rook, "--outcome --write-control set --only-promote R --freeze a1", others);
    control(&format!("{wins} --exclude-from a1"), "do not start from (--exclude-from)");
    control(&format!("{wins} --exclude-to b1"), "pawns do not come to");
    control(&format!("{wins} --forbid-move W:Pd6"), "which pawn steps do");
    control(&format!("{wins} --confine wK=a1-h4 --confine bK=a5-h8"), "lose of both sides");
    control("--only-promote Q", "too many or too large tables");
}

/// The files of a set, for `hoffman build`.
fn control_files(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let xml = files.filter(|file| file.extension().is_some_and(|ext| ext == "xml"));
    xml.map(|file| file.to_str().unwrap().to_owned()).collect()
}

/// What tables say of a position, or of that behind a move, by their own rules.
fn said(answer: &Json) -> &str {
    let said = &answer["hoffman"]["said"]["result"];
    match answer["hoffman"]["pruned"].as_str() {
        Some("conceded") => "loss",
        Some("discarded") => "win",
        _ if said.is_null() => answer["category"].as_str().unwrap(),
        _ => said.as_str().unwrap(),
    }
}

/// Builds tables of what was written, and compares the position and its moves with the proof.
#[track_caller]
fn check_tables(position: &str, more: &str, files: usize, adds: Option<&str>) {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("set");
    let mut asked: Vec<&str> = more.split(' ').filter(|word| !word.is_empty()).collect();
    asked.extend(["--moves", "--json", "--write-control", "set"]);
    let answer = solve(folder.path(), position, &asked);
    assert!(answer.err.contains("make the tables with: hoffman build set/"), "{}", answer.err);
    let proved = answer.json();
    let assumes = proved["hoffman"]["assumes"].as_array().unwrap();
    let last = assumes.last().and_then(Json::as_str);
    assert!(adds.is_none_or(|adds| last == Some(adds)), "{assumes:?}");

    let names = control_files(&dir);
    assert_eq!(names.len(), files, "{names:?}");
    let of_position = format!("the table of the position {position}.");
    let is_root = |name: &&String| fs::read_to_string(name).unwrap().contains(&of_position);
    let root: Vec<&String> = names.iter().filter(is_root).collect();
    let [root] = *root else { panic!("{root:?}") };
    let build: Vec<&str> = names.iter().map(String::as_str).collect();
    let built = run_with(folder.path(), &[&["build", "--dir", "set"], &*build].concat(), "");
    assert_eq!(built.code, 0, "{more}: {}", built.err);
    let table = root.replace(".xml", ".htb");
    let probe = ["probe", "--json", "--dir", "set", "--table", &table, position];
    let probed = run_with(folder.path(), &probe, "").json();
    assert_eq!(said(&probed), proved["hoffman"]["assumed"], "{more}: {probed}");
    for m in proved["moves"].as_array().unwrap() {
        let same =
            probed["moves"].as_array().unwrap().iter().find(|other| other["uci"] == m["uci"]);
        assert_eq!(said(same.unwrap()), m["hoffman"]["assumed"], "{more}: {m} {probed}");
    }

    // The same files again are no trouble; a file that was changed is left alone.
    assert_eq!(solve(folder.path(), position, &asked).code, answer.code);
    fs::write(&names[0], "<tablebase/>").unwrap();
    solve(folder.path(), position, &asked).refused(1, &["is there and says something else"]);
}

#[test]
fn control_files_make_tables_of_the_same_game() {
    let wins = "--promotion-wins W --promotion-wins B";
    check_tables(RACE, wins, 4, None);
    check_tables("8/8/8/8/8/4k3/4P3/4K3 w - - 0 1", "--only-promote Q", 3, None);
    let spared = format!("{wins} --no-capture W:KxP");
    check_tables(RACE, &spared, 2, Some("Black wins by stalemate"));
    let kept = format!("{wins} --confine wK=a1-c3");
    check_tables(RACE, &kept, 4, Some("Black wins by stalemate"));
    check_tables("5k2/5P2/8/5K2/8/8/8/8 w - - 0 1", "--goal stalemate --only-promote QR", 4, None);
    let held = "8/8/8/8/3k4/7P/8/R6K w - - 0 1";
    let stays = Some("Black wins by stalemate");
    check_tables(held, "--outcome --promotion-wins W --freeze a1", 4, stays);
    check_tables(held, "--outcome --only-promote Q --freeze a1", 6, stays);
    check_tables(held, "--outcome --promotion-wins W --freeze h1", 4, stays);
    let rook = "8/8/8/8/8/2k5/4p3/R3K3 w - - 0 1";
    let taken = "--capture-wins B:KxR --promotion-wins B --exclude-to h1-h8";
    check_tables(rook, taken, 2, Some("Black wins by stalemate"));
}

/// The pawn beside may have come by a double step, as far as a table can tell.
#[test]
fn control_files_know_pawns_that_stand_side_by_side() {
    let wins = "--outcome --promotion-wins W --promotion-wins B";
    check_tables("4k3/8/8/1KPp4/8/8/8/8 w - - 0 1", wins, 4, None);
    check_tables("4k3/8/8/1K6/2Pp4/8/8/8 w - - 0 1", wins, 4, None);
    // They come side by side by taking a piece.
    check_tables("4k3/8/4p3/2PN4/1K6/8/8/8 w - - 0 1", wins, 8, None);
    check_tables("4k3/8/8/4p3/2P5/3r4/6K1/8 b - - 0 1", wins, 8, None);
    let folder = TempDir::new().unwrap();
    let spared = ["--promotion-wins", "W", "--promotion-wins", "B", "--no-capture", "W:KxP"];
    let asked = [&["--outcome", "--write-control", "set"], &spared[..]].concat();
    let answer = solve(folder.path(), "4k3/8/8/1KPp4/8/8/8/8 w - - 0 1", &asked);
    answer.refused(1, &["KxP unlike PxP, as both lead to"]);
}

/// One side holds in chess; what the other one has rests on promotions that win.
#[test]
fn certificates_hold_what_is_true_of_chess() {
    let folder = TempDir::new().unwrap();
    let cases = [
        ("4K3/r4P2/8/8/8/8/7k/8 b - - 0 1", "W", "Black"),
        ("8/7K/8/8/8/8/R4p2/4k3 w - - 0 1", "B", "White"),
    ];
    for (position, wins, holds) in cases {
        let asked = ["--outcome", "--promotion-wins", wins, "--certificate", "held"];
        let answer = solve(folder.path(), position, &asked);
        let follows = format!("in chess: {holds} at least draws\n");
        assert!(answer.out.contains(&follows), "{}{}", answer.out, answer.err);
        let checked = run(folder.path(), "check held");
        let said = format!(": {holds} at least draws, ");
        assert!(checked.code == 0 && checked.out.contains(&said), "{}{}", checked.out, checked.err);
    }
}

#[test]
fn help_names_what_if() {
    let folder = TempDir::new().unwrap();
    let help = run(folder.path(), "solve --help").out;
    for option in ["--exclude-from", "--goal", "--may-not-lose", "--attacker", "--write-control"] {
        assert!(help.contains(option), "{option}: {help}");
    }
}
