//! Files of the block format, written.

use std::path::Path;
use std::sync::Arc;

use hoffman_board::value::FlagType;
use hoffman_board::{Color, Format, ListedPiece, Variant};
use hoffman_control::{Claims, ControlFile};
use hoffman_hbf::{
    Crew, EncodeError, EncodeOptions, EntryTable, EntryWriter, HbfFile, Material, Metric, Mode,
    ModelTests, Sides, Source, TableInfo, Texts, WorkWatch, Workers, model_memory, write_ending,
};
use hoffman_space::TableValues;
use hoffman_store::{FileWriter, Storage};
use rayon::prelude::*;

use super::values::{Values, WithBehind};
use super::{BlockFile, man};
use crate::entries::{EntryCodec, Number};
use crate::htb::AtomicFile;
use crate::htb::SourceOptions;
use crate::index::{IndexSpace, PawnStructures};
use crate::reader::{Table, shape_of};
use crate::stop::Stop;
use crate::writer::{WriteError, WriteProblem};

/// The log of how many entries a tile has.
const TILE: u8 = 14;

/// What is stored of a complete ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Both sides to move, leaning on no other table but for captures en passant; to be read in as
    /// little time as possible.
    #[default]
    Fast,
    /// The side to move that takes less room, leaning on the tables behind captures and promotions.
    Small,
    /// The same in a seventh less, which takes several times as long to write and to read.
    Smallest,
    /// Both sides to move, leaning on the tables behind captures and promotions.
    Paired,
}

impl Profile {
    /// Whether a file needs the tables behind captures and promotions beside it.
    pub const fn leans(self) -> bool {
        !matches!(self, Profile::Fast)
    }

    /// The sides to move of a stream of values.
    const fn sides(self) -> Sides {
        match self {
            Profile::Fast | Profile::Paired => Sides::Both,
            Profile::Small | Profile::Smallest => Sides::Smaller,
        }
    }
}

/// Which values of a complete ending are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Distances to mate.
    #[default]
    Distances,
    /// Distances to mate and, apart from them, who wins: for those who need no more and want to
    /// read little.
    Both,
    /// Who wins, and no distances.
    Outcomes,
}

impl Content {
    /// The format that the header of such a table names.
    pub const fn format(self) -> Format {
        match self {
            Content::Distances | Content::Both => Format::Dtm(None),
            Content::Outcomes => Format::Basic,
        }
    }

    /// What of it a table of a format has.
    pub const fn within(self, format: Format) -> Content {
        match (format, self) {
            (Format::Basic, _) => Content::Outcomes,
            (_, Content::Outcomes) => Content::Distances,
            (_, content) => content,
        }
    }
}

/// What a file of cells has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellStreams {
    /// Which sides to move, and how they are stored.
    pub profile: Profile,
    /// Which values.
    pub content: Content,
}

impl CellStreams {
    /// Whether that is what only files of complete endings can have.
    pub fn needs_cells(self) -> bool {
        self.profile.leans() || self.content == Content::Both
    }

    /// Bytes of memory that the writer needs beside the values, for an ending of so many men with
    /// so many positions a side to move: for a model. They are made one after the other.
    pub fn memory(self, men: usize, positions: u64) -> u64 {
        model_memory(men, positions.min(self.training(positions) as u64))
    }

    /// Rows of a tile of cells, of which a cold probe decodes half, what models may ask, and the
    /// most cells that one is made from. With more of either files are smaller; with more of the
    /// first two they are read more slowly.
    const fn shape(self) -> (u8, ModelTests, usize) {
        match (self.profile, self.content) {
            (Profile::Fast, _) => (4, ModelTests::Plain, 1_500_000),
            (Profile::Small, _) => (32, ModelTests::Plain, 1_000_000),
            (Profile::Smallest, _) => (32, ModelTests::All, 4_000_000),
            (Profile::Paired, Content::Outcomes) => (16, ModelTests::All, 4_000_000),
            (Profile::Paired, _) => (4, ModelTests::All, 16_000_000),
        }
    }

    /// How many cells a model is made from: of small tables fewer, as it would take most of the
    /// time there.
    fn training(self, positions: u64) -> usize {
        let (.., most) = self.shape();
        (positions / 4).clamp(100_000, most as u64) as usize
    }
}

