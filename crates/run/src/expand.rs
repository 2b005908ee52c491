//! From one control file for a race of pawns to a control file for each table that it needs.
//!
//! The input has a `pawngen` element that leaves the numbers of pawns open. Every pawn may be captured, so
//! there is a table for each pair of numbers from the start downwards, until a given futurebase answers.
//! A promotion, or the capture of a piece, leads to a given futurebase or else has to be pruned; promotions
//! that are played out have an input of their own, with `white-queens-required`.
//!
//! Files of 2006 have no such element. Their pawns are `piece` elements with plus signs, and the tables
//! follow from the prunes: what is not pruned is followed, promotions too, and a table is told from others
//! by its men. Men that came from promotion are added to the list of pieces and required by the `pawngen`
//! element of that table; captures that pawns can have made on the way to a table are allowed by it. A
//! `pawngen-condition` is decided for each table: the prune is kept without the attribute, or left out. What was pruned is pruned even where a given futurebase would answer.
//!
//! Tables that no arrangement of the pawns fits are neither written nor named by others.

mod family;
mod input;
mod seal;
#[cfg(test)]
mod tests;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hoffman_board::{Color, FuturemoveKind, Material, Role, Variant};
use hoffman_control::{
    ControlFile, FuturebaseElement, IndexType, PawnMasks, PawngenElement, Place, Prune, decode_text,
};
use hoffman_plan::pawngen::{PawngenError, all_arrangements, masks};
use hoffman_store::{disk, has_wildcards};
use hoffman_table::Stop;
use hoffman_table::htb::AtomicFile;

pub(crate) use self::family::Family;
use self::input::{check_input, men_of_futurebase, structure_of_pieces};
pub(crate) use self::seal::creation;
use self::seal::{is_sealed, mark, sealed};
use crate::condition::{Condition, PawnFiles};
use crate::error::{RunError, write_error};
use crate::futurebases::{Futuremove, futuremoves};
use crate::numbering::bounds;
use crate::workplace::Workplace;

/// More tables than this are not made from one file.
const MAX_TABLES: usize = 10_000;

/// One table of an expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The name of its control file.
    pub name: PathBuf,
    /// The text of its control file.
    pub control: String,
    /// The file of the table, as the control file names it.
    pub output: PathBuf,
    /// The futurebases that the control file names.
    pub futurebases: Vec<PathBuf>,
}

/// What became of a control file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The given futurebases with their men: `K1K1` are kings with a pawn each. Inverted ones are left out.
    pub found: Vec<(String, String)>,
    /// The control file.
    pub origin: String,
    /// The tables, each after those that it needs.
    pub tables: Vec<Expanded>,
    /// The name of a Makefile for the tables.
    pub makefile: PathBuf,
    /// Remarks for the user.
    pub notices: Vec<String>,
}

/// Whether a control file is the input of an expansion: its `pawngen` element leaves both numbers of pawns
/// open, or it has pawns with plus signs and names no output, as in 2006.
pub(crate) fn is_input(control: &ControlFile) -> bool {
    match &control.pawngen {
        Some(element) => {
            element.white.pawns_required.is_none() && element.black.pawns_required.is_none()
        }
        None => control.output.is_none() && control.pieces.iter().any(|piece| piece.plus.is_some()),
    }
}

/// Works out the tables of a control file. Their files and control files are named after it, in `folder`
/// if there is one, else beside it. Futurebases that it names must be there, as their men are read.
///
/// # Errors
///
/// The file is no input of an expansion, or asks for what cannot be done; a futurebase cannot be used.
pub fn expand(
    path: &Path,
    folder: Option<&Path>,
    workplace: &Workplace,
) -> Result<Expansion, RunError> {
    let control = read_input(path, workplace)?;
    Input::new(&control, Family::of(&control, path, folder)?, workplace)?.expand(&workplace.stop)
}

