use std::fmt::Write as _;
use std::path::PathBuf;

use Square::{B2, B4, B5, C4, C5, C7};
use arrayvec::ArrayVec;
use hoffman_board::value::FlagType;
use hoffman_board::{Color, MAX_PIECES, Placement, Square, Symmetry, Value, Variant};
use hoffman_control::{HeaderEdits, PawngenEdits, Strictness, render_header, resolve_pieces};
use proptest::prelude::*;

use super::*;
use crate::entries::RawEntry;
use crate::htb::{GzipSource, SourceOptions};
use crate::index::{PawnStructure, PawnStructures};

/// A position as numbers: the men in order, the side to move, the en passant square. For values
/// that do not depend on how men are listed.
type Key = ArrayVec<u16, { MAX_PIECES + 1 }>;

fn key(pieces: &PieceList, placement: &Placement, image: impl Fn(u8) -> u8, turned: bool) -> Key {
    let men = pieces.iter().zip(&placement.squares);
    let mut key: Key = men
        .map(|(p, &s)| {
            let white = p.color.is_white() != turned;
            u16::from(image(s as u8)) << 4 | u16::from(white) << 3 | p.role as u16
        })
        .collect();
    key.sort_unstable();
    let white = placement.turn.is_white() != turned;
    let en_passant = placement.en_passant.map_or(255, |s| image(s as u8));
    key.push(u16::from(en_passant) << 1 | u16::from(white));
    key
}

/// A value for every position that is the same for all its images, colours exchanged or not.
fn symmetric_value(pieces: &PieceList, placement: &Placement) -> Value {
    let plain = |symmetry: Symmetry| key(pieces, placement, |s| symmetry.apply_index(s), false);
    let turned =
        |symmetry: Symmetry| key(pieces, placement, |s| 63 - symmetry.apply_index(s), true);
    let images = Symmetry::all().map(plain).chain(Symmetry::all().map(turned));
    value_of(&images.min().unwrap())
}

/// Another value for every image.
fn any_value(pieces: &PieceList, placement: &Placement) -> Value {
    value_of(&key(pieces, placement, |s| s, false))
}

fn value_of(key: &Key) -> Value {
    // FNV-1a: any function would do.
    let hash = key
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, &n| (h ^ u64::from(n)).wrapping_mul(0x0100_0000_01b3));
    let moves = (hash >> 40) as u16 % 20;
    match hash >> 20 & 3 {
        0 => Value::Draw,
        1 => Value::Loss(moves),
        _ => Value::Win(moves + 1),
    }
}

/// A table in memory whose positions have the values of a function.
fn table_of(
    elements: &str,
    list: Option<&[PawnStructure]>,
    value: impl Fn(&PieceList, &Placement) -> Value,
) -> Option<Table> {
    let text = format!("<tablebase><dtm bits=\"7\"/>{elements}</tablebase>");
    let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
    let mut masks = PawnMasks { white: 0.into(), black: 0.into() };
    for structure in list.into_iter().flatten() {
        masks.white |= structure.white;
        masks.black |= structure.black;
    }
    let pieces = match list {
        Some(_) => resolve_pieces_with(&control, Some(masks)).ok()?,
        None => resolve_pieces(&control).ok()?,
    };
    let slots = control.pawngen.as_ref().map(|p| {
        let pawns = |side: &hoffman_control::PawngenSide| side.pawns_required.unwrap() as usize;
        p.position..p.position + pawns(&p.white) + pawns(&p.black)
    });
    let structures = slots.zip(list);
    let space = IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry: control.symmetry().unwrap(),
        variant: control.variant,
        format_is_flag: false,
        pieces,
        pawn_structures: structures.map(|(slots, list)| PawnStructures {
            slots,
            list: list.to_vec(),
            start: 0,
            count: 0,
        }),
    })
    .ok()?;
    space.check_writable().ok()?;
    if space.size() > 100_000 {
        return None;
    }
    let codec = EntryCodec::new(Format::Dtm(Some(7)), 7, control.variant).unwrap();
    let edits = HeaderEdits {
        symmetry: space.symmetry(),
        pawngen: list.map(|l| PawngenEdits { masks, structures: l.len() as u64 }),
        ..HeaderEdits::default()
    };
    let mut bytes = render_header(&control, &edits).unwrap().bytes;
    bytes.extend(list.into_iter().flatten().flat_map(|s| s.to_bytes()));
    let numbers: Vec<i32> = (0..space.size())
        .map(|index| match space.decode(index) {
            Some(p) if in_check(space.pieces(), &p, control.variant) => 1,
            Some(p) => value(space.pieces(), &p).to_stored(),
            None => 0,
        })
        .collect();
    codec.pack(&numbers, &mut bytes).unwrap();
    let source = GzipSource::new(Box::new(bytes), SourceOptions::default()).unwrap();
    let mut table = Table::from_source(Path::new("made.htb"), source).unwrap();
    table.check_length().unwrap();
    Some(table)
}

