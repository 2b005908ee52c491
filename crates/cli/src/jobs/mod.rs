//! The jobs of a plan as command lines, and who runs them: each writer is a function from the jobs
//! to a text, [`runner`] runs them here.

mod makefile;
mod runner;
mod slurm;
mod snakefile;

use std::num::NonZeroU64;
use std::path::Path;

use anyhow::Context as _;
use hoffman::{JobGraph, MadeBy, PlannedJob, receipt_of, verification_of};
use serde_json::{Value, json};

pub(crate) use makefile::makefile;
pub(crate) use runner::{Capacity, run};
pub(crate) use slurm::slurm;
pub(crate) use snakefile::snakefile;

/// The program, as others call it.
const PROGRAM: &str = "hoffman";

/// What verifying takes at most besides the table, or half of all, in bytes.
const VERIFY_MEMORY: u64 = 256 << 20;

/// Processor seconds for opening tables, and for an entry.
const VERIFY_SECONDS: f64 = 0.5;
const VERIFY_SECONDS_AN_ENTRY: f64 = 2e-6;

/// What a process of its own does: it makes a table, or verifies one.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The file that it makes.
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
    kind: JobKind,
}

#[derive(Clone, Debug)]
enum JobKind {
    Makes(MadeBy),
    /// It verifies so many entries of a table.
    Verifies(String, NonZeroU64),
}

/// Options that the jobs of a plan have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    /// Where tables are, of all jobs.
    pub(crate) places: Vec<String>,
    /// Where tables of other programs are, of all that read such.
    pub(crate) foreign: Vec<String>,
    /// In which files they are written.
    pub(crate) format: Vec<String>,
    /// How they are made.
    pub(crate) making: Vec<String>,
    /// How many entries of each are verified, by jobs that come last.
    pub(crate) verify: Option<NonZeroU64>,
}

/// The jobs of a graph.
pub(crate) fn jobs(graph: &JobGraph, common: &Common) -> anyhow::Result<Vec<Job>> {
    let made = graph.jobs.iter().map(|planned| Job::new(graph, planned, common));
    let mut all: Vec<Job> = made.collect::<anyhow::Result<_>>()?;
    if let Some(entries) = common.verify {
        let tables = graph.jobs.iter().enumerate();
        let is_table =
            |planned: &PlannedJob| !matches!(planned.made_by, MadeBy::PartOfKings { .. });
        for (at, planned) in tables.filter(|(_, planned)| is_table(planned)) {
            let verifying = Job::verifying(&all[at], (at, planned), entries, common)?;
            all.push(verifying);
        }
    }
    Ok(all)
}

