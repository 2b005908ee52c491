//! Making the tables of control files: one, whatever is there, or all, keeping what is current.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hoffman_control::{ControlFile, check_declarations};
use hoffman_plan::Graph;
use hoffman_store::{folder_of, has_wildcards, is_file, is_same_file};
use hoffman_table::Stop;
use hoffman_table::foreign::ForeignKind;

use crate::analysis::make_analysis;
use crate::checkpoint;
use crate::cut::{ControlPart, part_of_name, parts_of};
use crate::error::RunError;
use crate::numbering::Numbering;
use crate::options::{MadeTable, RunOptions, RunReport};
use crate::order::{ControlTables, read_control, tables_of};
use crate::presence::{expect_current, expect_of_family};
use crate::progress::{Partly, Progress};
use crate::workplace::Workplace;

/// What a control file's table would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of indices.
    pub indices: u64,
    /// The number of pawn structures, if it is made of such.
    pub structures: Option<u64>,
}

/// The size of a control file's table.
///
/// # Errors
///
/// The control file is wrong, or the run was asked to stop.
pub fn summary(control: &ControlFile, stop: &Stop) -> Result<Summary, RunError> {
    check_declarations(control)?;
    let numbering = Numbering::of(control, stop)?;
    let structures = numbering.space.pawn_structures().map(|list| list.len() as u64);
    Ok(Summary { indices: numbering.space.size(), structures })
}

/// Solves the table of a control file and writes it to `output`, or where the file says.
///
/// # Errors
///
/// The control file is wrong or asks for what cannot be done, a futurebase cannot be used, a move
/// is not accounted for, the output cannot be written.
pub fn generate(
    path: &Path,
    output: Option<&Path>,
    options: &RunOptions<'_>,
) -> Result<MadeTable, RunError> {
    generate_read(&read_control(path, &options.workplace)?, output, options)
}

/// The same for a control file that was read.
///
/// # Errors
///
/// As for [`generate`].
pub fn generate_read(
    control: &ControlFile,
    given: Option<&Path>,
    options: &RunOptions<'_>,
) -> Result<MadeTable, RunError> {
    for notice in &control.notices {
        options.progress.notice(&notice.to_string());
    }
    let output = match given {
        Some(output) => output.to_owned(),
        None => PathBuf::from(control.output_name()?),
    };
    check_declarations(control)?;
    // What is wrong with the control file alone is said before anything is waited for.
    let numbering = Numbering::of(control, &options.workplace.stop)?;
    if is_same_file(&*options.workplace.storage, Path::new(&control.origin), &output) {
        return Err(RunError::OutputIsControl { output });
    }
    replace(control, &numbering, (&output, given.is_some()), options)
        // An output that the caller named is no matter of the control file.
        .map_err(|error| if given.is_some() { error } else { at_output(error, control, &output) })
}

/// Makes a table, whatever has its name.
fn replace(
    control: &ControlFile,
    numbering: &Numbering,
    (output, by_caller): (&Path, bool),
    options: &RunOptions<'_>,
) -> Result<MadeTable, RunError> {
    options.workplace.probe(folder_of(output))?;
    if let Some(element) = control.output.as_ref().filter(|_| by_caller) {
        options.progress.notice(&format!(
            "{}: the output {} given to the program overrides this one",
            control.site(element.place, "output"),
            output.display()
        ));
    }
    let _lock = options.workplace.lock(output, options.progress)?;
    make_analysis(control, numbering, output, options)
}

