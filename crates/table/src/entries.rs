//! Entries: bit packing, and what a stored number means in each format.
//!
//! Entry `i` owns the bits `i*b .. (i+1)*b` of the area, least significant bit first, without
//! padding:
//!
//! ```text
//! b = 6   byte 0          byte 1          byte 2
//!         |0 0 0 0 0 0 1 1|1 1 1 1 2 2 2 2|2 2 3 3 3 3 3 3|   (entry numbers, lowest bit left)
//! ```
//!
//! Eight entries fill `b` bytes; the last eight are always there in full, the unused ones zero.
//! Knows nothing of where in a file the area is, nor of positions: whether the player not to move
//! is in check is for the caller to find out.

use hoffman_board::value::FlagType;
use hoffman_board::{Color, Format, Value, Variant};

/// The widest entry that is read.
pub const MAX_BITS: u8 = 32;
/// The widest entry that is written.
pub const MAX_WRITTEN_BITS: u8 = 16;

/// Why entries cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// A width that the format cannot have.
    #[error("{format} entries of {bits} bits are not possible")]
    Width {
        /// The format's name.
        format: &'static str,
        /// The width declared.
        bits: u8,
    },
    /// The width asked for cannot hold the values found.
    #[error("distances need {needed} bits, but only {requested} were asked for")]
    TooNarrow {
        /// The width asked for.
        requested: u8,
        /// The smallest that does.
        needed: u8,
    },
    /// A value outside the range of the width.
    #[error("a value at entry {index} does not fit {bits} bits")]
    DoesNotFit {
        /// Where, to within a group of eight.
        index: usize,
        /// The width.
        bits: u8,
    },
    /// Fewer bytes than the entries need.
    #[error("the entries are cut short: {bytes} bytes for {entries} entries of {bits} bits")]
    Short {
        /// Bytes there are.
        bytes: usize,
        /// Entries asked for.
        entries: usize,
        /// The width.
        bits: u8,
    },
}

/// The number in an entry, sign extended if the format is signed, its meaning unsaid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawEntry(pub i32);

/// What an entry says about a position in which the player not to move is *not* in check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryValue {
    /// The value with its distance.
    Exact(Value),
    /// The player to move wins.
    Win,
    /// Neither side wins.
    Draw,
    /// The player to move loses.
    Loss,
    /// The table takes the player not to move to be in check.
    Illegal,
    /// The player to move does not lose.
    WinOrDraw,
    /// The player to move does not win.
    DrawOrLoss,
    /// The table has no answer for want of other files. Only tables of other programs say so.
    Unknown,
}

/// A number type that entries are unpacked into and packed from.
pub trait Number: Copy + Send + Sync {
    /// The number of an entry; bits beyond the type's range are lost.
    fn from_entry(raw: i32) -> Self;
    /// The number to store.
    fn to_entry(self) -> i32;
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn from_entry(raw: i32) -> Self {
                raw as $t
            }
            fn to_entry(self) -> i32 {
                i32::from(self)
            }
        }
    )*};
}
number!(i8, u8, i16, i32);

/// How the entries of one table are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryCodec {
    format: Format,
    bits: u8,
    variant: Variant,
}

impl EntryCodec {
    /// A codec for entries of that width.
    ///
    /// # Errors
    /// Widths other than 1 to 32 for distances, 2 for basic, 1 for flag.
    pub fn new(format: Format, bits: u8, variant: Variant) -> Result<EntryCodec, EntryError> {
        let possible = match format {
            Format::Dtm(_) | Format::Dtc(_) => (1..=MAX_BITS).contains(&bits),
            Format::Basic => bits == 2,
            Format::Flag(_) => bits == 1,
        };
        if possible {
            Ok(EntryCodec { format, bits, variant })
        } else {
            Err(EntryError::Width { format: format.name(), bits })
        }
    }

    /// Bits per entry.
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// The format.
    pub const fn format(self) -> Format {
        self.format
    }

    /// Bytes of the area of `entries` entries.
    pub const fn area_bytes(self, entries: u64) -> u64 {
        entries.div_ceil(8).saturating_mul(self.bits as u64)
    }

