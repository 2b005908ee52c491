//! The bytes of a table: the container and its compression, the entry formats, the index types.
//!
//! Owns everything between a file on disk and a value at an index. Knows nothing of solving, of
//! the command line or of XML. A program that asks for single positions only does without the
//! feature `bulk`: without whole tables, threads and writing. The authority for every layout is
//! `docs/file-formats.md`.
#![forbid(unsafe_code)]
// What only whole tables need is not told apart in every room.
#![cfg_attr(not(feature = "bulk"), allow(dead_code))]
#![allow(clippy::inline_always)]

pub mod blocks;
#[cfg(feature = "bulk")]
mod bulk;
#[cfg(feature = "bulk")]
pub mod convert;
pub mod entries;
pub mod foreign;
pub mod htb;
pub mod index;
mod packed;
pub mod reader;
#[cfg(feature = "bulk")]
pub mod rows;
#[cfg(feature = "bulk")]
mod shared;
pub mod source;
mod stop;
#[cfg(feature = "bulk")]
mod writer;

pub use entries::{EntryCodec, EntryError, EntryValue, Number, RawEntry};
pub use foreign::{ForeignError, ForeignOptions, ForeignTable};
pub use index::{IndexError, IndexParams, IndexSpace, IndexType, PawnStructure, PawnStructures};
pub use reader::{Table, TableError, TableProblem};
#[cfg(feature = "bulk")]
pub use shared::SharedValues;
#[cfg(feature = "bulk")]
pub use source::ZugzwangEntries;
pub use source::{Entries, Shape};
pub use stop::Stop;
#[cfg(feature = "bulk")]
pub use writer::{TableContents, TableWriter, WriteError, WriteProblem};
