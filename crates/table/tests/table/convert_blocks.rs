//! Golden tables of the original program in the block format and back: header and entries must be
//! the same, whatever the index type, the format and the rules.
//!
//! The tables lie outside the repository, at `$HOFFMAN_SHARED/spec/golden` (default: `shared`
//! beside the checkout).

use std::path::{Path, PathBuf};

use hoffman_hbf::HbfFile;
use hoffman_table::Table;
use hoffman_table::convert::{ConvertTarget, convert};
use hoffman_table::htb::SourceOptions;

use crate::{entries, golden, open};

/// Tables with more indices are left out, to save time.
const LARGEST: u64 = 1_000_000;

/// Of complete endings, whose cells take longer to be made, tables with more indices are left out.
const LARGEST_COMPLETE: u64 = 600_000;

fn tables_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            tables_in(&path, found);
        } else if path.extension().is_some_and(|suffix| suffix == "htb") {
            found.push(path);
        }
    }
}

#[test]
fn golden_tables_come_back_from_the_block_format() {
    let Some(golden) = golden() else { return };
    let mut paths = Vec::new();
    tables_in(&golden, &mut paths);
    paths.sort();

    let folder = tempfile::tempdir().expect("a folder");
    let (blocks, packed) = (folder.path().join("new.hbf"), folder.path().join("new.htb"));
    let (mut by_cells, mut by_index, mut left_out) = (0, 0, 0);
    for path in &paths {
        let Ok(mut old) = Table::open(path, SourceOptions::default()) else { continue };
        // Some are damaged on purpose.
        if old.check_length().is_err() {
            continue;
        }
        let complete = !old.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
        if old.space().size() > if complete { LARGEST_COMPLETE } else { LARGEST } {
            left_out += 1;
            continue;
        }
        let name = path.display();
        let mut expected = vec![0; old.space().size() as usize];
        if old.read_entries(0, &mut expected).is_err() {
            continue;
        }
        convert(&old, &blocks, &ConvertTarget::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let new = open(&blocks);
        assert_eq!(new.control().text(), old.control().text(), "{name}");
        assert_eq!(new.control().statistics, old.control().statistics, "{name}");
        assert_eq!(new.pawn_structures(), old.pawn_structures(), "{name}");
        assert!(entries(&new) == expected, "{name}");
        for index in (0..old.space().size()).step_by(1 + old.space().size() as usize / 500) {
            let numbers = [&old, &new].map(|table| table.entry(index).expect("an entry"));
            assert_eq!(numbers[0], numbers[1], "{name}: {index}");
        }
        let bytes = Box::new(std::fs::File::open(&blocks).expect("a file"));
        match HbfFile::open(bytes).expect("a file").info().mode {
            hoffman_hbf::Mode::Complete(_) => by_cells += 1,
            hoffman_hbf::Mode::Generic { .. } => by_index += 1,
        }

        convert(&new, &packed, &ConvertTarget::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let back = open(&packed);
        assert_eq!(back.control().text(), old.control().text(), "{name}");
        assert_eq!(back.pawn_structures(), old.pawn_structures(), "{name}");
        assert!(entries(&back) == expected, "{name}");
    }
    println!("{by_cells} tables by cells, {by_index} by index, {left_out} too large");
    assert!(by_cells > 5 && by_index > 50, "{by_cells} {by_index}");
}
