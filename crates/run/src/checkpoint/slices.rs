//! A solved slice as bytes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use hoffman_space::{
    Code as _, Codes, Counts, EnPassantValues, PawnStructure, SliceCounts, SliceValues,
};

use super::container::Unfit;

/// The most squares that a pawn can have jumped over, both sides together.
const RIGHTS: u8 = 16;

/// Writes a slice down, compressed.
pub(super) fn encode(pawns: PawnStructure, slice: &SliceValues) -> io::Result<Vec<u8>> {
    let mut out = DeflateEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&pawns.white.to_le_bytes())?;
    out.write_all(&pawns.black.to_le_bytes())?;
    out.write_all(&slice.max_moves.to_le_bytes())?;
    for codes in &slice.codes {
        put_codes(&mut out, codes)?;
    }
    out.write_all(&[slice.en_passant.len() as u8])?;
    for right in &slice.en_passant {
        out.write_all(&[right.square])?;
        put_codes(&mut out, &right.codes)?;
    }
    out.write_all(&[u8::from(slice.counts.is_some())])?;
    if let Some(counts) = &slice.counts {
        for counts in counts.plain.iter().chain(&counts.diagonal) {
            put_counts(&mut out, counts)?;
        }
        out.write_all(&[counts.en_passant.len() as u8])?;
        for (square, counts) in &counts.en_passant {
            out.write_all(&[*square])?;
            put_counts(&mut out, counts)?;
        }
    }
    out.finish()
}

fn put_codes(out: &mut impl Write, codes: &Codes) -> io::Result<()> {
    match codes {
        Codes::Narrow(codes) => {
            out.write_all(&[1])?;
            out.write_all(codes)
        }
        Codes::Wide(codes) => {
            out.write_all(&[2])?;
            let mut bytes = Vec::new();
            for chunk in codes.chunks(1 << 16) {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|code| code.to_le_bytes()));
                out.write_all(&bytes)?;
            }
            Ok(())
        }
        Codes::Stored(stored) => {
            out.write_all(&[if stored.wide { 2 } else { 1 }])?;
            let mut codes = vec![0_u16; 1 << 15];
            for at in (0..stored.len).step_by(codes.len()) {
                let codes = &mut codes[..(1 << 15).min(stored.len - at)];
                stored.read(at, codes);
                let bytes: Vec<u8> = if stored.wide {
                    codes.iter().flat_map(|code| code.to_le_bytes()).collect()
                } else {
                    codes.iter().map(|code| code.to_u8()).collect()
                };
                out.write_all(&bytes)?;
            }
            Ok(())
        }
    }
}

fn put_counts(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    for number in [counts.stalemates, counts.moves, counts.futuremoves] {
        out.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// Reads a slice of a layout with `len` positions for each side to move.
pub(super) fn decode(bytes: &[u8], len: usize) -> Result<(PawnStructure, SliceValues), Unfit> {
    // The checksum was right, so whatever does not fit was written for something else.
    read(&mut DeflateDecoder::new(bytes), len)
        .map_err(|_| Unfit::Other("does not hold slices of this table"))
}

fn read(from: &mut impl Read, len: usize) -> io::Result<(PawnStructure, SliceValues)> {
    let (white, black) = (take_u64(from)?, take_u64(from)?);
    let max_moves = u16::from_le_bytes(take(from)?);
    let codes = [take_codes(from, len)?, take_codes(from, len)?];
    let mut en_passant = Vec::new();
    for _ in 0..at_most(take_u8(from)?, RIGHTS)? {
        let square = at_most(take_u8(from)?, 63)?;
        en_passant.push(EnPassantValues { square, codes: take_codes(from, len)? });
    }
    let counts = if at_most(take_u8(from)?, 1)? == 0 {
        None
    } else {
        let mut four = [Counts::default(); 4];
        for counts in &mut four {
            *counts = take_counts(from)?;
        }
        let [a, b, c, d] = four;
        let mut counts = SliceCounts { plain: [a, b], diagonal: [c, d], en_passant: Vec::new() };
        for _ in 0..at_most(take_u8(from)?, RIGHTS)? {
            counts.en_passant.push((at_most(take_u8(from)?, 63)?, take_counts(from)?));
        }
        Some(counts)
    };
    if from.read(&mut [0])? != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((PawnStructure { white, black }, SliceValues { codes, en_passant, counts, max_moves }))
}

fn take<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn take_u8(from: &mut impl Read) -> io::Result<u8> {
    take(from).map(|[byte]| byte)
}

fn take_u64(from: &mut impl Read) -> io::Result<u64> {
    take(from).map(u64::from_le_bytes)
}

fn at_most(number: u8, most: u8) -> io::Result<u8> {
    if number <= most { Ok(number) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn take_codes(from: &mut impl Read, len: usize) -> io::Result<Codes> {
    match take_u8(from)? {
        1 => {
            let mut codes = vec![0; len];
            from.read_exact(&mut codes)?;
            Ok(Codes::Narrow(codes))
        }
        2 => {
            let mut codes = vec![0; len];
            let mut bytes = vec![0; 1 << 17];
            for chunk in codes.chunks_mut(1 << 16) {
                let bytes = &mut bytes[..2 * chunk.len()];
                from.read_exact(bytes)?;
                let (pairs, _) = bytes.as_chunks::<2>();
                for (code, pair) in chunk.iter_mut().zip(pairs) {
                    *code = u16::from_le_bytes(*pair);
                }
            }
            Ok(Codes::Wide(codes))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn take_counts(from: &mut impl Read) -> io::Result<Counts> {
    Ok(Counts { stalemates: take_u64(from)?, moves: take_u64(from)?, futuremoves: take_u64(from)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_come_back() {
        let counts = |n| Counts { stalemates: n, moves: n + 1, futuremoves: u64::MAX - n };
        let slice = SliceValues {
            codes: [
                Codes::Narrow((0..128).collect()),
                Codes::Wide((0..128_u16).map(|n| n * 500).collect()),
            ],
            en_passant: vec![EnPassantValues { square: 42, codes: Codes::Narrow(vec![9; 128]) }],
            counts: Some(SliceCounts {
                plain: [counts(1), counts(2)],
                diagonal: [counts(3), counts(4)],
                en_passant: vec![(42, counts(5))],
            }),
            max_moves: 300,
        };
        let pawns = PawnStructure { white: 1 << 12, black: 1 << 52 };
        let bytes = encode(pawns, &slice).unwrap();
        let (found, back) = decode(&bytes, 128).unwrap();
        assert_eq!((found, format!("{back:?}")), (pawns, format!("{slice:?}")));
        for len in [0, 64, 127, 129, 1 << 20] {
            assert!(decode(&bytes, len).is_err(), "{len}");
        }
        assert!(decode(&bytes[..bytes.len() / 2], 128).is_err());
    }
}
