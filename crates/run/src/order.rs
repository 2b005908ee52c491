//! The order in which several control files need each other.

use std::path::{Path, PathBuf};

use hoffman_control::{ControlFile, Strictness, decode_text};
use hoffman_plan::{Graph, Input, Node, Ring};
use hoffman_store::is_like;

use crate::error::RunError;
use crate::expand::{Family, expand, is_input, read_input};
use crate::workplace::Workplace;

/// The graph of control files: each comes behind those whose tables are its futurebases, otherwise
/// in the order given. Tables go where the control files say, or into `dir`.
///
/// # Errors
///
/// A control file cannot be read or is wrong; two make the same table, or need each other's.
pub fn graph_of_controls<'p>(
    paths: &[&'p Path],
    dir: Option<&Path>,
    workplace: &Workplace,
) -> Result<Graph<&'p Path>, RunError> {
    let files = paths.iter().map(|path| ControlNeeds::read(path, dir, workplace));
    let files: Vec<ControlNeeds<'p>> = files.collect::<Result<_, RunError>>()?;
    refuse_same_output(&files)?;
    let nodes = (0..files.len()).map(|at| Node {
        output: files[at].makes.path(),
        inputs: files[at].needs.iter().flat_map(|need| inputs(&files, at, need, dir)).collect(),
        resources: None,
        source: files[at].path,
    });
    Graph::sorted(nodes.collect()).map_err(|ring| ring_error(&files, ring, dir))
}

/// Reads a control file, once: it may be a pipe.
///
/// # Errors
///
/// It cannot be read, is too large, or is no control file.
pub fn read_control(path: &Path, workplace: &Workplace) -> Result<ControlFile, RunError> {
    let bytes = workplace.read_control(path)?;
    let origin = path.display().to_string();
    let text = decode_text(&bytes, &origin)?;
    Ok(ControlFile::parse(&text, &origin, Strictness::Control)?)
}

/// Where the table of a control file goes, or into a folder.
pub(crate) fn output_of(control: &ControlFile, dir: Option<&Path>) -> Result<PathBuf, RunError> {
    let output = PathBuf::from(control.output_name()?);
    Ok(match (dir, output.file_name()) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => output,
    })
}

/// The graph of the tables of a control file: one, or those of an expansion, with its remarks.
pub(crate) fn tables_of(
    path: &Path,
    dir: Option<&Path>,
    workplace: &Workplace,
) -> Result<ControlTables, RunError> {
    if is_input(&read_input(path, workplace)?) {
        let expansion = expand(path, dir, workplace)?;
        let (is_family, notices) = (true, expansion.notices);
        let parse = |node: Node<crate::expand::Expanded>| {
            let name = node.source.name.display().to_string();
            let control = ControlFile::parse(&node.source.control, &name, Strictness::Control)?;
            let Node { output, inputs, resources, .. } = node;
            Ok(Node { output, inputs, resources, source: control })
        };
        let nodes = expansion.graph.nodes.into_iter().map(parse);
        let graph = Graph { nodes: nodes.collect::<Result<_, RunError>>()? };
        return Ok(ControlTables { graph, is_family, notices });
    }
    let control = read_control(path, workplace)?;
    let output = output_of(&control, dir)?;
    let given = control.futurebases.iter().map(|f| Input::Given(PathBuf::from(&f.filename)));
    let node = Node { output, inputs: given.collect(), resources: None, source: control };
    Ok(ControlTables { graph: Graph { nodes: vec![node] }, is_family: false, notices: Vec::new() })
}

/// What a control file stands for.
pub(crate) struct ControlTables {
    pub(crate) graph: Graph<ControlFile>,
    /// Whether it was expanded: then the program chose the names.
    pub(crate) is_family: bool,
    /// Remarks on the expansion.
    pub(crate) notices: Vec<String>,
}

/// What a control file makes, and what it needs.
struct ControlNeeds<'p> {
    path: &'p Path,
    makes: Makes,
    /// The names of its futurebases.
    needs: Vec<String>,
}

enum Makes {
    Table(PathBuf),
    Tables(Family),
}

impl Makes {
    fn path(&self) -> PathBuf {
        match self {
            Makes::Table(output) => output.components().collect(),
            Makes::Tables(family) => PathBuf::from(family.name()),
        }
    }
}

impl<'p> ControlNeeds<'p> {
    fn read(
        path: &'p Path,
        dir: Option<&Path>,
        workplace: &Workplace,
    ) -> Result<ControlNeeds<'p>, RunError> {
        let input = read_input(path, workplace)?;
        let (control, makes) = if is_input(&input) {
            let family = Family::of(&input, path, dir)?;
            (input, Makes::Tables(family))
        } else {
            let control = read_control(path, workplace)?;
            let output = output_of(&control, dir)?;
            (control, Makes::Table(output))
        };
        let needs = control.futurebases.into_iter().map(|f| f.filename).collect();
        Ok(ControlNeeds { path, makes, needs })
    }

    /// Whether a futurebase of that name is a table of this file.
    fn makes(&self, need: &str, dir: Option<&Path>) -> bool {
        let makes = |need: &str| match &self.makes {
            Makes::Table(output) => is_like(output, need),
            Makes::Tables(family) => family.may_have(need),
        };
        let name = Path::new(need).file_name();
        let beside = dir.zip(name).and_then(|(dir, name)| dir.join(name).to_str().map(makes));
        makes(need) || beside == Some(true)
    }
}

/// What a futurebase stands for that a file names. A table that needs itself is refused with the
/// line that says so, when its turn comes.
fn inputs(files: &[ControlNeeds<'_>], at: usize, need: &str, dir: Option<&Path>) -> Vec<Input> {
    let makers = (0..files.len()).filter(|&maker| maker != at && files[maker].makes(need, dir));
    let made: Vec<Input> = makers.map(Input::Made).collect();
    if made.is_empty() { vec![Input::Given(PathBuf::from(need))] } else { made }
}

/// Refuses files of which one would replace the tables of the other.
fn refuse_same_output(files: &[ControlNeeds<'_>]) -> Result<(), RunError> {
    let outputs: Vec<PathBuf> = files.iter().map(|file| file.makes.path()).collect();
    for (at, output) in outputs.iter().enumerate() {
        if let Some(earlier) = outputs[..at].iter().position(|earlier| earlier == output) {
            return Err(RunError::SameOutput {
                control: files[at].path.to_owned(),
                other: files[earlier].path.to_owned(),
                output: output.clone(),
            });
        }
    }
    Ok(())
}

fn ring_error(files: &[ControlNeeds<'_>], ring: Ring, dir: Option<&Path>) -> RunError {
    let (file, other) = (&files[ring.node], &files[ring.needed]);
    let need = file.needs.iter().find(|need| other.makes(need, dir)).cloned().unwrap_or_default();
    RunError::Ring { control: file.path.to_owned(), other: other.path.to_owned(), need }
}
