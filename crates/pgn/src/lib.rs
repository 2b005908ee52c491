//! Games in PGN: reading and writing them, and what tables say of their moves.
//!
//! The files, from above downwards: `annotate` puts what tables say behind the moves of a game,
//! `explained` tells why a proven position has its result, `movetext` writes games, and `reader`
//! reads them.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tables = hoffman::Tablebase::open("tables")?;
//! let mut games = hoffman_pgn::Reader::new("1. e4 e5 *".as_bytes());
//! while let Some(game) = games.next_game()? {
//!     print!("{}", hoffman_pgn::annotate(&tables, &game)?);
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod annotate;
mod explained;
mod movetext;
mod reader;

pub use annotate::{AnnotateError, annotate};
pub use explained::explained;
pub use movetext::{Movetext, brief, result, tag};
pub use reader::{Game, Item, ReadError, Reader, Word};
