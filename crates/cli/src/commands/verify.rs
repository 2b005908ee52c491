//! `hoffman verify` and `hoffman -v`: tables checked entry by entry.

use std::path::{Path, PathBuf};

use hoffman::{ReadOptions, Verified, VerifyOptions, VerifyReport};

use crate::RunEnd;
use crate::args::{VerifyArgs, expect_folders};
use crate::commands::tables;
use crate::output::{Misuse, complain, note, print_line, say};
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
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<RunEnd> {
    let folder = args.at_hand.folder()?;
    let sample = args.sample.map(std::num::NonZeroU64::get);
    let reading = &args.at_hand.reading()?;
    expect_folders(reading.syzygy_folders())?;
    let request = VerifyRequest { sample, reading, folder };
    if let Some(report) = &args.report {
        return once(args, report, &request);
    }

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
    Ok(RunEnd::of(good))
}

/// Verifies a table unless that was done, and keeps what was found.
fn once(args: &VerifyArgs, report: &Path, request: &VerifyRequest<'_>) -> anyhow::Result<RunEnd> {
    let [table] = args.tables.as_slice() else {
        return Err(Misuse("a report is of one table".to_owned()).into());
    };
    let bar = Bar::new("indices");
    let options = request.options();
    let how = (request.reading.clone(), &options);
    match hoffman::verify_once(table, report, how, &mut |event| bar.tell(event)) {
        Ok(Verified::Kept) => print_line(&format!("{}: verified before", table.display()))?,
        Ok(Verified::Found(found)) => {
            let json = || serde_json::to_string(&found);
            print_line(&if args.json { json()? } else { found.to_string() })?;
            return Ok(RunEnd::of(found.ok));
        }
        Err(error) if error.is_temporary() => {
            complain(&error.into());
            return Ok(RunEnd::Later);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(RunEnd::Done)
}

impl VerifyRequest<'_> {
    fn options(&self) -> VerifyOptions {
        let options = VerifyOptions::new().threads_of_caller();
        let options = self.sample.into_iter().fold(options, VerifyOptions::sample);
        let options = self.reading.syzygy_folders().iter().fold(options, VerifyOptions::syzygy);
        self.folder.iter().fold(options, VerifyOptions::folder)
    }
}

/// Verifies a table.
pub(crate) fn check(named: &Path, request: &VerifyRequest<'_>) -> anyhow::Result<VerifyReport> {
    let table = tables::open(named, request.folder.as_deref(), request.reading)?;
    let bar = Bar::new("indices");
    bar.name(table.path().display().to_string());
    Ok(table.verify(&request.options(), &mut |event| bar.tell(event))?)
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
