//! Planes, logs and events in pages, a page a block.

use std::sync::Arc;

use hoffman_pages::{Page, PageFile, Pages, Words};

use crate::blocks::Block;
use crate::log::{Events, Log, PositionSet};

/// Bit planes of one side, a page a block.
pub(crate) struct Plane {
    file: PageFile,
    pages: Vec<Page>,
}

impl Plane {
    pub(crate) fn new(pages: &Arc<Pages>, rows: usize, blocks: usize) -> Plane {
        let file = pages.file();
        let pages = (0..blocks).map(|_| file.reserve(rows)).collect();
        Plane { file, pages }
    }

    pub(crate) fn read(&self, n: usize) -> Words {
        self.file.read(self.pages[n])
    }

    pub(crate) fn write(&self, n: usize, words: Vec<u64>) {
        self.file.write(self.pages[n], words);
    }

    /// Lets `f` change a block's part; `f` says whether it did.
    pub(crate) fn change(&self, n: usize, f: impl FnOnce(&mut [u64]) -> bool) {
        self.file.change(self.pages[n], f);
    }
}

/// Packs rows and masks into the words of a page.
pub(crate) fn pack(positions: PositionSet<'_>) -> Vec<u64> {
    let len = positions.len();
    let mut words = vec![0; 1 + len + len.div_ceil(2)];
    words[0] = len as u64;
    words[1..=len].copy_from_slice(positions.masks());
    let rows: &mut [u32] = bytemuck::cast_slice_mut(&mut words[1 + len..]);
    rows[..len].copy_from_slice(positions.rows());
    words
}

/// The rows and masks in a page.
pub(crate) fn unpack(words: &[u64]) -> PositionSet<'_> {
    let Some((&len, rest)) = words.split_first() else { return PositionSet::default() };
    // A page that could not be read is zeros.
    let (masks, rows) = rest.split_at((len as usize).min(rest.len()));
    let rows: &[u32] = bytemuck::cast_slice(rows);
    PositionSet::new(&rows[..masks.len().min(rows.len())], masks, None)
}

/// The same of a page that may not be there.
pub(crate) fn unpack_list(words: Option<&Words>) -> PositionSet<'_> {
    words.map_or_else(PositionSet::default, |words| unpack(words))
}

/// The words of a page that may not be there.
pub(crate) fn words_of(words: Option<&Words>) -> &[u64] {
    words.map_or(&[], |words| words)
}

/// What the passes decided, by blocks.
pub(crate) struct PagedLog {
    pub(crate) lists: PageFile,
    pub(crate) planes: PageFile,
    /// Number of moves and page of every segment of a block.
    pub(crate) segments: Vec<Vec<(u16, Page)>>,
    pub(crate) newest: Vec<Option<Segment>>,
}

/// The newest segment of a block.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) list: Page,
    /// The same as a plane, if it is long.
    plane: Option<Page>,
    rows: usize,
    positions: u64,
}

impl PagedLog {
    pub(crate) fn new(pages: &Arc<Pages>, blocks: usize) -> PagedLog {
        PagedLog {
            lists: pages.file(),
            planes: pages.file(),
            segments: vec![Vec::new(); blocks],
            newest: vec![None; blocks],
        }
    }

    /// Puts down what a pass decided in a block.
    pub(crate) fn put(&self, log: &Log) -> Option<Segment> {
        let frontier = log.frontier();
        (frontier.len() > 0).then(|| Segment {
            list: self.lists.append(pack(frontier)),
            plane: frontier.plane().map(|plane| self.planes.append(plane.to_vec())),
            rows: frontier.len(),
            positions: log.positions(),
        })
    }

    /// Closes a pass.
    pub(crate) fn accept(&mut self, moves: u16, newest: Vec<Option<Segment>>) {
        for (segments, newest) in self.segments.iter_mut().zip(&newest) {
            segments.extend(newest.map(|newest| (moves, newest.list)));
        }
        self.newest = newest;
    }

