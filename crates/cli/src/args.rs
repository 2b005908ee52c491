//! The modern command line: its commands and options, and the folder of tables.

mod formats;
mod jobs;
mod lists;
mod what_if;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use hoffman::ReadOptions;
use hoffman::process::is_folder;

pub(crate) use formats::{ConvertArgs, EntryFormat, FileFormat, StreamArgs};
pub(crate) use jobs::{JobsArgs, JoinArgs, OnlyArgs, SolvePartArgs};
pub(crate) use lists::{
    AnnotateArgs, CompletionsArgs, LineArgs, ListArgs, ManArgs, PlotArgs, ResultName, SideName,
    UniqueName, ZugzwangName,
};
pub(crate) use what_if::WhatIfArgs;

use crate::work::{ReadingArgs, WorkArgs};

/// The most threads that can be asked for.
pub(crate) const MAX_THREADS: usize = 1024;

/// Chess endgame solver.
#[derive(Debug, Parser)]
#[command(name = "hoffman", version, after_help = crate::classic::USAGE, term_width = 100)]
pub(crate) struct Cli {
    /// How many threads work [default: one a core].
    #[arg(short, long, global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Solve a position: its result, every move, the main line. Builds the tables that are
    /// missing; of more than five men, proves the result.
    Solve(Box<SolveArgs>),
    /// Build tables of complete endings and all that they depend on, or those of a control file.
    Build(BuildArgs),
    /// Write a control file for each table that a race of pawns needs, and a Makefile.
    Pawngen(PawngenArgs),
    /// Say what building tables would take: memory, disk, time, and in which order they would be
    /// made.
    Plan(PlanArgs),
    /// Make one table of an ending from tables of its parts, checked: they agree, and none is
    /// missing.
    Join(JoinArgs),
    /// Solve some of the king pairs of an ending without pawns, while other processes, which see
    /// the same folder, solve the rest.
    SolvePart(SolvePartArgs),
    /// Look positions up in tables that are there.
    Probe(ProbeArgs),
    /// Count what tables contain.
    Stats(StatsArgs),
    /// List positions of tables: zugzwangs, only moves, longest wins, men on squares.
    List(ListArgs),
    /// Print best play from a position as a game in PGN.
    Line(LineArgs),
    /// Say in the games of PGN files what every move did that tables know: whether it changed the
    /// result, and what was best.
    Annotate(AnnotateArgs),
    /// Draw the distances of a table, or one man of a position on all squares, as SVG.
    Plot(PlotArgs),
    /// Recompute every entry of tables from its successors.
    Verify(VerifyArgs),
    /// Check certificates of positions by the rules of chess alone.
    Check(CheckArgs),
    /// Write a table anew with another index type, symmetry or entry format.
    Convert(ConvertArgs),
    /// Write the control files of complete endings, and of all that they depend on.
    Control(ControlArgs),
    /// Answer over HTTP, and show a page to look at tables with.
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Be a chess engine that speaks UCI and plays by tables.
    Uci(UciArgs),
    /// Solve a fixed set of small endings in memory and fold their statistics into one number.
    Bench,
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Write the manual pages, one for each command.
    Man(ManArgs),
}

/// The command line as it is described, for completions and manual pages.
pub(crate) fn described() -> clap::Command {
    Cli::command()
}

/// Whether the first argument of a command line makes it a modern one.
pub(crate) fn is_command(word: &str) -> bool {
    word == "help" || Cli::command().find_subcommand(word).is_some()
}

/// The help on everything.
pub(crate) fn help() -> String {
    Cli::command().render_long_help().to_string()
}

/// A number of seconds, which may be a fraction.
fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "that is no number of seconds, like 60 or 0.5".to_owned())
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=MAX_THREADS).contains(&n) => Ok(n),
        _ => Err(format!("the number of threads must be from 1 to {MAX_THREADS}")),
    }
}

/// Where the tables are.
#[derive(Args, Debug)]
pub(crate) struct FolderArgs {
    /// The folder of the tables, on the disk or at an address, as https://example.org/tables or
    /// s3://bucket/tables [default: $HOFFMAN_TABLES, else the user's data folder].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl FolderArgs {
    /// The folder that was asked for, or the usual one.
    pub(crate) fn path(&self) -> anyhow::Result<PathBuf> {
        self.dir
            .clone()
            .or_else(default_folder)
            .context("there is no folder for tables; name one with --dir DIR")
    }

