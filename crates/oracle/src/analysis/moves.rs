//! Legal moves and checks, by `shakmaty`.

use hoffman_board::shakmaty::variant::Antichess;
use hoffman_board::shakmaty::{
    Board, CastlingMode, EnPassantMode, Move, Position as ShakmatyPosition, PositionError, Setup,
};
use hoffman_board::{Color, Square, Variant};

use crate::position::chess;

/// A legal move and what it leads to.
pub(super) struct MadeMove {
    pub(super) m: Move,
    pub(super) board: Board,
    /// The square jumped over by a double step.
    pub(super) en_passant: Option<Square>,
}

/// Whether a side's king is attacked.
pub(super) fn in_check(board: &Board, color: Color) -> bool {
    board
        .king_of(color)
        .is_some_and(|king| board.attacks_to(king, color.other(), board.occupied()).any())
}

pub(super) fn legal_moves(
    variant: Variant,
    board: &Board,
    turn: Color,
    en_passant: Option<Square>,
) -> Vec<MadeMove> {
    match variant {
        Variant::Normal => {
            let position = chess(board.clone(), turn, en_passant).expect("an existing position");
            let moves = made(&position);
            // No game reaches some of these positions, and shakmaty is made for those that occur.
            debug_assert!(moves.iter().all(|made| !in_check(&made.board, turn)));
            moves
        }
        Variant::Suicide => {
            let mut setup = Setup::empty();
            setup.board = board.clone();
            setup.turn = turn;
            setup.ep_square = en_passant;
            let position: Antichess = setup
                .position(CastlingMode::Standard)
                .or_else(PositionError::ignore_too_much_material)
                .expect("an existing position");
            made(&position)
        }
    }
}

fn made<P: ShakmatyPosition + Clone>(position: &P) -> Vec<MadeMove> {
    let play = |m: Move| {
        let mut next = position.clone();
        next.play_unchecked(m);
        MadeMove {
            m,
            en_passant: next.ep_square(EnPassantMode::Always),
            board: next.board().clone(),
        }
    };
    position.legal_moves().into_iter().map(play).collect()
}
