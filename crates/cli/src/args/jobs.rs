//! The options of plans whose jobs others run, or the program itself, one process each.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use super::{FileFormat, FolderArgs, StreamArgs, threads};
use crate::work::WorkArgs;

/// Who runs the jobs of a plan.
#[derive(Args, Debug)]
pub(crate) struct JobsArgs {
    /// Print a Makefile: `make -j N` makes the tables.
    #[arg(long, conflicts_with_all = ["snakefile", "slurm", "run", "json"])]
    pub(crate) makefile: bool,
    /// Print a Snakefile, for Snakemake 9: with memory, time, disk and threads of every job, on one
    /// machine or on a cluster.
    #[arg(long, conflicts_with_all = ["slurm", "run", "json"])]
    pub(crate) snakefile: bool,
    /// Print a shell script that submits job arrays to Slurm.
    #[arg(long, conflicts_with_all = ["run", "json"])]
    pub(crate) slurm: bool,
    /// Make the tables, each in a process of its own, within so many threads (--jobs) and so much
    /// memory (--memory).
    #[arg(long, conflicts_with = "json")]
    pub(crate) run: bool,
    /// With --run: how many threads work at a time [default: one a core].
    #[arg(short, long, value_name = "N", requires = "run", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    /// Make endings with pawns, as many men as the largest that is named have, in parts: a job for
    /// each choice of files for the pawns, and one that joins them (hoffman join). Such jobs do not
    /// need each other, so several machines work on one table. With a number, endings of as many
    /// men without pawns are solved by so many processes at the same time (hoffman solve-part), and
    /// the pawn structures of control files (pawngen) are made in so many parts and joined.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "files", value_parser = parts)]
    pub(crate) parts: Option<usize>,
    /// With every table a job that verifies so many of its entries and writes what it finds to
    /// `verified` beside it.
    #[arg(long, value_name = "N")]
    pub(crate) verify: Option<NonZeroU64>,
    /// The format of the files of endings [default: hbf].
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    #[command(flatten)]
    pub(crate) streams: StreamArgs,
}

/// One table alone, for those that run the jobs of a plan.
#[derive(Args, Debug)]
pub(crate) struct OnlyArgs {
    /// Make this table alone, from files that are there: an ending, a part of one (KRPvKR-b2+) or a
    /// control file, or a table of what is named besides, which may be a position in FEN, too. A
    /// finished table is kept. Exit code 3: try again, 4: more memory is needed (docs/cluster.md).
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["men", "no_write"])]
    pub(crate) only: Option<String>,
    /// Write the checksums of the table and of the files that it was made from to this file, and
    /// refuse files that are not what their own receipts say.
    #[arg(long, value_name = "FILE", requires = "only")]
    pub(crate) receipt: Option<PathBuf>,
}

/// One of several processes that solve an ending together.
#[derive(Args, Debug)]
pub(crate) struct SolvePartArgs {
    /// The ending, which has no pawns, such as KRRvKR. The tables that its captures lead to must be
    /// in the folder.
    #[arg(value_name = "MATERIAL")]
    pub(crate) ending: String,
    /// Which part this process solves, and of how many, such as 2/8. The processes of all parts
    /// work at the same time; one that was ended goes on when the same command is given again.
    /// When all are done, hoffman join makes one table of the parts.
    #[arg(long, value_name = "K/N", value_parser = part_of_several)]
    pub(crate) part: (usize, usize),
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    /// How many seconds the process of another part is waited for, every time, before this one ends
    /// with exit code 3: try again.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    pub(crate) patience: u64,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// A number of parts; 0 if the files of pawns say how many there are.
fn parts(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) if text != "files" => Err("how many parts? A number from 1 on".to_owned()),
        number => Ok(number.unwrap_or(0)),
    }
}

/// Two numbers with a stroke between them.
fn part_of_several(text: &str) -> Result<(usize, usize), String> {
    let numbers = text
        .split_once('/')
        .and_then(|(number, of)| Some((number.parse::<usize>().ok()?, of.parse::<usize>().ok()?)));
    let is_part = |&(number, of): &(usize, usize)| (1..=of).contains(&number);
    let said = "a part is a number and how many there are, such as 2/8";
    numbers.filter(is_part).ok_or_else(|| said.to_owned())
}

/// Parts that become one table.
#[derive(Args, Debug)]
pub(crate) struct JoinArgs {
    /// The tables of parts, which may overlap; or an ending such as KRPvKR, whose parts by the
    /// files of its pawns lie in the folder, as hoffman plan --parts makes them; or one without
    /// pawns, which several processes of hoffman solve-part have solved there (without --dir the
    /// folder is that of the output, if it is named); or a control file with pawn structures
    /// (pawngen) and the tables of its parts by start and count.
    #[arg(required = true, value_name = "PART|MATERIAL|NAME.xml")]
    pub(crate) what: Vec<String>,
    /// The table to be written [default, for an ending or a control file: its table in the folder].
    #[arg(short, long, value_name = "TABLE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    /// The format of the file, if it is not named [default: hbf].
    #[arg(long, value_enum, conflicts_with = "output")]
    pub(crate) format: Option<FileFormat>,
    #[command(flatten)]
    pub(crate) streams: StreamArgs,
    /// Leave out of the header what differs from run to run: the machine, the command line, times.
    /// The table is the same file then that hoffman build --reproducible makes.
    #[arg(long)]
    pub(crate) reproducible: bool,
    /// Write the checksums of the table and of the parts to this file, and refuse parts that are
    /// not what their own receipts say.
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
