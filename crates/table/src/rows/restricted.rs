//! Rows and indices of tables with restricted pieces, pawn structures, or the rules of suicide
//! chess.
//!
//! All movers are walked on the squares they may stand on, the lane innermost, so that its index
//! mostly grows by a constant step. Where that is not possible every placement is numbered by
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use hoffman_board::{Color, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Square, Variant};
use hoffman_space::{Counts, Layout, Mover, PawnSquares, TableValues, side};

use super::RowsError;
use super::counts::like_orders;
use super::squares::{empty_squares, pawn_placements, touch};
use super::walk::{Portion, Run, Visit, sides_of};
use crate::index::{IndexSpace, PawnStructure as ListedStructure, bits_of};
use crate::stop::Stop;

/// The image of the squares of a lane: themselves.
const SAME: [usize; 64] = {
    let mut same = [0; 64];
    let mut s = 0;
    while s < 64 {
        same[s] = s;
        s += 1;
    }
    same
};

/// Positions of the row that begins at `row`.
#[inline(always)]
fn run(index: u64, step: u64, row: usize, lanes: u64) -> Run<'static> {
    Run { index, step, row, image: &SAME, lanes, in_row: true }
}

/// An index space and a layout of the same men.
pub(super) struct Restricted<'a> {
    pub(super) space: &'a IndexSpace,
    pub(super) layout: &'a Layout,
    /// The man whose squares make a row, and the others in the order in which they are placed.
    lane: usize,
    turns: Vec<usize>,
    /// `slots[mover]`; no slot for a mover that is no man.
    slots: Vec<PieceSlot>,
    /// The pawn structures, with the squares of the pawns' slots.
    pawns: BTreeMap<PawnSquares, [u8; MAX_PIECES]>,
    /// The en passant squares of a pawngen table's structures.
    listed: Option<BTreeSet<(PawnSquares, Option<Square>)>>,
    /// Whether like men with different squares may be dealt to their slots in any way.
    free_of_order: bool,
    /// See [`Rows::watching`](super::walk::Rows::watching).
    pub(super) stop: Stop,
}

/// Where men stand that are placed: by slot, and by mover.
struct Standing {
    squares: [u8; MAX_PIECES],
    stands: [u8; MAX_PIECES],
}

/// What the men placed so far take: their squares, and their part of the number of the row.
#[derive(Clone, Copy)]
struct Taken {
    occupied: u64,
    base: usize,
}

/// The men still to be placed, in turns.
struct Turns<'t> {
    movers: &'t [usize],
    portion: &'t Portion,
    once: bool,
}

impl<'a> Restricted<'a> {
    pub(super) fn new(
        space: &'a IndexSpace,
        material: &Material,
        layout: &'a Layout,
    ) -> Result<Restricted<'a>, RowsError> {
        let pieces = space.pieces();
        let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
        let mismatch = || RowsError::Material { table, values: *material };
        if table != *material {
            return Err(mismatch());
        }
        let slots = slots_of(pieces, layout.movers()).ok_or_else(mismatch)?;
        let twins = layout.twins().map(|twins| vec![twins.narrow, layout.movers().len() - 1]);
        let mixed = layout.mixed().iter().map(|group| group.movers.clone());
        let free_of_order = mixed.chain(twins).all(|group| {
            let slots: Vec<PieceSlot> = group.iter().map(|&m| slots[m]).collect();
            space.is_free_of_order(&slots)
        });

        let listed: Option<BTreeSet<(PawnSquares, Option<Square>)>> =
            space.pawn_structures().map(|list| {
                let pawns =
                    |s: &ListedStructure| PawnSquares { white: s.white.0, black: s.black.0 };
                list.iter().map(|s| (pawns(s), s.en_passant)).collect()
            });
        let pawns = match &listed {
            None => pawn_placements(space),
            Some(listed) => listed.iter().map(|&(s, _)| (s, deal(space, s))).collect(),
        };

