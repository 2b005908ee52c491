//! Entries recomputed by rows: positions that differ in the square of one piece, at once.
//!
//! A quiet move of another man leads all positions of a row to one other row, whose entries lie
//! side by side, and a quiet move of the row's own piece stays within one. Which of them are
//! legal are sets of squares. What else may be played, captures, promotions and steps that
//! allow a capture en passant, is looked up move by move. A row only ever accepts: an entry
//! that is not what was found here is looked at again by itself, which says what is wrong.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{
    Bitboard, ByColor, Color, Format, MAX_PIECES, PieceSlot, Placement, Rank, Role, Square,
    Symmetry, Value, Variant,
};
use hoffman_table::rows::EntryRow;
use hoffman_table::{EntryValue, RawEntry};

use super::VerifyError;
use super::job::Job;
use super::men::{Men, Step};
use super::outcomes::Worth;
use super::tally::Tally;

/// What moves are worth, a greater number being better. No move at all is less than any.
const NO_MOVE: u16 = 0;
const DRAW: u16 = 20_000;
/// A value that rows cannot judge, which no other may hide.
const UNCLEAR: u16 = u16::MAX;

/// The number of a value; [`UNCLEAR`] if it has none.
fn score(value: Value) -> u16 {
    match value {
        Value::Illegal => UNCLEAR,
        Value::Draw => DRAW,
        Value::Loss(moves) if moves < DRAW - 1 => 1 + moves,
        Value::Win(moves) if moves < DRAW - 1 => 2 * DRAW - moves,
        Value::Loss(_) | Value::Win(_) => UNCLEAR,
    }
}

/// What a row knows of its positions, by square of the piece.
struct Found {
    best: [u16; 64],
    moves: [u16; 64],
}

/// The moves of one position that are looked up move by move.
struct OtherMoves {
    best: u16,
    moves: u64,
    /// How many of them lead out of the table.
    leaving: u64,
}

/// A row with the men who stand still.
struct Row<'a> {
    squares: &'a [u8; MAX_PIECES],
    lane: PieceSlot,
    lanes: Bitboard,
    turn: Color,
    /// Where the others stand.
    occupied: Bitboard,
}

impl Row<'_> {
    fn square(&self, slot: PieceSlot) -> Square {
        Square::new(u32::from(self.squares[slot]))
    }
}

/// A table that can be looked at by rows.
pub(super) struct RowJob<'a> {
    job: &'a Job<'a>,
    numbers: &'a [i8],
    /// What a move is worth to a position whose entry for the player named, as an unsigned
    /// byte, is this.
    behind: ByColor<[u16; 256]>,
    /// What the entry itself says.
    stored: ByColor<[u16; 256]>,
    kings: ByColor<PieceSlot>,
}

