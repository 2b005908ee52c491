//! The slice being solved, cut into blocks.
//!
//! A block is one placement of the **outer** men: for complete endings both kings (462 pairs without
//! pawns, or 64 by 64 squares), the white one, or none, so that a block has at most 4096 rows wherever
//! the number of men allows; in restricted tables also every piece with few squares. All other movers
//! but the lane are the block's dimensions.

use std::sync::atomic::{AtomicBool, Ordering};

use arrayvec::ArrayVec;
use hoffman_board::{Color, Role, Symmetry, Variant};
use hoffman_space::{KingPlacement, Layout, PawnStructure, king_pairs};

use crate::kernels::dense::{Frame, map_row};
use crate::kernels::tables::{Tables, role_index, squares, tables};
use crate::table_solver::Monitor;
use crate::view::MAX_MOVERS;

/// The men of one colour, by where they are in the layout.
#[derive(Clone, Default)]
pub(crate) struct SideMen {
    /// Mover and role of the outer men.
    pub(crate) outer: Vec<(usize, Role)>,
    /// Dimension and role.
    pub(crate) dims: Vec<(usize, Role)>,
    /// The role of the lane man, if he is of this colour.
    pub(crate) lane: Option<Role>,
}

/// A block that an outer man can move to.
#[derive(Clone, Copy)]
pub(crate) struct Neighbour {
    pub(crate) block: u32,
    /// What carries the board there.
    pub(crate) symmetry: Symmetry,
    /// The squares passed on the way.
    pub(crate) between: u64,
    /// If he becomes the lane man by his move.
    pub(crate) exchange: Option<Exchange>,
}

impl Neighbour {
    /// Whether nothing can be in the way and every man stays who he is.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.between == 0 && self.exchange.is_none()
    }

    /// Whether a man of the row, of either block, stands in the way.
    #[inline(always)]
    fn is_barred(&self, frame: Frame, row: usize) -> bool {
        self.between != 0 && frame.others(row, usize::MAX) & self.between != 0
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
            let free = if self.is_barred(frame, row) { 0 } else { mask & !self.between };
            return (row, free);
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
            let free = if self.is_barred(frame, row) { 0 } else { mask & !self.between };
            return (row, free);
        }
        let inverse = self.symmetry.inverse();
        let image = &tables.image[inverse.index()];
        (map_row(image, row, frame.dims), inverse.apply_set(mask))
    }

    /// The positions of a row of the block from which it ends in `plane`, a plane of the neighbour.
    #[inline(always)]
    pub(crate) fn pull_row(&self, tables: &Tables, frame: Frame, row: usize, plane: &[u64]) -> u64 {
        if self.symmetry.is_identity() {
            return self.back(tables, frame, row, plane[row]).1;
        }
        let image = &tables.image[self.symmetry.index()];
        self.symmetry.inverse().apply_set(plane[map_row(image, row, frame.dims)])
    }
}

/// A move of the narrow one of two twins off his squares: from then on the other one, the lane man until
/// then, is the narrow one.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    role: Role,
    from: u8,
    /// Where the other one stands: his lane before the move.
    pub(crate) to: u8,
    /// The lanes that are no squares of the narrow one.
    off: u64,
}

impl Exchange {
    /// The lanes that the move can end on, in a row of the block that it leaves or of the other one.
    #[inline(always)]
    pub(crate) fn ends(&self, tables: &Tables, frame: Frame, row: usize) -> u64 {
        let others = frame.others(row, usize::MAX) & !(1 << self.from) | 1 << self.to;
        tables.attacks(self.role, self.from, others) & self.off
    }

    /// Whence positions of a row of the other block came by the move, and how many moves these are.
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
    /// `neighbours[color]`: where this colour's outer men can move.
    pub(crate) neighbours: [Vec<Neighbour>; 2],
    /// No position in this block exists: outer men touch or stand on each other.
    pub(crate) empty: bool,
}

