//! Positions per second of the solver's kernels, and of whole small endings.
//!
//! `cargo bench -p hoffman-solve` prints a line a kernel: millions of positions a second, the best
//! of several rounds. Figures of different machines cannot be compared; two versions of the program
//! on the same machine, in the same minute, can.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use hoffman_board::Material;
use hoffman_plan::complete;
use hoffman_solve::{SolveOptions, Tables, bench, solve_table};
use hoffman_space::{Layout, TableValues};

/// The best time of several rounds, in seconds.
fn best(rounds: usize, mut f: impl FnMut()) -> f64 {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min)
}

fn main() {
    let from = bench::plane();
    let mut out = vec![0; from.len()];
    let times = 200;
    for (kernel, name) in bench::KERNELS.iter().enumerate() {
        let seconds = best(10, || {
            for _ in 0..times {
                bench::run(kernel, black_box(&from), black_box(&mut out));
            }
        });
        let positions = (from.len() * 64 * times) as f64;
        println!("{name:26} {:9.0} M positions/s", positions / seconds / 1e6);
    }
    let layout = Layout::new(&"KQRvKR".parse().unwrap());
    let mut positions = 0;
    let seconds = best(3, || positions = bench::legal(&layout));
    println!("{:26} {:9.0} M positions/s", "legality of KQRvKR", positions as f64 / seconds / 1e6);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for name in ["KQvKR", "KBNvK", "KRvKP", "KPvKP"] {
        let material: Material = name.parse().unwrap();
        let jobs = complete([material]);
        let (last, needed) = jobs.split_last().unwrap();
        let options = || SolveOptions { count: false, keep: true, ..SolveOptions::default() };
        let solve = |job: &hoffman_plan::EndingJob, tables: &Tables| {
            let mut values = TableValues::new(job.material, job.slices());
            pool.install(|| solve_table(&mut values, tables, &options(), &|| {})).unwrap();
            values
        };
        let mut tables = Tables::default();
        for job in needed {
            let values = solve(job, &tables);
            tables.insert(job.material, Arc::new(values));
        }
        let mut positions = 0;
        let seconds = best(5, || positions = solve(last, &tables).bytes());
        println!("{name:26} {:9.0} M positions/s", positions as f64 / seconds / 1e6);
    }
}
