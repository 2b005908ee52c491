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
//! `pawngen-condition` depends on the men only, so it is decided for each table: the prune is kept without
//! the attribute, or left out. What was pruned is pruned even where a given futurebase would answer.
//!
//! Tables that no arrangement of the pawns fits are neither written nor named by others.

use std::collections::{BTreeMap, HashMap};
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, Format, MAX_PIECES, Material, Role, Variant};
use hoffman_control::{
    ControlError, ControlFile, FuturebaseElement, IndexType, Mode, PawnMasks, PawngenElement, PawngenSide, Place,
    check_declarations, check_pieces, decode_text, escape, resolve_pieces_with, role_name,
};
use hoffman_plan::pawngen::{PawngenError, all_arrangements};
use hoffman_table::Table;
use hoffman_table::htb::{AtomicFile, SourceOptions};

use crate::condition::Condition;
use crate::error::{RunError, write_error};
use crate::futurebases::{Futuremove, color_name, futuremoves, material_of};

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
pub fn expand(path: &Path, folder: Option<&Path>) -> Result<Expansion, RunError> {
    let stem = match path.to_str().and_then(|name| name.strip_suffix(".xml")) {
        Some(stem) if !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => {
            return Err(RunError::Pawngen {
                place: path.display().to_string(),
                problem: "the name of a control file must be UTF-8 and end in .xml".to_owned(),
            });
        }
    };
    let stem = match (folder, Path::new(stem).file_name()) {
        (Some(folder), Some(name)) => folder.join(name).to_string_lossy().into_owned(),
        _ => stem.to_owned(),
    };
    let control = read_input(path)?;
    let input = Input::new(&control, stem)?;
    input.expand()
}

/// Writes the control files of an expansion, and its Makefile if `make` can handle the names. Returns
/// the name of the Makefile if it was written.
///
/// # Errors
///
/// A file cannot be written.
pub fn write_expansion(expansion: &Expansion) -> Result<Option<&Path>, RunError> {
    for table in &expansion.tables {
        write_text(&table.name, &table.control)?;
    }
    match makefile(&expansion.tables) {
        Some(text) => {
            write_text(&expansion.makefile, &text)?;
            Ok(Some(&expansion.makefile))
        }
        None => Ok(None),
    }
}

fn write_text(path: &Path, text: &str) -> Result<(), RunError> {
    let file = AtomicFile::create(path).map_err(|e| write_error(path, &e))?;
    let io = |source| RunError::Io { action: "write", path: path.to_owned(), source };
    file.file().write_all(text.as_bytes()).map_err(io)?;
    file.commit().map_err(|e| write_error(path, &e))
}

/// Rules for `make`: which table is made from what. None if a name holds what `make` or a shell would read
/// as something else.
fn makefile(tables: &[Expanded]) -> Option<String> {
    let plain = |path: &Path| {
        let harmless = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | ',');
        let name = path.to_str()?;
        (!name.starts_with('-') && name.chars().all(harmless)).then(|| name.to_owned())
    };
    let mut all = String::from("HOFFMAN = hoffman\n\nall:");
    let mut rules = String::new();
    for table in tables {
        let (output, name) = (plain(&table.output)?, plain(&table.name)?);
        // Writing to a string cannot fail.
        let _ = write!(all, " \\\n\t{output}");
        let _ = write!(rules, "\n{output}: {name}");
        for futurebase in &table.futurebases {
            let _ = write!(rules, " {}", plain(futurebase)?);
        }
        let _ = writeln!(rules, "\n\t$(HOFFMAN) -g {name}");
    }
    Some(format!("{all}\n{rules}"))
}

/// Reads a control file that may be an input.
pub(crate) fn read_input(path: &Path) -> Result<ControlFile, RunError> {
    let bytes = std::fs::read(path).map_err(|source| RunError::Io {
        action: "read the control file",
        path: path.to_owned(),
        source,
    })?;
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
    is_empty: bool,
}

