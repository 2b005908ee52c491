//! Bits flipped in what is read: found, or without effect.

use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::common::{build_in, entries, generate_in, promotion, workplace};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hoffman_store::Simulated;

/// Flips bits of a file, `step` apart, and makes a table from it each time. Returns how many flips
/// were refused and how many had no effect.
fn flip(storage: &Simulated, file: &Path, step: usize) -> (usize, usize) {
    let table = Path::new("t/b7.htb");
    let clean = storage.copy();
    generate_in(&workplace(&clean, false)).unwrap();
    let right = entries(&clean, table).unwrap();
    let bytes = storage.contents(file).unwrap();
    let (mut refused, mut harmless) = (0, 0);
    for bit in (0..bytes.len() * 8).step_by(step) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let storage = storage.copy();
        storage.put(file, &flipped);
        match generate_in(&workplace(&storage, false)) {
            Ok(_) => {
                assert_eq!(entries(&storage, table).unwrap(), right, "bit {bit}");
                harmless += 1;
            }
            Err(error) => {
                let (text, name) = (error.to_string(), file.display().to_string());
                assert!(text.contains(&name) && !text.contains('\n'), "bit {bit}: {text}");
                assert!(storage.contents(table).is_none());
                refused += 1;
            }
        }
    }
    println!("{}: {refused} flips refused, {harmless} without effect", file.display());
    (refused, harmless)
}

/// How far apart flipped bits are; 1 for a proof, if there is an hour.
fn step() -> usize {
    std::env::var("HOFFMAN_FLIP_STEP").map_or(499, |step| step.parse().unwrap())
}

#[test]
fn flipped_bits_of_a_futurebase_are_found() {
    let storage = promotion();
    let file = Path::new("t/kqk.htb");
    let (refused, _) = flip(&storage, file, step());
    // The header counts for little: a time stamp, the system, what is said again behind the blocks.
    assert!(refused > 0);
    // As another program would have compressed it.
    let mut stream = Vec::new();
    GzDecoder::new(&storage.contents(file).unwrap()[..]).read_to_end(&mut stream).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(&stream).unwrap();
    storage.put(file, &encoder.finish().unwrap());
    let (refused, _) = flip(&storage, file, step());
    assert!(refused > 0);
}

#[test]
fn the_header_and_the_end_of_a_futurebase_may_be_flipped() {
    let storage = promotion();
    let file = Path::new("t/krk.htb");
    let bytes = storage.contents(file).unwrap();
    let clean = storage.copy();
    generate_in(&workplace(&clean, false)).unwrap();
    let right = entries(&clean, Path::new("t/b7.htb")).unwrap();
    // The fixed part of the gzip header, the extra field with the block index, the trailer.
    let ends = (0..64 * 8).chain((bytes.len() - 12) * 8..bytes.len() * 8);
    for bit in ends {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let storage = storage.copy();
        storage.put(file, &flipped);
        if generate_in(&workplace(&storage, false)).is_ok() {
            assert_eq!(entries(&storage, Path::new("t/b7.htb")).unwrap(), right, "bit {bit}");
        }
    }
}

#[test]
fn a_damaged_table_of_a_folder_is_made_anew() {
    let storage = Simulated::default();
    let place = workplace(&storage, false);
    build_in(&place, &["KQvK", "KPvK"]).unwrap();
    let file = Path::new("t/kqk.htb");
    let (right, next) = (entries(&storage, file).unwrap(), Path::new("t/kpk.htb"));
    let behind = entries(&storage, next).unwrap();
    let bytes = storage.contents(file).unwrap();
    for bit in (0..bytes.len() * 8).step_by(20 * step()) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        storage.put(file, &flipped);
        hoffman_store::Storage::remove(&storage, next).unwrap();
        if let Err(error) = build_in(&place, &["KPvK"]) {
            // A file that does not say any more what it was is left to its owner.
            let text = error.to_string();
            assert!(text.contains("kqk.htb") && text.contains("not overwritten"), "{text}");
            assert_eq!(storage.contents(file).unwrap(), flipped, "bit {bit}");
            storage.put(file, &bytes);
            build_in(&place, &["KPvK"]).unwrap();
        }
        assert_eq!(entries(&storage, file).unwrap(), right, "bit {bit}");
        assert_eq!(entries(&storage, next).unwrap(), behind, "bit {bit}");
    }
}
