//! The solver: from the values behind all exits to the values of every position.
//!
//! Owns exits by rows, the passes and their kernels. Takes endings and pawn structures, gives back
//! [`TableValues`]; knows nothing of files, index types or XML. How it works is told in ARCHITECTURE.md;
//! the idea of working on sets of positions without move counters is that of Wu and Beal (2001), the row
//! layout is our own.
//!
//! Results do not depend on the number of threads: a block is computed from finished blocks alone.
#![deny(unsafe_code)]
#![allow(clippy::inline_always)]

mod analysis;
#[doc(hidden)]
pub mod bench;
mod blocks;
mod context;
mod counting;
mod dispatch;
mod exit_events;
mod exits;
mod kernels;
mod memory_store;
mod monitor;
mod move_counts;
mod nearby;
mod options;
mod paged_store;
mod pass_loop;
mod passes;
mod problem;
mod processor;
mod proptable_slice;
mod recycled;
mod sets;
mod slice;
mod slice_solver;
mod steps;
mod store;
mod table_solver;
mod target;
mod threads;
mod valuation;
mod view;
mod written_values;

pub use analysis::{
    Analysis, Futurebase, KindOfMove, Rules, Survey, Unsaid, Verdict, can_happen, clear_illegal,
    solve_analysis, structures_behind, survey,
};
pub use monitor::{Decided, Monitor, PassReport, TakeDecided};
pub use options::{Method, SolveError, SolveOptions};
pub use table_solver::{Tables, in_pages, solve_table};
