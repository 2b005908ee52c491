//! The inner loops: moving sets of 64 positions at a time.
//!
//! Owns everything that looks at single words. A **block** is the rows of one placement of the
//! outer kings; its rows are numbered by up to four dimensions of 64 squares, the last one
//! fastest; 64 rows that differ in the last dimension make a **group**. All functions here take
//! one block.
//!
//! Quiet moves are reversible, so "the positions from which a man can move into the set" and "the
//! positions that a man can move to from the set" are the same kernel.

/// A match over the roles of men that are not pawns. Every arm is the same expression with
/// `$constant` in the place of the role, so that kernels are compiled for each role alone.
macro_rules! for_role {
    ($role:expr, $constant:ident => $body:expr) => {
        match $role {
            hoffman_board::Role::Queen => {
                const $constant: hoffman_board::Role = hoffman_board::Role::Queen;
                $body
            }
            hoffman_board::Role::Rook => {
                const $constant: hoffman_board::Role = hoffman_board::Role::Rook;
                $body
            }
            hoffman_board::Role::Bishop => {
                const $constant: hoffman_board::Role = hoffman_board::Role::Bishop;
                $body
            }
            hoffman_board::Role::Knight => {
                const $constant: hoffman_board::Role = hoffman_board::Role::Knight;
                $body
            }
            _ => {
                const $constant: hoffman_board::Role = hoffman_board::Role::King;
                $body
            }
        }
    };
}
pub(crate) use for_role;

pub(crate) mod count;
pub(crate) mod dense;
pub(crate) mod isa;
pub(crate) mod sparse;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
