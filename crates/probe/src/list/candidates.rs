//! What the entries of a table alone decide: by rows where it has them, else by its indices.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hoffman_board::{Bitboard, ByColor, Color, Placement, Variant};
use hoffman_table::rows::{EntryRow, HeldEntries, RowKeys, RowPlace};
use hoffman_table::{EntryValue, RawEntry, Table, TableError, ZugzwangEntries};
use rayon::prelude::*;

use super::candidate_lines::{find_lines, looks_for_lines};
use super::exits::{Exits, FoundExit};
use super::keepers::{KeepingMoves, KeptTables};
use super::kept::{Kept, KeptValues, ReadValues};
use super::pattern::{Image, Pattern};
use super::seen::SeenNames;
use super::work::{ListWork, WITH_MOVES};
use super::zugzwang::{NEVER, ZugzwangKind, kind_of, moved, passed};
use super::{ListError, ListPlan, ListQuery, Lister, ZugzwangOf, fail};
use crate::collection::Collection;
use crate::orbits::is_partial;
use crate::position::Position;

/// Entries unpacked at a time, at least, where there are no rows.
const CHUNK: u64 = 1 << 20;

/// Entries that a thread takes at a time there.
const BLOCK: usize = 1 << 12;

/// How many positions are looked at by rows in the time in which the moves, or the line, of one
/// are looked for.
const ROWS_OF_ONE: u64 = 16;

/// A position that may be one of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) index: u64,
    pub(super) raw: RawEntry,
    /// What it costs to be on move, and the entry with the other side to move.
    pub(super) zugzwang: Option<(ZugzwangKind, RawEntry)>,
}

impl Candidate {
    pub(super) fn kind(&self) -> Option<ZugzwangKind> {
        self.zugzwang.map(|(kind, _)| kind)
    }
}

/// What is found in some of the positions.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Those that may be of the list.
    pub(super) candidates: Vec<Candidate>,
    /// How many there are besides that are only counted, by the bits of the entry.
    counts: ByColor<Vec<u64>>,
    /// Looks since the last report of progress.
    fresh: u64,
    /// Why it is not all.
    failure: Option<TableError>,
}

impl Findings {
    /// How many positions were found that are only counted.
    pub(super) fn counted(&self) -> u64 {
        self.counts.white.iter().chain(&self.counts.black).sum()
    }
}

/// Which of the positions that the question accepts are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathering {
    /// All.
    All,
    /// All, and where only their number by entries matters, only that; moves are not looked at.
    Counts,
    /// All, and only the number of those that need not be looked at by themselves.
    Compared,
    /// Those whose end is so many plies away: the least, and the most.
    Lengths(u32, u32),
}

/// Takes what is found, some at a time, in an order that no number of threads changes.
pub(super) type Sink<'s> = dyn FnMut(Findings) -> Result<ControlFlow<()>, ListError> + 's;

/// The way through the entries of a table.
pub(super) struct Scan<'a> {
    pub(super) lister: &'a Lister<'a>,
    work: &'a ListWork<'a>,
    rows: Option<ByRows<'a>>,
    /// What their moves have to keep, if these matter.
    pub(super) kept: Option<KeptValues<'a>>,
    /// The tables behind them, as far as they are in memory.
    pub(super) exits: Exits<'a>,
    /// All positions that are asked for, if the table could tell them by itself.
    told: Option<Vec<Candidate>>,
    /// What is known of lines without a choice from positions that have no index in `kept` or
    /// `exits`.
    pub(super) named: SeenNames,
}

/// What is asked of the rows.
struct RowQuery<'r> {
    rows: &'r ByRows<'r>,
    /// Whether an entry is one that is gathered, by side to move.
    accepted: ByColor<Vec<bool>>,
    /// Whether entries are only counted.
    counts: bool,
    /// Whether positions with several moves as good as each other are left out.
    compares: bool,
}

/// The entries of a table with rows, and what is decided by their bits.
struct ByRows<'a> {
    entries: HeldEntries<'a>,
    /// Whether an entry is one that is asked for, by side to move.
    accepted: ByColor<Vec<bool>>,
    /// What an entry is worth to the side to move, and to the other side if it may pass.
    worth: ByColor<(Vec<i32>, Vec<i32>)>,
    /// The most that a pass can be worth.
    best_pass: i32,
}

