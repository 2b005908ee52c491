//! The jobs of a plan as command lines, and who runs them: each writer is a function from the jobs
//! to a text, [`runner`] runs them here.

mod makefile;
mod runner;
mod slurm;
mod snakefile;

use std::path::Path;

use anyhow::Context as _;
use hoffman::{JobGraph, MadeBy, PlannedJob, receipt_of};
use serde_json::{Value, json};

pub(crate) use makefile::makefile;
pub(crate) use runner::{Room, run};
pub(crate) use slurm::slurm;
pub(crate) use snakefile::snakefile;

/// The program, as others call it.
const PROGRAM: &str = "hoffman";

/// A table to be made by a process of its own.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The file.
    pub(crate) output: String,
    /// The files that it is made from.
    pub(crate) inputs: Vec<String>,
    /// The numbers of the jobs that make some of them.
    pub(crate) needs: Vec<usize>,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Whether it is told to take no more.
    pub(crate) is_bounded: bool,
    pub(crate) threads: usize,
    /// Seconds by the clock.
    pub(crate) seconds: f64,
    /// Bytes on the disk.
    pub(crate) disk: u64,
    /// What stands in the command line besides memory and threads, the program left out.
    arguments: Vec<String>,
    made_by: MadeBy,
}

/// The jobs of a graph, with options that all of them have.
pub(crate) fn jobs(graph: &JobGraph, common: &[String]) -> anyhow::Result<Vec<Job>> {
    graph.jobs.iter().map(|planned| Job::new(graph, planned, common)).collect()
}

impl Job {
    fn new(graph: &JobGraph, planned: &PlannedJob, common: &[String]) -> anyhow::Result<Job> {
        let output = text(&planned.output)?;
        let inputs = planned.inputs.iter().map(|input| text(graph.file(input)));
        let receipt = text(&receipt_of(&planned.output))?;

        let mut arguments = vec!["build".to_owned()];
        arguments.extend(what(&planned.made_by, &output)?);
        arguments.extend_from_slice(common);
        arguments.extend(["--reproducible".to_owned(), "--receipt".to_owned(), receipt]);
        Ok(Job {
            output,
            inputs: inputs.collect::<anyhow::Result<_>>()?,
            needs: planned.needed().collect(),
            memory: planned.cost.memory,
            is_bounded: planned.cost.from_disk,
            threads: planned.cost.threads,
            seconds: planned.elapsed_seconds(),
            disk: planned.cost.disk,
            arguments,
            made_by: planned.made_by.clone(),
        })
    }

    /// The command line without the program, in so much memory if that is bounded and on so many
    /// threads.
    pub(crate) fn arguments(&self, memory: &str, threads: &str) -> Vec<String> {
        let mut all = self.arguments.clone();
        if self.is_bounded {
            all.extend(["--memory".to_owned(), memory.to_owned()]);
        }
        all.extend(["--threads".to_owned(), threads.to_owned()]);
        all
    }

    /// The command line as it is planned.
    pub(crate) fn command(&self) -> Vec<String> {
        let program = std::iter::once(PROGRAM.to_owned());
        let memory = format!("{}M", self.megabytes());
        program.chain(self.arguments(&memory, &self.threads.to_string())).collect()
    }

    /// Its memory in megabytes.
    pub(crate) fn megabytes(&self) -> u64 {
        self.memory.div_ceil(1 << 20)
    }

    /// How many minutes it may take, on slower machines, too.
    pub(crate) fn minutes(&self) -> u64 {
        10 + (self.seconds / 20.0).ceil() as u64
    }

    /// The folder of its log.
    pub(crate) fn log_folder(&self) -> String {
        let (folder, _) = self.output.rsplit_once('/').unwrap_or_default();
        if self.output.contains('/') { format!("{folder}/logs") } else { "logs".to_owned() }
    }

    /// A file of its own beside its log.
    pub(crate) fn beside_log(&self, ending: &str) -> String {
        let name = self.output.rsplit('/').next().unwrap_or_default();
        format!("{}/{name}.{ending}", self.log_folder())
    }

    /// Where it writes what it has to say.
    pub(crate) fn log(&self) -> String {
        self.beside_log("log")
    }

    /// All there is to know of it.
    pub(crate) fn to_json(&self) -> Value {
        let mut all = json!({
            "output": self.output,
            "inputs": self.inputs,
            "memory_bytes": self.memory,
            "threads": self.threads,
            "seconds": self.seconds,
            "disk_bytes": self.disk,
            "log": self.log(),
            "command": self.command(),
        });
        match &self.made_by {
            MadeBy::Ending(ending) => all["material"] = json!(ending),
            MadeBy::Part { ending, fen } => {
                (all["material"], all["position"]) = (json!(ending), json!(fen));
            }
            MadeBy::Control { file, text } => {
                (all["control"], all["text"]) = (json!(file), json!(text));
            }
        }
        all
    }
}

/// How the table is named in the command line.
fn what(made_by: &MadeBy, output: &str) -> anyhow::Result<Vec<String>> {
    let only = "--only".to_owned();
    Ok(match made_by {
        MadeBy::Ending(ending) => vec![only, ending.clone()],
        MadeBy::Part { fen, .. } => vec![fen.clone(), only, output.to_owned()],
        MadeBy::Control { file, .. } => vec![text(file)?, only, output.to_owned()],
    })
}

/// A path as others read it.
fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("{}: the name is no text that others can read", path.display()))
}

/// A name that `make`, Snakemake and shells read as it is.
fn plain(name: &str) -> anyhow::Result<&str> {
    let harmless = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    if !name.starts_with('-') && name.chars().all(harmless) {
        return Ok(name);
    }
    anyhow::bail!("{name}: make and shells would read this name as something else; rename the file")
}

/// Words as a shell reads them, and `make` and Snakemake hand them on.
fn command_line(words: &[String]) -> anyhow::Result<String> {
    let harmless = |c: char| c.is_alphanumeric() || "-_./+,:=@~ ".contains(c);
    let quote = |word: &String| {
        if !word.chars().all(harmless) {
            anyhow::bail!("{word}: make and shells would read this as something else");
        }
        Ok(if word.contains([' ', '~']) { format!("'{word}'") } else { word.clone() })
    };
    Ok(words.iter().map(quote).collect::<anyhow::Result<Vec<_>>>()?.join(" "))
}
