//! Solving an ending: its slices in order of their pawns, from the tables behind its exits.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hoffman_board::{Bitboard, ByColor, Color, Material, Rank, Role, Square};
use hoffman_pages::Pages;
use hoffman_space::{PawnSquares, SliceValues, TableValues};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::exits::{Counted, Exit, Right};
use crate::monitor::Monitor;
use crate::options::{SolveError, SolveOptions};
use crate::problem::Problem;
use crate::recycled::Recycled;
use crate::share::{Partners, SolvedShare, TakeValues};
use crate::slice_solver;
use crate::steps::{self, Step, Way};
use crate::target::ExitTarget;
use crate::view::{MaterialChange, View};

/// Solved endings by material, stronger side White.
pub type Tables = FxHashMap<Material, Arc<TableValues>>;

/// Solves all slices of a complete ending that are not solved yet; returns the longest win or loss
/// in moves of those.
///
/// # Errors
///
/// [`SolveError::Missing`] if an exit leads to a table that `tables` lacks, [`SolveError::Pages`]
/// if working files fail, [`SolveError::Stopped`].
pub fn solve_table(
    table: &mut TableValues,
    tables: &Tables,
    options: &SolveOptions,
    monitor: &dyn Monitor,
) -> Result<u16, SolveError> {
    solve_slices(table, options, monitor, |table, pawns, recycled| {
        let context = Context::new(&table.layout, pawns).watched_by(monitor);
        let problem = problem(context, table, tables, options.count)?;
        slice_solver::solve(&problem, options, recycled, monitor)
    })
}

/// Solves the blocks of an ending without pawns that this process decides, while others decide the
/// rest, and shows `take` their values.
///
/// # Errors
///
/// Those of [`solve_table`]; [`SolveError::Stopped`] also if the partners could not meet, who keep
/// the reason.
pub fn solve_share(
    table: &TableValues,
    tables: &Tables,
    options: &SolveOptions,
    (partners, monitor): (&dyn Partners, &dyn Monitor),
    take: &mut TakeValues<'_>,
) -> Result<SolvedShare, SolveError> {
    let context = Context::new(&table.layout, PawnSquares::default()).watched_by(monitor);
    let context = context.shared(partners.share());
    let problem = problem(context, table, tables, options.count)?;
    slice_solver::solve_share(&problem, options, (partners, monitor), take)
}

/// The same table with its values in pages.
pub fn in_pages(mut table: TableValues, pages: &Arc<Pages>) -> TableValues {
    for slot in table.slices.values_mut() {
        if let Some(slice) = slot.take() {
            let slice = Arc::unwrap_or_clone(slice);
            // The place was emptied just now.
            let _ = slot.set(Arc::new(slice_solver::stored(slice, pages)));
        }
    }
    table
}

/// Solves the slices of a table level by level with `solve`.
pub(crate) fn solve_slices(
    table: &mut TableValues,
    options: &SolveOptions,
    monitor: &dyn Monitor,
    solve: impl Fn(&TableValues, PawnSquares, &Recycled) -> Result<SliceValues, SolveError> + Sync,
) -> Result<u16, SolveError> {
    let mut levels: BTreeMap<u32, Vec<PawnSquares>> = BTreeMap::new();
    for (&pawns, slice) in &table.slices {
        if slice.get().is_none() {
            levels.entry(steps_left(pawns)).or_default().push(pawns);
        }
    }

    let several = levels.values().map(Vec::len).sum::<usize>() > 1;
    let recycled = Recycled::new(several && options.pages.is_none());
    let mut longest = 0;

    for (&level, slices) in &levels {
        // A pawn move leaves fewer steps, so slices with equally many do not need each other.
        let solving = &*table;
        // With little memory one slice is solved at a time.
        let at_once = if options.pages.is_some() { slices.len() } else { 1 };
        let moves = slices
            .par_iter()
            .with_min_len(at_once)
            .with_max_len(at_once)
            .map(|&pawns| {
                if monitor.is_stopped() {
                    return Err(SolveError::Stopped);
                }
                let values = Arc::new(solve(solving, pawns, &recycled)?);
                if let Some(pages) = &options.pages {
                    pages.check()?;
                }
                if let Some(slot) = solving.slices.get(&pawns) {
                    // Each slice is solved once.
                    let _ = slot.set(Arc::clone(&values));
                }
                monitor.slice(pawns, &values);
                Ok::<u16, SolveError>(values.max_moves)
            })
            .try_reduce(|| 0, |a, b| Ok::<u16, SolveError>(a.max(b)))?;
        longest = longest.max(moves);
        // A double step leads two levels down, no move further.
        if !options.keep
            && let Some(old) = level.checked_sub(2).and_then(|l| levels.get(&l))
        {
            let next = levels.range(level + 1..).next().map_or(0, |(_, next)| next.len());
            for pawns in old {
                let slice = table.slices.get_mut(pawns).and_then(OnceLock::take);
                if let Some(slice) = slice.and_then(Arc::into_inner) {
                    recycled.keep_codes(slice, next);
                }
            }
        }
    }
    Ok(longest)
}

