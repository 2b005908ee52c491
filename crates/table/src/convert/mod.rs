//! A table rewritten with another index type, symmetry or entry format.
//!
//! The new file is made in the order of its own indices: each index is decoded, and the entry of that
//! position is looked up in the old table. What the header says about indices and entries is counted
//! anew; who made the table, its prunes and its futurebases stay as they are, since the values do.

mod by_rows;
mod moves;

use std::path::{Path, PathBuf};

use hoffman_board::shakmaty::{Board, attacks};
use hoffman_board::value::FlagType;
use hoffman_board::{
    Color, Format, ListedPiece, PieceList, Placement, Role, Symmetry, Value, Variant,
};
use hoffman_control::{
    Claims, ControlError, ControlFile, HeaderEdits, IndexDeclaration, IndexType, PawnMasks,
    PawngenEdits, render_header, resolve_pieces_with,
};
use hoffman_store::disk;
use rayon::prelude::*;

use crate::entries::{
    EntryCodec, EntryError, EntryValue, MAX_BITS, MAX_WRITTEN_BITS, Number, RawEntry, width,
};
use crate::htb::{Compression, HtbError};
use crate::index::{IndexError, IndexParams, IndexSpace};
use crate::reader::{Table, TableError, TableProblem};
use crate::rows::Distances;
use crate::stop::Stop;
use crate::writer::{TableFile, TableWriter, WriteError};

use by_rows::by_rows;

/// Indices worked on at once: a multiple of eight.
const CHUNK: u64 = 1 << 20;
/// Indices that a thread takes at a time.
const BLOCK: usize = 1 << 12;

/// What a table is to become. What is left out stays as it is.
pub struct ConvertOptions<'a> {
    /// The index type.
    pub index: Option<IndexType>,
    /// The symmetry: 1, 2, 4 or 8. Left out: that of the table, or 4 if the index type has no 8.
    pub symmetry: Option<u8>,
    /// The entry format, and the width of distances if it is to be more than needed.
    pub format: Option<Format>,
    /// Whether restricted men may be given a symmetry above 1, if their squares have it. The original
    /// program does not read such tables.
    pub restricted_symmetry: bool,
    /// How many bytes of packed entries of the old table may be held in memory. If there are more, blocks
    /// of the file are inflated as they are needed, which takes much longer.
    pub memory: u64,
    /// How small the file is to be.
    pub compression: Compression,
    /// Told how many indices are done, of how many; each index counts twice.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl Default for ConvertOptions<'_> {
    /// Nothing changes; 4 GiB of memory.
    fn default() -> Self {
        ConvertOptions {
            index: None,
            symmetry: None,
            format: None,
            restricted_symmetry: false,
            memory: 4 << 30,
            compression: Compression::default(),
            progress: None,
        }
    }
}

/// A table that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Its index type.
    pub index_type: IndexType,
    /// Its symmetry.
    pub symmetry: u8,
    /// Its format, with the width of distances.
    pub format: Format,
    /// How many indices it has.
    pub indices: u64,
    /// How many positions: indices that decode, check or no check.
    pub positions: u64,
    /// How many bytes its file has.
    pub bytes: u64,
    /// What its users should know.
    pub notices: Vec<String>,
}

