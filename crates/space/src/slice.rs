//! Slices: pawn structures, their normal form, and how to read a structure through its normal
//! form.
//!
//! A board without castling looks the same in a left-right mirror, and the same with colours
//! exchanged and turned upside down. Of the (up to four) structures that are images of each other
//! one is solved.

use hoffman_board::{Color, Symmetry};

/// The squares of the pawns. What a slice is named by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PawnSquares {
    /// White pawns, as a set of squares.
    pub white: u64,
    /// Black pawns.
    pub black: u64,
}

/// How a position must be turned before it is looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Exchange the colours and turn the board upside down.
    pub swap: bool,
    /// Mirror left and right.
    pub mirror: bool,
}

impl Orientation {
    /// The board symmetry that goes with it.
    pub const fn symmetry(self) -> Symmetry {
        Symmetry::new(self.mirror, self.swap, false)
    }

    /// The colour that a colour becomes.
    pub fn color(self, color: Color) -> Color {
        if self.swap { color.other() } else { color }
    }

    /// This one, then the other.
    pub fn then(self, other: Orientation) -> Orientation {
        Orientation { swap: self.swap != other.swap, mirror: self.mirror != other.mirror }
    }
}

impl PawnSquares {
    /// All pawns.
    pub const fn occupied(self) -> u64 {
        self.white | self.black
    }

    /// The pawns of one colour.
    pub fn of(self, color: Color) -> u64 {
        color.fold_wb(self.white, self.black)
    }

    /// The pawns of one colour, to be changed.
    pub fn of_mut(&mut self, color: Color) -> &mut u64 {
        match color {
            Color::White => &mut self.white,
            Color::Black => &mut self.black,
        }
    }

    /// The image under an orientation.
    pub fn oriented(self, orientation: Orientation) -> PawnSquares {
        let symmetry = orientation.symmetry();
        let (white, black) = (symmetry.apply_set(self.white), symmetry.apply_set(self.black));
        if orientation.swap {
            PawnSquares { white: black, black: white }
        } else {
            PawnSquares { white, black }
        }
    }

    /// The smallest image under mirroring, and under exchange of colours if `swappable`, with the
    /// orientation that leads to it.
    pub fn normalized(self, swappable: bool) -> (PawnSquares, Orientation) {
        let mut best = (self, Orientation::default());
        for (swap, mirror) in [(false, true), (true, false), (true, true)] {
            if swap && !swappable {
                continue;
            }
            let orientation = Orientation { swap, mirror };
            let image = self.oriented(orientation);
            if image < best.0 {
                best = (image, orientation);
            }
        }
        best
    }
}
