//! Work that takes long: solving, building, planning, checking and counting.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use hoffman_board::{Material, Role, Variant};
use hoffman_plan::{Job, all_endings, complete, reachable};
use hoffman_probe::collection::Collection;
use hoffman_probe::position::Position;
use hoffman_probe::stats::TableStats;
use hoffman_probe::verify::{self as check, Smaller, VerifyReport, search_folders};
use hoffman_reader::{Answer, AsPosition, Error as ProbeError, Tablebase};
use hoffman_run::{
    BuildOptions, RunPlan, Silent, build as build_endings, build_control, in_order_of_need,
    plan_build, plan_controls,
};
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use hoffman_table::htb::SourceOptions;

use crate::error::Error;
use crate::event::{Event, Relay};
use crate::options::{Options, VerifyOptions};

/// Something that can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// An ending and all that its captures and promotions lead to.
    Ending(Material),
    /// All endings of up to so many men.
    Men(u8),
    /// The table of a control file, or all tables of an expansion.
    ControlFile(PathBuf),
}

impl FromStr for Target {
    type Err = Error;

    /// `KRPvKR`, or the path of a control file, which ends in `.xml`.
    fn from_str(text: &str) -> Result<Target, Error> {
        if Path::new(text).extension().is_some_and(|e| e.eq_ignore_ascii_case("xml")) {
            return Ok(Target::ControlFile(text.into()));
        }
        Ok(Target::Ending(text.parse()?))
    }
}

impl From<Material> for Target {
    fn from(ending: Material) -> Target {
        Target::Ending(ending)
    }
}

/// What a build did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Built {
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// Files that were there already, intact.
    pub kept: Vec<PathBuf>,
}

/// The answer to a position, and the tables that it comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solved {
    /// What is known of the position.
    pub answer: Answer,
    /// The tables behind it, to be asked for moves and lines.
    pub tables: Tablebase,
    /// What was made on the way.
    pub built: Built,
}

