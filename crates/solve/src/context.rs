//! The slice being solved, cut into blocks.
//!
//! A block is one placement of the **outer** men: for complete endings both kings (462 pairs
//! without pawns, or 64 by 64 squares), the white one, or none, so that a block has at most 4096
//! rows wherever the number of men allows; in restricted tables also every piece with few squares.
//! All other movers but the lane are the block's dimensions.

use std::sync::atomic::{AtomicBool, Ordering};

use arrayvec::ArrayVec;
use hoffman_board::{Bitboard, ByColor, Color, MAX_PIECES as MAX_MOVERS, Role, Square, Variant};
use hoffman_space::{KingPlacement, Layout, PawnSquares};

use crate::blocks::{Block, axis_blocks, paired_blocks};
use crate::kernels::tables::{Tables, tables};
use crate::monitor::Monitor;
use crate::share::BlockShare;

/// The men of one colour, by where they are in the layout.
#[derive(Clone, Default)]
pub(crate) struct SideMen {
    /// Mover and role of the outer men.
    pub(crate) outer: Vec<(usize, Role)>,
    /// Dimension and role.
    pub(crate) dims: Vec<(usize, Role)>,
    /// The role of the lane man, if it is of this colour.
    pub(crate) lane: Option<Role>,
}

/// Everything about a slice that does not change while it is solved.
pub(crate) struct Context<'a> {
    pub(crate) tables: &'static Tables,
    pub(crate) layout: &'a Layout,
    pub(crate) pawns: PawnSquares,
    pub(crate) blocks: Vec<Block>,
    /// How many men are outer.
    pub(crate) outer: usize,
    pub(crate) dims: usize,
    pub(crate) men: ByColor<SideMen>,
    /// What a side's pawns attack.
    pub(crate) pawn_attacks: ByColor<u64>,
    /// The royal kings; none in suicide chess.
    pub(crate) kings: ByColor<Option<usize>>,
    /// The squares that the man of a dimension may stand on.
    dim_squares: Vec<u64>,
    /// The squares that the lane man may stand on.
    lane_squares: u64,
    /// The blocks that this process decides; none: all.
    share: Option<&'a BlockShare>,
    /// May want to stop the work.
    monitor: Option<&'a dyn Monitor>,
    /// Whether blocks were left out because of that.
    incomplete: AtomicBool,
}

