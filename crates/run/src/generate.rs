//! Generating the table of one control file from its futurebases.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Color, Format, Material, Role, Variant, material::NAMING_ORDER};
use hoffman_control::{
    ControlFile, FuturebaseElement, FuturebaseKind, Mode, check_declarations, decode_text,
    resolve_pieces,
};
use hoffman_plan::{Job, ending::PROMOTIONS};
use hoffman_solve::{SolveOptions, Tables, solve_table};
use hoffman_space::TableValues;
use hoffman_table::Table;
use hoffman_table::htb::SourceOptions;
use hoffman_table::rows::{IndexCounts, Wanted};

use crate::build::{check_index, check_memory_for, probe_writable, values_of};
use crate::error::RunError;
use crate::progress::Progress;
use crate::write::{Making, index_space, write_table};

/// How a control file is carried out.
pub struct GenerateOptions<'a> {
    /// The output file, if not the one named in the control file.
    pub output: Option<PathBuf>,
    /// The command line, for the header.
    pub args: String,
    /// Told of what happens.
    pub progress: &'a dyn Progress,
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

/// Reads a control file.
fn read_control(path: &Path) -> Result<ControlFile, RunError> {
    let bytes = std::fs::read(path).map_err(|source| RunError::Io {
        action: "read the control file",
        path: path.to_owned(),
        source,
    })?;
    let origin = path.display().to_string();
    let text = decode_text(&bytes, &origin)?;
    Ok(ControlFile::parse(&text, &origin, Mode::Control)?)
}

/// The number of indices of a control file's table.
///
/// # Errors
///
/// The control file is wrong.
pub fn summary(path: &Path) -> Result<u64, RunError> {
    let control = read_control(path)?;
    check_declarations(&control)?;
    refuse_pawngen(&control)?;
    check_index(&control)
}

fn place(control: &ControlFile, at: hoffman_control::Place, element: &str) -> String {
    control.site(at, element).to_string()
}

fn refuse_pawngen(control: &ControlFile) -> Result<(), RunError> {
    match &control.pawngen {
        Some(pawngen) => Err(RunError::Unsupported {
            place: place(control, pawngen.place, "pawngen"),
            what: "a table with pawn structures",
        }),
        None => Ok(()),
    }
}

/// Refuses what this version does not solve.
fn check_supported(control: &ControlFile) -> Result<(), RunError> {
    let refuse = |place: String, what| Err(RunError::Unsupported { place, what });
    refuse_pawngen(control)?;
    if control.variant == Variant::Suicide {
        return refuse(place(control, control.root, "variant"), "suicide chess");
    }
    if let Some(format) = &control.format
        && !matches!(format.format, Format::Dtm(_))
    {
        return refuse(
            place(control, format.place, format.format.name()),
            "a format other than dtm",
        );
    }
    if let Some(prune) = control.prunes.first() {
        return refuse(place(control, prune.place, "prune"), "a pruned table");
    }
    for piece in &control.pieces {
        if piece.squares.is_some() || piece.plus.is_some() {
            return refuse(place(control, piece.place, "piece"), "a table with restricted pieces");
        }
    }
    Ok(())
}

/// A move out of the table, as behaviour and prunes name it.
struct Futuremove {
    mover: Color,
    kind: String,
    relation: FuturebaseKind,
    /// The men behind it, in the table's colours.
    behind: Material,
}

/// All kinds of futuremoves of an unrestricted ending.
fn futuremoves(material: &Material) -> Vec<Futuremove> {
    let mut all = Vec::new();
    let letter = |role: Role| role.upper_char();
    let has = |color: Color, role: Role| *material.count.get(color).get(role) > 0;
    for mover in [Color::White, Color::Black] {
        let enemy = mover.other();
        for victim in NAMING_ORDER {
            let Some(behind) = material.without(enemy, victim) else { continue };
            for taker in
                [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn]
            {
                if has(mover, taker) {
                    let kind = format!("{}x{}", letter(taker), letter(victim));
                    all.push(Futuremove { mover, kind, relation: FuturebaseKind::Capture, behind });
                }
            }
        }
        let Some(pawnless) = material.without(mover, Role::Pawn) else { continue };
        for promoted in PROMOTIONS {
            let behind = pawnless.with(mover, promoted);
            let kind = format!("P={}", letter(promoted));
            all.push(Futuremove { mover, kind, relation: FuturebaseKind::Promotion, behind });
            for victim in PROMOTIONS {
                if let Some(behind) = behind.without(enemy, victim) {
                    let kind = format!("Px{}={}", letter(victim), letter(promoted));
                    let relation = FuturebaseKind::CapturePromotion;
                    all.push(Futuremove { mover, kind, relation, behind });
                }
            }
        }
    }
    all
}

const fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "WHITE",
        Color::Black => "BLACK",
    }
}

/// Solves the table of a control file and writes it.
///
/// # Errors
///
/// The control file is wrong or asks for what cannot be done, a futurebase cannot be used, a move is
/// not accounted for, the output cannot be written.
pub fn generate(path: &Path, options: &GenerateOptions<'_>) -> Result<Generated, RunError> {
    let began = SystemTime::now();
    let control = read_control(path)?;
    let mut notices: Vec<String> = control.notices.iter().map(ToString::to_string).collect();
    for notice in &notices {
        options.progress.notice(notice);
    }
    let output = match &options.output {
        Some(output) => output.clone(),
        None => PathBuf::from(control.output_name()?),
    };
    check_declarations(&control)?;
    let pieces = resolve_pieces(&control)?;
    let (_, symmetry) = index_space(&control)?;
    check_supported(&control)?;
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty());
    probe_writable(folder.unwrap_or(Path::new(".")))?;
    let material = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let futurebases = open_futurebases(&control, &material, symmetry)?;
    let sources = check_coverage(&control, &material, futurebases)?;
    let (normal, _) = material.normalized();
    let job = Job { material: normal, part: None };
    check_memory_for(&job)?;
    let slices = job.slices();
    options.progress.begin(slices.len() as u64);
    let mut tables = Tables::new();
    let mut record = String::new();
    for (behind, table) in sources {
        options.progress.table(&table.path().display().to_string());
        record.push(' ');
        record.push_str(&table.path().display().to_string());
        tables.insert(behind, Arc::new(values_of(&table, &Wanted::all())?));
    }
    let mut values = TableValues::new(normal, slices);
    let solve = SolveOptions { count: true, keep: true };
    solve_table(&mut values, &tables, solve, &|| options.progress.slice())?;
    // The end mark of a processing instruction cannot stand inside one.
    let record = record.replace("?>", "? >");
    let record = if record.is_empty() { record } else { format!("from{record}") };
    let making = Making { args: options.args.clone(), began, futurebases: record };
    let counts = write_table(&control, &values, &output, &making)?;
    options.progress.finished(&output.display().to_string());
    notices.dedup();
    Ok(Generated { path: output, counts, notices })
}

/// A futurebase with the men behind it in the table's colours.
struct Futurebase<'c> {
    element: &'c FuturebaseElement,
    behind: Material,
    table: Table,
}

fn open_futurebases<'c>(
    control: &'c ControlFile,
    material: &Material,
    symmetry: u8,
) -> Result<Vec<Futurebase<'c>>, RunError> {
    let moves = futuremoves(material);
    let mut all = Vec::new();
    for element in &control.futurebases {
        let fail = |problem: String| RunError::Futurebase {
            place: place(control, element.place, "futurebase"),
            problem,
        };
        let name = &element.filename;
        if name.is_empty() {
            return Err(fail(
                "tables are read from files only, give a filename instead of a url".into(),
            ));
        }
        let extension = Path::new(name).extension().unwrap_or_default();
        let is = |e: &str| extension.eq_ignore_ascii_case(e);
        if is("rtbz") {
            return Err(fail(format!("'{name}': Syzygy rtbz tables cannot be used, use rtbw")));
        }
        if is("rtbw") {
            return Err(fail(format!(
                "'{name}': a table without distances to mate cannot be used for the dtm format"
            )));
        }
        if ["emd", "nbw", "nbb"].into_iter().any(is) {
            return Err(fail(format!("'{name}': Nalimov tables cannot be read by this version")));
        }
        let path = Path::new(name);
        if !path.is_file() {
            return Err(fail(format!("'{name}': there is no such file")));
        }
        let mut table =
            Table::open(path, SourceOptions::default()).map_err(|e| fail(e.to_string()))?;
        table.check_length().map_err(|e| fail(e.to_string()))?;
        check_futurebase(control, &table, name, symmetry).map_err(fail)?;
        let men = table.pieces().iter().map(|p| (p.color, p.role));
        let plain = Material::from_men(men);
        let behind = if element.inverted { plain.swapped() } else { plain };
        let relation = moves.iter().find(|m| m.behind == behind).map(|m| m.relation);
        let relation = relation.ok_or_else(|| fail(unrelated(material, &behind, name)))?;
        if let Some(kind) = element.kind.filter(|&k| k != relation) {
            return Err(fail(format!(
                "'{name}': the type '{}' was given, but the table is reached by {}",
                kind.name(),
                relation.name()
            )));
        }
        all.push(Futurebase { element, behind, table });
    }
    Ok(all)
}

