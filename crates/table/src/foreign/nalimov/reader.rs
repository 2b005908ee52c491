use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;

use hoffman_board::shakmaty::Setup;
use hoffman_board::{Color, Format, Material, Role, Value};
use nalimov::{NalimovError, NalimovProber, NalimovResult};

use super::super::plausible::check_plausible;
use super::super::{ForeignError, ForeignKind, ForeignTable};
use crate::entries::EntryValue;

pub(super) struct NalimovTable {
    path: PathBuf,
    material: Material,
    prober: NalimovProber,
}

impl std::fmt::Debug for NalimovTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NalimovTable({})", self.path.display())
    }
}

/// Whether the reader looks for the files of an ending under another name: it orders the sides of
/// equal size by the sum of their men (pawn 1 to queen 5), where the files go by the strongest
/// men.
pub(super) fn is_misnamed(material: &Material) -> bool {
    let side = |color| {
        let count = material.count.get(color);
        let men = count.iter().map(|&n| u32::from(n)).sum::<u32>();
        let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        let sum: u32 =
            roles.iter().zip(1..).map(|(&r, worth)| u32::from(*count.get(r)) * worth).sum();
        (men, sum)
    };
    side(Color::Black) > side(Color::White)
}

pub(super) fn read(
    halves: &[PathBuf],
    material: Material,
    folders: &[PathBuf],
) -> Result<Box<dyn ForeignTable>, ForeignError> {
    let table = read_unchecked(halves, material, folders)?;
    check_plausible(&table)?;
    Ok(Box::new(table))
}

/// Opens a table of which the values have not been looked at.
pub(super) fn read_unchecked(
    halves: &[PathBuf],
    material: Material,
    folders: &[PathBuf],
) -> Result<NalimovTable, ForeignError> {
    let path = halves.first().cloned().unwrap_or_default();
    let damaged = |problem: String| ForeignError::Damaged {
        kind: ForeignKind::Nalimov,
        path: path.clone(),
        problem,
    };
    if is_misnamed(&material) {
        return Err(damaged("the reader looks for this ending under another name".to_owned()));
    }
    let folders: Option<Vec<&str>> = folders.iter().map(|f| f.to_str()).collect();
    let folders = folders.ok_or_else(|| damaged("the name of a folder is not UTF-8".to_owned()))?;
    let prober = guarded(|| NalimovProber::new(&folders))
        .ok_or_else(|| damaged("the reader failed".to_owned()))?
        .map_err(|error| damaged(format!("{error:?}")))?;
    Ok(NalimovTable { path, material, prober })
}

impl NalimovTable {
    fn damaged(&self, problem: String) -> ForeignError {
        ForeignError::Damaged { kind: ForeignKind::Nalimov, path: self.path.clone(), problem }
    }
}

impl ForeignTable for NalimovTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn material(&self) -> Material {
        self.material
    }

    fn format(&self) -> Format {
        Format::Dtm(None)
    }

    fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        let board = &position.board;
        // The reader panics without two kings, and takes the wrong file for other men.
        let material = Material { count: board.material() };
        if material != self.material {
            return Err(self.damaged(format!("it was asked for {material}")));
        }
        let set = |role| board.by_role(role).0;
        let answer = guarded(|| {
            self.prober.probe(
                board.white().0,
                board.black().0,
                set(Role::King),
                set(Role::Queen),
                set(Role::Rook),
                set(Role::Bishop),
                set(Role::Knight),
                set(Role::Pawn),
                position.turn == Color::White,
                position.ep_square.map_or(64, |square| square as u8),
            )
        });

        let value = match answer {
            Some(Ok(NalimovResult::Draw)) => Value::Draw,
            Some(Ok(NalimovResult::Win { plies })) => Value::Win(plies.div_ceil(2)),
            Some(Ok(NalimovResult::Loss { plies })) => Value::Loss(plies / 2),
            Some(Err(NalimovError::PositionNotFound)) => {
                return Err(self.damaged("it calls a legal position illegal".to_owned()));
            }
            Some(Err(NalimovError::DecompressError(problem))) => {
                return Err(self.damaged(problem));
            }
            Some(Err(error)) => return Err(self.damaged(format!("{error:?}"))),
            None => return Err(self.damaged("the reader failed".to_owned())),
        };

        Ok(Some(EntryValue::Exact(value)))
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The result of work that may panic; none if it did. Such a panic is not printed.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                usual(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    // What a panic leaves behind is asked again at most to fail again: its lock is poisoned.
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    result.ok()
}
