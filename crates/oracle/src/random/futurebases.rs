//! Tables for the moves out of a table.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hoffman_board::pieces::default_squares;
use hoffman_board::value::FlagType;
use hoffman_board::{Bitboard, Color, Format, Material, Rank, Role, Variant};
use hoffman_control::{ControlFile, PruneEffect, Strictness, control_for_material};

use super::men::{sort, without_mixed_pawns};
use super::spec::{Child, RandomMan, Relation, Restriction, Spec, count_structures, flipped};
use super::{LARGEST_FUTUREBASE, Maker, RandomFile};
use crate::analysis::{SlowAnalysis, SlowError};

/// Complete endings solved so far, which many sets share.
static COMPLETE: LazyLock<Mutex<HashMap<String, Arc<SlowAnalysis>>>> =
    LazyLock::new(Mutex::default);

impl Maker<'_> {
    /// Makes a table with its futurebases and returns the name of its file.
    pub(super) fn table(&mut self, spec: &Spec, name: &str) -> Option<String> {
        let index = self.index(spec);
        self.table_with_index(spec, name, index)
    }

    pub(super) fn table_with_index(
        &mut self,
        spec: &Spec,
        name: &str,
        index: &str,
    ) -> Option<String> {
        let mut spec = spec.clone();
        without_mixed_pawns(&mut spec.men);
        let mut children = Vec::new();
        let mut fixed = false;
        if spec.depth > 0 {
            if let Some(lower) = self.split(&mut spec, name, index) {
                children.push(lower);
                fixed = true;
            }
            children.extend(self.children(&spec, name, index));
        }

        // Futurebases have been chosen for the colours that the index stores.
        fixed |= spec.is_whole() && spec.material().is_symmetric();
        self.rng.shuffle(&mut children);
        let lean = self.rng.chance(50);
        fixed |= spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());

        for attempt in 0..6 {
            if index.starts_with("naive") {
                spec.symmetry = spec.symmetry.min(4);
            }
            let index = match attempt {
                0 | 1 => index,
                _ if fixed => break,
                2..=4 => self.index(&spec),
                _ => "combinadic5",
            };
            let text = self.text(&spec, name, index, &children, lean && attempt == 0);
            let control = ControlFile::parse(&text, &format!("{name}.xml"), Strictness::Control)
                .unwrap_or_else(|e| panic!("{e} in\n{text}"));
            match SlowAnalysis::solve(&control, &self.solved) {
                Ok(analysis) if analysis.counts().existing > 0 => {
                    self.keep(name, text, Arc::new(analysis));
                    return Some(format!("{name}.htb"));
                }
                Err(SlowError::Conflict { mover, kind }) => {
                    panic!("prunes of {mover}'s {kind} conflict in\n{text}")
                }
                // Not numbered by this index, or a move that was left unanswered on purpose.
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    pub(super) fn keep(&mut self, name: &str, text: String, analysis: Arc<SlowAnalysis>) {
        let output = format!("{name}.htb");
        self.solved.insert(output.clone(), Arc::clone(&analysis));
        self.files.push(RandomFile { name: format!("{name}.xml"), output, text, analysis });
    }

    /// An index type that may be able to number the table.
    pub(super) fn index(&mut self, spec: &Spec) -> &'static str {
        let men = spec.men.len() as u32;
        let structures = spec.pawngen.as_ref().map_or(1, count_structures) as u64;
        let naive = 64_u64.saturating_pow(men).saturating_mul(structures) <= 1 << 19;
        let mut types = vec!["combinadic5"; 3];
        if spec.variant == Variant::Normal {
            types.extend(["combinadic3", "combinadic4", "combinadic4"]);
            if naive {
                types.push("naive2");
            }
            if spec.pawngen.is_none() {
                types.extend(["compact", "compact"]);
            }
        }
        if naive {
            types.push("naive");
        }
        if spec.pawngen.is_none() {
            types.extend(["simple", "simple"]);
        }
        self.rng.pick(&types)
    }

    /// Splits a pawn table in two: makes the lower part and leaves the upper one.
    pub(super) fn split(&mut self, spec: &mut Spec, name: &str, index: &str) -> Option<Child> {
        let pawngen = spec.pawngen.as_mut()?;
        let count = count_structures(pawngen);
        if pawngen.part.is_some() || count < 2 || !self.rng.chance(30) {
            return None;
        }
        let cut = self.rng.range(1, count - 1);
        let mut lower = spec.clone();
        lower.depth -= 1;
        lower.pawngen.as_mut()?.part = Some((0, cut));
        let output = self.table_with_index(&lower, &format!("{name}l"), index)?;
        let count = if self.rng.chance(30) { count - cut } else { 0 };
        spec.pawngen.as_mut()?.part = Some((cut, count));
        Some(Child { output, inverted: false, relation: Relation::Part })
    }

    /// Makes futurebases for some of the moves out of a table.
    pub(super) fn children(&mut self, spec: &Spec, name: &str, index: &str) -> Vec<Child> {
        let mut wanted = Vec::new();
        let part = spec.pawngen.as_ref().is_some_and(|p| p.part.is_some());
        if !spec.is_whole() && !part && self.rng.chance(35) {
            wanted.push(Relation::Normal);
        }
        for color in Color::ALL {
            let pawn = spec.men_of(color, Role::Pawn) > 0;
            for role in spec.victims(color) {
                let last = spec.men_by_color(color) == 1;
                if !last && self.rng.chance(55) {
                    wanted.push(Relation::Capture(color, role));
                }
            }
            for to in spec.promotions() {
                if pawn && self.rng.chance(35) {
                    wanted.push(Relation::Promotion(color, to));
                }
                for victim in spec.victims(color.other()) {
                    let last = spec.men_by_color(color.other()) == 1;
                    if pawn && victim != Role::Pawn && !last && self.rng.chance(15) {
                        wanted.push(Relation::CapturePromotion(color, to, victim));
                    }
                }
            }
        }

        if spec.is_color_symmetric(index) {
            // Tables for White's moves serve both sides.
            wanted.retain(|relation| match *relation {
                Relation::Capture(color, _) => color == Color::Black,
                Relation::Promotion(color, _) | Relation::CapturePromotion(color, ..) => {
                    color == Color::White
                }
                Relation::Normal | Relation::Part => true,
            });
        }

        self.rng.shuffle(&mut wanted);
        wanted.truncate(4);

        let mut children: Vec<Child> = Vec::new();
        for relation in wanted {
            // Already answered by a table that serves both colours.
            if children.iter().any(|c| c.relation == relation) {
                continue;
            }
            let label = format!("{name}{}", char::from(b'a' + children.len() as u8));
            let found = self.answering(spec, relation, &label);
            let answered: Vec<Relation> = children.iter().map(|c| c.relation).collect();
            for child in found {
                let twin = self.twin(spec, &child);
                children.push(child);
                children.extend(twin.filter(|twin| !answered.contains(&twin.relation)));
            }
        }
        children
    }

    /// The same table with the colours exchanged, if that answers moves of the other side.
    pub(super) fn twin(&mut self, spec: &Spec, child: &Child) -> Option<Child> {
        let other = match child.relation {
            Relation::Capture(color, role) => Relation::Capture(color.other(), role),
            Relation::Promotion(color, role) => Relation::Promotion(color.other(), role),
            _ => return None,
        };
        let material = spec.material();
        let flag = matches!(spec.format, Format::Flag(_));
        let both = material.is_symmetric() && !flag;
        let mirrored = |e: &(Color, PruneEffect)| spec.may.contains(&(e.0.other(), e.1));
        if both && spec.may.iter().all(mirrored) && self.rng.chance(60) {
            let child =
                Child { output: child.output.clone(), inverted: !child.inverted, relation: other };
            return Some(child);
        }
        None
    }

    /// One futurebase for the moves of a relation, or two that share them.
    pub(super) fn answering(&mut self, spec: &Spec, relation: Relation, label: &str) -> Vec<Child> {
        let Some(mut behind) = self.behind(spec, relation) else { return Vec::new() };
        let material = behind.material();
        let complete = spec.variant == Variant::Normal && material.men() <= 3;
        let whole = spec.is_whole() && spec.variant == Variant::Normal;
        if complete && self.rng.chance(if whole { 40 } else { 30 }) {
            let (normal, inverted) = material.normalized();
            let output = self.complete(&normal);
            return vec![Child { output, inverted, relation }];
        }

        let halves = if self.rng.chance(25) { self.halves(spec, &behind, relation) } else { None };
        self.alter(&mut behind, relation);
        if whole && self.rng.chance(50) {
            // Told apart from the complete ending by its prunes alone.
            behind.men.iter_mut().for_each(|man| man.place = Restriction::Anywhere);
        }

        let mut undivided = behind.clone();
        undivided.make_symmetric();
        let mut specs = vec![behind];
        if let Some((slot, one, other)) = halves {
            let mut second = specs[0].clone();
            specs[0].men[slot].place = Restriction::On(one);
            second.men[slot].place = Restriction::On(other);
            specs.push(second);
        }

        let mut found = Vec::new();
        for (i, mut child) in specs.into_iter().enumerate() {
            let largest = if whole { 4 * LARGEST_FUTUREBASE } else { LARGEST_FUTUREBASE };
            if !whole || child.material().men() > 3 || !child.is_whole() {
                self.fit(&mut child, largest);
            }
            child.make_symmetric();
            let is_undivided = same_squares(&child.men, &undivided.men);
            if i > 0 && is_undivided {
                // With its images a half may be everything; the other one would answer the same
                // moves.
                found.clear();
            }
            let label = if i == 0 { label.to_owned() } else { format!("{label}z") };
            if relation == Relation::Normal && same_squares(&child.men, &spec.men) {
                continue;
            }

            let inverted = self.rng.chance(30);
            if inverted {
                child.men = child.men.iter().map(RandomMan::flipped).collect();
                sort(&mut child.men);
                child.pawngen = child.pawngen.as_ref().map(flipped);
                child.may = child.may.iter().map(|&(c, e)| (c.other(), e)).collect();
            }
            child.format = self.format_behind(spec.format, inverted);
            if let Some(output) = self.table(&child, &label) {
                found.push(Child { output, inverted, relation });
            }
            if is_undivided {
                break;
            }
        }
        found
    }

    /// A format that can feed another.
    pub(super) fn format_behind(&mut self, format: Format, inverted: bool) -> Format {
        let no_flag = [Format::Dtm(None), Format::Dtc(None), Format::Basic];
        match format {
            Format::Dtm(_) => Format::Dtm(None),
            Format::Flag(own) if self.rng.chance(50) => Format::Flag(match (own, inverted) {
                (FlagType::WhiteWins, true) | (FlagType::WhiteDraws, false) => FlagType::WhiteDraws,
                _ => FlagType::WhiteWins,
            }),
            _ => self.rng.pick(&no_flag),
        }
    }

    /// Takes a man away, one that is counted only or one of the list; none if there is none.
    fn remove(&mut self, behind: &mut Spec, color: Color, role: Role) -> Option<()> {
        if let (Some(pawngen), Role::Pawn) = (&mut behind.pawngen, role) {
            let required = &mut pawngen.required[color.fold_wb(0, 1)];
            *required = required.checked_sub(1)?;
            return Some(());
        }
        let alike = |m: &RandomMan| (m.color, m.role) == (color, role);
        let slots: Vec<usize> = (0..behind.men.len()).filter(|&i| alike(&behind.men[i])).collect();
        behind.men.remove(*slots.get(self.rng.below(slots.len().max(1)))?);
        Some(())
    }

    /// The men behind the moves of a relation, on the squares that they have here.
    pub(super) fn behind(&mut self, spec: &Spec, relation: Relation) -> Option<Spec> {
        let mut behind = spec.clone();
        behind.depth -= 1;
        if let Some(pawngen) = &mut behind.pawngen {
            pawngen.part = None;
        }

        let promoted = match relation {
            Relation::Normal | Relation::Part => None,
            Relation::Capture(color, role) => {
                self.remove(&mut behind, color, role)?;
                None
            }
            Relation::Promotion(color, role) => {
                self.remove(&mut behind, color, Role::Pawn)?;
                Some((color, role))
            }
            Relation::CapturePromotion(color, role, victim) => {
                self.remove(&mut behind, color, Role::Pawn)?;
                self.remove(&mut behind, color.other(), victim)?;
                Some((color, role))
            }
        };
        if let Some((color, role)) = promoted {
            let last_rank = Bitboard::from_rank(color.fold_wb(Rank::Eighth, Rank::First));
            let place = match self.rng.below(4) {
                0 => Restriction::Anywhere,
                1 => Restriction::On(last_rank),
                2 => Restriction::On(last_rank | self.squares(role)),
                _ => Restriction::On(self.squares(role)),
            };
            behind.men.push(RandomMan { color, role, place });
        }
        let no_pawns = behind.pawngen.as_ref().is_some_and(|p| p.required == [0, 0]);
        if no_pawns
            || behind.pawngen.is_some() && relation != Relation::Normal && self.rng.chance(35)
        {
            self.list_pawns(&mut behind);
        }
        sort(&mut behind.men);
        Some(behind)
    }

    /// Makes ordinary pawns of a pawngen element.
    pub(super) fn list_pawns(&mut self, spec: &mut Spec) {
        let Some(pawngen) = spec.pawngen.take() else { return };
        for color in Color::ALL {
            for _ in 0..pawngen.required[color.fold_wb(0, 1)] {
                let place = self.place(color, Role::Pawn);
                spec.men.push(RandomMan { color, role: Role::Pawn, place });
            }
        }
    }

    /// Two sets of squares of a man that does not move in a relation, with little or nothing in
    /// common and neither of them with all that it has here.
    pub(super) fn halves(
        &mut self,
        spec: &Spec,
        behind: &Spec,
        relation: Relation,
    ) -> Option<(usize, Bitboard, Bitboard)> {
        let still = match relation {
            Relation::Capture(color, _) => color,
            Relation::Promotion(color, _) | Relation::CapturePromotion(color, ..) => color.other(),
            Relation::Normal | Relation::Part => return None,
        };
        if spec.variant != Variant::Normal {
            return None;
        }
        let king = |m: &RandomMan| (m.color, m.role) == (still, Role::King);
        let slot = behind.men.iter().position(king)?;
        let here = behind.men[slot].squares();
        let one = self.rng.some_of(Bitboard::FULL, 50);
        let mut other = !one;
        if self.rng.chance(50) {
            // The first of the two tables answers what both hold.
            other |= self.rng.some_of(one, 30);
        }
        let part = |set: Bitboard| (set & here).any() && (here & !set).any();
        (part(one) && part(other)).then_some((slot, one, other))
    }

    /// Gives the men of a futurebase wider, narrower or other squares.
    pub(super) fn alter(&mut self, spec: &mut Spec, relation: Relation) {
        let moved = match relation {
            Relation::Capture(color, _) => Some(color.other()),
            _ => None,
        };
        let men = spec.men.len();
        let other = self.rng.below(men);
        for (i, man) in spec.men.iter_mut().enumerate() {
            let squares = man.squares();
            let all = default_squares(man.role);
            let changes = relation == Relation::Normal && i == other || moved == Some(man.color);
            let new = match self.rng.below(20) {
                0..=7 if !changes => continue,
                0..=5 => self.rng.some_of(all, 70),
                6 | 7 => all,
                8..=11 => squares | self.rng.some_of(all, 50),
                12..=14 => self.rng.some_of(squares, 70),
                15 => all & !squares,
                16 | 17 => all,
                _ => continue,
            };
            let new = new & all;
            if new == all {
                man.place = Restriction::Anywhere;
            } else if new.any() {
                man.place = Restriction::On(new);
            }
        }

        sort(&mut spec.men);
        if self.rng.chance(50) {
            // The same prunes or fewer.
            let mut fewer = spec.may.clone();
            self.rng.shuffle(&mut fewer);
            let mut kept: Vec<(Color, PruneEffect)> = Vec::new();
            for entry in fewer {
                if self.rng.chance(60) || kept.iter().all(|k| k.0 != entry.0) {
                    kept.push(entry);
                }
            }
            spec.may = kept;
        }
    }

    /// A complete ending of normal chess with all that it needs.
    pub(super) fn complete(&mut self, material: &Material) -> String {
        let stem = material.stem();
        let output = format!("{stem}.htb");
        if self.solved.contains_key(&output) {
            return output;
        }
        let text = control_for_material(material, Format::Dtm(None));
        let name = format!("{stem}.xml");
        let control = ControlFile::parse(&text, &name, Strictness::Control).expect("well-formed");
        for element in &control.futurebases {
            let stem = element.filename.trim_end_matches(".htb");
            self.complete(&stem.parse().expect("the name of an ending"));
        }
        let known = || COMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = known().get(&text).cloned();
        let analysis = cached.unwrap_or_else(|| {
            let solved = SlowAnalysis::solve(&control, &self.solved).expect("a complete ending");
            let solved = Arc::new(solved);
            known().insert(text.clone(), Arc::clone(&solved));
            solved
        });
        self.keep(&stem, text, analysis);
        output
    }
}

/// Whether two lists have the same men on the same squares, in whatever order.
fn same_squares(one: &[RandomMan], other: &[RandomMan]) -> bool {
    let sorted = |men: &[RandomMan]| {
        let mut men: Vec<_> = men.iter().map(|m| (m.color as u8, m.role, m.squares().0)).collect();
        men.sort_unstable();
        men
    };
    sorted(one) == sorted(other)
}
