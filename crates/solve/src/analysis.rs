//! Analyses: tables with restricted pieces, prunes, futurebases of the user's choice, pawn
//! structures, or the rules of suicide chess.
//!
//! A move that leads to a position of the table itself is played out; so are pawn steps between
//! its slices. All other moves are answered by the futurebases, and where none does by the rules:
//! conceded, discarded, or an error that is found before anything is solved.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hoffman_board::{Bitboard, ByColor, Color, FuturemoveKind, Role, Square};
use hoffman_space::{PawnSquares, TableValues};
use rayon::prelude::*;

use crate::context::Context;
use crate::exit_moves::Buffer;
use crate::exit_values::positions_with;
use crate::exits::{Counted, Exit, Right};
use crate::monitor::Monitor;
use crate::options::{SolveError, SolveOptions};
use crate::passes::BlockTask;
use crate::problem::Problem;
use crate::slice_solver;
use crate::steps::{self, Step, Way};
use crate::table_solver::solve_slices;
use crate::target::{After, ExitTarget, Reading, Rest};
use crate::view::View;

/// A solved table that moves may lead to.
#[derive(Clone, Debug)]
pub struct Futurebase {
    /// Its values, in its own colours.
    pub values: Arc<TableValues>,
    /// Whether its colours are exchanged against those of the table to be solved.
    pub swapped: bool,
}

/// What happens to a move that no futurebase answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It wins at once for the side that makes it.
    Concede,
    /// It is no move.
    Discard,
}

/// What is agreed about moves that leave the table.
pub struct Rules<'r> {
    /// The verdict on moves of a colour of a kind, named as in a control file: `Ke4`, `KxP`,
    /// `P=Q`, `PxR=Q`.
    pub prune: &'r (dyn Fn(Color, FuturemoveKind) -> Option<Ruling> + Sync),
    /// The side that wins stalemates; none under the rules of chess.
    pub stalemates: Option<Color>,
    /// Whether the pawns are those of a list of structures: then steps to structures of another
    /// list count as moves inside the table.
    pub listed_pawns: bool,
    /// Whether discarded moves of a sort that futurebases answer spare their side mate and
    /// stalemate, so that a position in which only such moves are left is drawn.
    pub discards_spare: bool,
}

/// Everything that the values of a table follow from.
pub struct Analysis<'r> {
    /// The first one to hold the position behind a move answers it.
    pub futurebases: Vec<Futurebase>,
    /// What is agreed about the rest.
    pub rules: Rules<'r>,
}

/// A position with a move about which nothing is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaid {
    /// The men: colour, role, square.
    pub men: Vec<(Color, Role, Square)>,
    /// The side to move.
    pub turn: Color,
    /// The square that may be taken on en passant.
    pub en_passant: Option<Square>,
    /// The kind of the move.
    pub kind: FuturemoveKind,
}

/// A kind of moves out of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOfMove {
    /// The side that makes them.
    pub mover: Color,
    /// The kind.
    pub kind: FuturemoveKind,
    /// Whether a futurebase answers all of them.
    pub complete: bool,
    /// Whether discarded ones leave the position drawn that has no other: a futurebase holds the
    /// men behind some of them, and the rules are such.
    pub tracked: bool,
}

/// What is known of the moves out of a table before it is solved.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The kinds of moves out of the table.
    pub kinds: Vec<KindOfMove>,
    /// Positions with moves about which nothing is said, one for each kind.
    pub unsaid: Vec<Unsaid>,
    /// Kinds of moves that two futurebases answer completely.
    pub twice: Vec<(Color, FuturemoveKind)>,
}

/// Solves all slices of an analysis; returns the longest win or loss in moves. `done` is called
/// after every slice. [`survey`] must have found nothing unsaid.
///
/// # Errors
///
/// [`SolveError::Pages`] if working files fail.
pub fn solve_analysis(
    table: &mut TableValues,
    analysis: &Analysis<'_>,
    options: &SolveOptions,
    monitor: &dyn Monitor,
) -> Result<u16, SolveError> {
    solve_slices(table, options, monitor, |table, pawns, recycled| {
        let context = Context::new(&table.layout, pawns).watched_by(monitor);
        let problem = problem(context, table, analysis, options);
        slice_solver::solve(&problem, options, recycled, monitor)
    })
}

/// A slice of the table, with all that is known of what lies behind its exits.
fn problem<'a>(
    context: Context<'a>,
    table: &'a TableValues,
    analysis: &'a Analysis<'_>,
    options: &SolveOptions,
) -> Problem<'a> {
    let list = |color: Color| {
        let steps = steps::steps(&context, color, true);
        steps.iter().filter_map(|step| exit(&context, table, analysis, step)).collect()
    };
    let mut exits: ByColor<Vec<Exit<'_>>> = ByColor::new_with(list);
    // In suicide chess a discarded capture rules out other moves, so it stays.
    let stays = |exit: &Exit<'_>| exit.counted != Counted::Discarded || context.suicide();
    let discarded = exits.as_mut().map(|exits| exits.extract_if(.., |exit| !stays(exit)).collect());

    let rights = rights(&context, table, analysis);
    let stalemates = analysis.rules.stalemates;
    Problem { context, exits, discarded, rights, count: options.count, stalemates }
}

