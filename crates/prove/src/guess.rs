//! What a slice is thought to be worth that is not open. Free to be wrong: it says where to look
//! first, never what is true.

use hoffman_board::shakmaty;
use hoffman_board::{Bitboard, Color, Material, Outcome, Rank, Role, Square, Value};
use hoffman_space::{Code as _, Codes, Layout, PawnSquares, SliceValues};

use crate::key::Key;

/// From how much more material on a side is thought to win: in pawns where there are no pieces, and
/// where there are.
const PAWNS_AHEAD: i32 = 1;
const PIECES_AHEAD: i32 = 4;

/// The outcome that is likely.
pub(crate) fn outcome(material: &Material) -> Outcome {
    let worth = |color: Color| -> i32 {
        let men = material.count.get(color);
        let of = |role: Role, points: i32| points * i32::from(*men.get(role));
        of(Role::Queen, 9)
            + of(Role::Rook, 5)
            + of(Role::Bishop, 3)
            + of(Role::Knight, 3)
            + of(Role::Pawn, 1)
    };
    let pawns = |color: Color| i32::from(*material.count.get(color).get(Role::Pawn));
    let has_pieces = |color: Color| worth(color) > pawns(color);
    let ahead = worth(Color::White) - worth(Color::Black);
    let enough = if Color::ALL.into_iter().any(has_pieces) { PIECES_AHEAD } else { PAWNS_AHEAD };
    match ahead {
        _ if ahead >= enough => Outcome::WhiteWins,
        _ if ahead <= -enough => Outcome::BlackWins,
        _ => Outcome::Draw,
    }
}

/// How many moves a slice that is not open is thought to take until the guess comes true. Where
/// there are pieces, soon: one with pawns alone leads to many others.
pub(crate) fn moves(key: &Key) -> u16 {
    if key.pieces() == 0 { 8 } else { 0 }
}

/// How many plies earlier a pawn has to promote than one of the other side to win by that.
const PLIES_AHEAD: u32 = 3;

/// A guess of the positions of kings and pawns in which a pawn cannot be caught; of all others
/// nothing is said. None if no pawn is free to run.
pub(crate) fn races(layout: &Layout, pawns: PawnSquares) -> Option<SliceValues> {
    let runners = Color::ALL.map(|color| passed(pawns, color));
    if runners.iter().all(Vec::is_empty) {
        return None;
    }
    let codes = [Color::White, Color::Black].map(|turn| {
        let mut codes = vec![u8::ILLEGAL; layout.len()];
        guess_races(layout, pawns, (&runners, turn), &mut codes);
        Codes::Narrow(codes).outcomes()
    });
    Some(SliceValues { codes, en_passant: Vec::new(), counts: None, max_moves: 1 })
}

/// Puts what the runners guess into the codes of a side to move.
fn guess_races(
    layout: &Layout,
    pawns: PawnSquares,
    (runners, turn): (&[Vec<Runner>; 2], Color),
    codes: &mut [u8],
) {
    let [white_runs, black_runs] = Color::ALL.map(|color| {
        let runners = color.fold_wb(&runners[0], &runners[1]);
        Runs::new(runners, u32::from(color != turn))
    });
    let kings = Square::ALL.into_iter().flat_map(|white| Square::ALL.map(|black| [white, black]));
    for kings in kings {
        let [white, black] = kings;
        let Some(winner) = winner(white_runs.plies(white, black), black_runs.plies(black, white))
        else {
            continue;
        };
        if !is_legal(pawns, turn, kings) {
            continue;
        }
        let value = if winner == turn { Value::Win(1) } else { Value::Loss(0) };
        let place = layout.offset(&kings.map(u8::from));
        if let Some(place) = place.and_then(|place| codes.get_mut(place)) {
            *place = u8::from_value(value);
        }
    }
}

/// In how many plies a side promotes a pawn that the enemy king does not catch, by the file of its
/// own king, which must not stand before the pawn, and the square of the enemy's.
struct Runs([[Option<u32>; 64]; 8]);

impl Runs {
    /// Of pawns that begin to run after so many plies.
    fn new(runners: &[Runner], waits: u32) -> Runs {
        let mut runs = [[None; 64]; 8];
        for &(to, moves) in runners {
            let plies = 2 * moves - 1 + waits;
            let files = (0..).zip(&mut runs).filter(|(file, _)| *file != u32::from(to.file()));
            for (enemy, known) in files.flat_map(|(_, runs)| Square::ALL.into_iter().zip(runs)) {
                if enemy.distance(to) > moves + waits {
                    *known = Some(known.map_or(plies, |known: u32| known.min(plies)));
                }
            }
        }
        Runs(runs)
    }

    fn plies(&self, own: Square, enemy: Square) -> Option<u32> {
        self.0[usize::from(own.file())][usize::from(enemy)]
    }
}

/// A pawn with nothing before it: where it promotes, and after how many moves.
type Runner = (Square, u32);

/// The pawns of a side that no pawn of the other one can stop or take.
fn passed(pawns: PawnSquares, color: Color) -> Vec<Runner> {
    let enemies = Bitboard(pawns.of(color.other()));
    let all = Bitboard(pawns.occupied());
    let relative = |square: Square| u32::from(color.relative_rank(square.rank()));
    let ahead = |square: Square, from: Square| relative(square) > relative(from);
    let is_free = |&from: &Square| {
        let file = |square: Square| u32::from(square.file());
        let beside =
            |square: &Square| ahead(*square, from) && file(*square).abs_diff(file(from)) <= 1;
        let before = |square: &Square| ahead(*square, from) && square.file() == from.file();
        !enemies.into_iter().any(|square| beside(&square))
            && !all.into_iter().any(|square| before(&square))
    };
    let runner = |from: Square| {
        let last = color.fold_wb(Rank::Eighth, Rank::First);
        let steps = u32::from(Rank::Eighth) - relative(from);
        let jumps = u32::from(color.relative_rank(from.rank()) == Rank::Second);
        (Square::from_coords(from.file(), last), steps - jumps)
    };
    Bitboard(pawns.of(color)).into_iter().filter(is_free).map(runner).collect()
}

/// Whether the kings (White's first) may stand so with `turn` to move.
pub(crate) fn is_legal(pawns: PawnSquares, turn: Color, [white, black]: [Square; 2]) -> bool {
    let occupied = Bitboard(pawns.occupied());
    let king = turn.fold_wb(black, white);
    let attackers = shakmaty::attacks::pawn_attacks(turn.other(), king);
    white.distance(black) > 1
        && !occupied.contains(white)
        && !occupied.contains(black)
        && (attackers & Bitboard(pawns.of(turn))).is_empty()
}

/// The side with a pawn that cannot be caught, or with the one that promotes first: by the plies
/// that White's and Black's takes.
fn winner(white: Option<u32>, black: Option<u32>) -> Option<Color> {
    match (white, black) {
        (Some(white), Some(black)) if white + PLIES_AHEAD <= black => Some(Color::White),
        (Some(white), Some(black)) if black + PLIES_AHEAD <= white => Some(Color::Black),
        (Some(_), None) => Some(Color::White),
        (None, Some(_)) => Some(Color::Black),
        _ => None,
    }
}
