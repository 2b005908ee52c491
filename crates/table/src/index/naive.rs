//! The types naive and naive2: bit fields, the first man in the lowest bits.

use arrayvec::ArrayVec;
use hoffman_board::MAX_PIECES;

use super::men::TableMen;
use super::position::{OrderedPlacement, Squares};
use super::simple::SquareCodes;
use super::{IndexError, NONE, is_en_passant_code};

/// One man's field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    man: usize,
    shift: u32,
    bits: u32,
    /// Rank and file bits of a white king confined to a part of the board.
    king: Option<KingField>,
}

/// The white king under symmetry: rank in the low bits, file above.
#[derive(Clone, Copy, Debug)]
struct KingField {
    rank_bits: u32,
}

impl KingField {
    fn pack(self, square: u8) -> u64 {
        u64::from(square >> 3) | u64::from(square & 7) << self.rank_bits
    }

    fn unpack(self, field: u64) -> u8 {
        let rank = field & ((1 << self.rank_bits) - 1);
        (rank << 3 | field >> self.rank_bits & 3) as u8
    }
}

impl Field {
    fn put(&self, code: u8) -> u64 {
        self.king.map_or(u64::from(code), |k| k.pack(code)) << self.shift
    }
}

/// The place of a man's number in an index.
#[derive(Clone, Copy)]
pub(super) enum DigitPlace<'a> {
    /// A field of bits with its code.
    Field(Field),
    /// The number of its code, with a weight.
    Number(&'a SquareCodes, u64),
}

impl DigitPlace<'_> {
    #[inline(always)]
    pub(super) fn number(&self, code: u8) -> u8 {
        match self {
            DigitPlace::Field(_) => code,
            DigitPlace::Number(codes, _) => codes.number(code),
        }
    }

    /// What a number adds to the index.
    #[inline(always)]
    pub(super) fn put(&self, number: u8) -> u64 {
        match self {
            DigitPlace::Field(field) => field.put(number),
            DigitPlace::Number(_, weight) => u64::from(number) * weight,
        }
    }
}

/// The like man of one that walks. Where there is one, the digit of the walking man is that of the
/// first of the two.
pub(super) enum Mate<'a> {
    None,
    /// The pair has a number and half a number; its digit, its number, and how many there are.
    Packed(DigitPlace<'a>, u8, u8),
    /// The man on the lower square has the first digit; the second one, and its code.
    Sorted(DigitPlace<'a>, u8),
}

/// The rule for the indices as one man walks: the part of all others, and what it adds.
pub(super) struct FieldLine<'a> {
    pub(super) rest: u64,
    pub(super) own: DigitPlace<'a>,
    pub(super) mate: Mate<'a>,
}

impl FieldLine<'_> {
    /// The index with the man on a square.
    #[inline(always)]
    pub(super) fn index(&self, square: u8) -> u64 {
        let (first, second) = match &self.mate {
            Mate::None => (self.own.number(square), 0),
            Mate::Packed(digit, number, radix) => {
                let (first, second) = pack_pair(self.own.number(square), *number, *radix);
                (first, digit.put(second))
            }
            Mate::Sorted(digit, code) => {
                let (low, high) = (square.min(*code), square.max(*code));
                (self.own.number(low), digit.put(digit.number(high)))
            }
        };
        self.rest + self.own.put(first) + second
    }

    /// Adds to all indices.
    pub(super) fn add(&mut self, index: u64) {
        self.rest += index;
    }
}

type Fields = ArrayVec<Field, MAX_PIECES>;

/// Lays out the fields of all men but structured pawns; `bits_of` is the width of a man that is
/// not a confined king. Returns the fields and the total width.
fn lay_out(men: &TableMen, bits_of: impl Fn(usize) -> u32) -> Result<(Fields, u32), IndexError> {
    let mut fields = Fields::new();
    let mut shift = 0;
    for man in (0..men.count).filter(|&m| !men.structured[m]) {
        let king = match men.symmetry {
            2 if man == usize::from(men.white_king) => Some(KingField { rank_bits: 3 }),
            4 if man == usize::from(men.white_king) => Some(KingField { rank_bits: 2 }),
            _ => None,
        };
        let bits = king.map_or_else(|| bits_of(man), |k| k.rank_bits + 2);
        fields.push(Field { man, shift, bits, king });
        shift += bits;
    }
    if shift > 60 {
        return Err(IndexError::TooLarge);
    }
    Ok((fields, shift))
}

fn encode(fields: &Fields, codes: &Squares) -> u64 {
    fields.iter().fold(0, |index, f| index | f.put(codes[f.man]))
}

/// The code in a man's field.
/// The code of every man with a field.
fn codes_of(fields: &Fields, index: u64) -> Squares {
    let mut codes = Squares::default();
    for field in fields {
        let value = index >> field.shift & ((1 << field.bits) - 1);
        codes[field.man] = field.king.map_or(value as u8, |k| k.unpack(value));
    }
    codes
}

/// Puts men on the squares of their codes; none if a code is impossible or a group not ascending.
fn place(men: &TableMen, fields: &Fields, codes: &Squares, p: &mut OrderedPlacement) -> Option<()> {
    for f in fields {
        let mut s = codes[f.man];
        if men.is_pawn(f.man) && is_en_passant_code(s) {
            s = p.double_step(men.color[f.man], s)?;
        }
        p.squares[f.man] = s;
        let prev = men.prev[f.man];
        if prev != NONE && s < p.squares[usize::from(prev)] {
            return None;
        }
    }
    Some(())
}