/// Whether the player not to move is in check, found from the king's side.
fn in_check(pieces: &PieceList, placement: &Placement, variant: Variant) -> bool {
    let mut board = hoffman_board::shakmaty::Board::empty();
    for (piece, &square) in pieces.iter().zip(&placement.squares) {
        board.set_piece_at(square, piece.role.of(piece.color));
    }
    let king = board.king_of(placement.turn.other());
    variant == Variant::Normal
        && king.is_some_and(|king| board.attacks_to(king, placement.turn, board.occupied()).any())
}

fn open(path: &Path) -> Table {
    let mut table = Table::open(path, SourceOptions::default()).unwrap();
    table.check_length().unwrap();
    table
}

fn numbers(table: &Table) -> Vec<i32> {
    let mut all = vec![0; table.space().size() as usize];
    table.read_entries(0, &mut all).unwrap();
    all
}

/// Every position of a table with distances has the value of the function.
fn assert_values(table: &Table, value: impl Fn(&PieceList, &Placement) -> Value) -> u64 {
    let mut positions = 0;
    for (index, number) in numbers(table).into_iter().enumerate() {
        let Some(placement) = table.space().decode(index as u64) else {
            assert_eq!(number, 0);
            continue;
        };
        positions += 1;
        let checked = in_check(table.pieces(), &placement, table.variant());
        let expected = if checked { Value::Illegal } else { value(table.pieces(), &placement) };
        assert_eq!(number, expected.to_stored(), "{placement:?}");
    }
    positions
}

const KINGS: &str = "<piece color='white' type='king'/><piece color='black' type='king'/>";

fn man(color: &str, role: &str, location: &str) -> String {
    let location =
        if location.is_empty() { String::new() } else { format!(" location='{location}'") };
    format!("<piece color='{color}' type='{role}'{location}/>")
}

fn index(index_type: &str, symmetry: u8) -> String {
    format!("<index type='{index_type}' symmetry='{symmetry}'/>")
}

fn to(index: IndexType, symmetry: u8) -> ConvertTarget<'static> {
    ConvertTarget { index: Some(index), symmetry: Some(symmetry), ..ConvertTarget::default() }
}

/// There and back: the entries are the same, and those in between are right.
fn round_trip(table: &Table, options: &ConvertTarget<'_>) -> Result<Converted, ConvertError> {
    let folder = tempfile::tempdir().unwrap();
    let (there, back) = (folder.path().join("there.htb"), folder.path().join("back.htb"));
    let converted = convert(table, &there, options)?;
    let middle = open(&there);
    assert_eq!(assert_values(&middle, symmetric_value), converted.positions);
    // In small memory entries come from the file.
    let home = ConvertTarget {
        restricted_symmetry: true,
        memory: 0,
        ..to(table.space().index_type(), table.space().symmetry())
    };
    convert(&middle, &back, &home)?;
    let again = open(&back);
    assert_eq!(again.codec(), table.codec());
    assert!(numbers(&again) == numbers(table));
    Ok(converted)
}

