//! Values as numbers: larger is better for the side to move.

/// What a position is worth to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Lost; mated by the opponent's move of that number, 0 is mate on the board.
    Loss(u16),
    /// Nobody wins.
    Draw,
    /// Won with the move of that number, from 1.
    Win(u16),
}

impl Value {
    /// The distance to mate in plies, 0 for a draw.
    pub const fn plies(self) -> u32 {
        match self {
            Value::Loss(moves) => 2 * moves as u32,
            Value::Draw => 0,
            Value::Win(moves) => (2 * moves as u32).saturating_sub(1),
        }
    }
}

/// The code of a value.
pub type Code = u16;

/// A draw.
pub const DRAW: Code = 0x8000;

/// The longest loss that has a code; wins have one more.
pub const LONGEST: u16 = 32766;

/// Mated.
pub(crate) const MATED: Code = 1;

/// The code of a value; distances that have none become the longest one.
pub const fn code_of(value: Value) -> Code {
    match value {
        Value::Loss(moves) => 1 + shortened(moves),
        Value::Draw => DRAW,
        Value::Win(0) => 0xffff,
        Value::Win(moves @ 0x8000..) => code_of(Value::Win(moves & 0x7fff | 0x7fff)),
        Value::Win(moves) => moves.wrapping_neg(),
    }
}

const fn shortened(moves: u16) -> u16 {
    if moves > LONGEST { LONGEST } else { moves }
}

/// The value of a code; 0 is none.
pub const fn value_of(code: Code) -> Option<Value> {
    match code {
        0 => None,
        DRAW => Some(Value::Draw),
        1..DRAW => Some(Value::Loss(code - 1)),
        _ => Some(Value::Win(code.wrapping_neg())),
    }
}

/// What a move is worth that leads to a position of this code.
pub const fn before(code: Code) -> Code {
    if code == DRAW { DRAW } else { code.wrapping_neg().wrapping_add((code > DRAW) as u16) }
}

/// Who wins, as a code: 1, a draw, or 65535.
pub const fn outcome(code: Code) -> Code {
    match code {
        0 | DRAW => code,
        1..DRAW => MATED,
        _ => 0xffff,
    }
}

/// Loss, draw, win: as numbers of classes.
#[inline]
pub(crate) const fn class(code: Code) -> usize {
    if code == DRAW { 0 } else { 1 + (code > DRAW) as usize }
}

/// The distance of a code, 0 for a draw.
#[inline]
pub(crate) const fn distance(code: Code) -> u16 {
    match code {
        0 | DRAW => 0,
        1..DRAW => code - 1,
        _ => code.wrapping_neg(),
    }
}

/// Larger than any distance.
pub(crate) const NO_DISTANCE: u16 = u16::MAX;

/// The distances of codes of a class, 1 of losses, 2 of wins; [`NO_DISTANCE`] of others.
#[inline]
pub(crate) fn distances_of<const N: usize>(codes: &[Code; N], class: usize) -> [u16; N] {
    // From the code of a loss 1 is taken, that of a win is negated. Other classes give more then.
    let (turned, added) = if class == 1 { (0, u16::MAX) } else { (u16::MAX, 1) };
    let above = if class == 1 { DRAW - 1 } else { DRAW };
    codes.map(|code| {
        let moves = (code ^ turned).wrapping_add(added);
        moves | u16::from(moves < above).wrapping_sub(1)
    })
}

/// For every set of squares of a rank all bits on these.
pub(crate) static RANK_MASKS: [[Code; 8]; 256] = {
    let mut masks = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let mut square = 0;
        while square < 8 {
            masks[set][square] = if set >> square & 1 != 0 { Code::MAX } else { 0 };
            square += 1;
        }
        set += 1;
    }
    masks
};

/// The squares of a row for which something is so.
#[inline]
pub(crate) fn squares_where(is: impl Fn(usize) -> bool) -> u64 {
    // In this form the compiler looks at many squares at a time.
    let flags: [u8; 64] = std::array::from_fn(|square| u8::from(is(square)));
    let ranks = flags.as_chunks::<8>().0.iter().enumerate();
    ranks.fold(0, |set, (rank, flags)| {
        // Bit 8 i goes to bit 56 + i.
        set | (u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * rank)
    })
}

/// The codes on some squares of a row, and 0 on the others.
pub(crate) fn only_on(set: u64, codes: &[Code; 64]) -> [Code; 64] {
    let mut only = [0; 64];
    let ranks = only.as_chunks_mut::<8>().0.iter_mut().zip(codes.as_chunks::<8>().0);
    for ((only, codes), set) in ranks.zip(set.to_le_bytes()) {
        for (at, mask) in RANK_MASKS[usize::from(set)].iter().enumerate() {
            only[at] = codes[at] & mask;
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_moves_are_counted() {
        for code in 1..=u16::MAX {
            assert_eq!(value_of(code).map(code_of), Some(code), "{code}");
        }
        assert_eq!(value_of(0), None);
        assert_eq!(before(code_of(Value::Loss(0))), code_of(Value::Win(1)));
        assert_eq!(before(code_of(Value::Loss(126))), code_of(Value::Win(127)));
        assert_eq!(before(code_of(Value::Win(127))), code_of(Value::Loss(127)));
        assert_eq!(before(DRAW), DRAW);
        assert!(code_of(Value::Win(1)) > code_of(Value::Win(2)));
        assert!(code_of(Value::Loss(2)) > code_of(Value::Loss(1)));
        assert!(code_of(Value::Loss(LONGEST)) < DRAW && DRAW < code_of(Value::Win(LONGEST)));
        assert_eq!(Value::Win(19).plies(), 37);
    }
}
