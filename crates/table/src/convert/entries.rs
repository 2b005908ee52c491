//! The entries of the new table one by one, where both tables do not come in rows.

use hoffman_board::shakmaty::{Board, attacks};
use hoffman_board::{Color, Format, ListedPiece, Placement, Role, Symmetry, Value, Variant};
use rayon::prelude::*;

use super::tally::{IndexTally, Recount};
use super::{ConvertError, moves};
use crate::entries::{EntryCodec, EntryValue, RawEntry};
use crate::htb::HtbError;
use crate::index::IndexSpace;
use crate::reader::{Table, TableError, TableProblem};

/// Indices that a thread takes at a time.
const BLOCK: usize = 1 << 12;

/// The entries of the old table.
pub(super) enum OldEntries<'a> {
    /// As they are packed.
    Packed(Vec<u8>, EntryCodec),
    /// In the file.
    File(&'a Table),
}

impl<'a> OldEntries<'a> {
    pub(super) fn of(table: &'a Table, memory: u64) -> Result<OldEntries<'a>, TableError> {
        let codec = table.codec();
        if codec.area_bytes(table.space().size()) <= memory {
            let mut area = Vec::new();
            table.read_packed(&mut area)?;
            Ok(OldEntries::Packed(area, codec))
        } else {
            Ok(OldEntries::File(table))
        }
    }

    pub(super) fn get(&self, table: &Table, index: u64) -> Result<RawEntry, TableError> {
        match self {
            OldEntries::Packed(area, codec) => codec.get(area, index).ok_or_else(|| {
                let end = codec.area_bytes(index.saturating_add(1));
                let short = HtbError::PastEnd { end, len: area.len() as u64 };
                let problem = TableProblem::Container(short);
                TableError { path: table.path().to_owned(), problem }
            }),
            OldEntries::File(table) => table.entry(index),
        }
    }
}

/// The old table and the new index.
pub(super) struct EntryConversion<'a> {
    pub(super) table: &'a Table,
    pub(super) source: &'a OldEntries<'a>,
    pub(super) space: &'a IndexSpace,
    pub(super) codec: EntryCodec,
    pub(super) recount: Recount,
    pub(super) images: Vec<(Symmetry, bool)>,
}

