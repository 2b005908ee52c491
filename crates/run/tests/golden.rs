//! Tables generated from the control files of the golden set, compared entry by entry with the
//! hashes of the original's tables. Runs where the shared data are; says loudly when they are not.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::format_collect)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hoffman_run::{FuturebaseProblem, RunError, RunOptions, Silent, Workplace, generate};
use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;
use sha2::{Digest, Sha256};

/// The working directory is one a process.
static DIRECTORY: Mutex<()> = Mutex::new(());

/// A folder to work in, beside which `base` lies as the control files expect it.
fn work_in(root: &Path, folder: &str) {
    let dir = root.join(folder);
    std::fs::create_dir_all(&dir).unwrap();
    std::env::set_current_dir(dir).unwrap();
}

fn shared() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path = std::env::var_os("HOFFMAN_SHARED").map_or_else(|| default.into(), PathBuf::from);
    if path.join("spec/golden").is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: no golden tables under {} (set HOFFMAN_SHARED)", path.display());
    None
}

fn entries_hash(path: &Path) -> String {
    let mut table = Table::open(path, SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    let size = table.space().size();
    let bits = u64::from(table.codec().bits());
    let mut bytes = Vec::new();
    table.read_packed(&mut bytes).unwrap();
    bytes.truncate((size * bits).div_ceil(8) as usize);
    if !(size * bits).is_multiple_of(8) {
        *bytes.last_mut().unwrap() &= (1 << (size * bits % 8)) - 1;
    }
    Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn hashes(golden: &Path) -> HashMap<String, String> {
    let manifest = std::fs::read_to_string(golden.join("manifest.csv")).unwrap();
    manifest
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[0].to_owned(), fields.last().unwrap().to_string())
        })
        .collect()
}

/// The tables that the original made wrong: how many entries of ours differ. That ours are right is
/// tested with the slow solver, which finds the same numbers.
///
/// Basic tables hold 1 where the player not to move is in check, ours 3; two of them took such
/// entries for moves. A field of one bit lost a mate. Distances to conversion were taken over from
/// distances to mate. Suicide tables do not know that stalemate wins; a split pawn table lost en
/// passant positions.
const WRONG: [(&str, u64); 18] = [
    ("bugs/kbk-basic.htb", 3908),
    ("bugs/knkn-dtc-from-dtc-wrong.htb", 11596),
    ("bugs/krbk-basic-from-basic-wrong.htb", 548_860 + 8440),
    ("bugs/krbk-basic-from-dtm-correct.htb", 548_860),
    ("bugs/krk-basic.htb", 6244),
    ("bugs/one-bit-field-loses-mate.htb", 1),
    ("format/kbk-basic.htb", 3908),
    ("format/knk-basic.htb", 2362),
    ("format/kpk-basic-from-dtm.htb", 2348),
    ("format/kqk-basic.htb", 10152),
    ("format/kqkq-basic-from-dtm.htb", 601_696),
    ("format/krk-basic.htb", 6244),
    ("pawngen/pawngen-b3c2-b5d5-2-2-from39.htb", 227),
    ("suicide/bvp.htb", 44),
    ("suicide/nvp.htb", 1192),
    ("suicide/pvp-naive.htb", 192),
    ("suicide/pvp-simple.htb", 192),
    ("suicide/pvp.htb", 96),
];

/// What `tablebase-statistics` of ours differ in: the number, ours and the original's.
///
/// The original counts too few wins by the side to move where it keeps no distances, has an element
/// of its own in white-draws tables that it cannot read back, and counts wrong entries where it has
/// such.
const COUNTED: [(&str, &str, Option<i64>, Option<i64>); 25] = [
    ("bugs/krbk-basic-from-basic-wrong.htb", WHITE, Some(2_791_805), Some(2_109_525)),
    ("bugs/krbk-basic-from-dtm-correct.htb", WHITE, Some(2_791_805), Some(2_188_554)),
    ("bugs/krk-basic.htb", WHITE, Some(48_197), Some(42_526)),
    ("format/kk-flag-white-draws.htb", BLACK, Some(0), None),
    ("format/kk-flag-white-draws.htb", WINS_OR_DRAWS, None, Some(924)),
    ("format/kpk-basic-from-dtm.htb", WHITE, Some(117_820), Some(104_816)),
    ("format/kqk-basic.htb", WHITE, Some(44_183), Some(34_645)),
    ("format/kqk-flag-white-draws.htb", BLACK, Some(0), None),
    ("format/kqk-flag-white-draws.htb", WINS_OR_DRAWS, None, Some(47_136)),
    ("format/kqk-flag-white-wins.htb", WHITE, Some(44_183), Some(34_645)),
    ("format/kqkq-basic-from-dtm.htb", WHITE, Some(478_238), Some(19_643)),
    ("format/kqkq-white-draws-from-dtm.htb", BLACK, Some(483_492), None),
    ("format/kqkq-white-draws-from-dtm.htb", WINS_OR_DRAWS, None, Some(2_263_347)),
    ("format/kqkq-white-wins-from-dtm.htb", WHITE, Some(483_492), Some(27_433)),
    ("format/krk-basic.htb", WHITE, Some(48_197), Some(42_526)),
    ("pawngen/pawngen-b3c2-b5d5-2-2-from39.htb", WHITE, Some(57_510), Some(57_534)),
    ("suicide/bvp.htb", BLACK, Some(1192), Some(1148)),
    ("suicide/nvp.htb", BLACK, Some(3884), Some(2696)),
    ("suicide/pvp-basic.htb", WHITE, Some(1470), Some(815)),
    ("suicide/pvp-naive.htb", BLACK, Some(2496), Some(2400)),
    ("suicide/pvp-naive.htb", WHITE, Some(2496), Some(2400)),
    ("suicide/pvp-simple.htb", BLACK, Some(2496), Some(2400)),
    ("suicide/pvp-simple.htb", WHITE, Some(2496), Some(2400)),
    ("suicide/pvp.htb", BLACK, Some(1026), Some(970)),
    ("suicide/pvp.htb", WHITE, Some(1470), Some(1430)),
];
const WHITE: &str = "white-wins-positions";
const BLACK: &str = "black-wins-positions";
const WINS_OR_DRAWS: &str = "white-wins-or-draws-positions";

