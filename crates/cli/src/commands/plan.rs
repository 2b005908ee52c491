//! What a run would cost.

use std::fmt;
use std::path::Path;

use hoffman_board::{Color, Material, Role, Variant};
use hoffman_plan::{Extent, all_endings, complete, extent, reachable};
use hoffman_probe::fen::read_position;
use hoffman_probe::position::Position;
use hoffman_run::{
    ControlBuildOptions, RunPlan, Silent, available_memory, plan_build, plan_controls,
};
use serde_json::json;

use crate::Outcome;
use crate::args::{PlanArgs, is_control_file};
use crate::commands::build::check_all;
use crate::output::{Misuse, command_line, print, print_line};

/// Plans without doing.
pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<Outcome> {
    if args.what.first().is_some_and(|what| what.contains('/')) {
        let position = read_position(&args.what.join(" "), Variant::Normal)?;
        let whole = Whole::behind(&position);
        if whole.is_too_large() {
            let json = || whole.to_json().to_string() + "\n";
            print(&if args.json { json() } else { whole.to_string() })?;
            return Ok(Outcome::Done);
        }
    }
    let plan = plan(args)?;
    if args.json {
        print_line(&serde_json::to_string(&plan)?)?;
    } else {
        print(&text(&plan))?;
    }
    Ok(Outcome::Done)
}

fn plan(args: &PlanArgs) -> anyhow::Result<RunPlan> {
    let workplace = args.work.workplace()?;
    let controls = args.what.iter().filter(|what| is_control_file(what)).count();
    if controls > 0 {
        if controls < args.what.len() {
            return Err(Misuse("control files are planned alone".to_owned()).into());
        }
        let files: Vec<&Path> = args.what.iter().map(Path::new).collect();
        let options = ControlBuildOptions {
            dir: args.folder.given().map(Path::to_owned),
            args: command_line(),
            foreign: args.foreign.options(),
            progress: &Silent,
            workplace,
        };
        return Ok(plan_controls(&files, &options)?);
    }
    let jobs = if let Some(men) = args.men {
        check_all(men)?;
        complete(all_endings(usize::from(men)))
    } else if args.what.first().is_some_and(|what| what.contains('/')) {
        let position = read_position(&args.what.join(" "), Variant::Normal)?;
        reachable(&position.material(), &pawns_of(&position))
    } else {
        let materials = args.what.iter().map(|name| Ok(name.parse::<Material>()?));
        complete(materials.collect::<anyhow::Result<Vec<_>>>()?)
    };
    Ok(plan_build(&jobs, &args.folder.path()?, &workplace)?)
}

/// The pawns of a position, each with its square.
pub(crate) fn pawns_of(position: &Position) -> Vec<(Color, u64)> {
    let pawns = position.men().filter(|&(_, _, role)| role == Role::Pawn);
    pawns.map(|(square, color, _)| (color, 1_u64 << square as u32)).collect()
}

/// How large everything behind a position is, with and without promotions.
pub(crate) struct Whole {
    fen: String,
    all: Extent,
    race: Extent,
}

impl Whole {
    /// Counts it, in about a second at most.
    pub(crate) fn behind(position: &Position) -> Whole {
        let (material, pawns) = (position.material(), pawns_of(position));
        let [all, race] = [true, false].map(|promotions| extent(&material, &pawns, promotions));
        Whole { fen: position.fen(), all, race }
    }

    /// Whether no way of working gets through it here: what does not fit into memory goes to the disk, but not
    /// without end.
    pub(crate) fn is_too_large(&self) -> bool {
        let available = available_memory().unwrap_or(16 << 30) as f64 * 64.0;
        !self.all.complete || self.all.positions > available
    }

    /// Why it is not solved, in one sentence.
    pub(crate) fn refusal(&self) -> String {
        format!(
            "{} leads to {}, which neither memory nor disk can hold; 'hoffman plan' says what makes it smaller",
            self.fen,
            words(&self.all)
        )
    }

    fn to_json(&self) -> serde_json::Value {
        let of = |extent: &Extent| {
            json!({
                "endings": extent.endings,
                "complete": extent.complete,
                "positions": extent.positions,
                "largest": extent.largest.0.stem(),
                "largest_positions": extent.largest.1,
            })
        };
        json!({
            "fen": self.fen,
            "too_large": true,
            "all": of(&self.all),
            "without_promotions": of(&self.race),
        })
    }
}

impl fmt::Display for Whole {
    /// A few lines with the size, and what would make it smaller.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: too large to be solved as a whole", self.fen)?;
        writeln!(f, "behind it: {}", words(&self.all))?;
        writeln!(f, "without promotions: {}", words(&self.race))?;
        writeln!(
            f,
            "What makes it smaller, in a control file (docs/control-files.md, 10 and 11):"
        )?;
        writeln!(
            f,
            "  pawngen for the pawns, with promotions conceded or discarded (move=\"P=?\");"
        )?;
        writeln!(f, "  location for men that stay where they are or on few squares;")?;
        writeln!(
            f,
            "  captures that are conceded or discarded, or answered by a table of fewer men."
        )
    }
}

/// A size for readers.
fn words(extent: &Extent) -> String {
    let more = if extent.complete { "" } else { "more than " };
    let (largest, positions) = extent.largest;
    format!(
        "{more}{} endings with {more}{:.0e} positions, the largest {largest} with {positions:.0e}",
        extent.endings, extent.positions
    )
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

fn text(plan: &RunPlan) -> String {
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
