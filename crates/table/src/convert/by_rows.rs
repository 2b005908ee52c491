//! Conversion by way of values in rows, where nothing stands against it: in about the time of
//! copying.
//!
//! The values of the old table are arranged by rows and written in the order of the new one, as
//! when a table is solved. Nothing is taken on trust: written in the old order they have to be the
//! old entries again, and the positions without a value those with the player not to move in
//! check. Otherwise, and wherever prunes, restrictions or formats need a closer look, the
//! conversion goes index by index, and says what is wrong.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Format, PieceList, Placement, Role, Square};
use rayon::prelude::*;

use super::{IndexTally, moves};
use crate::entries::{EntryCodec, EntryError, Number};
use crate::index::IndexSpace;
use crate::reader::{Table, TableError};
use crate::rows::{
    Distances, EntryRow, IndexCounts, Taking, Wanted, decode, encode, has_rows, scan,
};

/// How many bytes an index takes while values and numbers lie side by side, about.
pub(super) const BYTES: u64 = 3;

/// Entries that a thread compares at a time: a multiple of eight.
const CHUNK: usize = 1 << 16;

/// The numbers of the new table with what is counted of them; none where the conversion has to go
/// by indices.
///
/// # Errors
/// The old table cannot be read.
pub(super) fn by_rows(
    table: &Table,
    new: &IndexSpace,
    format: Format,
    memory: u64,
) -> Result<Option<(Distances, IndexTally)>, TableError> {
    if !is_plain(table, new, memory) {
        return Ok(None);
    }
    let (old, codec) = (table.space(), table.codec());
    let stop = table.stop();
    let mut area = Vec::new();
    table.read_packed(&mut area)?;
    let images_differ = old.symmetry() < if has_pawns(old) { 2 } else { 8 };
    let wanted = Wanted { apart: images_differ, ..Wanted::all() };
    let Ok(values) = decode(old, codec, &area, &wanted, Taking::Exactly, stop) else {
        return table.check_stop().map(|()| None);
    };

    let Ok((again, _)) = encode(old, &values, codec.format(), stop) else {
        return table.check_stop().map(|()| None);
    };
    let same = match &again {
        Distances::Narrow(numbers) => is_same(codec, &area, numbers),
        Distances::Wide(numbers) => is_same(codec, &area, numbers),
    };
    if !same || !has_legal_values(old, &again) {
        return Ok(None);
    }
    table.check_stop()?;
    drop((again, area));

    let Ok((numbers, counts)) = encode(new, &values, format, stop) else {
        return table.check_stop().map(|()| None);
    };
    let Some(tally) = tally_of(table, new, &counts) else { return Ok(None) };
    Ok(Some((numbers, tally)))
}

/// Whether the table is one of chess with distances to mate, its men stand where they like, and
/// the new one tells apart at least what the old one does.
fn is_plain(table: &Table, new: &IndexSpace, memory: u64) -> bool {
    let (old, control) = (table.space(), table.control());
    let unpruned = control.prunes.is_empty() && control.prune_enables.is_empty();
    let bytes = (old.size() + new.size()).saturating_mul(BYTES);
    // One bit cannot tell an illegal position from a drawn one.
    let tells = matches!(table.codec().format(), Format::Dtm(_)) && table.codec().bits() > 1;
    tells
        && unpruned
        && table.foreign().is_none()
        && table.claims().is_exact()
        && old.pieces().len() > 2
        && new.symmetry() <= old.symmetry()
        && (new.has_side_bit() || !old.has_side_bit())
        && has_rows(old)
        && has_rows(new)
        && old.pieces().iter().all(|piece| !piece.is_restricted())
        && bytes.saturating_mul(u64::from(table.codec().bits() / 9 + 1)) <= memory
}

fn has_pawns(space: &IndexSpace) -> bool {
    space.pieces().iter().any(|piece| piece.role == Role::Pawn)
}

/// Whether packed entries are these numbers.
fn is_same<N: Number + PartialEq + Default>(codec: EntryCodec, area: &[u8], numbers: &[N]) -> bool {
    let bytes = CHUNK / 8 * usize::from(codec.bits());
    let compare = |scratch: &mut Vec<N>, (numbers, area): (&[N], &[u8])| {
        scratch.resize(numbers.len(), N::default());
        codec.unpack(area, scratch)?;
        Ok::<_, EntryError>(scratch.as_slice() == numbers)
    };
    let all = numbers.par_chunks(CHUNK).zip(area.par_chunks(bytes));
    all.map_init(Vec::new, compare).all(|same| same == Ok(true))
}

/// Whether exactly those positions have no value in which the player not to move is in check.
fn has_legal_values(space: &IndexSpace, numbers: &Distances) -> bool {
    let is_illegal = |index: u64| match numbers {
        Distances::Narrow(numbers) => numbers.get(index as usize) == Some(&1),
        Distances::Wide(numbers) => numbers.get(index as usize) == Some(&1),
    };
    let right = scan(
        space,
        || true,
        |right, row| {
            let checked = checked_lanes(space.pieces(), row);
            for (square, index) in row.positions() {
                *right &= is_illegal(index) == (checked >> square & 1 != 0);
            }
        },
    );
    right.is_some_and(|shares| shares.into_iter().all(|right| right))
}

