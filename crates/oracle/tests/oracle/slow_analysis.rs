//! The slow analysis against the slow solver of complete endings, and rules that can be seen in
//! one position.

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::{Format, Value};
use hoffman_control::{ControlFile, Strictness, control_for_material};
use hoffman_oracle::{
    Coverage, SlowAnalysis, SlowError, SlowPosition, SlowTables, for_each_position,
};

type Solved = HashMap<String, Arc<SlowAnalysis>>;

/// Solves a control file given without its root element.
fn solve(inside: &str, futurebases: &Solved) -> Result<SlowAnalysis, SlowError> {
    let text = format!("<tablebase>{inside}</tablebase>");
    SlowAnalysis::solve(
        &ControlFile::parse(&text, "test", Strictness::Control).unwrap(),
        futurebases,
    )
}

fn value(analysis: &SlowAnalysis, fen: &str) -> Option<Value> {
    analysis.value(&SlowPosition::from_fen(fen).unwrap())
}

/// `piece` elements from words such as `Ka1,b1` and `pb7+`.
fn pieces(words: &str) -> String {
    let piece = |word: &str| {
        let (letter, squares) = word.split_at(1);
        let color = if letter == letter.to_uppercase() { "white" } else { "black" };
        let role = match letter.to_lowercase().as_str() {
            "k" => "king",
            "q" => "queen",
            "r" => "rook",
            "b" => "bishop",
            "n" => "knight",
            _ => "pawn",
        };
        let location = match squares {
            "" => String::new(),
            squares => format!(" location='{}'", squares.replace(',', " ")),
        };
        format!("<piece color='{color}' type='{role}'{location}/>")
    };
    words.split_whitespace().map(piece).collect()
}

fn enabled() -> String {
    let element =
        |color: &str, effect: &str| format!("<prune-enable color='{color}' type='{effect}'/>");
    ["white", "black"].map(|c| element(c, "concede") + &element(c, "discard")).concat()
}

fn prune(color: &str, pattern: &str, effect: &str) -> String {
    format!("<prune color='{color}' move='{pattern}' type='{effect}'/>")
}

#[test]
fn complete_endings_are_those_of_the_other_solver() {
    let mut tables = SlowTables::new();
    let mut solved = Solved::new();
    for name in ["KvK", "KQvK", "KRvK", "KBvK", "KNvK", "KPvK"] {
        let material = name.parse().unwrap();
        let text = control_for_material(&material, Format::Dtm(None));
        let control = ControlFile::parse(&text, name, Strictness::Control).unwrap();
        let analysis = SlowAnalysis::solve(&control, &solved).unwrap();
        tables.solve(&material).unwrap();
        let mut compared = 0;
        for_each_position(&material, Coverage::EVERYTHING, |position, _| {
            assert_eq!(analysis.value(position), tables.value(position), "{}", position.fen());
            compared += 1;
        });
        assert!(compared > 7000, "{name}: {compared}");
        solved.insert(format!("{}.htb", material.stem()), Arc::new(analysis));
    }
}

#[test]
fn no_move_left_is_mate_or_stalemate() {
    let men = pieces("Kb6,c7 ka8 Rh1,h2");
    let discards = prune("white", "*", "discard") + &prune("black", "*", "discard");
    let analysis = solve(&(enabled() + &men + &discards), &Solved::new()).unwrap();
    // Black's king could go to b8, which is discarded.
    assert_eq!(value(&analysis, "k7/8/1K6/8/8/8/8/7R b - -"), Some(Value::Draw));
    assert_eq!(value(&analysis, "k7/2K5/8/8/8/8/8/7R b - -"), Some(Value::Draw));
    let conceded = prune("white", "stalemate", "concede");
    let analysis = solve(&(enabled() + &men + &discards + &conceded), &Solved::new()).unwrap();
    assert_eq!(value(&analysis, "k7/8/1K6/8/8/8/8/7R b - -"), Some(Value::Loss(1)));
    assert_eq!(value(&analysis, "k7/8/1K6/8/8/8/8/7R w - -"), Some(Value::Win(2)));
    // The rook may not stand here.
    assert_eq!(value(&analysis, "k7/8/1K6/8/8/8/R7/8 b - -"), None);
}

/// White is in check, and its only move is a discarded capture of a sort that a futurebase
/// answers.
#[test]
fn only_tables_with_distances_are_spared_by_discarded_moves() {
    let discards = enabled() + &prune("white", "*", "discard") + &prune("black", "*", "discard");
    let fen = "8/8/8/8/8/2k5/8/Kq6 w - -";
    for (format, expected) in [
        ("<dtm/>", Value::Draw),
        ("<dtc/>", Value::Draw),
        ("<basic/>", Value::Loss(0)),
        ("<flag type=\"white-draws\"/>", Value::Loss(0)),
    ] {
        let start = format!("{format}{discards}");
        let base = solve(&(start.clone() + &pieces("Ka1 kc3,d4")), &Solved::new()).unwrap();
        let bases = Solved::from([("base.htb".to_owned(), Arc::new(base))]);
        let futurebase = "<futurebase filename=\"base.htb\"/>";
        let men = pieces("Ka1,a2,b1,b2 kc3,c4 qb1,b2");
        let analysis = solve(&(start + &men + futurebase), &bases).unwrap();
        assert_eq!(value(&analysis, fen), Some(expected), "{format}");
    }
}