impl Job {
    fn new(graph: &JobGraph, planned: &PlannedJob, common: &Common) -> anyhow::Result<Job> {
        let output = text(&planned.output)?;
        let inputs = planned.inputs.iter().map(|input| text(graph.file(input)));
        let receipt = text(&receipt_of(&planned.output))?;

        let mut arguments = what(&planned.made_by, &output)?;
        arguments.extend_from_slice(&common.places);
        if matches!(planned.made_by, MadeBy::PartOfKings { .. }) {
            arguments.extend_from_slice(&common.making);
        } else {
            if !matches!(planned.made_by, MadeBy::JoiningControl { .. }) {
                arguments.extend_from_slice(&common.foreign);
            }
            arguments.extend([&common.format[..], &common.making].concat());
            arguments.extend(["--reproducible".to_owned(), "--receipt".to_owned(), receipt]);
        }
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
            kind: JobKind::Makes(planned.made_by.clone()),
        })
    }

    /// The job that verifies the table of another one, which is number `at`.
    fn verifying(
        table: &Job,
        (at, planned): (usize, &PlannedJob),
        entries: NonZeroU64,
        common: &Common,
    ) -> anyhow::Result<Job> {
        let output = text(&verification_of(&planned.output))?;
        let words =
            ["verify", &table.output, "--sample", &entries.to_string(), "--report", &output];
        let words = words.into_iter().map(str::to_owned);
        let seconds = VERIFY_SECONDS + VERIFY_SECONDS_AN_ENTRY * entries.get() as f64;
        Ok(Job {
            inputs: [std::slice::from_ref(&table.output), &table.inputs].concat(),
            needs: std::iter::once(at).chain(planned.needed()).collect(),
            memory: VERIFY_MEMORY + planned.cost.disk.min(VERIFY_MEMORY),
            is_bounded: false,
            threads: table.threads,
            seconds,
            disk: 1 << 20,
            arguments: words.chain([&common.places[..], &common.foreign].concat()).collect(),
            kind: JobKind::Verifies(table.output.clone(), entries),
            output,
        })
    }

    /// The ending that it solves a part of, together with others that have to run at the same time.
    pub(crate) fn together(&self) -> Option<&str> {
        match &self.kind {
            JobKind::Makes(MadeBy::PartOfKings { ending, .. }) => Some(ending),
            _ => None,
        }
    }

    /// The table that it makes or verifies.
    fn table(&self) -> &str {
        match &self.kind {
            JobKind::Makes(_) => &self.output,
            JobKind::Verifies(table, _) => table,
        }
    }

    /// What it does, as the name of a rule begins.
    pub(crate) fn verb(&self) -> &'static str {
        match &self.kind {
            JobKind::Makes(_) => "make",
            JobKind::Verifies(..) => "verify",
        }
    }

    /// The name of its table without folder and ending.
    pub(crate) fn stem(&self) -> &str {
        let file = self.table().rsplit('/').next().unwrap_or_default();
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
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

    /// Whether it makes a table.
    pub(crate) fn is_making(&self) -> bool {
        matches!(self.kind, JobKind::Makes(_))
    }

    /// The folder of its table.
    pub(crate) fn folder(&self) -> &str {
        self.table().rsplit_once('/').map_or(".", |(folder, _)| folder)
    }

    /// The folder of its log.
    pub(crate) fn log_folder(&self) -> String {
        match self.table().rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/logs"),
            None => "logs".to_owned(),
        }
    }

    /// A file of its own beside its log.
    pub(crate) fn beside_log(&self, ending: &str) -> String {
        let name = self.table().rsplit('/').next().unwrap_or_default();
        let part = if matches!(self.kind, JobKind::Makes(_)) { "" } else { ".verified" };
        format!("{}/{name}{part}.{ending}", self.log_folder())
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
        match &self.kind {
            JobKind::Makes(MadeBy::Ending(ending)) => all["material"] = json!(ending),
            JobKind::Makes(MadeBy::PartOfEnding { ending, part }) => {
                (all["material"], all["part"]) = (json!(ending), json!(part));
            }
            JobKind::Makes(MadeBy::PartOfKings { ending, number, of }) => {
                (all["material"], all["part"]) = (json!(ending), json!(format!("{number}/{of}")));
                all["at_once"] = json!(of);
            }
            JobKind::Makes(MadeBy::Joining(ending)) => {
                (all["material"], all["joined"]) = (json!(ending), json!(true));
            }
            JobKind::Makes(MadeBy::Part { ending, fen }) => {
                (all["material"], all["position"]) = (json!(ending), json!(fen));
            }
            JobKind::Makes(MadeBy::Control { file, text }) => {
                (all["control"], all["text"]) = (json!(file), json!(text));
            }
            JobKind::Makes(MadeBy::JoiningControl { file, text, .. }) => {
                (all["control"], all["text"]) = (json!(file), json!(text));
                all["joined"] = json!(true);
            }
            JobKind::Verifies(table, entries) => {
                (all["verifies"], all["sample"]) = (json!(table), json!(entries));
            }
        }
        all
    }
}

/// The command that makes a table, and how it names the table.
fn what(made_by: &MadeBy, output: &str) -> anyhow::Result<Vec<String>> {
    let [build, only, join] = ["build", "--only", "join"].map(str::to_owned);
    Ok(match made_by {
        MadeBy::Ending(ending) => vec![build, only, ending.clone()],
        MadeBy::PartOfEnding { ending, part } => vec![build, only, format!("{ending}-{part}")],
        MadeBy::PartOfKings { ending, number, of } => {
            let [solve_part, part] = ["solve-part", "--part"].map(str::to_owned);
            vec![solve_part, ending.clone(), part, format!("{number}/{of}")]
        }
        MadeBy::Joining(ending) => vec![join, ending.clone()],
        MadeBy::Part { fen, .. } => vec![build, fen.clone(), only, output.to_owned()],
        MadeBy::Control { file, .. } => vec![build, text(file)?, only, output.to_owned()],
        MadeBy::JoiningControl { file, parts, .. } => {
            let named = std::iter::once(file).chain(parts).map(|path| text(path));
            std::iter::once(Ok(join)).chain(named).collect::<anyhow::Result<_>>()?
        }
    })
}

/// Refuses jobs that have to run at the same time where they are begun one by one.
fn expect_apart(jobs: &[Job], engine: &str) -> anyhow::Result<()> {
    let Some(ending) = jobs.iter().find_map(Job::together) else { return Ok(()) };
    anyhow::bail!(
        "the processes that solve {ending} together have to run at the same time, and {engine} begins jobs \
         one by one: --run and --slurm run them, --json lists them"
    );
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
