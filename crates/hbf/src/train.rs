//! Models from samples of tiles.

use crate::board::squares;
use crate::cells::Space;
use crate::code::{Code, DRAW, class, distance};
use crate::encode::{EncodeError, ModelTests};
use crate::grow::{self, Bits, GrowthLimits, grow, last_word, transpose};
use crate::model::{CELL_SYMBOLS, CLASS_CONTEXTS, CLASSES, MISS, MISS_SYMBOLS, Model, ModelParts};
use crate::plain::plain_tests;
use crate::range::fit;
use crate::rows::{Before, ModelFrame, Tests};
use crate::symbols::{Desk, TileValues};
use crate::tile::Stream;
use crate::tree::MAX_LEAVES;
use crate::workers::{Crew, Stopped, in_order};

/// Tiles with their numbers.
pub(crate) type Sample = [(u64, TileValues)];

/// A model, and how large its trees are.
#[derive(Debug)]
pub(crate) struct Trained {
    pub(crate) parts: ModelParts,
    pub(crate) leaves: [usize; 2],
}

impl Trained {
    /// The section `MODL`, and the model as who reads that has it.
    pub(crate) fn written(&self, space: &Space) -> Result<(Vec<u8>, Model), EncodeError> {
        let bytes = self.parts.to_bytes();
        let model = Model::parse(&bytes, space);
        let model = model.ok_or(EncodeError::Entries("a model that was made cannot be read"))?;
        Ok((bytes, model))
    }
}

/// Symbols of the first tree are told apart, those of the second by these groups.
const CELL_GROUPS: [u8; CELL_SYMBOLS] = [0, 1, 2, 3, 4];
const MISS_GROUPS: [u8; MISS_SYMBOLS] =
    [0, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6, 5, 6, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8];

/// What a leaf takes in a file, with its inner node and what its frequencies are too coarse for.
const CELL_LEAF_BITS: f64 = 72.0;
const MISS_LEAF_BITS: f64 = 240.0;

const DEPTH: usize = 20;

/// Words of a sample: those of the tests and one more. More than five men need the larger number.
const FEW_WORDS: usize = 4;
const MANY_WORDS: usize = 10;
const MANY_WORDS_ABOVE: usize = 5;

/// Bytes of memory that making a model takes from so many cells of tables with so many men: the
/// tests of each cell, and what its values were found from; measured 38 bytes a cell of five men.
pub fn model_memory(men: usize, cells: u64) -> u64 {
    let words = if men <= MANY_WORDS_ABOVE { FEW_WORDS } else { MANY_WORDS };
    cells * (words as u64 * 9 + 6)
}

/// Makes a model for a stream from a sample of its tiles. `share` is the part of the stream's cells
/// that the sample has.
pub(crate) fn train(
    stream: Stream<'_>,
    (sample, share): (&Sample, f64),
    tests: ModelTests,
    crew: Crew<'_>,
) -> Result<Trained, Stopped> {
    if Tests::of(stream.space).count(false) <= 64 * (FEW_WORDS - 1) {
        train_with::<FEW_WORDS>(stream, (sample, share), tests, crew)
    } else {
        train_with::<MANY_WORDS>(stream, (sample, share), tests, crew)
    }
}

fn train_with<const S: usize>(
    stream: Stream<'_>,
    (sample, share): (&Sample, f64),
    which: ModelTests,
    crew: Crew<'_>,
) -> Result<Trained, Stopped> {
    let (frame, last) = survey(stream, sample);
    let Collected { mut cells, mut misses, classes } =
        collect::<S>(stream, (&frame, last), sample, crew)?;

    let scale = 1.0 / share.clamp(1e-9, 1.0);
    let cell_limits = GrowthLimits {
        scale,
        leaf_bits: CELL_LEAF_BITS,
        chance_bits: 20.0,
        least: 40,
        depth: DEPTH,
        most_leaves: MAX_LEAVES,
    };
    let miss_limits =
        GrowthLimits { leaf_bits: MISS_LEAF_BITS, chance_bits: 90.0, least: 150, ..cell_limits };
    let tests = Tests::of(stream.space);
    let place = |test: usize| (test as u16, place_of(test));
    let all = (0..tests.count(false)).map(place);
    let own = tests.count(false)..tests.count(true);
    let own = own.map(|test| (test as u16, ((S - 1) as u16, (test - tests.count(false)) as u8)));
    let [cell_tests, miss_tests]: [Bits; 2] = match which {
        ModelTests::All => [all.clone().collect(), all.chain(own).collect()],
        ModelTests::Plain => [plain_tests(tests).map(place).to_vec(), own.collect()],
    };
    let cells = grow(&mut cells, (&cell_tests, &CELL_GROUPS), cell_limits, crew.workers);
    let misses = grow(&mut misses, (&miss_tests, &MISS_GROUPS), miss_limits, crew.workers);
    let classes = classes.map(|counts| {
        let bytes = fit(&counts, &[0.3; CLASSES]);
        [bytes[0], bytes[1]]
    });

    let leaves = [cells.leaves, misses.leaves];
    let (cells, misses) = (cells.bytes, misses.bytes);
    let parts = ModelParts { frame, last, classes, cells, misses };
    Ok(Trained { parts, leaves })
}

/// Where samples have the bit of a test: the word and the bit.
fn place_of(test: usize) -> (u16, u8) {
    ((test / 64) as u16, (test % 64) as u8)
}

/// What the trees are grown from.
struct Collected<const S: usize> {
    cells: Vec<grow::Sample<S>>,
    misses: Vec<grow::Sample<S>>,
    classes: [[u32; CLASSES]; CLASS_CONTEXTS],
}

