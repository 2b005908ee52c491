//! Arbitrary piece lists: every index that decodes is that of its placement, and every placement
//! with an index decodes to one with the same index.

#![no_main]

use std::fmt::Write as _;

use arbitrary::Arbitrary;
use hoffman_board::{
    Bitboard, Color, MAX_PIECES, PAWN_SQUARES, PieceList, Placement, Role, Square, Variant,
};
use hoffman_control::{
    ControlFile, PawnMasks, Strictness, automatic_symmetry, check_pieces, resolve_pieces_with,
};
use hoffman_table::{IndexParams, IndexSpace, IndexType, PawnStructure, PawnStructures};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    index_type: u8,
    symmetry: u8,
    suicide: bool,
    flag: bool,
    white_king: (u8, Where),
    black_king: (u8, Where),
    men: Vec<Man>,
    structures: Option<Structures>,
    indices: Vec<u64>,
    placements: Vec<[u8; MAX_PIECES + 2]>,
}

/// A man that is no king, unless the rules are those of suicide chess.
#[derive(Arbitrary, Debug)]
struct Man {
    kind: u8,
    squares: Where,
}

#[derive(Arbitrary, Debug)]
enum Where {
    Anywhere,
    Set(u64),
    One(u8),
    Plus(u8),
}

/// Pawn structures: so many pawns a side, and their squares.
#[derive(Arbitrary, Debug)]
struct Structures {
    white: u8,
    black: u8,
    position: u8,
    start: u8,
    count: u8,
    list: Vec<[u8; 5]>,
}

fuzz_target!(|input: Input| {
    let structures = input.structures.as_ref().map(list_structures);
    let text = control_text(&input, structures.as_deref());
    let control = ControlFile::parse(&text, "fuzz", Strictness::Header).expect("the text is valid");
    let masks = structures.as_deref().map(|list| PawnMasks {
        white: list.iter().fold(Bitboard::EMPTY, |all, s| all | s.white),
        black: list.iter().fold(Bitboard::EMPTY, |all, s| all | s.black),
    });
    let Ok(pieces) = resolve_pieces_with(&control, masks) else { return };
    let _ = check_pieces(&control, &pieces);
    let Some(space) = index_space(&input, &control, pieces, structures) else { return };
    let writable = space.check_writable().is_ok();
    for index in input.indices.iter().copied().chain(0..4) {
        let index = if space.size() > 0 { index % space.size() } else { index };
        check_index(&space, index, writable);
    }
    for squares in &input.placements {
        check_placement(&space, squares, writable);
    }
});

fn check_index(space: &IndexSpace, index: u64, writable: bool) {
    assert_eq!(space.decode(space.size()), None);
    let Some(placement) = space.decode(index) else { return };
    let _ = (space.multiplicity(&placement), space.canonical_symmetry(&placement));
    let back = space.encode(&placement);
    assert!(back == Some(index) || !writable, "{index} is {placement:?} is {back:?}");
    let men = space.pieces().iter().zip(&placement.squares).map(|(p, &s)| (s, p.color, p.role));
    let dealt = space.place(men, placement.turn, placement.en_passant);
    let back = dealt.as_ref().and_then(|dealt| space.encode(dealt));
    assert!(back == Some(index) || !writable, "{index} deals {placement:?} as {dealt:?}: {back:?}");
}

fn check_placement(space: &IndexSpace, bytes: &[u8; MAX_PIECES + 2], writable: bool) {
    let square = |b: &u8| Square::new(u32::from(b % 64));
    let [squares @ .., turn, en_passant] = bytes;
    let placement = Placement {
        squares: squares.iter().take(space.pieces().len()).map(square).collect(),
        turn: if turn & 1 == 0 { Color::White } else { Color::Black },
        en_passant: (*en_passant >= 64).then(|| square(en_passant)),
    };
    let Some(index) = space.encode(&placement) else { return };
    assert!(index < space.size());
    let decoded = space.decode(index);
    let back = decoded.as_ref().and_then(|decoded| space.encode(decoded));
    assert!(back == Some(index) || !writable, "{placement:?} is {index} is {decoded:?}: {back:?}");
}

fn index_space(
    input: &Input,
    control: &ControlFile,
    pieces: PieceList,
    structures: Option<Vec<PawnStructure>>,
) -> Option<IndexSpace> {
    let pawn_structures = control.pawngen.as_ref().zip(structures).map(|(pawngen, list)| {
        let pawns = |color| pawngen.side(color).pawns_required.unwrap_or(0) as usize;
        let last = pawngen.position + pawns(Color::White) + pawns(Color::Black);
        PawnStructures {
            slots: pawngen.position..last,
            list,
            start: pawngen.start as usize,
            count: pawngen.count as usize,
        }
    });
    let symmetry = control.symmetry().unwrap_or_else(|| automatic_symmetry(control, &pieces));
    IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry,
        variant: control.variant,
        format_is_flag: input.flag,
        pieces,
        pawn_structures,
    })
    .ok()
}

