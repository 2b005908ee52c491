//! Steps: the moves that leave a slice, told apart by what they do to its men.

use hoffman_board::{Bitboard, Color, FuturemoveKind, Rank, Role, Square, Variant};
use hoffman_space::{Layout, PawnSquares, TableValues};

use crate::context::Context;
use crate::view::{MaterialChange, View};

/// How an exit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A pawn moves to an empty square (or takes a pawn): all movers stay where they are. `jumped`
    /// is the square that a double step jumps over.
    Whole { jumped: Option<Square> },
    /// A pawn takes the mover `victim` on the square `at`, promoting or not.
    PawnTakes { victim: usize, at: Square },
    /// One of the movers `takers` goes to `at`, where it takes a pawn or where it may not stand in
    /// this table.
    GoesTo { at: Square, takers: u32 },
    /// One of the movers `takers` takes the mover `victim`.
    Takes { victim: usize, takers: u32 },
}

/// A move out of the slice, on the way to its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) color: Color,
    pub(crate) kind: FuturemoveKind,
    pub(crate) way: Way,
    pub(crate) change: MaterialChange,
    /// The pawns behind the move.
    pub(crate) pawns: PawnSquares,
}

impl Step {
    /// The views of what is behind it in a table, whose colours are exchanged against `ours` if
    /// `swapped`.
    pub(crate) fn views<'a>(
        &self,
        table: &'a TableValues,
        swapped: bool,
        ours: &Layout,
    ) -> Vec<View<'a>> {
        View::all(table, swapped, self.pawns, self.color.other(), ours, self.change)
    }
}

/// A capture by a man, which may be a pawn that promotes.
fn captures(by: Role, of: Role, promotion: Option<Role>) -> FuturemoveKind {
    FuturemoveKind::Capture { by, of, promotion }
}

/// A square as a set of one.
fn bit(square: Square) -> u64 {
    Bitboard::from_square(square).0
}

/// The roles a pawn can become.
pub(crate) fn promotions(variant: Variant) -> &'static [Role] {
    const ALL: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];
    match variant {
        Variant::Normal => &ALL[..4],
        Variant::Suicide => &ALL,
    }
}

/// Lists the steps out of the slice by `color`. Where `by_role`, men of different roles that do
/// the same come as different steps.
pub(crate) fn steps(context: &Context<'_>, color: Color, by_role: bool) -> Vec<Step> {
    let mut list =
        StepList { context, color, victims: victims(context, color.other()), steps: Vec::new() };
    for from in Bitboard(context.pawns.of(color)) {
        list.add_pawn_steps(from);
        list.add_pawn_captures(from);
    }
    list.add_captures(by_role);
    list.add_moves_off_the_table();
    list.steps
}

/// The men of a colour that can be taken, with their movers.
fn victims(context: &Context<'_>, color: Color) -> Vec<(usize, Role)> {
    let normal = context.layout.variant() == Variant::Normal;
    let movers = context.layout.movers().iter().enumerate();
    let of_color = movers.filter(|(_, m)| m.color == color && m.is_man());
    of_color
        .map(|(i, m)| (i, m.role))
        .filter(|&(_, role)| !(normal && role == Role::King))
        .collect()
}

/// Steps being listed.
struct StepList<'c, 'a> {
    context: &'c Context<'a>,
    color: Color,
    /// The other side's men that can be taken.
    victims: Vec<(usize, Role)>,
    steps: Vec<Step>,
}

impl StepList<'_, '_> {
    fn add(&mut self, kind: FuturemoveKind, way: Way, change: MaterialChange, pawns: PawnSquares) {
        self.steps.push(Step { color: self.color, kind, way, change, pawns });
    }

    /// Whether a pawn stands on a square.
    fn is_taken(&self, square: Square) -> bool {
        Bitboard(self.context.pawns.occupied()).contains(square)
    }

    /// The pawns without the one on `from`, or with it on `to` instead.
    fn pawns_after(&self, from: Square, to: Option<Square>) -> PawnSquares {
        let mut pawns = self.context.pawns;
        *pawns.of_mut(self.color) &= !bit(from);
        if let Some(to) = to {
            *pawns.of_mut(self.color) |= bit(to);
        }
        pawns
    }

    /// The rank of a square as its side counts.
    fn relative_rank(&self, square: Square) -> Rank {
        self.color.relative_rank(square.rank())
    }

    /// The square before a pawn, if it is on the board.
    fn ahead(&self, from: Square) -> Option<Square> {
        from.offset(self.color.fold_wb(8, -8))
    }

