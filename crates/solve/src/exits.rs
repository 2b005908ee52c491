//! Exits: moves that leave the slice, taken for whole rows.
//!
//! Every exit is evaluated by raising the codes of the rows it starts from to the (negated) codes of the
//! rows it leads to. A code of 0 there, an illegal position, means that the move does not exist, so no
//! exit needs a test of legality of its own.

use hoffman_board::{Color, Role};
use hoffman_space::{Code, PawnStructure};

use crate::context::{Block, Context, side};
use crate::kernels::dense::Frame;
use crate::kernels::isa::{Isa, Row, raise, raise_to};
use crate::kernels::tables::{role_index, squares};
use crate::view::{Change, View};

/// A kind of exit of one side, with the view behind it.
pub(crate) enum Exit<'a> {
    /// A pawn moves to an empty square (or takes a pawn): all men stay where they are.
    Whole {
        view: View<'a>,
        /// The square that a double step jumps over.
        jumped: Option<u8>,
        /// The en passant captures that a double step allows.
        en_passant: Vec<View<'a>>,
    },
    /// A pawn takes the man `victim` (a mover) on the square `at`, promoting or not.
    PawnTakes { view: View<'a>, victim: usize, at: u8 },
    /// Any mover takes the pawn on `at`.
    TakesPawn { view: View<'a>, at: u8 },
    /// Any mover takes the mover `victim`.
    Takes { view: View<'a>, victim: usize },
}

impl<'a> Exit<'a> {
    /// All views of the exit.
    pub(crate) fn views(&self) -> impl Iterator<Item = &View<'a>> {
        let (view, more): (_, &[View<'a>]) = match self {
            Exit::Whole { view, en_passant, .. } => (view, en_passant),
            Exit::PawnTakes { view, .. } | Exit::TakesPawn { view, .. } | Exit::Takes { view, .. } => {
                (view, &[])
            }
        };
        std::iter::once(view).chain(more)
    }
}

/// Why an exit cannot be evaluated: what it leads to is not solved.
pub(crate) struct Unsolved {
    pub(crate) pawns: PawnStructure,
    pub(crate) change: Change,
}

/// The roles a pawn can become.
pub(crate) const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Lists the exits of `color`. `view(change, pawns, turn)` finds what an exit leads
/// to, `turn` being to move there.
pub(crate) fn list<'a>(
    context: &Context<'_>,
    color: Color,
    mut view: impl FnMut(Change, PawnStructure, Color) -> Option<View<'a>>,
) -> Result<Vec<Exit<'a>>, Unsolved> {
    let mut exits = Vec::new();
    let mut see = |change: Change, pawns: PawnStructure| {
        view(change, pawns, color.other()).ok_or(Unsolved { pawns, change })
    };
    let mut takers: Vec<PawnStructure> = Vec::new();
    let mut doubles = Vec::new();
    let pawns = context.pawns;
    let enemy = color.other();
    let occupied = pawns.occupied();
    let victims: Vec<usize> = context
        .layout
        .movers()
        .iter()
        .enumerate()
        .filter(|(_, m)| m.color == enemy && m.role != Role::King)
        .map(|(i, _)| i)
        .collect();
    let step: i8 = color.fold_wb(8, -8);
    for from in squares(pawns.of(color)) {
        let mut left = pawns;
        *left.of_mut(color) &= !(1 << from);
        let relative_rank = color.fold_wb(from >> 3, 7 - (from >> 3));
        let ahead = from.wrapping_add_signed(step);
        if relative_rank == 6 {
            for role in PROMOTIONS {
                let change = Change { captured: None, promoted: Some((color, role, ahead)) };
                if occupied >> ahead & 1 == 0 {
                    let view = see(change, left)?;
                    exits.push(Exit::Whole { view, jumped: None, en_passant: Vec::new() });
                }
            }
        } else if occupied >> ahead & 1 == 0 {
            let mut moved = left;
            *moved.of_mut(color) |= 1 << ahead;
            let view = see(Change::default(), moved)?;
            exits.push(Exit::Whole { view, jumped: None, en_passant: Vec::new() });
            let far = ahead.wrapping_add_signed(step);
            if relative_rank == 1 && occupied >> far & 1 == 0 {
                let mut moved = left;
                *moved.of_mut(color) |= 1 << far;
                let view = see(Change::default(), moved)?;
                takers.clear();
                for taker in squares(pawns.of(enemy)) {
                    if context.tables.pawn[side(enemy)][taker as usize & 63] >> ahead & 1 != 0 {
                        let mut taken = left;
                        *taken.of_mut(enemy) &= !(1 << taker);
                        *taken.of_mut(enemy) |= 1 << ahead;
                        takers.push(taken);
                    }
                }
                exits.push(Exit::Whole { view, jumped: Some(ahead), en_passant: Vec::new() });
                doubles.push((exits.len() - 1, std::mem::take(&mut takers)));
            }
        }
        for at in squares(context.tables.pawn[side(color)][from as usize & 63]) {
            if pawns.of(enemy) >> at & 1 != 0 {
                let mut moved = left;
                *moved.of_mut(enemy) &= !(1 << at);
                *moved.of_mut(color) |= 1 << at;
                let view = see(Change::default(), moved)?;
                exits.push(Exit::Whole { view, jumped: None, en_passant: Vec::new() });
            } else if occupied >> at & 1 == 0 {
                for &victim in &victims {
                    if relative_rank == 6 {
                        for role in PROMOTIONS {
                            let promoted = Some((color, role, at));
                            let change = Change { captured: Some(victim), promoted };
                            exits.push(Exit::PawnTakes { view: see(change, left)?, victim, at });
                        }
                    } else {
                        let mut moved = left;
                        *moved.of_mut(color) |= 1 << at;
                        let change = Change { captured: Some(victim), promoted: None };
                        exits.push(Exit::PawnTakes { view: see(change, moved)?, victim, at });
                    }
                }
            }
        }
    }
    for at in squares(pawns.of(enemy)) {
        let mut left = pawns;
        *left.of_mut(enemy) &= !(1 << at);
        exits.push(Exit::TakesPawn { view: see(Change::default(), left)?, at });
    }
    for &victim in &victims {
        let change = Change { captured: Some(victim), promoted: None };
        exits.push(Exit::Takes { view: see(change, pawns)?, victim });
    }
    for (at, takers) in doubles {
        for pawns in takers {
            // After the en passant capture the side that made the double step is to move again.
            let change = Change::default();
            let taking = view(change, pawns, color).ok_or(Unsolved { pawns, change })?;
            if let Some(Exit::Whole { en_passant, .. }) = exits.get_mut(at) {
                en_passant.push(taking);
            }
        }
    }
    Ok(exits)
}

