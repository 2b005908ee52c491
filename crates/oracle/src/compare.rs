//! Comparing other answers with the slow solver's, or with published Syzygy tables.

use std::path::Path;

use hoffman_board::shakmaty::Chess;
use hoffman_board::{Color, Material, Role, Square, Value};
use shakmaty_syzygy::{Tablebase, Wdl};

use crate::position::{PlacedMan, SlowPosition, chess, en_passant_squares};
use crate::table::{SlowTables, TooManyMen};

/// How many differences are kept as text.
const SHOWN: usize = 10;

/// Which positions of an ending are compared. Positions with a usable en passant square always
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// All images under board symmetry, not only those with the white king on a1-d1-d4 (with
    /// pawns: on files a to d).
    pub images: bool,
    /// Positions with the side not to move in check, too, expected to be [`Value::Illegal`].
    pub illegal: bool,
}

impl Coverage {
    /// One or two images of every legal position.
    pub const CANONICAL: Coverage = Coverage { images: false, illegal: false };
    /// Every placement of the men with kings not adjacent.
    pub const EVERYTHING: Coverage = Coverage { images: true, illegal: true };
}

/// A position on which two answers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement<E> {
    /// The position.
    pub fen: String,
    /// What the oracle says.
    pub expected: E,
    /// What the caller says.
    pub found: Value,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison<E> {
    /// The number of positions that both sides answered.
    pub compared: u64,
    /// The number of positions for which the caller had no answer.
    pub unanswered: u64,
    /// The FEN of the first position without an answer.
    pub first_unanswered: Option<String>,
    /// How many answers differ.
    pub different: u64,
    /// The first few of them.
    pub first: Vec<Disagreement<E>>,
}

impl<E: Copy> Comparison<E> {
    fn new() -> Comparison<E> {
        Comparison {
            compared: 0,
            unanswered: 0,
            first_unanswered: None,
            different: 0,
            first: Vec::new(),
        }
    }

    fn count(
        &mut self,
        position: &SlowPosition,
        expected: E,
        found: Option<Value>,
        equal: impl FnOnce(Value) -> bool,
    ) {
        let Some(found) = found else {
            self.unanswered += 1;
            self.first_unanswered.get_or_insert_with(|| position.fen());
            return;
        };
        self.compared += 1;
        if !equal(found) {
            self.different += 1;
            if self.first.len() < SHOWN {
                self.first.push(Disagreement { fen: position.fen(), expected, found });
            }
        }
    }

    /// Whether every position was answered as expected, and there was one.
    pub fn is_perfect(&self) -> bool {
        self.compared > 0 && self.unanswered == 0 && self.different == 0
    }
}

/// Win, draw or loss for the side to move, without regard to the fifty-move rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideOutcome {
    /// The side to move wins.
    Win,
    /// Neither side wins.
    Draw,
    /// The side to move loses.
    Loss,
    /// The side not to move is in check.
    Illegal,
}

impl From<Value> for SideOutcome {
    fn from(value: Value) -> SideOutcome {
        match value {
            Value::Win(_) => SideOutcome::Win,
            Value::Loss(_) => SideOutcome::Loss,
            Value::Draw => SideOutcome::Draw,
            Value::Illegal => SideOutcome::Illegal,
        }
    }
}

/// Visits the positions of an ending with both sides to move: every placement with pawns on ranks
/// 2 to 7 and kings not adjacent, interchangeable men in one order only, and after each placement
/// the same with every usable en passant square. The position is given to `shakmaty` as well if it
/// is legal.
pub fn for_each_position(
    material: &Material,
    coverage: Coverage,
    mut visit: impl FnMut(&SlowPosition, Option<&Chess>),
) {
    let mut kinds = vec![(Color::White, Role::King), (Color::Black, Role::King)];
    kinds.extend(material.men_in_naming_order());
    let pawns = material.has_pawns();
    let mut men = Vec::with_capacity(kinds.len());
    place(&kinds, pawns, coverage, &mut men, &mut visit);
}

