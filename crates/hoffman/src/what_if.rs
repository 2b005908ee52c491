//! Assumptions about the moves of a side, and what is proven of chess in spite of them.

use std::fmt;

use hoffman_board::{Bitboard, FuturemoveKind, Role, Square, Variant, role_name};
use hoffman_control::{Claims, PrunePattern, PruneUse};
use hoffman_probe::list::squares_of;
use hoffman_prove::{AssumedResult, Assumptions};
use hoffman_reader::shakmaty::{Chess, Color, Position as _};

use crate::error::Error;
use crate::goal::Goal;

/// Something that is assumed of the moves of a side: a game that is not quite chess.
///
/// Moves that *lose* are as good as forbidden: whoever has no other one has lost. A side that wins
/// or holds although all that is assumed is to its disadvantage does so in chess as well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhatIf {
    /// A side loses by captures, promotions and pawn steps of some kinds.
    Forbidden(MovesOfSide),
    /// A side wins by them.
    Won(MovesOfSide),
    /// The man on a square loses by moving, and so does another one of its side and kind that comes
    /// there after it was taken.
    Frozen {
        /// Where it stands.
        square: Square,
        /// What it is, if that was said.
        role: Option<Role>,
    },
    /// A side loses by moving a piece of some role to another square than these.
    Confined {
        /// The side.
        color: Color,
        /// The piece; no pawn.
        role: Role,
        /// Where it may go.
        squares: Bitboard,
        /// The squares as they were written: `e1-h4`.
        text: String,
    },
    /// A side loses by moving a man that stands on one of these squares, whenever it came there.
    ExcludedFrom {
        /// The side.
        color: Color,
        /// Where its moves do not start.
        squares: Bitboard,
        /// The squares as they were written.
        text: String,
    },
    /// A side loses by moving a man to one of these squares. One that stands there may leave.
    ExcludedTo {
        /// The side.
        color: Color,
        /// Where its moves do not end.
        squares: Bitboard,
        /// The squares as they were written.
        text: String,
    },
    /// A side loses by moving a man to a square that the other side attacks before the move.
    ExcludedToAttacked(Color),
    /// A side wins by stalemate, whoever has no move.
    Stalemates(Color),
}

/// Captures, promotions and pawn steps of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovesOfSide {
    color: Color,
    /// As in control files: `RxP`, `P=?`, `PxR=Q`, `Pe4`.
    pattern: PrunePattern,
}

/// Why a text is no assumption.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    /// No side, or nothing behind it.
    #[error("'{0}' names no moves of a side: W: or B: and a kind of move, as in B:RxP or W:P=?")]
    Moves(String),
    /// A kind of moves that there is not.
    #[error(
        "no move is a '{0}': there are captures such as RxP or PxR=Q, promotions such as P=Q, and \
         pawn steps such as Pe4; ? stands for one letter, * for any"
    )]
    Kind(String),
    /// No letters of pieces that pawns become, or all of them.
    #[error("'{0}' names no choice of pieces that pawns become: one to three of Q, R, B and N")]
    Promotions(String),
    /// Not a piece on squares.
    #[error(
        "'{0}' keeps no piece on squares: w or b, a piece letter, = and squares, as in wK=e1-h4"
    )]
    Squares(String),
    /// Not a man on a square.
    #[error("'{0}' names no man: a square, or a letter and a square as in P@d4")]
    Man(String),
    /// No squares.
    #[error("'{0}' names no squares: e1, e1-h4, a file or a rank, with commas or spaces between")]
    NoSquares(String),
    /// Not the letters of pieces.
    #[error("'{text}' names no pieces: letters of {known}")]
    Pieces {
        /// The text.
        text: String,
        /// The letters that there are.
        known: String,
    },
    /// Nothing that a side can play for.
    #[error(
        "'{0}' is no goal: mate, queen, draw, stalemate, win-of-piece, or win-of-piece=QR for some pieces"
    )]
    Aim(String),
    /// No side.
    #[error("'{0}' is no side: W or B")]
    Side(String),
}

