//! `hoffman build`: complete endings with all that they depend on, and the tables of control files.

use std::path::Path;

use hoffman::{Error, Event, Made, OneTable, Options, Target, Threads};

use crate::RunEnd;
use crate::args::{BuildArgs, FileFormat, ForeignArgs, StreamArgs, is_control_file};
use crate::interrupt;
use crate::output::{Misuse, complain, print_line, say};
use crate::work::WorkArgs;

/// How the line begins that says how much memory a job needs, in bytes.
pub(crate) const MEMORY_LINE: &str = "needs-memory-bytes: ";

/// Builds the tables of control files and lists them.
pub(crate) fn run_controls(args: &BuildArgs, threads: &Threads) -> anyhow::Result<RunEnd> {
    expect_no_format(args.format, args.streams, Formatless::ControlFiles)?;
    if args.no_write || !args.materials.iter().all(|name| is_control_file(name)) {
        let text = "control files are built alone, and their tables are written";
        return Err(Misuse(text.to_owned()).into());
    }
    let targets: Vec<Target> =
        args.materials.iter().map(|name| Target::ControlFile(name.into())).collect();
    let options = args.work.options(args.folder.given().map(Path::to_owned))?;
    let options = options.large_tables_on(threads.clone()).read_with(args.foreign.options()?);
    let options = options.reproducible(args.reproducible);
    if let Some(name) = &args.one.only {
        let find = || Ok(OneTable::of_targets(name, &targets, &options)?);
        return only(find, &options, (args.one.receipt.as_deref(), &args.work));
    }
    build(&targets, &options, args)
}

/// Builds complete endings and lists them.
pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<RunEnd> {
    expect_no_foreign(&args.foreign)?;
    let options = args.work.options(Some(args.folder.path()?))?.write(!args.no_write);
    let options = contained(options, args.format, args.streams, &args.work)?;
    let options = options.reproducible(args.reproducible);
    if let Some(name) = &args.one.only {
        if names_position(&args.materials) {
            expect_no_format(args.format, args.streams, Formatless::Position)?;
        }
        let find = || table_of(name, &args.materials, &options);
        return only(find, &options, (args.one.receipt.as_deref(), &args.work));
    }
    let targets = match args.men {
        Some(men) => vec![Target::Men(men)],
        None => endings(&args.materials)?,
    };
    build(&targets, &options, args)
}

/// Refuses tables of other programs for complete endings.
pub(crate) fn expect_no_foreign(foreign: &ForeignArgs) -> anyhow::Result<()> {
    if !foreign.any() {
        return Ok(());
    }
    let text = "tables of other programs serve control files only: complete endings are solved";
    Err(Misuse(text.to_owned()).into())
}

/// In which files tables of endings are written.
pub(crate) fn contained(
    options: Options,
    format: Option<FileFormat>,
    streams: StreamArgs,
    work: &WorkArgs,
) -> anyhow::Result<Options> {
    let blocks = format.unwrap_or_default() == FileFormat::Hbf;
    if streams.needs_blocks() && !blocks {
        let text = "--profile and --outcomes=too are for the block format, not for --format htb";
        return Err(Misuse(text.to_owned()).into());
    }
    if blocks && work.compress.is_some() {
        let text = "--compress is for the files of the original program: --format htb";
        return Err(Misuse(text.to_owned()).into());
    }
    let options = options.blocks(blocks).content(streams.content());
    Ok(streams.profile().into_iter().fold(options, Options::profile))
}

/// What is built that has no choice of files.
#[derive(Clone, Copy)]
pub(crate) enum Formatless {
    ControlFiles,
    Position,
}

/// Refuses a choice of files where there is none.
pub(crate) fn expect_no_format(
    format: Option<FileFormat>,
    streams: StreamArgs,
    named: Formatless,
) -> anyhow::Result<()> {
    if format.is_none() && !streams.any() {
        return Ok(());
    }
    let text = match named {
        Formatless::ControlFiles => {
            "the format of a control file's table follows from the name of its output"
        }
        Formatless::Position => "the tables of a position have distances and are .htb files",
    };
    Err(Misuse(text.to_owned()).into())
}

