//! Building all tables of a control file in one go.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hoffman_board::{Bitboard, Color, Format, Role, Square};
use hoffman_control::{ControlFile, Mode, PruneEffect, check_declarations};
use hoffman_store::{folder_of, has_wildcards, is_file};
use hoffman_table::{Stop, Table};
use hoffman_table::foreign::ForeignOptions;

use crate::checkpoint;
use crate::error::RunError;
use crate::expand::{Expanded, creation, expand, is_input, read_input};
use crate::generate::{GenerateOptions, Generated, at_output, generate_control, read_control};
use crate::numbering::Numbering;
use crate::order::output_of;
use crate::progress::{Phase, Progress};
use crate::workplace::Workplace;

/// Where and how the tables of a control file are built.
pub struct ControlBuildOptions<'a> {
    /// The folder that tables are written to. None: tables of an expansion beside the control file,
    /// another where the control file says. Created if it is missing.
    pub dir: Option<PathBuf>,
    /// The command line, for the headers.
    pub args: String,
    /// Where tables of other programs are looked for.
    pub foreign: ForeignOptions,
    /// Told of what happens.
    pub progress: &'a dyn Progress,
    /// Where it is done.
    pub workplace: Workplace,
}

/// What a build did.
#[derive(Debug, Default)]
pub struct ControlBuild {
    /// Files that were there already and have the same control file.
    pub kept: Vec<PathBuf>,
    /// The tables made, in order.
    pub generated: Vec<Generated>,
}

/// Generates the table of a control file, or all tables if it is the input of an expansion. A file that is
/// there is kept if it is intact, was made from the same control file, and no futurebase is newer.
///
/// # Errors
///
/// As [`crate::generate`] and [`expand`].
pub fn build_control(
    path: &Path,
    options: &ControlBuildOptions<'_>,
) -> Result<ControlBuild, RunError> {
    if let Some(dir) = &options.dir {
        options.workplace.create_folder(dir)?;
    }
    // What is made there serves the other tables, too.
    let workplace = Workplace { tables: options.dir.clone(), ..options.workplace.clone() };
    let mut work =
        Work { options, workplace, rebuilt: HashSet::new(), report: ControlBuild::default() };
    if is_input(&read_input(path, &options.workplace)?) {
        let expansion = expand(path, options.dir.as_deref(), &work.workplace)?;
        for notice in &expansion.notices {
            options.progress.notice(notice);
        }
        let quiet = Quiet(options.progress);
        for Expanded { name, control, output, .. } in expansion.tables {
            let control = ControlFile::parse(&control, &name.display().to_string(), Mode::Control)?;
            work.make(&control, output, true, &quiet)?;
        }
        for notice in gather(&work.report.generated) {
            options.progress.notice(&notice);
        }
    } else {
        let control = read_control(path, &options.workplace)?;
        let output = output_of(&control, options.dir.as_deref())?;
        work.make(&control, output, false, options.progress)?;
    }
    Ok(work.report)
}

/// The remarks on the tables of an expansion, each said once: what holds for one table mostly holds for many.
fn gather(tables: &[Generated]) -> Vec<String> {
    let mut said: Vec<(&str, &str, usize)> = Vec::new();
    for notice in tables.iter().flat_map(|table| &table.notices) {
        // What stands before is where it was found.
        let text = notice.split_once(">: ").map_or(notice.as_str(), |(_, text)| text);
        match said.iter_mut().find(|(_, known, _)| *known == text) {
            Some((_, _, times)) => *times += 1,
            None => said.push((notice, text, 1)),
        }
    }
    let again = |times: usize| match times {
        1 => String::new(),
        _ => format!(" (said of {times} tables)"),
    };
    said.into_iter().map(|(notice, _, times)| format!("{notice}{}", again(times))).collect()
}

/// Passes on everything but remarks.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn begin(&self, work: u64) {
        self.0.begin(work);
    }

    fn table(&self, name: &str) {
        self.0.table(name);
    }

    fn phase(&self, phase: Phase) {
        self.0.phase(phase);
    }

    fn pass(&self, moves: u16) {
        self.0.pass(moves);
    }

    fn slice(&self, work: u64) {
        self.0.slice(work);
    }

    fn skip(&self, work: u64) {
        self.0.skip(work);
    }

    fn finished(&self, name: &str) {
        self.0.finished(name);
    }
}

struct Work<'a> {
    options: &'a ControlBuildOptions<'a>,
    workplace: Workplace,
    /// The tables made in this run.
    rebuilt: HashSet<PathBuf>,
    report: ControlBuild,
}