    /// Steps of the pawn on `from` along its file.
    fn add_pawn_steps(&mut self, from: Square) {
        let Some(ahead) = self.ahead(from).filter(|&ahead| !self.is_taken(ahead)) else { return };
        let whole = Way::Whole { jumped: None };

        if self.relative_rank(from) == Rank::Seventh {
            for &role in promotions(self.context.layout.variant()) {
                let promoted = Some((self.color, role, ahead));
                let change = MaterialChange { captured: None, promoted };
                self.add(
                    FuturemoveKind::Promotion(role),
                    whole,
                    change,
                    self.pawns_after(from, None),
                );
            }
            return;
        }

        let pawns = self.pawns_after(from, Some(ahead));
        self.add(FuturemoveKind::Quiet(Role::Pawn, ahead), whole, MaterialChange::default(), pawns);
        let far = self.ahead(ahead).filter(|&far| !self.is_taken(far));
        if let Some(far) = far.filter(|_| self.relative_rank(from) == Rank::Second) {
            let way = Way::Whole { jumped: Some(ahead) };
            let pawns = self.pawns_after(from, Some(far));
            self.add(FuturemoveKind::Quiet(Role::Pawn, far), way, MaterialChange::default(), pawns);
        }
    }

    /// Captures by the pawn on `from`, of pawns and of men; those en passant are rights.
    fn add_pawn_captures(&mut self, from: Square) {
        let enemy = self.color.other();
        for at in self.context.tables.pawn_reach(self.color, from) {
            if Bitboard(self.context.pawns.of(enemy)).contains(at) {
                let mut pawns = self.pawns_after(from, Some(at));
                *pawns.of_mut(enemy) &= !bit(at);
                let kind = captures(Role::Pawn, Role::Pawn, None);
                self.add(kind, Way::Whole { jumped: None }, MaterialChange::default(), pawns);
            } else if !self.is_taken(at) {
                self.add_captures_of_men(from, at);
            }
        }
    }

    /// Captures of men on `at` by the pawn on `from`.
    fn add_captures_of_men(&mut self, from: Square, at: Square) {
        let movers = self.context.layout.movers();
        let reached = |&(victim, _): &(usize, Role)| Bitboard(movers[victim].squares).contains(at);
        let victims: Vec<(usize, Role)> = self.victims.iter().copied().filter(reached).collect();
        for (victim, of) in victims {
            let (way, captured) = (Way::PawnTakes { victim, at }, Some(victim));
            if self.relative_rank(from) != Rank::Seventh {
                let change = MaterialChange { captured, promoted: None };
                let pawns = self.pawns_after(from, Some(at));
                self.add(captures(Role::Pawn, of, None), way, change, pawns);
                continue;
            }
            for &role in promotions(self.context.layout.variant()) {
                let change = MaterialChange { captured, promoted: Some((self.color, role, at)) };
                let kind = captures(Role::Pawn, of, Some(role));
                self.add(kind, way, change, self.pawns_after(from, None));
            }
        }
    }

    /// Captures by men that are not pawns.
    fn add_captures(&mut self, by_role: bool) {
        let context = self.context;
        let enemy = self.color.other();
        for (role, takers) in self.groups(by_role) {
            for at in Bitboard(context.pawns.of(enemy)) {
                let mut pawns = context.pawns;
                *pawns.of_mut(enemy) &= !bit(at);
                let kind = captures(role, Role::Pawn, None);
                self.add(kind, Way::GoesTo { at, takers }, MaterialChange::default(), pawns);
            }
            for (victim, of) in self.victims.clone() {
                let change = MaterialChange { captured: Some(victim), promoted: None };
                let way = Way::Takes { victim, takers };
                self.add(captures(role, of, None), way, change, context.pawns);
            }
        }
    }

    /// The men that take, each role for itself or all together.
    fn groups(&self, by_role: bool) -> Vec<(Role, u32)> {
        let (context, color) = (self.context, self.color);
        let own = context.layout.movers().iter().filter(|m| m.color == color && m.is_man());
        let mut roles: Vec<Role> = own.map(|m| m.role).collect();
        roles.sort_unstable();
        roles.dedup();
        if by_role {
            return roles.iter().map(|&role| (role, context.takers(color, Some(role)))).collect();
        }
        // The role does not matter then.
        roles.first().map(|&role| (role, context.takers(color, None))).into_iter().collect()
    }

    /// Moves of men to empty squares that are none of theirs in this table.
    fn add_moves_off_the_table(&mut self) {
        let context = self.context;
        let layout = context.layout;
        let occupied = context.pawns.occupied();
        let is_mixed = |m: usize| layout.mixed().iter().any(|group| group.movers.contains(&m));
        for (m, mover) in layout.movers().iter().enumerate() {
            if mover.color != self.color || !mover.is_man() {
                continue;
            }
            // A man of a mixed group may leave the table on squares that belong to others of the
            // group.
            let leaves = if is_mixed(m) { u64::MAX } else { !mover.squares };
            for at in Bitboard(leaves & !occupied) {
                let reach = context.tables.reach(mover.role, at.into());
                if reach & mover.squares & !occupied != 0 {
                    let way = Way::GoesTo { at, takers: 1 << m };
                    self.add(
                        FuturemoveKind::Quiet(mover.role, at),
                        way,
                        MaterialChange::default(),
                        context.pawns,
                    );
                }
            }
        }
    }
}

