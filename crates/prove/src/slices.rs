//! Open slices: each with two bounds and a guess, kept up to date from below.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hoffman_board::{Color, Material, Outcome, Role, Value};
use hoffman_plan::{EndingJob, complete};
use hoffman_solve::{
    Behind, Leaving, Monitor, SolveError, SolveOptions, Tables, solve_one_slice, solve_table,
};
use hoffman_space::{
    Code, Codes, Layout, PackedCodes, PawnSquares, SliceValues, TableValues, outcome_number,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::assumptions::Assumptions;
use crate::endings::Endings;
use crate::guess;
use crate::key::{Key, SliceFamily};
use crate::settled::settled;

/// Endings without pawns of up to so many men are solved as a whole.
pub(crate) const WHOLE: usize = 4;

/// What is computed of a slice. What is not known is settled against White in the first one and for
/// White in the second one, so that the truth lies between them; the third one is a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceGame {
    Least,
    Most,
    Guess,
}

pub(crate) const GAMES: [SliceGame; 3] = [SliceGame::Least, SliceGame::Most, SliceGame::Guess];

/// An open slice.
pub(crate) struct Open {
    /// The moves out of it.
    pub(crate) leavings: Vec<Leaving>,
    /// Whether all its values are certain.
    pub(crate) exact: bool,
}

/// Values of a slice, and what is new about them.
struct SolvedSlice {
    key: Key,
    /// None of games that were not played.
    values: [Option<Arc<SliceValues>>; 3],
    /// Whether they are others than before, by game.
    changed: Games,
    /// The values of both bounds, if they have come to be the same.
    exact: Option<Arc<SliceValues>>,
    /// The slices that follow from what is new, and their ranks.
    users: Vec<(u32, Key)>,
}

/// Where the values of a game are.
pub(crate) struct KnownValues<'t, 'f> {
    /// Those of endings that are there as a whole.
    pub(crate) whole: &'t Tables,
    /// The table with an open slice.
    pub(crate) open: &'f dyn Fn(&Key) -> Option<&'t TableValues>,
}

/// All slices that are open.
#[derive(Default)]
pub(crate) struct Slices {
    pub(crate) assumptions: Assumptions,
    /// Endings of which all values are there: small ones that were solved, of which the outcomes
    /// are kept, and others that were read.
    pub(crate) whole: Tables,
    pub(crate) endings: Option<Arc<dyn Endings>>,
    /// The endings that were read.
    pub(crate) endings_read: FxHashSet<Material>,
    /// The endings that were solved instead of opening one of their slices.
    pub(crate) endings_solved: FxHashSet<Material>,
    /// How many positions might have been evaluated in the time in which they were.
    pub(crate) read: u64,
    /// Bytes that may be taken by what is read.
    pub(crate) room: usize,
    pub(crate) families: FxHashMap<SliceFamily, [TableValues; 3]>,
    pub(crate) open: FxHashMap<Key, Open>,
    /// Guesses of slices without pieces that are not open.
    pub(crate) races: FxHashMap<Material, TableValues>,
    /// The slices with moves into a slice, open or not.
    pub(crate) users: FxHashMap<Key, Vec<Key>>,
    /// What the values take, the moves out of slices, and who uses which.
    pub(crate) bytes: usize,
    /// Positions evaluated so far.
    pub(crate) work: u64,
    /// What is to be played anew when all is brought up to date.
    waiting: Stale,
}

impl Slices {
    /// None is open yet.
    pub(crate) fn with_room(room: usize) -> Slices {
        Slices { room, ..Slices::default() }
    }

