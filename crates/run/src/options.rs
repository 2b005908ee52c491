//! How a run is done, and what it did.

use std::path::PathBuf;
use std::sync::Arc;

use hoffman_pages::Pages;
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use hoffman_table::rows::IndexCounts;

use crate::progress::Progress;
use crate::workplace::Workplace;

/// How tables are made.
pub struct RunOptions<'a> {
    /// Whether the tables of endings are written; those of control files are in any case.
    pub write: bool,
    /// Given all tables of the endings, in order, once they are solved; before files are written if
    /// they fit into memory together.
    pub solved: Option<&'a SolvedHook<'a>>,
    /// The command line, for the headers.
    pub args: String,
    /// Where tables of other programs are looked for.
    pub foreign: ForeignOptions,
    /// Told of what happens.
    pub progress: &'a dyn Progress,
    /// Where it is done.
    pub workplace: Workplace,
}

/// See [`RunOptions::solved`].
pub type SolvedHook<'a> = dyn Fn(Vec<Table>) + Sync + 'a;

impl<'a> RunOptions<'a> {
    /// Tables are written, and name no command line.
    pub fn new(progress: &'a dyn Progress, workplace: Workplace) -> RunOptions<'a> {
        let (args, foreign) = (String::new(), ForeignOptions::default());
        RunOptions { write: true, solved: None, args, foreign, progress, workplace }
    }
}

/// What a run did.
#[derive(Debug, Default)]
pub struct RunReport {
    /// The tables made, in order.
    pub made: Vec<MadeTable>,
    /// Files that were there already and are what was asked for.
    pub kept: Vec<PathBuf>,
}

/// A table that was made.
#[derive(Debug)]
pub struct MadeTable {
    /// The file name, of an ending without folder.
    pub name: String,
    /// The file, if it was written.
    pub path: Option<PathBuf>,
    /// What is counted over its indices, if it was written.
    pub counts: Option<IndexCounts>,
    /// The longest win or loss in moves.
    pub longest: u16,
    /// The longest win with White and with Black to move, in moves, none of a side that never wins;
    /// if distances were asked for.
    pub longest_wins: Option<[Option<u16>; 2]>,
    /// Remarks for the user.
    pub notices: Vec<String>,
}

/// Where a table is made, and who is told.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'a> {
    pub(crate) workplace: &'a Workplace,
    /// Where values lie if memory is bounded.
    pub(crate) pages: Option<&'a Arc<Pages>>,
    pub(crate) progress: &'a dyn Progress,
}
