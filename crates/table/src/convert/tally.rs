//! What is counted of the new table, and how the counts of moves follow from those of the old one.

use hoffman_board::{Color, Variant};

use super::moves::MoveCounts;
use crate::index::IndexSpace;
use crate::reader::Table;

/// How the counts of moves and stalemates of the new table follow from those of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recount {
    /// The same positions: the numbers stay. Or each position with its colours exchanged as well,
    /// or of these two only one: numbers times `.0`, divided by `.1`.
    Scale(i64, i64),
    /// Other positions, whose moves are counted.
    Moves,
    /// Other positions, but what moves count depends on prunes, or the rules are those of suicide
    /// chess.
    Unknown,
}

impl Recount {
    pub(super) fn new(table: &Table, new: &IndexSpace) -> Recount {
        let old = table.space();
        if old.symmetry() == new.symmetry() {
            return match (old.has_side_bit(), new.has_side_bit()) {
                (false, true) => Recount::Scale(2, 1),
                (true, false) => Recount::Scale(1, 2),
                _ => Recount::Scale(1, 1),
            };
        }
        let control = table.control();
        let is_plain = control.prunes.is_empty() && control.prune_enables.is_empty();
        if is_plain && table.variant() == Variant::Normal {
            Recount::Moves
        } else {
            Recount::Unknown
        }
    }
}

/// What is counted over the indices of the new table.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexTally {
    pub(super) positions: u64,
    /// Positions with the player not to move in check; in suicide chess those won for want of a
    /// move.
    pub(super) mated: u64,
    pub(super) white_wins: u64,
    pub(super) black_wins: u64,
    pub(super) max: i32,
    pub(super) min: i32,
    pub(super) stalemates: u64,
    pub(super) moves: u64,
    pub(super) futuremoves: u64,
}

impl IndexTally {
    pub(super) fn win(&mut self, winner: Option<Color>) {
        match winner {
            Some(Color::White) => self.white_wins += 1,
            Some(Color::Black) => self.black_wins += 1,
            None => {}
        }
    }

    pub(super) fn add_moves(&mut self, moves: MoveCounts) {
        self.moves += moves.legal;
        self.futuremoves += moves.leaving;
        self.stalemates += u64::from(moves.legal == 0 && !moves.in_check);
    }

    pub(super) fn with(self, other: &IndexTally) -> IndexTally {
        IndexTally {
            positions: self.positions + other.positions,
            mated: self.mated + other.mated,
            white_wins: self.white_wins + other.white_wins,
            black_wins: self.black_wins + other.black_wins,
            max: self.max.max(other.max),
            min: self.min.min(other.min),
            stalemates: self.stalemates + other.stalemates,
            moves: self.moves + other.moves,
            futuremoves: self.futuremoves + other.futuremoves,
        }
    }
}
