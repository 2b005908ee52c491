//! The type simple: a mixed-radix number, the first man most significant.

use hoffman_board::MAX_PIECES;

use super::kings::is_canonical;
use super::men::TableMen;
use super::naive::{DigitPlace, FieldLine, Mate};
use super::position::{OrderedPlacement, Squares, bit, double_step_rank};
use super::{IndexError, NONE, is_en_passant_code, times};

/// A list of codes and the number of each.
#[derive(Clone, Debug)]
pub(super) struct SquareCodes {
    list: Vec<u8>,
    number: [u8; 64],
}

impl SquareCodes {
    pub(super) fn new(list: Vec<u8>) -> SquareCodes {
        let mut number = [NONE; 64];
        for (k, &code) in list.iter().enumerate() {
            number[usize::from(code)] = k as u8;
        }
        SquareCodes { list, number }
    }

    /// The squares of a set in order, each square of a pawn's double step followed by its en
    /// passant code.
    pub(super) fn interleaved(men: &TableMen, man: usize, squares: u64) -> SquareCodes {
        let steps = if men.is_pawn(man) { double_step_rank(men.color[man]) } else { 0 };
        let mut list = Vec::new();
        for s in (0..64).filter(|&s| squares & bit(s) != 0) {
            list.push(s);
            if steps & bit(s) != 0 {
                list.push(s & 7);
            }
        }
        SquareCodes::new(list)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether both lists number the same codes alike.
    pub(super) fn is_like(&self, other: &SquareCodes) -> bool {
        self.list == other.list
    }

    /// The code with a number below [`SquareCodes::len`].
    pub(super) fn get(&self, number: usize) -> Option<u8> {
        self.list.get(number).copied()
    }

    /// The number of a code; [`NONE`] if it is not one.
    pub(super) fn number(&self, code: u8) -> u8 {
        self.number[usize::from(code)]
    }
}

/// Mixed radix over the legal squares.
#[derive(Clone, Debug)]
pub(super) struct Simple {
    codes: Vec<SquareCodes>,
    /// What each man's number is multiplied by.
    weights: [u64; MAX_PIECES],
    size: u64,
}

impl Simple {
    pub(super) fn new(men: &TableMen) -> Result<Simple, IndexError> {
        let mut codes = Vec::new();
        let mut size = 1;
        for man in 0..men.count {
            let mut squares = men.legal[man];
            if man == usize::from(men.white_king) {
                for s in (0..64).filter(|&s| !is_canonical(men.symmetry, s)) {
                    squares &= !bit(s);
                }
            }
            let list = SquareCodes::interleaved(men, man, squares);
            size = times(size, list.len() as u64)?;
            codes.push(list);
        }
        let mut weights = [1; MAX_PIECES];
        for man in (0..men.count.saturating_sub(1)).rev() {
            weights[man] = weights[man + 1] * codes[man + 1].len() as u64;
        }
        Ok(Simple { codes, weights, size })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn encode(&self, _: &TableMen, codes: &Squares) -> u64 {
        self.codes.iter().zip(codes).fold(0, |index, (list, &code)| {
            index * list.len() as u64 + u64::from(list.number(code))
        })
    }

    /// The rule for a man, all others being in order; `first` and `second` are the slots of it and
    /// its like, or its own twice.
    pub(super) fn line(
        &self,
        codes: &Squares,
        man: usize,
        (first, second): (usize, usize),
    ) -> FieldLine<'_> {
        let digit = |man: usize| DigitPlace::Number(&self.codes[man], self.weights[man]);
        let others = (0..self.codes.len()).filter(|&m| m != first && m != second);
        let rest = others.map(|m| digit(m).put(digit(m).number(codes[m]))).sum();
        let mate = if first == second {
            Mate::None
        } else {
            Mate::Sorted(digit(second), codes[first + second - man])
        };
        FieldLine { rest, own: digit(first), mate }
    }

    pub(super) fn decode(
        &self,
        men: &TableMen,
        index: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let mut rest = index;
        for (man, list) in self.codes.iter().enumerate().rev() {
            let radix = list.len() as u64;
            let mut s = list.get((rest % radix) as usize)?;
            rest /= radix;
            if men.is_pawn(man) && is_en_passant_code(s) {
                s = p.double_step(men.color[man], s)?;
            }
            p.squares[man] = s;
        }
        let ascends =
            |m: usize| men.prev[m] == NONE || p.squares[m] >= p.squares[usize::from(men.prev[m])];
        (0..men.count).all(ascends).then_some(())
    }
}
