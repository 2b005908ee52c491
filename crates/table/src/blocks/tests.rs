//! Tables in the block format come back as they were.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Bitboard, Piece, Square, Value};
use hoffman_control::{ControlFile, Strictness};
use hoffman_hbf::{Crew, EncodeOptions, Sides, Texts, encode_ending};
use hoffman_pages::Pages;
use hoffman_space::{Code as _, TableValues};

use super::*;
use crate::convert::{ConvertTarget, convert};
use crate::entries::{EntryValue, RawEntry};
use crate::foreign::Row;
use crate::rows::{EntryRow, HeldEntries, RowPlace, Taking, Wanted};
use crate::stop::Stop;

/// Entries that follow from their indices.
#[derive(Debug)]
struct MadeUp;

impl Entries for MadeUp {
    fn number(&self, shape: &Shape, index: u64) -> Result<RawEntry, TableProblem> {
        let bits = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
        let mask = u16::MAX >> (16 - shape.codec.bits());
        let bits = u64::from((bits as u16).wrapping_sub(5) & mask).to_le_bytes();
        Ok(shape.codec.get(&bits, 0).unwrap_or(RawEntry(0)))
    }
}

fn made_up(format: &str) -> Table {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<tablebase offset=\"1024\"><index type=\"combinadic5\" symmetry=\"8\"/>\
         <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>\
         <piece color=\"white\" type=\"rook\"/>{format}</tablebase>"
    );
    let header = ControlFile::parse(&text, "made-up", Strictness::Header).expect("a header");
    Table::of_entries(Path::new("made-up"), header, Box::new(MadeUp)).expect("a table")
}

fn opened(path: &Path) -> Table {
    let mut table = Table::open(path, SourceOptions::default()).expect("a table");
    table.check_length().expect("a whole table");
    table
}

fn assert_same(one: &Table, other: &Table) {
    let name = other.path().display();
    assert_eq!(one.control().text(), other.control().text(), "{name}");
    assert_eq!((one.space().size(), one.codec()), (other.space().size(), other.codec()), "{name}");
    for index in (0..one.space().size()).step_by(1 + one.space().size() as usize / 3000) {
        let entries = [one, other].map(|table| table.entry(index).expect("an entry"));
        assert_eq!(entries[0], entries[1], "{name} {index}");
    }
    let (mut area, mut same) = (Vec::new(), Vec::new());
    one.read_packed(&mut area).expect("entries");
    other.read_packed(&mut same).expect("entries");
    assert!(area == same, "{name}");
}

/// Every position is drawn.
struct Drawn;

impl hoffman_hbf::Source for Drawn {
    fn code(&self, _: &hoffman_hbf::Position) -> Option<hoffman_hbf::Code> {
        Some(hoffman_hbf::DRAW)
    }
}

/// Every position is lost, sooner or later.
struct Lost;

impl hoffman_hbf::Source for Lost {
    fn code(&self, position: &hoffman_hbf::Position) -> Option<hoffman_hbf::Code> {
        let square = position.king(position.turn).unwrap_or(0);
        Some(hoffman_hbf::code_of(hoffman_hbf::Value::Loss(u16::from(square % 8))))
    }
}

/// A file of that, without a header.
fn lost_rooks(folder: &Path) -> PathBuf {
    let path = folder.join("KRvK.hbf");
    let men = Material::parse("KRvK").expect("an ending");
    let options =
        EncodeOptions { distances: Sides::Both, exits: false, rows: 1, ..EncodeOptions::default() };
    let bytes = encode_ending(&men, &Lost, &options, Texts::default(), Crew::ALONE);
    std::fs::write(&path, bytes.expect("a file").0).expect("a file");
    path
}

/// Codes of a byte each by chance, the same for the same position.
struct Mixed;

impl hoffman_hbf::Source for Mixed {
    fn code(&self, position: &hoffman_hbf::Position) -> Option<hoffman_hbf::Code> {
        let mixed = position.men().fold(position.turn as u64 + 7, |number, (square, man)| {
            let man = u64::from(square) << 4 | (man.kind as u64) << 1 | man.color as u64;
            (number ^ man).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        });
        let moves = (mixed >> 8) as u16 % 126;
        Some(hoffman_hbf::code_of(match mixed % 3 {
            0 => hoffman_hbf::Value::Loss(moves),
            1 => hoffman_hbf::Value::Draw,
            _ => hoffman_hbf::Value::Win(1 + moves),
        }))
    }
}

/// The table of an ending with such codes, both sides to move, that leans on no other.
fn mixed(folder: &Path, name: &str) -> Table {
    let path = folder.join(format!("{name}.hbf"));
    let ending = Material::parse(name).expect("an ending");
    let options =
        EncodeOptions { distances: Sides::Both, exits: false, ..EncodeOptions::default() };
    let bytes = encode_ending(&ending, &Mixed, &options, Texts::default(), Crew::ALONE);
    std::fs::write(&path, bytes.expect("a file").0).expect("a file");
    opened(&path)
}

