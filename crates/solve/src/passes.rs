//! What a pass does to one block.
//!
//! Two planes a side are all there is: `open`, the legal positions not yet decided, and `held`,
//! those that cannot be lost now because an exit holds them (or because they are stalemate). The escape
//! set of a side is the other side's `open`: positions already lost for the opponent need not be in it,
//! since whoever can go there has won. For that to hold, losses leave `open` only in the win pass that
//! follows them.

use hoffman_board::{Color, Role};
use hoffman_space::Code;

use crate::context::{Block, Context, Neighbour, side};
use crate::exits::{self, Buffer, Counted, Exit, Right};
use crate::kernels::count;
use crate::kernels::dense::{all_moves, lane_move, map_row, pull};
use crate::kernels::isa::{Isa, equal_mask, put_code};
use crate::kernels::sparse::{push_dimension, push_lane, reach_dimension};
use crate::kernels::tables::squares;
use crate::log::{ExitEvents, Log, PositionSet, Sorting, sort_exits};
use crate::target::{Reading, Target};

/// From how many rows of 4096 on a frontier is moved as a whole. Measured: flat between 150 and 1500.
const DENSE_SHARE: usize = 10;

/// A frontier at least this long is laid out as a plane.
pub(crate) fn dense_threshold(rows: usize) -> usize {
    (rows / DENSE_SHARE).max(2)
}

/// Room for one block, one a thread.
#[derive(Default)]
pub(crate) struct Scratch {
    moved: Vec<u64>,
    touched: Vec<u64>,
}

impl Scratch {
    fn prepare(&mut self, rows: usize) -> (&mut [u64], &mut [u64]) {
        let groups = rows.div_ceil(64);
        if self.moved.len() < rows {
            self.moved.resize(rows, 0);
        }
        if self.touched.len() < groups.div_ceil(64) {
            self.touched.resize(groups.div_ceil(64), 0);
        }
        (&mut self.moved[..rows], &mut self.touched[..groups.div_ceil(64)])
    }
}

/// One side's planes, as the work on one block sees them: all of them, or those of the block and of its
/// neighbours.
#[derive(Clone, Copy)]
pub(crate) enum Planes<'a> {
    All(&'a [u64]),
    Near { here: &'a [u64], neighbours: &'a [&'a [u64]] },
}

impl<'a> Planes<'a> {
    #[inline(always)]
    fn here(&self, number: usize, rows: usize) -> &'a [u64] {
        match *self {
            Planes::All(words) => &words[number * rows..(number + 1) * rows],
            Planes::Near { here, .. } => here,
        }
    }

    /// That of the `i`-th neighbour.
    #[inline(always)]
    fn neighbour(&self, i: usize, neighbour: &Neighbour, rows: usize) -> &'a [u64] {
        match *self {
            Planes::All(words) => {
                let start = neighbour.block as usize * rows;
                &words[start..start + rows]
            }
            Planes::Near { neighbours, .. } => neighbours[i],
        }
    }
}

/// One side's frontiers, in the same way.
#[derive(Clone, Copy)]
pub(crate) enum Frontiers<'a> {
    All(&'a [Log]),
    Near { here: PositionSet<'a>, neighbours: &'a [PositionSet<'a>] },
}

impl<'a> Frontiers<'a> {
    #[inline(always)]
    fn here(&self, number: usize) -> PositionSet<'a> {
        match *self {
            Frontiers::All(logs) => logs[number].frontier(),
            Frontiers::Near { here, .. } => here,
        }
    }

    /// That of the `i`-th neighbour.
    #[inline(always)]
    fn neighbour(&self, i: usize, neighbour: &Neighbour) -> PositionSet<'a> {
        match *self {
            Frontiers::All(logs) => logs[neighbour.block as usize].frontier(),
            Frontiers::Near { neighbours, .. } => neighbours[i],
        }
    }
}

/// The legal positions of a block.
#[inline(always)]
pub(crate) fn legal_block(context: &Context<'_>, block: &Block, turn: Color, open: &mut [u64]) {
    for (row, open) in open.iter_mut().enumerate() {
        *open = context.legal(block, row, turn);
    }
}

