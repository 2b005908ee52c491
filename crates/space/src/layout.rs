//! The layout of a slice: where in its array of values a position stands.
//!
//! The men that move inside a slice are the **movers**. The last one is the **lane**: 64 positions
//! that differ only in its square make one row. A placement of the **outer** movers is a block;
//! the others are inner movers. In a complete ending the order is: both kings, then White's
//! pieces, then Black's, each side queen, rook, bishop, knight; without pawns the 462 canonical
//! king pairs take the place of the kings' squares. Removing a mover keeps the order of the
//! others, so the values of a smaller ending can mostly be read as they stand.
//!
//! Where pieces are restricted, those with few squares become outer movers and have one place for
//! each square they may stand on. Inner movers always have 64 places. Like men whose squares
//! overlap have the union of their squares, but for [`Twins`].

use hoffman_board::{Color, Material, Role, Symmetry, Variant, material::NAMING_ORDER};

use crate::kings::king_pairs;
use crate::overlaps::{Groups, MixedGroup, Twins, unite_groups};

/// A restricted man with at most this many squares is an outer mover. Below it the compact axis
/// saves more than the dense kernels of inner movers gain.
pub(crate) const FEW_SQUARES: u32 = 16;

/// With so many blocks of one row they should be fewer, of 64 rows: that takes a third of the
/// time. With more of them the memory for squares on which the man may not stand would count.
const MANY_BLOCKS: std::ops::RangeInclusive<u64> = 1024..=1 << 16;

/// The fewest squares of a piece that may get 64 places for that.
const NOT_FEW: u32 = 8;

/// No place: the man may not stand there.
const NOWHERE: u32 = u32::MAX;

/// A man that moves inside a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mover {
    /// Whose piece it is.
    pub color: Color,
    /// What it is; never a pawn. (A mover that is one stands for no man: tables of pawns alone
    /// have it as their lane, on a1.)
    pub role: Role,
    /// The squares that it, or a man that it can be mistaken for, may stand on; of the narrow one
    /// of [`Twins`] only its own.
    pub squares: u64,
}

impl Mover {
    /// Whether it stands for a man.
    pub fn is_man(&self) -> bool {
        self.role != Role::Pawn
    }
}

/// How the two kings are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KingPlacement {
    /// 462 canonical pairs, all other men moved along by the symmetry.
    Pairs,
    /// An axis each, as for other men.
    Axes,
}

/// The arrangement of a slice's positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    movers: Vec<Mover>,
    kings: KingPlacement,
    variant: Variant,
    outer: usize,
    strides: Vec<usize>,
    /// `places[mover][square]` in units of the stride; empty for an axis of 64 squares.
    places: Vec<Vec<u32>>,
    mixed: Vec<MixedGroup>,
    twins: Option<Twins>,
    len: usize,
}

/// The movers of an ending in their order, each on all squares.
fn complete_movers(material: &Material) -> Vec<Mover> {
    let mut movers = Vec::new();
    let mut add = |color: Color, role: Role| {
        let n = *material.count.get(color).get(role);
        movers.extend((0..n).map(|_| Mover { color, role, squares: u64::MAX }));
    };
    for color in Color::ALL {
        add(color, Role::King);
    }
    for color in Color::ALL {
        for role in NAMING_ORDER.into_iter().filter(|&role| role != Role::Pawn) {
            add(color, role);
        }
    }
    movers
}

impl Layout {
    /// The layout of all slices of an ending of normal chess.
    pub fn new(material: &Material) -> Layout {
        let movers = complete_movers(material);
        if material.has_pawns() || movers.len() < 3 {
            return Layout::with_axes(&movers, Variant::Normal, Groups::default());
        }
        let places = |men: usize| 64_usize.checked_pow(men as u32).unwrap_or(usize::MAX);
        let strides = (0..movers.len()).map(|m| places(movers.len() - 1 - m)).collect();
        let len = king_pairs().pairs.len().saturating_mul(places(movers.len() - 2));
        let places = vec![Vec::new(); movers.len()];
        Layout {
            movers,
            kings: KingPlacement::Pairs,
            variant: Variant::Normal,
            outer: 2,
            strides,
            places,
            mixed: Vec::new(),
            twins: None,
            len,
        }
    }

