//! Carrying out a plan from start to finished files.
//!
//! Owns the order of work, what is kept in memory for later tables, the headers and files that come
//! out, and the refusal of what cannot fit. Knows nothing of how progress is shown.
//!
//! Read from above downwards: a file uses those of later groups, and of its own those below it.
#![forbid(unsafe_code)]

// What is asked for: a graph of jobs, planned or made.
mod plan;

mod controls;
mod join;

mod together;

mod endings;

mod again;
mod aside;
mod order;

mod cut;

mod expand;

// One table, from what is asked to the file in place.
mod analysis;
mod presence;

mod cost;

mod ending;

mod task;

// What that takes: what is behind moves and what is said of them, checkpoints, the file.
mod checkpoint;
mod claims;
mod condition;
mod futurebases;
mod judgement;

mod seal;
mod sequence;
mod unwritten;
mod values;
mod write;

mod digest;
mod numbering;

// Where it is done.
mod room;

mod options;

mod workplace;

mod error;
mod memory;
mod progress;
mod threads;

mod problem;

mod futuremoves;

pub use controls::{ControlTable, Summary, build_control, generate, generate_read, summary};
pub use cost::{JobCost, PlannedTable, RunPlan};
pub use digest::{digest_of, file_digest};
pub use endings::{build_ending, build_endings, ending_inputs};
pub use error::RunError;
pub use expand::{Expanded, Expansion, expand, write_expansion};
pub use hoffman_solve::{Method, PassReport};
pub use hoffman_table::Stop;
pub use join::{Joining, StructureJoining};
pub use memory::{
    SystemLimits, available_memory, free_disk, limits, resident_memory, use_huge_pages,
};
pub use options::{MadeTable, RunOptions, RunReport, SolvedHook};
pub use order::{graph_of_controls, read_control};
pub use plan::{
    ControlJob, costs_of_jobs, costs_of_shares, jobs_of_controls, plan_controls, plan_endings,
};
pub use presence::Depth;
pub use problem::{FuturebaseProblem, Misfit};
pub use progress::{Phase, Progress, Silent};
pub use room::least_memory;
pub use threads::{Threads, cores};
pub use together::{EndingShare, ShareReport, Traffic, solve_part};
pub use values::values_of_table;
pub use workplace::{Memory, Workplace};
