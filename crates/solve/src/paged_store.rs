//! A slice in pages, one a block.
//!
//! The work on a block needs its planes, those of its neighbours and what the pass before decided
//! there, and nothing else. So a pass sweeps over the blocks in order: kings that stand near each
//! other have numbers near each other, and what one block reads the next ones find in memory. Logs
//! are only ever added to.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hoffman_board::{ByColor, Color};
use hoffman_pages::{Page, PageFile, Pages};
use rayon::prelude::*;

use crate::blocks::Block;
use crate::nearby::{Frontiers, LoadedPlane, LoadedSet, Planes, pack};
use crate::sets::{Log, PositionSet, PositionSets, marked};
use crate::store::{EventStore, LogStore, Pass, PlaneStore, Store};

/// Makes planes and logs in pages.
pub(crate) struct PagedStore<'a> {
    pub(crate) pages: &'a Arc<Pages>,
    /// The number of rows of a block, and of blocks.
    pub(crate) rows: usize,
    pub(crate) blocks: usize,
}

/// A plane, a page a block.
pub(crate) struct PagedPlane {
    file: PageFile,
    /// None if it is left out.
    pages: Vec<Page>,
}

/// Sets of positions, a page a set: of every block their numbers of moves and pages.
pub(crate) struct PagedSets {
    file: PageFile,
    sets: Vec<Vec<(u16, Page)>>,
}

/// The logs of all blocks.
pub(crate) struct PagedLogs {
    lists: PagedSets,
    /// The newest sets as planes, if they are long.
    planes: PageFile,
    newest: Vec<Option<Newest>>,
    rows: usize,
}

/// What the newest pass decided in a block.
#[derive(Clone, Copy)]
pub(crate) struct Newest {
    list: Page,
    /// The same as a plane, if it is long.
    plane: Option<Page>,
    rows: usize,
    positions: u64,
}

impl PagedStore<'_> {
    fn sets(&self) -> PagedSets {
        PagedSets { file: self.pages.file(), sets: vec![Vec::new(); self.blocks] }
    }
}

/// Lets `f` change the parts of planes in a block; `f` says whether it did.
fn change<const N: usize>(
    planes: &[&mut PagedPlane; N],
    n: usize,
    f: impl FnOnce([&mut [u64]; N]) -> bool,
) {
    let mut lifted = planes.each_ref().map(|plane| plane.page(n).map(|page| plane.file.lift(page)));
    let changed = f(lifted.each_mut().map(|part| part.as_deref_mut().unwrap_or_default()));
    for (plane, part) in planes.iter().zip(lifted) {
        if let (Some(page), Some(part)) = (plane.page(n), part) {
            plane.file.put_back(page, part, changed);
        }
    }
}

