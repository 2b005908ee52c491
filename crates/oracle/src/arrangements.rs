//! The arrangements of pawns of a `pawngen` element, by plain search over pawns and counters.

use std::collections::BTreeSet;

use hoffman_board::{Bitboard, ByColor, Color, File, PAWN_SQUARES, Square};
use hoffman_control::PawngenElement;
use rustc_hash::FxHashSet;

/// Where the pawns stand, and the square that one of them has just jumped over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowArrangement {
    /// White's pawns.
    pub white: Bitboard,
    /// Black's pawns.
    pub black: Bitboard,
    /// The square behind a pawn that has just made a double step beside an enemy pawn.
    pub en_passant: Option<Square>,
}

/// Pawns on the way, with what may and must still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PawnState {
    pawns: ByColor<Bitboard>,
    en_passant: Option<Square>,
    queens: ByColor<u64>,
    captures: ByColor<u64>,
}

/// All arrangements with the required numbers of pawns, in the order of the file format.
pub fn arrangements(element: &PawngenElement) -> Vec<SlowArrangement> {
    let sides = ByColor { white: &element.white, black: &element.black };
    let required = sides.map(|side| side.pawns_required.unwrap_or(0));
    let first = PawnState {
        pawns: sides.map(|side| side.start),
        en_passant: None,
        queens: sides.map(|side| side.queens_required),
        // More captures than moves of all pawns make no difference.
        captures: sides.map(|side| side.captures_allowed.min(48)),
    };
    let possible = |state: &PawnState| state.has_pawns_for(&required);
    let mut seen = FxHashSet::default();
    let mut open: Vec<PawnState> = [first].into_iter().filter(possible).collect();
    while let Some(state) = open.pop() {
        if seen.insert(state) {
            open.extend(state.next().into_iter().filter(possible));
        }
    }
    let complete = |state: &&PawnState| state.is_complete(&required);
    let found: BTreeSet<SortKey> = seen.iter().filter(complete).map(PawnState::sort_key).collect();
    found.into_iter().map(|key| arrangement(&key)).collect()
}

/// Pawns by rank from the second on for White and from the seventh on for Black, the h-file left
/// out as in the original; the masks; the en passant square, 255 for none.
type SortKey = ([u32; 6], [u32; 6], u64, u64, u8);

fn arrangement(key: &SortKey) -> SlowArrangement {
    let &(_, _, white, black, square) = key;
    SlowArrangement {
        white: Bitboard(white),
        black: Bitboard(black),
        en_passant: (square < 64).then(|| Square::new(u32::from(square))),
    }
}

impl PawnState {
    fn count(&self, color: Color) -> u64 {
        self.pawns.get(color).count() as u64
    }

    /// Whether there are pawns enough, those that must still become queens included.
    fn has_pawns_for(&self, required: &ByColor<u64>) -> bool {
        Color::ALL.iter().all(|&c| self.count(c) >= required.get(c) + self.queens.get(c))
    }

    fn is_complete(&self, required: &ByColor<u64>) -> bool {
        let done = |&c: &Color| *self.queens.get(c) == 0 && self.count(c) == *required.get(c);
        Color::ALL.iter().all(done)
    }

    fn sort_key(&self) -> SortKey {
        let on_rank = |pawns: Bitboard, rank: usize| {
            (pawns & !Bitboard::from_file(File::H) & Bitboard(0xff << (8 * rank))).count() as u32
        };
        let ByColor { white, black } = self.pawns;
        (
            std::array::from_fn(|i| on_rank(white, 1 + i)),
            std::array::from_fn(|i| on_rank(black, 6 - i)),
            white.0,
            black.0,
            self.en_passant.map_or(255, |s| s as u8),
        )
    }

    /// The state with the pawn of `color` moved from one square to another or off the board.
    fn moved(&self, color: Color, from: Square, to: Option<Square>) -> PawnState {
        let mut next = PawnState { en_passant: None, ..*self };
        next.pawns.get_mut(color).discard(from);
        if let Some(to) = to {
            next.pawns.get_mut(color).add(to);
            next.pawns.get_mut(color.other()).discard(to);
        }
        next
    }

