//! How many moves keep the results of a row of positions: they lead to rows of the same table, or
//! of one behind it. Double steps that can be taken en passant, and moves to tables that are not at
//! hand by rows, are not looked at; whether positions have such moves is told.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, ListedPiece, PieceSlot, Rank, Role, Square};
use hoffman_table::TableError;
use hoffman_table::rows::{HeldEntries, RowPlace};

use super::exits::{Exits, FixedMen};
use super::kept::KeptValues;
use super::kept_row::KeptRow;
use crate::value_rows::OwnRow;

/// How many moves there are, on squares of a row's man: at least one, at least two.
#[derive(Clone, Copy, Debug, Default)]
struct Few([Bitboard; 2]);

impl Few {
    /// Counts one on squares of a set.
    fn add(&mut self, set: Bitboard) {
        self.0[1] |= self.0[0] & set;
        self.0[0] |= set;
    }

    /// Counts so many on a square.
    fn add_many(&mut self, square: Square, count: usize) {
        (0..count.min(2)).for_each(|_| self.add(Bitboard::from(square)));
    }

    /// Where there is exactly one.
    fn one(&self) -> Bitboard {
        self.0[0] & !self.0[1]
    }

    /// Where there are several.
    fn several(&self) -> Bitboard {
        self.0[1]
    }
}

/// How many moves keep results, in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepingMoves {
    /// Where one move keeps what there is to keep, and another does not.
    pub(super) only: Bitboard,
    /// Where moves that were not looked at may change that, or may be such a move.
    pub(super) open: Bitboard,
}

impl KeepingMoves {
    /// Counts the moves of the positions of a row, on squares where there is something to keep.
    pub(super) fn count(
        tables: KeptTables<'_>,
        place: RowPlace<'_>,
        own: &KeptRow,
    ) -> Result<KeepingMoves, TableError> {
        let values = tables.values.own_row(&place);
        let row = CountedRow::new(tables, place, (own, values)).counted()?;
        let open = row.uncounted & own.asked & !(row.keeping.several() & own.winning);
        let only = row.keeping.one() & row.legal.several() & own.asked & !open;
        Ok(KeepingMoves { only, open })
    }
}

/// The moves of a row that may be of lines in which the winner never has a choice.
#[derive(Debug)]
pub(super) struct LineMoves {
    /// Where one is of such a line for certain.
    pub(super) certain: Bitboard,
    /// Where it depends on moves that were not looked at, or of which it is not known.
    pub(super) open: Bitboard,
    /// Where it depends on moves within the table.
    within: Bitboard,
    /// These, but for those of the row's man: who goes where, from which squares of the row's man.
    fixed: Vec<(PieceSlot, Square, Bitboard)>,
    /// Those of the row's man.
    walks: Vec<(Square, Square)>,
}

impl LineMoves {
    /// Finds the moves that keep what there is to keep, on squares where there is something.
    pub(super) fn find(
        tables: KeptTables<'_>,
        place: RowPlace<'_>,
        (own, values): (&KeptRow, Option<OwnRow<'_>>),
    ) -> Result<LineMoves, TableError> {
        let row = CountedRow::new(tables, place, (own, values)).counted()?;
        let choice = row.keeping.several() & own.winning;
        let uncertain = row.uncounted & own.winning;
        let certain = row.certain & !choice & !uncertain;
        let open = own.asked & (row.uncounted | row.unknown) & !choice & !certain;
        let within = own.asked & !choice & !certain & !uncertain;
        Ok(LineMoves { certain, open, within, fixed: row.fixed, walks: row.walks })
    }

    /// Calls `visit` with the squares of the row's man and the indices of the positions behind
    /// moves within the table.
    pub(super) fn behind(
        &self,
        entries: &HeldEntries<'_>,
        place: RowPlace<'_>,
        mut visit: impl FnMut(u8, u64),
    ) {
        let turn = place.turn.other();
        for &(slot, to, lanes) in &self.fixed {
            let lanes = lanes & self.within;
            if lanes.any() {
                let mut squares = *place.squares;
                squares[slot] = to as u8;
                let after = RowPlace { squares: &squares, turn, ..place };
                entries.indices_at(&after, lanes, &mut visit);
            }
        }

        let walks = || self.walks.iter().filter(|&&(from, _)| self.within.contains(from));
        let arrivals = Bitboard(walks().fold(0, |set, &(_, to)| set | 1 << to as u32));
        let mut indices = [None; 64];
        if arrivals.any() {
            let after = RowPlace { turn, ..place };
            entries.indices_at(&after, arrivals, |square, index| {
                indices[usize::from(square & 63)] = Some(index);
            });
        }
        for &(from, to) in walks() {
            if let Some(index) = indices[to as usize & 63] {
                visit(from as u8, index);
            }
        }
    }
}

/// A table, and those behind it.
#[derive(Clone, Copy)]
pub(super) struct KeptTables<'r> {
    pub(super) values: &'r KeptValues<'r>,
    pub(super) entries: &'r HeldEntries<'r>,
    pub(super) exits: &'r Exits<'r>,
}

