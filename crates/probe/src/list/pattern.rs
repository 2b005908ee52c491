//! Men on squares, as `wK:e1-h4 bP:a7`: which positions have them there.

use std::fmt;
use std::str::FromStr;

use hoffman_board::{Color, PieceList, Role, Square, Symmetry};

use super::ZugzwangKind;

/// Men that must stand on certain squares, each another man.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    wanted: Vec<WantedMan>,
}

/// A man and its squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WantedMan {
    color: Color,
    role: Role,
    squares: u64,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{word}' is no part of a pattern: w or b, a piece letter, a colon and squares, as in wK:e1-h4 \
     or bP:a7,b"
)]
pub struct PatternError {
    /// The word that is wrong.
    pub word: String,
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let words = text.split_ascii_whitespace();
        let wanted = words.map(|word| {
            WantedMan::of_word(word).ok_or_else(|| PatternError { word: word.to_owned() })
        });
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            return Err(PatternError { word: text.to_owned() });
        }
        Ok(Pattern { wanted })
    }
}

impl WantedMan {
    fn of_word(word: &str) -> Option<WantedMan> {
        let (man, places) = word.split_once(':')?;
        let mut letters = man.chars();
        let (color, role, None) = (letters.next()?, letters.next()?, letters.next()) else {
            return None;
        };
        let color = match color {
            'w' | 'W' => Color::White,
            'b' | 'B' => Color::Black,
            _ => return None,
        };
        let role = Role::from_char(role)?;
        let squares = places.split(',').map(squares_of).try_fold(0, |all, set| Some(all | set?))?;
        Some(WantedMan { color, role, squares })
    }
}

/// The squares of `a7`, `e1-h4` (a part of the board by two corners), `a` or `7`, a bit each; none
/// if the text has another form.
pub fn squares_of(text: &str) -> Option<u64> {
    let square = |text: &str| text.parse::<Square>().ok();
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (square(first)?, square(last)?);
        let between = |a: u32, b: u32, x: u32| (a.min(b)..=a.max(b)).contains(&x);
        let inside = |s: &Square| {
            between(first.file().into(), last.file().into(), s.file().into())
                && between(first.rank().into(), last.rank().into(), s.rank().into())
        };
        return Some(set(Square::ALL.into_iter().filter(inside)));
    }
    let mut letters = text.chars();
    match (letters.next()?, letters.next()) {
        (file @ 'a'..='h', None) => {
            Some(set(Square::ALL.into_iter().filter(|s| s.file().char() == file)))
        }
        (rank @ '1'..='8', None) => {
            Some(set(Square::ALL.into_iter().filter(|s| s.rank().char() == rank)))
        }
        _ => square(text).map(|square| set([square])),
    }
}

fn set(squares: impl IntoIterator<Item = Square>) -> u64 {
    squares.into_iter().fold(0, |set, square| set | 1 << u32::from(square))
}

impl fmt::Display for Pattern {
    /// The men with how many squares each may have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, wanted) in self.wanted.iter().enumerate() {
            let (blank, color) = (if place > 0 { " " } else { "" }, wanted.color.char());
            let (role, squares) = (wanted.role.upper_char(), wanted.squares.count_ones());
            write!(f, "{blank}{color}{role} on {squares} squares")?;
        }
        Ok(())
    }
}

/// How a position of a table is turned to be shown: by a symmetry of the board, then, with the
/// colours exchanged, top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) symmetry: Symmetry,
    pub(super) swapped: bool,
}

impl Image {
    /// As it stands in the table.
    pub(super) const PLAIN: Image = Image { symmetry: Symmetry::IDENTITY, swapped: false };

    pub(super) fn square(self, square: Square) -> Square {
        let square = self.symmetry.apply(square);
        if self.swapped { square.flip_vertical() } else { square }
    }

    pub(super) fn color(self, color: Color) -> Color {
        if self.swapped { color.other() } else { color }
    }

    /// What a zugzwang of the table is as it is shown.
    pub(super) fn kind(self, kind: ZugzwangKind) -> ZugzwangKind {
        match kind {
            ZugzwangKind::DrawLoss if self.swapped => ZugzwangKind::LossDraw,
            ZugzwangKind::LossDraw if self.swapped => ZugzwangKind::DrawLoss,
            same => same,
        }
    }
}

impl Pattern {
    /// A man that the pattern has more of than a table, if there is one.
    pub(super) fn surplus(&self, pieces: &PieceList, swapped: bool) -> Option<(Color, Role)> {
        let count = |color: Color, role| {
            let color = if swapped { color.other() } else { color };
            pieces.iter().filter(|p| (p.color, p.role) == (color, role)).count()
        };
        let wanted =
            |color, role| self.wanted.iter().filter(|w| (w.color, w.role) == (color, role)).count();
        let men = self.wanted.iter().map(|w| (w.color, w.role));
        men.into_iter().find(|&(color, role)| wanted(color, role) > count(color, role))
    }

