//! Solving in little memory: the values are those of a run in memory, whatever the bound.

use std::collections::BTreeMap;
use std::sync::Arc;

use hoffman_board::{Color, FuturemoveKind, Material};
use hoffman_pages::Pages;
use hoffman_plan::complete;
use hoffman_solve::{
    Analysis, Method, Rules, Ruling, SolveOptions, Tables, solve_analysis, solve_table,
};
use hoffman_space::{PawnSquares, TableValues};

/// Everything a table holds: by slice the values of both sides and with every right, and the
/// counts.
type Contents = BTreeMap<PawnSquares, (Vec<Vec<u16>>, String, u16)>;

fn contents(table: &TableValues) -> Contents {
    let slice = |(pawns, slot): (&PawnSquares, &std::sync::OnceLock<Arc<_>>)| {
        let slice: &Arc<hoffman_space::SliceValues> = slot.get().unwrap();
        let rights = slice.en_passant.iter().map(|e| &e.codes);
        let codes = slice.codes.iter().chain(rights).map(|codes| {
            (0..codes.len()).map(|at| codes.value(at).to_stored() as u16).collect::<Vec<u16>>()
        });
        (*pawns, (codes.collect(), format!("{:?}", slice.counts), slice.max_moves))
    };
    table.slices.iter().map(slice).collect()
}

fn options(pages: Option<&Arc<Pages>>, method: Method) -> SolveOptions {
    SolveOptions { count: true, keep: true, pages: pages.cloned(), method, outcomes: false }
}

fn solved(names: &[&str], options: &SolveOptions) -> Tables {
    let mut tables = Tables::default();
    for job in complete(names.iter().map(|n| n.parse().unwrap())) {
        let mut values = TableValues::new(job.material, job.slices());
        solve_table(&mut values, &tables, options, &|| {}).unwrap();
        tables.insert(job.material, Arc::new(values));
    }
    tables
}

/// Compares the endings solved in so many bytes, by so many threads, with those solved in memory.
fn check(in_memory: &Tables, names: &[&str], budget: usize, threads: usize, method: Method) {
    let folder = tempfile::tempdir().unwrap();
    let pages = Pages::new(folder.path(), budget);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let paged = pool.install(|| solved(names, &options(Some(&pages), method)));
    pages.check().unwrap();
    for (material, table) in &paged {
        let same = contents(table) == contents(&in_memory[material]);
        assert!(same, "{material}, {budget} bytes, {threads} threads, {method:?}");
    }
    assert_eq!(pages.traffic().0 > 0, budget < 64 << 20);
}

/// Endings in sweeps, the first `pawnless` of them with propagation tables, too.
fn check_little_memory(
    names: &[&str],
    pawnless: usize,
    sweeps: &[(usize, usize)],
    propagated: &[(usize, usize, bool)],
) {
    let in_memory = solved(names, &options(None, Method::Sweep));
    for &(budget, threads) in sweeps {
        check(&in_memory, names, budget, threads, Method::Sweep);
    }
    // Where kings stand in the same block there is nothing to propagate.
    let names = &names[..pawnless];
    for &(budget, threads, compress) in propagated {
        check(&in_memory, names, budget, threads, Method::PropTables { compress });
    }
}

#[test]
fn little_memory_does_not_matter() {
    let propagated = [(0, 3, true), (100_000, 1, false), (4 << 20, 2, true)];
    check_little_memory(&["KQvKR", "KRvKP"], 1, &[(1 << 20, 3), (64 << 20, 2)], &propagated);
}

#[test]
#[ignore = "slow: three endings of four men, nine ways each"]
fn little_memory_does_not_matter_in_any_ending() {
    let sweeps = [(1 << 20, 1), (4 << 20, 3), (64 << 20, 2)];
    let budgets = [(0, 3), (100_000, 1), (4 << 20, 2)];
    let propagated = budgets.map(|(budget, n)| [(budget, n, false), (budget, n, true)]);
    check_little_memory(&["KQvKR", "KBNvK", "KRvKP"], 2, &sweeps, propagated.as_flattened());
}

