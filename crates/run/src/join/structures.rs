//! The table of a `pawngen` element from tables of parts of its pawn structures.
//!
//! Each part says in its header which structures of the list it has, and is made by the control
//! file of the whole but for that. Its values are read, entries by their checksums, and the whole
//! is written as if it had been solved here.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Color, Format, Square};
use hoffman_control::{
    Claims, ControlFile, CutEdits, IndexType, Strictness, check_declarations, render_cut,
};
use hoffman_space::{Codes, PawnSquares, SliceValues, TableValues};
use hoffman_store::{folder_of, is_file, is_like};
use hoffman_table::blocks::names_of;
use hoffman_table::rows::Wanted;
use hoffman_table::{PawnStructure, PawnStructures, Table};

use super::{
    HeaderCounts, PositionOfSlice, first_difference, longest_of, parts_there, pawns_in_words,
};
use crate::analysis::table_values;
use crate::checkpoint;
use crate::claims::instruction_of;
use crate::cost::memory_of_joining;
use crate::cut::part_of_name;
use crate::error::RunError;
use crate::numbering::Numbering;
use crate::options::{MadeTable, RunContext, RunOptions, RunReport};
use crate::order::{output_of, read_control};
use crate::presence::{difference_from_whole, expect_current, expect_made_from};
use crate::progress::Phase;
use crate::room;
use crate::values::{decode_table, taking_of};
use crate::workplace::Workplace;
use crate::write::{Making, write_table};

/// The table of a `pawngen` element, to be joined from those of parts of its pawn structures.
pub struct StructureJoining {
    /// What makes it at once.
    control: ControlFile,
    /// The tables of the parts, each in either container.
    parts: Vec<PathBuf>,
    output: PathBuf,
    /// Whether nothing but the caller names the table: then another one of that name is not
    /// replaced.
    is_named: bool,
}

impl StructureJoining {
    /// The table of a control file. It goes to `output`, or where the control file says; into `dir`
    /// if there is one.
    ///
    /// # Errors
    ///
    /// The control file cannot be read or is wrong, or has no pawn structures.
    pub fn of_control(
        path: &Path,
        parts: Vec<PathBuf>,
        (output, dir): (Option<&Path>, Option<&Path>),
        workplace: &Workplace,
    ) -> Result<StructureJoining, RunError> {
        let control = read_control(path, workplace)?;
        check_declarations(&control)?;
        let output = match output {
            Some(output) => output.to_owned(),
            None => output_of(&control, dir)?,
        };
        if control.pawngen.is_none() {
            let why = format!(
                "{} has no <pawngen>, whose pawn structures parts are made of",
                path.display()
            );
            return Err(RunError::Input { table: output, why });
        }
        Ok(StructureJoining { control, parts, output, is_named: false })
    }

    /// The whole table of which parts are given: that of their control file without `start` and
    /// `count`. None if the first that is there is not made of pawn structures.
    ///
    /// # Errors
    ///
    /// A part cannot be read.
    pub fn of_parts(
        parts: &[PathBuf],
        output: &Path,
        workplace: &Workplace,
    ) -> Result<Option<StructureJoining>, RunError> {
        let there = |path: &PathBuf| names_of(path).find(|path| is_file(&*workplace.storage, path));
        let mut lowest: Option<(u64, ControlFile)> = None;
        for path in parts.iter().filter_map(there) {
            let table = Table::open(&path, workplace.source_options())?;
            // One that is none of them is refused when they are joined.
            let Some(element) = &table.control().pawngen else { break };
            if lowest.as_ref().is_none_or(|(start, _)| element.start < *start) {
                lowest = Some((element.start, table.control().clone()));
            }
        }
        let Some((_, header)) = lowest else { return Ok(None) };

        // The lowest part names no other one as futurebase, if it can be made first.
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let whole = CutEdits { start: 0, count: 0, futurebases: &[], output: &name };
        let text = render_cut(&header, &whole)?;
        let mut control = ControlFile::parse(&text, &header.origin, Strictness::Header)?;
        if let Some(format) = &mut control.format
            && let Format::Dtm(_) = format.format
        {
            // Each part is as wide as its own distances are.
            format.format = Format::Dtm(None);
        }
        let (parts, output) = (parts.to_vec(), output.to_owned());
        Ok(Some(StructureJoining { control, parts, output, is_named: true }))
    }

    /// Where it goes.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The files of the parts.
    ///
    /// # Errors
    ///
    /// Some are not there.
    pub fn inputs(&self, workplace: &Workplace) -> Result<Vec<PathBuf>, RunError> {
        parts_there(&self.parts, &self.output, workplace)
    }