    /// How many slices are open.
    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }

    /// How many slices are known, open or not: those that moves lead to, and those that were asked
    /// for.
    pub(crate) fn known(&self) -> usize {
        self.users.len() + self.open.keys().filter(|key| !self.users.contains_key(key)).count()
    }

    pub(crate) fn is_open(&self, key: &Key) -> bool {
        self.open.contains_key(key)
    }

    /// What all of it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The open slices in groups; what lies behind the moves of one is in a group before it.
    pub(crate) fn in_order(&self) -> Vec<Vec<Key>> {
        self.groups(self.open.keys().copied())
    }

    /// The same of any slices.
    pub(crate) fn groups(&self, keys: impl Iterator<Item = Key>) -> Vec<Vec<Key>> {
        let mut groups: BTreeMap<(u32, bool), Vec<Key>> = BTreeMap::new();
        for key in keys {
            groups.entry((self.rank(&key), key.family.landed.is_some())).or_default().push(key);
        }
        groups.into_values().collect()
    }

    pub(crate) fn rank(&self, key: &Key) -> u32 {
        key.rank(&self.assumptions)
    }

    /// Whether a slice of a piece that has just landed is part of one that is open.
    pub(crate) fn is_covered(&self, key: &Key) -> bool {
        let whole = Key { family: SliceFamily { landed: None, ..key.family }, ..*key };
        key.family.landed.is_some() && self.is_open(&whole)
    }

    /// Opens slices and brings all that follows from them up to date, and from others that were
    /// opened before.
    pub(crate) fn open(&mut self, keys: &[Key], monitor: &dyn Monitor) -> Result<(), SolveError> {
        let mut stale = self.added(keys, monitor)?;
        // Of work that is stopped they are lost; nothing goes on from there.
        for (key, games) in std::mem::take(&mut self.waiting).all() {
            if !self.is_exact(&key) {
                stale.add(self.rank(&key), key, games);
            }
        }
        self.bring_up_to_date(stale, |_| true, monitor)
    }

    /// Opens slices, and leaves those before them as they are until others are opened: what they
    /// say is as true as before.
    pub(crate) fn open_ahead(
        &mut self,
        keys: &[Key],
        monitor: &dyn Monitor,
    ) -> Result<(), SolveError> {
        let stale = self.added(keys, monitor)?;
        let new: FxHashSet<Key> = stale.keys().copied().collect();
        self.bring_up_to_date(stale, |key| new.contains(key), monitor)
    }

    /// Opens slices without a look at their positions yet. Those before an ending that is read or
    /// solved as a whole have to wait.
    fn added(&mut self, keys: &[Key], monitor: &dyn Monitor) -> Result<Stale, SolveError> {
        let (mut stale, mut waiting) = (Stale::default(), std::mem::take(&mut self.waiting));
        let (mut new, mut seen) = (Vec::new(), FxHashSet::default());
        for &key in keys {
            // Of many that were to be read some may be too much, and too large to be opened.
            if !self.take_leaf(&key, &mut waiting, monitor)?
                && key.needs(&self.assumptions) <= self.room
                && !self.is_open(&key)
                && seen.insert(key)
            {
                new.push(key);
            }
        }
        self.waiting = waiting;
        self.add(new, &mut stale, monitor)?;
        Ok(stale)
    }

    /// Plays games anew, and those of slices before that are `wanted` and follow from them. Others
    /// have to wait.
    fn bring_up_to_date(
        &mut self,
        mut stale: Stale,
        wanted: impl Fn(&Key) -> bool,
        monitor: &dyn Monitor,
    ) -> Result<(), SolveError> {
        while let Some(keys) = stale.lowest() {
            let solve = |(key, games)| {
                let values = self.solve(&key, games, monitor)?;
                Ok(self.compared(key, values))
            };
            let solved: Vec<SolvedSlice> =
                keys.into_par_iter().map(solve).collect::<Result<_, SolveError>>()?;
            for solved in solved {
                for &(rank, user) in &solved.users {
                    let list = if wanted(&user) { &mut stale } else { &mut self.waiting };
                    list.add(rank, user, solved.changed);
                }
                self.store(solved);
            }
        }
        Ok(())
    }

    pub(crate) fn is_exact(&self, key: &Key) -> bool {
        self.open.get(key).is_some_and(|open| open.exact)
    }

    /// Solves endings without pawns, or reads them.
    pub(crate) fn solve_whole(
        &mut self,
        endings: &[Material],
        monitor: &dyn Monitor,
    ) -> Result<(), SolveError> {
        let mut unread = Vec::new();
        for material in endings {
            let (ending, _) = material.normalized();
            if !self.read(&ending, monitor)? {
                unread.push(ending);
            }
        }
        let options = SolveOptions { outcomes: true, ..SolveOptions::default() };
        let before = bytes_of_tables(&self.whole);
        solve_endings(unread, &mut self.whole, &options, monitor)?;
        self.bytes += bytes_of_tables(&self.whole) - before;
        Ok(())
    }

    /// Plays games of a slice anew, from what is known of the slices behind it.
    fn solve<'s>(
        &'s self,
        key: &Key,
        games: Games,
        monitor: &'s dyn Monitor,
    ) -> Result<[Option<Arc<SliceValues>>; 3], SolveError> {
        if let Some(promoted) = self.recapture(key) {
            let recaptures = |game| Arc::new(self.recaptures(game, key, promoted));
            return Ok(GAMES.map(|game| games[game as usize].then(|| recaptures(game))));
        }

        let layout = self.layout(key);
        let play = |game: SliceGame| {
            let options =
                SolveOptions { outcomes: game != SliceGame::Guess, ..SolveOptions::default() };
            let open = |key: &Key| self.played(game, key);
            let values = KnownValues { whole: &self.whole, open: &open };
            let behind = |leaving: &Leaving| self.behind(game, key, leaving, &values);
            let rules = self.assumptions.rules();
            solve_one_slice(layout, key.pawns, rules, &behind, &options, monitor)
        };
        if self.has_exact_exits(key) {
            let exact = Some(Arc::new(play(SliceGame::Least)?));
            return Ok([exact.clone(), exact.clone(), exact]);
        }

        // Side by side: often there is only one slice of a rank.
        let if_asked = |game: SliceGame| games[game as usize].then(|| play(game)).transpose();
        let bounds = || rayon::join(|| if_asked(SliceGame::Least), || if_asked(SliceGame::Most));
        let ((least, most), guess) = rayon::join(bounds, || if_asked(SliceGame::Guess));
        let (least, most) = (least?.map(Arc::new), most?.map(Arc::new));
        let guess = guess?.map(|guess| {
            let bounds = [(&least, SliceGame::Least), (&most, SliceGame::Most)];
            let [least, most] =
                bounds.map(|(new, game)| new.as_ref().or_else(|| self.values(game, key)));
            let settled = match least.zip(most) {
                Some((least, most)) => settled(guess, least, most),
                None => guess,
            };
            // It has distances, which would take most of the memory.
            Arc::new(settled.in_few_bits())
        });
        Ok([least, most, guess])
    }

    /// Whether all that lies behind a slice is known.
    fn has_exact_exits(&self, key: &Key) -> bool {
        let leavings = &self.open[key].leavings;
        leavings.iter().all(|leaving| {
            self.is_whole(&leaving.material)
                || self.targets(key, leaving).iter().all(|behind| self.is_exact(behind))
        })
    }

    /// What is known of the positions behind a move, in a game with these values.
    pub(crate) fn behind<'t>(
        &'t self,
        game: SliceGame,
        from: &Key,
        leaving: &Leaving,
        values: &KnownValues<'t, '_>,
    ) -> Behind<'t> {
        let Leaving { color, material, pawns, .. } = *leaving;
        if let Some(ruling) = self.assumptions.of_leaving(from.pawns, leaving) {
            let rest = worth(ruling.outcome(color), color, 1);
            return Behind { tables: Vec::new(), rest: Some(rest) };
        }
        if self.is_whole(&material) {
            let (normal, swapped) = material.normalized();
            return Behind { tables: vec![(&values.whole[&normal], swapped)], rest: None };
        }

        let keys = self.targets(from, leaving);
        let open = keys.iter().filter(|key| *key != from).filter_map(values.open);
        let mut known: Vec<(&TableValues, bool)> = open.map(|table| (table, false)).collect();
        if known.len() == keys.len() {
            // A capture may end where the piece may not stand, or start where it may not leave.
            let rest = self.assumptions.confines(color).then_some(Value::Loss(1));
            return Behind { tables: known, rest };
        }

        let landed = self.landed(from, leaving);
        let just_landed = keys.iter().filter(|_| landed.is_some()).filter_map(|key| {
            (values.open)(&Key { family: SliceFamily { landed, ..key.family }, pawns })
        });
        let races = self.races(&material).filter(|_| game == SliceGame::Guess);
        known.extend(just_landed.chain(races).map(|table| (table, false)));
        let behind = Key::of(material, pawns);
        let moves = if game == SliceGame::Guess { 1 + guess::moves(&behind) } else { 1 };
        Behind { tables: known, rest: Some(worth(self.unknown(game, &behind), color, moves)) }
    }

    /// The table with a slice in a game, if it was played.
    fn played(&self, game: SliceGame, key: &Key) -> Option<&TableValues> {
        let tables = self.families.get(&key.family)?;
        let table = &tables[game as usize];
        table.find(key.pawns).map(|_| table)
    }

    /// The values of a slice in a game, if it was played.
    fn values(&self, game: SliceGame, key: &Key) -> Option<&Arc<SliceValues>> {
        self.tables(key)?[game as usize].slices.get(&key.pawns)?.get()
    }

    /// Compares values of a slice with those before, and finds what follows from new ones.
    fn compared(&self, key: Key, values: [Option<Arc<SliceValues>>; 3]) -> SolvedSlice {
        let before = |game: SliceGame| self.values(game, &key);
        let may_meet = self.recapture(&key).is_none() && !self.is_exact(&key);
        let bound = |game: SliceGame| values[game as usize].as_ref().or_else(|| before(game));
        let bounds = bound(SliceGame::Least).zip(bound(SliceGame::Most)).filter(|_| may_meet);
        let exact = bounds.filter(|(least, most)| same(least, most)).map(|(least, _)| least);

        // What is certain takes the place of all values, those of games that were not played too.
        let changed = GAMES.map(|game| {
            let now = exact.or(values[game as usize].as_ref());
            now.is_some_and(|now| before(game).is_none_or(|before| !same(before, now)))
        });
        let users = self.users.get(&key).into_iter().flatten();
        let users = users.filter(|user| changed != [false; 3] && !self.is_exact(user));
        let users = users.map(|user| (self.rank(user), *user)).collect();
        SolvedSlice { key, changed, exact: exact.cloned(), values, users }
    }

    /// Keeps the values of a slice.
    fn store(&mut self, SolvedSlice { key, values, exact, .. }: SolvedSlice) {
        let Some(tables) = self.families.get_mut(&key.family) else { return };
        let played = values.iter().flatten().count();
        self.work += 2 * (played * tables[0].layout.len()) as u64;
        self.bytes -= bytes_of(tables, key.pawns);
        for (table, values) in tables.iter_mut().zip(values) {
            let Some(values) = exact.as_ref().or(values.as_ref()) else { continue };
            *table.slices.entry(key.pawns).or_default() = OnceLock::from(Arc::clone(values));
        }
        if let (Some(open), Some(_)) = (self.open.get_mut(&key), exact) {
            open.exact = true;
        }
        self.bytes += bytes_of(tables, key.pawns);
    }

    /// Whether an ending is solved or read as a whole, by the rules alone.
    pub(crate) fn is_whole(&self, material: &Material) -> bool {
        let is_leaf = |endings: &FxHashSet<Material>| {
            !endings.is_empty() && endings.contains(&material.normalized().0)
        };
        if is_leaf(&self.endings_read) || is_leaf(&self.endings_solved) {
            return true;
        }
        let is_small = !material.has_pawns() && material.men() <= WHOLE;
        is_small && !self.assumptions.concern_pieces()
    }

    /// Whether an ending is there as a whole.
    pub(crate) fn has_whole(&self, material: &Material) -> bool {
        self.is_whole(material) && self.whole.contains_key(&material.normalized().0)
    }

    /// Where the values of an open slice have their places.
    pub(crate) fn layout(&self, key: &Key) -> &Layout {
        &self.families[&key.family][0].layout
    }

    /// The values of the slices of a family, in each game.
    pub(crate) fn tables(&self, key: &Key) -> Option<&[TableValues; 3]> {
        self.families.get(&key.family)
    }

    /// What is guessed of slices without pieces that are not open.
    pub(crate) fn races(&self, material: &Material) -> Option<&TableValues> {
        self.races.get(material)
    }

    /// What positions of a slice are worth of which nothing is known.
    pub(crate) fn unknown(&self, game: SliceGame, key: &Key) -> Outcome {
        let can_win = |color: Color| {
            can_win(&key.family.material, color) || self.assumptions.may_beat(color.other())
        };
        match game {
            SliceGame::Least if can_win(Color::Black) => Outcome::BlackWins,
            SliceGame::Most if can_win(Color::White) => Outcome::WhiteWins,
            SliceGame::Least | SliceGame::Most => Outcome::Draw,
            SliceGame::Guess => guess::outcome(&key.family.material),
        }
    }
}

