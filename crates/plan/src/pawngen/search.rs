//! The search for the arrangements of a table.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use hoffman_board::Color;
use hoffman_control::PawngenElement;
use hoffman_space::PawnSquares;

use super::{
    Arrangement, Bounds, PawngenError, ahead, beside, double_step, last_rank, moved, singles,
};

/// More placements than this are not looked at: a gigabyte of memory and seven seconds.
pub(super) const MAX_PLACEMENTS: usize = 10_000_000;

/// The memory that a placement takes at most while arrangements are searched, in bytes: the tables
/// of the search grow by doubling.
pub(super) const PLACEMENT: u64 = 200;

/// How many placements are looked at before it is asked whether to stop: a few milliseconds.
const BETWEEN_STOPS: usize = 1 << 12;

/// A placement with what happens to be open: the promotions that must still happen a side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stage {
    pawns: PawnSquares,
    promotions: [u8; 2],
}

impl Hash for Stage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.pawns.white);
        state.write_u64(self.pawns.black);
        state.write_u16(u16::from_le_bytes(self.promotions));
    }
}

/// Multiplies words and folds the product. Stages come from no stranger who would look for
/// collisions, and most of the time of a search goes into finding them.
#[derive(Clone, Copy, Default)]
pub(super) struct FoldHasher(u64);

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
pub(super) struct CapturesLeft {
    captures: Captures,
    /// A number in the list, [`NO_OTHER`] if there is no other way.
    next: u32,
}

/// Ends a chain of [`CapturesLeft`].
const NO_OTHER: u32 = u32::MAX;

/// How many captures of pieces each side's pawns can still make.
type Captures = [u8; 2];

/// The number of a colour in arrays.
fn slot(color: Color) -> usize {
    usize::from(color.is_black())
}

