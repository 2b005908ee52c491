//! Rows and indices against positions taken one by one: every index is decoded by itself, and every
//! place of a slice is read by itself.

use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Format, Material, Placement, Role, Square, Symmetry, Value};
use hoffman_control::{ControlFile, Strictness, resolve_pieces};
use hoffman_pages::Pages;
use hoffman_space::{
    Code, Codes, EnPassantValues, KingPlacement, SliceValues, TableValues, king_pairs,
};

use super::squares::usable_rights;
use super::*;
use crate::entries::EntryCodec;
use crate::index::IndexParams;
use crate::stop::Stop;

/// A man and its square.
type Man = (Color, Role, u8);

/// A position: the men, the side to move, and the en passant square if a pawn can take there.
struct Position {
    men: Vec<Man>,
    turn: Color,
    en_passant: Option<Square>,
}

impl Position {
    /// A value that is the same for all images, colours exchanged or not, and in whatever order men
    /// are named.
    fn value(&self) -> Value {
        let pawns = self.men.iter().any(|&(_, role, _)| role == Role::Pawn);
        let images = Symmetry::all().filter(|g| !pawns || !g.flips_ranks() && !g.transposes());
        let hashes = images.flat_map(|g| [self.hash(g, false), self.hash(g, true)]);
        let hash = hashes.min().unwrap().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let moves = (hash >> 40) as u16 % 20;
        match hash >> 20 & 3 {
            0 => Value::Draw,
            1 => Value::Loss(moves),
            _ => Value::Win(moves + 1),
        }
    }

    /// A number for the position on a turned board, perhaps with colours exchanged.
    fn hash(&self, symmetry: Symmetry, swap: bool) -> u64 {
        let mix = |n: u64| n.wrapping_add(1).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31);
        let image = |s: u8| u64::from(symmetry.apply_index(s) ^ if swap { 56 } else { 0 });
        let man = |&(color, role, s): &Man| {
            mix(mix(image(s) << 8 | u64::from(color.is_white() != swap) << 4 | role as u64))
        };
        let men = self.men.iter().map(man).fold(0, u64::wrapping_add);
        let turn = u64::from(self.turn.is_white() != swap);
        mix(men ^ mix(self.en_passant.map_or(255, |square| image(square.into())) << 1 | turn))
    }
}

/// An index space from elements of a control file.
fn space(elements: &str) -> IndexSpace {
    let text = format!("<tablebase><dtm/>{elements}</tablebase>");
    let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
    IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry: control.symmetry().unwrap(),
        variant: control.variant,
        format_is_flag: false,
        pieces: resolve_pieces(&control).unwrap(),
        pawn_structures: None,
    })
    .unwrap()
}

/// Elements of pieces: `R` or `R:a1 b1` for White, lower case for Black.
fn pieces(text: &str) -> String {
    let piece = |word: &str| {
        let (letter, squares) = word.split_once(':').unwrap_or((word, ""));
        let role = Role::from_char(letter.chars().next().unwrap()).unwrap();
        let color = if letter.chars().all(char::is_uppercase) { "white" } else { "black" };
        let name = format!("{role:?}").to_lowercase();
        let squares = squares.replace('+', " ");
        let place =
            if squares.is_empty() { String::new() } else { format!(" location='{squares}'") };
        format!("<piece color='{color}' type='{name}'{place}/>")
    };
    text.split_whitespace().map(piece).collect()
}

/// The values of all slices, place by place.
fn values(space: &IndexSpace) -> TableValues {
    let men = space.pieces().iter().map(|p| (p.color, p.role));
    let material = Material::from_men(men);
    let structures = structures_of(space);
    let values = if has_free_pieces(space) {
        let (material, swap) = material.normalized();
        let to_values = Orientation { swap, mirror: false };
        let normal = structures
            .into_iter()
            .map(|s| s.oriented(to_values).normalized(material.is_symmetric()).0)
            .collect::<BTreeSet<_>>();
        TableValues::new(material, normal)
    } else {
        let form = hoffman_space::NormalForm::None;
        TableValues::with_layout(material, layout_of(space), form, structures)
    };
    for (&structure, slot) in &values.slices {
        fill(&values.layout, structure, slot);
    }
    values
}

fn fill(layout: &Layout, structure: PawnSquares, slot: &OnceLock<Arc<SliceValues>>) {
    let codes = |turn: Color, right: Option<Square>| {
        let code = |offset: usize| {
            u8::from_value(position_at(layout, structure, offset, turn, right).value())
        };
        Codes::Narrow((0..layout.len()).map(code).collect())
    };
    let en_passant = usable_rights(structure)
        .map(|(turn, square)| EnPassantValues {
            square: square.into(),
            codes: codes(turn, Some(square)),
        })
        .collect();
    let slice = SliceValues {
        codes: [codes(Color::White, None), codes(Color::Black, None)],
        en_passant,
        counts: None,
        max_moves: 20,
    };
    slot.set(Arc::new(slice)).unwrap();
}

