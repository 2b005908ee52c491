//! The open slices of a search in words, by which a later search opens them again.
//!
//! Most of the time of a search goes into finding the slices that matter, and into solving some of
//! them again and again as the bounds behind them move. Opened from the lowest rank upwards each is
//! solved once. Nothing that was known of a slice is kept: words that are wrong cost time, and make
//! no answer wrong.

use std::fmt;
use std::str::FromStr;

use hoffman_board::shakmaty::{Board, Piece, Position as _};
use hoffman_board::{Bitboard, Color, Material, Rank, Role, Square};
use hoffman_solve::Monitor;
use hoffman_space::PawnStructure;

use crate::key::Key;
use crate::posted::Posted;
use crate::prover::{Progress, Prover};

/// How many slices are opened between two looks at the limits.
const TOGETHER: usize = 16;

impl Prover {
    /// The open slices, each in words: the pawns as in a FEN, the pieces, and of a piece that has
    /// just promoted its square: `8/5p2/8/8/8/8/8/8 KQk Qd8`. Those with a piece on a square that
    /// assumptions exclude are left out; a search finds them again.
    #[must_use]
    pub fn opened(&self) -> Vec<String> {
        let keys = self.slices().in_order().into_iter().flatten();
        let keys = keys.filter(|key| key.family.posted == Posted::default());
        keys.map(|key| Words(key).to_string()).collect()
    }

    /// Opens slices that another search had open, as far as there is room; `tell` says whether to
    /// go on.
    ///
    /// # Errors
    /// One of them cannot arise from the position: its words.
    pub fn open_again(
        &mut self,
        slices: &[String],
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), String> {
        let mut keys = Vec::with_capacity(slices.len());
        for words in slices {
            let key = words.parse::<Words>().ok().filter(|Words(key)| self.may_arise(key));
            keys.push(key.ok_or_else(|| words.clone())?.0);
        }
        let groups = self.slices().groups(keys.into_iter());
        for some in groups.iter().flat_map(|group| group.chunks(TOGETHER)) {
            if !self.open_in_room(some, monitor, tell) {
                break;
            }
        }
        Ok(())
    }

    /// Whether a slice has no more men of either side than the position, and no more pawns.
    fn may_arise(&self, key: &Key) -> bool {
        let board = self.position().board();
        Color::ALL.into_iter().all(|color| {
            let own = board.by_color(color);
            let men = Role::ALL.iter().map(|&role| *key.family.material.count.get(color).get(role));
            let pawns = key.pawns.of(color).count_ones() as usize;
            men.map(usize::from).sum::<usize>() <= own.count()
                && pawns <= (board.pawns() & own).count()
        })
    }
}

/// A slice, in words.
struct Words(Key);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { family, pawns } = self.0;
        let mut board = Board::empty();
        for color in Color::ALL {
            let pawn = Piece { color, role: Role::Pawn };
            Bitboard(pawns.of(color)).into_iter().for_each(|at| board.set_piece_at(at, pawn));
        }
        write!(f, "{board} ")?;

        for of in Color::ALL {
            let pieces = family.material.men_in_naming_order().into_iter();
            let pieces = pieces.filter(|man| man.0 == of && man.1 != Role::Pawn);
            for (color, role) in std::iter::once((of, Role::King)).chain(pieces) {
                write!(f, "{}", Piece { color, role }.char())?;
            }
        }
        match family.promoted {
            Some((color, role, at)) => write!(f, " {}{at}", Piece { color, role }.char()),
            None => Ok(()),
        }
    }
}

impl FromStr for Words {
    type Err = ();

    fn from_str(words: &str) -> Result<Words, ()> {
        let mut parts = words.split(' ');
        let board: Board = parts.next().ok_or(())?.parse().map_err(drop)?;
        let back = Bitboard::from_rank(Rank::First) | Bitboard::from_rank(Rank::Eighth);
        if board.pawns() != board.occupied() || (board.pawns() & back).any() {
            return Err(());
        }
        let pieces: Option<Vec<Piece>> =
            parts.next().ok_or(())?.chars().map(Piece::from_char).collect();
        let pieces = pieces.filter(|pieces| has_two_kings(pieces)).ok_or(())?;
        let promoted = parts.next().map(|piece| promoted(piece, &pieces).ok_or(())).transpose()?;
        if parts.next().is_some() {
            return Err(());
        }

        let pawns = board.iter().map(|(_, man)| (man.color, man.role));
        let men = pieces.iter().map(|piece| (piece.color, piece.role)).chain(pawns);
        let of = |color| u64::from(board.by_color(color));
        let pawns = PawnStructure { white: of(Color::White), black: of(Color::Black) };
        let mut key = Key::of(Material::from_men(men), pawns);
        key.family.promoted = promoted;
        Ok(Words(key))
    }
}

/// Whether pieces are a king of either side, and no pawns.
fn has_two_kings(pieces: &[Piece]) -> bool {
    let kings = |color| pieces.iter().filter(|p| (p.color, p.role) == (color, Role::King)).count();
    kings(Color::White) == 1
        && kings(Color::Black) == 1
        && pieces.iter().all(|piece| piece.role != Role::Pawn)
}

/// One of the pieces, where it has just promoted: `Qd8`.
fn promoted(words: &str, pieces: &[Piece]) -> Option<(Color, Role, Square)> {
    let (piece, square) = words.split_at_checked(1)?;
    let piece = Piece::from_char(piece.chars().next()?)?;
    let square: Square = square.parse().ok()?;
    let fits = pieces.contains(&piece)
        && piece.role != Role::King
        && piece.color.relative_rank(square.rank()) == Rank::Eighth;
    fits.then_some((piece.color, piece.role, square))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_read_as_they_are_written() {
        for words in
            ["8/5p2/8/8/8/8/P7/8 KQk Qd8", "8/8/8/8/8/8/8/8 KRkn", "8/8/8/8/8/8/5p2/8 Kkq qa1"]
        {
            let key = words.parse::<Words>().map(|Words(key)| Words(key).to_string());
            assert_eq!(key.as_deref(), Ok(words));
        }
    }

    #[test]
    fn what_is_no_slice_is_refused() {
        let wrong = [
            "",
            "8/8/8/8/8/8/8/8",
            "8/8/8/8/8/8/8/8 Kk ",
            "8/8/8/8/8/8/8/P7 Kk",
            "8/8/8/8/8/8/Q7/8 Kk",
            "8/8/8/8/8/8/8/8 KKk",
            "8/8/8/8/8/8/8/8 KPk",
            "8/8/8/8/8/8/8/8 KQk Qd1",
            "8/8/8/8/8/8/8/8 KQk Rd8",
            "8/8/8/8/8/8/8/8 KQk Kd8",
            "8/8/8/8/8/8/8/8 KQk \u{e9}d8",
            "8/8/8/8/8/8/8/8 KQk Qd8 Qd8",
        ];
        for words in wrong {
            assert!(words.parse::<Words>().is_err(), "{words}");
        }
    }
}
