//! The entries of a row, compared with the best of the moves that were found.

use std::sync::atomic::Ordering;

use hoffman_board::{Bitboard, Color, Square, Value};
use hoffman_space::Code as _;
use hoffman_table::rows::EntryRow;
use hoffman_table::{EntryValue, RawEntry};

use super::super::VerifyError;
use super::super::men::SlotMove;
use super::super::outcomes::{Outcomes, words_of};
use super::super::report::Difference;
use super::super::syzygy::probe_syzygy;
use super::super::tally::Tally;
use super::attacks::RowBoard;
use super::behind::{NO_MOVE, UNCLEAR, score, worth_of_move};
use super::{RowFindings, TestedRows};

/// A row whose values are compared with what was found.
pub(super) struct ComparedRow<'r, 'a> {
    pub(super) row: &'r EntryRow<'r>,
    pub(super) here: &'r RowBoard<'r, 'a>,
    /// The squares with which the position is illegal.
    pub(super) illegal: Bitboard,
    /// The codes of the values.
    pub(super) held: [u8; 64],
}

/// The squares on which codes are the same.
fn alike(one: &[u8; 64], other: &[u8; 64]) -> Bitboard {
    let mut alike = 0;
    for (rank, (one, other)) in (0..).zip(one.as_chunks().0.iter().zip(other.as_chunks().0)) {
        const LOW: u64 = u64::MAX / 255 * 127;
        let unlike = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        // The highest bit of every byte that is 0, and then these bits side by side.
        let zero = !(((unlike & LOW) + LOW) | unlike | LOW);
        alike |= ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * rank);
    }
    Bitboard(alike)
}

impl<'a> TestedRows<'a> {
    /// Compares the entries of a row with what was found. The squares of those that are right; the
    /// codes of their values are left in `found`.
    pub(super) fn compare(
        &self,
        row: &EntryRow<'_>,
        (here, illegal): (&RowBoard<'_, 'a>, Bitboard),
        found: &mut RowFindings,
        tally: &mut Tally,
        steps: &mut Vec<SlotMove>,
    ) -> Result<Bitboard, VerifyError> {
        let turn = row.turn;
        let stored = self.stored.get(turn);
        let mut accepted = Bitboard::EMPTY;
        for (square, index) in row.positions() {
            let at = Square::new(u32::from(square));
            if illegal.contains(at) {
                self.accept_illegal(index, turn, tally, steps)?;
                continue;
            }
            let square = usize::from(square & 63);
            let mut best = found.best[square];
            let no_move = best == NO_MOVE;
            let stalemate = no_move && !here.attacked.contains(at);
            if stalemate {
                best = *self.stalemate.get(turn);
            } else if no_move {
                best = score(Value::Loss(0));
            }
            let number = self.numbers.get(index as usize).copied().unwrap_or_default();
            let said = stored[usize::from(number as u8)];
            let unclear = best == UNCLEAR || no_move && found.spared.contains(at);
            if unclear || said != best {
                self.tested.check(index, tally, steps)?;
                continue;
            }
            accepted.add(at);
            found.best[square] = said;
            tally.stalemates += u64::from(stalemate);
            tally.accepted.get_mut(turn).count(said);
        }
        Ok(accepted)
    }

