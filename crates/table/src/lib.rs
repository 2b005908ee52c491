//! The bytes of a table: the container and its compression, the entry formats, the index types.
//!
//! Owns everything between a file on disk and a value at an index. Knows nothing of solving, of the
//! command line or of XML. The authority for every layout is `docs/file-formats.md`.
#![forbid(unsafe_code)]
#![allow(clippy::inline_always)]

pub mod convert;
pub mod entries;
pub mod foreign;
pub mod htb;
pub mod index;
pub mod reader;
pub mod rows;

pub use entries::{EntryCodec, EntryError, EntryValue, Number, RawEntry};
pub use foreign::{ForeignError, ForeignOptions, ForeignTable};
pub use index::{IndexError, IndexParams, IndexSpace, IndexType, PawnStructure, PawnStructures};
pub use reader::{Table, TableError, TableProblem};
