//! Plans: which tables and slices have to be solved, from which others, in which order.
//!
//! Owns the graph of jobs, the endings behind captures and promotions, the slices that a position
//! can reach, the names of whole and partial tables, the arrangements of pawn structures, and the
//! estimate of what a plan costs. Does no I/O and knows no values.
//!
//! Read from above downwards: [`graph`] is what others work off; [`reach`] and [`ending`] say which
//! endings a position or an ending needs, as [`part`]s or as a whole; [`estimate`] says what each
//! takes. [`pawngen`] stands by itself.
#![forbid(unsafe_code)]

pub mod graph;
pub mod reach;

pub mod ending;
pub mod part;

pub mod estimate;
pub mod pawngen;

pub use ending::{EndingJob, all_endings, complete, dependencies, with_parts};
pub use estimate::Resources;
pub use graph::{Graph, Input, Node, Ring};
pub use part::Part;
pub use reach::{Extent, extent, reachable, structures_behind};
