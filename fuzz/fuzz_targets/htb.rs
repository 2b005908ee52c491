//! Any bytes as the file of a table.

#![no_main]

use hoffman_fuzz::{exercise, open};
use hoffman_table::htb::{GzipSource, SourceOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options =
        SourceOptions { limit: 1 << 20, memory_limit: 1 << 20, ..SourceOptions::default() };
    if let Ok(source) = GzipSource::new(Box::new(bytes.to_vec()), options) {
        let _ = source.verify();
        let _ = source.read_at(3, &mut [0; 100]);
        let _ = source.read_parallel(1, &mut [0; 100]);
    }
    if let Some(mut table) = open(bytes.to_vec()) {
        exercise(&mut table);
    }
});
