//! One table of an ending from tables of its parts.
//!
//! Each part is read, its entries by their checksums, and its slices take their places among those
//! of the whole ending, which is then written as if it had been solved here. So a joined table is
//! the same as one that was made at once, to the byte if headers are reproducible.

mod structures;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hoffman_board::{Bitboard, Color, Material, Role, Square};
use hoffman_control::ControlFile;
use hoffman_pages::Pages;
use hoffman_plan::{EndingJob, Part};
use hoffman_space::{
    Codes, Counts, Layout, NormalForm, Orientation, PawnSquares, SliceValues, TableValues, side,
};
use hoffman_store::{folder_of, is_file};
use hoffman_table::blocks::{CellStreams, Profile, SUFFIX, has_suffix, names_of};
use hoffman_table::index::IndexSpace;
use hoffman_table::rows::{Wanted, has_free_pieces, structures_of};
use hoffman_table::{Stop, Table};

pub use self::structures::StructureJoining;
use crate::checkpoint;
use crate::cost::memory_of_joining;
use crate::ending::control_of_job;
use crate::error::RunError;
use crate::numbering::{Numbering, fen};
use crate::options::{MadeTable, RunContext, RunOptions, RunReport};
use crate::presence::{difference_from_job, unfit_for_job};
use crate::progress::Phase;
use crate::room;
use crate::together::{EndingShare, files_of, read_shares, remove_passes, shares_of};
use crate::values::{decode_table, taking_of};
use crate::workplace::Workplace;
use crate::write::{Making, write_table};

/// A table to be joined from those of parts; of an ending without pawns, from the values of the
/// king pairs of several processes.
pub struct Joining {
    /// The ending, stronger side White.
    material: Material,
    /// The tables of the parts, each in either container. Without pawns it is found out what there
    /// is.
    parts: Vec<PathBuf>,
    output: PathBuf,
    /// The table of the ending in the folder where processes have put their values.
    shared: PathBuf,
}

/// The name of a table, in the format of another one.
fn name_like(other: &Path, job: &EndingJob) -> PathBuf {
    let mut name = PathBuf::from(job.file_name());
    if has_suffix(other) {
        name.set_extension(SUFFIX);
    }
    name
}

impl Joining {
    /// An ending from its parts by the files of the pawns, which lie in a folder; without pawns
    /// from what several processes have solved there ([`crate::solve_part`]).
    ///
    /// # Errors
    ///
    /// It has nothing but kings.
    pub fn of_ending(
        material: &Material,
        folder: &Path,
        output: &Path,
    ) -> Result<Joining, RunError> {
        let material = material.normalized().0;
        let place = |part| folder.join(name_like(output, &EndingJob { material, part }));
        let (output, shared) = (output.to_owned(), place(None));
        if !material.has_pawns() {
            EndingShare::new(&material, (1, 1), &shared)?;
            return Ok(Joining { material, parts: Vec::new(), output, shared });
        }
        let parts = Part::by_files(&material).into_iter().map(|part| place(Some(part))).collect();
        Ok(Joining { material, parts, output, shared })
    }

    /// A table from those of given parts, the first of which says of which ending.
    ///
    /// # Errors
    ///
    /// The first is not there, cannot be read, or is of an ending without pawns.
    pub fn of_parts(
        parts: Vec<PathBuf>,
        output: &Path,
        workplace: &Workplace,
    ) -> Result<Joining, RunError> {
        let (output, shared) = (output.to_owned(), PathBuf::new());
        let mut joining = Joining { material: Material::bare_kings(), parts, output, shared };
        let found = joining.inputs(workplace)?;
        if let Some(first) = found.first() {
            let table = Table::open(first, workplace.source_options())?;
            let men = table.pieces().iter().map(|p| (p.color, p.role));
            joining.material = Material::from_men(men).normalized().0;
        }
        joining.expect_pawns()?;
        Ok(joining)
    }

    fn expect_pawns(&self) -> Result<(), RunError> {
        if self.material.has_pawns() {
            return Ok(());
        }
        let material = self.material;
        let why = format!("{material} has no pawns, and so no tables of parts; name the ending");
        Err(self.refusal(why))
    }

    /// Where it goes.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The files of the parts.
    ///
    /// # Errors
    ///
    /// Some are not there; of an ending without pawns there are parts of several divisions.
    pub fn inputs(&self, workplace: &Workplace) -> Result<Vec<PathBuf>, RunError> {
        if self.is_shared() {
            return self.inputs_of_shares(workplace);
        }
        parts_there(&self.parts, &self.output, workplace)
    }

