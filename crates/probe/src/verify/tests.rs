//! Verification of golden tables, right ones and wrong ones.

use std::path::{Path, PathBuf};

use hoffman_board::shakmaty::{CastlingMode, Chess, Position as _, PositionError, Setup};
use hoffman_board::{Format, Material, Value, Variant};
use hoffman_table::EntryValue;
use hoffman_table::foreign::{ForeignKind, ForeignOptions};
use hoffman_table::htb::{GzipSource, SourceOptions};

use super::loaded::LoadedTable;
use super::outcomes::Outcomes;
use super::*;

/// The folder with golden tables and published data; none, with a loud message, if it is not there.
pub(crate) fn shared() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
    if folder.join("spec/golden").is_dir() {
        return Some(folder);
    }
    eprintln!("NOT TESTED: no golden tables in {}; set HOFFMAN_SHARED", folder.display());
    None
}

pub(crate) fn golden(name: &str) -> Option<Table> {
    let path = shared()?.join("spec/golden").join(format!("{name}.htb"));
    let mut table = Table::open(path, SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    Some(table)
}

/// The golden tables of a folder whose length is right.
fn golden_in(folder: &str) -> Vec<Table> {
    let Some(shared) = shared() else { return Vec::new() };
    let files = std::fs::read_dir(shared.join("spec/golden").join(folder)).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "htb")).collect();
    // The header of this one is longer than it says.
    paths.retain(|path| !path.ends_with("non-ascii-comment-shifts-offset.htb"));
    paths.sort();
    let open = |path: PathBuf| {
        let mut table = Table::open(path, SourceOptions::default()).unwrap();
        table.check_length().unwrap();
        table
    };
    paths.into_iter().map(open).collect()
}

fn smaller(table: &Table) -> Smaller {
    let folders = search_folders(table.path(), None);
    Smaller::from_folders(table, &folders, &SourceOptions::default()).unwrap()
}

fn verified(name: &str, options: &VerifyExtent<'_>) -> Option<VerifyReport> {
    let table = golden(name)?;
    Some(verify(&table, &smaller(&table), options).unwrap())
}

fn with_syzygy(sample: Option<u64>) -> Option<VerifyExtent<'static>> {
    let syzygy = vec![shared()?.join("data/syzygy")];
    Some(VerifyExtent { sample, syzygy, ..VerifyExtent::default() })
}

#[test]
fn golden_tables_are_right() {
    let Some(options) = with_syzygy(None) else { return };
    for name in ["kk", "kqk", "krk", "kbk", "knk", "kpk"] {
        let report = verified(&format!("base/{name}"), &options).unwrap();
        assert!(report.ok, "{report}");
        assert_eq!(report.checked, report.indices);
        assert_eq!((report.unverified, report.outcome_only), (0, 0));
        assert_eq!(report.header_checked.len(), 10, "{report}");
        let syzygy = report.syzygy.unwrap();
        assert_eq!((syzygy.compared, syzygy.unanswered), (report.positions, 0));
    }
}

#[test]
fn a_sample_is_enough_for_a_colour_symmetric_table() {
    let Some(options) = with_syzygy(Some(20_000)) else { return };
    let report = verified("base/kqkq", &options).unwrap();
    assert!(report.ok && report.checked == 20_000, "{report}");
    assert!(report.header_checked.is_empty());
    let few = VerifyExtent { sample: Some(100), ..VerifyExtent::default() };
    let report = verified("base/kqkq", &few).unwrap();
    assert!(report.ok && report.checked == 100, "{report}");
}

#[test]
fn missing_tables_are_named() {
    let Some(options) = with_syzygy(Some(20_000)) else { return };
    let report = verified("base/kpkp", &options).unwrap();
    assert!(!report.ok && report.unverified > 0);
    assert_eq!(report.missing, ["kbkp", "knkp", "kqkp"]);
    assert_eq!((report.different, report.syzygy.unwrap().different), (0, 0));
}

