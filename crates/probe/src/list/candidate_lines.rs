//! Which positions of a table are of a line in which the winner never has a choice. Rows tell which
//! moves there are to choose from; then it is passed on from the positions behind them, those with
//! the nearest end first.

use std::ops::ControlFlow;

use hoffman_board::{Bitboard, Color};
use hoffman_table::rows::{EntryRow, HeldEntries};
use hoffman_table::{Table, TableError};
use rayon::prelude::*;

use super::keepers::{KeptTables, LineMoves};
use super::kept::LOSS;
use super::{ListError, fail};

/// Bits of an index next to a distance.
const INDEX_BITS: u32 = 48;

/// A move that may be of such a line: the winner's only one, or one of the loser's. Those of
/// positions with the nearest end come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LineLink {
    /// Plies to the end before the move, and the index of the position there.
    before: u64,
    /// The index of the position behind it; [`Self::UNKNOWN`] if moves have to be looked at.
    behind: u64,
}

impl LineLink {
    const UNKNOWN: u64 = u64::MAX;

    fn new(plies: u16, index: u64, behind: u64) -> LineLink {
        debug_assert!(index >> INDEX_BITS == 0);
        LineLink { before: u64::from(plies) << INDEX_BITS | index, behind }
    }

    fn plies(self) -> u64 {
        self.before >> INDEX_BITS
    }

    fn index(self) -> u64 {
        self.before & ((1 << INDEX_BITS) - 1)
    }
}

/// What is found of some rows.
type Found = Result<Vec<LineLink>, TableError>;

/// Makes known which positions of a table are of a line in which the winner never has a choice, as
/// far as it does not depend on tables that are not at hand, and as what is needed to know it fits
/// into so many bytes.
pub(super) fn find_lines(
    tables: KeptTables<'_>,
    memory: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), ListError> {
    let room = memory / size_of::<LineLink>() as u64;
    let plies = plies_of_keys(tables.values.orbits.table());
    let (mut steps, mut result) = (Vec::new(), Ok(()));
    // Most positions of the winner are of no line: few of the loser's moves are left.
    for won in [true, false] {
        let look = |found: &mut Found, row: &EntryRow<'_>| {
            let Ok(steps) = found else { return };
            if let Err(error) = look_for_steps(tables, (&plies, won), row, steps) {
                *found = Err(error);
            }
        };
        tables.entries.scan_in_order(|| Ok(Vec::new()), look, &mut |found| {
            match found {
                Ok(found) => steps.extend(found),
                Err(error) => result = Err(fail(error)),
            }
            if stop() {
                result = Err(ListError::Stopped);
            }
            // The others are looked at by themselves when it is asked for them.
            let is_full = steps.len() as u64 >= room;
            if result.is_err() || is_full {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        result.clone()?;
    }

    steps.par_sort_unstable();
    for together in steps.chunk_by(|a, b| a.plies() == b.plies()) {
        if stop() {
            return Err(ListError::Stopped);
        }
        together.par_chunk_by(|a, b| a.index() == b.index()).for_each(|of_one| {
            let seen = &tables.values.seen;
            let known = |step: &LineLink| match step.behind {
                LineLink::UNKNOWN => None,
                behind => seen.get(behind),
            };
            if of_one.iter().any(|step| known(step) == Some(true)) {
                seen.set(of_one[0].index(), true);
            } else if of_one.iter().all(|step| known(step) == Some(false)) {
                seen.set(of_one[0].index(), false);
            }
        });
    }
    Ok(())
}

/// Finds the moves of positions of a row that are won, or lost, and makes known what they tell.
fn look_for_steps(
    tables: KeptTables<'_>,
    (plies, won): (&[Option<u16>], bool),
    row: &EntryRow<'_>,
    steps: &mut Vec<LineLink>,
) -> Result<(), TableError> {
    let KeptTables { values, entries, .. } = tables;
    let lanes = Bitboard(row.lanes) & values.legal(&row.place());
    if row.en_passant.is_some() || lanes.is_empty() {
        return Ok(());
    }
    let keys = entries.row(row)?;
    let (own, kept) = values.to_keep((row, &keys, lanes), |_| true);
    let is_asked = |own: u16| (own < LOSS) == won;
    let asked: Bitboard = kept.into_iter().filter(|&s| is_asked(own[s as usize & 63])).collect();
    if asked.is_empty() && !won {
        return Ok(());
    }

    let moves = LineMoves::find(tables, row.place(), &(own, asked))?;
    let mut behind: Vec<(u8, u64)> = Vec::new();
    moves.behind(entries, row.place(), |square, index| match values.seen.get(index) {
        Some(false) => {}
        _ => behind.push((square, index)),
    });
    behind.extend(moves.open.into_iter().map(|square| (square as u8, LineLink::UNKNOWN)));
    let depends = behind.iter().fold(0, |set, &(square, _)| set | 1_u64 << square);

    let mut indices = [(0, 0); 64];
    for (square, index) in row.positions() {
        let at = 1_u64 << square;
        let plies = plies.get(keys.at(square, index)).copied().flatten();
        if asked.0 & at != 0 {
            indices[usize::from(square & 63)] = (plies.unwrap_or_default(), index);
            if moves.certain.0 & at != 0 {
                values.seen.set(index, true);
            } else if depends & at == 0 {
                values.seen.set(index, false);
            }
        } else if lanes.0 & at != 0 && plies == Some(0) {
            values.seen.set(index, true);
        }
    }
    let step = |(square, behind)| {
        let (plies, index) = indices[usize::from(square & 63_u8)];
        LineLink::new(plies, index, behind)
    };
    steps.extend(behind.into_iter().map(step));
    Ok(())
}

/// Plies to the end by the key of an entry of a table; none if there is none.
fn plies_of_keys(table: &Table) -> Vec<Option<u16>> {
    let plies = |key| {
        let number = HeldEntries::number(table.codec(), key)?;
        // What a distance is does not depend on who is to move.
        let value = table.codec().value(number, Color::White).and_then(Table::exact)?;
        value.plies().and_then(|plies| u16::try_from(plies.unsigned_abs()).ok())
    };
    (0..HeldEntries::kinds(table).unwrap_or_default()).map(plies).collect()
}
