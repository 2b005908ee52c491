//! Between rows and indices: the entries of a table from the values of its slices, and back.
//!
//! The index types are encodings at the edge. Here every position of a table's index space is visited
//! once, by slices, king pairs and rows, so that neither side is walked at random; along a row the index
//! mostly grows by a constant step.

mod asked;
mod columns;
mod restricted;
mod windowed;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};

use hoffman_board::pieces::default_squares;
use hoffman_board::{
    Bitboard, Color, Format, ListedPiece, MAX_PIECES, Material, PieceSlot, Role, Symmetry, Value,
    Variant,
};
use hoffman_space::{
    Code, Codes, Counts, EnPassantValues, KingPlacement, Layout, Mover, NormalForm, Orientation,
    PawnStructure, SliceValues, TableValues,
};
use rayon::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::entries::{EntryCodec, EntryValue, RawEntry};
use crate::index::IndexSpace;

/// Why values and an index space do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// The men of the table are not those of the values.
    #[error("the table is for {table}, the values are those of {values}")]
    Material {
        /// The men of the index space.
        table: Material,
        /// The ending of the values.
        values: Material,
    },
    /// A slice that the table needs is not there.
    #[error("the values of {0} are incomplete")]
    Incomplete(Material),
    /// A symmetry that the values do not have, because of prunes or futurebases that have not.
    #[error(
        "positions that share an entry have different values; use symmetry 1, or give prunes and futurebases \
         the same symmetry"
    )]
    Asymmetric,
    /// An entry that is no value of its position, or a position without a value.
    #[error("an entry of the table is not the value of any position")]
    Entry,
    /// The number of positions does not fit this machine.
    #[error("a table of {0} entries does not fit into memory")]
    TooLarge(u64),
}

/// The numbers of a table's header, counted over indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// The size of the index space.
    pub indices: u64,
    /// Indices with a placement in which the player not to move is in check.
    pub pntm_mated: u64,
    /// All other indices with a placement.
    pub legal: u64,
    /// Positions won by White (without a side-to-move bit: by the player to move).
    pub white_wins: u64,
    /// Positions won by Black.
    pub black_wins: u64,
    /// The largest stored distance above 1, or 0.
    pub max_stored: i32,
    /// The smallest stored distance, or 0.
    pub min_stored: i32,
    /// Moves and stalemates, if the slices were counted.
    pub moves: Option<Counts>,
}

impl IndexCounts {
    /// Counts `n` indices with a value.
    fn add(&mut self, value: Value, turn: Color, n: u64) {
        // In suicide chess the count of illegal positions is that of those won for want of a move.
        if matches!(value, Value::Illegal | Value::Win(0)) {
            self.pntm_mated += n;
            return;
        }
        self.legal += n;
        match value.winner(turn) {
            Some(Color::White) => self.white_wins += n,
            Some(Color::Black) => self.black_wins += n,
            None => return,
        }
        self.max_stored = self.max_stored.max(value.to_stored());
        self.min_stored = self.min_stored.min(value.to_stored());
    }
}

/// The stored distances of a table, one number an index.
#[derive(Debug)]
pub enum Distances {
    /// All between -128 and 127.
    Narrow(Vec<i8>),
    /// Wider ones.
    Wide(Vec<i16>),
}

impl Distances {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Distances::Narrow(d) => d.len(),
            Distances::Wide(d) => d.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub use asked::{Asked, ask_all};
use restricted::Restricted;
pub use windowed::{DecodeError, ReadEntries, StoredDistances, decode_in, encode_in};

/// An index space and the layout of its values, brought together.
enum Rows<'a> {
    /// Free pieces under the rules of normal chess, perhaps with restricted pawns.
    Free(Box<Free<'a>>),
    /// Everything else.
    Restricted(Box<Restricted<'a>>),
}

/// The index space of a table whose pieces may stand everywhere.
struct Free<'a> {
    space: &'a IndexSpace,
    layout: &'a Layout,
    /// Whether the ending's colours are exchanged against the table's.
    swapped: bool,
    /// `slots[swap][mover]`: the slot of a mover, when colours are (not) exchanged on the way.
    slots: [Vec<PieceSlot>; 2],
    /// The pawn structures, with the squares of the pawns' slots.
    pawns: BTreeMap<PawnStructure, [u8; MAX_PIECES]>,
    /// The canonical placements of the table's kings.
    canonical: Vec<(u8, u8)>,
    /// The images of the squares by symmetry.
    images: [[usize; 64]; 8],
}

/// Neighbouring elements of something longer: those from `start` on.
struct Part<'a, T> {
    start: usize,
    elements: &'a [T],
}

impl<T> Clone for Part<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Part<'_, T> {}

impl<'a, T> Part<'a, T> {
    fn whole(elements: &'a [T]) -> Part<'a, T> {
        Part { start: 0, elements }
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Option<&'a T> {
        self.elements.get(at.wrapping_sub(self.start))
    }
}

/// Which values of a table are wanted, in the colours of the ending with its stronger side White.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The sides to move, White first.
    pub sides: [bool; 2],
    /// If not empty: only positions in which one of these men stands on his last rank, where promoted men do
    /// (without pawns: on the edge of the board, as the rank may be turned).
    pub on_edge: Vec<(Color, Role)>,
    /// If given: only positions with these pawns, in the colours of the table.
    pub structures: Option<Arc<BTreeSet<PawnStructure>>>,
    /// Whether mirror images may have different values, as far as the table does not give them the same index.
    pub apart: bool,
}

impl Wanted {
    /// All values.
    pub fn all() -> Wanted {
        Wanted { sides: [true; 2], ..Wanted::default() }
    }

    /// Whether everything that `other` asks for is asked for.
    pub fn covers(&self, other: &Wanted) -> bool {
        let structures = match (&self.structures, &other.structures) {
            (None, _) => true,
            (Some(own), Some(theirs)) => theirs.is_subset(own),
            (Some(_), None) => false,
        };
        let sides = (0..2).all(|i| self.sides[i] || !other.sides[i]);
        let contained =
            !other.on_edge.is_empty() && other.on_edge.iter().all(|man| self.on_edge.contains(man));
        let images = self.apart || !other.apart;
        structures && sides && images && (self.on_edge.is_empty() || contained)
    }

    /// Asks for what `other` asks for, too.
    pub fn extend(&mut self, other: &Wanted) {
        let fresh = self.sides == [false; 2];
        self.structures = match (self.structures.take(), &other.structures) {
            (None, theirs) if fresh => theirs.clone(),
            (Some(own), Some(theirs)) => Some(Arc::new(own.union(theirs).copied().collect())),
            _ => None,
        };
        if fresh || !self.on_edge.is_empty() && !other.on_edge.is_empty() {
            for &man in &other.on_edge {
                if !self.on_edge.contains(&man) {
                    self.on_edge.push(man);
                }
            }
        } else {
            self.on_edge.clear();
        }
        self.sides = [self.sides[0] | other.sides[0], self.sides[1] | other.sides[1]];
        self.apart |= other.apart;
    }
}

/// The squares of the edge of the board.
const EDGE: u64 = 0xff81_8181_8181_81ff;

