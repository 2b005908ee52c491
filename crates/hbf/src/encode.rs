//! Whole files of cells, written.

use std::io::{self, Cursor, Seek, Write};

use crate::board::{Color, Man, Position};
use crate::code::{Code, DRAW};
use crate::container::{CTRL, DIRY, INFO, MODL, PAWN, STRM, TABL, TILES, pack_block};
use crate::fill::Filler;
use crate::header::{Claims, Metric, Mode, StreamHeader, StreamKind, TableInfo};
use crate::material::Material;
use crate::model::Model;
use crate::output::OutputFile;
use crate::plan::{Plan, plan_streams};
use crate::sample::Sampler;
use crate::symbols::TileValues;
use crate::tile::{self, Stream, TilePart};
use crate::train::Trained;
use crate::workers::{Crew, Stopped, in_order};

/// Values of positions of chess: those of the ending that is written and of all behind its exits.
pub trait Source: Sync {
    /// The code of a position without rights to take en passant; none if it is not known.
    fn code(&self, position: &Position) -> Option<Code>;

    /// The codes of positions that differ in the square of one man, which is not on the board, for
    /// each of the squares. Returns those whose code is not known.
    fn row(&self, position: &Position, man: Man, squares: u64, codes: &mut [Code; 64]) -> u64 {
        let mut unknown = 0;
        for square in crate::board::squares(squares) {
            match self.code(&position.with(square, man)) {
                Some(code) => codes[usize::from(square)] = code,
                None => unknown |= 1 << square,
            }
        }
        unknown
    }
}

/// Which sides to move are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// None.
    Neither,
    /// The one that takes less room.
    Smaller,
    /// Both.
    Both,
}

/// What models may ask of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelTests {
    /// Everything that is known of it.
    All,
    /// Values nearby and threats: tables become a sixth larger, and are written and read as a
    /// whole in a fraction of the time.
    Plain,
}

/// How a table of cells is written.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The distances.
    pub distances: Sides,
    /// The outcomes, apart from them.
    pub outcomes: Sides,
    /// Whether the table may lean on those behind its exits.
    pub exits: bool,
    /// Rows of a tile: a power of two up to 64. Fewer are read faster, more are smaller.
    pub rows: u8,
    /// What models may ask.
    pub tests: ModelTests,
    /// How many cells a model is made from, at most.
    pub training: usize,
}

impl Default for EncodeOptions {
    fn default() -> EncodeOptions {
        EncodeOptions {
            distances: Sides::Smaller,
            outcomes: Sides::Neither,
            exits: true,
            rows: 32,
            tests: ModelTests::All,
            training: 2_000_000,
        }
    }
}

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// An ending that cells are not made for.
    #[error("{0} has too few or too many men, or the rows of a tile are no power of two up to 64")]
    Ending(Material),
    /// A value that is not known.
    #[error("the value of {0} is not known")]
    Value(String),
    /// A tile that does not decode to what was encoded.
    #[error("tile {0} does not decode to its values")]
    Disagrees(u64),
    /// Entries that do not fit.
    #[error("{0}")]
    Entries(&'static str),
    /// Entries that cannot be read where they come from.
    #[error("{0}")]
    Read(String),
    /// The file cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

impl From<Stopped> for EncodeError {
    fn from(_: Stopped) -> EncodeError {
        EncodeError::Stopped
    }
}

/// What was written for a stream.
#[derive(Clone, Debug)]
pub struct StreamReport {
    /// The side to move.
    pub turn: Color,
    /// Whether these are outcomes.
    pub outcomes: bool,
    /// The men besides the kings, outer ones first.
    pub order: Vec<Man>,
    /// Legal cells.
    pub cells: u64,
    /// Of those, the ones that an exit settles.
    pub settled: u64,
    /// Bytes of the model, of the directory, and of the blocks.
    pub bytes: [u64; 3],
    /// Leaves of the two trees.
    pub leaves: [usize; 2],
}

/// What stands in a file beside its values: a JSON object for people, and of a `.htb` the header
/// and the pawn table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    /// A JSON object for people.
    pub info: Option<&'a str>,
    /// The header of the `.htb`.
    pub control: Option<&'a str>,
    /// Its pawn table, if it has one.
    pub pawns: Option<&'a [u8]>,
}

