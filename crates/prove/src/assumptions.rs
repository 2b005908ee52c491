//! What is assumed beyond the rules: moves that lose, or win, whatever is behind them.

use std::collections::HashMap;

use hoffman_board::shakmaty::{Chess, Move, MoveList, Position as _};
use hoffman_board::{Bitboard, ByColor, Color, FuturemoveKind, Outcome, Role, Square};
use hoffman_solve::{Leaving, SliceRules};
use hoffman_space::PawnSquares;

/// What a move is worth, whatever is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedResult {
    /// It wins for the side that makes it.
    Wins,
    /// It loses: it is as good as forbidden, and a side that has no other move has lost.
    Loses,
}

impl AssumedResult {
    /// The outcome of a move of a side.
    pub(crate) fn outcome(self, color: Color) -> Outcome {
        match self {
            AssumedResult::Wins => Outcome::won_by(color),
            AssumedResult::Loses => Outcome::won_by(color.other()),
        }
    }
}

/// Assumptions about moves. What is proven under them is true of the game in which they hold.
///
/// Moves that lose make a game worse for the side that has them, moves that win make it better, so
/// that a side that wins or holds in spite of all of them does so in chess.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    rulings: HashMap<(Color, FuturemoveKind), AssumedResult>,
    /// The squares of the pieces that have not all of them.
    squares: HashMap<(Color, Role), Bitboard>,
    /// Where no move of a side's men of a role may start; of those that may start anywhere nothing.
    from: HashMap<(Color, Role), Bitboard>,
    /// Where no move of a side may end.
    to: ByColor<Bitboard>,
    /// Whether a side may not move to squares that the other one attacks.
    attacked: ByColor<bool>,
    stalemates: Option<Color>,
}

impl Assumptions {
    /// The rules alone.
    #[must_use]
    pub fn new() -> Assumptions {
        Assumptions::default()
    }

    /// What happens to a side's captures, promotions or pawn steps of a kind. The first ruling on a
    /// kind counts, and more than what is said of squares. Quiet moves of pieces are not ruled on,
    /// see [`Assumptions::confine`].
    pub fn rule(&mut self, color: Color, kind: FuturemoveKind, ruling: AssumedResult) {
        self.rulings.entry((color, kind)).or_insert(ruling);
    }

    /// A side loses by moving a man of a role that stands on a square, whenever it came there.
    pub fn freeze(&mut self, color: Color, role: Role, square: Square) {
        self.from.entry((color, role)).or_default().add(square);
    }

    /// A side loses by moving a piece of a role to another square than these.
    pub fn confine(&mut self, color: Color, role: Role, squares: Bitboard) {
        *self.squares.entry((color, role)).or_insert(Bitboard::FULL) &= squares;
    }

    /// A side loses by moving a man that stands on one of these squares, whenever it came there.
    pub fn exclude_from(&mut self, color: Color, squares: Bitboard) {
        for role in Role::ALL {
            squares.into_iter().for_each(|square| self.freeze(color, role, square));
        }
    }

    /// A side loses by moving a man to one of these squares. One that stands there may leave.
    pub fn exclude_to(&mut self, color: Color, squares: Bitboard) {
        *self.to.get_mut(color) |= squares;
    }

    /// A side loses by moving a man to a square that the other side attacks before the move. That
    /// is known of positions looked at one by one alone, see [`Prover::one_by_one`].
    ///
    /// [`Prover::one_by_one`]: crate::Prover::one_by_one
    pub fn exclude_to_attacked(&mut self, color: Color) {
        *self.attacked.get_mut(color) = true;
    }

    /// Whether what happens to a move depends on where other men stand.
    pub(crate) fn depend_on_attacks(&self) -> bool {
        Color::ALL.into_iter().any(|color| *self.attacked.get(color))
    }

    /// A side wins by stalemate, whoever has no move.
    pub fn win_stalemates(&mut self, color: Color) {
        self.stalemates = Some(color);
    }

    /// The side that wins by stalemate.
    #[must_use]
    pub fn stalemates_won_by(&self) -> Option<Color> {
        self.stalemates
    }

    /// A piece of a position that does not stand where it may.
    #[must_use]
    pub fn misplaced(&self, position: &Chess) -> Option<(Color, Role, Square)> {
        let men = position.board().clone().into_iter();
        let mut men = men.map(|(square, piece)| (piece.color, piece.role, square));
        men.find(|&(color, role, square)| !self.confined(color, role).contains(square))
    }

    /// What happens to a legal move; none if it is played as ever.
    #[must_use]
    pub fn of_move(&self, position: &Chess, m: &Move) -> Option<AssumedResult> {
        let (color, role, to) = (position.turn(), m.role(), m.to());
        let kind = FuturemoveKind::of_move(role, to, m.capture(), m.promotion());
        if let Some(&ruling) = self.rulings.get(&(color, kind)) {
            return Some(ruling);
        }
        let stays = m.from().is_some_and(|from| self.is_from(color, role, from));
        let becomes = m.promotion().unwrap_or(role);
        let attacked = || {
            let board = position.board();
            *self.attacked.get(color) && board.attacks_to(to, color.other(), board.occupied()).any()
        };
        let loses = stays || !self.squares(color, becomes).contains(to) || attacked();
        loses.then_some(AssumedResult::Loses)
    }