    /// Whether numbers are in two's complement: distances wider than one bit.
    const fn is_signed(self) -> bool {
        self.format.has_distance() && self.bits > 1
    }

    /// The bits that do not belong to the sign extension are kept, the others made to follow it.
    const fn extend(self, bits: u32) -> i32 {
        let unused = 32 - self.bits as u32;
        if self.is_signed() { ((bits << unused) as i32) >> unused } else { bits as i32 }
    }

    /// The number of entry `index` of an area; none if the area is shorter.
    pub fn get(self, area: &[u8], index: u64) -> Option<RawEntry> {
        let b = u64::from(self.bits);
        let first = index.checked_mul(b)?;
        let start = usize::try_from(first / 8).ok()?;
        let shift = first % 8;
        let len = (shift + b).div_ceil(8) as usize;
        let bytes = area.get(start..start.checked_add(len)?)?;
        let mut word = [0; 8];
        word[..len].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word) >> shift & ((1 << b) - 1);
        Some(RawEntry(self.extend(bits as u32)))
    }

    /// Where in the area entry `index` lies: the first byte and the number of bytes, at most 5.
    /// Reading them and then calling [`EntryCodec::get_within`] is a probe.
    pub const fn byte_range(self, index: u64) -> (u64, usize) {
        let first = index.saturating_mul(self.bits as u64);
        (first / 8, (first % 8 + self.bits as u64).div_ceil(8) as usize)
    }

    /// The number of entry `index` from the bytes of [`EntryCodec::byte_range`].
    pub fn get_within(self, bytes: &[u8], index: u64) -> Option<RawEntry> {
        // Eight entries are whole bytes, so only the index modulo 8 decides on the shift.
        let (start, len) = self.byte_range(index);
        let skipped = (start - self.byte_range(index & !7).0) as usize;
        let mut group = [0; 40];
        group.get_mut(skipped..skipped + len)?.copy_from_slice(bytes.get(..len)?);
        self.get(&group, index & 7)
    }

    /// What a number says about a position in which the player not to move is *not* in check (in
    /// suicide chess: any position). None for numbers that mean nothing.
    ///
    /// Where the player not to move is in check the entry is to be ignored: old basic tables hold
    /// "won" there, flag tables cannot tell (D1). One-bit distances hold 1 for -1, mate (D5).
    pub fn value(self, raw: RawEntry, turn: Color) -> Option<EntryValue> {
        Some(match self.format {
            Format::Dtm(_) | Format::Dtc(_) => EntryValue::Exact(self.distance(raw)?),
            Format::Basic => match raw.0 {
                0 => EntryValue::Draw,
                1 => EntryValue::Win,
                2 => EntryValue::Loss,
                3 if self.variant == Variant::Suicide => EntryValue::Win,
                3 => EntryValue::Illegal,
                _ => return None,
            },
            Format::Flag(flag) => match (flag, raw.0, turn) {
                (FlagType::WhiteWins, 1, Color::White) => EntryValue::Win,
                (FlagType::WhiteWins, 0, Color::White) => EntryValue::DrawOrLoss,
                (FlagType::WhiteWins, 1, Color::Black) => EntryValue::Loss,
                (FlagType::WhiteWins, 0, Color::Black) => EntryValue::WinOrDraw,
                (FlagType::WhiteDraws, 1, Color::White) => EntryValue::WinOrDraw,
                (FlagType::WhiteDraws, 0, Color::White) => EntryValue::Loss,
                (FlagType::WhiteDraws, 1, Color::Black) => EntryValue::DrawOrLoss,
                (FlagType::WhiteDraws, 0, Color::Black) => EntryValue::Win,
                _ => return None,
            },
        })
    }

    fn distance(self, raw: RawEntry) -> Option<Value> {
        if !(-65_536..=65_536).contains(&raw.0) {
            return None;
        }
        let one_bit_mate = self.bits == 1 && raw.0 == 1 && self.variant == Variant::Normal;
        Some(Value::from_stored(if one_bit_mate { -1 } else { raw.0 }, self.variant))
    }

    /// The number to store for a value.
    ///
    /// [`Value::Illegal`] becomes 3 in basic tables; flag tables hold it as a win.
    pub fn store(self, value: Value, turn: Color) -> RawEntry {
        let winner = match value {
            Value::Illegal => Some(turn),
            other => other.winner(turn),
        };
        RawEntry(match self.format {
            Format::Dtm(_) | Format::Dtc(_) => value.to_stored(),
            Format::Basic => match value {
                Value::Draw => 0,
                Value::Illegal => 3,
                Value::Win(_) => 1,
                Value::Loss(_) => 2,
            },
            Format::Flag(FlagType::WhiteWins) => i32::from(winner == Some(Color::White)),
            Format::Flag(FlagType::WhiteDraws) => i32::from(winner != Some(Color::Black)),
        })
    }

    /// The number to store at an index without a placement.
    pub const fn undecodable(self) -> RawEntry {
        RawEntry(matches!(self.format, Format::Flag(FlagType::WhiteDraws)) as i32)
    }

    /// The bits of a number, the entry of a place.
    ///
    /// # Errors
    /// It is outside the range of the width, which is at most 16.
    pub(crate) fn bits_of(self, number: i32, index: usize) -> Result<u16, EntryError> {
        let mask = u32::MAX >> (32 - u32::from(self.bits));
        let bits = number as u32 & mask;
        let fits = self.extend(bits) == number;
        let kept = u16::try_from(bits).ok().filter(|_| fits);
        kept.ok_or(EntryError::DoesNotFit { index, bits: self.bits })
    }

    /// Packs numbers, the first at the start of a byte, and fills up the last group of eight with
    /// zeros. To go on with a further call, `numbers` must be a multiple of eight long.
    ///
    /// # Errors
    /// A number outside the range of the width.
    pub fn pack<T: Number>(self, numbers: &[T], out: &mut Vec<u8>) -> Result<(), EntryError> {
        if self.bits <= 8 {
            return self.pack_narrow(numbers, out);
        }
        out.reserve(numbers.len().div_ceil(8) * usize::from(self.bits));
        for (group, eight) in numbers.chunks(8).enumerate() {
            if !self.pack_group(eight, out) {
                return Err(EntryError::DoesNotFit { index: group * 8, bits: self.bits });
            }
        }
        Ok(())
    }

    /// Packs numbers of at most eight bits.
    fn pack_narrow<T: Number>(self, numbers: &[T], out: &mut Vec<u8>) -> Result<(), EntryError> {
        let (least, most) = if self.is_signed() {
            (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        };

        let outside = |n: &T| n.to_entry() < least || n.to_entry() > most;
        // Without a way out of the loop it runs over many numbers at a time.
        if numbers.iter().fold(false, |any, n| any | outside(n)) {
            let index = numbers.iter().position(outside).unwrap_or(0) / 8 * 8;
            return Err(EntryError::DoesNotFit { index, bits: self.bits });
        }

        let bits = usize::from(self.bits);
        let start = out.len();

        // Words are stored whole, each over the unused bytes of the one before.
        let len = numbers.len().div_ceil(8) * bits;
        out.resize(start + len + 8, 0);
        let area = &mut out[start..];
        let mut put = |group: usize, eight: &[T]| {
            let mut bytes = [0; 8];
            for (byte, n) in bytes.iter_mut().zip(eight) {
                *byte = n.to_entry() as u8;
            }
            let word = squeeze(u64::from_le_bytes(bytes), u32::from(self.bits));
            if let Some(place) = area.get_mut(group * bits..group * bits + 8) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        };

        let (blocks, rest) = numbers.as_chunks::<64>();
        for (block, numbers) in blocks.iter().enumerate() {
            // Most of what a sparse table has; the area is zero.
            if numbers.iter().fold(0, |any, n| any | n.to_entry()) == 0 {
                continue;
            }
            let (groups, _) = numbers.as_chunks::<8>();
            groups.iter().enumerate().for_each(|(group, eight)| put(block * 8 + group, eight));
        }

        let groups = rest.chunks(8).enumerate();
        groups.for_each(|(group, eight)| put(blocks.len() * 8 + group, eight));
        out.truncate(start + len);
        Ok(())
    }

    /// Packs up to eight numbers into as many bytes as an entry has bits; false if one does not
    /// fit.
    fn pack_group<T: Number>(self, numbers: &[T], out: &mut Vec<u8>) -> bool {
        let bits = u32::from(self.bits);
        let mask = u32::MAX >> (32 - bits);
        let mut fits = true;
        let mut field = |n: T| {
            let n = n.to_entry();
            fits &= self.extend(n as u32 & mask) == n;
            n as u32 & mask
        };
        let end = out.len() + bits as usize;
        let (mut word, mut filled) = (0_u64, 0);
        for &n in numbers {
            word |= u64::from(field(n)) << filled;
            filled += bits;
            while filled >= 8 {
                out.push(word as u8);
                word >>= 8;
                filled -= 8;
            }
        }
        if filled > 0 {
            out.push(word as u8);
        }
        out.resize(end, 0);
        fits
    }

    /// Unpacks the entries from the start of an area into `out`.
    ///
    /// # Errors
    /// An area too short for `out`.
    pub fn unpack<T: Number>(self, area: &[u8], out: &mut [T]) -> Result<(), EntryError> {
        let b = usize::from(self.bits);
        if (area.len() as u64) < (out.len() as u64 * b as u64).div_ceil(8) {
            let (bytes, entries, bits) = (area.len(), out.len(), self.bits);
            return Err(EntryError::Short { bytes, entries, bits });
        }

        let mask = (1_u64 << b) - 1;
        let (groups, tail) = out.as_chunks_mut::<8>();
        let done = groups.len();

        for (eight, bytes) in groups.iter_mut().zip(area.chunks_exact(b)) {
            let mut word = [0; 40];
            word[..b].copy_from_slice(bytes);
            let window = |k: usize| {
                let start = k * b / 8;
                let bytes = word.get(start..start + 8).and_then(|w| w.first_chunk::<8>());
                u64::from_le_bytes(*bytes.unwrap_or(&[0; 8])) >> (k * b % 8)
            };
            if b <= 8 {
                let all = window(0);
                for (k, n) in eight.iter_mut().enumerate() {
                    *n = T::from_entry(self.extend((all >> (k * b) & mask) as u32));
                }
            } else {
                for (k, n) in eight.iter_mut().enumerate() {
                    *n = T::from_entry(self.extend((window(k) & mask) as u32));
                }
            }
        }

        for (k, n) in tail.iter_mut().enumerate() {
            let raw = self.get(area, (done * 8 + k) as u64).unwrap_or(RawEntry(0));
            *n = T::from_entry(raw.0);
        }
        Ok(())
    }
}

