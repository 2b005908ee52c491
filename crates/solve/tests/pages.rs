//! Solving in little memory: the values are those of a run in memory, whatever the bound.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use hoffman_board::Material;
use hoffman_pages::Pages;
use hoffman_plan::complete;
use hoffman_solve::{Method, SolveOptions, Tables, solve_table};
use hoffman_space::{PawnStructure, TableValues};

/// Everything a table holds: by slice the values of both sides and with every right, and the counts.
type Contents = BTreeMap<PawnStructure, (Vec<Vec<u16>>, String, u16)>;

fn contents(table: &TableValues) -> Contents {
    let slice = |(pawns, slot): (&PawnStructure, &std::sync::OnceLock<Arc<_>>)| {
        let slice: &Arc<hoffman_space::SliceValues> = slot.get().unwrap();
        let rights = slice.en_passant.iter().map(|e| &e.codes);
        let codes = slice.codes.iter().chain(rights).map(|codes| {
            (0..codes.len()).map(|at| codes.value(at).to_stored() as u16).collect::<Vec<u16>>()
        });
        (*pawns, (codes.collect(), format!("{:?}", slice.counts), slice.max_moves))
    };
    table.slices.iter().map(slice).collect()
}

const METHODS: [Method; 3] =
    [Method::Sweep, Method::PropTables { compress: false }, Method::PropTables { compress: true }];

fn solved(names: &[&str], pages: Option<&Arc<Pages>>, method: Method) -> Tables {
    let mut tables = Tables::new();
    for job in complete(names.iter().map(|n| n.parse().unwrap())) {
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: true, keep: true, pages: pages.cloned(), method };
        solve_table(&mut values, &tables, &options, &|| {}).unwrap();
        tables.insert(job.material, Arc::new(values));
    }
    tables
}

#[test]
fn little_memory_does_not_matter() {
    let names = ["KQvKR", "KBNvK", "KRvKP"];
    let in_memory = solved(&names, None, Method::Sweep);
    let folder = tempfile::tempdir().unwrap();
    for (budget, threads) in [(0, 2), (200_000, 3), (1 << 20, 1), (4 << 20, 3), (64 << 20, 2)] {
        for method in METHODS {
            let pages = Pages::new(folder.path(), budget);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let paged = pool.install(|| solved(&names, Some(&pages), method));
            pages.check().unwrap();
            for (material, table) in &in_memory {
                let same = contents(table) == contents(&paged[material]);
                assert!(same, "{material}, {budget} bytes, {threads} threads, {method:?}");
            }
            assert_eq!(pages.traffic().0 > 0, budget < 64 << 20);
        }
    }
}

#[test]
fn en_passant_needs_no_memory_either() {
    let name: Material = "KPvKP".parse().unwrap();
    let jobs = complete([name]);
    let folder = tempfile::tempdir().unwrap();
    let mut tables = solved(&["KQvKP", "KRvKP", "KBvKP", "KNvKP", "KPvK"], None, Method::Sweep);
    let mut solve = |pages: Option<&Arc<Pages>>, method: Method| {
        // A few slices with rights will do.
        let job = jobs.iter().find(|job| job.material == name).unwrap();
        let slices = job.slices().into_iter().filter(|s| {
            (s.white | s.black) & !0x00ff_ffff_ffff_ff00 == 0
                && (s.white.trailing_zeros() & 7).abs_diff(s.black.trailing_zeros() & 7) < 2
                && s.white.trailing_zeros() >= 16
        });
        let mut values = TableValues::new(name, slices);
        let options = SolveOptions { count: true, keep: true, pages: pages.cloned(), method };
        solve_table(&mut values, &tables, &options, &|| {}).unwrap();
        tables.insert(name, Arc::new(values));
        tables.remove(&name).unwrap()
    };
    let plain = contents(&solve(None, Method::Sweep));
    assert!(plain.values().any(|slice| slice.0.len() > 2));
    for method in METHODS {
        let pages = Pages::new(folder.path(), 0);
        assert!(plain == contents(&solve(Some(&pages), method)), "{method:?}");
    }
}
