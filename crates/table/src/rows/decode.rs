//! The values of slices from the entries of a table, in memory; what is asked for, and how it is taken.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hoffman_board::{Color, Material, Role, Value};
use hoffman_space::{
    Code, Codes, EnPassantValues, Layout, Mover, NormalForm, Orientation, PawnStructure,
    SliceValues, TableValues,
};
use rayon::prelude::*;

use super::stock::{SharedCode, Stock, Target};
use super::walk::{Job, Rows, en_passant_squares};
use super::{RowsError, has_free_pieces, layout_of};
use crate::entries::{EntryCodec, EntryValue};
use crate::index::IndexSpace;
use crate::stop::Stop;

/// Which values of a table are wanted, in the colours of the ending with its stronger side White.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The sides to move, White first.
    pub sides: [bool; 2],
    /// If not empty: only positions in which one of these men stands on his last rank, where promoted men do
    /// (without pawns: on the edge of the board, as the rank may be turned).
    pub on_edge: Vec<(Color, Role)>,
    /// If given: only positions with these pawns, in the colours of the table.
    pub structures: Option<Arc<BTreeSet<PawnStructure>>>,
    /// Whether mirror images may have different values, as far as the table does not give them the same index.
    pub apart: bool,
}

impl Wanted {
    /// All values.
    pub fn all() -> Wanted {
        Wanted { sides: [true; 2], ..Wanted::default() }
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
    /// By outcome only: whoever moves into the position wins, or loses, in one move.
    ByOutcome,
}

/// The values of a table's slices, from its entries as they are packed in a file, as far as they are wanted: others are not looked at.
/// Restricted pawns leave out slices. Tables with free pieces come with their stronger side White, others
/// in their own colours.
///
/// # Errors
///
/// The table holds numbers that are no values, or too few entries.
pub fn decode(
    space: &IndexSpace,
    codec: EntryCodec,
    entries: &[u8],
    wanted: &Wanted,
    taking: Taking,
    stop: &Stop,
) -> Result<TableValues, RowsError> {
    let narrow = codec.bits() <= 8;
    let stock = if narrow {
        Stock::new::<u8>(entries, codec, taking)
    } else {
        Stock::new::<u16>(entries, codec, taking)
    };
    stock.check(space.size())?;
    // Black's moves follow from White's.
    let half = !has_free_pieces(space) && !space.has_side_bit();
    let mut values = decode_with(space, wanted, stop, |rows, values, ways| {
        values.slices.par_iter().try_for_each(|(normal, slot)| {
            let ways = ways.get(normal).map(Vec::as_slice).unwrap_or_default();
            let slice = if narrow {
                decode_slice::<u8>(rows, *normal, ways, &stock, wanted)?
            } else {
                decode_slice::<u16>(rows, *normal, ways, &stock, wanted)?
            };
            let packed = taking == Taking::ByOutcome && !half;
            // Each slice is made once.
            let _ = slot.set(Arc::new(if packed { slice.outcomes() } else { slice }));
            Ok(())
        })
    })?;
    if half {
        fill_black(&mut values);
    }
    Ok(values)
}

/// Every orientation that carries a structure of the table to a slice, by slices. A slice that is its own
/// image is reached in several ways, and each contributes the positions that have indices.
pub(super) type Ways = HashMap<PawnStructure, Vec<Way>>;

/// A structure of the table and the orientation that carries it to a slice; whether the board is turned upside
/// down besides.
type Way = (PawnStructure, Orientation, bool);

/// Slices for a table that may tell images apart, none of them filled.
fn values_apart(
    space: &IndexSpace,
    (material, to_values): (Material, Orientation),
    layout: Layout,
    structures: impl Iterator<Item = PawnStructure>,
) -> TableValues {
    if material.has_pawns() && space.symmetry() == 2 {
        let normal = structures.map(|s| s.oriented(to_values).normalized(false).0);
        let slices = normal.collect::<BTreeSet<_>>();
        return TableValues::with_layout(material, layout, NormalForm::Mirrored, slices);
    }
    let slices = structures.map(|s| s.oriented(to_values)).collect::<BTreeSet<_>>();
    TableValues::with_layout(material, layout, NormalForm::None, slices)
}

/// The wanted slices of a table, with the values that `fill` puts there.
pub(super) fn decode_with<E: From<RowsError>>(
    space: &IndexSpace,
    wanted_values: &Wanted,
    stop: &Stop,
    fill: impl FnOnce(&Rows<'_>, &TableValues, &Ways) -> Result<(), E>,
) -> Result<TableValues, E> {
    let pieces = space.pieces();
    let table = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let free = has_free_pieces(space);
    let (material, swapped) = if free { table.normalized() } else { (table, false) };
    // A table with all symmetries cannot tell any images apart.
    let apart = free && wanted_values.apart && space.symmetry() < 8;
    let layout = match (free, apart) {
        (true, true) => Layout::without_symmetry(&material),
        (true, false) => Layout::new(&material),
        (false, _) => layout_of(space),
    };
    let rows = Rows::with_layout(space, &material, &layout)?.watching(stop);
    let is_wanted = |s: &PawnStructure| {
        wanted_values.structures.as_ref().is_none_or(|structures| structures.contains(s))
    };
    let to_values = Orientation { swap: swapped, mirror: false };
    let structures = rows.structures();
    let structures = structures.iter().copied().filter(|structure| is_wanted(structure));
    let (layout, table) = (layout.clone(), (material, to_values));
    let values = match (free, apart) {
        (true, true) => values_apart(space, table, layout, structures),
        (true, false) => {
            let swappable = material.is_symmetric();
            let normal = structures.map(|s| s.oriented(to_values).normalized(swappable).0);
            TableValues::new(material, normal.collect::<BTreeSet<_>>())
        }
        (false, _) => TableValues::with_layout(material, layout, NormalForm::None, structures),
    };
    let mut ways = Ways::new();
    for structure in rows.structures() {
        let Rows::Free(rows) = &rows else {
            if is_wanted(&structure) {
                ways.entry(structure).or_default().push((structure, Orientation::default(), false));
            }
            continue;
        };
        for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
            let orientation = to_values.then(Orientation { swap, mirror });
            let image = structure.oriented(orientation);
            // Without pawns the layout itself takes care of mirror images, and the other colours are
            // read only where they have no indices of their own.
            let other_colors = !swap || !space.has_side_bit();
            let needed = if apart {
                other_colors && (!mirror || space.symmetry() >= 2)
            } else {
                material.has_pawns() || !mirror && other_colors
            };
            let possible = !rows.slots[usize::from(orientation.swap)].is_empty();
            if needed && possible && values.slices.contains_key(&image) {
                let ways = ways.entry(image).or_default();
                ways.push((structure, orientation, false));
                if apart && space.symmetry() == 4 {
                    ways.push((structure, orientation, true));
                }
            }
        }
    }
    fill(&rows, &values, &ways)?;
    rows.finished()?;
    Ok(values)
}

/// Derives the values with Black to move from those with White to move, colours exchanged: for tables
/// without a side to move whose men may stand everywhere.
fn fill_black(values: &mut TableValues) {
    fn gather<C: Code>(codes: &[C], place: impl Fn(usize) -> usize + Sync) -> Vec<C> {
        let at = |offset| codes.get(place(offset)).copied().unwrap_or_default();
        (0..codes.len()).into_par_iter().map(at).collect()
    }
    let TableValues { layout, slices, .. } = values;
    let movers = layout.movers();
    let partner: Vec<usize> = movers
        .iter()
        .enumerate()
        .map(|(m, mover)| {
            let like = |color: Color| {
                let same = move |o: &&(usize, &Mover)| o.1.color == color && o.1.role == mover.role;
                let all: Vec<(usize, &Mover)> = movers.iter().enumerate().collect();
                all.iter().filter(same).map(|o| o.0).collect::<Vec<usize>>()
            };
            let rank = like(mover.color).iter().position(|&o| o == m).unwrap_or(0);
            like(mover.color.other()).get(rank).copied().unwrap_or(m)
        })
        .collect();
    let from: HashMap<PawnStructure, Arc<SliceValues>> =
        slices.iter().filter_map(|(s, slot)| Some((*s, slot.get()?.clone()))).collect();
    let swap = Orientation { swap: true, mirror: false };
    let turned = |codes: &Codes| {
        let place = |offset: usize| -> usize {
            let squares = (0..movers.len()).map(|m| (offset / layout.stride(m) % 64) as u8);
            squares.enumerate().filter_map(|(m, s)| layout.place(partner[m], s ^ 56)).sum()
        };
        match codes {
            Codes::Narrow(codes) => Codes::Narrow(gather(codes, place)),
            Codes::Wide(codes) => Codes::Wide(gather(codes, place)),
            // What is decoded is in memory here.
            Codes::Stored(stored) => Codes::Stored(stored.clone()),
        }
    };
    for (structure, slot) in slices {
        let image = from.get(&structure.oriented(swap));
        let (Some(slice), Some(image)) = (slot.get_mut().map(Arc::make_mut), image) else {
            continue;
        };
        slice.codes[1] = turned(&image.codes[0]);
        for right in slice.en_passant.iter_mut().filter(|right| right.square < 32) {
            if let Some(other) = image.en_passant.iter().find(|o| o.square == right.square ^ 56) {
                right.codes = turned(&other.codes);
            }
        }
    }
}

/// Reads one slice in normal form. With a symmetric index only part of a slice has indices of its own;
/// the rest is read through the mirror image of its pawns.
fn decode_slice<C: SharedCode>(
    rows: &Rows<'_>,
    normal: PawnStructure,
    ways: &[Way],
    stock: &Stock<'_>,
    wanted: &Wanted,
) -> Result<SliceValues, RowsError> {
    let len = rows.layout().len();
    let sides = wanted.sides;
    let movers = rows.layout().movers().iter().enumerate();
    let edge = movers
        .filter(|(_, m)| wanted.on_edge.contains(&(m.color, m.role)))
        .fold(0, |set, (i, _)| set | 1_u32 << i);
    let new = |wanted: bool| vec![C::ILLEGAL; if wanted { len } else { 0 }];
    let mut codes = sides.map(new);
    let mut rights: Vec<(u8, Vec<C>)> = Vec::new();
    for color in [Color::White, Color::Black] {
        for square in en_passant_squares(normal, color) {
            if can_capture(normal, square, color) {
                rights.push((square, new(sides[color as usize ^ 1])));
            }
        }
    }
    let max_moves = {
        // Read in one way, a row comes as a whole from one row of the table.
        let by_rows = match rows {
            Rows::Free(rows) => rows.layout.movers().len() > 2,
            Rows::Restricted(rows) => rows.is_by_rows(),
        };
        let whole = ways.len() == 1 && by_rows;
        let codes = codes.each_mut().map(|codes| Target::new(codes, whole));
        let rights: Vec<(u8, Target<'_, C>)> =
            rights.iter_mut().map(|(s, codes)| (*s, Target::new(codes, whole))).collect();
        let read = |(structure, orientation, flip): Way| {
            let jobs: Vec<Job> =
                rows.jobs(structure).into_iter().map(|job| Job { flip, ..job }).collect();
            let longest = jobs.par_iter().map(|job| {
                let side = orientation.color(job.turn) as usize ^ 1;
                if !sides[side] {
                    return Ok(0);
                }
                let target = match job.en_passant {
                    None => &codes[side],
                    Some(square) => {
                        let there = orientation.symmetry().apply_index(square);
                        match rights.iter().find(|(s, _)| *s == there) {
                            Some((_, codes)) => codes,
                            None => return Ok(0),
                        }
                    }
                };
                stock.read::<C>(rows, job, orientation, edge, target)
            });
            longest.try_reduce(|| 0, |a, b| Ok(a.max(b)))
        };
        ways.iter().try_fold(0, |longest, &way| Ok(longest.max(read(way)?)))?
    };
    Ok(SliceValues {
        codes: codes.map(C::into_codes),
        en_passant: rights
            .into_iter()
            .map(|(square, codes)| EnPassantValues { square, codes: C::into_codes(codes) })
            .collect(),
        counts: None,
        max_moves: if stock.exact { max_moves } else { 1 },
    })
}

/// What is taken for the value of a position.
pub(super) fn value_of(entry: EntryValue, taking: Taking) -> Value {
    let value = match entry {
        EntryValue::Exact(value) => value,
        EntryValue::Win => Value::Win(1),
        EntryValue::Loss => Value::Loss(0),
        EntryValue::Illegal => Value::Illegal,
        // What a flag does not tell apart is taken as the draw: the question asked of it is the same
        // whichever it is.
        EntryValue::Draw | EntryValue::WinOrDraw | EntryValue::DrawOrLoss => Value::Draw,
        EntryValue::Unknown => Value::Illegal,
    };
    match (taking, value) {
        (Taking::ByOutcome, Value::Win(_)) => Value::Win(1),
        (Taking::ByOutcome, Value::Loss(_)) => Value::Loss(0),
        _ => value,
    }
}

/// Whether a pawn of `turn` stands ready to take on a square.
pub(super) fn can_capture(structure: PawnStructure, square: u8, turn: Color) -> bool {
    let (file, rank) = (square & 7, square >> 3);
    let from_rank = turn.fold_wb(rank.wrapping_sub(1), rank + 1);
    [file.wrapping_sub(1), file + 1]
        .into_iter()
        .any(|f| f < 8 && structure.of(turn) >> (from_rank * 8 + f) & 1 != 0)
}