/// The conditions of the original for using a table as futurebase.
fn check_futurebase(
    control: &ControlFile,
    table: &Table,
    name: &str,
    symmetry: u8,
) -> Result<(), String> {
    if table.variant() != control.variant {
        return Err(format!("'{name}': the futurebase is for another variant of chess"));
    }
    if !matches!(table.codec().format(), Format::Dtm(_)) {
        return Err(format!(
            "'{name}': a table without distances to mate cannot be used for the dtm format"
        ));
    }
    for enabled in &table.control().prune_enables {
        if !control.enables(enabled.color, enabled.effect) {
            return Err(format!(
                "'{name}': the futurebase was pruned, and this file enables no such pruning"
            ));
        }
    }
    if !table.control().prune_enables.is_empty() {
        return Err(format!("'{name}': a pruned futurebase cannot be used by this version yet"));
    }
    if table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted) {
        return Err(format!(
            "'{name}': a futurebase with restricted pieces cannot be used by this version yet"
        ));
    }
    let theirs = table.space().symmetry();
    if theirs < symmetry {
        return Err(format!(
            "'{name}': the futurebase has symmetry {theirs}, less than the {symmetry} of the table"
        ));
    }
    Ok(())
}

/// Why a table cannot be reached in one move.
fn unrelated(material: &Material, behind: &Material, name: &str) -> String {
    if behind == material {
        return format!("'{name}': the futurebase holds the men of the table itself");
    }
    let mut missing = 0;
    let mut extra = Vec::new();
    for color in Color::ALL {
        for role in Role::ALL {
            let (ours, theirs) =
                (*material.count.get(color).get(role), *behind.count.get(color).get(role));
            missing += ours.saturating_sub(theirs);
            extra.extend((ours..theirs).map(|_| role));
        }
    }
    match extra.as_slice() {
        [] => format!(
            "'{name}': too many pieces are missing in the futurebase ({missing}), one capture takes one"
        ),
        [Role::Pawn, ..] => format!("'{name}': the futurebase has a pawn that is not in the table"),
        _ => format!("'{name}': no single move leads from {material} to {behind}"),
    }
}

/// Finds for every futuremove the table that answers it.
fn check_coverage(
    control: &ControlFile,
    material: &Material,
    futurebases: Vec<Futurebase<'_>>,
) -> Result<HashMap<Material, Table>, RunError> {
    let moves = futuremoves(material);
    let mut found: HashMap<Material, Table> = HashMap::new();
    let mut exact: Vec<Material> = Vec::new();
    for Futurebase { element, behind, table } in futurebases {
        if exact.contains(&behind) {
            let taken = moves.iter().find(|m| m.behind == behind);
            return Err(RunError::Twice {
                place: place(control, element.place, "futurebase"),
                mover: taken.map_or("", |m| color_name(m.mover)),
                kind: taken.map_or(String::new(), |m| m.kind.clone()),
            });
        }
        exact.push(behind);
        // Plain and inverted twins of a colour-symmetric ending say the same: one is used.
        found.entry(behind.normalized().0).or_insert(table);
    }
    let symmetric = material.is_symmetric();
    for futuremove in &moves {
        let known = if symmetric {
            found.contains_key(&futuremove.behind.normalized().0)
        } else {
            exact.contains(&futuremove.behind)
        };
        if !known {
            return Err(RunError::Unhandled {
                place: place(control, control.root, "tablebase"),
                mover: color_name(futuremove.mover),
                kind: futuremove.kind.clone(),
            });
        }
    }
    Ok(found)
}
