//! The tables behind captures and promotions, beside the file of an ending.

use std::collections::HashMap;
#[cfg(feature = "bulk")]
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(feature = "bulk")]
use hoffman_board::{Color, Role};
use hoffman_board::{Format, ListedPiece, Material, Variant};
use hoffman_hbf::{Code, Position, code_of};
#[cfg(feature = "bulk")]
use hoffman_space::TableValues;
use hoffman_store::is_file;

#[cfg(feature = "bulk")]
use super::write::Profile;
use super::{color_of, men_by_square, role_of};
use crate::entries::EntryValue;
use crate::htb::SourceOptions;
use crate::reader::{Table, TableError, TableProblem};
#[cfg(feature = "bulk")]
use crate::rows::{RowsError, Wanted};

/// Tables by their endings, and whether outcomes are enough of them; none of those that are not
/// there.
type Opened = Mutex<HashMap<(Material, bool), Option<Arc<Table>>>>;

/// What was opened for a table that others are behind, until that one is closed.
pub(crate) type Family = Weak<Opened>;

/// Tables of the folder of a file, or of others that were named, opened when they are needed first.
#[derive(Debug)]
pub(super) struct TablesBehind {
    folder: PathBuf,
    /// Whether who wins is enough.
    outcomes: bool,
    pub(super) options: SourceOptions,
    /// Those of a table that is behind another one are that one's, so that each is opened once.
    family: Family,
    own: Arc<Opened>,
}

impl TablesBehind {
    /// Those beside a file, of which distances are needed, or if it has `outcomes` alone no more
    /// than these.
    pub(super) fn beside(
        (path, outcomes): (&Path, bool),
        options: SourceOptions,
        family: Family,
    ) -> TablesBehind {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        TablesBehind { folder, outcomes, options, family, own: Arc::default() }
    }

    /// The code of a legal position without rights to take en passant, as far as it is asked for,
    /// see [`hoffman_hbf::Asked::enough`].
    pub(super) fn code(&self, position: &Position, enough: Code) -> Result<Code, TableProblem> {
        let (material, swapped) = material_of(position).normalized();
        let table = self.table(&material).ok_or_else(|| missing(position))?;
        for turned in [swapped, !swapped] {
            let position = if turned { position.swapped() } else { *position };
            let turn = color_of(position.turn);
            let placement = table.place(men_by_square(&position), turn, None);
            let Some(index) = placement.and_then(|placement| table.index(&placement)) else {
                continue;
            };
            let value = table.value_up_to(index, turn, enough).map_err(of_another)?;
            if let Some(code) = code_of_entry(value, self.outcomes) {
                return Ok(code);
            }
        }
        Err(missing(position))
    }

    /// What [`TablesBehind::values`] takes: a byte for each place of each side to move.
    #[cfg(feature = "bulk")]
    pub(super) fn bytes_of_values(
        &self,
        wanted: &HashMap<Material, Wanted>,
    ) -> Result<u64, TableProblem> {
        let mut bytes = 0_u64;
        for (material, wanted) in wanted.iter().filter(|(material, _)| material.men() > 2) {
            let sides = wanted.sides.into_iter().filter(|&side| side).count() as u64;
            bytes = bytes.saturating_add(self.expect(material)?.space().size() / 2 * sides);
        }
        Ok(bytes)
    }

    /// The table of an ending, which has to be there.
    #[cfg(feature = "bulk")]
    fn expect(&self, material: &Material) -> Result<Arc<Table>, TableProblem> {
        self.table(material).ok_or(TableProblem::Behind { ending: *material })
    }

    /// Values of endings, as far as they are wanted, if they fit into so many bytes. Bare kings
    /// need no table.
    #[cfg(feature = "bulk")]
    pub(super) fn values(
        &self,
        wanted: HashMap<Material, Wanted>,
        room: u64,
    ) -> Result<Option<Vec<Arc<TableValues>>>, TableProblem> {
        if self.bytes_of_values(&wanted)? > room {
            return Ok(None);
        }
        let mut tables = Vec::new();
        for (material, wanted) in wanted.into_iter().filter(|(material, _)| material.men() > 2) {
            tables.push((self.expect(&material)?, wanted));
        }
        let (stop, shared) = (&self.options.stop, &self.options.values);
        // Only files of blocks tell whether they are still the same.
        let shared = |table: &Table| shared.as_ref().filter(|_| table.is_of_blocks());
        // A table of its own for the time in which it is decoded: what it has in memory by then
        // would stay there with one of the family.
        let values = tables.iter().map(|(table, wanted)| match shared(table) {
            Some(shared) => {
                let mut wanted = wanted.clone();
                if !table.pieces().iter().any(|piece| piece.role == Role::Pawn) {
                    // Who asks next wants other promoted men, on a border that is half the board.
                    wanted.on_edge.clear();
                }
                shared.of_another((table, &wanted), stop, || self.open_again(table.path()))
            }
            None if table.is_of_blocks() => {
                self.open_again(table.path())?.exact_values(wanted, stop).map(Arc::new)
            }
            None => table.exact_values(wanted, stop).map(Arc::new),
        });
        let values: Result<_, _> = values.collect();
        values.map(Some).map_err(of_another)
    }

    /// The table of an ending, if there is one that can be used.
    fn table(&self, material: &Material) -> Option<Arc<Table>> {
        let opened = self.family.upgrade().unwrap_or_else(|| Arc::clone(&self.own));
        let mut tables = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || self.open(material, &Arc::downgrade(&opened));
        tables.entry((*material, self.outcomes)).or_insert_with(open).clone()
    }

