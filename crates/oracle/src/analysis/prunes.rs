//! What prunes say about moves out of an analysis, and where they tell colours or images apart.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hoffman_board::pieces::default_squares;
use hoffman_board::shakmaty::Move;
use hoffman_board::{Color, Format, Material, PieceList, Role, Square, Symmetry, Variant};
use hoffman_control::{ControlFile, FuturebaseElement, Prune, PruneEffect};
use rustc_hash::FxHashMap;

use super::futurebases::SolvedFuturebase;
use super::moves::MadeMove;
use super::placements::Pawns;
use super::{SlowAnalysis, SlowError};

/// What decides moves out of the analysis.
pub(super) struct MoveRules<'a> {
    pub(super) control: &'a ControlFile,
    pub(super) pawns: Option<&'a Pawns>,
    pub(super) futurebases: Vec<SolvedFuturebase>,
    /// What the prunes say, by mover and kind.
    pub(super) decided: FxHashMap<(Color, String), Option<PruneEffect>>,
}

impl SlowAnalysis {
    /// Looks for quiet moves that are not pruned like their images though the positions share
    /// indices.
    pub(super) fn check_images(
        &self,
        control: &ControlFile,
        pieces: &PieceList,
    ) -> Result<(), SlowError> {
        for piece in pieces.iter().filter(|_| self.symmetry > 1) {
            let effects = |to: Square| {
                let kind = format!("{}{to}", piece.role.upper_char());
                let prunes = control.prunes.iter();
                let matching = prunes.filter(|p| p.color == piece.color && is_named(p, &kind));
                (matching.map(|p| p.effect).collect::<HashSet<_>>(), kind)
            };
            for to in Square::ALL {
                for symmetry in Symmetry::all().take(usize::from(self.symmetry)) {
                    let (effect, kind) = effects(to);
                    if effects(symmetry.apply(to)).0 != effect {
                        return Err(SlowError::Images { mover: piece.color, kind });
                    }
                }
            }
        }
        Ok(())
    }

    /// What the prunes say about a move out of the analysis.
    pub(super) fn pruned(
        &self,
        rules: &mut MoveRules<'_>,
        made: &MadeMove,
        turn: Color,
    ) -> Result<Option<PruneEffect>, SlowError> {
        let quiet_pawn =
            made.m.role() == Role::Pawn && !made.m.is_capture() && made.m.promotion().is_none();
        if rules.pawns.is_some() && quiet_pawn {
            // The other part of a split table, which cannot be left out.
            return Ok(None);
        }
        let mover = if self.color_symmetric { Color::White } else { turn };
        let kind = kind(made.m);
        if let Some(&known) = rules.decided.get(&(mover, kind.clone())) {
            return Ok(known);
        }
        let of = |effect: PruneEffect| {
            let mut prunes = rules.control.prunes.iter();
            prunes.any(|p| p.color == mover && p.effect == effect && is_named(p, &kind))
        };
        let effect = match (of(PruneEffect::Concede), of(PruneEffect::Discard)) {
            (true, true) => return Err(SlowError::Conflict { mover, kind }),
            (true, false) => Some(PruneEffect::Concede),
            (false, true) => Some(PruneEffect::Discard),
            (false, false) => None,
        };
        rules.decided.insert((mover, kind), effect);
        Ok(effect)
    }
}

/// Whether all men can be exchanged with men of the other colour and the index leaves the side to
/// move out.
pub(super) fn is_color_symmetric(control: &ControlFile, pieces: &PieceList) -> bool {
    use hoffman_control::IndexType::{Combinadic4, Combinadic5};
    let index = matches!(control.index_type(), Combinadic4 | Combinadic5);
    let flag = matches!(control.entry_format(), Format::Flag(_));
    let number = |color: Color, role: Role| {
        pieces.iter().filter(|p| (p.color, p.role) == (color, role)).count()
    };
    index
        && !flag
        && pieces.iter().all(|p| p.legal == default_squares(p.role))
        && Role::ALL
            .into_iter()
            .all(|role| number(Color::White, role) == number(Color::Black, role))
}

/// Whether moves of the two colours are treated in different ways, or stalemates are won by one of
/// them. What is said about one colour's moves only stands for both.
pub(super) fn tells_colors_apart(
    control: &ControlFile,
    material: &Material,
    solved: &HashMap<String, Arc<SlowAnalysis>>,
) -> bool {
    if control.variant == Variant::Normal && control.stalemates_conceded_to().is_some() {
        return true;
    }
    let answers = Answers { control, material: *material, solved };
    let some_or_none = || Role::ALL.into_iter().map(Some).chain([None]);
    for mover in Role::ALL.into_iter().filter(|&role| *material.count.white.get(role) > 0) {
        for taken in some_or_none() {
            for promoted in some_or_none().filter(|role| role.is_none() || mover == Role::Pawn) {
                if answers.differ(mover, taken, promoted) {
                    return true;
                }
            }
        }
    }
    false
}

/// What a control file says of moves out of the table, whichever squares they go to.
struct Answers<'a> {
    control: &'a ControlFile,
    material: Material,
    solved: &'a HashMap<String, Arc<SlowAnalysis>>,
}

impl<'a> Answers<'a> {
    /// Whether something else is said of Black's move than of White's.
    fn differ(&self, mover: Role, taken: Option<Role>, promoted: Option<Role>) -> bool {
        let [white, black] = Color::ALL.map(|color| self.said_of(color, mover, taken, promoted));
        white.is_some() && black.is_some() && white != black
    }

    /// The futurebases that can hold the position behind a move, and what a prune makes of it;
    /// none if nothing is said, or if there is no such move.
    fn said_of(
        &self,
        color: Color,
        mover: Role,
        taken: Option<Role>,
        promoted: Option<Role>,
    ) -> Option<(HashSet<&'a str>, Option<PruneEffect>)> {
        let mut kind = mover.upper_char().to_string();
        let mut behind = self.material;
        if let Some(role) = taken {
            kind.extend(['x', role.upper_char()]);
            behind = behind.without(color.other(), role)?;
        }
        if let Some(role) = promoted {
            kind.extend(['=', role.upper_char()]);
            behind = behind.without(color, mover)?.with(color, role);
        }

        let control = self.control;
        let holds = |f: &&FuturebaseElement| {
            let theirs = self.solved.get(&f.filename).map(|base| base.material);
            theirs.is_some_and(|m| if f.inverted { m.swapped() } else { m } == behind)
        };
        let bases = control.futurebases.iter().filter(holds).map(|f| f.filename.as_str());
        let bases: HashSet<&str> = bases.collect();
        let prune = control.prunes.iter().find(|p| p.color == color && is_named(p, &kind));
        let effect = prune.map(|p| p.effect);
        (!bases.is_empty() || effect.is_some()).then_some((bases, effect))
    }
}

/// Whether a prune names a kind of move. By the text alone: the enum
/// of kinds is the solver's.
fn is_named(prune: &Prune, kind: &str) -> bool {
    !prune.is_stalemate() && prune.pattern.matches(kind)
}

/// How a futuremove is called: `Ke4`, `KxP`, `P=Q`, `PxR=Q`.
pub(super) fn kind(m: Move) -> String {
    let letter = |role: Role| role.upper_char();
    let mut text = letter(m.role()).to_string();
    match (m.capture(), m.promotion()) {
        (None, None) => text.push_str(&m.to().to_string()),
        (Some(taken), None) => text.extend(['x', letter(taken)]),
        (None, Some(role)) => text.extend(['=', letter(role)]),
        (Some(taken), Some(role)) => text.extend(['x', letter(taken), '=', letter(role)]),
    }
    text
}
