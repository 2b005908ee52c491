//! A table file opened for reading: its header, its index space, its entries.

use std::path::{Path, PathBuf};

use hoffman_board::{Color, Format, PieceList, Placement, Role, Square, Value, Variant};
use hoffman_control::{
    Claims, ControlError, ControlFile, PawnMasks, PawngenElement, PawngenSide, Strictness,
    decode_text, prefix_length, resolve_pieces_with,
};
use hoffman_hbf::Code;
use hoffman_store::{Storage, StoredFile};

use crate::blocks::{self, Family};
use crate::entries::{EntryCodec, EntryError, EntryValue, RawEntry};
use crate::foreign::{self, Answers, ForeignError, ForeignOptions, ForeignTable};
use crate::htb::{GzipSource, HtbError, SourceOptions, salvaged_start};
use crate::index::{IndexError, IndexParams, IndexSpace, PawnStructure, PawnStructures};
use crate::packed::PackedFile;
use crate::source::{Entries, Shape};
use crate::stop::Stop;

/// The longest XML prefix that is read, in bytes.
pub(crate) const MAX_PREFIX: usize = 16 << 20;

/// How many bytes of a damaged file are looked at.
const SALVAGED: usize = 1 << 20;

/// Why a file cannot be used as a table.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = .path.display())]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: TableProblem,
}

/// What is wrong with a table file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// The container.
    #[error("{}", with_source(.0))]
    Container(#[from] HtbError),
    /// The XML header.
    #[error(transparent)]
    Header(#[from] ControlError),
    /// The index declared in the header.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The entry format declared in the header.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// No `</tablebase>` near the start.
    #[error("this is no Hoffman table: it does not begin with an XML header")]
    NoHeader,
    /// No bits given in the header, so the file is a control file or from an unfinished run.
    #[error("the header does not say how many bits an entry has")]
    NoBits,
    /// Header and length contradict each other.
    #[error("the table has {found} bytes where its header asks for {expected}")]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes the header implies.
        expected: u64,
    },
    /// The table of another program.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// A value of a foreign table that does not fit.
    #[cfg(feature = "bulk")]
    #[error(transparent)]
    Rows(#[from] crate::rows::RowsError),
    /// A file of the block format is none, or is damaged.
    #[error(transparent)]
    Blocks(hoffman_hbf::HbfError),
    /// An answer that needs the table of a smaller ending, which is not beside the file.
    #[error(
        "some of its positions need the table of {ending}, and there is none beside it that tells as much"
    )]
    Behind {
        /// The ending.
        ending: hoffman_board::Material,
    },
    /// The table of a smaller ending that an answer needs is damaged.
    #[error("some of its positions need another table, {0}")]
    BehindFails(Box<TableError>),
    /// The cells of another ending than the header says.
    #[error("it holds the values of {cells}, and its header is that of {header}")]
    Unlike {
        /// The ending of the cells.
        cells: hoffman_board::Material,
        /// The men of the header.
        header: hoffman_board::Material,
    },
    /// The list of pawn structures cannot be read.
    #[error("the list of pawn structures in the table is damaged")]
    PawnTable,
}

impl TableError {
    /// Whether the file could not be read, so that nothing is known of what it holds.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.problem, TableProblem::Container(HtbError::Io { .. }))
    }

    /// Whether the caller asked to stop, and nothing is wrong with the table.
    pub fn is_stopped(&self) -> bool {
        match &self.problem {
            TableProblem::Container(HtbError::Stopped) => true,
            #[cfg(feature = "bulk")]
            TableProblem::Rows(crate::rows::RowsError::Stopped) => true,
            TableProblem::BehindFails(behind) => behind.is_stopped(),
            _ => false,
        }
    }
}

fn with_source(error: &HtbError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// An open table.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    pub(crate) control: ControlFile,
    pub(crate) shape: Shape,
    pawn_structures: Option<PawnStructures>,
    pub(crate) entries: Box<dyn Entries>,
    notices: Vec<String>,
    /// What ends work on all of it.
    stop: Stop,
}

