//! Positions as they are typed, their legal moves in the order of the classic prompt, and the names of
//! those moves.
//!
//! Any placement of men is a [`Position`], however impossible; what a table or the rules of chess make
//! of it is another question. Moves are walked here, outwards along each direction, because the order
//! of the walk is the order of the list; their names in SAN come from `shakmaty`. Knows no tables.

use std::fmt;

use hoffman_board::shakmaty::attacks;
use hoffman_board::shakmaty::san::SanPlus;
use hoffman_board::shakmaty::variant::Antichess;
use hoffman_board::shakmaty::{self, Board, CastlingMode, Chess, FromSetup, PositionError, Setup};
use hoffman_board::{Bitboard, Color, Material, Piece, Rank, Role, Square, Variant};

/// Men on squares, the side to move and the square that a pawn has just jumped over, as they are given.
#[derive(Clone, PartialEq, Eq)]
pub struct Position {
    /// The men.
    pub board: Board,
    /// The side to move.
    pub turn: Color,
    /// The en passant square as it was given, whether or not it means anything.
    pub en_passant: Option<Square>,
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({})", self.short_fen())
    }
}

/// A move of one man.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The man that moves.
    pub role: Role,
    /// From where.
    pub from: Square,
    /// To where.
    pub to: Square,
    /// The man captured.
    pub capture: Option<Role>,
    /// What a pawn becomes.
    pub promotion: Option<Role>,
    /// Whether the captured pawn stands beside the origin instead of on the destination.
    pub en_passant: bool,
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
    /// Nobody to move, or nobody to move against, in suicide chess.
    #[error("there are no men")]
    Empty,
    /// The king could be captured.
    #[error("{} to move could capture the king", color_name(*.turn))]
    Check {
        /// The side to move.
        turn: Color,
    },
}

/// The kind of a futuremove: only a quiet move is known by the square that it leads to.
pub(crate) fn kind_name(
    role: Role,
    to: Square,
    capture: Option<Role>,
    promotion: Option<Role>,
) -> String {
    let mut kind = role.upper_char().to_string();
    match (capture, promotion) {
        (Some(captured), _) => kind.extend(['x', captured.upper_char()]),
        (None, None) => kind.push_str(&to.to_string()),
        (None, Some(_)) => {}
    }
    if let Some(role) = promotion {
        kind.extend(['=', role.upper_char()]);
    }
    kind
}

/// `White` or `Black`.
pub(crate) fn color_name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// The directions of sliding men and kings in the order of the list: right, left, up, down, up-left,
/// up-right, down-left, down-right, as steps of file and rank.
const DIRECTIONS: [(i32, i32); 8] =
    [(1, 0), (-1, 0), (0, 1), (0, -1), (-1, 1), (1, 1), (-1, -1), (1, -1)];

/// The jumps of knights in the order of the list.
const KNIGHT_JUMPS: [(i32, i32); 8] =
    [(2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2)];

const PROMOTIONS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];

/// The neighbour of a square, if it is on the board.
fn step(square: Square, (files, ranks): (i32, i32)) -> Option<Square> {
    Some(Square::from_coords(square.file().offset(files)?, square.rank().offset(ranks)?))
}