/// Evaluates the exits of a block and what they sort_exits.
#[inline(always)]
pub(crate) fn exit_block<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    turn: Color,
    exits: &[Exit<'_>],
    open: &[u64],
    held: &mut [u64],
    must_capture: &mut [u64],
    best: &mut Vec<C>,
    buffer: &mut Buffer<C>,
    sorting: &mut Sorting,
) -> ExitEvents {
    if block.empty || exits.is_empty() {
        held.fill(0);
        return ExitEvents::default();
    }
    best.resize(open.len() * 64, C::ILLEGAL);
    // Captures are compulsory in suicide chess: where there is one, nothing else counts.
    let steps: &[(Option<bool>, Reading)] = if must_capture.is_empty() {
        &[(None, Reading::Worth)]
    } else {
        &[
            (Some(true), Reading::Legality),
            (Some(true), Reading::Worth),
            (Some(false), Reading::Worth),
        ]
    };
    let mut captures = Vec::new();
    // A loop, because a closure called from several places is compiled for any processor.
    for &(wanted, reading) in steps {
        if wanted == Some(false) {
            captures.clone_from(best);
        }
        let wanted = |exit: &Exit<'_>| wanted.is_none_or(|wanted| wanted == exit.is_capture());
        exits::evaluate::<I, C>(context, block, turn, exits, wanted, reading, best, buffer);
        if reading == Reading::Legality {
            let (rows, _) = best.as_chunks::<64>();
            for (must_capture, row) in must_capture.iter_mut().zip(rows) {
                *must_capture = !equal_mask::<I, C>(row, C::ILLEGAL);
            }
        }
    }
    for (i, (best, &capture)) in best.iter_mut().zip(&captures).enumerate() {
        if must_capture[i / 64] >> (i % 64) & 1 != 0 {
            *best = capture;
        }
    }
    let (rows, _) = best.as_chunks::<64>();
    sort_exits::<I, C>(rows, open, held, sorting)
}

/// Marks whole groups as touched.
fn touch_all(touched: &mut [u64], rows: usize) {
    let groups = rows.div_ceil(64);
    for (i, word) in touched.iter_mut().enumerate() {
        let left = groups - 64 * i;
        *word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
    }
}

/// Adds the moves of this side from the frontiers of `logs` (one a block) into the block.
#[inline(always)]
fn spread(
    context: &Context<'_>,
    number: usize,
    color: Color,
    frontiers: Frontiers<'_>,
    moved: &mut [u64],
    touched: &mut [u64],
) {
    let block = &context.blocks[number];
    let men = &context.men[side(color)];
    let (tables, frame) = (context.tables, block.frame);
    let log = frontiers.here(number);
    if let Some(plane) = log.plane() {
        all_moves(tables, frame, &men.dims, men.lane, plane, moved);
        touch_all(touched, moved.len());
    } else {
        for &(i, role) in &men.dims {
            match role {
                Role::Queen => spread_man(context, block, Role::Queen, i, log, moved, touched),
                Role::Rook => spread_man(context, block, Role::Rook, i, log, moved, touched),
                Role::Bishop => spread_man(context, block, Role::Bishop, i, log, moved, touched),
                Role::Knight => spread_man(context, block, Role::Knight, i, log, moved, touched),
                _ => spread_man(context, block, Role::King, i, log, moved, touched),
            }
        }
        if let Some(role) = men.lane {
            for (row, mask) in log.iter() {
                push_lane(frame, role, row, mask, moved, touched);
            }
        }
    }
    for (i, neighbour) in block.neighbours[side(color)].iter().enumerate() {
        let log = frontiers.neighbour(i, neighbour);
        let symmetry = neighbour.symmetry;
        if let Some(plane) = log.plane() {
            pull_from(context, block, neighbour, plane, moved);
            touch_all(touched, moved.len());
        } else if let Some(exchange) = &neighbour.exchange {
            for (row, mask) in log.iter() {
                moved[row] |= exchange.back(tables, frame, row, mask).0;
                touched[row >> 12] |= 1 << (row >> 6 & 63);
            }
        } else if neighbour.between != 0 {
            for (row, mask) in log.iter() {
                if frame.others(row, usize::MAX) & neighbour.between == 0 {
                    moved[row] |= mask & !neighbour.between;
                    touched[row >> 12] |= 1 << (row >> 6 & 63);
                }
            }
        } else if symmetry.is_identity() {
            for (row, mask) in log.iter() {
                moved[row] |= mask;
                touched[row >> 12] |= 1 << (row >> 6 & 63);
            }
        } else {
            let inverse = symmetry.inverse();
            let image = &tables.image[inverse.index()];
            for (row, mask) in log.iter() {
                let row = map_row(image, row, frame.dims);
                moved[row] |= inverse.apply_set(mask);
                touched[row >> 12] |= 1 << (row >> 6 & 63);
            }
        }
    }
}

