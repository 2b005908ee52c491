//! Whether a file that is there is the table that is asked for.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hoffman_board::{Bitboard, Color, Format, ListedPiece, Material, Role, Square, Variant};
use hoffman_control::{ControlFile, PawngenSide, PruneEffect};
use hoffman_plan::{EndingJob, Node};
use hoffman_store::{FileInfo, has_wildcards, is_file};
use hoffman_table::blocks::names_of;
use hoffman_table::{Stop, Table, TableError};

use crate::ending::control_of_job;
use crate::error::RunError;
use crate::numbering::Numbering;
use crate::seal::creation;
use crate::workplace::Workplace;

/// A file that has the name of a job's table and does not answer for it.
pub(crate) struct Unfit {
    pub(crate) why: String,
    /// Whether its header is that of the job's table: then it is one that was damaged.
    own: bool,
}

impl Unfit {
    /// Refuses to replace a file that was not made as the job's table.
    pub(crate) fn expect_own(&self, path: &Path) -> Result<(), RunError> {
        if self.own {
            return Ok(());
        }
        Err(RunError::InTheWay { path: path.to_owned(), why: self.why.clone() })
    }
}

/// The names under which the table of a job is looked for: that of the whole ending, then its own,
/// each in both containers.
pub(crate) fn names_of_job(node: &Node<EndingJob>) -> Vec<PathBuf> {
    let whole = EndingJob { material: node.source.material, part: None }.file_name();
    let whole = node.output.with_file_name(whole);
    let mut names: Vec<PathBuf> = names_of(&whole).collect();
    names.extend(
        names_of(&node.output).filter(|own| !whole.with_extension("").eq(&own.with_extension(""))),
    );
    names
}

/// The file that answers for a job, if there is one.
pub(crate) fn find_intact(
    node: &Node<EndingJob>,
    workplace: &Workplace,
) -> Result<Option<PathBuf>, RunError> {
    Ok(files_of_job(&names_of_job(node), node, Depth::Whole, workplace)?.answering)
}

/// Files that have the name of a job's table.
#[derive(Default)]
pub(crate) struct FilesOfJob {
    /// The one that answers for it.
    pub(crate) answering: Option<PathBuf>,
    /// Those that were looked at before, as they were, and why they do not.
    pub(crate) others: Vec<(PathBuf, FileInfo, Unfit)>,
}

/// The first of some files that answers for a job, and those before it that do not.
pub(crate) fn files_of_job(
    paths: &[PathBuf],
    node: &Node<EndingJob>,
    depth: Depth,
    workplace: &Workplace,
) -> Result<FilesOfJob, RunError> {
    let mut found = FilesOfJob::default();
    for path in paths {
        let info = workplace.storage.info(path).ok().filter(|info| info.is_file);
        let Some(info) = info else { continue };
        match unfit(path, &node.source, depth, workplace)? {
            None => {
                found.answering = Some(path.clone());
                break;
            }
            Some(unfit) => found.others.push((path.clone(), info, unfit)),
        }
    }
    Ok(found)
}

/// Why a file does not answer for a job: it is not complete, damaged, or holds something else.
///
/// # Errors
///
/// The file cannot be read, which says nothing about it; the run was asked to stop.
pub(crate) fn unfit_for_job(
    path: &Path,
    job: &EndingJob,
    workplace: &Workplace,
) -> Result<Option<Unfit>, RunError> {
    unfit(path, job, Depth::Whole, workplace)
}

/// How much of a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Its header and its length: the rest is known from elsewhere.
    Header,
    /// Every block.
    Whole,
}

/// The same, as far as one looks.
pub(crate) fn unfit(
    path: &Path,
    job: &EndingJob,
    depth: Depth,
    workplace: &Workplace,
) -> Result<Option<Unfit>, RunError> {
    let stop = &workplace.stop;
    let mut table = match Table::open(path, workplace.source_options()) {
        Ok(table) => table,
        Err(error) if error.is_unreadable() || error.is_stopped() => return Err(error.into()),
        Err(error) => {
            let header = Table::salvage_header(path, &*workplace.storage);
            let wanted = control_of_job(job, workplace.format())?;
            let own = header.is_some_and(|header| is_made_from(&header, &wanted, stop));
            // Nothing is lost with an empty file.
            let own = own || workplace.storage.info(path).is_ok_and(|info| info.len == 0);
            return Ok(Some(Unfit { why: error.to_string(), own }));
        }
    };
    if let Some(difference) = difference_from_job(&table, job, workplace.format()) {
        let why = format!("{}: {difference}", path.display());
        return Ok(Some(Unfit { why, own: false }));
    }

    let blocks = |table: &Table| if depth == Depth::Whole { table.check() } else { Ok(()) };
    match table.check_length().and_then(|()| blocks(&table)) {
        Ok(()) => Ok(None),
        Err(error) if error.is_unreadable() || error.is_stopped() => Err(error.into()),
        Err(error) => {
            let own =
                is_made_from(table.control(), &control_of_job(job, workplace.format())?, stop);
            Ok(Some(Unfit { why: error.to_string(), own }))
        }
    }
}