    /// The folder that was asked for, if any.
    pub(crate) fn given(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// The folder to read from. One that was asked for must exist, the usual one need not.
    pub(crate) fn existing(&self) -> anyhow::Result<Option<PathBuf>> {
        match &self.dir {
            Some(dir) => expect_folders([dir]).map(|()| Some(dir.clone())),
            None => Ok(default_folder().filter(|dir| is_folder(dir))),
        }
    }
}

/// Refuses folders that are not there.
pub(crate) fn expect_folders<'a>(
    folders: impl IntoIterator<Item = &'a PathBuf>,
) -> anyhow::Result<()> {
    for folder in folders {
        anyhow::ensure!(is_folder(folder), "{}: there is no such folder", folder.display());
    }
    Ok(())
}

/// The folders that were asked for, which must exist, or the usual one, which need not.
pub(crate) fn folders_or_usual(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    expect_folders(given)?;
    let usual = || default_folder().filter(|folder| is_folder(folder));
    Ok(if given.is_empty() { usual().into_iter().collect() } else { given.to_vec() })
}

/// `$HOFFMAN_TABLES`, else `hoffman` in the folder for data of the XDG base directory
/// specification.
pub(crate) fn default_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HOFFMAN_TABLES").or_else(|| {
        let data = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(set("HOME")?.join(".local/share")));
        Some(data?.join("hoffman"))
    })
}

/// How tables of other programs are read.
#[derive(Args, Debug)]
pub(crate) struct ForeignArgs {
    /// A folder with Syzygy tables (.rtbw) that a table is looked for in, or needs, or that answer
    /// where no other table does. May be repeated.
    #[arg(short = 'S', long, value_name = "DIR")]
    pub(crate) syzygy: Vec<PathBuf>,
    /// A folder with Nalimov tables (.emd). May be repeated.
    #[arg(long, value_name = "DIR")]
    nalimov: Vec<PathBuf>,
    /// Take Syzygy's cursed wins for wins, blessed losses for losses, instead of draws.
    #[arg(long)]
    cursed_wins: bool,
}

impl ForeignArgs {
    /// The same options for another process.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let folders = |name: &str, folders: &[PathBuf]| -> Vec<String> {
            let said = |dir: &PathBuf| [name.to_owned(), dir.display().to_string()];
            folders.iter().flat_map(said).collect()
        };
        let mut all = folders("--syzygy", &self.syzygy);
        all.extend(folders("--nalimov", &self.nalimov));
        all.extend(self.cursed_wins.then(|| "--cursed-wins".to_owned()));
        all
    }

    /// Whether any folder was given.
    pub(crate) fn any(&self) -> bool {
        !self.syzygy.is_empty() || !self.nalimov.is_empty()
    }

    /// How such tables are read; their folders must be there.
    pub(crate) fn options(&self) -> anyhow::Result<ReadOptions> {
        expect_folders(self.syzygy.iter().chain(&self.nalimov))?;
        Ok(reading(&self.syzygy, &self.nalimov, self.cursed_wins))
    }
}

/// How tables of other programs are read.
pub(crate) fn reading(syzygy: &[PathBuf], nalimov: &[PathBuf], cursed_wins: bool) -> ReadOptions {
    let reading = syzygy.iter().fold(ReadOptions::new(), ReadOptions::syzygy);
    nalimov.iter().fold(reading, ReadOptions::nalimov).cursed_wins(cursed_wins)
}

/// The tables that are at hand.
#[derive(Args, Debug)]
pub(crate) struct AtHandArgs {
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    pub(crate) foreign: ForeignArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl AtHandArgs {
    /// The folder to read from, if there is one.
    pub(crate) fn folder(&self) -> anyhow::Result<Option<PathBuf>> {
        self.folder.existing()
    }

    /// The most memory that the program takes, in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.reading.bytes()
    }

    /// How tables are read.
    pub(crate) fn reading(&self) -> anyhow::Result<ReadOptions> {
        let reading = self.folder()?.iter().fold(self.foreign.options()?, ReadOptions::behind);
        self.reading.bound(reading)
    }
}

