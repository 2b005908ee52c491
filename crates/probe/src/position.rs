//! A position: men on squares, the side to move, and what else a FEN says.
//!
//! Any placement of men is a [`Position`], however impossible; what a table or the rules of chess
//! make of it is another question. Knows no tables.

use std::fmt;
use std::num::NonZeroU32;

use hoffman_board::shakmaty::{
    self, Board, CastlingMode, Chess, FromSetup, PositionError, Setup, attacks,
};
use hoffman_board::{Bitboard, Color, Material, Piece, Rank, Role, Square, Variant};

/// Men on squares, the side to move and the square that a pawn has just jumped over, as they are
/// given.
#[derive(Clone, PartialEq, Eq)]
pub struct Position {
    /// The men.
    pub board: Board,
    /// The side to move.
    pub turn: Color,
    /// The en passant square as it was given, whether or not it means anything.
    pub en_passant: Option<Square>,
    /// Half moves since the last capture or move of a pawn.
    pub halfmoves: u16,
    /// The number of the move, from 1; it grows after Black's.
    pub fullmoves: u16,
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({})", self.short_fen())
    }
}

/// What kind of impossible a position is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Impossible {
    /// Not exactly one king of a colour.
    #[error("{} has {} kings instead of one", color_name(*.color), .found)]
    Kings {
        /// The colour.
        color: Color,
        /// How many kings it has.
        found: usize,
    },
    /// The kings touch.
    #[error("the kings stand side by side")]
    KingsTouch,
    /// A pawn where none can be.
    #[error("a pawn stands on {0}")]
    Pawn(Square),
    /// More men than a table can hold.
    #[error("there are {found} men, more than {}", hoffman_board::MAX_PIECES)]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// A side without men, in suicide chess.
    #[error("there are no men")]
    Empty,
    /// For another reason.
    #[error("{men} men cannot stand like this")]
    Refused {
        /// How many there are.
        men: usize,
    },
    /// The king could be captured.
    #[error("{} to move could capture the king", color_name(*.turn))]
    Check {
        /// The side to move.
        turn: Color,
    },
}

/// `White` or `Black`.
pub(crate) fn color_name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

impl Position {
    /// A position from men on their squares.
    pub fn from_men(
        men: impl IntoIterator<Item = (Square, Color, Role)>,
        turn: Color,
        en_passant: Option<Square>,
    ) -> Position {
        let mut board = Board::empty();
        for (square, color, role) in men {
            board.set_piece_at(square, Piece { color, role });
        }
        Position { board, turn, en_passant, halfmoves: 0, fullmoves: 1 }
    }

