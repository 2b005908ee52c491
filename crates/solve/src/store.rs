//! Where the planes, logs and exit events of a slice being solved lie: in memory
//! ([`crate::memory_store`]) or in pages ([`crate::paged_store`]).
//!
//! Everything is kept by blocks. A store hands the parts of a block to the work on it, and says
//! how blocks are shared between threads.

use std::io;
use std::ops::RangeInclusive;

use hoffman_board::{ByColor, Color};

use crate::blocks::Block;
use crate::nearby::{Frontiers, LoadedPlane, LoadedSet, Planes};
use crate::sets::{Log, PositionSet, PositionSets};

/// A store, which makes planes, logs and exit events and lets blocks be worked on.
pub(crate) trait Store: Sync {
    type Plane: PlaneStore;
    type Logs: LogStore;
    type Events: EventStore;

    /// A plane in which anything may stand, to be written before it is read.
    fn work_plane(&self) -> Self::Plane;
    /// A plane of zeros; without words if it is not needed.
    fn plane_if(&self, needed: bool) -> Self::Plane;
    /// Logs in which nothing is decided.
    fn logs(&self) -> Self::Logs;
    /// No events.
    fn events(&self) -> Self::Events;

    /// Takes what is not needed any more.
    fn keep(
        &self,
        planes: impl IntoIterator<Item = Self::Plane>,
        logs: impl IntoIterator<Item = Self::Logs>,
    );

    /// Lets `work` write the parts of some planes that were just made, `share` blocks after each
    /// other; what it returns, block by block.
    fn write<const N: usize, R: Send>(
        &self,
        share: usize,
        planes: [&mut Self::Plane; N],
        work: impl Fn(usize, [&mut [u64]; N]) -> R + Sync,
    ) -> Vec<R>;

    /// Does the work of a pass of both sides on the blocks that are wanted. `work` writes a log;
    /// it may change some planes, and says whether it did.
    fn pass<const N: usize>(
        &self,
        pass: Pass,
        planes: ByColor<[&mut Self::Plane; N]>,
        logs: &mut ByColor<Self::Logs>,
        wanted: impl Fn(Color, usize) -> bool + Sync,
        work: impl Fn(Color, usize, [&mut [u64]; N], &mut Log) -> bool + Sync,
    );
}

/// A pass over the blocks.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// The number of moves.
    pub(crate) moves: u16,
    /// How many blocks a thread takes at once in memory.
    pub(crate) share: usize,
}

/// One side's plane. One that is left out has no words.
pub(crate) trait PlaneStore: Send + Sync {
    /// A block's part.
    fn block(&self, n: usize) -> LoadedPlane<'_>;
    /// That, and the parts of the blocks where the men of `color` can go from there.
    fn around(&self, n: usize, block: &Block, color: Color) -> Planes<'_>;
    /// Lets `f` change a block's part; `f` says whether it did.
    fn change(&mut self, n: usize, f: impl FnOnce(&mut [u64]) -> bool);
}

/// One side's logs.
pub(crate) trait LogStore: Send + Sync {
    /// Whether the newest pass decided anything in a block.
    fn is_waiting(&self, n: usize) -> bool;
    /// What it decided there, as a list.
    fn newest(&self, n: usize) -> LoadedSet<'_>;
    /// What it decided there and in the blocks where the men of `color` can go from there.
    fn around(&self, n: usize, block: &Block, color: Color) -> Frontiers<'_>;
    /// The number of rows in which it decided anything.
    fn waiting(&self) -> usize;
    /// The number of positions that it decided.
    fn decided(&self) -> u64;

    /// Shows `take` what some passes decided in a block, with the number of moves.
    fn replay(
        &self,
        n: usize,
        passes: &RangeInclusive<u16>,
        take: impl FnMut(u16, PositionSet<'_>) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Whether a pass of so many moves may add to a block, which may not be there.
    fn can_take(&self, n: usize, moves: u16) -> bool;
    /// Adds what a pass decided in a block, and lets it wait for the next one if it is the newest.
    fn take(&mut self, n: usize, moves: u16, decided: PositionSet<'_>, newest: bool);
    /// Forgets what was decided in a block.
    fn forget(&mut self, n: usize);
    /// Lets nothing wait any more.
    fn begin(&mut self);
    /// Forgets, where that saves memory, which pass decided what, but for the newest one; passes
    /// of fewer than `unsaved` moves are not mixed with the others. Pages, which make no use of
    /// it, forget nothing.
    fn join_passes(&mut self, _unsaved: u16) {}

    /// Whether the newest pass decided anything in a block or where the men of `color` can go from
    /// there.
    fn reaches(&self, n: usize, block: &Block, color: Color) -> bool {
        let mut neighbours = block.neighbours[color].iter();
        self.is_waiting(n) || neighbours.any(|neighbour| self.is_waiting(neighbour.block as usize))
    }
}

/// What the exits of one side decide.
pub(crate) trait EventStore: Send + Sync {
    /// What is kept of a block.
    type Kept: Send;

    /// Keeps the events of a block.
    fn keep(&self, events: PositionSets) -> Self::Kept;
    /// Takes what was kept of all blocks.
    fn fill(&mut self, all: Vec<Self::Kept>);
    /// Whether there are events of a number of moves in a block.
    fn has(&self, n: usize, moves: u16) -> bool;
    /// These events.
    fn of(&self, n: usize, moves: u16) -> LoadedSet<'_>;
    /// The largest number of moves that has events.
    fn last(&self) -> u16;
    /// Adds positions of a block to those of one move.
    fn add(&mut self, n: usize, positions: &[u64]);
}