/// How many single steps the pawns have left to the last rank.
fn steps_left(pawns: PawnSquares) -> u32 {
    let left = |color: Color| {
        let ranks =
            Bitboard(pawns.of(color)).into_iter().map(move |s| color.relative_rank(s.rank()));
        ranks.map(|rank| u32::from(Rank::Eighth) - u32::from(rank)).sum::<u32>()
    };
    left(Color::White) + left(Color::Black)
}

/// The exits of a slice of a complete ending.
pub(crate) fn problem<'a>(
    context: Context<'a>,
    table: &'a TableValues,
    tables: &'a Tables,
    count: bool,
) -> Result<Problem<'a>, SolveError> {
    let behind = EndingTargets { table, tables };
    let exits = |color: Color| {
        let steps = steps::steps(&context, color, false);
        steps.iter().map(|step| behind.exit(step)).collect::<Result<Vec<_>, SolveError>>()
    };
    let exits = ByColor { white: exits(Color::White)?, black: exits(Color::Black)? };
    let rights = steps::rights(&context).into_iter().map(|right| behind.right(right));
    let rights = rights.collect::<Result<_, SolveError>>()?;
    let discarded = ByColor::default();
    Ok(Problem { context, exits, discarded, rights, count, stalemates: None })
}

/// What the exits of a complete ending lead to: the ending itself, or a table behind it.
struct EndingTargets<'a> {
    table: &'a TableValues,
    tables: &'a Tables,
}

impl<'a> EndingTargets<'a> {
    fn view(&self, step: &Step) -> Result<View<'a>, SolveError> {
        let table = self.table;
        let (normal, swapped) = material_after(table, &step.change, step.pawns).normalized();
        let behind = if normal == table.material {
            Some(table)
        } else {
            self.tables.get(&normal).map(AsRef::as_ref)
        };
        let view = |behind| step.views(behind, swapped, &table.layout).into_iter().next();
        behind.and_then(view).ok_or(SolveError::Missing {
            ending: table.material,
            needed: normal,
            pawns: step.pawns,
        })
    }

    fn exit(&self, step: &Step) -> Result<Exit<'a>, SolveError> {
        let mut view = self.view(step)?;
        if let Way::Whole { jumped: Some(square) } = step.way {
            view = view.with_right(square);
        }
        let counted = if step.kind.is_pawn_step() { Counted::Inside } else { Counted::Leaving };
        Ok(Exit { way: step.way, kind: step.kind, target: ExitTarget::view(view), counted })
    }

    fn right(
        &self,
        (square, taker, captures): (Square, Color, Vec<Step>),
    ) -> Result<Right<'a>, SolveError> {
        let captures = captures.iter().map(|step| Ok(ExitTarget::view(self.view(step)?)));
        let captures = captures.collect::<Result<Vec<_>, SolveError>>()?;
        let moves = captures.len();
        Ok(Right { square, taker, captures, moves, deciding: false })
    }
}

/// The material behind an exit.
fn material_after(table: &TableValues, change: &MaterialChange, pawns: PawnSquares) -> Material {
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
