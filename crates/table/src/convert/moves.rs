//! The moves of a position of normal chess, counted as the statistics of a table count them.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Placement, Rank, Role, Square};

use crate::index::IndexSpace;

/// The moves of one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MoveCounts {
    /// Legal moves, each promotion by itself.
    pub(super) legal: u64,
    /// Those that leave the table: captures, promotions, moves off a man's squares.
    pub(super) leaving: u64,
    /// Whether the player to move is in check.
    pub(super) in_check: bool,
}

/// Counts the legal moves of a position. There are no prunes.
pub(super) fn count(space: &IndexSpace, placement: &Placement) -> MoveCounts {
    let position = PlacedMen { space, placement, occupied: placement.occupied() };
    let mut moves =
        MoveCounts { in_check: position.is_checked(None, None), ..MoveCounts::default() };
    let own: Bitboard = position.squares_of(placement.turn);
    for (slot, piece) in space.pieces().iter().enumerate() {
        if piece.color != placement.turn {
            continue;
        }
        let from = placement.squares[slot];
        let reached = match piece.role {
            Role::Pawn => position.pawn_targets(from),
            role => attacks::attacks(from, role.of(piece.color), position.occupied) & !own,
        };
        for to in reached {
            position.add(slot, to, &mut moves);
        }
    }
    moves
}

struct PlacedMen<'a> {
    space: &'a IndexSpace,
    placement: &'a Placement,
    occupied: Bitboard,
}

impl PlacedMen<'_> {
    fn squares_of(&self, color: Color) -> Bitboard {
        let men = self.space.pieces().iter().zip(&self.placement.squares);
        men.filter(|(p, _)| p.color == color).map(|(_, &s)| s).collect()
    }

    /// The square ahead of a pawn.
    fn ahead(&self, from: Square) -> Option<Square> {
        from.offset(self.placement.turn.fold_wb(8, -8))
    }

    fn pawn_targets(&self, from: Square) -> Bitboard {
        let turn = self.placement.turn;
        let enemies = self.squares_of(turn.other());
        let en_passant = self.placement.en_passant.map_or(Bitboard::EMPTY, Bitboard::from);
        let mut targets = attacks::pawn_attacks(turn, from) & (enemies | en_passant);
        let free = |s: &Square| !self.occupied.contains(*s);
        if let Some(step) = self.ahead(from).filter(free) {
            targets.add(step);
            let first = from.rank() == turn.fold_wb(Rank::Second, Rank::Seventh);
            if let Some(double) = self.ahead(step).filter(free).filter(|_| first) {
                targets.add(double);
            }
        }
        targets
    }

    /// Adds a move if it is legal.
    fn add(&self, slot: usize, to: Square, moves: &mut MoveCounts) {
        let is_pawn = self.space.pieces()[slot].role == Role::Pawn;
        let takes_en_passant = is_pawn && self.placement.en_passant == Some(to);
        let captured = if takes_en_passant {
            to.offset(self.placement.turn.fold_wb(-8, 8))
        } else {
            Some(to).filter(|&s| self.occupied.contains(s))
        };
        if self.is_checked(Some((slot, to)), captured) {
            return;
        }
        let promotes = is_pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
        let number = if promotes { 4 } else { 1 };
        moves.legal += number;
        if captured.is_some() || promotes || !self.stays(slot, to) {
            moves.leaving += number;
        }
    }

    /// Whether the king of the player to move is attacked after a man has gone to a square.
    fn is_checked(&self, step: Option<(usize, Square)>, captured: Option<Square>) -> bool {
        let turn = self.placement.turn;
        let mut occupied = self.occupied;
        if let Some(captured) = captured {
            occupied.discard(captured);
        }
        if let Some((slot, to)) = step {
            occupied.discard(self.placement.squares[slot]);
            occupied.add(to);
        }
        let pieces = self.space.pieces();
        let king = pieces.iter().position(|p| p.color == turn && p.role == Role::King);
        let Some(king) = king else { return false };
        let king = match step {
            Some((slot, to)) if slot == king => to,
            _ => self.placement.squares[king],
        };
        pieces.iter().zip(&self.placement.squares).any(|(p, &s)| {
            p.color != turn
                && captured != Some(s)
                && attacks::attacks(s, p.role.of(p.color), occupied).contains(king)
        })
    }

    /// Whether a move that takes nothing leads to a position of the table.
    fn stays(&self, slot: usize, to: Square) -> bool {
        // Where all squares are allowed there is nothing to look up.
        if !self.space.pieces()[slot].is_restricted() {
            return true;
        }
        let mut next = self.placement.clone();
        next.squares[slot] = to;
        next.turn = next.turn.other();
        next.en_passant = None;
        self.space.encode(&next).is_some()
    }
}