impl Table {
    /// Opens a table file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no table, or contradicts itself.
    pub fn open(path: impl AsRef<Path>, options: SourceOptions) -> Result<Table, TableError> {
        let path = path.as_ref();
        Table::open_among(path, options, Family::new())
            .map_err(|problem| TableError { path: path.to_owned(), problem })
    }

    /// Opens a table file that may use the tables behind it with others of the folder.
    pub(crate) fn open_among(
        path: &Path,
        options: SourceOptions,
        family: Family,
    ) -> Result<Table, TableProblem> {
        let reading = |action| move |source| HtbError::Io { action, source };
        let file = options.storage.open(path).map_err(reading("cannot open the table"))?;
        let stop = options.stop.clone();
        let table = if blocks::is_of_blocks(&*file).map_err(reading("cannot read the table"))? {
            blocks::open(path, (file, family), options)?
        } else {
            Table::from_source(path, GzipSource::new(Box::new(file), options)?)?
        };
        Ok(Table { stop, ..table })
    }

    /// What ends work on all of it.
    #[cfg(feature = "bulk")]
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// An error if the caller asked to stop ([`SourceOptions::stop`]).
    ///
    /// # Errors
    ///
    /// That ([`TableError::is_stopped`]).
    pub fn check_stop(&self) -> Result<(), TableError> {
        if self.stop.is_requested() {
            return Err(self.error(TableProblem::Container(HtbError::Stopped)));
        }
        Ok(())
    }

    /// The header of a file that cannot be opened as a table, if it can be read: it tells what the
    /// file was.
    pub fn salvage_header(path: &Path, storage: &dyn Storage) -> Option<ControlFile> {
        let file = storage.open(path).ok()?;
        if blocks::is_of_blocks(&*file).ok()? {
            return blocks::salvage_header(path, file);
        }
        let mut bytes = vec![0; SALVAGED];
        let got = fill_as_far(&*file, &mut bytes)?;
        let mut prefix = salvaged_start(bytes.get(..got)?, SALVAGED);
        prefix.truncate(prefix_length(&prefix)?);
        let origin = path.display().to_string();
        ControlFile::parse(&decode_text(&prefix, &origin).ok()?, &origin, Strictness::Header).ok()
    }

    /// Reads a table from an open container; `path` is what messages call it.
    ///
    /// # Errors
    ///
    /// See [`Table::open`].
    pub fn from_source(path: &Path, source: GzipSource) -> Result<Table, TableProblem> {
        let origin = path.display().to_string();
        let prefix = read_prefix(&source)?;
        let text = decode_text(&prefix, &origin)?;
        let control = ControlFile::parse(&text, &origin, Strictness::Header)?;
        let structures = read_pawn_table(&control, &source)?;
        Table::with_entries(path, control, structures, |control, shape| {
            Box::new(PackedFile::new(source, control, shape))
        })
    }

    /// A table with this header whose entries come from anywhere; `path` is what messages call it.
    ///
    /// # Errors
    ///
    /// The header describes no table.
    pub fn of_entries(
        path: &Path,
        header: ControlFile,
        entries: Box<dyn Entries>,
    ) -> Result<Table, TableProblem> {
        Table::with_entries(path, header, None, |_, _| entries)
    }

    pub(crate) fn with_entries(
        path: &Path,
        control: ControlFile,
        structures: Option<Vec<PawnStructure>>,
        entries: impl FnOnce(&ControlFile, &Shape) -> Box<dyn Entries>,
    ) -> Result<Table, TableProblem> {
        let (shape, pawn_structures) = shape_of(&control, structures)?;
        Ok(Table {
            path: path.to_owned(),
            notices: control.notices.iter().map(|n| n.message.clone()).collect(),
            entries: entries(&control, &shape),
            control,
            shape,
            pawn_structures,
            stop: Stop::default(),
        })
    }