/// The square jumped over and the one that the pawn came from, of a right of `taker`.
pub(crate) fn empty_squares(square: Square, taker: Color) -> Bitboard {
    let behind = square.offset(taker.fold_wb(8, -8));
    behind.into_iter().chain([square]).collect()
}

/// The en passant rights that the slice's pawns allow, usable or not: square jumped over, the side
/// that may take, and its captures.
pub(crate) fn rights(context: &Context<'_>) -> Vec<(Square, Color, Vec<Step>)> {
    let pawns = context.pawns;
    let mut rights = Vec::new();
    for mover in Color::ALL {
        let taker = mover.other();
        let fourth = mover.relative_rank(Rank::Fourth);
        for at in Bitboard(pawns.of(mover)) & Bitboard::from_rank(fourth) {
            let jumped = at.offset(mover.fold_wb(-8, 8));
            let free = |&square: &Square| {
                (empty_squares(square, taker) & Bitboard(pawns.occupied())).is_empty()
            };
            if let Some(square) = jumped.filter(free) {
                rights.push((square, taker, captures_en_passant(context, taker, at, square)));
            }
        }
    }
    rights
}

/// The captures en passant of the pawn on `at` that has jumped over `square`.
fn captures_en_passant(
    context: &Context<'_>,
    taker: Color,
    at: Square,
    square: Square,
) -> Vec<Step> {
    let pawns = context.pawns;
    let attacks = |&from: &Square| context.tables.pawn_reach(taker, from).contains(square);
    let capture = |from: Square| {
        let mut taken = pawns;
        *taken.of_mut(taker.other()) &= !bit(at);
        *taken.of_mut(taker) ^= bit(from) | bit(square);
        Step {
            color: taker,
            kind: captures(Role::Pawn, Role::Pawn, None),
            way: Way::Whole { jumped: None },
            change: MaterialChange::default(),
            pawns: taken,
        }
    };
    Bitboard(pawns.of(taker)).into_iter().filter(attacks).map(capture).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hoffman_board::shakmaty::{CastlingMode, Chess, Move, Position as _, Setup, fen::Fen};
    use hoffman_space::Layout;

    use super::*;

    /// The kind of a move that leaves the slice, and the pawns behind it.
    fn leaving(position: &Chess, played: Move) -> Option<(String, PawnSquares)> {
        let pawns = |setup: &Setup| {
            let of = |color| u64::from(setup.board.pawns() & setup.board.by_color(color));
            PawnSquares { white: of(Color::White), black: of(Color::Black) }
        };
        let before = pawns(&position.to_setup(hoffman_board::shakmaty::EnPassantMode::Always));
        let mut next = position.clone();
        next.play_unchecked(played);
        let after = pawns(&next.to_setup(hoffman_board::shakmaty::EnPassantMode::Always));
        let role = played.role();
        let kind = match (played.capture(), played.promotion()) {
            (Some(victim), promotion) => captures(role, victim, promotion),
            (None, Some(promotion)) => FuturemoveKind::Promotion(promotion),
            (None, None) if before != after => FuturemoveKind::Quiet(Role::Pawn, played.to()),
            (None, None) => return None,
        };
        Some((kind.to_string(), after))
    }

    /// Plays all legal moves in many positions: what leaves the slice is what is listed, no more
    /// and no less.
    #[test]
    fn steps_are_the_moves_that_leave_the_slice() {
        let pawns = "8/P6p/8/2Pp4/8/1p6/P1P4p/8";
        let board: Setup = format!("{pawns} w - - 0 1").parse::<Fen>().unwrap().into_setup();
        let of = |color| u64::from(board.board.by_color(color));
        let structure = PawnSquares { white: of(Color::White), black: of(Color::Black) };
        let layout = Layout::new(&"KRPPPPvKNPPPP".parse().unwrap());
        let context = Context::new(&layout, structure);
        for color in Color::ALL {
            let listed: BTreeSet<(String, PawnSquares)> = steps(&context, color, true)
                .iter()
                .map(|step| (step.kind.to_string(), step.pawns))
                .collect();
            let mut played = BTreeSet::new();
            let mut state = 1_u64;
            for _ in 0..60_000 {
                let mut setup = board.clone();
                setup.turn = color;
                for piece in ["K", "R", "k", "n"] {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let square = hoffman_board::Square::new((state >> 58) as u32);
                    if setup.board.piece_at(square).is_none() {
                        let piece = piece.chars().next().and_then(hoffman_board::Piece::from_char);
                        setup.board.set_piece_at(square, piece.unwrap());
                    }
                }
                let Ok(position) = setup.position::<Chess>(CastlingMode::Standard) else {
                    continue;
                };
                for played_move in position.legal_moves() {
                    played.extend(leaving(&position, played_move));
                }
            }
            assert_eq!(played, listed, "{color}");
        }
    }
}