/// Positions of one row that differ in the square of the last man: with him on the `i`th square of `lanes`, the
/// index is `index + i * step`, and the value stands at `row + image[square]`.
struct Run<'a> {
    index: u64,
    step: u64,
    row: usize,
    image: &'a [usize; 64],
    lanes: u64,
}

impl Run<'_> {
    /// How many positions there are.
    #[inline(always)]
    fn len(&self) -> usize {
        self.lanes.count_ones() as usize
    }

    /// The place of every position in its row.
    #[inline(always)]
    fn squares(&self) -> impl Iterator<Item = usize> {
        let (image, mut rest) = (self.image, self.lanes);
        std::iter::from_fn(move || {
            let square = rest.trailing_zeros();
            let there = rest != 0;
            rest &= rest.wrapping_sub(1);
            there.then(|| image[square as usize & 63])
        })
    }

    /// Index and place of every position.
    #[inline(always)]
    fn positions(&self) -> impl Iterator<Item = (usize, usize)> {
        self.squares()
            .enumerate()
            .map(|(i, s)| ((self.index + i as u64 * self.step) as usize, self.row + s))
    }
}

/// A set of positions with the same pawns, side to move and en passant right, as the table sees them.
#[derive(Clone, Copy, Debug)]
struct Job {
    structure: PawnStructure,
    turn: Color,
    en_passant: Option<u8>,
    /// The square of the first man, to share the work where no kings lead.
    first: Option<u8>,
    /// The first of the canonical pairs of kings that are asked for and the one behind the last, where kings
    /// lead; all of them if none.
    kings: Option<(usize, usize)>,
    /// Whether the board is turned upside down on the way to the values, colours as they are: without pawns.
    flip: bool,
}

impl Job {
    /// How the board is turned on the way to the values.
    fn symmetry(&self, orientation: Orientation) -> Symmetry {
        orientation.symmetry().then(Symmetry::new(false, self.flip, false))
    }
}

/// How many pairs of kings a job has at least. Their rows lie far apart among the values and side by side in
/// the table, the squares of the other men the other way round: it takes some of both to use all that comes
/// with a line of the cache and with a page.
const KINGS: usize = 64;

/// How many squares of the man who is nearest in the table are taken before another man makes a step, for the
/// same reason.
const TILE: u64 = 16;

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
        Ok(Free { space, layout, swapped, slots, pawns, canonical, images })
    }

    /// All pawn structures of the table.
    fn structures(&self) -> Vec<PawnStructure> {
        self.pawns.keys().copied().collect()
    }

    /// Every side and en passant square of a structure that has indices.
    fn sides(&self, structure: PawnStructure) -> Vec<Job> {
        let mut sides = Vec::new();
        for turn in [Color::White, Color::Black] {
            if turn == Color::Black && !self.space.has_side_bit() {
                continue;
            }
            let rights = en_passant_squares(structure, turn).map(Some);
            let all = std::iter::once(None).chain(rights);
            sides.extend(all.map(|en_passant| Job {
                structure,
                turn,
                en_passant,
                first: None,
                kings: None,
                flip: false,
            }));
        }
        sides
    }

    /// The sides of a structure cut into jobs of that many pairs of kings each.
    fn jobs(&self, structure: PawnStructure, kings: usize) -> Vec<Job> {
        self.sides(structure).into_iter().flat_map(|side| self.cut(side, kings)).collect()
    }

    /// The jobs of a side, of that many pairs of kings each.
    fn cut(&self, side: Job, kings: usize) -> Vec<Job> {
        if self.layout.movers().len() == 2 {
            return vec![side];
        }
        let pairs = self.canonical.len();
        let starts = (0..pairs).step_by(kings);
        starts.map(|at| Job { kings: Some((at, pairs.min(at + kings))), ..side }).collect()
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    fn orient<'v>(
        &self,
        values: &'v TableValues,
        structure: PawnStructure,
    ) -> Option<(&'v SliceValues, Orientation)> {
        let to_values = Orientation { swap: self.swapped, mirror: false };
        let (slice, to_slice) = values.find(structure.oriented(to_values))?;
        Some((slice, to_values.then(to_slice)))
    }

    /// Where the values of a pair of kings begin, for positions of a job turned that way.
    fn pair_place(&self, pair: usize, job: &Job, orientation: Orientation) -> Option<usize> {
        let &(white, black) = self.canonical.get(pair)?;
        let symmetry = job.symmetry(orientation);
        let [white, black] = [white, black].map(|s| symmetry.apply_index(s));
        let kings = if orientation.swap { [black, white] } else { [white, black] };
        self.layout.king_base(kings[0], kings[1]).map(|(base, _)| base)
    }

    /// Visits the positions of a job. Like men are taken in one order only if `once`; with `edge`, one
    /// of these movers (one bit each) must stand where promoted men do.
    fn walk(
        &self,
        job: &Job,
        orientation: Orientation,
        once: bool,
        edge: u32,
        mut visit: impl FnMut(&Run<'_>),
    ) {
        let slots = &self.slots[usize::from(orientation.swap)];
        let mut squares = [0_u8; MAX_PIECES];
        let mut occupied = job.structure.occupied();
        if let Some(placed) = self.pawns.get(&job.structure) {
            squares = *placed;
        }
        if let Some(square) = job.en_passant {
            occupied |= empty_squares(square, job.turn);
        }
        let movers = self.layout.movers().len();
        let turn = job.symmetry(orientation);
        // Where promoted men stand, seen from the table: without pawns the layout's symmetry takes the last
        // rank to any edge.
        let goal = |mover: usize| {
            let white = self.layout.movers()[mover].color == Color::White;
            match (job.structure.occupied(), white != orientation.swap) {
                _ if edge >> mover & 1 == 0 => 0,
                (0, _) => EDGE,
                (_, true) => 0xff << 56,
                (_, false) => 0xff,
            }
        };
        // The kings of the table that become the layout's movers 0 and 1.
        let king_slots = [slots[0], slots[1]];
        let (white_slot, black_slot) =
            if orientation.swap { (slots[1], slots[0]) } else { (slots[0], slots[1]) };
        if movers == 2 {
            let turn_square = |s: u8| turn.apply_index(s);
            let visit = |w: u8, first: u8, len: u8, index: u64, step: u64| {
                for i in 0..len {
                    let kings = [turn_square(w), turn_square(first + i)];
                    let [first, second] =
                        if orientation.swap { [kings[1], kings[0]] } else { kings };
                    if let Some((row, _)) = self.layout.king_base(first, second) {
                        let index = index + u64::from(i) * step;
                        visit(&Run { index, step: 0, row, image: &[0; 64], lanes: 1 });
                    }
                }
            };
            self.space.visit_kings(&squares, job.turn, job.en_passant, occupied, visit);
            return;
        }
        let mut kings = Vec::new();
        let pairs = job.kings.and_then(|(start, end)| self.canonical.get(start..end));
        for &(white, black) in pairs.unwrap_or(&self.canonical) {
            if occupied & (1 << white | 1 << black) != 0 {
                continue;
            }
            squares[white_slot] = white;
            squares[black_slot] = black;
            let [first, second] = king_slots.map(|s| turn.apply_index(squares[s]));
            if let Some((base, symmetry)) = self.layout.king_base(first, second) {
                kings.push((white, black, base, turn.then(symmetry)));
            }
        }
        let inner: Vec<usize> = (2..movers).collect();
        let Some((&lane, dims)) = inner.split_last() else { return };
        // The man whose squares lie closest together in the table, which is the one of the first slot.
        let near = (0..dims.len()).min_by_key(|&i| slots[dims[i]]).unwrap_or(0);
        let mut digits = vec![0_u8; dims.len()];
        for step in 0..1_u64 << (6 * dims.len()) {
            let mut rest = step / TILE;
            for i in (0..dims.len()).rev().filter(|&i| i != near) {
                digits[i] = (rest % 64) as u8;
                rest /= 64;
            }
            if let Some(digit) = digits.get_mut(near) {
                *digit = (rest * TILE + step % TILE) as u8;
            }
            let mut taken = occupied;
            let mut possible = true;
            let mut on_edge = edge == 0;
            for (i, (&m, &s)) in dims.iter().zip(&digits).enumerate() {
                possible &= taken >> s & 1 == 0;
                taken |= 1 << s;
                squares[slots[m]] = s;
                on_edge |= goal(m) >> s & 1 != 0;
                if once && i > 0 && self.alike(m, m - 1) {
                    possible &= digits[i - 1] < s;
                }
            }
            if possible {
                let mut allowed = !taken;
                if !on_edge {
                    allowed &= goal(lane);
                }
                if let (true, Some(&last)) = (once && self.alike(lane, lane - 1), digits.last()) {
                    allowed &= u64::MAX << last;
                }
                let mut cursor = self.space.cursor(&squares, job.turn, job.en_passant);
                for &(white, black, base, symmetry) in &kings {
                    if taken & (1 << white | 1 << black) != 0 || allowed == 0 {
                        continue;
                    }
                    let image = &self.images[symmetry.index()];
                    let mut row = base;
                    for (&m, &s) in dims.iter().zip(&digits) {
                        row += image[s as usize & 63] * self.layout.stride(m);
                    }
                    cursor.put(white_slot, white);
                    cursor.put(black_slot, black);
                    let lanes = allowed & !(1 << white | 1 << black);
                    cursor.visit_lane(slots[lane], lanes, |lanes, index, step| {
                        visit(&Run { index, step, row, image, lanes });
                    });
                }
            }
        }
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        self.layout.movers()[a] == self.layout.movers()[b]
    }
}

