//! Exits: moves that leave the slice, taken for whole rows.
//!
//! Every exit is evaluated by raising the codes of the rows it starts from to the (negated) codes of the
//! rows it leads to. A code of 0 there, an illegal position, means that the move does not exist, so no
//! exit needs a test of legality of its own.

use std::marker::PhantomData;

use hoffman_board::{Color, Role};
use hoffman_space::{Code, PawnStructure};

use crate::context::{Block, Context, side};
use crate::dispatch::fetch_view;
use crate::kernels::dense::Frame;
use crate::kernels::isa::{Isa, Row, equal_mask, raise, raise_to};
use crate::kernels::tables::{role_index, squares};
use crate::view::{Change, View};

/// A kind of exit of one side, with the view behind it.
pub(crate) enum Exit<'a> {
    /// A pawn moves to an empty square (or takes a pawn): all men stay where they are.
    Whole {
        view: View<'a>,
        /// The square that a double step jumps over.
        jumped: Option<u8>,
        /// Whether it leaves the ending.
        futuremove: bool,
    },
    /// A pawn takes the man `victim` (a mover) on the square `at`, promoting or not.
    PawnTakes { view: View<'a>, victim: usize, at: u8 },
    /// Any mover takes the pawn on `at`.
    TakesPawn { view: View<'a>, at: u8 },
    /// Any mover takes the mover `victim`.
    Takes { view: View<'a>, victim: usize },
}

impl<'a> Exit<'a> {
    /// The view behind the exit.
    pub(crate) fn view(&self) -> &View<'a> {
        match self {
            Exit::Whole { view, .. }
            | Exit::PawnTakes { view, .. }
            | Exit::TakesPawn { view, .. }
            | Exit::Takes { view, .. } => view,
        }
    }

    /// Whether the exit leaves the ending: captures and promotions do, pawn steps do not.
    pub(crate) fn is_futuremove(&self) -> bool {
        !matches!(self, Exit::Whole { futuremove: false, .. })
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
                    exits.push(Exit::Whole { view, jumped: None, futuremove: true });
                }
            }
        } else if occupied >> ahead & 1 == 0 {
            let mut moved = left;
            *moved.of_mut(color) |= 1 << ahead;
            let view = see(Change::default(), moved)?;
            exits.push(Exit::Whole { view, jumped: None, futuremove: false });
            let far = ahead.wrapping_add_signed(step);
            if relative_rank == 1 && occupied >> far & 1 == 0 {
                let mut moved = left;
                *moved.of_mut(color) |= 1 << far;
                let view = see(Change::default(), moved)?;
                let view = view.with_right(ahead);
                exits.push(Exit::Whole { view, jumped: Some(ahead), futuremove: false });
            }
        }
        for at in squares(context.tables.pawn[side(color)][from as usize & 63]) {
            if pawns.of(enemy) >> at & 1 != 0 {
                let mut moved = left;
                *moved.of_mut(enemy) &= !(1 << at);
                *moved.of_mut(color) |= 1 << at;
                let view = see(Change::default(), moved)?;
                exits.push(Exit::Whole { view, jumped: None, futuremove: true });
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
    Ok(exits)
}

/// A right to take en passant in the slice itself, and what its captures lead to.
pub(crate) struct Right<'a> {
    /// The square jumped over.
    pub(crate) square: u8,
    /// The side that may take.
    pub(crate) taker: Color,
    /// What the captures lead to; none if no pawn can take.
    pub(crate) captures: Vec<View<'a>>,
}

impl Right<'_> {
    /// The square jumped over and the one that the pawn came from: both must be empty.
    pub(crate) fn empty_squares(&self) -> u64 {
        let behind = self.taker.fold_wb(self.square + 8, self.square - 8);
        1 << self.square | 1 << behind
    }
}