    /// Closes the tables that were opened for this one: they are hardly needed any more.
    #[cfg(feature = "bulk")]
    pub(super) fn close(&self) {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Opens a table of the family once more.
    #[cfg(feature = "bulk")]
    fn open_again(&self, path: &Path) -> Result<Table, TableError> {
        let opened = self.family.upgrade().unwrap_or_else(|| Arc::clone(&self.own));
        let family = Arc::downgrade(&opened);
        let fail = |problem| TableError { path: path.to_owned(), problem };
        let mut table = Table::open_among(path, self.options.clone(), family).map_err(fail)?;
        table.check_length()?;
        Ok(table)
    }

    fn open(&self, material: &Material, family: &Family) -> Option<Arc<Table>> {
        let folders = || std::iter::once(&self.folder).chain(&self.options.behind);
        let names = names(material);
        let mut paths = folders().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        paths.find_map(|path| {
            if !is_file(&*self.options.storage, &path) {
                return None;
            }
            let mut table = Table::open_among(&path, self.options.clone(), family.clone()).ok()?;
            table.check_length().ok()?;
            is_of_ending(&table, material, self.outcomes).then(|| Arc::new(table))
        })
    }
}

/// What is wrong with a table that is needed.
fn of_another(error: TableError) -> TableProblem {
    match error.problem {
        problem @ (TableProblem::Behind { .. } | TableProblem::BehindFails(_)) => problem,
        _ => TableProblem::BehindFails(Box::new(error)),
    }
}

/// That a position has no table.
pub(super) fn missing(position: &Position) -> TableProblem {
    TableProblem::Behind { ending: material_of(position).normalized().0 }
}

fn material_of(position: &Position) -> Material {
    let men = position.men().map(|(_, man)| (color_of(man.color), role_of(man.kind)));
    Material::from_men(men.collect::<Vec<_>>())
}

/// The endings that captures and promotions lead to; bare kings need no table.
#[cfg(feature = "bulk")]
fn endings_behind(ending: &Material) -> HashSet<Material> {
    let behind = ending.exits().into_iter().map(|(_, behind)| behind.normalized().0);
    behind.filter(|behind| behind.men() > 2).collect()
}

/// Expects the tables beside a file of cells that it needs: those behind all captures and
/// promotions, or behind those en passant only. If it has `outcomes` alone no more is needed of
/// them.
///
/// # Errors
/// One is not there.
#[cfg(feature = "bulk")]
pub fn expect_beside(
    path: &Path,
    material: &Material,
    (profile, outcomes): (Profile, bool),
    options: SourceOptions,
) -> Result<(), TableProblem> {
    let needed = match profile {
        Profile::Small | Profile::Smallest | Profile::Paired => endings_behind(material),
        Profile::Fast => {
            let pawnless = Color::ALL.map(|color| material.without(color, Role::Pawn));
            let both = pawnless.iter().all(Option::is_some);
            pawnless.into_iter().flatten().filter(|_| both).map(|m| m.normalized().0).collect()
        }
    };
    let behind = TablesBehind::beside((path, outcomes), options, Family::new());
    match needed.into_iter().find(|ending| behind.table(ending).is_none()) {
        Some(ending) => Err(TableProblem::Behind { ending }),
        None => Ok(()),
    }
}

/// All values of the endings behind a complete ending, whose tables are looked for beside it, or
/// their `outcomes`.
///
/// # Errors
/// One is not there or damaged; they do not fit into so many bytes.
#[cfg(feature = "bulk")]
pub(crate) fn values_behind(
    table: &Table,
    outcomes: bool,
    room: u64,
) -> Result<Vec<Arc<TableValues>>, TableProblem> {
    let men = table.pieces().iter().map(|piece| (piece.color, piece.role));
    let options = SourceOptions { whole_limit: room, ..SourceOptions::default() };
    let behind = TablesBehind::beside((table.path(), outcomes), options, Family::new());
    let ending = Material::from_men(men);
    let all = endings_behind(&ending).into_iter().map(|ending| (ending, Wanted::all()));
    let values = behind.values(all.collect(), room)?;
    values.ok_or_else(|| RowsError::TooLarge(room).into())
}

/// The names that the table of an ending may have, in the order in which they are looked for.
pub(super) fn names(material: &Material) -> [String; 4] {
    let (stem, name) = (material.stem(), material.to_string());
    [format!("{stem}.htb"), format!("{name}.htb"), format!("{stem}.hbf"), format!("{name}.hbf")]
}

/// Whether a table has all distances to mate of an ending, or who wins, where that is enough.
fn is_of_ending(table: &Table, material: &Material, outcomes: bool) -> bool {
    let has_values = match table.codec().format() {
        Format::Dtm(_) => true,
        Format::Basic => outcomes,
        _ => false,
    };
    let men = table.pieces().iter().map(|piece| (piece.color, piece.role));
    Material::from_men(men).normalized().0 == *material
        && table.variant() == Variant::Normal
        && has_values
        && table.claims().is_exact()
        && !table.pieces().iter().any(ListedPiece::is_restricted)
        && table.pawn_structures().is_none()
}

/// The code of what an entry says; none if it is no value, or has no distance where `outcomes` are
/// not enough.
pub(crate) fn code_of_entry(value: EntryValue, outcomes: bool) -> Option<Code> {
    let value = match value {
        EntryValue::Win if outcomes => EntryValue::Exact(hoffman_board::Value::Win(1)),
        EntryValue::Loss if outcomes => EntryValue::Exact(hoffman_board::Value::Loss(0)),
        other => other,
    };
    Some(match Table::exact(value)? {
        hoffman_board::Value::Illegal => return None,
        hoffman_board::Value::Draw => hoffman_hbf::DRAW,
        hoffman_board::Value::Win(moves) => code_of(hoffman_hbf::Value::Win(moves)),
        hoffman_board::Value::Loss(moves) => code_of(hoffman_hbf::Value::Loss(moves)),
    })
}