/// The input, understood.
struct Input<'c> {
    control: &'c ControlFile,
    stem: String,
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
    fn new(control: &'c ControlFile, stem: String) -> Result<Input<'c>, RunError> {
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
            stem,
            old,
            element,
            pieces: Material::from_men(pieces.map(|piece| (piece.color, piece.role))),
            conditions,
            given: Vec::new(),
            notices: control.notices.iter().map(ToString::to_string).collect(),
        };
        input.find_given()?;
        Ok(input)
    }

    /// Finds the futurebases and their men.
    fn find_given(&mut self) -> Result<(), RunError> {
        let control = self.control;
        for element in &control.futurebases {
            let fail = |problem: String| RunError::Futurebase {
                place: control.site(element.place, "futurebase").to_string(),
                problem,
            };
            let names = self.files(element).map_err(fail)?;
            if names.is_empty() {
                let place = control.site(element.place, "futurebase");
                let name = &element.filename;
                self.notices.push(format!("{place}: '{name}': no file fits the pattern"));
            }
            for name in names {
                let plain = men_of_futurebase(&name, element.inverted, control).map_err(fail)?;
                let material = if element.inverted { plain.swapped() } else { plain };
                self.given.push(Given { name, inverted: element.inverted, material });
            }
        }
        Ok(())
    }

    /// The files that an element names. A pattern does not mean the tables that are to be made.
    fn files(&self, element: &FuturebaseElement) -> Result<Vec<String>, String> {
        let name = &element.filename;
        if !name.contains(['*', '?', '[']) || Path::new(name).is_file() {
            return Ok(vec![name.clone()]);
        }
        let mut names = Vec::new();
        for path in glob::glob(name).map_err(|e| format!("'{name}': {e}"))? {
            let path = path.map_err(|e| format!("'{name}': {e}"))?;
            let text = path.to_str().ok_or_else(|| format!("'{}': not UTF-8", path.display()))?;
            if path.is_file() && !self.is_own(text) {
                names.push(text.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Whether a file has the name of a table of this expansion.
    fn is_own(&self, name: &str) -> bool {
        let same = |a: &str, b: &str| Path::new(a) == Path::new(b);
        let Some(rest) = name.strip_suffix(".htb") else { return false };
        let mut parts = rest.rsplitn(3, '-');
        let number = |part: Option<&str>| part.is_some_and(|p| p.parse::<u8>().is_ok());
        if !(number(parts.next()) && number(parts.next())) {
            return false;
        }
        let Some(stem) = parts.next() else { return false };
        let pieces = stem.rsplit_once('-').filter(|(_, men)| men.parse::<Material>().is_ok());
        same(stem, &self.stem) || self.old && pieces.is_some_and(|(s, _)| same(s, &self.stem))
    }

    fn expand(mut self) -> Result<Expansion, RunError> {
        if self.old {
            let index = self.control.index.as_ref().filter(|_| self.drops_index());
            if let Some(index) = index.filter(|index| !index.on_root) {
                let place = self.control.site(index.place, "index");
                let text = "cannot number pawn structures; combinadic5 is used instead";
                self.notices.push(format!("{place}: {text}"));
            }
        }
        let nodes = self.nodes()?;
        let exists = |named: &Named| match named {
            Named::Given(_) => true,
            Named::Own(behind) => nodes.get(behind).is_some_and(|node| !node.is_empty),
        };
        let mut tables: Vec<(&Material, &Node)> =
            nodes.iter().filter(|(_, node)| !node.is_empty).collect();
        if tables.is_empty() {
            let problem = PawngenError::Empty.to_string();
            return Err(fail(self.control, self.element.place, self.element_name(), problem));
        }
        // A move takes a man or a pawn away.
        tables.sort_by_key(|(material, _)| order(material));
        let mut expansion = Expansion {
            found: Vec::new(),
            tables: Vec::new(),
            makefile: PathBuf::from(format!("{}.mk", self.stem)),
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
    fn nodes(&self) -> Result<HashMap<Material, Node>, RunError> {
        let new = |captures| Node { captures, named: Vec::new(), is_empty: false };
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
            node.is_empty = match all_arrangements(&self.element_of(&material, &node)) {
                Ok(_) => false,
                Err(PawngenError::Empty) => true,
                Err(error) => {
                    let problem = error.to_string();
                    let name = self.element_name();
                    return Err(fail(self.control, self.element.place, name, problem));
                }
            };
            // The tables of an old file follow from what can be played.
            let exits = if self.old && node.is_empty { Vec::new() } else { self.exits(&material) };
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
    fn exits(&self, material: &Material) -> Vec<Exit> {
        if !self.old {
            return exits_by_numbers(material, self.control.variant);
        }
        let mut exits: Vec<Exit> = Vec::new();
        for Futuremove { mover, kind, behind, .. } in futuremoves(material, self.control.variant) {
            let pruned = self.prunes(material).any(|p| p.color == mover && p.matches(&kind));
            if pruned {
                continue;
            }
            // A pawn that takes a piece changes its file, unless it becomes a piece at once.
            let by_pawn = kind.starts_with("Px") && !kind.contains('=') && !kind.ends_with('P');
            let mut captures = [0; 2];
            captures[usize::from(mover.is_black())] = u64::from(by_pawn);
            exits.push(Exit { behind, may_be_made: true, captures });
        }
        exits
    }

    /// The prunes that hold in a table.
    fn prunes(&self, material: &Material) -> impl Iterator<Item = &hoffman_control::Prune> {
        let holds = |condition: &Option<Condition>| {
            condition.as_ref().is_none_or(|condition| condition.holds(material))
        };
        let all = self.control.prunes.iter().zip(&self.conditions);
        all.filter(move |(_, condition)| holds(condition)).map(|(prune, _)| prune)
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
        format!("{}{men}-{}-{}", self.stem, pawns(Color::White), pawns(Color::Black))
    }

    /// Writes the control file of a table.
    fn render(
        &self,
        material: &Material,
        node: &Node,
        named: Vec<Named>,
    ) -> Result<Expanded, RunError> {
        let element = self.element_of(material, node);
        let name = self.name(material);
        let files: Vec<(String, bool)> = named
            .into_iter()
            .filter_map(|named| match named {
                Named::Given(number) => {
                    self.given.get(number).map(|given| (given.name.clone(), given.inverted))
                }
                Named::Own(behind) => Some((format!("{}.htb", self.name(&behind)), false)),
            })
            .collect();
        let mut edits = Edits::new(self.control);
        if self.old {
            self.edit_pieces(&mut edits, material, &element);
            self.edit_index(&mut edits);
        } else {
            edits.insert(self.element.place.start + "<pawngen".len(), numbers(&element));
        }
        edit_prunes(&mut edits, self.control, &self.conditions, material);
        edit_futurebases(&mut edits, self.control, &files);
        let output = format!("{name}.htb");
        let mut end = format!("\n   <output filename=\"{}\"/>", escape(&output));
        let origin = Path::new(&self.control.origin).file_name().unwrap_or_default();
        let origin = origin.to_string_lossy();
        if !origin.contains("--") {
            let _ = write!(end, "\n   <!-- Created by pawngen from {origin} -->");
        }
        let text = edits.apply(&end);
        self.check(&text, &element)?;
        Ok(Expanded {
            name: PathBuf::from(format!("{name}.xml")),
            control: text,
            output: PathBuf::from(output),
            futurebases: files.into_iter().map(|(name, _)| PathBuf::from(name)).collect(),
        })
    }

    /// Checks that a text can be carried out, as far as that can be seen without the futurebases.
    fn check(&self, text: &str, element: &PawngenElement) -> Result<(), RunError> {
        let table = ControlFile::parse(text, &self.control.origin, Mode::Control)?;
        check_declarations(&table)?;
        let found = all_arrangements(element)
            .map_err(|e| fail(self.control, self.element.place, self.element_name(), e.to_string()))?;
        let masks = hoffman_plan::pawngen::masks(&found);
        check_pieces(&table, &resolve_pieces_with(&table, Some(masks))?)?;
        Ok(())
    }

    /// Puts a `pawngen` element in the place of the pawns, adds promoted men and takes captured ones away.
    fn edit_pieces(&self, edits: &mut Edits<'_>, material: &Material, element: &PawngenElement) {
        let mut first = true;
        for piece in &self.control.pieces {
            if piece.role != Role::Pawn {
                continue;
            }
            if first {
                let mut text = String::new();
                for color in Color::ALL {
                    for role in self.promoted(material, color) {
                        if *self.pieces.count.get(color).get(role) == 0 {
                            text.push_str(&piece_element(color, role));
                            text.push_str(&edits.line_start(piece.place));
                        }
                    }
                }
                text.push_str(&pawngen_element(element));
                edits.replace(piece.place.span(), text);
            } else {
                edits.remove(piece.place);
            }
            first = false;
        }
        for color in Color::ALL {
            for role in [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                let count = |m: &Material| usize::from(*m.count.get(color).get(role));
                let (listed, wanted) = (count(&self.pieces), count(material));
                let own = self.control.pieces.iter().filter(|p| (p.color, p.role) == (color, role));
                let own: Vec<Place> = own.map(|piece| piece.place).collect();
                for place in own.iter().skip(wanted) {
                    edits.remove(*place);
                }
                if let Some(&last) = own.last().filter(|_| wanted > listed) {
                    // Men of one kind stand together.
                    let one = format!("{}{}", edits.line_start(last), piece_element(color, role));
                    edits.insert(last.end, one.repeat(wanted - listed));
                }
            }
        }
    }

    fn edit_index(&self, edits: &mut Edits<'_>) {
        let index = self.control.index.as_ref().filter(|_| self.drops_index());
        if let Some(index) = index.filter(|index| !index.on_root) {
            edits.remove(index.place);
        }
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

/// The start that the pawns of an old file stand in.
fn structure_of_pieces(control: &ControlFile) -> Result<PawngenElement, RunError> {
    let mut sides = [PawngenSide::default(), PawngenSide::default()];
    let mut first = None;
    let mut taken = Bitboard::EMPTY;
    for (position, pawn) in control.pieces.iter().enumerate().filter(|(_, p)| p.role == Role::Pawn) {
        let fail = |problem: &str| fail(control, pawn.place, "piece", problem.to_owned());
        let Some(square) = pawn.plus else {
            return Err(fail(
                "a pawn that is to be expanded needs one square and a plus sign, as location=\"c2+\"",
            ));
        };
        if taken.contains(square) {
            return Err(fail("another pawn begins on the same square"));
        }
        taken.add(square);
        sides[usize::from(pawn.color.is_black())].start.add(square);
        first.get_or_insert((position, pawn.place));
    }
    let Some((position, place)) = first else {
        return Err(fail(
            control,
            control.root,
            "tablebase",
            "there is nothing to expand: a <pawngen> element is needed, or pawns with plus signs".into(),
        ));
    };
    let [white, black] = sides;
    Ok(PawngenElement { white, black, start: 0, count: 0, offset: 0, position, place })
}

/// Refuses what no expansion can begin with.
fn check_input(control: &ControlFile, element: &PawngenElement) -> Result<(), RunError> {
    let refuse = |place: Place, name: &str, problem: &str| {
        Err(fail(control, place, name, problem.to_owned()))
    };
    if let Some(output) = &control.output {
        return refuse(
            output.place,
            "output",
            "the input of an expansion names no output; each table gets its own",
        );
    }
    let restricted = |p: &&hoffman_control::PieceElement| {
        p.role != Role::Pawn && p.squares.is_some_and(|squares| squares != default_squares(p.role))
    };
    if let Some(piece) = control.pieces.iter().find(restricted) {
        return refuse(piece.place, "piece", "only pawns can be restricted where files are expanded");
    }
    if control.pawngen.is_none() {
        if let Some(extra) = control.pieces.get(MAX_PIECES) {
            let (site, count) = (control.site(extra.place, "piece"), control.pieces.len());
            return Err(ControlError::TooManyPieces { site, count }.into());
        }
        return Ok(check_declarations(control)?);
    }
    if element.white.pawns_required.is_some() || element.black.pawns_required.is_some() {
        return refuse(
            element.place,
            "pawngen",
            "the number of pawns is given already, so there is nothing to expand",
        );
    }
    if element.start != 0 || element.count != 0 {
        return refuse(element.place, "pawngen", "start and count cannot be expanded");
    }
    for color in Color::ALL {
        let side = element.side(color);
        if side.queens_required > side.start.count() as u64 {
            let color = color_name(color).to_lowercase();
            let problem = format!("{color} has fewer pawns than must promote");
            return Err(fail(control, element.place, "pawngen", problem));
        }
    }
    // The rest is checked as for a table, so that messages name the lines of this file.
    let mut table = control.clone();
    let pawns = |side: &PawngenSide| (side.start.count() as u64).saturating_sub(side.queens_required);
    if let Some(own) = &mut table.pawngen {
        own.white.pawns_required = Some(pawns(&element.white));
        own.black.pawns_required = Some(pawns(&element.black));
    }
    check_declarations(&table)?;
    let all = default_squares(Role::Pawn);
    let masks = PawnMasks { white: all, black: all };
    check_pieces(&table, &resolve_pieces_with(&table, Some(masks))?)?;
    Ok(())
}

/// The men of a futurebase: from its header, or from the name of a table of another program.
fn men_of_futurebase(name: &str, inverted: bool, control: &ControlFile) -> Result<Material, String> {
    let path = Path::new(name);
    let file = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().unwrap_or_default();
    if ["rtbw", "rtbz", "emd", "nbw", "nbb"].into_iter().any(|e| extension.eq_ignore_ascii_case(e)) {
        let stem = file.split('.').next().unwrap_or_default();
        return stem.parse().map_err(|e| format!("'{name}': {e}"));
    }
    if !path.is_file() {
        return Err(format!("'{name}': there is no such file"));
    }
    let table = Table::open(path, SourceOptions::default()).map_err(|e| e.to_string())?;
    if table.pieces().iter().any(|p| p.role != Role::Pawn && p.is_restricted()) {
        return Err(format!("'{name}': the futurebase has restricted pieces"));
    }
    for enabled in &table.control().prune_enables {
        let color = if inverted { enabled.color.other() } else { enabled.color };
        if !control.enables(color, enabled.effect) {
            return Err(format!(
                "'{name}': the futurebase was made with {} moves open to '{}', and this file enables no \
                 such pruning",
                color_name(color).to_lowercase(),
                enabled.effect.name()
            ));
        }
    }
    if matches!(control.entry_format(), Format::Dtm(_))
        && !matches!(table.codec().format(), Format::Dtm(_))
    {
        return Err(format!(
            "'{name}': a table without distances to mate cannot be used for the dtm format"
        ));
    }
    Ok(material_of(&table))
}

/// The attributes that an expansion adds.
fn numbers(element: &PawngenElement) -> String {
    let number = |side: &PawngenSide| side.pawns_required.unwrap_or(0);
    format!(
        " white-pawns-required=\"{}\" black-pawns-required=\"{}\"",
        number(&element.white),
        number(&element.black)
    )
}

fn piece_element(color: Color, role: Role) -> String {
    format!("<piece color=\"{color}\" type=\"{}\"/>", role_name(role))
}

fn pawngen_element(element: &PawngenElement) -> String {
    let squares = |side: &PawngenSide| {
        side.start.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut text = format!(
        "<pawngen white-pawn-locations=\"{}\" black-pawn-locations=\"{}\"{}",
        squares(&element.white),
        squares(&element.black),
        numbers(element)
    );
    for color in [Color::White, Color::Black] {
        let side = element.side(color);
        let numbers =
            [("queens-required", side.queens_required), ("captures-allowed", side.captures_allowed)];
        for (name, number) in numbers.into_iter().filter(|&(_, number)| number > 0) {
            let _ = write!(text, " {color}-{name}=\"{number}\"");
        }
    }
    text.push_str("/>");
    text
}

/// Keeps the prunes that hold, without their conditions.
fn edit_prunes(
    edits: &mut Edits<'_>,
    control: &ControlFile,
    conditions: &[Option<Condition>],
    material: &Material,
) {
    for (prune, condition) in control.prunes.iter().zip(conditions) {
        match condition {
            None => {}
            Some(condition) if condition.holds(material) => {
                let text = format!(
                    "<prune color=\"{}\" move=\"{}\" type=\"{}\"/>",
                    prune.color,
                    escape(prune.pattern.as_str()),
                    prune.effect.name()
                );
                edits.replace(prune.place.span(), text);
            }
            Some(_) => edits.remove(prune.place),
        }
    }
}

/// Puts the futurebases of a table in the place of those of the input.
fn edit_futurebases(edits: &mut Edits<'_>, control: &ControlFile, files: &[(String, bool)]) {
    let mut elements = control.futurebases.iter().map(|element| element.place);
    let element = |(name, inverted): &(String, bool)| {
        let colors = if *inverted { " colors=\"invert\"" } else { "" };
        format!("<futurebase filename=\"{}\"{colors}/>", escape(name))
    };
    let all: Vec<String> = files.iter().map(element).collect();
    match elements.next() {
        Some(first) if !all.is_empty() => {
            edits.replace(first.span(), all.join(&edits.line_start(first)));
        }
        Some(first) => edits.remove(first),
        None => {
            for text in all {
                let _ = write!(edits.end, "\n   {text}");
            }
        }
    }
    for place in elements {
        edits.remove(place);
    }
}

/// Edits of a control file's text.
struct Edits<'c> {
    text: &'c str,
    root: Place,
    changes: Vec<(Range<usize>, String)>,
    /// What is added before the closing tag.
    end: String,
}

impl<'c> Edits<'c> {
    fn new(control: &'c ControlFile) -> Edits<'c> {
        Edits { text: control.text(), root: control.root, changes: Vec::new(), end: String::new() }
    }

    fn replace(&mut self, range: Range<usize>, by: String) {
        self.changes.push((range, by));
    }

    fn insert(&mut self, at: usize, text: String) {
        self.changes.push((at..at, text));
    }

    /// Removes an element and the white space before it.
    fn remove(&mut self, place: Place) {
        let before = self.text.get(..place.start).unwrap_or_default();
        self.replace(before.trim_end().len()..place.end, String::new());
    }

    /// A line break and the indentation of an element.
    fn line_start(&self, place: Place) -> String {
        let before = self.text.get(..place.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let blanks: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        format!("\n{blanks}")
    }

    /// The text with everything applied, and `end` before its closing tag.
    fn apply(mut self, end: &str) -> String {
        let root = self.text.get(self.root.span()).unwrap_or_default();
        let body = root.rfind("</").and_then(|at| root.get(..at)).unwrap_or(root).trim_end();
        let at = self.root.start + body.len();
        let end = format!("{}{end}", self.end);
        // Sorted stably: what stands at one place keeps its order, and the end comes last.
        self.changes.push((at..at, end));
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = String::new();
        let mut copied = 0;
        for (range, by) in self.changes {
            result.push_str(self.text.get(copied..range.start).unwrap_or_default());
            result.push_str(&by);
            copied = copied.max(range.end);
        }
        result.push_str(self.text.get(copied..).unwrap_or_default());
        result
    }
}
