//! Moves out of the table, by rows: captures, promotions, and to squares that the table does not
//! have.

use arrayvec::ArrayVec;
use hoffman_board::{
    Bitboard, Color, FuturemoveKind, MAX_PIECES, Material, PieceSlot, Placement, Role, Square,
};

use super::super::VerifyError;
use super::super::men::SlotMove;
use super::super::tested::Assessment;
use super::attacks::RowBoard;
use super::behind::{BehindLine, DRAW, UNCLEAR, score};
use super::{PROMOTIONS, RowFindings, RowMove, TestedRows};

/// Men and their squares.
type Standing = ArrayVec<(Square, Color, Role), MAX_PIECES>;

/// Moves of one kind that lead to positions which differ in the square of one man.
struct LeavingMoves<'m> {
    behind: BehindLine<'m>,
    ending: Material,
    kind: FuturemoveKind,
    /// A pawn could capture en passant.
    jumped: bool,
}

impl TestedRows<'_> {
    /// The other men of a row behind a move of one of them, or all but one who is left out.
    fn standing(
        &self,
        row: &RowBoard<'_, '_>,
        step: Option<&RowMove>,
        without: PieceSlot,
    ) -> Standing {
        let pieces = self.tested.table().pieces();
        let mut men = Standing::new();
        for (slot, piece) in pieces.iter().enumerate() {
            let is_gone = step.and_then(|step| step.victim).is_some_and(|(gone, _)| gone == slot);
            if slot == row.lane || slot == without || is_gone {
                continue;
            }
            men.push(match step.filter(|step| step.slot == slot) {
                Some(step) => (step.to, piece.color, step.promotion.unwrap_or(piece.role)),
                None => (row.square(slot), piece.color, piece.role),
            });
        }
        men
    }

    /// Makes a move that leaves the table in the positions of a row with these squares.
    pub(super) fn leave(
        &self,
        row: &RowBoard<'_, '_>,
        step: &RowMove,
        lanes: Bitboard,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let pieces = self.tested.table().pieces();
        let men = self.standing(row, Some(step), PieceSlot::MAX);
        let lane = (pieces[row.lane].color, pieces[row.lane].role);
        let taken = step.victim.map(|(slot, _)| pieces[slot].role);
        let role = pieces[step.slot].role;
        let leaving = LeavingMoves {
            ending: ending(&men, lane),
            behind: BehindLine { men: &men, lane, lanes, turn: row.turn.other() },
            kind: FuturemoveKind::of_move(role, step.to, taken, step.promotion),
            jumped: step.jumped.is_some(),
        };
        self.answer(row.turn, &leaving, found, |at| {
            let mut placement = self.placement(row.squares, row.lane, at, row.turn);
            placement.en_passant = row.en_passant;
            (placement, step.step())
        })
    }

    /// The captures of the row's piece, which is the opponent's.
    pub(super) fn take_lane(
        &self,
        row: &RowBoard<'_, '_>,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let pieces = self.tested.table().pieces();
        let taken = pieces[row.lane].role;
        if taken == Role::King {
            return Ok(());
        }
        let king = *self.kings.get(row.turn);

        for (slot, piece) in pieces.iter().enumerate().filter(|(_, p)| p.color == row.turn) {
            let from = row.square(slot);
            let reached = self.attacks(slot, from, row.occupied) & row.lanes;
            let is_safe = |&at: &Square| {
                let king = if slot == king { at } else { row.square(king) };
                !self.is_attacked(row, king, row.occupied.without(from).with(at), None)
            };
            let safe: Bitboard = reached.into_iter().filter(is_safe).collect();
            if safe.is_empty() {
                continue;
            }
            let men = self.standing(row, None, slot);
            let last = if piece.role == Role::Pawn { Bitboard::BACKRANKS } else { Bitboard::EMPTY };
            let plain = [(safe & !last, None)].into_iter();
            let promotions = PROMOTIONS.map(|role| (safe & last, Some(role)));
            for (lanes, promotion) in plain.chain(promotions).filter(|(lanes, _)| lanes.any()) {
                if self.counts {
                    found.others.add(lanes);
                }
                let lane = (row.turn, promotion.unwrap_or(piece.role));
                let leaving = LeavingMoves {
                    ending: ending(&men, lane),
                    behind: BehindLine { men: &men, lane, lanes, turn: row.turn.other() },
                    kind: FuturemoveKind::Capture { by: piece.role, of: taken, promotion },
                    jumped: false,
                };
                self.answer(row.turn, &leaving, found, |at| {
                    let victim = Some((row.lane, at));
                    let step = RowMove { slot, from, to: at, victim, promotion, jumped: None };
                    (self.placement(row.squares, row.lane, at, row.turn), step.step())
                })?;
            }
        }
        Ok(())
    }

    /// The captures by the row's piece: all its squares lead to one position.
    pub(super) fn take_by_lane(
        &self,
        row: &RowBoard<'_, '_>,
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        let pieces = self.tested.table().pieces();
        let king = *self.kings.get(row.turn);
        for (victim, piece) in pieces.iter().enumerate() {
            if piece.color == row.turn || piece.role == Role::King {
                continue;
            }
            let to = row.square(victim);
            let lanes = self.attacks(row.lane, to, row.occupied) & row.lanes;
            let Some(first) = lanes.first() else { continue };
            let king = if row.lane == king { to } else { row.square(king) };
            if self.is_attacked(row, king, row.occupied, Some(victim)) {
                continue;
            }
            if self.counts {
                found.others.add(lanes);
                found.leaving.add(lanes);
            }
            let placement = self.placement(row.squares, row.lane, first, row.turn);
            let step = lane_step(row.lane, to, Some(to));
            let assessment = self.tested.assess_outside(&placement, &step, None)?;
            take_assessment(&assessment, lanes, found);
        }
        Ok(())
    }

    /// What it is worth that the row's piece goes to squares on which the table does not have it.
    pub(super) fn leave_lane(
        &self,
        row: &RowBoard<'_, '_>,
        targets: Bitboard,
        scores: &mut [u8; 64],
        found: &mut RowFindings,
    ) -> Result<(), VerifyError> {
        for to in targets {
            let lanes = self.attacks(row.lane, to, row.occupied) & row.lanes;
            let Some(first) = lanes.first() else { continue };
            if self.counts {
                found.leaving.add(lanes);
            }
            let placement = self.placement(row.squares, row.lane, first, row.turn);
            let assessment =
                self.tested.assess_outside(&placement, &lane_step(row.lane, to, None), None)?;
            scores[to as usize] = super::NO_MOVE;
            take_assessment(&assessment, lanes, found);
        }
        Ok(())
    }

    /// Takes what moves out of the table are worth, as
    /// [`TestedTable::assess_outside`](super::TestedTable::assess_outside) says it of single ones,
    /// which `single` gives.
    fn answer(
        &self,
        turn: Color,
        leaving: &LeavingMoves<'_>,
        found: &mut RowFindings,
        single: impl Fn(Square) -> (Placement, SlotMove),
    ) -> Result<(), VerifyError> {
        let LeavingMoves { behind, ending, kind, jumped } = leaving;
        if self.counts {
            found.leaving.add(behind.lanes);
        }
        let pruned = self.tested.pruned(turn, *kind);
        if *ending == Material::bare_kings() && pruned.is_none() {
            found.take_all(behind.lanes, DRAW);
            return Ok(());
        }

        let asked = self.tested.asked(ending, pruned);
        let table = |number: usize| self.smaller.get(number).and_then(Option::as_ref);
        if *jumped || asked.clone().any(|holder| table(holder.number).is_none()) {
            for at in behind.lanes {
                let (placement, step) = single(at);
                let assessment = self.tested.assess_outside(&placement, &step, None)?;
                take_assessment(&assessment, at.into(), found);
            }
            return Ok(());
        }

        let mut rest = behind.lanes;
        for holder in asked {
            let Some(table) = table(holder.number) else { continue };
            let behind = BehindLine { lanes: rest, ..*behind };
            rest &= !table.look_up(holder.swapped, &behind, |at, score| found.take(at, score));
            if rest.is_empty() {
                return Ok(());
            }
        }

        take_assessment(&self.tested.unanswered(ending, pruned), rest, found);
        Ok(())
    }
}

/// The ending of these men.
fn ending(men: &Standing, lane: (Color, Role)) -> Material {
    Material::from_men(men.iter().map(|&(_, color, role)| (color, role)).chain([lane]))
}

/// A move of the row's piece.
fn lane_step(slot: PieceSlot, to: Square, captured: Option<Square>) -> SlotMove {
    let (promotion, jumped, index) = (None, None, None);
    SlotMove { slot, to, captured, promotion, jumped, en_passant: false, index }
}

/// Takes what a move is worth that is the same on several squares.
fn take_assessment(assessment: &Assessment, squares: Bitboard, found: &mut RowFindings) {
    match assessment {
        Assessment::Worth(worth) => found.take_all(squares, worth.exact.map_or(UNCLEAR, score)),
        Assessment::Missing(_) => found.take_all(squares, UNCLEAR),
        Assessment::Discarded { spares: true } => found.spared |= squares,
        Assessment::Discarded { spares: false } => {}
    }
}
