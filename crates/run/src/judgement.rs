//! What a control file says of the moves out of its table: refused where it is nothing or too much,
//! remarked on where it is not what its author will have meant.

use std::collections::HashMap;
use std::sync::OnceLock;

use hoffman_board::{ByColor, Color, FuturemoveKind, Material, Symmetry, Variant};
use hoffman_control::{
    ControlFile, Prune, PruneEffect, folded, futurebase_element, may_be_idle, prune_element,
};
use hoffman_solve::{KindOfMove, Ruling, Survey, Unsaid, can_happen};
use hoffman_space::TableValues;

use crate::error::RunError;
use crate::futuremoves::{color_name, futuremoves, matching, prune_of};
use crate::numbering::{Numbering, fen};
use crate::seal::creation;

/// What a control file says about moves that no futurebase answers, worked out once for each kind:
/// there may be many prunes, and kinds are asked for in every slice.
pub(crate) struct Rulings<'c> {
    control: &'c ControlFile,
    has_side_bit: bool,
    /// For White and Black.
    known: ByColor<HashMap<FuturemoveKind, OnceLock<Option<Ruling>>>>,
}

impl<'c> Rulings<'c> {
    pub(crate) fn new(control: &'c ControlFile, numbering: &Numbering) -> Rulings<'c> {
        let known = || FuturemoveKind::all().map(|kind| (kind, OnceLock::new())).collect();
        let known = ByColor::new_with(|_| known());
        Rulings { control, has_side_bit: numbering.space.has_side_bit(), known }
    }

    pub(crate) fn of(&self, color: Color, kind: FuturemoveKind) -> Option<Ruling> {
        // Without a side to move White's moves stand for Black's.
        let color = if self.has_side_bit { color } else { Color::White };
        let find = || prune_of(self.control, color, kind).map(ruling_of);
        match self.known.get(color).get(&kind) {
            Some(known) => *known.get_or_init(find),
            None => find(),
        }
    }
}

fn ruling_of(effect: PruneEffect) -> Ruling {
    match effect {
        PruneEffect::Concede => Ruling::Concede,
        PruneEffect::Discard => Ruling::Discard,
    }
}

/// Refuses prunes that tell a move from its image where the two positions share an index.
fn images_agree(
    control: &ControlFile,
    numbering: &Numbering,
    rulings: &Rulings<'_>,
    survey: &Survey,
) -> Result<(), RunError> {
    let symmetry = numbering.symmetry;
    for KindOfMove { mover, kind, .. } in survey.kinds.iter().filter(|k| !k.complete) {
        let FuturemoveKind::Quiet(role, square) = *kind else { continue };
        for image in Symmetry::all().take(usize::from(symmetry)) {
            let image = FuturemoveKind::Quiet(role, image.apply(square));
            let of = |kind: FuturemoveKind| rulings.of(*mover, kind);
            if of(*kind) != of(image) {
                let place = control.site(control.root, "tablebase").to_string();
                let (mover, kind) = (color_name(*mover), kind.to_string());
                let image = image.to_string();
                return Err(RunError::Images { place, mover, kind, image, symmetry });
            }
        }
    }
    Ok(())
}

/// How many kinds of moves that nothing accounts for are listed besides the first.
const LISTED: usize = 9;

/// The refusal of moves about which nothing is said, with what would account for the first kind.
fn unhandled(
    control: &ControlFile,
    numbering: &Numbering,
    first: &Unsaid,
    more: &[Unsaid],
) -> RunError {
    let example = |unsaid: &Unsaid| fen(&unsaid.men, unsaid.turn, unsaid.en_passant);
    let listed = more.iter().take(LISTED);
    let listed: Vec<String> =
        listed.map(|u| format!("{} {} in {}", color_name(u.turn), u.kind, example(u))).collect();
    let mut also =
        if listed.is_empty() { String::new() } else { format!("; also {}", listed.join(", ")) };
    if more.len() > LISTED {
        also = format!("{also} and {} more", more.len() - LISTED);
    }

    let (color, kind) = (first.turn, first.kind);
    let effect = [PruneEffect::Concede, PruneEffect::Discard]
        .into_iter()
        .find(|&effect| control.enables(color, effect));
    let enable = match effect {
        Some(_) => String::new(),
        None => format!(" with <prune-enable color=\"{color}\" type=\"discard\"/>"),
    };
    let effect = effect.unwrap_or(PruneEffect::Discard);
    let prune = prune_element(color, &kind.to_string(), effect) + &enable;
    let men = Material::from_men(numbering.pieces().iter().map(|p| (p.color, p.role)));
    let moves = futuremoves(&men, control.variant);
    let behind = moves.iter().find(|m| m.mover == color && m.kind == kind).map(|m| m.behind);

    // Names of complete endings are those of normal chess.
    let behind = behind.filter(|_| control.variant == Variant::Normal).map(|behind| {
        let (normal, inverted) = behind.normalized();
        futurebase_element(&format!("{}.htb", normal.stem()), inverted) + " or "
    });

    RunError::Unhandled {
        place: control.site(control.root, "tablebase").to_string(),
        mover: color_name(color),
        kind: kind.to_string(),
        fen: example(first),
        more: format!("; write {}{prune}{also}", behind.unwrap_or_default()),
    }
}

/// Whether a pattern looks like a regular expression.
fn is_like_expression(pattern: &str) -> bool {
    let dots = [".*", ".+", ".?"].iter().any(|dot| pattern.contains(dot));
    dots || pattern.contains(['|', '(', '^', '$', '+', '\\']) && !pattern.contains("[^")
}

/// Refuses moves about which nothing or too much is said; returns remarks about the prunes.
pub(crate) fn judge(
    control: &ControlFile,
    numbering: &Numbering,
    rulings: &Rulings<'_>,
    (values, survey): (&TableValues, &Survey),
) -> Result<Vec<String>, RunError> {
    if let [first, more @ ..] = survey.unsaid.as_slice() {
        return Err(unhandled(control, numbering, first, more));
    }
    if let Some((color, kind)) = survey.twice.first() {
        let place = control.site(control.root, "tablebase").to_string();
        return Err(RunError::Twice { place, mover: color_name(*color), kind: kind.to_string() });
    }
    let mut notices = overlapping_prunes(control, numbering, (values, survey))?;
    images_agree(control, numbering, rulings, survey)?;
    notices.extend(idle_prunes(control, numbering, survey));
    if control.variant == Variant::Normal {
        for color in Color::ALL {
            notices.extend(artificial_stalemates(control, survey, color));
        }
    }
    Ok(folded(notices))
}

/// Several prunes for one kind of move: refused where they contradict each other and the move can
/// happen.
fn overlapping_prunes(
    control: &ControlFile,
    numbering: &Numbering,
    (values, survey): (&TableValues, &Survey),
) -> Result<Vec<String>, RunError> {
    let mut notices = Vec::new();
    let both = numbering.space.has_side_bit();
    for KindOfMove { mover: color, kind, .. } in &survey.kinds {
        if !both && *color == Color::Black {
            continue;
        }
        let mut found = matching(control, *color, *kind);
        let Some(first) = found.next() else { continue };
        let mover = color_name(*color);
        for (number, other) in found.enumerate() {
            let place = control.site(other.place, "prune").to_string();
            if other.effect != first.effect && can_happen(values, *color, *kind) {
                return Err(RunError::Conflict { place, mover, kind: kind.to_string() });
            }
            if number == 0 {
                notices.push(format!(
                    "{place}: multiple {mover} pruning statements match futuremove {kind}"
                ));
            }
        }
    }
    Ok(notices)
}

/// Prunes that match no move.
fn idle_prunes(control: &ControlFile, numbering: &Numbering, survey: &Survey) -> Vec<String> {
    let both = numbering.space.has_side_bit();
    let is_used = |prune: &Prune| {
        let mut kinds = survey.kinds.iter();
        kinds.any(|k| (k.mover == prune.color || !both) && prune.matches(k.kind))
    };
    // Of files for many tables each has the prunes of all.
    let by_hand = |prune: &&Prune| !prune.is_stalemate() && creation(control.text()).is_none();
    let idle = control.prunes.iter().filter(by_hand).filter(|prune| !is_used(prune));
    idle.map(|prune| {
        let pattern = prune.pattern.as_str();
        let hint = if is_like_expression(pattern) {
            "; patterns are those of a shell, in which * stands for any text and ? for one character"
        } else {
            ""
        };
        let place = control.site(prune.place, "prune");
        format!("{place}: the prune '{pattern}' matches no move that leaves the table{hint}")
    })
    .collect()
}

/// What becomes of positions of a side in which only discarded moves are left, where that can
/// happen.
fn artificial_stalemates(control: &ControlFile, survey: &Survey, color: Color) -> Vec<String> {
    let is_discarded = |k: &&KindOfMove| {
        let prune = matching(control, color, k.kind).next();
        k.mover == color && !k.complete && prune.is_some_and(|p| p.effect == PruneEffect::Discard)
    };
    let of_color = survey.kinds.iter().filter(|k| k.mover == color);
    if !may_be_idle(of_color.map(|k| (k.kind, is_discarded(&k)))) {
        return Vec::new();
    }

    let (tracked, plain): (Vec<&KindOfMove>, Vec<&KindOfMove>) =
        survey.kinds.iter().filter(is_discarded).partition(|k| k.tracked);
    let conceded = control.prunes.iter().any(|p| p.is_stalemate() && p.color == color.other());
    let place = control.site(control.root, "tablebase");
    let loser = color_name(color).to_lowercase();
    let winner = color_name(color.other()).to_lowercase();
    let remedy = format!("add <prune color=\"{winner}\" move=\"stalemate\" type=\"concede\"/>");
    let mut notices = Vec::new();
    if !plain.is_empty() && !conceded {
        notices.push(format!(
            "{place}: {loser} has discarded moves, so a position in which only those are left counts as \
             stalemate; to count it as lost {remedy}"
        ));
    }

    if !tracked.is_empty() {
        let kinds: Vec<String> = tracked.iter().map(|k| k.kind.to_string()).collect();
        notices.push(format!(
            "{place}: of {loser}'s moves {} those that no futurebase answers are discarded; a position in \
             which only those are left is drawn, even in check; to count it as lost {remedy}",
            kinds.join(" ")
        ));
    }
    notices
}
