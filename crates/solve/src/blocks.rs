//! The blocks of a slice, and the ways between them.

use arrayvec::ArrayVec;
use hoffman_board::{ByColor, MAX_PIECES as MAX_MOVERS, Role, Symmetry};
use hoffman_space::{KingPairs, Layout, Mover, PawnSquares, king_pairs};

use crate::kernels::dense::{Frame, map_row};
use crate::kernels::tables::{Tables, squares};

/// A block that an outer man can move to.
#[derive(Clone, Copy)]
pub(crate) struct Neighbour {
    pub(crate) block: u32,
    /// What carries the board there.
    pub(crate) symmetry: Symmetry,
    /// The squares passed on the way.
    pub(crate) between: u64,
    /// If it becomes the lane man by its move.
    pub(crate) exchange: Option<Exchange>,
}

impl Neighbour {
    /// Whether nothing can be in the way and every man keeps its part.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.between == 0 && self.exchange.is_none()
    }

    /// The positions of a row, of either block, in which no man stands in the way.
    #[inline(always)]
    fn unbarred(&self, frame: Frame, row: usize, mask: u64) -> u64 {
        if self.between != 0 && frame.others(row, usize::MAX) & self.between != 0 {
            return 0;
        }
        mask & !self.between
    }

    /// Where positions of a row of the block go by the move, whose frame is `frame`.
    #[inline(always)]
    pub(crate) fn forth(
        &self,
        tables: &Tables,
        frame: Frame,
        row: usize,
        mask: u64,
    ) -> (usize, u64) {
        if let Some(exchange) = &self.exchange {
            let possible = (mask >> exchange.to & 1).wrapping_neg();
            return (row, possible & exchange.ends(tables, frame, row));
        }
        if self.symmetry.is_identity() {
            return (row, self.unbarred(frame, row, mask));
        }
        let image = &tables.image[self.symmetry.index()];
        (map_row(image, row, frame.dims), self.symmetry.apply_set(mask))
    }

    /// Where positions of a row of the neighbour came from by it.
    #[inline(always)]
    pub(crate) fn back(
        &self,
        tables: &Tables,
        frame: Frame,
        row: usize,
        mask: u64,
    ) -> (usize, u64) {
        if let Some(exchange) = &self.exchange {
            return (row, exchange.back(tables, frame, row, mask).0);
        }
        if self.symmetry.is_identity() {
            return (row, self.unbarred(frame, row, mask));
        }
        let inverse = self.symmetry.inverse();
        let image = &tables.image[inverse.index()];
        (map_row(image, row, frame.dims), inverse.apply_set(mask))
    }

    /// The positions of a row of the block from which it ends in `plane`, a plane of the
    /// neighbour.
    #[inline(always)]
    pub(crate) fn pull_row(&self, tables: &Tables, frame: Frame, row: usize, plane: &[u64]) -> u64 {
        if self.symmetry.is_identity() {
            return self.back(tables, frame, row, plane[row]).1;
        }
        let image = &tables.image[self.symmetry.index()];
        self.symmetry.inverse().apply_set(plane[map_row(image, row, frame.dims)])
    }
}

/// A move of the narrow one of two twins off its squares: from then on the other one, the lane man
/// until then, is the narrow one.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    role: Role,
    from: u8,
    /// Where the other one stands: its lane before the move.
    pub(crate) to: u8,
    /// The lanes that are no squares of the narrow one.
    off: u64,
}

impl Exchange {
    /// The lanes that the move can end on, in a row of the block that it leaves or of the other
    /// one.
    #[inline(always)]
    pub(crate) fn ends(&self, tables: &Tables, frame: Frame, row: usize) -> u64 {
        let others = frame.others(row, usize::MAX) & !(1 << self.from) | 1 << self.to;
        tables.attacks(self.role, self.from, others) & self.off
    }

    /// Whence positions of a row of the other block came by the move, and how many moves these
    /// are.
    #[inline(always)]
    pub(crate) fn back(&self, tables: &Tables, frame: Frame, row: usize, mask: u64) -> (u64, u32) {
        let moves = (mask & self.ends(tables, frame, row)).count_ones();
        (u64::from(moves != 0) << self.to, moves)
    }
}

/// One block.
pub(crate) struct Block {
    pub(crate) frame: Frame,
    /// The squares of the outer men.
    pub(crate) outer: ArrayVec<u8, MAX_MOVERS>,
    /// Where a side's outer men can move.
    pub(crate) neighbours: ByColor<Vec<Neighbour>>,
    /// No position in this block exists: outer men touch or stand on each other.
    pub(crate) empty: bool,
}