/// Writes the control files of an expansion, and its Makefile if `make` can handle the names. Returns
/// the name of the Makefile if it was written.
///
/// # Errors
///
/// A file cannot be written, or would replace one that is not as an expansion wrote it.
pub fn write_expansion(expansion: &Expansion) -> Result<Option<&Path>, RunError> {
    let makefile = makefile(expansion);
    let controls = expansion.tables.iter().map(|table| (table.name.as_path(), &table.control));
    let makefiles = makefile.iter().map(|text| (expansion.makefile.as_path(), text));
    let files: Vec<(&Path, &String)> = controls.chain(makefiles).collect();
    // Before the first one is written.
    files.iter().try_for_each(|&(path, text)| expect_replaceable(path, text))?;
    files.iter().try_for_each(|&(path, text)| write_text(path, text))?;
    Ok(makefile.is_some().then_some(expansion.makefile.as_path()))
}

/// Refuses to replace a file by a text unless it has the text already, or is as an expansion wrote it.
fn expect_replaceable(path: &Path, text: &str) -> Result<(), RunError> {
    let found = match hoffman_store::read(&*disk(), path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(RunError::Io { action: "read", path: path.to_owned(), source }),
    };
    let found = String::from_utf8_lossy(&found);
    if found == text || is_sealed(&found) {
        return Ok(());
    }
    let why = format!("{}: is not as pawngen wrote it", path.display());
    Err(RunError::InTheWay { path: path.to_owned(), why })
}

fn write_text(path: &Path, text: &str) -> Result<(), RunError> {
    let file = AtomicFile::create(path).map_err(|e| write_error(path, &e))?;
    let io = |source| RunError::Io { action: "write", path: path.to_owned(), source };
    file.writer().write_all(text.as_bytes()).map_err(io)?;
    file.commit().map_err(|e| write_error(path, &e))
}

/// Rules for `make`: which table is made from what. None if a name holds what `make` or a shell would read
/// as something else.
fn makefile(expansion: &Expansion) -> Option<String> {
    let plain = |path: &Path| {
        let harmless =
            |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | ',');
        let name = path.to_str()?;
        (!name.starts_with('-') && name.chars().all(harmless)).then(|| name.to_owned())
    };
    let mut all = format!("# {}\n\nHOFFMAN = hoffman\n\nall:", mark(&expansion.origin));
    let mut rules = String::new();
    for table in &expansion.tables {
        let (output, name) = (plain(&table.output)?, plain(&table.name)?);
        // Writing to a string cannot fail.
        let _ = write!(all, " \\\n\t{output}");
        let _ = write!(rules, "\n{output}: {name}");
        for futurebase in &table.futurebases {
            let _ = write!(rules, " {}", plain(futurebase)?);
        }
        let _ = writeln!(rules, "\n\t$(HOFFMAN) -g {name}");
    }
    Some(sealed(&format!("{all}\n{rules}")))
}

/// Reads a control file that may be an input.
pub(crate) fn read_input(path: &Path, workplace: &Workplace) -> Result<ControlFile, RunError> {
    let bytes = workplace.read_control(path)?;
    let origin = path.display().to_string();
    let text = decode_text(&bytes, &origin)?;
    Ok(ControlFile::parse_for_expansion(&text, &origin)?)
}

/// A futurebase that the input names.
struct Given {
    name: String,
    inverted: bool,
    /// Its men, in the colours of the input.
    material: Material,
}

/// A futurebase that a table will name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Given(usize),
    Own(Material),
}

/// A table to be made, known by its men.
struct Node {
    /// How many captures White's and Black's pawns can have made on the way to it.
    captures: [u64; 2],
    named: Vec<Named>,
    /// Where its pawns can stand. None: no arrangement fits.
    masks: Option<PawnMasks>,
    /// On which files they can be at a time.
    pawns: Vec<PawnFiles>,
}

/// The input, understood.
struct Input<'c> {
    control: &'c ControlFile,
    family: Family,
    /// Whether the pawns have plus signs.
    old: bool,
    /// The start, its numbers of pawns left open.
    element: PawngenElement,
    /// The men but pawns that the input lists.
    pieces: Material,
    /// The conditions of the prunes.
    conditions: Vec<Option<Condition>>,
    given: Vec<Given>,
    notices: Vec<String>,
}