/// Why a table cannot be converted. Messages begin with the old table's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The old table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The new format says more than the old one.
    #[error("{path}: {reason}", path = .path.display())]
    Format {
        /// The old table.
        path: PathBuf,
        /// What cannot be had from what.
        reason: &'static str,
    },
    /// The new index cannot hold the table.
    #[error("{path}: {source}", path = .path.display())]
    Index {
        /// The old table.
        path: PathBuf,
        /// Why.
        source: IndexError,
    },
    /// Restricted men with a symmetry above 1 that nobody asked for.
    #[error(
        "{path}: the pieces are restricted, and with symmetry {symmetry} the original program could not \
         read the table; use symmetry 1, or ask for a symmetry of restricted pieces",
        path = .path.display()
    )]
    RestrictedSymmetry {
        /// The old table.
        path: PathBuf,
        /// The symmetry.
        symmetry: u8,
    },
    /// A position of the new table that the old one lacks.
    #[error("{path}: the position {fen} is not in this table, but would be in the new one", path = .path.display())]
    Missing {
        /// The old table.
        path: PathBuf,
        /// The position.
        fen: String,
    },
    /// Positions with one index in the new table and different values.
    #[error(
        "{path}: {first} and {second} have different values, but would share an entry of the new table; \
         use a smaller symmetry",
        path = .path.display()
    )]
    Differ {
        /// The old table.
        path: PathBuf,
        /// A position.
        first: String,
        /// Its image.
        second: String,
    },
    /// An entry that is no value.
    #[error("{path}: the entry of {fen} is not the value of a legal position", path = .path.display())]
    Entry {
        /// The old table.
        path: PathBuf,
        /// The position.
        fen: String,
    },
    /// The width asked for.
    #[error("{path}: {source}", path = .path.display())]
    Width {
        /// The old table.
        path: PathBuf,
        /// Why it cannot be.
        source: EntryError,
    },
    /// The header.
    #[error(transparent)]
    Header(#[from] ControlError),
    /// The new table cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes a table anew to `target`, which gets its name when it is complete.
///
/// # Errors
/// The new index or format cannot hold what the table says, the table is damaged or lacks positions,
/// the file cannot be written.
pub fn convert(
    table: &Table,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<Converted, ConvertError> {
    let path = || table.path().to_owned();
    let wanted = options.format.unwrap_or_else(|| table.codec().format());
    check_formats(table.codec().format(), wanted)
        .map_err(|reason| ConvertError::Format { path: path(), reason })?;
    let space = index_space(table, wanted, options)?;
    let job = Job { table, target, options, space, wanted };
    let (codec, tally) = match by_rows(table, &job.space, wanted, options.memory)? {
        Some((numbers, tally)) => job.write_rows(&numbers, tally)?,
        None => job.write_entries()?,
    };
    Ok(Converted {
        index_type: job.space.index_type(),
        symmetry: job.space.symmetry(),
        format: codec.format(),
        indices: job.space.size(),
        positions: tally.positions,
        bytes: disk().info(target).map_or(0, |file| file.len),
        notices: notices(&job.space),
    })
}

/// A table to be written anew.
struct Job<'a> {
    table: &'a Table,
    target: &'a Path,
    options: &'a ConvertOptions<'a>,
    /// That of the new table.
    space: IndexSpace,
    wanted: Format,
}

impl Job<'_> {
    /// Reading the old entries is half of the work, writing the new ones the other half.
    fn progress(&self, done: u64) {
        if let Some(report) = self.options.progress {
            report(done, self.space.size().saturating_mul(2));
        }
    }

    fn width(&self, source: EntryError) -> ConvertError {
        ConvertError::Width { path: self.table.path().to_owned(), source }
    }

    fn codec(&self, tally: &Tally) -> Result<EntryCodec, ConvertError> {
        let asked = self.options.format.is_some();
        final_codec(self.table, self.wanted, asked, tally).map_err(|source| self.width(source))
    }

    /// From numbers that are all in memory.
    fn write_rows(
        &self,
        numbers: &Distances,
        tally: Tally,
    ) -> Result<(EntryCodec, Tally), ConvertError> {
        let codec = self.codec(&tally)?;
        self.progress(self.space.size());
        let recount = Recount::new(self.table, &self.space);
        self.write(codec, recount, &tally, &|writer, progress| match numbers {
            Distances::Narrow(numbers) => push_all(writer, numbers, progress),
            Distances::Wide(numbers) => push_all(writer, numbers, progress),
        })?;
        Ok((codec, tally))
    }

    /// Entry by entry: once to count, and once more to write.
    fn write_entries(&self) -> Result<(EntryCodec, Tally), ConvertError> {
        let (table, space) = (self.table, &self.space);
        let source = OldEntries::of(table, self.options.memory)?;
        let recount = Recount::new(table, space);
        let codec = widest_codec(self.wanted, table.variant()).map_err(|e| self.width(e))?;
        let images = images(table.space(), space);
        let work = Work { table, source: &source, space, codec, recount, images };
        let chunks = || {
            let firsts = (0..space.size()).step_by(CHUNK as usize);
            firsts.map(|first| first..(first + CHUNK).min(space.size()))
        };

        let mut tally = Tally::default();
        for chunk in chunks() {
            tally = tally.with(&work.count(chunk.clone())?);
            self.progress(chunk.end);
        }
        let codec = self.codec(&tally)?;
        self.write(codec, recount, &tally, &|writer, progress| {
            for chunk in chunks() {
                writer.push(&work.numbers(chunk.clone())?)?;
                progress(chunk.end);
            }
            Ok(())
        })?;
        Ok((codec, tally))
    }

    fn write(
        &self,
        codec: EntryCodec,
        recount: Recount,
        tally: &Tally,
        fill: &Fill<'_>,
    ) -> Result<(), ConvertError> {
        let header = header(self.table, &self.space, codec, recount, tally)?;
        let file = TableFile {
            storage: disk(),
            path: self.target,
            header: &header,
            structures: self.table.pawn_structures(),
            codec,
            entries: self.space.size(),
            compression: self.options.compression,
            memory: Some(self.options.memory),
            stop: Stop::default(),
        };
        let size = self.space.size();
        file.write(|writer| fill(writer, &|done| self.progress(size + done)))
    }
}

