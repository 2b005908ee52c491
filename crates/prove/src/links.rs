//! Where the moves out of new slices lead, before their positions are looked at.

use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Role, Square};
use hoffman_solve::{Leaving, Monitor, SolveError, leavings};
use hoffman_space::{NormalForm, SliceValues, TableValues};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::guess;
use crate::key::{Key, SliceFamily, layout_of};
use crate::slices::{GAMES, Open, Slices, Stale, bytes_of_entry, bytes_of_values};

/// Where a move out of an open slice leads.
struct Link {
    behind: Key,
    /// The slice of the piece that has just landed, if it is to be opened.
    just_landed: Option<Key>,
}

impl Slices {
    /// Opens slices without a look at their positions yet, and those of pieces that have just
    /// landed behind them.
    pub(crate) fn add(
        &mut self,
        mut keys: Vec<Key>,
        stale: &mut Stale,
        monitor: &dyn Monitor,
    ) -> Result<(), SolveError> {
        while !keys.is_empty() {
            for key in &keys {
                self.add_family(key.family);
            }
            let leavings: Vec<Vec<Leaving>> =
                keys.par_iter().map(|key| self.leavings_of(key)).collect();
            let mut whole: Vec<Material> = Vec::new();
            for Leaving { material, .. } in leavings.iter().flatten() {
                if self.is_whole(material) && !whole.contains(material) {
                    whole.push(*material);
                }
            }
            self.solve_whole(&whole, monitor)?;
            for (&key, mut leavings) in keys.iter().zip(leavings) {
                if let Some(promoted) = self.recapture(&key) {
                    let behind = Slices::after_recapture(&key, promoted);
                    leavings.retain(|leaving| Key::of(leaving.material, leaving.pawns) == behind);
                }
                leavings.shrink_to_fit();
                self.bytes += bytes_of_entry::<Key, Open>() + size_of_val(&*leavings);
                self.open.insert(key, Open { leavings, exact: false });
                self.forget_races(&key);
                stale.add(self.rank(&key), key, [true; 3]);
            }
            keys = self.link(&keys);
        }
        Ok(())
    }

    /// Notes what lies behind slices that were just opened. Returns the slices of pieces that have
    /// just landed there that are to be opened too.
    fn link(&mut self, keys: &[Key]) -> Vec<Key> {
        let links: Vec<Vec<Link>> = keys.par_iter().map(|key| self.links_of(key)).collect();
        let (mut new, mut all_landed) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        let links = keys.iter().zip(&links);
        for (&key, link) in links.flat_map(|(key, of)| of.iter().map(move |link| (key, link))) {
            if self.use_by(link.behind, key) {
                new.push(link.behind);
            }
            if let Some(just_landed) = link.just_landed {
                self.use_by(just_landed, key);
                if !self.is_open(&just_landed) && seen.insert(just_landed) {
                    all_landed.push(just_landed);
                }
            }
        }
        self.guess_races(new);
        all_landed
    }

    /// What the moves out of an open slice lead to that is not there as a whole.
    fn links_of(&self, key: &Key) -> Vec<Link> {
        let leavings = self.open[key].leavings.iter();
        let leavings = leavings.filter(|leaving| !self.is_whole(&leaving.material));
        let links = leavings.flat_map(|leaving| {
            let targets = self.targets(key, leaving).into_iter();
            targets.map(move |behind| Link {
                behind,
                just_landed: self.just_landed(key, &behind, leaving),
            })
        });
        links.collect()
    }

    /// The slice of a piece that has just landed, if it is to be opened beside the one before.
    fn just_landed(&self, from: &Key, behind: &Key, leaving: &Leaving) -> Option<Key> {
        let may_be = from.family.landed.is_none() && !self.is_open(behind);
        let piece = self.landed(from, leaving).filter(|_| may_be)?;
        // A posted piece has no other square anyway.
        let is_posted = behind.family.posted.contains(piece);
        let family = SliceFamily { landed: Some(piece), ..behind.family };
        (!is_posted).then_some(Key { family, ..*behind })
    }