/// Room for the views of one block, reused from block to block.
pub(crate) struct Buffer<C> {
    first: Vec<C>,
    second: Vec<C>,
    third: Vec<C>,
}

impl<C: Code> Buffer<C> {
    pub(crate) fn new() -> Buffer<C> {
        Buffer { first: Vec::new(), second: Vec::new(), third: Vec::new() }
    }
}

fn room<C: Code>(buffer: &mut Vec<C>, len: usize) -> &mut [C] {
    if buffer.len() < len {
        buffer.resize(len, C::ILLEGAL);
    }
    &mut buffer[..len]
}

/// Inserts a digit: the row number with `square` in dimension `i`, from the number of the other
/// dimensions.
#[inline(always)]
fn insert(frame: Frame, rest: usize, i: usize, square: u8) -> usize {
    let stride = frame.stride(i);
    (rest / stride * 64 + square as usize) * stride + rest % stride
}

/// Removes the digit of dimension `i`.
#[inline(always)]
fn remove(frame: Frame, row: usize, i: usize) -> usize {
    let stride = frame.stride(i);
    row / (stride * 64) * stride + row % stride
}

/// The best exit of every position of a block: `best[row * 64 + lane]`, 0 where there is none.
#[inline(always)]
pub(crate) fn evaluate<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    color: Color,
    exits: &[Exit<'_>],
    best: &mut [C],
    buffer: &mut Buffer<C>,
) {
    best.fill(C::ILLEGAL);
    let (best, _) = best.as_chunks_mut::<64>();
    for exit in exits {
        let evaluation = Evaluation { context, block, color };
        match exit {
            Exit::Whole { view, jumped, en_passant } => {
                evaluation.whole::<I, C>(view, *jumped, en_passant, best, buffer);
            }
            Exit::PawnTakes { view, victim, at } => {
                evaluation.pawn_takes::<I, C>(view, *victim, *at, best, buffer);
            }
            Exit::TakesPawn { view, at } => {
                evaluation.takes_pawn::<I, C>(view, *at, best, buffer);
            }
            Exit::Takes { view, victim } => evaluation.takes::<I, C>(view, *victim, best, buffer),
        }
    }
}

struct Evaluation<'a> {
    context: &'a Context<'a>,
    block: &'a Block,
    color: Color,
}

/// A short list of movers.
#[derive(Clone, Copy)]
struct Axes {
    movers: [usize; 16],
    len: usize,
}

