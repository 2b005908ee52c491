use super::*;

#[test]
fn names_are_checked() {
    let name = |text: &str| material_of_name(Path::new(text)).map(|m| m.to_string());
    assert_eq!(name("some/where/kqkp.nbw.emd").unwrap(), "KQvKP");
    assert_eq!(name("kbbkbp.0.nbb.emd").unwrap(), "KBBvKBP");
    for (text, why) in [
        ("kpkq.nbw.emd", "the stronger side is named first"),
        ("kpqk.nbw.emd", "from queen to pawn"),
        ("kk.nbw.emd", "bare kings"),
        ("kqqqqk.nbw.emd", "five men against one"),
        ("kqqqkqq.nbw.emd", "more than six men"),
    ] {
        let message = name(text).unwrap_err().to_string();
        assert!(message.starts_with("Illegally named Nalimov tablebase: "), "{message}");
        assert!(message.contains(why), "{text}: {message}");
    }
    assert!(matches!(name("kxk.nbw.emd"), Err(ForeignError::Name(_))));
}

/// The fixed part of a header with nothing behind it.
fn fixed(header: u32, blocks: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[..TITLE.len()].copy_from_slice(TITLE);
    // The most significant byte comes first.
    let number = |n: u32| [24, 16, 8, 0].map(|shift| (n >> shift) as u8);
    bytes[64..68].copy_from_slice(&number(header));
    bytes[70] = 13;
    bytes[72..76].copy_from_slice(&number(blocks));
    bytes
}

#[test]
fn wrong_data_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = ForeignOptions { nalimov: vec![folder.path().to_owned()], ..Default::default() };
    let message = |name: &str| open(Path::new(name), &options).map(drop).unwrap_err().to_string();
    let write = |half: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(format!("kqk.{half}.emd")), bytes).unwrap();
    };
    assert!(message("kqk.nbw.emd").starts_with("there is no kqk.nbw.emd in "));
    let plausible = fixed(100, 2, 120);
    write("nbw", &plausible);
    assert!(message("elsewhere/kqk.nbw.emd").starts_with("there is no kqk.nbb.emd in "));
    for (bytes, why) in [
        (vec![0; 10], "it is too short"),
        (vec![0; 200], "it begins otherwise"),
        (fixed(83, 1, 200), "its header is impossible"),
        (fixed(100, 2, 99), "its header is impossible"),
        (fixed(100, 3, 120), "the number of its blocks is impossible"),
        (fixed(100, 0, 120), "the number of its blocks is impossible"),
        (fixed(80_100, 10_000, 90_000), "it has more entries than the ending has positions"),
    ] {
        write("nbb", &bytes);
        let message = message("kqk.nbb.emd");
        assert!(message.contains("kqk.nbb.emd is no Nalimov table"), "{message}");
        assert!(message.ends_with(why), "{message}");
    }
    let folders = NalimovFolders::new(vec![folder.path().to_owned()]);
    assert_eq!(folders.most_men(), 3);
    assert_eq!(NalimovFolders::new(vec![folder.path().join("none")]).most_men(), 0);
    // Nothing that is made up here passes for a table, with or without the reader.
    write("nbb", &plausible);
    let last = message("kqk.nbw.emd");
    let expected = if cfg!(feature = "nalimov") { "is no Nalimov table" } else { "built without" };
    assert!(last.contains(expected), "{last}");
}

/// A header that the reader takes: its own numbers, `bits` behind them, the checksum at its end.
#[cfg(feature = "nalimov")]
fn with_checksum(blocks: u32, bits: &[u8]) -> Vec<u8> {
    let before = 80 + 8 * blocks as usize;
    let header = before + bits.len() + 4;
    let mut bytes = fixed(header as u32, blocks, before);
    (bytes[70], bytes[71]) = (13, 24);
    bytes[76..80].copy_from_slice(&[0, 0x40, 0x01, 0xf5]);
    bytes.extend(bits);
    let mut sum = 0_u32;
    for &byte in &bytes {
        let mut k = (sum ^ u32::from(byte)) & 255;
        for _ in 0..8 {
            k = if k & 1 == 1 { k >> 1 } else { k >> 1 ^ 0xedb8_8320 };
        }
        sum = k ^ sum >> 8;
    }
    bytes.extend([24, 16, 8, 0].map(|shift| (sum >> shift) as u8));
    bytes
}

#[cfg(feature = "nalimov")]
#[test]
fn made_up_files_neither_crash_nor_pass() {
    let folder = tempfile::tempdir().unwrap();
    let options = ForeignOptions { nalimov: vec![folder.path().to_owned()], ..Default::default() };
    let mut problems = std::collections::BTreeSet::new();
    let mut x = 1_u64;
    let mut noise = |len: usize| -> Vec<u8> {
        let mut next = || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    };
    for round in 0..200 {
        let blocks = 1 + round % 5;
        // Block sizes and distances, then a code: all lengths zero, or anything.
        let mut bits = noise((blocks as usize + 1 + 24) * 13 / 8 + 1);
        bits.extend(if round % 2 == 0 { vec![0xff; 8] } else { noise(300) });
        for half in ["nbw", "nbb"] {
            let mut bytes = with_checksum(blocks, &bits);
            bytes.extend(noise(40_000));
            std::fs::write(folder.path().join(format!("krk.{half}.emd")), bytes).unwrap();
        }
        let error = open(Path::new("krk.nbw.emd"), &options).map(drop).unwrap_err();
        let message = error.to_string();
        let (_, problem) = message.split_once("is damaged: ").unwrap();
        problems.insert(problem.split(" at ").next().unwrap_or_default().to_owned());
    }
    println!("{problems:?}");
    assert!(problems.len() > 2, "{problems:?}");
}