    /// The layout of an ending in which mirror images are told apart.
    pub fn without_symmetry(material: &Material) -> Layout {
        Layout::with_axes(&complete_movers(material), Variant::Normal, Groups::default())
    }

    /// The layout for pieces (no pawns) each of which may stand on a set of squares. Pieces on all
    /// squares under the rules of normal chess get the layout of their ending, if there are
    /// `pawns` or not.
    pub fn restricted(pieces: &[Mover], pawns: bool, variant: Variant) -> Layout {
        let mut material = Material::from_men(pieces.iter().map(|m| (m.color, m.role)));
        let kings = |color: Color| *material.count.get(color).get(Role::King);
        let normal = variant == Variant::Normal && Color::ALL.iter().all(|&c| kings(c) == 1);
        if normal && pieces.iter().all(|m| m.squares == u64::MAX) {
            material.count.white.pawn = u8::from(pawns);
            return Layout::new(&material);
        }
        let mut movers = complete_movers(&material);
        let mut given = pieces.to_vec();
        for mover in &mut movers {
            let like = |m: &Mover| m.color == mover.color && m.role == mover.role;
            if let Some(at) = given.iter().position(like) {
                mover.squares = given.remove(at).squares;
            }
        }
        if movers.is_empty() {
            // Pawns alone, in suicide chess: something has to be the lane.
            movers.push(Mover { color: Color::White, role: Role::Pawn, squares: 1 });
        }
        let groups = unite_groups(&mut movers);
        Layout::with_axes(&movers, variant, groups)
    }

    /// Chooses outer and inner movers. `groups` are numbered by the order of `movers`.
    fn with_axes(movers: &[Mover], variant: Variant, groups: Groups) -> Layout {
        let Groups { mixed, twins } = groups;
        let [narrow, wide] =
            twins.as_ref().map_or([usize::MAX; 2], |&(narrow, wide, _)| [narrow, wide]);
        let is_outer = outer_movers(movers, narrow, wide);
        let order: Vec<usize> = (0..movers.len())
            .filter(|&m| is_outer[m])
            .chain((0..movers.len()).filter(|&m| !is_outer[m] && m != wide))
            .chain((0..movers.len()).filter(|&m| m == wide))
            .collect();

        let outer = is_outer.iter().filter(|&&outer| outer).count();
        let reordered = |group: MixedGroup| group.reordered(&order);
        let twins = twins.map(|(narrow, _, group)| Twins {
            narrow: order.iter().position(|&m| m == narrow).unwrap_or(0),
            squares: movers[narrow].squares,
            group: reordered(group),
        });

        let mixed = mixed.into_iter().map(reordered).collect();
        let movers: Vec<Mover> = order.iter().map(|&m| movers[m]).collect();
        let mut strides = vec![1; movers.len()];
        let mut places = vec![Vec::new(); movers.len()];
        let mut len = 1_usize;

        for (m, mover) in movers.iter().enumerate().rev() {
            strides[m] = len;
            let restricted = m < outer && mover.squares != u64::MAX;
            if restricted {
                places[m] = numbered_squares(mover.squares);
            }
            let squares = if restricted { mover.squares.count_ones() } else { 64 };
            len = len.saturating_mul(squares as usize);
        }

        let kings = KingPlacement::Axes;
        Layout { movers, kings, variant, outer, strides, places, mixed, twins, len }
    }

    /// The movers; the last one is the lane.
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// How the kings are laid out.
    pub fn kings(&self) -> KingPlacement {
        self.kings
    }

    /// The rules: under those of suicide chess kings are pieces like others.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// How many movers, the first ones, are outer.
    pub fn outer(&self) -> usize {
        self.outer
    }

    /// The groups of like men whose squares overlap without being equal, besides the twins.
    pub fn mixed(&self) -> &[MixedGroup] {
        &self.mixed
    }

    /// Two like men, one with some of the squares of the other, if there are any and the layout
    /// makes use of it.
    pub fn twins(&self) -> Option<&Twins> {
        self.twins.as_ref()
    }

    /// Whether men may stand on squares of others like them that are not their own.
    pub fn has_overlaps(&self) -> bool {
        !self.mixed.is_empty() || self.twins.is_some()
    }

    /// Whether every man may stand everywhere.
    pub fn is_complete(&self) -> bool {
        self.movers.iter().all(|m| m.squares == u64::MAX) && self.mixed.is_empty()
    }