fn place(
    kinds: &[(Color, Role)],
    pawns: bool,
    coverage: Coverage,
    men: &mut Vec<PlacedMan>,
    visit: &mut impl FnMut(&SlowPosition, Option<&Chess>),
) {
    let Some(&(color, role)) = kinds.get(men.len()) else {
        visit_placement(men, coverage, visit);
        return;
    };
    for square in Square::ALL {
        let (rank, file) = (square as u8 / 8, square as u8 % 8);
        let allowed = match men.len() {
            0 => coverage.images || file < 4 && (pawns || rank <= file),
            1 => square.distance(men[0].square) > 1,
            n => {
                let same_kind = kinds[n - 1] == (color, role);
                (role != Role::Pawn || (1..7).contains(&rank))
                    && !(same_kind && square < men[n - 1].square)
            }
        };
        if allowed && men.iter().all(|m| m.square != square) {
            men.push(PlacedMan { color, role, square });
            place(kinds, pawns, coverage, men, visit);
            men.pop();
        }
    }
}

fn visit_placement(
    men: &[PlacedMan],
    coverage: Coverage,
    visit: &mut impl FnMut(&SlowPosition, Option<&Chess>),
) {
    let mut position = SlowPosition { men: men.to_vec(), turn: Color::White, en_passant: None };
    let board = position.board();
    for turn in Color::ALL {
        position.turn = turn;
        position.en_passant = None;
        let legal = chess(board.clone(), turn, None);
        if legal.is_none() && !coverage.illegal {
            continue;
        }
        visit(&position, legal.as_ref());
        for square in en_passant_squares(&board, turn) {
            position.en_passant = Some(square);
            visit(&position, chess(board.clone(), turn, Some(square)).as_ref());
        }
    }
}

/// Solves an ending and compares the answers of `answer` with the result. An answer of none means
/// that the caller has no such position.
pub fn compare(
    tables: &mut SlowTables,
    material: &Material,
    coverage: Coverage,
    mut answer: impl FnMut(&SlowPosition) -> Option<Value>,
) -> Result<Comparison<Value>, TooManyMen> {
    tables.solve(material)?;
    let mut result = Comparison::new();
    for_each_position(material, coverage, |position, legal| {
        let expected = match legal {
            None => Value::Illegal,
            Some(_) => tables.value(position).expect("the ending is solved"),
        };
        result.count(position, expected, answer(position), |found| found == expected);
    });
    Ok(result)
}

/// Why Syzygy tables gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyzygyError {
    /// The folder cannot be listed.
    #[error("the folder of the Syzygy tables cannot be read")]
    Folder(#[from] std::io::Error),
    /// A table is missing or damaged.
    #[error("no Syzygy answer for '{fen}'")]
    Probe {
        /// The position asked for.
        fen: String,
        /// What the reader says.
        source: Box<shakmaty_syzygy::SyzygyError>,
    },
}

/// Compares win, draw and loss with the Syzygy tables of a folder. Cursed wins are wins, blessed
/// losses are losses.
pub fn compare_syzygy(
    folder: &Path,
    material: &Material,
    coverage: Coverage,
    mut answer: impl FnMut(&SlowPosition) -> Option<Value>,
) -> Result<Comparison<SideOutcome>, SyzygyError> {
    let mut syzygy = Tablebase::<Chess>::new();
    syzygy.add_directory(folder)?;
    let mut result = Comparison::new();
    let mut failure = None;
    for_each_position(material, coverage, |position, legal| {
        if failure.is_some() {
            return;
        }
        match syzygy_outcome(&syzygy, legal) {
            Ok(expected) => {
                let found = answer(position);
                let equal = |found| SideOutcome::from(found) == expected;
                result.count(position, expected, found, equal);
            }
            Err(source) => {
                failure =
                    Some(SyzygyError::Probe { fen: position.fen(), source: Box::new(source) });
            }
        }
    });
    failure.map_or(Ok(result), Err)
}

/// What Syzygy tables say of a position; illegal without one.
fn syzygy_outcome(
    syzygy: &Tablebase<Chess>,
    legal: Option<&Chess>,
) -> Result<SideOutcome, shakmaty_syzygy::SyzygyError> {
    let Some(chess) = legal else { return Ok(SideOutcome::Illegal) };
    Ok(match syzygy.probe_wdl_after_zeroing(chess)? {
        Wdl::Win | Wdl::CursedWin => SideOutcome::Win,
        Wdl::Draw => SideOutcome::Draw,
        Wdl::Loss | Wdl::BlessedLoss => SideOutcome::Loss,
    })
}
