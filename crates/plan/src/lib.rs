//! Plans: which tables and slices have to be solved, from which others, in which order.
//!
//! Owns the graph of endings behind captures and promotions, the slices that a position can reach, the
//! names of whole and partial tables, the arrangements of pawn structures, and the estimate of what a plan costs. Does no I/O and knows no
//! values.
#![forbid(unsafe_code)]

pub mod ending;
pub mod estimate;
pub mod part;
pub mod pawngen;
pub mod reach;

pub use ending::{Job, all_endings, complete, dependencies};
pub use estimate::{Estimate, estimate};
pub use part::Part;
pub use reach::{Extent, extent, reachable};
