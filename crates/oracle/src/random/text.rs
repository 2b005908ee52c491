//! The text of a control file: prunes for all moves that need one, and everything else.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hoffman_board::value::FlagType;
use hoffman_board::{Bitboard, Color, Format, Role, Variant};
use hoffman_control::{PruneEffect, PrunePattern};

use super::Maker;
use super::spec::{Child, MoveKind, Pawngen, RandomMan, Relation, Restriction, Spec};

/// A prune to be.
pub(super) struct Pruning {
    color: Color,
    pattern: String,
    effect: PruneEffect,
}

impl Maker<'_> {
    /// The control file of a table. A lean one leaves it to the futurebases to answer the moves
    /// for which there are any.
    pub(super) fn text(
        &mut self,
        spec: &Spec,
        name: &str,
        index: &str,
        children: &[Child],
        lean: bool,
    ) -> String {
        let prunes = self.prunes(spec, index, children, lean);
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tablebase>\n");
        if spec.variant == Variant::Suicide {
            text.push_str("   <variant name=\"suicide\"/>\n");
        }
        self.enables(spec, &prunes, children, &mut text);
        self.index_and_format(spec, index, &mut text);
        self.pieces(spec, &mut text);

        for child in children {
            let word = child.relation.word().filter(|_| self.rng.chance(30));
            let word = word.map_or_else(String::new, |w| format!(" type=\"{w}\""));
            let colors = if child.inverted { " colors=\"invert\"" } else { "" };
            let _ = writeln!(text, "   <futurebase filename=\"{}\"{word}{colors}/>", child.output);
        }
        for Pruning { color, pattern, effect } in prunes {
            let _ = writeln!(
                text,
                "   <prune color=\"{color}\" move=\"{pattern}\" type=\"{}\"/>",
                effect.name()
            );
        }
        let _ = writeln!(text, "   <output filename=\"{name}.htb\"/>\n</tablebase>");
        text
    }

    /// The prunes, in any order.
    fn prunes(&mut self, spec: &Spec, index: &str, children: &[Child], lean: bool) -> Vec<Pruning> {
        let colors = if spec.is_color_symmetric(index) && self.rng.chance(50) {
            // The prunes of White stand for those of both sides.
            &Color::ALL[..1]
        } else {
            &Color::ALL[..]
        };
        let mut prunes = Vec::new();
        for &color in colors {
            self.prune(spec, color, children, lean, &mut prunes);
        }

        let concede = |&&(_, effect): &&(Color, PruneEffect)| effect == PruneEffect::Concede;
        let conceders: Vec<_> = spec.may.iter().filter(concede).collect();
        if spec.variant == Variant::Normal && !conceders.is_empty() && self.rng.chance(30) {
            let &(color, effect) = self.rng.pick(&conceders);
            prunes.push(Pruning { color, pattern: "stalemate".to_owned(), effect });
        }
        self.rng.shuffle(&mut prunes);
        prunes
    }

    /// The elements that allow prunes.
    fn enables(&mut self, spec: &Spec, prunes: &[Pruning], children: &[Child], text: &mut String) {
        let mut enabled: BTreeSet<(bool, bool)> = BTreeSet::new();
        let entry = |color: Color, effect: PruneEffect| {
            (color == Color::Black, effect == PruneEffect::Discard)
        };
        for &(color, effect) in &spec.may {
            let used = prunes.iter().any(|p| (p.color, p.effect) == (color, effect));
            // What a futurebase has enabled must be enabled here, used or not.
            if used || !children.is_empty() || self.rng.chance(40) {
                enabled.insert(entry(color, effect));
            }
        }
        let shade = |black: bool| if black { "black" } else { "white" };
        for (black, discard) in enabled {
            let effect = if discard { "discard" } else { "concede" };
            let color = shade(black);
            let _ = writeln!(text, "   <prune-enable color=\"{color}\" type=\"{effect}\"/>");
        }
    }

    fn index_and_format(&mut self, spec: &Spec, index: &str, text: &mut String) {
        if spec.symmetry > 0 {
            let symmetry = spec.symmetry;
            let _ = writeln!(text, "   <index type=\"{index}\" symmetry=\"{symmetry}\"/>");
        } else if index != "combinadic5" || self.rng.chance(30) {
            let _ = writeln!(text, "   <index type=\"{index}\"/>");
        }
        match spec.format {
            Format::Dtm(_) if self.rng.chance(10) => {}
            Format::Flag(FlagType::WhiteWins) => text.push_str("   <flag type=\"white-wins\"/>\n"),
            Format::Flag(FlagType::WhiteDraws) => {
                text.push_str("   <flag type=\"white-draws\"/>\n");
            }
            format if format.has_distance() && self.rng.chance(10) => {
                let _ = writeln!(text, "   <{} bits=\"12\"/>", format.name());
            }
            format => {
                let _ = writeln!(text, "   <{}/>", format.name());
            }
        }
    }

    /// The piece elements, like men side by side, pawns last, and the pawngen element somewhere.
    pub(super) fn pieces(&mut self, spec: &Spec, text: &mut String) {
        let mut blocks: Vec<(bool, Vec<RandomMan>)> = Vec::new();
        for man in &spec.men {
            let pawn = man.role == Role::Pawn;
            let alike = |b: &&mut (bool, Vec<RandomMan>)| match b {
                (true, _) => pawn,
                (false, men) => (men[0].color, men[0].role) == (man.color, man.role),
            };
            match blocks.iter_mut().find(alike) {
                Some((_, men)) => men.push(*man),
                None => blocks.push((pawn, vec![*man])),
            }
        }

        // A part of a split table has the list of the other part.
        let part = spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());
        if !part && self.rng.chance(40) {
            self.rng.shuffle(&mut blocks);
        }
        let before = if part { blocks.len() } else { self.rng.range(0, blocks.len()) };
        for at in 0..=blocks.len() {
            if let Some(pawngen) = spec.pawngen.as_ref().filter(|_| at == before) {
                let _ = writeln!(text, "   {}", pawngen_element(pawngen));
            }
            for man in blocks.get(at).map_or(&[][..], |(_, men)| men) {
                let location = match man.place {
                    Restriction::Anywhere => String::new(),
                    Restriction::On(squares) => format!(" location=\"{}\"", names(squares)),
                    Restriction::Plus(start) => format!(" location=\"{start}+\""),
                };
                let role = role_name(man.role);
                let color = man.color;
                let _ = writeln!(text, "   <piece color=\"{color}\" type=\"{role}\"{location}/>");
            }
        }
    }

    /// Prunes for the moves of a side.
    pub(super) fn prune(
        &mut self,
        spec: &Spec,
        color: Color,
        children: &[Child],
        lean: bool,
        prunes: &mut Vec<Pruning>,
    ) {
        let effects: Vec<PruneEffect> =
            spec.may.iter().filter(|e| e.0 == color).map(|e| e.1).collect();
        if effects.is_empty() {
            return;
        }
        let kinds = spec.kinds(color);
        let mut decided: Vec<Option<PruneEffect>> = vec![None; kinds.len()];
        let mut accept = |pattern: String, effect: PruneEffect| -> bool {
            let accepted = decide_kinds(&kinds, &mut decided, &pattern, effect);
            if accepted {
                prunes.push(Pruning { color, pattern, effect });
            }
            accepted
        };

        for _ in 0..self.rng.below(5) {
            let pattern = self.pattern(spec, color);
            let matcher = PrunePattern::new(&pattern);
            let many = kinds.iter().filter(|k| matcher.matches(&k.text)).count() > 16;
            accept(pattern, self.effect(&effects, if many { 85 } else { 50 }));
        }

        // Where leaving the squares is conceded there is little play.
        let leaving = self.effect(&effects, 85);
        let other = self.effect(&effects, 50);
        for MoveKind { text, relation } in &kinds {
            if lean && children.iter().any(|c| c.relation == *relation) {
                continue;
            }
            let default = if *relation == Relation::Normal { leaving } else { other };
            let effect = if self.rng.chance(90) { default } else { self.rng.pick(&effects) };
            let letter = &text[..1];
            let tries = match relation {
                Relation::Normal | Relation::Part => {
                    vec![
                        format!("{letter}[a-h][1-8]"),
                        format!("{letter}{}?", &text[1..2]),
                        text.clone(),
                    ]
                }
                Relation::Capture(..) => vec![format!("{letter}x?"), text.clone()],
                Relation::Promotion(..) => vec!["P=?".to_owned(), text.clone()],
                Relation::CapturePromotion(..) => vec!["P*=?".to_owned(), text.clone()],
            };
            for pattern in tries {
                // Does nothing where the kind is decided already.
                if PrunePattern::new(&pattern).matches(text) && accept(pattern, effect) {
                    break;
                }
            }
        }
    }

    /// One of some effects, a discard with this chance in a hundred if it is among them.
    pub(super) fn effect(&mut self, effects: &[PruneEffect], discards: usize) -> PruneEffect {
        let discard = effects.contains(&PruneEffect::Discard) && self.rng.chance(discards);
        let other = effects.iter().copied().find(|&e| e == PruneEffect::Concede);
        other.filter(|_| !discard).unwrap_or(PruneEffect::Discard)
    }

    pub(super) fn pattern(&mut self, spec: &Spec, color: Color) -> String {
        const GENERAL: [&str; 22] = [
            "*",
            "K*",
            "K??",
            "K[a-d]?",
            "K[!a-d][1-8]",
            "K?[1-4]",
            "Kany",
            "k[A-D]*",
            "Px*",
            "P=?",
            "P*=?",
            "P=[QR]",
            "P=[^Q]",
            "Pxany",
            "*x*",
            "*xP",
            "?x?",
            "*=N",
            "*[5-8]",
            "[KQ]*",
            "[!P]x?",
            "?[a-h][1-8]",
        ];
        if self.rng.chance(50) {
            return self.rng.pick(&GENERAL).to_owned();
        }
        let roles: Vec<Role> =
            Role::ALL.into_iter().filter(|&r| spec.men_of(color, r) > 0).collect();
        let letter = self.rng.pick(&roles).upper_char();
        let file = self.rng.pick(&['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
        let rank = self.rng.range(1, 8);
        match self.rng.below(7) {
            0 => format!("{letter}*"),
            1 => format!("{letter}[a-{file}]?"),
            2 => format!("{letter}?{rank}"),
            3 => format!("{letter}{file}{rank}"),
            4 => format!("{letter}x*"),
            5 => format!("{letter}[^x]*"),
            _ => format!("*{letter}*"),
        }
    }
}

/// Gives an effect to the kinds that a pattern matches, unless one of them has the other one, or
/// none is new.
fn decide_kinds(
    kinds: &[MoveKind],
    decided: &mut [Option<PruneEffect>],
    pattern: &str,
    effect: PruneEffect,
) -> bool {
    let matcher = PrunePattern::new(pattern);
    let matched: Vec<usize> =
        (0..kinds.len()).filter(|&k| matcher.matches(&kinds[k].text)).collect();
    let conflict = matched.iter().any(|&k| decided[k].is_some_and(|d| d != effect));
    let new = matched.iter().any(|&k| decided[k].is_none());
    if conflict || !new {
        return false;
    }
    for k in matched {
        decided[k] = Some(effect);
    }
    true
}

pub(super) fn names(squares: Bitboard) -> String {
    let names: Vec<String> = squares.into_iter().map(|s| s.to_string()).collect();
    names.join(" ")
}

pub(super) fn pawngen_element(pawngen: &Pawngen) -> String {
    let mut text = String::from("<pawngen");
    for (side, color) in ["white", "black"].into_iter().enumerate() {
        let _ = write!(text, " {color}-pawn-locations=\"{}\"", names(pawngen.start[side]));
        let _ = write!(text, " {color}-pawns-required=\"{}\"", pawngen.required[side]);
        push_positive(&mut text, &format!("{color}-queens-required"), pawngen.queens[side]);
        push_positive(&mut text, &format!("{color}-captures-allowed"), pawngen.captures[side]);
    }
    if let Some((start, count)) = pawngen.part {
        push_positive(&mut text, "start", start);
        push_positive(&mut text, "count", count);
    }
    text.push_str("/>");
    text
}

/// An attribute, left out if it is 0.
fn push_positive(text: &mut String, name: &str, value: usize) {
    if value > 0 {
        let _ = write!(text, " {name}=\"{value}\"");
    }
}

pub(super) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::King => "king",
        Role::Queen => "queen",
        Role::Rook => "rook",
        Role::Bishop => "bishop",
        Role::Knight => "knight",
        Role::Pawn => "pawn",
    }
}
