//! One number a position: the form values have inside the solver.
//!
//! Codes are ordered: a larger code is better for the player to move, and 0 (illegal) is smallest, so the
//! best move is a maximum. With `B` the middle of the number range (128 or 32768) and `M` its largest
//! number:
//!
//! | code | meaning for the player to move |
//! |---|---|
//! | 0 | illegal: overlapping men, adjacent kings, or the player not to move is in check |
//! | 1 + m | loses in m moves (0: checkmated) |
//! | B | draw |
//! | M − m | wins in m moves |
//!
//! One byte holds up to 126 moves for either side; deeper tables use two bytes.

use hoffman_board::Value;

use crate::values::Codes;

/// An unsigned number used as a code.
pub trait Code: Copy + Ord + Default + Send + Sync + 'static {
    /// The illegal position.
    const ILLEGAL: Self;
    /// The draw.
    const DRAW: Self;
    /// The largest distance in moves that can be told, for wins and for losses.
    const MAX_MOVES: u16;

    /// The code of a win in `moves`.
    fn win(moves: u16) -> Self;
    /// The code of a loss in `moves`.
    fn loss(moves: u16) -> Self;
    /// What a move to a position with this code is worth to the player who makes it.
    fn negate(self) -> Self;
    /// Keeps the code if `keep`, else illegal.
    fn mask(self, keep: bool) -> Self;
    /// The code as a value.
    fn value(self) -> Value;
    /// The same value in another width. Callers make sure that it fits.
    fn from_u8(code: u8) -> Self;
    /// The same value in another width. Callers make sure that it fits.
    fn from_u16(code: u16) -> Self;
    /// The code of a value.
    fn from_value(value: Value) -> Self {
        match value {
            Value::Illegal => Self::ILLEGAL,
            Value::Draw => Self::DRAW,
            Value::Win(moves) => Self::win(moves),
            Value::Loss(moves) => Self::loss(moves),
        }
    }
    /// Reads another width of code.
    fn convert<S: Code>(code: S) -> Self;
    /// Converts to a byte code. Callers make sure that it fits.
    fn to_u8(self) -> u8;
    /// Converts to a two-byte code.
    fn to_u16(self) -> u16;
    /// The code as an index into a table of all codes.
    fn number(self) -> usize;
    /// A row as bytes, if codes are bytes: lets kernels choose byte instructions.
    fn as_bytes(row: &[Self; 64]) -> Option<&[u8; 64]>;
    /// A row as bytes to be changed, if codes are bytes.
    fn as_bytes_mut(row: &mut [Self; 64]) -> Option<&mut [u8; 64]>;
    /// Any number of codes as bytes to be changed, if codes are bytes.
    fn as_byte_slice_mut(codes: &mut [Self]) -> Option<&mut [u8]>;
    /// Any number of codes as the bytes that they have in memory.
    fn as_bytes_of(codes: &[Self]) -> &[u8];
    /// The one of two arrays that has this width.
    fn room<'a>(narrow: &'a mut Vec<u8>, wide: &'a mut Vec<u16>) -> &'a mut Vec<Self>;
    /// An array of codes in its container.
    fn into_codes(codes: Vec<Self>) -> Codes;
    /// The array in a container, if it is in memory and has this width.
    fn from_codes(codes: Codes) -> Option<Vec<Self>>;
}

