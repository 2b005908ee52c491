//! Complete solutions of endings of up to four men.
//!
//! A table holds one number for every way to put the men on 64 squares, for both sides to move; of
//! the images of a position only that with the white king on a1-d1-d4 (with pawns: on files a to
//! d) and, of two interchangeable men, that with the first one on the lower square. Positions with
//! a usable en passant square stand behind them and are found by a hash map.

use std::collections::HashMap;

use hoffman_board::shakmaty::{Board, Chess, Move, Position as _};
use hoffman_board::{ByRole, Color, Material, Role, Square, Value};
use rustc_hash::FxHashMap;

use crate::position::{SlowPosition, chess, en_passant_squares, usable_en_passant};
use crate::score::{
    DRAW, GraphPart, ILLEGAL, MATED, NO_EXIT, Score, UNDECIDED, behind_move, decide, value,
};

/// The largest number of men of a complete solution.
pub const MAX_MEN: usize = 4;

/// An ending that is too large for a complete solution.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{0} has more than {MAX_MEN} men")]
pub struct TooManyMen(pub Material);

/// Win, draw and loss counts for one side to move, as Syzygy counts: up to board symmetry,
/// identical men counted as different, without en passant positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WdlCounts {
    /// The side to move wins.
    pub wins: u64,
    /// Neither side wins.
    pub draws: u64,
    /// The side to move loses.
    pub losses: u64,
}

impl WdlCounts {
    /// All legal positions.
    pub fn legal(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

/// Summary of a solved ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndingSummary {
    /// White to move.
    pub white: WdlCounts,
    /// Black to move.
    pub black: WdlCounts,
    /// The longest win of White with White to move, in moves.
    pub longest_white_win: Option<u16>,
    /// The longest win of Black with Black to move, in moves.
    pub longest_black_win: Option<u16>,
    /// The number of positions with a usable en passant square, without their mirror images.
    pub en_passant: u64,
}

/// Squares by slot. Only as many are used as there are men.
type SlotSquares = [u8; MAX_MEN];

/// A position of a table before numbering.
#[derive(Clone, Copy)]
struct Located {
    squares: SlotSquares,
    turn: Color,
    en_passant: Option<u8>,
}

impl Located {
    fn map(&mut self, image: impl Fn(u8) -> u8) {
        for square in &mut self.squares {
            *square = image(*square);
        }
        self.en_passant = self.en_passant.map(image);
    }
}

/// How the positions of an ending are numbered.
struct PositionNumbers {
    /// The men: white king, black king, the others with identical ones side by side.
    men: Vec<(Color, Role)>,
    pawns: bool,
    pair: bool,
    /// The squares of the white king.
    king_squares: Vec<u8>,
    /// The place of a square in `king_squares`.
    king_slot: [u8; 64],
}

impl PositionNumbers {
    fn new(material: &Material) -> PositionNumbers {
        let mut men = vec![(Color::White, Role::King), (Color::Black, Role::King)];
        men.extend(material.men_in_naming_order());
        let pawns = material.has_pawns();
        let king_squares: Vec<u8> = (0..64)
            .filter(|&s: &u8| {
                let (rank, file) = (s / 8, s % 8);
                file < 4 && (pawns || rank <= file)
            })
            .collect();
        let mut king_slot = [u8::MAX; 64];
        for (slot, &square) in king_squares.iter().enumerate() {
            king_slot[square as usize] = slot as u8;
        }
        let pair = men.len() == MAX_MEN && men[2] == men[3];
        PositionNumbers { men, pawns, pair, king_squares, king_slot }
    }

    /// The count of numbers without en passant.
    fn size(&self) -> usize {
        self.king_squares.len() << (6 * (self.men.len() - 1) + 1)
    }

