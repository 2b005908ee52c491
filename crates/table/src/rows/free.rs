//! The walk through a table whose pieces may stand everywhere, in the order of the values' rows.
//!
//! An index is made of digits; so is a place among the values, of others. The walk is a nest of
//! loops that suits both, from the outside in:
//!
//! ```text
//! pieces but the kings and the lane   the one nearest in the table in tiles of 16, innermost
//!   pairs of kings                    those of the portion, canonical ones of the table
//!     lane                            one run: index + i * step, place row + image[square]
//!
//! place    king pair | piece 2 | piece 3 | ... | lane        the kings lead, 64 codes make a row
//! index    ... | piece 3 | piece 2 | king pair | side         combinadic: the kings are lowest
//! ```
//!
//! Neighbouring pairs of kings lie far apart among the values and side by side in the table, the
//! squares of the other pieces the other way round; so a portion has some of both, and uses all
//! that comes with a line of the cache and with a page.

use std::collections::BTreeMap;

use hoffman_board::{Color, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Symmetry};
use hoffman_space::{
    Counts, KingPlacement, Layout, Mover, Orientation, PawnSquares, SliceValues, TableValues, side,
};

use super::RowsError;
use super::counts::{bare_king_moves, like_orders};
use super::squares::{
    empty_squares, en_passant_squares, is_canonical, pawn_placements, promotion_squares, touch,
};
use super::walk::{PairSpan, Portion, Run, Visit, Visits, finished, sides_of};
use crate::index::IndexSpace;
use crate::stop::Stop;

/// The index space of a table whose pieces may stand everywhere.
pub(super) struct Free<'a> {
    pub(super) space: &'a IndexSpace,
    pub(super) layout: &'a Layout,
    /// The mover whose squares make a run: the last one, as in the values.
    lane: usize,
    /// Whether the ending's colours are exchanged against the table's.
    swapped: bool,
    /// `slots[swap][mover]`: the slot of a mover, when colours are (not) exchanged on the way.
    pub(super) slots: [Vec<PieceSlot>; 2],
    /// The pawn structures, with the squares of the pawns' slots.
    pawns: BTreeMap<PawnSquares, [u8; MAX_PIECES]>,
    /// The canonical placements of the table's kings.
    pub(super) canonical: Vec<(u8, u8)>,
    /// The images of the squares by symmetry.
    images: [[usize; 64]; 8],
    /// See [`Rows::watching`](super::walk::Rows::watching).
    pub(super) stop: Stop,
}

/// How many pairs of kings a portion has at least, see above.
pub(super) const KINGS: usize = 64;

/// How many squares of the piece that is nearest in the table are taken before another one makes a
/// step.
const TILE: u64 = 16;

impl<'a> Free<'a> {
    pub(super) fn new(
        space: &'a IndexSpace,
        material: &Material,
        layout: &'a Layout,
    ) -> Result<Self, RowsError> {
        let pieces = space.pieces();
        let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
        let swapped = table != *material;
        if swapped && table.swapped() != *material {
            return Err(RowsError::Material { table, values: *material });
        }
        // Without colour symmetry only one of the two ways can occur.
        let [plain, exchanged] = [false, true].map(|swap| slots_of(pieces, layout.movers(), swap));
        if plain.is_none() && exchanged.is_none() {
            return Err(RowsError::Material { table, values: *material });
        }
        let slots = [plain, exchanged].map(Option::unwrap_or_default);
        let canonical =
            space.king_columns().map_or_else(|| canonical_pairs(space.symmetry()), <[_]>::to_vec);
        let pawns = pawn_placements(space);
        let images = std::array::from_fn(|g| {
            let symmetry = Symmetry::all().nth(g).unwrap_or_default();
            std::array::from_fn(|s| symmetry.apply_index(s as u8) as usize)
        });
        let lane = layout.movers().len() - 1;
        let stop = Stop::default();
        Ok(Free { space, layout, lane, swapped, slots, pawns, canonical, images, stop })
    }

    /// An error if the caller asked to stop.
    pub(super) fn finished(&self) -> Result<(), RowsError> {
        finished(&self.stop)
    }

