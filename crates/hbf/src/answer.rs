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

/// What is asked of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who wins is enough.
    pub outcomes: bool,
    /// If the code is this one or more, any code from this one up to it will do: whoever asks has
    /// another move that is as good.
    pub enough: Code,
}

impl Asked {
    /// The code, whatever it is; if only `outcomes` are wanted, without a distance.
    pub const fn exactly(outcomes: bool) -> Asked {
        Asked { outcomes, enough: Code::MAX }
    }

    /// The code as it is wanted.
    const fn of(self, code: Code) -> Code {
        if self.outcomes { outcome(code) } else { code }
    }
}

/// Where answers come from.
pub trait Lookup {
    /// Why there is none.
    type Error;

    /// What is stored of a legal position without rights to take en passant, in which there are
    /// more men than the kings.
    ///
    /// # Errors
    /// There is no table of it, or it is damaged.
    fn stored(&self, position: &Position, asked: Asked) -> Result<Stored, Self::Error>;
}

/// The code of a legal position.
///
/// # Errors
/// Those of the lookup.
pub fn answer<L: Lookup + ?Sized>(
    lookup: &L,
    position: &Position,
    asked: Asked,
) -> Result<Code, L::Error> {
    let plain = position.without_en_passant();
    if position.en_passant.is_none() {
        return plain_answer(lookup, &plain, asked);
    }
    let mut best = BestCodes { lookup, asked, found: Ok(None) };
    en_passant_captures(position, |capture| best.visit(capture));
    match best.found? {
        None => plain_answer(lookup, &plain, asked),
        Some(best) if has_plain_move(&plain) => Ok(best.max(plain_answer(lookup, &plain, asked)?)),
        Some(best) => Ok(best),
    }
}

/// Of a position without rights to take en passant.
fn plain_answer<L: Lookup + ?Sized>(
    lookup: &L,
    position: &Position,
    asked: Asked,
) -> Result<Code, L::Error> {
    if position.occupied().count_ones() == 2 {
        return Ok(DRAW);
    }
    let mut best = BestCodes { lookup, asked, found: Ok(None) };
    match lookup.stored(position, asked)? {
        Stored::Exactly(code) => Ok(asked.of(code)),
        Stored::AtLeast(code) => {
            best.found = Ok(Some(asked.of(code)));
            exits(position, |exit| best.visit(exit));
            Ok(best.found?.unwrap_or(0))
        }
        Stored::OtherSide => {
            // What is behind exits may be dear to find out, but they decide more often.
            let exits_first = asked.enough < Code::MAX;
            if exits_first {
                exits(position, |exit| best.visit(exit));
            }
            legal_moves(position, |found| {
                if !found.exit || found.en_passant {
                    best.visit(found);
                }
            });
            if !exits_first {
                exits(position, |exit| best.visit(exit));
            }
            let nothing = if position.is_check(position.turn) { MATED } else { DRAW };
            Ok(best.found?.unwrap_or(nothing))
        }
    }
}

/// The best of some moves, as codes of the position that they are made in.
struct BestCodes<'l, L: Lookup + ?Sized> {
    lookup: &'l L,
    asked: Asked,
    found: Result<Option<Code>, L::Error>,
}

impl<L: Lookup + ?Sized> BestCodes<'_, L> {
    fn visit(&mut self, found: &Move) {
        let Ok(best) = self.found else { return };
        if best.is_some_and(|best| best >= self.asked.enough) {
            return;
        }
        let asked = Asked { enough: enough_behind(best), ..self.asked };
        self.found = answer(self.lookup, &found.after, asked)
            .map(|code| best.max(Some(self.asked.of(before(code)))));
    }
}

/// The least code with which a position behind a move makes it no better than another one.
fn enough_behind(best: Option<Code>) -> Code {
    match best {
        None | Some(0 | 1) => Code::MAX,
        Some(DRAW) => DRAW,
        Some(best) => best.wrapping_neg().saturating_add((best < DRAW) as Code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_enough_makes_no_better_move() {
        let codes = [2, 3, 32766, 32767, DRAW, DRAW + 2, DRAW + 3, 65534, 65535];
        for best in codes {
            let enough = enough_behind(Some(best));
            for code in (1..=Code::MAX).filter(|code| *code != DRAW + 1) {
                assert_eq!(code >= enough, before(code) <= best, "{code} behind {best}");
            }
        }
        assert_eq!(enough_behind(None), Code::MAX);
    }
}
