//! Converts golden tables of the original program into each other: entries and statistics must be
//! those that the original computed for the other index type or format.
//!
//! The tables lie outside the repository, at `$HOFFMAN_SHARED/spec/golden` (default: `shared`
//! beside the checkout).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hoffman_board::value::FlagType;
use hoffman_board::{Format, Variant};
use hoffman_table::convert::{ConvertTarget, convert};
use hoffman_table::{EntryValue, IndexType, RawEntry, Table};

use crate::{entries, golden, open};

/// Tables with more indices are left out, to save time.
const LARGEST: u64 = 4_000_000;

/// The numbers of a header that do not tell the defects of the original.
fn statistics(table: &Table, with_wins: bool) -> BTreeMap<String, i64> {
    let mut all = table.control().statistics.clone();
    all.retain(|name, _| with_wins || !name.contains("wins"));
    all
}

/// The tables of a folder by the name of what they hold, without index type and symmetry.
fn families(golden: &Path) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut families: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let folders = fs::read_dir(golden).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap();
        if matches!(name, "bugs" | "format") {
            continue;
        }
        for file in fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()) {
            if file.extension().is_none_or(|e| e != "htb") {
                continue;
            }
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let mut words: Vec<&str> = stem.split('-').collect();
            words.retain(|w| IndexType::from_name(w).is_none() && !w.starts_with("sym"));
            families.entry(folder.join(words.join("-"))).or_default().push(file);
        }
    }
    families.retain(|_, files| files.len() > 1);
    for files in families.values_mut() {
        files.sort();
    }
    families
}

#[test]
fn golden_tables_become_each_other() {
    let Some(golden) = golden() else { return };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new.htb");
    let (mut conversions, mut left_out, mut compared) = (0, 0, 0_u64);
    let mut refused = Vec::new();
    for files in families(&golden).values() {
        for from in files {
            let old = open(from);
            // Each becomes the first of its family and back: so there is a way from each to each.
            for to in if from == &files[0] { &files[..] } else { &files[..1] } {
                let expected = open(to);
                if old.space().size().max(expected.space().size()) > LARGEST {
                    left_out += 1;
                    continue;
                }
                let options = ConvertTarget {
                    index: Some(expected.space().index_type()),
                    symmetry: Some(expected.space().symmetry()),
                    format: Some(expected.codec().format()),
                    ..ConvertTarget::default()
                };
                let name = || format!("{} -> {}", from.display(), to.display());
                if old.pieces().len() != expected.pieces().len()
                    || old.codec().format().name() != expected.codec().format().name()
                {
                    continue;
                }
                if let Err(error) = convert(&old, &target, &options) {
                    let lossy = |table: &Table| table.space().check_writable().is_err();
                    assert!(lossy(&old) || lossy(&expected), "{}: {error}", name());
                    refused.push(format!("{}: {error}", name()));
                    continue;
                }
                let new = open(&target);
                conversions += 1;
                assert_eq!(new.codec(), expected.codec(), "{}", name());
                let (found, wanted) = (entries(&new), entries(&expected));
                let basic = expected.codec().format() == Format::Basic;
                for (index, (&found, &wanted)) in found.iter().zip(&wanted).enumerate() {
                    // Old basic tables hold a win where the player not to move is in check (D1).
                    let same = found == wanted || basic && found == 3 && wanted == 1;
                    assert!(same, "{}: {index} is {found}, not {wanted}", name());
                }
                compared += found.len() as u64;
                let numbers = |table: &Table| statistics(table, !basic);
                assert_eq!(numbers(&new), numbers(&expected), "{}", name());
                let kept = |table: &Table| table.control().generation.clone();
                assert_eq!(kept(&new), kept(&old), "{}", name());
            }
        }
    }
    println!("{conversions} conversions, {compared} entries compared");
    println!("{left_out} left out, being of more than {LARGEST} indices; refused:");
    println!("{}", refused.join("\n"));
    assert!(conversions > 0, "no golden tables in {}", golden.display());
}