    /// Reads the squares of the men; `swapped` exchanges the colours and turns the board over.
    fn locate(&self, board: &Board, turn: Color, ep: Option<Square>, swapped: bool) -> Located {
        let flip = if swapped { 56 } else { 0 };
        let recolor = |color: Color| if swapped { color.other() } else { color };
        let mut squares = [0; MAX_MEN];
        let mut slot = 0;
        while slot < self.men.len() {
            let (color, role) = self.men[slot];
            for square in board.by_color(recolor(color)) & board.by_role(role) {
                squares[slot] = square as u8 ^ flip;
                slot += 1;
            }
        }
        Located { squares, turn: recolor(turn), en_passant: ep.map(|s| s as u8 ^ flip) }
    }

    /// Moves a position to its stored image; the number is without the en passant square.
    fn number(&self, position: &mut Located) -> u32 {
        if position.squares[0] % 8 >= 4 {
            position.map(|s| s ^ 7);
        }
        if !self.pawns {
            if position.squares[0] / 8 >= 4 {
                position.map(|s| s ^ 56);
            }
            if position.squares[0] / 8 > position.squares[0] % 8 {
                position.map(|s| s / 8 + s % 8 * 8);
            }
        }
        if self.pair && position.squares[2] > position.squares[3] {
            position.squares.swap(2, 3);
        }
        let king = u32::from(self.king_slot[position.squares[0] as usize]);
        let others = &position.squares[1..self.men.len()];
        let placed = others.iter().fold(king, |n, &s| n * 64 + u32::from(s));
        placed * 2 + u32::from(position.turn == Color::Black)
    }

    /// The squares of a number; none if two men stand on one square, a pawn on the first or last
    /// rank, or a pair in the other order.
    fn squares(&self, number: u32) -> Option<SlotSquares> {
        let mut squares = [0; MAX_MEN];
        let mut rest = number / 2;
        for slot in (1..self.men.len()).rev() {
            squares[slot] = (rest % 64) as u8;
            rest /= 64;
        }
        squares[0] = self.king_squares[rest as usize];
        for slot in 0..self.men.len() {
            if squares[..slot].contains(&squares[slot]) {
                return None;
            }
            if self.men[slot].1 == Role::Pawn && !(8..56).contains(&squares[slot]) {
                return None;
            }
        }
        if self.pair && squares[2] > squares[3] { None } else { Some(squares) }
    }

    fn board(&self, squares: SlotSquares) -> Board {
        let mut board = Board::empty();
        for (&(color, role), &square) in self.men.iter().zip(&squares) {
            board.set_piece_at(Square::new(u32::from(square)), role.of(color));
        }
        board
    }

    fn turn(number: u32) -> Color {
        if number % 2 == 1 { Color::Black } else { Color::White }
    }

    /// Twice the number of positions (up to symmetry, identical men counted as different) that an
    /// entry stands for: both images of a position are stored if the white king stands on the
    /// diagonal, one image if all men do.
    fn double_weight(&self, squares: SlotSquares) -> u64 {
        let diagonal = |s: &u8| s / 8 == s % 8;
        let men = &squares[..self.men.len()];
        let both_stored = !self.pawns && diagonal(&men[0]) && !men.iter().all(diagonal);
        (if both_stored { 1 } else { 2 }) * (if self.pair { 2 } else { 1 })
    }
}

/// A solved ending. Made by [`SlowTables::solve`].
pub struct SlowTable {
    numbering: PositionNumbers,
    /// By number, then the en passant positions.
    values: Vec<Score>,
    en_passant: FxHashMap<(u32, u8), u32>,
}

impl SlowTable {
    fn score(&self, mut position: Located) -> Score {
        let number = self.numbering.number(&mut position);
        let number = match position.en_passant {
            Some(square) => self.en_passant[&(number, square)],
            None => number,
        };
        self.values[number as usize]
    }