    /// The legal moves of a position but those that lose by what is assumed.
    pub(crate) fn moves(&self, position: &Chess) -> MoveList {
        let mut moves = position.legal_moves();
        if !self.is_empty() {
            moves.retain(|m| self.of_move(position, m) != Some(AssumedResult::Loses));
        }
        moves
    }

    /// What happens to moves that leave a slice; none if they are played as ever, but for those
    /// that end where the piece may not stand.
    pub(crate) fn of_leaving(
        &self,
        before: PawnSquares,
        leaving: &Leaving,
    ) -> Option<AssumedResult> {
        let Leaving { color, pawns, promoted, kind, .. } = *leaving;
        if let Some(&ruling) = self.rulings.get(&(color, kind)) {
            return Some(ruling);
        }
        let gone = |of: Color| Bitboard(before.of(of) & !pawns.of(of));
        let stays = !(gone(color) & self.from(color, Role::Pawn)).is_empty();
        let come = Bitboard(pawns.of(color) & !before.of(color));
        let stays = stays || !(come & *self.to.get(color)).is_empty();
        let landing = match kind {
            FuturemoveKind::Quiet(role, to) => Some((role, to)),
            FuturemoveKind::Capture { by, of: Role::Pawn, promotion: None } if by != Role::Pawn => {
                gone(color.other()).first().map(|at| (by, at))
            }
            _ => promoted.map(|(_, role, to)| (role, to)),
        };
        let loses =
            stays || landing.is_some_and(|(role, to)| !self.squares(color, role).contains(to));
        loses.then_some(AssumedResult::Loses)
    }

    /// The squares on which a side's pieces of a role are kept.
    fn confined(&self, color: Color, role: Role) -> Bitboard {
        self.squares.get(&(color, role)).copied().unwrap_or(Bitboard::FULL)
    }

    /// The squares to which a side's men of a role may go.
    fn squares(&self, color: Color, role: Role) -> Bitboard {
        self.confined(color, role) & !*self.to.get(color)
    }

    /// The squares to which a side's pieces of a role may go, and which they may leave.
    pub(crate) fn free_squares(&self, color: Color, role: Role) -> Bitboard {
        self.squares(color, role) & !self.from(color, role)
    }

    /// Whether squares are excluded of pieces.
    pub(crate) fn excludes(&self) -> bool {
        Color::ALL.into_iter().any(|color| self.excludes_of(color))
    }

    fn excludes_of(&self, color: Color) -> bool {
        let keeps = self.from.keys().any(|&(of, role)| of == color && role != Role::Pawn);
        keeps || !self.to.get(color).is_empty()
    }

    /// The squares from which a side's men of a role may not go.
    fn from(&self, color: Color, role: Role) -> Bitboard {
        self.from.get(&(color, role)).copied().unwrap_or_default()
    }

    /// Whether moves of a side's men of a role may not start from a square.
    pub(crate) fn is_from(&self, color: Color, role: Role, square: Square) -> bool {
        self.from(color, role).contains(square)
    }

    /// The squares to which a side's pieces of a role may come, and from which they may not go.
    pub(crate) fn posts(&self, color: Color, role: Role) -> Bitboard {
        self.squares(color, role) & self.from(color, role)
    }

    /// Whether moves of a side's men of a role may not start from a square, or not end there.
    pub(crate) fn is_excluded(&self, color: Color, role: Role, square: Square) -> bool {
        (self.from(color, role) | *self.to.get(color)).contains(square)
    }

    /// What the solver of a slice has to know.
    pub(crate) fn rules(&self) -> SliceRules {
        SliceRules { by_role: !self.is_empty(), stalemates: self.stalemates }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let places = self.squares.is_empty() && self.from.is_empty() && !self.excludes();
        let attacks = self.depend_on_attacks();
        places && !attacks && self.rulings.is_empty() && self.stalemates.is_none()
    }

    /// Whether a side may lose by what is assumed.
    pub(crate) fn may_beat(&self, loser: Color) -> bool {
        let ruled = self
            .rulings
            .iter()
            .any(|(&(color, _), ruling)| ruling.outcome(color) == Outcome::won_by(loser.other()));
        let stalemated = self.stalemates == Some(loser.other());
        let keeps_pawns = !self.from(loser, Role::Pawn).is_empty();
        self.confines(loser) || ruled || stalemated || keeps_pawns
    }

    /// Whether pieces of a side have not all squares, or not all moves.
    pub(crate) fn confines(&self, color: Color) -> bool {
        self.squares.keys().any(|of| of.0 == color) || self.excludes_of(color)
    }

    /// Whether they change endings without pawns.
    pub(crate) fn concern_pieces(&self) -> bool {
        let is_of_pieces = |kind: FuturemoveKind| match kind {
            FuturemoveKind::Capture { by, of, .. } => by != Role::Pawn && of != Role::Pawn,
            _ => false,
        };
        let everywhere = !self.squares.is_empty() || self.excludes() || self.stalemates.is_some();
        everywhere || self.rulings.keys().any(|&(_, kind)| is_of_pieces(kind))
    }
}