    /// Makes the piece the lane whose squares lie closest together in the table, one without a
    /// like piece if there is one: for callers that do not look at values, as the places of these
    /// are then wrong.
    pub(super) fn walk_nearest(&mut self, orientation: Orientation) {
        let slots = &self.slots[usize::from(orientation.swap)];
        let movers = self.layout.movers();
        let is_alone = |&mover: &usize| movers.iter().filter(|m| **m == movers[mover]).count() == 1;
        let candidates = (2..movers.len()).filter(is_alone);
        let nearest = if self.space.index_type().is_combinadic() {
            candidates.min_by_key(|&mover| slots[mover])
        } else {
            candidates.max_by_key(|&mover| slots[mover])
        };
        self.lane = nearest.unwrap_or(self.lane);
    }

    /// Makes the last piece of a kind the lane, if there is one, as [`Free::walk_nearest`] does
    /// with another one.
    pub(super) fn walk_kind(&mut self, orientation: Orientation, kind: (Color, Role)) {
        let slots = &self.slots[usize::from(orientation.swap)];
        let is_it = |&mover: &usize| {
            let piece = &self.space.pieces()[slots[mover]];
            (piece.color, piece.role) == kind
        };
        self.lane = (2..slots.len()).rev().find(is_it).unwrap_or(self.lane);
    }

    /// All pawn structures of the table.
    pub(super) fn structures(&self) -> Vec<PawnSquares> {
        self.pawns.keys().copied().collect()
    }

    /// Every side and en passant square of a structure that has indices.
    pub(super) fn sides(&self, structure: PawnSquares) -> Vec<Portion> {
        sides_of(self.space, structure).map(|side| Portion::new(structure, side)).collect()
    }

    /// A side in portions for all threads.
    pub(super) fn shares(&self, side: Portion) -> Vec<Portion> {
        let share = self.canonical.len().div_ceil(2 * rayon::current_num_threads());
        self.cut(side, share.max(KINGS))
    }

    /// The portions of a side, of that many pairs of kings each.
    pub(super) fn cut(&self, side: Portion, kings: usize) -> Vec<Portion> {
        if self.layout.movers().len() == 2 {
            return vec![side];
        }
        let spans = PairSpan::all(self.canonical.len(), kings).into_iter();
        spans.map(|span| Portion { kings: Some(span), ..side }).collect()
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    pub(super) fn orient<'v>(
        &self,
        values: &'v TableValues,
        structure: PawnSquares,
    ) -> Option<(&'v SliceValues, Orientation)> {
        let to_values = Orientation { swap: self.swapped, mirror: false };
        let (slice, to_slice) = values.find(structure.oriented(to_values))?;
        Some((slice, to_values.then(to_slice)))
    }

    /// Where the values of a pair of kings begin, for positions of a portion turned that way.
    pub(super) fn pair_place(
        &self,
        pair: usize,
        portion: &Portion,
        orientation: Orientation,
    ) -> Option<usize> {
        let &(white, black) = self.canonical.get(pair)?;
        let symmetry = portion.symmetry(orientation);
        let [white, black] = [white, black].map(|s| symmetry.apply_index(s));
        let kings = if orientation.swap { [black, white] } else { [white, black] };
        self.layout.king_base(kings[0], kings[1]).map(|(base, _)| base)
    }

    /// How many values a pair of kings has.
    pub(super) fn pair_len(&self) -> usize {
        1 << (6 * (self.layout.movers().len() - 2))
    }

