//! Chess endgame tables as a library: ask the ones that are there, solve and build the ones that
//! are not, and check them all.
//!
//! # Ask
//!
//! A [`Tablebase`] is one or several folders of tables. It is cheap to clone and may be asked from
//! any thread.
//!
//! ```
//! use hoffman::{Plies, Tablebase, Value};
//!
//! # fn main() -> Result<(), hoffman::Error> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let dir = folder.path();
//! # hoffman::build(&["KQvK".parse()?], &hoffman::Options::new(dir), &mut |_| {})?;
//! let tables = Tablebase::open(dir)?;
//! let answer = tables.probe("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")?;
//! match answer.value {
//!     Value::Win { plies: Some(plies) } => println!("mate in {} moves", plies.moves()),
//!     Value::Win { plies: None } => println!("won"),
//!     Value::Draw => println!("drawn"),
//!     Value::Loss { .. } => println!("lost"),
//!     other => println!("no more than this is proved: {other:?}"),
//! }
//! assert_eq!(answer.value, Value::Win { plies: Some(Plies(19)) });
//!
//! // Every legal move with what it leads to, best first; and best play to the end.
//! let moves = tables.moves("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")?;
//! assert_eq!(moves[0].m, tables.line("8/8/8/5k2/8/8/1Q6/K7 w - - 0 1")?[0]);
//! # Ok(())
//! # }
//! ```
//!
//! A position is a FEN, a [`Position`], or one of [`shakmaty`]'s: see [`AsPosition`].
//!
//! # What an answer is
//!
//! [`Answer::value`] is what is *proved* under the rules of chess, for the side to move. Most
//! tables are of chess and prove everything they say. Others were made under assumptions, as that
//! a fortress is not left: they prove some of it, and [`Answer::bound`] says how much. What such a
//! table itself says, by its own rules, is [`TableAnswer::said`], and what it assumes
//! [`TableAnswer::assumes`].
//!
//! Distances are [`Plies`] to mate or [`Moves`] to a conversion, never a bare number. They know no
//! fifty-move rule and no castling.
//!
//! That no table has a position is an error ([`ProbeError::NoTable`]), not a value.
//!
//! # Solve and build
//!
//! [`solve`] answers one position and makes what is missing on the way; [`build`] makes whole
//! endings and the tables of control files; [`plan()`] says beforehand what that takes. [`verify`]
//! checks every entry of a table against the entries of its successors, and [`stats`] counts what
//! a table contains. A [`Table`] that is opened once does both, is converted, and lists positions
//! ([`Table::list`]): zugzwangs, only moves, longest wins; all of them with their values are
//! [`Table::entries`]. [`control`] has what only control files need.
//!
//! They tell what they do by [`Event`]s, stop when a [`Cancel`] says so, work on the threads that
//! [`Options`] name and on no others, print nothing, and handle no signals.
//!
//! ```
//! use hoffman::{Event, Options};
//!
//! # fn main() -> Result<(), hoffman::Error> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let dir = folder.path();
//! let options = Options::new(dir).memory(512 << 20);
//! let mut finished = 0;
//! let solved = hoffman::solve("8/8/8/8/1k6/1p6/1K6/8 w - - 0 1", &options, &mut |event| {
//!     if let Event::Finished { .. } = event {
//!         finished += 1;
//!     }
//! })?;
//! assert!(solved.answer.value.is_draw());
//! assert!(finished > 0);
//! # Ok(())
//! # }
//! ```
//! # Prove
//!
//! Many pawns are too many for tables. [`prove()`] says whether such a position is won, drawn or
//! lost, opens no more than it has to look into, and writes a certificate of it that whoever knows
//! the rules can check: [`check_certificate`]. Why that is so, in lines and squares, is its
//! [`Explanation`], if that is asked for.
//!
//! ```
//! use hoffman::{Options, ProveOptions, Value};
//!
//! # fn main() -> Result<(), hoffman::Error> {
//! let fen = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1";
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let file = folder.path().join("draw.cert");
//! let asked = ProveOptions::new().certificate(&file);
//! let proved = hoffman::prove(fen, &Options::without_folder(), &asked, &mut |_| {})?;
//! assert_eq!(proved.value, Value::Draw);
//! let checked = hoffman::check_certificate(&file)?;
//! assert_eq!(checked.claims.len(), 2); // neither side loses
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod at_hand;
mod build;
mod certificate;
pub mod control;
mod control_set;
mod entries;
mod error;
mod event;
mod exclusion;
mod explanation;
mod game;
mod goal;
mod heat;
mod jobs;
mod list;
mod listing;
mod one;
mod options;
mod part;
mod plan;
pub mod process;
mod prove;
mod receipt;
#[cfg(feature = "remote")]
mod remote;
mod search_file;
mod signature;
mod strategy;
mod table;
mod verified;
mod verify_order;
mod watch;
mod what_if;

