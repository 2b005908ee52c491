//! Whole files, written.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::board::{Color, Kind, Man, Position};
use crate::cells::{Place, Space};
use crate::code::{Code, before, outcome};
use crate::container::{
    CTRL, DATA, DIRY, INFO, MODL, PAWN, STRM, Section, TABL, TILES, pack_block, to_bytes,
};
use crate::entries::{self, EntryModel};
use crate::fen::to_fen;
use crate::header::{Claims, Metric, Mode, StreamHeader, StreamKind, TableInfo};
use crate::material::Material;
use crate::model::Model;
use crate::moves::exits;
use crate::rows::{Rows, Tests};
use crate::tile::{self, Stream, TileValues};
use crate::train::{Trained, train};

/// Values of positions of chess: those of the ending that is written and of all behind its exits.
pub trait Source: Sync {
    /// The code of a position without rights to take en passant; none if it is not known.
    fn code(&self, position: &Position) -> Option<Code>;
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

/// How a table of cells is written.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The distances.
    pub distances: Sides,
    /// The outcomes, apart from them.
    pub outcomes: Sides,
    /// Whether the table may lean on those behind its exits.
    pub exits: bool,
    /// Rows of a tile: 8, 16, 32 or 64. Fewer are read faster, more are smaller.
    pub rows: u8,
    /// How many cells a model is made from.
    pub training: usize,
    /// How many threads work.
    pub threads: usize,
}

