//! Views: the values behind an exit, read in the row order of the slice that the exit leaves.
//!
//! The values lie in another slice, often of another ending, whose colours may be exchanged, whose
//! board may be mirrored and whose king pairs may be seen through any of the eight symmetries. A
//! view knows which mover there is which mover here; fetching copies what one block needs, already
//! negated, so that a fetched code is what the move is worth to the side that makes it (0: no such
//! move).

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ops::Range;

use arrayvec::ArrayVec;
use hoffman_board::{Color, MAX_PIECES as MAX_MOVERS, Role, Square, Symmetry};
use hoffman_space::{
    Code, Codes, EdgeMover, KingPlacement, Layout, Orientation, PackedCodes, PawnSquares,
    SliceValues, StoredCodes, TableValues,
};

use crate::kernels::isa::{Isa, rearranged, transposed};
use crate::kernels::tables::Tables;
use crate::processor::for_processor;

const GONE: u8 = u8::MAX;
/// Stands for the newly promoted man among the movers here.
pub(crate) const PROMOTED: usize = MAX_MOVERS;

/// Another slice, with the correspondence of its movers to ours.
#[derive(Clone)]
pub(crate) struct View<'a> {
    pub(crate) slice: &'a SliceValues,
    codes: &'a Codes,
    layout: &'a Layout,
    pub(crate) orientation: Orientation,
    /// `partner[mover here]`: mover there, or [`GONE`]. The last one is that of the promoted man.
    partner: [u8; MAX_MOVERS + 1],
    /// Mover there and the square (as seen from here) of a newly promoted man.
    promoted: Option<(u8, u8)>,
}

/// What is fetched: `axes` are movers of ours, the last one fastest, 64 squares each; all other
/// movers that still exist stand on the squares given by `placed`.
#[derive(Clone, Copy)]
pub(crate) struct Section<'w> {
    pub(crate) tables: &'w Tables,
    pub(crate) placed: &'w [(usize, u8)],
    pub(crate) axes: &'w [usize],
}

/// What changes in the material on the way out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaterialChange {
    /// The mover that disappears.
    pub(crate) captured: Option<usize>,
    /// A man that appears on a square.
    pub(crate) promoted: Option<(Color, Role, Square)>,
}