/// The threads of the pool that the call is made in.
struct Pool;

impl Workers for Pool {
    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).into_par_iter().with_max_len(1).for_each(work);
    }
}

impl WorkWatch for Stop {
    fn stops(&self) -> bool {
        self.is_requested()
    }
}

/// The threads of the pool that the call is made in, until they are asked to stop.
pub(crate) fn crew(stop: &Stop) -> Crew<'_> {
    Crew { workers: &Pool, watch: stop }
}

/// A table that is written by its entries.
#[derive(Debug)]
pub(crate) struct BlockWriter<'f> {
    writer: EntryWriter<'f, FileWriter<'f>>,
    codec: EntryCodec,
    /// Scratch space.
    bits: Vec<u16>,
}

impl<'f> BlockWriter<'f> {
    /// Begins the file of a table with this header.
    pub(crate) fn begin(
        out: FileWriter<'f>,
        control: &ControlFile,
        structures: Option<&PawnStructures>,
        (codec, entries): (EntryCodec, u64),
        stop: &'f Stop,
    ) -> Result<BlockWriter<'f>, WriteProblem> {
        let bits = codec.bits();
        let list = structures.map(|structures| {
            structures.list.iter().flat_map(|s| s.to_bytes()).collect::<Vec<u8>>()
        });
        let claims = claims_of(control, structures)?;
        let sides = [Color::White, Color::Black].map(|color| claims.of(color));
        let info = TableInfo {
            mode: Mode::Generic { entries, bits },
            suicide: control.variant == Variant::Suicide,
            metric: metric_of(codec.format()),
            claims: hoffman_hbf::Claims::new(sides.map(|s| s.wins), sides.map(|s| s.holds)),
            longest_wins: [None; 2],
            longest_losses: [None; 2],
        };
        let control = Some(control.text());
        let texts = Texts { info: None, control, pawns: list.as_deref() };
        let table = EntryTable { info, texts, log: TILE };
        let writer = EntryWriter::new(&table, crew(stop), out)?;
        Ok(BlockWriter { writer, codec, bits: Vec::new() })
    }

    /// Needs little memory from now on.
    pub(crate) fn bound(&mut self) {
        self.writer.set_batch(1);
    }

    /// Takes the next entries.
    pub(crate) fn push<T: Number>(&mut self, numbers: &[T]) -> Result<(), WriteProblem> {
        self.bits.clear();
        self.bits.reserve(numbers.len());
        for (at, &number) in numbers.iter().enumerate() {
            self.bits.push(self.codec.bits_of(number.to_entry(), at)?);
        }
        Ok(self.writer.push(&self.bits)?)
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<(), WriteProblem> {
        self.writer.finish()?;
        Ok(())
    }
}

/// What the values of a table prove.
fn claims_of(
    control: &ControlFile,
    structures: Option<&PawnStructures>,
) -> Result<Claims, WriteProblem> {
    let list = structures.map(|structures| structures.list.clone());
    let shape = shape_of(control, list);
    let (shape, _) = shape.map_err(|problem| WriteProblem::Table(Box::new(problem)))?;
    Ok(shape.claims(control))
}

const fn metric_of(format: Format) -> Metric {
    match format {
        Format::Dtm(_) => Metric::Mate,
        Format::Dtc(_) => Metric::Conversion,
        Format::Basic => Metric::Outcome,
        Format::Flag(FlagType::WhiteWins) => Metric::WhiteWins,
        Format::Flag(FlagType::WhiteDraws) => Metric::WhiteDraws,
    }
}

/// Compares what is on the disk with its checksums, before it gets its name.
pub(crate) fn check(storage: &dyn Storage, file: &AtomicFile) -> Result<(), WriteProblem> {
    let read = |source| WriteProblem::Io(source);
    let written = storage.open(file.temporary_path()).map_err(read)?;
    let written = HbfFile::open(Box::new(BlockFile(written)));
    written.and_then(|file| file.check()).map_err(WriteProblem::Unreadable)
}

