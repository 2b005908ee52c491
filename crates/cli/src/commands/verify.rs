//! `hoffman verify` and `hoffman -v`: tables checked entry by entry.

use std::path::{Path, PathBuf};

use hoffman::{ReadOptions, VerifyOptions, VerifyReport};

use crate::Outcome;
use crate::args::VerifyArgs;
use crate::commands::tables;
use crate::output::{complain, note, print_line, say};
use crate::progress::Bar;

/// What is checked of a table, and against what.
pub(crate) struct VerifyRequest<'a> {
    /// So many entries only.
    pub(crate) sample: Option<u64>,
    /// How tables are read; its folders with Syzygy tables are compared with.
    pub(crate) reading: &'a ReadOptions,
    /// Where tables and smaller tables are looked for, beside other places.
    pub(crate) folder: Option<PathBuf>,
}

/// Verifies the tables one by one.
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let folder = args.at_hand.folder()?;
    let sample = args.sample.map(std::num::NonZeroU64::get);
    let reading = &args.at_hand.reading()?;
    let request = VerifyRequest { sample, reading, folder };

    let mut good = true;
    let mut all = Vec::new();
    for named in &args.tables {
        match check(named, &request) {
            Ok(report) => {
                good &= report.ok;
                if !args.json {
                    print_line(&report.to_string())?;
                }
                all.push(report);
            }
            Err(error) => {
                complain(&error);
                good = false;
            }
        }
    }

    if args.json && !all.is_empty() {
        let json = match all.as_slice() {
            [one] if args.tables.len() == 1 => serde_json::to_string(one)?,
            several => serde_json::to_string(several)?,
        };
        print_line(&json)?;
    }
    Ok(Outcome::of(good))
}

/// Verifies a table.
pub(crate) fn check(named: &Path, request: &VerifyRequest<'_>) -> anyhow::Result<VerifyReport> {
    let table = tables::open(named, request.folder.as_deref(), request.reading)?;
    let mut options = VerifyOptions::new().threads_of_caller();
    if let Some(entries) = request.sample {
        options = options.sample(entries);
    }
    for folder in request.reading.syzygy_folders() {
        options = options.syzygy(folder);
    }
    if let Some(folder) = &request.folder {
        options = options.folder(folder);
    }
    let bar = Bar::new("indices");
    bar.name(table.path().display().to_string());
    Ok(table.verify(&options, &mut |event| bar.tell(event))?)
}

/// Compares a table with the Nalimov table of the same men, and says where they differ.
/// Differences of a table made with prunes do not count.
pub(crate) fn against_nalimov(path: &Path, reading: &ReadOptions) -> anyhow::Result<bool> {
    let table = tables::open(path, None, reading)?;
    let differences = table.compare_with_nalimov()?;
    for difference in &differences {
        say(difference);
    }
    if !differences.is_empty() && table.is_pruned() {
        note(&format!(
            "{}: the table was made with prunes, so others may say otherwise",
            path.display()
        ));
        return Ok(true);
    }
    Ok(differences.is_empty())
}
