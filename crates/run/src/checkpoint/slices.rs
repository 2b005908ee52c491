//! A solved slice as bytes.

use std::io::{self, Read, Write};

use std::sync::Arc;

use hoffman_pages::{PagedCodes, Pages};
use hoffman_space::{
    Code, CodeStore as _, Codes, Counts, EnPassantValues, PawnSquares, SliceCounts, SliceValues,
};

use super::container::{CheckpointFile, CheckpointReader, Tag, Unusable};

/// A part of a slice, compressed.
const PIECE: Tag = *b"PART";
/// The end of a slice.
const SLICE: Tag = *b"SLIC";

/// Bytes of codes that are copied at once.
const CHUNK: usize = 1 << 16;

/// The most squares that a pawn can have jumped over, both sides together.
const RIGHTS: u8 = 16;

/// Bytes of a slice that are compressed at once.
const PART: usize = 1 << 20;

/// Adds a slice to a checkpoint: parts, and a section that says that it is complete. If that fails
/// the checkpoint is as it was.
pub(super) fn append(
    container: &mut CheckpointFile,
    pawns: PawnSquares,
    slice: &SliceValues,
    sound: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let before = container.end();
    let mut out = Parts::new(container, PIECE);
    let done = put_slice(&mut out, pawns, slice)
        .and_then(|()| out.flush())
        // What was read of it may have come from a disk that failed meanwhile.
        .and_then(|()| sound())
        .and_then(|()| container.append(SLICE, &[]))
        .and_then(|()| container.sync());
    if done.is_err() {
        // If this fails too the slice is without its end, or complete: right in any case.
        let _ = container.cut(before);
    }
    done
}

/// Cuts what is written into sections.
pub(super) struct Parts<'c> {
    container: &'c mut CheckpointFile,
    tag: Tag,
    part: Vec<u8>,
}

impl Parts<'_> {
    pub(super) fn new(container: &mut CheckpointFile, tag: Tag) -> Parts<'_> {
        Parts { container, tag, part: Vec::with_capacity(PART) }
    }
}

impl Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.part.len());
        self.part.extend_from_slice(&bytes[..taken]);
        if self.part.len() == PART {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.part.is_empty() {
            let packed = lz4_flex::block::compress_prepend_size(&self.part);
            self.part.clear();
            self.container.append(self.tag, &packed)?;
        }
        Ok(())
    }
}