/// Whether the values of a table can be written as cells: all distances to mate of a complete
/// ending of normal chess, or who wins.
pub fn has_cells(control: &ControlFile, space: &IndexSpace, format: Format) -> bool {
    let pieces = space.pieces();
    let men = pieces.iter().map(|piece| man(piece.color, piece.role));
    let kings = |color| {
        pieces.iter().filter(move |p| p.color == color && p.role == hoffman_board::Role::King)
    };
    control.variant == Variant::Normal
        && matches!(format, Format::Dtm(_) | Format::Basic)
        && control.prunes.is_empty()
        && control.prune_enables.is_empty()
        && control.pawngen.is_none()
        && Claims::of_header(control).is_exact()
        && !pieces.iter().any(ListedPiece::is_restricted)
        && Color::ALL.into_iter().all(|color| kings(color).count() == 1)
        && (1..=hoffman_hbf::MAX_MEN).contains(&(men.count() - 2))
}

/// The file of a complete ending, written by its cells.
#[derive(Debug)]
pub struct CellFile<'a> {
    /// Where files are.
    pub storage: Arc<dyn Storage>,
    /// The file, which gets its name when it is complete and on the disk.
    pub path: &'a Path,
    /// The header of the `.htb`.
    pub header: &'a str,
    /// The values of the ending.
    pub values: &'a TableValues,
    /// Those of the endings behind its captures and promotions, if the file [leans](Profile::leans)
    /// on them; else nobody asks for them.
    pub behind: Vec<&'a TableValues>,
    /// What is stored.
    pub streams: CellStreams,
    /// Asked while cells are encoded.
    pub stop: Stop,
}

impl CellFile<'_> {
    /// Writes the file. `fits` is asked whether the table is what it should be, before it gets its
    /// name; if it says no, nothing is left.
    ///
    /// # Errors
    /// The file cannot be written, a value is missing, or the caller asked to stop.
    pub fn write<E: From<WriteError>>(
        &self,
        fits: impl FnOnce(&Table) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let fail = |problem: WriteProblem| WriteError { path: self.path.to_owned(), problem };
        let file = AtomicFile::create_in(Arc::clone(&self.storage), self.path);
        let file = file.map_err(|problem| fail(problem.into()))?;
        self.encode(&file).map_err(fail)?;
        check(&*self.storage, &file).map_err(fail)?;
        let options = SourceOptions {
            storage: Arc::clone(&self.storage),
            stop: self.stop.clone(),
            ..SourceOptions::default()
        };
        let table = Table::open(file.temporary_path(), options);
        let table = table.map_err(|error| fail(WriteProblem::Table(Box::new(error.problem))))?;
        if !fits(&table)? {
            return Ok(false);
        }
        drop(table);
        file.commit().map_err(|problem| fail(problem.into()))?;
        Ok(true)
    }

    fn encode(&self, file: &AtomicFile) -> Result<(), WriteProblem> {
        if self.streams.profile.leans() {
            let source = WithBehind::new(self.values, self.behind.iter().copied());
            return self.encode_from(&source, source.material(), file);
        }
        let source = Values::new(self.values);
        self.encode_from(&source, source.material(), file)
    }

    fn encode_from(
        &self,
        source: &dyn Source,
        material: Option<Material>,
        file: &AtomicFile,
    ) -> Result<(), WriteProblem> {
        let material =
            material.ok_or(EncodeError::Entries("the men of the table are no ending"))?;
        let CellStreams { profile, content } = self.streams;
        let sides = profile.sides();
        let (rows, tests, _) = self.streams.shape();
        let (distances, outcomes) = match content {
            Content::Distances => (sides, Sides::Neither),
            Content::Both => (sides, sides),
            Content::Outcomes => (Sides::Neither, sides),
        };
        let positions = self.values.layout.len() * self.values.slices.len();
        let options = EncodeOptions {
            distances,
            outcomes,
            exits: profile.leans(),
            rows: if material.men().len() > 1 { rows } else { 1 },
            tests,
            training: self.streams.training(positions as u64),
        };
        let texts = Texts { info: None, control: Some(self.header), pawns: None };
        write_ending(&material, source, &options, (texts, crew(&self.stop)), file.writer())?;
        Ok(())
    }
}