/// Solves endings and those behind them that are not there yet.
pub(crate) fn solve_endings(
    endings: impl IntoIterator<Item = Material>,
    tables: &mut Tables,
    options: &SolveOptions,
    monitor: &dyn Monitor,
) -> Result<(), SolveError> {
    let mut missing = complete(endings);
    missing.retain(|job| !tables.contains_key(&job.material));
    let size = |EndingJob { material, .. }: &EndingJob| {
        (material.men(), material.count.white.pawn + material.count.black.pawn)
    };
    // None leads to another one of as many men and pawns.
    for alike in missing.chunk_by(|a, b| size(a) == size(b)) {
        // Small ones do not keep all threads busy; others need much memory.
        let together = if size(&alike[0]).0 <= WHOLE { alike.len() } else { 1 };
        for some in alike.chunks(together) {
            let solve = |job: &EndingJob| {
                let mut table = TableValues::new(job.material, job.slices());
                solve_table(&mut table, tables, options, monitor)?;
                Ok((job.material, Arc::new(table)))
            };
            let solved: Vec<_> = some.par_iter().map(solve).collect::<Result<_, SolveError>>()?;
            tables.extend(solved);
        }
    }
    Ok(())
}

fn bytes_of_tables(tables: &Tables) -> usize {
    tables.values().map(|table| table.bytes()).sum()
}

