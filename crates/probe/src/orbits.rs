//! Which positions of a table stand for the others: one of each orbit under the symmetries of the
//! board, and only legal ones. By their placements, and by rows.
//!
//! Symmetry is 8-fold without pawns, left-right with them; a table whose men are restricted has
//! none. A right to capture en passant counts only where a legal move uses it.

use std::cmp::Ordering;

use hoffman_board::shakmaty::attacks;
use hoffman_board::{
    Bitboard, ByColor, Color, ListedPiece, Placement, Role, Square, Symmetry, Variant,
};
use hoffman_table::Table;
use hoffman_table::rows::{EntryRow, RowPlace};

use crate::verify::Men;

/// Which of the indices of an orbit stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// Every index is an orbit.
    Plain,
    /// The one with the kings in canonical position for that many board symmetries; of two such,
    /// both kings being on the diagonal, the smaller one.
    Kings(u8),
    /// The smallest image of all; kings are ordinary men.
    Smallest(u8),
}

/// The squares of the black king with which positions are counted as they are, and those with which
/// the smaller one of two images is.
type CountedKings = (Bitboard, Bitboard);

/// The orbits of a table's positions.
#[derive(Debug)]
pub(crate) struct Orbits<'a> {
    table: &'a Table,
    chosen: Chosen,
    kinds: Vec<(Color, Role)>,
    kings: ByColor<usize>,
    /// By square of the white king.
    by_king: [CountedKings; 64],
}

/// A legal position that stands for its orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representative {
    /// Without a right to capture en passant.
    Plain,
    /// With a right that a legal move uses.
    EnPassant,
}

impl<'a> Orbits<'a> {
    pub(crate) fn new(table: &'a Table) -> Orbits<'a> {
        let pieces = table.pieces();
        let ways = if pieces.iter().any(|p| p.role == Role::Pawn) { 2 } else { 8 };
        let king = |color| pieces.iter().position(|p| p.color == color && p.role == Role::King);
        let kings = ByColor::new_with(king);
        let chosen = match kings {
            _ if is_partial(table) => Chosen::Plain,
            ByColor { white: Some(_), black: Some(_) } if table.variant() == Variant::Normal => {
                Chosen::Kings(ways)
            }
            _ => Chosen::Smallest(ways),
        };
        let mut kinds: Vec<(Color, Role)> = Vec::new();
        for piece in pieces {
            if !kinds.contains(&(piece.color, piece.role)) {
                kinds.push((piece.color, piece.role));
            }
        }
        let by_king = std::array::from_fn(|white| counted_kings(chosen, white));
        let kings = kings.map(Option::unwrap_or_default);
        Orbits { table, chosen, kinds, kings, by_king }
    }

    /// The table.
    pub(crate) fn table(&self) -> &'a Table {
        self.table
    }

    /// The symmetries under which positions are the same.
    pub(crate) fn symmetries(&self) -> impl Iterator<Item = Symmetry> + use<> {
        let ways = match self.chosen {
            Chosen::Plain => 1,
            Chosen::Kings(ways) | Chosen::Smallest(ways) => ways,
        };
        Symmetry::all().take(usize::from(ways))
    }

    /// Whether a position is legal and stands for its orbit.
    pub(crate) fn representative(&self, placement: &Placement) -> Option<Representative> {
        if !self.is_counted(placement) {
            return None;
        }
        let variant = self.table.variant();
        let men = Men::new(self.table.pieces(), placement);
        let kind = match placement.en_passant {
            None => Representative::Plain,
            Some(_) if men.can_capture_en_passant(variant) => Representative::EnPassant,
            Some(_) => return None,
        };
        let illegal = variant == Variant::Normal && men.is_in_check(placement.turn.other());
        (!illegal).then_some(kind)
    }

    /// Whether the index of a placement is the one that is counted for its orbit.
    fn is_counted(&self, placement: &Placement) -> bool {
        match self.chosen {
            Chosen::Plain => true,
            Chosen::Kings(ways) => {
                let square = |slot: usize| placement.squares.get(slot).copied();
                let (Some(white), Some(black)) =
                    (square(self.kings.white), square(self.kings.black))
                else {
                    return true;
                };
                let on_diagonal = |s: hoffman_board::Square| (s as u8).is_multiple_of(9);
                Symmetry::canonical(ways, white, black).is_identity()
                    && (ways < 8
                        || !(on_diagonal(white) && on_diagonal(black))
                        || self.is_smallest(placement, std::iter::once(Symmetry::D)))
            }
            Chosen::Smallest(ways) => {
                self.is_smallest(placement, Symmetry::all().take(usize::from(ways)))
            }
        }
    }

    /// Whether no image is smaller than the placement, comparing the sets of squares of each kind.
    fn is_smallest(
        &self,
        placement: &Placement,
        mut symmetries: impl Iterator<Item = Symmetry>,
    ) -> bool {
        let men = Men::new(self.table.pieces(), placement);
        symmetries.all(|symmetry| {
            let own = self.kinds.iter().map(|&(color, role)| men.set(color, role).0);
            let image = own.clone().map(|set| symmetry.apply_set(set));
            let en_passant = |square: Option<_>| square.map_or(0, |s| 1 + s as u8);
            own.cmp(image).then_with(|| {
                let square = placement.en_passant;
                en_passant(square).cmp(&en_passant(square.map(|s| symmetry.apply(s))))
            }) != std::cmp::Ordering::Greater
        })
    }