impl<'c> Input<'c> {
    fn new(
        control: &'c ControlFile,
        family: Family,
        workplace: &Workplace,
    ) -> Result<Input<'c>, RunError> {
        let old = control.pawngen.is_none();
        let element = match &control.pawngen {
            Some(element) => element.clone(),
            None => structure_of_pieces(control)?,
        };
        check_input(control, &element)?;
        let pieces = control.pieces.iter().filter(|piece| piece.role != Role::Pawn);
        let mut conditions = Vec::new();
        for prune in &control.prunes {
            let parsed = prune.condition.as_deref().map(Condition::parse).transpose();
            let fail = |problem| fail(control, prune.place, "prune", problem);
            conditions.push(parsed.map_err(fail)?);
        }
        let mut input = Input {
            control,
            family,
            old,
            element,
            pieces: Material::from_men(pieces.map(|piece| (piece.color, piece.role))),
            conditions,
            given: Vec::new(),
            notices: control.notices.iter().map(ToString::to_string).collect(),
        };
        input.find_given(workplace)?;
        Ok(input)
    }

    /// Finds the futurebases and their men.
    fn find_given(&mut self, workplace: &Workplace) -> Result<(), RunError> {
        let control = self.control;
        for element in &control.futurebases {
            let fail = |problem: String| RunError::Futurebase {
                place: control.site(element.place, "futurebase").to_string(),
                problem,
            };
            let names = self.files(element, workplace).map_err(fail)?;
            if names.is_empty() {
                let place = control.site(element.place, "futurebase");
                let name = &element.filename;
                self.notices.push(format!("{place}: '{name}': no file fits the pattern"));
            }
            for name in names {
                let path = workplace.locate(&name);
                let plain = men_of_futurebase(&path, element.inverted, control).map_err(fail)?;
                let material = if element.inverted { plain.swapped() } else { plain };
                self.given.push(Given { name, inverted: element.inverted, material });
            }
        }
        Ok(())
    }

    /// The files that an element names. A pattern does not mean the tables that are to be made.
    fn files(
        &self,
        element: &FuturebaseElement,
        workplace: &Workplace,
    ) -> Result<Vec<String>, String> {
        let name = &element.filename;
        if !has_wildcards(name) || workplace.locate(name).is_file() {
            return Ok(vec![name.clone()]);
        }
        let mut names = Vec::new();
        for path in workplace.files_like(name).map_err(|e| format!("'{name}': {e}"))? {
            let text = path.to_str().ok_or_else(|| format!("'{}': not UTF-8", path.display()))?;
            if !self.family.has(text) {
                names.push(text.to_owned());
            }
        }
        Ok(names)
    }

    fn expand(mut self, stop: &Stop) -> Result<Expansion, RunError> {
        if self.old {
            let index = self.control.index.as_ref().filter(|_| self.drops_index());
            if let Some(index) = index.filter(|index| !index.on_root) {
                let place = self.control.site(index.place, "index");
                let text = "cannot number pawn structures; combinadic5 is used instead";
                self.notices.push(format!("{place}: {text}"));
            }
        }
        let nodes = self.nodes(stop)?;
        let exists = |named: &Named| match named {
            Named::Given(_) => true,
            Named::Own(behind) => nodes.get(behind).is_some_and(|node| node.masks.is_some()),
        };
        let mut tables: Vec<(&Material, &Node)> =
            nodes.iter().filter(|(_, node)| node.masks.is_some()).collect();
        if tables.is_empty() {
            let problem = PawngenError::Empty.to_string();
            return Err(fail(self.control, self.element.place, self.element_name(), problem));
        }
        // A move takes a man or a pawn away.
        tables.sort_by_key(|(material, _)| order(material));
        let mut expansion = Expansion {
            found: Vec::new(),
            origin: self.control.origin.clone(),
            tables: Vec::new(),
            makefile: PathBuf::from(format!("{}.mk", self.family.stem)),
            notices: self.notices.clone(),
        };
        for given in self.given.iter().filter(|given| !given.inverted) {
            expansion.found.push((key(&given.material), given.name.clone()));
        }
        for (material, node) in tables {
            let named = node.named.iter().copied().filter(|named| exists(named)).collect();
            expansion.tables.push(self.render(material, node, named)?);
        }
        Ok(expansion)
    }

    /// Whether the index element of an old file cannot stay: such files had to have one.
    fn drops_index(&self) -> bool {
        self.old
            && (matches!(self.control.index_type(), IndexType::Compact | IndexType::Simple)
                || self.control.symmetry().is_some_and(|symmetry| symmetry > 1))
    }

    fn element_name(&self) -> &'static str {
        if self.old { "piece" } else { "pawngen" }
    }

    /// The men of the start.
    fn start(&self) -> Material {
        let mut material = self.pieces;
        for color in Color::ALL {
            let side = self.element.side(color);
            // A start has at most 48 pawns, and the input was checked.
            let pawns = (side.start.count() as u64).saturating_sub(side.queens_required);
            material.count.get_mut(color).pawn = u8::try_from(pawns).unwrap_or(u8::MAX);
        }
        material
    }

    /// All tables, the ones that no arrangement fits among them.
    fn nodes(&self, stop: &Stop) -> Result<HashMap<Material, Node>, RunError> {
        let new = |captures| Node { captures, named: Vec::new(), masks: None, pawns: Vec::new() };
        let is_stopped = || stop.is_requested();
        let mut done = HashMap::new();
        // The men furthest up first: all ways to a table are known when it is looked at.
        let mut todo: BTreeMap<_, (Material, Node)> = BTreeMap::new();
        let start = self.start();
        todo.insert(Reverse(order(&start)), (start, new([0; 2])));
        while let Some((_, (material, mut node))) = todo.pop_first() {
            if done.len() + todo.len() >= MAX_TABLES {
                let problem = format!(
                    "more than {MAX_TABLES} tables would be needed; prune promotions, or give \
                     futurebases that end the play"
                );
                return Err(fail(self.control, self.element.place, self.element_name(), problem));
            }
            match all_arrangements(&self.element_of(&material, &node), bounds(&is_stopped)) {
                Ok(found) => {
                    node.masks = Some(masks(&found));
                    let files: BTreeSet<_> = found.iter().map(|a| PawnFiles::of(a.pawns)).collect();
                    node.pawns = files.into_iter().collect();
                }
                Err(PawngenError::Empty) => {}
                Err(PawngenError::Stopped) => {
                    return Err(RunError::Interrupted { checkpoint: None });
                }
                Err(error) => {
                    let problem = error.to_string();
                    let name = self.element_name();
                    return Err(fail(self.control, self.element.place, name, problem));
                }
            }
            let exits = self.exits(&material, &node)?;
            for exit in exits {
                let given = |(_, given): &(usize, &Given)| given.material == exit.behind;
                let mut found = self.given.iter().enumerate().filter(given).peekable();
                let named: Vec<Named> = match found.peek() {
                    Some(_) => found.map(|(number, _)| Named::Given(number)).collect(),
                    None if exit.may_be_made => {
                        let entry = todo.entry(Reverse(order(&exit.behind)));
                        let (_, behind) = entry.or_insert_with(|| (exit.behind, new([0; 2])));
                        for (i, taken) in exit.captures.into_iter().enumerate() {
                            behind.captures[i] = behind.captures[i].max(node.captures[i] + taken);
                        }
                        vec![Named::Own(exit.behind)]
                    }
                    None => Vec::new(),
                };
                for named in named {
                    if !node.named.contains(&named) {
                        node.named.push(named);
                    }
                }
            }
            done.insert(material, node);
        }
        Ok(done)
    }

    /// The moves by which a table is left.
    fn exits(&self, material: &Material, node: &Node) -> Result<Vec<Exit>, RunError> {
        if !self.old {
            return Ok(exits_by_numbers(material, self.control.variant));
        }
        // The tables of an old file follow from what can be played.
        if node.masks.is_none() {
            return Ok(Vec::new());
        }
        let kept = self.kept_prunes(material, node)?;
        let prunes = || self.control.prunes.iter().zip(&kept).filter(|(_, kept)| **kept);
        let mut exits: Vec<Exit> = Vec::new();
        for Futuremove { mover, kind, behind, .. } in futuremoves(material, self.control.variant) {
            if prunes().any(|(prune, _)| prune.color == mover && prune.matches(kind)) {
                continue;
            }
            // A pawn that takes a piece changes its file, unless it becomes a piece at once.
            let by_pawn = matches!(
                kind,
                FuturemoveKind::Capture { by: Role::Pawn, of, promotion: None } if of != Role::Pawn
            );
            let mut captures = [0; 2];
            captures[usize::from(mover.is_black())] = u64::from(by_pawn);
            exits.push(Exit { behind, may_be_made: true, captures });
        }
        Ok(exits)
    }

    /// Whether each prune holds in a table.
    fn kept_prunes(&self, material: &Material, node: &Node) -> Result<Vec<bool>, RunError> {
        let kept = |(prune, condition): (&Prune, &Option<Condition>)| {
            let Some(condition) = condition else { return Ok(true) };
            condition.holds(material, &node.pawns).ok_or_else(|| {
                let table = self.name(material);
                let problem = format!(
                    "the condition '{}' holds in some positions of the table {table} only, whose pawns \
                     can be on different files; a prune is for all of a table",
                    prune.condition.as_deref().unwrap_or_default()
                );
                fail(self.control, prune.place, "prune", problem)
            })
        };
        self.control.prunes.iter().zip(&self.conditions).map(kept).collect()
    }

    /// The `pawngen` element of a table.
    fn element_of(&self, material: &Material, node: &Node) -> PawngenElement {
        let mut element = self.element.clone();
        for (i, side) in [&mut element.white, &mut element.black].into_iter().enumerate() {
            let color = Color::from_white(i == 0);
            side.pawns_required = Some(u64::from(material.count.get(color).pawn));
            if self.old {
                side.queens_required = self.promoted(material, color).len() as u64;
                side.captures_allowed = node.captures[i];
            }
        }
        element
    }

    /// The men that a side of a table has beyond the pieces of the input.
    fn promoted(&self, material: &Material, color: Color) -> Vec<Role> {
        let count = |m: &Material, role| *m.count.get(color).get(role);
        let roles = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
        let more = |role| count(&self.pieces, role)..count(material, role);
        roles.into_iter().flat_map(|role| more(role).map(move |_| role)).collect()
    }

    /// What the files of a table are called, without extension.
    fn name(&self, material: &Material) -> String {
        let pawns = |color: Color| material.count.get(color).pawn;
        let mut pieces = *material;
        for color in Color::ALL {
            pieces.count.get_mut(color).pawn = 0;
        }
        let men = if pieces == self.pieces { String::new() } else { format!("-{}", pieces.stem()) };
        format!("{}{men}-{}-{}", self.family.stem, pawns(Color::White), pawns(Color::Black))
    }
}