        let stop = Stop::default();
        let lane = layout.movers().len().saturating_sub(1);
        let turns = (0..lane).collect();
        Ok(Restricted { space, layout, lane, turns, slots, pawns, listed, free_of_order, stop })
    }

    pub(super) fn structures(&self) -> Vec<PawnSquares> {
        self.pawns.keys().copied().collect()
    }

    /// The portions of a structure: every side and en passant square that has indices.
    pub(super) fn portions(&self, structure: PawnSquares) -> Vec<Portion> {
        let mut portions = Vec::new();
        for side in self.sides(structure) {
            let portion = Portion::new(structure, side);
            match self.layout.movers() {
                [first, _, _, ..] if !self.is_king(first) => {
                    let squares = bits_of(first.squares);
                    portions
                        .extend(squares.map(|square| Portion { first: Some(square), ..portion }));
                }
                _ => portions.push(portion),
            }
        }
        portions
    }

    /// The sides to move and en passant squares for which a structure has indices.
    fn sides(&self, structure: PawnSquares) -> Vec<(Color, Option<Square>)> {
        let listed = |&(_, right): &(Color, Option<Square>)| {
            self.listed.as_ref().is_none_or(|listed| listed.contains(&(structure, right)))
        };
        sides_of(self.space, structure).filter(listed).collect()
    }

    fn is_king(&self, mover: &Mover) -> bool {
        mover.role == Role::King && self.layout.variant() == Variant::Normal
    }

    /// Lets the man walk that has most moves, of several the one whose squares lie closest together
    /// in the table, one without a like man if there is one, and the kings before him: for those
    /// who do not look at values, as the places of these are then wrong.
    pub(super) fn walk_widest(&mut self) {
        let movers = self.layout.movers();
        let is_mixed = self.layout.twins().is_some() || !self.layout.mixed().is_empty();
        // The first man shares the work out, and those with few squares make short rows.
        let is_plain = |&mover: &usize| {
            mover > 0
                && movers[mover].is_man()
                && movers[mover].squares.count_ones() >= 32
                && !self.is_king(&movers[mover])
        };
        let alone = |&mover: &usize| movers.iter().filter(|m| **m == movers[mover]).count() == 1;
        let ascends = self.space.index_type().is_combinadic();
        let distance = |slot: PieceSlot| if ascends { slot } else { MAX_PIECES - slot };
        let candidates = (0..movers.len()).filter(is_plain).filter(alone);
        let widest = candidates.min_by_key(|&mover| {
            let moves = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
            let place = moves.iter().position(|&role| role == movers[mover].role);
            (place.unwrap_or(moves.len()), distance(self.slots[mover]))
        });
        let Some(lane) = widest.filter(|_| !is_mixed) else { return };
        let others = (0..movers.len()).filter(|&mover| mover != lane);
        let (kings, mut turns): (Vec<usize>, Vec<usize>) =
            others.partition(|&mover| self.is_king(&movers[mover]));
        turns.extend(kings);
        (self.lane, self.turns) = (lane, turns);
    }

    /// The portions of a structure, cut by the squares of the first man where he is not placed with
    /// another one.
    pub(super) fn small_portions(&self, structure: PawnSquares) -> Vec<Portion> {
        let portions = self.portions(structure);
        let Some(first) = self.layout.movers().first() else { return portions };
        let placed_alone = self.lane != 0
            && !self.layout.movers().get(self.lane).is_some_and(|lane| self.is_king(lane));
        let cut = |portion: Portion| {
            let squares = if placed_alone && portion.first.is_none() { first.squares } else { 0 };
            let whole = (squares == 0).then_some(portion);
            bits_of(squares)
                .map(move |square| Portion { first: Some(square), ..portion })
                .chain(whole)
        };
        portions.into_iter().flat_map(cut).collect()
    }

    /// Whether all that [`Restricted::walk`] visits of a row comes in one go.
    pub(super) fn is_by_rows(&self) -> bool {
        let is_lane =
            |mover: &Mover| mover.is_man() && (!self.is_king(mover) || mover.color == Color::Black);
        self.space.symmetry() == 1 && self.layout.movers().last().is_some_and(is_lane)
    }

    /// Visits the positions of a portion. Like men are taken in one order only if `once`.
    pub(super) fn walk(&self, portion: &Portion, once: bool, mut visit: impl FnMut(&Run<'_>)) {
        self.walk_placed(portion, once, &mut |run, _, _| visit(run));
    }

    /// The same with the squares of all slots but that of the last man, and the slot of that man.
    pub(super) fn walk_placed(&self, portion: &Portion, once: bool, visit: &mut Visit<'_>) {
        if self.stop.is_requested() {
            return;
        }
        let movers = self.layout.movers();
        let Some(lane) = movers.get(self.lane) else { return };
        let Some(placed) = self.pawns.get(&portion.structure) else { return };
        let mut occupied = portion.structure.occupied();
        if let Some(square) = portion.en_passant {
            occupied |= empty_squares(square, portion.turn);
        }
        // A king as the lane: both kings are walked together.
        let kings = self.is_king(lane);
        let turns = self.turns.iter().copied();
        let turns: Vec<usize> = turns.filter(|&m| !kings || !self.is_king(&movers[m])).collect();
        let turns = Turns { movers: &turns, portion, once };
        let mut standing = Standing { squares: *placed, stands: [0; MAX_PIECES] };
        self.place(&turns, Taken { occupied, base: 0 }, &mut standing, visit);
    }

    /// Places the pieces whose turn it is, then the lane or the kings.
    fn place(
        &self,
        turns: &Turns<'_>,
        taken: Taken,
        standing: &mut Standing,
        visit: &mut Visit<'_>,
    ) {
        let movers = self.layout.movers();
        let Some((&mover, rest_of_them)) = turns.movers.split_first() else {
            self.place_last(turns, taken, standing, visit);
            return;
        };
        let others = Turns { movers: rest_of_them, ..*turns };
        let later = self.later(turns, mover, &standing.stands);
        let mut rest = movers[mover].squares & !taken.occupied & later;
        if let (0, Some(first)) = (mover, turns.portion.first) {
            rest &= 1 << first;
        }
        while rest != 0 {
            let square = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let Some(place) = self.layout.place(mover, square) else { continue };
            standing.squares[self.slots[mover]] = square;
            standing.stands[mover] = square;
            let occupied = taken.occupied | 1 << square;
            self.place(&others, Taken { occupied, base: taken.base + place }, standing, visit);
        }
    }

    /// The squares of a man for which each set of squares of like men is taken once, if it is to
    /// be: those behind the one of the like man before.
    fn later(&self, turns: &Turns<'_>, mover: usize, stands: &[u8; MAX_PIECES]) -> u64 {
        let movers = self.layout.movers();
        if turns.once
            && let Some(twins) = self.layout.twins().filter(|_| mover + 1 == movers.len())
        {
            return twins.once(stands[twins.narrow]);
        }
        let before = (0..mover).rev().find(|&m| movers[m] == movers[mover]);
        match before.filter(|_| turns.once) {
            Some(before) => (u64::MAX << stands[before]) << 1,
            None => u64::MAX,
        }
    }

    /// Visits the row that is left when all other men stand.
    fn place_last(
        &self,
        turns: &Turns<'_>,
        taken: Taken,
        standing: &mut Standing,
        visit: &mut Visit<'_>,
    ) {
        let (movers, lane) = (self.layout.movers(), self.lane);
        let Portion { turn, en_passant, .. } = *turns.portion;
        if self.is_king(&movers[lane]) {
            let king =
                |color: Color| movers.iter().position(|m| m.color == color && m.role == Role::King);
            let (Some(white), Some(black)) = (king(Color::White), king(Color::Black)) else {
                return;
            };
            if self.space.symmetry() > 1 {
                self.place_kings(turns, taken, [white, black], standing, visit);
            } else {
                self.visit_kings(turns, taken, [white, black], standing, visit);
            }
            return;
        }

        if !movers[lane].is_man() {
            if let Some(index) = self.space.encode_squares(&standing.squares, turn, en_passant) {
                visit(&run(index, 0, taken.base, 1), &standing.squares, PieceSlot::MAX);
            }
            return;
        }

        let king = |color: Color| {
            let at = movers.iter().position(|m| m.color == color && self.is_king(m));
            at.map(|m| standing.stands[m])
        };
        if let (Some(white), Some(black)) = (king(Color::White), king(Color::Black))
            && touch(white, black)
        {
            return;
        }
        self.visit_lane(turns, taken, standing, visit);
    }

    /// Visits the squares of a lane man that is no king.
    fn visit_lane(
        &self,
        turns: &Turns<'_>,
        taken: Taken,
        standing: &mut Standing,
        visit: &mut Visit<'_>,
    ) {
        let (movers, lane) = (self.layout.movers(), self.lane);
        let later = self.later(turns, lane, &standing.stands);
        let mut lanes = movers[lane].squares & !taken.occupied & later;
        if lanes == 0 {
            return;
        }
        let slot = self.slots[lane];
        let Portion { turn, en_passant, .. } = *turns.portion;
        if self.space.symmetry() == 1 && self.free_of_order {
            if !self.layout.mixed().is_empty() {
                lanes &= self.layout.admitted(&standing.stands[..movers.len()], lane);
            }
            let cursor = self.space.cursor(&standing.squares, turn, en_passant);
            cursor.visit_lane(slot, lanes, |lanes, index, step| {
                visit(&run(index, step, taken.base, lanes), &standing.squares, slot);
            });
            return;
        }

        // Like men must be dealt to the slots anew for every placement; with a symmetry, all
        // images of a position have the same index.
        for start in (0..64).filter(|s| lanes >> s & 1 != 0) {
            standing.squares[slot] = start;
            if let Some(index) = self.space.encode_squares(&standing.squares, turn, en_passant) {
                visit(&run(index, 0, taken.base, 1 << start), &standing.squares, slot);
            }
        }
    }

    /// Visits all squares of both kings, as the index numbers them. One of them may be the lane.
    fn visit_kings(
        &self,
        turns: &Turns<'_>,
        taken: Taken,
        [white, black]: [usize; 2],
        standing: &mut Standing,
        visit: &mut Visit<'_>,
    ) {
        let Portion { turn, en_passant, .. } = *turns.portion;
        let lane = self.lane;
        let [white_slot, black_slot] = [white, black].map(|king| self.slots[king]);
        let mut placed = standing.squares;
        let mut visit = |w: u8, first: u8, len: u8, index: u64, step: u64| {
            let Some(white_place) = self.layout.place(white, w) else { return };
            placed[white_slot] = w;
            if black == lane {
                let lanes = u64::MAX >> (64 - len) << first;
                let run = run(index, step, taken.base + white_place, lanes);
                visit(&run, &placed, black_slot);
                return;
            }
            for i in 0..len {
                if let Some(black_place) = self.layout.place(black, first + i) {
                    let row = taken.base + white_place + black_place;
                    placed[black_slot] = first + i;
                    let run = run(index + u64::from(i) * step, 0, row, 1);
                    visit(&run, &placed, PieceSlot::MAX);
                }
            }
        };
        self.space.visit_kings(&standing.squares, turn, en_passant, taken.occupied, &mut visit);
    }

    /// Places both kings, one position at a time.
    fn place_kings(
        &self,
        turns: &Turns<'_>,
        taken: Taken,
        kings: [usize; 2],
        standing: &mut Standing,
        visit: &mut Visit<'_>,
    ) {
        let movers = self.layout.movers();
        let free =
            |m: usize| (0..64).filter(move |s| (movers[m].squares & !taken.occupied) >> s & 1 != 0);
        for white in free(kings[0]) {
            for black in free(kings[1]).filter(|&black| !touch(white, black)) {
                standing.squares[self.slots[kings[0]]] = white;
                standing.squares[self.slots[kings[1]]] = black;
                let Portion { turn, en_passant, .. } = *turns.portion;
                let index = self.space.encode_squares(&standing.squares, turn, en_passant);
                let places =
                    self.layout.place(kings[0], white).zip(self.layout.place(kings[1], black));
                if let (Some(index), Some((white, black))) = (index, places) {
                    let run = run(index, 0, taken.base + white + black, 1);
                    visit(&run, &standing.squares, PieceSlot::MAX);
                }
            }
        }
    }

    /// What the slices counted, of the positions that have indices.
    pub(super) fn moves(&self, values: &TableValues) -> Option<Counts> {
        let mut sum = Counts::default();
        for structure in self.structures() {
            let (slice, _) = values.find(structure)?;
            let counts = slice.counts.as_ref()?;
            for (turn, en_passant) in self.sides(structure) {
                sum += match en_passant {
                    None => counts.plain[side(turn)],
                    Some(square) => {
                        counts.en_passant.iter().find(|(s, _)| *s == u8::from(square))?.1
                    }
                };
            }
        }
        // In suicide chess they are wins, and counted as such.
        if self.layout.variant() != Variant::Normal {
            sum.stalemates = 0;
        }
        Some(sum / (like_orders(self.layout) * u64::from(self.space.symmetry())))
    }
}

