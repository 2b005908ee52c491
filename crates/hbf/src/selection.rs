//! Which positions of a table are asked for by those who do not need all.

use crate::board::{Color, Kind, Man, Position};

/// The border of the board.
const EDGE: u64 = 0xff81_8181_8181_81ff;

/// Positions of a table: those with one of two sides to move, or only some of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The sides to move, White first.
    pub turns: [bool; 2],
    /// If not empty: only positions in which one of these men stands where it may have promoted: on
    /// its last rank or, without pawns, on the edge of the board.
    pub on_edge: Vec<Man>,
}

impl Selection {
    /// All positions.
    pub fn all() -> Selection {
        Selection { turns: [true; 2], on_edge: Vec::new() }
    }

    /// The same positions and perhaps others, such that the moves of a side that is not to move in
    /// what is stored lead to positions of them: those of the men on the edge are not moved by it.
    pub(crate) fn closed(&self) -> Selection {
        let moves = |man: &Man| self.turns[man.color as usize];
        if self.on_edge.iter().any(moves) {
            return Selection { turns: self.turns, on_edge: Vec::new() };
        }
        self.clone()
    }

    /// Whether these are all positions with a side to move that is asked for.
    pub(crate) fn is_whole(&self) -> bool {
        self.on_edge.is_empty()
    }

    /// The squares of a man beside others that are among them.
    pub(crate) fn lanes(&self, fixed: &Position, man: Man) -> u64 {
        if self.is_whole() {
            return u64::MAX;
        }
        let pawns = |color| fixed.of(Man { color, kind: Kind::Pawn });
        let has_pawns = man.kind == Kind::Pawn || pawns(Color::White) | pawns(Color::Black) != 0;
        let goal = |promoted: &Man| match promoted.color {
            _ if !has_pawns => EDGE,
            Color::White => 0xff << 56,
            Color::Black => 0xff,
        };
        if self.on_edge.iter().any(|promoted| fixed.of(*promoted) & goal(promoted) != 0) {
            return u64::MAX;
        }
        self.on_edge.iter().filter(|&&promoted| promoted == man).fold(0, |set, man| set | goal(man))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen::parse_fen;

    #[test]
    fn a_promoted_man_stands_on_its_last_rank_or_without_pawns_on_the_edge() {
        let queen = Man { color: Color::White, kind: Kind::Queen };
        let selection = Selection { turns: [false, true], on_edge: vec![queen] };
        let lanes = |fen, man| selection.lanes(&parse_fen(fen).unwrap(), man);
        let rook = Man { kind: Kind::Rook, ..queen };
        assert_eq!(lanes("8/8/8/8/3k4/8/P7/K7 b - - 0 1", queen), 0xff << 56);
        assert_eq!(lanes("8/8/8/8/3k4/8/8/K7 b - - 0 1", queen), EDGE);
        assert_eq!(lanes("Q7/8/8/8/3k4/8/P7/K7 b - - 0 1", rook), u64::MAX);
        assert_eq!(lanes("8/8/8/8/3k3Q/8/P7/K7 b - - 0 1", rook), 0);
        assert_eq!(lanes("8/8/8/8/3k3Q/8/8/K7 b - - 0 1", rook), u64::MAX);
        // Its own moves would take it away from there.
        assert_eq!(selection.closed(), selection);
        let both = Selection { turns: [true; 2], ..selection };
        assert_eq!(both.closed(), Selection::all());
    }
}