/// Everything about a slice that does not change while it is solved.
pub(crate) struct Context<'a> {
    pub(crate) tables: &'static Tables,
    pub(crate) layout: &'a Layout,
    pub(crate) pawns: PawnStructure,
    pub(crate) blocks: Vec<Block>,
    /// How many men are outer.
    pub(crate) outer: usize,
    pub(crate) dims: usize,
    /// White's men, Black's men.
    pub(crate) men: [SideMen; 2],
    /// `pawn_attacks[color]`.
    pub(crate) pawn_attacks: [u64; 2],
    /// The royal kings, White's and Black's; none in suicide chess.
    pub(crate) kings: [Option<usize>; 2],
    /// The squares that the man of a dimension may stand on.
    dim_squares: Vec<u64>,
    /// The squares that the lane man may stand on.
    lane_squares: u64,
    /// Who may want to stop the work.
    monitor: Option<&'a dyn Monitor>,
    /// Whether blocks were left out because of that.
    incomplete: AtomicBool,
}

/// White 0, Black 1.
pub(crate) const fn side(color: Color) -> usize {
    match color {
        Color::White => 0,
        Color::Black => 1,
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(layout: &'a Layout, pawns: PawnStructure) -> Context<'a> {
        let tables = tables();
        let movers = layout.movers();
        let outer = layout.outer();
        let dims = movers.len() - 1 - outer;
        let mut men = [SideMen::default(), SideMen::default()];
        for (m, mover) in movers.iter().enumerate() {
            let men = &mut men[side(mover.color)];
            if !mover.is_man() {
                continue;
            }
            if m < outer {
                men.outer.push((m, mover.role));
            } else if m == movers.len() - 1 {
                men.lane = Some(mover.role);
            } else {
                men.dims.push((m - outer, mover.role));
            }
        }
        let kings = Color::ALL.map(|color| {
            let royal = |m: &hoffman_space::Mover| m.color == color && m.role == Role::King;
            let at = movers.iter().position(royal);
            at.filter(|_| layout.variant() == Variant::Normal)
        });
        let blocks = match layout.kings() {
            KingPlacement::Pairs => paired_blocks(tables, dims),
            KingPlacement::Axes => axis_blocks(tables, layout, kings, dims, pawns),
        };
        let pawn_attacks = [
            tables.pawn_attacks(Color::White, pawns.white),
            tables.pawn_attacks(Color::Black, pawns.black),
        ];
        let dim_squares = movers[outer..].iter().map(|m| m.squares).collect();
        let lane_squares = movers.last().map_or(0, |m| m.squares);
        Context {
            tables,
            layout,
            pawns,
            blocks,
            outer,
            dims,
            men,
            pawn_attacks,
            kings,
            dim_squares,
            lane_squares,
            monitor: None,
            incomplete: AtomicBool::new(false),
        }
    }

    /// The same for work that can be stopped between blocks.
    pub(crate) fn watched_by(self, monitor: &'a dyn Monitor) -> Context<'a> {
        Context { monitor: Some(monitor), ..self }
    }

    /// Whether the work is to stop. Whoever asks before a block leaves it out then.
    pub(crate) fn is_stopped(&self) -> bool {
        let stopped = self.monitor.is_some_and(Monitor::is_stopped);
        if stopped {
            self.incomplete.store(true, Ordering::Relaxed);
        }
        stopped
    }

    /// Whether blocks were left out, so that what was found last is of no use.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }

    /// The same slice, cut into blocks that nobody leaves.
    pub(crate) fn isolated(&self) -> Context<'a> {
        let alone = |block: &Block| Block {
            frame: block.frame,
            outer: block.outer.clone(),
            neighbours: [Vec::new(), Vec::new()],
            empty: block.empty,
        };
        Context {
            blocks: self.blocks.iter().map(alone).collect(),
            men: self.men.clone(),
            dim_squares: self.dim_squares.clone(),
            incomplete: AtomicBool::new(false),
            ..*self
        }
    }

    /// The number of rows of a block.
    pub(crate) fn rows(&self) -> usize {
        1 << (6 * self.dims)
    }

    /// The mover behind a dimension.
    pub(crate) fn mover_of(&self, dimension: usize) -> usize {
        dimension + self.outer
    }

    /// The squares that the lane man may stand on.
    pub(crate) fn lane_squares(&self) -> u64 {
        self.lane_squares
    }

    /// The lanes of a block that count, if every position is to count once.
    pub(crate) fn lanes_once(&self, block: &Block) -> u64 {
        self.layout.twins().map_or(u64::MAX, |twins| twins.once(block.outer[twins.narrow]))
    }

    /// The lane mover.
    pub(crate) fn lane_mover(&self) -> usize {
        self.layout.movers().len() - 1
    }

    /// Whether the rules are those of suicide chess.
    pub(crate) fn suicide(&self) -> bool {
        self.layout.variant() == Variant::Suicide
    }

    /// The square of a mover in a row, none for the lane.
    #[inline(always)]
    pub(crate) fn square_of(&self, block: &Block, row: usize, mover: usize) -> Option<u8> {
        if mover < self.outer {
            Some(block.outer[mover])
        } else if mover == self.lane_mover() {
            None
        } else {
            Some(block.frame.square(row, mover - self.outer))
        }
    }

    /// The lane squares of a row for which the position is legal with `turn` to move: every man on a
    /// square of his, no two on one, kings apart, the king of the other side not attacked.
    #[inline(always)]
    pub(crate) fn legal(&self, block: &Block, row: usize, turn: Color) -> u64 {
        if block.empty {
            return 0;
        }
        let t = self.tables;
        let frame = block.frame;
        let mut occupied = frame.fixed;
        for i in 0..frame.dims {
            let bit = 1u64 << frame.square(row, i);
            if occupied & bit != 0 || self.dim_squares[i] & bit == 0 {
                return 0;
            }
            occupied |= bit;
        }
        let mut lanes = self.lane_squares & !occupied;
        if !self.layout.mixed().is_empty() {
            lanes &= self.admitted(block, row);
        }
        let [Some(white), Some(black)] = self.kings else { return lanes };
        let kings = [white, black].map(|king| self.square_of(block, row, king));
        let king_reach = &t.reach[role_index(Role::King)];
        match kings {
            [Some(w), Some(b)] => {
                if king_reach[w as usize & 63] >> b & 1 != 0 {
                    return 0;
                }
            }
            [Some(k), None] | [None, Some(k)] => lanes &= !king_reach[k as usize & 63],
            [None, None] => {}
        }
        let attackers = side(turn);
        let men = &self.men[attackers];
        let Some(king) = kings[1 - attackers] else {
            lanes &= !self.pawn_attacks[attackers];
            let outer = men.outer.iter().map(|&(m, role)| (block.outer[m], role));
            let dims = men.dims.iter().map(|&(i, role)| (frame.square(row, i), role));
            for (from, role) in outer.chain(dims) {
                lanes &= !t.attacks(role, from, occupied);
            }
            return lanes;
        };
        if self.pawn_attacks[attackers] >> king & 1 != 0 {
            return 0;
        }
        let outer = men.outer.iter().map(|&(m, role)| (block.outer[m], role));
        let dims = men.dims.iter().map(|&(i, role)| (frame.square(row, i), role));
        for (from, role) in outer.chain(dims) {
            if role == Role::King {
                continue;
            }
            let from = from as usize & 63;
            if t.reach[role_index(role)][from] >> king & 1 != 0 {
                let between = t.between[from][king as usize & 63];
                if between & occupied == 0 {
                    lanes &= between;
                }
            }
        }
        if let Some(role) = men.lane
            && role != Role::King
        {
            lanes &= !t.attacks(role, king, occupied);
        }
        lanes
    }

    /// The lane squares for which like men can be told apart so that each stands on a square of his.
    fn admitted(&self, block: &Block, row: usize) -> u64 {
        let movers = self.layout.movers().len();
        let stands: ArrayVec<u8, MAX_MOVERS> =
            (0..movers).map(|m| self.square_of(block, row, m).unwrap_or(0)).collect();
        self.layout.admitted(&stands, movers - 1)
    }
}

fn paired_blocks(tables: &Tables, dims: usize) -> Vec<Block> {
    let pairs = king_pairs();
    let reach = &tables.reach[role_index(Role::King)];
    pairs
        .pairs
        .iter()
        .map(|&(w, b)| {
            let (w, b) = (w as u8, b as u8);
            let white = squares(reach[w as usize]).filter_map(|to| pairs.find(to, b));
            let black = squares(reach[b as usize]).filter_map(|to| pairs.find(w, to));
            let numbered = |(n, symmetry): (usize, Symmetry)| Neighbour {
                block: n as u32,
                symmetry,
                between: 0,
                exchange: None,
            };
            Block {
                frame: Frame { fixed: 1 << w | 1 << b, dims },
                outer: [w, b].into_iter().collect(),
                neighbours: [white.map(numbered).collect(), black.map(numbered).collect()],
                empty: false,
            }
        })
        .collect()
}

fn axis_blocks(
    tables: &Tables,
    layout: &Layout,
    kings: [Option<usize>; 2],
    dims: usize,
    pawns: PawnStructure,
) -> Vec<Block> {
    let outer = layout.outer();
    let movers = &layout.movers()[..outer];
    let king_reach = &tables.reach[role_index(Role::King)];
    let unit = if outer > 0 { layout.stride(outer - 1) } else { 1 };
    let mut blocks = Vec::new();
    let mut stands: ArrayVec<u8, MAX_MOVERS> =
        movers.iter().map(|m| m.squares.trailing_zeros() as u8).collect();
    loop {
        let mut fixed = pawns.occupied();
        let mut empty = false;
        for &s in &stands {
            empty |= fixed >> s & 1 != 0;
            fixed |= 1 << s;
        }
        if let [Some(w), Some(b)] = kings
            && w < outer
            && b < outer
        {
            empty |= king_reach[stands[w] as usize & 63] >> stands[b] & 1 != 0;
        }
        blocks.push(Block {
            frame: Frame { fixed, dims },
            outer: stands.clone(),
            neighbours: [Vec::new(), Vec::new()],
            empty,
        });
        // The next placement, the last man fastest.
        let next = (0..outer).rev().find(|&m| {
            let ahead = movers[m].squares & (u64::MAX << stands[m] << 1);
            let (square, more) =
                if ahead != 0 { (ahead, true) } else { (movers[m].squares, false) };
            stands[m] = square.trailing_zeros() as u8;
            more
        });
        if next.is_none() {
            break;
        }
    }
    for n in 0..blocks.len() {
        if blocks[n].empty {
            continue;
        }
        let Block { frame, outer: stands, .. } = &blocks[n];
        let mut neighbours = [Vec::new(), Vec::new()];
        for (m, mover) in movers.iter().enumerate() {
            let from = stands[m];
            let reach = tables.reach[role_index(mover.role)][from as usize & 63];
            let Some(here) = layout.place(m, from) else { continue };
            for to in squares(reach & mover.squares & !frame.fixed) {
                let between = tables.between[from as usize & 63][to as usize & 63];
                let Some(there) = layout.place(m, to) else { continue };
                let block = n + there / unit - here / unit;
                if between & frame.fixed == 0 && !blocks[block].empty {
                    let symmetry = Symmetry::IDENTITY;
                    let block = block as u32;
                    let exchange = None;
                    neighbours[side(mover.color)].push(Neighbour {
                        block,
                        symmetry,
                        between,
                        exchange,
                    });
                }
            }
            let Some(twins) = layout.twins().filter(|twins| twins.narrow == m) else { continue };
            for to in squares(twins.squares & !frame.fixed) {
                let Some(there) = layout.place(m, to) else { continue };
                let block = n + there / unit - here / unit;
                let exchange = Exchange { role: mover.role, from, to, off: !twins.squares };
                if !blocks[block].empty {
                    neighbours[side(mover.color)].push(Neighbour {
                        block: block as u32,
                        symmetry: Symmetry::IDENTITY,
                        between: 0,
                        exchange: Some(exchange),
                    });
                }
            }
        }
        blocks[n].neighbours = neighbours;
    }
    blocks
}