/// Hands all numbers of a table to a writer, and tells how many it has handed over.
type Fill<'f> = dyn Fn(&mut TableWriter<'_>, &dyn Fn(u64)) -> Result<(), ConvertError> + 'f;

fn push_all<N: Number>(
    writer: &mut TableWriter<'_>,
    numbers: &[N],
    progress: &dyn Fn(u64),
) -> Result<(), ConvertError> {
    let mut done = 0;
    for numbers in numbers.chunks(CHUNK as usize) {
        writer.push(numbers)?;
        done += numbers.len() as u64;
        progress(done);
    }
    Ok(())
}

/// Whether every entry of one format determines that of another.
fn check_formats(from: Format, to: Format) -> Result<(), &'static str> {
    match (from, to) {
        (Format::Dtm(_), Format::Dtm(_))
        | (Format::Dtc(_), Format::Dtc(_))
        | (Format::Dtm(_) | Format::Dtc(_) | Format::Basic, Format::Basic | Format::Flag(_)) => {
            Ok(())
        }
        (Format::Dtm(_), Format::Dtc(_)) => {
            Err("the table holds distances to mate, from which those to conversion do not follow")
        }
        (Format::Dtc(_), Format::Dtm(_)) => {
            Err("the table holds distances to conversion, from which those to mate do not follow")
        }
        (Format::Basic, _) => Err("the table is in basic format and holds no distances"),
        (Format::Flag(old), Format::Flag(new)) if old == new => Ok(()),
        (Format::Flag(FlagType::WhiteWins), _) => {
            Err("the table only says whether White wins, which is less than the new format holds")
        }
        (Format::Flag(FlagType::WhiteDraws), _) => Err(
            "the table only says whether White wins or draws, which is less than the new format holds",
        ),
    }
}

fn is_restricted(pieces: &PieceList) -> bool {
    pieces.iter().any(ListedPiece::is_restricted)
}

/// The index of the new table.
fn index_space(
    table: &Table,
    format: Format,
    options: &ConvertOptions<'_>,
) -> Result<IndexSpace, ConvertError> {
    let old = table.space();
    let index_type = options.index.unwrap_or(old.index_type());
    let usual = if index_type.is_naive() { old.symmetry().min(4) } else { old.symmetry() };
    let symmetry = options.symmetry.unwrap_or(usual);
    // Frozen men and groups are found in the order in which the index type numbers the men.
    let mut control = table.control().clone();
    control.index = Some(IndexDeclaration {
        index_type,
        written: index_type.name().to_owned(),
        symmetry: Some(symmetry),
        on_root: false,
        place: control.root,
    });
    let pieces = resolve_pieces_with(&control, masks(&control))?;
    let restricted = is_restricted(&pieces);
    let new = IndexSpace::new(IndexParams {
        index_type,
        symmetry,
        variant: table.variant(),
        format_is_flag: matches!(format, Format::Flag(_)),
        pieces,
        pawn_structures: table.pawn_structures().cloned(),
    });
    let new = new.and_then(|space| space.check_writable().map(|()| space));
    let new =
        new.map_err(|source| ConvertError::Index { path: table.path().to_owned(), source })?;
    if restricted && symmetry > 1 && !options.restricted_symmetry {
        return Err(ConvertError::RestrictedSymmetry { path: table.path().to_owned(), symmetry });
    }
    Ok(new)
}

