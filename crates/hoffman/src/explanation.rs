//! Why a proven position has its result.
//!
//! `inquiry` asks the prover about positions beside the one that it proved, `key_lines` follows
//! the strategies, and `kings` finds the squares on which kings decide.

mod inquiry;
mod key_lines;
mod kings;

use hoffman_board::{Outcome, OutcomeBounds};
use hoffman_prove::Prover;
use hoffman_reader::Value;
use hoffman_reader::shakmaty::{Chess, Position as _};

use crate::watch::Watch;
pub use key_lines::{KeyLines, KeyMove, OtherLine};
pub use kings::{Correspondence, KingZugzwang, KingZugzwangs};

use inquiry::Inquiry;

/// What a position rests on, as far as it can be told in lines and squares. All that is said is
/// proven.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// What the position is with the other side to move, for that side; none if that is no position
    /// of chess, or was not decided.
    pub passed: Option<Value>,
    /// Of every side of which something is proven, a win or not to lose, how it comes about.
    pub lines: Vec<KeyLines>,
    /// Where the kings decide; none if there are pieces.
    pub kings: Option<KingZugzwangs>,
}

/// Explains what is proven of a position, with as much more work as is cheap.
pub(crate) fn explain(
    mut lines: Vec<KeyLines>,
    position: &Chess,
    prover: &mut Prover,
    watch: &Watch,
) -> Explanation {
    let mut inquiry = Inquiry::new(prover, watch);
    let passed = inquiry::passed(position).and_then(|passed| {
        let outcome = inquiry.outcome(&passed)?;
        Some(Value::of_bounds(OutcomeBounds::exactly(outcome), passed.turn(), None))
    });
    for lines in &mut lines {
        lines.mark(position, &mut inquiry);
    }
    let kings = KingZugzwangs::of(position, &mut inquiry);
    Explanation { passed, lines, kings }
}

/// What an outcome is for White: the more the better.
fn for_white(outcome: Outcome) -> i8 {
    outcome.winner().map_or(0, |winner| winner.fold_wb(1, -1))
}

#[cfg(test)]
mod tests;
