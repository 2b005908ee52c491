//! Tables of this program and of others, read, converted and damaged; every index type. All in one
//! program, whose tests run side by side.
#![allow(clippy::unwrap_used)]

mod convert_blocks;
mod convert_golden;
mod damaged;
mod foreign;
mod golden;
mod index_properties;
mod speed;

use std::path::{Path, PathBuf};

use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;

/// The folder of tables of the original program; none, loudly, if it is not there.
fn golden() -> Option<PathBuf> {
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let golden = shared.join("spec/golden");
    if golden.is_dir() {
        return Some(golden);
    }
    eprintln!(
        "\n*** NOT TESTED: no golden tables at {} ***\n*** set HOFFMAN_SHARED to the folder that has \
         spec/golden ***\n",
        golden.display()
    );
    None
}

fn open(path: &Path) -> Table {
    let mut table = Table::open(path, SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    table
}

fn entries(table: &Table) -> Vec<i32> {
    let mut all = vec![0; table.space().size() as usize];
    table.read_entries(0, &mut all).unwrap();
    all
}