    /// Visits the positions of a portion.
    #[inline(always)]
    pub(super) fn walk(&self, portion: &Portion, visits: Visits, mut visit: impl FnMut(&Run<'_>)) {
        self.walk_placed(portion, visits, |run, _, _| visit(run));
    }

    /// The same with the squares of all slots but that of the lane, and the slot of the lane.
    pub(super) fn walk_placed(
        &self,
        portion: &Portion,
        visits: Visits,
        mut visit: impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        if self.stop.is_requested() {
            return;
        }
        let (walk, squares) = FreeWalk::new(self, portion, visits);
        if self.layout.movers().len() == 2 {
            walk.bare_kings(squares, &mut visit);
        } else {
            walk.all(squares, &mut visit);
        }
    }

    /// Visits the rows of a portion one after the other as they lie, each once with the places in
    /// it that have positions: for who does not ask for indices. False of bare kings, whose
    /// positions may go from row to row.
    pub(super) fn walk_rows(
        &self,
        portion: &Portion,
        visits: Visits,
        visit: impl FnMut(usize, u64),
    ) -> bool {
        if self.layout.movers().len() == 2 {
            return false;
        }
        if !self.stop.is_requested() {
            let (walk, squares) = FreeWalk::new(self, portion, visits);
            walk.rows(squares, visit);
        }
        true
    }

    /// Adds up what the slices counted, by the way in which the table's indices represent their
    /// positions.
    pub(super) fn moves(&self, values: &TableValues) -> Option<Counts> {
        let both = self.space.has_side_bit();
        let ways = self.space.symmetry();
        if self.layout.movers().len() == 2 && !values.material.has_pawns() {
            return Some(bare_king_moves(ways, both));
        }
        let mut sum = Counts::default();

        for structure in self.structures() {
            let (slice, orientation) = self.orient(values, structure)?;
            let counts = slice.counts.as_ref()?;
            for turn in Color::ALL.into_iter().take(1 + usize::from(both)) {
                let number = side(orientation.color(turn));
                if self.layout.kings() == KingPlacement::Pairs {
                    // Two diagonal kings leave each position and its mirror image in the same
                    // block.
                    sum += counts.plain[number] * (8 / u64::from(ways));
                    if ways < 8 {
                        sum -= counts.diagonal[number] * (4 / u64::from(ways));
                    }
                    continue;
                }
                sum += counts.plain[number];
                for square in en_passant_squares(structure, turn) {
                    let there = u8::from(orientation.symmetry().apply(square));
                    sum += counts.en_passant.iter().find(|(s, _)| *s == there)?.1;
                }
            }
        }

        let images = if self.layout.kings() == KingPlacement::Axes { ways } else { 1 };
        Some(sum / (like_orders(&values.layout) * u64::from(images)))
    }

    /// Whether a mover is like the one before it.
    fn is_like_last(&self, mover: usize) -> bool {
        self.layout.movers()[mover] == self.layout.movers()[mover - 1]
    }
}

/// The slot of every mover, when colours are (not) exchanged on the way; none if there is another
/// piece.
fn slots_of(pieces: &[ListedPiece], movers: &[Mover], swap: bool) -> Option<Vec<PieceSlot>> {
    let mut taken = [false; MAX_PIECES];
    let mut slots = Vec::with_capacity(movers.len());
    for mover in movers {
        let color = if swap { mover.color.other() } else { mover.color };
        let is_it =
            |(i, p): (usize, &ListedPiece)| !taken[i] && p.color == color && p.role == mover.role;
        let slot = pieces.iter().enumerate().position(is_it)?;
        taken[slot] = true;
        slots.push(slot);
    }
    Some(slots)
}

/// The pairs of kings that stand for their images under so many symmetries.
fn canonical_pairs(symmetry: u8) -> Vec<(u8, u8)> {
    let pairs = (0..64).flat_map(|white| (0..64).map(move |black| (white, black)));
    pairs.filter(|&(w, b)| !touch(w, b) && is_canonical(symmetry, w, b)).collect()
}

/// A portion being walked.
struct FreeWalk<'w, 'a> {
    rows: &'w Free<'a>,
    portion: &'w Portion,
    visits: Visits,
    /// Squares on which no mover stands: those of pawns, and of a right to take en passant.
    occupied: u64,
}

/// A placement of both kings: their squares, where their rows begin, and what turns the board
/// there.
struct KingsAt {
    white: u8,
    black: u8,
    base: usize,
    symmetry: Symmetry,
}

/// A piece between the kings and the lane.
struct InnerPiece {
    /// Its slot in the table.
    slot: PieceSlot,
    /// How far apart its squares are among the values.
    stride: usize,
    /// Where it stands if it is one of those that are promoted, see [`Visits::promoted`].
    promoted: u64,
    /// Whether it must stand behind the inner piece before, which is like it.
    behind_like: bool,
}

/// A placement of the pieces between the kings and the lane.
struct Placing {
    /// By slot; those of the kings and of the lane are put in later.
    squares: [u8; MAX_PIECES],
    /// By inner piece.
    digits: Vec<u8>,
    /// The squares that are not free any more.
    taken: u64,
    /// Whether a piece stands where promoted ones do, if one has to.
    on_edge: bool,
}

impl<'w, 'a> FreeWalk<'w, 'a> {
    /// The walk through a portion, and the squares of the pawns.
    fn new(
        rows: &'w Free<'a>,
        portion: &'w Portion,
        visits: Visits,
    ) -> (FreeWalk<'w, 'a>, [u8; MAX_PIECES]) {
        let squares = rows.pawns.get(&portion.structure).copied().unwrap_or([0; MAX_PIECES]);
        let mut occupied = portion.structure.occupied();
        if let Some(square) = portion.en_passant {
            occupied |= empty_squares(square, portion.turn);
        }
        (FreeWalk { rows, portion, visits, occupied }, squares)
    }

