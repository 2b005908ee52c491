//! `hoffman -i` and `hoffman -s`: headers and sizes.

use std::path::{Path, PathBuf};

use hoffman_board::Format;
use hoffman_control::{HeaderEdits, check_pieces, render_header, resolve_pieces};
use hoffman_run::{Workplace, read_control, summary};
use hoffman_table::foreign::Kind;
use hoffman_table::htb::SourceOptions;
use hoffman_table::{Table, TableProblem};

use crate::Outcome;
use crate::output::{complain, print, print_line, say};

/// Prints the XML header of each table, or a control file with its defaults.
pub(crate) fn headers(files: &[PathBuf]) -> anyhow::Result<Outcome> {
    let mut good = true;
    for path in files {
        say(&format!("Loading '{}'", path.display()));
        match read(path) {
            Ok(Information { xml, indices, damage }) => {
                print(&xml)?;
                say(&format!("{indices} total indices"));
                if let Some(damage) = damage {
                    complain(&damage);
                    good = false;
                }
            }
            Err(error) => {
                complain(&error.context(format!("Error loading tablebase '{}'", path.display())));
                good = false;
            }
        }
    }
    Ok(Outcome::of(good))
}

/// Prints how many indices the tables of control files will have.
pub(crate) fn summaries(files: &[PathBuf]) -> anyhow::Result<Outcome> {
    let mut good = true;
    for path in files {
        match read_control(path, &Workplace::default()).and_then(|control| summary(&control)) {
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
    Ok(Outcome::of(good))
}

struct Information {
    xml: String,
    indices: u64,
    /// What is wrong with a table whose header can be read.
    damage: Option<anyhow::Error>,
}

fn read(path: &Path) -> anyhow::Result<Information> {
    if let Some(kind) = Kind::of(path) {
        anyhow::bail!("a {kind} table has no XML header");
    }
    match Table::open(path, SourceOptions::default()) {
        // Only a finished table says where its entries begin.
        Ok(table) if table.control().offset > 0 => Ok(of_table(table)),
        Ok(_) => of_control(path),
        Err(error) if matches!(error.problem, TableProblem::NoBits) => of_control(path),
        Err(error) => Err(error.into()),
    }
}

fn of_table(mut table: Table) -> Information {
    let mut xml = table.control().text().to_owned();
    if !xml.ends_with('\n') {
        xml.push('\n');
    }
    let indices = table.space().size();
    let damage = if table.has_known_length() { table.check_length().err() } else { None };
    Information { xml, indices, damage: damage.map(Into::into) }
}

/// The text of a control file with what the program fills in.
fn of_control(path: &Path) -> anyhow::Result<Information> {
    let control = read_control(path, &Workplace::default())?;
    let indices = summary(&control)?.indices;
    let pieces = resolve_pieces(&control)?;
    let edits = HeaderEdits {
        symmetry: check_pieces(&control, &pieces)?,
        format: control.format.is_none().then_some(Format::Dtm(None)),
        ..HeaderEdits::default()
    };
    let header = render_header(&control, &edits)?;
    let prefix = header.bytes.get(..header.prefix_length).unwrap_or_default();
    let xml = String::from_utf8_lossy(prefix);
    // There are no entries yet that could begin anywhere.
    let xml = xml.replacen(&format!(" offset=\"{}\"", header.offset), "", 1);
    Ok(Information { xml, indices, damage: None })
}
