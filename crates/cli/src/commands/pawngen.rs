//! `hoffman pawngen`: from one control file to those of all tables that it needs.

use hoffman::control::expand;

use crate::RunEnd;
use crate::args::PawngenArgs;
use crate::interrupt;
use crate::output::{note, print_line, say};

/// Expands the files, one after the other.
pub(crate) fn run(args: &PawngenArgs) -> anyhow::Result<RunEnd> {
    for path in &args.files {
        let expansion = expand(path, &interrupt::cancel())?;
        for notice in expansion.notices() {
            note(notice);
        }
        for (men, file) in expansion.found() {
            print_line(&format!("{men} -> {file}"))?;
        }
        let makefile = expansion.write()?;
        let files = match expansion.tables() {
            1 => "1 control file".to_owned(),
            tables => format!("{tables} control files"),
        };
        let next = match makefile {
            Some(makefile) => format!("make the tables with: make -f {}", makefile.display()),
            None => "no Makefile is written, as make cannot handle the names".to_owned(),
        };
        say(&format!("{}: {files}; {next}", path.display()));
    }
    Ok(RunEnd::Done)
}
