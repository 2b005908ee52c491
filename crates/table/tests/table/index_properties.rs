//! Random piece lists as control files describe them: restricted, frozen and plus pawns, like men
//! whose squares overlap, up to sixteen men. Which positions exist is found here from the squares
//! of the men alone; each of them must have an index, or the table must not be writable.

use std::collections::BTreeSet;

use hoffman_board::pieces::default_squares;
use hoffman_board::{
    Bitboard, Color, MAX_PIECES, PieceList, Placement, Role, Square, Symmetry, Variant,
};
use hoffman_control::{ControlFile, Strictness, resolve_pieces};
use hoffman_table::{IndexParams, IndexSpace, IndexType};
use proptest::prelude::*;

/// Where a man may stand.
#[derive(Clone, Debug)]
enum Where {
    Anywhere,
    Set(u64),
    /// A set and its mirror image.
    Mirrored(u64),
    Frozen(u8),
    Plus(u8),
}

#[derive(Clone, Debug)]
struct Man {
    color: Color,
    role: Role,
    squares: Where,
    /// How many such men there are.
    count: usize,
}

/// Sets of few squares, so that they overlap in part only.
fn few() -> impl Strategy<Value = u64> {
    prop::collection::vec(0..64_u32, 1..6)
        .prop_map(|squares| squares.iter().fold(0, |set, s| set | 1 << s))
}

fn squares() -> impl Strategy<Value = Where> {
    prop_oneof![
        2 => Just(Where::Anywhere),
        3 => few().prop_map(Where::Set),
        1 => any::<u64>().prop_map(Where::Set),
        2 => few().prop_map(Where::Mirrored),
        3 => (0..64_u8).prop_map(Where::Frozen),
        3 => (8..56_u8).prop_map(Where::Plus),
    ]
}