/// The pawn structures of a list of pieces, each with a square for every pawn's slot.
fn pawn_placements(space: &IndexSpace) -> BTreeMap<PawnStructure, [u8; MAX_PIECES]> {
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
    fn new(space: &'a IndexSpace, values: &'a TableValues) -> Result<Rows<'a>, RowsError> {
        Rows::with_layout(space, &values.material, &values.layout)
    }

    fn with_layout(
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

    fn layout(&self) -> &'a Layout {
        match self {
            Rows::Free(rows) => rows.layout,
            Rows::Restricted(rows) => rows.layout,
        }
    }

    /// All pawn structures of the table.
    fn structures(&self) -> Vec<PawnStructure> {
        match self {
            Rows::Free(rows) => rows.structures(),
            Rows::Restricted(rows) => rows.structures(),
        }
    }

    /// The jobs of a structure: every side and en passant square that has indices.
    fn jobs(&self, structure: PawnStructure) -> Vec<Job> {
        match self {
            Rows::Free(rows) => {
                let share = rows.canonical.len().div_ceil(2 * rayon::current_num_threads());
                rows.jobs(structure, share.max(KINGS))
            }
            Rows::Restricted(rows) => rows.jobs(structure),
        }
    }

    /// Where a structure's values are, and the way from a position of the table to them.
    fn orient<'v>(
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

    /// See [`Free::walk`].
    #[inline(always)]
    fn walk(
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

/// Whether all pieces but pawns may stand everywhere, under the rules of normal chess, and the pawns are
/// no structures of their own.
pub fn has_free_pieces(space: &IndexSpace) -> bool {
    let pieces = space.pieces();
    let closed = frozen_squares(space);
    // The square of a man that cannot move is closed to all others, which restricts nobody.
    let free = |p: &ListedPiece| p.legal | closed == default_squares(p.role);
    space.variant() == Variant::Normal
        && space.pawn_structures().is_none()
        && pieces.iter().all(|p| p.role == Role::Pawn || free(p))
}

/// The squares of men that cannot move.
fn frozen_squares(space: &IndexSpace) -> Bitboard {
    let legal = space.pieces().iter().map(|p| p.legal);
    legal.filter(|legal| legal.count() == 1).fold(Bitboard::EMPTY, |all, legal| all | legal)
}

/// The arrangement in rows of the values that a table has indices for, in the table's own colours.
pub fn layout_of(space: &IndexSpace) -> Layout {
    let pieces = space.pieces().iter().filter(|p| p.role != Role::Pawn);
    // The squares of men that cannot move are occupied anyway; leaving them in keeps free pieces free.
    let closed = |p: &ListedPiece| {
        let others = space.pieces().iter().filter(|o| (o.color, o.role) != (p.color, p.role));
        let frozen = others.filter(|o| o.legal.count() == 1);
        frozen.fold(0, |all, o| all | o.legal.0)
    };
    let movers = pieces.map(|p| Mover {
        color: p.color,
        role: p.role,
        squares: if p.legal.0 | closed(p) == u64::MAX { u64::MAX } else { p.legal.0 },
    });
    let movers: Vec<Mover> = movers.collect();
    let pawns = space.pieces().iter().any(|p| p.role == Role::Pawn);
    Layout::restricted(&movers, pawns, space.variant())
}

/// The pawn structures of a table, in its own colours.
pub fn structures_of(space: &IndexSpace) -> Vec<PawnStructure> {
    match space.pawn_structures() {
        Some(list) => {
            let plain = list.iter().map(|s| PawnStructure { white: s.white.0, black: s.black.0 });
            let all: BTreeSet<PawnStructure> = plain.collect();
            all.into_iter().collect()
        }
        None => pawn_placements(space).into_keys().collect(),
    }
}

/// Whether two kings touch.
fn touch(a: u8, b: u8) -> bool {
    (a & 7).abs_diff(b & 7) <= 1 && (a >> 3).abs_diff(b >> 3) <= 1
}

/// Whether a pair of kings is the representative of its images.
fn is_canonical(ways: u8, white: u8, black: u8) -> bool {
    let square = |s: u8| hoffman_board::Square::new(u32::from(s));
    Symmetry::canonical(ways, square(white), square(black)).is_identity()
}

/// The squares that a pawn of the side not to move may have jumped over: it stands on its fourth rank,
/// and no pawn stands on the two squares behind it.
fn en_passant_squares(structure: PawnStructure, turn: Color) -> impl Iterator<Item = u8> {
    let mover = turn.other();
    let fourth = mover.fold_wb(0xff00_0000, 0x00ff_0000_0000_u64);
    let pawns = structure.of(mover) & fourth;
    (0..64_u8).filter(move |&s| pawns >> s & 1 != 0).filter_map(move |s| {
        let passed = mover.fold_wb(s.wrapping_sub(8), s + 8);
        (empty_squares(passed, turn) & structure.occupied() == 0).then_some(passed)
    })
}

/// The square jumped over and the one that the pawn came from.
fn empty_squares(passed: u8, turn: Color) -> u64 {
    let behind = turn.fold_wb(passed + 8, passed.wrapping_sub(8));
    1 << passed | 1_u64 << (behind & 63)
}

/// The codes of a job's positions.
fn codes_of<'v>(job: &Job, slice: &'v SliceValues, orientation: Orientation) -> &'v Codes {
    let plain = &slice.codes[orientation.color(job.turn) as usize ^ 1];
    let Some(square) = job.en_passant else { return plain };
    let there = orientation.symmetry().apply_index(square);
    slice.en_passant.iter().find(|e| e.square == there).map_or(plain, |e| &e.codes)
}