/// What comparing one table gave.
struct Compared {
    entries: u64,
    /// How many of them differ from the original's.
    different: u64,
    /// The numbers of the statistics that do.
    counted: Vec<(String, Option<i64>, Option<i64>)>,
}

fn generate_here(control: &Path) -> Result<PathBuf, RunError> {
    let options = RunOptions::new(&Silent, Workplace::default());
    generate(control, None, &options).map(|made| made.path.unwrap())
}

/// Generates a control file in the current folder and compares the table with the original's.
fn compare(golden: &Path, key: &str, hashes: &HashMap<String, String>) -> Compared {
    let control = golden.join(key).with_extension("xml");
    let made = generate_here(&control).unwrap_or_else(|e| panic!("{key}: {e}"));
    let ours = Table::open(&made, SourceOptions::default()).unwrap();
    let original = Table::open(golden.join(key), SourceOptions::default()).unwrap();
    let [own, theirs] = [&ours, &original].map(|table| &table.control().statistics);
    let names: BTreeSet<&String> = own.keys().chain(theirs.keys()).collect();
    let counted = names.into_iter().filter(|&name| own.get(name) != theirs.get(name));
    let counted = counted
        .map(|name| (name.clone(), own.get(name).copied(), theirs.get(name).copied()))
        .collect();
    let entries = ours.space().size();
    if entries_hash(&made) == hashes[key] {
        return Compared { entries, different: 0, counted };
    }
    assert_eq!(original.space().size(), entries, "{key}");
    let read = |table: &Table| {
        let mut numbers = vec![0_i32; entries as usize];
        table.read_entries(0, &mut numbers).unwrap();
        numbers
    };
    let different = read(&ours).iter().zip(read(&original)).filter(|(a, b)| **a != *b).count();
    Compared { entries, different: different as u64, counted }
}

#[test]
#[allow(clippy::too_many_lines, reason = "all that is compared of a table")]
fn all_tables_are_those_of_the_original_or_better() {
    let Some(shared) = shared() else { return };
    let _guard = DIRECTORY.lock().unwrap();
    let golden = shared.join("spec/golden");
    let hashes = hashes(&golden);
    let dir = tempfile::tempdir().unwrap();
    let (mut tables, mut entries) = (0, 0);
    let mut differing = Vec::new();
    let mut counted = Vec::new();
    let mut refused = Vec::new();
    let mut folders: Vec<String> =
        hashes.keys().map(|k| k[..k.find('/').unwrap()].to_owned()).collect();
    folders.sort();
    folders.dedup();
    // Everything else is made from the plain endings.
    folders.sort_by_key(|folder| folder != "base");
    for folder in folders {
        work_in(dir.path(), &folder);
        let controls = |path: PathBuf| -> Vec<PathBuf> {
            let files = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path());
            files.filter(|p| p.extension().is_some_and(|e| e == "xml")).collect()
        };
        let mut waiting = controls(golden.join(&folder));
        if folder == "base" {
            waiting.extend(controls(golden.join("base/needed-for-krkp-and-kpkp")));
        }
        waiting.sort();
        // What is not there yet is made by another file of the folder.
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|control| {
                let stem = control.file_stem().unwrap().to_string_lossy().into_owned();
                let key = format!("{folder}/{stem}.htb");
                match generate_here(control) {
                    Err(RunError::Futurebase { problem, .. })
                        if matches!(*problem, FuturebaseProblem::Missing(_)) =>
                    {
                        return true;
                    }
                    Err(error) => refused.push(format!("{key}: {error}")),
                    Ok(_) if !hashes.contains_key(&key) || stem == "kk-uncompressed-file" => {}
                    Ok(_) => {
                        let compared = compare(&golden, &key, &hashes);
                        tables += 1;
                        entries += compared.entries;
                        let of_table = compared.counted.into_iter();
                        counted.extend(of_table.map(|(name, a, b)| (key.clone(), name, a, b)));
                        if compared.different > 0 {
                            differing.push((key, compared.different));
                        }
                    }
                }
                false
            });
            assert!(
                waiting.len() < before,
                "{folder}: {waiting:?} wait for tables that nothing makes"
            );
        }
    }
    differing.sort();
    let wrong: Vec<(String, u64)> = WRONG.iter().map(|&(key, n)| (key.to_owned(), n)).collect();
    assert_eq!(differing, wrong);
    counted.sort();
    let known = COUNTED.map(|(key, name, a, b)| (key.to_owned(), name.to_owned(), a, b));
    assert_eq!(counted, known);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].starts_with("index-ep/kppk-ep-naive2-sym1.htb"), "{refused:?}");
    eprintln!(
        "{entries} entries of {tables} tables compared; {} tables differ as documented",
        differing.len()
    );
}
