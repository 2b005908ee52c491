//! The text of one control file of a set.

use std::collections::BTreeSet;

use hoffman_board::{Color, FuturemoveKind, Material, Role};
use hoffman_control::{
    PawngenElement, PawngenSide, Place, PruneEffect, futurebase_element, pawngen_element,
    piece_element, prune_element,
};
use hoffman_prove::Ruling;
use hoffman_reader::shakmaty::fen::Fen;
use hoffman_reader::shakmaty::{EnPassantMode, Position as _};

use super::{ControlSet, Group, listed, name_of, roles};

/// The beginning of every file.
const PROLOG: &str = "<?xml version=\"1.0\"?>\n\
    <!DOCTYPE tablebase SYSTEM \"http://www.freesoft.org/software/hoffman/tablebase.dtd\">\n";

/// What happens to moves of a ruling.
fn effect(ruling: Ruling) -> PruneEffect {
    match ruling {
        Ruling::Wins => PruneEffect::Concede,
        Ruling::Loses => PruneEffect::Discard,
    }
}

/// A comment, in which no two hyphens may follow each other.
fn comment(text: &str) -> String {
    format!("<!-- {} -->", text.replace("--", "- -"))
}

impl ControlSet {
    /// The control file of a table.
    pub(super) fn text(&self, material: &Material, groups: &[Group], is_root: bool) -> String {
        let mut lines = self.declarations(material);
        let played = groups.iter().filter(|group| group.ruling.is_none());
        let behind: BTreeSet<String> = played.map(|group| name_of(&group.material)).collect();
        if !behind.is_empty() {
            lines.push(comment("What captures and promotions lead to."));
        }
        lines.extend(behind.iter().map(|name| futurebase_element(&format!("{name}.htb"), false)));
        for ruling in [Ruling::Loses, Ruling::Wins] {
            lines.extend(ruled(groups, ruling));
        }
        for color in Color::ALL {
            lines.extend(self.off_squares(material, color));
        }
        if let Some(winner) = self.rules.stalemates {
            let side = winner.fold_wb("White", "Black");
            lines.push(comment(&format!("{side} wins where a side has no other move.")));
            lines.push(prune_element(winner, "stalemate", PruneEffect::Concede));
        }
        lines.push(format!("<output filename=\"{}.htb\"/>", name_of(material)));
        let about = comment(&self.about(material, is_root));
        let lines: String = lines.iter().map(|line| format!("   {line}\n")).collect();
        format!("{PROLOG}{about}\n<tablebase>\n{lines}</tablebase>\n")
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

    /// Which prunes there are, the format and the men.
    fn declarations(&self, material: &Material) -> Vec<String> {
        let mut lines = Vec::new();
        for color in Color::ALL {
            // What any table of the set enables, all do.
            let stalemates = self.rules.stalemates == Some(color);
            if self.rules.has(color, Ruling::Loses) {
                lines.push(enable(color, PruneEffect::Discard));
            }
            if self.rules.has(color, Ruling::Wins) || stalemates {
                lines.push(enable(color, PruneEffect::Concede));
            }
        }
        if material.is_symmetric() {
            // With either side to move.
            lines.push("<index type=\"combinadic3\"/>".to_owned());
        }
        lines.push("<basic/>".to_owned());
        let kings = Color::ALL.map(|color| (color, Role::King));
        for (color, role) in kings.into_iter().chain(material.men_in_naming_order()) {
            if role != Role::Pawn {
                let squares = self.rules.squares(color, role);
                let location = squares.map(|squares| format!(" location=\"{}\"", listed(squares)));
                lines.push(piece_element(color, role, &location.unwrap_or_default()));
            }
        }
        if material.has_pawns() {
            lines.push(self.pawngen(material));
        }
        lines
    }

    /// The pawn structures that arise from the position.
    fn pawngen(&self, material: &Material) -> String {
        let side = |color: Color| PawngenSide {
            start: self.pawns(color),
            pawns_required: Some(u64::from(material.count.get(color).pawn)),
            queens_required: 0,
            captures_allowed: self.captures(material, color),
            legal: None,
        };
        pawngen_element(&PawngenElement {
            white: side(Color::White),
            black: side(Color::Black),
            start: 0,
            count: 0,
            offset: 0,
            position: 0,
            place: Place::default(),
        })
    }

    /// How often pawns of a side may have taken pieces: as often as pieces of the other side can
    /// be missing, those included that were pawns.
    fn captures(&self, material: &Material, color: Color) -> u64 {
        let enemy = color.other();
        let men = self.position.board().by_color(enemy).count() as u64;
        let pawns = self.pawns(enemy).count() as u64;
        let pawns_left = u64::from(material.count.get(enemy).pawn);
        let left: u64 = material.count.get(enemy).iter().map(|&n| u64::from(n)).sum();
        let promoted = if self.promotes(enemy) { pawns.saturating_sub(pawns_left) } else { 0 };
        (men - pawns + promoted).saturating_sub(left - pawns_left)
    }

    /// Moves that lead where a piece may not stand.
    fn off_squares(&self, material: &Material, color: Color) -> Vec<String> {
        let kept = |role: &Role| self.rules.squares(color, *role).is_some();
        let played = |kind: &FuturemoveKind| self.rules.ruling(color, *kind).is_none();
        let lands = |kind: &FuturemoveKind| match (kind.promotion(), *kind) {
            (Some(role), _) | (None, FuturemoveKind::Capture { by: role, .. }) => kept(&role),
            _ => false,
        };
        let kinds = self.exits(material, color).into_iter().map(|(kind, _)| kind);
        let mut names: Vec<String> =
            kinds.filter(played).filter(lands).map(|kind| kind.to_string()).collect();
        let quiet = roles(material, color).filter(kept);
        names.extend(quiet.map(|role| format!("{}[a-h][1-8]", role.upper_char())));
        names.sort();
        names.dedup();
        let prunes = names.iter().map(|name| prune_element(color, name, PruneEffect::Discard));
        let about = "Where moves lead to a square that is not listed, they lose.";
        let about = (!names.is_empty()).then(|| comment(about));
        about.into_iter().chain(prunes).collect()
    }
}

fn enable(color: Color, effect: PruneEffect) -> String {
    format!("<prune-enable color=\"{color}\" type=\"{}\"/>", effect.name())
}

/// The prunes of moves that lose, or that win.
fn ruled(groups: &[Group], ruling: Ruling) -> Vec<String> {
    let words = match ruling {
        Ruling::Loses => "Moves that lose are none, as long as there are others.",
        Ruling::Wins => "Moves that win.",
    };
    let mut lines = Vec::new();
    for group in groups.iter().filter(|group| group.ruling == Some(ruling)) {
        let of = |kind: &FuturemoveKind| prune_element(group.color, &kind.name(), effect(ruling));
        lines.extend(group.kinds.iter().map(of));
    }
    if !lines.is_empty() {
        lines.insert(0, comment(words));
    }
    lines
}
