//! The `hoffman` program: the classic options of the original and modern commands over one engine.
//!
//! Owns the command line, what is printed where, and exit codes. Everything else is in the
//! libraries. Exit codes: 0 done, 1 failure or a verification that found a difference, 2 misuse; of
//! `build --only` also 3 try again, 4 more memory is needed.
#![forbid(unsafe_code)]

#[cfg(feature = "remote")]
mod addresses;
mod args;
mod classic;
mod commands;
mod diagram;
mod interrupt;
mod jobs;
mod output;
mod progress;
mod svg;
mod work;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use hoffman::process::{SystemLimits, cores, limits, use_huge_pages};
use hoffman::{STACK, Threads};

use crate::args::{Cli, Command};
use crate::output::{Misuse, chain, is_broken_pipe, note, print};

/// How a run that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// All is well.
    Done,
    /// Something failed and was reported, or a difference was found.
    Failed,
    /// The command line makes no sense, and that was said.
    Misused,
    /// The same command may do its work later, which was said.
    Later,
    /// The same command would do its work with more memory, which was said.
    LacksMemory,
}

impl RunEnd {
    /// Done if `good`.
    pub(crate) fn of(good: bool) -> RunEnd {
        if good { RunEnd::Done } else { RunEnd::Failed }
    }

    /// The same unless something else failed.
    pub(crate) fn and(self, good: bool) -> RunEnd {
        if good || self == RunEnd::Misused { self } else { RunEnd::Failed }
    }
}

/// Hands out huge pages, see [`use_huge_pages`].
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The least stack of the first thread, in bytes.
const LEAST_STACK: u64 = 1 << 20;

/// The least address space, in bytes: the allocator takes it in large pieces.
const LEAST_SPACE: u64 = 144 << 20;

fn main() -> ExitCode {
    if let Some(refusal) = refusal(limits()) {
        // It may not be read, and there may be no memory to say more.
        let _ = std::io::stderr().write_all(refusal.as_bytes());
        return ExitCode::from(1);
    }

    // Until a table wants them.
    use_huge_pages(false);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    trace();
    let result =
        interrupt::install().context("cannot watch for signals").and_then(|()| run(&arguments));

    match result {
        Ok(RunEnd::Done) => ExitCode::SUCCESS,
        Ok(RunEnd::Failed) => ExitCode::from(1),
        Ok(RunEnd::Misused) => ExitCode::from(2),
        Ok(RunEnd::Later) => ExitCode::from(interrupt::TRY_AGAIN),
        Ok(RunEnd::LacksMemory) => ExitCode::from(4),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => match error.downcast::<Misuse>() {
            Ok(misuse) => {
                note(&format!("{}\n\n{}", misuse.0, classic::USAGE.trim_end()));
                ExitCode::from(2)
            }
            Err(error) => {
                note(&chain(&error));
                ExitCode::from(1)
            }
        },
    }
}

/// Why the program cannot run within the limits of its process. Without them it would be ended by
/// the system in the middle of something.
fn refusal(limits: SystemLimits) -> Option<&'static str> {
    let is_short = |limit: Option<u64>, least: u64| limit.is_some_and(|limit| limit < least);
    if is_short(limits.stack, LEAST_STACK) {
        Some("hoffman: the stack is limited to less than 1 MB (ulimit -s), which is too little\n")
    } else if is_short(limits.address_space, LEAST_SPACE) {
        Some(
            "hoffman: the address space is limited to less than 144 MB (ulimit -v), which is too little\n",
        )
    } else {
        None
    }
}

/// Tells on standard error what is done and why, if RUST_LOG says so.
fn trace() {
    let Ok(wanted) = std::env::var("RUST_LOG") else { return };
    match tracing_subscriber::EnvFilter::try_new(wanted) {
        Ok(filter) => tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            // It may not be read any more.
            .log_internal_errors(false)
            .init(),
        Err(error) => note(&format!("RUST_LOG is not understood: {error}")),
    }
}

