//! Solving in pages, and solving that goes on where it was. All in one program, whose tests run
//! side by side.
#![allow(clippy::unwrap_used)]

mod pages;
mod resumed;