/// What is at hand of rows, legal or not, is what is said of each legal position.
#[test]
fn rows_at_hand_hold_what_the_entries_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = fastrand::Rng::with_seed(4);
    for name in ["KRvKN", "KNNvK", "KRvKR", "KPvK"] {
        let table = mixed(folder.path(), name);
        let (entries, shape) = (&table.entries, &table.shape);
        assert!(entries.has_rows(shape, &Wanted::all()).expect("no damage"), "{name}");

        let mut seen = 0;
        for _ in 0..2_000 {
            let mut men: Vec<(Square, Piece)> = Vec::new();
            for piece in table.pieces() {
                let ranks = if piece.role == Role::Pawn { 8..56 } else { 0..64 };
                let square = Square::new(random.u32(ranks));
                men.push((square, Piece { color: piece.color, role: piece.role }));
            }
            let walks = random.usize(0..men.len());
            let turn = if random.bool() { Color::White } else { Color::Black };
            let fixed: Vec<u8> =
                (0..men.len()).filter(|&at| at != walks).map(|at| men[at].0 as u8).collect();
            if (1..fixed.len()).any(|at| fixed[..at].contains(&fixed[at])) {
                continue;
            }
            let all = Bitboard::FULL;
            let mut row = Row { men: &mut men, walks, squares: all, turn, en_passant: None };
            let (position, man) = cells::fixed_of(&row);
            let free = !Bitboard(position.occupied());
            let legal = |square: &Square| position.with(*square as u8, man).is_legal();
            row.squares = free.into_iter().filter(legal).collect();
            let mut values = [EntryValue::Unknown; 64];
            entries.row(shape, &row, &mut values).expect("values");

            let legal = row.squares;
            row.squares = free;
            let mut codes = [0_u8; 64];
            let rest = entries.row_codes(shape, &row, &mut codes);
            for square in free & !rest {
                let code = codes[square as usize].value();
                let expected = if legal.contains(square) {
                    values[square as usize]
                } else {
                    EntryValue::Exact(Value::Illegal)
                };
                assert_eq!(EntryValue::Exact(code), expected, "{name} {row:?} {square}");
                seen += 1;
            }
        }
        assert!(seen > 10_000, "{name}: {seen}");
    }
}

/// The keys of rows that are shown are those of the entries, with either side to move.
#[test]
fn rows_that_are_shown_hold_the_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["KRvKN", "KNNvK", "KRvKR", "KRPvK", "KPvK"] {
        let table = mixed(folder.path(), name);
        let (codec, space) = (table.codec(), table.space());
        // Pawns and kings alone have no rows of cells.
        let walker = table.walker().expect("no damage");
        assert_eq!(walker.is_some(), name != "KPvK", "{name}");

        let held = HeldEntries::of(&table).expect("entries");
        let look = |seen: &mut u64, row: &EntryRow<'_>| {
            let [count, number, _] = row.sums();
            if number % 509 > 0 {
                return;
            }
            *seen += count;
            let keys = held.row(row).expect("keys");
            let turn = row.turn.other();
            let place = RowPlace { turn, ..row.place() };
            let others = held.keys_at(&place, Bitboard(row.lanes)).expect("keys");
            let mut squares = *row.squares;
            for (square, index) in row.positions() {
                squares[row.lane] = square;
                let other = space.encode_squares(&squares, turn, None);
                let both = [
                    (Some(index), keys.at(square, index)),
                    (other, usize::from(others[usize::from(square)])),
                ];
                for (index, key) in both {
                    let entry = index.map(|index| table.entry(index).expect("an entry"));
                    let found = HeldEntries::number(codec, key);
                    assert!(entry.is_none() || found == entry, "{name} {row:?} {square}");
                }
            }
        };
        let seen: u64 = held.scan(None, || 0, look).into_iter().sum();
        assert!(seen > 200, "{name}: {seen}");
    }
}

#[test]
fn tables_come_back_with_their_headers_and_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in [
        "<dtm bits=\"7\"/>",
        "<dtm bits=\"11\"/>",
        "<dtc bits=\"16\"/>",
        "<basic bits=\"2\"/>",
        "<flag type=\"white-wins\" bits=\"1\"/>",
    ] {
        let table = made_up(format);
        let (blocks, packed) = (folder.path().join("t.hbf"), folder.path().join("t.htb"));
        let options = ConvertTarget::default();
        let written = convert(&table, &blocks, &options).expect("a file");
        // Nobody made these values by the rules of chess.
        let noticed = format.starts_with("<dtm") || format.starts_with("<basic");
        assert_eq!(written.notices.len(), usize::from(noticed), "{written:?}");
        let back = opened(&blocks);
        assert!(back.is_of_blocks());
        assert_same(&table, &back);
        back.check().expect("an intact file");
        convert(&back, &packed, &options).expect("a file");
        let again = opened(&packed);
        assert!(!again.is_of_blocks());
        assert_same(&table, &again);

        let mut damaged = std::fs::read(&blocks).expect("a file");
        let last = damaged.len() / 2;
        damaged[last] ^= 1;
        std::fs::write(&blocks, damaged).expect("a file");
        let error = opened(&blocks).check().unwrap_err().to_string();
        assert!(error.contains("t.hbf: block 0 of stream 0 is damaged"), "{error}");
    }
}