impl Store for PagedStore<'_> {
    type Plane = PagedPlane;
    type Logs = PagedLogs;
    type Events = PagedSets;

    fn work_plane(&self) -> PagedPlane {
        self.plane_if(true)
    }

    fn plane_if(&self, needed: bool) -> PagedPlane {
        let file = self.pages.file();
        let blocks = if needed { self.blocks } else { 0 };
        let pages = (0..blocks).map(|_| file.reserve(self.rows)).collect();
        PagedPlane { file, pages }
    }

    fn logs(&self) -> PagedLogs {
        PagedLogs {
            lists: self.sets(),
            planes: self.pages.file(),
            newest: vec![None; self.blocks],
            rows: self.rows,
        }
    }

    fn events(&self) -> PagedSets {
        self.sets()
    }

    /// Their pages are given up.
    fn keep(
        &self,
        planes: impl IntoIterator<Item = PagedPlane>,
        logs: impl IntoIterator<Item = PagedLogs>,
    ) {
        planes.into_iter().for_each(drop);
        logs.into_iter().for_each(drop);
    }

    fn write<const N: usize, R: Send>(
        &self,
        _share: usize,
        planes: [&mut PagedPlane; N],
        work: impl Fn(usize, [&mut [u64]; N]) -> R + Sync,
    ) -> Vec<R> {
        let block = |n: usize| {
            let mut words =
                planes.each_ref().map(|plane| vec![0; plane.page(n).map_or(0, Page::len)]);
            let result = work(n, words.each_mut().map(Vec::as_mut_slice));
            for (plane, words) in planes.iter().zip(words) {
                // Pages are zeros until they are written.
                if let Some(page) = plane.page(n).filter(|_| words.iter().any(|&word| word != 0)) {
                    plane.file.write(page, words);
                }
            }
            result
        };
        (0..self.blocks).into_par_iter().with_max_len(1).map(block).collect()
    }

    fn pass<const N: usize>(
        &self,
        pass: Pass,
        planes: ByColor<[&mut PagedPlane; N]>,
        logs: &mut ByColor<PagedLogs>,
        wanted: impl Fn(Color, usize) -> bool + Sync,
        work: impl Fn(Color, usize, [&mut [u64]; N], &mut Log) -> bool + Sync,
    ) {
        let block = |color: Color, n: usize| {
            let mut log = Log::default();
            wanted(color, n).then(|| {
                change(&planes[color], n, |parts| work(color, n, parts, &mut log));
                logs[color].put(&log)
            })?
        };
        logs.iter().for_each(PagedLogs::forget_planes);
        // Both sides of a block one after the other: each needs what the other one read.
        let both = |n: usize| (block(Color::White, n), block(Color::Black, n));
        let (white, black) = (0..self.blocks).into_par_iter().map(both).unzip();
        logs.white.accept(pass.moves, white);
        logs.black.accept(pass.moves, black);
    }
}

impl PagedPlane {
    fn page(&self, n: usize) -> Option<Page> {
        self.pages.get(n).copied()
    }

    /// Lets `f` change a block's part, which no other thread may work on; `f` says whether it did.
    pub(crate) fn change_shared(&self, n: usize, f: impl FnOnce(&mut [u64]) -> bool) {
        if let Some(page) = self.page(n) {
            self.file.change(page, f);
        }
    }
}

impl PlaneStore for PagedPlane {
    fn block(&self, n: usize) -> LoadedPlane<'_> {
        match self.page(n) {
            Some(page) => LoadedPlane::Page(self.file.read(page)),
            None => LoadedPlane::Borrowed(&[]),
        }
    }

    fn around(&self, n: usize, block: &Block, color: Color) -> Planes<'_> {
        let neighbours = block.neighbours[color].iter();
        let neighbours = neighbours.map(|neighbour| self.block(neighbour.block as usize));
        Planes::Near { here: self.block(n), neighbours: neighbours.collect() }
    }

    fn change(&mut self, n: usize, f: impl FnOnce(&mut [u64]) -> bool) {
        self.change_shared(n, f);
    }
}

impl PagedLogs {
    /// Puts down what a pass decided in a block.
    pub(crate) fn put(&self, log: &Log) -> Option<Newest> {
        let frontier = log.frontier();
        (frontier.len() > 0).then(|| Newest {
            list: self.lists.file.append(pack(frontier)),
            plane: frontier.plane().map(|plane| self.planes.append(plane.to_vec())),
            rows: frontier.len(),
            positions: log.positions(),
        })
    }

    /// Closes a pass.
    pub(crate) fn accept(&mut self, moves: u16, newest: Vec<Option<Newest>>) {
        for (sets, newest) in self.lists.sets.iter_mut().zip(&newest) {
            sets.extend(newest.map(|newest| (moves, newest.list)));
        }
        self.newest = newest;
    }

    /// Gives up the planes of the newest pass, before the next one makes others.
    pub(crate) fn forget_planes(&self) {
        self.planes.clear();
    }