/// What an outcome after so many moves is worth to a side.
fn worth(outcome: Outcome, color: Color, moves: u16) -> Value {
    match outcome.winner() {
        None => Value::Draw,
        Some(winner) if winner == color => Value::Win(moves),
        Some(_) => Value::Loss(moves),
    }
}

/// Whether a side has anything to win with: a bare king has not.
fn can_win(material: &Material, color: Color) -> bool {
    let men = material.count.get(color);
    Role::ALL.iter().any(|&role| role != Role::King && *men.get(role) > 0)
}

/// What an entry of a map takes: about a third of its places are empty.
pub(crate) const fn bytes_of_entry<K, V>() -> usize {
    size_of::<(K, V)>() / 2 * 3
}

/// What values take with all that says where they are: small slices are many.
pub(crate) fn bytes_of_values(values: &SliceValues) -> usize {
    // The counts of who holds them, and where each side's codes are.
    const BESIDE: usize = 16 + 2 * 64;
    values.bytes() + size_of::<SliceValues>() + BESIDE
}

/// What the values of a slice take in all games.
fn bytes_of(tables: &[TableValues; 3], pawns: PawnSquares) -> usize {
    let values = tables.each_ref().map(|table| table.slices.get(&pawns)?.get());
    let entries = values.iter().flatten().count();
    // Of an exact slice the bounds and the guess are one.
    let exact = matches!(values, [Some(a), Some(b), _] if Arc::ptr_eq(a, b));
    let apart = values.iter().flatten().take(if exact { 1 } else { 3 });
    entries * bytes_of_entry::<PawnSquares, OnceLock<Arc<SliceValues>>>()
        + apart.map(|values| bytes_of_values(values)).sum::<usize>()
}

