//! The layout of a slice: where in its array of values a position stands.
//!
//! The men that move inside a slice are the **movers**: both kings, then White's pieces, then Black's,
//! each side ordered queen, rook, bishop, knight. The last mover is the **lane**: 64 positions that
//! differ only in its square make one row. A pawnless slice leads with the 462 canonical king pairs;
//! with pawns every mover, kings included, has an axis of 64 squares. Removing a mover keeps the order
//! of the others, so the values of a smaller ending can mostly be read as they stand.

use hoffman_board::{Color, Material, Role, Symmetry, material::NAMING_ORDER};

use crate::kings::king_pairs;

/// A man that moves inside a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mover {
    /// Whose man it is.
    pub color: Color,
    /// What it is; never a pawn.
    pub role: Role,
}

/// How the two kings are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KingPlacement {
    /// 462 canonical pairs, all other men moved along by the symmetry.
    Pairs,
    /// 64 squares each.
    Axes,
}

/// The arrangement of a slice's positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    movers: Vec<Mover>,
    kings: KingPlacement,
}

impl Layout {
    /// The layout of all slices of an ending.
    pub fn new(material: &Material) -> Layout {
        let mut movers: Vec<Mover> =
            Color::ALL.iter().map(|&color| Mover { color, role: Role::King }).collect();
        for color in Color::ALL {
            for role in NAMING_ORDER {
                if role != Role::Pawn {
                    let n = *material.count.get(color).get(role);
                    movers.extend((0..n).map(|_| Mover { color, role }));
                }
            }
        }
        let paired = !material.has_pawns() && movers.len() > 2;
        Layout { movers, kings: if paired { KingPlacement::Pairs } else { KingPlacement::Axes } }
    }

    /// The movers: white king, black king, the other men; the last one is the lane.
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// How the kings are laid out.
    pub fn kings(&self) -> KingPlacement {
        self.kings
    }

    /// The number of values of one side to move.
    pub fn len(&self) -> usize {
        match self.kings {
            KingPlacement::Pairs => king_pairs().pairs.len() << (6 * (self.movers.len() - 2)),
            KingPlacement::Axes => 1 << (6 * self.movers.len()),
        }
    }

    /// Always false; there are at least two kings.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The distance in the array between neighbouring squares of mover `m`, as if it were an axis.
    pub fn stride(&self, m: usize) -> usize {
        1 << (6 * (self.movers.len() - 1 - m))
    }

    /// Where the positions with these king squares begin, and the symmetry to apply to all other men;
    /// none if the kings touch and the layout has no place for that.
    #[inline]
    pub fn king_base(&self, white: u8, black: u8) -> Option<(usize, Symmetry)> {
        match self.kings {
            KingPlacement::Pairs => king_pairs()
                .find(white, black)
                .map(|(pair, symmetry)| (pair << (6 * (self.movers.len() - 2)), symmetry)),
            KingPlacement::Axes => Some((
                white as usize * self.stride(0) + black as usize * self.stride(1),
                Symmetry::IDENTITY,
            )),
        }
    }

    /// The place of a position given by the squares of the movers; none if the kings touch.
    pub fn offset(&self, squares: &[u8]) -> Option<usize> {
        let (&[white, black], rest) = squares.split_first_chunk()?;
        let (base, symmetry) = self.king_base(white, black)?;
        let mut offset = base;
        for (i, &s) in rest.iter().enumerate() {
            offset += symmetry.apply_index(s) as usize * self.stride(i + 2);
        }
        Some(offset)
    }
}