    /// Joins the parts in these files. What is there, intact and made by the same control file is
    /// kept, unless the table is to be made `anew`.
    ///
    /// # Errors
    ///
    /// A part is damaged, or made by another control file; two contradict each other; together they
    /// are not the whole table; too little memory, a request to stop.
    pub fn join(
        &self,
        inputs: &[PathBuf],
        anew: bool,
        options: &RunOptions<'_>,
    ) -> Result<RunReport, RunError> {
        let RunOptions { workplace, progress, .. } = options;
        progress.phase(Phase::Checking);
        let (largest, index_type) = self.check_parts(inputs, workplace)?;
        let folder = folder_of(&self.output);
        workplace.create_folder(folder)?;
        workplace.probe(folder)?;
        let _lock = workplace.lock(&self.output, *progress)?;
        if is_file(&*workplace.storage, &self.output) && self.is_current(options)? && !anew {
            checkpoint::remove_left(workplace, &self.output)?;
            return Ok(RunReport { made: Vec::new(), kept: vec![self.output.clone()] });
        }

        let mut numbering = Numbering::of(&self.control, &workplace.stop)?;
        if numbering.space.index_type() != index_type && !numbering.space.has_side_bit() {
            numbering = Numbering::with_side_to_move(&self.control, &workplace.stop)?;
        }
        let values = table_values(&self.control, &numbering, true)?;
        let needed = 2 * values.layout.len() as u64 * values.slices.len() as u64;
        let needed = memory_of_joining(needed, largest);
        let layouts = std::iter::once((&values.layout, 0));
        let pages = room::pages(workplace, layouts, needed, folder, *progress)?;
        let run = RunContext { workplace, pages: pages.as_ref(), progress: *progress };
        let mut joined = JoinedStructures::new(numbering, values);
        self.read(inputs, &mut joined, run)?;
        let table = self.write(joined, &options.args, run)?;
        Ok(RunReport { made: vec![table], kept: Vec::new() })
    }

    /// Whether the table that is there is what would be made; else it may be replaced.
    fn is_current(&self, options: &RunOptions<'_>) -> Result<bool, RunError> {
        let workplace = &options.workplace;
        let current = expect_current(&self.control, &self.output, workplace, &HashSet::new());
        workplace.check_stop()?;
        let Err(why) = current.map_err(|why| why.to_string()) else { return Ok(true) };
        if self.is_named {
            expect_made_from(&self.control, &self.output, workplace)?;
        }
        options.progress.notice(&format!("{why}; joining it anew"));
        Ok(false)
    }

    /// Looks at the headers of all parts before the work begins: the most entries of one, and the
    /// index type.
    fn check_parts(
        &self,
        inputs: &[PathBuf],
        workplace: &Workplace,
    ) -> Result<(u64, IndexType), RunError> {
        let (mut largest, mut index_type) = (0, self.control.index_type());
        for path in inputs {
            workplace.check_stop()?;
            let space = self.open(path, workplace)?.space().clone();
            (largest, index_type) = (largest.max(space.size()), space.index_type());
        }
        Ok((largest, index_type))
    }

    /// Opens a part, unless it was made by another control file.
    fn open(&self, path: &Path, workplace: &Workplace) -> Result<Table, RunError> {
        let mut table = Table::open(path, workplace.source_options())?;
        table.check_length()?;
        let refuse = |why: &str| Err(self.refusal(format!("{}: {why}", path.display())));
        if table.pawn_structures().is_none() {
            return refuse("is not made of the pawn structures of a <pawngen>");
        }
        // Also one that is missing, which is said in other words.
        let is_part = |name: &str| {
            let whole = part_of_name(name).map(|(whole, ..)| PathBuf::from(whole));
            is_one_of(&self.parts, name) || whole.is_some_and(|whole| self.is_stem_of(&whole))
        };
        match difference_from_whole(table.control(), &self.control, is_part) {
            Some(what) => refuse(&format!("was made by a control file with {what}")),
            None => Ok(table),
        }
    }