/// The kinds of moves that may be ruled on: where pieces may go is said by their squares.
pub(crate) fn kinds() -> impl Iterator<Item = FuturemoveKind> {
    let of_piece = |kind: &FuturemoveKind| matches!(kind, FuturemoveKind::Quiet(role, _) if *role != Role::Pawn);
    let of_king =
        |kind: &FuturemoveKind| matches!(kind, FuturemoveKind::Capture { of: Role::King, .. });
    FuturemoveKind::all().filter(move |kind| !of_piece(kind) && !of_king(kind))
}

impl MovesOfSide {
    /// Reads `B:RxP`: the side and a pattern as in control files.
    ///
    /// # Errors
    /// The text has another form, or no move is of that kind.
    pub fn new(text: &str) -> Result<MovesOfSide, WhatIfError> {
        let wrong = || WhatIfError::Moves(text.to_owned());
        let (side, pattern) = text.split_once(':').ok_or_else(wrong)?;
        let color = side_of(side).ok_or_else(wrong)?;
        MovesOfSide::of(color, pattern)
    }

    /// Moves of a side, of the kinds that a pattern names.
    ///
    /// # Errors
    /// There are none.
    pub fn of(color: Color, pattern: &str) -> Result<MovesOfSide, WhatIfError> {
        let moves = MovesOfSide { color, pattern: PrunePattern::new(pattern) };
        if moves.kinds().next().is_none() {
            return Err(WhatIfError::Kind(pattern.to_owned()));
        }
        Ok(moves)
    }

    /// Whose moves they are.
    pub(crate) fn color(&self) -> Color {
        self.color
    }

    /// Their kinds.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = FuturemoveKind> {
        // Steps to the last rank are promotions.
        let is_step = |square: Square| {
            let rank = u32::from(square.rank());
            (2..7).contains(&self.color.fold_wb(rank, 7 - rank))
        };
        let is_move = move |kind: &FuturemoveKind| match kind {
            FuturemoveKind::Quiet(Role::Pawn, square) => is_step(*square),
            _ => true,
        };
        kinds().filter(move |kind| is_move(kind) && self.pattern.matches(&kind.name()))
    }
}

/// Reads a side: `W` or `white`, `B` or `black`.
///
/// # Errors
/// It is neither.
pub fn parse_side(text: &str) -> Result<Color, WhatIfError> {
    side_of(text).ok_or_else(|| WhatIfError::Side(text.to_owned()))
}

/// White or Black, as `W` or `white`.
fn side_of(text: &str) -> Option<Color> {
    match text.to_lowercase().as_str() {
        "w" | "white" => Some(Color::White),
        "b" | "black" => Some(Color::Black),
        _ => None,
    }
}

impl WhatIf {
    /// Reads `wK=e1-h4`: a side's pieces of a role stay on squares. They are squares (`a7`),
    /// corners of a part of the board (`e1-h4`), files (`b`) and ranks (`7`), with commas between.
    ///
    /// # Errors
    /// The text has another form, or means pawns.
    pub fn confined(text: &str) -> Result<WhatIf, WhatIfError> {
        let read = || {
            let (man, places) = text.split_once('=')?;
            let mut letters = man.chars();
            let (Some(side), Some(role), None) = (letters.next(), letters.next(), letters.next())
            else {
                return None;
            };
            let color = side_of(side.encode_utf8(&mut [0; 4]))?;
            let role = Role::from_char(role).filter(|role| *role != Role::Pawn)?;
            let mut all = places.split(',').map(squares_of);
            let squares = Bitboard(all.try_fold(0, |all, set| Some(all | set?))?);
            Some(WhatIf::Confined { color, role, squares, text: places.to_owned() })
        };
        read().ok_or_else(|| WhatIfError::Squares(text.to_owned()))
    }

    /// Reads `d4` or `P@d4`: the man that stands there does not move, nor does one like it that
    /// comes there later.
    ///
    /// # Errors
    /// The text has another form.
    pub fn frozen(text: &str) -> Result<WhatIf, WhatIfError> {
        let read = || {
            let (role, square) = match text.split_once('@') {
                Some((man, square)) => {
                    let mut letters = man.chars();
                    let role = Role::from_char(letters.next()?);
                    (Some(role.filter(|_| letters.next().is_none())?), square)
                }
                None => (None, text),
            };
            square.parse().ok().map(|square| WhatIf::Frozen { square, role })
        };
        read().ok_or_else(|| WhatIfError::Man(text.to_owned()))
    }
}