#[derive(Args, Debug)]
pub(crate) struct SolveArgs {
    /// The position, as one word or several.
    #[arg(required = true, value_name = "FEN")]
    pub(crate) fen: Vec<String>,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    /// Prove the result with the help of the Syzygy tables (.rtbw) of this folder, beside those of
    /// --dir. May be repeated.
    #[arg(short = 'S', long, value_name = "DIR", conflicts_with = "tables")]
    pub(crate) syzygy: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Prove whether it is won, drawn or lost, without making tables. That is done for all
    /// positions of more than five men that no table at hand has.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) outcome: bool,
    /// Make the tables that the exact distance to mate needs, however many men there are.
    #[arg(long)]
    pub(crate) tables: bool,
    /// Prove the result of every legal move, however long that takes.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) moves: bool,
    /// Say in how many moves a proven win is won, at the earliest and at the latest.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) distance: bool,
    /// Say why the result is what it is: key lines, exchanges, zugzwangs, corresponding squares and
    /// key squares of the kings.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) explain: bool,
    /// Draw the squares of the explanation: an SVG file.
    #[arg(long, value_name = "FILE.svg", requires = "explain")]
    pub(crate) picture: Option<PathBuf>,
    /// Write the proof to a file: a move for every position that can arise. `hoffman check` and
    /// checkers/check-certificate.py check it.
    #[arg(long, value_name = "FILE", conflicts_with = "tables")]
    pub(crate) certificate: Option<PathBuf>,
    /// Go on with the search that this file holds, if it is there, and write how far the search
    /// came.
    #[arg(long, value_name = "FILE", conflicts_with = "tables")]
    pub(crate) resume: Option<PathBuf>,
    /// Look at the positions that arise one by one, instead of all squares of the pieces at once:
    /// where most men cannot move, or may not.
    #[arg(long, conflicts_with_all = ["tables", "resume", "syzygy", "explain"])]
    pub(crate) one_by_one: bool,
    /// End a proof after so many seconds, with what is proven by then.
    #[arg(long, value_name = "SECONDS", value_parser = duration, conflicts_with = "tables")]
    pub(crate) time: Option<Duration>,
    #[command(flatten)]
    pub(crate) what_if: WhatIfArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Certificates that `hoffman solve --certificate` wrote.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Control files (NAME.xml), also such as are to be expanded; endings such as KRPvKR; or a
    /// position in FEN.
    #[arg(required_unless_present = "men", value_name = "CONTROL|MATERIAL|FEN")]
    pub(crate) what: Vec<String>,
    /// All endings with up to so many men, kings included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16), conflicts_with = "what")]
    pub(crate) men: Option<u8>,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) foreign: ForeignArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BuildArgs {
    /// Endings by name, as KRPvKR; or control files, whose names end in .xml. Their tables are
    /// made in the order in which they need each other, and written where the control file says,
    /// or into the folder given with --dir.
    #[arg(value_name = "MATERIAL", required_unless_present_any = ["men", "only"])]
    pub(crate) materials: Vec<String>,
    /// All endings with up to so many men, kings included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16), conflicts_with = "materials")]
    pub(crate) men: Option<u8>,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) foreign: ForeignArgs,
    /// The format of the files of endings [default: hbf]. The table of a control file is written in
    /// the block format if the name that the control file gives it ends in .hbf.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    #[command(flatten)]
    pub(crate) streams: StreamArgs,
    /// Solve only, write nothing.
    #[arg(long)]
    pub(crate) no_write: bool,
    /// Leave out of the headers what differs from run to run: the machine, the command line, times.
    /// The same table is the same file then.
    #[arg(long)]
    pub(crate) reproducible: bool,
    #[command(flatten)]
    pub(crate) one: OnlyArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

impl BuildArgs {
    /// Whether control files are meant, or some of what is named is one.
    pub(crate) fn names_control_files(&self) -> bool {
        self.materials.iter().chain(&self.one.only).any(|name| is_control_file(name))
    }
}

/// Whether a name is that of a control file.
pub(crate) fn is_control_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("xml"))
}

