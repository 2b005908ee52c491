//! Endgame tables as a chess engine: the protocol UCI over standard input and output, or any other
//! two streams.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let engine = hoffman_uci::Engine::new(vec!["tables".into()], Vec::new());
//! engine.run(std::io::stdin().lock(), std::io::stdout().lock())
//! # }
//! ```
//!
//! The engine searches for nothing but the next step of a win that no table counts. What it plays
//! and says is what the tables prove, by [`hoffman::Tablebase`]; where they are silent it plays a
//! legal move and says so. The files, from above downwards: `engine` holds a conversation,
//! `command` reads a line of it, `options` are what can be set, `judgement` makes scores and lines
//! out of answers, and `progress` finds the next step of a win that no table counts.
#![forbid(unsafe_code)]

mod command;
mod engine;
mod judgement;
mod options;
mod progress;

pub use engine::Engine;
