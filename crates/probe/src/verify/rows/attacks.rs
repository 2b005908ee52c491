//! Which positions of a row are legal, and which moves.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, MAX_PIECES, PieceSlot, Role, Square};
use hoffman_table::rows::EntryRow;

use super::{RowMove, TestedRows};
use crate::value_rows::OwnRow;

/// A row with the men who stand still.
pub(super) struct RowBoard<'a, 'v> {
    pub(super) squares: &'a [u8; MAX_PIECES],
    pub(super) lane: PieceSlot,
    /// The squares of the row's piece with which the position is legal.
    pub(super) lanes: Bitboard,
    pub(super) turn: Color,
    pub(super) en_passant: Option<Square>,
    /// Where the others stand.
    pub(super) occupied: Bitboard,
    /// Where those of the player to move stand, and the opponent's king.
    pub(super) own: Bitboard,
    pub(super) their_king: Bitboard,
    /// The squares of the row's piece with which the player to move is in check.
    pub(super) attacked: Bitboard,
    /// Where a man that comes or goes does not change that; nowhere if that is not known.
    idle: Bitboard,
    /// Where its values lie, if moves are looked up among them.
    pub(super) values: Option<OwnRow<'v>>,
}

impl RowBoard<'_, '_> {
    pub(super) fn square(&self, slot: PieceSlot) -> Square {
        Square::new(u32::from(self.squares[slot]))
    }
}

impl<'a> TestedRows<'a> {
    /// What is the same in all positions of a row, and the squares with which they are illegal.
    pub(super) fn row<'r>(&self, row: &EntryRow<'r>) -> (RowBoard<'r, 'a>, Bitboard) {
        let pieces = self.tested.table().pieces();
        let mut here = RowBoard {
            squares: row.squares,
            lane: row.lane,
            lanes: Bitboard(row.lanes),
            turn: row.turn,
            en_passant: row.en_passant,
            occupied: Bitboard::EMPTY,
            own: Bitboard::EMPTY,
            their_king: Bitboard::EMPTY,
            attacked: Bitboard::EMPTY,
            idle: Bitboard::EMPTY,
            values: None,
        };

        let mut slides = false;
        for (slot, piece) in pieces.iter().enumerate().filter(|&(slot, _)| slot != row.lane) {
            let square = here.square(slot);
            here.occupied.add(square);
            if piece.color == row.turn {
                here.own.add(square);
            } else {
                slides |= matches!(piece.role, Role::Queen | Role::Rook | Role::Bishop);
                if piece.role == Role::King {
                    here.their_king.add(square);
                }
            }
        }

        let king = *self.kings.get(row.turn);
        here.attacked = self.checked(&here, here.square(king), here.occupied, None);
        here.idle = if row.lane != king {
            !attacks::queen_attacks(here.square(king), Bitboard::EMPTY)
        } else if slides {
            Bitboard::EMPTY
        } else {
            Bitboard::FULL
        };

        let other = RowBoard { turn: row.turn.other(), ..here };
        let king = other.square(*self.kings.get(other.turn));
        let illegal = self.checked(&other, king, other.occupied, None);
        here.lanes &= !illegal;
        (here, illegal)
    }

    /// The attacks of a man on a square, among these others.
    #[inline]
    pub(super) fn attacks(&self, slot: PieceSlot, from: Square, occupied: Bitboard) -> Bitboard {
        let piece = &self.tested.table().pieces()[slot];
        attacks::attacks(from, piece.role.of(piece.color), occupied)
    }

    /// The squares of the row's piece with which a move is legal.
    pub(super) fn lanes_of(&self, row: &RowBoard<'_, '_>, step: &RowMove) -> Bitboard {
        let RowMove { slot, from, to, victim, .. } = *step;
        let king = *self.kings.get(row.turn);
        let is_idle = slot != king && victim.is_none();
        let attacked = if is_idle && row.idle.contains(from) && row.idle.contains(to) {
            row.attacked
        } else {
            let mut occupied = row.occupied.without(from);
            if let Some((_, square)) = victim {
                occupied.discard(square);
            }
            let square = if slot == king { to } else { row.square(king) };
            self.checked(row, square, occupied.with(to), victim.map(|(slot, _)| slot))
        };
        (row.lanes & !attacks::between(from, to) & !attacked).without(to)
    }

    /// The squares of the row's piece with which the king of the player to move is in check, the
    /// others standing on `occupied` and the king, if he is one of them, on `king`. The men of the
    /// other colour stand as in the row, but for one who is gone.
    fn checked(
        &self,
        row: &RowBoard<'_, '_>,
        king: Square,
        occupied: Bitboard,
        gone: Option<PieceSlot>,
    ) -> Bitboard {
        let pieces = self.tested.table().pieces();
        let walks = row.lane == *self.kings.get(row.turn);
        let mut checked = Bitboard::EMPTY;
        for (slot, piece) in pieces.iter().enumerate() {
            if piece.color == row.turn || Some(slot) == gone {
                continue;
            }
            if slot == row.lane {
                // He is no pawn, so his attacks go both ways.
                checked |= self.attacks(slot, king, occupied);
                continue;
            }
            let from = row.square(slot);
            let attacked = self.attacks(slot, from, occupied);
            if walks {
                // He does not stand in the way of an attack on himself, wherever he goes.
                checked |= attacked;
            } else if attacked.contains(king) {
                checked |= !attacks::between(from, king);
            }
        }
        checked
    }

    /// Whether the opponent of the player to move attacks a square, without the row's piece and
    /// one who is gone.
    pub(super) fn is_attacked(
        &self,
        row: &RowBoard<'_, '_>,
        target: Square,
        occupied: Bitboard,
        gone: Option<PieceSlot>,
    ) -> bool {
        self.tested.table().pieces().iter().enumerate().any(|(slot, piece)| {
            piece.color != row.turn
                && slot != row.lane
                && Some(slot) != gone
                && self.attacks(slot, row.square(slot), occupied).contains(target)
        })
    }
}
