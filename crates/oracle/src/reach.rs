//! The value of one position from everything that can be reached from it.

use hoffman_board::shakmaty::{Board, Chess, Position as _};
use hoffman_board::{Color, Piece, Role, Square, Value};
use rustc_hash::FxHashMap;

use crate::position::{BadFen, SlowPosition, chess, usable_en_passant};
use crate::score::{DRAW, GraphPart, MATED, NO_EXIT, Score, UNDECIDED, behind_move, decide, value};
use crate::table::{MAX_MEN, SlowTables, after};

/// Why a position was not solved.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReachError {
    /// The text is no FEN.
    #[error(transparent)]
    Fen(#[from] BadFen),
    /// The position is not legal, or has more than twelve men.
    #[error("'{0}' is not a legal position of at most {MAX_KEY_MEN} men")]
    Position(String),
    /// More positions can be reached than allowed.
    #[error("more than {0} positions can be reached")]
    Limit(usize),
}

/// The largest number of men that fit into a key.
const MAX_KEY_MEN: usize = 12;

/// What to do with positions of few men on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Positions with at most this many men are looked up in complete tables (at most
    /// [`MAX_MEN`]); with 0 nothing but the graph itself is used.
    pub table_men: usize,
    /// How many positions the graph may have.
    pub limit: usize,
}

impl Default for Reach {
    fn default() -> Reach {
        Reach { table_men: MAX_MEN, limit: 20_000_000 }
    }
}

/// Solves a position of any number of men up to twelve by enumerating what can be reached from it
/// by legal moves. Board symmetries identify positions; en passant squares that a pawn can use
/// count.
pub fn solve_reachable(
    tables: &mut SlowTables,
    fen: &str,
    reach: Reach,
) -> Result<Value, ReachError> {
    let start = SlowPosition::from_fen(fen)?
        .to_chess()
        .filter(|c| c.board().occupied().count() <= MAX_KEY_MEN)
        .ok_or_else(|| ReachError::Position(fen.to_owned()))?;
    let mut graph =
        ReachedPositions { tables, reach, numbers: FxHashMap::default(), keys: Vec::new() };
    if let Some(score) = graph.known(&start) {
        return Ok(value(score));
    }
    graph.number(&start)?;
    let mut values: Vec<Score> = Vec::new();
    let mut chunk = GraphPart::default();
    let mut targets = Vec::new();
    while let Some(&key) = graph.keys.get(values.len()) {
        let position = unpacked(key);
        targets.clear();
        let mut best_exit = NO_EXIT;
        let moves = position.legal_moves();
        for &m in &moves {
            let next = after(&position, m);
            match graph.known(&next) {
                Some(score) => best_exit = best_exit.max(behind_move(score)),
                None => targets.push(graph.number(&next)?),
            }
        }
        let node = values.len() as u32;
        values.push(if moves.is_empty() {
            if position.is_check() { MATED } else { DRAW }
        } else {
            chunk.push(node, &targets, best_exit);
            UNDECIDED
        });
    }
    decide(&mut [chunk], &mut values);
    Ok(value(values[0]))
}

struct ReachedPositions<'a> {
    tables: &'a mut SlowTables,
    reach: Reach,
    numbers: FxHashMap<u128, u32>,
    keys: Vec<u128>,
}

impl ReachedPositions<'_> {
    /// The result of a position of few men.
    fn known(&mut self, position: &Chess) -> Option<Score> {
        let material = hoffman_board::Material { count: position.board().material() };
        if material.men() > self.reach.table_men.min(MAX_MEN) {
            return None;
        }
        if self.tables.score(position).is_none() {
            self.tables.solve(&material).expect("few enough men");
        }
        self.tables.score(position)
    }

    /// The number of a position, a new one if it was not yet met.
    fn number(&mut self, position: &Chess) -> Result<u32, ReachError> {
        let key = packed(position);
        let next = self.keys.len();
        let number = *self.numbers.entry(key).or_insert(next as u32);
        if number as usize == next {
            if next >= self.reach.limit {
                return Err(ReachError::Limit(self.reach.limit));
            }
            self.keys.push(key);
        }
        Ok(number)
    }
}

/// The smallest key of a position and its images: by rising 10-bit groups the men (1 + kind,
/// square), on top one bit for the side to move and four for the file of the en passant square.
fn packed(position: &Chess) -> u128 {
    let board = position.board();
    let ep = usable_en_passant(position);
    let images = if board.pawns().is_empty() { 8 } else { 2 };
    let keys = (0..images).map(|image| packed_image(board, position.turn(), ep, image));
    keys.min().expect("at least two images")
}

/// The key of one image of a position.
fn packed_image(board: &Board, turn: Color, ep: Option<Square>, image: u8) -> u128 {
    let man = |(square, piece): (Square, Piece)| {
        let kind = 1 + piece.role as u16 + 7 * u16::from(piece.color == Color::Black);
        kind << 6 | u16::from(moved(square, image))
    };
    let mut men: Vec<u16> = board.iter().map(man).collect();
    men.sort_unstable();
    let men = men.iter().rev().fold(0, |key, &man| key << 10 | u128::from(man));
    let file = ep.map_or(0, |s| 1 + u128::from(moved(s, image) % 8));
    men | u128::from(turn == Color::Black) << 120 | file << 121
}

/// Where an image has a square. Bits of `image`: mirrored left to right, top to bottom, in the
/// long diagonal, one after the other.
fn moved(square: Square, image: u8) -> u8 {
    let mut s = square as u8;
    if image & 1 != 0 {
        s ^= 7;
    }
    if image & 2 != 0 {
        s ^= 56;
    }
    if image & 4 != 0 {
        s = s / 8 + s % 8 * 8;
    }
    s
}

fn unpacked(key: u128) -> Chess {
    let mut board = Board::empty();
    for man in 0..MAX_KEY_MEN {
        let code = (key >> (10 * man)) as u16 & 0x3ff;
        if code == 0 {
            break;
        }
        let (kind, square) = ((code >> 6) - 1, Square::new(u32::from(code & 63)));
        let color = if kind > 7 { Color::Black } else { Color::White };
        let role = Role::ALL.into_iter().find(|&r| r as u16 == kind - if kind > 7 { 7 } else { 0 });
        board.set_piece_at(square, Piece { color, role: role.expect("a kind") });
    }
    let turn = if key >> 120 & 1 == 1 { Color::Black } else { Color::White };
    let file = (key >> 121) as u32;
    let rank = turn.fold_wb(5, 2);
    let ep = (file > 0).then(|| Square::new(rank * 8 + file - 1));
    chess(board, turn, ep).expect("packed from a legal position")
}
