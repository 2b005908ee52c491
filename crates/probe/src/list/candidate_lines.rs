//! Which positions of a table are of a line in which the winner never has a choice. Rows tell which
//! moves there are to choose from; then it is passed on from the positions behind them, those with
//! the nearest end first.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hoffman_board::Bitboard;
use hoffman_table::rows::{EntryRow, HeldEntries};
use hoffman_table::{Table, TableError};
use rayon::prelude::*;

use super::candidates::plies_of;
use super::keepers::{KeptTables, LineMoves};
use super::seen::Seen;
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

/// What is found in a share of the rows.
#[derive(Default)]
struct FoundLinks {
    links: Vec<LineLink>,
    /// How many of them are taken from the room for all.
    taken: usize,
    /// Why it is not all.
    failure: Option<ListError>,
}

impl FoundLinks {
    /// So many that all threads rarely do it at the same time.
    const TOGETHER: usize = 1 << 12;

    fn take_from(&mut self, room: &AtomicU64) {
        let more = self.links.len() - self.taken;
        if more >= Self::TOGETHER {
            self.taken = self.links.len();
            room.update(Relaxed, Relaxed, |room| room.saturating_sub(more as u64));
        }
    }
}

/// Makes known which positions of a table are of a line in which the winner never has a choice, as
/// far as it does not depend on tables that are not at hand, and as what is needed to know it fits
/// into so many bytes.
pub(super) fn find_lines(
    tables: KeptTables<'_>,
    memory: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), ListError> {
    // What there is no room for is looked at by itself when it is asked for.
    // They are there twice while they are put together.
    let room = AtomicU64::new(memory / (2 * size_of::<LineLink>() as u64));
    let plies = plies_of_keys(tables.values.orbits.table());
    let mut links: Vec<LineLink> = Vec::new();
    // Most positions of the winner are of no line: few of the loser's moves are left.
    for won in [true, false] {
        let look = |found: &mut FoundLinks, row: &EntryRow<'_>| {
            if stop() {
                found.failure = Some(ListError::Stopped);
            }
            if found.failure.is_none() && room.load(Relaxed) > 0 {
                let looked = look_for_links(tables, (&plies, won), row, &mut found.links);
                found.failure = looked.err().map(fail);
                found.take_from(&room);
            }
        };
        for found in tables.entries.scan(FoundLinks::default, look) {
            found.failure.map_or(Ok(()), Err)?;
            links.extend(found.links);
        }
    }

    links.par_sort_unstable();
    for together in links.chunk_by(|a, b| a.plies() == b.plies()) {
        if stop() {
            return Err(ListError::Stopped);
        }
        let of_one = together.par_chunk_by(|a, b| a.index() == b.index());
        of_one.for_each(|links| pass_on(&tables.values.seen, links));
    }
    Ok(())
}

/// Makes known whether a position is of a line, as far as its moves tell.
fn pass_on(seen: &Seen, links: &[LineLink]) {
    let known = |link: &LineLink| match link.behind {
        LineLink::UNKNOWN => None,
        behind => seen.get(behind),
    };
    let Some(first) = links.first() else { return };
    if links.iter().any(|link| known(link) == Some(true)) {
        seen.set(first.index(), true);
    } else if links.iter().all(|link| known(link) == Some(false)) {
        seen.set(first.index(), false);
    }
}

/// Finds the moves of positions of a row that are won, or lost, and makes known what they tell.
fn look_for_links(
    tables: KeptTables<'_>,
    (plies, won): (&[Option<u16>], bool),
    row: &EntryRow<'_>,
    links: &mut Vec<LineLink>,
) -> Result<(), TableError> {
    let KeptTables { values, entries, .. } = tables;
    let lanes = Bitboard(row.lanes) & values.legal(&row.place());
    if row.en_passant.is_some() || lanes.is_empty() {
        return Ok(());
    }
    let keys = entries.row(row)?;
    // Who wins makes the last move.
    let plies = |key: usize| plies.get(key).copied().flatten();
    let own = values.to_keep((row, &keys, lanes), |key| {
        plies(key).is_some_and(|plies| (plies % 2 == 1) == won)
    });
    let asked = own.1;
    if asked.is_empty() && !won {
        return Ok(());
    }

    let moves = LineMoves::find(tables, row.place(), &own)?;
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
        let plies = plies(keys.at(square, index));
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
    let link = |(square, behind)| {
        let (plies, index) = indices[usize::from(square & 63_u8)];
        LineLink::new(plies, index, behind)
    };
    links.extend(behind.into_iter().map(link));
    Ok(())
}

/// Plies to the end by the key of an entry of a table; none if there is none.
fn plies_of_keys(table: &Table) -> Vec<Option<u16>> {
    let plies = |key| {
        let raw = HeldEntries::number(table.codec(), key)?;
        plies_of(table, raw).and_then(|plies| u16::try_from(plies).ok())
    };
    (0..HeldEntries::kinds(table).unwrap_or_default()).map(plies).collect()
}
