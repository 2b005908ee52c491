//! Any text as a FEN, as the name of an ending and as a move.
//!
//! Of possible positions our legal moves must be those of `shakmaty`. Placements need not be
//! legal: whatever the parser takes must pass through the piece lists and indices of tables
//! without harm. Follows the way of a probe: text, setup, men, placement, index.

#![no_main]

use std::sync::LazyLock;

use hoffman_board::pieces::default_squares;
use hoffman_board::shakmaty::fen::{Fen, LossyFenError};
use hoffman_board::shakmaty::san::SanPlus;
use hoffman_board::shakmaty::uci::UciMove;
use hoffman_board::shakmaty::{CastlingMode, Chess, EnPassantMode, Position, PositionError, Setup};
use hoffman_board::{Color, ListedPiece, Material, PieceList, Role, Square, Variant};
use hoffman_probe::fen::{read_loosely, read_position};
use hoffman_probe::position::Position as OurPosition;
use hoffman_table::{IndexParams, IndexSpace, IndexType};
use libfuzzer_sys::fuzz_target;

static SPACES: LazyLock<Vec<IndexSpace>> = LazyLock::new(|| {
    ["KvK", "KQvK", "KPvK", "KPvKP", "KNNvK", "KPPvK"].into_iter().flat_map(spaces).collect()
});

fuzz_target!(|text: &str| {
    if let Ok(material) = text.parse::<Material>() {
        assert_eq!(material.to_string().parse(), Ok(material));
        let _ = (material.normalized(), material.stem());
    }
    let _ = (text.parse::<UciMove>(), text.parse::<SanPlus>());
    probe(text);
    let Ok(fen) = text.parse::<Fen>() else { return };
    let setup = fen.into_setup();
    let written = Fen::try_from_setup(setup.clone()).unwrap_or_else(LossyFenError::ignore);
    let again: Fen = written.to_string().parse().expect("what was written can be read");
    assert_eq!(again.as_setup().board, setup.board);
    let material = Material::from_men(men(&setup).map(|(_, color, role)| (color, role)));
    let _ = (material.normalized(), material.to_string());
    for space in SPACES.iter() {
        look_up(space, &setup);
    }
    play(setup);
});

/// The program's own reader and moves, of any placement and of possible positions.
fn probe(text: &str) {
    let loosely = |text: &str| read_loosely(text, Variant::Normal).ok().flatten();
    let Some(position) = loosely(text) else { return };
    assert_eq!(loosely(&position.fen()).as_ref(), Some(&position));
    assert_eq!(position.mirrored().mirrored(), position);
    for variant in [Variant::Normal, Variant::Suicide] {
        let moves = position.legal_moves(variant);
        assert_eq!(moves.is_empty(), !position.has_legal_move(variant));
        for m in moves.iter().take(20) {
            let _ = (m.classic(), position.san(m, variant), position.after(m).short_fen());
        }
        if let Ok(possible) = read_position(text, variant) {
            let _ = possible.is_insufficient_material();
            if variant == Variant::Normal {
                compare_moves(&possible);
            }
        }
    }
}

fn compare_moves(position: &OurPosition) {
    let fen: Fen = position.fen().parse().expect("what was written can be read");
    let Some(chess) = forgiving(fen.into_setup()) else { return };
    let legal = chess.legal_moves();
    let mut theirs: Vec<String> =
        legal.iter().map(|m| m.to_uci(CastlingMode::Standard).to_string()).collect();
    let mut ours: Vec<String> =
        position.legal_moves(Variant::Normal).iter().map(hoffman_probe::moves::Move::uci).collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    assert_eq!(ours, theirs, "{}", position.fen());
}

fn men(setup: &Setup) -> impl Iterator<Item = (Square, Color, Role)> {
    setup.board.clone().into_iter().map(|(square, piece)| (square, piece.color, piece.role))
}

fn look_up(space: &IndexSpace, setup: &Setup) {
    for en_passant in [None, setup.ep_square] {
        let Some(placement) = space.place(men(setup), setup.turn, en_passant) else { continue };
        let Some(index) = space.encode(&placement) else { continue };
        let canonical = space.decode(index).expect("what has an index decodes");
        assert_eq!(space.encode(&canonical), Some(index));
    }
}

/// The position with everything forgiven that a table can hold.
fn forgiving(setup: Setup) -> Option<Chess> {
    setup
        .position::<Chess>(CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

fn play(setup: Setup) {
    let Some(position) = forgiving(setup) else { return };
    for chess_move in position.legal_moves() {
        let _ = SanPlus::from_move(position.clone(), chess_move).to_string();
        let mut next = position.clone();
        next.play_unchecked(chess_move);
        let _ = Fen::from_position(&next, EnPassantMode::PseudoLegal).to_string();
    }
}

/// The spaces of a complete ending under every index type that takes it.
fn spaces(name: &str) -> Vec<IndexSpace> {
    let material: Material = name.parse().expect("the name of an ending");
    let kings = Color::ALL.map(|color| (color, Role::King));
    let pieces: PieceList = linked(kings.into_iter().chain(material.men_in_naming_order()));
    let symmetry = if material.has_pawns() { 2 } else { 4 };
    let space = |index_type| {
        IndexSpace::new(IndexParams {
            index_type,
            symmetry,
            variant: Variant::Normal,
            format_is_flag: false,
            pieces: pieces.clone(),
            pawn_structures: None,
        })
        .ok()
        .filter(|space| space.check_writable().is_ok())
    };
    IndexType::ALL.into_iter().filter_map(space).collect()
}

/// Unrestricted men, each linked to the like man before it.
fn linked(men: impl Iterator<Item = (Color, Role)>) -> PieceList {
    let mut list = PieceList::new();
    for (color, role) in men {
        let mut piece = ListedPiece::unrestricted(color, role);
        debug_assert_eq!(piece.legal, default_squares(role));
        let slot = list.len();
        if let Some(last) = list.last_mut().filter(|last| (last.color, last.role) == (color, role))
        {
            last.next = Some(slot);
            piece.prev = Some(slot - 1);
        }
        list.push(piece);
    }
    list
}
