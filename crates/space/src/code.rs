//! One number a position: the form values have inside the solver.
//!
//! Codes are ordered: a larger code is better for the player to move, and 0 (illegal) is smallest,
//! so the best move is a maximum. With `B` the middle of the number range (128 or 32768) and `M`
//! its largest number:
//!
//! | code | meaning for the player to move |
//! |---|---|
//! | 0 | illegal: overlapping men, adjacent kings, or the player not to move is in check |
//! | 1 + m | loses in m moves (0: checkmated) |
//! | B | draw |
//! | M − m | wins in m moves |
//!
//! One byte holds up to 126 moves for either side; deeper tables use two bytes.

use std::cmp;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};

use bytemuck::Pod;
use hoffman_board::Value;
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::values::Codes;

/// An unsigned number of one or two bytes, used as a code; also the width of packed entries and of
/// stored distances, where many threads write them or they lie in pages.
pub trait Code: Pod + Ord + Default + Send + Sync {
    /// The number where many threads may write it.
    type Shared: Send + Sync;
    /// The number with a sign, as distances are stored.
    type Signed: Pod + Ord + From<i8> + Into<i32> + Into<i16> + Send + Sync;

    /// The illegal position.
    const ILLEGAL: Self;
    /// The draw.
    const DRAW: Self;
    /// The largest distance in moves that can be told, for wins and for losses.
    const MAX_MOVES: u16;
    /// Whether a code has two bytes.
    const WIDE: bool = size_of::<Self>() == 2;
    /// How many codes there are.
    const KINDS: usize = 1 << (8 * size_of::<Self>());

    /// The code of a win in `moves`.
    fn win(moves: u16) -> Self;
    /// The code of a loss in `moves`.
    fn loss(moves: u16) -> Self;
    /// What a move to a position with this code is worth to the player who makes it.
    fn negate(self) -> Self;
    /// Keeps the code if `keep`, else illegal.
    fn mask(self, keep: bool) -> Self;
    /// For a win by how many moves it is shorter than the longest that can be told; more than that
    /// for everything else.
    fn below_longest_win(self) -> Self;
    /// The code as an index into a table of all codes.
    fn number(self) -> usize;
    /// The lowest bits of a number.
    fn truncate(number: u32) -> Self;
    /// Reads another width of code. Callers make sure that it fits.
    fn convert<S: Code>(code: S) -> Self;
    /// Converts to a byte code. Callers make sure that it fits.
    fn to_u8(self) -> u8;
    /// Converts to a two-byte code.
    fn to_u16(self) -> u16;
    /// Writes a code where other threads may write, too.
    fn put(place: &Self::Shared, code: Self);
    /// Reads a code that other threads may write.
    fn get(place: &Self::Shared) -> Self;
    /// The codes as places that many threads may write to.
    fn share(codes: &mut [Self]) -> &[Self::Shared];
    /// The same, eight bytes at a time; none if the codes do not lie so.
    fn share_words(codes: &mut [Self]) -> Option<&[AtomicU64]>;
    /// The one of two arrays that has this width.
    fn room<'a>(narrow: &'a mut Vec<u8>, wide: &'a mut Vec<u16>) -> &'a mut Vec<Self>;
    /// An array of codes in its container.
    fn into_codes(codes: Vec<Self>) -> Codes;
    /// The array in a container, if it is in memory and has this width.
    fn from_codes(codes: Codes) -> Option<Vec<Self>>;

    /// The code as a value.
    fn value(self) -> Value {
        let above_illegal = self.number().wrapping_sub(1) as u16;
        match self.cmp(&Self::DRAW) {
            _ if self == Self::ILLEGAL => Value::Illegal,
            cmp::Ordering::Less => Value::Loss(above_illegal),
            cmp::Ordering::Equal => Value::Draw,
            cmp::Ordering::Greater => {
                Value::Win(Self::MAX_MOVES - self.below_longest_win().number() as u16)
            }
        }
    }

