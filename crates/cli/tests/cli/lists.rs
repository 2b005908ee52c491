//! Lists, lines, annotated games, pictures, completions and manual pages, as a user asks for them.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{Run, kpkp as tables, names, python, run, run_with, small_kpkp};

/// Lines of JSON.
fn lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// ------------------------------------------------------------------------------------------ lists

/// Published numbers of mutual zugzwangs by ending: White to move draws and Black to move loses,
/// White to move loses and Black to move draws, whoever is to move loses.
fn published() -> Vec<(String, [u64; 3])> {
    let rows = include_str!("../data/zugzwangs.csv").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let (ending, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<u64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
        (ending.to_owned(), numbers.try_into().unwrap())
    };
    rows.skip(1).map(row).collect()
}

/// Compares the numbers of all tables of a folder that have published ones; how many there are.
fn compare_with_published(folder: &Path) -> usize {
    let mut compared = 0;
    for (ending, numbers) in published() {
        let table = format!("{}.htb", ending.to_lowercase().replace('v', ""));
        if folder.join(&table).is_file() {
            assert_eq!(zugzwangs(folder, &table), numbers, "{ending}");
            compared += 1;
        }
    }
    compared
}

/// What is on standard error, but for lines that say how far it is on a busy machine.
fn complaints(run: &Run) -> Vec<&str> {
    run.err.lines().filter(|line| !line.contains(" % after ")).collect()
}

