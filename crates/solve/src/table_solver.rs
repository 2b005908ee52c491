//! Solving an ending: its slices in order of their pawns, from the tables behind its exits.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Role};
use hoffman_space::{PawnStructure, SliceValues, TableValues};
use rayon::prelude::*;

use crate::exits::{self, Unsolved};
use crate::slice_solver::{self, Problem};
use crate::view::{Change, View};

/// Solved endings by material, stronger side White.
pub type Tables = HashMap<Material, Arc<TableValues>>;

/// Why an ending cannot be solved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A table or slice that an exit leads to has not been solved.
    #[error("{ending} cannot be solved without {needed}")]
    Missing {
        /// The ending being solved.
        ending: Material,
        /// The ending that an exit leads to.
        needed: Material,
        /// Its pawns, as the ending being solved sees them.
        pawns: PawnStructure,
    },
}

/// What is asked for besides the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// Count moves and stalemates.
    pub count: bool,
    /// Keep all slices. If not, slices are dropped as soon as no other slice of the ending needs them.
    pub keep: bool,
}

/// Solves all slices of `table` that are not solved yet; returns the longest win or loss in moves.
/// `done` is called after every slice.
///
/// # Errors
///
/// [`SolveError::Missing`] if an exit leads to a table that `tables` lacks.
pub fn solve_table(
    table: &mut TableValues,
    tables: &Tables,
    options: SolveOptions,
    done: &(dyn Fn() + Sync),
) -> Result<u16, SolveError> {
    let mut levels: BTreeMap<u32, Vec<PawnStructure>> = BTreeMap::new();
    for (&pawns, slice) in &table.slices {
        if slice.get().is_none() {
            levels.entry(steps_left(pawns)).or_default().push(pawns);
        }
    }
    let mut longest = 0;
    for (&level, slices) in &levels {
        // A pawn move leaves fewer steps, so slices with equally many do not need each other.
        let solving = &*table;
        let moves = slices
            .par_iter()
            .with_max_len(1)
            .map(|&pawns| {
                let values = solve_slice(solving, tables, pawns, options.count)?;
                let moves = values.max_moves;
                if let Some(slot) = solving.slices.get(&pawns) {
                    // Each slice is solved once.
                    let _ = slot.set(Arc::new(values));
                }
                done();
                Ok(moves)
            })
            .try_reduce(|| 0, |a, b| Ok(a.max(b)))?;
        longest = longest.max(moves);
        // A double step leads two levels down, no move further.
        if !options.keep
            && let Some(old) = level.checked_sub(2).and_then(|l| levels.get(&l))
        {
            for pawns in old {
                table.slices.get_mut(pawns).map(OnceLock::take);
            }
        }
    }
    Ok(longest)
}

/// How many single steps the pawns have left to the last rank.
fn steps_left(pawns: PawnStructure) -> u32 {
    let ranks = |set: u64, toward: fn(u32) -> u32| {
        (0..64).filter(|s| set >> s & 1 != 0).map(|s| toward(s >> 3)).sum::<u32>()
    };
    ranks(pawns.white, |rank| 7 - rank) + ranks(pawns.black, |rank| rank)
}

fn solve_slice(
    table: &TableValues,
    tables: &Tables,
    pawns: PawnStructure,
    count: bool,
) -> Result<SliceValues, SolveError> {
    let context = crate::context::Context::new(&table.layout, pawns);
    let missing = |unsolved: Unsolved| SolveError::Missing {
        ending: table.material,
        needed: material_after(table, &unsolved.change, unsolved.pawns).normalized().0,
        pawns: unsolved.pawns,
    };
    let view = |change: Change, pawns: PawnStructure, turn: Color| {
        let material = material_after(table, &change, pawns);
        let (normal, swapped) = material.normalized();
        let target: &TableValues =
            if normal == table.material { table } else { tables.get(&normal)?.as_ref() };
        View::new(target, swapped, pawns, turn, &table.layout, change)
    };
    let white = exits::list(&context, Color::White, view).map_err(missing)?;
    let black = exits::list(&context, Color::Black, view).map_err(missing)?;
    let rights = exits::rights(&context, view).map_err(missing)?;
    let problem = Problem { context, exits: [white, black], rights, count };
    Ok(slice_solver::solve(&problem))
}

/// The material behind an exit.
fn material_after(table: &TableValues, change: &Change, pawns: PawnStructure) -> Material {
    let movers = table.layout.movers();
    let men = movers
        .iter()
        .enumerate()
        .filter(|&(i, _)| change.captured != Some(i))
        .map(|(_, m)| (m.color, m.role))
        .chain(change.promoted.map(|(color, role, _)| (color, role)));
    let mut material = Material::from_men(men);
    for color in Color::ALL {
        material.count.get_mut(color).pawn = pawns.of(color).count_ones() as u8;
    }
    debug_assert_eq!(*material.count.white.get(Role::King), 1);
    material
}