impl Default for EncodeOptions {
    fn default() -> EncodeOptions {
        EncodeOptions {
            distances: Sides::Smaller,
            outcomes: Sides::Neither,
            exits: true,
            rows: 32,
            training: 2_000_000,
            threads: 1,
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
    /// Bytes that the sample let expect.
    pub expected: u64,
}

/// A part of a file for a stream.
struct EncodedStream {
    header: StreamHeader,
    model: Vec<u8>,
    directory: Vec<u8>,
    data: Vec<u8>,
    report: StreamReport,
    longest: [Option<u16>; 2],
}

/// A stream with its model and what is to be done with it.
struct Plan {
    space: Space,
    order: Vec<u8>,
    turn: Color,
    outcomes: bool,
    trained: Trained,
    /// What the stream is expected to take.
    bits: f64,
}

/// Writes the table of a complete ending into memory. `info` is a JSON object for people, `control` the header of a
/// `.htb`.
///
/// # Errors
/// A value is not known, or the ending has no cells.
pub fn encode_ending(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    (info, control): (Option<&str>, Option<&str>),
) -> Result<(Vec<u8>, Vec<StreamReport>), EncodeError> {
    let mut sections = Vec::new();
    let mut reports = Vec::new();
    let mut longest = [[None; 2]; 2];
    for (outcomes, sides) in [(false, options.distances), (true, options.outcomes)] {
        let mut plans = Vec::new();
        let turns: &[Color] = match (sides, material.is_symmetric()) {
            (Sides::Neither, _) => &[],
            (_, true) => &[Color::White],
            (_, false) => &[Color::White, Color::Black],
        };
        for &turn in turns {
            plans.push(plan_stream(material, source, options, (turn, outcomes))?);
        }
        if sides == Sides::Smaller {
            plans.sort_by(|a, b| a.bits.total_cmp(&b.bits));
            plans.truncate(1);
        }
        for plan in plans {
            let turn = plan.turn;
            let stream = encode_stream(plan, source, options)?;
            if !outcomes {
                longest[0][turn as usize] = stream.longest[0];
                longest[1][turn as usize] = stream.longest[1];
            }
            let number = reports.len() as u32;
            let mut add = |name, content| sections.push(Section { name, stream: number, content });
            add(STRM, stream.header.to_bytes());
            add(MODL, stream.model);
            add(DIRY, stream.directory);
            add(DATA, stream.data);
            reports.push(stream.report);
        }
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
    Ok((to_bytes(&with_head(&table, (info, control, None), sections)), reports))
}

fn with_head(
    table: &TableInfo,
    (info, control, pawns): (Option<&str>, Option<&str>, Option<&[u8]>),
    streams: Vec<Section>,
) -> Vec<Section> {
    let mut sections = vec![Section { name: TABL, stream: 0, content: table.to_bytes() }];
    let info = info.map(|text| (INFO, text.as_bytes()));
    let control = control.map(|text| (CTRL, text.as_bytes()));
    let pawns = pawns.map(|content| (PAWN, content));
    for (name, content) in [info, control, pawns].into_iter().flatten() {
        sections.push(Section { name, stream: 0, content: content.to_vec() });
    }
    sections.extend(streams);
    sections
}

/// Cells that an order of men is judged by, and as many that its model is made from: a part of those of the model.
fn trial_cells(options: &EncodeOptions) -> usize {
    (options.training / 8).clamp(20_000, 250_000)
}

/// Chooses the order of men by trial, and makes the model.
fn plan_stream(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    (turn, outcomes): (Color, bool),
) -> Result<Plan, EncodeError> {
    let rows = if material.men().len() > 1 { options.rows } else { 1 };
    let ending = || EncodeError::Ending(material.clone());
    let mut work = Work::new(source, options.exits);
    let mut best: Option<(f64, Vec<u8>)> = None;
    let orders = orders(material, turn);
    let trial = trial_cells(options);
    for order in &orders {
        let space = Space::new(material, order, rows).ok_or_else(ending)?;
        let stream = Stream { space: &space, turn, outcomes };
        let cells = if orders.len() > 1 { (trial, trial) } else { (100, 100) };
        let (_, bits) = work.train_and_try(stream, cells)?;
        if best.as_ref().is_none_or(|(least, _)| bits < *least) {
            best = Some((bits, order.clone()));
        }
    }
    let order = best.ok_or_else(ending)?.1;
    let space = Space::new(material, &order, rows).ok_or_else(ending)?;
    let stream = Stream { space: &space, turn, outcomes };
    let (trained, bits) = work.train_and_try(stream, (options.training, 2 * trial))?;
    Ok(Plan { space, order, turn, outcomes, trained, bits })
}

/// Orders of men that are worth a trial: all with few men, else those with a man of the side to move as lane.
fn orders(material: &Material, turn: Color) -> Vec<Vec<u8>> {
    let men = material.men();
    let mut orders: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..men.len() {
        let mut longer = Vec::new();
        for order in &orders {
            for man in 0..men.len() as u8 {
                // Like men stay in order: the others are the same.
                let like = |other: u8| men[usize::from(other)] == men[usize::from(man)];
                let open_before = (0..man).any(|other| like(other) && !order.contains(&other));
                if !order.contains(&man) && !open_before {
                    longer.push([&order[..], &[man]].concat());
                }
            }
        }
        orders = longer;
    }
    if orders.len() > 6 {
        let of = |man: &u8| men[usize::from(*man)];
        let place = |man: &u8| {
            let man = of(man);
            (man.kind != Kind::Pawn, man.kind == Kind::Knight, man.color == turn)
        };
        orders.retain(|order| {
            let lane_moves = order.last().is_some_and(|man| of(man).color == turn);
            order[..order.len() - 1].is_sorted_by_key(place) && lane_moves
        });
        orders.truncate(6);
    }
    orders
}

/// What a thread needs to look at tiles.
struct Work<'a> {
    source: &'a dyn Source,
    exits: bool,
    rows: Rows,
}

/// How many cells of a tile are legal, and how many of these settled.
type Filled = (u64, u64);

impl<'a> Work<'a> {
    fn new(source: &'a dyn Source, exits: bool) -> Work<'a> {
        Work { source, exits, rows: Rows::new() }
    }

    /// A model from so many cells, and the bits that a stream takes with it, model included, as far as so many other
    /// cells tell. Of a small table all cells serve for both.
    fn train_and_try(
        &mut self,
        stream: Stream<'_>,
        (training, trial): (usize, usize),
    ) -> Result<(Trained, f64), EncodeError> {
        let tiles = stream.space.tiles();
        // Tiles all over the table, in an order that repeats none.
        let mut step = (tiles as f64 * 0.618_034) as u64 | 1;
        while gcd(step, tiles) != 1 {
            step += 2;
        }
        let mut next = 0;
        let mut order = (0..tiles).map(|_| {
            next = (next + step) % tiles;
            next
        });
        let (sample, share) = self.sample(stream, &mut order, training)?;
        let trained = train(stream, &sample, share, &mut self.rows);
        let (mut fresh, mut fresh_share) = self.sample(stream, &mut order, trial)?;
        if share + fresh_share > 0.99 {
            (fresh, fresh_share) = (sample, share);
        }
        let model = trained.parts.to_bytes();
        let wrong = || EncodeError::Entries("a model that was made cannot be read");
        let parsed = Model::parse(&model, stream.space).ok_or_else(wrong)?;
        let tile = |(tile, values): &(u64, TileValues)| {
            tile::encode(stream, &parsed, *tile, values, &mut self.rows).len()
        };
        let data: usize = fresh.iter().map(tile).sum();
        let bytes = data as f64 / fresh_share.max(1e-9) + model.len() as f64;
        Ok((trained, 8.0 * bytes))
    }

    /// The next tiles with so many cells or a few more, and the share of all tiles that was looked at.
    fn sample(
        &mut self,
        stream: Stream<'_>,
        order: &mut impl Iterator<Item = u64>,
        cells: usize,
    ) -> Result<(Vec<(u64, TileValues)>, f64), EncodeError> {
        let (mut sample, mut found, mut looked_at) = (Vec::new(), 0, 0_u64);
        while found < cells as u64 {
            let Some(tile) = order.next() else { break };
            let mut values = TileValues::new();
            let (legal, _) = self.fill(stream, tile, &mut values)?;
            if legal > 0 {
                found += legal;
                sample.push((tile, values));
            }
            looked_at += 1;
        }
        Ok((sample, looked_at as f64 / stream.space.tiles() as f64))
    }

    /// The true values of a tile.
    fn fill(
        &mut self,
        stream: Stream<'_>,
        tile: u64,
        values: &mut TileValues,
    ) -> Result<Filled, EncodeError> {
        let Stream { space, turn, outcomes } = stream;
        let (mut legal, mut settled) = (0, 0);
        values.settled.fill(0);
        let Some(place) = space.tile(tile) else { return Ok((0, 0)) };
        let tests = Tests::of(space);
        self.rows.start(space, tests, &place, 0);
        for row in 0..space.rows() {
            self.rows.begin_row(space, tests, turn, usize::from(row), place.first_row);
            for lane in crate::board::squares(self.rows.legal[usize::from(row)]) {
                let Some(position) = space.position(Place { tile, row, lane }, turn) else {
                    continue;
                };
                let (code, is_settled) = self.value(&position, outcomes)?;
                values.codes[usize::from(row) * 64 + usize::from(lane)] = code;
                values.settled[usize::from(row)] |= u64::from(is_settled) << lane;
                legal += 1;
                settled += u64::from(is_settled);
            }
        }
        Ok((legal, settled))
    }

    /// The code of a position, and whether an exit is as good.
    fn value(&self, position: &Position, outcomes: bool) -> Result<(Code, bool), EncodeError> {
        let missing = |position: &Position| EncodeError::Value(to_fen(position));
        let as_stored = |code: Code| if outcomes { outcome(code) } else { code };
        let code = self.source.code(position).ok_or_else(|| missing(position))?;
        let code = as_stored(code);
        if !self.exits {
            return Ok((code, false));
        }
        let (mut best, mut unknown) = (0, None);
        exits(position, |exit| match self.source.code(&exit.after) {
            Some(code) => best = best.max(as_stored(before(code))),
            None => unknown = Some(missing(&exit.after)),
        });
        match unknown {
            None => Ok((code, best >= code)),
            Some(missing) => Err(missing),
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A block as it is written, and what was counted.
struct Encoded {
    block: Vec<u8>,
    legal: u64,
    settled: u64,
    longest: [u16; 3],
}

fn encode_stream(
    plan: Plan,
    source: &dyn Source,
    options: &EncodeOptions,
) -> Result<EncodedStream, EncodeError> {
    let Plan { space, order, turn, outcomes, trained, bits } = plan;
    let model_bytes = trained.parts.to_bytes();
    let wrong = || EncodeError::Entries("a model that was made cannot be read");
    let model = Model::parse(&model_bytes, &space).ok_or_else(wrong)?;
    let stream = Stream { space: &space, turn, outcomes };
    let tiles = space.tiles();
    let blocks = in_blocks(tiles.div_ceil(TILES), options.threads, |block| {
        encode_block(stream, &model, (block, tiles), &mut Work::new(source, options.exits))
    })?;
    let (mut directory, mut data) = (Vec::new(), Vec::new());
    let (mut cells, mut settled, mut longest) = (0, 0, [0_u16; 3]);
    for encoded in blocks {
        add_block(&mut directory, &mut data, &encoded.block);
        cells += encoded.legal;
        settled += encoded.settled;
        longest.iter_mut().zip(encoded.longest).for_each(|(most, other)| *most = other.max(*most));
    }
    finish_directory(&mut directory, &data);
    let report = StreamReport {
        turn,
        outcomes,
        order: space.men()[2..].to_vec(),
        cells,
        settled,
        bytes: [model_bytes.len(), directory.len(), data.len()].map(|bytes| bytes as u64),
        leaves: trained.leaves,
        expected: (bits / 8.0) as u64,
    };
    let known = |moves: u16| (!outcomes && moves > 0).then(|| moves - 1);
    let longest = [known(longest[2]), known(longest[1])];
    let exits = options.exits;
    let kind = StreamKind::Cells { space, outcomes, turn, exits };
    let header = StreamHeader::new(kind, tiles, &order);
    Ok(EncodedStream { header, model: model_bytes, directory, data, report, longest })
}

fn add_block(directory: &mut Vec<u8>, data: &mut Vec<u8>, block: &[u8]) {
    directory.extend((data.len() as u64).to_le_bytes());
    directory.extend(crc32fast::hash(block).to_le_bytes());
    data.extend(block);
}

fn finish_directory(directory: &mut Vec<u8>, data: &[u8]) {
    directory.extend((data.len() as u64).to_le_bytes());
    directory.extend(0_u32.to_le_bytes());
}

/// Encodes the tiles of a block, decodes them again and compares.
fn encode_block(
    stream: Stream<'_>,
    model: &Model,
    (block, tiles): (u64, u64),
    work: &mut Work<'_>,
) -> Result<Encoded, EncodeError> {
    let mut values = TileValues::new();
    let mut packed = Vec::new();
    let mut encoded = Encoded { block: Vec::new(), legal: 0, settled: 0, longest: [0; 3] };
    for tile in block * TILES..tiles.min((block + 1) * TILES) {
        let (legal, settled) = work.fill(stream, tile, &mut values)?;
        encoded.legal += legal;
        encoded.settled += settled;
        if legal == 0 {
            packed.push(Vec::new());
            continue;
        }
        let bytes = tile::encode(stream, model, tile, &values, &mut work.rows);
        tile::decode(stream, model, &bytes, (tile, None), &mut work.rows);
        if !tile::agrees(stream.space, &work.rows, &values) {
            return Err(EncodeError::Disagrees(tile));
        }
        for row in 0..usize::from(stream.space.rows()) {
            for lane in crate::board::squares(work.rows.legal[row]) {
                let code = values.codes[row * 64 + usize::from(lane)];
                let most = &mut encoded.longest[crate::code::class(code)];
                *most = (*most).max(crate::code::distance(code) + 1);
            }
        }
        packed.push(bytes);
    }
    encoded.block = pack_block(&packed);
    Ok(encoded)
}

/// Makes things with these numbers on some threads; they come in order, or the first error does.
fn in_blocks<T: Send>(
    count: u64,
    threads: usize,
    make: impl Fn(u64) -> Result<T, EncodeError> + Sync,
) -> Result<Vec<T>, EncodeError> {
    if threads <= 1 {
        return (0..count).map(make).collect();
    }
    let next = AtomicU64::new(0);
    let made = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = make(number);
                    if result.is_err() {
                        next.store(count, Ordering::Relaxed);
                    }
                    if let Ok(mut made) = made.lock() {
                        made.push((number, result));
                    }
                }
            });
        }
    });
    let mut made = made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    made.sort_by_key(|&(number, _)| number);
    made.into_iter().map(|(_, result)| result).collect()
}