/// The position of a place, whether it is one or not.
fn position_at(
    layout: &Layout,
    structure: PawnSquares,
    offset: usize,
    turn: Color,
    en_passant: Option<Square>,
) -> Position {
    let movers = layout.movers();
    let square = |m: usize| match layout.kings() {
        KingPlacement::Pairs if m < 2 => {
            let (white, black) = king_pairs().pairs[offset >> (6 * (movers.len() - 2))];
            [white, black][m] as u8
        }
        _ => layout.square(m, offset),
    };
    let mut men: Vec<Man> =
        movers.iter().enumerate().map(|(m, p)| (p.color, p.role, square(m))).collect();
    for color in Color::ALL {
        let pawns = (0..64).filter(|s| structure.of(color) >> s & 1 != 0);
        men.extend(pawns.map(|s| (color, Role::Pawn, s)));
    }
    Position { men, turn, en_passant }
}

/// The position of an index.
fn position_of(space: &IndexSpace, placement: &Placement) -> Position {
    let pieces = space.pieces().iter().zip(&placement.squares);
    let men: Vec<Man> = pieces.map(|(p, &s)| (p.color, p.role, s as u8)).collect();
    let pawns = |color: Color| {
        let own = men.iter().filter(|m| m.0 == color && m.1 == Role::Pawn);
        own.fold(0, |set, m| set | 1 << m.2)
    };
    let structure = PawnSquares { white: pawns(Color::White), black: pawns(Color::Black) };
    let right = placement.en_passant.map(|s| (placement.turn, s));
    let en_passant = right.filter(|right| usable_rights(structure).any(|r| r == *right));
    Position { men, turn: placement.turn, en_passant: en_passant.map(|(_, s)| s) }
}

/// Compares the entries of a table with the values of its positions, index by index, made in memory
/// and in windows; and the values read from the entries, in memory and in windows.
fn check(elements: &str) {
    let space = space(elements);
    let values = values(&space);
    let stop = Stop::default();
    let format = Format::Dtm(None);
    let (distances, counts) = encode(&space, &values, format, &stop).unwrap();
    let Distances::Narrow(numbers) = distances else { panic!("{elements}: values are short") };
    let mut positions = 0;
    for index in 0..space.size() {
        let placement = space.decode(index);
        positions += u64::from(placement.is_some());
        let value = placement.map(|p| position_of(&space, &p).value().to_stored());
        let found = i32::from(numbers[index as usize]);
        assert_eq!(
            found,
            value.unwrap_or(0),
            "{elements}: index {index}, {:?}",
            space.decode(index)
        );
    }
    assert_eq!(counts.legal, positions, "{elements}");
    for by_blocks in [false, true] {
        let stretches = Stretches::new(&space, &values, format, (by_blocks, &stop)).unwrap();
        let (_, counted) = stretches.expect("no two placements share an index");
        assert_eq!(counted, counts, "{elements}");
    }

    let folder = tempfile::tempdir().unwrap();
    let pages = Pages::new(folder.path(), 1 << 18);
    let (stored, in_pages) = encode_in(&space, &values, format, &pages, &stop).unwrap();
    let mut joined: Vec<i16> = Vec::new();
    let join = |part: &[i16]| -> Result<(), ()> {
        joined.extend_from_slice(part);
        Ok(())
    };
    stored.for_each(join).unwrap();
    assert!(joined.iter().zip(&numbers).all(|(&a, &b)| a == i16::from(b)), "{elements}");
    assert_eq!((joined.len(), in_pages), (numbers.len(), counts), "{elements}");
    check_reading(elements, &space, &values, &numbers, &pages);
}

/// Compares the values read from entries, in memory and in windows, with those that were written.
fn check_reading(
    elements: &str,
    space: &IndexSpace,
    values: &TableValues,
    numbers: &[i8],
    pages: &Arc<Pages>,
) {
    let stop = Stop::default();
    let codec = EntryCodec::new(Format::Dtm(Some(7)), 7, space.variant()).unwrap();
    let mut area = Vec::new();
    codec.pack(numbers, &mut area).unwrap();
    let wanted = Wanted::all();
    let memory = decode(space, codec, &area, &wanted, Taking::Exactly, &stop).unwrap();
    let mut read = |first: u64, len: u64, out: &mut Vec<u8>| {
        let start = (first / 8 * 7) as usize;
        out.clear();
        out.extend_from_slice(&area[start..start + codec.area_bytes(len) as usize]);
        Ok::<(), ()>(())
    };
    let both = (pages, &stop);
    let paged = has_free_pieces(space) || space.has_side_bit();
    let paged = paged.then(|| {
        decode_in(space, codec, &wanted, Taking::Exactly, both, &mut read)
            .unwrap_or_else(|_| panic!("{elements}: values are read in windows"))
    });
    for (structure, slot) in &memory.slices {
        let slice = slot.get().unwrap();
        let written = values.slices[structure].get().unwrap();
        compare(elements, slice, written);
        if let Some(paged) = &paged {
            let paged = paged.slices[structure].get().unwrap();
            for side in [0, 1] {
                let same = |at: usize| paged.codes[side].value(at) == slice.codes[side].value(at);
                assert!((0..slice.codes[side].len()).all(same), "{elements}: {structure:?}");
            }
        }
    }
}