/// The squares of the pawns of a pawngen element, from the header.
fn masks(control: &ControlFile) -> Option<PawnMasks> {
    let pawngen = control.pawngen.as_ref()?;
    Some(PawnMasks { white: pawngen.white.legal?, black: pawngen.black.legal? })
}

/// The symmetries under which a position of the new table has images in the old one that are not the same
/// index there, and whether colours are exchanged on the way. The first changes nothing.
fn images(old: &IndexSpace, new: &IndexSpace) -> Vec<(Symmetry, bool)> {
    let count = if new.symmetry() > old.symmetry() { new.symmetry() } else { 1 };
    let turns: &[bool] =
        if old.has_side_bit() && !new.has_side_bit() { &[false, true] } else { &[false] };
    let symmetries = || Symmetry::all().take(usize::from(count));
    turns.iter().flat_map(|&turn| symmetries().map(move |symmetry| (symmetry, turn))).collect()
}

/// A codec of the format for numbers of any width: which they need is known when all are.
fn widest_codec(format: Format, variant: Variant) -> Result<EntryCodec, EntryError> {
    match format {
        Format::Dtm(_) => EntryCodec::new(Format::Dtm(None), MAX_BITS, variant),
        Format::Dtc(_) => EntryCodec::new(Format::Dtc(None), MAX_BITS, variant),
        Format::Basic => EntryCodec::new(format, 2, variant),
        Format::Flag(_) => EntryCodec::new(format, 1, variant),
    }
}

/// The codec with the width that the values need: for distances at least what the old table had, or what
/// was asked for.
fn final_codec(
    table: &Table,
    wanted: Format,
    asked: bool,
    tally: &Tally,
) -> Result<EntryCodec, EntryError> {
    let bits = |requested: Option<u8>| {
        let needed = width(None, tally.max, tally.min)?;
        match requested {
            Some(bits) if asked => width(Some(bits), tally.max, tally.min),
            Some(bits) => Ok(bits.clamp(needed, MAX_WRITTEN_BITS.max(needed))),
            None => Ok(needed),
        }
    };
    let (format, bits) = match wanted {
        Format::Dtm(requested) => {
            let bits = bits(requested)?;
            (Format::Dtm(Some(bits)), bits)
        }
        Format::Dtc(requested) => {
            let bits = bits(requested)?;
            (Format::Dtc(Some(bits)), bits)
        }
        Format::Basic => (Format::Basic, 2),
        Format::Flag(_) => (wanted, 1),
    };
    EntryCodec::new(format, bits, table.variant())
}

/// The entries of the old table.
enum OldEntries<'a> {
    /// As they are packed.
    Packed(Vec<u8>, EntryCodec),
    /// In the file.
    File(&'a Table),
}

impl<'a> OldEntries<'a> {
    fn of(table: &'a Table, memory: u64) -> Result<OldEntries<'a>, TableError> {
        let codec = table.codec();
        if codec.area_bytes(table.space().size()) <= memory {
            let mut area = Vec::new();
            table.read_packed(&mut area)?;
            Ok(OldEntries::Packed(area, codec))
        } else {
            Ok(OldEntries::File(table))
        }
    }

    fn get(&self, table: &Table, index: u64) -> Result<RawEntry, TableError> {
        match self {
            OldEntries::Packed(area, codec) => codec.get(area, index).ok_or_else(|| {
                let end = codec.area_bytes(index.saturating_add(1));
                let short = HtbError::PastEnd { end, len: area.len() as u64 };
                let problem = TableProblem::Container(short);
                TableError { path: table.path().to_owned(), problem }
            }),
            OldEntries::File(table) => table.entry(index),
        }
    }
}

/// How the counts of moves and stalemates of the new table follow from those of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recount {
    /// The same positions: the numbers stay. Or each position with its colours exchanged as well, or of
    /// these two only one: numbers times `.0`, divided by `.1`.
    Scale(i64, i64),
    /// Other positions, whose moves are counted.
    Moves,
    /// Other positions, but what moves count depends on prunes, or the rules are those of suicide chess.
    Unknown,
}