fn man() -> impl Strategy<Value = Man> {
    let roles = vec![Role::Pawn, Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    let color = any::<bool>().prop_map(Color::from_white);
    (
        color,
        prop::sample::select(roles),
        squares(),
        prop_oneof![3 => Just(1), 1 => Just(2), 1 => Just(3)],
    )
        .prop_map(|(color, role, squares, count)| Man { color, role, squares, count })
}

fn king() -> impl Strategy<Value = Where> {
    prop_oneof![
        2 => Just(Where::Anywhere),
        2 => few().prop_map(Where::Mirrored),
        1 => any::<u64>().prop_map(Where::Set),
        1 => (0..64_u8).prop_map(Where::Frozen),
    ]
}

fn element(color: Color, role: Role, squares: &Where) -> String {
    let allowed = default_squares(role);
    let (set, plus) = match *squares {
        Where::Anywhere => (allowed, ""),
        Where::Set(set) => (Bitboard(set), ""),
        Where::Mirrored(set) => (Bitboard(set | Symmetry::H.apply_set(set)), ""),
        Where::Frozen(s) => (Bitboard(1 << s), ""),
        Where::Plus(s) if role == Role::Pawn => (Bitboard(1 << s), "+"),
        Where::Plus(s) => (Bitboard(1 << s | 1 << (s ^ 7)), ""),
    };
    let name = format!("{role:?}").to_lowercase();
    let set = set & allowed;
    if set.is_empty() || set == allowed {
        return format!("<piece color='{color}' type='{name}'/>");
    }
    let squares: String = set.into_iter().map(|s| s.to_string()).collect();
    format!("<piece color='{color}' type='{name}' location='{squares}{plus}'/>")
}

/// Pawns crowded on two files: plus pawns, pawns on a few squares of a file, like ones among them.
fn crowd() -> impl Strategy<Value = Vec<String>> {
    let pawn =
        (any::<bool>(), 1..3_u8, 0..64_u8, 0..4_u8).prop_map(|(white, file, ranks, sort)| {
            let color = Color::from_white(white);
            let ranks: Vec<u8> = (1..7).filter(|rank| ranks >> (rank - 1) & 1 != 0).collect();
            let squares =
                |ranks: &[u8]| ranks.iter().fold(0, |set, rank| set | 1 << (rank * 8 + file));
            match (sort, ranks.as_slice()) {
                (_, []) => element(color, Role::Pawn, &Where::Set(0xff << 16)),
                (0 | 1, &[rank, ..]) => element(color, Role::Pawn, &Where::Plus(rank * 8 + file)),
                (2, &[rank, ref more @ ..]) => {
                    let first = Square::new(u32::from(rank * 8 + file));
                    let more: String =
                        Bitboard(squares(more)).into_iter().map(|s| s.to_string()).collect();
                    format!("<piece color='{color}' type='pawn' location='{first}+{more}'/>")
                }
                _ => element(color, Role::Pawn, &Where::Set(squares(&ranks))),
            }
        });
    prop::collection::vec(pawn, 1..5)
}

#[derive(Clone, Debug)]
struct List {
    index_type: IndexType,
    symmetry: u8,
    suicide: bool,
    flag: bool,
    elements: Vec<String>,
}

fn lists(men: std::ops::Range<usize>) -> impl Strategy<Value = List> {
    let index_type = prop::sample::select(IndexType::ALL.to_vec());
    let symmetry = prop_oneof![3 => Just(1_u8), 3 => Just(2), 1 => Just(4), 1 => Just(8)];
    let kings = ((king(), any::<usize>()), (king(), any::<usize>()));
    (index_type, symmetry, prop::bool::weighted(0.1), any::<bool>(), kings).prop_flat_map(
        move |(index_type, symmetry, suicide, flag, kings)| {
            prop::collection::vec(man(), men.clone()).prop_map(move |men| {
                let mut elements: Vec<String> = Vec::new();
                for man in &men {
                    let element = element(man.color, man.role, &man.squares);
                    let count = if element.contains('+') { 1 } else { man.count };
                    // Like men with other squares in front of or behind them: groups that overlap.
                    elements.extend(std::iter::repeat_n(element, count));
                }
                elements.truncate(MAX_PIECES - 2);
                let ((white, at_white), (black, at_black)) = &kings;
                let at = at_white % (elements.len() + 1);
                elements.insert(at, element(Color::White, Role::King, white));
                let at = at_black % (elements.len() + 1);
                elements.insert(at, element(Color::Black, Role::King, black));
                List { index_type, symmetry, suicide, flag, elements }
            })
        },
    )
}

/// Lists of frozen kings and pawns that get into each other's way.
fn crowded() -> impl Strategy<Value = List> {
    let index_type = prop::sample::select(IndexType::ALL.to_vec());
    (index_type, any::<bool>(), crowd(), any::<usize>(), any::<usize>()).prop_map(
        |(index_type, flag, mut elements, at_white, at_black)| {
            let at = at_white % (elements.len() + 1);
            elements.insert(at, element(Color::White, Role::King, &Where::Frozen(7)));
            let at = at_black % (elements.len() + 1);
            elements.insert(at, element(Color::Black, Role::King, &Where::Frozen(63)));
            List { index_type, symmetry: 1, suicide: false, flag, elements }
        },
    )
}

impl List {
    /// The index space; none if a table cannot have it or must not be written.
    fn space(&self) -> Option<IndexSpace> {
        let (name, symmetry) = (self.index_type.name(), self.symmetry);
        let variant = if self.suicide { "<variant name='suicide'/>" } else { "" };
        let text = format!(
            "<tablebase>{variant}<index type='{name}' symmetry='{symmetry}'/>{}</tablebase>",
            self.elements.concat()
        );
        let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
        let pieces = resolve_pieces(&control).ok()?;
        let space = IndexSpace::new(IndexParams {
            index_type: self.index_type,
            symmetry,
            variant: control.variant,
            format_is_flag: self.flag,
            pieces,
            pawn_structures: None,
        });
        space.ok().filter(|space| space.check_writable().is_ok())
    }

    fn variant(&self) -> Variant {
        if self.suicide { Variant::Suicide } else { Variant::Normal }
    }
}

/// The en passant squares that go with squares of the men: none, and those of every pawn that may
/// just have stepped.
fn en_passant_squares(pieces: &PieceList, squares: &[Square], turn: Color) -> Vec<Option<Square>> {
    let occupied: Bitboard = squares.iter().copied().collect();
    let mover = turn.other();
    let (from, jumped, to) = mover.fold_wb((8, 16, 24), (48, 40, 32));
    let mut all = vec![None];
    for (piece, &square) in pieces.iter().zip(squares) {
        let (s, file) = (square as u32, square as u32 & 7);
        let stepped = piece.role == Role::Pawn && piece.color == mover && s == to + file;
        let way = [Square::new(from + file), Square::new(jumped + file)];
        if stepped && !way.iter().any(|&s| occupied.contains(s)) {
            all.push(Some(way[1]));
        }
    }
    all
}

/// Whether men may stand on these squares, each on one that is legal for its slot.
fn exists(pieces: &PieceList, variant: Variant, squares: &[Square]) -> bool {
    let occupied: Bitboard = squares.iter().copied().collect();
    let king = |color| pieces.iter().position(|p| p.role == Role::King && p.color == color);
    let apart = || {
        let (white, black) = (king(Color::White).unwrap(), king(Color::Black).unwrap());
        squares[white].distance(squares[black]) > 1
    };
    let in_order = pieces.iter().zip(squares).all(|(piece, &square)| {
        let Some(blocker) = piece.blocker.filter(|_| piece.role == Role::Pawn) else { return true };
        let (own, other) = (square as u32, squares[blocker] as u32);
        // A plus pawn with squares of its own ahead is its own blocker.
        piece.color.fold_wb(own <= other, own >= other)
    });
    occupied.count() == squares.len() && (variant == Variant::Suicide || apart()) && in_order
}

/// The men on the board, to compare what placements look like.
fn board(pieces: &PieceList, placement: &Placement) -> BTreeSet<(u32, bool, Role)> {
    let men = pieces.iter().zip(&placement.squares);
    men.map(|(p, &s)| (s as u32, p.color.is_white(), p.role)).collect()
}

/// Whether one placement is an image of another, colours exchanged or not.
fn is_image(space: &IndexSpace, one: &Placement, other: &Placement) -> bool {
    let pieces = space.pieces();
    let target = board(pieces, other);
    Symmetry::all().take(usize::from(space.symmetry())).any(|symmetry| {
        let plain = one.transformed(symmetry);
        let same = plain.turn == other.turn && plain.en_passant == other.en_passant;
        if same && board(pieces, &plain) == target {
            return true;
        }
        let turned: BTreeSet<_> = board(pieces, &plain)
            .into_iter()
            .map(|(s, white, role)| (63 - s, !white, role))
            .collect();
        let en_passant = plain.en_passant.map(|s| Square::new(63 - s as u32));
        !space.has_side_bit()
            && plain.turn != other.turn
            && en_passant == other.en_passant
            && turned == target
    })
}

/// A placement with an index that leads back to it.
fn check(space: &IndexSpace, placement: &Placement) -> Result<u64, TestCaseError> {
    let Some(index) = space.encode(placement) else {
        return Err(TestCaseError::fail(format!("{placement:?} has no index")));
    };
    prop_assert!(index < space.size(), "{index} of {}", space.size());
    let decoded = space.decode(index);
    let Some(canonical) = decoded else {
        return Err(TestCaseError::fail(format!("{placement:?}: {index} does not decode")));
    };
    prop_assert_eq!(space.encode(&canonical), Some(index));
    prop_assert!(is_image(space, placement, &canonical), "{:?} is {:?}", placement, canonical);
    // What is read from a board has the same index.
    let men = space.pieces().iter().zip(&placement.squares).map(|(p, &s)| (s, p.color, p.role));
    let dealt = space.place(men, placement.turn, placement.en_passant);
    prop_assert_eq!(dealt.and_then(|dealt| space.encode(&dealt)), Some(index));
    Ok(index)
}

/// Takes numbers one after the other to choose squares.
fn choose(space: &IndexSpace, variant: Variant, seeds: &[u32]) -> Option<Vec<Square>> {
    let pieces = space.pieces();
    let mut squares = vec![Square::A1; pieces.len()];
    let mut taken = Bitboard::EMPTY;
    // Those with the fewest squares first.
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|&slot| pieces[slot].legal.count());
    for (&slot, &seed) in order.iter().zip(seeds) {
        let free = pieces[slot].legal & !taken;
        if free.is_empty() {
            return None;
        }
        squares[slot] = free.into_iter().nth(seed as usize % free.count()).unwrap();
        taken.add(squares[slot]);
    }
    exists(pieces, variant, &squares).then_some(squares)
}