/// Whether a step stays in the table.
fn is_inside(table: &TableValues, step: &Step) -> bool {
    step.kind.is_pawn_step() && table.slices.contains_key(&table.normalize(step.pawns).0)
}

fn exit<'a>(
    context: &Context<'a>,
    table: &'a TableValues,
    analysis: &'a Analysis<'_>,
    step: &Step,
) -> Option<Exit<'a>> {
    let inside = is_inside(table, step);
    let mut counted = Counted::Inside;
    let target = if inside {
        let view = step.views(table, false, context.layout).into_iter().next()?;
        ExitTarget::view(match step.way {
            Way::Whole { jumped: Some(square) } => view.with_right(square),
            _ => view,
        })
    } else {
        let outside = outside(context, analysis, step);
        let listed = step.kind.is_pawn_step() && analysis.rules.listed_pawns;
        counted = match outside.counted {
            Counted::Leaving if listed => Counted::Inside,
            counted => counted,
        };
        outside.target?
    };
    Some(Exit { way: step.way, kind: step.kind, target, counted })
}

fn rights<'a>(
    context: &Context<'a>,
    table: &'a TableValues,
    analysis: &'a Analysis<'_>,
) -> Vec<Right<'a>> {
    let right = |(square, taker, captures): (Square, Color, Vec<Step>)| {
        let captures = captures.iter().filter_map(|step| exit(context, table, analysis, step));
        let mut captures: Vec<Exit<'_>> = captures.collect();
        captures.sort_by_key(|e| e.counted == Counted::Discarded);
        let moves = captures.iter().filter(|e| e.counted != Counted::Discarded).count();
        let deciding = captures.iter().any(|e| e.counted == Counted::Deciding);
        let captures = captures.into_iter().map(|exit| exit.target).collect();
        Right { square, taker, captures, moves, deciding }
    };
    steps::rights(context).into_iter().map(right).collect()
}

/// What is found behind a step out of the table.
///
/// A discarded move is as good as none, except where a futurebase holds the men behind it: then
/// all such moves are *tracked*, one by one, and in tables with distances those that no futurebase
/// answers spare their side mate and stalemate. This is what 1.7 does, and the published figures
/// depend on it.
struct Outside<'a> {
    target: Option<ExitTarget<'a>>,
    /// How many futurebases hold everything behind it.
    complete: usize,
    /// Whether a futurebase has the men behind it.
    tracked: bool,
    counted: Counted,
}

fn outside<'a>(context: &Context<'a>, analysis: &'a Analysis<'_>, step: &Step) -> Outside<'a> {
    let after = After::new(context, step);
    if context.suicide() && !after.has_enemies() {
        let target = ExitTarget::new(Vec::new(), Rest::Lost(1), after);
        return Outside { target, complete: 1, tracked: false, counted: Counted::Deciding };
    }

    let mut layers = Vec::new();
    let mut plain = Vec::new();
    let mut complete = 0;
    let mut tracked = false;

    for Futurebase { values, swapped } in &analysis.futurebases {
        tracked |=
            after.material() == if *swapped { values.material.swapped() } else { values.material };
        let mut views = step.views(values, *swapped, context.layout);
        if let Way::Whole { jumped: Some(square) } = step.way {
            // A table that has no position with the right answers without it, after all others.
            plain.extend(views.iter().filter(|view| view.has_right(square)).cloned());
            views = views.into_iter().map(|view| view.with_right(square)).collect();
        }
        let everywhere = |view: &View<'_>| landings(context, step).iter().all(|s| view.covers(s));
        complete += usize::from(views.iter().any(everywhere));
        layers.extend(views);
    }

    layers.append(&mut plain);
    let rest = if complete > 0 {
        Rest::Nothing
    } else {
        match (analysis.rules.prune)(step.color, step.kind) {
            Some(Ruling::Concede) => Rest::Won(1),
            Some(Ruling::Discard) if tracked && analysis.rules.discards_spare => Rest::Spared,
            Some(Ruling::Discard) => Rest::Discarded,
            None => Rest::Unsaid,
        }
    };

    // Moves of a sort that tables answer are decided one by one, after they were counted.
    let counted = match rest {
        Rest::Won(_) if !tracked => Counted::Deciding,
        Rest::Discarded if !tracked => Counted::Discarded,
        _ => Counted::Leaving,
    };
    Outside { target: ExitTarget::new(layers, rest, after), complete, tracked, counted }
}