pub use hoffman_board::value::FlagType;
pub use hoffman_board::{Format, Placement, role_name};
pub use hoffman_certificate::{Checked, Claimed};
pub use hoffman_probe::list::{
    ListCounts, ListError, ListQuery, ListedPosition, Pattern, PatternError, UniqueLine,
    WantedResult, Zugzwang, ZugzwangKind, ZugzwangOf,
};
pub use hoffman_probe::report::{MoveReport, PositionVerdict};
pub use hoffman_probe::stats::{SideStats, TableStats};
pub use hoffman_probe::verify::{Verdict, VerifyReport};
pub use hoffman_reader::{
    Answer, AsPosition, Assumption, Bound, Category, Color, Error as ProbeError, FenError, GameEnd,
    Impossible, Material, Move, MoveAnswer, Moves, OpenOptions, Opened, Plies, Position,
    PruneEffect, ReadOptions, Report, Role, Said, Session, Square, TableAnswer, Tablebase, Value,
    Variant, Wdl, shakmaty,
};
pub use hoffman_run::{
    JobCost, Method, PassReport, Phase, PlannedTable, RunPlan as Plan, Summary, Threads,
};
pub use hoffman_table::blocks::{Content, Profile};
pub use hoffman_table::convert::Converted;
pub use hoffman_table::htb::Compression;
pub use hoffman_table::index::IndexType;

pub use build::{Built, Made, Solved, Target, build, solve};
pub use certificate::check_certificate;
pub use control_set::{ControlSet, ControlText};
pub use entries::TableEntry;
pub use error::Error;
pub use event::{Cancel, Event};
pub use exclusion::Exclusion;
pub use explanation::{
    Correspondence, Explanation, KeyLines, KeyMove, KingZugzwang, KingZugzwangs, OtherLine,
};
pub use game::{Change, Judged};
pub use goal::{Aim, Goal};
pub use heat::{HeatMap, SquareHeat};
pub use jobs::{JobGraph, JobInput, MadeBy, PlannedJob, jobs, jobs_in_parts, jobs_of_position};
pub use list::{ListOptions, ListProgress, TableLists};
pub use listing::{TableFile, TableInfo, tables_in};
pub use one::OneTable;
pub use options::{Options, STACK, VerifyOptions};
pub use part::{Exchanged, PartOfKings, SolvedPart, solve_part};
pub use plan::{Whole, plan, plan_position};
pub use prove::{
    Certification, Effort, MEN_OF_TABLES, ProveOptions, Proved, ProvedMove, Reached, Unfinished,
    prove, proved_in_words,
};
pub use receipt::{receipt_of, verification_of};
#[cfg(feature = "remote")]
pub use remote::{RemoteOptions, reach_addresses};
pub use signature::signature;
pub use table::{ConvertOptions, Table, sharing, stats, verify};
pub use verified::{Verified, verify_once};
pub use verify_order::{TableToVerify, tables_to_verify};
pub use what_if::{MovesOfSide, WhatIf, WhatIfError, parse_side};