/// Values that were read are those that were written, or there is no position.
fn compare(elements: &str, read: &SliceValues, written: &SliceValues) {
    let rights = read.en_passant.iter().zip(&written.en_passant);
    let rights = rights.map(|(a, b)| (&a.codes, &b.codes));
    for (read, written) in read.codes.iter().zip(&written.codes).chain(rights) {
        assert_eq!(read.len(), written.len(), "{elements}");
        let mut there = 0;
        for at in 0..read.len() {
            if read.value(at) != Value::Illegal {
                assert_eq!(read.value(at), written.value(at), "{elements}: place {at}");
                there += 1;
            }
        }
        assert!(there > 0, "{elements}: nothing was read");
    }
}

#[test]
fn free_pieces_have_the_values_of_their_indices() {
    for (index, symmetry, men) in [
        ("combinadic4", 8, "K k R"),
        ("combinadic4", 4, "K k R"),
        ("combinadic5", 2, "k K q"),
        ("combinadic4", 8, "K k R r"),
        ("combinadic5", 8, "K k N N"),
        ("compact", 8, "K k B"),
        ("simple", 1, "K k R"),
        ("naive", 4, "K k Q"),
        ("combinadic4", 8, "K k"),
    ] {
        let elements = format!("<index type='{index}' symmetry='{symmetry}'/>{}", pieces(men));
        check(&elements);
    }
}

#[test]
fn pawns_and_their_rights_have_the_values_of_their_indices() {
    for (index, symmetry, men) in [
        ("combinadic4", 2, "K k P:d2+d4+e2+e4 p:d4+e4+d5+e5"),
        ("combinadic5", 1, "K k P:b4+b5 p:a4+c4"),
        ("combinadic5", 2, "K k N P:d2+e2 p:d4+e4"),
        ("simple", 1, "K k P:g4 p:h4"),
    ] {
        let elements = format!("<index type='{index}' symmetry='{symmetry}'/>{}", pieces(men));
        check(&elements);
    }
}

#[test]
fn restricted_pieces_have_the_values_of_their_indices() {
    for (index, men) in [
        // Kings with few squares, a piece that is frozen.
        ("combinadic5", "K:a1+b1+c1 k R:h8"),
        ("simple", "K:a1+b1+c1 k:a3+b3+h8 R"),
        // Squares that overlap, among two and among three like pieces.
        ("combinadic5", "K:a1+b1 k:g8+h8 R:c3+c4+d4 R:c4+d4+e5"),
        ("combinadic5", "K:a1+b1 k:g8+h8 R:c3+c4 R:c4+d4 R:d4+e5"),
        // One has some of the other's squares: twins.
        ("combinadic5", "K:a1+b1 k:g8+h8 R:c3+c4+c5 R"),
        // Like pieces with the same squares.
        ("combinadic5", "K:a1+b1 k:g8+h8 N:c3+c4+d4 N:c3+c4+d4"),
    ] {
        let elements = format!("<index type='{index}' symmetry='1'/>{}", pieces(men));
        check(&elements);
    }
}

#[test]
fn a_run_is_cut_to_the_indices_of_a_window() {
    let image = std::array::from_fn(|s| s);
    let run =
        walk::Run { index: 100, step: 3, row: 0, image: &image, lanes: 0b1011_0110, in_row: true };
    // The indices are 100, 103, 106, 109, 112 for the squares 1, 2, 4, 5, 7.
    for (indices, cut) in [
        (0..1000, Some((100, 0b1011_0110))),
        (100..113, Some((100, 0b1011_0110))),
        (101..113, Some((103, 0b1011_0100))),
        (104..110, Some((106, 0b0011_0000))),
        (107..109, Some((109, 0))),
        (113..200, None),
        (0..100, None),
    ] {
        let found = run.within(&indices).map(|run| (run.index, run.lanes));
        assert_eq!(found, cut, "{indices:?}");
    }
    let still = walk::Run { step: 0, lanes: 0b10, ..run };
    assert_eq!(still.within(&(100..101)).map(|run| run.lanes), Some(0b10));
    assert!(still.within(&(0..100)).is_none() && still.within(&(101..200)).is_none());
}