/// The squares of all movers behind a step, once for every man that can make it.
fn landings(context: &Context<'_>, step: &Step) -> Vec<Vec<u64>> {
    let squares: Vec<u64> = context.layout.movers().iter().map(|m| m.squares).collect();
    let (takers, to) = match step.way {
        Way::Whole { .. } | Way::PawnTakes { .. } => return vec![squares],
        Way::GoesTo { at, takers } => (takers, Bitboard::from_square(at).0),
        Way::Takes { victim, takers } => (takers, squares[victim]),
    };
    let landed = |taker: usize| {
        let mut squares = squares.clone();
        squares[taker] = to;
        squares
    };
    (0..squares.len()).filter(|m| takers >> m & 1 != 0).map(landed).collect()
}

/// The pawn structures that moves out of a table lead to, and those of the table.
pub fn structures_behind(table: &TableValues) -> BTreeSet<PawnSquares> {
    let slices: Vec<PawnSquares> = table.slices.keys().copied().collect();
    let behind = |mut behind: Vec<PawnSquares>, pawns: &PawnSquares| {
        let context = Context::new(&table.layout, *pawns);
        behind.push(*pawns);
        for color in Color::ALL {
            behind.extend(steps::steps(&context, color, false).iter().map(|step| step.pawns));
        }
        let rights = steps::rights(&context);
        behind.extend(rights.iter().flat_map(|(_, _, steps)| steps).map(|step| step.pawns));
        behind
    };
    let all: Vec<Vec<PawnSquares>> = slices.par_iter().fold(Vec::new, behind).collect();
    all.into_iter().flatten().collect()
}

/// Looks at all moves out of a table that is to be solved.
pub fn survey(table: &TableValues, analysis: &Analysis<'_>) -> Survey {
    let mut slices: Vec<PawnSquares> = table.slices.keys().copied().collect();
    // So that the examples given do not change from run to run.
    slices.sort_unstable();
    let look = |mut found: KnownKinds, pawns: &PawnSquares| {
        let context = Context::new(&table.layout, *pawns);
        for color in Color::ALL {
            for step in steps::steps(&context, color, true) {
                note(&mut found, table, analysis, (&context, &step, None));
            }
        }
        for (square, _, captures) in steps::rights(&context) {
            for step in &captures {
                note(&mut found, table, analysis, (&context, step, Some(square)));
            }
        }
        found
    };

    let merge = |mut all: KnownKinds, more: KnownKinds| {
        for (key, known) in more {
            match all.get_mut(&key) {
                Some(before) => before.add(known),
                None => drop(all.insert(key, known)),
            }
        }
        all
    };

    let found = slices.par_iter().fold(KnownKinds::new, look).reduce(KnownKinds::new, merge);

    // By their names, so that messages come in the order of the alphabet.
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|&((black, kind), _)| (black, kind.name()));
    let mut survey = Survey::default();

    for ((black, kind), KnownKind { complete, tracked, twice, unsaid }) in found {
        let mover = if black { Color::Black } else { Color::White };
        survey.unsaid.extend(unsaid);
        if twice {
            survey.twice.push((mover, kind));
        }
        survey.kinds.push(KindOfMove { mover, kind, complete, tracked });
    }
    survey
}

/// What is known of a kind of move: whether all such moves are answered, whether they are tracked,
/// whether two futurebases answer all, and a position with one that none answers.
#[derive(Clone)]
struct KnownKind {
    complete: bool,
    tracked: bool,
    twice: bool,
    unsaid: Option<Unsaid>,
}

/// By whether Black moves, and the kind.
type KnownKinds = HashMap<(bool, FuturemoveKind), KnownKind>;

impl KnownKind {
    /// Adds what is known from other slices.
    fn add(&mut self, more: KnownKind) {
        self.complete &= more.complete;
        self.tracked |= more.tracked;
        self.twice |= more.twice;
        if self.unsaid.is_none() {
            self.unsaid = more.unsaid;
        }
    }
}

