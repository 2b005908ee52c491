//! Entries recomputed by rows: positions that differ in the square of one piece, at once.
//!
//! A move of another man leads all positions of a row to one other row, of the same table or of a
//! smaller one, whose entries follow from each other, and a quiet move of the row's own piece stays
//! within one. Which of them are legal are sets of squares. A capture by the row's piece leads all
//! his squares to the same position, and the captures of him are a row of the one who takes. Where
//! only positions with White to move are stored, those behind his moves are looked for with the
//! colours exchanged. Who answers, and what is made of a move that nobody answers, is decided as
//! for single positions, see [`TestedTable`]. A row only ever accepts: an entry that is not what
//! was found here is looked at again by itself, which says what is wrong.

mod attacks;
mod behind;
mod compare;
mod leaving;
mod reach;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use arrayvec::ArrayVec;
use hoffman_board::{
    Bitboard, ByColor, Color, Format, ListedPiece, MAX_PIECES, PieceList, PieceSlot, Placement,
    Rank, Role, Square, Symmetry,
};
use hoffman_table::EntryValue;
use hoffman_table::rows::{EntryRow, ExchangedSlots, RANK_BYTES, RowPlace, by_symmetry, has_rows};

use super::VerifyError;
use super::men::SlotMove;
use super::outcomes::Worth;
use super::tally::Tally;
use super::tested::TestedTable;
use crate::value_rows::{CodeRow, NONE, ValueRows};
use attacks::RowBoard;
use behind::{NO_MOVE, RowTable, UNCLEAR, images, is_plain, kings_of, score, scores};
use compare::ComparedRow;

/// What a row knows of its positions, by square of the piece.
struct RowFindings {
    best: [u8; 64],
    /// The least codes behind moves within the table that were found by rows of values.
    least: [u8; 64],
    /// How many moves the others have.
    others: SquareCounts,
    /// How many moves the piece has himself.
    own: [u8; 64],
    /// How many moves leave the table.
    leaving: SquareCounts,
    /// Where a discarded move spares the player mate and stalemate.
    spared: Bitboard,
}

impl RowFindings {
    fn new() -> RowFindings {
        let (others, leaving) = (SquareCounts::default(), SquareCounts::default());
        let (best, least, own) = ([NO_MOVE; 64], [NONE; 64], [0; 64]);
        RowFindings { best, least, others, own, leaving, spared: Bitboard::EMPTY }
    }

    /// Takes a move from squares of a set to positions with these codes.
    #[inline]
    fn take_codes(&mut self, squares: Bitboard, codes: &[u8; 64]) {
        let others = others(squares);
        // In this form the compiler sees sixteen bytes at a time.
        for square in 0..64 {
            let code = codes[square] | others[square];
            self.least[square] = self.least[square].min(code);
        }
    }

    /// Leaves the codes of the squares of a set.
    fn keep(codes: &mut [u8; 64], squares: Bitboard) {
        let others = others(squares);
        for square in 0..64 {
            codes[square] |= others[square];
        }
    }

    /// Takes a move to a position.
    #[inline]
    fn take(&mut self, square: usize, score: u8) {
        let best = &mut self.best[square & 63];
        *best = (*best).max(score);
    }

    /// Takes a move that is worth the same on several squares.
    fn take_all(&mut self, squares: Bitboard, score: u8) {
        for square in squares {
            self.take(square as usize, score);
        }
    }
}

/// A number for every square, a bit of each in every set.
#[derive(Default)]
struct SquareCounts([Bitboard; 8]);

impl SquareCounts {
    /// Adds one on the squares of a set.
    fn add(&mut self, mut set: Bitboard) {
        for bits in &mut self.0 {
            (set, *bits) = (set & *bits, set ^ *bits);
            if set.is_empty() {
                return;
            }
        }
    }

