//! Control files: what their tables would be, and making one with a say in where it goes.

use std::path::Path;

use hoffman_board::Format;
pub use hoffman_control::Ending;
use hoffman_control::{ControlFile, HeaderEdits, check_pieces, render_header, resolve_pieces};
use hoffman_run::{
    RunError, Summary, Workplace, generate_read, graph_of_controls, read_control, summary,
};
use hoffman_table::foreign::ForeignKind;
use hoffman_table::htb::SourceOptions;
use hoffman_table::{Table, TableProblem};

use crate::build::Made;
use crate::error::Error;
use crate::event::{Cancel, Event, Relay};
use crate::options::Options;

/// A control file that was read. It is read once, for it may be a pipe.
#[derive(Debug)]
pub struct Control(ControlFile);

impl Control {
    /// Reads a control file.
    ///
    /// # Errors
    /// It cannot be read, or is no control file.
    pub fn read(path: impl AsRef<Path>) -> Result<Control, Error> {
        Ok(Control(read_control(path.as_ref(), &Workplace::default())?))
    }

    /// The size of its table.
    ///
    /// # Errors
    /// It describes no table, or the search for its pawn structures was cancelled.
    pub fn summary(&self, cancel: &Cancel) -> Result<Summary, Error> {
        Ok(summary(&self.0, &cancel.0)?)
    }

    /// Makes its table from the futurebases that it names, at `output` or where it says.
    ///
    /// # Errors
    /// It asks for what cannot be done, a move is not accounted for, something does not fit, or
    /// the work was cancelled.
    pub fn generate(
        &self,
        output: Option<&Path>,
        options: &Options,
        progress: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Made, Error> {
        let relay = Relay::new(progress);
        let run = options.run(&relay);
        options.install(|| Ok(Made::of_control(generate_read(&self.0, output, &run)?)))
    }

    /// Its text with what the program fills in.
    fn filled_in(&self) -> Result<String, Error> {
        let control = &self.0;
        let pieces = resolve_pieces(control).map_err(RunError::from)?;
        let edits = HeaderEdits {
            symmetry: check_pieces(control, &pieces).map_err(RunError::from)?,
            format: control.format.is_none().then_some(Format::Dtm(None)),
            ..HeaderEdits::default()
        };
        let header = render_header(control, &edits).map_err(RunError::from)?;
        let prefix = header.bytes.get(..header.prefix_length).unwrap_or_default();
        let xml = String::from_utf8_lossy(prefix);
        // There are no entries yet that could begin anywhere.
        Ok(xml.replacen(&format!(" offset=\"{}\"", header.offset), "", 1))
    }
}

/// Control files in the order in which they need each other. Where there are several, each is
/// read, so that what is wrong with one shows before the first table is made.
///
/// # Errors
/// One is wrong, or they need each other in a circle.
pub fn in_order<'p>(controls: &[&'p Path], cancel: &Cancel) -> Result<Vec<&'p Path>, Error> {
    if controls.len() < 2 {
        // Its output may be named elsewhere.
        return Ok(controls.to_vec());
    }
    let graph = graph_of_controls(controls, None, &Workplace::default())?;
    let ordered: Vec<&Path> = graph.nodes.into_iter().map(|node| node.source).collect();
    for control in &ordered {
        Control::read(control)?.summary(cancel)?;
    }
    Ok(ordered)
}

/// The header of a table, or a control file with its defaults.
#[derive(Debug)]
#[non_exhaustive]
pub struct Header {
    /// The XML text.
    pub xml: String,
    /// How many indices the table has.
    pub indices: u64,
    /// What is wrong with a table whose header can be read.
    pub damage: Option<Error>,
}

/// Reads the header of a table, or a control file with its defaults.
///
/// # Errors
/// The file cannot be read, or is neither.
pub fn header(path: impl AsRef<Path>) -> Result<Header, Error> {
    let path = path.as_ref();
    if let Some(kind) = ForeignKind::of(path) {
        return Err(Error::NotOurs(format!("a {kind} table has no XML header")));
    }
    let of_control = || {
        let control = Control::read(path)?;
        let (indices, xml) = (control.summary(&Cancel::new())?.indices, control.filled_in()?);
        Ok(Header { xml, indices, damage: None })
    };
    match Table::open(path, SourceOptions::default()) {
        // Only a finished table says where its entries begin.
        Ok(table) if table.control().offset > 0 => Ok(header_of(table)),
        Ok(_) => of_control(),
        Err(error) if matches!(error.problem, TableProblem::NoBits) => of_control(),
        Err(error) => Err(error.into()),
    }
}

fn header_of(mut table: Table) -> Header {
    let mut xml = table.control().text().to_owned();
    if !xml.ends_with('\n') {
        xml.push('\n');
    }
    let indices = table.space().size();
    let damage = if table.has_known_length() { table.check_length().err() } else { None };
    Header { xml, indices, damage: damage.map(Error::from) }
}

/// A control file expanded: those of all tables that a race of pawns needs.
#[derive(Debug)]
pub struct Expansion(hoffman_run::Expansion);

/// Works out the control files that a `pawngen` element asks for.
///
/// # Errors
/// The control file is wrong, there are too many pawn structures, or the work was cancelled.
pub fn expand(path: impl AsRef<Path>, cancel: &Cancel) -> Result<Expansion, Error> {
    let workplace = Workplace { stop: cancel.0.clone(), ..Workplace::default() };
    match hoffman_run::expand(path.as_ref(), None, &workplace) {
        Ok(expansion) => Ok(Expansion(expansion)),
        // Nothing of it is kept.
        Err(RunError::Interrupted { .. }) => {
            Err(Error::Cancelled { goes_on: false, checkpoint: None })
        }
        Err(error) => Err(error.into()),
    }
}

impl Expansion {
    /// Remarks for the user.
    pub fn notices(&self) -> &[String] {
        &self.0.notices
    }

    /// The futurebases that it names, each by its men and its file.
    pub fn found(&self) -> &[(String, String)] {
        &self.0.found
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.0.graph.nodes.len()
    }

    /// Writes the control files, and a Makefile if make can handle the names, which is returned.
    ///
    /// # Errors
    /// A file cannot be written, or was edited since.
    pub fn write(&self) -> Result<Option<&Path>, Error> {
        Ok(hoffman_run::write_expansion(&self.0)?)
    }
}
