//! Why there is no answer, with a code for each that does not change.

use std::path::PathBuf;
use std::sync::Arc;

use hoffman_probe::collection::CollectionError;
use hoffman_probe::fen::FenError;
use hoffman_probe::position::Impossible;
use hoffman_table::TableError;

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No table has the position. It does not mean that the position is a draw.
    #[error("no table has the position; {table} would")]
    NoTable {
        /// The file that the table of the ending has, or the futurebase that would have to answer.
        table: String,
    },
    /// A text that is no position, or one that cannot be.
    #[error(transparent)]
    Fen(FenError),
    /// A position that cannot be.
    #[error("the position is not possible: {0}")]
    Impossible(Impossible),
    /// Castling rights, which tables do not know.
    #[error("the position has castling rights that could still be used, which tables do not know")]
    Castling,
    /// A table is damaged, or cannot be read or opened.
    #[error(transparent)]
    Table(Arc<TableError>),
    /// Tables of chess and of suicide chess together.
    #[error("{path}: all tables must be of the same variant", path = .path.display())]
    Variants {
        /// The one that differs from the first.
        path: PathBuf,
    },
    /// A folder that cannot be listed, or is none.
    #[error("{0}")]
    Folder(String),
}

impl Error {
    /// A code that programs can rely on: it stays the same where the words change.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NoTable { .. } => "no-table",
            Error::Fen(FenError::Fen { .. }) => "bad-fen",
            Error::Fen(FenError::Move { .. }) => "bad-move",
            Error::Fen(FenError::Castling { .. }) | Error::Castling => "castling",
            Error::Fen(_) | Error::Impossible(_) => "impossible-position",
            Error::Table(_) => "damaged-table",
            Error::Variants { .. } => "mixed-variants",
            Error::Folder(_) => "bad-folder",
        }
    }
}

impl From<CollectionError> for Error {
    fn from(error: CollectionError) -> Error {
        match error {
            CollectionError::Table(error) => Error::Table(error),
            CollectionError::Variants { path } => Error::Variants { path },
            other => Error::Folder(other.to_string()),
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        Error::Table(Arc::new(error))
    }
}

impl From<FenError> for Error {
    fn from(error: FenError) -> Error {
        Error::Fen(error)
    }
}