    /// The sum over the squares of a set.
    fn over(&self, set: Bitboard) -> u64 {
        let bits = (0..).zip(&self.0);
        bits.map(|(place, bits)| ((*bits & set).count() as u64) << place).sum()
    }
}

/// All bits on the squares that are not in a set.
#[inline]
fn others(squares: Bitboard) -> [u8; 64] {
    let mut others = [0; 64];
    for (rank, set) in others.as_chunks_mut().0.iter_mut().zip(squares.0.to_le_bytes()) {
        *rank = RANK_BYTES[usize::from(!set)];
    }
    others
}

/// A move of a man who stands on the same square in the whole row.
#[derive(Clone, Copy)]
struct RowMove {
    slot: PieceSlot,
    from: Square,
    to: Square,
    /// Who is taken, and where he stands.
    victim: Option<(PieceSlot, Square)>,
    promotion: Option<Role>,
    /// The square jumped over, if a pawn could capture there.
    jumped: Option<Square>,
}

impl RowMove {
    fn step(&self) -> SlotMove {
        let RowMove { slot, to, promotion, jumped, .. } = *self;
        let captured = self.victim.map(|(_, square)| square);
        SlotMove { slot, to, captured, promotion, jumped, en_passant: false, index: None }
    }
}

/// The most moves that one man has.
const MOST_MOVES: usize = 32;

/// What a pawn becomes.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// A table that can be looked at by rows.
pub(super) struct TestedRows<'a> {
    tested: &'a TestedTable<'a>,
    numbers: &'a [i8],
    /// What a move is worth to a position whose entry for the player named, as an unsigned
    /// byte, is this.
    behind: ByColor<[u8; 256]>,
    /// What the entry itself says.
    stored: ByColor<[u8; 256]>,
    /// What stalemate is worth.
    stalemate: ByColor<u8>,
    kings: ByColor<PieceSlot>,
    /// Who takes whose place when the colours are exchanged, if only White's turn is stored.
    partners: Option<ExchangedSlots>,
    /// The smaller tables by number; none of those that rows do not know.
    smaller: Vec<Option<RowTable<'a>>>,
    /// The values of the table.
    values: Option<ValueRows<'a>>,
    /// Whether the values were found to be others than the entries.
    distrusts: AtomicBool,
    /// The number of every man among those like it, from the lowest slot on.
    numbers_alike: [usize; MAX_PIECES],
    /// The pawn structures of the table, if it has a list of them.
    structures: Option<HashSet<(u64, u64, Option<Square>)>>,
    /// Whether moves are counted, for the statistics of the header.
    counts: bool,
    /// The images of every square by symmetry.
    images: [[u8; 64]; 8],
}

impl<'a> TestedRows<'a> {
    /// None if the rules, the men or the entries are not of the plain sort that rows know.
    pub(super) fn new(tested: &'a TestedTable<'a>) -> Option<TestedRows<'a>> {
        let table = tested.table();
        let space = table.space();
        let plain = matches!(table.codec().format(), Format::Dtm(_))
            && (has_rows(space) || space.symmetry() == 1)
            && is_plain(space);
        if !plain {
            return None;
        }

        let exact = |value| match value {
            EntryValue::Exact(value) => Some(value),
            _ => None,
        };
        let structures = space.pawn_structures().map(|list| {
            list.iter().map(|s| (s.white.0, s.black.0, s.en_passant)).collect::<HashSet<_>>()
        });

        let pieces = table.pieces();
        let values = tested.main().values().and_then(|values| ValueRows::new(pieces, values));
        let values = values.filter(|values| has_rows(space) && values.has_rows());
        let numbers = match (tested.main().numbers(), &values) {
            (Some(numbers), _) => numbers,
            // Nearly all is found by values; the rest is looked at position by position.
            (None, Some(_)) => &[],
            (None, None) => return None,
        };

