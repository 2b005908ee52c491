//! The best quiet moves of the pieces of a row of positions. What they lead to are cells of the
//! same table with the other side to move; where these have a byte each they are looked at 64 at a
//! time. What a piece reaches is computed here, and again in another way where tables are verified,
//! so that each checks the other.

use crate::board::{Color, KNIGHT_STEPS, Kind, LINES, Man, Position, attacks, between, squares};
use crate::cells::{CellLine, Space, Squares, board_of, ranks_of};
use crate::code::{Code, before};
use crate::move_rows::MoveRow;

use super::{bytes_of, widened};

/// The bytes of a board, those of a rank in a word.
type Board = [u64; 8];

/// What stands where there is no position: more than any byte less one.
const NONE: u8 = 255;

/// A row of positions, and the cells with the other side to move.
pub(super) struct QuietMoves<'a> {
    space: &'a Space,
    /// The bytes of all cells, 0 where there is no legal position.
    cells: &'a [u8],
    /// The men but for the lane.
    squares: Squares,
    occupied: u64,
    /// By lane square the least byte that was met, less one.
    least: [u8; 64],
}

/// What a move is worth that leads to a position of this byte, by the byte less one.
static BEFORE: [Code; 256] = {
    let mut codes = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        codes[byte - 1] = before(widened(byte as u8));
        byte += 1;
    }
    codes
};

impl<'a> QuietMoves<'a> {
    /// Prepares for a row with men on these squares.
    pub(super) fn new(space: &'a Space, cells: &'a [u8], squares: Squares) -> QuietMoves<'a> {
        let fixed = &squares[..space.lane()];
        let occupied = fixed.iter().fold(0, |set, &square| set | 1_u64 << (square & 63));
        QuietMoves { space, cells, squares, occupied, least: [NONE; 64] }
    }

    /// Looks at the moves of all pieces, and lets `moves`, which are those of the same row, have
    /// the best ones. An error is a position whose code is not known.
    pub(super) fn look(mut self, moves: &mut MoveRow<'_>) -> Result<(), Position> {
        let turn = moves.turn();
        let lane = self.space.lane();
        for (number, &man) in self.space.men().iter().enumerate() {
            if man.color != turn || man.kind == Kind::Pawn {
                continue;
            }
            if number == lane {
                self.moves_of_lane(man, moves)?;
            } else {
                self.moves_of_fixed(number, man, moves)?;
            }
        }
        let mut codes = [0; 64];
        for (code, byte) in codes.iter_mut().zip(self.least) {
            *code = BEFORE[usize::from(byte)];
        }
        moves.take_row(&codes);
        Ok(())
    }

    fn moves_of_fixed(
        &mut self,
        number: usize,
        man: Man,
        moves: &mut MoveRow<'_>,
    ) -> Result<(), Position> {
        let from = self.squares[number];
        let mut targets = attacks(man, from, self.occupied) & !self.occupied;
        if man.kind == Kind::King {
            let other = self.squares[usize::from(man.color == Color::White)];
            targets &= !attacks(man, other, 0);
        }
        for to in squares(targets) {
            let mut after = self.squares;
            after[number] = to;
            let line = self.space.line_among(after, self.space.lane());
            let passed = if man.kind.is_slider() { between(from, to) } else { 0 };
            let seen = line.map_or(0, |line| self.look_at(&line, passed));
            moves.look_at_move((from, to, man), !(seen | passed | 1 << to))?;
        }
        Ok(())
    }

    /// Looks at the cells of a line but for those of some lane squares. Returns which squares it is
    /// the line of.
    fn look_at(&mut self, line: &CellLine, but_for: u64) -> u64 {
        let Some(mut row) = bytes_of(self.cells, line) else { return 0 };
        squares(but_for).for_each(|square| row[usize::from(square)] = 0);
        for (least, byte) in self.least.iter_mut().zip(row) {
            *least = (*least).min(byte.wrapping_sub(1));
        }
        line.squares
    }

    fn moves_of_lane(&mut self, man: Man, moves: &mut MoveRow<'_>) -> Result<(), Position> {
        let line = self.space.line_among(self.squares, self.space.lane());
        let line = line.filter(|line| line.squares == u64::MAX);
        let Some(mut row) = line.and_then(|line| bytes_of(self.cells, &line)) else {
            return moves.look_at_lane();
        };
        for byte in &mut row {
            *byte = byte.wrapping_sub(1);
        }
        let reached = least_reached(man.kind, &row, self.occupied);
        for (least, reached) in self.least.iter_mut().zip(reached) {
            *least = (*least).min(reached);
        }
        Ok(())
    }
}

