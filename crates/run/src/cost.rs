//! What tables cost: time, memory, disk; and the refusal of what there is no room for.
//!
//! The figures are estimates from what other tables have cost per position and per index; the
//! constants say where they come from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use hoffman_board::{Format, Material};
use hoffman_control::ControlFile;
use hoffman_plan::{EndingJob, Graph, Node, Resources};
use hoffman_solve::{BlockShare, Method};
use hoffman_space::{Layout, TableValues};
use hoffman_store::folder_of;
use hoffman_table::blocks::{CellStreams, Content, Profile, has_cells, has_suffix};
use hoffman_table::rows::Wanted;
use serde::Serialize;

use crate::ending::control_of_job;
use crate::error::RunError;
use crate::futurebases::{OpenFuturebase, behind_of};
use crate::memory::free_disk;
use crate::numbering::Numbering;
use crate::progress::Silent;
use crate::room::{OWN, bounded_budget, least_memory};
use crate::values::{is_quickly_solved, want, wanted_by, wanted_of_job};
use crate::workplace::Workplace;

/// From how many bytes of values on it is worth looking whether the disk has room for all files.
pub(crate) const LASTING: u64 = 1 << 30;

/// Nanoseconds to solve a position, on the machine that solves [`MEASURE`] in [`MEASURED`] seconds.
/// Measured over five-man endings (`docs/performance.md`).
const SOLVING: f64 = 6.0;
/// Nanoseconds to number, pack and compress an entry, on the same machine.
const WRITING: f64 = 9.0;
/// How many positions are worth a thread of their own: two seconds of work.
const WORTH_A_THREAD: u64 = 1 << 28;
/// How much longer it takes from the disk. Measured: 2.3 for KRPvKR in 64 MB, 3.0 for six men and a
/// slice in 1 GB.
const FROM_DISK: f64 = 2.5;
/// The same with propagation tables. Measured: 14 for KRRvKR, five times as long as by sweeps for
/// KQQvKQQ in 1 GB.
const WITH_PROPTABLES: f64 = 18.0;

/// What the process takes beside what is reckoned: models of a file, threads, freed memory that the
/// allocator keeps.
pub(crate) const BESIDE: u64 = 256 << 20;

/// The share of the memory needed that endings without pawns take, typically: little where almost
/// all is drawn. Measured over five-man endings: from 0.5 to 1, with pawns about 1.
const USED: f64 = 0.72;

/// Bytes of a compressed file per entry, typically. Measured over five-man endings: from 0.1 to
/// 0.6.
const TYPICAL: f64 = 0.45;
/// The same without distances. Measured over endings of three and four men: 0.04.
const TYPICAL_OUTCOMES: f64 = 0.06;

/// What a file of cells takes for each entry of the index: bytes, typically and at most, and
/// nanoseconds besides solving.
#[derive(Clone, Copy)]
struct CellCost {
    typically: f64,
    at_most: f64,
    nanoseconds: f64,
}

/// Measured over endings of three and four men: from 0.0015 to 0.3 bytes.
const FAST_CELLS: CellCost = CellCost { typically: 0.15, at_most: 0.45, nanoseconds: 60.0 };
/// Measured over endings of three to five men: from 0.0002 to 0.16 bytes.
const SMALL_CELLS: CellCost = CellCost { typically: 0.05, at_most: 0.22, nanoseconds: 20.0 };
const SMALLEST_CELLS: CellCost = CellCost { typically: 0.045, at_most: 0.2, nanoseconds: 100.0 };
/// Those of outcomes alone, measured over endings of three and four men: 0.016 bytes, 0.047 at
/// most; and small ones, of three to five men, 0.0023, 0.012 at most.
const FAST_OUTCOMES: CellCost = CellCost { typically: 0.016, at_most: 0.075, nanoseconds: 30.0 };
const SMALL_OUTCOMES: CellCost = CellCost { typically: 0.0035, at_most: 0.035, nanoseconds: 15.0 };
const SMALLEST_OUTCOMES: CellCost = CellCost { typically: 0.003, at_most: 0.03, nanoseconds: 60.0 };
/// Both sides, leaning on smaller tables.
const PAIRED_CELLS: CellCost = CellCost { typically: 0.1, at_most: 0.4, nanoseconds: 180.0 };
const PAIRED_OUTCOMES: CellCost = CellCost { typically: 0.007, at_most: 0.05, nanoseconds: 90.0 };
/// Outcomes apart take up to a third of what distances do.
const WITH_OUTCOMES: f64 = 1.33;

