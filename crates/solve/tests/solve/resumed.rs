//! A run that is stopped after a pass and goes on from what passes decided: the values are those of
//! a run that nobody disturbed, whatever the pass.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::Duration;

use hoffman_board::{Color, FuturemoveKind, Material, Role, Variant};
use hoffman_pages::Pages;
use hoffman_plan::complete;
use hoffman_solve::{
    Analysis, Decided, Method, Monitor, PassReport, Rules, Ruling, SolveError, SolveOptions,
    Tables, TakeDecided, solve_analysis, solve_table,
};
use hoffman_space::{Layout, Mover, NormalForm, PawnSquares, SliceValues, TableValues};

type Record = (Color, bool, u16, u32, Vec<u32>, Vec<u64>);

/// Keeps what passes decided and stops runs after some passes.
#[derive(Default)]
struct Keeper {
    saved: Mutex<HashMap<PawnSquares, (u16, Vec<Record>)>>,
    /// How many more passes there are before a stop.
    left: AtomicU16,
    /// How many times more it may be asked whether there is a stop.
    asks: AtomicU32,
}

impl Monitor for Keeper {
    fn slice(&self, _: PawnSquares, _: &Arc<SliceValues>) {}

    fn passed(&self, report: &PassReport) {
        if !report.won {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn is_stopped(&self) -> bool {
        let less = |asks: u32| Some(asks.saturating_sub(1));
        let asks = self.asks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.left.load(Ordering::Relaxed) == 0 || asks == Ok(0)
    }

    fn saves_passes(&self, _: Duration) -> bool {
        // The last ones are saved together.
        self.is_stopped()
    }

    fn save_passes(
        &self,
        pawns: PawnSquares,
        moves: RangeInclusive<u16>,
        show: &dyn Fn(&mut TakeDecided<'_>) -> io::Result<()>,
    ) -> bool {
        let mut saved = self.saved.lock().unwrap();
        let (last, records) = saved.entry(pawns).or_insert_with(|| (*moves.end(), Vec::new()));
        assert!(records.is_empty() || *last + 1 == *moves.start());
        *last = *moves.end();
        show(&mut |d| {
            assert!(moves.contains(&d.moves) && !d.rows.is_empty());
            records.push((d.turn, d.won, d.moves, d.block, d.rows.to_vec(), d.masks.to_vec()));
            Ok(())
        })
        .is_ok()
    }

    fn saved_passes(&self, pawns: PawnSquares) -> Option<u16> {
        self.saved.lock().unwrap().get(&pawns).map(|saved| saved.0)
    }

    fn restore_passes(&self, pawns: PawnSquares, _: usize, take: &mut TakeDecided<'_>) -> bool {
        let saved = self.saved.lock().unwrap();
        let mut records = saved[&pawns].1.iter();
        let shown = records.try_for_each(|&(turn, won, moves, block, ref rows, ref masks)| {
            take(Decided { turn, won, moves, block, rows, masks })
        });
        shown.is_ok()
    }
}

/// Everything a table holds: by slice the values of both sides and with every right, and the
/// counts.
type Contents = BTreeMap<PawnSquares, (Vec<Vec<i32>>, String, u16)>;

fn contents(table: &TableValues) -> Contents {
    let slice = |(pawns, slot): (&PawnSquares, &std::sync::OnceLock<Arc<SliceValues>>)| {
        let slice = slot.get().unwrap();
        let rights = slice.en_passant.iter().map(|e| &e.codes);
        let codes = slice.codes.iter().chain(rights).map(|codes| {
            (0..codes.len()).map(|at| codes.value(at).to_stored()).collect::<Vec<i32>>()
        });
        (*pawns, (codes.collect(), format!("{:?}", slice.counts), slice.max_moves))
    };
    table.slices.iter().map(slice).collect()
}

/// Pages to work in, and how.
type Room<'p> = Option<(&'p Arc<Pages>, Method)>;

type Solve<'s> = dyn Fn(Room<'_>, &dyn Monitor) -> Result<TableValues, SolveError> + 's;

/// Solves a table in one go and in many; returns all that the passes decided.
fn check(name: &str, solve: &Solve<'_>) -> Vec<Record> {
    let whole = contents(&solve(None, &|| {}).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let pages = &Pages::new(folder.path(), 0);
    // Stopped between any two blocks; what was saved by then is of complete passes.
    for method in [None, Some(Method::Sweep), Some(Method::PropTables { compress: false })] {
        let keeper = Keeper::default();
        let mut asks = 50;
        let table = loop {
            keeper.left.store(u16::MAX, Ordering::Relaxed);
            keeper.asks.store(asks, Ordering::Relaxed);
            match solve(method.map(|method| (pages, method)), &keeper) {
                Err(SolveError::Stopped) => asks += asks / 2,
                done => break done.unwrap(),
            }
        };
        assert!(contents(&table) == whole, "{name}, {method:?}, stopped between blocks");
    }
    let mut all = Vec::new();
    // In memory, in pages, and in turns.
    let (sweep, tables) = (Some(Method::Sweep), Some(Method::PropTables { compress: true }));
    let kinds: [([Option<Method>; 2], u16); 6] = [
        ([None, None], 1),
        ([sweep, sweep], 1),
        ([tables, tables], 3),
        ([sweep, None], 3),
        ([None, sweep], 2),
        ([tables, sweep], 2),
    ];
    for (kind, (methods, passes)) in kinds.into_iter().enumerate() {
        let keeper = Keeper::default();
        let mut runs = 0_usize;
        let table = loop {
            keeper.left.store(passes, Ordering::Relaxed);
            keeper.asks.store(u32::MAX, Ordering::Relaxed);
            let pages = methods[runs % 2].map(|method| (pages, method));
            match solve(pages, &keeper) {
                Err(SolveError::Stopped) => runs += 1,
                done => break done.unwrap(),
            }
        };
        assert!(runs > 0, "{name}");
        assert!(contents(&table) == whole, "{name}, kind {kind}, {passes} passes a run");
        println!("{name}, kind {kind}: {runs} times stopped after {passes} passes");
        let saved = keeper.saved.into_inner().unwrap();
        all = saved.into_values().flat_map(|(_, records)| records).collect();
    }
    pages.check().unwrap();
    all
}

fn options(room: Room<'_>) -> SolveOptions {
    let (pages, method) = room.unzip();
    let method = method.unwrap_or_default();
    SolveOptions { count: true, keep: true, pages: pages.cloned(), method, outcomes: false }
}

/// The tables that an ending needs.
fn tables_behind(name: Material) -> Tables {
    let mut tables = Tables::default();
    for job in complete([name]) {
        if job.material != name {
            let mut values = TableValues::new(job.material, job.slices());
            solve_table(&mut values, &tables, &options(None), &|| {}).unwrap();
            tables.insert(job.material, Arc::new(values));
        }
    }
    tables
}

fn check_ending(name: &str, longest: u16) {
    let material: Material = name.parse().unwrap();
    let tables = tables_behind(material);
    let solve = |pages: Room<'_>, monitor: &dyn Monitor| {
        let mut values = TableValues::new(material, [PawnSquares::default()]);
        solve_table(&mut values, &tables, &options(pages), monitor).map(|_| values)
    };
    let all = check(name, &solve);
    assert!(all.iter().any(|record| record.2 > longest));
}

#[test]
fn an_ending_goes_on_after_every_pass() {
    check_ending("KRvK", 14);
}

#[test]
#[ignore = "slow: an ending of four men, solved a hundred times"]
fn an_ending_of_four_men_goes_on_after_every_pass() {
    check_ending("KQvKR", 30);
}

#[test]
fn outcomes_go_on_though_passes_were_joined() {
    let name: Material = "KQvKR".parse().unwrap();
    let tables = tables_behind(name);
    let solve = |outcomes: bool, monitor: &dyn Monitor| {
        let mut values = TableValues::new(name, [PawnSquares::default()]);
        let options = SolveOptions { outcomes, ..options(None) };
        solve_table(&mut values, &tables, &options, monitor).map(|_| values)
    };
    let whole = contents(&solve(true, &|| {}).unwrap());
    let exact = contents(&solve(false, &|| {}).unwrap());
    for (outcomes, exact) in whole.values().zip(exact.values()) {
        let signs = |sides: &[Vec<i32>]| -> Vec<i32> {
            sides.concat().iter().map(|v| v.signum()).collect()
        };
        assert!(signs(&outcomes.0) == signs(&exact.0), "outcomes differ from distances");
    }

    for passes in [1, 2, 5, 20] {
        let kept = |outcomes: bool| {
            let (keeper, mut runs) = (Keeper::default(), 0);
            let table = loop {
                keeper.left.store(passes, Ordering::Relaxed);
                keeper.asks.store(u32::MAX, Ordering::Relaxed);
                match solve(outcomes, &keeper) {
                    Err(SolveError::Stopped) => runs += 1,
                    done => break done.unwrap(),
                }
            };
            assert!(runs > 0, "{passes} passes a run");
            let records =
                keeper.saved.into_inner().unwrap().into_values().flat_map(|saved| saved.1);
            (contents(&table), records.count())
        };
        let (outcomes, records) = kept(true);
        assert!(outcomes == whole, "{passes} passes a run");
        // Else nothing was joined that had not been saved.
        let (_, all) = kept(false);
        assert_eq!(records < all, passes > 2, "{passes} passes a run: {records} of {all}");
    }
}

#[test]
fn what_passes_cannot_have_decided_is_refused() {
    let name: Material = "KRvK".parse().unwrap();
    let tables = tables_behind(name);
    let solve = |pages: Room<'_>, monitor: &dyn Monitor| {
        let mut values = TableValues::new(name, [PawnSquares::default()]);
        solve_table(&mut values, &tables, &options(pages), monitor).map(|_| values)
    };
    let all = check("KRvK", &solve);
    let whole = contents(&solve(None, &|| {}).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let pages = Pages::new(folder.path(), 0);
    let good: Vec<Record> = all.into_iter().filter(|record| record.2 <= 4).collect();
    let spoil: [fn(&mut Vec<Record>); 8] = [
        |all| all[0].2 = 5,
        |all| all[0].2 = 0,
        |all| all[0].3 = u32::MAX,
        |all| all[0].4[0] = u32::MAX,
        |all| all[0].5[0] = u64::MAX,
        |all| all[0].5[0] = 0,
        |all| all[0].5.clear(),
        |all| all.push(all[0].clone()),
    ];
    for (number, spoil) in spoil.iter().enumerate() {
        let mut bad = good.clone();
        spoil(&mut bad);
        for pages in [None, Some((&pages, Method::Sweep))] {
            let keeper = Keeper::default();
            keeper.left.store(u16::MAX, Ordering::Relaxed);
            keeper.asks.store(u32::MAX, Ordering::Relaxed);
            let saved = HashMap::from([(PawnSquares::default(), (4, bad.clone()))]);
            *keeper.saved.lock().unwrap() = saved;
            assert!(contents(&solve(pages, &keeper).unwrap()) == whole, "{number}");
            // Passes that were skipped are not begun.
            let begun = u16::MAX - keeper.left.into_inner();
            assert!(begun > 14, "{number}: {begun} passes");
        }
    }
}

fn analysis(
    prune: &(dyn Fn(Color, FuturemoveKind) -> Option<Ruling> + Sync),
    stalemates: Option<Color>,
) -> Analysis<'_> {
    let rules = Rules { prune, stalemates, listed_pawns: false, discards_spare: true };
    Analysis { futurebases: Vec::new(), rules }
}

