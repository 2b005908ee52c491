//! Distances in plies as small numbers, ordered as the side to move prefers them, and the
//! iteration that finds them in any graph of positions.

use hoffman_board::Value;

/// A result for the side to move: `MATE - p` wins in `p` plies, `p - MATE` loses in `p`, 0 is a
/// draw.
pub(crate) type Score = i16;

const MATE: Score = 20_000;
/// Not known yet.
pub(crate) const UNDECIDED: Score = Score::MAX;
/// The side not to move is in check, or there is no such position.
pub(crate) const ILLEGAL: Score = Score::MIN;
/// No move leads out of the graph. Worse than every result.
pub(crate) const NO_EXIT: Score = Score::MIN + 1;
/// Checkmate on the board.
pub(crate) const MATED: Score = -MATE;
/// Neither side wins.
pub(crate) const DRAW: Score = 0;

/// What a position worth `score` to the opponent is worth to the side that moves into it.
pub(crate) fn behind_move(score: Score) -> Score {
    debug_assert!(score != UNDECIDED && score != ILLEGAL);
    -score + score.signum()
}

/// The number of plies to the mate; none for draws.
fn plies(score: Score) -> Option<u16> {
    match score {
        NO_EXIT | DRAW | UNDECIDED | ILLEGAL => None,
        _ => Some(MATE.abs_diff(score.abs())),
    }
}

/// The score in the project's words.
pub(crate) fn value(score: Score) -> Value {
    match (score, plies(score)) {
        (ILLEGAL, _) => Value::Illegal,
        (_, None) => Value::Draw,
        (1.., Some(n)) => Value::Win(n.div_ceil(2)),
        (_, Some(n)) => Value::Loss(n / 2),
    }
}

fn is_loss(score: Score) -> bool {
    score < DRAW && score != ILLEGAL && score != NO_EXIT
}

fn is_win(score: Score) -> bool {
    score > DRAW && score != UNDECIDED
}

/// Some positions with their moves. `targets` are indices into the values of the whole graph.
#[derive(Default)]
pub(crate) struct GraphPart {
    nodes: Vec<u32>,
    first_target: Vec<u32>,
    targets: Vec<u32>,
    best_exit: Vec<Score>,
    open: Vec<u32>,
}

impl GraphPart {
    /// Adds an undecided position with at least one move: the positions of the graph it leads to,
    /// and the best result among moves that leave the graph, or [`NO_EXIT`].
    pub(crate) fn push(&mut self, node: u32, targets: &[u32], best_exit: Score) {
        self.open.push(self.nodes.len() as u32);
        self.nodes.push(node);
        self.first_target.push(self.targets.len() as u32);
        self.targets.extend_from_slice(targets);
        self.best_exit.push(best_exit);
    }

    /// The score of a position that is decided in so many plies: won if odd, lost if even.
    fn decided_in(&self, entry: usize, ply: u16, values: &[Score]) -> Option<Score> {
        let targets = self.targets(entry);
        let exit = self.best_exit[entry];
        let due = plies(exit).is_some_and(|p| p <= ply);
        if ply % 2 == 1 {
            let won = is_win(exit) && due || targets.iter().any(|&t| is_loss(values[t as usize]));
            return won.then_some(MATE - ply as Score);
        }
        let lost = (exit == NO_EXIT || is_loss(exit) && due)
            && targets.iter().all(|&t| is_win(values[t as usize]));
        lost.then_some(ply as Score - MATE)
    }

    fn targets(&self, entry: usize) -> &[u32] {
        let end = self.first_target.get(entry + 1).map_or(self.targets.len(), |&e| e as usize);
        &self.targets[self.first_target[entry] as usize..end]
    }
}

/// Decides every position of the graph, ply by ply, from the definition: won in `n` plies if a
/// move leads to a position lost in `n - 1`, lost in `n` if every move leads to a position won in
/// `n - 1` or less. Mates and stalemates are in `values` already. What remains is drawn.
pub(crate) fn decide(chunks: &mut [GraphPart], values: &mut [Score]) {
    let last_exit =
        chunks.iter().flat_map(|c| &c.best_exit).filter_map(|&e| plies(e)).max().unwrap_or(0);
    let mut quiet_plies = 0;
    let mut ply: u16 = 1;
    while quiet_plies < 2 || ply <= last_exit + 1 {
        let mut found = false;
        for chunk in &mut *chunks {
            let mut open = std::mem::take(&mut chunk.open);
            let before = open.len();
            open.retain(|&entry| {
                let decided = chunk.decided_in(entry as usize, ply, values);
                if let Some(score) = decided {
                    values[chunk.nodes[entry as usize] as usize] = score;
                }
                decided.is_none()
            });
            found |= open.len() < before;
            chunk.open = open;
        }
        quiet_plies = if found { 0 } else { quiet_plies + 1 };
        ply += 1;
    }
    for chunk in chunks {
        for &entry in &chunk.open {
            values[chunk.nodes[entry as usize] as usize] = DRAW;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_values() {
        assert_eq!(value(MATED), Value::Loss(0));
        let won = behind_move(MATED);
        assert_eq!((value(won), plies(won)), (Value::Win(1), Some(1)));
        let lost = behind_move(won);
        assert_eq!((value(lost), plies(lost)), (Value::Loss(1), Some(2)));
        assert_eq!(value(behind_move(DRAW)), Value::Draw);
        assert!(won > behind_move(lost) && behind_move(lost) > DRAW && DRAW > lost && lost > MATED);
    }
}
