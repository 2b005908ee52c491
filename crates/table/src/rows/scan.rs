//! The positions of a table row by row, for callers that look at every one of them.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use hoffman_board::{
    Bitboard, Color, MAX_PIECES, Material, PieceSlot, Role, Square, Symmetry, Variant,
};
use hoffman_space::{Layout, Orientation};
use rayon::prelude::*;

use super::free::{Free, KINGS};
use super::walk::{Portion, Rows, Visit, Visits};
use super::{has_free_pieces, layout_of};
use crate::index::{IndexSpace, bits_of};

/// Positions that differ in the square of one man.
#[derive(Clone, Copy, Debug)]
pub struct EntryRow<'a> {
    /// The squares of all slots but `lane`.
    pub squares: &'a [u8; MAX_PIECES],
    /// The slot of the piece that stands on different squares.
    pub lane: PieceSlot,
    /// Its squares, a bit each.
    pub lanes: u64,
    /// Who is to move.
    pub turn: Color,
    /// The square that a pawn has jumped over.
    pub en_passant: Option<Square>,
    index: u64,
    step: u64,
    /// The indices, where they follow no simple rule.
    indices: &'a [u64],
}

/// Where the men of positions stand that differ in the square of one man, and who is to move.
#[derive(Clone, Copy, Debug)]
pub struct RowPlace<'a> {
    /// The squares of all slots but `lane`.
    pub squares: &'a [u8; MAX_PIECES],
    /// The slot of the piece that stands on different squares.
    pub lane: PieceSlot,
    /// Who is to move.
    pub turn: Color,
}

impl<'a> EntryRow<'a> {
    /// Where its men stand.
    pub fn place(&self) -> RowPlace<'a> {
        RowPlace { squares: self.squares, lane: self.lane, turn: self.turn }
    }

    /// The square and the index of every position.
    #[inline(always)]
    pub fn positions(&self) -> impl Iterator<Item = (u8, u64)> {
        let (index, step, indices) = (self.index, self.step, self.indices);
        let index = move |i: usize| indices.get(i).copied().unwrap_or(index + i as u64 * step);
        bits_of(self.lanes).enumerate().map(move |(i, square)| (square, index(i)))
    }

    /// How many indices there are, their sum, and that of their squares, each without what a word
    /// has no room for.
    pub fn sums(&self) -> [u64; 3] {
        let count = u64::from(self.lanes.count_ones());
        if !self.indices.is_empty() {
            let add = |[count, sum, squares]: [u64; 3], &index: &u64| {
                let square = index.wrapping_mul(index);
                [count, sum.wrapping_add(index), squares.wrapping_add(square)]
            };
            return self.indices.iter().fold([count, 0, 0], add);
        }
        let (index, step) = (self.index, self.step);
        // Of 0, 1, … count - 1.
        let numbers = count * count.saturating_sub(1) / 2;
        let squares = numbers * (2 * count).saturating_sub(1) / 3;
        let sum = count.wrapping_mul(index).wrapping_add(step.wrapping_mul(numbers));
        let both = index.wrapping_mul(step).wrapping_mul(2 * numbers);
        let squares = step.wrapping_mul(step).wrapping_mul(squares).wrapping_add(both);
        [count, sum, squares.wrapping_add(count.wrapping_mul(index).wrapping_mul(index))]
    }
}

/// Calls `visit` with each symmetry that leads from squares of a row's man to indices of a table,
/// and with these squares. If the man `walks` as a king, they may differ in their symmetry, which
/// `canonical` says of each.
#[inline]
pub fn by_symmetry(
    space: &IndexSpace,
    squares: Bitboard,
    walks: bool,
    canonical: impl Fn(Square) -> Symmetry,
    mut visit: impl FnMut(Symmetry, Bitboard),
) {
    let mut rest = squares;
    while let Some(first) = rest.first() {
        let symmetry = canonical(first);
        let mut alike = rest;
        if walks && space.symmetry() > 1 {
            alike = alike.into_iter().filter(|&square| canonical(square) == symmetry).collect();
        }
        rest &= !alike;
        visit(symmetry, alike);
    }
}