    /// What one move of a pawn, or its capture by a piece, makes of the state.
    fn next(&self) -> Vec<PawnState> {
        let mut all = Vec::new();
        for color in Color::ALL {
            let (mine, theirs) = (*self.pawns.get(color), *self.pawns.get(color.other()));
            let both = mine | theirs;
            let (step, second, seventh) = color.fold_wb((8, 1, 6), (-8, 6, 1));
            for from in mine {
                let rank = from as u32 / 8;
                all.push(self.moved(color, from, None));
                if rank == seventh {
                    if *self.queens.get(color) > 0 {
                        let mut next = self.moved(color, from, None);
                        *next.queens.get_mut(color) -= 1;
                        all.push(next);
                    }
                    continue;
                }
                let ahead = from.offset(step).expect("not on the seventh rank");

                if !both.contains(ahead) {
                    all.push(self.moved(color, from, Some(ahead)));
                    let two = ahead.offset(step).expect("not beyond the seventh rank");
                    if rank == second && !both.contains(two) {
                        let beside = [two.offset(-1), two.offset(1)].into_iter().flatten();
                        if beside.filter(|s| s.rank() == two.rank()).any(|s| theirs.contains(s)) {
                            let mut next = self.moved(color, from, Some(two));
                            next.en_passant = Some(ahead);
                            all.push(next);
                        }
                    }
                }
                let sideways = [ahead.offset(-1), ahead.offset(1)].into_iter().flatten();
                for to in sideways.filter(|s| s.rank() == ahead.rank()) {
                    if theirs.contains(to) {
                        all.push(self.moved(color, from, Some(to)));
                    } else if !mine.contains(to) && *self.captures.get(color) > 0 {
                        let mut next = self.moved(color, from, Some(to));
                        *next.captures.get_mut(color) -= 1;
                        all.push(next);
                    }
                }
            }
        }
        debug_assert!(all.iter().all(|s| (s.pawns.white | s.pawns.black).is_subset(PAWN_SQUARES)));
        all
    }
}

#[cfg(test)]
mod tests {
    use hoffman_control::{ControlFile, Strictness};

    use super::*;

    /// Starts, numbers of pawns, more attributes, number of structures.
    type Row = (&'static str, &'static str, (u64, u64), &'static str, usize);

    #[test]
    fn counts_are_the_published_ones() {
        const BIG: (&str, &str) = ("b3 c2 d3", "b5 c7 d5");
        const QUEEN: &str = "white-queens-required='1'";
        let both = "white-captures-allowed='1' black-captures-allowed='1'";
        let mut rows: Vec<Row> = vec![
            ("b2", "c7", (1, 1), "", 38),
            ("b2", "c7", (1, 0), "", 11),
            ("b2", "c7", (0, 1), "", 11),
            ("b2", "c7", (1, 1), "white-captures-allowed='1'", 93),
            ("b2", "c7", (1, 1), "white-captures-allowed='2'", 118),
            ("b2", "c7", (1, 1), both, 248),
            ("b2", "c7", (0, 1), QUEEN, 6),
            ("b2", "b7", (1, 1), "", 15),
            ("b2 a2", "c7", (1, 1), "", 105),
            ("b2 c2 d2", "c7", (3, 1), "", 597),
            ("a2", "b4", (1, 1), "", 19),
            ("d3 b2", "c7", (1, 1), both, 505),
        ];
        for (required, count) in [
            ((3, 3), 150),
            ((3, 2), 1313),
            ((2, 3), 1068),
            ((2, 2), 3347),
            ((3, 1), 2466),
            ((1, 3), 1693),
            ((2, 1), 1329),
            ((1, 2), 1119),
            ((3, 0), 506),
            ((0, 3), 340),
        ] {
            rows.push((BIG.0, BIG.1, required, "", count));
        }
        for (required, count) in [
            ((2, 3), 0),
            ((0, 2), 102),
            ((0, 3), 210),
            ((1, 1), 242),
            ((1, 2), 895),
            ((1, 3), 108),
            ((2, 0), 119),
            ((2, 1), 959),
            ((2, 2), 447),
        ] {
            rows.push((BIG.0, BIG.1, required, QUEEN, count));
        }
        for (white, black, required, more, count) in rows {
            let found = arrangements(&element(white, black, required, more));
            assert_eq!(found.len(), count, "{white} {black} {required:?} {more}");
        }
    }

    fn element(white: &str, black: &str, required: (u64, u64), more: &str) -> PawngenElement {
        let text = format!(
            "<tablebase><pawngen white-pawn-locations='{white}' black-pawn-locations='{black}' \
             white-pawns-required='{}' black-pawns-required='{}' {more}/></tablebase>",
            required.0, required.1
        );
        ControlFile::parse(&text, "test", Strictness::Control).unwrap().pawngen.unwrap()
    }

    #[test]
    fn the_order_is_that_of_the_format() {
        let found = arrangements(&element("b3 c2 d3", "b5 c7 d5", (3, 3), ""));
        let at = |white: [&str; 3]| {
            let white: Bitboard = white.iter().map(|s| s.parse::<Square>().unwrap()).collect();
            let black = found[149].black;
            found.iter().position(|s| (s.white, s.black, s.en_passant) == (white, black, None))
        };
        assert_eq!(at(["b3", "c2", "d3"]), Some(149));
        assert_eq!(at(["b4", "c2", "d3"]), Some(128));
        assert_eq!(at(["b3", "c2", "d4"]), Some(129));
        assert_eq!(at(["b3", "c3", "d3"]), Some(104));
    }
}
