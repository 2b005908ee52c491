//! A solved table that can be probed before it is written: its entries are made when they are asked
//! for.

use std::path::Path;
use std::sync::Arc;

use hoffman_board::{Color, Format, PieceList, Placement, Role, Value};
use hoffman_control::{ControlFile, FormatDeclaration, IndexDeclaration};
use hoffman_space::{Orientation, PawnSquares, TableValues};
use hoffman_table::entries::width;
use hoffman_table::{Entries, RawEntry, Shape, Stop, Table, TableError, TableProblem};

use crate::error::RunError;
use crate::numbering::Numbering;

/// Opens a solved table as if `path` were written.
pub(crate) fn open(
    control: &ControlFile,
    values: &Arc<TableValues>,
    longest: u16,
    path: &Path,
) -> Result<Table, RunError> {
    let Numbering { space, symmetry, .. } = Numbering::of(control, &Stop::default())?;
    let most = i32::from(longest) + 1;
    let bits = width(None, most, -most)
        .map_err(|source| RunError::Entry { place: control.origin.clone(), source })?;

    let (place, on_root) = (control.root, false);
    let mut header = control.clone();
    header.format = Some(FormatDeclaration { format: Format::Dtm(Some(bits)), on_root, place });
    let index_type = space.index_type();
    let written = index_type.name().to_owned();
    let symmetry = Some(symmetry);
    header.index = Some(IndexDeclaration { index_type, written, symmetry, on_root, place });

    let entries = Box::new(Unwritten { values: Arc::clone(values) });
    Table::of_entries(path, header, entries)
        .map_err(|problem| RunError::Table(TableError { path: path.to_owned(), problem }))
}

/// The values of a solved table.
struct Unwritten {
    values: Arc<TableValues>,
}

impl std::fmt::Debug for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unwritten({})", self.values.material)
    }
}

impl Entries for Unwritten {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let placement = shape.space.decode(index);
        let value = placement.and_then(|placement| self.value(shape.space.pieces(), &placement));
        Ok(RawEntry(value.map_or(0, Value::to_stored)))
    }
}

impl Unwritten {
    fn value(&self, pieces: &PieceList, placement: &Placement) -> Option<Value> {
        let movers = self.values.layout.movers();
        let men = || pieces.iter().zip(&placement.squares);
        let count = |color: Color| pieces.iter().filter(|p| p.color == color).count();
        // The ending has its stronger side White; the table's header may not.
        let white = self.values.material.count.white.iter().map(|&n| usize::from(n)).sum::<usize>();
        let same = men().all(|(p, _)| *self.values.material.count.get(p.color).get(p.role) > 0)
            && count(Color::White) == white;
        let turned = Orientation { swap: !same, mirror: false };
        let symmetry = turned.symmetry();
        let mut pawns = PawnSquares::default();
        let mut squares = Vec::with_capacity(movers.len());
        for (piece, &square) in men().filter(|(p, _)| p.role == Role::Pawn) {
            *pawns.of_mut(turned.color(piece.color)) |= 1 << symmetry.apply(square) as u8;
        }
        let mut taken = 0_u32;
        for mover in movers {
            let (slot, (_, &square)) = men().enumerate().find(|(slot, (p, _))| {
                taken >> slot & 1 == 0
                    && turned.color(p.color) == mover.color
                    && p.role == mover.role
            })?;
            taken |= 1 << slot;
            squares.push(symmetry.apply(square) as u8);
        }
        let en_passant = placement.en_passant.map(|s| symmetry.apply(s) as u8);
        self.values.value(&squares, pawns, turned.color(placement.turn), en_passant)
    }
}