/// Who takes whose place when the colours are exchanged and the board is turned by 180 degrees.
#[derive(Clone, Copy, Debug)]
pub struct ExchangedSlots([PieceSlot; MAX_PIECES]);

impl ExchangedSlots {
    /// Those of a table's men; none if they do not allow it.
    pub fn of(space: &IndexSpace) -> Option<ExchangedSlots> {
        let mut partners = [0; MAX_PIECES];
        for slot in 0..space.pieces().len() {
            partners[slot] = space.partner(slot)?;
        }
        Some(ExchangedSlots(partners))
    }

    /// The squares of a row's men, and who walks, turned like this.
    pub fn exchanged(
        &self,
        squares: &[u8; MAX_PIECES],
        lane: PieceSlot,
    ) -> ([u8; MAX_PIECES], PieceSlot) {
        (std::array::from_fn(|slot| 63 - (squares[self.0[slot]] & 63)), self.0[lane])
    }
}

/// Positions of one row that come run by run, to be shown together.
#[derive(Default)]
struct Gathered {
    squares: [u8; MAX_PIECES],
    lanes: u64,
    /// The first index and the step, as long as there is one run.
    run: (u64, u64),
    /// All indices, if there are several.
    indices: ArrayVec<u64, 64>,
}

impl Gathered {
    /// Whether squares come next among those of the same row.
    fn goes_on_with(&self, squares: &[u8; MAX_PIECES], lanes: u64) -> bool {
        let lowest = lanes & lanes.wrapping_neg();
        self.squares == *squares && self.lanes < lowest
    }

    fn add(&mut self, squares: &[u8; MAX_PIECES], lanes: u64, run: (u64, u64)) {
        let indices = |lanes: u64, (index, step): (u64, u64)| {
            (0..u64::from(lanes.count_ones())).map(move |i| index + i * step)
        };
        if self.lanes == 0 {
            (self.squares, self.run) = (*squares, run);
        } else {
            if self.indices.is_empty() {
                self.indices.extend(indices(self.lanes, self.run));
            }
            self.indices.extend(indices(lanes, run));
        }
        self.lanes |= lanes;
    }

    /// Hands the row on and begins another one.
    fn show(&mut self, portion: &Portion, lane: PieceSlot, look: impl FnOnce(&EntryRow<'_>)) {
        if self.lanes != 0 {
            let Portion { turn, en_passant, .. } = *portion;
            let (squares, lanes, indices) = (&self.squares, self.lanes, &self.indices);
            let (index, step) = self.run;
            look(&EntryRow { squares, lane, lanes, turn, en_passant, index, step, indices });
        }
        self.lanes = 0;
        self.indices.clear();
    }
}

/// Whether the positions of a table can be looked at by rows: if its pieces may stand everywhere.
pub fn has_rows(space: &IndexSpace) -> bool {
    // Index types that lose positions, and sizes that overflow, are for reading one by one.
    has_free_pieces(space) && space.check_writable().is_ok()
}

/// Shows every position that has an entry to `look` exactly once, with a `T` for each of several
/// shares of the work, which are returned. None unless [`has_rows`].
pub fn scan<T: Send>(
    space: &IndexSpace,
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Option<Vec<T>> {
    scan_with((space, None), new, look)
}

/// The same by the rows of a man of a kind, if one is named.
pub(super) fn scan_with<T: Send>(
    (space, walker): (&IndexSpace, Option<(Color, Role)>),
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Option<Vec<T>> {
    let (lane, showing) = way(walker);
    with_free_rows(space, lane, |rows, orientation| {
        let sides = rows.structures().into_iter().flat_map(|structure| rows.sides(structure));
        let portions: Vec<Portion> = sides.flat_map(|side| rows.shares(side)).collect();
        let walk = |portion: &Portion, visit: &mut Visit<'_>| {
            walk_free(rows, orientation, portion, visit);
        };
        show_all(portions, (walk, showing), new, look)
    })
}

/// The same by the rows that values have: the last mover of the layout walks, and all squares of it
/// come at once.
pub fn scan_by_values<T: Send>(
    space: &IndexSpace,
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Option<Vec<T>> {
    with_free_rows(space, Lane::OfValues, |rows, orientation| {
        let sides = rows.structures().into_iter().flat_map(|structure| rows.sides(structure));
        let portions: Vec<Portion> = sides.flat_map(|side| rows.cut(side, FEW_PAIRS)).collect();
        let walk = |portion: &Portion, visit: &mut Visit<'_>| {
            walk_free(rows, orientation, portion, visit);
        };
        show_all(portions, (walk, Showing::Rows), new, look)
    })
}

/// Which man walks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// The one whose squares lie closest together in the table.
    Nearest,
    /// The one whose squares lie side by side among the values.
    OfValues,
    /// The last one of a kind.
    Of(Color, Role),
}

/// What is shown at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Showing {
    /// Positions whose indices grow by a constant step, and such as come one by one.
    Runs,
    /// All positions of a row.
    Rows,
}

