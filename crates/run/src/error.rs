//! What can go wrong in a run.

use std::io;
use std::path::{Path, PathBuf};

use hoffman_board::Material;
use hoffman_control::ControlError;
use hoffman_solve::SolveError;
use hoffman_table::entries::EntryError;
use hoffman_table::htb::HtbError;
use hoffman_table::index::IndexError;
use hoffman_table::rows::RowsError;
use hoffman_table::{TableError, WriteError, WriteProblem};

use crate::problem::FuturebaseProblem;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}: {source}", path = .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("cannot write {path}: {problem}", path = .path.display())]
    Write {
        /// The table.
        path: PathBuf,
        /// What went wrong, with its cause.
        problem: String,
    },
    /// The memory that a run may take is too little for any way of working.
    #[error(
        "{bound} MB of memory are too little; at least {least} MB are needed for this with so many threads"
    )]
    LittleMemory {
        /// The bound, in megabytes.
        bound: u64,
        /// What is needed, in megabytes.
        least: u64,
    },
    /// The disk has no room for the files of a run.
    #[error(
        "the disk of {folder} has {free} MB free, of which {kept} MB are kept free for others (--keep-free), and \
         this takes {working} MB of working files and about {files} MB of finished ones",
        folder = .folder.display()
    )]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// What is free, in megabytes.
        free: u64,
        /// What is kept of it for others, in megabytes.
        kept: u64,
        /// Working files, in megabytes.
        working: u64,
        /// Finished files, in megabytes.
        files: u64,
    },
    /// A file has a name that is needed, and the program did not make it as what has that name.
    #[error("{why}; it is not overwritten: move {path} away, or name another folder", path = .path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// What is known of it, its name at first.
        why: String,
    },
    /// What a table is made from is not there.
    #[error("{} cannot be made: {}", .table.display(), absences(.missing))]
    NotThere {
        /// The table.
        table: PathBuf,
        /// The files that are missing, and whether another run is making them now.
        missing: Vec<(PathBuf, bool)>,
    },
    /// Another process that solves the same ending has not told in time what it decided.
    #[error(
        "{table} cannot be made: {file} is not there after {seconds} seconds; its part has to be solved at the \
         same time",
        table = .table.display(), file = .file.display()
    )]
    Partner {
        /// The table.
        table: PathBuf,
        /// The file that is missing.
        file: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A file that a table is made from is no use for it.
    #[error("{table} cannot be made: {why}", table = .table.display())]
    Input {
        /// The table.
        table: PathBuf,
        /// What is wrong, the name of the file at first.
        why: String,
    },
    /// A table is to be made that is none of those that were named.
    #[error("there is no table '{name}' among those named; there are {known}")]
    NoJob {
        /// Its name.
        name: String,
        /// The names of some that there are.
        known: String,
    },
    /// Two control files make the same table.
    #[error(
        "{control} and {other} both make {output}; name one of them, or give them outputs of their own",
        control = .control.display(), other = .other.display(), output = .output.display()
    )]
    SameOutput {
        /// The later control file.
        control: PathBuf,
        /// The earlier one.
        other: PathBuf,
        /// Their table.
        output: PathBuf,
    },
    /// Control files that need each other's tables.
    #[error(
        "{control} needs '{need}' of {other}, which needs the table of {control}: neither can be made first",
        control = .control.display(), other = .other.display()
    )]
    Ring {
        /// One control file.
        control: PathBuf,
        /// The other.
        other: PathBuf,
        /// The futurebase.
        need: String,
    },
    /// A control file is wrong.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A table file is wrong.
    #[error(transparent)]
    Table(TableError),
    /// A futurebase cannot be used.
    #[error("{place}: {problem}")]
    Futurebase {
        /// Control file, line and element.
        place: String,
        /// What is wrong with it.
        problem: Box<FuturebaseProblem>,
    },
    /// A pawngen element that describes no table.
    #[error("{place}: {problem}")]
    Pawngen {
        /// Control file, line and element.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Prunes that contradict each other.
    #[error("{place}: conflicting {mover} pruning statements match futuremove {kind}")]
    Conflict {
        /// Control file, line and element.
        place: String,
        /// `WHITE` or `BLACK`.
        mover: &'static str,
        /// The move as a prune would name it.
        kind: String,
    },
    /// Prunes that tell a move from its image on the board, in a table whose indices stand for
    /// both.
    #[error(
        "{place}: {mover}'s {kind} and {image} are pruned differently, but with symmetry {symmetry} the \
         positions before them share an index; write symmetry=\"1\""
    )]
    Images {
        /// The control file.
        place: String,
        /// `WHITE` or `BLACK`.
        mover: &'static str,
        /// The move as a prune would name it.
        kind: String,
        /// Its image.
        image: String,
        /// The symmetry of the table.
        symmetry: u8,
    },
    /// A move that nothing accounts for.
    #[error(
        "{place}: no futurebase or pruning for {mover} move {kind}, for example in {fen}{more}"
    )]
    Unhandled {
        /// The control file.
        place: String,
        /// `WHITE` or `BLACK`.
        mover: &'static str,
        /// The move as a prune would name it.
        kind: String,
        /// A position in which the move is possible.
        fen: String,
        /// Elements that would account for it, and further kinds of moves.
        more: String,
    },
    /// Two futurebases for the same moves.
    #[error("{place}: multiple futurebases handle {mover} move {kind}")]
    Twice {
        /// Control file, line and element.
        place: String,
        /// `WHITE` or `BLACK`.
        mover: &'static str,
        /// The move as a prune would name it.
        kind: String,
    },
    /// The solver lacks a table.
    #[error(transparent)]
    Solve(SolveError),
    /// The run was asked to stop.
    #[error(
        "interrupted; the same command goes on with the tables that are finished{from}",
        from = .checkpoint.as_ref().map_or_else(String::new, |c| format!(" and with {}", c.display()))
    )]
    Interrupted {
        /// Where the work on an unfinished table was saved.
        checkpoint: Option<PathBuf>,
    },
    /// An index that cannot hold the table.
    #[error("{place}: {source}")]
    Index {
        /// The control file.
        place: String,
        /// Why.
        source: IndexError,
    },
    /// A distance does not fit the field asked for.
    #[error("{place}: {source}")]
    Entry {
        /// The control file.
        place: String,
        /// Why.
        source: EntryError,
    },
    /// Values and index do not go together.
    #[error("{place}: {source}")]
    Rows {
        /// The control file or table.
        place: String,
        /// Why.
        source: RowsError,
    },
    /// More positions than can be solved anywhere.
    #[error(
        "{place}: {men} pieces that move freely have more positions than can be solved; restrict them to few \
         squares, or leave some out"
    )]
    TooManyPositions {
        /// The control file.
        place: String,
        /// How many men there are without pawns.
        men: usize,
    },
    /// The output of a control file cannot be written.
    #[error("{place}: {source}")]
    Output {
        /// Where it is named.
        place: String,
        /// Why.
        source: Box<RunError>,
    },
    /// A table would replace its own control file.
    #[error("{output}: the table would replace the control file; name another output", output = .output.display())]
    OutputIsControl {
        /// The output.
        output: PathBuf,
    },
    /// More memory is needed than there is.
    #[error(
        "{ending} needs about {needed} MB of memory and {available} MB are free; \
         use fewer men, or a machine with more memory"
    )]
    Memory {
        /// The largest ending.
        ending: Material,
        /// Megabytes needed.
        needed: u64,
        /// Megabytes there are.
        available: u64,
    },
}

