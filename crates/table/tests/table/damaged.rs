//! Headers that lie: errors, never a panic.

use std::path::Path;

use hoffman_table::htb::{GzipSource, SourceOptions};
use hoffman_table::{Table, TableProblem};

/// Opens the stream of a bare-kings table with that offset.
fn open(offset: &str) -> Result<Table, TableProblem> {
    let mut bytes = format!(
        "<!-- ä --><tablebase offset=\"{offset}\"><dtm bits=\"5\"/><piece color='white' type='king'/>\
         <piece color='black' type='king'/></tablebase>"
    )
    .into_bytes();
    bytes.extend([0; 600]);
    let source = GzipSource::new(Box::new(bytes), SourceOptions::default()).unwrap();
    Table::from_source(Path::new("damaged.htb"), source)
}

#[test]
fn offsets_beyond_everything_are_errors() {
    for offset in ["1000", "18446744073709551615", "0xfffffffffffffff0"] {
        let mut table = open(offset).unwrap();
        assert!(table.check_length().is_err(), "{offset}");
        assert!(table.entry(0).is_err() && table.entry(u64::MAX).is_err(), "{offset}");
        assert!(table.read_entries(0, &mut [0_i32; 20]).is_err(), "{offset}");
    }
}

#[test]
fn indices_beyond_everything_are_errors() {
    let table = open("200").unwrap();
    assert!(table.entry(461).is_ok());
    assert!(table.entry(u64::MAX).is_err() && table.entry(u64::MAX / 5).is_err());
}
