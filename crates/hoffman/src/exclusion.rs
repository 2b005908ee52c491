//! Moves that the side that attacks does without.

use hoffman_board::{Bitboard, Color};
use hoffman_probe::list::squares_of;

use crate::what_if::{MovesOfSide, WhatIf, WhatIfError};

/// Moves that a side does without, whichever side that will be: they lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion(Excluded);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Excluded {
    From {
        squares: Bitboard,
        text: String,
    },
    To {
        squares: Bitboard,
        text: String,
    },
    ToAttacked,
    /// A pattern as in control files.
    Moves(String),
}

impl Exclusion {
    /// Moves that start on squares: `e1`, `a1 c1`, `e1-h4`, `a`, `7`, with commas or spaces
    /// between.
    ///
    /// # Errors
    /// They are no squares.
    pub fn from(text: &str) -> Result<Exclusion, WhatIfError> {
        let (squares, text) = (squares(text)?, text.to_owned());
        Ok(Exclusion(Excluded::From { squares, text }))
    }

    /// Moves that end there.
    ///
    /// # Errors
    /// They are no squares.
    pub fn to(text: &str) -> Result<Exclusion, WhatIfError> {
        let (squares, text) = (squares(text)?, text.to_owned());
        Ok(Exclusion(Excluded::To { squares, text }))
    }

    /// Moves that end on a square that the other side attacks.
    #[must_use]
    pub fn to_attacked() -> Exclusion {
        Exclusion(Excluded::ToAttacked)
    }

    /// All captures.
    #[must_use]
    pub fn captures() -> Exclusion {
        Exclusion(Excluded::Moves("?x*".to_owned()))
    }

    /// Captures of some pieces: `QR`, `qrbnp`.
    ///
    /// # Errors
    /// Other letters than these.
    pub fn captures_of(pieces: &str) -> Result<Exclusion, WhatIfError> {
        let pieces = letters(pieces, "QRBNP")?;
        Ok(Exclusion(Excluded::Moves(format!("?x[{pieces}]*"))))
    }

    /// Promotions to some pieces: `RBN`.
    ///
    /// # Errors
    /// Other letters than `QRBN`.
    pub fn promotion_to(pieces: &str) -> Result<Exclusion, WhatIfError> {
        let pieces = letters(pieces, "QRBN")?;
        Ok(Exclusion(Excluded::Moves(format!("P*=[{pieces}]"))))
    }

    /// What is assumed if a side does without the moves.
    ///
    /// # Errors
    /// There are no such moves.
    pub fn of(self, color: Color) -> Result<WhatIf, WhatIfError> {
        Ok(match self.0 {
            Excluded::From { squares, text } => WhatIf::ExcludedFrom { color, squares, text },
            Excluded::To { squares, text } => WhatIf::ExcludedTo { color, squares, text },
            Excluded::ToAttacked => WhatIf::ExcludedToAttacked(color),
            Excluded::Moves(pattern) => WhatIf::Forbidden(MovesOfSide::of(color, &pattern)?),
        })
    }
}

/// Sets of squares with commas or spaces between.
fn squares(text: &str) -> Result<Bitboard, WhatIfError> {
    let places = text.split([',', ' ']).filter(|place| !place.is_empty());
    let set = places.map(squares_of).try_fold(0, |all, set| Some(all | set?));
    let set = set.filter(|&set| set != 0).map(Bitboard);
    set.ok_or_else(|| WhatIfError::NoSquares(text.to_owned()))
}

/// Letters of pieces, as capitals.
pub(crate) fn letters(pieces: &str, known: &str) -> Result<String, WhatIfError> {
    let capitals = pieces.to_uppercase();
    if capitals.is_empty() || capitals.chars().any(|letter| !known.contains(letter)) {
        return Err(WhatIfError::Pieces { text: pieces.to_owned(), known: known.to_owned() });
    }
    Ok(capitals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusions_are_told_in_words() {
        let words = |exclusion: Exclusion| exclusion.of(Color::White).unwrap().to_string();
        let from = Exclusion::from("e1 a8").map(words);
        assert_eq!(from.unwrap(), "White loses by moving a man from e1 a8");
        let to = Exclusion::to("a1,c1-d2").map(words);
        assert_eq!(to.unwrap(), "White loses by moving a man to a1,c1-d2");
        assert_eq!(words(Exclusion::captures()), "White loses by ?x*");
        assert_eq!(Exclusion::captures_of("qp").map(words).unwrap(), "White loses by ?x[QP]*");
        assert_eq!(Exclusion::promotion_to("r").map(words).unwrap(), "White loses by P*=[R]");
    }

    #[test]
    fn what_excludes_nothing_is_refused() {
        for text in ["", " ", "e9", "e1;e2"] {
            assert_eq!(Exclusion::from(text), Err(WhatIfError::NoSquares(text.to_owned())));
            assert_eq!(Exclusion::to(text), Err(WhatIfError::NoSquares(text.to_owned())));
        }
        assert!(Exclusion::captures_of("K").is_err() && Exclusion::captures_of("").is_err());
        assert!(Exclusion::promotion_to("P").is_err());
    }
}
