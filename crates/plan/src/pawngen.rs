//! Pawn structures of a `pawngen` element: all arrangements that arise from a start, in their order.
//!
//! Captures, promotions and steps are taken in any order, whoever is to move and whatever other men
//! there are. Two counters a side limit them: promotions that must still happen and captures of pieces
//! that may still happen. What can arise depends on placement and counters together, so both are
//! remembered; of several ways to one placement those that leave more captures stand for the others.
//!
//! The order is that of the files, where the number of an arrangement is part of an index. Steps lead to
//! smaller numbers, so that a table can be cut in two. The h-file is not counted in the order, as it never
//! was; steps of an h-pawn can therefore lead to larger numbers, see [`step_upwards`].

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Range;

use hoffman_board::{Bitboard, Color, Square};
use hoffman_control::{PawnMasks, PawngenElement};
use hoffman_space::PawnStructure;

/// More placements than this are not looked at: a gigabyte of memory and seven seconds.
const MAX_PLACEMENTS: usize = 10_000_000;

/// The memory that a placement takes at most while arrangements are searched, in bytes: the tables of the
/// search grow by doubling.
const PLACEMENT: u64 = 200;

/// One arrangement of the pawns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrangement {
    /// Where the pawns stand.
    pub pawns: PawnStructure,
    /// The square jumped over by a pawn that has just made a double step, if an enemy pawn stands beside.
    pub en_passant: Option<Square>,
}

/// Why a `pawngen` element cannot be worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PawngenError {
    /// The element is the input of an expansion: it does not say how many pawns the table has.
    #[error(
        "the number of pawns is open; expand the file with 'hoffman pawngen', or write white-pawns-required and black-pawns-required"
    )]
    Open,
    /// Nothing satisfies the element.
    #[error("no pawn position satisfies the element")]
    Empty,
    /// `start` and `count` ask for more than there is.
    #[error("start {start} and count {count} exceed the {arrangements} pawn positions there are")]
    Cut {
        /// The first number asked for.
        start: u64,
        /// How many are asked for, 0 for all.
        count: u64,
        /// How many there are.
        arrangements: u64,
    },
    /// The start has too many pawns that can go too many ways.
    #[error("the pawns can reach more than {0} positions, for which there is no room in memory")]
    TooMany(usize),
}

/// The arrangements of a table in the order of their numbers, cut to `start` and `count`.
///
/// # Errors
///
/// The element leaves the number of pawns open, admits nothing or too much, or the cut is beyond the end.
pub fn arrangements(spec: &PawngenElement) -> Result<Vec<Arrangement>, PawngenError> {
    let mut all = all_arrangements(spec)?;
    let cut = cut(spec, all.len())?;
    all.truncate(cut.end);
    Ok(all.split_off(cut.start))
}

/// Which of so many arrangements `start` and `count` leave.
///
/// # Errors
///
/// The cut is beyond the end.
pub fn cut(spec: &PawngenElement, arrangements: usize) -> Result<Range<usize>, PawngenError> {
    let PawngenElement { start, count, .. } = *spec;
    let arrangements = arrangements as u64;
    let end = if count == 0 { Some(arrangements) } else { start.checked_add(count) };
    match end.filter(|&end| start < end && end <= arrangements) {
        // Both are at most a length, so they fit.
        Some(end) => Ok(start as usize..end as usize),
        None => Err(PawngenError::Cut { start, count, arrangements }),
    }
}

/// The arrangements without the cut, as they are stored in the file of a table.
///
/// # Errors
///
/// The element leaves the number of pawns open, or admits nothing or too much.
pub fn all_arrangements(spec: &PawngenElement) -> Result<Vec<Arrangement>, PawngenError> {
    all_arrangements_within(spec, u64::MAX)
}

/// The same in so many bytes of memory.
///
/// # Errors
///
/// As there.
pub fn all_arrangements_within(
    spec: &PawngenElement,
    memory: u64,
) -> Result<Vec<Arrangement>, PawngenError> {
    let most = usize::try_from(memory / PLACEMENT).unwrap_or(MAX_PLACEMENTS);
    let mut search = Search::new(spec, most.min(MAX_PLACEMENTS))?;
    search.run()?;
    let mut found = search.found;
    if found.is_empty() {
        return Err(PawngenError::Empty);
    }
    found.sort_by_cached_key(order_key);
    found.dedup();
    Ok(found)
}

