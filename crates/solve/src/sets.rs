//! Sets of positions of a block, by rows and by moves.
//!
//! A log records which positions of a block were decided in which pass; its newest set is the
//! frontier that the next pass starts from, and the whole log is replayed at the end to write the
//! values.

/// A set of positions of a block by rows: what a pass decided, which the next one starts from, or
/// what falls due.
#[derive(Clone, Copy)]
pub(crate) struct PositionSet<'a> {
    rows: &'a [u32],
    masks: &'a [u64],
    plane: Option<&'a [u64]>,
}

impl<'a> PositionSet<'a> {
    pub(crate) const EMPTY: PositionSet<'static> =
        PositionSet { rows: &[], masks: &[], plane: None };

    /// As many rows as masks, the same as a plane if that is given.
    pub(crate) fn new(
        rows: &'a [u32],
        masks: &'a [u64],
        plane: Option<&'a [u64]>,
    ) -> PositionSet<'a> {
        PositionSet { rows, masks, plane }
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &'a [u32] {
        self.rows
    }

    /// The positions in each row.
    pub(crate) fn masks(&self) -> &'a [u64] {
        self.masks
    }

    /// Rows and the positions in them.
    pub(crate) fn iter(self) -> impl Iterator<Item = (usize, u64)> + use<'a> {
        self.rows.iter().map(|&r| r as usize).zip(self.masks.iter().copied())
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The same as a plane, if it was long enough for one.
    pub(crate) fn plane(&self) -> Option<&'a [u64]> {
        self.plane
    }

    /// Takes the positions away from a plane.
    #[inline(always)]
    pub(crate) fn leave(self, plane: &mut [u64]) {
        for (row, mask) in self.iter() {
            plane[row] &= !mask;
        }
    }
}

/// The rows of a plane with positions in them.
pub(crate) fn marked(plane: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    plane.iter().copied().enumerate().filter(|&(_, mask)| mask != 0)
}

/// Sets of positions of a block, each with the number of moves after which it is decided or falls
/// due.
#[derive(Default)]
pub(crate) struct PositionSets {
    rows: Vec<u32>,
    masks: Vec<u64>,
    /// The number of moves of every set, ascending, and where it ends.
    ends: Vec<(u16, u32)>,
}

impl PositionSets {
    /// Sets of positions `(moves, row, mask)` in any order; rows of a set keep theirs.
    pub(crate) fn sorted(positions: &[(u16, u32, u64)]) -> PositionSets {
        let Some(last) = positions.iter().map(|p| p.0).max() else {
            return PositionSets::default();
        };
        let mut next = vec![0_u32; last as usize + 2];
        for &(moves, ..) in positions {
            next[moves as usize + 1] += 1;
        }
        let mut ends = Vec::new();
        for moves in 0..=last {
            let (start, len) = (next[moves as usize], next[moves as usize + 1]);
            if len > 0 {
                ends.push((moves, start + len));
            }
            next[moves as usize + 1] += start;
        }

        let mut sets =
            PositionSets { rows: vec![0; positions.len()], masks: vec![0; positions.len()], ends };
        for &(moves, row, mask) in positions {
            let slot = next[moves as usize] as usize;
            next[moves as usize] += 1;
            (sets.rows[slot], sets.masks[slot]) = (row, mask);
        }
        sets
    }

    /// Adds positions to the set of a number of moves.
    pub(crate) fn add(&mut self, moves: u16, more: impl Iterator<Item = (usize, u64)>) {
        let known = self.iter().flat_map(|(m, set)| set.iter().map(move |(r, mask)| (m, r, mask)));
        let all = known.chain(more.map(|(row, mask)| (moves, row, mask)));
        let all: Vec<_> = all.map(|(moves, row, mask)| (moves, row as u32, mask)).collect();
        *self = PositionSets::sorted(&all);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.masks.clear();
        self.ends.clear();
    }