    /// Opens a table of another program by the ending of its name. It then is a table of ours with
    /// the men in the order of the file name, kings last, with index type combinadic5 and all
    /// symmetry there is, made without prunes, of [`Format::Basic`] or [`Format::Dtm`].
    ///
    /// Entries are asked for one by one, so reading all of a table takes microseconds an index and
    /// thread. Where files are missing that answers need, [`Table::value`] is
    /// [`EntryValue::Unknown`], and entries are errors that name the files; to refuse such a table
    /// beforehand, see [`Table::check_complete`].
    ///
    /// # Errors
    ///
    /// See [`foreign::open`].
    pub fn open_foreign(
        path: impl AsRef<Path>,
        options: &ForeignOptions,
    ) -> Result<Table, TableError> {
        let path = path.as_ref();
        let fail = |problem| TableError { path: path.to_owned(), problem };
        let foreign = foreign::open(path, options).map_err(|e| fail(e.into()))?;
        Table::from_foreign(path, foreign).map_err(fail)
    }

    /// Opens a table of ours or, by its suffix, of another program, and checks that it is
    /// complete.
    ///
    /// # Errors
    ///
    /// As [`Table::open`], [`Table::open_foreign`] and [`Table::check_length`].
    pub fn open_checked(
        path: &Path,
        options: SourceOptions,
        foreign: &ForeignOptions,
    ) -> Result<Table, TableError> {
        let mut table = match foreign::ForeignKind::of(path) {
            Some(_) => Table::open_foreign(path, foreign)?,
            None => Table::open(path, options)?,
        };
        table.check_length()?;
        Ok(table)
    }

    /// A table of ours that answers what a foreign one says; see [`Table::open_foreign`]. `path`
    /// is what messages call it.
    ///
    /// # Errors
    ///
    /// The ending is too large to be numbered.
    pub fn from_foreign(
        path: &Path,
        foreign: Box<dyn ForeignTable>,
    ) -> Result<Table, TableProblem> {
        let header = foreign::header(path, &*foreign);
        let missing = foreign.missing();
        let mut table = Table::of_entries(path, header, Box::new(Answers(foreign)))?;
        if !missing.is_empty() {
            let missing = missing.join(", ");
            table.notices.push(format!("some positions have no score without {missing}"));
        }
        Ok(table)
    }

    /// Refuses a table of another program of which some positions have no answer, because other
    /// files are missing; for those who need every answer, before they begin.
    ///
    /// # Errors
    ///
    /// [`ForeignError::Incomplete`], naming all files that are missing.
    pub fn check_complete(&self) -> Result<(), TableError> {
        let missing = self.foreign().map(ForeignTable::missing).unwrap_or_default();
        if missing.is_empty() {
            return Ok(());
        }
        let problem = ForeignError::Incomplete { missing }.into();
        Err(TableError { path: self.path.clone(), problem })
    }

    /// Compares the length of the file with what the header implies, and repairs the start of the
    /// entries where a header counted characters instead of bytes. Reads foreign files to their
    /// end.
    ///
    /// # Errors
    ///
    /// [`TableProblem::Length`], damage.
    pub fn check_length(&mut self) -> Result<(), TableError> {
        match self.entries.settle(&self.shape, &self.control) {
            Ok(remark) => {
                self.notices.extend(remark);
                Ok(())
            }
            Err(problem) => Err(self.error(problem)),
        }
    }

    /// Whether [`Table::check_length`] takes no time.
    pub fn has_known_length(&self) -> bool {
        self.entries.is_soon_settled()
    }

