//! The tables behind captures and promotions, beside the file of an ending.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hoffman_board::{Format, ListedPiece, Material, Square, Variant};
use hoffman_hbf::{Code, Position, code_of};
use hoffman_store::is_file;

use super::{color_of, role_of};
use crate::entries::EntryValue;
use crate::htb::SourceOptions;
use crate::reader::{Table, TableProblem};

/// Tables of one folder, opened when they are needed first.
#[derive(Debug)]
pub(super) struct Behind {
    folder: PathBuf,
    options: SourceOptions,
    tables: Mutex<HashMap<Material, Option<Arc<Table>>>>,
}

impl Behind {
    /// Those beside a file.
    pub(super) fn beside(path: &Path, options: SourceOptions) -> Behind {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Behind { folder, options, tables: Mutex::default() }
    }

    /// The code of a legal position without rights to take en passant.
    pub(super) fn code(&self, position: &Position) -> Result<Code, TableProblem> {
        let of = |position: &Position| {
            position
                .men()
                .map(|(_, man)| (color_of(man.color), role_of(man.kind)))
                .collect::<Vec<_>>()
        };
        let (material, swapped) = Material::from_men(of(position)).normalized();
        let missing = || TableProblem::Behind { ending: material };
        let table = self.table(&material).ok_or_else(missing)?;
        for turned in [swapped, !swapped] {
            let position = if turned { position.swapped() } else { *position };
            let men = position.men().map(|(square, man)| {
                (Square::new(u32::from(square)), color_of(man.color), role_of(man.kind))
            });
            let turn = color_of(position.turn);
            let placement = table.place(men, turn, None);
            let Some(index) = placement.and_then(|placement| table.index(&placement)) else {
                continue;
            };
            let value = table.value(index, turn).map_err(|error| error.problem)?;
            if let Some(code) = code_of_entry(value) {
                return Ok(code);
            }
        }
        Err(missing())
    }

    /// The table of an ending, if there is one that can be used.
    fn table(&self, material: &Material) -> Option<Arc<Table>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.entry(*material).or_insert_with(|| self.open(material)).clone()
    }

    fn open(&self, material: &Material) -> Option<Arc<Table>> {
        names(material).into_iter().find_map(|name| {
            let path = self.folder.join(name);
            if !is_file(&*self.options.storage, &path) {
                return None;
            }
            let mut table = Table::open(&path, self.options.clone()).ok()?;
            table.check_length().ok()?;
            is_of_ending(&table, material).then(|| Arc::new(table))
        })
    }
}

/// The names that the table of an ending may have, in the order in which they are looked for.
pub(super) fn names(material: &Material) -> [String; 4] {
    let (stem, name) = (material.stem(), material.to_string());
    [format!("{stem}.htb"), format!("{name}.htb"), format!("{stem}.hbf"), format!("{name}.hbf")]
}

/// Whether a table has all distances to mate of an ending.
fn is_of_ending(table: &Table, material: &Material) -> bool {
    let men = table.pieces().iter().map(|piece| (piece.color, piece.role));
    Material::from_men(men).normalized().0 == *material
        && table.variant() == Variant::Normal
        && matches!(table.codec().format(), Format::Dtm(_))
        && table.claims().is_exact()
        && !table.pieces().iter().any(ListedPiece::is_restricted)
        && table.pawn_structures().is_none()
}

/// The code of what an entry says; none if it is no value.
pub(super) fn code_of_entry(value: EntryValue) -> Option<Code> {
    Some(match Table::exact(value)? {
        hoffman_board::Value::Illegal => return None,
        hoffman_board::Value::Draw => hoffman_hbf::DRAW,
        hoffman_board::Value::Win(moves) => code_of(hoffman_hbf::Value::Win(moves)),
        hoffman_board::Value::Loss(moves) => code_of(hoffman_hbf::Value::Loss(moves)),
    })
}
