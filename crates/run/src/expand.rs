//! From one control file for a race of pawns to a control file for each table that it needs.
//!
//! The input has a `pawngen` element that leaves the numbers of pawns open. Every pawn may be
//! captured, so there is a table for each pair of numbers from the start downwards, until a given
//! futurebase answers. A promotion, or the capture of a piece, leads to a given futurebase or else
//! has to be pruned; promotions that are played out have an input of their own, with
//! `white-queens-required`.
//!
//! Files of 2006 have no such element. Their pawns are `piece` elements with plus signs, and the
//! tables follow from the prunes: what is not pruned is followed, promotions too, and a table is
//! told from others by its men. Men that came from promotion are added to the list of pieces and
//! required by the `pawngen` element of that table; captures that pawns can have made on the way to
//! a table are allowed by it. A `pawngen-condition` is decided for each table: the prune is kept
//! without the attribute, or left out. What was pruned is pruned even where a given futurebase
//! would answer.
//!
//! Tables that no arrangement of the pawns fits are neither written nor named by others.

mod family;
mod input;
mod play;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hoffman_control::{ControlFile, Place, decode_text};
use hoffman_plan::Graph;
use hoffman_store::files;
use hoffman_table::htb::AtomicFile;

pub(crate) use self::family::Family;
use self::play::Play;
use crate::error::{RunError, write_error};
use crate::seal::{is_sealed, mark, sealed};
use crate::workplace::Workplace;

/// What one table of an expansion is made by. The node in the graph says its file, as the control
/// file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The name of its control file.
    pub name: PathBuf,
    /// The text of its control file.
    pub control: String,
}

/// What became of a control file.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The given futurebases with their men: `K1K1` are kings with a pawn each. Inverted ones are
    /// left out.
    pub found: Vec<(String, String)>,
    /// The control file.
    pub origin: String,
    /// The tables, and the futurebases that each names.
    pub graph: Graph<Expanded>,
    /// The name of a Makefile for the tables.
    pub makefile: PathBuf,
    /// Remarks for the user.
    pub notices: Vec<String>,
}

/// Whether a control file is the input of an expansion: its `pawngen` element leaves both numbers
/// of pawns open, or it has pawns with plus signs and names no output, as in 2006.
pub(crate) fn is_input(control: &ControlFile) -> bool {
    match &control.pawngen {
        Some(element) => {
            element.white.pawns_required.is_none() && element.black.pawns_required.is_none()
        }
        None => control.output.is_none() && control.pieces.iter().any(|piece| piece.plus.is_some()),
    }
}

/// Works out the tables of a control file. Their files and control files are named after it, in
/// `folder` if there is one, else beside it. Futurebases that it names must be there, as their men
/// are read.
///
/// # Errors
///
/// The file is no input of an expansion, or asks for what cannot be done; a futurebase cannot be
/// used.
pub fn expand(
    path: &Path,
    folder: Option<&Path>,
    workplace: &Workplace,
) -> Result<Expansion, RunError> {
    let control = read_input(path, workplace)?;
    Play::new(&control, Family::of(&control, path, folder)?, workplace)?.expand(&workplace.stop)
}

/// Writes the control files of an expansion, and its Makefile if `make` can handle the names.
/// Returns the name of the Makefile if it was written.
///
/// # Errors
///
/// A file cannot be written, or would replace one that is not as an expansion wrote it.
pub fn write_expansion(expansion: &Expansion) -> Result<Option<&Path>, RunError> {
    let makefile = makefile(expansion);
    let tables = expansion.graph.nodes.iter().map(|node| &node.source);
    let controls = tables.map(|table| (table.name.as_path(), &table.control));
    let makefiles = makefile.iter().map(|text| (expansion.makefile.as_path(), text));
    let files: Vec<(&Path, &String)> = controls.chain(makefiles).collect();
    // Before the first one is written.
    files.iter().try_for_each(|&(path, text)| expect_replaceable(path, text))?;
    files.iter().try_for_each(|&(path, text)| write_text(path, text))?;
    Ok(makefile.is_some().then_some(expansion.makefile.as_path()))
}

/// Refuses to replace a file by a text unless it has the text already, or is as an expansion wrote
/// it.
fn expect_replaceable(path: &Path, text: &str) -> Result<(), RunError> {
    let found = match hoffman_store::read(&*files(), path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(RunError::Io { action: "read", path: path.to_owned(), source }),
    };
    let found = String::from_utf8_lossy(&found);
    if found == text || is_sealed(&found) {
        return Ok(());
    }
    let why = format!("{}: is not as pawngen wrote it", path.display());
    Err(RunError::InTheWay { path: path.to_owned(), why })
}

fn write_text(path: &Path, text: &str) -> Result<(), RunError> {
    let file = AtomicFile::create(path).map_err(|e| write_error(path, &e))?;
    let io = |source| RunError::Io { action: "write", path: path.to_owned(), source };
    file.writer().write_all(text.as_bytes()).map_err(io)?;
    file.commit().map_err(|e| write_error(path, &e))
}

/// Rules for `make`: which table is made from what. None if a name holds what `make` or a shell
/// would read as something else.
fn makefile(expansion: &Expansion) -> Option<String> {
    let mut all = format!("# {}\n\nHOFFMAN = hoffman\n\nall:", mark(&expansion.origin));
    let mut rules = String::new();
    let graph = &expansion.graph;
    for node in &graph.nodes {
        let (output, name) = (plain(&node.output)?, plain(&node.source.name)?);
        // Writing to a string cannot fail.
        let _ = write!(all, " \\\n\t{output}");
        let _ = write!(rules, "\n{output}: {name}");
        for input in &node.inputs {
            let _ = write!(rules, " {}", plain(graph.file(input))?);
        }
        let _ = writeln!(rules, "\n\t$(HOFFMAN) -g {name}");
    }
    Some(sealed(&format!("{all}\n{rules}")))
}

/// A name that `make` and a shell read as it is.
fn plain(path: &Path) -> Option<&str> {
    let harmless = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | ',');
    path.to_str().filter(|name| !name.starts_with('-') && name.chars().all(harmless))
}

/// Reads a control file that may be an input.
pub(crate) fn read_input(path: &Path, workplace: &Workplace) -> Result<ControlFile, RunError> {
    let bytes = workplace.read_control(path)?;
    let origin = path.display().to_string();
    let text = decode_text(&bytes, &origin)?;
    Ok(ControlFile::parse_for_expansion(&text, &origin)?)
}

fn fail(control: &ControlFile, place: Place, element: &str, problem: String) -> RunError {
    RunError::Pawngen { place: control.site(place, element).to_string(), problem }
}