/// The same in an order that no number of threads changes, by the rows of a man of a kind, if one
/// is named: `hand` gets what every share came to, one after the other, and says whether the scan
/// goes on. A share has some millions of positions at most where the kings alone have not more.
pub(super) fn scan_in_order<T: Send>(
    (space, walker): (&IndexSpace, Option<(Color, Role)>),
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
    hand: &mut dyn FnMut(T) -> ControlFlow<()>,
) -> Option<ControlFlow<()>> {
    let (lane, showing) = way(walker);
    with_free_rows(space, lane, |rows, orientation| {
        let (portions, together) = shares_in_order(rows);
        let walk = |portion: &Portion, visit: &mut Visit<'_>| {
            walk_free(rows, orientation, portion, visit);
        };
        for portions in portions.chunks(together) {
            let shares = portions.par_iter().map(|portion| {
                let mut share = new();
                show(portion, (&walk, showing), &mut share, &look);
                share
            });
            for share in shares.collect::<Vec<T>>() {
                hand(share)?;
            }
        }
        ControlFlow::Continue(())
    })
}

/// Which man walks, and how: one that is named with all its squares at once.
fn way(walker: Option<(Color, Role)>) -> (Lane, Showing) {
    match walker {
        Some((color, role)) => (Lane::Of(color, role), Showing::Rows),
        None => (Lane::Nearest, Showing::Runs),
    }
}

/// The portions of [`scan_in_order`], and how many of them are looked at before they are handed
/// over: so many that all threads have work, and so few that what they come to fits into memory.
fn shares_in_order(rows: &Free<'_>) -> (Vec<Portion>, usize) {
    let inner = 6 * (rows.layout.movers().len().saturating_sub(2)).min(8);
    let pairs = (SHARE >> inner).clamp(LEAST_PAIRS, KINGS);
    let sides = rows.structures().into_iter().flat_map(|structure| rows.sides(structure));
    let portions = sides.flat_map(|side| rows.cut(side, pairs)).collect();

    let threads = rayon::current_num_threads();
    let together = (2 * threads * SHARE / (pairs << inner)).clamp(4 * threads, 4096 * threads);
    (portions, together)
}

/// The most positions that a share of [`scan_in_order`] has, where it has more than
/// [`LEAST_PAIRS`] of kings.
const SHARE: usize = 1 << 22;

/// The least pairs of kings of such a share: neighbouring pairs have neighbouring entries.
const LEAST_PAIRS: usize = 16;

/// The pairs of kings of a share of [`scan_by_values`]: so few that the values of one side of all
/// of them fit into a cache of the second level.
const FEW_PAIRS: usize = 4;