    /// The number of values of one side to move; `usize::MAX` if it is larger than that, and the
    /// layout useless.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no positions: some man has no square.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The distance in the array between neighbouring places of mover `m`, as if it were an axis.
    #[inline]
    pub fn stride(&self, m: usize) -> usize {
        self.strides[m]
    }

    /// Whether mover `m` has a place for each of the 64 squares, in their order.
    #[inline]
    pub fn has_all_places(&self, m: usize) -> bool {
        self.places[m].is_empty()
    }

    /// What mover `m` on a square adds to the place of a position; none if it has no place there.
    /// Not for paired kings.
    #[inline]
    pub fn place(&self, m: usize, square: u8) -> Option<usize> {
        match self.places[m].get(square as usize) {
            None => Some(square as usize * self.strides[m]),
            Some(&NOWHERE) => None,
            Some(&place) => Some(place as usize * self.strides[m]),
        }
    }

    /// The square on which mover `m` stands at a place in the array. Not for paired kings.
    #[inline]
    pub fn square(&self, m: usize, offset: usize) -> u8 {
        let place = offset / self.strides[m];
        if self.has_all_places(m) {
            return (place % 64) as u8;
        }
        let squares = self.movers[m].squares;
        let place = place % squares.count_ones() as usize;
        (0..place).fold(squares, |rest, _| rest & (rest - 1)).trailing_zeros() as u8
    }

    /// Where the positions with these king squares begin, and the symmetry to apply to all other
    /// men; none if the kings touch and the layout has no place for that. For complete endings.
    #[inline]
    pub fn king_base(&self, white: u8, black: u8) -> Option<(usize, Symmetry)> {
        match self.kings {
            KingPlacement::Pairs => king_pairs()
                .find(white, black)
                .map(|(pair, symmetry)| (pair << (6 * (self.movers.len() - 2)), symmetry)),
            KingPlacement::Axes => Some((
                white as usize * self.stride(0) + black as usize * self.stride(1),
                Symmetry::IDENTITY,
            )),
        }
    }

    /// The place of a position given by the squares of the movers; none if it has none.
    pub fn offset(&self, squares: &[u8]) -> Option<usize> {
        if self.kings == KingPlacement::Axes {
            let wide = squares.len() - 1;
            let strays = |twins: &&Twins| twins.squares >> squares[twins.narrow] & 1 == 0;
            let played_by = |m: usize| match self.twins.as_ref().filter(strays) {
                Some(twins) if m == twins.narrow => wide,
                Some(twins) if m == wide => twins.narrow,
                _ => m,
            };
            return (0..=wide).map(|m| self.place(m, squares[played_by(m)])).sum();
        }
        let (&[white, black], rest) = squares.split_first_chunk()?;
        let (base, symmetry) = self.king_base(white, black)?;
        let mut offset = base;
        for (i, &s) in rest.iter().enumerate() {
            offset += symmetry.apply_index(s) as usize * self.stride(i + 2);
        }
        Some(offset)
    }

    /// The squares that `mover` may stand on, as far as restrictions go, the others standing on
    /// `squares`; its own there does not count.
    pub fn admitted(&self, squares: &[u8], mover: usize) -> u64 {
        // Where a piece may stand that can be mistaken for a mover.
        let squares_of = |m: usize| match (&self.twins, self.movers.last()) {
            (Some(twins), Some(wide)) if m == twins.narrow => wide.squares,
            _ => self.movers.get(m).map_or(0, |m| m.squares),
        };
        let mut others = squares.iter().enumerate().filter(|&(m, _)| m != mover);
        if !others.all(|(m, &s)| squares_of(m) >> s & 1 != 0) {
            return 0;
        }
        let twins = self.twins.iter().map(|twins| &twins.group);
        self.mixed.iter().chain(twins).fold(squares_of(mover), |admitted, group| {
            // One of the group plays the part of the piece sought.
            let Some((&last, rest)) = group.movers.split_last() else { return admitted };
            let sought = if group.movers.contains(&mover) { mover } else { last };
            let known = rest.iter().chain([&last]).filter(|&&m| m != sought);
            let set = group.admitted(&known.map(|&m| squares[m]));
            if sought == mover {
                admitted & set
            } else if set >> squares[sought] & 1 != 0 {
                admitted
            } else {
                0
            }
        })
    }
}