    /// What the newest pass decided in a block, as a plane if it is long.
    pub(crate) fn frontier(&self, n: usize) -> LoadedSet<'_> {
        match self.newest[n] {
            Some(Newest { plane: Some(plane), .. }) => LoadedSet::Plane(self.planes.read(plane)),
            _ => self.newest(n),
        }
    }
}

impl LogStore for PagedLogs {
    fn is_waiting(&self, n: usize) -> bool {
        self.newest[n].is_some()
    }

    fn newest(&self, n: usize) -> LoadedSet<'_> {
        let list = self.newest[n].map(|newest| self.lists.file.read(newest.list));
        list.map_or(LoadedSet::EMPTY, LoadedSet::List)
    }

    fn around(&self, n: usize, block: &Block, color: Color) -> Frontiers<'_> {
        let neighbours = block.neighbours[color].iter();
        let neighbours = neighbours.map(|neighbour| self.frontier(neighbour.block as usize));
        Frontiers::Near { here: self.frontier(n), neighbours: neighbours.collect() }
    }

    fn waiting(&self) -> usize {
        self.newest.iter().flatten().map(|newest| newest.rows).sum()
    }

    fn decided(&self) -> u64 {
        self.newest.iter().flatten().map(|newest| newest.positions).sum()
    }

    fn replay(
        &self,
        n: usize,
        passes: &RangeInclusive<u16>,
        mut take: impl FnMut(u16, PositionSet<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut sets = self.lists.sets[n].iter().filter(|(moves, _)| passes.contains(moves));
        sets.try_for_each(|&(moves, page)| {
            take(moves, LoadedSet::List(self.lists.file.read(page)).get())
        })
    }

    fn can_take(&self, n: usize, moves: u16) -> bool {
        let sets = self.lists.sets.get(n);
        sets.is_some_and(|sets| sets.last().is_none_or(|&(last, _)| last < moves))
    }

    fn take(&mut self, n: usize, moves: u16, decided: PositionSet<'_>, newest: bool) {
        let mut log = Log::default();
        log.extend(decided);
        if newest {
            log.finish(moves, self.rows);
        }
        let put = self.put(&log);
        self.lists.sets[n].extend(put.map(|put| (moves, put.list)));
        if newest {
            self.newest[n] = put;
        }
    }

    fn forget(&mut self, n: usize) {
        self.newest[n] = None;
        for (_, page) in self.lists.sets[n].drain(..) {
            drop(self.lists.file.take(page));
        }
    }

    fn begin(&mut self) {
        self.newest.fill(None);
    }
}

impl PagedSets {
    fn page(&self, n: usize, moves: u16) -> Option<Page> {
        let set = self.sets[n].iter().find(|set| set.0 == moves);
        set.map(|&(_, page)| page)
    }
}

impl EventStore for PagedSets {
    type Kept = Vec<(u16, Page)>;

    fn keep(&self, events: PositionSets) -> Vec<(u16, Page)> {
        events.iter().map(|(moves, set)| (moves, self.file.append(pack(set)))).collect()
    }

    fn fill(&mut self, all: Vec<Vec<(u16, Page)>>) {
        self.sets = all;
    }

    fn has(&self, n: usize, moves: u16) -> bool {
        self.page(n, moves).is_some()
    }

    fn of(&self, n: usize, moves: u16) -> LoadedSet<'_> {
        let words = self.page(n, moves).map(|page| self.file.read(page));
        words.map_or(LoadedSet::EMPTY, LoadedSet::List)
    }

    fn last(&self) -> u16 {
        self.sets.iter().flatten().map(|set| set.0).max().unwrap_or(0)
    }

    fn add(&mut self, n: usize, positions: &[u64]) {
        let mut log = Log::default();
        log.extend(self.of(n, 1).get());
        marked(positions).for_each(|(row, mask)| log.push(row, mask));
        if log.frontier().len() > 0 {
            let page = self.file.append(pack(log.frontier()));
            self.sets[n].retain(|set| set.0 != 1);
            self.sets[n].push((1, page));
        }
    }
}
