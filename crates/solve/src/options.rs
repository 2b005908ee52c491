//! What is asked of the solver, and why it may fail.

use std::sync::Arc;

use hoffman_board::Material;
use hoffman_pages::Pages;
use hoffman_space::PawnSquares;

/// How a slice is solved that is larger than its memory. The values are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Blocks of positions and those around them are in memory, and passes sweep over the blocks.
    #[default]
    Sweep,
    /// Blocks are in memory one by one, and what they have to tell each other goes through
    /// propagation tables.
    PropTables {
        /// Compress the runs of these tables.
        compress: bool,
    },
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Method::Sweep => "sweeps",
            Method::PropTables { compress: false } => "propagation tables",
            Method::PropTables { compress: true } => "propagation tables, compressed",
        })
    }
}

/// What is asked for besides the values.
#[derive(Clone, Debug, Default)]
pub struct SolveOptions {
    /// Count moves and stalemates.
    pub count: bool,
    /// Keep all slices. If not, slices are dropped as soon as no other slice of the ending needs
    /// them.
    pub keep: bool,
    /// Bounded memory for everything large, the values among it. If none is given all is in
    /// memory.
    pub pages: Option<Arc<Pages>>,
    /// How slices are solved that do not fit into these pages.
    pub method: Method,
    /// Keep the outcomes of solved slices only, in a quarter of the memory.
    pub outcomes: bool,
}

/// Why an ending cannot be solved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A table or slice that an exit leads to has not been solved.
    #[error("{ending} cannot be solved without {needed}")]
    Missing {
        /// The ending being solved.
        ending: Material,
        /// The ending that an exit leads to.
        needed: Material,
        /// Its pawns, as the ending being solved sees them.
        pawns: PawnSquares,
    },
    /// The files of working memory failed.
    #[error("{0}")]
    Pages(#[from] std::io::Error),
    /// [`Monitor::is_stopped`] said so. The slices that were solved by then stay solved.
    #[error("the run was interrupted")]
    Stopped,
}