/// Whether the outcomes of two slices are the same.
fn same(a: &Arc<SliceValues>, b: &Arc<SliceValues>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    let rights = a.en_passant.iter().zip(&b.en_passant);
    let rights = rights.map(|(a, b)| (&a.codes, &b.codes));
    let mut pairs = a.codes.iter().zip(&b.codes).chain(rights);
    pairs.all(|(a, b)| same_codes(a, b))
}

fn same_codes(a: &Codes, b: &Codes) -> bool {
    match a.as_packed().zip(b.as_packed()) {
        Some((PackedCodes::Outcomes(left), PackedCodes::Outcomes(right))) => {
            return a.len() == b.len() && left.is_same(right);
        }
        // Otherwise the distances may differ alone.
        Some((PackedCodes::Few(left), PackedCodes::Few(right))) if left.is_same(right) => {
            return a.len() == b.len();
        }
        _ => {}
    }
    if a.is_wide() || b.is_wide() { same_outcomes::<u16>(a, b) } else { same_outcomes::<u8>(a, b) }
}

fn same_outcomes<C: Code>(a: &Codes, b: &Codes) -> bool {
    const PART: usize = 4096;
    if a.len() != b.len() {
        return false;
    }
    let mut parts = [[C::ILLEGAL; PART]; 2];
    (0..a.len()).step_by(PART).all(|at| {
        let len = PART.min(a.len() - at);
        let [left, right] = &mut parts;
        a.read(at, &mut left[..len]);
        b.read(at, &mut right[..len]);
        let (left, right) = (&left[..len], &right[..len]);
        // Without a way out, so that many are compared at once.
        let differ = |differ, (&a, &b)| differ | (outcome_number(a) ^ outcome_number(b));
        left == right || left.iter().zip(right).fold(0, differ) == 0
    })
}