    /// What is wrong with it, with its name.
    pub(crate) fn error(&self, problem: TableProblem) -> TableError {
        TableError { path: self.path.clone(), problem }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The header.
    pub fn control(&self) -> &ControlFile {
        &self.control
    }

    /// The numbering of its positions.
    pub fn space(&self) -> &IndexSpace {
        &self.shape.space
    }

    /// The pawn structures of a table that numbers them, all that the file lists.
    pub fn pawn_structures(&self) -> Option<&PawnStructures> {
        self.pawn_structures.as_ref()
    }

    /// How its entries are stored.
    pub fn codec(&self) -> EntryCodec {
        self.shape.codec
    }

    /// The men.
    pub fn pieces(&self) -> &PieceList {
        self.shape.space.pieces()
    }

    /// What its values prove of chess, as far as its header tells by itself.
    pub fn claims(&self) -> Claims {
        self.shape.claims(&self.control)
    }

    /// The rules.
    pub fn variant(&self) -> Variant {
        self.control.variant
    }

    /// The reader that the entries come from, if the table is one of another program.
    pub fn foreign(&self) -> Option<&dyn ForeignTable> {
        self.entries.foreign()
    }

    /// Whether it is a file of the block format.
    pub fn is_of_blocks(&self) -> bool {
        self.entries.is_of_blocks()
    }

    /// Whether it stores the values of positions, from which every entry follows.
    pub fn is_of_cells(&self) -> bool {
        self.entries.is_of_cells()
    }

    /// Bytes that differ where entries do, if they are known without reading all of them.
    pub fn fingerprint(&self) -> Option<Vec<u8>> {
        self.entries.fingerprint()
    }

    /// Remarks of the reader for the user.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The entry at an index.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early.
    pub fn entry(&self, index: u64) -> Result<RawEntry, TableError> {
        self.entries.number(&self.shape, index).map_err(|problem| self.error(problem))
    }

    /// What the entry of a position says. `unreachable` tells that the player not to move is in
    /// check, which no entry is asked about.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends early.
    pub fn value(&self, index: u64, turn: Color) -> Result<EntryValue, TableError> {
        self.entries.value(&self.shape, index, turn).map_err(|problem| self.error(problem))
    }

    /// [`Table::value`], or any one between `enough` and the true one if that is as good, see
    /// [`Entries::value_up_to`].
    pub(crate) fn value_up_to(
        &self,
        index: u64,
        turn: Color,
        enough: Code,
    ) -> Result<EntryValue, TableError> {
        let value = self.entries.value_up_to(&self.shape, index, turn, enough);
        value.map_err(|problem| self.error(problem))
    }

    /// [`Table::value`], or if that is better than `limit` for the side to move, any value that is:
    /// this may be much quicker to find out.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn value_unless_better(
        &self,
        index: u64,
        turn: Color,
        limit: Value,
    ) -> Result<EntryValue, TableError> {
        let limit = blocks::code_of_entry(EntryValue::Exact(limit), false);
        let enough = limit.map_or(Code::MAX, |code| code.saturating_add(1));
        self.value_up_to(index, turn, enough)
    }

    /// [`Table::value`] as far as memory tells; none if the file would have to be read, and of
    /// tables of other programs.
    pub fn cached_value(&self, index: u64, turn: Color) -> Option<EntryValue> {
        self.entries.cached_value(&self.shape, index, turn)
    }

    /// The placement of a board in this table's slots: men by square, side to move, en passant
    /// square. None if the men are others or stand where they may not.
    pub fn place(
        &self,
        men: impl IntoIterator<Item = (Square, Color, Role)>,
        turn: Color,
        en_passant: Option<Square>,
    ) -> Option<Placement> {
        self.shape.space.place(men, turn, en_passant)
    }

    /// The index of a placement; none if the table has no such position.
    pub fn index(&self, placement: &Placement) -> Option<u64> {
        self.shape.space.encode(placement)
    }

    /// The distance of an exact value.
    pub fn exact(value: EntryValue) -> Option<Value> {
        match value {
            EntryValue::Exact(value) => Some(value),
            EntryValue::Draw => Some(Value::Draw),
            _ => None,
        }
    }
}

/// Fills a buffer with the start of a file, as far as there are bytes; returns how many there
/// were.
fn fill_as_far(file: &dyn StoredFile, buffer: &mut [u8]) -> Option<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, done as u64).ok()? {
            0 => break,
            got => done += got,
        }
    }
    Some(done)
}

/// The XML prefix of a container.
fn read_prefix(source: &GzipSource) -> Result<Vec<u8>, TableProblem> {
    let mut prefix = Vec::new();
    let mut step = 64 << 10;
    while prefix.len() < MAX_PREFIX {
        let before = prefix.len();
        prefix.resize(before + step, 0);
        let got = source.read_up_to(before as u64, prefix.get_mut(before..).unwrap_or_default())?;
        prefix.truncate(before + got);
        if let Some(len) = prefix_length(&prefix) {
            prefix.truncate(len);
            return Ok(prefix);
        }
        let starts = prefix.iter().find(|b| !b.is_ascii_whitespace());
        if got < step || !matches!(starts, Some(b'<' | 0xef)) {
            break;
        }
        step = step.saturating_mul(2);
    }
    Err(TableProblem::NoHeader)
}

