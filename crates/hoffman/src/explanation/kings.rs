//! Where kings decide: corresponding squares, on which neither side wants to be the one to move,
//! and key squares, from which a king always wins.

use std::collections::{BTreeMap, HashSet, VecDeque};

use hoffman_board::{Color, Outcome, Square};
use hoffman_reader::shakmaty::{
    CastlingMode, Chess, EnPassantMode, Move, Position as _, Role, Setup,
};

use super::for_white;
use super::inquiry::Inquiry;

/// All mutual zugzwangs of two kings between pawns that stay where they are, and their key squares.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KingZugzwangs {
    /// The zugzwangs, by White's square.
    pub found: Vec<KingZugzwang>,
    /// In how many ways the kings can stand after moves of kings alone.
    pub placements: usize,
    /// Of how many of them it was not found out whether they are zugzwangs.
    pub undecided: usize,
    /// The key squares of White's king, and of Black's, by what is proven: with it there its side
    /// wins, whoever is to move and wherever the other king comes, unless that can take something
    /// at once. A side of which no square is known from which it does not has none.
    pub key_squares: [Vec<Square>; 2],
}

/// Two kings of which each side does better if the other one is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KingZugzwang {
    /// The square of White's king.
    pub white: Square,
    /// The square of Black's king.
    pub black: Square,
    /// Who wins with White to move, and with Black to move; nobody in a draw.
    pub winners: [Option<Color>; 2],
}

/// Squares that correspond to each other: with White's king on any of the one kind and Black's on
/// any of the other kind they are in mutual zugzwang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correspondence {
    /// The squares of White's king.
    pub white: Vec<Square>,
    /// The squares of Black's king.
    pub black: Vec<Square>,
    /// See [`KingZugzwang::winners`].
    pub winners: [Option<Color>; 2],
}

impl KingZugzwangs {
    /// Looks at all placements that kings reach from a position on, those first that are near; none
    /// if there are pieces.
    pub(super) fn of(position: &Chess, inquiry: &mut Inquiry<'_>) -> Option<KingZugzwangs> {
        let board = position.board();
        if (board.occupied() & !board.pawns() & !board.kings()).any() {
            return None;
        }

        let room = KingRoom { setup: position.to_setup(EnPassantMode::Legal) };
        let placements = placements(position);
        let (mut found, mut undecided) = (Vec::new(), 0);
        let mut always_wins = [KeySquares::default(), KeySquares::default()];
        let count = placements.len();
        for (white, black) in placements {
            let mut asked = |turn| {
                let place = room.placed(white, black, turn)?;
                let outcome = inquiry.outcome(&place);
                Some(AskedPlace { place, outcome })
            };
            let asked = [asked(Color::White), asked(Color::Black)];
            for (color, squares) in Color::ALL.into_iter().zip(&mut always_wins) {
                squares.add(color, color.fold_wb(white, black), &asked);
            }

            // With a king that could be taken there is no zugzwang.
            let [Some(to_white), Some(to_black)] = asked else { continue };
            let (Some(to_white), Some(to_black)) = (to_white.outcome, to_black.outcome) else {
                undecided += 1;
                continue;
            };
            if for_white(to_white) < for_white(to_black) {
                let winners = [to_white.winner(), to_black.winner()];
                found.push(KingZugzwang { white, black, winners });
            }
        }
        let key_squares = always_wins.map(KeySquares::found);
        let mut zugzwangs = KingZugzwangs { found, placements: count, undecided, key_squares };
        zugzwangs.found.sort_by_key(|zugzwang| (zugzwang.white, zugzwang.black));
        Some(zugzwangs)
    }

    /// The zugzwangs in groups: squares of White's king that have the same ones of Black's.
    pub fn correspondences(&self) -> Vec<Correspondence> {
        type Partners = ([Option<Color>; 2], Vec<Square>);
        let mut by_white: BTreeMap<Square, Vec<Partners>> = BTreeMap::new();
        for &KingZugzwang { white, black, winners } in &self.found {
            let partners = by_white.entry(white).or_default();
            match partners.iter_mut().find(|(of, _)| *of == winners) {
                Some((_, squares)) => squares.push(black),
                None => partners.push((winners, vec![black])),
            }
        }

        let mut groups: Vec<Correspondence> = Vec::new();
        for (white, partners) in by_white {
            for (winners, black) in partners {
                let same =
                    |group: &&mut Correspondence| group.winners == winners && group.black == black;
                match groups.iter_mut().find(same) {
                    Some(group) => group.white.push(white),
                    None => groups.push(Correspondence { white: vec![white], black, winners }),
                }
            }
        }
        groups
    }
}

