//! The legal moves of a position in the order of the classic prompt, and their names.
//!
//! Moves are walked here, outwards along each direction, because the order of the walk is the
//! order of the list; their names in SAN come from `shakmaty`. Knows no tables.

use std::fmt;
use std::ops::ControlFlow;

use hoffman_board::shakmaty::san::SanPlus;
use hoffman_board::shakmaty::variant::Antichess;
use hoffman_board::shakmaty::{self, Chess};
use hoffman_board::{Color, FuturemoveKind, Piece, Rank, Role, Square, Variant};

use crate::position::{Position, set_up};

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

/// The directions of sliding men and kings in the order of the list: right, left, up, down,
/// up-left, up-right, down-left, down-right, as steps of file and rank.
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

/// Is shown moves and says whether it wants more.
type Visitor<'v> = dyn FnMut(Move) -> ControlFlow<()> + 'v;

impl Position {
    /// The legal moves in the order of the classic prompt: origins from a1 to h8, each man's
    /// directions in their order, each outwards; pawns forward first, then captures. None if the
    /// side to move could capture the enemy king; in suicide chess only captures if there are any.
    ///
    /// Of placements that are no positions of chess too: a side with two kings may leave neither
    /// in check.
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
        let walked = self.walk(variant, &mut |m| {
            let legal = variant == Variant::Suicide || self.is_safe(m);
            if legal { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        walked.is_break()
    }

    /// Whether a piece of the side to move may go there by the rules of movement alone.
    pub(crate) fn can_reach(&self, from: Square, to: Square) -> bool {
        self.possible_moves(Variant::Normal).iter().any(|m| (m.from, m.to) == (from, to))
    }

    /// Whether a possible move leaves none of the mover's kings in check and takes no king.
    fn is_safe(&self, m: Move) -> bool {
        m.capture != Some(Role::King) && !self.after(&m).is_opponent_in_check()
    }

    /// The moves that follow the rules of movement alone; none if a king could be captured.
    fn possible_moves(&self, variant: Variant) -> Vec<Move> {
        let mut moves = Vec::new();
        let _ = self.walk(variant, &mut |m| {
            moves.push(m);
            ControlFlow::Continue(())
        });
        moves
    }

    /// Visits the moves of [`Position::possible_moves`] one by one, as long as the visitor goes
    /// on.
    fn walk(&self, variant: Variant, visit: &mut Visitor<'_>) -> ControlFlow<()> {
        if variant == Variant::Normal && self.is_opponent_in_check() {
            return ControlFlow::Continue(());
        }
        for from in self.board.by_color(self.turn) {
            match self.board.role_at(from) {
                Some(Role::Pawn) => self.walk_pawn(from, variant, visit)?,
                Some(Role::Knight) => self.walk_man(from, Role::Knight, &KNIGHT_JUMPS, visit)?,
                Some(role) => {
                    let directions = match role {
                        Role::Rook => &DIRECTIONS[..4],
                        Role::Bishop => &DIRECTIONS[4..],
                        _ => &DIRECTIONS[..],
                    };
                    self.walk_man(from, role, directions, visit)?;
                }
                None => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn walk_man(
        &self,
        from: Square,
        role: Role,
        directions: &[(i32, i32)],
        visit: &mut Visitor<'_>,
    ) -> ControlFlow<()> {
        let slides = matches!(role, Role::Queen | Role::Rook | Role::Bishop);
        for &direction in directions {
            let mut next = step(from, direction);
            while let Some(to) = next {
                let target = self.board.piece_at(to);
                if target.is_some_and(|p| p.color == self.turn) {
                    break;
                }
                let capture = target.map(|p| p.role);
                visit(Move { role, from, to, capture, promotion: None, en_passant: false })?;
                next = if slides && capture.is_none() { step(to, direction) } else { None };
            }
        }
        ControlFlow::Continue(())
    }

    fn walk_pawn(
        &self,
        from: Square,
        variant: Variant,
        visit: &mut Visitor<'_>,
    ) -> ControlFlow<()> {
        let up = self.turn.fold_wb(1, -1);
        let last = self.turn.fold_wb(Rank::Eighth, Rank::First);
        let mut visit = |to: Square, capture: Option<Role>, en_passant: bool| {
            let m = Move { role: Role::Pawn, from, to, capture, promotion: None, en_passant };
            if to.rank() == last { walk_promotions(m, variant, visit) } else { visit(m) }
        };

        let free = |to: &Square| self.board.piece_at(*to).is_none();
        if let Some(one) = step(from, (0, up)).filter(free) {
            visit(one, None, false)?;
            if from.rank() == self.turn.fold_wb(Rank::Second, Rank::Seventh)
                && let Some(two) = step(one, (0, up)).filter(free)
            {
                visit(two, None, false)?;
            }
        }

        for side in [-1, 1] {
            let Some(to) = step(from, (side, up)) else { continue };
            match self.board.piece_at(to) {
                Some(target) if target.color != self.turn => visit(to, Some(target.role), false)?,
                None if self.usable_en_passant() == Some(to) => visit(to, Some(Role::Pawn), true)?,
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// The position after a move. Its en passant square is set only if an enemy pawn stands beside
    /// the pawn that made a double step.
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
        let zeroing = m.capture.is_some() || m.role == Role::Pawn;
        let next = Position {
            board,
            turn: self.turn.other(),
            en_passant,
            halfmoves: if zeroing { 0 } else { self.halfmoves.saturating_add(1) },
            fullmoves: self.fullmoves.saturating_add(u16::from(self.turn == Color::Black)),
        };
        if jumped { next.without_useless_en_passant() } else { next }
    }

    /// The move in SAN, with signs for check and mate; none if the position is none of chess.
    pub fn san(&self, m: &Move, variant: Variant) -> Option<String> {
        let setup = self.setup();
        match variant {
            Variant::Normal => san(set_up::<Chess>(setup)?, (*m).into()),
            Variant::Suicide => san(set_up::<Antichess>(setup)?, (*m).into()),
        }
    }
}

/// Visits a pawn's move to its last rank, once for each piece that the pawn may become.
fn walk_promotions(m: Move, variant: Variant, visit: &mut Visitor<'_>) -> ControlFlow<()> {
    let count = if variant == Variant::Suicide { 5 } else { 4 };
    let mut promotions = PROMOTIONS.iter().take(count);
    promotions.try_for_each(|&role| visit(Move { promotion: Some(role), ..m }))
}

fn san<P: shakmaty::Position>(position: P, m: shakmaty::Move) -> Option<String> {
    position.is_legal(m).then(|| SanPlus::from_move(position, m).to_string())
}

impl From<Move> for shakmaty::Move {
    fn from(m: Move) -> shakmaty::Move {
        if m.en_passant {
            return shakmaty::Move::EnPassant { from: m.from, to: m.to };
        }
        shakmaty::Move::Normal {
            role: m.role,
            from: m.from,
            capture: m.capture,
            to: m.to,
            promotion: m.promotion,
        }
    }
}

/// A move of `shakmaty` that no move of a table corresponds to: castling, or a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tables know neither castling nor drops")]
pub struct UnknownMove;

impl TryFrom<shakmaty::Move> for Move {
    type Error = UnknownMove;

    fn try_from(m: shakmaty::Move) -> Result<Move, UnknownMove> {
        match m {
            shakmaty::Move::Normal { role, from, capture, to, promotion } => {
                Ok(Move { role, from, to, capture, promotion, en_passant: false })
            }
            shakmaty::Move::EnPassant { from, to } => {
                let (role, capture) = (Role::Pawn, Some(Role::Pawn));
                Ok(Move { role, from, to, capture, promotion: None, en_passant: true })
            }
            _ => Err(UnknownMove),
        }
    }
}

impl fmt::Display for Move {
    /// As `e2e4`, `a7a8q`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uci())
    }
}

impl Move {
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

    /// The move as the classic prompt wants it typed by a side: `e1f1`, `a4xb3`, White's
    /// `a7xb8=N`, Black's `d2d1=q`.
    pub fn typed(&self, turn: Color) -> String {
        let cross = if self.capture.is_some() { "x" } else { "" };
        let mut text = format!("{}{cross}{}", self.from, self.to);
        if let Some(role) = self.promotion {
            text.push('=');
            text.push(role.of(turn).char());
        }
        text
    }

    /// The kind of futuremove by which prunes know it. `inverted` tells that the table has the
    /// colours exchanged, and so its squares mirrored.
    pub fn kind(&self, inverted: bool) -> FuturemoveKind {
        let to = if inverted { self.to.flip_vertical() } else { self.to };
        FuturemoveKind::of_move(self.role, to, self.capture, self.promotion)
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