/// Tiles that a thread looks at in one go; what comes of many is held until it is put together.
pub(crate) const GO: usize = 4;

/// All cells of a sample, and those that are misses.
fn collect<const S: usize>(
    stream: Stream<'_>,
    (frame, last): (&ModelFrame, [u16; 2]),
    sample: &Sample,
    crew: Crew<'_>,
) -> Result<Collected<S>, Stopped> {
    let cells_of = |tiles: &Sample| tiles.iter().map(|(_, values)| values.cells()).sum();
    // As many as there will be: while a list grows it is there twice.
    let cells = Vec::with_capacity(cells_of(sample));
    let mut all = Collected { cells, misses: Vec::new(), classes: [[0; CLASSES]; CLASS_CONTEXTS] };

    let goes: Vec<&Sample> = sample.chunks(GO).collect();
    let look = |go: u64| {
        let mut collector = Collector::<S>::new(stream, frame);
        let mut desk = Desk::new();
        for (tile, values) in goes[go as usize] {
            let mut last = last;
            desk.rows(stream, frame, (*tile, values), None, |desk, before| {
                collector.row(desk, before, &mut last);
            });
        }
        Ok(collector.collected)
    };
    in_order(crew, goes.len() as u64, look, |part: Collected<S>| {
        all.cells.extend(part.cells);
        all.misses.extend(part.misses);
        let counts = part.classes.as_flattened().iter();
        all.classes.as_flattened_mut().iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        Ok::<_, Stopped>(())
    })?;
    Ok(all)
}

/// Collects the cells of some tiles.
struct Collector<'a, const S: usize> {
    stream: Stream<'a>,
    frame: &'a ModelFrame,
    collected: Collected<S>,
    /// The tests of a row, by word and lane square.
    lanes: Vec<[u64; 64]>,
}

impl<'a, const S: usize> Collector<'a, S> {
    fn new(stream: Stream<'a>, frame: &'a ModelFrame) -> Collector<'a, S> {
        let classes = [[0; CLASSES]; CLASS_CONTEXTS];
        let collected = Collected { cells: Vec::new(), misses: Vec::new(), classes };
        let words = Tests::of(stream.space).count(false).div_ceil(64);
        Collector { stream, frame, collected, lanes: vec![[0; 64]; words] }
    }

    fn row(&mut self, desk: &Desk, before: Before, last: &mut [u16; 2]) {
        for (lanes, masks) in self.lanes.iter_mut().zip(desk.side_by_side.masks.as_chunks().0) {
            *lanes = *masks;
            transpose(lanes);
        }
        let Collected { cells, misses, classes } = &mut self.collected;
        for lane in squares(desk.rows.legal[before.row]) {
            let lane = usize::from(lane);
            let symbol = desk.side_by_side.symbol(lane);
            let mut words = [0; S];
            words.iter_mut().zip(&self.lanes).for_each(|(word, lanes)| *word = lanes[lane]);
            words[S - 1] = last_word(symbol, 0);
            cells.push(words);
            if symbol != MISS {
                continue;
            }
            let miss = desk.miss(self.stream, self.frame, (before, lane), last);
            classes[miss.context][miss.class] += 1;
            if let Some((coded, word)) = miss.distance {
                words[S - 1] = last_word(coded.symbol, word);
                misses.push(words);
            }
        }
    }
}

/// The frame of a model, and the first distances of misses: which neighbours agree most often,
/// which distances there are.
fn survey(stream: Stream<'_>, sample: &Sample) -> (ModelFrame, [u16; 2]) {
    let mut desk = Desk::new();
    let mut distances = vec![0_u32; usize::from(u16::MAX) + 1];
    let mut codes = distances.clone();
    let mut agreed = [0_u32; 4];
    let frame = ModelFrame::new([0, 1, 2, 3], DRAW, [u16::MAX; 9]);

    // A part of the sample is enough, as long as it is not small.
    for (tile, values) in sample.iter().step_by(1 + sample.len() / 200) {
        desk.rows(stream, &frame, (*tile, values), None, |desk, before| {
            let row = before.row;
            for lane in squares(desk.rows.legal[row] & !values.settled[row]) {
                let lane = usize::from(lane);
                let code = values.codes[row][lane];
                codes[usize::from(code)] += 1;
                if class(code) != 0 {
                    distances[usize::from(distance(code))] += 1;
                }
                let near = desk.rows.neighbours(before, lane);
                agreed.iter_mut().zip(near).for_each(|(count, n)| *count += u32::from(n == code));
            }
        });
    }

    let mut order = frame.order;
    order.sort_by_key(|&place| std::cmp::Reverse(agreed[usize::from(place)]));
    let most = (1..codes.len()).max_by_key(|&code| codes[code]).unwrap_or(usize::from(DRAW));
    let default = if codes[most] > 0 { most as Code } else { DRAW };
    let total: u64 = distances[1..].iter().map(|&count| u64::from(count)).sum();
    let mut thresholds = frame.thresholds;
    let mut below = 0;
    let mut next = 0;

    for (moves, &count) in distances.iter().enumerate().skip(1) {
        below += u64::from(count);
        while next < 9 && below * 10 > total * (next as u64 + 1) {
            thresholds[next] = moves as u16 + 1;
            next += 1;
        }
    }

    let middle = thresholds[4].clamp(1, 1000) - 1;
    (ModelFrame::new(order, default, thresholds), [middle, middle.max(1)])
}
