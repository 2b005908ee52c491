//! A second endgame solver, slow and plain, and published facts. For tests only.
//!
//! It shares nothing with the real solver but the words of `hoffman-board`: moves, checks and
//! mates are those of `shakmaty`, every position is visited once, and values come from the
//! definition, ply by ply. Normal chess only, distance to mate.
//!
//! - [`SlowTables`]: complete endings of up to four men, solved when asked for;
//! - [`solve_reachable`]: one position of any ending from all that can be reached from it;
//! - [`compare`] and [`compare_syzygy`]: other answers against these and against Syzygy
//!   tables;
//! - [`known_stats`]: published counts and longest mates of all endings of three to five men.
#![forbid(unsafe_code)]

mod analysis;
mod arrangements;
mod compare;
mod facts;
mod position;
mod random;
mod reach;
mod score;
mod table;

pub use analysis::{AnalysisCounts, SlowAnalysis, SlowError};
pub use arrangements::{SlowArrangement, arrangements};
pub use compare::{
    Comparison, Coverage, Disagreement, SideOutcome, SyzygyError, compare, compare_syzygy,
    for_each_position,
};
pub use facts::{KnownStats, Longest, known_stats, known_stats_of};
pub use position::{BadFen, PlacedMan, SlowPosition};
pub use random::{RandomAnalysis, RandomFile};
pub use reach::{Reach, ReachError, solve_reachable};
pub use table::{EndingSummary, MAX_MEN, SlowTable, SlowTables, TooManyMen, WdlCounts};