    /// The code of a value.
    fn from_value(value: Value) -> Self {
        match value {
            Value::Illegal => Self::ILLEGAL,
            Value::Draw => Self::DRAW,
            Value::Win(moves) => Self::win(moves),
            Value::Loss(moves) => Self::loss(moves),
        }
    }

    /// A row as bytes, if codes are bytes: lets kernels choose byte instructions.
    #[inline(always)]
    fn as_bytes(row: &[Self; 64]) -> Option<&[u8; 64]> {
        bytemuck::try_cast_ref(row).ok()
    }

    /// A row as bytes to be changed, if codes are bytes.
    #[inline(always)]
    fn as_bytes_mut(row: &mut [Self; 64]) -> Option<&mut [u8; 64]> {
        bytemuck::try_cast_mut(row).ok()
    }

    /// Any number of codes as bytes to be changed, if codes are bytes.
    #[inline(always)]
    fn as_byte_slice_mut(codes: &mut [Self]) -> Option<&mut [u8]> {
        (!Self::WIDE).then(|| bytemuck::cast_slice_mut(codes))
    }

    /// Any number of codes as the bytes that they have in memory.
    fn as_bytes_of(codes: &[Self]) -> &[u8] {
        bytemuck::cast_slice(codes)
    }
}

macro_rules! impl_code {
    ($t:ty, $signed:ty, $shared:ty, $codes:path, $read:ident, $to_u8:path, $to_u16:path,
     room($narrow:pat, $wide:pat) => $room:ident) => {
        impl Code for $t {
            type Shared = $shared;
            type Signed = $signed;

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

            #[inline(always)]
            fn below_longest_win(self) -> Self {
                // The wins follow upon the draw, the longest first.
                self.wrapping_sub(Self::DRAW + 1)
            }

            #[inline(always)]
            fn number(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn truncate(number: u32) -> Self {
                number as $t
            }

            #[inline(always)]
            fn convert<S: Code>(code: S) -> Self {
                code.$read()
            }

            #[inline(always)]
            fn to_u8(self) -> u8 {
                $to_u8(self)
            }

            #[inline(always)]
            fn to_u16(self) -> u16 {
                $to_u16(self)
            }

            #[inline(always)]
            fn put(place: &$shared, code: Self) {
                place.store(code, Ordering::Relaxed);
            }

            #[inline(always)]
            fn get(place: &$shared) -> Self {
                place.load(Ordering::Relaxed)
            }

            fn share(codes: &mut [Self]) -> &[$shared] {
                // Widths are the same, so that this cannot fail.
                <[$shared]>::mut_from_bytes(codes.as_mut_bytes()).unwrap_or_default()
            }

            fn share_words(codes: &mut [Self]) -> Option<&[AtomicU64]> {
                <[AtomicU64]>::mut_from_bytes(codes.as_mut_bytes()).ok().map(|words| &*words)
            }

            #[inline(always)]
            fn room<'a>($narrow: &'a mut Vec<u8>, $wide: &'a mut Vec<u16>) -> &'a mut Vec<Self> {
                $room
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

impl_code!(u8, i8, AtomicU8, Codes::Narrow, to_u8, std::convert::identity, widen, room(own, _) => own);
impl_code!(u16, i16, AtomicU16, Codes::Wide, to_u16, narrow, std::convert::identity, room(_, own) => own);

/// A byte code in two bytes. Wins are counted down from the largest number of either width.
#[inline(always)]
fn widen(code: u8) -> u16 {
    match code {
        0..=127 => u16::from(code),
        u8::DRAW => u16::DRAW,
        _ => 0xff00 | u16::from(code),
    }
}

/// The code of two bytes that fits into one.
#[inline(always)]
fn narrow(code: u16) -> u8 {
    match code {
        u16::DRAW => u8::DRAW,
        code if code > u16::DRAW => (code & 0xff) as u8,
        code => code as u8,
    }
}

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
