//! Entries recomputed by rows: positions that differ in the square of one piece, at once.
//!
//! A quiet move of another man leads all positions of a row to one other row, whose entries lie
//! side by side, and a quiet move of the row's own piece stays within one. Which of them are
//! legal are sets of squares. A capture by the row's piece leads all his squares to the same
//! position, other captures are looked up one by one, and where there are promotions, captures
//! en passant or steps that allow one, all that is not quiet. Where only positions with White to
//! move are stored, those behind his moves are looked for with the colours exchanged. A row
//! only ever accepts: an entry that is not what was found here is looked at again by itself,
//! which says what is wrong.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{
    Bitboard, ByColor, Color, Format, MAX_PIECES, PieceSlot, Placement, Rank, Role, Square,
    Symmetry, Value, Variant,
};
use hoffman_table::rows::{EntryRow, has_rows};
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
    /// How many moves the others have.
    others: Counts,
    /// How many moves the piece has himself.
    own: [u8; 64],
    /// How many captures there are.
    captures: Counts,
}

impl Found {
    fn new() -> Found {
        let (others, captures) = (Counts::default(), Counts::default());
        Found { best: [NO_MOVE; 64], others, own: [0; 64], captures }
    }

    /// Takes a capture that is worth the same on several squares.
    fn capture(&mut self, squares: Bitboard, score: u16) {
        self.captures.add(squares);
        for square in squares {
            let best = &mut self.best[square as usize];
            *best = (*best).max(score);
        }
    }
}

/// A number for every square, a bit of each in every set.
#[derive(Default)]
struct Counts([Bitboard; 8]);

impl Counts {
    /// Adds one on the squares of a set.
    fn add(&mut self, mut set: Bitboard) {
        for bits in &mut self.0 {
            (set, *bits) = (set & *bits, set ^ *bits);
            if set.is_empty() {
                return;
            }
        }
    }

    fn of(&self, square: Square) -> u64 {
        let bits = (0..).zip(&self.0);
        bits.map(|(place, bits)| u64::from(bits.contains(square)) << place).sum()
    }
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
    en_passant: Option<Square>,
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
    /// Who takes whose place when the colours are exchanged, if only White's turn is stored.
    partners: Option<[PieceSlot; MAX_PIECES]>,
    /// The image of every square by symmetry.
    images: [[u8; 64]; 8],
}