/// The number of cases unless `PROPTEST_CASES` says another.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1_000_000, max_local_rejects: 10_000_000, ..ProptestConfig::with_cases(cases(1500)) })]

    #[test]
    fn every_position_has_an_index(
        (list, space) in lists(0..15).prop_filter_map("refused", |l| Some((l.clone(), l.space()?))),
        seeds in prop::collection::vec(prop::collection::vec(any::<u32>(), MAX_PIECES), 60),
        indices in prop::collection::vec(any::<u64>(), 30),
    ) {
        for seeds in &seeds {
            let Some(squares) = choose(&space, list.variant(), seeds) else { continue };
            for turn in Color::ALL {
                for en_passant in en_passant_squares(space.pieces(), &squares, turn) {
                    let squares = squares.iter().copied().collect();
                    check(&space, &Placement { squares, turn, en_passant })?;
                }
            }
        }
        for index in indices.iter().map(|i| i % space.size().max(1)) {
            if let Some(placement) = space.decode(index) {
                prop_assert_eq!(check(&space, &placement)?, index);
                prop_assert!(exists(space.pieces(), list.variant(), &placement.squares));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1_000_000, max_local_rejects: 10_000_000, ..ProptestConfig::with_cases(cases(600)) })]

    /// All positions of small lists: their indices are just those that decode.
    #[test]
    fn indices_of_all_positions_are_those_that_decode(
        (list, space) in prop_oneof![1 => lists(0..5).boxed(), 3 => crowded().boxed()]
            .prop_filter_map("refused or large", |l| {
            let space = l.space()?;
            let placements: u64 =
                space.pieces().iter().map(|p| p.legal.count() as u64).product();
            (placements <= 60_000 && space.size() <= 2_000_000).then_some((l, space))
        }),
    ) {
        let pieces = space.pieces();
        let legal: Vec<Vec<Square>> = pieces.iter().map(|p| p.legal.into_iter().collect()).collect();
        let mut indices = BTreeSet::new();
        let total: usize = legal.iter().map(Vec::len).product();
        for number in 0..total {
            let mut rest = number;
            let squares: Vec<Square> = legal.iter().map(|squares| {
                let square = squares[rest % squares.len()];
                rest /= squares.len();
                square
            }).collect();
            if !exists(pieces, list.variant(), &squares) {
                continue;
            }
            for turn in Color::ALL {
                for en_passant in en_passant_squares(pieces, &squares, turn) {
                    let squares = squares.iter().copied().collect();
                    indices.insert(check(&space, &Placement { squares, turn, en_passant })?);
                }
            }
        }
        let decoding = (0..space.size()).filter(|&i| space.decode(i).is_some());
        prop_assert!(decoding.eq(indices.iter().copied()), "{} positions", indices.len());
    }
}