/// Whether a position is named, in FEN.
pub(crate) fn names_position(what: &[String]) -> bool {
    what.first().is_some_and(|word| word.contains('/'))
}

/// Endings by their names.
pub(crate) fn endings(names: &[String]) -> anyhow::Result<Vec<Target>> {
    names.iter().map(|name| Ok(name.parse::<Target>()?)).collect()
}

/// The table of that name of endings, of a position, or that of the ending itself.
fn table_of(name: &str, what: &[String], options: &Options) -> anyhow::Result<OneTable> {
    if names_position(what) {
        return Ok(OneTable::of_position(name, what.join(" "), options)?);
    }
    Ok(OneTable::of_targets(name, &endings(what)?, options)?)
}

/// Makes one table, and a receipt if one is wanted, and lists it. How it fails is told by the exit
/// code, too.
pub(crate) fn only(
    find: impl FnOnce() -> anyhow::Result<OneTable>,
    options: &Options,
    (receipt, work): (Option<&Path>, &WorkArgs),
) -> anyhow::Result<RunEnd> {
    interrupt::end_with_try_again();
    judge(
        find().and_then(|table| {
            tell(work, |progress| table.build(receipt, options, progress).map(drop))
        }),
    )
}

/// How a job has ended, as its exit code tells it.
pub(crate) fn judge(done: anyhow::Result<()>) -> anyhow::Result<RunEnd> {
    let Err(error) = done else { return Ok(RunEnd::Done) };
    let known = error.downcast_ref::<Error>();
    let needed = known.and_then(Error::needed_memory);
    let outcome = match needed {
        Some(_) => RunEnd::LacksMemory,
        None if known.is_some_and(Error::is_temporary) => RunEnd::Later,
        None => return Err(error),
    };
    complain(&error);
    if let Some(bytes) = needed {
        say(&format!("{MEMORY_LINE}{bytes}"));
    }
    Ok(outcome)
}

fn build(targets: &[Target], options: &Options, args: &BuildArgs) -> anyhow::Result<RunEnd> {
    tell(&args.work, |progress| hoffman::build(targets, options, progress).map(drop))?;
    Ok(RunEnd::Done)
}

/// Does work, shows how far it is, and lists the tables.
fn tell(
    args: &WorkArgs,
    work: impl FnOnce(&mut (dyn FnMut(Event) + Send)) -> Result<(), Error>,
) -> anyhow::Result<()> {
    let bar = args.bar(false)?;
    let mut printed = Ok(());
    let mut list = |line: String| {
        if printed.is_ok() {
            printed = bar.suspend(|| print_line(&line));
        }
    };
    let done = work(&mut |event| match event {
        Event::Kept { path } => list(format!("{}: kept", path.display())),
        Event::Made(made) => list(line(&made)),
        event => bar.tell(event),
    });
    bar.end(done)?;
    drop(bar);
    printed
}

/// What is said of a table that was made.
fn line(made: &Made) -> String {
    let file = made.path.as_ref().map_or(made.name.clone(), |path| path.display().to_string());
    let verb = if made.path.is_some() { "written" } else { "solved" };
    match (made.longest_wins, made.legal) {
        (Some(longest), _) => {
            let [white, black] = longest.map(longest_win);
            format!(
                "{file}: {verb}, longest win with White to move {white}, with Black to move {black}"
            )
        }
        (None, Some(legal)) => format!("{file}: {verb}, {legal} legal positions"),
        (None, None) => format!("{file}: {verb}"),
    }
}

/// A longest win in words.
fn longest_win(moves: Option<u16>) -> String {
    match moves {
        None => "none".to_owned(),
        Some(1) => "1 move".to_owned(),
        Some(moves) => format!("{moves} moves"),
    }
}