impl Work<'_> {
    /// Makes a table unless it is there. A table of a family has a name that nobody chose: it replaces
    /// such a table only.
    fn make(
        &mut self,
        control: &ControlFile,
        output: PathBuf,
        of_family: bool,
        progress: &dyn Progress,
    ) -> Result<(), RunError> {
        let workplace = &self.workplace;
        workplace.check_stop()?;
        check_declarations(control)?;
        let numbering = Numbering::of(control, &workplace.stop)?;
        workplace.probe(folder_of(&output)).map_err(|error| at_output(error, control, &output))?;
        // Another run may be making it, and what a run that died left of it is removed.
        let _lock = workplace.lock(&output, self.options.progress)?;
        if is_file(&*workplace.storage, &output) {
            match is_current(control, &output, workplace, &self.rebuilt) {
                Ok(()) => {
                    tracing::info!(table = %output.display(), "kept");
                    checkpoint::remove_of(workplace, &output)?;
                    self.report.kept.push(output);
                    return Ok(());
                }
                Err(why) => {
                    workplace.check_stop()?;
                    if of_family {
                        expect_of_family(control, &output, workplace)?;
                    }
                    self.options.progress.notice(&format!("{why}; building it anew"));
                }
            }
        }
        for notice in &control.notices {
            progress.notice(&notice.to_string());
        }
        let args = self.options.args.clone();
        let foreign = self.options.foreign.clone();
        let workplace = workplace.clone();
        let options = GenerateOptions { output: None, args, foreign, progress, workplace };
        let made = generate_control(control, &numbering, output.clone(), &options)
            .map_err(|error| at_output(error, control, &output))?;
        self.report.generated.push(made);
        self.rebuilt.insert(output);
        Ok(())
    }
}

/// Whether a table is what its control file would make now; why not. Futurebases in `rebuilt` are newer than it.
pub(crate) fn is_current(
    control: &ControlFile,
    output: &Path,
    workplace: &Workplace,
    rebuilt: &HashSet<PathBuf>,
) -> Result<(), String> {
    let name = output.display();
    let mut table = Table::open(output, workplace.source_options()).map_err(|e| e.to_string())?;
    table.check_length().map_err(|e| e.to_string())?;
    let size = table.space().size();
    workplace.install(size, || table.check()).map_err(|e| e.to_string())?;
    if !is_made_from(table.control(), control, &workplace.stop) {
        return Err(format!("{name}: was made from another control file"));
    }
    let modified =
        |path: &Path| -> Option<SystemTime> { workplace.storage.info(path).ok()?.modified };
    let made = modified(output);
    for element in &control.futurebases {
        let futurebase = &*workplace.locate(&element.filename);
        if has_wildcards(&element.filename) && !is_file(&*workplace.storage, futurebase) {
            return Err(format!("{name}: what '{}' means may have changed", element.filename));
        }
        if rebuilt.contains(futurebase) || modified(futurebase) > made {
            return Err(format!("{name}: is older than {}", futurebase.display()));
        }
    }
    Ok(())
}

/// Refuses to replace a file that was not made from another state of the same input.
fn expect_of_family(
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

/// Whether a header is that of the table that a control file describes.
pub(crate) fn is_made_from(header: &ControlFile, control: &ControlFile, stop: &Stop) -> bool {
    Contents::of(header) == Contents::of(control)
        && fits(control, header)
        && index_fits(control, header, stop)
}

/// Whether a header says what a control file leaves open or says the same: index symmetry and width.
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

/// Whether a table has the index type that its control file asks for, or the one that stands in for it where
/// both sides to move have to be stored.
fn index_fits(control: &ControlFile, header: &ControlFile, stop: &Stop) -> bool {
    let found = header.index_type();
    let is_found = |numbering: &Numbering| numbering.space.index_type() == found;
    let Ok(numbering) = Numbering::of(control, stop) else { return false };
    // Whether the futurebases are alike for both colours is known when they are open.
    let may_differ = !numbering.space.has_side_bit() && !control.futurebases.is_empty();
    is_found(&numbering)
        || may_differ && Numbering::with_side_to_move(control, stop).is_ok_and(|other| is_found(&other))
}

/// What decides the values of a table, apart from what the program fills in.
#[derive(PartialEq, Eq)]
struct Contents<'c> {
    variant: hoffman_board::Variant,
    format: Format,
    pieces: Vec<(Color, Role, Option<Bitboard>, Option<Square>)>,
    structure: Option<Structure>,
    futurebases: Vec<(&'c str, bool)>,
    enables: Vec<(Color, PruneEffect)>,
    prunes: Vec<(Color, &'c str, PruneEffect)>,
}

/// What a `pawngen` element says: of each side the start and three numbers; start, count and position.
type Structure = ([(Bitboard, Option<u64>, u64, u64); 2], u64, u64, usize);

impl<'c> Contents<'c> {
    fn of(control: &'c ControlFile) -> Contents<'c> {
        let side = |s: &hoffman_control::PawngenSide| {
            (s.start, s.pawns_required, s.queens_required, s.captures_allowed)
        };
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