    /// The files of the values of processes.
    fn inputs_of_shares(&self, workplace: &Workplace) -> Result<Vec<PathBuf>, RunError> {
        let files = files_of(&shares_of(&self.material, &self.shared, workplace)?);
        let missing = files.iter().filter(|path| !is_file(&*workplace.storage, path));
        let missing: Vec<(PathBuf, bool)> =
            missing.map(|path| (path.clone(), workplace.is_being_made(path))).collect();
        if missing.is_empty() {
            return Ok(files);
        }
        Err(RunError::NotThere { table: self.output.clone(), missing })
    }

    /// Whether it is joined from what processes have solved together.
    fn is_shared(&self) -> bool {
        self.parts.is_empty() && !self.material.has_pawns()
    }

    /// Joins the parts in these files. A file that is there under the name of the table and intact
    /// is kept, unless it is to be made `anew`.
    ///
    /// # Errors
    ///
    /// A part is damaged, of another ending, or no plain table of distances to mate; two contradict
    /// each other; together they are not the whole ending; what has the name of the table is
    /// another file; too little memory, a request to stop.
    pub fn join(
        &self,
        inputs: &[PathBuf],
        anew: bool,
        options: &RunOptions<'_>,
    ) -> Result<RunReport, RunError> {
        let RunOptions { workplace, progress, .. } = options;
        progress.phase(Phase::Checking);
        let seen = workplace.storage.info(&self.output).ok();
        if self.is_there(workplace)? && !anew {
            return self.kept(workplace);
        }
        let largest = if self.is_shared() { 0 } else { self.check_parts(inputs, workplace)? };
        let folder = folder_of(&self.output);
        workplace.create_folder(folder)?;
        workplace.probe(folder)?;
        let _lock = workplace.lock(&self.output, *progress)?;
        let is_new = workplace.storage.info(&self.output).ok() != seen;
        if is_new && self.is_there(workplace)? {
            return self.kept(workplace);
        }

        let pages = self.pages(largest, folder, options)?;
        let run = RunContext { workplace, pages: pages.as_ref(), progress: *progress };
        let joined = if self.is_shared() { self.read_shares(run) } else { self.read(inputs, run) };
        let table = self.write(&joined?, &options.args, run)?;
        if self.is_shared() {
            remove_passes(&self.shared, &*workplace.storage);
        }
        Ok(RunReport { made: vec![table], kept: Vec::new() })
    }

    fn job(&self) -> EndingJob {
        EndingJob { material: self.material, part: None }
    }

    fn refusal(&self, why: String) -> RunError {
        RunError::Input { table: self.output.clone(), why }
    }

    /// Whether the table is there and intact; one that is damaged may be replaced, others may not.
    fn is_there(&self, workplace: &Workplace) -> Result<bool, RunError> {
        if !is_file(&*workplace.storage, &self.output) {
            return Ok(false);
        }
        match unfit_for_job(&self.output, &self.job(), workplace)? {
            None => Ok(true),
            Some(unfit) => unfit.expect_own(&self.output).map(|()| false),
        }
    }

    fn kept(&self, workplace: &Workplace) -> Result<RunReport, RunError> {
        checkpoint::remove_left(workplace, &self.output)?;
        Ok(RunReport { made: Vec::new(), kept: vec![self.output.clone()] })
    }

    /// Looks at the headers of all parts before the work begins. The most entries of one.
    fn check_parts(&self, inputs: &[PathBuf], workplace: &Workplace) -> Result<u64, RunError> {
        let mut largest = 0;
        for path in inputs {
            workplace.check_stop()?;
            largest = largest.max(self.open(path, workplace)?.space().size());
        }
        Ok(largest)
    }

    /// Opens a part, unless it is none that can be joined.
    fn open(&self, path: &Path, workplace: &Workplace) -> Result<Table, RunError> {
        let mut table = Table::open(path, workplace.source_options())?;
        table.check_length()?;
        match self.misfit(&table, workplace) {
            None => Ok(table),
            Some(why) => Err(self.refusal(format!("{}: {why}", path.display()))),
        }
    }

    /// Why a table is no part of the ending.
    fn misfit(&self, table: &Table, workplace: &Workplace) -> Option<String> {
        let any_part = Part::whole(&self.material);
        let any_part = EndingJob { material: self.material, part: Some(any_part) };
        if let Some(difference) = difference_from_job(table, &any_part, workplace.format()) {
            return Some(difference);
        }
        let space = table.space();
        let why = if space.pawn_structures().is_some() {
            "is one of a family of pawn structures (pawngen), which have an index of their own"
        } else if !has_free_pieces(space) {
            "holds other men than pawns on some squares only"
        } else {
            return None;
        };
        Some(why.to_owned())
    }

