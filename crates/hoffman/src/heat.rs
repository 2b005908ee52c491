//! One man of a position on all squares: who wins there, and when.

use hoffman_board::{Color, Role, Square, Variant};
use hoffman_probe::position::{Impossible, Position};
use hoffman_reader::{Error as ProbeError, Value};

/// A man of a position, on every square that is free.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeatMap {
    /// Whose man it is.
    pub color: Color,
    /// What it is.
    pub role: Role,
    /// The side to move.
    pub turn: Color,
    /// The squares, from a1 on, those of other men left out.
    pub squares: Vec<(Square, SquareHeat)>,
}

/// What there is to say with the man on a square.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SquareHeat {
    /// What is proved, for the side to move.
    Value(Value),
    /// It is no position of chess.
    Impossible(Impossible),
    /// The tables have no answer.
    Unanswered(ProbeError),
}

impl HeatMap {
    /// Puts the man of a square on all others and asks `value` what that is worth; none if no man
    /// stands there.
    pub fn of(
        position: &Position,
        from: Square,
        mut value: impl FnMut(&Position) -> Result<Value, ProbeError>,
    ) -> Option<HeatMap> {
        let men: Vec<(Square, Color, Role)> = position.men().collect();
        let &(_, color, role) = men.iter().find(|man| man.0 == from)?;
        let turn = position.turn;
        let is_free = |to: &Square| men.iter().all(|man| man.0 != *to || *to == from);
        let mut heat = |to: Square| {
            let moved = men.iter().map(|&man| if man.0 == from { (to, color, role) } else { man });
            let moved = Position::from_men(moved, turn, None);
            match moved.check_possible(Variant::Normal) {
                Err(reason) => SquareHeat::Impossible(reason),
                Ok(()) => match value(&moved) {
                    Ok(value) => SquareHeat::Value(value),
                    Err(error) => SquareHeat::Unanswered(error),
                },
            }
        };
        let squares = Square::ALL.into_iter().filter(is_free).map(|to| (to, heat(to))).collect();
        Some(HeatMap { color, role, turn, squares })
    }
}
