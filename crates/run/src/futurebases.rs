//! The futurebases of a control file: found, checked against the table to be made, and read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Color, Format, FuturemoveKind, ListedPiece, Material, Role, Variant};
use hoffman_control::{
    Claims, ControlFile, Defect, FuturebaseElement, FuturebaseKind, Prune, PruneEnable,
};
use hoffman_pages::Pages;
use hoffman_plan::ending::PROMOTIONS;
use hoffman_solve::Futurebase;
use hoffman_space::{KingPlacement, Layout, Orientation, PawnStructure, TableValues};
use hoffman_store::{has_wildcards, is_file, is_same_file};
use hoffman_table::foreign::{ForeignOptions, Kind};
use hoffman_table::rows::{Taking, Wanted};
use hoffman_table::{Stop, Table, TableError};
use sha2::{Digest as _, Sha256};

use crate::build::{decode_table, tells_illegal, values_of, wanted_values};
use crate::error::RunError;
use crate::generate::prune_of;
use crate::numbering::Numbering;
use crate::progress::Progress;
use crate::workplace::Workplace;

/// The pawn structures behind the moves out of a table, in its colours; none: all of them.
pub(crate) type Behind = Option<BTreeSet<PawnStructure>>;

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

    /// Bytes that differ where what the table says does: a digest of the file. For a file of ours that is one
    /// of its checksums.
    pub(crate) fn fingerprint(&self, workplace: &Workplace) -> Result<Vec<u8>, RunError> {
        let mut digest = Sha256::new();
        digest.update([u8::from(self.element.inverted)]);
        if let Some(bytes) = self.table.fingerprint() {
            digest.update(bytes);
            return Ok(digest.finalize().to_vec());
        }
        let path = self.path();
        let io = |source| RunError::Io { action: "read", path: path.to_owned(), source };
        let file = workplace.storage.open(path).map_err(io)?;
        let mut buffer = vec![0; 1 << 20];
        let mut at = 0;
        loop {
            let got = file.read_at(&mut buffer, at).map_err(io)?;
            if got == 0 {
                return Ok(digest.finalize().to_vec());
            }
            digest.update(&buffer[..got]);
            at += got as u64;
        }
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

    /// Whether it is given for positions with these men, in the colours of the table that is made of it.
    fn is_given_for(&self, material: &Material) -> bool {
        let own = material_of(&self.table);
        self.given.iter().any(|&inverted| {
            let oriented = if inverted { own.swapped() } else { own };
            oriented == *material
        })
    }

    /// How many indices it has.
    pub(crate) fn indices(&self) -> u64 {
        self.table.space().size()
    }

    /// Whether it is a table of ours.
    pub(crate) fn is_own(&self) -> bool {
        Kind::of(self.path()).is_none()
    }

    /// Whether every position is asked for by itself.
    pub(crate) fn is_asked(&self) -> bool {
        Kind::of(self.path()).is_some_and(|kind| kind != Kind::Syzygy)
    }

    /// Bytes of memory that its values take.
    pub(crate) fn bytes(&self) -> u64 {
        let space = self.table.space();
        let mut layout = hoffman_table::rows::layout_of(space);
        if self.tells_images_apart() && layout.kings() == KingPlacement::Pairs {
            layout = Layout::without_symmetry(&material_of(&self.table));
        }
        let structures = hoffman_table::rows::structures_of(space).len() as u64;
        (layout.len() as u64).saturating_mul(2).saturating_mul(structures)
    }

    /// What is needed of it by a table with these men, whose moves lead to these pawn structures; `form`
    /// says which images of a structure share a slice there.
    fn wanted(&self, material: &Material, behind: &Behind) -> Wanted {
        let own = material_of(&self.table);
        let free = !self.table.pieces().iter().any(ListedPiece::is_restricted);
        let normal = self.table.variant() == Variant::Normal;
        let known = (free && normal).then(|| wanted_values(material).remove(&own.normalized().0));
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

    /// The values of a table that the same promotions to another man lead to, if only the better of the two
    /// counts: where nothing is pruned.
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
        place: (Option<&Arc<Pages>>, &Stop),
        read: &[Futurebase],
        area: &mut Vec<u8>,
    ) -> Result<Vec<Futurebase>, RunError> {
        let wanted = self.wanted(material, behind);
        let exact = matches!(control.entry_format(), Format::Dtm(_));
        let sound = tells_illegal(self.table.codec());
        // Bare kings are drawn in every format.
        let bare_kings = self.table.pieces().len() == 2
            && !self.table.pieces().iter().any(hoffman_board::ListedPiece::is_restricted);
        let normal = control.variant == Variant::Normal;
        let values = if normal && (bare_kings || exact && sound) {
            values_of(&self.table, &wanted, place, area)?
        } else {
            let taking = if exact { Taking::Exactly } else { Taking::ByOutcome };
            let another = self.another(control, &wanted, read);
            decode_table(&self.table, &wanted, taking, place, another, area)?
        };
        let own = material_of(&self.table);
        let values = Arc::new(values);
        let turned = values.material != own;
        let futurebase =
            |&inverted: &bool| Futurebase { values: values.clone(), swapped: inverted != turned };
        Ok(self.inverted.iter().map(futurebase).collect())
    }
}