/// Which games are played.
pub(crate) type Games = [bool; 3];

/// Slices of which games are to be played anew, lowest rank first.
#[derive(Default)]
pub(crate) struct Stale {
    ranks: BTreeMap<u32, FxHashMap<Key, Games>>,
}

impl Stale {
    pub(crate) fn add(&mut self, rank: u32, key: Key, games: Games) {
        let before = self.ranks.entry(rank).or_default().entry(key).or_default();
        before.iter_mut().zip(games).for_each(|(before, game)| *before |= game);
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.ranks.values().flat_map(FxHashMap::keys)
    }

    fn all(self) -> impl Iterator<Item = (Key, Games)> {
        self.ranks.into_values().flatten()
    }

    fn lowest(&mut self) -> Option<Vec<(Key, Games)>> {
        self.ranks.pop_first().map(|(_, keys)| keys.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use hoffman_board::shakmaty::fen::Fen;
    use hoffman_board::shakmaty::{CastlingMode, Chess};

    use super::*;
    use crate::{Limits, Prover};

    /// Counted anew.
    fn bytes_taken(slices: &Slices) -> usize {
        let open = slices.open.values().map(|open| size_of_val(&*open.leavings));
        let users = slices.users.values().map(|users| users.capacity() * size_of::<Key>());
        let values =
            slices.open.keys().map(|key| bytes_of(&slices.families[&key.family], key.pawns));
        let races = slices.races.values().flat_map(|table| table.slices.values());
        let races = races.filter_map(OnceLock::get).map(|races| bytes_of_values(races));
        slices.open.len() * bytes_of_entry::<Key, Open>()
            + slices.users.len() * bytes_of_entry::<Key, Vec<Key>>()
            + bytes_of_tables(&slices.whole)
            + open.chain(users).chain(values).chain(races).sum::<usize>()
    }

    #[test]
    fn all_that_is_kept_is_counted() {
        let fen: Fen = "8/2p5/3k4/1p1p1K2/8/1P1P4/2P5/8 w - - 0 1".parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        let mut prover = Prover::new(position, Limits { memory: 1 << 30 });
        let mut looks = 0;
        prover.prove(&|| {}, &mut |prover| {
            assert_eq!(prover.slices().bytes(), bytes_taken(prover.slices()));
            looks += 1;
            prover.progress().positions < 100_000_000
        });
        let open = prover.slices().count();
        assert!(looks > 2 && open > 50, "{looks}, {open}");
    }
}
