//! A file of a process that solves an ending together with another one, of which sections were
//! changed, with checksums that are right: the other one and the joining take it or refuse it, and
//! end.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arbitrary::Arbitrary;
use hoffman_fuzz::crc32;
use hoffman_plan::{EndingJob, Graph, complete};
use hoffman_run::{
    Depth, EndingShare, Joining, RunError, RunOptions, Silent, Workplace, build_endings,
    ending_inputs, solve_part,
};
use hoffman_store::{Simulated, Storage as _};
use libfuzzer_sys::fuzz_target;

const TABLE: &str = "t/krk.htb";

/// The bytes before the first section, and behind the last one.
const HEAD: usize = 12;
const TAIL: usize = 8;

#[derive(Arbitrary, Debug)]
struct Change {
    section: u8,
    at: u16,
    byte: u8,
}

fn graph() -> Graph<EndingJob> {
    Graph::of_endings(&complete(["KRvK".parse().expect("an ending")]), Path::new("t"))
}

fn options(storage: &Simulated) -> RunOptions<'static> {
    let storage = Arc::new(storage.clone());
    RunOptions::new(&Silent, Workplace { storage, ..Workplace::default() })
}

fn part(storage: &Simulated, number: usize, patience: u64) -> Result<(), RunError> {
    let options = options(storage);
    let inputs = ending_inputs(&graph(), Depth::Header, &options.workplace)?;
    let ending = "KRvK".parse().expect("an ending");
    let share = EndingShare::new(&ending, (number, 2), Path::new(TABLE))?;
    solve_part(&share, &graph(), inputs, Duration::from_secs(patience), &options).map(drop)
}

fn join(storage: &Simulated) -> Result<(), RunError> {
    let options = options(storage);
    let joining = Joining::of_ending(&"KRvK".parse().expect("an ending"), Path::new(TABLE))?;
    let inputs = joining.inputs(&options.workplace)?;
    joining.join(&inputs, true, &options).map(drop)
}

/// Both parts, solved, and the names of the files of the second one.
static SOLVED: LazyLock<(Simulated, Vec<PathBuf>)> = LazyLock::new(|| {
    let storage = Simulated::default();
    let kings = Graph { nodes: graph().nodes.into_iter().take(1).collect() };
    build_endings(&kings, &options(&storage)).expect("bare kings");
    std::thread::scope(|threads| {
        let other = threads.spawn(|| part(&storage, 2, 60));
        part(&storage, 1, 60).expect("the first part");
        other.join().expect("a thread").expect("the second part");
    });
    let folder = Path::new("t/krk.parts");
    let names = storage.list(folder).expect("the folder").into_iter();
    let own = names.filter(|name| name.to_str().is_some_and(|name| name.starts_with("2-of-2.")));
    let mut files: Vec<PathBuf> = own.map(|name| folder.join(name)).collect();
    files.sort();
    (storage, files)
});

/// Where the contents of the sections are, and their names.
fn sections(bytes: &[u8]) -> Vec<(std::ops::Range<usize>, [u8; 4])> {
    let (mut found, mut at) = (Vec::new(), HEAD);
    while let Some((name, rest)) = bytes.get(at..).and_then(|rest| rest.split_first_chunk::<4>()) {
        let Some((len, _)) = rest.split_first_chunk::<8>() else { break };
        let start = at + 16;
        let end = start + u64::from_le_bytes(*len) as usize;
        if end + TAIL > bytes.len() {
            break;
        }
        found.push((start..end, *name));
        at = end;
    }
    found
}

fuzz_target!(|input: (u8, Vec<Change>)| {
    let (which, changes) = input;
    let (solved, files) = &*SOLVED;
    let path = &files[usize::from(which) % files.len()];
    let mut bytes = solved.contents(path).expect("a file");
    for Change { section, at, byte } in changes.iter().take(20) {
        let all = sections(&bytes);
        let (place, name) = &all[usize::from(*section) % all.len()];
        if place.is_empty() {
            continue;
        }
        bytes[place.start + usize::from(*at) % place.len()] = *byte;
        let len = (place.len() as u64).to_le_bytes();
        let checked = [&name[..], &len, &bytes[place.clone()]].concat();
        bytes[place.start - 4..place.start].copy_from_slice(&crc32(&checked).to_le_bytes());
    }
    let storage = solved.copy();
    storage.put(path, &bytes);
    storage.remove(Path::new("t/krk.parts/1-of-2.values")).expect("the values");
    if part(&storage, 1, 0).is_ok() {
        let _ = join(&storage);
    }
});
