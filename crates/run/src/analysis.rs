//! Tables of control files, as tasks: futurebases of the user's choice, and what is said of other
//! moves.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Color, FuturemoveKind, ListedPiece, Material, Variant};
use hoffman_control::{Claims, ControlFile};
use hoffman_pages::Pages;
use hoffman_solve::{
    Analysis, Futurebase, Monitor, Rules, Ruling, SolveError, SolveOptions, Survey, solve_analysis,
    survey,
};
use hoffman_space::{KingPlacement, Layout, NormalForm, TableValues};
use hoffman_store::folder_of;
use hoffman_table::rows::{layout_of, structures_of};

use crate::checkpoint::Identity;
use crate::claims::{claims_of, instruction_of};
use crate::cost::{check_analysis, memory_of_analysis, writing_of_analysis};
use crate::error::RunError;
use crate::futurebases::{OpenFuturebase, behind_of, differ_by_color, open_all};
use crate::judgement::{Rulings, judge};
use crate::numbering::Numbering;
use crate::options::{MadeTable, RunContext, RunOptions};
use crate::progress::{Phase, Progress};
use crate::room;
use crate::task::{self, Order, Task};
use crate::workplace::{Memory, Workplace};

/// The most positions of a slice, one side to move. So many bytes are nowhere, and what is counted
/// in bits or for all slices still fits into 64 bits.
const MOST_POSITIONS: usize = 1 << 44;

/// Solves the table of a control file that was read and writes it; the caller holds the lock of the
/// output.
pub(crate) fn make_analysis(
    control: &ControlFile,
    numbering: &Numbering,
    output: &Path,
    options: &RunOptions<'_>,
) -> Result<MadeTable, RunError> {
    let began = SystemTime::now();
    let progress = options.progress;
    tracing::info!(control = control.origin, output = %output.display(), "generating");
    progress.phase(Phase::Reading);
    let workplace = bounded(control, &options.workplace, progress);
    let mut wider = None;
    let place = (&workplace, output);
    let mut open = open_all(control, numbering, &options.foreign, place, progress)?;
    if !numbering.space.has_side_bit() && differ_by_color(control, &open) {
        let both = Numbering::with_side_to_move(control, &workplace.stop)?;
        let numbering = wider.insert(both);
        open = open_all(control, numbering, &options.foreign, place, progress)?;
    }
    let numbering = wider.as_ref().unwrap_or(numbering);

    let symmetric = !open.iter().any(OpenFuturebase::tells_images_apart);
    let values = table_values(control, numbering, symmetric)?;
    check_analysis(control, numbering, &open, &values, output, &workplace)?;
    let opened =
        OpenControl { control, numbering, output, options, began, workplace, open, symmetric };
    options.workplace.install(opened.work(&values), || opened.carry_out(values))
}

/// A control file whose futurebases are open.
struct OpenControl<'a> {
    control: &'a ControlFile,
    numbering: &'a Numbering,
    output: &'a Path,
    options: &'a RunOptions<'a>,
    began: SystemTime,
    /// With the bound of the control file.
    workplace: Workplace,
    open: Vec<OpenFuturebase<'a>>,
    /// Whether no futurebase tells mirror images apart.
    symmetric: bool,
}

impl OpenControl<'_> {
    /// The positions to be solved, and a part of those to be read.
    fn work(&self, values: &TableValues) -> u64 {
        let own = 2 * values.layout.len() as u64 * values.slices.len() as u64;
        self.open.iter().map(OpenFuturebase::work).fold(own, u64::saturating_add)
    }

    /// Finds out what is behind the moves out of the table, then solves and writes it.
    fn carry_out(&self, values: TableValues) -> Result<MadeTable, RunError> {
        let (control, numbering, progress) = (self.control, self.numbering, self.options.progress);
        let mut notices: Vec<String> = control.notices.iter().map(ToString::to_string).collect();
        let mut remark = |notice: String| {
            progress.notice(&notice);
            notices.push(notice);
        };
        numbering.notice(control).into_iter().for_each(&mut remark);

        let pages = self.pages(&values)?;
        let run = RunContext { workplace: &self.workplace, pages: pages.as_ref(), progress };
        progress.begin(values.slices.len() as u64 * 2 * values.layout.len() as u64);
        let futurebases = self.read_futurebases(&values, run)?;

        let rulings = Rulings::new(control, numbering);
        let prune = |color: Color, kind: FuturemoveKind| rulings.of(color, kind);
        let rules = Rules {
            prune: &prune,
            stalemates: control.stalemates_conceded_to(),
            listed_pawns: numbering.space.pawn_structures().is_some(),
            discards_spare: control.discards_spare(),
        };
        let analysis = Analysis { futurebases, rules };
        let survey = survey(&values, &analysis);
        let claims = self.claims(&survey, &prune);
        let remarks = judge(control, numbering, &rulings, (&values, &survey))?;
        remarks.into_iter().chain(self.defects()).for_each(&mut remark);

        let (args, lasting) = (&self.options.args, Some(self.output));
        let task = AnalysisTask { opened: self, analysis: &analysis, claims };
        let order = Order { began: self.began, lasting, run };
        let solved = task::carry_out(&task, values, self.output, args, order)?;
        notices.dedup();
        Ok(MadeTable { notices, ..solved.table })
    }

    /// Where values lie if memory is bounded.
    fn pages(&self, values: &TableValues) -> Result<Option<Arc<Pages>>, RunError> {
        let indices = self.numbering.space.size();
        let needed = memory_of_analysis(values, &self.open, indices, self.control.asks_outcomes());
        let writing = writing_of_analysis(self.control, self.numbering, values, self.output);
        let layout = std::iter::once((&values.layout, writing));
        let folder = folder_of(self.output);
        room::pages(&self.workplace, layout, needed, folder, self.options.progress)
    }

    /// Reads what the moves out of the table lead to.
    fn read_futurebases(
        &self,
        values: &TableValues,
        run: RunContext<'_>,
    ) -> Result<Vec<Futurebase>, RunError> {
        let behind = behind_of(values);
        let mut futurebases = Vec::new();
        let mut area = Vec::new();
        for futurebase in &self.open {
            run.workplace.check_stop()?;
            run.progress.table(&futurebase.path().display().to_string());
            tracing::info!(file = %futurebase.path().display(), "reading a futurebase");
            let needed = (&values.material, &behind);
            let read = futurebase.read(self.control, needed, &futurebases, run, &mut area)?;
            futurebases.extend(read);
        }
        self.options.foreign.spare.clear();
        Ok(futurebases)
    }

    /// What may be wrong with the futurebases.
    fn defects(&self) -> impl Iterator<Item = String> {
        let found = self.open.iter().filter_map(|one| Some((one.path(), one.defect()?)));
        found.map(|(path, defect)| format!("{}: {defect}", path.display()))
    }

    /// What the values of the table prove.
    fn claims(
        &self,
        survey: &Survey,
        prune: &dyn Fn(Color, FuturemoveKind) -> Option<Ruling>,
    ) -> Claims {
        let behind = self.open.iter().map(OpenFuturebase::claims);
        let claims = claims_of(self.control, survey, prune, behind);
        if self.numbering.space.has_side_bit() { claims } else { claims.and(claims.swapped()) }
    }
}