#[test]
#[ignore = "slow: all entries of two tables of twelve million"]
fn golden_tables_with_pawns_have_no_differences() {
    let Some(options) = with_syzygy(None) else { return };
    for name in ["kqkq", "kpkp", "krkp"] {
        let report = verified(&format!("base/{name}"), &options).unwrap();
        assert_eq!(report.different, 0, "{report}");
        assert!(report.header_differences.is_empty(), "{report}");
        assert_eq!(report.syzygy.unwrap().different, 0);
    }
}

#[test]
fn restricted_pruned_and_suicide_tables_are_right() {
    let base = || Some(vec![shared()?.join("spec/golden/base")]);
    let Some(folders) = base() else { return };
    for name in [
        "restricted/kpk-pawn-on-ranks-2-3",
        "restricted/kpk-pawn-on-ranks-4-to-7",
        "restricted/kpkp-plus-pawns-a2-a7-combinadic5",
        "pruned/kpk-only-queen-others-discarded",
        "pruned/kpk-promotions-conceded",
        "pruned/kqk-stalemate-conceded-to-black",
        "pruned/lasker1901",
        "suicide/kvq",
        "suicide/krvq",
    ] {
        let table = golden(name).unwrap();
        let mut all = search_folders(table.path(), None);
        all.extend_from_slice(&folders);
        let smaller = Smaller::from_folders(&table, &all, &SourceOptions::default()).unwrap();
        let report = verify(&table, &smaller, &VerifyExtent::default()).unwrap();
        assert!(report.ok, "{name}: {report}");
    }
}

#[test]
fn defects_of_the_original_are_found() {
    let options = VerifyExtent::default();
    for (name, different) in [("suicide/pvp", 40), ("suicide/pvp-naive", 80)] {
        let Some(report) = verified(name, &options) else { return };
        assert!(!report.ok);
        assert_eq!(report.different, different, "{report}");
        assert_eq!(report.first_differences.len(), SHOWN);
        assert!(report.first_differences.is_sorted_by_key(|d| d.index));
    }
}

#[test]
#[ignore = "slow: needs three and a half million positions of krbk"]
fn the_wrong_krbk_is_found() {
    let name = "bugs/krbk-basic-from-basic-wrong";
    let Some(table) = golden(name) else { return };
    let folders = [table.path().with_file_name(""), table.path().with_file_name("../base")];
    let smaller = Smaller::from_folders(&table, &folders, &SourceOptions::default()).unwrap();
    let report = verify(&table, &smaller, &VerifyExtent::default()).unwrap();
    assert_eq!(report.different, 8440, "{report}");
}

