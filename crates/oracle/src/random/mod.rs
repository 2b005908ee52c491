//! Random control files that every engine must be able to carry out, with what each position is
//! worth.
//!
//! A set is a list of control files, each after the futurebases it names, the last one being the
//! one that matters. Everything follows from the seed. Only sets that [`SlowAnalysis`] can solve
//! are given out, so every move in them is answered. Futurebases may overlap, but no two of them
//! answer all moves of one kind, as a program may refuse that.

mod futurebases;
mod men;
mod rng;
mod spec;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::value::FlagType;
use hoffman_board::{Color, Format, Material, Role, Variant};
use hoffman_control::PruneEffect;

use crate::analysis::SlowAnalysis;
use rng::Rng;
use spec::{EFFECTS, RandomMan, Restriction, Spec};

/// How many placements the last table of a set may have, mostly and sometimes.
const LARGEST: [u64; 4] = [5_000, 10_000, 30_000, 90_000];
/// The same for sets of small tables.
const SMALL: [u64; 3] = [1_000, 3_000, 8_000];
/// How many placements its futurebases may have.
const LARGEST_FUTUREBASE: u64 = 15_000;

/// How many sets may be thrown away as too dull.
const PATIENCE: u64 = 16;

/// A control file and what it describes.
#[derive(Clone, Debug)]
pub struct RandomFile {
    /// The name of the control file.
    pub name: String,
    /// The name of the table.
    pub output: String,
    /// The control file.
    pub text: String,
    /// The values.
    pub analysis: Arc<SlowAnalysis>,
}

/// A control file with all that it needs.
#[derive(Clone, Debug)]
pub struct RandomAnalysis {
    /// What it was made from.
    pub seed: u64,
    /// The files in the order in which they can be carried out; the last one is under test.
    pub files: Vec<RandomFile>,
}

impl RandomAnalysis {
    /// The set of a seed.
    pub fn new(seed: u64) -> RandomAnalysis {
        RandomAnalysis::of(seed, &LARGEST, &|_, _| true)
    }

    /// The set of a seed with small tables, of men that are suitable.
    pub fn small(seed: u64, is_suitable: &dyn Fn(Variant, &Material) -> bool) -> RandomAnalysis {
        RandomAnalysis::of(seed, &SMALL, is_suitable)
    }

    fn of(
        seed: u64,
        largest: &[u64],
        is_suitable: &dyn Fn(Variant, &Material) -> bool,
    ) -> RandomAnalysis {
        for attempt in 0.. {
            let rng = Rng(seed.wrapping_mul(0x1_0000).wrapping_add(attempt));
            let (files, solved) = (Vec::new(), HashMap::new());
            let mut maker = Maker { rng, largest, is_suitable, files, solved };
            if maker.whole().is_none() {
                continue;
            }
            let set = RandomAnalysis { seed, files: maker.files };
            // Most random restrictions leave little to play for; odd cases are wanted, too.
            let counts = set.last().analysis.counts();
            let lively = counts.longest_win >= 6 && counts.legal >= 300;
            // Large ones cost too much to be made anew.
            let large = counts.legal > largest.iter().copied().max().unwrap_or(0);
            if lively || large || seed.is_multiple_of(4) || attempt >= PATIENCE {
                return set;
            }
        }
        unreachable!("some attempt succeeds");
    }

    /// The file under test.
    pub fn last(&self) -> &RandomFile {
        self.files.last().expect("a set is not empty")
    }
}

/// Makes one set.
struct Maker<'s> {
    rng: Rng,
    largest: &'s [u64],
    is_suitable: &'s dyn Fn(Variant, &Material) -> bool,
    files: Vec<RandomFile>,
    /// By name of the table.
    solved: HashMap<String, Arc<SlowAnalysis>>,
}

impl Maker<'_> {
    /// Makes the table under test and all it needs.
    fn whole(&mut self) -> Option<()> {
        let variant = if self.rng.chance(22) { Variant::Suicide } else { Variant::Normal };
        let format = match self.rng.below(10) {
            0..=4 => Format::Dtm(None),
            5 | 6 => Format::Dtc(None),
            7 | 8 => Format::Basic,
            _ => Format::Flag(self.rng.pick(&[FlagType::WhiteWins, FlagType::WhiteDraws])),
        };

        let mut may = Vec::new();
        for color in Color::ALL {
            match self.rng.below(8) {
                0 => may.push((color, PruneEffect::Concede)),
                1 | 2 => may.push((color, PruneEffect::Discard)),
                _ => may.extend(EFFECTS.map(|effect| (color, effect))),
            }
        }

        let depth = self.rng.pick(&[0, 1, 1, 2, 2]);
        let mut spec =
            Spec { variant, format, men: Vec::new(), pawngen: None, may, depth, symmetry: 0 };

        let kind = self.rng.below(100);
        if variant == Variant::Suicide {
            self.suicide_men(&mut spec);
        } else if kind < 25 {
            self.pawn_structure(&mut spec);
        } else if kind < 40 {
            self.frozen_pawns(&mut spec);
        } else if kind < 48 {
            if self.largest == SMALL && self.rng.chance(80) {
                return None;
            }
            return self.whole_ending(spec);
        } else {
            self.restricted_men(&mut spec);
            if self.rng.chance(25) {
                spec.symmetry = self.rng.pick(&[1, 2, 2, 4, 8]);
            }
        }

        if !(self.is_suitable)(variant, &spec.material()) {
            return None;
        }
        let largest = self.rng.pick(self.largest);
        self.fit(&mut spec, largest);
        spec.make_symmetric();
        let ways =
            spec.men.iter().fold(1, |n: u64, m| n.saturating_mul(m.squares().count() as u64));
        if ways > 3 * largest {
            return None;
        }
        self.table(&spec, "main").map(|_| ())
    }

    /// A complete ending of two or three men, pruned, perhaps with futurebases that are not
    /// complete.
    fn whole_ending(&mut self, mut spec: Spec) -> Option<()> {
        let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];
        let man = |color, role| RandomMan { color, role, place: Restriction::Anywhere };
        spec.men = vec![man(Color::White, Role::King), man(Color::Black, Role::King)];
        if self.rng.chance(85) {
            let man = man(self.rng.color(), self.rng.pick(&roles));
            spec.men.push(man);
        }
        if self.rng.chance(60) {
            spec.symmetry = self.rng.pick(&[1, 2, 4, 8]);
            spec.make_symmetric();
        }
        self.table(&spec, "main").map(|_| ())
    }
}
