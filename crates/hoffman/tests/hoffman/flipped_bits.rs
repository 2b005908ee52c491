//! Verification finds every single bit of a file in the block format that is another one.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use hoffman::{Content, ConvertOptions, FlagType, Format, Options, Profile, VerifyOptions};

/// The tables of an ending and all behind it, small.
fn build(dir: &Path, ending: &str, content: Content) {
    let options = Options::new(dir).blocks(true).profile(Profile::Small).content(content);
    hoffman::build(&[ending.parse().unwrap()], &options, &mut |_| {}).unwrap();
}

fn is_right(path: &Path) -> bool {
    let options = VerifyOptions::new().threads_of_caller();
    hoffman::verify(path, &options, &mut |_| {}).is_ok_and(|report| report.ok)
}

/// How many bits the file has.
fn check_every_bit(path: &Path) -> u64 {
    assert!(is_right(path), "{}", path.display());
    let bytes = std::fs::read(path).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    for (at, &byte) in (0..).zip(&bytes) {
        for bit in 0..8 {
            file.write_all_at(&[byte ^ 1 << bit], at).unwrap();
            assert!(!is_right(path), "{}: bit {bit} of byte {at}", path.display());
        }
        file.write_all_at(&[byte], at).unwrap();
    }
    assert!(is_right(path), "{}", path.display());
    8 * bytes.len() as u64
}

/// Distances, outcomes, and entries by index.
#[test]
fn every_flipped_bit_of_three_files_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let [distances, outcomes] = ["distances", "outcomes"].map(|name| folder.path().join(name));
    build(&distances, "KRvK", Content::Distances);
    build(&outcomes, "KQvK", Content::Outcomes);
    let by_index = distances.join("flag.hbf");
    let flag = ConvertOptions {
        format: Some(Format::Flag(FlagType::WhiteWins)),
        ..ConvertOptions::default()
    };
    let table = hoffman::Table::open(distances.join("krk.hbf"), hoffman::ReadOptions::new());
    table.unwrap().convert(&by_index, &flag, &mut |_| {}).unwrap();

    let files = [distances.join("krk.hbf"), outcomes.join("kqk.hbf"), by_index];
    let bits = files.map(|file| check_every_bit(&file));
    assert!(bits.iter().all(|&bits| bits > 16_000), "{bits:?}");
}
