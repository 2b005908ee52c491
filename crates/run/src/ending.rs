//! Complete endings and parts of them, as tasks.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hoffman_board::{Bitboard, Format, Material, Role};
use hoffman_control::{ControlFile, Strictness, control_for_material, control_for_part};
use hoffman_plan::{EndingJob, Node};
use hoffman_solve::{Monitor, SolveError, SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;
use hoffman_table::Stop;

use crate::checkpoint::Identity;
use crate::error::RunError;
use crate::numbering::Numbering;
use crate::task::Task;

/// The control file that stands in the header of a job's table of this format.
pub(crate) fn control_of_job(job: &EndingJob, format: Format) -> Result<ControlFile, RunError> {
    let text = match &job.part {
        None => control_for_material(&job.material, format),
        Some(part) => {
            let pawns = part.pawns.iter();
            let pawns: Vec<_> =
                pawns.map(|&(color, set)| (color, Role::Pawn, Bitboard(set))).collect();
            control_for_part(&job.material, &pawns, format)
        }
    };
    Ok(ControlFile::parse(&text, &job.file_name(), Strictness::Control)?)
}

/// A job, and the tables behind its moves.
pub(crate) struct EndingTask<'t> {
    job: &'t EndingJob,
    output: &'t Path,
    tables: &'t Tables,
    wanted: SolveOptions,
    /// Made when it is asked for.
    header: OnceLock<(ControlFile, Numbering)>,
}

impl<'t> EndingTask<'t> {
    pub(crate) fn new(
        node: &'t Node<EndingJob>,
        tables: &'t Tables,
        wanted: SolveOptions,
    ) -> EndingTask<'t> {
        let (job, output) = (&node.source, &*node.output);
        EndingTask { job, output, tables, wanted, header: OnceLock::new() }
    }

    /// What is written of its values.
    fn format(&self) -> Format {
        if self.wanted.outcomes { Format::Basic } else { Format::Dtm(None) }
    }

    /// None of its slices solved.
    pub(crate) fn values(&self) -> TableValues {
        TableValues::new(self.job.material, self.job.slices())
    }
}

impl Task for EndingTask<'_> {
    fn name(&self) -> String {
        let name = self.output.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The tables behind it are those of chess, whatever their files.
    fn identity(&self) -> Result<Identity, RunError> {
        let mut slices: Vec<_> = self.job.slices().into_iter().collect();
        slices.sort_unstable();
        let bytes: Vec<u8> = slices
            .iter()
            .flat_map(|s| [s.white.to_le_bytes(), s.black.to_le_bytes()])
            .flatten()
            .collect();
        Ok(Identity::new(&control_of_job(self.job, self.format())?, &bytes, &[]))
    }

    fn wanted(&self) -> SolveOptions {
        self.wanted.clone()
    }

    fn solve(
        &self,
        values: &mut TableValues,
        options: &SolveOptions,
        monitor: &dyn Monitor,
    ) -> Result<u16, SolveError> {
        solve_table(values, self.tables, options, monitor)
    }

    fn header(&self) -> Result<(&ControlFile, &Numbering), RunError> {
        let (control, numbering) = if let Some(header) = self.header.get() {
            header
        } else {
            let control = control_of_job(self.job, self.format())?;
            // There are no pawn structures to be searched for.
            let numbering = Numbering::of(&control, &Stop::default())?;
            self.header.get_or_init(|| (control, numbering))
        };
        Ok((control, numbering))
    }

    fn instruction(&self) -> String {
        String::new()
    }

    fn behind(&self) -> Option<Vec<Arc<TableValues>>> {
        let materials =
            self.job.material.exits().into_iter().map(|(_, behind)| behind.normalized().0);
        let materials: HashSet<Material> = materials.collect();
        Some(materials.iter().filter_map(|material| self.tables.get(material).cloned()).collect())
    }
}