    /// The slots of the kings, White's and Black's.
    fn king_slots(&self) -> [PieceSlot; 2] {
        let slots = &self.rows.slots[usize::from(self.visits.orientation.swap)];
        if self.visits.orientation.swap { [slots[1], slots[0]] } else { [slots[0], slots[1]] }
    }

    /// The black king runs: in the row, or if colours are exchanged from row to row.
    fn bare_kings(&self, squares: [u8; MAX_PIECES], visit: &mut Visit<'_>) {
        let FreeWalk { rows, portion, visits: Visits { orientation, .. }, occupied } = *self;
        let turn = portion.symmetry(orientation);
        let [white_slot, black_slot] = self.king_slots();
        let [fixed, runs] = if orientation.swap { [1, 0] } else { [0, 1] };
        let [fixed, runs] = [fixed, runs].map(|king| rows.layout.stride(king));
        let turned = |s: u8| usize::from(turn.apply_index(s));
        let image = std::array::from_fn(|s| turned(s as u8) * runs);
        let in_row = runs == 1;
        let mut placed = squares;
        let mut visit = |white: u8, first: u8, len: u8, index: u64, step: u64| {
            let lanes = u64::MAX >> (64 - len) << first;
            let row = turned(white) * fixed;
            placed[white_slot] = white;
            visit(&Run { index, step, row, image: &image, lanes, in_row }, &placed, black_slot);
        };
        rows.space.visit_kings(&squares, portion.turn, portion.en_passant, occupied, &mut visit);
    }

    /// Goes through the placements of all pieces but kings and lane, and in each through those of
    /// the kings.
    #[inline(always)]
    fn all(
        &self,
        squares: [u8; MAX_PIECES],
        visit: &mut impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        let kings = self.kings(squares);
        let inner = self.inner();
        // The piece whose squares lie closest together in the table, which is the one of the first
        // slot.
        let near = (0..inner.len()).min_by_key(|&i| inner[i].slot).unwrap_or(0);
        let mut placing =
            Placing { squares, digits: vec![0; inner.len()], taken: 0, on_edge: false };
        for step in 0..1_u64 << (6 * inner.len()) {
            let mut rest = step / TILE;
            for i in (0..inner.len()).rev().filter(|&i| i != near) {
                placing.digits[i] = (rest % 64) as u8;
                rest /= 64;
            }
            if let Some(digit) = placing.digits.get_mut(near) {
                *digit = (rest * TILE + step % TILE) as u8;
            }

            if self.place(&inner, &mut placing) {
                self.lanes(&inner, &kings, &mut placing, visit);
            }
        }
    }

    /// Goes through the placements of the kings, and in each through those of all other pieces but
    /// the lane in the order of the layout.
    fn rows(&self, squares: [u8; MAX_PIECES], mut visit: impl FnMut(usize, u64)) {
        let inner = self.inner();
        let mut placing =
            Placing { squares, digits: vec![0; inner.len()], taken: 0, on_edge: false };
        for KingsAt { white, black, base, symmetry } in self.kings(squares) {
            let kings = 1 << white | 1 << black;
            let image = &self.rows.images[symmetry.index()];
            for step in 0..1_u64 << (6 * inner.len()) {
                let mut rest = step;
                for digit in placing.digits.iter_mut().rev() {
                    *digit = (rest % 64) as u8;
                    rest /= 64;
                }
                if !self.place(&inner, &mut placing) || placing.taken & kings != 0 {
                    continue;
                }
                let lanes = self.allowed(&placing) & !kings;
                if lanes != 0 {
                    visit(row_of(&inner, &placing, (base, image)), symmetry.apply_set(lanes));
                }
            }
        }
    }

    /// The pieces between the kings and the lane, in the order of the layout.
    fn inner(&self) -> Vec<InnerPiece> {
        let rows = self.rows;
        let slots = &rows.slots[usize::from(self.visits.orientation.swap)];
        let movers = (2..rows.layout.movers().len()).filter(|&mover| mover != rows.lane);
        let piece = |(i, mover): (usize, usize)| InnerPiece {
            slot: slots[mover],
            stride: rows.layout.stride(mover),
            promoted: self.promoted(mover),
            behind_like: self.visits.once && i > 0 && rows.is_like_last(mover),
        };
        movers.enumerate().map(piece).collect()
    }

