//! The slow solver against published counts, Syzygy tables, and itself.

use std::path::PathBuf;
use std::time::Instant;

use hoffman_board::{Color, Material, Square, Value};
use hoffman_oracle::{
    Coverage, MAX_MEN, PlacedMan, Reach, SlowPosition, SlowTables, compare, compare_syzygy,
    known_stats, known_stats_of, solve_reachable,
};

fn material(name: &str) -> Material {
    name.parse().unwrap()
}

fn value(tables: &SlowTables, fen: &str) -> Option<Value> {
    tables.value(&SlowPosition::from_fen(fen).unwrap())
}

/// Counts and longest mates are the published ones.
fn check_known(tables: &mut SlowTables, name: &str) {
    let start = Instant::now();
    let summary = tables.summary(&material(name)).unwrap();
    eprintln!("{name}: {:.1?}, {} en passant", start.elapsed(), summary.en_passant);
    let known = known_stats_of(&material(name)).unwrap();
    assert_eq!(summary.white, known.white, "{name}, White to move");
    assert_eq!(summary.black, known.black, "{name}, Black to move");
    assert_eq!(summary.longest_white_win, known.longest_white_win.map(|l| l.moves), "{name}");
    if !known.material.is_symmetric() {
        assert_eq!(summary.longest_black_win, known.longest_black_win.map(|l| l.moves), "{name}");
    }
}

/// The folder of Syzygy tables, if it is there: `HOFFMAN_SYZYGY` or `shared/data/syzygy` next to
/// or above the checkout.
fn syzygy_folder() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("HOFFMAN_SYZYGY")
        .map(PathBuf::from)
        .into_iter()
        .chain(beside.ancestors().map(|folder| folder.join("shared/data/syzygy")))
        .find(|folder| folder.is_dir())
}

fn check_syzygy(tables: &mut SlowTables, name: &str, coverage: Coverage) {
    let Some(folder) = syzygy_folder() else {
        eprintln!("no Syzygy tables here: {name} not compared");
        return;
    };
    tables.solve(&material(name)).unwrap();
    let result = compare_syzygy(&folder, &material(name), coverage, |p| tables.value(p)).unwrap();
    eprintln!("{name}: {} compared with Syzygy", result.compared);
    assert!(result.is_perfect(), "{name}: {result:?}");
}

#[test]
fn three_men_have_the_published_counts() {
    let mut tables = SlowTables::new();
    for name in ["KQvK", "KRvK", "KBvK", "KNvK", "KPvK"] {
        check_known(&mut tables, name);
    }
}

#[test]
fn three_men_agree_with_syzygy() {
    let mut tables = SlowTables::new();
    for name in ["KRvK", "KBvK", "KNvK"] {
        check_syzygy(&mut tables, name, Coverage::CANONICAL);
    }
    for name in ["KQvK", "KvKQ", "KPvK", "KvKP"] {
        check_syzygy(&mut tables, name, Coverage::EVERYTHING);
    }
}

#[test]
fn single_positions_have_known_values() {
    let mut tables = SlowTables::new();
    assert_eq!(value(&tables, "8/8/4k3/8/8/8/1Q6/K7 w - -"), None);
    tables.solve(&material("KPvK")).unwrap();
    for (fen, expected) in [
        // Mate, mate in one, stalemate; the same with colours exchanged.
        ("k7/1Q6/1K6/8/8/8/8/8 b - -", Value::Loss(0)),
        ("k7/8/1K6/8/8/8/8/6Q1 w - -", Value::Win(1)),
        ("k7/8/1QK5/8/8/8/8/8 b - -", Value::Draw),
        ("K7/8/1k6/8/8/8/8/6q1 b - -", Value::Win(1)),
        // The side not to move is in check; the kings touch.
        ("k7/1Q6/1K6/8/8/8/8/8 w - -", Value::Illegal),
        ("kK6/8/8/8/8/8/8/7Q w - -", Value::Illegal),
        // The opposition decides.
        ("4k3/8/4K3/4P3/8/8/8/8 w - -", Value::Win(11)),
        ("8/4k3/8/4K3/4P3/8/8/8 w - -", Value::Draw),
    ] {
        assert_eq!(value(&tables, fen), Some(expected), "{fen}");
    }
    let square = Square::A1;
    let two_on_one = SlowPosition {
        men: vec![
            PlacedMan { color: Color::White, role: hoffman_board::Role::King, square },
            PlacedMan { color: Color::Black, role: hoffman_board::Role::King, square },
        ],
        turn: Color::White,
        en_passant: None,
    };
    assert_eq!(tables.value(&two_on_one), None);
    assert!(tables.solve(&material("KRPvKP")).is_err());
}

