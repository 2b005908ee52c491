//! What a run tells of itself, and what it is asked: how far it is, whether to stop, what to save.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use hoffman_board::Color;
use hoffman_space::{PawnSquares, SliceValues};

/// What one pass decided in one block of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    /// The side to move.
    pub turn: Color,
    /// Whether that side wins.
    pub won: bool,
    /// In how many moves.
    pub moves: u16,
    /// The number of the block.
    pub block: u32,
    /// The rows of the block in which something was decided, in ascending order.
    pub rows: &'a [u32],
    /// The positions of each of these rows; none is empty.
    pub masks: &'a [u64],
}

impl Decided<'_> {
    /// Whether a pass can have decided that in a block in which so much was open.
    pub(crate) fn fits(&self, open: &[u64]) -> bool {
        let is_open = |(&row, &mask): (&u32, &u64)| {
            mask != 0 && open.get(row as usize).is_some_and(|open| mask & !open == 0)
        };
        self.rows.is_sorted_by(|a, b| a < b)
            && self.rows.len() == self.masks.len()
            && self.rows.iter().zip(self.masks).all(is_open)
    }
}

/// What one pass did in a slice.
#[derive(Clone, Copy, Debug)]
pub struct PassReport {
    /// The pawns of the slice.
    pub pawns: PawnSquares,
    /// Whether it looked for wins of the side to move, else for its losses.
    pub won: bool,
    /// In how many moves.
    pub moves: u16,
    /// How many positions it decided, with either side to move; like men are told apart.
    pub positions: u64,
    /// How long it took.
    pub time: Duration,
}

/// Takes what passes decided.
pub type TakeDecided<'t> = dyn FnMut(Decided<'_>) -> io::Result<()> + 't;

/// Told by the solver how far it is, and asked whether to go on; from any thread. Every function
/// without arguments is one that is told of solved slices and never stops.
pub trait Monitor: Sync {
    /// A slice is solved.
    fn slice(&self, pawns: PawnSquares, values: &Arc<SliceValues>);

    /// A slice begins to look for what is won or lost in so many moves.
    fn pass(&self, moves: u16) {
        let _ = moves;
    }

    /// A pass is over.
    fn passed(&self, report: &PassReport) {
        let _ = report;
    }

    /// Whether to stop; asked before every slice and every pass.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Whether [`Monitor::save_passes`] is wanted now; asked between passes. `work` is how long
    /// those took that are not saved.
    fn saves_passes(&self, work: Duration) -> bool {
        let _ = work;
        false
    }

    /// Saves what the passes of a slice for so many moves decided, all of which `show` shows. It
    /// goes on where the last saved ones end, or starts anew. Returns whether it is saved.
    fn save_passes(
        &self,
        pawns: PawnSquares,
        moves: RangeInclusive<u16>,
        show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    ) -> bool {
        let _ = (pawns, moves, show);
        false
    }

    /// The number of moves of the last saved pass of a slice.
    fn saved_passes(&self, pawns: PawnSquares) -> Option<u16> {
        let _ = pawns;
        None
    }

    /// Shows `take` all that was saved of a slice, the passes in order; no block has more than
    /// `rows` rows. Returns whether all of it could be read and was taken; if not the slice is
    /// solved anew.
    fn restore_passes(&self, pawns: PawnSquares, rows: usize, take: &mut TakeDecided<'_>) -> bool {
        let _ = (pawns, rows, take);
        false
    }
}

impl<F: Fn() + Sync> Monitor for F {
    fn slice(&self, _pawns: PawnSquares, _values: &Arc<SliceValues>) {
        self();
    }
}