    /// Reads all parts, which are the whole table together.
    fn read(
        &self,
        inputs: &[PathBuf],
        joined: &mut JoinedStructures,
        run: RunContext<'_>,
    ) -> Result<(), RunError> {
        let values = &joined.values;
        run.progress.begin(2 * values.layout.len() as u64 * values.slices.len() as u64);
        run.progress.table(&self.output.display().to_string());
        run.progress.phase(Phase::Reading);
        let taking = taking_of(self.control.entry_format());
        let mut area = Vec::new();
        for (number, path) in inputs.iter().enumerate() {
            run.workplace.check_stop()?;
            tracing::info!(part = %path.display(), "reading");
            let table = self.open(path, run.workplace)?;
            let part = decode_table(&table, &Wanted::all(), taking, None, run, &mut area)?;
            let fail = |why: String| self.refusal(format!("{}: {why}", path.display()));
            joined.add(&table, &part, number, inputs).map_err(fail)?;
            run.progress.slice(table.space().size());
        }
        joined.expect_whole().map_err(|why| self.refusal(why))
    }

    fn write(
        &self,
        joined: JoinedStructures,
        args: &str,
        run: RunContext<'_>,
    ) -> Result<MadeTable, RunError> {
        run.progress.phase(Phase::Writing);
        let JoinedStructures { numbering, values, slices, counted, claims, record, began, .. } =
            joined;
        for (structure, slice) in slices {
            if let Some(slot) = values.slices.get(&structure) {
                // Each is set once.
                let _ = slot.set(slice);
            }
        }
        let making = Making {
            reproducible: run.workplace.reproducible,
            args: args.to_owned(),
            began,
            instruction: instruction_of(claims, &record.unwrap_or_default()),
            passes: BTreeMap::new(),
            behind: None,
            counted: counted.map(|counted| (counted.legal, counted.moves)),
        };
        let counts = write_table((&self.control, &numbering), &values, &self.output, &making, run)?;
        checkpoint::remove_of(run.workplace, &self.output)?;
        tracing::info!(table = %self.output.display(), "written");
        let name = self.output.display().to_string();
        run.progress.finished(&name);
        let (longest, longest_wins) = longest_of(&values);
        let has_distances = self.control.entry_format().has_distance();
        let longest_wins = has_distances.then_some(longest_wins);
        let (path, notices) = (Some(self.output.clone()), Vec::new());
        Ok(MadeTable { name, path, counts: Some(counts), longest, longest_wins, notices })
    }

    /// Whether parts of a table of that name are parts of this one.
    fn is_stem_of(&self, whole: &Path) -> bool {
        whole.file_stem() == self.output.file_stem()
    }

    fn refusal(&self, why: String) -> RunError {
        RunError::Input { table: self.output.clone(), why }
    }
}

/// Whether a name that a control file gives is that of one of these files, in either container.
fn is_one_of(parts: &[PathBuf], name: &str) -> bool {
    let Some(name) = Path::new(name).file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    parts
        .iter()
        .flat_map(|part| names_of(part))
        .any(|part| part.file_name().is_some_and(|part| is_like(Path::new(part), name)))
}

/// The pawn structures of the whole table, as far as parts that were read have them.
struct JoinedStructures {
    numbering: Numbering,
    /// The whole, empty.
    values: TableValues,
    slices: HashMap<PawnSquares, Arc<SliceValues>>,
    /// All structures of the list.
    list: Vec<PawnStructure>,
    /// Those of the whole table.
    wanted: Range<usize>,
    /// From which part each of the list is.
    origins: Vec<Option<usize>>,
    /// What the headers of the parts say, if it is known of which positions.
    counted: Option<HeaderCounts>,
    /// What all of them prove.
    claims: Claims,
    /// From what the first was made.
    record: Option<String>,
    began: SystemTime,
}

impl JoinedStructures {
    /// Nothing read yet.
    fn new(numbering: Numbering, values: TableValues) -> JoinedStructures {
        let structures = numbering.structures.clone();
        let (list, wanted) = structures.map_or((Vec::new(), 0..0), |structures| {
            let wanted = range_of(&structures);
            (structures.list, wanted)
        });
        JoinedStructures {
            origins: vec![None; list.len()],
            numbering,
            values,
            slices: HashMap::new(),
            list,
            wanted,
            counted: Some(HeaderCounts::default()),
            claims: Claims::EXACT,
            record: None,
            began: SystemTime::now(),
        }
    }