impl<'a> View<'a> {
    /// The views of `structure` in `table`, whose colours are exchanged against ours if `swapped`,
    /// for the side `turn` to move there: one for every way to match our men with theirs, as far
    /// as theirs can be told apart by their squares. A position is behind at most one of them, or
    /// has the same value in both: twins on the squares of the narrow one. None if the slice is not
    /// solved or the men are not those behind the change.
    pub(crate) fn all(
        table: &'a TableValues,
        swapped: bool,
        structure: PawnSquares,
        turn: Color,
        ours: &Layout,
        change: MaterialChange,
    ) -> Vec<View<'a>> {
        let to_table = Orientation { swap: swapped, mirror: false };
        let Some((slice, to_slice)) = table.find(structure.oriented(to_table)) else {
            return Vec::new();
        };
        let orientation = to_table.then(to_slice);
        let men: Vec<(usize, Color, Role)> = ours
            .movers()
            .iter()
            .enumerate()
            .filter(|&(i, m)| change.captured != Some(i) && m.is_man())
            .map(|(i, m)| (i, m.color, m.role))
            .chain(change.promoted.map(|(color, role, _)| (PROMOTED, color, role)))
            .map(|(i, color, role)| (i, orientation.color(color), role))
            .collect();
        let mut found = Vec::new();
        if men.len() == table.layout.movers().iter().filter(|m| m.is_man()).count() {
            let mut partner = [GONE; MAX_MOVERS + 1];
            match_men(&table.layout, &men, &mut partner, &mut found);
        }
        let [white, black] = &slice.codes;
        let codes = orientation.color(turn).fold_wb(white, black);
        let view = |partner: [u8; MAX_MOVERS + 1]| View {
            slice: slice.as_ref(),
            codes,
            layout: &table.layout,
            orientation,
            promoted: change.promoted.map(|(_, _, square)| (partner[PROMOTED], u8::from(square))),
            partner,
        };
        found.into_iter().map(view).collect()
    }

    /// Whether it holds every position with its men on the given squares: `squares[mover]` are
    /// sets, for our movers; the promoted man's is known.
    pub(crate) fn covers(&self, squares: &[u64]) -> bool {
        let symmetry = self.orientation.symmetry();
        let theirs = self.layout.movers();
        let fits =
            |there: u8, set: u64| symmetry.apply_set(set) & !theirs[there as usize].squares == 0;
        self.layout.mixed().is_empty()
            && self.promoted.is_none_or(|(there, square)| fits(there, 1 << square))
            && squares
                .iter()
                .zip(&self.partner)
                .all(|(&set, &there)| there == GONE || fits(there, set))
    }

    /// The longest distance that can be met in it, in moves.
    pub(crate) fn max_moves(&self) -> u16 {
        self.slice.max_moves
    }

    /// The same with the right to take en passant on `square` (as seen from here), if it can be
    /// used.
    pub(crate) fn with_right(mut self, square: Square) -> View<'a> {
        let there = u8::from(self.orientation.symmetry().apply(square));
        if let Some(right) = self.slice.en_passant.iter().find(|e| e.square == there) {
            self.codes = &right.codes;
        }
        self
    }

    /// Whether [`View::with_right`] makes a difference.
    pub(crate) fn has_right(&self, square: Square) -> bool {
        let there = u8::from(self.orientation.symmetry().apply(square));
        self.slice.en_passant.iter().any(|e| e.square == there)
    }

    fn codes(&self) -> &'a Codes {
        self.codes
    }

    /// Fills `out` with negated codes.
    #[inline(always)]
    pub(crate) fn fetch<I: Isa, C: Code>(&self, section: Section<'_>, out: &mut [C]) {
        match self.codes() {
            Codes::Narrow(codes) => {
                self.fetch_from::<I, C, u8>(&CodeSource::Memory(codes), None, section, out);
            }
            Codes::Wide(codes) => {
                self.fetch_from::<I, C, u16>(&CodeSource::Memory(codes), None, section, out);
            }
            Codes::Stored(stored) if stored.wide => {
                self.fetch_from::<I, C, u16>(&CodeSource::Store(stored), None, section, out);
            }
            Codes::Stored(stored) => {
                let (codes, edge) = match self.edge_codes(stored) {
                    Some((codes, mover)) => (CodeSource::Memory(codes), Some(mover)),
                    None => (CodeSource::Store(stored), None),
                };
                self.fetch_from::<I, C, u8>(&codes, edge, section, out);
            }
        }
    }

    /// The codes of the positions with the promoted man on its last rank, if these are kept, and
    /// how they lie.
    #[inline(always)]
    fn edge_codes(&self, stored: &'a StoredCodes) -> Option<(&'a [u8], &'a EdgeMover)> {
        let (there, _) = self.promoted?;
        let PackedCodes::Edge(edge) = stored.store.packed()? else { return None };
        Some((edge.codes(), edge.shape().mover(self.layout.stride(there as usize))?))
    }

    #[inline(always)]
    fn fetch_from<I: Isa, C: Code, S: Code>(
        &self,
        codes: &CodeSource<'_, S>,
        edge: Option<&EdgeMover>,
        section: Section<'_>,
        out: &mut [C],
    ) {
        let Section { tables, placed, axes } = section;
        let is_whole = |&mover: &usize| {
            let there = self.partner[mover];
            there == GONE || self.layout.has_all_places(there as usize)
        };
        let paired = self.layout.kings() == KingPlacement::Pairs;
        if !paired && !axes.iter().all(is_whole) {
            self.fetch_restricted(codes, section, out);
            return;
        }
        let mut plan = self.fetch_plan(placed, axes, paired);
        if let Some(mover) = edge {
            plan.axes.iter_mut().for_each(|axis| axis.theirs = mover.stride(axis.theirs));
        }
        if paired {
            self.fetch_pairs::<I, C, S>(tables, (codes, edge), &plan, out);
            return;
        }

        let turn = self.orientation.symmetry();
        let Some(base) = self.base(&plan, turn).and_then(|base| place_of(edge, base)) else {
            out.fill(C::ILLEGAL);
            return;
        };
        let turned = Turned::by(tables, turn);
        let mut excerpt = codes.excerpt(base, extent(&plan.axes));
        gather::<I, C, S>(excerpt.codes(), &plan.axes, turned, out);
    }

    /// What has to be copied.
    #[inline(always)]
    fn fetch_plan(&self, placed: &[(usize, u8)], axes: &[usize], paired: bool) -> FetchPlan {
        let mut plan = FetchPlan::default();
        for &(mover, square) in placed {
            match self.partner[mover] {
                GONE => {}
                king if paired && king < 2 => {
                    plan.kings[king as usize] =
                        PairedKing { squares: square..square + 1, stride: 0 };
                }
                there => plan.standing.push((there, square)),
            }
        }
        plan.standing.extend(self.promoted);

        for (i, &mover) in axes.iter().enumerate() {
            let ours = 1 << (6 * (axes.len() - 1 - i));
            match self.partner[mover] {
                // A mover that is no man is nowhere.
                GONE => plan.axes.push(Axis { theirs: 0, ours }),
                king if paired && king < 2 => {
                    plan.kings[king as usize] = PairedKing { squares: 0..64, stride: ours };
                }
                there => {
                    plan.axes.push(Axis { theirs: self.layout.stride(there as usize), ours });
                }
            }
        }

        // An axis that is contiguous there belongs to the inner two loops.
        let len = plan.axes.len();
        if let Some(at) = plan.axes.iter().position(|axis| axis.theirs == 1)
            && at + 2 < len
        {
            plan.axes[at..len - 1].rotate_left(1);
        }
        plan
    }

    /// Where the men that stand are there; none if one of them has no such place.
    #[inline(always)]
    fn base(&self, plan: &FetchPlan, symmetry: Symmetry) -> Option<usize> {
        // A sum of options over an iterator is not inlined: a twentieth of the time of a solution.
        let mut base = 0;
        for &(there, square) in &plan.standing {
            base += self.layout.place(there as usize, symmetry.apply_index(square))?;
        }
        Some(base)
    }

    /// Fetches from a table of paired kings: each pair has a symmetry of its own.
    #[inline(always)]
    fn fetch_pairs<I: Isa, C: Code, S: Code>(
        &self,
        tables: &Tables,
        (codes, edge): (&CodeSource<'_, S>, Option<&EdgeMover>),
        plan: &FetchPlan,
        out: &mut [C],
    ) {
        let turn = self.orientation.symmetry();
        let [white, black] = &plan.kings;
        // Not every pair of squares is one of kings.
        if white.squares.len() != 1 || black.squares.len() != 1 {
            out.fill(C::ILLEGAL);
        }
        for w in white.squares.clone() {
            for b in black.squares.clone() {
                let at = w as usize * white.stride + b as usize * black.stride;
                let pair = self.layout.king_base(turn.apply_index(w), turn.apply_index(b));
                let found = pair.and_then(|(start, symmetry)| {
                    let symmetry = turn.then(symmetry);
                    // Beside paired kings all men have all places.
                    let from = start + self.base(plan, symmetry).unwrap_or(0);
                    Some((place_of(edge, from)?, symmetry))
                });
                let Some((from, symmetry)) = found else {
                    if white.stride == 0 && black.stride == 0 {
                        out.fill(C::ILLEGAL);
                    }
                    continue;
                };
                let turned = Turned::by(tables, symmetry);
                let mut excerpt = codes.excerpt(from, extent(&plan.axes));
                gather::<I, C, S>(excerpt.codes(), &plan.axes, turned, &mut out[at..]);
            }
        }
    }

    /// Fetches from a table whose men have not all 64 squares.
    fn fetch_restricted<C: Code, S: Code>(
        &self,
        codes: &CodeSource<'_, S>,
        section: Section<'_>,
        out: &mut [C],
    ) {
        let Section { tables, placed, axes } = section;
        out.fill(C::ILLEGAL);
        let image = &tables.image[self.orientation.symmetry().index()];
        let place =
            |there: u8, square: u8| self.layout.place(there as usize, image[square as usize & 63]);
        let mut base = 0;
        let placed = placed.iter().map(|&(mover, square)| (self.partner[mover], square));
        for (there, square) in placed.chain(self.promoted) {
            if there == GONE {
                continue;
            }
            let Some(place) = place(there, square) else { return };
            base += place;
        }
        let ways: ArrayVec<[usize; 64], MAX_MOVERS> = axes
            .iter()
            .map(|&mover| {
                let there = self.partner[mover];
                let place = |s: usize| match there {
                    GONE => 0,
                    there => place(there, s as u8).unwrap_or(NOWHERE),
                };
                std::array::from_fn(place)
            })
            .collect();
        let reach = |way: &[usize; 64]| {
            let places = way.iter().filter(|&&place| place != NOWHERE);
            places.max().copied().unwrap_or(0)
        };
        let mut excerpt = codes.excerpt(base, ways.iter().map(reach).sum::<usize>() + 1);
        gather_restricted(excerpt.codes(), 0, &ways, out);
    }
}

