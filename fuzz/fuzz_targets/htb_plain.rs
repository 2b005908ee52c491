//! Any bytes as the uncompressed stream of a table; in a container of ours it must read the same.

#![no_main]

use std::io::{Cursor, Write};

use hoffman_fuzz::{exercise, open};
use hoffman_table::htb::{Compression, GzipWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A first byte of 0x1f would mean gzip.
    if bytes.first() == Some(&0x1f) {
        return;
    }
    let Some(mut plain) = open(bytes.to_vec()) else { return };
    let mut compressed = open(compress(bytes)).expect("the container must not matter");
    assert_eq!(plain.space().size(), compressed.space().size());
    assert_eq!(exercise(&mut plain), exercise(&mut compressed));
});

fn compress(bytes: &[u8]) -> Vec<u8> {
    let write = || {
        let mut writer =
            GzipWriter::new(Cursor::new(Vec::new()), bytes.len() as u64, Compression::Fast)?;
        writer.write_all(bytes).expect("memory takes everything");
        writer.finish()
    };
    write().expect("memory takes everything").into_inner()
}