/// What a table holds instead of what a job asks for: values in this format, or distances, from
/// which others follow.
pub(crate) fn difference_from_job(
    table: &Table,
    job: &EndingJob,
    format: Format,
) -> Option<String> {
    let material = Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)));
    let material = material.normalized().0;
    if material != job.material {
        return Some(format!("holds {material}, not {}", job.material));
    }
    if job.part.is_none() && table.pieces().iter().any(ListedPiece::is_restricted) {
        return Some(format!("holds a part of {material} only"));
    }
    // Version 1.7 made tables of outcomes that are wrong in places.
    let has_values = match table.codec().format() {
        Format::Dtm(_) => true,
        own => own == format && table.claims().is_exact(),
    };
    let is_plain = table.variant() == Variant::Normal
        && has_values
        && table.control().prune_enables.is_empty();
    let values = if format.has_distance() { "distances to mate" } else { "who wins" };
    (!is_plain).then(|| format!("is no plain table of {values}"))
}

/// Why a table is not what its control file would make now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Outdated {
    /// It cannot be read, or is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("{table}: was made from another control file", table = .0.display())]
    OtherControl(PathBuf),
    #[error("{table}: what '{pattern}' means may have changed", table = .table.display())]
    Pattern { table: PathBuf, pattern: String },
    #[error("{table}: is older than {futurebase}", table = .table.display(), futurebase = .futurebase.display())]
    Older { table: PathBuf, futurebase: PathBuf },
}

/// Refuses a table that is not what its control file would make now. Futurebases in `rebuilt` are
/// newer than it.
pub(crate) fn expect_current(
    control: &ControlFile,
    output: &Path,
    workplace: &Workplace,
    rebuilt: &HashSet<PathBuf>,
) -> Result<(), Outdated> {
    let mut table = Table::open(output, workplace.source_options())?;
    table.check_length()?;
    let size = table.space().size();
    workplace.install(size, || table.check())?;
    if !is_made_from(table.control(), control, &workplace.stop) {
        return Err(Outdated::OtherControl(output.to_owned()));
    }
    let modified =
        |path: &Path| -> Option<SystemTime> { workplace.storage.info(path).ok()?.modified };
    let made = modified(output);
    for element in &control.futurebases {
        let futurebase = &*workplace.locate(&element.filename);
        if has_wildcards(&element.filename) && !is_file(&*workplace.storage, futurebase) {
            let (table, pattern) = (output.to_owned(), element.filename.clone());
            return Err(Outdated::Pattern { table, pattern });
        }
        if rebuilt.contains(futurebase) || modified(futurebase) > made {
            let (table, futurebase) = (output.to_owned(), futurebase.to_owned());
            return Err(Outdated::Older { table, futurebase });
        }
    }
    Ok(())
}

/// Refuses to replace a file that was not made from another state of the same input.
pub(crate) fn expect_of_family(
    control: &ControlFile,
    output: &Path,
    workplace: &Workplace,
) -> Result<(), RunError> {
    // It may be damaged.
    let header = Table::salvage_header(output, &*workplace.storage);
    if header.is_some_and(|header| creation(header.text()) == creation(control.text())) {
        return Ok(());
    }
    let why = format!("{}: was not made as this table", output.display());
    Err(RunError::InTheWay { path: output.to_owned(), why })
}

/// Refuses to replace a file that was not made by a control file.
pub(crate) fn expect_made_from(
    control: &ControlFile,
    output: &Path,
    workplace: &Workplace,
) -> Result<(), RunError> {
    // It may be damaged.
    let header = Table::salvage_header(output, &*workplace.storage);
    if header.is_some_and(|header| is_made_from(&header, control, &workplace.stop)) {
        return Ok(());
    }
    let why = format!("{}: was not made as this table", output.display());
    Err(RunError::InTheWay { path: output.to_owned(), why })
}

/// Whether a header is that of the table that a control file describes.
fn is_made_from(header: &ControlFile, control: &ControlFile, stop: &Stop) -> bool {
    Contents::of(header) == Contents::of(control)
        && fits(control, header)
        && index_fits(control, header, stop)
}

