//! Any bytes as the file of a small table; once as they are, once with checksums that are right.
//!
//! Nothing that it says of itself is a reason to fail, and what is read twice is the same.

#![no_main]

use std::ops::Range;

use hoffman_fuzz::crc32;
use hoffman_hbf::{
    Asked, CellPlace, Code, EntryPlace, HbfFile, Lookup, Position, Stored, answer, parse_fen,
};
use libfuzzer_sys::fuzz_target;

const HEAD: usize = 32;
const ROW: usize = 32;

/// The most blocks of a stream that are decoded.
const BLOCKS: u64 = 1;

const POSITIONS: [&str; 6] = [
    "8/8/8/8/8/2k5/8/KR6 w - -",
    "8/8/8/8/8/2k5/8/KR6 b - -",
    "8/8/8/3k4/8/8/P7/K7 w - -",
    "8/p7/8/3k4/8/8/8/K7 w - -",
    "8/8/8/3k4/pP6/8/8/K7 b - b3",
    "4k3/8/8/8/8/8/8/K6r b - -",
];

fuzz_target!(|bytes: &[u8]| {
    exercise(bytes.to_vec());
    let mut mended = bytes.to_vec();
    if mend(&mut mended).is_some() {
        exercise(mended);
    }
});

fn exercise(bytes: Vec<u8>) {
    let Ok(file) = HbfFile::open(Box::new(bytes)) else { return };
    let _ = (file.check(), file.description(), file.control(), file.pawn_table());
    for stream in file.cell_streams() {
        for tile in 0..64 * stream.blocks.min(BLOCKS) {
            let (number, at) = (stream.number, (stream.tile_cells - 1) as u16);
            let cell = CellPlace { stream: number, tile, at, exits: stream.exits };
            let decoded = || file.with_cells(cell, false, <[Code]>::to_vec).ok();
            assert_eq!(decoded(), decoded());
        }
    }
    if let Ok(size) = file.tile_entries() {
        for first in [0, size, 5 * size] {
            assert_eq!(file.entry_tile(first).ok(), file.entry_tile(first).ok());
        }
    }
    for position in POSITIONS.into_iter().filter_map(parse_fen) {
        for outcomes in [false, true] {
            let _ = answer(&Alone(&file), &position, Asked::exactly(outcomes));
        }
    }
}

/// Answers out of one file: whatever it does not hold is unknown.
struct Alone<'a>(&'a HbfFile);

impl Lookup for Alone<'_> {
    type Error = ();

    fn stored(&self, position: &Position, asked: Asked) -> Result<Stored, ()> {
        match self.0.find(position, asked.outcomes) {
            EntryPlace::Cell(cell) => {
                let at = usize::from(cell.at);
                let code = self.0.with_cells(cell, false, |codes| codes.get(at).copied());
                let code = code.map_err(drop)?.ok_or(())?;
                Ok(if cell.exits { Stored::AtLeast(code) } else { Stored::Exactly(code) })
            }
            EntryPlace::OtherSide => Ok(Stored::OtherSide),
            EntryPlace::Nothing => Err(()),
        }
    }
}

/// Sets the length and the checksums of the head, of its table and of all sections that lie in the
/// file, and those of the blocks that their directory tells.
fn mend(bytes: &mut [u8]) -> Option<()> {
    let length = bytes.len() as u64;
    let count = number(bytes, 12, 4)? as usize;
    let end = HEAD.checked_add(ROW.checked_mul(count)?)?;
    bytes.get(..end)?;

    let rows = || (HEAD..end).step_by(ROW);
    for row in rows().filter(|&row| bytes[row..].starts_with(b"DIRY")).collect::<Vec<_>>() {
        let stream = bytes[row + 4..row + 8].to_vec();
        let data = rows()
            .find(|&at| bytes[at..].starts_with(b"DATA") && bytes[at + 4..].starts_with(&stream));
        let places = section(bytes, row).zip(data.and_then(|at| section(bytes, at)));
        if let Some((directory, data)) = places {
            mend_blocks(bytes, directory, data);
        }
    }
    for row in rows() {
        mend_section(bytes, row);
    }
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let table = crc32(&bytes[HEAD..end]);
    bytes[24..28].copy_from_slice(&table.to_le_bytes());
    let head = crc32(&bytes[..28]);
    bytes[28..32].copy_from_slice(&head.to_le_bytes());
    Some(())
}

/// Sets the checksum of a section. That of `DATA` is 0, as its blocks have their own.
fn mend_section(bytes: &mut [u8], row: usize) {
    let Some(content) = section(bytes, row) else { return };
    let is_data = bytes[row..].starts_with(b"DATA");
    let sum = if is_data { 0 } else { crc32(&bytes[content]) };
    bytes[row + 24..row + 28].copy_from_slice(&sum.to_le_bytes());
}

/// Where a section lies, by its row in the table.
fn section(bytes: &[u8], row: usize) -> Option<Range<usize>> {
    let start = number(bytes, row + 8, 8)? as usize;
    let end = start.checked_add(number(bytes, row + 16, 8)? as usize)?;
    bytes.get(start..end)?;
    Some(start..end)
}

/// Sets the checksums of the blocks of a stream in their directory.
fn mend_blocks(bytes: &mut [u8], directory: Range<usize>, data: Range<usize>) {
    let mut at = directory.start;
    while at + 24 <= directory.end {
        let place = |at| data.start.checked_add(number(bytes, at, 8)? as usize);
        let block = place(at).zip(place(at + 12));
        if let Some(block) = block.and_then(|(start, end)| bytes.get(start..end)) {
            let sum = crc32(block).to_le_bytes();
            bytes[at + 8..at + 12].copy_from_slice(&sum);
        }
        at += 12;
    }
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let field = bytes.get(at..at + width)?;
    Some(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}
