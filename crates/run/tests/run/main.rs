//! Runs of control files and plans: faults, stops, locks and what is there already, and rules that
//! single control files show. All in one program, whose tests run side by side; those that change
//! the working directory are programs of their own.
#![allow(clippy::unwrap_used)]

mod colors;
mod common;
mod conceded;
mod faults;
mod flips;
mod kept;
mod locks;
mod passes;
mod stops;