impl Recount {
    fn new(table: &Table, new: &IndexSpace) -> Recount {
        let old = table.space();
        if old.symmetry() == new.symmetry() {
            return match (old.has_side_bit(), new.has_side_bit()) {
                (false, true) => Recount::Scale(2, 1),
                (true, false) => Recount::Scale(1, 2),
                _ => Recount::Scale(1, 1),
            };
        }
        let control = table.control();
        let is_plain = control.prunes.is_empty() && control.prune_enables.is_empty();
        if is_plain && table.variant() == Variant::Normal {
            Recount::Moves
        } else {
            Recount::Unknown
        }
    }
}

/// What is counted over the indices of the new table.
#[derive(Clone, Debug, Default)]
struct Tally {
    positions: u64,
    /// Positions with the player not to move in check; in suicide chess those won for want of a move.
    mated: u64,
    white_wins: u64,
    black_wins: u64,
    max: i32,
    min: i32,
    stalemates: u64,
    moves: u64,
    futuremoves: u64,
}

impl Tally {
    fn win(&mut self, winner: Option<Color>) {
        match winner {
            Some(Color::White) => self.white_wins += 1,
            Some(Color::Black) => self.black_wins += 1,
            None => {}
        }
    }

    fn add_moves(&mut self, moves: moves::Moves) {
        self.moves += moves.legal;
        self.futuremoves += moves.leaving;
        self.stalemates += u64::from(moves.legal == 0 && !moves.in_check);
    }

    fn with(self, other: &Tally) -> Tally {
        Tally {
            positions: self.positions + other.positions,
            mated: self.mated + other.mated,
            white_wins: self.white_wins + other.white_wins,
            black_wins: self.black_wins + other.black_wins,
            max: self.max.max(other.max),
            min: self.min.min(other.min),
            stalemates: self.stalemates + other.stalemates,
            moves: self.moves + other.moves,
            futuremoves: self.futuremoves + other.futuremoves,
        }
    }
}

/// The old table and the new index.
struct Work<'a> {
    table: &'a Table,
    source: &'a OldEntries<'a>,
    space: &'a IndexSpace,
    codec: EntryCodec,
    recount: Recount,
    images: Vec<(Symmetry, bool)>,
}