/// The lines of a list, in an order of their own.
fn listed(folder: &Path, table: &str, query: &str) -> Vec<String> {
    let listed = run(folder, &format!("list {table} {query}"));
    assert_eq!((listed.code, complaints(&listed)), (0, vec![]), "{table} {query}");
    let mut lines: Vec<String> = listed.out.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// As many as were found one by one.
#[track_caller]
fn assert_count(folder: &Path, table: &str, query: &str, count: usize) {
    let counted = listed(folder, table, &format!("{query} --count"));
    assert_eq!(counted, [format!("{table}: {count}")], "{query}");
}

fn zugzwangs(folder: &Path, table: &str) -> [u64; 3] {
    let counted = run(folder, &format!("list {table} --zugzwang mutual --count --json"));
    assert_eq!(counted.code, 0, "{}", counted.err);
    let json = counted.json();
    let kind = |name: &str| json["kinds"][name].as_u64().unwrap_or(0);
    let kinds = ["draw-loss", "loss-draw", "loss-loss"].map(kind);
    assert_eq!(json["positions"], kinds.iter().sum::<u64>());
    kinds
}

#[test]
fn counts_of_mutual_zugzwangs_are_the_published_ones() {
    let compared = compare_with_published(tables());
    assert!(compared >= 15, "{compared}");
}

#[test]
#[ignore = "slow: builds endings of five men"]
fn counts_of_mutual_zugzwangs_of_five_men_are_the_published_ones() {
    let folder = TempDir::new().unwrap();
    let built = run(
        folder.path(),
        "build --format htb KRPvKR KBNvKN KNNvKQ KRBvKR KRNvKN KBPvKN KNPvK --dir .",
    );
    assert_eq!(built.code, 0, "{}", built.err);
    // Those of five men, and those behind their captures and promotions.
    let compared = compare_with_published(folder.path());
    assert!(compared >= 30, "{compared}");
}

#[test]
fn a_list_is_the_same_whoever_makes_it_and_from_either_container() {
    let folder = TempDir::new().unwrap();
    let table = tables().join("kpkp.htb");
    fs::copy(&table, folder.path().join("kpkp.htb")).unwrap();
    let packed = run(folder.path(), "convert kpkp.htb -o kpkp.hbf --dir .");
    assert_eq!(packed.code, 0, "{}", packed.err);
    let by = |how: &str| {
        let listed = run(folder.path(), &format!("list {how}"));
        assert_eq!((listed.code, complaints(&listed)), (0, vec![]));
        listed.out
    };
    let query = "--zugzwang mutual --json";
    let once = by(&format!("kpkp.htb {query} --threads 1"));
    assert_eq!(once.lines().count(), 121);
    assert_eq!(once, by(&format!("kpkp.htb {query} --threads 3")));
    assert_eq!(once, by(&format!("kpkp.hbf {query}")));
    // In little memory the entries are read by their indices, in their order.
    let sorted = |text: &str| {
        let mut all: Vec<&str> = text.lines().collect();
        all.sort_unstable();
        all.join("\n")
    };
    let little = by(&format!("kpkp.htb {query} --memory 48M"));
    assert_eq!(sorted(&once), sorted(&little));
    let counted = by("kpkp.htb --result win --distance 20.. --count --memory 48M");
    assert_eq!(counted, by("kpkp.htb --result win --distance 20.. --count"));
}

/// Small tables tell their zugzwangs without reading all values.
#[test]
fn zugzwangs_of_small_tables_are_those_of_entries() {
    let listed = |(folder, container): (&Path, &str), ending: &str, query: &str| {
        let listed =
            run(folder, &format!("list {ending}.{container} --zugzwang mutual --json {query}"));
        assert_eq!((listed.code, complaints(&listed)), (0, vec![]), "{ending} {query}");
        let mut lines: Vec<String> = listed.out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let fast = TempDir::new().unwrap();
    fs::copy(tables().join("krkp.htb"), fast.path().join("krkp.htb")).unwrap();
    let packed = run(fast.path(), "convert krkp.htb -o krkp.hbf --dir .");
    assert_eq!(packed.code, 0, "{}", packed.err);

    let mut found = 0;
    let small = small_kpkp();
    for (ending, folders) in [("knkp", &[small][..]), ("krkp", &[small, fast.path()])] {
        for query in ["", "--to-move black --pattern wK:a1-d4 --result loss"] {
            let entries = listed((tables(), "htb"), ending, query);
            for folder in folders {
                assert_eq!(listed((folder, "hbf"), ending, query), entries, "{ending} {query}");
                found += entries.len();
            }
        }
    }
    assert!(found > 55, "{found}");
}

/// EPD and PGN by python-chess, pictures as XML.
#[test]
fn what_is_printed_is_read_by_other_programs() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    let printed = |commands: &[&[&str]]| {
        let outputs = commands.iter().map(|words| {
            let ran = run_with(tables(), words, "");
            assert_eq!((ran.code, complaints(&ran)), (0, vec![]), "{words:?}");
            ran.out
        });
        outputs.collect::<Vec<String>>()
    };
    let read = |kind: &str, text: &str| -> usize {
        let file = folder.path().join(kind);
        fs::write(&file, text).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/documents.py");
        let read = Command::new(&python).arg(script).arg(kind).arg(file).output().unwrap();
        let [out, err] = [read.stdout, read.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(read.status.success(), "{out}{err}");
        out.trim().parse().unwrap()
    };

    let lists = printed(&[
        &["list", "kpkp.htb", "--zugzwang", "mutual"],
        &["list", "krkp.htb", "--only-move", "--longest", "50"],
        &["list", "krkp.htb", "--unique-line", "--longest", "50"],
    ])
    .concat();
    let count = lists.lines().count();
    assert!(count > 180 && lists.contains(" bm ") && lists.contains(" pv "), "{count}");
    assert_eq!(read("epd", &lists), count);

    let fen = "8/8/8/8/8/1k6/p7/R1K5 b - - 4 30";
    let games = folder.path().join("games");
    fs::write(&games, GAMES).unwrap();
    let games = printed(&[
        &["line", fen, "--dir", "."],
        &["line", fen, "--dir", ".", "--annotate"],
        &["annotate", games.to_str().unwrap(), "--dir", "."],
    ])
    .concat();
    assert_eq!(read("pgn", &games), games.matches("[Event ").count());

    for picture in [
        &["plot", "--dir", ".", "KRvKN", "-o", "-"][..],
        &["plot", "--dir", ".", fen, "--piece", "b3", "-o", "-"],
    ] {
        assert_eq!(read("svg", &printed(&[picture]).concat()), 1);
    }
}

#[test]
fn lists_of_results_and_distances_have_as_many_as_the_statistics() {
    let stats = run(tables(), "stats krkn.htb --json").json();
    let count = |query: &str| {
        let counted = run(tables(), &format!("list krkn.htb {query} --count --json"));
        assert_eq!(counted.code, 0, "{}", counted.err);
        counted.json()["positions"].as_u64().unwrap()
    };
    for (side, key) in [("white", "white_to_move"), ("black", "black_to_move")] {
        for result in ["win", "draw", "loss"] {
            let query = format!("--to-move {side} --result {result}");
            assert_eq!(count(&query), stats[key][result].as_u64().unwrap(), "{query}");
        }
        let histogram = stats[key]["histogram"].as_array().unwrap();
        let wins = |plies: i64| {
            let bar = histogram.iter().find(|bar| bar[0].as_i64() == Some(plies));
            bar.map_or(0, |bar| bar[1].as_u64().unwrap())
        };
        assert_eq!(count(&format!("--to-move {side} --result win --distance 1")), wins(1));
        let query = format!("--to-move {side} --result win --distance 38..40");
        assert_eq!(count(&query), wins(75) + wins(77) + wins(79), "{query}");
    }
    let longest = run(tables(), "list krkn.htb --longest 5 --json");
    let longest = lines(&longest.out);
    assert_eq!(longest.len(), 5);
    let plies: Vec<i64> = longest.iter().map(|l| l["dtm"].as_i64().unwrap().abs()).collect();
    assert!(plies.is_sorted_by(|a, b| a >= b) && plies[0] == 80, "{plies:?}");
    // White to move, the one that the statistics show is among the longest.
    let wins = run(tables(), "list krkn.htb --longest 20 --result win --to-move white --json");
    let shown = &stats["white_to_move"]["longest_win_fen"];
    assert!(lines(&wins.out).iter().any(|line| line["fen"] == *shown), "{}", wins.out);
}

#[test]
fn patterns_are_looked_for_in_all_images_and_shown_as_asked() {
    let listed = run_with(
        tables(),
        &[
            "list",
            "krkp.htb",
            "--pattern",
            "bK:h2 bP:h3 wR:a",
            "--result",
            "draw",
            "--to-move",
            "white",
        ],
        "",
    );
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.lines().count() > 3);
    for line in listed.out.lines() {
        let board = line.split(' ').next().unwrap();
        let ranks: Vec<&str> = board.split('/').collect();
        assert!(ranks[5].ends_with('p') && ranks[6].ends_with('k'), "{line}");
        assert!(line.contains(" w - - c0 \"Draw\";"), "{line}");
    }
    // Exchanging the colours, where that is the same ending, is an image too.
    let fits = |pattern: &str, more: &[&str]| {
        let words = ["list", "kpkp.htb", "--count", "--json", "--pattern", pattern];
        let counted = run_with(tables(), &[&words, more].concat(), "");
        assert_eq!(counted.code, 0, "{}", counted.err);
        counted.json()["positions"].as_u64().unwrap()
    };
    let white = fits("wP:a7 bP:c3", &["--to-move", "white"]);
    let black = fits("wP:a7 bP:c3", &["--to-move", "black"]);
    assert_eq!(white, fits("bP:a2 wP:c6", &["--to-move", "black"]));
    assert_eq!(white + black, fits("wP:a7 bP:c3", &[]));
    run_with(tables(), &["list", "kpkp.htb", "--pattern", "wR:a1"], "")
        .refused(1, &["kpkp.htb", "white rook more than the table"]);
}

#[test]
fn only_moves_and_unique_lines_say_which() {
    let only = run(tables(), "list kpk.htb --only-move --result win --distance 20.. --json");
    let only = lines(&only.out);
    assert!(only.len() > 20, "{}", only.len());
    for line in only.iter().step_by(only.len() / 8) {
        let probed = run_with(
            tables(),
            &["probe", line["fen"].as_str().unwrap(), "--json", "--dir", "."],
            "",
        );
        let json = probed.json();
        let moves = json["moves"].as_array().unwrap();
        let kept: Vec<_> = moves.iter().filter(|m| m["category"] == "loss").collect();
        assert_eq!((kept.len(), &kept[0]["uci"]), (1, &line["only"]), "{line}");
        assert!(moves.len() > 1);
    }
    let line = run(tables(), "list kpk.htb --unique-line=fastest --longest 1 --json").json();
    let moves = line["line"].as_array().unwrap();
    assert_eq!(moves.len() as u64, line["dtm"].as_i64().unwrap().unsigned_abs());
    let epd = run(tables(), "list kpk.htb --unique-line=fastest --longest 1").out;
    let (_, pv) = epd.split_once(" pv ").unwrap();
    let (pv, rest) = pv.split_once("; c0 ").unwrap();
    assert_eq!(pv.split(' ').count(), moves.len());
    assert!(pv.ends_with('#') && rest.ends_with(";\n"), "{epd}");
    // What wins alone wins soonest alone.
    let count = |how: &str| {
        let query = format!("list krkn.htb --distance ..6 --to-move white {how} --count --json");
        run(tables(), &query).json()["positions"].as_u64().unwrap()
    };
    let (winning, fastest) = (count("--unique-line"), count("--unique-line=fastest"));
    assert!(winning > 0 && winning < fastest, "{winning} {fastest}");
}

/// Moves are compared by rows, of entries as they are and of small tables, and one by one.
#[test]
fn moves_are_compared_alike_by_rows_and_one_by_one() {
    for (query, least) in [
        ("--only-move --pattern bP:c5", 2_000),
        ("--unique-line=fastest --distance ..3 --pattern wP:g6", 100),
    ] {
        let query = format!("{query} --json");
        let rows = listed(tables(), "kpkp.htb", &query);
        assert!(rows.len() >= least, "{query}: {}", rows.len());
        // In little memory the entries are read by their indices.
        assert!(rows == listed(tables(), "kpkp.htb", &format!("{query} --memory 48M")), "{query}");
        assert!(rows == listed(small_kpkp(), "kpkp.hbf", &query), "{query}");
    }
    for (query, count) in [
        ("--only-move", 1_315_206),
        ("--unique-line", 5_577),
        ("--unique-line=fastest --result win", 460_200),
    ] {
        for (folder, table) in [(tables(), "krkp.htb"), (small_kpkp(), "krkp.hbf")] {
            assert_count(folder, table, query, count);
        }
    }
    // There is no room for all that is to be kept of the moves.
    assert_count(tables(), "krkp.htb", "--unique-line --distance ..5 --memory 64M", 5_577);
}

#[test]
#[ignore = "slow: what is not in memory is decoded again and again"]
fn moves_are_compared_alike_where_little_is_kept() {
    for (folder, table) in [(tables(), "krkp.htb"), (small_kpkp(), "krkp.hbf")] {
        assert_count(folder, table, "--unique-line --memory 128M", 5_577);
    }
}

/// A pawn that may leave the table by a step may have its only move there.
#[test]
fn steps_out_of_a_table_are_compared_too() {
    let folder = TempDir::new().unwrap();
    let built = |line: &str| {
        let built = run(folder.path(), line);
        assert_eq!(built.code, 0, "{}", built.err);
    };
    built("build --men 3 --format htb --dir .");
    for (name, ranks, futurebase) in [
        ("upper", ["5", "6", "7"], r#"filename="k[qrbn]k.htb" type="promotion""#),
        ("lower", ["2", "3", "4"], r#"filename="upper.htb" type="normal""#),
    ] {
        let files = "abcdefgh".chars();
        let squares = files.flat_map(|file| ranks.map(|rank| format!("{file}{rank}")));
        let squares = squares.collect::<Vec<String>>().join(" ");
        let control = format!(
            r#"<tablebase><dtm bits="8"/>
            <piece color="white" type="king"/><piece color="black" type="king"/>
            <piece color="white" type="pawn" location="{squares}"/>
            <futurebase filename="kk.htb"/><futurebase {futurebase}/>
            <output filename="{name}.htb"/></tablebase>"#
        );
        fs::write(folder.path().join("control.xml"), control).unwrap();
        built("build control.xml --dir .");
    }
    let counted = run(folder.path(), "list lower.htb --only-move --count");
    assert_eq!(counted.out, "lower.htb: 14018\n");
    let pattern = ["list", "lower.htb", "--only-move", "--pattern", "wP:a4 bK:f4 wK:h1"];
    let white = run_with(folder.path(), &pattern, "");
    assert!(white.out.contains("8/8/8/8/P4k2/8/8/7K w - - dm 13; bm a5;"), "{}", white.out);
}

#[test]
fn lines_of_suicide_chess_end_with_the_last_man() {
    let folder = TempDir::new().unwrap();
    let control = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/suicide-rook-knight.xml")
        .display()
        .to_string();
    let built = run_with(folder.path(), &["build", &control, "--dir", "."], "");
    assert_eq!(built.code, 0, "{}", built.err);

    let table = "suicide-rook-knight.htb";
    let listed = run(folder.path(), &format!("list {table} --unique-line --json"));
    assert_eq!(listed.code, 0, "{}", listed.err);
    let found = lines(&listed.out);
    assert!(found.len() > 100, "{}", found.len());
    for line in found.iter().step_by(found.len() / 12) {
        let (fen, moves) = (line["fen"].as_str().unwrap(), line["line"].as_array().unwrap());
        let plies = line["dtw"].as_i64().unwrap();
        // Tables count a ply more if the game ends with the last man taken.
        assert!([0, 1].contains(&(plies.abs() - moves.len() as i64)), "{line}");
        let moves: Vec<&str> = moves.iter().map(|m| m.as_str().unwrap()).collect();
        // The winner moves first if it is won: in every second position there is one way to win.
        for played in (usize::from(plies < 0)..moves.len()).step_by(2) {
            let position = format!("{fen} moves {}", moves[..played].join(" "));
            let position = position.trim_end_matches(" moves ");
            let probed =
                run_with(folder.path(), &["probe", "--table", table, position, "--json"], "");
            let json = probed.json();
            let options = json["moves"].as_array().unwrap();
            let winning: Vec<_> = options.iter().filter(|m| m["category"] == "loss").collect();
            assert_eq!((winning.len(), &winning[0]["uci"]), (1, &moves[played].into()), "{line}");
        }
    }
}

#[test]
fn tables_with_prunes_claim_nothing_that_they_do_not_prove() {
    let folder = TempDir::new().unwrap();
    for name in ["kk.htb", "kqk.htb"] {
        fs::copy(tables().join(name), folder.path().join(name)).unwrap();
    }
    let control = "<?xml version=\"1.0\"?>\n<tablebase><dtm/>
        <prune-enable color=\"black\" type=\"discard\"/>
        <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>
        <piece color=\"white\" type=\"queen\"/>
        <prune color=\"black\" move=\"KxQ\" type=\"discard\"/>
        <output filename=\"mine.htb\"/></tablebase>\n";
    fs::write(folder.path().join("mine.xml"), control).unwrap();
    let built = run(folder.path(), "build mine.xml --dir .");
    assert_eq!(built.code, 0, "{}", built.err);
    let listed =
        run(folder.path(), "list mine.htb --result win --to-move white --distance 5.. --json");
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(!listed.out.is_empty());
    for line in lines(&listed.out) {
        assert_eq!(
            (&line["category"], &line["dtm"]),
            (&"maybe-win".into(), &serde_json::Value::Null)
        );
        assert_eq!((&line["bound"], &line["said"]["result"]), (&"none".into(), &"win".into()));
    }
    let epd = run(folder.path(), "list mine.htb --result win --to-move white --distance 5..");
    let first = epd.out.lines().next().unwrap();
    assert!(!first.contains(" dm ") && first.contains("by the rules of the table: "), "{first}");
}

/// Behind a move the tables answer that a table with prunes names, whatever others there are.
#[test]
fn lines_go_on_in_the_futurebases_that_are_named() {
    let folder = TempDir::new().unwrap();
    for name in ["kk.htb", "kqk.htb", "krk.htb", "kbk.htb", "knk.htb"] {
        fs::copy(tables().join(name), folder.path().join(name)).unwrap();
    }
    let control = |name: &str, man: &str, more: &str| {
        let text = format!(
            "<tablebase><prune-enable color=\"black\" type=\"discard\"/><dtm/>
            <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>
            <piece color=\"white\" {man}/>{more}<output filename=\"{name}.htb\"/></tablebase>"
        );
        fs::write(folder.path().join(format!("{name}.xml")), text).unwrap();
        let built = run(folder.path(), &format!("build {name}.xml --dir ."));
        assert_eq!(built.code, 0, "{}", built.err);
    };
    control("queen", "type=\"queen\"", "<prune color=\"black\" move=\"KxQ\" type=\"discard\"/>");
    let behind = ["queen", "krk", "kbk", "knk", "kk"];
    let behind = behind.map(|name| format!("<futurebase filename=\"{name}.htb\"/>")).concat();
    control("pawn", "type=\"pawn\" location=\"b6 b7\"", &behind);

    let listed = run(folder.path(), "list pawn.htb --unique-line=fastest --json");
    assert_eq!(listed.code, 0, "{}", listed.err);
    let found = lines(&listed.out);
    assert!(found.len() > 2_000, "{}", found.len());
    for line in found.iter().filter(|line| line["line"].is_array()) {
        let moves = line["line"].as_array().unwrap().len() as u64;
        assert_eq!(line["said"]["plies"].as_i64().map(i64::unsigned_abs), Some(moves), "{line}");
    }
}

#[test]
fn questions_without_an_answer_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::copy(tables().join("krk.htb"), folder.path().join("krk.htb")).unwrap();
    let basic = run(folder.path(), "convert krk.htb -o basic.htb --format basic");
    assert_eq!(basic.code, 0, "{}", basic.err);
    let refused = |line: &str, code: i32, words: &[&str]| {
        run(folder.path(), line).refused(code, words);
    };
    refused("list basic.htb --longest 3", 1, &["basic.htb", "no distances"]);
    refused("list basic.htb --unique-line", 1, &["basic.htb", "distances to mate"]);
    let told = run(folder.path(), "list basic.htb --zugzwang white --count");
    assert!(told.code == 0 && told.err.contains("it tells outcomes alone"), "{}", told.err);
    refused("list nothing.htb", 1, &["nothing.htb"]);
    refused("list krk.htb --zugzwang white --to-move black", 1, &["zugzwang is the one to move"]);
    for line in [
        "list krk.htb --distance 5..2",
        "list krk.htb --distance x",
        "list krk.htb --pattern wX:a1",
        "list krk.htb --longest 0",
        "list",
    ] {
        let run = run(folder.path(), line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}");
        assert!(run.err.contains("error: "), "{}", run.err);
    }
    // Only moves need the tables behind captures.
    let chess = run(tables(), "list krkp.htb --only-move --distance 40.. --count");
    assert_eq!(chess.code, 0, "{}", chess.err);
    fs::copy(tables().join("krkp.htb"), folder.path().join("krkp.htb")).unwrap();
    refused("list krkp.htb --only-move --count", 1, &["is needed to compare the moves"]);
}

#[test]
fn a_list_ends_when_nobody_reads_it() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hoffman"))
        .args(["list", "kpkp.htb"])
        .current_dir(tables())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

// ------------------------------------------------------------------------------- lines and games

/// Three pawns against one: six men, which no table at hand has.
#[test]
fn a_line_may_be_one_of_a_proof() {
    let folder = TempDir::new().unwrap();
    let ask =
        |words: &[&str]| run_with(folder.path(), &[&["line", "--dir", "."], words].concat(), "");
    let won = "8/8/8/p2k4/P7/1P2K3/1P6/8 w - - 0 1";
    ask(&[won])
        .refused(1, &["no table tells the result", "'hoffman line --prove SECONDS' may prove it"]);
    let line = ask(&["--prove", "120", won]);
    assert_eq!((line.code, line.err.as_str()), (0, ""), "{}", line.out);
    // It takes as many moves as the proof says that it takes at most.
    let (_, said) = line.out.split_once(" at most ").expect(&line.out);
    let (moves, game) = said.split_once(" moves, proven}").expect(&line.out);
    let last = format!(" {moves}. ");
    assert!(game.replace('\n', " ").contains(&last) && game.ends_with("# 1-0\n\n"), "{}", line.out);

    // Nobody gets through.
    let drawn = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1";
    let line = ask(&["--prove", "120", drawn]);
    assert!(line.out.ends_with("{draw, proven} 1/2-1/2\n\n"), "{}{}", line.out, line.err);
    ask(&["--prove", "0", won])
        .refused(1, &["nothing is proven yet; no more was proved in 0 seconds"]);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
    ask(&["--prove", "5", start]).refused(1, &[]);
}

#[test]
fn a_line_is_a_game_to_the_mate() {
    let fen = "8/8/8/8/8/1k6/p7/R1K5 b - - 4 30";
    let line = run_with(tables(), &["line", fen, "--dir", "."], "");
    assert_eq!((line.code, line.err.as_str()), (0, ""));
    assert!(line.out.starts_with("[Event \"?\"]\n"), "{}", line.out);
    for part in [
        &format!("[FEN \"{fen}\"]\n"),
        "[SetUp \"1\"]\n",
        "[Result \"1-0\"]\n",
        "\n{White wins, mate in ",
        "} 30... ",
        "# 1-0\n",
    ] {
        assert!(line.out.contains(part), "{part}: {}", line.out);
    }
    let annotated = run_with(tables(), &["line", fen, "--dir", ".", "--annotate"], "");
    assert!(annotated.out.contains('('), "{}", annotated.out);
    assert!(annotated.out.lines().all(|line| line.len() <= 80), "{}", annotated.out);
    // What is printed can be read, and all of it is as good as can be.
    let read = run_with(tables(), &["annotate", "-", "--dir", "."], &annotated.out);
    assert_eq!((read.code, read.err.as_str()), (0, ""));
    assert!(!read.out.contains("instead of") && !read.out.contains("$2"), "{}", read.out);

    let drawn = run_with(
        tables(),
        &["line", "8/8/8/8/8/1k6/p7/R1K5 w - -", "--annotate", "--dir", "."],
        "",
    );
    assert!(drawn.out.contains("{Draw}") && drawn.out.ends_with(" 1/2-1/2\n\n"), "{}", drawn.out);
    let none = run_with(tables(), &["line", "8/8/8/8/8/k7/p7/RQK5 w - -", "--dir", "."], "");
    none.refused(1, &["no table tells the result"]);
    run_with(tables(), &["line", "nonsense", "--dir", "."], "").refused(1, &["nonsense"]);
}

const GAMES: &str = "[Event \"one \\\"two\\\"\"]
[Result \"1/2-1/2\"]
[FEN \"8/8/8/2k5/8/2K5/1P6/8 b - - 0 1\"]

1... Kb5 {a comment} 2. b3 $10 (2. b4 Kc6 3. Kc4) 2... Kc5 1/2-1/2

[Event \"castles\"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 *
";

#[test]
fn games_are_annotated_where_tables_know_them() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("games.pgn");
    fs::write(&file, GAMES).unwrap();
    let annotated = run_with(tables(), &["annotate", file.to_str().unwrap(), "--dir", "."], "");
    assert_eq!((annotated.code, annotated.err.as_str()), (0, ""));
    let expected = "[Event \"one \\\"two\\\"\"]
[Result \"1/2-1/2\"]
[FEN \"8/8/8/2k5/8/2K5/1P6/8 b - - 0 1\"]

1... Kb5 ";
    assert!(annotated.out.starts_with(expected), "{}", annotated.out);
    for part in ["{a comment}", "2. b3 $2 $10 {draw, instead of ", "(2. b4 Kc6 3. Kc4)", "2... Kc5"]
    {
        let text = annotated.out.replace('\n', " ");
        assert!(text.contains(part), "{part}: {text}");
    }
    // The second one has too many men to say anything.
    assert!(annotated.out.contains("\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 *\n"));
    let again = run_with(tables(), &["annotate", "-", "--dir", "."], &annotated.out);
    assert_eq!((again.code, again.err.as_str()), (0, ""));
}

#[test]
fn bad_games_are_named_and_the_others_annotated() {
    let bad = |game: &str, words: &[&str]| {
        let input = format!("{GAMES}\n{game}\n\n{GAMES}");
        let run = run_with(tables(), &["annotate", "-", "--dir", "."], &input);
        assert_eq!(run.code, 1);
        let told = run.err.lines().filter(|line| line.starts_with("hoffman: ")).count();
        assert_eq!(told, 1, "{}", run.err);
        for word in words.iter().chain(&["standard input, game 3: "]) {
            assert!(run.err.contains(word), "{word}: {}", run.err);
        }
        run.out.matches("[Event \"castles\"]").count()
    };
    assert_eq!(bad("1. e4 e5 2. Ke3 *", &["2. Ke3 cannot be played"]), 2);
    assert_eq!(bad("[FEN \"nonsense\"]\n\n*", &["the tag FEN has 'nonsense'"]), 2);
    assert_eq!(bad("[Variant \"Atomic\"]\n\n1. e4 *", &["a game of Atomic"]), 2);
    assert_eq!(bad("1. e4 (1. d4 *", &["a variation does not end"]), 2);
    assert_eq!(bad("1. e4 ) *", &["a variation ends that did not begin"]), 2);
    // Words that PGN has not, a tag that is none, and a second result: nothing is passed over.
    let words = ["line 12, at 2...: '+-' is no word of PGN"];
    assert_eq!(bad("1. e4 e5\n2. Nf3 +- Nc6 *", &words), 2);
    assert_eq!(bad("1. e4 e5 $300 *", &["line 11, at 2.: '$300' is no word"]), 2);
    assert_eq!(bad("[Event one]\n\n1. e4 *", &["line 11, at 1.: '[Event one]'"]), 2);
    assert_eq!(bad("1. e4 1-0 0-1", &["the result 1-0 is followed by 0-1"]), 2);
    let open = run_with(tables(), &["annotate", "-", "--dir", "."], "1. e4 {no end");
    open.refused(1, &["standard input, game 1: the comment that begins in line 1 does not end"]);
    let nothing = run_with(tables(), &["annotate", "-", "--dir", "."], "no game at all\n");
    nothing.refused(1, &["game 1: line 1, at 1.: 'no' is no word of PGN"]);
    let empty = run_with(tables(), &["annotate", "-", "--dir", "."], "{a comment}\n");
    empty.refused(1, &["game 1: there is no game in PGN"]);
    run_with(tables(), &["annotate", "missing.pgn"], "").refused(1, &["missing.pgn"]);
}

// --------------------------------------------------------------------------------------- pictures

#[test]
fn pictures_of_tables_and_positions_are_whole_files() {
    let folder = TempDir::new().unwrap();
    let picture = folder.path().join("krkn.svg");
    let plot = |words: &[&str]| {
        let made = run_with(tables(), &[&["plot", "--dir", "."], words].concat(), "");
        assert_eq!((made.code, made.err.as_str()), (0, ""));
        made.out
    };
    let out = plot(&["KRvKN", "-o", picture.to_str().unwrap()]);
    assert_eq!(out, "");
    let text = fs::read_to_string(&picture).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    for part in
        ["prefers-color-scheme:dark", "<title id=\"title\">KRvKN: moves to the end", "won in 40: "]
    {
        assert!(text.contains(part), "{part}");
    }
    // A bar for every distance of either side.
    let stats = run(tables(), "stats krkn.htb --json").json();
    let bars = ["white_to_move", "black_to_move"]
        .map(|side| stats[side]["histogram"].as_array().unwrap().len());
    let drawn = ["class=\"win\"", "class=\"loss\""].map(|class| text.matches(class).count());
    assert_eq!(drawn.iter().sum::<usize>(), bars.iter().sum::<usize>());

    let heat = plot(&["8/8/8/2k5/8/2K5/1P6/8 w - -", "--piece", "c5", "-o", "-"]);
    assert!(heat.starts_with("<svg ") && heat.ends_with("</svg>\n"));
    assert_eq!(
        heat.matches("<rect class=\"none\"").count()
            + heat.matches("<rect class=\"white\"").count()
            + heat.matches("<rect class=\"draw\"").count()
            + heat.matches("<rect class=\"black\"").count(),
        64
    );
    assert!(
        heat.contains("The black king on every square, White to move")
            && heat.contains("e8: White wins in ")
    );
    for words in
        [&["8/8/8/2k5/8/2K5/1P6/8 w - -", "-o", "-"][..], &["KRvKN", "--piece", "a1", "-o", "-"]]
    {
        let refused = run_with(tables(), &[&["plot", "--dir", "."], words].concat(), "");
        assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{}", refused.err);
    }
    let lost = folder.path().join("no/such/folder.svg");
    run_with(tables(), &["plot", "KRvKN", "--dir", ".", "-o", lost.to_str().unwrap()], "")
        .refused(1, &["cannot write", "folder.svg"]);
    assert_eq!(names(folder.path()), ["krkn.svg"]);
}

// ------------------------------------------------------------------------ completions and manuals

#[test]
fn shells_get_completions() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(folder.path(), &format!("completions {shell}"));
        assert_eq!((script.code, script.err.as_str()), (0, ""), "{shell}");
        assert!(script.out.contains("hoffman") && script.out.contains("zugzwang"), "{shell}");
    }
    // The shells that are here read them.
    for shell in ["bash", "zsh", "fish"] {
        let file = folder.path().join(shell);
        fs::write(&file, run(folder.path(), &format!("completions {shell}")).out).unwrap();
        if let Ok(read) = Command::new(shell).arg("-n").arg(&file).output() {
            assert!(read.status.success(), "{shell}: {}", String::from_utf8_lossy(&read.stderr));
        }
    }
    assert_eq!(run(folder.path(), "completions sh").code, 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = TempDir::new().unwrap();
    let made = run(folder.path(), "man --dir pages");
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    let pages = names(&folder.path().join("pages"));
    let help = run(folder.path(), "help").out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\nOptions:").unwrap();
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let commands =
        commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut expected: Vec<String> = commands
        .filter_map(first)
        .filter(|name| name != "help")
        .map(|name| format!("hoffman-{name}.1"))
        .collect();
    expected.push("hoffman.1".to_owned());
    expected.sort();
    assert!(expected.len() > 12);
    assert_eq!(pages, expected);
    let page = fs::read_to_string(folder.path().join("pages/hoffman-list.1")).unwrap();
    assert!(page.contains(".TH hoffman-list 1") && page.contains("unique\\-line"), "{page}");
    for name in &pages {
        let path = folder.path().join("pages").join(name);
        let Ok(read) = Command::new("mandoc").arg("-Tlint").arg("-Werror").arg(&path).output()
        else {
            break;
        };
        assert!(read.status.success(), "{name}: {}", String::from_utf8_lossy(&read.stdout));
    }
    let page = run(folder.path(), "man");
    assert!(page.out.contains(".TH hoffman 1"), "{}", page.out);
}
