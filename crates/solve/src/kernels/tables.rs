//! Small tables of moves on an empty board, made once. None of them comes from the move generator
//! that the tests check the solver with.

use std::sync::LazyLock;

use hoffman_board::{Bitboard, ByColor, Color, Role, Square, Symmetry};

/// The squares from a square to the edge of the board, in order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ray {
    len: u8,
    squares: [u8; 7],
}

impl Ray {
    #[inline(always)]
    pub(crate) fn squares(&self) -> &[u8] {
        &self.squares[..self.len as usize & 7]
    }
}

/// File and rank steps: north, south, east, west, then the diagonals.
const STEPS: [(i8, i8); 8] = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)];

pub(crate) struct Tables {
    /// `rays[square][direction]`, directions 0 to 3 along ranks and files, 4 to 7 along diagonals.
    pub(crate) rays: [[Ray; 8]; 64],
    /// `between[a][b]`: the squares strictly between, if on one line.
    pub(crate) between: Vec<[u64; 64]>,
    /// `behind[a][b]`: the squares that a man on `b` hides from `a`.
    pub(crate) behind: Vec<[u64; 64]>,
    /// `reach[role][square]`: what a man attacks on an empty board (roles by [`role_index`]).
    pub(crate) reach: [[u64; 64]; 5],
    /// `pawn[color][square]`: what a pawn attacks.
    pawn: ByColor<[u64; 64]>,
    /// `image[symmetry][square]`.
    pub(crate) image: [[u8; 64]; 8],
}

/// King 0, queen 1, rook 2, bishop 3, knight 4.
#[inline(always)]
pub(crate) const fn role_index(role: Role) -> usize {
    match role {
        Role::King | Role::Pawn => 0,
        Role::Queen => 1,
        Role::Rook => 2,
        Role::Bishop => 3,
        Role::Knight => 4,
    }
}

/// The directions a slider moves in.
#[inline(always)]
pub(crate) const fn directions(role: Role) -> std::ops::Range<usize> {
    match role {
        Role::Rook => 0..4,
        Role::Bishop => 4..8,
        Role::Queen => 0..8,
        _ => 0..0,
    }
}

fn step(square: u8, file: i8, rank: i8) -> Option<u8> {
    let (f, r) = ((square & 7) as i8 + file, (square >> 3) as i8 + rank);
    ((0..8).contains(&f) && (0..8).contains(&r)).then_some((r * 8 + f) as u8)
}

fn leaps(square: u8, steps: &[(i8, i8)]) -> u64 {
    steps.iter().filter_map(|&(f, r)| step(square, f, r)).fold(0, |set, s| set | 1 << s)
}

impl Tables {
    /// What a man that is no pawn attacks on an empty board.
    #[inline(always)]
    pub(crate) fn reach(&self, role: Role, from: u8) -> u64 {
        self.reach[role_index(role)][from as usize & 63]
    }

    /// The squares strictly between two, if they are on one line.
    #[inline(always)]
    pub(crate) fn between(&self, a: u8, b: u8) -> u64 {
        self.between[a as usize & 63][b as usize & 63]
    }

    fn new() -> Tables {
        let mut rays = [[Ray::default(); 8]; 64];
        let mut between = vec![[0; 64]; 64];
        let mut behind = vec![[0; 64]; 64];
        let mut reach = [[0; 64]; 5];
        let mut pawn = ByColor::new_with(|_| [0; 64]);

        for s in 0..64u8 {
            let i = s as usize;
            for (d, &(f, r)) in STEPS.iter().enumerate() {
                let mut passed = 0;
                let mut at = s;
                while let Some(t) = step(at, f, r) {
                    let ray = &mut rays[i][d];
                    ray.squares[ray.len as usize] = t;
                    ray.len += 1;
                    between[i][t as usize] = passed;
                    passed |= 1 << t;
                    at = t;
                }
                let line = rays[i][d];
                for (k, &t) in line.squares().iter().enumerate() {
                    behind[i][t as usize] =
                        line.squares()[k + 1..].iter().fold(0, |set, &u| set | 1u64 << u);
                }
                reach[if d < 4 { 2 } else { 3 }][i] |= passed;
                reach[1][i] |= passed;
            }
            reach[0][i] = leaps(s, &STEPS);
            let jumps = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
            reach[4][i] = leaps(s, &jumps);
            pawn.white[i] = leaps(s, &[(1, 1), (-1, 1)]);
            pawn.black[i] = leaps(s, &[(1, -1), (-1, -1)]);
        }

        let mut image = [[0; 64]; 8];
        for symmetry in Symmetry::all() {
            for s in 0..64 {
                image[symmetry.index()][s as usize] = symmetry.apply_index(s);
            }
        }
        Tables { rays, between, behind, reach, pawn, image }
    }

    /// What a man on `square` attacks, the squares of `blockers` included.
    #[inline(always)]
    pub(crate) fn attacks(&self, role: Role, square: u8, mut blockers: u64) -> u64 {
        let mut set = self.reach[role_index(role)][square as usize & 63];
        if matches!(role, Role::Knight | Role::King) {
            return set;
        }
        blockers &= set;
        while blockers != 0 {
            let b = blockers.trailing_zeros() as usize;
            blockers &= blockers - 1;
            set &= !self.behind[square as usize & 63][b & 63];
        }
        set
    }

    /// What a pawn attacks.
    pub(crate) fn pawn_reach(&self, color: Color, square: Square) -> Bitboard {
        Bitboard(self.pawn[color][usize::from(square)])
    }

    /// What pawns of a colour attack.
    pub(crate) fn pawn_attacks(&self, color: Color, pawns: u64) -> u64 {
        squares(pawns).fold(0, |set, s| set | self.pawn[color][s as usize])
    }
}

/// The squares of a set, ascending.
#[inline(always)]
pub(crate) fn squares(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let s = set.trailing_zeros() as u8;
            set &= set - 1;
            s
        })
    })
}

pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);
    &TABLES
}
