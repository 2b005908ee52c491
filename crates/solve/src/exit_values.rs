//! What exits are worth and how many there are: sinks for their moves.

use std::marker::PhantomData;

use hoffman_space::Code;

use crate::exit_events::Sorting;
use crate::exit_moves::{Buffer, ExitMoves, Sink};
use crate::exits::{Counted, Exit};
use crate::kernels::isa::{Isa, Portable, Row, equal_mask, raise, raise_to};
use crate::passes::BlockTask;
use crate::steps::Way;
use crate::target::{ExitTarget, Reading};

/// Room for evaluating exits, one a thread and width of code.
pub(crate) struct ExitRoom<C> {
    pub(crate) best: Vec<C>,
    pub(crate) buffer: Buffer<C>,
    pub(crate) sorting: Sorting,
}

impl<C: Code> ExitRoom<C> {
    pub(crate) fn new() -> ExitRoom<C> {
        ExitRoom { best: Vec::new(), buffer: Buffer::new(), sorting: Sorting::default() }
    }
}

/// Keeps the best move of every position.
struct BestMoves<'a, C, I> {
    best: &'a mut [Row<C>],
    isa: PhantomData<I>,
}

impl<'a, C: Code, I> BestMoves<'a, C, I> {
    /// No position has a move.
    #[inline(always)]
    fn none(best: &'a mut [C]) -> BestMoves<'a, C, I> {
        best.fill(C::ILLEGAL);
        BestMoves { best: best.as_chunks_mut().0, isa: PhantomData }
    }
}

impl<C: Code, I: Isa> Sink<C> for BestMoves<'_, C, I> {
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
struct MoveCount<'a, I> {
    positions: &'a [u64],
    count: u64,
    isa: PhantomData<I>,
}

impl<C: Code, I: Isa> Sink<C> for MoveCount<'_, I> {
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

    const BY_COLUMNS: bool = true;

    #[inline(always)]
    fn column(&mut self, first: usize, lane: u8, marked: u64) {
        let Some(rows) = self.positions[first..].first_chunk::<64>() else { return };
        let mut column = 0;
        for k in 0..64 {
            column |= (rows[k] >> (lane & 63) & 1) << k;
        }
        self.count += u64::from((column & marked).count_ones());
    }
}

