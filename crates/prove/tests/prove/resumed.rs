//! A search that goes on from the slices which another one had open: the same bounds, and in the
//! end the same results.

use hoffman_board::shakmaty::fen::Fen;
use hoffman_board::shakmaty::{CastlingMode, Chess};
use hoffman_board::{Bitboard, Color, OutcomeBounds, Role, Square};
use hoffman_prove::{Assumptions, Limits, Prover};

/// From five men to ten, with open pawns and blocked ones.
const POSITIONS: [&str; 4] = [
    "6k1/7p/5P1K/8/8/8/7P/8 w - - 0 1",
    "8/8/8/1k6/8/1P6/1P6/K7 b - - 0 1",
    "8/8/1p6/1P1k4/8/2PK4/8/8 w - - 0 1",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
];

fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

fn prover(fen: &str) -> Prover {
    Prover::new(position(fen), Limits { memory: 1 << 30 })
}

/// Works until it has been told so many times how far it is.
fn prove_until(prover: &mut Prover, most: usize) -> usize {
    let mut told = 0;
    prover.prove(&|| {}, &mut |_| {
        told += 1;
        told < most
    });
    told
}

fn all_bounds(prover: &Prover) -> Vec<OutcomeBounds> {
    let moves = prover.moves().into_iter().map(|(_, bounds)| bounds);
    std::iter::once(prover.progress().bounds).chain(moves).collect()
}

#[test]
fn a_search_goes_on_where_another_one_ended() {
    let mut random = fastrand::Rng::with_seed(2006);
    for fen in POSITIONS {
        let mut whole = prover(fen);
        let told = prove_until(&mut whole, usize::MAX);
        for _ in 0..2 {
            let stop = random.usize(1..=told);
            let mut first = prover(fen);
            prove_until(&mut first, stop);
            let opened = first.opened();
            assert_eq!(opened.len(), first.progress().open, "{fen}");

            let mut second = prover(fen);
            second.open_again(&opened, &|| {}, &mut |_| true).unwrap();
            assert_eq!(all_bounds(&second), all_bounds(&first), "{fen} after {stop} of {told}");
            assert_eq!(second.progress().open, opened.len(), "{fen}");
            assert!(second.progress().positions <= first.progress().positions, "{fen}");
            prove_until(&mut second, usize::MAX);
            assert_eq!(second.progress().bounds, whole.progress().bounds, "{fen}");
        }
    }
}

/// However few positions are evaluated, moves are told with all that follows from what is open.
#[test]
fn nothing_that_is_known_of_moves_is_left_out() {
    for fen in POSITIONS {
        for positions in [1, 100_000, 1_000_000, 5_000_000, 50_000_000] {
            let mut first = prover(fen);
            first.prove_moves(positions, &|| {}, &mut |_| true);
            let mut second = prover(fen);
            second.open_again(&first.opened(), &|| {}, &mut |_| true).unwrap();
            assert_eq!(all_bounds(&second), all_bounds(&first), "{fen}, {positions}");
        }
    }
}

/// A piece on a square that is excluded has a slice of its own.
#[test]
fn slices_of_excluded_squares_are_opened_again() {
    let assuming = |square: Square| {
        let mut assumptions = Assumptions::new();
        assumptions.exclude_from(Color::White, Bitboard::from_square(square));
        prover(POSITIONS[1]).assuming(assumptions)
    };
    let mut first = assuming(Square::C2);
    prove_until(&mut first, usize::MAX);
    let opened = first.opened();
    assert_eq!(opened.len(), first.progress().open);
    assert!(opened.iter().any(|slice| slice.ends_with(" on Kc2")), "{opened:?}");

    let mut second = assuming(Square::C2);
    second.open_again(&opened, &|| {}, &mut |_| true).unwrap();
    assert_eq!(all_bounds(&second), all_bounds(&first));
    assert_eq!(second.progress().open, opened.len());
    let mut other = assuming(Square::C3);
    other.open_again(&opened, &|| {}, &mut |_| true).unwrap();
    assert!(other.progress().open < opened.len());
}

/// The white king may stay where it is, and come nowhere: only a slice that says where it stands
/// has positions.
#[test]
fn slices_without_positions_are_passed_over() {
    let mut assumptions = Assumptions::new();
    let corner = Bitboard::from_square(Square::A1);
    assumptions.confine(Color::White, Role::King, corner);
    assumptions.exclude_to(Color::White, corner);
    let mut prover = prover(POSITIONS[1]).assuming(assumptions);
    let slices = ["8/8/8/8/8/1P6/1P6/8 Kk", "8/8/8/8/8/1P6/1P6/8 Kk on Ka1"];
    prover.open_again(&slices.map(str::to_owned), &|| {}, &mut |_| true).unwrap();
    assert_eq!(prover.opened(), slices[1..]);
}

#[test]
fn opening_again_ends_when_it_is_told_to() {
    let fen = POSITIONS[3];
    let mut whole = prover(fen);
    prove_until(&mut whole, usize::MAX);
    let opened = whole.opened();
    let mut stopped = prover(fen);
    stopped.open_again(&opened, &|| {}, &mut |_| false).unwrap();
    let open = stopped.progress().open;
    assert!(0 < open && open < opened.len(), "{open} of {}", opened.len());

    // No room, no slices.
    let mut narrow = Prover::new(position(fen), Limits { memory: 0 });
    narrow.open_again(&opened, &|| {}, &mut |_| true).unwrap();
    assert_eq!(narrow.progress().open, 0);
}

#[test]
fn slices_that_cannot_arise_are_refused() {
    // A third white pawn, another piece, a pawn that is none.
    for slice in ["8/8/8/8/8/8/PPP5/8 Kk", "8/8/8/8/8/8/8/8 KQRNk", "8/8/8/8/8/8/8/8 Kkq qa2"] {
        let refused = prover(POSITIONS[1]).open_again(&[slice.to_owned()], &|| {}, &mut |_| true);
        assert_eq!(refused, Err(slice.to_owned()));
    }
}