impl<'a> Scan<'a> {
    /// Reads the entries if they fit into so many bytes as they are packed.
    pub(super) fn new(
        (lister, work): (&'a Lister<'a>, &'a ListWork<'a>),
        memory: u64,
    ) -> Result<Scan<'a>, ListError> {
        let table = lister.table();
        let codec = table.codec();
        if lister.query.zugzwang == Some(ZugzwangOf::Mutual)
            && !lister.compares_moves()
            && let Some(found) = table.mutual_zugzwangs().map_err(fail)?
        {
            let mut scan = Scan::by_index(lister, work);
            let told = scan.representatives(&found);
            scan.told = Some(told);
            return Ok(scan);
        }

        let fits = codec.area_bytes(table.space().size()) <= memory;
        let Some(kinds) = HeldEntries::kinds(table).filter(|_| fits) else {
            return Ok(Scan::by_index(lister, work));
        };
        let value = |key: usize, turn: Color| {
            HeldEntries::number(codec, key).and_then(|number| codec.value(number, turn))
        };

        let accepted = |turn| (0..kinds).map(|key| lister.accepts(value(key, turn))).collect();
        let worth = |turn| {
            let Some(of) = lister.query.zugzwang else { return (Vec::new(), Vec::new()) };
            let moved = (0..kinds).map(|key| moved(of, value(key, turn))).collect();
            (moved, (0..kinds).map(|key| passed(of, value(key, turn))).collect())
        };
        let worth = ByColor::new_with(worth);
        let passes = worth.white.1.iter().chain(&worth.black.1);
        let rows = ByRows {
            entries: HeldEntries::of(table).map_err(fail)?,
            accepted: ByColor::new_with(accepted),
            best_pass: passes.copied().max().unwrap_or_default(),
            worth,
        };

