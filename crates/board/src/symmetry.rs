//! The eight symmetries of the board, acting on squares and on sets of squares.
//!
//! Naming follows the file format: `H` mirrors left and right (`s ^ 7`), `V` top and bottom
//! (`s ^ 56`), `D` reflects in the long diagonal a1-h8.

use shakmaty::{Bitboard, Square};

/// A symmetry of the board: first `H` if set, then `V` if set, then `D` if set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

impl Symmetry {
    /// Nothing moves.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// Left and right exchanged.
    pub const H: Symmetry = Symmetry(1);
    /// Top and bottom exchanged.
    pub const V: Symmetry = Symmetry(2);
    /// Reflection in the diagonal a1-h8.
    pub const D: Symmetry = Symmetry(4);
    /// The half turn, `63 - s`.
    pub const TURN: Symmetry = Symmetry(3);

    /// All eight symmetries, the identity first.
    pub fn all() -> impl Iterator<Item = Symmetry> {
        (0..8).map(Symmetry)
    }

    /// The symmetry made of the named steps, in the order `H`, `V`, `D`.
    pub const fn new(h: bool, v: bool, d: bool) -> Symmetry {
        Symmetry(h as u8 | (v as u8) << 1 | (d as u8) << 2)
    }

    /// A number from 0 to 7, the identity being 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether nothing moves.
    pub const fn is_identity(self) -> bool {
        self.0 == 0
    }

    /// Whether left and right are exchanged first.
    pub const fn flips_files(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether top and bottom are exchanged.
    pub const fn flips_ranks(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether files and ranks are exchanged last.
    pub const fn transposes(self) -> bool {
        self.0 & 4 != 0
    }

    /// The image of the square numbered `s` (a1 = 0, h8 = 63).
    pub const fn apply_index(self, s: u8) -> u8 {
        let mut s = s;
        if self.flips_files() {
            s ^= 7;
        }
        if self.flips_ranks() {
            s ^= 56;
        }
        if self.transposes() {
            s = (s >> 3) | (s & 7) << 3;
        }
        s
    }

    /// The image of a square.
    pub fn apply(self, square: Square) -> Square {
        Square::new(u32::from(self.apply_index(square as u8)))
    }

    /// The image of a set of squares.
    pub const fn apply_set(self, set: u64) -> u64 {
        let mut x = set;
        if self.flips_files() {
            const K1: u64 = 0x5555_5555_5555_5555;
            const K2: u64 = 0x3333_3333_3333_3333;
            const K4: u64 = 0x0f0f_0f0f_0f0f_0f0f;
            x = (x >> 1) & K1 | (x & K1) << 1;
            x = (x >> 2) & K2 | (x & K2) << 2;
            x = (x >> 4) & K4 | (x & K4) << 4;
        }
        if self.flips_ranks() {
            x = x.swap_bytes();
        }
        if self.transposes() {
            let mut t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
            x ^= t ^ (t << 7);
            t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
            x ^= t ^ (t << 14);
            t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
            x ^= t ^ (t << 28);
        }
        x
    }

    /// The image of a set of squares.
    pub fn apply_bitboard(self, set: Bitboard) -> Bitboard {
        Bitboard(self.apply_set(set.0))
    }

    /// The symmetry that undoes this one.
    pub const fn inverse(self) -> Symmetry {
        if self.transposes() {
            // D after H and V equals (V, H exchanged) after D.
            Symmetry::new(self.flips_ranks(), self.flips_files(), true)
        } else {
            self
        }
    }

    /// This symmetry first, `next` after it.
    pub const fn then(self, next: Symmetry) -> Symmetry {
        if self.transposes() {
            let (h, v) = (next.flips_ranks(), next.flips_files());
            Symmetry::new(self.flips_files() != h, self.flips_ranks() != v, !next.transposes())
        } else {
            Symmetry::new(
                self.flips_files() != next.flips_files(),
                self.flips_ranks() != next.flips_ranks(),
                next.transposes(),
            )
        }
    }

    /// The symmetry that carries the two kings to their canonical squares in a table that
    /// identifies `ways` (1, 2, 4 or 8) board images: the white king on files a to d, ranks 1 to
    /// 4, on or below the diagonal a1-h8, the black king deciding where the white one stands on
    /// it.
    pub const fn canonical(ways: u8, white_king: Square, black_king: Square) -> Symmetry {
        let wk = white_king as u8;
        let h = ways >= 2 && wk & 7 >= 4;
        let v = ways >= 4 && wk >> 3 >= 4;
        let half = Symmetry::new(h, v, false);
        let (w, b) = (half.apply_index(wk), half.apply_index(black_king as u8));
        let (w_rank, w_file) = (w >> 3, w & 7);
        let (b_rank, b_file) = (b >> 3, b & 7);
        let d = ways == 8 && (w_rank > w_file || w_rank == w_file && b_rank > b_file);
        Symmetry::new(h, v, d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_laws_hold() {
        for a in Symmetry::all() {
            assert_eq!(a.then(a.inverse()), Symmetry::IDENTITY);
            for b in Symmetry::all() {
                for s in 0..64 {
                    assert_eq!(a.then(b).apply_index(s), b.apply_index(a.apply_index(s)));
                }
            }
            for s in 0..64 {
                assert_eq!(a.apply_set(1 << s), 1 << a.apply_index(s));
            }
        }
    }
}