#[test]
fn one_wrong_entry_is_found() {
    let Some(table) = golden("base/kqk") else { return };
    let size = table.space().size();
    let mut numbers = vec![0_i32; size as usize];
    table.read_entries(0, &mut numbers).unwrap();
    let mut file = uncompressed(&table);
    file.truncate(table.control().offset as usize);
    let index = (0..size).rev().find(|&i| numbers[i as usize] == 5).unwrap();
    numbers[index as usize] = 6;
    table.codec().pack(&numbers, &mut file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kqk.htb");
    std::fs::write(&path, &file).unwrap();
    let wrong = Table::open(&path, SourceOptions::default()).unwrap();
    let report = verify(&wrong, &smaller(&table), &VerifyExtent::default()).unwrap();
    assert!(!report.ok);
    let found = report.first_differences.iter().find(|d| d.index == index).unwrap();
    assert_eq!((found.stored.as_str(), found.computed.as_str()), ("win in 5", "win in 4"));
    assert!(report.to_string().contains("NOT ok"));
    assert!(serde_json::to_value(&report).unwrap()["first_differences"].is_array());
    // A file cut short is damage, not a difference.
    std::fs::write(&path, &file[..file.len() - 1]).unwrap();
    let short = Table::open(&path, SourceOptions::default()).unwrap();
    let error = verify(&short, &Smaller::new(), &VerifyExtent::default()).unwrap_err();
    assert!(matches!(error, VerifyError::Table(_)), "{error}");
}

/// Makes every `step`th entry wrong, from one of `starts` on, and compares what rows and indices
/// say of that, of Syzygy's opinion, too. Whether rows know the table.
fn are_ways_alike(table: &Table, step: usize, starts: std::ops::Range<usize>) -> bool {
    let mut folders = search_folders(table.path(), None);
    folders.push(table.path().with_file_name("../base"));
    let smaller = Smaller::from_folders(table, &folders, &SourceOptions::default()).unwrap();
    let options = with_syzygy(None).filter(|_| table.variant() == Variant::Normal);
    let options = options.unwrap_or_default();
    let known = TestedRows::new(&TestedTable::new(table, &smaller, &options).unwrap()).is_some();
    // A single bit has no room for another number.
    if !known || table.codec().bits() < 2 {
        return false;
    }
    let mut numbers = vec![0_i32; table.space().size() as usize];
    table.read_entries(0, &mut numbers).unwrap();
    let mut header = uncompressed(table);
    header.truncate(table.control().offset as usize);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.htb");
    // Some tables have fewer entries than there are starts.
    for start in starts.start..starts.end.min(numbers.len()) {
        let mut wrong = numbers.clone();
        wrong.iter_mut().skip(start).step_by(step).for_each(|number| *number ^= 1);
        let mut file = header.clone();
        table.codec().pack(&wrong, &mut file).unwrap();
        std::fs::write(&path, &file).unwrap();
        let wrong = Table::open(&path, SourceOptions::default()).unwrap();
        let tested = TestedTable::new(&wrong, &smaller, &options).unwrap();
        let mut rows = TestedRows::new(&tested).unwrap();
        let by_rows = check_rows(&tested, &mut rows, &options).unwrap();
        let each = check_each(&tested, &options, None, |_| true).unwrap();
        let by_rows = report(&tested, by_rows, Vec::new(), false);
        let path = table.path().display();
        assert!(by_rows.different > 0 && by_rows.checked == by_rows.indices, "{path}, {start}");
        assert_eq!(by_rows, report(&tested, each, Vec::new(), false), "{path}, {start}");

        // Of a sample moves that cannot be better are left out, so that one of them whose entry
        // tells nothing does not make others uncertain: more is found, if anything.
        let sampled = VerifyExtent { sample: Some(table.space().size() - 1), ..options.clone() };
        let tested = TestedTable::new(&wrong, &smaller, &sampled).unwrap();
        let each = check_each(&tested, &sampled, None, |_| true).unwrap();
        assert!(each.different >= by_rows.different, "{path}, {start}");
    }
    true
}

/// The same of a golden table, which rows know.
fn compare_ways(name: &str, step: usize, starts: std::ops::Range<usize>) {
    let Some(table) = golden(name) else { return };
    assert!(are_ways_alike(&table, step, starts), "{name} has no rows");
}

/// Every entry is wrong once: those of mates, stalemates, captures, illegal positions and of no
/// position.
#[test]
fn rows_find_what_indices_find() {
    compare_ways("base/kqk", 61, 0..61);
}

/// The same; a test of its own, so that both run side by side.
#[test]
fn rows_of_other_men_find_what_indices_find() {
    compare_ways("base/krk", 61, 0..61);
    compare_ways("base/kpk", 61, 0..3);
}

/// Both kings on the long diagonal, one's own king as the piece of a row, and every way to number.
#[test]
fn rows_of_every_index_type_find_what_indices_find() {
    for index in ["naive-sym4", "naive2-sym4", "simple-sym8", "compact-sym8", "combinadic3-sym8"] {
        compare_ways(&format!("index-kqk/kqk-{index}"), 61, 0..1);
    }
    for index in ["naive", "naive2", "simple", "compact", "combinadic4", "combinadic5"] {
        compare_ways(&format!("index-kpk/kpk-{index}-sym1"), 61, 0..1);
    }
}

#[test]
fn rows_of_like_men_and_of_one_side_find_what_indices_find() {
    compare_ways("index-pairs/knnk-combinadic4-sym8", 61, 0..1);
    compare_ways("index-colorsym/knkn-combinadic4-sym8", 61, 0..1);
}

#[test]
#[ignore = "slow: tables of millions of entries in every index type, twice"]
fn rows_of_like_men_find_what_indices_find_in_every_index_type() {
    for index in ["naive-sym4", "naive2-sym4", "simple-sym8", "compact-sym8"] {
        compare_ways(&format!("index-pairs/knnk-{index}"), 61, 0..1);
        compare_ways(&format!("index-colorsym/knkn-{index}"), 61, 0..1);
    }
    for index in ["combinadic3-sym8", "combinadic5-sym8"] {
        compare_ways(&format!("index-pairs/knnk-{index}"), 61, 1..2);
        compare_ways(&format!("index-colorsym/knkn-{index}"), 61, 1..2);
    }
}

/// Men on few squares, moves discarded and conceded, futurebases, pawn structures, the tables of
/// other squares.
#[test]
fn rows_of_restricted_and_pruned_tables_find_what_indices_find() {
    let mut known = 0;
    for folder in ["restricted", "pruned", "pawngen", "bugs"] {
        let tables = golden_in(folder);
        for table in tables.iter().filter(|table| table.space().size() < 400_000) {
            known += u32::from(are_ways_alike(table, 61, 0..1));
        }
    }
    println!("{known} tables are known by rows");
    assert!(known > 20 || shared().is_none(), "{known}");
}

#[test]
#[ignore = "slow: every entry of many tables, wrong in its turn"]
fn every_entry_of_restricted_and_pruned_tables_is_found_by_rows_if_it_is_wrong() {
    for folder in ["restricted", "pruned", "pawngen", "bugs"] {
        for table in golden_in(folder) {
            let starts = if table.space().size() < 100_000 { 61 } else { 7 };
            are_ways_alike(&table, 61, 0..starts);
        }
    }
}

/// Only White's turn is stored, his opponent's king walks, and pawns may be taken en passant.
#[test]
fn rows_of_one_side_find_what_indices_find_with_pawns() {
    compare_ways("base/kpkp", 997, 0..1);
}

#[test]
#[ignore = "slow: all entries of a table of twelve million, twice"]
fn rows_find_what_indices_find_with_promotions() {
    compare_ways("base/krkp", 997, 0..1);
}

#[test]
fn moves_are_those_of_shakmaty() {
    for name in ["base/kpkp", "base/krkp", "base/kqkq", "index-ep/kppk-ep-combinadic5-sym1"] {
        let Some(table) = golden(name) else { return };
        let none = Smaller::new();
        let options = VerifyExtent { sample: Some(1), ..VerifyExtent::default() };
        let tested = TestedTable::new(&table, &none, &options).unwrap();
        let mut steps = Vec::new();
        for index in (0..30_000).map(|k| sampled(k, 30_000, table.space().size())) {
            let Some(placement) = table.space().decode(index) else { continue };
            let men = Men::new(table.pieces(), &placement);
            if men.is_in_check(placement.turn.other()) {
                continue;
            }
            tested.generate(&men, &placement, &mut steps);
            let usable = men.can_capture_en_passant(Variant::Normal);
            assert_eq!(usable, steps.iter().any(|s| s.en_passant));
            let mut setup = Setup::empty();
            for (square, color, role) in men_of(table.pieces(), &placement) {
                setup.board.set_piece_at(square, role.of(color));
            }
            setup.turn = placement.turn;
            setup.ep_square = placement.en_passant;
            let chess: Chess = setup
                .position(CastlingMode::Standard)
                .or_else(PositionError::ignore_invalid_ep_square)
                .or_else(PositionError::ignore_impossible_check)
                .unwrap();
            let mut expected: Vec<_> = chess
                .legal_moves()
                .iter()
                .map(|m| (m.from(), m.to(), m.promotion(), m.is_capture()))
                .collect();
            let mut found: Vec<_> = steps
                .iter()
                .map(|s| {
                    let from = placement.squares[s.slot];
                    (Some(from), s.to, s.promotion, s.captured.is_some())
                })
                .collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{}", tested.fen(&placement));
        }
    }
}

#[test]
fn the_better_of_two_moves() {
    let outcomes = |bits| Outcomes(bits);
    for (a, b, best) in
        [(4, 1, 4), (2, 1, 2), (3, 4, 4), (3, 2, 2), (3, 1, 3), (6, 3, 6), (7, 2, 6), (0, 5, 5)]
    {
        assert_eq!(outcomes(a).or_better(outcomes(b)), outcomes(best), "{a} {b}");
        assert_eq!(outcomes(b).or_better(outcomes(a)), outcomes(best), "{b} {a}");
    }
    assert_eq!(outcomes(6).turned(), outcomes(3));
}

#[test]
fn a_sample_has_one_index_of_every_stretch() {
    for (n, size) in [(1, 1), (10, 1000), (7, 50), (1000, 1001)] {
        let indices: Vec<u64> = (0..n).map(|k| sampled(k, n, size)).collect();
        assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices[n as usize - 1] < size);
    }
}