        Ok(Scan { rows: Some(rows), ..Scan::by_index(lister, work) })
    }

    /// Without rows.
    fn by_index(lister: &'a Lister<'a>, work: &'a ListWork<'a>) -> Scan<'a> {
        let (exits, named) = (Exits::default(), SeenNames::default());
        Scan { lister, work, rows: None, kept: None, exits, told: None, named }
    }

    /// Prepares to compare moves by rows, if that is what is asked for and if there are rows for
    /// it. Where moves of many positions are to be compared, the tables behind are read, too, as
    /// far as they fit into so many bytes with this one, and it is found out which positions are
    /// of a line in which the winner never has a choice.
    pub(super) fn compare_moves(
        &mut self,
        (own, exits): (&'a ReadValues, &'a [FoundExit]),
        plan: &ListPlan<'_>,
    ) -> Result<(), ListError> {
        let ListPlan { memory, shared, .. } = *plan;
        let work = self.work;
        let (table, query) = (self.lister.table(), self.lister.query);
        let member = self.lister.collection.given().first();
        let is_plain = member.is_some_and(|member| member.is_plain()) && !is_partial(table);
        let keeps = match query {
            _ if !is_plain || table.variant() != Variant::Normal => None,
            ListQuery { only_move: true, .. } => Some(Kept::Outcome),
            // Of wins that are told wrong no line follows.
            ListQuery { unique_line, .. } => unique_line
                .map(Kept::Line)
                .filter(|_| member.is_some_and(|member| member.is_complete(true))),
        };
        let kinds = HeldEntries::kinds(table).filter(|_| self.rows.is_some());
        let Some((keeps, kinds)) = keeps.zip(kinds) else { return Ok(()) };
        let what = (keeps, query.unique_line.is_some());

        let mut asked = 0;
        work.expect(table.space().size());
        self.run(Gathering::Counts, &mut |found| {
            asked += found.counted() + found.candidates.len() as u64;
            work.go_on()
        })?;
        self.kept = Some(KeptValues::new(table, kinds, what));
        let size = table.space().size();
        if asked < (size + exits.iter().map(FoundExit::size).sum::<u64>()) / ROWS_OF_ONE {
            return Ok(());
        }
        // Those of small tables are codes, a byte each.
        let needs = size.max(table.codec().area_bytes(size)) + if what.1 { size / 4 } else { 0 };
        let mut left = memory.saturating_sub(needs);
        if let Some(values) = self.kept.as_mut().filter(|_| what.1) {
            // What is found with them has to be kept, too.
            values.take_rows(own.rows(table, (left / 2, shared)));
            left -= own.bytes().min(left);
        }
        self.exits = Exits::new(exits, what, (left, shared));
        left -= self.exits.memory();
        if let (Some(rows), Some(values), true) = (&self.rows, &self.kept, keeps != Kept::Outcome) {
            let exits = &self.exits;
            work.expect(looks_for_lines(size + exits.indices()));
            exits.find_lines(left, work)?;
            find_lines(KeptTables { values, entries: &rows.entries, exits }, left, work)?;
        }
        Ok(())
    }

    /// Hands on what there is to gather.
    pub(super) fn run(&self, gathering: Gathering, sink: &mut Sink<'_>) -> Result<(), ListError> {
        if let Some(told) = &self.told {
            let is_wanted = |found: &&Candidate| self.is_gathered(gathering, found.raw);
            let candidates = told.iter().filter(is_wanted).copied().collect();
            return sink(Findings { candidates, ..Findings::default() }).map(|_| ());
        }
        let Some(rows) = &self.rows else { return self.run_by_index(gathering, sink) };
        let query = self.lister.query;
        let accepted = |turn: Color| {
            let keys = rows.accepted.get(turn).iter().enumerate();
            let asked = |(key, &accepted): (usize, &bool)| {
                let raw = self.number(key);
                accepted && raw.is_none_or(|raw| self.is_gathered(gathering, raw))
            };
            keys.map(asked).collect()
        };
        let asked = RowQuery {
            rows,
            accepted: ByColor::new_with(accepted),
            counts: gathering == Gathering::Counts && query.zugzwang.is_none()
                || gathering == Gathering::Compared
                    && !(query.only_move && query.unique_line.is_some()),
            compares: gathering != Gathering::Counts && query.zugzwang.is_none(),
        };

        let mut result = Ok(());
        let looks = if query.only_move && asked.compares { WITH_MOVES } else { 1 };
        let look = |found: &mut Findings, row: &EntryRow<'_>| {
            self.work.add(&mut found.fresh, looks * u64::from(row.lanes.count_ones()));
            if let Err(error) = self.look(&asked, found, row) {
                found.failure.get_or_insert(error);
            }
        };
        let mut hand = |mut found: Findings| {
            let failure = found.failure.take().map(fail);
            match failure.map_or_else(|| sink(found), Err) {
                Ok(flow) => flow,
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            }
        };

        let new = || {
            let kinds = |turn| if asked.counts { rows.accepted.get(turn).len() } else { 0 };
            let counts = ByColor::new_with(|turn| vec![0; kinds(turn)]);
            Findings { counts, ..Findings::default() }
        };
        rows.entries.scan_in_order(new, look, &mut hand);
        result
    }

    /// Whether an entry is one of those that are gathered.
    fn is_gathered(&self, gathering: Gathering, raw: RawEntry) -> bool {
        match gathering {
            Gathering::All | Gathering::Counts | Gathering::Compared => true,
            Gathering::Lengths(least, most) => (least..=most).contains(&self.plies(raw)),
        }
    }

    /// The positions of the table that stand for zugzwangs, as far as they are asked for, in the
    /// order of their indices.
    fn representatives(&self, found: &[ZugzwangEntries]) -> Vec<Candidate> {
        let lister = self.lister;
        let turns = Color::ALL.into_iter().filter(|&turn| *lister.turns.get(turn));
        let candidate = |turn: Color, found: &ZugzwangEntries| {
            let images = lister.orbits.symmetries().map(|symmetry| {
                let image = found.placement.transformed(symmetry);
                Placement { turn, ..image }
            });
            let mut chosen = images.filter(|p| lister.orbits.representative(p).is_some());
            let placement = chosen.next()?;
            let index = lister.table().space().encode(&placement)?;
            let [raw, other] = [turn, turn.other()].map(|turn| *found.entries.get(turn));
            let image = self.shown_as(&placement, raw)?;
            self.candidate_of((&placement, image), (index, raw), Some(other))
        };
        let all = turns.flat_map(|turn| found.iter().filter_map(move |f| candidate(turn, f)));
        let mut all: Vec<Candidate> = all.collect();
        all.sort_unstable_by_key(|candidate| candidate.index);
        all.dedup_by_key(|candidate| candidate.index);
        all
    }

    /// Looks at a row.
    fn look(
        &self,
        asked: &RowQuery<'_>,
        found: &mut Findings,
        row: &EntryRow<'_>,
    ) -> Result<(), TableError> {
        let lister = self.lister;
        if !*lister.turns.get(row.turn) {
            return Ok(());
        }
        let accepted = asked.accepted.get(row.turn).as_slice();
        let (once, alone) = lister.orbits.counted(row);
        let lanes = self.fitting(row, once & lister.orbits.legal(&row.place()));
        if (lanes | alone).is_empty() {
            return Ok(());
        }
        let keys = asked.rows.entries.row(row)?;
        let is_asked = |key: usize| accepted.get(key) == Some(&true);
        if alone.any() {
            let positions = row.positions().filter(|&(square, _)| alone.0 >> square & 1 != 0);
            let of = |(square, index)| (keys.at(square, index), index);
            for (key, index) in positions.map(of).filter(|&(key, _)| is_asked(key)) {
                // Entries in memory are no errors.
                let candidate = self.number(key).map(|raw| self.candidate(index, raw));
                found.candidates.extend(candidate.and_then(|found| found.ok().flatten()));
            }
        }

        if let Some(of) = lister.query.zugzwang {
            let found = &mut found.candidates;
            return self.look_for_zugzwangs(asked, of, found, (row, &keys, lanes));
        }
        let (taken, counted) = self.by_moves(asked, (row, &keys, lanes))?;
        let counts = found.counts.get_mut(row.turn).as_mut_slice();
        for (square, index) in row.positions() {
            let key = keys.at(square, index);
            if taken.0 >> square & 1 == 0 || !is_asked(key) {
                continue;
            }
            if let Some(count) = counts.get_mut(key).filter(|_| counted.0 >> square & 1 != 0) {
                *count += 1;
            } else {
                let raw = self.number(key);
                found.candidates.extend(raw.map(|raw| Candidate { index, raw, zugzwang: None }));
            }
        }
        Ok(())
    }

    /// The squares of a row's man with which positions are not left out for their moves, and those
    /// of them with which they need not be looked at by themselves.
    fn by_moves(
        &self,
        asked: &RowQuery<'_>,
        (row, keys, lanes): (&EntryRow<'_>, &RowKeys<'_>, Bitboard),
    ) -> Result<(Bitboard, Bitboard), TableError> {
        let is_plain = asked.compares && row.en_passant.is_none();
        let Some(kept) = self.kept.as_ref().filter(|_| is_plain) else {
            let undecided = asked.compares && self.lister.compares_moves();
            return Ok((lanes, if undecided { Bitboard::EMPTY } else { lanes }));
        };
        if !self.lister.query.only_move {
            let [of_line, of_none] = kept.seen.known(row.positions());
            return Ok((lanes & !of_none, of_line));
        }
        let accepted = asked.accepted.get(row.turn).as_slice();
        let is_asked = |key: usize| accepted.get(key) == Some(&true);
        let own = kept.to_keep((row, keys, lanes), is_asked);
        let tables = KeptTables { values: kept, entries: &asked.rows.entries, exits: &self.exits };
        let moves = KeepingMoves::count(tables, row.place(), &own)?;
        Ok((moves.only | moves.open, moves.only))
    }

    /// The squares of a row's man with which the pattern is there, if there is one.
    fn fitting(&self, row: &EntryRow<'_>, lanes: Bitboard) -> Bitboard {
        let images = &self.lister.images;
        if lanes.is_empty() || images.iter().any(|(_, pattern)| pattern.is_none()) {
            return lanes;
        }
        let (pieces, squares) = (self.lister.table().pieces(), row.squares.as_slice());
        let patterns = images.iter().filter_map(|(_, pattern)| pattern.as_ref());
        let fit = |pattern: &Pattern| pattern.lanes(pieces, squares, Some(row.lane), lanes.0);
        Bitboard(patterns.map(fit).fold(0, |all, set| all | set))
    }

    /// Looks at a row and at the same one with the other side to move.
    fn look_for_zugzwangs(
        &self,
        asked: &RowQuery<'_>,
        of: ZugzwangOf,
        found: &mut Vec<Candidate>,
        (row, keys, lanes): (&EntryRow<'_>, &RowKeys<'_>, Bitboard),
    ) -> Result<(), TableError> {
        let rows = asked.rows;
        let turn = row.turn;
        let other = RowPlace { turn: turn.other(), ..row.place() };
        let accepted = asked.accepted.get(turn).as_slice();
        let (moved, passed) = (&rows.worth.get(turn).0, &rows.worth.get(turn.other()).1);
        let own = |square, index| {
            let key = keys.at(square, index);
            let own = moved.get(key).copied().filter(|&own| own < NEVER)?;
            (accepted.get(key) == Some(&true)).then_some((key, own))
        };

        let mut asking = lanes & self.lister.orbits.legal(&other);
        let has_side_bit = self.lister.table().space().has_side_bit();
        if !has_side_bit && asking.any() {
            // The entries of the other side are somewhere else.
            let may_be = |&(square, index): &(u8, u64)| {
                own(square, index).is_some_and(|(_, own)| own < rows.best_pass)
            };
            let some = row.positions().filter(may_be).fold(0, |set, (s, _)| set | 1_u64 << s);
            asking &= Bitboard(some);
        }
        if asking.is_empty() {
            return Ok(());
        }

        let others = rows.entries.keys_at(&other, asking)?;
        for (square, index) in row.positions().filter(|&(s, _)| asking.0 >> s & 1 != 0) {
            let other_key = usize::from(others[usize::from(square & 63)]);
            let is_worse = |own: i32| passed.get(other_key).is_some_and(|&other| own < other);
            let Some((key, _)) = own(square, index).filter(|&(_, own)| is_worse(own)) else {
                continue;
            };
            let (raw, other) = (self.number(key), self.number(other_key));
            if has_side_bit {
                let zugzwang = self.kind(of, raw, other, turn).zip(other);
                found.extend(raw.map(|raw| Candidate { index, raw, zugzwang }));
            } else {
                // Entries in memory are no errors.
                found.extend(raw.and_then(|raw| self.candidate(index, raw).ok().flatten()));
            }
        }
        Ok(())
    }

    /// The rules.
    pub(super) fn variant(&self) -> Variant {
        self.lister.table().variant()
    }

    /// The tables behind moves.
    pub(super) fn collection(&self) -> &Collection {
        self.lister.collection
    }

    /// The index of a position that the table has, and who is to move there.
    pub(super) fn held_index(&self, position: &Position) -> Option<(u64, Color)> {
        let member = self.lister.collection.given().first()?;
        let men = position.material();
        let inverted = men != *member.material();
        if inverted && (men.swapped() != *member.material() || !member.is_own_image()) {
            return None;
        }
        member.find(position, position.en_passant, inverted)
    }

    /// What the table, or one behind it, says of a position, if its entries are held.
    pub(super) fn held_value(&self, position: &Position) -> Option<EntryValue> {
        let entries = &self.rows.as_ref()?.entries;
        match self.held_index(position) {
            Some((index, turn)) => self.value(entries.entry(index).ok(), turn),
            None => self.exits.value(position),
        }
    }

    fn number(&self, key: usize) -> Option<RawEntry> {
        HeldEntries::number(self.lister.table().codec(), key)
    }

    fn value(&self, raw: Option<RawEntry>, turn: Color) -> Option<EntryValue> {
        self.lister.table().codec().value(raw?, turn)
    }

    /// What a zugzwang costs; none if it is none.
    fn kind(
        &self,
        of: ZugzwangOf,
        own: Option<RawEntry>,
        other: Option<RawEntry>,
        turn: Color,
    ) -> Option<ZugzwangKind> {
        let (own, other) = (self.value(own, turn), self.value(other, turn.other()));
        if moved(of, own) >= passed(of, other) {
            return None;
        }
        Some(kind_of(own?, other?, turn))
    }

    /// A position by itself, if it is one that is asked for.
    fn candidate(&self, index: u64, raw: RawEntry) -> Result<Option<Candidate>, ListError> {
        let lister = self.lister;
        let Some(placement) = lister.table().space().decode(index) else { return Ok(None) };
        if !*lister.turns.get(placement.turn) || lister.orbits.representative(&placement).is_none()
        {
            return Ok(None);
        }
        let Some(image) = self.shown_as(&placement, raw) else { return Ok(None) };
        // That of another index may have to be read.
        let other = match lister.query.zugzwang {
            Some(_) => self.other(&placement)?,
            None => None,
        };
        Ok(self.candidate_of((&placement, image), (index, raw), other))
    }

    /// How a position is shown, if its entry and its men are those that are asked for.
    fn shown_as(&self, placement: &Placement, raw: RawEntry) -> Option<Image> {
        let is_accepted = self.lister.accepts(self.value(Some(raw), placement.turn));
        if is_accepted { self.lister.image(placement) } else { None }
    }

    /// A position that stands for its orbit; of zugzwangs with the entry of the other side to move,
    /// if that is a position, and only if it is one.
    fn candidate_of(
        &self,
        (placement, image): (&Placement, Image),
        (index, raw): (u64, RawEntry),
        other: Option<RawEntry>,
    ) -> Option<Candidate> {
        let (lister, turn) = (self.lister, placement.turn);
        let Some(of) = lister.query.zugzwang else {
            return Some(Candidate { index, raw, zugzwang: None });
        };
        let other = other?;
        let kind = self.kind(of, Some(raw), Some(other), turn)?;

        // With the colours exchanged it is the same position, which is there once.
        let is_twice = of == ZugzwangOf::Mutual
            && lister.query.pattern.is_none()
            && !lister.table().space().has_side_bit();
        let with_other = Placement { turn: turn.other(), ..placement.clone() };
        let first = match image.kind(kind) {
            ZugzwangKind::LossDraw => false,
            ZugzwangKind::DrawLoss => true,
            _ => self.least_index(placement) <= self.least_index(&with_other),
        };
        let zugzwang = Some((image.kind(kind), other));
        (first || !is_twice).then_some(Candidate { index, raw, zugzwang })
    }

    /// The least index of an orbit.
    fn least_index(&self, placement: &Placement) -> Option<u64> {
        let space = self.lister.table().space();
        let images = self.lister.orbits.symmetries().map(|image| placement.transformed(image));
        images.filter_map(|image| space.encode(&image)).min()
    }

    /// The entry with the other side to move; none if that is no position.
    fn other(&self, placement: &Placement) -> Result<Option<RawEntry>, ListError> {
        let table = self.lister.table();
        let other = Placement { turn: placement.turn.other(), ..placement.clone() };
        if placement.en_passant.is_some() || self.lister.orbits.representative(&other).is_none() {
            return Ok(None);
        }
        let Some(index) = table.space().encode(&other) else { return Ok(None) };
        let raw = match &self.rows {
            Some(rows) => rows.entries.entry(index),
            None => table.entry(index),
        };
        raw.map(Some).map_err(fail)
    }

    fn run_by_index(&self, gathering: Gathering, sink: &mut Sink<'_>) -> Result<(), ListError> {
        let table = self.lister.table();
        let size = table.space().size();
        let chunk = CHUNK.max(table.together().saturating_mul(4).min(CHUNK << 5)) & !7;
        let mut numbers: Vec<i32> = Vec::new();
        let mut fresh = 0;
        for start in (0..size).step_by(chunk as usize) {
            numbers.clear();
            numbers.resize(chunk.min(size - start) as usize, 0);
            table.read_entries(start, &mut numbers).map_err(fail)?;
            self.work.add(&mut fresh, numbers.len() as u64);
            let blocks = numbers.par_chunks(BLOCK).enumerate().map(|(block, numbers)| {
                let first = start + (block * BLOCK) as u64;
                let entries = (first..).zip(numbers.iter().map(|&raw| RawEntry(raw)));
                let wanted = entries.filter(|&(_, raw)| self.is_gathered(gathering, raw));
                let found = wanted.map(|(index, raw)| self.candidate(index, raw));
                found.filter_map(Result::transpose).collect()
            });
            for candidates in blocks.collect::<Result<Vec<Vec<Candidate>>, ListError>>()? {
                if sink(Findings { candidates, ..Findings::default() })?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Plies to the end that an entry tells; 0 if it tells none.
    pub(super) fn plies(&self, raw: RawEntry) -> u32 {
        plies_of(self.lister.table(), raw).unwrap_or(0)
    }

    /// How many positions of what was found have their end how many plies away.
    pub(super) fn lengths(&self, found: &Findings, lengths: &mut BTreeMap<u32, u64>) {
        let single = found.candidates.iter().map(|candidate| (candidate.raw, 1));
        let counted =
            found.counts.white.iter().enumerate().chain(found.counts.black.iter().enumerate());
        let counted = counted.filter(|(_, count)| **count > 0);
        let counted = counted.filter_map(|(key, &count)| Some((self.number(key)?, count)));
        for (raw, count) in single.chain(counted) {
            *lengths.entry(self.plies(raw)).or_default() += count;
        }
    }
}

/// Plies to the end that an entry of a table tells.
pub(super) fn plies_of(table: &Table, raw: RawEntry) -> Option<u32> {
    // What a distance is does not depend on who is to move.
    let value = table.codec().value(raw, Color::White).and_then(Table::exact);
    value.and_then(hoffman_board::Value::plies).map(i32::unsigned_abs)
}
