//! Codes of the positions in which a promoted man stands where it was promoted.

use std::sync::Arc;

use crate::code::Code as _;
use crate::layout::Layout;
use crate::values::{CodeStore, Codes, PackedCodes, StoredCodes};

/// No number: the man does not stand on such a square.
const ELSEWHERE: u8 = u8::MAX;

/// Codes of one byte, of the positions in which one of some movers stands on certain squares; all
/// others are illegal. They are not changed.
///
/// Of each such mover there are the codes of the layout in which it has these squares alone.
#[derive(Debug)]
pub struct EdgeCodes {
    shape: EdgeShape,
    codes: Vec<u8>,
}

/// Which codes [`EdgeCodes`] has.
#[derive(Clone, Debug)]
pub struct EdgeShape {
    movers: Vec<EdgeMover>,
    /// How many codes the whole layout has.
    len: usize,
}

/// A mover, and the codes of the positions in which it stands on its squares.
#[derive(Clone, Debug)]
pub struct EdgeMover {
    /// Where they begin.
    first: usize,
    /// The log of how far its neighbouring squares are apart in the layout.
    shift: u32,
    squares: Vec<u8>,
    /// The number of each square of the board among these.
    numbers: [u8; 64],
}

impl EdgeShape {
    /// The positions of a layout in which one of some movers stands on one of its squares, which
    /// are given as sets. None if a mover has no place for one of the squares of the board.
    pub fn new(layout: &Layout, movers: &[(usize, u64)]) -> Option<EdgeShape> {
        let mut shape = EdgeShape { movers: Vec::new(), len: layout.len() };
        let mut first = 0;
        for &(mover, set) in movers {
            let stride = layout.stride(mover);
            if !layout.has_all_places(mover) || !stride.is_power_of_two() {
                return None;
            }
            let squares: Vec<u8> = (0..64).filter(|square| set >> square & 1 != 0).collect();
            let mut numbers = [ELSEWHERE; 64];
            for (number, &square) in squares.iter().enumerate() {
                numbers[usize::from(square)] = number as u8;
            }
            let codes = layout.len() / 64 * squares.len();
            shape.movers.push(EdgeMover { first, shift: stride.ilog2(), squares, numbers });
            first += codes;
        }
        Some(shape)
    }

    /// How many codes there are.
    pub fn codes(&self) -> usize {
        self.movers.iter().map(|mover| self.len / 64 * mover.squares.len()).sum()
    }

    /// The mover whose neighbouring squares are so far apart in the layout, if it is one of them.
    pub fn mover(&self, stride: usize) -> Option<&EdgeMover> {
        self.movers.iter().find(|mover| 1 << mover.shift == stride)
    }
}

impl EdgeMover {
    /// Where the code of a place in the layout is; none if the mover stands elsewhere there.
    #[inline(always)]
    pub fn place(&self, at: usize) -> Option<usize> {
        let number = self.numbers[at >> self.shift & 63];
        let above = (at >> self.shift >> 6) * self.squares.len() + usize::from(number);
        let place = self.first + (above << self.shift | at & ((1 << self.shift) - 1));
        (number != ELSEWHERE).then_some(place)
    }

    /// How far the neighbouring squares of another mover are apart here, given how far in the
    /// layout.
    #[inline(always)]
    pub fn stride(&self, stride: usize) -> usize {
        if stride >> self.shift == 0 { stride } else { stride / 64 * self.squares.len() }
    }

    /// Adds the codes of the positions in which it stands on its squares.
    fn choose(&self, codes: &[u8], chosen: &mut Vec<u8>) {
        let near = 1 << self.shift;
        for all in codes.chunks_exact(64 << self.shift) {
            for &square in &self.squares {
                chosen.extend_from_slice(&all[usize::from(square) << self.shift..][..near]);
            }
        }
    }
}

impl EdgeCodes {
    /// Those of a shape among all codes of a layout.
    pub fn of(codes: &[u8], shape: EdgeShape) -> EdgeCodes {
        let mut chosen = Vec::with_capacity(shape.codes());
        shape.movers.iter().for_each(|mover| mover.choose(codes, &mut chosen));
        EdgeCodes { shape, codes: chosen }
    }

    /// As they are given by [`EdgeCodes::codes`]. Those that are missing are illegal.
    pub fn with_codes(shape: EdgeShape, codes: Vec<u8>) -> EdgeCodes {
        EdgeCodes { shape, codes }
    }

    /// Which codes these are.
    pub fn shape(&self) -> &EdgeShape {
        &self.shape
    }

    /// All of them.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// The same as codes of the whole layout.
    pub fn into_codes(self) -> Codes {
        let len = self.shape.len;
        Codes::Stored(StoredCodes { store: Arc::new(self), len, wide: false })
    }

    /// Where the codes of positions are that differ in the square of one mover, given where they
    /// are in the layout: the first one's place, and how far the next one is. None if it takes more
    /// than that, as it does if this mover is one of those that stand on certain squares.
    #[inline]
    pub fn line(&self, first: usize, stride: usize) -> Option<(usize, usize)> {
        let mut others = self.shape.movers.iter().filter(|mover| 1 << mover.shift != stride);
        others.find_map(|mover| Some((mover.place(first)?, mover.stride(stride))))
    }

