//! What one thread has counted and found.

use std::collections::BTreeMap;

use hoffman_board::value::FlagType;
use hoffman_board::{ByColor, Color, Format, Material, Value};
use hoffman_space::Code as _;
use hoffman_table::{EntryValue, Table};

use super::outcomes::Outcomes;
use super::report::{Difference, SHOWN, SyzygyReport};
use super::tested::is_original;

/// How often each code occurs.
#[derive(Debug)]
pub(super) struct CodeCounts(Box<[u64; 256]>);

impl Default for CodeCounts {
    fn default() -> CodeCounts {
        CodeCounts(Box::new([0; 256]))
    }
}

impl CodeCounts {
    /// One more of a code.
    #[inline]
    pub(super) fn count(&mut self, code: u8) {
        self.0[usize::from(code)] += 1;
    }

    fn add(&mut self, other: &CodeCounts) {
        self.0.iter_mut().zip(&*other.0).for_each(|(own, other)| *own += other);
    }
}

/// What one thread has found.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) checked: u64,
    pub(super) illegal: u64,
    pub(super) legal: u64,
    /// Positions that rows found right, by the codes of their values and the player to move.
    pub(super) accepted: ByColor<CodeCounts>,
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
        if without_move {
            self.legal += 1;
            self.without_move += 1;
            return;
        }
        self.count_legal_entries(stored, turn, 1);
    }

    /// Counts legal positions with the same entry.
    fn count_legal_entries(&mut self, stored: Option<EntryValue>, turn: Color, count: u64) {
        self.legal += count;
        if let Some(value) = stored {
            match Outcomes::of(value) {
                Outcomes::WIN => *self.wins.get_mut(turn) += count,
                Outcomes::LOSS => *self.wins.get_mut(turn.other()) += count,
                _ => {}
            }
            if let EntryValue::Exact(value @ (Value::Win(_) | Value::Loss(_))) = value {
                self.max = self.max.max(value.to_stored());
                self.min = self.min.min(value.to_stored());
            }
        }
    }

    /// With the positions counted whose entries rows found right.
    pub(super) fn counted(mut self) -> Tally {
        let accepted = std::mem::take(&mut self.accepted);
        for (turn, counts) in [(Color::White, accepted.white), (Color::Black, accepted.black)] {
            for (code, &count) in counts.0.iter().enumerate().filter(|&(_, &count)| count > 0) {
                let value = EntryValue::Exact((code as u8).value());
                self.count_legal_entries(Some(value), turn, count);
            }
        }
        self
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
        self.accepted.white.add(&other.accepted.white);
        self.accepted.black.add(&other.accepted.black);
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
