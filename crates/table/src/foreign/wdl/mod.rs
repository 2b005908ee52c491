//! All values of a Syzygy table (`.rtbw`) at once.
//!
//! [`super::syzygy`] asks `shakmaty-syzygy` for one position after the other, which unpacks the
//! block of each anew. For millions of positions it is better to have all values of a side to move
//! in memory. The tests compare every answer with that crate.

mod file;
mod numbers;
mod packed;

use std::sync::{Arc, Mutex, PoisonError};

use arrayvec::ArrayVec;
use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, Material, Piece, Role, Square};

use super::syzygy::MAX_MEN;
use crate::stop::Stop;
use file::{FilePart, WdlTable};
pub(super) use file::{HEAD, has_order};

/// A man and where it stands.
pub(super) type Man = (Square, Piece);

/// The men of a position.
type Men = ArrayVec<Man, MAX_MEN>;

/// How often each kind of man occurs, four bits each: the same for all positions of an ending.
type Signature = u64;

fn signature(men: impl IntoIterator<Item = Piece>) -> Signature {
    men.into_iter().map(|man| 1_u64 << (4 * kind(man))).sum()
}

/// The number of a kind of man: White's pawn 0 to king 5, then Black's.
fn kind(man: Piece) -> u32 {
    man.role as u32 - 1 + man.color.fold_wb(0, 6)
}

fn swapped(man: Piece) -> Piece {
    man.role.of(man.color.other())
}

/// Room for values that is not needed any more, for those of the next table: the system takes
/// longer to hand out fresh pages than values take to be unpacked. Clones are the same room.
#[derive(Clone, Debug, Default)]
pub struct SpareValues(Arc<Mutex<Vec<Vec<u8>>>>);

impl SpareValues {
    /// An empty vector for so many values. Where nothing fits something is freed, so that there is
    /// never more room than was needed at once.
    fn take(&self, len: usize) -> Vec<u8> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = (0..spare.len()).filter(|&i| spare[i].capacity() >= len);
        if let Some(best) = fits.min_by_key(|&i| spare[i].capacity()) {
            return spare.swap_remove(best);
        }
        spare.pop();
        Vec::with_capacity(len)
    }

    /// Frees all of it: nothing more is to be read.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn give_back(&self, mut values: Vec<u8>) {
        values.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(values);
    }
}

/// A table and those that captures lead to.
#[derive(Debug)]
pub(super) struct WdlTables {
    tables: Vec<WdlTable>,
    /// By the men: the number of the table, and whether colours have to be exchanged.
    by_men: Vec<(Signature, usize, bool)>,
}

impl WdlTables {
    /// Reads the headers of files; none if one is damaged, or too large for its values to be
    /// unpacked.
    pub(super) fn new(
        files: Vec<(Material, Vec<u8>)>,
        spare: &SpareValues,
        stop: &Stop,
    ) -> Option<WdlTables> {
        let tables: Vec<WdlTable> = files
            .into_iter()
            .map(|(material, bytes)| WdlTable::new(&material, bytes, (spare, stop)))
            .collect::<Option<_>>()?;
        let mut by_men = Vec::new();
        for (number, table) in tables.iter().enumerate() {
            let men = table.order();
            by_men.push((signature(men.iter().copied()), number, false));
            by_men.push((signature(men.iter().copied().map(swapped)), number, true));
        }
        Some(WdlTables { tables, by_men })
    }