    /// Pages if memory is bounded.
    fn pages(
        &self,
        largest: u64,
        folder: &Path,
        options: &RunOptions<'_>,
    ) -> Result<Option<Arc<Pages>>, RunError> {
        let layout = Layout::new(&self.material);
        let values = 2 * layout.len() as u64 * self.job().slice_count();
        let needed = memory_of_joining(values, largest);
        let streams = CellStreams { profile: Profile::Fast, ..options.workplace.streams };
        let in_cells = has_suffix(&self.output);
        let writing = if in_cells { streams.memory(self.material.men(), values / 2) } else { 0 };
        let layouts = std::iter::once((&layout, writing));
        room::pages(&options.workplace, layouts, needed, folder, options.progress)
    }

    /// Reads all parts, which are the whole ending together.
    fn read(&self, inputs: &[PathBuf], run: RunContext<'_>) -> Result<JoinedParts, RunError> {
        let mut joined = self.begin(run)?;
        let JoinedParts { numbering, values, .. } = &joined;
        let mut origins = HashMap::new();
        let mut counted = Some(HeaderCounts::default());
        let mut area = Vec::new();
        for (number, path) in inputs.iter().enumerate() {
            run.workplace.check_stop()?;
            tracing::info!(part = %path.display(), "reading");
            let table = self.open(path, run.workplace)?;
            let all = Wanted::all();
            let taking = taking_of(run.workplace.format());
            let part = decode_table(&table, &all, taking, None, run, &mut area)?;
            let share = HeaderCounts::of(&table, &numbering.space, &self.material);
            counted = counted.zip(share).map(|(sum, share)| sum.with(share));
            let twice = self.take(part, values, (number, inputs), &mut origins)?;
            counted = counted.filter(|_| !twice);
            run.progress.slice(table.space().size());
        }
        self.expect_whole(values)?;
        joined.counted = counted;
        Ok(joined)
    }

    /// Nothing read yet.
    fn begin(&self, run: RunContext<'_>) -> Result<JoinedParts, RunError> {
        let began = SystemTime::now();
        let control = control_of_job(&self.job(), run.workplace.format())?;
        let numbering = Numbering::of(&control, &Stop::default())?;
        let values = TableValues::new(self.material, self.job().slices());
        run.progress.begin(2 * values.layout.len() as u64 * values.slices.len() as u64);
        run.progress.table(&self.job().file_name());
        run.progress.phase(Phase::Reading);
        Ok(JoinedParts { control, numbering, values, counted: None, began })
    }

    /// Reads what processes have solved together.
    fn read_shares(&self, run: RunContext<'_>) -> Result<JoinedParts, RunError> {
        let joined = self.begin(run)?;
        let shares = shares_of(&self.material, &self.shared, run.workplace)?;
        read_shares(&shares, &self.output, &joined.values, run)?;
        Ok(joined)
    }

    /// Gives the slices of a part their places. Whether there were some already, which are the
    /// same.
    fn take(
        &self,
        part: TableValues,
        values: &TableValues,
        (number, inputs): (usize, &[PathBuf]),
        origins: &mut HashMap<PawnSquares, usize>,
    ) -> Result<bool, RunError> {
        let path = inputs[number].display();
        if (&part.layout, part.form) != (&values.layout, values.form) {
            return Err(self.refusal(format!("{path}: has its positions in another order")));
        }
        let mut twice = false;
        let slices: BTreeMap<_, _> = part.slices.into_iter().collect();

        for (structure, slot) in slices {
            let (Some(slice), Some(place)) = (slot.into_inner(), values.slices.get(&structure))
            else {
                continue;
            };
            let Some(known) = place.get() else {
                // It was seen to be empty.
                let _ = place.set(slice);
                origins.insert(structure, number);
                continue;
            };
            twice = true;
            if let Some(position) = difference(known, &slice) {
                let position = position.fen(&values.layout, structure);
                let other = inputs[origins[&structure]].display();
                let why = format!("{path}: has another value than {other} for {position}");
                return Err(self.refusal(why));
            }
        }
        Ok(twice)
    }

