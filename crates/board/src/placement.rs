//! A placement: where every man of a piece list stands, the side to move, and the en passant
//! square.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Color, Square};

use crate::{MAX_PIECES, Symmetry};

/// A square for every slot of a piece list, in list order. Nothing is said about legality.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// `squares[slot]`: where the man of that slot stands.
    pub squares: ArrayVec<Square, MAX_PIECES>,
    /// The side to move.
    pub turn: Color,
    /// The square jumped over by a pawn that has just made a double step.
    pub en_passant: Option<Square>,
}

impl Placement {
    /// The set of all squares taken.
    pub fn occupied(&self) -> Bitboard {
        self.squares.iter().copied().collect()
    }

    /// The image under a board symmetry. The en passant square goes along.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Placement {
        Placement {
            squares: self.squares.iter().map(|&s| symmetry.apply(s)).collect(),
            turn: self.turn,
            en_passant: self.en_passant.map(|s| symmetry.apply(s)),
        }
    }
}
