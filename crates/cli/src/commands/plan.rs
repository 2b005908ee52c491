//! What a run would cost.

use std::num::NonZeroUsize;
use std::path::Path;

use hoffman::process::{available_memory, cores, is_address};
use hoffman::{Error, JobGraph, Options, Plan, Target};

use crate::RunEnd;
use crate::args::{PlanArgs, is_control_file};
use crate::commands::build::{
    Formatless, contained, endings, expect_no_foreign, expect_no_format, names_position,
};
use crate::commands::join::expect_fast;
use crate::interrupt;
use crate::jobs::{self, Capacity, Common, Job};
use crate::output::{Misuse, print, print_line};

/// Plans without doing, writes the plan for others, or has it done.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<RunEnd> {
    match answer(args) {
        Err(error) => match error.downcast::<Error>() {
            // How large it is, is the answer.
            Ok(Error::Vast(whole)) => {
                let json = || whole.to_json().to_string() + "\n";
                print(&if args.json { json() } else { whole.to_string() })?;
                Ok(RunEnd::Done)
            }
            Ok(error) => Err(error.into()),
            Err(error) => Err(error),
        },
        Ok(outcome) => Ok(outcome),
    }
}

fn answer(args: &PlanArgs) -> anyhow::Result<RunEnd> {
    let what = What::of(args)?;
    let wanted = &args.jobs;
    let is_run = wanted.run || wanted.makefile || wanted.snakefile || wanted.slurm;
    let of_jobs = [("--parts", wanted.parts.is_some()), ("--verify", wanted.verify.is_some())];
    let of_jobs = of_jobs.into_iter().find(|&(_, is_given)| is_given && !is_run && !args.json);
    if let Some((option, _)) = of_jobs {
        let text = "makes jobs: --json, --makefile, --snakefile, --slurm or --run says for whom";
        return Err(Misuse(format!("{option} {text}")).into());
    }
    if let Some(option) = args.work.of_one_process() {
        return Err(Misuse(format!("{option} is for what a process makes itself")).into());
    }

    if let Some(folder) = args.folder.given().filter(|folder| is_run && is_address(folder)) {
        let folder = folder.display();
        anyhow::bail!(
            "{folder}: what runs jobs looks at files, so it needs a folder of the disk; --json lists \
             the jobs"
        );
    }

    if wanted.run {
        let threads = wanted.jobs.unwrap_or_else(cores);
        let memory = args.work.memory.or_else(available_memory).unwrap_or(u64::MAX);
        let jobs = what.jobs(args)?;
        return jobs::run(&jobs, Capacity { threads, memory }, interrupt::cancel());
    }

    let writers = [
        (wanted.makefile, jobs::makefile as fn(&[Job]) -> anyhow::Result<String>),
        (wanted.snakefile, jobs::snakefile),
        (wanted.slurm, jobs::slurm),
    ];
    if let Some((_, writer)) = writers.iter().find(|(wanted, _)| *wanted) {
        print(&writer(&what.jobs(args)?)?)?;
    } else if args.json {
        let mut json = serde_json::to_value(what.plan()?)?;
        json["jobs"] = what.jobs(args)?.iter().map(Job::to_json).collect();
        print_line(&json.to_string())?;
    } else {
        print(&text(&what.plan()?))?;
    }
    Ok(RunEnd::Done)
}

/// What is planned.
struct What {
    /// A position, in FEN; else targets.
    position: Option<String>,
    targets: Vec<Target>,
    options: Options,
}

impl What {
    fn of(args: &PlanArgs) -> anyhow::Result<What> {
        let controls = args.what.iter().filter(|what| is_control_file(what)).count();
        if controls > 0 {
            if controls < args.what.len() {
                return Err(Misuse("control files are planned alone".to_owned()).into());
            }
            if args.jobs.parts == Some(0) {
                let text = "--parts=N says in how many parts the pawn structures of control files are made";
                return Err(Misuse(text.to_owned()).into());
            }
            expect_no_format(args.jobs.format, args.jobs.streams, Formatless::ControlFiles)?;
            let options = args.work.options(args.folder.given().map(Path::to_owned))?;
            let targets = args.what.iter().map(|file| Target::ControlFile(file.into())).collect();
            let options = options.read_with(args.foreign.options()?);
            return Ok(What { position: None, targets, options });
        }
        expect_no_foreign(&args.foreign)?;
        let options = args.work.options(Some(args.folder.path()?))?;
        if names_position(&args.what) {
            expect_no_parts(args)?;
            expect_no_format(args.jobs.format, args.jobs.streams, Formatless::Position)?;
            return Ok(What { position: Some(args.what.join(" ")), targets: Vec::new(), options });
        }
        if args.jobs.parts.is_some() {
            expect_fast(args.jobs.streams)?;
        }
        let options = contained(options, args.jobs.format, args.jobs.streams, &args.work)?;
        let targets = match args.men {
            Some(men) => vec![Target::Men(men)],
            None => endings(&args.what)?,
        };
        Ok(What { position: None, targets, options })
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        Ok(match &self.position {
            Some(fen) => hoffman::plan_position(fen.as_str(), &self.options)?,
            None => hoffman::plan(&self.targets, &self.options)?,
        })
    }