/// All golden tables: restricted, pruned, with pawn structures, split, of every format and both
/// rules.
#[test]
fn every_kind_of_table_is_verified() {
    let Some(shared) = shared() else { return };
    let golden = shared.join("spec/golden");
    // Tables in which the original is wrong, and two whose futurebases are not kept.
    let wrong = [
        "base/kpkp",
        "base/krkp",
        "bugs/knkn-dtc-from-dtc-wrong",
        "bugs/krbk-basic-from-basic-wrong",
        "index-ep/kppk-ep-naive2-sym1",
        "pawngen/pawngen-b3c2-b5d5-2-2-from39",
        "suicide/bvp",
        "suicide/nvp",
        "suicide/pvp",
        "suicide/pvp-naive",
        "suicide/pvp-simple",
    ];
    let (mut tables, mut found) = (0, Vec::new());
    for directory in std::fs::read_dir(&golden).unwrap() {
        let directory = directory.unwrap().path();
        for file in std::fs::read_dir(&directory).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|e| e != "htb") {
                continue;
            }
            let mut table = Table::open(&path, SourceOptions::default()).unwrap();
            table.check_length().unwrap();
            let mut folders = search_folders(&path, None);
            folders.push(golden.join("base"));
            let smaller =
                Smaller::from_folders(&table, &folders, &SourceOptions::default()).unwrap();
            let options = VerifyExtent { sample: Some(2_500), ..VerifyExtent::default() };
            let report = verify(&table, &smaller, &options).unwrap();
            let name = path.strip_prefix(&golden).unwrap().with_extension("");
            if !report.ok {
                let name = name.display().to_string();
                assert!(wrong.contains(&name.as_str()), "{name}: {report}");
                found.push(name);
            }
            tables += 1;
        }
    }
    println!("{tables} tables, not right: {found:?}");
    assert_eq!(tables, 229);
    assert!(found.len() > 5);
}