/// Which movers are outer: those with few squares, and kings if there are too many others.
/// `narrow` and `wide` are twins, if there are any.
fn outer_movers(movers: &[Mover], narrow: usize, wide: usize) -> Vec<bool> {
    let few = |m: &Mover| m.squares.count_ones() <= FEW_SQUARES;
    let mut is_outer: Vec<bool> = movers.iter().map(few).collect();
    let widest = |among: &dyn Fn(usize) -> bool| {
        let movers = (0..movers.len()).zip(movers).filter(|&(m, _)| among(m));
        movers.max_by_key(|(_, mover)| mover.squares.count_ones()).map(|(m, _)| m)
    };

    // One has to be the lane.
    if is_outer.iter().all(|&outer| outer)
        && let Some(widest) = widest(&|_| true)
    {
        is_outer[widest] = false;
    }

    // Where there are very many small blocks one more mover is inner.
    let outer = movers.iter().zip(&is_outer).filter(|(_, outer)| **outer);
    let squares = outer.map(|(m, _)| u64::from(m.squares.count_ones()));
    let blocks = squares.fold(1, u64::saturating_mul);
    if is_outer.iter().filter(|&&outer| !outer).count() == 1 && MANY_BLOCKS.contains(&blocks) {
        let may_be_inner =
            |m: usize| is_outer[m] && m != narrow && movers[m].squares.count_ones() >= NOT_FEW;
        if let Some(widest) = widest(&may_be_inner) {
            is_outer[widest] = false;
        }
    }

    // The kings make room first: as outer men they cost least.
    for m in 0..movers.len() {
        let inner = is_outer.iter().filter(|&&outer| !outer).count();
        if inner > 3 && movers[m].role == Role::King && m != wide {
            is_outer[m] = true;
        }
    }
    is_outer
}

