//! One slice by itself, among values that the caller knows, or bounds of them.
//!
//! Who looks for the outcome of a single position opens slice after slice, as they turn out to
//! matter. What lies behind a move into a slice that is not open is worth what the caller says.

use hoffman_board::{ByColor, Color, FuturemoveKind, Material, Role, Square, Value};
use hoffman_space::{Layout, PawnSquares, SliceValues, TableValues};

use crate::context::Context;
use crate::exits::{Counted, Exit, Right};
use crate::monitor::Monitor;
use crate::options::{SolveError, SolveOptions};
use crate::problem::Problem;
use crate::recycled::Recycled;
use crate::slice_solver;
use crate::steps::{self, Step, Way};
use crate::target::{After, ExitTarget, Rest};
use crate::view::View;

/// Where a move out of a slice leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The side that moves.
    pub color: Color,
    /// Of what kind the move is. Where pieces are not told apart, captures by any of them come as
    /// captures by one.
    pub kind: FuturemoveKind,
    /// All men behind the move.
    pub material: Material,
    /// The pawns behind the move.
    pub pawns: PawnSquares,
    /// The piece that a pawn has become, and where it stands.
    pub promoted: Option<(Color, Role, Square)>,
}

/// What is known of the positions behind a move.
#[derive(Clone, Debug, Default)]
pub struct Behind<'t> {
    /// Tables that hold some of them, and whether their colours are exchanged. The first one that
    /// has a value for a position answers it.
    pub tables: Vec<(&'t TableValues, bool)>,
    /// What all others are worth to the side that makes the move, in moves; none if there are no
    /// such moves.
    pub rest: Option<Value>,
}

/// In what the rules of a slice are others than those of chess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceRules {
    /// Whether captures by different pieces are told apart.
    pub by_role: bool,
    /// The side that wins stalemates, whoever has no move.
    pub stalemates: Option<Color>,
}

/// The moves that leave a slice, each place they lead to once for every kind of move. `by_role`
/// tells captures by different pieces apart.
pub fn leavings(layout: &Layout, pawns: PawnSquares, by_role: bool) -> Vec<Leaving> {
    let context = Context::new(layout, pawns);
    let rights = steps::rights(&context).into_iter().flat_map(|(_, _, captures)| captures);
    let sides = Color::ALL.into_iter().flat_map(|color| steps::steps(&context, color, by_role));
    let mut found: Vec<Leaving> = Vec::new();
    for step in sides.chain(rights) {
        let leaving = leaving(&context, &step);
        if !found.contains(&leaving) {
            found.push(leaving);
        }
    }
    found
}

fn leaving(context: &Context<'_>, step: &Step) -> Leaving {
    let Step { color, kind, pawns, .. } = *step;
    let material = After::new(context, step).material();
    Leaving { color, kind, material, pawns, promoted: step.change.promoted }
}

/// Solves a slice, given what lies behind the moves that leave it.
/// A move of which neither a table nor an outcome is known does not exist.
///
/// # Errors
///
/// [`SolveError::Stopped`].
pub fn solve_one_slice<'t>(
    layout: &'t Layout,
    pawns: PawnSquares,
    rules: SliceRules,
    behind: &dyn Fn(&Leaving) -> Behind<'t>,
    options: &SolveOptions,
    monitor: &'t dyn Monitor,
) -> Result<SliceValues, SolveError> {
    let context = Context::new(layout, pawns).watched_by(monitor);
    let exits = ByColor::new_with(|color| {
        let steps = steps::steps(&context, color, rules.by_role);
        let exit = |step: &Step| {
            let target = target(&context, step, behind)?;
            Some(Exit { way: step.way, kind: step.kind, target, counted: Counted::Leaving })
        };
        steps.iter().filter_map(exit).collect()
    });
    let rights = steps::rights(&context).into_iter().map(|(square, taker, captures)| {
        let target = |step: &Step| target(&context, step, behind);
        let captures: Vec<ExitTarget<'_>> = captures.iter().filter_map(target).collect();
        let moves = captures.len();
        Right { square, taker, captures, moves, deciding: false }
    });
    let rights = rights.collect();

    let discarded = ByColor::default();
    let SliceRules { stalemates, .. } = rules;
    let problem = Problem { context, exits, discarded, rights, count: false, stalemates };
    slice_solver::solve(&problem, options, &Recycled::new(false), monitor)
}

/// What a step leads to; none if nothing is known and nothing is said of it.
fn target<'t>(
    context: &Context<'t>,
    step: &Step,
    behind: &dyn Fn(&Leaving) -> Behind<'t>,
) -> Option<ExitTarget<'t>> {
    let Behind { tables, rest } = behind(&leaving(context, step));
    let turn = step.color.other();
    let mut layers = Vec::new();
    let mut plain = Vec::new();
    for (table, swapped) in tables {
        let views = View::all(table, swapped, step.pawns, turn, context.layout, step.change);
        let Way::Whole { jumped: Some(square) } = step.way else {
            layers.extend(views);
            continue;
        };
        // A table that has no position with the right answers without it.
        plain.extend(views.iter().filter(|view| view.has_right(square)).cloned());
        layers.extend(views.into_iter().map(|view| view.with_right(square)));
    }
    layers.append(&mut plain);
    let rest = match rest {
        None | Some(Value::Illegal) => Rest::Nothing,
        Some(Value::Draw) => Rest::Drawn,
        Some(Value::Win(moves)) => Rest::Won(moves),
        Some(Value::Loss(moves)) => Rest::Lost(moves),
    };
    ExitTarget::new(layers, rest, After::new(context, step))
}