#[derive(Args, Debug)]
pub(crate) struct PawngenArgs {
    /// Control files with a pawngen element that leaves the numbers of pawns open, or files of
    /// 2006.
    #[arg(required = true, value_name = "NAME.xml")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeArgs {
    /// The position, as one word or several. Without it, positions are read from standard input,
    /// one a line, and answered with one line of JSON each. Names of table files may stand before
    /// it, as for --table.
    #[arg(value_name = "FEN")]
    pub(crate) fen: Vec<String>,
    /// A table to ask first: a file, or an ending. May be repeated.
    #[arg(long = "table", value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// A folder of tables, on the disk or at an address. May be repeated; earlier ones are asked
    /// first, and tables with distances before others [default: $HOFFMAN_TABLES, else the user's
    /// data folder].
    #[arg(long = "dir", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) foreign: ForeignArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer in a word or two for the side to move: `win`, `loss`, `draw` or `unknown`, and behind
    /// the first two the plies to mate, if they are known. Of positions on standard input, too.
    #[arg(long, conflicts_with = "json")]
    pub(crate) value: bool,
}

impl ProbeArgs {
    /// How tables are read.
    pub(crate) fn reading(&self) -> anyhow::Result<ReadOptions> {
        self.reading.bound(self.foreign.options()?)
    }
}

#[derive(Args, Debug)]
pub(crate) struct UciArgs {
    /// A folder of tables, which the option HoffmanPath changes. May be repeated [default:
    /// $HOFFMAN_TABLES, else the user's data folder].
    #[arg(long = "dir", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// A folder of Syzygy tables (.rtbw), which answer where no other table does; the option
    /// SyzygyPath changes it. May be repeated.
    #[arg(short = 'S', long, value_name = "DIR")]
    pub(crate) syzygy: Vec<PathBuf>,
}

#[cfg(feature = "serve")]
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// A folder of tables. May be repeated; earlier ones are asked first, and tables with distances
    /// before others. No file outside of them is opened [default: $HOFFMAN_TABLES, else the user's
    /// data folder].
    #[arg(long = "dir", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// A folder of Syzygy tables (.rtbw), which answer where no other table does. May be repeated.
    #[arg(short = 'S', long, value_name = "DIR")]
    pub(crate) syzygy: Vec<PathBuf>,
    /// The address to listen to. Others than this computer reach it only if it is one of its
    /// addresses in the network, or 0.0.0.0 for all of them. Port 0: any that is free.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: std::net::SocketAddr,
    /// Show the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Let tables that are missing be made from the page, in the first folder, as far as what is
    /// made at a time takes no more than this of memory or of the disk [default: none are made].
    #[arg(long, value_name = "SIZE", value_parser = crate::work::size)]
    pub(crate) build: Option<u64>,
    /// Let positions of more men than tables are made for be proved from the page, each for so long
    /// at most, with half of the free memory [default: none are proved].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) prove: Option<u64>,
    /// The largest table that is counted, or of which positions are listed, while the page waits;
    /// in the block format half as many entries, too.
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = crate::work::size)]
    pub(crate) at_once: u64,
    /// The memory that counting a table, or listing positions of it, may take where that is too
    /// much to be done while the page waits; one at a time, on half of the processors. 0: no such
    /// table.
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = crate::work::size_or_none)]
    pub(crate) count: u64,
    /// Let pages of others read the answers: those of an origin such as https://example.org, or
    /// of all (*).
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors: Option<String>,
    /// How many connections are served at a time.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) connections: u32,
    /// How many requests, and lines of batches, one address may send in a second; twice as many in
    /// a burst. 0: any number.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) rate: u32,
    /// How long a request may take to come in, and a client to take some of the answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) patience: u64,
    /// The most bytes of a batch.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) body: u32,
}

#[derive(Args, Debug)]
pub(crate) struct StatsArgs {
    /// Files, or endings whose tables are in the folder.
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Files, or endings whose tables are in the folder; a folder stands for all tables in it.
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// Check so many entries only, spread over each table.
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<NonZeroU64>,
    /// Write what was found of one table to this file if nothing differs, and do nothing if it says
    /// that this table was verified by as many entries. Exit code 3: try again (docs/cluster.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) at_hand: AtHandArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ControlArgs {
    /// Names of control files: kqk.xml, krkp-basic; qvr.xml for suicide chess. Options, each
    /// behind a hyphen: basic, whitewins; naive, naive2, simple, compact; propN; 4x4, 2x8.
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The folder for the files [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// List the files in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