/// The bytes of a table, uncompressed.
fn uncompressed(table: &Table) -> Vec<u8> {
    let source = GzipSource::open(table.path(), SourceOptions::default()).unwrap();
    let mut file = vec![0; source.uncompressed_len().unwrap() as usize];
    source.read_at(0, &mut file).unwrap();
    file
}

/// A copy of a golden table, uncompressed, with one text in its header replaced by one as long.
fn with_header(name: &str, old: &str, new: &str) -> Option<(tempfile::TempDir, Table)> {
    let table = golden(name)?;
    let mut file = uncompressed(&table);
    assert_eq!(old.len(), new.len());
    let at = file.windows(old.len()).position(|w| w == old.as_bytes()).unwrap();
    file[at..at + old.len()].copy_from_slice(new.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.htb");
    std::fs::write(&path, &file).unwrap();
    let table = Table::open(&path, SourceOptions::default()).unwrap();
    Some((folder, table))
}

#[test]
fn futurebases_may_be_syzygy_files() {
    let named = |file: &str| {
        let old = "filename=\"kqk-basic.htb\"";
        with_header(
            "format/kqkq-dtc-from-basic",
            old,
            &format!("{:<24}", format!("filename=\"{file}\"")),
        )
    };
    let Some((folder, table)) = named("./KQvK.rtbw") else { return };
    let shared = shared().unwrap();
    let syzygy = shared.join("data/syzygy");
    let open = |foreign: &ForeignOptions| {
        let folders = [folder.path().to_owned()];
        Smaller::with_foreign(&table, &folders, &SourceOptions::default(), foreign)
    };
    let options = VerifyExtent { sample: Some(20_000), ..VerifyExtent::default() };
    let foreign = ForeignOptions { syzygy: vec![syzygy.clone()], ..ForeignOptions::default() };
    let report = verify(&table, &open(&foreign).unwrap(), &options).unwrap();
    assert!(report.ok && report.unverified == 0, "{report}");
    // One that is not there is missing like any other.
    let report = verify(&table, &open(&ForeignOptions::default()).unwrap(), &options).unwrap();
    assert_eq!(report.missing, ["kqk"], "{report}");
    // One that cannot be used is refused, and so is one that lacks others.
    std::fs::write(folder.path().join("KQvK.rtbw"), "rubbish").unwrap();
    let error = open(&ForeignOptions::default()).unwrap_err().to_string();
    assert!(error.contains("KQvK.rtbw is no Syzygy table"), "{error}");
    let (folder, table) = named("KQvKR.rtbw").unwrap();
    std::fs::copy(syzygy.join("KQvKR.rtbw"), folder.path().join("KQvKR.rtbw")).unwrap();
    let folders = [folder.path().to_owned()];
    let error = Smaller::from_folders(&table, &folders, &SourceOptions::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("without the files KQvK.rtbw, KRvK.rtbw"), "{message}");
}

#[test]
fn syzygy_tables_can_be_verified() {
    let Some(shared) = shared() else { return };
    let foreign =
        ForeignOptions { syzygy: vec![shared.join("data/syzygy")], ..ForeignOptions::default() };
    for (name, sample) in [("KPvK", None), ("KPvKP", Some(3_000)), ("KRvKP", Some(3_000))] {
        let table = Table::open_foreign(format!("{name}.rtbw"), &foreign).unwrap();
        let smaller =
            Smaller::with_foreign(&table, &[], &SourceOptions::default(), &foreign).unwrap();
        let options = VerifyExtent { sample, memory: 0, ..VerifyExtent::default() };
        let report = verify(&table, &smaller, &options).unwrap();
        assert!(report.ok && report.unverified == 0 && report.outcome_only > 0, "{report}");
    }
    // Alone it could not be checked at all.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("KPvKP.rtbw");
    std::fs::copy(shared.join("data/syzygy/KPvKP.rtbw"), &path).unwrap();
    let table = Table::open_foreign(&path, &ForeignOptions::default()).unwrap();
    let error = verify(&table, &Smaller::new(), &VerifyExtent::default()).unwrap_err();
    assert!(error.to_string().contains("KPvK.rtbw"), "{error}");
}

/// A golden table in the place of a Nalimov table, wrong at one index.
#[derive(Debug)]
struct Stand {
    table: Table,
    wrong: Option<u64>,
}

impl hoffman_table::ForeignTable for Stand {
    fn path(&self) -> &Path {
        Path::new("kqk.nbw.emd")
    }
    fn material(&self) -> Material {
        "KQvK".parse().unwrap()
    }
    fn format(&self) -> Format {
        Format::Dtm(None)
    }
    fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        let board = &position.board;
        let men = board.occupied().into_iter().map(|square| {
            let piece = board.piece_at(square).unwrap();
            (square, piece.color, piece.role)
        });
        let placement = self.table.place(men, position.turn, position.ep_square).unwrap();
        let index = self.table.index(&placement).unwrap();
        if self.wrong == Some(index) {
            return Ok(Some(EntryValue::Exact(Value::Win(3))));
        }
        Ok(Some(self.table.value(index, position.turn).unwrap()))
    }
}

