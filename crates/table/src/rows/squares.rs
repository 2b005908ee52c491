//! Squares as rows need them: kings that touch, pairs of kings that stand for their images, rights
//! to take en passant, where promoted men stand, and the pawn structures of a list of pieces.

use std::collections::BTreeMap;

use hoffman_board::shakmaty::attacks;
use hoffman_board::{
    Bitboard, Color, ListedPiece, MAX_PIECES, PieceSlot, Rank, Role, Square, Symmetry,
};
use hoffman_space::PawnSquares;

use crate::index::IndexSpace;

/// The squares of the edge of the board.
const EDGE: u64 = 0xff81_8181_8181_81ff;

/// The squares on which pawns of a colour are promoted.
pub(super) fn last_rank(color: Color) -> u64 {
    color.fold_wb(0xff << 56, 0xff)
}

/// Where a promoted piece of a colour stands: on its last rank, but without pawns on any edge of
/// the board, as the symmetry of the layout takes one to the other.
#[inline(always)]
pub(super) fn promotion_squares(structure: PawnSquares, color: Color) -> u64 {
    if structure.occupied() == 0 { EDGE } else { last_rank(color) }
}

/// Whether two kings touch.
pub(super) fn touch(a: u8, b: u8) -> bool {
    (a & 7).abs_diff(b & 7) <= 1 && (a >> 3).abs_diff(b >> 3) <= 1
}

/// Whether a pair of kings is the representative of its images.
pub(super) fn is_canonical(ways: u8, white: u8, black: u8) -> bool {
    let square = |s: u8| Square::new(u32::from(s));
    Symmetry::canonical(ways, square(white), square(black)).is_identity()
}

/// The squares that a pawn of the side not to move may have jumped over: it stands on its fourth
/// rank, and no pawn stands on the two squares behind it.
pub(super) fn en_passant_squares(
    structure: PawnSquares,
    turn: Color,
) -> impl Iterator<Item = Square> {
    let mover = turn.other();
    let fourth = Bitboard::from(mover.fold_wb(Rank::Fourth, Rank::Fifth));
    (Bitboard(structure.of(mover)) & fourth).into_iter().filter_map(move |pawn| {
        let passed = pawn.offset(mover.fold_wb(-8, 8))?;
        (empty_squares(passed, turn) & structure.occupied() == 0).then_some(passed)
    })
}

/// The square jumped over and the one that the pawn came from.
pub(super) fn empty_squares(passed: Square, turn: Color) -> u64 {
    let start = passed.offset(turn.fold_wb(8, -8)).map_or(Bitboard::EMPTY, Bitboard::from);
    start.with(passed).0
}

/// The rights of a structure that a pawn can use: the side to move and the square jumped over.
pub(super) fn usable_rights(structure: PawnSquares) -> impl Iterator<Item = (Color, Square)> {
    [Color::White, Color::Black].into_iter().flat_map(move |turn| {
        let squares = en_passant_squares(structure, turn);
        squares.filter(move |&s| can_capture(structure, s, turn)).map(move |s| (turn, s))
    })
}

/// Whether a pawn of `turn` stands ready to take on a square.
fn can_capture(structure: PawnSquares, square: Square, turn: Color) -> bool {
    (attacks::pawn_attacks(turn.other(), square) & Bitboard(structure.of(turn))).any()
}

/// The pawn structures of a list of pieces, each with a square for every pawn's slot.
pub(super) fn pawn_placements(space: &IndexSpace) -> BTreeMap<PawnSquares, [u8; MAX_PIECES]> {
    let mut pawns = PawnPlacements { pieces: space.pieces(), all: BTreeMap::new() };
    pawns.place(0, PawnSquares::default(), &mut [0; MAX_PIECES]);
    pawns.all
}

/// Pawn structures being collected.
struct PawnPlacements<'a> {
    pieces: &'a [ListedPiece],
    all: BTreeMap<PawnSquares, [u8; MAX_PIECES]>,
}

impl PawnPlacements<'_> {
    /// Places the pawns from a slot on in all ways; those before form a structure.
    fn place(&mut self, slot: PieceSlot, structure: PawnSquares, squares: &mut [u8; MAX_PIECES]) {
        let Some(piece) = self.pieces.get(slot) else {
            if !self.has_passed_blocker(squares) {
                self.all.entry(structure).or_insert(*squares);
            }
            return;
        };
        if piece.role != Role::Pawn {
            self.place(slot + 1, structure, squares);
            return;
        }

        // Like pawns on the same squares are placed in ascending order.
        let like = |other: &ListedPiece| {
            (other.color, other.role, other.legal) == (piece.color, piece.role, piece.legal)
        };
        let before = self.pieces[..slot].iter().rposition(like);
        let from = before.map_or(0, |s| u32::from(squares[s]) + 1);
        for square in piece.legal {
            if u32::from(square) < from || structure.occupied() >> u32::from(square) & 1 != 0 {
                continue;
            }
            let mut structure = structure;
            *structure.of_mut(piece.color) |= 1 << u32::from(square);
            squares[slot] = square as u8;
            self.place(slot + 1, structure, squares);
        }
    }

    /// Whether a pawn stands behind the one that blocks its way.
    fn has_passed_blocker(&self, squares: &[u8; MAX_PIECES]) -> bool {
        self.pieces.iter().enumerate().any(|(slot, piece)| {
            piece.blocker.is_some_and(|blocker| {
                let (own, other) = (squares[slot], squares[blocker]);
                self.pieces[blocker].role == Role::Pawn
                    && piece.color.fold_wb(own > other, own < other)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_needs_two_empty_squares_and_a_pawn_beside() {
        // White pawns on e4 and g4, Black's on d4 and g3.
        let structure = PawnSquares { white: 1 << 28 | 1 << 30, black: 1 << 27 | 1 << 22 };
        let squares = |turn: Color| en_passant_squares(structure, turn).collect::<Vec<_>>();
        assert_eq!(squares(Color::Black), [Square::E3], "on g3 stands a pawn");
        assert_eq!(squares(Color::White), [Square::A1; 0]);
        assert_eq!(usable_rights(structure).collect::<Vec<_>>(), [(Color::Black, Square::E3)]);
        let without = PawnSquares { black: 1 << 22, ..structure };
        assert_eq!(usable_rights(without).count(), 0, "nothing stands beside e4");
        assert_eq!(empty_squares(Square::E3, Color::Black), 1 << 20 | 1 << 12);
    }

    #[test]
    fn promoted_pieces_stand_on_the_last_rank_or_any_edge() {
        let pawns = PawnSquares { white: 1 << 8, black: 0 };
        assert_eq!(promotion_squares(pawns, Color::Black), 0xff);
        assert_eq!(promotion_squares(PawnSquares::default(), Color::Black).count_ones(), 28);
    }
}
