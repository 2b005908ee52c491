//! The futurebases of a control file: found, checked against the table to be made, and read.

mod check;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Color, Format, ListedPiece, Material, Role, Variant};
use hoffman_control::{Claims, ControlFile, Defect, FuturebaseElement};
use hoffman_plan::ending::PROMOTIONS;
use hoffman_solve::{Futurebase, structures_behind};
use hoffman_space::{KingPlacement, Layout, NormalForm, Orientation, PawnSquares, TableValues};
use hoffman_store::{has_wildcards, is_file, is_same_file};
use hoffman_table::foreign::{ForeignKind, ForeignOptions};
use hoffman_table::rows::Wanted;
use hoffman_table::{Table, TableError};
use sha2::{Digest as _, Sha256};

use self::check::check;
use crate::digest::feed_file;
use crate::error::RunError;
use crate::futuremoves::{Futuremove, color_name, futuremoves, prune_of};
use crate::numbering::Numbering;
use crate::options::RunContext;
use crate::problem::FuturebaseProblem;
use crate::progress::Progress;
use crate::values::{decode_table, taking_of, tells_illegal, values_of};
use crate::workplace::Workplace;

/// How many indices of a futurebase are read in the time in which one position is solved and
/// written.
const READ: u64 = 4;

/// How many positions are solved in the time in which a table is asked for one that is not read as
/// a whole.
const ASKED: u64 = 16;

/// The pawn structures behind the moves out of a table, in its colours; none: all of them.
pub(crate) type Behind = Option<BTreeSet<PawnSquares>>;

/// The structures behind the moves out of a table: all, where slices stand for their images, and so
/// do those behind them.
pub(crate) fn behind_of(values: &TableValues) -> Behind {
    (values.form == NormalForm::None).then(|| structures_behind(values))
}

/// An open futurebase.
pub(crate) struct OpenFuturebase<'c> {
    element: &'c FuturebaseElement,
    table: Table,
    /// The orientations in which it is used: colours as they are, or exchanged.
    inverted: Vec<bool>,
    /// Those in which the control file gives it.
    given: Vec<bool>,
}