#[test]
fn a_slice_with_a_pawn_and_four_movers_is_the_same() {
    let material: Material = "KRPvKN".parse().unwrap();
    let pawns = PawnSquares { white: 1 << 19, black: 0 };
    let prune = |_: Color, _: FuturemoveKind| Some(Ruling::Discard);
    let rules =
        Rules { prune: &prune, stalemates: None, listed_pawns: false, discards_spare: true };
    let analysis = Analysis { futurebases: Vec::new(), rules };
    let solve = |pages: Option<&Arc<Pages>>, method: Method| {
        let mut values = TableValues::new(material, [pawns]);
        solve_analysis(&mut values, &analysis, &options(pages, method), &|| {}).unwrap();
        contents(&values)
    };
    let plain = solve(None, Method::Sweep);
    assert!(plain.values().all(|slice| slice.2 > 10));
    let folder = tempfile::tempdir().unwrap();
    let pages = Pages::new(folder.path(), 2 << 20);
    assert!(plain == solve(Some(&pages), Method::PropTables { compress: false }));
    assert!(pages.traffic().0 > 0);
    pages.check().unwrap();
}

#[test]
fn en_passant_needs_no_memory_either() {
    let name: Material = "KPvKP".parse().unwrap();
    let jobs = complete([name]);
    let folder = tempfile::tempdir().unwrap();
    let behind = ["KQvKP", "KRvKP", "KBvKP", "KNvKP", "KPvK"];
    let mut tables = solved(&behind, &options(None, Method::Sweep));
    let mut solve = |options: &SolveOptions| {
        // A few slices with rights will do.
        let job = jobs.iter().find(|job| job.material == name).unwrap();
        let slices = job.slices().into_iter().filter(|s| {
            (s.white | s.black) & !0x00ff_ffff_ffff_ff00 == 0
                && (s.white.trailing_zeros() & 7).abs_diff(s.black.trailing_zeros() & 7) < 2
                && s.white.trailing_zeros() >= 16
        });
        let mut values = TableValues::new(name, slices);
        solve_table(&mut values, &tables, options, &|| {}).unwrap();
        tables.insert(name, Arc::new(values));
        tables.remove(&name).unwrap()
    };
    for outcomes in [false, true] {
        let asked = |options| SolveOptions { outcomes, ..options };
        let plain = contents(&solve(&asked(options(None, Method::Sweep))));
        assert!(plain.values().any(|slice| slice.0.len() > 2));
        for method in [Method::Sweep, Method::PropTables { compress: true }] {
            let pages = Pages::new(folder.path(), 0);
            let paged = contents(&solve(&asked(options(Some(&pages), method))));
            assert!(plain == paged, "{method:?}, {outcomes}");
        }
    }
}

/// Outcomes are those of a run in memory, too, and a quarter of the distances is written.
#[test]
fn outcomes_are_packed_in_pages() {
    let names = ["KQvKR", "KBNvK"];
    let outcomes = |options: SolveOptions| SolveOptions { outcomes: true, ..options };
    let in_memory = solved(&names, &outcomes(options(None, Method::Sweep)));
    for (budget, method) in [
        (0, Method::Sweep),
        (0, Method::PropTables { compress: false }),
        // Slices are solved in memory and put into pages.
        (32 << 20, Method::Sweep),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::new(folder.path(), budget);
        let paged = solved(&names, &outcomes(options(Some(&pages), method)));
        pages.check().unwrap();
        for (material, table) in &paged {
            assert!(contents(table) == contents(&in_memory[material]), "{material}, {method:?}");
            assert_eq!(table.bytes(), 0, "{material} lies in memory");
        }
        if budget > 0 {
            let distances = Pages::new(folder.path(), budget);
            let exact = solved(&names, &options(Some(&distances), method));
            let held = |pages: &Pages| {
                pages.set_budget(0);
                pages.traffic().0
            };
            let [outcomes, exact_bytes] = [&pages, &distances].map(|pages| held(pages));
            assert!(outcomes > 1 << 20 && outcomes <= exact_bytes / 3, "{outcomes} {exact_bytes}");
            drop((paged, exact));
        }
    }
}
