//! Which slices the values of a table have, and from which of its structures each of them is read.

use std::collections::{BTreeSet, HashMap};

use hoffman_board::Material;
use hoffman_space::{Layout, NormalForm, Orientation, PawnSquares, TableValues};

use super::walk::Rows;
use super::wanted::Wanted;
use super::{RowsError, has_free_pieces, layout_of};
use crate::index::IndexSpace;
use crate::stop::Stop;

/// Every orientation that carries a structure of the table to a slice, by slices. A slice that is
/// its own image is reached by several routes, and each contributes the positions that have
/// indices.
pub(super) type Routes = HashMap<PawnSquares, Vec<Route>>;

/// A route from the table to a slice.
#[derive(Clone, Copy)]
pub(super) struct Route {
    /// A structure of the table.
    pub(super) structure: PawnSquares,
    /// What carries it to the slice.
    pub(super) orientation: Orientation,
    /// Whether the board is turned upside down besides.
    pub(super) flip: bool,
}

/// The wanted slices of a table, with the values that `fill` puts there.
pub(super) fn wanted_slices<E: From<RowsError>>(
    space: &IndexSpace,
    wanted: &Wanted,
    stop: &Stop,
    fill: impl FnOnce(&Rows<'_>, &TableValues, &Routes) -> Result<(), E>,
) -> Result<TableValues, E> {
    let pieces = space.pieces();
    let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let free = has_free_pieces(space);
    let (material, swap) = if free { table.normalized() } else { (table, false) };

    // A table with all symmetries cannot tell any images apart.
    let apart = free && wanted.apart && space.symmetry() < 8;
    let layout = match (free, apart) {
        (true, true) => Layout::without_symmetry(&material),
        (true, false) => Layout::new(&material),
        (false, _) => layout_of(space),
    };
    let rows = Rows::with_layout(space, &material, &layout)?.watching(stop);
    let slices = WantedSlices {
        space,
        rows: &rows,
        wanted,
        material,
        to_values: Orientation { swap, mirror: false },
        apart,
    };

    let values = slices.empty(layout.clone());
    let routes = slices.routes(&values);
    fill(&rows, &values, &routes)?;
    rows.finished()?;
    Ok(values)
}

/// What the wanted slices follow from.
struct WantedSlices<'a> {
    space: &'a IndexSpace,
    rows: &'a Rows<'a>,
    wanted: &'a Wanted,
    /// The ending, in the colours of the values.
    material: Material,
    /// How those become of the colours of the table.
    to_values: Orientation,
    /// Whether images may have different values.
    apart: bool,
}

impl WantedSlices<'_> {
    /// The wanted structures of the table.
    fn structures(&self) -> impl Iterator<Item = PawnSquares> {
        let wanted = &self.wanted.structures;
        let is_wanted = move |s: &PawnSquares| wanted.as_ref().is_none_or(|all| all.contains(s));
        self.rows.structures().into_iter().filter(is_wanted)
    }

    /// The slices, none of them filled.
    fn empty(&self, layout: Layout) -> TableValues {
        let material = self.material;
        if matches!(self.rows, Rows::Restricted(_)) {
            return TableValues::with_layout(material, layout, NormalForm::None, self.structures());
        }
        let structures = self.structures().map(|s| s.oriented(self.to_values));
        let mirrored = material.has_pawns() && self.space.symmetry() == 2;
        match (self.apart, mirrored) {
            (true, false) => {
                let slices: BTreeSet<_> = structures.collect();
                TableValues::with_layout(material, layout, NormalForm::None, slices)
            }
            (true, true) => {
                let slices: BTreeSet<_> = structures.map(|s| s.normalized(false).0).collect();
                TableValues::with_layout(material, layout, NormalForm::Mirrored, slices)
            }
            (false, _) => {
                let swappable = material.is_symmetric();
                let slices: BTreeSet<_> = structures.map(|s| s.normalized(swappable).0).collect();
                TableValues::new(material, slices)
            }
        }
    }

    /// All routes from the table to its slices.
    fn routes(&self, values: &TableValues) -> Routes {
        let mut routes = Routes::new();
        let Rows::Free(rows) = self.rows else {
            for structure in self.structures() {
                let orientation = Orientation::default();
                routes.insert(structure, vec![Route { structure, orientation, flip: false }]);
            }
            return routes;
        };
        for structure in self.rows.structures() {
            for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
                let turn = Orientation { swap, mirror };
                let orientation = self.to_values.then(turn);
                let image = structure.oriented(orientation);
                let possible = !rows.slots[usize::from(orientation.swap)].is_empty();
                if !possible || !self.is_needed(turn) || !values.slices.contains_key(&image) {
                    continue;
                }
                let routes = routes.entry(image).or_default();
                routes.push(Route { structure, orientation, flip: false });
                if self.apart && self.space.symmetry() == 4 {
                    routes.push(Route { structure, orientation, flip: true });
                }
            }
        }
        routes
    }

    /// Whether what is turned in some way must be read besides. Without pawns the layout itself
    /// takes care of mirror images, and the other colours are read only where they have no indices
    /// of their own.
    fn is_needed(&self, Orientation { swap, mirror }: Orientation) -> bool {
        let other_colors = !swap || !self.space.has_side_bit();
        if self.apart {
            return other_colors && (!mirror || self.space.symmetry() >= 2);
        }
        self.material.has_pawns() || !mirror && other_colors
    }
}
