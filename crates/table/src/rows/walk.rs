//! The positions of a table in the order of the values' rows, with their indices.

use std::collections::BTreeMap;

use hoffman_board::{Color, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Symmetry};
use hoffman_space::{Layout, Orientation, PawnStructure, SliceValues, TableValues};

use super::restricted::Restricted;
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
    pawns: BTreeMap<PawnStructure, [u8; MAX_PIECES]>,
    /// The canonical placements of the table's kings.
    pub(super) canonical: Vec<(u8, u8)>,
    /// The images of the squares by symmetry.
    images: [[usize; 64]; 8],
    /// See [`Rows::watching`].
    stop: Stop,
}

/// Positions of one row that differ in the square of the last man: with him on the `i`th square of `lanes`, the
/// index is `index + i * step`, and the value stands at `row + image[square]`.
pub(super) struct Run<'a> {
    pub(super) index: u64,
    pub(super) step: u64,
    pub(super) row: usize,
    pub(super) image: &'a [usize; 64],
    pub(super) lanes: u64,
    /// Whether all images are below 64.
    pub(super) in_row: bool,
}

impl Run<'_> {
    /// How many positions there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.lanes.count_ones() as usize
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

/// A set of positions with the same pawns, side to move and en passant right, as the table sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) structure: PawnStructure,
    pub(super) turn: Color,
    pub(super) en_passant: Option<u8>,
    /// The square of the first man, to share the work where no kings lead.
    pub(super) first: Option<u8>,
    /// The first of the canonical pairs of kings that are asked for and the one behind the last, where kings
    /// lead; all of them if none.
    pub(super) kings: Option<(usize, usize)>,
    /// Whether the board is turned upside down on the way to the values, colours as they are: without pawns.
    pub(super) flip: bool,
}

impl Job {
    /// All positions of a side to move and en passant square.
    pub(super) fn new(structure: PawnStructure, (turn, en_passant): (Color, Option<u8>)) -> Job {
        Job { structure, turn, en_passant, first: None, kings: None, flip: false }
    }

    /// How the board is turned on the way to the values.
    fn symmetry(&self, orientation: Orientation) -> Symmetry {
        orientation.symmetry().then(Symmetry::new(false, self.flip, false))
    }
}

/// How many pairs of kings a job has at least. Their rows lie far apart among the values and side by side in
/// the table, the squares of the other men the other way round: it takes some of both to use all that comes
/// with a line of the cache and with a page.
pub(super) const KINGS: usize = 64;

/// How many squares of the man who is nearest in the table are taken before another man makes a step, for the
/// same reason.
const TILE: u64 = 16;

/// The squares of the edge of the board.
pub(super) const EDGE: u64 = 0xff81_8181_8181_81ff;

/// The squares on which pawns of a colour are promoted.
pub(super) fn last_rank(color: Color) -> u64 {
    color.fold_wb(0xff << 56, 0xff)
}

impl<'a> Free<'a> {
    fn new(
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
        let find = |swap: bool| {
            let mut taken = [false; MAX_PIECES];
            let movers = layout.movers().iter().map(|m| {
                let color = if swap { m.color.other() } else { m.color };
                let slot = pieces
                    .iter()
                    .enumerate()
                    .position(|(i, p)| !taken[i] && p.color == color && p.role == m.role)
                    .ok_or(RowsError::Material { table, values: *material })?;
                taken[slot] = true;
                Ok(slot)
            });
            movers.collect::<Result<Vec<_>, _>>()
        };
        // Without colour symmetry only one of the two ways can occur.
        let both = [find(false), find(true)];
        let [plain, exchanged] = both;
        let slots = match (plain, exchanged) {
            (Ok(plain), Ok(exchanged)) => [plain, exchanged],
            (Ok(plain), Err(_)) => [plain, Vec::new()],
            (Err(_), Ok(exchanged)) => [Vec::new(), exchanged],
            (Err(e), Err(_)) => return Err(e),
        };
        let canonical = space.king_columns().map_or_else(
            || {
                let pairs = (0..64).flat_map(|w| (0..64).map(move |b| (w, b)));
                let symmetry = space.symmetry();
                pairs.filter(|&(w, b)| !touch(w, b) && is_canonical(symmetry, w, b)).collect()
            },
            <[_]>::to_vec,
        );
        let pawns = pawn_placements(space);
        let images = std::array::from_fn(|g| {
            let symmetry = Symmetry::all().nth(g).unwrap_or_default();
            std::array::from_fn(|s| symmetry.apply_index(s as u8) as usize)
        });
        let lane = layout.movers().len() - 1;
        let stop = Stop::default();
        Ok(Free { space, layout, lane, swapped, slots, pawns, canonical, images, stop })
    }