/// How a stream does on a sample.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Trial {
    /// Men besides the kings, outer ones first.
    pub order: Vec<Man>,
    /// The side to move.
    pub turn: Color,
    /// What the stream is expected to take, its model included and its directory not.
    pub bytes: u64,
    /// Cells of the whole stream, as far as the sample tells.
    pub cells: f64,
    /// Leaves of the two trees.
    pub leaves: [usize; 2],
    /// Seconds for making the model; nanoseconds a cell for the source, for encoding, and for decoding.
    pub times: [f64; 4],
}

/// Tries streams on a sample, without writing the table. `clock` gives seconds.
///
/// # Errors
/// As [`encode_ending`].
#[doc(hidden)]
pub fn try_ending(
    material: &Material,
    source: &dyn Source,
    options: &EncodeOptions,
    clock: &dyn Fn() -> f64,
) -> Result<Vec<Trial>, EncodeError> {
    let mut trials = Vec::new();
    for turn in [Color::White, Color::Black] {
        if turn == Color::Black && material.is_symmetric() {
            break;
        }
        let outcomes = options.distances == Sides::Neither;
        let begun = clock();
        let plan = plan_stream(material, source, options, (turn, outcomes))?;
        let planned = clock() - begun;
        let stream = Stream { space: &plan.space, turn, outcomes };
        let model = Model::parse(&plan.trained.parts.to_bytes(), &plan.space);
        let model = model.ok_or(EncodeError::Entries("a model that was made cannot be read"))?;
        let mut work = Work::new(source, options.exits);
        let mut order = (0..plan.space.tiles()).step_by(1 + plan.space.tiles() as usize / 700);
        let begun = clock();
        let (sample, share) = work.sample(stream, &mut order, usize::MAX)?;
        let filled = clock();
        let tile = |(tile, values): &(u64, TileValues)| {
            tile::encode(stream, &model, *tile, values, &mut work.rows)
        };
        let packed: Vec<Vec<u8>> = sample.iter().map(tile).collect();
        let encoded = clock();
        let mut cells = 0_u64;
        for ((tile, _), bytes) in sample.iter().zip(&packed) {
            tile::decode(stream, &model, bytes, (*tile, None), &mut work.rows);
            let legal = &work.rows.legal[..usize::from(plan.space.rows())];
            cells += legal.iter().map(|row| u64::from(row.count_ones())).sum::<u64>();
        }
        let times = [filled - begun, encoded - filled, clock() - encoded];
        let [fill, encode, decode] = times.map(|seconds| seconds * 1e9 / cells.max(1) as f64);
        trials.push(Trial {
            order: plan.space.men()[2..].to_vec(),
            turn,
            bytes: (plan.bits / 8.0) as u64,
            cells: cells as f64 / share,
            leaves: plan.trained.leaves,
            times: [planned, fill, encode, decode],
        });
    }
    Ok(trials)
}