impl fmt::Display for WhatIf {
    /// `Black loses by RxP`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |color: Color| color.fold_wb("White", "Black");
        match self {
            WhatIf::Forbidden(moves) => {
                write!(f, "{} loses by {}", name(moves.color), moves.pattern.as_str())
            }
            WhatIf::Won(moves) => {
                write!(f, "{} wins by {}", name(moves.color), moves.pattern.as_str())
            }
            WhatIf::Frozen { square, .. } => {
                write!(f, "the man on {square}, or one like it that comes there, loses by moving")
            }
            WhatIf::Confined { color, role, text, .. } => {
                let role = role_name(*role);
                write!(f, "{} loses by moving a {role} to another square than {text}", name(*color))
            }
            WhatIf::ExcludedFrom { color, text, .. } => {
                write!(f, "{} loses by moving a man from {text}", name(*color))
            }
            WhatIf::ExcludedTo { color, text, .. } => {
                write!(f, "{} loses by moving a man to {text}", name(*color))
            }
            WhatIf::ExcludedToAttacked(color) => {
                let (own, other) = (name(*color), name(color.other()));
                write!(f, "{own} loses by moving a man to a square that {other} attacks")
            }
            WhatIf::Stalemates(color) => write!(f, "{} wins by stalemate", name(*color)),
        }
    }
}

/// All that is assumed of a position.
pub(crate) struct Assumed {
    pub(crate) assumptions: Assumptions,
    /// What is true of chess of that which is proven.
    pub(crate) claims: Claims,
    /// What is true of it of the goal.
    pub(crate) goal: Claims,
}

impl Assumed {
    /// Puts assumptions together, for a position, and behind them what reaches a goal.
    pub(crate) fn new(
        what: &[WhatIf],
        goal: Option<&Goal>,
        position: &Chess,
    ) -> Result<Assumed, Error> {
        let mut assumptions = Assumptions::new();
        let mut used = PruneUse::default();
        for what in what {
            what.add(&mut assumptions, &mut used, position)?;
        }
        let without_goal = Claims::after(Variant::Normal, used);
        if let Some(goal) = goal {
            check_goal(goal, what)?;
            for what in goal.assumes() {
                what.add(&mut assumptions, &mut used, position)?;
            }
        }
        if let Some((color, role, square)) = assumptions.misplaced(position) {
            let (color, role) = (color.fold_wb("white", "black"), role_name(role));
            return Err(Error::Assumption(format!(
                "the {color} {role} on {square} stands outside of the squares that it is kept on"
            )));
        }
        let claims = Claims::after(Variant::Normal, used);
        Ok(Assumed { assumptions, claims, goal: without_goal })
    }
}

/// Refuses a goal that no move reaches any more.
fn check_goal(goal: &Goal, what: &[WhatIf]) -> Result<(), Error> {
    let kinds = goal.kinds();
    let forbids = |kind: &FuturemoveKind| {
        let matches = |what: &WhatIf| match what {
            WhatIf::Forbidden(moves) => {
                moves.color == goal.side && moves.pattern.matches(&kind.name())
            }
            _ => false,
        };
        what.iter().any(matches)
    };
    if !kinds.is_empty() && kinds.iter().all(forbids) {
        let reason = "loses by every move that would reach it, but mate";
        let side = goal.side.fold_wb("White", "Black");
        return Err(Error::Assumption(format!("the goal is that {goal}, and {side} {reason}")));
    }
    Ok(())
}