/// What one table would cost.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedTable {
    /// The file.
    pub table: String,
    /// Whether it is there already.
    pub kept: bool,
    /// The size of its index space.
    pub indices: u64,
    /// The slices that are solved for it.
    pub slices: u64,
    /// The files that it is made from.
    pub needs: Vec<String>,
    /// Processor seconds.
    pub seconds: f64,
    /// The file's size in bytes, at most.
    pub bytes_at_most: u64,
    /// The file's size in bytes, typically.
    pub bytes_typically: u64,
}

/// What a run would cost.
#[derive(Clone, Debug, Serialize)]
pub struct RunPlan {
    /// The tables in the order of work.
    pub tables: Vec<PlannedTable>,
    /// The memory that it takes if nothing goes to the disk, in bytes.
    pub memory: u64,
    /// The least memory that it can be done in, in bytes.
    pub least_memory: u64,
    /// The memory that it would take here, typically, in bytes.
    pub used_memory: u64,
    /// Whether it would work from the disk.
    pub from_disk: bool,
    /// Bytes of working files at most at one time.
    pub working_disk: u64,
    /// Bytes of the largest checkpoint, at most; 0 if no table takes so long.
    pub checkpoint: u64,
    /// What the disk has free, in bytes, if the system says so.
    pub free_disk: Option<u64>,
    /// All files together, at most.
    pub bytes_at_most: u64,
    /// All files together, typically.
    pub bytes_typically: u64,
    /// Processor seconds.
    pub seconds: f64,
    /// Seconds by the clock with the threads there are.
    pub elapsed_seconds: f64,
}

/// A table with what it takes.
#[derive(Clone)]
pub(crate) struct Cost {
    pub(crate) table: PlannedTable,
    pub(crate) resources: Resources,
    /// Bytes of the values behind its moves.
    pub(crate) behind: u64,
    /// Bytes of memory if nothing goes to the disk.
    pub(crate) needed: u64,
    /// Bytes of memory that writing takes beside the values, see [`CellStreams::memory`].
    writing: u64,
    /// Whether no distances are stored.
    outcomes: bool,
}

impl Cost {
    /// What a table takes that is not there, with no figures for what is behind its moves.
    fn new(name: String, resources: Resources, indices: u64, kind: (Format, usize)) -> Cost {
        let typically = if kind.0.has_distance() { TYPICAL } else { TYPICAL_OUTCOMES };
        let table = PlannedTable {
            table: name,
            kept: false,
            indices,
            slices: resources.slices,
            needs: Vec::new(),
            seconds: (resources.values() as f64 * SOLVING + indices as f64 * WRITING) / 1e9,
            bytes_at_most: bytes_at_most(indices, kind),
            bytes_typically: (indices as f64 * typically) as u64 + (1 << 10),
        };
        let outcomes = !kind.0.has_distance();
        Cost { table, resources, behind: 0, needed: 0, writing: 0, outcomes }
    }

    /// The file holds the cells of a complete ending of so many men.
    fn keep_in_cells(&mut self, men: usize, streams: CellStreams) {
        self.writing = streams.memory(men, self.resources.values() / 2);
        let CellStreams { profile, content } = streams;
        let cost = match (profile, content) {
            (Profile::Fast, Content::Outcomes) => FAST_OUTCOMES,
            (Profile::Small, Content::Outcomes) => SMALL_OUTCOMES,
            (Profile::Smallest, Content::Outcomes) => SMALLEST_OUTCOMES,
            (Profile::Paired, Content::Outcomes) => PAIRED_OUTCOMES,
            (Profile::Fast, _) => FAST_CELLS,
            (Profile::Small, _) => SMALL_CELLS,
            (Profile::Smallest, _) => SMALLEST_CELLS,
            (Profile::Paired, _) => PAIRED_CELLS,
        };
        let all = if content == Content::Both { WITH_OUTCOMES } else { 1.0 };
        let indices = self.table.indices as f64 * all;
        let solving = self.resources.values() as f64 * SOLVING;
        self.table.seconds = (solving + indices * cost.nanoseconds) / 1e9;
        self.table.bytes_typically = (indices * cost.typically) as u64 + (4 << 10);
        self.table.bytes_at_most = (indices * cost.at_most) as u64 + (64 << 10);
    }

