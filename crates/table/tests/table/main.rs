//! Tables of this program and of others, read, converted and damaged; every index type. All in one
//! program, whose tests run side by side.
#![allow(clippy::unwrap_used)]

mod convert_blocks;
mod convert_golden;
mod damaged;
mod foreign;
mod golden;
mod index_properties;
mod speed;