/// The control file of the piece list: the links between like men are made by its reader.
fn control_text(input: &Input, structures: Option<&[PawnStructure]>) -> String {
    let index = IndexType::ALL[usize::from(input.index_type) % IndexType::ALL.len()].name();
    let symmetry = ["", "", "1", "2", "4", "8"][usize::from(input.symmetry % 6)];
    let mut text = "<tablebase>".to_owned();
    let variant = if input.suicide { Variant::Suicide } else { Variant::Normal };
    if variant == Variant::Suicide {
        text.push_str("<variant name='suicide'/>");
    }
    let symmetry =
        if symmetry.is_empty() { String::new() } else { format!(" symmetry='{symmetry}'") };
    let _ = write!(text, "<index type='{index}'{symmetry}/>");
    let mut pieces: Vec<String> =
        input.men.iter().take(MAX_PIECES + 1).map(|m| man(m, variant)).collect();
    if variant == Variant::Normal {
        for (color, (at, squares)) in
            [(Color::White, &input.white_king), (Color::Black, &input.black_king)]
        {
            let at = usize::from(*at) % (pieces.len() + 1);
            pieces.insert(at, piece(color, Role::King, squares));
        }
    }
    if let Some((shape, list)) = input.structures.as_ref().zip(structures) {
        let at = usize::from(shape.position) % (pieces.len() + 1);
        pieces.insert(at, pawngen(shape, list));
    }
    text.push_str(&pieces.concat());
    text.push_str("</tablebase>");
    text
}

fn man(man: &Man, variant: Variant) -> String {
    let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn, Role::King];
    let kinds = if variant == Variant::Suicide { 6 } else { 5 };
    let color = if man.kind & 1 == 0 { Color::White } else { Color::Black };
    piece(color, roles[usize::from(man.kind >> 1) % kinds], &man.squares)
}

fn piece(color: Color, role: Role, squares: &Where) -> String {
    let allowed = hoffman_board::pieces::default_squares(role);
    let (set, plus) = match squares {
        Where::Anywhere => (allowed, ""),
        Where::Set(set) => (Bitboard(*set), ""),
        Where::One(s) => (Bitboard::from(Square::new(u32::from(s % 64))), ""),
        Where::Plus(s) => (Bitboard::from(Square::new(u32::from(s % 64))), "+"),
    };
    let plus = if role == Role::Pawn { plus } else { "" };
    let set = set & allowed;
    let role = format!("{role:?}").to_lowercase();
    if set.is_empty() || set == allowed {
        return format!("<piece color='{color}' type='{role}'/>");
    }
    let names: String = set.into_iter().map(|s| s.to_string()).collect();
    format!("<piece color='{color}' type='{role}' location='{names}{plus}'/>")
}

/// The pawns of each side as in the first structure; others are left out.
fn list_structures(shape: &Structures) -> Vec<PawnStructure> {
    let pawns = |shape: &Structures| (usize::from(shape.white % 3), usize::from(shape.black % 3));
    let (white, black) = pawns(shape);
    let structure = |bytes: &[u8; 5]| {
        let mut squares =
            bytes.iter().take(white + black).map(|b| Square::new(8 + u32::from(b % 48)));
        let whites: Bitboard = squares.by_ref().take(white).collect();
        let blacks: Bitboard = squares.collect();
        let en_passant = bytes[4].checked_sub(192).map(|b| {
            let rank = if b & 8 == 0 { 16 } else { 40 };
            Square::new(rank + u32::from(b & 7))
        });
        let found = PawnStructure { white: whites, black: blacks, en_passant };
        let fits = whites.count() == white
            && blacks.count() == black
            && (whites & blacks).is_empty()
            && (found.white | found.black | PAWN_SQUARES) == PAWN_SQUARES;
        // Only what a file can say: the en passant square must belong to a step.
        fits.then(|| PawnStructure::from_bytes(&found.to_bytes())).flatten()
    };
    shape.list.iter().filter_map(structure).collect()
}

fn pawngen(shape: &Structures, list: &[PawnStructure]) -> String {
    let (white, black) = (shape.white % 3, shape.black % 3);
    let start = usize::from(shape.start) % (list.len() + 2);
    let count = usize::from(shape.count) % (list.len() + 2);
    format!(
        "<pawngen white-pawn-locations='' black-pawn-locations='' white-pawns-required='{white}' \
         black-pawns-required='{black}' start='{start}' count='{count}'/>"
    )
}
