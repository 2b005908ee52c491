//! The type compact: as simple, with one digit for both kings and half a digit for a second like
//! man.

use arrayvec::ArrayVec;
use hoffman_board::MAX_PIECES;

use super::kings::PairNumbers;
use super::men::TableMen;
use super::naive::{DigitPlace, FieldLine, Mate, pack_pair, pairs, unpack_pair};
use super::position::{OrderedPlacement, Squares, bit};
use super::simple::SquareCodes;
use super::{IndexError, NONE, is_en_passant_code, times};

/// Mixed radix over the semilegal squares, the first man most significant.
#[derive(Clone, Debug)]
pub(super) struct Compact {
    kings: PairNumbers,
    codes: Vec<SquareCodes>,
    /// 1 for the black king, whose square is in the white king's digit.
    radix: [u64; MAX_PIECES],
    /// What each man's digit is multiplied by.
    weights: [u64; MAX_PIECES],
    pairs: ArrayVec<(usize, usize), MAX_PIECES>,
    size: u64,
}

impl Compact {
    pub(super) fn new(men: &TableMen) -> Result<Compact, IndexError> {
        let kings = PairNumbers::new(men);
        let mut codes = Vec::new();
        let mut radix = [1; MAX_PIECES];
        let mut size = 1;
        for man in 0..men.count {
            let list = if men.is_king(man) {
                SquareCodes::new(Vec::new())
            } else {
                SquareCodes::interleaved(men, man, men.semilegal[man])
            };
            radix[man] = if man == usize::from(men.white_king) {
                kings.count()
            } else if man == usize::from(men.black_king) {
                1
            } else if men.prev[man] == NONE {
                list.len() as u64
            } else {
                list.len() as u64 / 2
            };
            size = times(size, radix[man])?;
            codes.push(list);
        }
        let mut weights = [1; MAX_PIECES];
        for man in (0..men.count.saturating_sub(1)).rev() {
            weights[man] = weights[man + 1] * radix[man + 1];
        }
        Ok(Compact { kings, codes, radix, weights, pairs: pairs(men), size })
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn encode(&self, men: &TableMen, squares: &Squares, codes: &Squares) -> Option<u64> {
        let mut digits = *codes;
        for man in 0..men.count {
            digits[man] = self.codes[man].number(codes[man]);
        }
        for &(a, b) in &self.pairs {
            (digits[a], digits[b]) = pack_pair(digits[a], digits[b], self.codes[a].len() as u8);
        }
        let mut index = 0;
        for man in 0..men.count {
            let digit = if man == usize::from(men.white_king) {
                self.kings.number(squares[man], squares[usize::from(men.black_king)])?
            } else if man == usize::from(men.black_king) {
                0
            } else {
                u64::from(digits[man])
            };
            index = index * self.radix[man] + digit;
        }
        Some(index)
    }

    /// The weight of the kings' digit and their pairs, if there are kings.
    pub(super) fn free_kings(&self, men: &TableMen) -> Option<(u64, &PairNumbers)> {
        let weight = self.weights.get(usize::from(men.white_king))?;
        Some((*weight, &self.kings))
    }

    /// The rule for a man that is no king.
    pub(super) fn line(
        &self,
        men: &TableMen,
        squares: &Squares,
        codes: &Squares,
        man: usize,
    ) -> Option<FieldLine<'_>> {
        if men.is_king(man) {
            return None;
        }
        let digit = |man: usize| DigitPlace::Number(&self.codes[man], self.weights[man]);
        let mut rest = 0;
        if men.white_king != NONE {
            let [white, black] = [men.white_king, men.black_king].map(usize::from);
            rest += self.weights[white] * self.kings.number(squares[white], squares[black])?;
        }

        let paired = |m: usize| self.pairs.iter().any(|&(a, b)| a == m || b == m);
        for m in (0..men.count).filter(|&m| m != man && !men.is_king(m) && !paired(m)) {
            rest += digit(m).put(digit(m).number(codes[m]));
        }
        let (mut own, mut mate) = (digit(man), Mate::None);

        for &(a, b) in &self.pairs {
            let (first, second) = (digit(a), digit(b));
            let radix = self.codes[a].len() as u8;
            if a == man || b == man {
                let other = if a == man { b } else { a };
                if !self.codes[a].is_like(&self.codes[b]) {
                    return None;
                }
                own = first;
                mate = Mate::Packed(second, second.number(codes[other]), radix);
            } else {
                let (base, delta) =
                    pack_pair(first.number(codes[a]), second.number(codes[b]), radix);
                rest += first.put(base) + second.put(delta);
            }
        }

        Some(FieldLine { rest, own, mate })
    }

    pub(super) fn decode(
        &self,
        men: &TableMen,
        index: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let mut rest = index;
        let mut digits = Squares::default();
        for man in (0..men.count).rev() {
            let digit = rest % self.radix[man];
            rest /= self.radix[man];
            if man == usize::from(men.white_king) {
                let (white, black) = self.kings.squares(digit)?;
                p.squares[man] = white;
                p.squares[usize::from(men.black_king)] = black;
            } else {
                digits[man] = digit as u8;
            }
        }

        for &(a, b) in &self.pairs {
            digits[b] = unpack_pair(digits[a], digits[b], self.codes[a].len() as u8)?;
        }

        for man in (0..men.count).rev().filter(|&m| !men.is_king(m)) {
            let mut s = self.codes[man].get(usize::from(digits[man]))?;
            if men.is_pawn(man) && is_en_passant_code(s) {
                s = p.double_step(men.color[man], s)?;
            }
            p.squares[man] = s;
        }

        for &(a, b) in &self.pairs {
            let (low, high) = (p.squares[a].min(p.squares[b]), p.squares[a].max(p.squares[b]));
            let ascending = men.legal[a] & bit(low) != 0 && men.legal[b] & bit(high) != 0;
            (p.squares[a], p.squares[b]) = if ascending { (low, high) } else { (high, low) };
        }

        Some(())
    }
}