impl<'a> RowJob<'a> {
    /// None if the rules, the men or the entries are not of the plain sort that rows know.
    pub(super) fn new(job: &'a Job<'a>) -> Option<RowJob<'a>> {
        let table = job.table();
        let (codec, pieces, control) = (table.codec(), table.pieces(), table.control());
        let space = table.space();
        let plain = table.variant() == Variant::Normal
            && has_rows(space)
            && job.syzygy.is_none()
            && matches!(codec.format(), Format::Dtm(_))
            && control.prunes.is_empty()
            && control.prune_enables.is_empty()
            && pieces.iter().all(|piece| !piece.is_restricted());
        let is_free = |slot: PieceSlot| {
            let kind = |slot: PieceSlot| (pieces[slot].color, pieces[slot].role);
            let alike: Vec<_> = (0..pieces.len()).filter(|&s| kind(s) == kind(slot)).collect();
            space.is_free_of_order(&alike)
        };
        if !plain || !(0..pieces.len()).all(is_free) {
            return None;
        }
        let partners = if space.has_side_bit() {
            None
        } else {
            let mut partners = [0; MAX_PIECES];
            for slot in 0..pieces.len() {
                partners[slot] = space.partner(slot)?;
            }
            Some(partners)
        };
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
        let (numbers, stored) = (job.numbers()?, by_entry(&exact));
        let image = |n| {
            let symmetry = Symmetry::all().nth(n).unwrap_or_default();
            std::array::from_fn(|square| symmetry.apply_index(square as u8))
        };
        let images = std::array::from_fn(image);
        Some(RowJob { job, numbers, behind, stored, kings, partners, images })
    }

    /// Compares the entries of a row. `steps` is scratch space.
    pub(super) fn check(
        &self,
        row: &EntryRow<'_>,
        tally: &mut Tally,
        steps: &mut Vec<Step>,
    ) -> Result<(), VerifyError> {
        let pieces = self.job.table().pieces();
        let others = (0..pieces.len()).filter(|&slot| slot != row.lane);
        let occupied = others.map(|slot| Square::new(u32::from(row.squares[slot]))).collect();
        let (squares, lane, turn) = (row.squares, row.lane, row.turn);
        let en_passant = row.en_passant.map(|square| Square::new(u32::from(square)));
        let lanes = Bitboard(row.lanes);
        let here = Row { squares, lane, lanes, turn, en_passant, occupied };
        let illegal = self.in_check(&here, turn.other());
        let legal = Row { lanes: here.lanes & !illegal, ..here };
        let mut found = Found::new();
        let is_special = self.has_special_moves(&legal);
        if legal.lanes.any() {
            self.move_others(&legal, &mut found);
            if pieces[lane].color == turn {
                self.move_lane(&legal, &mut found);
            }
            if !is_special {
                self.capture(&legal, &mut found)?;
            }
        }
        let checked = self.in_check(&legal, turn);
        for (square, index) in row.positions() {
            let at = Square::new(u32::from(square));
            if illegal.contains(at) {
                self.accept_illegal(index, turn, tally, steps)?;
                continue;
            }
            let mut best = found.best[usize::from(square)];
            let mut leaving = found.captures.of(at);
            let quiet = found.others.of(at) + u64::from(found.own[usize::from(square)]);
            let mut moves = quiet + leaving;
            if is_special {
                let other = self.other_moves(&legal, at, steps)?;
                best = best.max(other.best);
                (moves, leaving) = (quiet + other.moves, other.leaving);
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

    /// The attacks of a man on a square, among these others.
    fn attacks(&self, slot: PieceSlot, from: Square, occupied: Bitboard) -> Bitboard {
        let piece = &self.job.table().pieces()[slot];
        attacks::attacks(from, piece.role.of(piece.color), occupied)
    }

    /// The squares of the row's piece with which the king of a colour is in check.
    fn in_check(&self, row: &Row<'_>, color: Color) -> Bitboard {
        let king = row.square(*self.kings.get(color));
        self.checked(row, king, row.occupied, (color, None))
    }

    /// The same with the others on `occupied` and the king, if he is one of them, on `king`.
    /// The men of the other colour stand as in the row, but for one who is gone.
    fn checked(
        &self,
        row: &Row<'_>,
        king: Square,
        occupied: Bitboard,
        (color, gone): (Color, Option<PieceSlot>),
    ) -> Bitboard {
        if row.lane != *self.kings.get(color) {
            return self.attacked(row, king, occupied, (color.other(), gone));
        }
        let pieces = self.job.table().pieces();
        let theirs =
            (0..pieces.len()).filter(|&slot| pieces[slot].color != color && Some(slot) != gone);
        // He does not stand in the way of an attack on himself, wherever he goes.
        theirs
            .fold(Bitboard::EMPTY, |all, slot| all | self.attacks(slot, row.square(slot), occupied))
    }

    /// The squares of the row's piece with which `by` attacks a square, the others standing
    /// on `occupied`.
    /// The men of `by` stand as in the row, but for one who is gone.
    fn attacked(
        &self,
        row: &Row<'_>,
        target: Square,
        occupied: Bitboard,
        (by, gone): (Color, Option<PieceSlot>),
    ) -> Bitboard {
        let pieces = self.job.table().pieces();
        let mut attacked = Bitboard::EMPTY;
        if pieces[row.lane].color == by {
            // He is no pawn, so his attacks go both ways.
            attacked |= self.attacks(row.lane, target, occupied);
        }
        for (slot, piece) in pieces.iter().enumerate() {
            if slot == row.lane || piece.color != by || Some(slot) == gone {
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
                let attacked = self.checked(row, king, occupied, (row.turn, None));
                let lanes = row.lanes & !attacks::between(from, to) & !attacked;
                let lanes = lanes.without(to);
                if lanes.is_empty() {
                    continue;
                }
                let mut squares = *row.squares;
                squares[slot] = to as u8;
                found.others.add(lanes);
                self.visit(&squares, row.lane, lanes, row.turn.other(), |square, score| {
                    let best = &mut found.best[square];
                    *best = (*best).max(score);
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
        let safe = !self.in_check(row, row.turn) & !row.occupied;
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
            found.own[from as usize] = targets.count() as u8;
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
        let scores = self.behind.get(turn);
        let score = |number: Option<&i8>| number.map_or(UNCLEAR, |&n| scores[usize::from(n as u8)]);
        let Some(partners) = self.partners.as_ref().filter(|_| turn == Color::Black) else {
            self.visit_stored(squares, lane, lanes, turn, |square, number| {
                take(usize::from(square & 63), score(number));
            });
            return;
        };
        let exchanged = std::array::from_fn(|slot| 63 - (squares[partners[slot]] & 63));
        let lanes = Bitboard(lanes.0.reverse_bits());
        self.visit_stored(&exchanged, partners[lane], lanes, turn.other(), |square, number| {
            take(usize::from(63 - (square & 63)), score(number));
        });
    }

    /// Calls `take` with every square of `lanes` and the entry of that position, of a player
    /// whose turn is stored.
    fn visit_stored(
        &self,
        squares: &[u8; MAX_PIECES],
        lane: PieceSlot,
        lanes: Bitboard,
        turn: Color,
        mut take: impl FnMut(u8, Option<&'a i8>),
    ) {
        let space = self.job.table().space();
        let king = |color, square: Square| match *self.kings.get(color) {
            slot if slot == lane => square,
            slot => Square::new(u32::from(squares[slot])),
        };
        let canonical = |square| {
            let (white, black) = (king(Color::White, square), king(Color::Black, square));
            Symmetry::canonical(space.symmetry(), white, black)
        };
        let walks = self.kings.white == lane || self.kings.black == lane;
        let mut rest = lanes;
        while let Some(first) = rest.first() {
            let symmetry = canonical(first);
            let mut lanes = rest;
            if walks {
                lanes = lanes.into_iter().filter(|&square| canonical(square) == symmetry).collect();
            }
            rest &= !lanes;
            let image = &self.images[symmetry.index()];
            let turned = squares.map(|square| image[usize::from(square & 63)]);
            let back = &self.images[symmetry.inverse().index()];
            let cursor = space.cursor(&turned, turn, None);
            cursor.visit_lane(lane, symmetry.apply_set(lanes.0), |run, index, step| {
                for (i, square) in (0..).zip(Bitboard(run)) {
                    let square = back[square as usize];
                    let index = index + i * step;
                    debug_assert_eq!(
                        Some(index),
                        space.encode(&self.placement(
                            squares,
                            lane,
                            Square::new(u32::from(square)),
                            turn
                        ))
                    );
                    take(square, self.numbers.get(index as usize));
                }
            });
        }
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

    /// Whether there may be moves that change or take a pawn in the ways of pawns, or allow it.
    fn has_special_moves(&self, row: &Row<'_>) -> bool {
        let pieces = self.job.table().pieces();
        pieces.iter().enumerate().any(|(slot, piece)| {
            if piece.role != Role::Pawn || piece.color != row.turn {
                return false;
            }
            let from = row.square(slot);
            let promotes = from.rank() == row.turn.fold_wb(Rank::Seventh, Rank::Second);
            let jumps = from.rank() == row.turn.fold_wb(Rank::Second, Rank::Seventh);
            let one = from.offset(row.turn.fold_wb(8, -8));
            let attacked = self.attacks(slot, from, row.occupied);
            promotes
                || row.en_passant.is_some_and(|jumped| attacked.contains(jumped))
                || jumps && one.is_some_and(|one| self.is_seen(row, one))
        })
    }

    /// The captures, where nobody promotes or takes en passant.
    fn capture(&self, row: &Row<'_>, found: &mut Found) -> Result<(), VerifyError> {
        let pieces = self.job.table().pieces();
        let own_king = *self.kings.get(row.turn);
        let is_victim = |&slot: &PieceSlot| {
            slot != row.lane && pieces[slot].color != row.turn && pieces[slot].role != Role::King
        };
        let victims = || (0..pieces.len()).filter(is_victim);
        let moves = pieces[row.lane].color == row.turn;
        for victim in victims().filter(|_| moves) {
            let to = row.square(victim);
            let lanes = self.attacks(row.lane, to, row.occupied) & row.lanes;
            let Some(first) = lanes.first() else { continue };
            let king = if row.lane == own_king { to } else { row.square(own_king) };
            if !self.is_attacked(row, king, row.occupied, Some(victim)) {
                found.capture(lanes, self.capture_score(row, first, row.lane, to)?);
            }
        }
        for (slot, _) in pieces.iter().enumerate().filter(|(_, p)| p.color == row.turn) {
            if slot == row.lane {
                continue;
            }
            let from = row.square(slot);
            let attacked = self.attacks(slot, from, row.occupied);
            for victim in victims().filter(|&victim| attacked.contains(row.square(victim))) {
                let to = row.square(victim);
                let king = if slot == own_king { to } else { row.square(own_king) };
                let occupied = row.occupied.without(from);
                let checked = self.checked(row, king, occupied, (row.turn, Some(victim)));
                for at in row.lanes & !attacks::between(from, to) & !checked {
                    found.capture(at.into(), self.capture_score(row, at, slot, to)?);
                }
            }
            for at in (attacked & row.lanes).into_iter().filter(|_| !moves) {
                let king = if slot == own_king { at } else { row.square(own_king) };
                let occupied = row.occupied.without(from).with(at);
                if !self.is_attacked(row, king, occupied, None) {
                    found.capture(at.into(), self.capture_score(row, at, slot, at)?);
                }
            }
        }
        Ok(())
    }

    /// Whether the opponent of the player to move attacks a square, without the row's piece and
    /// one who is gone.
    fn is_attacked(
        &self,
        row: &Row<'_>,
        target: Square,
        occupied: Bitboard,
        gone: Option<PieceSlot>,
    ) -> bool {
        self.job.table().pieces().iter().enumerate().any(|(slot, piece)| {
            piece.color != row.turn
                && slot != row.lane
                && Some(slot) != gone
                && self.attacks(slot, row.square(slot), occupied).contains(target)
        })
    }

    /// What it is worth that a man captures on a square, with the row's piece on `at`.
    fn capture_score(
        &self,
        row: &Row<'_>,
        at: Square,
        slot: PieceSlot,
        to: Square,
    ) -> Result<u16, VerifyError> {
        let mut placement = self.placement(row.squares, row.lane, at, row.turn);
        let (captured, promotion, jumped, index) = (Some(to), None, None, None);
        let step = Step { slot, to, captured, promotion, jumped, en_passant: false, index };
        let worth = self.job.worth(&mut placement, &step)?;
        Ok(worth.map_or(UNCLEAR, |(value, _)| score(value)))
    }

    /// The moves of a position that are not quiet.
    fn other_moves(
        &self,
        row: &Row<'_>,
        square: Square,
        steps: &mut Vec<Step>,
    ) -> Result<OtherMoves, VerifyError> {
        let mut placement = self.placement(row.squares, row.lane, square, row.turn);
        placement.en_passant = row.en_passant;
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
