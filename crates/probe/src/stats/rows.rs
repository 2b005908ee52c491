//! Counting a table whose pieces may stand everywhere by rows: 64 positions at a time that differ in the
//! square of one man.
//!
//! Which of them are legal, and which are counted for their orbit, are a few sets of squares a row. What is
//! left is to count how often each entry occurs; what the entries mean is asked once at the end.

use std::cmp::Ordering;

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, ByColor, Color, ListedPiece, Role, Square, Symmetry, Value};
use hoffman_table::rows::{EntryRow, PackedEntries, has_rows, scan};
use hoffman_table::{EntryValue, Table, TableError};

use super::{Counter, Orbits, TableTally};

/// Neighbours often have the same entry. Counting them in turns keeps one increment from waiting for the other.
const TURNS: usize = 4;

/// Counts a table by rows; none if it cannot be, or its entries take more than so many bytes.
pub(super) fn count(table: &Table, memory: u64) -> Result<Option<TableTally>, TableError> {
    let codec = table.codec();
    let fits = codec.area_bytes(table.space().size()) <= memory;
    let Some(kinds) = PackedEntries::kinds(codec).filter(|_| fits && table.foreign().is_none())
    else {
        return Ok(None);
    };
    if !has_rows(table.space()) {
        return Ok(None);
    }
    let value = |key: usize, turn: Color| {
        PackedEntries::number(codec, key).and_then(|number| codec.value(number, turn))
    };
    let length = |turn| {
        let length = |key| match value(key, turn) {
            Some(EntryValue::Exact(Value::Win(moves))) => u32::from(moves) + 1,
            _ => 0,
        };
        (0..kinds).map(length).collect()
    };
    let counter = Counter::new(table);
    let rows = RowCounter {
        orbits: std::array::from_fn(|white| counted_kings(counter.orbits, white)),
        counter,
        entries: PackedEntries::of(table)?,
        lengths: ByColor::new_with(length),
    };
    let new = || {
        let counts = ByColor::new_with(|_| vec![0; kinds * TURNS]);
        Share {
            counts,
            longest: ByColor::new_with(|_| (1, u64::MAX)),
            tally: TableTally::default(),
        }
    };
    let Some(shares) = scan(table.space(), new, |share, row| rows.count(row, share)) else {
        return Ok(None);
    };
    let mut total = TableTally::default();
    for share in shares {
        total = total.with(&share.tally);
        for turn in Color::ALL {
            let side = total.plain.get_mut(turn);
            for (key, counts) in share.counts.get(turn).chunks(TURNS).enumerate() {
                let n = counts.iter().sum();
                if n > 0 {
                    side.count_some(n, value(key, turn));
                }
            }
            let &(length, index) = share.longest.get(turn);
            if index < u64::MAX {
                side.lengthen((length - 1) as u16, index);
            }
        }
    }
    Ok(Some(total))
}

/// What one share of the rows holds.
struct Share {
    /// How often each entry occurs, [`TURNS`] counts for each.
    counts: ByColor<Vec<u64>>,
    /// One more than the moves of the longest win, and its lowest index.
    longest: ByColor<(u32, u64)>,
    /// What was counted position by position.
    tally: TableTally,
}

/// The squares of the black king with which positions are counted as they are, and those with which the smaller
/// one of two images is.
type CountedKings = (Bitboard, Bitboard);