impl EntryConversion<'_> {
    /// The numbers of the new table at some indices.
    pub(super) fn numbers(&self, range: std::ops::Range<u64>) -> Result<Vec<i32>, ConvertError> {
        let mut numbers = vec![0_i32; (range.end - range.start) as usize];
        numbers.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, numbers)| {
            let first = range.start + (block * BLOCK) as u64;
            for (number, index) in numbers.iter_mut().zip(first..) {
                *number = match self.space.decode(index) {
                    Some(placement) => {
                        let in_check = self.is_in_check(&placement);
                        self.number(&placement, in_check)?.0
                    }
                    None => self.codec.undecodable().0,
                };
            }
            Ok::<_, ConvertError>(())
        })?;
        Ok(numbers)
    }

    /// Counts over some indices.
    pub(super) fn count(&self, range: std::ops::Range<u64>) -> Result<IndexTally, ConvertError> {
        let starts: Vec<u64> = range.clone().step_by(BLOCK).collect();
        starts
            .into_par_iter()
            .map(|first| {
                let mut tally = IndexTally::default();
                for index in first..(first + BLOCK as u64).min(range.end) {
                    if let Some(placement) = self.space.decode(index) {
                        self.add(&placement, &mut tally)?;
                    }
                }
                Ok(tally)
            })
            .try_reduce(IndexTally::default, |a, b| Ok(a.with(&b)))
    }

    /// Adds a position of the new table, and checks that the old one gives its images the same
    /// value.
    pub(super) fn add(
        &self,
        placement: &Placement,
        tally: &mut IndexTally,
    ) -> Result<(), ConvertError> {
        tally.positions += 1;
        let in_check = self.is_in_check(placement);
        let number = self.number(placement, in_check)?;
        if in_check {
            tally.mated += 1;
            return Ok(());
        }

        self.check_images(placement, number)?;
        let turn = placement.turn;
        match self.codec.value(number, turn) {
            Some(EntryValue::Exact(Value::Win(0))) => tally.mated += 1,
            Some(EntryValue::Win) if self.codec.format() == Format::Basic && number.0 == 3 => {
                tally.mated += 1;
            }
            Some(EntryValue::Exact(value @ (Value::Win(_) | Value::Loss(_)))) => {
                tally.max = tally.max.max(value.to_stored());
                tally.min = tally.min.min(value.to_stored());
                tally.win(value.winner(turn));
            }
            Some(EntryValue::Win) => tally.win(Some(turn)),
            Some(EntryValue::Loss) => tally.win(Some(turn.other())),
            _ => {}
        }

        if self.recount == Recount::Moves {
            tally.add_moves(moves::count(self.space, placement));
        }
        Ok(())
    }

    /// The number of the new table for a position.
    pub(super) fn number(
        &self,
        placement: &Placement,
        in_check: bool,
    ) -> Result<RawEntry, ConvertError> {
        let turn = placement.turn;
        if in_check {
            return Ok(self.codec.store(Value::Illegal, turn));
        }
        let old = self.table.space();
        let index = old.encode(placement).filter(|&index| {
            // Where old index types lose positions, an index can be one that has none.
            old.check_writable().is_ok() || old.decode(index).is_some()
        });
        let index = index.ok_or_else(|| ConvertError::Missing {
            path: self.table.path().to_owned(),
            fen: self.fen(placement),
        })?;
        let raw = self.source.get(self.table, index)?;
        self.translate(raw, turn).ok_or_else(|| ConvertError::Entry {
            path: self.table.path().to_owned(),
            fen: self.fen(placement),
        })
    }

    /// The number of the new format that says what one of the old format says, of a position with
    /// the player not to move not in check. None if that is not the value of any.
    pub(super) fn translate(&self, raw: RawEntry, turn: Color) -> Option<RawEntry> {
        let old = self.table.codec();
        if old.format() == self.codec.format() && !old.format().has_distance() {
            let means = old.value(raw, turn)?;
            return (means != EntryValue::Illegal).then_some(raw);
        }
        let value = match old.value(raw, turn)? {
            EntryValue::Exact(Value::Illegal) => return None,
            EntryValue::Exact(value) => value,
            // How far the end is does not matter to a format without distances.
            EntryValue::Win => Value::Win(1),
            EntryValue::Draw => Value::Draw,
            EntryValue::Loss => Value::Loss(1),
            EntryValue::Illegal
            | EntryValue::WinOrDraw
            | EntryValue::DrawOrLoss
            | EntryValue::Unknown => return None,
        };
        Some(self.codec.store(value, turn))
    }

    pub(super) fn check_images(
        &self,
        placement: &Placement,
        number: RawEntry,
    ) -> Result<(), ConvertError> {
        for &(symmetry, turn) in self.images.iter().skip(1) {
            let turned = if turn { self.space.turned(placement) } else { Some(placement.clone()) };
            let image = turned.and_then(|p| self.space.image(&p, symmetry));
            let Some(image) = image else { continue };
            if self.number(&image, false)? != number {
                return Err(ConvertError::Differ {
                    path: self.table.path().to_owned(),
                    first: self.fen(placement),
                    second: self.fen(&image),
                });
            }
        }
        Ok(())
    }

    /// Whether the player not to move is in check.
    pub(super) fn is_in_check(&self, placement: &Placement) -> bool {
        if self.table.variant() == Variant::Suicide {
            return false;
        }
        let men = || self.space.pieces().iter().zip(&placement.squares);
        let victim = |(p, _): &(&ListedPiece, _)| p.role == Role::King && p.color != placement.turn;
        let Some((_, &king)) = men().find(victim) else { return false };
        let occupied = placement.occupied();
        men().filter(|(p, _)| p.color == placement.turn).any(|(p, &square)| {
            attacks::attacks(square, p.role.of(p.color), occupied).contains(king)
        })
    }

    /// The position as FEN, for messages.
    pub(super) fn fen(&self, placement: &Placement) -> String {
        let mut board = Board::empty();
        for (piece, &square) in self.space.pieces().iter().zip(&placement.squares) {
            board.set_piece_at(square, piece.role.of(piece.color));
        }
        let turn = placement.turn.char();
        let en_passant = placement.en_passant.map_or("-".to_owned(), |s| s.to_string());
        format!("{} {turn} - {en_passant}", board.board_fen())
    }
}

/// The symmetries under which a position of the new table has images in the old one that are not
/// the same index there, and whether colours are exchanged on the way. The first changes nothing.
pub(super) fn images(old: &IndexSpace, new: &IndexSpace) -> Vec<(Symmetry, bool)> {
    let count = if new.symmetry() > old.symmetry() { new.symmetry() } else { 1 };
    let turns: &[bool] =
        if old.has_side_bit() && !new.has_side_bit() { &[false, true] } else { &[false] };
    let symmetries = || Symmetry::all().take(usize::from(count));
    turns.iter().flat_map(|&turn| symmetries().map(move |symmetry| (symmetry, turn))).collect()
}
