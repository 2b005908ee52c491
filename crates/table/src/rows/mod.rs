//! Between rows and indices: the entries of a table from the values of its slices, and back.
//!
//! The index types are encodings at the edge. Here every position of a table's index space is visited
//! once, by slices, king pairs and rows, so that neither side is walked at random; along a row the index
//! mostly grows by a constant step.

mod restricted;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

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

use crate::entries::{EntryCodec, EntryValue, Number, RawEntry};
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

use restricted::Restricted;

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
}

/// Which values of a table are wanted, in the colours of the ending with its stronger side White.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The sides to move, White first.
    pub sides: [bool; 2],
    /// If not empty: only positions in which one of these men stands on the edge of the board, where
    /// promoted men do.
    pub on_edge: Vec<(Color, Role)>,
    /// If given: only positions with these pawns, in the colours of the table.
    pub structures: Option<Arc<BTreeSet<PawnStructure>>>,
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
        structures && sides && (self.on_edge.is_empty() || contained)
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
    }
}

/// The squares of the edge of the board.
const EDGE: u64 = 0xff81_8181_8181_81ff;

/// Positions of one row with neighbouring squares of the last man: `index + i * step` is the index of the
/// one whose value stands at `row + image[start + i]`.
struct Run<'a> {
    index: u64,
    step: u64,
    row: usize,
    image: &'a [usize; 64],
    start: u8,
    len: u8,
}

impl Run<'_> {
    /// Index and place of every position.
    #[inline(always)]
    fn positions(&self) -> impl Iterator<Item = (usize, usize)> {
        let squares = &self.image[self.start as usize & 63..][..self.len as usize];
        squares
            .iter()
            .enumerate()
            .map(|(i, &s)| ((self.index + i as u64 * self.step) as usize, self.row + s))
    }
}