/// Adds what an outer man that crosses over to a neighbour block leaves behind.
#[inline(always)]
fn pull_from(
    context: &Context<'_>,
    block: &Block,
    neighbour: &Neighbour,
    from: &[u64],
    out: &mut [u64],
) {
    if let Some(exchange) = &neighbour.exchange {
        for (row, (out, &from)) in out.iter_mut().zip(from).enumerate() {
            if from != 0 {
                *out |= exchange.back(context.tables, block.frame, row, from).0;
            }
        }
        return;
    }
    if neighbour.between == 0 {
        pull(context.tables, block.frame, neighbour.symmetry, from, out);
        return;
    }
    for (row, (out, &from)) in out.iter_mut().zip(from).enumerate() {
        if from != 0 && block.frame.others(row, usize::MAX) & neighbour.between == 0 {
            *out |= from & !neighbour.between;
        }
    }
}

#[inline(always)]
fn spread_man(
    context: &Context<'_>,
    block: &Block,
    role: Role,
    i: usize,
    log: PositionSet<'_>,
    moved: &mut [u64],
    touched: &mut [u64],
) {
    for (row, mask) in log.iter() {
        push_dimension(context.tables, block.frame, role, i, row, mask, moved, touched);
    }
}

/// The win pass of `moves` for one block: everything open that can move to a position just lost for the
/// other side (`losses`), or that an exit wins now. What this side has just `lost` is not open any more.
#[inline(always)]
pub(crate) fn win_block(
    context: &Context<'_>,
    number: usize,
    color: Color,
    moves: u16,
    lost: PositionSet<'_>,
    losses: Frontiers<'_>,
    exit_wins: PositionSet<'_>,
    must_capture: &[u64],
    open: &mut [u64],
    wins: &mut Log,
    scratch: &mut Scratch,
) {
    for (row, mask) in lost.iter() {
        open[row] &= !mask;
    }
    let rows = open.len();
    let (moved, touched) = scratch.prepare(rows);
    spread(context, number, color, losses, moved, touched);
    for (moved, &must_capture) in moved.iter_mut().zip(must_capture) {
        *moved &= !must_capture;
    }
    for (row, mask) in exit_wins.iter() {
        moved[row] |= mask;
        touched[row >> 12] |= 1 << (row >> 6 & 63);
    }
    wins.begin();
    for group in touched_groups(touched, rows) {
        let left = sift(&mut moved[group.clone()], open[group.clone()].iter().copied());
        for at in squares(left) {
            let row = group.start + at as usize;
            let new = std::mem::take(&mut moved[row]);
            open[row] &= !new;
            wins.push(row, new);
        }
    }
    wins.finish(moves, rows, dense_threshold(rows));
}

/// The touched groups as ranges of rows. Forgets them.
#[inline(always)]
fn touched_groups(
    touched: &mut [u64],
    rows: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    touched.iter_mut().enumerate().flat_map(move |(word, touched)| {
        squares(std::mem::take(touched)).map(move |group| {
            let start = (word * 64 + group as usize) * 64;
            start..(start + 64).min(rows)
        })
    })
}

/// Keeps of the rows of a group what `kept` has, and returns which of them are not empty then. Most are empty,
/// and are found to be without a branch each.
#[inline(always)]
fn sift(group: &mut [u64], kept: impl Iterator<Item = u64>) -> u64 {
    let mut left = 0;
    for (at, (row, kept)) in group.iter_mut().zip(kept).enumerate() {
        *row &= kept;
        left |= u64::from(*row != 0) << at;
    }
    left
}

/// The positions of this side that can escape by a quiet move, over a whole block.
#[inline(always)]
pub(crate) fn escapes(
    context: &Context<'_>,
    number: usize,
    color: Color,
    goal: Planes<'_>,
    out: &mut [u64],
) {
    let own = side(color);
    let rows = out.len();
    let block = &context.blocks[number];
    let men = &context.men[own];
    let here = goal.here(number, rows);
    all_moves(context.tables, block.frame, &men.dims, men.lane, here, out);
    for (i, neighbour) in block.neighbours[own].iter().enumerate() {
        pull_from(context, block, neighbour, goal.neighbour(i, neighbour, rows), out);
    }
}

