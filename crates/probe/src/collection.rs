//! Which table answers a position: tables that are given, then those that folders hold.
//!
//! Tables given by name are asked in their order. Folders are listed once and their tables opened when
//! first needed, found by the name of the ending: `krpkr.htb`, or parts as `krpkr-b7.htb`. Every table
//! is asked for the position as it is, then with the colours exchanged. Whether the side not to move is
//! in check is always seen from the position: what an entry says about it counts for nothing (D1).

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Format, Material, Role, Square, Value, Variant};
use hoffman_control::PruneEffect;
use hoffman_table::htb::{BlockCache, SourceOptions};
use hoffman_table::{EntryValue, Table, TableError};

use crate::moves::{Move, Position};

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

/// The answer of a table to a position.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// The table.
    pub table: &'a Table,
    /// The index of the position, or of its mirror image if `inverted`.
    pub index: u64,
    /// Whether the colours were exchanged to find it.
    pub inverted: bool,
    /// What the table says to the side to move; [`EntryValue::Illegal`] in normal chess if the side not to
    /// move is in check, whatever the table says.
    pub value: EntryValue,
}

impl Hit<'_> {
    /// The value with its distance to mate, if the table has that and prunes nothing.
    pub fn exact_dtm(&self) -> Option<Value> {
        if !is_exact_dtm(self.table) {
            return None;
        }
        match self.value {
            EntryValue::Illegal => Some(Value::Illegal),
            value => Table::exact(value),
        }
    }
}

impl Hit<'_> {
    /// What the prunes of the table make of a move of the side to move that leaves the table, if they name
    /// it: the first that does counts. The move is one in the position that was asked for. Whether the
    /// table was made with a futurebase that answers the move, and so needed no prune, only the futurebase
    /// can tell; ask for the position behind the move first.
    pub fn prune(&self, turn: Color, m: &Move) -> Option<PruneEffect> {
        let control = self.table.control();
        let color = if self.inverted { turn.other() } else { turn };
        let kind = m.kind(self.inverted);
        let prune = control.prunes.iter().find(|p| p.color == color && p.matches(&kind))?;
        control.enables(color, prune.effect).then_some(prune.effect)
    }
}

/// Whether the table's distances to mate are those of chess: no prunes could have changed them.
pub fn is_exact_dtm(table: &Table) -> bool {
    let control = table.control();
    matches!(table.codec().format(), Format::Dtm(_))
        && control.prune_enables.is_empty()
        && control.prunes.is_empty()
}

/// A table that was given by name.
#[derive(Debug)]
struct Given {
    table: Table,
    material: Material,
}

/// A table seen in a folder.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    table: OnceLock<Result<Option<Table>, CollectionError>>,
}