/// Generates the table of a control file, or all tables if it is the input of an expansion. A file
/// that is there is kept if it is intact, was made from the same control file, and no futurebase is
/// newer. Tables go into `dir`, which is created if it is missing; without one those of an
/// expansion go beside the control file, another where the control file says.
///
/// # Errors
///
/// As [`generate`] and [`expand`](crate::expand).
pub fn build_control(
    path: &Path,
    dir: Option<&Path>,
    options: &RunOptions<'_>,
) -> Result<RunReport, RunError> {
    if let Some(dir) = dir {
        options.workplace.create_folder(dir)?;
    }

    // What is made there serves the other tables, too.
    let workplace = Workplace { tables: dir.map(Path::to_owned), ..options.workplace.clone() };
    let ControlTables { graph, is_family, notices } = tables_of(path, dir, &workplace)?;

    for notice in &notices {
        options.progress.notice(notice);
    }
    let quiet = Partly::without_remarks(options.progress);
    let run = RunOptions {
        args: options.args.clone(),
        foreign: options.foreign.clone(),
        progress: if is_family { &quiet } else { options.progress },
        workplace,
        ..*options
    };

    let mut build = ControlRun {
        run: &run,
        progress: options.progress,
        is_family,
        anew: false,
        rebuilt: HashSet::new(),
    };
    let mut report = RunReport::default();

    for node in graph.nodes {
        build.make(&node.source, node.output, &mut report)?;
    }
    if is_family {
        for notice in gather(&report.made) {
            options.progress.notice(&notice);
        }
    }
    Ok(report)
}

/// One table of a control file, to be made alone.
pub struct ControlTable {
    control: ControlFile,
    output: PathBuf,
    is_family: bool,
    /// Where it is made.
    workplace: Workplace,
}

impl ControlTable {
    /// The table of that name of a control file, or its only one; or a part of one, whose name says
    /// how many there are: `race-part-2-of-8.htb`.
    ///
    /// # Errors
    ///
    /// Those of [`build_control`] before anything is made; there is no such table.
    pub fn find(
        path: &Path,
        name: Option<&str>,
        dir: Option<&Path>,
        workplace: &Workplace,
    ) -> Result<ControlTable, RunError> {
        let workplace = Workplace { tables: dir.map(Path::to_owned), ..workplace.clone() };
        let ControlTables { mut graph, is_family, .. } = tables_of(path, dir, &workplace)?;
        let meant = match (name, graph.nodes.len()) {
            (None, 1) => Some(0),
            (None, _) => None,
            (Some(name), _) => graph.find(name),
        };
        let (control, output) = match (meant, name) {
            (Some(meant), _) => {
                let node = graph.nodes.swap_remove(meant);
                (node.source, node.output)
            }
            (None, Some(name)) if !is_family => match part_of(&graph, name, &workplace)? {
                Some(part) => (part.control, part.output),
                None => return Err(no_job(name, &graph)),
            },
            (None, name) => {
                let name = name.map_or_else(|| path.display().to_string(), str::to_owned);
                return Err(no_job(&name, &graph));
            }
        };
        Ok(ControlTable { control, output, is_family, workplace })
    }

