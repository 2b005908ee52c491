//! The men of a placement and their moves, with the attack sets of `shakmaty`.

use hoffman_board::shakmaty::{self, attacks};
use hoffman_board::{
    Bitboard, ByColor, ByRole, Color, PieceList, Placement, Rank, Role, Square, Variant,
};

/// The men of a placement as sets of squares.
#[derive(Clone, Debug)]
pub(crate) struct Men {
    sets: ByColor<ByRole<Bitboard>>,
    pub(super) of: ByColor<Bitboard>,
    turn: Color,
    en_passant: Option<Square>,
}

/// A move: the man of a slot goes to a square.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotMove {
    pub(super) slot: usize,
    pub(super) to: Square,
    /// Where the man taken stands.
    pub(super) captured: Option<Square>,
    pub(super) promotion: Option<Role>,
    /// The square jumped over, if a pawn could capture there.
    pub(super) jumped: Option<Square>,
    pub(super) en_passant: bool,
    /// The index of the position behind it in the table under test, where that was found for all
    /// moves of the man at once.
    pub(super) index: Option<u64>,
}

/// Which moves of the player to move may leave his king attacked; all others need not be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exposed {
    in_check: bool,
    /// The king, and the men that stand alone between him and a slider.
    men: Bitboard,
}

impl Men {
    pub(crate) fn new(pieces: &PieceList, placement: &Placement) -> Men {
        let none = ByRole::<Bitboard>::new_with(|_| Bitboard::EMPTY);
        let mut sets = ByColor { white: none, black: none };
        let mut of = ByColor { white: Bitboard::EMPTY, black: Bitboard::EMPTY };
        for (piece, &square) in pieces.iter().zip(&placement.squares) {
            sets.get_mut(piece.color).get_mut(piece.role).add(square);
            of.get_mut(piece.color).add(square);
        }
        Men { sets, of, turn: placement.turn, en_passant: placement.en_passant }
    }

    /// The squares of the men of a kind.
    pub(crate) fn set(&self, color: Color, role: Role) -> Bitboard {
        *self.sets.get(color).get(role)
    }

    fn occupied(&self) -> Bitboard {
        self.of.white | self.of.black
    }

    /// Whether a man of `by` that is not on `without` attacks the square.
    fn is_attacked(
        &self,
        square: Square,
        by: Color,
        occupied: Bitboard,
        without: Bitboard,
    ) -> bool {
        let men = self.sets.get(by);
        let leapers = attacks::knight_attacks(square) & men.knight
            | attacks::king_attacks(square) & men.king
            | attacks::pawn_attacks(by.other(), square) & men.pawn;
        if (leapers & !without).any() {
            return true;
        }
        let straight = (men.rook | men.queen) & !without;
        let slanting = (men.bishop | men.queen) & !without;
        straight.any() && (attacks::rook_attacks(square, occupied) & straight).any()
            || slanting.any() && (attacks::bishop_attacks(square, occupied) & slanting).any()
    }

    /// Whether the king of a colour is attacked.
    pub(crate) fn is_in_check(&self, color: Color) -> bool {
        let attacked =
            |king| self.is_attacked(king, color.other(), self.occupied(), Bitboard::EMPTY);
        self.set(color, Role::King).into_iter().any(attacked)
    }

    /// Whether the player to move may, by a legal move, capture en passant.
    pub(crate) fn can_capture_en_passant(&self, variant: Variant) -> bool {
        let Some(jumped) = self.en_passant else { return false };
        let beside = attacks::pawn_attacks(self.turn.other(), jumped);
        let mut pawns = (beside & self.set(self.turn, Role::Pawn)).into_iter();
        let captured = captured_en_passant(jumped);
        pawns.any(|from| self.is_safe(variant, from, jumped, Some(captured)))
    }

    /// Whether a move of the player to move leaves his king unattacked.
    fn is_safe(
        &self,
        variant: Variant,
        from: Square,
        to: Square,
        captured: Option<Square>,
    ) -> bool {
        if variant == Variant::Suicide {
            return true;
        }
        let without = captured.map_or(Bitboard::EMPTY, Bitboard::from);
        let occupied = (self.occupied() & !without).without(from).with(to);
        let king = match self.set(self.turn, Role::King) {
            king if king.contains(from) => Bitboard::from(to),
            king => king,
        };
        !king.into_iter().any(|k| self.is_attacked(k, self.turn.other(), occupied, without))
    }