/// Two ways through the same moves: complete tables, and the graph behind one position.
#[test]
fn reachable_positions_agree_with_tables() {
    let mut tables = SlowTables::new();
    tables.solve(&material("KPvK")).unwrap();
    let alone = Reach { table_men: 0, ..Reach::default() };
    for fen in [
        "8/8/8/4k3/8/8/4P3/4K3 w - -",
        "8/8/8/4k3/8/8/P7/4K3 w - -",
        "8/8/4k3/8/8/8/1Q6/K7 w - -",
        "k7/8/1QK5/8/8/8/8/8 b - -",
        "7k/4p3/8/8/8/8/8/K7 b - -",
    ] {
        let explored = solve_reachable(&mut SlowTables::new(), fen, alone).unwrap();
        assert_eq!(Some(explored), value(&tables, fen), "{fen}");
    }
    assert!(solve_reachable(&mut tables, "8/8/8/8/8/8/8/KQk5 w - -", alone).is_err());
    let small = Reach { table_men: 0, limit: 100 };
    assert!(solve_reachable(&mut tables, "8/8/4k3/8/8/8/1Q6/K7 w - -", small).is_err());
}

#[test]
fn a_wrong_answer_is_found() {
    let mut tables = SlowTables::new();
    let mut other = SlowTables::new();
    other.solve(&material("KRvK")).unwrap();
    let result = compare(&mut tables, &material("KRvK"), Coverage::EVERYTHING, |p| other.value(p));
    let result = result.unwrap();
    assert!(result.is_perfect(), "{result:?}");
    let wrong = "4k3/8/4K3/8/8/8/8/R7 w - - 0 1";
    let result = compare(&mut tables, &material("KRvK"), Coverage::EVERYTHING, |p| {
        if p.fen() == wrong { Some(Value::Draw) } else { other.value(p) }
    });
    let result = result.unwrap();
    assert_eq!(result.different, 1);
    assert_eq!((result.first[0].fen.as_str(), result.first[0].expected), (wrong, Value::Win(1)));
}

/// The only legal move is an en passant capture, which no published count shows.
#[test]
#[ignore = "slow: solves KRvKP and behind it"]
fn forced_en_passant_captures() {
    let mut tables = SlowTables::new();
    for (fen, expected) in [
        ("8/8/8/8/Pp6/1K6/1R6/k7 b - a3", Value::Loss(2)),
        ("8/8/2R5/k7/Pp6/1K6/8/8 b - a3", Value::Loss(9)),
    ] {
        let start = Instant::now();
        let found = solve_reachable(&mut tables, fen, Reach::default()).unwrap();
        eprintln!("{fen}: {found:?}, {:.1?}", start.elapsed());
        assert_eq!(found, expected, "{fen}");
    }
}

#[test]
#[ignore = "slow: four men"]
fn typical_four_men_have_the_published_counts() {
    let mut tables = SlowTables::new();
    for name in ["KQvKQ", "KRRvK", "KQvKR", "KPvKP"] {
        check_known(&mut tables, name);
    }
}

#[test]
#[ignore = "slow: four men"]
fn typical_four_men_agree_with_syzygy() {
    let mut tables = SlowTables::new();
    for name in ["KQvKQ", "KRvKN", "KQvKP", "KPvKP"] {
        check_syzygy(&mut tables, name, Coverage::CANONICAL);
    }
}

#[test]
#[ignore = "slow: ten minutes for all endings of four men"]
fn all_four_men_have_the_published_counts() {
    let mut tables = SlowTables::new();
    let few = known_stats().into_iter().filter(|known| known.material.men() <= MAX_MEN);
    for known in few {
        check_known(&mut tables, known.name);
        check_syzygy(&mut tables, known.name, Coverage::CANONICAL);
    }
}
