//! The positions of a table that somebody asks for: zugzwangs, only moves, longest wins, men on
//! squares.
//!
//! Positions stand for their orbits, see [`crate::orbits`], and are gone through by rows where the
//! table has them: what an entry, or the entries for both sides to move, decides is decided for
//! 64 positions at a time ([`candidates`]), and so are most moves ([`keepers`], [`kept`],
//! [`kept_row`]), with the tables behind them ([`exits`]), and lines ([`candidate_lines`]). What is
//! left is asked of the moves of single positions ([`successors`]). The order of the list does not
//! depend on the number of threads.

mod candidate_lines;
mod candidates;
mod exits;
mod keepers;
mod kept;
mod kept_row;
mod listed;
mod pattern;
mod seen;
mod successors;
mod work;
mod zugzwang;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use hoffman_board::{ByColor, Color, Format, Placement, Value, Variant, role_name};
use hoffman_table::{EntryValue, SharedValues, Table, TableError};
use rayon::prelude::*;

use crate::collection::{Collection, CollectionError};
use crate::lines::Known;
use crate::lookup::Hit;
use crate::orbits::Orbits;
use crate::position::{Position, color_name};

pub use listed::ListedPosition;
pub use pattern::{Pattern, PatternError, squares_of};
pub use zugzwang::{Zugzwang, ZugzwangKind};

use candidates::{Candidate, Gathering, Scan};
use exits::FoundExit;
use kept::ReadValues;
use pattern::Image;
use work::{ListWork, WITH_MOVES};

/// What is asked for. What is left out is not looked at; all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Positions in which having to move is a disadvantage.
    pub zugzwang: Option<ZugzwangOf>,
    /// Whether exactly one move keeps the result, of a win or a draw, and another move does not.
    pub only_move: bool,
    /// Whether the winner never has a choice.
    pub unique_line: Option<UniqueLine>,
    /// The result for the side to move, by what the table says.
    pub result: Option<WantedResult>,
    /// The side to move.
    pub to_move: Option<Color>,
    /// Moves of the winner to the mate, or to the conversion.
    pub distance: Option<RangeInclusive<u16>>,
    /// Men on squares.
    pub pattern: Option<Pattern>,
    /// Only so many positions, those in which the end is farthest away, the longest first.
    pub longest: Option<usize>,
}

/// Whose disadvantage it is to have to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZugzwangOf {
    /// The result is worse for whoever is to move.
    Mutual,
    /// This side is to move and would do better if it could pass, a pass being a move: a better
    /// result, or the same with a quicker win or a later loss.
    Side(Color),
}

/// How a line of best play has no second solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniqueLine {
    /// Every move of the winner is the only one that wins.
    Winning,
    /// Every move of the winner is the only one that wins soonest.
    Fastest,
}

/// A result for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedResult {
    /// It wins.
    Win,
    /// Nobody wins.
    Draw,
    /// It loses.
    Loss,
}

/// How many positions a list has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    /// All of them.
    pub positions: u64,
    /// Of zugzwangs, how many are of which kind.
    pub kinds: BTreeMap<ZugzwangKind, u64>,
}

impl ListCounts {
    fn add(&mut self, kind: Option<ZugzwangKind>) {
        self.positions += 1;
        if let Some(kind) = kind {
            *self.kinds.entry(kind).or_default() += 1;
        }
    }
}

