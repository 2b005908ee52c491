//! The tables that follow from an input: what is captured and promoted on the way from its start,
//! until a given futurebase answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;

use hoffman_board::{Color, FuturemoveKind, Material, Role, Variant};
use hoffman_control::{
    ControlFile, ExpansionEdits, FuturebaseElement, IndexType, PawnMasks, PawngenElement, Prune,
    Strictness, check_declarations, check_pieces, render_expansion, resolve_pieces_with,
};
use hoffman_plan::pawngen::{PawngenError, all_arrangements, masks};
use hoffman_plan::{Graph, Input, Node};
use hoffman_store::{has_wildcards, is_file};
use hoffman_table::Stop;

use super::input::{check_input, men_of_futurebase, structure_of_pieces};
use super::{Expanded, Expansion, Family, fail};
use crate::condition::{Condition, ConditionError, PawnFiles};
use crate::error::RunError;
use crate::futuremoves::{Futuremove, futuremoves};
use crate::numbering::bounds;
use crate::problem::FuturebaseProblem;
use crate::seal::{mark, sealed};
use crate::workplace::Workplace;

/// More tables than this are not made from one file.
const MAX_TABLES: usize = 10_000;

/// A futurebase that the input names.
struct Given {
    name: String,
    inverted: bool,
    /// Its men, in the colours of the input.
    material: Material,
}

/// A futurebase that a table will name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedTable {
    Given(usize),
    Own(Material),
}

/// A table to be made, known by its men.
struct DerivedTable {
    /// How many captures White's and Black's pawns can have made on the way to it.
    captures: [u64; 2],
    named: Vec<NamedTable>,
    /// Where its pawns can stand. None: no arrangement fits.
    masks: Option<PawnMasks>,
    /// On which files they can be at a time.
    pawns: Vec<PawnFiles>,
}

/// The input, understood, and the play that it asks for.
pub(super) struct Play<'c> {
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

