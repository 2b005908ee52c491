//! `hoffman join`: one table of an ending from tables of its parts.

use std::path::{Path, PathBuf};

use hoffman::{Material, OneTable, Options, Profile};

use crate::RunEnd;
use crate::args::{FileFormat, JoinArgs, StreamArgs, is_control_file};
use crate::commands::build::{Formatless, contained, expect_no_format, only};
use crate::output::Misuse;

/// Joins parts and lists the table.
pub(crate) fn run(args: &JoinArgs) -> anyhow::Result<RunEnd> {
    if let Some((control, parts)) =
        args.what.split_first().filter(|(first, _)| is_control_file(first))
    {
        return of_control(Path::new(control), parts, args);
    }
    let ending = match args.what.as_slice() {
        [one] if !Path::new(one).exists() => one.parse::<Material>().ok(),
        _ => None,
    };
    let Some(ending) = ending else { return of_parts(args) };
    let output = args.output.as_deref();
    let beside = output.and_then(Path::parent).filter(|_| args.folder.given().is_none());
    let options =
        options(args, Some(beside.map_or_else(|| args.folder.path(), |f| Ok(f.into()))?))?;
    let find = || Ok(OneTable::of_ending_in_parts(&ending, output, &options)?);
    only(find, &options, (args.receipt.as_deref(), &args.work))
}

/// Joins parts of the table of a control file.
fn of_control(control: &Path, parts: &[String], args: &JoinArgs) -> anyhow::Result<RunEnd> {
    if parts.is_empty() {
        let text = format!(
            "{}: name the tables of its parts, too, as hoffman plan --parts=N does",
            control.display()
        );
        return Err(Misuse(text).into());
    }
    expect_no_format(args.format, args.streams, Formatless::ControlFiles)?;
    let options = args.work.options(args.folder.given().map(Path::to_owned))?;
    let options = options.reproducible(args.reproducible);
    let parts: Vec<PathBuf> = parts.iter().map(PathBuf::from).collect();
    let output = args.output.as_deref();
    let find = || Ok(OneTable::of_control_in_parts(control, parts, output, &options)?);
    only(find, &options, (args.receipt.as_deref(), &args.work))
}

/// Joins parts that are named.
fn of_parts(args: &JoinArgs) -> anyhow::Result<RunEnd> {
    let Some(output) = &args.output else {
        let text =
            "name the table to be written with -o, or an ending whose parts lie in the folder";
        return Err(Misuse(text.to_owned()).into());
    };
    let options = options(args, None)?;
    let parts: Vec<PathBuf> = args.what.iter().map(PathBuf::from).collect();
    let find = || Ok(OneTable::of_parts(parts, output, &options)?);
    only(find, &options, (args.receipt.as_deref(), &args.work))
}

fn options(args: &JoinArgs, folder: Option<PathBuf>) -> anyhow::Result<Options> {
    let named = args.output.as_deref().map(FileFormat::of_name);
    let format = named.or(args.format);
    expect_fast(args.streams)?;
    let options = contained(args.work.options(folder)?, format, args.streams, &args.work)?;
    Ok(options.reproducible(args.reproducible))
}

/// Refuses to join parts in files that lean on others, for which what they lean on would have to be
/// read.
pub(crate) fn expect_fast(streams: StreamArgs) -> anyhow::Result<()> {
    if !streams.profile().is_some_and(Profile::leans) {
        return Ok(());
    }
    let wanted = StreamArgs { outcomes: None, ..streams }.repeated().join(" ");
    let text = format!(
        "what is joined of parts is written in the profile fast; hoffman convert {wanted} rewrites it"
    );
    Err(Misuse(text).into())
}