impl Position {
    /// Reads a FEN as the classic prompt does: leading blanks, eight ranks, a blank, the side to move; then
    /// castling letters, which are skipped, and an en passant square, taken as it stands, both optional.
    /// Anything behind is ignored.
    pub fn from_fen(text: &str) -> Option<Position> {
        let text = text.trim_start();
        let (placement, rest) = text.split_once([' ', '\t'])?;
        let board = board_from_fen(placement)?;
        let rest = rest.trim_start();
        let mut chars = rest.chars();
        let turn = Color::from_char(chars.next()?)?;
        let rest = chars.as_str().trim_start_matches(|c: char| {
            c.is_ascii_whitespace() || matches!(c, 'K' | 'Q' | 'k' | 'q' | '-')
        });
        let en_passant = rest.as_bytes().get(..2).and_then(|s| Square::from_ascii(s).ok());
        Some(Position { board, turn, en_passant })
    }

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
        Position { board, turn, en_passant }
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
        format!("{} 0 1", self.short_fen())
    }

    /// Top and bottom and the colours exchanged, and so the side to move.
    #[must_use]
    pub fn mirrored(&self) -> Position {
        Position {
            board: self.board.clone().into_mirrored(),
            turn: self.turn.other(),
            en_passant: self.en_passant.map(Square::flip_vertical),
        }
    }

    /// The colour of the pawn that has jumped over the en passant square, if there is one behind it.
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

    /// The en passant square if a pawn of the side to move stands ready to capture there, and the enemy
    /// pawn can have made the double step.
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

    /// The same without an en passant square that nobody can use.
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

    /// The legal moves in the order of the classic prompt: origins from a1 to h8, each man's directions
    /// in their order, each outwards; pawns forward first, then captures. None if the side to move could
    /// capture the enemy king; in suicide chess only captures if there are any.
    ///
    /// Of placements that are no positions of chess too: a side with two kings may leave neither in
    /// check.
    pub fn legal_moves(&self, variant: Variant) -> Vec<Move> {
        let mut moves = self.possible_moves(variant);
        match variant {
            Variant::Normal => moves.retain(|m| self.is_safe(*m)),
            Variant::Suicide => {
                if moves.iter().any(|m| m.capture.is_some()) {
                    moves.retain(|m| m.capture.is_some());
                }
            }
        }
        moves
    }

    /// Whether there is a legal move.
    pub fn has_legal_move(&self, variant: Variant) -> bool {
        let moves = self.possible_moves(variant);
        moves.iter().any(|m| variant == Variant::Suicide || self.is_safe(*m))
    }

    /// Whether a possible move leaves none of the mover's kings in check and takes no king.
    fn is_safe(&self, m: Move) -> bool {
        m.capture != Some(Role::King) && !self.after(&m).is_opponent_in_check()
    }

    /// The moves that follow the rules of movement alone; none if a king could be captured.
    fn possible_moves(&self, variant: Variant) -> Vec<Move> {
        let mut moves = Vec::new();
        if variant == Variant::Normal && self.is_opponent_in_check() {
            return moves;
        }
        for from in self.board.by_color(self.turn) {
            match self.board.role_at(from) {
                Some(Role::Pawn) => self.pawn_moves(from, variant, &mut moves),
                Some(Role::Knight) => self.man_moves(from, Role::Knight, &KNIGHT_JUMPS, &mut moves),
                Some(role) => {
                    let directions = match role {
                        Role::Rook => &DIRECTIONS[..4],
                        Role::Bishop => &DIRECTIONS[4..],
                        _ => &DIRECTIONS[..],
                    };
                    self.man_moves(from, role, directions, &mut moves);
                }
                None => {}
            }
        }
        moves
    }

    fn man_moves(
        &self,
        from: Square,
        role: Role,
        directions: &[(i32, i32)],
        moves: &mut Vec<Move>,
    ) {
        let slides = matches!(role, Role::Queen | Role::Rook | Role::Bishop);
        for &direction in directions {
            let mut next = step(from, direction);
            while let Some(to) = next {
                let target = self.board.piece_at(to);
                if target.is_some_and(|p| p.color == self.turn) {
                    break;
                }
                let capture = target.map(|p| p.role);
                moves.push(Move { role, from, to, capture, promotion: None, en_passant: false });
                next = if slides && capture.is_none() { step(to, direction) } else { None };
            }
        }
    }

    fn pawn_moves(&self, from: Square, variant: Variant, moves: &mut Vec<Move>) {
        let up = self.turn.fold_wb(1, -1);
        let last = self.turn.fold_wb(Rank::Eighth, Rank::First);
        let mut push = |to: Square, capture: Option<Role>, en_passant: bool| {
            let quiet = Move { role: Role::Pawn, from, to, capture, promotion: None, en_passant };
            if to.rank() == last {
                let count = if variant == Variant::Suicide { 5 } else { 4 };
                let promoted = |&role| Move { promotion: Some(role), ..quiet };
                moves.extend(PROMOTIONS.iter().take(count).map(promoted));
            } else {
                moves.push(quiet);
            }
        };
        let free = |to: &Square| self.board.piece_at(*to).is_none();
        if let Some(one) = step(from, (0, up)).filter(free) {
            push(one, None, false);
            if from.rank() == self.turn.fold_wb(Rank::Second, Rank::Seventh)
                && let Some(two) = step(one, (0, up)).filter(free)
            {
                push(two, None, false);
            }
        }
        for side in [-1, 1] {
            let Some(to) = step(from, (side, up)) else { continue };
            match self.board.piece_at(to) {
                Some(target) if target.color != self.turn => push(to, Some(target.role), false),
                None if self.usable_en_passant() == Some(to) => push(to, Some(Role::Pawn), true),
                _ => {}
            }
        }
    }

    /// The position after a move. Its en passant square is set only if an enemy pawn stands beside the
    /// pawn that made a double step.
    #[must_use]
    pub fn after(&self, m: &Move) -> Position {
        let mut board = self.board.clone();
        board.discard_piece_at(m.from);
        if m.en_passant {
            board.discard_piece_at(Square::from_coords(m.to.file(), m.from.rank()));
        }
        board.set_piece_at(m.to, Piece { color: self.turn, role: m.promotion.unwrap_or(m.role) });
        let jumped = m.role == Role::Pawn && m.from.rank().distance(m.to.rank()) == 2;
        let en_passant = if jumped { m.from.offset(self.turn.fold_wb(8, -8)) } else { None };
        let next = Position { board, turn: self.turn.other(), en_passant };
        if jumped { next.without_useless_en_passant() } else { next }
    }

    /// Whether neither side could mate, however badly the other plays; false for what is no chess.
    pub fn is_insufficient_material(&self) -> bool {
        set_up::<Chess>(self.setup())
            .is_some_and(|chess| shakmaty::Position::is_insufficient_material(&chess))
    }

    /// The position as `shakmaty` and readers of foreign tables take it.
    pub(crate) fn setup(&self) -> Setup {
        let mut setup = Setup::empty();
        setup.board = self.board.clone();
        setup.turn = self.turn;
        setup.ep_square = self.usable_en_passant();
        setup
    }

    /// The move in SAN, with signs for check and mate; none if the position is none of chess.
    pub fn san(&self, m: &Move, variant: Variant) -> Option<String> {
        let setup = self.setup();
        match variant {
            Variant::Normal => san(set_up::<Chess>(setup)?, m.to_shakmaty()),
            Variant::Suicide => san(set_up::<Antichess>(setup)?, m.to_shakmaty()),
        }
    }
}