    /// Counts and longest mates.
    fn summary(&self) -> EndingSummary {
        let mut summary =
            EndingSummary { en_passant: self.en_passant.len() as u64, ..EndingSummary::default() };
        let (mut white, mut black) = (WdlCounts::default(), WdlCounts::default());
        for number in 0..self.numbering.size() as u32 {
            let score = self.values[number as usize];
            if score == ILLEGAL {
                continue;
            }
            let Some(squares) = self.numbering.squares(number) else { continue };
            let weight = self.numbering.double_weight(squares);
            let turn = PositionNumbers::turn(number);
            let counts = turn.fold_wb(&mut white, &mut black);
            match value(score) {
                Value::Win(moves) => {
                    counts.wins += weight;
                    let longest = turn
                        .fold_wb(&mut summary.longest_white_win, &mut summary.longest_black_win);
                    *longest = (*longest).max(Some(moves));
                }
                Value::Loss(_) => counts.losses += weight,
                _ => counts.draws += weight,
            }
        }
        let halved =
            |c: WdlCounts| WdlCounts { wins: c.wins / 2, draws: c.draws / 2, losses: c.losses / 2 };
        summary.white = halved(white);
        summary.black = halved(black);
        summary
    }
}

/// Solved endings by material, the stronger side White. They are solved when asked for.
#[derive(Default)]
pub struct SlowTables {
    tables: HashMap<Material, SlowTable>,
}

impl SlowTables {
    /// Nothing solved.
    pub fn new() -> SlowTables {
        SlowTables::default()
    }

    /// Solves an ending and all that it can become by captures and promotions, unless that was
    /// done. Either side may be the stronger one.
    pub fn solve(&mut self, material: &Material) -> Result<&SlowTable, TooManyMen> {
        let (material, _) = material.normalized();
        if material.men() > MAX_MEN {
            return Err(TooManyMen(material));
        }
        if !self.tables.contains_key(&material) {
            for next in behind_moves(&material) {
                self.solve(&next)?;
            }
            let table = self.solved_from_subtables(&material);
            self.tables.insert(material, table);
        }
        Ok(&self.tables[&material])
    }

    /// Solves an ending and counts it. The stronger side is White in the result.
    pub fn summary(&mut self, material: &Material) -> Result<EndingSummary, TooManyMen> {
        self.solve(material).map(SlowTable::summary)
    }

    /// The value of a position of a solved ending. An en passant square that no pawn can use is
    /// ignored. [`Value::Illegal`] if the side not to move is in check or the kings touch; none if
    /// the ending has not been solved or this is no position (two men on a square, impossible en
    /// passant square).
    pub fn value(&self, position: &SlowPosition) -> Option<Value> {
        let board = position.board();
        let Some(legal) = position.to_chess() else {
            // In check without the en passant square, too, or is only the square wrong?
            let check = board.occupied().count() == position.men.len()
                && Color::ALL.into_iter().all(|c| (board.kings() & board.by_color(c)).count() == 1)
                && (board.pawns() & !hoffman_board::PAWN_SQUARES).is_empty()
                && chess(board, position.turn, None).is_none();
            return check.then_some(Value::Illegal);
        };
        self.score(&legal).map(value)
    }

    /// The score of a legal position; none if its ending has not been solved.
    pub(crate) fn score(&self, position: &Chess) -> Option<Score> {
        let board = position.board();
        let count = board.material();
        let (material, swapped) = Material { count }.normalized();
        let table = self.tables.get(&material)?;
        let ep = usable_en_passant(position);
        Some(table.score(table.numbering.locate(board, position.turn(), ep, swapped)))
    }