impl<'a> RowJob<'a> {
    /// None if the rules, the men or the entries are not of the plain sort that rows know.
    pub(super) fn new(job: &'a Job<'a>) -> Option<RowJob<'a>> {
        let table = job.table();
        let (codec, pieces, control) = (table.codec(), table.pieces(), table.control());
        let plain = table.variant() == Variant::Normal
            && job.has_lines
            && job.syzygy.is_none()
            && matches!(codec.format(), Format::Dtm(_))
            && control.prunes.is_empty()
            && control.prune_enables.is_empty();
        let alike = |slot: PieceSlot| {
            let kind = |slot: PieceSlot| (pieces[slot].color, pieces[slot].role);
            (0..slot).any(|other| kind(other) == kind(slot))
        };
        if !plain || (0..pieces.len()).any(alike) {
            return None;
        }
        let king = |color| {
            (0..pieces.len())
                .find(|&slot| pieces[slot].role == Role::King && pieces[slot].color == color)
        };
        let kings = ByColor { white: king(Color::White)?, black: king(Color::Black)? };
        let by_entry = |of: &dyn Fn(EntryValue) -> Option<Value>| {
            ByColor::new_with(|turn| {
                std::array::from_fn(|byte| {
                    let value = codec.value(RawEntry(i32::from(byte as u8 as i8)), turn);
                    value.and_then(of).map_or(UNCLEAR, score)
                })
            })
        };
        let exact = |value| match value {
            EntryValue::Exact(value) => Some(value),
            _ => None,
        };
        let behind = by_entry(&|value| Worth::before(value).exact);
        Some(RowJob { job, numbers: job.numbers()?, behind, stored: by_entry(&exact), kings })
    }

    /// Compares the entries of a row. `steps` is scratch space.
    pub(super) fn check(
        &self,
        row: &EntryRow<'_>,
        tally: &mut Tally,
        steps: &mut Vec<Step>,
    ) -> Result<(), VerifyError> {
        let pieces = self.job.table().pieces();
        let movable = !matches!(pieces[row.lane].role, Role::Pawn | Role::King);
        if !movable || row.en_passant.is_some() || self.is_doubled(row.squares) {
            for (_, index) in row.positions() {
                self.job.check(index, tally, steps)?;
            }
            return Ok(());
        }
        let others = (0..pieces.len()).filter(|&slot| slot != row.lane);
        let occupied = others.map(|slot| Square::new(u32::from(row.squares[slot]))).collect();
        let (squares, lane, turn) = (row.squares, row.lane, row.turn);
        let here = Row { squares, lane, lanes: Bitboard(row.lanes), turn, occupied };
        let king = here.square(*self.kings.get(turn.other()));
        let illegal = self.attacked(&here, king, occupied, turn);
        let legal = Row { lanes: here.lanes & !illegal, ..here };
        let mut found = Found { best: [NO_MOVE; 64], moves: [0; 64] };
        if legal.lanes.any() {
            self.move_others(&legal, &mut found);
            if pieces[lane].color == turn {
                self.move_lane(&legal, &mut found);
            }
        }
        let singly = self.with_other_moves(&legal);
        let king = legal.square(*self.kings.get(turn));
        let checked = self.attacked(&legal, king, occupied, turn.other());
        for (square, index) in row.positions() {
            let at = Square::new(u32::from(square));
            if illegal.contains(at) {
                self.accept_illegal(index, turn, tally, steps)?;
                continue;
            }
            let (mut best, mut moves) =
                (found.best[usize::from(square)], u64::from(found.moves[usize::from(square)]));
            let mut leaving = 0;
            if singly.contains(at) {
                let other = self.other_moves(&legal, at, steps)?;
                best = best.max(other.best);
                (moves, leaving) = (moves + other.moves, other.leaving);
            }
            let stalemate = moves == 0 && !checked.contains(at);
            if moves == 0 {
                best = if stalemate { DRAW } else { score(Value::Loss(0)) };
            }
            let number = self.numbers.get(index as usize).copied().unwrap_or_default();
            if best == UNCLEAR || self.stored.get(turn)[usize::from(number as u8)] != best {
                self.job.check(index, tally, steps)?;
                continue;
            }
            tally.checked += 1;
            tally.moves += moves;
            tally.futuremoves += leaving;
            tally.stalemates += u64::from(stalemate);
            let stored = self.job.table().codec().value(RawEntry(i32::from(number)), turn);
            tally.count_legal(false, stored, turn);
        }
        Ok(())
    }

    /// Takes an entry of a position in which the player not to move is in check.
    fn accept_illegal(
        &self,
        index: u64,
        turn: Color,
        tally: &mut Tally,
        steps: &mut Vec<Step>,
    ) -> Result<(), VerifyError> {
        let number = self.numbers.get(index as usize).copied().unwrap_or_default();
        if RawEntry(i32::from(number)) != self.job.table().codec().store(Value::Illegal, turn) {
            return Ok(self.job.check(index, tally, steps)?);
        }
        tally.checked += 1;
        tally.illegal += 1;
        Ok(())
    }

    /// Whether both kings stand on the long diagonal, where indices do not follow from each other.
    fn is_doubled(&self, squares: &[u8; MAX_PIECES]) -> bool {
        let diagonal = |king: &PieceSlot| squares[*king].is_multiple_of(9);
        self.job.table().space().symmetry() == 8
            && diagonal(&self.kings.white)
            && diagonal(&self.kings.black)
    }

    /// The attacks of a man on a square, among these others.
    fn attacks(&self, slot: PieceSlot, from: Square, occupied: Bitboard) -> Bitboard {
        let piece = &self.job.table().pieces()[slot];
        attacks::attacks(from, piece.role.of(piece.color), occupied)
    }

    /// The squares of the row's piece with which `by` attacks a square, the others standing
    /// on `occupied`.
    /// The men of `by` stand as in the row.
    fn attacked(&self, row: &Row<'_>, target: Square, occupied: Bitboard, by: Color) -> Bitboard {
        let pieces = self.job.table().pieces();
        let mut attacked = Bitboard::EMPTY;
        if pieces[row.lane].color == by {
            // He is no pawn, so his attacks go both ways.
            attacked |= self.attacks(row.lane, target, occupied);
        }
        for (slot, piece) in pieces.iter().enumerate() {
            if slot == row.lane || piece.color != by {
                continue;
            }
            let from = row.square(slot);
            if self.attacks(slot, from, occupied).contains(target) {
                attacked |= !attacks::between(from, target);
            }
        }
        attacked
    }

    /// The quiet moves of the men who are the same in the whole row.
    fn move_others(&self, row: &Row<'_>, found: &mut Found) {
        let pieces = self.job.table().pieces();
        let own_king = *self.kings.get(row.turn);
        for (slot, piece) in pieces.iter().enumerate() {
            if slot == row.lane || piece.color != row.turn {
                continue;
            }
            let from = row.square(slot);
            let targets = match piece.role {
                Role::Pawn => self.pushes(row, from),
                _ => self.attacks(slot, from, row.occupied) & !row.occupied,
            };
            for to in targets {
                let occupied = row.occupied.without(from).with(to);
                let king = if slot == own_king { to } else { row.square(own_king) };
                let attacked = self.attacked(row, king, occupied, row.turn.other());
                let lanes = row.lanes & !attacks::between(from, to) & !attacked;
                let lanes = lanes.without(to);
                if lanes.is_empty() {
                    continue;
                }
                let mut squares = *row.squares;
                squares[slot] = to as u8;
                self.visit(&squares, row.lane, lanes, row.turn.other(), |square, score| {
                    let best = &mut found.best[square];
                    *best = (*best).max(score);
                    found.moves[square] += 1;
                });
            }
        }
    }

    /// The steps of a pawn that neither promote him nor allow a capture en passant.
    fn pushes(&self, row: &Row<'_>, from: Square) -> Bitboard {
        let forward = row.turn.fold_wb(8, -8);
        let free = |square: &Square| !row.occupied.contains(*square);
        let Some(one) = from.offset(forward).filter(free) else { return Bitboard::EMPTY };
        let mut targets = Bitboard::from(one) & !Bitboard::BACKRANKS;
        if from.rank() == row.turn.fold_wb(Rank::Second, Rank::Seventh)
            && !self.is_seen(row, one)
            && let Some(two) = one.offset(forward).filter(free)
        {
            targets.add(two);
        }
        targets
    }

    /// Whether a pawn of the player not to move could capture on the square jumped over.
    fn is_seen(&self, row: &Row<'_>, jumped: Square) -> bool {
        let beside = attacks::pawn_attacks(row.turn, jumped);
        self.job.table().pieces().iter().enumerate().any(|(slot, piece)| {
            piece.role == Role::Pawn && piece.color != row.turn && beside.contains(row.square(slot))
        })
    }

    /// The quiet moves of the row's own piece.
    fn move_lane(&self, row: &Row<'_>, found: &mut Found) {
        let king = row.square(*self.kings.get(row.turn));
        let safe = !self.attacked(row, king, row.occupied, row.turn.other()) & !row.occupied;
        let reached =
            row.lanes.into_iter().fold(Bitboard::EMPTY, |all, from| {
                all | self.attacks(row.lane, from, row.occupied)
            }) & safe;
        let mut scores = [UNCLEAR; 64];
        self.visit(row.squares, row.lane, reached, row.turn.other(), |square, score| {
            scores[square] = score;
        });
        for from in row.lanes {
            let targets = self.attacks(row.lane, from, row.occupied) & safe;
            let best = &mut found.best[from as usize];
            *best = targets.into_iter().fold(*best, |best, to| best.max(scores[to as usize]));
            found.moves[from as usize] += targets.count() as u16;
        }
    }

    /// Calls `take` with every square of `lanes` and what a move to that position is worth.
    fn visit(
        &self,
        squares: &[u8; MAX_PIECES],
        lane: PieceSlot,
        lanes: Bitboard,
        turn: Color,
        mut take: impl FnMut(usize, u16),
    ) {
        let space = self.job.table().space();
        let scores = self.behind.get(turn);
        if self.is_doubled(squares) {
            for square in lanes {
                let placement = self.placement(squares, lane, square, turn);
                let number = space.encode(&placement).and_then(|i| self.numbers.get(i as usize));
                take(square as usize, number.map_or(UNCLEAR, |&n| scores[usize::from(n as u8)]));
            }
            return;
        }
        let king = |color| Square::new(u32::from(squares[*self.kings.get(color)]));
        let symmetry =
            Symmetry::canonical(space.symmetry(), king(Color::White), king(Color::Black));
        let turned = squares.map(|square| symmetry.apply_index(square & 63));
        let back = symmetry.inverse();
        let cursor = space.cursor(&turned, turn, None);
        cursor.visit_lane(lane, symmetry.apply_set(lanes.0), |run, index, step| {
            for (i, square) in (0..).zip(Bitboard(run)) {
                let square = back.apply(square);
                let index = index + i * step;
                debug_assert_eq!(
                    Some(index),
                    space.encode(&self.placement(squares, lane, square, turn))
                );
                let number = self.numbers.get(index as usize);
                take(square as usize, number.map_or(UNCLEAR, |&n| scores[usize::from(n as u8)]));
            }
        });
    }

    /// A position of a row.
    fn placement(
        &self,
        squares: &[u8; MAX_PIECES],
        lane: PieceSlot,
        square: Square,
        turn: Color,
    ) -> Placement {
        let count = self.job.table().pieces().len();
        let squares = squares.iter().take(count).map(|&s| Square::new(u32::from(s)));
        let mut squares = Placement { squares: squares.collect(), turn, en_passant: None };
        squares.squares[lane] = square;
        squares
    }

    /// The squares of the row's piece with which there may be moves that are not quiet.
    fn with_other_moves(&self, row: &Row<'_>) -> Bitboard {
        let pieces = self.job.table().pieces();
        let mut theirs = Bitboard::EMPTY;
        for (slot, piece) in pieces.iter().enumerate() {
            if slot != row.lane && piece.color != row.turn && piece.role != Role::King {
                theirs.add(row.square(slot));
            }
        }
        let mut found = Bitboard::EMPTY;
        if pieces[row.lane].color == row.turn {
            for victim in theirs {
                found |= self.attacks(row.lane, victim, row.occupied);
            }
        }
        for (slot, piece) in pieces.iter().enumerate() {
            if slot == row.lane || piece.color != row.turn {
                continue;
            }
            let from = row.square(slot);
            let attacked = self.attacks(slot, from, row.occupied);
            for victim in attacked & theirs {
                found |= !attacks::between(from, victim);
            }
            if pieces[row.lane].color != row.turn {
                found |= attacked;
            }
            if piece.role == Role::Pawn {
                let promotes = from.rank() == row.turn.fold_wb(Rank::Seventh, Rank::Second);
                let jumps = from.rank() == row.turn.fold_wb(Rank::Second, Rank::Seventh);
                let one = from.offset(row.turn.fold_wb(8, -8));
                if promotes || jumps && one.is_some_and(|one| self.is_seen(row, one)) {
                    found = Bitboard::FULL;
                }
            }
        }
        found & row.lanes
    }

    /// The moves of a position that are not quiet.
    fn other_moves(
        &self,
        row: &Row<'_>,
        square: Square,
        steps: &mut Vec<Step>,
    ) -> Result<OtherMoves, VerifyError> {
        let mut placement = self.placement(row.squares, row.lane, square, row.turn);
        let men = Men::new(self.job.table().pieces(), &placement);
        self.job.generate(&men, &placement, steps);
        steps.retain(|s| s.captured.is_some() || s.promotion.is_some() || s.jumped.is_some());
        let mut found = OtherMoves { best: NO_MOVE, moves: 0, leaving: 0 };
        for step in &*steps {
            let worth = self.job.worth(&mut placement, step)?;
            found.best = found.best.max(worth.map_or(UNCLEAR, |(value, _)| score(value)));
            found.moves += 1;
            found.leaving += u64::from(worth.is_some_and(|(_, leaves)| leaves));
        }
        Ok(found)
    }
}
