//! Folders that cannot be listed, as those of a web server: tables are asked for by their names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hoffman_board::Material;
use hoffman_store::{Storage, may_be_file};
use hoffman_table::blocks::names_of;

use crate::collection::{ListedTable, table_name};

/// Folders without a list, and what was found in them. Clones share what was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnlistedFolders {
    folders: Vec<PathBuf>,
    asked: Arc<Mutex<Asked>>,
}

impl UnlistedFolders {
    /// Adds a folder behind the others.
    pub(crate) fn add(&mut self, folder: &Path) {
        if self.folders.iter().any(|known| known == folder) {
            return;
        }
        self.folders.push(folder.to_owned());
        // What was not there may be in this one.
        self.asked = Arc::default();
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The tables of an ending, each folder asked once: what was not there is remembered.
    pub(crate) fn tables(&self, storage: &dyn Storage, ending: &Material) -> Vec<Arc<ListedTable>> {
        if self.is_empty() {
            return Vec::new();
        }
        // Held while the folders are asked, so that two threads do not ask the same.
        let mut asked = self.asked();
        let found = asked.entry(*ending).or_insert_with(|| {
            let name = table_name(ending);
            let tables = self.folders.iter().filter_map(|folder| table_in(storage, folder, &name));
            tables.map(ListedTable::new).collect()
        });
        found.to_vec()
    }

    /// Whether a table could not be opened and may be mended.
    pub(crate) fn may_be_mended(&self) -> bool {
        self.asked().values().any(|tables| may_be_mended(tables))
    }

    /// The same, to be asked again for endings with a table that may be mended.
    pub(crate) fn mended(&self) -> UnlistedFolders {
        let mut asked = Asked::clone(&self.asked());
        asked.retain(|_, tables| !may_be_mended(tables));
        UnlistedFolders { folders: self.folders.clone(), asked: Arc::new(Mutex::new(asked)) }
    }

    /// No code panics while it holds the lock.
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tables of endings that were asked for.
type Asked = HashMap<Material, Arc<[Arc<ListedTable>]>>;

/// The table of a name in a folder, in either container.
fn table_in(storage: &dyn Storage, folder: &Path, name: &str) -> Option<PathBuf> {
    names_of(&folder.join(name)).find(|path| may_be_file(storage, path))
}

fn may_be_mended(tables: &[Arc<ListedTable>]) -> bool {
    tables.iter().any(|table| table.may_be_mended())
}
