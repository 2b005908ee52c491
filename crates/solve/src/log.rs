//! What the passes write down.
//!
//! A log records, block by block, which positions were decided in which pass; its last segment is the
//! frontier that the next pass starts from, and the whole log is replayed at the end to write the values.
//! Events are what the exits decide beforehand: exit wins (positions that win by an exit, in the pass of its
//! distance) and exit losses (positions whose exits all lose, so that nothing holds them from some pass on).

use hoffman_space::Code;

use crate::kernels::isa::{Isa, Row, equal_mask};

/// Rows and the positions in them, decided in a number of moves.
#[derive(Default)]
pub(crate) struct Log {
    rows: Vec<u32>,
    masks: Vec<u64>,
    /// Number of moves and where its segment ends.
    segments: Vec<(u16, u32)>,
    /// Where the newest segment begins, and how many positions it has.
    newest: usize,
    positions: u64,
    /// The newest segment as a plane, if it is long.
    plane: Vec<u64>,
    dense: bool,
}

impl Log {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.masks.clear();
        self.segments.clear();
        self.begin();
    }

    /// Opens the segment for the given number of moves.
    pub(crate) fn begin(&mut self) {
        self.newest = self.rows.len();
        self.positions = 0;
        self.dense = false;
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, row: usize, mask: u64) {
        self.rows.push(row as u32);
        self.masks.push(mask);
        // Counted here, where the kernels have an instruction for it.
        self.positions += u64::from(mask.count_ones());
    }

    /// As many rows as masks.
    pub(crate) fn extend(&mut self, rows: &[u32], masks: &[u64]) {
        self.rows.extend_from_slice(rows);
        self.masks.extend_from_slice(masks);
        self.positions += masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
    }

    /// The number of positions in the newest segment.
    pub(crate) fn positions(&self) -> u64 {
        self.positions
    }

    /// Whether no segment has so many moves or more.
    pub(crate) fn ends_before(&self, moves: u16) -> bool {
        self.segments.last().is_none_or(|&(last, _)| last < moves)
    }

    /// Closes the newest segment, and lays it out as a plane of `rows` words if it holds at least
    /// `threshold` rows.
    pub(crate) fn finish(&mut self, moves: u16, rows: usize, threshold: usize) {
        let len = self.rows.len();
        if len > self.newest {
            self.segments.push((moves, len as u32));
            if len - self.newest >= threshold {
                self.dense = true;
                self.plane.clear();
                self.plane.resize(rows, 0);
                for (&row, &mask) in self.rows[self.newest..].iter().zip(&self.masks[self.newest..])
                {
                    self.plane[row as usize] |= mask;
                }
            }
        }
    }

    /// The newest segment.
    pub(crate) fn frontier(&self) -> PositionSet<'_> {
        PositionSet {
            rows: &self.rows[self.newest..],
            masks: &self.masks[self.newest..],
            plane: self.dense.then_some(&self.plane),
        }
    }

    /// All segments with their number of moves.
    pub(crate) fn replay(&self) -> impl Iterator<Item = (u16, PositionSet<'_>)> {
        let mut start = 0;
        self.segments.iter().map(move |&(moves, end)| {
            let range = start..end as usize;
            start = end as usize;
            (moves, PositionSet::new(&self.rows[range.clone()], &self.masks[range], None))
        })
    }
}

/// A set of positions of a block by rows: what a pass decided, which the next one starts from, or what
/// falls due.
#[derive(Clone, Copy, Default)]
pub(crate) struct PositionSet<'a> {
    rows: &'a [u32],
    masks: &'a [u64],
    plane: Option<&'a [u64]>,
}

impl<'a> PositionSet<'a> {
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
}

/// Rows and the positions in them for which something falls due, by number of moves.
#[derive(Default)]
pub(crate) struct Events {
    /// `starts[m]..starts[m + 1]` are the events of `m` moves.
    starts: Vec<u32>,
    rows: Vec<u32>,
    masks: Vec<u64>,
}

impl Events {
    /// Sorts `(moves, row, mask)` by moves.
    fn sorted(events: &[(u16, u32, u64)]) -> Events {
        if events.is_empty() {
            return Events::default();
        }
        let last = events.iter().map(|e| e.0).max().unwrap_or(0) as usize;
        let mut starts = vec![0u32; last + 2];
        for e in events {
            starts[e.0 as usize + 1] += 1;
        }
        for m in 1..starts.len() {
            starts[m] += starts[m - 1];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; events.len()];
        let mut masks = vec![0; events.len()];
        for &(moves, row, mask) in events {
            let slot = next[moves as usize] as usize;
            next[moves as usize] += 1;
            rows[slot] = row;
            masks[slot] = mask;
        }
        Events { starts, rows, masks }
    }

    /// The same events and more of one number of moves.
    fn with(&self, moves: u16, more: impl Iterator<Item = (usize, u64)>) -> Events {
        let known =
            (0..=self.last()).flat_map(|m| self.of(m).iter().map(move |(r, mask)| (m, r, mask)));
        let more = more.map(|(row, mask)| (moves, row, mask));
        let all: Vec<(u16, u32, u64)> =
            known.chain(more).map(|(moves, row, mask)| (moves, row as u32, mask)).collect();
        Events::sorted(&all)
    }

    /// The events of a number of moves.
    pub(crate) fn of(&self, moves: u16) -> PositionSet<'_> {
        let m = moves as usize;
        let range = match self.starts.get(m..m + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        };
        PositionSet::new(&self.rows[range.clone()], &self.masks[range], None)
    }

    pub(crate) fn has(&self, moves: u16) -> bool {
        let m = moves as usize;
        matches!(self.starts.get(m..m + 2), Some(&[start, end]) if start < end)
    }

    /// The largest number of moves that has an event.
    pub(crate) fn last(&self) -> u16 {
        (self.starts.len().saturating_sub(2)) as u16
    }
}

/// What the exits of one block and side sort_exits.
#[derive(Default)]
pub(crate) struct ExitEvents {
    /// Positions that win by an exit, by the number of moves.
    pub(crate) exit_wins: Events,
    /// Positions all of whose exits lose, by the number of moves that the best one holds out.
    pub(crate) exit_losses: Events,
}

impl ExitEvents {
    /// Adds positions that are won, or lost, after one move.
    pub(crate) fn add(&mut self, won: bool, positions: &[u64]) {
        let marked = positions.iter().copied().enumerate().filter(|&(_, mask)| mask != 0);
        let events = if won { &mut self.exit_wins } else { &mut self.exit_losses };
        *events = events.with(1, marked);
    }
}

/// Room for sorting events, reused from block to block.
#[derive(Default)]
pub(crate) struct Sorting {
    exit_wins: Vec<(u16, u32, u64)>,
    exit_losses: Vec<(u16, u32, u64)>,
}

/// Splits the best exits of a block into exit_wins, exit_losses and `held`, the positions that have any exit.
#[inline(always)]
pub(crate) fn sort_exits<I: Isa, C: Code>(
    best: &[Row<C>],
    open: &[u64],
    held: &mut [u64],
    sorting: &mut Sorting,
) -> ExitEvents {
    sorting.exit_wins.clear();
    sorting.exit_losses.clear();
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
                hoffman_board::Value::Win(m) => sorting.exit_wins.push((m, row as u32, same)),
                hoffman_board::Value::Loss(m) => sorting.exit_losses.push((m, row as u32, same)),
                _ => {}
            }
        }
    }
    ExitEvents {
        exit_wins: Events::sorted(&sorting.exit_wins),
        exit_losses: Events::sorted(&sorting.exit_losses),
    }
}
