//! Generating the table of one control file from its futurebases.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use hoffman_board::{ByColor, Color, FuturemoveKind, Material, Symmetry, Variant};
use hoffman_control::{
    Claims, ControlFile, Mode, Prune, PruneEffect, check_declarations, decode_text, folded,
    may_be_idle,
};
use hoffman_pages::Pages;
use hoffman_solve::{
    Analysis, Futurebase, KindOfMove, Rules, SolveError, SolveOptions, Survey, Unsaid, Verdict,
    can_happen, solve_analysis, structures_behind, survey,
};
use hoffman_space::{KingPlacement, Layout, NormalForm, TableValues};
use hoffman_store::{folder_of, is_same_file};
use hoffman_table::Stop;
use hoffman_table::foreign::ForeignOptions;
use hoffman_table::rows::{IndexCounts, layout_of, structures_of};
use sha2::{Digest as _, Sha256};

use crate::checkpoint::{self, Checkpoint, Identity, digest};
use crate::claims::claims_of;
use crate::error::RunError;
use crate::expand::creation;
use crate::futurebases::{self, OpenFuturebase, color_name};
use crate::numbering::{Numbering, fen};
use crate::plan::check_table;
use crate::progress::{Phase, Progress};
use crate::room;
use crate::workplace::{Memory, Workplace};
use crate::write::{Making, write_table};

/// How many indices of a futurebase are read in the time in which one position is solved and written.
const READ: u64 = 4;

/// How many positions are solved in the time in which a table is asked for one that is not read as a whole.
const ASKED: u64 = 16;

/// The most positions of a slice, one side to move. So many bytes are nowhere, and what is counted in bits
/// or for all slices still fits into 64 bits.
const MOST_POSITIONS: usize = 1 << 44;

/// How a control file is carried out.
pub struct GenerateOptions<'a> {
    /// The output file, if not the one named in the control file.
    pub output: Option<PathBuf>,
    /// The command line, for the header.
    pub args: String,
    /// Where tables of other programs are looked for.
    pub foreign: ForeignOptions,
    /// Told of what happens.
    pub progress: &'a dyn Progress,
    /// Where it is done.
    pub workplace: Workplace,
}

/// A generated table.
#[derive(Debug)]
pub struct Generated {
    /// The file.
    pub path: PathBuf,
    /// What is counted over its indices.
    pub counts: IndexCounts,
    /// Remarks for the user.
    pub notices: Vec<String>,
}

/// What a control file's table would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of indices.
    pub indices: u64,
    /// The number of pawn structures, if it is made of such.
    pub structures: Option<u64>,
}

/// Reads a control file, once: it may be a pipe.
///
/// # Errors
///
/// It cannot be read, is too large, or is no control file.
pub fn read_control(path: &Path, workplace: &Workplace) -> Result<ControlFile, RunError> {
    let bytes = workplace.read_control(path)?;
    let origin = path.display().to_string();
    let text = decode_text(&bytes, &origin)?;
    Ok(ControlFile::parse(&text, &origin, Mode::Control)?)
}

/// The size of a control file's table.
///
/// # Errors
///
/// The control file is wrong, or somebody asked to stop.
pub fn summary(control: &ControlFile, stop: &Stop) -> Result<Summary, RunError> {
    check_declarations(control)?;
    let numbering = Numbering::of(control, stop)?;
    let structures = numbering.space.pawn_structures().map(|list| list.len() as u64);
    Ok(Summary { indices: numbering.space.size(), structures })
}

/// Solves the table of a control file and writes it.
///
/// # Errors
///
/// The control file is wrong or asks for what cannot be done, a futurebase cannot be used, a move is
/// not accounted for, the output cannot be written.
pub fn generate(path: &Path, options: &GenerateOptions<'_>) -> Result<Generated, RunError> {
    generate_read(&read_control(path, &options.workplace)?, options)
}

