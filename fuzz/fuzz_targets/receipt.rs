//! Any bytes as the receipt of a table.
//!
//! Whatever it says, the table is made or kept, with a receipt that holds the next time; or the
//! receipt is refused by its name, and the table stays as it is.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hoffman::{OneTable, Options, Target, receipt_of};
use libfuzzer_sys::fuzz_target;

/// A folder with the table, of one process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("hoffman-fuzz-{}", std::process::id()));
    fs::create_dir_all(folder.join("receipts")).expect("a folder for a table");
    let kings = Target::Ending("KvK".parse().expect("an ending"));
    hoffman::build(&[kings], &options(&folder), &mut |_| {}).expect("what the table is made from");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let table = FOLDER.join("krk.htb");
    let receipt = receipt_of(&table);
    if !table.exists() {
        build(&receipt).expect("a table");
    }
    fs::write(&receipt, bytes).expect("a receipt");
    let before = fs::metadata(&table).expect("a table");

    match build(&receipt) {
        Ok(_) => assert!(!build(&receipt).expect("a receipt that holds"), "made again"),
        Err(error) => {
            assert!(error.to_string().contains("krk.htb.json"), "{error}");
            let after = fs::metadata(&table).expect("a table");
            assert_eq!(after.modified().ok(), before.modified().ok(), "{error}");
            fs::remove_file(&receipt).expect("a receipt");
        }
    }
});

/// Files do not differ from run to run, so that a receipt in the corpus may hold.
fn options(folder: &Path) -> Options {
    Options::new(folder).blocks(false).reproducible(true)
}

/// Makes the table as a job does, with its receipt; whether it was made and not kept.
fn build(receipt: &Path) -> Result<bool, hoffman::Error> {
    let options = options(&FOLDER);
    let table = OneTable::of_targets("KRvK", &[], &options)?;
    Ok(!table.build(Some(receipt), &options, &mut |_| {})?.made.is_empty())
}
