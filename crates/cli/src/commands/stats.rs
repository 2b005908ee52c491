//! `hoffman stats`: what tables contain.

use std::path::Path;

use hoffman_probe::stats::{TableStats, stats, to_json};
use hoffman_run::available_memory;

use crate::Outcome;
use crate::args::StatsArgs;
use crate::commands::tables;
use crate::output::{complain, print_line};
use crate::work::Reading;

/// Counts the tables one by one.
pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<Outcome> {
    let folder = args.folder.existing()?;
    let reading = args.reading.reading(args.foreign.options())?;
    let mut all = Vec::new();
    for named in &args.tables {
        match count(named, folder.as_deref(), &reading) {
            Ok(stats) if args.json => all.push(stats),
            Ok(stats) => {
                all.push(stats.clone());
                print_line(&stats.to_string())?;
            }
            Err(error) => complain(&error),
        }
    }
    if args.json && !all.is_empty() {
        // Who names several tables gets a list, however many can be read.
        let json = if args.tables.len() == 1 { to_json(&all) } else { serde_json::to_value(&all) };
        print_line(&json?.to_string())?;
    }
    Ok(Outcome::of(all.len() == args.tables.len()))
}

fn count(named: &Path, folder: Option<&Path>, reading: &Reading) -> anyhow::Result<TableStats> {
    let path = tables::find(named, folder)?;
    let table = tables::open(&path, reading.source.clone(), &reading.foreign)?;
    let free = || available_memory().map(|free| free / 2);
    let memory = reading.whole.or_else(free).unwrap_or(4 << 30);
    Ok(stats(&table, memory)?)
}
