//! Views: the values behind an exit, read in the row order of the slice that the exit leaves.
//!
//! The values lie in another slice, often of another ending, whose colours may be exchanged, whose board
//! may be mirrored and whose king pairs may be seen through any of the eight symmetries. A view knows
//! which mover there is which mover here; fetching copies what one block needs, already negated, so
//! that a fetched code is what the move is worth to the player who makes it (0: no such move).

use hoffman_board::{Color, Role, Symmetry};
use hoffman_space::{
    Code, Codes, KingPlacement, Layout, Orientation, PawnStructure, SliceValues, TableValues,
};

use crate::kernels::isa::{Isa, rearranged};
use crate::kernels::tables::Tables;

/// Movers in order, as the layouts number them.
pub(crate) const MAX_MOVERS: usize = 16;
const GONE: u8 = u8::MAX;

/// Another slice, with the correspondence of its movers to ours.
#[derive(Clone)]
pub(crate) struct View<'a> {
    pub(crate) slice: &'a SliceValues,
    codes: &'a Codes,
    layout: &'a Layout,
    pub(crate) orientation: Orientation,
    /// `partner[mover here]`: mover there, or [`GONE`].
    partner: [u8; MAX_MOVERS],
    /// Mover there and the square (as seen from here) of a newly promoted man.
    promoted: Option<(u8, u8)>,
}

/// What changes in the material on the way out.
#[derive(Clone, Copy, Default)]
pub(crate) struct Change {
    /// The mover that disappears.
    pub(crate) captured: Option<usize>,
    /// A man that appears on a square.
    pub(crate) promoted: Option<(Color, Role, u8)>,
}

impl<'a> View<'a> {
    /// The view of `structure` in `table`, whose colours are exchanged against ours if `swapped`, for
    /// the side `turn` to move there. None if the slice is not solved.
    pub(crate) fn new(
        table: &'a TableValues,
        swapped: bool,
        structure: PawnStructure,
        turn: Color,
        ours: &Layout,
        change: Change,
    ) -> Option<View<'a>> {
        let to_table = Orientation { swap: swapped, mirror: false };
        let (slice, to_slice) = table.find(structure.oriented(to_table))?;
        let orientation = to_table.then(to_slice);
        let theirs = table.layout.movers();
        let mut taken = [false; MAX_MOVERS];
        let mut find = |color: Color, role: Role| {
            let color = orientation.color(color);
            let at = (0..theirs.len())
                .find(|&i| !taken[i] && theirs[i].color == color && theirs[i].role == role)?;
            taken[at] = true;
            Some(at as u8)
        };
        let mut partner = [GONE; MAX_MOVERS];
        for (i, mover) in ours.movers().iter().enumerate() {
            if change.captured != Some(i) {
                partner[i] = find(mover.color, mover.role)?;
            }
        }
        let promoted = match change.promoted {
            Some((color, role, square)) => Some((find(color, role)?, square)),
            None => None,
        };
        let codes = &slice.codes[orientation.color(turn) as usize ^ 1];
        Some(View { slice, codes, layout: &table.layout, orientation, partner, promoted })
    }

    /// The longest distance that can be met in it, in moves.
    pub(crate) fn max_moves(&self) -> u16 {
        self.slice.max_moves
    }

    /// The same with the right to take en passant on `square` (as seen from here), if it can be used.
    pub(crate) fn with_right(mut self, square: u8) -> View<'a> {
        let there = self.orientation.symmetry().apply_index(square);
        if let Some(right) = self.slice.en_passant.iter().find(|e| e.square == there) {
            self.codes = &right.codes;
        }
        self
    }

    fn codes(&self) -> &'a Codes {
        self.codes
    }

    /// Fills `out` with negated codes: `axes` are movers of ours, the last one fastest, 64 squares each;
    /// all other movers that still exist stand on the squares given by `placed`.
    #[inline(always)]
    pub(crate) fn fetch<I: Isa, C: Code>(
        &self,
        tables: &Tables,
        placed: &[(usize, u8)],
        axes: &[usize],
        out: &mut [C],
    ) {
        match self.codes() {
            Codes::Narrow(codes) => self.fetch_from::<I, C, u8>(tables, codes, placed, axes, out),
            Codes::Wide(codes) => self.fetch_from::<I, C, u16>(tables, codes, placed, axes, out),
        }
    }

    #[inline(always)]
    fn fetch_from<I: Isa, C: Code, S: Code>(
        &self,
        tables: &Tables,
        codes: &[S],
        placed: &[(usize, u8)],
        axes: &[usize],
        out: &mut [C],
    ) {
        let turn = self.orientation.symmetry();
        let paired = self.layout.kings() == KingPlacement::Pairs;
        // Men besides paired kings: (their mover, square here) and (their stride, stride in `out`).
        let mut standing = [(0, 0); MAX_MOVERS];
        let mut standing_len = 0;
        let mut moving = [(0, 0); MAX_MOVERS];
        let mut moving_len = 0;
        // Paired kings by their colour: square here, or stride in `out`.
        let mut kings = [(0..0, 0), (0..0, 0)];
        for &(mover, square) in placed {
            let there = self.partner[mover];
            if there == GONE {
                continue;
            }
            if paired && there < 2 {
                kings[there as usize] = (square..square + 1, 0);
            } else {
                standing[standing_len] = (there, square);
                standing_len += 1;
            }
        }
        if let Some((there, square)) = self.promoted {
            standing[standing_len] = (there, square);
            standing_len += 1;
        }
        for (i, &mover) in axes.iter().enumerate() {
            let there = self.partner[mover];
            let stride = 1 << (6 * (axes.len() - 1 - i));
            if paired && there < 2 {
                kings[there as usize] = (0..64, stride);
            } else {
                moving[moving_len] = (self.layout.stride(there as usize), stride);
                moving_len += 1;
            }
        }
        let moving = &mut moving[..moving_len];
        // An axis that is contiguous there belongs to the inner two loops.
        if let Some(at) = moving.iter().position(|&(theirs, _)| theirs == 1)
            && at + 2 < moving_len
        {
            moving[at..moving_len - 1].rotate_left(1);
        }
        let base = |symmetry: Symmetry| {
            standing[..standing_len]
                .iter()
                .map(|&(there, square)| {
                    symmetry.apply_index(square) as usize * self.layout.stride(there as usize)
                })
                .sum::<usize>()
        };
        if !paired {
            let image = &tables.image[turn.index()];
            gather::<I, C, S>(codes, base(turn), moving, image, turn.is_identity(), out, 0);
            return;
        }
        if kings.iter().any(|(range, _)| range.len() > 1) {
            out.fill(C::ILLEGAL);
        }
        let [(white, white_stride), (black, black_stride)] = kings;
        for w in white {
            for b in black.clone() {
                let at = w as usize * white_stride + b as usize * black_stride;
                match self.layout.king_base(turn.apply_index(w), turn.apply_index(b)) {
                    Some((start, symmetry)) => {
                        let symmetry = turn.then(symmetry);
                        let image = &tables.image[symmetry.index()];
                        let from = start + base(symmetry);
                        gather::<I, C, S>(
                            codes,
                            from,
                            moving,
                            image,
                            symmetry.is_identity(),
                            out,
                            at,
                        );
                    }
                    None if white_stride == 0 && black_stride == 0 => out.fill(C::ILLEGAL),
                    None => {}
                }
            }
        }
    }
}