/// For each square the least byte of those that a piece reaches from there. There are men on
/// `occupied`, where the bytes are [`NONE`].
fn least_reached(kind: Kind, bytes: &[u8; 64], occupied: u64) -> [u8; 64] {
    let values = ranks_of(bytes);
    let men = occupied.to_le_bytes().map(|set| FULL[usize::from(set)]);
    let mut reached = [u64::MAX; 8];
    match kind {
        Kind::Knight => KNIGHT_STEPS.iter().for_each(|&step| leap(step, &values, &mut reached)),
        Kind::King => LINES.iter().for_each(|&step| leap(step, &values, &mut reached)),
        Kind::Rook | Kind::Bishop | Kind::Queen => {
            for &(files, ranks) in &LINES {
                let straight = files == 0 || ranks == 0;
                if ranks == 0 && kind != Kind::Bishop {
                    slide_in_ranks(files, (&values, &men), &mut reached);
                } else if straight && kind != Kind::Bishop || !straight && kind != Kind::Rook {
                    slide((files, ranks), (&values, &men), &mut reached);
                }
            }
        }
        Kind::Pawn => {}
    }
    board_of(reached)
}

/// For every set of squares of a rank all bits of their bytes.
static FULL: [u64; 256] = {
    let mut full = [0; 256];
    let mut set = 0;
    while set < 256 {
        let mut square = 0;
        while square < 8 {
            if set >> square & 1 != 0 {
                full[set] |= 0xff << (8 * square);
            }
            square += 1;
        }
        set += 1;
    }
    full
};

/// The bytes of a rank that are so many files to the right of each.
#[inline]
fn right(rank: u64, files: i8) -> u64 {
    match files {
        0 => rank,
        1.. => rank >> (8 * files) | u64::MAX << (64 - 8 * files),
        _ => rank << (-8 * files) | u64::MAX >> (64 + 8 * files),
    }
}

/// The lesser ones of the bytes of two ranks.
#[inline]
fn lesser(a: u64, b: u64) -> u64 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u64::from_le_bytes(std::array::from_fn(|file| a[file].min(b[file])))
}

/// One step in a direction, given in files and ranks.
#[inline]
fn leap((files, ranks): (i8, i8), values: &Board, reached: &mut Board) {
    for (rank, reached) in (0_i8..).zip(reached) {
        if let Some(&there) = values.get((rank + ranks) as usize) {
            *reached = lesser(*reached, right(there, files));
        }
    }
}

/// Any number of steps up or down the board, straight or not.
#[inline]
fn slide((files, ranks): (i8, i8), (values, men): (&Board, &Board), reached: &mut Board) {
    // What is reached from the rank before.
    let mut behind = u64::MAX;
    for rank in 0..8 {
        let rank = if ranks > 0 { 7 - rank } else { rank };
        reached[rank] = lesser(reached[rank], behind);
        behind = right(lesser(values[rank], behind | men[rank]), files);
    }
}

/// Any number of steps left or right.
#[inline]
fn slide_in_ranks(files: i8, (values, men): (&Board, &Board), reached: &mut Board) {
    for ((&values, &men), reached) in values.iter().zip(men).zip(reached) {
        let (mut least, mut men) = (values, men);
        for steps in [1, 2, 4] {
            least = lesser(least, men | right(least, files * steps));
            men |= right(men, files * steps);
        }
        *reached = lesser(*reached, right(least, files));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_byte_is_that_of_a_square_that_is_reached() {
        let mut random = fastrand::Rng::with_seed(5);
        for kind in [Kind::King, Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight] {
            for _ in 0..500 {
                let occupied = random.u64(..) & random.u64(..) & random.u64(..);
                let taken = |square: u8| occupied >> square & 1 != 0;
                let byte = |square: usize| if taken(square as u8) { NONE } else { random.u8(..) };
                let mut byte = byte;
                let bytes: [u8; 64] = std::array::from_fn(&mut byte);
                let found = least_reached(kind, &bytes, occupied);
                for square in 0..64 {
                    let reached = attacks(Man { color: Color::White, kind }, square, occupied);
                    let bytes = squares(reached).map(|to| bytes[usize::from(to)]);
                    let least = bytes.min().unwrap_or(NONE);
                    assert_eq!(found[usize::from(square)], least, "{kind:?} {square} {occupied:x}");
                }
            }
        }
    }
}
