//! `hoffman -i` and `hoffman -s`: headers and sizes.

use std::path::{Path, PathBuf};

use hoffman::control::{Control, Header, header};
use hoffman::{Cancel, Error, Summary};

use crate::RunEnd;
use crate::output::{complain, print, print_line, say};

/// Prints the XML header of each table, or a control file with its defaults.
pub(crate) fn headers(files: &[PathBuf]) -> anyhow::Result<RunEnd> {
    let mut good = true;
    for path in files {
        say(&format!("Loading '{}'", path.display()));
        match header(path) {
            Ok(Header { xml, indices, damage, .. }) => {
                print(&xml)?;
                say(&format!("{indices} total indices"));
                if let Some(damage) = damage {
                    complain(&damage.into());
                    good = false;
                }
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                complain(&error.context(format!("Error loading tablebase '{}'", path.display())));
                good = false;
            }
        }
    }
    Ok(RunEnd::of(good))
}

/// Prints how many indices the tables of control files will have.
pub(crate) fn summaries(files: &[PathBuf]) -> anyhow::Result<RunEnd> {
    let mut good = true;
    for path in files {
        match summary(path) {
            Ok(summary) => {
                // Version 1.7 takes one file, and says no name.
                let name =
                    if files.len() > 1 { format!("{}: ", path.display()) } else { String::new() };
                print_line(&format!("{name}Total indices: {}", summary.indices))?;
                if let Some(structures) = summary.structures {
                    say(&format!("{structures} pawngen positions"));
                }
            }
            Err(error) => {
                complain(&error.into());
                good = false;
            }
        }
    }
    Ok(RunEnd::of(good))
}

fn summary(path: &Path) -> Result<Summary, Error> {
    Control::read(path)?.summary(&Cancel::new())
}