        Some(TestedRows {
            tested,
            numbers,
            values,
            distrusts: AtomicBool::new(false),
            numbers_alike: numbers_alike(pieces),
            behind: scores(table, |value| Worth::before(value).exact),
            stored: scores(table, exact),
            stalemate: ByColor::new_with(|turn| score(tested.stalemate(turn))),
            kings: kings_of(table)?,
            partners: if space.has_side_bit() { None } else { Some(ExchangedSlots::of(space)?) },
            smaller: tested.smaller().iter().map(RowTable::new).collect(),
            structures,
            counts: table.control().prunes.is_empty(),
            images: images(),
        })
    }

    /// Whether the moves within the table are found by rows of its values.
    pub(super) fn has_values(&self) -> bool {
        self.values.is_some()
    }

    /// Whether values turned out not to be those of the entries, so that what was found by them
    /// does not count.
    pub(super) fn distrusts_values(&self) -> bool {
        self.distrusts.load(Ordering::Relaxed)
    }

    /// Goes on without the values of the table.
    pub(super) fn forget_values(&mut self) {
        self.values = None;
    }

    /// Compares the entries of a row. `steps` is scratch space.
    pub(super) fn check(
        &self,
        row: &EntryRow<'_>,
        tally: &mut Tally,
        steps: &mut Vec<SlotMove>,
    ) -> Result<(), VerifyError> {
        let pieces = self.tested.table().pieces();
        let turn = row.turn;
        if self.tested.syzygy.is_some() && row.en_passant.is_some() {
            // Whether the right can be used is told by the moves of each position.
            for (_, index) in row.positions() {
                self.tested.check(index, tally, steps)?;
            }
            return Ok(());
        }
        let (mut here, illegal) = self.row(row);
        let mut found = RowFindings::new();
        // A right that nobody can use changes nothing.
        let right = row.en_passant.filter(|&jumped| self.is_taken_on(&here, jumped, turn));
        if let Some(values) = self.values.as_ref().filter(|_| right.is_none()) {
            here.values = values.own_row(pieces, (row.squares, row.lane), turn);
        }
        if here.lanes.any() {
            self.move_others(&here, &mut found)?;
            if pieces[row.lane].color == turn {
                self.move_lane(&here, &mut found)?;
            } else {
                self.take_lane(&here, &mut found)?;
            }
        }
        let accepted = match here.values.as_ref().and_then(|values| values.here.all()) {
            Some(held) => {
                let of = ComparedRow { row, here: &here, illegal, held };
                self.compare_codes(&of, &mut found, tally, steps)?
            }
            None => self.compare(row, (&here, illegal), &mut found, tally, steps)?,
        };
        if self.counts {
            let own = accepted.into_iter().map(|square| u64::from(found.own[square as usize]));
            tally.moves += found.others.over(accepted) + own.sum::<u64>();
            tally.futuremoves += found.leaving.over(accepted);
        }
        tally.checked += accepted.count() as u64;
        self.ask_syzygy(row, (accepted, &found.best), tally);
        Ok(())
    }

    /// The moves of the men who are the same in the whole row, but for captures of its piece.
    fn move_others(
        &self,
        row: &RowBoard<'_, 'a>,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let pieces = self.tested.table().pieces();
        for (slot, piece) in pieces.iter().enumerate() {
            if slot == row.lane || piece.color != row.turn {
                continue;
            }
            if piece.role == Role::Pawn {
                for step in self.pawn_moves(row, slot) {
                    self.make(row, &step, found)?;
                }
                continue;
            }
            let from = row.square(slot);
            for to in self.attacks(slot, from, row.occupied) & !row.own & !row.their_king {
                let victim = self.victim(row, to);
                let (promotion, jumped) = (None, None);
                self.make(row, &RowMove { slot, from, to, victim, promotion, jumped }, found)?;
            }
        }
        Ok(())
    }

    /// The man of the opponent, not the row's, who stands on a square.
    fn victim(&self, row: &RowBoard<'_, 'a>, square: Square) -> Option<(PieceSlot, Square)> {
        if !row.occupied.contains(square) {
            return None;
        }
        let pieces = self.tested.table().pieces();
        let stands = |&slot: &PieceSlot| {
            slot != row.lane && pieces[slot].color != row.turn && row.square(slot) == square
        };
        (0..pieces.len()).find(stands).map(|slot| (slot, square))
    }

    /// The moves of a pawn, but for captures of the row's piece.
    fn pawn_moves(&self, row: &RowBoard<'_, 'a>, slot: PieceSlot) -> ArrayVec<RowMove, MOST_MOVES> {
        let mut moves = ArrayVec::new();
        let from = row.square(slot);
        let mut add = |to: Square, victim, jumped| {
            let quiet = RowMove { slot, from, to, victim, promotion: None, jumped };
            if Bitboard::BACKRANKS.contains(to) {
                moves.extend(PROMOTIONS.map(|role| RowMove { promotion: Some(role), ..quiet }));
            } else {
                moves.push(quiet);
            }
        };

        let forward = row.turn.fold_wb(8, -8);
        let free = |square: &Square| !row.occupied.contains(*square);
        if let Some(one) = from.offset(forward).filter(free) {
            add(one, None, None);
            let at_start = from.rank() == row.turn.fold_wb(Rank::Second, Rank::Seventh);
            if let Some(two) = one.offset(forward).filter(free).filter(|_| at_start) {
                add(two, None, Some(one).filter(|_| self.is_taken_on(row, one, row.turn.other())));
            }
        }

        let attacked = self.attacks(slot, from, row.occupied);
        for to in attacked & row.occupied & !row.own & !row.their_king {
            add(to, self.victim(row, to), None);
        }
        if let Some(jumped) = row.en_passant.filter(|&jumped| attacked.contains(jumped)) {
            let captured = Square::new(jumped as u32 ^ 8);
            if let Some(victim) = self.victim(row, captured) {
                add(jumped, Some(victim), None);
            }
        }
        moves
    }

    /// Whether a pawn of a player stands where it could capture on the square jumped over.
    fn is_taken_on(&self, row: &RowBoard<'_, 'a>, jumped: Square, player: Color) -> bool {
        let beside = hoffman_board::shakmaty::attacks::pawn_attacks(player.other(), jumped);
        self.tested.table().pieces().iter().enumerate().any(|(slot, piece)| {
            piece.role == Role::Pawn && piece.color == player && beside.contains(row.square(slot))
        })
    }

    /// Makes a move in all positions of a row in which it is legal.
    fn make(
        &self,
        row: &RowBoard<'_, 'a>,
        step: &RowMove,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let lanes = self.lanes_of(row, step);
        if lanes.is_empty() {
            return Ok(());
        }
        if self.counts {
            found.others.add(lanes);
        }
        let mut rest = lanes;
        if self.may_hold(row, step) {
            let behind = self.row_behind(row, step);
            if behind.and_then(|row| row.with_all(|codes| found.take_codes(lanes, codes))).is_some()
            {
                return Ok(());
            }
            let mut squares = *row.squares;
            squares[step.slot] = step.to as u8;
            let there = EntriesAt { squares: &squares, lane: row.lane, jumped: step.jumped };
            self.visit(&there, lanes, row.turn.other(), |square, score| {
                rest.0 &= !(1 << square);
                found.take(square, score);
            });
        }
        if rest.any() { self.leave(row, step, rest, found) } else { Ok(()) }
    }

    /// The row of the positions behind a move within the table, if its values have one.
    #[inline]
    fn row_behind(&self, row: &RowBoard<'_, 'a>, step: &RowMove) -> Option<CodeRow<'a>> {
        let (values, own) = (self.values.as_ref()?, row.values.as_ref()?);
        let pieces = self.tested.table().pieces();
        if step.jumped.is_some() {
            return None;
        }
        let place = RowPlace { squares: row.squares, lane: row.lane, turn: row.turn };
        let man = (step.slot, self.numbers_alike[step.slot], step.to);
        values.behind_move(pieces, (&place, own), man)
    }

    /// Whether the table itself may have the positions behind a move.
    fn may_hold(&self, row: &RowBoard<'_, 'a>, step: &RowMove) -> bool {
        let pieces = self.tested.table().pieces();
        if step.victim.is_some() || step.promotion.is_some() {
            return false;
        }
        let Some(structures) =
            self.structures.as_ref().filter(|_| pieces[step.slot].role == Role::Pawn)
        else {
            return pieces[step.slot].legal.contains(step.to);
        };
        let mut pawns = ByColor { white: 0, black: 0 };
        for (slot, piece) in pieces.iter().enumerate().filter(|(_, p)| p.role == Role::Pawn) {
            let square = if slot == step.slot { step.to } else { row.square(slot) };
            *pawns.get_mut(piece.color) |= 1_u64 << square as u32;
        }
        structures.contains(&(pawns.white, pawns.black, step.jumped))
    }

    /// The moves of the row's own piece.
    fn move_lane(
        &self,
        row: &RowBoard<'_, 'a>,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let legal = self.tested.table().pieces()[row.lane].legal;
        let safe = !row.attacked & !row.occupied;
        let own = row.values.as_ref().and_then(|own| own.there.all());
        if let Some(mut codes) = own.filter(|_| legal == Bitboard::FULL) {
            self.count_lane_moves(row, safe, found);
            RowFindings::keep(&mut codes, safe);
            let role = self.tested.table().pieces()[row.lane].role;
            let least = reach::least_reached(role, &codes, row.occupied);
            found.take_codes(row.lanes, &least);
            return self.take_by_lane(row, found);
        }
        let reached =
            row.lanes.into_iter().fold(Bitboard::EMPTY, |all, from| {
                all | self.attacks(row.lane, from, row.occupied)
            }) & safe;
        let mut scores = [UNCLEAR; 64];
        let there = EntriesAt { squares: row.squares, lane: row.lane, jumped: None };
        self.visit(&there, reached & legal, row.turn.other(), |square, score| {
            scores[square & 63] = score;
        });
        self.leave_lane(row, reached & !legal, &mut scores, found)?;
        for from in row.lanes {
            let targets = self.attacks(row.lane, from, row.occupied) & safe;
            let best = &mut found.best[from as usize];
            *best = targets.into_iter().fold(*best, |best, to| best.max(scores[to as usize]));
            found.own[from as usize] = targets.count() as u8;
        }
        self.take_by_lane(row, found)
    }

    /// Counts the moves of the row's own piece to squares of a set.
    fn count_lane_moves(&self, row: &RowBoard<'_, '_>, safe: Bitboard, found: &mut RowFindings) {
        if self.counts {
            for from in row.lanes {
                let targets = self.attacks(row.lane, from, row.occupied) & safe;
                found.own[from as usize] = targets.count() as u8;
            }
        }
    }

    /// Calls `take` with every square of `lanes` and what a move to that position is worth.
    fn visit(
        &self,
        there: &EntriesAt<'_>,
        lanes: Bitboard,
        turn: Color,
        mut take: impl FnMut(usize, u8),
    ) {
        let scores = self.behind.get(turn);
        let score = |number: Option<&i8>| number.map_or(UNCLEAR, |&n| scores[usize::from(n as u8)]);
        let Some(partners) = self.partners.as_ref().filter(|_| turn == Color::Black) else {
            self.visit_stored(there, lanes, turn, |square, number| {
                take(usize::from(square & 63), score(number));
            });
            return;
        };
        let (squares, lane) = partners.exchanged(there.squares, there.lane);
        let lanes = Bitboard(lanes.0.reverse_bits());
        let jumped = there.jumped.map(|square| Square::new(63 - square as u32));
        let there = EntriesAt { squares: &squares, lane, jumped };
        self.visit_stored(&there, lanes, turn.other(), |square, number| {
            take(usize::from(63 - (square & 63)), score(number));
        });
    }

    /// Calls `take` with every square of `lanes` and the entry of that position, of a player
    /// whose turn is stored.
    fn visit_stored(
        &self,
        there: &EntriesAt<'_>,
        lanes: Bitboard,
        turn: Color,
        mut take: impl FnMut(u8, Option<&'a i8>),
    ) {
        let EntriesAt { squares, lane, .. } = *there;
        let space = self.tested.table().space();
        let king = |color, square: Square| match *self.kings.get(color) {
            slot if slot == lane => square,
            slot => Square::new(u32::from(squares[slot])),
        };
        let canonical = |square| {
            let (white, black) = (king(Color::White, square), king(Color::Black, square));
            Symmetry::canonical(space.symmetry(), white, black)
        };
        let walks = self.kings.white == lane || self.kings.black == lane;
        by_symmetry(space, lanes, walks, canonical, |symmetry, lanes| {
            self.visit_turned(there, (symmetry, lanes), turn, &mut take);
        });
    }

    /// The same for squares for which one symmetry leads to the index.
    fn visit_turned(
        &self,
        there: &EntriesAt<'_>,
        (symmetry, lanes): (Symmetry, Bitboard),
        turn: Color,
        take: &mut impl FnMut(u8, Option<&'a i8>),
    ) {
        let image = &self.images[symmetry.index()];
        let turned = there.squares.map(|square| image[usize::from(square & 63)]);
        let back = &self.images[symmetry.inverse().index()];
        let jumped = there.jumped.map(|square| symmetry.apply(square));

        let cursor = self.tested.table().space().cursor(&turned, turn, jumped);
        cursor.visit_lane(there.lane, symmetry.apply_set(lanes.0), |run, index, step| {
            debug_assert!(ends_of(run).iter().all(|&(i, square)| {
                Some(index + i * step) == self.index_at(there, back[square as usize], turn)
            }));
            for (i, square) in (0..).zip(Bitboard(run)) {
                let (square, index) = (back[square as usize], index + i * step);
                take(square, self.numbers.get(index as usize));
            }
        });
    }

    /// The index of a position of a row, found by itself.
    fn index_at(&self, there: &EntriesAt<'_>, square: u8, turn: Color) -> Option<u64> {
        let placement =
            self.placement(there.squares, there.lane, Square::new(u32::from(square)), turn);
        let placement = Placement { en_passant: there.jumped, ..placement };
        self.tested.table().space().encode(&placement)
    }

    /// A position of a row.
    fn placement(
        &self,
        squares: &[u8; MAX_PIECES],
        lane: PieceSlot,
        square: Square,
        turn: Color,
    ) -> Placement {
        let count = self.tested.table().pieces().len();
        let squares = squares.iter().take(count).map(|&s| Square::new(u32::from(s)));
        let mut squares = Placement { squares: squares.collect(), turn, en_passant: None };
        squares.squares[lane] = square;
        squares
    }
}

/// The first and the last one of some squares, and how many are before them.
fn ends_of(squares: u64) -> [(u64, u32); 2] {
    let last = u64::from(squares.count_ones()).saturating_sub(1);
    [(0, squares.trailing_zeros()), (last, squares.ilog2())]
}

/// The number of every man among those like it, from the lowest slot on.
fn numbers_alike(pieces: &PieceList) -> [usize; MAX_PIECES] {
    std::array::from_fn(|slot| {
        let Some(own) = pieces.get(slot) else { return 0 };
        let is_like = |piece: &&ListedPiece| (piece.color, piece.role) == (own.color, own.role);
        pieces.iter().take(slot).filter(is_like).count()
    })
}

/// A row of entries: the squares of all but one man, and the right to take en passant.
struct EntriesAt<'r> {
    squares: &'r [u8; MAX_PIECES],
    lane: PieceSlot,
    jumped: Option<Square>,
}