    /// What the files take, and all values once they are unpacked, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let parts =
            |table: &WdlTable| table.parts.iter().flatten().map(|part| part.size).sum::<u64>();
        self.tables.iter().map(|table| table.bytes.len() as u64 + parts(table)).sum()
    }

    /// What a legal position without an en passant right is worth to the side to move: 2 a win, 1
    /// one that the fifty-move rule takes away, 0 a draw, and the same for losses below. None if a
    /// file is damaged or not there.
    pub(super) fn value(&self, men: &[Man], turn: Color) -> Option<i8> {
        if men.len() == 2 {
            return Some(0);
        }
        if men.len() > MAX_MEN {
            return None;
        }
        let mut best = -2;
        Self::captures(men, turn, |behind| {
            best = best.max(-self.value(behind, turn.other())?);
            Some(())
        })?;
        if best == 2 {
            return Some(best);
        }
        // Where a capture is better the file may hold anything that is worse.
        let key = signature(men.iter().map(|&(_, man)| man));
        let &(_, table, swap) = self.by_men.iter().find(|(men, ..)| *men == key)?;
        Some(best.max(self.tables.get(table)?.stored(men, turn, swap)?))
    }

    /// The same for positions that differ in the square of one man; they are given to `found`.
    pub(super) fn row(
        &self,
        men: &mut [Man],
        walks: usize,
        squares: Bitboard,
        turn: Color,
        mut found: impl FnMut(Square, Option<i8>),
    ) {
        let line = self.line(men, walks, turn);
        for square in squares {
            let value = match &line {
                Some(line) if !line.taken.contains(square) => line.value(square),
                _ => {
                    men[walks].0 = square;
                    self.value(men, turn)
                }
            };
            found(square, value);
        }
    }

    /// How the value follows from the square of one man; none where there is no simple rule.
    fn line(&self, men: &[Man], walks: usize, turn: Color) -> Option<ManLine<'_>> {
        let &(_, man) = men.get(walks)?;
        let others = || men.iter().enumerate().filter(|&(i, _)| i != walks).map(|(_, &man)| man);
        if men.len() == 2
            || men.len() > MAX_MEN
            || man.role == Role::Pawn
            || others().any(|(_, other)| other == man)
        {
            return None;
        }

        let occupied: Bitboard = others().map(|(square, _)| square).collect();
        let is_target = |man: Piece| man.color != turn && man.role != Role::King;
        let targets: Bitboard =
            others().filter(|&(_, man)| is_target(man)).map(|(square, _)| square).collect();

        // Where the man stands in between there are fewer captures, but then none is missed.
        let mut taken = Bitboard::EMPTY;
        for (from, taker) in others().filter(|(_, other)| other.color == turn) {
            let attacked = attacks::attacks(from, taker, occupied);
            if (attacked & targets).any() {
                return None;
            }
            if is_target(man) {
                taken |= attacked;
            }
        }

        let key = signature(men.iter().map(|&(_, man)| man));
        let &(_, table, swap) = self.by_men.iter().find(|(men, ..)| *men == key)?;
        let mut line = self.tables.get(table)?.line(men, man, turn, swap)?;
        line.taken = taken;
        if man.color == turn {
            for target in targets {
                let rest = others().filter(|&(square, _)| square != target);
                let behind: Men = rest.chain([(target, man)]).collect();
                if !is_in_check(&behind, turn) {
                    let value = -self.value(&behind, turn.other())?;
                    line.takes.push((attacks::attacks(target, man, occupied), value));
                }
            }
        }

        Some(line)
    }

    /// Visits what is behind each legal capture.
    fn captures(
        men: &[Man],
        turn: Color,
        mut visit: impl FnMut(&[Man]) -> Option<()>,
    ) -> Option<()> {
        let (mut occupied, mut targets) = (Bitboard::EMPTY, Bitboard::EMPTY);
        for &(square, man) in men {
            occupied.add(square);
            if man.color != turn && man.role != Role::King {
                targets.add(square);
            }
        }

        for (number, &(from, man)) in men.iter().enumerate() {
            if man.color != turn {
                continue;
            }
            for to in attacks::attacks(from, man, occupied) & targets {
                let mut behind: Men = men.iter().copied().filter(|&(s, _)| s != to).collect();
                let mover = behind.iter().position(|&(s, _)| s == from).unwrap_or(number);
                behind.get_mut(mover)?.0 = to;
                if is_in_check(&behind, turn) {
                    continue;
                }
                let last = turn.fold_wb(0xff << 56, 0xff_u64) >> to as u32 & 1 != 0;
                if man.role != Role::Pawn || !last {
                    visit(&behind)?;
                    continue;
                }
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    behind.get_mut(mover)?.1 = role.of(turn);
                    visit(&behind)?;
                }
            }
        }

        Some(())
    }
}

/// Whether the king of a colour is attacked.
fn is_in_check(men: &[Man], color: Color) -> bool {
    let occupied: Bitboard = men.iter().map(|&(square, _)| square).collect();
    let king = men.iter().find(|&&(_, man)| man == color.king());
    let Some(&(king, _)) = king else { return false };
    let attackers = men.iter().filter(|(_, man)| man.color != color);
    attackers.into_iter().any(|&(from, man)| attacks::attacks(from, man, occupied).contains(king))
}

/// The squares of the men of a position in the order of a file, and room for [`CORNER`].
type Squares = [u8; MAX_MEN + CORNER.len()];

/// The corner of the board and its neighbours to the right and above.
const CORNER: [u8; 3] = [0, 1, 8];