    /// The placements of the kings that pawns leave.
    fn kings(&self, mut squares: [u8; MAX_PIECES]) -> Vec<KingsAt> {
        let FreeWalk { rows, portion, visits: Visits { orientation, .. }, occupied } = *self;
        let slots = &rows.slots[usize::from(orientation.swap)];
        let [white_slot, black_slot] = self.king_slots();
        let turn = portion.symmetry(orientation);
        let pairs = portion.kings.and_then(|span| rows.canonical.get(span.pairs()));
        let mut kings = Vec::new();
        for &(white, black) in pairs.unwrap_or(&rows.canonical) {
            if occupied & (1 << white | 1 << black) != 0 {
                continue;
            }
            squares[white_slot] = white;
            squares[black_slot] = black;
            // The kings of the table that become the layout's movers 0 and 1.
            let [first, second] = [slots[0], slots[1]].map(|s| turn.apply_index(squares[s]));
            if let Some((base, symmetry)) = rows.layout.king_base(first, second) {
                kings.push(KingsAt { white, black, base, symmetry: turn.then(symmetry) });
            }
        }
        kings
    }

    /// Where a mover stands, seen from the table, if it is one of those that are promoted.
    fn promoted(&self, mover: usize) -> u64 {
        if self.visits.promoted >> mover & 1 == 0 {
            return 0;
        }
        let color = self.rows.layout.movers()[mover].color;
        promotion_squares(self.portion.structure, self.visits.orientation.color(color))
    }

    /// Puts the pieces on the squares of the digits; false if two stand on one, or like ones are
    /// out of order.
    #[inline(always)]
    fn place(&self, inner: &[InnerPiece], placing: &mut Placing) -> bool {
        let mut possible = true;
        placing.taken = self.occupied;
        placing.on_edge = self.visits.promoted == 0;
        for (i, piece) in inner.iter().enumerate() {
            let square = placing.digits[i];
            possible &= placing.taken >> square & 1 == 0;
            placing.taken |= 1 << square;
            placing.squares[piece.slot] = square;
            placing.on_edge |= piece.promoted >> square & 1 != 0;
            if piece.behind_like {
                possible &= placing.digits[i - 1] < square;
            }
        }
        possible
    }

    /// Where the lane may stand beside the pieces between it and the kings.
    #[inline(always)]
    fn allowed(&self, placing: &Placing) -> u64 {
        let lane = self.rows.lane;
        let mut allowed = !placing.taken;
        if !placing.on_edge {
            allowed &= self.promoted(lane);
        }
        // Nothing is like a king, so the mover before has the digit of its number less the two
        // kings.
        let before = lane.checked_sub(3).and_then(|i| placing.digits.get(i));
        if let (true, Some(&last)) = (self.visits.once && self.rows.is_like_last(lane), before) {
            allowed &= u64::MAX << last;
        }
        allowed
    }

    /// Visits the lanes of all placements of the kings.
    #[inline(always)]
    fn lanes(
        &self,
        inner: &[InnerPiece],
        kings: &[KingsAt],
        placing: &mut Placing,
        visit: &mut impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        let (rows, portion, lane) = (self.rows, self.portion, self.rows.lane);
        let lane_slot = rows.slots[usize::from(self.visits.orientation.swap)][lane];
        let allowed = self.allowed(placing);
        if allowed == 0 {
            return;
        }

        let [white_slot, black_slot] = self.king_slots();
        let mut cursor = rows.space.cursor(&placing.squares, portion.turn, portion.en_passant);
        for &KingsAt { white, black, base, symmetry } in kings {
            if placing.taken & (1 << white | 1 << black) != 0 {
                continue;
            }
            let image = &rows.images[symmetry.index()];
            let row = row_of(inner, placing, (base, image));
            cursor.put(white_slot, white);
            cursor.put(black_slot, black);
            placing.squares[white_slot] = white;
            placing.squares[black_slot] = black;
            let lanes = allowed & !(1 << white | 1 << black);
            cursor.visit_lane(lane_slot, lanes, |lanes, index, step| {
                let run = Run { index, step, row, image, lanes, in_row: true };
                visit(&run, &placing.squares, lane_slot);
            });
        }
    }
}

/// Where the row of a placement begins: behind that of its kings, with the images of the squares.
#[inline(always)]
fn row_of(inner: &[InnerPiece], placing: &Placing, (base, image): (usize, &[usize; 64])) -> usize {
    let of = |(piece, &square): (&InnerPiece, &u8)| image[usize::from(square) & 63] * piece.stride;
    base + inner.iter().zip(&placing.digits).map(of).sum::<usize>()
}
