//! Endings by their men.

use std::fmt;

use crate::board::{Color, Kind, Man, Position};

/// The most men besides the kings that cells are made for.
pub const MAX_MEN: usize = 6;

/// The men of an ending besides the kings: White's, then Black's, each queens, rooks, bishops,
/// knights, pawns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Material {
    men: Vec<Man>,
}

impl Material {
    /// The ending with these men besides the kings. None if a king is among them.
    pub fn new(men: impl IntoIterator<Item = Man>) -> Option<Material> {
        let mut men: Vec<Man> = men.into_iter().collect();
        men.sort_by_key(|man| (man.color, std::cmp::Reverse(man.kind)));
        men.iter().all(|man| man.kind != Kind::King).then_some(Material { men })
    }

    /// The ending of a name like `KRPvKR`.
    pub fn parse(name: &str) -> Option<Material> {
        let (white, black) = name.split_once('v')?;
        let mut men = Vec::new();
        for (color, letters) in [(Color::White, white), (Color::Black, black)] {
            for letter in letters.strip_prefix('K')?.chars() {
                men.push(Man { color, kind: Kind::of_letter(letter)? });
            }
        }
        Material::new(men)
    }

    /// The ending of a position.
    pub fn of(position: &Position) -> Material {
        let men = position.men().map(|(_, man)| man).filter(|man| man.kind != Kind::King);
        Material::new(men).unwrap_or(Material { men: Vec::new() })
    }

    /// The men besides the kings.
    pub fn men(&self) -> &[Man] {
        &self.men
    }

    /// Whether there are pawns.
    pub fn has_pawns(&self) -> bool {
        self.men.iter().any(|man| man.kind == Kind::Pawn)
    }

    /// The same with the colours exchanged.
    #[must_use]
    pub fn swapped(&self) -> Material {
        let mut men: Vec<Man> = self.men.iter().map(|man| man.swapped()).collect();
        men.sort_by_key(|man| (man.color, std::cmp::Reverse(man.kind)));
        Material { men }
    }

    /// Whether both sides have the same men.
    pub fn is_symmetric(&self) -> bool {
        *self == self.swapped()
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (color, separator) in [(Color::White, "v"), (Color::Black, "")] {
            f.write_str("K")?;
            for man in self.men.iter().filter(|man| man.color == color) {
                write!(f, "{}", man.kind.letter())?;
            }
            f.write_str(separator)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["KRPvKR", "KvK", "KNNvKP", "KQRBNPvKPP"] {
            assert_eq!(Material::parse(name).map(|m| m.to_string()).as_deref(), Some(name));
        }
        for bad in ["KRP", "vK", "RvK", "KXvK", "KKvK", ""] {
            assert_eq!(Material::parse(bad), None, "{bad}");
        }
        let material = Material::parse("KRvKR").expect("an ending");
        assert!(material.is_symmetric() && !material.has_pawns());
    }
}