    /// Refuses parts that leave out pawn structures.
    fn expect_whole(&self, values: &TableValues) -> Result<(), RunError> {
        let missing = values.slices.iter().filter(|(_, slot)| slot.get().is_none());
        let missing: BTreeSet<PawnSquares> = missing.map(|(&structure, _)| structure).collect();
        let Some(&first) = missing.first() else { return Ok(()) };
        let swappable = self.material.is_symmetric();
        let has_first =
            |part: &Part| part.structures().into_iter().any(|s| s.normalized(swappable).0 == first);
        let part = Part::by_files(&self.material).into_iter().find(has_first);
        let name = name_like(&self.output, &EndingJob { material: self.material, part });
        let name = name.display();
        Err(self.refusal(format!(
            "{} of its {} pawn structures are in none of the parts, among them those of {name} \
             with {}",
            missing.len(),
            values.slices.len(),
            pawns_in_words(first)
        )))
    }

    fn write(
        &self,
        joined: &JoinedParts,
        args: &str,
        run: RunContext<'_>,
    ) -> Result<MadeTable, RunError> {
        run.progress.phase(Phase::Writing);
        let making = Making {
            reproducible: run.workplace.reproducible,
            args: args.to_owned(),
            began: joined.began,
            instruction: String::new(),
            passes: BTreeMap::new(),
            behind: None,
            counted: joined.counted.map(|counted| (counted.legal, counted.moves)),
        };
        let header = (&joined.control, &joined.numbering);
        let counts = write_table(header, &joined.values, &self.output, &making, run)?;
        checkpoint::remove_of(run.workplace, &self.output)?;
        tracing::info!(table = %self.output.display(), "written");
        let name = self.job().file_name();
        run.progress.finished(&name);
        let (longest, longest_wins) = longest_of(&joined.values);
        let has_distances = run.workplace.format().has_distance();
        let longest_wins = has_distances.then_some(longest_wins);
        let (path, notices) = (Some(self.output.clone()), Vec::new());
        Ok(MadeTable { name, path, counts: Some(counts), longest, longest_wins, notices })
    }
}

