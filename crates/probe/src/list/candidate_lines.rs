//! Which positions of a table are of a line in which the winner never has a choice. Rows tell which
//! moves there are to choose from; then it is passed on from the positions behind them, those with
//! the nearest end first.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hoffman_board::Bitboard;
use hoffman_table::TableError;
use hoffman_table::rows::EntryRow;
use rayon::prelude::*;

use super::keepers::{KeptTables, LineMoves};
use super::seen::Seen;
use super::work::{ListWork, WITH_MOVES};
use super::{ListError, fail};

/// A move that may be of such a line: the winner's only one, or one of the loser's.
#[derive(Clone, Copy, Debug)]
struct LineLink {
    /// The index of the position before the move.
    before: u64,
    /// The index of the position behind it; [`Self::UNKNOWN`] if moves have to be looked at.
    behind: u64,
}

impl LineLink {
    const UNKNOWN: u64 = u64::MAX;
}

/// In how many looks the lines through the positions of a table of so many indices are found.
pub(super) fn looks_for_lines(indices: u64) -> u64 {
    2 * WITH_MOVES * indices
}

/// What is found in a share of the rows.
#[derive(Default)]
struct FoundLinks {
    /// By plies to the end before the move.
    by_plies: Vec<Vec<LineLink>>,
    /// How many there are, and how many of them are taken from the room for all.
    count: usize,
    taken: usize,
    /// Looks since the last report of progress.
    fresh: u64,
    /// Why it is not all.
    failure: Option<ListError>,
}

impl FoundLinks {
    /// So many that all threads rarely do it at the same time.
    const TOGETHER: usize = 1 << 12;

    fn take_from(&mut self, room: &AtomicU64) {
        let more = self.count - self.taken;
        if more >= Self::TOGETHER {
            self.taken = self.count;
            room.update(Relaxed, Relaxed, |room| room.saturating_sub(more as u64));
        }
    }

    fn add(&mut self, plies: u16, link: LineLink) {
        let plies = usize::from(plies);
        if self.by_plies.len() <= plies {
            self.by_plies.resize_with(plies + 1, Vec::new);
        }
        self.by_plies[plies].push(link);
        self.count += 1;
    }
}

/// Makes known which positions of a table are of a line in which the winner never has a choice, as
/// far as it does not depend on tables that are not at hand, and as what is needed to know it fits
/// into so many bytes.
pub(super) fn find_lines(
    tables: KeptTables<'_>,
    memory: u64,
    work: &ListWork<'_>,
) -> Result<(), ListError> {
    // What there is no room for is looked at by itself when it is asked for.
    // Lists that grow have room for twice as many.
    let room = AtomicU64::new(memory / (2 * size_of::<LineLink>() as u64));
    let mut shares: Vec<Vec<Vec<LineLink>>> = Vec::new();
    // Most positions of the winner are of no line: few of the loser's moves are left.
    for won in [true, false] {
        let look = |found: &mut FoundLinks, row: &EntryRow<'_>| {
            if work.is_stopped() {
                found.failure = Some(ListError::Stopped);
            }
            work.add(&mut found.fresh, WITH_MOVES * u64::from(row.lanes.count_ones()));
            if found.failure.is_none() && room.load(Relaxed) > 0 {
                let looked = look_for_links(tables, won, row, found);
                found.failure = looked.err().map(fail);
                found.take_from(&room);
            }
        };
        for found in tables.entries.scan(tables.values.walker(), FoundLinks::default, look) {
            found.failure.map_or(Ok(()), Err)?;
            shares.push(found.by_plies);
        }
    }

    let most = shares.iter().map(Vec::len).max().unwrap_or_default();
    for plies in 0..most {
        let _ = work.go_on()?;
        let links: Vec<&[LineLink]> =
            shares.iter().filter_map(|share| share.get(plies)).map(Vec::as_slice).collect();
        pass_on(&tables.values.seen, &links);
    }
    Ok(())
}

/// Makes known which positions are of a line, as far as their moves tell: those with the same
/// number of plies to the end, with all their links.
fn pass_on(seen: &Seen, links: &[&[LineLink]]) {
    let is_open = |link: &&LineLink| {
        let known = match link.behind {
            LineLink::UNKNOWN => None,
            behind => seen.get(behind),
        };
        if let Some(known) = known {
            seen.set(link.before, known);
        }
        known.is_none()
    };
    let pieces = links.par_iter().flat_map(|links| links.par_chunks(LINKS));
    let open = pieces.flat_map_iter(|links| links.iter().filter(is_open));
    let open: Vec<&LineLink> = open.collect();
    // What one move of the loser does not tell another one may.
    open.par_iter().for_each(|link| seen.forget_if_none(link.before));
}

/// Links that a thread takes at a time.
const LINKS: usize = 1 << 12;

/// Finds the moves of positions of a row that are won, or lost, and makes known what they tell.
fn look_for_links(
    tables: KeptTables<'_>,
    won: bool,
    row: &EntryRow<'_>,
    found: &mut FoundLinks,
) -> Result<(), TableError> {
    let KeptTables { values, entries, .. } = tables;
    let lanes = Bitboard(row.lanes) & values.legal(&row.place());
    if row.en_passant.is_some() || lanes.is_empty() {
        return Ok(());
    }
    let values_here = values.own_row(&row.place());
    let own = values.to_keep_in_lines((row, values_here.as_ref(), lanes), won, entries)?;
    if own.asked.is_empty() && own.ended.is_empty() {
        return Ok(());
    }

    let moves = LineMoves::find(tables, row.place(), (&own, values_here))?;
    let mut behind: Vec<(u8, u64)> = Vec::new();
    moves.behind(entries, row.place(), |square, index| match values.seen.get(index) {
        Some(false) => {}
        _ => behind.push((square, index)),
    });
    behind.extend(moves.open.into_iter().map(|square| (square as u8, LineLink::UNKNOWN)));
    let depends = behind.iter().fold(0, |set, &(square, _)| set | 1_u64 << square);

    let mut indices = [0; 64];
    for (square, index) in row.positions() {
        let at = 1_u64 << square;
        if own.asked.0 & at != 0 {
            indices[usize::from(square & 63)] = index;
            if moves.certain.0 & at != 0 {
                values.seen.set(index, true);
            } else if depends & at == 0 {
                values.seen.set(index, false);
            }
        } else if own.ended.0 & at != 0 {
            values.seen.set(index, true);
        }
    }
    for (square, behind) in behind {
        let square = usize::from(square & 63);
        found.add(own.plies[square], LineLink { before: indices[square], behind });
    }
    Ok(())
}