impl Texts<'_> {
    fn sections(&self) -> impl Iterator<Item = ([u8; 4], &[u8])> {
        let info = self.info.map(|text| (INFO, text.as_bytes()));
        let control = self.control.map(|text| (CTRL, text.as_bytes()));
        let pawns = self.pawns.map(|content| (PAWN, content));
        [info, control, pawns].into_iter().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        self.sections().count()
    }

    pub(crate) fn write<W: Write + Seek>(&self, output: &mut OutputFile<W>) -> io::Result<()> {
        self.sections().try_for_each(|(name, content)| output.section(name, 0, content))
    }
}

/// Sections that each stream has.
pub(crate) const STREAM_SECTIONS: usize = 4;

/// Writes the table of a complete ending into memory.
///
/// # Errors
/// As [`write_ending`].
pub fn encode_ending(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    texts: Texts<'_>,
    crew: Crew<'_>,
) -> Result<(Vec<u8>, Vec<StreamReport>), EncodeError> {
    let mut out = Cursor::new(Vec::new());
    let reports = write_ending(material, source, options, (texts, crew), &mut out)?;
    Ok((out.into_inner(), reports))
}

/// Writes the table of a complete ending. Each tile is decoded again and compared before it is
/// written.
///
/// # Errors
/// A value is not known, the ending has no cells, the output cannot be written, or the caller asked
/// to stop.
pub fn write_ending<W: Write + Seek>(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    (texts, crew): (Texts<'_>, Crew<'_>),
    out: W,
) -> Result<Vec<StreamReport>, EncodeError> {
    let sampler = Sampler { source, options, crew };
    let plans = plan_streams(material, sampler)?;
    let models = plans.iter().map(|plan| sampler.model(plan.stream()));
    let models = models.collect::<Result<Vec<_>, _>>()?;

    let sections = 1 + texts.count() + STREAM_SECTIONS * plans.len();
    let mut output = OutputFile::new(out, sections)?;
    texts.write(&mut output)?;

    let mut reports = Vec::new();
    let mut longest = [[None; 2]; 2];
    let all = plans.iter().map(|plan| plan.space.tiles()).sum();
    let mut done = 0;

    for (plan, trained) in plans.iter().zip(models) {
        let (turn, outcomes, tiles) = (plan.turn, plan.outcomes, plan.space.tiles());
        let tell = |tiles: u64| crew.watch.done(done + tiles, all);
        let encoder = StreamEncoder { source, options, crew, tell: &tell };
        let (report, of_stream) =
            encoder.stream((plan, &trained), reports.len() as u32, &mut output)?;
        if !outcomes {
            longest[0][turn as usize] = of_stream[0];
            longest[1][turn as usize] = of_stream[1];
        }
        reports.push(report);
        done += tiles;
    }

    let metric = if options.distances == Sides::Neither { Metric::Outcome } else { Metric::Mate };
    let table = TableInfo {
        mode: Mode::Complete(material.clone()),
        suicide: false,
        metric,
        claims: Claims::ALL,
        longest_wins: longest[0],
        longest_losses: longest[1],
    };
    output.section(TABL, 0, &table.to_bytes())?;
    output.finish()?;
    Ok(reports)
}

/// A block as it is written, and what was counted.
struct Encoded {
    block: Vec<u8>,
    tiles: u64,
    legal: u64,
    settled: u64,
    longest: [u16; 3],
}

/// Encodes streams.
struct StreamEncoder<'a> {
    source: &'a dyn Source,
    options: &'a EncodeOptions,
    crew: Crew<'a>,
    /// Told how many tiles of the stream are done.
    tell: &'a (dyn Fn(u64) + Sync),
}

