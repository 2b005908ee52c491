//! Parts of endings: a set of squares for every pawn, closed under pawn steps.
//!
//! A part never goes by the name of the whole. Its name lists, pawn by pawn (White's first), the
//! squares where the pawn's way begins; `+` says that the squares in front belong to it: `b7`,
//! `b2+`, `a3+c3+`.

use std::fmt;

use hoffman_board::{Color, Material, PAWN_SQUARES, Role};
use hoffman_space::PawnStructure;

/// The squares of every pawn of a table. Pawns of one colour have equal or disjoint sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Colour and squares of each pawn, White's first, in ascending order of sets.
    pub pawns: Vec<(Color, u64)>,
}

/// All squares that a pawn can step to from a set, the set included.
pub fn ways(color: Color, set: u64) -> u64 {
    let mut all = set & PAWN_SQUARES.0;
    for _ in 0..5 {
        all |= color.fold_wb(all << 8, all >> 8) & PAWN_SQUARES.0;
    }
    all
}

impl Part {
    /// The part with these pawn squares: sets are closed under steps, overlapping sets of one
    /// colour are united.
    pub fn new(pawns: impl IntoIterator<Item = (Color, u64)>) -> Part {
        let mut pawns: Vec<(Color, u64)> =
            pawns.into_iter().map(|(color, set)| (color, ways(color, set))).collect();
        loop {
            let before = pawns.clone();
            for i in 0..pawns.len() {
                for j in 0..pawns.len() {
                    if pawns[i].0 == pawns[j].0 && pawns[i].1 & pawns[j].1 != 0 {
                        pawns[i].1 |= pawns[j].1;
                    }
                }
            }
            if pawns == before {
                break;
            }
        }
        pawns.sort_by_key(|&(color, set)| (color == Color::Black, set.trailing_zeros(), set));
        Part { pawns }
    }

    /// All squares for all pawns of an ending.
    pub fn whole(material: &Material) -> Part {
        let pawns = Color::ALL.iter().flat_map(|&color| {
            let n = *material.count.get(color).get(Role::Pawn) as usize;
            std::iter::repeat_n((color, PAWN_SQUARES.0), n)
        });
        Part { pawns: pawns.collect() }
    }

    /// Whether every pawn may stand everywhere.
    pub fn is_whole(&self) -> bool {
        self.pawns.iter().all(|&(_, set)| set == PAWN_SQUARES.0)
    }

    /// Colours exchanged, board turned upside down.
    #[must_use]
    pub fn swapped(&self) -> Part {
        Part::new(self.pawns.iter().map(|&(color, set)| (color.other(), set.swap_bytes())))
    }

    /// All pawn structures of the part.
    pub fn structures(&self) -> Vec<PawnStructure> {
        let mut all = vec![PawnStructure::default()];
        for (i, &(color, set)) in self.pawns.iter().enumerate() {
            let like_last = i > 0 && self.pawns[i - 1] == (color, set);
            let mut next = Vec::new();
            for structure in all {
                // Like pawns are placed in ascending order, so that each structure comes once.
                let from = match structure.of(color) {
                    placed if like_last => 64 - placed.leading_zeros(),
                    _ => 0,
                };
                for s in from..64 {
                    if set >> s & 1 != 0 && structure.occupied() >> s & 1 == 0 {
                        let mut structure = structure;
                        *structure.of_mut(color) |= 1 << s;
                        next.push(structure);
                    }
                }
            }
            all = next;
        }
        all
    }

    /// Whether every structure of `other` is one of this part.
    pub fn covers(&self, other: &Part) -> bool {
        self.pawns.len() == other.pawns.len()
            && self.pawns.iter().zip(&other.pawns).all(|(a, b)| a.0 == b.0 && b.1 & !a.1 == 0)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &(color, set)) in self.pawns.iter().enumerate() {
            if i > 0 {
                f.write_str("-")?;
            }
            if set == PAWN_SQUARES.0 {
                f.write_str("all")?;
                continue;
            }
            let behind = color.fold_wb(set << 8, set >> 8);
            let ahead = color.fold_wb(set >> 8, set << 8);
            let files_first = (0..8u32).flat_map(|file| (0..8).map(move |rank| 8 * rank + file));
            for s in files_first.filter(|s| (set & !behind) >> s & 1 != 0) {
                let square = hoffman_board::Square::new(s);
                let plus = if ahead >> s & 1 != 0 { "+" } else { "" };
                write!(f, "{square}{plus}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_squares() {
        let b7 = 1 << 49;
        assert_eq!(Part::new([(Color::White, b7)]).to_string(), "b7");
        assert_eq!(Part::new([(Color::White, 1 << 9)]).to_string(), "b2+");
        assert_eq!(Part::new([(Color::Black, 1 << 9)]).to_string(), "b2");
        assert_eq!(Part::new([(Color::White, 1 << 16 | 1 << 18)]).to_string(), "a3+c3+");
        let two = Part::new([(Color::Black, 1 << 54), (Color::White, 1 << 9)]);
        assert_eq!(two.to_string(), "b2+-g7+");
        assert_eq!(two.structures().len(), 36);
        let like = Part::new([(Color::White, 1 << 41), (Color::White, 1 << 41)]);
        assert_eq!(like.structures().len(), 1);
    }
}