    /// The set of a number of moves; empty if there is none.
    pub(crate) fn of(&self, moves: u16) -> PositionSet<'_> {
        match self.ends.binary_search_by_key(&moves, |end| end.0) {
            Ok(at) => self.set(at),
            Err(_) => PositionSet::EMPTY,
        }
    }

    /// Whether there is one.
    pub(crate) fn has(&self, moves: u16) -> bool {
        self.ends.binary_search_by_key(&moves, |end| end.0).is_ok()
    }

    /// The largest number of moves that has a set.
    pub(crate) fn last(&self) -> Option<u16> {
        self.ends.last().map(|end| end.0)
    }

    /// All sets with their number of moves.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, PositionSet<'_>)> {
        self.ends.iter().enumerate().map(|(at, end)| (end.0, self.set(at)))
    }

    /// Adds a set of more moves than all others.
    fn append(&mut self, moves: u16, set: impl Iterator<Item = (usize, u64)>) {
        for (row, mask) in set {
            self.rows.push(row as u32);
            self.masks.push(mask);
        }
        if self.rows.len() > self.ends.last().map_or(0, |end| end.1 as usize) {
            self.ends.push((moves, self.rows.len() as u32));
        }
    }

    fn set(&self, at: usize) -> PositionSet<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let range = start as usize..self.ends[at].1 as usize;
        PositionSet::new(&self.rows[range.clone()], &self.masks[range], None)
    }
}

/// From how many rows of 4096 on a frontier is moved as a whole. Measured: flat between 150 and
/// 1500.
const DENSE_SHARE: usize = 10;

/// A frontier at least this long is laid out as a plane.
fn dense_threshold(rows: usize) -> usize {
    (rows / DENSE_SHARE).max(2)
}

/// What the passes decided in a block.
#[derive(Default)]
pub(crate) struct Log {
    sets: PositionSets,
    /// Where the newest set begins, and how many positions it has.
    newest: usize,
    positions: u64,
    /// The newest set as a plane, if it is long.
    plane: Vec<u64>,
    dense: bool,
    /// How many rows were left when sets were joined.
    joined: usize,
}

