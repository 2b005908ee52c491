//! Finding and opening the tables that are named on the command line.

use std::path::{Path, PathBuf};

use hoffman_board::Material;
use hoffman_probe::collection::table_name;
use hoffman_table::Table;
use hoffman_table::foreign::{ForeignOptions, Kind};
use hoffman_table::htb::SourceOptions;

use crate::output::note;

/// The file of a table: a path, or the name of an ending that is looked up in `folder`, then in the
/// current one.
pub(super) fn find(named: &Path, folder: Option<&Path>) -> anyhow::Result<PathBuf> {
    let is_name = named.components().count() == 1 && named.extension().is_none();
    // Tables of other programs have folders of their own.
    if named.is_file() || !is_name || Kind::of(named).is_some() {
        return Ok(named.to_owned());
    }
    let text = named.to_string_lossy();
    let material = text.parse::<Material>();
    let own = format!("{text}.htb");
    let file = material.as_ref().map_or(own, table_name);
    let folders = folder.into_iter().chain([Path::new("")]);
    let mut files = folders.map(|folder| folder.join(&file));
    if let Some(found) = files.find(|path| path.is_file()) {
        return Ok(found);
    }
    anyhow::ensure!(material.is_ok(), "'{text}' is neither a file nor an ending such as KRPvKR");
    let places = folder.map_or(String::new(), |folder| format!("{} and ", folder.display()));
    anyhow::bail!("there is no table {file} in {places}the current folder")
}

/// Opens a table, of another program too, and checks that it is complete.
pub(super) fn open(
    path: &Path,
    options: SourceOptions,
    foreign: &ForeignOptions,
) -> anyhow::Result<Table> {
    let table = Table::open_checked(path, options, foreign)?;
    for notice in table.notices() {
        note(&format!("{}: {notice}", path.display()));
    }
    Ok(table)
}
