//! Chess endgame tables, read: what is known of a position and of its moves, and best play.
//!
//! The part of crate `hoffman` for programs that solve nothing: no solver, no threads, no writing.
//! `hoffman` has all of it too, and tells more about it.
//!
//! ```no_run
//! # fn main() -> Result<(), hoffman_reader::Error> {
//! let tables = hoffman_reader::Tablebase::open("tables")?;
//! let answer = tables.probe("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")?;
//! println!("{:?}", answer.value);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod answer;
mod error;
mod position;
mod tablebase;

pub use hoffman_board::shakmaty;
pub use hoffman_board::{Color, Material, Role, Square, Variant};
pub use hoffman_control::{Assumption, PruneEffect};
pub use hoffman_probe::fen::FenError;
pub use hoffman_probe::lines::{Bound, Category, GameEnd};
pub use hoffman_probe::moves::Move;
pub use hoffman_probe::position::{Impossible, Position};
pub use hoffman_probe::reading::ReadOptions;
pub use hoffman_probe::report::Report;
pub use hoffman_probe::session::Session;

pub use answer::{Answer, MoveAnswer, Moves, Plies, Said, TableAnswer, Value, Wdl};
pub use error::Error;
pub use position::AsPosition;
pub use tablebase::{OpenOptions, Opened, Tablebase};
