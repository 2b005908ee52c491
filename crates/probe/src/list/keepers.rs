//! How many moves keep the results of a row of positions: they lead to rows of the same table, or
//! of one behind it. Double steps that can be taken en passant, and moves to tables that are not at
//! hand by rows, are not looked at; whether positions have such moves is told.

use hoffman_board::shakmaty::attacks;
use hoffman_board::{Bitboard, Color, ListedPiece, PieceSlot, Rank, Role, Square};
use hoffman_table::TableError;
use hoffman_table::rows::{HeldEntries, RowPlace};

use super::exits::{ExitRow, Exits, FixedMen};
use super::kept::{KeptValues, LOSS, NOTHING, worth_of};

/// How many moves there are, on squares of a row's man: at least one, at least two.
#[derive(Clone, Copy, Debug, Default)]
struct Few([Bitboard; 2]);

impl Few {
    /// Counts one on squares of a set.
    fn add(&mut self, set: Bitboard) {
        self.0[1] |= self.0[0] & set;
        self.0[0] |= set;
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

/// What the moves of a row tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepingMoves {
    /// Where one move keeps what there is to keep, and another does not.
    pub(super) only: Bitboard,
    /// Where moves that were not looked at may change that, or may be such a move.
    pub(super) open: Bitboard,
    /// Where the positions are of no line in which the winner never has a choice.
    pub(super) of_no_line: Bitboard,
}

impl KeepingMoves {
    /// Counts the moves of the positions of a row, on squares where there is something to keep.
    pub(super) fn count(
        values: &KeptValues<'_>,
        (entries, exits): (&HeldEntries<'_>, &Exits<'_>),
        place: RowPlace<'_>,
        (own, lanes): &([u16; 64], Bitboard),
    ) -> Result<KeepingMoves, TableError> {
        let lanes = *lanes;
        let pieces = values.orbits.table().pieces();
        let square = |slot: PieceSlot| Square::new(u32::from(place.squares[slot] & 63));
        let fixed = || (0..pieces.len()).filter(|&slot| slot != place.lane);
        let may_be_taken = |slot: &PieceSlot| {
            pieces[*slot].color != place.turn && pieces[*slot].role != Role::King
        };
        let mut row = CountedRow {
            values,
            entries,
            exits,
            place,
            occupied: fixed().map(square).collect(),
            theirs: fixed().filter(may_be_taken).map(square).collect(),
            own,
            lanes,
            keeping: Few::default(),
            legal: Few::default(),
            open: Bitboard::EMPTY,
            leading: Bitboard::EMPTY,
            winning: lanes.into_iter().filter(|&s| own[s as usize & 63] < LOSS).collect(),
        };
        for slot in fixed().filter(|&slot| pieces[slot].color == place.turn) {
            if row.lanes.is_empty() {
                break;
            }
            row.count_fixed(slot, square(slot), &pieces[slot])?;
        }
        if pieces[place.lane].color == place.turn {
            row.count_lane(&pieces[place.lane])?;
        }

        let open = row.open & lanes & !(row.keeping.several() & row.winning);
        let only = row.keeping.one() & row.legal.several() & lanes & !open;
        let may_be = row.leading & (row.keeping.one() | !row.winning);
        Ok(KeepingMoves { only, open, of_no_line: lanes & !open & !may_be })
    }
}

/// A row while its moves are counted.
struct CountedRow<'r> {
    values: &'r KeptValues<'r>,
    entries: &'r HeldEntries<'r>,
    exits: &'r Exits<'r>,
    place: RowPlace<'r>,
    /// The men but for the row's.
    occupied: Bitboard,
    /// Those of them that may be taken.
    theirs: Bitboard,
    /// What is to be kept, by square.
    own: &'r [u16; 64],
    /// Where it is not known yet that several moves keep it.
    lanes: Bitboard,
    keeping: Few,
    legal: Few,
    /// Where there may be moves that are not counted.
    open: Bitboard,
    /// Where one that keeps it may lead to a line without a choice of the winner.
    leading: Bitboard,
    /// Where the side to move wins, or does not lose: several moves that keep that are enough.
    winning: Bitboard,
}

