//! Reads the golden tables of the original program and checks every probed row: index, whether it
//! decodes, and value.
//!
//! The tables lie outside the repository, at `$HOFFMAN_SHARED/spec/golden` (default: `shared`
//! beside the checkout). The header reader is as small as these files allow; it stands in for the
//! real one.

use std::fs;
use std::path::Path;

use hoffman_board::pieces::default_squares;
use hoffman_board::value::FlagType;
use hoffman_board::{
    Bitboard, Color, Format, ListedPiece, PieceList, Placement, Role, Square, Variant,
};
use hoffman_table::htb::{GzipSource, SourceOptions};
use hoffman_table::{
    EntryCodec, IndexParams, IndexSpace, IndexType, PawnStructure, PawnStructures,
};

use crate::golden;

struct Table {
    source: GzipSource,
    space: IndexSpace,
    codec: EntryCodec,
    offset: u64,
}

/// `strtol` with base 0.
fn number(text: Option<&str>) -> u64 {
    let text = text.unwrap_or("").trim();
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None if text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).unwrap_or(0)
}

fn squares(location: &str) -> Vec<Square> {
    let text: Vec<char> = location.chars().collect();
    text.windows(2).filter_map(|w| w.iter().collect::<String>().parse().ok()).collect()
}

fn role(name: &str) -> Role {
    match name.to_lowercase().as_str() {
        "king" => Role::King,
        "queen" => Role::Queen,
        "rook" => Role::Rook,
        "bishop" => Role::Bishop,
        "knight" => Role::Knight,
        _ => Role::Pawn,
    }
}

fn color(name: &str) -> Color {
    if name.eq_ignore_ascii_case("white") { Color::White } else { Color::Black }
}

/// The piece list, the slots of a pawngen element and the start squares of plus pawns.
fn listed(doc: &roxmltree::Document<'_>) -> (PieceList, Option<std::ops::Range<usize>>) {
    let mut list = PieceList::new();
    let mut starts = Vec::new();
    let mut slots = None;
    for e in doc.descendants() {
        match e.tag_name().name() {
            "piece" => {
                let role = role(e.attribute("type").unwrap());
                let location = e.attribute("location").unwrap_or("");
                let mut piece =
                    ListedPiece::unrestricted(color(e.attribute("color").unwrap()), role);
                piece.plus = role == Role::Pawn && location.as_bytes().get(2) == Some(&b'+');
                if !location.trim().is_empty() {
                    piece.legal = squares(location).into_iter().collect();
                }
                starts.push(squares(location).first().copied());
                list.push(piece);
            }
            "pawngen" => {
                let first = list.len();
                for side in ["white", "black"] {
                    let legal = number(e.attribute(format!("legal-{side}-squares").as_str()));
                    for _ in 0..number(e.attribute(format!("{side}-pawns-required").as_str())) {
                        let mut piece = ListedPiece::unrestricted(color(side), Role::Pawn);
                        piece.legal = Bitboard(legal);
                        starts.push(None);
                        list.push(piece);
                    }
                }
                slots = Some(first..list.len());
            }
            _ => {}
        }
    }
    plus_pawns(&mut list, &starts);
    group(&mut list);
    (list, slots)
}

/// Blockers and advance of plus pawns, literally as section 6.2 says.
fn plus_pawns(list: &mut PieceList, starts: &[Option<Square>]) {
    let walk = |color: Color, start: Square| {
        let step = color.fold_wb(8, -8);
        std::iter::successors(start.offset(step), move |s| s.offset(step))
            .take_while(|&s| (8..56).contains(&(s as u8)))
    };
    for i in 0..list.len() {
        let (true, Some(start)) = (list[i].plus, starts[i]) else { continue };
        let mut rest = !Bitboard::from(start);
        for t in walk(list[i].color, start) {
            let found = (0..list.len()).rfind(|&q| list[q].legal & rest == Bitboard::from(t));
            if found.is_some() {
                list[i].blocker = found;
                break;
            }
            rest.discard(t);
        }
    }
    for _ in 0..list.len() {
        for i in 0..list.len() {
            let (true, Some(start)) = (list[i].plus, starts[i]) else { continue };
            let step = list[i].color.fold_wb(8, -8);
            for t in walk(list[i].color, start) {
                let ends = |legal: Bitboard| {
                    legal.contains(t) && t.offset(step).is_none_or(|next| !legal.contains(next))
                };
                if list[i].blocker.is_some_and(|q| ends(list[q].legal)) {
                    break;
                }
                list[i].legal.add(t);
            }
        }
    }
}

