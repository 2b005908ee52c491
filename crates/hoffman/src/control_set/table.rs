//! One control file of a set.

use std::collections::BTreeSet;

use hoffman_board::{Bitboard, Color, FuturemoveKind, Material, Role};
use hoffman_control::{GameControl, PawngenElement, PawngenSide, Place, PruneEffect, PruneGroup};
use hoffman_prove::AssumedResult;
use hoffman_reader::shakmaty::fen::Fen;
use hoffman_reader::shakmaty::{EnPassantMode, Position as _};

use super::{ControlSet, MoveGroup, name_of, roles};

/// A pattern of moves of a side, and what becomes of them.
type Pruned = (Color, String, PruneEffect);

/// What happens to moves of a ruling.
fn effect(ruling: AssumedResult) -> PruneEffect {
    match ruling {
        AssumedResult::Wins => PruneEffect::Concede,
        AssumedResult::Loses => PruneEffect::Discard,
    }
}

impl ControlSet {
    /// The control file of a table.
    pub(super) fn text(&self, material: &Material, groups: &[MoveGroup], is_root: bool) -> String {
        let played = groups.iter().filter(|group| group.ruling.is_none());
        let behind: BTreeSet<String> = played.map(|group| name_of(&group.material)).collect();
        let game = GameControl {
            about: self.about(material, is_root),
            enables: self.enables(),
            is_symmetric: material.is_symmetric(),
            pieces: self.pieces(material),
            pawngen: material.has_pawns().then(|| self.pawngen(material)),
            futurebases: behind.into_iter().collect(),
            prunes: self.prunes(material, groups),
            stem: name_of(material),
        };
        game.text()
    }

    /// What a file is about.
    fn about(&self, material: &Material, is_root: bool) -> String {
        let fen = Fen::from_position(&self.position, EnPassantMode::Legal);
        let name = name_of(material);
        let what = if is_root {
            format!("{name}: the table of the position {fen}.")
        } else {
            format!("{name}: a table that the position {fen} leads to.")
        };
        let assumed = self.words.iter().map(|words| format!("\n       {words}"));
        let assumed: String = assumed.collect();
        let assumed = if assumed.is_empty() { "\n       nothing".to_owned() } else { assumed };
        format!(
            "{what}\n     What is assumed:{assumed}\n     In the folder of these files, hoffman build \
             what-if-*.xml makes all tables."
        )
    }

    /// Which prunes there are: what any table of the set enables, all do.
    fn enables(&self) -> Vec<(Color, PruneEffect)> {
        let mut enables = Vec::new();
        for color in Color::ALL {
            if self.rules.has(color, AssumedResult::Loses) {
                enables.push((color, PruneEffect::Discard));
            }
            if self.rules.has(color, AssumedResult::Wins) || self.rules.stalemates == Some(color) {
                enables.push((color, PruneEffect::Concede));
            }
        }
        enables
    }

    /// The kings and pieces with their squares.
    fn pieces(&self, material: &Material) -> Vec<(Color, Role, Option<Bitboard>)> {
        let kings = Color::ALL.map(|color| (color, Role::King));
        let men = kings.into_iter().chain(material.men_in_naming_order());
        let pieces = men.filter(|man| man.1 != Role::Pawn);
        pieces.map(|(color, role)| (color, role, self.rules.squares(color, role))).collect()
    }

    /// The pawn structures that arise from the position.
    fn pawngen(&self, material: &Material) -> PawngenElement {
        let side = |color: Color| PawngenSide {
            start: self.pawns(color),
            pawns_required: Some(u64::from(material.count.get(color).pawn)),
            queens_required: 0,
            captures_allowed: self.captures(material, color),
            legal: None,
        };
        PawngenElement {
            white: side(Color::White),
            black: side(Color::Black),
            start: 0,
            count: 0,
            offset: 0,
            position: 0,
            place: Place::default(),
        }
    }

    /// How often pawns of a side may have taken pieces: as often as pieces of the other side can
    /// be missing, those included that were pawns. Pawns taken in passing count, too, where
    /// `pawngen` has no double step before: what is taken does not stand where the pawn goes.
    fn captures(&self, material: &Material, color: Color) -> u64 {
        let enemy = color.other();
        let men = self.position.board().by_color(enemy).count() as u64;
        let pawns = self.pawns(enemy).count() as u64;
        let pawns_left = u64::from(material.count.get(enemy).pawn);
        let left: u64 = material.count.get(enemy).iter().map(|&n| u64::from(n)).sum();
        let promoted = if self.promotes(enemy) { pawns.saturating_sub(pawns_left) } else { 0 };
        let passed = self.taken_in_passing(color).min(pawns.saturating_sub(pawns_left));
        (men - pawns + promoted).saturating_sub(left - pawns_left) + passed
    }

    /// What is pruned, and why.
    fn prunes(&self, material: &Material, groups: &[MoveGroup]) -> Vec<PruneGroup> {
        let group = |about: &str, moves: Vec<Pruned>| PruneGroup { about: about.to_owned(), moves };
        let off = Color::ALL.into_iter().flat_map(|color| self.off_squares(material, color));
        let mut prunes = vec![
            group(
                "Moves that lose are none, as long as there are others.",
                ruled(groups, AssumedResult::Loses),
            ),
            group("Moves that win.", ruled(groups, AssumedResult::Wins)),
            group("Where moves lead to a square that is not listed, they lose.", off.collect()),
        ];
        if let Some(winner) = self.rules.stalemates {
            let side = winner.fold_wb("White", "Black");
            let about = format!("{side} wins where a side has no other move.");
            let stalemate = (winner, "stalemate".to_owned(), PruneEffect::Concede);
            prunes.push(PruneGroup { about, moves: vec![stalemate] });
        }
        prunes
    }

    /// Moves that lead where a piece may not stand.
    fn off_squares(&self, material: &Material, color: Color) -> Vec<Pruned> {
        let kept = |role: &Role| self.rules.squares(color, *role).is_some();
        let played = |kind: &FuturemoveKind| self.rules.ruling(color, *kind).is_none();
        let lands = |kind: &FuturemoveKind| match (kind.promotion(), *kind) {
            (Some(role), _) | (None, FuturemoveKind::Capture { by: role, .. }) => kept(&role),
            _ => false,
        };
        let kinds = self.exits(material, color).into_iter().map(|(kind, _)| kind);
        let mut names: BTreeSet<String> =
            kinds.filter(played).filter(lands).map(|kind| kind.to_string()).collect();
        let quiet = roles(material, color).filter(kept);
        names.extend(quiet.map(|role| format!("{}[a-h][1-8]", role.upper_char())));
        names.into_iter().map(|name| (color, name, PruneEffect::Discard)).collect()
    }
}

/// The prunes of moves that lose, or that win.
fn ruled(groups: &[MoveGroup], ruling: AssumedResult) -> Vec<Pruned> {
    let mut prunes = Vec::new();
    for group in groups.iter().filter(|group| group.ruling == Some(ruling)) {
        let kinds = group.kinds.iter();
        prunes.extend(kinds.map(|kind| (group.color, kind.to_string(), effect(ruling))));
    }
    prunes
}