    /// The pattern as the positions of the table have to fit it, to be shown as that image.
    pub(super) fn seen_from_table(&self, image: Image) -> Pattern {
        let back = |set: u64| {
            let set = if image.swapped { set.swap_bytes() } else { set };
            image.symmetry.inverse().apply_set(set)
        };
        let wanted = self.wanted.iter().map(|wanted| WantedMan {
            color: image.color(wanted.color),
            squares: back(wanted.squares),
            ..*wanted
        });
        Pattern { wanted: wanted.collect() }
    }

    /// Of the squares `lanes` of the man in a slot those with which the pattern is there, the
    /// other men standing on `squares` by slot; without such a man all or none.
    pub(super) fn lanes(
        &self,
        pieces: &PieceList,
        squares: &[u8],
        lane: Option<usize>,
        lanes: u64,
    ) -> u64 {
        let fit = Fit { pattern: self, pieces, squares, lane };
        lanes & fit.rest(0, 0)
    }
}

/// The search for men that fit a pattern.
struct Fit<'f> {
    pattern: &'f Pattern,
    pieces: &'f PieceList,
    squares: &'f [u8],
    lane: Option<usize>,
}

impl Fit<'_> {
    /// The squares of the lane with which men can be found for the pattern from `place` on, those
    /// of `dealt`, a bit a slot, being taken.
    fn rest(&self, place: usize, dealt: u32) -> u64 {
        let Some(wanted) = self.pattern.wanted.get(place) else { return u64::MAX };
        let mut lanes = 0;
        for (slot, piece) in self.pieces.iter().enumerate() {
            let is_it = (piece.color, piece.role) == (wanted.color, wanted.role);
            if !is_it || dealt >> slot & 1 != 0 {
                continue;
            }
            let here = if self.lane == Some(slot) {
                wanted.squares
            } else {
                let square = self.squares.get(slot).map_or(0, |square| 1 << (square & 63));
                if wanted.squares & square == 0 { 0 } else { u64::MAX }
            };
            if here != 0 {
                lanes |= here & self.rest(place + 1, dealt | 1 << slot);
            }
            if lanes == u64::MAX {
                break;
            }
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::ListedPiece;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn squares_are_named_alone_by_files_by_ranks_and_by_corners() {
        let count = |text: &str| pattern(text).wanted[0].squares.count_ones();
        assert_eq!(count("wK:a7"), 1);
        assert_eq!(count("bk:a7,b8"), 2);
        assert_eq!(count("wP:a"), 8);
        assert_eq!(count("wP:a,2"), 15);
        assert_eq!(count("wK:e1-h4"), 16);
        assert_eq!(count("wK:h4-e1"), 16);
        assert_eq!(pattern("wK:e1-h4"), pattern("wK:h1-e4"));
        for wrong in ["", "K:e1", "wK", "wX:a1", "wK:i1", "wK:a1-", "wK:a1,", "wKK:a1", "wK:a1 x"] {
            assert!(wrong.parse::<Pattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn like_men_are_told_apart_by_squares_alone() {
        let piece = |color, role| ListedPiece::unrestricted(color, role);
        let mut pieces = PieceList::new();
        for (color, role) in [
            (Color::White, Role::King),
            (Color::White, Role::Rook),
            (Color::White, Role::Rook),
            (Color::Black, Role::King),
        ] {
            pieces.push(piece(color, role));
        }
        let two = pattern("wR:a1 wR:a1-b1");
        // With the second rook on a1 the first may be on b1, and with it elsewhere nowhere.
        assert_eq!(two.lanes(&pieces, &[9, 0, 0, 63], Some(1), u64::MAX), 0b11);
        assert_eq!(two.lanes(&pieces, &[9, 0, 1, 63], Some(1), u64::MAX), 0b1);
        assert_eq!(two.lanes(&pieces, &[9, 0, 7, 63], Some(1), u64::MAX), 0);
        assert_eq!(two.lanes(&pieces, &[9, 1, 0, 63], None, u64::MAX), u64::MAX);
        assert_eq!(
            pattern("wR:a wR:a wR:a").surplus(&pieces, false),
            Some((Color::White, Role::Rook))
        );
        assert_eq!(pattern("bR:a wR:a").surplus(&pieces, false), Some((Color::Black, Role::Rook)));
        assert_eq!(two.surplus(&pieces, false), None);
    }

    #[test]
    fn a_pattern_is_turned_as_the_position_is() {
        let image = Image { symmetry: Symmetry::H, swapped: true };
        let seen = pattern("wP:a2").seen_from_table(image);
        assert_eq!(seen, pattern("bP:h7"));
        assert_eq!(image.square(Square::H7), Square::A2);
    }
}