/// A number that many threads may write to.
trait Shared: Sync + Send {
    fn put(&self, number: i16);
}

impl Shared for AtomicU8 {
    #[inline(always)]
    fn put(&self, number: i16) {
        self.store(number as u8, Ordering::Relaxed);
    }
}

impl Shared for AtomicU16 {
    #[inline(always)]
    fn put(&self, number: i16) {
        self.store(number as u16, Ordering::Relaxed);
    }
}

/// The stored numbers of all indices of a table in a format, and what is counted on the way.
///
/// # Errors
///
/// The table is for other men, or needs slices that are not solved.
pub fn encode(
    space: &IndexSpace,
    values: &TableValues,
    format: Format,
) -> Result<(Distances, IndexCounts), RowsError> {
    let rows = Rows::new(space, values)?;
    let size = usize::try_from(space.size()).map_err(|_| RowsError::TooLarge(space.size()))?;
    let structures = rows.structures();
    let mut deepest = 0;
    for &structure in &structures {
        let (slice, _) =
            rows.orient(values, structure).ok_or(RowsError::Incomplete(values.material))?;
        deepest = deepest.max(slice.max_moves);
    }
    let codec = raw_codec(space, format)?;
    let empty = codec.undecodable().0;
    let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
    // Distances can be counted where they are stored; a histogram of values costs a step each.
    let stored = format.has_distance() || shared;
    let (distances, mut counts) = if deepest < 127 {
        let mut narrow = vec![empty as i8; size];
        let entries = as_shared::<_, AtomicU8>(&mut narrow);
        let counts = fill::<u8, _>(&rows, values, &structures, entries, codec, stored);
        (Distances::Narrow(narrow), counts)
    } else {
        let mut wide = vec![empty as i16; size];
        let entries = as_shared::<_, AtomicU16>(&mut wide);
        let counts = fill::<u16, _>(&rows, values, &structures, entries, codec, stored);
        (Distances::Wide(wide), counts)
    };
    if stored && !shared {
        match &distances {
            Distances::Narrow(d) => count_stored(d, space.has_side_bit(), &mut counts),
            Distances::Wide(d) => count_stored(d, space.has_side_bit(), &mut counts),
        }
    }
    if shared {
        counts = recount(space, values, &distances, codec)?;
    }
    counts.indices = space.size();
    counts.moves = match &rows {
        Rows::Free(rows) => moves(rows, values, &structures),
        Rows::Restricted(rows) => rows.moves(values, &structures),
    };
    Ok((distances, counts))
}

/// The codec that stores every distance of a format as it is.
fn raw_codec(space: &IndexSpace, format: Format) -> Result<EntryCodec, RowsError> {
    let bits = match format {
        Format::Basic => 2,
        Format::Flag(_) => 1,
        Format::Dtm(_) | Format::Dtc(_) => 32,
    };
    EntryCodec::new(format, bits, space.variant()).map_err(|_| RowsError::Entry)
}

/// Numbers that many threads may write to, in place of numbers of the same width. Memory that is zero is
/// not touched.
fn as_shared<N, S>(numbers: &mut [N]) -> &[S]
where
    N: FromBytes + IntoBytes + Immutable,
    S: FromBytes + IntoBytes + KnownLayout,
{
    // Widths are the same, so that this cannot fail.
    <[S]>::mut_from_bytes(numbers.as_mut_bytes()).unwrap_or_default()
}

/// Counts a table in which several placements share an index, and checks that they have the same value.
fn recount(
    space: &IndexSpace,
    values: &TableValues,
    distances: &Distances,
    codec: EntryCodec,
) -> Result<IndexCounts, RowsError> {
    let rows = Rows::new(space, values)?;
    let entry = |index: usize| match distances {
        Distances::Narrow(d) => d.get(index).map(|&n| i32::from(n)),
        Distances::Wide(d) => d.get(index).map(|&n| i32::from(n)),
    };
    let mut counts = IndexCounts::default();
    let mut seen = vec![false; distances.len()];
    let mut differ = false;
    for structure in rows.structures() {
        let (slice, orientation) =
            rows.orient(values, structure).ok_or(RowsError::Incomplete(values.material))?;
        for job in rows.jobs(structure) {
            let codes = codes_of(&job, slice, orientation);
            rows.walk(&job, orientation, true, 0, |run| {
                for (index, offset) in run.positions() {
                    let value = codes.value(offset);
                    differ |= entry(index) != Some(codec.store(value, job.turn).0);
                    if !std::mem::replace(&mut seen[index], true) {
                        counts.add(value, job.turn, 1);
                    }
                }
            });
        }
    }
    if differ { Err(RowsError::Asymmetric) } else { Ok(counts) }
}

/// Neighbouring positions often have the same value; counting them in turns in several histograms keeps
/// one increment from waiting for the other.
const HISTOGRAMS: usize = 4;

/// Histograms of codes, one behind the other.
type Histogram = Vec<u64>;

/// Counts wins, losses and positions with the player not to move in check in the stored distances, of which
/// `counts.legal` are positions.
fn count_stored<N: Copy + Ord + From<i8> + Into<i32> + Sync>(
    numbers: &[N],
    has_side_bit: bool,
    counts: &mut IndexCounts,
) {
    /// Numbers side by side, even and odd indices apart, each with counts of a byte.
    const LANES: usize = 64;
    let add = |mut a: Stored, b: Stored| {
        a.sides
            .as_flattened_mut()
            .iter_mut()
            .zip(b.sides.as_flattened())
            .for_each(|(a, b)| *a += b);
        Stored { sides: a.sides, least: a.least.min(b.least), most: a.most.max(b.most) }
    };
    let piece = |numbers: &[N]| {
        let (zero, one) = (N::from(0), N::from(1));
        let (mut least, mut most) = ([zero; LANES], [zero; LANES]);
        let mut sides = [[0; 3]; 2];
        // A count of a byte holds 255 steps.
        for numbers in numbers.chunks(LANES * 255) {
            let (mut wins, mut losses, mut illegal) = ([0_u8; LANES], [0_u8; LANES], [0_u8; LANES]);
            let mut step = |lane: usize, n: N| {
                wins[lane] += u8::from(n > one);
                losses[lane] += u8::from(n < zero);
                illegal[lane] += u8::from(n == one);
                least[lane] = least[lane].min(n);
                most[lane] = most[lane].max(n);
            };
            let (rows, rest) = numbers.as_chunks::<LANES>();
            for row in rows {
                (0..LANES).for_each(|lane| step(lane, row[lane]));
            }
            rest.iter().enumerate().for_each(|(lane, &n)| step(lane, n));
            for lane in 0..LANES {
                let side: &mut [u64; 3] = &mut sides[lane % 2];
                side[0] += u64::from(wins[lane]);
                side[1] += u64::from(losses[lane]);
                side[2] += u64::from(illegal[lane]);
            }
        }
        let least = least.into_iter().min().map_or(0, Into::into);
        Stored { sides, least, most: most.into_iter().max().map_or(0, Into::into) }
    };
    let Stored { sides, least, most } =
        numbers.par_chunks(1 << 20).map(piece).reduce(Stored::default, add);
    for (number, [wins, losses, illegal]) in sides.into_iter().enumerate() {
        let (white, black) =
            if has_side_bit && number == 1 { (losses, wins) } else { (wins, losses) };
        counts.white_wins += white;
        counts.black_wins += black;
        counts.pntm_mated += illegal;
        counts.legal -= illegal;
    }
    counts.min_stored = least;
    counts.max_stored = if most > 1 { most } else { 0 };
}