    /// An error if somebody asked to stop.
    pub(super) fn finished(&self) -> Result<(), RowsError> {
        finished(&self.stop)
    }

    /// Lets the man walk whose squares lie closest together in the table, one without a like man if there is
    /// one: for those who do not look at values, as the places of these are then wrong.
    pub(super) fn walk_nearest(&mut self, orientation: Orientation) {
        let slots = &self.slots[usize::from(orientation.swap)];
        let movers = self.layout.movers();
        let alone = |&mover: &usize| movers.iter().filter(|m| **m == movers[mover]).count() == 1;
        let candidates = (2..movers.len()).filter(alone);
        let nearest = if self.space.index_type().is_combinadic() {
            candidates.min_by_key(|&mover| slots[mover])
        } else {
            candidates.max_by_key(|&mover| slots[mover])
        };
        self.lane = nearest.unwrap_or(self.lane);
    }

    /// All pawn structures of the table.
    pub(super) fn structures(&self) -> Vec<PawnStructure> {
        self.pawns.keys().copied().collect()
    }

    /// Every side and en passant square of a structure that has indices.
    pub(super) fn sides(&self, structure: PawnStructure) -> Vec<Job> {
        sides_of(self.space, structure).map(|side| Job::new(structure, side)).collect()
    }

    /// The sides of a structure cut into jobs of that many pairs of kings each.
    fn jobs(&self, structure: PawnStructure, kings: usize) -> Vec<Job> {
        self.sides(structure).into_iter().flat_map(|side| self.cut(side, kings)).collect()
    }

    /// The jobs of a structure: every side and en passant square that has indices.
    pub(super) fn jobs_of(&self, structure: PawnStructure) -> Vec<Job> {
        let share = self.canonical.len().div_ceil(2 * rayon::current_num_threads());
        self.jobs(structure, share.max(KINGS))
    }

    /// The jobs of a side, of that many pairs of kings each.
    pub(super) fn cut(&self, side: Job, kings: usize) -> Vec<Job> {
        if self.layout.movers().len() == 2 {
            return vec![side];
        }
        let pairs = self.canonical.len();
        let starts = (0..pairs).step_by(kings);
        starts.map(|at| Job { kings: Some((at, pairs.min(at + kings))), ..side }).collect()
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    pub(super) fn orient<'v>(
        &self,
        values: &'v TableValues,
        structure: PawnStructure,
    ) -> Option<(&'v SliceValues, Orientation)> {
        let to_values = Orientation { swap: self.swapped, mirror: false };
        let (slice, to_slice) = values.find(structure.oriented(to_values))?;
        Some((slice, to_values.then(to_slice)))
    }

    /// Where the values of a pair of kings begin, for positions of a job turned that way.
    pub(super) fn pair_place(
        &self,
        pair: usize,
        job: &Job,
        orientation: Orientation,
    ) -> Option<usize> {
        let &(white, black) = self.canonical.get(pair)?;
        let symmetry = job.symmetry(orientation);
        let [white, black] = [white, black].map(|s| symmetry.apply_index(s));
        let kings = if orientation.swap { [black, white] } else { [white, black] };
        self.layout.king_base(kings[0], kings[1]).map(|(base, _)| base)
    }