    /// Where it goes.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The files that it is made from, as far as they are named one by one, the control file left
    /// out.
    ///
    /// # Errors
    ///
    /// One is not there.
    pub fn inputs(&self) -> Result<Vec<PathBuf>, RunError> {
        let storage = &*self.workplace.storage;
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for element in &self.control.futurebases {
            let path = self.workplace.locate(&element.filename);
            if is_file(storage, &path) {
                found.push(path);
            } else if !has_wildcards(&element.filename) && ForeignKind::of(&path).is_none() {
                // Others are looked for in more places, by who reads them.
                let being_made = self.workplace.is_being_made(&path);
                missing.push((path, being_made));
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        Err(RunError::NotThere { table: self.output.clone(), missing })
    }

    /// Makes it, unless it is there and current, and not to be made `anew`.
    ///
    /// # Errors
    ///
    /// Those of [`build_control`].
    pub fn build(self, anew: bool, options: &RunOptions<'_>) -> Result<RunReport, RunError> {
        self.workplace.create_folder(folder_of(&self.output))?;
        let run = RunOptions {
            args: options.args.clone(),
            foreign: options.foreign.clone(),
            workplace: self.workplace,
            ..*options
        };
        let (progress, rebuilt) = (options.progress, HashSet::new());
        let is_family = self.is_family;
        let mut one = ControlRun { run: &run, progress, is_family, anew, rebuilt };
        let mut report = RunReport::default();
        one.make(&self.control, self.output, &mut report)?;
        Ok(report)
    }
}

fn no_job(name: &str, graph: &Graph<ControlFile>) -> RunError {
    RunError::NoJob { name: name.to_owned(), known: graph.names() }
}

/// The part of that name of a table, if it has such.
fn part_of(
    graph: &Graph<ControlFile>,
    name: &str,
    workplace: &Workplace,
) -> Result<Option<ControlPart>, RunError> {
    let Some((whole, number, parts)) = part_of_name(name) else { return Ok(None) };
    let Some(at) = graph.find(&whole) else { return Ok(None) };
    let node = &graph.nodes[at];
    check_declarations(&node.source)?;
    let mut all = parts_of(&node.source, &node.output, parts, &workplace.stop)?;
    Ok((number <= all.len()).then(|| all.swap_remove(number - 1)))
}

/// The tables of a control file under way.
struct ControlRun<'a> {
    run: &'a RunOptions<'a>,
    /// Told what is not told of each table of a family.
    progress: &'a dyn Progress,
    /// A table of a family has a name that the program chose: it replaces such a table only.
    is_family: bool,
    /// Whether what is there is known to be outdated.
    anew: bool,
    /// The tables made in this run.
    rebuilt: HashSet<PathBuf>,
}

impl ControlRun<'_> {
    /// Makes a table unless it is there.
    fn make(
        &mut self,
        control: &ControlFile,
        output: PathBuf,
        report: &mut RunReport,
    ) -> Result<(), RunError> {
        let workplace = &self.run.workplace;
        workplace.check_stop()?;
        check_declarations(control)?;
        let numbering = Numbering::of(control, &workplace.stop)?;
        workplace.probe(folder_of(&output)).map_err(|error| at_output(error, control, &output))?;
        // Another run may be making it, and what a run that died left of it is removed.
        let _lock = workplace.lock(&output, self.progress)?;
        if is_file(&*workplace.storage, &output) && self.is_current(control, &output)? {
            tracing::info!(table = %output.display(), "kept");
            checkpoint::remove_of(workplace, &output)?;
            report.kept.push(output);
            return Ok(());
        }
        for notice in &control.notices {
            self.run.progress.notice(&notice.to_string());
        }
        let made = make_analysis(control, &numbering, &output, self.run);
        report.made.push(made.map_err(|error| at_output(error, control, &output))?);
        self.rebuilt.insert(output);
        Ok(())
    }

    /// Whether a table that is there is what would be made; else it may be replaced.
    fn is_current(&self, control: &ControlFile, output: &Path) -> Result<bool, RunError> {
        let workplace = &self.run.workplace;
        let current = expect_current(control, output, workplace, &self.rebuilt);
        if current.is_ok() && !self.anew {
            return Ok(true);
        }
        workplace.check_stop()?;
        if self.is_family {
            expect_of_family(control, output, workplace)?;
        }
        if let Err(why) = current.as_ref().map_err(ToString::to_string) {
            self.progress.notice(&format!("{why}; building it anew"));
        }
        Ok(false)
    }
}

/// An error that says where the output is named, if it is about the output or its folder.
fn at_output(error: RunError, control: &ControlFile, output: &Path) -> RunError {
    let concerned = match &error {
        RunError::Io { path, .. } | RunError::Write { path, .. } => {
            path == output || path == folder_of(output)
        }
        _ => false,
    };
    if !concerned {
        return error;
    }
    let named = control.output.as_ref().filter(|element| {
        let name = element.filename.as_deref().and_then(|name| Path::new(name).file_name());
        name.is_some() && name == output.file_name()
    });
    let place = match named {
        Some(element) => control.site(element.place, "output").to_string(),
        None => control.origin.clone(),
    };
    RunError::Output { place, source: Box::new(error) }
}

/// The remarks on the tables of an expansion, each said once: what holds for one table mostly holds
/// for many.
fn gather(tables: &[MadeTable]) -> Vec<String> {
    let mut said: Vec<(&str, &str, usize)> = Vec::new();
    for notice in tables.iter().flat_map(|table| &table.notices) {
        // What stands before is where it was found.
        let text = notice.split_once(">: ").map_or(notice.as_str(), |(_, text)| text);
        match said.iter_mut().find(|(_, known, _)| *known == text) {
            Some((_, _, times)) => *times += 1,
            None => said.push((notice, text, 1)),
        }
    }
    let again = |times: usize| match times {
        1 => String::new(),
        _ => format!(" (said of {times} tables)"),
    };
    said.into_iter().map(|(notice, _, times)| format!("{notice}{}", again(times))).collect()
}