/// Answers a position, and makes what is missing for it: tables of the pawn structures that it can lead to.
///
/// [`Event::Solved`] comes as soon as the answer is there; files may be written after it.
///
/// # Errors
/// The position is none that tables hold, something does not fit into memory or onto the disk, or the work was
/// cancelled.
pub fn solve(
    position: impl AsPosition,
    options: &Options,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<Solved, Error> {
    let position = position.as_position(Variant::Normal)?.into_owned();
    let jobs = jobs_of(&position);
    let relay = Relay::new(progress);
    let answer = Mutex::new(None);
    let solved = |tables: Vec<Table>| {
        let tables = tablebase_of(tables);
        if let Ok(tables) = &tables {
            relay.tell(Event::Solved(tables.clone()));
        }
        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(tables);
    };
    let run = BuildOptions {
        dir: options.dir().to_owned(),
        write: options.writes(),
        args: options.args(),
        progress: &relay,
        solved: Some(&solved),
        workplace: options.workplace(),
    };
    let report = options.install(|| Ok(build_endings(&jobs, &run)?))?;

    let tables = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.unwrap_or_else(|| tablebase_of(Vec::new()))?;
    let written = report.built.into_iter().filter_map(|table| table.path).collect();
    let built = Built { written, kept: report.kept };
    Ok(Solved { answer: tables.probe(&position)?, tables, built })
}

/// The tables of exactly these files: others of the folder were not checked.
fn tablebase_of(tables: Vec<Table>) -> Result<Tablebase, Error> {
    let mut collection = Collection::default();
    for table in tables {
        collection.adopt(table).map_err(ProbeError::from)?;
    }
    Ok(Tablebase::from(collection))
}

/// The tables that a position needs.
fn jobs_of(position: &Position) -> Vec<Job> {
    let pawns = position.men().filter(|&(_, _, role)| role == Role::Pawn);
    let pawns: Vec<_> = pawns.map(|(square, color, _)| (color, 1_u64 << square as u32)).collect();
    reachable(&position.material(), &pawns)
}

/// Makes tables with all that they depend on, and keeps what is there and intact.
///
/// # Errors
/// A control file is wrong, something does not fit into memory or onto the disk, or the work was cancelled.
pub fn build(
    targets: &[Target],
    options: &Options,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<Built, Error> {
    let relay = Relay::new(progress);
    let mut built = Built::default();
    let endings = endings_of(targets);
    if !endings.is_empty() {
        let run = BuildOptions {
            dir: options.dir().to_owned(),
            write: options.writes(),
            args: options.args(),
            progress: &relay,
            solved: None,
            workplace: options.workplace(),
        };
        let report = options.install(|| Ok(build_endings(&complete(endings), &run)?))?;
        built.written.extend(report.built.into_iter().filter_map(|table| table.path));
        built.kept.extend(report.kept);
    }

    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    let files = in_order_of_need(&files, Some(options.dir()), &options.workplace())?;
    for file in files {
        let run = options.control_build(&relay);
        let report = options.install(|| Ok(build_control(file, &run)?))?;
        built.written.extend(report.generated.into_iter().map(|table| table.path));
        built.kept.extend(report.kept);
    }
    Ok(built)
}

impl Target {
    fn control_file(&self) -> Option<&Path> {
        match self {
            Target::ControlFile(path) => Some(path),
            Target::Ending(_) | Target::Men(_) => None,
        }
    }
}

fn endings_of(targets: &[Target]) -> Vec<Material> {
    let of = |target: &Target| match target {
        Target::Ending(ending) => vec![*ending],
        Target::Men(men) => all_endings(usize::from(*men)),
        Target::ControlFile(_) => Vec::new(),
    };
    targets.iter().flat_map(of).collect()
}

/// What it would take to build endings with all that they depend on, or the tables of control files: time, memory,
/// disk, table by table. These two are planned apart.
///
/// # Errors
/// Endings and control files together; a control file is wrong; a table that is there cannot be read.
pub fn plan(targets: &[Target], options: &Options) -> Result<RunPlan, Error> {
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if files.is_empty() {
        let jobs = complete(endings_of(targets));
        return options.install(|| Ok(plan_build(&jobs, options.dir(), &options.workplace())?));
    }
    if files.len() < targets.len() {
        return Err(Error::MixedTargets);
    }
    let run = options.control_build(&Silent);
    options.install(|| Ok(plan_controls(&files, &run)?))
}

/// Checks every entry of a table against the entries of its successors, the statistics of its header, and, if
/// wanted, Syzygy tables. `progress` is told how many entries of how many are checked.
///
/// Wrong entries are no error: they are in the report.
///
/// # Errors
/// The table, or one that it depends on, cannot be read.
pub fn verify(
    table: impl AsRef<Path>,
    options: &VerifyOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<VerifyReport, Error> {
    let (path, source) = (table.as_ref(), SourceOptions::default());
    let foreign = ForeignOptions { syzygy: options.syzygy.clone(), ..ForeignOptions::default() };
    let table = Table::open_checked(path, source.clone(), &foreign)?;
    let mut folders = search_folders(path, None);
    folders.extend_from_slice(&options.folders);
    let smaller = Smaller::with_foreign(&table, &folders, &source, &foreign)?;
    let how = check::VerifyOptions {
        sample: options.sample,
        syzygy: options.syzygy.clone(),
        progress: Some(progress),
        ..check::VerifyOptions::default()
    };
    options.install(|| Ok(check::verify(&table, &smaller, &how)?))
}

/// Counts what a table contains: wins, draws and losses for both sides to move, and their lengths. Works on the
/// threads of the pool that it is called in.
///
/// # Errors
/// The table cannot be read.
pub fn stats(table: impl AsRef<Path>) -> Result<TableStats, Error> {
    let foreign = ForeignOptions::default();
    let table = Table::open_checked(table.as_ref(), SourceOptions::default(), &foreign)?;
    let memory = hoffman_run::available_memory().map_or(4 << 30, |free| free / 2);
    Ok(hoffman_probe::stats::stats(&table, memory)?)
}
