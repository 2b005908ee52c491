//! What futurebases say about moves out of an analysis, and whether they can be used.

use std::collections::HashMap;
use std::sync::Arc;

use hoffman_board::shakmaty::Board;
use hoffman_board::value::FlagType;
use hoffman_board::{Color, Format, Material, Square};
use hoffman_control::{ControlFile, PruneEffect};

use super::key::PositionKey;
use super::moves::MadeMove;
use super::prunes::MoveRules;
use super::{DRAW, MATED, SlowAnalysis, SlowError, WON_AT_ONCE};

/// A futurebase in use.
pub(super) struct SolvedFuturebase {
    analysis: Arc<SlowAnalysis>,
    inverted: bool,
}

impl SolvedFuturebase {
    /// The value of a position, as far as an analysis of the given format can use it.
    fn value(
        &self,
        board: &Board,
        turn: Color,
        en_passant: Option<Square>,
        inverted: bool,
        format: Format,
    ) -> Option<i16> {
        let base = &*self.analysis;
        let find = |right: Option<Square>| {
            let key = PositionKey::new(board, turn, right);
            base.numbers.get(&if inverted { key.inverted() } else { key })
        };
        let number = *find(en_passant).or_else(|| find(None))?;
        let value = base.values[number as usize];
        if matches!(format, Format::Dtm(_)) {
            return Some(value);
        }

        let turn = if inverted { turn.other() } else { turn };
        let winner = match value {
            0 => None,
            1.. => Some(turn),
            _ => Some(turn.other()),
        };
        // One bit does not tell a draw from one of the other results.
        let known = match base.format {
            Format::Flag(FlagType::WhiteWins) => winner.filter(|&c| c == Color::White),
            Format::Flag(FlagType::WhiteDraws) => winner.filter(|&c| c == Color::Black),
            _ => winner,
        };
        Some(match known {
            None => DRAW,
            Some(color) if color == turn => WON_AT_ONCE,
            Some(_) => MATED,
        })
    }
}

impl SlowAnalysis {
    /// The futurebases of a control file, with the conditions under which they can be used.
    pub(super) fn check_futurebases(
        &self,
        control: &ControlFile,
        solved: &HashMap<String, Arc<SlowAnalysis>>,
    ) -> Result<Vec<SolvedFuturebase>, SlowError> {
        let mut all = Vec::new();
        for element in &control.futurebases {
            let name = element.filename.clone();
            let Some(base) = solved.get(&name) else { return Err(SlowError::Missing(name)) };
            let inverted = element.inverted;
            if let Some(problem) = self.unusable(base, inverted) {
                return Err(SlowError::Futurebase { name, problem });
            }
            all.push(SolvedFuturebase { analysis: Arc::clone(base), inverted });
        }
        Ok(all)
    }

    fn unusable(&self, base: &SlowAnalysis, inverted: bool) -> Option<&'static str> {
        if base.variant != self.variant {
            return Some("made under other rules");
        }
        if base.symmetry < self.symmetry {
            return Some("less symmetric than the table");
        }
        let enabled = |&(color, effect): &(Color, PruneEffect)| {
            let color = if inverted { color.other() } else { color };
            // Without a side to move White's moves stand for Black's as well.
            let both = self.enables.contains(&(color.other(), effect)) || !base.color_symmetric;
            self.enables.contains(&(color, effect)) && both
        };
        if !base.enables.iter().all(enabled) {
            return Some("its prune-enables are not enabled here");
        }
        match (self.format, base.format) {
            (_, Format::Dtm(_)) => None,
            (Format::Dtm(_), _) => Some("without distances to mate"),
            (Format::Flag(own), Format::Flag(theirs)) if (own != theirs) != inverted => {
                Some("a flag of the other sort")
            }
            (Format::Flag(_), _) => None,
            (_, Format::Flag(_)) => Some("a flag for another format"),
            _ => None,
        }
    }

    /// What the first futurebase that has the position after a move says about it, from the view
    /// of the side to move there.
    pub(super) fn answer(
        &self,
        rules: &MoveRules<'_>,
        made: &MadeMove,
        turn: Color,
    ) -> Option<i16> {
        let look_up = |swapped: bool| {
            rules.futurebases.iter().find_map(|base| {
                let inverted = base.inverted != swapped;
                base.value(&made.board, turn.other(), made.en_passant, inverted, self.format)
            })
        };
        // Where the colours can be exchanged a table for White's moves is one for Black's as well.
        look_up(false).or_else(|| if self.color_symmetric { look_up(true) } else { None })
    }

    /// Whether some futurebase has the men behind a move. Discarded, it is then left as it is: it
    /// leads nowhere, but a side without another move is neither mated nor stalemated in a table
    /// with distances.
    pub(super) fn is_tracked(&self, rules: &MoveRules<'_>, made: &MadeMove) -> bool {
        let men = Material::from_men(made.board.iter().map(|(_, p)| (p.color, p.role)));
        rules.futurebases.iter().any(|base| {
            let theirs = base.analysis.material;
            let swapped = theirs.swapped();
            let (own, other) = if base.inverted { (swapped, theirs) } else { (theirs, swapped) };
            men == own || self.color_symmetric && men == other
        })
    }
}