/// The same for a control file that was read.
///
/// # Errors
///
/// As for [`generate`].
pub fn generate_read(
    control: &ControlFile,
    options: &GenerateOptions<'_>,
) -> Result<Generated, RunError> {
    for notice in &control.notices {
        options.progress.notice(&notice.to_string());
    }
    let output = match &options.output {
        Some(output) => output.clone(),
        None => PathBuf::from(control.output_name()?),
    };
    check_declarations(control)?;
    // What is wrong with the control file alone is said before anything is waited for.
    let numbering = Numbering::of(control, &options.workplace.stop)?;
    if is_same_file(&*options.workplace.storage, Path::new(&control.origin), &output) {
        return Err(RunError::OutputIsControl { output });
    }
    let target = output.clone();
    let generate = || {
        options.workplace.probe(folder_of(&output))?;
        if let Some(element) = control.output.as_ref().filter(|_| options.output.is_some()) {
            options.progress.notice(&format!(
                "{}: the output {} given to the program overrides this one",
                control.site(element.place, "output"),
                output.display()
            ));
        }
        let _lock = options.workplace.lock(&output, options.progress)?;
        generate_control(control, &numbering, output, options)
    };
    // An output that the caller named is no matter of the control file.
    let by_caller = options.output.is_some();
    generate().map_err(|error| if by_caller { error } else { at_output(error, control, &target) })
}

/// An error that says where the output is named, if it is about the output or its folder.
pub(crate) fn at_output(error: RunError, control: &ControlFile, output: &Path) -> RunError {
    let concerned = match &error {
        RunError::Io { path, .. } | RunError::Write { path, .. } => {
            path == output || path == folder_of(output)
        }
        _ => false,
    };
    if !concerned {
        return error;
    }
    let named = control.output.as_ref().filter(|element| {
        let name = element.filename.as_deref().and_then(|name| Path::new(name).file_name());
        name.is_some() && name == output.file_name()
    });
    let place = match named {
        Some(element) => control.site(element.place, "output").to_string(),
        None => control.origin.clone(),
    };
    RunError::Output { place, source: Box::new(error) }
}

/// Solves the table of a control file that was read and writes it; the caller holds the lock of the output.
pub(crate) fn generate_control(
    control: &ControlFile,
    numbering: &Numbering,
    output: PathBuf,
    options: &GenerateOptions<'_>,
) -> Result<Generated, RunError> {
    let began = SystemTime::now();
    let GenerateOptions { workplace, progress, .. } = options;
    tracing::info!(control = control.origin, output = %output.display(), "generating");
    progress.phase(Phase::Reading);
    let workplace = bounded(control, workplace, *progress);
    let mut wider = None;
    let place = (&workplace, output.as_path());
    let mut open = futurebases::open_all(control, numbering, &options.foreign, place, *progress)?;
    if !numbering.space.has_side_bit() && futurebases::differ_by_color(control, &open) {
        let numbering = wider.insert(Numbering::with_side_to_move(control, &workplace.stop)?);
        open = futurebases::open_all(control, numbering, &options.foreign, place, *progress)?;
    }
    let numbering = wider.as_ref().unwrap_or(numbering);
    let symmetric = !open.iter().any(OpenFuturebase::tells_images_apart);
    let values = table_values(control, numbering, symmetric)?;
    let outcomes = keeps_outcomes(control);
    check_table(numbering, &open, &values, &output, outcomes, &workplace)?;
    let needed = needed_memory(&values, &open, numbering.space.size(), outcomes);
    let task =
        Task { control, numbering, output, options, began, workplace, open, symmetric, values };
    options.workplace.install(task.work(), || task.carry_out(needed))
}

