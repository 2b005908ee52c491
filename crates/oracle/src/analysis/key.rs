//! A position in a few bytes.

use hoffman_board::shakmaty::Board;
use hoffman_board::{Bitboard, Color, Piece, Role, Square};

/// Men, side to move and en passant square in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PositionKey {
    occupied: u64,
    /// Four bits a man, the one on the lowest square first.
    men: u64,
    /// Bit 0: Black to move. Above it the en passant square plus one.
    rest: u8,
}

impl PositionKey {
    pub(super) fn new(board: &Board, turn: Color, en_passant: Option<Square>) -> PositionKey {
        let mut men = 0;
        for (at, (_, piece)) in board.iter().enumerate() {
            let code = piece.role as u64 | piece.color.fold_wb(0, 8);
            men |= code << (4 * at);
        }
        let square = en_passant.map_or(0, |s| s as u8 + 1);
        PositionKey { occupied: board.occupied().0, men, rest: square << 1 | turn.fold_wb(0, 1) }
    }

    pub(super) fn turn(&self) -> Color {
        if self.rest & 1 == 0 { Color::White } else { Color::Black }
    }

    pub(super) fn unpacked(&self) -> (Board, Color, Option<Square>) {
        let mut board = Board::empty();
        for (at, square) in Bitboard(self.occupied).into_iter().enumerate() {
            let code = self.men >> (4 * at) & 15;
            let role = Role::ALL.into_iter().find(|&r| r as u64 == code & 7).expect("a role");
            let color = if code & 8 == 0 { Color::White } else { Color::Black };
            board.set_piece_at(square, Piece { color, role });
        }
        let square = (self.rest >> 1).checked_sub(1).map(|s| Square::new(u32::from(s)));
        (board, self.turn(), square)
    }

    /// The board turned over, the colours exchanged.
    pub(super) fn inverted(&self) -> PositionKey {
        let (board, turn, en_passant) = self.unpacked();
        let mut other = Board::empty();
        for (square, piece) in &board {
            let piece = Piece { color: piece.color.other(), role: piece.role };
            other.set_piece_at(square.flip_vertical(), piece);
        }
        PositionKey::new(&other, turn.other(), en_passant.map(Square::flip_vertical))
    }
}