impl StreamEncoder<'_> {
    /// Writes a stream; returns its longest win and loss, too.
    fn stream<W: Write + Seek>(
        &self,
        (plan, trained): (&Plan, &Trained),
        number: u32,
        output: &mut OutputFile<W>,
    ) -> Result<(StreamReport, [Option<u16>; 2]), EncodeError> {
        let stream @ Stream { space, turn, outcomes } = plan.stream();
        let (model_bytes, model) = trained.written(space)?;
        let tiles = space.tiles();
        model.prepare(tiles);

        let mut directory = BlockRows::default();
        let (mut done, mut cells, mut settled, mut longest) = (0, 0, 0, [0_u16; 3]);
        let make = |block| self.block(stream, &model, (block, tiles));
        in_order(self.crew, tiles.div_ceil(TILES), make, |encoded| {
            directory.add(&encoded.block);
            output.bytes(&encoded.block)?;
            cells += encoded.legal;
            settled += encoded.settled;
            for (most, other) in longest.iter_mut().zip(encoded.longest) {
                *most = other.max(*most);
            }
            done += encoded.tiles;
            (self.tell)(done);
            Ok(())
        })?;
        output.end_data(number);

        let (directory, data) = directory.finish();
        let report = StreamReport {
            turn,
            outcomes,
            order: space.men()[2..].to_vec(),
            cells,
            settled,
            bytes: [model_bytes.len() as u64, directory.len() as u64, data],
            leaves: trained.leaves,
        };

        let known = |moves: u16| (!outcomes && moves > 0).then(|| moves - 1);
        let longest = [known(longest[2]), known(longest[1])];
        let exits = self.options.exits;
        let kind = StreamKind::Cells { space: space.clone(), outcomes, turn, exits };
        let header = StreamHeader::new(kind, tiles, &plan.order);
        output.section(STRM, number, &header.to_bytes())?;
        output.section(MODL, number, &model_bytes)?;
        output.section(DIRY, number, &directory)?;
        Ok((report, longest))
    }

    /// Encodes the tiles of a block, decodes them again and compares.
    fn block(
        &self,
        stream: Stream<'_>,
        model: &Model,
        (block, tiles): (u64, u64),
    ) -> Result<Encoded, EncodeError> {
        let mut filler = Filler::new(self.source, self.options);
        let mut values = TileValues::new(stream.space.rows());
        let mut packed = Vec::new();
        let of_block = block * TILES..tiles.min((block + 1) * TILES);
        let count = of_block.end - of_block.start;
        let mut encoded =
            Encoded { block: Vec::new(), tiles: count, legal: 0, settled: 0, longest: [0; 3] };

        for tile in of_block {
            let (legal, settled) = filler.fill(stream, tile, &mut values)?;
            encoded.legal += legal;
            encoded.settled += settled;
            if legal == 0 {
                packed.push(Vec::new());
                continue;
            }
            let bytes = filler.desk.encode(stream, model, (tile, &values));
            tile::decode(stream, model, &bytes, (tile, TilePart::Again), &mut filler.desk.rows);
            if !values.agree(&filler.desk.rows) {
                return Err(EncodeError::Disagrees(tile));
            }
            let [_, mut loss, mut win] = encoded.longest;
            for &code in values.codes.as_flattened() {
                loss = loss.max(if code < DRAW { code } else { 0 });
                win = win.max(if code > DRAW { code.wrapping_neg() + 1 } else { 0 });
            }
            encoded.longest = [0, loss, win];
            packed.push(bytes);
        }

        encoded.block = pack_block(&packed);
        Ok(encoded)
    }
}

/// The section `DIRY` of blocks that are written one by one.
#[derive(Debug, Default)]
pub(crate) struct BlockRows {
    rows: Vec<u8>,
    length: u64,
}

impl BlockRows {
    pub(crate) fn add(&mut self, block: &[u8]) {
        self.rows.extend(self.length.to_le_bytes());
        self.rows.extend(crc32fast::hash(block).to_le_bytes());
        self.length += block.len() as u64;
    }

    /// The section, and the bytes of all blocks.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64) {
        self.rows.extend(self.length.to_le_bytes());
        self.rows.extend(0_u32.to_le_bytes());
        (self.rows, self.length)
    }
}