/// What is counted of stored distances: at even and at odd indices wins, losses and positions with the player
/// not to move in check; the smallest and the largest.
#[derive(Default)]
struct Stored {
    sides: [[u64; 3]; 2],
    least: i32,
    most: i32,
}

/// Writes all entries; `W` is a width of code that holds every value. What they are is counted unless they
/// are counted where they are `stored`, then only how many they are.
fn fill<W: Code, E: Shared>(
    rows: &Rows<'_>,
    values: &TableValues,
    structures: &[PawnStructure],
    entries: &[E],
    codec: EntryCodec,
    stored: bool,
) -> IndexCounts {
    let mut counts = IndexCounts::default();
    let jobs: Vec<Job> = structures.iter().flat_map(|&s| rows.jobs(s)).collect();
    for turn in [Color::White, Color::Black] {
        let kinds = 1_usize << (8 * std::mem::size_of::<W>());
        let mut numbers = zeros();
        for (n, number) in numbers.iter_mut().enumerate().take(kinds) {
            *number = codec.store(code_value::<W>(n), turn).0 as i16;
        }
        let write = Write { rows, values, entries, kinds, numbers };
        let jobs: Vec<&Job> = jobs.iter().filter(|j| j.turn == turn).collect();
        if stored {
            let written = jobs.par_iter().map(|job| write.job::<W, false>(job, &mut Vec::new()));
            counts.legal += written.sum::<u64>();
            continue;
        }
        let histogram = || vec![0_u64; HISTOGRAMS * kinds];
        let histogram = jobs
            .par_iter()
            .fold(histogram, |mut histogram, job| {
                write.job::<W, true>(job, &mut histogram);
                histogram
            })
            .reduce(histogram, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            });
        for (place, n) in histogram.into_iter().enumerate().filter(|&(_, n)| n > 0) {
            counts.add(code_value::<W>(place % kinds), turn, n);
        }
    }
    counts
}

/// The value of the code with a number.
fn code_value<W: Code>(number: usize) -> Value {
    if W::MAX_MOVES == u8::MAX_MOVES { (number as u8).value() } else { (number as u16).value() }
}

/// A number for every code, all 0.
#[expect(clippy::unnecessary_box_returns, reason = "too large for the stack")]
fn zeros<T: Copy + Default>() -> Box<[T; NUMBERS]> {
    let zeros = vec![T::default(); NUMBERS].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("it has this length"))
}

/// Room for the numbers of all codes of two bytes.
const NUMBERS: usize = 1 << 16;

/// The way of values to entries, for one side to move.
struct Write<'a, E> {
    rows: &'a Rows<'a>,
    values: &'a TableValues,
    entries: &'a [E],
    /// How many codes there are.
    kinds: usize,
    /// The number to store for every code.
    numbers: Box<[i16; NUMBERS]>,
}

impl<E: Shared> Write<'_, E> {
    /// Writes the entries of a job, and returns how many.
    fn job<W: Code, const COUNT: bool>(&self, job: &Job, histogram: &mut Histogram) -> u64 {
        let Some((slice, orientation)) = self.rows.orient(self.values, job.structure) else {
            return 0;
        };
        match codes_of(job, slice, orientation) {
            Codes::Narrow(codes) => self.rows_of::<W, _, COUNT>(job, orientation, codes, histogram),
            Codes::Wide(codes) => self.rows_of::<W, _, COUNT>(job, orientation, codes, histogram),
            // Values in pages are taken a window at a time.
            Codes::Stored(_) => 0,
        }
    }

    fn rows_of<W: Code, C: Code, const COUNT: bool>(
        &self,
        job: &Job,
        orientation: Orientation,
        codes: &[C],
        histogram: &mut Histogram,
    ) -> u64 {
        let mut written = 0;
        self.rows.walk(job, orientation, true, 0, |run| {
            written += run.len() as u64;
            // What is read in the loop must not be reached through what is written to.
            let (numbers, kinds) = (&*self.numbers, self.kinds);
            let (entries, step) = (self.entries, run.step as usize);
            let mut write = |code: C, index: usize, i: usize| {
                let number = W::convert(code).number() & (NUMBERS - 1);
                if COUNT {
                    histogram[number + i % HISTOGRAMS * kinds] += 1;
                }
                if let Some(entry) = entries.get(index) {
                    entry.put(numbers[number]);
                }
            };
            let mut index = run.index as usize;
            let row = codes.get(run.row..).unwrap_or_default();
            if let Some(row) = row.first_chunk::<64>() {
                for (i, square) in run.squares().enumerate() {
                    write(row[square & 63], index, i);
                    index += step;
                }
                return;
            }
            // Bare kings have no rows.
            for (i, square) in run.squares().enumerate() {
                if let Some(&code) = row.get(square) {
                    write(code, index, i);
                }
                index += step;
            }
        });
        written
    }
}

/// Adds up what the slices counted, by the way in which the table's indices represent their positions.
fn moves(rows: &Free<'_>, values: &TableValues, structures: &[PawnStructure]) -> Option<Counts> {
    let both = rows.space.has_side_bit();
    if rows.layout.movers().len() == 2 && !values.material.has_pawns() {
        return Some(bare_king_moves(rows.space.symmetry(), both));
    }
    let mut sum = Counts::default();
    for &structure in structures {
        let (slice, orientation) = rows.orient(values, structure)?;
        let counts = slice.counts.as_ref()?;
        for turn in [Color::White, Color::Black] {
            if turn == Color::Black && !both {
                continue;
            }
            let side = orientation.color(turn) as usize ^ 1;
            let mut times = |counts: Counts, n: u64| {
                sum.stalemates += counts.stalemates * n;
                sum.moves += counts.moves * n;
                sum.futuremoves += counts.futuremoves * n;
            };
            if rows.layout.kings() == KingPlacement::Pairs {
                let ways = u64::from(rows.space.symmetry());
                // Two diagonal kings leave each position and its mirror image in the same block.
                times(counts.plain[side], 8 / ways);
                if ways < 8 {
                    let half = counts.diagonal[side];
                    sum.stalemates -= half.stalemates * (4 / ways);
                    sum.moves -= half.moves * (4 / ways);
                    sum.futuremoves -= half.futuremoves * (4 / ways);
                }
                continue;
            }
            times(counts.plain[side], 1);
            for square in en_passant_squares(structure, turn) {
                let there = orientation.symmetry().apply_index(square);
                let (_, counts) = counts.en_passant.iter().find(|(s, _)| *s == there)?;
                times(*counts, 1);
            }
        }
    }
    let mut divisor = like_orders(&values.layout);
    if rows.layout.kings() == KingPlacement::Axes {
        divisor *= u64::from(rows.space.symmetry());
    }
    sum.stalemates /= divisor;
    sum.moves /= divisor;
    sum.futuremoves /= divisor;
    Some(sum)
}

