//! Many tables: those that are given, those that folders hold, and those that others name.
//!
//! Folders are listed once and their tables opened when first needed, found by the name of the
//! ending: `krpkr.htb` or `krpkr.hbf`, or parts as `krpkr-b7.htb`. Which of them answers a position
//! is in [`crate::lookup`].

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use hoffman_board::{Color, Material, Variant};
use hoffman_control::FuturebaseElement;
use hoffman_store::{files, has_wildcards, is_address, is_file, is_folder, is_like, named_in};
use hoffman_table::blocks::{has_suffix, is_hidden, of_name, twin};
use hoffman_table::foreign::{ForeignKind, ForeignOptions};
use hoffman_table::htb::{BlockCache, SourceOptions};
use hoffman_table::{Table, TableError};

use crate::open_table::{Named, OpenTable};
use crate::position::Position;
use crate::unlisted::UnlistedFolders;

/// The size of the block cache unless another one is asked for, in bytes.
pub const DEFAULT_CACHE: usize = 64 << 20;

/// Why tables cannot be opened or read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectionError {
    /// A table cannot be opened or is damaged.
    #[error(transparent)]
    Table(Arc<TableError>),
    /// A folder cannot be listed.
    #[error("cannot list the folder {path}: {source}", path = .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// Tables of normal and of suicide chess together.
    #[error("{path}: all probed tables must be of the same variant", path = .path.display())]
    Variants {
        /// The table that differs from the first one.
        path: PathBuf,
    },
}

impl From<TableError> for CollectionError {
    fn from(error: TableError) -> CollectionError {
        CollectionError::Table(Arc::new(error))
    }
}

/// A table seen in a folder.
#[derive(Debug)]
pub(crate) struct ListedTable {
    path: PathBuf,
    member: OnceLock<Result<Option<Arc<OpenTable>>, CollectionError>>,
    /// The file when it was opened.
    seen: OnceLock<PathStamp>,
}

impl ListedTable {
    pub(crate) fn new(path: PathBuf) -> Arc<ListedTable> {
        Arc::new(ListedTable { path, member: OnceLock::new(), seen: OnceLock::new() })
    }

    /// Whether it could not be opened, and may have been changed since.
    pub(crate) fn may_be_mended(&self) -> bool {
        let failed = matches!(self.member.get(), Some(Err(_)));
        failed && self.seen.get().is_none_or(PathStamp::may_have_changed)
    }
}

/// A folder or file as it was when it was looked at.
#[derive(Clone, Debug)]
struct PathStamp {
    path: PathBuf,
    /// When it had been changed last; none if the system does not tell.
    changed: Option<SystemTime>,
    /// When that was.
    at: SystemTime,
}

/// Within so much time after a change there may be another one without a later time of change.
const SAME_TIME: Duration = Duration::from_secs(2);

/// How long what lies at an address is taken to be as it was: to look again is a request.
const UNASKED: Duration = Duration::from_mins(1);

impl PathStamp {
    fn now(path: &Path) -> PathStamp {
        let changed = if is_address(path) { None } else { changed_at(path) };
        PathStamp { path: path.to_owned(), changed, at: SystemTime::now() }
    }

    /// Whether it may have changed since.
    fn may_have_changed(&self) -> bool {
        if is_address(&self.path) {
            return self.at.elapsed().is_ok_and(|time| time > UNASKED);
        }
        let Some(changed) = self.changed else { return true };
        let just_then = self.at.duration_since(changed).is_ok_and(|time| time < SAME_TIME);
        just_then || changed_at(&self.path) != Some(changed)
    }
}

/// When a file or folder was changed last.
fn changed_at(path: &Path) -> Option<SystemTime> {
    files().info(listed_path(path)).ok()?.modified
}

