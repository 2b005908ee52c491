//! Making tables.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use hoffman_board::{Material, Variant};
use hoffman_probe::collection::{Collection, DEFAULT_CACHE};
use hoffman_reader::{Answer, AsPosition, Error as ProbeError, Tablebase};
use hoffman_run::{
    MadeTable, RunOptions, RunReport, build_control, build_endings, graph_of_controls,
};
use hoffman_table::Table;

use crate::error::Error;
use crate::event::{Event, Relay};
use crate::options::Options;
use crate::plan::{graph_of_position, graph_of_targets};

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

impl Target {
    pub(crate) fn control_file(&self) -> Option<&Path> {
        match self {
            Target::ControlFile(path) => Some(path),
            Target::Ending(_) | Target::Men(_) => None,
        }
    }
}

/// A table that was made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Made {
    /// Its file, without folder.
    pub name: String,
    /// The file, if it was written.
    pub path: Option<PathBuf>,
    /// The longest win with White and with Black to move, in moves, none of a side that never
    /// wins; of complete endings with distances.
    pub longest_wins: Option<[Option<u16>; 2]>,
    /// Legal positions, if it was written.
    pub legal: Option<u64>,
    /// Moves in them, if they were counted.
    pub moves: Option<u64>,
}

impl Made {
    /// A table of a control file.
    pub(crate) fn of_control(table: MadeTable) -> Made {
        Made { longest_wins: None, ..Made::of_ending(table) }
    }

    /// A table of an ending.
    pub(crate) fn of_ending(table: MadeTable) -> Made {
        let file = table.path.as_deref().and_then(Path::file_name);
        Made {
            name: file.map_or(table.name, |name| name.to_string_lossy().into_owned()),
            longest_wins: table.longest_wins,
            legal: table.counts.map(|counts| counts.legal),
            moves: table.counts.and_then(|counts| counts.moves).map(|counts| counts.moves),
            path: table.path,
        }
    }
}

/// What a build did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Built {
    /// Tables that were made, in order.
    pub made: Vec<Made>,
    /// Files that were there already, intact.
    pub kept: Vec<PathBuf>,
}

impl Built {
    /// Files that were written, in order.
    pub fn written(&self) -> impl Iterator<Item = &Path> {
        self.made.iter().filter_map(|made| made.path.as_deref())
    }

    /// Takes a report down and tells it.
    pub(crate) fn add(
        &mut self,
        report: RunReport,
        made_of: fn(MadeTable) -> Made,
        relay: &Relay<'_>,
    ) {
        for path in &report.kept {
            relay.tell(Event::Kept { path: path.clone() });
        }
        self.kept.extend(report.kept);
        for made in report.made.into_iter().map(made_of) {
            relay.tell(Event::Made(made.clone()));
            self.made.push(made);
        }
    }
}

/// Makes tables with all that they depend on, and keeps what is there and intact: first endings,
/// then control files in the order in which they need each other.
///
/// # Errors
/// A control file is wrong, something does not fit into memory or onto the disk, or the work was
/// cancelled.
pub fn build(
    targets: &[Target],
    options: &Options,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<Built, Error> {
    let relay = Relay::new(progress);
    let mut built = Built::default();
    let endings = graph_of_targets(targets, options)?;
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if files.len() < targets.len() {
        let run = options.run(&relay);
        let report = options.install(|| Ok(build_endings(&endings, &run)?))?;
        built.add(report, Made::of_ending, &relay);
    }
    let dir = options.given_folder();
    for file in graph_of_controls(&files, dir, &options.workplace())?.nodes {
        let run = options.run(&relay);
        let report = options.install(|| Ok(build_control(file.source, dir, &run)?))?;
        built.add(report, Made::of_control, &relay);
    }
    Ok(built)
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

/// Answers a position, and makes what is missing for it: tables of the pawn structures that it can
/// lead to.
///
/// [`Event::Solved`] comes as soon as the answer is there; files may be written after it.
///
/// # Errors
/// The position is none that tables hold, something does not fit into memory or onto the disk, or
/// the work was cancelled. [`Error::Vast`]: no machine holds all of it.
pub fn solve(
    position: impl AsPosition,
    options: &Options,
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<Solved, Error> {
    let position = position.as_position(Variant::Normal)?.into_owned();
    let options = &options.with_distances();
    let endings = graph_of_position(&position, options)?;
    let relay = Relay::new(progress);
    let cache = options.bound().map_or(DEFAULT_CACHE, |bytes| {
        usize::try_from(bytes / 8).unwrap_or(DEFAULT_CACHE).min(DEFAULT_CACHE)
    });
    let answer = Mutex::new(None);
    let solved = |tables: Vec<Table>| {
        let tables = tablebase_of(tables, cache);
        if let Ok(tables) = &tables {
            relay.tell(Event::Solved(tables.clone()));
        }
        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(tables);
    };
    let run = RunOptions { solved: Some(&solved), ..options.run(&relay) };
    let report = options.install(|| Ok(build_endings(&endings, &run)?))?;

    let tables = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.unwrap_or_else(|| tablebase_of(Vec::new(), cache))?;
    let mut built = Built::default();
    built.add(report, Made::of_ending, &relay);
    Ok(Solved { answer: tables.probe(&position)?, tables, built })
}

/// The tables of exactly these files: others of the folder were not checked.
fn tablebase_of(tables: Vec<Table>, cache: usize) -> Result<Tablebase, Error> {
    let mut collection = Collection::with_cache(cache);
    for table in tables {
        collection.adopt(table).map_err(ProbeError::from)?;
    }
    Ok(Tablebase::from(collection))
}