/// A block for every placement of two kings up to symmetry.
pub(crate) fn paired_blocks(tables: &Tables, dims: usize) -> Vec<Block> {
    let pairs = king_pairs();
    let block = |&(w, b): &(_, _)| paired_block(tables, pairs, (w as u8, b as u8), dims);
    pairs.pairs.iter().map(block).collect()
}

/// The block of two kings.
fn paired_block(tables: &Tables, pairs: &KingPairs, (w, b): (u8, u8), dims: usize) -> Block {
    let reach = |king: u8| squares(tables.reach(Role::King, king));
    let numbered = |(n, symmetry): (usize, Symmetry)| Neighbour {
        block: n as u32,
        symmetry,
        between: 0,
        exchange: None,
    };
    let white = reach(w).filter_map(|to| pairs.find(to, b)).map(numbered).collect();
    let black = reach(b).filter_map(|to| pairs.find(w, to)).map(numbered).collect();
    Block {
        frame: Frame { fixed: 1 << w | 1 << b, dims },
        outer: [w, b].into_iter().collect(),
        neighbours: ByColor { white, black },
        empty: false,
    }
}

/// A block for every placement of the outer men, each on its squares.
pub(crate) fn axis_blocks(
    tables: &Tables,
    layout: &Layout,
    kings: ByColor<Option<usize>>,
    dims: usize,
    pawns: PawnSquares,
) -> Vec<Block> {
    let movers = &layout.movers()[..layout.outer()];
    let mut blocks = Vec::new();
    let mut stands: ArrayVec<u8, MAX_MOVERS> =
        movers.iter().map(|m| m.squares.trailing_zeros() as u8).collect();
    loop {
        blocks.push(axis_block(tables, &stands, kings, dims, pawns));
        if !advance(movers, &mut stands) {
            break;
        }
    }

    for n in 0..blocks.len() {
        if !blocks[n].empty {
            blocks[n].neighbours = axis_neighbours(tables, layout, &blocks, n);
        }
    }
    blocks
}

/// The next placement of the outer men, the last one fastest; false if there is none.
fn advance(movers: &[Mover], stands: &mut ArrayVec<u8, MAX_MOVERS>) -> bool {
    (0..movers.len()).rev().any(|m| {
        let ahead = movers[m].squares & (u64::MAX << stands[m] << 1);
        let square = if ahead != 0 { ahead } else { movers[m].squares };
        stands[m] = square.trailing_zeros() as u8;
        ahead != 0
    })
}

/// The block of a placement, without its neighbours.
fn axis_block(
    tables: &Tables,
    stands: &ArrayVec<u8, MAX_MOVERS>,
    kings: ByColor<Option<usize>>,
    dims: usize,
    pawns: PawnSquares,
) -> Block {
    let mut fixed = pawns.occupied();
    let mut empty = false;
    for &square in stands {
        empty |= fixed >> square & 1 != 0;
        fixed |= 1 << square;
    }
    let outer = |king: Option<usize>| king.and_then(|king| stands.get(king));
    if let ByColor { white: Some(&white), black: Some(&black) } = kings.map(outer) {
        empty |= tables.reach(Role::King, white) >> black & 1 != 0;
    }
    let neighbours = ByColor::default();
    Block { frame: Frame { fixed, dims }, outer: stands.clone(), neighbours, empty }
}

/// Where the outer men of a block can move, by the colour of the man.
fn axis_neighbours(
    tables: &Tables,
    layout: &Layout,
    blocks: &[Block],
    n: usize,
) -> ByColor<Vec<Neighbour>> {
    let outer = layout.outer();
    let unit = if outer > 0 { layout.stride(outer - 1) } else { 1 };
    let Block { frame, outer: stands, .. } = &blocks[n];
    let mut neighbours = ByColor::<Vec<Neighbour>>::default();

    for (m, mover) in layout.movers()[..outer].iter().enumerate() {
        let from = stands[m];
        let Some(here) = layout.place(m, from) else { continue };
        let mut add = |to: u8, between: u64, exchange: Option<Exchange>| {
            let Some(there) = layout.place(m, to) else { return };
            let block = n + there / unit - here / unit;
            if between & frame.fixed == 0 && !blocks[block].empty {
                let (block, symmetry) = (block as u32, Symmetry::IDENTITY);
                neighbours[mover.color].push(Neighbour { block, symmetry, between, exchange });
            }
        };

        let reach = tables.reach(mover.role, from);
        for to in squares(reach & mover.squares & !frame.fixed) {
            add(to, tables.between(from, to), None);
        }
        if let Some(twins) = layout.twins().filter(|twins| twins.narrow == m) {
            for to in squares(twins.squares & !frame.fixed) {
                let exchange = Exchange { role: mover.role, from, to, off: !twins.squares };
                add(to, 0, Some(exchange));
            }
        }
    }
    neighbours
}