/// A control file whose futurebases are open.
struct Task<'a> {
    control: &'a ControlFile,
    numbering: &'a Numbering,
    output: PathBuf,
    options: &'a GenerateOptions<'a>,
    began: SystemTime,
    /// With the bound of the control file.
    workplace: Workplace,
    open: Vec<OpenFuturebase<'a>>,
    /// Whether no futurebase tells mirror images apart.
    symmetric: bool,
    /// None of them solved.
    values: TableValues,
}

impl Task<'_> {
    /// The positions to be solved, and a part of those to be read.
    fn work(&self) -> u64 {
        let own = 2 * self.values.layout.len() as u64 * self.values.slices.len() as u64;
        let read = |open: &OpenFuturebase<'_>| {
            if open.is_asked() {
                open.indices().saturating_mul(ASKED)
            } else {
                open.indices() / READ
            }
        };
        self.open.iter().map(read).fold(own, u64::saturating_add)
    }

    /// Solves and writes the table, if everything in memory would take so many bytes.
    fn carry_out(mut self, needed: u64) -> Result<Generated, RunError> {
        let (control, numbering, progress) = (self.control, self.numbering, self.options.progress);
        let mut notices: Vec<String> = control.notices.iter().map(ToString::to_string).collect();
        if let Some(notice) = numbering.notice(control) {
            progress.notice(&notice);
            notices.push(notice);
        }
        let layout = std::iter::once(&self.values.layout);
        let folder = folder_of(&self.output);
        let pages = room::pages(&self.workplace, layout, needed, folder, progress)?;
        progress.begin(self.values.slices.len() as u64 * 2 * self.values.layout.len() as u64);
        let futurebases = self.read_futurebases(pages.as_ref())?;

        let verdicts = Verdicts::new(control, numbering);
        let prune = |color: Color, kind: FuturemoveKind| verdicts.of(color, kind);
        let stalemates = control.prunes.iter().find(|p| p.is_stalemate()).map(|p| p.color);
        let listed_pawns = numbering.space.pawn_structures().is_some();
        let discards_spare = control.discards_spare();
        let rules = Rules { prune: &prune, stalemates, listed_pawns, discards_spare };
        let analysis = Analysis { futurebases, rules };
        let survey = survey(&self.values, &analysis);
        let claims = self.claims(&survey, &prune);
        let spoilt = self.open.iter().filter_map(|one| Some((one.path(), one.defect()?)));
        let spoilt = spoilt.map(|(path, defect)| format!("{}: {defect}", path.display()));
        let remarks = judge(control, numbering, &verdicts, (&self.values, &survey))?;
        for notice in remarks.into_iter().chain(spoilt) {
            progress.notice(&notice);
            notices.push(notice);
        }

        let counts = self.solve_and_write(&analysis, pages.as_ref(), claims)?;
        checkpoint::remove_of(&self.workplace, &self.output)?;
        let name = self.output.display().to_string();
        tracing::info!(table = name, "written");
        progress.finished(&name);
        notices.dedup();
        Ok(Generated { path: self.output, counts, notices })
    }

    /// Reads what the moves out of the table lead to.
    fn read_futurebases(&self, pages: Option<&Arc<Pages>>) -> Result<Vec<Futurebase>, RunError> {
        let Task { control, workplace, open, values, .. } = self;
        // Where slices stand for their images, so do the structures behind them.
        let behind = (values.form == NormalForm::None).then(|| structures_behind(values));
        let mut futurebases = Vec::new();
        let mut area = Vec::new();
        for futurebase in open {
            workplace.check_stop()?;
            self.options.progress.table(&futurebase.path().display().to_string());
            tracing::info!(file = %futurebase.path().display(), "reading a futurebase");
            let read = futurebase.read(
                control,
                (&values.material, &behind),
                (pages, &workplace.stop),
                &futurebases,
                &mut area,
            )?;
            futurebases.extend(read);
        }
        self.options.foreign.spare.clear();
        Ok(futurebases)
    }

    /// What the values of the table prove.
    fn claims(
        &self,
        survey: &Survey,
        prune: &dyn Fn(Color, FuturemoveKind) -> Option<Verdict>,
    ) -> Claims {
        let behind = self.open.iter().map(OpenFuturebase::claims);
        let claims = claims_of(self.control, survey, prune, behind);
        if self.numbering.space.has_side_bit() { claims } else { claims.and(claims.swapped()) }
    }

    /// Solves the table, or what its checkpoint leaves of it, and writes it.
    fn solve_and_write(
        &mut self,
        analysis: &Analysis<'_>,
        pages: Option<&Arc<Pages>>,
        claims: Claims,
    ) -> Result<IndexCounts, RunError> {
        let instruction = self.instruction(claims);
        let Task { control, numbering, output, workplace, open, values, .. } = self;
        let (workplace, progress, symmetric) = (&*workplace, self.options.progress, self.symmetric);
        let name = output.display().to_string();
        progress.table(&name);

        let place = (workplace, pages);
        let identity = || identity(control, symmetric, open, workplace);
        let checkpoint = Checkpoint::open(place, progress, Some(output), values, identity)?;
        let outcomes = keeps_outcomes(control);
        if outcomes && pages.is_none() {
            keep_outcomes(values);
        }
        progress.phase(Phase::Solving);
        tracing::info!(table = name, slices = values.slices.len(), "solving");
        let (pages, method) = (pages.cloned(), workplace.method);
        let solve = SolveOptions { count: true, keep: true, pages, method, outcomes };
        solve_analysis(values, analysis, &solve, &checkpoint).map_err(|error| match error {
            SolveError::Stopped => checkpoint.interrupted(),
            other => other.into(),
        })?;

        progress.phase(Phase::Writing);
        let (args, passes) = (self.options.args.clone(), checkpoint.learned().passes);
        let making = Making { args, began: self.began, instruction, passes };
        write_table((control, numbering), values, output, &making, progress, place)
            .map_err(|error| checkpoint.settle(error))
    }

    /// The processing instruction of the header: what the values prove, and from what they were made.
    fn instruction(&self, claims: Claims) -> String {
        let names = self.open.iter().map(|open| format!(" {}", open.path().display()));
        // The end mark of a processing instruction cannot stand inside one.
        let record = names.collect::<String>().replace("?>", "? >");
        match (claims.is_exact(), record.is_empty()) {
            (true, true) => record,
            (true, false) => format!("from{record}"),
            (false, true) => claims.instruction(),
            (false, false) => format!("{}; from{record}", claims.instruction()),
        }
    }
}