#[test]
fn files_of_other_men_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.hbf");
    let men = Material::parse("KBvK").expect("an ending");
    let options =
        EncodeOptions { distances: Sides::Both, exits: false, ..EncodeOptions::default() };
    let table = made_up("<dtm bits=\"7\"/>");
    let header = table.control().text();
    let texts = Texts { control: Some(header), ..Texts::default() };
    let bytes =
        encode_ending(&men, &Drawn, &EncodeOptions { rows: 1, ..options }, texts, Crew::ALONE);
    std::fs::write(&path, bytes.expect("a file").0).expect("a file");
    let error = Table::open(&path, SourceOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("it holds the values of KBvK, and its header is that of KRvK"),
        "{error}"
    );
}

/// A file that nobody gave a header has one of ours.
#[test]
fn a_file_without_header_is_a_table_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = lost_rooks(folder.path());
    let (table, packed) = (opened(&path), folder.path().join("krk.htb"));
    convert(&table, &packed, &ConvertTarget::default()).expect("a file");
    assert_same(&table, &opened(&packed));
    assert_eq!(table.codec().bits(), 5);
}

/// Where the values do not fit into memory entries are asked for one by one, until somebody asks to
/// stop.
#[test]
fn entries_one_by_one_are_read_until_the_caller_stops() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = lost_rooks(folder.path());

    let stop = crate::Stop::default();
    let options = SourceOptions { memory_limit: 0, stop: stop.clone(), ..SourceOptions::default() };
    let table = Table::open(&path, options).expect("a table");
    let mut area = Vec::new();
    table.read_packed(&mut area).expect("entries");
    stop.request();
    let error = table.read_packed(&mut area).unwrap_err();
    assert!(error.is_stopped(), "{error}");
}

/// A table that leans on another one, which is read when the caller stops.
#[test]
fn reading_a_table_behind_is_stopped_as_the_table_is() {
    let folder = tempfile::tempdir().expect("a folder");
    mixed(folder.path(), "KRvK");
    let (path, ending) = (folder.path().join("KRvKN.hbf"), Material::parse("KRvKN"));
    let ending = ending.expect("an ending");
    let bytes =
        encode_ending(&ending, &Mixed, &EncodeOptions::default(), Texts::default(), Crew::ALONE);
    std::fs::write(&path, bytes.expect("a file").0).expect("a file");
    mixed(folder.path(), "KNvK");

    let stop = crate::Stop::default();
    let options = SourceOptions { stop: stop.clone(), ..SourceOptions::default() };
    let table = Table::open(&path, options).expect("a table");
    stop.request();
    let error = table.read_packed(&mut Vec::new()).unwrap_err();
    assert!(matches!(error.problem, TableProblem::BehindFails(_)), "{error}");
    assert!(error.is_stopped(), "{error}");
}

#[test]
fn pages_lend_what_is_decoded_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = lost_rooks(folder.path());
    let table = opened(&path);
    let wanted = Wanted::all();
    let memory = table.entries.memory_of_rows(&wanted);
    // For both sides the 462 places of the kings, and the squares of the rook.
    assert!((2 * 462 * 64..3 * 462 * 64).contains(&memory), "{memory}");

    let read = |table: &Table, pages: Option<&Arc<Pages>>| {
        table.foreign_values(&wanted, Taking::Exactly, pages, None, &Stop::default())
    };
    let codes = |values: &TableValues| {
        let sides = values.slices.values().flat_map(|slice| &slice.get().expect("solved").codes);
        let codes = sides.map(|codes| {
            let mut all = vec![0_u16; codes.len()];
            codes.read(0, &mut all);
            all
        });
        codes.collect::<Vec<_>>()
    };
    let plain = read(&table, None).expect("values").expect("by rows");
    for (budget, has_room) in [(memory, false), (memory + (1 << 20), true)] {
        let pages = Pages::new(folder.path(), budget as usize);
        let values = read(&table, Some(&pages)).expect("values").expect("by rows");
        assert_eq!(pages.traffic().0 == 0, has_room, "{budget}");
        assert_eq!(pages.budget() as u64, budget);
        assert!(codes(&plain) == codes(&values));
    }

    // What may not be decoded is read position by position.
    let options = SourceOptions { whole_limit: memory - 1, ..SourceOptions::default() };
    let table = Table::open(&path, options).expect("a table");
    assert_eq!(table.entries.memory_of_rows(&wanted), 0);
    assert!(read(&table, None).expect("no damage").is_none());
}
