//! A block index that says anything, with a checksum that is right, before any data: what it
//! promises is believed within the limits of a reader only.

#![no_main]

use arbitrary::Arbitrary;
use hoffman_fuzz::{crc32, exercise, open};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    shift: u8,
    width: u8,
    len: u64,
    /// Whether the number of blocks is that of the length.
    honest: bool,
    blocks: u16,
    lengths: Vec<(u64, bool)>,
    data: Vec<u8>,
}

fuzz_target!(|input: Input| {
    let (shift, width) = (input.shift % 40, 1 + input.width % 10);
    let len = input.len >> (input.shift % 64);
    let blocks = match input.honest {
        true => len.div_ceil(1 << shift).min(6000) as u32,
        false => u32::from(input.blocks) % 6000,
    };
    let mut index = vec![1, shift, width, 0];
    index.extend(len.to_le_bytes());
    index.extend(blocks.to_le_bytes());
    let mut at = 0;
    for n in 0..blocks as usize {
        let (length, real) =
            input.lengths.get(n % input.lengths.len().max(1)).copied().unwrap_or((40, true));
        let length = if real { length % 200 } else { length };
        index.extend(length.to_le_bytes().iter().chain(&[0; 2]).take(usize::from(width)));
        let end = (at as u64).saturating_add(length).min(input.data.len() as u64) as usize;
        index.extend(crc32(&input.data[at..end]).to_le_bytes());
        at = end;
    }
    index.extend(crc32(&index).to_le_bytes());
    let Ok(field) = u16::try_from(index.len()) else { return };
    let Some(extra) = field.checked_add(4) else { return };
    let mut file = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff];
    file.extend(extra.to_le_bytes());
    file.extend(b"HF");
    file.extend(field.to_le_bytes());
    file.extend(index);
    file.extend(&input.data);
    if let Some(mut table) = open(file) {
        exercise(&mut table);
    }
});