impl OpenFuturebase<'_> {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.table.path()
    }

    /// Bytes that differ where what the table says does: a digest of the file. For a file of ours
    /// that is one of its checksums.
    pub(crate) fn fingerprint(&self, workplace: &Workplace) -> Result<Vec<u8>, RunError> {
        let mut digest = Sha256::new();
        digest.update([u8::from(self.element.inverted)]);
        if let Some(bytes) = self.table.fingerprint() {
            digest.update(bytes);
            return Ok(digest.finalize().to_vec());
        }
        let path = self.path();
        let io = |source| RunError::Io { action: "read", path: path.to_owned(), source };
        feed_file(&mut digest, &*workplace.storage, path).map_err(io)?;
        Ok(digest.finalize().to_vec())
    }

    /// Whether it may answer a position and its mirror image differently.
    pub(crate) fn tells_images_apart(&self) -> bool {
        tells_images_apart(&self.table)
    }

    /// What its values prove, in the colours of the table that is made of it.
    pub(crate) fn claims(&self) -> Claims {
        let claims = self.table.claims();
        match self.inverted.as_slice() {
            [false] => claims,
            [true] => claims.swapped(),
            _ => claims.and(claims.swapped()),
        }
    }

    /// The defect of the original program that may have spoilt it.
    pub(crate) fn defect(&self) -> Option<Defect> {
        Defect::of(self.table.control())
    }

    /// Whether it is given for positions with these men, in the colours of the table that is made
    /// of it.
    fn is_given_for(&self, material: &Material) -> bool {
        let own = material_of(&self.table);
        self.given.iter().any(|&inverted| {
            let oriented = if inverted { own.swapped() } else { own };
            oriented == *material
        })
    }

    /// What reading it costs, in positions that are solved and written meanwhile.
    pub(crate) fn work(&self) -> u64 {
        let indices = self.table.space().size();
        if self.is_asked() { indices.saturating_mul(ASKED) } else { indices / READ }
    }

    /// Whether it is a table of ours.
    pub(crate) fn is_own(&self) -> bool {
        ForeignKind::of(self.path()).is_none()
    }

    /// Whether every position is asked for by itself.
    fn is_asked(&self) -> bool {
        ForeignKind::of(self.path()).is_some_and(|kind| kind != ForeignKind::Syzygy)
    }

    /// Bytes of memory that as much of its values takes as is needed, see
    /// [`OpenFuturebase::wanted`].
    pub(crate) fn bytes(&self, (material, behind): (&Material, &Behind)) -> u64 {
        let space = self.table.space();
        let mut layout = hoffman_table::rows::layout_of(space);
        if self.tells_images_apart() && layout.kings() == KingPlacement::Pairs {
            layout = Layout::without_symmetry(&material_of(&self.table));
        }
        let wanted = self.wanted(material, behind);
        let is_wanted =
            |s: &&PawnSquares| wanted.structures.as_ref().is_none_or(|all| all.contains(s));
        let structures = hoffman_table::rows::structures_of(space);
        let structures = structures.iter().filter(is_wanted).count() as u64;
        let sides = wanted.sides.into_iter().filter(|&side| side).count() as u64;
        (layout.len() as u64).saturating_mul(sides).saturating_mul(structures)
    }

    /// Bytes of memory that its entries take while they are read; of a table of another program
    /// that is bounded by itself.
    pub(crate) fn entries(&self) -> u64 {
        if !self.is_own() {
            return 0;
        }
        let packed = self.table.codec().area_bytes(self.table.space().size());
        // The values of a complete ending in the block format are all decoded.
        if self.table.is_of_blocks() { packed.max(self.table.space().size()) } else { packed }
    }

    /// What is needed of it by a table with these men, whose moves lead to these pawn structures;
    /// `form` says which images of a structure share a slice there.
    fn wanted(&self, material: &Material, behind: &Behind) -> Wanted {
        let own = material_of(&self.table);
        let free = !self.table.pieces().iter().any(ListedPiece::is_restricted);
        let normal = self.table.variant() == Variant::Normal;
        let known = (free && normal)
            .then(|| Wanted::behind(material, [true; 2]).remove(&own.normalized().0));
        let mut wanted = known.flatten().unwrap_or_else(Wanted::all);
        if let Some(behind) = behind {
            let oriented = |&swap: &bool| {
                let orientation = Orientation { swap, mirror: false };
                behind.iter().map(move |s| s.oriented(orientation))
            };
            wanted.structures = Some(Arc::new(self.inverted.iter().flat_map(oriented).collect()));
        }
        wanted.apart = self.tells_images_apart();
        wanted
    }

    /// The values of a table that the same promotions to another man lead to, if only the better of
    /// the two counts: where nothing is pruned.
    fn another<'f>(
        &self,
        control: &ControlFile,
        wanted: &Wanted,
        read: &'f [Futurebase],
    ) -> Option<&'f TableValues> {
        let &[(color, role)] = wanted.on_edge.as_slice() else { return None };
        if !control.prunes.is_empty() {
            return None;
        }
        let without = |material: &Material, role: Role| {
            let mut rest = *material;
            let count = rest.count.get_mut(color).get_mut(role);
            *count = count.checked_sub(1)?;
            Some(rest)
        };
        let rest = without(&material_of(&self.table).normalized().0, role)?;
        let alike = |other: &&Futurebase| {
            // Those with places for the last rank only were asked for in the same way.
            let asked = !other.values.layout.is_complete();
            let mut roles = PROMOTIONS.into_iter();
            asked && roles.any(|role| without(&other.values.material, role) == Some(rest))
        };
        // The last of them has the losses of the others.
        read.iter().rev().find(alike).map(|other| &*other.values)
    }

    /// Reads as much of its values as is needed, see [`OpenFuturebase::wanted`]; `area` as in
    /// [`values_of`]. Others were `read` before it.
    pub(crate) fn read(
        &self,
        control: &ControlFile,
        (material, behind): (&Material, &Behind),
        read: &[Futurebase],
        run: RunContext<'_>,
        area: &mut Vec<u8>,
    ) -> Result<Vec<Futurebase>, RunError> {
        let wanted = self.wanted(material, behind);
        let exact = matches!(control.entry_format(), Format::Dtm(_));
        let sound = tells_illegal(self.table.codec());
        // Bare kings are drawn in every format.
        let bare_kings = self.table.pieces().len() == 2
            && !self.table.pieces().iter().any(ListedPiece::is_restricted);
        let normal = control.variant == Variant::Normal;
        let taking = taking_of(control.entry_format());
        // What a file of blocks has decoded by then goes with the table that was read: another one
        // of the same file, if it still is the same.
        let again = self.table.is_of_blocks().then(|| open_own(self.path(), run.workplace));
        let again = again.transpose()?.filter(|t| t.fingerprint() == self.table.fingerprint());
        let table = again.as_ref().unwrap_or(&self.table);
        let values = if normal && (bare_kings || exact && sound) {
            values_of(table, (&wanted, taking), run, area)?
        } else {
            let another = self.another(control, &wanted, read);
            decode_table(table, &wanted, taking, another, run, area)?
        };
        let own = material_of(&self.table);
        let values = Arc::new(values);
        let turned = values.material != own;
        let futurebase =
            |&inverted: &bool| Futurebase { values: values.clone(), swapped: inverted != turned };
        Ok(self.inverted.iter().map(futurebase).collect())
    }
}