/// Lists the en passant rights that the slice's pawns allow, usable or not.
pub(crate) fn rights<'a>(
    context: &Context<'_>,
    mut view: impl FnMut(Change, PawnStructure, Color) -> Option<View<'a>>,
) -> Result<Vec<Right<'a>>, Unsolved> {
    let pawns = context.pawns;
    let mut rights = Vec::new();
    for mover in Color::ALL {
        let taker = mover.other();
        let fourth = mover.fold_wb(0xff00_0000, 0x00ff_0000_0000);
        for at in squares(pawns.of(mover) & fourth) {
            let square = mover.fold_wb(at.wrapping_sub(8), at + 8);
            let mut right = Right { square, taker, captures: Vec::new() };
            if right.empty_squares() & pawns.occupied() != 0 {
                continue;
            }
            for from in squares(pawns.of(taker)) {
                if context.tables.pawn[side(taker)][from as usize & 63] >> square & 1 != 0 {
                    let mut taken = pawns;
                    *taken.of_mut(mover) &= !(1 << at);
                    *taken.of_mut(taker) ^= 1 << from | 1 << square;
                    let change = Change::default();
                    // After the capture the side that made the double step is to move.
                    let seen = view(change, taken, mover);
                    right.captures.push(seen.ok_or(Unsolved { pawns: taken, change })?);
                }
            }
            rights.push(right);
        }
    }
    Ok(rights)
}

/// The best en passant capture of every position of a block: `best[row * 64 + lane]`, 0 where there is
/// none.
#[inline(always)]
pub(crate) fn captures_of<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    right: &Right<'_>,
    best: &mut [C],
    buffer: &mut Buffer<C>,
) {
    best.fill(C::ILLEGAL);
    let (best, _) = best.as_chunks_mut::<64>();
    let mut sink = Best::<C, I> { best, isa: PhantomData };
    let evaluation = Evaluation { context, block, color: right.taker };
    for view in &right.captures {
        evaluation.whole::<I, C>(view, None, &mut sink, buffer);
    }
}

/// Room for the views of one block, reused from block to block.
pub(crate) struct Buffer<C> {
    first: Vec<C>,
}

impl<C: Code> Buffer<C> {
    pub(crate) fn new() -> Buffer<C> {
        Buffer { first: Vec::new() }
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

/// What is done with the moves found: every call is one move in each of the marked positions of a row.
pub(crate) trait Sink<C: Code> {
    /// The moves are worth `codes`.
    fn row(&mut self, row: usize, codes: &Row<C>, mask: u64);
    /// The moves are all worth `code`.
    fn splat(&mut self, row: usize, code: C, mask: u64);
    /// The move of one position.
    fn one(&mut self, row: usize, lane: u8, code: C);
}

/// Keeps the best move of every position.
struct Best<'a, C, I> {
    best: &'a mut [Row<C>],
    isa: PhantomData<I>,
}

impl<C: Code, I: Isa> Sink<C> for Best<'_, C, I> {
    #[inline(always)]
    fn row(&mut self, row: usize, codes: &Row<C>, mask: u64) {
        raise::<I, C>(&mut self.best[row], codes, mask);
    }

    #[inline(always)]
    fn splat(&mut self, row: usize, code: C, mask: u64) {
        raise_to::<I, C>(&mut self.best[row], code, mask);
    }

    #[inline(always)]
    fn one(&mut self, row: usize, lane: u8, code: C) {
        let best = &mut self.best[row][lane as usize & 63];
        *best = (*best).max(code);
    }
}

/// Counts the moves of the positions in `positions`, one word a row.
struct Tally<'a, I> {
    positions: &'a [u64],
    count: u64,
    isa: PhantomData<I>,
}

