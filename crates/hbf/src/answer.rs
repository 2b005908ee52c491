//! Answers about positions, from what is stored of them and of those behind their moves. See
//! docs/hbf.md, 10.

use crate::board::Position;
use crate::code::{Code, DRAW, MATED, before, outcome};
use crate::moves::{Move, en_passant_captures, exits, has_plain_move, legal_moves};

/// What is stored of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Its code.
    Exactly(Code),
    /// Its code, unless a capture or a promotion is better.
    AtLeast(Code),
    /// The other side to move only.
    OtherSide,
}

/// Where answers come from.
pub trait Lookup {
    /// Why there is none.
    type Error;

    /// What is stored of a legal position without rights to take en passant, in which there are
    /// more men than the kings. `outcomes`: who wins is enough.
    ///
    /// # Errors
    /// There is no table of it, or it is damaged.
    fn stored(&self, position: &Position, outcomes: bool) -> Result<Stored, Self::Error>;
}

/// The code of a legal position; if only outcomes are wanted, without a distance.
///
/// # Errors
/// Those of the lookup.
pub fn answer<L: Lookup + ?Sized>(
    lookup: &L,
    position: &Position,
    outcomes: bool,
) -> Result<Code, L::Error> {
    let plain = position.without_en_passant();
    if position.en_passant.is_none() {
        return plain_answer(lookup, &plain, outcomes);
    }
    let mut best = BestCodes { lookup, outcomes, found: Ok(None) };
    en_passant_captures(position, |capture| best.visit(capture));
    match best.found? {
        None => plain_answer(lookup, &plain, outcomes),
        Some(best) if has_plain_move(&plain) => {
            Ok(best.max(plain_answer(lookup, &plain, outcomes)?))
        }
        Some(best) => Ok(best),
    }
}

/// Of a position without rights to take en passant.
fn plain_answer<L: Lookup + ?Sized>(
    lookup: &L,
    position: &Position,
    outcomes: bool,
) -> Result<Code, L::Error> {
    if position.occupied().count_ones() == 2 {
        return Ok(DRAW);
    }
    let stored = lookup.stored(position, outcomes)?;
    let as_wanted = |code: Code| if outcomes { outcome(code) } else { code };
    let mut best = BestCodes { lookup, outcomes, found: Ok(None) };
    match stored {
        Stored::Exactly(code) => Ok(as_wanted(code)),
        Stored::AtLeast(code) => {
            exits(position, |exit| best.visit(exit));
            Ok(best.found?.unwrap_or(0).max(as_wanted(code)))
        }
        Stored::OtherSide => {
            legal_moves(position, |found| best.visit(found));
            let nothing = if position.is_check(position.turn) { MATED } else { DRAW };
            Ok(best.found?.unwrap_or(nothing))
        }
    }
}

/// The best of some moves, as codes of the position that they are made in.
struct BestCodes<'l, L: Lookup + ?Sized> {
    lookup: &'l L,
    outcomes: bool,
    found: Result<Option<Code>, L::Error>,
}

impl<L: Lookup + ?Sized> BestCodes<'_, L> {
    fn visit(&mut self, found: &Move) {
        let Ok(best) = self.found else { return };
        self.found = answer(self.lookup, &found.after, self.outcomes).map(|code| {
            let code = before(code);
            best.max(Some(if self.outcomes { outcome(code) } else { code }))
        });
    }
}