    /// The number of rows that the newest pass decided.
    pub(crate) fn waiting(&self) -> usize {
        self.newest.iter().flatten().map(|newest| newest.rows).sum()
    }

    /// The number of positions that it decided.
    pub(crate) fn decided(&self) -> u64 {
        self.newest.iter().flatten().map(|newest| newest.positions).sum()
    }

    /// Whether it decided anything in a block or where this side's men can go from there.
    pub(crate) fn reaches(&self, block: &Block, n: usize, own: usize) -> bool {
        let mut around =
            std::iter::once(n).chain(block.neighbours[own].iter().map(|n| n.block as usize));
        around.any(|n| self.newest[n].is_some())
    }

    pub(crate) fn list(&self, n: usize) -> Option<Words> {
        self.newest[n].map(|newest| self.lists.read(newest.list))
    }

    pub(crate) fn loaded(&self, n: usize) -> LoadedSet {
        match self.newest[n] {
            Some(Segment { plane: Some(plane), .. }) => LoadedSet::Plane(self.planes.read(plane)),
            Some(Segment { list, .. }) => LoadedSet::List(self.lists.read(list)),
            None => LoadedSet::Nothing,
        }
    }

    /// The frontiers in a block and around it.
    pub(crate) fn around(
        &self,
        block: &Block,
        n: usize,
        own: usize,
    ) -> (LoadedSet, Vec<LoadedSet>) {
        let around = block.neighbours[own].iter().map(|n| self.loaded(n.block as usize));
        (self.loaded(n), around.collect())
    }
}

/// A frontier in memory.
pub(crate) enum LoadedSet {
    Nothing,
    List(Words),
    Plane(Words),
}

impl LoadedSet {
    pub(crate) fn frontier(&self) -> PositionSet<'_> {
        match self {
            LoadedSet::Nothing => PositionSet::default(),
            LoadedSet::List(words) => unpack(words),
            LoadedSet::Plane(words) => PositionSet::new(&[], &[], Some(words)),
        }
    }
}

/// Pages by the number of moves after which they fall due.
pub(crate) type EventPages = Vec<(u16, Page)>;

/// What the exits sort_exits, by blocks.
pub(crate) struct PagedEvents {
    pub(crate) file: PageFile,
    pub(crate) pages: Vec<EventPages>,
}

impl PagedEvents {
    pub(crate) fn new(pages: &Arc<Pages>) -> PagedEvents {
        PagedEvents { file: pages.file(), pages: Vec::new() }
    }

    pub(crate) fn put(&self, events: &Events) -> EventPages {
        (0..=events.last())
            .filter(|&moves| events.has(moves))
            .map(|moves| (moves, self.file.append(pack(events.of(moves)))))
            .collect()
    }

    pub(crate) fn has(&self, n: usize, moves: u16) -> bool {
        self.pages[n].iter().any(|&(m, _)| m == moves)
    }

    pub(crate) fn of(&self, n: usize, moves: u16) -> Option<Words> {
        let page = self.pages[n].iter().find(|&&(m, _)| m == moves);
        page.map(|&(_, page)| self.file.read(page))
    }

    pub(crate) fn last(&self) -> u16 {
        self.pages.iter().flatten().map(|&(m, _)| m).max().unwrap_or(0)
    }

    /// Adds positions of a block that fall due after one move.
    pub(crate) fn add(&mut self, n: usize, positions: &[u64]) {
        let old = self.of(n, 1);
        let known = old.iter().flat_map(|words| unpack(words).iter());
        let marked = positions.iter().copied().enumerate().filter(|&(_, mask)| mask != 0);
        let (rows, masks): (Vec<u32>, Vec<u64>) =
            known.chain(marked).map(|(row, mask)| (row as u32, mask)).unzip();
        if !rows.is_empty() {
            let page = self.file.append(pack(PositionSet::new(&rows, &masks, None)));
            self.pages[n].retain(|&(m, _)| m != 1);
            self.pages[n].push((1, page));
        }
    }
}
