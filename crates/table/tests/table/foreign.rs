//! Published Syzygy tables, read as tables of ours and compared with golden ones.

use std::path::{Path, PathBuf};

use hoffman_board::{Color, Format, Role, Square, Value};
use hoffman_space::{PawnSquares, TableValues};
use hoffman_table::foreign::plausible::check_plausible;
use hoffman_table::foreign::syzygy::{SyzygyTable, file_name};
use hoffman_table::foreign::{ForeignOptions, ForeignTable};
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::{Taking, Wanted};
use hoffman_table::{EntryValue, Stop, Table};

/// The folder with golden and Syzygy tables; none, loudly, if it is not there.
fn shared() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
    if folder.join("data/syzygy").is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no Syzygy tables in {}; set HOFFMAN_SHARED", folder.display());
    None
}

fn outcome(value: EntryValue) -> i32 {
    match value {
        EntryValue::Win | EntryValue::Exact(Value::Win(_)) => 1,
        EntryValue::Loss | EntryValue::Exact(Value::Loss(_)) => -1,
        EntryValue::Draw | EntryValue::Exact(Value::Draw) => 0,
        EntryValue::Illegal | EntryValue::Exact(Value::Illegal) => 9,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_entry_agrees_with_golden_tables() {
    let Some(shared) = shared() else { return };
    // The first one has its men in the same order, so the numbers must agree too.
    for (ours, theirs) in [
        ("index-order/kqk-order-QKk-combinadic5-sym8", "KQvK"),
        ("base/krk", "KRvK"),
        ("base/kbk", "KBvK"),
        ("base/kpk", "KPvK"),
        ("base/kqkq", "KQvKQ"),
        ("base/krkp", "KRvKP"),
        ("base/kpkp", "KPvKP"),
    ] {
        let golden = shared.join("spec/golden").join(ours).with_extension("htb");
        let golden = Table::open(golden, SourceOptions::default()).unwrap();
        let path = shared.join("data/syzygy").join(theirs).with_extension("rtbw");
        let table = Table::open_foreign(&path, &ForeignOptions::default()).unwrap();
        assert!(table.notices().is_empty());
        assert_eq!(table.codec().format(), Format::Basic);
        assert_eq!(table.space().symmetry(), if theirs.contains('P') { 2 } else { 8 });
        let roles: Vec<Role> = table.pieces().iter().map(|p| p.role).collect();
        assert!(roles.ends_with(&[Role::King, Role::King]));
        let size = table.space().size();
        // The large ones in part.
        let mut all = vec![0_i8; size.min(300_000) as usize];
        table.read_entries(0, &mut all).unwrap();
        let (mut compared, mut illegal) = (0, 0);
        for index in (0..size).step_by((size / 150_000).max(1) as usize) {
            let Some(placement) = table.space().decode(index) else { continue };
            let men = placement.squares.iter().zip(table.pieces());
            let men: Vec<(Square, Color, Role)> = men.map(|(&s, p)| (s, p.color, p.role)).collect();
            let there = golden.place(men, placement.turn, placement.en_passant).unwrap();
            let there = golden.index(&there).unwrap();
            let value = golden.value(there, placement.turn).unwrap();
            if theirs == "KQvK" {
                assert_eq!(index, there);
            }
            let expected = outcome(value);
            let found = table.value(index, placement.turn).unwrap();
            if found == EntryValue::Illegal {
                // What golden tables hold there counts for nothing (D1, D5).
                illegal += 1;
                continue;
            }
            assert_eq!(outcome(found), expected, "{index}");
            let raw = table.entry(index).unwrap();
            let read = all.get(index as usize).map(|&n| i32::from(n));
            assert_eq!(read.unwrap_or(raw.0), raw.0);
            let read = table.codec().value(raw, placement.turn).unwrap();
            assert_eq!(outcome(read), expected, "{index}");
            compared += 1;
        }
        println!("{theirs}: {compared} legal entries, {illegal} others");
        let count = golden.control().statistics["PNTM-mated-positions"];
        assert!(size > 300_000 || illegal == count);
        check_plausible(table.foreign().unwrap()).unwrap();
    }
}

#[test]
fn missing_files_are_named_and_their_positions_have_no_score() {
    let Some(shared) = shared() else { return };
    let syzygy = shared.join("data/syzygy");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("KRvKP.rtbw");
    std::fs::copy(syzygy.join("KRvKP.rtbw"), &path).unwrap();
    let alone = SyzygyTable::open(&path, &ForeignOptions::default()).unwrap();
    let names = ["KQvK", "KRvK", "KBvK", "KNvK", "KPvK"].map(|n| format!("{n}.rtbw"));
    let mut missing = alone.missing();
    missing.sort();
    let mut expected = names.to_vec();
    expected.sort();
    assert_eq!(missing, expected);
    let table = Table::open_foreign(&path, &ForeignOptions::default()).unwrap();
    assert!(table.notices()[0].contains("KQvK.rtbw"));
    let index = |table: &Table| {
        // White can take the pawn.
        let men = [
            (Square::A1, Color::White, Role::King),
            (Square::H8, Color::Black, Role::King),
            (Square::E1, Color::White, Role::Rook),
            (Square::E5, Color::Black, Role::Pawn),
        ];
        table.index(&table.place(men, Color::White, None).unwrap()).unwrap()
    };
    assert_eq!(table.value(index(&table), Color::White).unwrap(), EntryValue::Unknown);
    let error = table.entry(index(&table)).unwrap_err().to_string();
    assert!(error.contains("no score available for index") && error.contains("KRvK.rtbw"));
    let mut few = [0_i8; 8];
    assert!(table.read_entries(index(&table) / 8 * 8, &mut few).is_err());
    // The rest of the path helps, also if the table itself is only there.
    for name in [path, PathBuf::from("no such folder/KRvKP.rtbw"), PathBuf::from("KRvKP.rtbw")] {
        let options = ForeignOptions { syzygy: vec![syzygy.clone()], ..Default::default() };
        let table = Table::open_foreign(&name, &options).unwrap();
        assert!(table.notices().is_empty());
        assert_eq!(table.value(index(&table), Color::White).unwrap(), EntryValue::Win);
    }
}

#[test]
fn the_side_named_first_is_white() {
    let Some(shared) = shared() else { return };
    let options = ForeignOptions { syzygy: vec![shared.join("data/syzygy")], ..Default::default() };
    let table = Table::open_foreign("KPvKQ.rtbw", &options).unwrap();
    let men: Vec<(Color, Role)> = table.pieces().iter().map(|p| (p.color, p.role)).collect();
    let (white, black) = (Color::White, Color::Black);
    let expected =
        [(white, Role::Pawn), (black, Role::Queen), (white, Role::King), (black, Role::King)];
    assert_eq!(men, expected);
    assert_eq!(file_name(&table.foreign().unwrap().material()), "KQvKP.rtbw");
}

/// Values behind promotions alone, and those for which the promotion to a queen was asked before.
#[test]
fn promotions_that_cannot_be_better_are_not_asked_for() {
    let Some(shared) = shared() else { return };
    let table = |name: &str| {
        let path = shared.join("data/syzygy").join(name).with_extension("rtbw");
        Table::open_foreign(&path, &ForeignOptions::default()).unwrap()
    };
    let values = |table: &Table, edge: Option<Role>, another: Option<&TableValues>| {
        let on_edge = edge.map(|role| (Color::White, role)).into_iter().collect();
        let wanted = Wanted { sides: [false, true], on_edge, ..Wanted::default() };
        table
            .foreign_values(&wanted, Taking::ByOutcome, None, another, &Stop::default())
            .unwrap()
            .unwrap()
    };
    let queen = values(&table("KQvKP"), Some(Role::Queen), None);
    for (name, role) in [("KRvKP", Role::Rook), ("KNvKP", Role::Knight)] {
        let table = table(name);
        let all = values(&table, None, None);
        let edge = values(&table, Some(role), None);
        let rest = values(&table, Some(role), Some(&queen));
        assert!(edge.layout.len() == all.layout.len() / 8 && edge.layout == rest.layout);
        let (mut lost, mut others) = (0, 0);
        for pawn in (8..56).filter(|s| s & 7 < 4) {
            let pawns = PawnSquares { white: 0, black: 1 << pawn };
            for at in 0..edge.layout.len() {
                let squares: [u8; 3] = std::array::from_fn(|m| edge.layout.square(m, at));
                let value = |values: &TableValues| {
                    let squares: Vec<u8> = match values.layout.movers() {
                        [first, ..] if first.role == Role::King => {
                            vec![squares[1], squares[2], squares[0]]
                        }
                        _ => squares.to_vec(),
                    };
                    values.value(&squares, pawns, Color::Black, None).unwrap()
                };
                let known = value(&edge);
                assert_eq!(known, value(&all));
                if value(&queen) == Value::Loss(0) {
                    assert_eq!(value(&rest), Value::Loss(0));
                    lost += u32::from(known != Value::Loss(0));
                } else {
                    assert_eq!(value(&rest), known);
                    others += u32::from(known != Value::Illegal);
                }
            }
        }
        assert!(lost > 10_000 && others > 10_000, "{name}: {lost} {others}");
    }
}
