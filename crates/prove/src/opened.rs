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
use hoffman_space::PawnSquares;

use crate::key::{Key, SliceFamily};
use crate::posted::{self, Posted};
use crate::prover::Prover;

/// How many slices are opened between two looks at the limits.
const TOGETHER: usize = 16;

impl Prover {
    /// The open slices, each in words: the pawns as in a FEN, the pieces, of a piece that has just
    /// landed its square, and those of pieces that stand where assumptions exclude it:
    /// `8/5p2/8/8/8/8/8/8 KQk Qd8 on ke1`.
    #[must_use]
    pub fn opened(&self) -> Vec<String> {
        let groups = [self.slices().solved_leaves(), self.slices().in_order()];
        groups.into_iter().flatten().flatten().map(|key| Words(key).to_string()).collect()
    }

    /// How many slices are open.
    #[must_use]
    pub fn open_slices(&self) -> usize {
        self.slices().count()
    }

    /// Opens slices that another search had open, as far as there is room; `tell` says whether to
    /// go on. Slices of other assumptions are passed over.
    ///
    /// # Errors
    /// One of them cannot arise from the position: its words.
    pub fn open_again(
        &mut self,
        slices: &[String],
        monitor: &dyn Monitor,
        tell: &mut dyn FnMut(&Prover) -> bool,
    ) -> Result<(), String> {
        let mut keys = Vec::with_capacity(slices.len());
        for words in slices {
            let key = words.parse::<Words>().ok().filter(|Words(key)| self.may_arise(key));
            keys.push(key.ok_or_else(|| words.clone())?.0);
        }
        let assumptions = &self.slices().assumptions;
        let is_posted = |(color, role, at)| assumptions.is_excluded(color, role, at);
        let exists = |family: &SliceFamily| {
            family.posted.men().all(is_posted) && self.slices().has_squares(family)
        };
        keys.retain(|key: &Key| exists(&key.family));
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
        if let Some(landed) = family.landed {
            write!(f, " {}", placed_in_words(landed))?;
        }
        let mut posted = family.posted.men().map(placed_in_words).peekable();
        if posted.peek().is_some() {
            f.write_str(ON)?;
        }
        let words: Vec<String> = posted.collect();
        f.write_str(&words.join(" "))
    }
}

/// Stands before the pieces on squares that assumptions exclude.
const ON: &str = " on ";

fn placed_in_words((color, role, at): (Color, Role, Square)) -> String {
    format!("{}{at}", Piece { color, role }.char())
}

impl FromStr for Words {
    type Err = ();

    fn from_str(words: &str) -> Result<Words, ()> {
        let (words, on) =
            words.split_once(ON).map_or((words, None), |(slice, on)| (slice, Some(on)));
        let mut parts = words.split(' ');
        let board: Board = parts.next().ok_or(())?.parse().map_err(drop)?;
        let back = Bitboard::from_rank(Rank::First) | Bitboard::from_rank(Rank::Eighth);
        if board.pawns() != board.occupied() || (board.pawns() & back).any() {
            return Err(());
        }
        let pieces: Option<Vec<Piece>> =
            parts.next().ok_or(())?.chars().map(Piece::from_char).collect();
        let pieces = pieces.filter(|pieces| has_two_kings(pieces)).ok_or(())?;
        let landed = |piece| landed(piece, &pieces, &board).ok_or(());
        let landed = parts.next().map(landed).transpose()?;
        if parts.next().is_some() {
            return Err(());
        }

        let pawns = board.iter().map(|(_, man)| (man.color, man.role));
        let men = pieces.iter().map(|piece| (piece.color, piece.role)).chain(pawns);
        let of = |color| u64::from(board.by_color(color));
        let pawns = PawnSquares { white: of(Color::White), black: of(Color::Black) };
        let mut key = Key::of(Material::from_men(men), pawns);
        key.family.landed = landed;
        if let Some(men) = on {
            key.family.posted = posted(men, &key.family.material).ok_or(())?;
        }
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

/// A piece and its square: `Qd8`.
fn placed(words: &str) -> Option<(Piece, Square)> {
    let (piece, square) = words.split_at_checked(1)?;
    Some((Piece::from_char(piece.chars().next()?)?, square.parse().ok()?))
}

/// Some of the men of a slice where they are posted: `Ke1 ra8`.
fn posted(words: &str, material: &Material) -> Option<Posted> {
    let men = words.split(' ').map(|man| {
        let (piece, square) = placed(man)?;
        (piece.role != Role::Pawn).then_some((piece.color, piece.role, square))
    });
    let men: Vec<_> = men.collect::<Option<_>>()?;
    let posted = Posted::of(men.iter().copied());
    (posted.men().count() == men.len() && posted::fits(posted, material)).then_some(posted)
}

/// One of the pieces, where it has just landed: `Qd8`. The only one has promoted.
fn landed(words: &str, pieces: &[Piece], pawns: &Board) -> Option<(Color, Role, Square)> {
    let (piece, square) = placed(words)?;
    let is_only = pieces.len() == 3;
    let fits = pieces.contains(&piece)
        && piece.role != Role::King
        && pawns.piece_at(square).is_none()
        && (!is_only || piece.color.relative_rank(square.rank()) == Rank::Eighth);
    fits.then_some((piece.color, piece.role, square))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_read_as_they_are_written() {
        let slices = [
            "8/5p2/8/8/8/8/P7/8 KQk Qd8",
            "8/8/8/8/8/8/8/8 KRkn",
            "8/p7/8/8/8/8/P7/8 KBkn nc4",
            "8/8/8/8/8/8/5p2/8 Kkq qa1",
            "8/8/8/8/8/8/5p2/8 KRkq qa1 on Ke1 Rh1 kb2",
        ];
        for words in slices {
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
            "8/8/8/8/2P5/8/8/8 KBkn nc4",
            "8/8/8/8/8/8/8/8 KQk Kd8",
            "8/8/8/8/8/8/8/8 KQk \u{e9}d8",
            "8/8/8/8/8/8/8/8 KQk Qd8 Qd8",
            "8/8/8/8/8/8/8/8 KQk on",
            "8/8/8/8/8/8/8/8 KQk on ",
            "8/8/8/8/8/8/8/8 KQk on Ra1",
            "8/8/8/8/8/8/8/8 KQk on Qa1 Qa2",
            "8/8/8/8/8/8/8/8 KQk on Qa1 Ka1",
            "8/8/8/8/8/8/P7/8 KQk on Pa2",
        ];
        for words in wrong {
            assert!(words.parse::<Words>().is_err(), "{words}");
        }
    }
}
