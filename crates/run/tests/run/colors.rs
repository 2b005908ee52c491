//! Where prunes or futurebases are not the same for both colours, positions with either side to
//! move are stored, whatever index type is asked for.

use std::path::Path;

use hoffman_run::{MadeTable, RunError, RunOptions, Silent, Workplace, generate};
use hoffman_table::htb::SourceOptions;
use hoffman_table::{RawEntry, Table};

const ENABLED: &str = "<prune-enable color=\"white\" type=\"concede\"/>\
                       <prune-enable color=\"white\" type=\"discard\"/>\
                       <prune-enable color=\"black\" type=\"concede\"/>\
                       <prune-enable color=\"black\" type=\"discard\"/>";

fn piece(color: &str, role: &str) -> String {
    format!("<piece color=\"{color}\" type=\"{role}\"/>")
}

/// A piece of that kind a side, and the kings.
fn one_a_side(role: &str) -> String {
    let side = |color| piece(color, "king") + &piece(color, role);
    side("white") + &side("black")
}

fn prune(color: &str, pattern: &str, effect: &str) -> String {
    format!("<prune color=\"{color}\" move=\"{pattern}\" type=\"{effect}\"/>")
}

/// Generates a table in a folder; `{}` in the elements stands for the folder.
fn make(folder: &Path, name: &str, elements: &str) -> Result<MadeTable, RunError> {
    let elements = elements.replace("{}", folder.to_str().unwrap());
    let path = folder.join(format!("{name}.xml"));
    std::fs::write(&path, format!("<tablebase>{ENABLED}<dtm/>{elements}</tablebase>")).unwrap();
    let options = RunOptions::new(&Silent, Workplace::default());
    generate(&path, Some(&path.with_extension("htb")), &options)
}

/// The indices of a table of an index type, after every entry was compared with that of the table
/// with combinadic3.
fn compared(folder: &Path, index: &str, elements: &str) -> u64 {
    let table = |index: &str| {
        let elements = format!("<index type=\"{index}\"/>{elements}");
        let made = make(folder, index, &elements).unwrap();
        Table::open(made.path.as_ref().unwrap(), SourceOptions::default()).unwrap()
    };
    let (table, full) = (table(index), table("combinadic3"));
    let stored = |table: &Table| {
        let mut entries = vec![0_i32; table.space().size() as usize];
        table.read_entries(0, &mut entries).unwrap();
        entries
    };
    let (entries, expected) = (stored(&table), stored(&full));
    let mut differing = 0_u64;
    for (at, &entry) in expected.iter().enumerate() {
        let Some(placement) = full.space().decode(at as u64) else { continue };
        let men = full.pieces().iter().zip(&placement.squares);
        let men = men.map(|(piece, &square)| (square, piece.color, piece.role));
        let placement = table.space().place(men, placement.turn, placement.en_passant).unwrap();
        let index = table.space().encode(&placement).unwrap();
        let (found, entry) = (RawEntry(entries[index as usize]), RawEntry(entry));
        let value = |table: &Table, raw| table.codec().value(raw, placement.turn);
        differing += u64::from(value(&table, found) != value(&full, entry));
    }
    assert_eq!(differing, 0, "{index}: {elements}");
    table.space().size()
}

#[test]
fn prunes_that_differ_by_colour_store_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let knights = one_a_side("knight");
    let differing = prune("white", "?xN", "concede") + &prune("black", "?xN", "discard");
    let alike = prune("white", "?xN", "concede") + &prune("black", "[KN]xN", "concede");
    let one_side = compared(folder.path(), "combinadic5", &format!("{knights}{alike}"));
    for index in ["combinadic5", "combinadic4"] {
        let both_sides = compared(folder.path(), index, &format!("{knights}{differing}"));
        assert_eq!(both_sides, 2 * one_side);
    }
    // A stalemate that White wins is no image of one that Black wins.
    let stalemates = prune("white", "stalemate", "concede");
    let both_sides =
        compared(folder.path(), "combinadic5", &format!("{knights}{alike}{stalemates}"));
    assert_eq!(both_sides, 2 * one_side);
    // What is said of White's moves only stands for Black's.
    let white = prune("white", "?xN", "concede");
    let made = make(folder.path(), "white", &format!("{knights}{white}")).unwrap();
    assert_eq!(made.counts.unwrap().indices, one_side);
    // With the black king first combinadic3 is not possible.
    let (king, others) = knights.split_at(knights.find("<piece color=\"black\"").unwrap());
    let made = make(folder.path(), "black", &format!("{others}{king}{differing}")).unwrap();
    let said = made.notices.join("\n");
    assert!(said.contains("with index type simple in place of combinadic5"), "{said}");
}

#[test]
fn futurebases_that_differ_by_colour_store_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let knight = piece("white", "king") + &piece("black", "king") + &piece("white", "knight");
    make(folder.path(), "knk", &format!("{knight}{}", prune("black", "KxN", "concede"))).unwrap();
    let knights = one_a_side("knight");
    let futurebase = |colors: &str| format!("<futurebase filename=\"{{}}/knk.htb\"{colors}/>");
    let elements = |colors: &str, prunes: &str| format!("{knights}{}{prunes}", futurebase(colors));
    let white = make(folder.path(), "white", &elements("", "")).unwrap();
    let discard = prune("black", "?xN", "discard");
    let whites_only = elements("", &discard).replace("{}", folder.path().to_str().unwrap());
    let indices = compared(folder.path(), "combinadic5", &whites_only);
    assert_eq!(indices, 2 * white.counts.unwrap().indices);
    // Given for both colours it says the same of both.
    let both = format!("{}{}", elements("", &discard), futurebase(" colors=\"invert\""));
    let both = format!("{both}{}", prune("white", "?xN", "discard"));
    assert_eq!(
        make(folder.path(), "both", &both).unwrap().counts.unwrap().indices,
        white.counts.unwrap().indices
    );
}
