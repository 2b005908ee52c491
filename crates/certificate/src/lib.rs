//! Certificates: what is claimed of a position, with a strategy that whoever knows the rules of
//! chess can check.
//!
//! `docs/certificates.md` has the format and the rules. The checker trusts nothing but `shakmaty`'s
//! move generator; it knows no tables and no solver.
#![forbid(unsafe_code)]

mod check;
mod claim;
mod parse;
mod write;

pub use check::{Checked, can_mate, check};
pub use claim::{Choice, Claim, Claimed};
pub use parse::Error;
pub use write::write;

/// The first line of a certificate.
const FIRST_LINE: &str = "hoffman-certificate 1";