/// A set of positions with the same pawns, side to move and en passant right, as the table sees them.
#[derive(Clone, Copy, Debug)]
struct Job {
    structure: PawnStructure,
    turn: Color,
    en_passant: Option<u8>,
    /// The square of the first man besides the kings, to share the work.
    first: Option<u8>,
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
        let pairs = (0..64).flat_map(|w| (0..64).map(move |b| (w, b)));
        let canonical =
            pairs.filter(|&(w, b)| !touch(w, b) && is_canonical(space.symmetry(), w, b)).collect();
        let pawns = pawn_placements(space);
        Ok(Free { space, layout, swapped, slots, pawns, canonical })
    }

    /// All pawn structures of the table.
    fn structures(&self) -> Vec<PawnStructure> {
        self.pawns.keys().copied().collect()
    }

    /// The jobs of a structure: every side and en passant square that has indices.
    fn jobs(&self, structure: PawnStructure) -> Vec<Job> {
        let mut jobs = Vec::new();
        for turn in [Color::White, Color::Black] {
            if turn == Color::Black && !self.space.has_side_bit() {
                continue;
            }
            let rights = en_passant_squares(structure, turn).map(Some);
            for en_passant in std::iter::once(None).chain(rights) {
                if self.layout.movers().len() > 3 {
                    jobs.extend((0..64).map(|s| Job {
                        structure,
                        turn,
                        en_passant,
                        first: Some(s),
                    }));
                } else {
                    jobs.push(Job { structure, turn, en_passant, first: None });
                }
            }
        }
        jobs
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

    /// Visits the positions of a job. Like men are taken in one order only if `once`; with `edge`, one
    /// of these movers (one bit each) must stand on the edge.
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
        let turn = orientation.symmetry();
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
                        visit(&Run { index, step: 0, row, image: &[0; 64], start: 0, len: 1 });
                    }
                }
            };
            self.space.visit_kings(&squares, job.turn, job.en_passant, occupied, visit);
            return;
        }
        let mut kings = Vec::new();
        for &(white, black) in &self.canonical {
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
        let images: [[usize; 64]; 8] = std::array::from_fn(|g| {
            let symmetry = Symmetry::all().nth(g).unwrap_or_default();
            std::array::from_fn(|s| symmetry.apply_index(s as u8) as usize)
        });
        let inner: Vec<usize> = (2..movers).collect();
        let Some((&lane, dims)) = inner.split_last() else { return };
        let mut digits = vec![0_u8; dims.len()];
        if let (Some(first), Some(digit)) = (job.first, digits.first_mut()) {
            *digit = first;
        }
        loop {
            let mut taken = occupied;
            let mut possible = true;
            let mut on_edge = edge == 0;
            for (i, (&m, &s)) in dims.iter().zip(&digits).enumerate() {
                possible &= taken >> s & 1 == 0;
                taken |= 1 << s;
                squares[slots[m]] = s;
                on_edge |= edge >> m & 1 != 0 && EDGE >> s & 1 != 0;
                if once && i > 0 && self.alike(m, m - 1) {
                    possible &= digits[i - 1] < s;
                }
            }
            if possible {
                let mut allowed = !taken;
                if !on_edge {
                    allowed &= if edge >> lane & 1 != 0 { EDGE } else { 0 };
                }
                if let (true, Some(&last)) = (once && self.alike(lane, lane - 1), digits.last()) {
                    allowed &= u64::MAX << last;
                }
                for &(white, black, base, symmetry) in &kings {
                    if taken & (1 << white | 1 << black) != 0 || allowed == 0 {
                        continue;
                    }
                    let image = &images[symmetry.index()];
                    let mut row = base;
                    for (&m, &s) in dims.iter().zip(&digits) {
                        row += image[s as usize & 63] * self.layout.stride(m);
                    }
                    squares[white_slot] = white;
                    squares[black_slot] = black;
                    self.space.visit_lane(
                        &squares,
                        job.turn,
                        job.en_passant,
                        slots[lane],
                        allowed & !(1 << white | 1 << black),
                        |start, len, index, step| {
                            visit(&Run { index, step, row, image, start, len });
                        },
                    );
                }
            }
            // The next combination of squares, the first one fixed.
            let mut at = digits.len();
            loop {
                if at <= 1 {
                    return;
                }
                at -= 1;
                if digits[at] < 63 {
                    digits[at] += 1;
                    break;
                }
                digits[at] = 0;
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
            Rows::Free(rows) => rows.jobs(structure),
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
fn has_free_pieces(space: &IndexSpace) -> bool {
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
    let bits = match format {
        Format::Basic => 2,
        Format::Flag(_) => 1,
        Format::Dtm(_) | Format::Dtc(_) => 32,
    };
    let codec = EntryCodec::new(format, bits, space.variant()).map_err(|_| RowsError::Entry)?;
    let empty = codec.undecodable().0;
    let shared = matches!(&rows, Rows::Restricted(_)) && space.symmetry() > 1;
    let (distances, mut counts) = if deepest < 127 {
        let entries: Vec<AtomicU8> =
            (0..size).into_par_iter().map(|_| AtomicU8::new(empty as u8)).collect();
        let counts = fill::<u8, _>(&rows, values, &structures, &entries, codec);
        let narrow = entries.into_iter().map(|e| e.into_inner() as i8).collect();
        (Distances::Narrow(narrow), counts)
    } else {
        let entries: Vec<AtomicU16> =
            (0..size).into_par_iter().map(|_| AtomicU16::new(empty as u16)).collect();
        let counts = fill::<u16, _>(&rows, values, &structures, &entries, codec);
        let wide = entries.into_iter().map(|e| e.into_inner() as i16).collect();
        (Distances::Wide(wide), counts)
    };
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

/// Writes all entries; `W` is a width of code that holds every value.
fn fill<W: Code, E: Shared>(
    rows: &Rows<'_>,
    values: &TableValues,
    structures: &[PawnStructure],
    entries: &[E],
    codec: EntryCodec,
) -> IndexCounts {
    let kinds = 1_usize << (8 * std::mem::size_of::<W>());
    let histogram = || vec![0_u64; HISTOGRAMS * kinds];
    let all: Vec<Job> = structures.iter().flat_map(|&s| rows.jobs(s)).collect();
    let add = |mut a: Histogram, b: Histogram| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let of = |turn: Color| {
        let number = |n| codec.store(code_value::<W>(n), turn).0 as i16;
        let stored: Vec<i16> = (0..kinds).map(number).collect();
        let jobs: Vec<&Job> = all.iter().filter(|j| j.turn == turn).collect();
        jobs.par_iter()
            .fold(histogram, |mut histogram, job| {
                if let Some((slice, orientation)) = rows.orient(values, job.structure) {
                    match codes_of(job, slice, orientation) {
                        Codes::Narrow(codes) => {
                            write_job::<W, _, _>(
                                rows,
                                job,
                                orientation,
                                codes,
                                entries,
                                &stored,
                                &mut histogram,
                            );
                        }
                        Codes::Wide(codes) => {
                            write_job::<W, _, _>(
                                rows,
                                job,
                                orientation,
                                codes,
                                entries,
                                &stored,
                                &mut histogram,
                            );
                        }
                    }
                }
                histogram
            })
            .reduce(histogram, add)
    };
    let mut counts = IndexCounts::default();
    for turn in [Color::White, Color::Black] {
        for (place, n) in of(turn).into_iter().enumerate().filter(|&(_, n)| n > 0) {
            counts.add(code_value::<W>(place % kinds), turn, n);
        }
    }
    counts
}

/// The value of the code with a number.
fn code_value<W: Code>(number: usize) -> Value {
    if W::MAX_MOVES == u8::MAX_MOVES { (number as u8).value() } else { (number as u16).value() }
}

fn write_job<W: Code, C: Code, E: Shared>(
    rows: &Rows<'_>,
    job: &Job,
    orientation: Orientation,
    codes: &[C],
    entries: &[E],
    stored: &[i16],
    histogram: &mut Histogram,
) {
    rows.walk(job, orientation, true, 0, |run| {
        for (i, (index, offset)) in run.positions().enumerate() {
            if let (Some(&code), Some(entry)) = (codes.get(offset), entries.get(index)) {
                let number = W::convert(code).number();
                histogram[number + i % HISTOGRAMS * stored.len()] += 1;
                entry.put(stored[number]);
            }
        }
    });
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

/// The values of a table's slices, from its stored numbers, as far as they are wanted. Restricted pawns
/// leave out slices. Tables with free pieces come with their stronger side White, others in their own
/// colours.
///
/// # Errors
///
/// The table holds numbers that are no values.
pub fn decode(
    space: &IndexSpace,
    codec: EntryCodec,
    distances: &Distances,
    wanted_values: &Wanted,
    taking: Taking,
) -> Result<TableValues, RowsError> {
    let pieces = space.pieces();
    let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let free = has_free_pieces(space);
    let (material, swapped) = if free { table.normalized() } else { (table, false) };
    let layout = if free { Layout::new(&material) } else { layout_of(space) };
    let rows = Rows::with_layout(space, &material, &layout)?;
    let is_wanted = |s: &PawnStructure| {
        wanted_values.structures.as_ref().is_none_or(|structures| structures.contains(s))
    };
    let to_values = Orientation { swap: swapped, mirror: false };
    let mut values = if free {
        let swappable = material.is_symmetric();
        let normal = |s: &PawnStructure| s.oriented(to_values).normalized(swappable).0;
        let wanted: BTreeSet<PawnStructure> =
            rows.structures().iter().filter(|s| is_wanted(s)).map(normal).collect();
        TableValues::new(material, wanted)
    } else {
        let structures = rows.structures().into_iter().filter(is_wanted);
        TableValues::with_layout(material, layout.clone(), NormalForm::None, structures)
    };
    // Every orientation that carries a structure of the table to a slice. A slice that is its own image
    // is reached in several ways, and each contributes the positions that have indices.
    let mut ways: HashMap<PawnStructure, Vec<Way>> = HashMap::new();
    for structure in rows.structures() {
        let Rows::Free(rows) = &rows else {
            if is_wanted(&structure) {
                ways.entry(structure).or_default().push((structure, Orientation::default()));
            }
            continue;
        };
        for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
            let orientation = to_values.then(Orientation { swap, mirror });
            let image = structure.oriented(orientation);
            // Without pawns the layout itself takes care of mirror images, and the other colours are
            // read only where they have no indices of their own.
            let needed = material.has_pawns() || !mirror && (!swap || !space.has_side_bit());
            let possible = !rows.slots[usize::from(orientation.swap)].is_empty();
            if needed && possible && values.slices.contains_key(&image) {
                ways.entry(image).or_default().push((structure, orientation));
            }
        }
    }
    let codes = match distances {
        Distances::Narrow(d) => CodesOf::new::<AtomicU8, _>(d, codec, taking)?,
        Distances::Wide(d) => CodesOf::new::<AtomicU16, _>(d, codec, taking)?,
    };
    values.slices.par_iter().try_for_each(|(normal, slot)| {
        let ways = ways.get(normal).map(Vec::as_slice).unwrap_or_default();
        let which = wanted_values;
        let slice = match distances {
            Distances::Narrow(d) => {
                decode_slice::<AtomicU8, _>(&rows, *normal, ways, d, &codes, which)?
            }
            Distances::Wide(d) => {
                decode_slice::<AtomicU16, _>(&rows, *normal, ways, d, &codes, which)?
            }
        };
        // Each slice is made once.
        let _ = slot.set(Arc::new(slice));
        Ok(())
    })?;
    if !free && !space.has_side_bit() {
        fill_black(&mut values);
    }
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

/// A structure of the table and the orientation that carries it to a slice.
type Way = (PawnStructure, Orientation);

/// Reads one slice in normal form. With a symmetric index only part of a slice has indices of its own;
/// the rest is read through the mirror image of its pawns.
fn decode_slice<S: SharedCode, N: Number>(
    rows: &Rows<'_>,
    normal: PawnStructure,
    ways: &[Way],
    distances: &[N],
    codes_of_table: &CodesOf,
    wanted: &Wanted,
) -> Result<SliceValues, RowsError> {
    let len = rows.layout().len();
    let sides = wanted.sides;
    let movers = rows.layout().movers().iter().enumerate();
    let edge = movers
        .filter(|(_, m)| wanted.on_edge.contains(&(m.color, m.role)))
        .fold(0, |set, (i, _)| set | 1_u32 << i);
    let CodesOf { tables, max_moves } = codes_of_table;
    let new = |wanted: bool| {
        let len = if wanted { len } else { 0 };
        (0..len).into_par_iter().with_min_len(1 << 16).map(|_| S::default()).collect::<Vec<S>>()
    };
    let codes = sides.map(new);
    let mut rights: Vec<(u8, Vec<S>)> = Vec::new();
    for color in [Color::White, Color::Black] {
        for square in en_passant_squares(normal, color) {
            if can_capture(normal, square, color) {
                rights.push((square, new(sides[color as usize ^ 1])));
            }
        }
    }
    for &(structure, orientation) in ways {
        rows.jobs(structure).par_iter().try_for_each(|job| {
            let side = orientation.color(job.turn) as usize ^ 1;
            if !sides[side] {
                return Ok(());
            }
            let target = match job.en_passant {
                None => &codes[side],
                Some(square) => {
                    let there = orientation.symmetry().apply_index(square);
                    match rights.iter().find(|(s, _)| *s == there) {
                        Some((_, codes)) => codes,
                        None => return Ok(()),
                    }
                }
            };
            let table = &tables[job.turn as usize ^ 1];
            let source = Source { rows, distances, table, edge };
            source.read(job, orientation, target)
        })?;
    }
    Ok(SliceValues {
        codes: codes.map(S::into_codes),
        en_passant: rights
            .into_iter()
            .map(|(square, codes)| EnPassantValues { square, codes: S::into_codes(codes) })
            .collect(),
        counts: None,
        max_moves: *max_moves,
    })
}

/// A code that many threads may write to.
trait SharedCode: Sync + Send + Default {
    /// The range of numbers that can be stored in the width.
    const RANGE: std::ops::RangeInclusive<i32>;
    /// The code of a value; none if it does not fit.
    fn code(value: Value) -> Option<u16>;
    fn note(&self, code: u16);
    fn into_codes(codes: Vec<Self>) -> Codes;
}

/// Codes by stored number.
struct CodeTable {
    codes: Vec<u16>,
    /// Where number 0 is.
    zero: i32,
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

impl CodeTable {
    fn new<S: SharedCode>(codec: EntryCodec, turn: Color, taking: Taking) -> CodeTable {
        let code = |number: i32| {
            // Numbers that mean nothing stand where there is no position.
            let value = codec.value(RawEntry(number), turn).map(|entry| value_of(entry, taking));
            value.map_or(Some(0), S::code).unwrap_or(UNSOUND)
        };
        CodeTable { codes: S::RANGE.map(code).collect(), zero: -*S::RANGE.start() }
    }
}

/// No code: the distance does not fit.
const UNSOUND: u16 = 0xffff;

fn fitting<C: Code>(value: Value) -> bool {
    !matches!(value, Value::Win(m) | Value::Loss(m) if m > C::MAX_MOVES)
}

impl SharedCode for AtomicU8 {
    const RANGE: std::ops::RangeInclusive<i32> = -128..=127;

    fn code(value: Value) -> Option<u16> {
        fitting::<u8>(value).then(|| u16::from(u8::from_value(value)))
    }

    #[inline(always)]
    fn note(&self, code: u16) {
        self.store(code as u8, Ordering::Relaxed);
    }

    fn into_codes(codes: Vec<AtomicU8>) -> Codes {
        Codes::Narrow(codes.into_iter().map(AtomicU8::into_inner).collect())
    }
}

impl SharedCode for AtomicU16 {
    const RANGE: std::ops::RangeInclusive<i32> = -32768..=32767;

    fn code(value: Value) -> Option<u16> {
        // The win without a move has the code that elsewhere is a sign of trouble.
        fitting::<u16>(value).then(|| u16::from_value(value))
    }

    #[inline(always)]
    fn note(&self, code: u16) {
        self.store(code, Ordering::Relaxed);
    }

    fn into_codes(codes: Vec<AtomicU16>) -> Codes {
        Codes::Wide(codes.into_iter().map(AtomicU16::into_inner).collect())
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

/// The stored distances of a table and how they are read.
struct Source<'a, N> {
    rows: &'a Rows<'a>,
    distances: &'a [N],
    table: &'a CodeTable,
    /// See [`Rows::walk`].
    edge: u32,
}

impl<N: Number> Source<'_, N> {
    /// Reads the positions of a job.
    fn read<S: SharedCode>(
        &self,
        job: &Job,
        orientation: Orientation,
        codes: &[S],
    ) -> Result<(), RowsError> {
        let mut sound = true;
        let CodeTable { codes: table, zero } = self.table;
        self.rows.walk(job, orientation, false, self.edge, |run| {
            for (index, offset) in run.positions() {
                let (Some(distance), Some(target)) = (self.distances.get(index), codes.get(offset))
                else {
                    sound = false;
                    continue;
                };
                let stored = distance.to_entry() + zero;
                target.note(table.get(stored as usize).copied().unwrap_or_default());
            }
        });
        if sound { Ok(()) } else { Err(RowsError::Entry) }
    }
}

/// The codes of a table's numbers, White to move and Black to move.
struct CodesOf {
    tables: [CodeTable; 2],
    /// The longest distance, in moves.
    max_moves: u16,
}

impl CodesOf {
    fn new<S: SharedCode, N: Number>(
        distances: &[N],
        codec: EntryCodec,
        taking: Taking,
    ) -> Result<CodesOf, RowsError> {
        let tables =
            [Color::White, Color::Black].map(|turn| CodeTable::new::<S>(codec, turn, taking));
        let (least, most) = distances
            .par_chunks(1 << 20)
            .map(|chunk| {
                chunk.iter().fold((0, 0), |(least, most): (i32, i32), d| {
                    (least.min(d.to_entry()), most.max(d.to_entry()))
                })
            })
            .reduce(|| (0, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        let exact = codec.format().has_distance() && taking == Taking::Exactly;
        if !exact {
            return Ok(CodesOf { tables, max_moves: 1 });
        }
        let fits = |stored: i32| {
            let value = codec.value(RawEntry(stored), Color::White);
            value.is_none_or(|entry| S::code(value_of(entry, taking)).is_some())
        };
        if !(S::RANGE.contains(&least) && S::RANGE.contains(&most) && fits(least) && fits(most)) {
            return Err(RowsError::Entry);
        }
        let max_moves = (most.max(1) - 1).max(-least - 1) as u16;
        Ok(CodesOf { tables, max_moves })
    }
}
