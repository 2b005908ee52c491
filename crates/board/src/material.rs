//! Material: how many men of each kind each side has, and the two names an ending goes by.

use std::fmt;
use std::str::FromStr;

use shakmaty::{ByColor, ByRole, Color, Role};

use crate::MAX_PIECES;

/// Why a text names no ending.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// A letter other than K, Q, R, B, N, P.
    #[error("'{0}' is not the name of an ending: '{1}' is no piece letter (K Q R B N P)")]
    Letter(String, char),
    /// Not exactly one king on each side, each leading its side.
    #[error(
        "'{0}' is not the name of an ending: each side needs one king, named first, as in KRPvKR"
    )]
    Kings(String),
    /// More men than a table can have.
    #[error("'{0}' has more than {MAX_PIECES} men")]
    TooMany(String),
}

/// The roles in the order endings are named, without the king.
pub const NAMING_ORDER: [Role; 5] =
    [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// How many men of each role each side has. One king a side in normal chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Material {
    /// The counts.
    pub count: ByColor<ByRole<u8>>,
}

impl Material {
    /// Two bare kings.
    pub fn bare_kings() -> Material {
        let side = ByRole { king: 1, ..ByRole::default() };
        Material { count: ByColor { white: side, black: side } }
    }

    /// Counts the men of a list of colours and roles.
    pub fn from_men(men: impl IntoIterator<Item = (Color, Role)>) -> Material {
        let mut count = ByColor { white: ByRole::default(), black: ByRole::default() };
        for (color, role) in men {
            *count.get_mut(color).get_mut(role) += 1;
        }
        Material { count }
    }

    /// The number of men on the board.
    pub fn men(&self) -> usize {
        let side = |c: &ByRole<u8>| c.iter().map(|&n| usize::from(n)).sum::<usize>();
        side(&self.count.white) + side(&self.count.black)
    }

    /// Whether either side has a pawn.
    pub fn has_pawns(&self) -> bool {
        self.count.white.pawn + self.count.black.pawn > 0
    }

    /// Whether both sides have the same men.
    pub fn is_symmetric(&self) -> bool {
        self.count.white == self.count.black
    }

    /// The colours exchanged.
    #[must_use]
    pub fn swapped(&self) -> Material {
        Material { count: ByColor { white: self.count.black, black: self.count.white } }
    }

    /// The strength by which the first-named side is chosen: number of men, then piece values
    /// (queen 10000, rook 1000, bishop 100, knight 10, pawn 1).
    fn strength(&self, color: Color) -> (u32, u32) {
        let c = self.count.get(color);
        let n = |x: u8| u32::from(x);
        let men = c.iter().map(|&x| n(x)).sum();
        (
            men,
            n(c.king) * 100_000
                + n(c.queen) * 10_000
                + n(c.rook) * 1_000
                + n(c.bishop) * 100
                + n(c.knight) * 10
                + n(c.pawn),
        )
    }

    /// Whether White is the stronger side or both are equal, as tables are named.
    pub fn is_normalized(&self) -> bool {
        self.strength(Color::White) >= self.strength(Color::Black)
    }

    /// The material with the stronger side White, and whether the colours had to be exchanged.
    pub fn normalized(&self) -> (Material, bool) {
        if self.is_normalized() { (*self, false) } else { (self.swapped(), true) }
    }

    /// The men besides the kings, White's first, strongest first.
    pub fn men_in_naming_order(&self) -> Vec<(Color, Role)> {
        let mut men = Vec::new();
        for color in Color::ALL {
            for role in NAMING_ORDER {
                for _ in 0..*self.count.get(color).get(role) {
                    men.push((color, role));
                }
            }
        }
        men
    }

    /// The file name's stem, as `krpkr`.
    pub fn stem(&self) -> String {
        self.to_string().replace('v', "").to_lowercase()
    }

    /// This material with one man less; none if there is no such man.
    pub fn without(&self, color: Color, role: Role) -> Option<Material> {
        let mut result = *self;
        let n = result.count.get_mut(color).get_mut(role);
        *n = n.checked_sub(1)?;
        Some(result)
    }

    /// This material with one man more.
    #[must_use]
    pub fn with(&self, color: Color, role: Role) -> Material {
        let mut result = *self;
        *result.count.get_mut(color).get_mut(role) += 1;
        result
    }

    /// The moves out of an ending: who moves, and the men that are left, in the ending's colours.
    pub fn exits(&self) -> Vec<(Color, Material)> {
        const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
        let mut found = Vec::new();
        for mover in Color::ALL {
            let enemy = mover.other();
            for victim in NAMING_ORDER {
                found.extend(self.without(enemy, victim).map(|m| (mover, m)));
            }
            let Some(pawnless) = self.without(mover, Role::Pawn) else { continue };
            for promoted in PROMOTIONS {
                let with = pawnless.with(mover, promoted);
                found.push((mover, with));
                for victim in PROMOTIONS {
                    found.extend(with.without(enemy, victim).map(|m| (mover, m)));
                }
            }
        }
        found
    }
}

impl fmt::Display for Material {
    /// The name as Syzygy writes it: `KRPvKR`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for color in Color::ALL {
            if color == Color::Black {
                f.write_str("v")?;
            }
            let side = self.count.get(color);
            for role in std::iter::once(Role::King).chain(NAMING_ORDER) {
                for _ in 0..*side.get(role) {
                    write!(f, "{}", role.upper_char())?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for Material {
    type Err = MaterialError;

    /// Accepts `KRPvKR` and `krpkr` in either case and any order of men behind each king.
    fn from_str(text: &str) -> Result<Material, MaterialError> {
        let kings = || MaterialError::Kings(text.to_owned());
        let mut count = ByColor { white: ByRole::default(), black: ByRole::default() };
        let mut side: Option<Color> = None;
        let mut men = 0;
        for ch in text.chars() {
            if matches!(ch, 'v' | 'V') && side == Some(Color::White) {
                continue;
            }
            let role =
                Role::from_char(ch).ok_or_else(|| MaterialError::Letter(text.to_owned(), ch))?;
            if role == Role::King {
                side = match side {
                    None => Some(Color::White),
                    Some(Color::White) => Some(Color::Black),
                    Some(Color::Black) => return Err(kings()),
                };
            }
            men += 1;
            if men > MAX_PIECES {
                return Err(MaterialError::TooMany(text.to_owned()));
            }
            *count.get_mut(side.ok_or_else(kings)?).get_mut(role) += 1;
        }
        if side == Some(Color::Black) { Ok(Material { count }) } else { Err(kings()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, name, stem) in
            [("KRPvKR", "KRPvKR", "krpkr"), ("krpkr", "KRPvKR", "krpkr"), ("kk", "KvK", "kk")]
        {
            let material: Material = text.parse().unwrap();
            assert_eq!(material.to_string(), name);
            assert_eq!(material.stem(), stem);
        }
        assert!("kqvkrk".parse::<Material>().is_err());
        assert!("qkk".parse::<Material>().is_err());
        assert!("".parse::<Material>().is_err());
        let (m, swapped) = "KPvKQ".parse::<Material>().unwrap().normalized();
        assert_eq!((m.to_string().as_str(), swapped), ("KQvKP", true));
    }
}