    /// The same of a row of which the values are known, for all squares at once.
    pub(super) fn compare_codes(
        &self,
        of: &ComparedRow<'_, 'a>,
        found: &mut RowFindings,
        tally: &mut Tally,
        steps: &mut Vec<SlotMove>,
    ) -> Result<Bitboard, VerifyError> {
        let ComparedRow { row, here, illegal, held } = of;
        let turn = row.turn;
        let mut best = [0; 64];
        for square in 0..64 {
            best[square] = found.best[square].max(worth_of_move(found.least[square]));
        }
        let all = here.lanes;
        let without_move = alike(&best, &[NO_MOVE; 64]) & all;
        let stalemates = without_move & !here.attacked;
        for square in without_move {
            let is_stalemate = stalemates.contains(square);
            let mated = score(Value::Loss(0));
            best[square as usize] = if is_stalemate { *self.stalemate.get(turn) } else { mated };
        }

        let unclear = alike(&best, &[UNCLEAR; 64]) | without_move & found.spared;
        let mut accepted = alike(&best, held) & all & !unclear;
        let no_position = alike(held, &[0; 64]) & *illegal & Bitboard(row.lanes);
        accepted &= self.as_in_entries(of, accepted | no_position);
        let rest = Bitboard(row.lanes) & !accepted & !no_position;
        if rest.any() {
            let positions = row.positions().filter(|&(square, _)| rest.0 >> square & 1 != 0);
            for (_, index) in positions {
                self.tested.check(index, tally, steps)?;
            }
        }

        tally.checked += no_position.count() as u64;
        tally.illegal += no_position.count() as u64;
        tally.stalemates += (stalemates & accepted).count() as u64;
        let counts = tally.accepted.get_mut(turn);
        accepted.into_iter().for_each(|square| counts.count(held[square as usize]));
        found.best = *held;
        Ok(accepted)
    }

    /// Compares positions that were found right with Syzygy, if there are folders of it. `codes`
    /// are those of their values.
    pub(super) fn ask_syzygy(
        &self,
        row: &EntryRow<'_>,
        (accepted, codes): (Bitboard, &[u8; 64]),
        tally: &mut Tally,
    ) {
        let Some(syzygy) = &self.tested.syzygy else { return };
        let pieces = self.tested.table().pieces();
        for (square, index) in row.positions() {
            let at = Square::new(u32::from(square));
            if !accepted.contains(at) {
                continue;
            }
            let placement = self.placement(row.squares, row.lane, at, row.turn);
            let expected = probe_syzygy(syzygy, pieces, &placement, None);
            let stored = EntryValue::Exact(codes[usize::from(square & 63)].value());
            let proved = Outcomes::of(stored).proved(self.tested.claims, row.turn);
            tally.compare_syzygy(proved, expected, || {
                let fen = Some(self.tested.fen(&placement));
                Difference { index, fen, stored: words_of(stored), computed: String::new() }
            });
        }
    }

    /// The squares on which the entries say what the values do. If they do not everywhere, values
    /// are no longer trusted.
    fn as_in_entries(&self, of: &ComparedRow<'_, 'a>, looked_at: Bitboard) -> Bitboard {
        if self.numbers.is_empty() {
            // The values are what the table has, and entries follow from them.
            return Bitboard::FULL;
        }
        let (stored, codec) = (self.stored.get(of.row.turn), self.tested.table().codec());
        let none = codec.store(Value::Illegal, of.row.turn);
        let mut alike = Bitboard::EMPTY;
        for (square, index) in of.row.positions() {
            let number = self.numbers.get(index as usize).copied().unwrap_or_default();
            let held = of.held[usize::from(square & 63)];
            let is_same = match held {
                0 => RawEntry(i32::from(number)) == none,
                _ => stored[usize::from(number as u8)] == held,
            };
            alike.0 |= u64::from(is_same) << square;
        }
        if (looked_at & !alike).any() {
            self.distrusts.store(true, Ordering::Relaxed);
        }
        alike
    }

    /// Takes an entry of a position in which the player not to move is in check.
    fn accept_illegal(
        &self,
        index: u64,
        turn: Color,
        tally: &mut Tally,
        steps: &mut Vec<SlotMove>,
    ) -> Result<(), VerifyError> {
        let number = self.numbers.get(index as usize).copied().unwrap_or_default();
        if RawEntry(i32::from(number)) != self.tested.table().codec().store(Value::Illegal, turn) {
            return Ok(self.tested.check(index, tally, steps)?);
        }
        tally.checked += 1;
        tally.illegal += 1;
        Ok(())
    }
}