/// The squares of the walking piece on which the player not to move is in check.
fn checked_lanes(pieces: &PieceList, row: &EntryRow<'_>) -> u64 {
    let attacker = row.turn;
    let fixed = || {
        let men = pieces.iter().enumerate().filter(|&(slot, _)| slot != row.lane);
        men.map(|(slot, piece)| (piece, Square::new(u32::from(row.squares[slot]))))
    };
    let occupied: Bitboard = fixed().map(|(_, square)| square).collect();
    let seen_from = |piece: &hoffman_board::ListedPiece, square: Square| {
        attacks::attacks(square, piece.role.of(piece.color), occupied)
    };

    let attackers = || fixed().filter(|(piece, _)| piece.color == attacker);

    let walker = &pieces[row.lane];
    if walker.role == Role::King && walker.color != attacker {
        let seen = |all: Bitboard, (piece, square)| all | seen_from(piece, square);
        return attackers().fold(Bitboard::EMPTY, seen).0;
    }

    let king = fixed().find(|(piece, _)| piece.role == Role::King && piece.color != attacker);
    let Some((_, king)) = king else { return 0 };
    let mut checked = Bitboard::EMPTY;

    for (piece, square) in attackers() {
        if seen_from(piece, square).contains(king) {
            // Only the walking piece can step in between.
            checked |= !attacks::between(square, king);
        }
    }

    if walker.color == attacker {
        // What it attacks sees it, with the eyes of its opponent where pawns look ahead.
        checked |= attacks::attacks(king, walker.role.of(attacker.other()), occupied);
    }
    checked.0
}

/// What is counted of the new table; none if the old header does not say enough.
fn tally_of(table: &Table, new: &IndexSpace, counts: &IndexCounts) -> Option<IndexTally> {
    let mut tally = IndexTally {
        positions: counts.legal + counts.pntm_mated,
        mated: counts.pntm_mated,
        white_wins: counts.white_wins,
        black_wins: counts.black_wins,
        max: counts.max_stored,
        min: counts.min_stored,
        ..IndexTally::default()
    };
    let old = table.space();
    if old.symmetry() == new.symmetry() {
        // The numbers of the old header stay.
        return Some(tally);
    }
    // Every position of the old table has as many images in the new one, but for those with both
    // kings on a long diagonal, which are counted.
    let times = i64::from(old.symmetry() / new.symmetry());
    let (there, here) = (diagonal_moves(old)?, diagonal_moves(new)?);
    let sides = if old.has_side_bit() == new.has_side_bit() { 1 } else { 2 };
    let count = |name: &str, there: u64, here: u64| {
        let said = *table.control().statistics.get(name)?;
        u64::try_from((said - there as i64) * times * sides + here as i64).ok()
    };
    tally.stalemates = count("stalemate-positions", there.stalemates, here.stalemates)?;
    tally.moves = count("forward-moves", there.moves, here.moves)?;
    tally.futuremoves = count("futuremoves", there.futuremoves, here.futuremoves)?;
    Some(tally)
}

/// Whether two squares are on the same long diagonal.
fn are_on_diagonal(squares: [u8; 2]) -> bool {
    let is_rising = |square: u8| square & 7 == square >> 3;
    let is_falling = |square: u8| square & 7 == 7 - (square >> 3);
    squares.into_iter().all(is_rising) || squares.into_iter().all(is_falling)
}

/// Moves and stalemates of the positions with both kings on the same long diagonal.
fn diagonal_moves(space: &IndexSpace) -> Option<IndexTally> {
    if has_pawns(space) {
        return Some(IndexTally::default());
    }
    let king = |color: Color| {
        let is_king =
            |piece: &hoffman_board::ListedPiece| piece.role == Role::King && piece.color == color;
        space.pieces().iter().position(is_king)
    };
    let kings = [king(Color::White)?, king(Color::Black)?];
    let look = |tally: &mut IndexTally, row: &EntryRow<'_>| {
        if !kings.contains(&row.lane) && are_on_diagonal(kings.map(|slot| row.squares[slot])) {
            add_moves_of(space, row, tally);
        }
    };
    let shares = scan(space, IndexTally::default, look)?;
    Some(shares.iter().fold(IndexTally::default(), IndexTally::with))
}

/// Adds the moves and stalemates of a row.
fn add_moves_of(space: &IndexSpace, row: &EntryRow<'_>, tally: &mut IndexTally) {
    let checked = checked_lanes(space.pieces(), row);
    let men = row.squares.iter().take(space.pieces().len());
    let mut placement = Placement {
        squares: men.map(|&square| Square::new(u32::from(square))).collect(),
        turn: row.turn,
        en_passant: None,
    };
    for (square, _) in row.positions().filter(|(square, _)| checked >> square & 1 == 0) {
        placement.squares[row.lane] = Square::new(u32::from(square));
        tally.add_moves(moves::count(space, &placement));
    }
}
