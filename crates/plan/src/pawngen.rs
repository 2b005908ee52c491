//! Pawn structures of a `pawngen` element: all arrangements that arise from a start, in their
//! order.
//!
//! Captures, promotions and steps are taken in any order, whichever side is to move and whatever
//! other men there are. Two counters a side limit them: promotions that must still happen and
//! captures of pieces that may still happen. What can arise depends on placement and counters
//! together, so both are remembered; of several ways to one placement those that leave more
//! captures stand for the others.
//!
//! The order is that of the files, where the number of an arrangement is part of an index. Steps
//! lead to smaller numbers, so that a table can be cut in two. The h-file is not counted in the
//! order, as it never was; steps of an h-pawn can therefore lead to larger numbers.

mod division;
mod search;
#[cfg(test)]
mod tests;

use std::ops::Range;

use hoffman_board::{Bitboard, Color, Square};
use hoffman_control::{PawnMasks, PawngenElement};
use hoffman_space::PawnSquares;

pub use self::division::{PawnStretch, divide};
use self::search::ArrangementSearch;

/// One arrangement of the pawns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrangement {
    /// Where the pawns stand.
    pub pawns: PawnSquares,
    /// The square jumped over by a pawn that has just made a double step, if an enemy pawn stands
    /// beside.
    pub en_passant: Option<Square>,
}

/// Why a `pawngen` element cannot be worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PawngenError {
    /// The element is the input of an expansion: it does not say how many pawns the table has.
    #[error(
        "the number of pawns is open; expand the file with 'hoffman pawngen', or write white-pawns-required and black-pawns-required"
    )]
    Open,
    /// Nothing satisfies the element.
    #[error("no pawn position satisfies the element")]
    Empty,
    /// `start` and `count` ask for more than there is.
    #[error("start {start} and count {count} exceed the {arrangements} pawn positions there are")]
    Cut {
        /// The first number asked for.
        start: u64,
        /// How many are asked for, 0 for all.
        count: u64,
        /// How many there are.
        arrangements: u64,
    },
    /// The start has too many pawns that can go too many ways.
    #[error("the pawns can reach more than {0} positions, for which there is no room in memory")]
    TooMany(usize),
    /// The search was asked to stop.
    #[error("interrupted")]
    Stopped,
}

/// What a search may take, and how it is told to stop.
#[derive(Clone, Copy)]
pub struct Bounds<'s> {
    /// Bytes of memory.
    pub memory: u64,
    /// Asked every few milliseconds.
    pub is_stopped: &'s dyn Fn() -> bool,
}

/// The arrangements of a table in the order of their numbers, as they are stored in its file: those
/// that `start` and `count` leave out are among them.
///
/// # Errors
///
/// The element leaves the number of pawns open, or admits nothing or too much; the search was
/// stopped.
pub fn all_arrangements(
    spec: &PawngenElement,
    bounds: Bounds<'_>,
) -> Result<Vec<Arrangement>, PawngenError> {
    let mut found = ArrangementSearch::new(spec, bounds)?.run()?;
    if found.is_empty() {
        return Err(PawngenError::Empty);
    }
    found.sort_by_cached_key(order_key);
    found.dedup();
    Ok(found)
}

/// Which of so many arrangements `start` and `count` leave.
///
/// # Errors
///
/// The cut is beyond the end.
pub fn cut(spec: &PawngenElement, arrangements: usize) -> Result<Range<usize>, PawngenError> {
    let PawngenElement { start, count, .. } = *spec;
    let arrangements = arrangements as u64;
    let end = if count == 0 { Some(arrangements) } else { start.checked_add(count) };
    match end.filter(|&end| start < end && end <= arrangements) {
        // Both are at most a length, so they fit.
        Some(end) => Ok(start as usize..end as usize),
        None => Err(PawngenError::Cut { start, count, arrangements }),
    }
}

/// All squares on which pawns stand in some arrangement.
pub fn masks(arrangements: &[Arrangement]) -> PawnMasks {
    let mut all = PawnSquares::default();
    for arrangement in arrangements {
        all.white |= arrangement.pawns.white;
        all.black |= arrangement.pawns.black;
    }
    PawnMasks { white: Bitboard(all.white), black: Bitboard(all.black) }
}

/// A key by which arrangements are sorted. Pawns far advanced come first.
fn order_key(arrangement: &Arrangement) -> ([u8; 12], u64, u64, u32) {
    /// Files a to g: the h-file never counted.
    const COUNTED: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let PawnSquares { white, black } = arrangement.pawns;
    let mut ranks = [0; 12];
    for (i, count) in ranks.iter_mut().enumerate() {
        let (pawns, rank) = if i < 6 { (white, i + 1) } else { (black, 12 - i) };
        *count = (pawns & COUNTED & 0xff << (8 * rank)).count_ones() as u8;
    }
    (ranks, white, black, arrangement.en_passant.map_or(255, u32::from))
}

/// The squares beside a set on the same rank.
const fn beside(set: u64) -> u64 {
    (set & !0x0101_0101_0101_0101) >> 1 | (set & !0x8080_8080_8080_8080) << 1
}

/// One rank ahead.
fn ahead(color: Color, set: u64) -> u64 {
    color.fold_wb(set << 8, set >> 8)
}

/// The seventh rank of a colour, from which pawns promote.
fn last_rank(color: Color) -> u64 {
    color.fold_wb(0x00ff_0000_0000_0000, 0xff00)
}

/// The single squares of a set.
fn singles(set: u64) -> impl Iterator<Item = u64> {
    Bitboard(set).into_iter().map(|square| 1 << u32::from(square))
}

/// The placement with a pawn moved.
fn moved(mut pawns: PawnSquares, color: Color, from: u64, to: u64) -> PawnSquares {
    *pawns.of_mut(color) ^= from | to;
    pawns
}

/// The arrangement after a double step of a pawn on `from`, if it can make one that an enemy pawn
/// beside the destination could answer en passant.
fn double_step(pawns: PawnSquares, color: Color, from: u64) -> Option<Arrangement> {
    let jumped = ahead(color, from);
    let to = ahead(color, jumped);
    let possible = from & color.fold_wb(0xff00, 0x00ff_0000_0000_0000) != 0
        && pawns.occupied() & (jumped | to) == 0
        && beside(to) & pawns.of(color.other()) != 0;
    possible.then(|| Arrangement {
        pawns: moved(pawns, color, from, to),
        en_passant: Bitboard(jumped).first(),
    })
}