    /// The squares of a row's man with which positions are counted, and those with which each has
    /// to be looked at by itself.
    pub(crate) fn counted(&self, row: &EntryRow<'_>) -> (Bitboard, Bitboard) {
        let lanes = Bitboard(row.lanes);
        if let Some(square) = row.en_passant {
            // Rights that nobody can use are no positions.
            let can_be_used = self.has_pawn_beside(row, square);
            return (Bitboard::EMPTY, if can_be_used { lanes } else { Bitboard::EMPTY });
        }
        if matches!(self.chosen, Chosen::Smallest(_)) {
            return (Bitboard::EMPTY, lanes);
        }
        let kings = self.kings;
        let (once, twice) = self.by_king[usize::from(row.squares[kings.white]) & 63];
        let if_in = |set: Bitboard| match Square::new(u32::from(row.squares[kings.black])) {
            _ if row.lane == kings.black => lanes & set,
            black if set.contains(black) => lanes,
            _ => Bitboard::EMPTY,
        };
        (if_in(once) | self.smallest(row, if_in(twice)), Bitboard::EMPTY)
    }

    /// Whether a pawn of the player to move attacks the square that a pawn has jumped over. Pawns
    /// have the same square in the whole row.
    fn has_pawn_beside(&self, row: &EntryRow<'_>, passed: Square) -> bool {
        let beside = attacks::pawn_attacks(row.turn.other(), passed);
        let pieces = self.table.pieces().iter().zip(row.squares);
        let is_pawn = |piece: &ListedPiece| (piece.color, piece.role) == (row.turn, Role::Pawn);
        pieces
            .filter(|(piece, _)| is_pawn(piece))
            .any(|(_, &square)| beside.contains(Square::new(u32::from(square))))
    }

    /// The squares of a row's man with which the position is not larger than its image across the
    /// long diagonal, as [`Orbits::is_smallest`] compares them: kind by kind.
    fn smallest(&self, row: &EntryRow<'_>, lanes: Bitboard) -> Bitboard {
        if lanes.is_empty() {
            return lanes;
        }
        let pieces = self.table.pieces();
        let compare = |set: u64| set.cmp(&Symmetry::D.apply_set(set));
        let mut left = lanes;
        let mut smaller = Bitboard::EMPTY;
        for &(color, role) in &self.kinds {
            let alike = |slot: &usize| (pieces[*slot].color, pieces[*slot].role) == (color, role);
            let fixed = (0..pieces.len()).filter(alike).filter(|&slot| slot != row.lane);
            let set = fixed.fold(0, |set, slot| set | 1_u64 << (row.squares[slot] & 63));
            let (less, equal) = if alike(&row.lane) {
                let with = |order| {
                    let is = |square: &Square| compare(set | 1 << u32::from(*square)) == order;
                    left.into_iter().filter(is).collect::<Bitboard>()
                };
                (with(Ordering::Less), with(Ordering::Equal))
            } else {
                let with = |order| if compare(set) == order { left } else { Bitboard::EMPTY };
                (with(Ordering::Less), with(Ordering::Equal))
            };
            smaller |= less;
            left = equal;
            if left.is_empty() {
                return smaller;
            }
        }
        smaller | left
    }

    /// The squares of a row's man with which the player not to move is not in check.
    pub(crate) fn legal(&self, row: &RowPlace<'_>) -> Bitboard {
        let pieces = self.table.pieces();
        let square = |slot: usize| Square::new(u32::from(row.squares[slot]));
        let others = || (0..pieces.len()).filter(|&slot| slot != row.lane);
        let occupied = Bitboard(others().fold(0, |set, slot| set | 1 << (row.squares[slot] & 63)));
        let attackers = || others().filter(|&slot| pieces[slot].color == row.turn);
        let attacks = |from: Square, slot: usize| {
            attacks::attacks(from, pieces[slot].role.of(pieces[slot].color), occupied)
        };
        let king = *self.kings.get(row.turn.other());
        if king == row.lane {
            let attacked =
                attackers().fold(Bitboard::EMPTY, |all, slot| all | attacks(square(slot), slot));
            return !attacked;
        }
        let king = square(king);
        let mut legal = Bitboard::FULL;
        if pieces[row.lane].color == row.turn {
            // Pawns, whose attacks do not go both ways, have no rows.
            legal &= !attacks(king, row.lane);
        }
        for slot in attackers() {
            let from = square(slot);
            if attacks(from, slot).contains(king) {
                legal &= attacks::between(from, king);
            }
        }
        legal
    }
}

/// Those for a square of the white king.
fn counted_kings(chosen: Chosen, white: usize) -> CountedKings {
    let ways = match chosen {
        Chosen::Plain => return (Bitboard::FULL, Bitboard::EMPTY),
        Chosen::Smallest(_) => return (Bitboard::EMPTY, Bitboard::EMPTY),
        Chosen::Kings(ways) => ways,
    };
    let white = Square::new(white as u32);
    let canonical = |black: &Square| Symmetry::canonical(ways, white, *black).is_identity();
    let on_diagonal = |square: Square| (square as u8).is_multiple_of(9);
    let (twice, once): (Vec<Square>, Vec<Square>) = Square::ALL
        .into_iter()
        .filter(canonical)
        .partition(|&black| ways == 8 && on_diagonal(white) && on_diagonal(black));
    (once.into_iter().collect(), twice.into_iter().collect())
}

/// Whether the table holds only some of the positions of its ending.
pub(crate) fn is_partial(table: &Table) -> bool {
    table.control().pawngen.is_some() || table.pieces().iter().any(ListedPiece::is_restricted)
}