#[test]
fn every_type_becomes_every_other() {
    let corner = man("white", "king", "a1 b1 c1") + &man("black", "king", "a3 b4 h8");
    let kinds = [
        format!("{corner}{}", man("white", "queen", "")),
        format!("{corner}{}", man("white", "pawn", "")),
        format!("{corner}{}", man("white", "pawn", "b2+") + &man("black", "pawn", "b7+")),
        format!("{corner}{0}{0}", man("white", "rook", "a1 b1 c1 d1")),
        format!("{corner}{}{}", man("white", "pawn", "b4"), man("black", "pawn", "c5 c4")),
        KINGS.to_owned(),
    ];
    let (mut done, mut refused) = (0, 0);
    for kind in &kinds {
        for symmetry in [1, 8] {
            let source = index("combinadic5", symmetry) + kind;
            let Some(table) = table_of(&source, None, symmetric_value) else { continue };
            for index_type in IndexType::ALL {
                // Four men are tens of millions of indices there.
                if index_type.is_naive() && table.pieces().len() > 3 {
                    continue;
                }
                for symmetry in [1, 2, 4, 8] {
                    match round_trip(&table, &to(index_type, symmetry)) {
                        Ok(converted) => {
                            assert_eq!(converted.index_type, index_type);
                            assert_eq!(converted.symmetry, symmetry);
                            done += 1;
                        }
                        Err(ConvertError::Index { .. }) => refused += 1,
                        Err(error) => panic!("{source} to {index_type:?} {symmetry}: {error}"),
                    }
                }
            }
        }
    }
    assert!(done > 50 && refused > 50, "{done} done, {refused} refused");
}