/// The moves of two bare kings, whose layout knows no symmetry while their table does.
fn bare_king_moves(ways: u8, both_sides: bool) -> Counts {
    let mut counts = Counts::default();
    for white in 0..64 {
        for black in 0..64 {
            if touch(white, black) || !is_canonical(ways, white, black) {
                continue;
            }
            let moves = |from: u8, other: u8| {
                (0..64).filter(|&to| to != from && touch(from, to) && !touch(to, other)).count()
                    as u64
            };
            counts.moves += moves(white, black);
            if both_sides {
                counts.moves += moves(black, white);
            }
        }
    }
    counts
}

/// In how many orders the like men of a layout can stand on the same squares.
fn like_orders(layout: &Layout) -> u64 {
    let mut orders = 1;
    let movers = layout.movers();
    for (m, mover) in movers.iter().enumerate() {
        orders *= movers[..=m].iter().filter(|o| *o == mover).count() as u64;
    }
    orders
}

/// How stored numbers are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// With their distances.
    Exactly,
    /// By outcome only: whoever moves into the position wins, or loses, in one move.
    ByOutcome,
}

/// The values of a table's slices, from its entries as they are packed in a file, as far as they are wanted: others are not looked at.
/// Restricted pawns leave out slices. Tables with free pieces come with their stronger side White, others
/// in their own colours.
///
/// # Errors
///
/// The table holds numbers that are no values, or too few entries.
pub fn decode(
    space: &IndexSpace,
    codec: EntryCodec,
    entries: &[u8],
    wanted: &Wanted,
    taking: Taking,
) -> Result<TableValues, RowsError> {
    let narrow = codec.bits() <= 8;
    let stock = if narrow {
        Stock::new::<u8>(entries, codec, taking)
    } else {
        Stock::new::<u16>(entries, codec, taking)
    };
    stock.check(space.size())?;
    let mut values = decode_with(space, wanted, |rows, values, ways| {
        values.slices.par_iter().try_for_each(|(normal, slot)| {
            let ways = ways.get(normal).map(Vec::as_slice).unwrap_or_default();
            let slice = if narrow {
                decode_slice::<u8>(rows, *normal, ways, &stock, wanted)?
            } else {
                decode_slice::<u16>(rows, *normal, ways, &stock, wanted)?
            };
            // Each slice is made once.
            let _ = slot.set(Arc::new(slice));
            Ok(())
        })
    })?;
    if !has_free_pieces(space) && !space.has_side_bit() {
        fill_black(&mut values);
    }
    Ok(values)
}

/// Every orientation that carries a structure of the table to a slice, by slices. A slice that is its own
/// image is reached in several ways, and each contributes the positions that have indices.
type Ways = HashMap<PawnStructure, Vec<Way>>;

/// The wanted slices of a table, with the values that `fill` puts there.
fn decode_with<E: From<RowsError>>(
    space: &IndexSpace,
    wanted_values: &Wanted,
    fill: impl FnOnce(&Rows<'_>, &TableValues, &Ways) -> Result<(), E>,
) -> Result<TableValues, E> {
    let pieces = space.pieces();
    let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let free = has_free_pieces(space);
    let (material, swapped) = if free { table.normalized() } else { (table, false) };
    // A table with all symmetries cannot tell any images apart.
    let apart = free && wanted_values.apart && space.symmetry() < 8;
    let layout = match (free, apart) {
        (true, true) => Layout::without_symmetry(&material),
        (true, false) => Layout::new(&material),
        (false, _) => layout_of(space),
    };
    let rows = Rows::with_layout(space, &material, &layout)?;
    let is_wanted = |s: &PawnStructure| {
        wanted_values.structures.as_ref().is_none_or(|structures| structures.contains(s))
    };
    let to_values = Orientation { swap: swapped, mirror: false };
    let wanted_slices = |normal: &dyn Fn(&PawnStructure) -> PawnStructure| {
        let structures = rows.structures();
        structures.iter().filter(|s| is_wanted(s)).map(normal).collect::<BTreeSet<_>>()
    };
    let values = if apart && material.has_pawns() && space.symmetry() == 2 {
        let normal = |s: &PawnStructure| s.oriented(to_values).normalized(false).0;
        let wanted = wanted_slices(&normal);
        TableValues::with_layout(material, layout.clone(), NormalForm::Mirrored, wanted)
    } else if apart {
        let wanted = wanted_slices(&|s| s.oriented(to_values));
        TableValues::with_layout(material, layout.clone(), NormalForm::None, wanted)
    } else if free {
        let swappable = material.is_symmetric();
        let normal = |s: &PawnStructure| s.oriented(to_values).normalized(swappable).0;
        TableValues::new(material, wanted_slices(&normal))
    } else {
        let structures = rows.structures().into_iter().filter(is_wanted);
        TableValues::with_layout(material, layout.clone(), NormalForm::None, structures)
    };
    let mut ways = Ways::new();
    for structure in rows.structures() {
        let Rows::Free(rows) = &rows else {
            if is_wanted(&structure) {
                ways.entry(structure).or_default().push((structure, Orientation::default(), false));
            }
            continue;
        };
        for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
            let orientation = to_values.then(Orientation { swap, mirror });
            let image = structure.oriented(orientation);
            // Without pawns the layout itself takes care of mirror images, and the other colours are
            // read only where they have no indices of their own.
            let other_colors = !swap || !space.has_side_bit();
            let needed = if apart {
                other_colors && (!mirror || space.symmetry() >= 2)
            } else {
                material.has_pawns() || !mirror && other_colors
            };
            let possible = !rows.slots[usize::from(orientation.swap)].is_empty();
            if needed && possible && values.slices.contains_key(&image) {
                let ways = ways.entry(image).or_default();
                ways.push((structure, orientation, false));
                if apart && space.symmetry() == 4 {
                    ways.push((structure, orientation, true));
                }
            }
        }
    }
    fill(&rows, &values, &ways)?;
    Ok(values)
}