/// The files of parts, each in either container.
fn parts_there(
    parts: &[PathBuf],
    output: &Path,
    workplace: &Workplace,
) -> Result<Vec<PathBuf>, RunError> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for part in parts {
        match names_of(part).find(|path| is_file(&*workplace.storage, path)) {
            Some(path) => found.push(path),
            None => missing.push((part.clone(), workplace.is_being_made(part))),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    Err(RunError::NotThere { table: output.to_owned(), missing })
}

/// What was read of all parts.
struct JoinedParts {
    control: ControlFile,
    numbering: Numbering,
    values: TableValues,
    /// What the headers of the parts say, if it is known of which positions.
    counted: Option<HeaderCounts>,
    began: SystemTime,
}

/// The longest win or loss, and the longest wins with White and with Black to move, in moves.
fn longest_of(values: &TableValues) -> (u16, [Option<u16>; 2]) {
    let slices = || values.slices.values().filter_map(|slot| slot.get());
    let longest = slices().map(|slice| slice.max_moves).max().unwrap_or(0);
    let wins = slices().map(|slice| slice.longest_wins());
    let mut wins = wins.fold([None; 2], |[white, black], [w, b]| [w.max(white), b.max(black)]);
    if values.form == NormalForm::MirroredAndSwapped {
        // A slice stands for its image with exchanged colours.
        wins = [wins.into_iter().max().flatten(); 2];
    }
    (longest, wins)
}

/// What headers count that values do not tell: of a part, as much of it as the whole ending has
/// indices for.
#[derive(Clone, Copy, Default)]
struct HeaderCounts {
    legal: u64,
    moves: Counts,
}

impl HeaderCounts {
    /// What a header says.
    fn of_header(table: &Table) -> Option<HeaderCounts> {
        let number = |name: &str| u64::try_from(*table.control().statistics.get(name)?).ok();
        let moves = Counts {
            stalemates: number("stalemate-positions")?,
            moves: number("forward-moves")?,
            futuremoves: number("futuremoves")?,
        };
        Some(HeaderCounts { legal: number("legal-positions")?, moves })
    }

    /// The share of a part; none if its header does not say, or if some of its slices have more
    /// indices in the whole ending, compared with the part, than others.
    fn of(table: &Table, whole: &IndexSpace, material: &Material) -> Option<HeaderCounts> {
        let HeaderCounts { legal, moves } = HeaderCounts::of_header(table)?;

        // In how many ways the index spaces have every position, the side to move told apart.
        let ways = |space: &IndexSpace| {
            u64::from(space.symmetry()) * if space.has_side_bit() { 1 } else { 2 }
        };
        let men = table.pieces().iter().map(|p| (p.color, p.role));
        let turned = Orientation { swap: Material::from_men(men).normalized().1, mirror: false };
        let mut slices: BTreeMap<PawnSquares, u64> = BTreeMap::new();

        for structure in structures_of(table.space()) {
            let normal = structure.oriented(turned).normalized(material.is_symmetric()).0;
            *slices.entry(normal).or_default() += 1;
        }

        let mut shares = slices.iter().map(|(&slice, held)| {
            let images = images(slice, material.is_symmetric());
            (images * ways(table.space()), held * ways(whole))
        });
        let (times, of) = shares.next()?;
        let is_alike = shares.all(|(other_times, other_of)| times * other_of == other_times * of);
        let legal_share = (legal * times) / of;
        let share = HeaderCounts { legal: legal_share, moves: moves * times / of };
        let is_exact = legal_share * of == legal * times && share.moves * of == moves * times;
        (is_alike && is_exact).then_some(share)
    }

    fn with(mut self, other: HeaderCounts) -> HeaderCounts {
        self.legal += other.legal;
        self.moves += other.moves;
        self
    }
}

/// How many structures share a slice.
fn images(slice: PawnSquares, swappable: bool) -> u64 {
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    let ways = ways.into_iter().filter(|&(swap, _)| swappable || !swap);
    let images = ways.map(|(swap, mirror)| slice.oriented(Orientation { swap, mirror }));
    images.collect::<BTreeSet<PawnSquares>>().len() as u64
}

/// A position of a slice.
struct PositionOfSlice {
    turn: Color,
    en_passant: Option<u8>,
    offset: usize,
}

impl PositionOfSlice {
    fn fen(&self, layout: &Layout, pawns: PawnSquares) -> String {
        let movers = layout.movers().iter().enumerate();
        let movers = movers.map(|(m, man)| (man.color, man.role, layout.square(m, self.offset)));
        let pawns = Color::ALL.into_iter().flat_map(|color| {
            Bitboard(pawns.of(color)).into_iter().map(move |at| (color, Role::Pawn, u8::from(at)))
        });
        let men = movers.chain(pawns).map(|(color, role, at)| (color, role, square(at)));
        fen(&men.collect::<Vec<_>>(), self.turn, self.en_passant.map(square))
    }
}

fn square(number: u8) -> Square {
    Square::new(u32::from(number))
}

/// The first position that two readings of a slice give other values.
fn difference(one: &SliceValues, other: &SliceValues) -> Option<PositionOfSlice> {
    for (turn, codes) in Color::ALL.into_iter().zip(&one.codes) {
        if let Some(offset) = first_difference(codes, &other.codes[side(turn)]) {
            return Some(PositionOfSlice { turn, en_passant: None, offset });
        }
    }
    for (right, others) in one.en_passant.iter().zip(&other.en_passant) {
        if let Some(offset) = first_difference(&right.codes, &others.codes) {
            // White takes on the sixth rank.
            let turn = if right.square < 32 { Color::Black } else { Color::White };
            return Some(PositionOfSlice { turn, en_passant: Some(right.square), offset });
        }
    }
    None
}

/// Codes that are compared at a time.
const COMPARED: usize = 1 << 15;

/// The first place where codes differ.
fn first_difference(one: &Codes, other: &Codes) -> Option<usize> {
    let len = one.len().min(other.len());
    let (mut own, mut theirs) = (vec![0_u16; COMPARED.min(len)], vec![0_u16; COMPARED.min(len)]);
    for at in (0..len).step_by(COMPARED) {
        let count = COMPARED.min(len - at);
        one.read(at, &mut own[..count]);
        other.read(at, &mut theirs[..count]);
        if let Some(place) = (0..count).find(|&i| own[i] != theirs[i]) {
            return Some(at + place);
        }
    }
    None
}

/// The squares of pawns for readers: `white pawns on a2 b2 and a black pawn on c7`.
fn pawns_in_words(structure: PawnSquares) -> String {
    let of = |color: Color| {
        let squares = Bitboard(structure.of(color)).into_iter();
        let squares: Vec<String> = squares.map(|at| at.to_string()).collect();
        let name = color.fold_wb("white", "black");
        match squares.as_slice() {
            [] => None,
            [one] => Some(format!("a {name} pawn on {one}")),
            many => Some(format!("{name} pawns on {}", many.join(" "))),
        }
    };
    Color::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join(" and ")
}
