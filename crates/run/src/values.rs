//! The values of tables that are files, as far as moves lead to them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hoffman_board::{Format, Material};
use hoffman_plan::{EndingJob, Graph, complete, structures_behind};
use hoffman_solve::{SolveOptions, Tables, clear_illegal, in_pages, solve_table};
use hoffman_space::TableValues;
use hoffman_table::entries::EntryCodec;
use hoffman_table::rows::{
    DecodeError, RowsError, Taking, Wanted, decode, decode_in, has_free_pieces,
};
use hoffman_table::{Stop, Table};

use crate::error::RunError;
use crate::memory::available_memory;
use crate::options::RunContext;
use crate::progress::Silent;
use crate::workplace::Workplace;

/// The endings that the moves of a job lead to, with the part of their values that is needed: a
/// part of an ending leads to few pawn structures of others.
pub(crate) fn wanted_of_job(job: &EndingJob) -> HashMap<Material, Wanted> {
    let mut needed = Wanted::behind(&job.material, [true; 2]);
    let Some(part) = &job.part else { return needed };
    for (material, structures) in structures_behind(&job.material, part) {
        if let Some(wanted) = needed.get_mut(&material).filter(|_| material.has_pawns()) {
            wanted.structures = Some(Arc::new(structures));
        }
    }
    needed
}

/// What nodes together want of the endings behind them.
pub(crate) fn wanted_by(graph: &Graph<EndingJob>, nodes: &[usize]) -> HashMap<Material, Wanted> {
    let mut all = HashMap::new();
    for &at in nodes {
        want(&mut all, &graph.nodes[at].source);
    }
    all
}

/// Asks for what a job wants, too.
pub(crate) fn want(all: &mut HashMap<Material, Wanted>, job: &EndingJob) {
    for (material, wanted) in wanted_of_job(job) {
        all.entry(material).or_default().extend(&wanted);
    }
}

/// How values are taken that a table of this format follows from.
pub(crate) const fn taking_of(format: Format) -> Taking {
    match format {
        Format::Dtm(_) => Taking::Exactly,
        _ => Taking::ByOutcome,
    }
}

/// Whether an ending is quicker solved than read from a file that leans on others.
pub(crate) fn is_quickly_solved(material: &Material) -> bool {
    material.men() <= 4
}

/// Brings values of a complete ending into memory, by rows: at least those that are wanted; says
/// which. They are read from its file, or solved with what is behind it, which is put among
/// `small`.
pub(crate) fn load_table(
    (path, material): (&Path, Material),
    wanted: Wanted,
    small: &mut Tables,
    run: RunContext<'_>,
    area: &mut Vec<u8>,
) -> Result<(Arc<TableValues>, Wanted), RunError> {
    let mut table = Table::open(path, run.workplace.source_options())?;
    table.check_length()?;
    if is_quickly_solved(&material) && table.leans() && run.pages.is_none() {
        tracing::info!(%material, "is solved instead of read");
        return Ok((solve_small(material, small, run)?, Wanted::all()));
    }
    tracing::info!(table = %path.display(), "reading");
    let taking = taking_of(run.workplace.format());
    let values = values_of(&table, (&wanted, taking), run, area)?;
    Ok((Arc::new(values), wanted))
}

/// Solves a small ending with all that is behind it, as far as that is not among `small`.
fn solve_small(
    material: Material,
    small: &mut Tables,
    run: RunContext<'_>,
) -> Result<Arc<TableValues>, RunError> {
    let outcomes = !run.workplace.format().has_distance();
    let options = SolveOptions { count: false, keep: true, outcomes, ..SolveOptions::default() };
    for job in complete([material]) {
        if !small.contains_key(&job.material) {
            run.workplace.check_stop()?;
            let mut values = TableValues::new(job.material, job.slices());
            solve_table(&mut values, small, &options, &|| {})?;
            small.insert(job.material, Arc::new(values));
        }
    }
    Ok(Arc::clone(&small[&material]))
}