/// Why there is no list.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A table cannot be read.
    #[error(transparent)]
    Tables(#[from] CollectionError),
    /// The table does not tell what is asked for.
    #[error("{table}: {reason}")]
    Untold {
        /// The file.
        table: String,
        /// A sentence.
        reason: String,
    },
    /// The question contradicts itself.
    #[error("{0}")]
    Question(&'static str),
    /// Moves lead to a table that is not there.
    #[error("{table} is needed to compare the moves, and there is no such table")]
    Missing {
        /// Its file.
        table: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Stopped,
}

/// What is told every position of a list; the list ends where it says so.
pub type Listener<'l> = dyn FnMut(ListedPosition) -> ControlFlow<()> + 'l;

/// How a list is made.
pub struct ListPlan<'o> {
    /// Entries are held in memory if they take at most so many bytes as they are packed; else they
    /// are read piece by piece, which takes longer.
    pub memory: u64,
    /// Values of tables that others lean on, if they are kept for several.
    pub shared: Option<&'o SharedValues>,
    /// Is told how much of how much work is done, by any thread, a few times a second or oftener.
    pub progress: Option<&'o (dyn Fn(u64, u64) + Sync)>,
    /// Whether to end.
    pub stop: &'o (dyn Fn() -> bool + Sync),
}

/// Tells `each` the positions of the first of the given tables that are asked for, on the threads
/// of the current pool; without it they are only counted.
///
/// # Errors
/// A table cannot be read or is missing, or the table does not tell what is asked for.
pub fn list(
    collection: &Collection,
    query: &ListQuery,
    options: &ListPlan<'_>,
    each: Option<&mut Listener<'_>>,
) -> Result<ListCounts, ListError> {
    let Some(member) = collection.given().first() else {
        return Err(ListError::Question("no table is named"));
    };
    let lister = Lister::new(collection, member.table(), query)?;
    let exits = if lister.compares_moves() { FoundExit::all(&lister) } else { Vec::new() };
    let values = ReadValues::default();
    let work = ListWork::new(options);
    let looks = if query.only_move { WITH_MOVES } else { 1 };
    let looks = looks + u64::from(query.longest.is_some());
    work.expect(looks.saturating_mul(member.table().space().size()));
    let mut scan = Scan::new((&lister, &work), options.memory)?;
    scan.compare_moves((&values, &exits), options)?;
    if let Some(shared) = options.shared {
        // Nothing is read any more that leans on what nobody else holds.
        shared.make_room(u64::MAX);
    }
    let counts = ListCounts::default();
    let mut output = ListOutput { lister: &lister, scan: &scan, each, work: &work, counts };
    match query.longest {
        Some(most) => output.longest(most)?,
        None => output.all()?,
    }
    Ok(output.counts)
}

/// A question to a table.
struct Lister<'a> {
    collection: &'a Collection,
    orbits: Orbits<'a>,
    query: &'a ListQuery,
    /// How positions may be turned to be shown, the first that fits counts; with the pattern as
    /// the table's positions have to fit it.
    images: Vec<(Image, Option<Pattern>)>,
    /// The sides to move in the table that are looked at.
    turns: ByColor<bool>,
}

impl<'a> Lister<'a> {
    fn new(
        collection: &'a Collection,
        table: &'a Table,
        query: &'a ListQuery,
    ) -> Result<Lister<'a>, ListError> {
        check(table, query)?;
        let orbits = Orbits::new(table);
        let both = table.space().has_side_bit();
        let shown = shown_turn(query);
        let (turns, swaps): (ByColor<bool>, &[bool]) = match shown {
            Some(turn) if both => (ByColor::new_with(|color| color == turn), &[false]),
            None if both => (ByColor::new_with(|_| true), &[false]),
            Some(Color::Black) => (ByColor { white: true, black: false }, &[true]),
            Some(Color::White) => (ByColor { white: true, black: false }, &[false]),
            // With the colours exchanged it is the same position, unless squares are asked for.
            None if query.pattern.is_none() => (ByColor { white: true, black: false }, &[false]),
            None => (ByColor { white: true, black: false }, &[false, true]),
        };
        let images = images(&orbits, query.pattern.as_ref(), swaps)
            .map_err(|reason| untold(table, reason))?;
        Ok(Lister { collection, orbits, query, images, turns })
    }

    fn table(&self) -> &'a Table {
        self.orbits.table()
    }

    /// Whether the moves of positions have to be looked at.
    fn compares_moves(&self) -> bool {
        self.query.only_move || self.query.unique_line.is_some()
    }

    /// Whether the entry of a position with that side to move is one that is asked for.
    fn accepts(&self, value: Option<EntryValue>) -> bool {
        let Some(value) = value else { return false };
        let exact = Table::exact(value);
        let won = matches!(value, EntryValue::Win | EntryValue::Exact(Value::Win(_)));
        let lost = matches!(value, EntryValue::Loss | EntryValue::Exact(Value::Loss(_)));
        let drawn = exact == Some(Value::Draw);
        if matches!(value, EntryValue::Illegal | EntryValue::Exact(Value::Illegal)) {
            return false;
        }

        let query = self.query;
        let result = query.result.is_none_or(|wanted| match wanted {
            WantedResult::Win => won,
            WantedResult::Draw => drawn,
            WantedResult::Loss => lost,
        });
        let moves = match exact {
            Some(Value::Win(moves) | Value::Loss(moves)) => Some(moves),
            _ => None,
        };
        let distance = query.distance.as_ref();
        result
            && distance.is_none_or(|range| moves.is_some_and(|moves| range.contains(&moves)))
            && (query.longest.is_none() || moves.is_some())
            && (!query.only_move || won || drawn)
            && (query.unique_line.is_none() || won || lost)
    }

    /// How a position of the table is shown; none if the pattern is not there.
    fn image(&self, placement: &Placement) -> Option<Image> {
        let squares: Vec<u8> = placement.squares.iter().map(|&s| s as u8).collect();
        let pieces = self.table().pieces();
        let fits = |(_, pattern): &&(Image, Option<Pattern>)| {
            let lanes = |pattern: &Pattern| pattern.lanes(pieces, &squares, None, u64::MAX);
            pattern.as_ref().is_none_or(|pattern| lanes(pattern) != 0)
        };
        self.images.iter().find(fits).map(|(image, _)| *image)
    }

    /// The position as it is shown.
    fn position(&self, placement: &Placement, image: Image) -> Position {
        let men = self.table().pieces().iter().zip(&placement.squares);
        let men = men.map(|(p, &square)| (image.square(square), image.color(p.color), p.role));
        let en_passant = placement.en_passant.map(|square| image.square(square));
        Position::from_men(men, image.color(placement.turn), en_passant)
    }

    /// What the table says of a position.
    fn known(&self, position: &Position, value: EntryValue, image: Image) -> Option<Known> {
        let member = self.collection.given().first()?;
        let claims = self.collection.claims_of(member);
        let claims = if image.swapped { claims.swapped() } else { claims };
        let hit = Hit {
            member: Arc::clone(member),
            index: 0,
            inverted: image.swapped,
            turn: position.turn,
            value,
            claims,
        };
        Some(Known::of(position, self.table().variant(), Some(hit)))
    }
}

