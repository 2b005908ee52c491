//! The moves by an exit, found for whole rows.
//!
//! What is behind an exit is read row by row; then every row that the moves start from is shown to
//! a [`Sink`] with the (negated) codes of the row that they lead to. A code of 0 there, an illegal
//! position, means that the move does not exist, so no exit needs a test of legality of its own.

use hoffman_board::{Bitboard, Color, Role, Square};
use hoffman_space::Code;

use crate::blocks::Block;
use crate::context::Context;
use crate::exits::Exit;
use crate::kernels::dense::Frame;
use crate::kernels::isa::{Isa, Row, equal_mask};
use crate::kernels::tables::squares;
use crate::passes::BlockTask;
use crate::steps::Way;
use crate::target::{Axes, ExitTarget, Placed, Reading};
use crate::view::Section;

/// What is done with the moves found: every call is one move in each of the marked positions of a
/// row.
pub(crate) trait Sink<C: Code> {
    /// The moves are worth `codes`.
    fn row(&mut self, row: usize, codes: &Row<C>, mask: u64);
    /// The moves are all worth `code`.
    fn splat(&mut self, row: usize, code: C, mask: u64);
    /// The move of one position.
    fn one(&mut self, row: usize, lane: u8, code: C);
    /// Whether [`Sink::column`] is there for it.
    const BY_COLUMNS: bool = false;
    /// The moves of one lane in the marked ones of 64 rows, none of them illegal.
    fn column(&mut self, first: usize, lane: u8, marked: u64) {
        let _ = (first, lane, marked);
    }
}

/// Room for the views of one block, reused from block to block.
pub(crate) struct Buffer<C> {
    first: Vec<C>,
    spare: Vec<C>,
}

impl<C: Code> Buffer<C> {
    pub(crate) fn new() -> Buffer<C> {
        Buffer { first: Vec::new(), spare: Vec::new() }
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

/// Finds the moves of one side from the positions of a block.
pub(crate) struct ExitMoves<'a> {
    context: &'a Context<'a>,
    block: &'a Block,
    color: Color,
    reading: Reading,
}

impl<'a> ExitMoves<'a> {
    #[inline(always)]
    pub(crate) fn new(task: BlockTask<'a>, reading: Reading) -> ExitMoves<'a> {
        ExitMoves { context: task.context, block: task.block(), color: task.color, reading }
    }

    #[inline(always)]
    pub(crate) fn exit<I: Isa, C: Code>(
        &self,
        exit: &Exit<'_>,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        self.way::<I, C>(exit.way, &exit.target, sink, buffer);
    }

    #[inline(always)]
    pub(crate) fn way<I: Isa, C: Code>(
        &self,
        way: Way,
        target: &ExitTarget<'_>,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let outer = self.context.outer;
        match way {
            Way::Whole { jumped } => self.whole::<I, C>(target, jumped, sink, buffer),
            Way::PawnTakes { victim, at } if victim < outer => {
                if self.block.outer[victim] == u8::from(at) {
                    self.whole::<I, C>(target, None, sink, buffer);
                }
            }
            Way::PawnTakes { victim, at } => {
                self.pawn_takes::<I, C>(target, victim, u8::from(at), sink, buffer);
            }
            Way::GoesTo { at, takers } => {
                self.goes_to::<I, C, _>(target, u8::from(at), takers, sink, buffer);
            }
            Way::Takes { victim, takers } if victim < outer => {
                let at = self.block.outer[victim];
                self.goes_to::<I, C, _>(target, at, takers, sink, buffer);
            }
            Way::Takes { victim, takers } if victim == self.context.lane_mover() => {
                self.takes_lane::<I, C>(target, takers, sink, buffer);
            }
            Way::Takes { victim, takers } => {
                self.takes_dimension::<I, C>(target, victim - outer, takers, sink, buffer);
            }
        }
    }

    /// Reads what is behind the exit into `len` places.
    #[inline(always)]
    fn fetch<'b, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        placed: &Placed,
        axes: &Axes,
        len: usize,
        buffer: &'b mut Buffer<C>,
    ) -> &'b [C] {
        let Buffer { first, spare } = buffer;
        let out = room(first, len);
        let section = Section { tables: self.context.tables, placed, axes };
        target.fetch::<C>(section, self.reading, out, spare);
        out
    }

    /// The block's dimensions except one, and the lane or another mover last.
    #[inline(always)]
    fn axes(&self, without: usize, last: Option<usize>) -> Axes {
        let dims = (0..self.context.dims).filter(|&i| i != without);
        dims.map(|i| self.context.mover_of(i)).chain(last).collect()
    }

    /// The outer men where they stand, one man somewhere else.
    #[inline(always)]
    fn placed(&self, moved: Option<(usize, u8)>) -> Placed {
        let mut placed: Placed = self.block.outer.iter().copied().enumerate().collect();
        match moved {
            Some((man, at)) if man < placed.len() => placed[man].1 = at,
            Some(man) => placed.push(man),
            None => {}
        }
        placed
    }