/// Copies `out[at + sum of s_i * ours_i] = -codes[from + sum of image(s_i) * theirs_i]` for all squares
/// `s_i` of the axes `(theirs, ours)`.
#[inline(always)]
fn gather<I: Isa, C: Code, S: Code>(
    codes: &[S],
    from: usize,
    axes: &[(usize, usize)],
    image: &[u8; 64],
    identity: bool,
    out: &mut [C],
    at: usize,
) {
    let len = 1 << (6 * axes.len());
    let contiguous = axes
        .iter()
        .enumerate()
        .all(|(i, &(theirs, ours))| theirs == ours && ours == 1 << (6 * (axes.len() - 1 - i)));
    if identity && contiguous {
        for (o, &c) in out[at..at + len].iter_mut().zip(&codes[from..from + len]) {
            *o = C::convert(c).negate();
        }
        return;
    }
    match *axes {
        [] => out[at] = C::convert(codes[from]).negate(),
        [one] => gather_row::<I, C, S>(codes, from, one, image, out, at),
        [first, second] => gather_plane::<I, C, S>(codes, from, [first, second], image, out, at),
        [first, second, third] => {
            for s in 0..64 {
                let from = from + image[s] as usize * first.0;
                let at = at + s * first.1;
                gather_plane::<I, C, S>(codes, from, [second, third], image, out, at);
            }
        }
        [first, ref rest @ ..] => {
            // Rare: seven men and more.
            for s in 0..64 {
                let (from, at) = (from + image[s] as usize * first.0, at + s * first.1);
                for t in 0..64 {
                    let from = from + image[t] as usize * rest[0].0;
                    let at = at + t * rest[0].1;
                    gather_deep(codes, from, &rest[1..], image, out, at);
                }
            }
        }
    }
}

fn gather_deep<C: Code, S: Code>(
    codes: &[S],
    from: usize,
    axes: &[(usize, usize)],
    image: &[u8; 64],
    out: &mut [C],
    at: usize,
) {
    match axes {
        [] => out[at] = C::convert(codes[from]).negate(),
        [first, rest @ ..] => {
            for s in 0..64 {
                let from = from + image[s] as usize * first.0;
                gather_deep(codes, from, rest, image, out, at + s * first.1);
            }
        }
    }
}

#[inline(always)]
fn gather_row<I: Isa, C: Code, S: Code>(
    codes: &[S],
    from: usize,
    (theirs, ours): (usize, usize),
    image: &[u8; 64],
    out: &mut [C],
    at: usize,
) {
    if theirs == 1 && ours == 1 {
        if let (Some(row), Some(out)) =
            (codes[from..].first_chunk::<64>(), out[at..].first_chunk_mut::<64>())
        {
            let turned = rearranged::<I, S>(row, image);
            for i in 0..64 {
                out[i] = C::convert(turned[i]).negate();
            }
        }
        return;
    }
    for s in 0..64 {
        out[at + s * ours] = C::convert(codes[from + image[s] as usize * theirs]).negate();
    }
}

#[inline(always)]
fn gather_plane<I: Isa, C: Code, S: Code>(
    codes: &[S],
    from: usize,
    [first, second]: [(usize, usize); 2],
    image: &[u8; 64],
    out: &mut [C],
    at: usize,
) {
    let (outer, inner) = if first.0 == 1 { (second, first) } else { (first, second) };
    for s in 0..64 {
        let from = from + image[s] as usize * outer.0;
        gather_row::<I, C, S>(codes, from, inner, image, out, at + s * outer.1);
    }
}