/// Notes a step out of a slice, by a right to take en passant or without.
fn note(
    found: &mut KnownKinds,
    table: &TableValues,
    analysis: &Analysis<'_>,
    (context, step, right): (&Context<'_>, &Step, Option<Square>),
) {
    if is_inside(table, step) {
        return;
    }
    let Outside { target, complete, tracked, .. } = outside(context, analysis, step);
    let key = (step.color == Color::Black, step.kind);
    let new = KnownKind { complete: true, tracked: false, twice: false, unsaid: None };
    let known = found.entry(key).or_insert(new);
    known.tracked |= tracked && analysis.rules.discards_spare;
    known.complete &= complete > 0;
    known.twice |= complete > 1;
    if let Some(target) = target.filter(ExitTarget::may_be_unsaid)
        && known.unsaid.is_none()
    {
        let conceded = concessions(context, table, analysis, step.color);
        known.unsaid = find_unsaid(context, step, right, &target, &conceded);
    }
}

/// Whether a move of a kind that leaves a table is possible in any of its positions; the survey
/// lists kinds by the men alone.
pub fn can_happen(table: &TableValues, color: Color, kind: FuturemoveKind) -> bool {
    let mut slices: Vec<PawnSquares> = table.slices.keys().copied().collect();
    slices.sort_unstable();
    slices.par_iter().any(|&pawns| {
        let context = Context::new(&table.layout, pawns);
        let meant =
            |step: &&Step| step.color == color && step.kind == kind && !is_inside(table, step);
        let steps = steps::steps(&context, color, true);
        steps.iter().filter(meant).any(|step| is_possible(&context, step, None))
            || steps::rights(&context).iter().any(|(square, _, captures)| {
                captures.iter().filter(meant).any(|step| is_possible(&context, step, Some(*square)))
            })
    })
}

/// Whether a step can be made in any position of a slice, with the right to take en passant or
/// without.
fn is_possible(context: &Context<'_>, step: &Step, right: Option<Square>) -> bool {
    let target = ExitTarget::new(Vec::new(), Rest::Unsaid, After::new(context, step));
    target.is_some_and(|target| find_unsaid(context, step, right, &target, &[]).is_some())
}

/// A position in which a step can be made about which nothing is said, and in which none of
/// `conceded` is possible: where a move is conceded the others do not count.
fn find_unsaid(
    context: &Context<'_>,
    step: &Step,
    right: Option<Square>,
    target: &ExitTarget<'_>,
    conceded: &[(Way, ExitTarget<'_>)],
) -> Option<Unsaid> {
    let rows = context.rows();
    let mut buffer = Buffer::new();
    let color = step.color;

    for (number, block) in context.blocks.iter().enumerate().filter(|(_, block)| !block.empty) {
        let task = BlockTask { context, number, color, must_capture: &[] };
        let asked = (step.way, target, Reading::Unsaid);
        let mut left = positions_with(task, asked, &mut buffer);
        for (row, left) in left.iter_mut().enumerate().take(rows) {
            *left &= context.legal(block, row, color);
            if let Some(square) = right {
                let empty = steps::empty_squares(square, color).0;
                let taken = block.frame.others(row, usize::MAX) & empty != 0;
                *left = if taken { 0 } else { *left & !empty };
            }
        }
        for (way, target) in conceded {
            if left.iter().all(|&row| row == 0) {
                break;
            }
            let asked = (*way, target, Reading::Conceded);
            let won = positions_with(task, asked, &mut buffer);
            left.iter_mut().zip(won).for_each(|(left, won)| *left &= !won);
        }
        if let Some(row) = left.iter().position(|&row| row != 0) {
            let lane = Square::new(left[row].trailing_zeros());
            return Some(Unsaid {
                men: context.men_at(block, row, lane),
                turn: color,
                en_passant: right,
                kind: step.kind,
            });
        }
    }
    None
}

/// The moves out of a slice that may be conceded, but for captures en passant. In suicide chess a
/// move that must be made can rule them out, so there they settle nothing.
fn concessions<'a>(
    context: &Context<'a>,
    table: &TableValues,
    analysis: &'a Analysis<'_>,
    color: Color,
) -> Vec<(Way, ExitTarget<'a>)> {
    if context.suicide() {
        return Vec::new();
    }
    let steps = steps::steps(context, color, true);
    let leaving = steps.iter().filter(|step| !is_inside(table, step));
    let target = |step: &Step| {
        let target = outside(context, analysis, step).target?;
        target.may_be_conceded().then_some((step.way, target))
    };
    leaving.filter_map(target).collect()
}

/// Makes positions illegal that are not legal on the board: some formats, and some tables of other
/// programs, give them values.
pub fn clear_illegal(table: &mut TableValues) {
    let TableValues { layout, slices, .. } = table;
    for (&pawns, slot) in slices {
        let Some(slice) = slot.get_mut().map(Arc::make_mut) else { continue };
        let context = Context::new(layout, pawns);
        let rows = context.rows();
        for (n, block) in context.blocks.iter().enumerate() {
            for row in 0..rows {
                let place = (n * rows + row) * 64;
                for (codes, color) in slice.codes.iter_mut().zip([Color::White, Color::Black]) {
                    let legal = context.legal(block, row, color);
                    codes.retain(place, legal);
                    for right in &mut slice.en_passant {
                        if (right.square >= 32) == (color == Color::White) {
                            right.codes.retain(place, legal);
                        }
                    }
                }
            }
        }
    }
}