impl CountedRow<'_> {
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
        let lane = &self.values.orbits.table().pieces()[self.place.lane];
        (lane.color, lane.role)
    }

    /// The other men, those that stay.
    fn standing(&self, stays: impl Fn(PieceSlot, Square) -> bool) -> FixedMen {
        let pieces = self.values.orbits.table().pieces().iter().enumerate();
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
        match self.exits.ask(men, walker, lanes, turn)? {
            Some(ExitRow { legal, worth, of_no_line }) => self.take(legal, &worth, of_no_line),
            None => self.open |= lanes,
        }
        Ok(())
    }

    /// Takes a move that is legal on these squares and worth so much there; on some it leads to
    /// positions that are `of_no_line`.
    fn take(&mut self, legal: Bitboard, worth: &[u16; 64], of_no_line: Bitboard) {
        let keeps = |square: usize| worth[square] == self.own[square] && worth[square] != NOTHING;
        let keeping = (0..64).fold(0, |set, square| set | u64::from(keeps(square)) << square);
        self.legal.add(legal);
        self.keeping.add(legal & Bitboard(keeping));
        self.leading |= legal & Bitboard(keeping) & !of_no_line;
        self.settle();
    }

    /// Leaves the squares on which more moves tell nothing more.
    fn settle(&mut self) {
        let several = self.keeping.several() & self.winning;
        let defended = self.leading & !self.winning;
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
        let pieces = self.values.orbits.table().pieces();
        let beside = attacks::pawn_attacks(turn, one);
        let takes = |(piece, &square): (&ListedPiece, &u8)| {
            (piece.color, piece.role) == (turn.other(), Role::Pawn)
                && beside.contains(Square::new(u32::from(square & 63)))
        };
        if pieces.iter().zip(self.place.squares).any(takes) {
            self.open |= !(Bitboard::from(one) | Bitboard::from(two));
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
        lanes &= self.values.legal(&after);
        if lanes.is_empty() {
            return Ok(());
        }
        let keys = self.entries.keys_at(&after, lanes)?;
        let behind = self.values.behind(after.turn, false);
        let of_no_line = self.values.of_no_line(self.entries, &after, lanes);
        self.take(lanes, &keys.map(|key| worth_of(behind, key)), of_no_line);
        Ok(())
    }

    /// The moves of the row's man, who is no pawn.
    fn count_lane(&mut self, man: &ListedPiece) -> Result<(), TableError> {
        let after = RowPlace { turn: self.place.turn.other(), ..self.place };
        let free = self.values.legal(&after) & !self.occupied;
        let keys = self.entries.keys_at(&after, free)?;
        let behind = self.values.behind(after.turn, false);
        let worth = keys.map(|key| worth_of(behind, key));
        let occupied = self.occupied;
        let attacks = |from| attacks::attacks(from, man.role.of(man.color), occupied);
        let of_no_line = self.values.of_no_line(self.entries, &after, free);
        for lane in self.lanes {
            let (own, here) = (self.own[lane as usize & 63], Bitboard::from(lane));
            for to in attacks(lane) & free {
                self.legal.add(here);
                if worth[to as usize & 63] != own {
                    continue;
                }
                self.keeping.add(here);
                if !of_no_line.contains(to) {
                    self.leading |= here;
                }
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
        match self.exits.ask(&men, walker, to, turn)? {
            Some(row) if row.legal.any() => {
                let of_no_line = if row.of_no_line.any() { lanes } else { Bitboard::EMPTY };
                self.take(lanes, &[row.worth[victim as usize & 63]; 64], of_no_line);
            }
            Some(_) => {}
            None => self.open |= lanes,
        }
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
