//! Folders of tables that answer positions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use hoffman_board::Variant;
use hoffman_probe::collection::{Collection, DEFAULT_CACHE, table_name};
use hoffman_probe::lines::{Known, MoveOption, assess, main_line, ranked_moves};
use hoffman_probe::moves::Move;
use hoffman_probe::position::Position;
use hoffman_probe::reading::ReadOptions;
use hoffman_probe::report::{Report, report_known};
use hoffman_probe::session::Session;
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use hoffman_table::foreign::nalimov::NalimovFolders;

use crate::answer::{Answer, MoveAnswer, Value, Wdl};
use crate::error::Error;
use crate::position::AsPosition;

/// Tables that answer positions. Clones are the same tables and share one cache; any number of
/// threads may ask.
///
/// Tables are opened when they are first needed, and new ones in the folders are seen when no
/// other answers.
#[derive(Clone, Debug)]
pub struct Tablebase {
    shared: Arc<SharedTables>,
}

#[derive(Debug)]
struct SharedTables {
    /// The tables as they were found last.
    tables: ArcSwap<Collection>,
    /// Held while folders are looked through again.
    looking: Mutex<()>,
}

/// What a [`Tablebase`] consists of.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
    beside: bool,
    cache: usize,
    reading: ReadOptions,
    /// Folders of Syzygy tables.
    syzygy: Vec<PathBuf>,
}

/// A [`Tablebase`] of what could be opened.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The tables.
    pub tables: Tablebase,
    /// Files named by [`OpenOptions::file`] that are not among them.
    pub failed: Vec<(PathBuf, Error)>,
    /// Remarks on such files.
    pub notices: Vec<(PathBuf, String)>,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            folders: Vec::new(),
            files: Vec::new(),
            beside: false,
            cache: DEFAULT_CACHE,
            reading: ReadOptions::default(),
            syzygy: Vec::new(),
        }
    }
}

impl OpenOptions {
    /// No tables, a cache of 64 MB.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// A folder of tables, found by the names of their endings: `krpkr.htb`, or parts as
    /// `krpkr-b7.htb`. Earlier folders are asked first, and tables with distances before others.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> OpenOptions {
        self.folders.push(folder.as_ref().to_owned());
        self
    }

    /// A table, of any name, to be asked before the folders. One of the suffix `.rtbw` is a Syzygy
    /// table.
    #[must_use]
    pub fn file(mut self, file: impl AsRef<Path>) -> OpenOptions {
        self.files.push(file.as_ref().to_owned());
        self
    }

    /// Whether the folders that the files lie in are asked too, and last the current one.
    #[must_use]
    pub fn beside(self, beside: bool) -> OpenOptions {
        OpenOptions { beside, ..self }
    }

    /// How many bytes of unpacked blocks are held, if memory is not bounded by
    /// [`OpenOptions::reading`].
    #[must_use]
    pub fn cache(self, bytes: usize) -> OpenOptions {
        OpenOptions { cache: bytes, ..self }
    }

    /// How the tables are read. In its folders of Syzygy tables only such tables are looked for
    /// that others need.
    #[must_use]
    pub fn reading(self, reading: ReadOptions) -> OpenOptions {
        OpenOptions { reading, ..self }
    }

    /// A folder of Syzygy tables (`KRPvKR.rtbw`), which are asked where no table of ours has the
    /// position: they say who wins, but not when.
    #[must_use]
    pub fn syzygy(mut self, folder: impl AsRef<Path>) -> OpenOptions {
        self.syzygy.push(folder.as_ref().to_owned());
        self
    }

    /// Opens them.
    ///
    /// # Errors
    /// A folder cannot be listed; a table named by [`OpenOptions::file`] cannot be opened, or is
    /// of another variant than the first.
    pub fn open(&self) -> Result<Tablebase, Error> {
        let Opened { tables, failed, .. } = self.open_some()?;
        failed.into_iter().next().map_or(Ok(tables), |(_, error)| Err(error))
    }

    /// Opens those that can be opened.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn open_some(&self) -> Result<Opened, Error> {
        let reading = self.folders.iter().fold(self.reading.clone(), ReadOptions::behind);
        let mut tables = Collection::with_options(reading.source(self.cache));
        let foreign = self.syzygy.iter().fold(self.reading.clone(), ReadOptions::syzygy).foreign();
        let (mut failed, mut notices) = (Vec::new(), Vec::new());
        for file in &self.files {
            match open_into(&mut tables, file, &foreign) {
                Ok(table) => {
                    let remark = |text: &String| (file.clone(), text.clone());
                    notices.extend(table.notices().iter().map(remark));
                    if self.beside {
                        tables.add_folders_beside(Some(file), None)?;
                    }
                }
                Err(error) => failed.push((file.clone(), error)),
            }
        }
        for folder in &self.folders {
            tables.add_folder(folder)?;
        }
        if self.beside {
            tables.add_folders_beside(None, None)?;
        }
        for folder in &self.syzygy {
            tables.add_syzygy_folder(folder, &foreign)?;
        }
        Ok(Opened { tables: Tablebase::from(tables), failed, notices })
    }
}

