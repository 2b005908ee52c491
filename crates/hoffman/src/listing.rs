//! What tables there are in a folder, and what their headers say.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Format, ListedPiece, Material, Variant};
use hoffman_control::Assumption;
use hoffman_probe::collection::CollectionError;
use hoffman_reader::Error as ProbeError;
use hoffman_store::files;

use crate::error::Error;
use crate::table::Table;

/// A file with the name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableFile {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was changed last, if the system tells.
    pub changed: Option<SystemTime>,
}

/// What the header of a table says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableInfo {
    /// Its men.
    pub ending: Material,
    /// The rules it is about.
    pub variant: Variant,
    /// What its entries hold.
    pub format: Format,
    /// How many indices it has.
    pub indices: u64,
    /// Whether it holds only some of the positions of its ending.
    pub is_partial: bool,
    /// What the values prove of chess, in the words of the header: `white-wins`, `white-holds`,
    /// `black-wins`, `black-holds`. All four where they are those of chess.
    pub certain: Vec<&'static str>,
    /// In what its game is not chess.
    pub assumes: Vec<String>,
}

/// The tables of ours in a folder (`.htb`, `.hbf`), by name. None is opened.
///
/// # Errors
/// The folder cannot be listed.
pub fn tables_in(folder: impl AsRef<Path>) -> Result<Vec<TableFile>, Error> {
    let folder = folder.as_ref();
    let names = match files().list(folder) {
        // A web server answers names and lists none.
        Err(source) if source.kind() == ErrorKind::Unsupported => Vec::new(),
        Err(source) => {
            let (path, source) = (folder.to_owned(), Arc::new(source));
            return Err(ProbeError::from(CollectionError::Folder { path, source }).into());
        }
        Ok(names) => names,
    };
    let paths = names.into_iter().map(|name| folder.join(name));
    let mut tables: Vec<TableFile> = paths.filter_map(table_file).collect();
    tables.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(tables)
}

/// None for what is no table, and for one that has gone in the meantime.
fn table_file(path: PathBuf) -> Option<TableFile> {
    let containers = ["htb", hoffman_table::blocks::SUFFIX];
    path.extension().filter(|extension| containers.iter().any(|name| name == extension))?;
    let info = files().info(&path).ok().filter(|info| info.is_file)?;
    Some(TableFile { path, bytes: info.len, changed: info.modified })
}

impl Table {
    /// What its header says.
    pub fn info(&self) -> TableInfo {
        let table = self.inner();
        let claims = table.claims();
        let assumptions = Assumption::of_header(table.control());
        let is_restricted = table.pieces().iter().any(ListedPiece::is_restricted);
        TableInfo {
            ending: Material::from_men(table.pieces().iter().map(|p| (p.color, p.role))),
            variant: table.variant(),
            format: table.codec().format(),
            indices: table.space().size(),
            is_partial: table.control().pawngen.is_some() || is_restricted,
            certain: claims.names(),
            assumes: if claims.is_exact() {
                Vec::new()
            } else {
                assumptions.iter().map(ToString::to_string).collect()
            },
        }
    }
}
