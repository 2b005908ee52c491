//! Whether the values of a foreign table can be values of chess at all, in a sample of positions.
//!
//! For readers that could not be tried with real files: a wrong number for a position gives a
//! value that contradicts those of the positions around it.

use hoffman_board::shakmaty::fen::Fen;
use hoffman_board::shakmaty::{CastlingMode, Chess, EnPassantMode, Position, PositionError, Setup};
use hoffman_board::{Color, Role, Square, Value};

use super::{ForeignError, ForeignKind, ForeignTable};
use crate::entries::EntryValue;

/// How many placements are tried.
const SAMPLE: u64 = 4000;

/// Compares values with those behind quiet moves, which lie in the same table: a side that can
/// move to a position lost for the other side wins, at most one move later; one that loses has
/// only moves to positions won for the other side, no later; one that neither wins nor loses has
/// no move of the first kind.
///
/// # Errors
/// A contradiction, or damage.
pub fn check_plausible(table: &dyn ForeignTable) -> Result<(), ForeignError> {
    let material = table.material();
    let kings = Color::ALL.map(|color| (color, Role::King));
    let men: Vec<_> = material.men_in_naming_order().into_iter().chain(kings).collect();
    let mut dice = Dice(material.men() as u64);
    for _ in 0..SAMPLE {
        let mut setup = Setup::empty();
        setup.turn = if dice.roll(2) == 0 { Color::White } else { Color::Black };
        for &(color, role) in &men {
            setup.board.set_piece_at(Square::new(dice.roll(64)), role.of(color));
        }
        // A man that was put upon another one makes it a position of other men.
        if setup.board.occupied().count() != men.len() {
            continue;
        }
        let Some(chess) = position(&setup) else { continue };
        let Some(value) = table.value(&setup)?.and_then(RoughValue::of) else { continue };
        if let Some(problem) = contradiction(table, &chess, value)? {
            let fen = Fen::from_position(&chess, EnPassantMode::Legal);
            // What only a untried reader could get wrong is said to be its table's fault.
            return Err(ForeignError::Damaged {
                kind: ForeignKind::of(table.path()).unwrap_or(ForeignKind::Nalimov),
                path: table.path().to_owned(),
                problem: format!("its values contradict each other at {fen}: {problem}"),
            });
        }
    }
    Ok(())
}

fn position(setup: &Setup) -> Option<Chess> {
    setup
        .clone()
        .position(CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

/// A result, with the distance in moves if it is known.
#[derive(Clone, Copy, Debug)]
enum RoughValue {
    Win(Option<u16>),
    Draw,
    Loss(Option<u16>),
}

impl RoughValue {
    fn of(value: EntryValue) -> Option<RoughValue> {
        match value {
            EntryValue::Exact(Value::Win(n)) => Some(RoughValue::Win(Some(n))),
            EntryValue::Exact(Value::Loss(n)) => Some(RoughValue::Loss(Some(n))),
            EntryValue::Win => Some(RoughValue::Win(None)),
            EntryValue::Loss => Some(RoughValue::Loss(None)),
            EntryValue::Draw | EntryValue::Exact(Value::Draw) => Some(RoughValue::Draw),
            _ => None,
        }
    }
}

fn contradiction(
    table: &dyn ForeignTable,
    chess: &Chess,
    value: RoughValue,
) -> Result<Option<&'static str>, ForeignError> {
    let moves = chess.legal_moves();
    if moves.is_empty() {
        return Ok(match (chess.is_check(), value) {
            (true, RoughValue::Loss(None | Some(0))) | (false, RoughValue::Draw) => None,
            (true, _) => Some("it is checkmate"),
            (false, _) => Some("it is stalemate"),
        });
    }

    for &m in moves.iter().filter(|m| !m.is_capture() && !m.is_promotion()) {
        let mut after = chess.clone();
        after.play_unchecked(m);
        let Some(next) =
            table.value(&after.to_setup(EnPassantMode::Legal))?.and_then(RoughValue::of)
        else {
            continue;
        };
        let later = |a: Option<u16>, b: Option<u16>| a.zip(b).is_some_and(|(a, b)| a > b);
        match (value, next) {
            (RoughValue::Win(n), RoughValue::Loss(m))
                if later(n, m.map(|m| m.saturating_add(1))) =>
            {
                return Ok(Some("there is a quicker win"));
            }
            (RoughValue::Draw | RoughValue::Loss(_), RoughValue::Loss(_)) => {
                return Ok(Some("there is a move that wins"));
            }
            (RoughValue::Loss(_), RoughValue::Draw) => {
                return Ok(Some("there is a move that draws"));
            }
            (RoughValue::Loss(n), RoughValue::Win(m)) if later(m, n) => {
                return Ok(Some("there is a move that holds out longer"));
            }
            _ => {}
        }
    }

    Ok(None)
}

/// Numbers that look like chance and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hoffman_board::{Format, Material};

    use super::*;

    /// Says what a function makes up.
    #[derive(Debug)]
    struct Made(fn(&Setup) -> Value);

    impl ForeignTable for Made {
        fn path(&self) -> &Path {
            Path::new("made.rtbw")
        }
        fn material(&self) -> Material {
            "KQvK".parse().unwrap()
        }
        fn format(&self) -> Format {
            Format::Dtm(None)
        }
        fn value(&self, position: &Setup) -> Result<Option<EntryValue>, ForeignError> {
            Ok(Some(EntryValue::Exact((self.0)(position))))
        }
    }

    #[test]
    fn made_up_values_contradict_each_other() {
        let by_side = |setup: &Setup| setup.turn.fold_wb(Value::Win(7), Value::Loss(7));
        let draws = |_: &Setup| Value::Draw;
        let noise = |setup: &Setup| match setup.board.occupied().0 % 3 {
            0 => Value::Win(1),
            1 => Value::Draw,
            _ => Value::Loss(3),
        };
        for made in [by_side, draws, noise] {
            let error = check_plausible(&Made(made)).unwrap_err().to_string();
            assert!(error.contains("contradict each other at"), "{error}");
        }
    }
}