/// The same for a square of the white king.
fn counted_kings(orbits: Orbits, white: usize) -> CountedKings {
    let ways = match orbits {
        Orbits::Plain => return (Bitboard::FULL, Bitboard::EMPTY),
        Orbits::Smallest(_) => return (Bitboard::EMPTY, Bitboard::EMPTY),
        Orbits::Kings(ways) => ways,
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

struct RowCounter<'a> {
    counter: Counter<'a>,
    entries: PackedEntries,
    /// By square of the white king.
    orbits: [CountedKings; 64],
    /// One more than the moves of a win by the bits of its entry, 0 for all others.
    lengths: ByColor<Vec<u32>>,
}

impl RowCounter<'_> {
    fn count(&self, row: &EntryRow<'_>, share: &mut Share) {
        let (once, alone) = self.counted(row);
        if alone.any() {
            for (_, index) in row.positions().filter(|&(s, _)| alone.0 >> s & 1 != 0) {
                let number =
                    PackedEntries::number(self.counter.table.codec(), self.entries.key(index));
                if let Some(number) = number {
                    self.counter.count(index, number, &mut share.tally);
                }
            }
        }
        let legal = once & self.legal(row);
        if legal.is_empty() {
            return;
        }
        let (counts, longest) = (share.counts.get_mut(row.turn), share.longest.get_mut(row.turn));
        let lengths = self.lengths.get(row.turn).as_slice();
        for (turn, (square, index)) in row.positions().enumerate() {
            let is_legal = legal.0 >> square & 1;
            let key = self.entries.key(index);
            if let Some(count) = counts.get_mut(key * TURNS + turn % TURNS) {
                *count += is_legal;
            }
            let length = lengths.get(key).map_or(0, |&length| length * is_legal as u32);
            if length >= longest.0 && (length, u64::MAX - index) > (longest.0, u64::MAX - longest.1)
            {
                *longest = (length, index);
            }
        }
    }

    /// The squares of a row's man with which positions are counted, and those with which each has to be
    /// looked at by itself.
    fn counted(&self, row: &EntryRow<'_>) -> (Bitboard, Bitboard) {
        let lanes = Bitboard(row.lanes);
        if let Some(square) = row.en_passant {
            // Rights that nobody can use are no positions.
            let can_be_used = self.has_pawn_beside(row, square);
            return (Bitboard::EMPTY, if can_be_used { lanes } else { Bitboard::EMPTY });
        }
        if matches!(self.counter.orbits, Orbits::Smallest(_)) {
            return (Bitboard::EMPTY, lanes);
        }
        let kings = self.counter.kings;
        let (once, twice) = self.orbits[usize::from(row.squares[kings.white]) & 63];
        let if_in = |set: Bitboard| match Square::new(u32::from(row.squares[kings.black])) {
            _ if row.lane == kings.black => lanes & set,
            black if set.contains(black) => lanes,
            _ => Bitboard::EMPTY,
        };
        (if_in(once) | self.smallest(row, if_in(twice)), Bitboard::EMPTY)
    }

    /// Whether a pawn of the player to move attacks the square that a pawn has jumped over. Pawns have the
    /// same square in the whole row.
    fn has_pawn_beside(&self, row: &EntryRow<'_>, passed: Square) -> bool {
        let beside = attacks::pawn_attacks(row.turn.other(), passed);
        let pieces = self.counter.table.pieces().iter().zip(row.squares);
        let is_pawn = |piece: &ListedPiece| (piece.color, piece.role) == (row.turn, Role::Pawn);
        pieces
            .filter(|(piece, _)| is_pawn(piece))
            .any(|(_, &square)| beside.contains(Square::new(u32::from(square))))
    }

    /// The squares of a row's man with which the position is not larger than its image across the long
    /// diagonal, as [`Counter::is_smallest`] compares them: kind by kind.
    fn smallest(&self, row: &EntryRow<'_>, lanes: Bitboard) -> Bitboard {
        if lanes.is_empty() {
            return lanes;
        }
        let pieces = self.counter.table.pieces();
        let compare = |set: u64| set.cmp(&Symmetry::D.apply_set(set));
        let mut left = lanes;
        let mut smaller = Bitboard::EMPTY;
        for &(color, role) in &self.counter.kinds {
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
    fn legal(&self, row: &EntryRow<'_>) -> Bitboard {
        let pieces = self.counter.table.pieces();
        let square = |slot: usize| Square::new(u32::from(row.squares[slot]));
        let others = || (0..pieces.len()).filter(|&slot| slot != row.lane);
        let occupied: Bitboard = others().map(square).collect();
        let attackers = || others().filter(|&slot| pieces[slot].color == row.turn);
        let attacks = |from: Square, slot: usize| {
            attacks::attacks(from, pieces[slot].role.of(pieces[slot].color), occupied)
        };
        let king = *self.counter.kings.get(row.turn.other());
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
