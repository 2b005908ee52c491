//! Any bytes as a Syzygy file and the files that it needs: opened, asked for positions and read as
//! a whole.

#![no_main]

use std::path::Path;
use std::sync::Arc;

use hoffman_fuzz::exercise;
use hoffman_store::Simulated;
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use libfuzzer_sys::fuzz_target;

/// A table without pawns, and one with pawns; what captures and promotions lead to.
const NAMES: [&str; 8] = ["KQvK", "KPvK", "KRvK", "KBvK", "KNvK", "KRvKN", "KPvKP", "KQvKP"];

/// The first bytes of every file of outcomes.
const MAGIC: [u8; 4] = [0x71, 0xe8, 0x23, 0x5d];

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(which) % NAMES.len()];
    let storage = Simulated::default();
    // Files have a length of 16 more than a multiple of 64, which is not found by chance.
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(rest);
    let len = file.len().next_multiple_of(64) + 16;
    file.resize(len, 0);
    for needed in NAMES {
        storage.put(Path::new(&format!("t/{needed}.rtbw")), &file);
    }
    let options = ForeignOptions { storage: Arc::new(storage), ..ForeignOptions::default() };
    let path = format!("t/{name}.rtbw");
    if let Ok(mut table) = Table::open_foreign(Path::new(&path), &options) {
        exercise(&mut table);
    }
});