/// What a table of entries holds.
#[derive(Debug)]
pub struct EntryTable<'a> {
    /// What it is; its mode is generic.
    pub info: TableInfo,
    /// The header of the `.htb`.
    pub control: &'a str,
    /// Its pawn table, if it has one.
    pub pawns: Option<&'a [u8]>,
    /// A JSON object for people.
    pub description: Option<&'a str>,
    /// A tile has `2^log` entries.
    pub log: u8,
}

/// Writes a table of entries into memory. `read` fills a buffer with the entries from one on.
///
/// # Errors
/// Those of `read`; entries that do not fit into their bits.
pub fn encode_entries(
    table: &EntryTable<'_>,
    read: impl Fn(u64, &mut [u16]) -> Result<(), EncodeError> + Sync,
    threads: usize,
) -> Result<Vec<u8>, EncodeError> {
    let Mode::Generic { entries, bits } = table.info.mode else {
        return Err(EncodeError::Entries("a table of cells is none of entries"));
    };
    if !(6..=16).contains(&table.log) || !(1..=16).contains(&bits) {
        return Err(EncodeError::Entries("tiles have 2^6 to 2^16 entries of 1 to 16 bits"));
    }
    let size = 1_u64 << table.log;
    let tiles = entries.div_ceil(size);
    let tile = |number: u64| {
        let first = number * size;
        let mut found = vec![0; size.min(entries - first) as usize];
        read(first, &mut found)?;
        if found.iter().any(|&entry| u32::from(entry) >= 1 << bits) {
            return Err(EncodeError::Entries("an entry has more bits than the table says"));
        }
        Ok(found)
    };
    let mut sample = Vec::new();
    for number in (0..tiles).step_by((tiles / 8 + 1) as usize) {
        sample.extend(tile(number)?);
    }
    let model = EntryModel::choose(&sample);
    let blocks = in_blocks(tiles.div_ceil(TILES), threads, |block| {
        let mut packed = Vec::new();
        for number in block * TILES..tiles.min((block + 1) * TILES) {
            let found = tile(number)?;
            let bytes = entries::encode(&model, bits, &found);
            let mut back = vec![0; found.len()];
            entries::decode(&model, bits, &bytes, &mut back);
            if back != found {
                return Err(EncodeError::Disagrees(number));
            }
            packed.push(bytes);
        }
        Ok(pack_block(&packed))
    })?;
    let (mut directory, mut data) = (Vec::new(), Vec::new());
    for block in &blocks {
        add_block(&mut directory, &mut data, block);
    }
    finish_directory(&mut directory, &data);
    let header = StreamHeader::new(StreamKind::Entries { log: table.log }, tiles, &[]);
    let section = |name, content| Section { name, stream: 0, content };
    let stream = vec![
        section(STRM, header.to_bytes()),
        section(MODL, model.to_bytes()),
        section(DIRY, directory),
        section(DATA, data),
    ];
    let texts = (table.description, Some(table.control), table.pawns);
    Ok(to_bytes(&with_head(&table.info, texts, stream)))
}
