//! One table alone, made from the files of others: what a job of a graph does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hoffman_board::{Material, Variant};
use hoffman_plan::{EndingJob, Graph, dependencies};
use hoffman_reader::AsPosition;
use hoffman_run::{
    ControlTable, Depth, Joining, RunError, RunReport, StructureJoining, build_ending,
    ending_inputs,
};
use hoffman_store::{files, is_file};

use crate::build::{Built, Made, Target};
use crate::error::Error;
use crate::event::{Event, Relay};
use crate::options::Options;
use crate::plan::{graph_of_jobs, graph_of_position, graph_of_targets};
use crate::receipt::{Receipt, Sum};

/// A table that is made alone.
pub struct OneTable(MadeFrom);

/// What it is made by.
enum MadeFrom {
    /// The last node of a graph, from those that it needs.
    Ending(Graph<EndingJob>),
    /// Tables of parts.
    Parts(Joining),
    /// Tables of parts of a control file's pawn structures; and the control file, if one is named.
    Structures(Option<PathBuf>, Box<StructureJoining>),
    /// A control file.
    Control(PathBuf, Box<ControlTable>),
}

/// The files that a table is made from.
struct Inputs {
    paths: Vec<PathBuf>,
    /// Those of an ending, by the numbers of their nodes.
    nodes: BTreeMap<usize, PathBuf>,
}

impl OneTable {
    /// The table of that name among those of some targets; without targets, that of an ending, of a
    /// part of one (`KRPvKR-b2+`), or of a control file.
    ///
    /// # Errors
    /// There is no such table, or a control file is wrong.
    pub fn of_targets(
        name: &str,
        targets: &[Target],
        options: &Options,
    ) -> Result<OneTable, Error> {
        let [target] = targets else {
            if let Some(part) = EndingJob::of_part(name).filter(|_| targets.is_empty()) {
                return Ok(alone(part, options));
            }
            return match name.parse()? {
                Target::ControlFile(file) if targets.is_empty() => control(&file, None, options),
                Target::Ending(ending) if targets.is_empty() => {
                    Ok(alone(EndingJob { material: ending.normalized().0, part: None }, options))
                }
                _ => node_of(name, &graph_of_targets(targets, options)?),
            };
        };
        match target {
            Target::ControlFile(file) => control(file, Some(name), options),
            _ => node_of(name, &graph_of_targets(targets, options)?),
        }
    }

    /// The table of that name among those that a position needs.
    ///
    /// # Errors
    /// There is no such table; the position is none that tables hold, or too much is behind it.
    pub fn of_position(
        name: &str,
        position: impl AsPosition,
        options: &Options,
    ) -> Result<OneTable, Error> {
        let position = position.as_position(Variant::Normal)?;
        node_of(name, &graph_of_position(&position, options)?)
    }

    /// The table of an ending, to be joined from those of its parts by the files of the pawns,
    /// which lie in the folder: the parts of a plan ([`crate::jobs_in_parts`]). Without pawns it is
    /// joined from what several processes have solved there ([`crate::solve_part`]). Its file is in
    /// the folder, too, unless it is named.
    ///
    /// # Errors
    /// The ending has nothing but kings.
    pub fn of_ending_in_parts(
        ending: &Material,
        output: Option<&Path>,
        options: &Options,
    ) -> Result<OneTable, Error> {
        let job = EndingJob { material: ending.normalized().0, part: None };
        let mut usual = options.folder().join(job.file_name());
        options.named(&mut usual);
        let output = output.unwrap_or(&usual);
        let joining = Joining::of_ending(&job.material, options.folder(), output)?;
        Ok(OneTable(MadeFrom::Parts(joining)))
    }

    /// The table of a control file with pawn structures, to be joined from those of the parts that
    /// are named: control files that say the same but for `start` and `count` made them. Its file
    /// is where the control file says, or in the folder, unless it is named.
    ///
    /// # Errors
    /// The control file is wrong, or has no pawn structures.
    pub fn of_control_in_parts(
        control: &Path,
        parts: Vec<PathBuf>,
        output: Option<&Path>,
        options: &Options,
    ) -> Result<OneTable, Error> {
        let place = (output, options.given_folder());
        let joining = StructureJoining::of_control(control, parts, place, &options.workplace())?;
        Ok(OneTable(MadeFrom::Structures(Some(control.to_owned()), Box::new(joining))))
    }

    /// The table of an ending, or of the pawn structures of a control file, to be joined from those
    /// of the parts that are named.
    ///
    /// # Errors
    /// The first part is not there ([`Error::is_temporary`]) or cannot be read, or its ending has
    /// no pawns.
    pub fn of_parts(
        parts: Vec<PathBuf>,
        output: &Path,
        options: &Options,
    ) -> Result<OneTable, Error> {
        let workplace = options.workplace();
        if let Some(joining) = StructureJoining::of_parts(&parts, output, &workplace)? {
            return Ok(OneTable(MadeFrom::Structures(None, Box::new(joining))));
        }
        let joining = Joining::of_parts(parts, output, &workplace)?;
        Ok(OneTable(MadeFrom::Parts(joining)))
    }