    /// Visits the positions of a job. Like men are taken in one order only if `once`; with `edge`, one
    /// of these movers (one bit each) must stand where promoted men do.
    #[inline(always)]
    pub(super) fn walk(
        &self,
        job: &Job,
        orientation: Orientation,
        once: bool,
        edge: u32,
        mut visit: impl FnMut(&Run<'_>),
    ) {
        self.walk_placed(job, orientation, once, edge, |run, _, _| visit(run));
    }

    /// The same with the squares of all slots but that of the last man, and the slot of that man.
    pub(super) fn walk_placed(
        &self,
        job: &Job,
        orientation: Orientation,
        once: bool,
        edge: u32,
        mut visit: impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        if self.stop.is_requested() {
            return;
        }
        let squares = self.pawns.get(&job.structure).copied().unwrap_or([0; MAX_PIECES]);
        let mut occupied = job.structure.occupied();
        if let Some(square) = job.en_passant {
            occupied |= empty_squares(square, job.turn);
        }
        let walk = Walk { rows: self, job, orientation, once, edge, occupied };
        if self.layout.movers().len() == 2 {
            walk.bare_kings(squares, &mut visit);
        } else {
            walk.all(squares, &mut visit);
        }
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        self.layout.movers()[a] == self.layout.movers()[b]
    }
}

/// A job being walked.
struct Walk<'w, 'a> {
    rows: &'w Free<'a>,
    job: &'w Job,
    orientation: Orientation,
    once: bool,
    /// See [`Free::walk`].
    edge: u32,
    /// Squares on which no man stands: those of pawns, and of a right to take en passant.
    occupied: u64,
}

/// A placement of both kings: their squares, where their rows begin, and what turns the board there.
struct KingsAt {
    white: u8,
    black: u8,
    base: usize,
    symmetry: Symmetry,
}

/// A placement of the men between the kings and the lane man.
struct Placing {
    /// By slot; those of the kings and of the lane man are put in later.
    squares: [u8; MAX_PIECES],
    /// By dimension.
    digits: Vec<u8>,
    taken: u64,
    on_edge: bool,
}

impl Walk<'_, '_> {
    /// The slots of the kings, White's and Black's.
    fn king_slots(&self) -> [PieceSlot; 2] {
        let slots = &self.rows.slots[usize::from(self.orientation.swap)];
        if self.orientation.swap { [slots[1], slots[0]] } else { [slots[0], slots[1]] }
    }

    /// The black king runs: in the row, or if colours are exchanged from row to row.
    fn bare_kings(
        &self,
        squares: [u8; MAX_PIECES],
        visit: &mut impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        let Walk { rows, job, orientation, occupied, .. } = *self;
        let turn = job.symmetry(orientation);
        let [white_slot, black_slot] = self.king_slots();
        let [fixed, runs] = if orientation.swap { [1, 0] } else { [0, 1] };
        let [fixed, runs] = [fixed, runs].map(|king| rows.layout.stride(king));
        let turned = |s: u8| usize::from(turn.apply_index(s));
        let image = std::array::from_fn(|s| turned(s as u8) * runs);
        let in_row = runs == 1;
        let mut placed = squares;
        let visit = |white: u8, first: u8, len: u8, index: u64, step: u64| {
            let lanes = u64::MAX >> (64 - len) << first;
            let row = turned(white) * fixed;
            placed[white_slot] = white;
            visit(&Run { index, step, row, image: &image, lanes, in_row }, &placed, black_slot);
        };
        rows.space.visit_kings(&squares, job.turn, job.en_passant, occupied, visit);
    }

    /// Goes through the placements of all men but kings and lane man, and in each through those of the kings.
    #[inline(always)]
    fn all(
        &self,
        squares: [u8; MAX_PIECES],
        visit: &mut impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        let rows = self.rows;
        let slots = &rows.slots[usize::from(self.orientation.swap)];
        let kings = self.kings(squares);
        let lane = rows.lane;
        let dims: Vec<usize> =
            (2..rows.layout.movers().len()).filter(|&mover| mover != lane).collect();
        // The man whose squares lie closest together in the table, which is the one of the first slot.
        let near = (0..dims.len()).min_by_key(|&i| slots[dims[i]]).unwrap_or(0);
        let digits = vec![0; dims.len()];
        let mut placing = Placing { squares, digits, taken: 0, on_edge: false };
        for step in 0..1_u64 << (6 * dims.len()) {
            let mut rest = step / TILE;
            for i in (0..dims.len()).rev().filter(|&i| i != near) {
                placing.digits[i] = (rest % 64) as u8;
                rest /= 64;
            }
            if let Some(digit) = placing.digits.get_mut(near) {
                *digit = (rest * TILE + step % TILE) as u8;
            }
            if self.place(&dims, &mut placing) {
                self.lanes(&dims, &kings, &mut placing, visit);
            }
        }
    }