for_processor! {
    /// See [`View::fetch`]. A function of its own, because it is large and called in many places.
    fn fetch_view<C: Code>(view: &View<'_>, section: Section<'_>, out: &mut [C]),
    I => view.fetch::<I, C>(section, out)
}

/// Where the code of a place is, if only positions are kept in which a mover stands on certain
/// squares.
#[inline(always)]
fn place_of(edge: Option<&EdgeMover>, at: usize) -> Option<usize> {
    match edge {
        None => Some(at),
        Some(mover) => mover.place(at),
    }
}

/// Where codes come from.
enum CodeSource<'a, S> {
    Memory(&'a [S]),
    Store(&'a StoredCodes),
}

thread_local! {
    /// What is read can be as long as a king pair's part of a table; the room for it is kept.
    static ROOM: RefCell<(Vec<u8>, Vec<u16>)> = RefCell::default();
}

impl<S: Code> CodeSource<'_, S> {
    /// The codes from `from` on, `len` of which are needed.
    ///
    /// Nothing is called with them here: closures that are called in several places are compiled
    /// for any processor, not for the caller's.
    #[inline(always)]
    fn excerpt(&self, from: usize, len: usize) -> Excerpt<'_, S> {
        match self {
            CodeSource::Memory(codes) => Excerpt::Memory(&codes[from..]),
            CodeSource::Store(stored) => {
                let (mut narrow, mut wide) = ROOM.take();
                let room = S::room(&mut narrow, &mut wide);
                room.resize(len.max(room.len()), S::ILLEGAL);
                let len = len.min(stored.len.saturating_sub(from));
                stored.read_inlined(from, &mut room[..len]);
                Excerpt::Room(narrow, wide)
            }
        }
    }
}

