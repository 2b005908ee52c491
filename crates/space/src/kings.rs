//! The 462 canonical placements of two kings on a board without pawns.
//!
//! Numbered by white king square, then black king square, both ascending, as the file format
//! numbers them (white king in the triangle a1-d1-d4; if it stands on the diagonal, black king on
//! or below it).

use std::sync::LazyLock;

use hoffman_board::{Square, Symmetry};

/// No canonical pair: the kings touch or coincide.
const NONE: u16 = u16::MAX;

/// The pairs and the way from any two king squares to their pair.
pub struct KingPairs {
    /// `pairs[number]`: white king, black king.
    pub pairs: Vec<(Square, Square)>,
    /// `[white king * 64 + black king]`: number of the pair and the symmetry that leads to it.
    lookup: Vec<(u16, Symmetry)>,
}

impl KingPairs {
    fn new() -> KingPairs {
        let mut pairs = Vec::with_capacity(462);
        let mut lookup = vec![(NONE, Symmetry::IDENTITY); 64 * 64];
        for (pass, w, b) in [0, 1]
            .into_iter()
            .flat_map(|p| (0..64).flat_map(move |w| (0..64).map(move |b| (p, w, b))))
        {
            let (wk, bk) = (Square::new(w), Square::new(b));
            if wk.distance(bk) <= 1 {
                continue;
            }
            let symmetry = Symmetry::canonical(8, wk, bk);
            let slot = (w * 64 + b) as usize;
            if pass == 0 && symmetry.is_identity() {
                lookup[slot].0 = pairs.len() as u16;
                pairs.push((wk, bk));
            } else if pass == 1 {
                let image = symmetry.apply(wk) as usize * 64 + symmetry.apply(bk) as usize;
                lookup[slot] = (lookup[image].0, symmetry);
            }
        }
        KingPairs { pairs, lookup }
    }

    /// The number of the canonical pair that two king squares belong to, and the symmetry that
    /// carries the board there; none if the kings touch.
    #[inline]
    pub fn find(&self, white: u8, black: u8) -> Option<(usize, Symmetry)> {
        let (number, symmetry) = self.lookup[white as usize * 64 + black as usize];
        (number != NONE).then_some((number as usize, symmetry))
    }
}

/// The one table of king pairs.
pub fn king_pairs() -> &'static KingPairs {
    static PAIRS: LazyLock<KingPairs> = LazyLock::new(KingPairs::new);
    &PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_462() {
        let kings = king_pairs();
        assert_eq!(kings.pairs.len(), 462);
        for (number, &(w, b)) in kings.pairs.iter().enumerate() {
            assert_eq!(kings.find(w as u8, b as u8), Some((number, Symmetry::IDENTITY)));
        }
        assert_eq!(kings.find(0, 1), None);
        let (number, symmetry) = kings.find(40, 47).unwrap();
        assert_eq!((number, symmetry.apply_index(40)), (143, 2));
    }
}
