//! The library as its users see it. All in one program, whose tests run side by side; what counts
//! allocations has one of its own.
#![allow(clippy::unwrap_used)]

mod flipped_bits;
mod front_door;
mod outside;
mod verify_ways;