fn open_into<'c>(
    tables: &'c mut Collection,
    file: &Path,
    foreign: &ForeignOptions,
) -> Result<&'c Table, Error> {
    let table = Table::open_checked(file, tables.options().clone(), foreign)?;
    Ok(tables.adopt(table)?)
}

impl From<Collection> for Tablebase {
    fn from(tables: Collection) -> Tablebase {
        let shared =
            SharedTables { tables: ArcSwap::from_pointee(tables), looking: Mutex::new(()) };
        Tablebase { shared: Arc::new(shared) }
    }
}

impl Tablebase {
    /// The tables of a folder.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn open(folder: impl AsRef<Path>) -> Result<Tablebase, Error> {
        OpenOptions::new().folder(folder).open()
    }

    /// The rules that the tables are about.
    pub fn variant(&self) -> Variant {
        self.shared.tables.load().variant()
    }

    /// What is known of a position.
    ///
    /// # Errors
    /// No table has it ([`Error::NoTable`]), the table is damaged, or the position is none that
    /// tables hold.
    pub fn probe(&self, position: impl AsPosition) -> Result<Answer, Error> {
        let position = position.as_position(self.variant())?;
        let (_, known) = self.known(&position)?;
        answered(known, &position)
    }

    /// What is proved of a position, and nothing else.
    ///
    /// # Errors
    /// As for [`Tablebase::probe`].
    pub fn value(&self, position: impl AsPosition) -> Result<Value, Error> {
        Ok(self.probe(position)?.value)
    }

    /// The result of a position; none if it is not proved.
    ///
    /// # Errors
    /// As for [`Tablebase::probe`].
    pub fn wdl(&self, position: impl AsPosition) -> Result<Option<Wdl>, Error> {
        Ok(self.value(position)?.wdl())
    }

    /// What is proved of a position as far as memory tells: the disk is not asked. None if it
    /// would have to be, and of files in the profile `small`, which lean on others.
    ///
    /// # Errors
    /// The position is none that tables hold.
    pub fn probe_cached(&self, position: impl AsPosition) -> Result<Option<Answer>, Error> {
        let position = position.as_position(self.variant())?;
        let tables = self.shared.tables.load();
        let Some(hit) = tables.lookup_cached(&position) else { return Ok(None) };
        let known = Known::of(&position, tables.variant(), Some(hit));
        Ok(known.said.is_some().then(|| Answer::new(known)))
    }

    /// The legal moves with what they lead to, best first: by the result, then quicker wins and
    /// slower losses. Where prunes decide, they are those of the table that answers the position.
    ///
    /// # Errors
    /// The table of the position is damaged, or the position is none that tables hold. That no
    /// table has the position, or the one behind a move, is no error here: the others may be
    /// known.
    pub fn moves(&self, position: impl AsPosition) -> Result<Vec<MoveAnswer>, Error> {
        let position = position.as_position(self.variant())?;
        let (tables, known) = self.known(&position)?;
        let moves = ranked_moves(&tables, &position, &known).into_iter();
        Ok(moves.map(|option| move_answer(option, &position, tables.variant())).collect())
    }

    /// Best play from a position to the mate, by what the tables say. Empty if the position is not
    /// known to be won or lost with its distance; cut off where a table is missing.
    ///
    /// # Errors
    /// The table of the position is damaged, or the position is none that tables hold.
    pub fn line(&self, position: impl AsPosition) -> Result<Vec<Move>, Error> {
        let position = position.as_position(self.variant())?;
        let (tables, known) = self.known(&position)?;
        let line = main_line(&tables, &position, &known).into_iter();
        Ok(line.map(|(_, m)| m).collect())
    }

    /// All of this as the program prints it: as text, or with `serde` in the shape of the Lichess
    /// tablebase server.
    ///
    /// # Errors
    /// As for [`Tablebase::moves`].
    pub fn report(&self, position: impl AsPosition) -> Result<Report, Error> {
        let position = position.as_position(self.variant())?;
        let (tables, known) = self.known(&position)?;
        Ok(report_known(&tables, &position, &known))
    }

    /// A conversation about positions as at the prompt of version 1.7, with Nalimov tables of
    /// these folders at hand, or of the current one.
    pub fn session(&self, nalimov: &[PathBuf]) -> Session {
        let mut session = Session::new(Collection::clone(&self.shared.tables.load()));
        let folders = if nalimov.is_empty() { vec![PathBuf::from(".")] } else { nalimov.to_vec() };
        let nalimov = NalimovFolders::new(folders);
        if nalimov.most_men() > 0 {
            session.set_nalimov(nalimov);
        }
        session
    }

    /// How many tables were named by [`OpenOptions::file`] or handed over.
    pub fn named_tables(&self) -> usize {
        self.shared.tables.load().tables().len()
    }

    /// What is known of a position, and the tables by which it is. They are borrowed by the
    /// thread: a count of those who hold them would be fought for.
    fn known(&self, position: &Position) -> Result<(Guard<Arc<Collection>>, Known), Error> {
        let tables = self.shared.tables.load();
        let first = assess(&tables, position);
        let answered = first.as_ref().is_ok_and(|known| known.said.is_some());
        if answered || !self.look_again()? {
            return Ok((tables, first?));
        }
        let tables = self.shared.tables.load();
        let known = assess(&tables, position)?;
        Ok((tables, known))
    }

    /// Looks whether folders have changed. Whether they have.
    fn look_again(&self) -> Result<bool, Error> {
        if !self.shared.tables.load().may_have_changed() {
            return Ok(false);
        }
        // What another thread has seen in the meantime shall not be lost.
        let _looking = self.shared.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = self.shared.tables.load().looked_again()?;
        self.shared.tables.store(Arc::new(tables));
        Ok(true)
    }
}

fn answered(known: Known, position: &Position) -> Result<Answer, Error> {
    if known.said.is_none() && known.hit.is_none() {
        return Err(Error::NoTable { table: table_name(&position.material()) });
    }
    Ok(Answer::new(known))
}

fn move_answer(option: MoveOption, before: &Position, variant: Variant) -> MoveAnswer {
    let MoveOption { m, after, known, pruned, missing, failure } = option;
    let san = before.san(&m, variant).unwrap_or_else(|| m.classic());
    let answer = match (failure, missing) {
        (Some(failure), _) => Err(Error::from(failure)),
        (None, Some(table)) => Err(Error::NoTable { table }),
        (None, None) => answered(known, &after),
    };
    MoveAnswer { m, san, after, answer, pruned }
}
