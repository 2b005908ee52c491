//! The container of a table: a gzip stream, or the bare bytes, with random access.
//!
//! Tables of ours are one gzip member whose deflate stream is flushed completely at regular
//! distances; a field in the gzip header tells where ([`BlockIndex`]), so that any block can be
//! inflated alone and many at once. Any other gzip file, of one member or several, and
//! uncompressed files are read too. Offsets are always those of the *uncompressed* stream. Knows
//! nothing of what the stream says.

mod atomic;
mod block_index;
#[cfg(feature = "bulk")]
mod bulk;
mod cache;
#[cfg(feature = "bulk")]
mod deflate;
mod foreign;
mod member;
mod salvage;
mod source;
#[cfg(feature = "bulk")]
mod writer;

use std::io;

pub use atomic::AtomicFile;
pub use block_index::BlockIndex;
pub use cache::BlockCache;
#[cfg(feature = "bulk")]
pub use deflate::Compression;
pub(crate) use salvage::salvaged_start;
pub use source::{GzipSource, ReadAt, SourceOptions};
#[cfg(feature = "bulk")]
pub use writer::GzipWriter;

/// The end of a deflate stream that was flushed before: an empty last block.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Why a container cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HtbError {
    /// The operating system refused.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The file is damaged.
    #[error("the file is damaged: {what} (near byte {offset} of the uncompressed data)")]
    Corrupt {
        /// What is wrong.
        what: &'static str,
        /// Where in the uncompressed stream.
        offset: u64,
    },
    /// A read beyond the end.
    #[error("the file is cut short: {end} bytes are needed, there are {len}")]
    PastEnd {
        /// The end of the range asked for.
        end: u64,
        /// The length of the uncompressed stream.
        len: u64,
    },
    /// More data than the header makes possible.
    #[error("the file holds more than the {limit} bytes that its header implies")]
    TooLong {
        /// The limit set by the caller.
        limit: u64,
    },
    /// A writer got another amount of data than it was made for.
    #[error("{written} bytes were written to a container made for {expected}")]
    Length {
        /// Bytes it got.
        written: u64,
        /// Bytes it was made for.
        expected: u64,
    },
    /// The numbers of a range of entries.
    #[error(transparent)]
    Entries(#[from] crate::entries::EntryError),
}

/// Names what was being done when an input or output call failed.
fn during(action: &'static str) -> impl FnOnce(io::Error) -> HtbError {
    move |source| HtbError::Io { action, source }
}

fn corrupt(what: &'static str, offset: u64) -> HtbError {
    HtbError::Corrupt { what, offset }
}

#[cfg(test)]
mod tests;