/// Derives the values with Black to move from those with White to move, colours exchanged: for tables
/// without a side to move whose men may stand everywhere.
fn fill_black(values: &mut TableValues) {
    fn gather<C: Code>(codes: &[C], place: impl Fn(usize) -> usize + Sync) -> Vec<C> {
        let at = |offset| codes.get(place(offset)).copied().unwrap_or_default();
        (0..codes.len()).into_par_iter().map(at).collect()
    }
    let TableValues { layout, slices, .. } = values;
    let movers = layout.movers();
    let partner: Vec<usize> = movers
        .iter()
        .enumerate()
        .map(|(m, mover)| {
            let like = |color: Color| {
                let same = move |o: &&(usize, &Mover)| o.1.color == color && o.1.role == mover.role;
                let all: Vec<(usize, &Mover)> = movers.iter().enumerate().collect();
                all.iter().filter(same).map(|o| o.0).collect::<Vec<usize>>()
            };
            let rank = like(mover.color).iter().position(|&o| o == m).unwrap_or(0);
            like(mover.color.other()).get(rank).copied().unwrap_or(m)
        })
        .collect();
    let from: HashMap<PawnStructure, Arc<SliceValues>> =
        slices.iter().filter_map(|(s, slot)| Some((*s, slot.get()?.clone()))).collect();
    let swap = Orientation { swap: true, mirror: false };
    let turned = |codes: &Codes| {
        let place = |offset: usize| -> usize {
            let squares = (0..movers.len()).map(|m| (offset / layout.stride(m) % 64) as u8);
            squares.enumerate().filter_map(|(m, s)| layout.place(partner[m], s ^ 56)).sum()
        };
        match codes {
            Codes::Narrow(codes) => Codes::Narrow(gather(codes, place)),
            Codes::Wide(codes) => Codes::Wide(gather(codes, place)),
            // What is decoded is in memory here.
            Codes::Stored(stored) => Codes::Stored(stored.clone()),
        }
    };
    for (structure, slot) in slices {
        let image = from.get(&structure.oriented(swap));
        let (Some(slice), Some(image)) = (slot.get_mut().map(Arc::make_mut), image) else {
            continue;
        };
        slice.codes[1] = turned(&image.codes[0]);
        for right in slice.en_passant.iter_mut().filter(|right| right.square < 32) {
            if let Some(other) = image.en_passant.iter().find(|o| o.square == right.square ^ 56) {
                right.codes = turned(&other.codes);
            }
        }
    }
}

/// A structure of the table and the orientation that carries it to a slice; whether the board is turned upside
/// down besides.
type Way = (PawnStructure, Orientation, bool);