    /// Makes it from files that must be there, and nothing else; a finished table is kept. With a
    /// receipt, files are what their own receipts say, and a table is kept that was made from
    /// these.
    ///
    /// # Errors
    /// A file is not there ([`Error::is_temporary`]) or is not what it should be; those of
    /// [`crate::build`].
    pub fn build(
        self,
        receipt: Option<&Path>,
        options: &Options,
        progress: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Built, Error> {
        let relay = Relay::new(progress);
        let inputs = self.inputs(receipt.is_some(), options)?;
        let output = self.output().to_owned();
        let sums = match receipt {
            Some(_) => {
                inputs.paths.iter().map(|path| Sum::of_input(path)).collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };

        let outdated = match receipt {
            Some(path) => self.is_outdated(path, &sums)?,
            None => None,
        };
        if let Some(why) = &outdated {
            relay.tell(Event::Notice { text: format!("{why}; building it anew") });
        }

        let made_of = self.made_of();
        let report = self.carry_out(inputs, outdated.is_some(), (options, &relay))?;
        let is_made = !report.made.is_empty();
        let mut built = Built::default();
        built.add(report, made_of, &relay);
        if let Some(path) = receipt
            && (is_made || !is_file(&*files(), path))
        {
            Receipt::of(&output, sums, options.made_by(), path)?.write()?;
        }
        Ok(built)
    }

    /// Where it goes.
    pub fn output(&self) -> &Path {
        match &self.0 {
            MadeFrom::Ending(graph) => {
                graph.nodes.last().map_or(Path::new(""), |node| &node.output)
            }
            MadeFrom::Parts(joining) => joining.output(),
            MadeFrom::Structures(_, joining) => joining.output(),
            MadeFrom::Control(_, table) => table.output(),
        }
    }

    /// The files that it is made from; the checksums of receipts say more than a look at all
    /// blocks.
    fn inputs(&self, with_receipts: bool, options: &Options) -> Result<Inputs, Error> {
        match &self.0 {
            MadeFrom::Ending(graph) => {
                let depth = if with_receipts { Depth::Header } else { Depth::Whole };
                let nodes = ending_inputs(graph, depth, &options.workplace())?;
                let mut paths: Vec<PathBuf> = nodes.values().cloned().collect();
                paths.sort();
                Ok(Inputs { paths, nodes })
            }
            MadeFrom::Parts(joining) => {
                let paths = joining.inputs(&options.workplace())?;
                Ok(Inputs { paths, nodes: BTreeMap::new() })
            }
            MadeFrom::Structures(control, joining) => {
                let parts = joining.inputs(&options.workplace())?;
                let paths = control.iter().cloned().chain(parts).collect();
                Ok(Inputs { paths, nodes: BTreeMap::new() })
            }
            MadeFrom::Control(file, table) => {
                let behind = table.inputs()?;
                let paths = std::iter::once(file.clone()).chain(behind).collect();
                Ok(Inputs { paths, nodes: BTreeMap::new() })
            }
        }
    }

    /// Why a table that is there would be made otherwise now. Of one without a receipt only the
    /// time is known; that of a control file is looked at when it is made.
    fn is_outdated(&self, receipt: &Path, inputs: &[Sum]) -> Result<Option<String>, Error> {
        let output = self.output();
        if !is_file(&*files(), output) {
            return Ok(None);
        }
        if let Some(receipt) = Receipt::read(receipt)? {
            return receipt.outdates(output, inputs);
        }
        let modified = |path: &Path| files().info(path).ok()?.modified;
        let made = modified(output);
        let newer = inputs.iter().find(|input| modified(input.file()) > made);
        Ok(newer
            .map(|input| format!("{}: is older than {}", output.display(), input.file().display())))
    }

    fn made_of(&self) -> fn(hoffman_run::MadeTable) -> Made {
        match &self.0 {
            MadeFrom::Ending(_) | MadeFrom::Parts(_) => Made::of_ending,
            MadeFrom::Structures(..) | MadeFrom::Control(..) => Made::of_control,
        }
    }

    fn carry_out(
        self,
        inputs: Inputs,
        anew: bool,
        (options, relay): (&Options, &Relay<'_>),
    ) -> Result<RunReport, Error> {
        let run = options.run(relay);
        options.install(|| match self.0 {
            MadeFrom::Ending(graph) => Ok(build_ending(&graph, inputs.nodes, anew, &run)?),
            MadeFrom::Parts(joining) => Ok(joining.join(&inputs.paths, anew, &run)?),
            MadeFrom::Structures(control, joining) => {
                let parts = &inputs.paths[control.iter().len()..];
                Ok(joining.join(parts, anew, &run)?)
            }
            MadeFrom::Control(_, table) => Ok(table.build(anew, &run)?),
        })
    }
}

/// The table of a job, from those of the endings behind it.
fn alone(job: EndingJob, options: &Options) -> OneTable {
    OneTable(MadeFrom::Ending(graph_alone(job, options)))
}

/// A job as the last node of a graph, and the endings behind it.
pub(crate) fn graph_alone(job: EndingJob, options: &Options) -> Graph<EndingJob> {
    let behind = dependencies(&job.material).into_iter();
    let mut jobs: Vec<EndingJob> =
        behind.map(|key| EndingJob { material: key.0, part: None }).collect();
    jobs.push(job);
    graph_of_jobs(&jobs, options).alone(jobs.len() - 1)
}

/// The table of a control file, or one of those that it stands for.
fn control(file: &Path, name: Option<&str>, options: &Options) -> Result<OneTable, Error> {
    let table = ControlTable::find(file, name, options.given_folder(), &options.workplace())?;
    Ok(OneTable(MadeFrom::Control(file.to_owned(), Box::new(table))))
}

/// The table of that name of a graph.
fn node_of(name: &str, graph: &Graph<EndingJob>) -> Result<OneTable, Error> {
    match graph.find(name) {
        Some(at) => Ok(OneTable(MadeFrom::Ending(graph.alone(at)))),
        None => Err(RunError::NoJob { name: name.to_owned(), known: graph.names() }.into()),
    }
}