/// Decompresses a part.
fn unpack(packed: &[u8], part: &mut Vec<u8>) -> io::Result<()> {
    let (len, packed) = lz4_flex::block::uncompressed_size(packed)
        .ok()
        .filter(|&(len, _)| len <= PART)
        .ok_or(io::ErrorKind::InvalidData)?;
    part.resize(len, 0);
    let got = lz4_flex::block::decompress_into(packed, part);
    if got.ok() == Some(len) { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Reads the contents of parts as one, which `next` finds one after the other, packed.
pub(super) struct PartsReader<F> {
    next: F,
    part: Vec<u8>,
    used: usize,
    /// No part is left.
    complete: bool,
}

impl<F: FnMut() -> io::Result<Option<Vec<u8>>>> PartsReader<F> {
    pub(super) fn new(next: F) -> PartsReader<F> {
        PartsReader { next, part: Vec::new(), used: 0, complete: false }
    }
}

impl<F: FnMut() -> io::Result<Option<Vec<u8>>>> Read for PartsReader<F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.used == self.part.len() && !self.complete {
            match (self.next)()? {
                Some(packed) => {
                    unpack(&packed, &mut self.part)?;
                    self.used = 0;
                }
                None => self.complete = true,
            }
        }
        let rest = &self.part[self.used..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        self.used += len;
        Ok(len)
    }
}

fn put_slice(out: &mut impl Write, pawns: PawnSquares, slice: &SliceValues) -> io::Result<()> {
    out.write_all(&pawns.white.to_le_bytes())?;
    out.write_all(&pawns.black.to_le_bytes())?;
    out.write_all(&slice.max_moves.to_le_bytes())?;
    for codes in &slice.codes {
        put_codes(out, codes)?;
    }
    out.write_all(&[slice.en_passant.len() as u8])?;
    for right in &slice.en_passant {
        out.write_all(&[right.square])?;
        put_codes(out, &right.codes)?;
    }
    out.write_all(&[u8::from(slice.counts.is_some())])?;
    if let Some(counts) = &slice.counts {
        for counts in counts.plain.iter().chain(&counts.diagonal) {
            put_counts(out, counts)?;
        }
        out.write_all(&[counts.en_passant.len() as u8])?;
        for (square, counts) in &counts.en_passant {
            out.write_all(&[*square])?;
            put_counts(out, counts)?;
        }
    }
    Ok(())
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
            let width = if stored.wide { 2 } else { 1 };
            out.write_all(&[width as u8])?;
            let mut bytes = vec![0; CHUNK];
            for at in (0..stored.len * width).step_by(CHUNK) {
                let bytes = &mut bytes[..CHUNK.min(stored.len * width - at)];
                stored.store.read(at, bytes);
                out.write_all(bytes)?;
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

/// Reads the next slice of a layout with `len` positions for each side to move, into pages if there
/// are any; none if there is no complete one.
pub(super) fn next(
    reader: &mut CheckpointReader,
    len: usize,
    pages: Option<&Arc<Pages>>,
) -> Result<Option<(PawnSquares, SliceValues)>, Unusable> {
    let mut parts = PartsReader::new(|| match reader.next()? {
        Some((PIECE, packed)) => Ok(Some(packed)),
        Some((SLICE, _)) => Ok(None),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    });
    match read(&mut parts, len, pages) {
        Ok(slice) => Ok(Some(slice)),
        Err(e) if parts.complete || e.kind() == io::ErrorKind::InvalidData => {
            // The checksums were right, so whatever does not fit was written for something else.
            Err(Unusable::Other("does not hold slices of this table"))
        }
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(Unusable::Unreadable(e)),
    }
}

fn read(
    from: &mut impl Read,
    len: usize,
    pages: Option<&Arc<Pages>>,
) -> io::Result<(PawnSquares, SliceValues)> {
    let (white, black) = (take_u64(from)?, take_u64(from)?);
    let max_moves = u16::from_le_bytes(take(from)?);
    let codes = [take_codes(from, len, pages)?, take_codes(from, len, pages)?];
    let mut en_passant = Vec::new();

    for _ in 0..at_most(take_u8(from)?, RIGHTS)? {
        let square = at_most(take_u8(from)?, 63)?;
        en_passant.push(EnPassantValues { square, codes: take_codes(from, len, pages)? });
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
    Ok((PawnSquares { white, black }, SliceValues { codes, en_passant, counts, max_moves }))
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

fn take_codes(from: &mut impl Read, len: usize, pages: Option<&Arc<Pages>>) -> io::Result<Codes> {
    let width = take_u8(from)?;
    match (width, pages) {
        (1, None) => {
            let mut codes = vec![0; len];
            from.read_exact(&mut codes)?;
            Ok(Codes::Narrow(codes))
        }
        (2, None) => {
            let mut codes = vec![0; len];
            let mut bytes = vec![0; CHUNK];
            for chunk in codes.chunks_mut(CHUNK / 2) {
                let bytes = &mut bytes[..2 * chunk.len()];
                from.read_exact(bytes)?;
                let (pairs, _) = bytes.as_chunks::<2>();
                for (code, pair) in chunk.iter_mut().zip(pairs) {
                    *code = u16::from_le_bytes(*pair);
                }
            }
            Ok(Codes::Wide(codes))
        }
        (1, Some(pages)) => take_stored::<u8>(from, len, pages),
        (2, Some(pages)) => take_stored::<u16>(from, len, pages),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn take_stored<C: Code>(from: &mut impl Read, len: usize, pages: &Arc<Pages>) -> io::Result<Codes> {
    let store = PagedCodes::new::<C>(pages, len);
    let end = len * size_of::<C>();
    let mut bytes = vec![0; CHUNK];
    for at in (0..end).step_by(CHUNK) {
        let bytes = &mut bytes[..CHUNK.min(end - at)];
        from.read_exact(bytes)?;
        store.write(at, bytes);
    }
    Ok(store.into_codes::<C>(len))
}

fn take_counts(from: &mut impl Read) -> io::Result<Counts> {
    Ok(Counts { stalemates: take_u64(from)?, moves: take_u64(from)?, futuremoves: take_u64(from)? })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hoffman_space::StoredCodes;
    use hoffman_store::{Simulated, Storage};

    use super::*;

    #[test]
    fn slices_come_back() {
        let counts = |n| Counts { stalemates: n, moves: n + 1, futuremoves: u64::MAX - n };
        let len = 700_000;
        let slice = SliceValues {
            codes: [
                Codes::Narrow((0..len).map(|n| (n % 251) as u8).collect()),
                Codes::Wide((0..len).map(|n| (n * 5) as u16).collect()),
            ],
            en_passant: vec![EnPassantValues { square: 42, codes: Codes::Narrow(vec![9; len]) }],
            counts: Some(SliceCounts {
                plain: [counts(1), counts(2)],
                diagonal: [counts(3), counts(4)],
                en_passant: vec![(42, counts(5))],
            }),
            max_moves: 300,
        };
        let pawns = PawnSquares { white: 1 << 12, black: 1 << 52 };
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let path = Path::new("c");
        let mut container = CheckpointFile::create(&storage, path, *b"MANI", b"").unwrap();
        append(&mut container, pawns, &slice, || Ok(())).unwrap();
        let whole = simulated.contents(path).unwrap();
        append(&mut container, pawns, &slice, || Err(io::ErrorKind::Other.into())).unwrap_err();
        assert!(simulated.contents(path).unwrap() == whole);
        let read = |len, pages| {
            let mut reader = CheckpointReader::open(&simulated, path).unwrap();
            reader.next().unwrap().unwrap();
            next(&mut reader, len, pages)
        };
        let shown = |slice: &SliceValues| format!("{slice:?}");
        let (found, back) = read(len, None).unwrap().unwrap();
        assert!(found == pawns && shown(&back) == shown(&slice));
        for len in [0, 64, len - 1, len + 1, 1 << 22] {
            assert!(read(len, None).is_err(), "{len}");
        }
        // The same in pages, written anew from there.
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), 1 << 20);
        let (_, paged) = read(len, Some(&pages)).unwrap().unwrap();
        assert!(matches!(paged.codes[1], Codes::Stored(StoredCodes { wide: true, .. })));
        let mut container = CheckpointFile::create(&storage, path, *b"MANI", b"").unwrap();
        append(&mut container, pawns, &paged, || pages.check()).unwrap();
        assert!(simulated.contents(path).unwrap() == whole);
        // Without its end it is none.
        simulated.put(path, &whole[..whole.len() - 1]);
        assert!(read(len, None).unwrap().is_none());
    }
    /// Checksums tell damage, not malice: whatever the bytes say, they are read or refused.
    #[test]
    fn nothing_panics() {
        let slice = SliceValues {
            codes: [Codes::Narrow(vec![7; 64]), Codes::Wide(vec![300; 64])],
            en_passant: vec![EnPassantValues { square: 42, codes: Codes::Narrow(vec![9; 64]) }],
            counts: Some(SliceCounts {
                en_passant: vec![(42, Counts::default())],
                ..SliceCounts::default()
            }),
            max_moves: 300,
        };
        let mut bytes = Vec::new();
        put_slice(&mut bytes, PawnSquares::default(), &slice).unwrap();
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let path = Path::new("c");
        let try_sections = |sections: &[(Tag, &[u8])]| {
            let mut container = CheckpointFile::create(&storage, path, *b"MANI", b"").unwrap();
            for (tag, payload) in sections {
                container.append(*tag, payload).unwrap();
            }
            let mut reader = CheckpointReader::open(&simulated, path).unwrap();
            reader.next().unwrap().unwrap();
            next(&mut reader, 64, None).is_ok_and(|slice| slice.is_some())
        };
        let pack = |bytes: &[u8]| lz4_flex::block::compress_prepend_size(bytes);
        assert!(try_sections(&[(PIECE, &pack(&bytes)), (SLICE, &[])]));
        for at in 0..bytes.len() {
            for value in [0, 1, 2, 3, 255] {
                let mut other = bytes.clone();
                other[at] = value;
                try_sections(&[(PIECE, &pack(&other)), (SLICE, &[])]);
            }
            assert!(!try_sections(&[(PIECE, &pack(&bytes[..at])), (SLICE, &[])]));
        }
        let packed = pack(&bytes);
        for at in 0..packed.len() {
            for value in [0, 1, 127, 255] {
                let mut other = packed.clone();
                other[at] = value;
                try_sections(&[(PIECE, &other), (SLICE, &[])]);
            }
            assert!(!try_sections(&[(PIECE, &packed[..at]), (SLICE, &[])]));
        }
        assert!(!try_sections(&[(SLICE, &[])]) && !try_sections(&[(*b"XXXX", &[])]));
        let too_long = pack(&vec![0; PART + 1]);
        assert!(!try_sections(&[(PIECE, &too_long), (SLICE, &[])]));
    }
}
