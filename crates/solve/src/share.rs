//! A slice without pawns that several processes solve together: which blocks each of them decides,
//! and what they tell each other.
//!
//! Work on a block looks at the open positions and at the newest frontiers of blocks that a king
//! can step to, and at nothing else of others. So who decides some blocks, and is told after every
//! pass what was decided in the blocks around them, computes what one process would that has them
//! all.

use std::io;

use hoffman_board::Color;
use hoffman_space::{Codes, SliceCounts, king_pairs};

use crate::blocks::paired_blocks;
use crate::kernels::tables::tables;
use crate::monitor::TakeDecided;
use crate::options::SolveError;

/// The king pairs, which are the blocks, of one of several processes.
#[derive(Clone, Debug)]
pub struct BlockShare {
    /// Whether it decides a block.
    own: Vec<bool>,
    /// Whether it has to know of one: its own, and those that a king can step to from there.
    seen: Vec<bool>,
}

impl BlockShare {
    /// That of process `number`, counted from 0, of so many. They take the pairs in the order of
    /// the black king, whose steps then mostly stay within a share: shares of an eighth look at a
    /// third of the blocks of others, in the order of the white king it is nearly half.
    pub fn new(number: usize, of: usize) -> BlockShare {
        let blocks = paired_blocks(tables(), 0);
        let pairs = &king_pairs().pairs;
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&n| (pairs[n].1 as u8, pairs[n].0 as u8));

        let bound = |number: usize| number * blocks.len() / of.max(1);
        let mut own = vec![false; blocks.len()];
        for &n in order.get(bound(number)..bound(number + 1)).unwrap_or_default() {
            own[n] = true;
        }
        let mut seen = own.clone();
        for (block, _) in blocks.iter().zip(&own).filter(|&(_, &own)| own) {
            for neighbour in block.neighbours.iter().flatten() {
                seen[neighbour.block as usize] = true;
            }
        }
        BlockShare { own, seen }
    }

    /// Whether the process decides a block.
    pub fn is_own(&self, block: usize) -> bool {
        self.own.get(block).copied().unwrap_or_default()
    }

    /// Whether it has to know what is decided in a block.
    pub fn is_seen(&self, block: usize) -> bool {
        self.seen.get(block).copied().unwrap_or_default()
    }

    /// The number of blocks, its own or not.
    pub fn all(&self) -> usize {
        self.own.len()
    }

    /// How many blocks it decides.
    pub fn own_count(&self) -> usize {
        self.own.iter().filter(|&&own| own).count()
    }

    /// How many blocks it has to know of, its own among them.
    pub fn seen_count(&self) -> usize {
        self.seen.iter().filter(|&&seen| seen).count()
    }
}

/// A pass that the processes do side by side. None begins another one before all have done it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Whether it looked for wins of the side to move, else for its losses.
    pub won: bool,
    /// In how many moves; the mates are lost in none.
    pub moves: u16,
}

impl Round {
    /// The first one, in which the mates are found.
    pub const MATES: Round = Round { won: false, moves: 0 };
}

/// What a round came to, in the blocks of one process or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundSum {
    /// The rows in which something was decided.
    pub rows: u64,
    /// The positions that were decided.
    pub positions: u64,
    /// The largest number of moves for which exits decide something.
    pub ahead: u16,
}

impl RoundSum {
    /// The sum with that of other blocks.
    pub fn with(self, other: RoundSum) -> RoundSum {
        RoundSum {
            rows: self.rows.saturating_add(other.rows),
            positions: self.positions.saturating_add(other.positions),
            ahead: self.ahead.max(other.ahead),
        }
    }
}

/// The processes that solve a slice together, as one of them meets the others. Whoever fails keeps
/// the reason; to the solver all errors are [`SolveError::Stopped`].
pub trait Partners: Sync {
    /// The blocks of this process.
    fn share(&self) -> &BlockShare;

    /// Whether this process has done a round before it was ended and begun again.
    ///
    /// # Errors
    ///
    /// That cannot be found out.
    fn has_done(&self, round: Round) -> Result<bool, SolveError>;

    /// Shows `take` what this process decided in a round that it has done.
    ///
    /// # Errors
    ///
    /// It cannot be read, or `take` does not believe it.
    fn recall(&self, round: Round, take: &mut TakeDecided<'_>) -> Result<(), SolveError>;

    /// Tells the others what this process decided in a round, all of which `show` shows.
    ///
    /// # Errors
    ///
    /// They cannot be told.
    fn publish(
        &self,
        round: Round,
        own: RoundSum,
        show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    ) -> Result<(), SolveError>;

    /// Waits until all have told what they decided in a round, and shows `take` that of the blocks
    /// of others that this process has to know of. What it came to in all blocks.
    ///
    /// # Errors
    ///
    /// Some have told nothing for too long, or what cannot be; the run was asked to stop.
    fn collect(&self, round: Round, take: &mut TakeDecided<'_>) -> Result<RoundSum, SolveError>;
}

/// The values of one side of a block.
#[derive(Debug)]
pub struct BlockValues {
    /// The number of the block.
    pub block: u32,
    /// The side to move.
    pub turn: Color,
    /// Its codes; as wide in all blocks, whoever has decided them.
    pub codes: Codes,
}

/// Takes the values of blocks.
pub type TakeValues<'t> = dyn FnMut(BlockValues) -> Result<(), SolveError> + 't;

/// What is known at the end of a solved share.
#[derive(Clone, Debug)]
pub struct SolvedShare {
    /// Move counts of its blocks, if they were asked for.
    pub counts: Option<SliceCounts>,
    /// The longest win or loss in all blocks, in moves.
    pub max_moves: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_blocks_once_and_see_what_is_around_them() {
        let blocks = paired_blocks(tables(), 0);
        for of in [1, 2, 3, 8, 462] {
            let shares: Vec<BlockShare> =
                (0..of).map(|number| BlockShare::new(number, of)).collect();
            for n in 0..blocks.len() {
                assert_eq!(shares.iter().filter(|share| share.is_own(n)).count(), 1, "{n} of {of}");
            }
            for share in &shares {
                assert!((share.own_count() * of).abs_diff(462) <= of, "{of}");
                for n in (0..blocks.len()).filter(|&n| share.is_own(n)) {
                    let mut around = blocks[n].neighbours.iter().flatten();
                    assert!(around.all(|neighbour| share.is_seen(neighbour.block as usize)));
                }
            }
        }
        let seen = (0..8).map(|number| BlockShare::new(number, 8).seen_count()).max();
        assert_eq!(seen, Some(230));
    }
}
