//! Which values of a table are asked for, and how its numbers are taken.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hoffman_board::{Color, Material, Role, Value};
use hoffman_space::{
    Codes, EdgeCodes, EdgeShape, Layout, Mover, PawnSquares, SliceValues, TableValues, side,
};
use rayon::prelude::*;

use super::squares::promotion_squares;
use crate::entries::EntryValue;

/// Which values of a table are wanted, in the colours of the ending with its stronger side White.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The sides to move, White first.
    pub sides: [bool; 2],
    /// If not empty: only positions in which one of these pieces stands on its last rank, where
    /// promoted ones do (without pawns: on the edge of the board, as the rank may be turned).
    pub on_edge: Vec<(Color, Role)>,
    /// If given: only positions with these pawns, in the colours of the table.
    pub structures: Option<Arc<BTreeSet<PawnSquares>>>,
    /// Whether mirror images may have different values, as far as the table does not give them the
    /// same index.
    pub apart: bool,
}

impl Wanted {
    /// All values.
    pub fn all() -> Wanted {
        Wanted { sides: [true; 2], ..Wanted::default() }
    }

    /// The endings that captures and promotions of the sides `moving` lead to, White first, with
    /// the part of their values that is needed.
    pub fn behind(material: &Material, moving: [bool; 2]) -> HashMap<Material, Wanted> {
        Wanted::behind_some(material, |mover, _| moving[usize::from(mover == Color::Black)])
    }

    /// The same of captures and promotions that are looked at: whose, and what a pawn becomes.
    pub(crate) fn behind_some(
        material: &Material,
        is_looked_at: impl Fn(Color, Option<Role>) -> bool,
    ) -> HashMap<Material, Wanted> {
        let mut needed: HashMap<Material, Wanted> = HashMap::new();
        for (mover, behind) in material.exits() {
            let count = |m: &Material, role| *m.count.get(mover).get(role);
            let is_new = |&role: &Role| count(&behind, role) > count(material, role);
            let promoted = Role::ALL.into_iter().find(is_new);
            if !is_looked_at(mover, promoted) {
                continue;
            }
            let (normal, swapped) = behind.normalized();
            let turn = if swapped { mover } else { mover.other() };
            let mut wanted = Wanted::default();
            wanted.sides[usize::from(turn == Color::Black)] = true;
            if normal.is_symmetric() && normal.has_pawns() {
                // A slice may stand for its image with colours exchanged.
                wanted.sides = [true; 2];
            }
            if behind.men() == material.men() {
                // A promotion without capture: the new man stands on the last rank.
                let color = turn.other();
                wanted.on_edge.extend(promoted.map(|role| (color, role)));
                if normal.is_symmetric() && normal.has_pawns() {
                    wanted.on_edge.extend(promoted.map(|role| (color.other(), role)));
                }
            }
            needed.entry(normal).or_default().extend(&wanted);
        }
        needed
    }

    /// Whether everything that `other` asks for is asked for.
    pub fn covers(&self, other: &Wanted) -> bool {
        let structures = match (&self.structures, &other.structures) {
            (None, _) => true,
            (Some(own), Some(theirs)) => theirs.is_subset(own),
            (Some(_), None) => false,
        };
        let sides = (0..2).all(|i| self.sides[i] || !other.sides[i]);
        let contained =
            !other.on_edge.is_empty() && other.on_edge.iter().all(|man| self.on_edge.contains(man));
        let images = self.apart || !other.apart;
        structures && sides && images && (self.on_edge.is_empty() || contained)
    }

    /// The movers of which one must stand where promoted pieces do, a bit each; none if all
    /// positions are wanted.
    pub(super) fn promoted_movers(&self, layout: &Layout) -> u32 {
        let movers = layout.movers().iter().enumerate();
        let promoted = movers.filter(|(_, m)| self.on_edge.contains(&(m.color, m.role)));
        promoted.fold(0, |set, (i, _)| set | 1 << i)
    }

    /// The positions of a layout with a side to move that are wanted, whatever their pawns; none if
    /// it is all of them, or takes as much room.
    fn edge(&self, layout: &Layout, structure: PawnSquares, turn: Color) -> Option<EdgeShape> {
        let promoted = self.promoted_movers(layout);
        let movers = layout.movers().iter().enumerate();
        // Who has just promoted a pawn is not to move.
        let movers = movers.filter(|(m, mover)| promoted >> m & 1 != 0 && mover.color != turn);
        let squares = |(m, mover): (usize, &Mover)| (m, promotion_squares(structure, mover.color));
        let movers: Vec<(usize, u64)> = movers.map(squares).collect();
        let shape = EdgeShape::new(layout, &movers)?;
        (!self.on_edge.is_empty() && shape.codes() < layout.len()).then_some(shape)
    }

