//! The order in which several control files need each other.

use std::path::{Path, PathBuf};

use hoffman_control::ControlFile;
use hoffman_store::is_like;

use crate::error::RunError;
use crate::expand::{Family, is_input, read_input};
use crate::generate::read_control;
use crate::workplace::Workplace;

/// Control files in an order in which each comes behind those whose tables are its futurebases, otherwise in
/// the order given. Tables go where the control files say, or into `dir`.
///
/// # Errors
///
/// A control file cannot be read or is wrong; two make the same table, or need each other's.
pub fn in_order_of_need<'p>(
    paths: &[&'p Path],
    dir: Option<&Path>,
    workplace: &Workplace,
) -> Result<Vec<&'p Path>, RunError> {
    let nodes = paths.iter().map(|path| Node::read(path, dir, workplace));
    let nodes: Vec<Node<'p>> = nodes.collect::<Result<_, RunError>>()?;
    refuse_same_output(&nodes)?;
    let mut visit = Visit { nodes: &nodes, dir, seen: vec![Seen::Not; nodes.len()], order: vec![] };
    (0..nodes.len()).try_for_each(|at| visit.visit(at))?;
    Ok(visit.order.into_iter().map(|at| nodes[at].path).collect())
}

/// Where the table of a control file goes, or into a folder.
pub(crate) fn output_of(control: &ControlFile, dir: Option<&Path>) -> Result<PathBuf, RunError> {
    let output = PathBuf::from(control.output_name()?);
    Ok(match (dir, output.file_name()) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => output,
    })
}

/// What a control file makes, and what it needs.
struct Node<'p> {
    path: &'p Path,
    makes: Makes,
    /// The names of its futurebases.
    needs: Vec<String>,
}

enum Makes {
    Table(PathBuf),
    Tables(Family),
}

impl<'p> Node<'p> {
    fn read(
        path: &'p Path,
        dir: Option<&Path>,
        workplace: &Workplace,
    ) -> Result<Node<'p>, RunError> {
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
        Ok(Node { path, makes, needs })
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

/// Refuses files of which one would replace the tables of the other.
fn refuse_same_output(nodes: &[Node<'_>]) -> Result<(), RunError> {
    let output = |node: &Node<'_>| match &node.makes {
        Makes::Table(output) => output.components().collect(),
        Makes::Tables(family) => PathBuf::from(family.name()),
    };
    let outputs: Vec<PathBuf> = nodes.iter().map(output).collect();
    for (at, output) in outputs.iter().enumerate() {
        if let Some(earlier) = outputs[..at].iter().position(|earlier| earlier == output) {
            return Err(RunError::SameOutput {
                control: nodes[at].path.to_owned(),
                other: nodes[earlier].path.to_owned(),
                output: output.clone(),
            });
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Not,
    /// What it needs is being looked at.
    Entered,
    Done,
}

struct Visit<'n> {
    nodes: &'n [Node<'n>],
    dir: Option<&'n Path>,
    seen: Vec<Seen>,
    order: Vec<usize>,
}

impl Visit<'_> {
    fn visit(&mut self, at: usize) -> Result<(), RunError> {
        if std::mem::replace(&mut self.seen[at], Seen::Entered) == Seen::Done {
            self.seen[at] = Seen::Done;
            return Ok(());
        }
        let (nodes, dir) = (self.nodes, self.dir);
        for need in &nodes[at].needs {
            // A table that needs itself is refused with the line that says so, when its turn comes.
            let makers = (0..nodes.len()).filter(|&m| m != at && nodes[m].makes(need, dir));
            for maker in makers {
                if self.seen[maker] == Seen::Entered {
                    let control = nodes[at].path.to_owned();
                    let other = nodes[maker].path.to_owned();
                    return Err(RunError::Ring { control, other, need: need.clone() });
                }
                self.visit(maker)?;
            }
        }
        self.seen[at] = Seen::Done;
        self.order.push(at);
        Ok(())
    }
}
