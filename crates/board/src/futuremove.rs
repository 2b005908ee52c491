//! Kinds of moves, as control files name them.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;

use crate::{Role, Square};

/// What a control file calls a move: `Ke4`, `KxP`, `P=Q`, `PxR=Q`. Only a quiet move is known by
/// its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FuturemoveKind {
    /// A man goes to an empty square; of pawns, a step without promotion.
    Quiet(Role, Square),
    /// A man takes another one, promoting or not.
    Capture {
        /// The man that takes.
        by: Role,
        /// What is taken.
        of: Role,
        /// What a pawn becomes.
        promotion: Option<Role>,
    },
    /// A pawn promotes without capture.
    Promotion(Role),
}

impl FuturemoveKind {
    /// The kind of a move of a man to a square.
    pub fn of_move(
        role: Role,
        to: Square,
        capture: Option<Role>,
        promotion: Option<Role>,
    ) -> FuturemoveKind {
        match (capture, promotion) {
            (Some(of), promotion) => FuturemoveKind::Capture { by: role, of, promotion },
            (None, Some(promotion)) => FuturemoveKind::Promotion(promotion),
            (None, None) => FuturemoveKind::Quiet(role, to),
        }
    }

    /// All kinds of normal chess.
    pub fn all() -> impl Iterator<Item = FuturemoveKind> {
        const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
        let roles = Role::ALL.into_iter();
        let quiet = roles.clone().flat_map(|role| {
            Square::ALL.into_iter().map(move |to| FuturemoveKind::Quiet(role, to))
        });
        let captures = roles
            .clone()
            .flat_map(|by| Role::ALL.map(|of| FuturemoveKind::Capture { by, of, promotion: None }));
        let promotions = PROMOTIONS.map(FuturemoveKind::Promotion);
        let by = Role::Pawn;
        let capture_promotions = roles.flat_map(move |of| {
            PROMOTIONS.map(|role| FuturemoveKind::Capture { by, of, promotion: Some(role) })
        });
        quiet.chain(captures).chain(promotions).chain(capture_promotions)
    }

    /// Whether it is a pawn's step without promotion.
    pub fn is_pawn_step(self) -> bool {
        matches!(self, FuturemoveKind::Quiet(Role::Pawn, _))
    }

    /// Whether something is taken.
    pub fn is_capture(self) -> bool {
        matches!(self, FuturemoveKind::Capture { .. })
    }

    /// What the pawn becomes, if it promotes.
    pub fn promotion(self) -> Option<Role> {
        match self {
            FuturemoveKind::Capture { promotion, .. } => promotion,
            FuturemoveKind::Promotion(role) => Some(role),
            FuturemoveKind::Quiet(..) => None,
        }
    }

    /// Its name, see [`FuturemoveKind`].
    pub fn name(self) -> ArrayString<5> {
        let mut name = ArrayString::new();
        match self {
            FuturemoveKind::Quiet(role, to) => {
                name.push(role.upper_char());
                name.push(to.file().char());
                name.push(to.rank().char());
            }
            FuturemoveKind::Capture { by, of, .. } => {
                name.push(by.upper_char());
                name.push('x');
                name.push(of.upper_char());
            }
            FuturemoveKind::Promotion(_) => name.push(Role::Pawn.upper_char()),
        }
        if let Some(role) = self.promotion() {
            name.push('=');
            name.push(role.upper_char());
        }
        name
    }
}

impl fmt::Display for FuturemoveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

/// A text names no kind of move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no kind of move, such as Ke4, KxP, P=Q or PxR=Q")]
pub struct FuturemoveKindError;

impl FromStr for FuturemoveKind {
    type Err = FuturemoveKindError;

    fn from_str(text: &str) -> Result<FuturemoveKind, FuturemoveKindError> {
        let role = |letter: char| {
            let role = Role::from_char(letter).filter(|role| role.upper_char() == letter);
            role.ok_or(FuturemoveKindError)
        };
        let letters: Vec<char> = text.chars().collect();
        Ok(match *letters.as_slice() {
            ['P', '=', new] => FuturemoveKind::Promotion(role(new)?),
            ['P', 'x', of, '=', new] => FuturemoveKind::Capture {
                by: Role::Pawn,
                of: role(of)?,
                promotion: Some(role(new)?),
            },
            [by, 'x', of] => {
                FuturemoveKind::Capture { by: role(by)?, of: role(of)?, promotion: None }
            }
            [by, _, _] => {
                let to = text.get(1..).and_then(|square| square.parse().ok());
                FuturemoveKind::Quiet(role(by)?, to.ok_or(FuturemoveKindError)?)
            }
            _ => return Err(FuturemoveKindError),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_read_back() {
        let mut names = BTreeSet::new();
        for kind in FuturemoveKind::all() {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.to_string(), kind.name().as_str());
            names.insert(kind.to_string());
        }
        // 6 men to 64 squares, 36 captures, 4 promotions, 6 times 4 with a capture.
        assert_eq!(names.len(), 384 + 36 + 4 + 24);
        for name in ["Ke4", "KxP", "P=Q", "PxR=Q", "Pa4", "PxP"] {
            assert!(names.contains(name), "{name}");
        }
        for text in ["", "K", "e4", "ke4", "Ki4", "Ke9", "KxX", "P=", "K=Q", "PxR=", "PxR=QQ", "é="]
        {
            assert!(text.parse::<FuturemoveKind>().is_err(), "{text}");
        }
    }
}
