//! The solver: from the values behind all exits to the values of every position.
//!
//! Owns exits by rows, the passes and their kernels. Takes endings and pawn structures, gives back
//! [`TableValues`]; knows nothing of files, index types or XML. How it works is told in
//! ARCHITECTURE.md; the idea of working on sets of positions without move counters is that of Wu
//! and Beal (2001), the row layout is our own.
//!
//! Results do not depend on the number of threads: a block is computed from finished blocks alone.
//!
//! No file uses one that stands above it here, so one can read from the top or from the bottom:
//!
//! - *tables*: `analysis` (control files) and `table_solver` (complete endings) say what is behind
//!   the exits of every slice, and solve the slices in order; `one_slice` solves one for a caller
//!   that knows what lies behind;
//! - *a slice*: `slice_solver` solves one, in memory or in pages; `slice` is the slice with its
//!   start and its passes, `shared_slice` one that several processes solve together,
//!   `proptable_slice` one whose blocks tell each other by updates,
//!   `written_values` its end, `counting` its statistics, `pass_loop` the order of its passes.
//!   `store` is what it lies in: `memory_store` or `paged_store`;
//! - *the work on a block*: `dispatch` chooses the instructions for `valuation` (exits and
//!   values), `passes` and `move_counts`; `nearby` is what they see of other blocks;
//! - *exits*: `exit_values` and `exit_moves` find what `exits` are worth, `target` and `view` read
//!   what is behind them, `steps` lists them;
//! - *words*: `context` and `blocks` (a slice cut into blocks), `share` (the blocks of one of
//!   several processes), `sets` (sets of positions), `options` and `monitor` (what is asked and
//!   told);
//! - `kernels`: the inner loops.
//!
//! [`TableValues`]: hoffman_space::TableValues
#![deny(unsafe_code)]
#![allow(clippy::inline_always)]

mod analysis;
mod one_slice;
mod table_solver;

mod counting;
mod pass_loop;
mod proptable_slice;
mod shared_slice;
mod slice;
mod slice_solver;
mod written_values;

mod memory_store;
mod paged_store;
mod problem;
mod recycled;
mod store;
mod threads;

mod dispatch;
mod move_counts;
mod nearby;
mod passes;
mod processor;
mod valuation;

mod exit_events;
mod exit_moves;
mod exit_values;
mod exits;
mod steps;
mod target;
mod view;

mod blocks;
mod context;
mod kernels;
mod monitor;
mod options;
mod sets;
mod share;

#[doc(hidden)]
pub mod bench;

pub use analysis::{
    Analysis, Futurebase, KindOfMove, Rules, Ruling, Survey, Unsaid, can_happen, clear_illegal,
    solve_analysis, structures_behind, survey,
};
pub use monitor::{Decided, Monitor, PassReport, TakeDecided};
pub use one_slice::{Behind, Leaving, SliceRules, leavings, solve_one_slice};
pub use options::{Method, SolveError, SolveOptions};
pub use share::{BlockShare, BlockValues, Partners, Round, RoundSum, SolvedShare, TakeValues};
pub use slice_solver::outcomes_in_pages;
pub use table_solver::{Tables, in_pages, solve_share, solve_table};

#[cfg(test)]
mod for_tests;