/// The side to move in the positions shown, if it is not either.
fn shown_turn(query: &ListQuery) -> Option<Color> {
    match query.zugzwang {
        Some(ZugzwangOf::Side(color)) => Some(color),
        // Both are the same list.
        Some(ZugzwangOf::Mutual) => Some(query.to_move.unwrap_or(Color::White)),
        None => query.to_move,
    }
}

fn images(
    orbits: &Orbits<'_>,
    pattern: Option<&Pattern>,
    swaps: &[bool],
) -> Result<Vec<(Image, Option<Pattern>)>, String> {
    let Some(pattern) = pattern else {
        let swapped = swaps.first() == Some(&true);
        return Ok(vec![(Image { swapped, ..Image::PLAIN }, None)]);
    };
    let mut images = Vec::new();
    let mut surplus = None;
    for &swapped in swaps {
        match pattern.surplus(orbits.table().pieces(), swapped) {
            Some(man) => surplus = Some(man),
            None => images.extend(orbits.symmetries().map(|symmetry| {
                let image = Image { symmetry, swapped };
                (image, Some(pattern.seen_from_table(image)))
            })),
        }
    }
    match surplus {
        Some((color, role)) if images.is_empty() => Err(format!(
            "the pattern has a {} {} more than the table",
            color_name(color).to_lowercase(),
            role_name(role)
        )),
        _ => Ok(images),
    }
}

fn untold(table: &Table, reason: impl Into<String>) -> ListError {
    ListError::Untold { table: table.path().display().to_string(), reason: reason.into() }
}

/// Refuses what the table does not tell, and questions that contradict themselves.
fn check(table: &Table, query: &ListQuery) -> Result<(), ListError> {
    let format = table.codec().format();
    let distances = query.distance.is_some() || query.longest.is_some();
    if distances && !format.has_distance() {
        return Err(untold(table, "it has no distances"));
    }
    if query.unique_line.is_some() && !matches!(format, Format::Dtm(_)) {
        return Err(untold(table, "a line needs distances to mate, which it has not"));
    }
    if query.zugzwang.is_some() && table.variant() == Variant::Suicide {
        return Err(untold(table, "zugzwangs are looked for in normal chess only"));
    }
    if let (Some(ZugzwangOf::Side(color)), Some(turn)) = (query.zugzwang, query.to_move)
        && color != turn
    {
        return Err(ListError::Question("the side in zugzwang is the one to move"));
    }
    if query.distance.as_ref().is_some_and(RangeInclusive::is_empty) {
        return Err(ListError::Question("the range of distances is empty"));
    }
    Ok(())
}