/// The values of an open table, whose entries are read into `area` on the way; in pages, if there
/// are any, and until the run is asked to stop.
pub(crate) fn values_of(
    table: &Table,
    (wanted, taking): (&Wanted, Taking),
    run: RunContext<'_>,
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let restricted = |p: &hoffman_board::ListedPiece| p.is_restricted();
    if table.pieces().len() == 2 && !table.pieces().iter().any(restricted) {
        // Bare kings are quicker solved than read, and their layout has no symmetry to read
        // through.
        let job = EndingJob { material: Material::bare_kings(), part: None };
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: false, keep: true, ..SolveOptions::default() };
        solve_table(&mut values, &Tables::default(), &options, &|| {})?;
        return Ok(values);
    }
    decode_table(table, wanted, taking, None, run, area)
}

/// The values of an open table, taken in a certain way; `area` as in [`values_of`], `another` as in
/// [`Table::foreign_values`].
pub(crate) fn decode_table(
    table: &Table,
    wanted: &Wanted,
    taking: Taking,
    another: Option<&TableValues>,
    run: RunContext<'_>,
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let (pages, stop) = (run.pages, &run.workplace.stop);
    let rows_error = |source| RunError::of_rows(&table.path().display().to_string(), source);
    let (space, codec) = (table.space(), table.codec());
    // A file may claim anything.
    let packed = space.size().div_ceil(8).saturating_mul(u64::from(codec.bits()));
    if pages.is_none() && available_memory().is_some_and(|free| packed > free) {
        return Err(rows_error(RowsError::TooLarge(space.size())));
    }
    if let Some(values) = table.foreign_values(wanted, taking, pages, another, stop)? {
        return Ok(values);
    }
    let mut values = decode_entries(table, wanted, taking, run, area)?;
    if !tells_illegal(codec) {
        clear_illegal(&mut values);
    }
    Ok(values)
}

/// The outcomes of all positions of a table of ours or of another program, read until `stop` says
/// otherwise; the distances as well if they are asked for. Its checksums are compared.
///
/// # Errors
///
/// It is damaged, or does not fit into memory; the reading was stopped.
pub fn values_of_table(
    table: &Table,
    with_distances: bool,
    stop: &Stop,
) -> Result<TableValues, RunError> {
    table.check()?;
    let workplace = Workplace { stop: stop.clone(), ..Workplace::default() };
    let run = RunContext { workplace: &workplace, pages: None, progress: &Silent };
    let taking = if with_distances { Taking::Exactly } else { Taking::ByOutcome };
    decode_table(table, &Wanted::all(), taking, None, run, &mut Vec::new())
}

/// Its values with whatever stands for positions that are not legal.
fn decode_entries(
    table: &Table,
    wanted: &Wanted,
    taking: Taking,
    run: RunContext<'_>,
    area: &mut Vec<u8>,
) -> Result<TableValues, RunError> {
    let rows_error = |source| RunError::of_rows(&table.path().display().to_string(), source);
    let (space, codec) = (table.space(), table.codec());
    let stop = &run.workplace.stop;
    match run.pages {
        Some(pages) if space.has_side_bit() || has_free_pieces(space) => {
            let mut read =
                |first: u64, len: u64, area: &mut Vec<u8>| table.read_packed_part(first, len, area);
            let values = decode_in(space, codec, wanted, taking, (pages, stop), &mut read);
            values.map_err(|error| match error {
                DecodeError::Rows(source) => rows_error(source),
                DecodeError::Read(error) => error.into(),
            })
        }
        pages => {
            table.read_packed(area)?;
            let values = decode(space, codec, area, wanted, taking, stop).map_err(rows_error)?;
            Ok(match pages {
                Some(pages) => in_pages(values, pages),
                None => values,
            })
        }
    }
}

/// Whether entries tell positions that are not legal from draws. One bit is too few for that:
/// tables in which everything is drawn have distances of one bit.
pub(crate) fn tells_illegal(codec: EntryCodec) -> bool {
    codec.format().has_distance() && codec.bits() > 1
}
