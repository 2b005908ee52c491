//! Moves about which nothing is said, where another move of the same position is conceded.

use std::path::Path;

use hoffman_run::{MadeTable, RunError, RunOptions, Silent, Workplace, generate};
use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;

const ENABLED: &str = "<prune-enable color=\"white\" type=\"concede\"/>\
                       <prune-enable color=\"white\" type=\"discard\"/>\
                       <prune-enable color=\"black\" type=\"discard\"/>";

/// The white king in the corner, and the black king with a blocked knight or without it. White's
/// queen takes the knight on d8.
const MEN: &str = "<piece color=\"white\" type=\"king\" location=\"a1\"/><piece color=\"black\" type=\"king\"/>\
                   <piece color=\"white\" type=\"queen\" location=\"d1\"/>\
                   <piece color=\"black\" type=\"knight\" location=\"d8\"/>";
const BEHIND: &str = "<piece color=\"white\" type=\"king\" location=\"a1\"/>\
                      <piece color=\"black\" type=\"king\" location=\"a3 b3 c3 d3 e3\"/>\
                      <piece color=\"white\" type=\"queen\" location=\"d8\"/>";

fn prune(color: &str, pattern: &str, effect: &str) -> String {
    format!("<prune color=\"{color}\" move=\"{pattern}\" type=\"{effect}\"/>")
}

fn make(folder: &Path, name: &str, elements: &str) -> Result<MadeTable, RunError> {
    let path = folder.join(format!("{name}.xml"));
    std::fs::write(&path, format!("<tablebase>{ENABLED}<dtm/>{elements}</tablebase>")).unwrap();
    let options = RunOptions::new(&Silent, Workplace::default());
    generate(&path, Some(&path.with_extension("htb")), &options)
}

fn entries(made: &MadeTable) -> Vec<i32> {
    let mut table = Table::open(made.path.as_ref().unwrap(), SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    let mut entries = vec![0; table.space().size() as usize];
    table.read_entries(0, &mut entries).unwrap();
    entries
}

#[test]
fn a_concession_settles_what_a_futurebase_leaves_over() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let rest = |queen: &str| {
        let others = prune("white", "K*", "discard") + &prune("black", "*", "discard");
        others + &prune("white", "Q[a-h][1-8]", queen)
    };
    make(
        dir,
        "behind",
        &format!("{BEHIND}{}{}", rest("discard"), prune("white", "QxN", "discard")),
    )
    .unwrap();
    let futurebase =
        format!("<futurebase filename=\"{}\"/>", dir.join("behind.htb").to_str().unwrap());
    let table = |queen: &str, capture: &str| format!("{MEN}{futurebase}{}{capture}", rest(queen));
    // The queen can step ahead wherever she can take the knight.
    let left = make(dir, "left", &table("concede", "")).unwrap();
    // What the rest of the captures is worth does not matter then.
    for effect in ["concede", "discard"] {
        let said = make(dir, effect, &table("concede", &prune("white", "QxN", effect))).unwrap();
        assert_eq!(entries(&said), entries(&left), "{effect}");
    }
    // Where there is no concession nothing is settled,
    let error = make(dir, "open", &table("discard", "")).unwrap_err();
    assert!(matches!(error, RunError::Unhandled { mover: "WHITE", .. }), "{error}");
}

#[test]
fn a_concession_settles_its_own_positions_only() {
    let folder = tempfile::tempdir().unwrap();
    // White's king may be kept from every step by the black one, and still take the knight.
    let men = "<piece color=\"white\" type=\"king\" location=\"a1\"/>\
               <piece color=\"black\" type=\"king\"/>\
               <piece color=\"black\" type=\"knight\" location=\"a2\"/>";
    let others = prune("white", "Kb1", "concede")
        + &prune("white", "Kb2", "concede")
        + &prune("black", "*", "discard");
    let error = make(folder.path(), "some", &format!("{men}{others}")).unwrap_err();
    assert!(matches!(error, RunError::Unhandled { mover: "WHITE", .. }), "{error}");
}