/// The positions of one row, among `wanted`, that can escape.
#[inline(always)]
fn row_escapes(
    context: &Context<'_>,
    number: usize,
    color: Color,
    row: usize,
    wanted: u64,
    goal: Planes<'_>,
    rows: usize,
) -> u64 {
    let own = side(color);
    let block = &context.blocks[number];
    let men = &context.men[own];
    let (tables, frame) = (context.tables, block.frame);
    let here = goal.here(number, rows);
    let mut found = 0;
    if let Some(role) = men.lane {
        // Quiet moves are their own inverse: from the goal back to where the lane man stands now.
        found |= lane_move(role, here[row], frame.others(row, usize::MAX));
        if wanted & !found == 0 {
            return found;
        }
    }
    for (i, neighbour) in block.neighbours[own].iter().enumerate() {
        let &Neighbour { symmetry, between, exchange, .. } = neighbour;
        let plane = goal.neighbour(i, neighbour, rows);
        found |= if let Some(exchange) = exchange {
            exchange.back(tables, frame, row, plane[row]).0
        } else if between != 0 {
            if frame.others(row, usize::MAX) & between != 0 {
                continue;
            }
            plane[row] & !between
        } else if symmetry.is_identity() {
            plane[row]
        } else {
            let image = &tables.image[symmetry.index()];
            let there = plane[map_row(image, row, frame.dims)];
            symmetry.inverse().apply_set(there)
        };
        if wanted & !found == 0 {
            return found;
        }
    }
    for &(i, role) in &men.dims {
        let left = wanted & !found;
        found |= match role {
            Role::Queen => reach_dimension(tables, frame, Role::Queen, i, row, left, here),
            Role::Rook => reach_dimension(tables, frame, Role::Rook, i, row, left, here),
            Role::Bishop => reach_dimension(tables, frame, Role::Bishop, i, row, left, here),
            Role::Knight => reach_dimension(tables, frame, Role::Knight, i, row, left, here),
            _ => reach_dimension(tables, frame, Role::King, i, row, left, here),
        };
        if wanted & !found == 0 {
            return found;
        }
    }
    found
}

/// The loss pass of `moves` for one block: everything of `mine` (what is open) that is losable and from
/// which no move escapes to `goal` (what is open for the other side). `wins` are those of the other side.
#[inline(always)]
pub(crate) fn loss_block(
    context: &Context<'_>,
    number: usize,
    color: Color,
    moves: u16,
    wins: Frontiers<'_>,
    exit_losses: PositionSet<'_>,
    must_capture: &[u64],
    mine: &[u64],
    goal: Planes<'_>,
    held: &mut [u64],
    losses: &mut Log,
    scratch: &mut Scratch,
) {
    let rows = held.len();
    let (moved, touched) = scratch.prepare(rows);
    losses.begin();
    let quiet = |row: usize| must_capture.get(row).map_or(u64::MAX, |must_capture| !must_capture);
    if wins.here(number).plane().is_some() {
        for (row, mask) in exit_losses.iter() {
            held[row] &= !mask;
        }
        escapes(context, number, color, goal, moved);
        for row in 0..rows {
            let escaped = std::mem::take(&mut moved[row]) & quiet(row);
            let new = mine[row] & !held[row] & !escaped;
            if new != 0 {
                losses.push(row, new);
            }
        }
    } else {
        spread(context, number, color, wins, moved, touched);
        for (row, mask) in exit_losses.iter() {
            held[row] &= !mask;
            moved[row] |= mask;
            touched[row >> 12] |= 1 << (row >> 6 & 63);
        }
        for group in touched_groups(touched, rows) {
            let losable = mine[group.clone()].iter().zip(&held[group.clone()]);
            let left = sift(&mut moved[group.clone()], losable.map(|(mine, not)| mine & !not));
            for at in squares(left) {
                let row = group.start + at as usize;
                let candidates = std::mem::take(&mut moved[row]);
                let escaped = row_escapes(context, number, color, row, candidates, goal, rows);
                let new = candidates & !(escaped & quiet(row));
                if new != 0 {
                    losses.push(row, new);
                }
            }
        }
    }
    losses.finish(moves, rows, dense_threshold(rows));
}