#[test]
fn differences_to_other_tables_are_told_in_the_words_of_the_original() {
    let Some(kqk) = golden("base/kqk") else { return };
    // White wins in 7 there.
    let wrong = Stand { table: golden("base/kqk").unwrap(), wrong: Some(32626) };
    let right = Stand { table: golden("base/kqk").unwrap(), wrong: None };
    let told = |table: &Table, theirs: &Stand| {
        foreign::compare(table, theirs, ForeignKind::Nalimov).unwrap()
    };
    assert_eq!(told(&kqk, &right), [""; 0]);
    let differences = told(&kqk, &wrong);
    assert_eq!(differences.len(), 1);
    let expected = "w - - (32626): Nalimov says mate in 3 (32764), but we say mate in 7";
    assert!(differences[0].ends_with(expected), "{differences:?}");
    for name in ["kqk-basic", "kqk-flag-white-wins", "kqk-flag-white-draws", "kqk-dtc-auto"] {
        let table = golden(&format!("format/{name}")).unwrap();
        assert_eq!(told(&table, &right), [""; 0], "{name}");
    }
    // A table of draws differs everywhere, and ten times are enough.
    let kbk = golden("base/kbk").unwrap();
    let error = foreign::compare(&kbk, &right, ForeignKind::Nalimov).unwrap_err().to_string();
    assert!(error.contains("cannot be compared with the table of KQvK"), "{error}");
    let wins = golden("format/kqk-flag-white-wins").unwrap();
    let draws = Draws;
    let differences = foreign::compare(&wins, &draws, ForeignKind::Syzygy).unwrap();
    assert_eq!(differences.len(), foreign::MOST);
    assert!(differences[0].ends_with("Syzygy says draw, but we say white wins"), "{differences:?}");
    let differences = foreign::compare(&kqk, &draws, ForeignKind::Syzygy).unwrap();
    assert!(differences[0].contains("Syzygy says draw, but we say mate"), "{differences:?}");
}