    /// Takes over the structures of part number `number`. Why that cannot be, if it cannot.
    fn add(
        &mut self,
        table: &Table,
        part: &TableValues,
        number: usize,
        inputs: &[PathBuf],
    ) -> Result<(), String> {
        let Some(structures) = table.pawn_structures() else { return Ok(()) };
        let range = range_of(structures);
        let is_same_list = structures.list == self.list;
        if !is_same_list || (&part.layout, part.form) != (&self.values.layout, self.values.form) {
            return Err(
                "has another list of pawn structures, or its positions in another order".to_owned()
            );
        }
        self.claims = self.claims.and(table.claims());
        self.record.get_or_insert_with(|| record_of(table.control(), inputs));
        let share = HeaderCounts::of_header(table);
        let is_own = |at: usize| self.wanted.contains(&at) && self.origins[at].is_none();
        let share = share.filter(|_| range.clone().all(is_own));
        self.counted = self.counted.zip(share).map(|(sum, share)| sum.with(share));

        for at in range.filter(|at| self.wanted.contains(at)) {
            let structure = self.list[at];
            let pawns = squares_of(&structure);
            let Some(slice) = part.slices.get(&pawns).and_then(|slot| slot.get()) else { continue };
            if let Some(first) = self.origins[at] {
                self.expect_alike(&structure, slice, &inputs[first])?;
                continue;
            }
            let known = self.slices.entry(pawns).or_insert_with(|| Arc::clone(slice));
            if !Arc::ptr_eq(known, slice) {
                take(Arc::make_mut(known), slice, structure.en_passant);
            }
            self.origins[at] = Some(number);
        }
        Ok(())
    }

    /// Refuses values of a structure that are not those of another part.
    fn expect_alike(
        &self,
        structure: &PawnStructure,
        slice: &SliceValues,
        other: &Path,
    ) -> Result<(), String> {
        let pawns = squares_of(structure);
        let Some(known) = self.slices.get(&pawns) else { return Ok(()) };
        let own = codes_of(slice, structure.en_passant);
        for ((turn, known), (_, own)) in codes_of(known, structure.en_passant).into_iter().zip(own)
        {
            if let Some(offset) = first_difference(known, own) {
                let en_passant = structure.en_passant.map(u8::from);
                let position = PositionOfSlice { turn, en_passant, offset };
                let fen = position.fen(&self.values.layout, pawns);
                return Err(format!("has another value than {} for {fen}", other.display()));
            }
        }
        Ok(())
    }

    /// Refuses parts that leave out structures.
    fn expect_whole(&self) -> Result<(), String> {
        let missing: Vec<usize> =
            self.wanted.clone().filter(|&at| self.origins[at].is_none()).collect();
        let Some(&first) = missing.first() else { return Ok(()) };
        let structure = &self.list[first];
        let right = structure.en_passant.map(|square| format!(", en passant on {square}"));
        Err(format!(
            "{} of its {} pawn structures are in none of the parts, the first of them number {first} with {}{}",
            missing.len(),
            self.wanted.len(),
            pawns_in_words(squares_of(structure)),
            right.unwrap_or_default()
        ))
    }
}

/// The numbers of the structures that a table has.
fn range_of(structures: &PawnStructures) -> Range<usize> {
    let PawnStructures { list, start, count, .. } = structures;
    *start..if *count == 0 { list.len() } else { start + count }
}

fn squares_of(structure: &PawnStructure) -> PawnSquares {
    PawnSquares { white: structure.white.0, black: structure.black.0 }
}

/// The values of a slice with an en passant right, or of both sides without one.
fn codes_of(slice: &SliceValues, en_passant: Option<Square>) -> Vec<(Color, &Codes)> {
    let Some(square) = en_passant else {
        return Color::ALL.into_iter().zip(&slice.codes).collect();
    };
    let square = u8::from(square);
    let right = slice.en_passant.iter().filter(|right| right.square == square);
    // White takes on the sixth rank.
    let turn = if square < 32 { Color::Black } else { Color::White };
    right.map(|right| (turn, &right.codes)).collect()
}

/// Takes over the values with an en passant right, or those without one.
fn take(known: &mut SliceValues, slice: &SliceValues, en_passant: Option<Square>) {
    known.max_moves = known.max_moves.max(slice.max_moves);
    let Some(square) = en_passant else {
        known.codes.clone_from(&slice.codes);
        return;
    };
    let square = u8::from(square);
    let right = |slice: &SliceValues| slice.en_passant.iter().position(|r| r.square == square);
    if let Some((known_at, at)) = right(known).zip(right(slice)) {
        known.en_passant[known_at] = slice.en_passant[at].clone();
    }
}

/// What a table was made from, as its header has it, parts left out.
fn record_of(control: &ControlFile, parts: &[PathBuf]) -> String {
    let instruction = control.instruction.as_deref().unwrap_or_default();
    let record = instruction.split_once("from ").map_or("", |(_, record)| record);
    let names: Vec<&str> = record.split(' ').collect();
    let others = names.into_iter().filter(|name| !name.is_empty() && !is_one_of(parts, name));
    others.flat_map(|name| [" ", name]).collect()
}