    /// The outer men of this side among `takers`: mover, the squares that they attack past the
    /// fixed men, and where they stand.
    #[inline(always)]
    fn outer_takers(&self, takers: u32) -> impl Iterator<Item = (usize, u64, u8)> {
        let men = self.context.men[self.color].outer.iter();
        men.filter(move |(m, _)| takers >> m & 1 != 0).map(|&(m, role)| {
            let from = self.block.outer[m];
            (m, self.context.tables.attacks(role, from, self.block.frame.fixed), from)
        })
    }

    /// The captures of inner men by those outer men: who takes on which square, and the squares in
    /// between.
    #[inline(always)]
    fn outer_captures(&self, takers: u32) -> impl Iterator<Item = ((usize, u8), u64)> {
        self.outer_takers(takers).flat_map(move |(man, attacked, from)| {
            squares(attacked & !self.block.frame.fixed)
                .map(move |to| ((man, to), self.context.tables.between(from, to)))
        })
    }

    /// The dimensions of this side's men among `takers`.
    #[inline(always)]
    fn dim_takers(&self, takers: u32) -> impl Iterator<Item = (usize, Role)> {
        let men = self.context.men[self.color].dims.iter().copied();
        men.filter(move |&(i, _)| takers >> self.context.mover_of(i) & 1 != 0)
    }

    /// The lane man's role, if it is among `takers`.
    #[inline(always)]
    fn lane_taker(&self, takers: u32) -> Option<Role> {
        let taking = takers >> self.context.lane_mover() & 1 != 0;
        self.context.men[self.color].lane.filter(|_| taking)
    }