impl Work<'_> {
    /// The numbers of the new table at some indices.
    fn numbers(&self, range: std::ops::Range<u64>) -> Result<Vec<i32>, ConvertError> {
        let mut numbers = vec![0_i32; (range.end - range.start) as usize];
        numbers.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, numbers)| {
            let first = range.start + (block * BLOCK) as u64;
            for (number, index) in numbers.iter_mut().zip(first..) {
                *number = match self.space.decode(index) {
                    Some(placement) => {
                        let in_check = self.is_in_check(&placement);
                        self.number(&placement, in_check)?.0
                    }
                    None => self.codec.undecodable().0,
                };
            }
            Ok::<_, ConvertError>(())
        })?;
        Ok(numbers)
    }

    /// Counts over some indices.
    fn count(&self, range: std::ops::Range<u64>) -> Result<Tally, ConvertError> {
        let starts: Vec<u64> = range.clone().step_by(BLOCK).collect();
        starts
            .into_par_iter()
            .map(|first| {
                let mut tally = Tally::default();
                for index in first..(first + BLOCK as u64).min(range.end) {
                    if let Some(placement) = self.space.decode(index) {
                        self.add(&placement, &mut tally)?;
                    }
                }
                Ok(tally)
            })
            .try_reduce(Tally::default, |a, b| Ok(a.with(&b)))
    }

    /// Adds a position of the new table, and checks that the old one gives its images the same value.
    fn add(&self, placement: &Placement, tally: &mut Tally) -> Result<(), ConvertError> {
        tally.positions += 1;
        let in_check = self.is_in_check(placement);
        let number = self.number(placement, in_check)?;
        if in_check {
            tally.mated += 1;
            return Ok(());
        }
        self.check_images(placement, number)?;
        let turn = placement.turn;
        match self.codec.value(number, turn) {
            Some(EntryValue::Exact(Value::Win(0))) => tally.mated += 1,
            Some(EntryValue::Win) if self.codec.format() == Format::Basic && number.0 == 3 => {
                tally.mated += 1;
            }
            Some(EntryValue::Exact(value @ (Value::Win(_) | Value::Loss(_)))) => {
                tally.max = tally.max.max(value.to_stored());
                tally.min = tally.min.min(value.to_stored());
                tally.win(value.winner(turn));
            }
            Some(EntryValue::Win) => tally.win(Some(turn)),
            Some(EntryValue::Loss) => tally.win(Some(turn.other())),
            _ => {}
        }
        if self.recount == Recount::Moves {
            tally.add_moves(moves::count(self.space, placement));
        }
        Ok(())
    }

    /// The number of the new table for a position.
    fn number(&self, placement: &Placement, in_check: bool) -> Result<RawEntry, ConvertError> {
        let turn = placement.turn;
        if in_check {
            return Ok(self.codec.store(Value::Illegal, turn));
        }
        let old = self.table.space();
        let index = old.encode(placement).filter(|&index| {
            // Where old index types lose positions, an index can be one that has none.
            old.check_writable().is_ok() || old.decode(index).is_some()
        });
        let index = index.ok_or_else(|| ConvertError::Missing {
            path: self.table.path().to_owned(),
            fen: self.fen(placement),
        })?;
        let raw = self.source.get(self.table, index)?;
        self.translate(raw, turn).ok_or_else(|| ConvertError::Entry {
            path: self.table.path().to_owned(),
            fen: self.fen(placement),
        })
    }

    /// The number of the new format that says what one of the old format says, of a position with the
    /// player not to move not in check. None if that is not the value of any.
    fn translate(&self, raw: RawEntry, turn: Color) -> Option<RawEntry> {
        let old = self.table.codec();
        if old.format() == self.codec.format() && !old.format().has_distance() {
            let means = old.value(raw, turn)?;
            return (means != EntryValue::Illegal).then_some(raw);
        }
        let value = match old.value(raw, turn)? {
            EntryValue::Exact(Value::Illegal) => return None,
            EntryValue::Exact(value) => value,
            // How far the end is does not matter to a format without distances.
            EntryValue::Win => Value::Win(1),
            EntryValue::Draw => Value::Draw,
            EntryValue::Loss => Value::Loss(1),
            EntryValue::Illegal
            | EntryValue::WinOrDraw
            | EntryValue::DrawOrLoss
            | EntryValue::Unknown => return None,
        };
        Some(self.codec.store(value, turn))
    }

    fn check_images(&self, placement: &Placement, number: RawEntry) -> Result<(), ConvertError> {
        for &(symmetry, turn) in self.images.iter().skip(1) {
            let turned = if turn { self.space.turned(placement) } else { Some(placement.clone()) };
            let image = turned.and_then(|p| self.space.image(&p, symmetry));
            let Some(image) = image else { continue };
            if self.number(&image, false)? != number {
                return Err(ConvertError::Differ {
                    path: self.table.path().to_owned(),
                    first: self.fen(placement),
                    second: self.fen(&image),
                });
            }
        }
        Ok(())
    }

    /// Whether the player not to move is in check.
    fn is_in_check(&self, placement: &Placement) -> bool {
        if self.table.variant() == Variant::Suicide {
            return false;
        }
        let men = || self.space.pieces().iter().zip(&placement.squares);
        let victim = |(p, _): &(&ListedPiece, _)| p.role == Role::King && p.color != placement.turn;
        let Some((_, &king)) = men().find(victim) else { return false };
        let occupied = placement.occupied();
        men().filter(|(p, _)| p.color == placement.turn).any(|(p, &square)| {
            attacks::attacks(square, p.role.of(p.color), occupied).contains(king)
        })
    }

    /// The position as FEN, for messages.
    fn fen(&self, placement: &Placement) -> String {
        let mut board = Board::empty();
        for (piece, &square) in self.space.pieces().iter().zip(&placement.squares) {
            board.set_piece_at(square, piece.role.of(piece.color));
        }
        let turn = placement.turn.char();
        let en_passant = placement.en_passant.map_or("-".to_owned(), |s| s.to_string());
        format!("{} {turn} - {en_passant}", board.board_fen())
    }
}

