//! What work would take, before it is done.

use std::fmt;
use std::path::Path;

use hoffman_board::{Color, Material, Role, Variant};
use hoffman_plan::{
    EndingJob, Extent, Graph, all_endings, complete, extent, reachable, with_parts,
};
use hoffman_probe::position::Position;
use hoffman_reader::AsPosition;
use hoffman_run::{RunPlan, Silent, available_memory, plan_controls, plan_endings};
use serde_json::json;

use crate::build::Target;
use crate::error::Error;
use crate::options::Options;

/// What it would take to build endings with all that they depend on, or the tables of control
/// files: time, memory, disk, table by table. These two are planned apart.
///
/// # Errors
/// Endings and control files together; a control file is wrong; a table that is there cannot be
/// read; an ending that no machine holds.
pub fn plan(targets: &[Target], options: &Options) -> Result<RunPlan, Error> {
    let files: Vec<&Path> = targets.iter().filter_map(Target::control_file).collect();
    if files.is_empty() {
        return plan_graph(&graph_of_targets(targets, options)?, options);
    }
    if files.len() < targets.len() {
        return Err(Error::MixedTargets);
    }
    let run = options.run(&Silent);
    options.install(|| Ok(plan_controls(&files, options.given_folder(), &run)?))
}

/// The same for all that [`crate::solve`] would need of a position, which is only what its pawns
/// can reach.
///
/// # Errors
/// The position is none that tables hold; a table that is there cannot be read. [`Error::Vast`]:
/// no machine holds all of it.
pub fn plan_position(position: impl AsPosition, options: &Options) -> Result<RunPlan, Error> {
    let position = position.as_position(Variant::Normal)?;
    plan_graph(&graph_of_position(&position, options)?, options)
}

fn plan_graph(graph: &Graph<EndingJob>, options: &Options) -> Result<RunPlan, Error> {
    options.install(|| Ok(plan_endings(graph, options.folder(), &options.workplace())?))
}

/// The endings that targets name, with all that they depend on. One that cannot fit is refused
/// before it is planned, for even the plan of a very large one would not fit.
pub(crate) fn graph_of_targets(
    targets: &[Target],
    options: &Options,
) -> Result<Graph<EndingJob>, Error> {
    Ok(graph_of_jobs(&complete(endings_of(targets)?), options))
}

/// The same, with the largest endings in parts.
pub(crate) fn graph_in_parts(
    targets: &[Target],
    options: &Options,
) -> Result<Graph<EndingJob>, Error> {
    let endings = endings_of(targets)?;
    let largest = endings.iter().map(Material::men).max().unwrap_or(0);
    Ok(graph_of_jobs(&with_parts(complete(endings), largest), options))
}

/// The graph of jobs, each after those that it needs, with the files that they make.
pub(crate) fn graph_of_jobs(jobs: &[EndingJob], options: &Options) -> Graph<EndingJob> {
    let mut graph = Graph::of_endings(jobs, options.folder());
    graph.nodes.iter_mut().for_each(|node| options.named(&mut node.output));
    graph
}

/// The endings that targets name.
fn endings_of(targets: &[Target]) -> Result<Vec<Material>, Error> {
    let mut endings = Vec::new();
    for target in targets {
        match target {
            Target::Ending(ending) => {
                check_fits(ending)?;
                endings.push(*ending);
            }
            Target::Men(men) => {
                // One stands for the others of its size.
                let queens = hoffman_board::material::NAMING_ORDER[0];
                let with = |ending: Material, _| ending.with(Color::White, queens);
                check_fits(&(2..*men).fold(Material::bare_kings(), with))?;
                endings.extend(all_endings(usize::from(*men)));
            }
            Target::ControlFile(_) => {}
        }
    }
    Ok(endings)
}

/// The tables that a position needs.
pub(crate) fn graph_of_position(
    position: &Position,
    options: &Options,
) -> Result<Graph<EndingJob>, Error> {
    let whole = Whole::behind(position);
    if whole.is_too_large() {
        return Err(Error::Vast(Box::new(whole)));
    }
    let jobs = reachable(&position.material(), &pawns_of(position));
    Ok(Graph::of_endings(&jobs, options.folder()))
}

/// The pawns of a position, each with its square.
fn pawns_of(position: &Position) -> Vec<(Color, u64)> {
    let pawns = position.men().filter(|&(_, _, role)| role == Role::Pawn);
    pawns.map(|(square, color, _)| (color, 1_u64 << square as u32)).collect()
}

/// How many positions are more than can be worked on here: what does not fit into memory goes to
/// the disk, but not without end.
fn bearable() -> u64 {
    available_memory().unwrap_or(16 << 30).saturating_mul(64)
}

/// With or without pawns, an ending leads to one of as many men without pawns.
fn check_fits(ending: &Material) -> Result<(), Error> {
    let others = ending.men().saturating_sub(2);
    let shift = u32::try_from(6 * others).unwrap_or(u32::MAX);
    let needed = (2 * 462_u128).checked_shl(shift).unwrap_or(u128::MAX);
    let bearable = bearable();
    if needed <= u128::from(bearable) {
        return Ok(());
    }
    let needed = u64::try_from(needed >> 20).unwrap_or(u64::MAX);
    Err(hoffman_run::RunError::Memory { ending: *ending, needed, available: bearable >> 20 }.into())
}

/// How large everything behind a position is, with and without promotions.
#[derive(Clone, Debug)]
pub struct Whole {
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

    fn is_too_large(&self) -> bool {
        !self.all.complete || self.all.positions > bearable() as f64
    }

    /// Why it is not solved, in one sentence.
    pub(crate) fn refusal(&self) -> String {
        format!(
            "{} leads to {}, which neither memory nor disk can hold; 'hoffman plan' says what makes it smaller",
            self.fen,
            words(&self.all)
        )
    }

    /// The same as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "fen": self.fen,
            "too_large": true,
            "all": extent_json(&self.all),
            "without_promotions": extent_json(&self.race),
        })
    }
}

fn extent_json(extent: &Extent) -> serde_json::Value {
    json!({
        "endings": extent.endings,
        "complete": extent.complete,
        "positions": extent.positions,
        "largest": extent.largest.0.stem(),
        "largest_positions": extent.largest.1,
    })
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