/// How many placements steps and losses of pawns alone lead to, of which `lives` takes the pawns
/// left of each colour: a search looks at so many at least. Without captures each file goes its own
/// way.
pub(super) fn least_placements(start: PawnSquares, lives: impl Fn(Color, u32) -> bool) -> u64 {
    // By the numbers of White's and Black's pawns that are left.
    let mut ways: HashMap<[u32; 2], u64> = HashMap::from([([0, 0], 1)]);
    for file in 0..8 {
        let mask = 0x0101_0101_0101_0101 << file;
        let pawns = PawnSquares { white: start.white & mask, black: start.black & mask };
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
pub(super) struct ArrangementSearch<'s> {
    is_stopped: &'s dyn Fn() -> bool,
    /// How many placements may be held.
    most: usize,
    /// The pawns each side must have in the end.
    required: [u32; 2],
    /// For every placement the last of the ways to it, as a number in `known`.
    pub(super) seen: HashMap<Stage, u32, BuildHasherDefault<FoldHasher>>,
    /// The captures left on the ways to all placements, none of those to one better than another.
    pub(super) known: Vec<CapturesLeft>,
    /// To be looked at with as many captures made as now.
    now: Vec<(Stage, Captures)>,
    /// To be looked at when one more capture has been made.
    later: Vec<(Stage, Captures)>,
    /// Some may be there twice.
    pub(super) found: Vec<Arrangement>,
}

impl<'s> ArrangementSearch<'s> {
    pub(super) fn new(
        spec: &PawngenElement,
        bounds: Bounds<'s>,
    ) -> Result<ArrangementSearch<'s>, PawngenError> {
        let most = usize::try_from(bounds.memory / PLACEMENT).unwrap_or(MAX_PLACEMENTS);
        let most = most.min(MAX_PLACEMENTS);
        let mut search = ArrangementSearch {
            is_stopped: bounds.is_stopped,
            most,
            required: [0; 2],
            seen: HashMap::default(),
            known: Vec::new(),
            now: Vec::new(),
            later: Vec::new(),
            found: Vec::new(),
        };

        let mut start = Stage { pawns: PawnSquares::default(), promotions: [0; 2] };
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

    /// The arrangements, some of them twice.
    pub(super) fn run(mut self) -> Result<Vec<Arrangement>, PawngenError> {
        self.look_at_all()?;
        Ok(self.found)
    }

    /// Looks at everything that can arise, ways with fewer captures of pieces first: what comes
    /// later to a placement is then never better than what came before.
    pub(super) fn look_at_all(&mut self) -> Result<(), PawngenError> {
        let mut looked_at = 0_usize;
        while !self.later.is_empty() {
            for (stage, captures) in std::mem::take(&mut self.later) {
                self.reach(stage, captures);
            }
            while let Some((stage, captures)) = self.now.pop() {
                // What is to be looked at later may be there many times.
                if self.known.len() + self.later.len() / 2 > self.most {
                    return Err(PawngenError::TooMany(self.most));
                }
                if looked_at.is_multiple_of(BETWEEN_STOPS) && (self.is_stopped)() {
                    return Err(PawngenError::Stopped);
                }
                looked_at += 1;
                self.expand(stage, captures);
            }
        }
        Ok(())
    }

    /// Whether there are too few pawns left for those that must remain and those that must promote.
    fn is_dead(&self, stage: &Stage) -> bool {
        Color::ALL.into_iter().any(|color| {
            let i = slot(color);
            let left = stage.pawns.of(color).count_ones();
            left < self.required[i] + u32::from(stage.promotions[i])
        })
    }

    fn reach(&mut self, stage: Stage, captures: Captures) {
        if self.is_dead(&stage) {
            return;
        }
        // At most as many as may be held and those that one of them leads to.
        let number = self.known.len() as u32;
        let next = match self.seen.entry(stage) {
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
        self.known.push(CapturesLeft { captures, next });
        self.now.push((stage, captures));
        if next == NO_OTHER {
            self.keep(&stage, Arrangement { pawns: stage.pawns, en_passant: None });
        }
    }

    /// Keeps an arrangement if it has the right numbers.
    fn keep(&mut self, stage: &Stage, arrangement: Arrangement) {
        let fits =
            |color: Color| arrangement.pawns.of(color).count_ones() == self.required[slot(color)];
        if stage.promotions == [0; 2] && Color::ALL.into_iter().all(fits) {
            self.found.push(arrangement);
        }
    }

    fn expand(&mut self, stage: Stage, captures: Captures) {
        for color in Color::ALL {
            for from in singles(stage.pawns.of(color)) {
                self.expand_pawn(stage, captures, color, from);
            }
        }
    }

    /// What can become of one pawn.
    fn expand_pawn(&mut self, stage: Stage, captures: Captures, color: Color, from: u64) {
        let (i, enemy) = (slot(color), color.other());
        let without = moved(stage.pawns, color, from, 0);
        self.reach(Stage { pawns: without, ..stage }, captures);
        if from & last_rank(color) != 0 {
            if let Some(left) = stage.promotions[i].checked_sub(1) {
                let mut promotions = stage.promotions;
                promotions[i] = left;
                self.reach(Stage { pawns: without, promotions }, captures);
            }
            return;
        }

        let front = ahead(color, from);
        if front & stage.pawns.occupied() == 0 {
            let pawns = moved(stage.pawns, color, from, front);
            self.reach(Stage { pawns, ..stage }, captures);
        }

        for to in singles(beside(front) & !stage.pawns.of(color)) {
            let mut pawns = moved(stage.pawns, color, from, to);
            if to & stage.pawns.of(enemy) != 0 {
                *pawns.of_mut(enemy) ^= to;
                self.reach(Stage { pawns, ..stage }, captures);
            } else if let Some(left) = captures[i].checked_sub(1) {
                let mut captures = captures;
                captures[i] = left;
                let stage = Stage { pawns, ..stage };
                let last = self.seen.get(&stage);
                if !last.is_some_and(|&last| is_known(&self.known, last, captures)) {
                    self.later.push((stage, captures));
                }
            }
        }

        // The right to capture en passant lapses with the next move, and what follows then also
        // follows from two single steps. So the arrangement is kept and not looked at further.
        if let Some(arrangement) = double_step(stage.pawns, color, from) {
            self.keep(&stage, arrangement);
        }
    }
}

/// Whether one of the ways from a number on leaves as many captures.
fn is_known(known: &[CapturesLeft], mut number: u32, captures: Captures) -> bool {
    while let Some(way) = known.get(number as usize) {
        if way.captures[0] >= captures[0] && way.captures[1] >= captures[1] {
            return true;
        }
        number = way.next;
    }
    false
}
