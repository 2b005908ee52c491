//! Control files and the headers of tables: XML text to a typed model, and back without loss.
//!
//! Owns the only XML of the project: which elements and attributes there are, in the syntax of
//! today and of 2006, what their values mean as words (squares, colours, formats), the piece list
//! that a control file describes, the conflicts that can be seen from the text alone, and the
//! editing of the original text into the header of a table. Everything found carries its line for
//! messages. Knows nothing of futurebases' contents, of index numbers or of values, and does no
//! I/O.
//!
//! The usual order is [`ControlFile::parse`], [`check_declarations`], [`resolve_pieces`] (or
//! [`resolve_pieces_with`] for pawn structures), [`check_pieces`], and at the end
//! [`render_header`].
#![forbid(unsafe_code)]
// What only writing needs is not told apart in every room.
#![cfg_attr(not(feature = "edit"), allow(dead_code))]

mod check;
mod claims;
mod complete;
#[cfg(feature = "edit")]
mod cut;
mod document;
#[cfg(feature = "edit")]
mod edit;
#[cfg(feature = "edit")]
mod elements;
#[cfg(feature = "edit")]
mod ending;
mod error;
#[cfg(feature = "edit")]
mod expansion;
#[cfg(feature = "edit")]
mod game;
mod limits;
mod location;
mod model;
mod number;
mod order;
mod prolog;
mod prune;
#[cfg(feature = "edit")]
mod sheet;
mod statistics;
mod text;
#[cfg(feature = "edit")]
mod write;

pub use check::{automatic_symmetry, check_declarations, check_pieces};
pub use claims::{Assumption, Claims, Defect, PruneUse, SideClaims, may_be_idle};
pub use complete::header_of_complete;
#[cfg(feature = "edit")]
pub use cut::{CutEdits, render_cut};
#[cfg(feature = "edit")]
pub use edit::{HeaderEdits, PawngenEdits, RenderedHeader, render_header};
#[cfg(feature = "edit")]
pub use elements::{futurebase_element, prune_element};
#[cfg(feature = "edit")]
pub use ending::{Ending, EndingError, NameProblem};
pub use error::{ControlError, Notice, Site, folded};
#[cfg(feature = "edit")]
pub use expansion::{ExpansionEdits, render_expansion};
#[cfg(feature = "edit")]
pub use game::{GameControl, PruneGroup};
pub use location::{PawnMasks, resolve_pieces, resolve_pieces_with};
pub use model::{
    ControlFile, FormatDeclaration, FuturebaseElement, FuturebaseKind, IndexDeclaration, IndexType,
    OutputElement, PawngenElement, PawngenSide, PieceElement, Place, PropTables, PruneEnable,
    Strictness,
};
pub use number::leading_number;
pub use prune::{Prune, PruneEffect, PrunePattern};
pub use statistics::{GenerationStatistics, PassStatistics, escape, format_duration};
pub use text::{decode_text, prefix_length};
#[cfg(feature = "edit")]
pub use write::{control_for_material, control_for_part};
