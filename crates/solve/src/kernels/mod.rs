//! The inner loops: moving sets of 64 positions at a time.
//!
//! Owns everything that looks at single words. A **block** is the rows of one placement of the outer
//! kings; its rows are numbered by up to four dimensions of 64 squares, the last one fastest; 64 rows
//! that differ in the last dimension make a **group**. All functions here take one block.
//!
//! Quiet moves are reversible, so "the positions from which a man can move into the set" and "the
//! positions that a man can move to from the set" are the same kernel.

pub(crate) mod count;
pub(crate) mod dense;
pub(crate) mod isa;
pub(crate) mod sparse;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
