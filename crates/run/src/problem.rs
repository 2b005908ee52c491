//! Why a file cannot be used as futurebase.

use std::path::PathBuf;

use hoffman_board::{Color, Material, MaterialError};
use hoffman_control::{FuturebaseKind, IndexType, PruneEffect};
use hoffman_table::TableError;

use crate::futuremoves::color_name;

/// Why a file cannot be used as futurebase.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FuturebaseProblem {
    /// The element names an address.
    #[error("tables are read from files only, give a filename instead of a url")]
    Url,
    /// The folder of a pattern cannot be read.
    #[error("'{name}': {source}")]
    Folder {
        /// The pattern.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// A pattern that fits no file.
    #[error("'{0}': no file fits the pattern")]
    NoneFits(String),
    /// A Syzygy table of distances.
    #[error("'{0}': Syzygy rtbz tables cannot be used, use rtbw")]
    Rtbz(String),
    /// There is no file.
    #[error("'{0}': there is no such file")]
    Missing(String),
    /// A name that cannot stand in a control file.
    #[error("'{path}': not UTF-8", path = .0.display())]
    NotUtf8(PathBuf),
    /// The table would replace what it is made from.
    #[error("'{path}': this is the output file, which would replace its own futurebase", path = .0.display())]
    Output(PathBuf),
    /// The file is no table, or damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table of another program whose name says no men.
    #[error("'{name}': {source}")]
    Name {
        /// The file.
        name: String,
        /// Why.
        source: MaterialError,
    },
    /// Something about a table that can be read.
    #[error("'{path}': {misfit}", path = .path.display())]
    Misfit {
        /// The table.
        path: PathBuf,
        /// Why it does not fit.
        misfit: Misfit,
    },
}

/// Why a table that can be read does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The rules are others.
    #[error("the futurebase is for another variant of chess")]
    Variant,
    /// The table itself.
    #[error("the futurebase holds the men of the table itself")]
    SameMen,
    /// More than one move away.
    #[error("too many pieces are missing in the futurebase ({0}), one capture takes one")]
    Missing(u8),
    /// Pawns do not arise.
    #[error("the futurebase has a pawn that is not in the table")]
    Pawn,
    /// No move leads there.
    #[error("no single move leads from {from} to {to}")]
    Unrelated {
        /// The men of the table.
        from: Material,
        /// Those of the futurebase.
        to: Material,
    },
    /// It is reached in another way than the control file says.
    #[error("the type '{}' was given, but the table is reached by {}", .given.name(), .found.name())]
    Relation {
        /// What the control file says.
        given: FuturebaseKind,
        /// What is right.
        found: FuturebaseKind,
    },
    /// It does not tell distances to mate.
    #[error("a table without distances to mate cannot be used for the dtm format")]
    NoDistances,
    /// A table of one bit that asks another question.
    #[error(
        "a flag table answers the question of another flag table only if both ask the same; with colours \
         exchanged white-wins goes with white-draws"
    )]
    Flag,
    /// A table of one bit for one of more.
    #[error("a table of one bit can be used for a table of one bit only")]
    OneBit,
    /// It was pruned, and the control file does not enable that.
    #[error(
        "the futurebase was made with {} moves open to '{}', and this file enables no such pruning",
        color_name(*.color).to_lowercase(), .effect.name()
    )]
    NotEnabled {
        /// Whose moves.
        color: Color,
        /// What became of them.
        effect: PruneEffect,
    },
    /// Its indices tell fewer images apart, and its values may differ.
    #[error(
        "the futurebase has symmetry {theirs}, less than the {ours} of the table, and may tell mirror images \
         apart; write <index type=\"{}\" symmetry=\"{theirs}\"/>", .index.name()
    )]
    Symmetry {
        /// Of the futurebase.
        theirs: u8,
        /// Of the table.
        ours: u8,
        /// The index type of the table.
        index: IndexType,
    },
    /// Its pieces cannot go everywhere, and it is to be expanded with.
    #[error("the futurebase has restricted pieces")]
    Restricted,
}