impl Axes {
    #[inline(always)]
    fn as_slice(&self) -> &[usize] {
        &self.movers[..self.len]
    }
}

impl Evaluation<'_> {
    /// The block's dimensions except one, and the lane or another mover last.
    #[inline(always)]
    fn axes(&self, without: usize, last: Option<usize>) -> Axes {
        let mut axes = Axes { movers: [0; 16], len: 0 };
        for i in 0..self.context.dims {
            if i != without {
                axes.movers[axes.len] = self.context.mover_of(i);
                axes.len += 1;
            }
        }
        if let Some(last) = last {
            axes.movers[axes.len] = last;
            axes.len += 1;
        }
        axes
    }

    /// The outer kings where they stand, then one more man.
    #[inline(always)]
    fn placed(&self, more: Option<(usize, u8)>) -> [(usize, u8); 3] {
        // A mover that is given twice is read at the later square; 15 is never a mover of ours.
        let [w, b] = self.block.kings;
        let mut placed = [(15, 0); 3];
        if self.context.outer > 0 {
            placed[0] = (0, w);
        }
        if self.context.outer > 1 {
            placed[1] = (1, b);
        }
        match more {
            Some((0, at)) if self.context.outer > 0 => placed[0].1 = at,
            Some((1, at)) if self.context.outer > 1 => placed[1].1 = at,
            Some(man) => placed[2] = man,
            None => {}
        }
        placed
    }

    /// The squares that this side's outer king can step to.
    #[inline(always)]
    fn king_steps(&self) -> u64 {
        let c = side(self.color);
        if c < self.context.outer {
            self.context.tables.reach[role_index(Role::King)][self.block.kings[c] as usize & 63]
        } else {
            0
        }
    }

    #[inline(always)]
    fn whole<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        jumped: Option<u8>,
        en_passant: &[View<'_>],
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let axes = self.axes(usize::MAX, Some(context.lane_mover()));
        let len = best.len() * 64;
        let plain = room(&mut buffer.first, len);
        let placed = self.placed(None);
        if jumped.is_some_and(|s| self.block.frame.fixed >> s & 1 != 0) {
            return;
        }
        view.fetch::<I, C>(context.tables, &placed, axes.as_slice(), plain);
        if let Some((first, more)) = en_passant.split_first() {
            let captures = room(&mut buffer.second, len);
            first.fetch::<I, C>(context.tables, &placed, axes.as_slice(), captures);
            for other in more {
                let second = room(&mut buffer.third, len);
                other.fetch::<I, C>(context.tables, &placed, axes.as_slice(), second);
                for (c, &s) in captures.iter_mut().zip(second.iter()) {
                    *c = (*c).max(s);
                }
            }
            for (at, (p, &capture)) in plain.iter_mut().zip(captures.iter()).enumerate() {
                // The capture's worth to the opponent, who has all his other moves besides.
                if *p != C::ILLEGAL && capture != C::ILLEGAL {
                    let capture = capture.negate();
                    let forced = *p == C::DRAW && self.is_stalemate(view, at);
                    *p = if forced { capture } else { (*p).min(capture) };
                }
            }
        }
        let (rows, _) = plain.as_chunks::<64>();
        let frame = self.block.frame;
        for (row, (best, new)) in best.iter_mut().zip(rows).enumerate() {
            let allowed = match jumped {
                None => u64::MAX,
                Some(s) if frame.others(row, usize::MAX) >> s & 1 != 0 => continue,
                Some(s) => !(1 << s),
            };
            raise::<I, C>(best, new, allowed);
        }
    }

    /// Whether the position at a place of the block is stalemate behind the view.
    fn is_stalemate(&self, view: &View<'_>, at: usize) -> bool {
        let context = self.context;
        let mut squares = [0; crate::view::MAX_MOVERS];
        let movers = context.layout.movers().len();
        for m in 0..movers {
            squares[m] =
                context.square_of(self.block, at / 64, m).unwrap_or((at % 64) as u8);
        }
        view.is_stalemate(&squares[..movers])
    }

    #[inline(always)]
    fn pawn_takes<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        victim: usize,
        at: u8,
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let placed = self.placed(None);
        if victim == context.lane_mover() {
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(context.tables, &placed, axes.as_slice(), new);
            for (best, &new) in best.iter_mut().zip(new.iter()) {
                let best = &mut best[at as usize & 63];
                *best = (*best).max(new);
            }
        } else {
            let i = victim - context.outer;
            let axes = self.axes(i, Some(context.lane_mover()));
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(context.tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(self.block.frame, rest, i, at);
                raise::<I, C>(&mut best[row], new, u64::MAX);
            }
        }
    }

    #[inline(always)]
    fn takes_pawn<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        at: u8,
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        let men = &context.men[side(self.color)];
        for &(i, role) in &men.dims {
            let placed = self.placed(Some((context.mover_of(i), at)));
            let axes = self.axes(i, Some(context.lane_mover()));
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for from in squares(tables.reach[role_index(role)][at as usize & 63]) {
                let between = tables.between[from as usize & 63][at as usize & 63];
                for (rest, new) in rows.iter().enumerate() {
                    let row = insert(frame, rest, i, from);
                    if frame.others(row, i) & between == 0 {
                        raise::<I, C>(&mut best[row], new, !between);
                    }
                }
            }
        }
        if let Some(role) = men.lane {
            let placed = self.placed(Some((context.lane_mover(), at)));
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(tables, &placed, axes.as_slice(), new);
            for (row, (best, &new)) in best.iter_mut().zip(new.iter()).enumerate() {
                if new != C::ILLEGAL {
                    let from = tables.attacks(role, at, frame.others(row, usize::MAX));
                    raise_to::<I, C>(best, new, from);
                }
            }
        }
        if self.king_steps() >> at & 1 != 0 {
            let placed = self.placed(Some((side(self.color), at)));
            let axes = self.axes(usize::MAX, Some(context.lane_mover()));
            let new = room(&mut buffer.first, best.len() * 64);
            view.fetch::<I, C>(tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (best, new) in best.iter_mut().zip(rows) {
                raise::<I, C>(best, new, u64::MAX);
            }
        }
    }

    #[inline(always)]
    fn takes<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        victim: usize,
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        if victim == self.context.lane_mover() {
            self.takes_lane::<I, C>(view, best, buffer);
        } else {
            self.takes_dimension::<I, C>(view, victim - self.context.outer, best, buffer);
        }
    }

    #[inline(always)]
    fn takes_lane<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        for &(i, role) in &context.men[side(self.color)].dims {
            // The capturer's new square is the lane's old one, so it takes the lane's place.
            let axes = self.axes(i, Some(context.mover_of(i)));
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(tables, &self.placed(None), axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (row, best) in best.iter_mut().enumerate() {
                let to = tables.attacks(role, frame.square(row, i), frame.others(row, i));
                raise::<I, C>(best, &rows[remove(frame, row, i)], to);
            }
        }
        for to in squares(self.king_steps() & !frame.fixed) {
            let placed = self.placed(Some((side(self.color), to)));
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(tables, &placed, axes.as_slice(), new);
            for (best, &new) in best.iter_mut().zip(new.iter()) {
                let best = &mut best[to as usize & 63];
                *best = (*best).max(new);
            }
        }
    }

    #[inline(always)]
    fn takes_dimension<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        j: usize,
        best: &mut [Row<C>],
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        let men = &context.men[side(self.color)];
        let axes = self.axes(j, Some(context.lane_mover()));
        let new = room(&mut buffer.first, best.len());
        if !men.dims.is_empty() || men.lane.is_some() {
            view.fetch::<I, C>(tables, &self.placed(None), axes.as_slice(), new);
        }
        let (rows, _) = new.as_chunks::<64>();
        for &(i, role) in &men.dims {
            for (row, best) in best.iter_mut().enumerate() {
                let (from, to) = (frame.square(row, i), frame.square(row, j));
                if tables.reach[role_index(role)][from as usize & 63] >> to & 1 == 0 {
                    continue;
                }
                let between = tables.between[from as usize & 63][to as usize & 63];
                if frame.others(row, i) & between != 0 {
                    continue;
                }
                let moved = row - from as usize * frame.stride(i) + to as usize * frame.stride(i);
                raise::<I, C>(best, &rows[remove(frame, moved, j)], !between);
            }
        }
        if let Some(role) = men.lane {
            for (row, best) in best.iter_mut().enumerate() {
                let at = frame.square(row, j);
                let code = rows[remove(frame, row, j)][at as usize & 63];
                if code != C::ILLEGAL {
                    let from = tables.attacks(role, at, frame.others(row, j));
                    raise_to::<I, C>(best, code, from);
                }
            }
        }
        for to in squares(self.king_steps() & !frame.fixed) {
            let placed = self.placed(Some((side(self.color), to)));
            let new = room(&mut buffer.first, best.len());
            view.fetch::<I, C>(tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(frame, rest, j, to);
                raise::<I, C>(&mut best[row], new, u64::MAX);
            }
        }
    }
}