#[test]
fn conceded_stalemates_and_moves_go_on() {
    let name: Material = "KQvK".parse().unwrap();
    let prune = |_: Color, _: FuturemoveKind| Some(Ruling::Concede);
    let analysis = analysis(&prune, Some(Color::White));
    check("KQvK with stalemates for White", &|pages, monitor| {
        let mut values = TableValues::new(name, [PawnSquares::default()]);
        solve_analysis(&mut values, &analysis, &options(pages), monitor).map(|_| values)
    });
}

#[test]
fn suicide_chess_goes_on() {
    let prune = |_: Color, _: FuturemoveKind| Some(Ruling::Discard);
    let analysis = analysis(&prune, None);
    let men =
        [(Color::White, Role::Rook), (Color::White, Role::King), (Color::Black, Role::Knight)];
    let movers = men.map(|(color, role)| Mover { color, role, squares: u64::MAX });
    let pawns = PawnSquares { white: 0, black: 1 << 16 };
    let black = (Color::Black, Role::Pawn);
    // With two men that take turns to take each other, and with a pawn that may be stuck.
    let both = [
        (vec![movers[0], movers[2]], PawnSquares::default(), vec![men[0], men[2]]),
        (vec![movers[0], movers[1]], pawns, vec![men[0], men[1], black]),
    ];
    for (movers, pawns, men) in both {
        let all = check("suicide chess", &|pages, monitor| {
            let layout = Layout::restricted(&movers, pawns.black != 0, Variant::Suicide);
            let material = Material::from_men(men.iter().copied());
            let mut values = TableValues::with_layout(material, layout, NormalForm::None, [pawns]);
            solve_analysis(&mut values, &analysis, &options(pages), monitor).map(|_| values)
        });
        let at_once = all.iter().any(|&(_, won, moves, ..)| !won && moves == 0);
        println!("lost without a move: {at_once}");
        assert_eq!(at_once, pawns.black != 0);
    }
}
