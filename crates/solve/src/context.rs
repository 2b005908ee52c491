//! The slice being solved, cut into blocks.
//!
//! A block is one placement of the **outer** kings: both (462 pairs without pawns, or 64 by 64 squares),
//! the white one, or none, so that a block has at most 4096 rows wherever the number of men allows. All
//! other movers but the lane are the block's dimensions.

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::{KingPlacement, Layout, PawnStructure, king_pairs};

use crate::kernels::dense::Frame;
use crate::kernels::tables::{Tables, role_index, squares, tables};

/// The men of one colour, by where they are in the layout.
#[derive(Clone, Default)]
pub(crate) struct SideMen {
    /// Dimension and role.
    pub(crate) dims: Vec<(usize, Role)>,
    /// The role of the lane man, if he is of this colour.
    pub(crate) lane: Option<Role>,
    /// Whether this colour's king is outer.
    pub(crate) outer_king: bool,
}

/// One block.
pub(crate) struct Block {
    pub(crate) frame: Frame,
    /// The squares of the outer kings, White's first; 64 for a king that is not outer.
    pub(crate) kings: [u8; 2],
    /// `neighbours[color]`: blocks that this colour's king can step to, and the symmetry that carries
    /// the board there. White first.
    pub(crate) neighbours: [Vec<(u32, Symmetry)>; 2],
    /// Outer kings that touch: no position in this block exists.
    pub(crate) empty: bool,
}

/// Everything about a slice that does not change while it is solved.
pub(crate) struct Context<'a> {
    pub(crate) tables: &'static Tables,
    pub(crate) layout: &'a Layout,
    pub(crate) pawns: PawnStructure,
    pub(crate) blocks: Vec<Block>,
    /// How many kings are outer.
    pub(crate) outer: usize,
    pub(crate) dims: usize,
    /// White's men, Black's men.
    pub(crate) men: [SideMen; 2],
    /// `pawn_attacks[color]`.
    pub(crate) pawn_attacks: [u64; 2],
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
        let outer = match layout.kings() {
            KingPlacement::Pairs => 2,
            KingPlacement::Axes => movers.len().saturating_sub(3).min(2),
        };
        let dims = movers.len() - 1 - outer;
        let mut men = [SideMen::default(), SideMen::default()];
        for (m, mover) in movers.iter().enumerate() {
            let men = &mut men[side(mover.color)];
            if m < outer {
                men.outer_king = true;
            } else if m == movers.len() - 1 {
                men.lane = Some(mover.role);
            } else {
                men.dims.push((m - outer, mover.role));
            }
        }
        let blocks = match (layout.kings(), outer) {
            (KingPlacement::Pairs, _) => paired_blocks(tables, dims),
            (KingPlacement::Axes, 0) => vec![Block {
                frame: Frame { fixed: pawns.occupied(), dims },
                kings: [64, 64],
                neighbours: [Vec::new(), Vec::new()],
                empty: false,
            }],
            (KingPlacement::Axes, outer) => axis_blocks(tables, outer, dims, pawns),
        };
        let pawn_attacks = [
            tables.pawn_attacks(Color::White, pawns.white),
            tables.pawn_attacks(Color::Black, pawns.black),
        ];
        Context { tables, layout, pawns, blocks, outer, dims, men, pawn_attacks }
    }

    /// The number of rows of a block.
    pub(crate) fn rows(&self) -> usize {
        1 << (6 * self.dims)
    }

    /// The mover behind a dimension.
    pub(crate) fn mover_of(&self, dimension: usize) -> usize {
        dimension + self.outer
    }

    /// The lane mover.
    pub(crate) fn lane_mover(&self) -> usize {
        self.layout.movers().len() - 1
    }

    /// The square of a mover in a row, none for the lane.
    #[inline(always)]
    pub(crate) fn square_of(&self, block: &Block, row: usize, mover: usize) -> Option<u8> {
        if mover < self.outer {
            Some(block.kings[mover])
        } else if mover == self.lane_mover() {
            None
        } else {
            Some(block.frame.square(row, mover - self.outer))
        }
    }

    /// The lane squares of a row for which the position is legal with `turn` to move: no two men on a
    /// square, kings apart, the king of the other side not attacked.
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
            if occupied & bit != 0 {
                return 0;
            }
            occupied |= bit;
        }
        let mut lanes = !occupied;
        let kings = [self.square_of(block, row, 0), self.square_of(block, row, 1)];
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
        let Some(king) = kings[1 - attackers] else {
            return lanes & !self.pawn_attacks[attackers];
        };
        if self.pawn_attacks[attackers] >> king & 1 != 0 {
            return 0;
        }
        for &(i, role) in &self.men[attackers].dims {
            if role == Role::King {
                continue;
            }
            let from = frame.square(row, i) as usize & 63;
            if t.reach[role_index(role)][from] >> king & 1 != 0 {
                let between = t.between[from][king as usize & 63];
                if between & occupied == 0 {
                    lanes &= between;
                }
            }
        }
        if let Some(role) = self.men[attackers].lane
            && role != Role::King
        {
            lanes &= !t.attacks(role, king, occupied);
        }
        lanes
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
            let numbered = |(n, s): (usize, Symmetry)| (n as u32, s);
            Block {
                frame: Frame { fixed: 1 << w | 1 << b, dims },
                kings: [w, b],
                neighbours: [white.map(numbered).collect(), black.map(numbered).collect()],
                empty: false,
            }
        })
        .collect()
}

fn axis_blocks(tables: &Tables, outer: usize, dims: usize, pawns: PawnStructure) -> Vec<Block> {
    let reach = &tables.reach[role_index(Role::King)];
    let blocked = pawns.occupied();
    let mut blocks = Vec::new();
    for n in 0..1u32 << (6 * outer) {
        let kings: [u8; 2] =
            if outer == 1 { [n as u8, 64] } else { [(n >> 6) as u8, (n & 63) as u8] };
        let mut fixed = blocked;
        let mut empty = false;
        for &k in &kings[..outer] {
            empty |= blocked >> k & 1 != 0;
            fixed |= 1 << k;
        }
        empty |=
            outer == 2 && (kings[0] == kings[1] || reach[kings[0] as usize] >> kings[1] & 1 != 0);
        let mut neighbours = [Vec::new(), Vec::new()];
        if !empty {
            for c in 0..outer {
                for to in squares(reach[kings[c] as usize] & !blocked) {
                    let number = match (outer, c) {
                        (1, _) => u32::from(to),
                        (_, 0) => u32::from(to) << 6 | u32::from(kings[1]),
                        _ => u32::from(kings[0]) << 6 | u32::from(to),
                    };
                    if outer == 2 {
                        let other = kings[1 - c];
                        if to == other || reach[to as usize] >> other & 1 != 0 {
                            continue;
                        }
                    }
                    neighbours[c].push((number, Symmetry::IDENTITY));
                }
            }
        }
        blocks.push(Block { frame: Frame { fixed, dims }, kings, neighbours, empty });
    }
    blocks
}
