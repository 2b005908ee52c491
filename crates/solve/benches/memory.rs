//! What little memory costs: the sweep over blocks and the propagation tables, side by side.
//!
//! `cargo bench -p hoffman-solve --bench memory -- [--threads N] [--runs N] ENDING...` solves the
//! last step of each ending (KQvKR if none is named) in memory, and then in pages of a half to a
//! fiftieth of its table, with both methods. It prints processor and clock seconds of the quickest
//! run, and how much was written to and read from working files, in megabytes. What the ending
//! needs is in memory all the while.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use hoffman_board::Material;
use hoffman_pages::Pages;
use hoffman_plan::complete;
use hoffman_solve::{Method, SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;

/// What part of the table pages may take.
const PARTS: [usize; 5] = [2, 5, 10, 20, 50];

const METHODS: [(&str, Method); 3] = [
    ("sweep", Method::Sweep),
    ("proptables", Method::PropTables { compress: false }),
    ("proptables, compressed", Method::PropTables { compress: true }),
];

/// Processor seconds of this process so far, where the system tells.
fn processor() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return f64::NAN };
    // Behind the name, which may contain anything, come the state and ten numbers, then two times
    // in hundredths of seconds.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[allow(clippy::too_many_lines, reason = "one table of figures")]
fn main() {
    let (mut threads, mut runs) = (1, 3);
    let mut endings: Vec<Material> = Vec::new();
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap().parse().unwrap();
        if argument == "--threads" {
            threads = number();
        } else if argument == "--runs" {
            runs = number();
        } else {
            endings.push(argument.parse().unwrap());
        }
    }
    if endings.is_empty() {
        endings.push("KQvKR".parse().unwrap());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for ending in endings {
        let jobs = complete([ending]);
        let mut tables = Tables::default();
        let solve =
            |job: &hoffman_plan::EndingJob, tables: &Tables, pages: Option<&Arc<Pages>>, method| {
                let mut values = TableValues::new(job.material, job.slices());
                let options = SolveOptions {
                    count: false,
                    keep: true,
                    pages: pages.cloned(),
                    method,
                    outcomes: false,
                };
                pool.install(|| solve_table(&mut values, tables, &options, &|| {})).unwrap();
                values
            };
        let (last, needed) = jobs.split_last().unwrap();
        for job in needed {
            let values = solve(job, &tables, None, Method::Sweep);
            tables.insert(job.material, Arc::new(values));
        }
        let measure = |name: &str, budget: Option<usize>, method: Method| {
            let mut best = (f64::MAX, f64::MAX, 0, 0);
            let mut bytes = 0;
            for _ in 0..runs {
                let pages = budget.map(|budget| Pages::new(folder.path(), budget));
                let (clock, cpu) = (Instant::now(), processor());
                bytes = solve(last, &tables, pages.as_ref(), method).bytes();
                let (clock, cpu) = (clock.elapsed().as_secs_f64(), processor() - cpu);
                let (written, read) = pages.as_ref().map_or((0, 0), |pages| pages.traffic());
                if let Some(pages) = pages {
                    pages.check().unwrap();
                }
                if cpu < best.0 {
                    best = (cpu, clock, written, read);
                }
            }
            let (cpu, clock, written, read) = best;
            let [written, read] = [written, read].map(|bytes| bytes as f64 / 1e6);
            println!("| {name:32} | {cpu:7.2} | {clock:7.2} | {written:9.1} | {read:9.1} |");
            bytes
        };
        println!("{ending}, {threads} threads");
        println!("| {:32} | CPU, s | wall, s | written, MB | read, MB |", "memory and method");
        let bytes = measure("all", None, Method::Sweep);
        for part in PARTS {
            for (name, method) in METHODS {
                measure(&format!("1/{part} {name}"), Some(bytes / part), method);
            }
        }
    }
}
