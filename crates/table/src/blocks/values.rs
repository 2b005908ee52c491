//! Values by rows as a source of cells.

use hoffman_board::{Color, Role, Value};
use hoffman_hbf::{Code, DRAW, Man, Material, Position, Source, code_of};
use hoffman_space::{PawnStructure, TableValues};

use super::{color_of, man};

/// The values of an ending.
pub(super) struct Values<'v> {
    pub(super) values: &'v TableValues,
    /// The men, as the layout of the values has them first.
    movers: Vec<Man>,
}

/// Where the men of a position stand.
struct Men {
    movers: [u8; 16],
    pawns: PawnStructure,
}

impl<'v> Values<'v> {
    pub(super) fn new(values: &'v TableValues) -> Values<'v> {
        let movers = values.layout.movers().iter().map(|mover| man(mover.color, mover.role));
        Values { values, movers: movers.collect() }
    }

    /// The ending.
    pub(super) fn material(&self) -> Option<Material> {
        let men = self.values.material.men_in_naming_order();
        Material::new(men.into_iter().map(|(color, role)| man(color, role)))
    }

    /// The men of a position; none if they are others.
    fn men(&self, position: &Position) -> Option<Men> {
        let mut men = Men { movers: [0; 16], pawns: PawnStructure::default() };
        for (at, &mover) in self.movers.iter().enumerate() {
            // Like men stand side by side: each is on a higher square than the one before.
            let above = match at.checked_sub(1).filter(|&before| self.movers[before] == mover) {
                Some(before) => u64::MAX << men.movers[before] << 1,
                None => u64::MAX,
            };
            let set = position.of(mover) & above;
            if set == 0 {
                return None;
            }
            men.movers[at] = set.trailing_zeros() as u8;
        }
        let pawns = |color| position.of(man(color, Role::Pawn));
        men.pawns = PawnStructure { white: pawns(Color::White), black: pawns(Color::Black) };
        Some(men)
    }
}

/// The code of a value; none of a position that is not legal.
fn code_of_value(value: Value) -> Option<Code> {
    Some(match value {
        Value::Illegal => return None,
        Value::Draw => DRAW,
        Value::Win(moves) => code_of(hoffman_hbf::Value::Win(moves)),
        Value::Loss(moves) => code_of(hoffman_hbf::Value::Loss(moves)),
    })
}

impl Source for Values<'_> {
    fn code(&self, position: &Position) -> Option<Code> {
        let men = self.men(position)?;
        let movers = &men.movers[..self.movers.len()];
        let turn = color_of(position.turn);
        code_of_value(self.values.value(movers, men.pawns, turn, position.en_passant)?)
    }
}