/// Whether only outcomes are kept of solved slices: of a bitbase nobody asks for more. In suicide chess who cannot
/// move has won without a move, which is counted by itself.
pub(crate) fn keeps_outcomes(control: &ControlFile) -> bool {
    !control.entry_format().has_distance() && control.variant == Variant::Normal
}

/// Keeps the outcomes of the slices that a checkpoint had.
fn keep_outcomes(values: &mut TableValues) {
    for slot in values.slices.values_mut() {
        if let Some(slice) = slot.take() {
            // It is empty now.
            let _ = slot.set(Arc::new(slice.outcomes()));
        }
    }
}

/// What decides the values of a table.
fn identity(
    control: &ControlFile,
    symmetric: bool,
    open: &[OpenFuturebase<'_>],
    workplace: &Workplace,
) -> Result<Identity, RunError> {
    let mut task = Sha256::new();
    task.update(control.text());
    task.update([u8::from(symmetric)]);
    let mut files = Sha256::new();
    for futurebase in open {
        files.update(futurebase.fingerprint(workplace)?);
    }
    Ok(Identity { task: digest(task), futurebases: digest(files) })
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
    let restricted = space.pieces().iter().any(hoffman_board::ListedPiece::is_restricted)
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

/// The workplace with the bound of memory that the control file asks for, if nobody else does.
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

/// The memory that is needed if nothing goes to the disk, in bytes, for a table with so many indices.
pub(crate) fn needed_memory(
    values: &TableValues,
    open: &[OpenFuturebase<'_>],
    indices: u64,
    outcomes: bool,
) -> u64 {
    let slice = 2 * values.layout.len() as u64;
    let own = slice.saturating_mul(values.slices.len() as u64);
    let sum = |terms: &[u64]| terms.iter().copied().fold(0, u64::saturating_add);
    let behind: Vec<u64> = open.iter().map(OpenFuturebase::bytes).collect();
    if outcomes {
        // Two bits a position, but for the slice and the futurebase in hand, and tables of other programs.
        let packed = open.iter().map(|open| open.bytes() / if open.is_own() { 4 } else { 1 });
        let packed = packed.fold(0, u64::saturating_add);
        let in_hand = behind.iter().copied().max().unwrap_or(0);
        let solving = sum(&[own / 4, slice / 4, slice]);
        return packed.saturating_add(solving.max(sum(&[own / 4, indices / 4])).max(in_hand));
    }
    let working = (own / 2).max(indices).saturating_add(slice / 4).saturating_add(slice);
    sum(&[own, working, sum(&behind)])
}

/// The prunes of a colour's moves that match a kind.
fn matching(
    control: &ControlFile,
    color: Color,
    kind: FuturemoveKind,
) -> impl Iterator<Item = &Prune> {
    // The parts of a pawn structure's table belong together: no prune stands in for a part left out.
    let prunable = !kind.is_pawn_step() || control.pawngen.is_none();
    control.prunes.iter().filter(move |p| prunable && p.color == color && p.matches(kind))
}

/// What the first prune of a colour's moves that matches a kind does.
pub(crate) fn prune_of(
    control: &ControlFile,
    color: Color,
    kind: FuturemoveKind,
) -> Option<PruneEffect> {
    matching(control, color, kind).next().map(|prune| prune.effect)
}

/// What a control file says about moves that no futurebase answers, worked out once for each kind: there
/// may be many prunes, and kinds are asked for in every slice.
struct Verdicts<'c> {
    control: &'c ControlFile,
    has_side_bit: bool,
    /// For White and Black.
    known: ByColor<HashMap<FuturemoveKind, OnceLock<Option<Verdict>>>>,
}

impl<'c> Verdicts<'c> {
    fn new(control: &'c ControlFile, numbering: &Numbering) -> Verdicts<'c> {
        let known = || FuturemoveKind::all().map(|kind| (kind, OnceLock::new())).collect();
        let known = ByColor::new_with(|_| known());
        Verdicts { control, has_side_bit: numbering.space.has_side_bit(), known }
    }

    fn of(&self, color: Color, kind: FuturemoveKind) -> Option<Verdict> {
        // Without a side to move White's moves stand for Black's.
        let color = if self.has_side_bit { color } else { Color::White };
        let find = || {
            Some(match prune_of(self.control, color, kind)? {
                PruneEffect::Concede => Verdict::Concede,
                PruneEffect::Discard => Verdict::Discard,
            })
        };
        match self.known.get(color).get(&kind) {
            Some(known) => *known.get_or_init(find),
            None => find(),
        }
    }
}

/// Refuses prunes that tell a move from its image where the two positions share an index.
fn images_agree(
    control: &ControlFile,
    numbering: &Numbering,
    verdicts: &Verdicts<'_>,
    survey: &Survey,
) -> Result<(), RunError> {
    let symmetry = numbering.symmetry;
    for KindOfMove { mover, kind, .. } in survey.kinds.iter().filter(|k| !k.complete) {
        let FuturemoveKind::Quiet(role, square) = *kind else { continue };
        for image in Symmetry::all().take(usize::from(symmetry)) {
            let image = FuturemoveKind::Quiet(role, image.apply(square));
            let of = |kind: FuturemoveKind| verdicts.of(*mover, kind);
            if of(*kind) != of(image) {
                let place = control.site(control.root, "tablebase").to_string();
                let (mover, kind) = (color_name(*mover), kind.to_string());
                let image = image.to_string();
                return Err(RunError::Images { place, mover, kind, image, symmetry });
            }
        }
    }
    Ok(())
}

/// How many kinds of moves that nothing accounts for are listed besides the first.
const LISTED: usize = 9;

/// The refusal of moves about which nothing is said, with what would account for the first kind.
fn unhandled(
    control: &ControlFile,
    numbering: &Numbering,
    first: &Unsaid,
    more: &[Unsaid],
) -> RunError {
    let example = |unsaid: &Unsaid| fen(&unsaid.men, unsaid.turn, unsaid.en_passant);
    let listed = more.iter().take(LISTED);
    let listed: Vec<String> =
        listed.map(|u| format!("{} {} in {}", color_name(u.turn), u.kind, example(u))).collect();
    let mut also =
        if listed.is_empty() { String::new() } else { format!("; also {}", listed.join(", ")) };
    if more.len() > LISTED {
        also = format!("{also} and {} more", more.len() - LISTED);
    }
    let (color, kind) = (first.turn, first.kind);
    let effect = [PruneEffect::Concede, PruneEffect::Discard]
        .into_iter()
        .find(|&effect| control.enables(color, effect));
    let enable = match effect {
        Some(_) => String::new(),
        None => format!(" with <prune-enable color=\"{color}\" type=\"discard\"/>"),
    };
    let effect = effect.unwrap_or(PruneEffect::Discard).name();
    let prune = format!("<prune color=\"{color}\" move=\"{kind}\" type=\"{effect}\"/>{enable}");
    let men = Material::from_men(numbering.pieces().iter().map(|p| (p.color, p.role)));
    let moves = futurebases::futuremoves(&men, control.variant);
    let behind = moves.iter().find(|m| m.mover == color && m.kind == kind).map(|m| m.behind);
    // Names of complete endings are those of normal chess.
    let behind = behind.filter(|_| control.variant == Variant::Normal).map(|behind| {
        let (normal, inverted) = behind.normalized();
        let colors = if inverted { " colors=\"invert\"" } else { "" };
        format!("<futurebase filename=\"{}.htb\"{colors}/> or ", normal.stem())
    });
    RunError::Unhandled {
        place: control.site(control.root, "tablebase").to_string(),
        mover: color_name(color),
        kind: kind.to_string(),
        fen: example(first),
        more: format!("; write {}{prune}{also}", behind.unwrap_or_default()),
    }
}

/// Whether a pattern looks like a regular expression.
fn is_like_expression(pattern: &str) -> bool {
    let dots = [".*", ".+", ".?"].iter().any(|dot| pattern.contains(dot));
    dots || pattern.contains(['|', '(', '^', '$', '+', '\\']) && !pattern.contains("[^")
}

/// Refuses moves about which nothing or too much is said; returns remarks about the prunes.
fn judge(
    control: &ControlFile,
    numbering: &Numbering,
    verdicts: &Verdicts<'_>,
    (values, survey): (&TableValues, &Survey),
) -> Result<Vec<String>, RunError> {
    if let [first, more @ ..] = survey.unsaid.as_slice() {
        return Err(unhandled(control, numbering, first, more));
    }
    if let Some((color, kind)) = survey.twice.first() {
        let place = control.site(control.root, "tablebase").to_string();
        return Err(RunError::Twice { place, mover: color_name(*color), kind: kind.to_string() });
    }
    let mut notices = overlapping_prunes(control, numbering, (values, survey))?;
    images_agree(control, numbering, verdicts, survey)?;
    notices.extend(idle_prunes(control, numbering, survey));
    if control.variant == Variant::Normal {
        for color in Color::ALL {
            notices.extend(artificial_stalemates(control, survey, color));
        }
    }
    Ok(folded(notices))
}

/// Several prunes for one kind of move: refused where they contradict each other and the move can happen.
fn overlapping_prunes(
    control: &ControlFile,
    numbering: &Numbering,
    (values, survey): (&TableValues, &Survey),
) -> Result<Vec<String>, RunError> {
    let mut notices = Vec::new();
    let both = numbering.space.has_side_bit();
    for KindOfMove { mover: color, kind, .. } in &survey.kinds {
        if !both && *color == Color::Black {
            continue;
        }
        let mut found = matching(control, *color, *kind);
        let Some(first) = found.next() else { continue };
        let mover = color_name(*color);
        for (number, other) in found.enumerate() {
            let place = control.site(other.place, "prune").to_string();
            if other.effect != first.effect && can_happen(values, *color, *kind) {
                return Err(RunError::Conflict { place, mover, kind: kind.to_string() });
            }
            if number == 0 {
                notices.push(format!(
                    "{place}: multiple {mover} pruning statements match futuremove {kind}"
                ));
            }
        }
    }
    Ok(notices)
}

/// Prunes that match no move.
fn idle_prunes(control: &ControlFile, numbering: &Numbering, survey: &Survey) -> Vec<String> {
    let both = numbering.space.has_side_bit();
    let is_used = |prune: &Prune| {
        let mut kinds = survey.kinds.iter();
        kinds.any(|k| (k.mover == prune.color || !both) && prune.matches(k.kind))
    };
    // Of files for many tables each has the prunes of all.
    let by_hand = |prune: &&Prune| !prune.is_stalemate() && creation(control.text()).is_none();
    let idle = control.prunes.iter().filter(by_hand).filter(|prune| !is_used(prune));
    idle.map(|prune| {
        let pattern = prune.pattern.as_str();
        let hint = if is_like_expression(pattern) {
            "; patterns are those of a shell, in which * stands for any text and ? for one character"
        } else {
            ""
        };
        let place = control.site(prune.place, "prune");
        format!("{place}: the prune '{pattern}' matches no move that leaves the table{hint}")
    })
    .collect()
}

/// What becomes of positions of a side in which only discarded moves are left, where that can happen.
fn artificial_stalemates(control: &ControlFile, survey: &Survey, color: Color) -> Vec<String> {
    let is_discarded = |k: &&KindOfMove| {
        let prune = matching(control, color, k.kind).next();
        k.mover == color && !k.complete && prune.is_some_and(|p| p.effect == PruneEffect::Discard)
    };
    let of_color = survey.kinds.iter().filter(|k| k.mover == color);
    if !may_be_idle(of_color.map(|k| (k.kind, is_discarded(&k)))) {
        return Vec::new();
    }

    let (tracked, plain): (Vec<&KindOfMove>, Vec<&KindOfMove>) =
        survey.kinds.iter().filter(is_discarded).partition(|k| k.tracked);
    let conceded = control.prunes.iter().any(|p| p.is_stalemate() && p.color == color.other());
    let place = control.site(control.root, "tablebase");
    let loser = color_name(color).to_lowercase();
    let winner = color_name(color.other()).to_lowercase();
    let remedy = format!("add <prune color=\"{winner}\" move=\"stalemate\" type=\"concede\"/>");
    let mut notices = Vec::new();
    if !plain.is_empty() && !conceded {
        notices.push(format!(
            "{place}: {loser} has discarded moves, so a position in which only those are left counts as \
             stalemate; to count it as lost {remedy}"
        ));
    }
    if !tracked.is_empty() {
        let kinds: Vec<String> = tracked.iter().map(|k| k.kind.to_string()).collect();
        notices.push(format!(
            "{place}: of {loser}'s moves {} those that no futurebase answers are discarded; a position in \
             which only those are left is drawn, even in check; to count it as lost {remedy}",
            kinds.join(" ")
        ));
    }
    notices
}