    /// The piece that comes to a square where it is worth a look whether it is taken there, even if
    /// it may do more: one that a pawn becomes, or, of two pieces, the only one of a side, which
    /// takes a pawn. What is assumed may forbid it the square, so nothing may be.
    pub(crate) fn landed(&self, from: &Key, leaving: &Leaving) -> Option<(Color, Role, Square)> {
        if from.pieces() < 2 {
            return leaving.promoted;
        }
        let color = leaving.color;
        let own_stay = leaving.pawns.of(color) == from.pawns.of(color);
        let taken = from.pawns.of(color.other()) & !leaving.pawns.of(color.other());
        let may_be = from.pieces() == 2 && self.assumptions.is_empty();
        if !may_be || !own_stay || !taken.is_power_of_two() {
            return None;
        }
        let men = leaving.material.men_in_naming_order().into_iter();
        let is_piece = |man: &(Color, Role)| !matches!(man.1, Role::King | Role::Pawn);
        let mut own = men.filter(is_piece).filter(|man| man.0 == color);
        let (only, more) = (own.next()?, own.next());
        more.is_none().then(|| (color, only.1, Square::new(taken.trailing_zeros())))
    }

    /// Makes room for the values of slices of a family.
    fn add_family(&mut self, family: SliceFamily) {
        let assumptions = &self.assumptions;
        self.families.entry(family).or_insert_with(|| {
            GAMES.map(|_| {
                let layout = layout_of(&family, assumptions);
                TableValues::with_layout(family.material, layout, NormalForm::None, [])
            })
        });
    }

    /// The moves out of a slice that are looked at.
    fn leavings_of(&self, key: &Key) -> Vec<Leaving> {
        let by_role = self.assumptions.rules().by_role;
        let mut leavings = leavings(self.layout(key), key.pawns, by_role);
        leavings.retain(|leaving| {
            let ruled = self.assumptions.of_leaving(key.pawns, leaving);
            ruled.is_none() && !self.targets(key, leaving).is_empty()
        });
        leavings
    }

    /// Notes that moves lead from one slice to another. Whether none was known to lead there.
    fn use_by(&mut self, key: Key, user: Key) -> bool {
        // Off the squares of a piece that has just landed.
        if key == user {
            return false;
        }
        let users = self.users.entry(key).or_default();
        let (is_new, before) = (users.is_empty(), users.capacity());
        // Those of a slice come one after another.
        if users.last() != Some(&user) && !users.contains(&user) {
            users.push(user);
        }
        self.bytes += (users.capacity() - before) * size_of::<Key>();
        if is_new {
            self.bytes += bytes_of_entry::<Key, Vec<Key>>();
        }
        is_new
    }

    /// Looks for pawns that cannot be caught in slices without pieces.
    fn guess_races(&mut self, mut keys: Vec<Key>) {
        keys.retain(|key| {
            key.pieces() == 0 && !self.is_open(key) && self.has_squares(&race_family(key))
        });
        for key in &keys {
            self.races.entry(key.family.material).or_insert_with(|| {
                let layout = layout_of(&race_family(key), &self.assumptions);
                TableValues::with_layout(key.family.material, layout, NormalForm::None, [])
            });
        }
        let races = |key: &Key| {
            let layout = &self.races[&key.family.material].layout;
            Some((*key, guess::races(layout, key.pawns)?))
        };
        let found: Vec<(Key, SliceValues)> = keys.par_iter().filter_map(races).collect();
        for (key, races) in found {
            self.forget_races(&key);
            self.bytes += bytes_of_values(&races);
            if let Some(table) = self.races.get_mut(&key.family.material) {
                table.slices.insert(key.pawns, OnceLock::from(Arc::new(races)));
            }
        }
    }

    /// Forgets them when the slice is opened.
    fn forget_races(&mut self, key: &Key) {
        let table = self.races.get_mut(&key.family.material).filter(|_| key.pieces() == 0);
        let races = table.and_then(|table| table.slices.remove(&key.pawns));
        self.bytes -=
            races.as_ref().and_then(OnceLock::get).map_or(0, |races| bytes_of_values(races));
    }
}

/// What races are guessed for: wherever the kings stand.
fn race_family(key: &Key) -> SliceFamily {
    Key::of(key.family.material, key.pawns).family
}