impl Log {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.sets.clear();
        self.joined = 0;
        self.begin();
    }

    /// Opens the next set.
    pub(crate) fn begin(&mut self) {
        self.newest = self.sets.rows.len();
        self.positions = 0;
        self.dense = false;
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, row: usize, mask: u64) {
        self.sets.rows.push(row as u32);
        self.sets.masks.push(mask);
        // Counted here, where the kernels have an instruction for it.
        self.positions += u64::from(mask.count_ones());
    }

    /// Adds a set of rows that are not in the newest set.
    pub(crate) fn extend(&mut self, set: PositionSet<'_>) {
        set.iter().for_each(|(row, mask)| self.push(row, mask));
    }

    /// The number of positions in the newest set.
    pub(crate) fn positions(&self) -> u64 {
        self.positions
    }

    /// Closes the newest set.
    pub(crate) fn close(&mut self, moves: u16) {
        if self.sets.rows.len() > self.newest {
            self.sets.ends.push((moves, self.sets.rows.len() as u32));
        }
    }

    /// Closes the newest set of a block of so many rows, and lays it out as a plane if it is long.
    pub(crate) fn finish(&mut self, moves: u16, rows: usize) {
        self.close(moves);
        let newest = self.newest..;
        if self.sets.rows.len() - self.newest < dense_threshold(rows) {
            return;
        }
        self.dense = true;
        self.plane.clear();
        self.plane.resize(rows, 0);
        for (&row, &mask) in self.sets.rows[newest.clone()].iter().zip(&self.sets.masks[newest]) {
            self.plane[row as usize] |= mask;
        }
    }

    /// Joins the sets before the newest one, where it is not asked any more which pass decided
    /// what: those of fewer than `unsaved` moves to one, and the others to another one, each with
    /// the largest number of moves that it has. Only if that saves something in a block of so many
    /// rows.
    pub(crate) fn join(&mut self, unsaved: u16, rows: usize) {
        if self.newest < self.joined + rows / 2 {
            return;
        }
        let mut sets = PositionSets::default();
        for saved in [true, false] {
            let of_group = |&(moves, _): &(u16, _)| (moves < unsaved) == saved;
            let ends = self.sets.iter().zip(&self.sets.ends);
            let closed = ends.filter(|(_, end)| end.1 as usize <= self.newest).map(|(set, _)| set);
            let mut plane = vec![0; rows];
            let mut last = 0;
            for (moves, set) in closed.filter(of_group) {
                set.iter().for_each(|(row, mask)| plane[row] |= mask);
                last = moves;
            }
            sets.append(last, marked(&plane));
        }

        let joined = sets.rows.len();
        if let Some(&(moves, _)) = self.sets.ends.last() {
            sets.append(moves, self.frontier().iter());
        }
        self.sets = sets;
        (self.newest, self.joined) = (joined, joined);
    }

    /// The newest set.
    pub(crate) fn frontier(&self) -> PositionSet<'_> {
        let (rows, masks) = (&self.sets.rows[self.newest..], &self.sets.masks[self.newest..]);
        PositionSet::new(rows, masks, self.dense.then_some(&self.plane))
    }

    /// All sets.
    pub(crate) fn sets(&self) -> &PositionSets {
        &self.sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets with their moves, written out.
    fn written(sets: &PositionSets) -> Vec<(u16, Vec<(usize, u64)>)> {
        sets.iter().map(|(moves, set)| (moves, set.iter().collect())).collect()
    }

    #[test]
    fn sorted_sets_are_found_by_their_moves() {
        let mut sets = PositionSets::sorted(&[(5, 2, 0b1), (1, 2, 0b10), (5, 7, 0b100)]);
        let expected = vec![(1, vec![(2, 0b10)]), (5, vec![(2, 0b1), (7, 0b100)])];
        assert_eq!(written(&sets), expected);
        for moves in 0..8 {
            let found: Vec<_> = sets.of(moves).iter().collect();
            let set = expected.iter().find(|set| set.0 == moves);
            assert_eq!(found, set.map_or(Vec::new(), |set| set.1.clone()), "{moves} moves");
            assert_eq!(sets.has(moves), set.is_some(), "{moves} moves");
        }

        sets.add(1, marked(&[0, 0, 0, 0b11]));
        assert_eq!(written(&sets)[0], (1, vec![(2, 0b10), (3, 0b11)]));
        assert_eq!((sets.last(), PositionSets::default().last()), (Some(5), None));
    }

    #[test]
    fn a_log_replays_all_and_its_frontier_is_the_newest() {
        let mut log = Log::default();
        for (moves, rows) in [(0, 1..3), (1, 0..0), (2, 4..8)] {
            log.begin();
            rows.for_each(|row| log.push(row, 0b101 << row));
            log.finish(moves, 8);
        }
        let set = |rows: std::ops::Range<usize>| rows.map(|row| (row, 0b101 << row)).collect();
        assert_eq!(written(log.sets()), vec![(0, set(1..3)), (2, set(4..8))]);
        assert_eq!(log.positions(), 8);
        // Long enough for a plane, which holds the same.
        let plane = log.frontier().plane().map(|plane| marked(plane).collect());
        assert_eq!(plane, Some(set(4..8)));

        log.begin();
        assert_eq!((log.frontier().len(), log.frontier().plane()), (0, None));
        assert_eq!(log.sets().last(), Some(2));
    }

    #[test]
    fn joined_sets_are_two_and_the_frontier_stays() {
        let decided = [(1, 0, 0b1), (2, 0, 0b10), (3, 1, 0b100), (4, 1, 0b1000), (5, 2, 0b1)];
        let log = |unsaved: u16, begun: bool| {
            let mut log = Log::default();
            for (moves, row, mask) in decided {
                log.begin();
                log.push(row, mask);
                log.finish(moves, 4);
            }
            if begun {
                log.begin();
            }
            log.join(unsaved, 4);
            log
        };
        let newest = (5, vec![(2, 0b1)]);
        let sets = |saved: u16| match saved {
            2 => vec![(2, vec![(0, 0b11)]), (4, vec![(1, 0b1100)])],
            _ => vec![(4, vec![(0, 0b11), (1, 0b1100)])],
        };
        for (unsaved, saved) in [(0, 0), (3, 2), (9, 4)] {
            let mut log = log(unsaved, false);
            let expected = [sets(saved), vec![newest.clone()]].concat();
            assert_eq!(written(log.sets()), expected, "up to {saved} saved");
            assert_eq!(log.frontier().iter().collect::<Vec<_>>(), newest.1);
            // Little has come since.
            log.begin();
            log.push(3, 0b1);
            log.finish(6, 4);
            log.join(unsaved, 4);
            assert_eq!(log.sets().iter().count(), expected.len() + 1, "up to {saved} saved");
        }

        // A block that took no part in the newest pass.
        let log = log(0, true);
        let all = vec![(5, vec![(0, 0b11), (1, 0b1100), (2, 0b1)])];
        assert_eq!((written(log.sets()), log.frontier().len()), (all, 0));
    }
}
