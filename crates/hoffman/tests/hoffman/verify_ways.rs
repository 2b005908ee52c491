//! Verification by rows finds what verification index by index finds, in tables of every sort that
//! has rows.

use std::path::Path;

use hoffman_board::Format;
use hoffman_probe::verify::{Smaller, VerifyExtent, VerifyReport, verify};
use hoffman_table::htb::{Compression, SourceOptions};
use hoffman_table::{EntryCodec, Stop, Table, TableContents};

fn open(path: &Path) -> Table {
    let mut table = Table::open(path, SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    table
}

/// A copy of a table in which every `step`th entry from `start` on is another number.
fn spoil(table: &Table, start: usize, step: usize, path: &Path) -> u64 {
    let mut numbers = vec![0_i32; table.space().size() as usize];
    table.read_entries(0, &mut numbers).unwrap();
    let mut spoilt = 0;
    for number in numbers.iter_mut().skip(start).step_by(step) {
        *number ^= 1;
        spoilt += 1;
    }
    let header = header_of(table);
    let codec = table.codec();
    let file = TableContents {
        storage: hoffman_store::disk(),
        path,
        header: &header,
        structures: None,
        codec: EntryCodec::new(Format::Dtm(Some(codec.bits())), codec.bits(), table.variant())
            .unwrap(),
        entries: table.space().size(),
        compression: Compression::Fast,
        memory: None,
        stop: Stop::default(),
    };
    file.write(|writer| writer.push(&numbers)).unwrap();
    spoilt
}

/// The bytes before the entries.
fn header_of(table: &Table) -> Vec<u8> {
    let source =
        hoffman_table::htb::GzipSource::open(table.path(), SourceOptions::default()).unwrap();
    let mut header = vec![0; table.control().offset as usize];
    source.read_at(0, &mut header).unwrap();
    header
}

/// What verification says; by rows if there is memory for them.
fn report(path: &Path, memory: u64) -> VerifyReport {
    verified(path, path.parent().unwrap(), &VerifyExtent { memory, ..VerifyExtent::default() })
}

/// What it says of all indices but one, without memory and with the tables behind in a folder:
/// moves that cannot be better than others are not looked up.
fn sampled_report(path: &Path, behind: &Path) -> VerifyReport {
    let sample = Some(open(path).space().size() - 1);
    verified(path, behind, &VerifyExtent { sample, memory: 0, ..VerifyExtent::default() })
}

fn verified(path: &Path, behind: &Path, extent: &VerifyExtent<'_>) -> VerifyReport {
    let table = open(path);
    let folders = [behind.to_owned()];
    let smaller = Smaller::from_folders(&table, &folders, &SourceOptions::default()).unwrap();
    verify(&table, &smaller, extent).unwrap()
}

/// Whether a sample of all indices but one has found the same.
fn is_alike(sampled: &VerifyReport, all: &VerifyReport) -> bool {
    let counts = |report: &VerifyReport| {
        [report.checked, report.positions, report.different, report.unverified]
    };
    let pairs = counts(sampled).into_iter().zip(counts(all));
    pairs.into_iter().all(|(sampled, all)| sampled <= all && all - sampled < 2)
}

fn compare(endings: &[(&str, usize)]) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for &(ending, step) in endings {
        hoffman::build(
            &[ending.parse().unwrap()],
            &hoffman::Options::new(dir).blocks(false),
            &mut |_| {},
        )
        .unwrap();
        let name = dir.join(format!("{}.htb", ending.replace('v', "").to_lowercase()));
        let table = open(&name);
        let right = report(&name, 1 << 30);
        assert!(right.ok, "{right}");
        assert_eq!(right.checked, table.space().size());
        assert_eq!(right, report(&name, 0), "{ending}");

        let wrong = dir.join("wrong.htb");
        let spoilt = spoil(&table, step / 3, step, &wrong);
        let by_rows = report(&wrong, 1 << 30);
        assert!(!by_rows.ok && by_rows.different >= spoilt, "{ending}: {by_rows}");
        assert_eq!(by_rows, report(&wrong, 0), "{ending}");

        let sampled = sampled_report(&wrong, dir);
        assert!(is_alike(&sampled, &by_rows), "{ending}: {sampled}");
    }
}

/// Tables of blocks, right ones, and a wrong one before them.
fn compare_samples(ending: &str, outcomes: bool, step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (blocks, dir) = (folder.path().join("blocks"), folder.path().join("htb"));
    let name = ending.replace('v', "").to_lowercase();
    for (dir, in_blocks) in [(&blocks, true), (&dir, false)] {
        std::fs::create_dir(dir).unwrap();
        let mut options = hoffman::Options::new(dir).blocks(in_blocks);
        if outcomes {
            options = options.content(hoffman::Content::Outcomes);
        }
        hoffman::build(&[ending.parse().unwrap()], &options, &mut |_| {}).unwrap();
    }
    let right = report(&dir.join(format!("{name}.htb")), 1 << 30);
    assert!(right.ok, "{right}");
    let sampled = sampled_report(&blocks.join(format!("{name}.hbf")), &blocks);
    assert!(sampled.ok && is_alike(&sampled, &right), "{ending}: {sampled}");
    if outcomes {
        return;
    }

    let wrong = dir.join("wrong.htb");
    spoil(&open(&dir.join(format!("{name}.htb"))), step / 3, step, &wrong);
    let (all, sampled) = (report(&wrong, 1 << 30), sampled_report(&wrong, &blocks));
    assert!(!all.ok && is_alike(&sampled, &all), "{ending}: {sampled}");
}

#[test]
fn samples_find_what_all_finds() {
    compare_samples("KPvK", false, 31);
    compare_samples("KQvK", true, 31);
    compare_samples("KPvK", true, 31);
}

#[test]
#[ignore = "slow: tables of two to twelve million entries, index by index"]
fn samples_find_what_all_finds_of_four_men() {
    compare_samples("KRvKR", false, 997);
    compare_samples("KPvKP", false, 991);
    compare_samples("KRvKP", false, 997);
    compare_samples("KRvKP", true, 997);
}

/// One side to move is stored, and men are alike.
#[test]
fn rows_find_what_indices_find() {
    compare(&[("KRvKR", 997), ("KNNvK", 499)]);
}

/// With pawns: promotions, steps of two and captures en passant.
#[test]
#[ignore = "slow: tables of five to twenty million entries, index by index"]
fn rows_find_what_indices_find_with_pawns() {
    compare(&[("KPvKP", 991), ("KPPvK", 997), ("KRPvK", 997), ("KRvKP", 997)]);
}