/// A control file of whose moves everything is known.
struct AnalysisTask<'a> {
    opened: &'a OpenControl<'a>,
    analysis: &'a Analysis<'a>,
    claims: Claims,
}

impl Task for AnalysisTask<'_> {
    fn name(&self) -> String {
        self.opened.output.display().to_string()
    }

    fn identity(&self) -> Result<Identity, RunError> {
        let OpenControl { control, symmetric, open, workplace, .. } = self.opened;
        let files = open.iter().map(|futurebase| futurebase.fingerprint(workplace));
        let files = files.collect::<Result<Vec<_>, RunError>>()?;
        Ok(Identity::new(control, &[u8::from(*symmetric)], &files))
    }

    fn wanted(&self) -> SolveOptions {
        let outcomes = self.opened.control.asks_outcomes();
        SolveOptions { count: true, keep: true, outcomes, ..SolveOptions::default() }
    }

    fn solve(
        &self,
        values: &mut TableValues,
        options: &SolveOptions,
        monitor: &dyn Monitor,
    ) -> Result<u16, SolveError> {
        solve_analysis(values, self.analysis, options, monitor)
    }

    fn header(&self) -> Result<(&ControlFile, &Numbering), RunError> {
        Ok((self.opened.control, self.opened.numbering))
    }

    /// What the values prove, and from what they were made.
    fn instruction(&self) -> String {
        let names = self.opened.open.iter().map(|open| format!(" {}", open.path().display()));
        // The end mark of a processing instruction cannot stand inside one.
        let record = names.collect::<String>().replace("?>", "? >");
        instruction_of(self.claims, &record)
    }
}

/// The slices of a control file's table, none of them solved.
/// Where futurebases tell mirror images apart, so does the table.
pub(crate) fn table_values(
    control: &ControlFile,
    numbering: &Numbering,
    symmetric: bool,
) -> Result<TableValues, RunError> {
    let space = &numbering.space;
    let material = Material::from_men(space.pieces().iter().map(|p| (p.color, p.role)));
    let mut layout = layout_of(space);
    if !symmetric && layout.kings() == KingPlacement::Pairs {
        layout = Layout::without_symmetry(&material);
    }
    if layout.len() > MOST_POSITIONS {
        let place = control.site(control.root, "tablebase").to_string();
        return Err(RunError::TooManyPositions { place, men: layout.movers().len() });
    }

    let structures = structures_of(space);
    // Restrictions, and the numbering of such tables, tell mirror images apart.
    let restricted = space.pieces().iter().any(ListedPiece::is_restricted)
        || space.variant() == Variant::Suicide
        || space.pawn_structures().is_some();
    let form = if restricted || !symmetric || !material.has_pawns() {
        NormalForm::None
    } else if !space.has_side_bit() && control.prunes.is_empty() {
        NormalForm::MirroredAndSwapped
    } else {
        NormalForm::Mirrored
    };

    let mut values = TableValues::with_layout(material, layout, form, []);
    for structure in structures {
        let normal = values.normalize(structure).0;
        values.slices.entry(normal).or_default();
    }
    Ok(values)
}

/// The workplace with the bound of memory that the control file asks for, if there is no other.
pub(crate) fn bounded(
    control: &ControlFile,
    workplace: &Workplace,
    progress: &dyn Progress,
) -> Workplace {
    let mut workplace = workplace.clone();
    if let Some(proptables) = &control.proptables {
        let bytes = proptables.megabytes.saturating_mul(1 << 20);
        match &workplace.memory {
            None => workplace.memory = Some(Memory { bytes, raise: true }),
            Some(memory) => progress.notice(&format!(
                "the bound of {} MB given to the program overrides <enable-proptables MB=\"{}\"/>",
                memory.bytes >> 20,
                proptables.megabytes
            )),
        }
    }
    workplace
}