/// Some of the codes of a [`CodeSource`].
enum Excerpt<'a, S> {
    Memory(&'a [S]),
    Room(Vec<u8>, Vec<u16>),
}

impl<S: Code> Excerpt<'_, S> {
    #[inline(always)]
    fn codes(&mut self) -> &[S] {
        match self {
            Excerpt::Memory(codes) => codes,
            Excerpt::Room(narrow, wide) => S::room(narrow, wide),
        }
    }
}

impl<S> Drop for Excerpt<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Excerpt::Room(narrow, wide) = self {
            ROOM.set((std::mem::take(narrow), std::mem::take(wide)));
        }
    }
}

/// A man's 64 squares: how far its neighbouring squares are apart there, and here.
#[derive(Clone, Copy)]
struct Axis {
    theirs: usize,
    ours: usize,
}

/// A king of a pair: the squares that are asked for, and how far they are apart here.
#[derive(Default)]
struct PairedKing {
    squares: Range<u8>,
    stride: usize,
}

/// What has to be copied from there.
#[derive(Default)]
struct FetchPlan {
    /// Men besides paired kings that stand: their mover, and the square here.
    standing: ArrayVec<(u8, u8), { MAX_MOVERS + 1 }>,
    /// Men besides paired kings that are everywhere.
    axes: ArrayVec<Axis, MAX_MOVERS>,
    /// Paired kings by their colour there.
    kings: [PairedKing; 2],
}

/// Where each square of ours is there.
#[derive(Clone, Copy)]
struct Turned<'t> {
    image: &'t [u8; 64],
    identity: bool,
}

impl<'t> Turned<'t> {
    #[inline(always)]
    fn by(tables: &'t Tables, symmetry: Symmetry) -> Turned<'t> {
        Turned { image: &tables.image[symmetry.index()], identity: symmetry.is_identity() }
    }

    /// How far a square of ours is from the beginning of an axis there.
    #[inline(always)]
    fn offset(self, square: usize, axis: Axis) -> usize {
        self.image[square] as usize * axis.theirs
    }
}

/// How many codes the axes lie apart there at most, and one.
#[inline(always)]
fn extent(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| 63 * axis.theirs).sum::<usize>() + 1
}

/// No place on an axis.
const NOWHERE: usize = usize::MAX;

/// Copies `out[... s1 * 64 + s0] = -codes[from + ... + ways[1][s1] + ways[0][s0]]` as far as these
/// places exist.
fn gather_restricted<C: Code, S: Code>(
    codes: &[S],
    from: usize,
    ways: &[[usize; 64]],
    out: &mut [C],
) {
    let Some((first, rest)) = ways.split_first() else {
        out[0] = C::convert(codes[from]).negate();
        return;
    };
    if rest.is_empty() {
        for (out, &way) in out.iter_mut().zip(first) {
            if way != NOWHERE {
                *out = C::convert(codes[from + way]).negate();
            }
        }
        return;
    }
    let len = out.len() / 64;
    for (out, &way) in out.chunks_exact_mut(len).zip(first) {
        if way != NOWHERE {
            gather_restricted(codes, from + way, rest, out);
        }
    }
}