impl From<SolveError> for RunError {
    fn from(error: SolveError) -> RunError {
        match error {
            SolveError::Stopped => RunError::Interrupted { checkpoint: None },
            other => RunError::Solve(other),
        }
    }
}

impl From<TableError> for RunError {
    fn from(error: TableError) -> RunError {
        if error.is_stopped() {
            return RunError::Interrupted { checkpoint: None };
        }
        RunError::Table(error)
    }
}

impl RunError {
    /// What is wrong with values or entries of a control file or table, or that the run was asked
    /// to stop.
    pub(crate) fn of_rows(place: &str, source: RowsError) -> RunError {
        match source {
            RowsError::Stopped => RunError::Interrupted { checkpoint: None },
            source => RunError::Rows { place: place.to_owned(), source },
        }
    }
}

impl From<WriteError> for RunError {
    fn from(error: WriteError) -> RunError {
        let WriteError { path, problem } = error;
        match problem {
            WriteProblem::Stopped => RunError::Interrupted { checkpoint: None },
            WriteProblem::Io(source) => RunError::Io { action: "write", path, source },
            problem => RunError::Write { path, problem: problem.to_string() },
        }
    }
}

/// Says of files that they are missing.
fn absences(missing: &[(PathBuf, bool)]) -> String {
    let list = |made: bool| -> Vec<String> {
        let those = missing.iter().filter(|&&(_, being_made)| being_made == made);
        those.map(|(path, _)| path.display().to_string()).collect()
    };
    let said = |names: Vec<String>, [one, many]: [&str; 2]| match names.as_slice() {
        [] => None,
        [name] => Some(format!("{name} {one}")),
        [names @ .., last] => Some(format!("{} and {last} {many}", names.join(", "))),
    };
    let absent = said(list(false), ["is not there", "are not there"]);
    let being_made = said(list(true), ["is being made", "are being made"]);
    absent.into_iter().chain(being_made).collect::<Vec<_>>().join("; ")
}

/// Names a container error with its cause.
pub(crate) fn write_error(path: &Path, error: &HtbError) -> RunError {
    let cause = std::error::Error::source(error);
    let problem = cause.map_or_else(|| error.to_string(), |c| format!("{error}: {c}"));
    RunError::Write { path: path.to_owned(), problem }
}
