//! What the passes of a slice decided, as bytes.

use std::io::{self, Read, Write};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use hoffman_board::Color;
use hoffman_solve::{Decided, TakeDecided};
use hoffman_space::PawnSquares;
use hoffman_store::StoredFile;

use super::container::{CheckpointFile, CheckpointReader, Tag};
use super::slices::{Parts, PartsReader};

/// A part of what passes decided, compressed.
pub(super) const PIECE: Tag = *b"LOGS";
/// The end of some passes of a slice.
pub(super) const PASSES: Tag = *b"PASS";

/// The bit of a record's kind that tells that Black is to move.
const BLACK: u8 = 1;
/// That of a win.
const WON: u8 = 2;

/// What a checkpoint holds of the passes of a slice.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    /// The number of moves of the last pass.
    pub(super) last: u16,
    /// Where in the file.
    places: Vec<Range<u64>>,
}

/// The contents of the section that ends passes.
struct End {
    pawns: PawnSquares,
    moves: RangeInclusive<u16>,
}

impl End {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.pawns.white.to_le_bytes());
        bytes.extend(self.pawns.black.to_le_bytes());
        bytes.extend(self.moves.start().to_le_bytes());
        bytes.extend(self.moves.end().to_le_bytes());
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<End> {
        let from = &mut bytes;
        let (white, black) = (take(from).ok()?, take(from).ok()?);
        let (first, last) = (take(from).ok()?, take(from).ok()?);
        let pawns =
            PawnSquares { white: u64::from_le_bytes(white), black: u64::from_le_bytes(black) };
        let moves = u16::from_le_bytes(first)..=u16::from_le_bytes(last);
        (bytes.is_empty() && !moves.is_empty()).then_some(End { pawns, moves })
    }
}

/// Adds what passes decided to a checkpoint. If that fails the checkpoint is as it was.
pub(super) fn append(
    container: &mut CheckpointFile,
    pawns: PawnSquares,
    moves: RangeInclusive<u16>,
    show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    sound: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let before = container.end();
    let mut out = Parts::new(container, PIECE);
    let done = show(&mut |decided| put(&mut out, &decided))
        .and_then(|()| out.flush())
        // What was read of it may have come from a disk that failed meanwhile.
        .and_then(|()| sound())
        .and_then(|()| container.append(PASSES, &End { pawns, moves }.to_bytes()))
        .and_then(|()| container.sync());
    if done.is_err() {
        // If this fails too the passes are without their end, or complete: right in any case.
        let _ = container.cut(before);
    }
    done
}

/// Takes note of passes whose parts begin at `start` and whose end the reader has just read.
pub(super) fn note(
    saved: &mut std::collections::HashMap<PawnSquares, Saved>,
    end: &[u8],
    place: Range<u64>,
) -> Option<PawnSquares> {
    let End { pawns, moves } = End::from_bytes(end)?;
    match saved.get_mut(&pawns) {
        Some(known) if known.last.checked_add(1) == Some(*moves.start()) => {
            known.last = *moves.end();
            known.places.push(place);
        }
        // Passes are counted from 0 or 1.
        _ if *moves.start() <= 1 => {
            saved.insert(pawns, Saved { last: *moves.end(), places: vec![place] });
        }
        // Nothing goes before them.
        _ => {
            saved.remove(&pawns);
        }
    }
    Some(pawns)
}

/// Shows `take` what passes decided, at most `rows` rows at once.
pub(super) fn restore(
    file: &Arc<dyn StoredFile>,
    saved: &Saved,
    rows: usize,
    take: &mut TakeDecided<'_>,
) -> io::Result<()> {
    for place in &saved.places {
        let mut reader = CheckpointReader::within(Arc::clone(file), place.clone());
        let mut from = PartsReader::new(|| match reader.next()? {
            Some((PIECE, packed)) => Ok(Some(packed)),
            None if reader.position() == place.end => Ok(None),
            _ => Err(io::ErrorKind::InvalidData.into()),
        });
        let mut room = RecordRoom::default();
        while let Some(decided) = next(&mut from, rows, &mut room)? {
            take(decided)?;
        }
    }
    Ok(())
}