#[test]
fn golden_tables_lose_their_distances() {
    let Some(golden) = golden() else { return };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new.htb");
    let mut compared = 0_u64;
    for (from, to) in [
        ("base/kqk", "format/kqk-basic"),
        ("base/kqk", "format/kqk-flag-white-wins"),
        ("base/kqkq", "format/kqkq-basic-from-dtm"),
        ("base/kqkq", "format/kqkq-white-wins-from-dtm"),
        ("base/kqkq", "format/kqkq-white-draws-from-dtm"),
        ("format/kqkq-basic-from-dtm", "format/kqkq-white-wins-from-dtm"),
        ("format/kqkq-basic-from-dtm", "format/kqkq-white-draws-from-dtm"),
        ("suicide/pvp-simple", "suicide/pvp-basic"),
    ] {
        let file = |stem: &str| golden.join(stem).with_extension("htb");
        let (old, expected) = (open(&file(from)), open(&file(to)));
        let options = ConvertTarget {
            index: Some(expected.space().index_type()),
            symmetry: Some(expected.space().symmetry()),
            format: Some(expected.codec().format()),
            ..ConvertTarget::default()
        };
        // The original does not carry stalemates of suicide chess on inside a dtm table (D6).
        let spoilt = old.variant() == Variant::Suicide;
        convert(&old, &target, &options).unwrap();
        let new = open(&target);
        let (found, wanted) = (entries(&new), entries(&expected));
        let flag = matches!(expected.codec().format(), Format::Flag(_));
        let mut differ = 0;
        for (index, (&found, &wanted)) in found.iter().zip(&wanted).enumerate() {
            compared += 1;
            if found != wanted && (flag || !(found == 3 && wanted == 1)) {
                differ += 1;
                assert!(spoilt, "{to}: {index} is {found}, not {wanted}");
            }
        }
        println!("{from} -> {to}: {differ} of {} differ", found.len());
        // Counts of wins are too low in the original's (D2).
        if !spoilt {
            assert_eq!(statistics(&new, false), statistics(&expected, false), "{to}");
        }
        let wins = |table: &Table| statistics(table, true).get("white-wins-positions").copied();
        let tells = expected.codec().format() != Format::Flag(FlagType::WhiteDraws);
        assert_eq!(wins(&new).is_some(), tells, "{to}");
        if tells && !spoilt {
            assert!(wins(&new) >= wins(&expected), "{to}");
        }
    }
    println!("{compared} entries compared");
}

/// What a format cannot tell is not invented.
#[test]
fn formats_that_say_less_are_refused() {
    let Some(golden) = golden() else { return };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new.htb");
    let (wins, draws) = (Format::Flag(FlagType::WhiteWins), Format::Flag(FlagType::WhiteDraws));
    for (from, to) in [
        ("base/kqk", Format::Dtc(None)),
        ("format/kqkq-dtc-from-basic", Format::Dtm(None)),
        ("format/kqk-basic", Format::Dtm(None)),
        ("format/kqk-basic", Format::Dtc(None)),
        ("format/kqk-flag-white-wins", Format::Basic),
        ("format/kqk-flag-white-wins", draws),
        ("format/kqkq-white-draws-from-dtm", wins),
    ] {
        let table = open(&golden.join(from).with_extension("htb"));
        let options = ConvertTarget { format: Some(to), ..ConvertTarget::default() };
        let error = convert(&table, &target, &options).unwrap_err().to_string();
        assert!(error.contains(from) && !target.exists(), "{error}");
    }
    let dtc = open(&golden.join("format/kqkq-dtc-from-basic.htb"));
    let options = ConvertTarget { format: Some(Format::Basic), ..ConvertTarget::default() };
    convert(&dtc, &target, &options).unwrap();
    let basic = open(&target);
    for (index, (old, new)) in entries(&dtc).into_iter().zip(entries(&basic)).enumerate() {
        let Some(placement) = dtc.space().decode(index as u64) else { continue };
        let old = dtc.codec().value(RawEntry(old), placement.turn);
        let new = basic.codec().value(RawEntry(new), placement.turn);
        let sign = |value: Option<EntryValue>| match value {
            Some(EntryValue::Exact(value)) => value.plies().map(|p| p > 0),
            Some(EntryValue::Win) => Some(true),
            Some(EntryValue::Loss) => Some(false),
            _ => None,
        };
        assert_eq!(sign(old), sign(new), "{placement:?}");
    }
}
