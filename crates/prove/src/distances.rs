//! After how many moves that which is proven comes true.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use hoffman_board::shakmaty::{Chess, Position as _};
use hoffman_board::{Color, Material, Value};
use hoffman_solve::{Leaving, Monitor, SolveError, SolveOptions, Tables, solve_one_slice};
use hoffman_space::{Code as _, NormalForm, SliceValues, TableValues};
use rayon::prelude::*;

use crate::key::{Key, SliceFamily, key_of, layout_of};
use crate::known::{landed_slices, right, value};
use crate::slices::{KnownValues, SliceGame, Slices, solve_endings};

/// The open slices, solved once more in one of the bounds, with distances.
///
/// What is settled in favour of a side is settled at once, so that a bound against the winner tells
/// the most moves that a win takes, and one in its favour the fewest.
pub(crate) struct DistanceSearch<'s> {
    pub(crate) slices: &'s Slices,
    game: SliceGame,
    whole: Tables,
    families: HashMap<SliceFamily, TableValues>,
}

impl<'s> DistanceSearch<'s> {
    /// Solves the slices, those first that others lead to.
    pub(crate) fn new(
        slices: &'s Slices,
        game: SliceGame,
        monitor: &dyn Monitor,
    ) -> Result<DistanceSearch<'s>, SolveError> {
        let whole = whole_endings(slices, monitor)?;
        let mut distances = DistanceSearch { slices, game, whole, families: HashMap::new() };
        for keys in slices.in_order() {
            let solved: Vec<(Key, SliceValues)> = keys
                .into_par_iter()
                .filter(|key| !slices.is_covered(key))
                .map(|key| Ok((key, distances.solve(&key, monitor)?)))
                .collect::<Result<_, SolveError>>()?;
            for (key, values) in solved {
                let table = distances.families.entry(key.family).or_insert_with(|| {
                    let layout = layout_of(&key.family, &slices.assumptions);
                    TableValues::with_layout(key.family.material, layout, NormalForm::None, [])
                });
                table.slices.insert(key.pawns, OnceLock::from(Arc::new(values)));
            }
        }
        Ok(distances)
    }

    fn solve(&self, key: &Key, monitor: &dyn Monitor) -> Result<SliceValues, SolveError> {
        let open = |key: &Key| {
            self.families.get(&key.family).filter(|table| table.find(key.pawns).is_some())
        };
        let values = KnownValues { whole: &self.whole, open: &open };
        let behind = |leaving: &Leaving| self.slices.behind(self.game, key, leaving, &values);
        let assumptions = &self.slices.assumptions;
        let layout = layout_of(&key.family, assumptions);
        let (rules, options) = (assumptions.rules(), SolveOptions::default());
        let solved = solve_one_slice(&layout, key.pawns, rules, &behind, &options, monitor)?;
        Ok(solved.in_few_bits())
    }

    /// The value of a position in this bound; none if its slice is not open.
    pub(crate) fn value_of(&self, position: &Chess) -> Option<Value> {
        let (key, placed) = key_of(position, &self.slices.assumptions);
        let at = (position.turn(), right(position));
        let whole = self.slices.value_in_whole(&self.whole, &key, &placed, at);
        let told = |key: &Key| value(self.families.get(&key.family)?, key, &placed, position);
        let best = || {
            let told = landed_slices(&key, &placed).filter_map(|key| told(&key));
            let known = told.filter(|&value| value != Value::Illegal);
            known.max_by_key(|&value| self.favour(value, position.turn()))
        };
        whole.or_else(|| told(&key)).or_else(best)
    }

    /// How good a value is for the side that less is known of than is true: of two that are certain
    /// the better one is nearer to the truth.
    fn favour(&self, value: Value, turn: Color) -> i32 {
        let side = match self.game {
            SliceGame::Most => Color::Black,
            SliceGame::Least | SliceGame::Guess => Color::White,
        };
        let code = i32::from(u16::from_value(value));
        if turn == side { code } else { -code }
    }
}

/// The endings that are there as a whole, with distances: those that were solved are solved anew,
/// as only their outcomes were kept.
fn whole_endings(slices: &Slices, monitor: &dyn Monitor) -> Result<Tables, SolveError> {
    let is_read = |ending: &Material| slices.endings_read.contains(ending);
    let (read, solved): (Vec<_>, Vec<_>) = slices.whole.iter().partition(|entry| is_read(entry.0));
    let mut whole: Tables = read.into_iter().map(|(e, table)| (*e, Arc::clone(table))).collect();
    let solved = solved.into_iter().map(|(ending, _)| *ending);
    solve_endings(solved, &mut whole, &SolveOptions::default(), monitor)?;
    Ok(whole)
}
