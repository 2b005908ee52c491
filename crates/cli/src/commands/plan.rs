//! What a run would cost.

use std::path::Path;

use hoffman::{Error, Plan, Target};

use crate::Outcome;
use crate::args::{PlanArgs, is_control_file};
use crate::commands::build::endings;
use crate::output::{Misuse, print, print_line};

/// Plans without doing.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<Outcome> {
    let plan = match plan(args) {
        Err(error) => match error.downcast::<Error>() {
            // How large it is, is the answer.
            Ok(Error::Vast(whole)) => {
                let json = || whole.to_json().to_string() + "\n";
                print(&if args.json { json() } else { whole.to_string() })?;
                return Ok(Outcome::Done);
            }
            Ok(error) => return Err(error.into()),
            Err(error) => return Err(error),
        },
        Ok(plan) => plan,
    };
    if args.json {
        print_line(&serde_json::to_string(&plan)?)?;
    } else {
        print(&text(&plan))?;
    }
    Ok(Outcome::Done)
}

fn plan(args: &PlanArgs) -> anyhow::Result<Plan> {
    let controls = args.what.iter().filter(|what| is_control_file(what)).count();
    if controls > 0 {
        if controls < args.what.len() {
            return Err(Misuse("control files are planned alone".to_owned()).into());
        }
        let options = args.work.options(args.folder.given().map(Path::to_owned))?;
        let files: Vec<Target> =
            args.what.iter().map(|file| Target::ControlFile(file.into())).collect();
        return Ok(hoffman::plan(&files, &options.read_with(args.foreign.options()))?);
    }
    let options = args.work.options(Some(args.folder.path()?))?;
    if args.what.first().is_some_and(|what| what.contains('/')) {
        return Ok(hoffman::plan_position(args.what.join(" "), &options)?);
    }
    let targets = match args.men {
        Some(men) => vec![Target::Men(men)],
        None => endings(&args.what)?,
    };
    Ok(hoffman::plan(&targets, &options)?)
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