/// Six bits a man.
#[derive(Clone, Debug)]
pub(super) struct Naive {
    fields: Fields,
    bits: u32,
}

impl Naive {
    pub(super) fn new(men: &TableMen) -> Result<Naive, IndexError> {
        let (fields, bits) = lay_out(men, |_| 6)?;
        Ok(Naive { fields, bits })
    }

    pub(super) fn size(&self) -> u64 {
        1 << self.bits
    }

    pub(super) fn encode(&self, _: &TableMen, codes: &Squares) -> u64 {
        encode(&self.fields, codes)
    }

    /// The rule for a man, all others being in order; `first` and `second` are the slots of it and
    /// its like, or its own twice.
    pub(super) fn line(
        &self,
        codes: &Squares,
        man: usize,
        (first, second): (usize, usize),
    ) -> Option<FieldLine<'_>> {
        let field = |man: usize| self.fields.iter().find(|f| f.man == man).copied();
        let others = self.fields.iter().filter(|f| f.man != first && f.man != second);
        let rest = others.fold(0, |index, f| index | f.put(codes[f.man]));
        let mate = if first == second {
            Mate::None
        } else {
            Mate::Sorted(DigitPlace::Field(field(second)?), codes[first + second - man])
        };
        Some(FieldLine { rest, own: DigitPlace::Field(field(first)?), mate })
    }

    pub(super) fn decode(
        &self,
        men: &TableMen,
        index: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        place(men, &self.fields, &codes_of(&self.fields, index), p)
    }
}

/// Six bits a man, five for the second of two like men.
#[derive(Clone, Debug)]
pub(super) struct Naive2 {
    fields: Fields,
    bits: u32,
    /// Pairs of like men, the first listed first.
    pairs: ArrayVec<(usize, usize), MAX_PIECES>,
}

impl Naive2 {
    pub(super) fn new(men: &TableMen) -> Result<Naive2, IndexError> {
        let (fields, bits) = lay_out(men, |m| if men.prev[m] == NONE { 6 } else { 5 })?;
        let pairs = pairs(men);
        Ok(Naive2 { fields, bits, pairs })
    }

    pub(super) fn size(&self) -> u64 {
        1 << self.bits
    }

    /// The rule for any man; pairs need no order.
    pub(super) fn line(&self, codes: &Squares, man: usize) -> Option<FieldLine<'_>> {
        let field = |man: usize| self.fields.iter().find(|f| f.man == man).copied();
        let mut rest = 0;
        let mut mate = Mate::None;
        let mut own = field(man)?;
        for f in self.fields.iter().filter(|f| f.man != man) {
            rest += f.put(codes[f.man]);
        }
        for &(a, b) in &self.pairs {
            let (first, second) = (field(a)?, field(b)?);
            if a == man || b == man {
                let partner = if a == man { second } else { first };
                rest -= partner.put(codes[partner.man]);
                own = first;
                mate = Mate::Packed(DigitPlace::Field(second), codes[partner.man], 64);
            } else {
                rest -= first.put(codes[a]) + second.put(codes[b]);
                let (base, delta) = pack_pair(codes[a], codes[b], 64);
                rest += first.put(base) + second.put(delta);
            }
        }
        Some(FieldLine { rest, own: DigitPlace::Field(own), mate })
    }

    pub(super) fn encode(&self, _: &TableMen, codes: &Squares) -> u64 {
        let mut codes = *codes;
        for &(a, b) in &self.pairs {
            (codes[a], codes[b]) = pack_pair(codes[a], codes[b], 64);
        }
        encode(&self.fields, &codes)
    }

    pub(super) fn decode(
        &self,
        men: &TableMen,
        index: u64,
        p: &mut OrderedPlacement,
    ) -> Option<()> {
        let mut codes = codes_of(&self.fields, index);
        for &(a, b) in &self.pairs {
            let other = unpack_pair(codes[a], codes[b], 64)?;
            (codes[a], codes[b]) = (codes[a].min(other), codes[a].max(other));
        }
        place(men, &self.fields, &codes, p)
    }
}

/// The pairs of like men that have fields.
pub(super) fn pairs(men: &TableMen) -> ArrayVec<(usize, usize), MAX_PIECES> {
    (0..men.count)
        .filter(|&m| !men.structured[m] && men.prev[m] == NONE && men.next[m] != NONE)
        .map(|m| (m, usize::from(men.next[m])))
        .collect()
}

/// An unordered pair of different codes below `radix` as a code and half a code.
pub(super) fn pack_pair(a: u8, b: u8, radix: u8) -> (u8, u8) {
    let (low, high) = (a.min(b), a.max(b));
    if high - low <= radix / 2 {
        // Equal codes are no position; they are rejected before.
        (low, (high - low).saturating_sub(1))
    } else {
        (high, radix - (high - low) - 1)
    }
}

/// The other code of a pair; none for the second numbering of a pair at half the radix.
pub(super) fn unpack_pair(base: u8, delta: u8, radix: u8) -> Option<u8> {
    let sum = u32::from(base) + u32::from(delta) + 1;
    let other = (sum % u32::from(radix)) as u8;
    (other > base || base - other != radix / 2).then_some(other)
}