/// By rows or by indices: header, counts and entries are the same, with another symmetry, with
/// like men, and where one side to move becomes two.
#[test]
fn rows_and_indices_write_the_same_table() {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(default, PathBuf::from);
    let golden = shared.join("spec/golden");
    if !golden.is_dir() {
        eprintln!("NOT TESTED: no golden tables in {}; set HOFFMAN_SHARED", golden.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["rows.htb", "indices.htb"].map(|name| folder.path().join(name));
    for (name, index, symmetry) in [
        ("base/kqk", IndexType::Combinadic4, 8),
        ("base/kqk", IndexType::Compact, 1),
        ("base/kpk", IndexType::Compact, 1),
        ("base/kpk", IndexType::Naive, 2),
        ("index-pairs/knnk-combinadic5-sym8", IndexType::Combinadic4, 4),
        ("index-pairs/knnk-compact-sym8", IndexType::Combinadic4, 8),
        ("index-colorsym/knkn-combinadic5-sym8", IndexType::Combinadic4, 4),
        ("index-colorsym/knkn-combinadic5-sym8", IndexType::Compact, 8),
    ] {
        let table = open(&golden.join(name).with_extension("htb"));
        let rows = to(index, symmetry);
        let indices = ConvertTarget { memory: table.space().size(), ..to(index, symmetry) };
        let format = table.codec().format();
        let space = index_space(&table, format, &rows).unwrap();
        assert!(by_rows(&table, &space, format, rows.memory).unwrap().is_some(), "{name}");
        assert!(by_rows(&table, &space, format, indices.memory).unwrap().is_none(), "{name}");
        let converted = convert(&table, &first, &rows).unwrap();
        assert_eq!(converted, convert(&table, &second, &indices).unwrap(), "{name}");
        let (first, second) = (open(&first), open(&second));
        assert_eq!(first.control().text(), second.control().text(), "{name}");
        assert!(numbers(&first) == numbers(&second), "{name}");
    }
}

#[test]
fn pawn_structures_are_kept() {
    let structure = |white: &[Square], black: &[Square], en_passant| PawnStructure {
        white: white.iter().copied().collect(),
        black: black.iter().copied().collect(),
        en_passant,
    };
    let list = vec![
        structure(&[B5], &[C5], None),
        structure(&[B4], &[C4], Some(Square::B3)),
        structure(&[B5], &[C5], Some(Square::C6)),
        structure(&[B2], &[C7], None),
    ];
    let pawngen = "<pawngen white-pawn-locations='b2' black-pawn-locations='c7' \
                   white-pawns-required='1' black-pawns-required='1'/>";
    let source = index("combinadic5", 1) + KINGS + pawngen;
    let table = table_of(&source, Some(&list), symmetric_value).unwrap();
    for index_type in IndexType::ALL {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new.htb");
        let done = round_trip(&table, &to(index_type, 1));
        if matches!(index_type, IndexType::Simple | IndexType::Compact) {
            assert!(matches!(done, Err(ConvertError::Index { .. })));
            continue;
        }
        done.unwrap();
        convert(&table, &target, &to(index_type, 1)).unwrap();
        let new = open(&target);
        assert_eq!(new.pawn_structures().unwrap().list, list);
        assert!(new.control().pawngen.as_ref().unwrap().offset < new.control().offset);
    }
    assert!(convert(&table, Path::new("no.htb"), &to(IndexType::Naive, 2)).is_err());
}

/// A table in which the rooks change halves of the board with the mirror.
#[test]
fn symmetric_restrictions_can_share_entries_on_request() {
    let half = |files: &str| {
        (1..=4).flat_map(|r| files.chars().map(move |f| format!("{f}{r}"))).collect::<String>()
    };
    let rooks = man("white", "rook", &half("ab")) + &man("white", "rook", &half("gh"));
    let kings = man("white", "king", "b1c1d1e1f1g1") + &man("black", "king", &half("abcdefgh"));
    let source = index("combinadic5", 1) + &kings + &rooks;
    let table = table_of(&source, None, symmetric_value).unwrap();
    let target = tempfile::tempdir().unwrap().path().join("new.htb");
    for index_type in IndexType::ALL.into_iter().filter(|t| !t.is_naive()) {
        let asked = ConvertTarget { restricted_symmetry: true, ..to(index_type, 2) };
        let converted = round_trip(&table, &asked).unwrap();
        assert_eq!(converted.notices.len(), 1);
        assert!(converted.notices[0].contains("original"), "{:?}", converted.notices);
        let refused = convert(&table, &target, &to(index_type, 2)).unwrap_err();
        assert!(matches!(refused, ConvertError::RestrictedSymmetry { .. }), "{refused}");
        // The white king's squares are not those of four images.
        let more = ConvertTarget { restricted_symmetry: true, ..to(index_type, 4) };
        let refused = convert(&table, &target, &more).unwrap_err().to_string();
        assert!(refused.contains("symmetry 4") && refused.contains("use 2"), "{refused}");
    }
}

#[test]
fn values_that_differ_are_not_merged() {
    let source = index("simple", 1) + KINGS;
    let table = table_of(&source, None, any_value).unwrap();
    let target = tempfile::tempdir().unwrap().path().join("new.htb");
    let refused = convert(&table, &target, &to(IndexType::Simple, 2)).unwrap_err();
    assert!(matches!(refused, ConvertError::Differ { .. }), "{refused}");
    // Without a side-to-move bit both colours share an entry.
    let refused = convert(&table, &target, &to(IndexType::Combinadic5, 1)).unwrap_err();
    assert!(matches!(refused, ConvertError::Differ { .. }), "{refused}");
}

#[test]
fn formats_follow_from_distances() {
    let source = index("combinadic5", 8) + KINGS + &man("white", "queen", "");
    let table = table_of(&source, None, symmetric_value).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new.htb");
    let formats =
        [Format::Basic, Format::Flag(FlagType::WhiteWins), Format::Flag(FlagType::WhiteDraws)];
    for format in formats {
        let options = ConvertTarget { format: Some(format), ..to(IndexType::Naive, 1) };
        convert(&table, &target, &options).unwrap();
        let new = open(&target);
        assert_eq!(new.codec().format(), format);
        for (index, number) in numbers(&new).into_iter().enumerate() {
            let white_wins = |number: i32| number > 0;
            let Some(p) = new.space().decode(index as u64) else {
                assert_eq!(number, i32::from(format == formats[2]));
                continue;
            };
            let checked = in_check(new.pieces(), &p, Variant::Normal);
            let value = symmetric_value(new.pieces(), &p);
            let winner = value.winner(p.turn);
            match format {
                Format::Basic if checked => assert_eq!(number, 3),
                Format::Basic => assert_eq!(
                    number,
                    match value {
                        Value::Win(_) => 1,
                        Value::Loss(_) => 2,
                        _ => 0,
                    }
                ),
                _ if checked => assert_eq!(white_wins(number), p.turn.is_white()),
                Format::Flag(FlagType::WhiteWins) => {
                    assert_eq!(white_wins(number), winner == Some(Color::White));
                }
                _ => assert_eq!(white_wins(number), winner != Some(Color::Black)),
            }
        }
    }
    for (bits, fits) in [(16, true), (6, true), (5, false), (17, false)] {
        let format = Some(Format::Dtm(Some(bits)));
        let options = ConvertTarget { format, ..ConvertTarget::default() };
        let done = convert(&table, &target, &options);
        assert_eq!(done.is_ok(), fits, "{bits}: {done:?}");
    }
    let narrow = ConvertTarget { format: Some(Format::Dtm(None)), ..ConvertTarget::default() };
    assert_eq!(convert(&table, &target, &narrow).unwrap().format, Format::Dtm(Some(6)));
}

#[test]
fn the_header_says_what_is_true() {
    let comment = "<!-- kept --><futurebase filename='kk.htb'/>";
    let source = index("combinadic5", 8) + KINGS + &man("white", "queen", "") + comment;
    let table = table_of(&source, None, symmetric_value).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (there, back) = (folder.path().join("there.htb"), folder.path().join("back.htb"));
    convert(&table, &there, &to(IndexType::Simple, 1)).unwrap();
    let new = open(&there);
    let text = new.control().text();
    for kept in
        ["<!-- kept -->", "<futurebase filename='kk.htb'/>", "type=\"simple\" symmetry=\"1\""]
    {
        assert!(text.contains(kept), "{text}");
    }
    assert_eq!(new.control().instruction.as_deref(), Some("converted from made.htb"));
    convert(&new, &back, &to(IndexType::Combinadic5, 8)).unwrap();
    let again = open(&back);
    let instruction = again.control().instruction.clone();
    assert_eq!(instruction.as_deref(), Some("converted from made.htb; converted from there.htb"));
    // Published numbers of KQK: with one image, and with eight.
    for (table, numbers) in [
        (
            &new,
            "indices 524288 PNTM-mated-positions 79436 legal-positions 368452 forward-moves 4891672",
        ),
        (
            &again,
            "indices 57288 PNTM-mated-positions 10152 legal-positions 47136 forward-moves 625942",
        ),
    ] {
        let statistics = &table.control().statistics;
        let words: Vec<&str> = numbers.split(' ').collect();
        for pair in words.chunks(2) {
            assert_eq!(statistics[pair[0]].to_string(), pair[1], "{}", pair[0]);
        }
        assert!(statistics["max-dtm"] > 2 && statistics["min-dtm"] < -2);
    }
}

/// Both syntaxes of old files: formats and index types on the root element, and wrapped.
#[test]
fn old_syntax_is_rewritten() {
    let texts = [
        format!("<tablebase index='compact' format='one-byte-dtm'>{KINGS}</tablebase>"),
        format!(
            "<tablebase><index type='compact' symmetry='8-way'/><format><dtm bits='8'/></format>\
             {KINGS}<generation-controls><output filename='kk.htb'/></generation-controls></tablebase>"
        ),
    ];
    for text in texts {
        let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
        let edits = HeaderEdits { symmetry: 8, ..HeaderEdits::default() };
        let mut bytes = render_header(&control, &edits).unwrap().bytes;
        let codec = EntryCodec::new(Format::Dtm(None), 8, Variant::Normal).unwrap();
        codec.pack(&vec![0_i32; 924], &mut bytes).unwrap();
        let source = GzipSource::new(Box::new(bytes), SourceOptions::default()).unwrap();
        let table = Table::from_source(Path::new("old.htb"), source).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new.htb");
        for (format, bits) in [(None, 8), (Some(Format::Basic), 2), (Some(Format::Dtm(None)), 1)] {
            let options = ConvertTarget { format, ..to(IndexType::Naive, 4) };
            convert(&table, &target, &options).unwrap();
            let new = open(&target);
            assert_eq!((new.codec().bits(), new.space().size()), (bits, 2048));
            assert_eq!(new.space().index_type(), IndexType::Naive);
        }
    }
}

/// Mates in a field of one bit, as the original writes them, are read as mates and get two bits.
#[test]
fn one_bit_mates_get_two_bits() {
    let source = format!("<tablebase><dtm bits='1'/>{}{KINGS}</tablebase>", index("simple", 1));
    let control = ControlFile::parse(&source, "test", Strictness::Header).unwrap();
    let edits = HeaderEdits { symmetry: 1, ..HeaderEdits::default() };
    let mut bytes = render_header(&control, &edits).unwrap().bytes;
    let start = bytes.len();
    bytes.resize(start + 1024, 0);
    // The third position: somebody is "mated", whatever the board says.
    bytes[start] = 1 << 4;
    let source = GzipSource::new(Box::new(bytes), SourceOptions::default()).unwrap();
    let table = Table::from_source(Path::new("old.htb"), source).unwrap();
    let mated = table.space().decode(4).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("new.htb");
    convert(&table, &target, &ConvertTarget::default()).unwrap();
    let new = open(&target);
    assert_eq!(new.codec().bits(), 2);
    let index = new.index(&mated).unwrap();
    assert_eq!(new.entry(index).unwrap(), RawEntry(-1));
    assert_eq!(new.control().statistics["min-dtm"], -1);
    assert_eq!(new.control().statistics["PNTM-mated-positions"], 0);
}

#[test]
fn entries_that_are_no_values_are_named() {
    let source = format!("<tablebase><dtm bits='3'/>{}{KINGS}</tablebase>", index("simple", 1));
    let control = ControlFile::parse(&source, "test", Strictness::Header).unwrap();
    let edits = HeaderEdits { symmetry: 1, ..HeaderEdits::default() };
    let mut bytes = render_header(&control, &edits).unwrap().bytes;
    let start = bytes.len();
    bytes.resize(start + 3072, 0);
    bytes[start + 1] = 1 << 4;
    let source = GzipSource::new(Box::new(bytes), SourceOptions::default()).unwrap();
    let table = Table::from_source(Path::new("bad.htb"), source).unwrap();
    let target = tempfile::tempdir().unwrap().path().join("new.htb");
    let error = convert(&table, &target, &ConvertTarget::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("bad.htb: the entry of 8/8/8/8/8/8/8/K1k5 w - -"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(40) })]

    /// Random small lists of men, all of them on few squares.
    #[test]
    fn random_tables_survive_the_way_there_and_back(
        men in prop::collection::vec((any::<bool>(), 0..5_usize, any::<bool>(), prop::collection::vec(8..56_u32, 1..5)), 0..5),
        from in prop::sample::select(IndexType::ALL.to_vec()),
        into in prop::sample::select(IndexType::ALL.to_vec()),
        symmetries in (prop::sample::select(vec![1_u8, 2]), prop::sample::select(vec![1_u8, 2])),
        kings in prop::collection::vec(0..64_u32, 2..6),
    ) {
        let roles = ["queen", "rook", "bishop", "knight", "pawn"];
        let names = |squares: &[u32], mirrored: bool| {
            let mut text = String::new();
            for &s in squares {
                let _ = write!(text, "{}", Square::new(s));
                if mirrored {
                    let _ = write!(text, "{}", Square::new(s ^ 7));
                }
            }
            text
        };
        let mut source = index(from.name(), symmetries.0);
        source += &man("white", "king", &names(&kings, true));
        source += &man("black", "king", "");
        for (white, role, mirrored, squares) in &men {
            let color = if *white { "white" } else { "black" };
            source += &man(color, roles[*role], &names(squares, *mirrored));
        }
        let table = table_of(&source, None, symmetric_value);
        let few = |index: IndexType| !index.is_naive() || men.len() < 2;
        prop_assume!(table.is_some() && few(from) && few(into));
        let table = table.unwrap();
        let asked = ConvertTarget { restricted_symmetry: true, ..to(into, symmetries.1) };
        match round_trip(&table, &asked) {
            Ok(_) | Err(ConvertError::Index { .. } | ConvertError::Header(_)) => {}
            Err(error) => prop_assert!(false, "{source}: {error}"),
        }
    }
}