/// The slot of every mover, of one that stands for no man none; none at all if they do not go
/// together.
fn slots_of(pieces: &[ListedPiece], movers: &[Mover]) -> Option<Vec<PieceSlot>> {
    let mut taken = [false; MAX_PIECES];
    let mut slots = Vec::with_capacity(movers.len());
    for mover in movers {
        if !mover.is_man() {
            slots.push(PieceSlot::MAX);
            continue;
        }
        let is_it = |(i, p): (usize, &ListedPiece)| {
            let like = (p.color, p.role) == (mover.color, mover.role);
            !taken[i] && like && p.legal.0 & !mover.squares == 0
        };
        let slot = pieces.iter().enumerate().position(is_it)?;
        taken[slot] = true;
        slots.push(slot);
    }
    Some(slots)
}

/// Deals the pawns of a listed structure to the slots of the pawngen element, ascending by square.
fn deal(space: &IndexSpace, structure: PawnSquares) -> [u8; MAX_PIECES] {
    let mut squares = [0; MAX_PIECES];
    for color in [Color::White, Color::Black] {
        let mut rest = structure.of(color);
        for (slot, piece) in space.pieces().iter().enumerate() {
            if piece.color == color && piece.role == Role::Pawn {
                squares[slot] = rest.trailing_zeros() as u8;
                rest &= rest.wrapping_sub(1);
            }
        }
    }
    squares
}