/// A file whose blocks are stored as they are. The reader cannot tell where blocks begin if
/// sixteen of them have full size, so there are fifteen and one of a single byte.
#[cfg(feature = "nalimov")]
fn stored(entries: &[u8]) -> Vec<u8> {
    let blocks = 16;
    // A size of zero is a whole block; then the distances, and no code at all.
    let mut bits = vec![0; ((blocks + 1 + 24) * 13_usize).div_ceil(8)];
    let last_of_size = 15 * 13 + 12;
    bits[last_of_size / 8] = 0x80 >> (last_of_size % 8);
    bits.extend([0xff; 8]);
    let mut bytes = with_checksum(blocks as u32, &bits);
    bytes.extend(entries);
    bytes.push(127);
    bytes
}

/// Puts the distances of a golden table where the reader looks for them, and reads them back. So
/// the container, the two halves, the colours and the distances are right, and no two positions
/// share a place unless they are images of each other; whether the places are those of real files
/// is not tested by this.
#[cfg(feature = "nalimov")]
#[test]
fn what_is_written_where_the_reader_looks_is_read_back() {
    use hoffman_board::Color;

    use crate::Table;
    use crate::foreign::legal_setup;

    const SIZE: usize = 15 * 8192;
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
    if !shared.join("spec/golden/base").is_dir() {
        eprintln!("SKIPPED: no golden tables in {}; set HOFFMAN_SHARED", shared.display());
        return;
    }
    for stem in ["krk", "kpk"] {
        let golden = shared.join("spec/golden/base").join(stem).with_extension("htb");
        let golden = Table::open(golden, crate::htb::SourceOptions::default()).unwrap();
        let material: Material = stem.parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let halves = ["nbw", "nbb"].map(|h| folder.path().join(format!("{stem}.{h}.emd")));
        let mut positions = Vec::new();
        for index in 0..golden.space().size() {
            let Some(placement) = golden.space().decode(index) else { continue };
            let men = placement.squares.iter().zip(golden.pieces());
            let men = men.map(|(&square, piece)| (square, piece.color, piece.role));
            let Some(mut setup) = legal_setup(men, &placement) else { continue };
            setup.ep_square = None;
            let value = golden.value(index, placement.turn).unwrap();
            let EntryValue::Exact(value) = value else { panic!("{value:?}") };
            positions.push((setup, value));
        }
        // Where the reader looks: files that say a digit of the place, 1 to 100.
        let mut places = vec![0; positions.len()];
        for digit in 0..3 {
            let power = 100_usize.pow(digit);
            let entries: Vec<u8> = (0..SIZE).map(|i| 1 + (i / power % 100) as u8).collect();
            for half in &halves {
                std::fs::write(half, stored(&entries)).unwrap();
            }
            let table = reader::read_unchecked(&halves, material, &folders).unwrap();
            for ((setup, _), place) in positions.iter().zip(&mut places) {
                let said = table.value(setup).unwrap();
                let Some(EntryValue::Exact(hoffman_board::Value::Win(moves))) = said else {
                    panic!("{said:?}")
                };
                *place += (126 - moves as usize) * power;
            }
        }
        // 127 stands for no position.
        let mut entries = [vec![127; SIZE], vec![127; SIZE]];
        for ((setup, value), &place) in positions.iter().zip(&places) {
            let entry = match *value {
                hoffman_board::Value::Win(moves) => 127 - moves as i8,
                hoffman_board::Value::Loss(moves) => moves as i8 - 126,
                _ => 0,
            };
            let half = &mut entries[usize::from(setup.turn == Color::Black)];
            let known = std::mem::replace(&mut half[place], entry as u8);
            assert!(known == 127 || known == entry as u8, "{setup:?} at {place}");
        }
        for (half, entries) in halves.iter().zip(&entries) {
            std::fs::write(half, stored(entries)).unwrap();
        }
        let options = ForeignOptions { nalimov: folders.to_vec(), ..Default::default() };
        let name = PathBuf::from(format!("{stem}.nbw.emd"));
        let table = open(&name, &options).unwrap();
        for (setup, value) in &positions {
            assert_eq!(table.value(setup).unwrap(), Some(EntryValue::Exact(*value)));
        }
        // As a table of ours, and with the colours exchanged.
        let ours = Table::open_foreign(&name, &options).unwrap();
        let legal = golden.control().statistics["legal-positions"];
        let mut all = vec![0_i16; ours.space().size() as usize];
        ours.read_entries(0, &mut all).unwrap();
        println!("{stem}: {} positions, {} entries, {legal} legal", positions.len(), all.len());
        assert_eq!(all.iter().max().map(|&n| i64::from(n)), golden.control().max_dtm());
        assert_eq!(all.iter().min().map(|&n| i64::from(n)), golden.control().min_dtm());
        let all = NalimovFolders::new(folders.to_vec());
        for (setup, value) in positions.iter().step_by(101) {
            let said = all.value(&mirrored(setup)).unwrap();
            assert_eq!(said, Some(EntryValue::Exact(*value)));
        }
    }
}

#[cfg(feature = "nalimov")]
#[test]
fn panics_of_the_reader_are_caught() {
    assert_eq!(reader::guarded(|| -> u8 { panic!("not shown") }), None);
    assert_eq!(reader::guarded(|| 7), Some(7));
}

#[cfg(feature = "nalimov")]
#[test]
fn endings_that_the_reader_names_otherwise_are_known() {
    let misnamed = |text: &str| reader::is_misnamed(&text.parse().unwrap());
    assert!(misnamed("KQNvKRR") && misnamed("KRPvKBB"));
    assert!(!misnamed("KRNvKBB") && !misnamed("KQvKR") && !misnamed("KPPvKQ"));
}
