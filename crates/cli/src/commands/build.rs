//! `hoffman build`: complete endings with all that they depend on, and the tables of control files.

use std::path::Path;

use hoffman_board::Material;
use hoffman_plan::{all_endings, complete};
use hoffman_run::{
    BuildOptions, ControlBuildOptions, RunError, Threads, Workplace, available_memory, build,
    build_control, in_order_of_need,
};

use crate::Outcome;
use crate::args::{BuildArgs, is_control_file};
use crate::output::{Misuse, command_line, print_line};

/// Builds the tables of control files and lists them.
pub(crate) fn run_controls(args: &BuildArgs, threads: &Threads) -> anyhow::Result<Outcome> {
    let crate::args::FileFormat::Htb = args.format;
    if args.no_write || !args.materials.iter().all(|name| is_control_file(name)) {
        let text = "control files are built alone, and their tables are written";
        return Err(Misuse(text.to_owned()).into());
    }
    let files: Vec<&Path> = args.materials.iter().map(Path::new).collect();
    let mut workplace = args.work.workplace()?;
    workplace.threads = Some(threads.clone());
    let files = in_order_of_need(&files, args.folder.given(), &workplace)?;
    files.into_iter().try_for_each(|path| run_control(path, args, &workplace))?;
    Ok(Outcome::Done)
}

/// Builds complete endings and lists them.
pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<Outcome> {
    let crate::args::FileFormat::Htb = args.format;
    if args.foreign.any() {
        let text = "tables of other programs serve control files only: complete endings are solved";
        return Err(Misuse(text.to_owned()).into());
    }
    let materials = match args.men {
        Some(men) => {
            check_all(men)?;
            all_endings(usize::from(men))
        }
        None => parse(&args.materials)?,
    };
    let bar = args.work.bar(false)?;
    let options = BuildOptions {
        dir: args.folder.path()?,
        write: !args.no_write,
        args: command_line(),
        progress: &bar,
        solved: None,
        workplace: args.work.workplace()?,
    };
    let report = bar.end(build(&complete(materials), &options))?;
    drop(bar);
    for path in &report.kept {
        print_line(&format!("{}: kept", path.display()))?;
    }
    for table in &report.built {
        let file = table.path.as_ref().map_or(table.name.clone(), |p| p.display().to_string());
        let verb = if table.path.is_some() { "written" } else { "solved" };
        let [white, black] = table.longest_wins.map(longest_win);
        print_line(&format!(
            "{file}: {verb}, longest win with White to move {white}, with Black to move {black}"
        ))?;
    }
    Ok(Outcome::Done)
}

/// A longest win in words.
fn longest_win(moves: Option<u16>) -> String {
    match moves {
        None => "none".to_owned(),
        Some(1) => "1 move".to_owned(),
        Some(moves) => format!("{moves} moves"),
    }
}

/// Builds the tables of a control file.
fn run_control(path: &Path, args: &BuildArgs, workplace: &Workplace) -> anyhow::Result<()> {
    let bar = args.work.bar(false)?;
    let options = ControlBuildOptions {
        dir: args.folder.given().map(Path::to_owned),
        args: command_line(),
        foreign: args.foreign.options(),
        progress: &bar,
        workplace: workplace.clone(),
    };
    let report = bar.end(build_control(path, &options))?;
    drop(bar);
    for path in &report.kept {
        print_line(&format!("{}: kept", path.display()))?;
    }
    for table in &report.generated {
        let (path, counts) = (table.path.display(), &table.counts);
        print_line(&format!("{path}: written, {} legal positions", counts.legal))?;
    }
    Ok(())
}

fn parse(names: &[String]) -> anyhow::Result<Vec<Material>> {
    names
        .iter()
        .map(|name| {
            let material: Material = name.parse()?;
            check_men(&material)?;
            Ok(material)
        })
        .collect()
}

/// Refuses all endings with so many men if they cannot fit: one stands for the others of its size.
pub(crate) fn check_all(men: u8) -> Result<(), RunError> {
    let queens = hoffman_board::material::NAMING_ORDER[0];
    check_men(&(2..men).fold(Material::bare_kings(), |material, _| {
        material.with(hoffman_board::Color::White, queens)
    }))
}

/// Refuses an ending that cannot fit before it is planned, for even the plan of a very large one would
/// not fit. With or without pawns, it leads to an ending of as many men without pawns.
pub(crate) fn check_men(material: &Material) -> Result<(), RunError> {
    let others = material.men().saturating_sub(2);
    let shift = u32::try_from(6 * others).unwrap_or(u32::MAX);
    let needed = (2 * 462_u128).checked_shl(shift).unwrap_or(u128::MAX);
    // What does not fit into memory goes to the disk, but not without end.
    let available = available_memory().unwrap_or(16 << 30).saturating_mul(64);
    if needed > u128::from(available) {
        let needed = u64::try_from(needed >> 20).unwrap_or(u64::MAX);
        return Err(RunError::Memory { ending: *material, needed, available: available >> 20 });
    }
    Ok(())
}