impl WhatIf {
    /// Adds it, and what it does to the moves of a side.
    fn add(
        &self,
        assumptions: &mut Assumptions,
        used: &mut PruneUse,
        position: &Chess,
    ) -> Result<(), Error> {
        // Moves that are forbidden lose: nobody is safe for want of moves.
        match self.add_rules(assumptions, position)? {
            (color, Some(AssumedResult::Loses)) => *used.discards.get_mut(color) = true,
            (color, Some(AssumedResult::Wins)) => *used.concedes.get_mut(color) = true,
            (color, None) => used.stalemates = Some(color),
        }
        Ok(())
    }

    /// Adds it: whose moves it is about, and what they do; none of stalemates.
    fn add_rules(
        &self,
        assumptions: &mut Assumptions,
        position: &Chess,
    ) -> Result<(Color, Option<AssumedResult>), Error> {
        match self {
            WhatIf::Forbidden(moves) => {
                moves
                    .kinds()
                    .for_each(|kind| assumptions.rule(moves.color, kind, AssumedResult::Loses));
                Ok((moves.color, Some(AssumedResult::Loses)))
            }
            WhatIf::Won(moves) => {
                moves
                    .kinds()
                    .for_each(|kind| assumptions.rule(moves.color, kind, AssumedResult::Wins));
                Ok((moves.color, Some(AssumedResult::Wins)))
            }
            WhatIf::Confined { color, role, squares, .. } => {
                assumptions.confine(*color, *role, *squares);
                Ok((*color, Some(AssumedResult::Loses)))
            }
            WhatIf::ExcludedFrom { color, squares, .. } => {
                assumptions.exclude_from(*color, *squares);
                Ok((*color, Some(AssumedResult::Loses)))
            }
            WhatIf::ExcludedTo { color, squares, .. } => {
                assumptions.exclude_to(*color, *squares);
                Ok((*color, Some(AssumedResult::Loses)))
            }
            WhatIf::ExcludedToAttacked(color) => {
                assumptions.exclude_to_attacked(*color);
                Ok((*color, Some(AssumedResult::Loses)))
            }
            WhatIf::Stalemates(color) => {
                assumptions.win_stalemates(*color);
                Ok((*color, None))
            }
            WhatIf::Frozen { square, role } => {
                let board = position.board();
                let none = || Error::Assumption(format!("no man stands on {square}"));
                let man = board.piece_at(*square).ok_or_else(none)?;
                if role.is_some_and(|role| role != man.role) {
                    let own = role_name(man.role);
                    return Err(Error::Assumption(format!("the man on {square} is a {own}")));
                }
                assumptions.freeze(man.color, man.role, *square);
                Ok((man.color, Some(AssumedResult::Loses)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumptions_are_told_in_words() {
        let words = |what: WhatIf| what.to_string();
        let forbidden = MovesOfSide::new("B:RxP").map(WhatIf::Forbidden).map(words);
        assert_eq!(forbidden.unwrap(), "Black loses by RxP");
        let won = MovesOfSide::new("white:P=?").map(WhatIf::Won).map(words);
        assert_eq!(won.unwrap(), "White wins by P=?");
        assert_eq!(
            WhatIf::confined("wK=e1-h4,a8").map(words).unwrap(),
            "White loses by moving a king to another square than e1-h4,a8"
        );
        assert_eq!(
            WhatIf::frozen("P@d4").map(words).unwrap(),
            "the man on d4, or one like it that comes there, loses by moving"
        );
    }

    #[test]
    fn what_is_no_assumption_is_refused() {
        assert_eq!(MovesOfSide::new("RxP"), Err(WhatIfError::Moves("RxP".to_owned())));
        assert_eq!(MovesOfSide::new("B:Ke4"), Err(WhatIfError::Kind("Ke4".to_owned())));
        assert_eq!(MovesOfSide::new("x:RxP"), Err(WhatIfError::Moves("x:RxP".to_owned())));
        for text in ["wP=e1-h4", "K=e4", "wK", "wK=", "wK=e9", "wKK=e4"] {
            assert_eq!(WhatIf::confined(text), Err(WhatIfError::Squares(text.to_owned())));
        }
        for text in ["", "d9", "PP@d4", "X@d4", "@d4"] {
            assert_eq!(WhatIf::frozen(text), Err(WhatIfError::Man(text.to_owned())));
        }
    }
}
