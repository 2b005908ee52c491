//! `hoffman completions` and `hoffman man`: the command line as shells and manuals have it, from
//! the same source as `--help`.

use std::fs;

use anyhow::Context as _;
use clap_mangen::Man;
use hoffman::process::write_whole;

use crate::RunEnd;
use crate::args::{CompletionsArgs, ManArgs, described};
use crate::output::{print, print_line};

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<RunEnd> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut described(), "hoffman", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(RunEnd::Done)
}

/// Writes a manual page for the program and for every command, or prints that of the program.
pub(crate) fn pages(args: &ManArgs) -> anyhow::Result<RunEnd> {
    let mut program = described();
    // Subcommands get the options that all of them have, and their full names.
    program.build();
    let Some(dir) = &args.dir else {
        print(&String::from_utf8(page(program)?)?)?;
        return Ok(RunEnd::Done);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let commands = program.get_subcommands().filter(|c| c.get_name() != "help" && !c.is_hide_set());
    let commands: Vec<clap::Command> = commands.cloned().collect();
    for command in std::iter::once(program).chain(commands) {
        let name = command.get_display_name().unwrap_or("hoffman").to_owned();
        let path = dir.join(format!("{name}.1"));
        let shown = path.display().to_string();
        write_whole(&path, &page(command.display_name(name.clone()))?)
            .with_context(|| format!("cannot write {shown}"))?;
        print_line(&shown)?;
    }
    Ok(RunEnd::Done)
}

fn page(command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = concat!("hoffman ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).manual("Hoffman").source(source);
    man.render(&mut page).context("cannot make the page")?;
    Ok(page)
}