    /// The moves that may leave the king attacked.
    pub(super) fn exposed(&self) -> Exposed {
        let (kings, theirs) = (self.set(self.turn, Role::King), self.sets.get(self.turn.other()));
        let occupied = self.occupied();
        let mut men = kings;
        for king in kings {
            let straight =
                attacks::rook_attacks(king, Bitboard::EMPTY) & (theirs.rook | theirs.queen);
            let slanting =
                attacks::bishop_attacks(king, Bitboard::EMPTY) & (theirs.bishop | theirs.queen);
            for slider in straight | slanting {
                let between = attacks::between(king, slider) & occupied;
                if between.count() == 1 {
                    men |= between;
                }
            }
        }
        Exposed { in_check: self.is_in_check(self.turn), men }
    }

    /// The legal moves of the man of a slot, pseudo-legal ones in suicide chess.
    pub(super) fn steps(
        &self,
        variant: Variant,
        exposed: Exposed,
        (slot, role, from): (usize, Role, Square),
        out: &mut Vec<SlotMove>,
    ) {
        let (enemy, occupied) = (*self.of.get(self.turn.other()), self.occupied());
        if role == Role::Pawn {
            self.pawn_steps(variant, slot, from, out);
            return;
        }
        let always_safe = !exposed.in_check && !exposed.men.contains(from);
        let reached = attacks::attacks(from, role.of(self.turn), occupied);
        for to in reached & !*self.of.get(self.turn) {
            let captured = enemy.contains(to).then_some(to);
            if always_safe || self.is_safe(variant, from, to, captured) {
                let (promotion, jumped, index) = (None, None, None);
                out.push(SlotMove {
                    slot,
                    to,
                    captured,
                    promotion,
                    jumped,
                    en_passant: false,
                    index,
                });
            }
        }
    }

    fn pawn_steps(&self, variant: Variant, slot: usize, from: Square, out: &mut Vec<SlotMove>) {
        let (enemy, occupied) = (*self.of.get(self.turn.other()), self.occupied());
        let mut add = |to: Square, captured: Option<Square>, jumped, en_passant| {
            if !self.is_safe(variant, from, to, captured) {
                return;
            }
            let (promotion, index) = (None, None);
            let step = SlotMove { slot, to, captured, promotion, jumped, en_passant, index };
            if !(Bitboard::from(to) & Bitboard::BACKRANKS).any() {
                out.push(step);
                return;
            }
            let king = (variant == Variant::Suicide).then_some(Role::King);
            let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].into_iter();
            let promoted = |role| SlotMove { promotion: Some(role), ..step };
            out.extend(roles.chain(king).map(promoted));
        };

        let forward = self.turn.fold_wb(8, -8);
        let free = |square: &Square| !occupied.contains(*square);
        if let Some(one) = from.offset(forward).filter(free) {
            add(one, None, None, false);
            let at_start = from.rank() == self.turn.fold_wb(Rank::Second, Rank::Seventh);
            if let Some(two) = one.offset(forward).filter(free).filter(|_| at_start) {
                let theirs = self.set(self.turn.other(), Role::Pawn);
                let seen = (attacks::pawn_attacks(self.turn, one) & theirs).any();
                add(two, None, seen.then_some(one), false);
            }
        }

        for to in attacks::pawn_attacks(self.turn, from) & enemy {
            add(to, Some(to), None, false);
        }
        if let Some(jumped) = self.en_passant
            && attacks::pawn_attacks(self.turn, from).contains(jumped)
        {
            add(jumped, Some(captured_en_passant(jumped)), None, true);
        }
    }
}

/// Where the pawn stands that has jumped over a square.
fn captured_en_passant(jumped: Square) -> Square {
    Square::new(jumped as u32 ^ 8)
}

/// The FEN of men on squares, with move counters.
pub(crate) fn fen(
    men: impl IntoIterator<Item = (Square, Color, Role)>,
    turn: Color,
    en_passant: Option<Square>,
) -> String {
    let mut board = shakmaty::Board::empty();
    for (square, color, role) in men {
        board.set_piece_at(square, role.of(color));
    }
    let en_passant = en_passant.map_or_else(|| "-".to_owned(), |s| s.to_string());
    format!("{} {} - {en_passant} 0 1", board.board_fen(), turn.char())
}

/// The men of a placement.
pub(crate) fn men_of<'a>(
    pieces: &'a PieceList,
    placement: &'a Placement,
) -> impl Iterator<Item = (Square, Color, Role)> + 'a {
    pieces.iter().zip(&placement.squares).map(|(p, &square)| (square, p.color, p.role))
}