/// Tables as one oracle.
#[derive(Debug)]
pub struct Collection {
    given: Vec<Given>,
    found: HashMap<Material, Vec<Found>>,
    folders: Vec<PathBuf>,
    options: SourceOptions,
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
            folders: Vec::new(),
            options,
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
    /// The table cannot be opened, or is of another variant than the first one. The collection is then
    /// what it was.
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
        let material = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
        let at = self.given.len();
        self.given.push(Given { table, material });
        Ok(&self.given[at].table)
    }

    /// Lists a folder; its tables are asked after those given and after those of folders added before.
    /// Files whose names are no endings are left alone. A folder named again is read again, to see new
    /// files.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn add_folder(&mut self, folder: impl AsRef<Path>) -> Result<(), CollectionError> {
        let folder = folder.as_ref();
        let fail =
            |source| CollectionError::Folder { path: folder.to_owned(), source: Arc::new(source) };
        // An empty path is what is left of a file name without a folder.
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(listed).map_err(fail)? {
            names.push(entry.map_err(fail)?.file_name());
        }
        // The whole ending before its parts: '-' sorts before '.'.
        names.sort_by_key(|name| {
            let name = name.to_string_lossy().into_owned();
            (name.contains('-'), name)
        });
        for name in names {
            let Some(material) = name.to_str().and_then(ending_of_name) else { continue };
            let path = folder.join(&name);
            let known = self.found.entry(material).or_default();
            if known.iter().all(|f| f.path != path) {
                known.push(Found { path, table: OnceLock::new() });
            }
        }
        if !self.folders.iter().any(|f| f == folder) {
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    /// Adds the folders in which tables that `file` needs are looked for: its own, then `folder`, then the
    /// current one. Those that do not exist are passed over.
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
            if path.as_os_str().is_empty() || path.is_dir() {
                self.add_folder(path)?;
            }
        }
        Ok(())
    }

    /// The tables given by name, in order.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &Table> {
        self.given.iter().map(|g| &g.table)
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

    /// The answer of the first table that has the position, with the colours exchanged if need be; none if
    /// no table has it. An en passant square that fits no pawn is ignored; one that fits a pawn of the
    /// side to move is in no table.
    ///
    /// # Errors
    /// A table is damaged, or one that might have the position cannot be opened and no other has it.
    pub fn lookup(&self, position: &Position) -> Result<Option<Hit<'_>>, CollectionError> {
        self.lookup_where(position, |_| true)
    }

    /// [`Collection::lookup`] among the tables that pass a test.
    ///
    /// # Errors
    /// See [`Collection::lookup`].
    pub fn lookup_where(
        &self,
        position: &Position,
        test: impl Fn(&Table) -> bool,
    ) -> Result<Option<Hit<'_>>, CollectionError> {
        let en_passant = match position.en_passant_pawn() {
            Some(color) if color == position.turn => return Ok(None),
            Some(_) => position.en_passant,
            None => None,
        };
        let query = Query { position, en_passant };
        let material = position.material();
        let swapped = material.swapped();
        for Given { table, material: own } in &self.given {
            if !test(table) {
                continue;
            }
            if *own == material
                && let Some(hit) = query.ask(table, false)?
            {
                return Ok(Some(hit));
            }
            if *own == swapped
                && let Some(hit) = query.ask(table, true)?
            {
                return Ok(Some(hit));
            }
        }
        if self.found.is_empty() {
            return Ok(None);
        }
        let mut failure = None;
        for found in self.found.get(&material.normalized().0).into_iter().flatten() {
            let table = match self.table_of(found) {
                Ok(Some(table)) if test(table) => table,
                Ok(_) => continue,
                Err(error) => {
                    failure.get_or_insert(error);
                    continue;
                }
            };
            for inverted in [false, true] {
                if let Some(hit) = query.ask(table, inverted)? {
                    return Ok(Some(hit));
                }
            }
        }
        failure.map_or(Ok(None), |error| Err(error.clone()))
    }

    /// The table of a file in a folder; none if it is of another variant.
    fn table_of<'a>(&self, found: &'a Found) -> Result<Option<&'a Table>, &'a CollectionError> {
        let opened = found.table.get_or_init(|| {
            let table = Table::open(&found.path, self.options.clone())?;
            Ok((table.variant() == self.variant()).then_some(table))
        });
        opened.as_ref().map(Option::as_ref)
    }

    /// The value with the distance to mate under the rules of chess, from tables that have it and prune
    /// nothing; none if there is no such table. Two bare kings are a draw without one.
    ///
    /// # Errors
    /// See [`Collection::lookup`].
    pub fn value(&self, position: &Position) -> Result<Option<Value>, CollectionError> {
        if self.variant() == Variant::Normal {
            if position.is_opponent_in_check() {
                return Ok(Some(Value::Illegal));
            }
            if is_bare_kings(position) {
                return Ok(Some(Value::Draw));
            }
        }
        let hit = self.lookup_where(position, is_exact_dtm)?;
        Ok(hit.and_then(|hit| hit.exact_dtm()))
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
/// `krpkr-b7.htb`.
fn ending_of_name(name: &str) -> Option<Material> {
    let stem = name.strip_suffix(".htb")?;
    let stem = stem.split_once('-').map_or(stem, |(ending, _)| ending);
    Some(stem.parse::<Material>().ok()?.normalized().0)
}

/// A position with the en passant square that counts.
struct Query<'a> {
    position: &'a Position,
    en_passant: Option<Square>,
}

impl Query<'_> {
    /// What a table says, if it has the position or its mirror image.
    fn ask<'t>(&self, table: &'t Table, inverted: bool) -> Result<Option<Hit<'t>>, TableError> {
        let Position { board, turn, .. } = self.position;
        let men = board.occupied().into_iter().filter_map(|square| {
            let piece = board.piece_at(square)?;
            Some(orient((square, piece.color, piece.role), inverted))
        });
        let turn = if inverted { turn.other() } else { *turn };
        let en_passant = self.en_passant.map(|s| if inverted { s.flip_vertical() } else { s });
        let Some(placement) = table.place(men, turn, en_passant) else { return Ok(None) };
        let Some(index) = table.index(&placement) else { return Ok(None) };
        let illegal = table.variant() == Variant::Normal && self.position.is_opponent_in_check();
        let value = if illegal { EntryValue::Illegal } else { table.value(index, turn)? };
        Ok(Some(Hit { table, index, inverted, value }))
    }
}

fn orient((square, color, role): (Square, Color, Role), inverted: bool) -> (Square, Color, Role) {
    if inverted { (square.flip_vertical(), color.other(), role) } else { (square, color, role) }
}
