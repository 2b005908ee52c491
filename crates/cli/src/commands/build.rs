//! `hoffman build`: complete endings with all that they depend on, and the tables of control files.

use std::path::Path;

use hoffman::{Event, Made, Target, Threads};

use crate::Outcome;
use crate::args::{BuildArgs, FileFormat, is_control_file};
use crate::output::{Misuse, print_line};

/// Builds the tables of control files and lists them.
pub(crate) fn run_controls(args: &BuildArgs, threads: &Threads) -> anyhow::Result<Outcome> {
    if matches!(args.format, FileFormat::Hbf) {
        let text = "the format of a control file's table follows from the name of its output";
        return Err(Misuse(text.to_owned()).into());
    }
    if args.no_write || !args.materials.iter().all(|name| is_control_file(name)) {
        let text = "control files are built alone, and their tables are written";
        return Err(Misuse(text.to_owned()).into());
    }
    let targets: Vec<Target> =
        args.materials.iter().map(|name| Target::ControlFile(name.into())).collect();
    let options = args.work.options(args.folder.given().map(Path::to_owned))?;
    let options = options.large_tables_on(threads.clone()).read_with(args.foreign.options());
    build(&targets, &options, args)
}

/// Builds complete endings and lists them.
pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<Outcome> {
    if args.foreign.any() {
        let text = "tables of other programs serve control files only: complete endings are solved";
        return Err(Misuse(text.to_owned()).into());
    }
    let targets = match args.men {
        Some(men) => vec![Target::Men(men)],
        None => endings(&args.materials)?,
    };
    let options = args.work.options(Some(args.folder.path()?))?.write(!args.no_write);
    let options = options.blocks(matches!(args.format, FileFormat::Hbf));
    build(&targets, &options, args)
}

/// Endings by their names.
pub(crate) fn endings(names: &[String]) -> anyhow::Result<Vec<Target>> {
    names.iter().map(|name| Ok(name.parse::<Target>()?)).collect()
}

fn build(
    targets: &[Target],
    options: &hoffman::Options,
    args: &BuildArgs,
) -> anyhow::Result<Outcome> {
    let bar = args.work.bar(false)?;
    let mut printed = Ok(());
    let mut list = |line: String| {
        if printed.is_ok() {
            printed = bar.suspend(|| print_line(&line));
        }
    };
    let built = hoffman::build(targets, options, &mut |event| match event {
        Event::Kept { path } => list(format!("{}: kept", path.display())),
        Event::Made(made) => list(line(&made)),
        event => bar.tell(event),
    });
    bar.end(built)?;
    drop(bar);
    printed?;
    Ok(Outcome::Done)
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
        (None, legal) => format!("{file}: {verb}, {} legal positions", legal.unwrap_or_default()),
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
