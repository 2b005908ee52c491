//! Small chess endgame tables: the block format `.hbf`, read and written.
//!
//! The authority on the format is `docs/hbf.md`. This crate knows nothing of the solver and of
//! other formats; it has its own board.
//!
//! ```no_run
//! use hoffman_hbf::{Tablebase, Value, parse_fen, value_of};
//!
//! let mut tables = Tablebase::new(64 << 20);
//! tables.add_folder("tables".as_ref())?;
//! let position = parse_fen("8/8/8/8/8/2k5/8/K6q b - -").ok_or("no position")?;
//! match value_of(tables.probe(&position)?) {
//!     Some(Value::Win(moves)) => println!("Black mates with its move number {moves}"),
//!     Some(Value::Loss(moves)) => println!("White mates with its move number {moves}"),
//!     _ => println!("a draw"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`encode_ending`] writes a table from any [`Source`] of values: one side to move or both,
//! leaning on smaller tables or not, with outcomes apart from distances if wanted.
//! [`encode_entries`] writes entries by index, which is what a `.htb` of any kind holds.
#![forbid(unsafe_code)]

mod answer;
mod board;
mod cells;
mod code;
mod container;
mod encode;
mod entries;
mod entry_writer;
mod fen;
mod fill;
mod frame;
mod grow;
mod header;
mod material;
mod miss;
mod model;
mod move_rows;
mod moves;
mod output;
mod plain;
mod plan;
mod probe;
mod range;
mod rows;
mod sample;
mod selection;
mod side_by_side;
mod symbols;
mod table;
mod tile;
mod train;
mod tree;
mod trial;
mod whole;
mod workers;

pub use answer::{Asked, Lookup, Stored, answer};
pub use board::{Color, Kind, Man, Position};
pub use code::{Code, DRAW, LONGEST, Value, before, code_of, outcome, value_of};
pub use container::{Bytes, HbfError, is_hbf};
pub use encode::{
    EncodeError, EncodeOptions, ModelTests, Sides, Source, StreamReport, Texts, encode_ending,
    write_ending,
};
pub use entry_writer::{EntryTable, EntryWriter, encode_entries};
pub use fen::{parse_fen, to_fen};
pub use header::{Claims, Metric, Mode, TableInfo};
pub use material::{MAX_MEN, Material};
pub use moves::{Move, en_passant_captures, exits, legal_moves};
pub use probe::{ProbeCounts, ProbeError, Tablebase};
#[doc(hidden)]
pub use selection::Selection;
pub use table::stored_code;
pub use table::{CellPlace, CellStream, EntryPlace, HbfFile};
#[doc(hidden)]
pub use train::model_memory;
pub use trial::{Trial, try_ending};
pub use whole::{MutualZugzwang, WholeError, WholeTable, turn_over};
pub use workers::{Crew, WorkWatch, WorkerThreads, Workers};
