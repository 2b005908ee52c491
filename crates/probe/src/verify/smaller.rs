//! The tables that the moves of a table lead to, and where they are found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hoffman_board::{Color, Material, Role, Variant};
use hoffman_store::{files, has_wildcards, is_address, is_like, may_be_file, named_in};
use hoffman_table::blocks::{is_hidden, is_table, names_of, of_name};
use hoffman_table::foreign::{ForeignKind, ForeignOptions, syzygy};
use hoffman_table::htb::SourceOptions;
use hoffman_table::{ForeignError, Table, TableError, TableProblem};

use crate::open_table::name_may_mean;

/// The folders that smaller tables are looked for in: beside the table, the folder given, the
/// current one.
pub fn search_folders(table: &Path, given: Option<&Path>) -> Vec<PathBuf> {
    let beside = table.parent().map(Path::to_owned).unwrap_or_default();
    let mut folders = vec![beside];
    folders.extend(given.map(Path::to_owned));
    folders.push(PathBuf::from("."));
    folders
}

/// The endings that the moves of a table lead to, the stronger side first, without the bare kings
/// of normal chess. The table's own is among them if its men may leave their squares.
pub fn endings_after(table: &Table) -> Vec<Material> {
    let suicide = table.variant() == Variant::Suicide;
    let own = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let mut found = Vec::new();
    let partial = table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
    if partial || table.control().pawngen.is_some() {
        found.push(own);
    }

    for color in Color::ALL {
        let captured = |m: &Material| {
            let m = *m;
            let roles = Role::ALL.into_iter().filter(move |&r| suicide || r != Role::King);
            roles.filter_map(move |role| m.without(color.other(), role)).collect::<Vec<_>>()
        };
        found.extend(captured(&own));
        if let Some(rest) = own.without(color, Role::Pawn) {
            let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
            let king = suicide.then_some(Role::King);
            for role in roles.into_iter().chain(king) {
                let promoted = rest.with(color, role);
                found.push(promoted);
                found.extend(captured(&promoted).into_iter().filter(|m| {
                    // A promoting pawn cannot take a pawn.
                    m.count.get(color.other()).pawn == own.count.get(color.other()).pawn
                }));
            }
        }
    }

    let mut endings: Vec<Material> = Vec::new();
    for ending in found {
        let empty = Color::ALL.iter().any(|&c| ending.count.get(c).iter().all(|&n| n == 0));
        let (ending, _) = ending.normalized();
        let bare = !suicide && ending == Material::bare_kings();
        if !empty && !bare && !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    endings
}

/// A futurebase that the header of the table under test names and that is not there.
#[derive(Debug)]
pub(super) struct Absent {
    pub(super) name: String,
    inverted: bool,
}

impl Absent {
    /// Whether it may hold these men, in the colours of the table under test.
    pub(super) fn may_hold(&self, men: &Material, both: bool) -> bool {
        name_may_mean(&self.name, self.inverted, men, both)
    }
}

/// The tables that the moves of the table under test lead to.
#[derive(Debug, Default)]
pub struct Smaller {
    pub(super) tables: Vec<Table>,
    pub(super) absent: Vec<Absent>,
    pub(super) remarks: Vec<String>,
}

impl Smaller {
    /// None yet.
    pub fn new() -> Smaller {
        Smaller::default()
    }

    /// Takes what `find` returns for each of [`endings_after`].
    ///
    /// # Errors
    /// Those of `find`.
    pub fn find_with<E>(
        table: &Table,
        mut find: impl FnMut(&Material) -> Result<Vec<Table>, E>,
    ) -> Result<Smaller, E> {
        let mut smaller = Smaller::new();
        for ending in endings_after(table) {
            for found in find(&ending)? {
                smaller.add(found, table);
            }
        }
        Ok(smaller)
    }

    /// Opens what the folders have: first the futurebases that the header of the table names, then
    /// for every ending the file `krk.htb` of the first folder that has one, or else all parts
    /// `krk-*.htb`.
    ///
    /// # Errors
    /// A file that is there but cannot be used.
    pub fn from_folders(
        table: &Table,
        folders: &[PathBuf],
        options: &SourceOptions,
    ) -> Result<Smaller, TableError> {
        Smaller::with_foreign(table, folders, options, &ForeignOptions::default())
    }

    /// [`Smaller::from_folders`] for a table that was made from tables of other programs: the
    /// futurebases that its header names are looked for in the folders of `foreign` too.
    ///
    /// # Errors
    /// A file that is there but cannot be used; a Syzygy table without the files that its answers
    /// need.
    pub fn with_foreign(
        table: &Table,
        folders: &[PathBuf],
        options: &SourceOptions,
        foreign: &ForeignOptions,
    ) -> Result<Smaller, TableError> {
        let mut foreign = foreign.clone();
        foreign.syzygy.extend_from_slice(folders);
        foreign.nalimov.extend_from_slice(folders);
        let mut smaller = Smaller::new();
        let mut open = BTreeSet::new();
        open.extend(full_name(table.path()));
        let mut open_once = |smaller: &mut Smaller, path: &Path| -> Result<(), TableError> {
            if full_name(path).is_some_and(|path| open.insert(path)) {
                smaller.add(Table::open(path, options.clone())?, table);
            }
            Ok(())
        };

        for futurebase in &table.control().futurebases {
            let named = Path::new(&futurebase.filename);
            let found = if ForeignKind::of(named).is_some() {
                smaller.add_foreign(named, table, &foreign)?
            } else {
                let paths = folders.iter().flat_map(|folder| lying_in(folder, named));
                let paths: Vec<PathBuf> = paths.collect();
                let first = paths.first().and_then(|path| path.parent());
                for path in paths.iter().filter(|path| path.parent() == first) {
                    open_once(&mut smaller, path)?;
                }
                !paths.is_empty()
            };
            if !found {
                let (name, inverted) = (futurebase.filename.clone(), futurebase.inverted);
                smaller.absent.push(Absent { name, inverted });
            }
        }

        for ending in endings_after(table) {
            if let Some(path) = file_of(&ending, folders) {
                open_once(&mut smaller, &path)?;
                continue;
            }
            let before = smaller.tables.len();
            for path in folders.iter().flat_map(|f| parts(f, &ending.stem())) {
                open_once(&mut smaller, &path)?;
            }
            // What a Syzygy table leads to is in Syzygy tables.
            let by_syzygy = table
                .foreign()
                .is_some_and(|f| ForeignKind::of(f.path()) == Some(ForeignKind::Syzygy));
            if by_syzygy && smaller.tables.len() == before {
                let name = syzygy::file_name(&ending);
                smaller.add_foreign(Path::new(&name), table, &foreign)?;
            }
        }
        Ok(smaller)
    }

    /// Adds a table of another program if there is one of that name; whether there is.
    fn add_foreign(
        &mut self,
        path: &Path,
        under_test: &Table,
        options: &ForeignOptions,
    ) -> Result<bool, TableError> {
        match Table::open_foreign(path, options) {
            Ok(found) => {
                found.check_complete()?;
                self.add(found, under_test);
                Ok(true)
            }
            Err(TableError {
                problem: TableProblem::Foreign(ForeignError::Absent { .. }), ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Adds a table, unless it is of another variant, or made with prunes and not named in the
    /// header of the table under test: then it is left out, with a remark.
    pub fn add(&mut self, found: Table, under_test: &Table) {
        let path = found.path().display();
        if found.variant() != under_test.variant() {
            self.remarks.push(format!("{path} is for other rules and was not used"));
        } else if !found.control().prune_enables.is_empty() && !is_named(&found, under_test) {
            self.remarks.push(format!("{path} was made with prunes and was not used"));
        } else {
            self.tables.push(found);
        }
    }

    /// The tables.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

/// One name for a file that may have several; none for one that is not there.
fn full_name(path: &Path) -> Option<PathBuf> {
    if is_address(path) { Some(path.to_owned()) } else { path.canonicalize().ok() }
}

/// The tables of a folder that a name in a header means, with or without the folders in it.
fn lying_in(folder: &Path, named: &Path) -> Vec<PathBuf> {
    let alone = named.file_name().map_or(named, Path::new);
    let pattern = alone.to_string_lossy();
    if !has_wildcards(&pattern) {
        return named_in(folder, named).find_map(|path| file_of_name(&path)).into_iter().collect();
    }
    let mut found = files_in(folder);
    found.retain(|path| {
        let own = path.file_name().map(Path::new);
        let names = own.into_iter().flat_map(names_of);
        names.into_iter().any(|own| is_like(&own, &pattern))
    });
    found
}

/// The tables in a folder, sorted by name.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    // A folder given as "" is the current one.
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = files().list(listed).unwrap_or_default().into_iter();
    let mut found: Vec<PathBuf> =
        names.map(|name| listed.join(name)).filter(|path| is_table(path)).collect();
    found.sort();
    let all = found.clone();
    let is_listed = |path: &Path| all.iter().any(|listed| listed == path);
    found.retain(|path| !is_hidden(path, &SourceOptions::default(), is_listed));
    found
}

/// The file of an ending as a whole, by its name or that of version 1.7.
fn file_of(ending: &Material, folders: &[PathBuf]) -> Option<PathBuf> {
    let stems = [ending.stem(), ending.to_string().to_lowercase()];
    let names = folders.iter().flat_map(|f| stems.iter().map(|s| f.join(format!("{s}.htb"))));
    let mut found = names.filter_map(|name| file_of_name(&name));
    found.next()
}

/// The table of a name, in either container.
fn file_of_name(path: &Path) -> Option<PathBuf> {
    of_name(path, &SourceOptions::default(), |path| may_be_file(&*files(), path))
}

/// The parts of an ending in a folder, sorted by name.
fn parts(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let prefix = format!("{stem}-");
    let mut found = files_in(folder);
    found.retain(|path| {
        path.file_stem().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(&prefix))
    });
    found
}

/// Whether the header of `under_test` names the file of `found` as a futurebase.
fn is_named(found: &Table, under_test: &Table) -> bool {
    [false, true].into_iter().any(|swapped| is_named_so(found, under_test, swapped))
}

/// Whether the header of `under_test` names the file of `found` as a futurebase with its colours
/// exchanged, or with its own. Where the colours can be exchanged in either table both are meant.
pub(super) fn is_named_so(found: &Table, under_test: &Table, swapped: bool) -> bool {
    let ending = Material::from_men(found.pieces().iter().map(|p| (p.color, p.role)));
    let restricted = found.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
    let both = !under_test.space().has_side_bit() || ending.is_symmetric() && !restricted;
    let Some(name) = found.path().file_name().map(Path::new) else { return false };
    let fits = |pattern: &str| {
        let alone = Path::new(pattern).file_name();
        alone.is_some_and(|alone| is_like(name, &alone.to_string_lossy()))
    };
    let named = &under_test.control().futurebases;
    named.iter().any(|f| (both || f.inverted == swapped) && fits(&f.filename))
}