/// An empty path is what is left of a file name without a folder.
fn listed_path(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Tables opened because the header of another one names them, by their paths.
type NamedTables = HashMap<PathBuf, Result<Arc<OpenTable>, CollectionError>>;

/// Tables as one oracle. Clones share the tables that are open.
#[derive(Clone, Debug)]
pub struct Collection {
    given: Vec<Arc<OpenTable>>,
    found: HashMap<Material, Vec<Arc<ListedTable>>>,
    named: Arc<Mutex<NamedTables>>,
    folders: Vec<PathBuf>,
    listed: Vec<PathStamp>,
    /// Those folders that are asked for each table.
    unlisted: UnlistedFolders,
    options: SourceOptions,
    /// How tables of other programs are opened.
    foreign: ForeignOptions,
    variant: Option<Variant>,
}

impl Default for Collection {
    /// No tables, a cache of [`DEFAULT_CACHE`] bytes.
    fn default() -> Collection {
        Collection::with_cache(DEFAULT_CACHE)
    }
}

impl Collection {
    /// No tables yet; all will share a cache of that many bytes.
    pub fn with_cache(bytes: usize) -> Collection {
        let cache = BlockCache::new(bytes);
        Collection::with_options(SourceOptions { cache, ..SourceOptions::default() })
    }

    /// No tables yet; all will be opened with these options.
    pub fn with_options(options: SourceOptions) -> Collection {
        Collection {
            given: Vec::new(),
            found: HashMap::new(),
            named: Arc::default(),
            folders: Vec::new(),
            listed: Vec::new(),
            unlisted: UnlistedFolders::default(),
            options,
            foreign: ForeignOptions::default(),
            variant: None,
        }
    }

    /// Opens the tables of that names, in order.
    ///
    /// # Errors
    /// See [`Collection::add_table`]; to go on after a failure, call that for each.
    pub fn open<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Collection, CollectionError> {
        let mut collection = Collection::default();
        for path in paths {
            collection.add_table(path)?;
        }
        Ok(collection)
    }

    /// Opens a table, to be asked after those opened before and before all folders.
    ///
    /// # Errors
    /// The table cannot be opened, or is of another variant than the first one. The collection is
    /// then what it was.
    pub fn add_table(&mut self, path: impl AsRef<Path>) -> Result<&Table, CollectionError> {
        let table = Table::open(path, self.options.clone())?;
        self.adopt(table)
    }

    /// Takes a table that is open already.
    ///
    /// # Errors
    /// It is of another variant than the first one.
    pub fn adopt(&mut self, table: Table) -> Result<&Table, CollectionError> {
        if self.variant.is_some_and(|v| v != table.variant()) {
            return Err(CollectionError::Variants { path: table.path().to_owned() });
        }
        self.variant = Some(table.variant());
        let at = self.given.len();
        self.given.push(Arc::new(OpenTable::new(table)));
        Ok(self.given[at].table())
    }

    /// Lists a folder; its tables are asked after those given and after those of folders added
    /// before. Files whose names are no endings are left alone. A folder named again is read
    /// again, to see new files.
    ///
    /// One that has no list, on a web server, is asked for the table of each ending when it is
    /// needed, after all folders with one, and once.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn add_folder(&mut self, folder: impl AsRef<Path>) -> Result<(), CollectionError> {
        let folder = folder.as_ref();
        let fail =
            |source| CollectionError::Folder { path: folder.to_owned(), source: Arc::new(source) };

        // Taken before the names: a file that comes in between is seen the next time.
        let listed = PathStamp::now(folder);
        let mut names = match self.options.storage.list(listed_path(folder)) {
            Err(source) if is_address(folder) && source.kind() == io::ErrorKind::Unsupported => {
                self.unlisted.add(folder);
                return Ok(());
            }
            names => names.map_err(fail)?,
        };

        // The whole ending before its parts: '-' sorts before '.'.
        names.sort_by_key(|name| {
            let packed = has_suffix(Path::new(name));
            let name = name.to_string_lossy().into_owned();
            (name.contains('-'), packed, name)
        });

        for name in names {
            let Some(material) = name.to_str().and_then(ending_of_name) else { continue };
            let path = folder.join(&name);
            let known = self.found.entry(material).or_default();
            let is_twin = |f: &Arc<ListedTable>| twin(&path).is_some_and(|twin| twin == f.path);
            if known.iter().any(|f| f.path == path) {
                continue;
            }
            // Of the same table in both containers the `.htb` is asked first, which may be new.
            if let Some(at) = known.iter().position(is_twin) {
                known.insert(at + usize::from(has_suffix(&path)), ListedTable::new(path));
            } else {
                // Those of other programs come behind.
                let at = known.partition_point(|f| ForeignKind::of(&f.path).is_none());
                known.insert(at, ListedTable::new(path));
            }
        }

        self.listed.retain(|earlier| earlier.path != folder);
        self.listed.push(listed);
        if !self.folders.iter().any(|f| f == folder) {
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    /// Lists a folder with Syzygy tables (`KRPvKR.rtbw`), which are asked where no table of ours
    /// has the position. They tell the winner, but no distance. What their answers need is looked
    /// for in the folders of `options`.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn add_syzygy_folder(
        &mut self,
        folder: &Path,
        options: &ForeignOptions,
    ) -> Result<(), CollectionError> {
        let fail =
            |source| CollectionError::Folder { path: folder.to_owned(), source: Arc::new(source) };
        for name in self.options.storage.list(folder).map_err(fail)? {
            let path = folder.join(&name);
            let stem = path.file_stem().and_then(OsStr::to_str);
            let Some(Ok(material)) = stem.map(str::parse::<Material>) else { continue };
            if path.extension().is_some_and(|e| e == "rtbw") {
                let found = ListedTable::new(path);
                self.found.entry(material.normalized().0).or_default().push(found);
            }
        }
        self.foreign = options.clone();
        Ok(())
    }

    /// Adds the folders in which tables that `file` needs are looked for: its own, then `folder`,
    /// then the current one. Those that do not exist are passed over.
    ///
    /// # Errors
    /// A folder that exists cannot be listed.
    pub fn add_folders_beside(
        &mut self,
        file: Option<&Path>,
        folder: Option<&Path>,
    ) -> Result<(), CollectionError> {
        let beside = file.and_then(Path::parent);
        for path in [beside, folder, Some(Path::new(""))].into_iter().flatten() {
            if path.as_os_str().is_empty() || is_folder(path) {
                self.add_folder(path)?;
            }
        }
        Ok(())
    }

    /// Whether there may be new files in the folders, or a table that could not be opened may be
    /// mended. A glance at each folder.
    pub fn may_have_changed(&self) -> bool {
        self.listed.iter().any(PathStamp::may_have_changed)
            || self.found.values().flatten().any(|found| found.may_be_mended())
            || self.unlisted.may_be_mended()
    }

    /// The same tables and what folders hold now: new files, and again those that could not be
    /// opened.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn looked_again(&self) -> Result<Collection, CollectionError> {
        let mut seen = self.clone();
        for found in seen.found.values_mut() {
            found.retain(|found| !found.may_be_mended() && is_file(&*files(), &found.path));
        }
        seen.unlisted = self.unlisted.mended();
        for folder in &self.folders {
            seen.add_folder(folder)?;
        }
        Ok(seen)
    }

    /// The tables given, in order.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &Table> {
        self.given.iter().map(|member| member.table())
    }

    /// The folders, in order.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The rules: those of the first table given, else normal chess.
    pub fn variant(&self) -> Variant {
        self.variant.unwrap_or_default()
    }

    /// How tables of this collection are opened; they share its cache.
    pub fn options(&self) -> &SourceOptions {
        &self.options
    }

    /// The tables given, in order, with what follows from their headers.
    pub(crate) fn given(&self) -> &[Arc<OpenTable>] {
        &self.given
    }

    /// The table that was given first.
    pub fn first_table(&self) -> Option<&Table> {
        self.given.first().map(|member| member.table())
    }

    /// The tables of the folders that may hold these men, or why one cannot be opened.
    pub(crate) fn found(
        &self,
        material: &Material,
    ) -> impl Iterator<Item = Result<Arc<OpenTable>, CollectionError>> {
        self.listed_tables(material).chain(self.unlisted_tables(material))
    }

    /// Those of the folders that have a list.
    pub(crate) fn listed_tables(
        &self,
        material: &Material,
    ) -> impl Iterator<Item = Result<Arc<OpenTable>, CollectionError>> {
        let found = self.found.get(&material.normalized().0).into_iter().flatten();
        found.filter_map(|found| self.member_of(found).transpose())
    }

    /// Those of the folders without one, which are asked by name.
    pub(crate) fn unlisted_tables(
        &self,
        material: &Material,
    ) -> impl Iterator<Item = Result<Arc<OpenTable>, CollectionError>> {
        let unlisted = std::iter::once(material.normalized().0)
            .flat_map(|ending| self.unlisted.tables(&*self.options.storage, &ending));
        unlisted.filter_map(|found| self.member_of(&found).transpose())
    }

    /// Whether there are folders without a list.
    pub(crate) fn has_unlisted(&self) -> bool {
        !self.unlisted.is_empty()
    }

    /// The first table of the folders that has every position of an ending, see
    /// [`OpenTable::is_complete`], and why others before it cannot be used.
    pub fn complete(
        &self,
        ending: &Material,
        with_distances: bool,
    ) -> (Option<Arc<OpenTable>>, Vec<CollectionError>) {
        let mut failed = Vec::new();
        for found in self.found(ending) {
            let usable = found.and_then(|member| {
                member.table().check_complete()?;
                Ok(member)
            });
            match usable {
                Ok(member)
                    if member.is_complete(with_distances)
                        && member.material().normalized().0 == ending.normalized().0 =>
                {
                    return (Some(member), failed);
                }
                Ok(_) => {}
                Err(error) => failed.push(error),
            }
        }
        (None, failed)
    }

    /// The tables of the folders with a list that may hold these men, as far as they are open: none
    /// for one that is not, and nothing of those that cannot be used.
    pub(crate) fn listed_open(
        &self,
        material: &Material,
    ) -> impl Iterator<Item = Option<&Arc<OpenTable>>> + Clone {
        let found = self.found.get(&material.normalized().0);
        found.into_iter().flatten().filter_map(|found| match found.member.get() {
            None => Some(None),
            Some(Ok(Some(member))) => Some(Some(member)),
            Some(Ok(None) | Err(_)) => None,
        })
    }

    /// The table of a file in a folder; none if it is of another variant.
    fn member_of(&self, found: &ListedTable) -> Result<Option<Arc<OpenTable>>, CollectionError> {
        let opened = found.member.get_or_init(|| {
            let _ = found.seen.set(PathStamp::now(&found.path));
            let table = match ForeignKind::of(&found.path) {
                Some(_) => Table::open_foreign(&found.path, &self.foreign)?,
                None => Table::open(&found.path, self.options.clone())?,
            };
            Ok((table.variant() == self.variant()).then(|| Arc::new(OpenTable::new(table))))
        });
        opened.clone()
    }

    /// The futurebases that the header of a table names, in order.
    ///
    /// A name stands for the given table of that file name; else for the file of that name, with
    /// or without its folders, beside the table or in one of the folders.
    pub(crate) fn named_by(&self, member: &OpenTable) -> Arc<[Named]> {
        if let Some(named) = member.named.get() {
            return Arc::clone(named);
        }
        let elements = &member.table().control().futurebases;
        let path = member.table().path();
        let named: Arc<[Named]> =
            elements.iter().flat_map(|element| self.named_in(element, path)).collect();

        // What is missing may be there the next time.
        let complete = named.iter().all(|named| named.member.is_some())
            && !elements.iter().any(|element| has_wildcards(&element.filename));
        if complete {
            let _ = member.named.set(Arc::clone(&named));
        }
        named
    }

    /// The futurebases that an element in the header of the table `path` stands for; one that is
    /// missing if there are none.
    fn named_in(&self, element: &FuturebaseElement, path: &Path) -> Vec<Named> {
        let FuturebaseElement { filename: name, inverted, .. } = element;
        let mut called = self.called(name, path);
        called.retain(|other| other.table().path() != path);
        let named = |member| Named { name: name.clone(), inverted: *inverted, member };
        if called.is_empty() {
            return vec![named(None)];
        }
        called.into_iter().map(Some).map(named).collect()
    }

    /// The tables that a name in the header of the table `beside` stands for: those beside it
    /// before given ones elsewhere, and these before those of other folders.
    fn called(&self, name: &str, beside: &Path) -> Vec<Arc<OpenTable>> {
        let alone = Path::new(name).file_name().unwrap_or_default();
        let folder = beside.parent().unwrap_or(Path::new(""));
        let here = self.given_in(Some(folder), alone);
        if !here.is_empty() {
            return here;
        }
        let here = self.lying_in(folder, name);
        if !here.is_empty() {
            return here;
        }
        let given = self.given_in(None, alone);
        if !given.is_empty() {
            return given;
        }
        let elsewhere = self.folders.iter().map(|folder| self.lying_in(folder, name));
        elsewhere.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The given tables with a file name, all or those of a folder.
    fn given_in(&self, folder: Option<&Path>, name: &OsStr) -> Vec<Arc<OpenTable>> {
        let pattern = name.to_string_lossy();
        let fits = |member: &&Arc<OpenTable>| {
            let path = member.table().path();
            let own = path.file_name().map(Path::new);
            let other = own.and_then(twin);
            let names = own.into_iter().chain(other.as_deref());
            names.into_iter().any(|own| is_like(own, &pattern))
                && folder.is_none_or(|folder| path.parent() == Some(folder))
        };
        self.given.iter().filter(fits).cloned().collect()
    }

    /// The tables of a folder with a name, with or without the folders in it.
    fn lying_in(&self, folder: &Path, name: &str) -> Vec<Arc<OpenTable>> {
        let storage = &*self.options.storage;
        let alone = Path::new(name).file_name().unwrap_or_default();
        if has_wildcards(name) {
            return self.listed(folder, &alone.to_string_lossy());
        }
        let is_there = |path: &Path| is_file(storage, path);
        let mut paths = named_in(folder, Path::new(name));
        let path = paths.find_map(|path| of_name(&path, &self.options, is_there));
        path.and_then(|path| self.open_named(path)).into_iter().collect()
    }

    /// The tables of a folder whose names fit a pattern.
    fn listed(&self, folder: &Path, pattern: &str) -> Vec<Arc<OpenTable>> {
        let mut names = self.options.storage.list(listed_path(folder)).unwrap_or_default();
        names.retain(|name| {
            let name = Path::new(name);
            is_like(name, pattern) || twin(name).is_some_and(|twin| is_like(&twin, pattern))
        });
        names.sort();
        let paths: Vec<PathBuf> = names.into_iter().map(|name| folder.join(name)).collect();
        let is_listed = |path: &Path| paths.iter().any(|listed| listed == path);
        let counts = |path: &&PathBuf| !is_hidden(path, &self.options, is_listed);
        paths.iter().filter(counts).filter_map(|path| self.open_named(path.clone())).collect()
    }

    /// The table of a file, opened once; none if it cannot be used.
    fn open_named(&self, path: PathBuf) -> Option<Arc<OpenTable>> {
        if let Some(found) = self.found.values().flatten().find(|found| found.path == path) {
            return self.member_of(found).ok().flatten();
        }
        let mut named = self.named();
        let member = named.entry(path).or_insert_with_key(|path| {
            let table = Table::open(path, self.options.clone())?;
            Ok(Arc::new(OpenTable::new(table)))
        });
        let member = member.as_ref().ok()?;
        (member.table().variant() == self.variant()).then(|| Arc::clone(member))
    }

    /// No code panics while it holds the lock, so the map is sound even if the lock says
    /// otherwise.
    fn named(&self) -> MutexGuard<'_, NamedTables> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether there are one king a side and nothing else.
pub(crate) fn is_bare_kings(position: &Position) -> bool {
    position.board.occupied() == position.board.kings()
        && Color::ALL.iter().all(|c| position.board.by_color(*c).count() == 1)
}

/// The file name of the table for an ending, stronger side first.
pub fn table_name(material: &Material) -> String {
    format!("{}.htb", material.normalized().0.stem())
}

/// The ending that a file name speaks of, stronger side first: `krpkr.htb`, `KRPvKR.htb`,
/// `krpkr-b7.htb`, `krpkr.hbf`.
fn ending_of_name(name: &str) -> Option<Material> {
    let stem = name.strip_suffix(".htb").or_else(|| name.strip_suffix(".hbf"))?;
    let stem = stem.split_once('-').map_or(stem, |(ending, _)| ending);
    Some(stem.parse::<Material>().ok()?.normalized().0)
}