/// A row while its moves are counted.
struct CountedRow<'r> {
    tables: KeptTables<'r>,
    place: RowPlace<'r>,
    /// Its values, if they are in memory.
    values: Option<OwnRow<'r>>,
    /// The men but for the row's.
    occupied: Bitboard,
    /// Those of them that may be taken.
    theirs: Bitboard,
    /// What is to be kept.
    own: &'r KeptRow,
    /// Where more moves may tell more.
    lanes: Bitboard,
    keeping: Few,
    legal: Few,
    /// Where there may be moves that are not counted.
    uncounted: Bitboard,
    /// In lines, moves to tables behind: where one is of a line, and where that is not known.
    certain: Bitboard,
    unknown: Bitboard,
    /// In lines, those within the table, see [`LineMoves`].
    fixed: Vec<(PieceSlot, Square, Bitboard)>,
    walks: Vec<(Square, Square)>,
}

impl<'r> CountedRow<'r> {
    fn new(
        tables: KeptTables<'r>,
        place: RowPlace<'r>,
        (own, values): (&'r KeptRow, Option<OwnRow<'r>>),
    ) -> CountedRow<'r> {
        let pieces = tables.values.orbits.table().pieces();
        let set = |set, slot: PieceSlot| set | 1_u64 << (place.squares[slot] & 63);
        let fixed = || (0..pieces.len()).filter(|&slot| slot != place.lane);
        let may_be_taken = |slot: &PieceSlot| {
            pieces[*slot].color != place.turn && pieces[*slot].role != Role::King
        };
        CountedRow {
            tables,
            place,
            values,
            occupied: Bitboard(fixed().fold(0, set)),
            theirs: Bitboard(fixed().filter(may_be_taken).fold(0, set)),
            own,
            lanes: own.asked,
            keeping: Few::default(),
            legal: Few::default(),
            uncounted: Bitboard::EMPTY,
            certain: Bitboard::EMPTY,
            unknown: Bitboard::EMPTY,
            fixed: Vec::new(),
            walks: Vec::new(),
        }
    }

    /// After all moves.
    fn counted(mut self) -> Result<CountedRow<'r>, TableError> {
        let RowPlace { squares, lane, turn } = self.place;
        let pieces = self.tables.values.orbits.table().pieces();
        let fixed = pieces.iter().enumerate().filter(|&(slot, _)| slot != lane);
        for (slot, piece) in fixed.filter(|(_, piece)| piece.color == turn) {
            if self.lanes.is_empty() {
                return Ok(self);
            }
            let from = Square::new(u32::from(squares[slot] & 63));
            self.count_fixed(slot, from, piece)?;
        }
        if pieces[lane].color == turn && self.lanes.any() {
            self.count_lane(&pieces[lane])?;
        }
        Ok(self)
    }

    /// The moves of a man who stands on the same square in the whole row.
    fn count_fixed(
        &mut self,
        slot: PieceSlot,
        from: Square,
        piece: &ListedPiece,
    ) -> Result<(), TableError> {
        let attacked = attacks::attacks(from, piece.role.of(piece.color), self.occupied);
        for victim in attacked & self.theirs {
            let lanes = self.lanes & !attacks::between(from, victim);
            for &role in arrivals(piece, Bitboard::from(victim)) {
                let mut men = self.standing(|other, square| other != slot && square != victim);
                men.push((victim, piece.color, role));
                self.count_exit(&men, self.lane(), lanes)?;
            }
        }
        let lane = self.lane();
        if lane.0 != piece.color && lane.1 != Role::King {
            for set in [Bitboard::BACKRANKS, !Bitboard::BACKRANKS] {
                for &role in arrivals(piece, set) {
                    let men = self.standing(|other, _| other != slot);
                    self.count_exit(&men, (piece.color, role), attacked & self.lanes & set)?;
                }
            }
        }

        if piece.role == Role::Pawn {
            return self.count_steps(slot, from, piece);
        }
        for to in attacked & !self.occupied {
            self.count_move(slot, to, attacks::between(from, to))?;
        }
        Ok(())
    }

    /// The row's man.
    fn lane(&self) -> (Color, Role) {
        let lane = &self.tables.values.orbits.table().pieces()[self.place.lane];
        (lane.color, lane.role)
    }

    /// The other men, those that stay.
    fn standing(&self, stays: impl Fn(PieceSlot, Square) -> bool) -> FixedMen {
        let pieces = self.tables.values.orbits.table().pieces().iter().enumerate();
        let placed = pieces.filter(|&(slot, _)| slot != self.place.lane).map(|(slot, piece)| {
            let square = Square::new(u32::from(self.place.squares[slot] & 63));
            (slot, (square, piece.color, piece.role))
        });
        placed.filter(|&(slot, (square, ..))| stays(slot, square)).map(|(_, man)| man).collect()
    }

    /// A move on squares of the row's man after which a man walks there.
    fn count_exit(
        &mut self,
        men: &FixedMen,
        walker: (Color, Role),
        lanes: Bitboard,
    ) -> Result<(), TableError> {
        if lanes.is_empty() {
            return Ok(());
        }
        let turn = self.place.turn.other();
        let Some(row) = self.tables.exits.ask(men, walker, lanes, turn)? else {
            self.uncounted |= lanes;
            return Ok(());
        };
        let keeping = self.take(row.legal, &row.behind);
        if self.tables.values.is_of_lines() && keeping.any() {
            let [of_line, of_none] = row.known_of_lines(keeping);
            self.certain |= of_line;
            self.unknown |= keeping & !of_line & !of_none;
        }
        self.settle();
        Ok(())
    }

    /// Takes a move that is legal on these squares, with what is behind it there. Where it keeps
    /// what there is to keep.
    fn take(&mut self, legal: Bitboard, behind: &[u16; 64]) -> Bitboard {
        let keeping = self.own.keeping(behind) & legal;
        self.legal.add(legal);
        self.keeping.add(keeping);
        keeping
    }

    /// Leaves the squares on which more moves tell nothing more.
    fn settle(&mut self) {
        let several = self.keeping.several() & self.own.winning;
        let defended = self.certain & !self.own.winning;
        self.lanes &= !(several | defended);
    }

    /// The steps of a pawn.
    fn count_steps(
        &mut self,
        slot: PieceSlot,
        from: Square,
        piece: &ListedPiece,
    ) -> Result<(), TableError> {
        let turn = self.place.turn;
        let forward = turn.fold_wb(8, -8);
        let free = |square: &Square| !self.occupied.contains(*square);
        let Some(one) = from.offset(forward).filter(free) else { return Ok(()) };
        if Bitboard::BACKRANKS.contains(one) {
            for &role in &PROMOTIONS {
                let mut men = self.standing(|other, _| other != slot);
                men.push((one, piece.color, role));
                self.count_exit(&men, self.lane(), self.lanes & !Bitboard::from(one))?;
            }
            return Ok(());
        }
        let at_start = from.rank() == turn.fold_wb(Rank::Second, Rank::Seventh);
        let two = one.offset(forward).filter(free).filter(|_| at_start);
        self.count_move(slot, one, Bitboard::EMPTY)?;

        let Some(two) = two else { return Ok(()) };
        let pieces = self.tables.values.orbits.table().pieces();
        let beside = attacks::pawn_attacks(turn, one);
        let takes = |(piece, &square): (&ListedPiece, &u8)| {
            (piece.color, piece.role) == (turn.other(), Role::Pawn)
                && beside.contains(Square::new(u32::from(square & 63)))
        };
        if pieces.iter().zip(self.place.squares).any(takes) {
            self.uncounted |= !(Bitboard::from(one) | Bitboard::from(two));
            return Ok(());
        }
        self.count_move(slot, two, Bitboard::from(one))
    }

    /// The move of such a man, with the row's man not on the squares passed.
    fn count_move(
        &mut self,
        slot: PieceSlot,
        to: Square,
        passed: Bitboard,
    ) -> Result<(), TableError> {
        let mut lanes = self.lanes & !passed & !Bitboard::from(to);
        let mut squares = *self.place.squares;
        squares[slot] = to as u8;
        let after = RowPlace { squares: &squares, turn: self.place.turn.other(), ..self.place };
        let KeptTables { values, entries, .. } = self.tables;
        lanes &= values.legal(&after);
        if lanes.is_empty() {
            return Ok(());
        }
        let behind = self
            .values
            .as_ref()
            .and_then(|own| values.behind_move((&self.place, own), (slot, to, lanes)));
        let behind = match behind {
            Some(behind) => behind,
            None => values.behind_at(entries, (&after, lanes), false)?,
        };
        let keeping = self.take(lanes, &behind);
        if values.is_of_lines() && keeping.any() {
            self.fixed.push((slot, to, keeping));
        }
        self.settle();
        Ok(())
    }

    /// The moves of the row's man, who is no pawn.
    fn count_lane(&mut self, man: &ListedPiece) -> Result<(), TableError> {
        let KeptTables { values, entries, .. } = self.tables;
        let after = RowPlace { turn: self.place.turn.other(), ..self.place };
        let free = values.legal(&after) & !self.occupied;
        let behind = values.behind_at(entries, (&after, free), false)?;
        let occupied = self.occupied;
        let attacks = |from| attacks::attacks(from, man.role.of(man.color), occupied);
        // Neighbours often ask for the same.
        let mut last = None;
        for lane in self.lanes {
            let targets = attacks(lane) & free;
            self.legal.add_many(lane, targets.count());
            let range = self.own.range(lane);
            let kept = match last {
                Some((of, kept)) if of == range => kept,
                _ => range.find(&behind),
            };
            last = Some((range, kept));
            let keeping = kept & targets;
            self.keeping.add_many(lane, keeping.count());
            let has_choice = (self.keeping.several() & self.own.winning).contains(lane);
            if values.is_of_lines() && !has_choice {
                self.walks.extend(keeping.into_iter().map(|to| (lane, to)));
            }
        }

        self.settle();
        for victim in self.theirs {
            let lanes = attacks(victim) & self.lanes;
            if lanes.any() {
                self.count_capture(man, victim, lanes)?;
            }
        }
        Ok(())
    }

    /// The row's man takes another one from each of these squares.
    fn count_capture(
        &mut self,
        man: &ListedPiece,
        victim: Square,
        lanes: Bitboard,
    ) -> Result<(), TableError> {
        let men = self.standing(|_, square| square != victim);
        let (walker, turn) = ((man.color, man.role), self.place.turn.other());
        let to = Bitboard::from(victim);
        let Some(row) = self.tables.exits.ask(&men, walker, to, turn)? else {
            self.uncounted |= lanes;
            return Ok(());
        };
        if row.legal.is_empty() {
            return Ok(());
        }
        let keeping = self.take(lanes, &[row.behind[victim as usize & 63]; 64]);
        if self.tables.values.is_of_lines() && keeping.any() {
            let [of_line, of_none] = row.known_of_lines(to);
            if of_line.any() {
                self.certain |= keeping;
            } else if of_none.is_empty() {
                self.unknown |= keeping;
            }
        }
        self.settle();
        Ok(())
    }
}

/// What a pawn becomes.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// What a man is who arrives on squares that are all on the outer ranks, or none of them.
fn arrivals(piece: &ListedPiece, squares: Bitboard) -> &[Role] {
    let promotes = piece.role == Role::Pawn && (squares & Bitboard::BACKRANKS).any();
    if promotes { &PROMOTIONS } else { std::slice::from_ref(&piece.role) }
}