/// The number of each square within a set, [`NOWHERE`] for the others.
fn numbered_squares(set: u64) -> Vec<u32> {
    let number = |square: u32| (set & ((1 << square) - 1)).count_ones();
    (0..64).map(|s| if set >> s & 1 != 0 { number(s) } else { NOWHERE }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mover(color: Color, role: Role, squares: u64) -> Mover {
        Mover { color, role, squares }
    }

    #[test]
    fn few_squares_make_few_places() {
        let pieces = [
            mover(Color::White, Role::King, 0xff),
            mover(Color::White, Role::Rook, 0x0f0f),
            mover(Color::Black, Role::King, u64::MAX),
            mover(Color::Black, Role::Queen, u64::MAX),
        ];
        let layout = Layout::restricted(&pieces, true, Variant::Normal);
        assert_eq!((layout.outer(), layout.len()), (2, 8 * 8 * 64 * 64));
        let order: Vec<(Color, Role)> = layout.movers().iter().map(|m| (m.color, m.role)).collect();
        assert_eq!(order[1], (Color::White, Role::Rook));
        assert_eq!(layout.offset(&[3, 8, 63, 5]), Some(((3 * 8 + 4) * 64 + 63) * 64 + 5));
        assert_eq!(layout.offset(&[3, 4, 63, 5]), None);
        let at = ((3 * 8 + 4) * 64 + 63) * 64 + 5;
        assert_eq!([0, 1, 2, 3].map(|m| layout.square(m, at)), [3, 8, 63, 5]);
    }

    #[test]
    fn many_small_blocks_make_room_for_a_man() {
        let layout = |kings: u64, rooks: u64| {
            let mut pieces = vec![mover(Color::White, Role::Rook, rooks); 3];
            pieces.extend(Color::ALL.map(|color| mover(color, Role::King, kings)));
            Layout::restricted(&pieces, false, Variant::Normal)
        };
        let outer_and_len = |layout: &Layout| (layout.outer(), layout.len());
        assert_eq!(outer_and_len(&layout(0x3f, 0x1ff)), (3, 6 * 6 * 9 * 64 * 64));
        assert_eq!(outer_and_len(&layout(0xf, 0x7f)), (4, 4 * 4 * 7 * 7 * 64));
        assert_eq!(outer_and_len(&layout(0x7, 0xff)), (4, 3 * 3 * 8 * 8 * 64));
        assert_eq!(outer_and_len(&layout(0xffff, 0xffff)), (3, 16 * 16 * 16 * 64 * 64));
        assert_eq!(outer_and_len(&layout(0xffff, 0x7f)), (3, 7 * 7 * 7 * 64 * 64));
    }

    #[test]
    fn overlapping_like_men_share_their_squares() {
        let pieces = [
            mover(Color::White, Role::King, u64::MAX),
            mover(Color::White, Role::Rook, 0b0111),
            mover(Color::White, Role::Rook, 0b1100),
            mover(Color::White, Role::Rook, 1 << 20),
            mover(Color::Black, Role::King, u64::MAX),
        ];
        let layout = Layout::restricted(&pieces, false, Variant::Normal);
        let rooks: Vec<u64> =
            layout.movers().iter().filter(|m| m.role == Role::Rook).map(|m| m.squares).collect();
        assert_eq!(rooks, [0b1111, 0b1111, 1 << 20]);
        assert_eq!(layout.mixed().len(), 1);
        let at = |a: u8, b: u8| {
            let stands = [a, b, 20, 40, 60];
            let ways: Vec<bool> =
                (0..5).map(|m| layout.admitted(&stands, m) >> stands[m] & 1 != 0).collect();
            assert!(ways.iter().all(|&way| way == ways[0]), "{ways:?}");
            ways[0]
        };
        assert!(at(0, 2) && at(2, 0) && at(3, 1));
        assert!(!at(0, 1), "nobody stands on the second rook's squares");
    }

    #[test]
    fn twins_keep_their_squares() {
        let file = 0x0101_0101_0101_0101;
        let pieces = [
            mover(Color::White, Role::King, u64::MAX),
            mover(Color::White, Role::Rook, u64::MAX),
            mover(Color::White, Role::Rook, file),
            mover(Color::Black, Role::King, u64::MAX),
            mover(Color::Black, Role::Knight, 0xff),
        ];
        let layout = Layout::restricted(&pieces, false, Variant::Normal);
        let roles: Vec<Role> = layout.movers().iter().map(|m| m.role).collect();
        assert_eq!(roles, [Role::Rook, Role::Knight, Role::King, Role::King, Role::Rook]);
        assert_eq!((layout.outer(), layout.len()), (2, 8 * 8 * 64 * 64 * 64));
        let twins = layout.twins().unwrap();
        assert_eq!((twins.narrow, twins.squares), (0, file));
        // A placement has one place, or two that are counted once.
        let of = |one: u8, other: u8| layout.offset(&[one, 3, 36, 50, other]);
        assert_eq!(of(8, 29), of(29, 8));
        assert_eq!(of(30, 29), None);
        assert_ne!(of(8, 16), of(16, 8));
        assert!(twins.once(8) >> 16 & 1 != 0 && twins.once(16) >> 8 & 1 == 0);
        assert!(twins.once(56) >> 29 & 1 != 0 && twins.once(56) & file == 0);
        // Both may go where the other one's squares allow it.
        let squares =
            |one: u8, other: u8, mover: usize| layout.admitted(&[one, 3, 36, 50, other], mover);
        assert_eq!(squares(8, 29, 0), file);
        assert_eq!(squares(8, 16, 0), u64::MAX);
        assert_eq!(squares(8, 29, 4), u64::MAX);
        assert_eq!(squares(29, 8, 4), file);
        assert_eq!(squares(8, 29, 1), 0xff);
        assert_eq!(squares(30, 29, 1), 0);
        // With few squares for both, or three men, it is not worth it.
        for (squares, men) in [(0xffff, 2), (u64::MAX, 3)] {
            let mut pieces = vec![mover(Color::White, Role::Rook, squares); men];
            pieces[0].squares = 0xff;
            pieces.extend(Color::ALL.map(|color| mover(color, Role::King, u64::MAX)));
            assert!(Layout::restricted(&pieces, false, Variant::Normal).twins().is_none());
        }
    }

    #[test]
    fn free_pieces_have_the_layout_of_their_ending() {
        let material: Material = "KRvK".parse().unwrap();
        let pieces = [
            mover(Color::White, Role::King, u64::MAX),
            mover(Color::Black, Role::King, u64::MAX),
            mover(Color::White, Role::Rook, u64::MAX),
        ];
        assert_eq!(Layout::restricted(&pieces, false, Variant::Normal), Layout::new(&material));
    }
}