impl<'a> Context<'a> {
    pub(crate) fn new(layout: &'a Layout, pawns: PawnSquares) -> Context<'a> {
        let tables = tables();
        let movers = layout.movers();
        let outer = layout.outer();
        let dims = movers.len() - 1 - outer;
        let mut men = ByColor::<SideMen>::default();

        for (m, mover) in movers.iter().enumerate() {
            let men = &mut men[mover.color];
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

        let kings = ByColor::new_with(|color| {
            let royal = |m: &hoffman_space::Mover| m.color == color && m.role == Role::King;
            let at = movers.iter().position(royal);
            at.filter(|_| layout.variant() == Variant::Normal)
        });
        let blocks = match layout.kings() {
            KingPlacement::Pairs => paired_blocks(tables, dims),
            KingPlacement::Axes => axis_blocks(tables, layout, kings, dims, pawns),
        };

        let pawn_attacks = ByColor::new_with(|color| tables.pawn_attacks(color, pawns.of(color)));
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
            share: None,
            monitor: None,
            incomplete: AtomicBool::new(false),
        }
    }

    /// The same for work that can be stopped between blocks.
    pub(crate) fn watched_by(self, monitor: &'a dyn Monitor) -> Context<'a> {
        Context { monitor: Some(monitor), ..self }
    }

    /// The same for a process that decides some blocks, and others the rest.
    pub(crate) fn shared(self, share: &'a BlockShare) -> Context<'a> {
        Context { share: Some(share), ..self }
    }

    /// Whether this process decides a block.
    pub(crate) fn is_own(&self, block: usize) -> bool {
        self.share.is_none_or(|share| share.is_own(block))
    }

    /// Whether it decides a block or has to know what others decide there.
    pub(crate) fn is_seen(&self, block: usize) -> bool {
        self.share.is_none_or(|share| share.is_seen(block))
    }

    /// Leaves the rest of the work undone.
    pub(crate) fn give_up(&self) {
        self.incomplete.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to stop. A block before which that is asked is left out then.
    pub(crate) fn is_stopped(&self) -> bool {
        let stopped = self.monitor.is_some_and(Monitor::is_stopped);
        if stopped {
            self.give_up();
        }
        stopped
    }

    /// Whether blocks were left out, so that what was found last is of no use.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }

    /// The same slice, cut into blocks that no man leaves.
    pub(crate) fn isolated(&self) -> Context<'a> {
        let alone = |block: &Block| Block {
            frame: block.frame,
            outer: block.outer.clone(),
            neighbours: ByColor::default(),
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

    /// The men of a side with the given role (or all) as a set of movers.
    pub(crate) fn takers(&self, color: Color, role: Option<Role>) -> u32 {
        let movers = self.layout.movers().iter().enumerate();
        movers
            .filter(|(_, m)| m.color == color && role.is_none_or(|role| role == m.role))
            .fold(0, |set, (i, _)| set | 1 << i)
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

    /// The men of a position: colour, role, square.
    pub(crate) fn men_at(
        &self,
        block: &Block,
        row: usize,
        lane: Square,
    ) -> Vec<(Color, Role, Square)> {
        let men = self.layout.movers().iter().enumerate().filter(|(_, m)| m.is_man());
        let movers = men.map(|(m, mover)| {
            let square = self.square_of(block, row, m);
            (mover.color, mover.role, square.map_or(lane, |s| Square::new(u32::from(s))))
        });
        let pawns = Color::ALL.into_iter().flat_map(|color| {
            let squares = Bitboard(self.pawns.of(color)).into_iter();
            squares.map(move |square| (color, Role::Pawn, square))
        });
        movers.chain(pawns).collect()
    }

    /// The lane squares of a row for which the position is legal with `turn` to move: every man on
    /// a square of its own, no two on one, kings apart, the king of the other side not attacked.
    #[inline(always)]
    pub(crate) fn legal(&self, block: &Block, row: usize, turn: Color) -> u64 {
        let Some(occupied) = self.occupied(block, row) else { return 0 };
        let mut lanes = self.lane_squares & !occupied;
        if !self.layout.mixed().is_empty() {
            lanes &= self.admitted(block, row);
        }

        let ByColor { white: Some(white), black: Some(black) } = self.kings else { return lanes };
        let kings = ByColor { white, black }.map(|king| self.square_of(block, row, king));
        match (kings.white, kings.black) {
            (Some(w), Some(b)) if self.tables.reach(Role::King, w) >> b & 1 != 0 => return 0,
            (Some(k), None) | (None, Some(k)) => lanes &= !self.tables.reach(Role::King, k),
            _ => {}
        }

        match kings[turn.other()] {
            Some(king) => lanes & self.safe_for_king(block, row, (turn, king), occupied),
            None => lanes & self.safe_for_lane_king(block, row, turn, occupied),
        }
    }

    /// The squares of all men but the lane man; none if two stand on one or a man where it may
    /// not.
    #[inline(always)]
    fn occupied(&self, block: &Block, row: usize) -> Option<u64> {
        if block.empty {
            return None;
        }
        let frame = block.frame;
        let mut occupied = frame.fixed;
        for i in 0..frame.dims {
            let bit = 1u64 << frame.square(row, i);
            if occupied & bit != 0 || self.dim_squares[i] & bit == 0 {
                return None;
            }
            occupied |= bit;
        }
        Some(occupied)
    }

    /// The lanes on which the king, which is the lane man, is not attacked.
    #[inline(always)]
    fn safe_for_lane_king(
        &self,
        block: &Block,
        row: usize,
        attackers: Color,
        occupied: u64,
    ) -> u64 {
        let men = &self.men[attackers];
        let mut lanes = !self.pawn_attacks[attackers];
        for &(m, role) in &men.outer {
            lanes &= !self.tables.attacks(role, block.outer[m], occupied);
        }
        for &(i, role) in &men.dims {
            lanes &= !self.tables.attacks(role, block.frame.square(row, i), occupied);
        }
        lanes
    }

    /// The lanes with which a king on a known square is not attacked: the lane man is in the way
    /// of all that would attack it, and does not attack it.
    #[inline(always)]
    fn safe_for_king(
        &self,
        block: &Block,
        row: usize,
        (attackers, king): (Color, u8),
        occupied: u64,
    ) -> u64 {
        if self.pawn_attacks[attackers] >> king & 1 != 0 {
            return 0;
        }

        let men = &self.men[attackers];
        let mut lanes = u64::MAX;
        // Two loops: an iterator over both lists makes this pass a third slower.
        for &(m, role) in &men.outer {
            lanes &= self.shield((block.outer[m], role), king, occupied);
        }
        for &(i, role) in &men.dims {
            lanes &= self.shield((block.frame.square(row, i), role), king, occupied);
        }
        match men.lane {
            Some(role) if role != Role::King => lanes & !self.tables.attacks(role, king, occupied),
            _ => lanes,
        }
    }

    /// The lanes on which the lane man keeps a man from attacking a king: all where it does not
    /// attack it anyway.
    #[inline(always)]
    fn shield(&self, (from, role): (u8, Role), king: u8, occupied: u64) -> u64 {
        // Kings that touch were sorted out.
        if role == Role::King || self.tables.reach(role, from) >> king & 1 == 0 {
            return u64::MAX;
        }
        let between = self.tables.between(from, king);
        if between & occupied == 0 { between } else { u64::MAX }
    }

    /// The lane squares for which like men can be told apart so that each stands on a square of
    /// its own.
    fn admitted(&self, block: &Block, row: usize) -> u64 {
        let movers = self.layout.movers().len();
        let stands: ArrayVec<u8, MAX_MOVERS> =
            (0..movers).map(|m| self.square_of(block, row, m).unwrap_or(0)).collect();
        self.layout.admitted(&stands, movers - 1)
    }
}