/// Whether a table may hold other values for a position than for its mirror image: without restrictions and
/// prunes its values are those of chess, which are the same.
fn tells_images_apart(table: &Table) -> bool {
    table.pieces().iter().any(ListedPiece::is_restricted)
        || !table.control().prune_enables.is_empty()
}

pub(crate) fn material_of(table: &Table) -> Material {
    Material::from_men(table.pieces().iter().map(|p| (p.color, p.role)))
}

/// Opens the futurebases of a control file and checks that they can be used. The last of `place` is where the
/// table goes.
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
        let fail = |problem: String| RunError::Futurebase {
            place: control.site(element.place, "futurebase").to_string(),
            problem,
        };
        for path in files(element, workplace).map_err(fail)? {
            if is_same_file(&*workplace.storage, &path, output) {
                if has_wildcards(&element.filename) && path != Path::new(&element.filename) {
                    // A pattern does not mean the table itself.
                    continue;
                }
                let problem = "this is the output file, which would replace its own futurebase";
                return Err(fail(format!("'{}': {problem}", path.display())));
            }
            let table = open(&path, foreign, workplace).map_err(|error| match error {
                error if error.is_stopped() => error.into(),
                error => fail(error.to_string()),
            })?;
            check(control, &table, element, numbering, &material).map_err(fail)?;
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

/// Whether moves of the two colours are answered or pruned in different ways, in a table that would store one
/// side to move. What is given for one colour alone stands for both.
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
fn files(element: &FuturebaseElement, workplace: &Workplace) -> Result<Vec<PathBuf>, String> {
    let name = &element.filename;
    if name.is_empty() {
        return Err("tables are read from files only, give a filename instead of a url".into());
    }
    let path = &*workplace.locate(name);
    if is_file(&*workplace.storage, path) || Kind::of(path).is_some() && !has_wildcards(name) {
        return Ok(vec![path.to_owned()]);
    }
    if has_wildcards(name) {
        let found = workplace.files_like(name);
        let found = found.map_err(|e| format!("'{name}': {e}"))?;
        if found.is_empty() {
            return Err(format!("'{name}': no file fits the pattern"));
        }
        return Ok(found);
    }
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("rtbz")) {
        return Err(format!("'{name}': Syzygy rtbz tables cannot be used, use rtbw"));
    }
    Err(format!("'{name}': there is no such file"))
}

/// Opens a table, ours or another program's.
fn open(path: &Path, foreign: &ForeignOptions, workplace: &Workplace) -> Result<Table, TableError> {
    let table = if Kind::of(path).is_some() {
        let storage = workplace.storage.clone();
        // A few files may be that large.
        let held = workplace.memory.map_or(foreign.held, |memory| memory.bytes / 32);
        Table::open_foreign(path, &ForeignOptions { storage, held, ..foreign.clone() })?
    } else {
        let mut table = Table::open(path, workplace.source_options())?;
        table.check_length()?;
        table
    };
    table.check_complete()?;
    Ok(table)
}

/// The conditions for using a table as futurebase.
fn check(
    control: &ControlFile,
    table: &Table,
    element: &FuturebaseElement,
    numbering: &Numbering,
    material: &Material,
) -> Result<(), String> {
    let name = table.path().display();
    if table.variant() != control.variant {
        return Err(format!("'{name}': the futurebase is for another variant of chess"));
    }
    // Of a file with other men nothing else matters.
    let plain = material_of(table);
    let behind = if element.inverted { plain.swapped() } else { plain };
    let relation = if behind == *material {
        if !element.inverted && holds_the_same(table, numbering) {
            return Err(format!("'{name}': the futurebase holds the men of the table itself"));
        }
        FuturebaseKind::Normal
    } else {
        let moves = futuremoves(material, control.variant);
        let relation = moves.iter().find(|m| m.behind == behind).map(|m| m.relation);
        relation.ok_or_else(|| unrelated(material, &behind, &name.to_string()))?
    };
    check_formats(control, table, element.inverted)?;
    check_enabled(control, table, element.inverted)?;

    let (theirs, ours) = (table.space().symmetry(), numbering.symmetry);
    if theirs < ours && tells_images_apart(table) {
        return Err(format!(
            "'{name}': the futurebase has symmetry {theirs}, less than the {ours} of the table, and may tell \
             mirror images apart; write <index type=\"{}\" symmetry=\"{theirs}\"/>",
            numbering.space.index_type().name()
        ));
    }
    match element.kind.filter(|&kind| kind != relation) {
        Some(kind) => Err(format!(
            "'{name}': the type '{}' was given, but the table is reached by {}",
            kind.name(),
            relation.name()
        )),
        None => Ok(()),
    }
}

