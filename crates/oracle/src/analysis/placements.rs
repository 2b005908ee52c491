//! Which positions an analysis has: men on their squares, pawns in their structures.

use hoffman_board::shakmaty::Board;
use hoffman_board::{Bitboard, Color, PieceList, Role, Square, Variant};
use hoffman_control::{ControlFile, PawnMasks};
use rustc_hash::FxHashSet;

use super::moves::MadeMove;
use super::{SlowAnalysis, SlowError, UNDECIDED};
use crate::arrangements::{SlowArrangement, arrangements};

/// How many placements may be tried at most.
const MAX_PLACEMENTS: u64 = 60_000_000;

impl SlowAnalysis {
    /// Finds all existing positions.
    pub(super) fn enumerate(
        &mut self,
        pieces: &PieceList,
        pawns: Option<&Pawns>,
    ) -> Result<(), SlowError> {
        let none =
            SlowArrangement { white: Bitboard::EMPTY, black: Bitboard::EMPTY, en_passant: None };
        let arrangements = pawns.map_or(std::slice::from_ref(&none), |p| p.own());
        let listed: Vec<usize> = (0..pieces.len())
            .filter(|&slot| pawns.is_none() || pieces[slot].role != Role::Pawn)
            .collect();
        let ways = listed.iter().fold(arrangements.len() as u64, |n, &slot| {
            n.saturating_mul(pieces[slot].legal.count() as u64)
        });
        if ways > MAX_PLACEMENTS {
            return Err(SlowError::TooLarge(ways));
        }

        for structure in arrangements {
            let mut board = Board::empty();
            for (color, set) in [(Color::White, structure.white), (Color::Black, structure.black)] {
                for square in set {
                    board.set_piece_at(square, Role::Pawn.of(color));
                }
            }
            let mut placing = PlacementSearch {
                pieces,
                listed: &listed,
                structure: pawns.is_some().then_some(structure),
                squares: vec![None; pieces.len()],
                analysis: self,
            };
            placing.place(0, &board);
        }
        self.values = vec![UNDECIDED; self.keys.len()];
        Ok(())
    }
}

/// The pawn structures of an analysis.
pub(super) struct Pawns {
    list: Vec<SlowArrangement>,
    all: FxHashSet<SlowArrangement>,
    own: std::ops::Range<usize>,
}

impl Pawns {
    pub(super) fn of(control: &ControlFile) -> Result<Option<Pawns>, SlowError> {
        let Some(element) = &control.pawngen else { return Ok(None) };
        let list = arrangements(element);
        if list.is_empty() {
            return Err(SlowError::Structures("no pawn structure satisfies the pawngen element"));
        }
        let start = element.start as usize;
        let end = match element.count as usize {
            0 => list.len(),
            count => start.saturating_add(count),
        };
        if start >= end || end > list.len() {
            return Err(SlowError::Structures("start and count exceed the pawn structures"));
        }
        let all = list.iter().copied().collect();
        Ok(Some(Pawns { list, all, own: start..end }))
    }

    /// The structures of this part.
    pub(super) fn own(&self) -> &[SlowArrangement] {
        &self.list[self.own.clone()]
    }

    pub(super) fn masks(&self) -> PawnMasks {
        let union = |of: fn(&SlowArrangement) -> Bitboard| {
            self.list.iter().fold(Bitboard::EMPTY, |set, s| set | of(s))
        };
        PawnMasks { white: union(|s| s.white), black: union(|s| s.black) }
    }

    /// Whether the structure behind a double step, with the right to capture, is in any part.
    pub(super) fn has(&self, made: &MadeMove) -> bool {
        let pawns = made.board.pawns();
        self.all.contains(&SlowArrangement {
            white: pawns & made.board.white(),
            black: pawns & made.board.black(),
            en_passant: made.en_passant,
        })
    }
}

/// Men being placed.
struct PlacementSearch<'a> {
    pieces: &'a PieceList,
    /// The slots to place; the others are pawns of a structure.
    listed: &'a [usize],
    structure: Option<&'a SlowArrangement>,
    squares: Vec<Option<Square>>,
    analysis: &'a mut SlowAnalysis,
}

impl PlacementSearch<'_> {
    fn place(&mut self, depth: usize, board: &Board) {
        let Some(&slot) = self.listed.get(depth) else {
            if self.exists(board) {
                self.add(board);
            }
            return;
        };
        let piece = &self.pieces[slot];
        for square in piece.legal & !board.occupied() {
            let mut next = board.clone();
            next.set_piece_at(square, piece.role.of(piece.color));
            self.squares[slot] = Some(square);
            self.place(depth + 1, &next);
        }
        self.squares[slot] = None;
    }

    /// Whether the kings do not touch and no plus pawn has passed what it cannot pass.
    fn exists(&self, board: &Board) -> bool {
        if self.analysis.variant == Variant::Normal {
            let mut kings = board.kings().into_iter();
            if let (Some(one), Some(other)) = (kings.next(), kings.next())
                && one.distance(other) <= 1
            {
                return false;
            }
        }
        self.pieces.iter().enumerate().all(|(slot, piece)| {
            let at = |slot: usize| self.squares.get(slot).copied().flatten();
            match (at(slot), piece.blocker.and_then(at)) {
                (Some(own), Some(other)) => piece.color.fold_wb(own <= other, own >= other),
                _ => true,
            }
        })
    }

    /// Enters the placement with both sides to move and with every right to capture en passant.
    fn add(&mut self, board: &Board) {
        if let Some(&SlowArrangement { en_passant: Some(square), .. }) = self.structure {
            let turn = if square.rank() as u32 == 2 { Color::Black } else { Color::White };
            if rights(board, turn).contains(&square) {
                self.analysis.add(board, turn, Some(square));
            }
            return;
        }
        for turn in Color::ALL {
            self.analysis.add(board, turn, None);
            if self.structure.is_none() {
                for square in rights(board, turn) {
                    self.analysis.add(board, turn, Some(square));
                }
            }
        }
    }
}

/// The squares that enemy pawns may have jumped over in the last move: the pawn on its fourth
/// rank, the square and the one behind it empty. Whether a pawn can capture does not matter.
fn rights(board: &Board, turn: Color) -> Vec<Square> {
    let (rank, back) = turn.fold_wb((4, 8), (3, -8));
    let free = |square: Option<Square>| square.filter(|&s| !board.occupied().contains(s));
    (board.pawns() & board.by_color(turn.other()))
        .into_iter()
        .filter(|&pawn| pawn.rank() as u32 == rank)
        .filter_map(|pawn| {
            let jumped = free(pawn.offset(back))?;
            free(jumped.offset(back)).map(|_| jumped)
        })
        .collect()
}