/// Why a header is not that of a part of the pawn structures of a control file's table: of the same
/// control file but for `start` and `count`, where other parts may be futurebases besides.
pub(crate) fn difference_from_whole(
    header: &ControlFile,
    whole: &ControlFile,
    is_part: impl Fn(&str) -> bool,
) -> Option<String> {
    let (part, whole) = (Contents::of(header), Contents::of(whole));
    let structures = |structure: &Option<Structure>| structure.as_ref().map(|s| (s.0, s.3));
    let differences = [
        (part.variant != whole.variant, "other rules"),
        (part.format != whole.format, "another format"),
        (part.pieces != whole.pieces, "other men"),
        (structures(&part.structure) != structures(&whole.structure), "other pawn structures"),
        (part.enables != whole.enables || part.prunes != whole.prunes, "other prunes"),
    ];
    if let Some((_, what)) = differences.into_iter().find(|&(differs, _)| differs) {
        return Some(what.to_owned());
    }
    let futurebases = |contents: &Contents<'_>| -> BTreeSet<(String, bool)> {
        let others = contents.futurebases.iter().filter(|(name, _)| !is_part(name));
        let stem = |file: &str| Some(Path::new(file).file_stem()?.to_str()?.to_owned());
        others.map(|&(file, inverted)| (stem(file).unwrap_or_default(), inverted)).collect()
    };
    let (own, wanted) = (futurebases(&part), futurebases(&whole));
    let (name, _) = own.symmetric_difference(&wanted).next()?;
    Some(format!("other futurebases, in which '{name}' makes a difference"))
}

/// Whether a header says what a control file leaves open or says the same: index symmetry and
/// width.
fn fits(control: &ControlFile, header: &ControlFile) -> bool {
    let bits = |format| match format {
        Format::Dtm(bits) | Format::Dtc(bits) => bits,
        Format::Basic | Format::Flag(_) => None,
    };
    let wanted = bits(control.entry_format());
    control.symmetry().is_none_or(|symmetry| header.symmetry() == Some(symmetry))
        // It is wider where that was needed.
        && wanted.is_none_or(|wanted| bits(header.entry_format()) >= Some(wanted))
}

/// Whether a table has the index type that its control file asks for, or the one that stands in for
/// it where both sides to move have to be stored.
fn index_fits(control: &ControlFile, header: &ControlFile, stop: &Stop) -> bool {
    let found = header.index_type();
    let is_found = |numbering: &Numbering| numbering.space.index_type() == found;
    let Ok(numbering) = Numbering::of(control, stop) else { return false };
    // Whether the futurebases are alike for both colours is known when they are open.
    let may_differ = !numbering.space.has_side_bit() && !control.futurebases.is_empty();
    is_found(&numbering)
        || may_differ
            && Numbering::with_side_to_move(control, stop).is_ok_and(|other| is_found(&other))
}

/// What decides the values of a table, apart from what the program fills in.
#[derive(PartialEq, Eq)]
struct Contents<'c> {
    variant: Variant,
    format: Format,
    pieces: Vec<(Color, Role, Option<Bitboard>, Option<Square>)>,
    structure: Option<Structure>,
    futurebases: Vec<(&'c str, bool)>,
    enables: Vec<(Color, PruneEffect)>,
    prunes: Vec<(Color, &'c str, PruneEffect)>,
}

/// What a `pawngen` element says: of each side the start and three numbers; start, count and
/// position.
type Structure = ([(Bitboard, Option<u64>, u64, u64); 2], u64, u64, usize);

impl<'c> Contents<'c> {
    fn of(control: &'c ControlFile) -> Contents<'c> {
        let side =
            |s: &PawngenSide| (s.start, s.pawns_required, s.queens_required, s.captures_allowed);
        Contents {
            variant: control.variant,
            format: match control.entry_format() {
                Format::Dtm(_) => Format::Dtm(None),
                Format::Dtc(_) => Format::Dtc(None),
                other => other,
            },
            pieces: control.pieces.iter().map(|p| (p.color, p.role, p.squares, p.plus)).collect(),
            structure: control
                .pawngen
                .as_ref()
                .map(|p| ([side(&p.white), side(&p.black)], p.start, p.count, p.position)),
            futurebases: control
                .futurebases
                .iter()
                .map(|f| (f.filename.as_str(), f.inverted))
                .collect(),
            enables: control.prune_enables.iter().map(|e| (e.color, e.effect)).collect(),
            prunes: control
                .prunes
                .iter()
                .map(|p| (p.color, p.pattern.as_str(), p.effect))
                .collect(),
        }
    }
}
