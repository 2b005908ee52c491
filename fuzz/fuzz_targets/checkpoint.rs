//! A checkpoint of which sections were changed, with checksums that are right: the run that finds
//! it ends with the table, whatever it takes of it.

#![no_main]

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arbitrary::Arbitrary;
use hoffman_fuzz::crc32;
use hoffman_plan::{Graph, complete};
use hoffman_run::{RunError, RunOptions, Silent, Workplace, build_endings};
use hoffman_store::{Fault, Simulated};
use libfuzzer_sys::fuzz_target;

const NAME: &str = "t/krk.htb.checkpoint";

/// The bytes before the first section.
const HEAD: usize = 12;

#[derive(Arbitrary, Debug)]
struct Change {
    section: u8,
    at: u16,
    byte: u8,
    kind: u8,
}

fn krk(storage: &Simulated) -> Result<(), RunError> {
    let storage = Arc::new(storage.clone());
    let checkpoint_every = Duration::ZERO;
    let workplace = Workplace { storage, checkpoint_every, ..Workplace::default() };
    let options = RunOptions::new(&Silent, workplace);
    let jobs = complete(["KRvK".parse().expect("an ending")]);
    build_endings(&Graph::of_endings(&jobs, Path::new("t")), &options).map(drop)
}

/// Folders with checkpoints of runs that ended at different operations.
static LEFT: LazyLock<Vec<(Simulated, Vec<u8>)>> = LazyLock::new(|| {
    let mut left = Vec::new();
    for nth in (1..).step_by(5) {
        let storage = Simulated::default();
        storage.set_fault(Some(Fault::PowerOff { nth }));
        if krk(&storage).is_ok() {
            return left;
        }
        storage.power_cycle(true);
        if let Some(bytes) = storage.contents(Path::new(NAME)) {
            left.push((storage, bytes));
        }
    }
    left
});

/// The sections of a checkpoint: name and contents.
fn sections(bytes: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let mut found = Vec::new();
    let mut rest = bytes.get(HEAD..).unwrap_or_default();
    while let Some((name, more)) = rest.split_first_chunk::<4>() {
        let Some((len, more)) = more.split_first_chunk::<8>() else { break };
        let len = u64::from_le_bytes(*len) as usize;
        let Some(contents) = more.get(4..).and_then(|more| more.get(..len)) else { break };
        found.push((*name, contents.to_vec()));
        rest = &more[4 + len..];
    }
    found
}

fn section(name: [u8; 4], contents: &[u8]) -> Vec<u8> {
    let len = (contents.len() as u64).to_le_bytes();
    let checked = [&name[..], &len, contents].concat();
    [&name[..], &len, &crc32(&checked).to_le_bytes(), contents].concat()
}

fuzz_target!(|input: (u8, Vec<Change>)| {
    let (which, changes) = input;
    let Some((storage, bytes)) = LEFT.get(usize::from(which) % LEFT.len().max(1)) else { return };
    let mut all = sections(bytes);
    for Change { section, at, byte, kind } in changes.iter().take(20) {
        // The manifest stays, else nothing else is looked at.
        let n = 1 + usize::from(*section) % all.len().saturating_sub(1).max(1);
        if n >= all.len() {
            continue;
        }
        let (name, contents) = &mut all[n];
        let place = usize::from(*at) % contents.len().max(1);
        match kind % 6 {
            0..=2 if !contents.is_empty() => contents[place] = *byte,
            3 => contents.truncate(place),
            4 => *name = *[b"PART", b"SLIC", b"LOGS", b"PASS", b"MANI"][usize::from(*byte) % 5],
            _ => {
                let twice = all[n].clone();
                all.insert(n, twice);
            }
        }
    }
    let mut changed = bytes[..HEAD].to_vec();
    all.iter().for_each(|(name, contents)| changed.extend(section(*name, contents)));
    let storage = storage.copy();
    storage.put(Path::new(NAME), &changed);
    krk(&storage).expect("a checkpoint never stops a run");
    assert!(storage.contents(Path::new("t/krk.htb")).is_some());
    assert!(storage.contents(Path::new(NAME)).is_none());
});