/// A position, and its outcome if it is known.
struct AskedPlace {
    place: Chess,
    outcome: Option<Outcome>,
}

/// Squares of a king, and whether it always wins from there: none if that is not known of all.
#[derive(Default)]
struct KeySquares(BTreeMap<Square, Option<bool>>);

impl KeySquares {
    /// Adds what results with the king on a square, with White and with Black to move, if these are
    /// positions.
    fn add(&mut self, color: Color, square: Square, asked: &[Option<AskedPlace>; 2]) {
        let takes = |m: &Move| m.role() == Role::King && m.is_capture();
        let other_to_move = &asked[color.fold_wb(1, 0)];
        if other_to_move.as_ref().is_some_and(|asked| asked.place.legal_moves().iter().any(takes)) {
            return;
        }
        for asked in asked.iter().flatten() {
            let wins = asked.outcome.map(|outcome| outcome == Outcome::won_by(color));
            let always = self.0.entry(square).or_insert(Some(true));
            *always = match (*always, wins) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
    }

    /// Those from which it does; none if there is no other one.
    fn found(self) -> Vec<Square> {
        if !self.0.values().any(|&always| always == Some(false)) {
            return Vec::new();
        }
        self.0.into_iter().filter_map(|(s, always)| (always == Some(true)).then_some(s)).collect()
    }
}

/// Pawns, between which kings move.
struct KingRoom {
    setup: Setup,
}

impl KingRoom {
    /// The kings elsewhere; none if that is no position of chess.
    fn placed(&self, white: Square, black: Square, turn: Color) -> Option<Chess> {
        let mut setup = self.setup.clone();
        let kings = setup.board.kings();
        kings.into_iter().for_each(|at| setup.board.discard_piece_at(at));
        setup.board.set_piece_at(white, Color::White.king());
        setup.board.set_piece_at(black, Color::Black.king());
        setup.turn = turn;
        setup.ep_square = None;
        setup.position(CastlingMode::Standard).ok()
    }
}

/// The squares of both kings that their moves lead to, captures left out, those first that are
/// near.
fn placements(position: &Chess) -> Vec<(Square, Square)> {
    let mut met = HashSet::new();
    let mut placements = Vec::new();
    let mut waiting = VecDeque::from([position.clone()]);
    while let Some(place) = waiting.pop_front() {
        let Some(kings) = kings_of(&place) else { continue };
        if !met.insert((kings, place.turn())) {
            continue;
        }
        if !met.contains(&(kings, place.turn().other())) {
            placements.push(kings);
        }
        for m in place.legal_moves() {
            if let Move::Normal { role: Role::King, capture: None, .. } = m {
                let mut next = place.clone();
                next.play_unchecked(m);
                waiting.push_back(next);
            }
        }
    }
    placements
}

fn kings_of(position: &Chess) -> Option<(Square, Square)> {
    let king = |color| position.board().king_of(color);
    king(Color::White).zip(king(Color::Black))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zugzwang(white: Square, black: Square) -> KingZugzwang {
        KingZugzwang { white, black, winners: [None, Some(Color::White)] }
    }

    #[test]
    fn squares_with_the_same_partners_correspond() {
        let found = vec![
            zugzwang(Square::B1, Square::A7),
            zugzwang(Square::B1, Square::C7),
            zugzwang(Square::B3, Square::A7),
            zugzwang(Square::B3, Square::C7),
            zugzwang(Square::D1, Square::C7),
        ];
        let groups =
            KingZugzwangs { found, placements: 5, undecided: 0, key_squares: Default::default() };
        let groups = groups.correspondences();
        let squares: Vec<_> = groups.iter().map(|group| (&group.white, &group.black)).collect();
        let (both, one) = (vec![Square::B1, Square::B3], vec![Square::D1]);
        assert_eq!(squares, [(&both, &vec![Square::A7, Square::C7]), (&one, &vec![Square::C7])]);
    }
}
