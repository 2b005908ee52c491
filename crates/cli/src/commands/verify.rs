//! `hoffman verify` and `hoffman -v`: tables checked entry by entry.

use std::path::{Path, PathBuf};

use hoffman::process::is_folder;
use hoffman::{Event, ReadOptions, Table, Verified, VerifyOptions, VerifyReport};

use crate::RunEnd;
use crate::args::VerifyArgs;
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
    let reading = &hoffman::sharing(args.at_hand.reading()?);
    let request = VerifyRequest { sample, reading, folder };
    if let Some(report) = &args.report {
        if !reading.nalimov_folders().is_empty() {
            let text = "--report keeps no comparison with Nalimov tables: leave out --nalimov";
            return Err(Misuse(text.to_owned()).into());
        }
        return once(args, report, &request);
    }

    let tables = expanded(&args.tables, reading)?;
    let mut work = FolderWork::of(&tables);
    let mut good = true;
    let mut all = Vec::new();
    for table in &tables {
        match check_of_many(table, &request, &mut work) {
            Ok(report) => {
                good &= report.ok;
                if !args.json {
                    work.print(&report)?;
                }
                all.push(report);
                good &= agrees_with_nalimov(&table.path, &request);
            }
            Err(error) => {
                complain(&error);
                good = false;
            }
        }
    }

    if args.json && !all.is_empty() {
        let json = match all.as_slice() {
            [one] if tables.len() == 1 => serde_json::to_string(one)?,
            several => serde_json::to_string(several)?,
        };
        print_line(&json)?;
    }
    Ok(RunEnd::of(good))
}

/// A table that was named, or one of a folder, with the number of its entries.
struct GivenTable {
    path: PathBuf,
    entries: Option<u64>,
}

/// The tables that are meant, those of a folder in the place of its name.
fn expanded(named: &[PathBuf], reading: &ReadOptions) -> anyhow::Result<Vec<GivenTable>> {
    let mut all = Vec::new();
    for path in named {
        if !is_folder(path) {
            all.push(GivenTable { path: path.clone(), entries: None });
            continue;
        }
        let found = hoffman::tables_to_verify(path, reading)?;
        anyhow::ensure!(!found.is_empty(), "{}: there are no tables in it", path.display());
        all.extend(
            found
                .into_iter()
                .map(|table| GivenTable { path: table.path, entries: Some(table.entries) }),
        );
    }
    Ok(all)
}

/// How far the work on the tables of a folder is.
struct FolderWork {
    /// All entries of these tables, and those of the ones that are done.
    all: u64,
    done: u64,
    /// None if there are no such tables.
    bar: Option<Bar>,
}

impl FolderWork {
    fn of(tables: &[GivenTable]) -> FolderWork {
        let all = tables.iter().filter_map(|table| table.entries).sum();
        FolderWork { all, done: 0, bar: (all > 0).then(|| Bar::new("indices")) }
    }

    /// Shows what was found of a table.
    fn print(&self, report: &VerifyReport) -> anyhow::Result<()> {
        let print = || print_line(&report.to_string());
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// Verifies one of several tables; progress of those of a folder is that of all of them.
fn check_of_many(
    named: &GivenTable,
    request: &VerifyRequest<'_>,
    work: &mut FolderWork,
) -> anyhow::Result<VerifyReport> {
    let FolderWork { all, done, bar } = work;
    let (Some(entries), Some(bar)) = (named.entries, bar) else {
        return check(&named.path, request);
    };
    let before = *done;
    *done += entries;
    let table = tables::open(&named.path, request.folder.as_deref(), request.reading)?;
    bar.name(table.path().display().to_string());
    let mut tell = |event| match event {
        Event::Entries { done, .. } => bar.entries(done, before, *all),
        other => bar.tell(other),
    };
    Ok(table.verify(&request.options(), &mut tell)?)
}

const OF_ONE: &str = "a report is of one table";

/// Verifies a table unless that was done, and keeps what was found.
fn once(args: &VerifyArgs, report: &Path, request: &VerifyRequest<'_>) -> anyhow::Result<RunEnd> {
    let [table] = args.tables.as_slice() else { return Err(Misuse(OF_ONE.to_owned()).into()) };
    if is_folder(table) {
        return Err(Misuse(OF_ONE.to_owned()).into());
    }
    let table = &Table::find(table, request.folder.as_deref())?;
    let bar = Bar::new("indices");
    let options = request.options();
    let how = (request.reading.clone(), &options);
    match hoffman::verify_once(table, report, how, &mut |event| bar.tell(event)) {
        Ok(Verified::Kept(found)) if args.json => print_line(&found.to_string())?,
        Ok(Verified::Kept(_)) => print_line(&format!("{}: verified before", table.display()))?,
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

/// Compares a table with the Nalimov table of the same men, if folders with such tables were named,
/// and says where they differ, or why that cannot be told.
pub(crate) fn agrees_with_nalimov(named: &Path, request: &VerifyRequest<'_>) -> bool {
    if request.reading.nalimov_folders().is_empty() {
        return true;
    }
    say("Verifying tablebase against Nalimov");
    against_nalimov(named, request).unwrap_or_else(|error| {
        complain(&error);
        false
    })
}

/// Differences of a table made with prunes do not count.
fn against_nalimov(named: &Path, request: &VerifyRequest<'_>) -> anyhow::Result<bool> {
    let table = tables::open(named, request.folder.as_deref(), request.reading)?;
    let differences = table.compare_with_nalimov()?;
    for difference in &differences {
        say(difference);
    }
    if !differences.is_empty() && table.is_pruned() {
        note(&format!(
            "{}: the table was made with prunes, so others may say otherwise",
            table.path().display()
        ));
        return Ok(true);
    }
    Ok(differences.is_empty())
}
