//! `hoffman verify` and `hoffman -v`: tables checked entry by entry.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hoffman_board::Material;
use hoffman_probe::verify::foreign::compare;
use hoffman_probe::verify::{Smaller, VerifyOptions, VerifyReport, search_folders, verify};
use hoffman_run::available_memory;
use hoffman_table::foreign::{self, ForeignOptions, Kind};
use hoffman_table::htb::SourceOptions;

use crate::Outcome;
use crate::args::VerifyArgs;
use crate::commands::tables;
use crate::output::{complain, note, print_line, say};
use crate::progress::Bar;
use crate::work::Reading;

/// What is checked of a table, and against what.
pub(crate) struct Request<'a> {
    /// So many entries only.
    pub(crate) sample: Option<u64>,
    /// Folders with Syzygy tables to compare with.
    pub(crate) syzygy: &'a [PathBuf],
    /// How tables are read, also those of other programs.
    pub(crate) reading: &'a Reading,
    /// Where tables and smaller tables are looked for, beside other places.
    pub(crate) folder: Option<PathBuf>,
}

/// Verifies the tables one by one.
pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let folder = args.folder.existing()?;
    let sample = args.sample.map(std::num::NonZeroU64::get);
    let reading = args.reading.reading(args.foreign.options())?;
    let request = Request { sample, syzygy: &args.foreign.syzygy, reading: &reading, folder };
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
pub(crate) fn check(named: &Path, request: &Request<'_>) -> anyhow::Result<VerifyReport> {
    let path = tables::find(named, request.folder.as_deref())?;
    let Reading { source, foreign, whole } = request.reading;
    let table = tables::open(&path, source.clone(), foreign)?;
    let folders = search_folders(&path, request.folder.as_deref());
    let smaller = Smaller::with_foreign(&table, &folders, source, foreign)?;
    let bar = Bar::new("indices");
    bar.name(path.display().to_string());
    let progress = |done, total| bar.set(done, total);
    let usual = VerifyOptions::default();
    let options = VerifyOptions {
        sample: request.sample,
        syzygy: request.syzygy.to_vec(),
        memory: whole
            .or_else(|| available_memory().map(|free| usual.memory.min(free / 2)))
            .unwrap_or(usual.memory),
        progress: Some(&progress),
    };
    Ok(verify(&table, &smaller, &options)?)
}

/// Compares a table with the Nalimov table of the same men, and says where they differ. Differences of a
/// table made with prunes do not count.
pub(crate) fn against_nalimov(path: &Path, options: &ForeignOptions) -> anyhow::Result<bool> {
    let table = tables::open(path, SourceOptions::default(), options)?;
    let men = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let name = format!("{}.nbw.emd", men.normalized().0.stem());
    let nalimov = foreign::open(Path::new(&name), options)
        .map_err(anyhow::Error::from)
        .with_context(|| format!("{}: Can't find Nalimov tablebase", path.display()))?;
    let differences = compare(&table, nalimov.as_ref(), Kind::Nalimov)?;
    for difference in &differences {
        say(difference);
    }
    if !differences.is_empty() && !table.control().prunes.is_empty() {
        note(&format!(
            "{}: the table was made with prunes, so others may say otherwise",
            path.display()
        ));
        return Ok(true);
    }
    Ok(differences.is_empty())
}
