//! Why a table cannot be converted.

use std::path::PathBuf;

use hoffman_control::ControlError;

use crate::entries::EntryError;
use crate::index::IndexError;
use crate::reader::TableError;
use crate::writer::WriteError;

/// Why a table cannot be converted. Messages begin with the old table's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The old table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The new format says more than the old one.
    #[error("{path}: {reason}", path = .path.display())]
    Format {
        /// The old table.
        path: PathBuf,
        /// What cannot be had from what.
        reason: &'static str,
    },
    /// A small file of the block format, or one with outcomes apart, cannot be had.
    #[error("{path}: it cannot be stored small or with outcomes apart: {why}", path = .path.display())]
    NoCells {
        /// The old table.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The new index cannot hold the table.
    #[error("{path}: {source}", path = .path.display())]
    Index {
        /// The old table.
        path: PathBuf,
        /// Why.
        source: IndexError,
    },
    /// Restricted men with a symmetry above 1 that was not asked for.
    #[error(
        "{path}: the pieces are restricted, and with symmetry {symmetry} the original program could not \
         read the table; use symmetry 1, or ask for a symmetry of restricted pieces",
        path = .path.display()
    )]
    RestrictedSymmetry {
        /// The old table.
        path: PathBuf,
        /// The symmetry.
        symmetry: u8,
    },
    /// A position of the new table that the old one lacks.
    #[error("{path}: the position {fen} is not in this table, but would be in the new one", path = .path.display())]
    Missing {
        /// The old table.
        path: PathBuf,
        /// The position.
        fen: String,
    },
    /// Positions with one index in the new table and different values.
    #[error(
        "{path}: {first} and {second} have different values, but would share an entry of the new table; \
         use a smaller symmetry",
        path = .path.display()
    )]
    Differ {
        /// The old table.
        path: PathBuf,
        /// A position.
        first: String,
        /// Its image.
        second: String,
    },
    /// An entry that is no value.
    #[error("{path}: the entry of {fen} is not the value of a legal position", path = .path.display())]
    Entry {
        /// The old table.
        path: PathBuf,
        /// The position.
        fen: String,
    },
    /// The width asked for.
    #[error("{path}: {source}", path = .path.display())]
    Width {
        /// The old table.
        path: PathBuf,
        /// Why it cannot be.
        source: EntryError,
    },
    /// The header.
    #[error(transparent)]
    Header(#[from] ControlError),
    /// The new table cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
