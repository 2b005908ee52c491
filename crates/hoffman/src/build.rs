//! Making tables.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use hoffman_board::{Material, Variant};
use hoffman_probe::collection::{Collection, DEFAULT_CACHE};
use hoffman_reader::{Answer, AsPosition, Error as ProbeError, Tablebase};
use hoffman_run::{
    BuildOptions, BuildReport, Generated, SolvedHook, build as build_endings, build_control,
    in_order_of_need,
};
use hoffman_table::Table;

use crate::error::Error;
use crate::event::{Event, Relay};
use crate::options::Options;
use crate::plan::{jobs_of_position, jobs_of_targets};

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
    /// wins; of complete endings.
    pub longest_wins: Option<[Option<u16>; 2]>,
    /// Legal positions, if it was written.
    pub legal: Option<u64>,
    /// Moves in them, if they were counted.
    pub moves: Option<u64>,
}

impl From<Generated> for Made {
    fn from(table: Generated) -> Made {
        let name = table.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (legal, moves) = (Some(table.counts.legal), table.counts.moves.map(|c| c.moves));
        Made { name, path: Some(table.path), longest_wins: None, legal, moves }
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
    fn add(&mut self, kept: Vec<PathBuf>, made: impl Iterator<Item = Made>, relay: &Relay<'_>) {
        for path in &kept {
            relay.tell(Event::Kept { path: path.clone() });
        }
        self.kept.extend(kept);
        for made in made {
            relay.tell(Event::Made(made.clone()));
            self.made.push(made);
        }
    }

    fn add_endings(&mut self, report: BuildReport, relay: &Relay<'_>) {
        let made = report.built.into_iter().map(|table| Made {
            name: table.name,
            path: table.path,
            longest_wins: Some(table.longest_wins),
            legal: table.counts.map(|counts| counts.legal),
            moves: table.counts.and_then(|counts| counts.moves).map(|counts| counts.moves),
        });
        self.add(report.kept, made, relay);
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
    let jobs = jobs_of_targets(targets)?;
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if files.len() < targets.len() {
        let run = endings_run(options, &relay, None);
        let report = options.install(|| Ok(build_endings(&jobs, &run)?))?;
        built.add_endings(report, &relay);
    }
    for file in in_order_of_need(&files, options.given_folder(), &options.workplace())? {
        let run = options.control_build(&relay);
        let report = options.install(|| Ok(build_control(file, &run)?))?;
        built.add(report.kept, report.generated.into_iter().map(Made::from), &relay);
    }
    Ok(built)
}

/// How complete endings are built.
fn endings_run<'r>(
    options: &Options,
    relay: &'r Relay<'_>,
    solved: Option<&'r SolvedHook<'r>>,
) -> BuildOptions<'r> {
    BuildOptions {
        dir: options.folder().to_owned(),
        write: options.writes(),
        args: options.args(),
        progress: relay,
        solved,
        workplace: options.workplace(),
    }
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
    let jobs = jobs_of_position(&position)?;
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
    let run = endings_run(options, &relay, Some(&solved));
    let report = options.install(|| Ok(build_endings(&jobs, &run)?))?;

    let tables = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.unwrap_or_else(|| tablebase_of(Vec::new(), cache))?;
    let mut built = Built::default();
    built.add_endings(report, &relay);
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