/// Whether a table may hold other values for a position than for its mirror image: without
/// restrictions and prunes its values are those of chess, which are the same.
fn tells_images_apart(table: &Table) -> bool {
    table.pieces().iter().any(ListedPiece::is_restricted)
        || !table.control().prune_enables.is_empty()
}

pub(crate) fn material_of(table: &Table) -> Material {
    Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)))
}

/// Opens the futurebases of a control file and checks that they can be used. The last of `place` is
/// where the table goes.
pub(crate) fn open_all<'c>(
    control: &'c ControlFile,
    numbering: &Numbering,
    foreign: &ForeignOptions,
    (workplace, output): (&Workplace, &Path),
    progress: &dyn Progress,
) -> Result<Vec<OpenFuturebase<'c>>, RunError> {
    let material = Material::from_men(numbering.pieces().iter().map(|p| (p.color, p.role)));
    let mut all: Vec<OpenFuturebase<'c>> = Vec::new();
    for element in &control.futurebases {
        let fail = |problem: FuturebaseProblem| RunError::Futurebase {
            place: control.site(element.place, "futurebase").to_string(),
            problem: Box::new(problem),
        };
        for path in files(element, workplace).map_err(fail)? {
            if is_same_file(&*workplace.storage, &path, output) {
                if has_wildcards(&element.filename) && path != Path::new(&element.filename) {
                    // A pattern does not mean the table itself.
                    continue;
                }
                return Err(fail(FuturebaseProblem::Output(path)));
            }
            let table = open(&path, foreign, workplace).map_err(|error| match error {
                error if error.is_stopped() => error.into(),
                error => fail(error.into()),
            })?;
            check(control, &table, element, numbering, &material).map_err(|misfit| {
                fail(FuturebaseProblem::Misfit { path: table.path().to_owned(), misfit })
            })?;
            if let Some(named) = other_ending(&path, &material_of(&table)) {
                progress.notice(&format!(
                    "{}: '{}' holds {}, not {named} as its name says; it is used for what it holds",
                    control.site(element.place, "futurebase"),
                    path.display(),
                    material_of(&table)
                ));
            }
            add(&mut all, control, (element, table), numbering, progress)?;
        }
    }
    Ok(all)
}

/// Adds a table to those that are open, or notes that it is among them.
fn add<'c>(
    all: &mut Vec<OpenFuturebase<'c>>,
    control: &ControlFile,
    (element, table): (&'c FuturebaseElement, Table),
    numbering: &Numbering,
    progress: &dyn Progress,
) -> Result<(), RunError> {
    let own = material_of(&table);
    // Whether exchanging its colours gives the same table.
    let twin = own.is_symmetric() && !table.pieces().iter().any(ListedPiece::is_restricted);

    // Without a side to move the table's Black moves as its White does.
    let both = !numbering.space.has_side_bit() && !twin;
    let Some(known) = all.iter_mut().find(|known| known.path() == table.path() && (both || twin))
    else {
        let inverted = if both { vec![false, true] } else { vec![element.inverted] };
        let given = vec![element.inverted];
        all.push(OpenFuturebase { element, table, inverted, given });
        return Ok(());
    };

    // The same file once more: plain and inverted twins say the same.
    if known.element.inverted == element.inverted {
        let material = Material::from_men(numbering.pieces().iter().map(|p| (p.color, p.role)));
        return Err(twice(control, element, &material, &own));
    }

    known.given.push(element.inverted);
    progress.notice(&format!(
        "{}: '{}' is used once; exchanging its colours adds nothing",
        control.site(element.place, "futurebase"),
        table.path().display()
    ));
    Ok(())
}