    #[inline(always)]
    pub(crate) fn whole<I: Isa, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        jumped: Option<Square>,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let jumped = jumped.map_or(0, |square| Bitboard::from_square(square).0);
        if self.block.frame.fixed & jumped == 0 {
            self.over_empty::<C>(target, (&self.placed(None), jumped), sink, buffer);
        }
    }

    /// The move is the same everywhere, the outer men standing on `placed` then; no man may stand
    /// on the squares of `empty`.
    #[inline(always)]
    fn over_empty<C: Code>(
        &self,
        target: &ExitTarget<'_>,
        (placed, empty): (&Placed, u64),
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let axes = self.axes(usize::MAX, Some(context.lane_mover()));
        let new = self.fetch(target, placed, &axes, context.rows() * 64, buffer);
        let (rows, _) = new.as_chunks::<64>();
        for (row, new) in rows.iter().enumerate() {
            if self.is_free(row, usize::MAX, empty) {
                sink.row(row, new, !empty);
            }
        }
    }

    /// Whether no man of a row but that of dimension `i` and the lane stands on some squares.
    #[inline(always)]
    fn is_free(&self, row: usize, i: usize, empty: u64) -> bool {
        empty == 0 || self.block.frame.others(row, i) & empty == 0
    }

    #[inline(always)]
    fn pawn_takes<I: Isa, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        victim: usize,
        at: u8,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        if self.block.frame.fixed >> at & 1 != 0 {
            return;
        }
        let placed = self.placed(None);
        if victim == context.lane_mover() {
            let axes = self.axes(usize::MAX, None);
            let new = self.fetch(target, &placed, &axes, context.rows(), buffer);
            for (row, &new) in new.iter().enumerate() {
                sink.one(row, at, new);
            }
        } else {
            let i = victim - context.outer;
            let axes = self.axes(i, Some(context.lane_mover()));
            let new = self.fetch(target, &placed, &axes, context.rows(), buffer);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(self.block.frame, rest, i, at);
                sink.row(row, new, u64::MAX);
            }
        }
    }

    #[inline(always)]
    fn goes_to<I: Isa, C: Code, S: Sink<C>>(
        &self,
        target: &ExitTarget<'_>,
        at: u8,
        takers: u32,
        sink: &mut S,
        buffer: &mut Buffer<C>,
    ) {
        for (i, role) in self.dim_takers(takers) {
            self.dimension_goes_to::<I, C>(target, at, (i, role), sink, buffer);
        }
        if let Some(role) = self.lane_taker(takers) {
            self.lane_goes_to::<I, C, S>(target, at, role, sink, buffer);
        }
        for (man, attacked, from) in self.outer_takers(takers) {
            if attacked >> at & 1 != 0 {
                let between = self.context.tables.between(from, at);
                let placed = self.placed(Some((man, at)));
                self.over_empty::<C>(target, (&placed, between), sink, buffer);
            }
        }
    }

    /// The man of dimension `i` goes to `at`.
    #[inline(always)]
    fn dimension_goes_to<I: Isa, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        at: u8,
        (i, role): (usize, Role),
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let (context, frame) = (self.context, self.block.frame);
        let mover = context.mover_of(i);
        let axes = self.axes(i, Some(context.lane_mover()));
        let new =
            self.fetch(target, &self.placed(Some((mover, at))), &axes, context.rows(), buffer);
        let (rows, _) = new.as_chunks::<64>();

        // The rows behind the move that have any value, with the others' squares.
        let mut met: Vec<(usize, u64, &Row<C>)> = Vec::new();
        for (rest, new) in rows.iter().enumerate() {
            if equal_mask::<I, C>(new, C::ILLEGAL) != u64::MAX {
                let row = insert(frame, rest, i, 0);
                met.push((row, frame.others(row, i), new));
            }
        }

        let from = context.tables.reach(role, at);
        for from in squares(from & context.layout.movers()[mover].squares) {
            let between = context.tables.between(from, at);
            for &(row, others, new) in &met {
                if others & between == 0 {
                    sink.row(row + from as usize * frame.stride(i), new, !between);
                }
            }
        }
    }

    /// The lane man goes to `at`.
    #[inline(always)]
    fn lane_goes_to<I: Isa, C: Code, S: Sink<C>>(
        &self,
        target: &ExitTarget<'_>,
        at: u8,
        role: Role,
        sink: &mut S,
        buffer: &mut Buffer<C>,
    ) {
        let (context, tables, frame) = (self.context, self.context.tables, self.block.frame);
        let placed = self.placed(Some((context.lane_mover(), at)));
        let axes = self.axes(usize::MAX, None);
        let new = self.fetch(target, &placed, &axes, context.rows(), buffer);
        let (chunks, one) = new.as_chunks::<64>();
        let reach = tables.reach(role, at) & context.lane_squares();

        for (chunk, codes) in chunks.iter().enumerate() {
            let found = !equal_mask::<I, C>(codes, C::ILLEGAL);
            if found == 0 {
                continue;
            }
            let first = chunk * 64;
            if S::BY_COLUMNS {
                // The man of the last dimension goes along the 64 rows, all others stand.
                let others = frame.others(first, frame.dims - 1);
                for from in squares(reach) {
                    let between = tables.between(from, at);
                    if others & between == 0 {
                        sink.column(first, from, found & !between);
                    }
                }
                continue;
            }
            for k in squares(found) {
                let row = first + k as usize;
                let from = tables.attacks(role, at, frame.others(row, usize::MAX));
                sink.splat(row, codes[k as usize & 63], from);
            }
        }

        if let Some(&code) = one.first().filter(|&&code| code != C::ILLEGAL) {
            sink.splat(0, code, tables.attacks(role, at, frame.fixed));
        }
    }

    #[inline(always)]
    fn takes_lane<I: Isa, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        takers: u32,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;

        for (i, role) in self.dim_takers(takers) {
            // The capturer's new square is the lane's old one, so it takes the lane's place.
            let axes = self.axes(i, Some(context.mover_of(i)));
            let new = self.fetch(target, &self.placed(None), &axes, context.rows(), buffer);
            let (rows, _) = new.as_chunks::<64>();
            for row in 0..context.rows() {
                let to = tables.attacks(role, frame.square(row, i), frame.others(row, i));
                sink.row(row, &rows[remove(frame, row, i)], to);
            }
        }

        for ((man, to), between) in self.outer_captures(takers) {
            let placed = self.placed(Some((man, to)));
            let axes = self.axes(usize::MAX, None);
            let new = self.fetch(target, &placed, &axes, context.rows(), buffer);
            for (row, &new) in new.iter().enumerate() {
                if self.is_free(row, usize::MAX, between) {
                    sink.one(row, to, new);
                }
            }
        }
    }

    #[inline(always)]
    fn takes_dimension<I: Isa, C: Code>(
        &self,
        target: &ExitTarget<'_>,
        j: usize,
        takers: u32,
        sink: &mut impl Sink<C>,
        buffer: &mut Buffer<C>,
    ) {
        let context = self.context;
        let tables = context.tables;
        let frame = self.block.frame;
        let axes = self.axes(j, Some(context.lane_mover()));
        let lane = self.lane_taker(takers);
        if lane.is_some() || self.dim_takers(takers).next().is_some() {
            let new = self.fetch(target, &self.placed(None), &axes, context.rows(), buffer);
            let (rows, _) = new.as_chunks::<64>();
            for (i, role) in self.dim_takers(takers) {
                for row in 0..context.rows() {
                    let (from, to) = (frame.square(row, i), frame.square(row, j));
                    if tables.reach(role, from) >> to & 1 == 0 {
                        continue;
                    }
                    let between = tables.between(from, to);
                    if frame.others(row, i) & between != 0 {
                        continue;
                    }
                    let stride = frame.stride(i);
                    let moved = row - from as usize * stride + to as usize * stride;
                    sink.row(row, &rows[remove(frame, moved, j)], !between);
                }
            }
            if let Some(role) = lane {
                for row in 0..context.rows() {
                    let at = frame.square(row, j);
                    let code = rows[remove(frame, row, j)][at as usize & 63];
                    if code != C::ILLEGAL {
                        let from = tables.attacks(role, at, frame.others(row, j));
                        sink.splat(row, code, from);
                    }
                }
            }
        }

        for ((man, to), between) in self.outer_captures(takers) {
            let placed = self.placed(Some((man, to)));
            let new = self.fetch(target, &placed, &axes, context.rows(), buffer);
            let (rows, _) = new.as_chunks::<64>();
            for (rest, new) in rows.iter().enumerate() {
                let row = insert(frame, rest, j, to);
                if self.is_free(row, j, between) {
                    sink.row(row, new, !between);
                }
            }
        }
    }
}