    fn solved_from_subtables(&self, material: &Material) -> SlowTable {
        let numbering = PositionNumbers::new(material);
        let size = numbering.size();
        let mut building = Building {
            subtables: self,
            values: vec![ILLEGAL; size],
            numbering,
            en_passant: FxHashMap::default(),
            en_passant_keys: Vec::new(),
        };
        let mut chunks = Vec::new();
        let block = size / building.numbering.king_squares.len();
        for start in (0..size).step_by(block) {
            let mut chunk = GraphPart::default();
            for number in start as u32..(start + block) as u32 {
                let Some(squares) = building.numbering.squares(number) else { continue };
                let turn = PositionNumbers::turn(number);
                let board = building.numbering.board(squares);
                for square in en_passant_squares(&board, turn) {
                    if chess(board.clone(), turn, Some(square)).is_some() {
                        building.en_passant_number(number, square as u8);
                    }
                }
                if let Some(position) = chess(board, turn, None) {
                    building.add(number, &position, &mut chunk);
                }
            }
            chunks.push(chunk);
        }
        let mut chunk = GraphPart::default();
        let mut done = 0;
        while let Some(&(number, square)) = building.en_passant_keys.get(done) {
            let squares = building.numbering.squares(number).expect("registered from a position");
            let board = building.numbering.board(squares);
            let square = Some(Square::new(u32::from(square)));
            let position = chess(board, PositionNumbers::turn(number), square)
                .expect("registered from a legal position");
            assert_eq!(usable_en_passant(&position), square);
            building.add((size + done) as u32, &position, &mut chunk);
            done += 1;
        }
        chunks.push(chunk);
        decide(&mut chunks, &mut building.values);
        let Building { numbering, values, en_passant, .. } = building;
        SlowTable { numbering, values, en_passant }
    }
}

/// A table under construction.
struct Building<'a> {
    subtables: &'a SlowTables,
    numbering: PositionNumbers,
    values: Vec<Score>,
    en_passant: FxHashMap<(u32, u8), u32>,
    en_passant_keys: Vec<(u32, u8)>,
}

impl Building<'_> {
    /// The number of an en passant position, a new one if it was not yet met.
    fn en_passant_number(&mut self, number: u32, square: u8) -> u32 {
        let next = self.numbering.size() + self.en_passant_keys.len();
        *self.en_passant.entry((number, square)).or_insert_with(|| {
            self.en_passant_keys.push((number, square));
            self.values.push(ILLEGAL);
            next as u32
        })
    }

    /// Enters a legal position: its value if it is mate or stalemate, otherwise its moves.
    fn add(&mut self, number: u32, position: &Chess, chunk: &mut GraphPart) {
        let mut targets = Vec::with_capacity(32);
        let mut best_exit = NO_EXIT;
        let moves = position.legal_moves();
        for &m in &moves {
            let next = after(position, m);
            if m.is_capture() || m.is_promotion() {
                let score = self.subtables.score(&next).expect("subtables are solved first");
                best_exit = best_exit.max(behind_move(score));
            } else {
                let ep = usable_en_passant(&next);
                let mut located = self.numbering.locate(next.board(), next.turn(), ep, false);
                let plain = self.numbering.number(&mut located);
                targets.push(match located.en_passant {
                    Some(square) => self.en_passant_number(plain, square),
                    None => plain,
                });
            }
        }
        self.values[number as usize] = if moves.is_empty() {
            if position.is_check() { MATED } else { DRAW }
        } else {
            chunk.push(number, &targets, best_exit);
            UNDECIDED
        };
    }
}

/// The position after a legal move.
pub(crate) fn after(position: &Chess, m: Move) -> Chess {
    let mut next = position.clone();
    next.play_unchecked(m);
    next
}

/// What an ending can become by one capture or promotion.
fn behind_moves(material: &Material) -> Vec<Material> {
    let promoted = |from: Material, color: Color| {
        let pawnless = from.without(color, Role::Pawn);
        [Role::Queen, Role::Rook, Role::Bishop, Role::Knight]
            .into_iter()
            .filter_map(move |role| Some(pawnless?.with(color, role)))
    };
    let mut result = Vec::new();
    for color in Color::ALL {
        result.extend(promoted(*material, color));
        let counts: ByRole<u8> = *material.count.get(color.other());
        for (role, _) in counts.zip_role().into_iter().filter(|&(r, n)| n > 0 && r != Role::King) {
            let captured = material.without(color.other(), role).expect("counted");
            result.push(captured);
            result.extend(promoted(captured, color));
        }
    }
    result
}