/// Finds the ways to match men (mover here, colour and role there) with the movers of a layout.
/// Like movers on the same squares are not told apart.
fn match_men(
    layout: &Layout,
    men: &[(usize, Color, Role)],
    partner: &mut [u8; MAX_MOVERS + 1],
    found: &mut Vec<[u8; MAX_MOVERS + 1]>,
) {
    let Some((&(man, color, role), rest)) = men.split_first() else {
        found.push(*partner);
        return;
    };
    let movers = layout.movers();
    let mut tried: ArrayVec<u64, MAX_MOVERS> = ArrayVec::new();
    for (there, mover) in movers.iter().enumerate() {
        let free = !partner.contains(&(there as u8));
        let fits = mover.color == color && mover.role == role;
        if free && fits && !tried.contains(&mover.squares) {
            tried.push(mover.squares);
            partner[man] = there as u8;
            match_men(layout, rest, partner, found);
            partner[man] = GONE;
        }
    }
}

/// Copies `out[sum of s_i * ours_i] = -codes[sum of image(s_i) * theirs_i]` for all squares `s_i`
/// of the axes:
///
/// ```text
///     codes (theirs)                      out (ours)
///     a1: . . . b1 c1                     a1 a2 a3 ..
///     a2: . . . b2 c2        ->           b1 b2 b3 ..
/// ```
#[inline(always)]
fn gather<I: Isa, C: Code, S: Code>(codes: &[S], axes: &[Axis], turned: Turned<'_>, out: &mut [C]) {
    let len = 1 << (6 * axes.len());
    let contiguous = axes.iter().enumerate().all(|(i, &Axis { theirs, ours })| {
        theirs == ours && ours == 1 << (6 * (axes.len() - 1 - i))
    });
    if turned.identity && contiguous {
        for (o, &c) in out[..len].iter_mut().zip(&codes[..len]) {
            *o = C::convert(c).negate();
        }
        return;
    }
    match *axes {
        [] => out[0] = C::convert(codes[0]).negate(),
        [one] => gather_row::<I, C, S>(codes, one, turned, out),
        [first, second] => gather_plane::<I, C, S>(codes, [first, second], turned, out),
        [first, second, third] => {
            for s in 0..64 {
                let (codes, out) = (&codes[turned.offset(s, first)..], &mut out[s * first.ours..]);
                gather_plane::<I, C, S>(codes, [second, third], turned, out);
            }
        }
        // Rare: seven men and more.
        _ => gather_deep(codes, axes, turned, out),
    }
}

fn gather_deep<C: Code, S: Code>(codes: &[S], axes: &[Axis], turned: Turned<'_>, out: &mut [C]) {
    match axes {
        [] => out[0] = C::convert(codes[0]).negate(),
        [first, rest @ ..] => {
            for s in 0..64 {
                let (codes, out) = (&codes[turned.offset(s, *first)..], &mut out[s * first.ours..]);
                gather_deep(codes, rest, turned, out);
            }
        }
    }
}

#[inline(always)]
fn gather_row<I: Isa, C: Code, S: Code>(
    codes: &[S],
    axis: Axis,
    turned: Turned<'_>,
    out: &mut [C],
) {
    if axis.theirs == 1 && axis.ours == 1 {
        if let (Some(row), Some(out)) = (codes.first_chunk::<64>(), out.first_chunk_mut::<64>()) {
            let row = rearranged::<I, S>(row, turned.image);
            for i in 0..64 {
                out[i] = C::convert(row[i]).negate();
            }
        }
        return;
    }
    for s in 0..64 {
        out[s * axis.ours] = C::convert(codes[turned.offset(s, axis)]).negate();
    }
}

#[inline(always)]
fn gather_plane<I: Isa, C: Code, S: Code>(
    codes: &[S],
    [first, second]: [Axis; 2],
    turned: Turned<'_>,
    out: &mut [C],
) {
    // Rows there are columns here: 64 by 64 codes change places.
    if first.theirs == 1 && second.ours == 1 {
        let row = |s: usize| codes[s * second.theirs..].first_chunk::<64>();
        if row(63).is_some() {
            let columns = transposed(|s| *row(s).unwrap_or(&[S::ILLEGAL; 64]));
            for (s, &theirs) in turned.image.iter().enumerate() {
                let row = rearranged::<I, S>(&columns[theirs as usize & 63], turned.image);
                let out = &mut out[s * first.ours..][..64];
                for (out, &code) in out.iter_mut().zip(&row) {
                    *out = C::convert(code).negate();
                }
            }
            return;
        }
    }
    let (outer, inner) = if first.theirs == 1 { (second, first) } else { (first, second) };
    for s in 0..64 {
        let (codes, out) = (&codes[turned.offset(s, outer)..], &mut out[s * outer.ours..]);
        gather_row::<I, C, S>(codes, inner, turned, out);
    }
}