    /// The least memory in bytes that the table can be made in.
    fn least_memory(&self, threads: usize) -> u64 {
        least_memory(&self.resources.layout, threads) + self.writing
    }

    /// Takes solving out of it: the values are read from tables of parts.
    pub(crate) fn leave_out_solving(&mut self) {
        self.table.seconds = 2.0 * self.table.indices as f64 * WRITING / 1e9;
        self.behind = 0;
    }

    /// What is left of it if the table is there.
    pub(crate) fn kept(mut self) -> Cost {
        (self.table.kept, self.table.seconds) = (true, 0.0);
        self
    }

    /// Bytes of working files beyond what `pages` bytes of memory hold: for the slice being solved
    /// planes (three a side, an eighth of a byte each), events and logs (three and four bits, see
    /// [`Resources::working`]); the values of all slices, and the numbers of all entries, twice
    /// while they are turned; what is behind. A fifth more is lost between pages, measured for
    /// KQQvKQQ in 1 GB. Outcomes are two bits each, but for the slice in hand, and are not turned.
    fn working_disk(&self, pages: u64) -> u64 {
        let slice = self.resources.slice();
        let values = if self.outcomes {
            slice.saturating_add(self.resources.values() / 4)
        } else {
            self.resources.values().saturating_add(2 * self.table.indices)
        };
        let all = (slice / 8 * (3 + 3 + 4)).saturating_add(values);
        (all / 5).saturating_mul(6).saturating_sub(pages).saturating_add(self.behind)
    }

    /// Bytes of a checkpoint, at most: the values of the slices that are solved, and the logs of
    /// another one.
    fn checkpoint(&self) -> u64 {
        let Resources { slices, .. } = self.resources;
        let slice = self.resources.slice();
        slice.saturating_mul(slices.saturating_sub(1)).saturating_add(slice / 2)
    }
}

/// What a job takes that is run alone: its inputs are read from files, and a file is written.
#[derive(Clone, Copy, Debug)]
pub struct JobCost {
    /// Bytes of memory; as much as it is bounded to, if it is.
    pub memory: u64,
    /// Whether it works from the disk because more would be needed.
    pub from_disk: bool,
    /// The threads that it is worth.
    pub threads: usize,
    /// Processor seconds.
    pub seconds: f64,
    /// Bytes on the disk at most: the file, and what it needs beside it while it works.
    pub disk: u64,
}

impl JobCost {
    /// What a table takes for which `needed` bytes of memory are enough, on at most the threads
    /// there are, in the memory that the workplace allows.
    pub(crate) fn new(cost: &Cost, needed: u64, workplace: &Workplace, slowness: f64) -> JobCost {
        let worth = cost.resources.values().div_ceil(WORTH_A_THREAD);
        let threads = usize::try_from(worth).unwrap_or(usize::MAX);
        let threads = threads.clamp(1, rayon::current_num_threads());
        let least = cost.least_memory(threads);
        let bound = workplace.memory.map(|memory| memory.bytes.max(least));
        let bound = bound.filter(|&bound| bound < needed);

        let longer = match workplace.method {
            _ if bound.is_none() => 1.0,
            Method::Sweep => FROM_DISK,
            Method::PropTables { .. } => WITH_PROPTABLES,
        };
        let working = if bound.is_some() { cost.working_disk(0) } else { 0 };
        JobCost {
            memory: bound.unwrap_or(needed).div_ceil(1 << 20) << 20,
            from_disk: bound.is_some(),
            threads,
            seconds: cost.table.seconds * slowness * longer,
            disk: cost.table.bytes_at_most.saturating_add(working).max(cost.checkpoint()),
        }
    }
}