    /// How many of a complete ending's positions [`Wanted::part_of`] keeps, of how many.
    pub fn share(&self, material: &Material) -> (u64, u64) {
        let layout = Layout::new(material);
        let pawns = u64::from(material.has_pawns());
        let of_side = |turn: Color| {
            let edge = self.edge(&layout, PawnSquares { white: pawns, black: 0 }, turn);
            let codes = edge.map_or(layout.len(), |shape| shape.codes());
            if self.sides[side(turn)] { codes as u64 } else { 0 }
        };
        (Color::ALL.map(of_side).iter().sum(), 2 * layout.len() as u64)
    }

    /// The values that are wanted, whatever their pawns, in the memory that they need. Those of
    /// two bytes, of outcomes alone, and in pages stay as they are, as far as the side is wanted.
    pub fn part_of(&self, values: TableValues) -> TableValues {
        let keys = values.slices.keys().copied();
        let TableValues { material, ref layout, form, .. } = values;
        let part = TableValues::with_layout(material, layout.clone(), form, keys);
        values.slices.into_par_iter().for_each(|(structure, slot)| {
            let slice = slot.into_inner().map(Arc::unwrap_or_clone);
            if let (Some(slice), Some(slot)) = (slice, part.slices.get(&structure)) {
                // Each slice is made once.
                let _ = slot.set(Arc::new(self.part_of_slice(slice, &part.layout, structure)));
            }
        });
        part
    }

    fn part_of_slice(
        &self,
        slice: SliceValues,
        layout: &Layout,
        structure: PawnSquares,
    ) -> SliceValues {
        let part = |turn: Color, codes: Codes| match codes {
            _ if !self.sides[side(turn)] => Codes::Narrow(Vec::new()),
            Codes::Narrow(bytes) if bytes.len() == layout.len() => {
                match self.edge(layout, structure, turn) {
                    Some(shape) => EdgeCodes::of(&bytes, shape).into_codes(),
                    None => Codes::Narrow(bytes),
                }
            }
            codes => codes,
        };
        let SliceValues { codes: [white, black], en_passant, .. } = slice;
        // Who has just promoted a pawn has not made a double step.
        let en_passant = if self.on_edge.is_empty() { en_passant } else { Vec::new() };
        let codes = [part(Color::White, white), part(Color::Black, black)];
        SliceValues { codes, en_passant, ..slice }
    }

    /// Asks for what `other` asks for, too.
    pub fn extend(&mut self, other: &Wanted) {
        let fresh = self.sides == [false; 2];
        self.structures = match (self.structures.take(), &other.structures) {
            (None, theirs) if fresh => theirs.clone(),
            (Some(own), Some(theirs)) => Some(Arc::new(own.union(theirs).copied().collect())),
            _ => None,
        };
        if fresh || !self.on_edge.is_empty() && !other.on_edge.is_empty() {
            for &man in &other.on_edge {
                if !self.on_edge.contains(&man) {
                    self.on_edge.push(man);
                }
            }
        } else {
            self.on_edge.clear();
        }
        self.sides = [self.sides[0] | other.sides[0], self.sides[1] | other.sides[1]];
        self.apart |= other.apart;
    }
}

/// How stored numbers are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// With their distances.
    Exactly,
    /// By outcome only: the side that moves into the position wins, or loses, in one move.
    ByOutcome,
}

/// What is taken for the value of a position.
pub(super) fn value_of(entry: EntryValue, taking: Taking) -> Value {
    let value = match entry {
        EntryValue::Exact(value) => value,
        EntryValue::Win => Value::Win(1),
        EntryValue::Loss => Value::Loss(0),
        EntryValue::Illegal => Value::Illegal,
        // What a flag does not tell apart is taken as the draw: the question asked of it is the
        // same whichever it is.
        EntryValue::Draw | EntryValue::WinOrDraw | EntryValue::DrawOrLoss => Value::Draw,
        EntryValue::Unknown => Value::Illegal,
    };
    match (taking, value) {
        (Taking::ByOutcome, Value::Win(_)) => Value::Win(1),
        (Taking::ByOutcome, Value::Loss(_)) => Value::Loss(0),
        _ => value,
    }
}