/// Groups of interchangeable men and frozen squares, literally as sections 6.2 and 6.3 say.
fn group(list: &mut PieceList) {
    for p in 0..list.len() {
        list[p].semilegal = list[p].legal;
        for q in 0..p {
            let same = (list[p].color, list[p].role) == (list[q].color, list[q].role);
            if same && !(list[p].semilegal & list[q].semilegal).is_empty() {
                list[p].prev = Some(q);
                let union = list[p].semilegal | list[q].semilegal;
                (list[p].semilegal, list[q].semilegal) = (union, union);
            }
        }
        if let Some(q) = list[p].prev {
            list[q].next = Some(p);
        }
    }
    let frozen: Bitboard = list
        .iter()
        .filter(|p| p.semilegal.count() == 1)
        .fold(Bitboard::EMPTY, |f, p| f | p.semilegal);
    for p in list.iter_mut() {
        if !(p.semilegal & !frozen).is_empty() {
            p.legal &= !frozen;
            p.semilegal &= !frozen;
        }
    }
}

fn symmetry(doc: &roxmltree::Document<'_>, kind: IndexType, list: &PieceList, v: Variant) -> u8 {
    let root = doc.root_element();
    let index = doc.descendants().find(|n| n.has_tag_name("index")).unwrap_or(root);
    let given = number(index.attribute("symmetry")) as u8;
    if given != 0 {
        return given;
    }
    let mut symmetry = if matches!(kind, IndexType::Naive | IndexType::Naive2) { 4 } else { 8 };
    for p in list {
        if p.role == Role::Pawn {
            symmetry = 2;
        }
        if p.legal != default_squares(p.role) {
            symmetry = 1;
        }
    }
    if v == Variant::Suicide { 1 } else { symmetry }
}

fn format(doc: &roxmltree::Document<'_>) -> (Format, u8) {
    let root = doc.root_element();
    if root.attribute("format") == Some("one-byte-dtm") {
        return (Format::Dtm(None), 8);
    }
    let holder = doc.descendants().find(|n| n.has_tag_name("format")).unwrap_or(root);
    for child in holder.children() {
        let bits = number(child.attribute("bits")) as u8;
        match child.tag_name().name() {
            "dtm" => return (Format::Dtm(None), bits),
            "dtc" => return (Format::Dtc(None), bits),
            "basic" => return (Format::Basic, 2),
            "flag" if child.attribute("type") == Some("white-wins") => {
                return (Format::Flag(FlagType::WhiteWins), 1);
            }
            "flag" => return (Format::Flag(FlagType::WhiteDraws), 1),
            _ => {}
        }
    }
    panic!("no format");
}

fn open(path: &Path) -> Table {
    let source = GzipSource::open(path, SourceOptions::default()).unwrap();
    let mut head = vec![0; 1 << 20];
    let len = source.read_up_to(0, &mut head).unwrap();
    let tag = b"</tablebase>";
    let end = head[..len].windows(tag.len()).position(|w| w == tag).unwrap() + tag.len();
    let text = std::str::from_utf8(&head[..end]).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let doc = roxmltree::Document::parse_with_options(text, options).unwrap();
    let root = doc.root_element();
    let suicide = doc
        .descendants()
        .any(|n| n.has_tag_name("variant") && n.attribute("name") == Some("suicide"));
    let variant = if suicide { Variant::Suicide } else { Variant::Normal };
    let declared = doc.descendants().find(|n| n.has_tag_name("index"));
    let name = root.attribute("index").or(declared.and_then(|n| n.attribute("type")));
    let index_type = IndexType::from_name(name.unwrap_or("combinadic5")).unwrap();
    let (pieces, slots) = listed(&doc);
    let (format, bits) = format(&doc);
    let mut offset = number(root.attribute("offset"));
    let pawn_structures = slots.map(|slots| {
        let element = doc.descendants().find(|n| n.has_tag_name("pawngen")).unwrap();
        let at = number(element.attribute("offset"));
        let mut bytes = vec![0; (offset - at) as usize];
        source.read_at(at, &mut bytes).unwrap();
        let list = bytes.as_chunks().0.iter().map(|b| PawnStructure::from_bytes(b).unwrap());
        PawnStructures {
            slots,
            list: list.collect(),
            start: number(element.attribute("start")) as usize,
            count: number(element.attribute("count")) as usize,
        }
    });
    let params = IndexParams {
        index_type,
        symmetry: symmetry(&doc, index_type, &pieces, variant),
        variant,
        format_is_flag: matches!(format, Format::Flag(_)),
        pieces,
        pawn_structures,
    };
    let space = IndexSpace::new(params).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let codec = EntryCodec::new(format, bits, variant).unwrap();
    let length = source.uncompressed_len().unwrap();
    let area = codec.area_bytes(space.size());
    if !path.to_str().unwrap().contains("non-ascii") {
        assert_eq!(length, offset + area, "{}", path.display());
    }
    offset = length - area;
    Table { source, space, codec, offset }
}

impl Table {
    fn value(&self, index: u64) -> i32 {
        let (start, len) = self.codec.byte_range(index);
        let mut bytes = [0; 5];
        self.source.read_at(self.offset + start, &mut bytes[..len]).unwrap();
        self.codec.get_within(&bytes[..len], index).unwrap().0
    }