/// Finds the mates and stalemates of a block: mates go to the log, stalemates become not losable and are
/// left in `stalemates` if that is not empty.
#[inline(always)]
pub(crate) fn mate_block(
    context: &Context<'_>,
    number: usize,
    color: Color,
    mine: &[u64],
    goal: Planes<'_>,
    held: &mut [u64],
    must_capture: &[u64],
    spared: &mut [u64],
    stalemates: &mut [u64],
    losses: &mut Log,
    scratch: &mut Scratch,
) {
    let rows = held.len();
    let theirs = goal.here(number, rows);
    losses.begin();
    if !context.blocks[number].empty {
        let (moved, _) = scratch.prepare(rows);
        escapes(context, number, color, goal, moved);
        for row in 0..rows {
            let quiet = must_capture.get(row).map_or(u64::MAX, |must_capture| !must_capture);
            let escaped = std::mem::take(&mut moved[row]) & quiet;
            let mut stuck = mine[row] & !held[row] & !escaped;
            if let Some(spared) = spared.get_mut(row) {
                *spared &= stuck;
                stuck &= !*spared;
                held[row] |= *spared;
            }
            // With the other side to move the position is illegal exactly if this king is in check.
            // (In suicide chess, where nobody is in check, it never is.)
            let mates = stuck & !theirs[row];
            let stalemate = stuck & theirs[row];
            held[row] |= stalemate;
            if let Some(out) = stalemates.get_mut(row) {
                *out = stalemate;
            }
            if mates != 0 {
                losses.push(row, mates);
            }
        }
    }
    losses.finish(0, rows, dense_threshold(rows));
}

