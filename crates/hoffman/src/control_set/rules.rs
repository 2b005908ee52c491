//! What assumptions are in the words of control files.

use std::collections::HashMap;

use hoffman_board::{Bitboard, Color, FuturemoveKind, Role, Square};
use hoffman_control::may_be_idle;
use hoffman_prove::AssumedResult;
use hoffman_reader::shakmaty::{Chess, Position as _};

use super::refused;
use crate::error::Error;
use crate::what_if::{MovesOfSide, WhatIf, kinds};

/// Rulings on captures and promotions, squares of pieces, and who wins stalemates.
#[derive(Clone, Debug, Default)]
pub(super) struct AssumedRules {
    rulings: HashMap<(Color, FuturemoveKind), AssumedResult>,
    squares: HashMap<(Color, Role), Bitboard>,
    pub(super) stalemates: Option<Color>,
    /// What was assumed beside: that stalemates are won, as being left without a move is.
    pub(super) added: Option<WhatIf>,
}

impl AssumedRules {
    pub(super) fn new(assumed: &[WhatIf], position: &Chess) -> Result<AssumedRules, Error> {
        let mut rules = AssumedRules::default();
        for what in assumed {
            rules.add(what, position)?;
        }
        for what in assumed {
            if let WhatIf::Frozen { square, .. } = what {
                rules.freeze(*square, position)?;
            }
        }
        let idle = Color::ALL.into_iter().filter(|&color| rules.may_be_idle(color));
        match *idle.collect::<Vec<_>>() {
            [] => {}
            [loser] if rules.stalemates != Some(loser) => {
                let winner = loser.other();
                if rules.stalemates.is_none() {
                    rules.added = Some(WhatIf::Stalemates(winner));
                }
                rules.stalemates = Some(winner);
            }
            [_] => return Err(refused("that a side wins by stalemate and has moves that lose")),
            _ => return Err(refused("moves that lose of both sides")),
        }
        Ok(rules)
    }

    fn add(&mut self, what: &WhatIf, position: &Chess) -> Result<(), Error> {
        match what {
            WhatIf::Forbidden(moves) => self.rule(moves, AssumedResult::Loses, what)?,
            WhatIf::Won(moves) => self.rule(moves, AssumedResult::Wins, what)?,
            WhatIf::Confined { color, role, squares, .. } => self.confine(*color, *role, *squares),
            // Added when it is known what becomes of promotions.
            WhatIf::Frozen { .. } => {}
            WhatIf::ExcludedFrom { .. } => {
                return Err(refused("squares that moves do not start from (--exclude-from)"));
            }
            WhatIf::ExcludedTo { color, squares, .. } => {
                let own = position.board().by_color(*color);
                if !(own & (position.board().pawns() | *squares)).is_empty() {
                    return Err(refused(
                        "squares that pawns do not come to, or that a man stands on (--exclude-to)",
                    ));
                }
                for role in Role::ALL {
                    self.confine(*color, role, !*squares);
                }
            }
            WhatIf::ExcludedToAttacked(_) => {
                return Err(refused("moves to attacked squares (--exclude-to-attacked)"));
            }
            WhatIf::Stalemates(color) => self.stalemates = Some(*color),
        }
        Ok(())
    }

    /// Keeps a piece on its square, if it is the only one of its kind that there can be: others
    /// would be kept on that square, too.
    fn freeze(&mut self, square: Square, position: &Chess) -> Result<(), Error> {
        let board = position.board();
        // That a man stands there was looked at before.
        let Some(man) = board.piece_at(square) else { return Ok(()) };
        if man.role == Role::Pawn {
            return Err(refused("a pawn that does not move (--freeze)"));
        }
        let has_pawns = !(board.pawns() & board.by_color(man.color)).is_empty();
        let mut promotions = kinds().filter(|kind| kind.promotion() == Some(man.role));
        let becomes = has_pawns && promotions.any(|kind| self.ruling(man.color, kind).is_none());
        if board.by_piece(man).count() > 1 || becomes {
            let what = "a piece that does not move, among others of its kind, or pawns that may \
                        become such (--freeze)";
            return Err(refused(what));
        }
        self.confine(man.color, man.role, Bitboard::from_square(square));
        Ok(())
    }

    fn confine(&mut self, color: Color, role: Role, squares: Bitboard) {
        *self.squares.entry((color, role)).or_insert(Bitboard::FULL) &= squares;
    }

    /// The first ruling on a kind counts.
    fn rule(
        &mut self,
        moves: &MovesOfSide,
        ruling: AssumedResult,
        what: &WhatIf,
    ) -> Result<(), Error> {
        for kind in moves.kinds() {
            if kind.is_pawn_step() {
                return Err(refused(&format!("that {what}, which pawn steps do")));
            }
            self.rulings.entry((moves.color(), kind)).or_insert(ruling);
        }
        Ok(())
    }

    pub(super) fn ruling(&self, color: Color, kind: FuturemoveKind) -> Option<AssumedResult> {
        self.rulings.get(&(color, kind)).copied()
    }

    /// The squares that a side's pieces of a role are kept on, if not all.
    pub(super) fn squares(&self, color: Color, role: Role) -> Option<Bitboard> {
        self.squares.get(&(color, role)).copied().filter(|squares| *squares != Bitboard::FULL)
    }

    /// Whether a side has moves that lose, or moves that win.
    pub(super) fn has(&self, color: Color, ruling: AssumedResult) -> bool {
        let kept = ruling == AssumedResult::Loses && self.is_kept(color);
        kept || self.rulings.iter().any(|(of, &other)| of.0 == color && other == ruling)
    }

    fn is_kept(&self, color: Color) -> bool {
        self.squares.keys().any(|of| of.0 == color)
    }

    /// Whether a side may be left with moves that lose, and no others.
    fn may_be_idle(&self, color: Color) -> bool {
        let loses = |kind| self.ruling(color, kind) == Some(AssumedResult::Loses);
        self.is_kept(color) || may_be_idle(FuturemoveKind::all().map(|kind| (kind, loses(kind))))
    }
}
