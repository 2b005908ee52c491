//! A position as a list of men, in no table's order, and the way from it to `shakmaty`.

use hoffman_board::shakmaty::fen::{Fen, LossyFenError};
use hoffman_board::shakmaty::{
    Board, CastlingMode, Chess, EnPassantMode, Piece, Position as _, PositionError, Setup,
};
use hoffman_board::{Bitboard, Color, Material, Role, Square};

/// A man on its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacedMan {
    /// Whose man it is.
    pub color: Color,
    /// What it is.
    pub role: Role,
    /// Where it stands.
    pub square: Square,
}

/// Men on squares, the side to move, and the square that an enemy pawn has just jumped over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlowPosition {
    /// The men in any order.
    pub men: Vec<PlacedMan>,
    /// The side to move.
    pub turn: Color,
    /// The jumped-over square. The oracle itself names it only if a pawn stands ready to capture.
    pub en_passant: Option<Square>,
}

/// A text that is no position.
#[derive(Clone, Debug, thiserror::Error)]
#[error("'{0}' is not a position")]
pub struct BadFen(pub String);

impl SlowPosition {
    /// Reads the first four fields of a FEN. Castling rights are ignored.
    pub fn from_fen(text: &str) -> Result<SlowPosition, BadFen> {
        let fen: Fen = text.parse().map_err(|_| BadFen(text.to_owned()))?;
        let setup = fen.into_setup();
        Ok(SlowPosition::from_board(&setup.board, setup.turn, setup.ep_square))
    }

    /// The men of a board.
    pub fn from_board(board: &Board, turn: Color, en_passant: Option<Square>) -> SlowPosition {
        let man = |(square, piece): (Square, Piece)| PlacedMan {
            color: piece.color,
            role: piece.role,
            square,
        };
        SlowPosition { men: board.iter().map(man).collect(), turn, en_passant }
    }

    /// The FEN with all six fields.
    pub fn fen(&self) -> String {
        let mut setup = Setup::empty();
        setup.board = self.board();
        setup.turn = self.turn;
        setup.ep_square = self.en_passant;
        Fen::try_from_setup(setup).unwrap_or_else(LossyFenError::ignore).to_string()
    }

    /// How many men of each kind there are.
    pub fn material(&self) -> Material {
        Material::from_men(self.men.iter().map(|m| (m.color, m.role)))
    }

    /// The board. Of two men on one square the later one remains.
    pub fn board(&self) -> Board {
        let mut board = Board::empty();
        for man in &self.men {
            board.set_piece_at(man.square, man.role.of(man.color));
        }
        board
    }

    /// The position for `shakmaty`; none if the side not to move is in check, or if this is no
    /// position at all (two men on a square, pawns on the first rank, an impossible en passant
    /// square).
    pub fn to_chess(&self) -> Option<Chess> {
        let board = self.board();
        if board.occupied().count() == self.men.len() {
            chess(board, self.turn, self.en_passant)
        } else {
            None
        }
    }
}

/// Sets a position up without castling rights, caring for legality but not for reachability.
pub(crate) fn chess(board: Board, turn: Color, en_passant: Option<Square>) -> Option<Chess> {
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = turn;
    setup.ep_square = en_passant;
    setup
        .position(CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

/// The en passant square if a pawn of the side to move stands beside, whether pinned or not.
pub(crate) fn usable_en_passant(position: &Chess) -> Option<Square> {
    position.ep_square(EnPassantMode::PseudoLegal)
}

/// Every square that the side to move may capture on en passant, if the enemy pawn there has just
/// made its double step. Written without `shakmaty`'s notion of it: pawn on its fourth rank, two
/// empty squares behind it, a pawn of the side to move beside it.
pub(crate) fn en_passant_squares(board: &Board, turn: Color) -> impl Iterator<Item = Square> {
    let (rank, back) = match turn {
        Color::White => (4, 8),
        Color::Black => (3, -8),
    };
    let ours = board.by_color(turn) & board.pawns();
    let theirs = board.by_color(turn.other()) & board.pawns();
    let free = !board.occupied();
    let on_rank = theirs.into_iter().filter(move |&pawn| pawn as i32 / 8 == rank);
    on_rank.filter_map(move |pawn| {
        let jumped = Square::new((pawn as i32 + back) as u32);
        let start = Square::new((pawn as i32 + 2 * back) as u32);
        let stepped = free.contains(jumped) && free.contains(start);
        (stepped && is_beside_any(pawn, ours)).then_some(jumped)
    })
}

/// Whether a square has one of a set to its left or right.
fn is_beside_any(square: Square, set: Bitboard) -> bool {
    let (number, file) = (square as u32, square.file() as u32);
    (file > 0 && set.contains(Square::new(number - 1)))
        || (file < 7 && set.contains(Square::new(number + 1)))
}