/// Calls `work` with the rows of a table of which [`has_rows`] is true.
fn with_free_rows<R>(
    space: &IndexSpace,
    lane: Lane,
    work: impl FnOnce(&Free<'_>, Orientation) -> R,
) -> Option<R> {
    if !has_rows(space) {
        return None;
    }
    let table = Material::from_men(space.pieces().iter().map(|p| (p.color, p.role)));
    let (material, swap) = table.normalized();
    let layout = Layout::new(&material);
    let Ok(Rows::Free(mut rows)) = Rows::with_layout(space, &material, &layout) else {
        return None;
    };
    let orientation = Orientation { swap, mirror: false };
    match lane {
        Lane::Nearest => rows.walk_nearest(orientation),
        Lane::Of(color, role) => rows.walk_kind(orientation, (color, role)),
        Lane::OfValues => {}
    }
    Some(work(&rows, orientation))
}

/// Visits every position of a portion once.
fn walk_free(rows: &Free<'_>, orientation: Orientation, portion: &Portion, visit: &mut Visit<'_>) {
    let visits = Visits { orientation, once: true, promoted: 0 };
    rows.walk_placed(portion, visits, |run, squares, lane| visit(run, squares, lane));
}

/// The same for tables of which [`has_rows`] says no, under the rules of normal chess. Positions in
/// which no man of a kind that [`EntryRow`] knows walks are left out, and where the squares of like
/// men overlap in part, some may be shown twice. None if the table has no symmetry to go by, or
/// loses positions.
pub fn scan_restricted<T: Send>(
    space: &IndexSpace,
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Option<Vec<T>> {
    let is_plain = space.symmetry() == 1 && space.variant() == Variant::Normal;
    if !is_plain || has_free_pieces(space) || space.check_writable().is_err() {
        return None;
    }
    let material = Material::from_men(space.pieces().iter().map(|p| (p.color, p.role)));
    let layout = layout_of(space);
    let Ok(Rows::Restricted(mut rows)) = Rows::with_layout(space, &material, &layout) else {
        return None;
    };
    rows.walk_widest();
    let structures = rows.structures();
    // Few structures are few portions; many of them are shared as they are.
    let cut = structures.len() < 4 * rayon::current_num_threads();
    let jobs_of =
        |structure| if cut { rows.small_portions(structure) } else { rows.portions(structure) };
    let portions: Vec<Portion> = structures.into_iter().flat_map(jobs_of).collect();
    let walk = |portion: &Portion, visit: &mut Visit<'_>| {
        rows.walk_placed(portion, true, visit);
    };
    Some(show_all(portions, (walk, Showing::Runs), new, look))
}

/// Shows the positions that `walk` visits in each of the portions.
fn show_all<T: Send>(
    portions: Vec<Portion>,
    (walk, showing): (impl Fn(&Portion, &mut Visit<'_>) + Sync + Send, Showing),
    new: impl Fn() -> T + Sync + Send,
    look: impl Fn(&mut T, &EntryRow<'_>) + Sync + Send,
) -> Vec<T> {
    let shares = portions.into_par_iter().fold(&new, |mut share, portion| {
        show(&portion, (&walk, showing), &mut share, &look);
        share
    });
    shares.collect()
}

/// Shows the positions of one portion.
fn show<T>(
    portion: &Portion,
    (walk, showing): (&impl Fn(&Portion, &mut Visit<'_>), Showing),
    share: &mut T,
    look: &impl Fn(&mut T, &EntryRow<'_>),
) {
    let mut gathered = Gathered::default();
    let mut walker = 0;
    walk(portion, &mut |run, squares, lane| {
        if lane >= MAX_PIECES {
            return;
        }
        let Portion { turn, en_passant, .. } = *portion;
        let (lanes, index, step) = (run.lanes, run.index, run.step);
        let single = showing == Showing::Rows || lanes.is_power_of_two();
        if !single || !gathered.goes_on_with(squares, lanes) {
            gathered.show(portion, lane, |row| look(share, row));
        }
        if single {
            walker = lane;
            gathered.add(squares, lanes, (index, step));
            return;
        }
        let indices = &[];
        look(share, &EntryRow { squares, lane, lanes, turn, en_passant, index, step, indices });
    });
    gathered.show(portion, walker, |row| look(share, row));
}
