//! Which slice a position belongs to, and where its pieces stand in it.

use arrayvec::ArrayVec;
use hoffman_board::shakmaty::{Chess, Position as _};
use hoffman_board::{Bitboard, Color, MAX_PIECES, Material, Rank, Role, Square, Variant};
use hoffman_space::{Layout, Mover, PawnSquares};

use crate::assumptions::Assumptions;
use crate::endings::{LEAF_BYTES, is_solved_as_leaf};
use crate::posted::Posted;

/// The men of slices; pieces stand everywhere, or one of them where it has just landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SliceFamily {
    pub(crate) material: Material,
    /// A piece that a pawn has become, or that has taken one, on its square.
    pub(crate) landed: Option<(Color, Role, Square)>,
    /// Pieces on squares that the assumptions exclude.
    pub(crate) posted: Posted,
}

/// A slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) family: SliceFamily,
    pub(crate) pawns: PawnSquares,
}

impl Key {
    /// The slice in which the pieces of so many men stand everywhere, but on excluded squares.
    pub(crate) fn of(material: Material, pawns: PawnSquares) -> Key {
        Key { family: SliceFamily { material, landed: None, posted: Posted::default() }, pawns }
    }

    /// How many pieces besides the kings there are.
    pub(crate) fn pieces(&self) -> u32 {
        self.family.material.men() as u32 - 2 - self.pawns.occupied().count_ones()
    }

    /// What solving it takes at most, in bytes: the codes of both sides and planes beside them; or
    /// its whole ending.
    pub(crate) fn needs(&self, assumptions: &Assumptions) -> usize {
        if is_solved_as_leaf(&self.family.material, assumptions) {
            return LEAF_BYTES;
        }
        let mut landed = self.family.landed;
        let mut needs = 8_usize;
        let kings = Color::ALL.map(|color| (color, Role::King));
        let men = self.family.material.men_in_naming_order().into_iter().chain(kings);
        for (color, role) in men.filter(|man| man.1 != Role::Pawn) {
            // A piece that has just landed has one square.
            if landed.take_if(|piece| (piece.0, piece.1) == (color, role)).is_none() {
                needs = needs.saturating_mul(assumptions.free_squares(color, role).count());
            }
        }
        needs
    }

    /// Every move that leaves a slice leads to one of lower rank.
    pub(crate) fn rank(&self, assumptions: &Assumptions) -> u32 {
        let left = |color: Color| -> u32 {
            let pawns = Bitboard(self.pawns.of(color)).into_iter();
            let ranks = pawns.map(|s| color.relative_rank(s.rank()));
            ranks.map(|rank| u32::from(Rank::Eighth) - u32::from(rank)).sum()
        };
        // A piece comes once where it may not leave, and leaves once where it may not come.
        let men = self.family.posted.men();
        let (stay, go): (Vec<_>, Vec<_>) = men.partition(|m| assumptions.is_from(m.0, m.1, m.2));
        let posted = 16 + go.len() as u32 - stay.len() as u32;
        128 * (left(Color::White) + left(Color::Black)) + 4 * self.pieces() + posted
    }
}

/// Colour, role, square.
pub(crate) type Placed = (Color, Role, u8);

/// The pieces of a position.
pub(crate) type Pieces = ArrayVec<Placed, MAX_PIECES>;
/// The squares of the movers of a layout.
pub(crate) type Squares = ArrayVec<u8, MAX_PIECES>;

/// The slice of a position, and its pieces.
pub(crate) fn key_of(position: &Chess, assumptions: &Assumptions) -> (Key, Pieces) {
    let board = position.board();
    let material = Material { count: board.material() };
    let of = |color| u64::from(board.pawns() & board.by_color(color));
    let pawns = PawnSquares { white: of(Color::White), black: of(Color::Black) };
    let pieces = || {
        let squares = (board.occupied() & !board.pawns()).into_iter();
        squares.filter_map(|at| board.piece_at(at).map(|man| (man.color, man.role, at)))
    };
    let placed = pieces().map(|(color, role, square)| (color, role, u8::from(square))).collect();
    let mut key = Key::of(material, pawns);
    if assumptions.excludes() {
        let posted = pieces().filter(|man| assumptions.is_excluded(man.0, man.1, man.2));
        key.family.posted = Posted::of(posted);
    }
    (key, placed)
}

/// The squares of the movers of a layout.
pub(crate) fn squares_of(layout: &Layout, placed: &[Placed]) -> Option<Squares> {
    let mut left: Pieces = placed.iter().copied().collect();
    let movers = layout.movers().iter();
    let squares = movers.map(|mover| {
        let fits = |&(color, role, square): &Placed| {
            (color, role) == (mover.color, mover.role) && mover.squares >> square & 1 != 0
        };
        let at = left.iter().position(fits)?;
        Some(left.remove(at).2)
    });
    squares.collect()
}

/// The layout of the slices of a family.
pub(crate) fn layout_of(family: &SliceFamily, assumptions: &Assumptions) -> Layout {
    let SliceFamily { material, landed, posted } = *family;
    let mut posted: Vec<(Color, Role, Square)> = posted.men().collect();
    let mut movers: Vec<Mover> = Vec::new();
    let mut placed = false;
    for of in Color::ALL {
        let kings = (of, Role::King);
        let pieces = material.men_in_naming_order().into_iter();
        let pieces = pieces.filter(|man| man.0 == of && man.1 != Role::Pawn && man.1 != Role::King);
        for (color, role) in std::iter::once(kings).chain(pieces) {
            let stands = landed.filter(|piece| !placed && (piece.0, piece.1) == (color, role));
            placed |= stands.is_some();
            let post = posted.iter().position(|man| (man.0, man.1) == (color, role));
            let stands = stands.or_else(|| post.map(|at| posted.remove(at)));
            let squares = match stands {
                Some((_, _, square)) => Bitboard::from_square(square),
                None => assumptions.free_squares(color, role),
            };
            movers.push(Mover { color, role, squares: squares.0 });
        }
    }
    Layout::restricted(&movers, material.has_pawns(), Variant::Normal)
}