fn set_up<P: FromSetup>(setup: Setup) -> Option<P> {
    P::from_setup(setup, CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

fn san<P: shakmaty::Position>(position: P, m: shakmaty::Move) -> Option<String> {
    position.is_legal(m).then(|| SanPlus::from_move(position, m).to_string())
}

/// The placement field of a FEN.
fn board_from_fen(text: &str) -> Option<Board> {
    let mut board = Board::empty();
    let mut ranks = 0;
    for (row, rank) in text.split('/').enumerate() {
        let y = 7_u32.checked_sub(row as u32)?;
        let mut x = 0;
        for ch in rank.chars() {
            if let Some(empty) = ch.to_digit(10) {
                if !(1..=8).contains(&empty) {
                    return None;
                }
                x += empty;
            } else {
                let piece = Piece::from_char(ch)?;
                if x >= 8 {
                    return None;
                }
                board.set_piece_at(Square::new(y * 8 + x), piece);
                x += 1;
            }
            if x > 8 {
                return None;
            }
        }
        if x != 8 {
            return None;
        }
        ranks += 1;
    }
    (ranks == 8).then_some(board)
}

impl Move {
    fn to_shakmaty(self) -> shakmaty::Move {
        if self.en_passant {
            return shakmaty::Move::EnPassant { from: self.from, to: self.to };
        }
        shakmaty::Move::Normal {
            role: self.role,
            from: self.from,
            capture: self.capture,
            to: self.to,
            promotion: self.promotion,
        }
    }

    /// The move as `e2e4`, `a7a8q`.
    pub fn uci(&self) -> String {
        match self.promotion {
            Some(role) => format!("{}{}{}", self.from, self.to, role.char()),
            None => format!("{}{}", self.from, self.to),
        }
    }

    /// The move as the classic prompt lists it: `Ke1f1`, `Pa4xb3`, `Pa7xb8=N`.
    pub fn classic(&self) -> String {
        format!("{}{}", self.role.upper_char(), self.typed(Color::White))
    }

    /// The move as the classic prompt wants it typed by a side: `e1f1`, `a4xb3`, White's `a7xb8=N`, Black's
    /// `d2d1=q`.
    pub fn typed(&self, turn: Color) -> String {
        let cross = if self.capture.is_some() { "x" } else { "" };
        let mut text = format!("{}{cross}{}", self.from, self.to);
        if let Some(role) = self.promotion {
            text.push('=');
            text.push(role.of(turn).char());
        }
        text
    }

    /// The kind of futuremove by which prunes know it: `Ke4`, `PxP`, `P=Q`, `PxR=Q`. `inverted` tells that
    /// the table has the colours exchanged, and so its squares mirrored.
    pub fn kind(&self, inverted: bool) -> String {
        let to = if inverted { self.to.flip_vertical() } else { self.to };
        kind_name(self.role, to, self.capture, self.promotion)
    }

    /// Whether it captures or moves a pawn.
    pub fn is_zeroing(&self) -> bool {
        self.capture.is_some() || self.role == Role::Pawn
    }

    /// Whether it changes the material: captures or promotes.
    pub fn is_conversion(&self) -> bool {
        self.capture.is_some() || self.promotion.is_some()
    }
}
