//! Solving an ending: its slices in order of their pawns, from the tables behind its exits.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Role};
use hoffman_space::{PawnStructure, SliceValues, TableValues};
use rayon::prelude::*;

use crate::context::Context;
use crate::exits::{self, Counted, Exit, Kind, Right, Step, Way};
use crate::slice_solver::{self, Problem};
use crate::target::Target;
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

/// Solves all slices of a complete ending that are not solved yet; returns the longest win or loss in
/// moves. `done` is called after every slice.
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
    solve_slices(table, options, done, |table, pawns| {
        let context = Context::new(&table.layout, pawns);
        let problem = problem(context, table, tables, options.count)?;
        Ok(slice_solver::solve(&problem))
    })
}

/// Solves the slices of a table level by level with `solve`.
pub(crate) fn solve_slices(
    table: &mut TableValues,
    options: SolveOptions,
    done: &(dyn Fn() + Sync),
    solve: impl Fn(&TableValues, PawnStructure) -> Result<SliceValues, SolveError> + Sync,
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
                let values = solve(solving, pawns)?;
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

/// The exits of a slice of a complete ending.
fn problem<'a>(
    context: Context<'a>,
    table: &'a TableValues,
    tables: &'a Tables,
    count: bool,
) -> Result<Problem<'a>, SolveError> {
    let view = |step: &Step| {
        let material = material_after(table, &step.change, step.pawns);
        let (normal, swapped) = material.normalized();
        let behind = if normal == table.material {
            Some(table)
        } else {
            tables.get(&normal).map(AsRef::as_ref)
        };
        let turn = step.color.other();
        behind
            .and_then(|behind| {
                View::new(behind, swapped, step.pawns, turn, &table.layout, step.change)
            })
            .ok_or(SolveError::Missing {
                ending: table.material,
                needed: normal,
                pawns: step.pawns,
            })
    };
    let list = |color: Color| {
        let steps = exits::steps(&context, color, false);
        let exit = |step: Step| {
            let mut view = view(&step)?;
            if let Way::Whole { jumped: Some(square) } = step.way {
                view = view.with_right(square);
            }
            Ok(Exit {
                way: step.way,
                kind: step.kind,
                target: Target::view(view),
                counted: match step.kind {
                    Kind::Step(_) => Counted::Inside,
                    _ => Counted::Leaving,
                },
            })
        };
        steps.into_iter().map(exit).collect::<Result<Vec<_>, SolveError>>()
    };
    let exits = [list(Color::White)?, list(Color::Black)?];
    let right = |(square, taker, captures): (u8, Color, Vec<Step>)| {
        let captures = captures.iter().map(|step| Ok(Target::view(view(step)?)));
        let captures = captures.collect::<Result<Vec<_>, SolveError>>()?;
        let moves = captures.len();
        Ok(Right { square, taker, captures, moves, deciding: false })
    };
    let rights =
        exits::rights(&context).into_iter().map(right).collect::<Result<_, SolveError>>()?;
    let discarded = [Vec::new(), Vec::new()];
    Ok(Problem { context, exits, discarded, rights, count, stalemates: None })
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
