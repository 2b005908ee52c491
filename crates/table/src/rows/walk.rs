//! The positions of a table in the order of the values' rows, with their indices: what is walked,
//! and what comes of it.
//!
//! A [`Portion`] is walked at a time. What it yields are runs: positions of one row of values,
//! which differ in the square of the lane, and whose indices grow by a constant step.
//!
//! ```text
//! values    | a1 | b1 | c1 | d1 | ... | h8 |      a row of 64, from place `row` on
//!                  ^         ^           ^
//!           index     index + step    index + 2 * step      with b1, d1 and h8 in `lanes`
//! ```
//!
//! Where the board is turned on the way, the lane's square goes through `image` to its place in
//! the row.

use std::ops::Range;

use hoffman_board::{Color, MAX_PIECES, Material, PieceSlot, Square, Symmetry};
use hoffman_space::{Counts, Layout, Orientation, PawnSquares, SliceValues, TableValues};

use super::free::Free;
use super::restricted::Restricted;
use super::squares::en_passant_squares;
use super::{RowsError, has_free_pieces};
use crate::index::{IndexSpace, bits_of};
use crate::stop::Stop;

/// An index space and the layout of its values, brought together.
pub(super) enum Rows<'a> {
    /// Free pieces under the rules of normal chess, perhaps with restricted pawns.
    Free(Box<Free<'a>>),
    /// Everything else.
    Restricted(Box<Restricted<'a>>),
}

/// Positions of one row that differ in the square of the lane: with that piece on the `i`th square
/// of `lanes`, the index is `index + i * step`, and the value stands at `row + image[square]`.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) index: u64,
    pub(super) step: u64,
    pub(super) row: usize,
    pub(super) image: &'a [usize; 64],
    pub(super) lanes: u64,
    /// Whether all images are below 64.
    pub(super) in_row: bool,
}

/// Takes the positions of a run, the squares of all slots but that of the lane, and the slot of the
/// lane. Walks that are seldom the longest part of the work call it for every run, and are compiled
/// once instead of for each of the dozens of things that are done with runs.
pub(super) type Visit<'v> = dyn FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot) + 'v;

impl Run<'_> {
    /// How many positions there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.lanes.count_ones() as usize
    }

    /// The part of it that has indices in a range; none if it has none.
    #[inline(always)]
    pub(super) fn within(&self, indices: &Range<u64>) -> Option<Self> {
        let last = self.index + self.step * (self.len() as u64).saturating_sub(1);
        if self.index >= indices.start && last < indices.end {
            return Some(*self);
        }
        if last < indices.start || self.index >= indices.end {
            return None;
        }
        Some(self.cut(indices))
    }

    /// The same for a run that reaches over an end of the range, or both.
    #[cold]
    fn cut(&self, indices: &Range<u64>) -> Self {
        let step = self.step.max(1);
        let before = |bound: u64| bound.saturating_sub(self.index).div_ceil(step) as usize;
        let (first, end) = (before(indices.start), before(indices.end).min(self.len()));
        let own = bits_of(self.lanes).take(end).skip(first);
        let lanes = own.fold(0, |lanes, square| lanes | 1 << square);
        Run { index: self.index + first as u64 * self.step, lanes, ..*self }
    }

    /// The place of every position in its row.
    #[inline(always)]
    pub(super) fn squares(&self) -> impl Iterator<Item = usize> {
        let image = self.image;
        bits_of(self.lanes).map(move |square| image[usize::from(square) & 63])
    }

    /// Index and place of every position.
    #[inline(always)]
    pub(super) fn positions(&self) -> impl Iterator<Item = (usize, usize)> {
        self.squares()
            .enumerate()
            .map(|(i, s)| ((self.index + i as u64 * self.step) as usize, self.row + s))
    }
}

/// A set of positions with the same pawns, side to move and en passant right, as the table sees
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portion {
    pub(super) structure: PawnSquares,
    pub(super) turn: Color,
    pub(super) en_passant: Option<Square>,
    /// The square of the first mover, to share the work where no kings lead.
    pub(super) first: Option<u8>,
    /// The canonical pairs of kings that are asked for, where kings lead; all of them if none.
    pub(super) kings: Option<PairSpan>,
    /// Whether the board is turned upside down on the way to the values, colours as they are:
    /// without pawns.
    pub(super) flip: bool,
}