/// The bytes of a file: entries of the widest kind that tables of a format and so many men have
/// needed, as deflate stores what it cannot compress, the index of blocks, and the header.
fn bytes_at_most(indices: u64, (format, men): (Format, usize)) -> u64 {
    let bits = match (format, men) {
        (Format::Flag(_), _) => 1,
        (Format::Basic, _) => 2,
        (_, 0..=4) => 8,
        (_, 5) => 9,
        (_, 6) => 11,
        _ => 16,
    };
    let entries = indices.div_ceil(8) * bits;
    entries + entries / 1000 + 64 * (entries >> 18) + (64 << 10)
}

/// The memory that endings need if nothing goes to the disk, in bytes. Without files everything
/// that a later one needs stays in memory. Endings of five men took 0.57 to 1.36 times the sum of
/// these things; a fifth is added, since what does not fit ends badly.
pub(crate) fn memory_of_endings(
    graph: &Graph<EndingJob>,
    todo: &[usize],
    (write, format): (bool, Format),
) -> u64 {
    let mut worst = 0;
    let mut wanted = HashMap::new();
    for (number, &at) in todo.iter().enumerate().rev() {
        if write {
            wanted.clear();
        }
        want(&mut wanted, &graph.nodes[at].source);
        let kept = todo[..number].iter();
        let kept: u64 = kept.map(|&at| values_wanted(graph, at, &wanted, format)).sum();
        worst = worst.max(memory_of_ending(graph, at, (write, format)) + kept);
    }
    worst / 5 * 6
}

/// The memory that an ending needs in the same way beside the values of those behind it.
fn memory_of_ending(graph: &Graph<EndingJob>, at: usize, (write, format): (bool, Format)) -> u64 {
    let values = values_of_ending(graph, at, format);
    let node = &graph.nodes[at];
    // Entries are made beside the values.
    let entries = if write && !is_in_cells(node) { values / 2 } else { 0 };
    let resources = node.resources.as_ref();
    let count = node.source.material.count;
    // Where captures en passant need them, the values of a slice are whole before they are packed.
    let whole = !format.has_distance() && count.white.pawn > 0 && count.black.pawn > 0;
    let slice = resources.filter(|_| whole).map_or(0, Resources::slice);
    values + entries + slice + resources.map_or(0, Resources::working)
}

/// Whether the file of a node has cells.
fn is_in_cells(node: &Node<EndingJob>) -> bool {
    let job = &node.source;
    has_suffix(&node.output) && job.part.is_none() && job.material.men() > 2
}

/// What those values of an ending take that others want.
fn values_wanted(
    graph: &Graph<EndingJob>,
    at: usize,
    wanted: &HashMap<Material, Wanted>,
    format: Format,
) -> u64 {
    let all = values_of_ending(graph, at, format);
    let material = &graph.nodes[at].source.material;
    match wanted.get(material) {
        None => 0,
        Some(wanted) if format.has_distance() => {
            let (some, of) = wanted.share(material);
            (u128::from(all) * u128::from(some) / u128::from(of.max(1))) as u64
        }
        Some(_) => all,
    }
}

/// What the values of an ending take: outcomes two bits each.
fn values_of_ending(graph: &Graph<EndingJob>, at: usize, format: Format) -> u64 {
    graph.nodes[at].positions() / if format.has_distance() { 1 } else { 4 }
}

/// The memory that endings need which are solved side by side and written, beside the values of
/// those behind them that are `held`.
pub(crate) fn memory_of_group(
    graph: &Graph<EndingJob>,
    group: &[usize],
    format: Format,
    held: impl Fn(&Material) -> bool,
) -> u64 {
    let own: u64 = group.iter().map(|&at| memory_of_ending(graph, at, (true, format))).sum();
    let wanted = wanted_by(graph, group);
    let behind = graph.needed_by(group).into_iter();
    let read = behind.filter(|&at| !held(&graph.nodes[at].source.material));
    (own + read.map(|at| values_wanted(graph, at, &wanted, format)).sum::<u64>()) / 5 * 6
}