/// The header of the new table and the zero bytes behind it.
fn header(
    table: &Table,
    space: &IndexSpace,
    codec: EntryCodec,
    recount: Recount,
    tally: &Tally,
) -> Result<Vec<u8>, ConvertError> {
    let control = table.control();
    let pawngen = table.pawn_structures().zip(masks(control)).map(|(structures, masks)| {
        PawngenEdits { masks, structures: structures.list.len() as u64 }
    });
    // The end mark of a processing instruction cannot stand inside one.
    let name = table.path().file_name().unwrap_or_default().to_string_lossy().replace("?>", "? >");
    let origin = format!("converted from {name}");
    let edits = HeaderEdits {
        index: Some(space.index_type()),
        symmetry: space.symmetry(),
        format: Some(codec.format()),
        tablebase_statistics: statistics(table, space, codec.format(), recount, tally),
        keep_generation: true,
        pawngen,
        instruction: Some(instruction(table, &origin)),
        ..HeaderEdits::default()
    };
    Ok(render_header(control, &edits)?.bytes)
}

/// The processing instruction: what the values prove, which the new header may not tell, what stood there
/// before, and where they come from.
fn instruction(table: &Table, origin: &str) -> String {
    let control = table.control();
    let claims = table.claims();
    let unsaid = !claims.is_exact() && Claims::recorded(control).is_none();
    let claims = unsaid.then(|| claims.instruction());
    let parts = claims.into_iter().chain(control.instruction.clone());
    parts.chain([origin.to_owned()]).collect::<Vec<_>>().join("; ")
}

/// The statistics elements in the original's order.
fn statistics(
    table: &Table,
    space: &IndexSpace,
    format: Format,
    recount: Recount,
    tally: &Tally,
) -> Vec<(String, i64)> {
    let carried = |name: &str| {
        let Recount::Scale(times, divided) = recount else { return None };
        table.control().statistics.get(name).map(|n| n.saturating_mul(times) / divided)
    };
    let counted = |name: &str, n: u64| match recount {
        Recount::Moves => Some(n as i64),
        _ => carried(name),
    };
    let old = table.codec().format();
    let (mated, legal) = ("PNTM-mated-positions", "legal-positions");
    // Only distances tell a suicide game that has ended from one that is won.
    let (mated_count, legal_count) = if table.variant() == Variant::Suicide && !old.has_distance() {
        (carried(mated), carried(legal))
    } else {
        (Some(tally.mated as i64), Some((tally.positions - tally.mated) as i64))
    };
    let tells = |flag| match format {
        Format::Flag(own) => own == flag,
        _ => true,
    };
    let white = tells(FlagType::WhiteWins).then_some(tally.white_wins as i64);
    let black = (!matches!(format, Format::Flag(_))).then_some(tally.black_wins as i64);
    let distance = |n: i32| matches!(format, Format::Dtm(_)).then_some(i64::from(n));
    [
        ("indices", Some(space.size() as i64)),
        (mated, mated_count),
        (legal, legal_count),
        ("stalemate-positions", counted("stalemate-positions", tally.stalemates)),
        ("white-wins-positions", white),
        ("black-wins-positions", black),
        ("forward-moves", counted("forward-moves", tally.moves)),
        ("futuremoves", counted("futuremoves", tally.futuremoves)),
        ("max-dtm", distance(tally.max)),
        ("min-dtm", distance(tally.min)),
    ]
    .into_iter()
    .filter_map(|(name, n)| Some((name.to_owned(), n?)))
    .collect()
}

fn notices(space: &IndexSpace) -> Vec<String> {
    let mut notices = Vec::new();
    if is_restricted(space.pieces()) && space.symmetry() > 1 {
        notices.push(format!(
            "the pieces are restricted and the symmetry is {}: the original program cannot read this table",
            space.symmetry()
        ));
    }
    notices
}

#[cfg(test)]
mod tests;