/// Neighbouring pairs of kings, by their numbers in the table: the first, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSpan {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl PairSpan {
    /// So many pairs in spans of a length.
    pub(super) fn all(pairs: usize, len: usize) -> Vec<PairSpan> {
        let starts = (0..pairs).step_by(len);
        starts.map(|start| PairSpan { start, len: len.min(pairs - start) }).collect()
    }

    /// The numbers of the pairs.
    pub(super) fn pairs(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl Portion {
    /// All positions of a side to move and en passant square.
    pub(super) fn new(
        structure: PawnSquares,
        (turn, en_passant): (Color, Option<Square>),
    ) -> Portion {
        Portion { structure, turn, en_passant, first: None, kings: None, flip: false }
    }

    /// How the board is turned on the way to the values.
    pub(super) fn symmetry(&self, orientation: Orientation) -> Symmetry {
        orientation.symmetry().then(Symmetry::new(false, self.flip, false))
    }
}

/// Which positions of a portion are visited, and where their values are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visits {
    /// How a position of the table is turned on the way to its value.
    pub(super) orientation: Orientation,
    /// Whether like pieces are taken in one order only.
    pub(super) once: bool,
    /// If not 0: only positions in which one of these movers, a bit each, stands where promoted
    /// pieces do. Of restricted pieces all positions are visited nevertheless.
    pub(super) promoted: u32,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        space: &'a IndexSpace,
        values: &'a TableValues,
    ) -> Result<Rows<'a>, RowsError> {
        Rows::with_layout(space, &values.material, &values.layout)
    }

    pub(super) fn with_layout(
        space: &'a IndexSpace,
        material: &Material,
        layout: &'a Layout,
    ) -> Result<Rows<'a>, RowsError> {
        if has_free_pieces(space) {
            Ok(Rows::Free(Box::new(Free::new(space, material, layout)?)))
        } else {
            Ok(Rows::Restricted(Box::new(Restricted::new(space, material, layout)?)))
        }
    }

    /// From the moment in which the caller asks to stop [`Rows::walk`] visits nothing more; the
    /// caller has to look in the end whether all was visited, see [`Rows::finished`].
    pub(super) fn watching(mut self, stop: &Stop) -> Rows<'a> {
        match &mut self {
            Rows::Free(rows) => rows.stop = stop.clone(),
            Rows::Restricted(rows) => rows.stop = stop.clone(),
        }
        self
    }

    /// An error if the caller asked to stop.
    pub(super) fn finished(&self) -> Result<(), RowsError> {
        match self {
            Rows::Free(rows) => rows.finished(),
            Rows::Restricted(rows) => finished(&rows.stop),
        }
    }

    pub(super) fn layout(&self) -> &'a Layout {
        match self {
            Rows::Free(rows) => rows.layout,
            Rows::Restricted(rows) => rows.layout,
        }
    }

    /// All pawn structures of the table.
    pub(super) fn structures(&self) -> Vec<PawnSquares> {
        match self {
            Rows::Free(rows) => rows.structures(),
            Rows::Restricted(rows) => rows.structures(),
        }
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    pub(super) fn orient<'v>(
        &self,
        values: &'v TableValues,
        structure: PawnSquares,
    ) -> Option<(&'v SliceValues, Orientation)> {
        match self {
            Rows::Free(rows) => rows.orient(values, structure),
            // Restricted pieces tell images apart, so that their values are there as they are.
            Rows::Restricted(_) => {
                let (slice, orientation) = values.find(structure)?;
                (orientation == Orientation::default()).then_some((slice, orientation))
            }
        }
    }

    /// The longest win or loss in the values of all structures, in moves.
    ///
    /// # Errors
    ///
    /// A structure has no values.
    pub(super) fn max_moves(&self, values: &TableValues) -> Result<u16, RowsError> {
        let mut moves = self.structures().into_iter().map(|structure| {
            let slice = self.orient(values, structure).map(|(slice, _)| slice.max_moves);
            slice.ok_or(RowsError::Incomplete(values.material))
        });
        moves.try_fold(0, |deepest, moves| Ok(deepest.max(moves?)))
    }

    /// Every side to move and en passant square of a structure that has indices, restricted pieces
    /// besides by the square of the first.
    pub(super) fn sides(&self, structure: PawnSquares) -> Vec<Portion> {
        match self {
            Rows::Free(rows) => rows.sides(structure),
            Rows::Restricted(rows) => rows.portions(structure),
        }
    }

    /// A side in portions for all threads.
    pub(super) fn shares(&self, side: Portion) -> Vec<Portion> {
        match self {
            Rows::Free(rows) => rows.shares(side),
            Rows::Restricted(_) => vec![side],
        }
    }

    /// A side in portions that need the values of one pair of kings each, where the kings lead.
    pub(super) fn by_pairs(&self, side: Portion) -> Vec<Portion> {
        match self {
            Rows::Free(rows) => rows.cut(side, 1),
            Rows::Restricted(_) => vec![side],
        }
    }

    /// Where the values of a portion of [`Rows::by_pairs`] begin, and how many there are; none if
    /// it has none.
    pub(super) fn block_of(
        &self,
        portion: &Portion,
        orientation: Orientation,
    ) -> Option<(usize, usize)> {
        let layout = self.layout();
        match (self, portion.kings, portion.first) {
            (Rows::Free(rows), Some(pairs), _) => {
                Some((rows.pair_place(pairs.start, portion, orientation)?, rows.pair_len()))
            }
            (Rows::Restricted(_), _, Some(first)) => {
                Some((layout.place(0, first)?, layout.stride(0)))
            }
            _ => Some((0, layout.len())),
        }
    }

    /// Whether all that is visited of a row comes in one go.
    pub(super) fn is_by_rows(&self) -> bool {
        match self {
            Rows::Free(rows) => rows.layout.movers().len() > 2,
            Rows::Restricted(rows) => rows.is_by_rows(),
        }
    }

    /// What the slices counted of moves, of the positions that have indices.
    pub(super) fn moves(&self, values: &TableValues) -> Option<Counts> {
        match self {
            Rows::Free(rows) => rows.moves(values),
            Rows::Restricted(rows) => rows.moves(values),
        }
    }

    /// Visits the positions of a portion.
    #[inline(always)]
    pub(super) fn walk(&self, portion: &Portion, visits: Visits, visit: impl FnMut(&Run<'_>)) {
        match self {
            Rows::Free(rows) => rows.walk(portion, visits, visit),
            Rows::Restricted(rows) => rows.walk(portion, visits.once, visit),
        }
    }

    /// Visits the rows of a portion as they lie, each once with the places in it that have
    /// positions. False, and nothing is visited, where positions have to be found by
    /// [`Rows::walk`].
    pub(super) fn walk_rows(
        &self,
        portion: &Portion,
        visits: Visits,
        visit: impl FnMut(usize, u64),
    ) -> bool {
        match self {
            Rows::Free(rows) => rows.walk_rows(portion, visits, visit),
            Rows::Restricted(_) => false,
        }
    }
}

/// An error if the caller asked to stop.
pub(super) fn finished(stop: &Stop) -> Result<(), RowsError> {
    if stop.is_requested() { Err(RowsError::Stopped) } else { Ok(()) }
}

/// The sides to move and en passant squares that an index tells apart, none first.
pub(super) fn sides_of(
    space: &IndexSpace,
    structure: PawnSquares,
) -> impl Iterator<Item = (Color, Option<Square>)> {
    let turns =
        [Color::White, Color::Black].into_iter().take(1 + usize::from(space.has_side_bit()));
    turns.flat_map(move |turn| {
        let rights = en_passant_squares(structure, turn).map(Some);
        std::iter::once(None).chain(rights).map(move |right| (turn, right))
    })
}