macro_rules! impl_code {
    ($t:ty, $signed:ty, $to_narrow:expr, $to_wide:expr, $from:ident, $some:expr, $some_mut:expr, $slice_mut:expr, $room:expr, $codes:path) => {
        impl Code for $t {
            const ILLEGAL: Self = 0;
            const DRAW: Self = 1 << (<$t>::BITS - 1);
            const MAX_MOVES: u16 = (Self::DRAW - 2) as u16;

            #[inline(always)]
            fn win(moves: u16) -> Self {
                <$t>::MAX - moves as $t
            }

            #[inline(always)]
            fn loss(moves: u16) -> Self {
                1 + moves as $t
            }

            #[inline(always)]
            fn negate(self) -> Self {
                // 0 and DRAW are their own negatives; a loss in m turns into a win in m + 1.
                self.wrapping_neg().wrapping_sub(((self as $signed) > 0) as $t)
            }

            #[inline(always)]
            fn mask(self, keep: bool) -> Self {
                self & (keep as $t).wrapping_neg()
            }

            fn value(self) -> Value {
                match self {
                    0 => Value::Illegal,
                    Self::DRAW => Value::Draw,
                    c if c > Self::DRAW => Value::Win((<$t>::MAX - c) as u16),
                    c => Value::Loss((c - 1) as u16),
                }
            }

            #[inline(always)]
            fn from_u8(code: u8) -> Self {
                Self::convert(code)
            }

            #[inline(always)]
            fn from_u16(code: u16) -> Self {
                Self::convert(code)
            }

            #[inline(always)]
            fn convert<S: Code>(code: S) -> Self {
                code.$from()
            }

            #[inline(always)]
            fn to_u8(self) -> u8 {
                #[allow(clippy::redundant_closure_call)]
                ($to_narrow)(self)
            }

            #[inline(always)]
            fn to_u16(self) -> u16 {
                #[allow(clippy::redundant_closure_call)]
                ($to_wide)(self)
            }

            #[inline(always)]
            fn number(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn as_bytes(row: &[Self; 64]) -> Option<&[u8; 64]> {
                let select: fn(&[Self; 64]) -> Option<&[u8; 64]> = $some;
                select(row)
            }

            #[inline(always)]
            fn as_bytes_mut(row: &mut [Self; 64]) -> Option<&mut [u8; 64]> {
                let select: fn(&mut [Self; 64]) -> Option<&mut [u8; 64]> = $some_mut;
                select(row)
            }

            #[inline(always)]
            fn as_byte_slice_mut(codes: &mut [Self]) -> Option<&mut [u8]> {
                let select: fn(&mut [Self]) -> Option<&mut [u8]> = $slice_mut;
                select(codes)
            }

            fn as_bytes_of(codes: &[Self]) -> &[u8] {
                bytemuck::cast_slice(codes)
            }

            #[inline(always)]
            fn room<'a>(narrow: &'a mut Vec<u8>, wide: &'a mut Vec<u16>) -> &'a mut Vec<Self> {
                let select: for<'b> fn(&'b mut Vec<u8>, &'b mut Vec<u16>) -> &'b mut Vec<Self> =
                    $room;
                select(narrow, wide)
            }

            fn into_codes(codes: Vec<Self>) -> Codes {
                $codes(codes)
            }

            fn from_codes(codes: Codes) -> Option<Vec<Self>> {
                if let $codes(codes) = codes { Some(codes) } else { None }
            }
        }
    };
}

impl_code!(
    u8,
    i8,
    |c: u8| c,
    |c: u8| match c {
        0..=127 => u16::from(c),
        128 => u16::DRAW,
        _ => 0xff00 | u16::from(c),
    },
    to_u8,
    |row| Some(row),
    |row| Some(row),
    |codes| Some(codes),
    |narrow, _| narrow,
    Codes::Narrow
);
impl_code!(
    u16,
    i16,
    |c: u16| match c {
        u16::DRAW => u8::DRAW,
        // Wins are counted down from the largest number of either width.
        c if c > u16::DRAW => (c & 0xff) as u8,
        c => c as u8,
    },
    |c: u16| c,
    to_u16,
    |_| None,
    |_| None,
    |_| None,
    |_, wide| wide,
    Codes::Wide
);

#[cfg(test)]
mod tests {
    use super::*;

    fn laws<C: Code + std::fmt::Debug>() {
        for value in [Value::Illegal, Value::Draw, Value::Win(1), Value::Win(126), Value::Loss(0)] {
            assert_eq!(C::from_value(value).value(), value);
        }
        for m in 0..126 {
            assert_eq!(C::loss(m).negate(), C::win(m + 1));
            assert_eq!(C::win(m).negate(), C::loss(m));
            assert_eq!(u8::convert(C::win(m)), u8::win(m));
            assert_eq!(u16::convert(C::loss(m)), u16::loss(m));
            assert!(C::win(m) > C::win(m + 1) && C::win(126) > C::DRAW);
            assert!(C::loss(m) < C::loss(m + 1) && C::loss(126) < C::DRAW);
        }
        assert_eq!(C::DRAW.negate(), C::DRAW);
        assert_eq!(C::ILLEGAL.negate(), C::ILLEGAL);
        assert_eq!(u16::convert(C::DRAW), u16::DRAW);
        assert_eq!(u8::convert(C::DRAW), u8::DRAW);
    }

    #[test]
    fn codes_obey_their_laws() {
        laws::<u8>();
        laws::<u16>();
        assert_eq!(u8::MAX_MOVES, 126);
        assert_eq!(u16::win(262).negate(), u16::loss(262));
    }
}
