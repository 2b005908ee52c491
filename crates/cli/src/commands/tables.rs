//! Opening the tables that are named on the command line.

use std::path::Path;

use hoffman::{ReadOptions, Table};

use crate::output::note;

/// Opens a table, of another program too: a path, or the name of an ending that is looked up in
/// `folder`, then in the current one.
pub(super) fn open(
    named: &Path,
    folder: Option<&Path>,
    reading: &ReadOptions,
) -> anyhow::Result<Table> {
    let table = Table::open(Table::find(named, folder)?, reading.clone())?;
    for notice in table.notices() {
        note(&format!("{}: {notice}", table.path().display()));
    }
    Ok(table)
}