/// Reads one slice in normal form. With a symmetric index only part of a slice has indices of its own;
/// the rest is read through the mirror image of its pawns.
fn decode_slice<C: SharedCode>(
    rows: &Rows<'_>,
    normal: PawnStructure,
    ways: &[Way],
    stock: &Stock<'_>,
    wanted: &Wanted,
) -> Result<SliceValues, RowsError> {
    let len = rows.layout().len();
    let sides = wanted.sides;
    let movers = rows.layout().movers().iter().enumerate();
    let edge = movers
        .filter(|(_, m)| wanted.on_edge.contains(&(m.color, m.role)))
        .fold(0, |set, (i, _)| set | 1_u32 << i);
    let new = |wanted: bool| vec![C::ILLEGAL; if wanted { len } else { 0 }];
    let mut codes = sides.map(new);
    let mut rights: Vec<(u8, Vec<C>)> = Vec::new();
    for color in [Color::White, Color::Black] {
        for square in en_passant_squares(normal, color) {
            if can_capture(normal, square, color) {
                rights.push((square, new(sides[color as usize ^ 1])));
            }
        }
    }
    let max_moves = {
        // Read in one way, a row comes as a whole from one row of the table.
        let by_rows = match rows {
            Rows::Free(rows) => rows.layout.movers().len() > 2,
            Rows::Restricted(rows) => rows.is_by_rows(),
        };
        let whole = ways.len() == 1 && by_rows;
        let codes = codes.each_mut().map(|codes| Target::new(codes, whole));
        let rights: Vec<(u8, Target<'_, C>)> =
            rights.iter_mut().map(|(s, codes)| (*s, Target::new(codes, whole))).collect();
        let read = |(structure, orientation, flip): Way| {
            let jobs: Vec<Job> =
                rows.jobs(structure).into_iter().map(|job| Job { flip, ..job }).collect();
            let longest = jobs.par_iter().map(|job| {
                let side = orientation.color(job.turn) as usize ^ 1;
                if !sides[side] {
                    return Ok(0);
                }
                let target = match job.en_passant {
                    None => &codes[side],
                    Some(square) => {
                        let there = orientation.symmetry().apply_index(square);
                        match rights.iter().find(|(s, _)| *s == there) {
                            Some((_, codes)) => codes,
                            None => return Ok(0),
                        }
                    }
                };
                stock.read::<C>(rows, job, orientation, edge, target)
            });
            longest.try_reduce(|| 0, |a, b| Ok(a.max(b)))
        };
        ways.iter().try_fold(0, |longest, &way| Ok(longest.max(read(way)?)))?
    };
    Ok(SliceValues {
        codes: codes.map(C::into_codes),
        en_passant: rights
            .into_iter()
            .map(|(square, codes)| EnPassantValues { square, codes: C::into_codes(codes) })
            .collect(),
        counts: None,
        max_moves: if stock.exact { max_moves } else { 1 },
    })
}

/// A code that many threads may write to.
trait SharedCode: Code + FromBytes + IntoBytes + Immutable + KnownLayout {
    /// What they write to.
    type Shared: Sync + FromBytes + IntoBytes + KnownLayout;
    fn note(place: &Self::Shared, code: u16);
    /// The lowest bits of a number.
    fn truncate(code: u32) -> Self;
}

impl SharedCode for u8 {
    type Shared = AtomicU8;

    #[inline(always)]
    fn note(place: &AtomicU8, code: u16) {
        place.store(code as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    fn truncate(code: u32) -> u8 {
        code as u8
    }
}

impl SharedCode for u16 {
    type Shared = AtomicU16;

    #[inline(always)]
    fn note(place: &AtomicU16, code: u16) {
        place.store(code, Ordering::Relaxed);
    }

    #[inline(always)]
    fn truncate(code: u32) -> u16 {
        code as u16
    }
}

/// Where codes are written to, by many threads at once.
enum Target<'a, C: SharedCode> {
    /// By rows of 64 codes, each as a whole by one thread at a time: a few wide stores.
    Rows(&'a [AtomicU64]),
    /// Code by code.
    Places(&'a [C::Shared]),
}

impl<'a, C: SharedCode> Target<'a, C> {
    fn new(codes: &'a mut [C], whole: bool) -> Target<'a, C> {
        // Allocations of this size are aligned; if one is not, it is written code by code.
        let aligned = codes.as_ptr().addr().is_multiple_of(8) && codes.len().is_multiple_of(64);
        if whole && aligned {
            Target::Rows(as_shared(codes))
        } else {
            Target::Places(as_shared(codes))
        }
    }
}

/// A row of codes that is being put together.
struct OpenRow<'a, C> {
    words: &'a [AtomicU64],
    /// Where it begins; [`usize::MAX`] before the first.
    place: usize,
    codes: [C; 64],
}

impl<C: SharedCode> OpenRow<'_, C> {
    /// Goes on to the row at a place.
    #[inline(always)]
    fn at(&mut self, place: usize) -> &mut [C; 64] {
        if place != self.place {
            self.close();
            self.place = place;
        }
        &mut self.codes
    }

    /// Writes what there is of the row, the rest illegal.
    fn close(&mut self) {
        if self.place == usize::MAX {
            return;
        }
        let bytes = self.codes.as_bytes();
        let (words, _) = bytes.as_chunks::<8>();
        let first = self.place * size_of::<C>() / 8;
        for (word, place) in words.iter().zip(self.words.get(first..).unwrap_or_default()) {
            place.store(bytemuck::cast(*word), Ordering::Relaxed);
        }
        self.codes = [C::ILLEGAL; 64];
    }
}

/// What is taken for the value of a position.
fn value_of(entry: EntryValue, taking: Taking) -> Value {
    let value = match entry {
        EntryValue::Exact(value) => value,
        EntryValue::Win => Value::Win(1),
        EntryValue::Loss => Value::Loss(0),
        EntryValue::Illegal => Value::Illegal,
        // What a flag does not tell apart is taken as the draw: the question asked of it is the same
        // whichever it is.
        EntryValue::Draw | EntryValue::WinOrDraw | EntryValue::DrawOrLoss => Value::Draw,
        EntryValue::Unknown => Value::Illegal,
    };
    match (taking, value) {
        (Taking::ByOutcome, Value::Win(_)) => Value::Win(1),
        (Taking::ByOutcome, Value::Loss(_)) => Value::Loss(0),
        _ => value,
    }
}

/// Whether a pawn of `turn` stands ready to take on a square.
fn can_capture(structure: PawnStructure, square: u8, turn: Color) -> bool {
    let (file, rank) = (square & 7, square >> 3);
    let from_rank = turn.fold_wb(rank.wrapping_sub(1), rank + 1);
    [file.wrapping_sub(1), file + 1]
        .into_iter()
        .any(|f| f < 8 && structure.of(turn) >> (from_rank * 8 + f) & 1 != 0)
}

/// The widest entry that is read with all its bits; of wider ones those above are left out.
const MAX_KEY_BITS: u32 = 16;

/// The entries of a table, and the codes of what can stand in them.
struct Stock<'a> {
    /// As they are packed.
    entries: &'a [u8],
    codec: EntryCodec,
    /// The bits of an entry that tell its code.
    mask: u64,
    /// White to move and Black to move: for every key, `mask + 1` of them, the code in the lower half and the
    /// distance in moves in the upper.
    tables: [Box<[u32; NUMBERS]>; 2],
    /// Whether the distances count.
    exact: bool,
}

/// No code: the distance does not fit.
const UNSOUND: u32 = u32::MAX;

impl<'a> Stock<'a> {
    fn new<C: Code>(entries: &'a [u8], codec: EntryCodec, taking: Taking) -> Stock<'a> {
        let bits = u32::from(codec.bits()).min(MAX_KEY_BITS);
        let code = |key: u32, turn: Color| {
            let unused = u32::BITS - bits;
            let signed = codec.format().has_distance() && codec.bits() > 1;
            let number = if signed { ((key << unused) as i32) >> unused } else { key as i32 };
            // Numbers that mean nothing stand where there is no position.
            let value = codec.value(RawEntry(number), turn).map(|entry| value_of(entry, taking));
            let value = value.unwrap_or(Value::Illegal);
            let moves = match value {
                Value::Win(moves) | Value::Loss(moves) => moves,
                Value::Illegal | Value::Draw => 0,
            };
            let code = C::from_value(value).number() as u32;
            if moves > C::MAX_MOVES { UNSOUND } else { code | u32::from(moves) << 16 }
        };
        let tables = [Color::White, Color::Black].map(|turn| {
            let mut codes = zeros();
            for (key, place) in (0..1 << bits).zip(codes.iter_mut()) {
                *place = code(key, turn);
            }
            codes
        });
        let exact = codec.format().has_distance() && taking == Taking::Exactly;
        Stock { entries, codec, mask: (1 << bits) - 1, tables, exact }
    }

    /// Refuses an area that is too short.
    fn check(&self, entries: u64) -> Result<(), RowsError> {
        let enough = self.entries.len() as u64 >= self.codec.area_bytes(entries);
        if enough { Ok(()) } else { Err(RowsError::Entry) }
    }

    /// Reads the positions of a job, and returns the longest distance in moves.
    fn read<C: SharedCode>(
        &self,
        rows: &Rows<'_>,
        job: &Job,
        orientation: Orientation,
        edge: u32,
        target: &Target<'_, C>,
    ) -> Result<u16, RowsError> {
        let table = &*self.tables[job.turn as usize ^ 1];
        let bits = u64::from(self.codec.bits());
        let mut sound = true;
        // The distance stands above the code.
        let mut most = 0;
        let longest = |most: u32| {
            if most == UNSOUND { Err(RowsError::Entry) } else { Ok((most >> 16) as u16) }
        };
        let area = self.entries;
        let codes = match target {
            Target::Rows(words) => {
                let codes = [C::ILLEGAL; 64];
                let mut row = OpenRow { words, place: usize::MAX, codes };
                rows.walk(job, orientation, false, edge, |run| {
                    let codes = row.at(run.row);
                    // What the loop needs must not be reached through what it writes to.
                    let (table, mask, step) = (table, self.mask, run.step * bits);
                    let (mut bit, mut longest) = (run.index * bits, most);
                    for square in run.squares() {
                        let key = word_at(area, bit) & mask;
                        let code = table[key as usize & (NUMBERS - 1)];
                        longest = longest.max(code);
                        codes[square & 63] = C::truncate(code);
                        bit += step;
                    }
                    most = longest;
                });
                row.close();
                return longest(most);
            }
            Target::Places(codes) => *codes,
        };
        rows.walk(job, orientation, false, edge, |run| {
            let row = codes.get(run.row..).unwrap_or_default();
            let mut note = |place: &C::Shared, key: u64| {
                let code = table[(key & self.mask) as usize & (NUMBERS - 1)];
                most = most.max(code);
                C::note(place, code as u16);
            };
            match row.first_chunk::<64>() {
                Some(row) => {
                    let mut bit = run.index * bits;
                    for square in run.squares() {
                        note(&row[square & 63], word_at(area, bit));
                        bit += run.step * bits;
                    }
                }
                // Bare kings have no rows.
                None => {
                    for (index, square) in (0..).zip(run.squares()) {
                        let bit = (run.index + index * run.step) * bits;
                        match row.get(square) {
                            Some(place) => note(place, word_at(area, bit)),
                            None => sound = false,
                        }
                    }
                }
            }
        });
        if sound { longest(most) } else { Err(RowsError::Entry) }
    }
}

/// The bits of an area from one on; zeros behind its end.
#[inline(always)]
fn word_at(area: &[u8], bit: u64) -> u64 {
    let at = (bit >> 3) as usize;
    let word = match area.get(at..at.saturating_add(8)) {
        Some(bytes) => bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        None => last_word(area, at),
    };
    word >> (bit & 7)
}

/// The last bytes of an area from one on, the lowest first.
#[cold]
fn last_word(area: &[u8], at: usize) -> u64 {
    let rest = area.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