    /// The code at a place of the layout.
    #[inline]
    pub fn code(&self, at: usize) -> u8 {
        let place = self.shape.movers.iter().find_map(|mover| mover.place(at));
        place.and_then(|place| self.codes.get(place)).copied().unwrap_or(u8::ILLEGAL)
    }

    /// Fills `out` with the codes from `at` on, with the instructions of the caller.
    #[inline(always)]
    pub(crate) fn read_inlined(&self, mut at: usize, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (row, rest) = out.split_at_mut(out.len().min(64 - at % 64));
            self.read_row(at, row);
            (at, out) = (at + row.len(), rest);
        }
    }

    /// Fills `out` with codes of positions that differ in the square of the lane.
    #[inline(always)]
    fn read_row(&self, at: usize, out: &mut [u8]) {
        let (lane, len) = (at % 64, out.len());
        let mut others = self.shape.movers.iter().filter(|mover| mover.shift != 0);
        let found = others.find_map(|mover| mover.place(at));
        if let Some(codes) = found.and_then(|place| self.codes.get(place..place + len)) {
            out.copy_from_slice(codes);
            return;
        }
        out.fill(u8::ILLEGAL);
        let Some(mover) = self.shape.movers.iter().find(|mover| mover.shift == 0) else { return };
        let codes = self.codes.get(mover.first + at / 64 * mover.squares.len()..).unwrap_or(&[]);
        for (&square, &code) in mover.squares.iter().zip(codes) {
            if let Some(out) = usize::from(square).checked_sub(lane).and_then(|at| out.get_mut(at))
            {
                *out = code;
            }
        }
    }
}

impl CodeStore for EdgeCodes {
    fn read(&self, at: usize, out: &mut [u8]) {
        self.read_inlined(at, out);
    }

    fn write(&self, _at: usize, _codes: &[u8]) {
        debug_assert!(false, "codes of some positions are not changed");
    }

    fn packed(&self) -> Option<PackedCodes<'_>> {
        Some(PackedCodes::Edge(self))
    }

    fn bytes(&self) -> usize {
        self.codes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::Material;

    use super::*;

    /// With a lane, with men before it, with several of them, and with paired kings.
    #[test]
    fn positions_that_are_chosen_are_read_as_they_were() {
        let (rank, border) = (0xff_u64 << 56, 0xff81_8181_8181_81ff);
        for (name, movers) in [
            ("KRPvKN", vec![(3, rank)]),
            ("KRPvKN", vec![(2, rank)]),
            ("KQQvKN", vec![(2, border), (3, border)]),
            ("KQQvKN", vec![(4, border)]),
            ("KRPvKN", vec![(2, rank), (3, rank)]),
        ] {
            let material: Material = name.parse().unwrap();
            let layout = Layout::new(&material);
            let code = |at: usize| ((at % 251) ^ (at >> 9)) as u8;
            // A part of it, which is a layout with fewer kings.
            let len = layout.len().min(1 << 20);
            let codes: Vec<u8> = (0..len).map(code).collect();
            let shape = EdgeShape { len, ..EdgeShape::new(&layout, &movers).unwrap() };
            let mut first = 0;
            let mut shape = shape;
            for mover in &mut shape.movers {
                mover.first = first;
                first += len / 64 * mover.squares.len();
            }
            let edge = EdgeCodes::of(&codes, shape.clone());
            assert_eq!(edge.codes().len(), shape.codes(), "{name}");

            let is_chosen = |at: usize| {
                let stands = |&(mover, set): &(usize, u64)| set >> layout.square(mover, at) & 1;
                movers.iter().any(|mover| stands(mover) != 0)
            };
            let expected: Vec<u8> =
                (0..len).map(|at| if is_chosen(at) { codes[at] } else { 0 }).collect();
            let mut all = vec![7; len];
            edge.read(0, &mut all);
            assert!(all == expected, "{name} {movers:?}");
            for at in (0..len).step_by(977) {
                assert_eq!(edge.code(at), expected[at], "{name} {at}");
                let mut some = vec![7; 150.min(len - at)];
                edge.read(at, &mut some);
                assert_eq!(some, expected[at..at + some.len()], "{name} {at}");
            }

            let mut lines = 0;
            for at in (0..len).step_by(937) {
                for walks in 2..layout.movers().len() {
                    let stride = layout.stride(walks);
                    let first = at - stride * usize::from(layout.square(walks, at));
                    let Some((place, step)) = edge.line(first, stride) else { continue };
                    for square in 0..64 {
                        let code = edge.codes()[place + square * step];
                        assert_eq!(code, codes[first + square * stride], "{name} {at} {walks}");
                    }
                    lines += 1;
                }
            }
            assert!(lines > 100, "{name} {movers:?}: {lines}");
        }
    }
}
