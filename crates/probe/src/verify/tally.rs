//! What one thread has counted and found.

use std::collections::BTreeMap;

use hoffman_board::value::FlagType;
use hoffman_board::{ByColor, Color, Format, Material, Value};
use hoffman_table::{EntryValue, Table};

use super::outcomes::Outcomes;
use super::report::{Difference, SHOWN, SyzygyReport};
use super::tested::is_original;

/// What one thread has found.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) checked: u64,
    pub(super) illegal: u64,
    pub(super) legal: u64,
    /// Suicide chess: positions without a move, which headers count apart.
    pub(super) without_move: u64,
    pub(super) stalemates: u64,
    pub(super) wins: ByColor<u64>,
    pub(super) moves: u64,
    pub(super) futuremoves: u64,
    pub(super) max: i32,
    pub(super) min: i32,
    pub(super) outcome_only: u64,
    pub(super) undetermined: u64,
    pub(super) unverified: u64,
    pub(super) lacks_table: bool,
    pub(super) missing: Vec<Material>,
    pub(super) different: u64,
    pub(super) first: Vec<Difference>,
    pub(super) syzygy: SyzygyReport,
}

impl Tally {
    pub(super) fn count_legal(
        &mut self,
        without_move: bool,
        stored: Option<EntryValue>,
        turn: Color,
    ) {
        self.legal += 1;
        if without_move {
            self.without_move += 1;
            return;
        }
        if let Some(value) = stored {
            match Outcomes::of(value) {
                Outcomes::WIN => *self.wins.get_mut(turn) += 1,
                Outcomes::LOSS => *self.wins.get_mut(turn.other()) += 1,
                _ => {}
            }
            if let EntryValue::Exact(value @ (Value::Win(_) | Value::Loss(_))) = value {
                self.max = self.max.max(value.to_stored());
                self.min = self.min.min(value.to_stored());
            }
        }
    }

    pub(super) fn differ(
        &mut self,
        index: u64,
        fen: Option<String>,
        stored: String,
        computed: String,
    ) {
        self.different += 1;
        keep_first(&mut self.first, Difference { index, fen, stored, computed });
    }

    pub(super) fn compare_syzygy(
        &mut self,
        known: Outcomes,
        expected: Option<Outcomes>,
        difference: impl FnOnce() -> Difference,
    ) {
        let Some(expected) = expected else {
            self.syzygy.unanswered += 1;
            return;
        };
        self.syzygy.compared += 1;
        if !known.meets(expected) {
            self.syzygy.different += 1;
            let computed = expected.words().to_owned();
            let difference = Difference { computed, ..difference() };
            keep_first(&mut self.syzygy.first_differences, difference);
        }
    }

    pub(super) fn with(mut self, other: Tally) -> Tally {
        self.checked += other.checked;
        self.illegal += other.illegal;
        self.legal += other.legal;
        self.without_move += other.without_move;
        self.stalemates += other.stalemates;
        self.wins.white += other.wins.white;
        self.wins.black += other.wins.black;
        self.moves += other.moves;
        self.futuremoves += other.futuremoves;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
        self.outcome_only += other.outcome_only;
        self.undetermined += other.undetermined;
        self.unverified += other.unverified;
        for ending in other.missing {
            if !self.missing.contains(&ending) {
                self.missing.push(ending);
            }
        }
        self.different += other.different;
        other.first.into_iter().for_each(|d| keep_first(&mut self.first, d));
        self.syzygy.compared += other.syzygy.compared;
        self.syzygy.unanswered += other.syzygy.unanswered;
        self.syzygy.different += other.syzygy.different;
        for difference in other.syzygy.first_differences {
            keep_first(&mut self.syzygy.first_differences, difference);
        }
        self
    }

    /// The statistics that the header of a completely checked table should have.
    pub(super) fn statistics(&self, table: &Table) -> BTreeMap<&'static str, u64> {
        let mut numbers = BTreeMap::from([
            ("indices", table.space().size()),
            ("PNTM-mated-positions", self.illegal + self.without_move),
            ("legal-positions", self.legal - self.without_move),
        ]);
        let format = table.codec().format();
        // The original counts the wins of tables without distances wrongly (D2).
        if matches!(format, Format::Dtm(_)) || format == Format::Basic && !is_original(table) {
            numbers.insert("white-wins-positions", self.wins.white);
            numbers.insert("black-wins-positions", self.wins.black);
        }
        if format == Format::Flag(FlagType::WhiteWins) && !is_original(table) {
            numbers.insert("white-wins-positions", self.wins.white);
        }
        // Which moves a prune removed, and when, is the solver's business.
        if table.control().prunes.is_empty() {
            numbers.insert("stalemate-positions", self.stalemates);
            numbers.insert("forward-moves", self.moves);
            numbers.insert("futuremoves", self.futuremoves);
        }
        numbers
    }
}

/// Keeps the differences with the lowest indices in order.
fn keep_first(list: &mut Vec<Difference>, difference: Difference) {
    let at = list.partition_point(|d| d.index < difference.index);
    if at < SHOWN {
        list.insert(at, difference);
        list.truncate(SHOWN);
    }
}
