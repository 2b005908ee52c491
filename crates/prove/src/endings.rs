//! Endings whose values are known beforehand: the leaves of a proof.
//!
//! The values of such an ending are read as a whole, by rows, and then serve as those of the small
//! endings do that are solved as a whole. Slice by slice would be dearer: the places of one slice
//! lie all over a table, so that most of it would be unpacked for each, and a question for every
//! position takes ten times as long as solving the slice. Endings of five men without pawns are
//! solved as a whole where nobody knows them.

use std::sync::Arc;

use hoffman_board::shakmaty::Chess;
use hoffman_board::{Material, Outcome};
use hoffman_solve::{Monitor, SolveError};
use hoffman_space::{PawnSquares, TableValues};

use crate::assumptions::Assumptions;
use crate::key::Key;
use crate::slices::{Slices, Stale, WHOLE};

/// What it takes to read the values of an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingCost {
    /// Bytes of memory while they are read.
    pub bytes: usize,
    /// How many positions are evaluated in the same time.
    pub positions: u64,
}

/// What is known of a single position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedUp {
    /// Its outcome by the rules of chess.
    pub outcome: Outcome,
    /// After how many moves of the winner he has won; none if nobody wins, or that is not known.
    pub moves: Option<u16>,
}

/// Who knows endings. Endings are named with their stronger side White.
pub trait Endings: Send + Sync {
    /// What reading an ending takes; none if it is not known.
    fn reading(&self, ending: &Material) -> Option<ReadingCost>;

    /// The values of all its positions by the rules of chess: the outcomes, and distances where
    /// [`crate::Prover::distance`] is to be asked. None if they cannot be read after all, or if the
    /// reading was stopped.
    fn values(&self, ending: &Material) -> Option<Arc<TableValues>>;

    /// A single position, which takes next to nothing; none if it is not known. Where
    /// [`crate::Prover::distance`] is to be asked the moves are told of each win.
    fn look_up(&self, position: &Chess) -> Option<LookedUp>;
}

/// Reading may take as long as evaluating so many positions, a fraction of a second, and after that
/// as long as all that was evaluated: a proof takes twice the time at the most in which it is found
/// without.
const READ_AT_ONCE: u64 = 50_000_000;

/// How many positions an ending without pawns has for each side to move that is solved as a whole
/// where one of its slices is to be opened: an eighth of those of the slice, which knows no
/// symmetry.
const LEAF_POSITIONS: usize = 462 * 64_usize.pow(WHOLE as u32 - 1);

/// What solving it takes at most, in bytes.
pub(crate) const LEAF_BYTES: usize = 5 * LEAF_POSITIONS;

/// Whether an ending is solved as a whole when one of its slices is to be opened.
pub(crate) fn is_solved_as_leaf(ending: &Material, assumptions: &Assumptions) -> bool {
    ending.men() == WHOLE + 1 && !ending.has_pawns() && !assumptions.concern_pieces()
}

impl Slices {
    /// Takes the values of endings from somebody who knows them.
    pub(crate) fn know(&mut self, endings: Arc<dyn Endings>) {
        self.endings = Some(endings);
    }

    /// What is known of a single position.
    pub(crate) fn look_up(&self, position: &Chess) -> Option<LookedUp> {
        // What is known is chess.
        let endings = self.endings.as_ref().filter(|_| self.assumptions.is_empty())?;
        endings.look_up(position)
    }

    /// What reading the ending of a slice takes, if that is to be done now: there is room for it,
    /// and it takes no longer than the slices that were opened.
    fn reading(&self, ending: &Material) -> Option<ReadingCost> {
        // What is known is chess.
        let endings = self.endings.as_ref().filter(|_| self.assumptions.is_empty())?;
        let reading = endings.reading(ending)?;
        let most = READ_AT_ONCE.saturating_add(self.work);
        let read = self.read.saturating_add(reading.positions);
        (reading.bytes <= self.room && read <= most).then_some(reading)
    }

    /// Whether a slice is not opened, but its whole ending is read.
    pub(crate) fn is_leaf(&self, key: &Key) -> bool {
        self.reading(&key.family.material.normalized().0).is_some()
    }

    /// Reads the values of an ending, if that is to be done now. Whether they are there.
    pub(crate) fn read(
        &mut self,
        material: &Material,
        monitor: &dyn Monitor,
    ) -> Result<bool, SolveError> {
        let ending = material.normalized().0;
        if self.whole.contains_key(&ending) {
            return Ok(true);
        }
        let Some((endings, reading)) = self.endings.clone().zip(self.reading(&ending)) else {
            return Ok(false);
        };
        let values = endings.values(&ending);
        if monitor.is_stopped() {
            return Err(SolveError::Stopped);
        }
        let Some(values) = values else { return Ok(false) };
        debug_assert_eq!(values.material, ending);
        self.bytes += values.bytes();
        self.read += reading.positions;
        self.endings_read.insert(ending);
        self.whole.insert(ending, values);
        Ok(true)
    }

    /// Reads the ending of a slice, if that is to be done now, or solves it as a whole, and notes
    /// the slices from which moves lead there. Whether the slice need not be opened.
    pub(crate) fn take_leaf(
        &mut self,
        key: &Key,
        stale: &mut Stale,
        monitor: &dyn Monitor,
    ) -> Result<bool, SolveError> {
        let ending = key.family.material.normalized().0;
        if self.whole.contains_key(&ending) {
            return Ok(true);
        }
        if !self.read(&ending, monitor)? && !self.solve_leaf(&ending, monitor)? {
            return Ok(false);
        }
        let of_ending = |(key, _): &(&Key, _)| key.family.material.normalized().0 == ending;
        let users = self.users.iter().filter(of_ending).flat_map(|(_, users)| users);
        for user in users.filter(|user| self.is_open(user) && !self.is_exact(user)) {
            stale.add(self.rank(user), *user, [true; 3]);
        }
        Ok(true)
    }

    /// Solves an ending as a whole, if it is one of those and there is room. Whether it was.
    fn solve_leaf(&mut self, ending: &Material, monitor: &dyn Monitor) -> Result<bool, SolveError> {
        if !is_solved_as_leaf(ending, &self.assumptions) || LEAF_BYTES > self.room {
            return Ok(false);
        }
        self.solve_whole(&[*ending], monitor)?;
        self.work += 2 * LEAF_POSITIONS as u64;
        self.endings_solved.insert(*ending);
        Ok(true)
    }

    /// The endings that were solved instead of opening slices of them, as slices, in groups as open
    /// ones.
    pub(crate) fn solved_leaves(&self) -> Vec<Vec<Key>> {
        let key = |ending: &Material| Key::of(*ending, PawnSquares::default());
        self.groups(self.endings_solved.iter().map(key))
    }

    /// Whether values were taken from somebody who knew them.
    pub(crate) fn has_read(&self) -> bool {
        !self.endings_read.is_empty()
    }
}