    /// The men, by ascending squares.
    pub fn men(&self) -> impl Iterator<Item = (Square, Color, Role)> + '_ {
        self.board.occupied().into_iter().filter_map(|square| {
            let piece = self.board.piece_at(square)?;
            Some((square, piece.color, piece.role))
        })
    }

    /// How many men of each kind there are.
    pub fn material(&self) -> Material {
        Material { count: self.board.material() }
    }

    /// The FEN as the classic prompt prints it: four fields, castling always `-`.
    pub fn short_fen(&self) -> String {
        let board = self.board.board_fen();
        let turn = self.turn.char();
        match self.en_passant {
            Some(square) => format!("{board} {turn} - {square}"),
            None => format!("{board} {turn} - -"),
        }
    }

    /// The FEN with all six fields.
    pub fn fen(&self) -> String {
        format!("{} {} {}", self.short_fen(), self.halfmoves, self.fullmoves)
    }

    /// Top and bottom and the colours exchanged, and so the side to move.
    #[must_use]
    pub fn mirrored(&self) -> Position {
        Position {
            board: self.board.clone().into_mirrored(),
            turn: self.turn.other(),
            en_passant: self.en_passant.map(Square::flip_vertical),
            ..*self
        }
    }

    /// The colour of the pawn that has jumped over the en passant square, if there is one behind
    /// it.
    pub fn en_passant_pawn(&self) -> Option<Color> {
        let square = self.en_passant?;
        let color = match square.rank() {
            Rank::Third => Color::White,
            Rank::Sixth => Color::Black,
            _ => return None,
        };
        let reached = square.offset(color.fold_wb(8, -8))?;
        (self.board.piece_at(reached) == Some(color.pawn())).then_some(color)
    }

    /// The en passant square if a pawn of the side to move stands ready to capture there, and the
    /// enemy pawn can have made the double step.
    pub fn usable_en_passant(&self) -> Option<Square> {
        let square = self.en_passant?;
        let enemy = self.turn.other();
        let start = square.offset(enemy.fold_wb(-8, 8))?;
        let free = !self.board.occupied();
        let ours = self.board.by_piece(self.turn.pawn());
        (self.en_passant_pawn() == Some(enemy)
            && free.contains(square)
            && free.contains(start)
            && (attacks::pawn_attacks(enemy, square) & ours).any())
        .then_some(square)
    }

    /// The same without an en passant square that no pawn can use.
    #[must_use]
    pub fn without_useless_en_passant(self) -> Position {
        let en_passant = self.usable_en_passant();
        Position { en_passant, ..self }
    }

    /// Whether a king of this colour is attacked.
    fn is_attacked(&self, color: Color) -> bool {
        let kings = self.board.by_piece(color.king());
        kings
            .into_iter()
            .any(|king| self.board.attacks_to(king, color.other(), self.board.occupied()).any())
    }

    /// Whether the side to move could capture a king ("PNTM mated").
    pub fn is_opponent_in_check(&self) -> bool {
        self.is_attacked(self.turn.other())
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.is_attacked(self.turn)
    }

    /// Whether this can be a position of a game, never mind how it came about.
    ///
    /// # Errors
    /// The first thing that makes it impossible.
    pub fn check_possible(&self, variant: Variant) -> Result<(), Impossible> {
        let found = self.board.occupied().count();
        if found > hoffman_board::MAX_PIECES {
            return Err(Impossible::TooMany { found });
        }
        let ends = Bitboard::from(Rank::First) | Bitboard::from(Rank::Eighth);
        if let Some(square) = (self.board.pawns() & ends).first() {
            return Err(Impossible::Pawn(square));
        }
        if variant == Variant::Suicide {
            return if found == 0 { Err(Impossible::Empty) } else { Ok(()) };
        }
        for color in Color::ALL {
            let found = self.board.by_piece(color.king()).count();
            if found != 1 {
                return Err(Impossible::Kings { color, found });
            }
        }
        if let (Some(white), Some(black)) =
            (self.board.king_of(Color::White), self.board.king_of(Color::Black))
            && white.distance(black) < 2
        {
            return Err(Impossible::KingsTouch);
        }
        if self.is_opponent_in_check() {
            return Err(Impossible::Check { turn: self.turn });
        }
        Ok(())
    }

    /// Whether neither side could mate, however badly the other plays; false for what is no chess.
    pub fn is_insufficient_material(&self) -> bool {
        let enough = self.board.pawns() | self.board.rooks() | self.board.queens();
        enough.is_empty()
            && set_up::<Chess>(self.setup())
                .is_some_and(|chess| shakmaty::Position::is_insufficient_material(&chess))
    }

    /// The position as `shakmaty` and readers of foreign tables take it, with an en passant square
    /// only if it can be used.
    pub fn setup(&self) -> Setup {
        let mut setup = Setup::empty();
        setup.board = self.board.clone();
        setup.turn = self.turn;
        setup.ep_square = self.usable_en_passant();
        setup.halfmoves = self.halfmoves.into();
        setup.fullmoves = NonZeroU32::new(self.fullmoves.into()).unwrap_or(NonZeroU32::MIN);
        setup
    }
}

impl From<&Setup> for Position {
    /// The men, the side to move, the en passant square and the counters; castling rights are left
    /// out.
    fn from(setup: &Setup) -> Position {
        Position {
            board: setup.board.clone(),
            turn: setup.turn,
            en_passant: setup.ep_square,
            halfmoves: setup.halfmoves.try_into().unwrap_or(u16::MAX),
            fullmoves: setup.fullmoves.get().try_into().unwrap_or(u16::MAX),
        }
    }
}

impl TryFrom<&Position> for Chess {
    type Error = Impossible;

    /// The position for `shakmaty`.
    fn try_from(position: &Position) -> Result<Chess, Impossible> {
        position.check_possible(Variant::Normal)?;
        let men = position.board.occupied().count();
        set_up(position.setup()).ok_or(Impossible::Refused { men })
    }
}

/// A position of `shakmaty`, if it can be one of a game; too many men and strange checks do not
/// matter.
pub(crate) fn set_up<P: FromSetup>(setup: Setup) -> Option<P> {
    P::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}