/// The memory that an ending needs if all that it needs is read from files, in bytes.
pub(crate) fn memory_of_job(graph: &Graph<EndingJob>, at: usize, workplace: &Workplace) -> u64 {
    let inputs = memory_of_inputs(graph, at, workplace);
    let own = memory_of_endings(graph, &[at], (true, workplace.format()));
    let writing = writing_of_ending(graph, at, workplace);
    let needed = inputs.reading.max(inputs.values + writing) + own + OWN;
    // Who is given less than it takes is killed.
    needed / 6 * 7
}

/// Bytes of memory that the inputs of a node take.
struct InputMemory {
    /// While their values are brought into memory.
    reading: u64,
    /// Their values.
    values: u64,
}

/// What the inputs of a node take: of each the slices and sides that moves lead to, while they are
/// read the entries of the one in hand, and all that is behind those that are solved.
fn memory_of_inputs(graph: &Graph<EndingJob>, at: usize, workplace: &Workplace) -> InputMemory {
    let node = &graph.nodes[at];
    let (all_wanted, format) = (wanted_of_job(&node.source), workplace.format());
    // Whether the files lean on each other, as this one would.
    let lean = workplace.leans(&node.output);
    let is_solved = |&at: &usize| lean && is_quickly_solved(&graph.nodes[at].source.material);
    let values = |at: usize| {
        let needed = &graph.nodes[at];
        if is_solved(&at) {
            return needed.positions();
        }
        let wanted = all_wanted.get(&needed.source.material);
        let sides = wanted.map_or([true; 2], |w| w.sides);
        let structures = wanted.and_then(|w| w.structures.as_ref());
        if structures.is_none() && format.has_distance() {
            return values_wanted(graph, at, &all_wanted, format);
        }
        let side = match structures {
            // With their images: about half of them are slices.
            Some(structures) => {
                let layout = Layout::new(&needed.source.material);
                structures.len().div_ceil(2) as u64 * layout.len() as u64
            }
            None => needed.positions() / 2,
        };
        side * sides.into_iter().filter(|&side| side).count() as u64
    };
    // A part takes few of the values of a file, but it is unpacked as a whole; of a file that leans
    // the other side to move may be stored. Small ones may be read all the same.
    let packed = if lean || node.source.part.is_some() { 1 } else { 2 };
    let in_hand = node.needed().map(|at| graph.nodes[at].positions() / packed).max().unwrap_or(0);
    let solved: Vec<usize> = node.needed().filter(is_solved).collect();
    let behind = graph.all_behind(&solved).into_iter().filter(|at| !solved.contains(at));
    let behind = behind.map(|at| graph.nodes[at].positions());

    // Of outcomes two bits are kept.
    let share = if format.has_distance() { 1 } else { 4 };
    let values = node.needed().map(values).sum::<u64>() / share;
    InputMemory { reading: values + in_hand + behind.sum::<u64>() / share, values }
}

/// A workplace without its bound of memory, if that is so much larger than what some endings need
/// that nothing has to lie in pages. Plans were up to 1.37 times too low.
pub(crate) fn bounded_if_needed<'w>(
    graph: &Graph<EndingJob>,
    todo: &[usize],
    write: bool,
    workplace: &'w Workplace,
) -> Cow<'w, Workplace> {
    let bound = workplace.memory.filter(|memory| !memory.raise);
    let Some(bound) = bound.filter(|_| workplace.method == Method::Sweep) else {
        return Cow::Borrowed(workplace);
    };
    let together = memory_of_endings(graph, todo, (write, workplace.format()));
    let writing = todo.iter().map(|&at| writing_of_ending(graph, at, workplace));
    let is_read = |&&at: &&usize| graph.nodes[at].needed().any(|needed| !todo.contains(&needed));
    let from_files = todo.iter().filter(is_read).map(|&at| memory_of_job(graph, at, workplace));
    let needed = together + writing.max().unwrap_or(0) + OWN;
    let needed = needed.max(from_files.max().unwrap_or(0));
    if needed.saturating_add(BESIDE) > bound.bytes / 3 * 2 {
        return Cow::Borrowed(workplace);
    }
    Cow::Owned(Workplace { memory: None, ..workplace.clone() })
}

