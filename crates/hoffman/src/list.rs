//! The positions of a table that somebody asks for.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use hoffman_probe::collection::Collection;
use hoffman_probe::list::{self, ListCounts, ListError, ListQuery, ListedPosition};
use hoffman_probe::stats::TableStats;
use hoffman_reader::Error as ProbeError;
use hoffman_run::available_memory;
use hoffman_store::is_folder;
use hoffman_table::SharedValues;

use crate::error::Error;
use crate::event::{Cancel, Event};
use crate::table::{CACHE, Table};

/// Where the tables behind a list are, who is told how far it is, and what ends it.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// Folders, besides that of the table, in which the tables behind its moves are looked for.
    pub folders: Vec<PathBuf>,
    /// Is told how far the work is.
    pub progress: ListProgress,
    /// What stops the work.
    pub cancel: Cancel,
}

/// Is told, by any thread, how far the work on a list is: [`Event::Entries`], in a unit of its own.
#[derive(Clone, Default)]
pub struct ListProgress(Option<Arc<dyn Fn(Event) + Send + Sync>>);

impl ListProgress {
    /// Hands events to `tell`.
    pub fn new(tell: impl Fn(Event) + Send + Sync + 'static) -> ListProgress {
        ListProgress(Some(Arc::new(tell)))
    }
}

impl fmt::Debug for ListProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListProgress").field(&self.0.is_some()).finish()
    }
}

/// A table that lists are asked of, one after the other: what was read of it and of the tables
/// behind its moves is kept.
#[derive(Debug)]
pub struct TableLists {
    tables: Collection,
    memory: u64,
    shared: Arc<SharedValues>,
    options: ListOptions,
}

/// The memory for lists where nobody knows how much is free.
const USUAL_MEMORY: u64 = 4 << 30;

impl Table {
    /// Tells `each` the positions that are asked for, one of those that are the same under the
    /// symmetries of the board, until it breaks off; without it they are only counted. Works on the
    /// threads of the pool that it is called in; the order does not depend on how many there are.
    ///
    /// Moves are compared ([`ListQuery::only_move`], [`ListQuery::unique_line`]) with the tables
    /// behind them, for which the folder of the table is searched, then those of the options, then
    /// the current one.
    ///
    /// # Errors
    /// A table cannot be read or is missing, the table does not tell what is asked for, or the
    /// question contradicts itself; [`Error::Cancelled`].
    pub fn list(
        &self,
        query: &ListQuery,
        options: &ListOptions,
        each: Option<&mut dyn FnMut(ListedPosition) -> ControlFlow<()>>,
    ) -> Result<ListCounts, Error> {
        self.lists(options)?.list(query, each)
    }

    /// The table for several such questions.
    ///
    /// # Errors
    /// It cannot be read, or a folder cannot be listed.
    pub fn lists(&self, options: &ListOptions) -> Result<TableLists, Error> {
        let half_of_free = || available_memory().map_or(USUAL_MEMORY, |free| free / 2);
        let memory = self.whole().unwrap_or_else(half_of_free);
        let shared = Arc::new(SharedValues::new(memory / 4));
        let reading = self.reading().clone().sharing(Arc::clone(&shared));
        let (source, foreign) = (reading.source(CACHE), reading.foreign());
        let mut tables = Collection::with_options(source.clone());
        let table = hoffman_table::Table::open_checked(self.path(), source, &foreign)?;
        tables.adopt(table).map_err(ProbeError::from)?;
        let first = options.folders.first().map(PathBuf::as_path);
        tables.add_folders_beside(Some(self.path()), first).map_err(ProbeError::from)?;
        for folder in options.folders.iter().skip(1).filter(|folder| is_folder(folder)) {
            tables.add_folder(folder).map_err(ProbeError::from)?;
        }
        for folder in self.reading().syzygy_folders() {
            tables.add_syzygy_folder(folder, &foreign).map_err(ProbeError::from)?;
        }
        Ok(TableLists { tables, memory, shared, options: options.clone() })
    }
}

impl TableLists {
    /// See [`Table::list`].
    ///
    /// # Errors
    /// As there.
    pub fn list(
        &self,
        query: &ListQuery,
        each: Option<&mut dyn FnMut(ListedPosition) -> ControlFlow<()>>,
    ) -> Result<ListCounts, Error> {
        let stop = || self.options.cancel.is_cancelled();
        let tell = self.options.progress.0.as_deref();
        let tell = tell.map(|tell| move |done, total| tell(Event::Entries { done, total }));
        let progress = tell.as_ref().map(|tell| tell as &(dyn Fn(u64, u64) + Sync));
        let (memory, shared) = (self.memory, Some(&*self.shared));
        let how = list::ListPlan { memory, shared, progress, stop: &stop };
        Ok(list::list(&self.tables, query, &how, each)?)
    }
}

impl TableLists {
    /// See [`Table::stats`]: what was read for lists is not read again, and the other way round.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`].
    pub fn stats(&self) -> Result<TableStats, Error> {
        let table = self.tables.first_table();
        let table = table.ok_or(ListError::Question("no table is named"))?;
        Ok(hoffman_probe::stats::stats(table, self.memory)?)
    }
}

impl From<ListError> for Error {
    fn from(error: ListError) -> Error {
        match error {
            ListError::Tables(error) => Error::from(ProbeError::from(error)),
            ListError::Stopped => Error::Cancelled { goes_on: false, checkpoint: None },
            other => Error::List(Arc::new(other)),
        }
    }
}