    fn entries(&self) -> Vec<i32> {
        let mut all = vec![0; self.space.size() as usize];
        let mut packed = vec![0; self.codec.area_bytes(self.space.size()) as usize];
        self.source.read_parallel(self.offset, &mut packed).unwrap();
        self.codec.unpack(&packed, &mut all).unwrap();
        all
    }

    /// The placement of a FEN, colours exchanged if `inverted`.
    fn parse(&self, fen: &str, inverted: bool) -> Option<Placement> {
        let fields: Vec<&str> = fen.split_whitespace().collect();
        let image = |s: Square| if inverted { s.flip_vertical() } else { s };
        let side = |c: Color| if inverted { c.other() } else { c };
        let mut men = Vec::new();
        for (row, rank) in fields[0].split('/').enumerate() {
            let mut file = 0;
            for ch in rank.chars() {
                if let Some(n) = ch.to_digit(10) {
                    file += n;
                } else {
                    let color = if ch.is_uppercase() { Color::White } else { Color::Black };
                    let square = Square::new((7 - row as u32) * 8 + file);
                    men.push((image(square), side(color), Role::from_char(ch).unwrap()));
                    file += 1;
                }
            }
        }
        let turn = if fields[1] == "w" { Color::White } else { Color::Black };
        let en_passant = fields[2..].iter().find_map(|f| f.parse().ok()).map(image);
        self.space.place(men, side(turn), en_passant)
    }

    fn fen(&self, p: &Placement) -> String {
        let mut board = hoffman_board::shakmaty::Board::empty();
        for (&square, man) in p.squares.iter().zip(self.space.pieces()) {
            let (color, role) = (man.color, man.role);
            board.set_piece_at(square, hoffman_board::Piece { color, role });
        }
        let turn = p.turn.fold_wb('w', 'b');
        let en_passant = p.en_passant.map_or("-".to_owned(), |s| s.to_string());
        format!("{} {turn} - {en_passant}", board.board_fen())
    }
}

#[test]
fn all_golden_rows_are_reproduced() {
    let Some(golden) = golden() else { return };
    let (mut tables, mut rows) = (0, 0);
    let mut wrong = Vec::new();
    let folders = fs::read_dir(&golden).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    for path in folders.flat_map(|d| fs::read_dir(d).unwrap().map(|e| e.unwrap().path())) {
        if path.extension().is_none_or(|e| e != "csv") {
            continue;
        }
        let table = open(&path.with_extension("htb"));
        tables += 1;
        for line in fs::read_to_string(&path).unwrap().lines().skip(1) {
            rows += 1;
            let field: Vec<&str> = line.split(',').collect();
            let (query, fen, index, value) = (field[0], field[1], field[2], field[3]);
            let decodes = *field.last().unwrap() == "yes";
            let ok = if query == "index" {
                let index = index.parse().unwrap();
                match table.space.decode(index) {
                    None => fen == "ILLEGAL",
                    Some(p) => {
                        table.fen(&p) == fen && table.value(index) == value.parse::<i32>().unwrap()
                    }
                }
            } else {
                let encode = |inverted| table.space.encode(&table.parse(fen, inverted)?);
                match encode(false).or_else(|| encode(true)) {
                    None => index == "none",
                    Some(i) => {
                        index == i.to_string()
                            && table.value(i) == value.parse::<i32>().unwrap()
                            && table.space.decode(i).is_some() == decodes
                    }
                }
            };
            if !ok {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    println!("{rows} rows of {tables} tables, {} wrong", wrong.len());
    assert!(rows > 0, "no golden rows in {}", golden.display());
    assert!(
        wrong.is_empty(),
        "{} rows differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// Every index that decodes encodes to itself, in every golden table (but for naive2, D9).
#[test]
fn golden_indices_round_trip() {
    let Some(golden) = golden() else { return };
    let (mut indices, mut decoding) = (0_u64, 0_u64);
    let mut unwritable = Vec::new();
    let manifest = fs::read_to_string(golden.join("manifest.csv")).unwrap();
    for line in manifest.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let table = open(&golden.join(field[0]));
        assert_eq!(table.space.size().to_string(), field[6], "{}", field[0]);
        assert_eq!(table.space.has_side_bit(), field[3] == "1", "{}", field[0]);
        if let Err(error) = table.space.check_writable() {
            println!("{}: {error}", field[0]);
            unwritable.push(field[0].to_owned());
        }
        let entries = table.entries();
        let step = (table.space.size() / 200_000).max(1) as usize;
        let mut here = 0;
        for index in (0..table.space.size()).step_by(step) {
            indices += 1;
            if let Some(p) = table.space.decode(index) {
                here += 1;
                assert_eq!(table.space.encode(&p), Some(index), "{}: {p:?}", field[0]);
            }
            if index % 97 == 0 {
                assert_eq!(table.value(index), entries[index as usize], "{} {index}", field[0]);
            }
        }
        decoding += here;
        if step == 1 && !field[7].is_empty() {
            assert_eq!(here.to_string(), field[7], "{}: indices that decode", field[0]);
        }
    }
    println!("{indices} indices, {decoding} of them decode");
}
