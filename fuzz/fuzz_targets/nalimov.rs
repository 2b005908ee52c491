//! Any bytes as the two files of a Nalimov table. What is fuzzed is what stands before the reader
//! of another crate (feature `nalimov`, not built here: its panics are caught, which fuzzing does
//! not allow): names and headers.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_store::Simulated;
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = ["kqk", "kpk", "krkn", "kpkp", "kbbkbp", "kqqqkq"];

/// How every file begins.
const TITLE: &[u8] = b"Compressed by DATACOMP v 1.0 (c) 1991--1998 Andrew Kadatch\r\n";

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(which) % NAMES.len()];
    let storage = Simulated::default();
    let file = [TITLE, rest].concat();
    for half in ["nbw", "nbb"] {
        storage.put(Path::new(&format!("t/{name}.0.{half}.emd")), &file);
    }
    let options = ForeignOptions {
        storage: Arc::new(storage),
        nalimov: vec![PathBuf::from("t")],
        ..ForeignOptions::default()
    };
    let refused = Table::open_foreign(Path::new(&format!("{name}.nbw.emd")), &options).is_err();
    assert!(refused, "without its reader no table opens");
});