/// All squares on which pawns stand in some arrangement.
pub fn masks(arrangements: &[Arrangement]) -> PawnMasks {
    let mut all = PawnStructure::default();
    for arrangement in arrangements {
        all.white |= arrangement.pawns.white;
        all.black |= arrangement.pawns.black;
    }
    PawnMasks { white: Bitboard(all.white), black: Bitboard(all.black) }
}

/// A pawn step from an arrangement below number `at` to `at` or above, as a pair of numbers. None if the
/// part from `at` on can be solved after the part below it.
///
/// `all` is the result of [`all_arrangements`].
pub fn step_upwards(all: &[Arrangement], at: usize) -> Option<(usize, usize)> {
    let upper: HashMap<Arrangement, usize> =
        all.iter().copied().enumerate().skip(at).map(|(number, a)| (a, number)).collect();
    all.iter().take(at).enumerate().find_map(|(from, arrangement)| {
        let to = steps(arrangement.pawns).into_iter().find_map(|a| upper.get(&a).copied())?;
        Some((from, to))
    })
}

/// A key by which arrangements are sorted. Pawns far advanced come first.
fn order_key(arrangement: &Arrangement) -> ([u8; 12], u64, u64, u32) {
    /// Files a to g: the h-file never counted.
    const COUNTED: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let PawnStructure { white, black } = arrangement.pawns;
    let mut ranks = [0; 12];
    for (i, count) in ranks.iter_mut().enumerate() {
        let (pawns, rank) = if i < 6 { (white, i + 1) } else { (black, 12 - i) };
        *count = (pawns & COUNTED & 0xff << (8 * rank)).count_ones() as u8;
    }
    (ranks, white, black, arrangement.en_passant.map_or(255, u32::from))
}

/// The squares beside a set on the same rank.
const fn beside(set: u64) -> u64 {
    (set & !0x0101_0101_0101_0101) >> 1 | (set & !0x8080_8080_8080_8080) << 1
}

/// One rank ahead.
fn ahead(color: Color, set: u64) -> u64 {
    color.fold_wb(set << 8, set >> 8)
}

/// The seventh rank of a colour, from which pawns promote.
fn last_rank(color: Color) -> u64 {
    color.fold_wb(0x00ff_0000_0000_0000, 0xff00)
}

/// The single squares of a set.
fn singles(set: u64) -> impl Iterator<Item = u64> {
    Bitboard(set).into_iter().map(|square| 1 << u32::from(square))
}

/// The placement with a pawn moved.
fn moved(mut pawns: PawnStructure, color: Color, from: u64, to: u64) -> PawnStructure {
    *pawns.of_mut(color) ^= from | to;
    pawns
}

/// The arrangement after a double step of a pawn on `from`, if it can make one that an enemy pawn beside
/// the destination could answer en passant.
fn double_step(pawns: PawnStructure, color: Color, from: u64) -> Option<Arrangement> {
    let jumped = ahead(color, from);
    let to = ahead(color, jumped);
    let possible = from & color.fold_wb(0xff00, 0x00ff_0000_0000_0000) != 0
        && pawns.occupied() & (jumped | to) == 0
        && beside(to) & pawns.of(color.other()) != 0;
    possible.then(|| Arrangement {
        pawns: moved(pawns, color, from, to),
        en_passant: Bitboard(jumped).first(),
    })
}

/// The arrangements one pawn step away, with the number of pawns as it is. A double step without an enemy
/// pawn beside its end is left out: it ends where two single steps do.
fn steps(pawns: PawnStructure) -> Vec<Arrangement> {
    let mut found = Vec::new();
    for color in Color::ALL {
        for from in singles(pawns.of(color) & !last_rank(color)) {
            let to = ahead(color, from);
            if to & pawns.occupied() == 0 {
                let pawns = moved(pawns, color, from, to);
                found.push(Arrangement { pawns, en_passant: None });
            }
            found.extend(double_step(pawns, color, from));
        }
    }
    found
}

/// A placement with what happens to be open: the promotions that must still happen a side.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    pawns: PawnStructure,
    promotions: [u8; 2],
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.pawns.white);
        state.write_u64(self.pawns.black);
        state.write_u16(u16::from_le_bytes(self.promotions));
    }
}