/// The ending that a file is named after, if it holds another one.
fn other_ending(path: &Path, own: &Material) -> Option<Material> {
    let named: Material = path.file_stem()?.to_str()?.parse().ok()?;
    (named != *own && named.swapped() != *own).then_some(named)
}

/// Whether moves of the two colours are answered or pruned in different ways, in a table that would
/// store one side to move. What is given for one colour alone stands for both.
pub(crate) fn differ_by_color(control: &ControlFile, open: &[OpenFuturebase<'_>]) -> bool {
    let Ok(pieces) = hoffman_control::resolve_pieces(control) else { return false };
    let material = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
    let handled = |m: &Futuremove| {
        let answers = |one: &&OpenFuturebase<'_>| one.is_given_for(&m.behind);
        let files: BTreeSet<&Path> =
            open.iter().filter(answers).map(OpenFuturebase::path).collect();
        (files, prune_of(control, m.mover, m.kind))
    };
    let moves = futuremoves(&material, control.variant);
    let (whites, blacks): (Vec<_>, Vec<_>) = moves.iter().partition(|m| m.mover == Color::White);
    whites.into_iter().any(|white| {
        let image = |black: &&&Futuremove| {
            black.kind == white.kind && black.behind == white.behind.swapped()
        };
        let Some(black) = blacks.iter().find(image) else { return false };
        let nothing = (BTreeSet::new(), None);
        let (white, black) = (handled(white), handled(black));
        white != nothing && black != nothing && white != black
    })
}

fn twice(
    control: &ControlFile,
    element: &FuturebaseElement,
    material: &Material,
    own: &Material,
) -> RunError {
    let behind = if element.inverted { own.swapped() } else { *own };
    let taken = futuremoves(material, control.variant).into_iter().find(|m| m.behind == behind);
    RunError::Twice {
        place: control.site(element.place, "futurebase").to_string(),
        mover: taken.as_ref().map_or("", |m| color_name(m.mover)),
        kind: taken.map_or(String::new(), |m| m.kind.to_string()),
    }
}

/// The files that an element names; wildcards are expanded.
fn files(
    element: &FuturebaseElement,
    workplace: &Workplace,
) -> Result<Vec<PathBuf>, FuturebaseProblem> {
    let name = &element.filename;
    if name.is_empty() {
        return Err(FuturebaseProblem::Url);
    }
    let path = &*workplace.locate(name);
    if is_file(&*workplace.storage, path) || ForeignKind::of(path).is_some() && !has_wildcards(name)
    {
        return Ok(vec![path.to_owned()]);
    }
    if has_wildcards(name) {
        let found = workplace.files_like(name);
        let found =
            found.map_err(|source| FuturebaseProblem::Folder { name: name.clone(), source })?;
        if found.is_empty() {
            return Err(FuturebaseProblem::NoneFits(name.clone()));
        }
        return Ok(found);
    }
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("rtbz")) {
        return Err(FuturebaseProblem::Rtbz(name.clone()));
    }
    Err(FuturebaseProblem::Missing(name.clone()))
}

/// Opens a table, ours or another program's.
fn open(path: &Path, foreign: &ForeignOptions, workplace: &Workplace) -> Result<Table, TableError> {
    let table = if ForeignKind::of(path).is_some() {
        let (storage, stop) = (workplace.storage.clone(), workplace.stop.clone());
        // A few files may be that large.
        let held = workplace.memory.map_or(foreign.held, |memory| memory.bytes / 32);
        Table::open_foreign(path, &ForeignOptions { storage, stop, held, ..foreign.clone() })?
    } else {
        open_own(path, workplace)?
    };
    table.check_complete()?;
    Ok(table)
}

/// Opens a table of ours.
fn open_own(path: &Path, workplace: &Workplace) -> Result<Table, TableError> {
    let mut table = Table::open(path, workplace.source_options())?;
    table.check_length()?;
    Ok(table)
}