impl<C: Code, I: Isa> Sink<C> for Tally<'_, I> {
    #[inline(always)]
    fn row(&mut self, row: usize, codes: &Row<C>, mask: u64) {
        let legal = !equal_mask::<I, C>(codes, C::ILLEGAL);
        self.count += u64::from((legal & mask & self.positions[row]).count_ones());
    }

    #[inline(always)]
    fn splat(&mut self, row: usize, code: C, mask: u64) {
        if code != C::ILLEGAL {
            self.count += u64::from((mask & self.positions[row]).count_ones());
        }
    }

    #[inline(always)]
    fn one(&mut self, row: usize, lane: u8, code: C) {
        self.count += u64::from(code != C::ILLEGAL) & (self.positions[row] >> lane);
    }
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
    let mut sink = Best::<C, I> { best, isa: PhantomData };
    let evaluation = Evaluation { context, block, color };
    for exit in exits {
        evaluation.exit::<I, C>(exit, &mut sink, buffer);
    }
}

/// The number of legal moves by an exit, over the marked positions of a block.
#[inline(always)]
pub(crate) fn count<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    color: Color,
    exit: &Exit<'_>,
    positions: &[u64],
    buffer: &mut Buffer<C>,
) -> u64 {
    let mut sink = Tally::<I> { positions, count: 0, isa: PhantomData };
    Evaluation { context, block, color }.exit::<I, C>(exit, &mut sink, buffer);
    sink.count
}

