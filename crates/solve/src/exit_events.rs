//! What the exits of a block decide beforehand: exit wins (positions that win by an exit, in the
//! pass of its distance) and exit losses (positions whose exits all lose, so that nothing holds
//! them from some pass on).

use hoffman_board::Value;
use hoffman_space::Code;

use crate::kernels::isa::{Isa, Row, equal_mask};
use crate::sets::PositionSets;

/// What the exits of one block and side decide.
#[derive(Default)]
pub(crate) struct ExitEvents {
    /// Positions that win by an exit, by the number of moves.
    pub(crate) wins: PositionSets,
    /// Positions all of whose exits lose, by the number of moves that the best one holds out.
    pub(crate) losses: PositionSets,
}

/// Room for sorting events, reused from block to block.
#[derive(Default)]
pub(crate) struct Sorting {
    wins: Vec<(u16, u32, u64)>,
    losses: Vec<(u16, u32, u64)>,
}

/// Splits the best exits of a block into wins, losses and `held`, the positions that have any
/// exit.
#[inline(always)]
pub(crate) fn sort_exits<I: Isa, C: Code>(
    best: &[Row<C>],
    open: &[u64],
    held: &mut [u64],
    sorting: &mut Sorting,
) -> ExitEvents {
    let Sorting { wins, losses } = sorting;
    wins.clear();
    losses.clear();
    for (row, ((best, &open), out)) in best.iter().zip(open).zip(held).enumerate() {
        if open == 0 {
            *out = 0;
            continue;
        }
        let mut rest = open & !equal_mask::<I, C>(best, C::ILLEGAL);
        *out = rest;
        rest &= !equal_mask::<I, C>(best, C::DRAW);
        while rest != 0 {
            let code = best[rest.trailing_zeros() as usize & 63];
            let same = rest & equal_mask::<I, C>(best, code);
            rest &= !same;
            match code.value() {
                Value::Win(moves) => wins.push((moves, row as u32, same)),
                Value::Loss(moves) => losses.push((moves, row as u32, same)),
                Value::Draw | Value::Illegal => {}
            }
        }
    }
    ExitEvents { wins: PositionSets::sorted(wins), losses: PositionSets::sorted(losses) }
}
