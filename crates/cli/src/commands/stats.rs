//! `hoffman stats`: what tables contain.

use std::path::Path;

use hoffman::{ReadOptions, TableStats};

use crate::RunEnd;
use crate::args::StatsArgs;
use crate::commands::tables;
use crate::output::{complain, print_line};

/// Counts the tables one by one.
pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<RunEnd> {
    let folder = args.at_hand.folder()?;
    let alone = args.at_hand.reading()?;
    // What several of them lean on is decoded once.
    let reading = if args.tables.len() > 1 { hoffman::sharing(alone) } else { alone };
    let mut all = Vec::new();
    for named in &args.tables {
        match count(named, folder.as_deref(), &reading) {
            Ok(stats) if args.json => all.push(stats),
            Ok(stats) => {
                print_line(&stats.to_string())?;
                all.push(stats);
            }
            Err(error) => complain(&error),
        }
    }
    if args.json && !all.is_empty() {
        // Several tables make a list, however many can be read.
        let json = match all.as_slice() {
            [one] if args.tables.len() == 1 => serde_json::to_string(one)?,
            several => serde_json::to_string(several)?,
        };
        print_line(&json)?;
    }
    Ok(RunEnd::of(all.len() == args.tables.len()))
}

fn count(named: &Path, folder: Option<&Path>, reading: &ReadOptions) -> anyhow::Result<TableStats> {
    Ok(tables::open(named, folder, reading)?.stats()?)
}