/// A way out of a table.
struct Exit {
    /// The men behind it.
    behind: Material,
    /// Whether a table is made for them if none is given.
    may_be_made: bool,
    /// The captures of pieces by pawns that it means for White and Black.
    captures: [u64; 2],
}

/// The exits of a table whose input has a `pawngen` element, in the order in which they are named: pawns
/// that are taken or promote, White's first, then pieces that are taken. What takes and promotes at once is
/// not looked for.
fn exits_by_numbers(material: &Material, variant: Variant) -> Vec<Exit> {
    let pieces = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];
    let pieces = if variant == Variant::Suicide { &pieces[..] } else { &pieces[..4] };
    let mut exits = Vec::new();
    let mut add = |behind: Material, may_be_made: bool| {
        exits.push(Exit { behind, may_be_made, captures: [0; 2] });
    };
    for color in [Color::White, Color::Black] {
        let Some(without) = material.without(color, Role::Pawn) else { continue };
        add(without, true);
        for &role in pieces {
            add(without.with(color, role), false);
        }
    }
    for color in [Color::White, Color::Black] {
        for behind in pieces.iter().filter_map(|&role| material.without(color, role)) {
            add(behind, false);
        }
    }
    exits
}

/// A key by which tables are sorted so that each follows those it needs.
fn order(material: &Material) -> (usize, u8, u8, String) {
    let [white, black] = [material.count.white.pawn, material.count.black.pawn];
    // The rest only has to differ.
    (material.men(), white + black, white, material.to_string())
}

/// The men of a table as they are reported: pieces and number of pawns of each side.
fn key(material: &Material) -> String {
    let mut key = String::new();
    for color in [Color::White, Color::Black] {
        let side = material.count.get(color);
        for role in [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
            key.extend((0..*side.get(role)).map(|_| role.upper_char()));
        }
        let _ = write!(key, "{}", side.pawn);
    }
    key
}

fn fail(control: &ControlFile, place: Place, element: &str, problem: String) -> RunError {
    RunError::Pawngen { place: control.site(place, element).to_string(), problem }
}