/// A table cannot be read.
fn fail(error: TableError) -> ListError {
    ListError::Tables(error.into())
}

/// How many candidates are looked at together.
const TOGETHER: usize = 1 << 12;

/// Where the positions go.
struct ListOutput<'a, 'l> {
    lister: &'a Lister<'a>,
    scan: &'a Scan<'a>,
    each: Option<&'a mut Listener<'l>>,
    work: &'a ListWork<'a>,
    counts: ListCounts,
}

impl ListOutput<'_, '_> {
    /// All positions, as they come.
    fn all(&mut self) -> Result<(), ListError> {
        let scan = self.scan;
        if self.each.is_none() && !self.lister.compares_moves() {
            return scan.run(Gathering::Counts, &mut |found| {
                let kinds = found.candidates.iter().filter_map(Candidate::kind);
                for kind in kinds {
                    *self.counts.kinds.entry(kind).or_default() += 1;
                }
                self.counts.positions += found.counted() + found.candidates.len() as u64;
                self.go_on()
            });
        }
        let gathering = if self.each.is_none() { Gathering::Compared } else { Gathering::All };
        scan.run(gathering, &mut |found| {
            self.counts.positions += found.counted();
            Ok(self.take(&found.candidates, usize::MAX)?.1)
        })
    }

    /// The longest ones: as many lengths at a time, from the longest on, as may be enough.
    fn longest(&mut self, most: usize) -> Result<(), ListError> {
        let scan = self.scan;
        let mut lengths = BTreeMap::new();
        scan.run(Gathering::Counts, &mut |found| {
            scan.lengths(&found, &mut lengths);
            self.go_on()
        })?;

        let (mut left, mut together) = (most, most);
        while left > 0 && !lengths.is_empty() {
            let (least, greatest) = longest_of(&mut lengths, together as u64);
            let mut candidates: Vec<Candidate> = Vec::new();
            scan.run(Gathering::Lengths(least, greatest), &mut |found| {
                candidates.extend(found.candidates);
                self.go_on()
            })?;
            candidates.sort_by_key(|candidate| Reverse(scan.plies(candidate.raw)));
            let (taken, flow) = self.take(&candidates, left)?;
            if flow.is_break() {
                return Ok(());
            }
            left -= taken;
            together = together.saturating_mul(4);
        }
        Ok(())
    }

    fn go_on(&self) -> Result<ControlFlow<()>, ListError> {
        self.work.go_on()
    }

    /// Tells those candidates that are what is asked for, at most so many. How many they were.
    fn take(
        &mut self,
        candidates: &[Candidate],
        most: usize,
    ) -> Result<(usize, ControlFlow<()>), ListError> {
        let mut taken = 0;
        if self.each.is_none() && !self.lister.compares_moves() {
            for candidate in candidates.iter().take(most) {
                self.counts.add(candidate.kind());
            }
            taken = candidates.len().min(most);
            return Ok((taken, self.go_on()?));
        }
        for some in candidates.chunks(TOGETHER) {
            let _ = self.go_on()?;
            let (scan, shown) = (self.scan, self.each.is_some());
            let listed = some.par_iter().map(|candidate| scan.listed(candidate, shown));
            for listed in listed.collect::<Result<Vec<Option<ListedPosition>>, ListError>>()? {
                let Some(listed) = listed.filter(|_| taken < most) else { continue };
                taken += 1;
                self.counts.add(listed.zugzwang.as_ref().map(|zugzwang| zugzwang.kind));
                if self.each.as_mut().is_some_and(|each| each(listed).is_break()) {
                    return Ok((taken, ControlFlow::Break(())));
                }
            }
            if taken == most {
                break;
            }
        }
        Ok((taken, ControlFlow::Continue(())))
    }
}

/// Takes lengths off the end until there are so many positions of them: the least and the greatest.
fn longest_of(lengths: &mut BTreeMap<u32, u64>, positions: u64) -> (u32, u32) {
    let (mut from, mut sum) = (u32::MAX, 0);
    let longest = lengths.last_key_value().map_or(0, |(&plies, _)| plies);
    while sum < positions
        && let Some((plies, count)) = lengths.pop_last()
    {
        from = plies;
        sum += count;
    }
    (from, longest)
}