/// Calls every position a draw.
#[derive(Debug)]
struct Draws;

impl hoffman_table::ForeignTable for Draws {
    fn path(&self) -> &Path {
        Path::new("KQvK.rtbw")
    }
    fn material(&self) -> Material {
        "KvKQ".parse().unwrap()
    }
    fn format(&self) -> Format {
        Format::Basic
    }
    fn value(&self, _: &Setup) -> Result<Option<EntryValue>, ForeignError> {
        Ok(Some(EntryValue::Draw))
    }
}

#[test]
fn foreign_entries_come_by_rows() {
    let Some(shared) = shared() else { return };
    let syzygy = vec![shared.join("data/syzygy")];
    let options = ForeignOptions { syzygy, ..ForeignOptions::default() };
    for name in ["KQvK.rtbw", "KPvK.rtbw", "KNvKP.rtbw"] {
        let table = Table::open_foreign(Path::new(name), &options).unwrap();
        let loaded = LoadedTable::new(&table, &mut (1 << 30)).unwrap();
        assert!(loaded.is_held());
        let size = table.space().size();
        for index in (0..size).step_by(if size > 1_000_000 { 97 } else { 1 }) {
            assert_eq!(loaded.entry(index).unwrap(), table.entry(index).unwrap(), "{name} {index}");
        }
    }
}