/// Multiplies words and folds the product. Places come from no stranger who would look for collisions,
/// and most of the time of a search goes into finding them.
#[derive(Clone, Copy, Default)]
struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        /// The digits of pi, odd.
        const FACTOR: u64 = 0x2438_6a88_85a3_08d3;
        let product = u128::from(self.0.rotate_left(29) ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

/// Captures left on a way to a placement, and where those of another way to it are.
#[derive(Clone, Copy)]
struct Known {
    captures: Captures,
    /// A number in the list, [`NO_OTHER`] if there is no other way.
    next: u32,
}

/// Ends a chain of [`Known`].
const NO_OTHER: u32 = u32::MAX;

/// How many captures of pieces each side's pawns can still make.
type Captures = [u8; 2];

/// The number of a colour in arrays.
fn slot(color: Color) -> usize {
    usize::from(color.is_black())
}

/// How many placements steps and losses of pawns alone lead to, of which `lives` takes the pawns left of each
/// colour: a search looks at so many at least. Without captures each file goes its own way.
fn least_placements(start: PawnStructure, lives: impl Fn(Color, u32) -> bool) -> u64 {
    // By the numbers of White's and Black's pawns that are left.
    let mut ways: HashMap<[u32; 2], u64> = HashMap::from([([0, 0], 1)]);
    for file in 0..8 {
        let mask = 0x0101_0101_0101_0101 << file;
        let pawns = PawnStructure { white: start.white & mask, black: start.black & mask };
        let mut seen = BTreeSet::from([(pawns.white, pawns.black)]);
        let mut open = vec![pawns];
        while let Some(pawns) = open.pop() {
            for color in Color::ALL {
                for from in singles(pawns.of(color)) {
                    let to = ahead(color, from & !last_rank(color)) & !pawns.occupied();
                    for to in [0, to] {
                        let next = moved(pawns, color, from, to);
                        if seen.insert((next.white, next.black)) {
                            open.push(next);
                        }
                    }
                }
            }
        }
        let mut more: HashMap<[u32; 2], u64> = HashMap::new();
        for (&[white, black], &known) in &ways {
            for &(own, enemy) in &seen {
                let left = [white + own.count_ones(), black + enemy.count_ones()];
                let sum = more.entry(left).or_default();
                *sum = sum.saturating_add(known);
            }
        }
        ways = more;
    }
    let alive = |left: &[u32; 2]| lives(Color::White, left[0]) && lives(Color::Black, left[1]);
    let alive = ways.iter().filter(|(left, _)| alive(left));
    alive.fold(0, |sum, (_, &ways)| sum.saturating_add(ways))
}

/// The search for arrangements.
struct Search {
    /// How many placements may be held.
    most: usize,
    /// The pawns each side must have in the end.
    required: [u32; 2],
    /// For every placement the last of the ways to it, as a number in `known`.
    seen: HashMap<Place, u32, BuildHasherDefault<FoldHasher>>,
    /// The captures left on the ways to all placements, none of those to one better than another.
    known: Vec<Known>,
    /// To be looked at with as many captures made as now.
    now: Vec<(Place, Captures)>,
    /// To be looked at when one more capture has been made.
    later: Vec<(Place, Captures)>,
    /// Some may be there twice.
    found: Vec<Arrangement>,
}

impl Search {
    fn new(spec: &PawngenElement, most: usize) -> Result<Search, PawngenError> {
        let mut search = Search {
            most,
            required: [0; 2],
            seen: HashMap::default(),
            known: Vec::new(),
            now: Vec::new(),
            later: Vec::new(),
            found: Vec::new(),
        };
        let mut start = Place { pawns: PawnStructure::default(), promotions: [0; 2] };
        let mut captures = [0; 2];
        for color in Color::ALL {
            let side = spec.side(color);
            let pawns = side.start.count() as u64;
            let required = side.pawns_required.ok_or(PawngenError::Open)?;
            if side.queens_required > pawns || required > pawns - side.queens_required {
                return Err(PawngenError::Empty);
            }
            // At most 48 pawns with at most five captures each: all of this fits.
            search.required[slot(color)] = required as u32;
            start.promotions[slot(color)] = side.queens_required as u8;
            captures[slot(color)] = side.captures_allowed.min(5 * pawns) as u8;
            *start.pawns.of_mut(color) = side.start.0;
        }
        if start.pawns.white & start.pawns.black != 0 {
            return Err(PawngenError::Empty);
        }
        if least_placements(start.pawns, |color, left| {
            let i = slot(color);
            left >= search.required[i] + u32::from(start.promotions[i])
        }) > most as u64
        {
            return Err(PawngenError::TooMany(most));
        }
        search.later.push((start, captures));
        Ok(search)
    }

    /// Looks at everything that can arise, ways with fewer captures of pieces first: what comes later to a
    /// placement is then never better than what came before.
    fn run(&mut self) -> Result<(), PawngenError> {
        while !self.later.is_empty() {
            for (place, captures) in std::mem::take(&mut self.later) {
                self.reach(place, captures);
            }
            while let Some((place, captures)) = self.now.pop() {
                // What is to be looked at later may be there many times.
                if self.known.len() + self.later.len() / 2 > self.most {
                    return Err(PawngenError::TooMany(self.most));
                }
                self.expand(place, captures);
            }
        }
        Ok(())
    }

    /// Whether there are too few pawns left for those that must remain and those that must promote.
    fn is_dead(&self, place: &Place) -> bool {
        Color::ALL.into_iter().any(|color| {
            let i = slot(color);
            let left = place.pawns.of(color).count_ones();
            left < self.required[i] + u32::from(place.promotions[i])
        })
    }

    fn reach(&mut self, place: Place, captures: Captures) {
        if self.is_dead(&place) {
            return;
        }
        // At most as many as may be held and those that one of them leads to.
        let number = self.known.len() as u32;
        let next = match self.seen.entry(place) {
            Entry::Occupied(mut last) => {
                if is_known(&self.known, *last.get(), captures) {
                    return;
                }
                last.insert(number)
            }
            Entry::Vacant(free) => {
                free.insert(number);
                NO_OTHER
            }
        };
        self.known.push(Known { captures, next });
        self.now.push((place, captures));
        if next == NO_OTHER {
            self.keep(&place, Arrangement { pawns: place.pawns, en_passant: None });
        }
    }

    /// Keeps an arrangement if it has the right numbers.
    fn keep(&mut self, place: &Place, arrangement: Arrangement) {
        let fits =
            |color: Color| arrangement.pawns.of(color).count_ones() == self.required[slot(color)];
        if place.promotions == [0; 2] && Color::ALL.into_iter().all(fits) {
            self.found.push(arrangement);
        }
    }

    fn expand(&mut self, place: Place, captures: Captures) {
        for color in Color::ALL {
            for from in singles(place.pawns.of(color)) {
                self.expand_pawn(place, captures, color, from);
            }
        }
    }

    /// What can become of one pawn.
    fn expand_pawn(&mut self, place: Place, captures: Captures, color: Color, from: u64) {
        let (i, enemy) = (slot(color), color.other());
        let without = moved(place.pawns, color, from, 0);
        self.reach(Place { pawns: without, ..place }, captures);
        if from & last_rank(color) != 0 {
            if let Some(left) = place.promotions[i].checked_sub(1) {
                let mut promotions = place.promotions;
                promotions[i] = left;
                self.reach(Place { pawns: without, promotions }, captures);
            }
            return;
        }
        let front = ahead(color, from);
        if front & place.pawns.occupied() == 0 {
            let pawns = moved(place.pawns, color, from, front);
            self.reach(Place { pawns, ..place }, captures);
        }
        for to in singles(beside(front) & !place.pawns.of(color)) {
            let mut pawns = moved(place.pawns, color, from, to);
            if to & place.pawns.of(enemy) != 0 {
                *pawns.of_mut(enemy) ^= to;
                self.reach(Place { pawns, ..place }, captures);
            } else if let Some(left) = captures[i].checked_sub(1) {
                let mut captures = captures;
                captures[i] = left;
                let place = Place { pawns, ..place };
                let last = self.seen.get(&place);
                if !last.is_some_and(|&last| is_known(&self.known, last, captures)) {
                    self.later.push((place, captures));
                }
            }
        }
        // The right to capture en passant lapses with the next move, and what follows then also follows
        // from two single steps. So the arrangement is kept and not looked at further.
        if let Some(arrangement) = double_step(place.pawns, color, from) {
            self.keep(&place, arrangement);
        }
    }
}

/// Whether one of the ways from a number on leaves as many captures.
fn is_known(known: &[Known], mut number: u32, captures: Captures) -> bool {
    while let Some(way) = known.get(number as usize) {
        if way.captures[0] >= captures[0] && way.captures[1] >= captures[1] {
            return true;
        }
        number = way.next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use hoffman_control::{PawngenSide, Place as TextPlace};
    use std::time::{Duration, Instant};

    fn squares(text: &str) -> Bitboard {
        text.split_whitespace().map(|s| s.parse::<Square>().unwrap()).collect()
    }

    /// An element: start, pawns required, promotions required, captures allowed, White's and Black's.
    fn element(
        start: [&str; 2],
        pawns: [u64; 2],
        queens: [u64; 2],
        captures: [u64; 2],
    ) -> PawngenElement {
        let side = |i: usize| PawngenSide {
            start: squares(start[i]),
            pawns_required: Some(pawns[i]),
            queens_required: queens[i],
            captures_allowed: captures[i],
            legal: None,
        };
        PawngenElement {
            white: side(0),
            black: side(1),
            start: 0,
            count: 0,
            offset: 0,
            position: 0,
            place: TextPlace::default(),
        }
    }

    const FINE: [&str; 2] = ["b3 c2 d3", "b5 c7 d5"];

    fn count(spec: &PawngenElement) -> usize {
        match arrangements(spec) {
            Ok(all) => all.len(),
            Err(PawngenError::Empty) => 0,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn small_starts_are_counted() {
        for (white, black, pawns, queens, captures, expected) in [
            ("b2", "c7", [1, 1], [0, 0], [0, 0], 38),
            ("b2", "c7", [1, 0], [0, 0], [0, 0], 11),
            ("b2", "c7", [0, 1], [0, 0], [0, 0], 11),
            ("b2", "c7", [1, 1], [0, 0], [1, 0], 93),
            ("b2", "c7", [1, 1], [0, 0], [2, 0], 118),
            ("b2", "c7", [1, 1], [0, 0], [1, 1], 248),
            ("b2", "c7", [0, 1], [1, 0], [0, 0], 6),
            ("b2", "b7", [1, 1], [0, 0], [0, 0], 15),
            ("b2 a2", "c7", [1, 1], [0, 0], [0, 0], 105),
            ("b2 c2 d2", "c7", [3, 1], [0, 0], [0, 0], 597),
            ("a2", "b4", [1, 1], [0, 0], [0, 0], 19),
            // Needs both counters of each way to a placement.
            ("d3 b2", "c7", [1, 1], [0, 0], [1, 1], 505),
        ] {
            let spec = element([white, black], pawns, queens, captures);
            assert_eq!(count(&spec), expected, "{white} {black} {pawns:?}");
        }
    }

    #[test]
    fn three_against_three_are_counted() {
        for (pawns, queens, expected) in [
            ([3, 3], 0, 150),
            ([3, 2], 0, 1313),
            ([2, 3], 0, 1068),
            ([2, 2], 0, 3347),
            ([3, 1], 0, 2466),
            ([1, 3], 0, 1693),
            ([2, 1], 0, 1329),
            ([1, 2], 0, 1119),
            ([3, 0], 0, 506),
            ([0, 3], 0, 340),
            ([2, 3], 1, 0),
            ([0, 2], 1, 102),
            ([0, 3], 1, 210),
            ([1, 1], 1, 242),
            ([1, 2], 1, 895),
            ([1, 3], 1, 108),
            ([2, 0], 1, 119),
            ([2, 1], 1, 959),
            ([2, 2], 1, 447),
        ] {
            let spec = element(FINE, pawns, [queens, 0], [0, 0]);
            assert_eq!(count(&spec), expected, "{pawns:?} {queens}");
        }
    }

    #[test]
    fn numbers_are_those_of_the_files() {
        let all = all_arrangements(&element(FINE, [3, 3], [0, 0], [0, 0])).unwrap();
        let number = |white: &str, black: &str| {
            let pawns = PawnStructure { white: squares(white).0, black: squares(black).0 };
            all.iter().position(|a| *a == Arrangement { pawns, en_passant: None })
        };
        assert_eq!(number("b3 c2 d3", "b5 c7 d5"), Some(149));
        assert_eq!(number("b4 c2 d3", "b5 c7 d5"), Some(128));
        assert_eq!(number("b3 c2 d4", "b5 c7 d5"), Some(129));
        assert_eq!(number("b3 c3 d3", "b5 c7 d5"), Some(104));
        assert_eq!(number("b3 c4 d3", "b5 c7 d5"), Some(87));
    }

    #[test]
    fn without_a_pawn_on_the_h_file_moves_lead_to_smaller_numbers() {
        for (start, captures) in [
            (FINE, [0, 0]),
            (["b2", "c7"], [1, 1]),
            (["d3 b2", "c7"], [1, 1]),
            (["e2 f2 g2", "f7 g7"], [0, 0]),
        ] {
            let pawns = [0, 1].map(|i| squares(start[i]).count() as u64);
            let all = all_arrangements(&element(start, pawns, [0, 0], captures)).unwrap();
            let on_h = all.iter().any(|a| a.pawns.occupied() & 0x8080_8080_8080_8080 != 0);
            assert!(!on_h);
            let mut checked = 0;
            for (from, arrangement) in all.iter().enumerate() {
                for next in successors(arrangement.pawns) {
                    if let Some(to) = all.iter().position(|a| *a == next) {
                        assert!(to < from, "{start:?}: {from} to {to}");
                        checked += 1;
                    }
                }
            }
            assert!(checked > all.len() / 2, "{start:?}: {checked} moves");
            assert!((0..all.len()).all(|at| step_upwards(&all, at).is_none()));
            // Whatever was captured, the start itself is last.
            assert_eq!(all.last().unwrap().pawns.white, squares(start[0]).0);
            assert_eq!(all.last().unwrap().pawns.black, squares(start[1]).0);
        }
    }

    /// All that a move of a pawn can lead to with the number of pawns as it is, captures of pieces included.
    fn successors(pawns: PawnStructure) -> Vec<Arrangement> {
        let mut found = steps(pawns);
        for color in Color::ALL {
            for from in singles(pawns.of(color) & !last_rank(color)) {
                for to in singles(beside(ahead(color, from)) & !pawns.occupied()) {
                    let pawns = moved(pawns, color, from, to);
                    found.push(Arrangement { pawns, en_passant: None });
                }
            }
        }
        found
    }

    #[test]
    fn a_pawn_on_the_h_file_can_lead_to_larger_numbers() {
        let all = all_arrangements(&element(["h2", "a7"], [1, 1], [0, 0], [0, 0])).unwrap();
        assert_eq!(all.len(), 36);
        let (from, to) = step_upwards(&all, 1).unwrap();
        assert!(from < 1 && to >= 1);
        assert_eq!(all[to].pawns.white, all[from].pawns.white << 8);
        assert_eq!(all[to].pawns.black, all[from].pawns.black);
        // Between the ranks of the other pawn no step leads back.
        assert_eq!(step_upwards(&all, 6), None);
    }

    #[test]
    fn tables_are_cut() {
        let whole = element(["b2", "c7"], [1, 1], [0, 0], [0, 0]);
        let all = arrangements(&whole).unwrap();
        let first = arrangements(&PawngenElement { count: 19, ..whole.clone() }).unwrap();
        let second = arrangements(&PawngenElement { start: 19, ..whole.clone() }).unwrap();
        assert_eq!([first, second].concat(), all);
        for (start, count) in [(38, 0), (19, 20), (u64::MAX, 1), (1, u64::MAX)] {
            let error =
                arrangements(&PawngenElement { start, count, ..whole.clone() }).unwrap_err();
            assert_eq!(error, PawngenError::Cut { start, count, arrangements: 38 });
        }
    }

    #[test]
    fn what_admits_nothing_is_refused() {
        for (start, pawns, queens) in [
            (["b2", "c7"], [2, 1], [0, 0]),
            (["b2", "c7"], [1, 1], [1, 0]),
            (["b2", "b7"], [1, 1], [0, u64::MAX]),
            (["b2", "b2"], [1, 1], [0, 0]),
            (FINE, [2, 3], [1, 0]),
        ] {
            let spec = element(start, pawns, queens, [0, 0]);
            assert_eq!(arrangements(&spec), Err(PawngenError::Empty), "{start:?} {pawns:?}");
        }
        let mut open = element(["b2", "c7"], [1, 1], [0, 0], [0, 0]);
        open.black.pawns_required = None;
        assert_eq!(arrangements(&open), Err(PawngenError::Open));
    }

    #[test]
    fn what_is_too_much_is_refused_at_once() {
        let all = ["a2 b2 c2 d2 e2 f2 g2 h2", "a7 b7 c7 d7 e7 f7 g7 h7"];
        // Nothing is searched for that.
        let too_many = Err(PawngenError::TooMany(MAX_PLACEMENTS));
        let refused =
            Search::new(&element(all, [4, 4], [0, 0], [0, 0]), MAX_PLACEMENTS).map(|_| ());
        assert_eq!(refused, too_many);
        assert_eq!(
            arrangements(&element(all, [8, 8], [0, 0], [0, 0])),
            too_many.map(|()| Vec::new())
        );
        // Captures lead to many more; the search ends where memory does.
        let spec = element(["b2 c2 d2", "b7 c7 d7"], [2, 2], [0, 0], [3, 3]);
        let most = 1 << 15;
        let within = all_arrangements_within(&spec, most as u64 * PLACEMENT);
        assert_eq!(within, Err(PawngenError::TooMany(most)));
    }

    #[test]
    fn no_more_placements_are_counted_than_there_are() {
        for (start, pawns, queens) in [
            (["b2", "c7"], [0, 0], [0, 0]),
            (["b2", "b7"], [1, 1], [0, 0]),
            (["b2 b3 c4", "b6 d7"], [1, 1], [1, 0]),
            (FINE, [2, 2], [0, 0]),
        ] {
            let spec = element(start, pawns, queens, [0, 0]);
            let mut search = Search::new(&spec, MAX_PLACEMENTS).unwrap();
            let lives = |color: Color, left: u32| {
                let side = spec.side(color);
                u64::from(left) >= side.pawns_required.unwrap() + side.queens_required
            };
            let structure = PawnStructure { white: spec.white.start.0, black: spec.black.start.0 };
            let least = least_placements(structure, lives);
            search.run().unwrap();
            assert!(least <= search.seen.len() as u64, "{start:?}: {least}");
            // Pawns that cannot meet have no other ways.
            let alone = start == ["b2", "b7"];
            assert!(!alone || least == search.seen.len() as u64, "{least}");
        }
    }

    #[test]
    fn no_pawns_are_one_arrangement() {
        let spec = element(["", ""], [0, 0], [0, 0], [0, 0]);
        let none = Arrangement { pawns: PawnStructure::default(), en_passant: None };
        assert_eq!(arrangements(&spec), Ok(vec![none]));
    }

    #[test]
    fn captures_without_end_are_as_good_as_enough_of_them() {
        let some = element(["b2", "c7"], [1, 1], [0, 0], [5, 5]);
        let many = element(["b2", "c7"], [1, 1], [0, 0], [u64::MAX, u64::MAX]);
        assert_eq!(arrangements(&many), arrangements(&some));
    }

    #[test]
    fn masks_hold_every_pawn() {
        let all = arrangements(&element(["b2", "b4"], [1, 1], [0, 0], [0, 0])).unwrap();
        let masks = masks(&all);
        assert_eq!((masks.white, masks.black), (squares("b2 b3"), squares("b3 b4")));
    }

    #[test]
    fn hundreds_of_thousands_of_placements_are_quick() {
        let began = Instant::now();
        let mut search =
            Search::new(&element(FINE, [2, 2], [0, 0], [1, 1]), MAX_PLACEMENTS).unwrap();
        search.run().unwrap();
        eprintln!(
            "{} placements, {} ways, {} kept, {:?}",
            search.seen.len(),
            search.known.len(),
            search.found.len(),
            began.elapsed()
        );
        assert!(search.seen.len() > 100_000);
        // Far more than is needed: what must not happen is a search that looks at ways, not placements.
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }
}