/// The best of some en passant captures for every position of a block:
/// `best[row * 64 + lane]`, 0 where there is none.
#[inline(always)]
pub(crate) fn captures_of<I: Isa, C: Code>(
    task: BlockTask<'_>,
    captures: &[ExitTarget<'_>],
    reading: Reading,
    best: &mut [C],
    buffer: &mut Buffer<C>,
) {
    let mut sink = BestMoves::<C, I>::none(best);
    let evaluation = ExitMoves::new(task, reading);
    for target in captures {
        evaluation.whole::<I, C>(target, None, &mut sink, buffer);
    }
}

/// The best of the wanted exits of every position of a block: `best[row * 64 + lane]`, 0 where
/// there is none.
#[inline(always)]
pub(crate) fn evaluate<I: Isa, C: Code>(
    task: BlockTask<'_>,
    exits: &[Exit<'_>],
    wanted: impl Fn(&Exit<'_>) -> bool,
    reading: Reading,
    best: &mut [C],
    buffer: &mut Buffer<C>,
) {
    let mut sink = BestMoves::<C, I>::none(best);
    let evaluation = ExitMoves::new(task, reading);
    for exit in exits.iter().filter(|exit| wanted(exit)) {
        evaluation.exit::<I, C>(exit, &mut sink, buffer);
    }
}

/// The number of legal moves by an exit, over the marked positions of a block.
#[inline(always)]
pub(crate) fn count<I: Isa, C: Code>(
    task: BlockTask<'_>,
    exit: &Exit<'_>,
    positions: &[u64],
    buffer: &mut Buffer<C>,
) -> u64 {
    let mut sink = MoveCount::<I> { positions, count: 0, isa: PhantomData };
    let evaluation = ExitMoves::new(task, Reading::Legality);
    evaluation.exit::<I, C>(exit, &mut sink, buffer);
    sink.count
}

/// The positions of a block in which an exit can be made that decides them at once.
pub(crate) fn decided(
    task: BlockTask<'_>,
    exits: &[Exit<'_>],
    buffer: &mut Buffer<u8>,
) -> Vec<u64> {
    let mut best = vec![0; task.context.rows() * 64];
    let wanted = |exit: &Exit<'_>| exit.counted == Counted::Deciding;
    let reading = Reading::Legality;
    evaluate::<Portable, u8>(task, exits, wanted, reading, &mut best, buffer);
    let (rows, _) = best.as_chunks::<64>();
    rows.iter().map(|row| !equal_mask::<Portable, u8>(row, 0)).collect()
}

/// The positions of a block with a discarded move that spares them mate and stalemate.
pub(crate) fn spared_block<C: Code>(
    task: BlockTask<'_>,
    exits: &[Exit<'_>],
    room: &mut ExitRoom<C>,
) -> Vec<u64> {
    let ExitRoom { best, buffer, .. } = room;
    let mut spared_by = |captures: bool| {
        best.resize(task.context.rows() * 64, C::ILLEGAL);
        let wanted = |exit: &Exit<'_>| exit.target.may_spare() && exit.is_capture() == captures;
        evaluate::<Portable, C>(task, exits, wanted, Reading::Spared, best, buffer);
        let (rows, _) = best.as_chunks::<64>();
        let spared = rows.iter().map(|row| !equal_mask::<Portable, C>(row, C::ILLEGAL));
        spared.collect::<Vec<u64>>()
    };
    let mut spared = spared_by(true);
    for (row, (spared, quiet)) in spared.iter_mut().zip(spared_by(false)).enumerate() {
        *spared |= quiet & task.quiet(row);
    }
    spared
}

/// The positions of a block in which an exit can be made of which `reading` tells something, as a
/// set a row.
pub(crate) fn positions_with(
    task: BlockTask<'_>,
    (way, target, reading): (Way, &ExitTarget<'_>, Reading),
    buffer: &mut Buffer<u8>,
) -> Vec<u64> {
    let mut best = vec![0; task.context.rows() * 64];
    let mut sink = BestMoves::<u8, Portable>::none(&mut best);
    let evaluation = ExitMoves::new(task, reading);
    evaluation.way::<Portable, u8>(way, target, &mut sink, buffer);
    sink.best.iter().map(|codes| !equal_mask::<Portable, u8>(codes, u8::ILLEGAL)).collect()
}

/// The number of legal moves to `captures`, en passant captures by a right, over the marked
/// positions of a block.
#[inline(always)]
pub(crate) fn count_captures<I: Isa, C: Code>(
    task: BlockTask<'_>,
    captures: &[ExitTarget<'_>],
    positions: &[u64],
    room: &mut ExitRoom<C>,
) -> u64 {
    let mut sink = MoveCount::<I> { positions, count: 0, isa: PhantomData };
    let evaluation = ExitMoves::new(task, Reading::Legality);
    for target in captures {
        evaluation.whole::<I, C>(target, None, &mut sink, &mut room.buffer);
    }
    sink.count
}

#[cfg(test)]
mod tests {
    use hoffman_board::shakmaty::{Chess, Move, Position as _};
    use hoffman_board::{Color, Square};
    use hoffman_space::TableValues;

    use super::*;
    use crate::context::Context;
    use crate::for_tests::{Men, Random, men_of, position, solved_behind, value, written};
    use crate::table_solver::{Tables, problem};

    /// Whether a move leaves a slice.
    fn leaves(played: Move) -> bool {
        played.is_capture() || played.is_promotion() || played.role() == hoffman_board::Role::Pawn
    }

    /// What the move is worth, as the table of the position behind it says; none inside the
    /// ending.
    fn worth(tables: &Tables, position: &Chess, played: Move) -> Option<u8> {
        let behind = position.clone().play(played).unwrap();
        let men = men_of(&behind);
        let material = hoffman_board::Material::from_men(men.iter().map(|m| (m.0, m.1)));
        let (normal, swapped) = material.normalized();
        let value = value(tables.get(&normal)?, swapped, &men, behind.turn());
        Some(u8::from_value(value).negate())
    }

    /// Compares the best exits of some positions of an ending's slice with all legal moves there.
    fn check(table: &TableValues, tables: &Tables) {
        let pawns = *table.slices.keys().min().unwrap();
        let context = Context::new(&table.layout, pawns);
        let problem = problem(context, table, tables, false).unwrap();
        let context = &problem.context;
        let (mut random, mut room) = (Random(3), ExitRoom::<u8>::new());
        let mut found = 0;
        for color in Color::ALL.into_iter().cycle().take(40) {
            let number = random.below(context.blocks.len() as u64) as usize;
            let task = BlockTask { context, number, color, must_capture: &[] };
            let ExitRoom { best, buffer, .. } = &mut room;
            best.resize(context.rows() * 64, 0);
            let exits = &problem.exits[color];
            evaluate::<Portable, u8>(task, exits, |_| true, Reading::Worth, best, buffer);

            for _ in 0..400 {
                let row = random.below(context.rows() as u64) as usize;
                let lane = random.below(64) as u8;
                let men: Men = context.men_at(task.block(), row, Square::new(u32::from(lane)));
                let Some(position) = position(&men, color) else { continue };
                let moves = position.legal_moves().into_iter().filter(|&played| leaves(played));
                let expected = moves.filter_map(|played| worth(tables, &position, played)).max();
                let best = best[row * 64 + lane as usize];
                assert_eq!(best, expected.unwrap_or(0), "{}", written(&men, color));
                found += usize::from(best != 0);
            }
        }
        assert!(found > 20, "{}: {found} positions with exits", table.material);
    }

    #[test]
    fn the_best_exit_is_that_of_all_legal_moves() {
        // Outer kings and a lane; blocks without kings; a pawn before its promotion.
        for ending in ["KQRvKN", "KRvKB", "KNvKP"] {
            let (mut table, tables) = solved_behind(ending);
            // Steps of the pawn stay in the ending: one that can only promote will do.
            table.slices.retain(|pawns, _| pawns.black == 0 || pawns.black >> 16 == 0);
            check(&table, &tables);
        }
    }
}
