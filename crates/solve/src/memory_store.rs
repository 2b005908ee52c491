//! A slice in memory: planes in one piece, a log a block.

use std::io;
use std::ops::RangeInclusive;

use hoffman_board::{ByColor, Color};
use rayon::prelude::*;

use crate::blocks::Block;
use crate::nearby::{Frontiers, LoadedPlane, LoadedSet, Planes};
use crate::recycled::Recycled;
use crate::sets::{Log, PositionSet, PositionSets, marked};
use crate::store::{EventStore, LogStore, Pass, PlaneStore, Store};

/// Makes planes and logs of slices that left theirs behind.
pub(crate) struct MemoryStore<'a> {
    pub(crate) recycled: &'a Recycled,
    /// The number of rows of a block, and of blocks.
    pub(crate) rows: usize,
    pub(crate) blocks: usize,
}

/// A plane, block after block.
pub(crate) struct MemoryPlane {
    words: Vec<u64>,
    rows: usize,
}

/// The logs of all blocks.
pub(crate) struct MemoryLogs {
    logs: Vec<Log>,
    rows: usize,
}

/// The planes' parts, block by block; planes that are left out have empty ones.
fn parts<const N: usize>(planes: [&mut MemoryPlane; N], blocks: usize) -> Vec<[&mut [u64]; N]> {
    let mut parts = planes.map(|plane| plane.words.chunks_exact_mut(plane.rows));
    let mut next = || parts.each_mut().map(|part| part.next().unwrap_or_default());
    (0..blocks).map(|_| next()).collect()
}

impl Store for MemoryStore<'_> {
    type Plane = MemoryPlane;
    type Logs = MemoryLogs;
    type Events = Vec<PositionSets>;

    fn work_plane(&self) -> MemoryPlane {
        MemoryPlane { words: self.recycled.plane(self.rows * self.blocks), rows: self.rows }
    }

    fn plane_if(&self, needed: bool) -> MemoryPlane {
        let words = if needed { self.rows * self.blocks } else { 0 };
        MemoryPlane { words: vec![0; words], rows: self.rows }
    }

    fn logs(&self) -> MemoryLogs {
        MemoryLogs { logs: self.recycled.logs(self.blocks), rows: self.rows }
    }

    fn events(&self) -> Vec<PositionSets> {
        Vec::new()
    }

    fn keep(
        &self,
        planes: impl IntoIterator<Item = MemoryPlane>,
        logs: impl IntoIterator<Item = MemoryLogs>,
    ) {
        let planes = planes.into_iter().map(|plane| plane.words);
        self.recycled.keep(planes, logs.into_iter().map(|logs| logs.logs));
    }

    fn write<const N: usize, R: Send>(
        &self,
        share: usize,
        planes: [&mut MemoryPlane; N],
        work: impl Fn(usize, [&mut [u64]; N]) -> R + Sync,
    ) -> Vec<R> {
        let parts = parts(planes, self.blocks).into_par_iter().with_min_len(share).enumerate();
        parts.map(|(n, parts)| work(n, parts)).collect()
    }

    fn pass<const N: usize>(
        &self,
        pass: Pass,
        planes: ByColor<[&mut MemoryPlane; N]>,
        logs: &mut ByColor<MemoryLogs>,
        wanted: impl Fn(Color, usize) -> bool + Sync,
        work: impl Fn(Color, usize, [&mut [u64]; N], &mut Log) -> bool + Sync,
    ) {
        let block = |color: Color, n: usize, parts: [&mut [u64]; N], log: &mut Log| {
            if wanted(color, n) {
                work(color, n, parts, log);
            } else {
                log.begin();
            }
        };
        let one_side = |color: Color, planes: [&mut MemoryPlane; N], logs: &mut MemoryLogs| {
            let blocks = parts(planes, self.blocks).into_par_iter().zip(&mut logs.logs);
            let blocks = blocks.with_min_len(pass.share).enumerate();
            blocks.for_each(|(n, (parts, log))| block(color, n, parts, log));
        };
        let ByColor { white, black } = planes.zip(logs.as_mut());
        let white = || one_side(Color::White, white.0, white.1);
        let black = || one_side(Color::Black, black.0, black.1);
        if pass.share < self.blocks {
            rayon::join(white, black);
        } else {
            white();
            black();
        }
    }
}

impl PlaneStore for MemoryPlane {
    fn block(&self, n: usize) -> LoadedPlane<'_> {
        let part = self.words.get(n * self.rows..(n + 1) * self.rows);
        LoadedPlane::Borrowed(part.unwrap_or_default())
    }

    fn around(&self, _n: usize, _block: &Block, _color: Color) -> Planes<'_> {
        Planes::All(&self.words)
    }

    fn change(&mut self, n: usize, f: impl FnOnce(&mut [u64]) -> bool) {
        let part = self.words.get_mut(n * self.rows..(n + 1) * self.rows);
        f(part.unwrap_or_default());
    }
}

impl LogStore for MemoryLogs {
    fn is_waiting(&self, n: usize) -> bool {
        self.logs[n].frontier().len() > 0
    }

    fn newest(&self, n: usize) -> LoadedSet<'_> {
        LoadedSet::Borrowed(self.logs[n].frontier())
    }

    fn around(&self, _n: usize, _block: &Block, _color: Color) -> Frontiers<'_> {
        Frontiers::All(&self.logs)
    }

    fn waiting(&self) -> usize {
        self.logs.iter().map(|log| log.frontier().len()).sum()
    }

    fn decided(&self) -> u64 {
        self.logs.iter().map(Log::positions).sum()
    }

    fn replay(
        &self,
        n: usize,
        passes: &RangeInclusive<u16>,
        mut take: impl FnMut(u16, PositionSet<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut sets = self.logs[n].sets().iter().filter(|(moves, _)| passes.contains(moves));
        sets.try_for_each(|(moves, set)| take(moves, set))
    }

    fn can_take(&self, n: usize, moves: u16) -> bool {
        let log = self.logs.get(n);
        log.is_some_and(|log| log.sets().last().is_none_or(|last| last < moves))
    }

    fn take(&mut self, n: usize, moves: u16, decided: PositionSet<'_>, newest: bool) {
        let log = &mut self.logs[n];
        log.begin();
        log.extend(decided);
        if newest {
            log.finish(moves, self.rows);
        } else {
            log.close(moves);
            log.begin();
        }
    }

    fn forget(&mut self, n: usize) {
        self.logs[n].clear();
    }

    fn begin(&mut self) {
        self.logs.iter_mut().for_each(Log::begin);
    }

    fn join_passes(&mut self, unsaved: u16) {
        self.logs.par_iter_mut().for_each(|log| log.join(unsaved, self.rows));
    }
}

impl EventStore for Vec<PositionSets> {
    type Kept = PositionSets;

    fn keep(&self, events: PositionSets) -> PositionSets {
        events
    }

    fn fill(&mut self, all: Vec<PositionSets>) {
        *self = all;
    }

    fn has(&self, n: usize, moves: u16) -> bool {
        self[n].has(moves)
    }

    fn of(&self, n: usize, moves: u16) -> LoadedSet<'_> {
        LoadedSet::Borrowed(self[n].of(moves))
    }

    fn last(&self) -> u16 {
        self.iter().filter_map(PositionSets::last).max().unwrap_or(0)
    }

    fn add(&mut self, n: usize, positions: &[u64]) {
        self[n].add(1, marked(positions));
    }
}