/// The header at the beginning of a file.
#[cfg(feature = "bulk")]
pub(crate) fn parse_header(bytes: &[u8], path: &Path) -> Result<ControlFile, TableProblem> {
    let origin = path.display().to_string();
    let prefix = prefix_length(bytes).and_then(|len| bytes.get(..len));
    let text = decode_text(prefix.ok_or(TableProblem::NoHeader)?, &origin)?;
    Ok(ControlFile::parse(&text, &origin, Strictness::Header)?)
}

/// The numbering and the entries that a header describes, with the structures that a file lists.
pub(crate) fn shape_of(
    control: &ControlFile,
    structures: Option<Vec<PawnStructure>>,
) -> Result<(Shape, Option<PawnStructures>), TableProblem> {
    let pawngen = control.pawngen.as_ref();
    let masks =
        pawngen.and_then(|p| Some(PawnMasks { white: p.white.legal?, black: p.black.legal? }));
    let pieces = resolve_pieces_with(control, masks)?;
    let symmetry =
        control.symmetry().unwrap_or_else(|| hoffman_control::automatic_symmetry(control, &pieces));

    let format = control.entry_format();
    let bits = match format {
        Format::Dtm(bits) | Format::Dtc(bits) => bits.ok_or(TableProblem::NoBits)?,
        Format::Basic => 2,
        Format::Flag(_) => 1,
    };
    let codec = EntryCodec::new(format, bits, control.variant)?;

    let listed = pawngen.zip(structures);
    let listed = listed.map(|(pawngen, list)| numbered(pawngen, list, &pieces)).transpose()?;
    let space = IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry,
        variant: control.variant,
        format_is_flag: matches!(format, Format::Flag(_)),
        pieces,
        pawn_structures: listed.clone(),
    })?;
    Ok((Shape { space, codec }, listed))
}

/// The structures that the file of a `pawngen` table lists.
fn read_pawn_table(
    control: &ControlFile,
    source: &GzipSource,
) -> Result<Option<Vec<PawnStructure>>, TableProblem> {
    let Some(pawngen) = &control.pawngen else { return Ok(None) };
    let (start, end) = (pawngen.offset, control.offset);
    let size = PawnStructure::BYTES as u64;
    let len = end.checked_sub(start).filter(|len| len % size == 0 && *len < 1 << 30);
    let len = len.ok_or(TableProblem::PawnTable)? as usize;
    // The header may claim anything; memory is taken as far as there are bytes.
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let done = bytes.len();
        bytes.resize(len.min(done + (1 << 20).max(done)), 0);
        source.read_at(start.saturating_add(done as u64), &mut bytes[done..])?;
    }
    let (chunks, _) = bytes.as_chunks::<{ PawnStructure::BYTES }>();
    let list = chunks.iter().map(PawnStructure::from_bytes).collect::<Option<Vec<_>>>();
    list.ok_or(TableProblem::PawnTable).map(Some)
}

/// The structures with the men that they place.
fn numbered(
    pawngen: &PawngenElement,
    list: Vec<PawnStructure>,
    pieces: &PieceList,
) -> Result<PawnStructures, TableProblem> {
    let pawns = |side: &PawngenSide| side.pawns_required.unwrap_or(0) as usize;
    let first = pawngen.position;
    let last = first.saturating_add(pawns(&pawngen.white)).saturating_add(pawns(&pawngen.black));
    if last > pieces.len() {
        return Err(TableProblem::PawnTable);
    }
    Ok(PawnStructures {
        slots: first..last,
        list,
        start: usize::try_from(pawngen.start).map_err(|_| TableProblem::PawnTable)?,
        count: usize::try_from(pawngen.count).map_err(|_| TableProblem::PawnTable)?,
    })
}