/// The values of a futurebase must hold what those of the table are made from.
fn check_formats(control: &ControlFile, table: &Table, inverted: bool) -> Result<(), String> {
    let name = table.path().display();
    match (control.entry_format(), table.codec().format()) {
        (Format::Dtm(_), Format::Dtm(_)) => Ok(()),
        (Format::Dtm(_), _) => Err(format!(
            "'{name}': a table without distances to mate cannot be used for the dtm format"
        )),
        (Format::Flag(ours), Format::Flag(theirs)) if (ours == theirs) == inverted => Err(format!(
            "'{name}': a flag table answers the question of another flag table only if both ask the \
             same; with colours exchanged white-wins goes with white-draws"
        )),
        (Format::Flag(_), _) => Ok(()),
        (_, Format::Flag(_)) => {
            Err(format!("'{name}': a table of one bit can be used for a table of one bit only"))
        }
        _ => Ok(()),
    }
}

/// What was pruned in a futurebase has to be enabled in the table.
fn check_enabled(control: &ControlFile, table: &Table, inverted: bool) -> Result<(), String> {
    let name = table.path().display();
    for enabled in &table.control().prune_enables {
        let color = if inverted { enabled.color.other() } else { enabled.color };
        let missing = if !control.enables(color, enabled.effect) {
            color
        } else if !control.enables(color.other(), enabled.effect) && stands_for_both(table, enabled)
        {
            color.other()
        } else {
            continue;
        };
        return Err(format!(
            "'{name}': the futurebase was made with {} moves open to '{}', and this file enables no \
             such pruning",
            color_name(missing).to_lowercase(),
            enabled.effect.name()
        ));
    }
    Ok(())
}

/// Whether moves of both sides may be pruned as a table says of one: White's moves stand for Black's where the
/// side to move is not stored, unless nothing in the table is pruned in that way.
fn stands_for_both(table: &Table, enabled: &PruneEnable) -> bool {
    if table.space().has_side_bit() {
        return false;
    }
    let control = table.control();
    let moves = futuremoves(&material_of(table), table.variant());
    let prunes = |prune: &Prune| {
        prune.effect == enabled.effect
            && (prune.is_stalemate() || moves.iter().any(|m| prune.matches(m.kind)))
    };
    !control.futurebases.is_empty() || control.prunes.iter().any(prunes)
}

/// Whether a table has exactly the positions of the table to be made.
fn holds_the_same(table: &Table, numbering: &Numbering) -> bool {
    let sets = |pieces: &hoffman_board::PieceList| {
        let mut sets: Vec<(bool, char, u64)> =
            pieces.iter().map(|p| (p.color == Color::White, p.role.char(), p.legal.0)).collect();
        sets.sort_unstable();
        sets
    };
    sets(table.pieces()) == sets(numbering.pieces())
        && table.space().pawn_structures() == numbering.space.pawn_structures()
}

/// Why a table cannot be reached in one move.
fn unrelated(material: &Material, behind: &Material, name: &str) -> String {
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

/// A move that changes the men.
pub(crate) struct Futuremove {
    pub(crate) mover: Color,
    pub(crate) kind: FuturemoveKind,
    relation: FuturebaseKind,
    /// The men behind it, in the table's colours.
    pub(crate) behind: Material,
}

/// All kinds of captures and promotions.
pub(crate) fn futuremoves(material: &Material, variant: Variant) -> Vec<Futuremove> {
    let mut all = Vec::new();
    let has = |color: Color, role: Role| *material.count.get(color).get(role) > 0;
    let pieces = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];
    // Only in suicide chess can a king be taken, or a pawn become one.
    let pieces = if variant == Variant::Suicide { &pieces[..] } else { &pieces[..4] };
    for mover in [Color::White, Color::Black] {
        let enemy = mover.other();
        for &victim in pieces.iter().chain(&[Role::Pawn]) {
            let Some(behind) = material.without(enemy, victim) else { continue };
            for taker in
                [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn]
            {
                if has(mover, taker) {
                    let kind = FuturemoveKind::Capture { by: taker, of: victim, promotion: None };
                    all.push(Futuremove { mover, kind, relation: FuturebaseKind::Capture, behind });
                }
            }
        }
        let Some(pawnless) = material.without(mover, Role::Pawn) else { continue };
        for &promoted in pieces {
            let behind = pawnless.with(mover, promoted);
            let kind = FuturemoveKind::Promotion(promoted);
            all.push(Futuremove { mover, kind, relation: FuturebaseKind::Promotion, behind });
            for &victim in pieces {
                if let Some(behind) = behind.without(enemy, victim) {
                    let (by, promotion) = (Role::Pawn, Some(promoted));
                    let kind = FuturemoveKind::Capture { by, of: victim, promotion };
                    let relation = FuturebaseKind::CapturePromotion;
                    all.push(Futuremove { mover, kind, relation, behind });
                }
            }
        }
    }
    all
}

pub(crate) const fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "WHITE",
        Color::Black => "BLACK",
    }
}
