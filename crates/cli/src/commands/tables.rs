//! Opening the tables that are named on the command line.

use std::path::{Path, PathBuf};

use hoffman::{OpenOptions, Opened, ReadOptions, Table, Tablebase};

use crate::args::AtHandArgs;
use crate::output::note;

/// The tables that answer positions: those named, those beside them, and those of the folder.
pub(super) fn tablebase(named: &[PathBuf], at_hand: &AtHandArgs) -> anyhow::Result<Tablebase> {
    let folder = at_hand.folder()?;
    let mut options = OpenOptions::new().beside(true).reading(at_hand.reading()?);
    options = at_hand.foreign.syzygy.iter().fold(options, OpenOptions::syzygy);
    if let Some(folder) = &folder {
        options = options.folder(folder);
    }
    for named in named {
        options = options.file(Table::find(named, folder.as_deref())?);
    }
    let Opened { tables, failed, notices, .. } = options.open_some()?;
    for (path, notice) in notices {
        note(&format!("{}: {notice}", path.display()));
    }
    match failed.into_iter().next() {
        Some((_, error)) => Err(error.into()),
        None => Ok(tables),
    }
}

/// Opens a table, of another program too: a path, or the name of an ending that is looked up in
/// `folder`, then in the current one.
pub(super) fn open(
    named: &Path,
    folder: Option<&Path>,
    reading: &ReadOptions,
) -> anyhow::Result<Table> {
    let table = Table::open_named(named, folder, reading.clone())?;
    for notice in table.notices() {
        note(&format!("{}: {notice}", table.path().display()));
    }
    Ok(table)
}