/// How the value of a position follows from the square of one man.
struct ManLine<'a> {
    table: &'a WdlTable,
    part: &'a FilePart,
    /// None if all are the same.
    values: Option<&'a [u8]>,
    /// Where [`CORNER`] comes to when the board is turned.
    images: [u8; CORNER.len()],
    /// What all other men add to the number, as if it stood behind them.
    base: u64,
    /// What a square of it adds.
    weight: u64,
    /// The squares of the men before it: it is numbered by the free ones.
    before: ArrayVec<u8, MAX_MEN>,
    /// Those of men behind it, and how much less they add if it stands before.
    behind: ArrayVec<(u8, u64), MAX_MEN>,
    /// The squares on which it can be taken; there is no rule for them.
    taken: Bitboard,
    /// For every man that it can take the squares from which, and what that is worth.
    takes: ArrayVec<(Bitboard, i8), MAX_MEN>,
}

impl ManLine<'_> {
    /// The value with the man on a square where it cannot be taken.
    #[inline(always)]
    fn value(&self, square: Square) -> Option<i8> {
        let takes = self.takes.iter().filter(|(from, _)| from.contains(square));
        let best = takes.map(|&(_, value)| value).max().unwrap_or(-2);
        if best == 2 {
            return Some(best);
        }
        Some(best.max(self.stored(square)?))
    }

    /// What the file says with the man on a square.
    #[inline(always)]
    fn stored(&self, square: Square) -> Option<i8> {
        let Some(values) = self.values else { return self.table.value(self.part, 0) };
        let (file, rank) = (square as u8 & 7, square as u8 >> 3);
        let [corner, right, above] = self.images;
        let right = right.wrapping_sub(corner).wrapping_mul(file);
        let above = above.wrapping_sub(corner).wrapping_mul(rank);
        let at = corner.wrapping_add(right).wrapping_add(above);
        let below = self.before.iter().filter(|&&other| other < at).count();
        let mut number = self.base + self.weight * u64::from(at).wrapping_sub(below as u64);
        for &(other, less) in &self.behind {
            number = number.wrapping_sub(if at < other { less } else { 0 });
        }
        let value = *values.get(usize::try_from(number).ok()?)?;
        (value <= 4).then_some(value as i8 - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::numbers::{
        THREE_MEN, TWO_KINGS, king_pairs, lead_pawns, lower, pawn_rank, three_men, triangle,
    };
    use super::*;
    use crate::foreign::syzygy::MAGIC;

    #[test]
    fn placements_are_numbered_without_gaps() {
        let kings = king_pairs().as_flattened();
        assert_eq!(u64::from(*kings.iter().max().unwrap()) + 1, TWO_KINGS);
        let triangle_squares = [1, 2, 3, 10, 11, 19];
        assert_eq!(triangle_squares.map(triangle), [0, 1, 2, 3, 4, 5]);
        let below = (0..64).filter(|s| s & 7 > s >> 3).map(lower);
        assert!(below.eq(0..28));
        let mut ranks: Vec<usize> = (8..56).map(pawn_rank).collect();
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..48));
        // Two white pawns: the leading one on any file, the other behind it.
        assert_eq!((0..4).map(|file| lead_pawns(2, file)).sum::<u64>(), 24 * 47 / 2 + 12);
        let mut three: Vec<u64> = Vec::new();
        let squares = || 0..64_u8;
        for (a, b) in squares().flat_map(|a| squares().map(move |b| (a, b))) {
            let corner = a & 7 < 4 && a >> 3 <= a & 7;
            for c in squares().filter(|&c| corner && a != b && a != c && b != c) {
                let off = [a, b, c].into_iter().find(|s| s >> 3 != s & 7);
                if off.is_none_or(|s| s & 7 > s >> 3) {
                    three.push(three_men(a, b, c));
                }
            }
        }
        three.sort_unstable();
        assert!(three.into_iter().eq(0..THREE_MEN));
    }

    #[test]
    fn pawns_lead_and_those_of_the_other_colour_come_next() {
        let material = "KPvKP".parse().unwrap();
        let head = |men: [u8; 4]| {
            let side = [&[0x00, 0x11][..], &men].concat();
            [&MAGIC[..], &[2], &side.repeat(4)].concat()
        };
        // White king 6, pawn 1; black king 14, pawn 9.
        assert!(has_order(&material, &head([1, 9, 6, 14])));
        assert!(has_order(&material, &head([9, 1, 14, 6])));
        for men in [[1, 6, 9, 14], [6, 1, 9, 14], [1, 14, 6, 9], [1, 9, 6, 6]] {
            assert!(!has_order(&material, &head(men)), "{men:?}");
        }
    }

    #[test]
    fn damage_is_noticed() {
        let material: Material = "KRvK".parse().unwrap();
        for bytes in [Vec::new(), MAGIC.to_vec(), [MAGIC.to_vec(), vec![0xff; 200]].concat()] {
            let room = (&SpareValues::default(), &Stop::default());
            assert!(WdlTable::new(&material, bytes, room).is_none());
        }
    }
}
