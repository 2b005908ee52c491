//! Counting a table whose pieces may stand everywhere by rows: 64 positions at a time that differ
//! in the square of one man.
//!
//! Which of them are legal, and which are counted for their orbit, are a few sets of squares a row.
//! What is left is to count how often each entry occurs; what the entries mean is asked once at the
//! end.

use hoffman_board::{ByColor, Color, Value};
use hoffman_table::rows::{EntryRow, HeldEntries};
use hoffman_table::{EntryValue, Table, TableError};

use super::{Counter, TableTally};

/// Neighbours often have the same entry. Counting them in turns keeps one increment from waiting
/// for the other.
const TURNS: usize = 4;

/// Counts a table by rows; none if it cannot be, or its entries take more than so many bytes.
pub(super) fn count(table: &Table, memory: u64) -> Result<Option<TableTally>, TableError> {
    let codec = table.codec();
    let fits = codec.area_bytes(table.space().size()) <= memory;
    let Some(kinds) = HeldEntries::kinds(table).filter(|_| fits) else { return Ok(None) };
    let value = |key: usize, turn: Color| {
        HeldEntries::number(codec, key).and_then(|number| codec.value(number, turn))
    };
    let length = |turn| {
        let length = |key| match value(key, turn) {
            Some(EntryValue::Exact(Value::Win(moves))) => u32::from(moves) + 1,
            _ => 0,
        };
        (0..kinds).map(length).collect()
    };

    let counter = Counter::new(table);
    let entries = HeldEntries::of(table)?;
    let rows = RowCounter { counter, entries, lengths: ByColor::new_with(length) };
    let shares = rows.entries.scan(None, || Share::new(kinds), |share, row| rows.count(row, share));

    let mut total = TableTally::default();
    for share in shares {
        if let Some(error) = share.failure {
            return Err(error);
        }
        total = total.with(&share.tally);
        share.add_to(&mut total, value);
    }
    Ok(Some(total))
}

/// What one share of the rows holds.
struct Share {
    /// How often each entry occurs, [`TURNS`] counts for each.
    counts: ByColor<Vec<u64>>,
    /// One more than the moves of the longest win, and its lowest index.
    longest: ByColor<(u32, u64)>,
    /// What was counted position by position.
    tally: TableTally,
    /// Why it is not all.
    failure: Option<TableError>,
}

impl Share {
    fn new(kinds: usize) -> Share {
        Share {
            counts: ByColor::new_with(|_| vec![0; kinds * TURNS]),
            longest: ByColor::new_with(|_| (1, u64::MAX)),
            tally: TableTally::default(),
            failure: None,
        }
    }

    /// Adds what was counted by entries, of which `value` tells the values.
    fn add_to(&self, total: &mut TableTally, value: impl Fn(usize, Color) -> Option<EntryValue>) {
        for turn in Color::ALL {
            let side = total.plain.get_mut(turn);
            for (key, counts) in self.counts.get(turn).chunks(TURNS).enumerate() {
                let n = counts.iter().sum();
                if n > 0 {
                    side.count_some(n, value(key, turn));
                }
            }
            let &(length, index) = self.longest.get(turn);
            if index < u64::MAX {
                side.lengthen((length - 1) as u16, index);
            }
        }
    }
}

struct RowCounter<'a> {
    counter: Counter<'a>,
    entries: HeldEntries<'a>,
    /// One more than the moves of a win by the bits of its entry, 0 for all others.
    lengths: ByColor<Vec<u32>>,
}

impl RowCounter<'_> {
    fn count(&self, row: &EntryRow<'_>, share: &mut Share) {
        if share.failure.is_some() {
            return;
        }
        share.failure = self.counter.orbits.table().check_stop().err();
        let (once, alone) = self.counter.orbits.counted(row);
        let legal = once & self.counter.orbits.legal(&row.place());
        if (legal | alone).is_empty() {
            return;
        }
        let keys = match self.entries.row(row) {
            Ok(keys) => keys,
            Err(error) => {
                share.failure.get_or_insert(error);
                return;
            }
        };
        if alone.any() {
            let codec = self.counter.orbits.table().codec();
            for (square, index) in row.positions().filter(|&(s, _)| alone.0 >> s & 1 != 0) {
                if let Some(number) = HeldEntries::number(codec, keys.at(square, index)) {
                    self.counter.count(index, number, &mut share.tally);
                }
            }
        }

        let (counts, longest) = (share.counts.get_mut(row.turn), share.longest.get_mut(row.turn));
        let lengths = self.lengths.get(row.turn).as_slice();

        for (turn, (square, index)) in row.positions().enumerate() {
            let is_legal = legal.0 >> square & 1;
            let key = keys.at(square, index);
            if let Some(count) = counts.get_mut(key * TURNS + turn % TURNS) {
                *count += is_legal;
            }
            let length = lengths.get(key).map_or(0, |&length| length * is_legal as u32);
            if length >= longest.0 && (length, u64::MAX - index) > (longest.0, u64::MAX - longest.1)
            {
                *longest = (length, index);
            }
        }
    }
}