/// Commands that need cargo features that are off.
const LEFT_OUT: &[&str] = if cfg!(feature = "serve") { &[] } else { &["serve"] };

/// Whether a word is neither an option nor the name of a file.
fn is_no_file(word: &str) -> bool {
    !word.starts_with('-') && !Path::new(word).exists()
}

/// Finds out which of the two command lines is meant, and follows it.
fn run(arguments: &[OsString]) -> anyhow::Result<RunEnd> {
    #[cfg(feature = "remote")]
    addresses::install()?;
    let first = arguments.get(1).and_then(|a| a.to_str());
    if first.is_some_and(args::is_command) {
        return match Cli::try_parse_from(arguments) {
            Ok(Cli { threads, command: Command::Build(args) }) if args.names_control_files() => {
                in_pool(Some(1), || commands::build::run_controls(&args, &all(threads)))
            }
            Ok(cli) => in_pool(cli.threads, || run_command(&cli.command)),
            Err(error) if error.use_stderr() => {
                // It may not be read any more.
                let _ = error.print();
                Ok(RunEnd::Misused)
            }
            Err(help) => print(&help.render().to_string()).map(|()| RunEnd::Done),
        };
    }

    if arguments.len() < 2 {
        return print(&args::help()).map(|()| RunEnd::Done);
    }
    if let Some(word) = first.filter(|word| LEFT_OUT.contains(word)) {
        note(&format!("this program was built without '{word}'"));
        return Ok(RunEnd::Misused);
    }

    let classic = classic::parse(arguments.iter().skip(1).cloned());
    // Whoever mistypes a command does not mean the classic command line.
    if let (Err(_), Some(word)) = (&classic, first.filter(|word| is_no_file(word))) {
        note(&format!("there is no command '{word}'; 'hoffman help' lists them"));
        return Ok(RunEnd::Misused);
    }

    let classic = classic?;
    let first = if classic.generate { Some(1) } else { classic.threads };
    in_pool(first, || classic::run(&classic, &all(classic.threads)))
}

fn run_command(command: &Command) -> anyhow::Result<RunEnd> {
    match command {
        Command::Solve(args) => commands::solve::run(args),
        Command::Build(args) => commands::build::run(args),
        Command::Pawngen(args) => commands::pawngen::run(args),
        Command::Plan(args) => commands::plan::run(args),
        Command::Join(args) => commands::join::run(args),
        Command::SolvePart(args) => commands::solve_part::run(args),
        Command::Probe(args) => commands::probe::run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Stats(args) => commands::stats::run(args),
        Command::List(args) => commands::list::run(args),
        Command::Line(args) => commands::line::run(args),
        Command::Annotate(args) => commands::annotate::run(args),
        Command::Plot(args) => commands::plot::run(args),
        Command::Verify(args) => commands::verify::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Control(args) => commands::control::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(args),
        Command::Uci(args) => commands::uci::run(args),
        Command::Bench => commands::bench::run(),
        Command::Completions(args) => commands::man::completions(args),
        Command::Man(args) => commands::man::pages(args),
    }
}

/// That many threads, or one a core, for those tables of control files that are worth them.
fn all(threads: Option<usize>) -> Threads {
    Threads::new(threads.unwrap_or_else(cores), STACK)
}

/// Runs all of the work on that many threads, or on all cores.
fn in_pool(
    threads: Option<usize>,
    work: impl FnOnce() -> anyhow::Result<RunEnd> + Send,
) -> anyhow::Result<RunEnd> {
    let mut builder = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or_else(cores))
        .stack_size(STACK);
    let stack = limits().stack;
    if cfg!(unix) && stack.is_none_or(|stack| stack >= STACK as u64) {
        // It has as large a stack, and a small table takes less time than a thread more.
        builder = builder.use_current_thread();
    }
    let pool = builder.build().context("cannot start the threads")?;
    pool.install(work)
}
