//! Many tables as one oracle: which table answers a position, what its moves are worth, how play
//! goes on, whether a table is right, and what it contains.
//!
//! Reads through [`hoffman_table`] only; never solves.
#![forbid(unsafe_code)]

pub mod collection;
#[cfg(feature = "verify")]
pub mod entries;
pub mod fen;
pub mod lines;
#[cfg(feature = "verify")]
pub mod list;
pub mod lookup;
pub mod moves;
pub mod open_table;
#[cfg(feature = "verify")]
mod orbits;
pub mod position;
pub mod reading;
pub mod report;
pub mod session;
#[cfg(feature = "verify")]
pub mod stats;
mod typed;
mod unlisted;
#[cfg(feature = "verify")]
mod value_rows;
#[cfg(feature = "verify")]
pub mod verify;
pub mod words;
