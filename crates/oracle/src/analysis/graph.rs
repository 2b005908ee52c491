//! Deciding positions by the moves between them, from short distances to long ones.

use super::{DRAW, UNDECIDED};

/// The undecided positions with their moves.
#[derive(Default)]
pub(super) struct MoveGraph {
    nodes: Vec<OpenPosition>,
    targets: Vec<u32>,
}

/// A position that is not decided before anything is solved.
struct OpenPosition {
    number: u32,
    targets: std::ops::Range<usize>,
    /// The value by the best move out of the analysis that wins.
    exit_win: Option<i16>,
    /// Whether a move out of the analysis does not lose.
    exit_holds: bool,
    /// The largest value that a losing move out of the analysis leads to.
    exit_loss: i16,
}

impl MoveGraph {
    pub(super) fn push(&mut self, number: u32, targets: &[u32], exits: &[i16]) {
        let start = self.targets.len();
        self.targets.extend_from_slice(targets);
        self.nodes.push(OpenPosition {
            number,
            targets: start..self.targets.len(),
            exit_win: exits.iter().filter(|&&v| v < 0).map(|&v| 1 - v).min(),
            exit_holds: exits.iter().any(|&v| v <= 0),
            exit_loss: exits.iter().copied().max().unwrap_or(0),
        });
    }

    /// Decides what can be decided, from short distances to long ones, by the definition. The rest
    /// is drawn.
    pub(super) fn decide(mut self, values: &mut [i16]) {
        let last = self.last_number(values);
        let mut n = 1;
        loop {
            let before = self.nodes.len();
            self.decide_all(values, n, OpenPosition::is_won_in);
            self.decide_all(values, -n, OpenPosition::is_lost_in);
            if self.nodes.len() == before && n > last {
                break;
            }
            n += 1;
        }
        for node in self.nodes {
            values[node.number as usize] = DRAW;
        }
    }

    /// The largest number that a value known before or a move out of the analysis has.
    fn last_number(&self, values: &[i16]) -> i16 {
        let by_exits = self.nodes.iter().map(|n| n.exit_win.unwrap_or(0).max(n.exit_loss));
        let known = values.iter().filter(|&&v| v != UNDECIDED).map(|v| v.abs());
        by_exits.chain(known).max().unwrap_or(0)
    }

    /// Gives `value` to the open positions of which `is_decided` holds, and takes them out. A
    /// position that was just decided counts at once: its number is too large to decide another.
    fn decide_all(
        &mut self,
        values: &mut [i16],
        value: i16,
        is_decided: impl Fn(&OpenPosition, &[u32], &[i16], i16) -> bool,
    ) {
        let targets = &self.targets;
        self.nodes.retain(|node| {
            let decided = is_decided(node, &targets[node.targets.clone()], values, value.abs());
            if decided {
                values[node.number as usize] = value;
            }
            !decided
        });
    }
}

impl OpenPosition {
    /// Won in `n` by a move to a position lost in less.
    fn is_won_in(&self, targets: &[u32], values: &[i16], n: i16) -> bool {
        let mut next = targets.iter().map(|&t| values[t as usize]);
        self.exit_win.is_some_and(|v| v <= n) || next.any(|v| v != UNDECIDED && v < 0 && -v < n)
    }

    /// Lost in `n` if every move leads to a position won in at most `n`.
    fn is_lost_in(&self, targets: &[u32], values: &[i16], n: i16) -> bool {
        let mut next = targets.iter().map(|&t| values[t as usize]);
        !self.exit_holds && self.exit_loss <= n && next.all(|v| v != UNDECIDED && 0 < v && v <= n)
    }
}