/// The lowest `bits` bits of each byte, without gaps.
const fn squeeze(word: u64, bits: u32) -> u64 {
    let gap = 8 - bits;
    let word = word & (0x0101_0101_0101_0101 * (0xff >> gap));
    let word = (word & 0x00ff_00ff_00ff_00ff) | (word & 0xff00_ff00_ff00_ff00) >> gap;
    let word = (word & 0x0000_ffff_0000_ffff) | (word & 0xffff_0000_ffff_0000) >> (2 * gap);
    (word & 0x0000_0000_ffff_ffff) | (word & 0xffff_ffff_0000_0000) >> (4 * gap)
}

/// The width of a table's distances.
///
/// `max` is the largest number stored for a win and `min` the smallest for a loss, 0 if there is
/// none; the number 1 does not count. At least 2 bits as soon as there is a mate (D5).
///
/// # Errors
/// A requested width that is too small, or a range beyond 16 bits.
pub fn width(requested: Option<u8>, max: i32, min: i32) -> Result<u8, EntryError> {
    let holds = |bits: u8| {
        let half = 1_i64 << (bits - 1);
        i64::from(max) < half && -i64::from(min) <= half
    };
    let smallest = if min < 0 { 2 } else { 1 };
    let needed = (smallest..MAX_BITS).find(|&b| holds(b)).unwrap_or(MAX_BITS);
    let bits = requested.unwrap_or(needed);
    if bits < needed {
        return Err(EntryError::TooNarrow { requested: bits, needed });
    }
    if bits > MAX_WRITTEN_BITS {
        return Err(EntryError::Width { format: "distance", bits });
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dtm(bits: u8) -> EntryCodec {
        EntryCodec::new(Format::Dtm(None), bits, Variant::Normal).unwrap()
    }

    #[test]
    fn widths_are_those_of_the_original() {
        for (max, min, bits) in [
            (11, -11, 5),
            (14, -13, 5),
            (29, -29, 6),
            (44, -43, 7),
            (0, 0, 1),
            (0, -1, 2),
            (0, -3, 3),
        ] {
            assert_eq!(width(None, max, min), Ok(bits), "{max} {min}");
        }
        assert_eq!(width(Some(8), 11, -11), Ok(8));
        assert_eq!(width(Some(4), 11, -11), Err(EntryError::TooNarrow { requested: 4, needed: 5 }));
        assert!(width(Some(17), 0, 0).is_err());
        assert!(width(None, i32::MAX, i32::MIN).is_err());
    }

    #[test]
    fn one_bit_mates_are_seen() {
        let value = dtm(1).value(RawEntry(1), Color::White);
        assert_eq!(value, Some(EntryValue::Exact(Value::Loss(0))));
        let suicide = EntryCodec::new(Format::Dtm(None), 1, Variant::Suicide).unwrap();
        let value = suicide.value(RawEntry(1), Color::White);
        assert_eq!(value, Some(EntryValue::Exact(Value::Win(0))));
    }

    #[test]
    fn flags_are_as_in_the_description() {
        let values = [Value::Win(3), Value::Loss(2), Value::Draw, Value::Illegal];
        for (flag, turn, stored) in [
            (FlagType::WhiteWins, Color::White, [1, 0, 0, 1]),
            (FlagType::WhiteWins, Color::Black, [0, 1, 0, 0]),
            (FlagType::WhiteDraws, Color::White, [1, 0, 1, 1]),
            (FlagType::WhiteDraws, Color::Black, [0, 1, 1, 0]),
        ] {
            let codec = EntryCodec::new(Format::Flag(flag), 1, Variant::Normal).unwrap();
            assert_eq!(values.map(|v| codec.store(v, turn).0), stored);
            assert_eq!(codec.undecodable().0, i32::from(flag == FlagType::WhiteDraws));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut out = Vec::new();
        assert!(dtm(4).pack(&[7_i16, -8], &mut out).is_ok());
        assert_eq!(out, [0x87, 0, 0, 0]);
        assert!(dtm(4).pack(&[8_i16], &mut out).is_err());
        assert!(dtm(4).unpack(&[0; 4], &mut [0_i16; 9]).is_err());
        assert_eq!(dtm(4).get(&[0; 4], u64::MAX), None);
        assert_eq!(dtm(4).byte_range(u64::MAX).0, u64::MAX / 8);
        let _ = dtm(4).get_within(&[0; 5], u64::MAX);
    }

    proptest! {
        #[test]
        fn packing_is_undone(bits in 1_u8..=32, numbers in prop::collection::vec(any::<i32>(), 0..50)) {
            let codec = dtm(bits);
            let shift = 32 - u32::from(bits);
            let numbers: Vec<i32> = numbers
                .iter()
                .map(|n| if bits == 1 { n & 1 } else { n << shift >> shift })
                .collect();
            let mut area = Vec::new();
            codec.pack(&numbers, &mut area).unwrap();
            prop_assert_eq!(area.len() as u64, codec.area_bytes(numbers.len() as u64));
            let mut back = vec![0; numbers.len()];
            codec.unpack(&area, &mut back).unwrap();
            prop_assert_eq!(&back, &numbers);
            for (i, &n) in numbers.iter().enumerate() {
                prop_assert_eq!(codec.get(&area, i as u64), Some(RawEntry(n)));
                let (start, len) = codec.byte_range(i as u64);
                let bytes = &area[start as usize..start as usize + len];
                prop_assert_eq!(codec.get_within(bytes, i as u64), Some(RawEntry(n)));
            }
        }
    }
}