/// The number of legal en passant captures, over the marked positions of a block.
#[inline(always)]
pub(crate) fn count_captures<I: Isa, C: Code>(
    context: &Context<'_>,
    block: &Block,
    right: &Right<'_>,
    positions: &[u64],
    buffer: &mut Buffer<C>,
) -> u64 {
    let mut sink = Tally::<I> { positions, count: 0, isa: PhantomData };
    let evaluation = Evaluation { context, block, color: right.taker };
    for view in &right.captures {
        evaluation.whole::<I, C>(view, None, &mut sink, buffer);
    }
    sink.count
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
    #[inline(always)]
    fn exit<I: Isa, C: Code>(
        &self,
        exit: &Exit<'_>,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        match exit {
            Exit::Whole { view, jumped, .. } => self.whole::<I, C>(view, *jumped, sink, buffer),
            Exit::PawnTakes { view, victim, at } => {
                self.pawn_takes::<I, C>(view, *victim, *at, sink, buffer);
            }
            Exit::TakesPawn { view, at } => self.takes_pawn::<I, C>(view, *at, sink, buffer),
            Exit::Takes { view, victim } => self.takes::<I, C>(view, *victim, sink, buffer),
        }
    }

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
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let axes = self.axes(usize::MAX, Some(context.lane_mover()));
        let len = context.rows() * 64;
        let plain = room(&mut buffer.first, len);
        let placed = self.placed(None);
        if jumped.is_some_and(|s| self.block.frame.fixed >> s & 1 != 0) {
            return;
        }
        fetch_view::<C>(view, context.tables, &placed, axes.as_slice(), plain);
        let (rows, _) = plain.as_chunks::<64>();
        let frame = self.block.frame;
        for (row, new) in rows.iter().enumerate() {
            let allowed = match jumped {
                None => u64::MAX,
                Some(s) if frame.others(row, usize::MAX) >> s & 1 != 0 => continue,
                Some(s) => !(1 << s),
            };
            sink.row(row, new, allowed);
        }
    }

    #[inline(always)]
    fn pawn_takes<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        victim: usize,
        at: u8,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let placed = self.placed(None);
        if victim == context.lane_mover() {
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, context.tables, &placed, axes.as_slice(), new);
            for (row, &new) in new.iter().enumerate() {
                sink.one(row, at, new);
            }
        } else {
            let i = victim - context.outer;
            let axes = self.axes(i, Some(context.lane_mover()));
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, context.tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(self.block.frame, rest, i, at);
                sink.row(row, new, u64::MAX);
            }
        }
    }

    #[inline(always)]
    fn takes_pawn<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        at: u8,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        let men = &context.men[side(self.color)];
        for &(i, role) in &men.dims {
            let placed = self.placed(Some((context.mover_of(i), at)));
            let axes = self.axes(i, Some(context.lane_mover()));
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for from in squares(tables.reach[role_index(role)][at as usize & 63]) {
                let between = tables.between[from as usize & 63][at as usize & 63];
                for (rest, new) in rows.iter().enumerate() {
                    let row = insert(frame, rest, i, from);
                    if frame.others(row, i) & between == 0 {
                        sink.row(row, new, !between);
                    }
                }
            }
        }
        if let Some(role) = men.lane {
            let placed = self.placed(Some((context.lane_mover(), at)));
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, tables, &placed, axes.as_slice(), new);
            for (row, &new) in new.iter().enumerate() {
                if new != C::ILLEGAL {
                    let from = tables.attacks(role, at, frame.others(row, usize::MAX));
                    sink.splat(row, new, from);
                }
            }
        }
        if self.king_steps() >> at & 1 != 0 {
            let placed = self.placed(Some((side(self.color), at)));
            let axes = self.axes(usize::MAX, Some(context.lane_mover()));
            let new = room(&mut buffer.first, context.rows() * 64);
            fetch_view::<C>(view, tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (row, new) in rows.iter().enumerate() {
                sink.row(row, new, u64::MAX);
            }
        }
    }

    #[inline(always)]
    fn takes<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        victim: usize,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        if victim == self.context.lane_mover() {
            self.takes_lane::<I, C>(view, sink, buffer);
        } else {
            self.takes_dimension::<I, C>(view, victim - self.context.outer, sink, buffer);
        }
    }

    #[inline(always)]
    fn takes_lane<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        for &(i, role) in &context.men[side(self.color)].dims {
            // The capturer's new square is the lane's old one, so it takes the lane's place.
            let axes = self.axes(i, Some(context.mover_of(i)));
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, tables, &self.placed(None), axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for row in 0..context.rows() {
                let to = tables.attacks(role, frame.square(row, i), frame.others(row, i));
                sink.row(row, &rows[remove(frame, row, i)], to);
            }
        }
        for to in squares(self.king_steps() & !frame.fixed) {
            let placed = self.placed(Some((side(self.color), to)));
            let axes = self.axes(usize::MAX, None);
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, tables, &placed, axes.as_slice(), new);
            for (row, &new) in new.iter().enumerate() {
                sink.one(row, to, new);
            }
        }
    }

    #[inline(always)]
    fn takes_dimension<I: Isa, C: Code>(
        &self,
        view: &View<'_>,
        j: usize,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        let men = &context.men[side(self.color)];
        let axes = self.axes(j, Some(context.lane_mover()));
        let new = room(&mut buffer.first, context.rows());
        if !men.dims.is_empty() || men.lane.is_some() {
            fetch_view::<C>(view, tables, &self.placed(None), axes.as_slice(), new);
        }
        let (rows, _) = new.as_chunks::<64>();
        for &(i, role) in &men.dims {
            for row in 0..context.rows() {
                let (from, to) = (frame.square(row, i), frame.square(row, j));
                if tables.reach[role_index(role)][from as usize & 63] >> to & 1 == 0 {
                    continue;
                }
                let between = tables.between[from as usize & 63][to as usize & 63];
                if frame.others(row, i) & between != 0 {
                    continue;
                }
                let moved = row - from as usize * frame.stride(i) + to as usize * frame.stride(i);
                sink.row(row, &rows[remove(frame, moved, j)], !between);
            }
        }
        if let Some(role) = men.lane {
            for row in 0..context.rows() {
                let at = frame.square(row, j);
                let code = rows[remove(frame, row, j)][at as usize & 63];
                if code != C::ILLEGAL {
                    let from = tables.attacks(role, at, frame.others(row, j));
                    sink.splat(row, code, from);
                }
            }
        }
        for to in squares(self.king_steps() & !frame.fixed) {
            let placed = self.placed(Some((side(self.color), to)));
            let new = room(&mut buffer.first, context.rows());
            fetch_view::<C>(view, tables, &placed, axes.as_slice(), new);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(frame, rest, j, to);
                sink.row(row, new, u64::MAX);
            }
        }
    }
}
