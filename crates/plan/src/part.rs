//! Parts of endings: a set of squares for every pawn, closed under pawn steps.
//!
//! A part never goes by the name of the whole. Its name lists, pawn by pawn (White's first), the
//! squares where the pawn's way begins; `+` says that the squares in front belong to it: `b7`,
//! `b2+`, `a3+c3+`.

use std::collections::BTreeSet;
use std::fmt;

use hoffman_board::{Color, Material, PAWN_SQUARES, Role, Square};
use hoffman_space::PawnSquares;

/// The squares of every pawn of a table. Pawns of one colour have equal or disjoint sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Colour and squares of each pawn, White's first, in ascending order of sets.
    pub pawns: Vec<(Color, u64)>,
}

/// The a-file.
const FILE: u64 = 0x0101_0101_0101_0101;

/// The squares that a word of a part's name stands for.
fn squares_of_word(color: Color, word: &str) -> Option<u64> {
    if word == "all" {
        return Some(PAWN_SQUARES.0);
    }
    let (mut squares, mut rest) = (0, word);
    while !rest.is_empty() {
        let square: Square = rest.get(..2)?.parse().ok()?;
        rest = &rest[2..];
        let way = ways(color, 1 << u32::from(square));
        squares |= match rest.strip_prefix('+') {
            Some(after) => {
                rest = after;
                way
            }
            None => 1 << u32::from(square),
        };
    }
    Some(squares)
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

    /// The parts of an ending in which every pawn stays on a file of its own choice, one of those
    /// that are images of each other. Pawns leave their files by captures only, which lead out of
    /// the ending: so these parts do not need each other, and are the whole ending together. None
    /// of an ending without pawns.
    pub fn by_files(material: &Material) -> Vec<Part> {
        let mut choices = BTreeSet::from([Vec::new()]);
        for (color, squares) in Part::whole(material).pawns {
            let mut longer = BTreeSet::new();
            for choice in &choices {
                for file in 0..8 {
                    let pawn = (color == Color::Black, squares & FILE << file);
                    let mut pawns = [choice.as_slice(), &[pawn]].concat();
                    pawns.sort_unstable();
                    longer.insert(pawns);
                }
            }
            choices = longer;
        }
        if !material.has_pawns() {
            return Vec::new();
        }
        let swappable = material.is_symmetric();
        let first = |choice| Part::of_key(choice).first_image(swappable);
        let parts: BTreeSet<Vec<(bool, u64)>> = choices.into_iter().map(first).collect();
        parts.into_iter().map(Part::of_key).collect()
    }

    /// The part of these images under mirroring, and under exchange of colours if `swappable`, that
    /// comes first, as a key: whether pawns are black, and their squares.
    fn first_image(&self, swappable: bool) -> Vec<(bool, u64)> {
        let key = |part: &Part| -> Vec<_> {
            part.pawns.iter().map(|&(color, set)| (color == Color::Black, set)).collect()
        };
        let mut images = vec![self.clone(), self.mirrored()];
        if swappable {
            images.extend([self.swapped(), self.mirrored().swapped()]);
        }
        images.iter().map(key).min().unwrap_or_default()
    }

    /// The part of a key.
    fn of_key(key: Vec<(bool, u64)>) -> Part {
        let color = |is_black: bool| if is_black { Color::Black } else { Color::White };
        Part::new(key.into_iter().map(|(is_black, set)| (color(is_black), set)))
    }

    /// The part of an ending that a name says; none if it is not the name of any.
    pub fn of_name(material: &Material, name: &str) -> Option<Part> {
        let whole = Part::whole(material);
        let words: Vec<&str> = name.split('-').collect();
        if words.len() != whole.pawns.len() {
            return None;
        }
        let pawns = whole.pawns.iter().zip(&words);
        let pawns = pawns.map(|(&(color, _), word)| Some((color, squares_of_word(color, word)?)));
        let part = Part::new(pawns.collect::<Option<Vec<_>>>()?);
        (part.to_string() == name && !part.is_whole()).then_some(part)
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

    /// Left and right exchanged.
    #[must_use]
    pub fn mirrored(&self) -> Part {
        let mirror = |set: u64| set.swap_bytes().reverse_bits();
        Part::new(self.pawns.iter().map(|&(color, set)| (color, mirror(set))))
    }

    /// All pawn structures of the part.
    pub fn structures(&self) -> Vec<PawnSquares> {
        let mut all = vec![PawnSquares::default()];
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
    fn parts_by_files_are_the_whole_and_no_two_share_a_slice() {
        for (name, parts) in [
            ("KRvKR", 0),
            ("KPvK", 4),
            ("KPPvK", 20),
            ("KRPvKP", 32),
            ("KPvKP", 20),
            ("KPPvKP", 144),
        ] {
            let material: Material = name.parse().unwrap();
            let all = Part::by_files(&material);
            assert_eq!(all.len(), parts, "{name}");
            let mut found = BTreeSet::new();
            for part in &all {
                let slices = part.structures().into_iter();
                let slices = slices.map(|s| s.normalized(material.is_symmetric()).0);
                let slices: BTreeSet<PawnSquares> = slices.collect();
                let before = found.len();
                found.extend(&slices);
                assert_eq!(found.len(), before + slices.len(), "{name} {part}");
            }
            if parts > 0 {
                let whole = Part::whole(&material).structures().into_iter();
                let whole: BTreeSet<_> =
                    whole.map(|s| s.normalized(material.is_symmetric()).0).collect();
                assert!(found == whole, "{name}");
            }
        }
    }

    #[test]
    fn names_are_read() {
        let material: Material = "KPPvKP".parse().unwrap();
        for part in Part::by_files(&material) {
            assert_eq!(Part::of_name(&material, &part.to_string()), Some(part));
        }
        for name in ["b2+-b2+-all", "a3+c3+-b7-g7+"] {
            assert_eq!(Part::of_name(&material, name).unwrap().to_string(), name);
        }
        // Sets that are not closed, overlap, are not sorted, are no squares, are the whole.
        for name in ["b4-c7-a2", "b2+-b3+-a2", "c2+-b2+-all", "b-c-d", "", "b7", "all-all-all"] {
            assert_eq!(Part::of_name(&material, name), None, "{name}");
        }
    }

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
