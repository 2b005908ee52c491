//! Tiles of entries by index. See docs/hbf.md, 11.

use crate::range::{Decoder, EVEN, Encoder};

/// The number of the codec.
pub(crate) const ENTRY_CODEC: u8 = 2;

const MAX_OFFSETS: usize = 4;

/// How entries are predicted: which of those before they are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryModel {
    offsets: Vec<u16>,
}

/// Offsets that are tried: the other side to move, neighbours on a rank and a file, in several
/// arrangements.
const TRIED: [u16; 14] = [1, 2, 3, 4, 8, 14, 16, 62, 64, 96, 124, 126, 128, 462];

impl EntryModel {
    /// The offsets that agree most often.
    pub(crate) fn choose(sample: &[u16]) -> EntryModel {
        let mut open: Vec<usize> = (0..sample.len()).collect();
        let mut offsets = Vec::new();
        while offsets.len() < MAX_OFFSETS {
            let agrees = |at: usize, offset: u16| {
                at >= usize::from(offset) && sample[at - usize::from(offset)] == sample[at]
            };
            let hits = |offset: u16| open.iter().filter(|&&at| agrees(at, offset)).count();
            let tried = TRIED.into_iter().filter(|offset| !offsets.contains(offset));
            let Some((best, count)) = tried.map(|o| (o, hits(o))).rev().max_by_key(|h| h.1) else {
                break;
            };
            if count * 50 < open.len() || count == 0 {
                break;
            }
            open.retain(|&at| !agrees(at, best));
            offsets.push(best);
        }
        EntryModel { offsets }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![ENTRY_CODEC, self.offsets.len() as u8, 0, 0];
        bytes.extend(self.offsets.iter().flat_map(|&offset| u32::from(offset).to_le_bytes()));
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<EntryModel> {
        let (&[codec, count, ..], rest) = bytes.split_first_chunk::<4>()?;
        let fits = codec == ENTRY_CODEC && usize::from(count) <= MAX_OFFSETS;
        let (rows, rest) = rest.as_chunks::<4>();
        if !fits || rows.len() != usize::from(count) || !rest.is_empty() {
            return None;
        }
        let mut offsets = Vec::new();
        for row in rows {
            let offset = u16::try_from(u32::from_le_bytes(*row)).ok().filter(|&o| o > 0)?;
            if offsets.contains(&offset) {
                return None;
            }
            offsets.push(offset);
        }
        Some(EntryModel { offsets })
    }
}

/// A coder of bits: it knows them, or reads them.
trait BitCoder {
    /// Codes a bit; who knows it is told.
    fn bit(&mut self, probability: &mut u16, known: bool) -> bool;
}

impl BitCoder for Decoder<'_> {
    fn bit(&mut self, probability: &mut u16, _known: bool) -> bool {
        self.adaptive(probability)
    }
}

impl BitCoder for Encoder {
    fn bit(&mut self, probability: &mut u16, known: bool) -> bool {
        self.adaptive(probability, known);
        known
    }
}

/// The probabilities of a tile.
struct Probabilities {
    equal: [[u16; MAX_OFFSETS]; 16],
    upper: [u16; 256],
    lower: Vec<[u16; 256]>,
}

impl Probabilities {
    fn new(upper_bits: u32) -> Probabilities {
        Probabilities {
            equal: [[EVEN; MAX_OFFSETS]; 16],
            upper: [EVEN; 256],
            lower: vec![[EVEN; 256]; 1 << upper_bits],
        }
    }
}

fn literal(
    coder: &mut impl BitCoder,
    probabilities: &mut Probabilities,
    (upper_bits, lower_bits): (u32, u32),
    known: u16,
) -> u16 {
    let mut part = |set: &mut [u16; 256], bits: u32, known: usize| {
        let mut at = 1;
        for bit in (0..bits).rev() {
            let found = coder.bit(&mut set[at & 255], known >> bit & 1 != 0);
            at = 2 * at + usize::from(found);
        }
        at & ((1 << bits) - 1)
    };
    let upper = part(&mut probabilities.upper, upper_bits, usize::from(known) >> lower_bits);
    let lower = part(&mut probabilities.lower[upper], lower_bits, usize::from(known));
    (upper << lower_bits | lower) as u16
}

/// Codes a tile of entries of so many bits; those in `entries` are known to an encoder, and become
/// known to a decoder.
fn code(model: &EntryModel, bits: u8, coder: &mut impl BitCoder, entries: &mut [u16]) {
    let upper_bits = u32::from(bits.clamp(8, 16)) - 8;
    let widths = (upper_bits, u32::from(bits.min(16)) - upper_bits);
    let mut probabilities = Probabilities::new(upper_bits);
    let mut history = 0;
    for at in 0..entries.len() {
        let known = entries[at];
        let mut candidates = [0; MAX_OFFSETS];
        let mut found = None;
        for (place, &offset) in model.offsets.iter().enumerate() {
            let before = at.checked_sub(usize::from(offset));
            let candidate = before.map_or(0, |before| entries[before]);
            candidates[place] = candidate;
            if candidates[..place].contains(&candidate) {
                continue;
            }
            let probability = &mut probabilities.equal[history][place];
            if coder.bit(probability, candidate == known) {
                found = Some((place, candidate));
                break;
            }
        }
        let first = found.is_some_and(|(place, _)| place == 0);
        history = (2 * history + usize::from(first)) & 15;
        entries[at] = match found {
            Some((_, candidate)) => candidate,
            None => literal(coder, &mut probabilities, widths, known),
        };
    }
}

/// The bytes of a tile.
pub(crate) fn encode(model: &EntryModel, bits: u8, entries: &[u16]) -> Vec<u8> {
    let mut coder = Encoder::new();
    code(model, bits, &mut coder, &mut entries.to_vec());
    coder.finish()
}

/// The entries of a tile.
pub(crate) fn decode(model: &EntryModel, bits: u8, bytes: &[u8], entries: &mut [u16]) {
    code(model, bits, &mut Decoder::new(bytes), entries);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_come_back(
            seed in any::<u64>(), bits in 1_u8..=16, length in 0_usize..3000, kinds in 1_u16..500
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mask = ((1_u32 << bits) - 1) as u16;
            let entries: Vec<u16> =
                (0..length).map(|_| random.u16(0..kinds).wrapping_mul(7919) & mask).collect();
            let model = EntryModel::choose(&entries);
            prop_assert_eq!(EntryModel::parse(&model.to_bytes()), Some(model.clone()));
            let bytes = encode(&model, bits, &entries);
            let mut back = vec![0; length];
            decode(&model, bits, &bytes, &mut back);
            prop_assert_eq!(back, entries);
        }

        #[test]
        fn any_bytes_are_entries(
            bytes in proptest::collection::vec(any::<u8>(), 0..100), bits in 1_u8..=16
        ) {
            let model = EntryModel { offsets: vec![2, 1] };
            let mut entries = vec![0; 500];
            decode(&model, bits, &bytes, &mut entries);
            prop_assert!(entries.iter().all(|&e| u32::from(e) < 1 << bits));
        }
    }

    #[test]
    fn equal_entries_take_nothing_much() {
        let entries: Vec<u16> = (0..4096).map(|i| 3 + i % 2).collect();
        let model = EntryModel::choose(&entries);
        assert!(encode(&model, 3, &entries).len() < 20);
    }
}
