//! Carrying out a plan from start to finished files.
//!
//! Owns the order of work, what is kept in memory for later tables, the headers and files that come out,
//! and the refusal of what cannot fit. Knows nothing of how progress is shown.
#![forbid(unsafe_code)]

mod build;
mod build_control;
mod checkpoint;
mod claims;
mod condition;
mod error;
mod expand;
mod futurebases;
mod generate;
mod memory;
mod numbering;
mod order;
mod plan;
mod progress;
mod room;
mod threads;
mod unwritten;
mod workplace;
mod write;

pub use build::{BuildOptions, BuildReport, BuiltTable, SolvedHook, build};
pub use build_control::{ControlBuild, ControlBuildOptions, build_control};
pub use error::RunError;
pub use expand::{Expanded, Expansion, expand, write_expansion};
pub use generate::{
    GenerateOptions, Generated, Summary, generate, generate_read, read_control, summary,
};
pub use hoffman_solve::{Method, PassReport};
pub use hoffman_table::Stop;
pub use memory::{Limits, available_memory, free_disk, limits, resident_memory, use_huge_pages};
pub use order::in_order_of_need;
pub use plan::{PlannedTable, RunPlan, plan_build, plan_controls};
pub use progress::{Phase, Progress, Silent};
pub use room::least_memory;
pub use threads::{Threads, cores};
pub use workplace::{Memory, Workplace};