/// Lists of which some positions would have no index are refused in one sentence.
#[test]
fn lists_with_positions_that_have_no_index_are_refused() {
    let kings = "<piece color='white' type='king' location='h1'/><piece color='black' type='king' location='h8'/>";
    let space = |pawns: &[(&str, &str)]| {
        let element = |(color, squares): &(&str, &str)| {
            format!("<piece color='{color}' type='pawn' location='{squares}'/>")
        };
        let pawns = pawns.iter().map(element).collect::<Vec<_>>().concat();
        let text = format!(
            "<tablebase><index type='combinadic5' symmetry='1'/>{kings}{pawns}</tablebase>"
        );
        let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
        let params = IndexParams {
            index_type: IndexType::Combinadic5,
            symmetry: 1,
            variant: Variant::Normal,
            format_is_flag: false,
            pieces: resolve_pieces(&control).unwrap(),
            pawn_structures: None,
        };
        IndexSpace::new(params).unwrap().check_writable().map_err(|e| e.to_string())
    };
    for (pawns, problem) in [
        // On c4 and c3 the first one stands ahead, but nothing tells the two apart.
        (vec![("black", "c4+"), ("black", "c2 c3 c4")], "cannot pass piece number 4"),
        // White's c5 would be taken for Black's pawn.
        (vec![("white", "c3 c5"), ("white", "c2+"), ("black", "c4+")], "share the files"),
        // Black's double step to c5 would be taken for White's c2.
        (vec![("white", "c2+"), ("black", "c3+ c5 c7")], "share the files"),
    ] {
        let refused = space(&pawns).unwrap_err();
        assert!(refused.contains(problem), "{pawns:?}: {refused}");
    }
    // From the second rank to the seventh there is one way to deal them.
    assert_eq!(space(&[("black", "c2 c3 c4"), ("black", "c4+")]), Ok(()));
    assert_eq!(space(&[("white", "c2+"), ("white", "c4+"), ("black", "c7+")]), Ok(()));
}
