//! What is assumed beyond the rules: moves that lose, or win, whatever is behind them.

use std::collections::HashMap;

use hoffman_board::shakmaty::{Chess, Move, Position as _};
use hoffman_board::{Bitboard, ByColor, Color, FuturemoveKind, Outcome, Role, Square};
use hoffman_solve::Leaving;
use hoffman_space::PawnStructure;

/// What a move is worth, whatever is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It wins for the side that makes it.
    Wins,
    /// It loses: it is as good as forbidden, and a side that has no other move has lost.
    Loses,
}

impl Ruling {
    /// The outcome of a move of a side.
    pub(crate) fn outcome(self, color: Color) -> Outcome {
        match self {
            Ruling::Wins => Outcome::won_by(color),
            Ruling::Loses => Outcome::won_by(color.other()),
        }
    }
}

/// Assumptions about moves. What is proven under them is true of the game in which they hold.
///
/// Moves that lose make a game worse for the side that has them, moves that win make it better, so
/// that a side that wins or holds in spite of all of them does so in chess.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    rulings: HashMap<(Color, FuturemoveKind), Ruling>,
    frozen: ByColor<Bitboard>,
    /// The squares of the pieces that have not all of them.
    squares: HashMap<(Color, Role), Bitboard>,
}

impl Assumptions {
    /// The rules alone.
    #[must_use]
    pub fn new() -> Assumptions {
        Assumptions::default()
    }

    /// What happens to a side's captures, promotions or pawn steps of a kind. The first ruling on
    /// a kind counts. Quiet moves of pieces are not ruled on, see [`Assumptions::confine`].
    pub fn rule(&mut self, color: Color, kind: FuturemoveKind, ruling: Ruling) {
        self.rulings.entry((color, kind)).or_insert(ruling);
    }

    /// A side loses by moving a pawn that stands on a square.
    pub fn freeze(&mut self, color: Color, square: Square) {
        self.frozen.get_mut(color).add(square);
    }

    /// A side loses by moving a piece of a role to another square than these.
    pub fn confine(&mut self, color: Color, role: Role, squares: Bitboard) {
        *self.squares.entry((color, role)).or_insert(Bitboard::FULL) &= squares;
    }

    /// A piece of a position that does not stand where it may.
    #[must_use]
    pub fn misplaced(&self, position: &Chess) -> Option<(Color, Role, Square)> {
        let men = position.board().clone().into_iter();
        let mut men = men.map(|(square, piece)| (piece.color, piece.role, square));
        men.find(|&(color, role, square)| !self.squares(color, role).contains(square))
    }

    /// What happens to a legal move; none if it is played as ever.
    #[must_use]
    pub fn of_move(&self, position: &Chess, m: &Move) -> Option<Ruling> {
        let (color, role, to) = (position.turn(), m.role(), m.to());
        let stays = m.from().is_some_and(|from| self.frozen.get(color).contains(from));
        let becomes = m.promotion().unwrap_or(role);
        if role == Role::Pawn && stays || !self.squares(color, becomes).contains(to) {
            return Some(Ruling::Loses);
        }
        let kind = FuturemoveKind::of_move(role, to, m.capture(), m.promotion());
        self.rulings.get(&(color, kind)).copied()
    }

    /// What happens to moves that leave a slice; none if they are played as ever, but for those
    /// that end where the piece may not stand.
    pub(crate) fn of_leaving(&self, before: PawnStructure, leaving: &Leaving) -> Option<Ruling> {
        let Leaving { color, pawns, promoted, kind, .. } = *leaving;
        let gone = |of: Color| Bitboard(before.of(of) & !pawns.of(of));
        let stays = !(gone(color) & *self.frozen.get(color)).is_empty();
        let landing = match kind {
            FuturemoveKind::Quiet(role, to) => Some((role, to)),
            FuturemoveKind::Capture { by, of: Role::Pawn, promotion: None } if by != Role::Pawn => {
                gone(color.other()).first().map(|at| (by, at))
            }
            _ => promoted.map(|(_, role, to)| (role, to)),
        };
        if stays || landing.is_some_and(|(role, to)| !self.squares(color, role).contains(to)) {
            return Some(Ruling::Loses);
        }
        self.rulings.get(&(color, kind)).copied()
    }

    /// The squares on which a side's pieces of a role may stand.
    pub(crate) fn squares(&self, color: Color, role: Role) -> Bitboard {
        self.squares.get(&(color, role)).copied().unwrap_or(Bitboard::FULL)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rulings.is_empty() && self.squares.is_empty() && self.frozen == ByColor::default()
    }

    /// Whether a side may lose by what is assumed.
    pub(crate) fn may_beat(&self, loser: Color) -> bool {
        let ruled = self
            .rulings
            .iter()
            .any(|(&(color, _), ruling)| ruling.outcome(color) == Outcome::won_by(loser.other()));
        self.confines(loser) || ruled || !self.frozen.get(loser).is_empty()
    }

    /// Whether pieces of a side have not all squares.
    pub(crate) fn confines(&self, color: Color) -> bool {
        self.squares.keys().any(|of| of.0 == color)
    }

    /// Whether they change endings without pawns.
    pub(crate) fn concern_pieces(&self) -> bool {
        let is_of_pieces = |kind: FuturemoveKind| match kind {
            FuturemoveKind::Capture { by, of, .. } => by != Role::Pawn && of != Role::Pawn,
            _ => false,
        };
        !self.squares.is_empty() || self.rulings.keys().any(|&(_, kind)| is_of_pieces(kind))
    }
}
