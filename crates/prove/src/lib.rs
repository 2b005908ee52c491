//! Proven outcomes of positions whose tables are too large to be made.
//!
//! A slice (a pawn structure with the pieces on the board) is opened where it matters. Each open
//! slice carries two bounds, which the solver computes from those of the slices behind its exits:
//! in one everything that is not known is settled against White, in the other one for White. The
//! truth lies between them, and where they meet it is known. A third value is a guess; it decides
//! nothing, but says which slices are opened next: those that one strategy of the side that the
//! guess favours meets against all replies.
//!
//! Where a slice has too many positions, since there are many pieces, those that arise are looked
//! at one by one instead, and solved backwards; what nobody has looked at is bounded the same way.
//!
//! Knows the rules and the solver's kernels, no files.
#![forbid(unsafe_code)]

mod assumptions;
mod distances;
mod endings;
mod graph;
mod guess;
mod key;
mod known;
mod links;
mod opened;
mod posted;
mod prover;
mod recapture;
mod settled;
mod slices;
mod strategy;
mod walk;

pub use assumptions::{AssumedResult, Assumptions};
pub use endings::{Endings, LookedUp, ReadingCost};
pub use prover::{Limits, ProofProgress, Prover, fits};
pub use strategy::{NoStrategy, ProvenStrategy};