#[test]
fn a_futurebase_beats_a_prune() {
    let black = prune("black", "K*", "discard");
    let wide = enabled() + &pieces("Ka1,b1 kh8 Ra2,a7,g7") + &prune("white", "*", "discard");
    let wide = solve(&(wide + &black), &Solved::new()).unwrap();
    let solved = Solved::from([("wide.htb".to_owned(), Arc::new(wide))]);
    let others = prune("white", "[!R]*", "discard")
        + &prune("white", "R[!g]*", "discard")
        + &prune("white", "Rg[!7]", "discard");
    let narrow = enabled() + &pieces("Ka1,b1 kh8 Ra2,a7") + &others + &black;
    let conceded = narrow.clone() + &prune("white", "Rg7", "concede");
    let fen = "7k/R7/8/8/8/8/8/K7 w - -";
    let alone = solve(&conceded, &Solved::new()).unwrap();
    assert_eq!(value(&alone, fen), Some(Value::Win(1)));
    let answer = "<futurebase filename='wide.htb'/>";
    let answered = solve(&(conceded + answer), &solved).unwrap();
    assert_eq!(value(&answered, fen), Some(Value::Draw));
    // The futurebase alone is enough; without either the move is named.
    assert!(solve(&(narrow.clone() + answer), &solved).is_ok());
    let error = solve(&narrow, &Solved::new()).unwrap_err();
    let SlowError::Unhandled { examples, .. } = error else { panic!("{error}") };
    assert!(examples[0].ends_with(": Rg7"), "{examples:?}");
}

#[test]
fn a_knight_still_checks_after_an_en_passant_capture() {
    let prunes = prune("white", "*", "discard") + &prune("black", "*", "discard");
    let men = pieces("Ka1 ke8 Nf6 pe4 Pd4,d5");
    let analysis = solve(&(enabled() + &men + &prunes), &Solved::new()).unwrap();
    // All moves of the king are discarded, and the capture would leave it in check: mate.
    let fen = "4k3/8/5N2/8/3Pp3/8/8/K7 b - d3";
    assert_eq!(value(&analysis, fen), Some(Value::Loss(0)));
}

#[test]
fn suicide_wins_by_stalemate_count() {
    let text = "<variant name='suicide'/>".to_owned()
        + &enabled()
        + &pieces("P p")
        + &prune("white", "P*", "discard");
    let analysis = solve(&text, &Solved::new()).unwrap();
    assert_eq!(value(&analysis, "8/8/4p3/8/4P3/8/8/8 b - -"), Some(Value::Loss(0)));
    assert_eq!(value(&analysis, "8/8/8/4p3/4P3/8/8/8 w - -"), Some(Value::Win(0)));
    assert_eq!(value(&analysis, "8/8/8/3p4/4P3/8/8/8 w - -"), Some(Value::Loss(1)));
}

#[test]
fn split_pawn_structures_make_a_whole() {
    let element = |part: &str| {
        format!(
            "<pawngen white-pawn-locations='b2' black-pawn-locations='c4' \
             white-pawns-required='1' black-pawns-required='1' {part}/>"
        )
    };
    let men = enabled() + &pieces("Kb5,c6,d6,e5 kf3,g2,h1,f4,e4");
    let prunes = prune("white", "*", "discard")
        + &prune("black", "P*=?", "concede")
        + &prune("black", "K*", "discard")
        + &prune("black", "Px?", "discard");
    let whole = solve(&(men.clone() + &element("") + &prunes), &Solved::new()).unwrap();
    let number = whole.counts().existing;
    assert!(number > 100);
    for cut in 1..8 {
        let lower =
            solve(&(men.clone() + &element(&format!("count='{cut}'")) + &prunes), &Solved::new());
        let lower = lower.unwrap();
        let upper = men.clone() + &element(&format!("start='{cut}'")) + &prunes;
        let alone = solve(&upper, &Solved::new());
        assert!(matches!(alone, Err(SlowError::Unhandled { .. })), "cut at {cut}");
        let solved = Solved::from([("lower.htb".to_owned(), Arc::new(lower))]);
        let upper = solve(&(upper + "<futurebase filename='lower.htb'/>"), &solved).unwrap();
        let mut met = 0;
        for part in [&upper, &*solved["lower.htb"]] {
            part.for_each(|position, value| {
                assert_eq!(whole.value(position), Some(value), "cut at {cut}: {}", position.fen());
                met += 1;
            });
        }
        assert_eq!(met, number, "cut at {cut}");
    }
}