/// Writes the codes of a block: what is still open is drawn, the rest is `decided`.
#[inline(always)]
pub(crate) fn write_block<I: Isa, C: Code>(
    open: &[u64],
    decided: &[(C, PositionSet<'_>)],
    codes: &mut [C],
) {
    let (codes, _) = codes.as_chunks_mut::<64>();
    for (row, &open) in codes.iter_mut().zip(open) {
        if open != 0 {
            put_code::<I, C>(row, C::DRAW, open);
        }
    }
    for &(code, positions) in decided {
        for (row, mask) in positions.iter() {
            put_code::<I, C>(&mut codes[row], code, mask);
        }
    }
}

/// Counts the legal moves of the marked positions of a block: all, and those that leave the ending.
/// Captures are counted in the positions of `bound`, which in suicide chess are others.
#[inline(always)]
pub(crate) fn count_block<I: Isa, C: Code>(
    context: &Context<'_>,
    number: usize,
    color: Color,
    exits: [&[Exit<'_>]; 2],
    positions: &[u64],
    bound: &[u64],
    goal: Planes<'_>,
    buffer: &mut Buffer<C>,
    scratch: &mut Scratch,
) -> [u64; 2] {
    let own = side(color);
    let rows = positions.len();
    let block = &context.blocks[number];
    if block.empty {
        return [0; 2];
    }
    let (tables, frame, men) = (context.tables, block.frame, &context.men[own]);
    let here = goal.here(number, rows);
    let mut quiet = 0;
    for &(i, role) in &men.dims {
        quiet += match role {
            Role::Queen => count::dimension(tables, frame, Role::Queen, i, positions, here),
            Role::Rook => count::dimension(tables, frame, Role::Rook, i, positions, here),
            Role::Bishop => count::dimension(tables, frame, Role::Bishop, i, positions, here),
            Role::Knight => count::dimension(tables, frame, Role::Knight, i, positions, here),
            _ => count::dimension(tables, frame, Role::King, i, positions, here),
        };
    }
    quiet += match men.lane {
        Some(Role::Queen) => count::lane(frame, Role::Queen, positions, here),
        Some(Role::Rook) => count::lane(frame, Role::Rook, positions, here),
        Some(Role::Bishop) => count::lane(frame, Role::Bishop, positions, here),
        Some(Role::Knight) => count::lane(frame, Role::Knight, positions, here),
        Some(_) => count::lane(frame, Role::King, positions, here),
        None => 0,
    };
    if !block.neighbours[own].is_empty() {
        let (moved, _) = scratch.prepare(rows);
        for (i, neighbour) in block.neighbours[own].iter().enumerate() {
            let there = goal.neighbour(i, neighbour, rows);
            if let Some(exchange) = &neighbour.exchange {
                let from = positions.iter().zip(there).enumerate();
                for (row, (_, &there)) in from.filter(|(_, (p, _))| **p >> exchange.to & 1 != 0) {
                    quiet += u64::from(exchange.back(tables, frame, row, there).1);
                }
                continue;
            }
            pull_from(context, block, neighbour, there, moved);
            for (moved, &position) in moved.iter_mut().zip(positions) {
                quiet += u64::from((std::mem::take(moved) & position).count_ones());
            }
        }
    }
    let mut moves = [quiet, 0];
    for exit in exits.into_iter().flatten() {
        let positions = if exit.is_capture() { bound } else { positions };
        let n = exits::count::<I, C>(context, block, color, exit, positions, buffer);
        if exit.counted != Counted::Discarded {
            moves[0] += n;
        }
        if exit.counted != Counted::Inside {
            moves[1] += n;
        }
    }
    moves
}

/// The positions of a plane where none of the `empty` squares is taken by a mover.
#[inline(always)]
pub(crate) fn clear_of(block: &Block, empty: u64, plane: &[u64], out: &mut [u64]) {
    let frame = block.frame;
    for (row, (out, &positions)) in out.iter_mut().zip(plane).enumerate() {
        let taken = frame.others(row, usize::MAX) & empty != 0;
        *out = if taken { 0 } else { positions & !empty };
    }
}

/// The values of a block's positions with an en passant right. `plain` are the values without it, `stuck`
/// the positions without another move that counts, mates apart. In suicide chess `must_capture` are those in
/// which something else must be taken; it is empty in normal chess.
#[inline(always)]
pub(crate) fn right_block<I: Isa, C: Code>(
    context: &Context<'_>,
    number: usize,
    right: &Right<'_>,
    plain: &[C],
    stuck: &[u64],
    must_capture: &[u64],
    codes: &mut [C],
    buffer: &mut Buffer<C>,
) {
    let block = &context.blocks[number];
    if block.empty {
        return;
    }
    // First the captures, then the better of them and everything else.
    let mut marked = [Vec::new(), Vec::new()];
    let wanted = [
        (Reading::Legality, context.suicide()),
        (Reading::Spared, right.captures.iter().any(Target::may_spare)),
    ];
    for (marked, (reading, needed)) in marked.iter_mut().zip(wanted) {
        if needed {
            let (taker, captures) = (right.taker, &right.captures);
            exits::captures_of::<I, C>(context, block, taker, captures, reading, codes, buffer);
            let (rows, _) = codes.as_chunks::<64>();
            marked.extend(rows.iter().map(|row| !equal_mask::<I, C>(row, C::ILLEGAL)));
        }
    }
    let [legal, spared] = marked;
    let (taker, captures) = (right.taker, &right.captures);
    exits::captures_of::<I, C>(context, block, taker, captures, Reading::Worth, codes, buffer);
    let frame = block.frame;
    let empty = right.empty_squares();
    let (rows, _) = codes.as_chunks_mut::<64>();
    let (plain, _) = plain.as_chunks::<64>();
    for (row, ((codes, plain), &stuck)) in rows.iter_mut().zip(plain).zip(stuck).enumerate() {
        if frame.others(row, usize::MAX) & empty != 0 {
            codes.fill(C::ILLEGAL);
            continue;
        }
        let unforced = must_capture.get(row).map_or(0, |must_capture| !must_capture);
        let alone = stuck | unforced;
        let spared = spared.get(row).copied().unwrap_or(0);
        let legal = legal.get(row).copied().unwrap_or(0);
        for (lane, (code, &plain)) in codes.iter_mut().zip(plain).enumerate() {
            let capture = *code;
            let is = |plane: u64| plane >> lane & 1 != 0;
            *code = if plain == C::ILLEGAL || empty >> lane & 1 != 0 {
                C::ILLEGAL
            } else if capture != C::ILLEGAL && is(alone) {
                capture
            } else if capture == C::ILLEGAL && is(spared) && (is(alone) || plain == C::loss(0)) {
                C::DRAW
            } else if capture == C::ILLEGAL && is(legal & unforced) {
                // All that may be played is left out of account: whoever cannot move has won.
                C::win(0)
            } else {
                plain.max(capture)
            };
        }
    }
}

/// Those of the marked positions of a block in which one of some en passant captures of `taker` is legal, as far
/// as `reading` takes notice of it.
#[inline(always)]
pub(crate) fn capture_block<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    taker: Color,
    (captures, reading): (&[Target<'_>], Reading),
    positions: &[u64],
    best: &mut Vec<C>,
    buffer: &mut Buffer<C>,
) -> Vec<u64> {
    let mut found = vec![0; positions.len()];
    if captures.is_empty() || positions.iter().all(|&w| w == 0) {
        return found;
    }
    best.resize(positions.len() * 64, C::ILLEGAL);
    exits::captures_of::<I, C>(context, block, taker, captures, reading, best, buffer);
    let (rows, _) = best.as_chunks::<64>();
    for ((found, row), &positions) in found.iter_mut().zip(rows).zip(positions) {
        *found = !equal_mask::<I, C>(row, C::ILLEGAL) & positions;
    }
    found
}