fn put(out: &mut impl Write, decided: &Decided<'_>) -> io::Result<()> {
    let black = if decided.turn == Color::Black { BLACK } else { 0 };
    let won = if decided.won { WON } else { 0 };
    let len = u32::try_from(decided.rows.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    out.write_all(&[black | won])?;
    out.write_all(&decided.moves.to_le_bytes())?;
    out.write_all(&decided.block.to_le_bytes())?;
    out.write_all(&len.to_le_bytes())?;
    decided.rows.iter().try_for_each(|row| out.write_all(&row.to_le_bytes()))?;
    decided.masks.iter().try_for_each(|mask| out.write_all(&mask.to_le_bytes()))
}

/// Room for one record.
#[derive(Default)]
struct RecordRoom {
    bytes: Vec<u8>,
    rows: Vec<u32>,
    masks: Vec<u64>,
}

fn next<'r>(
    from: &mut impl Read,
    rows: usize,
    room: &'r mut RecordRoom,
) -> io::Result<Option<Decided<'r>>> {
    let mut kind = [0];
    if from.read(&mut kind)? == 0 {
        return Ok(None);
    }
    let moves = u16::from_le_bytes(take(from)?);
    let block = u32::from_le_bytes(take(from)?);
    let len = u32::from_le_bytes(take(from)?) as usize;
    if kind[0] & !(BLACK | WON) != 0 || len > rows {
        return Err(io::ErrorKind::InvalidData.into());
    }
    room.bytes.resize(len * 12, 0);
    from.read_exact(&mut room.bytes)?;
    let (numbers, masks) = room.bytes.split_at(len * 4);
    room.rows.clear();
    room.rows.extend(numbers.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
    room.masks.clear();
    room.masks.extend(masks.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    let turn = if kind[0] & BLACK != 0 { Color::Black } else { Color::White };
    let won = kind[0] & WON != 0;
    Ok(Some(Decided { turn, won, moves, block, rows: &room.rows, masks: &room.masks }))
}

fn take<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;

    use hoffman_store::{Simulated, Storage};

    use super::*;

    const PAWNS: PawnSquares = PawnSquares { white: 1 << 12, black: 0 };

    type Record = (bool, bool, u16, u32, Vec<u32>, Vec<u64>);

    fn records() -> Vec<Record> {
        let long: Vec<u32> = (0..100_000).collect();
        let masks = long
            .iter()
            .map(|&row| u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
            .collect();
        vec![
            (true, false, 1, 7, vec![0, 5], vec![9, u64::MAX]),
            (false, true, 2, 461, long, masks),
            (true, true, 2, u32::MAX, vec![u32::MAX], vec![1]),
        ]
    }

    fn show(records: &[Record], take: &mut TakeDecided<'_>) -> io::Result<()> {
        records.iter().try_for_each(|(black, won, moves, block, rows, masks)| {
            let turn = if *black { Color::Black } else { Color::White };
            take(Decided { turn, won: *won, moves: *moves, block: *block, rows, masks })
        })
    }

    fn restored(simulated: &Simulated, saved: &Saved, rows: usize) -> io::Result<Vec<Record>> {
        let file: Arc<dyn StoredFile> = Arc::from(simulated.open_to_write(Path::new("c"))?);
        let mut found = Vec::new();
        restore(&file, saved, rows, &mut |d: Decided<'_>| {
            let black = d.turn == Color::Black;
            found.push((black, d.won, d.moves, d.block, d.rows.to_vec(), d.masks.to_vec()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn passes_come_back() {
        let simulated = Simulated::default();
        let storage: Arc<dyn Storage> = Arc::new(simulated.clone());
        let mut container =
            CheckpointFile::create(&storage, Path::new("c"), *b"MANI", b"").unwrap();
        let records = records();
        let (mut saved, mut places) = (HashMap::new(), Vec::new());
        for (moves, part) in [(1..=1, &records[..1]), (2..=4, &records[1..])] {
            let start = container.end();
            let end = End { pawns: PAWNS, moves: moves.clone() }.to_bytes();
            append(&mut container, PAWNS, moves, &|take| show(part, take), || Ok(())).unwrap();
            let place = start..container.end() - 16 - end.len() as u64;
            assert_eq!(note(&mut saved, &end, place.clone()), Some(PAWNS));
            places.push(place);
        }
        let known = &saved[&PAWNS];
        assert_eq!((known.last, &known.places), (4, &places));
        assert!(restored(&simulated, known, 100_000).unwrap() == records);
        assert!(restored(&simulated, known, 99_999).is_err());
        // If it fails the file is as it was.
        let whole = simulated.contents(Path::new("c")).unwrap();
        let fail = || Err(io::ErrorKind::Other.into());
        append(&mut container, PAWNS, 5..=5, &|take| show(&records, take), fail).unwrap_err();
        assert!(simulated.contents(Path::new("c")).unwrap() == whole);
        // Whatever is flipped in it is found.
        let few = (places[1].end as usize / 20).max(1);
        let bits = (places[0].start..places[1].end).step_by(few).chain(places[0].clone());
        for at in bits {
            let mut bytes = whole.clone();
            bytes[at as usize] ^= 0x10;
            simulated.put(Path::new("c"), &bytes);
            assert!(restored(&simulated, known, 100_000).is_err(), "{at}");
        }
    }

    #[test]
    fn passes_follow_each_other() {
        let mut saved = HashMap::new();
        let mut add = |moves: RangeInclusive<u16>, at: u64| {
            note(&mut saved, &End { pawns: PAWNS, moves }.to_bytes(), at..at + 1);
            saved.get(&PAWNS).map(|s| (s.last, s.places.iter().map(|p| p.start).collect()))
        };
        assert_eq!(add(2..=3, 0), None);
        assert_eq!(add(0..=0, 1), Some((0, vec![1])));
        assert_eq!(add(1..=5, 2), Some((5, vec![1, 2])));
        assert_eq!(add(6..=9, 3), Some((9, vec![1, 2, 3])));
        // Another run began anew.
        assert_eq!(add(1..=2, 4), Some((2, vec![4])));
        assert_eq!(add(4..=5, 5), None);
        let mut saved = HashMap::new();
        let good = End { pawns: PAWNS, moves: 1..=1 }.to_bytes();
        for len in 0..good.len() {
            assert_eq!(note(&mut saved, &good[..len], 0..1), None);
        }
    }

    /// Checksums tell damage, not malice: whatever the bytes say, they are read or refused.
    #[test]
    fn nothing_panics() {
        let mut bytes = Vec::new();
        let records = &records()[..1];
        show(records, &mut |decided| put(&mut bytes, &decided)).unwrap();
        let mut room = RecordRoom::default();
        for at in 0..bytes.len() {
            for value in [0, 1, 127, 255] {
                let mut other = bytes.clone();
                other[at] = value;
                let _ = next(&mut &other[..], 1000, &mut room);
            }
            assert!(at == 0 || next(&mut &bytes[..at], 1000, &mut room).is_err());
        }
        assert!(next(&mut &bytes[..], 2, &mut room).is_ok_and(|r| r.is_some()));
        assert!(next(&mut &bytes[..], 1, &mut room).is_err());
    }
}