impl<'c> Play<'c> {
    pub(super) fn new(
        control: &'c ControlFile,
        family: Family,
        workplace: &Workplace,
    ) -> Result<Play<'c>, RunError> {
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
            let fail =
                |error: ConditionError| fail(control, prune.place, "prune", error.to_string());
            conditions.push(parsed.map_err(fail)?);
        }

        let mut input = Play {
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
            let fail = |problem: FuturebaseProblem| RunError::Futurebase {
                place: control.site(element.place, "futurebase").to_string(),
                problem: Box::new(problem),
            };
            let names = self.files(element, workplace).map_err(fail)?;
            if names.is_empty() {
                let place = control.site(element.place, "futurebase");
                let name = &element.filename;
                self.notices.push(format!("{place}: '{name}': no file fits the pattern"));
            }
            for name in names {
                let path = workplace.locate(&name);
                let storage = &workplace.storage;
                let plain = men_of_futurebase(&path, element.inverted, control, storage);
                let plain = plain.map_err(fail)?;
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
    ) -> Result<Vec<String>, FuturebaseProblem> {
        let name = &element.filename;
        if !has_wildcards(name) || is_file(&*workplace.storage, &workplace.locate(name)) {
            return Ok(vec![name.clone()]);
        }
        let mut names = Vec::new();
        let found = workplace.files_like(name);
        let folder = |source| FuturebaseProblem::Folder { name: name.clone(), source };
        for path in found.map_err(folder)? {
            let Some(text) = path.to_str() else { return Err(FuturebaseProblem::NotUtf8(path)) };
            if !self.family.has(text) {
                names.push(text.to_owned());
            }
        }
        Ok(names)
    }

    /// Works out the tables, and their control files.
    pub(super) fn expand(mut self, stop: &Stop) -> Result<Expansion, RunError> {
        self.remark_on_index();
        let all = self.tables(stop)?;
        let mut tables: Vec<(&Material, &DerivedTable)> =
            all.iter().filter(|(_, table)| table.masks.is_some()).collect();
        if tables.is_empty() {
            let problem = PawngenError::Empty.to_string();
            return Err(fail(self.control, self.element.place, self.element_name(), problem));
        }
        // A move takes a man or a pawn away.
        tables.sort_by_key(|(material, _)| order(material));
        let numbers: HashMap<Material, usize> =
            tables.iter().enumerate().map(|(number, (material, _))| (**material, number)).collect();
        let nodes = tables.iter().map(|(material, table)| self.node(material, table, &numbers));
        let nodes = nodes.collect::<Result<_, RunError>>()?;
        let given = self.given.iter().filter(|given| !given.inverted);
        Ok(Expansion {
            found: given.map(|given| (key(&given.material), given.name.clone())).collect(),
            origin: self.control.origin.clone(),
            graph: Graph { nodes },
            makefile: PathBuf::from(format!("{}.mk", self.family.stem)),
            notices: self.notices,
        })
    }

    /// A table of the graph; `numbers` are those of all tables that are made.
    fn node(
        &self,
        material: &Material,
        table: &DerivedTable,
        numbers: &HashMap<Material, usize>,
    ) -> Result<Node<Expanded>, RunError> {
        let (mut inputs, mut files) = (Vec::new(), Vec::new());
        for named in &table.named {
            match named {
                NamedTable::Given(number) => {
                    let Given { name, inverted, .. } = &self.given[*number];
                    inputs.push(Input::Given(PathBuf::from(name)));
                    files.push((name.clone(), *inverted));
                }
                NamedTable::Own(behind) => {
                    let Some(&number) = numbers.get(behind) else { continue };
                    inputs.push(Input::Made(number));
                    files.push((format!("{}.htb", self.name(behind)), false));
                }
            }
        }

        let name = self.name(material);
        let output = format!("{name}.htb");
        let text = render_expansion(
            self.control,
            &ExpansionEdits {
                men: material,
                pawngen: &self.element_of(material, table),
                prunes: &self.kept_prunes(material, table)?,
                futurebases: &files,
                drops_index: self.drops_index(),
                output: &output,
                mark: &mark(&self.control.origin),
            },
        );

        let control = sealed(&text);
        self.check(&control, table.masks)?;
        let source = Expanded { name: PathBuf::from(format!("{name}.xml")), control };
        Ok(Node { output: PathBuf::from(output), inputs, resources: None, source })
    }

    /// Checks that a text can be carried out, as far as that can be seen without the futurebases.
    fn check(&self, text: &str, masks: Option<PawnMasks>) -> Result<(), RunError> {
        let table = ControlFile::parse(text, &self.control.origin, Strictness::Control)?;
        check_declarations(&table)?;
        check_pieces(&table, &resolve_pieces_with(&table, masks)?)?;
        Ok(())
    }

    /// Says of an old file whose index element does not stay what stands for it.
    fn remark_on_index(&mut self) {
        let index = self.control.index.as_ref().filter(|_| self.drops_index());
        if let Some(index) = index.filter(|index| !index.on_root) {
            let place = self.control.site(index.place, "index");
            let text = "cannot number pawn structures; combinadic5 is used instead";
            self.notices.push(format!("{place}: {text}"));
        }
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
    fn tables(&self, stop: &Stop) -> Result<HashMap<Material, DerivedTable>, RunError> {
        let new =
            |captures| DerivedTable { captures, named: Vec::new(), masks: None, pawns: Vec::new() };
        let mut done = HashMap::new();

        // The men furthest up first: all ways to a table are known when it is looked at.
        let mut todo: BTreeMap<_, (Material, DerivedTable)> = BTreeMap::new();
        let start = self.start();
        todo.insert(Reverse(order(&start)), (start, new([0; 2])));

        while let Some((_, (material, mut table))) = todo.pop_first() {
            if done.len() + todo.len() >= MAX_TABLES {
                let problem = format!(
                    "more than {MAX_TABLES} tables would be needed; prune promotions, or give \
                     futurebases that end the play"
                );
                return Err(fail(self.control, self.element.place, self.element_name(), problem));
            }
            self.arrange(&material, &mut table, stop)?;

            let departures = self.departures(&material, &table)?;
            for departure in departures {
                let given = |(_, given): &(usize, &Given)| given.material == departure.behind;
                let mut found = self.given.iter().enumerate().filter(given).peekable();
                let named: Vec<NamedTable> = match found.peek() {
                    Some(_) => found.map(|(number, _)| NamedTable::Given(number)).collect(),
                    None if departure.may_be_made => {
                        let entry = todo.entry(Reverse(order(&departure.behind)));
                        let (_, behind) = entry.or_insert_with(|| (departure.behind, new([0; 2])));
                        for (i, taken) in departure.captures.into_iter().enumerate() {
                            behind.captures[i] = behind.captures[i].max(table.captures[i] + taken);
                        }
                        vec![NamedTable::Own(departure.behind)]
                    }
                    None => Vec::new(),
                };
                for named in named {
                    if !table.named.contains(&named) {
                        table.named.push(named);
                    }
                }
            }
            done.insert(material, table);
        }
        Ok(done)
    }

    /// Finds where the pawns of a table can be; nowhere is no error.
    fn arrange(
        &self,
        material: &Material,
        table: &mut DerivedTable,
        stop: &Stop,
    ) -> Result<(), RunError> {
        let is_stopped = || stop.is_requested();
        match all_arrangements(&self.element_of(material, table), bounds(&is_stopped)) {
            Ok(found) => {
                table.masks = Some(masks(&found));
                let files: BTreeSet<_> = found.iter().map(|a| PawnFiles::of(a.pawns)).collect();
                table.pawns = files.into_iter().collect();
                Ok(())
            }
            Err(PawngenError::Empty) => Ok(()),
            Err(PawngenError::Stopped) => Err(RunError::Interrupted { checkpoint: None }),
            Err(error) => {
                let (place, name) = (self.element.place, self.element_name());
                Err(fail(self.control, place, name, error.to_string()))
            }
        }
    }

    /// The moves by which a table is left.
    fn departures(
        &self,
        material: &Material,
        table: &DerivedTable,
    ) -> Result<Vec<Departure>, RunError> {
        if !self.old {
            return Ok(departures_by_numbers(material, self.control.variant));
        }
        // The tables of an old file follow from what can be played.
        if table.masks.is_none() {
            return Ok(Vec::new());
        }
        let kept = self.kept_prunes(material, table)?;
        let prunes = || self.control.prunes.iter().zip(&kept).filter(|(_, kept)| **kept);
        let mut departures: Vec<Departure> = Vec::new();
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
            departures.push(Departure { behind, may_be_made: true, captures });
        }
        Ok(departures)
    }

    /// Whether each prune holds in a table.
    fn kept_prunes(
        &self,
        material: &Material,
        table: &DerivedTable,
    ) -> Result<Vec<bool>, RunError> {
        let kept = |(prune, condition): (&Prune, &Option<Condition>)| {
            let Some(condition) = condition else { return Ok(true) };
            let holds = condition.holds(material, &table.pawns);
            holds.ok_or_else(|| self.holds_in_part(prune, material))
        };
        self.control.prunes.iter().zip(&self.conditions).map(kept).collect()
    }

    fn holds_in_part(&self, prune: &Prune, material: &Material) -> RunError {
        let table = self.name(material);
        let problem = format!(
            "the condition '{}' holds in some positions of the table {table} only, whose pawns \
             can be on different files; a prune is for all of a table",
            prune.condition.as_deref().unwrap_or_default()
        );
        fail(self.control, prune.place, "prune", problem)
    }

    /// The `pawngen` element of a table.
    fn element_of(&self, material: &Material, table: &DerivedTable) -> PawngenElement {
        let mut element = self.element.clone();
        for (i, side) in [&mut element.white, &mut element.black].into_iter().enumerate() {
            let color = Color::from_white(i == 0);
            side.pawns_required = Some(u64::from(material.count.get(color).pawn));
            if self.old {
                side.queens_required = self.promoted(material, color).len() as u64;
                side.captures_allowed = table.captures[i];
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
struct Departure {
    /// The men behind it.
    behind: Material,
    /// Whether a table is made for them if none is given.
    may_be_made: bool,
    /// The captures of pieces by pawns that it means for White and Black.
    captures: [u64; 2],
}

/// The departures of a table whose input has a `pawngen` element, in the order in which they are
/// named: pawns that are taken or promote, White's first, then pieces that are taken. What takes
/// and promotes at once is not looked for.
fn departures_by_numbers(material: &Material, variant: Variant) -> Vec<Departure> {
    let pieces = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];
    let pieces = if variant == Variant::Suicide { &pieces[..] } else { &pieces[..4] };
    let mut departures = Vec::new();
    let mut add = |behind: Material, may_be_made: bool| {
        departures.push(Departure { behind, may_be_made, captures: [0; 2] });
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
    departures
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