/// The memory that joining a table needs if nothing goes to the disk, in bytes: its values, and the
/// entries of the largest part or of the table itself.
pub(crate) fn memory_of_joining(values: u64, largest_part: u64) -> u64 {
    values.saturating_add((values / 2).max(largest_part)) / 5 * 6
}

/// The memory that the king pairs of one of several processes need if nothing goes to the disk, in
/// bytes: what they take in solving, the open positions and the newest frontiers of those around
/// them, and the values behind, the entries of one of them beside it.
pub(crate) fn memory_of_share(graph: &Graph<EndingJob>, at: usize, share: &BlockShare) -> u64 {
    let pair = graph.nodes[at].positions() / share.all() as u64;
    let own = pair * share.own_count() as u64 / 4 * 5;
    let around = pair * (share.seen_count() - share.own_count()) as u64 / 4;
    let behind = || graph.nodes[at].needed().map(|needed| graph.nodes[needed].positions());
    let largest = behind().max().unwrap_or(0);
    (own + around + behind().sum::<u64>() + largest / 2) / 5 * 6
}

/// The memory that is needed if nothing goes to the disk, in bytes, for the table of a
/// control file with so many indices.
pub(crate) fn memory_of_analysis(
    values: &TableValues,
    open: &[OpenFuturebase<'_>],
    indices: u64,
    outcomes: bool,
) -> u64 {
    let slice = 2 * values.layout.len() as u64;
    let own = slice.saturating_mul(values.slices.len() as u64);
    let sum = |terms: &[u64]| terms.iter().copied().fold(0, u64::saturating_add);
    let structures = behind_of(values);
    let bytes = |open: &OpenFuturebase<'_>| open.bytes((&values.material, &structures));
    let behind: Vec<u64> = open.iter().map(bytes).collect();
    // The entries of one are there while it is read.
    let entries = open.iter().map(OpenFuturebase::entries).max().unwrap_or(0);
    if outcomes {
        // Two bits a position, but for the slice and the futurebase in hand, and tables of other
        // programs.
        let packed = open.iter().zip(&behind);
        let packed = packed.map(|(open, bytes)| bytes / if open.is_own() { 4 } else { 1 });
        let packed = packed.fold(0, u64::saturating_add);
        let in_hand = behind.iter().copied().max().unwrap_or(0).saturating_add(entries);
        let solving = sum(&[own / 4, slice / 4, slice]);
        return packed.saturating_add(solving.max(sum(&[own / 4, indices / 4])).max(in_hand));
    }
    let working = (own / 2).max(indices).saturating_add(slice / 4).saturating_add(slice);
    sum(&[sum(&behind), sum(&[own, working]).max(entries)])
}

/// What each of some endings takes, and the plan of building those that are to be made.
pub(crate) fn plan_of_endings(
    graph: &Graph<EndingJob>,
    todo: &[usize],
    place: (&Workplace, &Path),
    slowness: f64,
) -> Result<RunPlan, RunError> {
    let mut costs = Vec::new();
    for at in 0..graph.nodes.len() {
        let Some(cost) = cost_of_ending(graph, at, place.0)? else { continue };
        costs.push(if todo.contains(&at) { cost } else { cost.kept() });
    }
    let needed = memory_of_endings(graph, todo, (true, place.0.format())) + OWN;
    let with_pawns = todo.iter().any(|&at| graph.nodes[at].source.material.has_pawns());
    let typical = if with_pawns { needed } else { (needed as f64 * USED) as u64 };
    let bounded = bounded_if_needed(graph, todo, true, place.0);
    sum(costs, [needed, typical], (&bounded, place.1), slowness)
}

/// How the file of a node keeps the values of its ending, if it has them in cells.
fn streams_of_ending(
    graph: &Graph<EndingJob>,
    at: usize,
    workplace: &Workplace,
) -> Option<CellStreams> {
    let node = &graph.nodes[at];
    // What is joined has both sides.
    let streams = workplace.streams;
    let profile = if graph.is_joined(node) { Profile::Fast } else { streams.profile };
    is_in_cells(node).then_some(CellStreams { profile, ..streams })
}

/// Bytes of memory that writing the table of a node takes beside its values.
pub(crate) fn writing_of_ending(graph: &Graph<EndingJob>, at: usize, workplace: &Workplace) -> u64 {
    let node = &graph.nodes[at];
    let streams = streams_of_ending(graph, at, workplace);
    streams.map_or(0, |streams| streams.memory(node.source.material.men(), node.positions() / 2))
}

/// Bytes of memory that writing the table of a control file takes beside its values.
pub(crate) fn writing_of_analysis(
    control: &ControlFile,
    numbering: &Numbering,
    values: &TableValues,
    output: &Path,
) -> u64 {
    let format = control.entry_format();
    if !has_suffix(output) || !has_cells(control, &numbering.space, format) {
        return 0;
    }
    let streams = CellStreams { profile: Profile::Fast, ..CellStreams::default() };
    let positions = values.layout.len() as u64 * values.slices.len() as u64;
    streams.memory(numbering.pieces().len(), positions)
}

/// What the table of a node takes, if anything is known of its size.
pub(crate) fn cost_of_ending(
    graph: &Graph<EndingJob>,
    at: usize,
    workplace: &Workplace,
) -> Result<Option<Cost>, RunError> {
    let node = &graph.nodes[at];
    let (job, Some(resources)) = (&node.source, node.resources.clone()) else { return Ok(None) };
    let numbering = Numbering::of(&control_of_job(job, workplace.format())?, &workplace.stop)?;
    let name = |at: usize| {
        let name = graph.nodes[at].output.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let men = job.material.men();
    let kind = (workplace.format(), men);
    let mut cost = Cost::new(name(at), resources, numbering.space.size(), kind);
    if let Some(streams) = streams_of_ending(graph, at, workplace) {
        cost.keep_in_cells(men, streams);
    }
    cost.table.needs = node.needed().map(name).collect();
    // Values of other tables of the run that are needed here lie in working files, too.
    let format = workplace.format();
    cost.behind = node.needed().map(|needed| values_of_ending(graph, needed, format)).sum();
    Ok(Some(cost))
}

/// What the table of a control file takes whose futurebases are open.
pub(crate) fn cost_of_analysis(
    control: &ControlFile,
    numbering: &Numbering,
    open: &[OpenFuturebase<'_>],
    values: &TableValues,
    output: &Path,
) -> Cost {
    let (indices, men) = (numbering.space.size(), numbering.pieces().len());
    let resources = Resources { layout: values.layout.clone(), slices: values.slices.len() as u64 };
    let kind = (control.entry_format(), men);
    let mut cost = Cost::new(output.display().to_string(), resources, indices, kind);
    // A table may be behind several kinds of moves.
    for open in open {
        let name = open.path().display().to_string();
        if !cost.table.needs.contains(&name) {
            cost.table.needs.push(name);
        }
    }
    let behind = behind_of(values);
    let bytes = open.iter().map(|open| open.bytes((&values.material, &behind)));
    cost.behind = bytes.fold(0, u64::saturating_add);
    cost.needed = memory_of_analysis(values, open, indices, control.asks_outcomes());
    cost.writing = writing_of_analysis(control, numbering, values, output);
    cost
}

/// Refuses a table of a control file for which memory or the disk has no room. Small ones are not
/// looked at, unless bounds are given.
pub(crate) fn check_analysis(
    control: &ControlFile,
    numbering: &Numbering,
    open: &[OpenFuturebase<'_>],
    values: &TableValues,
    output: &Path,
    workplace: &Workplace,
) -> Result<(), RunError> {
    let bytes = 2 * values.layout.len() as u128 * values.slices.len() as u128;
    let is_bounded = workplace.memory.is_some() || workplace.keep_free.is_some();
    if bytes < u128::from(LASTING) && !is_bounded {
        return Ok(());
    }
    let cost = cost_of_analysis(control, numbering, open, values, output);
    let (needed, folder) = (cost.needed.saturating_add(OWN), folder_of(output));
    sum(vec![cost], [needed; 2], (workplace, folder), 1.0)?.check_disk(folder, workplace)
}

/// Adds everything up; `memory` is what is needed, and what is taken typically.
pub(crate) fn sum(
    mut costs: Vec<Cost>,
    [memory, typical]: [u64; 2],
    (workplace, folder): (&Workplace, &Path),
    slowness: f64,
) -> Result<RunPlan, RunError> {
    let threads = rayon::current_num_threads();
    let is_made = |cost: &&Cost| !cost.table.kept;
    let least = costs.iter().filter(is_made).map(|cost| cost.least_memory(threads));
    let least_memory = least.max().unwrap_or(OWN);
    let budget = bounded_budget(workplace, least_memory, memory, &Silent)?;
    let slowness = slowness
        * match workplace.method {
            _ if budget.is_none() => 1.0,
            Method::Sweep => FROM_DISK,
            Method::PropTables { .. } => WITH_PROPTABLES,
        };

    for cost in &mut costs {
        cost.table.seconds *= slowness;
    }

    let made: Vec<&Cost> = costs.iter().filter(is_made).collect();
    let working = |(pages, _)| made.iter().map(|cost| cost.working_disk(pages)).max();
    let lasts = |cost: &&&Cost| {
        cost.table.seconds / threads as f64 > workplace.checkpoint_every.as_secs_f64()
    };
    // The sum of none would be less than nothing.
    let seconds = made.iter().fold(0.0, |sum, cost| sum + cost.table.seconds);

    Ok(RunPlan {
        memory,
        least_memory,
        used_memory: budget.map_or(typical, |(_, bound)| bound.min(memory)),
        from_disk: budget.is_some(),
        working_disk: budget.and_then(working).unwrap_or(0),
        checkpoint: made.iter().filter(lasts).map(|cost| cost.checkpoint()).max().unwrap_or(0),
        free_disk: free_disk(folder),
        bytes_at_most: made.iter().map(|cost| cost.table.bytes_at_most).sum(),
        bytes_typically: made.iter().map(|cost| cost.table.bytes_typically).sum(),
        seconds,
        // Not everything can be shared.
        elapsed_seconds: seconds / threads as f64 * 1.2,
        tables: costs.into_iter().map(|cost| cost.table).collect(),
    })
}

impl RunPlan {
    /// Refuses what the disk has no room for.
    ///
    /// # Errors
    ///
    /// [`RunError::Disk`].
    pub(crate) fn check_disk(&self, folder: &Path, workplace: &Workplace) -> Result<(), RunError> {
        let kept = workplace.margin(folder);
        let needed = self.working_disk.saturating_add(self.bytes_typically);
        match self.free_disk {
            Some(free) if needed.saturating_add(kept) > free => Err(RunError::Disk {
                folder: folder.to_owned(),
                free: free >> 20,
                kept: kept >> 20,
                working: self.working_disk >> 20,
                files: self.bytes_typically >> 20,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hoffman_plan::complete;

    use super::*;

    #[test]
    fn what_is_held_is_not_read_again() {
        let ending: Material = "KRPvKR".parse().expect("an ending");
        let graph = Graph::of_endings(&complete([ending]), Path::new(""));
        let last = graph.nodes.len() - 1;
        assert_eq!(graph.nodes[last].source.material, ending);
        let rook: Material = "KRRvKR".parse().expect("an ending");
        let behind = |node: &&Node<EndingJob>| node.source.material == rook;
        let bytes = graph.nodes.iter().find(behind).map(Node::positions).expect("it is behind");
        // With a rook on the edge of the board, and Black to move.
        let bytes = bytes / 64 * 28;

        let all = memory_of_group(&graph, &[last], Format::Dtm(None), |_| true);
        let others = memory_of_group(&graph, &[last], Format::Dtm(None), |held| *held != rook);
        assert!(all > graph.nodes[last].positions());
        assert!((others - all).abs_diff(bytes / 5 * 6) < 6, "{} {bytes}", others - all);
        let outcomes = memory_of_group(&graph, &[last], Format::Basic, |_| true);
        assert!(outcomes < all / 2, "{outcomes} of {all}");
    }
}
