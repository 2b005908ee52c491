//! What can go wrong, with a code for each that does not change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::MaterialError;
use hoffman_probe::list::ListError;
use hoffman_probe::verify::VerifyError;
use hoffman_reader::Error as ProbeError;
use hoffman_run::RunError;
use hoffman_table::TableError;
use hoffman_table::convert::ConvertError;

use crate::plan::Whole;

/// Why there is no answer, or no table. What can go wrong with a question is a [`ProbeError`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A position has no answer, or a table cannot be read.
    #[error(transparent)]
    Probe(ProbeError),
    /// A text that names no ending.
    #[error(transparent)]
    Ending(MaterialError),
    /// Endings and control files among the targets of a plan.
    #[error("endings and control files are planned apart")]
    MixedTargets,
    /// No table has the name that was given.
    #[error("{0}")]
    NotFound(String),
    /// Something that only tables of ours have.
    #[error("{0}")]
    NotOurs(String),
    /// A position behind which there is more than any machine holds.
    #[error("{}", .0.refusal())]
    Vast(Box<Whole>),
    /// A table cannot be converted.
    #[error("{0}")]
    Convert(Arc<ConvertError>),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// The work was asked to stop.
    #[error("{}", interrupted(*.goes_on, .checkpoint.as_deref()))]
    Cancelled {
        /// Whether the same call goes on with what is finished.
        goes_on: bool,
        /// Where the work on an unfinished table was saved.
        checkpoint: Option<PathBuf>,
    },
    /// More memory or disk is needed than there is.
    #[error("{0}")]
    Resources(Arc<RunError>),
    /// What a table is made from is not there yet, or another run is making it, or has to be at
    /// work and is not.
    #[error("{0}")]
    NotYet(Arc<RunError>),
    /// A table that is to be verified is not there.
    #[error("{} cannot be verified: it is not there", .0.display())]
    NotThere(PathBuf),
    /// A file is not what its receipt says, or a receipt cannot be read or written.
    #[error("{0}")]
    Receipt(String),
    /// A control file is wrong, or a run failed for another reason.
    #[error("{0}")]
    Run(Arc<RunError>),
    /// Something is assumed that does not fit the position.
    #[error("{0}")]
    Assumption(String),
    /// A certificate is wrong, or cannot be read or written.
    #[error("{0}")]
    Certificate(String),
    /// The file of a search is of another one, or cannot be read or written.
    #[error("{0}")]
    Search(String),
    /// A table does not tell what is asked for, or one that is needed is not there.
    #[error("{0}")]
    List(Arc<ListError>),
    /// A table could not be verified to the end.
    #[error("{0}")]
    Verify(Arc<VerifyError>),
}

fn interrupted(goes_on: bool, checkpoint: Option<&Path>) -> String {
    let from = checkpoint.map_or_else(String::new, |file| format!(" and with {}", file.display()));
    let rest = "; the same command goes on with the tables that are finished";
    if goes_on { format!("interrupted{rest}{from}") } else { "interrupted".to_owned() }
}

impl Error {
    /// A code that programs can rely on: it stays the same where the words change.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Probe(error) => error.code(),
            Error::Ending(_) => "bad-ending",
            Error::MixedTargets => "mixed-targets",
            Error::NotFound(_) => "not-found",
            Error::NotOurs(_) => "not-ours",
            Error::Vast(_) => "too-large",
            Error::Convert(_) => "not-converted",
            Error::Threads(_) => "no-threads",
            Error::Cancelled { .. } => "cancelled",
            Error::Resources(_) => "too-large",
            Error::NotYet(_) | Error::NotThere(_) => "not-yet",
            Error::Receipt(_) => "bad-receipt",
            Error::Run(_) => "failed",
            Error::Assumption(_) => "bad-assumption",
            Error::Certificate(_) => "bad-certificate",
            Error::Search(_) => "bad-search",
            Error::List(error) if matches!(**error, ListError::Missing { .. }) => "no-table",
            Error::List(_) => "not-listed",
            Error::Verify(_) => "not-verified",
        }
    }
}

impl Error {
    /// Whether the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Error::NotYet(_) | Error::NotThere(_) | Error::Cancelled { goes_on: true, .. }
        )
    }

    /// The bytes of memory with which the same call would go on, if it lacks nothing else: as a
    /// bound, or as what is free.
    pub fn needed_memory(&self) -> Option<u64> {
        let Error::Resources(error) = self else { return None };
        match **error {
            RunError::Memory { needed, .. } => Some(needed << 20),
            // A tenth of what is free is left to others, and some is taken before it is looked at.
            RunError::LittleMemory { least, .. } => Some(((least + 32).div_ceil(9) * 10) << 20),
            _ => None,
        }
    }
}

impl From<ProbeError> for Error {
    fn from(error: ProbeError) -> Error {
        match error {
            ProbeError::Table(error) if error.is_stopped() => {
                Error::Cancelled { goes_on: false, checkpoint: None }
            }
            other => Error::Probe(other),
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        Error::from(ProbeError::from(error))
    }
}

impl From<MaterialError> for Error {
    fn from(error: MaterialError) -> Error {
        Error::Ending(error)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Interrupted { checkpoint } => Error::Cancelled { goes_on: true, checkpoint },
            RunError::Table(error) => Error::from(error),
            RunError::Memory { .. } | RunError::LittleMemory { .. } | RunError::Disk { .. } => {
                Error::Resources(Arc::new(error))
            }
            RunError::NotThere { .. } | RunError::Partner { .. } => Error::NotYet(Arc::new(error)),
            other => Error::Run(Arc::new(other)),
        }
    }
}

impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Error {
        match error {
            ConvertError::Table(error) => Error::from(error),
            ConvertError::Write(error) if error.is_stopped() => {
                Error::Cancelled { goes_on: false, checkpoint: None }
            }
            other => Error::Convert(Arc::new(other)),
        }
    }
}

impl From<VerifyError> for Error {
    fn from(error: VerifyError) -> Error {
        match error {
            VerifyError::Table(error) => Error::from(error),
            VerifyError::Cancelled => Error::Cancelled { goes_on: false, checkpoint: None },
            other => Error::Verify(Arc::new(other)),
        }
    }
}