    /// The placements of the kings that pawns leave.
    fn kings(&self, mut squares: [u8; MAX_PIECES]) -> Vec<KingsAt> {
        let Walk { rows, job, orientation, occupied, .. } = *self;
        let slots = &rows.slots[usize::from(orientation.swap)];
        let [white_slot, black_slot] = self.king_slots();
        let turn = job.symmetry(orientation);
        let pairs = job.kings.and_then(|(start, end)| rows.canonical.get(start..end));
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

    /// Where a promoted man stands, seen from the table, if this is one that is to: without pawns the layout's
    /// symmetry takes the last rank to any edge.
    #[inline(always)]
    fn goal(&self, mover: usize) -> u64 {
        if self.edge >> mover & 1 == 0 {
            return 0;
        }
        if self.job.structure.occupied() == 0 {
            return EDGE;
        }
        last_rank(self.orientation.color(self.rows.layout.movers()[mover].color))
    }

    /// Puts the men on the squares of the digits; false if two stand on one, or like men are out of order.
    #[inline(always)]
    fn place(&self, dims: &[usize], placing: &mut Placing) -> bool {
        let slots = &self.rows.slots[usize::from(self.orientation.swap)];
        let mut possible = true;
        placing.taken = self.occupied;
        placing.on_edge = self.edge == 0;
        for (i, &m) in dims.iter().enumerate() {
            let s = placing.digits[i];
            possible &= placing.taken >> s & 1 == 0;
            placing.taken |= 1 << s;
            placing.squares[slots[m]] = s;
            placing.on_edge |= self.goal(m) >> s & 1 != 0;
            if self.once && i > 0 && self.rows.alike(m, m - 1) {
                possible &= placing.digits[i - 1] < s;
            }
        }
        possible
    }

    /// Visits the lanes of all placements of the kings.
    #[inline(always)]
    fn lanes(
        &self,
        dims: &[usize],
        kings: &[KingsAt],
        placing: &mut Placing,
        visit: &mut impl FnMut(&Run<'_>, &[u8; MAX_PIECES], PieceSlot),
    ) {
        let (rows, job, lane) = (self.rows, self.job, self.rows.lane);
        let lane_slot = rows.slots[usize::from(self.orientation.swap)][lane];
        let Placing { squares, digits, taken, on_edge } = placing;
        let mut allowed = !*taken;
        if !*on_edge {
            allowed &= self.goal(lane);
        }
        // Kings are like nobody, so the man before is the one of the third digit before his number.
        let before = lane.checked_sub(3).and_then(|i| digits.get(i));
        if let (true, Some(&last)) = (self.once && rows.alike(lane, lane - 1), before) {
            allowed &= u64::MAX << last;
        }
        if allowed == 0 {
            return;
        }

        let [white_slot, black_slot] = self.king_slots();
        let mut cursor = rows.space.cursor(squares, job.turn, job.en_passant);
        for &KingsAt { white, black, base, symmetry } in kings {
            if *taken & (1 << white | 1 << black) != 0 {
                continue;
            }
            let image = &rows.images[symmetry.index()];
            let mut row = base;
            for (&m, &s) in dims.iter().zip(&*digits) {
                row += image[s as usize & 63] * rows.layout.stride(m);
            }
            cursor.put(white_slot, white);
            cursor.put(black_slot, black);
            squares[white_slot] = white;
            squares[black_slot] = black;
            let lanes = allowed & !(1 << white | 1 << black);
            cursor.visit_lane(lane_slot, lanes, |lanes, index, step| {
                let run = Run { index, step, row, image, lanes, in_row: true };
                visit(&run, squares, lane_slot);
            });
        }
    }
}

/// The pawn structures of a list of pieces, each with a square for every pawn's slot.
pub(super) fn pawn_placements(space: &IndexSpace) -> BTreeMap<PawnStructure, [u8; MAX_PIECES]> {
    fn place(
        pieces: &[ListedPiece],
        slot: PieceSlot,
        structure: PawnStructure,
        squares: &mut [u8; MAX_PIECES],
        all: &mut BTreeMap<PawnStructure, [u8; MAX_PIECES]>,
    ) {
        let Some(piece) = pieces.get(slot) else {
            let passed = |(slot, piece): (usize, &ListedPiece)| {
                piece.blocker.is_some_and(|blocker| {
                    let (own, other) = (squares[slot], squares[blocker]);
                    pieces[blocker].role == Role::Pawn
                        && piece.color.fold_wb(own > other, own < other)
                })
            };
            if !pieces.iter().enumerate().any(passed) {
                all.entry(structure).or_insert(*squares);
            }
            return;
        };
        if piece.role != Role::Pawn {
            place(pieces, slot + 1, structure, squares, all);
            return;
        }
        // Like pawns on the same squares are placed in ascending order.
        let before = (0..slot).rev().find(|&s| {
            let other = &pieces[s];
            (other.color, other.role, other.legal) == (piece.color, piece.role, piece.legal)
        });
        let from = before.map_or(0, |s| u32::from(squares[s]) + 1);
        for square in piece.legal {
            if u32::from(square) < from || structure.occupied() >> u32::from(square) & 1 != 0 {
                continue;
            }
            let mut structure = structure;
            *structure.of_mut(piece.color) |= 1 << u32::from(square);
            squares[slot] = square as u8;
            place(pieces, slot + 1, structure, squares, all);
        }
    }
    let mut all = BTreeMap::new();
    place(space.pieces(), 0, PawnStructure::default(), &mut [0; MAX_PIECES], &mut all);
    all
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

    /// From the moment in which somebody asks to stop [`Rows::walk`] visits nothing more; whoever walks has to
    /// look in the end whether all was visited, see [`Rows::finished`].
    pub(super) fn watching(mut self, stop: &Stop) -> Rows<'a> {
        match &mut self {
            Rows::Free(rows) => rows.stop = stop.clone(),
            Rows::Restricted(rows) => rows.stop = stop.clone(),
        }
        self
    }

    /// An error if somebody asked to stop.
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
    pub(super) fn structures(&self) -> Vec<PawnStructure> {
        match self {
            Rows::Free(rows) => rows.structures(),
            Rows::Restricted(rows) => rows.structures(),
        }
    }

    /// The jobs of a structure: every side and en passant square that has indices.
    pub(super) fn jobs(&self, structure: PawnStructure) -> Vec<Job> {
        match self {
            Rows::Free(rows) => rows.jobs_of(structure),
            Rows::Restricted(rows) => rows.jobs(structure),
        }
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    pub(super) fn orient<'v>(
        &self,
        values: &'v TableValues,
        structure: PawnStructure,
    ) -> Option<(&'v SliceValues, Orientation)> {
        match self {
            Rows::Free(rows) => rows.orient(values, structure),
            Rows::Restricted(_) => {
                let (slice, orientation) = values.find(structure)?;
                Some((slice, orientation))
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

    /// See [`Free::walk`].
    #[inline(always)]
    pub(super) fn walk(
        &self,
        job: &Job,
        orientation: Orientation,
        once: bool,
        edge: u32,
        visit: impl FnMut(&Run<'_>),
    ) {
        match self {
            Rows::Free(rows) => rows.walk(job, orientation, once, edge, visit),
            Rows::Restricted(rows) => rows.walk(job, once, visit),
        }
    }
}

/// An error if somebody asked to stop.
fn finished(stop: &Stop) -> Result<(), RowsError> {
    if stop.is_requested() { Err(RowsError::Stopped) } else { Ok(()) }
}

/// Whether two kings touch.
pub(super) fn touch(a: u8, b: u8) -> bool {
    (a & 7).abs_diff(b & 7) <= 1 && (a >> 3).abs_diff(b >> 3) <= 1
}

/// Whether a pair of kings is the representative of its images.
pub(super) fn is_canonical(ways: u8, white: u8, black: u8) -> bool {
    let square = |s: u8| hoffman_board::Square::new(u32::from(s));
    Symmetry::canonical(ways, square(white), square(black)).is_identity()
}

/// The squares that a pawn of the side not to move may have jumped over: it stands on its fourth rank,
/// and no pawn stands on the two squares behind it.
pub(super) fn en_passant_squares(
    structure: PawnStructure,
    turn: Color,
) -> impl Iterator<Item = u8> {
    let mover = turn.other();
    let fourth = mover.fold_wb(0xff00_0000, 0x00ff_0000_0000_u64);
    let pawns = structure.of(mover) & fourth;
    (0..64_u8).filter(move |&s| pawns >> s & 1 != 0).filter_map(move |s| {
        let passed = mover.fold_wb(s.wrapping_sub(8), s + 8);
        (empty_squares(passed, turn) & structure.occupied() == 0).then_some(passed)
    })
}

/// The sides to move and en passant squares that an index tells apart, none first.
pub(super) fn sides_of(
    space: &IndexSpace,
    structure: PawnStructure,
) -> impl Iterator<Item = (Color, Option<u8>)> {
    let turns =
        [Color::White, Color::Black].into_iter().take(1 + usize::from(space.has_side_bit()));
    turns.flat_map(move |turn| {
        let rights = en_passant_squares(structure, turn).map(Some);
        std::iter::once(None).chain(rights).map(move |right| (turn, right))
    })
}

/// The square jumped over and the one that the pawn came from.
pub(super) fn empty_squares(passed: u8, turn: Color) -> u64 {
    let behind = turn.fold_wb(passed + 8, passed.wrapping_sub(8));
    1 << passed | 1_u64 << (behind & 63)
}
