//! What the commands do, each in its file.

pub(crate) mod annotate;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod control;
pub(crate) mod convert;
mod explain;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod join;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod pawngen;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod probe;
pub(crate) mod prompt;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod solve;
pub(crate) mod solve_part;
pub(crate) mod stats;
mod tables;
pub(crate) mod uci;
pub(crate) mod verify;
mod write_control;