    /// The jobs, with what their command lines have in common.
    fn jobs(&self, args: &PlanArgs) -> anyhow::Result<Vec<Job>> {
        jobs::jobs(&self.graph(args)?, &self.common(args)?)
    }

    fn graph(&self, args: &PlanArgs) -> anyhow::Result<JobGraph> {
        let most = args.jobs.jobs.unwrap_or_else(rayon::current_num_threads);
        let options = self.options.clone().threads(most.min(rayon::current_num_threads()));
        let options =
            match available_memory().filter(|_| args.jobs.run && args.work.memory.is_none()) {
                Some(bytes) => options.memory(bytes),
                None => options,
            };
        Ok(match &self.position {
            Some(fen) => hoffman::jobs_of_position(fen.as_str(), &options)?,
            None => match args.jobs.parts {
                Some(processes) => {
                    let processes = NonZeroUsize::new(processes);
                    hoffman::jobs_in_parts(&self.targets, processes, &options)?
                }
                None => hoffman::jobs(&self.targets, &options)?,
            },
        })
    }

    fn common(&self, args: &PlanArgs) -> anyhow::Result<Common> {
        let is_of_controls = self.targets.iter().any(|t| matches!(t, Target::ControlFile(_)));
        let folder = match args.folder.given() {
            Some(folder) => Some(folder.to_owned()),
            None if is_of_controls => None,
            None => Some(args.folder.path()?),
        };
        let mut common = Common { verify: args.jobs.verify, ..Common::default() };
        if let Some(folder) = folder {
            common.places.extend(["--dir".to_owned(), folder.display().to_string()]);
        }
        common.foreign.extend(args.foreign.repeated());
        if let Some(format) = args.jobs.format {
            common.format.extend(format.repeated());
        }
        common.format.extend(args.jobs.streams.repeated());
        common.making.extend(args.work.repeated());
        Ok(common)
    }
}

/// Refuses to make in parts what is a position.
fn expect_no_parts(args: &PlanArgs) -> anyhow::Result<()> {
    if args.jobs.parts.is_none() {
        return Ok(());
    }
    Err(Misuse("--parts is for endings, such as KRPvKR, and for control files".to_owned()).into())
}

/// A number of bytes for readers.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KB", bytes.div_ceil(1 << 10)),
        1_048_576..10_737_418_240 => format!("{} MB", bytes.div_ceil(1 << 20)),
        _ => format!("{} GB", bytes.div_ceil(1 << 30)),
    }
}

/// A time for readers.
fn time(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.1} s"),
        120.0..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

fn text(plan: &Plan) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };

    for table in &plan.tables {
        let from = match table.needs.as_slice() {
            [] => String::new(),
            needs => format!(", from {}", needs.join(" ")),
        };
        if table.kept {
            line(format!("{}: is there", table.table));
        } else {
            line(format!(
                "{}: {} indices, {} slices, {} of processor time, {} (at most {}){from}",
                table.table,
                table.indices,
                table.slices,
                time(table.seconds),
                bytes(table.bytes_typically),
                bytes(table.bytes_at_most),
            ));
        }
    }

    line(format!(
        "memory: {} if nothing goes to the disk, at least {}",
        bytes(plan.memory),
        bytes(plan.least_memory)
    ));
    if plan.from_disk {
        line(format!(
            "works from the disk in {}, with {} of working files",
            bytes(plan.used_memory),
            bytes(plan.working_disk)
        ));
    }

    if plan.checkpoint > 0 {
        line(format!("checkpoint while it works: at most {}", bytes(plan.checkpoint)));
    }
    line(format!("files: {} (at most {})", bytes(plan.bytes_typically), bytes(plan.bytes_at_most)));
    line(format!(
        "time: about {}, {} of processor time",
        time(plan.elapsed_seconds),
        time(plan.seconds)
    ));
    out
}
